/* SPDX-License-Identifier: MIT */
/* The two hashes: the format's test vectors, and every short length against a slow twin. */
#include <criterion/criterion.h>
#include <criterion/new/assert.h>
#include <criterion/parameterized.h>
#include <stdlib.h>

#include "formats/journal/journal.h"

struct hash_vector {
	char text[48];
	uint64_t jenkins;
	uint64_t siphash;
};

static struct hash_vector vectors[] = {
	{ "", 0xdeadbeefdeadbeef, 0x726fdb47dd0e0e31 },
	{ "A", 0x01014ba110786e8c, 0x712910e8adb79065 },
	{ "MESSAGE=hello", 0x87ddeff2fd1bd06d, 0xc1e47240469d2e88 },
	{ "PRIORITY=6", 0x80f09f19808d26a3, 0x44386e138c9ccf3c },
	{ "ABCDEFGHIJKL", 0x4dcc6ecf4f3dc944, 0xad9c61ae03d388c2 },
	{ "ABCDEFGHIJKLM", 0xef91ecec95071727, 0xbcad23526726ddae },
	{ "_BOOT_ID=aaaaaaaaaaaa4aaaaaaaaaaaaaaaaaaa", 0xa0f0bdcbc0e8dd3a, 0xf445753f65f4c6d3 },
};

static const struct id128 key = { { 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15 } };

ParameterizedTestParameters(hash, vector_is_met)
{
	return cr_make_param_array(struct hash_vector, vectors,
				   sizeof(vectors) / sizeof(vectors[0]));
}

ParameterizedTest(struct hash_vector *v, hash, vector_is_met)
{
	cr_expect(eq(u64, hash_jenkins(v->text, strlen(v->text)), v->jenkins));
	cr_expect(eq(u64, hash_siphash(v->text, strlen(v->text), &key), v->siphash));
}

/* Byte I of an input that is padded with zeros. */
static uint32_t padded_byte(const uint8_t *data, size_t size, size_t i)
{
	return i < size ? data[i] : 0;
}

static uint32_t padded_word(const uint8_t *data, size_t size, size_t i)
{
	return padded_byte(data, size, i) | padded_byte(data, size, i + 1) << 8 |
	       padded_byte(data, size, i + 2) << 16 | padded_byte(data, size, i + 3) << 24;
}

static uint32_t turn(uint32_t v, unsigned bits)
{
	return v << bits | v >> (32 - bits);
}

/* lookup3 byte by byte, in loops over its rotations. */
static uint64_t slow_jenkins(const uint8_t *data, size_t size)
{
	static const unsigned mix[6] = { 4, 6, 8, 16, 19, 4 };
	static const unsigned last[7] = { 14, 11, 25, 16, 4, 14, 24 };
	uint32_t s[3]; /* a, b, c */
	size_t at = 0;

	s[0] = s[1] = s[2] = 0xdeadbeef + (uint32_t)size;
	for (; size - at > 12; at += 12) {
		for (unsigned i = 0; i < 3; i++)
			s[i] += padded_word(data, size, at + 4 * i);
		for (unsigned i = 0; i < 6; i++) {
			s[i % 3] -= s[(i + 2) % 3];
			s[i % 3] ^= turn(s[(i + 2) % 3], mix[i]);
			s[(i + 2) % 3] += s[(i + 1) % 3];
		}
	}
	if (size > at) {
		for (unsigned i = 0; i < 3; i++)
			s[i] += padded_word(data, size, at + 4 * i);
		for (unsigned i = 0; i < 7; i++) {
			s[(i + 2) % 3] ^= s[(i + 1) % 3];
			s[(i + 2) % 3] -= turn(s[(i + 1) % 3], last[i]);
		}
	}
	return (uint64_t)s[2] << 32 | s[1];
}

Test(hash, every_length_and_alignment_agrees_with_a_slow_twin)
{
	for (size_t size = 0; size <= 64; size++)
		for (size_t align = 0; align < 8; align++) {
			/* Of the exact size, so that a sanitizer sees a look past the end. */
			uint8_t *block = malloc(align + size + 1);
			uint8_t *exact = realloc(block, align + size > 0 ? align + size : 1);

			for (size_t i = 0; i < size; i++)
				exact[align + i] = (uint8_t)(i * 37 + size * 101 + 200);
			cr_assert(eq(u64, hash_jenkins(exact + align, size),
				     slow_jenkins(exact + align, size)));
			free(exact);
		}
}

Test(hash, siphash_does_not_depend_on_alignment_or_what_follows)
{
	for (size_t size = 0; size <= 64; size++) {
		uint64_t first = 0;

		for (size_t align = 0; align < 8; align++) {
			uint8_t room[96];
			uint64_t hash;

			memset(room, (int)align, sizeof(room));
			for (size_t i = 0; i < size; i++)
				room[align + i] = (uint8_t)(i + 250);
			hash = hash_siphash(room + align, size, &key);
			if (align == 0)
				first = hash;
			cr_assert(eq(u64, hash, first));
		}
	}
}

Test(hash, file_uses_the_one_that_its_flag_says)
{
	struct journal j = { .header.file_id = key };

	cr_expect(eq(u64, journal_hash(&j, "A", 1), 0x01014ba110786e8c));
	j.keyed = true;
	cr_expect(eq(u64, journal_hash(&j, "A", 1), 0x712910e8adb79065));
}
