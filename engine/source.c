/* SPDX-License-Identifier: MIT */
/*
 * The life of a source: opening, waiting, parking, closing. What its steps look for is in
 * source-header.c, source-place.c and source-walk.c. A source never blocks and never waits; it
 * answers -EAGAIN and is put on the engine's list of runnable sources when something has changed
 * for it.
 */
#include "engine/source.h"

#include <assert.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "engine/engine.h"
#include "engine/follow.h"
#include "engine/grep-scan.h"
#include "engine/unpack.h"

#define SOURCE_BLOCK_SHIFT 12u
#define SOURCE_BLOCK_SHIFT_LARGE 16u

/* Which state may follow which. */
static const bool source_edges[SOURCE_STATE_COUNT][SOURCE_STATE_COUNT] = {
	[SOURCE_CLOSED] = { [SOURCE_OPENING] = true, [SOURCE_OPEN] = true, [SOURCE_FAILED] = true },
	[SOURCE_OPENING] = { [SOURCE_OPEN] = true, [SOURCE_CLOSED] = true, [SOURCE_FAILED] = true },
	[SOURCE_OPEN] = { [SOURCE_WAITING] = true, [SOURCE_CLOSING] = true, [SOURCE_CLOSED] = true,
			  [SOURCE_FAILED] = true },
	/* When the engine is freed nobody waits for the image to be ready: straight to the end. */
	[SOURCE_WAITING] = { [SOURCE_OPEN] = true, [SOURCE_CLOSING] = true, [SOURCE_CLOSED] = true,
			     [SOURCE_FAILED] = true },
	[SOURCE_CLOSING] = { [SOURCE_CLOSED] = true, [SOURCE_FAILED] = true },
};

void source_set_state(struct source *s, enum source_state state)
{
	assert(source_edges[s->state][state]);
	s->engine->closing_count += state == SOURCE_CLOSING;
	s->engine->closing_count -= s->state == SOURCE_CLOSING;
	s->state = state;
}

int source_new(struct jscan *engine, const char *path, struct source **ret_source)
{
	struct source *s = calloc(1, sizeof(*s));

	if (!s)
		return -ENOMEM;
	s->path = strdup(path);
	if (!s->path) {
		free(s);
		return -ENOMEM;
	}
	s->engine = engine;
	s->file = ++engine->files_numbered;
	s->given_fd = -1;
	s->unpacked_fd = -1;
	s->horizon = UINT64_MAX;
	s->plan.ready = true;
	list_init(&s->run_link);
	list_init(&s->open_link);
	*ret_source = s;
	return 0;
}

void source_free(struct source *s)
{
	if (!s)
		return;
	assert(!s->image_there);
	s->engine->asks = 0; /* this may be one of those that have asked */
	list_remove(&s->run_link);
	list_remove(&s->open_link);
	plan_done(&s->plan);
	grep_scan_free(s->grep_scan);
	unpack_drop(s);
	if (s->unpacked_fd >= 0)
		close(s->unpacked_fd);
	if (s->take_fd && s->given_fd >= 0)
		close(s->given_fd);
	free(s->path);
	free(s->found);
	free(s->walk.offsets);
	free(s);
}

/* Something has changed for this source: whoever waits for it should try again. */
static void source_wake(struct source *s)
{
	list_remove(&s->run_link);
	list_append(&s->engine->runnable, &s->run_link);
}

/* Closes a source that nobody needs open right now. False if there is none. */
static bool source_park_one(struct jscan *engine)
{
	for (struct list *l = engine->open_sources.next; l != &engine->open_sources; l = l->next) {
		struct source *s = container_of(l, struct source, open_link);

		if (s->state == SOURCE_OPEN && s->refs == 0 && s->given_fd < 0 && !s->unpack) {
			source_close(s);
			return true;
		}
	}
	return false;
}

/* The unpacked file takes the place of the compressed one, which is closed by now. */
static void source_adopt_unpacked(struct source *s)
{
	if (s->take_fd && s->given_fd >= 0)
		close(s->given_fd);
	s->given_fd = s->unpacked_fd;
	s->take_fd = true;
	s->unpacked_fd = -1;
}

/* Whether the first bytes may come with the open file: where reads are neither seen to nor counted.
 */
static bool source_may_read_head(const struct jscan *e)
{
	return e->options.cache == JSCAN_CACHE_KEEP && !e->options.limit_rate && !e->trace_handler;
}

/* Whether they are there, and all that is needed of the file for now. */
static bool source_has_head(const struct source *s)
{
	const struct io_op *op = &s->open_op;
	uint64_t size = op->stat.size_bytes < sizeof(s->head) ? op->stat.size_bytes :
							       sizeof(s->head);

	return !s->header_known && s->given_fd < 0 && op->buffer && size > 0 &&
	       (uint64_t)op->result == size && packed_recognise(s->head, size) == PACKED_NONE;
}

