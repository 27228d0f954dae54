/* SPDX-License-Identifier: MIT */
/*
 * The engine's side of the pipeline: filling batches, handing on what workers made of them, in
 * order, and bringing in the blocks that they lack.
 *
 * A batch is in the ring from its first reference until all its entries have been handed on. In
 * between it is filled (`open`), queued or worked on, done, or waits for blocks. An entry that
 * keeps lacking blocks, or is too large for a worker, goes through the engine's own batch, in line
 * like a scan without workers, once it is the next in order; so whatever happens to workers, the
 * scan goes on. A source stays open while a batch refers to it.
 */
#include <assert.h>

#include "engine/checkpoint.h"
#include "engine/drive.h"
#include "engine/output-sink.h"
#include "engine/pipeline-private.h"

/* Smaller pieces are copied to a sink's buffer instead of being written one by one. */
#define PIPELINE_WRITE_BYTES (64u << 10)
/* A buffer that is larger is not kept. */
#define PIPELINE_KEEP_BYTES (2u << 20)
/* So often an entry may lack blocks before the engine's thread takes care of it. */
#define PIPELINE_TRIES 4u

/* ---- filling ---------------------------------------------------------------------------- */

/* Has the batch worked on, with windows as they are now. */
static void pipeline_submit(struct pipeline *p, struct pipeline_batch *b, bool first)
{
	b->epoch = atomic_load_explicit(&p->workers.epoch, memory_order_relaxed);
	for (unsigned i = 0; i < b->view_count; i++) {
		struct source *s = b->views[i].source;

		if (!s->image_there) {
			b->views[i] = (struct pipeline_view){ .source = s };
			continue;
		}
		if (s->turn != p->engine->turns)
			source_refresh_window(s);
		b->views[i] = (struct pipeline_view){
			.source = s,
			.base = s->window.base,
			.blocks = s->window.blocks,
			.size_bytes = s->window.size_bytes,
			.run_begin = s->window.run_begin,
			.run_end = s->window.run_end,
			.block_shift = s->window.block_shift,
			.whole = s->window.whole,
		};
	}
	if (p->open == b)
		p->open = NULL;
	p->flying++;
	workers_submit(&p->workers, &b->work, first);
}

/* The batch that is filled next; NULL: all are under way. */
static struct pipeline_batch *pipeline_open(struct pipeline *p)
{
	struct pipeline_batch *b = p->open;

	if (b || list_is_empty(&p->idle))
		return b;
	b = container_of(list_pop(&p->idle), struct pipeline_batch, link);
	b->count = b->first = b->done = 0;
	b->view_count = b->damage_count = b->tries = 0;
	b->waits = false;
	b->has_previous = p->has_previous;
	b->previous_boot_id = p->previous_boot_id;
	b->ordinal = p->filled;
	b->serial = ++p->serial;
	list_append(&p->ring, &b->link);
	p->open = b;
	return b;
}

/* Appends the candidate of a source. */
static inline void pipeline_append(struct pipeline_batch *b, struct source *s)
{
	struct pipeline_ref *ref = &b->refs[b->count++];

	if (unlikely(s->view_serial != b->serial)) {
		s->view_serial = b->serial;
		s->view = b->view_count;
		s->refs++;
		b->views[b->view_count++].source = s;
	}
	ref->entry = s->entry;
	ref->view = s->view;
}

void pipeline_retire(struct pipeline *p, struct pipeline_batch *b)
{
	assert(b->first == b->count && work_state(&b->work) == WORK_IDLE);
	for (unsigned i = 0; i < b->view_count; i++)
		source_release(b->views[i].source);
	b->view_count = 0;
	if (p->open == b)
		p->open = NULL;
	list_remove(&b->link);
	list_prepend(&p->idle, &b->link);
}

/* source_try(): the source is open. */
static int pipeline_step_opened(struct source *s)
{
	(void)s;
	return 0;
}

/* The next entry in order: 1 with its source, which is open (unless it was lost). Else like
 * engine_next_candidate(). What waits for its file is kept. */
static int pipeline_next(struct jscan *e, struct pipeline *p, struct source **ret_source)
{
	struct source *s = p->pending;
	int r;

	if (likely(!s)) {
		r = engine_next_candidate(e, &s);
		if (r <= 0)
			return r;
	}
	/* Candidates outlive their files: those that come late are closed for the others. */
	if (unlikely((s->state != SOURCE_OPEN && s->state != SOURCE_WAITING) || !s->image_there)) {
		p->pending = s;
		r = source_try(s, pipeline_step_opened);
		if (r < 0 && !s->error)
			return r == -EBUSY ? -EAGAIN : r;
	}
	p->pending = NULL;
	*ret_source = s;
	return 1;
}

/* Merges into the open batch, and has it worked on when it is full, or when nothing else comes and
 * there is time. 1: there may be more; 0: there is none; -EAGAIN; -EBUSY: all batches are full. */
