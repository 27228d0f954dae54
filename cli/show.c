// SPDX-License-Identifier: MIT
/*
 * The action of printing entries: matches, position, output, and the lines around it.
 *
 * The order of the steps is that of journalctl, since it decides which message a wrong command
 * line gets: files are opened and complained about first, then come matches, then cursors. The
 * scan itself is the library's; nothing here looks into an entry but for cursors.
 */
#include <errno.h>
#include <locale.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "archive.h"
#include "checkpoint-file.h"
#include "cursor-file.h"
#include "filter.h"
#include "frame.h"
#include "look.h"
#include "messages.h"
#include "pager.h"
#include "show.h"
#include "stamp.h"
#include "values.h"
#include "watch.h"

struct jscan *volatile show_running;

/* One run of the action. */
struct show {
	const struct settings *settings;
	struct archive *archive;
	struct watch watch;
	const char *after_cursor;            /* of --after-cursor, or ... */
	char *kept_cursor;                   /* ... of --cursor-file */
	char last_cursor[JSCAN_CURSOR_SIZE]; /* where -f -n 0 begins, or "" */
	bool stopped;                        /* by a signal, or by quitting the pager */
	bool refused;                        /* an entry, since a field's name is bad */
};

/* The time that all files span, by their headers. */
struct show_span {
	bool known;
	uint64_t begin, end;
};

/* Whether the cursor of the last entry has to be known at the end. */
static bool show_wants_cursor(const struct show *show)
{
	return show->settings->seen[OPTION_SHOW_CURSOR] || show->settings->cursor_file;
}

/* Reads the cursor to go on behind, if it is kept in a file. */
static int show_read_cursor(struct show *show)
{
	const struct settings *settings = show->settings;

	show->after_cursor = settings->after_cursor;
	if (!settings->cursor_file)
		return 0;
	if (cursor_file_read(settings->cursor_file, &show->kept_cursor) < 0)
		return -EINVAL;
	show->after_cursor = show->kept_cursor;
	return 0;
}

/* Whether reading begins at the end, for the last entries. */
static bool show_is_tail(const struct show *show)
{
	const struct settings *settings = show->settings;

	return settings->lines != LINES_ALL && !settings->lines_first &&
	       !settings->seen[OPTION_REVERSE] && !settings->cursor && !show->after_cursor;
}

/* With -f -n 0 the last entry is the position until another arrives, whatever the bounds say. */
static int show_keep_last_cursor(struct show *show)
{
	const struct settings *settings = show->settings;
	struct jscan *engine = show->archive->engine;
	const struct jscan_entry *entry;
	int r;

	if (!settings->seen[OPTION_FOLLOW] || settings->lines != 0 || !show_is_tail(show) ||
	    !show_wants_cursor(show))
		return 0;
	jscan_set_grep(engine, NULL, JSCAN_CASE_AUTO, NULL, 0);
	r = jscan_set_direction(engine, JSCAN_BACKWARD);
	if (r >= 0)
		r = jscan_next(engine, &entry);
	if (r > 0)
		jscan_entry_cursor(entry, show->last_cursor);
	if (r < 0)
		return message_error("Failed to find the last entry: %s", strerror(-r));
	return archive_set_pattern(show->archive);
}

/* Sets how many entries to show, from which end, between which times, and where a cursor says to
 * begin. */
static int show_position(struct show *show)
{
	const struct settings *settings = show->settings;
	struct jscan *engine = show->archive->engine;
	int r = show_read_cursor(show);

	if (r >= 0)
		r = show_keep_last_cursor(show);
	if (r < 0)
		return r;
	r = jscan_set_direction(engine,
				settings->seen[OPTION_REVERSE] ? JSCAN_BACKWARD : JSCAN_FORWARD);
	if (r >= 0)
		r = jscan_set_bounds(engine, settings->since_usec, settings->until_usec);
	if (r >= 0)
		r = jscan_set_complete(engine, settings->seen[OPTION_COMPLETE]);
	if (settings->cursor && r >= 0)
		r = jscan_seek_cursor(engine, settings->cursor);
	else if (show->after_cursor && r >= 0)
		r = jscan_seek_after_cursor(engine, show->after_cursor);
	if (r < 0)
		return message_error("Failed to seek to cursor: %s", strerror(-r));
	if (settings->checkpoint && checkpoint_file_begin(engine, settings->checkpoint) < 0)
		return -EINVAL;
	if (settings->lines == LINES_ALL)
		return 0;
	if (settings->seen[OPTION_FOLLOW] && !show_is_tail(show))
		return 0; /* from the cursor on, without end */
	if (settings->lines == 0 && !settings->seen[OPTION_FOLLOW])
		return 0; /* show_no_lines() looks at one entry */
	r = show_is_tail(show) ? jscan_set_tail(engine, settings->lines)
			       : jscan_set_limit(engine, settings->lines);
	return r < 0 ? message_error("Failed to find the first entry: %s", strerror(-r)) : 0;
}

