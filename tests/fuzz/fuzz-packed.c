/* SPDX-License-Identifier: MIT */
/*
 * Files that are compressed as a whole. The first byte says in which pieces they are decoded, the
 * rest is the file. However it is cut into pieces, the same comes out and it ends in the same way;
 * every call makes progress or ends.
 */
#include "tests/fuzz/fuzz.h"

#include "formats/packed/packed.h"

#define OUT_MAX (UINT64_C(4) << 20)

struct outcome {
	uint8_t *out;
	size_t size;
	size_t in_used;
	int r;
};

/* Decodes in pieces of these sizes, up to OUT_MAX. */
static void decode(enum packed_kind kind, const uint8_t *bytes, size_t size, size_t in_piece,
		   size_t out_piece, struct outcome *ret)
{
	struct packed *p = NULL;

	*ret = (struct outcome){ .out = malloc(OUT_MAX) };
	if (!ret->out)
		abort();
	ret->r = packed_new(kind, &p);
	while (ret->r == 0 && ret->size < OUT_MAX) {
		size_t rest = size - ret->in_used, room = OUT_MAX - ret->size;
		struct packed_io io = {
			.in_size = rest < in_piece ? rest : in_piece,
			.in_last = rest <= in_piece,
			.out = ret->out + ret->size,
			.out_size = room < out_piece ? room : out_piece,
		};
		/* A buffer of its own: reading past it is seen. */
		uint8_t *piece = malloc(io.in_size + 1);

		if (!piece)
			abort();
		memcpy(piece, bytes + ret->in_used, io.in_size);
		io.in = piece;
		ret->r = packed_decode(p, &io);
		FUZZ_CHECK(io.in_used <= io.in_size && io.out_used <= io.out_size);
		FUZZ_CHECK(ret->r != 0 || io.in_used > 0 || io.out_used > 0);
		ret->in_used += io.in_used;
		ret->size += io.out_used;
		free(piece);
	}
	packed_free(p);
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size)
{
	struct outcome whole, pieces;
	enum packed_kind kind;

	if (size < 2)
		return 0;
	kind = packed_recognise(bytes + 1, size - 1);
	if (kind == PACKED_NONE)
		return 0;
	decode(kind, bytes + 1, size - 1, SIZE_MAX, SIZE_MAX, &whole);
	decode(kind, bytes + 1, size - 1, bytes[0] + 1u, bytes[0] * 300u + 1, &pieces);
	FUZZ_CHECK(whole.r <= 1 && pieces.r <= 1);
	FUZZ_CHECK((whole.r == 1) == (pieces.r == 1) || whole.size == OUT_MAX ||
		   pieces.size == OUT_MAX);
	if (whole.r == 1 && pieces.r == 1)
		FUZZ_CHECK(whole.size == pieces.size);
	size = whole.size < pieces.size ? whole.size : pieces.size;
	/* Behind damage a decoder may have written what it took for data. */
	if (whole.r >= 0 && pieces.r >= 0)
		FUZZ_CHECK(memcmp(whole.out, pieces.out, size) == 0);
	free(whole.out);
	free(pieces.out);
	return 0;
}

void fuzz_mutate(uint8_t *bytes, size_t size, uint64_t seed)
{
	/* The magic number stays, most of the time. */
	for (uint64_t n = fuzz_random(&seed) % 4 + 1; n > 0; n--) {
		uint64_t from = fuzz_random(&seed) % 16 && size > 8 ? 7 : 0;
		uint64_t at = from + fuzz_random(&seed) % (size - from);

		bytes[at] ^= (uint8_t)(1u << fuzz_random(&seed) % 8);
	}
}
