/* SPDX-License-Identifier: MIT */
/*
 * Numbers, IDs and literals written to memory that has room for them. Each function returns what
 * follows what it wrote, and may write up to VEC16_SLACK bytes beyond that.
 */
#ifndef FORMATS_OUTPUT_PUT_H
#define FORMATS_OUTPUT_PUT_H

#include "formats/output/output.h"
#include "formats/output/vec16.h"

/* Most bytes that one number takes. */
#define PUT_DECIMAL_SIZE_MAX 20u
#define PUT_HEX_SIZE_MAX 16u
#define PUT_ID_SIZE 32u

/* Writes a literal. */
#define put_text(to, literal)                                                                      \
	((uint8_t *)memcpy(to, "" literal, sizeof(literal) - 1) + sizeof(literal) - 1)

/* "00" to "99". */
extern const char put_pairs[];

/* Writes VALUE, below 100, as two digits. */
static inline uint8_t *put_pair(uint8_t *to, unsigned value)
{
	memcpy(to, put_pairs + value * 2, 2);
	return to + 2;
}

/* How many decimal digits VALUE has. */
static inline unsigned put_decimal_size(uint64_t value)
{
	static const uint64_t powers[20] = {
		0,
		UINT64_C(10),
		UINT64_C(100),
		UINT64_C(1000),
		UINT64_C(10000),
		UINT64_C(100000),
		UINT64_C(1000000),
		UINT64_C(10000000),
		UINT64_C(100000000),
		UINT64_C(1000000000),
		UINT64_C(10000000000),
		UINT64_C(100000000000),
		UINT64_C(1000000000000),
		UINT64_C(10000000000000),
		UINT64_C(100000000000000),
		UINT64_C(1000000000000000),
		UINT64_C(10000000000000000),
		UINT64_C(100000000000000000),
		UINT64_C(1000000000000000000),
		UINT64_C(10000000000000000000),
	};
	/* 1233 / 4096 is a little more than the logarithm of 2. */
	unsigned guess = (64 - (unsigned)__builtin_clzll(value | 1)) * 1233 >> 12;

	return guess + (value >= powers[guess]);
}

/* Writes the last SIZE digits of VALUE, zeros before it where it has fewer. */
static inline uint8_t *put_digits(uint8_t *to, uint64_t value, unsigned size)
{
	for (unsigned left = size; left >= 2; left -= 2) {
		put_pair(to + left - 2, (unsigned)(value % 100));
		value /= 100;
	}
	if (size & 1)
		to[0] = (uint8_t)('0' + value % 10);
	return to + size;
}

/* Writes VALUE in decimal. */
static inline uint8_t *put_decimal(uint8_t *to, uint64_t value)
{
	return put_digits(to, value, put_decimal_size(value));
}

/* Writes VALUE in lower-case hex, without leading zeros. */
static inline uint8_t *put_hex(uint8_t *to, uint64_t value)
{
	unsigned skip = (unsigned)__builtin_clzll(value | 1) / 4;
	vec16 v = vec16_make(__builtin_bswap64(value << (4 * skip)), 0);
	vec16 high = vec16_digits((v >> 4) & 0x0f);
	vec16 low = vec16_digits(v & 0x0f);

	vec16_store(to, __builtin_shufflevector(high, low, 0, 16, 1, 17, 2, 18, 3, 19, 4, 20, 5, 21,
						6, 22, 7, 23));
	return to + 16 - skip;
}

/* Writes the 32 hex digits of an ID. */
static inline uint8_t *put_id(uint8_t *to, const struct id128 *id)
{
	vec16_hex(to, id->bytes);
	return to + PUT_ID_SIZE;
}

/* Most bytes that a cursor takes. */
#define PUT_CURSOR_SIZE_MAX (6 * 3 + 2 * PUT_ID_SIZE + 4 * PUT_HEX_SIZE_MAX)

/* Writes an entry's cursor. */
static inline uint8_t *put_cursor(uint8_t *to, const struct output_entry *entry)
{
	to = put_text(to, "s=");
	to = put_id(to, &entry->seqnum_id);
	to = put_text(to, ";i=");
	to = put_hex(to, entry->seqnum);
	to = put_text(to, ";b=");
	to = put_id(to, &entry->boot_id);
	to = put_text(to, ";m=");
	to = put_hex(to, entry->monotonic);
	to = put_text(to, ";t=");
	to = put_hex(to, entry->realtime);
	to = put_text(to, ";x=");
	return put_hex(to, entry->xor_hash);
}

#endif
