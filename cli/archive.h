/* SPDX-License-Identifier: MIT */
/* The files that the command line names, opened: what every action begins with. */
#ifndef CLI_ARCHIVE_H
#define CLI_ARCHIVE_H

#include "problems.h"
#include "settings.h"
#include "trace.h"

struct archive {
	const struct settings *settings;
	struct jscan *engine;
	struct jscan_catalog *catalog; /* of explanations, where they are printed; or NULL */
	struct problems problems;
	struct trace trace;
	uint64_t began;  /* when it was opened, for --stats */
	bool unreadable; /* --file named a file that cannot be opened */
};

/*
 * Makes an engine, adds the files and opens them, and tells of those that cannot be used. A
 * negative answer has been explained. archive_close() is due in every case.
 */
int archive_open(struct archive *archive, const struct settings *settings);

/* Sets the pattern of --grep, if there is one. A negative answer has been explained. */
int archive_set_pattern(struct archive *archive);
/* For actions that read no files: explains what is wrong with the pattern all the same. */
int archive_check_pattern(const struct settings *settings);

/* Ends the engine. R is how the action went; STOPPED says that a signal ended it. Returns the exit
 * status of the program. */
int archive_close(struct archive *archive, int r, bool stopped);

/* Whether the files are this machine's own, not those that an option names. */
bool archive_is_default(const struct settings *settings);

#endif
