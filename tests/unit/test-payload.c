/* SPDX-License-Identifier: MIT */
/* Decompression: round trips, limits, and what damaged and hostile payloads give. */
#include <criterion/criterion.h>
#include <criterion/new/assert.h>
#include <criterion/parameterized.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

#include "tests/support/fixture.h"

#define MIB (UINT64_C(1) << 20)

struct payload_form {
	uint8_t compression;
	bool without_size;
};

static struct payload_form forms[] = {
	{ OBJECT_ZSTD, false },
	{ OBJECT_ZSTD, true },
	{ OBJECT_LZ4, false },
	{ OBJECT_XZ, false },
};

#define FORM_PARAMETERS(test)                                                                      \
	ParameterizedTestParameters(payload, test)                                                 \
	{                                                                                          \
		return cr_make_param_array(struct payload_form, forms, 4);                         \
	}                                                                                          \
	ParameterizedTest(struct payload_form *form, payload, test)

/* SIZE bytes that compress to about a half, beginning with "FIELD=". */
static uint8_t *text_new(size_t size)
{
	uint8_t *text = malloc(size + 6);
	uint32_t state = 7;

	for (size_t i = 0; i < size; i++) {
		if (i % 16 == 0)
			state = state * 1664525 + 1013904223;
		text[i] =
			i % 16 < 4 ? (uint8_t)(state >> 8 * (i % 16)) : "repeated text..."[i % 16];
	}
	memcpy(text, "FIELD=", 6);
	return text;
}

/* A text compressed, in a block of its exact size; skips the test if the build cannot. */
static uint8_t *packed_new(const struct payload_form *form, const uint8_t *text, size_t size,
			   size_t *ret_size)
{
	uint8_t *packed;

	if (!fixture_can_compress(form->compression))
		cr_skip_test("no support for this compression");
	packed = fixture_compress(form->compression, form->without_size, text, size, ret_size);
	cr_assert(packed != NULL);
	return realloc(packed, *ret_size);
}

static struct payload_decoder *decoder_new(uint64_t limit)
{
	struct payload_decoder *d;

	cr_assert(eq(int, payload_decoder_new(limit, &d), 0));
	return d;
}

FORM_PARAMETERS(round_trip_of_any_size)
{
	static const size_t sizes[] = { 200, 4096, 131072, 131073, 1000000 };
	struct payload_decoder *d = decoder_new(16 * MIB);
	const uint8_t *results[5];

	/* All results stay where they are until the reset. */
	for (unsigned i = 0; i < 5; i++) {
		uint8_t *text = text_new(sizes[i]);
		size_t packed_size;
		uint8_t *packed = packed_new(form, text, sizes[i], &packed_size);
		uint64_t size;

		cr_assert(eq(int,
			     payload_decode(d, form->compression, packed, packed_size, &results[i],
					    &size),
			     0));
		cr_assert(eq(u64, size, sizes[i]));
		free(text);
		free(packed);
	}
	for (unsigned i = 0; i < 5; i++) {
		uint8_t *text = text_new(sizes[i]);

		cr_expect(eq(int, memcmp(results[i], text, sizes[i]), 0));
		free(text);
	}
	payload_decoder_reset(d);
	cr_expect(eq(u64, payload_decoder_position(d), 0));
	payload_decoder_free(d);
}

FORM_PARAMETERS(every_cut_is_bad)
{
	struct payload_decoder *d = decoder_new(MIB);
	uint8_t *text = text_new(3000);
	size_t packed_size;
	uint8_t *packed = packed_new(form, text, 3000, &packed_size);

	for (size_t cut = 0; cut < packed_size; cut++) {
		uint8_t *part = malloc(cut + 1);
		uint8_t *exact = realloc(part, cut > 0 ? cut : 1);
		const uint8_t *bytes;
		uint64_t size;
		int r;

		memcpy(exact, packed, cut);
		cr_assert(eq(int, payload_decode(d, form->compression, exact, cut, &bytes, &size),
			     -EBADMSG),
			  "%zu of %zu", cut, packed_size);
		r = payload_starts_with(d, form->compression, exact, cut, "FIELD=", 6);
		cr_assert(r == 1 || r == -EBADMSG, "%zu: %d", cut, r);
		free(exact);
	}
	cr_expect(eq(u64, payload_decoder_position(d), 0));
	free(packed);
	free(text);
	payload_decoder_free(d);
}

