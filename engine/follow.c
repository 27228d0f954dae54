/* SPDX-License-Identifier: MIT */
/*
 * Following live files. A follower makes passes: each reads what there is up to a snapshot, which
 * is the number of entries in every header, in the order of the merge; then it is idle until a
 * writer tells of more. Passes end before events are looked at, so that files are only ever
 * changed, added or dropped while no entry of theirs is on its way.
 *
 * Nothing that is in memory of a file outlives a pass: images are closed when a follower becomes
 * idle, and opened anew, by a descriptor that is kept, when their file has changed. So nothing that
 * a writer may have changed is ever trusted, and an idle follower holds next to no memory. Archived
 * files do not change: they are closed for good, and only their names are watched.
 *
 * New entries are tested against the match one by one, without a plan: a writer links an entry into
 * the sets of its values after it has counted it, so a plan would miss the last one. For the same
 * reason the last few entries of the first pass are tested again that way (FOLLOW_LAG).
 *
 * Where a new file is read from: one that was followed before, or a copy of it, from where it had
 * been read to; one whose entries are numbered as those of others, from what there was at the
 * beginning on; any other from its start, unless it is an archived one, which somebody has put
 * there: then it is located as journalctl does it, from the entry yielded last on; but from its
 * start if a checkpoint is kept, by which the next run would read from there.
 */
#include "engine/follow.h"

#include <assert.h>
#include <poll.h>
#include <stdlib.h>
#include <sys/eventfd.h>
#include <sys/stat.h>
#include <unistd.h>

#include "engine/checkpoint.h"
#include "engine/discover.h"

/* Entries that may be counted, but not linked into all sets yet: a writer appends one at a time. */
#define FOLLOW_LAG 4u
/* How often damage in a file that is being written is looked at again before it is believed. */
#define FOLLOW_DOUBTS_MAX 4u
/* Frames that are kept while idle. */
#define FOLLOW_IDLE_BYTES (2u << 20)

/* ---- setting up and ending ----------------------------------------------------------------- */

int follow_new(struct jscan *e)
{
	struct follow *f = calloc(1, sizeof(*f));

	if (!f)
		return -ENOMEM;
	f->inotify_fd = f->timer_fd = -1;
	f->stop_fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
	if (f->stop_fd < 0) {
		int error = -errno;

		free(f);
		return error;
	}
	e->follow = f;
	return 0;
}

void follow_close(struct jscan *e)
{
	struct follow *f = e->follow;

	for (size_t i = 0; f && i < f->arrival_count; i++)
		source_close(f->arrivals[i]);
}

void follow_free(struct jscan *e)
{
	struct follow *f = e->follow;

	if (!f)
		return;
	for (size_t i = 0; i < f->arrival_count; i++)
		if (!f->arrivals[i]->image_there) /* else: in a child after fork() */
			source_free(f->arrivals[i]);
	follow_watch_end(f);
	close(f->stop_fd);
	free(f->arrivals);
	free(f->marks);
	free(f);
	e->follow = NULL;
}

int follow_begin(struct jscan *e)
{
	int r;

	if (e->follow->watching || e->wave_runs)
		return 0;
	r = follow_watch_begin(e);
	return r < 0 ? r : discover_again(e);
}

/* Notes the numbers that a file has reached. */
static int follow_mark(struct follow *f, const struct source *s)
{
	if (s->seqnum_id >= f->mark_count) {
		uint32_t count = s->seqnum_id + 16;
		uint64_t *marks = reallocarray(f->marks, count, sizeof(*marks));

		if (!marks)
			return -ENOMEM;
		memset(marks + f->mark_count, 0, (count - f->mark_count) * sizeof(*marks));
		f->marks = marks;
		f->mark_count = count;
	}
	if (f->marks[s->seqnum_id] < s->journal.header.tail_entry_seqnum)
		f->marks[s->seqnum_id] = s->journal.header.tail_entry_seqnum;
	return 0;
}

int follow_opened(struct jscan *e)
{
	for (size_t i = 0; i < e->source_count; i++) {
		int r = e->sources[i]->error ? 0 : follow_mark(e->follow, e->sources[i]);

		if (r < 0)
			return r;
	}
	e->follow->woken = true; /* something may have happened since the watches were set */
	return 0;
}

void follow_keep_open(struct source *s)
{
	struct jscan *e = s->engine;
	struct follow *f = e->follow;

	if (!f || s->given_fd >= 0 || s->state != SOURCE_OPEN ||
	    s->journal.header.state == JOURNAL_STATE_ARCHIVED ||
	    f->kept_count >= e->options.files_open_max / 2)
		return;
	s->given_fd = s->open_op.file.fd;
	s->take_fd = true;
	assert(e->open_count > 0);
	e->open_count--;
	f->kept_count++;
}

