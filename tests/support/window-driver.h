/* SPDX-License-Identifier: MIT */
/*
 * A stand-in for who brings the bytes: a file of which nothing is in memory until it is wanted,
 * block by block. Blocks that were not wanted cannot be touched: they have no access rights.
 *
 *	struct window_driver *d = window_driver_new(bytes, size, WINDOW_DRIVER_BLOCKS);
 *	WINDOW_DRIVE(d, r, object_entry(&j, &d->window, offset, &entry));
 *	window_driver_free(d);
 */
#ifndef TESTS_SUPPORT_WINDOW_DRIVER_H
#define TESTS_SUPPORT_WINDOW_DRIVER_H

#include "formats/format.h"

#define WINDOW_DRIVER_BLOCK_SHIFT 12u
#define WINDOW_DRIVER_BLOCK_SIZE (UINT64_C(1) << WINDOW_DRIVER_BLOCK_SHIFT)

enum window_driver_mode {
	WINDOW_DRIVER_WHOLE,  /* everything is there */
	WINDOW_DRIVER_BLOCKS, /* nothing is there until wanted */
	WINDOW_DRIVER_RUN, /* the first half is a run that is there, the rest comes when wanted */
};

struct window_driver {
	struct window window;
	uint8_t *source; /* a copy of the file, of its exact size */
	uint8_t *region; /* of whole blocks; NULL if the window is whole */
	uint64_t region_size;
	uint64_t block_count;
	uint64_t failing_block; /* cannot be read; UINT64_MAX: none */
	unsigned rounds;        /* times that wants were met */
	unsigned blocks_fed;
};

struct window_driver *window_driver_new(const uint8_t *bytes, uint64_t size,
					enum window_driver_mode mode);
struct window_driver *window_driver_free(struct window_driver *d);

/* Meets the wants. Returns true, so that it can stand in a loop's condition; a step that lacks
 * bytes but wants none that are missing aborts the test. */
bool window_driver_feed(struct window_driver *d);

/* Takes all blocks away again. */
void window_driver_forget(struct window_driver *d);

/* Runs a step until it has all that it wants. */
#define WINDOW_DRIVE(driver, r, step)                                                              \
	do                                                                                         \
		(driver)->window.want_count = 0;                                                   \
	while (((r) = (step)) == -EAGAIN && window_driver_feed(driver))

#endif
