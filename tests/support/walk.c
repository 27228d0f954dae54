/* SPDX-License-Identifier: MIT */
/*
 * The plain reader. Every look at the file is checked against its length; nothing else is trusted
 * more than it has to be, but it is made for valid files and gives up on others.
 */
#include <criterion/criterion.h>
#include <criterion/new/assert.h>
#include <inttypes.h>
#include <lz4.h>
#include <stdlib.h>
#include <zstd.h>

#include "config.h"
#include "tests/support/walk.h"

#if HAVE_XZ
#include <lzma.h>
#endif

/* SIZE bytes at OFFSET, which must be there. */
static const uint8_t *walk_at(const struct walk *w, uint64_t offset, size_t size)
{
	cr_assert(offset <= w->size && size <= w->size - offset, "%zu bytes at %" PRIu64, size,
		  offset);
	return w->bytes + offset;
}

uint64_t walk_get64(const struct walk *w, uint64_t offset)
{
	return load_le64(walk_at(w, offset, 8));
}

uint32_t walk_get32(const struct walk *w, uint64_t offset)
{
	return load_le32(walk_at(w, offset, 4));
}

uint8_t walk_get8(const struct walk *w, uint64_t offset)
{
	return *walk_at(w, offset, 1);
}

uint64_t walk_header(const struct walk *w, unsigned offset)
{
	return walk_get64(w, HEADER_HEADER_SIZE) < offset + 8 ? 0 : walk_get64(w, offset);
}

struct walk *walk_new(const uint8_t *bytes, size_t size)
{
	struct walk *w = calloc(1, sizeof(*w));
	uint32_t flags;
	uint64_t at;

	cr_assert(ne(ptr, w, NULL));
	w->bytes = bytes;
	w->size = size;
	flags = walk_get32(w, HEADER_INCOMPATIBLE_FLAGS);
	w->compact = flags & JOURNAL_INCOMPATIBLE_COMPACT;
	w->keyed = flags & JOURNAL_INCOMPATIBLE_KEYED_HASH;
	memcpy(w->file_id.bytes, walk_at(w, HEADER_FILE_ID, 16), 16);
	at = (walk_header(w, HEADER_HEADER_SIZE) + 7) & ~UINT64_C(7);
	while (at <= walk_header(w, HEADER_TAIL_OBJECT_OFFSET)) {
		uint8_t type = walk_get8(w, at + OBJECT_TYPE);
		uint64_t object_size = walk_get64(w, at + OBJECT_SIZE);

		cr_assert(type >= OBJECT_DATA && type <= OBJECT_TAG);
		cr_assert(gt(u64, object_size, OBJECT_HEADER_SIZE));
		walk_at(w, at, object_size);
		cr_assert(lt(u64, w->counts[OBJECT_ANY], WALK_OBJECTS_MAX));
		w->offsets[type][w->counts[type]++] = at;
		w->offsets[OBJECT_ANY][w->counts[OBJECT_ANY]++] = at;
		w->tail = at;
		at += (object_size + 7) & ~UINT64_C(7);
	}
	w->end = at;
	return w;
}

struct walk *walk_free(struct walk *w)
{
	free(w);
	return NULL;
}

bool walk_has(const struct walk *w, enum object_type type, uint64_t offset)
{
	for (uint64_t i = 0; i < w->counts[type]; i++) {
		if (w->offsets[type][i] == offset)
			return true;
	}
	return false;
}

uint64_t walk_hash(const struct walk *w, const void *data, size_t size)
{
	return w->keyed ? hash_siphash(data, size, &w->file_id) : hash_jenkins(data, size);
}

/* Where the items of an array or an entry begin, and how wide each is. */
static void walk_items(const struct walk *w, uint64_t object, unsigned *ret_begin,
		       unsigned *ret_width)
{
	bool entry = walk_get8(w, object + OBJECT_TYPE) == OBJECT_ENTRY;

	cr_assert(entry || walk_get8(w, object + OBJECT_TYPE) == OBJECT_ENTRY_ARRAY);
	*ret_begin = entry ? 64 : 24;
	*ret_width = w->compact ? 4 : entry ? 16 : 8;
}