/* With -n 0 nothing is shown; the cursor is that of the entry at which showing would begin. */
static int show_no_lines(struct show *show)
{
	struct jscan *engine = show->archive->engine;
	const struct jscan_entry *entry;
	int r = 0;

	frame_write(show->settings->compression, "");
	if (!show_wants_cursor(show))
		return 0;
	if (show_is_tail(show))
		r = jscan_set_direction(engine, JSCAN_BACKWARD);
	if (r >= 0)
		r = jscan_set_grep(engine, NULL, JSCAN_CASE_AUTO, NULL, 0);
	if (r >= 0)
		r = jscan_next(engine, &entry);
	return r < 0 ? message_error("Failed to find the last entry: %s", strerror(-r)) : 0;
}

/* Whether NAME can name a field. */
static bool show_field_is_valid(const char *name)
{
	size_t size = strspn(name, "ABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_");

	return size > 0 && size <= 64 && name[size] == '\0' &&
	       !(name[0] >= '0' && name[0] <= '9') && !(name[0] == '_' && name[1] == '_');
}

/* Whether -o cat has to look for a field whose name cannot be one. */
static bool show_has_bad_field(const struct settings *settings)
{
	if (settings->mode != JSCAN_MODE_CAT)
		return false;
	for (size_t i = 0; i < settings->field_count; i++)
		if (!show_field_is_valid(settings->fields[i]))
			return true;
	return false;
}

/* The entry slot of the sink that takes the output's place then: the first entry is one too many.
 */
static int show_refuse_entry(void *userdata, const struct jscan_entry *entry,
			     const struct jscan_entry_context *context)
{
	struct show *show = userdata;

	(void)entry;
	(void)context;
	show->refused = true;
	return -EINVAL;
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
	case JSCAN_MODE_JSON_STABLE:
		return true;
	default:
		return false;
	}
}

/* Whether --status shortens lines: on a terminal, where no pager can scroll to their ends. */
static bool show_shortens_status(const struct settings *settings)
{
	return settings->seen[OPTION_STATUS] && !settings->seen[OPTION_FULL] && !pager_runs() &&
	       isatty(STDOUT_FILENO);
}

/* Sets what the environment says of how text looks, and the catalog where it is needed. */
static void show_set_look(struct show *show, struct jscan_output *output)
{
	const struct settings *settings = show->settings;
	struct look look;

	look_init(&look);
	output->colours = look.colours;
	output->excluded = (const char *const *)settings->excluded;
	if (look.links)
		output->flags |= JSCAN_OUTPUT_LINKS;
	if (look.ascii)
		output->flags |= JSCAN_OUTPUT_ASCII;
	if (!look.underline)
		output->flags |= JSCAN_OUTPUT_NO_UNDERLINE;
	if (settings->lenient)
		output->flags |= JSCAN_OUTPUT_LENIENT;
	if (settings->shorten || show_shortens_status(settings)) {
		output->flags |= JSCAN_OUTPUT_SHORTEN;
		output->width = look.width;
	}
	if (settings->seen[OPTION_CATALOG])
		output->flags |= JSCAN_OUTPUT_CATALOG;
	if (look.links || settings->seen[OPTION_CATALOG]) {
		output->catalog_error =
			jscan_catalog_open(getenv("SYSTEMD_CATALOG"), setlocale(LC_MESSAGES, NULL),
					   &show->archive->catalog);
		output->catalog = show->archive->catalog;
	}
}

/* Whether entries go to standard output. */
static bool show_prints(const struct settings *settings)
{
	return settings->sink_count == 0 || settings->seen[OPTION_OUTPUT];
}

