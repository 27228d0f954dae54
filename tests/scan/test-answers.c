/* SPDX-License-Identifier: MIT */
/* What an engine tells: entries and copies of them, fields of any size, problems, statistics. */
#include "tests/scan/harness.h"

#include <fcntl.h>
#include <unistd.h>

#include "tests/support/fixture.h"

FOLDER_SUITE(answers, archive_make);

METHOD_TEST(answers, a_copy_outlives_the_engine)
{
	struct jscan *engine = archive_open(folder, *method);
	struct jscan_entry *copies[ARCHIVE_ENTRIES];
	const struct jscan_entry *entry;
	unsigned n = 0;

	for (; jscan_next(engine, &entry) == 1; n++)
		cr_assert(eq(int, jscan_entry_dup(entry, &copies[n]), 0));
	jscan_free(engine);
	cr_assert(eq(u32, n, ARCHIVE_ENTRIES));
	for (unsigned i = 0; i < n; i++) {
		struct jscan_field field = { .size = sizeof(field) };
		const struct jscan_entry_info *info = jscan_entry_info(copies[i]);
		char text[30], expected[30], cursor[JSCAN_CURSOR_SIZE];
		size_t state = 0, fields = 0;

		field_text(copies[i], "MESSAGE", text, sizeof(text));
		snprintf(expected, sizeof(expected), "%u", i);
		cr_expect(eq(str, text, expected));
		cr_expect(eq(u64, info->seqnum, i + 1));
		cr_expect(eq(u64, info->realtime_usec, ARCHIVE_TIME(i)));
		cr_expect(strstr(info->path, "journal") != NULL);
		cr_expect(eq(int,
			     jscan_test_cursor(copies[i], jscan_entry_cursor(copies[i], cursor)),
			     1));
		while (jscan_entry_next_field(copies[i], &state, &field) == 1)
			fields++;
		cr_expect(ge(sz, fields, 3));
		cr_expect(jscan_entry_free(copies[i]) == NULL);
	}
	jscan_entry_free(NULL);
}

/* A file with one entry that has a large field and an empty one. */
static void make_large(const char *path, size_t size, uint8_t compression)
{
	struct fixture *fx = fixture_new(&(const struct fixture_options){
		.compression = compression });
	struct fixture_field fields[3];
	char *large = malloc(size + 6);

	memcpy(large, "LARGE=", 6);
	for (size_t i = 0; i < size; i++)
		large[6 + i] = (char)('a' + i % 26);
	fields[0] = (struct fixture_field){ "EMPTY=", 6 };
	fields[1] = (struct fixture_field){ large, size + 6 };
	fields[2] = (struct fixture_field){ "BINARY=a\0b\nc=d", 14 };
	fixture_entry(fx, NULL, fields, 3);
	fixture_finish(fx);
	fixture_write(fx, path);
	fixture_free(fx);
	free(large);
}

Test(answers, fields_are_whole_up_to_64_kib_and_read_in_pieces_beyond)
{
	static const size_t sizes[] = { 65536, 65537, 200000 };
	char *path = test_path(folder, "large");

	for (unsigned i = 0; i < 6; i++) {
		struct jscan_field field = { .size = sizeof(field) };
		const struct jscan_entry *entry;
		size_t size = sizes[i / 2], at = 0;
		struct jscan *engine;
		char piece[1000];
		ssize_t n;

		make_large(path, size, i % 2 ? OBJECT_ZSTD : 0);
		jscan_new(NULL, &engine);
		jscan_add_file(engine, path, JSCAN_ADD_LITERAL);
		cr_assert(eq(int, jscan_next(engine, &entry), 1));
		cr_assert(eq(int, jscan_entry_field(entry, "LARGE", &field), 1));
		cr_expect(eq(u64, field.value_size, size));
		cr_expect(eq(int, field.value != NULL, size <= JSCAN_FIELD_WHOLE_MAX));
		cr_expect(
			eq(int, !!(field.flags & JSCAN_FIELD_LARGE), size > JSCAN_FIELD_WHOLE_MAX));
		while ((n = jscan_field_read(entry, &field, at, piece, sizeof(piece))) > 0) {
			for (ssize_t k = 0; k < n; k++, at++)
				cr_assert(eq(chr, piece[k], (char)('a' + at % 26)));
		}
		cr_expect(eq(int, (int)n, 0));
		cr_expect(eq(sz, at, size));
		cr_expect(eq(int, (int)jscan_field_read(entry, &field, UINT64_MAX, piece, 1), 0));
		cr_assert(eq(int, jscan_entry_field(entry, "EMPTY", &field), 1));
		cr_expect(eq(u64, field.value_size, 0));
		cr_assert(eq(int, jscan_entry_field(entry, "BINARY", &field), 1));
		cr_expect(eq(int, memcmp(field.value, "a\0b\nc=d", 7), 0));
		cr_expect(eq(int, jscan_entry_field(entry, "LARG", &field), 0));
		field.index = 1000;
		cr_expect(eq(int, (int)jscan_field_read(entry, &field, 0, piece, 1), -EINVAL));
		jscan_free(engine);
	}
	free(path);
}

/* Keeps the problems of a scan. */
struct problems {
	unsigned count;
	struct jscan_problem last;
	char path[200];
	unsigned reasons; /* a bit each */
};

