/* SPDX-License-Identifier: MIT */
/* Whole scans through the public header: what is yielded, in which order, however it is driven. */
#include "tests/scan/harness.h"

#include <time.h>

FOLDER_SUITE(scan, archive_make);

/* Prepares an engine in some way. */
typedef void (*prepare_fn)(struct jscan *engine);

/* All ways of driving a scan that is prepared so yield the numbers FIRST to LAST. */
static void check(uint32_t method, prepare_fn prepare, unsigned first, unsigned last,
		  unsigned count)
{
	for (enum drive how = 0; how < DRIVE_COUNT; how++) {
		struct jscan *engine = archive_open(folder, method);
		char what[60];

		if (prepare)
			prepare(engine);
		snprintf(what, sizeof(what), "method %u, driven %d", method, (int)how);
		expect_texts(collect(engine, how), numbers(first, last, count), what);
		jscan_free(engine);
	}
}

METHOD_TEST(scan, everything_comes_oldest_first)
{
	check(*method, NULL, 0, ARCHIVE_LAST, ARCHIVE_ENTRIES);
}

static void backward(struct jscan *engine)
{
	cr_assert(eq(int, jscan_set_direction(engine, JSCAN_BACKWARD), 0));
}

METHOD_TEST(scan, backward_is_the_mirror)
{
	check(*method, backward, ARCHIVE_LAST, 0, ARCHIVE_ENTRIES);
}

static void limit_7(struct jscan *engine)
{
	cr_assert(eq(int, jscan_set_limit(engine, 7), 0));
}

static void limit_0(struct jscan *engine)
{
	cr_assert(eq(int, jscan_set_limit(engine, 0), 0));
}

static void limit_5_backward(struct jscan *engine)
{
	backward(engine);
	cr_assert(eq(int, jscan_set_limit(engine, 5), 0));
}

METHOD_TEST(scan, limits_end_a_scan_early)
{
	check(*method, limit_7, 0, 6, 7);
	check(*method, limit_0, 0, 0, 0);
	check(*method, limit_5_backward, ARCHIVE_LAST, ARCHIVE_LAST - 4, 5);
}

static void tail_10(struct jscan *engine)
{
	cr_assert(eq(int, jscan_set_tail(engine, 10), 0));
}

static void tail_0(struct jscan *engine)
{
	cr_assert(eq(int, jscan_set_tail(engine, 0), 0));
}

static void tail_1000(struct jscan *engine)
{
	cr_assert(eq(int, jscan_set_tail(engine, 1000), 0));
}

METHOD_TEST(scan, tails_are_read_forward)
{
	check(*method, tail_10, ARCHIVE_LAST - 9, ARCHIVE_LAST, 10);
	check(*method, tail_0, 0, 0, 0);
	check(*method, tail_1000, 0, ARCHIVE_LAST, ARCHIVE_ENTRIES);
}

static void bounds(struct jscan *engine)
{
	cr_assert(eq(int, jscan_set_bounds(engine, ARCHIVE_TIME(20), ARCHIVE_TIME(80)), 0));
}

static void bounds_backward(struct jscan *engine)
{
	bounds(engine);
	backward(engine);
}

static void bounds_tail(struct jscan *engine)
{
	bounds(engine);
	tail_10(engine);
}

static void bounds_long_tail(struct jscan *engine)
{
	bounds(engine);
	tail_1000(engine);
}

/* Between two entries on both sides. */
static void bounds_between(struct jscan *engine)
{
	cr_assert(eq(int, jscan_set_bounds(engine, ARCHIVE_TIME(20) + 1, ARCHIVE_TIME(80) - 1), 0));
}

static void bounds_empty(struct jscan *engine)
{
	cr_assert(eq(int, jscan_set_bounds(engine, ARCHIVE_TIME(80), ARCHIVE_TIME(20)), 0));
}

static void bounds_outside(struct jscan *engine)
{
	cr_assert(eq(int, jscan_set_bounds(engine, ARCHIVE_TIME(1000), UINT64_MAX), 0));
}

static void since_only_backward(struct jscan *engine)
{
	cr_assert(eq(int, jscan_set_bounds(engine, ARCHIVE_TIME(100), UINT64_MAX), 0));
	backward(engine);
}

METHOD_TEST(scan, bounds_are_inclusive_in_both_directions)
{
	check(*method, bounds, 20, 80, 61);
	check(*method, bounds_backward, 80, 20, 61);
	check(*method, bounds_tail, 71, 80, 10);
	check(*method, bounds_long_tail, 20, 80, 61);
	check(*method, bounds_between, 21, 79, 59);
	check(*method, bounds_empty, 0, 0, 0);
	check(*method, bounds_outside, 0, 0, 0);
	check(*method, since_only_backward, ARCHIVE_LAST, 100, 20);
}