FORM_PARAMETERS(random_damage_stays_within_bounds)
{
	struct payload_decoder *d = decoder_new(MIB);
	uint8_t *text = text_new(3000);
	size_t packed_size;
	uint8_t *packed = packed_new(form, text, 3000, &packed_size);
	uint32_t state = 3;

	for (unsigned i = 0; i < 3000; i++) {
		size_t at = (state = state * 1664525 + 1013904223) % packed_size;
		uint8_t kept = packed[at];
		const uint8_t *bytes;
		uint64_t size = 0;
		int r;

		packed[at] = (uint8_t)(state >> 24);
		r = payload_decode(d, form->compression, packed, packed_size, &bytes, &size);
		cr_assert(r == 0 || r == -EBADMSG || r == -ENOBUFS || r == -EFBIG || r == -ENOMEM,
			  "%d", r);
		cr_assert(le(u64, size, MIB));
		r = payload_starts_with(d, form->compression, packed, packed_size, "FIELD=", 6);
		cr_assert(r == 0 || r == 1 || r == -EBADMSG, "%d", r);
		packed[at] = kept;
		payload_decoder_reset(d);
	}
	free(packed);
	free(text);
	payload_decoder_free(d);
}

FORM_PARAMETERS(garbage_is_bad)
{
	static const uint8_t garbage[64] = "\x01\x00\x00\x00\x00\x00\x00\x00this is no frame";
	struct payload_decoder *d = decoder_new(MIB);
	const uint8_t *bytes;
	uint64_t size;

	for (size_t n = 0; n < sizeof(garbage); n++)
		cr_assert(eq(int, payload_decode(d, form->compression, garbage, n, &bytes, &size),
			     -EBADMSG));
	payload_decoder_free(d);
}

FORM_PARAMETERS(more_than_the_limit_gives_the_first_bytes)
{
	struct payload_decoder *d = decoder_new(300000);
	uint8_t *text = text_new(1000000);
	size_t packed_size;
	uint8_t *packed = packed_new(form, text, 1000000, &packed_size);
	const uint8_t *bytes;
	uint64_t size;

	cr_assert(eq(int, payload_decode(d, form->compression, packed, packed_size, &bytes, &size),
		     -ENOBUFS));
	cr_assert(eq(u64, size, 300000));
	cr_expect(eq(int, memcmp(bytes, text, 300000), 0));
	/* Now the arena is full. */
	cr_assert(eq(int, payload_decode(d, form->compression, packed, packed_size, &bytes, &size),
		     -ENOBUFS));
	cr_expect(eq(u64, size, 0));
	payload_decoder_reset(d);
	cr_assert(eq(int, payload_decode(d, form->compression, packed, packed_size, &bytes, &size),
		     -ENOBUFS));
	cr_expect(eq(u64, size, 300000));
	free(packed);
	free(text);
	payload_decoder_free(d);
}

FORM_PARAMETERS(exactly_the_limit_fits)
{
	struct payload_decoder *d = decoder_new(200000);
	uint8_t *text = text_new(200000);
	size_t packed_size;
	uint8_t *packed = packed_new(form, text, 200000, &packed_size);
	const uint8_t *bytes;
	uint64_t size;

	cr_assert(eq(int, payload_decode(d, form->compression, packed, packed_size, &bytes, &size),
		     0));
	cr_expect(eq(u64, size, 200000));
	free(packed);
	free(text);
	payload_decoder_free(d);
}

FORM_PARAMETERS(memory_of_an_outlier_is_given_back)
{
	struct payload_decoder *d = decoder_new(64 * MIB);
	uint8_t *text = text_new(16 * MIB);
	size_t packed_size;
	uint8_t *packed = packed_new(form, text, 16 * MIB, &packed_size);
	uint8_t *page;
	const uint8_t *bytes;
	unsigned char resident;
	uint64_t size;

	cr_assert(eq(int, payload_decode(d, form->compression, packed, packed_size, &bytes, &size),
		     0));
	page = (uint8_t *)bytes + 8 * MIB; /* the arena begins with a page, and with this result */
	cr_assert(eq(int, mincore(page, 4096, &resident), 0));
	cr_expect(eq(int, resident & 1, 1));
	payload_decoder_reset(d);
	cr_assert(eq(int, mincore(page, 4096, &resident), 0));
	cr_expect(eq(int, resident & 1, 0));
	cr_assert(eq(int, payload_decode(d, form->compression, packed, packed_size, &bytes, &size),
		     0));
	cr_expect(eq(int, memcmp(bytes, text, 16 * MIB), 0));
	free(packed);
	free(text);
	payload_decoder_free(d);
}

