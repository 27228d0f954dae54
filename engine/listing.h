/* SPDX-License-Identifier: MIT */
/* What a listing that walks an index keeps between its steps: one listing at a time. */
#ifndef ENGINE_LISTING_H
#define ENGINE_LISTING_H

#include <stdbool.h>

#include "engine/seen.h"
#include "jscan.h"

struct source;
struct tally;

/* A chain of field objects: where it begins, and how far it has been looked at. */
struct listing_chain {
	uint64_t first, at;
};

/* What has been gathered from a file before its turn: see fields-ahead.c. */
struct listing_found {
	struct listing_chain *chains;
	size_t chain_count;
	uint8_t *bytes;        /* each string behind its size */
	size_t used, room;
	bool whole;            /* it is all there */
};

struct listing {
	jscan_bytes_fn callback;
	void *userdata;
	const char *name;      /* of the field, or NULL: names of fields are listed */
	size_t name_size;
	struct seen seen;
	struct tally *tally;   /* NULL, or where values are counted instead of being shown */
	bool several;          /* files: only then something can be there twice */
	int answer;            /* of the callback, when it ended the listing */
	struct source **files; /* in the order of adding */
	size_t file;           /* the one being listed */
	uint64_t waits;        /* of the engine when it began */
	size_t ahead;          /* files before this one have been gathered from */
	struct listing_found *found; /* by the order of adding */
	bool looked_up;        /* the file's field has been found: offset is set */
	uint64_t bucket;       /* names: of the field hash table */
	uint64_t offset;       /* of the next object in its chain; 0: at its end */
};

/* Whether NAME may be asked for as a field. */
bool fields_name_is_valid(const char *name);

/* Counts the values of a field by their data objects, in all files. */
int fields_tally(struct jscan *engine, const char *field, struct tally *tally);

#endif
