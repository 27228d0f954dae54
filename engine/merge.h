/* SPDX-License-Identifier: MIT */
/*
 * The merge: journalctl's order over many sources. Its result is defined as the reference's fold
 * over the sources' candidates (specification 7.4) in the order of the files' numbers, less its
 * losses: before every fold, candidates of other files that are copies of the entry yielded last
 * are skipped, and nothing else is. A heap gives the same where what it finds first can be shown to
 * win that fold. It never waits: it answers -EAGAIN while a source that matters does not know its
 * next entry.
 */
#ifndef ENGINE_MERGE_H
#define ENGINE_MERGE_H

#include "engine/merge-heap.h"
#include "engine/order.h"

struct jscan;
struct source;

/* How the next entry is found. */
enum merge_mode {
	MERGE_SEQNUM, /* one sequence-number ID: by number; in lanes where ranges do not overlap */
	MERGE_RANK,   /* one machine, every boot ranked: by boot, then monotonic time */
	MERGE_TIME,   /* by realtime, wherever nothing else decides otherwise */
	MERGE_FOLD,   /* the comparison goes in circles too often: the reference's fold */
};

/* Files that follow each other: only one of them is read at a time. */
struct merge_lane {
	struct source **sources; /* in reading order */
	size_t count, at;
	uint64_t limit;          /* all but the last: candidates stay below, or the lane is none */
};

struct merge {
	enum merge_mode mode;
	bool backward;
	bool knows_heads;          /* MERGE_SEQNUM: every file's first candidate is looked up */
	bool started;
	uint32_t source_count;
	struct merge_heap heap;    /* sources with a candidate; stale ones as they were */
	uint32_t *heap_at;         /* by number, like all that follows: position in the heap */
	uint32_t *stale;           /* sources whose candidate is gone, or to be skipped as a copy */
	uint32_t stale_count;
	struct merge_lane *lanes;
	size_t lane_count;
	uint32_t *lane_of;
	uint32_t *boot_rank;       /* MERGE_RANK: of each boot, from 1; 0: none */
	uint32_t boot_rank_count;
	struct merge_heap *id_groups;    /* by sequence-number ID: sources of the heap, by number */
	uint32_t id_group_count;
	uint32_t *id_at;
	struct merge_heap *clock_groups; /* MERGE_TIME: by machine; by boot where it has no rank */
	uint32_t machine_count, clock_group_count;
	uint32_t *clock_at;
	uint32_t *clock_group_of;
	uint32_t *ties;            /* scratch: positions in a heap */
	uint64_t run_limit;        /* MERGE_SEQNUM: below it the source that was yielded last goes
				    * on being the least; 0: not known */
	uint64_t hits, misses;     /* how often the heap's first was the fold's, or not certainly */
	uint32_t *best;            /* MERGE_FOLD: number of the best of each prefix, or nowhere */
	uint64_t *hashes;          /* MERGE_FOLD: of the candidates; 0: none */
	uint32_t fold_valid;       /* prefixes below this are current */
	bool has_last;
	struct order_key last;     /* of the entry yielded last */
	const struct source *last_source;
	bool at_place;             /* nothing is taken yet after a seek: merge-place.c */
	struct order_key bound;    /* the first entry after a seek */
	bool *unbounded;           /* by number: the candidate may not lie beyond the bound yet */
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
 * The sources that will be read next, for read-ahead: calls FN for each that is being read, then
 * for the ones that follow, nearest first, until FN answers false.
 */
void merge_upcoming(const struct merge *m, const struct jscan *engine,
		    bool (*fn)(void *userdata, struct source *s), void *userdata);

#endif
