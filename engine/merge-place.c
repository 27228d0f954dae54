/* SPDX-License-Identifier: MIT */
/*
 * The merge after a seek to a place that the caller named, a cursor for example. Files are
 * positioned each by what it knows of the place: sequence number, boot or realtime (specification
 * 8.2). So the first candidates need not agree: the entry that the place names by its sequence
 * number comes first, and of every other file only what lies beyond the first entry (7.3, 7.4).
 * Does not look for positions, nor for the entries after those.
 */
#include "engine/merge.h"

#include "engine/merge-private.h"

bool engine_is_placed_by_time(const struct jscan *e)
{
	return e->seek.set && e->seek.kind == SEEK_PLACE && e->usable_count > 1 &&
	       !(e->seek.has_seqnum &&
		 id128_equal(&e->seek.seqnum_id, &e->sources[0]->journal.header.seqnum_id));
}

/* The candidate that has the place's sequence number, the last of copies. NULL: there is none. */
static struct source *merge_named(const struct merge *m, const struct jscan *e)
{
	const struct engine_seek *seek = &e->seek;

	for (uint32_t i = m->source_count; seek->has_seqnum && i > 0; i--) {
		struct source *s = e->sources[i - 1];

		if (!s->error && s->candidate == CANDIDATE_THERE &&
		    s->key.seqnum == seek->seqnum &&
		    id128_equal(&seek->seqnum_id, &s->journal.header.seqnum_id))
			return s;
	}
	return NULL;
}

/* Where the first entry stands. */
static struct engine_seek merge_place_of(const struct source *s)
{
	return (struct engine_seek){
		.kind = SEEK_PLACE,
		.has_seqnum = true,
		.has_monotonic = true,
		.has_realtime = true,
		.seqnum_id = s->journal.header.seqnum_id,
		.boot_id = s->entry.boot_id,
		.seqnum = s->entry.seqnum,
		.monotonic = s->entry.monotonic,
		.realtime = s->entry.realtime,
	};
}

/*
 * All candidates but the first entry's own have to be looked at again. Files that have nothing at
 * the place are positioned anew, at the first entry: of that they may know more.
 */
static void merge_bound(struct merge *m, struct jscan *e, const struct source *first)
{
	m->bound = first->key;
	m->stale_count = 0;
	e->first_place = merge_place_of(first);
	for (uint32_t i = 0; i < m->source_count; i++) {
		struct source *s = e->sources[i];

		if (s->error || (s->plan.root && s->plan.root->empty))
			continue;
		if (s->candidate == CANDIDATE_NONE) {
			source_rewind(s, m->backward);
			s->walk.from_first = true;
		}
		m->unbounded[i] = s != first;
		m->stale[m->stale_count++] = i;
	}
	m->fold_valid = 0;
}

int merge_pop_at_place(struct merge *m, struct jscan *e, struct source **ret_source)
{
	struct source *s;
	int r = merge_start(m, e);

	if (r < 0)
		return r;
	m->unbounded = calloc((size_t)m->source_count + 1, sizeof(*m->unbounded));
	if (!m->unbounded)
		return -ENOMEM;
	m->at_place = false;
	s = merge_named(m, e);
	if (!s) {
		r = merge_pop(m, e, &s);
		if (r <= 0) {
			/* Nothing was taken yet: the next call begins anew. */
			free(m->unbounded);
			m->unbounded = NULL;
			m->at_place = r < 0;
			return r;
		}
	}
	m->has_last = true;
	m->last = s->key;
	m->last_source = s;
	merge_bound(m, e, s);
	*ret_source = s;
	return 1;
}

bool merge_is_within_bound(struct merge *m, const struct jscan *e, const struct source *s)
{
	int order;

	if (!m->unbounded[s->number])
		return false;
	order = order_compare(&e->order, &s->key, &m->bound);
	if (m->backward ? order >= 0 : order <= 0)
		return true;
	m->unbounded[s->number] = false;
	return false;
}
