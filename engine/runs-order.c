/* SPDX-License-Identifier: MIT */
/*
 * The order of runs, from the marks that each file has of them. These are merged as the entries
 * would be: within one sequence by their numbers, whatever the clock said, and among sequences by
 * the comparison of what comes next in each (specification 7.4). A run is first where its first
 * mark comes, reading forward, and last where one comes first reading backward, so that the newest
 * boot is that of the entry from which reading backward begins. Where clocks are in order both
 * orders are those of the entries' times.
 *
 * Where many sequences are, each mark is found by a heap instead of by comparing the next ones of
 * all: the earliest by realtime is what the comparison yields if no clock that it shares with
 * others, its machine's or its boot's, speaks for one of those. That is certified at each step as
 * in MERGE_TIME (merge.c); two sequences never share numbers.
 */
#include <errno.h>
#include <stdlib.h>

#include "engine/merge-heap.h"
#include "engine/runs.h"

/* The marks of one sequence that are left. */
struct runs_lane {
	size_t begin, end;
	uint32_t group; /* of the mark that comes next: whose clock it goes by */
};

/* One direction of the merge. */
struct runs_merge {
	const struct runs *runs;
	const struct order *order;
	bool backward;
	struct runs_lane *lanes;
	uint32_t lane_count;
	struct merge_heap heap;    /* of lanes, by realtime */
	struct merge_heap *groups; /* by machine, and by boot where that has no rank */
	uint32_t group_count;
	uint32_t *heap_at, *group_at; /* by lane: where it is in those */
};

/* By sequence, and by number in it; for qsort(). */
static int runs_compare_marks(const void *a, const void *b)
{
	const struct order_key *x = &((const struct runs_mark *)a)->key;
	const struct order_key *y = &((const struct runs_mark *)b)->key;

	if (x->seqnum_id != y->seqnum_id)
		return x->seqnum_id < y->seqnum_id ? -1 : 1;
	return (x->seqnum > y->seqnum) - (x->seqnum < y->seqnum);
}

/* By last entry, the newest at the end; for qsort(). */
static int runs_compare_last(const void *a, const void *b)
{
	const struct runs_row *x = a, *y = b;

	return (x->last_rank < y->last_rank) - (x->last_rank > y->last_rank);
}

/* By first entry, the oldest at the beginning; for qsort(). */
static int runs_compare_first(const void *a, const void *b)
{
	const struct runs_row *x = a, *y = b;

	return (x->first_rank > y->first_rank) - (x->first_rank < y->first_rank);
}

/* Makes a lane of each sequence. There is room for one per mark. */
static void runs_make_lanes(struct runs_merge *m)
{
	const struct runs *b = m->runs;

	m->lane_count = 0;
	for (size_t i = 0; i < b->mark_count; i++) {
		if (i == 0 || b->marks[i].key.seqnum_id != b->marks[i - 1].key.seqnum_id)
			m->lanes[m->lane_count++].begin = i;
		m->lanes[m->lane_count - 1].end = i + 1;
	}
}

/* The mark of a lane that comes next. */
static const struct runs_mark *runs_next_mark(const struct runs_merge *m, uint32_t lane)
{
	return &m->runs->marks[m->backward ? m->lanes[lane].end - 1 : m->lanes[lane].begin];
}

/* Enters what comes next in a lane, unless it is at its end, in place of what came before. */
static int runs_enter_lane(struct runs_merge *m, uint32_t number)
{
	struct runs_lane *lane = &m->lanes[number];
	struct merge_item item = { .number = number };
	uint64_t flip = m->backward ? UINT64_MAX : 0;
	const struct order_boot *boot;
	const struct order_key *key;
	int r;

	if (m->group_at[number] != MERGE_NOWHERE)
		merge_heap_remove(&m->groups[lane->group], m->group_at, number);
	if (lane->begin == lane->end) {
		merge_heap_remove(&m->heap, m->heap_at, number);
		return 0;
	}
	key = &runs_next_mark(m, number)->key;
	boot = &m->order->boots[key->boot];
	item.first = key->realtime ^ flip;
	r = merge_heap_set(&m->heap, m->heap_at, &item);
	if (r < 0)
		return r;
	lane->group = boot->ranked ? boot->machine : m->order->machine_ids.count + key->boot;
	item.first = boot->ranked ? boot->realtime ^ flip : 0;
	item.middle = key->boot;
	item.second = key->monotonic ^ flip;
	return merge_heap_set(&m->groups[lane->group], m->group_at, &item);
}

