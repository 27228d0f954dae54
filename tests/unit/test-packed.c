/* SPDX-License-Identifier: MIT */
/* Files compressed as a whole, as bytes: every kind, in pieces of every size, sound and not. */
#include <criterion/criterion.h>
#include <criterion/new/assert.h>
#include <criterion/parameterized.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "tests/support/pack.h"

#define PLAIN_SIZE 100000u

static uint8_t plain[PLAIN_SIZE];
static const enum packed_kind kinds[] = { PACKED_ZSTD, PACKED_XZ, PACKED_GZIP, PACKED_LZ4 };
#define KIND_COUNT (sizeof(kinds) / sizeof(kinds[0]))

/* Text-like bytes with a stretch of zeros. */
static void setup(void)
{
	uint32_t x = 7;

	for (size_t i = 0; i < PLAIN_SIZE; i++) {
		x = x * 1103515245u + 12345;
		plain[i] = i > 40000 && i < 60000 ? 0 : (uint8_t)('a' + (x >> 16) % 20);
	}
}

TestSuite(packed, .init = setup, .timeout = 60);

/* The result of a decoding: what came out, and how it ended. */
struct result {
	uint8_t bytes[2 * PLAIN_SIZE + 100];
	size_t size, in_used;
	int r;
};

/* Decodes with input and room in pieces of these sizes. */
static void decode(enum packed_kind kind, const uint8_t *bytes, size_t size, size_t in_piece,
		   size_t out_piece, struct result *ret)
{
	struct packed *p;

	*ret = (struct result){ 0 };
	cr_assert(eq(int, packed_new(kind, &p), 0));
	while (ret->r == 0) {
		size_t rest = size - ret->in_used, room = sizeof(ret->bytes) - ret->size;
		struct packed_io io = {
			.in = bytes + ret->in_used,
			.in_size = rest < in_piece ? rest : in_piece,
			.in_last = rest <= in_piece,
			.out = ret->bytes + ret->size,
			.out_size = room < out_piece ? room : out_piece,
		};

		cr_assert(gt(sz, io.out_size, 0));
		ret->r = packed_decode(p, &io);
		cr_assert(le(sz, io.in_used, io.in_size));
		cr_assert(le(sz, io.out_used, io.out_size));
		ret->in_used += io.in_used;
		ret->size += io.out_used;
	}
	packed_free(p);
}

/* That the result is the plain bytes' beginning. */
static void expect_prefix(const struct result *result, size_t least)
{
	cr_expect(ge(sz, result->size, least));
	cr_expect(le(sz, result->size, PLAIN_SIZE));
	cr_expect(eq(int, memcmp(result->bytes, plain, result->size), 0));
}

Test(packed, every_kind_is_recognised_and_decoded_in_pieces_of_any_size)
{
	static const size_t pieces[][2] = { { 1, 1 }, { 1, 70000 }, { 70000, 1 }, { 13, 4096 },
					    { 65536, 65536 }, { 1000000, 1000000 } };
	static struct result result;

	for (size_t k = 0; k < KIND_COUNT; k++) {
		size_t size;
		uint8_t *bytes;

		if (!pack_can(kinds[k]))
			continue;
		bytes = pack(kinds[k], plain, PLAIN_SIZE, &size);
		cr_expect(eq(int, (int)packed_recognise(bytes, size), (int)kinds[k]));
		cr_expect(eq(int, (int)packed_recognise(bytes, 2), PACKED_NONE));
		for (size_t i = 0; i < sizeof(pieces) / sizeof(pieces[0]); i++) {
			decode(kinds[k], bytes, size, pieces[i][0], pieces[i][1], &result);
			cr_expect(eq(int, result.r, 1));
			cr_expect(eq(sz, result.in_used, size));
			expect_prefix(&result, PLAIN_SIZE);
		}
		free(bytes);
	}
}

Test(packed, streams_follow_one_another_with_zeros_between)
{
	static const uint8_t zeros[512];
	static struct result result;

	for (size_t k = 0; k < KIND_COUNT; k++) {
		size_t a_size, b_size, size, joined_size;
		uint8_t *a, *b, *padded, *joined;

		if (!pack_can(kinds[k]))
			continue;
		a = pack(kinds[k], plain, 30000, &a_size);
		b = pack(kinds[k], plain + 30000, PLAIN_SIZE - 30000, &b_size);
		padded = pack_join(a, a_size, zeros, k % 2 ? sizeof(zeros) : 0, &size);
		joined = pack_join(padded, size, b, b_size, &joined_size);
		decode(kinds[k], joined, joined_size, 1000, 5000, &result);
		cr_expect(eq(int, result.r, 1));
		expect_prefix(&result, PLAIN_SIZE);
		free(a);
		free(b);
		free(padded);
		free(joined);
	}
}

