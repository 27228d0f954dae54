/* SPDX-License-Identifier: MIT */
/* Journals that are compressed as a whole, read through the public interface. */
#include <criterion/criterion.h>
#include <criterion/new/assert.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include "jscan.h"
#include "tests/support/fixture.h"
#include "tests/support/io-methods.h"
#include "tests/support/pack.h"

#define ENTRIES 300

static char *folder;
static struct fixture *fx;
static struct {
	unsigned count;
	enum jscan_reason reason;
	int error;
	uint64_t offset;
	char path[200];
} problem;

static void take_problem(void *userdata, const struct jscan_problem *p)
{
	(void)userdata;
	if (problem.count++)
		return; /* the first is the cause */
	problem.reason = p->reason;
	problem.error = p->error;
	problem.offset = p->offset;
	snprintf(problem.path, sizeof(problem.path), "%s", p->path);
}

static void setup(void)
{
	folder = test_folder_make();
	setenv("TMPDIR", folder, 1);
	fx = fixture_new(&(const struct fixture_options){ .state = JOURNAL_STATE_ARCHIVED });
	for (int i = 0; i < ENTRIES; i++) {
		char text[40];

		snprintf(text, sizeof(text), "MESSAGE=entry %d", i);
		fixture_add(fx, NULL, text, "A=1", NULL);
	}
	fixture_finish(fx);
}

static void teardown(void)
{
	fixture_free(fx);
	folder = test_folder_remove(folder);
}

TestSuite(unpack, .init = setup, .fini = teardown, .timeout = 60);

/* Writes a file. The path is to be freed. */
static char *write_file(const char *name, const void *bytes, size_t size)
{
	char *path = test_path(folder, name);
	int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);

	cr_assert(eq(sz, (size_t)write(fd, bytes, size), size));
	close(fd);
	return path;
}

/* How many entries an engine yields; it is freed. */
static unsigned count(struct jscan *engine)
{
	const struct jscan_entry *entry;
	unsigned n = 0;
	int r;

	jscan_set_problem_handler(engine, take_problem, NULL);
	while ((r = jscan_next(engine, &entry)) > 0)
		n++;
	cr_expect(eq(int, r, 0));
	jscan_free(engine);
	return n;
}

/* How many entries a file with these bytes has. */
static unsigned count_bytes(const char *name, const void *bytes, size_t size, uint64_t max)
{
	struct jscan_options options = JSCAN_OPTIONS_INIT;
	char *path = write_file(name, bytes, size);
	struct jscan *engine;

	options.unpack_bytes_max = max;
	cr_assert(eq(int, jscan_new(&options, &engine), 0));
	cr_assert(eq(int, jscan_add_file(engine, path, JSCAN_ADD_LITERAL), 0));
	free(path);
	return count(engine);
}

/* Nothing was left behind in the folder but what the test made. */
static void expect_files(unsigned expected)
{
	char command[300], text[20] = "";
	FILE *f;

	snprintf(command, sizeof(command), "ls -A '%s' | wc -l", folder);
	f = popen(command, "r");
	cr_assert(ne(ptr, fgets(text, sizeof(text), f), NULL));
	pclose(f);
	cr_expect(eq(u32, (unsigned)atoi(text), expected));
}

Test(unpack, every_kind_has_the_entries_of_the_plain_file)
{
	for (unsigned kind = PACKED_ZSTD; kind < PACKED_KIND_COUNT; kind++) {
		size_t size;
		uint8_t *bytes;

		if (!pack_can(kind))
			continue;
		bytes = pack(kind, fixture_bytes(fx), fixture_size(fx), &size);
		cr_expect(eq(u32, count_bytes("any name", bytes, size, 0), ENTRIES));
		cr_expect(eq(u32, problem.count, 0));
		free(bytes);
	}
	expect_files(1);
}

