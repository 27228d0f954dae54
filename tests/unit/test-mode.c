/* SPDX-License-Identifier: MIT */
/* Modes: their names, and which fields each of them needs. */
#include <criterion/criterion.h>
#include <criterion/new/assert.h>

#include "tests/support/print.h"

/* True if a mode needs a field. */
static bool mode_needs(enum output_mode mode, const char *const *list, const char *name)
{
	const struct output_options options = { .mode = mode, .fields = list };

	return output_needs_field(&options, (const uint8_t *)name, strlen(name));
}

Test(mode, every_name_has_a_mode_of_its_own)
{
	static const char *const names[] = {
		"short",         "short-full",      "short-iso",   "short-iso-precise",
		"short-precise", "short-monotonic", "short-delta", "short-unix",
		"verbose",       "export",          "json",        "json-pretty",
		"json-sse",      "json-seq",        "cat",         "with-unit",
		"json-stable"
	};
	bool seen[OUTPUT_MODE_COUNT] = { 0 };

	cr_assert(eq(sz, sizeof(names) / sizeof(names[0]), OUTPUT_MODE_COUNT));
	for (unsigned i = 0; i < OUTPUT_MODE_COUNT; i++) {
		enum output_mode mode = OUTPUT_MODE_COUNT;

		cr_assert(eq(int, output_mode_parse(names[i], &mode), 0));
		cr_assert(lt(int, mode, OUTPUT_MODE_COUNT));
		cr_expect(not(seen[mode]));
		seen[mode] = true;
	}
}

Test(mode, unknown_name_is_refused)
{
	enum output_mode mode = OUTPUT_CAT;

	cr_expect(eq(int, output_mode_parse("Short", &mode), -EINVAL));
	cr_expect(eq(int, output_mode_parse("", &mode), -EINVAL));
	cr_expect(eq(int, mode, OUTPUT_CAT));
}

Test(mode, short_needs_what_it_shows)
{
	cr_expect(mode_needs(OUTPUT_SHORT, NULL, "MESSAGE"));
	cr_expect(mode_needs(OUTPUT_SHORT, NULL, "_SOURCE_REALTIME_TIMESTAMP"));
	cr_expect(mode_needs(OUTPUT_SHORT, NULL, "SYSLOG_PID"));
	cr_expect(not(mode_needs(OUTPUT_SHORT, NULL, "_CMDLINE")));
	cr_expect(not(mode_needs(OUTPUT_SHORT, NULL, "")));
}

Test(mode, cat_needs_the_message)
{
	cr_expect(mode_needs(OUTPUT_CAT, NULL, "MESSAGE"));
	cr_expect(not(mode_needs(OUTPUT_CAT, NULL, "MESSAGE_ID")));
}

Test(mode, list_limits_what_is_needed)
{
	static const char *const list[] = { "A", NULL };

	cr_expect(mode_needs(OUTPUT_JSON, list, "A"));
	cr_expect(not(mode_needs(OUTPUT_JSON, list, "MESSAGE")));
	cr_expect(mode_needs(OUTPUT_CAT, list, "A"));
	cr_expect(not(mode_needs(OUTPUT_CAT, list, "MESSAGE")));
	cr_expect(not(mode_needs(OUTPUT_EXPORT, list, "AA")));
}

Test(mode, invalid_names_are_needed_where_they_end_an_entry)
{
	static const char *const list[] = { "A", NULL };

	cr_expect(mode_needs(OUTPUT_EXPORT, list, "lower"));
	cr_expect(mode_needs(OUTPUT_VERBOSE, list, "lower"));
	cr_expect(not(mode_needs(OUTPUT_JSON, NULL, "lower")));
}

Test(mode, verbose_needs_its_time_whatever_is_listed)
{
	static const char *const list[] = { "A", NULL };

	cr_expect(mode_needs(OUTPUT_VERBOSE, list, "_SOURCE_REALTIME_TIMESTAMP"));
	cr_expect(mode_needs(OUTPUT_VERBOSE, list, "_SOURCE_MONOTONIC_TIMESTAMP"));
	cr_expect(not(mode_needs(OUTPUT_EXPORT, list, "_SOURCE_REALTIME_TIMESTAMP")));
}
