/* SPDX-License-Identifier: MIT */
/*
 * The engine's own entry points: making and freeing one, adding files, saying what is wanted. They
 * check their arguments and set state; the work is done when the scan is driven (drive.c).
 *
 * tidy: allow calls: the page that tells a fork cannot come from malloc().
 */
#include "engine/engine.h"
#include "engine/grep-scan.h"

#include <assert.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

#include "config.h"
#include "engine/checkpoint.h"
#include "engine/cursor.h"
#include "engine/discover.h"
#include "engine/follow.h"
#include "engine/limits.h"
#include "engine/pipeline.h"
#include "engine/unpack.h"

#define ENGINE_PLACES_FLAGS                                                                        \
	(JSCAN_PLACES_SYSTEM | JSCAN_PLACES_USER | JSCAN_PLACES_ALL_MACHINES)
#define ENGINE_QUEUE_DEPTH_MAX 4096u
#define ENGINE_THREADS_MAX 64u
/* Nobody has more: numbers of files are 32 bits wide, and each costs some memory. */
#define ENGINE_FILES_MAX 10000000u

const char *jscan_version(void)
{
	return JSCAN_VERSION;
}

int engine_take(const void *given, size_t given_size, void *ret, size_t size)
{
	const uint8_t *bytes = given;

	if (given_size < sizeof(size_t))
		return -EINVAL;
	for (size_t i = size; i < given_size; i++) {
		if (bytes[i])
			return -E2BIG;
	}
	memcpy(ret, given, given_size < size ? given_size : size);
	memcpy(ret, &size, sizeof(size));
	return 0;
}

/* Copies and checks options. */
static int engine_take_options(const struct jscan_options *given, struct jscan_options *ret)
{
	int r;

	*ret = (struct jscan_options)JSCAN_OPTIONS_INIT;
	if (!given)
		return 0;
	r = engine_take(given, given->size, ret, sizeof(*ret));
	if (r < 0)
		return r;
	if (ret->io > JSCAN_IO_SYNC || ret->plan > JSCAN_PLAN_SCAN ||
	    ret->cache > JSCAN_CACHE_DIRECT || ret->reserved ||
	    ret->queue_depth > ENGINE_QUEUE_DEPTH_MAX || ret->io_threads > ENGINE_THREADS_MAX)
		return -EINVAL;
	return 0;
}

