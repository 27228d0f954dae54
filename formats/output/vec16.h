/* SPDX-License-Identifier: MIT */
/*
 * Sixteen bytes at a time, for the encoders: classes of bytes, runs of one class, and copies that
 * look at what they copy. Reads stay within the bytes given; writes may go up to VEC16_SLACK bytes
 * past the end of what is copied, so the room for them has to be reserved.
 */
#ifndef FORMATS_OUTPUT_VEC16_H
#define FORMATS_OUTPUT_VEC16_H

#include "formats/format.h"

#define VEC16_SLACK 16u

typedef int8_t vec16 __attribute__((vector_size(16)));

/* Sixteen bytes from any address. */
static inline vec16 vec16_load(const uint8_t *p)
{
	vec16 v;

	memcpy(&v, p, sizeof(v));
	return v;
}

/* Sixteen bytes to any address. */
static inline void vec16_store(uint8_t *p, vec16 v)
{
	memcpy(p, &v, sizeof(v));
}

/* Sixteen bytes, given as two little-endian halves. */
static inline vec16 vec16_make(uint64_t low, uint64_t high)
{
	typedef uint64_t vec16_halves __attribute__((vector_size(16)));

	return (vec16)(vec16_halves){ htole64(low), htole64(high) };
}

/* The SIZE bytes at P, 1 to 15 of them; the lanes behind them hold spaces. */
static inline vec16 vec16_load_part(const uint8_t *p, size_t size)
{
	const uint64_t spaces = UINT64_C(0x2020202020202020);
	uint64_t low, high = spaces;

	if (size >= 8) {
		low = load_le64(p);
		if (size > 8)
			high = load_le64(p + size - 8) >> (8 * (16 - size)) |
			       spaces << (8 * (size - 8));
	} else if (size >= 4) {
		low = load_le32(p) | (uint64_t)load_le32(p + size - 4) << (8 * (size - 4)) |
		      spaces << (8 * size);
	} else {
		low = p[0] | (uint64_t)p[size / 2] << (8 * (size / 2)) |
		      (uint64_t)p[size - 1] << (8 * (size - 1)) | spaces << (8 * size);
	}
	return vec16_make(low, high);
}

/* Bit I is set where lane I of V, the result of a comparison, is false. */
static inline unsigned vec16_misses(vec16 v)
{
#ifdef __SSE2__
	typedef char vec16_char __attribute__((vector_size(16)));

	return ~(unsigned)__builtin_ia32_pmovmskb128((vec16_char)v) & 0xffffu;
#else
	uint64_t halves[2];

	memcpy(halves, &v, sizeof(v));
	if (likely((halves[0] & halves[1]) == UINT64_MAX))
		return 0;

	unsigned misses = 0;

	for (unsigned i = 0; i < 16; i++)
		misses |= (unsigned)(v[i] == 0) << i;
	return misses;
#endif
}

/* What a byte may be besides plain: U+0020 to U+007E. */
#define CLASS_TAB (1u << 0)
#define CLASS_LF (1u << 1)
#define CLASS_NO_QUOTE (1u << 2) /* neither '"' nor '\' */

/* True in the lanes whose byte belongs to a class, a constant. */
static inline __attribute__((always_inline)) vec16 vec16_class(vec16 v, unsigned class)
{
	vec16 hits = (vec16)(v > 0x1f) & (vec16)(v != 0x7f);

	if (class & CLASS_NO_QUOTE)
		hits &= (vec16)(v != '"') & (vec16)(v != '\\');
	if (class & CLASS_TAB)
		hits |= (vec16)(v == '\t');
	if (class & CLASS_LF)
		hits |= (vec16)(v == '\n');
	return hits;
}

/* How many of the SIZE bytes at P, from the first on, belong to CLASS. */
static inline __attribute__((always_inline)) size_t class_run(const uint8_t *p, size_t size,
							      unsigned class)
{
	unsigned misses;

	if (size < 16) {
		if (size == 0)
			return 0;
		misses = vec16_misses(vec16_class(vec16_load_part(p, size), class));
		return misses ? (size_t)__builtin_ctz(misses) : size;
	}
	for (size_t at = 0; at < size - 16; at += 16) {
		misses = vec16_misses(vec16_class(vec16_load(p + at), class));
		if (unlikely(misses))
			return at + (size_t)__builtin_ctz(misses);
	}
	misses = vec16_misses(vec16_class(vec16_load(p + size - 16), class));
	return misses ? size - 16 + (size_t)__builtin_ctz(misses) : size;
}

/*
 * Copies bytes of CLASS from P, SIZE at most, up to the first that is not of it. Returns how many.
 * TO has room for SIZE + VEC16_SLACK bytes.
 */
static inline __attribute__((always_inline)) size_t class_copy(uint8_t *to, const uint8_t *p,
							       size_t size, unsigned class)
{
	unsigned misses;
	vec16 v;

	if (size < 16) {
		if (size == 0)
			return 0;
		v = vec16_load_part(p, size);
		vec16_store(to, v);
		misses = vec16_misses(vec16_class(v, class));
		return misses ? (size_t)__builtin_ctz(misses) : size;
	}
	for (size_t at = 0; at < size - 16; at += 16) {
		v = vec16_load(p + at);
		vec16_store(to + at, v);
		misses = vec16_misses(vec16_class(v, class));
		if (unlikely(misses))
			return at + (size_t)__builtin_ctz(misses);
	}
	v = vec16_load(p + size - 16);
	vec16_store(to + size - 16, v);
	misses = vec16_misses(vec16_class(v, class));
	return misses ? size - 16 + (size_t)__builtin_ctz(misses) : size;
}

/* Copies SIZE bytes: memcpy() for the short strings that entries are made of. TO has room for
 * SIZE + VEC16_SLACK bytes. */
static inline void short_copy(uint8_t *to, const uint8_t *p, size_t size)
{
	if (size > 32) {
		memcpy(to, p, size);
	} else if (size >= 16) {
		vec16 tail = vec16_load(p + size - 16);

		vec16_store(to, vec16_load(p));
		vec16_store(to + size - 16, tail);
	} else if (size > 0) {
		vec16_store(to, vec16_load_part(p, size));
	}
}

/* The hex digits of the nibbles, one a lane. */
static inline vec16 vec16_digits(vec16 nibbles)
{
	return nibbles + '0' + ((vec16)(nibbles > 9) & ('a' - '9' - 1));
}

/* Writes the 32 lower-case hex digits of the sixteen bytes at P. */
static inline void vec16_hex(uint8_t *to, const uint8_t *p)
{
	vec16 v = vec16_load(p);
	vec16 high = vec16_digits((v >> 4) & 0x0f);
	vec16 low = vec16_digits(v & 0x0f);

	vec16_store(to, __builtin_shufflevector(high, low, 0, 16, 1, 17, 2, 18, 3, 19, 4, 20, 5, 21,
						6, 22, 7, 23));
	vec16_store(to + 16, __builtin_shufflevector(high, low, 8, 24, 9, 25, 10, 26, 11, 27, 12,
						     28, 13, 29, 14, 30, 15, 31));
}

#endif
