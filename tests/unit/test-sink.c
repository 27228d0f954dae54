/* SPDX-License-Identifier: MIT */
/* Sinks: tables of any size are completed, and what a sink has formatted is handed on. */
#include <criterion/criterion.h>
#include <criterion/new/assert.h>
#include <stdlib.h>

#include "engine/engine.h"
#include "engine/sink.h"

static char trace[256];

/* Notes a call by a letter. */
static void note(char c)
{
	size_t size = strlen(trace);

	cr_assert(lt(sz, size, sizeof(trace) - 1));
	trace[size] = c;
	trace[size + 1] = '\0';
}

static int take_entry(void *userdata, const struct jscan_entry *entry,
		      const struct jscan_entry_context *context)
{
	(void)userdata;
	(void)entry;
	(void)context;
	note('e');
	return 0;
}

static int format(const void *userdata, const struct jscan_entry *entry,
		  const struct jscan_entry_context *context, struct jscan_buffer *buffer)
{
	(void)userdata;
	(void)entry;
	(void)context;
	return jscan_buffer_append(buffer, "x", 1);
}

/* Keeps what was written, and answers what it is told. */
static struct {
	size_t calls, size;
	uint8_t first, last;
	int answer;
} written;

static int take_bytes(void *userdata, const void *data, size_t size)
{
	(void)userdata;
	written.calls++;
	written.size = size;
	written.first = ((const uint8_t *)data)[0];
	written.last = ((const uint8_t *)data)[size - 1];
	return written.answer;
}

static void end_of_life(void *userdata)
{
	note(*(char *)userdata);
}

Test(sink, needs_a_slot_that_takes_entries)
{
	static const struct {
		struct jscan_sink_ops ops;
		int answer;
		bool formats;
	} cases[] = {
		{ { .size = sizeof(struct jscan_sink_ops) }, -EINVAL, false },
		{ { .size = sizeof(struct jscan_sink_ops), .format = format }, -EINVAL, false },
		{ { .size = sizeof(struct jscan_sink_ops), .write = take_bytes }, -EINVAL, false },
		{ { .size = sizeof(struct jscan_sink_ops), .entry = take_entry }, 0, false },
		{ { .size = sizeof(struct jscan_sink_ops), .format = format, .write = take_bytes },
		  0, true },
		{ { .size = sizeof(struct jscan_sink_ops), .entry = take_entry, .format = format,
		    .write = take_bytes }, 0, false },
		{ { .size = 0, .entry = take_entry }, -EINVAL, false },
		{ { .size = offsetof(struct jscan_sink_ops, entry), .entry = take_entry }, -EINVAL,
		  false },
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct sink_list list = { 0 };
		struct sink *sink = NULL;

		cr_expect(eq(int, sink_add(&list, &cases[i].ops, NULL, &sink), cases[i].answer),
			  "case %zu", i);
		cr_expect(eq(sz, list.count, cases[i].answer == 0 ? 1 : 0), "case %zu", i);
		if (sink)
			cr_expect(eq(int, sink->formats, cases[i].formats), "case %zu", i);
		sink_list_done(&list);
	}
	cr_expect(eq(int, sink_add(&(struct sink_list){ 0 }, NULL, NULL, NULL), -EINVAL));
}

Test(sink, empty_slots_can_be_called)
{
	struct jscan_sink_ops ops = { .size = sizeof(ops), .entry = take_entry };
	struct sink_list list = { 0 };
	struct sink *sink;

	cr_assert(eq(int, sink_add(&list, &ops, NULL, &sink), 0));
	ops.entry = NULL; /* the table was copied */
	cr_expect(eq(int, sink->ops.begin(NULL, NULL), 0));
	cr_expect(eq(int, sink->ops.problem(NULL, NULL), 0));
	cr_expect(eq(int, sink->ops.flush(NULL), 0));
	cr_expect(eq(int, sink->ops.entry(NULL, NULL, NULL), 0));
	cr_expect(eq(int, sink->ops.end(NULL), 0));
	sink->ops.free(NULL);
	sink_list_done(&list);
	cr_expect(eq(sz, list.count, 0));
}

Test(sink, a_shorter_table_is_completed_and_nothing_behind_it_is_looked_at)
{
	struct jscan_sink_ops ops = { .entry = take_entry };
	struct sink_list list = { 0 };
	struct sink *sink;

	ops.size = offsetof(struct jscan_sink_ops, free);
	memset(&ops.free, 0xff, sizeof(ops.free));
	cr_assert(eq(int, sink_add(&list, &ops, NULL, &sink), 0));
	sink_list_done(&list);
}

Test(sink, a_longer_table_of_a_later_release_is_taken)
{
	struct {
		struct jscan_sink_ops ops;
		const char *later;
	} table = { { .size = sizeof(table), .entry = take_entry }, trace };
	struct sink_list list = { 0 };

	cr_expect(eq(int, sink_add(&list, &table.ops, NULL, NULL), 0));
	sink_list_done(&list);
}

