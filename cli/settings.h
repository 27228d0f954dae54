/* SPDX-License-Identifier: MIT */
/* What the command line asks for. */
#ifndef CLI_SETTINGS_H
#define CLI_SETTINGS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <jscan.h>

#include "options.h"
#include "selectors.h"
#include "sinks.h"

/* What to do; the last option that says so decides. */
enum action {
	ACTION_SHOW, /* entries */
	ACTION_FIELD_NAMES,
	ACTION_FIELD_VALUES,
	ACTION_LIST_BOOTS,
	ACTION_LIST_INVOCATIONS,
	ACTION_LIST_NAMESPACES,
	ACTION_LIST_CATALOG,
	ACTION_DUMP_CATALOG,
	ACTION_DISK_USAGE,
	ACTION_HEADER,
	ACTION_VERIFY,
	ACTION_GAPS,
	ACTION_COUNT, /* these sum up the entries that would be shown */
	ACTION_TOP,
	ACTION_HISTOGRAM,
	ACTION_EXPLAIN,
	ACTION_OTHER /* one that this release does not have */
};

enum stats_format { STATS_NONE, STATS_TEXT, STATS_JSON };

struct settings {
	const char *program;     /* base name of argv[0]: parser messages begin with it */
	bool seen[OPTION_COUNT]; /* given at all */
	int unsupported;         /* the first option that this release does not act on; -1: none */
	enum action action;

	/* Lists are ours, their strings too, but for arguments, which are borrowed from argv. */
	char **directories;
	size_t directory_count;
	char **files;
	size_t file_count;
	bool standard_input; /* --file=- */
	char **fields;
	size_t field_count;
	char **units;
	size_t unit_count;
	char **user_units;
	size_t user_unit_count;
	char **identifiers;
	size_t identifier_count;
	char **excluded; /* identifiers that are not shown */
	size_t excluded_count;
	const char **arguments;
	size_t argument_count;

	enum jscan_mode mode;
	bool quiet;
	bool lenient;           /* --text=lenient */
	enum jscan_compression compression;
	unsigned compression_level; /* 0: the default */
	bool shorten;           /* --no-full, and no --full behind it */
	bool boot_asked;        /* -b other than "all", or --this-boot */
	bool boot_filter;       /* the same, or an option that implies it */
	struct descriptor boot; /* which, if there is a filter */
	bool invocation_filter;
	struct descriptor invocation;
	bool lines_given;
	bool lines_first;
	uint64_t lines; /* LINES_ALL: no limit */
	uint64_t since_usec, until_usec;             /* 0 and UINT64_MAX: none */
	uint32_t levels;                             /* of --priority, a bit for each; 0: all */
	uint64_t facilities[FACILITY_COUNT / 64];    /* a bit for each; none: all */
	const char *root;          /* --root, "/" taken for none */
	const char *log_namespace; /* --namespace */
	const char *pattern;       /* --grep */
	enum jscan_case pattern_case;
	const char *verify_key;
	const char *cursor;
	const char *after_cursor;
	const char *cursor_file;
	const char *checkpoint;
	const char *field; /* of -F */
	char top_field[65];   /* of --top */
	uint64_t top_count;
	uint64_t step_usec;   /* of --histogram; 0: chosen */
	uint32_t gap_kinds; /* of --gaps; 0: all */
	enum stats_format stats;
	const char *trace; /* file of --trace */
	struct sink_spec *sinks; /* of --sink */
	size_t sink_count;
	struct jscan_options engine;
};

/*
 * Reads the command line. 1: go on. 0: all is done (--help and the like). -EINVAL or -ENOMEM: it
 * is wrong, which has been said. settings_done() is due in every case.
 */
int settings_parse(struct settings *settings, char **argv);
void settings_done(struct settings *settings);

#endif
