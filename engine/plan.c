/* SPDX-License-Identifier: MIT */
/*
 * Resolving a match expression in one file, and stepping through what it matches (specification
 * 9.3): conjunctions move all children to the farthest of their answers until they agree, rarest
 * child first; disjunctions take the nearest. Everything is done on offsets; no entry is read.
 */
#include "engine/plan.h"

#include <stdlib.h>

/* Elements of a damaged array that are passed over on the way to the next good one. */
#define PLAN_WRONG_MAX 1024u

/* Fills a node for MATCH and everything below it. */
static int plan_node_init(struct plan_node *node, const struct match_node *match)
{
	node->match = match;
	if (!match->child_count)
		return 0;
	node->children = calloc(match->child_count, sizeof(*node->children));
	if (!node->children)
		return -ENOMEM;
	node->child_count = match->child_count;
	for (size_t i = 0; i < node->child_count; i++) {
		int r = plan_node_init(&node->children[i], match->children[i]);

		if (r < 0)
			return r;
	}
	return 0;
}

/* Frees what is below a node. */
static void plan_node_done(struct plan_node *node)
{
	for (size_t i = 0; i < node->child_count; i++)
		plan_node_done(&node->children[i]);
	free(node->children);
	free(node->term);
}

int plan_init(struct plan *p, const struct match *match)
{
	int r;

	*p = (struct plan){ 0 };
	if (!match->root) {
		p->ready = true;
		return 0;
	}
	p->root = calloc(1, sizeof(*p->root));
	if (!p->root)
		return -ENOMEM;
	r = plan_node_init(p->root, match->root);
	if (r < 0)
		plan_done(p);
	return r;
}

void plan_done(struct plan *p)
{
	if (p->root)
		plan_node_done(p->root);
	free(p->root);
	*p = (struct plan){ 0 };
}

/* Looks one term up. Damage on the way means that the term is not there (262). */
static int plan_resolve_term(struct plan_node *node, const struct journal *j, struct window *w,
			     struct payload_decoder *decoder)
{
	const struct match_node *term = node->match;
	uint64_t hash = j->keyed ? journal_hash(j, term->data, term->size) : term->hash;
	struct data_object data;
	int r;

	if (node->resolved)
		return 0;
	r = lookup_data_resume(j, w, decoder, term->data, term->size, hash, &node->position, &data);
	if (r == -EAGAIN || r == -ENOMEM)
		return r;
	if (r <= 0 || data.n_entries == 0) {
		node->resolved = node->empty = true;
		return 0;
	}
	node->term = calloc(1, sizeof(*node->term));
	if (!node->term)
		return -ENOMEM;
	chain_init_data(&node->term->chain, &data);
	node->count_max = data.n_entries;
	node->resolved = true;
	return 0;
}

/* Rarest first. */
static int plan_compare_counts(const void *a, const void *b)
{
	const struct plan_node *x = a, *y = b;

	return (x->count_max > y->count_max) - (x->count_max < y->count_max);
}

/* True if a node is about the boot alone. */
static bool plan_is_boot(const struct plan_node *node)
{
	static const char name[] = "_BOOT_ID";

	if (node->match->kind == MATCH_TERM)
		return node->match->name_size == sizeof(name) - 1 &&
		       memcmp(node->match->data, name, sizeof(name) - 1) == 0;
	for (size_t i = 0; i < node->child_count; i++) {
		if (!plan_is_boot(&node->children[i]))
			return false;
	}
	return node->child_count > 0;
}

static int plan_resolve_node(struct plan_node *node, const struct journal *j, struct window *w,
			     struct payload_decoder *decoder);

/* Of a conjunction, the boot's terms are resolved before all others: most files are of other boots,
 * and two small reads tell. 0; 1: it is not there; or an error. */
static int plan_resolve_boot(struct plan_node *node, const struct journal *j, struct window *w,
			     struct payload_decoder *decoder)
{
	for (size_t i = 0; i < node->child_count; i++) {
		struct plan_node *child = &node->children[i];
		int r = plan_is_boot(child) ? plan_resolve_node(child, j, w, decoder) : 0;

		if (r < 0)
			return r;
		if (child->empty)
			return 1;
	}
	return 0;
}

