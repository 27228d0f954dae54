/* SPDX-License-Identifier: MIT */
/* What the files that drive a scan share with each other. */
#ifndef ENGINE_DRIVE_H
#define ENGINE_DRIVE_H

#include <time.h>

#include "engine/engine.h"

/* A clock for slices, microseconds. */
static inline uint64_t drive_now_usec(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (uint64_t)t.tv_sec * 1000000 + (uint64_t)t.tv_nsec / 1000;
}

/* ---- drive.c ----------------------------------------------------------------------------- */

/* Feeds the sinks one batch, of MAX entries at most. 1: go on; 0: the scan has ended; -EAGAIN; an
 * error. */
int drive_batch(struct jscan *engine, unsigned max);

/* engine_wait(): the next entry that matches, loaded. 1, 0, -EAGAIN. */
int drive_next_step(struct jscan *engine);

/* ---- drive-sinks.c ----------------------------------------------------------------------- */

/* What a thread may remember of shared data objects. */
uint64_t drive_share_bytes(const struct jscan *engine);

/* Whether readers are to remember what export prints. */
bool drive_prints_leads(const struct jscan *engine);

/* Runs begin of all sinks, once. */
int drive_begin(struct jscan *engine);

/* Writes what the sinks have formatted, and lets them flush. */
int drive_flush(struct jscan *engine);

/* Tells the checkpoint, once the sinks have flushed, if it is time to; or whenever it has moved. 0,
 * or an error. */
int drive_checkpoint(struct jscan *engine, bool last);

/* Runs end of all sinks. */
int drive_end(struct jscan *engine);

/* True if a sink, or jscan_stop(), asked to stop. */
bool drive_is_stopped(struct jscan *engine);

/* What the sinks have said beside the entries: 0 go on, 1 stop, or the error to abort with. */
int drive_verdict(struct jscan *engine);

#endif