/* Seeks, by what they are called with; read forward and backward. */
static struct {
	int (*seek)(struct jscan *engine, uint64_t value);
	uint64_t value;
	bool backward;
} now;

static int seek_head(struct jscan *engine, uint64_t value)
{
	(void)value;
	return jscan_seek_head(engine);
}

static int seek_tail(struct jscan *engine, uint64_t value)
{
	(void)value;
	return jscan_seek_tail(engine);
}

/* In the first boot. */
static int seek_monotonic_1(struct jscan *engine, uint64_t value)
{
	jscan_id boot = archive_boot_id(0);

	return jscan_seek_monotonic(engine, &boot, value);
}

static int seek_monotonic_2(struct jscan *engine, uint64_t value)
{
	jscan_id boot = archive_boot_id(ARCHIVE_LAST);

	return jscan_seek_monotonic(engine, &boot, value);
}

static int seek_seqnum(struct jscan *engine, uint64_t value)
{
	jscan_id id = archive_seqnum_id();

	return jscan_seek_seqnum(engine, &id, value);
}

static void seek_now(struct jscan *engine)
{
	if (now.backward)
		backward(engine);
	cr_assert(eq(int, now.seek(engine, now.value), 0));
}

METHOD_TEST(scan, seeks_go_where_they_say)
{
	const uint64_t s = ARCHIVE_SECOND;
	const struct {
		int (*seek)(struct jscan *engine, uint64_t value);
		uint64_t value;
		unsigned forward, backward; /* first entry; UINT_MAX: none */
	} cases[] = {
		{ seek_head, 0, 0, UINT_MAX },
		{ seek_tail, 0, UINT_MAX, ARCHIVE_LAST },
		{ jscan_seek_realtime, ARCHIVE_TIME(33), 33, 33 },
		{ jscan_seek_realtime, ARCHIVE_TIME(33) + 1, 34, 33 },
		{ jscan_seek_realtime, 1, 0, UINT_MAX },
		{ jscan_seek_realtime, ARCHIVE_TIME(5000), UINT_MAX, ARCHIVE_LAST },
		{ seek_seqnum, 34, 33, 33 },
		{ seek_seqnum, 1, 0, 0 },
		{ seek_seqnum, ARCHIVE_ENTRIES, ARCHIVE_LAST, ARCHIVE_LAST },
		{ seek_monotonic_1, 11 * s, 10, 10 },
		{ seek_monotonic_1, 11 * s + 1, 11, 10 },
		{ seek_monotonic_2, 1 * s, 60, 60 },
		{ seek_monotonic_2, 21 * s, 80, 80 },
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		unsigned first = cases[i].forward;

		now.seek = cases[i].seek;
		now.value = cases[i].value;
		now.backward = false;
		check(*method, seek_now, first, ARCHIVE_LAST,
		      first == UINT_MAX ? 0 : ARCHIVE_LAST - first + 1);
		first = cases[i].backward;
		now.backward = true;
		check(*method, seek_now, first, 0, first == UINT_MAX ? 0 : first + 1);
	}
}

/* The cursor of entry N. */
static void cursor_of(uint32_t method, unsigned n, char text[JSCAN_CURSOR_SIZE])
{
	struct jscan *engine = archive_open(folder, method);
	const struct jscan_entry *entry = NULL;

	for (unsigned i = 0; i <= n; i++)
		cr_assert(eq(int, jscan_next(engine, &entry), 1));
	jscan_entry_cursor(entry, text);
	cr_expect(eq(int, jscan_test_cursor(entry, text), 1));
	jscan_free(engine);
}

static char cursor_now[JSCAN_CURSOR_SIZE];

static void seek_cursor_now(struct jscan *engine)
{
	cr_assert(eq(int, jscan_seek_cursor(engine, cursor_now), 0));
}

static void seek_cursor_now_backward(struct jscan *engine)
{
	seek_cursor_now(engine);
	backward(engine);
}

METHOD_TEST(scan, cursors_lead_back_to_their_entry)
{
	static const unsigned entries[] = { 0, 1, 59, 60, 61, ARCHIVE_LAST };

	for (size_t i = 0; i < sizeof(entries) / sizeof(entries[0]); i++) {
		unsigned n = entries[i];

		cursor_of(*method, n, cursor_now);
		check(*method, seek_cursor_now, n, ARCHIVE_LAST, ARCHIVE_LAST - n + 1);
		check(*method, seek_cursor_now_backward, n, 0, n + 1);
	}
}