Test(sink, each_is_freed_once_in_the_order_of_adding)
{
	struct jscan_sink_ops ops = { .size = sizeof(ops), .entry = take_entry,
				      .free = end_of_life };
	struct sink_list list = { 0 };
	char names[] = "abc";

	trace[0] = '\0';
	for (int i = 0; i < 3; i++)
		cr_assert(eq(int, sink_add(&list, &ops, &names[i], NULL), 0));
	sink_list_done(&list);
	sink_list_done(&list);
	cr_expect(eq(str, trace, (char *)"abc"));
}

Test(sink, what_was_formatted_is_written_once)
{
	struct jscan_sink_ops ops = { .size = sizeof(ops), .format = format, .write = take_bytes };
	struct sink_list list = { 0 };
	struct sink *sink;

	cr_assert(eq(int, sink_add(&list, &ops, NULL, &sink), 0));
	written.calls = 0;
	cr_expect(eq(int, sink_write(sink), 0), "nothing to write is not written");
	cr_expect(eq(sz, written.calls, 0));
	for (int i = 0; i < 5; i++)
		cr_assert(eq(int, jscan_buffer_append(&sink->buffer, "abc", 3), 0));
	cr_assert(eq(int, jscan_buffer_append(&sink->buffer, NULL, 0), 0));
	cr_expect(eq(int, sink_write(sink), 0));
	cr_expect(eq(int, sink_write(sink), 0));
	cr_expect(eq(sz, written.calls, 1));
	cr_expect(eq(sz, written.size, 15));
	cr_expect(eq(chr, (char)written.first, 'a'));
	cr_expect(eq(chr, (char)written.last, 'c'));
	sink_list_done(&list);
}

Test(sink, the_answer_of_write_is_handed_up)
{
	struct jscan_sink_ops ops = { .size = sizeof(ops), .format = format, .write = take_bytes };
	struct sink_list list = { 0 };
	struct sink *sink;

	cr_assert(eq(int, sink_add(&list, &ops, NULL, &sink), 0));
	jscan_buffer_append(&sink->buffer, "x", 1);
	written.answer = -ENOSPC;
	cr_expect(eq(int, sink_write(sink), -ENOSPC));
	written.answer = 1;
	jscan_buffer_append(&sink->buffer, "x", 1);
	cr_expect(eq(int, sink_write(sink), 1));
	sink_list_done(&list);
}

Test(sink, a_large_buffer_is_given_back_and_a_small_one_kept)
{
	struct jscan_sink_ops ops = { .size = sizeof(ops), .format = format, .write = take_bytes };
	size_t large = SINK_BUFFER_KEEP_BYTES + 1;
	struct sink_list list = { 0 };
	uint8_t *bytes = calloc(large, 1);
	struct sink *sink;

	cr_assert(eq(int, sink_add(&list, &ops, NULL, &sink), 0));
	jscan_buffer_append(&sink->buffer, bytes, 1000);
	sink_write(sink);
	cr_expect(ge(sz, sink->buffer.bytes.capacity, 1000));
	jscan_buffer_append(&sink->buffer, bytes, large);
	sink_write(sink);
	cr_expect(eq(sz, sink->buffer.bytes.capacity, 0));
	jscan_buffer_append(&sink->buffer, bytes, 10);
	cr_expect(eq(int, sink_write(sink), 0));
	cr_expect(eq(sz, written.size, 10));
	sink_list_done(&list);
	free(bytes);
}

Test(sink, an_entry_is_viewed_without_copying)
{
	struct output_field field = { (const uint8_t *)"A=1", 3, 1 };
	struct reader reader = { .fields = &field, .field_count = 1 };
	struct source source = { .path = (char *)"somewhere" };
	struct entry_object entry = { .offset = 96, .seqnum = 5, .realtime = 7, .monotonic = 9,
				      .xor_hash = 11 };
	struct jscan_entry view = { .owned = NULL };

	source.journal.header.seqnum_id.bytes[3] = 0x33;
	entry.boot_id.bytes[15] = 0xff;
	entry_view(&view, NULL, &source, &entry, &reader);
	cr_expect(eq(u64, jscan_entry_info(&view)->seqnum, 5));
	cr_expect(eq(u64, view.info.realtime_usec, 7));
	cr_expect(eq(u64, view.info.monotonic_usec, 9));
	cr_expect(eq(u64, view.info.hash, 11));
	cr_expect(eq(u64, view.info.offset, 96));
	cr_expect(eq(ptr, (void *)view.info.path, source.path));
	cr_expect(eq(u8, view.info.seqnum_id.bytes[3], 0x33));
	cr_expect(eq(u8, view.info.boot_id.bytes[15], 0xff));
	cr_expect(eq(ptr, (void *)view.fields, &field));
	cr_expect(eq(sz, view.field_count, 1));
}
