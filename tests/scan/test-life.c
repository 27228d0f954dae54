/* SPDX-License-Identifier: MIT */
/* An engine's means and its end: memory, descriptors, threads and children; being freed whenever.
 */
#include "tests/scan/harness.h"

#include <fcntl.h>
#include <pthread.h>
#include <sys/wait.h>
#include <unistd.h>

#include "tests/support/fixture.h"

FOLDER_SUITE(life, archive_make);

/* A file of COUNT entries of about SIZE bytes each. */
static void make_big(const char *name, unsigned number, unsigned count, size_t size)
{
	struct fixture *fx = fixture_new(&(const struct fixture_options){
		.data_buckets = 4093, .file_id = fixture_id(700 + number),
		.seqnum_id = fixture_id(503), .state = JOURNAL_STATE_ARCHIVED });
	struct fixture_stamp stamp = { .seqnum = number * 100000 + 1,
				       .realtime = ARCHIVE_TIME(number * 100000) };
	char *path = test_path(folder, name), *text = malloc(size + 40);

	for (unsigned i = 0; i < count; i++) {
		struct fixture_field fields[2];
		char message[40];
		int head = snprintf(text, 40, "TEXT=%u %u ", number, i);

		memset(text + head, 'x', size);
		snprintf(message, sizeof(message), "MESSAGE=%u", number * 100000 + i);
		fields[0] = (struct fixture_field){ message, strlen(message) };
		fields[1] = (struct fixture_field){ text, (size_t)head + size };
		fixture_entry(fx, i ? NULL : &stamp, fields, 2);
	}
	fixture_finish(fx);
	fixture_write(fx, path);
	fixture_free(fx);
	free(path);
	free(text);
}

METHOD_TEST(life, a_small_budget_is_kept_with_larger_files)
{
	static const uint32_t plans[] = { JSCAN_PLAN_AUTO, JSCAN_PLAN_SCAN };
	const uint64_t budget = 4 << 20;

	make_big("big1.journal", 1, 3000, 3000);
	make_big("big2.journal", 2, 3000, 3000);
	for (unsigned i = 0; i < 12; i++) {
		struct jscan_options options = JSCAN_OPTIONS_INIT;
		struct jscan_stats stats = { .size = sizeof(stats) };
		const struct jscan_entry *entry;
		struct jscan *engine;
		unsigned count = 0, expected = 6000;
		int r;

		options.memory_bytes = budget;
		options.io = *method;
		options.plan = plans[i / 2 % 2];
		jscan_new(&options, &engine);
		for (int k = 1; k < 3; k++) {
			char *path = test_path(folder, k == 1 ? "big1.journal" : "big2.journal");

			jscan_add_file(engine, path, JSCAN_ADD_LITERAL);
			free(path);
		}
		jscan_set_direction(engine, i % 2 ? JSCAN_BACKWARD : JSCAN_FORWARD);
		if (i / 4 == 1) {
			jscan_match(engine, "MESSAGE=202900", 14);
			expected = 1;
		} else if (i / 4 == 2) {
			jscan_match(engine, "MESSAGE=nothing", 15);
			expected = 0;
		}
		while ((r = jscan_next(engine, &entry)) == 1)
			count++;
		if (r < 0 && *method == JSCAN_IO_URING && count == 0)
			cr_skip_test("no ring: %s", strerror(-r));
		cr_assert(eq(int, r, 0));
		cr_expect(eq(u32, count, expected), "case %u", i);
		jscan_get_stats(engine, &stats);
		cr_expect(le(u64, stats.memory_peak_bytes, budget), "case %u", i);
		jscan_free(engine);
	}
}

METHOD_TEST(life, fewer_files_than_there_are_may_be_open)
{
	for (uint32_t open_max = 1; open_max < 4; open_max++) {
		struct jscan_options options = JSCAN_OPTIONS_INIT;

		options.files_open_max = open_max;
		options.io = *method;
		for (unsigned i = 0; i < 6; i++) {
			struct jscan *engine;
			char *expected;

			jscan_new(&options, &engine);
			jscan_add_directory(engine, folder, 0);
			if (jscan_open(engine) < 0 && *method == JSCAN_IO_URING)
				cr_skip_test("no ring");
			if (i % 2)
				jscan_set_direction(engine, JSCAN_BACKWARD);
			if (i / 2 == 1)
				jscan_match(engine, "EVERY=3", 7);
			expected = i % 2 ? numbers(ARCHIVE_LAST, 0, ARCHIVE_ENTRIES) :
					   numbers(0, ARCHIVE_LAST, ARCHIVE_ENTRIES);
			if (i / 2 == 1) {
				free(expected);
				expected = NULL;
			}
			if (expected) {
				expect_texts(collect(engine, i / 2 ? DRIVE_RUN : DRIVE_NEXT),
					     expected, "few open");
			} else {
				char *text = collect(engine, DRIVE_LOOP);

				cr_expect(eq(sz, strlen(text), 121));
				free(text);
			}
			jscan_free(engine);
		}
	}
}

