/* SPDX-License-Identifier: MIT */
/*
 * The heap of the merge, and the certificates under which its first item is what the reference's
 * fold over all candidates would give. That fold yields W if W beats every other candidate in the
 * comparison of specification 7.4, or is equal to it and of a lower number, since W then replaces
 * whatever was best before it, and is replaced by nothing after it. So W is checked, at each step:
 *
 *   MERGE_SEQNUM  One sequence-number ID: different numbers decide. Checked: in a lane every
 *                 candidate is below the first of the file that follows. Which is known where heads
 *                 are; in a short scan the file's header is believed.
 *   MERGE_RANK    One machine whose boots are all ranked, no two alike: rank and monotonic time
 *                 decide, unless two candidates share an ID. Checked: W's number is the least of
 *                 its ID. A boot without rank ends this mode.
 *   MERGE_TIME    Realtime decides, unless two candidates share an ID, a machine or a boot.
 *                 Checked: W's number is the least of its ID; its boot and monotonic time are the
 *                 least of its machine, or its monotonic time is the least of its boot if that has
 *                 no rank.
 *
 * Candidates that a heap does not tell apart are compared one by one. Where W cannot be certified,
 * one fold is made in its stead; where that is the rule, the merge goes over to MERGE_FOLD
 * (merge-fold.c).
 *
 * Copies of the entry yielded last are skipped before anything is compared again. They share its
 * number and ID, or its times and hash, so that they are found among what is tied with it.
 */
#include "engine/merge.h"

#include <assert.h>

#include "engine/checkpoint.h"
#include "engine/merge-private.h"

/* Folds made in place of the heap, beyond as many as steps of the heap, before it is given up. */
#define MERGE_MISSES_MAX 64u
/* So many candidates are brought in as a wave, which looks only at sources that have got bytes. */
#define MERGE_STALE_MANY 64u

/* Frees an array of heaps. */
static void merge_free_groups(struct merge_heap *groups, uint32_t count)
{
	for (uint32_t i = 0; i < count; i++)
		free(groups[i].items);
	free(groups);
}

void merge_done(struct merge *m)
{
	for (size_t i = 0; i < m->lane_count; i++)
		free(m->lanes[i].sources);
	free(m->lanes);
	free(m->lane_of);
	free(m->heap.items);
	free(m->heap_at);
	free(m->stale);
	free(m->boot_rank);
	merge_free_groups(m->id_groups, m->id_group_count);
	merge_free_groups(m->clock_groups, m->clock_group_count);
	free(m->id_at);
	free(m->clock_at);
	free(m->clock_group_of);
	free(m->ties);
	free(m->best);
	free(m->hashes);
	free(m->unbounded);
	*m = (struct merge){ 0 };
}

/* ---- entering and leaving the heaps ------------------------------------------------------- */

/* The group of candidates whose clocks are one machine's, or one boot's that has no rank. */
static int merge_clock_group(struct merge *m, const struct order *o, uint32_t boot, uint32_t *ret)
{
	uint32_t group = o->boots[boot].ranked ? o->boots[boot].machine : m->machine_count + boot;

	if (group >= m->clock_group_count) {
		/* A boot that had not been met when the merge was prepared. */
		uint32_t count = group + group / 2 + 16;
		struct merge_heap *groups = reallocarray(m->clock_groups, count, sizeof(*groups));

		if (!groups)
			return -ENOMEM;
		for (uint32_t i = m->clock_group_count; i < count; i++)
			groups[i] = (struct merge_heap){ 0 };
		m->clock_groups = groups;
		m->clock_group_count = count;
	}
	*ret = group;
	return 0;
}

