/* SPDX-License-Identifier: MIT */
/*
 * Reads journals in a libuv loop. Entries go to a sink, so that jscan_process() alone moves
 * everything, for about a millisecond at a time; in between the loop serves others.
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
	uv_timer_t timer; /* the engine wants to be called by then */
	uv_idle_t idle;   /* there is more to do: once in each turn of the loop, so that others
			   * have their turns, too */
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

/* What libuv calls. */
static void reader_rung(uv_timer_t *timer)
{
	reader_turn(timer->data);
}

static void reader_idle(uv_idle_t *idle)
{
	reader_turn(idle->data);
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
	uv_idle_stop(&reader->idle);
	uv_timer_stop(&reader->timer);
	if (r < 0) {
		reader->result = r == -ENODATA ? 0 : r;
		uv_close((uv_handle_t *)&reader->poll, NULL);
		uv_close((uv_handle_t *)&reader->timer, NULL);
		uv_close((uv_handle_t *)&reader->idle, NULL);
	} else if (usec == 0) {
		uv_idle_start(&reader->idle, reader_idle);
	} else if (usec != UINT64_MAX) {
		uv_timer_start(&reader->timer, reader_rung, (usec + 999) / 1000, 0);
	}
}

/* Begins to read in a loop. The descriptor stays the engine's. */
static int reader_start(struct reader *reader, uv_loop_t *loop)
{
	int fd = jscan_fd(reader->engine);

	if (fd < 0)
		return fd;
	reader->poll.data = reader->timer.data = reader->idle.data = reader;
	uv_timer_init(loop, &reader->timer);
	uv_idle_init(loop, &reader->idle);
	uv_poll_init(loop, &reader->poll, fd);
	uv_poll_start(&reader->poll, UV_READABLE, reader_polled);
	uv_idle_start(&reader->idle, reader_idle);
	return 0;
}

int main(int argc, char **argv)
{
	static const struct jscan_sink_ops ops = { .size = sizeof(ops), .entry = count_entry };
	struct reader reader = { .count = 0 };
	uv_loop_t *loop = uv_default_loop();
	int r;

	if (argc != 2 || jscan_new(NULL, &reader.engine) < 0)
		return 2;
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
	return r < 0;
}
