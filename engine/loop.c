/* SPDX-License-Identifier: MIT */
/*
 * The loop: one turn starts what is wanted, takes what has completed, and marks the sources for
 * which something has changed. No step runs from here, so that a completion never re-enters its
 * caller. Blocks come and go only during a turn: what a step has found resident stays so until the
 * next.
 */
#include <assert.h>
#include <time.h>
#include <unistd.h>

#include "engine/checkpoint.h"
#include "engine/engine.h"
#include "engine/follow.h"
#include "engine/grep-scan.h"

/* Reads of one file ahead of its reader, at most. */
#define READAHEAD_BYTES_MAX (4u << 20)
/* When so many files are open, read-ahead looks at them all only every so many entries. */
#define AHEAD_FILES_MANY 8u
#define AHEAD_STEPS 64u
/* What is read around bytes that few sources wait for, by how long the last such wait was. */
#define LONE_BYTES_PER_USEC 128u
#define LONE_BYTES_MIN (16u << 10)
#define LONE_BYTES_MAX (1u << 20)
#define LONE_USEC_MAX (LONE_BYTES_MAX / LONE_BYTES_PER_USEC)

int engine_start_io(struct jscan *e)
{
	struct io_options options = {
		.method = (enum io_method_id)e->options.io,
		.queue_depth = e->options.queue_depth,
		/* Asked for, or in place of a ring: beside somebody else's loop one is enough. */
		.threads = e->foreign && e->options.io == JSCAN_IO_AUTO ? 1 : e->options.io_threads,
		.custom = e->custom_method,
		.custom_state = e->custom_state,
	};
	int r;

	if (e->io_there)
		return 0;
	r = io_init(&e->io, &options, &e->io_hint);
	if (r < 0)
		return r;
	r = image_pool_init(&e->pool, &e->io, e->options.memory_bytes);
	if (r < 0) {
		io_done(&e->io);
		return r;
	}
	if (e->options.limit_rate)
		image_pool_limit(&e->pool, e->options.limit_rate);
	e->readahead_bytes_max = e->options.memory_bytes / 16 < READAHEAD_BYTES_MAX ?
					 e->options.memory_bytes / 16 : READAHEAD_BYTES_MAX;
	engine_trace_start(e);
	e->io_there = true;
	return 0;
}

/* Takes completed operations to whom they belong. */
static void engine_complete(struct jscan *e)
{
	struct image *image;
	struct io_op *op;

	while ((op = io_next_done(&e->io))) {
		if (grep_reader_complete(e->grep_reader, op))
			continue;
		if (image_op_is_read(op))
			image_pool_complete(&e->pool, op);
		else if (op->kind == IO_POLL)
			follow_polled(e, op);
		else
			source_opened(container_of(op, struct source, open_op));
	}
	while ((image = image_pool_next_ready(&e->pool)))
		source_image_ready(image->owner);
}

/* Sources whose image waited for its last reads, and those that waited for a descriptor. */
static void engine_settle(struct jscan *e)
{
	struct list *l, *next;

	for (l = e->open_sources.next; l != &e->open_sources && e->closing_count; l = next) {
		struct source *s = container_of(l, struct source, open_link);

		next = l->next;
		if (s->state == SOURCE_CLOSING)
			source_close(s);
	}
	while ((l = list_pop(&e->busy)))
		list_append(&e->runnable, l);
}

/* Whether there is something that a turn could wait for. */
static bool engine_can_wait(const struct jscan *e)
{
	return io_is_busy(&e->io) || e->pool.rate.refused || follow_is_idle(e);
}

/* How long nothing may be read, by the rate; UINT64_MAX: nothing waits for that. */
static uint64_t engine_rate_usec(struct jscan *e)
{
	return e->pool.rate.refused ? rate_wait_usec(&e->pool.rate, rate_now_usec()) : UINT64_MAX;
}

/* How long nothing need be done but for what completes. */
static uint64_t engine_sleep_usec(struct jscan *e)
{
	uint64_t rate = engine_rate_usec(e), checkpoint = checkpoint_due_usec(e);

	return rate < checkpoint ? rate : checkpoint;
}

void engine_asked(struct jscan *e, struct source *s)
{
	if (e->asks < LONE_SOURCES_MAX)
		e->asked[e->asks] = s;
	e->asks++;
}

/*
 * A source that goes on from read to read, each of which says where the next one is, waits for the
 * disk every time; with no other beside it, that is idle but for it. What lies around is read with
 * what it lacks, since arrays and entries lie near one another: as much as may come in the time
 * that such a read has taken, next to nothing on a fast disk, much on a slow one.
 */