static int pipeline_fill(struct jscan *e, struct pipeline *p)
{
	struct pipeline_batch *b;
	struct source *s;
	int r = 1;

	if (e->batch.ended || p->error)
		return 0;
	b = pipeline_open(p);
	if (!b)
		return -EBUSY;
	while (b->count < p->refs && (r = pipeline_next(e, p, &s)) > 0) {
		pipeline_append(b, s);
		source_consume(s);
		p->previous_boot_id = s->entry.boot_id;
		p->has_previous = true;
		p->filled++;
	}
	if (r == 0)
		e->batch.ended = true;
	else if (r < 0 && r != -EAGAIN)
		p->error = r; /* after what comes before it */
	if (b->count == 0)
		pipeline_retire(p, b);
	else if (b->count == p->refs || r != -EAGAIN || p->flying < e->options.jobs)
		pipeline_submit(p, b, false);
	return p->error ? 0 : r;
}

/* ---- handing on ------------------------------------------------------------------------- */

/* Gives a sink its next bytes: at once, or gathered if they are few. */
static int pipeline_write(struct sink *sink, const uint8_t *bytes, size_t size)
{
	struct output_buffer *gathered = &sink->buffer.bytes;
	int r = 0;

	if (size == 0)
		return 0;
	if (size < PIPELINE_WRITE_BYTES) {
		output_bytes(gathered, bytes, size);
		if (likely(!gathered->failed))
			return gathered->size >= SINK_WRITE_BYTES ? sink_write(sink) : 0;
		gathered->failed = false;
	}
	if (gathered->size)
		r = sink_write(sink);
	return r ? r : sink_answer(sink, sink->ops.write(sink->userdata, bytes, size));
}

/* Gives a sink its part of a batch up to before END: as a frame, if a worker made one of just these
 * bytes. */
static int pipeline_write_part(struct sink *sink, struct pipeline_part *part, unsigned end)
{
	size_t begin = part->begin;
	int r;

	part->begin = part->ends[end - 1];
	if (part->frame_size == 0 || begin > 0 || part->begin != part->buffer.bytes.size)
		return pipeline_write(sink, part->buffer.bytes.bytes + begin, part->begin - begin);
	r = sink_write(sink);
	if (r)
		return r;
	return sink_answer(sink, output_sink_write_frame(sink->built_in, part->frame,
							 part->frame_size));
}

/* Hands on the entries of a batch up to before END. 0, or an error. */
static int pipeline_hand_on_until(struct jscan *e, struct pipeline_batch *b, unsigned end)
{
	unsigned first = b->first;

	if (first == end)
		return 0;
	/* The bytes of what was handed on before may still be in the buffer. */
	for (size_t i = 0; i < e->sinks.count; i++) {
		int r = pipeline_write_part(e->sinks.sinks[i], &b->parts[i], end);

		if (r < 0)
			return r;
		e->sinks.sinks[i]->stopped |= r > 0;
	}
	b->first = end;
	for (unsigned i = first; unlikely(e->checkpoint) && i < end; i++)
		checkpoint_take(e, b->views[b->refs[i].view].source, &b->refs[i].entry);
	e->stats.entries += end - first;
	e->shown += end - first;
	e->has_previous = true;
	e->previous_boot_id = b->refs[end - 1].entry.boot_id;
	engine_keep_position(&e->last, b->views[b->refs[end - 1].view].source,
			     &b->refs[end - 1].entry);
	return 0;
}

void pipeline_empty(struct pipeline *p, struct pipeline_batch *b)
{
	b->damage_count = 0;
	for (size_t i = 0; i < p->part_count; i++) {
		struct output_buffer *bytes = &b->parts[i].buffer.bytes;

		b->parts[i].begin = b->parts[i].frame_size = 0;
		bytes->size = 0;
		if (bytes->capacity > PIPELINE_KEEP_BYTES)
			output_buffer_done(bytes);
	}
}

/* Hands on what is done of a batch, each problem before the entry in which it was found. 0: all of
 * it; 1: a sink wants to stop behind what has been handed on; or an error. */
static int pipeline_hand_on(struct jscan *e, struct pipeline *p, struct pipeline_batch *b)
{
	int r = 0;

	for (unsigned i = 0; i < b->damage_count; i++) {
		const struct pipeline_damage *d = &b->damage[i];

		problem_report_damage(b->views[b->refs[d->ref].view].source, &d->damage);
		if (i + 1 < b->damage_count && b->damage[i + 1].ref == d->ref)
			continue;
		if (e->sink_error)
			return drive_verdict(e);
		if (drive_is_stopped(e)) {
			r = pipeline_hand_on_until(e, b, d->ref + 1);
			return r < 0 ? r : 1;
		}
	}
	r = pipeline_hand_on_until(e, b, b->done);
	if (r < 0)
		return r;
	pipeline_empty(p, b);
	return drive_verdict(e);
}

