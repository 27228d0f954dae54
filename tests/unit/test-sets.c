/* SPDX-License-Identifier: MIT */
/* Sets for merge tests: they repeat, their lists are what the files hold, and each kind is what it
 * says it is. */
#include <criterion/criterion.h>
#include <criterion/new/assert.h>
#include <criterion/parameterized.h>
#include <stdio.h>

#include "tests/support/sets.h"
#include "tests/support/walk.h"

#define SEEDS 40u

static unsigned kinds[SET_KIND_COUNT] = { 0, 1, 2, 3, 4, 5, 6 };

/* An entry with its file, for looking at all entries of a set. */
struct place {
	const struct set_file *file;
	const struct set_entry *entry;
};

/* All entries of a set, file by file. Returns how many. */
static size_t all_entries(const struct set *set, struct place places[4096])
{
	size_t count = 0;

	for (unsigned i = 0; i < set->file_count; i++) {
		for (size_t k = 0; k < set->files[i].entry_count; k++)
			places[count++] =
				(struct place){ set->files + i, set->files[i].entries + k };
	}
	return count;
}

/* Whether two entries are one by all but perhaps their numbers. */
static bool is_copy(const struct set_entry *a, const struct set_entry *b)
{
	return a->realtime == b->realtime && a->monotonic == b->monotonic &&
	       a->xor_hash == b->xor_hash && id128_equal(&a->boot_id, &b->boot_id);
}

ParameterizedTestParameters(sets, same_seed_gives_same_bytes)
{
	return cr_make_param_array(unsigned, kinds, SET_KIND_COUNT);
}

ParameterizedTest(unsigned *kind, sets, same_seed_gives_same_bytes)
{
	struct set *a = set_new(*kind, 7), *b = set_new(*kind, 7), *c = set_new(*kind, 8);

	cr_assert(eq(u32, a->file_count, b->file_count));
	for (unsigned i = 0; i < a->file_count; i++) {
		size_t size = fixture_size(a->files[i].fx);

		cr_assert(eq(sz, size, fixture_size(b->files[i].fx)));
		cr_assert(eq(
			int,
			memcmp(fixture_bytes(a->files[i].fx), fixture_bytes(b->files[i].fx), size),
			0));
	}
	cr_assert(not(id128_equal(&a->files[0].file_id, &c->files[0].file_id)));
	set_free(a);
	set_free(b);
	set_free(c);
}

ParameterizedTestParameters(sets, lists_are_what_files_hold)
{
	return cr_make_param_array(unsigned, kinds, SET_KIND_COUNT);
}

/* Compares a file's list with what a plain reader finds in it. */
static void check_list(const struct set_file *f)
{
	struct walk *w = walk_new(fixture_bytes(f->fx), fixture_size(f->fx));

	cr_assert(gt(sz, f->entry_count, 0));
	cr_assert(eq(u64, w->counts[OBJECT_ENTRY], f->entry_count));
	cr_assert(eq(int, memcmp(w->bytes + HEADER_SEQNUM_ID, f->seqnum_id.bytes, 16), 0));
	cr_assert(eq(int, memcmp(w->bytes + HEADER_MACHINE_ID, f->machine_id.bytes, 16), 0));
	cr_assert(eq(u8, walk_get8(w, HEADER_STATE), f->state));
	for (size_t i = 0; i < f->entry_count; i++) {
		const struct set_entry *e = f->entries + i, *before = i ? e - 1 : NULL;
		uint64_t at = w->offsets[OBJECT_ENTRY][i];
		char text[64];

		cr_assert(eq(u64, e->offset, at));
		cr_assert(eq(u64, e->seqnum, walk_get64(w, at + ENTRY_SEQNUM)));
		cr_assert(eq(u64, e->realtime, walk_get64(w, at + ENTRY_REALTIME)));
		cr_assert(eq(u64, e->monotonic, walk_get64(w, at + ENTRY_MONOTONIC)));
		cr_assert(eq(u64, e->xor_hash, walk_get64(w, at + ENTRY_XOR_HASH)));
		cr_assert(eq(int, memcmp(w->bytes + at + ENTRY_BOOT_ID, e->boot_id.bytes, 16), 0));
		snprintf(text, sizeof(text), "MESSAGE=entry %u", e->number);
		cr_assert(ne(u64, fixture_find_text(f->fx, text), 0));
		if (!before)
			continue;
		cr_assert(gt(u64, e->seqnum, before->seqnum));
		if (id128_equal(&e->boot_id, &before->boot_id))
			cr_assert(ge(u64, e->monotonic, before->monotonic));
	}
	walk_free(w);
}

ParameterizedTest(unsigned *kind, sets, lists_are_what_files_hold)
{
	for (uint64_t seed = 1; seed <= SEEDS; seed++) {
		struct set *set = set_new(*kind, seed);

		cr_assert(ge(u32, set->file_count, 2));
		cr_assert(le(u32, set->file_count, SET_FILES_MAX));
		for (unsigned i = 0; i < set->file_count; i++)
			check_list(set->files + i);
		set_free(set);
	}
}

