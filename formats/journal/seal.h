/* SPDX-License-Identifier: MIT */
/*
 * The seals of a journal: HMAC-SHA-256 tags whose keys come from a forward-secure generator, one
 * key for each epoch of time. Who has the seed can compute the key of any epoch; the writer keeps
 * only the state of the current one, from which earlier keys cannot be had.
 *
 * The generator is the seekable one of Marson and Poettering (Practical Secure Logging: Seekable
 * Sequential Key Generators, 2013): the state is a square modulo n = p q, the next one its square;
 * with p and q at hand the state of any epoch is two exponentiations away.
 *
 * The arithmetic is libgcrypt's. A build without it answers -EOPNOTSUPP wherever a seal is made.
 */
#ifndef FORMATS_JOURNAL_SEAL_H
#define FORMATS_JOURNAL_SEAL_H

#include "formats/format.h"

#define SEAL_SEED_SIZE 12u
#define SEAL_TAG_SIZE 32u

/* A verification key: the seed, and how realtime is cut into epochs. */
struct seal_key {
	uint8_t seed[SEAL_SEED_SIZE];
	uint64_t start_usec;
	uint64_t interval_usec; /* not 0 */
};

/*
 * Parses "SEED/START-INTERVAL": 12 bytes in hex, with dashes between bytes as one likes; the start
 * of epoch 0 in intervals, and the interval in microseconds, both in hex. What follows is not
 * looked at, as in the reference. -EKEYREJECTED for anything else.
 */
int seal_key_parse(const char *text, struct seal_key *ret);

/* The time at which an epoch begins, or UINT64_MAX if that is beyond all time. */
uint64_t seal_key_epoch_start(const struct seal_key *key, uint64_t epoch);

struct seal;

/* Makes a seal; finding the primes takes some ten milliseconds. -ENOMEM, -EOPNOTSUPP. */
int seal_new(const struct seal_key *key, struct seal **ret);
/* Accepts NULL. Returns NULL. */
struct seal *seal_free(struct seal *seal);

/* The key that SEAL was made with. */
const struct seal_key *seal_key(const struct seal *seal);

/* Begins a tag with the key of EPOCH. -ENOMEM. */
int seal_begin(struct seal *seal, uint64_t epoch);
/* Adds bytes to the tag that was begun. */
void seal_put(struct seal *seal, const void *bytes, size_t size);
/* The tag of all bytes since seal_begin(), which must follow before more are added. */
void seal_end(struct seal *seal, uint8_t ret_tag[SEAL_TAG_SIZE]);

#endif
