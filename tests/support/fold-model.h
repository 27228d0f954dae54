/* SPDX-License-Identifier: MIT */
/*
 * What the merge has to yield, said plainly: the definition (specification 7.2 and 7.4, files in
 * the order of first realtime, file ID and path) over files that are lists of entries in memory.
 * Nothing is shared with the engine. Models are made of a set, or are wild: files that no writer
 * would leave behind, from a seed.
 */
#ifndef TESTS_SUPPORT_FOLD_MODEL_H
#define TESTS_SUPPORT_FOLD_MODEL_H

#include "tests/support/sets.h"

#define MODEL_FILES_MAX 128u

struct model_entry {
	uint64_t offset;
	uint64_t seqnum, realtime, monotonic, xor_hash;
	struct id128 boot_id;
	unsigned text; /* what it says: copies say the same */
	bool marked;   /* it has PRIORITY=3 */
};

struct model_file {
	char name[32];
	struct fixture *fx; /* borrowed from the set, or the model's own */
	struct id128 file_id, seqnum_id;
	uint64_t head_realtime;
	bool has_newest;
	struct id128 newest_boot_id, newest_machine_id;
	uint64_t newest_realtime, newest_monotonic;
	struct model_entry *entries;
	size_t count, allocated;
	/* while it runs */
	size_t next, left; /* index of the candidate; how many there are from it on */
};

struct model {
	struct model_file *files; /* in order of their numbers */
	unsigned file_count;
	size_t entry_count;
	bool owns_fixtures;
	bool lies; /* some header does not say what is in its file */
};

/* Where an entry of the result is. */
struct model_place {
	const struct model_file *file;
	const struct model_entry *entry;
};

struct model *model_from_set(const struct set *set);
/* LONG_FILES: hundreds of entries each instead of some. */
struct model *model_wild(uint64_t seed, bool long_files);
/*
 * Well-behaved: so many machines, each with so many files that follow each other, all machines'
 * entries interleaved. NEW_IDS: each file has a boot and a sequence-number ID of its own.
 */
struct model *model_machines(unsigned machines, unsigned files, unsigned entries, bool new_ids);
struct model *model_free(struct model *model);

/*
 * The result, into PLACES, which has room for all entries. ONLY_MARKED: as if the match PRIORITY=3
 * had been given. Returns how many; RET_DUPLICATES: how many copies were skipped.
 */
size_t model_run(struct model *model, bool backward, bool only_marked, struct model_place *places,
		 size_t *ret_duplicates);

#endif
