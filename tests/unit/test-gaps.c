/* SPDX-License-Identifier: MIT */
/* What is told of archives that lack something, and that nothing is told of those that do not. */
#include <criterion/criterion.h>
#include <criterion/new/assert.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "engine/engine.h"
#include "tests/support/fixture.h"
#include "tests/support/io-methods.h"

#define FILES_MAX 8
#define T0 UINT64_C(1700000000000000)
#define SECOND UINT64_C(1000000)
#define FOUND_MAX 1000

static const struct id128 boot = { { 0xb0 } }, other_boot = { { 0xb1 } };
static char *folder;
static struct jscan *engine;
static struct fixture *files[FILES_MAX];
static unsigned file_count;
static struct jscan_gap found[FOUND_MAX];
static unsigned found_count;

static void setup(void)
{
	folder = test_folder_make();
	cr_assert(eq(int, jscan_new(NULL, &engine), 0));
}

static void teardown(void)
{
	jscan_free(engine);
	for (unsigned i = 0; i < file_count; i++)
		fixture_free(files[i]);
	folder = test_folder_remove(folder);
}

TestSuite(gaps, .init = setup, .fini = teardown, .timeout = 60);

/* Another file, of the ID that begins with a byte. */
static struct fixture *file(uint8_t id, uint8_t state)
{
	struct fixture_options options = { .state = state, .seqnum_id = { { id } } };

	options.file_id.bytes[0] = (uint8_t)(file_count + 1);
	cr_assert(lt(u32, file_count, FILES_MAX));
	return files[file_count++] = fixture_new(&options);
}

/* An entry with this number, logged at this second; clocks agree. */
static void entry(struct fixture *fx, uint64_t seqnum, uint64_t second)
{
	struct fixture_stamp stamp = { .seqnum = seqnum, .realtime = T0 + second * SECOND,
				       .monotonic = (second + 1) * SECOND, .boot_id = boot };

	fixture_add(fx, &stamp, "MESSAGE=x", NULL);
}

static int take(void *userdata, const struct jscan_gap *gap)
{
	(void)userdata;
	cr_assert(lt(u32, found_count, FOUND_MAX));
	found[found_count++] = *gap;
	return 0;
}

/* Writes the files and lists the gaps. */
static void list(uint32_t kinds)
{
	struct jscan_gaps_options options = JSCAN_GAPS_OPTIONS_INIT;

	for (unsigned i = 0; i < file_count; i++) {
		char name[30], *path;

		snprintf(name, sizeof(name), "%u.journal", i);
		path = test_path(folder, name);
		fixture_finish(files[i]);
		fixture_write(files[i], path);
		cr_assert(eq(int, jscan_add_file(engine, path, JSCAN_ADD_LITERAL), 0));
		free(path);
	}
	options.kinds = kinds;
	cr_assert(eq(int, jscan_list_gaps(engine, &options, take, NULL), 0));
}

/* That finding I is one of missing numbers. */
static void expect_missing(unsigned i, uint64_t first, uint64_t last)
{
	cr_assert(lt(u32, i, found_count));
	cr_expect(eq(u32, found[i].kind, JSCAN_GAPS_MISSING));
	cr_expect(eq(u64, found[i].first_seqnum, first));
	cr_expect(eq(u64, found[i].last_seqnum, last));
	cr_expect(eq(u64, found[i].count, last - first + 1));
}

Test(gaps, files_that_interleave_fill_each_others_holes)
{
	struct fixture *a = file(1, JOURNAL_STATE_ARCHIVED), *b = file(1, JOURNAL_STATE_ARCHIVED);

	for (uint64_t i = 1; i <= 500; i++)
		entry(i % 7 < 3 ? a : b, i, i);
	list(0);
	cr_expect(eq(u32, found_count, 0));
}

