/* SPDX-License-Identifier: MIT */
/*
 * Verification keys and tags. Everything here follows from the seed: random bytes are SHA-256 over
 * seed, purpose and counter; the primes are the first ones at or above such bytes; the state of
 * epoch 0 is a square of such bytes. Numbers are big endian, and as wide as the modulus (or half of
 * it), with zeros in front.
 *
 * libgcrypt keeps state of its own in the process. It is set up here on first use, unless the
 * program has done so; the memory that it calls secure is not used: a verification key is no secret
 * of the machine that it is used on.
 */
#include "formats/journal/seal.h"

#include <ctype.h>
#include <stdlib.h>

#include "config.h"

/* Takes two hex digits. */
static int seal_parse_byte(const char *text, uint8_t *ret)
{
	unsigned value = 0;

	for (int i = 0; i < 2; i++) {
		char c = text[i];

		if (!isxdigit((unsigned char)c))
			return -EKEYREJECTED;
		value = value * 16 + (unsigned)(c <= '9' ? c - '0' : (c | 0x20) - 'a' + 10);
	}
	*ret = (uint8_t)value;
	return 0;
}

/* Takes a hexadecimal number, as strtoull() reads it but without a sign. */
static int seal_parse_number(const char **text, uint64_t *ret)
{
	const char *start = *text;
	unsigned long long value;
	char *end;

	while (isspace((unsigned char)*start))
		start++;
	if (!isxdigit((unsigned char)*start))
		return -EKEYREJECTED;
	errno = 0;
	value = strtoull(start, &end, 16);
	if (errno)
		return -EKEYREJECTED;
	*ret = value;
	*text = end;
	return 0;
}

int seal_key_parse(const char *text, struct seal_key *ret)
{
	struct seal_key key;
	uint64_t start;
	int r;

	for (unsigned i = 0; i < SEAL_SEED_SIZE; i++) {
		while (*text == '-')
			text++;
		r = seal_parse_byte(text, &key.seed[i]);
		if (r < 0)
			return r;
		text += 2;
	}
	if (*text++ != '/')
		return -EKEYREJECTED;
	r = seal_parse_number(&text, &start);
	if (r < 0)
		return r;
	if (*text++ != '-')
		return -EKEYREJECTED;
	r = seal_parse_number(&text, &key.interval_usec);
	if (r < 0)
		return r;
	if (key.interval_usec == 0 ||
	    __builtin_mul_overflow(start, key.interval_usec, &key.start_usec))
		return -EKEYREJECTED;
	*ret = key;
	return 0;
}

uint64_t seal_key_epoch_start(const struct seal_key *key, uint64_t epoch)
{
	uint64_t t;

	if (__builtin_mul_overflow(epoch, key->interval_usec, &t) ||
	    __builtin_add_overflow(t, key->start_usec, &t))
		return UINT64_MAX;
	return t;
}

#if HAVE_GCRYPT

#include <assert.h>
#include <gcrypt.h>

/* Width of the modulus, and of its primes. */
#define SEAL_MODULUS_SIZE (1536u / 8)
#define SEAL_PRIME_SIZE (SEAL_MODULUS_SIZE / 2)
/* An epoch's key is made of modulus, state and epoch. */
#define SEAL_STATE_SIZE (2 * SEAL_MODULUS_SIZE + 8)
/* An epoch ahead of the last by at most this is reached by squaring. */
#define SEAL_STEPS_MAX 64u

/* What random bytes are for. */
enum seal_purpose {
	SEAL_FOR_KEY = 0,
	SEAL_FOR_P = 1,
	SEAL_FOR_Q = 2,
	SEAL_FOR_STATE = 3,
};

struct seal {
	struct seal_key key;
	gcry_mpi_t p, q, n; /* the primes and their product */
	gcry_mpi_t first;   /* the state of epoch 0 */
	gcry_mpi_t state;   /* that of the epoch below */
	uint64_t epoch;
	gcry_md_hd_t hmac;
};

static void seal_store_be(uint8_t *p, uint64_t value, unsigned size)
{
	while (size > 0) {
		p[--size] = (uint8_t)value;
		value >>= 8;
	}
}

