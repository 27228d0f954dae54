/* SPDX-License-Identifier: MIT */
/*
 * Chains of entry arrays: specification 5.1 and, as far as it concerns one direction, 5.4. An array
 * names the next one only, at a higher offset, so a chain ends; but a hostile one has an array for
 * every 32 bytes of the file, and must cost neither memory nor quadratic time.
 *
 * Places of arrays are remembered in two ways. Marks stand at every mark_stride-th array from the
 * first on; when they are full every second one goes and the stride doubles (an undamaged chain
 * has some twenty arrays, all of them marked). Fine marks serve going backwards between two marks:
 * a walk towards an array leaves them halfway to the next place that is known, then halfway from
 * there, and so on, so that going back over n arrays costs n log n steps and not n squared.
 *
 * Newer files say of each chain where its last array is. That is believed only where the elements
 * themselves are looked at (chain_peek_tail(), and sets of data objects): reading all entries of a
 * file goes by the chain, as the reference does.
 *
 * Marks are a cache: what they say is checked against nothing, since an array's place and size
 * never change in a file. Its items are read anew at every look.
 *
 * Looking for a place by bisection is chain-bisect.c.
 */
#include <assert.h>
#include <limits.h>

#include "formats/journal/chain-private.h"

/* The ordinal of an array that was not walked to. */
#define CHAIN_ORDINAL_UNKNOWN UINT64_MAX

/* Sets up a chain of which nothing is known yet. */
static void chain_init(struct chain *c, uint64_t inline_offset, uint64_t first, uint64_t count)
{
	c->inline_offset = inline_offset;
	c->first = first;
	c->count = count;
	c->tail_offset = c->tail_count = 0;
	c->reached = 0;
	c->ended = false;
	c->damage_error = 0;
	c->damage_offset = 0;
	c->at = (struct chain_mark){ .offset = first };
	c->mark_stride = 1;
	c->mark_count = 0;
	c->fine_count = 0;
}

/* Notes what the file says of its last array, if that can be. */
static void chain_set_tail(struct chain *c, uint64_t offset, uint64_t count)
{
	if (offset <= c->first || count == 0 || count >= c->count)
		return;
	c->tail_offset = offset;
	c->tail_count = count;
}

/* All entries of a file. */
void chain_init_global(struct chain *c, const struct journal *j)
{
	const struct journal_header *h = &j->header;

	chain_init(c, 0, h->entry_array_offset, h->n_entries);
	if (header_has(h, HEADER_TAIL_ENTRY_ARRAY_N_ENTRIES, 4))
		chain_set_tail(c, h->tail_entry_array_offset, h->tail_entry_array_n_entries);
}

/* All entries that refer to a data object. */
void chain_init_data(struct chain *c, const struct data_object *data)
{
	assert((data->entry_offset == 0) == (data->n_entries == 0));
	chain_init(c, data->entry_offset, data->entry_array_offset, data->n_entries);
	chain_set_tail(c, data->tail_array_offset, data->tail_array_count);
}

/* Clamps the chain to the first ARRAY_COUNT elements of its arrays. ERROR is 0 if they just stop.
 */
static int chain_end(struct chain *c, uint64_t array_count, int error)
{
	c->count = array_count + chain_inline_count(c);
	c->tail_offset = c->tail_count = 0;
	c->ended = true;
	if (error < 0) {
		c->damage_error = error;
		c->damage_offset = c->at.offset;
	}
	return error;
}

/* The last of COUNT ascending marks that does not lie behind element K, or NULL. */
static const struct chain_mark *chain_find_mark(const struct chain_mark *marks, unsigned count,
						uint64_t k)
{
	unsigned left = 0;

	while (count > 0) {
		unsigned half = count / 2;

		if (marks[left + half].before <= k) {
			left += half + 1;
			count -= half + 1;
		} else {
			count = half;
		}
	}
	return left > 0 ? &marks[left - 1] : NULL;
}

/* Moves to the known array from which the way to element K is shortest. Returns how many arrays
 * lie before the next known one behind K; UINT64_MAX if none is. */
