/* SPDX-License-Identifier: MIT */
/* Points in time and lengths of time, from text. */
#ifndef CLI_TIMESPEC_H
#define CLI_TIMESPEC_H

#include <stdint.h>

/* A length of time without end. */
#define TIMESPAN_INFINITE UINT64_MAX

/* The last time that systemd prints in all zones, a day before the year 9999 ends. */
#define TIMESPEC_USEC_MAX UINT64_C(253402214399000000)

/*
 * The argument of --since and --until, as microseconds since 1970, in the process's time zone where
 * TEXT names none. NOW_USEC is what "now" means. -EINVAL; -ERANGE if it is before 1970 or a date
 * past TIMESPEC_USEC_MAX.
 */
int timespec_parse(const char *text, uint64_t now_usec, uint64_t *ret_usec);

/* A length of time such as "1h 30min" or "2.5" (seconds). -EINVAL; -ERANGE. */
int timespan_parse(const char *text, uint64_t *ret_usec);

#endif
