/* SPDX-License-Identifier: MIT */
/*
 * The phases of a scan: opening, looking up, positioning, merging. What is needed of many files is
 * asked for in waves: one step over all of them at once, so that N files cost a few round trips to
 * the disk. Nothing here waits; -EAGAIN goes up to whoever drives the loop.
 */
#include <assert.h>
#include <stdlib.h>

#include "engine/bounds.h"
#include "engine/checkpoint.h"
#include "engine/cursor.h"
#include "engine/discover.h"
#include "engine/engine.h"
#include "engine/follow.h"
#include "engine/grep-scan.h"
#include "engine/pipeline.h"

/* More entries than this are worth streaming the files for; fewer are looked up one by one. */
#define SCAN_STREAM_ENTRIES 2000u

/* ---- opening ---------------------------------------------------------------------------- */

/* By canonical path. */
static int engine_compare_paths(const void *a, const void *b)
{
	const struct source *x = *(struct source *const *)a, *y = *(struct source *const *)b;

	return strcmp(x->path, y->path);
}

/* The order in which files are numbered: first realtime, file ID, path. Unusable ones last. */
static int engine_compare_files(const void *a, const void *b)
{
	const struct source *x = *(struct source *const *)a, *y = *(struct source *const *)b;
	int r;

	if (!x->error != !y->error)
		return x->error ? 1 : -1;
	if (x->journal.header.head_entry_realtime != y->journal.header.head_entry_realtime)
		return x->journal.header.head_entry_realtime < y->journal.header.head_entry_realtime
			       ? -1
			       : 1;
	r = memcmp(&x->journal.header.file_id, &y->journal.header.file_id, sizeof(struct id128));
	return r ? r : strcmp(x->path, y->path);
}

/* One file under two names is one file, as for version 262. */
static void engine_drop_aliases(struct jscan *e)
{
	size_t kept = 0;

	qsort(e->sources, e->source_count, sizeof(*e->sources), engine_compare_paths);
	for (size_t i = 0; i < e->source_count; i++) {
		struct source *s = e->sources[i], *last = kept ? e->sources[kept - 1] : NULL;

		if (last && !s->given && !last->given && !s->error && !last->error &&
		    strcmp(s->path, last->path) == 0) {
			s->error = -EEXIST;
			source_close(s);
		}
		e->sources[kept++] = s;
	}
}

int engine_open_step(struct jscan *e)
{
	int r;

	if (e->phase > PHASE_OPEN)
		return 0;
	r = engine_start_io(e);
	if (r == 0 && e->follow)
		r = e->backward ? -EINVAL : follow_begin(e);
	if (r < 0)
		return r;
	r = engine_wave(e, source_step_header, NULL);
	if (r < 0)
		return r;
	if (e->source_count > 0) {
		engine_drop_aliases(e);
		qsort(e->sources, e->source_count, sizeof(*e->sources), engine_compare_files);
	}
	e->usable_count = 0;
	for (size_t i = 0; i < e->source_count; i++) {
		e->sources[i]->number = (uint32_t)i;
		e->usable_count += !e->sources[i]->error;
	}
	e->phase = PHASE_NEWEST;
	return e->follow ? follow_opened(e) : 0;
}

/* ---- positions -------------------------------------------------------------------------- */

/* True if the files do not all number their entries alike, or not the place: the boots decide. */
static bool engine_has_several_ids(const struct jscan *e)
{
	const struct source *first = NULL;

	if (engine_is_placed_by_time(e))
		return true;
	for (size_t i = 0; i < e->source_count; i++) {
		const struct source *s = e->sources[i];

		if (s->error)
			continue;
		if (first && first->seqnum_id != s->seqnum_id)
			return true;
		first = s;
	}
	return false;
}

int engine_enter_newest(struct jscan *e)
{
	if (e->newest_known)
		return 0;
	for (size_t i = 0; i < e->source_count; i++) {
		int r = order_add_newest(&e->order, &e->sources[i]->newest);

		if (r < 0)
			return r;
	}
	e->newest_known = true;
	return 0;
}

/* True if positions cannot be known without looking into the files. */
static bool engine_must_locate(const struct jscan *e)
{
	return e->seek.kind >= SEEK_PLACE || e->match.root;
}

