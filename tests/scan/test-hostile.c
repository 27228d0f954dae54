/* SPDX-License-Identifier: MIT */
/* Files made to cost time or memory: what they claim is bounded, said, and does no harm. */
#include "tests/scan/harness.h"

#include "tests/support/fixture.h"

#define ENTRIES 1000u

static struct {
	unsigned count;
	unsigned reasons; /* a bit each */
} problems;

static void take_problem(void *userdata, const struct jscan_problem *problem)
{
	(void)userdata;
	problems.count++;
	problems.reasons |= 1u << problem->reason;
}

FOLDER_SUITE(hostile, test_folder_make);

/* A valid file to be made hostile. */
static struct fixture *make_file(bool compact)
{
	struct fixture *fx = fixture_new(&(const struct fixture_options){
		.compact = compact, .data_buckets = 1021, .state = JOURNAL_STATE_ARCHIVED });

	for (unsigned i = 0; i < ENTRIES; i++) {
		char message[40], other[40];

		snprintf(message, sizeof(message), "MESSAGE=%u", i);
		snprintf(other, sizeof(other), "OTHER=%u", i % 50);
		fixture_add(fx, NULL, message, other, "SAME=1", NULL);
	}
	fixture_finish(fx);
	return fx;
}

/* Scans the file, with the smallest budget. Returns how many entries it yields. */
static unsigned scan(const struct fixture *fx, enum jscan_direction direction, uint32_t plan,
		     const char *match)
{
	struct jscan_options options = JSCAN_OPTIONS_INIT;
	struct jscan_stats stats = { .size = sizeof(stats) };
	char *path = test_path(folder, "hostile.journal");
	const struct jscan_entry *entry;
	struct jscan *engine;
	unsigned count = 0;
	int r;

	fixture_write(fx, path);
	problems.count = problems.reasons = 0;
	options.memory_bytes = 4 << 20;
	options.plan = plan;
	options.io = JSCAN_IO_SYNC;
	cr_assert(eq(int, jscan_new(&options, &engine), 0));
	jscan_set_problem_handler(engine, take_problem, NULL);
	jscan_add_file(engine, path, JSCAN_ADD_LITERAL);
	jscan_set_direction(engine, direction);
	if (match)
		cr_assert(eq(int, jscan_match(engine, match, strlen(match)), 0));
	while ((r = jscan_next(engine, &entry)) == 1)
		count++;
	cr_assert(eq(int, r, 0));
	jscan_get_stats(engine, &stats);
	cr_expect(le(u64, stats.memory_peak_bytes, 4 << 20));
	jscan_free(engine);
	free(path);
	return count;
}

/* Lets an entry claim everything up to the end of the file as its items. */
static void claim_rest(struct fixture *fx, unsigned i, bool compact)
{
	uint64_t offset = fixture_find_entry(fx, i), item = compact ? 4 : 16;
	uint64_t items = (fixture_end(fx) - offset - ENTRY_ITEMS) / item;

	fixture_put64(fx, offset + OBJECT_SIZE, ENTRY_ITEMS + items * item);
}

Test(hostile, entries_that_all_claim_the_rest_of_the_file_are_given_up)
{
	for (int compact = 0; compact < 2; compact++) {
		struct fixture *fx = make_file(compact);

		for (unsigned i = 0; i < ENTRIES; i++)
			claim_rest(fx, i, compact);
		for (int n = 0; n < 4; n++) {
			unsigned count = scan(fx, n % 2 ? JSCAN_BACKWARD : JSCAN_FORWARD,
					      n / 2 ? JSCAN_PLAN_SCAN : JSCAN_PLAN_AUTO,
					      n / 2 ? "NO=thing" : NULL);

			if (n == 2 || n == 3)
				cr_expect(eq(u32, count, 0));
			else
				cr_expect(lt(u32, count, 200));
			cr_expect(ne(u32, problems.reasons & 1u << JSCAN_REASON_LIMIT, 0));
		}
		fixture_free(fx);
	}
}

Test(hostile, a_few_damaged_sizes_cost_no_other_entry)
{
	struct fixture *fx = make_file(false);

	for (unsigned i = 100; i < 105; i++)
		claim_rest(fx, i, false);
	cr_expect(eq(u32, scan(fx, JSCAN_FORWARD, JSCAN_PLAN_AUTO, NULL), ENTRIES));
	cr_expect(gt(u32, problems.count, 0));
	cr_expect(eq(u32, scan(fx, JSCAN_BACKWARD, JSCAN_PLAN_AUTO, NULL), ENTRIES));
	fixture_free(fx);
}

Test(hostile, an_entry_that_is_listed_again_and_again_comes_once)
{
	struct fixture *fx = make_file(false);
	uint64_t first = fixture_find_entry(fx, 0), last = fixture_find_entry(fx, ENTRIES - 1);

	for (unsigned a = 1; fixture_find_array(fx, a); a++) {
		uint64_t array = fixture_find_array(fx, a);
		uint64_t items = (fixture_get64(fx, array + OBJECT_SIZE) - ENTRY_ARRAY_ITEMS) / 8;

		for (uint64_t i = 0; i < items; i++)
			fixture_put_item(fx, fixture_find_item(fx, array, i), i % 2 ? first : last);
	}
	cr_expect(eq(u32, scan(fx, JSCAN_FORWARD, JSCAN_PLAN_AUTO, NULL), 5));
	cr_expect(ne(u32, problems.reasons & 1u << JSCAN_REASON_CHAIN, 0));
	cr_expect(le(u32, scan(fx, JSCAN_BACKWARD, JSCAN_PLAN_AUTO, NULL), 6));
	fixture_free(fx);
}

