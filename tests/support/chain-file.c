/* SPDX-License-Identifier: MIT */
/* Writes the arrays of a chain one behind the other; see chain-file.h. */
#include "tests/support/chain-file.h"

#include <stdlib.h>

struct chain_shape chain_shapes[CHAIN_SHAPE_COUNT] = {
	{ true, WINDOW_DRIVER_WHOLE, 9, 9, { 4, 8, 26, 78, 234, 702, 2106, 6318, 18954 } },
	{ false, WINDOW_DRIVER_WHOLE, 9, 9, { 4, 8, 26, 78, 234, 702, 2106, 6318, 18954 } },
	{ true, WINDOW_DRIVER_BLOCKS, 9, 9, { 4, 8, 26, 78, 234, 702, 2106, 6318, 18954 } },
	{ false, WINDOW_DRIVER_RUN, 9, 9, { 4, 8, 26, 78, 234, 702, 2106, 6318, 18954 } },
	{ true, WINDOW_DRIVER_WHOLE, 5000, 1, { 1 } },
	{ false, WINDOW_DRIVER_BLOCKS, 5000, 1, { 1 } },
	{ true, WINDOW_DRIVER_BLOCKS, 3000, 5, { 3, 1, 40, 2, 1 } },
	{ false, WINDOW_DRIVER_BLOCKS, 1, 1, { 1 } },
};

void chain_file_put(struct chain_file *f, uint64_t offset, uint64_t value, unsigned size)
{
	for (unsigned i = 0; i < size; i++)
		f->bytes[offset + i] = (uint8_t)(value >> i * 8);
}

struct chain_file chain_file_new(bool compact, uint64_t array_count, const uint64_t *capacities,
				 unsigned capacity_count)
{
	struct chain_file f = { .array_count = array_count };
	uint64_t offset = CHAIN_FILE_HEADER;

	f.j.compact = compact;
	f.j.item_size = compact ? 4 : 8;
	f.j.entry_item_size = compact ? 4 : 16;
	f.j.data_payload = compact ? 72 : 64;
	f.j.header.header_size = CHAIN_FILE_HEADER;
	f.j.header.entry_array_offset = CHAIN_FILE_HEADER;
	f.size = CHAIN_FILE_HEADER;
	for (uint64_t a = 0; a < array_count; a++) {
		f.count += capacities[a % capacity_count];
		f.size += (ENTRY_ARRAY_ITEMS + capacities[a % capacity_count] * f.j.item_size + 7) &
			  ~UINT64_C(7);
	}
	f.j.header.n_entries = f.count;
	f.bytes = calloc(f.size, 1);
	f.elements = calloc(f.count + 1, sizeof(*f.elements));
	f.arrays = calloc(array_count + 1, sizeof(*f.arrays));
	for (uint64_t a = 0, n = 0; a < array_count; a++) {
		uint64_t capacity = capacities[a % capacity_count];
		uint64_t size = ENTRY_ARRAY_ITEMS + capacity * f.j.item_size;
		uint64_t next = (offset + size + 7) & ~UINT64_C(7);

		f.arrays[a] = offset;
		f.bytes[offset] = OBJECT_ENTRY_ARRAY;
		chain_file_put(&f, offset + OBJECT_SIZE, size, 8);
		chain_file_put(&f, offset + ENTRY_ARRAY_NEXT, a + 1 < array_count ? next : 0, 8);
		for (uint64_t i = 0; i < capacity; i++, n++) {
			f.elements[n] = chain_element(n);
			chain_file_put(&f, offset + ENTRY_ARRAY_ITEMS + i * f.j.item_size,
				       chain_element(n), f.j.item_size);
		}
		offset = next;
	}
	return f;
}

struct chain_file chain_file_of(const struct chain_shape *shape)
{
	return chain_file_new(shape->compact, shape->array_count, shape->capacities,
			      shape->capacity_count);
}

void chain_file_done(struct chain_file *f)
{
	free(f->bytes);
	free(f->elements);
	free(f->arrays);
}

struct window_driver *chain_file_drive(const struct chain_file *f, enum window_driver_mode mode)
{
	return window_driver_new(f->bytes, f->size, mode);
}