/* Enters a candidate into its groups, or moves it there. */
static int merge_enter_groups(struct merge *m, const struct order *o, const struct source *s)
{
	const struct order_boot *boot = &o->boots[s->key.boot];
	struct merge_item item = { .first = s->key.seqnum ^ merge_flip(m), .number = s->number };
	uint32_t group, before = m->clock_group_of[s->number];
	int r = merge_heap_set(&m->id_groups[s->seqnum_id], m->id_at, &item);

	if (r < 0 || m->mode != MERGE_TIME)
		return r;
	r = merge_clock_group(m, o, s->key.boot, &group);
	if (r < 0)
		return r;
	if (before != group && before != MERGE_NOWHERE)
		merge_heap_remove(&m->clock_groups[before], m->clock_at, s->number);
	m->clock_group_of[s->number] = group;
	item.first = boot->ranked ? boot->realtime ^ merge_flip(m) : 0;
	item.middle = s->key.boot;
	item.second = s->key.monotonic ^ merge_flip(m);
	return merge_heap_set(&m->clock_groups[group], m->clock_at, &item);
}

/* A source has no candidate any more. */
static void merge_leave(struct merge *m, const struct source *s)
{
	uint32_t group;

	if (m->mode == MERGE_FOLD) {
		m->hashes[s->number] = 0;
		if (s->number < m->fold_valid)
			m->fold_valid = s->number;
		return;
	}
	merge_heap_remove(&m->heap, m->heap_at, s->number);
	if (m->mode == MERGE_SEQNUM)
		return;
	merge_heap_remove(&m->id_groups[s->seqnum_id], m->id_at, s->number);
	group = m->clock_group_of[s->number];
	if (group != MERGE_NOWHERE)
		merge_heap_remove(&m->clock_groups[group], m->clock_at, s->number);
}

static int merge_admit(struct merge *m, struct jscan *e, struct source *s);

/* A boot without rank has turned up: from MERGE_RANK to MERGE_TIME. */
static int merge_to_time(struct merge *m, struct jscan *e)
{
	for (uint32_t i = 0; i < m->source_count; i++)
		merge_leave(m, e->sources[i]);
	m->mode = MERGE_TIME;
	m->hits = m->misses = 0;
	for (uint32_t i = 0; i < m->source_count; i++) {
		struct source *s = e->sources[i];
		int r = !s->error && s->candidate == CANDIDATE_THERE ? merge_admit(m, e, s) : 0;

		if (r < 0)
			return r;
	}
	return 0;
}

/* Enters a new candidate. 0, -ENOMEM, or 1: the merge has gone over to the fold. */
static int merge_admit(struct merge *m, struct jscan *e, struct source *s)
{
	struct merge_item item = { .number = s->number };
	const struct merge_lane *lane;
	uint32_t boot = s->key.boot;
	int r;

	switch (m->mode) {
	case MERGE_SEQNUM:
		lane = &m->lanes[m->lane_of[s->number]];
		item.first = s->key.seqnum ^ merge_flip(m);
		if (unlikely(lane->at + 1 < lane->count && item.first >= lane->limit))
			return merge_to_fold(m, e);
		break;
	case MERGE_RANK:
		if (unlikely(boot >= m->boot_rank_count || m->boot_rank[boot] == 0))
			return merge_to_time(m, e);
		item.first = m->boot_rank[boot] ^ merge_flip(m);
		item.second = s->key.monotonic ^ merge_flip(m);
		break;
	case MERGE_TIME:
		item.first = s->key.realtime ^ merge_flip(m);
		break;
	case MERGE_FOLD:
		m->hashes[s->number] = s->key.xor_hash;
		if (s->number < m->fold_valid)
			m->fold_valid = s->number;
		return 0;
	}
	r = merge_heap_set(&m->heap, m->heap_at, &item);
	if (r < 0 || m->mode == MERGE_SEQNUM)
		return r;
	return merge_enter_groups(m, &e->order, s);
}

/* ---- stepping --------------------------------------------------------------------------- */

/* Makes a source's next candidate known: 1 it is, 0 there is none, -EAGAIN. */
static int merge_load(struct jscan *e, struct source *s)
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

