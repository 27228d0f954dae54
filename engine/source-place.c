/* SPDX-License-Identifier: MIT */
/*
 * Where a source's walk starts: places become indices in the file's chain of entries, or, with a
 * plan, offsets from which matches are looked for. Like every step, locating may run many times and
 * changes the source at its end only. Going on from there is source-walk.c.
 */
#include "engine/bounds.h"
#include "engine/checkpoint.h"
#include "engine/engine.h"
#include "engine/source.h"

/* The place is one of an entry's numbers. */
#define SOURCE_PLACE_TEST(name, member)                                                            \
	static int name(const void *userdata, const struct journal *j, struct window *w,           \
			uint64_t entry_offset, int *ret_order)                                     \
	{                                                                                          \
		const uint64_t *value = userdata;                                                  \
		struct entry_object entry;                                                         \
		int r = object_entry(j, w, entry_offset, &entry);                                  \
                                                                                                   \
		if (r < 0)                                                                         \
			return r;                                                                  \
		*ret_order = (entry.member > *value) - (entry.member < *value);                    \
		return 0;                                                                          \
	}

/* Compare an element with a place: by sequence number, monotonic time, realtime. */
SOURCE_PLACE_TEST(source_test_seqnum, seqnum)
SOURCE_PLACE_TEST(source_test_monotonic, monotonic)
SOURCE_PLACE_TEST(source_test_realtime, realtime)

/* The index in the global chain of the place where reading starts in the given direction: of the
 * first element to be read, or one past it when reading backward. */
static int source_place_index(struct source *s, chain_test_fn test, uint64_t value, bool backward,
			      uint64_t *ret_index)
{
	return chain_bisect(&s->chain, &s->journal, &s->window, test, &value, backward, ret_index);
}

/* The entries of the boot that a place names. 1, 0: the file does not have it; -EAGAIN. */
static int source_boot_chain(struct source *s, const struct engine_seek *seek,
			     struct chain *ret_chain)
{
	char text[9 + JSCAN_ID_TEXT_SIZE] = "_BOOT_ID=";
	struct data_object data;
	jscan_id id;
	int r;

	memcpy(id.bytes, seek->boot_id.bytes, sizeof(id.bytes));
	jscan_id_format(&id, text + 9);
	r = lookup_data(&s->journal, &s->window, s->engine->reader.decoder, text, 9 + 32,
			journal_hash(&s->journal, text, 9 + 32), &data);
	if (r <= 0)
		return r == -EAGAIN || r == -ENOMEM ? r : 0;
	chain_init_data(ret_chain, &data);
	return 1;
}

/*
 * Specification 8.2, steps 3 and 5: by a boot's own set of entries. 1: *ret_index; 0: the file does
 * not have that boot, or nothing on this side of the place in it.
 */
static int source_place_monotonic(struct source *s, const struct engine_seek *seek, bool backward,
				  uint64_t *ret_index)
{
	struct chain chain;
	uint64_t i, offset;
	bool beyond;
	int r = source_boot_chain(s, seek, &chain);

	if (r <= 0)
		return r;
	r = chain_bisect(&chain, &s->journal, &s->window, source_test_monotonic,
			 &seek->monotonic, backward, &i);
	if (r < 0)
		return r == -EAGAIN ? r : 0;
	beyond = backward ? i == 0 : i >= chain.count;
	if (chain.count == 0 || (beyond && seek->has_realtime))
		return 0;
	if (beyond) /* past the boot's last entry, before its first */
		i = backward ? 0 : chain.count - 1;
	else if (backward)
		i--;
	r = chain_get(&chain, &s->journal, &s->window, i, &offset);
	if (r <= 0)
		return r == -EAGAIN ? r : 0;
	r = chain_bisect_offset(&s->chain, &s->journal, &s->window, offset, ret_index);
	if (r < 0)
		return r;
	if (backward ? !beyond : beyond)
		++*ret_index;
	return 1;
}

