/* SPDX-License-Identifier: MIT */
/*
 * Whole scans over I/O that misbehaves: short, late, reordered, failing. What cannot be read is
 * reported, the rest comes, and nothing hangs. Looks inside the library for engine_set_io() only.
 */
#include "engine/engine.h"
#include "tests/scan/harness.h"
#include "tests/support/fixture.h"

#define ENTRIES 200u
#define FILES 3u

static struct io_fault fault;
static struct fixture *files[FILES];
static struct {
	unsigned count, reasons;
	int error;
} problems;

/* Files in memory whose entries take turns. */
static void setup(void)
{
	io_fault_init(&fault, 5);
	for (unsigned f = 0; f < FILES; f++) {
		static const char *const names[] = { "/mem/a", "/mem/b", "/mem/c" };

		files[f] = fixture_new(
			&(const struct fixture_options){ .seqnum_id = fixture_id(9),
							 .file_id = fixture_id(10 + f),
							 .compact = f == 1,
							 .state = JOURNAL_STATE_ARCHIVED });
		for (unsigned n = f; n < ENTRIES; n += FILES) {
			struct fixture_stamp stamp = { .seqnum = n + 1,
						       .realtime = ARCHIVE_TIME(n) };
			char message[40], filler[700];

			snprintf(message, sizeof(message), "MESSAGE=%u", n);
			memset(filler, 'x', sizeof(filler));
			snprintf(filler, sizeof(filler), "FILLER=%u", n);
			filler[strlen(filler)] = ' ';
			filler[sizeof(filler) - 1] = '\0';
			fixture_add(files[f], &stamp, message, filler, n % 2 ? "PARITY=odd" :
									       "PARITY=even", NULL);
		}
		fixture_finish(files[f]);
		io_fault_add_file(&fault, names[f], fixture_bytes(files[f]),
				  fixture_size(files[f]));
	}
}

static void teardown(void)
{
	for (unsigned f = 0; f < FILES; f++)
		fixture_free(files[f]);
}

TestSuite(fault, .init = setup, .fini = teardown, .timeout = 60);

static void take_problem(void *userdata, const struct jscan_problem *problem)
{
	(void)userdata;
	problems.count++;
	problems.reasons |= 1u << problem->reason;
	problems.error = problem->error;
}

static struct jscan *open_engine(void)
{
	struct jscan_options options = JSCAN_OPTIONS_INIT;
	struct jscan *engine;

	memset(&problems, 0, sizeof(problems));
	options.memory_bytes = 4 << 20;
	cr_assert(eq(int, jscan_new(&options, &engine), 0));
	engine_set_io(engine, &io_method_fault, &fault);
	jscan_set_problem_handler(engine, take_problem, NULL);
	for (unsigned f = 0; f < FILES; f++)
		jscan_add_file(engine, fault.files[f].name, JSCAN_ADD_LITERAL);
	return engine;
}

Test(fault, short_late_and_reordered_reads_change_nothing)
{
	for (unsigned n = 0; n < 48; n++) {
		struct jscan *engine;
		char *expected = n % 2 ? numbers(ENTRIES - 1, 0, ENTRIES) :
					 numbers(0, ENTRIES - 1, ENTRIES);

		fault.read_bytes_max = n % 3 == 0 ? 1000 : n % 3 == 1 ? 4097 : 0;
		fault.read_bytes_random = n % 4 == 1;
		fault.delay_turns_max = n % 5;
		fault.reorder = n % 7 < 4;
		fault.eagain_percent = n % 6 == 0 ? 30 : 0;
		fault.eintr_percent = n % 6 == 1 ? 30 : 0;
		fault.nowait = n % 2;
		engine = open_engine();
		jscan_set_direction(engine, n % 2 ? JSCAN_BACKWARD : JSCAN_FORWARD);
		expect_texts(collect(engine, n % DRIVE_COUNT), expected, "misbehaving I/O");
		cr_expect(eq(u32, problems.count, 0));
		jscan_free(engine);
	}
}

