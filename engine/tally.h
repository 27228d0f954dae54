/* SPDX-License-Identifier: MIT */
/* Counts by value: strings of bytes, each with how often it was met. */
#ifndef ENGINE_TALLY_H
#define ENGINE_TALLY_H

#include <stddef.h>
#include <stdint.h>

#include "formats/journal/journal.h"

struct tally_row {
	uint8_t *bytes;
	size_t size;
	uint64_t hash;
	uint64_t count;
};

struct tally {
	struct id128 key;
	struct tally_row *rows;
	size_t count, capacity;
	size_t *slots; /* row + 1 */
	size_t slot_count;
};

/* 0, -EIO if the system has no random bytes. */
int tally_init(struct tally *t);
void tally_done(struct tally *t);

/* Counts COUNT more of a value. -ENOMEM. */
int tally_add(struct tally *t, const void *bytes, size_t size, uint64_t count);

/* Most frequent first, then by bytes. Nothing is added afterwards. */
void tally_sort(struct tally *t);

#endif