/* Attaches standard output, if entries go there. */
static int show_attach_standard_output(struct show *show, const struct jscan_output *output)
{
	int r;

	if (!show_prints(show->settings))
		return 0;
	r = jscan_add_output(show->archive->engine, output, STDOUT_FILENO);
	return r < 0 ? message_error("Failed to set up the output: %s", strerror(-r)) : 0;
}

/* Attaches the outputs, and whatever looks on. */
static int show_attach(struct show *show)
{
	static const struct jscan_sink_ops refusal = {
		.size = sizeof(refusal),
		.name = "refusal",
		.entry = show_refuse_entry,
	};
	const struct settings *settings = show->settings;
	const bool *seen = settings->seen;
	struct jscan_output output = {
		.size = sizeof(output),
		.mode = settings->mode,
		.fields = (const char *const *)settings->fields,
		.compression = settings->compression,
		.compression_level = settings->compression_level,
	};
	int r;

	if (show_has_bad_field(settings))
		return jscan_add_sink(show->archive->engine, &refusal, show) < 0 ? message_memory()
										 : 0;
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
	show_set_look(show, &output);
	r = show_attach_standard_output(show, &output);
	if (r >= 0)
		r = sinks_attach(settings->sinks, settings->sink_count, show->archive->engine,
				 &output, !seen[OPTION_MERGE] && !seen[OPTION_QUIET]);
	if (r < 0)
		return r;
	/* A sink that looks on has all fields decoded: not for modes that need only a few. */
	show->watch.show_progress = show_prints(settings) &&
				    show_prints_all_fields(settings->mode) && !seen[OPTION_QUIET] &&
				    watch_progress_wanted();
	r = watch_attach(&show->watch, show->archive->engine);
	return r < 0 ? message_memory() : 0;
}

/* How many entries the library has handed out. */
static uint64_t show_count(const struct show *show)
{
	struct jscan_stats stats = { .size = sizeof(stats) };

	jscan_get_stats(show->archive->engine, &stats);
	return stats.entries;
}

/* Says what has ended the scan. */
static int show_explain(const struct show *show, int error)
{
	const struct settings *settings = show->settings;
	int sink = jscan_failed_sink(show->archive->engine) - (show_prints(settings) ? 1 : 0);

	if (error == -EINVAL && *jscan_grep_failure(show->archive->engine))
		return message_error("Pattern matching failed: %s",
				     jscan_grep_failure(show->archive->engine));
	if (show->refused)
		return message_error("Failed to get data: %s", strerror(EINVAL));
	if (sink >= 0 && (size_t)sink < settings->sink_count)
		return message_error("Sink '%s' failed: %s", settings->sinks[sink].text,
				     strerror(-error));
	return message_error("Failed to print entries: %s", strerror(-error));
}

/* Has sinks make what they make of no entry. */
static int show_nothing(struct show *show)
{
	int r;

	if (show->settings->sink_count == 0)
		return 0;
	r = show_attach(show);
	if (r >= 0 && jscan_set_limit(show->archive->engine, 0) >= 0) {
		r = jscan_run(show->archive->engine);
		if (r < 0)
			show_explain(show, r);
	}
	return sinks_close(show->settings->sinks, show->settings->sink_count) < 0 ? -EINVAL : r;
}

/* Runs the scan. Returns 1 if it showed something, 0 if not. */
static int show_scan(struct show *show)
{
	uint64_t before;
	int r;

	if (show->settings->lines == 0 && !show->settings->seen[OPTION_FOLLOW]) {
		r = show_no_lines(show);
		return r < 0 ? r : show_nothing(show);
	}
	r = show_attach(show);
	if (r < 0)
		return r;
	before = show_count(show);
	show_running = show->archive->engine;
	r = jscan_run(show->archive->engine);
	show_running = NULL;
	watch_wipe(&show->watch);
	if (r == -EPIPE && pager_runs()) {
		show->stopped = true; /* by who reads */
		return 0;
	}
	if (r < 0 && r != -ECANCELED) /* that has been explained */
		show_explain(show, r);
	if (sinks_close(show->settings->sinks, show->settings->sink_count) < 0 || r < 0)
		return -EINVAL;
	show->stopped = r > 0;
	return show_count(show) > before;
}