/* How many entries of a file there may be between the bounds, if they are spread evenly. */
static uint64_t engine_expect_entries(const struct jscan *e, const struct source *s)
{
	const struct journal_header *h = &s->journal.header;
	uint64_t head = h->head_entry_realtime, tail = h->tail_entry_realtime;
	uint64_t count = s->plan.root ? s->plan.root->count_max : h->n_entries;
	uint64_t from = e->since > head ? e->since : head, to = e->until < tail ? e->until : tail;
	double share;

	if (s->error || (s->plan.root && s->plan.root->empty))
		return 0;
	if (e->seek.set || head >= tail)
		return count;
	if (from > to)
		return 0;
	share = (double)count * (double)(to - from) / (double)(tail - head);
	return share < (double)count ? (uint64_t)share + 1 : count;
}

/* True if more will be read than a few entries. */
static bool engine_expects_many(const struct jscan *e)
{
	uint64_t expected = 0;

	for (size_t i = 0; i < e->source_count && expected <= SCAN_STREAM_ENTRIES; i++) {
		uint64_t count = engine_expect_entries(e, e->sources[i]);

		expected = count < UINT64_MAX - expected ? expected + count : UINT64_MAX;
	}
	return expected > SCAN_STREAM_ENTRIES;
}

/* Decides whether the files are worth streaming, and whether to look into all of them before the
 * first entry: for a few entries only into those that come first by their headers. */
static void engine_expect(struct jscan *e)
{
	bool few = e->limit <= SCAN_STREAM_ENTRIES || e->tail <= SCAN_STREAM_ENTRIES;
	bool bounded = !e->seek.set && e->since > 0 && e->until < UINT64_MAX;

	if (e->wave_runs) /* it has been decided, and all files are looked at for it */
		return;
	e->streams = !few && engine_expects_many(e);
	e->knows_heads = !few && (e->streams || !bounded);
}

/* Where reading starts if the caller did not say: the near end, or the near bound. */
static void engine_default_seek(struct jscan *e)
{
	bool from_end = e->backward || e->tail != UINT64_MAX;
	/* Where the clock stepped a bound may have entries on both of its sides. */
	uint64_t bound = from_end ? UINT64_MAX : 0;

	if (!e->complete)
		bound = from_end ? e->until : e->since;
	if (e->seek.set)
		return;
	e->seek = (struct engine_seek){ .kind = from_end ? SEEK_TAIL : SEEK_HEAD };
	if (bound != (from_end ? UINT64_MAX : 0)) {
		e->seek.kind = SEEK_PLACE;
		e->seek.has_realtime = true;
		e->seek.realtime = bound;
	}
}

void engine_reposition(struct jscan *e)
{
	if (e->phase > PHASE_NEWEST)
		e->phase = PHASE_NEWEST;
	e->yielded = e->shown = 0;
	e->skipped = 0;
	e->last.known = e->beyond.known = false;
	e->turned = e->resumed = false;
	e->wave_runs = false;
	e->until_is_checked = true;
	e->merge.has_last = false;
	e->has_previous = false;
	checkpoint_restart(e);
	pipeline_drop(e);
	for (unsigned i = e->batch.at; i < e->batch.count; i++)
		e->batch.refs[i].source->refs--;
	e->batch.count = e->batch.at = 0;
	e->batch.ended = false;
	e->batch.loaded = false;
	e->batch.handed = false;
}

void engine_rewind(struct jscan *e)
{
	bool backward = e->backward || e->tail != UINT64_MAX;

	engine_default_seek(e);
	grep_scan_forget(e);
	for (size_t i = 0; i < e->source_count; i++) {
		struct source *s = e->sources[i];

		s->walk.consumed_offset = 0;
		source_rewind(s, backward);
	}
}

/* Reading starts at the place again, forward. */
static int engine_turn_in_place(struct jscan *e)
{
	for (size_t i = 0; i < e->source_count; i++) {
		e->sources[i]->walk.consumed_offset = 0;
		source_rewind(e->sources[i], false);
	}
	e->until_is_checked = true;
	e->merge.has_last = false;
	return merge_prepare(&e->merge, e, false);
}

/* The tail reaches back behind the lower bound: reading starts at the bound instead. */
static int engine_turn_to_since(struct jscan *e)
{
	e->seek = (struct engine_seek){ .kind = SEEK_PLACE, .has_realtime = true,
					.realtime = e->since };
	return engine_turn_in_place(e);
}

