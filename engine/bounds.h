/* SPDX-License-Identifier: MIT */
/* What a file's header says of where a place lies. */
#ifndef ENGINE_BOUNDS_H
#define ENGINE_BOUNDS_H

#include "engine/engine.h"

/*
 * Where reading starts in a file from a place (SEEK_PLACE) outside of it. 1: *ret_index, as
 * chain_bisect() would answer; 0: it has to be bisected; -EAGAIN.
 */
int bounds_place(struct source *s, const struct engine_seek *seek, bool backward,
		 uint64_t *ret_index);

/* True if no entry of a file has a number above this one. */
bool bounds_ends_before(const struct source *s, uint64_t seqnum);

/* True unless no entry of a file can have this number. */
bool bounds_may_have(const struct source *s, uint64_t seqnum);

/* True if a file lies wholly on the far side of a place, by its header: where reading starts in it
 * need not be known before its turn comes. */
bool bounds_may_wait(const struct source *s, const struct engine_seek *seek, bool backward);

/* True if the entry at hand is outside of complete bounds; or if it has come in since, before
 * anything was found, and the place to begin at lies ahead of it. */
bool bounds_exclude(const struct jscan *e, const struct source *s);

#endif
