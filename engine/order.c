/* SPDX-License-Identifier: MIT */
/*
 * The comparison of entries and the table of boots behind it. IDs are numbered as they are met, so
 * that a comparison is one of small integers. The table changes only when a file is entered; the
 * merge that uses it must then start its certificates anew.
 */
#include "engine/order.h"

#include <stdlib.h>

/* Mixes an ID, which is random already unless somebody forged it. */
static uint32_t order_ids_hash(const struct id128 *id)
{
	uint64_t a = load_le64(id->bytes), b = load_le64(id->bytes + 8);

	a = (a ^ (b * UINT64_C(0x9e3779b97f4a7c15))) * UINT64_C(0xff51afd7ed558ccd);
	return (uint32_t)(a >> 32);
}

/* Doubles the slots and enters every ID again. */
static int order_ids_rehash(struct order_ids *t)
{
	uint32_t count = t->slot_count ? t->slot_count * 2 : 64;
	uint32_t *slots = calloc(count, sizeof(*slots));

	if (!slots)
		return -ENOMEM;
	for (uint32_t i = 0; i < t->count; i++) {
		uint32_t at = order_ids_hash(&t->ids[i]) & (count - 1);

		while (slots[at])
			at = (at + 1) & (count - 1);
		slots[at] = i + 1;
	}
	free(t->slots);
	t->slots = slots;
	t->slot_count = count;
	return 0;
}

int order_ids_number(struct order_ids *t, const struct id128 *id, uint32_t *ret_number)
{
	uint32_t at;
	int r;

	if (t->count * 2 >= t->slot_count) {
		r = order_ids_rehash(t);
		if (r < 0)
			return r;
	}
	at = order_ids_hash(id) & (t->slot_count - 1);
	for (; t->slots[at]; at = (at + 1) & (t->slot_count - 1)) {
		if (id128_equal(&t->ids[t->slots[at] - 1], id)) {
			*ret_number = t->slots[at] - 1;
			return 0;
		}
	}
	if (t->count == t->capacity) {
		uint32_t capacity = t->capacity ? t->capacity * 2 : 32;
		struct id128 *ids = reallocarray(t->ids, capacity, sizeof(*ids));

		if (!ids)
			return -ENOMEM;
		t->ids = ids;
		t->capacity = capacity;
	}
	t->ids[t->count] = *id;
	t->slots[at] = ++t->count;
	*ret_number = t->count - 1;
	return 0;
}

bool order_ids_find(const struct order_ids *t, const struct id128 *id, uint32_t *ret_number)
{
	if (t->count == 0)
		return false;
	for (uint32_t at = order_ids_hash(id) & (t->slot_count - 1); t->slots[at];
	     at = (at + 1) & (t->slot_count - 1)) {
		if (id128_equal(&t->ids[t->slots[at] - 1], id)) {
			*ret_number = t->slots[at] - 1;
			return true;
		}
	}
	return false;
}

void order_ids_done(struct order_ids *t)
{
	free(t->ids);
	free(t->slots);
	*t = (struct order_ids){ 0 };
}

void order_done(struct order *o)
{
	order_ids_done(&o->boot_ids);
	order_ids_done(&o->seqnum_ids);
	order_ids_done(&o->machine_ids);
	free(o->boots);
	*o = (struct order){ 0 };
}

int order_boot_number(struct order *o, const struct id128 *id, uint32_t *ret_number)
{
	uint32_t number;
	int r = order_ids_number(&o->boot_ids, id, &number);

	if (r < 0)
		return r;
	if (number >= o->boots_capacity) {
		uint32_t capacity = o->boots_capacity ? o->boots_capacity * 2 : 32;
		struct order_boot *boots = reallocarray(o->boots, capacity, sizeof(*boots));

		if (!boots) {
			/* The ID stays numbered; the next call finds it and tries again. */
			return -ENOMEM;
		}
		memset(boots + o->boots_capacity, 0,
		       (capacity - o->boots_capacity) * sizeof(*boots));
		o->boots = boots;
		o->boots_capacity = capacity;
	}
	o->boots[number].id = *id;
	*ret_number = number;
	return 0;
}

int order_seqnum_id_number(struct order *o, const struct id128 *id, uint32_t *ret_number)
{
	return order_ids_number(&o->seqnum_ids, id, ret_number);
}

int order_add_newest(struct order *o, const struct order_newest *newest)
{
	struct order_boot *boot;
	uint32_t number, machine;
	int r;

	if (!newest->known)
		return 0;
	r = order_boot_number(o, &newest->boot_id, &number);
	if (r < 0)
		return r;
	r = order_ids_number(&o->machine_ids, &newest->machine_id, &machine);
	if (r < 0)
		return r;
	boot = &o->boots[number];
	if (boot->ranked && boot->monotonic >= newest->monotonic)
		return 0; /* ties go to the file entered first */
	boot->ranked = true;
	boot->machine = machine;
	boot->monotonic = newest->monotonic;
	boot->realtime = newest->realtime;
	return 0;
}

void order_forget_newest(struct order *o)
{
	for (uint32_t i = 0; i < o->boot_ids.count && i < o->boots_capacity; i++)
		o->boots[i].ranked = false;
}

/* -1, 0 or 1. */
static inline int order_three_way(uint64_t a, uint64_t b)
{
	return (a > b) - (a < b);
}

int order_compare_boots(const struct order *o, uint32_t a, uint32_t b)
{
	const struct order_boot *x = &o->boots[a], *y = &o->boots[b];

	if (!x->ranked || !y->ranked || x->machine != y->machine)
		return 0;
	return order_three_way(x->realtime, y->realtime);
}

/* order_compare() without its rule on sequence numbers. */
static int order_compare_times(const struct order *o, const struct order_key *a,
			       const struct order_key *b)
{
	int r;

	if (a->boot == b->boot)
		r = order_three_way(a->monotonic, b->monotonic);
	else
		r = order_compare_boots(o, a->boot, b->boot);
	if (r)
		return r;
	if (a->realtime != b->realtime)
		return order_three_way(a->realtime, b->realtime);
	return order_three_way(a->xor_hash, b->xor_hash);
}

int order_compare(const struct order *o, const struct order_key *a, const struct order_key *b)
{
	if (a->seqnum_id == b->seqnum_id && a->seqnum != b->seqnum)
		return a->seqnum < b->seqnum ? -1 : 1;
	return order_compare_times(o, a, b);
}
