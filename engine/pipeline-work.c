/* SPDX-License-Identifier: MIT */
/*
 * What workers do: they load the entries of a batch and have the sinks format them. A worker reads
 * images, sources' headers and options, all of which stay as they are while a batch refers to them,
 * and writes to its own place and to the batch. It never waits: an entry that lacks blocks is left
 * for later, with what it lacks in the batch. What is written compressed it makes a frame of, if
 * there is enough.
 */
#include <stdlib.h>

#include "engine/pipeline-private.h"

/* How far ahead of the entry that is formatted the processor is told of one, and of how much. */
#define WORK_PREFETCH_REFS 3u
#define WORK_PREFETCH_LINES 7u
#define WORK_PREFETCH_BEFORE 4u

/* Smaller pieces are gathered for the engine's thread, which makes larger frames of them. */
#define WORK_FRAME_BYTES_MIN (8u << 10)

/* Sets the window of a place for an entry. What is known of runs holds until blocks leave. */
static inline void work_window(struct window *w, const struct pipeline_view *view, bool current)
{
	w->base = view->base;
	w->blocks = view->blocks;
	w->size_bytes = view->size_bytes;
	w->block_shift = view->block_shift;
	w->whole = current && view->whole;
	w->run_begin = current ? view->run_begin : 0;
	w->run_end = current ? view->run_end : 0;
	w->want_count = 0;
}

/* Has the processor fetch what an entry a little further on is made of. */
static inline void work_prefetch(const struct pipeline_batch *b)
{
	const struct pipeline_ref *ref;
	uintptr_t at;

	if (b->done + WORK_PREFETCH_REFS >= b->count)
		return;
	ref = &b->refs[b->done + WORK_PREFETCH_REFS];
	at = (uintptr_t)b->views[ref->view].base + ref->entry.offset - 64 * WORK_PREFETCH_BEFORE;
	for (unsigned line = 0; line < WORK_PREFETCH_LINES; line++)
		__builtin_prefetch((const void *)(at + line * 64)); /* wherever: it never faults */
}

/* Has every sink format the entry of a place. 0, or -ENOMEM with the parts as they were. */
static int work_format(struct pipeline *p, struct pipeline_place *place, struct pipeline_batch *b)
{
	const struct sink_list *sinks = &p->engine->sinks;
	const struct id128 *previous = b->done > 0 ? &b->refs[b->done - 1].entry.boot_id :
						     &b->previous_boot_id;
	struct jscan_entry_context context = {
		.size = sizeof(context),
		.ordinal = b->ordinal + b->done,
		.has_previous = b->done > 0 || b->has_previous,
	};

	memcpy(context.previous_boot_id.bytes, previous->bytes, sizeof(previous->bytes));
	for (size_t i = 0; i < sinks->count; i++) {
		struct sink *sink = sinks->sinks[i];
		struct pipeline_part *part = &b->parts[i];
		int r;

		place->entry.only = (const char *const *)sink->fields;
		r = sink->ops.format(sink->userdata, &place->entry, &context, &part->buffer);

		if (unlikely(r != 0)) {
			/* The engine's thread gives it another try, and the answer its meaning. */
			for (size_t k = 0; k <= i; k++)
				b->parts[k].buffer.bytes.size =
					b->done > b->first ? b->parts[k].ends[b->done - 1] : 0;
			return r < 0 ? r : -ECANCELED;
		}
		part->ends[b->done] = (uint32_t)part->buffer.bytes.size;
	}
	return 0;
}

/* Keeps the damage met in the entry that a batch is at: the engine's thread tells of it. */
static inline void work_note_damage(struct pipeline_batch *b, const struct reader *reader)
{
	for (unsigned i = 0; i < reader->damage_count; i++)
		b->damage[b->damage_count++] =
			(struct pipeline_damage){ b->done, reader->damage[i] };
}

/* Loads and formats the next entry of a batch. 0, or why not. */
static enum pipeline_stop work_entry(struct pipeline *p, struct pipeline_place *place,
				     struct pipeline_batch *b, bool current)
{
	const struct pipeline_ref *ref = &b->refs[b->done];
	const struct pipeline_view *view = &b->views[ref->view];
	const struct source *s = view->source;
	struct reader *reader = place->reader;
	int r;

