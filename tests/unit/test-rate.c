/* SPDX-License-Identifier: MIT */
#include <criterion/criterion.h>
#include <criterion/new/assert.h>

#include "uring/rate.h"

#define BEGIN UINT64_C(1000000000)
#define SECOND UINT64_C(1000000)

/* Reads pieces for some seconds, as fast as the limit lets one who sleeps as he is told. */
static uint64_t bytes_in(uint64_t limit, uint64_t piece, uint64_t seconds, uint64_t *ret_sleeps)
{
	uint64_t now = BEGIN, end = BEGIN + seconds * SECOND, bytes = 0;
	struct rate rate;

	rate_init(&rate, limit, now);
	*ret_sleeps = 0;
	while (now < end) {
		if (rate_allows(&rate, now)) {
			rate_pay(&rate, piece);
			bytes += piece;
		} else {
			uint64_t wait = rate_wait_usec(&rate, now);

			cr_assert(gt(u64, wait, 0));
			cr_assert(lt(u64, wait, 3600 * SECOND));
			now += wait;
			++*ret_sleeps;
		}
	}
	return bytes;
}

Test(rate, reads_keep_to_the_limit_and_no_sleep_is_in_vain)
{
	static const uint64_t limits[] = { 4096, 65537, 1000000, 50 << 20 };
	static const uint64_t pieces[] = { 1000, 4096, 262144, 1 << 20 };

	for (unsigned i = 0; i < 4; i++) {
		for (unsigned p = 0; p < 4; p++) {
			uint64_t sleeps, burst = limits[i] / 8 > 16384 ? limits[i] / 8 : 16384;
			uint64_t bytes = bytes_in(limits[i], pieces[p], 300, &sleeps);

			cr_expect(le(u64, bytes, limits[i] * 300 + burst + pieces[p]));
			cr_expect(ge(u64, bytes + pieces[p], limits[i] * 300 / 100 * 99));
			cr_expect(le(u64, sleeps, bytes / pieces[p]));
		}
	}
}

Test(rate, an_empty_bucket_is_left_alone_until_it_is_half_full)
{
	struct rate rate;

	rate_init(&rate, 1 << 20, BEGIN);
	rate_pay(&rate, rate.burst_bytes - 1);
	cr_expect(rate_allows(&rate, BEGIN), "a little is enough before it has been empty");
	cr_expect(eq(u64, rate_wait_usec(&rate, BEGIN), UINT64_MAX));
	rate_pay(&rate, 1);
	cr_expect(not(rate_allows(&rate, BEGIN)));
	cr_expect(eq(u64, rate_wait_usec(&rate, BEGIN), SECOND / 16 + 1));
	cr_expect(not(rate_allows(&rate, BEGIN + SECOND / 20)));
	cr_expect(eq(u64, rate_wait_usec(&rate, BEGIN + SECOND), 0));
	cr_expect(rate_allows(&rate, BEGIN + SECOND));
	cr_expect(eq(u64, rate_wait_usec(&rate, BEGIN + SECOND), UINT64_MAX));
}

Test(rate, without_a_limit_nobody_waits)
{
	struct rate rate;

	rate_init(&rate, 0, BEGIN);
	rate_pay(&rate, UINT64_C(1) << 40);
	cr_expect(rate_allows(&rate, BEGIN));
	cr_expect(eq(u64, rate_wait_usec(&rate, BEGIN), UINT64_MAX));
}

Test(rate, a_clock_that_stands_or_leaps_does_no_harm)
{
	struct rate rate;

	rate_init(&rate, 1 << 30, BEGIN);
	cr_expect(rate_allows(&rate, BEGIN - SECOND));
	rate_pay(&rate, rate.burst_bytes);
	cr_expect(not(rate_allows(&rate, BEGIN - SECOND)));
	cr_expect(rate_allows(&rate, UINT64_MAX));
	cr_expect(eq(i64, rate.there_bytes, (int64_t)rate.burst_bytes));
}
