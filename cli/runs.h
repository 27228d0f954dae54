/* SPDX-License-Identifier: MIT */
/* Runs: boots of a machine and invocations of a unit, the pieces that a journal falls into. */
#ifndef CLI_RUNS_H
#define CLI_RUNS_H

#include "archive.h"

struct run {
	jscan_id id;
	uint64_t first_usec, last_usec; /* realtime of its ends */
	uint64_t first_rank;            /* where it is in the order of first entries */
};

/*
 * In the order of their last entries, oldest first. Where runs overlap, the order of their first
 * entries is another one: numbers from 1 on count in that, numbers up to 0 in this. So 0 is the run
 * of the newest entry, and 1 that of the oldest.
 */
struct runs {
	struct run *rows;
	size_t count, capacity;
};

/* Appends a run. -ENOMEM. */
int runs_add(struct runs *runs, const struct run *run);
void runs_done(struct runs *runs);

/* The run that a descriptor means, NULL if there is none. */
const struct run *runs_find(struct runs *runs, const struct descriptor *descriptor);

/* What a descriptor that means nothing is called in messages: its ID, if any, and its offset. */
#define DESCRIPTOR_TEXT_SIZE 48
char *descriptor_format(const struct descriptor *descriptor, char *text);

/* Prints the table of runs as --lines and --reverse ask for it. HEADING and KEY are those of the
 * IDs. Returns 0 if it has no rows, which nothing is printed for, 1 otherwise, or -ENOMEM. */
int runs_print(struct runs *runs, const struct settings *settings, const char *heading,
	       const char *key);

#endif
