/* SPDX-License-Identifier: MIT */
/* Invocations: what a listing of them keeps, of all files and of each. */
#ifndef ENGINE_INVOCATIONS_H
#define ENGINE_INVOCATIONS_H

#include "engine/plan.h"

struct jscan;
struct source;

/* The fields that name an invocation, in the order in which an entry is asked for them. */
#define INVOCATIONS_FIELDS 4u
extern const char *const invocations_names[INVOCATIONS_FIELDS]; /* NAME= */
extern const size_t invocations_sizes[INVOCATIONS_FIELDS];

/* Sets of entries that are remembered in a file. */
#define INVOCATIONS_RECENT 4u

/* An invocation has entries of a boot. */
struct invocations_pair {
	uint32_t boot; /* number in the engine's order */
	uint32_t row;
};

struct invocations {
	bool has_boot;            /* its ends are of entries of one boot: */
	struct id128 boot_id;
	bool limited;             /* not all are asked for */
	bool rewound;
	struct invocations_pair *pairs; /* by boot */
	size_t pair_count;
};

/* The entries of an invocation that one field names. */
struct invocations_set {
	struct plan_node node;
	struct plan_term term;
};

/* The work on one file. */
struct invocations_walk {
	unsigned fields;          /* those that the file has, as bits */
	bool fields_known;
	/* invocations.c */
	struct invocations_set *recent[INVOCATIONS_RECENT];
	unsigned recent_next;     /* the one that is replaced next */
	struct invocations_set *skipping; /* its entries are gone past; or NULL */
	uint32_t *met;            /* rows, if not all are asked for */
	size_t met_count, met_capacity;
	/* invocations-ends.c */
	bool rows_known;
	struct chain boot;        /* entries of the one boot */
	uint32_t *rows;           /* whose ends may be here */
	size_t row_count, row_capacity, at;
};

/* What a file's walk is; made if missing. NULL: out of memory. */
struct invocations_walk *invocations_walk_get(struct source *s);
void invocations_walk_free(struct source *s);

/* Finds out which of the fields a file has. 0, -EAGAIN. */
int invocations_look_up_fields(struct source *s, struct invocations_walk *w);

/* ---- invocations-ends.c ----------------------------------------------------------------- */

/* engine_wait(): widens the ends of the first WANTED rows by what all files have of them. The rows
 * have been ranked. */
int invocations_ends_step(struct jscan *e);

/* Makes the pairs of the rows that are wanted. -ENOMEM. */
int invocations_make_pairs(struct jscan *e);

#endif