static uint64_t chain_start(struct chain *c, uint64_t k)
{
	struct chain_mark start = { .offset = c->first };
	uint64_t limit = UINT64_MAX;
	const struct chain_mark *mark;

	mark = chain_find_mark(c->marks, c->mark_count, k);
	if (mark) {
		start = *mark;
		if (mark + 1 < c->marks + c->mark_count)
			limit = mark[1].ordinal;
	}
	/* Fine marks behind K have served: a walk to K makes denser ones. */
	while (c->fine_count > 0 && c->fine[c->fine_count - 1].before > k) {
		c->fine_count--;
		if (c->fine[c->fine_count].ordinal < limit)
			limit = c->fine[c->fine_count].ordinal;
	}
	if (c->fine_count > 0 && c->fine[c->fine_count - 1].ordinal > start.ordinal)
		start = c->fine[c->fine_count - 1];
	if (c->at.before <= k) {
		if (c->at.ordinal >= start.ordinal)
			start = c->at;
	} else if (c->at.ordinal < limit) {
		limit = c->at.ordinal;
	}
	c->at = start;
	return limit;
}

/* Marks the current array if it is the next that should be. */
static void chain_mark(struct chain *c)
{
	uint64_t next = c->mark_count * c->mark_stride; /* the ordinal that the next mark has */

	if (likely(c->at.ordinal != next))
		return;
	if (c->mark_count == CHAIN_MARKS_MAX) {
		for (unsigned i = 1; i < CHAIN_MARKS_MAX / 2; i++)
			c->marks[i] = c->marks[2 * i];
		c->mark_count = CHAIN_MARKS_MAX / 2;
		c->mark_stride *= 2;
	}
	c->marks[c->mark_count++] = c->at;
}

/* Leaves a fine mark at the current array. The lowest one makes room: it is the farthest from
 * where the walk is. */
static void chain_mark_fine(struct chain *c)
{
	if (c->fine_count == CHAIN_MARKS_MAX) {
		c->fine_count--;
		memmove(c->fine, c->fine + 1, c->fine_count * sizeof(c->fine[0]));
	}
	c->fine[c->fine_count++] = c->at;
}

/* Halfway from one array to a known one behind it, but at least one further; never if none is
 * known. */
static uint64_t chain_halfway(uint64_t ordinal, uint64_t limit)
{
	return limit == UINT64_MAX ? UINT64_MAX : ordinal + (limit - ordinal + 1) / 2;
}

/* Tests the hint of the last array. 1: it may be used; 0: there is none; -EAGAIN. */
static int chain_test_tail(struct chain *c, const struct journal *j, struct window *w,
			   struct array_object *ret_array)
{
	int r;

	if (c->count > j->header.n_entries)
		c->tail_count = 0; /* so many there cannot be */
	if (c->tail_count == 0 || j->header.state == JOURNAL_STATE_ONLINE)
		return 0;
	r = object_array(j, w, c->tail_offset, ret_array);
	if (r == -EAGAIN)
		return r;
	if (r == 0 && ret_array->capacity >= c->tail_count && ret_array->next == 0)
		return 1;
	c->tail_count = 0;
	return 0;
}

int chain_peek_tail(struct chain *c, const struct journal *j, struct window *w, bool last,
		    uint64_t *ret_offset)
{
	struct array_object array;
	const uint8_t *items;
	int r = chain_test_tail(c, j, w, &array);

	if (r > 0)
		r = object_array_items(j, w, &array, last ? c->tail_count - 1 : 0, 1, &items);
	else if (r == 0)
		return 0;
	if (r < 0)
		return format_error_is_soft(r) ? 0 : r;
	*ret_offset = array_item(j, items, 0);
	return *ret_offset != 0;
}

/* Goes straight to the last array of a data object's set if element K is in it. 1, 0, -EAGAIN. */
static int chain_jump(struct chain *c, const struct journal *j, struct window *w, uint64_t k)
{
	uint64_t before = c->count - chain_inline_count(c) - c->tail_count;
	struct array_object array;
	int r;

	if (c->tail_count == 0 || !c->inline_offset || k < before || c->reached > before)
		return 0;
	r = chain_test_tail(c, j, w, &array);
	if (r > 0)
		c->at = (struct chain_mark){ c->tail_offset, before, array.capacity,
					     CHAIN_ORDINAL_UNKNOWN };
	return r;
}

