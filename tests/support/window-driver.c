/* SPDX-License-Identifier: MIT */
/* Windows over a file that comes in block by block; see the header. */
#include <stdlib.h>
#include <sys/mman.h>

#include "tests/support/window-driver.h"

/* Aborts the test: the machine refuses, or the code under test breaks the contract. */
static void window_driver_check(bool ok)
{
	if (!ok)
		abort();
}

/* Lets one block in, or marks it as failed. */
static void window_driver_feed_block(struct window_driver *d, uint64_t block)
{
	uint64_t start = block << WINDOW_DRIVER_BLOCK_SHIFT;
	uint64_t size = d->window.size_bytes - start;

	if (size > WINDOW_DRIVER_BLOCK_SIZE)
		size = WINDOW_DRIVER_BLOCK_SIZE;
	if (block == d->failing_block) {
		d->window.blocks[block] = WINDOW_BLOCK_FAILED;
		return;
	}
	window_driver_check(
		!mprotect(d->region + start, WINDOW_DRIVER_BLOCK_SIZE, PROT_READ | PROT_WRITE));
	memset(d->region + start, 0xa5, WINDOW_DRIVER_BLOCK_SIZE);
	memcpy(d->region + start, d->source + start, size);
	d->window.blocks[block] = WINDOW_BLOCK_RESIDENT;
	d->blocks_fed++;
}

struct window_driver *window_driver_new(const uint8_t *bytes, uint64_t size,
					enum window_driver_mode mode)
{
	struct window_driver *d = calloc(1, sizeof(*d));

	window_driver_check(d && size > 0);
	d->source = malloc(size);
	window_driver_check(d->source);
	memcpy(d->source, bytes, size);
	d->failing_block = UINT64_MAX;
	d->window.size_bytes = size;
	d->window.block_shift = WINDOW_DRIVER_BLOCK_SHIFT;
	if (mode == WINDOW_DRIVER_WHOLE) {
		d->window.base = d->source;
		d->window.whole = true;
		return d;
	}

	d->block_count = (size + WINDOW_DRIVER_BLOCK_SIZE - 1) >> WINDOW_DRIVER_BLOCK_SHIFT;
	d->region_size = d->block_count << WINDOW_DRIVER_BLOCK_SHIFT;
	d->region = mmap(NULL, d->region_size, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	window_driver_check(d->region != MAP_FAILED);
	d->window.base = d->region;
	d->window.blocks = calloc(d->block_count, 1);
	window_driver_check(d->window.blocks);
	if (mode == WINDOW_DRIVER_RUN) {
		for (uint64_t i = 0; i < d->block_count / 2; i++)
			window_driver_feed_block(d, i);
		d->window.run_end = d->block_count / 2 << WINDOW_DRIVER_BLOCK_SHIFT;
	}
	return d;
}

struct window_driver *window_driver_free(struct window_driver *d)
{
	if (!d)
		return NULL;
	if (d->region)
		munmap(d->region, d->region_size);
	free(d->window.blocks);
	free(d->source);
	free(d);
	return NULL;
}

bool window_driver_feed(struct window_driver *d)
{
	unsigned fed = 0;

	for (unsigned i = 0; i < d->window.want_count; i++) {
		const struct window_range *want = &d->window.wants[i];
		uint64_t last;

		window_driver_check(want->size_bytes > 0 && want->offset < d->window.size_bytes &&
				    want->size_bytes <= d->window.size_bytes - want->offset);
		last = (want->offset + want->size_bytes - 1) >> WINDOW_DRIVER_BLOCK_SHIFT;
		for (uint64_t b = want->offset >> WINDOW_DRIVER_BLOCK_SHIFT; b <= last; b++)
			if (!(d->window.blocks[b] &
			      (WINDOW_BLOCK_RESIDENT | WINDOW_BLOCK_FAILED))) {
				window_driver_feed_block(d, b);
				fed++;
			}
	}
	window_driver_check(fed > 0);
	d->rounds++;
	return true;
}

void window_driver_forget(struct window_driver *d)
{
	window_driver_check(d->region);
	memset(d->window.blocks, 0, d->block_count);
	d->window.run_begin = d->window.run_end = 0;
	window_driver_check(!mprotect(d->region, d->region_size, PROT_NONE));
}
