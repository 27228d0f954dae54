/* SPDX-License-Identifier: MIT */
/*
 * Driving a scan: the stages merge, batch, format and write, in line; and two of the ways to have
 * it driven (drive-foreign.c has the third). The merge fills a batch of references, each is loaded
 * and handed to all sinks in turn, and what they formatted is written when there is enough of it or
 * before the engine sleeps.
 */
#include "engine/checkpoint.h"
#include "engine/drive.h"
#include "engine/follow.h"
#include "engine/grep-scan.h"
#include "engine/output-sink.h"

#include <assert.h>

#include "engine/pipeline.h"

/* How far ahead of the entry that is formatted the processor is told of one, and of how much. */
#define DRIVE_PREFETCH_REFS 3u
#define DRIVE_PREFETCH_LINES 7u
#define DRIVE_PREFETCH_BEFORE 4u

/* ---- batch ------------------------------------------------------------------------------ */

/* The source of a reference is not needed for it any more. */
static void drive_release(struct jscan *e, struct batch_ref *ref)
{
	source_release(ref->source);
	e->batch.at++;
	e->batch.sink = 0;
	e->batch.loaded = false;
}

/* Fills the batch with up to MAX references. 1: there are some; 0: the scan has ended; -EAGAIN. */
static int drive_fill(struct jscan *e, unsigned max)
{
	struct batch *b = &e->batch;
	int r = 1;

	if (b->at < b->count)
		return 1;
	if (b->count > 0)
		engine_keep_position(&e->last, b->refs[b->count - 1].source,
				     &b->refs[b->count - 1].entry);
	b->at = b->count = 0;
	if (unlikely(pipeline_has_rest(e))) {
		pipeline_give_back(e, max);
		return 1;
	}
	while (b->count < max && !b->ended) {
		struct source *s;

		r = engine_next_candidate(e, &s);
		if (r <= 0) {
			b->ended = r == 0;
			break;
		}
		b->refs[b->count++] = (struct batch_ref){ s, s->entry };
		s->refs++;
		source_consume(s);
	}
	if (b->count)
		return 1;
	return r < 0 ? r : 0;
}

/* source_try() step: the fields of the batch's next reference. */
static int drive_step_load(struct source *s)
{
	struct jscan *e = s->engine;

	return reader_load(&e->reader, &s->journal, &s->window, s->file,
			   &e->batch.refs[e->batch.at].entry, &e->filter);
}

/* Tests the current entry's message. 1: it matches, or there is no pattern; 0; -EINVAL. */
static int drive_grep(struct jscan *e)
{
	struct jscan_field message = { .size = sizeof(message) };
	const struct output_field *f;
	size_t begin, end;
	int r;

	if (likely(!e->grep))
		return 1;
	if (jscan_entry_field(&e->entry, "MESSAGE", &message) == 0)
		return 0;
	f = &e->entry.fields[message.index];
	r = grep_match(e->grep, f->bytes + f->name_size + 1, f->size - f->name_size - 1, &begin,
		       &end);
	if (r > 0) {
		e->entry.grep_begin = begin;
		e->entry.grep_end = end;
	}
	return r;
}

/* Has the processor fetch what an entry a little further on is made of: it is nearly always what
 * the entry's own values take, which stand before it. */
static inline void drive_prefetch(const struct batch *b)
{
	const struct batch_ref *ref;
	uintptr_t at;

	if (b->at + DRIVE_PREFETCH_REFS >= b->count)
		return;
	ref = &b->refs[b->at + DRIVE_PREFETCH_REFS];
	at = (uintptr_t)ref->source->window.base + ref->entry.offset - 64 * DRIVE_PREFETCH_BEFORE;
	for (unsigned line = 0; line < DRIVE_PREFETCH_LINES; line++)
		__builtin_prefetch((const void *)(at + line * 64)); /* wherever: it never faults */
}

/* Loads the batch's next reference and makes it the current entry. 0, -EAGAIN. */
static int drive_load(struct jscan *e)
{
	struct batch_ref *ref = &e->batch.refs[e->batch.at];
	struct source *s = ref->source;
	bool lost = false;
	int r = -EAGAIN;

	if (unlikely(s->grep_scan) && grep_scan_rules_out(s->grep_scan, ref->entry.offset)) {
		e->reader.field_count = 0;
		entry_view(&e->entry, e, s, &ref->entry, &e->reader);
		e->batch.matches = false;
		e->batch.loaded = true;
		return 0;
	}
	drive_prefetch(&e->batch);

	if (likely(s->state == SOURCE_OPEN && s->turn == e->turns)) {
		r = drive_step_load(s);
		if (unlikely(r == -EAGAIN))
			s->window.want_count = 0;
	}
	if (unlikely(r == -EAGAIN))
		r = source_try(s, drive_step_load);
	if (unlikely(s->error && r < 0)) {
		/* The file was lost meanwhile: the entry has no fields. */
		e->reader.field_count = 0;
		r = 0;
		lost = true;
	}
	if (r < 0)
		return r == -EBUSY ? -EAGAIN : r;
	if (unlikely(e->reader.damage_count && follow_doubts(e, s)))
		return -EAGAIN;
	for (unsigned i = 0; i < e->reader.damage_count; i++)
		problem_report_damage(s, &e->reader.damage[i]);
	entry_view(&e->entry, e, s, &ref->entry, &e->reader);
	e->entry.incomplete |= lost;
	e->entry.cache = &e->cache;
	r = drive_grep(e);
	if (r < 0)
		return r;
	e->batch.matches = r;
	e->batch.loaded = true;
	return 0;
}