/* Resolves a node's terms; every term that lacks bytes adds its wants before the answer. */
static int plan_resolve_node(struct plan_node *node, const struct journal *j, struct window *w,
			     struct payload_decoder *decoder)
{
	bool conjunction = node->match->kind == MATCH_AND;
	size_t empty = 0;
	int result = 0;

	if (node->match->kind == MATCH_TERM)
		return plan_resolve_term(node, j, w, decoder);
	if (conjunction && node->child_count > 1) {
		int r = plan_resolve_boot(node, j, w, decoder);

		if (r < 0)
			return r;
		node->empty = r > 0;
		if (node->empty)
			return 0;
	}
	for (size_t i = 0; i < node->child_count; i++) {
		int r = plan_resolve_node(&node->children[i], j, w, decoder);

		if (r < 0 && r != -EAGAIN)
			return r;
		if (r < 0)
			result = r;
		else if (node->children[i].empty)
			empty++;
	}
	if (result < 0 && !(conjunction && empty))
		return result;
	node->empty = conjunction ? empty > 0 : empty == node->child_count;
	if (node->empty)
		return 0; /* no need to wait for the others */
	node->count_max = conjunction ? UINT64_MAX : 0;
	for (size_t i = 0; i < node->child_count; i++) {
		uint64_t count = node->children[i].count_max;

		if (conjunction)
			node->count_max = count < node->count_max ? count : node->count_max;
		else
			node->count_max += count;
	}
	if (conjunction)
		qsort(node->children, node->child_count, sizeof(*node->children),
		      plan_compare_counts);
	return 0;
}

int plan_resolve(struct plan *p, const struct journal *j, struct window *w,
		 struct payload_decoder *decoder)
{
	int r;

	if (p->ready)
		return 0;
	r = plan_resolve_node(p->root, j, w, decoder);
	if (r == 0) {
		w->want_count = 0; /* of siblings that do not matter any more */
		p->ready = true;
	}
	return r;
}

/* Copies the part of the chain around INDEX that a walk in this direction meets next. */
static int plan_fill(struct plan_node *node, const struct journal *j, struct window *w,
		     uint64_t index, bool backward)
{
	uint64_t first = index, tail = chain_tail_index(&node->term->chain);
	int r;

	if (backward)
		first = index + 1 > PLAN_OFFSETS ? index + 1 - PLAN_OFFSETS : 0;
	if (first < tail && tail <= index)
		first = tail;
	r = chain_get_many(&node->term->chain, j, w, first, PLAN_OFFSETS, node->term->offsets);
	if (r < 0) {
		node->term->offset_count = 0;
		return r;
	}
	node->term->first_index = first;
	node->term->offset_count = (unsigned)r;
	if (backward && r > 0 && first + (uint64_t)r <= index) {
		/* The run ended at the end of an array: what is nearer to INDEX is wanted. */
		r = chain_get_many(&node->term->chain, j, w, index, 1, node->term->offsets);
		node->term->first_index = index;
		node->term->offset_count = r < 0 ? 0 : (unsigned)r;
		if (r < 0)
			return r;
	}
	return node->term->offset_count > 0;
}

/* Whether an element is an offset, and at FROM or on its far side. */
static inline bool plan_is_beyond(uint64_t offset, uint64_t from, bool backward)
{
	return offset != 0 && (backward ? offset <= from : offset >= from);
}

/* Seeks in the offsets at hand. 1 with the answer, 0 if it is not among them. */
static int plan_seek_buffered(const struct plan_node *node, uint64_t from, bool backward,
			      uint64_t *ret_offset)
{
	unsigned low = 0, high = node->term->offset_count;

	if (!high || from < node->term->offsets[0] || from > node->term->offsets[high - 1])
		return 0;
	while (low < high) { /* the first element at or after FROM; there is one */
		unsigned middle = (low + high) / 2;

		if (node->term->offsets[middle] < from)
			low = middle + 1;
		else
			high = middle;
	}
	if (backward && node->term->offsets[low] != from)
		low--;
	*ret_offset = node->term->offsets[low];
	/* Damaged arrays are not in order. */
	return plan_is_beyond(*ret_offset, from, backward);
}

