/* SPDX-License-Identifier: MIT */
/*
 * Going past all that one set of entries has of what a plan matches. Both are ascending offsets, so
 * that long runs in which they agree are passed by comparing the two, element by element; no entry
 * is read. What is skipped is only what the set has: nothing in between is lost.
 */
#include "engine/plan.h"

/* What is skipped, and where. */
struct plan_skipping {
	const struct journal *journal;
	struct window *window;
	struct plan_node *set;
	bool backward;
};

void plan_set_init(struct plan_node *set, struct plan_term *term, const struct data_object *data)
{
	static const struct match_node nothing = { .kind = MATCH_TERM };

	*set = (struct plan_node){ .match = &nothing, .resolved = true, .term = term };
	term->first_index = 0;
	term->offset_count = 0;
	chain_init_data(&term->chain, data);
}

/* The nearest entry of a node. 1, 0, -EAGAIN, a soft error. */
static int plan_skip_next(struct plan_node *node, const struct plan_skipping *s, uint64_t from,
			  uint64_t *ret_offset)
{
	struct plan plan = { .root = node, .ready = true };

	if (from == 0)
		return 0;
	return plan_next(&plan, s->journal, s->window, from, s->backward, UINT64_MAX, ret_offset);
}

int plan_set_has(struct plan_node *set, const struct journal *j, struct window *w, uint64_t offset)
{
	const struct plan_skipping s = { j, w, set, false };
	uint64_t found;
	int r = plan_skip_next(set, &s, offset, &found);

	if (r < 0)
		return r == -EAGAIN ? r : 0;
	return r > 0 && found == offset;
}

/* What lies behind an offset. */
static uint64_t plan_skip_beyond(const struct plan_skipping *s, uint64_t offset)
{
	return s->backward ? offset - 1 : offset + 1;
}

/* Where an offset is among those at hand; their count if it is not there. */
static unsigned plan_skip_find(const struct plan_term *term, uint64_t offset)
{
	unsigned low = 0, high = term->offset_count;

	while (low < high) {
		unsigned middle = (low + high) / 2;

		if (term->offsets[middle] < offset)
			low = middle + 1;
		else
			high = middle;
	}
	return low < term->offset_count && term->offsets[low] == offset ? low : term->offset_count;
}

/* The last of the offsets from OFFSET on in which two terms agree, as far as they are at hand. */
static uint64_t plan_skip_run(const struct plan_term *a, const struct plan_term *b,
			      const struct plan_skipping *s, uint64_t offset)
{
	unsigned i = plan_skip_find(a, offset), j = plan_skip_find(b, offset);

	while (i < a->offset_count && j < b->offset_count && a->offsets[i] == b->offsets[j]) {
		/* Damaged arrays are not in order. */
		if (s->backward ? a->offsets[i] > offset : a->offsets[i] < offset)
			break;
		offset = a->offsets[i];
		i = s->backward ? i - 1 : i + 1; /* from 0 beyond any count */
		j = s->backward ? j - 1 : j + 1;
	}
	return offset;
}

/* For each node: moves *FROM past the entries that the set has. 1: to one that it does not have; 0:
 * there is none; -EAGAIN: as far as can be told. Damage ends skipping. */
static int plan_skip_node(struct plan_node *node, const struct plan_skipping *s, uint64_t *from);

/* A term, or a conjunction as a whole. */
static int plan_skip_each(struct plan_node *node, const struct plan_skipping *s, uint64_t *from)
{
	for (;;) {
		uint64_t offset, found;
		int r = plan_skip_next(node, s, *from, &offset);

		if (r <= 0)
			return r == 0 || r == -EAGAIN ? r : 1;
		*from = offset;
		r = plan_skip_next(s->set, s, offset, &found);
		if (r == -EAGAIN)
			return r;
		if (r <= 0 || found != offset)
			return 1;
		if (node->match->kind == MATCH_TERM)
			offset = plan_skip_run(node->term, s->set->term, s, offset);
		*from = plan_skip_beyond(s, offset);
	}
}

/* A disjunction: what all of its children have passed. */
static int plan_skip_any(struct plan_node *node, const struct plan_skipping *s, uint64_t *from)
{
	bool lacking = false, any = false;
	uint64_t nearest = 0;

	for (size_t i = 0; i < node->child_count; i++) {
		uint64_t at = *from;
		int r = plan_skip_node(&node->children[i], s, &at);

		if (r == 0)
			continue;
		lacking |= r == -EAGAIN;
		if (!any || (s->backward ? at > nearest : at < nearest))
			nearest = at;
		any = true;
	}
	if (any)
		*from = nearest;
	return lacking ? -EAGAIN : any;
}

static int plan_skip_node(struct plan_node *node, const struct plan_skipping *s, uint64_t *from)
{
	if (node->empty)
		return 0;
	if (node->match->kind == MATCH_TERM)
		return plan_skip_each(node, s, from);
	if (node->child_count == 1)
		return plan_skip_node(&node->children[0], s, from);
	return node->match->kind == MATCH_OR ? plan_skip_any(node, s, from)
					     : plan_skip_each(node, s, from);
}

int plan_skip(struct plan *p, const struct journal *j, struct window *w, struct plan_node *set,
	      bool backward, uint64_t horizon, uint64_t *from)
{
	const struct plan_skipping s = { j, w, set, backward };
	int r;

	if (backward && *from > horizon)
		*from = horizon;
	r = plan_skip_node(p->root, &s, from);
	if (r == 0)
		*from = 0;
	return r < 0 ? r : 0;
}
