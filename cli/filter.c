// SPDX-License-Identifier: MIT
/*
 * What the command line asks for, as matches: boot, invocation or units, kernel, identifiers,
 * levels, facilities, and the arguments, each a group of its own and all of them holding.
 *
 * They are looked at in this order because the first that is wrong decides what is said. An
 * invocation takes the place of boot and units, which only helped to find it.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "boots.h"
#include "filter.h"
#include "invocations.h"
#include "messages.h"
#include "paths.h"
#include "units.h"

/* Says that a match could not be made. */
static int filter_failed(const char *what, int r)
{
	return message_error("Failed to add filter for %s: %s", what, strerror(-r));
}

/* Adds FIELD=VALUE. */
static int filter_match(struct jscan *engine, const char *field, const char *value)
{
	char text[128 + JSCAN_ID_TEXT_SIZE];
	int size = snprintf(text, sizeof(text), "%s=%s", field, value);

	return jscan_match(engine, text, (size_t)size);
}

int filter_match_boot(struct archive *archive, const jscan_id *id)
{
	char text[JSCAN_ID_TEXT_SIZE];
	int r = filter_match(archive->engine, "_BOOT_ID", jscan_id_format(id, text));

	if (r >= 0)
		r = jscan_match_and(archive->engine);
	return r < 0 ? filter_failed("boot", r) : 1;
}

int filter_add_boot(struct archive *archive)
{
	jscan_id id;
	int r;

	if (!archive->settings->boot_filter)
		return 1;
	r = boots_find(archive, &id);
	return r <= 0 ? r : filter_match_boot(archive, &id);
}

/* Adds -u and --user-unit. */
static int filter_add_units(struct archive *archive)
{
	struct units units;
	int r;

	if (archive->settings->unit_count + archive->settings->user_unit_count == 0)
		return 1;
	r = units_find(archive, false, &units);
	if (r >= 0)
		r = units_match(archive, &units, false);
	units_done(&units);
	return r < 0 ? filter_failed("units", r) : 1;
}

/* Adds --invocation. */
static int filter_add_invocation(struct archive *archive)
{
	jscan_id id;
	int r = filter_add_boot(archive); /* for what it may have to say */

	if (r <= 0)
		return r;
	r = invocations_find(archive, &id);
	if (r < 0)
		return r;
	r = invocations_match(archive, &id);
	return r < 0 ? filter_failed("invocation", r) : 1;
}

/* Adds -k. */
static int filter_add_kernel(struct archive *archive)
{
	int r;

	if (!archive->settings->seen[OPTION_DMESG])
		return 0;
	r = filter_match(archive->engine, "_TRANSPORT", "kernel");
	return r < 0 ? r : jscan_match_and(archive->engine);
}

/* Adds -t. */
static int filter_add_identifiers(struct archive *archive)
{
	const struct settings *settings = archive->settings;
	int r = 0;

	for (size_t i = 0; i < settings->identifier_count && r >= 0; i++) {
		char *text;
		int size = asprintf(&text, "SYSLOG_IDENTIFIER=%s", settings->identifiers[i]);

		if (size < 0)
			return -ENOMEM;
		r = jscan_match(archive->engine, text, (size_t)size);
		free(text);
	}
	return r < 0 ? r : jscan_match_and(archive->engine);
}

/* Adds a match for each bit of SET, of COUNT. */
static int filter_add_numbers(struct jscan *engine, const char *field, const uint64_t *set,
			      unsigned count)
{
	char text[16];
	int r = 0;

	for (unsigned i = 0; i < count && r >= 0; i++) {
		if (!(set[i / 64] >> i % 64 & 1))
			continue;
		snprintf(text, sizeof(text), "%u", i);
		r = filter_match(engine, field, text);
	}
	return r < 0 ? r : jscan_match_and(engine);
}

/* Adds one argument. */
static int filter_add_argument(struct archive *archive, const char *argument)
{
	int r;

	if (argument[0] == '/')
		return paths_match(archive, argument);
	r = jscan_match(archive->engine, argument, strlen(argument));
	return r < 0 ? message_error("Failed to add match '%s': %s", argument, strerror(-r)) : 0;
}

/* Adds the arguments: a plus sign stands between alternatives. */
static int filter_add_arguments(struct archive *archive)
{
	const struct settings *settings = archive->settings;
	bool term = false; /* the last argument was one */
	int r = 0;

	for (size_t i = 0; i < settings->argument_count && r >= 0; i++) {
		if (strcmp(settings->arguments[i], "+") == 0) {
			if (!term)
				break;
			r = jscan_match_or(archive->engine);
			term = false;
		} else {
			r = filter_add_argument(archive, settings->arguments[i]);
			term = true;
		}
	}
	if (r >= 0 && settings->argument_count > 0 && !term)
		return message_error("\"+\" can only be used between terms.");
	return r;
}

int filter_add(struct archive *archive)
{
	const struct settings *settings = archive->settings;
	const uint64_t levels = settings->levels;
	int r;

	if (settings->invocation_filter) {
		r = filter_add_invocation(archive);
	} else {
		r = filter_add_boot(archive);
		if (r > 0)
			r = filter_add_units(archive);
	}
	if (r <= 0)
		return r;
	r = filter_add_kernel(archive);
	if (r < 0)
		return filter_failed("dmesg", r);
	r = filter_add_identifiers(archive);
	if (r < 0)
		return filter_failed("syslog identifiers", r);
	r = filter_add_numbers(archive->engine, "PRIORITY", &levels, 8);
	if (r < 0)
		return filter_failed("priorities", r);
	r = filter_add_numbers(archive->engine, "SYSLOG_FACILITY", settings->facilities,
			       FACILITY_COUNT);
	if (r < 0)
		return filter_failed("facilities", r);
	r = filter_add_arguments(archive);
	return r < 0 ? r : 1;
}