/* plan_next() for a term. */
static int plan_next_term(struct plan_node *node, const struct journal *j, struct window *w,
			  uint64_t from, bool backward, uint64_t *ret_offset)
{
	uint64_t index, offset;
	int r;

	if (plan_seek_buffered(node, from, backward, ret_offset))
		return 1;
	r = chain_bisect_offset(&node->term->chain, j, w, backward ? from + 1 : from, &index);
	if (r < 0)
		return r;
	if (backward) {
		if (index == 0)
			return 0;
		index--;
	} else if (index >= node->term->chain.count) {
		return 0;
	}
	/* Usually the first element is the answer; empty slots and what stands out of order are
	 * passed over, as far as that does not take for ever. */
	for (unsigned n = 0; n < PLAN_WRONG_MAX; n++) {
		if (n == 0 || index - node->term->first_index >= node->term->offset_count) {
			r = plan_fill(node, j, w, index, backward);
			if (r <= 0)
				return format_error_is_soft(r) ? 0 : r;
			if (index - node->term->first_index >= node->term->offset_count)
				return 0;
		}
		offset = node->term->offsets[index - node->term->first_index];
		if (likely(plan_is_beyond(offset, from, backward))) {
			*ret_offset = offset;
			return 1;
		}
		if (backward ? index-- == 0 : ++index >= node->term->chain.count)
			return 0;
	}
	return 0;
}

static int plan_next_node(struct plan_node *node, const struct journal *j, struct window *w,
			  uint64_t from, bool backward, uint64_t *ret_offset);

/* plan_next() for a conjunction. Children may take many steps to agree: how far they have come is
 * kept when bytes are lacking, so that the next call does not take those steps again. */
static int plan_next_and(struct plan_node *node, const struct journal *j, struct window *w,
			 uint64_t from, bool backward, uint64_t *ret_offset)
{
	size_t agreed = 0, i = 0;
	uint64_t at = from;

	if (node->and_there && node->and_from == from && node->and_backward == backward)
		at = node->and_at;
	node->and_there = false;
	while (agreed < node->child_count) {
		uint64_t found;
		int r = plan_next_node(&node->children[i], j, w, at, backward, &found);

		if (r == -EAGAIN) {
			node->and_there = true;
			node->and_backward = backward;
			node->and_from = from;
			node->and_at = at;
		}
		if (r <= 0)
			return r;
		agreed = found == at ? agreed + 1 : 1;
		at = found;
		i = i + 1 == node->child_count ? 0 : i + 1;
	}
	*ret_offset = at;
	return 1;
}

/* plan_next() for a disjunction. All children are asked even if one lacks bytes. */
static int plan_next_or(struct plan_node *node, const struct journal *j, struct window *w,
			uint64_t from, bool backward, uint64_t *ret_offset)
{
	bool any = false;
	int result = 0;
	uint64_t best = 0;

	for (size_t i = 0; i < node->child_count; i++) {
		uint64_t found;
		int r;

		if (node->children[i].empty)
			continue;
		r = plan_next_node(&node->children[i], j, w, from, backward, &found);
		if (r == -EAGAIN)
			result = r;
		else if (r < 0)
			return r;
		else if (r > 0 && (!any || (backward ? found > best : found < best))) {
			best = found;
			any = true;
		}
	}
	if (result < 0)
		return result;
	if (any)
		*ret_offset = best;
	return any;
}

/* plan_next() for any node. */
static int plan_next_node(struct plan_node *node, const struct journal *j, struct window *w,
			  uint64_t from, bool backward, uint64_t *ret_offset)
{
	if (node->empty)
		return 0;
	switch (node->match->kind) {
	case MATCH_TERM:
		return plan_next_term(node, j, w, from, backward, ret_offset);
	case MATCH_AND:
		return plan_next_and(node, j, w, from, backward, ret_offset);
	case MATCH_OR:
		return plan_next_or(node, j, w, from, backward, ret_offset);
	}
	return 0;
}

/* How a place is looked for in a plan. */
struct plan_search {
	const struct journal *journal;
	struct window *window;
	const struct plan_place *place;
	bool backward;
};

/* The element at an index that chain_bisect() gave, or before it when reading backward. 1, 0,
 * -EAGAIN. */