Test(gaps, missing_numbers_are_told_with_what_is_around_them)
{
	struct fixture *a = file(1, JOURNAL_STATE_ARCHIVED), *b = file(1, JOURNAL_STATE_ARCHIVED);

	for (uint64_t i = 5; i <= 20; i++)
		if (i != 9 && i != 13 && i != 14)
			entry(i % 2 ? a : b, i, i);
	entry(b, 31, 31);
	list(0);
	cr_assert(eq(u32, found_count, 4));
	expect_missing(0, 1, 4);
	cr_expect(eq(u64, found[0].before_usec, 0));
	cr_expect(eq(ptr, (void *)found[0].previous_path, NULL));
	cr_expect(eq(u64, found[0].after_usec, T0 + 5 * SECOND));
	expect_missing(1, 9, 9);
	cr_expect(eq(u64, found[1].before_usec, T0 + 8 * SECOND));
	cr_expect(eq(u64, found[1].after_usec, T0 + 10 * SECOND));
	cr_expect(eq(int, memcmp(found[1].boot_id.bytes, boot.bytes, 16), 0));
	cr_expect(ne(ptr, strstr(found[1].path, "1.journal"), NULL));
	cr_expect(ne(ptr, strstr(found[1].previous_path, "1.journal"), NULL));
	cr_expect(gt(u64, found[1].offset, found[1].previous_offset));
	expect_missing(2, 13, 14);
	expect_missing(3, 21, 30);
}

Test(gaps, each_id_has_numbers_of_its_own)
{
	struct fixture *a = file(1, JOURNAL_STATE_ARCHIVED), *b = file(2, JOURNAL_STATE_ARCHIVED);

	for (uint64_t i = 1; i <= 20; i++) {
		if (i != 4)
			entry(a, i, i);
		if (i != 6)
			entry(b, i, i);
	}
	list(0);
	cr_assert(eq(u32, found_count, 2));
	expect_missing(0, 4, 4);
	cr_expect(eq(int, found[0].seqnum_id.bytes[0], 1));
	expect_missing(1, 6, 6);
	cr_expect(eq(int, found[1].seqnum_id.bytes[0], 2));
}

Test(gaps, headers_alone_tell_where_they_count_all)
{
	struct fixture *a = file(1, JOURNAL_STATE_ARCHIVED), *b = file(1, JOURNAL_STATE_ARCHIVED);
	struct fixture *c = file(1, JOURNAL_STATE_ARCHIVED);
	struct jscan_stats stats = { .size = sizeof(stats) };

	for (uint64_t i = 1; i <= 1000; i++)
		entry(a, i, i);
	for (uint64_t i = 1010; i <= 2000; i++)
		entry(b, i, i);
	entry(c, 1003, 1003);
	entry(c, 1004, 1004);
	entry(c, 2001, 2001); /* this one has holes and is read */
	list(JSCAN_GAPS_MISSING);
	cr_assert(eq(u32, found_count, 2));
	expect_missing(0, 1001, 1002);
	expect_missing(1, 1005, 1009);
	cr_expect(eq(u64, found[1].before_usec, T0 + 1004 * SECOND));
	cr_expect(eq(u64, found[1].after_usec, T0 + 1010 * SECOND));
	cr_assert(eq(int, jscan_get_stats(engine, &stats), 0));
	cr_expect(lt(u64, stats.bytes_read, fixture_size(a)));
}

Test(gaps, what_random_removal_takes_away_is_told_exactly)
{
	static bool there[602];
	uint32_t x = 99;
	unsigned at = 0;
	struct fixture *fx[3] = { file(1, JOURNAL_STATE_ARCHIVED), file(1, JOURNAL_STATE_ARCHIVED),
				  file(1, JOURNAL_STATE_ARCHIVED) };

	for (unsigned i = 1; i <= 600; i++) {
		x = x * 1103515245u + 12345;
		there[i] = i == 600 || (x >> 20) % 3;
		if (there[i])
			entry(fx[(x >> 9) % 3], i, i);
		if (there[i] && (x >> 25) % 5 == 0) /* a copy */
			entry(fx[((x >> 9) + 1) % 3], i, i);
	}
	list(0);
	for (unsigned i = 1, first; i <= 600; i++) {
		if (there[i])
			continue;
		for (first = i; !there[i + 1]; i++)
			;
		expect_missing(at++, first, i);
	}
	cr_expect(eq(u32, found_count, at));
	cr_expect(gt(u32, at, 50));
}

