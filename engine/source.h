/* SPDX-License-Identifier: MIT */
/*
 * One journal file of a scan: its descriptor and image, its header, and its place in the walk over
 * its entries. A source is driven by steps: functions that look at the image and either answer or
 * lack bytes; source_try() asks for what is lacking and answers -EAGAIN until it is there.
 */
#ifndef ENGINE_SOURCE_H
#define ENGINE_SOURCE_H

#include "engine/order.h"
#include "engine/plan.h"
#include "formats/journal/journal.h"
#include "jscan.h"
#include "uring/image.h"
#include "uring/readahead.h"

struct grep_scan;
struct jscan;
struct unpack;
struct gaps_walk;
struct invocations_walk;

/* Where a source's bytes are. Every change goes through source_set_state(). */
enum source_state {
	SOURCE_CLOSED,  /* no descriptor and no image: before the first open, or parked */
	SOURCE_OPENING, /* the open is the kernel's; ends with its completion */
	SOURCE_OPEN,    /* no needed read is in flight: steps may run. There may be no image yet:
			 * then only the first bytes are there, for source_step_header() */
	SOURCE_WAITING, /* needed reads are in flight; ends when the image is ready */
	SOURCE_CLOSING, /* the image waits for its last reads */
	SOURCE_FAILED,  /* the file cannot be used: for good */
	SOURCE_STATE_COUNT
};

/* What a source has to offer to the merge. */
enum source_candidate {
	CANDIDATE_UNKNOWN, /* the next entry has to be found */
	CANDIDATE_THERE,   /* entry and key are those of the next entry */
	CANDIDATE_NONE,    /* there is no further entry */
};

#define SOURCE_OFFSETS 256u

/* The walk over a file's entries in one direction. */
struct source_walk {
	bool backward;
	bool from_first;         /* it is looked for at engine->first_place */
	bool located;            /* index (and from) are set */
	uint64_t index;          /* in the global chain: of the next element, or one past it if
				  * backward; not used with a plan */
	uint64_t from;           /* with a plan: where to look for the next match; 0: nowhere */
	uint64_t last_offset;    /* of the last candidate: the next must be strictly beyond; 0 */
	uint64_t entry_bytes;    /* of all entries met: see SOURCE_OVERLAP_MAX */
	uint64_t consumed_offset; /* of the last entry that the merge took; 0 */
	unsigned at, count; /* of offsets, those copied from the chain; backward: from the end */
	uint64_t *offsets;  /* room for SOURCE_OFFSETS; NULL before it is needed */
};

struct source {
	struct jscan *engine;
	char *path;              /* as found, then canonical once opened */
	bool canonical;          /* it is so already */
	char *found;             /* ... as found, if that is something else */
	unsigned added;          /* position in the order of adding */
	uint32_t number;         /* position in the order of files: see engine_number_files() */
	uint32_t file;           /* for shared_key(): no other source ever has it */
	enum source_state state;
	int error;               /* SOURCE_FAILED: why */
	int given_fd;            /* of jscan_add_fd(), or -1 */
	bool take_fd;
	bool given;              /* by jscan_add_fd(): it is not what is at its path */
	struct unpack *unpack;   /* while a compressed file is unpacked */
	int unpacked_fd;         /* the result, until it becomes given_fd; or -1 */
	bool unpacked;           /* given_fd, once opened, is the unpacked file */
	uint64_t packed_blocks;  /* of 512 bytes, that the compressed file takes */
	bool header_known;
	bool drained;            /* the merge is done with it */
	bool streaming;          /* read-ahead is set up */
	bool pinned;             /* a step has waited: what it read stays until it commits */
	unsigned refs;           /* of batches to entries of this file: while there are any it stays
				  * open */
	uint64_t view_serial;    /* the batch of the pipeline that last referred to it, ... */
	unsigned view;           /* ... and its view there */
	unsigned header_tries;
	uint64_t last_index;     /* source_last_entry(): behind it are no entries; 0: begin */
	struct io_op open_op;
	struct io_stat stat;
	struct image image;
	bool image_there;
	uint8_t head[HEADER_SIZE_MAX]; /* the first bytes, as opening has brought them */
	struct journal journal;
	/* of a follower: see follow.c */
	uint64_t snapshot;       /* entries that the header had when it was read last */
	uint64_t replayed_end;   /* elements before it may have been yielded by a plan */
	uint64_t doubted;        /* offset of an entry that was read again before it was believed */
	bool looked_at;          /* since that was noticed */
	bool arriving;           /* not among the engine's sources yet */
	bool stale;              /* something has changed in it */
	bool gone;               /* its name is another's, or nobody's */
	bool dropped;            /* to be freed */
	uint64_t horizon; /* offset of the last entry of the snapshot, UINT64_MAX if not needed */
	struct window window;
	uint64_t evictions;      /* of the pool when the window's run was last looked at */
	uint64_t turn;           /* of the engine when the window was last brought up to date */
	struct order_newest newest;
	uint32_t seqnum_id;      /* number of header.seqnum_id */
	struct id128 last_boot_id; /* whose number is last_boot */
	uint32_t last_boot;
	bool last_boot_known;
	struct chain chain;
	struct plan plan;
	struct source_walk walk;
	enum source_candidate candidate;
	struct entry_object entry;
	struct order_key key;
	struct readahead readahead;
	bool newest_done;
	bool listing_begun;      /* listed is set */
	bool listing_done;       /* nothing is left to be listed */
	bool listing_chosen;     /* it is to be asked, where not all files are */
	uint64_t listed;         /* the next object of a listing */
	struct invocations_walk *invocations; /* while they are listed */
	struct gaps_walk *gaps_walk; /* while gaps are listed */
	bool gaps_done;          /* its ID has been gone through for them */
	uint64_t counted;        /* jscan_count(): entries of this file */
	uint64_t listed_miss;    /* where the last one lay that was not there, or 0 */
	bool in_wave;            /* tried in the engine's current wave, not answered */
	uint64_t reported[32];   /* hashes of problems already reported */
	struct grep_scan *grep_scan; /* or NULL */
	bool passes;             /* entries that grep_scan rules out are no candidates */
	uint64_t joined;         /* behind so many entries of the merge; for checkpoints */
	uint64_t taken_seqnum;   /* of the last entry of it that was taken, ... */
	uint64_t settled_seqnum; /* ... and written out; 0: none */
	struct list run_link;    /* engine->runnable: something has changed for it */
	struct list open_link;   /* engine->open_sources, least recently used first */
};

