/* SPDX-License-Identifier: MIT */
/* Following: files that grow, are renamed, made anew, copied, written over, while a scan waits. The
 * writer is the fixture's, between two turns of a foreign loop, so that nothing depends on time. */
#include "tests/scan/harness.h"

#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <sys/inotify.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "engine/engine.h"
#include "tests/support/fixture.h"

FOLDER_SUITE(follow, test_folder_make);

/* Watches that are refused from the first one on: the C library's function is not reached. */
static bool watches_refused;

int inotify_add_watch(int fd, const char *path, uint32_t mask)
{
	if (watches_refused) {
		errno = ENOSPC;
		return -1;
	}
	/* The C library's is this system call and no more. */
	return (int)syscall(SYS_inotify_add_watch, fd, path, mask);
}

/* A file that is being written. */
struct live {
	struct fixture *fx;
	char *path;
	uint64_t seqnum, seconds;
};

/* Writes the fixture's bytes into the file, and tells of it as journald does. */
static void live_store(struct live *l)
{
	int fd = open(l->path, O_WRONLY | O_CREAT | O_CLOEXEC, 0600);
	size_t size;

	fixture_finish(l->fx);
	size = fixture_size(l->fx);
	cr_assert(ge(int, fd, 0));
	cr_assert(eq(sz, (size_t)pwrite(fd, fixture_bytes(l->fx), size, 0), size));
	cr_assert(eq(int, ftruncate(fd, (off_t)size), 0));
	close(fd);
}

static struct live live_new(const char *name, uint64_t file, uint64_t seqnum, uint64_t seconds)
{
	return (struct live){
		.fx = fixture_new(&(const struct fixture_options){
			.file_id = fixture_id(file), .seqnum_id = fixture_id(600 + file / 100),
			.state = JOURNAL_STATE_ONLINE, .keyed = true, .compact = file % 2 }),
		.path = test_path(folder, name),
		.seqnum = seqnum,
		.seconds = seconds,
	};
}

static void live_free(struct live *l)
{
	fixture_free(l->fx);
	free(l->path);
}

/* Appends an entry without telling of it. */
static void live_append(struct live *l, const char *message, const char *field)
{
	struct fixture_stamp stamp = {
		.seqnum = l->seqnum++,
		.realtime = FIXTURE_REALTIME + l->seconds * FIXTURE_STEP,
		.monotonic = FIXTURE_MONOTONIC + l->seconds++ * FIXTURE_STEP,
	};
	char text[100];

	snprintf(text, sizeof(text), "MESSAGE=%s", message);
	fixture_add(l->fx, &stamp, text, field, NULL);
}

static void live_add(struct live *l, const char *message, const char *field)
{
	live_append(l, message, field);
	live_store(l);
}

static struct jscan *follow_open(uint32_t method)
{
	struct jscan_options options = JSCAN_OPTIONS_INIT;
	struct jscan *engine;
	int r;

	options.io = method;
	cr_assert(eq(int, jscan_new(&options, &engine), 0));
	cr_assert(eq(int, jscan_add_directory(engine, folder, 0), 0));
	cr_assert(eq(int, jscan_set_follow(engine, 1), 0));
	r = jscan_fd(engine);
	if (r < 0 && method == JSCAN_IO_URING)
		cr_skip_test("no ring: %s", strerror(-r));
	cr_assert(ge(int, r, 0));
	return engine;
}

/* Expects these messages, separated by blanks, and then that the scan waits for its descriptor. */
static void expect_messages(struct jscan *engine, const char *expected)
{
	const struct jscan_entry *entry;
	char *text = NULL, message[100];
	size_t size;
	FILE *f = open_memstream(&text, &size);
	uint64_t usec;
	unsigned waits = 0;

	for (;;) {
		int r = jscan_process(engine);

		cr_assert(ge(int, r, 0));
		if (r == 1 && jscan_next(engine, &entry) == 1) {
			field_text(entry, "MESSAGE", message, sizeof(message));
			fprintf(f, "%s%s", ftell(f) > 0 ? " " : "", message);
			continue;
		}
		if (r == 1)
			continue;
		fflush(f);
		cr_assert(eq(int, jscan_timeout(engine, &usec), 0));
		/* All is there and nothing wakes it any more: it is idle. */
		if (strcmp(text, expected) == 0 || ++waits > 500) {
			struct pollfd p = { .fd = jscan_fd(engine), .events = POLLIN };

			if (usec == UINT64_MAX && poll(&p, 1, 20) == 0)
				break;
			if (waits > 500)
				break;
			continue;
		}
		loop_wait(engine);
	}
	fclose(f);
	cr_assert(eq(str, text, (char *)expected));
	free(text);
}

