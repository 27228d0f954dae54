/* SPDX-License-Identifier: MIT */
/* Verifies to the end, and makes the small file; see the header. */
#include <criterion/criterion.h>
#include <criterion/new/assert.h>
#include <stdio.h>

#include "tests/support/verify-file.h"

int verify_file(struct fixture *fx, enum window_driver_mode mode, struct seal *seal, bool snapshot,
		struct verify_result *ret)
{
	struct window_driver *d = window_driver_new(fixture_bytes(fx), fixture_size(fx), mode);
	struct payload_decoder *decoder;
	char text[HEADER_DETAIL_SIZE];
	unsigned permille = 0;
	struct verify *v;
	struct journal j;
	int r;

	cr_assert(eq(int, payload_decoder_new(1 << 20, &decoder), 0));
	r = header_parse(fixture_bytes(fx), HEADER_SIZE_MAX, fixture_size(fx), &j, text);
	cr_assert(eq(int, r, 0), "%s", text);
	cr_assert(eq(int, verify_new(&j, decoder, seal, snapshot, &v), 0));
	do {
		WINDOW_DRIVE(d, r, verify_run(v, &d->window));
		cr_expect(le(uint, verify_progress(v), 1000));
		if (r == 1)
			permille = verify_progress(v);
	} while (r == 1);
	cr_expect(le(uint, permille, 1000));
	*ret = *verify_result(v);
	cr_expect(eq(int, ret->error, r));
	verify_free(v);
	payload_decoder_free(decoder);
	window_driver_free(d);
	return r;
}

struct fixture *verify_small_new(struct fixture_options o)
{
	struct fixture *fx;
	char message[200], filler[200];

	o.data_buckets = VERIFY_SMALL_BUCKETS;
	o.field_buckets = 2;
	o.compress_from_bytes = 100;
	fx = fixture_new(&o);
	for (unsigned i = 0; i < VERIFY_SMALL_ENTRIES; i++) {
		struct fixture_stamp stamp = { .boot_id = fixture_id(i < 6 ? 20 : 21) };

		snprintf(message, sizeof(message), "MESSAGE=%u", i);
		memset(filler, 'a', sizeof(filler));
		memcpy(filler, "LONG=", 5);
		filler[sizeof(filler) - 1] = '\0';
		fixture_add(fx, &stamp, message, VERIFY_SMALL_SHARED, filler, NULL);
	}
	fixture_finish(fx);
	return fx;
}

uint64_t verify_small_change_payload(struct fixture *fx)
{
	uint64_t at = fixture_find_text(fx, VERIFY_SMALL_SINGLE);

	fixture_put8(fx, at + DATA_PAYLOAD_REGULAR + 8, '4');
	return at;
}
