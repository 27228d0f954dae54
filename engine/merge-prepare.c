/* SPDX-License-Identifier: MIT */
/* Choosing how to merge, and building what the chosen mode needs. Nothing is read here. */
#include <assert.h>
#include <stdlib.h>

#include "engine/checkpoint.h"
#include "engine/engine.h"
#include "engine/merge-private.h"

/* So many files of a lane may be looked into before their turn. */
#define MERGE_SOON_FILES 16u

/* A file has entries and can be read. */
static bool merge_takes(const struct source *s)
{
	return !s->error && s->candidate != CANDIDATE_NONE;
}

/* True if all files number their entries alike. */
static bool merge_has_one_id(const struct jscan *e)
{
	const struct source *first = NULL;

	for (size_t i = 0; i < e->source_count; i++) {
		const struct source *s = e->sources[i];

		if (!merge_takes(s))
			continue;
		if (first && first->seqnum_id != s->seqnum_id)
			return false;
		first = s;
	}
	return true;
}

/* ---- MERGE_SEQNUM ----------------------------------------------------------------------- */

/* By first number, then last, then the file's own. */
static int merge_compare_ranges(const void *a, const void *b)
{
	const struct source *x = *(struct source *const *)a, *y = *(struct source *const *)b;
	const struct journal_header *h = &x->journal.header, *k = &y->journal.header;

	if (h->head_entry_seqnum != k->head_entry_seqnum)
		return h->head_entry_seqnum < k->head_entry_seqnum ? -1 : 1;
	if (h->tail_entry_seqnum != k->tail_entry_seqnum)
		return h->tail_entry_seqnum < k->tail_entry_seqnum ? -1 : 1;
	return (x->number > y->number) - (x->number < y->number);
}

/* Puts a source into the first lane whose last file ends before it begins, or into a new one. */
static int merge_enter_lane(struct merge *m, struct source *s)
{
	struct merge_lane *lane = NULL, *lanes;
	struct source **sources;

	for (size_t i = 0; i < m->lane_count && !lane; i++) {
		const struct source *last = m->lanes[i].sources[m->lanes[i].count - 1];

		if (last->journal.header.tail_entry_seqnum < s->journal.header.head_entry_seqnum)
			lane = &m->lanes[i];
	}
	if (!lane) {
		lanes = reallocarray(m->lanes, m->lane_count + 1, sizeof(*lanes));
		if (!lanes)
			return -ENOMEM;
		m->lanes = lanes;
		lane = &lanes[m->lane_count++];
		*lane = (struct merge_lane){ 0 };
	}
	sources = reallocarray(lane->sources, lane->count + 1, sizeof(*sources));
	if (!sources)
		return -ENOMEM;
	lane->sources = sources;
	sources[lane->count++] = s;
	m->lane_of[s->number] = (uint32_t)(lane - m->lanes);
	return 0;
}

/* Sorts the files into lanes. */
static int merge_build_lanes(struct merge *m, struct jscan *e)
{
	struct source **sorted = calloc(e->source_count + 1, sizeof(*sorted));
	size_t count = 0;
	int r = 0;

	m->lane_of = calloc(e->source_count + 1, sizeof(*m->lane_of));
	if (!sorted || !m->lane_of) {
		free(sorted);
		return -ENOMEM;
	}
	for (size_t i = 0; i < e->source_count; i++) {
		if (merge_takes(e->sources[i]))
			sorted[count++] = e->sources[i];
	}
	qsort(sorted, count, sizeof(*sorted), merge_compare_ranges);
	for (size_t i = 0; i < count && r == 0; i++)
		r = merge_enter_lane(m, sorted[i]);
	free(sorted);
	for (size_t i = 0; i < m->lane_count && m->backward; i++) {
		struct merge_lane *lane = &m->lanes[i];

		for (size_t k = 0; k < lane->count / 2; k++) {
			struct source *swap = lane->sources[k];

			lane->sources[k] = lane->sources[lane->count - 1 - k];
			lane->sources[lane->count - 1 - k] = swap;
		}
	}
	return r;
}

/* ---- MERGE_RANK ------------------------------------------------------------------------- */

struct merge_boot {
	uint64_t realtime;
	uint32_t boot;
};

/* By the time of their newest entry. */
static int merge_compare_boots(const void *a, const void *b)
{
	const struct merge_boot *x = a, *y = b;

	return (x->realtime > y->realtime) - (x->realtime < y->realtime);
}

/* Ranks the boots if they are all one machine's and no two are equally new. 1, 0 (not so). */
static int merge_rank_boots(struct merge *m, const struct order *o)
{
	uint32_t count = o->boot_ids.count, ranked = 0;
	struct merge_boot *boots;
	int r = 1;

	boots = calloc(count + 1, sizeof(*boots));
	m->boot_rank = calloc(count + 1, sizeof(*m->boot_rank));
	m->boot_rank_count = count;
	if (!boots || !m->boot_rank) {
		free(boots);
		return -ENOMEM;
	}
	for (uint32_t i = 0; i < count; i++) {
		if (!o->boots[i].ranked)
			continue;
		boots[ranked++] = (struct merge_boot){ o->boots[i].realtime, i };
		if (o->boots[i].machine != o->boots[boots[0].boot].machine)
			r = 0;
	}
	qsort(boots, ranked, sizeof(*boots), merge_compare_boots);
	for (uint32_t i = 0; i < ranked; i++) {
		if (i > 0 && boots[i].realtime == boots[i - 1].realtime)
			r = 0;
		m->boot_rank[boots[i].boot] = i + 1;
	}
	free(boots);
	return ranked > 0 ? r : 0;
}

