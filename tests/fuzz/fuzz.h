/* SPDX-License-Identifier: MIT */
/*
 * What the fuzz targets share. A target is one function over the bytes of a file; libFuzzer drives
 * it, or replay.c does, which goes through the saved corpus and tells lies about each file in it.
 *
 * Targets check more than that nothing crashes: what a decoder answers must not depend on which
 * parts of the file happen to be in memory. So each look is taken twice, once with the whole file
 * at hand and once with a lazy window, whose blocks come in only when they are asked for (and are
 * poisoned for the address sanitizer until then).
 */
#ifndef TESTS_FUZZ_FUZZ_H
#define TESTS_FUZZ_FUZZ_H

#include <stdio.h>
#include <stdlib.h>

#include "formats/journal/journal.h"

/* The target; the name is libFuzzer's. */
int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size);

/* How an input of this target is changed without libFuzzer's help: in place, by a seed. */
void fuzz_mutate(uint8_t *bytes, size_t size, uint64_t seed);

/* Ends the run with a message: a property does not hold. */
#define FUZZ_CHECK(condition)                                                                      \
	do {                                                                                       \
		if (!(condition)) {                                                                \
			fprintf(stderr, "%s:%d: does not hold: %s\n", __FILE__, __LINE__,          \
				#condition);                                                       \
			abort();                                                                   \
		}                                                                                  \
	} while (0)

/* A window over a copy of a file that arrives block by block. */
struct lazy {
	struct window window;
	const uint8_t *bytes; /* the file */
	uint8_t *memory;      /* what has arrived of it */
};

void lazy_init(struct lazy *l, const uint8_t *bytes, size_t size, unsigned block_shift);
void lazy_done(struct lazy *l);
/* Brings in what the last step wanted. It is a bug to ask for more and to want nothing new. */
void lazy_bring(struct lazy *l);
/* Forgets all blocks, as eviction does. */
void lazy_evict(struct lazy *l);

/* Runs a step until it has what it needs. */
#define LAZY_RUN(lazy, step)                                                                       \
	({                                                                                         \
		int lazy_r;                                                                        \
		for (;;) {                                                                         \
			(lazy)->window.want_count = 0;                                             \
			lazy_r = (step);                                                           \
			if (lazy_r != -EAGAIN)                                                     \
				break;                                                             \
			lazy_bring(lazy);                                                          \
		}                                                                                  \
		lazy_r;                                                                            \
	})

/*
 * The first byte of an input says how it is looked at, the rest is a file. Parses that file's
 * header; where no reader would accept it, makes up a journal, so that objects are looked at all
 * the same.
 */
struct fuzz_input {
	const uint8_t *bytes;
	size_t size;
	unsigned block_shift;
	struct journal journal;
};
bool fuzz_open(const uint8_t *bytes, size_t size, struct fuzz_input *ret);

/* The object after the one at OFFSET in file order, 0 at the end or where the file is damaged.
 * OFFSET 0 begins. */
uint64_t fuzz_next_object(const struct fuzz_input *in, uint64_t offset);

/* Small numbers that follow from a seed: never the same by chance, always by rerun. */
uint64_t fuzz_random(uint64_t *state);

/*
 * Changes a file into one that lies: picks an object, or the header, and one of its fields, and
 * gives it a value that is likely to hurt. In place; the size stays.
 */
void fuzz_lie(uint8_t *bytes, size_t size, uint64_t seed);

#endif