void merge_set_lane_limit(const struct merge *m, struct merge_lane *lane)
{
	const struct source *next;

	if (lane->at + 1 >= lane->count)
		return;
	next = lane->sources[lane->at + 1];
	if (next->candidate == CANDIDATE_THERE)
		lane->limit = next->key.seqnum ^ merge_flip(m);
	else
		lane->limit = merge_flip(m) ^ (m->backward ?
						       next->journal.header.tail_entry_seqnum :
						       next->journal.header.head_entry_seqnum);
}

/*
 * Makes the next candidate of a source known and enters it; in a lane the next file follows, and
 * takes the source's place in *NUMBER. 0, -EAGAIN, or 1: the merge has gone over to the fold.
 */
static int merge_renew(struct merge *m, struct jscan *e, uint32_t *number)
{
	struct source *s = e->sources[*number];

	for (;;) {
		struct merge_lane *lane;
		int r = merge_load(e, s);

		if (unlikely(r < 0))
			return r;
		if (likely(r > 0)) {
			bool copy = merge_is_copy_of_last(m, s);

			if (likely(!copy &&
				   !(m->unbounded && merge_is_within_bound(m, e, s))))
				return merge_admit(m, e, s);
			m->duplicates += copy;
			if (unlikely(copy && e->checkpoint))
				checkpoint_skip(e, s);
			source_consume(s);
			continue;
		}
		s->drained = true;
		merge_leave(m, s);
		if (m->mode != MERGE_SEQNUM)
			return 0;
		lane = &m->lanes[m->lane_of[s->number]];
		if (lane->at + 1 >= lane->count)
			return 0;
		s = lane->sources[++lane->at];
		merge_set_lane_limit(m, lane);
		*number = s->number;
	}
}

/* Whether a wave is to bring in a source's candidate. */
static bool merge_wants_candidate(const struct source *s)
{
	return s->candidate == CANDIDATE_UNKNOWN && merge_needs_head(&s->engine->merge, s);
}

int merge_refresh(struct merge *m, struct jscan *e)
{
	uint32_t kept = 0, count = m->stale_count;

	m->run_limit = 0;
	if (unlikely(count >= MERGE_STALE_MANY)) {
		int r = engine_wave(e, source_step_next, merge_wants_candidate);

		if (r < 0)
			return r;
	}
	for (uint32_t i = 0; i < count; i++) {
		uint32_t number = m->stale[i];
		int r = merge_renew(m, e, &number);

		if (unlikely(r > 0))
			return r; /* with a list of its own */
		if (r == 0)
			continue;
		m->stale[kept++] = number;
		if (r == -EAGAIN)
			continue; /* but ask for what the others lack */
		while (++i < count)
			m->stale[kept++] = m->stale[i];
		m->stale_count = kept;
		return r;
	}
	m->stale_count = kept;
	return kept ? -EAGAIN : 0;
}

/* Whether A wins over B wherever they stand in the fold. */
static bool merge_beats(const struct merge *m, const struct order *o, const struct source *a,
			const struct source *b)
{
	int order = order_compare(o, &a->key, &b->key);

	if (order == 0)
		return a->number < b->number;
	return (order < 0) != m->backward;
}

/* The candidate that wins over all others of which the heap says nothing. NULL: not certainly. */
static struct source *merge_choose_tied(struct merge *m, struct jscan *e, uint32_t count)
{
	const struct order *o = &e->order;
	struct source *winner = e->sources[m->heap.items[0].number], *s;

	for (uint32_t i = 1; i < count; i++) {
		s = e->sources[m->heap.items[m->ties[i]].number];
		/* The table of boots is not there where numbers decide: see PHASE_NEWEST. */
		if (!e->newest_known && s->key.boot != winner->key.boot)
			return NULL;
		if (merge_beats(m, o, s, winner))
			winner = s;
	}
	for (uint32_t i = 0; i < count; i++) {
		s = e->sources[m->heap.items[m->ties[i]].number];
		if (s != winner && !merge_beats(m, o, winner, s))
			return NULL;
	}
	return winner;
}

