/* SPDX-License-Identifier: MIT */
/* What bisecting a chain (chain-bisect.c) needs of walking over it (chain.c). */
#ifndef FORMATS_JOURNAL_CHAIN_PRIVATE_H
#define FORMATS_JOURNAL_CHAIN_PRIVATE_H

#include "formats/journal/journal.h"

/* Elements that stand in the data object, not in an array: 1 or 0. */
static inline uint64_t chain_inline_count(const struct chain *c)
{
	return c->inline_offset != 0;
}

/* Walks to the array that holds element K of the arrays. 1; 0 if the arrays end before it; an
 * error: -EAGAIN, or why an array on the way could not be read. */
int chain_seek(struct chain *c, const struct journal *j, struct window *w, uint64_t k);

/* Walks to the chain's end array by array. An array that the hint has led to has no place among the
 * marks, and what is found by a test depends on the arrays. Answers as chain_seek(). */
int chain_mark_all(struct chain *c, const struct journal *j, struct window *w);

#endif