/* The tail has been counted: what was passed over backward is read forward. */
static int engine_turn_round(struct jscan *e)
{
	if (e->skipped > 0 && e->skipped_realtime < e->since)
		return engine_turn_to_since(e);
	if (e->skipped == 0)
		return engine_turn_in_place(e);
	for (size_t i = 0; i < e->source_count; i++) {
		struct source *s = e->sources[i];
		uint64_t consumed = s->walk.consumed_offset;

		source_rewind(s, false);
		s->walk.consumed_offset = consumed;
		if (!consumed) {
			s->candidate = CANDIDATE_NONE;
			s->drained = true;
			s->walk.located = true;
		}
	}
	e->until_is_checked = e->skipped < e->tail;
	e->merge.has_last = false;
	return merge_prepare(&e->merge, e, false);
}

/* Whether an entry is to be passed over for its place. */
static inline bool engine_is_outside(const struct jscan *e, const struct source *s)
{
	return unlikely(e->complete || e->resumed) && bounds_exclude(e, s);
}

/* Counts back over the entries that the tail is made of. 0 when done, -EAGAIN. */
static int engine_skip_tail(struct jscan *e)
{
	while (e->skipped < e->tail) {
		struct source *s;
		int r = merge_pop(&e->merge, e, &s);

		if (r < 0)
			return r;
		if (r == 0)
			break;
		if (!engine_is_outside(e, s)) {
			e->skipped_realtime = s->entry.realtime;
			e->skipped++;
		}
		source_consume(s);
	}
	return 0;
}

/*
 * Before a long scan every file that was looked into is closed again: the frames of one file then
 * serve the next, instead of lying about in small pieces. Files are opened when their turn comes.
 */
static void engine_park_all(struct jscan *e)
{
	for (size_t i = 0; i < e->source_count && e->streams; i++) {
		struct source *s = e->sources[i];

		if (s->state == SOURCE_OPEN && s->refs == 0 && s->given_fd < 0)
			source_close(s);
	}
}

/* Which sources a wave is for. */
static bool engine_wants_newest(const struct source *s)
{
	return !s->newest_done;
}

static bool engine_wants_place(const struct source *s)
{
	return !s->walk.located && !bounds_may_wait(s, &s->engine->seek, s->walk.backward);
}

static bool engine_wants_head(const struct source *s)
{
	return s->candidate == CANDIDATE_UNKNOWN && merge_needs_head(&s->engine->merge, s);
}

/* What has come in is merged by itself, but for copies of what was yielded before. */
static int engine_resume_merge(struct jscan *e)
{
	struct order_key last = e->merge.last;
	const struct source *last_source = e->merge.last_source;
	bool has_last = e->merge.has_last;
	int r = merge_prepare(&e->merge, e, false);

	e->merge.has_last = has_last;
	e->merge.last = last;
	e->merge.last_source = last_source;
	return r;
}

/* One phase of getting ready. 1: the next phase; 0: ready to yield entries; -EAGAIN. */
static int engine_prepare_phase(struct jscan *e)
{
	int r = 0;

	switch (e->phase) {
	case PHASE_OPEN:
		r = engine_open_step(e);
		return r < 0 ? r : 1;
	case PHASE_NEWEST:
		if (!e->newest_known && engine_has_several_ids(e)) {
			order_forget_newest(&e->order);
			r = engine_wave(e, source_step_newest, engine_wants_newest);
			r = r < 0 ? r : engine_enter_newest(e);
		}
		break;
	case PHASE_PLAN:
		if (e->resumed)
			break;
		if (!e->wave_runs)
			engine_rewind(e);
		if (e->match.root && e->options.plan != JSCAN_PLAN_SCAN)
			r = engine_wave(e, source_step_plan, NULL);
		break;
	case PHASE_GREP:
		if (e->follow)
			break; /* what it finds would soon be out of date */
		engine_expect(e);
		r = grep_scan_files(e);
		break;
	case PHASE_LOCATE:
		if (e->resumed) {
			e->streams = false;
			e->knows_heads = true;
			r = engine_resume_merge(e);
			break;
		}
		engine_expect(e);
		if (engine_must_locate(e) || e->turned)
			r = engine_wave(e, source_step_locate, engine_wants_place);
		if (r == 0 && !e->turned)
			r = merge_prepare(&e->merge, e, e->backward || e->tail != UINT64_MAX);
		break;
	case PHASE_HEADS:
		if (e->wave_runs || !e->merge.started)
			r = engine_wave(e, source_step_next, engine_wants_head);
		r = r < 0 ? r : merge_start(&e->merge, e);
		if (r == 0)
			engine_park_all(e);
		if (r == 0 && (e->tail == UINT64_MAX || e->turned || e->resumed)) {
			e->phase = PHASE_RUN;
			return 1;
		}
		break;
	case PHASE_TAIL:
		r = engine_skip_tail(e);
		if (r < 0)
			return r;
		r = engine_turn_round(e);
		e->turned = true;
		e->phase = PHASE_LOCATE;
		return r < 0 ? r : 1;
	case PHASE_RUN:
	case PHASE_FOLLOW:
	case PHASE_END:
		return 0;
	}
	if (r < 0)
		return r;
	e->phase++;
	return 1;
}

