// SPDX-License-Identifier: MIT
/*
 * The files that the command line names: added to an engine, opened, and reported on.
 *
 * This is how every action begins and ends, so that all of them find the same files and say the
 * same about those that cannot be used. It does not know what the files are opened for.
 */
#include <errno.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "archive.h"
#include "hint.h"
#include "messages.h"
#include "stats.h"

#define STATUS_DAMAGED 3
#define PATTERN_TEXT_SIZE 256
#define STANDARD_INPUT_NAME "/proc/self/fd/0"

bool archive_is_default(const struct settings *settings)
{
	return settings->directory_count + settings->file_count == 0 && !settings->standard_input &&
	       !settings->root;
}

/* Adds what stands on standard input: a file as it is, a copy of what comes through a pipe. */
static int archive_add_standard_input(struct archive *archive)
{
	struct stat st;
	int r;

	if (isatty(STDIN_FILENO))
		return message_error("Standard input is a terminal, not a journal.");
	if (fstat(STDIN_FILENO, &st) < 0)
		r = -errno;
	else if (S_ISREG(st.st_mode))
		r = jscan_add_fd(archive->engine, STDIN_FILENO, STANDARD_INPUT_NAME, 0);
	else if (S_ISFIFO(st.st_mode) || S_ISSOCK(st.st_mode))
		r = jscan_add_stream(archive->engine, STDIN_FILENO, STANDARD_INPUT_NAME);
	else
		r = -EBADFD;
	if (r == -ENOMEM)
		return message_memory();
	return r < 0 ? message_error("Failed to open journal: %s", strerror(-r)) : 0;
}

/* Which files in directories are meant. */
static struct jscan_places archive_places(const struct settings *settings)
{
	struct jscan_places places = { .size = sizeof(places) };

	if (settings->seen[OPTION_MERGE])
		places.flags |= JSCAN_PLACES_ALL_MACHINES;
	if (settings->seen[OPTION_SYSTEM])
		places.flags |= JSCAN_PLACES_SYSTEM;
	if (settings->seen[OPTION_USER])
		places.flags |= JSCAN_PLACES_USER;
	return places;
}

/* Adds the directories that were named. */
static int archive_add_directories(struct archive *archive)
{
	const struct settings *settings = archive->settings;
	struct jscan_places places = archive_places(settings);

	for (size_t i = 0; i < settings->directory_count; i++) {
		int r;

		places.directory = settings->directories[i];
		r = jscan_add_places(archive->engine, &places);
		if (r < 0)
			return message_error("Failed to open %s: %s", settings->directories[i],
					     strerror(-r));
	}
	return 0;
}

/* Adds the machine's own files, or those below --root. */
static int archive_add_system(struct archive *archive)
{
	struct jscan_places places = archive_places(archive->settings);
	int r;

	places.root = archive->settings->root;
	places.log_namespace = archive->settings->log_namespace;
	r = jscan_add_places(archive->engine, &places);
	return r < 0 ? message_error("Failed to open journal: %s", strerror(-r)) : 0;
}

/* Adds all files that were named, or the machine's own. */
static int archive_add(struct archive *archive)
{
	const struct settings *settings = archive->settings;
	int r = archive_add_directories(archive);

	for (size_t i = 0; i < settings->file_count && r >= 0; i++) {
		r = jscan_add_file(archive->engine, settings->files[i], 0);
		if (r < 0)
			return message_error("Failed to open files: %s", strerror(-r));
	}
	if (r < 0)
		return r;
	if (settings->standard_input)
		return archive_add_standard_input(archive);
	return settings->directory_count + settings->file_count > 0 ? 0
								    : archive_add_system(archive);
}