Test(sets, rotated_files_share_an_id_and_follow_each_other)
{
	for (uint64_t seed = 1; seed <= SEEDS; seed++) {
		struct set *set = set_new(SET_ROTATED, seed);

		for (unsigned i = 1; i < set->file_count; i++) {
			const struct set_file *a = set->files + i - 1, *b = a + 1;

			cr_assert(id128_equal(&a->seqnum_id, &b->seqnum_id));
			cr_assert(lt(u64, a->entries[a->entry_count - 1].seqnum,
				     b->entries[0].seqnum));
		}
		set_free(set);
	}
}

/* How many boots of a set are the last one of no file. */
static unsigned unranked_boots(const struct set *set)
{
	static struct place places[4096];
	size_t count = all_entries(set, places);
	unsigned unranked = 0;

	for (size_t i = 0; i < count; i++) {
		const struct id128 *boot = &places[i].entry->boot_id;
		bool ranked = false, seen = false;

		for (size_t k = 0; k < i && !seen; k++)
			seen = id128_equal(&places[k].entry->boot_id, boot);
		for (unsigned k = 0; k < set->file_count && !ranked; k++) {
			const struct set_file *f = set->files + k;

			ranked = id128_equal(&f->entries[f->entry_count - 1].boot_id, boot);
		}
		unranked += !seen && !ranked;
	}
	return unranked;
}

Test(sets, boots_are_ranked_where_promised_and_not_elsewhere)
{
	unsigned unranked = 0;

	for (uint64_t seed = 1; seed <= SEEDS; seed++) {
		struct set *set = set_new(SET_RANKED_BOOTS, seed);

		cr_assert(eq(u32, unranked_boots(set), 0), "seed %u", (unsigned)seed);
		set_free(set);
		set = set_new(SET_UNRANKED_BOOTS, seed);
		unranked += unranked_boots(set) > 0;
		set_free(set);
	}
	cr_assert(gt(u32, unranked, SEEDS / 2));
}

Test(sets, remote_machines_disagree_about_time_and_name)
{
	unsigned back = 0, foreign_header = 0, several_machines = 0;

	for (uint64_t seed = 1; seed <= SEEDS; seed++) {
		struct set *set = set_new(SET_REMOTE, seed);
		const struct id128 *first = &set->files[0].entries[0].machine_id;

		for (unsigned i = 0; i < set->file_count; i++) {
			const struct set_file *f = set->files + i;

			for (size_t k = 1; k < f->entry_count; k++)
				back += f->entries[k].realtime < f->entries[k - 1].realtime;
			foreign_header += !id128_equal(&f->machine_id, &f->entries[0].machine_id);
			several_machines += !id128_equal(first, &f->entries[0].machine_id);
		}
		set_free(set);
	}
	cr_assert(gt(u32, back, SEEDS / 4));
	cr_assert(gt(u32, foreign_header, SEEDS));
	cr_assert(gt(u32, several_machines, SEEDS / 2));
}

Test(sets, duplicates_repeat_entries_across_files_only)
{
	static struct place places[4096];
	unsigned same = 0, foreign = 0;

	for (uint64_t seed = 1; seed <= SEEDS; seed++) {
		struct set *set = set_new(SET_DUPLICATES, seed);
		size_t count = all_entries(set, places);

		for (size_t i = 0; i < count; i++) {
			for (size_t k = 0; k < i; k++) {
				const struct place *a = places + i, *b = places + k;

				/* A number names an entry and all its copies, and nothing else. */
				cr_assert(eq(int, a->entry->number == b->entry->number,
					     is_copy(a->entry, b->entry)));
				if (a->entry->number != b->entry->number)
					continue;
				cr_assert(ne(ptr, (void *)a->file, (void *)b->file));
				if (!id128_equal(&a->file->seqnum_id, &b->file->seqnum_id))
					foreign++;
				else if (a->entry->seqnum == b->entry->seqnum)
					same++;
			}
		}
		set_free(set);
	}
	cr_assert(gt(u32, same, SEEDS));
	cr_assert(gt(u32, foreign, SEEDS));
}

Test(sets, orders_are_permutations)
{
	struct set *set = set_new(SET_SYSTEM_USER, 3);
	unsigned order[SET_FILES_MAX], seen, changed = 0;

	for (uint64_t seed = 0; seed < 9; seed++) {
		set_order(set, seed, order);
		seen = 0;
		for (unsigned i = 0; i < set->file_count; i++) {
			seen |= 1u << order[i];
			changed += order[i] != i;
			cr_assert(eq(int, seed == 0 && order[i] != i, 0));
		}
		cr_assert(eq(u32, seen, (1u << set->file_count) - 1));
	}
	cr_assert(gt(u32, changed, 0));
	set_free(set);
}
