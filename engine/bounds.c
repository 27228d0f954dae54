/* SPDX-License-Identifier: MIT */
/*
 * Where a place lies by what a file's header says, so that files which begin behind it, or end
 * before it, are not bisected.
 *
 * Sequence numbers ascend within a file, so its first and last bound all. Times need not: clocks
 * are set back. That a file ends before a time says nothing of the entries between, so only one
 * case is decided by time: reading backward from before a file's first entry, which the reference's
 * own bisection (specification 8.2) tests first, unless it begins with the last array. That one's
 * first entry is looked at, which takes two small reads. Files that are being written are left to
 * the bisection.
 */
#include "engine/bounds.h"

#include "engine/cursor.h"
#include "engine/engine.h"

/* True if the header's ends may be relied on. */
static bool bounds_are_there(const struct source *s)
{
	const struct journal_header *h = &s->journal.header;

	return h->state != JOURNAL_STATE_ONLINE && h->n_entries > 0 && h->head_entry_seqnum > 0 &&
	       h->head_entry_seqnum <= h->tail_entry_seqnum && h->head_entry_realtime > 0 &&
	       h->tail_entry_realtime > 0;
}

/* True if a place is given by a number of this file's sequence. */
static bool bounds_by_seqnum(const struct source *s, const struct engine_seek *seek)
{
	return seek->has_seqnum && id128_equal(&seek->seqnum_id, &s->journal.header.seqnum_id);
}

/* By sequence number: 1 with the index, 0 if the place is within. */
static int bounds_seqnum(const struct source *s, uint64_t seqnum, bool backward,
			 uint64_t *ret_index)
{
	const struct journal_header *h = &s->journal.header;
	bool behind = backward ? seqnum >= h->tail_entry_seqnum : seqnum > h->tail_entry_seqnum;
	bool before = backward ? seqnum < h->head_entry_seqnum : seqnum <= h->head_entry_seqnum;

	*ret_index = behind ? s->chain.count : 0;
	return behind || before;
}

/* By time: 1 with the index, 0 if the ends do not decide it, -EAGAIN. */
static int bounds_realtime(struct source *s, uint64_t realtime, bool backward, uint64_t *ret_index)
{
	struct entry_object entry;
	uint64_t offset;
	int r;

	if (!backward || s->journal.header.head_entry_realtime <= realtime)
		return 0;
	r = chain_peek_tail(&s->chain, &s->journal, &s->window, false, &offset);
	if (r <= 0)
		return r;
	r = object_entry(&s->journal, &s->window, offset, &entry);
	if (r < 0)
		return r == -EAGAIN ? r : 0;
	if (entry.realtime < realtime)
		return 0;
	*ret_index = 0;
	return 1;
}

int bounds_place(struct source *s, const struct engine_seek *seek, bool backward,
		 uint64_t *ret_index)
{
	if (!bounds_are_there(s))
		return 0;
	if (bounds_by_seqnum(s, seek))
		return bounds_seqnum(s, seek->seqnum, backward, ret_index);
	if (seek->has_monotonic || !seek->has_realtime)
		return 0;
	return bounds_realtime(s, seek->realtime, backward, ret_index);
}

bool bounds_ends_before(const struct source *s, uint64_t seqnum)
{
	return bounds_are_there(s) && s->journal.header.tail_entry_seqnum < seqnum;
}

bool bounds_may_have(const struct source *s, uint64_t seqnum)
{
	const struct journal_header *h = &s->journal.header;

	return !bounds_are_there(s) ||
	       (h->head_entry_seqnum <= seqnum && seqnum <= h->tail_entry_seqnum);
}

bool bounds_may_wait(const struct source *s, const struct engine_seek *seek, bool backward)
{
	const struct journal_header *h = &s->journal.header;

	if (!bounds_are_there(s) || s->plan.root || s->walk.consumed_offset ||
	    seek->kind != SEEK_PLACE || seek->has_monotonic || !seek->has_realtime ||
	    bounds_by_seqnum(s, seek))
		return false;
	return backward ? h->tail_entry_realtime < seek->realtime
			: h->head_entry_realtime > seek->realtime;
}

bool bounds_exclude(const struct jscan *e, const struct source *s)
{
	if (e->complete)
		return s->entry.realtime < e->since || s->entry.realtime > e->until;
	return e->resumed && e->yielded == 0 && !e->last.known &&
	       (s->entry.realtime < e->since ||
		cursor_is_ahead(&e->seek, &s->journal.header.seqnum_id, &s->entry));
}
