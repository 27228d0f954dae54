/* SPDX-License-Identifier: MIT */
/*
 * Verification: whatever a file claims, it ends, in work that its length bounds, and what it says
 * does not depend on which parts of the file are in memory, nor on when they leave it.
 */
#include "formats/journal/verify.h"
#include "tests/fuzz/fuzz.h"

#define LIMIT_BYTES (UINT64_C(1) << 20)
/* Bits of an input's first byte, beside those of fuzz_open(). */
#define HOW_SNAPSHOT 0x08u
#define HOW_KEY 0x10u

static struct payload_decoder *decoder;
static struct seal *seal;

/* Makes what all runs share. */
static void set_up(void)
{
	struct seal_key key;

	if (decoder)
		return;
	if (payload_decoder_new(LIMIT_BYTES, &decoder) < 0 ||
	    seal_key_parse("000102-030405-060708-090a0b/1cd278-35a4e900", &key) < 0)
		abort();
	/* A build without libgcrypt goes on without. */
	(void)seal_new(&key, &seal);
}

/* Verifies in WINDOW, or lazily if there is L. */
static void check(const struct fuzz_input *in, struct window *w, struct lazy *l, uint8_t how,
		  struct verify_result *ret)
{
	/* Each piece commits something that the file pays for; items are the smallest. */
	uint64_t pieces = 64 + in->size;
	unsigned progress = 0;
	struct verify *v;
	int r;

	if (verify_new(&in->journal, decoder, how & HOW_KEY ? seal : NULL, how & HOW_SNAPSHOT, &v) <
	    0)
		abort();
	do {
		if (l) {
			lazy_evict(l);
			r = LAZY_RUN(l, verify_run(v, &l->window));
		} else {
			r = verify_run(v, w);
		}
		FUZZ_CHECK(r != -EAGAIN && r <= 1);
		FUZZ_CHECK(pieces-- > 0);
		FUZZ_CHECK(r != 1 || verify_progress(v) <= 1000);
		progress = r == 1 ? verify_progress(v) : progress;
	} while (r == 1);
	FUZZ_CHECK(progress <= 1000);
	*ret = *verify_result(v);
	FUZZ_CHECK(ret->error == r && ret->detail_count <= VERIFY_DETAILS_MAX);
	verify_free(v);
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size)
{
	struct verify_result a, b;
	struct fuzz_input in;
	struct window whole;
	struct lazy lazy;

	set_up();
	if (!fuzz_open(bytes, size, &in))
		return 0;
	whole = (struct window){ .base = in.bytes, .size_bytes = in.size, .whole = true };
	check(&in, &whole, NULL, bytes[0], &a);
	lazy_init(&lazy, in.bytes, in.size, in.block_shift);
	check(&in, NULL, &lazy, bytes[0], &b);
	lazy_done(&lazy);
	FUZZ_CHECK(a.error == b.error && a.error_offset == b.error_offset);
	FUZZ_CHECK(a.entries == b.entries && a.unchecked == b.unchecked);
	FUZZ_CHECK(a.detail_count == b.detail_count);
	for (unsigned i = 0; i < a.detail_count; i++)
		FUZZ_CHECK(a.details[i].offset == b.details[i].offset &&
			   strcmp(a.details[i].text, b.details[i].text) == 0);
	return 0;
}

void fuzz_mutate(uint8_t *bytes, size_t size, uint64_t seed)
{
	if (size > 1)
		fuzz_lie(bytes + 1, size - 1, seed);
}
