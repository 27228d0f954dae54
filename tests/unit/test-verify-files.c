/* SPDX-License-Identifier: MIT */
/*
 * jscan_verify(): files on disk through every I/O method, with little memory and with much, while
 * they are written to, and what the caller is told.
 */
#include <criterion/criterion.h>
#include <criterion/new/assert.h>
#include <criterion/parameterized.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "config.h"
#include "jscan.h"
#include "tests/support/fixture.h"
#include "tests/support/io-methods.h"

#define KEY "000102-030405-060708-090a0b/1cd278-35a4e900"
#define RESULTS_MAX 8u

static char *folder;

static void set_up(void)
{
	folder = test_folder_make();
}

static void tear_down(void)
{
	folder = test_folder_remove(folder);
}

TestSuite(verify_files, .init = set_up, .fini = tear_down, .timeout = 60);

/* What was reported, in order. */
struct reports {
	unsigned count;
	struct report {
		int error;
		uint64_t error_offset, file_bytes, entries;
		unsigned details;
		char name[64], text[200];
		int sealed, validated;
	} results[RESULTS_MAX];
	unsigned progress_calls, permille;
	int answer;                           /* of the callback */
	void (*meanwhile)(unsigned permille); /* called with the progress */
};

static int take_result(void *userdata, const struct jscan_verify_result *result)
{
	struct reports *reports = userdata;
	struct report *report = &reports->results[reports->count++];
	const char *name = strrchr(result->path, '/') + 1;

	cr_assert(eq(sz, result->size, sizeof(*result)));
	*report = (struct report){
		.error = result->error,
		.error_offset = result->error_offset,
		.file_bytes = result->file_bytes,
		.entries = result->entries,
		.details = (unsigned)result->detail_count,
		.sealed = result->sealed,
		.validated = result->validated,
	};
	snprintf(report->name, sizeof(report->name), "%s", name);
	if (result->detail_count > 0)
		snprintf(report->text, sizeof(report->text), "%s", result->details[0].text);
	return reports->answer;
}

static void take_progress(void *userdata, const char *path, unsigned permille)
{
	struct reports *reports = userdata;

	cr_assert(strstr(path, folder) != NULL);
	cr_assert(le(uint, permille, 1000));
	if (permille > 0)
		cr_assert(gt(uint, permille, reports->permille));
	reports->permille = permille;
	reports->progress_calls++;
	if (reports->meanwhile)
		reports->meanwhile(permille);
}

/* Writes a file of COUNT entries into the folder. */
static struct fixture *write_file(const char *name, struct fixture_options o, unsigned count)
{
	struct fixture *fx = fixture_new(&o);
	char *path = test_path(folder, name);
	char text[300];

	for (unsigned i = 0; i < count; i++) {
		snprintf(text, sizeof(text), "MESSAGE=%u %0200u", i, i);
		fixture_add(fx, NULL, text, i % 2 ? "PRIORITY=6" : "PRIORITY=3", NULL);
	}
	fixture_finish(fx);
	fixture_write(fx, path);
	free(path);
	return fx;
}

/* Verifies the folder. */
static int verify_folder(enum jscan_io io, uint64_t memory, const char *key,
			 struct reports *reports)
{
	struct jscan_options options = JSCAN_OPTIONS_INIT;
	struct jscan_verify_options verify = JSCAN_VERIFY_OPTIONS_INIT;
	struct jscan *engine;
	int r;

	options.io = io;
	options.memory_bytes = memory;
	verify.key = key;
	verify.progress = take_progress;
	r = jscan_new(&options, &engine);
	cr_assert(eq(int, r, 0));
	cr_assert(eq(int, jscan_add_directory(engine, folder, 0), 0));
	r = jscan_verify(engine, &verify, take_result, reports);
	jscan_free(engine);
	return r;
}

static int io_kinds[] = { JSCAN_IO_AUTO, JSCAN_IO_THREADS, JSCAN_IO_SYNC };

ParameterizedTestParameters(verify_files, all_methods_find_the_same)
{
	return cr_make_param_array(int, io_kinds, 3);
}