int source_open_image(struct source *s)
{
	/* Blocks of files up to 4 GiB are 4 KiB, so that a probe costs little; beyond, states would
	 * cost more than they save. */
	unsigned shift = s->stat.size_bytes > (UINT64_C(4) << 30) ? SOURCE_BLOCK_SHIFT_LARGE
								  : SOURCE_BLOCK_SHIFT;
	int r = image_open(&s->engine->pool, &s->image, &s->open_op.file, s->stat.size_bytes,
			   shift, s);

	if (r < 0) {
		source_fail(s, JSCAN_REASON_OPEN, r, "no address space is left for it");
		return r;
	}
	s->image_there = true;
	s->window.run_begin = s->window.run_end = 0; /* the head's bytes are not the image's */
	if (s->header_known)
		source_read_directly(s);
	source_refresh_window(s);
	return 0;
}

void source_drop_image(struct source *s)
{
	/* Where reads are seen to or counted, a file has one image. */
	if (!source_may_read_head(s->engine) || s->state != SOURCE_OPEN || !s->image_there ||
	    s->refs > 0 || s->image.in_flight > 0)
		return;
	image_close(&s->image);
	s->image_there = false;
	s->streaming = false;
	source_refresh_window(s);
}

/* Begins to open a source. */
static int source_open(struct source *s)
{
	struct jscan *e = s->engine;

	if (s->unpacked_fd >= 0)
		source_adopt_unpacked(s);

	if (s->given_fd < 0 && e->open_count >= e->options.files_open_max && !source_park_one(e))
		return -EBUSY;
	e->open_count += s->given_fd < 0; /* others are the caller's to count */
	list_append(&e->open_sources, &s->open_link);
	if (s->given_fd >= 0) {
		struct stat st;

		source_set_state(s, SOURCE_OPENING);
		s->open_op.result = fstat(s->given_fd, &st) < 0 ? -errno : 0;
		if (s->open_op.result == 0) {
			s->open_op.stat = (struct io_stat){
				.size_bytes = (uint64_t)st.st_size,
				.blocks = (uint64_t)st.st_blocks,
				.device = st.st_dev,
				.inode = st.st_ino,
				.mode = st.st_mode,
				.link_count = (uint32_t)st.st_nlink,
			};
			if (!S_ISREG(st.st_mode))
				s->open_op.result = S_ISDIR(st.st_mode) ? -EISDIR : -EBADFD;
		}
		s->open_op.file.fd = s->given_fd;
		s->open_op.file.nowait = s->open_op.result == 0 &&
					 io_probe_nowait(&e->io, s->given_fd, st.st_dev);
		source_opened(s);
		return 0;
	}
	source_set_state(s, SOURCE_OPENING);
	s->open_op = (struct io_op){ .kind = IO_OPEN, .path = s->path };
	if (!s->header_known && source_may_read_head(e)) {
		s->open_op.buffer = s->head;
		s->open_op.size_bytes = sizeof(s->head);
	}
	io_submit(&e->io, &s->open_op);
	return -EAGAIN;
}

/* Takes the source off the open ones. */
static void source_forget_open(struct source *s)
{
	list_remove(&s->open_link);
	if (s->given_fd >= 0)
		return;
	assert(s->engine->open_count > 0);
	s->engine->open_count--;
}

/* Replaces the path by the canonical one, as the reference shows it. Without /proc it stays. */
static void source_canonicalize(struct source *s, int fd)
{
	char link[64], target[4096];
	ssize_t n;
	char *path;

	snprintf(link, sizeof(link), "/proc/self/fd/%d", fd);
	n = readlink(link, target, sizeof(target));
	if (n <= 0 || (size_t)n >= sizeof(target) || target[0] != '/')
		return;
	target[n] = '\0';
	path = strdup(target);
	if (path && strcmp(path, s->path) == 0) {
		free(path);
	} else if (path) {
		free(s->found);
		s->found = s->path;
		s->path = path;
	}
}

void source_read_directly(struct source *s)
{
	struct jscan *e = s->engine;

	if (e->options.cache != JSCAN_CACHE_DIRECT || s->unpacked)
		return;
	/* Direct reads of what is being written would have its writer wait. */
	if (s->given_fd < 0 && !e->follow && s->image.in_flight == 0 &&
	    s->journal.header.state != JOURNAL_STATE_ONLINE &&
	    io_file_direct(&e->io, &s->image.file))
		e->stats.files_direct++;
	else
		e->stats.files_not_direct++;
}

