/* SPDX-License-Identifier: MIT */
/* The built-in output as programs set it: sizes of its structure, colours, and the catalog. */
#include "tests/scan/harness.h"

#include <sys/stat.h>
#include <unistd.h>

#include "tests/support/fixture.h"

#define RED "\033[0;1;31m"
#define HIGHLIGHT "\033[0;1;39m"
#define NORMAL "\033[0m"

#define ID "11111111111111111111111111111111"
#define OTHER_ID "22222222-2222-2222-2222-222222222222"

static char *folder;
static char journal[PATH_MAX], database[PATH_MAX];
static unsigned catalog_problems;
static int catalog_error;

/* Writes a file. */
static void output_store(const char *path, const void *bytes, size_t size)
{
	FILE *f = fopen(path, "wb");

	cr_assert(f && fwrite(bytes, 1, size, f) == size && fclose(f) == 0);
}

/* Writes a catalog of two texts, the first of them also in German. */
static void output_store_catalog(void)
{
	static const struct {
		uint8_t id;
		const char *language, *text;
	} items[] = {
		{ 0x11, "", "Subject: one @UNIT@\nDefined-By: test\n\nText.\n" },
		{ 0x11, "de", "Subject: eins @UNIT@\n" },
		{ 0x22, "", "no header\n" },
	};
	uint8_t bytes[1000] = "RHHHKSLP";
	size_t size = 40 + 3 * 56, text_at = size;

	bytes[16] = 40;
	bytes[24] = 3;
	bytes[32] = 56;
	for (unsigned i = 0; i < 3; i++) {
		uint8_t *item = bytes + 40 + i * 56;

		memset(item, items[i].id, 16);
		memcpy(item + 16, items[i].language, strlen(items[i].language));
		item[48] = (uint8_t)(text_at - size);
		memcpy(bytes + text_at, items[i].text, strlen(items[i].text));
		text_at += strlen(items[i].text) + 1;
	}
	output_store(database, bytes, text_at);
}

/* Four entries: of the first catalog text, with a bad ID, with none, and with one of a match. */
static void setup(void)
{
	struct fixture *fx = fixture_new(&(const struct fixture_options){ 0 });

	folder = test_folder_make();
	snprintf(journal, sizeof(journal), "%s/test.journal", folder);
	snprintf(database, sizeof(database), "%s/database", folder);
	fixture_add(fx, NULL, "MESSAGE=first", "PRIORITY=3", "MESSAGE_ID=" ID, "UNIT=a.service",
		    NULL);
	fixture_add(fx, NULL, "MESSAGE=second", "MESSAGE_ID=bad", "PRIORITY=6", NULL);
	fixture_add(fx, NULL, "MESSAGE=third", "SYSLOG_IDENTIFIER=noise", NULL);
	fixture_add(fx, NULL, "MESSAGE=the fourth one", "PRIORITY=3", NULL);
	fixture_finish(fx);
	fixture_write(fx, journal);
	fixture_free(fx);
	output_store_catalog();
	catalog_problems = 0;
	catalog_error = 0;
}

static void teardown(void)
{
	folder = test_folder_remove(folder);
}

TestSuite(output, .init = setup, .fini = teardown, .timeout = 60);

/* Counts what the catalog failed for. */
static void output_problem(void *userdata, const struct jscan_problem *problem)
{
	(void)userdata;
	cr_expect(eq(int, (int)problem->reason, JSCAN_REASON_CATALOG));
	cr_expect(ne(ptr, (void *)problem->path, NULL));
	catalog_problems++;
	catalog_error = problem->error;
}

/* What an output prints; until the next call. A PATTERN may be NULL. */
static const char *output_run(const struct jscan_output *output, const char *pattern)
{
	static char text[4096];
	FILE *f = tmpfile();
	struct jscan *e;
	size_t size;

	cr_assert(f != NULL);
	cr_assert(eq(int, jscan_new(NULL, &e), 0));
	jscan_set_problem_handler(e, output_problem, NULL);
	cr_assert(eq(int, jscan_add_file(e, journal, JSCAN_ADD_LITERAL), 0));
	if (pattern)
		cr_assert(eq(int, jscan_set_grep(e, pattern, JSCAN_CASE_AUTO, NULL, 0), 0));
	cr_assert(eq(int, jscan_add_output(e, output, fileno(f)), 0));
	cr_assert(eq(int, jscan_run(e), 0));
	jscan_free(e);
	rewind(f);
	size = fread(text, 1, sizeof(text) - 1, f);
	text[size] = '\0';
	fclose(f);
	return text;
}

