/* SPDX-License-Identifier: MIT */
/*
 * Reads journals in a loop of sd-event, with a timer beside the scan. Entries go to a sink, so that
 * jscan_process() alone moves everything, for about a millisecond at a time.
 *
 *	example-sd-event DIRECTORY
 */
#include <errno.h>
#include <jscan.h>
#include <stdio.h>
#include <string.h>
#include <systemd/sd-event.h>
#include <time.h>

struct reader {
	struct jscan *engine;
	sd_event *loop;
	sd_event_source *poll;  /* something has been read */
	sd_event_source *timer; /* there is more to do, or the engine wants to be called by then */
	unsigned long count;
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

/* One turn of the scan, and when the next one is due. */
static int reader_turn(struct reader *reader)
{
	uint64_t usec = 0;
	int r = jscan_process(reader->engine);

	if (r == 0)
		r = jscan_timeout(reader->engine, &usec);
	if (r < 0)
		return sd_event_exit(reader->loop, r == -ENODATA ? 0 : r);
	if (usec == UINT64_MAX)
		return sd_event_source_set_enabled(reader->timer, SD_EVENT_OFF);
	r = sd_event_source_set_time_relative(reader->timer, usec);
	return r < 0 ? r : sd_event_source_set_enabled(reader->timer, SD_EVENT_ONESHOT);
}

static int reader_rung(sd_event_source *source, uint64_t usec, void *userdata)
{
	(void)source;
	(void)usec;
	return reader_turn(userdata);
}

static int reader_polled(sd_event_source *source, int fd, uint32_t events, void *userdata)
{
	(void)source;
	(void)fd;
	(void)events;
	return reader_turn(userdata);
}

/* Begins to read in a loop. The descriptor stays the engine's. */
static int reader_start(struct reader *reader)
{
	int fd = jscan_fd(reader->engine), r;

	if (fd < 0)
		return fd;
	r = sd_event_add_io(reader->loop, &reader->poll, fd,
			    (uint32_t)jscan_events(reader->engine), reader_polled, reader);
	/* An accuracy of 0 would mean the default, a quarter of a second. */
	return r < 0 ? r : sd_event_add_time(reader->loop, &reader->timer, CLOCK_MONOTONIC, 0, 1,
					     reader_rung, reader);
}

/* What else the program does. */
static int count_tick(sd_event_source *source, uint64_t usec, void *userdata)
{
	(void)usec;
	++*(unsigned long *)userdata;
	sd_event_source_set_time_relative(source, 10000);
	return sd_event_source_set_enabled(source, SD_EVENT_ONESHOT);
}

int main(int argc, char **argv)
{
	static const struct jscan_sink_ops ops = { .size = sizeof(ops), .entry = count_entry };
	struct reader reader = { .count = 0 };
	unsigned long ticks = 0;
	int r;

	if (argc != 2 || jscan_new(NULL, &reader.engine) < 0 || sd_event_new(&reader.loop) < 0)
		return 2;
	r = jscan_add_directory(reader.engine, argv[1], 0);
	if (r == 0)
		r = jscan_add_sink(reader.engine, &ops, &reader);
	if (r == 0)
		r = reader_start(&reader);
	if (r >= 0)
		r = sd_event_add_time_relative(reader.loop, NULL, CLOCK_MONOTONIC, 10000, 1,
					       count_tick, &ticks);
	if (r >= 0)
		r = sd_event_loop(reader.loop);
	sd_event_source_unref(reader.timer);
	sd_event_source_unref(reader.poll);
	sd_event_unref(reader.loop);
	jscan_free(reader.engine);
	if (r < 0)
		fprintf(stderr, "%s: %s\n", argv[1], strerror(-r));
	else
		printf("%lu entries\n", reader.count);
	fprintf(stderr, "%lu ticks of the timer\n", ticks);
	return r < 0;
}
