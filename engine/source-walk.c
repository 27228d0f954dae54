/* SPDX-License-Identifier: MIT */
/*
 * A source's walk over its entries, one candidate after the other: from the chain, the plan or what
 * a search has found. A step may run many times before it answers; it changes the source where
 * doing so twice makes no difference. What of an entry is damaged is reported and stepped over.
 * Where the walk starts is decided in source-place.c.
 */
#include <assert.h>
#include <stdlib.h>

#include "engine/checkpoint.h"
#include "engine/engine.h"
#include "engine/follow.h"
#include "engine/grep-scan.h"
#include "engine/source.h"

/* How many entries ahead of the walk the processor is told of one. */
#define SOURCE_PREFETCH 16u
/*
 * Entries do not overlap, so all of a file's together are no larger than the file. A hostile file's
 * can be: each may claim the rest of the file as its items, and reading them all would take
 * quadratic time. Damaged sizes are allowed for a few times over, then the file is given up.
 */
#define SOURCE_OVERLAP_MAX 8u
/* Bytes read beyond the start of the last object, to have the object itself. */
#define SOURCE_TAIL_BYTES (64u << 10)

/* Reports the damage that ended a chain. */
static void source_report_chain(struct source *s, int error)
{
	problem_report(s, JSCAN_REASON_CHAIN, error, s->chain.damage_offset,
		       "an entry array cannot be read");
}

/*
 * Reports that the element at FIRST, one of those being looked for, cannot be read. The chain may
 * be shorter now; if it goes on, the next look is behind that element, or, with *ret_low as the
 * lowest index to look at, between it and where the walk is.
 */
static void source_step_over(struct source *s, uint64_t first, int error, uint64_t *ret_low)
{
	struct source_walk *walk = &s->walk;

	source_report_chain(s, error);
	if (first >= s->chain.count)
		return;
	if (!walk->backward) {
		walk->index = first + 1;
	} else if (first + 1 < walk->index) {
		*ret_low = first + 1;
	} else {
		walk->index = first;
		*ret_low = 0;
	}
}

/* Fills walk->offsets with the elements that come next. 1, 0 at the end, -EAGAIN, -ENOMEM. */
static int source_fill(struct source *s)
{
	struct source_walk *walk = &s->walk;
	uint64_t first, low = 0;
	int r;

	/* Most files of a query are never walked through. */
	if (!walk->offsets)
		walk->offsets = malloc(SOURCE_OFFSETS * sizeof(*walk->offsets));
	if (!walk->offsets)
		return -ENOMEM;
	walk->at = walk->count = 0;
	for (;;) {
		if (walk->backward) {
			if (walk->index > s->chain.count)
				walk->index = s->chain.count;
			if (walk->index == 0)
				return 0;
			first = walk->index > SOURCE_OFFSETS ? walk->index - SOURCE_OFFSETS : 0;
			first = first < low ? low : first;
		} else {
			first = walk->index;
		}
		r = chain_get_many(&s->chain, &s->journal, &s->window, first,
				   walk->backward ? (unsigned)(walk->index - first)
						  : SOURCE_OFFSETS,
				   walk->offsets);
		while (walk->backward && r > 0 && first + (uint64_t)r < walk->index) {
			first += (uint64_t)r; /* an array ends in between: its successor first */
			r = chain_get_many(&s->chain, &s->journal, &s->window, first,
					   (unsigned)(walk->index - first), walk->offsets);
		}
		if (r == -EAGAIN)
			return r;
		if (r < 0)
			source_step_over(s, first, r, &low);
		else if (r > 0)
			break;
		else if (!walk->backward || walk->index <= s->chain.count)
			return 0;
	}
	walk->count = (unsigned)r;
	if (walk->backward) {
		walk->index = first;
		walk->at = walk->count;
	} else {
		walk->index += (uint64_t)r;
	}
	return 1;
}

/* The offset of the next entry, not consumed. 1, 0, -EAGAIN. */
static inline int source_peek_offset(struct source *s, uint64_t *ret_offset)
{
	struct source_walk *walk = &s->walk;
	int r;

	if (unlikely(s->passes))
		return walk->from && grep_scan_next(s->grep_scan, walk->from, walk->backward,
						    ret_offset);
	if (unlikely(s->plan.root != NULL)) {
		if (walk->from == 0)
			return 0;
		r = plan_next(&s->plan, &s->journal, &s->window, walk->from, walk->backward,
			      s->horizon, ret_offset);
		return format_error_is_soft(r) ? 0 : r;
	}
	if (walk->backward ? walk->at == 0 : walk->at == walk->count) {
		r = source_fill(s);
		if (r <= 0)
			return r;
	}
	*ret_offset = walk->offsets[walk->backward ? walk->at - 1 : walk->at];
	if (!walk->backward && likely(walk->at + SOURCE_PREFETCH < walk->count))
		__builtin_prefetch((const void *)((uintptr_t)s->window.base +
						  walk->offsets[walk->at + SOURCE_PREFETCH]));
	return 1;
}

/* Goes past the offset that source_peek_offset() gave. */
static inline void source_skip_offset(struct source *s, uint64_t offset)
{
	struct source_walk *walk = &s->walk;

	if (s->plan.root || s->passes)
		walk->from = walk->backward ? offset - 1 : offset + 1;
	else if (walk->backward)
		walk->at--;
	else
		walk->at++;
}

