/* SPDX-License-Identifier: MIT */
/* The engine: what a struct jscan holds, and how its parts reach each other. */
#ifndef ENGINE_ENGINE_H
#define ENGINE_ENGINE_H

#include <stdatomic.h>

#include "engine/batch.h"
#include "engine/listing.h"
#include "engine/grep.h"
#include "engine/match.h"
#include "engine/merge.h"
#include "engine/order.h"
#include "engine/reader.h"
#include "engine/runs.h"
#include "engine/sink.h"
#include "engine/source.h"
#include "jscan.h"
#include "uring/image.h"
#include "uring/io.h"

/* Where a scan is. Phases follow one another; a seek goes back to PHASE_NEWEST. */
enum engine_phase {
	PHASE_OPEN,   /* every file is opened and its header read */
	PHASE_NEWEST, /* the newest entry of every file, where the order needs them */
	PHASE_PLAN,   /* the terms of the match are looked up */
	PHASE_GREP,   /* the files are searched for what the pattern needs */
	PHASE_LOCATE, /* every file is positioned */
	PHASE_HEADS,  /* the merge gets its first candidates */
	PHASE_TAIL,   /* reading backward over the entries to be shown forward */
	PHASE_RUN,
	PHASE_FOLLOW, /* all has been read: see follow.c */
	PHASE_END,
};

/* Where reading starts. */
enum engine_seek_kind {
	SEEK_HEAD,
	SEEK_TAIL,
	SEEK_PLACE, /* as far as the has_ fields say, like journalctl's location */
	SEEK_CHECKPOINT, /* each sequence from where it was; others from the beginning */
};

struct engine_seek {
	enum engine_seek_kind kind;
	bool set;             /* by the caller; else it follows from direction and bounds */
	bool after;           /* an entry that is exactly there is passed over */
	bool nowhere;         /* no entry is exactly there: a cursor contradicts itself */
	bool has_seqnum, has_monotonic, has_realtime, has_hash;
	struct id128 seqnum_id, boot_id;
	uint64_t seqnum, monotonic, realtime, hash;
	unsigned parts;       /* of a cursor: see cursor_is_at() */
};

/* A step over all sources, or over some, at once. */
struct engine_wave {
	source_step_fn step;
	bool (*wants)(const struct source *s); /* which sources; NULL: all that are usable */
	size_t next;    /* source that has not been tried yet */
	size_t pending; /* tried, not answered */
};

/* An entry that reading has come to. */
struct engine_position {
	bool known;
	struct entry_object entry;
	struct id128 seqnum_id;
};

/* A sink that is not ready is asked again after this. */
#define HELD_BACK_USEC 1000u

struct checkpoint;
struct discover_origin;
struct follow;
struct grep_reader;
struct pipeline;
struct verification;
struct histogram;
struct gaps;
struct invocations;

/* So few sources that wait leave a disk idle. */
#define LONE_SOURCES_MAX 2u