#define EXPECT_OUTPUT(pattern, text)                                                               \
	cr_expect(eq(str, (char *)output_run(&output, pattern), (char *)(text)))

/* How an output is taken whose structure has this size, with a byte set behind what it knows. */
static int output_add(size_t size, size_t byte_at)
{
	union {
		struct jscan_output output;
		uint8_t bytes[2 * sizeof(struct jscan_output)];
	} u = { 0 };
	struct jscan *e;
	int r;

	u.output.size = size;
	if (byte_at)
		u.bytes[byte_at] = 1;
	cr_assert(eq(int, jscan_new(NULL, &e), 0));
	r = jscan_add_output(e, &u.output, 1);
	jscan_free(e);
	return r;
}

Test(output, structure_of_the_first_release_is_taken_and_a_shorter_one_is_not)
{
	size_t first = offsetof(struct jscan_output, colours);

	cr_expect(eq(int, output_add(first, 0), 0));
	cr_expect(eq(int, output_add(first, first), 0)); /* what lies behind it is not its own */
	cr_expect(eq(int, output_add(first - 1, 0), -EINVAL));
	cr_expect(eq(int, output_add(0, 0), -EINVAL));
}

Test(output, longer_structure_is_taken_if_its_tail_is_zero)
{
	size_t size = sizeof(struct jscan_output);

	cr_expect(eq(int, output_add(size + 8, 0), 0));
	cr_expect(eq(int, output_add(size + 8, size + 7), -E2BIG));
}

Test(output, unknown_flags_depths_and_errors_are_refused)
{
	cr_expect(eq(int, output_add(sizeof(struct jscan_output),
				     offsetof(struct jscan_output, flags) + 3), -EINVAL));
	cr_expect(eq(int, output_add(sizeof(struct jscan_output),
				     offsetof(struct jscan_output, colours) + 1), -EINVAL));
	cr_expect(eq(int, output_add(sizeof(struct jscan_output),
				     offsetof(struct jscan_output, catalog_error)), -EINVAL));
	cr_expect(eq(int, output_add(sizeof(struct jscan_output),
				     offsetof(struct jscan_output, reserved)), -EINVAL));
}

Test(output, cat_shows_priorities_and_matches_in_colour)
{
	const struct jscan_output output = { .size = sizeof(output), .mode = JSCAN_MODE_CAT,
					     .colours = JSCAN_COLOURS_16 };

	EXPECT_OUTPUT(NULL, RED HIGHLIGHT RED "first" NORMAL "\nsecond\nthird\n" RED HIGHLIGHT RED
			    "the fourth one" NORMAL "\n");
	EXPECT_OUTPUT("fourth", RED "the " HIGHLIGHT "fourth" RED " one" NORMAL "\n");
}

Test(output, excluded_identifiers_links_and_widths_reach_the_encoders)
{
	char excluded_text[] = "noise";
	const char *excluded[] = { excluded_text, NULL };
	struct jscan_output output = { .size = sizeof(output), .mode = JSCAN_MODE_SHORT_UNIX,
				       .flags = JSCAN_OUTPUT_SHORTEN | JSCAN_OUTPUT_ASCII,
				       .excluded = excluded, .width = 29 };

	EXPECT_OUTPUT(NULL, "1700000000.000000 unknown: first\n"
			    "1700000001.000000 unknown: second\n"
			    "1700000003.000000 unknown: the fo...e\n");
	output.width = 0; /* 80 columns */
	EXPECT_OUTPUT(NULL, "1700000000.000000 unknown: first\n"
			    "1700000001.000000 unknown: second\n"
			    "1700000003.000000 unknown: the fourth one\n");
}

Test(output, explanations_are_printed_and_bad_ids_told)
{
	struct jscan_output output = { .size = sizeof(output), .mode = JSCAN_MODE_SHORT_UNIX,
				       .flags = JSCAN_OUTPUT_CATALOG | JSCAN_OUTPUT_ASCII };
	struct jscan_catalog *catalog;

	cr_assert(eq(int, jscan_catalog_open(database, "de_AT.UTF-8", &catalog), 0));
	output.catalog = catalog;
	EXPECT_OUTPUT(NULL, "1700000000.000000 unknown: first\n"
			    "-- Subject: eins a.service\n"
			    "1700000001.000000 unknown: second\n"
			    "1700000002.000000 noise: third\n"
			    "1700000003.000000 unknown: the fourth one\n");
	cr_expect(eq(u32, catalog_problems, 1));
	cr_expect(eq(int, catalog_error, -EINVAL));
	jscan_catalog_free(catalog);
}

