/* SPDX-License-Identifier: MIT */
/*
 * Which entries of a file a pattern cannot match, found by seeking the pattern's literal in the raw
 * bytes of the file.
 */
#ifndef ENGINE_GREP_SCAN_H
#define ENGINE_GREP_SCAN_H

#include "formats/journal/journal.h"

struct jscan;
struct source;
struct io_op;
struct grep_reader;

/* Entries in a row that are of one boot. */
struct grep_run {
	struct id128 boot_id;
	uint64_t first, last; /* sequence numbers */
};

/* What is known of one file. */
struct grep_scan {
	bool usable;              /* offsets[] is complete: entries up to last_entry that are not in
				   * it are ruled out */
	bool ordered;             /* sequence numbers ascend, and runs[] is complete */
	uint64_t last_entry;      /* offset of the last entry that was looked at */
	uint64_t *offsets;        /* of the entries that have to be looked at, ascending */
	size_t count, capacity, count_max;
	size_t at;                /* of offsets: what was asked for last is at or before it */
	struct grep_run *runs;
	size_t run_count, run_capacity;
};

void grep_scan_free(struct grep_scan *scan);

/* True if nothing is lost by not looking at the entry at an offset: the pattern does not match. */
bool grep_scan_rules_out(struct grep_scan *scan, uint64_t offset);

/* The nearest entry that is not ruled out, at or after FROM, or with BACKWARD at or before it. */
bool grep_scan_next(const struct grep_scan *scan, uint64_t from, bool backward,
		    uint64_t *ret_offset);

/* Forgets what is known of all files: pattern or bounds may have changed. */
void grep_scan_forget(struct jscan *engine);

/*
 * Searches all files that will be read, where that is worth it, and decides of which the merge may
 * go without the entries that are ruled out (source->passes). 0, -EAGAIN, -ENOMEM.
 */
int grep_scan_files(struct jscan *engine);

/* Takes a completed operation. False: it is not of this module. */
bool grep_reader_complete(struct grep_reader *reader, const struct io_op *op);
/* Frees a reader whose operations have ended. */
void grep_reader_free(struct grep_reader *reader);

#endif
