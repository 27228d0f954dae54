/* SPDX-License-Identifier: MIT */
/*
 * The merge gives what its definition gives: scans of many small sets of files are compared with
 * the model, entry by entry, in both directions, whatever way the merge has chosen; and where there
 * is a certificate, the heap is what is used.
 */
#include <criterion/criterion.h>
#include <criterion/new/assert.h>
#include <criterion/parameterized.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

#include "engine/engine.h"
#include "tests/support/fold-model.h"
#include "tests/support/io-methods.h"

/* How a scan is made. */
struct scan_options {
	enum io_method_case_id io;
	bool backward;
	bool only_marked;
	bool plan_scan;
	bool shuffle;  /* the files are added in another order */
	uint64_t tail; /* UINT64_MAX: all */
};

struct scan_result {
	struct model_place *places;
	size_t count;
	struct jscan_stats stats;
	enum merge_mode mode; /* at the end */
};

/* How the scans of one test were made. */
struct tally {
	uint64_t heap_steps, fold_steps, duplicates;
	unsigned modes[MERGE_FOLD + 1];
};

/* Adds a model's file to an engine, as a descriptor of its own. */
static void add_file(struct jscan *e, const struct model_file *f)
{
	size_t size = fixture_size(f->fx);
	int fd = memfd_create(f->name, MFD_CLOEXEC);

	cr_assert(ge(int, fd, 0));
	cr_assert(eq(long, write(fd, fixture_bytes(f->fx), size), (long)size));
	cr_assert(eq(int, jscan_add_fd(e, fd, f->name, JSCAN_TAKE_FD), 0));
}

/* Nothing of the models is damaged: a file that is refused would make any result right. */
static void complain(void *userdata, const struct jscan_problem *p)
{
	(void)userdata;
	cr_fatal("%s at %llu: %s", p->path, (unsigned long long)p->offset, p->detail);
}

/* Makes an engine for a scan over all files of a model. */
static struct jscan *make_engine(const struct model *m, const struct scan_options *o,
				 struct io_fault *fault)
{
	struct jscan_options options = JSCAN_OPTIONS_INIT;
	struct jscan *e;

	options.memory_bytes = 8 << 20;
	options.io = o->io == IO_CASE_URING   ? JSCAN_IO_URING :
		     o->io == IO_CASE_THREADS ? JSCAN_IO_THREADS :
						JSCAN_IO_SYNC;
	options.plan = o->plan_scan ? JSCAN_PLAN_SCAN : JSCAN_PLAN_AUTO;
	cr_assert(eq(int, jscan_new(&options, &e), 0));
	jscan_set_problem_handler(e, complain, NULL);
	if (o->io == IO_CASE_FAULT) {
		io_fault_init(fault, 42);
		fault->read_bytes_max = 8191;
		fault->read_bytes_random = true;
		fault->delay_turns_max = 3;
		fault->reorder = true;
		engine_set_io(e, &io_method_fault, fault);
	}
	for (unsigned i = 0; i < m->file_count; i++)
		add_file(e, m->files + (o->shuffle ? m->file_count - 1 - i : i));
	if (o->only_marked)
		cr_assert(eq(int, jscan_match(e, "PRIORITY=3", 10), 0));
	if (o->backward)
		cr_assert(eq(int, jscan_set_direction(e, JSCAN_BACKWARD), 0));
	if (o->tail != UINT64_MAX)
		cr_assert(eq(int, jscan_set_tail(e, o->tail), 0));
	return e;
}

/* Where an entry that was yielded is. */
static struct model_place find_place(const struct model *m, const struct jscan_entry_info *info)
{
	for (unsigned i = 0; i < m->file_count; i++) {
		const struct model_file *f = m->files + i;

		for (size_t k = 0; k < f->count && strcmp(f->name, info->path) == 0; k++) {
			if (f->entries[k].offset == info->offset)
				return (struct model_place){ f, f->entries + k };
		}
	}
	cr_fatal("an entry of %s at %llu is in no list", info->path,
		 (unsigned long long)info->offset);
}

/* Scans a model's files. The caller frees the places. */
static struct scan_result scan(const struct model *m, const struct scan_options *o)
{
	static struct io_fault fault;
	struct jscan *e = make_engine(m, o, &fault);
	struct scan_result result = { .stats = { .size = sizeof(result.stats) } };
	const struct jscan_entry *entry;
	int r;