Test(output, unreadable_catalog_is_told_for_every_entry_that_needs_it)
{
	struct jscan_output output = { .size = sizeof(output), .mode = JSCAN_MODE_CAT,
				       .flags = JSCAN_OUTPUT_CATALOG, .catalog_error = -EBADMSG };

	output_run(&output, NULL);
	cr_expect(eq(u32, catalog_problems, 0), "cat looks nothing up");
	output.mode = JSCAN_MODE_VERBOSE;
	output_run(&output, "first");
	cr_expect(eq(u32, catalog_problems, 1));
	cr_expect(eq(int, catalog_error, -EBADMSG));
}

/* ---- the catalog alone ------------------------------------------------------------------ */

/* Appends "byte:subject by defined-by;" to a text. */
static int output_list(void *userdata, const struct jscan_catalog_text *text)
{
	char *line = (char *)userdata + strlen(userdata);

	sprintf(line, "%02x:%.*s by %.*s;", text->id.bytes[0],
		(int)text->subject_size, text->subject ? text->subject : "",
		(int)text->defined_by_size, text->defined_by ? text->defined_by : "");
	return 0;
}

Test(output, catalog_lists_each_id_once_in_the_language_of_the_locale)
{
	struct jscan_catalog *catalog;
	char text[200] = "";

	cr_assert(eq(int, jscan_catalog_open(database, NULL, &catalog), 0));
	cr_expect(eq(int, jscan_catalog_list(catalog, output_list, text), 0));
	cr_expect(eq(str, text, (char *)"11:one @UNIT@ by test;22: by ;"));
	jscan_catalog_free(catalog);
	text[0] = '\0';
	cr_assert(eq(int, jscan_catalog_open(database, "de_DE", &catalog), 0));
	cr_expect(eq(int, jscan_catalog_list(catalog, output_list, text), 0));
	cr_expect(eq(str, text, (char *)"11:eins @UNIT@ by ;22: by ;"));
	jscan_catalog_free(catalog);
}

Test(output, catalog_finds_texts_by_ids_of_both_forms)
{
	struct jscan_catalog_text text = { .size = sizeof(text) };
	struct jscan_catalog *catalog;

	cr_assert(eq(int, jscan_catalog_open(database, NULL, &catalog), 0));
	cr_expect(eq(int, jscan_catalog_find(catalog, OTHER_ID, &text), 0));
	cr_expect(eq(sz, text.text_size, 10));
	cr_expect(eq(int, memcmp(text.text, "no header\n", 10), 0));
	cr_expect(eq(ptr, (void *)text.subject, NULL));
	cr_expect(eq(int, jscan_catalog_find(catalog, "33333333333333333333333333333333", &text),
		     -ENOENT));
	cr_expect(eq(int, jscan_catalog_find(catalog, "x", &text), -EINVAL));
	cr_expect(eq(int, jscan_catalog_find(NULL, ID, &text), -ENOENT));
	cr_expect(eq(int, jscan_catalog_find(NULL, "x", &text), -EINVAL));
	text.size = 0;
	cr_expect(eq(int, jscan_catalog_find(catalog, ID, &text), -EINVAL));
	cr_expect(eq(ptr, jscan_catalog_free(catalog), NULL));
}

Test(output, catalog_that_is_none_is_refused)
{
	struct jscan_catalog *catalog = NULL;

	cr_expect(eq(int, jscan_catalog_open(folder, NULL, &catalog), -ENODEV));
	cr_expect(eq(int, jscan_catalog_open(journal, NULL, &catalog), -EBADMSG));
	output_store(database, "", 0);
	cr_expect(eq(int, jscan_catalog_open(database, NULL, &catalog), -EINVAL));
	cr_assert(eq(int, truncate(database, (off_t)65 << 20), 0));
	cr_expect(eq(int, jscan_catalog_open(database, NULL, &catalog), -EFBIG));
	cr_assert(eq(int, unlink(database), 0));
	cr_expect(eq(int, jscan_catalog_open(database, NULL, &catalog), -ENOENT));
	cr_assert(eq(int, mkfifo(database, 0600), 0));
	cr_expect(eq(int, jscan_catalog_open(database, NULL, &catalog), -ENODEV));
	cr_expect(eq(ptr, catalog, NULL));
}