struct jscan {
	struct jscan_options options;
	volatile uint8_t *fork_mark; /* 0 in a child after fork() */
	size_t fork_mark_size;
	struct io io;
	struct image_pool pool;
	bool io_there;
	const char *io_hint;   /* why there is no ring, once it has been tried; or NULL */
	const struct io_method *custom_method; /* of tests: see engine_set_io() */
	void *custom_state;
	bool foreign;          /* driven by a foreign loop: nothing blocks */
	uint64_t slice_end_usec; /* when a turn of it has to end; 0: this is none */
	uint64_t turns;        /* of the loop: blocks come and go only there */
	unsigned asks;         /* times that bytes have been asked for since the last turn; ... */
	struct source *asked[LONE_SOURCES_MAX]; /* ... by these first */
	uint64_t lone_since_usec; /* when they were all that asked, the last time; or 0 */
	uint64_t waits;        /* turns that slept: what is in the page cache takes none */
	uint64_t readahead_bytes_max; /* how far one file is read ahead */
	atomic_bool stop;
	struct source **sources;
	size_t source_count, source_capacity;
	size_t usable_count;
	uint32_t files_numbered;  /* the last source's file */
	struct list runnable;     /* sources for which something has changed */
	struct list busy;         /* sources that wait for a descriptor to be free, or a turn */
	struct list unpack_waiting; /* sources that wait for another to be unpacked */
	struct source *unpacking; /* the one, or NULL */
	struct list open_sources; /* least recently used first */
	unsigned open_count;
	unsigned closing_count;   /* sources that are SOURCE_CLOSING */
	uint64_t ahead_steps;     /* of the merge, when read-ahead was last looked at */
	struct discover_origin *origins; /* where files were looked for */
	struct follow *follow;    /* or NULL: the scan ends with the last entry */
	struct match match;
	struct grep *grep;        /* or NULL */
	struct grep_reader *grep_reader; /* made when it is needed */
	struct engine_seek seek;
	enum jscan_seek_answer seek_answer; /* while it is looked for */
	struct checkpoint *checkpoint; /* or NULL: none is kept */
	struct engine_seek first_place; /* of the first entry after a seek: merge-place.c */
	bool backward;
	uint64_t since, until;    /* bounds; 0 and UINT64_MAX: none */
	bool complete;            /* every entry between them, wherever it is */
	bool until_is_checked;
	uint64_t limit;           /* entries to yield at most */
	uint64_t tail;            /* UINT64_MAX: not in tail mode */
	enum engine_phase phase;
	struct engine_wave wave;
	bool wave_runs;
	struct order order;
	bool newest_known;
	bool resumed;             /* what has come in since is read: see follow.c */
	bool turned;              /* the tail has been counted, reading goes forward over it */
	bool streams;             /* files are read ahead */
	bool knows_heads;         /* the first entry of each is looked at, not only its header */
	struct merge merge;
	uint64_t shown;           /* of those yielded: that match the pattern */
	uint64_t yielded;         /* entries since the last seek */
	uint64_t skipped;         /* in PHASE_TAIL */
	uint64_t skipped_realtime; /* of the last entry of these */
	struct engine_position last;   /* what the batch held last, before what it holds now */
	struct engine_position beyond; /* what ended the scan by lying beyond a bound */
	struct batch batch;
	struct pipeline *pipeline; /* of several threads, once it has been made */
	bool pipeline_refused;     /* threads cannot be started */
	struct reader reader;
	struct output_cache cache;
	struct reader_filter filter; /* what the sinks need of an entry */
	bool messages_only;      /* one sink, to which an entry is its message: output_message() */
	struct jscan_entry entry; /* handed out by jscan_next() and to sinks */
	bool has_previous;
	struct id128 previous_boot_id;
	struct sink_list sinks;
	struct listing listing;   /* of names or values, while it runs */
	struct runs runs;         /* boots or invocations, while they are listed */
	struct invocations *invocations; /* while they are listed */
	struct histogram *histogram; /* while it is counted */
	struct verification *verification; /* while one runs */
	struct gaps *gaps;        /* while they are listed */
	bool sinks_begun;
	bool held_back;           /* a sink answered -EAGAIN: nothing to wait for but time */
	int sink_error;           /* a problem slot asked to abort */
	jscan_problem_fn problem_handler;
	void *problem_userdata;
	jscan_trace_fn trace_handler; /* or NULL */
	void *trace_userdata;
	struct jscan_stats stats;
};

/* ---- engine.c --------------------------------------------------------------------------- */

/* Copies a public structure, which begins with its size, over RET: what a shorter one lacks stays
 * as it is there; a longer one must be zero behind ours, else -E2BIG. -EINVAL: it has no size. */
int engine_take(const void *given, size_t given_size, void *ret, size_t size);