Test(scan, a_cursor_is_the_cursor_of_one_entry_only)
{
	struct jscan *engine = archive_open(folder, JSCAN_IO_SYNC);
	const struct jscan_entry *entry;
	char text[JSCAN_CURSOR_SIZE];
	unsigned n = 0;

	cursor_of(JSCAN_IO_SYNC, 40, text);
	for (; jscan_next(engine, &entry) == 1; n++)
		cr_expect(eq(int, jscan_test_cursor(entry, text), n == 40), "entry %u", n);
	cr_expect(eq(u32, n, ARCHIVE_ENTRIES));
	cr_assert(eq(int, jscan_seek_head(engine), 0));
	cr_assert(eq(int, jscan_next(engine, &entry), 1));
	cr_expect(eq(int, jscan_test_cursor(entry, "nonsense"), -EINVAL));
	cr_expect(eq(int, jscan_seek_cursor(engine, "nonsense"), -EINVAL));
	jscan_free(engine);
}

static void odd(struct jscan *engine)
{
	cr_assert(eq(int, jscan_match(engine, "PARITY=odd", 10), 0));
}

static void odd_backward(struct jscan *engine)
{
	odd(engine);
	backward(engine);
}

static void absent(struct jscan *engine)
{
	odd(engine);
	cr_assert(eq(int, jscan_match(engine, "EVERY=2", 7), 0));
}

/* Every fiftieth, or sevenths that are thirds too: 0 21 42 50 63 84 100 105 */
static void mixed(struct jscan *engine)
{
	cr_assert(eq(int, jscan_match(engine, "EVERY=50", 8), 0));
	cr_assert(eq(int, jscan_match_and(engine), 0));
	cr_assert(eq(int, jscan_match(engine, "PARITY=even", 11), 0));
	cr_assert(eq(int, jscan_match_or(engine), 0));
	cr_assert(eq(int, jscan_match(engine, "EVERY=7", 7), 0));
}

METHOD_TEST(scan, matches_select_entries)
{
	for (enum drive how = 0; how < DRIVE_COUNT; how++) {
		struct jscan *engine = archive_open(folder, *method);

		mixed(engine);
		expect_texts(collect(engine, how), strdup("0 50 100"), "mixed");
		jscan_free(engine);
		engine = archive_open(folder, *method);
		odd(engine);
		limit_7(engine);
		expect_texts(collect(engine, how), strdup("1 3 5 7 9 11 13"), "odd");
		jscan_free(engine);
		engine = archive_open(folder, *method);
		odd_backward(engine);
		bounds(engine);
		limit_7(engine);
		expect_texts(collect(engine, how), strdup("79 77 75 73 71 69 67"), "odd, backward");
		jscan_free(engine);
		engine = archive_open(folder, *method);
		odd(engine);
		jscan_set_tail(engine, 3);
		expect_texts(collect(engine, how), strdup("115 117 119"), "odd, tail");
		jscan_free(engine);
	}
	check(*method, absent, 0, 0, 0);
}

METHOD_TEST(scan, matches_can_be_flushed_and_set_anew)
{
	struct jscan *engine = archive_open(folder, *method);

	absent(engine);
	expect_texts(collect(engine, DRIVE_NEXT), strdup(""), "nothing");
	jscan_match_flush(engine);
	expect_texts(collect(engine, DRIVE_NEXT), numbers(0, ARCHIVE_LAST, ARCHIVE_ENTRIES),
		     "everything");
	mixed(engine);
	expect_texts(collect(engine, DRIVE_NEXT), strdup("0 50 100"), "a few");
	jscan_free(engine);
}

METHOD_TEST(scan, seeking_again_begins_again)
{
	struct jscan *engine = archive_open(folder, *method);
	const struct jscan_entry *entry;

	for (int i = 0; i < 10; i++)
		cr_assert(eq(int, jscan_next(engine, &entry), 1));
	cr_assert(eq(int, jscan_seek_realtime(engine, ARCHIVE_TIME(110)), 0));
	expect_texts(collect(engine, DRIVE_NEXT), numbers(110, ARCHIVE_LAST, 10), "after entries");
	cr_assert(eq(int, jscan_seek_realtime(engine, ARCHIVE_TIME(5)), 0));
	backward(engine);
	expect_texts(collect(engine, DRIVE_NEXT), numbers(5, 0, 6), "after the end, backward");
	cr_assert(eq(int, jscan_set_direction(engine, JSCAN_FORWARD), 0));
	cr_assert(eq(int, jscan_seek_head(engine), 0));
	expect_texts(collect(engine, DRIVE_NEXT), numbers(0, ARCHIVE_LAST, ARCHIVE_ENTRIES),
		     "forward");
	jscan_free(engine);
}

