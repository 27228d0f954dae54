// SPDX-License-Identifier: MIT
/*
 * Invocations of a unit: finding the one that --invocation means, and listing them.
 *
 * An invocation is an ID that entries of the unit carry in one of four fields. The engine lists
 * them from the indexes; for the ends of each all entries that carry the ID count, of whatever
 * unit.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "boots.h"
#include "filter.h"
#include "invocations.h"
#include "messages.h"
#include "runs.h"
#include "units.h"

/* In the order in which an entry is asked for them. */
static const char *const invocation_fields[] = { "_SYSTEMD_INVOCATION_ID",
						 "OBJECT_SYSTEMD_INVOCATION_ID", "INVOCATION_ID",
						 "USER_INVOCATION_ID" };
#define FIELD_COUNT (sizeof(invocation_fields) / sizeof(invocation_fields[0]))

/* Adds the entries that carry ID to what the current group of the match lets through. */
static int invocations_match_id(struct archive *archive, const jscan_id *id)
{
	char hex[JSCAN_ID_TEXT_SIZE], text[64 + JSCAN_ID_TEXT_SIZE];
	int r = 0;

	jscan_id_format(id, hex);
	for (size_t i = 0; i < FIELD_COUNT && r >= 0; i++) {
		int size = snprintf(text, sizeof(text), "%s=%s", invocation_fields[i], hex);

		r = jscan_match(archive->engine, text, (size_t)size);
		if (r >= 0)
			r = jscan_match_or(archive->engine);
	}
	return r;
}

int invocations_match(struct archive *archive, const jscan_id *id)
{
	int r = invocations_match_id(archive, id);

	return r < 0 ? r : jscan_match_and(archive->engine);
}

/* ---- lists ------------------------------------------------------------------------------ */

/* What is kept of a listing. */
struct invocations_list {
	struct runs *runs;
	const jscan_id *without; /* or NULL: an ID that is there already */
};

/* A jscan_invocation_fn: keeps one. */
static int invocations_keep(void *userdata, const struct jscan_invocation *invocation)
{
	struct invocations_list *list = userdata;
	const struct run run = {
		.id = invocation->invocation_id,
		.first_usec = invocation->first_realtime_usec,
		.last_usec = invocation->last_realtime_usec,
		.first_rank = list->runs->count,
	};

	if (list->without && memcmp(list->without, &run.id, sizeof(run.id)) == 0)
		return 0;
	return runs_add(list->runs, &run);
}

/*
 * Lists the invocations of a unit, within the boot that is asked for, in the order of reading.
 * CURSOR and ID, if not NULL, are where that begins, and of which invocation. 0, or an error that
 * has been told.
 */
static int invocations_read_list(struct archive *archive, const struct units *units,
				 enum jscan_direction direction,
				 struct jscan_invocations_options *options, const jscan_id *id,
				 struct runs *runs)
{
	struct invocations_list list = { runs, id };
	jscan_id boot;
	int r = 0;

	jscan_match_flush(archive->engine);
	if (archive->settings->boot_filter) {
		r = boots_find(archive, &boot);
		if (r < 0)
			return r;
		if (r > 0) {
			options->boot_id = &boot;
			r = filter_match_boot(archive, &boot);
			if (r < 0)
				return r;
		}
	}
	r = units_match(archive, units, true);
	if (r >= 0)
		r = jscan_set_direction(archive->engine, direction);
	if (r >= 0)
		r = jscan_list_invocations(archive->engine, options, invocations_keep, &list);
	return r < 0 ? message_error("Failed to read invocations: %s", strerror(-r)) : 0;
}

/* ---- finding one ------------------------------------------------------------------------ */

/* Finds the one unit that is meant. OPTION is what needs it, in messages. */
static int invocations_unit(struct archive *archive, const char *option, struct units *units)
{
	const struct settings *settings = archive->settings;
	size_t given = settings->unit_count + settings->user_unit_count;
	const char *text = settings->unit_count ? settings->units[0]
			   : given              ? settings->user_units[0]
						: "";
	int r;

	*units = (struct units){ 0 };
	if (given == 0)
		return message_error("Using %s requires a unit. Please specify a unit name with "
				     "-u/--unit=/--user-unit=.",
				     option);
	if (given > 1)
		return message_error("Using %s with multiple units is not supported.", option);
	r = units_find(archive, true, units);
	if (r == -ENODATA)
		return message_error("No matching unit found for '%s' in journal.", text);
	if (r < 0)
		return message_error("Failed to mangle unit name '%s': %s", text, strerror(-r));
	if (units->system_count + units->user_count > 1)
		return message_error("Multiple matching units found for '%s' in journal.", text);
	return 0;
}

/* The end of an invocation that reading in this direction meets first: 1 with its cursor, 0 if it
 * is not in the journal at all. */
static int invocations_place(struct archive *archive, const jscan_id *id,
			     enum jscan_direction direction, char cursor[JSCAN_CURSOR_SIZE])
{
	const struct jscan_entry *entry;
	int r;

	jscan_match_flush(archive->engine);
	r = filter_add_boot(archive);
	if (r >= 0)
		r = invocations_match(archive, id);
	/* Reading forward, a follower would wait for an invocation that is not there. */
	if (r >= 0)
		r = jscan_set_direction(archive->engine, JSCAN_BACKWARD);
	if (r >= 0)
		r = jscan_next(archive->engine, &entry);
	if (r > 0 && direction == JSCAN_FORWARD) {
		r = jscan_set_direction(archive->engine, JSCAN_FORWARD);
		if (r >= 0)
			r = jscan_next(archive->engine, &entry);
	}
	if (r > 0)
		jscan_entry_cursor(entry, cursor);
	return r;
}

