// SPDX-License-Identifier: MIT
/*
 * What the command line asks for: options applied from left to right, then the checks between
 * them, in journalctl's order and words.
 *
 * An option that this release does not act on is remembered, and reported after those checks, so
 * that a wrong combination is called wrong whether or not its parts work yet. Nothing is opened
 * here.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "messages.h"
#include "settings.h"
#include "values.h"
#include "words.h"

/* The modes in the order of -o help. */
static const char *const settings_modes[] = {
	"short",         "short-full",      "short-iso",   "short-iso-precise",
	"short-precise", "short-monotonic", "short-delta", "short-unix",
	"verbose",       "export",          "json",        "json-pretty",
	"json-sse",      "json-seq",        "cat",         "with-unit",
};

/* Sets the output mode; some modes imply --quiet, and a later mode does not take that back. */
static int settings_output(struct settings *settings, const char *name)
{
	if (strcmp(name, "help") == 0) {
		for (size_t i = 0; i < sizeof(settings_modes) / sizeof(settings_modes[0]); i++)
			puts(settings_modes[i]);
		return 0;
	}
	if (jscan_mode_parse(name, &settings->mode) < 0)
		return message_error("Unknown output format '%s'.", name);
	switch (settings->mode) {
	case JSCAN_MODE_EXPORT:
	case JSCAN_MODE_JSON:
	case JSCAN_MODE_JSON_PRETTY:
	case JSCAN_MODE_JSON_SSE:
	case JSCAN_MODE_JSON_SEQ:
	case JSCAN_MODE_CAT:
		settings->quiet = true;
		return 1;
	default:
		return 1;
	}
}

/* -n: its value, the next word if that parses, or 10. */
static int settings_lines(struct settings *settings, struct words *words, const struct word *word)
{
	settings->lines_given = true;
	if (word->value) {
		if (value_lines(word->value, &settings->lines, &settings->lines_first) < 0)
			return message_error("Failed to parse --lines='%s'.", word->value);
		return 1;
	}
	if (word->next && value_lines(word->next, &settings->lines, &settings->lines_first) >= 0) {
		words_take(words);
		return 1;
	}
	settings->lines = 10;
	settings->lines_first = false;
	return 1;
}

/* -b: only as far as the checks between options need it. */
static int settings_boot(struct settings *settings, struct words *words, const struct word *word)
{
	bool all = false;

	if (word->value) {
		if (value_boot(word->value, &all) < 0)
			return message_error("Failed to parse boot descriptor '%s'", word->value);
	} else if (word->next && value_boot(word->next, &all) >= 0) {
		words_take(words);
	}
	settings->boot_asked = settings->boot_filter = !all;
	return 1;
}

/* --io, --jobs, --memory, --plan: how the engine works. */
static int settings_engine(struct settings *settings, enum option_id id, const char *value)
{
	static const char *const methods[] = { "auto", "uring", "threads", "sync" };
	static const char *const plans[] = { "auto", "scan" };
	int number, r = -EINVAL;

	switch (id) {
	case OPTION_IO:
		for (unsigned i = 0; i < sizeof(methods) / sizeof(methods[0]); i++)
			if (strcmp(value, methods[i]) == 0) {
				settings->engine.io = i;
				r = 0;
			}
		break;
	case OPTION_PLAN:
		for (unsigned i = 0; i < sizeof(plans) / sizeof(plans[0]); i++)
			if (strcmp(value, plans[i]) == 0) {
				settings->engine.plan = i;
				r = 0;
			}
		break;
	case OPTION_JOBS:
		r = value_integer(value, &number);
		if (r == 0 && (number < 1 || number > 1024))
			r = -ERANGE;
		if (r == 0)
			settings->engine.jobs = (uint32_t)number;
		break;
	default:
		r = value_size(value, &settings->engine.memory_bytes);
		if (r == 0 && settings->engine.memory_bytes < 4u << 20)
			return message_error("--memory= must be at least 4M.");
		break;
	}
	if (r < 0)
		return message_error("Failed to parse --%s='%s'.", option_table[id].name, value);
	return 1;
}

/* --stats: its format. */
static int settings_stats(struct settings *settings, const char *value)
{
	if (!value || strcmp(value, "text") == 0)
		settings->stats = STATS_TEXT;
	else if (strcmp(value, "json") == 0)
		settings->stats = STATS_JSON;
	else
		return message_error("Failed to parse --stats='%s'.", value);
	return 1;
}

