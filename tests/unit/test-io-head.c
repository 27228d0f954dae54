/* SPDX-License-Identifier: MIT */
/* Opening that brings the first bytes of a file: with every method, which may do without. */
#include <criterion/criterion.h>
#include <criterion/new/assert.h>
#include <criterion/parameterized.h>

#include <dirent.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "tests/support/io-methods.h"

#define FILES 100
#define ROOM 64u

static struct io io;
static struct io_fault fault;
static struct io_op ops[FILES];
static uint8_t heads[FILES][ROOM];
static uint8_t *bytes[FILES];
static char *folder, *paths[FILES];

/* Sets up the io and submits the opens of files that are 0, 1, 2, ... bytes long; the last is not
 * there. */
static void setup(enum io_method_case_id id)
{
	int r = io_method_case_init(id, &io, &fault, 16);

	if (r < 0 && id == IO_CASE_URING)
		cr_skip_test("no ring: %s", strerror(-r));
	cr_assert(eq(int, r, 0));
	folder = test_folder_make();
	for (int i = 0; i < FILES; i++) {
		char name[32];

		snprintf(name, sizeof(name), "file-%d", i);
		paths[i] = test_path(folder, name);
		if (i + 1 < FILES)
			bytes[i] = test_file_random(paths[i], (uint64_t)i, (uint64_t)i);
		ops[i] = (struct io_op){
			.kind = IO_OPEN,
			.path = paths[i],
			.buffer = heads[i],
			.size_bytes = ROOM,
		};
		io_submit(&io, &ops[i]);
	}
}

/* Ends it: whatever was opened is closed. */
static void teardown(void)
{
	for (int i = 0; i < FILES; i++) {
		if (ops[i].file.fd >= 0)
			close(ops[i].file.fd);
		free(paths[i]);
		free(bytes[i]);
	}
	io_done(&io);
	folder = test_folder_remove(folder);
}

/* How many descriptors are open. */
static unsigned descriptors(void)
{
	DIR *dir = opendir("/proc/self/fd");
	unsigned count = 0;

	cr_assert(ne(ptr, dir, NULL));
	while (readdir(dir))
		count++;
	closedir(dir);
	return count;
}

IO_METHOD_TEST(io_head, it_is_the_beginning_of_the_file_or_nothing)
{
	unsigned done = 0;

	setup(*id);
	while (done < FILES) {
		cr_assert(eq(int, io_turn(&io, true, UINT64_MAX), 0));
		while (io_next_done(&io))
			done++;
	}
	cr_expect(eq(int, ops[FILES - 1].result, -ENOENT));
	for (int i = 0; i + 1 < FILES; i++) {
		int size = i < (int)ROOM ? i : (int)ROOM;

		cr_assert(ge(int, ops[i].file.fd, 0));
		if (*id == IO_CASE_URING && ops[i].file.nowait)
			cr_expect(eq(int, ops[i].result, size));
		else if (ops[i].result != size)
			cr_expect(eq(int, ops[i].result, 0));
		if (ops[i].result)
			cr_expect(eq(int, memcmp(heads[i], bytes[i], (size_t)size), 0));
		cr_expect(eq(u64, ops[i].stat.size_bytes, (uint64_t)i));
	}
	teardown();
}

IO_METHOD_TEST(io_head, draining_loses_no_descriptor)
{
	unsigned before, done = 0;

	setup(*id);
	before = descriptors();
	cr_assert(eq(int, io_turn(&io, false, 0), 0));
	io_drain(&io);
	while (io_next_done(&io))
		done++;
	cr_expect(eq(uint, done, FILES));
	for (int i = 0; i < FILES; i++) {
		if (ops[i].result < 0) {
			cr_expect(eq(int, ops[i].file.fd, -1));
			continue;
		}
		cr_assert(ge(int, ops[i].file.fd, 0));
		close(ops[i].file.fd);
		ops[i].file.fd = -1;
	}
	cr_expect(eq(uint, descriptors(), before));
	teardown();
}
