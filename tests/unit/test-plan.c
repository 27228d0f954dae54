/* SPDX-License-Identifier: MIT */
/* Plans: what a match expression finds in one file, against the list of what its entries hold. */
#include <criterion/criterion.h>
#include <criterion/new/assert.h>
#include <stdlib.h>

#include "engine/plan.h"
#include "tests/support/query.h"

/* An expression at work in a file. */
struct bench {
	struct query_file file;
	struct window window;
	struct journal journal;
	struct payload_decoder *decoder;
	struct match match;
	struct plan plan;
	uint8_t *blocks;      /* of a window that gets its blocks one by one */
};

static int add(void *m, const char *term)
{
	return match_add(m, term, strlen(term));
}

static int or_next(void *m)
{
	return match_or(m);
}

static int and_next(void *m)
{
	return match_and(m);
}

static const struct query_builder builder = { add, or_next, and_next };

/* Opens the file that is in the bench. */
static void bench_open(struct bench *b)
{
	const uint8_t *bytes = fixture_bytes(b->file.fx);
	size_t size = fixture_size(b->file.fx);
	char detail[HEADER_DETAIL_SIZE];

	b->window = fixture_window(b->file.fx);
	cr_assert(eq(int, header_parse(bytes, HEADER_SIZE_MAX, size, &b->journal, detail), 0));
	cr_assert(eq(int, payload_decoder_new(1 << 20, &b->decoder), 0));
}

/* Lets the file arrive in blocks of 64 bytes, as they are asked for. */
static void bench_make_lazy(struct bench *b)
{
	b->window.whole = false;
	b->window.block_shift = 6;
	b->blocks = calloc(b->window.size_bytes / 64 + 1, 1);
	b->window.blocks = b->blocks;
}

/* Brings in what was asked for, which must be something. */
static void bench_bring(struct bench *b)
{
	cr_assert(gt(u32, b->window.want_count, 0));
	for (unsigned i = 0; i < b->window.want_count; i++) {
		uint64_t begin = b->window.wants[i].offset;
		uint64_t end = begin + b->window.wants[i].size_bytes;

		for (uint64_t k = begin / 64; k <= (end - 1) / 64; k++)
			b->blocks[k] |= WINDOW_BLOCK_RESIDENT;
	}
	b->window.want_count = 0;
}

/* Resolves the expression, to the end. Returns how many rounds it took. */
static unsigned bench_resolve(struct bench *b)
{
	unsigned rounds = 1;

	cr_assert(eq(int, plan_init(&b->plan, &b->match), 0));
	for (;; rounds++) {
		int r = plan_resolve(&b->plan, &b->journal, &b->window, b->decoder);

		if (r == 0)
			break;
		cr_assert(eq(int, r, -EAGAIN));
		bench_bring(b);
	}
	cr_assert(b->plan.ready);
	return rounds;
}

/* plan_next(), to the end. 0: none. */
static uint64_t bench_next(struct bench *b, uint64_t from, bool backward, uint64_t horizon)
{
	uint64_t offset;
	int r;

	while ((r = plan_next(&b->plan, &b->journal, &b->window, from, backward, horizon,
			      &offset)) == -EAGAIN)
		bench_bring(b);
	cr_assert(ge(int, r, 0));
	return r ? offset : 0;
}

static void bench_close(struct bench *b)
{
	plan_done(&b->plan);
	match_done(&b->match);
	payload_decoder_free(b->decoder);
	free(b->blocks);
	fixture_free(b->file.fx);
}

/* A walk over all matches in one direction gives what the model gives. */
static void bench_check_walk(struct bench *b, const struct query *q, bool backward)
{
	uint64_t from = backward ? UINT64_MAX - 1 : 1;

	for (unsigned n = 0; n < b->file.entry_count; n++) {
		unsigned i = backward ? b->file.entry_count - 1 - n : n;
		uint64_t offset;

		if (!query_matches(q, b->file.held[i]))
			continue;
		offset = bench_next(b, from, backward, UINT64_MAX);
		cr_assert(eq(u64, offset, b->file.offsets[i]));
		from = backward ? offset - 1 : offset + 1;
	}
	cr_assert(eq(u64, bench_next(b, from, backward, UINT64_MAX), 0));
}

