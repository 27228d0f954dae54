/* SPDX-License-Identifier: MIT */
/*
 * Grep at the speed of memory. A pattern with a literal is not tried on every entry: before the
 * merge begins, each file is read once from front to back in large pieces, and what is found there
 * (grep-walk.c) is a short list of entries that have to be looked at. The others are ruled out:
 *
 * - The merge goes without them (source->passes) where that cannot change what is printed: all
 *   files number their entries alike and in order, so that the merge's order does not depend on
 *   who takes part; and no boot's entries lie between another's, so that the first and the last of
 *   each are enough for the lines between boots. The list holds those, and what lies beyond the
 *   bounds, since the first such entry ends the scan.
 * - Otherwise they take part, but are not loaded.
 *
 * A file that cannot be walked is read as ever, and entries that are looked at are tested by the
 * pattern as ever: what is wrong here costs time. The bytes pass through a few buffers of this
 * module, not through the image: they stay in the processor's cache, and nothing is evicted for
 * them. What this does not do: scans for a few entries, which end before all files are read;
 * matches, which have an index; files that are numbered differently.
 */
#include "engine/grep-scan.h"

#include <assert.h>
#include <stdlib.h>

#include "engine/engine.h"
#include "engine/grep-walk.h"
#include "engine/output-sink.h"

#define GREP_SLOTS 4u
#define GREP_READ_BYTES (256u << 10)
/* Room before what is read for the rest of the object that the last read ended in, and behind it:
 * a header is looked at as a whole. */
#define GREP_CARRY_BYTES GREP_OBJECT_MAX
#define GREP_SLOT_BYTES (GREP_CARRY_BYTES + GREP_READ_BYTES)
/* Nothing is printed until all files have been searched: with more that takes too long. */
#define GREP_BYTES_MAX (UINT64_C(16) << 30)

struct grep_slot {
	struct io_op op;
	uint32_t size_bytes; /* that are wanted: op may read more */
	bool in_flight, full;
	uint8_t *bytes; /* of what is read; the rest of the object before it stands in front */
};

struct grep_reader {
	struct grep_slot slots[GREP_SLOTS];
	unsigned at;            /* the slot that is taken next */
	unsigned in_flight;
	size_t next_source;
	bool finished;          /* all files have been searched */
	struct source *source;  /* that is being read */
	struct grep_scan *scan; /* its, while it is being read */
	bool common;            /* the literal stands in so many entries that it is no help */
	bool ended;             /* nothing more of it is wanted */
	uint64_t next, end;     /* of it: what is still to be read */
	size_t carried;         /* bytes in front of the slot that is taken next */
	struct grep_walk walk;
	uint8_t *memory;
};

/* ---- what is known ---------------------------------------------------------------------- */

void grep_scan_free(struct grep_scan *scan)
{
	if (!scan)
		return;
	free(scan->offsets);
	free(scan->runs);
	free(scan);
}