static int plan_element(struct chain *chain, const struct plan_search *s, uint64_t index,
			uint64_t *ret_offset)
{
	int r;

	if (s->backward ? index-- == 0 : index >= chain->count)
		return 0;
	r = chain_get(chain, s->journal, s->window, index, ret_offset);
	return format_error_is_soft(r) ? 0 : r;
}

/* The nearest element of a chain to an offset: at it, or beyond. 1, 0, -EAGAIN. */
static int plan_nearest(struct chain *chain, const struct plan_search *s, uint64_t offset,
			uint64_t *ret_offset)
{
	uint64_t index;
	int r = chain_bisect_offset(chain, s->journal, s->window, offset + s->backward, &index);

	if (r < 0)
		return format_error_is_soft(r) ? 0 : r;
	return plan_element(chain, s, index, ret_offset);
}

/* The nearest entry of a term to the place that is of the place's boot too. 1, 0, -EAGAIN. */
static int plan_locate_in_boot(struct plan_node *node, const struct plan_search *s,
			       uint64_t *ret_offset)
{
	const struct plan_place *place = s->place;
	struct chain *boot = place->boot;
	uint64_t index, in_boot, in_term;
	int r = chain_bisect(boot, s->journal, s->window, place->boot_test, place->boot_userdata,
			     s->backward, &index);

	if (r < 0)
		return format_error_is_soft(r) ? 0 : r;
	r = plan_element(boot, s, index, &in_boot);
	while (r > 0) {
		uint64_t before = in_boot;

		r = plan_nearest(&node->term->chain, s, in_boot, &in_term);
		if (r > 0)
			r = plan_nearest(boot, s, in_term, &in_boot);
		if (r > 0 && in_boot == in_term) {
			*ret_offset = in_term;
			return 1;
		}
		/* Each step goes on in one direction, unless damage says otherwise. */
		if (r > 0 && (s->backward ? in_boot >= before : in_boot <= before))
			return 0;
	}
	return r;
}

/* plan_locate() for a term. */
static int plan_locate_term(struct plan_node *node, const struct plan_search *s,
			    uint64_t *ret_offset)
{
	uint64_t index;
	int r = s->place->boot ? plan_locate_in_boot(node, s, ret_offset) : 0;

	if (r != 0)
		return r;
	r = chain_bisect(&node->term->chain, s->journal, s->window, s->place->test,
			 s->place->userdata, s->backward, &index);
	if (r < 0)
		return format_error_is_soft(r) ? 0 : r;
	return plan_element(&node->term->chain, s, index, ret_offset);
}

/* plan_locate() for any node. Of a disjunction the nearest place counts, of a conjunction the
 * farthest. All children are asked even if one lacks bytes. */
static int plan_locate_node(struct plan_node *node, const struct plan_search *s,
			    uint64_t *ret_offset)
{
	bool any = false, all = true, nearest = node->match->kind == MATCH_OR;
	uint64_t best = 0;
	int result = 0;

	if (node->empty)
		return 0;
	if (node->match->kind == MATCH_TERM)
		return plan_locate_term(node, s, ret_offset);
	for (size_t i = 0; i < node->child_count; i++) {
		uint64_t found;
		int r = plan_locate_node(&node->children[i], s, &found);

		if (r == -EAGAIN)
			result = r;
		else if (r < 0)
			return r;
		all = all && r != 0;
		if (r > 0 && (!any || (nearest == s->backward ? found > best : found < best))) {
			best = found;
			any = true;
		}
	}
	if (result < 0)
		return result;
	*ret_offset = best;
	return any && (nearest || all);
}

int plan_locate(struct plan *p, const struct journal *j, struct window *w,
		const struct plan_place *place, bool backward, uint64_t *ret_offset)
{
	const struct plan_search search = { j, w, place, backward };

	return plan_locate_node(p->root, &search, ret_offset);
}

int plan_next(struct plan *p, const struct journal *j, struct window *w, uint64_t from,
	      bool backward, uint64_t horizon, uint64_t *ret_offset)
{
	uint64_t found;
	int r;

	if (backward && from > horizon)
		from = horizon;
	r = plan_next_node(p->root, j, w, from, backward, &found);
	if (r <= 0)
		return r;
	if (found > horizon)
		return 0;
	*ret_offset = found;
	return 1;
}
