/* SPDX-License-Identifier: MIT */
/* The table of how entries begin. */
#include <criterion/criterion.h>
#include <criterion/new/assert.h>
#include <stdio.h>
#include <stdlib.h>

#include "engine/prefix.h"

static struct shared shared;
static struct prefix_table table;

static void setup(void)
{
	shared_init(&shared, 1 << 20);
	prefix_init(&table, 64 << 20, true);
}

static void teardown(void)
{
	prefix_done(&table);
	shared_done(&shared);
}

TestSuite(prefix, .init = setup, .fini = teardown, .timeout = 30);

/* Writes COUNT items from FIRST on, eight bytes apart, and has their objects known: those with an
 * even number are wanted. */
static void make_items(uint8_t *items, uint32_t first, uint32_t count)
{
	for (uint32_t i = 0; i < count; i++) {
		uint32_t offset = htole32((first + i) * 8);
		uint64_t key = shared_key(1, (uint64_t)(first + i) * 8);
		const struct shared_item item = {
			.key = key, .stored_size = first + i, .name_size = 1, .size = 3,
			.traits = first + i < 1000 ? OUTPUT_TRAIT_NAMED | OUTPUT_TRAIT_LINE : 0,
			.bytes = (first + i) % 2 ? NULL : (const uint8_t *)"A=b" };

		memcpy(items + i * PREFIX_ITEM_SIZE, &offset, sizeof(offset));
		if (!shared_find(&shared, key))
			cr_assert(ne(ptr, (void *)shared_add(&shared, &item), NULL));
	}
}

/* How many items an entry shares with what is kept under a key. */
static uint32_t match(uint64_t key, const uint8_t *items, uint64_t count)
{
	const struct prefix *p = prefix_slot(&table, key);

	return p && p->key == key ? prefix_match(p, items, count) : 0;
}

/* The wanted fields of what is kept under a key. */
static const struct output_field *fields_of(uint64_t key)
{
	return table.fields[prefix_slot(&table, key) - table.slots].list;
}

Test(prefix, an_entry_matches_as_far_as_its_items_are_the_same)
{
	uint8_t items[40 * PREFIX_ITEM_SIZE], other[40 * PREFIX_ITEM_SIZE];

	make_items(items, 100, 40);
	cr_expect(eq(u32, match(7, items, 40), 0));
	for (uint32_t count = 1; count <= 40; count++) {
		uint32_t kept = count < PREFIX_ITEMS_MAX ? count : PREFIX_ITEMS_MAX;

		prefix_clear(&table);
		prefix_learn(&table, &shared, 1, 7, items, 0, count);
		for (uint32_t same = 0; same <= kept; same++) {
			memcpy(other, items, sizeof(items));
			if (same < 40)
				other[same * PREFIX_ITEM_SIZE + 1] ^= 0x40;
			cr_expect(eq(u32, match(7, other, 40), same), "of %u", count);
			cr_expect(eq(u32, match(7, items, same), same), "a short entry");
		}
	}
}

Test(prefix, sums_and_fields_are_those_of_the_items)
{
	uint8_t items[PREFIX_ITEMS_MAX * PREFIX_ITEM_SIZE];
	const struct prefix_known *known;
	uint32_t look = 0, fields = 0;

	make_items(items, 10, PREFIX_ITEMS_MAX);
	prefix_learn(&table, &shared, 1, 7, items, 0, 3);
	prefix_learn(&table, &shared, 1, 7, items, 3, PREFIX_ITEMS_MAX);
	known = prefix_known(&table, prefix_slot(&table, 7));
	for (uint32_t i = 0; i < PREFIX_ITEMS_MAX; i++) {
		look += DATA_PAYLOAD_REGULAR + 10 + i;
		fields += i % 2 == 0;
		cr_expect(eq(u32, known->sums[i].look, look));
		cr_expect(eq(u8, known->sums[i].fields, (uint8_t)fields));
		cr_expect(eq(u32, known->sums[i].keep,
			     fields * (3 + (uint32_t)sizeof(struct output_field))));
	}
	for (uint32_t i = 0; i < fields; i++) {
		cr_expect(eq(u64, fields_of(7)[i].size, 3));
		cr_expect(fields_of(7)[i].bytes ==
			  shared_find(&shared, shared_key(1, (10 + 2 * i) * 8))->bytes);
	}
}

