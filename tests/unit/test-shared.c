/* SPDX-License-Identifier: MIT */
/* The table of shared data objects. */
#include <criterion/criterion.h>
#include <criterion/new/assert.h>
#include <stdio.h>
#include <stdlib.h>

#include "engine/shared.h"

static struct shared table;

static void teardown(void)
{
	shared_done(&table);
}

TestSuite(shared, .fini = teardown, .timeout = 30);

/* Adds an object whose payload tells its number. */
static const struct shared_item *add(uint64_t number)
{
	char text[64];
	int size = snprintf(text, sizeof(text), "FIELD=%lu", number);
	const struct shared_item item = {
		.key = shared_key(1, number * 8), .bytes = (const uint8_t *)text,
		.size = (uint32_t)size, .stored_size = 9, .name_size = 5, .traits = 3 };

	return shared_add(&table, &item);
}

/* Whether the object of a number is there, and is what was added. */
static bool is_there(uint64_t number)
{
	const struct shared_item *item = shared_find(&table, shared_key(1, number * 8));
	char text[64];
	int size = snprintf(text, sizeof(text), "FIELD=%lu", number);

	if (!item)
		return false;
	cr_assert(eq(u32, item->size, (uint32_t)size));
	cr_assert(memcmp(item->bytes, text, item->size) == 0);
	cr_assert(eq(u32, item->stored_size, 9));
	cr_assert(eq(u32, item->traits, 3));
	return true;
}

Test(shared, a_key_tells_files_and_offsets_apart)
{
	cr_expect(ne(u64, shared_key(1, 8), shared_key(2, 8)));
	cr_expect(ne(u64, shared_key(1, 8), shared_key(1, 16)));
	cr_expect(eq(u64, shared_key(0, 8), 0), "file 0 is no file");
	cr_expect(eq(u64, shared_key(1, UINT64_C(1) << 43), 0), "too far into a file");
	cr_expect(eq(u64, shared_key(1 << 24, 8), 0), "too many files");
	cr_expect(eq(u64, shared_key(1, 9), 0), "no object begins there");
}

Test(shared, what_was_added_is_found_with_slack_behind_it)
{
	shared_init(&table, 1 << 20);
	cr_assert(not(is_there(7)));
	cr_assert(ne(ptr, (void *)add(7), NULL));
	cr_expect(is_there(7));
	for (unsigned i = 0; i < SHARED_SLACK; i++)
		cr_expect(eq(u8, shared_find(&table, shared_key(1, 56))->bytes[7 + i], 0));
	cr_expect(not(is_there(8)));
}

Test(shared, an_object_that_nobody_wants_has_no_payload)
{
	const struct shared_item item = { .key = shared_key(3, 64), .stored_size = 5 };

	shared_init(&table, 1 << 20);
	cr_assert(ne(ptr, (void *)shared_add(&table, &item), NULL));
	cr_expect(eq(ptr, (void *)shared_find(&table, item.key)->bytes, NULL));
}

Test(shared, a_table_without_room_keeps_nothing)
{
	shared_init(&table, 0);
	cr_expect(eq(ptr, (void *)add(1), NULL));
	shared_turn(&table, 1);
	cr_expect(not(is_there(1)));
}

Test(shared, it_grows_to_its_bound_and_no_further)
{
	uint64_t count = 0, turns = 0;

	shared_init(&table, 2 << 20);
	while (turns < 50) {
		shared_turn(&table, 1);
		while (add(count))
			count++;
		cr_assert(table.full);
		cr_assert(le(u64, table.young.bytes, 1 << 20));
		cr_assert(le(u64, table.old.bytes, 1 << 20));
		turns++;
	}
	/* All that is in the young half, and in the old one, is still found. */
	cr_expect(gt(u64, count, 50000));
	for (uint64_t i = 1; i <= 10000; i++)
		cr_assert(is_there(count - i));
	cr_expect(not(is_there(0)));
}

Test(shared, what_is_used_stays)
{
	shared_init(&table, 1 << 20);
	cr_assert(ne(ptr, (void *)add(0), NULL));
	for (uint64_t i = 1; i < 100000; i++) {
		shared_turn(&table, 1000);
		add(i);
		cr_assert(is_there(0), "after %lu", i);
	}
}

Test(shared, halves_stay_small_while_little_is_new)
{
	shared_init(&table, 64 << 20);
	for (uint64_t i = 0; i < 100000; i++) {
		shared_turn(&table, 1000);
		add(i);
	}
	cr_expect(lt(u64, table.young.bytes + table.old.bytes, 1 << 20));
	for (uint64_t i = 100000; i < 200000; i++) {
		shared_turn(&table, 10);
		add(i);
	}
	cr_expect(gt(u64, table.young.bytes + table.old.bytes, 2 << 20));
}