METHOD_TEST(scan, a_tail_can_be_asked_for_again)
{
	struct jscan *engine = archive_open(folder, *method);

	tail_10(engine);
	expect_texts(collect(engine, DRIVE_NEXT), numbers(ARCHIVE_LAST - 9, ARCHIVE_LAST, 10),
		     "the first time");
	cr_assert(eq(int, jscan_set_tail(engine, 4), 0));
	expect_texts(collect(engine, DRIVE_NEXT), numbers(ARCHIVE_LAST - 3, ARCHIVE_LAST, 4),
		     "the second time");
	jscan_free(engine);
}

METHOD_TEST(scan, counting_leaves_the_scan_as_it_is)
{
	struct jscan *engine = archive_open(folder, *method);
	uint64_t count;

	cr_assert(eq(int, jscan_count(engine, &count), 0));
	cr_expect(eq(u64, count, ARCHIVE_ENTRIES));
	tail_10(engine);
	cr_assert(eq(int, jscan_count(engine, &count), 0));
	cr_expect(eq(u64, count, 10));
	cr_assert(eq(int, jscan_count(engine, &count), 0));
	cr_expect(eq(u64, count, 10));
	expect_texts(collect(engine, DRIVE_NEXT), numbers(ARCHIVE_LAST - 9, ARCHIVE_LAST, 10),
		     "the tail");
	jscan_free(engine);
}

Test(scan, one_file_or_a_pattern_is_as_good_as_the_folder)
{
	struct jscan *engine;
	char *pattern = test_path(folder, "*.journal*"), *one = archive_path(folder, 1);

	cr_assert(eq(int, jscan_new(NULL, &engine), 0));
	cr_assert(eq(int, jscan_add_file(engine, pattern, 0), 0));
	cr_expect(eq(sz, jscan_files_added(engine), 3));
	expect_texts(collect(engine, DRIVE_NEXT), numbers(0, ARCHIVE_LAST, ARCHIVE_ENTRIES),
		     "pattern");
	cr_expect(eq(sz, jscan_files_usable(engine), 3));
	jscan_free(engine);
	cr_assert(eq(int, jscan_new(NULL, &engine), 0));
	cr_assert(eq(int, jscan_add_file(engine, one, JSCAN_ADD_LITERAL), 0));
	jscan_set_limit(engine, 3);
	expect_texts(collect(engine, DRIVE_NEXT), strdup("1 4 7"), "one file");
	jscan_free(engine);
	free(pattern);
	free(one);
}

Test(scan, a_file_that_is_added_twice_counts_once)
{
	struct jscan *engine;

	cr_assert(eq(int, jscan_new(NULL, &engine), 0));
	cr_assert(eq(int, jscan_add_directory(engine, folder, 0), 0));
	cr_assert(eq(int, jscan_add_directory(engine, folder, 0), 0));
	expect_texts(collect(engine, DRIVE_NEXT), numbers(0, ARCHIVE_LAST, ARCHIVE_ENTRIES),
		     "twice");
	jscan_free(engine);
}

METHOD_TEST(scan, a_limited_rate_takes_time_and_changes_nothing)
{
	for (enum drive how = 0; how < DRIVE_COUNT; how++) {
		struct jscan_options options = JSCAN_OPTIONS_INIT;
		struct jscan_stats stats = { .size = sizeof(stats) };
		struct timespec begin, end;
		struct jscan *engine;
		clock_t cpu = clock();
		double seconds, least;

		options.io = *method;
		options.limit_rate = 10000;
		cr_assert(eq(int, jscan_new(&options, &engine), 0));
		cr_assert(eq(int, jscan_add_directory(engine, folder, 0), 0));
		if (*method == JSCAN_IO_URING && jscan_open(engine) < 0)
			cr_skip_test("no ring");
		clock_gettime(CLOCK_MONOTONIC, &begin);
		expect_texts(collect(engine, how), numbers(0, ARCHIVE_LAST, ARCHIVE_ENTRIES),
			     "limited");
		clock_gettime(CLOCK_MONOTONIC, &end);
		seconds = (double)(end.tv_sec - begin.tv_sec) +
			  (double)(end.tv_nsec - begin.tv_nsec) / 1e9;
		cr_assert(eq(int, jscan_get_stats(engine, &stats), 0));
		/* The bucket was full, or what opening took has come in again, and the last read
		 * may be as large as the bucket. */
		least = ((double)stats.bytes_read - 2 * 16384) / (double)options.limit_rate;
		cr_expect(gt(u64, stats.bytes_read, 2 * 16384), "there is something to limit");
		cr_expect(ge(dbl, seconds, least));
		cr_expect(le(dbl, (double)(clock() - cpu) / CLOCKS_PER_SEC, seconds / 2 + 0.05),
			  "nobody waits busily");
		jscan_free(engine);
	}
}