/* Refuses calls that the state of the engine does not allow. */
int engine_check(const struct jscan *engine);
/* Tests: uses METHOD for all reads, with STATE of its own. Before the first step. */
void engine_set_io(struct jscan *engine, const struct io_method *method, void *state);
int engine_add_source(struct jscan *engine, const char *path, struct source **ret_source);
/* Takes a source over, as the last one. */
int engine_take_source(struct jscan *engine, struct source *s);

/* ---- trace.c ---------------------------------------------------------------------------- */

/* Lets the pool tell of its blocks if a trace is wanted. */
void engine_trace_start(struct jscan *engine);

/* ---- loop.c ----------------------------------------------------------------------------- */

/* Makes ring and pool on first use. */
int engine_start_io(struct jscan *engine);

/* One turn: starts reads, takes completions, marks sources runnable. Waits for something to
 * complete if WAIT. 1: some sources are runnable; 0: none. */
int engine_turn(struct jscan *engine, bool wait);

/* When a foreign loop has to take a turn, if nothing completes before; UINT64_MAX: then only. */
uint64_t engine_timeout_usec(struct jscan *engine);

/* What sinks have gathered is written before the engine sleeps. */
int engine_before_sleep(struct jscan *engine);

/* Runs turns until FN answers something else than -EAGAIN. */
int engine_wait(struct jscan *engine, int (*fn)(struct jscan *engine));

/* Queues read-ahead for the sources that the merge is working on. True if any was queued. */
bool engine_read_ahead(struct jscan *engine);

/* ---- scan.c ----------------------------------------------------------------------------- */

/* Opens the files and numbers them: 0, -EAGAIN. */
int engine_open_step(struct jscan *engine);

/*
 * The next entry in order: 1 with its source in *ret_source, whose entry and key stand; the source
 * must be consumed (source_consume()) before the next call. 0 at the end, -EAGAIN.
 */
int engine_next_candidate(struct jscan *engine, struct source **ret_source);

/* Runs one phase of getting ready: 0 when it is done, -EAGAIN. Until PHASE_RUN. */
int engine_prepare_step(struct jscan *engine);

/* As engine_open_step(), and the table of boots is filled where the order needs it. */
int engine_rank_step(struct jscan *engine);

/* Prepares all sources for reading in the direction of the phase that follows. */
void engine_rewind(struct jscan *engine);

/* Whether nothing has been slept for yet: then files come from the page cache. */
bool engine_reads_memory(const struct jscan *engine);
/* A source begins to wait for bytes that it has asked for. */
void engine_asked(struct jscan *engine, struct source *s);

/* Runs a step over all sources that WANTS says yes to (NULL: all that have not failed), or goes on
 * with it: 0 when all have answered, -EAGAIN. */
int engine_wave(struct jscan *engine, source_step_fn step, bool (*wants)(const struct source *s));

/* True if reading begins at a place that the caller named otherwise than by a sequence number: then
 * files are compared by their clocks even if they all number their entries alike. */
bool engine_is_placed_by_time(const struct jscan *e);

/* Enters what source_step_newest() found of all files into the table of boots, once. */
int engine_enter_newest(struct jscan *engine);

/* Keeps an entry of a source as a position. */
void engine_keep_position(struct engine_position *position, const struct source *s,
			  const struct entry_object *entry);

/* Puts the scan back to where positions are looked up. */
void engine_reposition(struct jscan *engine);

/* ---- problem.c -------------------------------------------------------------------------- */

/* Reports a problem of a file, once for each reason and offset as far as is remembered. */
void problem_report(struct source *s, enum jscan_reason reason, int error, uint64_t offset,
		    const char *detail);
/* The same for damage that was met while an entry was loaded. */
void problem_report_damage(struct source *s, const struct reader_damage *damage);
/* The same for a path that is no source. */
void problem_report_path(struct jscan *engine, const char *path, enum jscan_reason reason,
			 int error, const char *detail);

#endif
