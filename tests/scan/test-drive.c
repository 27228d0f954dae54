/* SPDX-License-Identifier: MIT */
/* Sinks and engines at work: the order of slots, stopping, holding back, copies, problems and
 * limits. */
#include "tests/scan/harness.h"

#include <fcntl.h>
#include <pthread.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include "tests/support/fixture.h"
#include "tests/support/io-methods.h"

#define LAST (ARCHIVE_ENTRIES - 1)

static uint32_t methods[] = METHODS;
static char *folder;

#define METHOD_PARAMETERS(name)                                                                    \
	ParameterizedTestParameters(drive, name)                                                   \
	{                                                                                          \
		return cr_make_param_array(uint32_t, methods,                                      \
					   sizeof(methods) / sizeof(methods[0]));                  \
	}

static void setup(void)
{
	folder = archive_make();
}

static void teardown(void)
{
	folder = test_folder_remove(folder);
}

TestSuite(drive, .init = setup, .fini = teardown, .timeout = 60);

/* A sink that writes down what is called: b begin, e entry, p problem, f flush, E end, F free; and
 * answers what it is told at the entry, flush or problem that it is told. */
struct script {
	char trace[1000];
	size_t size;
	unsigned entries, eagain;
	unsigned answer_at;  /* entry, from 1 */
	int answer;
	int begin_answer, problem_answer, flush_answer, end_answer;
	uint64_t ordinal;
	struct script *other;
};

static void note(struct script *s, char c)
{
	if (s->size < sizeof(s->trace) - 1 && (s->size == 0 || s->trace[s->size - 1] != c))
		s->trace[s->size++] = c;
}

static int script_begin(void *userdata, struct jscan *engine)
{
	struct script *s = userdata;

	cr_expect(engine != NULL);
	note(s, 'b');
	return s->begin_answer;
}

static int script_entry(void *userdata, const struct jscan_entry *entry,
			const struct jscan_entry_context *context)
{
	struct script *s = userdata;

	note(s, 'e');
	if (s->entries + 1 == s->answer_at && s->answer == -EAGAIN && s->eagain > 0) {
		char text[20], expected[20];

		s->eagain--;
		field_text(entry, "MESSAGE", text, sizeof(text));
		snprintf(expected, sizeof(expected), "%u", s->entries);
		cr_expect(eq(str, text, expected), "the same entry is offered again");
		return -EAGAIN;
	}
	s->entries++;
	cr_expect(eq(u64, context->ordinal, s->ordinal++));
	cr_expect(eq(int, context->has_previous, s->entries > 1));
	if (context->has_previous && s->entries <= ARCHIVE_ENTRIES) {
		jscan_id boot = archive_boot_id(s->entries - 2);

		cr_expect(eq(int, memcmp(&context->previous_boot_id, &boot, sizeof(boot)), 0));
	}
	return s->entries == s->answer_at && s->answer != -EAGAIN ? s->answer : 0;
}

static int script_problem(void *userdata, const struct jscan_problem *problem)
{
	struct script *s = userdata;

	cr_expect(gt(int, (int)problem->reason, 0));
	note(s, 'p');
	return s->problem_answer;
}

static int script_flush(void *userdata)
{
	struct script *s = userdata;

	note(s, 'f');
	return s->flush_answer;
}

static int script_end(void *userdata)
{
	struct script *s = userdata;

	note(s, 'E');
	return s->end_answer;
}

static void script_free(void *userdata)
{
	struct script *s = userdata;

	note(s, 'F');
}

static const struct jscan_sink_ops script_ops = {
	.size = sizeof(script_ops), .name = "script", .begin = script_begin, .entry = script_entry,
	.problem = script_problem, .flush = script_flush, .end = script_end, .free = script_free,
};

/* Whether a letter was written down. */
static bool noted(const struct script *s, char c)
{
	return memchr(s->trace, c, s->size) != NULL;
}

/* Runs a scan that feeds one script, blocking or in a loop; frees the engine. */
static int run_script(uint32_t method, struct script *s, bool loop)
{
	struct jscan *engine = archive_open(folder, method);
	int r;

	cr_assert(eq(int, jscan_add_sink(engine, &script_ops, s), 0));
	if (!loop) {
		r = jscan_run(engine);
	} else {
		cr_assert(ge(int, jscan_fd(engine), 0));
		while ((r = jscan_process(engine)) >= 0 || r == -EAGAIN) {
			if (r <= 0)
				loop_wait(engine);
		}
	}
	jscan_free(engine);
	return r;
}