/* Whether what shares an ID or a clock with the heap's first agrees that it is the first. */
static inline bool merge_certify(const struct merge *m, const struct source *s)
{
	const struct merge_heap *group = &m->id_groups[s->seqnum_id];

	if (group->items[0].first != (s->key.seqnum ^ merge_flip(m)))
		return false;
	if (m->mode == MERGE_RANK)
		return true;
	/* Two boots of one machine that are equally new: nothing is certain. */
	group = &m->clock_groups[m->clock_group_of[s->number]];
	return group->items[0].middle == s->key.boot &&
	       group->items[0].second == (s->key.monotonic ^ merge_flip(m));
}

/* Notes that candidate I of a heap is to be skipped if it is a copy of the source's. */
static inline void merge_note_copy(struct merge *m, const struct jscan *e, const struct source *s,
				   uint32_t number)
{
	const struct source *other = e->sources[number];

	if (other != s && order_is_copy(&other->key, &s->key))
		m->stale[m->stale_count++] = number;
}

/* Notes the copies among COUNT items tied with the one chosen, or where else they may be. */
static void merge_note_copies(struct merge *m, const struct jscan *e, const struct source *s,
			      uint32_t count)
{
	const struct merge_heap *group = m->mode == MERGE_RANK ? &m->id_groups[s->seqnum_id] : NULL;

	for (uint32_t i = 0; i < count; i++) {
		uint32_t number = m->heap.items[m->ties[i]].number;

		if (!group || e->sources[number]->seqnum_id != s->seqnum_id)
			merge_note_copy(m, e, s, number);
	}
	/* Copies of one ID may have another monotonic time, which is another place in the heap. */
	if (!group || !merge_heap_root_is_tied(group))
		return;
	count = merge_heap_ties(group, m->ties);
	for (uint32_t i = 0; i < count; i++)
		merge_note_copy(m, e, s, group->items[m->ties[i]].number);
}

/* The number from which on a source that is the heap's first, and no other, may be so no more. */
static uint64_t merge_run_limit(const struct merge *m, const struct source *s)
{
	const struct merge_lane *lane = &m->lanes[m->lane_of[s->number]];
	uint64_t limit = lane->at + 1 < lane->count ? lane->limit : UINT64_MAX;

	for (uint32_t i = 1; i < m->heap.count && i < 3; i++)
		limit = m->heap.items[i].first < limit ? m->heap.items[i].first : limit;
	return limit;
}

/*
 * One more of the source that was yielded last, which nothing else comes before: most steps of a
 * scan over files that follow each other. NULL: it takes a closer look.
 */
static inline struct source *merge_run(struct merge *m, struct jscan *e)
{
	struct source *s = e->sources[m->heap.items[0].number];
	uint64_t first;
	int r;

	if (unlikely(m->stale_count != 1 || m->stale[0] != s->number || s != m->last_source ||
		     s->candidate != CANDIDATE_UNKNOWN || s->state != SOURCE_OPEN ||
		     s->turn != e->turns || !s->walk.located))
		return NULL;
	r = source_step_candidate(s);
	if (unlikely(r <= 0)) {
		s->window.want_count = 0;
		return NULL; /* it is tried again */
	}
	first = s->key.seqnum ^ merge_flip(m);
	if (unlikely(first >= m->run_limit))
		return NULL;
	m->heap.items[0].first = first;
	m->hits++;
	m->heap_steps++;
	return s;
}

/* The heap's first, if it is the fold's, else the fold's. NULL: the fold has to take over. */
static struct source *merge_choose(struct merge *m, struct jscan *e)
{
	struct source *s = e->sources[m->heap.items[0].number];
	uint32_t count = 0;

