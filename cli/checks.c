// SPDX-License-Identifier: MIT
/*
 * Checks between options, in journalctl's order: which message a wrong command line gets depends
 * on it. What a single option may say is checked where it is applied, in settings.c.
 */
#include "checks.h"

#include <unistd.h>

#include "messages.h"
#include "summary.h"
#include "values.h"

/* How many of the options IDS[0 .. COUNT - 1] were given. */
static unsigned checks_count(const struct settings *settings, const enum option_id *ids,
			     size_t count)
{
	unsigned given = 0;

	for (size_t i = 0; i < count; i++)
		given += settings->seen[ids[i]];
	return given;
}

/* Those named behind SETTINGS. */
#define COUNT(settings, ...)                                                                       \
	checks_count(settings, (const enum option_id[]){ __VA_ARGS__ },                            \
		     sizeof((const enum option_id[]){ __VA_ARGS__ }) / sizeof(enum option_id))

/* Whether -F or -N comes with a filter, which is refused. */
static bool checks_fields_filtered(const struct settings *settings)
{
	return (settings->action == ACTION_FIELD_NAMES ||
		settings->action == ACTION_FIELD_VALUES) &&
	       (settings->boot_asked ||
		COUNT(settings, OPTION_SINCE, OPTION_UNTIL, OPTION_CURSOR, OPTION_AFTER_CURSOR,
		      OPTION_CURSOR_FILE, OPTION_DMESG, OPTION_UNIT, OPTION_USER_UNIT,
		      OPTION_INVOCATION, OPTION_LATEST_INVOCATION, OPTION_IDENTIFIER,
		      OPTION_EXCLUDE_IDENTIFIER, OPTION_PRIORITY, OPTION_FACILITY,
		      OPTION_GREP) > 0);
}

/* Whether --gaps comes with a filter that says nothing about entries that are not there. */
static bool checks_gaps_filtered(const struct settings *settings)
{
	return settings->action == ACTION_GAPS &&
	       COUNT(settings, OPTION_CURSOR, OPTION_AFTER_CURSOR, OPTION_CURSOR_FILE, OPTION_DMESG,
		     OPTION_UNIT, OPTION_USER_UNIT, OPTION_INVOCATION, OPTION_LATEST_INVOCATION,
		     OPTION_IDENTIFIER, OPTION_EXCLUDE_IDENTIFIER, OPTION_PRIORITY, OPTION_FACILITY,
		     OPTION_GREP) > 0;
}

/* Whether a checkpoint comes with what reads from elsewhere. */
static bool checks_checkpoint_elsewhere(const struct settings *settings)
{
	bool tail = settings->lines != LINES_ALL && !settings->lines_first;

	return settings->checkpoint &&
	       (tail || COUNT(settings, OPTION_CURSOR, OPTION_AFTER_CURSOR, OPTION_CURSOR_FILE,
			      OPTION_REVERSE) > 0);
}

int checks_pass(const struct settings *settings)
{
	const bool *seen = settings->seen;

	if (COUNT(settings, OPTION_DIRECTORY, OPTION_MACHINE, OPTION_IMAGE) +
		    (settings->root != NULL) + (settings->file_count > 0) +
		    settings->standard_input >
	    1)
		return message_error("Please specify at most one of -D/--directory=, --file=, "
				     "-M/--machine=, --root=, --image=.");
	if (settings->since_usec > settings->until_usec)
		return message_error("--since= must be before --until=.");
	if (COUNT(settings, OPTION_SINCE, OPTION_CURSOR, OPTION_CURSOR_FILE, OPTION_AFTER_CURSOR) >
	    1)
		return message_error("Please specify only one of --since=, --cursor=, "
				     "--cursor-file=, and --after-cursor=.");
	if (seen[OPTION_FOLLOW] && seen[OPTION_REVERSE])
		return message_error("Please specify either --reverse or --follow, not both.");
	if (summary_takes_matches(settings->action) && settings->lines_first &&
	    (seen[OPTION_REVERSE] || seen[OPTION_FOLLOW]))
		return message_error("--lines=+N is unsupported when --reverse or --follow is "
				     "specified.");
	if (!summary_takes_matches(settings->action) && settings->argument_count > 0 &&
	    settings->action != ACTION_LIST_CATALOG && settings->action != ACTION_DUMP_CATALOG)
		return message_error("Extraneous arguments starting with '%s'",
				     settings->arguments[0]);
	if (checks_gaps_filtered(settings))
		return message_error("--gaps can be limited by boot and time only.");
	if (checks_fields_filtered(settings))
		return message_error("-F/--field= and -N/--fields cannot be combined with options "
				     "that limit the journal.");
	if (seen[OPTION_COMPRESS] && settings->action != ACTION_SHOW)
		return message_error("--compress= is for entries only.");
	if (seen[OPTION_COMPRESS] && isatty(STDOUT_FILENO))
		return message_error("--compress= does not write to a terminal.");
	if (settings->checkpoint && settings->action != ACTION_SHOW)
		return message_error("--checkpoint= is for entries only.");
	if (checks_checkpoint_elsewhere(settings))
		return message_error("--checkpoint= says where to begin: --cursor=, "
				     "--after-cursor=, --cursor-file=, --reverse and --lines=N "
				     "do not go with it, but --lines=+N does.");
	if (settings->sink_count > 0 && settings->action != ACTION_SHOW)
		return message_error("--sink= is for entries only.");
	if (seen[OPTION_OUTPUT] &&
	    sinks_use_standard_output(settings->sinks, settings->sink_count))
		return message_error("Please specify either --output= or a sink for standard "
				     "output, not both.");
	if ((settings->boot_filter || settings->action == ACTION_LIST_BOOTS) && seen[OPTION_MERGE])
		return message_error("Using --boot or --list-boots with --merge is not supported.");
	return 1;
}