/*
 * Collects the unit's invocations as far as a descriptor needs them, in the direction that it
 * counts in: from the end of the journal that it counts from, or, if it has an ID, from the place
 * of that invocation, whose unit may be another. 0, or an error that has been told.
 */
static int invocations_read(struct archive *archive, const struct descriptor *descriptor,
			    struct runs *runs)
{
	bool newest_first = descriptor->offset <= 0;
	size_t steps = newest_first ? (size_t) - (int64_t)descriptor->offset
				    : (size_t)descriptor->offset;
	enum jscan_direction direction = newest_first ? JSCAN_BACKWARD : JSCAN_FORWARD;
	const jscan_id *id = descriptor->has_id ? &descriptor->id : NULL;
	struct jscan_invocations_options options = JSCAN_INVOCATIONS_OPTIONS_INIT;
	char cursor[JSCAN_CURSOR_SIZE];
	struct run first = { 0 };
	struct units units;
	int r = invocations_unit(archive, "-I/--invocation= with an offset", &units);

	if (r < 0)
		goto out;
	options.flags = JSCAN_INVOCATIONS_WITHOUT_ENDS;
	options.count = steps + (id || newest_first);
	if (id) {
		first.id = *id;
		options.cursor = cursor;
		r = runs_add(runs, &first);
		if (r >= 0)
			r = invocations_place(archive, id, newest_first ? JSCAN_FORWARD
									: JSCAN_BACKWARD, cursor);
		if (r < 0)
			message_error("Failed to read invocations: %s", strerror(-r));
		if (r <= 0)
			goto out;
	}
	r = invocations_read_list(archive, &units, direction, &options, id, runs);
out:
	units_done(&units);
	return r < 0 ? r : 0;
}

/* The run that a descriptor means, in a list in the order of reading. */
static const struct run *invocations_choose(const struct runs *runs,
					    const struct descriptor *descriptor)
{
	bool newest_first = descriptor->offset <= 0;
	size_t steps = newest_first ? (size_t) - (int64_t)descriptor->offset
				    : (size_t)descriptor->offset;
	size_t at = descriptor->has_id || newest_first ? steps : steps - 1;

	return at < runs->count ? &runs->rows[at] : NULL;
}

int invocations_find(struct archive *archive, jscan_id *ret_id)
{
	const struct descriptor *descriptor = &archive->settings->invocation;
	char text[DESCRIPTOR_TEXT_SIZE];
	struct runs runs = { 0 };
	const struct run *run = NULL;
	int r;

	jscan_set_grep(archive->engine, NULL, JSCAN_CASE_AUTO, NULL, 0);
	if (descriptor->has_id && descriptor->offset == 0) {
		char cursor[JSCAN_CURSOR_SIZE];

		r = invocations_place(archive, &descriptor->id, JSCAN_BACKWARD, cursor);
		if (r > 0)
			*ret_id = descriptor->id;
	} else {
		r = invocations_read(archive, descriptor, &runs);
		if (r < 0)
			goto out;
		run = invocations_choose(&runs, descriptor);
		r = run != NULL;
		if (run)
			*ret_id = run->id;
	}
	if (r == 0)
		r = message_error("No journal entry found for the invocation (%s).",
				  descriptor_format(descriptor, text));
	else if (r < 0)
		message_error("Failed to read invocations: %s", strerror(-r));
out:
	jscan_match_flush(archive->engine);
	runs_done(&runs);
	return r < 0 ? r : archive_set_pattern(archive);
}

/* ---- showing all ------------------------------------------------------------------------ */

/* Turns the list round. */
static void invocations_reverse(struct runs *runs)
{
	for (size_t i = 0; i < runs->count / 2; i++) {
		struct run run = runs->rows[i];

		runs->rows[i] = runs->rows[runs->count - 1 - i];
		runs->rows[runs->count - 1 - i] = run;
	}
}

int invocations_list(struct archive *archive)
{
	const struct settings *settings = archive->settings;
	struct jscan_invocations_options options = JSCAN_INVOCATIONS_OPTIONS_INIT;
	bool first = settings->lines_first;
	struct runs runs = { 0 };
	struct units units;
	int r = invocations_unit(archive, "--list-invocations", &units);

	if (r < 0)
		goto out;
	jscan_set_grep(archive->engine, NULL, JSCAN_CASE_AUTO, NULL, 0);
	options.count = settings->lines < UINT64_MAX ? settings->lines : 0;
	if (settings->lines > 0)
		r = invocations_read_list(archive, &units, first ? JSCAN_FORWARD : JSCAN_BACKWARD,
					  &options, NULL, &runs);
	if (r < 0)
		goto out;
	if (!first)
		invocations_reverse(&runs);
	r = runs_print(&runs, settings, "INVOCATION ID", "invocation_id");
	if (r < 0)
		message_error("Failed to read invocations: %s", strerror(-r));
	if (r == 0) {
		if (!settings->quiet)
			message_error("No invocation ID for %s found.",
				       units.system_count ? units.system[0] : units.user[0]);
		r = -ENODATA;
	}
out:
	runs_done(&runs);
	units_done(&units);
	return r;
}
