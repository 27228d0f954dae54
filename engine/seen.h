/* SPDX-License-Identifier: MIT */
/* A set of byte strings, kept as 128-bit keyed hashes: what a listing has shown already. */
#ifndef ENGINE_SEEN_H
#define ENGINE_SEEN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "formats/journal/journal.h"

struct seen {
	struct id128 keys[2];
	struct seen_hash {
		uint64_t a, b;
	} *slots;            /* open addressing; all zero: free */
	size_t slot_count;   /* a power of two, or 0 */
	size_t count;
};

/* Draws the keys, so that nobody can make strings that collide. */
int seen_init(struct seen *s);
void seen_done(struct seen *s);

/* Whether the string is there. */
bool seen_has(const struct seen *s, const void *bytes, size_t size);

/* 1: the string is new, and is remembered; 0: it was there; -ENOMEM. */
int seen_add(struct seen *s, const void *bytes, size_t size);

#endif