Test(packed, what_follows_and_is_no_stream_is_told_and_costs_nothing)
{
	static struct result result;

	for (size_t k = 0; k < KIND_COUNT; k++) {
		size_t size, joined_size;
		uint8_t *bytes, *joined;

		if (!pack_can(kinds[k]))
			continue;
		bytes = pack(kinds[k], plain, PLAIN_SIZE, &size);
		joined = pack_join(bytes, size, "garbage", 7, &joined_size);
		decode(kinds[k], joined, joined_size, 1000, 5000, &result);
		cr_expect(eq(int, result.r, -EBADE));
		cr_expect(eq(sz, result.in_used, size));
		expect_prefix(&result, PLAIN_SIZE);
		free(bytes);
		free(joined);
	}
}

Test(packed, cut_short_there_is_the_beginning)
{
	static struct result result;

	for (size_t k = 0; k < KIND_COUNT; k++) {
		size_t size;
		uint8_t *bytes;

		if (!pack_can(kinds[k]))
			continue;
		bytes = pack(kinds[k], plain, PLAIN_SIZE, &size);
		for (size_t cut = 0; cut < size; cut += cut < 40 ? 1 : 997) {
			decode(kinds[k], bytes, cut, 4096, 4096, &result);
			cr_expect(eq(int, result.r, -ENODATA));
			expect_prefix(&result, 0);
		}
		free(bytes);
	}
}

Test(packed, a_changed_byte_is_found)
{
	static struct result result;

	for (size_t k = 0; k < KIND_COUNT; k++) {
		size_t size;
		uint8_t *bytes;

		if (!pack_can(kinds[k]))
			continue;
		bytes = pack(kinds[k], plain, PLAIN_SIZE, &size);
		for (size_t at = size / 2; at < size; at += size / 7) {
			bytes[at] ^= 0x10;
			decode(kinds[k], bytes, size, 4096, 4096, &result);
			cr_expect(lt(int, result.r, 0));
			bytes[at] ^= 0x10;
		}
		free(bytes);
	}
}

Test(packed, a_window_beyond_the_limit_is_refused)
{
	/* A zstd frame of unknown size whose window has 2^31 bytes. */
	static const uint8_t large[] = { 0x28, 0xb5, 0x2f, 0xfd, 0x00, 0xa8, 1, 0, 0 };
	static struct result result;

	decode(PACKED_ZSTD, large, sizeof(large), 4096, 4096, &result);
	cr_expect(eq(int, result.r, -ENOBUFS));
	cr_expect(eq(sz, result.size, 0));
}

Test(packed, frames_that_say_nothing_are_passed_over)
{
	static const uint8_t skippable[] = { 0x5a, 0x2a, 0x4d, 0x18, 3, 0, 0, 0, 1, 2, 3 };
	static struct result result;

	for (size_t k = 0; k < KIND_COUNT; k++) {
		size_t size, joined_size;
		uint8_t *bytes, *joined;

		if (kinds[k] != PACKED_ZSTD && kinds[k] != PACKED_LZ4)
			continue;
		bytes = pack(kinds[k], plain, PLAIN_SIZE, &size);
		joined = pack_join(skippable, sizeof(skippable), bytes, size, &joined_size);
		decode(kinds[k], joined, joined_size, 1000, 5000, &result);
		cr_expect(eq(int, result.r, 1));
		expect_prefix(&result, PLAIN_SIZE);
		cr_expect(eq(int, (int)packed_recognise(joined, joined_size), PACKED_ZSTD));
		free(bytes);
		free(joined);
	}
}

Test(packed, every_error_has_words)
{
	static const int errors[] = { -ENODATA, -EBADE,		  -ENOBUFS,
				      -ENOMEM,	-EPROTONOSUPPORT, -EBADMSG };

	for (size_t i = 0; i < sizeof(errors) / sizeof(errors[0]); i++)
		for (size_t j = 0; j < i; j++)
			cr_expect(ne(str, (char *)packed_explain(errors[i]),
				     (char *)packed_explain(errors[j])));
}
