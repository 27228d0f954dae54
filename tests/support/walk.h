/* SPDX-License-Identifier: MIT */
/*
 * A plain reader of whole, valid files, to check by: it follows the text of the format, shares
 * nothing with the writer or the library but offsets and hashes, and is in no hurry. What it finds
 * wrong fails the test.
 */
#ifndef TESTS_SUPPORT_WALK_H
#define TESTS_SUPPORT_WALK_H

#include "tests/support/fixture.h"

#define WALK_OBJECTS_MAX 4096u

/* What a walk over the objects in file order finds. */
struct walk {
	const uint8_t *bytes; /* the caller's */
	size_t size;
	bool compact;
	bool keyed;
	struct id128 file_id;
	uint64_t counts[OBJECT_TAG + 1];
	uint64_t offsets[OBJECT_TAG + 1][WALK_OBJECTS_MAX]; /* by type */
	uint64_t tail;
	uint64_t end; /* of the tail object, rounded up */
};

/* Visits all objects of a file: their headers are sound, and one follows the other. */
struct walk *walk_new(const uint8_t *bytes, size_t size);
struct walk *walk_free(struct walk *w);

uint64_t walk_get64(const struct walk *w, uint64_t offset);
uint32_t walk_get32(const struct walk *w, uint64_t offset);
uint8_t walk_get8(const struct walk *w, uint64_t offset);
/* A header field, 0 if the header ends before it. */
uint64_t walk_header(const struct walk *w, unsigned offset);
/* Whether an object of a type begins at an offset. */
bool walk_has(const struct walk *w, enum object_type type, uint64_t offset);
/* The hash of the file's tables. */
uint64_t walk_hash(const struct walk *w, const void *data, size_t size);
/* Items that an array or an entry has room for, and one of them. */
uint64_t walk_capacity(const struct walk *w, uint64_t object);
uint64_t walk_item(const struct walk *w, uint64_t object, uint64_t index);
/* A data object's payload as it was submitted. Returns its size. */
size_t walk_payload(const struct walk *w, uint64_t data, uint8_t *out, size_t room);
/* Reads COUNT elements of a chain of arrays and checks how it grows. Returns the last array and how
 * many of its items are used. */
uint64_t walk_chain(const struct walk *w, uint64_t array, uint64_t count, uint64_t *entries,
		    uint64_t *ret_used);
/* Checks all objects of a kind against their hash table, whose header fields begin at TABLE_FIELD.
 * Returns links in the longest chain. */
uint64_t walk_table(const struct walk *w, enum object_type type, unsigned table_field);

#endif
