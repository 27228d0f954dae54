// SPDX-License-Identifier: MIT
/*
 * The action of printing entries: sources, matches, position, output, and the lines around it.
 *
 * The order of the steps is that of journalctl, since it decides which message a wrong command
 * line gets: files are opened and complained about first, then come matches, then cursors. The
 * scan itself is the library's; nothing here looks into an entry but for cursors.
 */
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "messages.h"
#include "problems.h"
#include "show.h"
#include "stats.h"
#include "values.h"
#include "watch.h"

#define STATUS_DAMAGED 3

struct jscan *volatile show_running;

/* One run of the action. */
struct show {
	const struct settings *settings;
	struct jscan *engine;
	struct problems problems;
	struct watch watch;
	bool unreadable; /* --file named a file that cannot be opened */
	bool stopped;    /* by a signal */
	bool nothing;    /* there is no entry to show, which was seen before the scan */
};

/* Adds what stands on standard input, which must be a regular file. */
static int show_add_standard_input(struct show *show)
{
	struct stat st;

	if (fstat(STDIN_FILENO, &st) < 0 || !S_ISREG(st.st_mode))
		return message_error("Failed to open journal: %s", strerror(EBADFD));
	if (jscan_add_fd(show->engine, STDIN_FILENO, "/proc/self/fd/0", 0) < 0)
		return message_memory();
	return 0;
}

/* Adds the files and directories that were named, or the machine's own. */
static int show_add_sources(struct show *show)
{
	const struct settings *settings = show->settings;
	unsigned machines = settings->seen[OPTION_MERGE] ? JSCAN_ADD_ALL_MACHINES : 0;
	int r;

	for (size_t i = 0; i < settings->directory_count; i++) {
		r = jscan_add_directory(show->engine, settings->directories[i], 0);
		if (r < 0)
			return message_error("Failed to open %s: %s", settings->directories[i],
					     strerror(-r));
	}
	for (size_t i = 0; i < settings->file_count; i++) {
		r = jscan_add_file(show->engine, settings->files[i], 0);
		if (r < 0)
			return message_error("Failed to open files: %s", strerror(-r));
	}
	if (settings->standard_input)
		return show_add_standard_input(show);
	if (settings->directory_count + settings->file_count > 0)
		return 0;
	r = jscan_add_system(show->engine, machines);
	if (r < 0)
		return message_error("Failed to open journal: %s", strerror(-r));
	return 0;
}

/* Opens the files and tells of those that cannot be. */
static int show_open(struct show *show)
{
	const struct settings *settings = show->settings;
	size_t usable;
	int r;

	r = jscan_open(show->engine);
	if (r == -ENOMEM)
		return message_memory();
	if (r < 0)
		return message_error("Failed to begin reading: %s%s", strerror(-r),
				     settings->engine.io == JSCAN_IO_URING ? " (try --io=threads)"
									   : "");
	usable = jscan_files_usable(show->engine);
	r = problems_first_error(&show->problems, settings->files, settings->file_count);
	if (r < 0 && (settings->file_count > 0 || settings->standard_input)) {
		show->unreadable = true;
		return message_error("Failed to open %s: %s",
				     settings->standard_input ? "journal" : "files", strerror(-r));
	}
	r = problems_report(&show->problems, usable);
	if (r < 0)
		return r;
	if (usable == 0 && show->problems.left_out_count == 0 && !settings->quiet)
		message_notice("No journal files were found.");
	return 0;
}

/* Turns the arguments into matches. */
static int show_add_matches(struct show *show)
{
	const struct settings *settings = show->settings;
	bool term = false; /* the last argument was one */
	int r;

	for (size_t i = 0; i < settings->argument_count; i++) {
		const char *argument = settings->arguments[i];

		if (strcmp(argument, "+") == 0) {
			if (!term)
				break;
			r = jscan_match_or(show->engine);
			term = false;
		} else if (argument[0] == '/') {
			return message_error("Matching by path ('%s') is not supported yet.",
					     argument);
		} else {
			r = jscan_match(show->engine, argument, strlen(argument));
			term = true;
		}
		if (r < 0)
			return message_error("Failed to add match '%s': %s", argument,
					     strerror(-r));
	}
	if (settings->argument_count > 0 && !term)
		return message_error("\"+\" can only be used between terms.");
	return 0;
}

