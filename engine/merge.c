/* SPDX-License-Identifier: MIT */
/*
 * The heap of the merge, and the certificates under which it stands for the reference's fold.
 *
 *   MERGE_SEQNUM  One sequence-number ID: the comparison is one of numbers, a total order. Files
 *                 whose ranges of numbers are disjoint form a lane, of which one file is read at a
 *                 time. Checked: every entry's number is in its header's range.
 *   MERGE_RANK    One machine whose boots are all ranked: (rank, monotonic, realtime, hash) is a
 *                 total order. Checked: no other boot turns up, and among the candidates that share
 *                 an ID the numbers agree with it.
 *   MERGE_TIME    The heap is by realtime alone; candidates of equal realtime are folded in order.
 *                 Checked: no file's realtime goes back, and wherever two candidates share a machine
 *                 or an ID, what the comparison says of them agrees with their realtimes.
 *
 * When a check fails the merge goes over to MERGE_FOLD (merge-fold.c) at that very step: what was
 * yielded before is what the fold would have yielded.
 */
#include "engine/merge.h"

#include <assert.h>
#include <stdlib.h>

#include "engine/engine.h"
#include "engine/merge-private.h"

void merge_done(struct merge *m)
{
	for (size_t i = 0; i < m->lane_count; i++)
		free(m->lanes[i].sources);
	free(m->lanes);
	free(m->heap);
	free(m->boot_rank);
	free(m->id_groups);
	free(m->clock_groups);
	free(m->best);
	free(m->ties);
	*m = (struct merge){ 0 };
}

/* ---- the heap --------------------------------------------------------------------------- */

/* Whether A comes before B. What primary and secondary leave open is decided by the rest of the
 * mode's order, then by the files' numbers, whatever the direction. */
static inline bool merge_before(const struct merge *m, const struct merge_item *a,
				const struct merge_item *b)
{
	const struct order_key *x, *y;

	if (a->primary != b->primary)
		return a->primary < b->primary;
	if (a->secondary != b->secondary)
		return a->secondary < b->secondary;
	if (m->mode == MERGE_RANK) {
		x = &a->source->key;
		y = &b->source->key;
		if (x->realtime != y->realtime)
			return (x->realtime < y->realtime) != m->backward;
		if (x->xor_hash != y->xor_hash)
			return (x->xor_hash < y->xor_hash) != m->backward;
	}
	return a->source->number < b->source->number;
}

/* Moves the item at AT down to its place. */
static void merge_sift_down(struct merge *m, size_t at)
{
	struct merge_item item = m->heap[at];

	for (;;) {
		size_t child = at * 2 + 1;

		if (child >= m->heap_count)
			break;
		if (child + 1 < m->heap_count &&
		    merge_before(m, &m->heap[child + 1], &m->heap[child]))
			child++;
		if (!merge_before(m, &m->heap[child], &item))
			break;
		m->heap[at] = m->heap[child];
		at = child;
	}
	m->heap[at] = item;
}

/* Moves the item at AT up to its place. */
static void merge_sift_up(struct merge *m, size_t at)
{
	struct merge_item item = m->heap[at];

	while (at > 0) {
		size_t parent = (at - 1) / 2;

		if (!merge_before(m, &item, &m->heap[parent]))
			break;
		m->heap[at] = m->heap[parent];
		at = parent;
	}
	m->heap[at] = item;
}

/* Takes the item at AT out. */
static void merge_remove(struct merge *m, size_t at)
{
	m->heap[at] = m->heap[--m->heap_count];
	if (at < m->heap_count) {
		merge_sift_down(m, at);
		merge_sift_up(m, at);
	}
}

/* ---- certificates ----------------------------------------------------------------------- */

/* The group of candidates whose clocks are one machine's. */
static struct list *merge_clock_group(struct merge *m, const struct order *o, uint32_t boot)
{
	if (o->boots[boot].ranked)
		return &m->clock_groups[o->boots[boot].machine];
	if (boot >= m->clock_group_count - m->machine_count)
		return NULL;
	return &m->clock_groups[m->machine_count + boot];
}

/* -1, 0 or 1. */
static inline int merge_sign(uint64_t a, uint64_t b)
{
	return (a > b) - (a < b);
}

