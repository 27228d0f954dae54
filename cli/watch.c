// SPDX-License-Identifier: MIT
/*
 * A sink that looks on, and shows how far the scan has come when entries go to a file or a pipe
 * and a person waits at the terminal.
 *
 * It is only attached then, so an ordinary scan does not pay for it. It prints nothing but the
 * progress line, which it wipes itself.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "stats.h"
#include "watch.h"

/* The clock is looked at once in so many entries. */
#define WATCH_STRIDE 2048
#define WATCH_PERIOD_USEC 250000

bool watch_progress_wanted(void)
{
	const char *terminal = getenv("TERM");

	return isatty(STDERR_FILENO) && !isatty(STDOUT_FILENO) && terminal &&
	       strcmp(terminal, "dumb") != 0;
}

/* Draws the progress line if it is time to. */
static void watch_draw(struct watch *watch)
{
	struct jscan_stats stats = { .size = sizeof(stats) };
	uint64_t now = stats_now();

	if (now - watch->shown_usec < WATCH_PERIOD_USEC)
		return;
	if (watch->shown_usec && jscan_get_stats(watch->engine, &stats) >= 0) {
		uint64_t percent = stats.bytes_read * 100 / (watch->bytes ? watch->bytes : 1);
		double seconds = (double)(now - watch->began_usec) / 1e6;

		fprintf(stderr, "\r\033[K%llu entries, %llu MiB of %llu files (%llu%%), %.0f MiB/s",
			(unsigned long long)watch->entries,
			(unsigned long long)(stats.bytes_read >> 20),
			(unsigned long long)stats.files,
			(unsigned long long)(percent < 100 ? percent : 99),
			(double)stats.bytes_read / (1 << 20) / seconds);
		fflush(stderr);
		watch->drawn = true;
	}
	watch->shown_usec = now;
}

void watch_wipe(struct watch *watch)
{
	if (!watch->drawn)
		return;
	fputs("\r\033[K", stderr);
	fflush(stderr);
	watch->drawn = false;
}

/* The sink's entry slot. */
static int watch_entry(void *userdata, const struct jscan_entry *entry,
		       const struct jscan_entry_context *context)
{
	struct watch *watch = userdata;

	(void)context;
	watch->entries++;
	(void)entry;
	if (watch->show_progress && watch->entries % WATCH_STRIDE == 0)
		watch_draw(watch);
	return 0;
}

/* A jscan_file_fn: adds up what there is to read. */
static int watch_add_file(void *userdata, const struct jscan_file_info *file)
{
	struct watch *watch = userdata;

	watch->bytes += file->file_bytes;
	return 0;
}

int watch_attach(struct watch *watch, struct jscan *engine)
{
	static const struct jscan_sink_ops ops = {
		.size = sizeof(ops),
		.name = "watch",
		.entry = watch_entry,
	};

	if (!watch->show_progress)
		return 0;
	watch->engine = engine;
	watch->began_usec = stats_now();
	jscan_list_files(engine, watch_add_file, watch); /* without it there is no percentage */
	return jscan_add_sink(engine, &ops, watch);
}
