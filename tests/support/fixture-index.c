/* SPDX-License-Identifier: MIT */
/*
 * What the journal writer remembers of its data and field objects: an index of its own, so that
 * files with few buckets, and hence long chains, are written as fast as others. It knows payloads
 * as they were submitted, whatever is in the file.
 */
#include <stdlib.h>

#include "tests/support/fixture-private.h"

void *fixture_grow(void *memory, size_t count, size_t *allocated, size_t size)
{
	size_t wanted = *allocated ? *allocated : 64;

	if (count < *allocated)
		return memory;
	while (wanted <= count)
		wanted *= 2;
	memory = realloc(memory, wanted * size);
	if (!memory)
		abort();
	memset((uint8_t *)memory + *allocated * size, 0, (wanted - *allocated) * size);
	*allocated = wanted;
	return memory;
}

struct fixture_record *fixture_index_find(const struct fixture_index *index, const void *data,
					  size_t size, uint64_t hash)
{
	uint32_t i = index->slot_count ? index->slots[hash & (index->slot_count - 1)] : 0;

	while (i) {
		struct fixture_record *r = index->records + i - 1;

		if (r->hash == hash && r->size == size && memcmp(r->bytes, data, size) == 0)
			return r;
		i = r->next;
	}
	return NULL;
}

/* Spreads all records over four times as many slots. */
static void fixture_index_respread(struct fixture_index *index)
{
	size_t slot_count = index->slot_count ? index->slot_count * 4 : 64;

	free(index->slots);
	index->slots = calloc(slot_count, sizeof(*index->slots));
	if (!index->slots)
		abort();
	index->slot_count = slot_count;
	for (size_t i = 0; i < index->count; i++) {
		uint32_t *slot = index->slots + (index->records[i].hash & (slot_count - 1));

		index->records[i].next = *slot;
		*slot = (uint32_t)i + 1;
	}
}

struct fixture_record *fixture_index_add(struct fixture_index *index, const void *data, size_t size,
					 uint64_t hash, uint64_t offset)
{
	struct fixture_record *r;
	uint32_t *slot;

	if (index->count >= index->slot_count)
		fixture_index_respread(index);
	index->records = fixture_grow(index->records, index->count, &index->allocated, sizeof(*r));
	r = index->records + index->count;
	slot = index->slots + (hash & (index->slot_count - 1));
	*r = (struct fixture_record){ .offset = offset, .hash = hash, .size = size, .next = *slot };
	r->bytes = malloc(size ? size : 1);
	if (!r->bytes)
		abort();
	memcpy(r->bytes, data, size);
	*slot = (uint32_t)++index->count;
	return r;
}

void fixture_index_done(struct fixture_index *index)
{
	for (size_t i = 0; i < index->count; i++)
		free(index->records[i].bytes);
	free(index->records);
	free(index->slots);
	free(index->bucket_depths);
}