Test(unpack, a_file_cut_short_has_the_entries_that_can_be_unpacked)
{
	size_t size;
	uint8_t *half = pack(PACKED_ZSTD, fixture_bytes(fx), fixture_size(fx) / 2, &size);
	unsigned n = count_bytes("a.journal.zst", half, size - 1, 0);

	cr_expect(gt(u32, n, 0));
	cr_expect(lt(u32, n, ENTRIES));
	cr_expect(eq(int, (int)problem.reason, JSCAN_REASON_UNPACK));
	cr_expect(eq(int, problem.error, -ENODATA));
	cr_expect(eq(u64, problem.offset, size - 1));
	cr_expect(ne(ptr, strstr(problem.path, "a.journal.zst"), NULL));
	free(half);
}

Test(unpack, garbage_behind_it_is_reported_with_its_offset)
{
	size_t size, joined_size;
	uint8_t *bytes = pack(PACKED_ZSTD, fixture_bytes(fx), fixture_size(fx), &size);
	uint8_t *joined = pack_join(bytes, size, "garbage", 7, &joined_size);

	cr_expect(eq(u32, count_bytes("a", joined, joined_size, 0), ENTRIES));
	cr_expect(eq(u32, problem.count, 1));
	cr_expect(eq(int, (int)problem.reason, JSCAN_REASON_UNPACK));
	cr_expect(eq(int, problem.error, -EBADE));
	cr_expect(eq(u64, problem.offset, size));
	free(bytes);
	free(joined);
}

Test(unpack, a_bomb_ends_at_the_limit_and_takes_no_room)
{
	size_t plain_size = fixture_size(fx), bomb_size = plain_size + (64u << 20), size;
	uint8_t *plain = calloc(1, bomb_size), *bytes;

	memcpy(plain, fixture_bytes(fx), plain_size);
	bytes = pack(PACKED_ZSTD, plain, bomb_size, &size);
	cr_expect(lt(sz, size, 1u << 20));
	cr_expect(eq(u32, count_bytes("bomb", bytes, size, plain_size + 1000), ENTRIES));
	cr_expect(eq(int, (int)problem.reason, JSCAN_REASON_UNPACK));
	cr_expect(eq(int, problem.error, -EFBIG));
	problem.count = 0;
	cr_expect(eq(u32, count_bytes("bomb", bytes, size, 0), ENTRIES));
	cr_expect(eq(u32, problem.count, 0));
	free(plain);
	free(bytes);
}

Test(unpack, what_is_no_journal_is_left_alone)
{
	static const uint8_t zeros[1 << 20];
	size_t size, twice_size;
	uint8_t *bytes = pack(PACKED_ZSTD, zeros, sizeof(zeros), &size), *twice;

	cr_expect(eq(u32, count_bytes("zeros", bytes, size, 0), 0));
	cr_expect(eq(int, (int)problem.reason, JSCAN_REASON_HEADER));
	cr_expect(eq(int, problem.error, -EBADMSG));
	free(bytes);
	problem.count = 0;
	bytes = pack(PACKED_LZ4, fixture_bytes(fx), fixture_size(fx), &size);
	twice = pack(PACKED_ZSTD, bytes, size, &twice_size);
	cr_expect(eq(u32, count_bytes("twice", twice, twice_size, 0), 0));
	cr_expect(eq(int, (int)problem.reason, JSCAN_REASON_HEADER));
	problem.count = 0;
	cr_expect(eq(u32, count_bytes("cut", twice, 4, 0), 0));
	cr_expect(eq(int, (int)problem.reason, JSCAN_REASON_UNPACK));
	cr_expect(eq(int, problem.error, -ENODATA));
	free(bytes);
	free(twice);
}

Test(unpack, many_files_take_turns_and_few_descriptors_at_once)
{
	struct jscan_options options = JSCAN_OPTIONS_INIT;
	struct jscan *engine;
	size_t size;
	uint8_t *bytes = pack(PACKED_ZSTD, fixture_bytes(fx), fixture_size(fx), &size);

	options.files_open_max = 2;
	options.memory_bytes = 4 << 20;
	cr_assert(eq(int, jscan_new(&options, &engine), 0));
	for (int i = 0; i < 40; i++) {
		char name[30];

		snprintf(name, sizeof(name), "%d.journal%s", i, i % 3 ? ".zst" : "");
		if (i % 3)
			free(write_file(name, bytes, size));
		else
			free(write_file(name, fixture_bytes(fx), fixture_size(fx)));
	}
	cr_assert(eq(int, jscan_add_directory(engine, folder, 0), 0));
	cr_assert(eq(int, jscan_open(engine), 0));
	cr_expect(eq(sz, jscan_files_usable(engine), 40));
	cr_expect(eq(u32, count(engine), ENTRIES)); /* copies of an entry are one */
	cr_expect(eq(u32, problem.count, 0));
	free(bytes);
}

