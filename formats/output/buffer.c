/* SPDX-License-Identifier: MIT */
/*
 * Bytes that grow, and numbers and IDs written into them. A buffer doubles, so that appending is
 * cheap whatever the pieces; it never shrinks, its owner decides when to let go. Numbers are
 * written without the C library's formatter, so the locale plays no part.
 */
#include "formats/output/output.h"

#include <assert.h>
#include <stdlib.h>

#include "formats/output/vec16.h"

#define BUFFER_SIZE_MIN 4096u

/* Frees what the buffer holds; it may be used again. */
void output_buffer_done(struct output_buffer *b)
{
	free(b->bytes);
	*b = (struct output_buffer){ 0 };
}

/* The slow half of output_reserve(). */
bool output_buffer_grow(struct output_buffer *b, size_t size)
{
	size_t capacity;
	uint8_t *bytes;

	if (b->capacity - b->size >= size)
		return true;
	if (size > (size_t)PTRDIFF_MAX - b->size) {
		b->failed = true;
		return false;
	}
	capacity = b->size + size;
	if (capacity < b->capacity * 2)
		capacity = b->capacity * 2;
	if (capacity < BUFFER_SIZE_MIN)
		capacity = BUFFER_SIZE_MIN;
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

static const char buffer_pairs[] =
	"0001020304050607080910111213141516171819"
	"2021222324252627282930313233343536373839"
	"4041424344454647484950515253545556575859"
	"6061626364656667686970717273747576777879"
	"8081828384858687888990919293949596979899";

/* Writes VALUE's digits so that they end before END; returns where they begin. */
static uint8_t *buffer_digits(uint8_t *end, uint64_t value)
{
	while (value >= 100) {
		end -= 2;
		memcpy(end, buffer_pairs + value % 100 * 2, 2);
		value /= 100;
	}
	if (value >= 10) {
		end -= 2;
		memcpy(end, buffer_pairs + value * 2, 2);
	} else {
		*--end = (uint8_t)('0' + value);
	}
	return end;
}

/* Appends VALUE in decimal. */
void output_decimal(struct output_buffer *b, uint64_t value)
{
	output_decimal_padded(b, value, 0, ' ');
}

/* Appends VALUE in decimal, PAD before it so that it takes at least WIDTH bytes. */
void output_decimal_padded(struct output_buffer *b, uint64_t value, unsigned width, uint8_t pad)
{
	uint8_t digits[20];
	uint8_t *first = buffer_digits(digits + sizeof(digits), value);
	size_t size = (size_t)(digits + sizeof(digits) - first);

	if (size < width)
		output_fill(b, pad, width - size);
	output_bytes(b, first, size);
}

/* Appends VALUE in lower-case hex, without leading zeros. */
void output_hex(struct output_buffer *b, uint64_t value)
{
	uint64_t big[2] = { htobe64(value), 0 };
	unsigned skip = value ? (unsigned)__builtin_clzll(value) / 4 : 15;
	uint8_t digits[32];

	vec16_hex(digits, (const uint8_t *)big);
	output_bytes(b, digits + skip, 16 - skip);
}

/* Appends the 32 hex digits of an ID. */
void output_id(struct output_buffer *b, const struct id128 *id)
{
	if (output_reserve(b, 32)) {
		vec16_hex(b->bytes + b->size, id->bytes);
		b->size += 32;
	}
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

/* Appends the line that announces another boot. */
void output_boot_line(struct output_buffer *b, const struct id128 *boot_id)
{
	output_text(b, "-- Boot ");
	output_id(b, boot_id);
	output_text(b, " --\n");
}

/* Appends an entry's cursor. */
void output_cursor(struct output_buffer *b, const struct output_entry *entry)
{
	output_text(b, "s=");
	output_id(b, &entry->seqnum_id);
	output_text(b, ";i=");
	output_hex(b, entry->seqnum);
	output_text(b, ";b=");
	output_id(b, &entry->boot_id);
	output_text(b, ";m=");
	output_hex(b, entry->monotonic);
	output_text(b, ";t=");
	output_hex(b, entry->realtime);
	output_text(b, ";x=");
	output_hex(b, entry->xor_hash);
}
