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
 * tidy: allow sizes: walking and bisecting share the marks, and are read together.
 */
#include <assert.h>
#include <limits.h>

#include "formats/journal/journal.h"

/* How many levels of a bisection are asked for at once when bytes are lacking. */
#define CHAIN_WAVE_DEPTH 2u

/* The ordinal of an array that was not walked to. */
#define CHAIN_ORDINAL_UNKNOWN UINT64_MAX

/* Elements that stand in the data object, not in an array: 1 or 0. */
static inline uint64_t chain_inline_count(const struct chain *c)
{
	return c->inline_offset != 0;
}

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

/* The file has grown. */
void chain_set_count(struct chain *c, uint64_t count)
{
	c->count = count;
	c->tail_offset = c->tail_count = 0; /* it was that of the shorter chain */
	c->ended = false;
	c->damage_error = 0;
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

/* Walks to the array that holds element K of the arrays. 1; 0 if the arrays end before it; an
 * error: -EAGAIN, or why an array on the way could not be read. */
static int chain_seek(struct chain *c, const struct journal *j, struct window *w, uint64_t k)
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

/* ---- bisection ---------------------------------------------------------------------------- */

/* What is sought lies from left to right, both included. */
struct chain_search {
	struct chain *chain;
	const struct journal *journal;
	struct window *window;
	chain_test_fn test; /* NULL: by offset */
	const void *userdata;
	uint64_t entry_offset; /* if by offset */
	bool backward;         /* the last element before the place is sought */
	uint64_t left;
	uint64_t right;
};

/* How the element at INDEX compares. */
static int chain_probe(struct chain_search *s, uint64_t index, int *ret_order)
{
	uint64_t offset;
	int r;

	r = chain_get(s->chain, s->journal, s->window, index, &offset);
	if (r < 0)
		return r;
	if (r == 0 || offset == 0)
		return -EBADMSG;
	if (s->test)
		return s->test(s->userdata, s->journal, s->window, offset, ret_order);
	*ret_order = offset < s->entry_offset ? -1 : 1;
	return 0;
}

/* Compares the element at INDEX, or if it cannot be read the next that can be, and moves left or
 * right accordingly. */
static int chain_narrow(struct chain_search *s, uint64_t index)
{
	int order, r;

	assert(s->left <= index && index < s->right);
	for (uint64_t i = index; i < s->right && i - index <= CHAIN_UNREADABLE_MAX; i++) {
		r = chain_probe(s, i, &order);
		if (r == 0 && (order < 0 || (order == 0 && s->backward))) {
			s->left = i + 1;
			return 0;
		}
		if (r == 0)
			break;
		if (!format_error_is_soft(r))
			return r;
	}
	s->right = index;
	return 0;
}

/* Where an array-level probe at mark MARK looks: the element before it. */
static uint64_t chain_mark_index(const struct chain *c, uint64_t mark)
{
	return c->marks[mark].before + chain_inline_count(c) - 1;
}

/* Asks for what the probes of the next DEPTH levels between FIRST and END will look at. */
static void chain_ask(struct chain_search *s, bool by_mark, uint64_t first, uint64_t end,
		      unsigned depth)
{
	uint64_t middle = first + (end - first) / 2, index;
	int order;

	if (first >= end || depth == 0)
		return;
	index = by_mark ? chain_mark_index(s->chain, middle) : middle;
	/* Only the wants matter here. */
	(void)chain_probe(s, index, &order);
	chain_ask(s, by_mark, first, middle, depth - 1);
	chain_ask(s, by_mark, middle + 1, end, depth - 1);
}

/* Narrows by the elements before the marks: after that, left and right are within one array, or
 * within the arrays between two marks. */
static int chain_bisect_arrays(struct chain_search *s)
{
	uint64_t first = 1, end = s->chain->mark_count;

	while (first < end) {
		uint64_t middle = first + (end - first) / 2;
		uint64_t index = chain_mark_index(s->chain, middle);

		if (index >= s->left && index < s->right) {
			int r = chain_narrow(s, index);

			if (r == -EAGAIN) {
				chain_ask(s, true, first, middle, CHAIN_WAVE_DEPTH - 1);
				chain_ask(s, true, middle + 1, end, CHAIN_WAVE_DEPTH - 1);
			}
			if (r < 0)
				return r;
		}
		if (index < s->left)
			first = middle + 1;
		else
			end = middle;
	}
	return 0;
}

/* Whether the reference looks for a file's last entry in the chain when it opens the file: where
 * the header does not lead to an entry. 1, 0, -EAGAIN. */
static int chain_is_read_from_tail(const struct chain_search *s)
{
	const struct journal_header *h = &s->journal->header;
	uint64_t offset = header_has(h, HEADER_TAIL_ENTRY_OFFSET, 8) ? h->tail_entry_offset :
								       h->tail_object_offset;
	struct entry_object entry;
	int r;

	if (offset == 0)
		return 0;
	r = object_entry(s->journal, s->window, offset, &entry);
	if (r >= 0 || r == -EAGAIN)
		return r;
	return !(h->compatible_flags & JOURNAL_COMPATIBLE_TAIL_ENTRY_BOOT_ID) ||
	       h->state != JOURNAL_STATE_ARCHIVED;
}

/* Where the reference has looked at a file's last entry already, it begins with the last array if
 * that begins before the place. Sets *START to that array. */
static int chain_skip_arrays(struct chain_search *s, unsigned *start)
{
	const struct chain *c = s->chain;
	int order, r;

	if (c->mark_count < 2 || c->marks[c->mark_count - 1].before >= c->count)
		return 0;
	r = chain_is_read_from_tail(s);
	if (r <= 0)
		return r;
	r = chain_probe(s, c->marks[c->mark_count - 1].before, &order);
	if (r == 0 && order < 0) {
		*start = c->mark_count - 1;
		s->left = c->marks[*start].before;
	}
	return format_error_is_soft(r) ? 0 : r;
}

/*
 * Narrows by the arrays from the first one on: the first whose last element lies behind the place
 * holds it; looking for the last element before the place, its first element is tested too.
 * Elements are tested in the order in which the reference does it: where they do not ascend,
 * because the clock stepped back, that decides what is found.
 */
static int chain_walk_arrays(struct chain_search *s)
{
	const struct chain *c = s->chain;
	uint64_t count = c->count, inline_count = chain_inline_count(c);
	unsigned start = 0;
	int r = 0;

	if (inline_count && s->left < s->right)
		r = chain_narrow(s, 0);
	else
		r = chain_skip_arrays(s, &start);
	for (unsigned i = start; i < c->mark_count && r == 0 && s->left < s->right; i++) {
		uint64_t first = c->marks[i].before + inline_count, end = count;

		if (i + 1 < c->mark_count)
			end = c->marks[i + 1].before + inline_count;
		if (end > count)
			end = count;
		if (first < s->left || first >= end)
			continue;
		if (s->backward && end - first > 1)
			r = chain_narrow(s, first);
		if (r == 0 && s->left < end && end <= s->right)
			r = chain_narrow(s, end - 1);
		if (r == -EAGAIN)
			chain_ask(s, true, i + 1, c->mark_count, CHAIN_WAVE_DEPTH);
		if (r == 0 && s->right < end) {
			/* From its last entry the reference looks at the one before it next. */
			if (start > 0 && !s->backward && s->left + 1 < end - 1)
				r = chain_narrow(s, end - 2);
			break;
		}
	}
	return r;
}

/* Narrows by the elements themselves until one place is left. */
static int chain_bisect_elements(struct chain_search *s)
{
	while (s->left < s->right) {
		uint64_t middle = s->left + (s->right - s->left - s->backward) / 2;
		int r = chain_narrow(s, middle);

		if (r == -EAGAIN) {
			chain_ask(s, false, s->left, middle, CHAIN_WAVE_DEPTH - 1);
			chain_ask(s, false, middle + 1, s->right, CHAIN_WAVE_DEPTH - 1);
		}
		if (r < 0)
			return r;
	}
	return 0;
}

/* Looks for an offset in the last array of a data object's set first. 1: it is there, and what is
 * before it is out of question; 0; -EAGAIN. */
static int chain_search_tail(struct chain_search *s)
{
	struct chain *c = s->chain;
	uint64_t first, last;
	int r;

	if (s->test || !c->inline_offset || c->tail_count == 0)
		return 0;
	r = chain_peek_tail(c, s->journal, s->window, false, &first);
	if (r <= 0 || s->entry_offset <= first)
		return r < 0 ? r : 0;
	r = chain_peek_tail(c, s->journal, s->window, true, &last);
	if (r <= 0)
		return r;
	s->left = s->entry_offset > last ? c->count : c->count - c->tail_count;
	s->right = c->count;
	return 1;
}

/* Walks to the chain's end array by array. An array that the hint has led to has no place among the
 * marks, and what is found by a test depends on the arrays. */
static int chain_mark_all(struct chain *c, const struct journal *j, struct window *w)
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

/* Walks to the chain's end, so that the marks are complete; then narrows. */
static int chain_search(struct chain_search *s, uint64_t *ret_index)
{
	struct chain *c = s->chain;
	uint64_t inline_count = chain_inline_count(c);
	int r = chain_search_tail(s);

	if (r < 0)
		return r;
	if (r > 0) {
		r = chain_bisect_elements(s);
		if (r < 0)
			return r;
		*ret_index = s->left < c->count ? s->left : c->count;
		return 0;
	}
	if (c->count > inline_count && c->reached < c->count - inline_count) {
		r = s->test ? chain_mark_all(c, s->journal, s->window) :
			      chain_seek(c, s->journal, s->window, c->count - inline_count - 1);
		/* A damaged array has clamped the count. */
		if (r < 0 && !format_error_is_soft(r))
			return r;
	}
	s->left = 0;
	s->right = c->count;
	/* Offsets ascend, and where a chain is in more pieces than are marked it is damaged. */
	r = s->test && c->mark_stride == 1 ? chain_walk_arrays(s) : chain_bisect_arrays(s);
	if (r < 0)
		return r;
	r = chain_bisect_elements(s);
	if (r < 0)
		return r;
	/* The count shrinks if an array that was read before cannot be read again. */
	*ret_index = s->left < c->count ? s->left : c->count;
	return 0;
}

/* Bisects by a test. */
int chain_bisect(struct chain *c, const struct journal *j, struct window *w, chain_test_fn test,
		 const void *userdata, bool backward, uint64_t *ret_index)
{
	struct chain_search s = {
		.chain = c,
		.journal = j,
		.window = w,
		.test = test,
		.userdata = userdata,
		.backward = backward,
	};

	assert(test);
	return chain_search(&s, ret_index);
}

/* Bisects by the offsets themselves. */
int chain_bisect_offset(struct chain *c, const struct journal *j, struct window *w,
			uint64_t entry_offset, uint64_t *ret_index)
{
	struct chain_search s = {
		.chain = c,
		.journal = j,
		.window = w,
		.entry_offset = entry_offset,
	};

	return chain_search(&s, ret_index);
}
