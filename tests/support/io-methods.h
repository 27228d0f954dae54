/* SPDX-License-Identifier: MIT */
/*
 * The four ways to do I/O, for tests that must hold over each. Also temporary folders and files.
 */
#ifndef TESTS_SUPPORT_IO_METHODS_H
#define TESTS_SUPPORT_IO_METHODS_H

#include "tests/support/io-fault.h"

enum io_method_case_id {
	IO_CASE_URING,
	IO_CASE_THREADS,
	IO_CASE_SYNC,
	IO_CASE_FAULT, /* short, late, reordered, with EAGAIN and EINTR */
};

#define IO_METHOD_COUNT 4u
#define IO_KERNEL_METHOD_COUNT 3u /* those before IO_CASE_FAULT */
extern enum io_method_case_id io_method_cases[IO_METHOD_COUNT];

/* Begins a test that runs with each method *ID, or with each of the kernel's. */
#define IO_METHOD_TEST_OF(count, suite, name)                                                      \
	ParameterizedTestParameters(suite, name)                                                   \
	{                                                                                          \
		return cr_make_param_array(enum io_method_case_id, io_method_cases, count);        \
	}                                                                                          \
	ParameterizedTest(enum io_method_case_id *id, suite, name)
#define IO_METHOD_TEST(suite, name) IO_METHOD_TEST_OF(IO_METHOD_COUNT, suite, name)
#define IO_KERNEL_METHOD_TEST(suite, name) IO_METHOD_TEST_OF(IO_KERNEL_METHOD_COUNT, suite, name)

/* Sets up an io of this kind; FAULT is its state if it is that kind, and a well-behaved one else.
 * Negative errno where the ring is refused. */
int io_method_case_init(enum io_method_case_id id, struct io *io, struct io_fault *fault,
			unsigned queue_depth);

/* Makes a folder for this test; it is removed with all that is in it by test_folder_remove(). */
char *test_folder_make(void);
char *test_folder_remove(char *folder);

/* The path of a name in a folder: to be freed. */
char *test_path(const char *folder, const char *name);

/* Writes a file with bytes that follow from the seed; returns them, to be freed. */
uint8_t *test_file_random(const char *path, uint64_t size_bytes, uint64_t seed);

#endif
