/* SPDX-License-Identifier: MIT */
/*
 * What of a match expression one file needs: each term resolved by hash to its data object and that
 * object's chain of entries, or the verdict that the file holds nothing that matches.
 */
#ifndef ENGINE_PLAN_H
#define ENGINE_PLAN_H

#include "engine/match.h"
#include "formats/journal/journal.h"

#define PLAN_OFFSETS 64u

/* The entries of a term that a file has. */
struct plan_term {
	struct chain chain;
	uint64_t first_index;         /* of offsets[0] in the chain */
	unsigned offset_count;        /* offsets copied from the chain */
	uint64_t offsets[PLAN_OFFSETS];
};

/* A node of the expression in one file; parallel to struct match_node. */
struct plan_node {
	const struct match_node *match;
	struct plan_node *children;   /* child_count of them, in an order of the plan's own */
	size_t child_count;
	bool empty;                   /* nothing in this file matches it */
	uint64_t count_max;           /* entries that can match, at most */
	/* MATCH_AND: from AND_FROM on in this direction nothing matches before AND_AT: how far the
	 * last call came when bytes were lacking */
	bool and_there, and_backward;
	uint64_t and_from, and_at;
	/* MATCH_TERM */
	bool resolved;
	uint64_t position;            /* where looking it up goes on */
	struct plan_term *term;       /* NULL unless it is there */
};

struct plan {
	struct plan_node *root;       /* NULL: every entry matches */
	bool ready;                   /* all terms are resolved */
};

/* Allocates the nodes for an expression. */
int plan_init(struct plan *p, const struct match *match);
void plan_done(struct plan *p);

/*
 * Resolves what is not resolved yet: all terms at once, so that one turn brings the next read of
 * each. 0 when ready: then p->root->empty tells whether the file can be left out.
 */
int plan_resolve(struct plan *p, const struct journal *j, struct window *w,
		 struct payload_decoder *decoder);

/* A place to read from. */
struct plan_place {
	chain_test_fn test;      /* bisects entries, by number or by realtime */
	const void *userdata;
	struct chain *boot;      /* if not NULL: this boot's entries, asked before TEST, and ... */
	chain_test_fn boot_test; /* ... are bisected by this one */
	const void *boot_userdata;
};

/*
 * The offset where reading the matches begins, at or behind a place, or with BACKWARD before it
 * (specification 9.3): for each term the nearest of its entries that is of the place's boot too, or
 * else its own entries are bisected by TEST, as chain_bisect() does. 1, 0 (none), -EAGAIN.
 */
int plan_locate(struct plan *p, const struct journal *j, struct window *w,
		const struct plan_place *place, bool backward, uint64_t *ret_offset);

/*
 * The nearest offset that matches: at or after FROM, or with BACKWARD at or before it. 1, 0 (none),
 * -EAGAIN. Offsets beyond HORIZON are not looked at. Runs fastest when FROM moves in one direction.
 */
int plan_next(struct plan *p, const struct journal *j, struct window *w, uint64_t from,
	      bool backward, uint64_t horizon, uint64_t *ret_offset);

/* ---- plan-skip.c ------------------------------------------------------------------------ */

/* Makes SET, with TERM, the entries of a data object. Both are the caller's; nothing is owned. */
void plan_set_init(struct plan_node *set, struct plan_term *term, const struct data_object *data);

/* Whether an offset is one of a set's entries. 1, 0, -EAGAIN. */
int plan_set_has(struct plan_node *set, const struct journal *j, struct window *w, uint64_t offset);

/*
 * Moves *FROM, where a plan's next match is looked for, past all matches that SET has, up to the
 * first that it does not have, or to 0 (nowhere) if there is none. 0; -EAGAIN: *FROM has been moved
 * as far as what is there can tell. Damage ends it early.
 */
int plan_skip(struct plan *p, const struct journal *j, struct window *w, struct plan_node *set,
	      bool backward, uint64_t horizon, uint64_t *from);

#endif
