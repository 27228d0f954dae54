/* SPDX-License-Identifier: MIT */
/*
 * The merge without a certificate: the reference's left fold over all candidates in the order of
 * the files' numbers (specification 7.4), keeping the earlier one on ties. The best of every prefix
 * is remembered, so that taking the candidate of file k costs a new fold from k on only (7.6).
 *
 * Unlike the reference it looks for copies only, not for everything that is "not beyond" the entry
 * yielded last, so that nothing is lost.
 */
#include <assert.h>

#include "engine/engine.h"
#include "engine/merge-private.h"

/* Whether S replaces BEST, which comes before it in the fold. */
static inline bool merge_replaces(const struct merge *m, const struct jscan *e,
				  const struct source *s, const struct source *best)
{
	int order = order_compare(&e->order, &s->key, &best->key);

	return m->backward ? order > 0 : order < 0;
}

struct source *merge_fold_once(const struct merge *m, const struct jscan *e)
{
	struct source *best = NULL;

	for (uint32_t i = 0; i < m->source_count; i++) {
		if (m->heap_at[i] != MERGE_NOWHERE &&
		    (!best || merge_replaces(m, e, e->sources[i], best)))
			best = e->sources[i];
	}
	return best;
}

int merge_to_fold(struct merge *m, struct jscan *e)
{
	m->best = calloc((size_t)m->source_count + 1, sizeof(*m->best));
	m->hashes = calloc((size_t)m->source_count + 1, sizeof(*m->hashes));
	if (!m->best || !m->hashes)
		return -ENOMEM;
	m->stale_count = 0;
	for (uint32_t i = 0; i < m->source_count; i++) {
		const struct source *s = e->sources[i];

		if (s->error || s->candidate == CANDIDATE_NONE)
			continue;
		if (s->candidate == CANDIDATE_UNKNOWN || merge_is_copy_of_last(m, s))
			m->stale[m->stale_count++] = i;
		else
			m->hashes[i] = s->key.xor_hash;
	}
	m->fold_valid = 0;
	m->mode = MERGE_FOLD;
	return 1;
}

/* Whether a wave is to look for a file's newest entry. */
static bool merge_wants_newest(const struct source *s)
{
	return !s->newest_done;
}

/* Enters the newest entries of all files, if that has not been done for the mode before. */
static int merge_fold_newest(struct jscan *e)
{
	int r = engine_wave(e, source_step_newest, merge_wants_newest);

	return r < 0 ? r : engine_enter_newest(e);
}

/* Notes which candidates are copies of the one chosen. */
static void merge_fold_note_copies(struct merge *m, const struct jscan *e, const struct source *s)
{
	for (uint32_t i = 0; i < m->source_count; i++) {
		const struct source *other = e->sources[i];

		if (m->hashes[i] == s->key.xor_hash && other != s &&
		    other->candidate == CANDIDATE_THERE && order_is_copy(&other->key, &s->key))
			m->stale[m->stale_count++] = i;
	}
}

/*
 * The candidate that has the least number of those of one sequence. Where the comparison goes in
 * circles, which of them comes first is left to the order of the files. A checkpoint is told by one
 * number for each sequence, so that while one is kept the numbers decide.
 */
static struct source *merge_least_of_id(const struct merge *m, const struct jscan *e,
					struct source *s)
{
	for (uint32_t i = 0; i < m->source_count; i++) {
		struct source *other = e->sources[i];

		if (other->candidate == CANDIDATE_THERE && other->seqnum_id == s->seqnum_id &&
		    other->key.seqnum < s->key.seqnum)
			s = other;
	}
	return s;
}

int merge_fold_pop(struct merge *m, struct jscan *e, struct source **ret_source)
{
	uint32_t best = MERGE_NOWHERE;
	struct source *s;
	int r;

	if (!e->newest_known) {
		r = merge_fold_newest(e);
		if (r < 0)
			return r;
	}
	for (uint32_t i = m->fold_valid; i < m->source_count; i++) {
		best = i > 0 ? m->best[i - 1] : MERGE_NOWHERE;
		s = e->sources[i];
		if (s->candidate == CANDIDATE_THERE &&
		    (best == MERGE_NOWHERE || merge_replaces(m, e, s, e->sources[best])))
			best = i;
		m->best[i] = best;
	}
	m->fold_valid = m->source_count;
	best = m->source_count ? m->best[m->source_count - 1] : MERGE_NOWHERE;
	if (best == MERGE_NOWHERE)
		return 0;
	s = e->sources[best];
	if (unlikely(e->checkpoint))
		s = merge_least_of_id(m, e, s);
	m->stale[m->stale_count++] = s->number;
	merge_fold_note_copies(m, e, s);
	m->fold_steps++;
	m->has_last = true;
	m->last = s->key;
	m->last_source = s;
	*ret_source = s;
	return 1;
}
