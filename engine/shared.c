/* SPDX-License-Identifier: MIT */
/*
 * The table of shared data objects: two hash tables with a stack of chunks of payloads each. Out of
 * memory is no error: what is not kept is looked at again.
 */
#include "engine/shared.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

#define SHARED_SLOTS_MIN 1024u
#define SHARED_CHUNK_BYTES (64u << 10)
#define SHARED_HALF_BYTES (256u << 10)
/* Less than one new object in so many that are looked for: the halves are large enough. */
#define SHARED_NEW_PART 64u

struct shared_chunk {
	struct shared_chunk *next;
	size_t used;
	uint8_t bytes[SHARED_CHUNK_BYTES];
};

void shared_init(struct shared *t, uint64_t bytes_max)
{
	*t = (struct shared){ .half_bytes_max = bytes_max / 2 };
	t->half_bytes = t->half_bytes_max < SHARED_HALF_BYTES ? t->half_bytes_max :
								SHARED_HALF_BYTES;
}

/* Frees what a half holds. */
static void shared_half_done(struct shared_half *half)
{
	struct shared_chunk *chunk;

	while ((chunk = half->chunks)) {
		half->chunks = chunk->next;
		free(chunk);
	}
	free(half->items);
	*half = (struct shared_half){ 0 };
}

void shared_done(struct shared *t)
{
	shared_half_done(&t->young);
	shared_half_done(&t->old);
}

/* Empties a half, but keeps its slots and one chunk. */
static void shared_half_clear(struct shared_half *half)
{
	struct shared_chunk *chunk;

	if (half->items)
		memset(half->items, 0, (half->mask + 1) * sizeof(*half->items));
	half->count = 0;
	while ((chunk = half->chunks) && chunk->next) {
		half->chunks = chunk->next;
		half->bytes -= sizeof(*chunk);
		free(chunk);
	}
	if (chunk)
		chunk->used = 0;
}

void shared_turn_slow(struct shared *t)
{
	struct shared_half half = t->old;

	assert(t->full);
	if (t->young.count * SHARED_NEW_PART > t->looked) {
		t->half_bytes *= 2;
		if (t->half_bytes > t->half_bytes_max)
			t->half_bytes = t->half_bytes_max;
	}
	t->looked = 0;
	shared_half_clear(&half);
	t->old = t->young;
	t->young = half;
	t->full = false;
}

/* The slot of a key: its own, or the free one where it belongs. */
static struct shared_item *shared_half_slot(const struct shared_half *half, uint64_t key)
{
	size_t at = shared_slot(key) & half->mask;

	while (half->items[at].key && half->items[at].key != key)
		at = (at + 1) & half->mask;
	return &half->items[at];
}

const struct shared_item *shared_find_slow(struct shared *t, uint64_t key)
{
	const struct shared_item *item = shared_half_slot(&t->young, key);

	if (item->key)
		return item;
	if (!t->old.items)
		return NULL;
	item = shared_half_slot(&t->old, key);
	if (!item->key)
		return NULL;
	/* Where the young half has no room the old one still serves, until they change places. */
	shared_add(t, item);
	return item;
}

/* Makes room for one more item. False if there is none. */
static bool shared_half_grow(struct shared_half *half, uint64_t bytes_max)
{
	struct shared_half more = { .mask = half->items ? half->mask * 2 + 1 :
							  SHARED_SLOTS_MIN - 1 };
	uint64_t bytes = (more.mask + 1) * sizeof(*half->items);

	if (half->items && half->count < (half->mask + 1) / 2)
		return true;
	if (half->bytes + bytes - (half->items ? bytes / 2 : 0) > bytes_max)
		return false;
	more.items = calloc(more.mask + 1, sizeof(*half->items));
	if (!more.items)
		return false;
	for (size_t i = 0; half->items && i <= half->mask; i++) {
		if (half->items[i].key)
			*shared_half_slot(&more, half->items[i].key) = half->items[i];
	}
	if (half->items)
		half->bytes -= bytes / 2;
	free(half->items);
	half->items = more.items;
	half->mask = more.mask;
	half->bytes += bytes;
	return true;
}

/* Room for a payload and the slack behind it; NULL if there is none. */
static uint8_t *shared_half_room(struct shared_half *half, uint64_t bytes_max, size_t size)
{
	struct shared_chunk *chunk = half->chunks;
	uint8_t *bytes;

	size += SHARED_SLACK;
	assert(size <= SHARED_CHUNK_BYTES);
	if (!chunk || SHARED_CHUNK_BYTES - chunk->used < size) {
		if (half->bytes + sizeof(*chunk) > bytes_max)
			return NULL;
		chunk = malloc(sizeof(*chunk));
		if (!chunk)
			return NULL;
		chunk->next = half->chunks;
		chunk->used = 0;
		half->chunks = chunk;
		half->bytes += sizeof(*chunk);
	}
	bytes = chunk->bytes + chunk->used;
	chunk->used += (size + 15) / 16 * 16;
	if (chunk->used > SHARED_CHUNK_BYTES)
		chunk->used = SHARED_CHUNK_BYTES;
	return bytes;
}

const struct shared_item *shared_add(struct shared *t, const struct shared_item *item)
{
	struct shared_item *slot;
	uint8_t *bytes = NULL;

	assert(item->key && item->size <= SHARED_PAYLOAD_MAX);
	if (t->full)
		return NULL;
	if (!shared_half_grow(&t->young, t->half_bytes)) {
		t->full = t->young.items != NULL;
		return NULL;
	}
	if (item->bytes) {
		bytes = shared_half_room(&t->young, t->half_bytes, item->size);
		if (!bytes) {
			t->full = true;
			return NULL;
		}
		memcpy(bytes, item->bytes, item->size);
		memset(bytes + item->size, 0, SHARED_SLACK);
	}
	slot = shared_half_slot(&t->young, item->key);
	assert(!slot->key);
	*slot = *item;
	slot->bytes = bytes;
	t->young.count++;
	return slot;
}
