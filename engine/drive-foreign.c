/* SPDX-License-Identifier: MIT */
/*
 * Driving a scan from an event loop that the program already has: small slices of work, none of
 * which blocks. Always in line: no worker thread is used here.
 */
#include "engine/drive.h"

#include <poll.h>

/* Entries merged at a time in a foreign loop, where a call must be short. */
#define DRIVE_FOREIGN_REFS 16u

int jscan_fd(struct jscan *e)
{
	int r = engine_check(e);

	if (r < 0)
		return r;
	e->foreign = true;
	r = engine_start_io(e);
	if (r < 0)
		return r;
	/* A submission can sleep for as long as a read: in somebody else's loop it must not. */
	e->pool.async = true;
	return io_event_fd(&e->io);
}

const char *jscan_io_hint(const struct jscan *e)
{
	return e->io_hint;
}

int jscan_events(struct jscan *e)
{
	int r = engine_check(e);

	return r < 0 ? r : POLLIN;
}

int jscan_timeout(struct jscan *e, uint64_t *ret_usec)
{
	int r = engine_check(e);

	if (r < 0)
		return r;
	*ret_usec = engine_timeout_usec(e);
	if (e->held_back)
		*ret_usec = HELD_BACK_USEC;
	return 0;
}

/* One slice of work: sinks are fed until the time or the bytes are used up. */
static int drive_slice(struct jscan *e, uint64_t begin_usec)
{
	uint64_t bytes = e->stats.bytes_written;
	int r = drive_begin(e);

	if (r < 0)
		return r;
	r = drive_checkpoint(e, false);
	if (r < 0)
		return r;
	e->slice_end_usec = begin_usec + e->options.slice_usec;
	do {
		r = drive_batch(e, DRIVE_FOREIGN_REFS);
		if (r <= 0)
			break;
	} while (drive_now_usec() < e->slice_end_usec &&
		 e->stats.bytes_written - bytes < e->options.slice_bytes);
	e->slice_end_usec = 0;
	if (r == 0) {
		r = drive_end(e);
		return r < 0 ? r : -ENODATA;
	}
	if (r < 0 && r != -EAGAIN)
		e->sinks_begun = false;
	return r;
}

int jscan_process(struct jscan *e)
{
	uint64_t begin = drive_now_usec(), taken;
	int r = engine_check(e);

	if (r == 0)
		r = engine_start_io(e);
	if (r == 0)
		r = engine_turn(e, false);
	if (r < 0)
		return r;
	if (e->sinks.count) {
		r = drive_slice(e, begin);
	} else if (!e->batch.handed) {
		r = drive_next_step(e);
		r = r == 0 ? -ENODATA : r;
	} else {
		r = 1;
	}
	if (r == -EAGAIN) {
		engine_read_ahead(e);
		r = drive_flush(e);
		r = r < 0 ? r : engine_turn(e, false);
		r = r < 0 ? r : !list_is_empty(&e->runnable);
	}
	taken = drive_now_usec() - begin;
	e->stats.call_usec_max = taken > e->stats.call_usec_max ? taken : e->stats.call_usec_max;
	return r;
}