METHOD_PARAMETERS(slots_are_called_in_order)
ParameterizedTest(uint32_t *method, drive, slots_are_called_in_order)
{
	for (int loop = 0; loop < 2; loop++) {
		struct script s = { .size = 0 };

		cr_expect(eq(int, run_script(*method, &s, loop), loop ? -ENODATA : 0));
		cr_expect(eq(u32, s.entries, ARCHIVE_ENTRIES));
		cr_assert(ge(sz, s.size, 5));
		cr_expect(eq(chr, s.trace[0], 'b'));
		cr_expect(eq(str, s.trace + s.size - 3, (char *)"fEF"), "%s", s.trace);
	}
}

METHOD_PARAMETERS(an_answer_of_1_stops_and_end_still_runs)
ParameterizedTest(uint32_t *method, drive, an_answer_of_1_stops_and_end_still_runs)
{
	for (int loop = 0; loop < 2; loop++) {
		struct script s = { .answer_at = 5, .answer = 1 };

		cr_expect(eq(int, run_script(*method, &s, loop), loop ? -ENODATA : 1));
		cr_expect(eq(u32, s.entries, 5));
		cr_expect(noted(&s, 'E'));
	}
}

METHOD_PARAMETERS(a_negative_answer_aborts_without_end)
ParameterizedTest(uint32_t *method, drive, a_negative_answer_aborts_without_end)
{
	for (int loop = 0; loop < 2; loop++) {
		struct script s = { .answer_at = 5, .answer = -ENOSPC };

		cr_expect(eq(int, run_script(*method, &s, loop), -ENOSPC));
		cr_expect(eq(u32, s.entries, 5));
		cr_expect(not(noted(&s, 'E')));
		cr_expect(noted(&s, 'F'));
	}
}

METHOD_PARAMETERS(a_sink_that_is_not_ready_is_offered_the_entry_again)
ParameterizedTest(uint32_t *method, drive, a_sink_that_is_not_ready_is_offered_the_entry_again)
{
	for (int loop = 0; loop < 2; loop++) {
		struct script s = { .answer_at = 7, .answer = -EAGAIN, .eagain = 40 };

		cr_expect(eq(int, run_script(*method, &s, loop), loop ? -ENODATA : 0));
		cr_expect(eq(u32, s.entries, ARCHIVE_ENTRIES));
		cr_expect(eq(u32, s.eagain, 0));
	}
}

Test(drive, begin_may_stop_or_abort)
{
	struct script stop = { .begin_answer = 1 }, abort_it = { .begin_answer = -EPERM };

	cr_expect(eq(int, run_script(JSCAN_IO_SYNC, &stop, false), 1));
	cr_expect(eq(u32, stop.entries, 0));
	cr_expect(noted(&stop, 'E'));
	cr_expect(eq(int, run_script(JSCAN_IO_SYNC, &abort_it, false), -EPERM));
	cr_expect(eq(u32, abort_it.entries, 0));
}

Test(drive, flush_and_end_may_abort)
{
	struct script flush = { .flush_answer = -EIO }, end = { .end_answer = -EIO };

	cr_expect(eq(int, run_script(JSCAN_IO_SYNC, &flush, false), -EIO));
	cr_expect(not(noted(&flush, 'E')));
	cr_expect(eq(int, run_script(JSCAN_IO_SYNC, &end, false), -EIO));
	cr_expect(eq(u32, end.entries, ARCHIVE_ENTRIES));
}

/* Adds a damaged file to the archive. */
static void add_damaged(void)
{
	struct fixture *fx = fixture_new(&(const struct fixture_options){
		.seqnum_id = fixture_id(503), .boot_id = fixture_id(501) });
	struct fixture_stamp stamp = { .seqnum = 1000, .realtime = ARCHIVE_TIME(1000) };
	char *path = test_path(folder, "damaged.journal");

	fixture_add(fx, &stamp, "MESSAGE=1000", NULL);
	fixture_add(fx, NULL, "MESSAGE=1001", NULL);
	fixture_add(fx, NULL, "MESSAGE=1002", NULL);
	fixture_finish(fx);
	fixture_put64(fx, fixture_find_entry(fx, 1) + ENTRY_REALTIME, 0);
	fixture_write(fx, path);
	fixture_free(fx);
	free(path);
}

