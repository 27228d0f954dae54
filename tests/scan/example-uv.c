/* SPDX-License-Identifier: MIT */
/*
 * Reads journals in a libuv loop, with a timer beside the scan. Entries go to a sink, so that
 * jscan_process() alone moves everything, for about a millisecond at a time.
 *
 *	example-uv DIRECTORY
 */
#include <errno.h>
#include <jscan.h>
#include <stdio.h>
#include <string.h>
#include <uv.h>

struct reader {
	struct jscan *engine;
	uv_poll_t poll;   /* something has been read */
	uv_timer_t timer; /* there is more to do, or the engine wants to be called by then */
	unsigned long count;
	int result;
};

/* sink: entry. */
static int count_entry(void *userdata, const struct jscan_entry *entry,
		       const struct jscan_entry_context *context)
{
	(void)entry;
	(void)context;
	((struct reader *)userdata)->count++;
	return 0;
}

static void reader_turn(struct reader *reader);

static void reader_rung(uv_timer_t *timer)
{
	reader_turn(timer->data);
}

static void reader_polled(uv_poll_t *poll, int status, int events)
{
	(void)status;
	(void)events;
	reader_turn(poll->data);
}

/* One turn of the scan, and when the next one is due. */
static void reader_turn(struct reader *reader)
{
	uint64_t usec = 0;
	int r = jscan_process(reader->engine);

	if (r == 0)
		r = jscan_timeout(reader->engine, &usec);
	if (r < 0) {
		reader->result = r == -ENODATA ? 0 : r;
		uv_close((uv_handle_t *)&reader->poll, NULL);
		uv_close((uv_handle_t *)&reader->timer, NULL);
	} else if (usec == UINT64_MAX) {
		uv_timer_stop(&reader->timer);
	} else {
		uv_timer_start(&reader->timer, reader_rung, (usec + 999) / 1000, 0);
	}
}

/* Begins to read in a loop. The descriptor stays the engine's. */
static int reader_start(struct reader *reader, uv_loop_t *loop)
{
	int fd = jscan_fd(reader->engine);

	if (fd < 0)
		return fd;
	reader->poll.data = reader->timer.data = reader;
	uv_timer_init(loop, &reader->timer);
	uv_poll_init(loop, &reader->poll, fd);
	uv_poll_start(&reader->poll, UV_READABLE, reader_polled);
	uv_timer_start(&reader->timer, reader_rung, 0, 0);
	return 0;
}

/* What else the program does. */
static void count_tick(uv_timer_t *timer)
{
	++*(unsigned long *)timer->data;
}

int main(int argc, char **argv)
{
	static const struct jscan_sink_ops ops = { .size = sizeof(ops), .entry = count_entry };
	struct reader reader = { .count = 0 };
	unsigned long ticks = 0;
	uv_timer_t ticker = { .data = &ticks };
	uv_loop_t *loop = uv_default_loop();
	int r;

	if (argc != 2 || jscan_new(NULL, &reader.engine) < 0)
		return 2;
	uv_timer_init(loop, &ticker);
	uv_timer_start(&ticker, count_tick, 10, 10);
	uv_unref((uv_handle_t *)&ticker); /* the loop ends with the scan */
	r = jscan_add_directory(reader.engine, argv[1], 0);
	if (r == 0)
		r = jscan_add_sink(reader.engine, &ops, &reader);
	if (r == 0)
		r = reader_start(&reader, loop);
	if (r == 0) {
		uv_run(loop, UV_RUN_DEFAULT);
		r = reader.result;
	}
	jscan_free(reader.engine);
	if (r < 0)
		fprintf(stderr, "%s: %s\n", argv[1], strerror(-r));
	else
		printf("%lu entries\n", reader.count);
	fprintf(stderr, "%lu ticks of the timer\n", ticks);
	return r < 0;
}