	if (unlikely(merge_heap_root_is_tied(&m->heap))) {
		count = merge_heap_ties(&m->heap, m->ties);
		s = merge_choose_tied(m, e, count);
	}
	if (likely(s && (m->mode == MERGE_SEQNUM || merge_certify(m, s)))) {
		m->stale[m->stale_count++] = s->number;
		if (unlikely(count || m->mode == MERGE_RANK))
			merge_note_copies(m, e, s, count);
		m->hits++;
		m->heap_steps++;
		if (m->mode == MERGE_SEQNUM && !count && !m->unbounded)
			m->run_limit = merge_run_limit(m, s);
		return s;
	}
	if (m->mode == MERGE_SEQNUM || ++m->misses > MERGE_MISSES_MAX + m->hits)
		return NULL;
	s = merge_fold_once(m, e);
	if (e->checkpoint)
		s = e->sources[m->id_groups[s->seqnum_id].items[0].number];
	m->stale[m->stale_count++] = s->number;
	for (uint32_t i = 0; i < m->heap.count; i++)
		merge_note_copy(m, e, s, m->heap.items[i].number);
	m->fold_steps++;
	return s;
}

int merge_pop(struct merge *m, struct jscan *e, struct source **ret_source)
{
	if (unlikely(m->at_place))
		return merge_pop_at_place(m, e, ret_source);
	if (likely(m->run_limit)) {
		struct source *s = merge_run(m, e);

		if (likely(s)) {
			m->last = s->key;
			*ret_source = s;
			return 1;
		}
	}
	for (;;) {
		struct source *s;
		int r;

		if (likely(m->stale_count)) {
			r = merge_refresh(m, e);
			if (unlikely(r < 0))
				return r;
			if (unlikely(r > 0))
				continue;
		}
		if (unlikely(m->mode == MERGE_FOLD))
			return merge_fold_pop(m, e, ret_source);
		if (unlikely(m->heap.count == 0))
			return 0;
		s = merge_choose(m, e);
		if (unlikely(!s)) {
			r = merge_to_fold(m, e);
			if (r < 0)
				return r;
			continue;
		}
		m->has_last = true;
		m->last = s->key;
		m->last_source = s;
		*ret_source = s;
		return 1;
	}
}

/* ---- what comes next ---------------------------------------------------------------------- */

/* merge_upcoming() for lanes: of each the file that is read and the two that follow. */
static void merge_upcoming_lanes(const struct merge *m,
				 bool (*fn)(void *userdata, struct source *s), void *userdata)
{
	for (size_t i = 0; i < m->lane_count; i++) {
		const struct merge_lane *lane = &m->lanes[i];

		for (size_t k = lane->at; k < lane->count && k < lane->at + 3; k++) {
			if (!fn(userdata, lane->sources[k]))
				break;
		}
	}
}

/* merge_upcoming() for the fold: what is read, then two files in order of their first entries. */
static void merge_upcoming_fold(const struct merge *m, const struct jscan *e,
				bool (*fn)(void *userdata, struct source *s), void *userdata)
{
	unsigned more = 0;

	for (uint32_t i = 0; i < m->source_count; i++) {
		struct source *s = e->sources[i];

		if (!s->drained && s->walk.consumed_offset && !fn(userdata, s))
			return;
	}
	for (uint32_t i = 0; i < m->source_count && more < 2; i++) {
		struct source *s = e->sources[m->backward ? m->source_count - 1 - i : i];

		if (s->drained || s->walk.consumed_offset)
			continue;
		if (!fn(userdata, s))
			return;
		more++;
	}
}

void merge_upcoming(const struct merge *m, const struct jscan *e,
		    bool (*fn)(void *userdata, struct source *s), void *userdata)
{
	if (m->mode == MERGE_SEQNUM) {
		merge_upcoming_lanes(m, fn, userdata);
		return;
	}
	if (m->mode == MERGE_FOLD) {
		merge_upcoming_fold(m, e, fn, userdata);
		return;
	}
	for (uint32_t i = 0; i < m->heap.count; i++) {
		struct source *s = e->sources[m->heap.items[i].number];

		if ((s->walk.consumed_offset || i < 3) && !fn(userdata, s))
			return;
	}
}