FORM_PARAMETERS(prefix_is_tested_without_the_rest)
{
	struct payload_decoder *d = decoder_new(4096); /* too little for the whole */
	uint8_t *text = text_new(500000);
	size_t packed_size;
	uint8_t *packed = packed_new(form, text, 500000, &packed_size);

	cr_expect(eq(int,
		     payload_starts_with(d, form->compression, packed, packed_size, "FIELD=", 6),
		     1));
	cr_expect(eq(int,
		     payload_starts_with(d, form->compression, packed, packed_size, "FIELE=", 6),
		     0));
	cr_expect(eq(int,
		     payload_starts_with(d, form->compression, packed, packed_size, text,
					 PAYLOAD_PREFIX_MAX),
		     1));
	cr_expect(eq(u64, payload_decoder_position(d), 0));
	free(packed);
	free(text);
	payload_decoder_free(d);
}

FORM_PARAMETERS(prefix_longer_than_the_payload_is_not_there)
{
	struct payload_decoder *d = decoder_new(MIB);
	uint8_t text[600] = "FIELD=";
	size_t packed_size;
	uint8_t *packed = packed_new(form, text, 599, &packed_size);

	cr_expect(eq(int, payload_starts_with(d, form->compression, packed, packed_size, text, 599),
		     1));
	cr_expect(eq(int, payload_starts_with(d, form->compression, packed, packed_size, text, 600),
		     0));
	free(packed);
	payload_decoder_free(d);
}

Test(payload, zstd_frames_are_decoded_to_the_last)
{
	static const uint8_t skippable[] = "\x50\x2a\x4d\x18\x04\0\0\0abcd";
	struct payload_decoder *d = decoder_new(MIB);
	struct payload_decoder *small = decoder_new(100000);
	uint8_t *text = text_new(90000), joined[200000];
	size_t packed_size, n = 0;
	uint8_t *packed = packed_new(&forms[0], text, 90000, &packed_size);
	const uint8_t *bytes;
	uint64_t size;

	cr_assert(lt(sz, 2 * packed_size + 17, sizeof(joined)));
	memcpy(joined, skippable, 12), n += 12;
	memcpy(joined + n, packed, packed_size), n += packed_size;
	memcpy(joined + n, packed, packed_size), n += packed_size;
	cr_assert(eq(int, payload_decode(d, OBJECT_ZSTD, joined, n, &bytes, &size), 0));
	cr_assert(eq(u64, size, 180000));
	cr_expect(eq(int, memcmp(bytes, text, 90000), 0));
	cr_expect(eq(int, memcmp(bytes + 90000, text, 90000), 0));
	cr_expect(eq(int, payload_starts_with(d, OBJECT_ZSTD, joined, n, "FIELD=", 6), 1));
	cr_assert(eq(int, payload_decode(small, OBJECT_ZSTD, joined, n, &bytes, &size), -ENOBUFS));
	cr_assert(eq(u64, size, 100000));
	cr_expect(eq(int, memcmp(bytes + 90000, text, 10000), 0));

	/* Anything else behind a frame spoils it. */
	memcpy(joined + n, "extra", 5);
	cr_expect(eq(int, payload_decode(d, OBJECT_ZSTD, joined, n + 1, &bytes, &size), -EBADMSG));
	cr_expect(eq(int, payload_decode(d, OBJECT_ZSTD, joined, n + 5, &bytes, &size), -EBADMSG));
	free(packed);
	free(text);
	payload_decoder_free(small);
	payload_decoder_free(d);
}

/* An LZ4 payload with another length announced, and what comes of it with a limit of 1 MiB. */
struct announced {
	uint64_t size;
	int error;
	uint64_t first_bytes;
};

static struct announced announcements[] = {
	{ 0, -EBADMSG, 0 },
	{ 999, -EBADMSG, 0 },
	{ 1000, 0, 1000 },
	{ 1001, -EBADMSG, 0 },
	{ MIB, -EBADMSG, 0 },
	{ MIB + 1, -ENOBUFS, 1000 },
	{ INT32_MAX, -ENOBUFS, 1000 },
	{ (uint64_t)INT32_MAX + 1, -EFBIG, 0 },
	{ UINT64_MAX, -EFBIG, 0 },
};

ParameterizedTestParameters(payload, lz4_length_is_checked)
{
	return cr_make_param_array(struct announced, announcements,
				   sizeof(announcements) / sizeof(announcements[0]));
}

ParameterizedTest(struct announced *a, payload, lz4_length_is_checked)
{
	struct payload_decoder *d = decoder_new(MIB);
	uint8_t *text = text_new(1000);
	size_t packed_size;
	uint8_t *packed = packed_new(&forms[2], text, 1000, &packed_size);
	const uint8_t *bytes;
	uint64_t size = 0;

	for (unsigned i = 0; i < 8; i++)
		packed[i] = (uint8_t)(a->size >> i * 8);
	cr_assert(eq(int, payload_decode(d, OBJECT_LZ4, packed, packed_size, &bytes, &size),
		     a->error));
	cr_expect(eq(u64, size, a->first_bytes));
	free(packed);
	free(text);
	payload_decoder_free(d);
}