METHOD_TEST(follow, new_entries_are_read_when_their_file_grows)
{
	struct live l = live_new("system.journal", 1, 1, 0);
	struct jscan *engine;
	char message[20];

	live_add(&l, "a", NULL);
	engine = follow_open(*method);
	expect_messages(engine, "a");
	live_add(&l, "b", NULL);
	expect_messages(engine, "b");
	live_append(&l, "c", NULL);
	live_add(&l, "d", NULL);
	expect_messages(engine, "c d");
	for (unsigned i = 0; i < 300; i++) {
		snprintf(message, sizeof(message), "%u", i);
		live_add(&l, message, NULL);
		expect_messages(engine, message);
	}
	jscan_free(engine);
	live_free(&l);
}

Test(follow, file_that_is_empty_when_opened_is_read_once_it_has_grown)
{
	struct live l = live_new("system.journal", 1, 1, 0);
	struct jscan *engine;
	int fd = open(l.path, O_WRONLY | O_CREAT | O_CLOEXEC, 0600);

	cr_assert(ge(int, fd, 0));
	close(fd);
	engine = follow_open(JSCAN_IO_SYNC);
	cr_assert(ge(int, jscan_process(engine), 0)); /* opens it; its header comes next */
	live_add(&l, "a", NULL);
	expect_messages(engine, "a");
	jscan_free(engine);
	live_free(&l);
}

Test(follow, reads_that_are_short_late_and_refused_do_no_harm)
{
	struct live l = live_new("system.journal", 1, 1, 0);
	struct io_fault fault;
	struct jscan *engine;
	char message[20];

	io_fault_init(&fault, 7);
	fault.read_bytes_max = 100;
	fault.read_bytes_random = true;
	fault.eagain_percent = fault.eintr_percent = 10;
	fault.delay_turns_max = 3;
	fault.reorder = true;
	live_add(&l, "a", NULL);
	cr_assert(eq(int, jscan_new(NULL, &engine), 0));
	engine_set_io(engine, &io_method_fault, &fault);
	cr_assert(eq(int, jscan_add_directory(engine, folder, 0), 0));
	cr_assert(eq(int, jscan_set_follow(engine, 1), 0));
	expect_messages(engine, "a");
	for (unsigned i = 0; i < 20; i++) {
		snprintf(message, sizeof(message), "%u", i);
		live_add(&l, message, NULL);
		expect_messages(engine, message);
	}
	jscan_free(engine);
	live_free(&l);
}

METHOD_TEST(follow, rotation_neither_loses_nor_repeats)
{
	struct live l = live_new("system.journal", 1, 1, 0), next;
	char *archived = test_path(folder, "system@1.journal");
	struct jscan *engine;

	live_add(&l, "a", NULL);
	engine = follow_open(*method);
	expect_messages(engine, "a");
	live_add(&l, "b", NULL);
	cr_assert(eq(int, rename(l.path, archived), 0));
	next = live_new("system.journal", 2, 4, 3);
	live_add(&next, "d", NULL);
	/* The old one gets its last entry when it has its new name. */
	free(l.path);
	l.path = archived;
	fixture_set_state(l.fx, JOURNAL_STATE_ARCHIVED);
	live_add(&l, "c", NULL);
	expect_messages(engine, "b c d");
	live_add(&next, "e", NULL);
	expect_messages(engine, "e");
	/* It is vacuumed. */
	cr_assert(eq(int, unlink(archived), 0));
	live_add(&next, "f", NULL);
	expect_messages(engine, "f");
	cr_expect(eq(sz, jscan_files_added(engine), 1));
	jscan_free(engine);
	live_free(&l);
	live_free(&next);
}

