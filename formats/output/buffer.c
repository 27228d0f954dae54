/* SPDX-License-Identifier: MIT */
/*
 * Bytes that grow, and numbers and IDs written into them. A buffer doubles, so that appending is
 * cheap whatever the pieces; it never shrinks, its owner decides when to let go. Numbers are
 * written without the C library's formatter, so the locale plays no part.
 */
#include "formats/output/output.h"

#include <stdlib.h>

#include "formats/output/put.h"

#define BUFFER_SIZE_MIN 4096u

const char put_pairs[] =
	"0001020304050607080910111213141516171819"
	"2021222324252627282930313233343536373839"
	"4041424344454647484950515253545556575859"
	"6061626364656667686970717273747576777879"
	"8081828384858687888990919293949596979899";

/* Frees what the buffer holds; it may be used again. */
void output_buffer_done(struct output_buffer *b)
{
	free(b->bytes);
	*b = (struct output_buffer){ .limit = b->limit };
}

/* The slow half of output_reserve(). */
bool output_buffer_grow(struct output_buffer *b, size_t size)
{
	size_t limit = b->limit ? b->limit : PTRDIFF_MAX;
	size_t capacity;
	uint8_t *bytes;

	if (b->capacity - b->size >= size)
		return true;
	if (b->size > limit || size > limit - b->size) {
		b->failed = true;
		return false;
	}
	capacity = b->capacity > limit / 2 ? limit : b->capacity * 2;
	if (capacity < BUFFER_SIZE_MIN)
		capacity = limit < BUFFER_SIZE_MIN ? limit : BUFFER_SIZE_MIN;
	if (capacity < b->size + size)
		capacity = b->size + size;
	bytes = realloc(b->bytes, capacity);
	if (!bytes && capacity > b->size + size) {
		capacity = b->size + size;
		bytes = realloc(b->bytes, capacity);
	}
	if (!bytes) {
		b->failed = true;
		return false;
	}
	b->bytes = bytes;
	b->capacity = capacity;
	return true;
}

/* Appends BYTE, COUNT times. */
void output_fill(struct output_buffer *b, uint8_t byte, size_t count)
{
	if (output_reserve(b, count)) {
		memset(b->bytes + b->size, byte, count);
		b->size += count;
	}
}

/* Appends VALUE in decimal. */
void output_decimal(struct output_buffer *b, uint64_t value)
{
	if (output_reserve(b, PUT_DECIMAL_SIZE_MAX + VEC16_SLACK))
		b->size = (size_t)(put_decimal(b->bytes + b->size, value) - b->bytes);
}

/* Appends the 32 hex digits of an ID. */
void output_id(struct output_buffer *b, const struct id128 *id)
{
	if (output_reserve(b, PUT_ID_SIZE + VEC16_SLACK))
		b->size = (size_t)(put_id(b->bytes + b->size, id) - b->bytes);
}

/* Appends a size in the largest unit not above it, with at most one decimal. That decimal is cut
 * off from the count of whole units of the next smaller kind: 1153536 bytes, 1.1M, are "1M". */
void output_size(struct output_buffer *b, uint64_t bytes)
{
	static const char units[] = "BKMGTPE";
	unsigned unit = bytes ? (63 - (unsigned)__builtin_clzll(bytes)) / 10 : 0;
	uint64_t tenths = 0;

	if (unit > 0)
		tenths = (bytes >> (unit - 1) * 10) * 10 / 1024 % 10;
	output_decimal(b, bytes >> unit * 10);
	if (tenths) {
		output_byte(b, '.');
		output_byte(b, (uint8_t)('0' + tenths));
	}
	output_byte(b, (uint8_t)units[unit]);
}

/* Appends an entry's cursor. */
void output_cursor(struct output_buffer *b, const struct output_entry *entry)
{
	if (output_reserve(b, PUT_CURSOR_SIZE_MAX + VEC16_SLACK))
		b->size = (size_t)(put_cursor(b->bytes + b->size, entry) - b->bytes);
}