/* Opens the files and tells of those that cannot be. */
static int archive_open_files(struct archive *archive)
{
	const struct settings *settings = archive->settings;
	size_t usable;
	int r;

	r = jscan_open(archive->engine);
	if (r == -ENOMEM)
		return message_memory();
	if (r < 0)
		return message_error("Failed to begin reading: %s%s", strerror(-r),
				     settings->engine.io == JSCAN_IO_URING ? " (try --io=threads)"
									   : "");
	usable = jscan_files_usable(archive->engine);
	r = problems_first_error(&archive->problems, settings->files, settings->file_count);
	if (r < 0 && (settings->file_count > 0 || settings->standard_input)) {
		archive->unreadable = true;
		return message_error("Failed to open %s: %s",
				     settings->standard_input ? "journal" : "files", strerror(-r));
	}
	if (problems_lack_permission(&archive->problems))
		hint_print(settings);
	r = problems_report(&archive->problems, usable);
	if (r < 0)
		return r;
	if (usable == 0 && archive->problems.left_out_count == 0 && !settings->quiet)
		message_notice("No journal files were found.");
	return 0;
}

int archive_set_pattern(struct archive *archive)
{
	const struct settings *settings = archive->settings;
	char text[PATTERN_TEXT_SIZE] = "";
	int r;

	if (!settings->pattern)
		return 0;
	r = jscan_set_grep(archive->engine, settings->pattern, settings->pattern_case, text,
			   sizeof(text));
	if (r == -EOPNOTSUPP)
		return message_error("Compiled without pattern matching support");
	if (r == -ENOMEM)
		return message_memory();
	return r < 0 ? message_error("Bad pattern \"%s\": %s", settings->pattern, text) : 0;
}

int archive_check_pattern(const struct settings *settings)
{
	struct jscan_options options = { .size = sizeof(options), .io = JSCAN_IO_SYNC };
	struct archive archive = { .settings = settings };
	int r = settings->pattern ? jscan_new(&options, &archive.engine) : 0;

	if (r < 0)
		return message_error("Failed to set up: %s", strerror(-r));
	r = archive_set_pattern(&archive);
	jscan_free(archive.engine);
	return r;
}

/* A follower is told so before files are opened. */
static int archive_set_follow(struct archive *archive)
{
	const struct settings *settings = archive->settings;
	int r;

	if (settings->action != ACTION_SHOW || !settings->seen[OPTION_FOLLOW])
		return 0;
	r = jscan_set_follow(archive->engine, 1);
	return r < 0 ? message_error("Failed to set up following: %s", strerror(-r)) : 0;
}

int archive_open(struct archive *archive, const struct settings *settings)
{
	int r;

	*archive = (struct archive){
		.settings = settings,
		.problems.name_damaged =
			settings->seen[OPTION_STRICT] && !settings->seen[OPTION_QUIET],
		.problems.quiet = settings->seen[OPTION_QUIET],
		.began = stats_now(),
	};
	r = jscan_new(&settings->engine, &archive->engine);
	if (r < 0)
		return message_error("Failed to set up: %s", strerror(-r));
	jscan_set_problem_handler(archive->engine, problems_add, &archive->problems);
	r = trace_open(&archive->trace, archive->engine, settings->trace);
	if (r >= 0)
		r = archive_set_follow(archive);
	if (r >= 0)
		r = archive_set_pattern(archive);
	if (r >= 0)
		r = archive_add(archive);
	if (r >= 0)
		r = archive_open_files(archive);
	return r;
}

int archive_close(struct archive *archive, int r, bool stopped)
{
	const struct settings *settings = archive->settings;
	int status = r < 0 ? 1 : 0;

	if (archive->engine && (r >= 0 || stopped))
		stats_print(archive->engine, settings->stats, stats_now() - archive->began);
	if (settings->seen[OPTION_STRICT] && archive->problems.count > 0 &&
	    (r >= 0 || archive->unreadable))
		status = STATUS_DAMAGED;
	archive->engine = jscan_free(archive->engine);
	if (trace_close(&archive->trace, settings->trace) < 0)
		status = 1;
	archive->catalog = jscan_catalog_free(archive->catalog);
	problems_done(&archive->problems);
	return status;
}
