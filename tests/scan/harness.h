/* SPDX-License-Identifier: MIT */
/*
 * What tests of whole scans share: an archive whose right order is plain to see, and three ways of
 * driving a scan over it that must all give the same. Uses jscan.h only.
 */
#ifndef TESTS_SCAN_HARNESS_H
#define TESTS_SCAN_HARNESS_H

#include <criterion/criterion.h>
#include <criterion/new/assert.h>
#include <criterion/parameterized.h>
#include <errno.h>
#include <limits.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "jscan.h"
#include "tests/support/io-methods.h"

/*
 * The archive: entry N is number N+1 of one sequence, a second after the one before. Entries take
 * turns in three files; the second half is a second boot, in which the clock of the boot begins
 * anew. Each has MESSAGE=N, PARITY=even or odd, and EVERY=M for each M of 3, 7 and 50 that divides
 * N.
 */
#define ARCHIVE_ENTRIES 120u
#define ARCHIVE_FILES 3u
#define ARCHIVE_LAST (ARCHIVE_ENTRIES - 1)
#define ARCHIVE_BEGIN UINT64_C(1700000000000000)
#define ARCHIVE_SECOND UINT64_C(1000000)

/* The time of an entry, realtime. */
#define ARCHIVE_TIME(n) (ARCHIVE_BEGIN + (uint64_t)(n) * ARCHIVE_SECOND)

/* Makes the archive in a folder of its own; to be removed with test_folder_remove(). */
char *archive_make(void);
/* The path of a file of it. To be freed. */
char *archive_path(const char *folder, unsigned file);
/* Adds a file of three entries, 1000 to 1002, the second of which is damaged. */
void archive_add_damaged(const char *folder);
jscan_id archive_boot_id(unsigned n);
jscan_id archive_seqnum_id(void);

/* Ways of driving. */
enum drive {
	DRIVE_NEXT,
	DRIVE_RUN,         /* with a sink */
	DRIVE_LOOP,        /* jscan_process() until an entry is ready, then jscan_next() */
	DRIVE_LOOP_SINK,   /* jscan_process() feeds a sink */
	DRIVE_COUNT
};

/* An engine over the archive. METHOD is an enum jscan_io; NULL where the ring is refused. */
struct jscan *archive_open(const char *folder, uint32_t method);

/* Reads to the end and returns the messages, separated by blanks. To be freed. */
char *collect(struct jscan *engine, enum drive how);
/* The same of numbers from FIRST to LAST, in either direction; "" if COUNT is 0. */
char *numbers(unsigned first, unsigned last, unsigned count);

/* Expects texts to be equal, and frees both. */
void expect_texts(char *got, char *expected, const char *what);

/* Copies the value of an entry's field; "" if it is not there. */
void field_text(const struct jscan_entry *entry, const char *name, char *text, size_t size);

/* Waits as an event loop would. */
void loop_wait(struct jscan *engine);

/* The ways of reading, of which METHOD_TEST() takes one after the other. */
#define METHOD_COUNT 3u
extern uint32_t scan_methods[METHOD_COUNT];

/* Begins a test that runs with each *METHOD. */
#define METHOD_TEST(suite, name)                                                                   \
	ParameterizedTestParameters(suite, name)                                                   \
	{                                                                                          \
		return cr_make_param_array(uint32_t, scan_methods, METHOD_COUNT);                  \
	}                                                                                          \
	ParameterizedTest(uint32_t *method, suite, name)

/* A suite each of whose tests has a folder of its own, made by MAKE: archive_make() or
 * test_folder_make(). Once in a program. */
#define FOLDER_SUITE(suite, make)                                                                  \
	static char *folder;                                                                       \
	static void folder_setup(void)                                                             \
	{                                                                                          \
		folder = make();                                                                   \
	}                                                                                          \
	static void folder_teardown(void)                                                          \
	{                                                                                          \
		folder = test_folder_remove(folder);                                               \
	}                                                                                          \
	TestSuite(suite, .init = folder_setup, .fini = folder_teardown, .timeout = 60)

#endif
