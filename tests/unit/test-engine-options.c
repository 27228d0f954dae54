/* SPDX-License-Identifier: MIT */
/* What the engine's entry points accept and refuse. */
#include <criterion/criterion.h>
#include <criterion/new/assert.h>
#include <stdio.h>
#include <stdlib.h>

#include "engine/engine.h"
#include "tests/support/io-methods.h"

/* What jscan_new() answers. */
static int try(const void *options)
{
	struct jscan *engine = NULL;
	int r = jscan_new(options, &engine);

	cr_expect(eq(int, engine != NULL, r == 0));
	jscan_free(engine);
	return r;
}

Test(engine_options, none_are_needed)
{
	cr_expect(eq(int, try(NULL), 0));
	cr_expect(eq(int, try(&(struct jscan_options)JSCAN_OPTIONS_INIT), 0));
	cr_expect(eq(int, jscan_new(NULL, NULL), -EINVAL));
}

Test(engine_options, a_shorter_structure_is_extended_with_zeros)
{
	struct jscan_options options;
	struct jscan *engine;

	memset(&options, 0xff, sizeof(options));
	options.size = offsetof(struct jscan_options, io);
	options.memory_bytes = 8 << 20;
	cr_assert(eq(int, jscan_new(&options, &engine), 0));
	cr_expect(eq(u64, engine->options.memory_bytes, 8 << 20));
	cr_expect(eq(u32, engine->options.io, JSCAN_IO_AUTO));
	cr_expect(eq(u32, engine->options.queue_depth, 64));
	jscan_free(engine);
	options.size = sizeof(size_t);
	cr_expect(eq(int, try(&options), 0));
	options.size = sizeof(size_t) - 1;
	cr_expect(eq(int, try(&options), -EINVAL));
	options.size = 0;
	cr_expect(eq(int, try(&options), -EINVAL));
}

Test(engine_options, a_longer_structure_must_be_zero_behind_ours)
{
	struct {
		struct jscan_options options;
		uint8_t later[24];
	} options = { JSCAN_OPTIONS_INIT, { 0 } };

	options.options.size = sizeof(options);
	cr_expect(eq(int, try(&options), 0));
	for (size_t i = 0; i < sizeof(options.later); i++) {
		options.later[i] = 1;
		cr_expect(eq(int, try(&options), -E2BIG));
		options.later[i] = 0;
	}
}

Test(engine_options, values_beyond_reason_are_refused)
{
	const struct jscan_options good = JSCAN_OPTIONS_INIT;
	struct jscan_options o = good;

	o.io = JSCAN_IO_SYNC + 1;
	cr_expect(eq(int, try(&o), -EINVAL));
	o = good;
	o.plan = JSCAN_PLAN_SCAN + 1;
	cr_expect(eq(int, try(&o), -EINVAL));
	o = good;
	o.queue_depth = 4097;
	cr_expect(eq(int, try(&o), -EINVAL));
	o.queue_depth = 4096;
	cr_expect(eq(int, try(&o), 0));
	o = good;
	o.io_threads = 65;
	cr_expect(eq(int, try(&o), -EINVAL));
}

Test(engine_options, calls_without_an_engine_are_refused)
{
	const struct jscan_entry *entry;
	jscan_id id = { { 0 } };
	uint64_t number;

	cr_expect(eq(int, jscan_add_file(NULL, "x", 0), -EINVAL));
	cr_expect(eq(int, jscan_add_directory(NULL, "x", 0), -EINVAL));
	cr_expect(eq(int, jscan_add_fd(NULL, 0, "x", 0), -EINVAL));
	cr_expect(eq(int, jscan_add_system(NULL, 0), -EINVAL));
	cr_expect(eq(int, jscan_match(NULL, "A=1", 3), -EINVAL));
	cr_expect(eq(int, jscan_match_or(NULL), -EINVAL));
	cr_expect(eq(int, jscan_match_and(NULL), -EINVAL));
	jscan_match_flush(NULL);
	cr_expect(eq(int, jscan_set_direction(NULL, JSCAN_FORWARD), -EINVAL));
	cr_expect(eq(int, jscan_set_bounds(NULL, 0, 1), -EINVAL));
	cr_expect(eq(int, jscan_set_limit(NULL, 1), -EINVAL));
	cr_expect(eq(int, jscan_set_tail(NULL, 1), -EINVAL));
	cr_expect(eq(int, jscan_seek_head(NULL), -EINVAL));
	cr_expect(eq(int, jscan_seek_tail(NULL), -EINVAL));
	cr_expect(eq(int, jscan_seek_realtime(NULL, 1), -EINVAL));
	cr_expect(eq(int, jscan_seek_monotonic(NULL, &id, 1), -EINVAL));
	cr_expect(eq(int, jscan_seek_seqnum(NULL, &id, 1), -EINVAL));
	cr_expect(eq(int, jscan_seek_cursor(NULL, "t=1"), -EINVAL));
	cr_expect(eq(int, jscan_open(NULL), -EINVAL));
	cr_expect(eq(int, jscan_next(NULL, &entry), -EINVAL));
	cr_expect(eq(int, jscan_run(NULL), -EINVAL));
	cr_expect(eq(int, jscan_process(NULL), -EINVAL));
	cr_expect(eq(int, jscan_fd(NULL), -EINVAL));
	cr_expect(eq(int, jscan_events(NULL), -EINVAL));
	cr_expect(eq(int, jscan_timeout(NULL, &number), -EINVAL));
	cr_expect(eq(int, jscan_count(NULL, &number), -EINVAL));
}

