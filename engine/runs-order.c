/* SPDX-License-Identifier: MIT */
/*
 * The order of runs, from the marks that each file has of them. These are merged as the entries
 * would be: within one sequence by their numbers, whatever the clock said, and among sequences by
 * the comparison of what comes next in each (specification 7.4). A run is first where its first
 * mark comes, reading forward, and last where one comes first reading backward, so that the newest
 * boot is that of the entry from which reading backward begins. Where clocks are in order both
 * orders are those of the entries' times.
 */
#include <errno.h>
#include <stdlib.h>

#include "engine/runs.h"

/* The marks of one sequence that are left. */
struct runs_lane {
	size_t begin, end;
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

/* Makes a lane of each sequence. Returns how many; LANES holds one for each mark. */
static size_t runs_make_lanes(const struct runs *b, struct runs_lane *lanes)
{
	size_t count = 0;

	for (size_t i = 0; i < b->mark_count; i++) {
		if (i == 0 || b->marks[i].key.seqnum_id != b->marks[i - 1].key.seqnum_id)
			lanes[count++].begin = i;
		lanes[count - 1].end = i + 1;
	}
	return count;
}

/* Takes the mark that comes next in one direction off its lane. NULL: there is none. */
static const struct runs_mark *runs_take_mark(const struct runs *b, const struct order *order,
						struct runs_lane *lanes, size_t count,
						bool backward)
{
	const struct runs_mark *best = NULL;
	size_t best_lane = 0;

	for (size_t i = 0; i < count; i++) {
		const struct runs_lane *lane = &lanes[i];
		const struct runs_mark *mark;
		int r;

		if (lane->begin == lane->end)
			continue;
		mark = &b->marks[backward ? lane->end - 1 : lane->begin];
		r = best ? order_compare(order, &mark->key, &best->key) : 0;
		if (!best || (backward ? r > 0 : r < 0)) {
			best = mark;
			best_lane = i;
		}
	}
	if (best && backward)
		lanes[best_lane].end--;
	else if (best)
		lanes[best_lane].begin++;
	return best;
}

/* Ranks the runs in one direction, as their marks come. */
static void runs_rank_lanes(struct runs *b, const struct order *order, struct runs_lane *lanes,
		       bool backward)
{
	size_t count = runs_make_lanes(b, lanes);
	const struct runs_mark *mark;
	uint64_t rank = 0;

	while (rank < b->count && (mark = runs_take_mark(b, order, lanes, count, backward))) {
		struct runs_row *row = &b->rows[mark->row];
		uint64_t *row_rank = backward ? &row->last_rank : &row->first_rank;

		if (*row_rank == UINT64_MAX)
			*row_rank = rank++;
	}
}

int runs_rank(struct runs *b, const struct order *order)
{
	struct runs_lane *lanes;

	if (b->count == 0)
		return 0;
	lanes = calloc(b->mark_count, sizeof(*lanes));
	if (!lanes)
		return -ENOMEM;
	qsort(b->marks, b->mark_count, sizeof(*b->marks), runs_compare_marks);
	for (size_t i = 0; i < b->count; i++)
		b->rows[i].first_rank = b->rows[i].last_rank = UINT64_MAX;
	runs_rank_lanes(b, order, lanes, false);
	runs_rank_lanes(b, order, lanes, true);
	free(lanes);
	return 0;
}

void runs_sort(struct runs *b, bool by_first)
{
	if (b->count > 0)
		qsort(b->rows, b->count, sizeof(*b->rows),
		      by_first ? runs_compare_first : runs_compare_last);
}
