/* SPDX-License-Identifier: MIT */
/*
 * The match expression: an AND of ORs of ANDs of ORs of exact terms (specification 9.2), built by
 * adding terms as journalctl adds them. Knows nothing of files.
 */
#ifndef ENGINE_MATCH_H
#define ENGINE_MATCH_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum match_kind {
	MATCH_TERM,
	MATCH_AND,
	MATCH_OR,
};

struct match_node {
	enum match_kind kind;
	struct match_node *parent;
	struct match_node **children;
	size_t child_count;
	uint8_t *data;       /* MATCH_TERM: NAME=value */
	size_t size;
	size_t name_size;    /* MATCH_TERM, and an OR of terms of one field: length of NAME */
	uint64_t hash;       /* MATCH_TERM: Jenkins' hash, for files whose tables are not keyed */
	unsigned ordinal;    /* MATCH_TERM: number among all terms */
};

struct match {
	struct match_node *root;    /* AND; NULL while there is no term */
	struct match_node *middle;  /* OR of alternatives in the current group */
	struct match_node *inner;   /* AND of fields in the current alternative */
	unsigned term_count;
};

void match_done(struct match *m);

/* True if DATA is NAME=value with an acceptable name (9.1); *ret_name_size its length. */
bool match_is_valid(const void *data, size_t size, size_t *ret_name_size);

/* Adds a term; -EINVAL, -ENOMEM. */
int match_add(struct match *m, const void *data, size_t size);
/* Starts another alternative, another group. */
int match_or(struct match *m);
int match_and(struct match *m);

/* Whether an entry matches, of whose terms HAS tells which it holds (by their ordinals). */
bool match_evaluate(const struct match_node *node, const bool *has);

#endif
