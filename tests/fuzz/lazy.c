/* SPDX-License-Identifier: MIT */
/*
 * Windows whose blocks arrive when they are asked for, and what else the targets share. The copy is
 * exactly as large as the file, so that a look past its end is found, and blocks that are not there
 * are poisoned, so that a look without asking is.
 */
#include "tests/fuzz/fuzz.h"

#if defined(__SANITIZE_ADDRESS__)
#define FUZZ_POISONS 1
#elif defined(__has_feature)
#if __has_feature(address_sanitizer)
#define FUZZ_POISONS 1
#endif
#endif
#ifndef FUZZ_POISONS
#define FUZZ_POISONS 0
#endif

#if FUZZ_POISONS
#include <sanitizer/asan_interface.h>
#else
#define ASAN_POISON_MEMORY_REGION(address, size) ((void)(address), (void)(size))
#define ASAN_UNPOISON_MEMORY_REGION(address, size) ((void)(address), (void)(size))
#endif

/* How many blocks there are. */
static uint64_t lazy_block_count(const struct lazy *l)
{
	return (l->window.size_bytes >> l->window.block_shift) + 1;
}

void lazy_init(struct lazy *l, const uint8_t *bytes, size_t size, unsigned block_shift)
{
	*l = (struct lazy){ .bytes = bytes };
	l->window.size_bytes = size;
	l->window.block_shift = block_shift;
	l->window.blocks = malloc(lazy_block_count(l));
	l->memory = malloc(size ? size : 1);
	if (!l->window.blocks || !l->memory)
		abort();
	l->window.base = l->memory;
	lazy_evict(l);
}

void lazy_done(struct lazy *l)
{
	ASAN_UNPOISON_MEMORY_REGION(l->memory, l->window.size_bytes);
	free(l->memory);
	free(l->window.blocks);
}

void lazy_evict(struct lazy *l)
{
	memset(l->window.blocks, 0, lazy_block_count(l));
	ASAN_UNPOISON_MEMORY_REGION(l->memory, l->window.size_bytes);
	memset(l->memory, 0xa5, l->window.size_bytes);
	ASAN_POISON_MEMORY_REGION(l->memory, l->window.size_bytes);
}

void lazy_bring(struct lazy *l)
{
	struct window *w = &l->window;
	bool progress = false;

	FUZZ_CHECK(w->want_count <= WINDOW_WANTS_MAX);
	for (unsigned i = 0; i < w->want_count; i++) {
		const struct window_range *want = &w->wants[i];

		FUZZ_CHECK(want->size_bytes > 0 && want->offset <= w->size_bytes &&
			   want->size_bytes <= w->size_bytes - want->offset);
		for (uint64_t b = want->offset >> w->block_shift;
		     b <= (want->offset + want->size_bytes - 1) >> w->block_shift; b++) {
			uint64_t begin = b << w->block_shift, end = (b + 1) << w->block_shift;

			if (w->blocks[b] & WINDOW_BLOCK_RESIDENT)
				continue;
			if (end > w->size_bytes)
				end = w->size_bytes;
			ASAN_UNPOISON_MEMORY_REGION(l->memory + begin, end - begin);
			memcpy(l->memory + begin, l->bytes + begin, end - begin);
			w->blocks[b] = WINDOW_BLOCK_RESIDENT;
			progress = true;
		}
	}
	FUZZ_CHECK(progress);
}

bool fuzz_open(const uint8_t *bytes, size_t size, struct fuzz_input *ret)
{
	char text[HEADER_DETAIL_SIZE];
	size_t head;
	uint8_t how;

	if (size < 1 + HEADER_SIZE_MIN)
		return false;
	how = bytes[0];
	*ret = (struct fuzz_input){
		.bytes = bytes + 1,
		.size = size - 1,
		.block_shift = 3 + how % 8, /* 8 bytes to 1 KiB */
	};
	head = ret->size < HEADER_SIZE_MAX ? ret->size : HEADER_SIZE_MAX;
	if (header_parse(ret->bytes, head, ret->size, &ret->journal, text) == 0)
		return true;

	ret->journal = (struct journal){ .compact = how & 0x40, .keyed = how & 0x80 };
	ret->journal.item_size = ret->journal.compact ? 4 : 8;
	ret->journal.entry_item_size = ret->journal.compact ? 4 : 16;
	ret->journal.data_payload = ret->journal.compact ? 72 : 64;
	ret->journal.header = (struct journal_header){
		.header_size = HEADER_SIZE_MIN,
		.arena_size = ret->size - HEADER_SIZE_MIN,
		.entry_array_offset = load_le64(ret->bytes + HEADER_ENTRY_ARRAY_OFFSET),
		.n_entries = load_le64(ret->bytes + HEADER_N_ENTRIES),
		.data_hash_table_offset = load_le64(ret->bytes + HEADER_DATA_HASH_TABLE_OFFSET),
		.data_hash_table_size = load_le64(ret->bytes + HEADER_DATA_HASH_TABLE_SIZE),
		.field_hash_table_offset = load_le64(ret->bytes + HEADER_FIELD_HASH_TABLE_OFFSET),
		.field_hash_table_size = load_le64(ret->bytes + HEADER_FIELD_HASH_TABLE_SIZE),
	};
	return true;
}

uint64_t fuzz_next_object(const struct fuzz_input *in, uint64_t offset)
{
	uint64_t size;

	if (offset == 0) {
		/* Headers are small here; a huge one means that there are no objects. */
		offset = in->journal.header.header_size;
		if (offset > in->size)
			return 0;
		offset = (offset + 7) & ~UINT64_C(7);
	} else {
		size = load_le64(in->bytes + offset + OBJECT_SIZE);
		if (size < OBJECT_HEADER_SIZE || size > in->size - offset)
			return 0;
		offset = (offset + size + 7) & ~UINT64_C(7);
	}
	return offset <= in->size && in->size - offset >= OBJECT_HEADER_SIZE ? offset : 0;
}

uint64_t fuzz_random(uint64_t *state)
{
	uint64_t z = (*state += UINT64_C(0x9e3779b97f4a7c15));

	z = (z ^ (z >> 30)) * UINT64_C(0xbf58476d1ce4e5b9);
	z = (z ^ (z >> 27)) * UINT64_C(0x94d049bb133111eb);
	return z ^ (z >> 31);
}