static void keep_problem(void *userdata, const struct jscan_problem *problem)
{
	struct problems *p = userdata;

	p->count++;
	p->last = *problem;
	p->reasons |= 1u << problem->reason;
	snprintf(p->path, sizeof(p->path), "%s", problem->path);
	cr_expect(lt(int, problem->error, 0));
	cr_expect(problem->detail != NULL);
}

Test(answers, damage_is_reported_with_file_place_and_reason)
{
	struct problems problems = { .count = 0 };
	struct jscan *engine;
	char *text;

	archive_add_damaged(folder);
	jscan_new(NULL, &engine);
	jscan_set_problem_handler(engine, keep_problem, &problems);
	jscan_add_directory(engine, folder, 0);
	jscan_seek_realtime(engine, ARCHIVE_TIME(1000));
	text = collect(engine, DRIVE_NEXT);
	cr_expect(eq(str, text, (char *)"1000 1002"));
	free(text);
	cr_expect(eq(u32, problems.count, 1));
	cr_expect(eq(int, (int)problems.last.reason, JSCAN_REASON_OBJECT));
	cr_expect(eq(int, problems.last.error, -EBADMSG));
	cr_expect(gt(u64, problems.last.offset, 272));
	cr_expect(strstr(problems.path, "/damaged.journal") != NULL);
	jscan_free(engine);
}

Test(answers, files_that_cannot_be_used_are_reported_and_left_out)
{
	struct jscan_stats stats = { .size = sizeof(stats) };
	struct problems problems = { .count = 0 };
	static const char *const names[] = { "empty.journal", "garbage.journal", "gone.journal" };
	struct jscan *engine;

	for (int i = 0; i < 3; i++) {
		char *path = test_path(folder, names[i]);

		if (i < 2)
			free(test_file_random(path, i * 4096, 1));
		else
			cr_assert(eq(int, symlink("nowhere", path), 0));
		free(path);
	}
	jscan_new(NULL, &engine);
	jscan_set_problem_handler(engine, keep_problem, &problems);
	jscan_add_directory(engine, folder, 0);
	cr_expect(eq(sz, jscan_files_added(engine), 6));
	expect_texts(collect(engine, DRIVE_NEXT), numbers(0, ARCHIVE_LAST, ARCHIVE_ENTRIES),
		     "the others");
	cr_expect(eq(sz, jscan_files_usable(engine), 3));
	cr_expect(eq(u32, problems.count, 3));
	cr_expect(ne(u32, problems.reasons & 1u << JSCAN_REASON_OPEN, 0));
	cr_assert(eq(int, jscan_get_stats(engine, &stats), 0));
	cr_expect(eq(u64, stats.files, 3));
	cr_expect(eq(u64, stats.files_failed, 3));
	cr_expect(eq(u64, stats.problems, 3));
	jscan_free(engine);
}

Test(answers, what_is_no_regular_file_is_refused)
{
	struct problems problems = { .count = 0 };
	int pipe_fds[2], directory = open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	struct jscan *engine;

	cr_assert(eq(int, pipe(pipe_fds), 0));
	jscan_new(NULL, &engine);
	jscan_set_problem_handler(engine, keep_problem, &problems);
	cr_assert(eq(int, jscan_add_fd(engine, pipe_fds[0], "pipe", JSCAN_TAKE_FD), 0));
	cr_assert(eq(int, jscan_add_fd(engine, directory, "directory", JSCAN_TAKE_FD), 0));
	cr_expect(eq(int, jscan_open(engine), 0));
	cr_expect(eq(u32, problems.count, 2));
	cr_expect(eq(sz, jscan_files_usable(engine), 0));
	expect_texts(collect(engine, DRIVE_NEXT), strdup(""), "nothing");
	jscan_free(engine);
	close(pipe_fds[1]);
}

METHOD_TEST(answers, statistics_say_what_was_done)
{
	static const char *const names[] = { "", "uring", "threads", "sync" };
	struct jscan *engine = archive_open(folder, *method);
	struct jscan_stats stats = { .size = sizeof(stats) };
	struct {
		size_t size;
		uint64_t files, files_failed;
	} few = { .size = sizeof(few) };

	jscan_match(engine, "EVERY=50", 8);
	free(collect(engine, DRIVE_NEXT));
	cr_assert(eq(int, jscan_get_stats(engine, &stats), 0));
	cr_expect(eq(str, stats.io_method, (char *)names[*method]));
	cr_expect(eq(u64, stats.files, ARCHIVE_FILES));
	cr_expect(eq(u64, stats.files_pruned, 0)); /* 0, 50 and 100 are in three files */
	cr_expect(eq(u64, stats.entries, 3));
	cr_expect(gt(u64, stats.bytes_read, 3 * 272));
	cr_expect(gt(u64, stats.reads, 3));
	cr_expect(gt(u64, stats.memory_peak_bytes, 0));
	cr_assert(eq(int, jscan_get_stats(engine, (struct jscan_stats *)&few), 0));
	cr_expect(eq(u64, few.files, ARCHIVE_FILES));
	stats.size = 0;
	cr_expect(eq(int, jscan_get_stats(engine, &stats), -EINVAL));
	jscan_free(engine);
}
