/* SPDX-License-Identifier: MIT */
/*
 * Making, stopping and freeing the pipeline, and when a scan goes through it. When a scan is
 * stopped, references that have not been handed on stay in the ring, without anything that was made
 * of them: whoever drives on takes them back first.
 */
#include <assert.h>
#include <stdlib.h>

#include "engine/drive.h"
#include "engine/pipeline-private.h"

/* Entries that a scan has to yield, and to have before it, for threads to be worth starting. */
#define PIPELINE_BEGIN_ENTRIES 512u

/* ---- life ------------------------------------------------------------------------------- */

/* Frees everything but the threads. */
static void pipeline_release(struct pipeline *p, unsigned jobs)
{
	for (unsigned i = 0; p->batches && i < p->batch_count; i++) {
		struct pipeline_part *parts = p->batches[i].parts;

		for (size_t k = 0; parts && k < p->part_count; k++) {
			output_buffer_done(&parts[k].buffer.bytes);
			free(parts[k].frame);
		}
		free(parts);
	}
	for (unsigned i = 0; i + 1 < jobs; i++) {
		if (p->readers && p->readers[i].decoder)
			reader_done(&p->readers[i]);
		if (p->caches)
			output_cache_done(&p->caches[i]);
	}
	for (unsigned i = 0; p->places && i < jobs; i++)
		packer_done(&p->places[i].packer);
	free(p->batches);
	free(p->places);
	free(p->readers);
	free(p->caches);
	free(p);
}

/* image_pool: blocks have left, wait for those who may read them. */
static void pipeline_quiesce(void *userdata)
{
	struct pipeline *p = userdata;

	workers_quiesce(&p->workers);
}

/* Makes what the threads need. */
static int pipeline_make_places(struct jscan *e, struct pipeline *p)
{
	unsigned jobs = e->options.jobs;
	int r;

	p->places = calloc(jobs, sizeof(*p->places));
	p->readers = calloc(jobs, sizeof(*p->readers));
	p->caches = calloc(jobs, sizeof(*p->caches));
	if (!p->places || !p->readers || !p->caches)
		return -ENOMEM;
	p->places[0].reader = &e->reader;
	p->places[0].cache = &e->cache;
	for (unsigned i = 0; i + 1 < jobs; i++) {
		r = reader_init(&p->readers[i], e->options.field_bytes_max,
				e->options.memory_bytes / 4);
		if (r < 0)
			return r;
		p->places[i + 1].reader = &p->readers[i];
		p->places[i + 1].cache = &p->caches[i];
	}
	return 0;
}

/* Makes the batches. */
static int pipeline_make_batches(struct jscan *e, struct pipeline *p)
{
	p->part_count = e->sinks.count;
	p->batch_count = e->options.jobs * 2 + 2;
	p->refs = PIPELINE_REFS;
	p->buffer_bytes = PIPELINE_BUFFER_BYTES;
	for (size_t i = 0; i < e->sinks.count; i++) {
		if (e->sinks.sinks[i]->kind != PACKED_NONE) {
			p->refs = PIPELINE_REFS_MAX;
			p->buffer_bytes = PIPELINE_BUFFER_BYTES_FRAMED;
		}
	}
	/* Several sinks share what one may take. */
	p->buffer_bytes /= p->part_count < 4 ? p->part_count : 4;
	p->batches = calloc(p->batch_count, sizeof(*p->batches));
	if (!p->batches)
		return -ENOMEM;
	for (unsigned i = 0; i < p->batch_count; i++) {
		struct pipeline_batch *b = &p->batches[i];

		list_append(&p->idle, &b->link);
		list_init(&b->work.link);
		b->parts = calloc(p->part_count, sizeof(*b->parts));
		if (!b->parts)
			return -ENOMEM;
		for (size_t k = 0; k < p->part_count; k++)
			b->parts[k].buffer.bytes.limit =
				PIPELINE_BUFFER_BYTES_MAX / (p->part_count < 4 ? p->part_count : 4);
	}
	return 0;
}

/* Makes the pipeline and starts its threads. */
static int pipeline_start(struct jscan *e)
{
	struct pipeline *p = calloc(1, sizeof(*p));
	int r;

	if (!p)
		return -ENOMEM;
	p->engine = e;
	list_init(&p->ring);
	list_init(&p->idle);
	r = pipeline_make_places(e, p);
	r = r < 0 ? r : pipeline_make_batches(e, p);
	r = r < 0 ? r : workers_start(&p->workers, e->options.jobs - 1, pipeline_work, p);
	if (r < 0) {
		pipeline_release(p, e->options.jobs);
		return r;
	}
	e->pipeline = p;
	e->pool.quiesce = pipeline_quiesce;
	e->pool.quiesce_userdata = p;
	return 0;
}

