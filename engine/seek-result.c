/* SPDX-License-Identifier: MIT */
/*
 * Whether the entry that a seek has named is there, which is asked of the files that count by its
 * sequence of numbers. Reading is left where it is.
 */
#include "engine/bounds.h"
#include "engine/cursor.h"
#include "engine/engine.h"

/* Step: looks for the entry in one file. What is damaged does not have it. 0, -EAGAIN. */
static int seek_result_step(struct source *s)
{
	struct jscan *e = s->engine;
	struct entry_object entry;
	uint64_t index, offset;
	int r = source_find_after(s, e->seek.seqnum, &index);

	if (r == 0 && index > 0) {
		r = chain_get(&s->chain, &s->journal, &s->window, index - 1, &offset);
		if (r > 0)
			r = object_entry(&s->journal, &s->window, offset, &entry);
		else if (r == 0)
			r = -EBADMSG;
		if (r == 0 && entry.seqnum == e->seek.seqnum &&
		    cursor_is_at(&e->seek, &s->journal.header.seqnum_id, &entry))
			e->seek_answer = JSCAN_SEEK_EXACT;
	}
	return r == -EAGAIN || r == -ENOMEM ? r : 0;
}

/* engine_wave(): files that count by the sequence. Those that by their headers cannot have the
 * entry show that the sequence is still there. */
static bool seek_result_wants(const struct source *s)
{
	struct jscan *e = s->engine;

	if (!id128_equal(&s->journal.header.seqnum_id, &e->seek.seqnum_id))
		return false;
	if (e->seek_answer == JSCAN_SEEK_GONE)
		e->seek_answer = JSCAN_SEEK_NEAREST;
	return bounds_may_have(s, e->seek.seqnum);
}

/* engine_wait(): asks all files that may know. */
static int seek_result_run(struct jscan *e)
{
	return engine_wave(e, seek_result_step, seek_result_wants);
}

int jscan_seek_result(struct jscan *e, enum jscan_seek_answer *ret_answer)
{
	int r = engine_check(e);

	if (r < 0)
		return r;
	if (!ret_answer || !e->seek.set || e->seek.kind != SEEK_PLACE || !e->seek.has_seqnum)
		return -EINVAL;
	if (e->foreign || e->wave_runs)
		return -EBUSY;
	r = jscan_open(e);
	if (r < 0)
		return r;
	e->seek_answer = JSCAN_SEEK_GONE;
	r = engine_wait(e, seek_result_run);
	if (r == 0)
		*ret_answer = e->seek_answer;
	return r;
}
