/* SPDX-License-Identifier: MIT */
/* The life of a source, step by step, over I/O in memory. */
#include <criterion/criterion.h>
#include <criterion/new/assert.h>
#include <fcntl.h>
#include <limits.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "engine/engine.h"
#include "tests/support/fixture.h"
#include "tests/support/io-methods.h"

static struct io_fault fault;
static struct jscan *engine;
static struct fixture *fx;
static struct {
	unsigned count;
	enum jscan_reason reason;
	int error;
	uint64_t offset;
} problem;

static void take_problem(void *userdata, const struct jscan_problem *p)
{
	(void)userdata;
	problem.count++;
	problem.reason = p->reason;
	problem.error = p->error;
	problem.offset = p->offset;
}

static void setup(void)
{
	struct jscan_options options = JSCAN_OPTIONS_INIT;

	options.files_open_max = 2;
	io_fault_init(&fault, 3);
	cr_assert(eq(int, jscan_new(&options, &engine), 0));
	engine_set_io(engine, &io_method_fault, &fault);
	jscan_set_problem_handler(engine, take_problem, NULL);
	fx = fixture_new(&(const struct fixture_options){ .state = JOURNAL_STATE_ARCHIVED });
	for (int i = 0; i < 20; i++)
		fixture_add(fx, NULL, "A=1", i % 2 ? "B=1" : "B=2", NULL);
	fixture_finish(fx);
}

static void teardown(void)
{
	jscan_free(engine);
	fixture_free(fx);
}

TestSuite(source, .init = setup, .fini = teardown, .timeout = 30);

/* Adds the fixture under a name. */
static struct source *add(const char *name)
{
	struct source *s;

	io_fault_add_file(&fault, name, fixture_bytes(fx), fixture_size(fx));
	cr_assert(eq(int, engine_add_source(engine, name, &s), 0));
	cr_assert(eq(int, engine_start_io(engine), 0));
	return s;
}

/* Tries a step until it answers. */
static int finish(struct source *s, source_step_fn step)
{
	int r;

	for (int i = 0; (r = source_try(s, step)) == -EAGAIN; i++) {
		cr_assert(lt(int, i, 1000));
		engine->wave_runs = true; /* keep the list of runnable sources */
		cr_assert(ge(int, engine_turn(engine, true), 0));
	}
	return r;
}

Test(source, begins_closed_and_opens_when_it_is_first_tried)
{
	struct source *s = add("a");

	cr_expect(eq(int, s->state, SOURCE_CLOSED));
	cr_expect(eq(int, source_try(s, source_step_header), -EAGAIN));
	cr_expect(eq(int, s->state, SOURCE_OPENING));
	cr_expect(eq(u32, engine->open_count, 1));
	cr_expect(eq(int, source_try(s, source_step_header), -EAGAIN), "trying again does no harm");
	cr_assert(ge(int, engine_turn(engine, true), 0));
	cr_expect(eq(int, s->state, SOURCE_OPEN));
	cr_expect(eq(int, source_try(s, source_step_header), -EAGAIN));
	cr_expect(eq(int, s->state, SOURCE_WAITING));
	cr_expect(eq(int, finish(s, source_step_header), 0));
	cr_expect(eq(int, s->state, SOURCE_OPEN));
	cr_expect(s->header_known);
	cr_expect(eq(u64, s->journal.header.n_entries, 20));
	source_close(s);
	cr_expect(eq(int, s->state, SOURCE_CLOSED));
	cr_expect(eq(u32, engine->open_count, 0));
}

Test(source, a_state_follows_only_where_the_table_says, .signal = SIGABRT)
{
	struct source *s = add("a");

	source_set_state(s, SOURCE_WAITING);
}