/* ---- sinks ------------------------------------------------------------------------------ */

/*
 * Has a sink format the current entry. What it would print can be many times the entry's size, so
 * its buffer has a limit; an entry that does not fit even when the buffer is empty is left out.
 */
static int drive_format(struct jscan *e, struct sink *sink,
			const struct jscan_entry_context *context)
{
	int r = sink->ops.format(sink->userdata, &e->entry, context, &sink->buffer);

	if (unlikely(r == -ENOMEM && sink->buffer.bytes.size > 0)) {
		r = sink_write(sink);
		if (r == 0)
			r = sink->ops.format(sink->userdata, &e->entry, context, &sink->buffer);
	}
	if (unlikely(r == -ENOMEM)) {
		problem_report(e->batch.refs[e->batch.at].source, JSCAN_REASON_LIMIT, r,
			       e->entry.info.offset, "an entry is too large to be printed");
		return 0;
	}
	if (r == 0 && unlikely(sink->buffer.bytes.size >= SINK_WRITE_BYTES))
		r = sink_write(sink);
	return sink_answer(sink, r);
}

/* What sinks are told beside the entry. */
static struct jscan_entry_context drive_context(const struct jscan *e)
{
	struct jscan_entry_context context = {
		.size = sizeof(context),
		.ordinal = e->stats.entries,
		.has_previous = e->has_previous,
	};

	memcpy(context.previous_boot_id.bytes, e->previous_boot_id.bytes,
	       sizeof(context.previous_boot_id.bytes));
	return context;
}

/* Hands the current entry to the sinks that have not had it. 0, -EAGAIN: a sink is not ready. */
static int drive_feed(struct jscan *e)
{
	struct jscan_entry_context context = drive_context(e);

	for (; e->batch.sink < e->sinks.count; e->batch.sink++) {
		struct sink *sink = e->sinks.sinks[e->batch.sink];
		int r;

		e->entry.only = (const char *const *)sink->fields;
		if (likely(sink->formats)) {
			r = drive_format(e, sink, &context);
		} else {
			r = sink->ops.entry(sink->userdata, &e->entry, &context);
			if (r != -EAGAIN)
				sink_answer(sink, r);
		}
		if (unlikely(r < 0)) {
			/* Its blocks may be gone by the time that it is offered again. */
			e->held_back = r == -EAGAIN;
			e->batch.loaded = false;
			return r;
		}
		sink->stopped |= r > 0;
	}
	return 0;
}

/* Goes past an entry that the pattern does not match. It begins another boot all the same. */
static int drive_pass_over(struct jscan *e)
{
	struct jscan_entry_context context = drive_context(e);
	int r = 0;

	for (size_t i = 0; i < e->sinks.count && r >= 0; i++) {
		struct sink *sink = e->sinks.sinks[i];

		if (sink->built_in)
			output_sink_boot_line(sink->built_in, &e->entry, &context, &sink->buffer);
		if (sink->buffer.bytes.size >= SINK_WRITE_BYTES)
			r = sink_write(sink);
	}
	return r < 0 ? r : 0;
}

/* The current entry is done with. */
static void drive_advance(struct jscan *e)
{
	struct batch_ref *ref = &e->batch.refs[e->batch.at];

	if (unlikely(e->checkpoint && !e->batch.handed))
		checkpoint_take(e, ref->source, &ref->entry);
	e->has_previous = true;
	e->previous_boot_id = ref->entry.boot_id;
	e->batch.handed = false;
	drive_release(e, ref);
}

/* Counts the current entry, if it was yielded. With a pattern the limit is one of matches. */
static void drive_count(struct jscan *e)
{
	if (unlikely(!e->batch.matches))
		return;
	e->stats.entries++;
	e->shown++;
}

/*
 * Loads, formats and goes past the next reference, where an entry is its message and all is as it
 * should be. 1; 0 with nothing done otherwise; an error of the sink.
 */
static inline int drive_message(struct jscan *e)
{
	struct sink *sink = e->sinks.sinks[0];
	struct batch_ref *ref = &e->batch.refs[e->batch.at];
	struct source *s = ref->source;
	struct reader *reader = &e->reader;
	int r;

	if (unlikely(s->state != SOURCE_OPEN || s->turn != e->turns))
		return 0;
	drive_prefetch(&e->batch);
	r = reader_load(reader, &s->journal, &s->window, s->file, &ref->entry, &e->filter);
	if (unlikely(r < 0 || reader->damage_count)) {
		s->window.want_count = 0;
		return 0;
	}
	if (likely(reader->field_count) &&
	    unlikely(output_message(reader->fields, &sink->buffer.bytes) < 0))
		return 0;
	e->stats.entries++;
	e->shown++;
	drive_advance(e);
	return likely(sink->buffer.bytes.size < SINK_WRITE_BYTES) || (r = sink_write(sink)) == 0 ?
		       1 : r;
}

