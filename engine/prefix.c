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

void prefix_init(struct prefix_table *t, uint64_t bytes_max, bool leads)
{
	*t = (struct prefix_table){ .bytes_max = bytes_max, .has_leads = leads, .empty = true };
}

void prefix_done(struct prefix_table *t)
{
	free(t->slots);
	free(t->known);
	free(t->fields);
	free(t->leads);
	*t = (struct prefix_table){ .empty = true };
}

void prefix_clear(struct prefix_table *t)
{
	for (size_t i = 0; !t->empty && i <= t->mask; i++)
		t->slots[i].key = 0;
	t->empty = true;
}

/* What a slot takes, with fields or without. */
static size_t prefix_slot_bytes(const struct prefix_table *t, bool fields)
{
	return PREFIX_SLOT_BYTES + (fields ? sizeof(*t->fields) : 0) +
	       (t->has_leads ? sizeof(*t->leads) : 0);
}

/* Makes the table one of COUNT slots, all free. False if it may not be, or there is no memory. */
static bool prefix_resize(struct prefix_table *t, size_t count, bool fields)
{
	struct prefix_table new = *t;

	if (count > t->bytes_max / prefix_slot_bytes(t, fields))
		return false;
	new.slots = aligned_alloc(64, count * sizeof(*new.slots));
	new.known = malloc(count * sizeof(*new.known));
	new.fields = fields ? malloc(count * sizeof(*new.fields)) : NULL;
	new.leads = t->has_leads ? malloc(count * sizeof(*new.leads)) : NULL;
	if (!new.slots || !new.known || (fields && !new.fields) || (t->has_leads && !new.leads)) {
		prefix_done(&new);
		return false;
	}
	for (size_t i = 0; i < count; i++)
		new.slots[i].key = 0;
	new.mask = count - 1;
	new.found = new.replaced = 0;
	new.empty = true;
	free(t->slots);
	free(t->known);
	free(t->fields);
	free(t->leads);
	*t = new;
	return true;
}

/* Sees to it that there is a table, and that it is large enough. False if there is none. */
static bool prefix_grow(struct prefix_table *t)
{
	if (!t->slots)
		return prefix_resize(t, PREFIX_SLOTS_MIN, t->has_leads);
	if (t->replaced <= t->mask)
		return true;
	/* What is kept of files that have ended is replaced too: that is rare. */
	if (t->replaced > t->found / PREFIX_REPLACED_PART)
		(void)prefix_resize(t, (t->mask + 1) * PREFIX_GROWTH, t->fields);
	t->found = t->replaced = 0;
	return true;
}

/* Adds what export prints of a beginning's last field, if the lead goes so far and that is text. */
static void prefix_extend_lead(const struct prefix_table *t, const struct prefix *p,
			       struct prefix_sum *sum)
{
	size_t size;

	if (!t->has_leads || sum->lead_fields + 1 != sum->fields ||
	    !output_export_line(&t->fields[p - t->slots].list[sum->fields - 1],
				t->leads[p - t->slots] + sum->lead_size,
				PREFIX_LEAD_BYTES - sum->lead_size, &size))
		return;
	sum->lead_fields++;
	sum->lead_size = (uint16_t)(sum->lead_size + size);
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
	p->worth = 0;
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
			if (unlikely(!t->fields)) {
				/* The first of all: the next entry is learnt. */
				p->key = 0;
				(void)prefix_resize(t, PREFIX_SLOTS_MIN, true);
				return;
			}
			sum.keep += item->size + (uint32_t)sizeof(struct output_field);
			t->fields[p - t->slots].list[sum.fields++] = (struct output_field){
				item->bytes, item->size, item->name_size, item->traits };
			prefix_extend_lead(t, p, &sum);
		}
		known->sums[i] = sum;
	}
	t->empty = false;
}
