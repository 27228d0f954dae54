/* SPDX-License-Identifier: MIT */
/*
 * How much a scan delays the rest of a program that has an event loop: a timer of 1 ms ticks beside
 * it, and the longest gap between two ticks is what a user of that program would notice.
 *
 *	ticks LOOP READER DIRECTORY
 *
 * LOOP is uv or sd-event; READER is jscan, libsystemd, or idle, which does nothing for 3 seconds
 * and shows what the machine itself does to ticks. The files of the directory are evicted from the
 * page cache first. Both readers look at every byte of every field. One line of JSON is printed.
 */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <systemd/sd-event.h>
#include <systemd/sd-journal.h>
#include <time.h>
#include <unistd.h>
#include <uv.h>

#include "jscan.h"

#define TICK_USEC 1000u
#define SLICE_USEC 1000u
#define IDLE_USEC 3000000u

struct bench {
	/* the reader: answers as jscan_process() does, and says when it wants to be called */
	int (*turn)(struct bench *b, uint64_t *ret_usec);
	int fd; /* to poll, or -1 */
	struct jscan *engine;
	sd_journal *journal;
	uint64_t entries, bytes, checksum, begin_usec;
	/* what is measured */
	uint64_t ticks, last_usec, worst_usec, over_2ms, over_10ms;
	uint64_t call_usec_max, call_cpu_usec_max;
	int result;
	/* the loops */
	uv_loop_t uv;
	uv_poll_t uv_poll;
	uv_timer_t uv_timer, uv_ticker;
	uv_idle_t uv_idle; /* timers that are due at once would be served before all others */
	sd_event *event;
	sd_event_source *poll, *timer, *ticker;
};

/* A clock, microseconds. */
static uint64_t now_usec(clockid_t clock)
{
	struct timespec t;

	clock_gettime(clock, &t);
	return (uint64_t)t.tv_sec * 1000000 + (uint64_t)t.tv_nsec / 1000;
}

/* A tick of the timer. */
static void tick(struct bench *b)
{
	uint64_t now = now_usec(CLOCK_MONOTONIC), gap = b->last_usec ? now - b->last_usec : 0;

	b->last_usec = now;
	b->ticks++;
	b->worst_usec = gap > b->worst_usec ? gap : b->worst_usec;
	b->over_2ms += gap > TICK_USEC + 2000;
	b->over_10ms += gap > TICK_USEC + 10000;
}

/* Looks at bytes, as somebody who ships them would. */
static void look(struct bench *b, const void *data, size_t size)
{
	const unsigned char *p = data;

	for (size_t i = 0; i < size; i += 64)
		b->checksum += p[i];
	b->bytes += size;
}

/* One turn of the reader, measured. False: it has ended. */
static int turn(struct bench *b, uint64_t *ret_usec)
{
	uint64_t begin = now_usec(CLOCK_MONOTONIC), cpu = now_usec(CLOCK_THREAD_CPUTIME_ID);
	int r = b->turn(b, ret_usec);

	cpu = now_usec(CLOCK_THREAD_CPUTIME_ID) - cpu;
	begin = now_usec(CLOCK_MONOTONIC) - begin;
	b->call_usec_max = begin > b->call_usec_max ? begin : b->call_usec_max;
	b->call_cpu_usec_max = cpu > b->call_cpu_usec_max ? cpu : b->call_cpu_usec_max;
	if (r < 0)
		b->result = r == -ENODATA ? 0 : r;
	return r >= 0;
}

/* ---- readers ----------------------------------------------------------------------------- */

/* Nothing is read. */
static int turn_idle(struct bench *b, uint64_t *ret_usec)
{
	uint64_t passed = now_usec(CLOCK_MONOTONIC) - b->begin_usec;

	*ret_usec = passed < IDLE_USEC ? IDLE_USEC - passed : 0;
	return passed < IDLE_USEC ? 0 : -ENODATA;
}

