/* SPDX-License-Identifier: MIT */
/*
 * The plan of a scan, told before it runs: the phases up to positioning are run as the scan would
 * run them, and what they decided of each file is put into words. No entry is read for it that the
 * scan would not read.
 */
#include <stdlib.h>

#include "engine/bounds.h"
#include "engine/engine.h"
#include "engine/pipeline.h"

/* engine_wait(): up to where every file has its place. */
static int explain_step(struct jscan *e)
{
	int r = 0;

	while (e->phase <= PHASE_LOCATE && r == 0)
		r = engine_prepare_step(e);
	return r;
}

/* Terms gathered for one file. */
struct explain_terms {
	struct jscan_explain_term *terms;
	size_t count;
	const struct match_node *missing; /* what rules the file out */
};

/* Gathers the terms below a node. */
static void explain_gather(struct explain_terms *t, const struct plan_node *node)
{
	const struct match_node *match = node->match;

	for (size_t i = 0; i < node->child_count; i++)
		explain_gather(t, &node->children[i]);
	if (match->kind != MATCH_TERM)
		return;
	t->terms[match->ordinal] = (struct jscan_explain_term){
		.size = sizeof(t->terms[0]),
		.data = match->data,
		.data_size = match->size,
		.state = !node->resolved ? JSCAN_TERM_UNKNOWN :
			 node->empty     ? JSCAN_TERM_MISSING :
					   JSCAN_TERM_FOUND,
		.entries = node->resolved && !node->empty ? node->count_max : 0,
	};
}

/* Whether a node is missing for good: nothing below it was left open. */
static const struct match_node *explain_first_term(const struct plan_node *node)
{
	while (node->match->kind != MATCH_TERM) {
		if (node->child_count == 0)
			return NULL;
		node = &node->children[0];
	}
	return node->match;
}

/* Finds the child of a conjunction that rules the file out. */
static const struct match_node *explain_missing(const struct plan_node *node)
{
	if (!node->empty)
		return NULL;
	if (node->match->kind == MATCH_AND) {
		for (size_t i = 0; i < node->child_count; i++) {
			if (node->children[i].empty)
				return explain_missing(&node->children[i]);
		}
	}
	if (node->match->kind == MATCH_OR && node->child_count == 1)
		return explain_missing(&node->children[0]);
	return explain_first_term(node);
}

/* What became of a file. */
static enum jscan_verdict explain_verdict(const struct jscan *e, const struct source *s)
{
	if (s->journal.header.n_entries == 0)
		return JSCAN_VERDICT_EMPTY;
	if (s->plan.root && s->plan.root->empty)
		return JSCAN_VERDICT_TERM;
	if (!s->walk.located && bounds_may_wait(s, &e->seek, s->walk.backward))
		return JSCAN_VERDICT_WAITS;
	if (s->walk.located && e->seek.kind == SEEK_PLACE &&
	    (s->plan.root	? s->walk.from == 0 :
	     s->walk.backward	? s->walk.index == 0 :
				  s->walk.index >= s->chain.count))
		return JSCAN_VERDICT_BOUNDS;
	return JSCAN_VERDICT_KEPT;
}

/* Tells of one file. */
static int explain_file(struct jscan *e, struct source *s, jscan_explain_fn callback,
			void *userdata)
{
	struct explain_terms t = { .terms = calloc(e->match.term_count + 1, sizeof(*t.terms)) };
	struct jscan_explain_file file = {
		.size = sizeof(file),
		.path = s->path,
		.verdict = explain_verdict(e, s),
		.entries_total = s->journal.header.n_entries,
		.terms = t.terms,
	};
	int r;

	if (!t.terms)
		return -ENOMEM;
	file.entries_max = s->plan.root ? s->plan.root->count_max : file.entries_total;
	if (s->plan.root) {
		explain_gather(&t, s->plan.root);
		t.missing = explain_missing(s->plan.root);
		file.term_count = e->match.term_count;
	}
	if (file.verdict != JSCAN_VERDICT_KEPT && file.verdict != JSCAN_VERDICT_WAITS)
		file.entries_max = 0;
	if (t.missing) {
		file.missing = t.missing->data;
		file.missing_size = t.missing->size;
	}
	r = callback(userdata, &file);
	free(t.terms);
	return r;
}

int jscan_explain(struct jscan *e, jscan_explain_fn callback, void *userdata)
{
	int r = engine_check(e);

	if (r < 0)
		return r;
	if (!callback || e->batch.count > e->batch.at || pipeline_has_rest(e))
		return -EINVAL;
	engine_reposition(e);
	r = engine_wait(e, explain_step);
	for (size_t i = 0; i < e->source_count && r == 0; i++) {
		if (!e->sources[i]->error)
			r = explain_file(e, e->sources[i], callback, userdata);
	}
	engine_reposition(e);
	return r;
}
