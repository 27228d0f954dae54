/* SPDX-License-Identifier: MIT */
/*
 * The heaps of the merge: small items that name a source by its number, least first. A source is in
 * one heap of a kind at a time, and an array shared by all heaps of that kind says where, so that
 * its item can be found and moved. Nothing here looks at a source.
 */
#ifndef ENGINE_MERGE_HEAP_H
#define ENGINE_MERGE_HEAP_H

#include <errno.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>

#define MERGE_NOWHERE UINT32_MAX

/* Compared by first, middle, second; complemented when reading backward. */
struct merge_item {
	uint64_t first, second;
	uint32_t middle;
	uint32_t number; /* of the source */
};

struct merge_heap {
	struct merge_item *items;
	uint32_t count, capacity;
};

/* Whether A comes before B. */
static inline bool merge_item_before(const struct merge_item *a, const struct merge_item *b)
{
	if (a->first != b->first)
		return a->first < b->first;
	if (a->middle != b->middle)
		return a->middle < b->middle;
	return a->second < b->second;
}

/* Whether neither comes before the other. */
static inline bool merge_item_tied(const struct merge_item *a, const struct merge_item *b)
{
	return a->first == b->first && a->middle == b->middle && a->second == b->second;
}

/* Puts an item where it belongs: at AT, below or above. */
static inline void merge_heap_sift(struct merge_heap *h, uint32_t *places, uint32_t at,
				   struct merge_item item)
{
	struct merge_item *items = h->items;

	while (at > 0 && merge_item_before(&item, &items[(at - 1) / 2])) {
		items[at] = items[(at - 1) / 2];
		places[items[at].number] = at;
		at = (at - 1) / 2;
	}
	for (;;) {
		uint32_t child = at * 2 + 1;

		if (child >= h->count)
			break;
		if (child + 1 < h->count && merge_item_before(&items[child + 1], &items[child]))
			child++;
		if (!merge_item_before(&items[child], &item))
			break;
		items[at] = items[child];
		places[items[at].number] = at;
		at = child;
	}
	items[at] = item;
	places[item.number] = at;
}

/* Gives a source that is in the heap another item, or enters it. -ENOMEM. */
static inline int merge_heap_set(struct merge_heap *h, uint32_t *places,
				 const struct merge_item *item)
{
	uint32_t at = places[item->number];

	if (at == MERGE_NOWHERE) {
		if (h->count == h->capacity) {
			uint32_t capacity = h->capacity ? h->capacity * 2 : 4;
			struct merge_item *items =
				reallocarray(h->items, capacity, sizeof(*items));

			if (!items)
				return -ENOMEM;
			h->items = items;
			h->capacity = capacity;
		}
		at = h->count++;
	}
	merge_heap_sift(h, places, at, *item);
	return 0;
}

/* Takes a source out, if it is in. */
static inline void merge_heap_remove(struct merge_heap *h, uint32_t *places, uint32_t number)
{
	uint32_t at = places[number];

	if (at == MERGE_NOWHERE)
		return;
	places[number] = MERGE_NOWHERE;
	if (at < --h->count)
		merge_heap_sift(h, places, at, h->items[h->count]);
}

/*
 * The positions of the items that are tied with the root, the root first. TIES has room for twice
 * the count and more. Returns how many.
 */
static inline uint32_t merge_heap_ties(const struct merge_heap *h, uint32_t *ties)
{
	uint32_t count = 1;

	ties[0] = 0;
	for (uint32_t i = 0; i < count; i++) {
		for (uint32_t child = ties[i] * 2 + 1; child <= ties[i] * 2 + 2; child++) {
			if (child < h->count && merge_item_tied(&h->items[child], &h->items[0]))
				ties[count++] = child;
		}
	}
	return count;
}

/* Whether any other item is tied with the root. */
static inline bool merge_heap_root_is_tied(const struct merge_heap *h)
{
	return (h->count > 1 && merge_item_tied(&h->items[1], &h->items[0])) ||
	       (h->count > 2 && merge_item_tied(&h->items[2], &h->items[0]));
}

#endif