/* Reads the first entry from the cursor of --after-cursor on: if it is the cursor's own, the scan
 * goes on behind it, else it begins with it. The
 * limit counts the entry that is skipped. */
static int show_skip_cursor(struct show *show)
{
	const struct settings *settings = show->settings;
	bool limited = settings->lines != LINES_ALL && settings->lines > 0;
	const struct jscan_entry *entry;
	int r = 0;

	if (limited)
		r = jscan_set_limit(show->engine, settings->lines + 1);
	if (r >= 0)
		r = jscan_next(show->engine, &entry);
	if (r < 0)
		return r;
	show->nothing = r == 0;
	if (r > 0 && jscan_test_cursor(entry, settings->after_cursor) > 0) {
		jscan_entry_cursor(entry, show->watch.cursor);
		return 0;
	}
	r = jscan_seek_cursor(show->engine, settings->after_cursor);
	return r < 0 || !limited ? r : jscan_set_limit(show->engine, settings->lines);
}

/* Sets how many entries to show, from which end, and where a cursor says to begin. */
static int show_position(struct show *show)
{
	const struct settings *settings = show->settings;
	const char *cursor = settings->cursor ? settings->cursor : settings->after_cursor;
	bool reverse = settings->seen[OPTION_REVERSE];
	int r;

	r = jscan_set_direction(show->engine, reverse ? JSCAN_BACKWARD : JSCAN_FORWARD);
	if (cursor && r >= 0) {
		r = jscan_seek_cursor(show->engine, cursor);
		if (r < 0)
			return message_error("Failed to seek to cursor: %s", strerror(-r));
	}
	if (r < 0 || settings->after_cursor)
		r = r < 0 ? r : show_skip_cursor(show);
	else if (settings->lines == 0 || settings->lines == LINES_ALL)
		r = 0; /* show_no_lines() looks at one entry */
	else if (settings->lines_first || reverse || cursor)
		r = jscan_set_limit(show->engine, settings->lines);
	else
		r = jscan_set_tail(show->engine, settings->lines);
	return r < 0 ? message_error("Failed to find the first entry: %s", strerror(-r)) : 0;
}

/* With -n 0 nothing is shown; the cursor is that of the entry at which showing would begin. */
static int show_no_lines(struct show *show)
{
	const struct settings *settings = show->settings;
	bool cursor = settings->cursor || settings->after_cursor;
	const struct jscan_entry *entry;
	int r = 0;

	if (!settings->seen[OPTION_SHOW_CURSOR] || show->nothing)
		return 0;
	if (!cursor && !settings->lines_first)
		r = jscan_set_direction(show->engine, JSCAN_BACKWARD);
	if (r >= 0)
		r = jscan_next(show->engine, &entry);
	if (r < 0)
		return message_error("Failed to find the last entry: %s", strerror(-r));
	if (r > 0)
		jscan_entry_cursor(entry, show->watch.cursor);
	return 0;
}

/* Whether NAME can name a field. */
static bool show_field_is_valid(const char *name)
{
	size_t size = strspn(name, "ABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_");

	return size > 0 && size <= 64 && name[size] == '\0' &&
	       !(name[0] >= '0' && name[0] <= '9') && !(name[0] == '_' && name[1] == '_');
}

/* -o cat refuses names that cannot be fields, but only once there is an entry to look in. */
static int show_check_fields(struct show *show)
{
	const struct settings *settings = show->settings;
	const struct jscan_entry *entry;

	if (settings->mode != JSCAN_MODE_CAT || settings->lines == 0 || show->nothing)
		return 0;
	for (size_t i = 0; i < settings->field_count; i++)
		if (!show_field_is_valid(settings->fields[i]) &&
		    jscan_next(show->engine, &entry) > 0)
			return message_error("Failed to get data: %s", strerror(EINVAL));
	return 0;
}

/* Whether a mode prints all fields of an entry. */
static bool show_prints_all_fields(enum jscan_mode mode)
{
	switch (mode) {
	case JSCAN_MODE_VERBOSE:
	case JSCAN_MODE_EXPORT:
	case JSCAN_MODE_JSON:
	case JSCAN_MODE_JSON_PRETTY:
	case JSCAN_MODE_JSON_SSE:
	case JSCAN_MODE_JSON_SEQ:
		return true;
	default:
		return false;
	}
}