Test(engine_options, wrong_arguments_are_refused)
{
	struct jscan_output output = { .size = sizeof(output), .mode = JSCAN_MODE_CAT };
	struct jscan *e;

	cr_assert(eq(int, jscan_new(NULL, &e), 0));
	cr_expect(eq(int, jscan_match(e, NULL, 3), -EINVAL));
	cr_expect(eq(int, jscan_match(e, "__A=1", 5), -EINVAL));
	cr_expect(eq(int, jscan_set_direction(e, (enum jscan_direction)2), -EINVAL));
	cr_expect(eq(int, jscan_seek_monotonic(e, NULL, 1), -EINVAL));
	cr_expect(eq(int, jscan_seek_seqnum(e, NULL, 1), -EINVAL));
	cr_expect(eq(int, jscan_seek_cursor(e, NULL), -EINVAL));
	cr_expect(eq(int, jscan_add_fd(e, -1, "x", 0), -EINVAL));
	cr_expect(eq(int, jscan_add_fd(e, 0, NULL, 0), -EINVAL));
	cr_expect(eq(int, jscan_add_fd(e, 0, "x", JSCAN_ADD_LITERAL), -EINVAL));
	cr_expect(eq(int, jscan_add_system(e, JSCAN_TAKE_FD), -EINVAL));
	cr_expect(eq(int, jscan_next(e, NULL), -EINVAL));
	cr_expect(eq(int, jscan_count(e, NULL), -EINVAL));
	cr_expect(eq(int, jscan_add_output(e, NULL, 1), -EINVAL));
	cr_expect(eq(int, jscan_add_output(e, &output, -1), -EINVAL));
	output.mode = JSCAN_MODE_JSON_STABLE + 1;
	cr_expect(eq(int, jscan_add_output(e, &output, 1), -EINVAL));
	output.mode = JSCAN_MODE_CAT;
	output.flags = 1u << 31;
	cr_expect(eq(int, jscan_add_output(e, &output, 1), -EINVAL));
	output.flags = 0;
	output.size = sizeof(output.size);
	cr_expect(eq(int, jscan_add_output(e, &output, 1), -EINVAL));
	cr_expect(eq(int, jscan_set_follow(e, 0), 0));
	jscan_free(e);
}

Test(engine_options, files_are_added_before_the_scan_begins)
{
	char *folder = test_folder_make();
	struct jscan *e;

	cr_assert(eq(int, jscan_new(NULL, &e), 0));
	cr_expect(eq(int, jscan_add_directory(e, folder, 0), 0));
	cr_expect(eq(int, jscan_open(e), 0));
	cr_expect(eq(int, jscan_open(e), 0), "once more does no harm");
	cr_expect(eq(int, jscan_add_directory(e, folder, 0), -EINVAL));
	cr_expect(eq(int, jscan_add_file(e, folder, 0), -EINVAL));
	cr_expect(eq(int, jscan_add_fd(e, 0, "x", 0), -EINVAL));
	jscan_free(e);
	test_folder_remove(folder);
}

Test(engine_options, a_scan_over_nothing_ends_at_once)
{
	const struct jscan_entry *entry;
	uint64_t count = 7;
	struct jscan *e;

	cr_assert(eq(int, jscan_new(NULL, &e), 0));
	cr_expect(eq(int, jscan_next(e, &entry), 0));
	cr_expect(eq(int, jscan_next(e, &entry), 0));
	cr_expect(eq(int, jscan_count(e, &count), 0));
	cr_expect(eq(u64, count, 0));
	cr_expect(eq(sz, jscan_files_added(e), 0));
	cr_expect(eq(sz, jscan_files_usable(e), 0));
	jscan_free(e);
}

Test(engine_options, ids_are_text_and_back)
{
	static const char *const wrong[] = { "", "0", "0123456789abcdef0123456789abcde",
					     "0123456789abcdef0123456789abcdeg",
					     "0123456789abcdef0123456789abcdef0",
					     "01234567-89ab-cdef-0123-456789abcdef" };
	char text[JSCAN_ID_TEXT_SIZE];
	jscan_id id;

	cr_assert(eq(int, jscan_id_parse("0123456789abcdefFEDCBA9876543210", &id), 0));
	cr_expect(eq(u8, id.bytes[0], 0x01));
	cr_expect(eq(u8, id.bytes[15], 0x10));
	cr_expect(eq(str, jscan_id_format(&id, text), (char *)"0123456789abcdeffedcba9876543210"));
	for (size_t i = 0; i < sizeof(wrong) / sizeof(wrong[0]); i++)
		cr_expect(eq(int, jscan_id_parse(wrong[i], &id), -EINVAL), "%s", wrong[i]);
}

Test(engine_options, modes_have_names)
{
	static const char *const names[] = {
		"short", "short-full", "short-iso", "short-iso-precise", "short-precise",
		"short-monotonic", "short-delta", "short-unix", "with-unit", "verbose", "export",
		"json", "json-pretty", "json-sse", "json-seq", "cat",
		"json-stable",
	};
	enum jscan_mode mode;

	for (unsigned i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
		cr_assert(eq(int, jscan_mode_parse(names[i], &mode), 0), "%s", names[i]);
		cr_expect(eq(u32, mode, i), "%s", names[i]);
	}
	cr_expect(eq(int, jscan_mode_parse("", &mode), -EINVAL));
	cr_expect(eq(int, jscan_mode_parse("Short", &mode), -EINVAL));
	cr_expect(eq(int, jscan_mode_parse("shor", &mode), -EINVAL));
}

Test(engine_options, the_version_is_the_headers)
{
	char text[40];

	snprintf(text, sizeof(text), "%d.%d.%d", JSCAN_VERSION_MAJOR, JSCAN_VERSION_MINOR,
		 JSCAN_VERSION_PATCH);
	cr_expect(eq(str, (char *)jscan_version(), text));
}
