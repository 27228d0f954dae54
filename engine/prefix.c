/* SPDX-License-Identifier: MIT */
/*
 * The table of how entries begin: learning, growing, forgetting. Out of memory is no error: what is
 * not kept is looked at item by item.
 */
#include "engine/prefix.h"

#include <assert.h>
#include <stdlib.h>

#define PREFIX_SLOTS_MIN 256u
/* Growing is by this factor, ... */
#define PREFIX_GROWTH 4u
/* ... where more than one in so many that are found are replaced. */
#define PREFIX_REPLACED_PART 16u

#define PREFIX_SLOT_BYTES (sizeof(struct prefix) + sizeof(struct prefix_known))

_Static_assert(sizeof(struct prefix) == 128, "two cache lines");

void prefix_init(struct prefix_table *t, uint64_t bytes_max)
{
	*t = (struct prefix_table){ .bytes_max = bytes_max, .empty = true };
}

void prefix_done(struct prefix_table *t)
{
	free(t->slots);
	free(t->known);
	*t = (struct prefix_table){ .empty = true };
}

void prefix_clear(struct prefix_table *t)
{
	for (size_t i = 0; !t->empty && i <= t->mask; i++)
		t->slots[i].key = 0;
	t->empty = true;
}

/* Makes the table one of COUNT slots, all free. False if it may not be, or there is no memory. */
static bool prefix_resize(struct prefix_table *t, size_t count)
{
	struct prefix_known *known;
	struct prefix *slots;

	if (count > t->bytes_max / PREFIX_SLOT_BYTES)
		return false;
	slots = aligned_alloc(64, count * sizeof(*slots));
	known = malloc(count * sizeof(*known));
	if (!slots || !known) {
		free(slots);
		free(known);
		return false;
	}
	free(t->slots);
	free(t->known);
	for (size_t i = 0; i < count; i++)
		slots[i].key = 0;
	t->slots = slots;
	t->known = known;
	t->mask = count - 1;
	t->found = t->replaced = 0;
	t->empty = true;
	return true;
}

/* Sees to it that there is a table, and that it is large enough. False if there is none. */
static bool prefix_grow(struct prefix_table *t)
{
	if (!t->slots)
		return prefix_resize(t, PREFIX_SLOTS_MIN);
	if (t->replaced <= t->mask)
		return true;
	/* What is kept of files that have ended is replaced too: that is rare. */
	if (t->replaced > t->found / PREFIX_REPLACED_PART)
		(void)prefix_resize(t, (t->mask + 1) * PREFIX_GROWTH);
	t->found = t->replaced = 0;
	return true;
}

void prefix_learn(struct prefix_table *t, struct shared *shared, uint32_t file, uint64_t key,
		  const uint8_t *items, uint32_t matched, uint64_t count)
{
	struct prefix_sum sum = { 0 };
	struct prefix_known *known;
	struct prefix *p;

	if (!prefix_grow(t))
		return;
	p = prefix_slot(t, key);
	known = prefix_known(t, p);
	if (matched && p->key != key)
		return; /* it was lost as the table grew */
	t->replaced += p->key && p->key != key;
	p->key = key;
	p->count = count < PREFIX_ITEMS_MAX ? (uint32_t)count : PREFIX_ITEMS_MAX;
	memcpy(p->items, items, p->count * PREFIX_ITEM_SIZE);
	if (matched)
		sum = known->sums[matched - 1];
	for (uint32_t i = matched; i < p->count; i++) {
		uint64_t offset = load_le32(items + i * PREFIX_ITEM_SIZE);
		const struct shared_item *item = shared_find(shared, shared_key(file, offset));

		assert(item);
		sum.look += DATA_PAYLOAD_REGULAR + item->stored_size;
		if (item->bytes) {
			sum.keep += item->size + (uint32_t)sizeof(*known->fields);
			known->fields[sum.fields++] = (struct output_field){
				item->bytes, item->size, item->name_size, item->traits };
		}
		known->sums[i] = sum;
	}
	t->empty = false;
}