/* Whether the mode's order of S and of one other candidate is the comparison's. */
static bool merge_agrees(const struct merge *m, const struct order *o, const struct source *s,
			 const struct source *other)
{
	int full = order_compare(o, &s->key, &other->key), mode;

	if (m->mode == MERGE_TIME) {
		mode = merge_sign(s->key.realtime, other->key.realtime);
		return mode == 0 || mode == full;
	}
	mode = order_compare_times(o, &s->key, &other->key);
	return mode == full || mode == 0;
}

/* Checks a new candidate against the certificate of the mode. */
static bool merge_certify(struct merge *m, struct jscan *e, struct source *s)
{
	const struct journal_header *h = &s->journal.header;
	const struct order *o = &e->order;
	struct list *group, *l;

	if (m->mode == MERGE_SEQNUM)
		return m->lane_count <= 1 && m->lanes[0].count <= 1 ? true :
			s->key.seqnum >= h->head_entry_seqnum && s->key.seqnum <= h->tail_entry_seqnum;
	if (m->mode == MERGE_RANK &&
	    (s->key.boot >= m->boot_rank_count || m->boot_rank[s->key.boot] == 0))
		return false;
	group = &m->id_groups[s->seqnum_id];
	if (list_is_empty(&s->id_link))
		list_append(group, &s->id_link);
	for (l = group->next; l != group; l = l->next) {
		struct source *other = container_of(l, struct source, id_link);

		if (other != s && !merge_agrees(m, o, s, other))
			return false;
	}
	if (m->mode == MERGE_RANK)
		return true;
	if (s->last_realtime_known && (m->backward ? s->key.realtime > s->last_realtime :
						     s->key.realtime < s->last_realtime))
		return false;
	s->last_realtime = s->key.realtime;
	s->last_realtime_known = true;
	group = merge_clock_group(m, o, s->key.boot);
	if (!group)
		return false;
	list_remove(&s->clock_link);
	for (l = group->next; l != group; l = l->next) {
		if (!merge_agrees(m, o, s, container_of(l, struct source, clock_link)))
			return false;
	}
	list_append(group, &s->clock_link);
	return true;
}

/* Takes a source whose last entry has been taken out of the groups. */
static void merge_leave_groups(struct source *s)
{
	list_remove(&s->id_link);
	list_remove(&s->clock_link);
}

/* What the heap is sorted by. */
static void merge_set_item(const struct merge *m, struct merge_item *item, struct source *s)
{
	uint64_t flip = m->backward ? UINT64_MAX : 0;

	item->source = s;
	item->secondary = 0;
	switch (m->mode) {
	case MERGE_SEQNUM:
		item->primary = s->key.seqnum ^ flip;
		break;
	case MERGE_RANK:
		item->primary = m->boot_rank[s->key.boot] ^ flip;
		item->secondary = s->key.monotonic ^ flip;
		break;
	case MERGE_TIME:
		item->primary = s->key.realtime ^ flip;
		break;
	case MERGE_FOLD:
		item->primary = s->key.xor_hash;
		break;
	}
}

/* ---- stepping --------------------------------------------------------------------------- */

int merge_load(struct jscan *e, struct source *s)
{
	int r;

	if (s->candidate == CANDIDATE_THERE)
		return 1;
	if (s->candidate == CANDIDATE_NONE)
		return 0;
	if (likely(s->state == SOURCE_OPEN && s->turn == e->turns && s->walk.located)) {
		r = source_step_candidate(s);
		if (likely(r >= 0))
			return r;
		s->window.want_count = 0;
	}
	r = source_try(s, source_step_next);
	return r == -EBUSY ? -EAGAIN : s->error ? 0 : r;
}

int merge_refill(struct merge *m, struct jscan *e)
{
	struct merge_item *item = &m->heap[m->pending_at];
	struct source *s = item->source;
	int r = merge_load(e, s);

	while (r == 0) {
		struct merge_lane *lane;

		merge_leave_groups(s);
		s->drained = true;
		if (m->mode != MERGE_SEQNUM)
			break;
		lane = &m->lanes[item->lane];
		if (lane->at + 1 >= lane->count)
			break;
		s = lane->sources[++lane->at];
		item->source = s;
		r = merge_load(e, s);
	}
	if (r < 0)
		return r;
	m->pending = false;
	if (r == 0) {
		merge_remove(m, m->pending_at);
		return 0;
	}
	if (unlikely(!merge_certify(m, e, s)))
		return merge_to_fold(m, e);
	merge_set_item(m, item, s);
	merge_sift_down(m, m->pending_at);
	if (unlikely(m->pending_at > 0))
		merge_sift_up(m, m->pending_at);
	return 0;
}

