/* SPDX-License-Identifier: MIT */
/*
 * The two hashes of a journal file: Jenkins' lookup3 (two 32-bit results side by side) and
 * SipHash-2-4 keyed with the file's ID; specification 3.1. Inputs have any length and alignment.
 * Words are composed from loads within the input, never beyond its end.
 */
#include "formats/journal/journal.h"

/* The 1 to 8 bytes at P as a little-endian number; its upper bytes are 0. */
static inline uint64_t hash_load_tail(const uint8_t *p, size_t size)
{
	if (size >= 4) {
		/* Two loads that overlap; the second one's surplus falls where the first has the
		 * same bits. */
		uint64_t low = load_le32(p), high = load_le32(p + size - 4);

		return low | high << (size - 4) * 8;
	}
	/* Three single bytes cover 1 to 3, for the same reason. */
	return (uint64_t)p[0] | (uint64_t)p[size / 2] << size / 2 * 8 |
	       (uint64_t)p[size - 1] << (size - 1) * 8;
}

static inline uint32_t hash_rotate32(uint32_t v, unsigned bits)
{
	return v << bits | v >> (32 - bits);
}

static inline uint64_t hash_rotate64(uint64_t v, unsigned bits)
{
	return v << bits | v >> (64 - bits);
}

/* Mixes three words reversibly, between blocks. */
static inline void hash_jenkins_mix(uint32_t *a, uint32_t *b, uint32_t *c)
{
	*a -= *c, *a ^= hash_rotate32(*c, 4), *c += *b;
	*b -= *a, *b ^= hash_rotate32(*a, 6), *a += *c;
	*c -= *b, *c ^= hash_rotate32(*b, 8), *b += *a;
	*a -= *c, *a ^= hash_rotate32(*c, 16), *c += *b;
	*b -= *a, *b ^= hash_rotate32(*a, 19), *a += *c;
	*c -= *b, *c ^= hash_rotate32(*b, 4), *b += *a;
}

/* Spreads the last block over B and C. */
static inline void hash_jenkins_final(uint32_t *a, uint32_t *b, uint32_t *c)
{
	*c ^= *b, *c -= hash_rotate32(*b, 14);
	*a ^= *c, *a -= hash_rotate32(*c, 11);
	*b ^= *a, *b -= hash_rotate32(*a, 25);
	*c ^= *b, *c -= hash_rotate32(*b, 16);
	*a ^= *c, *a -= hash_rotate32(*c, 4);
	*b ^= *a, *b -= hash_rotate32(*a, 14);
	*c ^= *b, *c -= hash_rotate32(*b, 24);
}

/* lookup3 in blocks of 12 bytes; the last one, of 1 to 12, counts as padded with zeros. */
uint64_t hash_jenkins(const void *data, size_t size)
{
	uint32_t a, b, c;
	const uint8_t *p = data;

	a = b = c = 0xdeadbeefu + (uint32_t)size;
	for (; size > 12; size -= 12, p += 12) {
		a += load_le32(p);
		b += load_le32(p + 4);
		c += load_le32(p + 8);
		hash_jenkins_mix(&a, &b, &c);
	}
	if (size > 0) {
		uint64_t low = size < 8 ? hash_load_tail(p, size) : load_le64(p);

		a += (uint32_t)low;
		b += (uint32_t)(low >> 32);
		if (size > 8)
			c += (uint32_t)hash_load_tail(p + 8, size - 8);
		hash_jenkins_final(&a, &b, &c);
	}
	return (uint64_t)c << 32 | b;
}

/* One round of SipHash over its four words. */
static inline void hash_siphash_round(uint64_t v[4])
{
	v[0] += v[1], v[1] = hash_rotate64(v[1], 13) ^ v[0], v[0] = hash_rotate64(v[0], 32);
	v[2] += v[3], v[3] = hash_rotate64(v[3], 16) ^ v[2];
	v[0] += v[3], v[3] = hash_rotate64(v[3], 21) ^ v[0];
	v[2] += v[1], v[1] = hash_rotate64(v[1], 17) ^ v[2], v[2] = hash_rotate64(v[2], 32);
}

/* Two rounds per word of 8 bytes, the last word carrying the length; four to finish. */
uint64_t hash_siphash(const void *data, size_t size, const struct id128 *key)
{
	uint64_t k0 = load_le64(key->bytes), k1 = load_le64(key->bytes + 8);
	uint64_t v[4] = {
		k0 ^ UINT64_C(0x736f6d6570736575),
		k1 ^ UINT64_C(0x646f72616e646f6d),
		k0 ^ UINT64_C(0x6c7967656e657261),
		k1 ^ UINT64_C(0x7465646279746573),
	};
	const uint8_t *p = data;
	uint64_t word = (uint64_t)size << 56;

	for (; size >= 8; size -= 8, p += 8) {
		uint64_t m = load_le64(p);

		v[3] ^= m;
		hash_siphash_round(v);
		hash_siphash_round(v);
		v[0] ^= m;
	}
	if (size > 0)
		word |= hash_load_tail(p, size);
	v[3] ^= word;
	hash_siphash_round(v);
	hash_siphash_round(v);
	v[0] ^= word;
	v[2] ^= 0xff;
	for (unsigned i = 0; i < 4; i++)
		hash_siphash_round(v);
	return v[0] ^ v[1] ^ v[2] ^ v[3];
}

/* The hash of a file's tables: keyed with its ID, or not. */
uint64_t journal_hash(const struct journal *j, const void *data, size_t size)
{
	return j->keyed ? hash_siphash(data, size, &j->header.file_id) : hash_jenkins(data, size);
}