Test(source, walks_its_entries_in_both_directions)
{
	struct source *s = add("a");

	cr_assert(eq(int, finish(s, source_step_header), 0));
	for (int backward = 0; backward < 2; backward++) {
		engine->seek = (struct engine_seek){ .kind = backward ? SEEK_TAIL : SEEK_HEAD };
		s->walk.consumed_offset = 0;
		source_rewind(s, backward);
		for (unsigned n = 0; n < 20; n++) {
			unsigned i = backward ? 19 - n : n;

			cr_assert(eq(int, finish(s, source_step_next), 1));
			cr_expect(eq(int, finish(s, source_step_next), 1), "a candidate stays");
			cr_expect(eq(u64, s->entry.offset, fixture_find_entry(fx, i)));
			cr_expect(eq(u64, s->key.seqnum, i + 1));
			source_consume(s);
		}
		cr_expect(eq(int, finish(s, source_step_next), 0));
		cr_expect(eq(int, s->candidate, CANDIDATE_NONE));
	}
}

Test(source, goes_on_where_it_was_after_it_has_been_closed)
{
	struct source *s = add("a");

	cr_assert(eq(int, finish(s, source_step_header), 0));
	engine->seek = (struct engine_seek){ .kind = SEEK_HEAD };
	source_rewind(s, false);
	for (unsigned n = 0; n < 20; n++) {
		cr_assert(eq(int, finish(s, source_step_next), 1));
		cr_expect(eq(u64, s->entry.offset, fixture_find_entry(fx, n)));
		source_consume(s);
		if (n % 3 == 0) {
			source_close(s);
			cr_expect(eq(int, s->state, SOURCE_CLOSED));
		}
	}
}

Test(source, of_the_open_ones_the_oldest_makes_room)
{
	struct source *a = add("a"), *b = add("b"), *c = add("c");

	cr_assert(eq(int, finish(a, source_step_header), 0));
	cr_assert(eq(int, finish(b, source_step_header), 0));
	cr_expect(eq(u32, engine->open_count, 2));
	cr_assert(eq(int, finish(c, source_step_header), 0));
	cr_expect(eq(u32, engine->open_count, 2));
	cr_expect(eq(int, a->state, SOURCE_CLOSED));
	cr_expect(eq(int, b->state, SOURCE_OPEN));
	b->refs = 1; /* a batch needs it: it stays */
	cr_assert(eq(int, finish(a, source_step_header), 0));
	cr_expect(eq(int, source_try(a, source_step_newest) >= -EAGAIN, 1));
	cr_expect(eq(int, b->state, SOURCE_OPEN));
	b->refs = 0;
}

Test(source, where_no_place_can_be_made_it_is_busy)
{
	struct source *a = add("a"), *b = add("b"), *c = add("c");

	cr_assert(eq(int, finish(a, source_step_header), 0));
	cr_assert(eq(int, finish(b, source_step_header), 0));
	a->refs = b->refs = 1;
	cr_expect(eq(int, source_try(c, source_step_header), -EBUSY));
	cr_expect(eq(int, c->state, SOURCE_CLOSED));
	a->refs = b->refs = 0;
	cr_expect(eq(int, finish(c, source_step_header), 0));
}

Test(source, a_file_that_cannot_be_opened_fails_once_and_for_all)
{
	struct source *s;

	cr_assert(eq(int, engine_add_source(engine, "/nowhere/at/all", &s), 0));
	cr_assert(eq(int, engine_start_io(engine), 0));
	cr_expect(eq(int, finish(s, source_step_header), -ENOENT));
	cr_expect(eq(int, s->state, SOURCE_FAILED));
	cr_expect(eq(int, source_try(s, source_step_header), -ENOENT));
	cr_expect(eq(u32, problem.count, 1));
	cr_expect(eq(int, (int)problem.reason, JSCAN_REASON_OPEN));
	cr_expect(eq(u64, engine->stats.files_failed, 1));
	cr_expect(eq(u32, engine->open_count, 0));
}

