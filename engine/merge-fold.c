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
#include <stdlib.h>

#include "engine/engine.h"
#include "engine/merge-private.h"

/* Files in the order of their numbers. */
static int merge_compare_numbers(const void *a, const void *b)
{
	const struct merge_item *x = a, *y = b;

	return (x->source->number > y->source->number) - (x->source->number < y->source->number);
}

int merge_to_fold(struct merge *m, struct jscan *e)
{
	struct merge_item *items = calloc(e->source_count + 1, sizeof(*items));
	size_t *best = calloc(e->source_count + 1, sizeof(*best));
	size_t count = 0;

	if (!items || !best) {
		free(items);
		free(best);
		return -ENOMEM;
	}
	for (size_t i = 0; i < e->source_count; i++) {
		struct source *s = e->sources[i];

		list_remove(&s->id_link);
		list_remove(&s->clock_link);
		if (s->error || s->candidate == CANDIDATE_NONE)
			continue;
		if (s->candidate == CANDIDATE_THERE)
			items[count].primary = s->key.xor_hash;
		items[count++].source = s;
	}
	qsort(items, count, sizeof(*items), merge_compare_numbers);
	for (size_t i = 0; i < count; i++)
		items[i].source->merge_at = i;
	free(m->heap);
	free(m->best);
	m->heap = items;
	m->heap_count = m->heap_capacity = count;
	m->best = best;
	m->fold_valid = 0;
	m->pending = false;
	m->fold_filled = false;
	m->mode = MERGE_FOLD;
	return 1;
}

/* Enters the newest entries of all files, if that has not been done for the mode before. */
static int merge_fold_newest(struct jscan *e)
{
	int result = 0, r;

	for (size_t i = 0; i < e->source_count; i++) {
		struct source *s = e->sources[i];

		if (s->error || s->newest_done)
			continue;
		r = source_try(s, source_step_newest);
		if (r == -EAGAIN || r == -EBUSY)
			result = -EAGAIN;
		else if (r == -ENOMEM)
			return r;
	}
	return result < 0 ? result : engine_enter_newest(e);
}

/* The next candidate of the item at I that is no copy of the entry yielded last. 0, -EAGAIN. */
static int merge_fold_load(struct merge *m, struct jscan *e, size_t i)
{
	struct source *s = m->heap[i].source;

	for (;;) {
		int r = merge_load(e, s);

		if (r < 0)
			return r;
		if (r == 0)
			s->drained = true;
		m->heap[i].primary = r ? s->key.xor_hash : 0;
		if (r == 0 || !m->has_last || m->last_source == s ||
		    !order_is_copy(&s->key, &m->last))
			return 0;
		m->duplicates++;
		source_consume(s);
	}
}

/* Makes the candidate at I current. 0, -EAGAIN. */
static int merge_fold_update(struct merge *m, struct jscan *e, size_t i)
{
	if (i < m->fold_valid)
		m->fold_valid = i;
	return merge_fold_load(m, e, i);
}

/* Makes all candidates current: those not known, and those that the last entry is a copy of. */
static int merge_fold_refill(struct merge *m, struct jscan *e)
{
	int result = 0, r;

	for (size_t i = 0; i < m->heap_count && m->has_last; i++) {
		struct source *s = m->heap[i].source;

		if (m->heap[i].primary != m->last.xor_hash || m->last_source == s ||
		    s->candidate != CANDIDATE_THERE || !order_is_copy(&s->key, &m->last))
			continue;
		m->duplicates++;
		source_consume(s);
		m->fold_filled = false;
	}
	if (m->fold_filled)
		return merge_fold_update(m, e, m->last_source->merge_at);
	for (size_t i = 0; i < m->heap_count; i++) {
		if (m->heap[i].source->candidate != CANDIDATE_UNKNOWN)
			continue;
		r = merge_fold_update(m, e, i);
		if (r == -EAGAIN)
			result = r;
		else if (r < 0)
			return r;
	}
	m->fold_filled = result == 0;
	return result;
}

int merge_fold_pop(struct merge *m, struct jscan *e, struct source **ret_source)
{
	struct source *s;
	size_t best;
	int r;

	if (!e->newest_known) {
		r = merge_fold_newest(e);
		if (r < 0)
			return r;
	}
	r = merge_fold_refill(m, e);
	if (r < 0)
		return r;
	for (size_t i = m->fold_valid; i < m->heap_count; i++) {
		best = i > 0 ? m->best[i - 1] : SIZE_MAX;
		s = m->heap[i].source;
		if (s->candidate == CANDIDATE_THERE) {
			int order = best == SIZE_MAX ? 0 :
					    order_compare(&e->order, &s->key,
							  &m->heap[best].source->key);

			if (best == SIZE_MAX || (m->backward ? order > 0 : order < 0))
				best = i;
		}
		m->best[i] = best;
	}
	m->fold_valid = m->heap_count;
	if (m->heap_count == 0 || m->best[m->heap_count - 1] == SIZE_MAX)
		return 0;
	best = m->best[m->heap_count - 1];
	m->fold_valid = best;
	s = m->heap[best].source;
	m->fold_steps++;
	m->has_last = true;
	m->last = s->key;
	m->last_source = s;
	*ret_source = s;
	return 1;
}
