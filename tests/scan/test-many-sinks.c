/* SPDX-License-Identifier: MIT */
/*
 * Several sinks on one scan: each is shown the fields that it asks for, who failed is told, entries
 * are split to files, and shared objects become sinks or are refused with a reason.
 */
#include <fcntl.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "tests/scan/harness.h"

FOLDER_SUITE(many_sinks, archive_make);

/* ---- fields ------------------------------------------------------------------------------ */

/* What a sink is shown of each entry. */
struct shown {
	size_t entries, fields, messages, parities;
	int answer;
	unsigned answer_at;
};

/* Counts what an entry shows, as itself and as a copy. */
static int shown_entry(void *userdata, const struct jscan_entry *entry,
		       const struct jscan_entry_context *context)
{
	struct jscan_field field = { .size = sizeof(field) };
	struct shown *shown = userdata;
	struct jscan_entry *copy;
	size_t state = 0, fields = 0;

	(void)context;
	cr_assert(eq(int, jscan_entry_dup(entry, &copy), 0));
	while (jscan_entry_next_field(entry, &state, &field) > 0)
		fields++;
	shown->fields += fields;
	state = 0;
	while (jscan_entry_next_field(copy, &state, &field) > 0)
		fields--;
	cr_expect(eq(sz, fields, 0), "a copy shows the same");
	jscan_entry_free(copy);
	shown->messages += jscan_entry_field(entry, "MESSAGE", &field) > 0;
	shown->parities += jscan_entry_field(entry, "PARITY", &field) > 0;
	return ++shown->entries == shown->answer_at ? shown->answer : 0;
}

static const char *const only_parity[] = { "PARITY", NULL };
static const char *const nothing[] = { NULL };

METHOD_TEST(many_sinks, each_is_shown_the_fields_that_it_asks_for)
{
	struct jscan_sink_ops ops = { .size = sizeof(ops), .entry = shown_entry };
	struct shown all = { 0 }, parity = { 0 }, none = { 0 };
	struct jscan *e = archive_open(folder, *method);

	if (!e)
		return;
	ops.fields = only_parity;
	cr_assert(eq(int, jscan_add_sink(e, &ops, &parity), 0));
	ops.fields = nothing;
	cr_assert(eq(int, jscan_add_sink(e, &ops, &none), 0));
	ops.fields = NULL;
	cr_assert(eq(int, jscan_add_sink(e, &ops, &all), 0));
	cr_expect(eq(int, jscan_run(e), 0));
	cr_expect(eq(sz, all.messages, ARCHIVE_ENTRIES));
	cr_expect(gt(sz, all.fields, 2 * ARCHIVE_ENTRIES));
	cr_expect(eq(sz, parity.fields, ARCHIVE_ENTRIES));
	cr_expect(eq(sz, parity.parities, ARCHIVE_ENTRIES));
	cr_expect(eq(sz, parity.messages, 0));
	cr_expect(eq(sz, none.entries, ARCHIVE_ENTRIES));
	cr_expect(eq(sz, none.fields, 0));
	cr_expect(eq(int, jscan_failed_sink(e), -1));
	jscan_free(e);
}

Test(many_sinks, fields_that_nobody_asks_for_do_not_hide_those_of_others)
{
	struct jscan_sink_ops ops = { .size = sizeof(ops), .entry = shown_entry,
				      .fields = only_parity };
	struct jscan_output output = { .size = sizeof(output), .mode = JSCAN_MODE_CAT };
	struct jscan *e = archive_open(folder, JSCAN_IO_SYNC);
	struct shown parity = { 0 };
	char line[8];
	int pipe_fds[2];

	cr_assert(eq(int, pipe(pipe_fds), 0));
	cr_assert(eq(int, jscan_add_output(e, &output, pipe_fds[1]), 0));
	cr_assert(eq(int, jscan_add_sink(e, &ops, &parity), 0));
	cr_expect(eq(int, jscan_run(e), 0));
	cr_expect(eq(sz, parity.parities, ARCHIVE_ENTRIES));
	cr_expect(eq(int, (int)read(pipe_fds[0], line, 4), 4));
	cr_expect(eq(int, memcmp(line, "0\n1\n", 4), 0));
	jscan_free(e);
}

/* ---- failing ----------------------------------------------------------------------------- */

