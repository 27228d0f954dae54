/* SPDX-License-Identifier: MIT */
/*
 * Data objects that many entries share, looked at once: what is known of one is found again by its
 * file and offset, with a copy of its decoded payload, so that its object need not be in memory any
 * more. A table belongs to one thread.
 *
 * It is bounded by having two halves. What is new goes into the young one; what is found in the old
 * one is copied over. When the young half is full the old one is emptied and they change places:
 * what has not been used meanwhile is gone. That happens in shared_turn() only: what shared_find()
 * gave is valid until the next call of that.
 *
 * Memory that is used for the first time costs more than a look at an object, and a small table
 * stays in the processor's caches: halves are small, and grow while too much is new.
 */
#ifndef ENGINE_SHARED_H
#define ENGINE_SHARED_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "formats/format.h"

/* Larger payloads are not kept. */
#define SHARED_PAYLOAD_MAX 4096u
/* So many entries have to share an object for it to be kept. */
#define SHARED_ENTRIES_MIN 4u
/* Bytes behind a kept payload that may be read. */
#define SHARED_SLACK 16u

struct shared_item {
	uint64_t key;         /* 0: the slot is free */
	const uint8_t *bytes; /* the decoded payload; NULL: nobody wants the field */
	uint32_t size;
	uint32_t stored_size; /* as it is in the file */
	uint32_t name_size;
	uint32_t traits;      /* output_traits() */
};

struct shared_chunk;

struct shared_half {
	struct shared_item *items; /* open addressing, at most three quarters full */
	size_t mask;               /* slots - 1 */
	size_t count;
	struct shared_chunk *chunks; /* of payloads; the first is the one being filled */
	uint64_t bytes;            /* of slots and chunks */
};

struct shared {
	struct shared_half young, old;
	uint64_t half_bytes;       /* what a half may take now, ... */
	uint64_t half_bytes_max;   /* ... and at last */
	uint64_t looked;           /* for how many objects since the halves changed places */
	bool full;                 /* the young half takes no more */
};

/* A table of BYTES_MAX at most, 0: one that keeps nothing. It takes memory as it is used. */
void shared_init(struct shared *t, uint64_t bytes_max);
void shared_done(struct shared *t);

/* Bits that the offset of an object which is kept does not have. */
#define SHARED_ODD_BITS (UINT64_MAX << 43 | 7)

/* The key of an object: FILE numbers the file, from 1 on, and what it was when it was read. 0: such
 * an object is not kept. */
static inline uint64_t shared_key(uint32_t file, uint64_t offset)
{
	if (unlikely(!file || file >> 24 || offset & SHARED_ODD_BITS))
		return 0;
	return (uint64_t)file << 40 | offset >> 3;
}

/* Where the search for a key begins. */
static inline size_t shared_slot(uint64_t key)
{
	return (size_t)((key * UINT64_C(0x9e3779b97f4a7c15)) >> 32);
}

/* shared_find() beyond the first slot. */
const struct shared_item *shared_find_slow(struct shared *t, uint64_t key);

/* What is known of the object with a key, which is not 0; or NULL. */
static inline const struct shared_item *shared_find(struct shared *t, uint64_t key)
{
	const struct shared_item *item;

	if (unlikely(!t->young.items))
		return NULL;
	item = &t->young.items[shared_slot(key) & t->young.mask];
	return likely(item->key == key) ? item : shared_find_slow(t, key);
}

/*
 * Keeps an object that is not there yet: a copy of it. ITEM->bytes may be NULL. Returns what is
 * kept, or NULL if there is no room until shared_turn().
 */
const struct shared_item *shared_add(struct shared *t, const struct shared_item *item);

/* The halves change places if the young one is full. */
void shared_turn_slow(struct shared *t);

/* Begins an entry of COUNT objects. True if the halves have changed places: what is kept of the
 * table's payloads elsewhere has to be forgotten now. */
static inline bool shared_turn(struct shared *t, uint64_t count)
{
	t->looked += count;
	if (likely(!t->full))
		return false;
	shared_turn_slow(t);
	return true;
}

#endif
