/* SPDX-License-Identifier: MIT */
/* What the parts of the merge share: merge.c, merge-prepare.c, merge-fold.c, merge-place.c. */
#ifndef ENGINE_MERGE_PRIVATE_H
#define ENGINE_MERGE_PRIVATE_H

#include "engine/engine.h"

/* Of the complement that turns the order round when reading backward. */
static inline uint64_t merge_flip(const struct merge *m)
{
	return m->backward ? UINT64_MAX : 0;
}

/* Whether a source's candidate has to be skipped as a copy of the entry yielded last. */
static inline bool merge_is_copy_of_last(const struct merge *m, const struct source *s)
{
	return m->has_last && m->last_source != s && order_is_copy(&s->key, &m->last);
}

/* Where a lane's candidates have to stay below: the first of the file that follows. */
void merge_set_lane_limit(const struct merge *m, struct merge_lane *lane);

/* Brings all stale candidates up to date. 0, -EAGAIN, or 1: the merge has gone over to the fold. */
int merge_refresh(struct merge *m, struct jscan *e);

/* ---- merge-place.c ---------------------------------------------------------------------- */

/* merge_pop() for the first entry after a seek to a place. */
int merge_pop_at_place(struct merge *m, struct jscan *e, struct source **ret_source);

/* Whether a candidate has to be skipped since it does not lie beyond the first entry. */
bool merge_is_within_bound(struct merge *m, const struct jscan *e, const struct source *s);

/* ---- merge-fold.c ----------------------------------------------------------------------- */

/* Goes over to the fold. 1, or -ENOMEM. */
int merge_to_fold(struct merge *m, struct jscan *e);

/* merge_pop() by the fold. */
int merge_fold_pop(struct merge *m, struct jscan *e, struct source **ret_source);

/* The winner of one fold over the heap's sources. */
struct source *merge_fold_once(const struct merge *m, const struct jscan *e);

#endif
