/* SPDX-License-Identifier: MIT */
/*
 * Decompression. The first byte names the compression and how large a result may be, the rest is a
 * payload. What is decoded is decoded alike twice, does not move, and agrees with the test of its
 * first bytes.
 */
#include "tests/fuzz/fuzz.h"

/* Compares the prefix test with what was decoded: N bytes of it, right and with the last one wrong.
 */
static void check_prefix(struct payload_decoder *d, uint8_t compression, const uint8_t *bytes,
			 size_t size, const uint8_t *plain, size_t n)
{
	/* A zstd frame that announces its size is decoded in one go, with fewer checks than its
	 * beginning is, here as in the reference. */
	const int damaged = compression == OBJECT_ZSTD ? -EBADMSG : 0;
	int r = payload_starts_with(d, compression, bytes, size, plain, n);
	uint8_t wrong[PAYLOAD_PREFIX_MAX];

	FUZZ_CHECK(r == 1 || (r == damaged && damaged));
	memcpy(wrong, plain, n);
	wrong[n - 1] ^= 0x20;
	r = payload_starts_with(d, compression, bytes, size, wrong, n);
	FUZZ_CHECK(r == 0 || r == damaged);
}

/* Decodes twice and compares. */
static void check_payload(struct payload_decoder *d, uint64_t limit, uint8_t compression,
			  const uint8_t *bytes, size_t size)
{
	const uint8_t *plain = NULL, *again = NULL;
	uint64_t plain_size = 0, again_size = 0, position;
	int r = payload_decode(d, compression, bytes, size, &plain, &plain_size);

	FUZZ_CHECK(r == 0 || r == -EBADMSG || r == -EPROTONOSUPPORT || r == -ENOMEM ||
		   r == -ENOBUFS || r == -EFBIG);
	position = payload_decoder_position(d);
	FUZZ_CHECK(position <= limit);
	if (r != 0)
		return;
	FUZZ_CHECK(compression == 0 || plain_size <= limit);
	FUZZ_CHECK(compression != OBJECT_LZ4 || plain_size == load_le64(bytes));
	r = payload_decode(d, compression, bytes, size, &again, &again_size);
	/* The arena may be full by now; then there is what it had room for. */
	FUZZ_CHECK(r == 0 || r == -ENOBUFS);
	FUZZ_CHECK(r == -ENOBUFS ? again_size <= plain_size : again_size == plain_size);
	FUZZ_CHECK(again_size == 0 || memcmp(plain, again, again_size) == 0);
	FUZZ_CHECK(compression == 0 || again != plain || plain_size == 0);
	payload_decoder_rewind(d, position);
	if (plain_size > 0)
		check_prefix(d, compression, bytes, size, plain, 1);
	if (plain_size >= 16)
		check_prefix(d, compression, bytes, size, plain, 16);
	if (plain_size >= PAYLOAD_PREFIX_MAX)
		check_prefix(d, compression, bytes, size, plain, PAYLOAD_PREFIX_MAX);
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size)
{
	struct payload_decoder *d;
	uint64_t limit;
	uint8_t *copy;

	if (size < 2)
		return 0;
	limit = UINT64_C(4096) << (bytes[0] >> 4); /* 4 KiB to 128 MiB */
	copy = malloc(size - 1);
	if (!copy || payload_decoder_new(limit, &d) < 0)
		abort();
	memcpy(copy, bytes + 1, size - 1);
	check_payload(d, limit, bytes[0] & OBJECT_COMPRESSED_MASK, copy, size - 1);
	payload_decoder_reset(d);
	FUZZ_CHECK(payload_decoder_position(d) == 0);
	/* A decoder is as good as new after whatever came before. */
	check_payload(d, limit, bytes[0] & OBJECT_COMPRESSED_MASK, copy, size - 1);
	payload_decoder_free(d);
	free(copy);
	return 0;
}

void fuzz_mutate(uint8_t *bytes, size_t size, uint64_t seed)
{
	/* One to eight bits anywhere: framing is near the beginning, so every other one is there.
	 */
	for (uint64_t n = fuzz_random(&seed) % 8 + 1; n > 0; n--) {
		uint64_t at = fuzz_random(&seed) % (n % 2 && size > 24 ? 24 : size);

		bytes[at] ^= (uint8_t)(1u << fuzz_random(&seed) % 8);
	}
}
