/* SPDX-License-Identifier: MIT */
/* Sinks: the order of their slots, stopping, aborting and holding back, one sink beside another. */
#include "tests/scan/harness.h"

FOLDER_SUITE(sinks, archive_make);

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

METHOD_TEST(sinks, slots_are_called_in_order)
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

METHOD_TEST(sinks, an_answer_of_1_stops_and_end_still_runs)
{
	for (int loop = 0; loop < 2; loop++) {
		struct script s = { .answer_at = 5, .answer = 1 };

		cr_expect(eq(int, run_script(*method, &s, loop), loop ? -ENODATA : 1));
		cr_expect(eq(u32, s.entries, 5));
		cr_expect(noted(&s, 'E'));
	}
}

METHOD_TEST(sinks, a_negative_answer_aborts_without_end)
{
	for (int loop = 0; loop < 2; loop++) {
		struct script s = { .answer_at = 5, .answer = -ENOSPC };

		cr_expect(eq(int, run_script(*method, &s, loop), -ENOSPC));
		cr_expect(eq(u32, s.entries, 5));
		cr_expect(not(noted(&s, 'E')));
		cr_expect(noted(&s, 'F'));
	}
}

METHOD_TEST(sinks, a_sink_that_is_not_ready_is_offered_the_entry_again)
{
	for (int loop = 0; loop < 2; loop++) {
		struct script s = { .answer_at = 7, .answer = -EAGAIN, .eagain = 40 };

		cr_expect(eq(int, run_script(*method, &s, loop), loop ? -ENODATA : 0));
		cr_expect(eq(u32, s.entries, ARCHIVE_ENTRIES));
		cr_expect(eq(u32, s.eagain, 0));
	}
}

Test(sinks, begin_may_stop_or_abort)
{
	struct script stop = { .begin_answer = 1 }, abort_it = { .begin_answer = -EPERM };

	cr_expect(eq(int, run_script(JSCAN_IO_SYNC, &stop, false), 1));
	cr_expect(eq(u32, stop.entries, 0));
	cr_expect(noted(&stop, 'E'));
	cr_expect(eq(int, run_script(JSCAN_IO_SYNC, &abort_it, false), -EPERM));
	cr_expect(eq(u32, abort_it.entries, 0));
}

Test(sinks, flush_and_end_may_abort)
{
	struct script flush = { .flush_answer = -EIO }, end = { .end_answer = -EIO };

	cr_expect(eq(int, run_script(JSCAN_IO_SYNC, &flush, false), -EIO));
	cr_expect(not(noted(&flush, 'E')));
	cr_expect(eq(int, run_script(JSCAN_IO_SYNC, &end, false), -EIO));
	cr_expect(eq(u32, end.entries, ARCHIVE_ENTRIES));
}

Test(sinks, a_problem_slot_may_stop_or_abort)
{
	struct script ignore = { .size = 0 }, stop = { .problem_answer = 1 };
	struct script abort_it = { .problem_answer = -ECONNRESET };

	archive_add_damaged(folder);
	cr_expect(eq(int, run_script(JSCAN_IO_SYNC, &ignore, false), 0));
	cr_expect(noted(&ignore, 'p'));
	cr_expect(eq(u32, ignore.entries, ARCHIVE_ENTRIES + 2));
	cr_expect(eq(int, run_script(JSCAN_IO_SYNC, &stop, false), 1));
	cr_expect(noted(&stop, 'E'));
	cr_expect(eq(int, run_script(JSCAN_IO_SYNC, &abort_it, false), -ECONNRESET));
	cr_expect(not(noted(&abort_it, 'E')));
	cr_expect(le(u32, abort_it.entries, ARCHIVE_ENTRIES + 1));
}

Test(sinks, every_sink_gets_every_entry_once_even_if_one_holds_back)
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

Test(sinks, after_one_sinks_stop_the_others_have_had_the_same_entries)
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

Test(sinks, a_scan_without_begin_gets_no_end)
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

Test(sinks, stop_ends_a_run_which_can_go_on)
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

METHOD_TEST(sinks, what_is_formatted_is_written_in_order)
{
	struct jscan_sink_ops ops = { .size = sizeof(ops), .format = format_message,
				      .write = write_bytes };
	struct jscan *engine = archive_open(folder, *method);
	char *text = NULL, *expected = numbers(0, ARCHIVE_LAST, ARCHIVE_ENTRIES);
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