/* Adds a file, or standard input. */
static int settings_file(struct settings *settings, const char *path)
{
	if (strcmp(path, "-") == 0) {
		settings->standard_input = true;
		return 1;
	}
	if (list_add(&settings->files, &settings->file_count, path, strlen(path)) < 0)
		return message_memory();
	return 1;
}

/* Applies one option: 1 to go on, 0 if it was an action that ends the program. */
static int settings_apply(struct settings *settings, struct words *words, const struct word *word)
{
	const char *value = word->value;

	settings->seen[word->id] = true;
	switch (word->id) {
	case OPTION_HELP:
		options_print_help(settings->program);
		return 0;
	case OPTION_VERSION:
		printf("jscan %s\n", jscan_version());
		return 0;
	case OPTION_DIRECTORY:
		if (list_add(&settings->directories, &settings->directory_count, value,
			     strlen(value)) < 0)
			return message_memory();
		return 1;
	case OPTION_FILE:
		return settings_file(settings, value);
	case OPTION_OUTPUT:
		return settings_output(settings, value);
	case OPTION_OUTPUT_FIELDS:
		if (list_add_items(&settings->fields, &settings->field_count, value) < 0)
			return message_memory();
		return 1;
	case OPTION_LINES:
		return settings_lines(settings, words, word);
	case OPTION_BOOT:
		return settings_boot(settings, words, word);
	case OPTION_THIS_BOOT:
		settings->boot_asked = settings->boot_filter = true;
		return 1;
	case OPTION_CURSOR:
		settings->cursor = value;
		return 1;
	case OPTION_AFTER_CURSOR:
		settings->after_cursor = value;
		return 1;
	case OPTION_QUIET:
		settings->quiet = true;
		return 1;
	case OPTION_STATS:
		return settings_stats(settings, value);
	case OPTION_IO:
	case OPTION_JOBS:
	case OPTION_MEMORY:
	case OPTION_PLAN:
		return settings_engine(settings, word->id, value);
	default: /* a flag, which seen[] holds */
		return 1;
	}
}

/* How many of the options IDS[0 .. COUNT - 1] were given. */
static unsigned settings_count(const struct settings *settings, const enum option_id *ids,
			       size_t count)
{
	unsigned given = 0;

	for (size_t i = 0; i < count; i++)
		given += settings->seen[ids[i]];
	return given;
}

#define COUNT(settings, ...)                                                                       \
	settings_count(settings, (const enum option_id[]){ __VA_ARGS__ },                          \
		       sizeof((const enum option_id[]){ __VA_ARGS__ }) / sizeof(enum option_id))

/* Whether something other than printing entries was asked for. */
static bool settings_other_action(const struct settings *settings)
{
	return COUNT(settings, OPTION_FIELDS, OPTION_FIELD, OPTION_LIST_BOOTS,
		     OPTION_LIST_INVOCATIONS, OPTION_LIST_NAMESPACES, OPTION_DISK_USAGE,
		     OPTION_VACUUM_SIZE, OPTION_VACUUM_FILES, OPTION_VACUUM_TIME, OPTION_VERIFY,
		     OPTION_VERIFY_KEY, OPTION_SYNC, OPTION_RELINQUISH_VAR,
		     OPTION_SMART_RELINQUISH_VAR, OPTION_FLUSH, OPTION_ROTATE, OPTION_HEADER,
		     OPTION_LIST_CATALOG, OPTION_DUMP_CATALOG, OPTION_UPDATE_CATALOG,
		     OPTION_SETUP_KEYS, OPTION_NEW_ID128, OPTION_INTROSPECT_CLI) > 0;
}

/* Whether -F or -N comes with a filter, which is refused. */
static bool settings_fields_filtered(const struct settings *settings)
{
	return COUNT(settings, OPTION_FIELD, OPTION_FIELDS) > 0 &&
	       (settings->boot_asked ||
		COUNT(settings, OPTION_SINCE, OPTION_UNTIL, OPTION_CURSOR, OPTION_AFTER_CURSOR,
		      OPTION_CURSOR_FILE, OPTION_DMESG, OPTION_UNIT, OPTION_USER_UNIT,
		      OPTION_INVOCATION, OPTION_LATEST_INVOCATION, OPTION_IDENTIFIER,
		      OPTION_EXCLUDE_IDENTIFIER, OPTION_PRIORITY, OPTION_FACILITY,
		      OPTION_GREP) > 0);
}