/* Prints the cursor of the last entry, or keeps it in a file. */
static int show_cursor(struct show *show)
{
	const struct settings *settings = show->settings;
	char cursor[JSCAN_CURSOR_SIZE], line[JSCAN_CURSOR_SIZE + sizeof("-- cursor: \n")];

	if (!show_wants_cursor(show))
		return 0;
	if (jscan_position_cursor(show->archive->engine, cursor) <= 0)
		memcpy(cursor, show->last_cursor, sizeof(cursor));
	if (*cursor == '\0')
		return 0;
	if (settings->seen[OPTION_SHOW_CURSOR]) {
		snprintf(line, sizeof(line), "-- cursor: %s\n", cursor);
		frame_write(settings->compression, line);
	}
	fflush(stdout);
	return settings->cursor_file ? cursor_file_write(settings->cursor_file, cursor) : 0;
}

/* A jscan_file_fn: widens a span of time to what is in a file. */
static int show_span_add(void *userdata, const struct jscan_file_info *file)
{
	struct show_span *span = userdata;

	if (file->head_realtime_usec == 0 || file->tail_realtime_usec == 0)
		return 0;
	if (!span->known || file->head_realtime_usec < span->begin)
		span->begin = file->head_realtime_usec;
	if (!span->known || file->tail_realtime_usec > span->end)
		span->end = file->tail_realtime_usec;
	span->known = true;
	return 0;
}

/* The line about the time that all files span, for who asks for all there is to say. */
static void show_print_span(struct show *show)
{
	const struct settings *settings = show->settings;
	bool utc = settings->seen[OPTION_UTC], follows = settings->seen[OPTION_FOLLOW];
	char *(*format)(uint64_t usec, char *text) = utc ? stamp_format_utc : stamp_format;
	char begin[STAMP_SIZE], end[STAMP_SIZE], line[256];
	struct show_span span = { 0 };

	if (!message_debugging() || settings->quiet || (settings->lines == 0 && !follows))
		return;
	if (jscan_list_files(show->archive->engine, show_span_add, &span) < 0 || !span.known)
		return;
	if (follows)
		snprintf(line, sizeof(line), "-- Journal begins at %s. --\n",
			 format(span.begin, begin));
	else
		snprintf(line, sizeof(line), "-- Journal begins at %s, ends at %s. --\n",
			 format(span.begin, begin), format(span.end, end));
	frame_write(settings->compression, line);
	fflush(stdout);
}

/* Prints the entries and what comes after them. */
static int show_run(struct show *show)
{
	const struct settings *settings = show->settings;
	int r;

	fflush(stdout);
	if (!settings->seen[OPTION_FOLLOW] && show_prints(settings))
		pager_open(settings);
	show_print_span(show);
	r = show_scan(show);
	/* A follower is meant to be stopped: what comes at the end is printed all the same. */
	if (settings->seen[OPTION_FOLLOW] && r >= 0)
		return show_cursor(show);
	if (r < 0 || show->stopped)
		return r;
	if (r == 0 && !settings->quiet && show_prints(settings))
		frame_write(settings->compression, "-- No entries --\n");
	if (show_cursor(show) < 0)
		return -EINVAL;
	/* As for grep, it is a failure to find nothing. */
	return r == 0 && settings->pattern ? -ENOENT : 0;
}

int show(struct archive *archive, bool *ret_stopped)
{
	struct show show = { .settings = archive->settings, .archive = archive };
	int r = filter_add(archive);

	if (r == 0) {
		frame_write(show.settings->compression, "");
		return show_nothing(&show);
	}
	if (r < 0)
		return r;
	if (archive->settings->seen[OPTION_FOLLOW] && archive->settings->standard_input)
		return message_error("The --follow switch is not supported in conjunction with "
				     "reading from STDIN.");
	r = show_position(&show);
	if (r >= 0)
		r = show_run(&show);
	free(show.kept_cursor);
	*ret_stopped = show.stopped;
	return r;
}

int show_prepare(struct archive *archive)
{
	struct show show = { .settings = archive->settings, .archive = archive };
	int r = filter_add(archive);

	if (r <= 0)
		return r;
	r = show_position(&show);
	free(show.kept_cursor);
	if (r >= 0 && archive->settings->lines == 0) /* which show_position() leaves to others */
		r = jscan_set_limit(archive->engine, 0);
	return r < 0 ? r : 1;
}
