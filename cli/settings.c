// SPDX-License-Identifier: MIT
/*
 * What the command line asks for: options applied from left to right, with what each may say in
 * journalctl's words, then what they imply together. The checks between them are in checks.c.
 *
 * An option that this release does not act on is reported after those checks, so that a wrong
 * combination is called wrong whether or not its parts work yet. Nothing is opened here.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "checks.h"
#include "gaps.h"
#include "messages.h"
#include "pager.h"
#include "settings.h"
#include "summary.h"
#include "timespec.h"
#include "values.h"
#include "words.h"

/* The modes in the order of -o help, which prints what journalctl does: not json-stable. */
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
	case JSCAN_MODE_JSON_STABLE:
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

/* -b: its value, the next word if that parses, or the latest boot. */
static int settings_boot(struct settings *settings, struct words *words, const struct word *word)
{
	settings->boot = (struct descriptor){ 0 };
	if (word->value) {
		if (descriptor_parse(word->value, &settings->boot) < 0)
			return message_error("Failed to parse boot descriptor '%s'", word->value);
	} else if (word->next && descriptor_parse(word->next, &settings->boot) >= 0) {
		words_take(words);
	}
	settings->boot_asked = settings->boot_filter = !settings->boot.all;
	return 1;
}

/* --invocation, and -I, which has no VALUE. */
static int settings_invocation(struct settings *settings, const char *value)
{
	settings->invocation = (struct descriptor){ 0 };
	if (value && descriptor_parse(value, &settings->invocation) < 0)
		return message_error("Failed to parse invocation descriptor: %s", value);
	settings->invocation_filter = !settings->invocation.all;
	return 1;
}

/* -S and -U. */
static int settings_time(const char *value, uint64_t *ret_usec)
{
	struct timespec now;

	clock_gettime(CLOCK_REALTIME, &now);
	if (timespec_parse(value, (uint64_t)now.tv_sec * 1000000 + (uint64_t)now.tv_nsec / 1000,
			   ret_usec) < 0)
		return message_error("Failed to parse timestamp: %s", value);
	return 1;
}

/* -p: a level or a range. */
static int settings_levels(struct settings *settings, const char *value)
{
	bool is_range;

	if (levels_parse(value, &settings->levels, &is_range) >= 0)
		return 1;
	return message_error(is_range ? "Failed to parse log level range %s" :
					"Unknown log level %s",
			     value);
}

/* --facility=help. */
static void settings_print_facilities(const struct settings *settings)
{
	if (!settings->quiet)
		puts("Available facilities:");
	for (unsigned i = 0; i < 24; i++)
		if (facility_name(i))
			puts(facility_name(i));
		else
			printf("%u\n", i);
}

/* --facility: a list of names and numbers. */
static int settings_facilities(struct settings *settings, const char *value)
{
	char **items = NULL;
	size_t count = 0;
	unsigned facility;
	int r = list_add_items(&items, &count, value);

	if (r < 0)
		message_memory();
	for (size_t i = 0; i < count && r >= 0; i++) {
		if (strcmp(items[i], "help") == 0) {
			settings_print_facilities(settings);
			list_free(items);
			return 0;
		}
		r = facility_parse(items[i], &facility);
		if (r < 0)
			message_error("Bad --facility= argument \"%s\".", items[i]);
		else
			settings->facilities[facility / 64] |= UINT64_C(1) << facility % 64;
	}
	list_free(items);
	return r < 0 ? r : 1;
}

/* --case-sensitive: a truth value, true if left out. */
static int settings_case(struct settings *settings, const char *value)
{
	bool sensitive = true;

	if (value && value_boolean(value, &sensitive) < 0)
		return message_error("Bad --case-sensitive= argument \"%s\": %s", value,
				     strerror(EINVAL));
	settings->pattern_case = sensitive ? JSCAN_CASE_SENSITIVE : JSCAN_CASE_IGNORED;
	return 1;
}

/* --synchronize-on-exit: a truth value. There is no daemon to wait for, so nothing follows. */
static int settings_synchronize(const char *value)
{
	bool synchronize;

	if (value_boolean(value, &synchronize) < 0)
		return message_error("Failed to parse boolean argument to "
				     "'--synchronize-on-exit': %s", value);
	return 1;
}

