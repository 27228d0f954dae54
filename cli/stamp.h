/* SPDX-License-Identifier: MIT */
/* Times, lengths of time and sizes, as text. */
#ifndef CLI_STAMP_H
#define CLI_STAMP_H

#include <stddef.h>
#include <stdint.h>

#define STAMP_SIZE 128

/* Each writes into TEXT, which holds STAMP_SIZE bytes, and returns TEXT. */

/* A realtime in the local zone, or in UTC: "Wed 2024-05-01 10:00:00 UTC". */
char *stamp_format(uint64_t usec, char *text);
char *stamp_format_utc(uint64_t usec, char *text);
/* A length of time to the millisecond: "1h 2min 3.345s". */
char *span_format(uint64_t usec, char *text);
/* A number of bytes: "1023B", "1.5K". */
char *size_format(uint64_t bytes, char *text);

#endif