/* True if a place is given by the numbers that this file counts by. */
static bool source_place_is_number(const struct source *s, const struct engine_seek *seek)
{
	return seek->has_seqnum && id128_equal(&seek->seqnum_id, &s->journal.header.seqnum_id);
}

/* Where reading goes on in this file from a checkpoint. Entries that it covers are passed over by
 * the walk: this saves looking at them. */
static int source_place_checkpoint(struct source *s, uint64_t *ret_index)
{
	const struct jscan *e = s->engine;
	uint64_t seqnum;

	*ret_index = 0;
	if (checkpoint_find(s, &seqnum)) {
		if (bounds_ends_before(s, seqnum)) {
			*ret_index = s->chain.count;
			return 0;
		}
		return source_place_index(s, source_test_seqnum, seqnum, false, ret_index);
	}
	if (e->since > 0 && !e->complete)
		return source_place_index(s, source_test_realtime, e->since, false, ret_index);
	return 0;
}

/* Specification 8.2: where reading starts in this file. */
static int source_start_index(struct source *s, const struct engine_seek *seek, bool backward,
			      uint64_t *ret_index)
{
	int r;

	switch (seek->kind) {
	case SEEK_HEAD:
		*ret_index = 0;
		return 0;
	case SEEK_TAIL:
		*ret_index = s->chain.count;
		return 0;
	case SEEK_CHECKPOINT:
		return source_place_checkpoint(s, ret_index);
	case SEEK_PLACE:
		break;
	}
	r = bounds_place(s, seek, backward, ret_index);
	if (r != 0)
		return r < 0 ? r : 0;
	if (source_place_is_number(s, seek))
		return source_place_index(s, source_test_seqnum, seek->seqnum, backward, ret_index);
	if (seek->has_monotonic) {
		r = source_place_monotonic(s, seek, backward, ret_index);
		if (r != 0)
			return r < 0 ? r : 0;
	}
	if (seek->has_realtime)
		return source_place_index(s, source_test_realtime, seek->realtime, backward,
					  ret_index);
	/* A file without the boot has nothing to show; one with other numbers everything. */
	*ret_index = backward != seek->has_monotonic ? s->chain.count : 0;
	return 0;
}

/* With a plan: where to begin to look, INDEX being that of the global chain. 0: nowhere;
 * -EAGAIN. */
static int source_place_offset(struct source *s, uint64_t index, uint64_t *ret_offset)
{
	bool backward = s->walk.backward;
	uint64_t at = backward ? index - 1 : index;

	*ret_offset = 0;
	/* Empty slots stand where a chain claims more than it has: passed over, within reason. */
	for (unsigned n = 0; n < SOURCE_OFFSETS && at < s->chain.count && *ret_offset == 0; n++) {
		int r = chain_get(&s->chain, &s->journal, &s->window, at, ret_offset);

		if (r == -EAGAIN)
			return r;
		if (r < 0)
			*ret_offset = backward ? UINT64_MAX - 1 : 1;
		at = backward ? at - 1 : at + 1;
	}
	if (backward && index > 0 && *ret_offset == 0)
		*ret_offset = UINT64_MAX - 1;
	return 0;
}

/* Specification 9.3: with a plan, a place is looked for among the entries that match. 0; -EAGAIN.
 */
static int source_place_matching(struct source *s, const struct engine_seek *seek,
				 uint64_t *ret_offset)
{
	struct plan_place place = { .test = source_test_realtime, .userdata = &seek->realtime };
	struct chain boot;
	int r;

	if (source_place_is_number(s, seek)) {
		place.test = source_test_seqnum;
		place.userdata = &seek->seqnum;
	} else if (seek->has_monotonic) {
		r = source_boot_chain(s, seek, &boot);
		if (r < 0)
			return r;
		place.boot = r > 0 ? &boot : NULL;
		place.boot_test = source_test_monotonic;
		place.boot_userdata = &seek->monotonic;
	}
	r = plan_locate(&s->plan, &s->journal, &s->window, &place, s->walk.backward, ret_offset);
	if (r <= 0)
		*ret_offset = 0;
	return r == -EAGAIN || r == -ENOMEM ? r : 0;
}