/* --io, --cache, --jobs, --memory, --unpack-max, --plan: how the engine works.
 * --limit-rate, too. -ENOENT: none of these. */
static int settings_engine(struct settings *settings, enum option_id id, const char *value)
{
	static const char *const methods[] = { "auto", "uring", "threads", "sync" };
	static const char *const caches[] = { "keep", "drop", "direct" };
	int number, r = -EINVAL;

	switch (id) {
	case OPTION_IO:
		for (unsigned i = 0; i < sizeof(methods) / sizeof(methods[0]); i++)
			if (strcmp(value, methods[i]) == 0) {
				settings->engine.io = i;
				r = 0;
			}
		break;
	case OPTION_CACHE:
		for (unsigned i = 0; i < sizeof(caches) / sizeof(caches[0]); i++)
			if (strcmp(value, caches[i]) == 0) {
				settings->engine.cache = i;
				r = 0;
			}
		break;
	case OPTION_PLAN:
		settings->engine.plan = strcmp(value, "scan") ? JSCAN_PLAN_AUTO : JSCAN_PLAN_SCAN;
		r = settings->engine.plan || strcmp(value, "auto") == 0 ? 0 : -EINVAL;
		break;
	case OPTION_JOBS:
		r = value_integer(value, &number);
		if (r == 0 && (number < 1 || number > 1024))
			r = -ERANGE;
		if (r == 0)
			settings->engine.jobs = (uint32_t)number;
		break;
	case OPTION_UNPACK_MAX:
		r = value_size(value, &settings->engine.unpack_bytes_max);
		break;
	case OPTION_LIMIT_RATE:
		r = value_size(value, &settings->engine.limit_rate);
		if (r == 0 && settings->engine.limit_rate < 4096)
			return message_error("--limit-rate= must be at least 4K.");
		break;
	case OPTION_MEMORY:
		r = value_size(value, &settings->engine.memory_bytes);
		if (r == 0 && settings->engine.memory_bytes < 4u << 20)
			return message_error("--memory= must be at least 4M.");
		break;
	default:
		return -ENOENT;
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

/* --gaps: which kinds. */
static int settings_gaps(struct settings *settings, const char *value)
{
	int r = gaps_parse_kinds(value, &settings->gap_kinds);

	settings->action = ACTION_GAPS;
	if (r == -ENOMEM)
		return message_memory();
	return r < 0 ? message_error("Failed to parse --gaps='%s'.", value) : 1;
}

/* --compress: how, and how much. */
static int settings_compress(struct settings *settings, const char *value)
{
	int level = 0, r = 0;

	settings->compression = strcmp(value, "lz4") == 0 ? JSCAN_COMPRESSION_LZ4 :
							    JSCAN_COMPRESSION_ZSTD;
	if (strncmp(value, "zstd:", 5) == 0)
		r = value_integer(value + 5, &level) < 0 || level < 1 || level > 19 ? -EINVAL : 0;
	else if (settings->compression == JSCAN_COMPRESSION_ZSTD && strcmp(value, "zstd") != 0)
		r = -EINVAL;
	settings->compression_level = (unsigned)level;
	return r < 0 ? message_error("Failed to parse --compress='%s'.", value) : 1;
}

/* --text: whether what is not printable is shown. */
static int settings_text(struct settings *settings, const char *value)
{
	settings->lenient = strcmp(value, "lenient") == 0;
	if (!settings->lenient && strcmp(value, "strict") != 0)
		return message_error("Failed to parse --text='%s'.", value);
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

/* Appends a value to a list. */
static int settings_append(char ***list, size_t *count, const char *value)
{
	return list_append(list, count, value, strlen(value)) < 0 ? message_memory() : 1;
}

/* The action that an option stands for. */
static enum action settings_action(enum option_id id)
{
	switch (id) {
	case OPTION_FIELDS:
		return ACTION_FIELD_NAMES;
	case OPTION_FIELD:
		return ACTION_FIELD_VALUES;
	case OPTION_LIST_BOOTS:
		return ACTION_LIST_BOOTS;
	case OPTION_LIST_INVOCATIONS:
		return ACTION_LIST_INVOCATIONS;
	case OPTION_LIST_NAMESPACES:
		return ACTION_LIST_NAMESPACES;
	case OPTION_LIST_CATALOG:
		return ACTION_LIST_CATALOG;
	case OPTION_DUMP_CATALOG:
		return ACTION_DUMP_CATALOG;
	case OPTION_DISK_USAGE:
		return ACTION_DISK_USAGE;
	case OPTION_HEADER:
		return ACTION_HEADER;
	case OPTION_VERIFY:
		return ACTION_VERIFY;
	default:
		return ACTION_OTHER;
	}
}

/* Applies an option that says which entries. 1; 0: it was --facility=help; -ENOENT: it is none. */
static int settings_apply_filter(struct settings *settings, struct words *words,
				 const struct word *word)
{
	const char *value = word->value;

	switch (word->id) {
	case OPTION_SINCE:
		return settings_time(value, &settings->since_usec);
	case OPTION_UNTIL:
		return settings_time(value, &settings->until_usec);
	case OPTION_CURSOR:
		settings->cursor = value;
		return 1;
	case OPTION_AFTER_CURSOR:
		settings->after_cursor = value;
		return 1;
	case OPTION_CURSOR_FILE:
		settings->cursor_file = value;
		return 1;
	case OPTION_CHECKPOINT:
		settings->checkpoint = value;
		return 1;
	case OPTION_BOOT:
		return settings_boot(settings, words, word);
	case OPTION_THIS_BOOT:
		settings->boot = (struct descriptor){ 0 };
		settings->boot_asked = settings->boot_filter = true;
		return 1;
	case OPTION_STATUS:
	case OPTION_UNIT:
		return settings_append(&settings->units, &settings->unit_count, value);
	case OPTION_USER_UNIT:
		return settings_append(&settings->user_units, &settings->user_unit_count, value);
	case OPTION_INVOCATION:
	case OPTION_LATEST_INVOCATION:
		return settings_invocation(settings, value);
	case OPTION_IDENTIFIER:
		return settings_append(&settings->identifiers, &settings->identifier_count, value);
	case OPTION_EXCLUDE_IDENTIFIER:
		return settings_append(&settings->excluded, &settings->excluded_count, value);
	case OPTION_PRIORITY:
		return settings_levels(settings, value);
	case OPTION_FACILITY:
		return settings_facilities(settings, value);
	case OPTION_GREP:
		settings->pattern = value;
		return 1;
	case OPTION_CASE_SENSITIVE:
		return settings_case(settings, value);
	default:
		return -ENOENT;
	}
}

/* Applies one option: 1 to go on, 0 if it was an action that ends the program. */
static int settings_apply(struct settings *settings, struct words *words, const struct word *word)
{
	const char *value = word->value;
	int r;

	settings->seen[word->id] = true;
	r = settings_apply_filter(settings, words, word);
	if (r != -ENOENT)
		return r;
	if (option_table[word->id].section == SECTION_COMMANDS)
		settings->action = settings_action(word->id);
	switch (word->id) {
	case OPTION_VERIFY_KEY:
		settings->verify_key = value;
		settings->action = ACTION_VERIFY;
		return 1;
	case OPTION_HELP:
		pager_open(settings);
		options_print_help(settings->program);
		return 0;
	case OPTION_VERSION:
		printf("jscan %s\n", jscan_version());
		return 0;
	case OPTION_DIRECTORY:
		return settings_append(&settings->directories, &settings->directory_count, value);
	case OPTION_FILE:
		return settings_file(settings, value);
	case OPTION_ROOT:
		settings->root = !*value || strcmp(value, "/") == 0 ? NULL : value;
		return 1;
	case OPTION_NAMESPACE:
		settings->log_namespace = value;
		return 1;
	case OPTION_FIELD:
		settings->field = value;
		return 1;
	case OPTION_OUTPUT:
		return settings_output(settings, value);
	case OPTION_OUTPUT_FIELDS:
		return list_add_items(&settings->fields, &settings->field_count, value) < 0 ?
			       message_memory() : 1;
	case OPTION_LINES:
		return settings_lines(settings, words, word);
	case OPTION_FULL:
	case OPTION_NO_FULL:
		settings->shorten = word->id == OPTION_NO_FULL;
		return 1;
	case OPTION_QUIET:
		settings->quiet = true;
		return 1;
	case OPTION_SYNCHRONIZE_ON_EXIT:
		return settings_synchronize(value);
	case OPTION_GAPS:
		return settings_gaps(settings, value);
	case OPTION_STATS:
		return settings_stats(settings, value);
	case OPTION_TEXT:
		return settings_text(settings, value);
	case OPTION_COMPRESS:
		return settings_compress(settings, value);
	case OPTION_SINK:
		return sinks_add(&settings->sinks, &settings->sink_count, value);
	case OPTION_TRACE:
		settings->trace = value;
		return 1;
	default: /* one of the engine's, of summary's, or a flag, which seen[] holds */
		r = settings_engine(settings, word->id, value);
		return r != -ENOENT ? r : summary_apply(settings, word->id, value);
	}
}

/* What options imply when all are known. */
static void settings_complete(struct settings *settings)
{
	const bool *seen = settings->seen;

	/* A checkpoint is of all that there is, and from the beginning. */
	if (seen[OPTION_NO_TAIL] || (settings->checkpoint && !settings->lines_given)) {
		settings->lines = LINES_ALL;
		settings->lines_first = false;
	} else if (!settings->lines_given) {
		settings->lines = seen[OPTION_FOLLOW] && !seen[OPTION_SINCE] ? 10 :
				  seen[OPTION_STATUS]			     ? 10 :
				  seen[OPTION_PAGER_END]		     ? 1000 :
									       LINES_ALL;
	}
	if (!seen[OPTION_BOOT] && !seen[OPTION_THIS_BOOT] && !seen[OPTION_MERGE] &&
	    ((seen[OPTION_FOLLOW] && !settings->checkpoint) || seen[OPTION_DMESG] ||
	     seen[OPTION_PAGER_END] || seen[OPTION_STATUS]))
		settings->boot_filter = true;
	if (seen[OPTION_STATUS])
		settings->quiet = true; /* nothing but the entries */
}

/* What options imply once they are known to go together. */
static int settings_finish(struct settings *settings)
{
	int r = 0;

	if (settings->seen[OPTION_USER] && !settings->seen[OPTION_SYSTEM]) {
		for (size_t i = 0; i < settings->unit_count && r >= 0; i++)
			r = list_add(&settings->user_units, &settings->user_unit_count,
				     settings->units[i], strlen(settings->units[i]));
		settings->units = list_free(settings->units);
		settings->unit_count = 0;
	}
	/* Of the entries that match, the newest come first: how many there are behind them is not
	 * known. */
	if (settings->pattern && settings->lines != LINES_ALL && !settings->lines_first &&
	    !settings->seen[OPTION_FOLLOW])
		settings->seen[OPTION_REVERSE] = true;
	return r < 0 ? message_memory() : 0;
}

/* Takes up one option or argument. A journal file is read, whatever else the word could be. */
static int settings_word(struct settings *settings, struct words *words, const struct word *word)
{
	if (!word->is_option) {
		if (jscan_is_journal(word->value))
			return list_add_file(&settings->files, &settings->file_count,
					     word->value) < 0 ?
				       message_memory() :
				       1;
		settings->arguments[settings->argument_count++] = word->value;
		return 1;
	}
	if (option_table[word->id].instead && settings->unsupported < 0)
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
		.until_usec = UINT64_MAX,
		.engine = { .size = sizeof(struct jscan_options), .jobs = JSCAN_JOBS_AUTO },
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
	r = checks_pass(settings);
	if (r >= 0)
		r = settings_finish(settings);
	if (r < 0)
		return r;
	if (settings->unsupported >= 0) {
		return message_error("%s: option '%s' %s", settings->program,
				     option_text((enum option_id)settings->unsupported, text),
				     option_table[settings->unsupported].instead);
	}
	return 1;
}

void settings_done(struct settings *settings)
{
	settings->directories = list_free(settings->directories);
	settings->files = list_free(settings->files);
	settings->fields = list_free(settings->fields);
	settings->units = list_free(settings->units);
	settings->user_units = list_free(settings->user_units);
	settings->identifiers = list_free(settings->identifiers);
	settings->excluded = list_free(settings->excluded);
	sinks_done(settings->sinks, settings->sink_count);
	settings->sinks = NULL;
	free(settings->arguments);
	settings->arguments = NULL;
}