/* Closes a kept descriptor of a file that will not be read any more, or whose name does. */
static void follow_let_go(struct source *s)
{
	if (s->given || s->given_fd < 0 || s->unpacked || s->state == SOURCE_OPEN ||
	    s->state == SOURCE_CLOSING)
		return;
	close(s->given_fd);
	s->given_fd = -1;
	s->take_fd = false;
	s->engine->follow->kept_count--;
}

bool follow_doubts_entry(struct source *s, uint64_t offset)
{
	if (!s->engine->follow || s->journal.header.state == JOURNAL_STATE_ARCHIVED ||
	    s->walk.backward || s->plan.root || s->doubted == offset)
		return false;
	s->doubted = offset;
	s->walk.index -= s->walk.count - s->walk.at;
	s->walk.at = s->walk.count = 0;
	source_forget(s, 0, s->window.size_bytes);
	return true;
}

bool follow_doubts(struct jscan *e, struct source *s)
{
	struct follow *f = e->follow;
	bool soft = false;

	if (!f || s->error || s->state != SOURCE_OPEN ||
	    s->journal.header.state == JOURNAL_STATE_ARCHIVED)
		return false;
	for (unsigned i = 0; i < e->reader.damage_count; i++)
		soft = soft || format_error_is_soft(e->reader.damage[i].error);
	if (!soft || f->doubts++ >= FOLLOW_DOUBTS_MAX) {
		f->doubts = 0;
		return false;
	}
	source_forget(s, 0, s->window.size_bytes);
	e->held_back = true; /* the writer may need a moment */
	return true;
}

/* ---- being idle ---------------------------------------------------------------------------- */

/* Waits for a descriptor, unless it is waited for already. */
static void follow_wait_for(struct jscan *e, struct follow_poll *p, int fd, uint32_t events)
{
	if (p->waits || fd < 0)
		return;
	p->op = (struct io_op){ .kind = IO_POLL, .file = { .fd = fd }, .events = events };
	p->waits = true;
	io_submit(&e->io, &p->op);
}

/* Watches for the readers of outputs to go away. */
static void follow_wait_for_outputs(struct jscan *e)
{
	struct follow *f = e->follow;
	struct stat st;

	for (size_t i = 0; i < e->sinks.count && f->output_count == 0; i++) {
		struct sink *sink = e->sinks.sinks[i];

		if (sink->fd >= 0 && f->output_count < FOLLOW_OUTPUTS_MAX &&
		    fstat(sink->fd, &st) == 0 && !S_ISREG(st.st_mode))
			f->outputs[f->output_count++].sink = sink;
	}
	for (size_t i = 0; i < f->output_count && e->sinks_begun; i++)
		follow_wait_for(e, &f->outputs[i].poll, f->outputs[i].sink->fd, 0);
}

void follow_polled(struct jscan *e, struct io_op *op)
{
	struct follow *f = e->follow;
	uint64_t count;

	f->idle = false;
	if (op == &f->event.op || op == &f->timer.op || op == &f->stop.op) {
		container_of(op, struct follow_poll, op)->waits = false;
		f->woken = f->woken || op != &f->stop.op;
		if (op == &f->stop.op && read(f->stop_fd, &count, sizeof(count)) < 0)
			assert(errno == EAGAIN || errno == EINTR);
		return;
	}
	for (size_t i = 0; i < f->output_count; i++) {
		struct follow_output *o = &f->outputs[i];

		/* Half a connection that is shut is no reason to stop, and not asked for again. */
		if (op != &o->poll.op || !(op->result > 0 && op->result & (POLLERR | POLLHUP)))
			continue;
		o->poll.waits = false;
		o->sink->stopped = true;
	}
}

void follow_stop(struct jscan *e)
{
	uint64_t one = 1;

	if (write(e->follow->stop_fd, &one, sizeof(one)) < 0)
		return; /* it is readable already */
}

/* Closes what is in memory. 0; -EAGAIN: reads are still under way. */
static int follow_close_images(struct jscan *e)
{
	struct follow *f = e->follow;
	bool busy = false;

	for (size_t i = 0; i < e->source_count + f->arrival_count; i++) {
		struct source *s = i < e->source_count ? e->sources[i] :
							 f->arrivals[i - e->source_count];

		if (s->state == SOURCE_OPEN && s->refs == 0)
			source_close(s);
		busy = busy || (s->state != SOURCE_CLOSED && s->state != SOURCE_FAILED);
		if (s->state == SOURCE_CLOSED && s->journal.header.state == JOURNAL_STATE_ARCHIVED)
			follow_let_go(s);
	}
	image_pool_shrink(&e->pool, FOLLOW_IDLE_BYTES);
	return busy ? -EAGAIN : 0;
}