	if (unlikely(!view->base))
		return PIPELINE_REFUSE; /* its file was lost */
	work_prefetch(b);
	work_window(&place->window, view, current);
	r = reader_load(reader, &s->journal, &place->window, s->file, &ref->entry,
			&p->engine->filter);
	if (unlikely(r == -EAGAIN)) {
		b->window = place->window;
		return PIPELINE_LACKS;
	}
	if (unlikely(r < 0))
		return PIPELINE_REFUSE;
	if (p->engine->messages_only) {
		struct pipeline_part *part = &b->parts[0];

		if (reader->field_count &&
		    unlikely(output_message(reader->fields, &part->buffer.bytes) < 0))
			return PIPELINE_REFUSE;
		part->ends[b->done] = (uint32_t)part->buffer.bytes.size;
		work_note_damage(b, reader);
		return PIPELINE_COMPLETE;
	}
	entry_view(&place->entry, p->engine, s, &ref->entry, reader);
	place->entry.cache = place->cache;
	if (unlikely(work_format(p, place, b) < 0))
		return PIPELINE_REFUSE;
	work_note_damage(b, reader);
	return PIPELINE_COMPLETE;
}

/* True if what a batch has to hand on should be handed on first. */
static inline bool work_is_full(const struct pipeline *p, const struct pipeline_batch *b)
{
	bool full = b->damage_count + READER_DAMAGE_MAX > PIPELINE_DAMAGE_MAX;

	for (size_t i = 0; i < p->part_count; i++)
		full |= b->parts[i].buffer.bytes.size >= p->buffer_bytes;
	return full;
}

/* Makes a frame of what there is for each sink that wants frames. Without one, for want of bytes or
 * of memory, the engine's thread makes one of more. */
static void work_pack(struct pipeline *p, struct pipeline_place *place, struct pipeline_batch *b)
{
	for (size_t i = 0; i < p->part_count; i++) {
		const struct sink *sink = p->engine->sinks.sinks[i];
		struct pipeline_part *part = &b->parts[i];
		const struct output_buffer *bytes = &part->buffer.bytes;
		const uint8_t *frame;
		size_t size;

		part->frame_size = 0;
		if (sink->kind == PACKED_NONE || part->begin > 0 ||
		    bytes->size < WORK_FRAME_BYTES_MIN || bytes->size > PACKER_FRAME_BYTES_MAX ||
		    packer_frame(&place->packer, sink->kind, sink->level, bytes->bytes,
				 bytes->size, &frame, &size) < 0)
			continue;
		if (size > part->frame_capacity) {
			free(part->frame);
			part->frame = malloc(size);
			part->frame_capacity = part->frame ? size : 0;
			if (!part->frame)
				continue;
		}
		memcpy(part->frame, frame, size);
		part->frame_size = size;
	}
}

void pipeline_work(void *userdata, unsigned number, struct work *work)
{
	struct pipeline *p = userdata;
	struct pipeline_place *place = &p->places[number];
	struct pipeline_batch *b = container_of(work, struct pipeline_batch, work);
	enum pipeline_stop stop = PIPELINE_COMPLETE;

	while (b->done < b->count && stop == PIPELINE_COMPLETE) {
		uint64_t epoch;

		if (unlikely(atomic_load_explicit(&p->halt, memory_order_relaxed))) {
			stop = PIPELINE_HALTED;
			break;
		}
		if (unlikely(work_is_full(p, b))) {
			stop = PIPELINE_FULL;
			break;
		}
		epoch = workers_enter(&p->workers, number);
		stop = work_entry(p, place, b, epoch == b->epoch);
		workers_leave(&p->workers, number);
		if (likely(stop == PIPELINE_COMPLETE))
			b->done++;
	}
	/* What lacks blocks goes on growing if it is not next in order. */
	if (stop != PIPELINE_HALTED && stop != PIPELINE_LACKS)
		work_pack(p, place, b);
	b->stop = stop;
}
