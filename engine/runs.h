/* SPDX-License-Identifier: MIT */
/*
 * Runs: what is told by an ID that its entries carry, boots and invocations. A table of which there
 * are, with their first and last entries, filled from what each file has of them.
 */
#ifndef ENGINE_RUNS_H
#define ENGINE_RUNS_H

#include "engine/order.h"

struct jscan;
struct source;

struct runs_row {
	struct id128 id;       /* as the field has it */
	bool has_ends;         /* first and last are known */
	struct order_key first, last; /* of its own entries alone */
	uint64_t first_rank;   /* in the order in which runs begin */
	uint64_t last_rank;    /* in that in which they end, the newest being 0 */
};

/* An entry that says where a run is: the first or last one that it has in a file. */
struct runs_mark {
	uint32_t row;
	struct order_key key;
};

struct runs {
	struct runs_row *rows;
	size_t count, capacity;
	struct runs_mark *marks;
	size_t mark_count, mark_capacity;
	struct order_ids ids;  /* number of an ID: index of its row, until they are sorted */
	/* Where not all are asked for, see runs_choose(): */
	uint64_t wanted;       /* so many of the newest, or oldest, have to be certain */
	bool oldest;
	size_t asked;          /* files at once, the last time */
};

/* Begins a listing: no file has been asked, or is to be. */
void runs_begin(struct jscan *e);
void runs_done(struct runs *b);

/* The ID in the payload NAME=value of a data object, NAME_SIZE being the length of NAME. False:
 * there is none, or the null ID. */
bool runs_parse(const struct payload_view *view, size_t name_size, struct id128 *ret_id);

/* The key of an entry of a file. -ENOMEM. */
int runs_key(struct source *s, const struct entry_object *entry, struct order_key *ret_key);

/* An end of a set of entries: the first or last that can be read. 0, -ENOENT, -EAGAIN. */
int runs_end(struct source *s, struct chain *chain, bool last, struct entry_object *ret);

/* The index of a run's row, made if missing. -ENOMEM. */
int runs_row(struct runs *b, const struct id128 *id, uint32_t *ret_row);

/* Marks where a run is. -ENOMEM. */
int runs_mark(struct runs *b, uint32_t row, const struct order_key *key);

/* Two entries are a run's, which may be one: its ends lie there or beyond. */
void runs_widen(struct runs_row *row, const struct order *order, const struct order_key *first,
		const struct order_key *last);

/* Ranks the runs by the marks of all files. 0, -ENOMEM. */
int runs_rank(struct runs *b, const struct order *order);

/* Puts the rows in the order in which runs begin, the oldest at the beginning, or in that in which
 * they end, the newest at the end. */
void runs_sort(struct runs *b, bool by_first);

/* True if all files number their entries alike, so that headers tell which are the newest. */
bool runs_have_one_id(const struct jscan *e);

/*
 * Chooses the files that may still hold an end of a run among those that are wanted: those that end
 * behind (or begin before) what is the last of them so far. Numbers ascend within a file, so that
 * its header bounds them. While too few runs are known the newest (or oldest) files come first.
 * Says so in listing_chosen. 1; 0: there is none; -ENOMEM.
 */
int runs_choose(struct jscan *e);

/* Which sources a wave is for, once they have been chosen. */
bool runs_wants_chosen(const struct source *s);

#endif