/* Runs on an open source; -EAGAIN with wants in source->window, or an answer. */
typedef int (*source_step_fn)(struct source *s);

int source_new(struct jscan *engine, const char *path, struct source **ret_source);
/* Frees a source whose image has nothing in flight. */
void source_free(struct source *s);

void source_set_state(struct source *s, enum source_state state);

/*
 * Runs a step, opening the file first if it is closed. -EAGAIN: the source waits for reads, for
 * its open, or for a free descriptor; it is put on engine->runnable when that ends. A file that
 * fails answers its error, once and for all.
 */
int source_try(struct source *s, source_step_fn step);

/* Steps: source-header.c, source-place.c, source-walk.c. */
int source_step_header(struct source *s);
int source_step_newest(struct source *s);
int source_step_plan(struct source *s);
int source_step_locate(struct source *s);
int source_step_candidate(struct source *s);
/* Whatever of the above is missing up to the next candidate. */
int source_step_next(struct source *s);

/* The merge took the candidate: the next one has to be found. */
void source_consume(struct source *s);

/* Part of a step's work is done for good: what was read for it is not needed any more. So a step
 * that goes on for long never holds more than its next piece of work needs. */
static inline void source_commit(struct source *s)
{
	if (__builtin_expect(s->pinned, 0)) {
		image_unpin(&s->image);
		s->pinned = false;
	}
}

/* Has the step that runs read from an image, where there was none yet. 0 or why that failed. */
int source_open_image(struct source *s);

/* Nothing more is expected to be wanted of a file: its frames serve others. A step that wants more
 * after all has the image anew. */
void source_drop_image(struct source *s);

/* Brings the window up to date with the image. Every step begins with it. */
void source_refresh_window(struct source *s);

/* A range of the file may have changed: what of it is in memory is read again when it is wanted. */
void source_forget(struct source *s, uint64_t offset, uint64_t size_bytes);

/* Has the walk go on forward from an element of the chain, all of whose entries are tested one by
 * one: sets of data objects lag behind a writer. */
void source_resume(struct source *s, uint64_t index);

/* Reads the header again, if it can be understood: s->snapshot stays as it was. 0, -EAGAIN, or why
 * it cannot be. */
int source_step_refresh(struct source *s);

/* The first element behind an entry of another file, as journalctl looks for it. */
struct engine_position;
int source_find_position(struct source *s, const struct engine_position *position,
			 uint64_t *ret_index);

/* The first element behind a sequence number. */
int source_find_after(struct source *s, uint64_t seqnum, uint64_t *ret_index);

/* Puts the walk back to its start, to be located anew in this direction. */
void source_rewind(struct source *s, bool backward);

/* A reference to an entry of it is gone. */
void source_release(struct source *s);

/* Gives up descriptor and image; what is known of the file stays, references to its entries too:
 * loading one opens the file again. */
void source_close(struct source *s);

/* The file cannot be used: reports it, closes it. */
void source_fail(struct source *s, enum jscan_reason reason, int error, const char *detail);

/* The file is open and its header known: from here on it is read past the page cache, if that was
 * asked for and can be. */
void source_read_directly(struct source *s);

/* Completions, called by the loop. */
void source_opened(struct source *s);
void source_image_ready(struct source *s);

/* Queues what should be read before it is wanted; ROOM_BYTES at most. Returns the bytes that were
 * asked for. */
uint64_t source_read_ahead(struct source *s, uint64_t room_bytes);

/* Queues so many bytes around those that a source lacks, if it still waits for them. */
void source_read_around(struct source *s, uint64_t around_bytes);

#endif
