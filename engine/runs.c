/* SPDX-License-Identifier: MIT */
/*
 * The table of runs: its rows, and what files are asked for it. Which IDs are runs, and where a
 * file has them, is boots.c's and invocations.c's; their order is made in runs-order.c.
 */
#include "engine/runs.h"

#include <stdlib.h>

#include "engine/engine.h"

/* Behind the first one, so many files are asked at once at least. */
#define RUNS_FILES_MIN 16u

void runs_begin(struct jscan *e)
{
	for (size_t i = 0; i < e->source_count; i++)
		e->sources[i]->listing_begun = e->sources[i]->listing_done =
			e->sources[i]->listing_chosen = false;
}

void runs_done(struct runs *b)
{
	order_ids_done(&b->ids);
	free(b->marks);
	free(b->rows);
	*b = (struct runs){ 0 };
}

bool runs_parse(const struct payload_view *view, size_t name_size, struct id128 *ret_id)
{
	char text[JSCAN_ID_TEXT_SIZE];
	jscan_id id;

	if (view->compression || view->size != name_size + JSCAN_ID_TEXT_SIZE)
		return false;
	memcpy(text, view->bytes + name_size + 1, JSCAN_ID_TEXT_SIZE - 1);
	text[JSCAN_ID_TEXT_SIZE - 1] = '\0';
	if (jscan_id_parse(text, &id) < 0)
		return false;
	memcpy(ret_id->bytes, id.bytes, sizeof(ret_id->bytes));
	return !id128_is_null(ret_id);
}

int runs_key(struct source *s, const struct entry_object *entry, struct order_key *ret_key)
{
	*ret_key = (struct order_key){
		.seqnum = entry->seqnum,
		.realtime = entry->realtime,
		.monotonic = entry->monotonic,
		.xor_hash = entry->xor_hash,
		.seqnum_id = s->seqnum_id,
	};
	return order_boot_number(&s->engine->order, &entry->boot_id, &ret_key->boot);
}

int runs_end(struct source *s, struct chain *chain, bool last, struct entry_object *ret)
{
	uint64_t i = last ? chain->count : 0;

	while (last ? i > 0 : i < chain->count) {
		uint64_t offset;
		int r = chain_get(chain, &s->journal, &s->window, last ? i - 1 : i, &offset);

		if (r == 1) {
			r = object_entry(&s->journal, &s->window, offset, ret);
			if (r == 0)
				return 0;
		}
		if (r == -EAGAIN)
			return r;
		if (!last)
			i++;
		else
			i = i - 1 < chain->count ? i - 1 : chain->count;
	}
	return -ENOENT;
}

int runs_row(struct runs *b, const struct id128 *id, uint32_t *ret_row)
{
	int r = order_ids_number(&b->ids, id, ret_row);

	if (r < 0)
		return r;
	if (*ret_row >= b->capacity) {
		size_t capacity = b->capacity ? b->capacity * 2 : 64;
		struct runs_row *rows = reallocarray(b->rows, capacity, sizeof(*rows));

		if (!rows)
			return -ENOMEM;
		b->rows = rows;
		b->capacity = capacity;
	}
	if (*ret_row == b->count)
		b->rows[b->count++] = (struct runs_row){ .id = *id };
	return 0;
}

int runs_mark(struct runs *b, uint32_t row, const struct order_key *key)
{
	if (b->mark_count == b->mark_capacity) {
		size_t capacity = b->mark_capacity ? b->mark_capacity * 2 : 128;
		struct runs_mark *marks = reallocarray(b->marks, capacity, sizeof(*marks));

		if (!marks)
			return -ENOMEM;
		b->marks = marks;
		b->mark_capacity = capacity;
	}
	b->marks[b->mark_count++] = (struct runs_mark){ row, *key };
	return 0;
}

void runs_widen(struct runs_row *row, const struct order *order, const struct order_key *first,
		const struct order_key *last)
{
	if (!row->has_ends || order_compare(order, first, &row->first) < 0)
		row->first = *first;
	if (!row->has_ends || order_compare(order, last, &row->last) > 0)
		row->last = *last;
	row->has_ends = true;
}

/* ---- not all of them -------------------------------------------------------------------- */

bool runs_have_one_id(const struct jscan *e)
{
	const struct source *first = NULL;

	for (size_t i = 0; i < e->source_count; i++) {
		const struct source *s = e->sources[i];

		if (s->error)
			continue;
		if (first && s->seqnum_id != first->seqnum_id)
			return false;
		first = s;
	}
	return true;
}

bool runs_wants_chosen(const struct source *s)
{
	return s->listing_chosen && !s->listing_done;
}

/* How far an entry is, in the direction in which fewer are wanted: numbers, turned round for the
 * oldest. */
static uint64_t runs_distance(const struct runs *b, uint64_t seqnum)
{
	return b->oldest ? UINT64_MAX - seqnum : seqnum;
}

/* How far the entries of a file reach. */
static uint64_t runs_reach(const struct runs *b, const struct source *s)
{
	return runs_distance(b, b->oldest ? s->journal.header.head_entry_seqnum
					  : s->journal.header.tail_entry_seqnum);
}

/* Largest first; for qsort(). */
static int runs_compare_distances(const void *a, const void *b)
{
	const uint64_t *x = a, *y = b;

	return (*x < *y) - (*x > *y);
}

/* How far the outer end of the last of the wanted runs is; 0 while there are not so many. */
static int runs_bound(const struct runs *b, uint64_t *ret_bound)
{
	uint64_t *distances;

	*ret_bound = 0;
	if (b->count < b->wanted)
		return 0;
	distances = calloc(b->count, sizeof(*distances));
	if (!distances)
		return -ENOMEM;
	for (size_t i = 0; i < b->count; i++)
		distances[i] = runs_distance(b, b->oldest ? b->rows[i].first.seqnum
							  : b->rows[i].last.seqnum);
	qsort(distances, b->count, sizeof(*distances), runs_compare_distances);
	*ret_bound = distances[b->wanted - 1];
	free(distances);
	return 0;
}

int runs_choose(struct jscan *e)
{
	struct runs *b = &e->runs;
	struct source *outermost = NULL;
	uint64_t bound;
	size_t room;
	int r = runs_bound(b, &bound);

	if (r < 0)
		return r;
	room = b->count >= b->wanted	      ? SIZE_MAX :
	       b->asked == 0		      ? 1 :
	       b->asked * 2 < RUNS_FILES_MIN ? RUNS_FILES_MIN :
						b->asked * 2;
	b->asked = room == SIZE_MAX ? b->asked : room;
	for (size_t i = 0; i < e->source_count; i++) {
		struct source *s = e->sources[b->oldest ? i : e->source_count - 1 - i];

		if (s->error || s->listing_done || runs_reach(b, s) <= bound)
			continue;
		if (!outermost || runs_reach(b, s) > runs_reach(b, outermost))
			outermost = s;
		s->listing_chosen = room > 0;
		room -= room > 0;
	}
	if (outermost)
		outermost->listing_chosen = true;
	return outermost != NULL;
}