Test(hostile, counts_that_no_file_can_hold_end_where_the_chain_ends)
{
	static const uint64_t counts[] = { UINT64_MAX, UINT64_C(1) << 60, ENTRIES + 1,
					   ENTRIES + 2 };

	for (size_t i = 0; i < sizeof(counts) / sizeof(counts[0]); i++) {
		struct fixture *fx = make_file(i % 2);

		/* More entries than objects: the header is not believed. */
		fixture_put64(fx, HEADER_N_ENTRIES, counts[i]);
		if (counts[i] > 2 * ENTRIES) {
			cr_expect(eq(u32, scan(fx, JSCAN_FORWARD, JSCAN_PLAN_AUTO, NULL), 0));
			fixture_put64(fx, HEADER_N_ENTRIES, 2 * ENTRIES);
		}
		cr_expect(eq(u32, scan(fx, JSCAN_FORWARD, JSCAN_PLAN_AUTO, NULL), ENTRIES));
		cr_expect(eq(u32, scan(fx, JSCAN_BACKWARD, JSCAN_PLAN_AUTO, NULL), ENTRIES));
		fixture_put64(fx, fixture_find_text(fx, "SAME=1") + DATA_N_ENTRIES, counts[i]);
		cr_expect(eq(u32, scan(fx, JSCAN_FORWARD, JSCAN_PLAN_AUTO, "SAME=1"), ENTRIES));
		cr_expect(eq(u32, scan(fx, JSCAN_BACKWARD, JSCAN_PLAN_AUTO, "SAME=1"), ENTRIES));
		fixture_free(fx);
	}
}

Test(hostile, arrays_that_lead_back_end_the_chain)
{
	struct fixture *fx = make_file(false);
	uint64_t first = fixture_find_array(fx, 0), second = fixture_find_array(fx, 1);

	fixture_put64(fx, second + ENTRY_ARRAY_NEXT, first);
	cr_expect(eq(u32, scan(fx, JSCAN_FORWARD, JSCAN_PLAN_AUTO, NULL), 4));
	cr_expect(ne(u32, problems.reasons & 1u << JSCAN_REASON_CHAIN, 0));
	cr_expect(le(u32, scan(fx, JSCAN_BACKWARD, JSCAN_PLAN_AUTO, NULL), 12));
	fixture_free(fx);
}

Test(hostile, a_field_that_swells_when_decompressed_is_left_out)
{
	struct fixture *fx = fixture_new(&(const struct fixture_options){
		.compression = OBJECT_ZSTD });
	size_t size = 64 << 20;
	char *bomb = calloc(1, size);
	struct fixture_field fields[2] = { { bomb, size }, { "MESSAGE=after it", 16 } };

	memcpy(bomb, "BOMB=", 5);
	for (unsigned i = 0; i < 30; i++)
		fixture_entry(fx, NULL, fields, 2);
	fixture_finish(fx);
	cr_assert(lt(sz, fixture_size(fx), 1 << 20));
	cr_expect(eq(u32, scan(fx, JSCAN_FORWARD, JSCAN_PLAN_AUTO, NULL), 30));
	cr_expect(ne(u32, problems.reasons & 1u << JSCAN_REASON_LIMIT, 0));
	cr_expect(eq(u32, scan(fx, JSCAN_FORWARD, JSCAN_PLAN_AUTO, "MESSAGE=after it"), 30));
	fixture_free(fx);
	free(bomb);
}

Test(hostile, an_entry_of_more_items_than_memory_allows_is_cut)
{
	struct fixture *fx = fixture_new(&(const struct fixture_options){ .compact = true });
	size_t count = 1000000;
	struct fixture_field *fields = calloc(count, sizeof(*fields));
	struct fixture_stamp stamp = { .keep_order = true };

	for (size_t i = 0; i < count; i++)
		fields[i] = (struct fixture_field){ "A=1", 3 };
	fixture_entry(fx, &stamp, fields, count);
	fixture_add(fx, NULL, "MESSAGE=next", NULL);
	fixture_finish(fx);
	cr_expect(eq(u32, scan(fx, JSCAN_FORWARD, JSCAN_PLAN_AUTO, NULL), 2));
	cr_expect(ne(u32, problems.reasons & 1u << JSCAN_REASON_LIMIT, 0));
	cr_expect(eq(u32, scan(fx, JSCAN_BACKWARD, JSCAN_PLAN_SCAN, "MESSAGE=next"), 1));
	fixture_free(fx);
	free(fields);
}

Test(hostile, a_hash_chain_over_all_data_objects_is_followed_once)
{
	struct fixture *fx = fixture_new(&(const struct fixture_options){ .data_buckets = 1 });
	char text[3000];

	/* Longer than the budget, each link in another block. */
	memset(text, 'x', sizeof(text));
	for (unsigned i = 0; i < 3000; i++) {
		struct fixture_field field = { text, sizeof(text) };

		memcpy(text, "F=      ", 8);
		text[2 + snprintf(text + 2, 6, "%u", i)] = ' ';
		fixture_entry(fx, NULL, &field, 1);
	}
	fixture_add(fx, NULL, "LAST=1", NULL);
	fixture_finish(fx);
	cr_assert(gt(sz, fixture_size(fx), 8 << 20));
	cr_expect(eq(u32, scan(fx, JSCAN_FORWARD, JSCAN_PLAN_AUTO, "LAST=1"), 1));
	cr_expect(eq(u32, scan(fx, JSCAN_FORWARD, JSCAN_PLAN_AUTO, "LAST=2"), 0));
	fixture_free(fx);
}
