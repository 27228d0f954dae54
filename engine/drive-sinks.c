/* SPDX-License-Identifier: MIT */
/*
 * The sinks of a scan as a whole: what they need of an entry, their beginning and end, what they
 * say beside the entries. How an entry gets to them is in drive.c.
 */
#include "engine/checkpoint.h"
#include "engine/drive.h"
#include "engine/output-sink.h"

/* All threads together remember so much of shared data objects: a part of the budget, within
 * reason, on top of it. */
#define DRIVE_SHARE_PART 4u
#define DRIVE_SHARE_BYTES_MAX (UINT64_C(32) << 20)

/* reader_wants_fn: whether any output needs fields of this name, or the pattern does. */
static bool drive_wants(const void *userdata, const uint8_t *name, size_t size)
{
	const struct jscan *e = userdata;

	if (e->grep && size == 7 && memcmp(name, "MESSAGE", 7) == 0)
		return true;
	for (size_t i = 0; i < e->sinks.count; i++) {
		const struct sink *sink = e->sinks.sinks[i];
		const char *const *fields = (const char *const *)sink->fields;

		if (sink->output ? output_needs_field(sink->output, name, size) :
				   output_names_field(fields, name, size))
			return true;
		if (sink->key && strlen(sink->key) == size && memcmp(sink->key, name, size) == 0)
			return true;
	}
	return false;
}

/* What the sinks together need of an entry: everything, what their modes look at, or, where all
 * are cat, the first message only. That one looks at PRIORITY for its colours. */
static void drive_choose_filter(struct jscan *e)
{
	static const char *const names[] = { "MESSAGE=", "PRIORITY=" };
	static const size_t sizes[] = { 8, 9 };
	bool coloured = false, plain = e->sinks.count > 0;

	e->messages_only = false;
	e->filter = (struct reader_filter){ .wants = drive_wants, .userdata = e };
	for (size_t i = 0; i < e->sinks.count; i++) {
		const struct sink *sink = e->sinks.sinks[i];
		const struct output_options *o = sink->output;

		if (o ? output_needs_all(o) : !sink->fields) {
			e->filter = (struct reader_filter){ .all = true };
			return;
		}
		plain &= o && !sink->key && o->mode == OUTPUT_CAT && !o->fields;
		coloured |= o && o->colours != OUTPUT_COLOURS_NONE;
	}
	if (plain)
		e->filter = (struct reader_filter){ .first_only = true, .count = coloured ? 2 : 1,
						    .names = names, .sizes = sizes };
	e->messages_only = plain && !coloured && e->sinks.count == 1 && !e->grep && !e->follow &&
			   e->sinks.sinks[0]->built_in &&
			   !e->sinks.sinks[0]->built_in->boot_lines;
}

/* What a thread may remember of shared data objects. */
uint64_t drive_share_bytes(const struct jscan *e)
{
	uint64_t bytes = e->options.memory_bytes / DRIVE_SHARE_PART;

	bytes = bytes < DRIVE_SHARE_BYTES_MAX ? bytes : DRIVE_SHARE_BYTES_MAX;
	return bytes / e->options.jobs;
}

/* Whether what export prints of fields is worth remembering: there is nothing else to print. */
bool drive_prints_leads(const struct jscan *e)
{
	const struct output_options *o = e->sinks.count == 1 ? e->sinks.sinks[0]->output : NULL;

	return o && o->mode == OUTPUT_EXPORT && !o->fields;
}

/* Runs begin of all sinks, once. */
int drive_begin(struct jscan *e)
{
	if (e->sinks_begun)
		return 0;
	drive_choose_filter(e);
	reader_share(&e->reader, drive_share_bytes(e), drive_prints_leads(e));
	e->has_previous = false; /* what was read before the sinks began is not theirs */
	for (size_t i = 0; i < e->sinks.count; i++) {
		struct sink *sink = e->sinks.sinks[i];
		int r;

		sink->failed = false;
		r = sink_answer(sink, sink->ops.begin(sink->userdata, e));
		if (r < 0)
			return r;
		sink->stopped = r > 0;
	}
	e->sinks_begun = true;
	return 0;
}

/* Writes what the sinks have formatted, and lets them flush. */
int drive_flush(struct jscan *e)
{
	for (size_t i = 0; i < e->sinks.count && e->sinks_begun; i++) {
		struct sink *sink = e->sinks.sinks[i];
		int r = sink_write(sink);

		if (r == 0)
			r = sink_answer(sink, sink->ops.flush(sink->userdata));
		if (r < 0)
			return r;
		sink->stopped |= r > 0;
	}
	checkpoint_settle(e);
	return 0;
}

int drive_checkpoint(struct jscan *e, bool last)
{
	int r;

	if (likely(!e->checkpoint) || (!last && checkpoint_due_usec(e) > 0))
		return 0;
	r = e->sinks_begun ? drive_flush(e) : 0;
	return r < 0 ? r : checkpoint_tell(e);
}

/* Runs end of all sinks. */
int drive_end(struct jscan *e)
{
	int r = e->sink_error;

	e->sink_error = 0;
	r = r < 0 ? r : drive_flush(e);
	for (size_t i = 0; i < e->sinks.count && r >= 0; i++) {
		struct sink *sink = e->sinks.sinks[i];

		r = sink_answer(sink, sink->ops.end(sink->userdata));
	}
	e->sinks_begun = false;
	r = r < 0 ? r : drive_checkpoint(e, true);
	return r < 0 ? r : 0;
}

/* True if a sink, or jscan_stop(), asked to stop. */
bool drive_is_stopped(struct jscan *e)
{
	if (atomic_load_explicit(&e->stop, memory_order_relaxed))
		return true;
	for (size_t i = 0; i < e->sinks.count; i++) {
		if (e->sinks.sinks[i]->stopped)
			return true;
	}
	return false;
}

/* What the sinks have said beside the entries: 0 go on, 1 stop, or the error to abort with. */
int drive_verdict(struct jscan *e)
{
	int r = e->sink_error;

	e->sink_error = 0;
	return unlikely(r < 0) ? r : drive_is_stopped(e);
}
