/* SPDX-License-Identifier: MIT */
/*
 * Prints entries that a test makes up. Every field lies in memory of just its size, so that a
 * sanitizer sees a read beyond it.
 */
#ifndef TESTS_SUPPORT_PRINT_H
#define TESTS_SUPPORT_PRINT_H

#include "formats/output/output.h"

/* Wed 2024-05-01 10:00:01.250000 UTC; 12.500001 s after boot. */
#define PRINT_REALTIME UINT64_C(1714557601250000)
#define PRINT_MONOTONIC UINT64_C(12500001)
#define PRINT_SEQNUM_ID "00112233445566778899aabbccddeeff"
#define PRINT_BOOT_ID "0123456789abcdeffedcba9876543210"
#define PRINT_CURSOR                                                                               \
	"s=" PRINT_SEQNUM_ID ";i=2a;b=" PRINT_BOOT_ID                                              \
	";m=bebc21;t=617618cc4fad0;x=9041b23248242178"

/* A printer and the entry that it prints next. */
struct print {
	struct output_options options;
	struct output_cache cache;
	struct output_previous previous;
	struct output_buffer buffer;
	struct output_entry entry;
	struct output_field *fields;
	size_t field_capacity;
};

/* Zone UTC, no flags, the header values above, no fields. */
void print_init(struct print *p, enum output_mode mode);
void print_done(struct print *p);
/* Sets the zone of local time. */
void print_zone(const char *zone);
/* Adds a field; print_field() takes a string, print_bytes() SIZE bytes. */
void print_field(struct print *p, const char *field);
void print_bytes(struct print *p, const void *bytes, size_t size);
/* Adds a field NAME=value whose value is COUNT times BYTE. */
void print_run(struct print *p, const char *name, uint8_t byte, size_t count);
/* Drops the entry's fields. */
void print_clear(struct print *p);
/* Prints the entry; returns what was printed, NUL-terminated, until the next call. */
char *print_entry(struct print *p);
/* The same for an entry that has only this MESSAGE. */
char *print_message(struct print *p, const char *message);

/* A suite whose tests have a printer P in a mode. Once in a program. */
#define PRINT_SUITE(suite, mode)                                                                   \
	static struct print p;                                                                     \
	static void print_setup(void)                                                              \
	{                                                                                          \
		print_init(&p, mode);                                                              \
	}                                                                                          \
	static void print_teardown(void)                                                           \
	{                                                                                          \
		print_done(&p);                                                                    \
	}                                                                                          \
	TestSuite(suite, .init = print_setup, .fini = print_teardown)

/* Expects P to print the entry so. */
#define EXPECT_PRINTED(text) cr_expect(eq(str, print_entry(&p), (char *)(text)))

/* A literal's bytes, for fields and results that hold a NUL. */
#define PRINT_LITERAL(literal) ("" literal), (sizeof(literal) - 1)

#endif