static void engine_read_around(struct jscan *e)
{
	unsigned asks = e->asks;
	bool lone = asks <= LONE_SOURCES_MAX;
	uint64_t now, usec, bytes;

	e->asks = 0;
	if (asks == 0 || engine_reads_memory(e))
		return;
	now = rate_now_usec();
	usec = e->lone_since_usec ? now - e->lone_since_usec : 0;
	bytes = usec < LONE_USEC_MAX ? usec * LONE_BYTES_PER_USEC : LONE_BYTES_MAX;
	for (unsigned i = 0; lone && i < asks && bytes >= LONE_BYTES_MIN; i++)
		source_read_around(e->asked[i], bytes);
	e->lone_since_usec = lone ? now : 0;
}

/* Has the I/O take a turn, or only time go by where reads wait for nothing else. */
static int engine_turn_io(struct jscan *e, bool wait)
{
	uint64_t usec = wait ? engine_sleep_usec(e) : UINT64_MAX;

	if (usec == UINT64_MAX || io_can_wait(&e->io))
		return io_turn(&e->io, wait, usec);
	nanosleep(&(const struct timespec){ .tv_sec = (time_t)(usec / 1000000),
					    .tv_nsec = (long)(usec % 1000000) * 1000 }, NULL);
	return 0;
}

uint64_t engine_timeout_usec(struct jscan *e)
{
	return list_is_empty(&e->runnable) && engine_can_wait(e) ? engine_sleep_usec(e) : 0;
}

int engine_turn(struct jscan *e, bool wait)
{
	int r;

	/* Outside a wave nobody looks at the list: whoever waits tries again after the turn. */
	while (!e->wave_runs && list_pop(&e->runnable))
		;
	if (e->pool.trace)
		image_pool_trace_hits(&e->pool);
	/* Whoever still wants to read asks again. */
	if (engine_rate_usec(e) == 0)
		e->pool.rate.refused = false;
	engine_read_around(e);
	image_pool_start(&e->pool);
	e->turns++;
	wait = wait && engine_can_wait(e) && list_is_empty(&e->io.done);
	r = engine_turn_io(e, wait);
	if (r < 0)
		return r;
	engine_complete(e);
	engine_settle(e);
	return !list_is_empty(&e->runnable);
}

/* Nothing but time makes a sink ready that has held the scan back. */
static void engine_pause(void)
{
	nanosleep(&(const struct timespec){ .tv_nsec = HELD_BACK_USEC * 1000 }, NULL);
}

int engine_wait(struct jscan *e, int (*fn)(struct jscan *e))
{
	unsigned idle = 0;
	bool waits;
	int r;

	for (;;) {
		r = fn(e);
		if (r != -EAGAIN)
			return r;
		engine_read_ahead(e);
		/* It may come in the turn and be of no interest: a follower's event. */
		waits = engine_can_wait(e);
		r = engine_turn(e, false);
		if (r == 0) {
			/* Nothing was there at once: this is going to take time. */
			r = engine_before_sleep(e);
			if (e->held_back)
				engine_pause();
			else
				r = r < 0 ? r : engine_turn(e, true);
			e->waits++;
		}
		if (r < 0)
			return r;
		/* Turn after turn without anything to wait for: nothing will ever come. */
		waits = waits || e->held_back || engine_can_wait(e);
		idle = r > 0 || waits ? 0 : idle + 1;
		if (idle > 8)
			return -EDEADLK;
	}
}

/* How much read-ahead may still be asked for, while walking over the upcoming sources. */
struct engine_ahead {
	uint64_t room_bytes;
	uint64_t share_bytes;
};

/* Reads ahead of one source. False when no more should be asked for. */
static bool engine_read_source_ahead(void *userdata, struct source *s)
{
	struct engine_ahead *ahead = userdata;
	uint64_t room =
		ahead->room_bytes < ahead->share_bytes ? ahead->room_bytes : ahead->share_bytes;

	if (s->drained || s->error)
		return true;
	if (s->state == SOURCE_CLOSED) {
		/* It is opened before the merge asks for it. */
		source_try(s, source_step_next);
	}
	ahead->room_bytes -= source_read_ahead(s, room);
	/* A file that is not completely asked for keeps the ones after it waiting. */
	return ahead->room_bytes > 0 && (!s->streaming || readahead_is_complete(&s->readahead) ||
					 s->engine->merge.mode != MERGE_SEQNUM);
}

bool engine_read_ahead(struct jscan *e)
{
	struct engine_ahead ahead;
	uint64_t room, steps;

	if (!e->streams || e->phase < PHASE_HEADS)
		return false;
	/* Of many files that are read at once none has moved far since the last look. */
	steps = e->merge.heap_steps + e->merge.fold_steps;
	if (e->open_count > AHEAD_FILES_MANY && steps - e->ahead_steps < AHEAD_STEPS &&
	    steps != e->ahead_steps)
		return false;
	e->ahead_steps = steps;
	room = ahead.room_bytes = image_pool_expected_room(&e->pool);
	ahead.share_bytes = e->readahead_bytes_max;
	if (ahead.room_bytes)
		merge_upcoming(&e->merge, e, engine_read_source_ahead, &ahead);
	return ahead.room_bytes < room;
}