/* MERGE_TIME: the fold of the candidates that share the least realtime. Returns its position. */
static size_t merge_fold_ties(struct merge *m, const struct order *o)
{
	size_t count = 0, best;

	m->ties[count++] = 0;
	for (size_t i = 0; i < count; i++) {
		for (size_t child = m->ties[i] * 2 + 1; child <= m->ties[i] * 2 + 2; child++) {
			if (child < m->heap_count && m->heap[child].primary == m->heap[0].primary)
				m->ties[count++] = child;
		}
	}
	/* In order of their numbers: few, so by insertion. */
	for (size_t i = 1; i < count; i++) {
		size_t at = m->ties[i], k = i;

		for (; k > 0 && m->heap[m->ties[k - 1]].source->number > m->heap[at].source->number; k--)
			m->ties[k] = m->ties[k - 1];
		m->ties[k] = at;
	}
	best = m->ties[0];
	for (size_t i = 1; i < count; i++) {
		int r = order_compare(o, &m->heap[m->ties[i]].source->key, &m->heap[best].source->key);

		if (m->backward ? r > 0 : r < 0)
			best = m->ties[i];
	}
	return best;
}

/* Whether a child of the heap's root is as near as the root. */
static inline bool merge_root_is_tied(const struct merge *m)
{
	return (m->heap_count > 1 && m->heap[1].primary == m->heap[0].primary) ||
	       (m->heap_count > 2 && m->heap[2].primary == m->heap[0].primary);
}

/* MERGE_SEQNUM: one number twice, and not a copy: only the fold knows. */
static bool merge_number_is_taken(const struct merge *m)
{
	for (size_t i = 1; i < m->heap_count && i <= 2; i++) {
		if (m->heap[i].primary == m->heap[0].primary &&
		    !order_is_copy(&m->heap[i].source->key, &m->heap[0].source->key))
			return true;
	}
	return false;
}

int merge_pop(struct merge *m, struct jscan *e, struct source **ret_source)
{
	for (;;) {
		struct source *s;
		size_t at = 0;
		int r;

		if (unlikely(m->mode == MERGE_FOLD))
			return merge_fold_pop(m, e, ret_source);
		if (likely(m->pending)) {
			r = merge_refill(m, e);
			if (unlikely(r < 0))
				return r;
			if (unlikely(r > 0))
				continue;
		}
		if (unlikely(m->heap_count == 0))
			return 0;
		if (unlikely(merge_root_is_tied(m))) {
			if (m->mode == MERGE_TIME) {
				at = merge_fold_ties(m, &e->order);
			} else if (m->mode == MERGE_SEQNUM && merge_number_is_taken(m)) {
				r = merge_to_fold(m, e);
				if (r < 0)
					return r;
				continue;
			}
		}
		s = m->heap[at].source;
		m->pending = true;
		m->pending_at = at;
		if (m->has_last && m->last_source != s && order_is_copy(&s->key, &m->last)) {
			m->duplicates++;
			source_consume(s);
			continue;
		}
		m->heap_steps++;
		m->has_last = true;
		m->last = s->key;
		m->last_source = s;
		*ret_source = s;
		return 1;
	}
}

void merge_upcoming(const struct merge *m, bool (*fn)(void *userdata, struct source *s),
		    void *userdata)
{
	if (m->mode == MERGE_SEQNUM) {
		for (size_t i = 0; i < m->lane_count; i++) {
			const struct merge_lane *lane = &m->lanes[i];

			for (size_t k = lane->at; k < lane->count && k < lane->at + 3; k++) {
				if (!fn(userdata, lane->sources[k]))
					break;
			}
		}
		return;
	}
	for (size_t i = 0; i < m->heap_count; i++) {
		struct source *s = m->heap[i].source;

		if ((s->walk.consumed_offset || i < 3) && !fn(userdata, s))
			return;
	}
}