Test(many_sinks, who_failed_is_told)
{
	struct jscan_sink_ops ops = { .size = sizeof(ops), .entry = shown_entry };
	struct shown first = { 0 }, second = { .answer = -EIO, .answer_at = 5 }, third = { 0 };
	struct jscan *e = archive_open(folder, JSCAN_IO_SYNC);

	cr_assert(eq(int, jscan_add_sink(e, &ops, &first), 0));
	cr_assert(eq(int, jscan_add_sink(e, &ops, &second), 0));
	cr_assert(eq(int, jscan_add_sink(e, &ops, &third), 0));
	cr_expect(eq(int, jscan_failed_sink(e), -1));
	cr_expect(eq(int, jscan_run(e), -EIO));
	cr_expect(eq(int, jscan_failed_sink(e), 1));
	cr_expect(eq(sz, first.entries, 5));
	cr_expect(eq(sz, third.entries, 4));
	second.answer_at = 0;
	jscan_seek_head(e);
	cr_expect(eq(int, jscan_run(e), 0));
	cr_expect(eq(int, jscan_failed_sink(e), -1), "a scan that ends well forgets it");
	jscan_free(e);
	cr_expect(eq(int, jscan_failed_sink(NULL), -1));
}

/* With workers, whose bytes the engine's thread writes, and in line. */
static uint32_t many_jobs[] = { 1, 3 };

ParameterizedTestParameters(many_sinks, full_disk_is_told)
{
	return cr_make_param_array(uint32_t, many_jobs, 2);
}
ParameterizedTest(uint32_t *jobs, many_sinks, full_disk_is_told)
{
	struct jscan_options options = JSCAN_OPTIONS_INIT;
	struct jscan_output output = { .size = sizeof(output), .mode = JSCAN_MODE_EXPORT };
	int full = open("/dev/full", O_WRONLY | O_CLOEXEC);
	int null = open("/dev/null", O_WRONLY | O_CLOEXEC);
	struct jscan *e;

	if (full < 0 || null < 0)
		cr_skip_test("no /dev/full");
	options.jobs = *jobs;
	cr_assert(eq(int, jscan_new(&options, &e), 0));
	cr_assert(eq(int, jscan_add_directory(e, folder, 0), 0));
	cr_assert(eq(int, jscan_add_output(e, &output, null), 0));
	cr_assert(eq(int, jscan_add_output(e, &output, full), 0));
	cr_expect(eq(int, jscan_run(e), -ENOSPC));
	cr_expect(eq(int, jscan_failed_sink(e), 1));
	jscan_free(e);
}

/* ---- splitting --------------------------------------------------------------------------- */

/* The folder that entries are split to. */
static char *split_path(const char *name)
{
	static char path[PATH_MAX];

	snprintf(path, sizeof(path), "%s/split/%s", folder, name);
	return path;
}

/* Runs a split of the archive by KEY. */
static int split_run(uint32_t key, uint32_t files, uint32_t flags)
{
	struct jscan_output output = { .size = sizeof(output), .mode = JSCAN_MODE_CAT,
				       .flags = flags };
	struct jscan_split split = { .size = sizeof(split), .key = key, .files_open_max = files };
	struct jscan *e = archive_open(folder, JSCAN_IO_SYNC);
	char directory[PATH_MAX];
	int r;

	snprintf(directory, sizeof(directory), "%s/split", folder);
	split.directory = directory;
	r = jscan_add_split(e, &output, &split);
	if (r == 0)
		r = jscan_run(e);
	jscan_free(e);
	return r;
}

/* What a file holds, blanks for line feeds; to be freed. */
static char *split_text(const char *name)
{
	char *text = calloc(1, 8192);
	int fd = open(split_path(name), O_RDONLY | O_CLOEXEC);

	if (fd >= 0)
		cr_assert(ge(i64, (int64_t)read(fd, text, 8191), 0));
	close(fd);
	for (char *c = text; *c; c++)
		if (*c == '\n')
			*c = c[1] ? ' ' : '\0';
	return text;
}

/* Expects a file to hold the whole archive. */
static void expect_all(const char *name)
{
	expect_texts(split_text(name), numbers(0, ARCHIVE_LAST, ARCHIVE_ENTRIES), name);
}

Test(many_sinks, split_by_boot_files_each_boot)
{
	char name[JSCAN_ID_TEXT_SIZE + 8];
	jscan_id boots[2] = { archive_boot_id(0), archive_boot_id(ARCHIVE_LAST) };

	cr_assert(eq(int, split_run(JSCAN_SPLIT_BOOT, 0, 0), 0));
	for (unsigned i = 0; i < 2; i++) {
		unsigned half = ARCHIVE_ENTRIES / 2;

		jscan_id_format(&boots[i], name);
		strcat(name, ".log");
		expect_texts(split_text(name), numbers(i * half, i * half + half - 1, half), name);
	}
}

Test(many_sinks, split_by_day_goes_by_the_zone)
{
	cr_assert(eq(int, split_run(JSCAN_SPLIT_DAY, 0, JSCAN_OUTPUT_UTC), 0));
	expect_all("2023-11-14.log");
	setenv("TZ", "JST-9", 1);
	tzset();
	cr_assert(eq(int, split_run(JSCAN_SPLIT_DAY, 0, 0), 0));
	expect_all("2023-11-15.log");
}

