/* SPDX-License-Identifier: MIT */
/* What the command line asks for. */
#ifndef CLI_SETTINGS_H
#define CLI_SETTINGS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <jscan.h>

#include "options.h"

enum stats_format { STATS_NONE, STATS_TEXT, STATS_JSON };

struct settings {
	const char *program;     /* base name of argv[0]: parser messages begin with it */
	bool seen[OPTION_COUNT]; /* given at all */
	int unsupported;         /* the first option that this release does not act on; -1: none */

	/* Lists are ours, their strings too, but for arguments, which are borrowed from argv. */
	char **directories;
	size_t directory_count;
	char **files;
	size_t file_count;
	bool standard_input; /* --file=- */
	char **fields;
	size_t field_count;
	const char **arguments;
	size_t argument_count;

	enum jscan_mode mode;
	bool quiet;
	bool boot_asked;  /* -b other than "all", or --this-boot */
	bool boot_filter; /* the same, or an option that implies it */
	bool lines_given;
	bool lines_first;
	uint64_t lines; /* LINES_ALL: no limit */
	const char *cursor;
	const char *after_cursor;
	enum stats_format stats;
	struct jscan_options engine;
};

/*
 * Reads the command line. 1: go on. 0: all is done (--help and the like). -EINVAL or -ENOMEM: it
 * is wrong, which has been said. settings_done() is due in every case.
 */
int settings_parse(struct settings *settings, char **argv);
void settings_done(struct settings *settings);

#endif