int chain_seek(struct chain *c, const struct journal *j, struct window *w, uint64_t k)
{
	uint64_t limit, fine_next;

	/* If K lies before the array the difference wraps, beyond any capacity. */
	if (likely(k - c->at.before < c->at.capacity))
		return 1;
	if (c->first == 0)
		return chain_end(c, 0, 0);
	if (c->tail_count) {
		int r = chain_jump(c, j, w, k);

		if (r != 0)
			return r;
	}
	limit = chain_start(c, k);
	fine_next = chain_halfway(c->at.ordinal, limit);
	while (k - c->at.before >= c->at.capacity) {
		struct array_object array;
		int r;

		r = object_array(j, w, c->at.offset, &array);
		if (r == -EAGAIN)
			return r; /* goes on from here */
		if (format_error_is_soft(r))
			return chain_end(c, c->at.before, r);
		if (r < 0)
			return r;
		c->at.capacity = array.capacity;
		chain_mark(c);
		if (unlikely(c->at.ordinal == fine_next)) {
			chain_mark_fine(c);
			fine_next = chain_halfway(c->at.ordinal, limit);
		}
		if (k - c->at.before < array.capacity)
			break;
		if (array.next == 0)
			return chain_end(c, c->at.before + array.capacity, 0);
		/* No overflow: the sum is at most K. */
		c->at = (struct chain_mark){
			.offset = array.next,
			.before = c->at.before + array.capacity,
			.ordinal = c->at.ordinal + 1,
		};
	}
	/* Likewise the end of an array that holds K, but for one of absurd size. */
	if (c->reached < c->at.before + c->at.capacity)
		c->reached = c->at.before + c->at.capacity;
	return 1;
}

int chain_mark_all(struct chain *c, const struct journal *j, struct window *w)
{
	uint64_t hint = c->tail_count;
	int r;

	if (c->at.ordinal == CHAIN_ORDINAL_UNKNOWN)
		c->at = (struct chain_mark){ .offset = c->first };
	c->tail_count = 0;
	r = chain_seek(c, j, w, c->count - chain_inline_count(c) - 1);
	if (!c->ended)
		c->tail_count = hint;
	return r;
}

/* Copies elements from one array, as stored, to offsets. */
static void chain_copy(const struct journal *j, const uint8_t *items, unsigned count,
		       uint64_t *offsets)
{
	if (j->compact)
		for (unsigned i = 0; i < count; i++)
			offsets[i] = load_le32(items + (size_t)i * 4);
	else
		for (unsigned i = 0; i < count; i++)
			offsets[i] = load_le64(items + (size_t)i * 8);
}

/* A run of elements from one array. */
int chain_get_many(struct chain *c, const struct journal *j, struct window *w, uint64_t index,
		   unsigned count, uint64_t *offsets)
{
	uint64_t k = index - chain_inline_count(c), left;
	const uint8_t *items;
	int r;

	assert(count > 0 && count <= INT_MAX);
	if (index >= c->count)
		return 0;
	if (index < chain_inline_count(c)) {
		offsets[0] = c->inline_offset;
		return 1;
	}
	r = chain_seek(c, j, w, k);
	if (r <= 0)
		return r;

	left = c->at.before + c->at.capacity - k;
	if (left > c->count - index)
		left = c->count - index;
	if (count > left)
		count = (unsigned)left;
	for (;;) {
		r = window_get(w,
			       c->at.offset + ENTRY_ARRAY_ITEMS + (k - c->at.before) * j->item_size,
			       (uint64_t)count * j->item_size, &items);
		/* Some of them cannot be read: those before them can. */
		if (likely(!format_error_is_soft(r)) || count == 1)
			break;
		count /= 2;
	}
	if (r < 0)
		return r;
	chain_copy(j, items, count, offsets);
	return (int)count;
}

/* One element. */
int chain_get(struct chain *c, const struct journal *j, struct window *w, uint64_t index,
	      uint64_t *ret_offset)
{
	return chain_get_many(c, j, w, index, 1, ret_offset);
}