static int turn_jscan(struct bench *b, uint64_t *ret_usec)
{
	int r = jscan_process(b->engine);

	*ret_usec = 0;
	return r == 0 ? jscan_timeout(b->engine, ret_usec) : r;
}

/* sink: entry. */
static int jscan_entry(void *userdata, const struct jscan_entry *entry,
		       const struct jscan_entry_context *context)
{
	struct jscan_field field = { .size = sizeof(field) };
	struct bench *b = userdata;
	size_t state = 0;

	(void)context;
	while (jscan_entry_next_field(entry, &state, &field) == 1) {
		if (field.value)
			look(b, field.value, field.value_size);
	}
	b->entries++;
	return 0;
}

static int start_jscan(struct bench *b, const char *directory)
{
	static const struct jscan_sink_ops ops = { .size = sizeof(ops), .entry = jscan_entry };
	int r = jscan_new(NULL, &b->engine);

	if (r == 0)
		r = jscan_add_directory(b->engine, directory, 0);
	if (r == 0)
		r = jscan_add_sink(b->engine, &ops, b);
	if (r == 0)
		r = b->fd = jscan_fd(b->engine);
	b->turn = turn_jscan;
	return r < 0 ? r : 0;
}

/* Entries for a millisecond: the best that a program can do with libsystemd. */
static int turn_libsystemd(struct bench *b, uint64_t *ret_usec)
{
	uint64_t begin = now_usec(CLOCK_MONOTONIC);
	const void *data;
	size_t size;
	int r;

	*ret_usec = 0;
	do {
		r = sd_journal_next(b->journal);
		if (r <= 0)
			return r < 0 ? r : -ENODATA;
		sd_journal_restart_data(b->journal);
		while (sd_journal_enumerate_available_data(b->journal, &data, &size) > 0)
			look(b, data, size);
		b->entries++;
	} while (now_usec(CLOCK_MONOTONIC) - begin < SLICE_USEC);
	return 1;
}

static int start_libsystemd(struct bench *b, const char *directory)
{
	b->turn = turn_libsystemd;
	return sd_journal_open_directory(&b->journal, directory, 0);
}

/* ---- loops ------------------------------------------------------------------------------- */

static void uv_ticked(uv_timer_t *timer)
{
	tick(timer->data);
}

static void uv_turn(struct bench *b);

static void uv_rung(uv_timer_t *timer)
{
	uv_turn(timer->data);
}

static void uv_idled(uv_idle_t *idle)
{
	uv_turn(idle->data);
}

/* One turn of the reader, and when the next one is due. */
static void uv_turn(struct bench *b)
{
	uint64_t usec;
	int more = turn(b, &usec);

	uv_idle_stop(&b->uv_idle);
	uv_timer_stop(&b->uv_timer);
	if (!more)
		uv_stop(&b->uv);
	else if (usec == 0)
		uv_idle_start(&b->uv_idle, uv_idled);
	else if (usec != UINT64_MAX)
		uv_timer_start(&b->uv_timer, uv_rung, (usec + 999) / 1000, 0);
}

static void uv_polled(uv_poll_t *poll, int status, int events)
{
	(void)status;
	(void)events;
	uv_turn(poll->data);
}

static void run_uv(struct bench *b)
{
	uv_loop_init(&b->uv);
	b->uv_poll.data = b->uv_timer.data = b->uv_ticker.data = b->uv_idle.data = b;
	uv_timer_init(&b->uv, &b->uv_timer);
	uv_timer_init(&b->uv, &b->uv_ticker);
	uv_timer_start(&b->uv_ticker, uv_ticked, TICK_USEC / 1000, TICK_USEC / 1000);
	uv_idle_init(&b->uv, &b->uv_idle);
	uv_idle_start(&b->uv_idle, uv_idled);
	if (b->fd >= 0) {
		uv_poll_init(&b->uv, &b->uv_poll, b->fd);
		uv_poll_start(&b->uv_poll, UV_READABLE, uv_polled);
	}
	uv_run(&b->uv, UV_RUN_DEFAULT);
}