Test(payload, two_compressions_are_not_supported)
{
	struct payload_decoder *d = decoder_new(MIB);
	uint8_t packed[64] = { 0 };
	const uint8_t *bytes;
	uint64_t size;

	for (unsigned c = 1; c <= OBJECT_COMPRESSED_MASK; c++) {
		if ((c & (c - 1)) == 0)
			continue;
		cr_expect(eq(int, payload_decode(d, (uint8_t)c, packed, 64, &bytes, &size),
			     -EPROTONOSUPPORT));
		cr_expect(
			eq(int, payload_starts_with(d, (uint8_t)c, packed, 64, "A", 1), -EBADMSG));
	}
	payload_decoder_free(d);
}

Test(payload, plain_one_is_its_own_result)
{
	struct payload_decoder *d = decoder_new(MIB);
	const uint8_t plain[] = "NAME=value";
	const uint8_t *bytes;
	uint64_t size;

	cr_assert(eq(int, payload_decode(d, 0, plain, 10, &bytes, &size), 0));
	cr_expect(eq(ptr, (void *)bytes, (void *)plain));
	cr_expect(eq(u64, size, 10));
	cr_expect(eq(int, payload_starts_with(d, 0, plain, 10, "NAME=", 5), 1));
	cr_expect(eq(int, payload_starts_with(d, 0, plain, 4, "NAME=", 5), 0));
	payload_decoder_free(d);
}

FORM_PARAMETERS(small_one_is_decoded_at_once_or_not_at_all)
{
	static const size_t sizes[] = { 200, 60000, 100000 };
	struct payload_decoder *d = decoder_new(MIB);

	for (unsigned i = 0; i < 3; i++) {
		bool small = form->compression == OBJECT_ZSTD && !form->without_size && i < 2;
		uint8_t *text = text_new(sizes[i]);
		size_t packed_size;
		uint8_t *packed = packed_new(form, text, sizes[i], &packed_size);
		const uint8_t *bytes;
		uint64_t size, position;

		cr_assert(eq(int, payload_decode(d, form->compression, packed, packed_size, &bytes,
						 &size), 0));
		position = payload_decoder_position(d);
		cr_assert(eq(int, payload_decode_small(d, form->compression, packed, packed_size,
						       &bytes, &size), small ? 0 : -EOPNOTSUPP));
		if (small) {
			cr_expect(eq(u64, size, sizes[i]));
			cr_expect(memcmp(bytes, text, sizes[i]) == 0);
			cr_expect(ge(u64, payload_decoder_position(d), position + size));
		}
		payload_decoder_rewind(d, position);
		cr_expect(eq(int, payload_decode_small(d, form->compression, packed,
						       packed_size / 2, &bytes, &size),
			     -EOPNOTSUPP), "cut short");
		cr_expect(eq(u64, payload_decoder_position(d), position));
		payload_decoder_reset(d);
		free(packed);
		free(text);
	}
	payload_decoder_free(d);
}

Test(payload, rewind_forgets_what_came_after)
{
	struct payload_decoder *d = decoder_new(MIB);
	uint8_t *text = text_new(1000);
	const uint8_t *first, *second, *third;
	uint64_t size, position;
	size_t packed_size;
	uint8_t *packed = packed_new(&forms[0], text, 1000, &packed_size);

	cr_assert(eq(int, payload_decode(d, OBJECT_ZSTD, packed, packed_size, &first, &size), 0));
	position = payload_decoder_position(d);
	cr_assert(eq(int, payload_decode(d, OBJECT_ZSTD, packed, packed_size, &second, &size), 0));
	payload_decoder_rewind(d, position);
	cr_assert(eq(int, payload_decode(d, OBJECT_ZSTD, packed, packed_size, &third, &size), 0));
	cr_expect(eq(ptr, (void *)second, (void *)third));
	cr_expect(ne(ptr, (void *)first, (void *)third));
	free(packed);
	free(text);
	payload_decoder_free(d);
}

Test(payload, freeing_nothing_is_fine)
{
	struct payload_decoder *d = decoder_new(MIB);

	cr_expect(eq(ptr, payload_decoder_free(NULL), NULL));
	payload_decoder_reset(d); /* before anything was decoded */
	cr_expect(eq(u64, payload_decoder_position(d), 0));
	cr_expect(eq(ptr, payload_decoder_free(d), NULL));
}
