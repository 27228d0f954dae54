/* SPDX-License-Identifier: MIT */
/*
 * Where the objects of a file begin, and a few bits about each. A chunk stands for 256 KiB of the
 * file: a bit for every 8 bytes, and for every 64 of them the number of the objects before, so that
 * an offset's number is one look and one count of bits. Chunks in which no object begins are not
 * there.
 */
#include <assert.h>
#include <stdlib.h>

#include "formats/journal/verify-private.h"

#define MAP_WORDS 512u
/* Bytes of the file that a word, and a chunk, stand for. */
#define MAP_WORD_SHIFT 9u
#define MAP_CHUNK_SHIFT 18u

struct map_chunk {
	uint64_t starts[MAP_WORDS];
	uint32_t before[MAP_WORDS]; /* valid where a bit is set */
};

void object_map_done(struct object_map *map)
{
	for (size_t i = 0; i < map->chunk_count; i++)
		free(map->chunks[i]);
	free(map->chunks);
	free(map->flags);
	free(map->last);
	*map = (struct object_map){ 0 };
}

/* Makes the table of chunks reach to one of them, and the chunk itself. */
static int object_map_reach(struct object_map *map, uint64_t chunk)
{
	if (chunk >= map->chunk_count) {
		size_t count = chunk + chunk / 8 + 16;
		struct map_chunk **chunks = reallocarray(map->chunks, count, sizeof(*chunks));

		if (!chunks)
			return -ENOMEM;
		memset(chunks + map->chunk_count, 0,
		       (count - map->chunk_count) * sizeof(struct map_chunk *));
		map->chunks = chunks;
		map->chunk_count = count;
	}
	if (!map->chunks[chunk])
		map->chunks[chunk] = calloc(1, sizeof(*map->chunks[chunk]));
	return map->chunks[chunk] ? 0 : -ENOMEM;
}

/* Makes room for one more object. */
static int object_map_grow(struct object_map *map)
{
	size_t capacity = map->capacity ? map->capacity + map->capacity / 2 : 1024;
	uint8_t *flags;
	uint32_t *last;

	if (map->count < map->capacity)
		return 0;
	if (map->count >= MAP_NONE)
		return -EFBIG;
	flags = realloc(map->flags, capacity);
	if (!flags)
		return -ENOMEM;
	map->flags = flags;
	last = reallocarray(map->last, capacity, sizeof(*last));
	if (!last)
		return -ENOMEM;
	map->last = last;
	map->capacity = capacity;
	return 0;
}

int object_map_add(struct object_map *map, uint64_t offset, uint8_t flags)
{
	uint64_t chunk = offset >> MAP_CHUNK_SHIFT;
	unsigned word = (unsigned)(offset >> MAP_WORD_SHIFT) % MAP_WORDS;
	unsigned bit = (unsigned)(offset >> 3) % 64;
	struct map_chunk *c;
	int r;

	r = object_map_grow(map);
	if (r == 0)
		r = object_map_reach(map, chunk);
	if (r < 0)
		return r;
	c = map->chunks[chunk];
	assert((offset & 7) == 0 && (c->starts[word] >> bit) == 0);
	if (!c->starts[word])
		c->before[word] = (uint32_t)map->count;
	c->starts[word] |= UINT64_C(1) << bit;
	map->flags[map->count] = flags;
	map->last[map->count] = 0;
	map->count++;
	return 0;
}

uint32_t object_map_find(const struct object_map *map, uint64_t offset, uint8_t kinds)
{
	uint64_t chunk = offset >> MAP_CHUNK_SHIFT;
	unsigned word = (unsigned)(offset >> MAP_WORD_SHIFT) % MAP_WORDS;
	unsigned bit = (unsigned)(offset >> 3) % 64;
	const struct map_chunk *c;
	uint32_t number;

	if (offset & 7 || chunk >= map->chunk_count || !map->chunks[chunk])
		return MAP_NONE;
	c = map->chunks[chunk];
	if (!(c->starts[word] >> bit & 1))
		return MAP_NONE;
	number = c->before[word] +
		 (uint32_t)__builtin_popcountll(c->starts[word] & ((UINT64_C(1) << bit) - 1));
	return map->flags[number] & kinds ? number : MAP_NONE;
}

bool object_map_next(const struct object_map *map, uint64_t offset, uint64_t *ret_offset,
		     uint32_t *ret_number)
{
	uint64_t word = offset >> MAP_WORD_SHIFT;
	unsigned bit = (unsigned)(offset >> 3) % 64;

	while (word / MAP_WORDS < map->chunk_count) {
		const struct map_chunk *c = map->chunks[word / MAP_WORDS];
		uint64_t left = c ? c->starts[word % MAP_WORDS] >> bit : 0;

		if (left) {
			*ret_offset = (word << MAP_WORD_SHIFT) +
				      8 * (bit + (unsigned)__builtin_ctzll(left));
			*ret_number =
				object_map_find(map, *ret_offset, MAP_DATA | MAP_ENTRY | MAP_ARRAY);
			return true;
		}
		word = c ? word + 1 : (word / MAP_WORDS + 1) * MAP_WORDS;
		bit = 0;
	}
	return false;
}
