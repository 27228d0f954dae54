/* SPDX-License-Identifier: MIT */
/*
 * Looking into a file that fixture.c has made, and overwriting parts of it. Objects are found by
 * what the writer remembers and not by reading the file, so that a file stays addressable after it
 * has been damaged; only arrays and items are found by following the file's own links. And the way
 * to the disk, for the file as it is by then.
 */
#include <assert.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "tests/support/fixture-private.h"

uint64_t fixture_find_object(const struct fixture *fx, enum object_type type, size_t index)
{
	assert(index < fx->objects[type].count);
	return fx->objects[type].offsets[index];
}

size_t fixture_count_objects(const struct fixture *fx, enum object_type type)
{
	return fx->objects[type].count;
}

uint64_t fixture_find_entry(const struct fixture *fx, size_t index)
{
	return fixture_find_object(fx, OBJECT_ENTRY, index);
}

uint64_t fixture_find_data(const struct fixture *fx, const void *data, size_t size)
{
	const struct fixture_record *r =
		fixture_index_find(&fx->data, data, size, fixture_hash(fx, data, size));

	return r ? r->offset : 0;
}

uint64_t fixture_find_text(const struct fixture *fx, const char *text)
{
	return fixture_find_data(fx, text, strlen(text));
}

uint64_t fixture_find_field(const struct fixture *fx, const char *name)
{
	const struct fixture_record *r = fixture_index_find(&fx->fields, name, strlen(name),
							    fixture_hash(fx, name, strlen(name)));

	return r ? r->offset : 0;
}

uint64_t fixture_find_data_bucket(const struct fixture *fx, const void *data, size_t size)
{
	return fx->data.table_offset +
	       fixture_hash(fx, data, size) % fx->data.buckets * HASH_ITEM_SIZE;
}

uint64_t fixture_find_field_bucket(const struct fixture *fx, const char *name)
{
	return fx->fields.table_offset +
	       fixture_hash(fx, name, strlen(name)) % fx->fields.buckets * HASH_ITEM_SIZE;
}

/* Array INDEX of the chain that begins at ARRAY; 0 past the last. */
static uint64_t fixture_follow_arrays(const struct fixture *fx, uint64_t array, size_t index)
{
	while (array && index--)
		array = fixture_get64(fx, array + ENTRY_ARRAY_NEXT);
	return array;
}

uint64_t fixture_find_array(const struct fixture *fx, size_t index)
{
	return fixture_follow_arrays(fx, fx->chain.first, index);
}

uint64_t fixture_find_data_array(const struct fixture *fx, uint64_t data_offset, size_t index)
{
	return fixture_follow_arrays(fx, fixture_get64(fx, data_offset + DATA_ENTRY_ARRAY_OFFSET),
				     index);
}

uint64_t fixture_find_item(const struct fixture *fx, uint64_t object_offset, size_t index)
{
	bool compact = fx->options.compact;

	switch (fixture_get8(fx, object_offset + OBJECT_TYPE)) {
	case OBJECT_ENTRY:
		return object_offset + ENTRY_ITEMS +
		       index * (compact ? ENTRY_ITEM_SIZE_COMPACT : ENTRY_ITEM_SIZE_REGULAR);
	case OBJECT_ENTRY_ARRAY:
		return object_offset + ENTRY_ARRAY_ITEMS + index * (compact ? 4 : 8);
	}
	abort();
}

/* Checks that a range lies in the file; a test that misses it is wrong. */
static uint8_t *fixture_at(const struct fixture *fx, uint64_t offset, size_t size)
{
	assert(offset <= fx->size && size <= fx->size - offset);
	return fx->bytes + offset;
}

uint64_t fixture_get64(const struct fixture *fx, uint64_t offset)
{
	return load_le64(fixture_at(fx, offset, 8));
}

uint32_t fixture_get32(const struct fixture *fx, uint64_t offset)
{
	return load_le32(fixture_at(fx, offset, 4));
}

uint8_t fixture_get8(const struct fixture *fx, uint64_t offset)
{
	return *fixture_at(fx, offset, 1);
}

void fixture_put64(struct fixture *fx, uint64_t offset, uint64_t value)
{
	value = htole64(value);
	memcpy(fixture_at(fx, offset, 8), &value, 8);
}

void fixture_put32(struct fixture *fx, uint64_t offset, uint32_t value)
{
	value = htole32(value);
	memcpy(fixture_at(fx, offset, 4), &value, 4);
}

void fixture_put8(struct fixture *fx, uint64_t offset, uint8_t value)
{
	*fixture_at(fx, offset, 1) = value;
}

void fixture_poke(struct fixture *fx, uint64_t offset, const void *bytes, size_t size)
{
	memcpy(fixture_at(fx, offset, size), bytes, size);
}

void fixture_put_item(struct fixture *fx, uint64_t item_offset, uint64_t value)
{
	if (!fx->options.compact) {
		fixture_put64(fx, item_offset, value);
		return;
	}
	assert(value <= UINT32_MAX);
	fixture_put32(fx, item_offset, (uint32_t)value);
}

void fixture_resize(struct fixture *fx, size_t size)
{
	fx->bytes = fixture_grow(fx->bytes, size, &fx->allocated, 1);
	if (size > fx->size)
		memset(fx->bytes + fx->size, 0, size - fx->size);
	fx->size = size;
}

void fixture_write(const struct fixture *fx, const char *path)
{
	int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0644);
	size_t done = 0;

	if (fd < 0) {
		perror(path);
		abort();
	}
	while (done < fx->size) {
		ssize_t n = write(fd, fx->bytes + done, fx->size - done);

		if (n <= 0) {
			perror(path);
			abort();
		}
		done += (size_t)n;
	}
	if (close(fd) < 0)
		abort();
}
