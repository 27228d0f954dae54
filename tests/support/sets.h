/* SPDX-License-Identifier: MIT */
/*
 * Sets of files to merge, by kind and seed: what several writers on several machines leave behind,
 * with rotations, reboots, clocks that step, and copies. Beside the files there is the list of what
 * each of them holds, so that a model can say what the merge has to give. The same kind and seed
 * always give the same bytes.
 */
#ifndef TESTS_SUPPORT_SETS_H
#define TESTS_SUPPORT_SETS_H

#include "tests/support/fixture.h"

#define SET_FILES_MAX 8u

enum set_kind {
	/* One writer's file, rotated: one sequence-number ID, ranges that do not overlap. */
	SET_ROTATED,
	/* One writer, system and user files that interleave: one sequence-number ID. */
	SET_SYSTEM_USER,
	/* One machine with a new sequence-number ID now and then; every boot is the last one of
	 * some file, so that boots can be ranked. */
	SET_RANKED_BOOTS,
	/* The same, but boots may end in the middle of a file and then have no rank. */
	SET_UNRANKED_BOOTS,
	/* Several machines' journals received by one: clocks disagree and step, headers may carry
	 * the receiver's machine ID. */
	SET_REMOTE,
	/* One machine, and files that repeat entries of others, under the same sequence-number ID
	 * and number, or as copies with an ID and numbers of their own. */
	SET_DUPLICATES,
	/* Everything at once, few distinct times: made to find cycles in the comparison. */
	SET_ADVERSARIAL,
	SET_KIND_COUNT,
};

/* One entry as it stands in one file. Copies share a number. */
struct set_entry {
	unsigned number; /* MESSAGE=entry NUMBER */
	uint64_t offset;
	uint64_t seqnum;
	uint64_t realtime;
	uint64_t monotonic;
	struct id128 boot_id;
	struct id128 machine_id; /* of the machine that wrote it: its _MACHINE_ID field */
	uint64_t xor_hash;
};

struct set_file {
	char name[32];
	struct fixture *fx; /* finished */
	struct id128 file_id;
	struct id128 seqnum_id;
	struct id128 machine_id; /* in the header */
	uint8_t state;
	struct set_entry *entries;
	size_t entry_count;
	size_t entry_allocated;
};

struct set {
	enum set_kind kind;
	uint64_t seed;
	unsigned file_count;     /* 2 to SET_FILES_MAX */
	unsigned distinct_count; /* entries, copies not counted: numbers are below this */
	struct set_file files[SET_FILES_MAX];
};

const char *set_kind_name(enum set_kind kind);
struct set *set_new(enum set_kind kind, uint64_t seed);
struct set *set_free(struct set *set);
/* Writes all files into FOLDER, which has to be there. */
void set_write(const struct set *set, const char *folder);
/* An order of the files that follows from a seed; 0 leaves them as they are. */
void set_order(const struct set *set, uint64_t seed, unsigned order[SET_FILES_MAX]);

#endif