/* SIZE bytes that follow from the seed and the purpose: the digest of both, and of a counter. */
static int seal_random(const void *seed, size_t seed_size, enum seal_purpose purpose, uint8_t *ret,
		       size_t size)
{
	uint8_t number[4];
	gcry_md_hd_t base;
	int r = 0;

	if (gcry_md_open(&base, GCRY_MD_SHA256, 0))
		return -ENOMEM;
	seal_store_be(number, purpose, sizeof(number));
	gcry_md_write(base, seed, seed_size);
	gcry_md_write(base, number, sizeof(number));
	for (uint32_t i = 0; size > 0; i++) {
		size_t part = size < SEAL_TAG_SIZE ? size : SEAL_TAG_SIZE;
		gcry_md_hd_t block;

		if (gcry_md_copy(&block, base)) {
			r = -ENOMEM;
			break;
		}
		seal_store_be(number, i, sizeof(number));
		gcry_md_write(block, number, sizeof(number));
		memcpy(ret, gcry_md_read(block, GCRY_MD_SHA256), part);
		gcry_md_close(block);
		ret += part;
		size -= part;
	}
	gcry_md_close(base);
	return r;
}

/* A number from big-endian bytes. */
static int seal_number(const uint8_t *bytes, size_t size, gcry_mpi_t *ret)
{
	return gcry_mpi_scan(ret, GCRYMPI_FMT_USG, bytes, size, NULL) ? -ENOMEM : 0;
}

/* The smallest prime of the form 4 k + 3 that is not less than the bytes that follow from the
 * seed; its two upper bits are set, so that the product has its full width. */
static int seal_prime(const struct seal_key *key, enum seal_purpose purpose, gcry_mpi_t *ret)
{
	uint8_t bytes[SEAL_PRIME_SIZE];
	int r = seal_random(key->seed, sizeof(key->seed), purpose, bytes, sizeof(bytes));

	if (r < 0)
		return r;
	bytes[0] |= 0xc0;
	bytes[sizeof(bytes) - 1] |= 0x03;
	r = seal_number(bytes, sizeof(bytes), ret);
	while (r == 0 && gcry_prime_check(*ret, 0))
		gcry_mpi_add_ui(*ret, *ret, 4);
	return r;
}

/* The state of epoch 0: a square, of a number below the modulus. */
static int seal_first_state(struct seal *seal)
{
	uint8_t bytes[SEAL_MODULUS_SIZE];
	int r = seal_random(seal->key.seed, sizeof(seal->key.seed), SEAL_FOR_STATE, bytes,
			    sizeof(bytes));

	if (r < 0)
		return r;
	bytes[0] &= 0x7f;
	r = seal_number(bytes, sizeof(bytes), &seal->first);
	if (r == 0)
		gcry_mpi_mulm(seal->first, seal->first, seal->first, seal->n);
	return r;
}

/* Says that libgcrypt may be used as it is, unless somebody has set it up. */
static int seal_set_up_library(void)
{
	if (gcry_control(GCRYCTL_INITIALIZATION_FINISHED_P))
		return 0;
	if (!gcry_check_version("1.6.0"))
		return -EOPNOTSUPP;
	gcry_control(GCRYCTL_DISABLE_SECMEM);
	gcry_control(GCRYCTL_INITIALIZATION_FINISHED);
	return 0;
}

int seal_new(const struct seal_key *key, struct seal **ret)
{
	int r = seal_set_up_library();
	struct seal *seal;

	if (r < 0)
		return r;
	seal = calloc(1, sizeof(*seal));
	if (!seal)
		return -ENOMEM;
	seal->key = *key;
	r = seal_prime(key, SEAL_FOR_P, &seal->p);
	if (r == 0)
		r = seal_prime(key, SEAL_FOR_Q, &seal->q);
	if (r == 0) {
		seal->n = gcry_mpi_new(0);
		gcry_mpi_mul(seal->n, seal->p, seal->q);
		r = seal_first_state(seal);
	}
	if (r == 0)
		seal->state = gcry_mpi_copy(seal->first);
	if (r == 0 && gcry_md_open(&seal->hmac, GCRY_MD_SHA256, GCRY_MD_FLAG_HMAC))
		r = -ENOMEM;
	if (r < 0) {
		seal_free(seal);
		return r;
	}
	*ret = seal;
	return 0;
}

struct seal *seal_free(struct seal *seal)
{
	if (!seal)
		return NULL;
	gcry_mpi_release(seal->p);
	gcry_mpi_release(seal->q);
	gcry_mpi_release(seal->n);
	gcry_mpi_release(seal->first);
	gcry_mpi_release(seal->state);
	gcry_md_close(seal->hmac);
	free(seal);
	return NULL;
}

const struct seal_key *seal_key(const struct seal *seal)
{
	return &seal->key;
}