ParameterizedTest(int *io, verify_files, all_methods_find_the_same)
{
	struct fixture *good, *bad;
	struct reports reports = { 0 };
	uint64_t offset;
	char *path;

	good = write_file("a.journal", (struct fixture_options){ .file_id = fixture_id(1) }, 3000);
	bad = write_file("b.journal", (struct fixture_options){ .file_id = fixture_id(2) }, 3000);
	offset = fixture_find_object(bad, OBJECT_DATA, 2000);
	fixture_put8(bad, offset + DATA_PAYLOAD_REGULAR + 10, 'x');
	path = test_path(folder, "b.journal");
	fixture_write(bad, path);
	cr_assert(eq(int, verify_folder((enum jscan_io) * io, 4 << 20, NULL, &reports), 0));
	cr_assert(eq(uint, reports.count, 2));
	cr_assert(eq(str, reports.results[0].name, (char *)"a.journal"));
	cr_assert(eq(int, reports.results[0].error, 0));
	cr_assert(eq(u64, reports.results[0].entries, 3000));
	cr_assert(eq(u64, reports.results[0].file_bytes, fixture_size(good)));
	cr_assert(eq(uint, reports.results[0].details, 0));
	cr_assert(eq(int, reports.results[1].error, -EBADMSG));
	cr_assert(eq(u64, reports.results[1].error_offset, offset));
	cr_assert(eq(uint, reports.results[1].details, 2));
	cr_assert(gt(uint, reports.progress_calls, 4));
	cr_assert(eq(uint, reports.permille, 1000));
	free(path);
	fixture_free(good);
	fixture_free(bad);
}

Test(verify_files, memory_for_contents_stays_in_the_budget)
{
	struct jscan_options options = JSCAN_OPTIONS_INIT;
	struct jscan_stats stats = { .size = sizeof(stats) };
	struct reports reports = { 0 };
	struct jscan *engine;
	char *path = test_path(folder, "a.journal");
	struct fixture *fx = write_file("a.journal", (struct fixture_options){ 0 }, 40000);

	cr_assert(gt(sz, fixture_size(fx), (size_t)12 << 20));
	options.memory_bytes = 4 << 20;
	cr_assert(eq(int, jscan_new(&options, &engine), 0));
	cr_assert(eq(int, jscan_add_file(engine, path, 0), 0));
	cr_assert(eq(int, jscan_verify(engine, NULL, take_result, &reports), 0));
	cr_assert(eq(int, reports.results[0].error, 0));
	cr_assert(eq(int, jscan_get_stats(engine, &stats), 0));
	cr_assert(le(u64, stats.memory_peak_bytes, options.memory_bytes));
	/* Once along the objects, once along the entries. */
	cr_assert(le(u64, stats.bytes_read, 3 * fixture_size(fx)));
	jscan_free(engine);
	free(path);
	fixture_free(fx);
}

/* ---- files that are being written ------------------------------------------------------- */

static struct fixture *growing;
static char *growing_path;
static unsigned growth;

/* Appends to the file, as a writer does, until it has grown enough. */
static void grow(unsigned permille)
{
	char text[300];
	int fd;

	if (permille < 100 || permille >= 1000 || growth >= 40)
		return;
	for (unsigned i = 0; i < 10; i++) {
		snprintf(text, sizeof(text), "MESSAGE=later %u-%u %0200u", growth, i, i);
		fixture_add(growing, NULL, text, "PRIORITY=6", NULL);
	}
	growth++;
	fixture_finish(growing);
	fd = open(growing_path, O_WRONLY | O_CLOEXEC);
	cr_assert(ge(int, fd, 0));
	cr_assert(eq(i64, pwrite(fd, fixture_bytes(growing), fixture_size(growing), 0),
		     (int64_t)fixture_size(growing)));
	close(fd);
}

Test(verify_files, a_file_that_grows_meanwhile_is_no_damage)
{
	struct reports reports = { .meanwhile = grow };

	growing = write_file("a.journal",
			     (struct fixture_options){ .state = JOURNAL_STATE_ONLINE,
						       .preallocate_bytes = 1 << 20 },
			     30000);
	growing_path = test_path(folder, "a.journal");
	cr_assert(eq(int, verify_folder(JSCAN_IO_SYNC, 4 << 20, NULL, &reports), 0));
	cr_assert(gt(uint, growth, 5));
	cr_assert(eq(int, reports.results[0].error, 0), "%s", reports.results[0].text);
	cr_assert(ge(u64, reports.results[0].entries, 30000));
	free(growing_path);
	fixture_free(growing);
}