/* True if the matching entries can be bisected for a place. */
static bool source_can_place_matching(const struct source *s, const struct engine_seek *seek)
{
	return s->plan.root && seek->kind == SEEK_PLACE && !s->walk.consumed_offset &&
	       (seek->has_realtime || source_place_is_number(s, seek));
}

int source_step_locate(struct source *s)
{
	struct source_walk *walk = &s->walk;
	struct jscan *e = s->engine;
	uint64_t index = 0, offset = 0;
	bool seeks = s->plan.root || s->passes; /* offsets, not elements of the global chain */
	const struct engine_seek *seek = walk->from_first ? &e->first_place : &e->seek;
	bool matching = source_can_place_matching(s, seek);
	int r;

	if (walk->located)
		return 0;
	if (s->plan.root && s->plan.root->empty) {
		s->candidate = CANDIDATE_NONE;
		s->drained = true;
		walk->located = true;
		return 0;
	}
	if (walk->consumed_offset) /* turned round in tail mode: from the oldest entry taken, on */
		r = chain_bisect_offset(&s->chain, &s->journal, &s->window, walk->consumed_offset,
					&index);
	else if (matching)
		r = source_place_matching(s, seek, &offset);
	else
		r = source_start_index(s, seek, walk->backward, &index);
	if (r == -EAGAIN || r == -ENOMEM)
		return r;
	if (r < 0) {
		problem_report(s, JSCAN_REASON_CHAIN, r, s->journal.header.entry_array_offset,
			       "no position can be found in its entries");
		index = walk->backward ? s->chain.count : 0;
	}
	if (seeks && !matching && !walk->consumed_offset &&
	    seek->kind == (walk->backward ? SEEK_TAIL : SEEK_HEAD)) {
		/* From an end: the terms' own entries say where that is. */
		offset = walk->backward ? UINT64_MAX - 1 : 1;
	} else if (seeks && !matching) {
		r = source_place_offset(s, index, &offset);
		if (r < 0)
			return r;
	}
	walk->index = index;
	walk->from = offset;
	walk->at = walk->count = 0;
	walk->consumed_offset = 0;
	walk->last_offset = 0;
	walk->entry_bytes = 0;
	walk->located = true;
	s->candidate = CANDIDATE_UNKNOWN;
	return 0;
}

void source_rewind(struct source *s, bool backward)
{
	s->walk.backward = backward;
	s->walk.located = s->walk.from_first = false;
	s->drained = s->error != 0;
	s->candidate = s->error ? CANDIDATE_NONE : CANDIDATE_UNKNOWN;
	s->streaming = false;
	s->window.run_begin = s->window.run_end = 0;
}

void source_resume(struct source *s, uint64_t index)
{
	struct source_walk *walk = &s->walk;

	plan_done(&s->plan);
	s->plan.ready = true;
	s->horizon = UINT64_MAX;
	walk->backward = false;
	walk->located = true;
	walk->index = index;
	walk->at = walk->count = 0;
	walk->entry_bytes = 0;
	s->drained = false;
	s->candidate = CANDIDATE_UNKNOWN;
}

int source_find_position(struct source *s, const struct engine_position *position,
			 uint64_t *ret_index)
{
	const struct engine_seek seek = {
		.kind = SEEK_PLACE,
		.has_seqnum = true,
		.has_monotonic = true,
		.has_realtime = true,
		.seqnum_id = position->seqnum_id,
		.boot_id = position->entry.boot_id,
		.seqnum = position->entry.seqnum,
		.monotonic = position->entry.monotonic,
		.realtime = position->entry.realtime,
	};

	return source_start_index(s, &seek, false, ret_index);
}

int source_find_after(struct source *s, uint64_t seqnum, uint64_t *ret_index)
{
	return source_place_index(s, source_test_seqnum, seqnum, true, ret_index);
}
