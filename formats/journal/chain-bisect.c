/* SPDX-License-Identifier: MIT */
/*
 * Bisecting a chain of entry arrays for an offset, or for a place that a test compares entries
 * with: specification 5.4, as far as it concerns one direction. Elements that cannot be read are
 * stepped over, a bounded number of them. Which elements are looked at, and in which order, is as
 * the reference does it, since that decides what is found where a clock stepped back. Walking to an
 * array, and what is remembered on the way, is chain.c.
 */
#include <assert.h>

#include "formats/journal/chain-private.h"

/* How many levels of a bisection are asked for at once when bytes are lacking. */
#define CHAIN_WAVE_DEPTH 2u

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