/* Remembers a file that is not followed any more. */
static void follow_remember(struct follow *f, const struct source *s)
{
	if (s->header_known)
		f->gone[f->gone_count++ % FOLLOW_GONE_MAX] =
			(struct follow_gone){ s->journal.header.file_id, s->snapshot };
}

/* Frees the sources that have been dropped, and numbers the others. */
static void follow_sweep(struct jscan *e)
{
	struct follow *f = e->follow;
	size_t kept = 0;

	for (size_t i = 0; i < e->source_count; i++) {
		struct source *s = e->sources[i];

		if (!s->dropped || s->refs > 0 ||
		    (s->state != SOURCE_CLOSED && s->state != SOURCE_FAILED)) {
			s->number = (uint32_t)kept;
			e->sources[kept++] = s;
			continue;
		}
		follow_let_go(s);
		if (!s->error) {
			follow_remember(f, s);
			e->usable_count--;
		}
		if (e->checkpoint)
			checkpoint_leave(s);
		if (e->merge.last_source == s)
			e->merge.last_source = NULL;
		source_free(s);
	}
	e->source_count = kept;
}

/* ---- waking -------------------------------------------------------------------------------- */

/* A file by its ID that has been followed, how far it was read: true if there is one. */
static bool follow_was_read(const struct jscan *e, const struct source *s, uint64_t *ret_snapshot)
{
	const struct follow *f = e->follow;
	size_t count = f->gone_count < FOLLOW_GONE_MAX ? f->gone_count : FOLLOW_GONE_MAX;

	for (size_t i = 0; i < count; i++) {
		if (id128_equal(&f->gone[i].file_id, &s->journal.header.file_id)) {
			*ret_snapshot = f->gone[i].snapshot;
			return true;
		}
	}
	return false;
}

/* The source that a file is a copy of, or NULL. */
static struct source *follow_find_twin(struct jscan *e, const struct source *s)
{
	for (size_t i = 0; i < e->source_count; i++) {
		struct source *other = e->sources[i];

		if (other != s && !other->error && !other->dropped && !other->given &&
		    id128_equal(&other->journal.header.file_id, &s->journal.header.file_id))
			return other;
	}
	return NULL;
}

/* Step: finds where a new file is to be read from. */
static int follow_step_arrive(struct source *s)
{
	struct jscan *e = s->engine;
	struct follow *f = e->follow;
	struct source *twin;
	uint64_t index = 0;
	int r = source_step_header(s);

	if (r < 0)
		return r;
	twin = follow_find_twin(e, s);
	if (twin) {
		index = twin->snapshot;
	} else if (follow_was_read(e, s, &index)) {
		;
	} else if (e->checkpoint) {
		index = 0; /* of a file that is not known nothing has been read */
	} else if (s->seqnum_id < f->mark_count && f->marks[s->seqnum_id] > 0) {
		r = source_find_after(s, f->marks[s->seqnum_id], &index);
	} else if (s->journal.header.state == JOURNAL_STATE_ARCHIVED && e->last.known) {
		r = source_find_position(s, &e->last, &index);
	}
	if (r == -EAGAIN || r == -ENOMEM)
		return r;
	s->snapshot = r < 0 ? s->chain.count : index;
	return 0;
}

/* Step: looks at a file that has changed. What cannot be understood may be half written: there will
 * be another event when it is whole. */
static int follow_step_refresh(struct source *s)
{
	struct id128 file_id = s->journal.header.file_id;
	int r = source_step_refresh(s);

	if (r == -EAGAIN)
		return r;
	if (r == 0 && !id128_equal(&file_id, &s->journal.header.file_id)) {
		/* It has been written over by another one. */
		s->snapshot = 0;
		s->walk.last_offset = 0;
	}
	return 0;
}

/* Runs a step on all that have changed or arrived. 0 when all have answered, -EAGAIN. */
static int follow_read_headers(struct jscan *e)
{
	struct follow *f = e->follow;
	bool lacking = false;

	for (size_t i = 0; i < e->source_count + f->arrival_count; i++) {
		struct source *s = i < e->source_count ? e->sources[i] :
							 f->arrivals[i - e->source_count];
		int r;

		if (s->error || s->dropped || !(s->stale || s->arriving) || s->looked_at)
			continue;
		r = source_try(s, s->arriving ? follow_step_arrive : follow_step_refresh);
		if (r == -ENOMEM)
			return r;
		if ((r == -EAGAIN || r == -EBUSY) && !s->error)
			lacking = true;
		else
			s->looked_at = true;
	}
	return lacking ? -EAGAIN : 0;
}