Test(drive, a_problem_slot_may_stop_or_abort)
{
	struct script ignore = { .size = 0 }, stop = { .problem_answer = 1 };
	struct script abort_it = { .problem_answer = -ECONNRESET };

	add_damaged();
	cr_expect(eq(int, run_script(JSCAN_IO_SYNC, &ignore, false), 0));
	cr_expect(noted(&ignore, 'p'));
	cr_expect(eq(u32, ignore.entries, ARCHIVE_ENTRIES + 2));
	cr_expect(eq(int, run_script(JSCAN_IO_SYNC, &stop, false), 1));
	cr_expect(noted(&stop, 'E'));
	cr_expect(eq(int, run_script(JSCAN_IO_SYNC, &abort_it, false), -ECONNRESET));
	cr_expect(not(noted(&abort_it, 'E')));
	cr_expect(le(u32, abort_it.entries, ARCHIVE_ENTRIES + 1));
}

Test(drive, every_sink_gets_every_entry_once_even_if_one_holds_back)
{
	struct jscan *engine = archive_open(folder, JSCAN_IO_AUTO);
	struct script a = { .size = 0 }, c = { .size = 0 };
	struct script b = { .answer_at = 3, .answer = -EAGAIN, .eagain = 5 };

	cr_assert(eq(int, jscan_add_sink(engine, &script_ops, &a), 0));
	cr_assert(eq(int, jscan_add_sink(engine, &script_ops, &b), 0));
	cr_assert(eq(int, jscan_add_sink(engine, &script_ops, &c), 0));
	cr_expect(eq(int, jscan_run(engine), 0));
	cr_expect(eq(u32, a.entries, ARCHIVE_ENTRIES));
	cr_expect(eq(u32, b.entries, ARCHIVE_ENTRIES));
	cr_expect(eq(u32, c.entries, ARCHIVE_ENTRIES));
	jscan_free(engine);
	cr_expect(noted(&a, 'F') && noted(&b, 'F') && noted(&c, 'F'));
}

Test(drive, after_one_sinks_stop_the_others_have_had_the_same_entries)
{
	struct jscan *engine = archive_open(folder, JSCAN_IO_AUTO);
	struct script a = { .answer_at = 4, .answer = 1 }, b = { .size = 0 };

	jscan_add_sink(engine, &script_ops, &a);
	jscan_add_sink(engine, &script_ops, &b);
	cr_expect(eq(int, jscan_run(engine), 1));
	cr_expect(eq(u32, a.entries, 4));
	cr_expect(eq(u32, b.entries, 4));
	jscan_free(engine);
}

Test(drive, a_scan_without_begin_gets_no_end)
{
	struct jscan *engine = archive_open(folder, JSCAN_IO_AUTO);
	struct script s = { .size = 0 };
	const struct jscan_entry *entry;

	cr_expect(eq(int, jscan_run(engine), -EINVAL), "there is no sink");
	jscan_add_sink(engine, &script_ops, &s);
	cr_expect(eq(int, jscan_next(engine, &entry), -EINVAL), "sinks take the entries");
	jscan_free(engine);
	cr_expect(eq(str, s.trace, (char *)"F"));
}

/* sink: entry; stops the engine, as a signal handler would. */
static int stop_now(void *userdata, const struct jscan_entry *entry,
		    const struct jscan_entry_context *context)
{
	(void)entry;
	if (context->ordinal == 9)
		jscan_stop(userdata);
	return 0;
}

Test(drive, stop_ends_a_run_which_can_go_on)
{
	struct jscan_sink_ops ops = { .size = sizeof(ops), .entry = stop_now };
	struct jscan_stats stats = { .size = sizeof(stats) };
	struct jscan *engine = archive_open(folder, JSCAN_IO_AUTO);

	jscan_add_sink(engine, &ops, engine);
	cr_expect(eq(int, jscan_run(engine), 1));
	cr_assert(eq(int, jscan_get_stats(engine, &stats), 0));
	cr_expect(eq(u64, stats.entries, 10));
	cr_expect(eq(int, jscan_run(engine), 0));
	cr_assert(eq(int, jscan_get_stats(engine, &stats), 0));
	cr_expect(eq(u64, stats.entries, ARCHIVE_ENTRIES));
	jscan_free(engine);
}

/* A sink that formats. */
static int format_message(const void *userdata, const struct jscan_entry *entry,
			  const struct jscan_entry_context *context, struct jscan_buffer *buffer)
{
	char text[30];

	(void)userdata;
	(void)context;
	field_text(entry, "MESSAGE", text, sizeof(text) - 1);
	strcat(text, "\n");
	return jscan_buffer_append(buffer, text, strlen(text));
}

