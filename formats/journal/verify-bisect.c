/* SPDX-License-Identifier: MIT */
/*
 * Whether a data object's set holds an element at or behind an entry, found as the reference finds
 * it (specification 5.5, downwards, by offset). In a set that is in order every way of looking
 * gives the same; here are the others, where it matters which elements are looked at and in which
 * order.
 */
#include "formats/journal/verify-private.h"

enum verify_step { STEP_LEFT, STEP_RIGHT, STEP_PREVIOUS, STEP_NEXT };

/* A bisection within one array. */
struct verify_bisection {
	const struct journal *journal;
	struct window *window;
	const struct array_object *array;
	uint64_t needle;
	uint64_t left, right; /* inclusive */
	uint64_t count;       /* elements that are believed in */
};

/* Compares the element at INDEX and moves a bound. */
static int verify_bisect_step(struct verify_bisection *b, uint64_t index, enum verify_step *ret)
{
	const uint8_t *item;
	uint64_t offset;
	int r = object_array_items(b->journal, b->window, b->array, index, 1, &item);

	if (r < 0)
		return r;
	offset = array_item(b->journal, item, 0);
	if (offset == 0) {
		*ret = index == b->left ? STEP_PREVIOUS : STEP_RIGHT;
		b->count = index;
		b->right = index == b->left ? b->right : index - 1;
	} else if (offset >= b->needle) {
		*ret = STEP_RIGHT;
		b->right = index;
	} else {
		*ret = index == b->count - 1 ? STEP_NEXT : STEP_LEFT;
		b->left = index == b->count - 1 ? b->left : index + 1;
	}
	return 0;
}

/* Bisects one array, whose last element is not before the needle. 1, 0, or an error. */
static int verify_bisect_within(struct verify_bisection *b, bool shrunk)
{
	enum verify_step step;
	const uint8_t *item;
	int r;

	while (b->left < b->right) {
		uint64_t count = b->count;

		r = verify_bisect_step(b, b->left + (b->right - b->left) / 2, &step);
		if (r < 0)
			return r;
		if (step == STEP_PREVIOUS || step == STEP_NEXT)
			return 0;
		shrunk |= b->count != count;
	}
	if (shrunk) {
		r = verify_bisect_step(b, b->left, &step);
		if (r < 0)
			return r;
		if (step == STEP_PREVIOUS || step == STEP_NEXT)
			return 0;
	}
	r = object_array_items(b->journal, b->window, b->array, 0, 1, &item);
	if (r < 0)
		return r;
	return array_item(b->journal, item, 0) == 0 ? -EBADMSG : 1;
}

/* Bisects a chain of arrays of which N elements count. 1, 0, or an error. */
static int verify_bisect_arrays(const struct journal *j, struct window *w, uint64_t first,
				uint64_t n, uint64_t needle)
{
	struct array_object array;
	enum verify_step step;

	for (uint64_t a = first; a != 0 && n > 0; a = array.next) {
		struct verify_bisection b = { .journal = j, .window = w, .needle = needle };
		uint64_t count;
		int r = object_array(j, w, a, &array);

		if (r < 0)
			return r == -EBADMSG || r == -EADDRNOTAVAIL ? 0 : r;
		b.array = &array;
		b.count = count = array.capacity < n ? array.capacity : n;
		b.right = b.count - 1;
		r = verify_bisect_step(&b, b.right, &step);
		if (r < 0)
			return r;
		if (step == STEP_PREVIOUS)
			return 0;
		if (step == STEP_RIGHT)
			return verify_bisect_within(&b, b.count != count);
		if (array.capacity >= n)
			return 0;
		n -= array.capacity;
	}
	return 0;
}

int verify_bisect_set(const struct journal *j, struct window *w, const struct data_object *data,
		      uint64_t needle)
{
	if (data->n_entries == 0)
		return 0;
	if (data->entry_offset >= needle)
		return 1;
	return verify_bisect_arrays(j, w, data->entry_array_offset, data->n_entries - 1, needle);
}