/* Has a source ring once, in a time. */
static int event_ring(sd_event_source *source, uint64_t usec)
{
	sd_event_source_set_time_relative(source, usec);
	return sd_event_source_set_enabled(source, SD_EVENT_ONESHOT);
}

static int event_ticked(sd_event_source *source, uint64_t usec, void *userdata)
{
	(void)usec;
	tick(userdata);
	return event_ring(source, TICK_USEC);
}

static int event_rung(sd_event_source *source, uint64_t at, void *userdata)
{
	struct bench *b = userdata;
	uint64_t usec;

	(void)source;
	(void)at;
	if (!turn(b, &usec))
		return sd_event_exit(b->event, 0);
	if (usec == UINT64_MAX)
		return sd_event_source_set_enabled(b->timer, SD_EVENT_OFF);
	return event_ring(b->timer, usec);
}

static int event_polled(sd_event_source *source, int fd, uint32_t events, void *userdata)
{
	(void)fd;
	(void)events;
	return event_rung(source, 0, userdata);
}

static void run_event(struct bench *b)
{
	sd_event_new(&b->event);
	sd_event_add_time_relative(b->event, &b->ticker, CLOCK_MONOTONIC, TICK_USEC, 1,
				   event_ticked, b);
	sd_event_add_time(b->event, &b->timer, CLOCK_MONOTONIC, 0, 1, event_rung, b);
	if (b->fd >= 0)
		sd_event_add_io(b->event, &b->poll, b->fd, EPOLLIN, event_polled, b);
	sd_event_loop(b->event);
}

/* ---- main -------------------------------------------------------------------------------- */

/* Takes the files of a directory out of the page cache. */
static void evict(const char *directory)
{
	DIR *dir = opendir(directory);
	struct dirent *d;

	while (dir && (d = readdir(dir))) {
		int fd = openat(dirfd(dir), d->d_name, O_RDONLY | O_CLOEXEC);

		if (fd < 0)
			continue;
		fdatasync(fd);
		posix_fadvise(fd, 0, 0, POSIX_FADV_DONTNEED);
		close(fd);
	}
	if (dir)
		closedir(dir);
}

int main(int argc, char **argv)
{
	struct bench b = { .turn = turn_idle, .fd = -1 };
	int r = 0;

	if (argc != 4)
		return 2;
	evict(argv[3]);
	if (strcmp(argv[2], "jscan") == 0)
		r = start_jscan(&b, argv[3]);
	else if (strcmp(argv[2], "libsystemd") == 0)
		r = start_libsystemd(&b, argv[3]);
	if (r < 0) {
		fprintf(stderr, "%s: %s\n", argv[3], strerror(-r));
		return 1;
	}
	b.begin_usec = now_usec(CLOCK_MONOTONIC);
	if (strcmp(argv[1], "uv") == 0)
		run_uv(&b);
	else
		run_event(&b);
	printf("{\"loop\":\"%s\",\"reader\":\"%s\",\"entries\":%llu,\"bytes\":%llu,"
	       "\"seconds\":%.2f,\"ticks\":%llu,\"worst_gap_ms\":%.1f,\"late_2ms\":%llu,"
	       "\"late_10ms\":%llu,\"longest_call_ms\":%.1f,\"longest_call_cpu_ms\":%.1f}\n",
	       argv[1], argv[2], (unsigned long long)b.entries, (unsigned long long)b.bytes,
	       (double)(now_usec(CLOCK_MONOTONIC) - b.begin_usec) / 1e6,
	       (unsigned long long)b.ticks, (double)b.worst_usec / 1e3,
	       (unsigned long long)b.over_2ms, (unsigned long long)b.over_10ms,
	       (double)b.call_usec_max / 1e3, (double)b.call_cpu_usec_max / 1e3);
	if (b.result < 0)
		fprintf(stderr, "%s: %s\n", argv[3], strerror(-b.result));
	return b.result < 0;
}