/* Tests an entry against the match by its fields: the reference path of JSCAN_PLAN_SCAN. */
static int source_filter(struct source *s, const struct entry_object *entry, bool *ret_wanted)
{
	struct jscan *e = s->engine;
	int r = reader_load(&e->reader, &s->journal, &s->window, 0, entry,
			    &(const struct reader_filter){ .all = true });

	if (r < 0)
		return r;
	e->stats.entries_tested++;
	return reader_matches(&e->reader, &e->match, ret_wanted);
}

/* The boot's number in the table of boots; the last one is remembered. */
static inline int source_boot_number(struct source *s, const struct id128 *boot_id, uint32_t *ret)
{
	int r;

	if (unlikely(!s->last_boot_known || !id128_equal(boot_id, &s->last_boot_id))) {
		r = order_boot_number(&s->engine->order, boot_id, &s->last_boot);
		if (r < 0)
			return r;
		s->last_boot_id = *boot_id;
		s->last_boot_known = true;
	}
	*ret = s->last_boot;
	return 0;
}

int source_step_candidate(struct source *s)
{
	bool filter = s->engine->match.root && !s->plan.root;
	struct source_walk *walk = &s->walk;
	uint64_t offset;
	bool wanted;
	int r;

	for (;;) {
		r = source_peek_offset(s, &offset);
		if (r < 0)
			return r;
		if (r == 0) {
			s->candidate = CANDIDATE_NONE;
			return 0;
		}
		if (unlikely(walk->last_offset && (walk->backward ? offset >= walk->last_offset
								  : offset <= walk->last_offset))) {
			if (walk->index - walk->count + walk->at < s->replayed_end) {
				walk->at++; /* the plan has had it */
				continue;
			}
			problem_report(s, JSCAN_REASON_CHAIN, -EBADMSG, offset,
				       "an entry array goes back");
			source_skip_offset(s, offset);
			continue;
		}
		r = object_entry(&s->journal, &s->window, offset, &s->entry);
		if (unlikely(r < 0 && r != -EAGAIN && follow_doubts_entry(s, offset)))
			continue;
		if (r == 0 && unlikely(walk->entry_bytes + s->entry.size >
				       SOURCE_OVERLAP_MAX * s->window.size_bytes)) {
			problem_report(s, JSCAN_REASON_LIMIT, -EBADMSG, offset,
				       "its entries together are larger than the file");
			s->candidate = CANDIDATE_NONE;
			return 0;
		}
		wanted = true;
		if (r == 0 && unlikely(s->engine->seek.kind == SEEK_CHECKPOINT))
			wanted = !checkpoint_covers(s, &s->entry);
		if (r == 0 && wanted && unlikely(filter))
			r = source_filter(s, &s->entry, &wanted);
		if (r == -EAGAIN || r == -ENOMEM)
			return r;
		source_skip_offset(s, offset);
		if (r == 0)
			walk->entry_bytes += s->entry.size;
		if (r == 0 && wanted)
			break;
		if (r < 0)
			problem_report(s, JSCAN_REASON_OBJECT, r, offset,
				       "an entry cannot be read");
		source_commit(s);
	}
	walk->last_offset = offset;
	s->key.seqnum = s->entry.seqnum;
	s->key.realtime = s->entry.realtime;
	s->key.monotonic = s->entry.monotonic;
	s->key.xor_hash = s->entry.xor_hash;
	s->key.seqnum_id = s->seqnum_id;
	r = source_boot_number(s, &s->entry.boot_id, &s->key.boot);
	if (r < 0)
		return r;
	s->candidate = CANDIDATE_THERE;
	return 1;
}

void source_consume(struct source *s)
{
	assert(s->candidate == CANDIDATE_THERE);
	s->candidate = CANDIDATE_UNKNOWN;
	s->walk.consumed_offset = s->entry.offset;
}

/* Sets up read-ahead for a source that is going to be streamed. */
static void source_begin_streaming(struct source *s)
{
	const struct journal_header *h = &s->journal.header;
	uint64_t begin = h->header_size, end = journal_end(&s->journal, s->image.size_bytes);
	uint64_t distance, tables[2][2] = {
		{ h->field_hash_table_offset, h->field_hash_table_size },
		{ h->data_hash_table_offset, h->data_hash_table_size },
	};

	s->streaming = true;
	/* Hash tables stand at the beginning of a file and are not needed by a scan. */
	for (int i = 0; i < 2; i++) {
		if (tables[i][0] < begin + 4096 && tables[i][1] < end - tables[i][0])
			begin = tables[i][0] + tables[i][1];
	}
	if (h->tail_object_offset < end && h->tail_object_offset >= begin)
		end = end - h->tail_object_offset > SOURCE_TAIL_BYTES ?
			      h->tail_object_offset + SOURCE_TAIL_BYTES : end;
	readahead_init(&s->readahead, begin, end, s->walk.backward);
	/* With few files open there is memory to begin with large requests. */
	distance = s->engine->options.memory_bytes / 4 / (s->engine->open_count + 1);
	if (distance > READAHEAD_REQUEST_BYTES)
		distance = READAHEAD_REQUEST_BYTES;
	if (distance > s->readahead.distance_bytes)
		s->readahead.distance_bytes = distance;
}

int source_step_next(struct source *s)
{
	struct jscan *e = s->engine;
	int r;

	if (!s->streaming && e->streams && !s->plan.root && !s->passes &&
	    s->candidate != CANDIDATE_NONE)
		source_begin_streaming(s);
	if (s->candidate != CANDIDATE_UNKNOWN)
		return s->candidate == CANDIDATE_THERE;
	if (!s->walk.located) {
		r = source_step_locate(s);
		if (r < 0)
			return r;
		if (s->candidate == CANDIDATE_NONE)
			return 0;
	}
	return source_step_candidate(s);
}