Test(fault, a_bad_place_costs_what_lies_there_and_is_reported)
{
	for (unsigned n = 0; n < 20; n++) {
		uint64_t size = fixture_size(files[1]);
		struct jscan *engine;
		unsigned count = 0;
		char *text;

		fault.rule_count = 0;
		io_fault_fail(&fault, IO_FAULT_FD_BASE + 1, (n + 1) * size / 22 & ~4095ull,
			      ((n + 1) * size / 22 & ~4095ull) + 4096, -EIO, UINT_MAX);
		engine = open_engine();
		jscan_set_direction(engine, n % 2 ? JSCAN_BACKWARD : JSCAN_FORWARD);
		text = collect(engine, n % DRIVE_COUNT);
		for (char *p = text; *p; p++)
			count += *p == ' ';
		/* The other two files are complete. */
		cr_expect(ge(u32, count + 1, ENTRIES - (ENTRIES + 1) / FILES), "place %u", n);
		cr_expect(gt(u32, problems.count, 0), "place %u", n);
		free(text);
		jscan_free(engine);
	}
}

Test(fault, a_header_that_cannot_be_read_costs_its_file)
{
	struct jscan *engine;
	unsigned count = 1;
	char *text;

	io_fault_fail(&fault, IO_FAULT_FD_BASE, 0, 4096, -EIO, UINT_MAX);
	engine = open_engine();
	text = collect(engine, DRIVE_NEXT);
	for (char *p = text; *p; p++)
		count += *p == ' ';
	cr_expect(eq(u32, count, ENTRIES - (ENTRIES + 2) / FILES));
	cr_expect(eq(u32, problems.count, 1));
	cr_expect(eq(u32, problems.reasons, 1u << JSCAN_REASON_READ));
	cr_expect(eq(int, problems.error, -EIO));
	cr_expect(eq(sz, jscan_files_usable(engine), 2));
	free(text);
	jscan_free(engine);
}

Test(fault, a_passing_error_is_no_damage_to_a_match)
{
	struct jscan *engine;
	char *text;

	fault.eagain_percent = 50;
	fault.delay_turns_max = 2;
	engine = open_engine();
	jscan_match(engine, "PARITY=odd", 10);
	jscan_set_limit(engine, 4);
	text = collect(engine, DRIVE_LOOP);
	cr_expect(eq(str, text, (char *)"1 3 5 7"));
	cr_expect(eq(u32, problems.count, 0));
	free(text);
	jscan_free(engine);
}

Test(fault, a_file_that_shrinks_under_the_scan_ends_early)
{
	struct jscan *engine = open_engine();
	const struct jscan_entry *entry;
	unsigned count = 1;

	cr_assert(eq(int, jscan_next(engine, &entry), 1));
	io_fault_set_file(&fault, IO_FAULT_FD_BASE, fixture_bytes(files[0]), 4096);
	for (int r; (r = jscan_next(engine, &entry)) != 0; count++)
		cr_assert(eq(int, r, 1));
	cr_expect(ge(u32, count, ENTRIES - (ENTRIES + 2) / FILES));
	jscan_free(engine);
}

Test(fault, an_engine_is_freed_though_its_reads_never_end)
{
	for (unsigned turns = 0; turns < 30; turns++) {
		struct jscan *engine;

		fault.never = false;
		fault.delay_turns_max = 3;
		engine = open_engine();
		cr_assert(ge(int, jscan_fd(engine), 0));
		for (unsigned i = 0; i < turns; i++) {
			const struct jscan_entry *entry;
			int r = jscan_process(engine);

			cr_assert(ge(int, r, 0));
			if (r > 0)
				jscan_next(engine, &entry);
			fault.never = i * 2 > turns;
		}
		jscan_free(engine);
		cr_expect(list_is_empty(&fault.flying));
	}
}

Test(fault, reads_that_never_end_end_a_blocking_scan_with_an_error)
{
	struct jscan *engine = open_engine();
	const struct jscan_entry *entry;

	fault.never = true;
	cr_expect(eq(int, jscan_next(engine, &entry), -EDEADLK));
	jscan_free(engine);
}
