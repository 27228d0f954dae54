/* SPDX-License-Identifier: MIT */
/* What the two halves of the pipeline share: that of the engine's thread and that of workers. */
#ifndef ENGINE_PIPELINE_PRIVATE_H
#define ENGINE_PIPELINE_PRIVATE_H

#include "engine/pipeline.h"
#include "engine/workers.h"

/* Entries of a batch, ... */
#define PIPELINE_REFS 256u
/* ... and where frames are made of it, which small ones make larger in sum. */
#define PIPELINE_REFS_MAX 1024u
/* A batch is handed on early when one sink has so many bytes of it, ... */
#define PIPELINE_BUFFER_BYTES (1u << 20)
/* ... or, where frames are made, these, ... */
#define PIPELINE_BUFFER_BYTES_FRAMED (2u << 20)
/* ... and what makes them more than this is left to the engine's thread. */
#define PIPELINE_BUFFER_BYTES_MAX (4u << 20)
#define PIPELINE_DAMAGE_MAX 64u

/* A file as the entries of a batch see it: its window when the batch was filled. */
struct pipeline_view {
	struct source *source;
	const uint8_t *base;
	uint8_t *blocks;
	uint64_t size_bytes;
	uint64_t run_begin, run_end; /* these and whole hold during the batch's epoch only */
	unsigned block_shift;
	bool whole;
};

struct pipeline_ref {
	struct entry_object entry;
	unsigned view;
};

struct pipeline_damage {
	unsigned ref;
	struct reader_damage damage;
};

/* What one sink gets of a batch. */
struct pipeline_part {
	struct jscan_buffer buffer;
	size_t begin;                 /* of what has not been handed on */
	uint8_t *frame;               /* a copy of the worker's, in frame_capacity bytes, of all */
	size_t frame_size;            /* that there is; 0: there is none */
	size_t frame_capacity;
	uint32_t ends[PIPELINE_REFS_MAX]; /* of each entry's bytes, from the first not handed on */
};

/* Why a batch came back before its end. */
enum pipeline_stop {
	PIPELINE_COMPLETE,
	PIPELINE_FULL,   /* there is enough to hand on */
	PIPELINE_LACKS,  /* the next entry lacks blocks: see window */
	PIPELINE_REFUSE, /* the next entry is one for the engine's thread */
	PIPELINE_HALTED,
};

struct pipeline_batch {
	struct work work;
	struct list link;         /* in the pipeline's ring, or free */
	/* the engine's, constant while there is work on it */
	unsigned count;
	unsigned first;           /* next to hand on: those before have been */
	bool has_previous;        /* an entry before the first, of this boot */
	struct id128 previous_boot_id;
	uint64_t ordinal;         /* of the first entry in the scan */
	uint64_t epoch;           /* when the views were made */
	uint64_t serial;          /* tells sources that they have a view in it */
	unsigned view_count;
	bool waits;               /* for blocks */
	unsigned lacked, tries;   /* which entry lacked blocks last, and how often */
	/* the worker's */
	unsigned done;            /* next to format */
	enum pipeline_stop stop;
	unsigned damage_count;
	struct window window;     /* of the entry that lacks blocks */
	struct pipeline_part *parts; /* one for each sink */
	struct pipeline_damage damage[PIPELINE_DAMAGE_MAX];
	struct pipeline_view views[PIPELINE_REFS_MAX];
	struct pipeline_ref refs[PIPELINE_REFS_MAX];
};

/* What a thread needs to turn entries into bytes. */
struct pipeline_place {
	struct reader *reader;
	struct output_cache *cache;
	struct packer packer;
	struct jscan_entry entry;
	struct window window;
};

struct pipeline {
	struct jscan *engine;
	struct workers workers;
	unsigned refs;            /* entries of a batch */
	size_t buffer_bytes;      /* of one sink, that make it full */
	bool running;             /* engaged: batches are worked on */
	int error;                /* of the merge: comes after what is under way */
	unsigned flying;          /* batches that workers have, or will have */
	atomic_bool halt;
	unsigned batch_count;
	struct pipeline_batch *batches;
	size_t part_count;        /* of each batch: sinks */
	struct list ring;         /* batches under way, in order */
	struct list idle;         /* others, used last first */
	struct source *pending;   /* whose candidate is next, but whose file is not open yet */
	struct pipeline_batch *open; /* the last of the ring, if it is still being filled */
	struct pipeline_place *places; /* 0 is the engine's own */
	struct reader *readers;   /* of the others */
	struct output_cache *caches;
	uint64_t serial;
	uint64_t filled;          /* entries, since the pipeline was empty */
	bool has_previous;        /* of the entry filled last */
	struct id128 previous_boot_id;
};

/* The batch that is next in order, or NULL. */
static inline struct pipeline_batch *pipeline_head(const struct pipeline *p)
{
	return list_is_empty(&p->ring) ? NULL :
					 container_of(p->ring.next, struct pipeline_batch, link);
}

/* Puts a batch back of which nothing is left. In pipeline.c, like what follows. */
void pipeline_retire(struct pipeline *p, struct pipeline_batch *b);

/* Empties what workers have put into a batch. */
void pipeline_empty(struct pipeline *p, struct pipeline_batch *b);

/* work_fn: formats a batch from `done` on, as far as it goes. In pipeline-work.c. */
void pipeline_work(void *userdata, unsigned place, struct work *work);

#endif