int engine_prepare_step(struct jscan *e)
{
	int r = engine_prepare_phase(e);

	return r < 0 ? r : 0;
}

int engine_rank_step(struct jscan *e)
{
	while (e->phase <= PHASE_NEWEST) {
		int r = engine_prepare_phase(e);

		if (r < 0)
			return r;
	}
	return 0;
}

void engine_keep_position(struct engine_position *position, const struct source *s,
			  const struct entry_object *entry)
{
	position->known = true;
	position->entry = *entry;
	position->seqnum_id = s->journal.header.seqnum_id;
}

/* Passes over an entry outside of complete bounds, and over that which a cursor names, if reading
 * begins with it. 1: it was one of these. */
static int engine_pass_over(struct jscan *e, struct source *s)
{
	if (engine_is_outside(e, s)) {
		source_consume(s);
		return 1;
	}
	if (likely(!e->seek.after) || e->yielded > 0 || e->last.known ||
	    !cursor_is_at(&e->seek, &s->journal.header.seqnum_id, &s->entry))
		return 0;
	engine_keep_position(&e->last, s, &s->entry);
	source_consume(s);
	return 1;
}

/*
 * True if an entry lies beyond the bound that reading goes towards. Reading backward from a place
 * that the caller chose, the upper bound counts as well; from the bound itself it does not,
 * whatever the clock did before it.
 */
static bool engine_is_beyond(const struct jscan *e, const struct entry_object *entry)
{
	if (e->complete)
		return false;
	if (!e->backward)
		return e->until_is_checked && entry->realtime > e->until;
	return entry->realtime < e->since || (e->seek.set && entry->realtime > e->until);
}

/* The end of what there is: of the scan, or of a follower's pass. Nothing comes before the oldest
 * entry, however long one waits. */
static void engine_end(struct jscan *e)
{
	e->phase = e->follow && !e->backward ? PHASE_FOLLOW : PHASE_END;
}

/* True if enough entries have been yielded. A follower's tail is only where it begins. */
static inline bool engine_has_enough(const struct jscan *e)
{
	return (!e->grep && e->yielded >= e->limit) || (e->yielded >= e->tail && !e->follow);
}

int engine_next_candidate(struct jscan *e, struct source **ret_source)
{
	struct source *s;
	int r;

	for (;;) {
		while (unlikely(e->phase != PHASE_RUN)) {
			if (e->phase == PHASE_END || (e->phase > PHASE_RUN && engine_has_enough(e)))
				return 0;
			r = e->phase == PHASE_FOLLOW ? follow_step(e) : engine_prepare_phase(e);
			if (r < 0)
				return r;
		}
		if (engine_has_enough(e))
			return 0;
		r = merge_pop(&e->merge, e, &s);
		if (r < 0)
			return r;
		if (unlikely(r == 0)) {
			engine_end(e);
			continue;
		}
		if (engine_pass_over(e, s))
			continue;
		if (likely(!engine_is_beyond(e, &s->entry)))
			break;
		engine_keep_position(&e->beyond, s, &s->entry);
		if (!e->follow) {
			engine_end(e);
			return 0;
		}
		source_consume(s); /* those that come may be earlier: the clock can be set */
	}
	e->yielded++;
	*ret_source = s;
	return 1;
}