Test(life, given_descriptors_do_not_count_among_the_open_files)
{
	struct jscan_options options = JSCAN_OPTIONS_INIT;
	struct jscan *engine;
	char *path;
	int fds[2];

	options.files_open_max = 1;
	jscan_new(&options, &engine);
	for (int i = 0; i < 2; i++) {
		path = archive_path(folder, (unsigned)i);
		fds[i] = open(path, O_RDONLY | O_CLOEXEC);
		cr_assert(eq(int, jscan_add_fd(engine, fds[i], "given", 0), 0));
		free(path);
	}
	path = archive_path(folder, 2);
	jscan_add_file(engine, path, 0);
	free(path);
	expect_texts(collect(engine, DRIVE_NEXT), numbers(0, ARCHIVE_LAST, ARCHIVE_ENTRIES),
		     "given");
	jscan_free(engine);
	close(fds[0]);
	close(fds[1]);
}

METHOD_TEST(life, descriptors_are_borrowed_or_taken)
{
	for (unsigned take = 0; take < 2; take++) {
		struct jscan_options options = JSCAN_OPTIONS_INIT;
		char *path = archive_path(folder, 0);
		int fd = open(path, O_RDONLY | O_CLOEXEC);
		const struct jscan_entry *entry;
		struct jscan *engine;

		options.io = *method;
		jscan_new(&options, &engine);
		cr_assert(eq(int, jscan_add_fd(engine, fd, "a name", take ? JSCAN_TAKE_FD : 0), 0));
		if (jscan_open(engine) < 0 && *method == JSCAN_IO_URING)
			cr_skip_test("no ring");
		cr_assert(eq(int, jscan_next(engine, &entry), 1));
		cr_expect(eq(str, (char *)jscan_entry_info(entry)->path, (char *)"a name"));
		jscan_free(engine);
		cr_expect(eq(int, fcntl(fd, F_GETFD) >= 0, !take));
		if (!take)
			close(fd);
		free(path);
	}
}

METHOD_TEST(life, a_child_cannot_go_on_but_can_free)
{
	struct jscan *engine = archive_open(folder, *method);
	const struct jscan_entry *entry;
	int status;
	pid_t child;

	cr_assert(eq(int, jscan_next(engine, &entry), 1));
	child = fork();
	if (child == 0) {
		int right = jscan_next(engine, &entry) == -ECHILD &&
			    jscan_process(engine) == -ECHILD && jscan_run(engine) == -ECHILD &&
			    jscan_seek_head(engine) == -ECHILD && jscan_fd(engine) == -ECHILD;

		jscan_free(engine);
		_exit(right ? 0 : 1);
	}
	cr_assert(eq(int, (int)waitpid(child, &status, 0), (int)child));
	cr_expect(eq(int, status, 0));
	expect_texts(collect(engine, DRIVE_NEXT), numbers(1, ARCHIVE_LAST, ARCHIVE_LAST),
		     "the parent goes on");
	jscan_free(engine);
}

/* A thread's own engine. */
static void *scan_in_thread(void *userdata)
{
	struct jscan_options options = JSCAN_OPTIONS_INIT;
	const struct jscan_entry *entry;
	uintptr_t sum = 0;

	options.io = *(uint32_t *)userdata;
	for (int i = 0; i < 10; i++) {
		struct jscan *engine;

		if (jscan_new(&options, &engine) < 0)
			return NULL;
		jscan_add_directory(engine, folder, 0);
		while (jscan_next(engine, &entry) == 1)
			sum += jscan_entry_info(entry)->seqnum;
		jscan_free(engine);
	}
	return (void *)sum;
}

METHOD_TEST(life, two_engines_in_two_threads_never_meet)
{
	pthread_t threads[2];

	jscan_free(archive_open(folder, *method)); /* skips without a ring */
	for (int i = 0; i < 2; i++)
		cr_assert(eq(int, pthread_create(&threads[i], NULL, scan_in_thread, method), 0));
	for (int i = 0; i < 2; i++) {
		void *sum;

		pthread_join(threads[i], &sum);
		cr_expect(
			eq(uptr, (uintptr_t)sum, 10 * ARCHIVE_ENTRIES * (ARCHIVE_ENTRIES + 1) / 2));
	}
}

METHOD_TEST(life, an_engine_can_be_freed_at_any_time)
{
	jscan_free(archive_open(folder, *method)); /* skips without a ring */
	make_big("big1.journal", 1, 300, 3000);
	for (unsigned turns = 0; turns < 25; turns++) {
		struct jscan_options options = JSCAN_OPTIONS_INIT;
		const struct jscan_entry *entry;
		struct jscan *engine;

		options.io = *method;
		jscan_new(&options, &engine);
		jscan_add_directory(engine, folder, 0);
		cr_assert(ge(int, jscan_fd(engine), 0));
		for (unsigned i = 0; i < turns; i++) {
			int r = jscan_process(engine);

			cr_assert(r >= 0 || r == -EAGAIN);
			if (r > 0 && i % 2)
				jscan_next(engine, &entry);
		}
		cr_expect(jscan_free(engine) == NULL);
	}
	cr_expect(jscan_free(NULL) == NULL);
}

METHOD_TEST(life, no_descriptor_is_left_behind)
{
	int before, after;

	jscan_free(archive_open(folder, *method));
	before = dup(0);
	close(before);
	for (enum drive how = 0; how < DRIVE_COUNT; how++) {
		struct jscan *engine = archive_open(folder, *method);

		free(collect(engine, how));
		jscan_free(engine);
	}
	after = dup(0);
	close(after);
	cr_expect(eq(int, after, before));
}