Test(gaps, steps_of_the_clock_within_a_boot_are_told)
{
	struct fixture *a = file(1, JOURNAL_STATE_ARCHIVED), *b = file(1, JOURNAL_STATE_ARCHIVED);
	struct fixture_stamp stamp = { .monotonic = SECOND, .realtime = T0, .boot_id = boot };
	/* What realtime does while the monotonic clock takes a second. */
	static const int64_t msec[] = { 1000, 1900, 100, 2000, 1000, -1, 1000, 500000, 1000 };
	static const int64_t told[] = { 0, 0, 0, 1000000, 0, -1001000, 0, 499000000, 0 };
	unsigned at = 0;

	stamp.seqnum = 1;
	fixture_add(a, &stamp, "MESSAGE=x", NULL);
	for (unsigned i = 0; i < sizeof(msec) / sizeof(msec[0]); i++) {
		stamp.seqnum++;
		stamp.monotonic += SECOND;
		stamp.realtime += (uint64_t)(msec[i] * 1000);
		fixture_add(i % 2 ? a : b, &stamp, "MESSAGE=x", NULL);
	}
	stamp.seqnum++; /* another boot's clocks are its own */
	stamp.boot_id = other_boot;
	stamp.monotonic = 5;
	stamp.realtime = T0 - 50 * SECOND;
	fixture_add(a, &stamp, "MESSAGE=x", NULL);
	list(0);
	for (unsigned i = 0; i < sizeof(told) / sizeof(told[0]); i++) {
		if (!told[i])
			continue;
		cr_assert(lt(u32, at, found_count));
		cr_expect(eq(u32, found[at].kind, JSCAN_GAPS_CLOCK_STEP));
		cr_expect(eq(i64, found[at].step_usec, told[i]));
		cr_expect(eq(u64, found[at].first_seqnum, i + 1));
		cr_expect(eq(u64, found[at].last_seqnum, i + 2));
		at++;
	}
	cr_expect(eq(u32, found_count, at));
}

Test(gaps, files_that_were_not_closed_are_told_first)
{
	struct fixture *a = file(1, JOURNAL_STATE_ARCHIVED), *b = file(1, JOURNAL_STATE_ONLINE);

	entry(a, 1, 1);
	entry(b, 3, 3);
	list(0);
	cr_assert(eq(u32, found_count, 2));
	cr_expect(eq(u32, found[0].kind, JSCAN_GAPS_NOT_CLOSED));
	cr_expect(ne(ptr, strstr(found[0].path, "1.journal"), NULL));
	cr_expect(eq(u64, found[0].count, 1));
	cr_expect(eq(u64, found[0].first_seqnum, 3));
	expect_missing(1, 2, 2);
}

Test(gaps, a_header_that_counts_otherwise_is_told)
{
	struct fixture *a = file(1, JOURNAL_STATE_ARCHIVED);
	char *path = test_path(folder, "a.journal");

	for (uint64_t i = 1; i <= 50; i++)
		entry(a, i, i);
	fixture_finish(a);
	fixture_put64(a, HEADER_TAIL_ENTRY_SEQNUM, 60);
	fixture_write(a, path);
	cr_assert(eq(int, jscan_add_file(engine, path, 0), 0));
	cr_assert(eq(int, jscan_list_gaps(engine, NULL, take, NULL), 0));
	cr_assert(eq(u32, found_count, 2));
	cr_expect(eq(u32, found[0].kind, JSCAN_GAPS_HEADER));
	cr_expect(eq(u64, found[0].last_seqnum, 50));
	cr_expect(eq(u64, found[0].count, 50));
	expect_missing(1, 51, 60);
	cr_expect(eq(u64, found[1].before_usec, T0 + 50 * SECOND));
	cr_expect(eq(u64, found[1].after_usec, 0));
	free(path);
}