/* The checks between options, the first that fails. */
static int settings_check(const struct settings *settings)
{
	const bool *seen = settings->seen;

	if (COUNT(settings, OPTION_DIRECTORY, OPTION_MACHINE, OPTION_ROOT, OPTION_IMAGE) +
		    (settings->file_count > 0) + settings->standard_input >
	    1)
		return message_error("Please specify at most one of -D/--directory=, --file=, "
				     "-M/--machine=, --root=, --image=.");
	if (COUNT(settings, OPTION_SINCE, OPTION_CURSOR, OPTION_CURSOR_FILE, OPTION_AFTER_CURSOR) >
	    1)
		return message_error("Please specify only one of --since=, --cursor=, "
				     "--cursor-file=, and --after-cursor=.");
	if (seen[OPTION_FOLLOW] && seen[OPTION_REVERSE])
		return message_error("Please specify either --reverse or --follow, not both.");
	if (!settings_other_action(settings) && settings->lines_first &&
	    (seen[OPTION_REVERSE] || seen[OPTION_FOLLOW]))
		return message_error("--lines=+N is unsupported when --reverse or --follow is "
				     "specified.");
	if (settings_other_action(settings) && settings->argument_count > 0 &&
	    !seen[OPTION_LIST_CATALOG] && !seen[OPTION_DUMP_CATALOG])
		return message_error("Extraneous arguments starting with '%s'",
				     settings->arguments[0]);
	if (settings_fields_filtered(settings))
		return message_error("-F/--field= and -N/--fields cannot be combined with options "
				     "that limit the journal.");
	if ((settings->boot_filter || seen[OPTION_LIST_BOOTS]) && seen[OPTION_MERGE])
		return message_error("Using --boot or --list-boots with --merge is not supported.");
	return 1;
}

/* What options imply when all are known. */
static void settings_complete(struct settings *settings)
{
	const bool *seen = settings->seen;

	if (seen[OPTION_NO_TAIL]) {
		settings->lines = LINES_ALL;
		settings->lines_first = false;
	} else if (!settings->lines_given) {
		settings->lines = LINES_ALL;
	}
	if (!seen[OPTION_BOOT] && !seen[OPTION_THIS_BOOT] && !seen[OPTION_MERGE] &&
	    COUNT(settings, OPTION_FOLLOW, OPTION_DMESG, OPTION_PAGER_END) > 0)
		settings->boot_filter = true;
}

/* Takes up one option or argument. */
static int settings_word(struct settings *settings, struct words *words, const struct word *word)
{
	if (!word->is_option) {
		settings->arguments[settings->argument_count++] = word->value;
		return 1;
	}
	if (!option_table[word->id].help && settings->unsupported < 0)
		settings->unsupported = (int)word->id;
	return settings_apply(settings, words, word);
}

int settings_parse(struct settings *settings, char **argv)
{
	char text[OPTION_TEXT_SIZE];
	struct words words;
	struct word word;
	size_t argc = 0;
	int r;

	*settings = (struct settings){
		.program = program_invocation_short_name,
		.unsupported = -1,
		.engine = JSCAN_OPTIONS_INIT,
	};
	while (argv[argc])
		argc++;
	settings->arguments = calloc(argc + 1, sizeof(char *));
	if (!settings->arguments)
		return message_memory();
	words_init(&words, settings->program, argv);
	while ((r = words_next(&words, &word)) > 0) {
		r = settings_word(settings, &words, &word);
		if (r <= 0)
			return r;
	}
	if (r < 0)
		return r;
	settings_complete(settings);
	r = settings_check(settings);
	if (r < 0)
		return r;
	if (settings->unsupported >= 0) {
		fprintf(stderr, "%s: option '%s' is not supported yet\n", settings->program,
			option_text((enum option_id)settings->unsupported, text));
		return -EINVAL;
	}
	return 1;
}

void settings_done(struct settings *settings)
{
	settings->directories = list_free(settings->directories);
	settings->files = list_free(settings->files);
	settings->fields = list_free(settings->fields);
	free(settings->arguments);
	settings->arguments = NULL;
}