/* ---- all ------------------------------------------------------------------------------- */

/* An array that has nobody anywhere. NULL without memory. */
static uint32_t *merge_new_places(const struct merge *m)
{
	uint32_t *places = calloc((size_t)m->source_count + 1, sizeof(*places));

	for (uint32_t i = 0; places && i < m->source_count; i++)
		places[i] = MERGE_NOWHERE;
	return places;
}

/* Makes what MERGE_RANK and MERGE_TIME need. */
static int merge_new_groups(struct merge *m, const struct order *o)
{
	m->id_groups = calloc((size_t)o->seqnum_ids.count + 1, sizeof(*m->id_groups));
	m->id_group_count = m->id_groups ? o->seqnum_ids.count : 0;
	m->id_at = merge_new_places(m);
	m->machine_count = o->machine_ids.count;
	m->clock_at = merge_new_places(m);
	m->clock_group_of = merge_new_places(m);
	return m->id_groups && m->id_at && m->clock_at && m->clock_group_of ? 0 : -ENOMEM;
}

int merge_prepare(struct merge *m, struct jscan *e, bool backward)
{
	uint64_t duplicates = m->duplicates, heap_steps = m->heap_steps, fold_steps = m->fold_steps;
	int r;

	merge_done(m);
	m->duplicates = duplicates;
	m->heap_steps = heap_steps;
	m->fold_steps = fold_steps;
	m->backward = backward;
	m->source_count = (uint32_t)e->source_count;
	m->heap_at = merge_new_places(m);
	m->stale = merge_new_places(m);
	m->ties = merge_new_places(m);
	if (!m->heap_at || !m->stale || !m->ties)
		return -ENOMEM;
	m->mode = MERGE_SEQNUM;
	m->knows_heads = e->knows_heads;
	r = checkpoint_last(e, &m->last);
	if (r < 0)
		return r;
	m->has_last = r;
	if (merge_has_one_id(e) && !(engine_is_placed_by_time(e) && e->newest_known))
		return merge_build_lanes(m, e);
	r = merge_rank_boots(m, &e->order);
	if (r < 0)
		return r;
	m->mode = r ? MERGE_RANK : MERGE_TIME;
	m->at_place = e->seek.kind == SEEK_PLACE && !e->turned;
	return merge_new_groups(m, &e->order);
}

/* True if a file of a lane will probably have its turn: what the files before it can have at most
 * is not enough. Its first candidate is then looked for along with theirs. */
static bool merge_is_soon(const struct merge_lane *lane, const struct source *s)
{
	const struct jscan *e = s->engine;
	uint64_t wanted = e->tail < e->limit ? e->tail : e->limit, before = 0;

	if (!s->plan.root)
		return false;
	for (size_t i = lane->at; i < lane->count && i < lane->at + MERGE_SOON_FILES; i++) {
		const struct source *other = lane->sources[i];

		if (other == s)
			return true;
		before += other->plan.root ? other->plan.root->count_max : 0;
		if (before / 2 >= wanted)
			return false;
	}
	return false;
}

bool merge_needs_head(const struct merge *m, const struct source *s)
{
	const struct merge_lane *lane;

	if (!merge_takes(s))
		return false;
	if (m->mode != MERGE_SEQNUM || m->knows_heads)
		return true;
	lane = &m->lanes[m->lane_of[s->number]];
	return lane->sources[lane->at] == s || merge_is_soon(lane, s);
}

/*
 * Leaves out of a lane the files that turned out to have nothing to offer. False if the first
 * candidates of the others do not follow each other as their headers promise.
 */
static bool merge_settle_lane(const struct merge *m, struct merge_lane *lane)
{
	size_t kept = 0;

	for (size_t i = 0; i < lane->count; i++) {
		struct source *s = lane->sources[i];

		if (!merge_takes(s)) {
			s->drained = true;
			continue;
		}
		if (kept > 0 && s->candidate == CANDIDATE_THERE &&
		    lane->sources[kept - 1]->candidate == CANDIDATE_THERE &&
		    (s->key.seqnum ^ merge_flip(m)) <=
			    (lane->sources[kept - 1]->key.seqnum ^ merge_flip(m)))
			return false;
		lane->sources[kept++] = s;
	}
	lane->count = kept;
	merge_set_lane_limit(m, lane);
	return true;
}

/* Marks all first candidates as not entered yet. 0, -ENOMEM, or 1: the fold has taken over. */
static int merge_begin(struct merge *m, struct jscan *e)
{
	for (size_t i = 0; i < m->lane_count; i++) {
		struct merge_lane *lane = &m->lanes[i];

		if (!merge_settle_lane(m, lane))
			return merge_to_fold(m, e);
		if (lane->count > 0)
			m->stale[m->stale_count++] = lane->sources[0]->number;
	}
	for (uint32_t i = 0; i < m->source_count && m->mode != MERGE_SEQNUM; i++) {
		assert(e->sources[i]->number == i);
		if (merge_takes(e->sources[i]))
			m->stale[m->stale_count++] = i;
	}
	return 0;
}

int merge_start(struct merge *m, struct jscan *e)
{
	int r = 0;

	if (!m->started) {
		r = merge_begin(m, e);
		if (r < 0)
			return r;
		m->started = true;
	}
	do
		r = merge_refresh(m, e);
	while (r > 0);
	return r;
}
