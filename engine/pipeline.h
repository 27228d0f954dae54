/* SPDX-License-Identifier: MIT */
/*
 * Entries turned into bytes by several threads, in order. The engine's thread merges and fills
 * batches with references; workers load and format; the engine's thread reports what was damaged
 * and writes, batch after batch.
 */
#ifndef ENGINE_PIPELINE_H
#define ENGINE_PIPELINE_H

#include "engine/engine.h"

/* Whether the scan goes through the pipeline from here on: options and sinks allow it, and there
 * has been enough of it to be worth a thread. Starts the threads. */
bool pipeline_engage(struct jscan *engine);

/* engine_wait(): feeds the sinks until something is lacking or the scan ends. 0, -EAGAIN, an
 * error. */
int pipeline_step(struct jscan *engine);

/* Stops work that is under way. References that have not been handed on stay, for
 * pipeline_give_back(). */
void pipeline_halt(struct jscan *engine);

/* Whether there are references that were not handed on. */
bool pipeline_has_rest(const struct jscan *engine);

/* Moves such references, from the first on, to the engine's own batch, which is empty. */
void pipeline_give_back(struct jscan *engine, unsigned max);

/* Forgets them. */
void pipeline_drop(struct jscan *engine);

/* Ends the threads and frees everything. FORKED: in a child after fork(). */
void pipeline_free(struct jscan *engine, bool forked);

#endif
