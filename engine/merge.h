/* SPDX-License-Identifier: MIT */
/*
 * The merge: journalctl's order over many sources. Its result is defined as the reference's fold
 * over all candidates (specification 7.4), less its losses; where the comparison is certified to be
 * free of cycles a heap gives the same. It never waits: it answers -EAGAIN while a source that
 * matters does not know its next entry.
 */
#ifndef ENGINE_MERGE_H
#define ENGINE_MERGE_H

#include "engine/order.h"
#include "uring/list.h"

struct jscan;
struct source;

/* How the next entry is found. */
enum merge_mode {
	MERGE_SEQNUM, /* one sequence-number ID: by number, files whose ranges do not overlap in lanes */
	MERGE_RANK,   /* one machine, every boot ranked: by boot, then monotonic time */
	MERGE_TIME,   /* by realtime, as long as every machine's agrees with its other clocks */
	MERGE_FOLD,   /* the comparison has cycles, or might have: the reference's fold */
};

/* A source with its candidate in the heap: small, so that sifting stays in a few cache lines. */
struct merge_item {
	uint64_t primary, secondary; /* of the mode, complemented when reading backward */
	struct source *source;
	uint32_t lane;               /* MERGE_SEQNUM */
};

struct merge_lane {
	struct source **sources; /* in reading order */
	size_t count, at;
};

struct merge {
	enum merge_mode mode;
	bool backward;
	size_t start_at;            /* merge_start(): next lane or source to enter */
	bool pending;               /* heap[pending_at] was taken: its source has a new candidate */
	size_t pending_at;
	struct merge_item *heap;    /* MERGE_FOLD: not a heap but all sources by number */
	size_t heap_count, heap_capacity;
	struct merge_lane *lanes;
	size_t lane_count;
	uint32_t *boot_rank;        /* MERGE_RANK: of each boot, from 1; 0: none */
	uint32_t boot_rank_count;
	struct list *id_groups;     /* by sequence-number ID: sources in the heap */
	uint32_t id_group_count;
	struct list *clock_groups;  /* MERGE_TIME: by machine, or by boot where it has no rank */
	uint32_t machine_count, clock_group_count;
	size_t *best;               /* MERGE_FOLD: index of the best of each prefix, SIZE_MAX: none */
	size_t fold_valid;          /* prefixes below this are current */
	bool fold_filled;           /* all candidates but the last source's are known */
	size_t *ties;               /* scratch: positions in the heap */
	bool has_last;
	struct order_key last;      /* of the entry yielded last */
	const struct source *last_source;
	uint64_t duplicates, heap_steps, fold_steps;
};

void merge_done(struct merge *m);

/* Chooses the mode for the engine's usable sources; nothing is loaded yet. */
int merge_prepare(struct merge *m, struct jscan *engine, bool backward);

/* True if the merge needs this source's first candidate before it can start. */
bool merge_needs_head(const struct merge *m, const struct source *s);

/* Takes the first candidates. 0, -EAGAIN: call it again. */
int merge_start(struct merge *m, struct jscan *engine);

/* The next entry: 1, 0, -EAGAIN; see engine_next_candidate(). */
int merge_pop(struct merge *m, struct jscan *engine, struct source **ret_source);

/*
 * The sources that will be read next, for read-ahead: calls FN for each that is being read, then for
 * the ones that follow, nearest first, until FN answers false.
 */
void merge_upcoming(const struct merge *m, bool (*fn)(void *userdata, struct source *s),
		    void *userdata);

#endif
