/* SPDX-License-Identifier: MIT */
/*
 * Following live files: what a scan does when it has come to the end and is to go on. follow.c is
 * the state machine that wakes and reads, follow-watch.c knows which names have changed.
 */
#ifndef ENGINE_FOLLOW_H
#define ENGINE_FOLLOW_H

#include "engine/engine.h"

struct discover_origin;

/* Without inotify, files are looked at so often. */
#define FOLLOW_TIMER_USEC 100000u
/* Files that have gone and whose return would be noticed. */
#define FOLLOW_GONE_MAX 64u
/* Outputs whose readers are watched. */
#define FOLLOW_OUTPUTS_MAX 4u

/* A directory that is watched for an origin; one directory may be watched for several. */
struct follow_watch {
	int wd;
	bool deeper;       /* sub-directories are watched, too */
	const struct discover_origin *origin;
	char *path;
};

/* A descriptor that is waited for. */
struct follow_poll {
	struct io_op op;
	bool waits;
};

/* A file that is not followed any more, and how far it has been read. */
struct follow_gone {
	struct id128 file_id;
	uint64_t snapshot;
};

struct follow {
	bool watching;     /* the watches are there, or the timer */
	bool idle;         /* nothing is to be done until a descriptor wakes it */
	bool woken;        /* there may be events */
	bool reading;      /* headers of what has changed are being read */
	bool lost;         /* events: everything is looked at */
	int inotify_fd;    /* or -1 */
	int timer_fd;      /* where watches have run out; or -1 */
	int stop_fd;       /* jscan_stop() makes it readable */
	struct follow_poll event, timer, stop;
	struct follow_output {
		struct follow_poll poll;
		struct sink *sink;
	} outputs[FOLLOW_OUTPUTS_MAX];
	size_t output_count;
	struct follow_watch *watches;
	size_t watch_count, watch_capacity;
	struct source **arrivals; /* files that have turned up, not the engine's sources yet */
	size_t arrival_count, arrival_capacity;
	uint64_t *marks;   /* by number of a sequence-number ID: what there was at the beginning */
	uint32_t mark_count;
	struct follow_gone gone[FOLLOW_GONE_MAX];
	size_t gone_count; /* ever: the oldest are overwritten */
	unsigned kept_count; /* descriptors of live files kept open */
	unsigned doubts;   /* how often the entry at hand has been read again */
};

/* Turns following on. 0, or what setting up gave. */
int follow_new(struct jscan *engine);

/* Closes files that are not among the engine's sources, before the engine's end; frees all. */
void follow_close(struct jscan *engine);
void follow_free(struct jscan *engine);

/* Sets up the watches and looks for files that have come since they were added. Once. */
int follow_begin(struct jscan *engine);

/* All headers have been read: what they say is what a follower need not wait for. */
int follow_opened(struct jscan *engine);

/*
 * All that was there has been yielded. 1: more has come in, and the scan goes on in another phase;
 * -EAGAIN: nothing has, or it is being looked at.
 */
int follow_step(struct jscan *engine);

/* A descriptor has become ready. */
void follow_polled(struct jscan *engine, struct io_op *op);

/* jscan_stop(): wakes it. From anywhere. */
void follow_stop(struct jscan *engine);

/* True if only a descriptor can bring it on. */
static inline bool follow_is_idle(const struct jscan *engine)
{
	return engine->follow && engine->follow->idle;
}

/* True if found files are to be offered and directories to be watched. */
static inline bool follow_is_watching(const struct jscan *engine)
{
	return engine->follow && engine->follow->watching;
}

/* Keeps the descriptor of an open file that may grow: its name may become another's. */
void follow_keep_open(struct source *s);

/* Fields of the entry at hand are damaged in a file that is being written: true if it has to be
 * read again before that is believed. The same for an entry. */
bool follow_doubts(struct jscan *engine, struct source *s);
bool follow_doubts_entry(struct source *s, uint64_t offset);

/* ---- follow-watch.c ---------------------------------------------------------------------- */

/* Makes what tells of changes: inotify, or a timer. */
int follow_watch_begin(struct jscan *engine);
void follow_watch_end(struct follow *f);

/* Watches a directory for an origin; or the one that a file is in. */
int follow_watch(struct jscan *engine, const struct discover_origin *origin, const char *path,
		 bool deeper);
int follow_watch_file(struct jscan *engine, const struct discover_origin *origin, const char *path);

/* A file has been found by its name: it is new, has changed its name, or is looked at again. */
int follow_offer(struct jscan *engine, const char *path);

/* Reads all events, and marks sources as stale or gone. */
int follow_read_events(struct jscan *engine);

/* A file is not where it was: finds its new name in the same directory. False: it has none. */
bool follow_relocate(struct source *s);

#endif
