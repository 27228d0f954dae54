/* SPDX-License-Identifier: MIT */
/* Checkpoints: how far a scan has come in each sequence of numbers, as a place to go on from. */
#ifndef ENGINE_CHECKPOINT_H
#define ENGINE_CHECKPOINT_H

#include "engine/engine.h"

/* How far one sequence has been read. */
struct checkpoint_position {
	uint64_t serial; /* when it was reached, among all; 0: never */
	uint64_t moved;  /* by which entry of this run, from 1; 0: by one of a run before */
	struct engine_position at;
};

/* By number of the sequence's ID. */
struct checkpoint_table {
	struct checkpoint_position *positions;
	uint32_t count;
	uint64_t serial;
};

/* A file of which runs before knew. */
struct checkpoint_file {
	struct id128 file_id;
	bool behind;     /* its sequence's position is not its own: it turned up later */
	uint64_t seqnum; /* then it has been read so far */
};

/* A candidate that the merge has passed over as a copy of an entry. */
struct checkpoint_skip {
	uint64_t after;     /* it counts once so many entries have been taken */
	uint32_t seqnum_id;
	struct engine_position at;
};

struct checkpoint {
	struct checkpoint_table start;   /* where reading began */
	struct order_ids file_ids;       /* of all files that have ever been read, ... */
	struct checkpoint_file *files;   /* ... by number */
	uint32_t file_capacity;
	bool knows_files;                /* else positions are those of all files */
	struct checkpoint_table taken;   /* over what all sinks, or the caller, have taken */
	struct checkpoint_table settled; /* ... and have written out */
	uint64_t taken_count;            /* entries, since reading began */
	uint64_t settled_count;
	struct checkpoint_skip *skips;   /* in order */
	size_t skip_first, skip_count, skip_capacity;
	bool failed;                     /* without memory: nothing can be told any more */
	char *text;                      /* what was told last */
	jscan_checkpoint_fn handler;     /* or NULL */
	void *userdata;
	uint64_t interval_usec;
	uint64_t told_count;             /* settled when the handler was called last */
	uint64_t told_usec;
};

/* Turns checkpoints on, with reading to begin at one (NULL: nothing has been read). */
int checkpoint_new(struct jscan *engine, const char *text);
void checkpoint_free(struct jscan *engine);

/* Reading begins anew. */
void checkpoint_restart(struct jscan *engine);

/* How far a source was read before. False: it was not. */
bool checkpoint_find(const struct source *s, uint64_t *ret_seqnum);

/* True if an entry of a source was read before. */
bool checkpoint_covers(const struct source *s, const struct entry_object *entry);

/* The entry that was read last before. 1; 0: there is none; -ENOMEM. */
int checkpoint_last(struct jscan *engine, struct order_key *ret_key);

/* The next entry in order has been taken. */
void checkpoint_take(struct jscan *engine, struct source *s, const struct entry_object *entry);

/* A source joins those that are merged, or leaves them for good. */
void checkpoint_join(struct source *s);
void checkpoint_leave(const struct source *s);

/* The merge has passed a source's candidate over, as a copy of the entry that it gave last. */
void checkpoint_skip(struct jscan *engine, const struct source *s);

/* All sinks have written out what they have taken. */
void checkpoint_settle(struct jscan *engine);

/* When the handler has to be called, from now; UINT64_MAX: there is nothing to tell. */
uint64_t checkpoint_due_usec(const struct jscan *engine);

/* Calls the handler, if there is anything to tell. 0, or what it answered. */
int checkpoint_tell(struct jscan *engine);

/* The position of a sequence, made if it is not there. NULL without memory. */
struct checkpoint_position *checkpoint_at(struct checkpoint_table *t, uint32_t number);

/* Adds a file to those that have been read, or changes what is known of it. */
int checkpoint_add_file(struct checkpoint *c, const struct checkpoint_file *file);

/* What is to be kept of a source that has been read up to a number. False: nothing, it has not been
 * read. */
bool checkpoint_file_state(const struct source *s, const struct checkpoint_table *t,
			   uint64_t seqnum, struct checkpoint_file *ret);

/* ---- checkpoint-text.c ------------------------------------------------------------------- */

/* Takes the text of a checkpoint. */
int checkpoint_parse(struct jscan *engine, struct checkpoint *c, const char *text);

/* Writes what is settled, or taken, as text. It is the engine's until the next one is written. */
int checkpoint_format(struct jscan *engine, bool settled, const char **ret_text);

#endif