/* first ^ (2 ^ epoch) modulo one prime: the exponent counts modulo prime - 1. */
static gcry_mpi_t seal_power(const struct seal *seal, gcry_mpi_t prime, gcry_mpi_t epoch)
{
	gcry_mpi_t result = gcry_mpi_new(0), exponent = gcry_mpi_new(0);
	gcry_mpi_t order = gcry_mpi_new(0), base = gcry_mpi_set_ui(NULL, 2);

	gcry_mpi_sub_ui(order, prime, 1);
	gcry_mpi_powm(exponent, base, epoch, order);
	gcry_mpi_mod(base, seal->first, prime);
	gcry_mpi_powm(result, base, exponent, prime);
	gcry_mpi_release(exponent);
	gcry_mpi_release(order);
	gcry_mpi_release(base);
	return result;
}

/* Sets the state to that of any epoch: a power modulo each prime, and both put together again. */
static int seal_seek(struct seal *seal, uint64_t epoch)
{
	gcry_mpi_t number, by_p, by_q, inverse;
	uint8_t bytes[8];
	int r;

	seal_store_be(bytes, epoch, sizeof(bytes));
	r = seal_number(bytes, sizeof(bytes), &number);
	if (r < 0)
		return r;
	by_p = seal_power(seal, seal->p, number);
	by_q = seal_power(seal, seal->q, number);
	inverse = gcry_mpi_new(0);
	/* state = by_p + p * ((by_q - by_p) / p modulo q) */
	gcry_mpi_invm(inverse, seal->p, seal->q);
	gcry_mpi_subm(by_q, by_q, by_p, seal->q);
	gcry_mpi_mulm(by_q, by_q, inverse, seal->q);
	gcry_mpi_mul(by_q, by_q, seal->p);
	gcry_mpi_add(seal->state, by_q, by_p);
	seal->epoch = epoch;
	gcry_mpi_release(number);
	gcry_mpi_release(by_p);
	gcry_mpi_release(by_q);
	gcry_mpi_release(inverse);
	return 0;
}

/* A number as big-endian bytes, with zeros in front. */
static void seal_export(gcry_mpi_t number, uint8_t *ret, size_t size)
{
	size_t used = 0;
	gcry_error_t error = gcry_mpi_print(GCRYMPI_FMT_USG, ret, size, &used, number);

	assert(!error && used <= size);
	(void)error;
	memmove(ret + size - used, ret, used);
	memset(ret, 0, size - used);
}

int seal_begin(struct seal *seal, uint64_t epoch)
{
	uint8_t state[SEAL_STATE_SIZE], key[SEAL_TAG_SIZE];
	int r;

	if (epoch < seal->epoch || epoch - seal->epoch > SEAL_STEPS_MAX) {
		r = seal_seek(seal, epoch);
		if (r < 0)
			return r;
	}
	for (; seal->epoch < epoch; seal->epoch++)
		gcry_mpi_mulm(seal->state, seal->state, seal->state, seal->n);
	seal_export(seal->n, state, SEAL_MODULUS_SIZE);
	seal_export(seal->state, state + SEAL_MODULUS_SIZE, SEAL_MODULUS_SIZE);
	seal_store_be(state + 2 * SEAL_MODULUS_SIZE, epoch, 8);
	r = seal_random(state, sizeof(state), SEAL_FOR_KEY, key, sizeof(key));
	if (r < 0)
		return r;
	gcry_md_reset(seal->hmac);
	return gcry_md_setkey(seal->hmac, key, sizeof(key)) ? -ENOMEM : 0;
}

void seal_put(struct seal *seal, const void *bytes, size_t size)
{
	gcry_md_write(seal->hmac, bytes, size);
}

void seal_end(struct seal *seal, uint8_t ret_tag[SEAL_TAG_SIZE])
{
	memcpy(ret_tag, gcry_md_read(seal->hmac, GCRY_MD_SHA256), SEAL_TAG_SIZE);
}

#else /* the same symbols, for a build without libgcrypt */

int seal_new(const struct seal_key *key, struct seal **ret)
{
	(void)key;
	(void)ret;
	return -EOPNOTSUPP;
}

struct seal *seal_free(struct seal *seal)
{
	(void)seal;
	return NULL;
}

const struct seal_key *seal_key(const struct seal *seal)
{
	(void)seal;
	return NULL;
}

int seal_begin(struct seal *seal, uint64_t epoch)
{
	(void)seal;
	(void)epoch;
	return -EOPNOTSUPP;
}

void seal_put(struct seal *seal, const void *bytes, size_t size)
{
	(void)seal;
	(void)bytes;
	(void)size;
}

void seal_end(struct seal *seal, uint8_t ret_tag[SEAL_TAG_SIZE])
{
	(void)seal;
	memset(ret_tag, 0, SEAL_TAG_SIZE);
}

#endif