Test(gaps, an_entry_that_cannot_be_read_is_missing)
{
	struct fixture *a = file(1, JOURNAL_STATE_ARCHIVED);
	char *path = test_path(folder, "a.journal");

	for (uint64_t i = 1; i <= 50; i++)
		entry(a, i, i);
	fixture_finish(a);
	fixture_put8(a, fixture_find_entry(a, 19), 99); /* its type */
	fixture_write(a, path);
	cr_assert(eq(int, jscan_add_file(engine, path, 0), 0));
	cr_assert(eq(int, jscan_list_gaps(engine, NULL, take, NULL), 0));
	cr_assert(eq(u32, found_count, 2));
	expect_missing(0, 20, 20);
	cr_expect(eq(u32, found[1].kind, JSCAN_GAPS_HEADER));
	cr_expect(eq(u64, found[1].count, 49));
	free(path);
}

static int stop(void *userdata, const struct jscan_gap *gap)
{
	(void)gap;
	return *(int *)userdata;
}

Test(gaps, the_position_of_reading_stays_and_answers_are_passed_on)
{
	const struct jscan_entry *next;
	struct fixture *a = file(1, JOURNAL_STATE_ARCHIVED);
	struct jscan_gaps_options options = { .size = sizeof(options), .kinds = 64 };
	struct {
		struct jscan_gaps_options options;
		uint64_t more;
	} longer = { .options.size = sizeof(longer) };
	char *path = test_path(folder, "a.journal");
	int answer = 7;

	for (uint64_t i = 2; i <= 50; i++)
		entry(a, i, i);
	fixture_finish(a);
	fixture_write(a, path);
	cr_assert(eq(int, jscan_add_file(engine, path, 0), 0));
	cr_assert(eq(int, jscan_next(engine, &next), 1));
	cr_expect(eq(int, jscan_list_gaps(engine, NULL, stop, &answer), 7));
	answer = -ENOSPC;
	cr_expect(eq(int, jscan_list_gaps(engine, NULL, stop, &answer), -ENOSPC));
	cr_assert(eq(int, jscan_next(engine, &next), 1));
	cr_expect(eq(u64, jscan_entry_info(next)->seqnum, 3));
	cr_expect(eq(int, jscan_list_gaps(engine, &options, take, NULL), -EINVAL));
	cr_expect(eq(int, jscan_list_gaps(engine, NULL, NULL, NULL), -EINVAL));
	options.size = 1;
	cr_expect(eq(int, jscan_list_gaps(engine, &options, take, NULL), -EINVAL));
	cr_expect(eq(int, jscan_list_gaps(engine, &longer.options, stop, &answer), -ENOSPC));
	longer.more = 1;
	cr_expect(eq(int, jscan_list_gaps(engine, &longer.options, stop, &answer), -E2BIG));
	cr_expect(eq(int, jscan_list_gaps(NULL, NULL, take, NULL), -EINVAL));
	free(path);
}

Test(gaps, blocks_that_cannot_be_read_cost_their_entries)
{
	struct fixture *a = file(1, JOURNAL_STATE_ARCHIVED);
	static struct io_fault fault;
	uint64_t missing = 0, array;
	size_t at = 0;

	for (uint64_t i = 1; i <= 5000; i++)
		entry(a, i, i);
	fixture_finish(a);
	do /* one of several blocks */
		array = fixture_find_array(a, at++);
	while (fixture_get64(a, array + 8) < 3 * 4096);
	io_fault_init(&fault, 3);
	io_fault_add_file(&fault, "a", fixture_bytes(a), fixture_size(a));
	engine_set_io(engine, &io_method_fault, &fault);
	io_fault_fail(&fault, -1, (array + 4096) & ~UINT64_C(4095),
		      ((array + 4096) & ~UINT64_C(4095)) + 4096, -EIO, UINT_MAX);
	cr_assert(eq(int, jscan_add_file(engine, "a", JSCAN_ADD_LITERAL), 0));
	cr_assert(eq(int, jscan_list_gaps(engine, NULL, take, NULL), 0));
	cr_assert(gt(u32, found_count, 0));
	for (unsigned i = 0; i < found_count; i++)
		missing += found[i].kind == JSCAN_GAPS_MISSING ? found[i].count : 0;
	cr_expect(eq(u64, missing, 4096 / 8));
}
