/* SPDX-License-Identifier: MIT */
/* What tests of images share: a pool over any method, files and their images, and the check of
 * every sum that the pool keeps. Included once by each test program. */
#ifndef TESTS_SUPPORT_IMAGE_FILES_H
#define TESTS_SUPPORT_IMAGE_FILES_H

#include <criterion/criterion.h>
#include <criterion/new/assert.h>
#include <criterion/parameterized.h>

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "tests/support/io-methods.h"
#include "uring/image-private.h"

#define KIB 1024ull
#define MIB (1024ull * 1024)

static struct io io;
static struct io_fault fault;
static struct image_pool pool;
static char *folder;

/* Sets up io and pool; skips the test where the ring is refused. */
static inline void setup(enum io_method_case_id id, uint64_t budget_bytes)
{
	int r = io_method_case_init(id, &io, &fault, 32);

	if (r < 0 && id == IO_CASE_URING)
		cr_skip_test("no ring: %s", strerror(-r));
	cr_assert(eq(int, r, 0));
	cr_assert(eq(int, image_pool_init(&pool, &io, budget_bytes), 0));
	folder = test_folder_make();
}

/* Ends both; nothing may be left. */
static inline void teardown(void)
{
	image_pool_done(&pool);
	cr_expect(eq(u64, pool.committed_bytes, 0));
	cr_expect(eq(u64, pool.in_flight_bytes, 0));
	io_done(&io);
	folder = test_folder_remove(folder);
}

/* A file and its image. */
struct file {
	struct image image;
	uint8_t *bytes; /* what is in it */
	uint64_t size_bytes;
	int fd;
	char *path;
};

/* Makes a file and opens it. */
static inline void file_open(struct file *f, const char *name, uint64_t size_bytes, unsigned shift)
{
	struct io_file file;
	struct stat st;

	f->path = test_path(folder, name);
	f->size_bytes = size_bytes;
	f->bytes = test_file_random(f->path, size_bytes, size_bytes + (uint8_t)name[0]);
	f->fd = open(f->path, O_RDWR | O_CLOEXEC);
	cr_assert(ge(int, f->fd, 0));
	cr_assert(eq(int, fstat(f->fd, &st), 0));
	file = (struct io_file){ f->fd, io_probe_nowait(&io, f->fd, st.st_dev) };
	cr_assert(eq(int, image_open(&pool, &f->image, &file, size_bytes, shift, f), 0));
}

/* Opens the image of a buffer of the fault method. */
static inline void buffer_open(struct file *f, uint64_t size_bytes, unsigned shift)
{
	uint64_t seed = size_bytes;
	struct io_file file = { .nowait = true };

	f->path = NULL;
	f->size_bytes = size_bytes;
	f->bytes = malloc(size_bytes + 1);
	for (uint64_t i = 0; i < size_bytes; i++)
		f->bytes[i] = (uint8_t)(io_fault_random(&seed) | 1);
	file.fd = f->fd = io_fault_add_file(&fault, NULL, f->bytes, size_bytes);
	cr_assert(eq(int, image_open(&pool, &f->image, &file, size_bytes, shift, f), 0));
}

/* One turn, as an engine takes it. */
static inline void turn(bool wait)
{
	struct io_op *op;

	image_pool_start(&pool);
	cr_assert(eq(int, io_turn(&io, wait, UINT64_MAX), 0));
	while ((op = io_next_done(&io))) {
		cr_assert(image_op_is_read(op));
		image_pool_complete(&pool, op);
	}
}

/* Closes a file whatever is in flight. */
static inline void file_close(struct file *f)
{
	struct io_op *op;

	while (image_close(&f->image) == -EAGAIN) {
		io_drain(&io);
		while ((op = io_next_done(&io)))
			image_pool_complete(&pool, op);
	}
	if (f->path)
		close(f->fd);
	free(f->path);
	free(f->bytes);
}

/* Waits until an image is ready. */
static inline void wait_ready(struct image *image)
{
	for (unsigned turns = 0; image->needed_pending > 0; turns++) {
		cr_assert(lt(uint, turns, 100000));
		turn(true);
		while (image_pool_next_ready(&pool))
			;
	}
	while (image_pool_next_ready(&pool))
		;
}

/* Brings a range in. */
static inline void need(struct file *f, uint64_t offset, uint64_t size_bytes)
{
	while (image_want(&f->image, offset, size_bytes, IMAGE_NEEDED) > 0)
		wait_ready(&f->image);
}

/* Compares a range, which is clamped to the file, with the file. */
static inline void expect_bytes(const struct file *f, uint64_t offset, uint64_t size_bytes)
{
	if (offset >= f->image.size_bytes)
		return;
	if (size_bytes > f->image.size_bytes - offset)
		size_bytes = f->image.size_bytes - offset;
	cr_assert(eq(int, memcmp(f->image.base + offset, f->bytes + offset, size_bytes), 0),
		  "bytes at %llu", (unsigned long long)offset);
}

/* Whether a state has a bit. */
static inline bool has(uint8_t state, uint8_t bit)
{
	return (state & bit) != 0;
}

/* Checks every sum that the pool keeps against the states of the blocks. */
static inline void check_sums(struct file *files, unsigned count)
{
	uint64_t committed = pool.private->cached_bytes, resident = 0, flying = 0, ahead = 0;

	for (unsigned f = 0; f < count; f++) {
		const struct image *image = &files[f].image;
		uint64_t residents = 0;

		if (!image->range)
			continue;
		for (uint64_t i = 0; i < image->range->block_room; i++) {
			uint8_t state = image->blocks[i];

			if (state & (IMAGE_BLOCK_RESIDENT | IMAGE_BLOCK_IN_FLIGHT))
				cr_assert(has(state, IMAGE_BLOCK_COMMITTED));
			if (state & IMAGE_BLOCK_RESIDENT)
				cr_assert(lt(u64, i, image->block_count));
			if (state & IMAGE_BLOCK_COMMITTED)
				cr_assert(lt(u64, i, image->range->committed_end));
			committed += state & IMAGE_BLOCK_COMMITTED ? 1ull << image->block_shift : 0;
			flying += state & IMAGE_BLOCK_IN_FLIGHT ? 1ull << image->block_shift : 0;
			ahead += state & IMAGE_BLOCK_AHEAD ? 1ull << image->block_shift : 0;
			residents += (state & IMAGE_BLOCK_RESIDENT) != 0;
		}
		cr_assert(eq(u64, residents, image->resident_count));
		if (image->whole)
			cr_assert(eq(u64, residents, image->block_count));
		resident += residents << image->block_shift;
	}
	cr_assert(eq(u64, committed, pool.committed_bytes));
	cr_assert(eq(u64, resident, pool.private->resident_bytes));
	cr_assert(eq(u64, flying, pool.private->flying_bytes));
	cr_assert(eq(u64, ahead, pool.private->ahead_bytes));
}

/* Bytes of memory that this process has. */
static inline uint64_t rss_bytes(void)
{
	FILE *file = fopen("/proc/self/statm", "r");
	unsigned long size, resident;

	cr_assert(file != NULL);
	cr_assert(eq(int, fscanf(file, "%lu %lu", &size, &resident), 2));
	fclose(file);
	return resident * 4096ull;
}

#endif