uint64_t walk_capacity(const struct walk *w, uint64_t object)
{
	unsigned begin, width;

	walk_items(w, object, &begin, &width);
	cr_assert(eq(u64, (walk_get64(w, object + OBJECT_SIZE) - begin) % width, 0));
	return (walk_get64(w, object + OBJECT_SIZE) - begin) / width;
}

uint64_t walk_item(const struct walk *w, uint64_t object, uint64_t index)
{
	unsigned begin, width;

	walk_items(w, object, &begin, &width);
	object += begin + index * width;
	return w->compact ? walk_get32(w, object) : walk_get64(w, object);
}

size_t walk_payload(const struct walk *w, uint64_t data, uint8_t *out, size_t room)
{
	uint64_t begin = data + (w->compact ? DATA_PAYLOAD_COMPACT : DATA_PAYLOAD_REGULAR);
	size_t size = data + walk_get64(w, data + OBJECT_SIZE) - begin;
	const uint8_t *bytes = walk_at(w, begin, size);
	size_t n = size;

	switch (walk_get8(w, data + OBJECT_FLAGS)) {
	case 0:
		cr_assert(le(sz, size, room));
		memcpy(out, bytes, size);
		return n;
	case OBJECT_ZSTD:
		n = ZSTD_decompress(out, room, bytes, size);
		cr_assert(not(ZSTD_isError(n)));
		return n;
	case OBJECT_LZ4:
		n = load_le64(bytes);
		cr_assert(eq(int,
			     LZ4_decompress_safe((const char *)bytes + 8, (char *)out,
						 (int)size - 8, (int)room),
			     (int)n));
		return n;
#if HAVE_XZ
	case OBJECT_XZ: {
		uint64_t limit = UINT64_MAX;
		size_t from = 0, to = 0;

		cr_assert(eq(int,
			     lzma_stream_buffer_decode(&limit, 0, NULL, bytes, &from, size, out,
						       &to, room),
			     LZMA_OK));
		return to;
	}
#endif
	}
	cr_fatal("unexpected compression");
}

uint64_t walk_chain(const struct walk *w, uint64_t array, uint64_t count, uint64_t *entries,
		    uint64_t *ret_used)
{
	uint64_t done = 0, capacity_before = 0, last = 0;

	*ret_used = 0;
	while (array) {
		uint64_t capacity = walk_capacity(w, array), used = 0;
		uint64_t wanted = done > capacity_before ? 2 * (done + 1) : 2 * capacity_before;

		cr_assert(walk_has(w, OBJECT_ENTRY_ARRAY, array));
		cr_assert(gt(u64, array, last));
		cr_assert(eq(u64, capacity, wanted < 4 ? 4 : wanted));
		for (; used < capacity && done < count; used++)
			entries[done++] = walk_item(w, array, used);
		cr_assert(gt(u64, used, 0), "an array that nothing is in");
		for (uint64_t i = used; i < capacity; i++)
			cr_assert(eq(u64, walk_item(w, array, i), 0));
		capacity_before = capacity;
		last = array;
		*ret_used = used;
		array = walk_get64(w, array + ENTRY_ARRAY_NEXT);
	}
	cr_assert(eq(u64, done, count));
	return last;
}

uint64_t walk_table(const struct walk *w, enum object_type type, unsigned table_field)
{
	uint64_t table = walk_header(w, table_field),
		 buckets = walk_header(w, table_field + 8) / 16;
	uint64_t seen = 0, deepest = 0;

	for (uint64_t b = 0; b < buckets; b++) {
		uint64_t at = walk_get64(w, table + b * 16), last = 0, depth = 0;

		for (; at; at = walk_get64(w, at + DATA_NEXT_HASH_OFFSET)) {
			cr_assert(walk_has(w, type, at));
			cr_assert(gt(u64, at, last));
			cr_assert(eq(u64, walk_get64(w, at + DATA_HASH) % buckets, b));
			last = at;
			seen++;
			deepest = depth > deepest ? depth : deepest;
			depth++;
		}
		cr_assert(eq(u64, walk_get64(w, table + b * 16 + 8), last));
	}
	cr_assert(eq(u64, seen, w->counts[type]));
	return deepest;
}
