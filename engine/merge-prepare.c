/* SPDX-License-Identifier: MIT */
/* Choosing how to merge, and building what the chosen mode needs. Nothing is read here. */
#include <stdlib.h>

#include "engine/engine.h"
#include "engine/merge-private.h"

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
	return 0;
}

/* Sorts the files into lanes. */
static int merge_build_lanes(struct merge *m, struct jscan *e)
{
	struct source **sorted = calloc(e->source_count + 1, sizeof(*sorted));
	size_t count = 0;
	int r = 0;

	if (!sorted)
		return -ENOMEM;
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

/* An array of empty lists. */
static struct list *merge_new_lists(size_t count)
{
	struct list *lists = calloc(count + 1, sizeof(*lists));

	for (size_t i = 0; lists && i < count; i++)
		list_init(&lists[i]);
	return lists;
}

int merge_prepare(struct merge *m, struct jscan *e, bool backward)
{
	uint64_t duplicates = m->duplicates, heap_steps = m->heap_steps, fold_steps = m->fold_steps;
	int r;

	for (size_t i = 0; i < e->source_count; i++) {
		list_remove(&e->sources[i]->id_link);
		list_remove(&e->sources[i]->clock_link);
		e->sources[i]->last_realtime_known = false;
	}
	merge_done(m);
	m->duplicates = duplicates;
	m->heap_steps = heap_steps;
	m->fold_steps = fold_steps;
	m->backward = backward;
	m->mode = MERGE_SEQNUM;
	if (merge_has_one_id(e))
		return merge_build_lanes(m, e);
	r = merge_rank_boots(m, &e->order);
	if (r < 0)
		return r;
	m->mode = r ? MERGE_RANK : MERGE_TIME;
	m->id_group_count = e->order.seqnum_ids.count;
	m->id_groups = merge_new_lists(m->id_group_count);
	m->machine_count = e->order.machine_ids.count;
	/* Boots that turn up later and have no rank have no group: the fold takes over then, unless
	 * there is room for some. */
	m->clock_group_count = m->machine_count + e->order.boot_ids.count + 1024;
	m->clock_groups = merge_new_lists(m->clock_group_count);
	return m->id_groups && m->clock_groups ? 0 : -ENOMEM;
}

bool merge_needs_head(const struct merge *m, const struct source *s)
{
	if (!merge_takes(s))
		return false;
	if (m->mode != MERGE_SEQNUM)
		return true;
	for (size_t i = 0; i < m->lane_count; i++) {
		if (m->lanes[i].sources[m->lanes[i].at] == s)
			return true;
	}
	return false;
}

/* Puts a source into the heap, as if its candidate had been taken: the refill then checks it and
 * moves it to its place. 0, -EAGAIN, 1: the merge has gone over to the fold. */
static int merge_enter(struct merge *m, struct jscan *e, struct source *s, uint32_t lane)
{
	if (!m->pending) {
		m->heap[m->heap_count++] = (struct merge_item){ .source = s, .lane = lane };
		m->pending = true;
		m->pending_at = m->heap_count - 1;
	}
	return merge_refill(m, e);
}

int merge_start(struct merge *m, struct jscan *e)
{
	size_t count = m->mode == MERGE_SEQNUM ? m->lane_count : e->source_count;
	int r = 0;

	if (!m->heap) {
		m->heap = calloc(e->source_count + 1, sizeof(*m->heap));
		m->ties = calloc(e->source_count * 2 + 3, sizeof(*m->ties));
		if (!m->heap || !m->ties)
			return -ENOMEM;
		m->heap_capacity = e->source_count;
	}
	for (; m->start_at < count && r == 0; m->start_at++) {
		if (m->mode == MERGE_SEQNUM) {
			struct merge_lane *lane = &m->lanes[m->start_at];

			r = merge_enter(m, e, lane->sources[lane->at], (uint32_t)m->start_at);
		} else if (merge_takes(e->sources[m->start_at])) {
			r = merge_enter(m, e, e->sources[m->start_at], 0);
		}
		if (r == -EAGAIN)
			return r;
	}
	return r < 0 ? r : 0;
}