/* The lane whose mark the comparison of all finds. */
static uint32_t runs_compare_lanes(const struct runs_merge *m)
{
	uint32_t best = MERGE_NOWHERE;

	for (uint32_t i = 0; i < m->lane_count; i++) {
		int r;

		if (m->lanes[i].begin == m->lanes[i].end)
			continue;
		if (best == MERGE_NOWHERE) {
			best = i;
			continue;
		}
		r = order_compare(m->order, &runs_next_mark(m, i)->key,
				  &runs_next_mark(m, best)->key);
		if (m->backward ? r > 0 : r < 0)
			best = i;
	}
	return best;
}

/* The lane whose mark comes next. */
static uint32_t runs_choose_lane(const struct runs_merge *m)
{
	uint32_t lane = m->heap.items[0].number;
	const struct merge_item *first = m->groups[m->lanes[lane].group].items;
	const struct order_key *key = &runs_next_mark(m, lane)->key;

	if (!merge_heap_root_is_tied(&m->heap) && first->middle == key->boot &&
	    first->second == (key->monotonic ^ (m->backward ? UINT64_MAX : 0)))
		return lane;
	return runs_compare_lanes(m);
}

/* Ranks the runs in one direction, as their marks come. */
static int runs_rank_lanes(struct runs *b, struct runs_merge *m)
{
	uint64_t rank = 0;
	int r = 0;

	m->heap.count = 0;
	for (uint32_t i = 0; i < m->group_count; i++)
		m->groups[i].count = 0;
	runs_make_lanes(m);
	for (uint32_t i = 0; i < m->lane_count; i++)
		m->heap_at[i] = m->group_at[i] = MERGE_NOWHERE;
	for (uint32_t i = 0; i < m->lane_count && r == 0; i++)
		r = runs_enter_lane(m, i);
	while (r == 0 && rank < b->count && m->heap.count > 0) {
		uint32_t number = runs_choose_lane(m);
		struct runs_row *row = &b->rows[runs_next_mark(m, number)->row];
		uint64_t *row_rank = m->backward ? &row->last_rank : &row->first_rank;

		if (*row_rank == UINT64_MAX)
			*row_rank = rank++;
		if (m->backward)
			m->lanes[number].end--;
		else
			m->lanes[number].begin++;
		r = runs_enter_lane(m, number);
	}
	return r;
}

/* Frees what a merge holds. */
static void runs_merge_done(struct runs_merge *m)
{
	for (uint32_t i = 0; i < m->group_count && m->groups; i++)
		free(m->groups[i].items);
	free(m->groups);
	free(m->heap.items);
	free(m->heap_at);
	free(m->group_at);
	free(m->lanes);
}

int runs_rank(struct runs *b, const struct order *order)
{
	struct runs_merge m = {
		.runs = b,
		.order = order,
		.group_count = order->machine_ids.count + order->boot_ids.count,
	};
	int r = 0;

	if (b->count == 0)
		return 0;
	m.lanes = calloc(b->mark_count, sizeof(*m.lanes));
	m.groups = calloc(m.group_count, sizeof(*m.groups));
	m.heap_at = calloc(b->mark_count, sizeof(*m.heap_at));
	m.group_at = calloc(b->mark_count, sizeof(*m.group_at));
	if (!m.lanes || !m.groups || !m.heap_at || !m.group_at)
		r = -ENOMEM;
	qsort(b->marks, b->mark_count, sizeof(*b->marks), runs_compare_marks);
	for (size_t i = 0; i < b->count; i++)
		b->rows[i].first_rank = b->rows[i].last_rank = UINT64_MAX;
	if (r == 0)
		r = runs_rank_lanes(b, &m);
	m.backward = true;
	if (r == 0)
		r = runs_rank_lanes(b, &m);
	runs_merge_done(&m);
	return r;
}

void runs_sort(struct runs *b, bool by_first)
{
	if (b->count > 0)
		qsort(b->rows, b->count, sizeof(*b->rows),
		      by_first ? runs_compare_first : runs_compare_last);
}