Test(unpack, a_foreign_loop_gets_its_turns)
{
	size_t plain_size = fixture_size(fx), long_size = plain_size + (16u << 20), size;
	uint8_t *plain = malloc(long_size), *bytes;
	const struct jscan_entry *entry;
	unsigned turns = 0, n = 0;
	struct jscan *engine;
	char *path;
	int r;

	for (size_t i = 0; i < long_size; i++)
		plain[i] = (uint8_t)(i * i >> 7);
	memcpy(plain, fixture_bytes(fx), plain_size);
	bytes = pack(PACKED_LZ4, plain, long_size, &size);
	path = write_file("long", bytes, size);
	cr_assert(eq(int, jscan_new(NULL, &engine), 0));
	cr_assert(eq(int, jscan_add_file(engine, path, JSCAN_ADD_LITERAL), 0));
	cr_assert(ge(int, jscan_fd(engine), 0));
	while ((r = jscan_process(engine)) != -ENODATA) {
		cr_assert(ge(int, r, 0));
		turns++;
		while ((r = jscan_next(engine, &entry)) == 1)
			n++;
		if (r == 0)
			break;
	}
	cr_expect(eq(u32, n, ENTRIES));
	cr_expect(gt(u32, turns, 20));
	jscan_free(engine);
	free(plain);
	free(bytes);
	free(path);
}

Test(unpack, an_engine_can_be_freed_in_the_middle)
{
	size_t size;
	uint8_t *bytes = pack(PACKED_ZSTD, fixture_bytes(fx), fixture_size(fx), &size);

	for (int turns = 0; turns < 6; turns++) {
		struct jscan *engine;
		char *path = write_file("a", bytes, size), *other = write_file("b", bytes, size);

		cr_assert(eq(int, jscan_new(NULL, &engine), 0));
		cr_assert(eq(int, jscan_add_file(engine, path, 0), 0));
		cr_assert(eq(int, jscan_add_file(engine, other, 0), 0));
		cr_assert(ge(int, jscan_fd(engine), 0));
		for (int i = 0; i < turns; i++)
			cr_expect(ge(int, jscan_process(engine), 0));
		jscan_free(engine);
		free(path);
		free(other);
	}
	free(bytes);
}

/* Feeds a pipe; a thread of its own, since a pipe holds little. */
static void *feed(void *userdata)
{
	const uint8_t *bytes = fixture_bytes(fx);
	int fd = *(int *)userdata;

	for (size_t at = 0; at < fixture_size(fx);) {
		ssize_t n = write(fd, bytes + at, fixture_size(fx) - at);

		if (n <= 0)
			break;
		at += (size_t)n;
	}
	close(fd);
	return NULL;
}

Test(unpack, a_pipe_is_copied)
{
	struct jscan_options options = JSCAN_OPTIONS_INIT;
	struct jscan *engine;
	pthread_t thread;
	int ends[2];

	for (int fits = 0; fits < 2; fits++) {
		options.unpack_bytes_max = fits ? fixture_size(fx) : fixture_size(fx) - 1;
		cr_assert(eq(int, jscan_new(&options, &engine), 0));
		cr_assert(eq(int, pipe2(ends, O_CLOEXEC), 0));
		cr_assert(eq(int, pthread_create(&thread, NULL, feed, &ends[1]), 0));
		cr_expect(eq(int, jscan_add_stream(engine, ends[0], "pipe"), fits ? 0 : -EFBIG));
		pthread_join(thread, NULL);
		close(ends[0]);
		cr_expect(eq(u32, count(engine), fits ? ENTRIES : 0));
	}
	cr_assert(eq(int, jscan_new(NULL, &engine), 0));
	cr_expect(eq(int, jscan_add_stream(engine, -1, "x"), -EINVAL));
	cr_expect(eq(int, jscan_add_stream(engine, 0, NULL), -EINVAL));
	jscan_free(engine);
	expect_files(0);
}

