/* SPDX-License-Identifier: MIT */
/* Random numbers that depend on their seed alone, wherever they are drawn. */
#ifndef BENCH_RANDOM_H
#define BENCH_RANDOM_H

#include <stdint.h>

struct random {
	uint64_t state;
};

/* The next number: splitmix64. */
static inline uint64_t random_next(struct random *r)
{
	uint64_t z = (r->state += UINT64_C(0x9e3779b97f4a7c15));

	z = (z ^ (z >> 30)) * UINT64_C(0xbf58476d1ce4e5b9);
	z = (z ^ (z >> 27)) * UINT64_C(0x94d049bb133111eb);
	return z ^ (z >> 31);
}

/* A number below BELOW, which is less than 2^32. */
static inline uint32_t random_below(struct random *r, uint32_t below)
{
	return (uint32_t)(((random_next(r) >> 32) * below) >> 32);
}

/* A number below BELOW, small ones far more often: the cube of an even distribution. */
static inline uint32_t random_skewed(struct random *r, uint32_t below)
{
	uint64_t u = random_next(r) >> 40; /* 24 bits */

	u = ((u * u) >> 24) * u >> 24;
	return (uint32_t)((u * below) >> 24);
}

#endif