	result.places = calloc(m->entry_count + 1, sizeof(*result.places));
	while ((r = jscan_next(e, &entry)) > 0) {
		cr_assert(lt(sz, result.count, m->entry_count), "more entries than there are");
		result.places[result.count++] = find_place(m, jscan_entry_info(entry));
	}
	cr_assert(eq(int, r, 0));
	cr_assert(eq(int, jscan_get_stats(e, &result.stats), 0));
	result.mode = e->merge.mode;
	jscan_free(e);
	return result;
}

/* Compares a scan with the model; adds up how it was made. */
static void check(struct model *m, const struct scan_options *o, const char *what, uint64_t seed,
		  struct tally *total)
{
	struct model_place *wanted = calloc(m->entry_count + 1, sizeof(*wanted));
	struct scan_result got = scan(m, o);
	size_t duplicates, count = model_run(m, o->backward, o->only_marked, wanted, &duplicates);

	for (size_t i = 0; i < count && i < got.count; i++)
		cr_assert(got.places[i].entry == wanted[i].entry,
			  "%s %llu%s%s: entry %zu of %zu is %s #%zu, not %s #%zu; "
			  "%llu steps on the heap, %llu by folds",
			  what, (unsigned long long)seed, o->backward ? " backward" : "",
			  o->only_marked ? " matched" : "", i, count, got.places[i].file->name,
			  (size_t)(got.places[i].entry - got.places[i].file->entries),
			  wanted[i].file->name, (size_t)(wanted[i].entry - wanted[i].file->entries),
			  (unsigned long long)got.stats.heap_steps,
			  (unsigned long long)got.stats.fold_steps);
	cr_assert(eq(sz, got.count, count), "%s %llu", what, (unsigned long long)seed);
	cr_assert(eq(u64, got.stats.duplicates, duplicates), "%s %llu", what,
		  (unsigned long long)seed);
	cr_assert(eq(u64, got.stats.heap_steps + got.stats.fold_steps, count));
	if (total) {
		total->heap_steps += got.stats.heap_steps;
		total->fold_steps += got.stats.fold_steps;
		total->duplicates += duplicates;
		total->modes[got.mode]++;
	}
	free(got.places);
	free(wanted);
}

/* Both directions, and the matched entries alone. */
static void check_all(struct model *m, const char *what, uint64_t seed, struct tally *total)
{
	struct scan_options o = { .io = IO_CASE_SYNC, .tail = UINT64_MAX, .shuffle = seed % 2 };

	check(m, &o, what, seed, total);
	o.backward = true;
	check(m, &o, what, seed, total);
	o.only_marked = true;
	o.plan_scan = seed % 3 == 0;
	o.backward = seed % 4 < 2;
	check(m, &o, what, seed, NULL);
}

/* ---- against the model -------------------------------------------------------------------- */

#define CHUNKS 16u
#define CHUNK_SEEDS 200u

static unsigned chunks[CHUNKS] = { 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15 };
static unsigned kinds[SET_KIND_COUNT] = { 0, 1, 2, 3, 4, 5, 6 };

ParameterizedTestParameters(merge, wild_sets_give_what_the_model_gives)
{
	return cr_make_param_array(unsigned, chunks, CHUNKS);
}

ParameterizedTest(unsigned *chunk, merge, wild_sets_give_what_the_model_gives)
{
	struct tally total = { 0 };

	for (uint64_t i = 0; i < CHUNK_SEEDS; i++) {
		uint64_t seed = *chunk * CHUNK_SEEDS + i;
		struct model *m = model_wild(seed, false);

		check_all(m, "wild", seed, &total);
		model_free(m);
	}
	/* Not in one way only. */
	cr_assert(gt(u64, total.heap_steps, 0));
	cr_assert(gt(u64, total.fold_steps, 0));
	cr_assert(gt(u64, total.duplicates, 0));
	for (unsigned mode = MERGE_SEQNUM; mode <= MERGE_FOLD; mode++)
		cr_assert(gt(u32, total.modes[mode], 0), "mode %u", mode);
}

