/* SPDX-License-Identifier: MIT */
/* Set-up that tests of I/O share. What fails here fails the test by abort(). */
#include "tests/support/io-methods.h"

#include <fcntl.h>
#include <ftw.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum io_method_case_id io_method_cases[IO_METHOD_COUNT] = {
	IO_CASE_URING,
	IO_CASE_THREADS,
	IO_CASE_SYNC,
	IO_CASE_FAULT,
};

int io_method_case_init(enum io_method_case_id id, struct io *io, struct io_fault *fault,
			unsigned queue_depth)
{
	struct io_options options = { .queue_depth = queue_depth, .threads = 4 };

	io_fault_init(fault, 42);
	switch (id) {
	case IO_CASE_URING:
		options.method = IO_METHOD_URING;
		return io_init(io, &options, NULL);
	case IO_CASE_THREADS:
		options.method = IO_METHOD_THREADS;
		return io_init(io, &options, NULL);
	case IO_CASE_SYNC:
		options.method = IO_METHOD_SYNC;
		return io_init(io, &options, NULL);
	case IO_CASE_FAULT:
		fault->read_bytes_max = 8191;
		fault->read_bytes_random = true;
		fault->delay_turns_max = 3;
		fault->reorder = true;
		fault->eagain_percent = 10;
		fault->eintr_percent = 10;
		return io_fault_init_io(fault, io, queue_depth);
	}
	abort();
}

char *test_folder_make(void)
{
	const char *parent = getenv("TMPDIR");
	char *folder;

	if (asprintf(&folder, "%s/jscan-test-XXXXXX", parent ? parent : "/tmp") < 0 ||
	    !mkdtemp(folder))
		abort();
	return folder;
}

/* Removes one file or folder. */
static int test_remove(const char *path, const struct stat *st, int type, struct FTW *ftw)
{
	(void)st;
	(void)type;
	(void)ftw;
	return remove(path);
}

char *test_folder_remove(char *folder)
{
	if (folder)
		(void)nftw(folder, test_remove, 16, FTW_DEPTH | FTW_PHYS);
	free(folder);
	return NULL;
}

char *test_path(const char *folder, const char *name)
{
	char *path;

	if (asprintf(&path, "%s/%s", folder, name) < 0)
		abort();
	return path;
}

uint8_t *test_file_random(const char *path, uint64_t size_bytes, uint64_t seed)
{
	uint8_t *bytes = malloc(size_bytes + 8);
	int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);

	if (!bytes || fd < 0)
		abort();
	for (uint64_t i = 0; i < size_bytes; i += 8) {
		/* No byte is 0: memory that was lost never looks right. */
		uint64_t x = io_fault_random(&seed) | 0x0101010101010101u;

		memcpy(bytes + i, &x, 8);
	}
	for (uint64_t done = 0; done < size_bytes;) {
		ssize_t n = write(fd, bytes + done, size_bytes - done);

		if (n <= 0)
			abort();
		done += (uint64_t)n;
	}
	close(fd);
	return bytes;
}
