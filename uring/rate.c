/* SPDX-License-Identifier: MIT */
/*
 * The bucket of a rate limit: see rate.h. Whole microseconds' worth goes in, and the time of
 * filling moves on by what that took only, so that low rates lose nothing to rounding.
 */
#include "uring/rate.h"

#include <time.h>

#define RATE_BURST_BYTES_MIN (16u << 10)
#define RATE_SECOND_USEC 1000000u

/* Longer than it takes to fill any bucket from any debt counts as so long. */
#define RATE_IDLE_USEC (UINT64_C(3600) * RATE_SECOND_USEC)

/* Beyond it nothing is limited, and products fit into 64 bits. */
#define RATE_BYTES_MAX (UINT64_C(1) << 31)

void rate_init(struct rate *rate, uint64_t bytes_per_second, uint64_t now_usec)
{
	uint64_t limit = bytes_per_second < RATE_BYTES_MAX ? bytes_per_second : 0;
	uint64_t burst = limit / 8 > RATE_BURST_BYTES_MIN ? limit / 8 : RATE_BURST_BYTES_MIN;

	*rate = (struct rate){
		.bytes_per_second = limit,
		.burst_bytes = burst,
		.there_bytes = (int64_t)burst,
		.filled_usec = now_usec,
	};
}

/* Fills the bucket. */
static void rate_fill(struct rate *rate, uint64_t now_usec)
{
	uint64_t usec = now_usec > rate->filled_usec ? now_usec - rate->filled_usec : 0, bytes;

	usec = usec < RATE_IDLE_USEC ? usec : RATE_IDLE_USEC;
	bytes = usec * rate->bytes_per_second / RATE_SECOND_USEC;
	if (bytes == 0)
		return;
	rate->there_bytes += (int64_t)bytes;
	if (rate->there_bytes >= (int64_t)rate->burst_bytes) {
		rate->there_bytes = (int64_t)rate->burst_bytes;
		rate->filled_usec = now_usec;
	} else {
		/* Rounded up: never more than the rate. */
		rate->filled_usec += (bytes * RATE_SECOND_USEC + rate->bytes_per_second - 1) /
				     rate->bytes_per_second;
	}
}

/* What has to be there before anybody may read. */
static int64_t rate_threshold(const struct rate *rate)
{
	return rate->empty ? (int64_t)(rate->burst_bytes / 2) : 1;
}

bool rate_allows(struct rate *rate, uint64_t now_usec)
{
	if (!rate->bytes_per_second)
		return true;
	rate_fill(rate, now_usec);
	rate->refused = rate->empty = rate->there_bytes < rate_threshold(rate);
	return !rate->refused;
}

void rate_pay(struct rate *rate, uint64_t bytes)
{
	if (rate->bytes_per_second)
		rate->there_bytes -= (int64_t)bytes;
}

uint64_t rate_wait_usec(struct rate *rate, uint64_t now_usec)
{
	uint64_t lacking;

	if (!rate->refused)
		return UINT64_MAX;
	rate_fill(rate, now_usec);
	if (rate->there_bytes >= rate_threshold(rate))
		return 0;
	lacking = (uint64_t)(rate_threshold(rate) - rate->there_bytes);
	return lacking * RATE_SECOND_USEC / rate->bytes_per_second + 1;
}

uint64_t rate_now_usec(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (uint64_t)now.tv_sec * RATE_SECOND_USEC + (uint64_t)now.tv_nsec / 1000u;
}
