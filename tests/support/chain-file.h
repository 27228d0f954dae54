/* SPDX-License-Identifier: MIT */
/*
 * Files of nothing but a header's room and a chain of entry arrays, of any shape: for tests that
 * look at chains and at no entry. Offsets ascend; nothing lies where they point.
 */
#ifndef TESTS_SUPPORT_CHAIN_FILE_H
#define TESTS_SUPPORT_CHAIN_FILE_H

#include "formats/journal/journal.h"
#include "tests/support/window-driver.h"

#define CHAIN_FILE_HEADER 272u

/* A file of nothing but a header's room and arrays. */
struct chain_file {
	uint8_t *bytes;
	uint64_t size;
	struct journal j;
	uint64_t *elements;
	uint64_t count;
	uint64_t *arrays; /* offsets */
	uint64_t array_count;
};

/* Writes the SIZE low bytes of VALUE. */
void chain_file_put(struct chain_file *f, uint64_t offset, uint64_t value, unsigned size);

/* Element I: what it is does not matter as long as they ascend. */
static inline uint64_t chain_element(uint64_t i)
{
	return 4096 + 24 * i;
}

/* A chain of ARRAY_COUNT arrays of the given capacities (repeated as needed), all items used. */
struct chain_file chain_file_new(bool compact, uint64_t array_count, const uint64_t *capacities,
				 unsigned capacity_count);
void chain_file_done(struct chain_file *f);

/* Brings a file's bytes. */
struct window_driver *chain_file_drive(const struct chain_file *f, enum window_driver_mode mode);

/* What a chain may look like, and how its bytes come. */
struct chain_shape {
	bool compact;
	enum window_driver_mode mode;
	unsigned array_count;
	unsigned capacity_count;
	uint64_t capacities[9];
};

#define CHAIN_SHAPE_COUNT 8u
extern struct chain_shape chain_shapes[CHAIN_SHAPE_COUNT];

/* A file of a shape. */
struct chain_file chain_file_of(const struct chain_shape *shape);

/* Begins a test that runs for each shape S. */
#define CHAIN_SHAPE_PARAMETERS(suite, test)                                                        \
	ParameterizedTestParameters(suite, test)                                                   \
	{                                                                                          \
		return cr_make_param_array(struct chain_shape, chain_shapes, CHAIN_SHAPE_COUNT);   \
	}                                                                                          \
	ParameterizedTest(struct chain_shape *s, suite, test)

/* A small generator of numbers that repeat from run to run. */
static inline uint32_t chain_dice(uint32_t *state)
{
	*state = *state * 1664525 + 1013904223;
	return *state >> 8;
}

#endif
