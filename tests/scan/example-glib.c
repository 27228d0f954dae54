/* SPDX-License-Identifier: MIT */
/*
 * Reads journals in a GLib main loop, with a timer beside the scan. Entries go to a sink, so that
 * jscan_process() alone moves everything, for about a millisecond at a time.
 *
 *	example-glib DIRECTORY
 */
#include <errno.h>
#include <glib-unix.h>
#include <glib.h>
#include <jscan.h>
#include <stdio.h>
#include <string.h>

struct reader {
	struct jscan *engine;
	GMainLoop *loop;
	guint poll;  /* something has been read */
	guint timer; /* there is more to do, or the engine wants to be called by then; or 0 */
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

static gboolean reader_rung(gpointer userdata);

/* One turn of the scan, and when the next one is due. */
static void reader_turn(struct reader *reader)
{
	uint64_t usec = 0;
	int r = jscan_process(reader->engine);

	if (r == 0)
		r = jscan_timeout(reader->engine, &usec);
	if (reader->timer)
		g_source_remove(reader->timer);
	reader->timer = 0;
	/* At the default priority: idle sources would wait for everybody else. */
	if (r < 0) {
		reader->result = r == -ENODATA ? 0 : r;
		g_source_remove(reader->poll);
		g_main_loop_quit(reader->loop);
	} else if (usec != UINT64_MAX) {
		reader->timer = g_timeout_add((guint)((usec + 999) / 1000), reader_rung, reader);
	}
}

/* GSourceFunc: it is done with when it returns. */
static gboolean reader_rung(gpointer userdata)
{
	struct reader *reader = userdata;

	reader->timer = 0;
	reader_turn(reader);
	return G_SOURCE_REMOVE;
}

/* GUnixFDSourceFunc. */
static gboolean reader_polled(gint fd, GIOCondition condition, gpointer userdata)
{
	(void)fd;
	(void)condition;
	reader_turn(userdata);
	return G_SOURCE_CONTINUE;
}

/* What else the program does. */
static gboolean count_tick(gpointer userdata)
{
	++*(unsigned long *)userdata;
	return G_SOURCE_CONTINUE;
}

int main(int argc, char **argv)
{
	static const struct jscan_sink_ops ops = { .size = sizeof(ops), .entry = count_entry };
	struct reader reader = { .count = 0 };
	unsigned long ticks = 0;
	int r, fd = -1;

	if (argc != 2 || jscan_new(NULL, &reader.engine) < 0)
		return 2;
	reader.loop = g_main_loop_new(NULL, FALSE);
	r = jscan_add_directory(reader.engine, argv[1], 0);
	if (r == 0)
		r = jscan_add_sink(reader.engine, &ops, &reader);
	if (r == 0)
		r = fd = jscan_fd(reader.engine);
	if (r >= 0) {
		g_timeout_add(10, count_tick, &ticks);
		reader.poll = g_unix_fd_add(fd, G_IO_IN, reader_polled, &reader);
		reader.timer = g_timeout_add(0, reader_rung, &reader);
		g_main_loop_run(reader.loop);
		r = reader.result;
	}
	jscan_free(reader.engine);
	g_main_loop_unref(reader.loop);
	if (r < 0)
		fprintf(stderr, "%s: %s\n", argv[1], strerror(-r));
	else
		printf("%lu entries\n", reader.count);
	fprintf(stderr, "%lu ticks of the timer\n", ticks);
	return r < 0;
}
