/* SPDX-License-Identifier: MIT */
/*
 * Hash tables. Every payload and every name that the file holds is looked up in it, and some that
 * it does not: whole, lazily, and resumed after each lack of bytes. All must agree, and what is
 * found must be what was asked for.
 */
#include "tests/fuzz/fuzz.h"

#define LOOKUPS_MAX 60u
#define LIMIT_BYTES (UINT64_C(1) << 20)

static struct payload_decoder *decoder;

/* Looks a payload up in three ways. */
static void check_data(const struct fuzz_input *in, struct window *w, struct lazy *l,
		       const void *data, size_t size)
{
	struct data_object a = { 0 }, b = { 0 }, c = { 0 };
	uint64_t hash = journal_hash(&in->journal, data, size), position = 0;
	struct payload_view view;
	const uint8_t *bytes;
	uint64_t bytes_size;
	int r = lookup_data(&in->journal, w, decoder, data, size, hash, &a);

	FUZZ_CHECK(r != -EAGAIN && r <= 1);
	lazy_evict(l);
	FUZZ_CHECK(r == LAZY_RUN(l, lookup_data(&in->journal, &l->window, decoder, data, size, hash,
						&b)));
	lazy_evict(l);
	FUZZ_CHECK(r == LAZY_RUN(l, lookup_data_resume(&in->journal, &l->window, decoder, data,
						       size, hash, &position, &c)));
	FUZZ_CHECK(payload_decoder_position(decoder) == 0);
	if (r != 1)
		return;
	FUZZ_CHECK(a.offset == b.offset && a.offset == c.offset && a.hash == hash);
	FUZZ_CHECK(object_payload(&in->journal, w, a.offset, &view) == 0);
	FUZZ_CHECK(payload_decode(decoder, view.compression, view.bytes, view.size, &bytes,
				  &bytes_size) == 0);
	FUZZ_CHECK(bytes_size == size && memcmp(bytes, data, size) == 0);
	payload_decoder_reset(decoder);
}

/* Looks a name up in two ways. */
static void check_field(const struct fuzz_input *in, struct window *w, struct lazy *l,
			const void *name, size_t size)
{
	struct field_object a = { 0 }, b = { 0 };
	uint64_t hash = journal_hash(&in->journal, name, size);
	const uint8_t *bytes;
	int r = lookup_field(&in->journal, w, name, size, hash, &a);

	FUZZ_CHECK(r != -EAGAIN && r <= 1);
	lazy_evict(l);
	FUZZ_CHECK(r == LAZY_RUN(l, lookup_field(&in->journal, &l->window, name, size, hash, &b)));
	if (r != 1)
		return;
	FUZZ_CHECK(a.offset == b.offset && a.name_size == size);
	FUZZ_CHECK(object_field_name(w, &a, &bytes) == 0 && memcmp(bytes, name, size) == 0);
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size)
{
	struct fuzz_input in;
	struct window whole;
	struct lazy lazy;
	unsigned lookups = 0;

	if (!fuzz_open(bytes, size, &in))
		return 0;
	if (!decoder && payload_decoder_new(LIMIT_BYTES, &decoder) < 0)
		abort();
	whole = (struct window){ .base = in.bytes, .size_bytes = in.size, .whole = true };
	lazy_init(&lazy, in.bytes, in.size, in.block_shift);
	check_data(&in, &whole, &lazy, "MESSAGE=absent", 14);
	check_field(&in, &whole, &lazy, "ABSENT", 6);
	for (uint64_t o = 0; lookups < LOOKUPS_MAX && (o = fuzz_next_object(&in, o));) {
		struct payload_view view;
		struct field_object field;
		const uint8_t *plain;
		uint64_t plain_size;

		if (object_payload(&in.journal, &whole, o, &view) == 0) {
			uint8_t *copy;

			if (payload_decode(decoder, view.compression, view.bytes, view.size, &plain,
					   &plain_size) < 0 ||
			    !(copy = malloc(plain_size ? plain_size : 1)))
				continue;
			memcpy(copy, plain, plain_size);
			payload_decoder_reset(decoder);
			check_data(&in, &whole, &lazy, copy, plain_size);
			free(copy);
			lookups++;
		} else if (object_field(&in.journal, &whole, o, &field) == 0) {
			FUZZ_CHECK(object_field_name(&whole, &field, &plain) == 0);
			check_field(&in, &whole, &lazy, plain, field.name_size);
			lookups++;
		}
		payload_decoder_reset(decoder);
	}
	lazy_done(&lazy);
	return 0;
}

void fuzz_mutate(uint8_t *bytes, size_t size, uint64_t seed)
{
	if (size > 1)
		fuzz_lie(bytes + 1, size - 1, seed);
}