void pipeline_free(struct jscan *e, bool forked)
{
	struct pipeline *p = e->pipeline;

	if (!p)
		return;
	if (forked) {
		workers_forget(&p->workers);
	} else {
		pipeline_halt(e);
		workers_stop(&p->workers);
	}
	e->pool.quiesce = NULL;
	e->pipeline = NULL;
	pipeline_release(p, e->options.jobs);
}

/* Whether the sinks can be fed by several threads. */
static bool pipeline_suits_sinks(const struct jscan *e)
{
	for (size_t i = 0; i < e->sinks.count; i++) {
		const struct sink *sink = e->sinks.sinks[i];

		/* short-delta looks at the entry before. */
		if (!sink->formats || (sink->output && sink->output->mode == OUTPUT_SHORT_DELTA))
			return false;
	}
	return true;
}

bool pipeline_engage(struct jscan *e)
{
	struct pipeline *p = e->pipeline;
	uint64_t limit = e->limit < e->tail ? e->limit : e->tail;

	if (pipeline_has_rest(e))
		return p->running;
	/* A follower reads damage twice before it believes it, on one thread. */
	if (e->options.jobs <= 1 || e->foreign || e->grep || e->follow || e->pipeline_refused ||
	    e->batch.at < e->batch.count || e->batch.ended ||
	    e->yielded < PIPELINE_BEGIN_ENTRIES || limit - e->yielded < PIPELINE_BEGIN_ENTRIES ||
	    !pipeline_suits_sinks(e))
		return false;
	if (p && p->part_count != e->sinks.count) {
		pipeline_free(e, false); /* a sink was added since */
		p = NULL;
	}
	if (!p && pipeline_start(e) < 0) {
		e->pipeline_refused = true; /* then in line */
		return false;
	}
	p = e->pipeline;
	for (unsigned i = 0; i + 1 < e->options.jobs; i++)
		reader_share(&p->readers[i], drive_share_bytes(e), drive_prints_leads(e));
	p->running = true;
	p->error = 0;
	p->filled = e->stats.entries;
	p->has_previous = e->has_previous;
	p->previous_boot_id = e->previous_boot_id;
	return true;
}

/* ---- stopping --------------------------------------------------------------------------- */

void pipeline_halt(struct jscan *e)
{
	struct pipeline *p = e->pipeline;
	struct list *node, *next;

	if (!p)
		return;
	atomic_store_explicit(&p->halt, true, memory_order_relaxed);
	workers_recall(&p->workers);
	for (node = p->ring.next; node != &p->ring; node = next) {
		struct pipeline_batch *b = container_of(node, struct pipeline_batch, link);

		next = node->next;
		if (work_state(&b->work) != WORK_IDLE) {
			workers_wait(&p->workers, &b->work);
			atomic_store_explicit(&b->work.state, WORK_IDLE, memory_order_relaxed);
		}
		b->done = b->first;
		b->waits = false;
		pipeline_empty(p, b);
		if (b->first == b->count)
			pipeline_retire(p, b);
	}
	p->open = NULL;
	p->flying = 0;
	p->running = false;
	atomic_store_explicit(&p->halt, false, memory_order_relaxed);
}

bool pipeline_has_rest(const struct jscan *e)
{
	return e->pipeline && (!list_is_empty(&e->pipeline->ring) || e->pipeline->pending);
}

void pipeline_give_back(struct jscan *e, unsigned max)
{
	struct pipeline *p = e->pipeline;
	struct pipeline_batch *b = pipeline_head(p);
	struct source *pending = p->pending;

	assert(!p->running && e->batch.count == 0);
	if (!b) {
		e->batch.refs[e->batch.count++] = (struct batch_ref){ pending, pending->entry };
		pending->refs++;
		source_consume(pending);
		p->pending = NULL;
		return;
	}
	while (b->first < b->count && e->batch.count < max) {
		const struct pipeline_ref *ref = &b->refs[b->first++];
		struct source *s = b->views[ref->view].source;

		s->refs++;
		e->batch.refs[e->batch.count++] = (struct batch_ref){ s, ref->entry };
	}
	b->done = b->first;
	if (b->first == b->count)
		pipeline_retire(p, b);
}

void pipeline_drop(struct jscan *e)
{
	struct pipeline_batch *b;

	pipeline_halt(e);
	if (e->pipeline)
		e->pipeline->pending = NULL;
	while (e->pipeline && (b = pipeline_head(e->pipeline))) {
		b->first = b->count;
		pipeline_retire(e->pipeline, b);
	}
}