/* The index of the first offset that is at or after FROM. */
static size_t grep_scan_index(const struct grep_scan *scan, uint64_t from)
{
	size_t low = 0, high = scan->count;

	while (low < high) {
		size_t middle = low + (high - low) / 2;

		if (scan->offsets[middle] < from)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

bool grep_scan_rules_out(struct grep_scan *scan, uint64_t offset)
{
	size_t i = scan->at;

	if (unlikely(!scan->usable || offset > scan->last_entry))
		return false;
	if (unlikely((i < scan->count && scan->offsets[i] < offset) ||
		     (i > 0 && scan->offsets[i - 1] >= offset)))
		scan->at = i = grep_scan_index(scan, offset);
	return i == scan->count || scan->offsets[i] != offset;
}

bool grep_scan_next(const struct grep_scan *scan, uint64_t from, bool backward,
		    uint64_t *ret_offset)
{
	size_t i = grep_scan_index(scan, backward ? from + 1 : from);

	if (backward ? i == 0 : i == scan->count)
		return false;
	*ret_offset = scan->offsets[backward ? i - 1 : i];
	return true;
}

void grep_scan_forget(struct jscan *e)
{
	struct grep_reader *g = e->grep_reader;

	for (size_t i = 0; i < e->source_count; i++) {
		grep_scan_free(e->sources[i]->grep_scan);
		e->sources[i]->grep_scan = NULL;
		e->sources[i]->passes = false;
	}
	if (!g)
		return;
	/* What is in flight has to end before its file can be read anew. */
	g->ended = true;
	grep_scan_free(g->scan);
	g->scan = NULL;
	g->next_source = 0;
	g->common = g->finished = false;
}

/* ---- reading ---------------------------------------------------------------------------- */

bool grep_reader_complete(struct grep_reader *g, const struct io_op *op)
{
	for (unsigned i = 0; g && i < GREP_SLOTS; i++) {
		if (op != &g->slots[i].op)
			continue;
		assert(g->slots[i].in_flight);
		g->slots[i].in_flight = false;
		g->slots[i].full = true;
		g->in_flight--;
		/* A direct read has gone on to the end of its last block. */
		g->slots[i].op.size_bytes = g->slots[i].size_bytes;
		if (g->slots[i].op.result > (int32_t)g->slots[i].size_bytes)
			g->slots[i].op.result = (int32_t)g->slots[i].size_bytes;
		list_remove(&g->source->run_link);
		list_append(&g->source->engine->runnable, &g->source->run_link);
		return true;
	}
	return false;
}

void grep_reader_free(struct grep_reader *g)
{
	if (!g)
		return;
	grep_scan_free(g->scan);
	free(g->memory);
	free(g);
}

/* Makes the reader with its buffers. */
static int grep_reader_new(struct jscan *e)
{
	struct grep_reader *g = calloc(1, sizeof(*g));

	if (!g)
		return -ENOMEM;
	g->memory = aligned_alloc(IO_DIRECT_ALIGN, (size_t)GREP_SLOTS * GREP_SLOT_BYTES);
	if (!g->memory) {
		free(g);
		return -ENOMEM;
	}
	for (unsigned i = 0; i < GREP_SLOTS; i++)
		g->slots[i].bytes = g->memory + (size_t)i * GREP_SLOT_BYTES + GREP_CARRY_BYTES;
	e->grep_reader = g;
	return 0;
}

/* source_try() step: the file is open. */
static int grep_step_open(struct source *s)
{
	(void)s;
	return 0;
}

/* Begins to read a file that is open. 0, -ENOMEM. */
static int grep_begin(struct jscan *e, struct source *s)
{
	struct grep_reader *g = e->grep_reader;
	struct grep_walk *w = &g->walk;

	assert(!g->source && !g->in_flight);
	g->scan = calloc(1, sizeof(*g->scan));
	if (!g->scan)
		return -ENOMEM;
	*w = (struct grep_walk){
		.literal = grep_literal(e->grep),
		.journal = &s->journal,
		.decoder = e->reader.decoder,
		.scan = g->scan,
		.since = e->since,
		.until = e->until,
		.file_size = s->image.size_bytes,
	};
	g->ended = grep_walk_begin(w) < 0;
	if (g->ended)
		g->scan->usable = g->scan->ordered = false;
	g->next = w->at & ~(uint64_t)4095;
	g->end = w->tail + GREP_OBJECT_MAX < w->file_size ? w->tail + GREP_OBJECT_MAX :
							    w->file_size;
	g->carried = 0;
	g->source = s;
	s->refs++; /* it stays open */
	return 0;
}

/* Submits reads for the slots that are free, which come after those that are not. */
static void grep_submit(struct jscan *e)
{
	struct grep_reader *g = e->grep_reader;

	for (unsigned i = 0; i < GREP_SLOTS && g->next < g->end; i++) {
		struct grep_slot *slot = &g->slots[(g->at + i) % GREP_SLOTS];
		uint64_t size = g->end - g->next;

		if (slot->in_flight || slot->full)
			continue;
		if (!rate_allows(&e->pool.rate, rate_now_usec()))
			break;
		size = size < GREP_READ_BYTES ? size : GREP_READ_BYTES;
		slot->op = (struct io_op){
			.kind = IO_READ,
			.file = g->source->image.file,
			.buffer = slot->bytes,
			.offset = g->next,
			.size_bytes = (uint32_t)size,
			.async = e->pool.async,
		};
		slot->size_bytes = (uint32_t)size;
		if (slot->op.file.direct)
			slot->op.size_bytes = (slot->op.size_bytes + IO_DIRECT_ALIGN - 1) &
					      ~(IO_DIRECT_ALIGN - 1);
		slot->in_flight = true;
		g->in_flight++;
		g->next += size;
		rate_pay(&e->pool.rate, size);
		io_submit(&e->io, &slot->op);
	}
}

/* Walks over what the next slot holds. 1: the file is done; 0: there is more; -EAGAIN; -EBADMSG:
 * the file cannot be walked; -ENOMEM. */
static int grep_take(struct grep_reader *g)
{
	struct grep_slot *slot = &g->slots[g->at], *next = &g->slots[(g->at + 1) % GREP_SLOTS];
	struct grep_walk *w = &g->walk;
	uint64_t end;
	int r;

	if (slot->in_flight)
		return -EAGAIN;
	if (!slot->full || slot->op.result < 0)
		return -EBADMSG;
	end = slot->op.offset + (uint32_t)slot->op.result;
	r = grep_walk_bytes(w, slot->bytes - g->carried, g->carried + (uint32_t)slot->op.result,
			    slot->op.offset - g->carried);
	if (r != 0)
		return r;
	if ((uint32_t)slot->op.result < slot->op.size_bytes)
		return -EBADMSG; /* the file has become shorter */
	g->carried = w->at < end ? (size_t)(end - w->at) : 0;
	if (g->carried > GREP_CARRY_BYTES)
		return -EBADMSG;
	memcpy(next->bytes - g->carried, slot->bytes + slot->op.size_bytes - g->carried,
	       g->carried);
	/* What is large and not looked at need not be read. */
	if (w->at > g->next && w->items_at >= w->items_end)
		g->next = w->at & ~(uint64_t)4095;
	slot->full = false;
	g->at = (g->at + 1) % GREP_SLOTS;
	return 0;
}

/* The file is done with. */
static void grep_end(struct grep_reader *g)
{
	struct source *s = g->source;

	for (unsigned i = 0; i < GREP_SLOTS; i++)
		g->slots[i].full = false;
	s->grep_scan = g->scan;
	g->scan = NULL;
	g->source = NULL;
	assert(s->refs > 0);
	s->refs--;
	if (s->state == SOURCE_OPEN && s->refs == 0 && s->given_fd < 0)
		source_close(s);
}

/* Reads the file that has been begun: 0 when it is done, -EAGAIN, -ENOMEM. */
static int grep_read(struct jscan *e)
{
	struct grep_reader *g = e->grep_reader;

	while (!g->ended) {
		int r;

		grep_submit(e);
		r = grep_take(g);
		if (r == -EAGAIN || r == -ENOMEM)
			return r;
		if (r == -EBADMSG)
			g->scan->usable = g->scan->ordered = false;
		else if (!g->scan->usable)
			g->common = true;
		g->ended = r != 0 || g->common;
	}
	if (g->in_flight)
		return -EAGAIN;
	grep_end(g);
	return 0;
}

/* ---- which files, and what for ---------------------------------------------------------- */

/* True if the lines between boots, or a sink that is told the boot before, matter. */
static bool grep_wants_boots(const struct jscan *e)
{
	for (size_t i = 0; i < e->sinks.count; i++) {
		const struct sink *sink = e->sinks.sinks[i];

		if (!sink->output || (sink->built_in && sink->built_in->boot_lines))
			return true;
	}
	return false;
}

/* True if the scan can come to entries of this file. */
static bool grep_wants_file(const struct source *s)
{
	const struct journal_header *h = &s->journal.header;
	const struct engine_seek *seek = &s->engine->seek;
	bool backward = s->engine->backward;

	if (s->error || h->n_entries == 0)
		return false;
	if (h->head_entry_realtime > s->engine->until)
		return false;
	if (h->state != JOURNAL_STATE_ARCHIVED)
		return true;
	if (seek->kind == SEEK_PLACE && seek->has_seqnum &&
	    id128_equal(&seek->seqnum_id, &h->seqnum_id) &&
	    (backward ? h->head_entry_seqnum > seek->seqnum : h->tail_entry_seqnum < seek->seqnum))
		return false;
	return h->tail_entry_realtime >= s->engine->since;
}

/* True if searching all files first is worth it. */
static bool grep_is_worth_it(const struct jscan *e)
{
	const struct source *first = NULL;
	uint64_t bytes = 0;

	if (!e->grep || !grep_literal(e->grep) || e->match.root || !e->streams ||
	    e->tail != UINT64_MAX || e->options.plan == JSCAN_PLAN_SCAN || e->checkpoint)
		return false;
	for (size_t i = 0; i < e->source_count; i++) {
		const struct source *s = e->sources[i];

		if (s->error)
			continue;
		if (first && first->seqnum_id != s->seqnum_id)
			return false;
		first = s;
		bytes += grep_wants_file(s) ? s->stat.size_bytes : 0;
	}
	return bytes <= GREP_BYTES_MAX;
}

/* By first number. */
static int grep_compare_runs(const void *a, const void *b)
{
	const struct grep_run *x = a, *y = b;

	return (x->first > y->first) - (x->first < y->first);
}

/* Whether one boot's entries never lie between another's. 1, 0, -ENOMEM. */
static int grep_boots_are_apart(const struct jscan *e)
{
	struct grep_run *runs;
	size_t count = 0;
	int apart = 1;
	uint64_t last = 0;

	for (size_t i = 0; i < e->source_count; i++) {
		const struct source *s = e->sources[i];

		if (!grep_wants_file(s))
			continue;
		if (!s->grep_scan || !s->grep_scan->ordered)
			return 0;
		count += s->grep_scan->run_count;
	}
	runs = calloc(count + 1, sizeof(*runs));
	if (!runs)
		return -ENOMEM;
	count = 0;
	for (size_t i = 0; i < e->source_count; i++) {
		const struct grep_scan *scan = e->sources[i]->grep_scan;

		if (!scan || scan->run_count == 0)
			continue;
		memcpy(runs + count, scan->runs, scan->run_count * sizeof(*runs));
		count += scan->run_count;
	}
	qsort(runs, count, sizeof(*runs), grep_compare_runs);
	for (size_t i = 0; i + 1 < count && apart; i++) {
		last = runs[i].last > last ? runs[i].last : last;
		apart = runs[i + 1].first > last ||
			id128_equal(&runs[i].boot_id, &runs[i + 1].boot_id);
	}
	free(runs);
	return apart;
}

/* All files have been searched: decides what the merge may go without. */
static int grep_decide(struct jscan *e)
{
	int r = grep_wants_boots(e) ? grep_boots_are_apart(e) : 1;

	if (r < 0)
		return r;
	for (size_t i = 0; i < e->source_count; i++) {
		struct source *s = e->sources[i];
		const struct grep_scan *scan = s->grep_scan;

		s->passes = r && scan && scan->usable && scan->ordered;
	}
	e->grep_reader->finished = true;
	return 0;
}

int grep_scan_files(struct jscan *e)
{
	struct grep_reader *g = e->grep_reader;
	int r;

	if (g && g->source && !g->scan) { /* begun before everything was forgotten */
		r = grep_read(e);
		if (r < 0)
			return r;
	}
	if (!grep_is_worth_it(e) || (g && g->finished))
		return 0;
	if (!g) {
		r = grep_reader_new(e);
		if (r < 0)
			return r;
		g = e->grep_reader;
	}
	for (; g->next_source < e->source_count && !g->common; g->next_source++) {
		struct source *s = e->sources[g->next_source];

		if (!grep_wants_file(s))
			continue;
		if (!g->source) {
			r = source_try(s, grep_step_open);
			if (s->error)
				continue;
			r = r < 0 ? r : grep_begin(e, s);
			if (r < 0)
				return r == -EBUSY ? -EAGAIN : r;
		}
		r = grep_read(e);
		if (r < 0)
			return r;
	}
	return grep_decide(e);
}