void source_opened(struct source *s)
{
	struct jscan *e = s->engine;
	struct io_op *op = &s->open_op;

	assert(s->state == SOURCE_OPENING);
	if ((op->result == -EMFILE || op->result == -ENFILE) && e->open_count > 1) {
		/* Fewer descriptors than the limit promised: go on with those that there are. */
		source_forget_open(s);
		source_set_state(s, SOURCE_CLOSED);
		e->options.files_open_max = e->open_count;
		source_wake(s);
		return;
	}
	if (op->result < 0 && s->header_known && follow_relocate(s)) {
		source_forget_open(s);
		source_set_state(s, SOURCE_CLOSED);
		source_wake(s);
		return;
	}
	if (op->result < 0) {
		source_forget_open(s);
		source_fail(s, JSCAN_REASON_OPEN, op->result, "cannot be opened");
		source_wake(s);
		return;
	}
	if (s->header_known &&
	    (s->stat.device != op->stat.device || s->stat.inode != op->stat.inode)) {
		close(op->file.fd);
		source_forget_open(s);
		if (follow_relocate(s)) {
			source_set_state(s, SOURCE_CLOSED);
			source_wake(s);
			return;
		}
		source_fail(s, JSCAN_REASON_OPEN, -ESTALE, "another file has taken its place");
		source_wake(s);
		return;
	}
	if (!s->header_known && s->given_fd < 0 && !s->canonical)
		source_canonicalize(s, op->file.fd);
	s->stat = op->stat;
	if (e->options.cache != JSCAN_CACHE_KEEP && !s->unpacked)
		io_file_drop(&e->io, &op->file, s->given_fd < 0);
	s->streaming = false;
	s->window.run_begin = s->window.run_end = 0;
	source_set_state(s, SOURCE_OPEN);
	if (source_has_head(s))
		source_refresh_window(s);
	else
		source_open_image(s);
	source_wake(s);
}

void source_close(struct source *s)
{
	if (s->state == SOURCE_CLOSED || s->state == SOURCE_FAILED)
		return;
	assert(s->image_there || s->state == SOURCE_OPEN);
	if (s->image_there && image_close(&s->image) == -EAGAIN) {
		if (s->state != SOURCE_CLOSING)
			source_set_state(s, SOURCE_CLOSING);
		return;
	}
	s->image_there = false;
	s->streaming = false;
	if (s->given_fd < 0)
		close(s->open_op.file.fd);
	source_forget_open(s);
	source_set_state(s, s->error ? SOURCE_FAILED : SOURCE_CLOSED);
	source_wake(s);
}

void source_release(struct source *s)
{
	assert(s->refs > 0);
	if (--s->refs == 0 && s->drained && s->state == SOURCE_OPEN &&
	    s->candidate == CANDIDATE_NONE && s->given_fd < 0)
		source_close(s); /* its frames serve the next file */
}

void source_fail(struct source *s, enum jscan_reason reason, int error, const char *detail)
{
	if (s->error)
		return;
	s->error = error;
	unpack_drop(s);
	s->candidate = CANDIDATE_NONE;
	s->drained = true;
	/* What turns up while following may not be complete yet: it is tried again. */
	if (!s->arriving) {
		problem_report(s, reason, error, 0, detail);
		s->engine->stats.files_failed++;
	}
	if (s->state == SOURCE_CLOSED || s->state == SOURCE_OPENING)
		source_set_state(s, SOURCE_FAILED);
	else if (s->refs == 0)
		source_close(s);
}

void source_image_ready(struct source *s)
{
	if (s->state == SOURCE_WAITING)
		source_set_state(s, SOURCE_OPEN);
	source_wake(s);
}

/* Lengthens the run of blocks that the window tests first by what has come in next to it. */
static void source_extend_run(struct source *s)
{
	struct window *w = &s->window;
	unsigned shift = w->block_shift;
	uint64_t count = s->image.block_count, i;

	if (w->run_begin == w->run_end) {
		uint64_t edge =
			s->walk.backward ? s->readahead.end_bytes : s->readahead.begin_bytes;

		i = edge >> shift;
		if (i >= count || !window_block_is(w, i, IMAGE_BLOCK_RESIDENT))
			return;
		w->run_begin = i << shift;
		w->run_end = w->run_begin;
	}
	for (i = (w->run_end + (UINT64_C(1) << shift) - 1) >> shift;
	     i < count && window_block_is(w, i, IMAGE_BLOCK_RESIDENT); i++)
		;
	w->run_end = i << shift < w->size_bytes ? i << shift : w->size_bytes;
	for (i = w->run_begin >> shift;
	     i > 0 && window_block_is(w, i - 1, IMAGE_BLOCK_RESIDENT); i--)
		;
	w->run_begin = i << shift;
}

