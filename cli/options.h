/* SPDX-License-Identifier: MIT */
/* The table of options and how words of the command line are found in it. */
#ifndef CLI_OPTIONS_H
#define CLI_OPTIONS_H

#include <stdbool.h>
#include <stddef.h>

/* One name per row of the table, in its order. */
enum option_id {
	OPTION_SYSTEM,
	OPTION_USER,
	OPTION_MACHINE,
	OPTION_MERGE,
	OPTION_DIRECTORY,
	OPTION_FILE,
	OPTION_ROOT,
	OPTION_IMAGE,
	OPTION_IMAGE_POLICY,
	OPTION_NAMESPACE,
	OPTION_SINCE,
	OPTION_UNTIL,
	OPTION_CURSOR,
	OPTION_AFTER_CURSOR,
	OPTION_CURSOR_FILE,
	OPTION_THIS_BOOT,
	OPTION_BOOT,
	OPTION_UNIT,
	OPTION_USER_UNIT,
	OPTION_INVOCATION,
	OPTION_LATEST_INVOCATION,
	OPTION_IDENTIFIER,
	OPTION_EXCLUDE_IDENTIFIER,
	OPTION_PRIORITY,
	OPTION_FACILITY,
	OPTION_GREP,
	OPTION_CASE_SENSITIVE,
	OPTION_DMESG,
	OPTION_OUTPUT,
	OPTION_OUTPUT_FIELDS,
	OPTION_LINES,
	OPTION_REVERSE,
	OPTION_SHOW_CURSOR,
	OPTION_UTC,
	OPTION_CATALOG,
	OPTION_NO_HOSTNAME,
	OPTION_FULL,
	OPTION_NO_FULL,
	OPTION_ALL,
	OPTION_FOLLOW,
	OPTION_NO_TAIL,
	OPTION_TRUNCATE_NEWLINE,
	OPTION_QUIET,
	OPTION_SYNCHRONIZE_ON_EXIT,
	OPTION_NO_PAGER,
	OPTION_PAGER_END,
	OPTION_INTERVAL,
	OPTION_VERIFY_KEY,
	OPTION_FORCE,
	OPTION_HELP,
	OPTION_VERSION,
	OPTION_FIELDS,
	OPTION_FIELD,
	OPTION_LIST_BOOTS,
	OPTION_LIST_INVOCATIONS,
	OPTION_LIST_NAMESPACES,
	OPTION_DISK_USAGE,
	OPTION_VACUUM_SIZE,
	OPTION_VACUUM_FILES,
	OPTION_VACUUM_TIME,
	OPTION_VERIFY,
	OPTION_SYNC,
	OPTION_RELINQUISH_VAR,
	OPTION_SMART_RELINQUISH_VAR,
	OPTION_FLUSH,
	OPTION_ROTATE,
	OPTION_HEADER,
	OPTION_LIST_CATALOG,
	OPTION_DUMP_CATALOG,
	OPTION_UPDATE_CATALOG,
	OPTION_SETUP_KEYS,
	OPTION_NEW_ID128,
	OPTION_INTROSPECT_CLI,
	OPTION_COMPLETE,
	OPTION_IO,
	OPTION_JOBS,
	OPTION_CACHE,
	OPTION_LIMIT_RATE,
	OPTION_MEMORY,
	OPTION_UNPACK_MAX,
	OPTION_PLAN,
	OPTION_STATS,
	OPTION_STATUS,
	OPTION_STRICT,
	OPTION_GAPS,
	OPTION_TEXT,
	OPTION_COMPRESS,
	OPTION_COUNT_ENTRIES,
	OPTION_TOP,
	OPTION_HISTOGRAM,
	OPTION_EXPLAIN,
	OPTION_TRACE,
	OPTION_SINK,
	OPTION_CHECKPOINT,
	OPTION_COUNT,
	OPTION_OWN = OPTION_COMPLETE /* the first that journalctl does not have */
};

enum option_section {
	SECTION_SOURCE,
	SECTION_FILTERING,
	SECTION_OUTPUT,
	SECTION_PAGER,
	SECTION_SEALING,
	SECTION_COMMANDS,
	SECTION_OWN, /* what journalctl does not have */
	SECTION_COUNT
};

enum option_argument {
	ARGUMENT_NONE,
	ARGUMENT_REQUIRED,
	ARGUMENT_OPTIONAL, /* attached only */
	ARGUMENT_NEXT      /* attached, or the next word if it parses */
};

/* One row of the table. */
struct option_row {
	const char *name;       /* long, without dashes; NULL: it has none */
	char letter;            /* 0: it has none */
	unsigned char argument; /* enum option_argument */
	unsigned char section;  /* enum option_section */
	bool hidden;            /* accepted, but not in --help */
	const char *value;      /* what stands for the argument in --help */
	const char *help;
	const char *instead;    /* why jscan does not act on the option, and what does; or NULL */
};

extern const struct option_row option_table[OPTION_COUNT];

/*
 * The row of a long option, SIZE bytes of NAME without dashes, which may be an abbreviation.
 * -ENOENT: there is none. -EEXIST: several; they are the rows for which option_matches() is true.
 */
int option_find(const char *name, size_t size, enum option_id *ret_id);
/* Whether a row's name begins with NAME, as far as option_find() looks. */
bool option_matches(enum option_id id, const char *name, size_t size);
/* The row of a short option. -ENOENT. */
int option_find_letter(char letter, enum option_id *ret_id);

/* "--name", or "-l" where there is no long name, in a buffer of OPTION_TEXT_SIZE. Returns TEXT. */
#define OPTION_TEXT_SIZE 64
char *option_text(enum option_id id, char *text);

/* Prints the help text, made from the table, to standard output. */
void options_print_help(const char *program);

#endif
