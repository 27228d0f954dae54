/* SPDX-License-Identifier: MIT */
/*
 * A limit on the bytes that are read in a second: a bucket that fills with time and that reads are
 * paid from when they are submitted. A read may be larger than what is there; the next one then
 * waits for longer. An empty bucket is left alone until it is half full: otherwise the little that
 * is there at any time would go to small reads that cannot wait, and none would be left for large
 * ones that make them unnecessary. Times are of rate_now_usec().
 */
#ifndef URING_RATE_H
#define URING_RATE_H

#include <stdbool.h>
#include <stdint.h>

struct rate {
	uint64_t bytes_per_second; /* 0: no limit */
	uint64_t burst_bytes;      /* what fits in: an eighth of a second's */
	int64_t there_bytes;
	uint64_t filled_usec;      /* when it was last filled */
	bool empty;                /* ... and not half full again */
	bool refused;              /* somebody waits */
};

/* A full bucket. */
void rate_init(struct rate *rate, uint64_t bytes_per_second, uint64_t now_usec);

/* Whether a read may be submitted. If not, whoever asks is waited for: see rate_wait_usec(). */
bool rate_allows(struct rate *rate, uint64_t now_usec);

/* A read is being submitted. */
void rate_pay(struct rate *rate, uint64_t bytes);

/* How long it takes until somebody who was refused may ask again; UINT64_MAX: nobody was. */
uint64_t rate_wait_usec(struct rate *rate, uint64_t now_usec);

uint64_t rate_now_usec(void);

#endif