void source_refresh_window(struct source *s)
{
	struct window *w = &s->window;
	uint64_t evictions = s->engine->pool.statistics.blocks_evicted;

	w->want_count = 0;
	if (!s->image_there) {
		s->turn = UINT64_MAX; /* no step but that of the header may run on it */
		w->base = s->head;
		w->blocks = NULL;
		w->size_bytes = s->stat.size_bytes;
		w->whole = false;
		w->run_begin = 0;
		w->run_end = (uint64_t)s->open_op.result;
		return;
	}
	w->base = s->image.base;
	w->blocks = s->image.blocks;
	w->size_bytes = s->image.size_bytes;
	w->block_shift = s->image.block_shift;
	w->whole = s->image.whole;
	s->turn = s->engine->turns;
	if (s->engine->trace_handler) {
		/* Every look leaves a mark, for the trace to collect. */
		w->whole = false;
		w->run_begin = w->run_end = 0;
	} else if (w->whole) {
		w->run_begin = 0;
		w->run_end = w->size_bytes;
	} else if (evictions != s->evictions) {
		/* Memory is short: let every look leave its mark, so that eviction can choose. */
		w->run_begin = w->run_end = 0;
	} else if (s->streaming) {
		source_extend_run(s);
	}
	s->evictions = evictions;
}

/* Asks for what a step lacked. True if something is not there yet. */
static bool source_ask(struct source *s)
{
	struct window *w = &s->window;
	unsigned missing = 0;

	assert(w->want_count > 0);
	for (unsigned i = 0; i < w->want_count; i++)
		missing += image_want(&s->image, w->wants[i].offset, w->wants[i].size_bytes,
				      IMAGE_NEEDED);
	if (missing == 0)
		return false;
	engine_asked(s->engine, s);
	return true;
}

int source_try(struct source *s, source_step_fn step)
{
	int r;

	if (s->error)
		return s->error;
	if (s->state == SOURCE_CLOSED) {
		r = source_open(s);
		if (r < 0)
			return r;
		if (s->error)
			return s->error;
	}
	if (s->state != SOURCE_OPEN)
		return -EAGAIN;
	if (!s->image_there && step != source_step_header) {
		r = source_open_image(s);
		if (r < 0)
			return r;
	}
	if (s->turn != s->engine->turns)
		source_refresh_window(s);
	for (;;) {
		r = step(s);
		if (r != -EAGAIN || s->error)
			break;
		if (s->window.want_count == 0) /* it lacks nothing, and has seen to being woken */
			return r;
		s->pinned = true;
		if (source_ask(s)) {
			source_set_state(s, SOURCE_WAITING);
			if (s->streaming)
				readahead_stalled(&s->readahead, s->engine->readahead_bytes_max);
			return -EAGAIN;
		}
		/* It was all there, or more is lacking than fitted the list. */
		source_refresh_window(s);
	}
	if (s->error)
		return s->error;
	if (s->pinned) {
		image_unpin(&s->image);
		s->pinned = false;
	}
	return r;
}

void source_read_around(struct source *s, uint64_t around_bytes)
{
	if (s->streaming || s->state != SOURCE_WAITING)
		return;
	for (unsigned i = 0; i < s->window.want_count; i++) {
		uint64_t offset = s->window.wants[i].offset, before = around_bytes / 2;

		before = before < offset ? before : offset;
		image_want(&s->image, offset - before, around_bytes, IMAGE_EXPECTED);
	}
}

void source_forget(struct source *s, uint64_t offset, uint64_t size_bytes)
{
	image_forget(&s->image, offset, size_bytes);
	s->window.run_begin = s->window.run_end = 0; /* its bytes are still readable, but old */
	source_refresh_window(s);
}

uint64_t source_read_ahead(struct source *s, uint64_t room_bytes)
{
	uint64_t offset, size_bytes, asked = 0;
	struct readahead *ra = &s->readahead;
	uint64_t position = s->walk.last_offset, ahead;

	if (!s->streaming || (s->state != SOURCE_OPEN && s->state != SOURCE_WAITING))
		return 0;
	if (position == 0)
		position = ra->backward ? ra->end_bytes : ra->begin_bytes;
	/* Half the distance is still ahead: large requests beat many small ones. */
	ahead = ra->backward ? position - ra->asked_bytes : ra->asked_bytes - position;
	if (ahead <= INT64_MAX && ahead > ra->distance_bytes / 2)
		return 0;
	while (asked < room_bytes &&
	       readahead_next(ra, position, room_bytes - asked, &offset, &size_bytes)) {
		image_want(&s->image, offset, size_bytes, IMAGE_EXPECTED);
		asked += size_bytes;
	}
	return asked;
}
