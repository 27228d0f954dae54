/* SPDX-License-Identifier: MIT */
/* The walk over a file's objects that seeks a literal. */
#ifndef ENGINE_GREP_WALK_H
#define ENGINE_GREP_WALK_H

#include "engine/grep-literal.h"
#include "engine/grep-scan.h"

/* Larger objects are not looked into. */
#define GREP_OBJECT_MAX (64u << 10)

/* Offsets of data objects, hashed, that an entry's items are tested against. */
#define GREP_FILTER_BITS 15u

struct grep_walk {
	const struct grep_literal *literal;
	const struct journal *journal;
	struct payload_decoder *decoder;
	struct grep_scan *scan;
	uint64_t since, until;    /* entries outside have to be looked at */
	uint64_t file_size;
	uint64_t tail;            /* offset of the last object */
	uint64_t at;              /* the object that the walk has come to */
	uint64_t entries, objects; /* passed */
	uint64_t entries_hash;    /* of the offsets of those entries, ... */
	uint64_t chain_hash;      /* ... and of what the global chain of arrays says they are */
	uint64_t chain_count;     /* elements that have gone into it */
	uint64_t chain_next;      /* the array that comes next */
	uint64_t items_at, items_end; /* items of the array before it that are still to come */
	uint64_t last_seqnum;
	uint64_t last_kept;       /* offset of the entry that was put into the list last */
	bool any;                 /* some data object holds the literal */
	uint64_t filter[(1u << GREP_FILTER_BITS) / 64];
};

/* Begins a walk. 0, or -EBADMSG: the file is not one for this. */
int grep_walk_begin(struct grep_walk *walk);

/*
 * Walks over the objects that lie wholly in the SIZE bytes P, which are those of the file from BASE
 * on, walk->at not before BASE. 0: walk->at is the first object that is not done (or beyond them);
 * 1: the last object is done; -EBADMSG: damage; -ENOMEM.
 */
int grep_walk_bytes(struct grep_walk *walk, const uint8_t *p, size_t size, uint64_t base);

#endif