Test(prefix, what_is_longer_or_another_entrys_is_better)
{
	uint8_t items[20 * PREFIX_ITEM_SIZE];
	struct prefix *p;

	make_items(items, 10, 20);
	cr_expect(not(prefix_is_better(NULL, 7, 0, 1)), "one item alone is not worth a slot");
	cr_expect(prefix_is_better(NULL, 7, 0, 2));
	prefix_learn(&table, &shared, 1, 7, items, 0, 10);
	p = prefix_slot(&table, 7);
	cr_expect(prefix_is_better(p, 8, 0, 2), "another key");
	cr_expect(prefix_is_better(p, 7, 10, 11), "longer");
	cr_expect(not(prefix_is_better(p, 7, 8, 10)), "no longer");
	cr_expect(prefix_is_better(p, 7, 4, 6), "of what is kept less than half is the same");
	cr_expect(not(prefix_is_better(p, 7, 4, 4)), "nothing new is known");
}

Test(prefix, what_is_found_often_is_not_replaced_at_once)
{
	uint8_t items[20 * PREFIX_ITEM_SIZE];
	struct prefix *p;

	make_items(items, 10, 20);
	prefix_learn(&table, &shared, 1, 7, items, 0, 10);
	p = prefix_slot(&table, 7);
	prefix_note_found(p, 9);
	cr_expect(prefix_is_better(p, 7, 9, 11), "it was found in part only");
	for (unsigned i = 0; i < 3 * PREFIX_WORTH_MAX; i++)
		prefix_note_found(p, 10);
	for (unsigned i = 0; i < PREFIX_WORTH_MAX; i++)
		cr_expect(not(prefix_is_better(p, 7, 9, 11)));
	cr_expect(prefix_is_better(p, 7, 9, 11));
}

Test(prefix, the_lead_goes_as_far_as_fields_are_text)
{
	uint8_t items[12 * PREFIX_ITEM_SIZE];
	const struct prefix *p;
	struct output_lead lead;

	make_items(items, 990, 12);
	prefix_learn(&table, &shared, 1, 7, items, 0, 4);
	prefix_learn(&table, &shared, 1, 7, items, 4, 12);
	p = prefix_slot(&table, 7);
	lead = prefix_lead(&table, p, &prefix_known(&table, p)->sums[6]);
	cr_expect(eq(u32, lead.fields, 4));
	cr_expect(eq(u32, lead.size, 16));
	cr_expect(memcmp(lead.bytes, "A=b\nA=b\nA=b\nA=b\n", 16) == 0);
	lead = prefix_lead(&table, p, &prefix_known(&table, p)->sums[11]);
	cr_expect(eq(u8, prefix_known(&table, p)->sums[11].fields, 6));
	cr_expect(eq(u32, lead.fields, 5), "the field at 1000 is not");
}

Test(prefix, a_cleared_table_finds_nothing_until_it_learns_again)
{
	uint8_t items[4 * PREFIX_ITEM_SIZE];

	make_items(items, 10, 4);
	prefix_learn(&table, &shared, 1, 7, items, 0, 4);
	prefix_clear(&table);
	cr_expect(eq(u32, match(7, items, 4), 0));
	prefix_learn(&table, &shared, 1, 7, items, 0, 4);
	cr_expect(eq(u32, match(7, items, 4), 4));
}

Test(prefix, the_table_grows_within_its_limit_while_too_much_is_replaced)
{
	uint8_t items[4 * PREFIX_ITEM_SIZE];
	size_t mask;

	make_items(items, 10, 4);
	prefix_learn(&table, &shared, 1, 1, items, 0, 4);
	mask = table.mask;
	for (uint64_t key = 1; key < 20 * mask; key++)
		prefix_learn(&table, &shared, 1, key, items, 0, 4);
	cr_expect(gt(u64, table.mask, mask));
	cr_expect(le(u64, (table.mask + 1) * sizeof(struct prefix), 64 << 20));

	prefix_done(&table);
	prefix_init(&table, 1000, false);
	prefix_learn(&table, &shared, 1, 7, items, 0, 4);
	cr_expect(eq(u32, match(7, items, 4), 0), "too little for a table");

	prefix_done(&table);
	prefix_init(&table, 1 << 20, false);
	for (uint64_t key = 1; key < 100000; key++)
		prefix_learn(&table, &shared, 1, key, items, 0, 4);
	cr_expect(le(u64, (table.mask + 1) * (sizeof(struct prefix) + sizeof(struct prefix_known)),
		     1 << 20));
}