/* An entry that jscan_next() has handed out is done with: what follows goes on behind it. */
static void drive_settle(struct jscan *e)
{
	if (e->batch.handed && e->batch.at < e->batch.count)
		drive_advance(e);
	e->batch.handed = false;
}

/* Feeds the sinks one batch. 1: go on; 0: the scan has ended; -EAGAIN; an error. */
int drive_batch(struct jscan *e, unsigned max)
{
	int r = drive_verdict(e), verdict;

	e->held_back = false;
	if (unlikely(r))
		return r < 0 ? r : 0;
	r = drive_fill(e, max);
	while (r > 0 && e->batch.at < e->batch.count) {
		if (e->messages_only && likely(!e->batch.loaded && e->batch.sink == 0)) {
			r = drive_message(e);
			if (unlikely(r < 0))
				return r;
			if (likely(r > 0)) {
				if (unlikely(atomic_load_explicit(&e->stop, memory_order_relaxed)))
					return 0;
				continue;
			}
		}
		if (!e->batch.loaded) {
			r = drive_load(e);
			if (r < 0)
				return r;
			if (unlikely(e->sink_error))
				return drive_verdict(e);
		}
		r = likely(e->batch.matches) ? drive_feed(e) : drive_pass_over(e);
		if (unlikely(r < 0))
			return r;
		drive_count(e);
		drive_advance(e);
		if (unlikely(e->grep && e->shown >= e->limit))
			return 0;
		verdict = drive_verdict(e);
		if (unlikely(verdict))
			return verdict < 0 ? verdict : 0;
		r = 1;
		if (unlikely(e->slice_end_usec && drive_now_usec() >= e->slice_end_usec))
			break;
	}
	return r;
}

/* ---- blocking --------------------------------------------------------------------------- */

/* engine_wait(): feeds the sinks until something is lacking. */
static int drive_run_step(struct jscan *e)
{
	for (;;) {
		int r = drive_checkpoint(e, false);

		if (r < 0)
			return r;
		if (pipeline_engage(e))
			return pipeline_step(e);
		r = drive_batch(e, BATCH_REFS);
		if (r <= 0)
			return r;
		if (engine_read_ahead(e) || io_is_busy(&e->io)) {
			r = engine_turn(e, false);
			if (r < 0)
				return r;
		}
	}
}

int engine_before_sleep(struct jscan *e)
{
	return drive_flush(e);
}

int jscan_run(struct jscan *e)
{
	int r = engine_check(e);

	if (r < 0)
		return r;
	if (e->sinks.count == 0)
		return -EINVAL;
	atomic_store(&e->stop, false);
	drive_settle(e);
	r = drive_begin(e);
	if (r < 0)
		return r;
	r = drive_is_stopped(e) ? 0 : engine_wait(e, drive_run_step);
	pipeline_halt(e);
	if (r < 0) {
		e->sinks_begun = false;
		return r;
	}
	r = drive_end(e);
	return r < 0 ? r : drive_is_stopped(e);
}

int jscan_open(struct jscan *e)
{
	int r = engine_check(e);

	return r < 0 ? r : engine_wait(e, engine_open_step);
}

/* engine_wait(): the next reference, loaded. 1, 0, -EAGAIN. */
int drive_next_step(struct jscan *e)
{
	int r;

	e->held_back = false;
	if (e->grep && e->shown >= e->limit)
		return 0;
	if (e->follow && atomic_load(&e->stop))
		return 0;
	for (;;) {
		r = drive_fill(e, 1);
		if (r <= 0)
			return r;
		r = drive_load(e);
		if (r < 0)
			return r;
		if (e->batch.matches)
			return 1;
		drive_advance(e);
	}
}

int jscan_next(struct jscan *e, const struct jscan_entry **ret_entry)
{
	uint64_t begin = 0;
	int r = engine_check(e);

	if (r < 0)
		return r;
	if (!ret_entry || e->sinks.count)
		return -EINVAL;
	if (!e->filter.all) {
		e->filter = (struct reader_filter){ .all = true };
		reader_share(&e->reader, drive_share_bytes(e), false);
	}
	drive_settle(e);
	if (e->foreign) {
		begin = drive_now_usec();
		r = drive_next_step(e);
		begin = drive_now_usec() - begin;
		e->stats.call_usec_max =
			begin > e->stats.call_usec_max ? begin : e->stats.call_usec_max;
	} else {
		r = engine_wait(e, drive_next_step);
	}
	if (r > 0) {
		if (unlikely(e->checkpoint))
			checkpoint_take(e, e->batch.refs[e->batch.at].source,
					&e->batch.refs[e->batch.at].entry);
		e->batch.handed = true;
		e->stats.entries++;
		e->shown++;
		*ret_entry = &e->entry;
	}
	return r;
}

void jscan_stop(struct jscan *e)
{
	atomic_store(&e->stop, true);
	if (e->follow)
		follow_stop(e);
}