/* What the model finds from an offset on. 0: nothing. */
static uint64_t model_next(const struct query_file *f, const struct query *q, uint64_t from,
			   bool backward, uint64_t horizon)
{
	uint64_t best = 0;

	for (unsigned i = 0; i < f->entry_count; i++) {
		uint64_t at = f->offsets[i];

		if (!query_matches(q, f->held[i]) || at > horizon)
			continue;
		if (backward ? at <= from : at >= from && best == 0)
			best = at;
	}
	return best;
}

/* A random file and expression, ready to be walked. */
static struct query bench_random(struct bench *b, bool lazy, uint64_t *random)
{
	struct query q = query_random(random);

	*b = (struct bench){ 0 };
	query_file_random(&b->file, 0, random);
	bench_open(b);
	if (lazy)
		bench_make_lazy(b);
	query_build(&q, &builder, &b->match);
	bench_resolve(b);
	return q;
}

Test(plan, walks_give_what_matches_in_both_directions)
{
	uint64_t random = 21;

	for (unsigned n = 0; n < 300; n++) {
		struct bench b;
		struct query q = bench_random(&b, false, &random);

		bench_check_walk(&b, &q, false);
		bench_check_walk(&b, &q, true);
		bench_close(&b);
	}
}

Test(plan, walks_are_the_same_when_the_file_arrives_piece_by_piece)
{
	uint64_t random = 22;

	for (unsigned n = 0; n < 100; n++) {
		struct bench b;
		struct query q = bench_random(&b, true, &random);

		bench_check_walk(&b, &q, n % 2);
		bench_close(&b);
	}
}

Test(plan, any_place_leads_to_the_nearest_match_up_to_the_horizon)
{
	uint64_t random = 23;

	for (unsigned n = 0; n < 100; n++) {
		struct bench b;
		struct query q = bench_random(&b, false, &random);
		uint64_t size = fixture_size(b.file.fx);

		for (unsigned k = 0; k < 40; k++) {
			unsigned at = (unsigned)query_random_below(&random, b.file.entry_count);
			uint64_t from = 1 + query_random_below(&random, size);
			uint64_t horizon = k % 2 ? UINT64_MAX : b.file.offsets[at];

			if (k % 4 < 2)
				from = b.file.offsets[at];
			for (int backward = 0; backward < 2; backward++)
				cr_assert(eq(u64, bench_next(&b, from, backward, horizon),
					     model_next(&b.file, &q, from, backward, horizon)),
					  "file %u, from %lu, horizon %lu, backward %d", n, from,
					  horizon, backward);
		}
		bench_close(&b);
	}
}

Test(plan, long_sets_are_walked_over_all_their_arrays)
{
	struct fixture_options options = { .compact = true, .keyed = true };
	uint64_t random = 24;

	for (unsigned n = 0; n < 6; n++) {
		struct query q = query_random(&random);
		struct bench b = { 0 };

		query_file_make(&b.file, &options, QUERY_ENTRIES_MAX, 0, &random);
		bench_open(&b);
		query_build(&q, &builder, &b.match);
		bench_resolve(&b);
		bench_check_walk(&b, &q, false);
		bench_check_walk(&b, &q, true);
		bench_close(&b);
	}
}

/* A file of three entries: A=0 with B=0, A=1 with B=0, A=0 with B=1. */
static void bench_small(struct bench *b)
{
	*b = (struct bench){ .file.fx = fixture_new(&(const struct fixture_options){ 0 }) };
	fixture_add(b->file.fx, NULL, "A=0", "B=0", NULL);
	fixture_add(b->file.fx, NULL, "A=1", "B=0", NULL);
	fixture_add(b->file.fx, NULL, "A=0", "B=1", NULL);
	fixture_finish(b->file.fx);
	bench_open(b);
}