/* The next entry of the first batch goes through the engine's own batch. */
static void pipeline_take_over(struct jscan *e, struct pipeline_batch *b)
{
	const struct pipeline_ref *ref = &b->refs[b->done];
	struct source *s = b->views[ref->view].source;

	assert(e->batch.at == e->batch.count && b->first == b->done);
	e->batch.refs[0] = (struct batch_ref){ s, ref->entry };
	e->batch.count = 1;
	e->batch.at = e->batch.sink = 0;
	e->batch.loaded = e->batch.handed = false;
	s->refs++;
	b->first = ++b->done;
}

/* ---- blocks ----------------------------------------------------------------------------- */

/* Asks for what the next entry of a batch lacks. True if all of it is there. */
static bool pipeline_want(struct pipeline_batch *b)
{
	struct source *s = b->views[b->refs[b->done].view].source;
	unsigned missing = 0;

	/* Until the source's next step they stay; should they go before, the entry lacks them
	 * again. */
	s->pinned = true;
	for (unsigned i = 0; i < b->window.want_count; i++)
		missing += image_want(&s->image, b->window.wants[i].offset,
				      b->window.wants[i].size_bytes, IMAGE_NEEDED);
	return missing == 0;
}

/* A batch came back for want of blocks. */
static void pipeline_lacks(struct pipeline *p, struct pipeline_batch *b)
{
	if (b->tries > 0 && b->lacked == b->done) {
		if (++b->tries > PIPELINE_TRIES) {
			b->stop = PIPELINE_REFUSE;
			return;
		}
	} else {
		b->lacked = b->done;
		b->tries = 1;
	}
	b->waits = !pipeline_want(b);
	if (!b->waits)
		pipeline_submit(p, b, true);
}

/* Takes batches that workers are done with, and those whose blocks have come. */
static void pipeline_look(struct pipeline *p)
{
	struct list *node;

	list_for_each(node, &p->ring) {
		struct pipeline_batch *b = container_of(node, struct pipeline_batch, link);

		if (work_state(&b->work) == WORK_DONE) {
			atomic_store_explicit(&b->work.state, WORK_IDLE, memory_order_relaxed);
			p->flying--;
			if (b->stop == PIPELINE_LACKS)
				pipeline_lacks(p, b);
		} else if (b->waits &&
			   b->views[b->refs[b->done].view].source->image.needed_pending == 0 &&
			   pipeline_want(b)) {
			b->waits = false;
			pipeline_submit(p, b, true);
		}
	}
}

/* ---- driving ---------------------------------------------------------------------------- */

/* Hands on what is ready, in order. 1: something was; 0: nothing was ready; 2: stop; an error. */
static int pipeline_advance(struct jscan *e, struct pipeline *p)
{
	struct pipeline_batch *b;
	int r, any = 0;

	while ((b = pipeline_head(p)) && b != p->open && work_state(&b->work) == WORK_IDLE) {
		if (b->first < b->done || b->damage_count) {
			r = pipeline_hand_on(e, p, b);
			if (r != 0)
				return r < 0 ? r : 2;
			any = 1;
		}
		if (b->done == b->count) {
			pipeline_retire(p, b);
			any = 1;
			continue;
		}
		if (b->waits)
			break;
		any = 1;
		if (b->stop == PIPELINE_REFUSE) {
			pipeline_take_over(e, b);
			b->stop = PIPELINE_FULL;
			break;
		}
		pipeline_submit(p, b, true);
		break;
	}
	return any;
}

/* The entry that the engine's thread deals with, if there is one. 1: there is none, or it is done
 * with; 0: the scan has ended; -EAGAIN; an error. */
static int pipeline_in_line(struct jscan *e)
{
	int r = 1;

	if (e->batch.at < e->batch.count)
		r = drive_batch(e, BATCH_REFS);
	if (r > 0 && e->batch.count > 0 && e->batch.at == e->batch.count) {
		const struct batch_ref *ref = &e->batch.refs[e->batch.count - 1];

		engine_keep_position(&e->last, ref->source, &ref->entry);
		e->batch.count = e->batch.at = 0;
	}
	return r;
}

int pipeline_step(struct jscan *e)
{
	struct pipeline *p = e->pipeline;
	struct pipeline_batch *head;
	int r, advanced;

	e->held_back = false;
	for (;;) {
		r = drive_verdict(e);
		if (r)
			return r < 0 ? r : 0;
		r = drive_checkpoint(e, false);
		if (r < 0)
			return r;
		r = pipeline_in_line(e);
		if (r <= 0)
			return r;
		pipeline_look(p);
		advanced = pipeline_advance(e, p);
		if (advanced < 0 || advanced > 1)
			return advanced < 0 ? advanced : 0;
		if (e->batch.count)
			continue;
		r = pipeline_fill(e, p);
		if (engine_read_ahead(e) || io_is_busy(&e->io)) {
			int turned = engine_turn(e, false);

			if (turned < 0)
				return turned;
		}
		if (r > 0 || advanced)
			continue;
		head = pipeline_head(p);
		if (!head && r == 0)
			return p->error;
		if (workers_help(&p->workers))
			continue;
		if (!head || head == p->open || head->waits)
			return -EAGAIN;
		workers_wait(&p->workers, &head->work);
	}
}
