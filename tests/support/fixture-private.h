/* SPDX-License-Identifier: MIT */
/* What the writer (fixture.c) remembers, for the helpers that look into a file (fixture-find.c). */
#ifndef TESTS_SUPPORT_FIXTURE_PRIVATE_H
#define TESTS_SUPPORT_FIXTURE_PRIVATE_H

#include "tests/support/fixture.h"

/* A chain of entry arrays as it is being written. */
struct fixture_chain {
	uint64_t first;
	uint64_t last;     /* the array that takes the next element */
	uint64_t capacity; /* of the last array */
	uint64_t used;     /* of the last array */
	uint64_t count;    /* elements in all arrays */
};

/* A data or a field object, and what is known of it beside the file. */
struct fixture_record {
	uint64_t offset;
	uint64_t hash;
	uint8_t *bytes; /* the payload, not compressed, or the name */
	size_t size;
	uint64_t depth; /* objects before it in its hash chain */
	uint64_t n_entries;
	struct fixture_chain chain;
	uint32_t next; /* in the same slot of the index, plus one */
};

/* All records of a kind, found by hash: lookups do not get slower with few buckets. */
struct fixture_index {
	struct fixture_record *records;
	size_t count;
	size_t allocated;
	uint32_t *slots; /* record number plus one; a power of two of them */
	size_t slot_count;
	uint64_t table_offset; /* of the first bucket in the file */
	uint64_t buckets;
	uint64_t *bucket_depths; /* objects in each chain */
	uint64_t deepest;
};

/* Offsets of objects in file order. */
struct fixture_list {
	uint64_t *offsets;
	size_t count;
	size_t allocated;
};

struct fixture {
	struct fixture_options options;
	uint32_t incompatible_flags;
	uint8_t *bytes;
	size_t allocated;
	size_t end;  /* of the last object, rounded up */
	size_t size; /* of the file, valid after a finish */
	struct fixture_index data;
	struct fixture_index fields;
	struct fixture_list objects[OBJECT_TAG + 1]; /* by type; OBJECT_ANY: all */
	struct fixture_chain chain;
	uint64_t tail_entry_offset;
	uint64_t head_seqnum;
	uint64_t head_realtime;
	struct fixture_stamp tail;
};

/* Makes room for element COUNT of an array; what is new is zero. */
void *fixture_grow(void *memory, size_t count, size_t *allocated, size_t size);

/* The hash that the file's tables are built on. */
uint64_t fixture_hash(const struct fixture *fx, const void *data, size_t size);

struct fixture_record *fixture_index_find(const struct fixture_index *index, const void *data,
					  size_t size, uint64_t hash);
/* Adds a record for an object. Records move when one is added. */
struct fixture_record *fixture_index_add(struct fixture_index *index, const void *data, size_t size,
					 uint64_t hash, uint64_t offset);
/* Frees what an index holds. */
void fixture_index_done(struct fixture_index *index);

#endif