static int write_bytes(void *userdata, const void *data, size_t size)
{
	return fwrite(data, 1, size, userdata) == size ? 0 : -EIO;
}

METHOD_PARAMETERS(what_is_formatted_is_written_in_order)
ParameterizedTest(uint32_t *method, drive, what_is_formatted_is_written_in_order)
{
	struct jscan_sink_ops ops = { .size = sizeof(ops), .format = format_message,
				      .write = write_bytes };
	struct jscan *engine = archive_open(folder, *method);
	char *text = NULL, *expected = numbers(0, LAST, ARCHIVE_ENTRIES);
	size_t size;
	FILE *f = open_memstream(&text, &size);

	for (char *p = expected; *p; p++)
		*p = *p == ' ' ? '\n' : *p;
	jscan_add_sink(engine, &ops, f);
	cr_expect(eq(int, jscan_run(engine), 0));
	fclose(f);
	cr_assert(gt(sz, size, 0));
	text[size - 1] = '\0';
	expect_texts(text, expected, "formatted");
	jscan_free(engine);
}

METHOD_PARAMETERS(a_copy_outlives_the_engine)
ParameterizedTest(uint32_t *method, drive, a_copy_outlives_the_engine)
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

Test(drive, fields_are_whole_up_to_64_kib_and_read_in_pieces_beyond)
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

Test(drive, damage_is_reported_with_file_place_and_reason)
{
	struct problems problems = { .count = 0 };
	struct jscan *engine;
	char *text;

	add_damaged();
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

Test(drive, files_that_cannot_be_used_are_reported_and_left_out)
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
	expect_texts(collect(engine, DRIVE_NEXT), numbers(0, LAST, ARCHIVE_ENTRIES), "the others");
	cr_expect(eq(sz, jscan_files_usable(engine), 3));
	cr_expect(eq(u32, problems.count, 3));
	cr_expect(ne(u32, problems.reasons & 1u << JSCAN_REASON_OPEN, 0));
	cr_assert(eq(int, jscan_get_stats(engine, &stats), 0));
	cr_expect(eq(u64, stats.files, 3));
	cr_expect(eq(u64, stats.files_failed, 3));
	cr_expect(eq(u64, stats.problems, 3));
	jscan_free(engine);
}

METHOD_PARAMETERS(statistics_say_what_was_done)
ParameterizedTest(uint32_t *method, drive, statistics_say_what_was_done)
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

METHOD_PARAMETERS(a_small_budget_is_kept_with_larger_files)
ParameterizedTest(uint32_t *method, drive, a_small_budget_is_kept_with_larger_files)
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

METHOD_PARAMETERS(fewer_files_than_there_are_may_be_open)
ParameterizedTest(uint32_t *method, drive, fewer_files_than_there_are_may_be_open)
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
			expected = i % 2 ? numbers(LAST, 0, ARCHIVE_ENTRIES) :
					   numbers(0, LAST, ARCHIVE_ENTRIES);
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

Test(drive, given_descriptors_do_not_count_among_the_open_files)
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
	expect_texts(collect(engine, DRIVE_NEXT), numbers(0, LAST, ARCHIVE_ENTRIES), "given");
	jscan_free(engine);
	close(fds[0]);
	close(fds[1]);
}

METHOD_PARAMETERS(descriptors_are_borrowed_or_taken)
ParameterizedTest(uint32_t *method, drive, descriptors_are_borrowed_or_taken)
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

Test(drive, what_is_no_regular_file_is_refused)
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

METHOD_PARAMETERS(a_child_cannot_go_on_but_can_free)
ParameterizedTest(uint32_t *method, drive, a_child_cannot_go_on_but_can_free)
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
	expect_texts(collect(engine, DRIVE_NEXT), numbers(1, LAST, LAST), "the parent goes on");
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

METHOD_PARAMETERS(two_engines_in_two_threads_never_meet)
ParameterizedTest(uint32_t *method, drive, two_engines_in_two_threads_never_meet)
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

METHOD_PARAMETERS(an_engine_can_be_freed_at_any_time)
ParameterizedTest(uint32_t *method, drive, an_engine_can_be_freed_at_any_time)
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

METHOD_PARAMETERS(no_descriptor_is_left_behind)
ParameterizedTest(uint32_t *method, drive, no_descriptor_is_left_behind)
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