/* Attaches the output to standard output, and whatever looks on. */
static int show_attach(struct show *show)
{
	const struct settings *settings = show->settings;
	const bool *seen = settings->seen;
	struct jscan_output output = {
		.size = sizeof(output),
		.mode = settings->mode,
		.fields = (const char *const *)settings->fields,
	};
	int r;

	if (seen[OPTION_ALL])
		output.flags |= JSCAN_OUTPUT_ALL;
	if (seen[OPTION_UTC])
		output.flags |= JSCAN_OUTPUT_UTC;
	if (seen[OPTION_NO_HOSTNAME])
		output.flags |= JSCAN_OUTPUT_NO_HOSTNAME;
	if (seen[OPTION_TRUNCATE_NEWLINE])
		output.flags |= JSCAN_OUTPUT_TRUNCATE_NEWLINE;
	if (!seen[OPTION_MERGE] && !settings->quiet)
		output.flags |= JSCAN_OUTPUT_BOOT_LINES;
	r = jscan_add_output(show->engine, &output, STDOUT_FILENO);
	if (r == -EOPNOTSUPP)
		return message_error("This output format is not supported yet.");
	if (r < 0)
		return message_error("Failed to set up the output: %s", strerror(-r));
	show->watch.keep_cursor = seen[OPTION_SHOW_CURSOR];
	/* A sink that looks on has all fields decoded: not for modes that need only a few. */
	show->watch.show_progress = show_prints_all_fields(settings->mode) && !seen[OPTION_QUIET] &&
				    watch_progress_wanted();
	r = watch_attach(&show->watch, show->engine);
	return r < 0 ? message_memory() : 0;
}

/* How many entries the library has handed out. */
static uint64_t show_count(const struct show *show)
{
	struct jscan_stats stats = { .size = sizeof(stats) };

	jscan_get_stats(show->engine, &stats);
	return stats.entries;
}

/* Runs the scan. Returns 1 if it showed something, 0 if not. */
static int show_scan(struct show *show)
{
	uint64_t before;
	int r;

	if (show->settings->lines == 0)
		return show_no_lines(show);
	if (show->nothing)
		return 0;
	r = show_attach(show);
	if (r < 0)
		return r;
	before = show_count(show);
	show_running = show->engine;
	r = jscan_run(show->engine);
	show_running = NULL;
	watch_wipe(&show->watch);
	if (r < 0)
		return message_error("Failed to print entries: %s", strerror(-r));
	show->stopped = r > 0;
	return show_count(show) > before;
}

/* Prints the entries and what comes after them. */
static int show_run(struct show *show)
{
	const struct settings *settings = show->settings;
	int r;

	fflush(stdout);
	r = show_scan(show);
	if (r < 0 || show->stopped)
		return r;
	if (r == 0 && !settings->quiet)
		puts("-- No entries --");
	if (settings->seen[OPTION_SHOW_CURSOR] && show->watch.cursor[0])
		printf("-- cursor: %s\n", show->watch.cursor);
	fflush(stdout);
	return 0;
}

/* All steps in their order. */
static int show_steps(struct show *show)
{
	int r;

	r = jscan_new(&show->settings->engine, &show->engine);
	if (r < 0)
		return message_error("Failed to set up: %s", strerror(-r));
	jscan_set_problem_handler(show->engine, problems_add, &show->problems);
	r = show_add_sources(show);
	if (r >= 0)
		r = show_open(show);
	if (r >= 0)
		r = show_add_matches(show);
	if (r >= 0)
		r = show_position(show);
	if (r >= 0)
		r = show_check_fields(show);
	if (r >= 0)
		r = show_run(show);
	return r;
}

int show(const struct settings *settings)
{
	struct show show = {
		.settings = settings,
		.problems.name_damaged =
			settings->seen[OPTION_STRICT] && !settings->seen[OPTION_QUIET],
	};
	uint64_t began = stats_now();
	int r, status;

	r = show_steps(&show);
	status = r < 0 ? 1 : 0;
	if (show.engine && (r >= 0 || show.stopped))
		stats_print(show.engine, settings->stats, stats_now() - began);
	if (settings->seen[OPTION_STRICT] && show.problems.count > 0 && (r >= 0 || show.unreadable))
		status = STATUS_DAMAGED;
	show.engine = jscan_free(show.engine);
	problems_done(&show.problems);
	return status;
}