Test(plan, no_expression_is_ready_at_once)
{
	struct bench b;

	bench_small(&b);
	cr_assert(eq(int, plan_init(&b.plan, &b.match), 0));
	cr_expect(b.plan.ready);
	cr_expect(eq(ptr, b.plan.root, NULL));
	bench_close(&b);
}

Test(plan, an_absent_term_rules_the_file_out_of_a_conjunction_only)
{
	static const struct {
		const char *terms[4]; /* "+" between alternatives */
		bool empty;
	} cases[] = {
		{ { "A=7" }, true },
		{ { "A=0", "B=7" }, true },
		{ { "A=0", "A=7" }, false },
		{ { "A=7", "+", "B=0" }, false },
		{ { "A=7", "+", "B=7" }, true },
		{ { "A=0", "B=1" }, false },
		{ { "A=1", "B=1" }, false }, /* both are there, though not together */
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct bench b;

		bench_small(&b);
		for (unsigned k = 0; k < 4 && cases[i].terms[k]; k++) {
			if (cases[i].terms[k][0] == '+')
				match_or(&b.match);
			else
				add(&b.match, cases[i].terms[k]);
		}
		bench_resolve(&b);
		cr_expect(eq(int, b.plan.root->empty, cases[i].empty), "case %zu", i);
		if (cases[i].empty)
			cr_expect(eq(u64, bench_next(&b, 1, false, UINT64_MAX), 0));
		bench_close(&b);
	}
}

Test(plan, terms_are_looked_up_together)
{
	struct bench alone, together;
	unsigned rounds;

	bench_small(&alone);
	bench_make_lazy(&alone);
	add(&alone.match, "A=0");
	rounds = bench_resolve(&alone);
	cr_expect(gt(u32, rounds, 1));
	bench_small(&together);
	bench_make_lazy(&together);
	for (unsigned i = 0; i < QUERY_ABSENT; i++)
		add(&together.match, query_term_text(i));
	/* One term absent ends the wait for all the others; here one bucket each at least. */
	cr_expect(le(u32, bench_resolve(&together), rounds + 2));
	bench_close(&alone);
	bench_close(&together);
}

Test(plan, a_data_object_that_no_entry_refers_to_matches_nothing)
{
	struct bench b = { .file.fx = fixture_new(&(const struct fixture_options){ 0 }) };

	fixture_add(b.file.fx, NULL, "A=0", NULL);
	fixture_orphan(b.file.fx, "A=1", 3);
	fixture_finish(b.file.fx);
	bench_open(&b);
	add(&b.match, "A=1");
	bench_resolve(&b);
	cr_expect(b.plan.root->empty);
	bench_close(&b);
}

Test(plan, a_broken_array_ends_a_terms_set_not_the_plan)
{
	struct bench b = { .file.fx = fixture_new(&(const struct fixture_options){ 0 }) };
	uint64_t offsets[40], array, from = 1;
	unsigned count = 0;

	for (unsigned i = 0; i < 40; i++)
		offsets[i] = fixture_add(b.file.fx, NULL, "A=0", NULL);
	fixture_finish(b.file.fx);
	array = fixture_find_data_array(b.file.fx, fixture_find_text(b.file.fx, "A=0"), 1);
	cr_assert(gt(u64, array, 0));
	fixture_put8(b.file.fx, array + OBJECT_TYPE, OBJECT_TAG);
	bench_open(&b);
	add(&b.match, "A=0");
	bench_resolve(&b);
	for (uint64_t at; count < 40 && (at = bench_next(&b, from, false, UINT64_MAX));
	     from = at + 1)
		cr_assert(eq(u64, at, offsets[count++]));
	cr_expect(eq(u32, count, 5), "one in the object, four in the first array");
	cr_expect(eq(u64, bench_next(&b, UINT64_MAX - 1, true, UINT64_MAX), offsets[4]));
	bench_close(&b);
}