Test(unpack, a_descriptor_may_be_of_a_compressed_file)
{
	size_t size;
	uint8_t *bytes = pack(PACKED_ZSTD, fixture_bytes(fx), fixture_size(fx), &size);
	char *path = write_file("a", bytes, size);

	for (int take = 0; take < 2; take++) {
		int fd = open(path, O_RDONLY | O_CLOEXEC);
		struct jscan *engine;

		cr_assert(eq(int, jscan_new(NULL, &engine), 0));
		cr_assert(eq(int, jscan_add_fd(engine, fd, "it", take ? JSCAN_TAKE_FD : 0), 0));
		cr_expect(eq(u32, count(engine), ENTRIES));
		cr_expect(eq(int, fcntl(fd, F_GETFD) >= 0, !take)); /* borrowed, it stays open */
		if (!take)
			close(fd);
	}
	free(bytes);
	free(path);
}

Test(unpack, a_journal_is_known_by_its_first_bytes)
{
	size_t size;
	uint8_t *bytes = pack(PACKED_LZ4, fixture_bytes(fx), fixture_size(fx), &size);
	char *path = write_file("a", "LPKSHHRH", 8);

	cr_expect(eq(int, jscan_is_journal(path), 1));
	free(path);
	path = write_file("a", "LPKSHHRX", 8);
	cr_expect(eq(int, jscan_is_journal(path), 0));
	free(path);
	path = write_file("a", bytes, size);
	cr_expect(eq(int, jscan_is_journal(path), 1));
	free(path);
	free(bytes);
	bytes = pack(PACKED_ZSTD, "something else", 14, &size);
	path = write_file("a", bytes, size);
	cr_expect(eq(int, jscan_is_journal(path), 0));
	free(path);
	free(bytes);
	cr_expect(eq(int, jscan_is_journal(folder), 0));
	cr_expect(eq(int, jscan_is_journal("/dev/null"), 0));
	cr_expect(eq(int, jscan_is_journal(""), 0));
	cr_expect(eq(int, jscan_is_journal(NULL), 0));
}

Test(unpack, a_folder_for_temporary_files_may_be_missing)
{
	size_t size;
	uint8_t *bytes = pack(PACKED_ZSTD, fixture_bytes(fx), fixture_size(fx), &size);

	setenv("TMPDIR", "/nonexistent", 1); /* another one is taken */
	cr_expect(eq(u32, count_bytes("a", bytes, size, 0), ENTRIES));
	cr_expect(eq(u32, problem.count, 0));
	free(bytes);
}

Test(unpack, where_no_more_can_be_written_there_is_the_beginning)
{
	struct rlimit limit = { .rlim_max = RLIM_INFINITY };
	size_t size, plain_size = fixture_size(fx) + (8u << 20);
	uint8_t *plain = malloc(plain_size), *bytes;

	memset(plain, 'x', plain_size);
	memcpy(plain, fixture_bytes(fx), fixture_size(fx));
	bytes = pack(PACKED_ZSTD, plain, plain_size, &size);
	limit.rlim_cur = fixture_size(fx) + (1u << 20);
	signal(SIGXFSZ, SIG_IGN);
	cr_assert(eq(int, setrlimit(RLIMIT_FSIZE, &limit), 0));
	cr_expect(eq(u32, count_bytes("a", bytes, size, 0), ENTRIES));
	cr_expect(eq(u32, problem.count, 1));
	cr_expect(eq(int, (int)problem.reason, JSCAN_REASON_UNPACK));
	cr_expect(eq(int, problem.error, -EFBIG)); /* on a disk that is full, -ENOSPC */
	free(plain);
	free(bytes);
}