METHOD_TEST(follow, a_new_file_is_read_whole_whatever_its_times)
{
	struct live l = live_new("system.journal", 1, 1, 1000), other, late;
	struct jscan *engine = follow_open(*method);

	expect_messages(engine, "");
	live_add(&l, "a", NULL);
	expect_messages(engine, "a");
	other = live_new("user-1000.journal", 101, 1, 0); /* the clock was put back */
	live_append(&other, "b", NULL);
	live_add(&other, "c", NULL);
	expect_messages(engine, "b c");
	live_add(&l, "d", NULL);
	expect_messages(engine, "d");
	late = live_new("user-1001.journal", 3, 1, 0); /* a number of l's that is past */
	late.seqnum = 2;
	live_add(&late, "e", NULL);
	expect_messages(engine, "e");
	jscan_free(engine);
	live_free(&l);
	live_free(&other);
	live_free(&late);
}

Test(follow, a_copy_of_a_file_is_not_read_again)
{
	struct live l = live_new("system.journal", 1, 1, 0), copy;
	struct jscan *engine;
	char *out = test_path(folder, "gone");

	live_append(&l, "a", NULL);
	live_add(&l, "b", NULL);
	engine = follow_open(JSCAN_IO_SYNC);
	expect_messages(engine, "a b");
	copy = l;
	copy.path = test_path(folder, "system@copy.journal");
	live_store(&copy);
	expect_messages(engine, "");
	live_add(&l, "c", NULL);
	expect_messages(engine, "c");
	/* Nor is one that comes back. */
	cr_assert(eq(int, unlink(copy.path), 0));
	cr_assert(eq(int, rename(l.path, out), 0));
	expect_messages(engine, "");
	cr_assert(eq(int, rename(out, l.path), 0));
	live_add(&l, "d", NULL);
	expect_messages(engine, "d");
	jscan_free(engine);
	free(out);
	free(copy.path);
	live_free(&l);
}

Test(follow, a_file_that_is_written_over_or_cut_does_no_harm)
{
	struct live l = live_new("system.journal", 1, 1, 0);
	struct live other = live_new("b.journal", 101, 1, 9);
	struct live again = live_new("system.journal", 205, 1, 50);
	struct jscan *engine;

	live_add(&l, "a", NULL);
	live_add(&other, "b", NULL);
	engine = follow_open(JSCAN_IO_SYNC);
	expect_messages(engine, "a b");
	cr_assert(eq(int, truncate(l.path, 100), 0));
	live_add(&other, "c", NULL);
	expect_messages(engine, "c");
	cr_assert(eq(int, truncate(l.path, 0), 0));
	live_add(&again, "d", NULL);
	expect_messages(engine, "d");
	jscan_free(engine);
	live_free(&l);
	live_free(&again);
	live_free(&other);
}

Test(follow, a_header_that_is_half_written_is_waited_for)
{
	struct live l = live_new("system.journal", 1, 1, 0);
	uint64_t right;
	struct jscan *engine;
	int fd;

	live_add(&l, "a", NULL);
	engine = follow_open(JSCAN_IO_SYNC);
	expect_messages(engine, "a");
	live_append(&l, "b", NULL);
	fixture_finish(l.fx);
	right = fixture_get64(l.fx, HEADER_TAIL_OBJECT_OFFSET);
	fixture_put64(l.fx, HEADER_TAIL_OBJECT_OFFSET, 8);
	fd = open(l.path, O_WRONLY | O_CLOEXEC);
	cr_assert(eq(sz, (size_t)pwrite(fd, fixture_bytes(l.fx), fixture_size(l.fx), 0),
		     fixture_size(l.fx)));
	expect_messages(engine, "");
	fixture_put64(l.fx, HEADER_TAIL_OBJECT_OFFSET, right);
	cr_assert(eq(sz, (size_t)pwrite(fd, fixture_bytes(l.fx), 272, 0), 272));
	expect_messages(engine, "b");
	close(fd);
	jscan_free(engine);
	live_free(&l);
}