Test(source, headers_fail_with_the_reason_that_fits)
{
	static const struct {
		unsigned offset, width;
		uint64_t value;
		enum jscan_reason reason;
		int error;
	} cases[] = {
		{ 0, 8, 0, JSCAN_REASON_HEADER, -EBADMSG },
		{ HEADER_INCOMPATIBLE_FLAGS, 4, 1u << 9, JSCAN_REASON_FEATURE, -EPROTONOSUPPORT },
		{ HEADER_HEADER_SIZE, 8, 8, JSCAN_REASON_HEADER, -EBADMSG },
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		static char names[3][2] = { "x", "y", "z" };
		uint64_t before = fixture_get64(fx, cases[i].offset);
		struct source *s = add(names[i]);

		if (cases[i].width == 8)
			fixture_put64(fx, cases[i].offset, cases[i].value);
		else
			fixture_put32(fx, cases[i].offset, (uint32_t)cases[i].value);
		cr_expect(eq(int, finish(s, source_step_header), cases[i].error), "case %zu", i);
		cr_expect(eq(int, (int)problem.reason, (int)cases[i].reason), "case %zu", i);
		fixture_put64(fx, cases[i].offset, before);
	}
	cr_expect(eq(u32, problem.count, 3));
}

Test(source, a_file_that_another_one_has_replaced_is_not_read_on)
{
	char *folder = test_folder_make(), *path = test_path(folder, "a.journal");
	char *other = test_path(folder, "other");
	struct source *s;

	fixture_write(fx, path);
	fixture_write(fx, other);
	cr_assert(eq(int, engine_add_source(engine, path, &s), 0));
	cr_assert(eq(int, engine_start_io(engine), 0));
	cr_assert(eq(int, finish(s, source_step_header), 0));
	source_close(s);
	cr_assert(eq(int, rename(other, path), 0));
	cr_expect(eq(int, finish(s, source_step_newest), -ESTALE));
	cr_expect(eq(int, (int)problem.reason, JSCAN_REASON_OPEN));
	free(path);
	free(other);
	test_folder_remove(folder);
}

Test(source, a_problem_is_reported_once_for_each_place)
{
	struct source *s = add("a");

	for (int i = 0; i < 3; i++) {
		problem_report(s, JSCAN_REASON_OBJECT, -EBADMSG, 4096, "wrong");
		problem_report(s, JSCAN_REASON_OBJECT, -EBADMSG, 4104, "wrong");
		problem_report(s, JSCAN_REASON_CHAIN, -EBADMSG, 4096, "wrong");
	}
	cr_expect(eq(u32, problem.count, 3));
	cr_expect(eq(u64, engine->stats.problems, 3));
}

Test(source, the_newest_entry_is_found_without_the_headers_help)
{
	struct source *s = add("a");

	cr_assert(eq(int, finish(s, source_step_header), 0));
	cr_assert(eq(int, finish(s, source_step_newest), 0));
	cr_expect(s->newest.known);
	cr_expect(eq(u64, s->newest.realtime, FIXTURE_REALTIME + 19 * FIXTURE_STEP));
	s->journal.header.tail_entry_offset = fixture_find_object(fx, OBJECT_DATA, 0);
	s->journal.header.compatible_flags = 0;
	cr_assert(eq(int, finish(s, source_step_newest), 0));
	cr_expect(s->newest.known);
	cr_expect(eq(u64, s->newest.realtime, FIXTURE_REALTIME + 19 * FIXTURE_STEP));
}

Test(source, items_of_an_array_that_cannot_be_read_cost_their_entries)
{
	const struct jscan_entry *entry;
	uint64_t array, begin;
	unsigned counts[2] = { 0 };
	size_t i = 0;

	while (fixture_count_objects(fx, OBJECT_ENTRY) < 5000)
		fixture_add(fx, NULL, "A=1", NULL);
	fixture_finish(fx);
	do /* one of several blocks */
		array = fixture_find_array(fx, i++);
	while (fixture_get64(fx, array + 8) < 3 * 4096);
	begin = (array + 4096) & ~UINT64_C(4095);
	add("a");
	io_fault_fail(&fault, -1, begin, begin + 4096, -EIO, UINT_MAX);
	for (int backward = 0; backward < 2; backward++) {
		cr_assert(eq(int, jscan_set_direction(engine, backward), 0));
		while (jscan_next(engine, &entry) == 1)
			counts[backward]++;
	}
	cr_expect(eq(u32, counts[0], 5000 - 4096 / 8));
	cr_expect(eq(u32, counts[1], 5000 - 4096 / 8));
}