Test(many_sinks, split_files_what_has_no_value_under_none)
{
	cr_assert(eq(int, split_run(JSCAN_SPLIT_UNIT, 0, 0), 0));
	expect_all("none.log");
}

Test(many_sinks, split_loses_what_was_in_its_files)
{
	cr_assert(eq(int, split_run(JSCAN_SPLIT_HOST, 0, 0), 0));
	cr_assert(eq(int, split_run(JSCAN_SPLIT_HOST, 0, 0), 0));
	expect_all("none.log");
}

Test(many_sinks, split_needs_a_directory_and_a_mode_that_fits)
{
	struct jscan_output output = { .size = sizeof(output), .mode = JSCAN_MODE_CAT };
	struct jscan_split split = { .size = sizeof(split), .directory = "/dev/null" };
	struct jscan *e = archive_open(folder, JSCAN_IO_SYNC);

	cr_expect(eq(int, jscan_add_split(e, &output, &split), -ENOTDIR));
	split.directory = "/nonexistent/directory";
	cr_expect(eq(int, jscan_add_split(e, &output, &split), -ENOENT));
	split.directory = NULL;
	cr_expect(eq(int, jscan_add_split(e, &output, &split), -EINVAL));
	split.directory = split_path("");
	split.key = JSCAN_SPLIT_HOST + 1;
	cr_expect(eq(int, jscan_add_split(e, &output, &split), -EINVAL));
	split.key = JSCAN_SPLIT_HOST;
	output.mode = JSCAN_MODE_SHORT_DELTA;
	cr_expect(eq(int, jscan_add_split(e, &output, &split), -EINVAL));
	cr_expect(eq(int, jscan_add_split(e, &output, NULL), -EINVAL));
	jscan_free(e);
}

/* ---- shared objects ---------------------------------------------------------------------- */

Test(many_sinks, shared_objects_that_do_not_fit_are_refused_with_a_reason)
{
	static const struct {
		const char *name;
		int answer;
		const char *text;
	} cases[] = {
		{ "1", -ELIBBAD, "it does not export jscan_sink_module" },
		{ "2", -ELIBBAD, "it is a sink of version 2, not 1" },
		{ "3", -ELIBBAD, "its jscan_sink_module has 16 bytes, not 32" },
		{ "4", -ELIBBAD, "its jscan_sink_module has no open function" },
		{ "5", -ELIBBAD, "it lacks slots that a sink needs" },
		{ "6", -ELIBBAD, "it lacks slots that a sink needs" },
		{ "7", -EACCES, "not today" },
		{ "8", -EACCES, "Permission denied" },
	};
	struct jscan *e = archive_open(folder, JSCAN_IO_SYNC);
	char path[PATH_MAX], text[256];

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		snprintf(path, sizeof(path), "%s/bad-sink-%s.so", MODULE_FOLDER, cases[i].name);
		cr_expect(eq(int, jscan_add_sink_module(e, path, NULL, NULL, text, sizeof(text)),
			     cases[i].answer));
		cr_expect(eq(str, text, (char *)cases[i].text));
		cr_expect(eq(int, jscan_add_sink_module(e, path, NULL, NULL, NULL, 0),
			     cases[i].answer), "without room for a text");
	}
	cr_expect(eq(int, jscan_add_sink_module(e, folder, NULL, NULL, text, sizeof(text)),
		     -ELIBACC));
	cr_expect(eq(int, jscan_run(e), -EINVAL), "there is no sink");
	jscan_free(e);
}

Test(many_sinks, shared_object_is_a_sink_like_any_other)
{
	static const char module[] = MODULE_FOLDER "/example-sink.so";
	struct jscan *e = archive_open(folder, JSCAN_IO_SYNC);
	char path[PATH_MAX], text[256];
	char *written;

	snprintf(path, sizeof(path), "%s/split", folder);
	cr_assert(eq(int, mkdir(path, 0777), 0));
	strcpy(path, split_path("csv"));
	cr_expect(eq(int, jscan_add_sink_module(e, module, NULL, NULL, text, sizeof(text)),
		     -EINVAL));
	cr_expect(eq(str, text, (char *)"a file is needed"));
	cr_assert(eq(int, jscan_add_sink_module(e, module, path, only_parity, text, sizeof(text)),
		     0));
	cr_expect(eq(int, jscan_run(e), 0));
	jscan_free(e);
	written = split_text("csv");
	cr_expect(eq(int, strncmp(written, "1700000000000000,\"\",\"\"\r ", 23), 0),
		  "it is shown the fields that its user names");
	free(written);
}
