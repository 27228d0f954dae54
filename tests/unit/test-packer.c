/* SPDX-License-Identifier: MIT */
/* Frames that are encoded: what the decoders make of them, of every size, one behind the other. */
#include <criterion/criterion.h>
#include <criterion/new/assert.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "formats/packed/packer.h"

static const enum packed_kind kinds[] = { PACKED_ZSTD, PACKED_LZ4 };
static uint8_t plain[PACKER_FRAME_BYTES_MAX + 1], back[PACKER_FRAME_BYTES_MAX + 1];

/* Half text-like, half without any order. */
static void setup(void)
{
	uint32_t x = 7;

	for (size_t i = 0; i < sizeof(plain); i++) {
		x = x * 1103515245u + 12345;
		plain[i] = i / 1000 % 2 ? (uint8_t)(x >> 16) : (uint8_t)('a' + i % 20);
	}
}

TestSuite(packer, .init = setup, .timeout = 60);

/* Decodes a whole stream into BACK. Returns how many bytes came out. */
static size_t decode(enum packed_kind kind, const uint8_t *bytes, size_t size)
{
	struct packed_io io = { .in = bytes, .in_size = size, .in_last = true, .out = back,
				.out_size = sizeof(back) };
	struct packed *p;
	int r = 0;

	cr_assert(eq(int, packed_new(kind, &p), 0));
	while (r == 0)
		r = packed_decode(p, &io);
	cr_assert(eq(int, r, 1));
	packed_free(p);
	return io.out_used;
}

Test(packer, frames_of_every_size_come_back)
{
	static const size_t sizes[] = { 0, 1, 100, 70000, PACKER_FRAME_BYTES_MAX, 5 };
	struct packer packer = { 0 };

	for (size_t n = 0; n < 2 * sizeof(sizes) / sizeof(sizes[0]); n++) {
		size_t size = sizes[n / 2], frame_size;
		const uint8_t *frame;

		cr_assert(eq(int, packer_frame(&packer, kinds[n % 2], n % 3, plain, size, &frame,
					       &frame_size), 0));
		cr_assert(eq(int, (int)packed_recognise(frame, frame_size), (int)kinds[n % 2]));
		cr_assert(eq(sz, decode(kinds[n % 2], frame, frame_size), size));
		cr_assert(memcmp(plain, back, size) == 0);
	}
	packer_done(&packer);
}

Test(packer, frames_one_behind_the_other_are_a_stream)
{
	for (unsigned k = 0; k < 2; k++) {
		struct packer packer = { 0 };
		uint8_t *stream = malloc(sizeof(plain));
		size_t size = 0, at = 0, frame_size;
		const uint8_t *frame;

		for (size_t n = 0; n < 2000; at += n, n += 100) {
			cr_assert(eq(int, packer_frame(&packer, kinds[k], 0, plain + at, n, &frame,
						       &frame_size), 0));
			memcpy(stream + size, frame, frame_size);
			size += frame_size;
		}
		cr_assert(eq(sz, decode(kinds[k], stream, size), at));
		cr_assert(memcmp(plain, back, at) == 0);
		free(stream);
		packer_done(&packer);
	}
}

Test(packer, what_came_before_does_not_matter)
{
	for (unsigned k = 0; k < 2; k++) {
		struct packer used = { 0 }, fresh = { 0 };
		const uint8_t *a, *b;
		size_t a_size, b_size;

		packer_frame(&used, kinds[k], 19 * (k == 0), plain + 7, 50000, &a, &a_size);
		packer_frame(&used, kinds[k], 0, plain, 30000, &a, &a_size);
		packer_frame(&fresh, kinds[k], 0, plain, 30000, &b, &b_size);
		cr_assert(eq(sz, a_size, b_size));
		cr_assert(memcmp(a, b, a_size) == 0);
		packer_done(&used);
		packer_done(&fresh);
	}
}

Test(packer, what_cannot_be_is_refused)
{
	struct packer packer = { 0 };
	const uint8_t *frame;
	size_t size;

	cr_assert(eq(int, packer_frame(&packer, PACKED_XZ, 0, plain, 1, &frame, &size),
		     -EPROTONOSUPPORT));
	cr_assert(eq(int, packer_frame(&packer, PACKED_ZSTD, 0, plain, sizeof(plain), &frame,
				       &size), -EFBIG));
	packer_done(&packer);
}