/* A page that is zero in a child after fork(): that tells one without a system call. */
static int engine_map_fork_mark(struct jscan *e)
{
	long size = sysconf(_SC_PAGESIZE);

	e->fork_mark_size = (size_t)size;
	e->fork_mark = mmap(NULL, e->fork_mark_size, PROT_READ | PROT_WRITE,
			    MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	if (e->fork_mark == MAP_FAILED) {
		e->fork_mark = NULL;
		return -ENOMEM;
	}
	*e->fork_mark = 1;
	/* Before Linux 4.14 there is no such thing: forks then go unnoticed. */
	madvise((void *)e->fork_mark, e->fork_mark_size, MADV_WIPEONFORK);
	return 0;
}

int jscan_new(const struct jscan_options *options, struct jscan **ret_engine)
{
	struct jscan *e;
	int r;

	if (!ret_engine)
		return -EINVAL;
	e = calloc(1, sizeof(*e));
	if (!e)
		return -ENOMEM;
	list_init(&e->runnable);
	list_init(&e->busy);
	list_init(&e->unpack_waiting);
	list_init(&e->open_sources);
	e->until = e->limit = e->tail = UINT64_MAX;
	e->until_is_checked = true;
	r = engine_take_options(options, &e->options);
	if (r < 0)
		goto fail;
	limits_fill(&e->options);
	r = engine_map_fork_mark(e);
	if (r < 0)
		goto fail;
	r = reader_init(&e->reader, e->options.field_bytes_max, e->options.memory_bytes / 4);
	if (r < 0)
		goto fail;
	*ret_engine = e;
	return 0;
fail:
	jscan_free(e);
	return r;
}

/* Waits for what is in flight and closes all files. */
static void engine_close_sources(struct jscan *e)
{
	struct io_op *op;

	io_drain(&e->io);
	while ((op = io_next_done(&e->io))) {
		if (grep_reader_complete(e->grep_reader, op))
			continue;
		if (image_op_is_read(op))
			image_pool_complete(&e->pool, op);
		else if (op->kind == IO_OPEN)
			source_opened(container_of(op, struct source, open_op));
	}
	for (size_t i = 0; i < e->source_count; i++) {
		e->sources[i]->refs = 0;
		source_close(e->sources[i]);
	}
	follow_close(e);
}

struct jscan *jscan_free(struct jscan *e)
{
	if (!e)
		return NULL;
	e->problem_handler = NULL;
	e->sinks_begun = false;
	pipeline_free(e, e->fork_mark && engine_check(e) < 0);
	if (e->io_there && engine_check(e) == 0) {
		engine_close_sources(e);
		for (size_t i = 0; i < e->source_count; i++)
			source_free(e->sources[i]);
		image_pool_done(&e->pool);
		io_done(&e->io);
	} else if (!e->io_there) {
		for (size_t i = 0; i < e->source_count; i++)
			source_free(e->sources[i]);
	} /* else: a child after fork(): ring and images are its parent's */
	follow_free(e);
	checkpoint_free(e);
	discover_done(e);
	free(e->sources);
	merge_done(&e->merge);
	match_done(&e->match);
	grep_free(e->grep);
	grep_reader_free(e->grep_reader);
	order_done(&e->order);
	reader_done(&e->reader);
	output_cache_done(&e->cache);
	sink_list_done(&e->sinks);
	if (e->fork_mark)
		munmap((void *)e->fork_mark, e->fork_mark_size);
	free(e);
	return NULL;
}

int engine_check(const struct jscan *e)
{
	if (!e)
		return -EINVAL;
	return *e->fork_mark ? 0 : -ECHILD;
}

void engine_set_io(struct jscan *e, const struct io_method *method, void *state)
{
	assert(!e->io_there);
	e->custom_method = method;
	e->custom_state = state;
}

/* ---- which files ------------------------------------------------------------------------ */

int engine_take_source(struct jscan *e, struct source *s)
{
	if (e->source_count >= ENGINE_FILES_MAX)
		return -ENFILE;
	if (e->source_count == e->source_capacity) {
		size_t capacity = e->source_capacity ? e->source_capacity * 2 : 64;
		struct source **sources = reallocarray(e->sources, capacity, sizeof(*sources));

		if (!sources)
			return -ENOMEM;
		e->sources = sources;
		e->source_capacity = capacity;
	}
	s->added = (unsigned)e->source_count;
	e->sources[e->source_count++] = s;
	return 0;
}

int engine_add_source(struct jscan *e, const char *path, struct source **ret_source)
{
	struct source *s;
	int r = source_new(e, path, &s);

	if (r < 0)
		return r;
	r = engine_take_source(e, s);
	if (r < 0) {
		source_free(s);
		return r;
	}
	*ret_source = s;
	return 0;
}

/* Files are added before the scan begins. */
static int engine_check_adding(const struct jscan *e, unsigned flags, unsigned allowed)
{
	int r = engine_check(e);

	if (r < 0)
		return r;
	return (flags & ~allowed) || e->phase != PHASE_OPEN || e->wave_runs ? -EINVAL : 0;
}

int jscan_add_file(struct jscan *e, const char *path, unsigned flags)
{
	int r = engine_check_adding(e, flags, JSCAN_ADD_LITERAL);

	if (r < 0)
		return r;
	if (!path)
		return -EINVAL;
	return discover_file(e, path, flags & JSCAN_ADD_LITERAL);
}

int jscan_add_directory(struct jscan *e, const char *path, unsigned flags)
{
	struct jscan_places places = { .size = sizeof(places), .directory = path, .flags = flags };

	return path && !flags ? jscan_add_places(e, &places) : -EINVAL;
}

int jscan_add_fd(struct jscan *e, int fd, const char *name, unsigned flags)
{
	int r = engine_check_adding(e, flags, JSCAN_TAKE_FD);
	struct source *s;

	if (r < 0)
		return r;
	if (fd < 0 || !name)
		return -EINVAL;
	r = engine_add_source(e, name, &s);
	if (r < 0)
		return r;
	s->given_fd = fd;
	s->given = true;
	s->take_fd = flags & JSCAN_TAKE_FD;
	return 0;
}

int jscan_add_stream(struct jscan *e, int fd, const char *name)
{
	int r = engine_check_adding(e, 0, 0), copy;

	if (r < 0)
		return r;
	if (fd < 0 || !name)
		return -EINVAL;
	r = unpack_copy(fd, e->options.unpack_bytes_max, &copy);
	if (r < 0)
		return r;
	r = jscan_add_fd(e, copy, name, JSCAN_TAKE_FD);
	if (r < 0)
		close(copy);
	return r;
}

int jscan_add_system(struct jscan *e, unsigned flags)
{
	struct jscan_places places = { .size = sizeof(places) };

	if (flags & ~JSCAN_ADD_ALL_MACHINES)
		return -EINVAL;
	if (flags)
		places.flags = JSCAN_PLACES_ALL_MACHINES;
	return jscan_add_places(e, &places);
}

int jscan_add_places(struct jscan *e, const struct jscan_places *given)
{
	struct jscan_places places = { 0 };
	int r = engine_check_adding(e, 0, 0);

	if (r < 0)
		return r;
	if (!given)
		return -EINVAL;
	r = engine_take(given, given->size, &places, sizeof(places));
	if (r < 0)
		return r;
	if (places.flags & ~ENGINE_PLACES_FLAGS)
		return -EINVAL;
	return discover_places(e, &places);
}

size_t jscan_files_added(const struct jscan *e)
{
	return e->source_count;
}

size_t jscan_files_usable(const struct jscan *e)
{
	return e->usable_count;
}

/* ---- which entries ---------------------------------------------------------------------- */

/* The match has changed: what was looked up for it in the files is void. */
static void engine_forget_plans(struct jscan *e)
{
	for (size_t i = 0; i < e->source_count; i++) {
		plan_done(&e->sources[i]->plan);
		e->sources[i]->plan.ready = true;
	}
	engine_reposition(e);
}

int jscan_match(struct jscan *e, const void *data, size_t size)
{
	int r = engine_check(e);

	if (r < 0)
		return r;
	engine_forget_plans(e);
	return data ? match_add(&e->match, data, size) : -EINVAL;
}

int jscan_match_or(struct jscan *e)
{
	int r = engine_check(e);

	return r < 0 ? r : match_or(&e->match);
}

int jscan_match_and(struct jscan *e)
{
	int r = engine_check(e);

	return r < 0 ? r : match_and(&e->match);
}

void jscan_match_flush(struct jscan *e)
{
	if (engine_check(e) < 0)
		return;
	engine_forget_plans(e);
	match_done(&e->match);
}

int jscan_set_grep(struct jscan *e, const char *pattern, enum jscan_case sensitivity, char *text,
		   size_t size)
{
	struct grep *grep = NULL;
	bool sensitive;
	int r = engine_check(e);

	if (r < 0)
		return r;
	if (pattern) {
		sensitive = sensitivity == JSCAN_CASE_AUTO ? !grep_ignores_case(pattern) :
							     sensitivity == JSCAN_CASE_SENSITIVE;
		r = grep_new(pattern, sensitive, text, text ? size : 0, &grep);
		if (r < 0)
			return r;
	}
	grep_free(e->grep);
	e->grep = grep;
	engine_reposition(e);
	return 0;
}

const char *jscan_grep_failure(const struct jscan *e)
{
	return e->grep ? grep_failure(e->grep) : "";
}

int jscan_set_direction(struct jscan *e, enum jscan_direction direction)
{
	int r = engine_check(e);

	if (r < 0)
		return r;
	if (direction != JSCAN_FORWARD && (direction != JSCAN_BACKWARD || e->checkpoint))
		return -EINVAL;
	e->backward = direction == JSCAN_BACKWARD;
	engine_reposition(e);
	return 0;
}

int jscan_set_bounds(struct jscan *e, uint64_t since_usec, uint64_t until_usec)
{
	int r = engine_check(e);

	if (r < 0)
		return r;
	e->since = since_usec;
	e->until = until_usec;
	engine_reposition(e);
	return 0;
}

int jscan_set_complete(struct jscan *e, int complete)
{
	int r = engine_check(e);

	if (r < 0)
		return r;
	e->complete = complete != 0;
	engine_reposition(e);
	return 0;
}

int jscan_set_limit(struct jscan *e, uint64_t count)
{
	int r = engine_check(e);

	if (r < 0)
		return r;
	e->limit = count;
	return 0;
}

int jscan_set_tail(struct jscan *e, uint64_t count)
{
	int r = engine_check(e);

	if (r < 0)
		return r;
	if (e->checkpoint && count != UINT64_MAX)
		return -EINVAL;
	e->tail = count;
	engine_reposition(e);
	return 0;
}

/* Sets where reading starts. */
static int engine_seek(struct jscan *e, const struct engine_seek *seek)
{
	int r = engine_check(e);

	if (r < 0)
		return r;
	checkpoint_free(e);
	e->seek = *seek;
	e->seek.set = true;
	engine_reposition(e);
	return 0;
}

int jscan_seek_head(struct jscan *e)
{
	return engine_seek(e, &(const struct engine_seek){ .kind = SEEK_HEAD });
}

int jscan_seek_tail(struct jscan *e)
{
	return engine_seek(e, &(const struct engine_seek){ .kind = SEEK_TAIL });
}

int jscan_seek_realtime(struct jscan *e, uint64_t usec)
{
	return engine_seek(e, &(const struct engine_seek){ .kind = SEEK_PLACE, .has_realtime = true,
							   .realtime = usec });
}

int jscan_seek_monotonic(struct jscan *e, const jscan_id *boot_id, uint64_t usec)
{
	struct engine_seek seek = { .kind = SEEK_PLACE, .has_monotonic = true, .monotonic = usec };

	if (!boot_id)
		return -EINVAL;
	memcpy(seek.boot_id.bytes, boot_id->bytes, sizeof(seek.boot_id.bytes));
	return engine_seek(e, &seek);
}

int jscan_seek_seqnum(struct jscan *e, const jscan_id *seqnum_id, uint64_t seqnum)
{
	struct engine_seek seek = { .kind = SEEK_PLACE, .has_seqnum = true, .seqnum = seqnum };

	if (!seqnum_id)
		return -EINVAL;
	memcpy(seek.seqnum_id.bytes, seqnum_id->bytes, sizeof(seek.seqnum_id.bytes));
	return engine_seek(e, &seek);
}

int jscan_seek_cursor(struct jscan *e, const char *cursor)
{
	struct engine_seek seek;
	int r;

	if (!cursor)
		return -EINVAL;
	r = cursor_parse(cursor, &seek);
	return r < 0 ? r : engine_seek(e, &seek);
}

int jscan_seek_after_cursor(struct jscan *e, const char *cursor)
{
	int r = jscan_seek_cursor(e, cursor);

	if (r < 0)
		return r;
	e->seek.after = true;
	return 0;
}

int jscan_set_follow(struct jscan *e, int follow)
{
	int r = engine_check(e);

	if (r < 0)
		return r;
	if (!follow == !e->follow)
		return 0;
	if (e->phase != PHASE_OPEN || e->wave_runs)
		return -EINVAL;
	if (follow)
		return follow_new(e);
	follow_free(e);
	return 0;
}

void jscan_set_problem_handler(struct jscan *e, jscan_problem_fn handler, void *userdata)
{
	e->problem_handler = handler;
	e->problem_userdata = userdata;
}