ParameterizedTestParameters(merge, long_wild_sets_give_what_the_model_gives)
{
	return cr_make_param_array(unsigned, chunks, CHUNKS);
}

ParameterizedTest(unsigned *chunk, merge, long_wild_sets_give_what_the_model_gives)
{
	struct tally total = { 0 };

	for (uint64_t i = 0; i < 4; i++) {
		uint64_t seed = 100000 + *chunk * 4 + i;
		struct model *m = model_wild(seed, true);

		check_all(m, "long wild", seed, &total);
		model_free(m);
	}
	/* Long enough for the heap to be given up. */
	cr_assert(gt(u32, total.modes[MERGE_FOLD], 0));
}

ParameterizedTestParameters(merge, sets_of_every_kind_give_what_the_model_gives)
{
	return cr_make_param_array(unsigned, kinds, SET_KIND_COUNT);
}

ParameterizedTest(unsigned *kind, merge, sets_of_every_kind_give_what_the_model_gives)
{
	for (uint64_t seed = 1; seed <= 60; seed++) {
		struct set *set = set_new(*kind, seed);
		struct model *m = model_from_set(set);

		check_all(m, set_kind_name(*kind), seed, NULL);
		model_free(m);
		set_free(set);
	}
}

static struct scan_options methods[] = {
	{ .io = IO_CASE_URING, .tail = UINT64_MAX },
	{ .io = IO_CASE_THREADS, .tail = UINT64_MAX },
	{ .io = IO_CASE_SYNC, .tail = UINT64_MAX },
	{ .io = IO_CASE_FAULT, .tail = UINT64_MAX },
};

ParameterizedTestParameters(merge, result_is_the_same_over_all_io_methods)
{
	return cr_make_param_array(struct scan_options, methods, 4);
}

ParameterizedTest(struct scan_options *o, merge, result_is_the_same_over_all_io_methods)
{
	for (uint64_t seed = 1; seed <= 24; seed++) {
		struct model *m = model_wild(seed, seed % 8 == 0);

		o->backward = seed % 2;
		check(m, o, "wild", seed, NULL);
		model_free(m);
	}
}

/* ---- against a sort ------------------------------------------------------------------------ */

/* By sequence number. */
static int compare_seqnums(const void *a, const void *b)
{
	const struct model_place *x = a, *y = b;

	return (x->entry->seqnum > y->entry->seqnum) - (x->entry->seqnum < y->entry->seqnum);
}

Test(merge, one_id_is_sorted_by_number)
{
	for (uint64_t seed = 1; seed <= 60; seed++) {
		struct set *set = set_new(seed % 2 ? SET_ROTATED : SET_SYSTEM_USER, seed);
		struct model *m = model_from_set(set);
		struct scan_options o = { .io = IO_CASE_SYNC, .tail = UINT64_MAX };
		struct scan_result forward = scan(m, &o), backward;
		struct model_place *sorted = calloc(m->entry_count, sizeof(*sorted));
		size_t count = 0;

		o.backward = true;
		backward = scan(m, &o);
		for (unsigned i = 0; i < m->file_count; i++) {
			for (size_t k = 0; k < m->files[i].count; k++)
				sorted[count++] = (struct model_place){
					m->files + i, m->files[i].entries + k
				};
		}
		qsort(sorted, count, sizeof(*sorted), compare_seqnums);
		cr_assert(eq(sz, forward.count, count));
		cr_assert(eq(sz, backward.count, count));
		for (size_t i = 0; i < count; i++) {
			cr_assert(eq(u64, forward.places[i].entry->seqnum,
				     sorted[i].entry->seqnum));
			cr_assert(backward.places[count - 1 - i].entry == forward.places[i].entry);
		}
		cr_assert(eq(u64, forward.stats.fold_steps + backward.stats.fold_steps, 0));
		free(sorted);
		free(forward.places);
		free(backward.places);
		model_free(m);
		set_free(set);
	}
}

/* ---- the heap is used ----------------------------------------------------------------------- */

/* Scans in both directions, against the model; fails if a fold was made. */
static void check_heap(struct model *m)
{
	struct tally total = { 0 };
	struct scan_options o = { .io = IO_CASE_SYNC, .tail = UINT64_MAX };

	check(m, &o, "machines", m->file_count, &total);
	o.backward = true;
	check(m, &o, "machines", m->file_count, &total);
	cr_assert(eq(u64, total.fold_steps, 0));
	cr_assert(eq(u64, total.heap_steps, 2 * m->entry_count));
}