METHOD_TEST(follow, what_matches_may_come_later)
{
	struct live l = live_new("system.journal", 1, 1, 0);
	struct jscan *engine;

	live_add(&l, "a", "UNIT=x");
	engine = follow_open(*method);
	cr_assert(eq(int, jscan_match(engine, "UNIT=y", 6), 0));
	expect_messages(engine, "");
	live_add(&l, "b", "UNIT=y");
	expect_messages(engine, "b");
	live_append(&l, "c", "UNIT=x");
	live_append(&l, "d", "UNIT=y");
	live_add(&l, "e", "UNIT=z");
	expect_messages(engine, "d");
	jscan_free(engine);
	live_free(&l);
}

Test(follow, a_tail_says_where_to_begin)
{
	struct live l = live_new("system.journal", 1, 1, 0);
	struct jscan *engine;

	for (unsigned i = 0; i < 20; i++)
		live_append(&l, i == 18 ? "a" : i == 19 ? "b" : "-", "UNIT=y");
	live_store(&l);
	engine = follow_open(JSCAN_IO_SYNC);
	cr_assert(eq(int, jscan_match(engine, "UNIT=y", 6), 0));
	cr_assert(eq(int, jscan_set_tail(engine, 2), 0));
	expect_messages(engine, "a b");
	live_add(&l, "c", "UNIT=y");
	expect_messages(engine, "c");
	jscan_free(engine);
	live_free(&l);
}

/* What the problem handler has been told. */
static void count_watch_problems(void *userdata, const struct jscan_problem *problem)
{
	*(unsigned *)userdata += problem->reason == JSCAN_REASON_WATCH;
}

METHOD_TEST(follow, a_timer_serves_where_watches_have_run_out)
{
	struct live l = live_new("system.journal", 1, 1, 0), other;
	struct jscan *engine;
	unsigned problems = 0;

	watches_refused = true;
	live_add(&l, "a", NULL);
	engine = follow_open(*method);
	jscan_set_problem_handler(engine, count_watch_problems, &problems);
	expect_messages(engine, "a");
	live_add(&l, "b", NULL);
	expect_messages(engine, "b");
	other = live_new("user-1000.journal", 101, 1, 0);
	live_add(&other, "c", NULL);
	expect_messages(engine, "c");
	cr_expect(eq(u32, problems, 1));
	jscan_free(engine);
	live_free(&l);
	live_free(&other);
}

static void *stop_later(void *engine)
{
	usleep(50000);
	jscan_stop(engine);
	return NULL;
}

METHOD_TEST(follow, stopping_wakes_what_waits)
{
	struct jscan_options options = JSCAN_OPTIONS_INIT;
	struct live l = live_new("system.journal", 1, 1, 0);
	const struct jscan_entry *entry;
	struct jscan *engine;
	pthread_t thread;
	int r;

	live_add(&l, "a", NULL);
	options.io = *method;
	cr_assert(eq(int, jscan_new(&options, &engine), 0));
	cr_assert(eq(int, jscan_set_follow(engine, 1), 0));
	cr_assert(eq(int, jscan_add_file(engine, l.path, 0), 0));
	r = jscan_next(engine, &entry);
	if (r < 0 && *method == JSCAN_IO_URING)
		cr_skip_test("no ring: %s", strerror(-r));
	cr_assert(eq(int, r, 1));
	cr_assert(eq(int, pthread_create(&thread, NULL, stop_later, engine), 0));
	cr_expect(eq(int, jscan_next(engine, &entry), 0));
	pthread_join(thread, NULL);
	jscan_free(engine);
	live_free(&l);
}

Test(follow, it_is_said_before_files_are_opened)
{
	struct jscan *engine;

	cr_assert(eq(int, jscan_new(NULL, &engine), 0));
	cr_assert(eq(int, jscan_add_directory(engine, folder, 0), 0));
	cr_expect(eq(int, jscan_set_follow(engine, 1), 0));
	cr_expect(eq(int, jscan_set_follow(engine, 0), 0));
	cr_assert(eq(int, jscan_open(engine), 0));
	cr_expect(eq(int, jscan_set_follow(engine, 1), -EINVAL));
	jscan_free(engine);
}