/* Where a source goes on that has been read up to a snapshot. */
static void follow_resume(struct jscan *e, struct source *s)
{
	uint64_t index = s->snapshot;

	s->replayed_end = 0;
	/* Up to now by its plan: see FOLLOW_LAG. */
	if (s->plan.root && (s->walk.last_offset ||
			     (e->seek.kind == SEEK_HEAD && e->tail == UINT64_MAX) ||
			     (e->seek.kind == SEEK_CHECKPOINT && e->since == 0))) {
		s->replayed_end = s->snapshot;
		index = index > FOLLOW_LAG ? index - FOLLOW_LAG : 0;
	}
	if (s->chain.count > index)
		source_resume(s, index);
	s->snapshot = s->chain.count;
}

/* Takes over what has been found out about a source. True if there is more to read in it. */
static bool follow_settle(struct jscan *e, struct source *s)
{
	s->stale = s->looked_at = false;
	s->newest_done = false;
	if (s->error) {
		s->dropped = true;
		return false;
	}
	follow_resume(e, s);
	/* What is left of it is in the snapshot: its name may come back with another inode. */
	s->dropped = s->gone;
	return s->candidate == CANDIDATE_UNKNOWN;
}

/* An arrival becomes one of the engine's sources. */
static int follow_admit(struct jscan *e, struct source *s)
{
	struct source *twin = follow_find_twin(e, s);
	int r;

	if (twin && !twin->gone && !twin->dropped) {
		s->dropped = true; /* a copy: the one that is there is followed */
		return 0;
	}
	if (twin)
		twin->dropped = true;
	r = engine_take_source(e, s);
	if (r < 0)
		return r;
	checkpoint_join(s);
	s->arriving = false;
	s->walk.located = true;
	s->candidate = CANDIDATE_NONE;
	e->usable_count++;
	return 0;
}

/* Closes and frees an arrival that has come to nothing. False: it is not closed yet. */
static bool follow_refuse(struct source *s)
{
	s->refs = 0;
	if (s->state != SOURCE_CLOSED && s->state != SOURCE_FAILED)
		source_close(s);
	if (s->state != SOURCE_CLOSED && s->state != SOURCE_FAILED)
		return false;
	follow_let_go(s);
	source_free(s);
	return true;
}

/* All headers have been read. 1: there is more to be read; 0. */
static int follow_go_on(struct jscan *e)
{
	struct follow *f = e->follow;
	size_t kept = 0;
	bool more = false;

	for (size_t i = 0; i < f->arrival_count; i++) {
		struct source *s = f->arrivals[i];
		int r = s->error || s->dropped ? 0 : follow_admit(e, s);

		if (r < 0)
			return r;
		if (!s->arriving)
			s->stale = true;
		else if (!follow_refuse(s))
			f->arrivals[kept++] = s;
	}
	f->arrival_count = kept;
	for (size_t i = 0; i < kept; i++)
		f->arrivals[i]->dropped = true;
	for (size_t i = 0; i < e->source_count; i++) {
		struct source *s = e->sources[i];

		s->number = (uint32_t)i;
		if (s->stale)
			more = follow_settle(e, s) || more;
	}
	if (!more)
		return 0;
	e->newest_known = false;
	e->resumed = true;
	e->phase = PHASE_NEWEST;
	return 1;
}

int follow_step(struct jscan *e)
{
	struct follow *f = e->follow;
	int r;

	f->idle = false;
	for (;;) {
		if (!f->reading) {
			r = follow_close_images(e);
			if (r < 0)
				return r;
			follow_sweep(e);
			if (!f->woken)
				break;
			f->woken = false;
			r = follow_read_events(e);
			if (r < 0)
				return r;
			f->reading = true;
		}
		r = follow_read_headers(e);
		if (r < 0)
			return r;
		f->reading = false;
		r = follow_go_on(e);
		if (r != 0)
			return r;
	}
	follow_wait_for(e, &f->event, f->inotify_fd, POLLIN);
	follow_wait_for(e, &f->timer, f->timer_fd, POLLIN);
	follow_wait_for(e, &f->stop, f->stop_fd, POLLIN);
	follow_wait_for_outputs(e);
	f->idle = true;
	return -EAGAIN;
}
