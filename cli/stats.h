/* SPDX-License-Identifier: MIT */
/* --stats: what a scan read and how long it took. */
#ifndef CLI_STATS_H
#define CLI_STATS_H

#include <stdint.h>

#include <jscan.h>

#include "settings.h"

/* Microseconds on a clock that only goes forward. */
uint64_t stats_now(void);

/* Prints the counters of ENGINE to standard error in FORMAT. The text form begins with a line that
 * says it all in short. */
void stats_print(const struct jscan *engine, enum stats_format format, uint64_t elapsed_usec);

#endif
