/* SPDX-License-Identifier: MIT */
/* What reads leave in the page cache, where the file system of the folder has one to drop from. */
#include <criterion/criterion.h>
#include <criterion/new/assert.h>
#include <criterion/parameterized.h>

#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "tests/support/io-methods.h"

#define SIZE ((1u << 20) + 5000)
#define PIECE (128u << 10)

static struct io io;
static struct io_fault fault;
static char *folder, *path;
static uint8_t *bytes, *buffer;
static struct io_file file;

/* How many pages of a range are in the page cache. */
static unsigned pages_there(uint64_t offset, uint64_t size)
{
	unsigned char there[SIZE / 4096 + 2];
	void *map = mmap(NULL, size, PROT_READ, MAP_SHARED, file.fd, (off_t)offset);
	unsigned count = 0;

	cr_assert(ne(ptr, map, MAP_FAILED));
	cr_assert(eq(int, mincore(map, size, there), 0));
	for (uint64_t i = 0; i * 4096 < size; i++)
		count += there[i] & 1;
	munmap(map, size);
	return count;
}

static void teardown(void)
{
	if (io.method)
		io_done(&io);
	free(bytes);
	free(buffer);
	free(path);
	folder = test_folder_remove(folder);
}

TestSuite(io_cache, .fini = teardown, .timeout = 60);

/* A file on disk, nothing of which is in memory; skips the test where there is no such thing. */
static void setup(enum io_method_case_id id)
{
	int r = io_method_case_init(id, &io, &fault, 8);

	if (r < 0 && id == IO_CASE_URING)
		cr_skip_test("no ring: %s", strerror(-r));
	cr_assert(eq(int, r, 0));
	folder = test_folder_make();
	path = test_path(folder, "file");
	bytes = test_file_random(path, SIZE, 3);
	buffer = aligned_alloc(4096, (SIZE + 4095) & ~4095u);
	file = (struct io_file){ .fd = open(path, O_RDWR | O_CLOEXEC), .nowait = true };
	cr_assert(eq(int, fsync(file.fd), 0));
	cr_assert(eq(int, posix_fadvise(file.fd, 0, 0, POSIX_FADV_DONTNEED), 0));
	if (sysconf(_SC_PAGESIZE) != 4096 || pages_there(0, SIZE) > 0)
		cr_skip_test("nothing can be dropped here");
}

/* Reads one range, minding what reads say of the file. */
static int read_range(uint64_t offset, uint32_t size, uint8_t *to)
{
	struct io_op op = {
		.kind = IO_READ, .file = file, .offset = offset, .size_bytes = size, .buffer = to
	};

	io_submit(&io, &op);
	while (!io_next_done(&io))
		cr_assert(eq(int, io_turn(&io, true, UINT64_MAX), 0));
	file = op.file;
	return op.result;
}

/* Reads all of the file in pieces, and compares. */
static void read_all(bool rounded)
{
	memset(buffer, 0, SIZE);
	for (uint32_t offset = 0; offset < SIZE; offset += PIECE) {
		uint32_t size = SIZE - offset < PIECE ? SIZE - offset : PIECE;
		uint32_t asked = rounded ? (size + 4095) & ~4095u : size;

		cr_expect(eq(int, read_range(offset, asked, buffer + offset), (int)size));
	}
	cr_expect(eq(int, memcmp(buffer, bytes, SIZE), 0));
}

/* Reads with drop after the first part of the file and one page have come in. */
static void check_drop(enum io_method_case_id id, bool uncached)
{
	uint8_t page[4096];

	setup(id);
	io_file_drop(&io, &file, true);
	cr_expect(file.drop && file.uncached);
	file.uncached = uncached;
	for (uint64_t at = 0; at < 2 * PIECE; at += 4096)
		cr_assert(eq(int, (int)pread(file.fd, page, 4096, (off_t)at), 4096));
	cr_assert(eq(int, (int)pread(file.fd, page, 4096, 5 * PIECE), 4096));
	cr_expect(eq(uint, pages_there(0, SIZE), 2 * PIECE / 4096 + 1));
	read_all(false);
	cr_expect(eq(uint, pages_there(0, 2 * PIECE), 2 * PIECE / 4096), "what was there stays");
	cr_expect(eq(uint, pages_there(5 * PIECE, 4096), 1));
	cr_expect(eq(uint, pages_there(0, SIZE), 2 * PIECE / 4096 + 1), "the rest does not");
}

IO_KERNEL_METHOD_TEST(io_cache, drop_leaves_what_was_there_by_the_kernels_doing)
{
	check_drop(*id, true);
}

IO_KERNEL_METHOD_TEST(io_cache, drop_leaves_what_was_there_by_ours)
{
	check_drop(*id, false);
	cr_expect(not(file.uncached));
}

IO_KERNEL_METHOD_TEST(io_cache, direct_reads_end_with_the_file_and_bring_nothing_in)
{
	setup(*id);
	io_file_drop(&io, &file, true);
	if (!io_file_direct(&io, &file))
		cr_skip_test("no direct I/O here");
	read_all(true);
	cr_expect(eq(uint, pages_there(0, SIZE), 0));
	cr_expect(eq(int, read_range((SIZE + 4095) & ~4095u, 4096, buffer), 0));
}

IO_KERNEL_METHOD_TEST(io_cache, a_direct_read_that_is_refused_is_made_otherwise)
{
	setup(*id);
	if (!io_file_direct(&io, &file))
		cr_skip_test("no direct I/O here");
	cr_expect(eq(int, read_range(100, 1000, buffer), 1000));
	cr_expect(eq(int, memcmp(buffer, bytes + 100, 1000), 0));
	cr_expect(not(file.direct), "the file is read through the cache from now on");
	cr_expect(eq(int, fcntl(file.fd, F_GETFL) & O_DIRECT, 0));
	read_all(false);
}

IO_KERNEL_METHOD_TEST(io_cache, opening_a_file_brings_nothing_in)
{
	struct io_op op = { .kind = IO_OPEN };
	uint8_t page[4096];

	setup(*id);
	op.path = path;
	io_submit(&io, &op);
	while (!io_next_done(&io))
		cr_assert(eq(int, io_turn(&io, true, UINT64_MAX), 0));
	cr_assert(eq(int, op.result, 0));
	cr_expect(eq(uint, io.probe_count, 1), "the file system has been asked");
	/* What is still on its way does not count as there: the first page is waited for. */
	cr_assert(eq(int, posix_fadvise(file.fd, 0, 0, POSIX_FADV_RANDOM), 0));
	cr_assert(eq(int, (int)pread(file.fd, page, sizeof(page), 0), 4096));
	cr_expect(eq(uint, pages_there(0, SIZE), 1));
	close(op.file.fd);
}

Test(io_cache, methods_that_do_not_know_how_are_left_alone)
{
	setup(IO_CASE_FAULT);
	io_file_drop(&io, &file, true);
	cr_expect(not(file.drop));
	cr_expect(not(io_file_direct(&io, &file)));
}