Test(verify_files, damage_in_a_file_that_nobody_writes_is_believed)
{
	struct reports reports = { 0 };
	struct fixture *fx = write_file(
		"a.journal", (struct fixture_options){ .state = JOURNAL_STATE_ONLINE }, 100);
	char *path = test_path(folder, "a.journal");

	fixture_put64(fx, HEADER_N_DATA, fixture_get64(fx, HEADER_N_DATA) - 1);
	fixture_write(fx, path);
	cr_assert(eq(int, verify_folder(JSCAN_IO_AUTO, 0, NULL, &reports), 0));
	cr_assert(eq(int, reports.results[0].error, -EBADMSG));
	cr_assert(eq(int, strncmp(reports.results[0].text, "Data number mismatch", 20), 0));
	free(path);
	fixture_free(fx);
}

/* ---- what the caller is told ------------------------------------------------------------ */

Test(verify_files, an_answer_of_the_callback_ends_it)
{
	struct reports reports = { .answer = 7 };

	fixture_free(write_file("a.journal", (struct fixture_options){ 0 }, 10));
	fixture_free(
		write_file("b.journal", (struct fixture_options){ .file_id = fixture_id(9) }, 10));
	cr_assert(eq(int, verify_folder(JSCAN_IO_AUTO, 0, NULL, &reports), 7));
	cr_assert(eq(uint, reports.count, 1));
}

Test(verify_files, a_bad_key_is_refused_before_anything_is_read)
{
	struct reports reports = { 0 };

	fixture_free(write_file("a.journal", (struct fixture_options){ 0 }, 10));
	cr_assert(eq(int, verify_folder(JSCAN_IO_AUTO, 0, "no key", &reports), -EKEYREJECTED));
	cr_assert(eq(uint, reports.count, 0));
	cr_assert(eq(uint, reports.progress_calls, 0));
}

Test(verify_files, sealed_files_want_a_key)
{
	struct reports reports = { 0 };

	fixture_free(write_file(
		"a.journal", (struct fixture_options){ .sealed = true, .sealed_continuous = true },
		10));
	cr_assert(eq(int, verify_folder(JSCAN_IO_AUTO, 0, NULL, &reports), 0));
	cr_assert(eq(int, reports.results[0].error, -ENOKEY));
	cr_assert(reports.results[0].sealed && !reports.results[0].validated);
	cr_assert(eq(int, verify_folder(JSCAN_IO_AUTO, 0, KEY, &reports), 0));
	/* Its tags are made up: with a key that is found out, if this build can. */
	cr_assert(eq(int, reports.results[1].error, HAVE_GCRYPT ? -EBADMSG : -EOPNOTSUPP));
}

Test(verify_files, options_have_a_size)
{
	struct {
		struct jscan_verify_options options;
		char later[16];
	} longer = { .options = { .size = sizeof(longer) } };
	struct reports reports = { 0 };
	struct jscan *engine;

	cr_assert(eq(int, jscan_new(NULL, &engine), 0));
	cr_assert(eq(int, jscan_verify(engine, &longer.options, take_result, &reports), 0));
	longer.later[3] = 1;
	cr_assert(eq(int, jscan_verify(engine, &longer.options, take_result, &reports), -E2BIG));
	longer.options.size = 1;
	cr_assert(eq(int, jscan_verify(engine, &longer.options, take_result, &reports), -EINVAL));
	cr_assert(eq(int, jscan_verify(engine, NULL, NULL, &reports), -EINVAL));
	jscan_free(engine);
}

/* The place of reading, and entries that were handed out, outlive a verification. */
Test(verify_files, reading_goes_on_where_it_was)
{
	const struct jscan_entry *entry;
	struct reports reports = { 0 };
	struct jscan *engine;

	fixture_free(write_file("a.journal", (struct fixture_options){ 0 }, 500));
	cr_assert(eq(int, jscan_new(NULL, &engine), 0));
	cr_assert(eq(int, jscan_add_directory(engine, folder, 0), 0));
	for (uint64_t i = 1; i <= 500; i++) {
		cr_assert(eq(int, jscan_next(engine, &entry), 1));
		cr_assert(eq(u64, jscan_entry_info(entry)->seqnum, i));
		if (i % 100 == 0)
			cr_assert(eq(int, jscan_verify(engine, NULL, take_result, &reports), 0));
	}
	cr_assert(eq(int, jscan_next(engine, &entry), 0));
	cr_assert(eq(uint, reports.count, 5));
	for (unsigned i = 0; i < 5; i++)
		cr_assert(eq(int, reports.results[i].error, 0));
	jscan_free(engine);
}