Test(merge, a_hundred_machines_are_merged_on_the_heap)
{
	struct model *m = model_machines(100, 1, 40, false);

	check_heap(m);
	model_free(m);
}

Test(merge, rotated_files_of_several_machines_are_merged_on_the_heap)
{
	struct model *m = model_machines(5, 12, 30, false);

	check_heap(m);
	model_free(m);
}

Test(merge, rotated_files_of_one_machine_are_merged_on_the_heap)
{
	struct model *m = model_machines(1, 60, 30, false);

	check_heap(m);
	model_free(m);
}

Test(merge, files_with_ids_and_boots_of_their_own_are_merged_on_the_heap)
{
	struct model *m = model_machines(1, 60, 30, true);

	check_heap(m);
	model_free(m);
	m = model_machines(4, 20, 30, true);
	check_heap(m);
	model_free(m);
}

Test(merge, ranked_boots_with_sane_numbers_are_merged_on_the_heap)
{
	uint64_t heap = 0, fold = 0;

	for (uint64_t seed = 1; seed <= 40; seed++) {
		struct set *set = set_new(SET_RANKED_BOOTS, seed);
		struct model *m = model_from_set(set);
		struct tally total = { 0 };

		check_all(m, "ranked", seed, &total);
		heap += total.heap_steps;
		fold += total.fold_steps;
		model_free(m);
		set_free(set);
	}
	cr_assert(gt(u64, heap, 0));
	cr_assert(eq(u64, fold, 0));
}

/* ---- the last entries ----------------------------------------------------------------------- */

/*
 * The last entries of a listing whose mirror is the listing backward. Not where headers lie: for
 * some entries not every file is looked into.
 */
static void check_tails(struct model *m, const char *what, uint64_t seed)
{
	struct model_place *forward = calloc(m->entry_count + 1, sizeof(*forward));
	struct model_place *backward = calloc(m->entry_count + 1, sizeof(*backward));
	size_t count = model_run(m, false, false, forward, NULL);
	bool mirrored = !m->lies && count == model_run(m, true, false, backward, NULL);

	for (size_t i = 0; i < count && mirrored; i++)
		mirrored = forward[i].entry == backward[count - 1 - i].entry;
	for (uint64_t tail = 0; tail <= count + 2; tail += 1 + count / 6) {
		struct scan_options o = { .io = IO_CASE_SYNC, .tail = tail };
		struct scan_result got = scan(m, &o);
		size_t wanted = tail < count ? tail : count;

		/* Elsewhere each entry still comes once at most, whatever the order. */
		for (size_t i = 0; i < got.count; i++) {
			for (size_t k = 0; k < i && !mirrored; k++)
				cr_assert(got.places[i].entry != got.places[k].entry);
		}
		if (mirrored) {
			cr_assert(eq(sz, got.count, wanted), "%s %llu, tail %llu", what,
				  (unsigned long long)seed, (unsigned long long)tail);
			for (size_t i = 0; i < wanted; i++)
				cr_assert(got.places[i].entry == forward[count - wanted + i].entry,
					  "%s %llu, tail %llu, entry %zu", what,
					  (unsigned long long)seed, (unsigned long long)tail, i);
		}
		free(got.places);
	}
	free(forward);
	free(backward);
}

ParameterizedTestParameters(merge, tail_is_the_end_of_the_listing)
{
	return cr_make_param_array(unsigned, kinds, SET_KIND_COUNT);
}

ParameterizedTest(unsigned *kind, merge, tail_is_the_end_of_the_listing)
{
	for (uint64_t seed = 1; seed <= 12; seed++) {
		struct set *set = set_new(*kind, seed);
		struct model *m = model_from_set(set);

		check_tails(m, set_kind_name(*kind), seed);
		model_free(m);
		set_free(set);
	}
}

Test(merge, tail_of_wild_sets_is_sane)
{
	for (uint64_t seed = 1; seed <= 60; seed++) {
		struct model *m = model_wild(seed, false);

		check_tails(m, "wild", seed);
		model_free(m);
	}
}
