/* SPDX-License-Identifier: MIT */
/*
 * Operations by io_uring; the only file that knows liburing.
 *
 * An operation in flight is in one of three places: on `again` (its next attempt is to be
 * prepared), or on `flying` (it has a submission entry, which the kernel has taken or will take at
 * the next submit; in the order of preparation; polls among them are not counted), or already
 * completed. A turn fills the submission ring from `again` and the io's queue, enters the kernel
 * once, and moves what has completed.
 * `flying` never outgrows either ring, so that neither can overflow.
 *
 * Opens are openat on the ring (the kernel opens what is in its caches at once and gives the rest
 * to its workers, so that hundreds are concurrent) followed by a plain fstat of the descriptor,
 * which never reads: statx on the ring would always go through a worker.
 *
 * Files whose file system has no non-blocking reads are read with pread inside the turn, unless the
 * operation is marked async: the ring would start a kernel thread for every read.
 *
 * A ring that dies: if submitting fails for good, the ring is given up. Entries that the kernel has
 * not taken are done by pread. Those it has are cancelled, and waited for, for a limited time, by
 * looking at the completion ring in memory. What has not come back by then is read again by pread
 * and answered, and the ring is kept (leaked, at the end) rather than closed: closing it would let
 * late work run. From then on the io works like the sync method.
 */
#include "uring/io-private.h"

#include <assert.h>
#include <errno.h>
#include <fcntl.h>
#include <liburing.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#define URING_ENTRIES_MIN 8u
#define URING_ENTRIES_MAX 4096u
#define URING_REAP_BATCH 64u

/* Kernel threads for opens that must read the disk, and for async reads. */
#define URING_WORKERS_BOUNDED 32u
#define URING_WORKERS_UNBOUNDED 4u

/* Submitting may fail in passing, for want of memory: so often, a millisecond apart. */
#define URING_SUBMIT_TRIES 64u

/* How long a dead ring's operations are waited for. */
#define URING_GRACE_USEC 1000000u

#define URING_FEATURES (IORING_FEAT_NODROP | IORING_FEAT_SUBMIT_STABLE | IORING_FEAT_EXT_ARG)

struct uring_state {
	struct io_uring ring;
	struct list again;  /* to be prepared, before what is queued */
	struct list flying; /* prepared */
	unsigned flying_count, flying_max;
	unsigned submit_failures; /* in a row */
	int event_fd;
	bool dead; /* the ring is not used any more */
	bool lost; /* ... and the kernel may still hold operations: it is not closed */
};

/* What to do about a refusal. */
static const char *uring_hint(int error)
{
	switch (error) {
	case -ENOSYS:
		return "the kernel has no io_uring";
	case -EPERM:
	case -EACCES:
		return "io_uring is forbidden: see sysctl kernel.io_uring_disabled, or the "
		       "container's seccomp filter";
	case -ENOMEM:
		return "not enough memory for a ring: raise RLIMIT_MEMLOCK (ulimit -l)";
	case -EMFILE:
	case -ENFILE:
		return "too many open files: raise RLIMIT_NOFILE (ulimit -n)";
	case -EOPNOTSUPP:
		return "the kernel's io_uring is too old: Linux 5.11 or later is needed";
	default:
		return "io_uring cannot be set up: another method will do";
	}
}

/* Makes a ring, with the best flags that this kernel knows and as many entries as it lets us. */
static int uring_setup(struct io_uring *ring, unsigned entries)
{
	/* From 6.1; 6.0; 5.19; before. */
	static const unsigned ladder[] = {
		IORING_SETUP_SINGLE_ISSUER | IORING_SETUP_DEFER_TASKRUN |
			IORING_SETUP_TASKRUN_FLAG | IORING_SETUP_SUBMIT_ALL,
		IORING_SETUP_SINGLE_ISSUER | IORING_SETUP_COOP_TASKRUN | IORING_SETUP_TASKRUN_FLAG |
			IORING_SETUP_SUBMIT_ALL,
		IORING_SETUP_COOP_TASKRUN | IORING_SETUP_TASKRUN_FLAG | IORING_SETUP_SUBMIT_ALL,
		0,
	};
	size_t rung = 0;

	for (;;) {
		int r = io_uring_queue_init(entries, ring, ladder[rung]);

		if (r == -EINVAL && rung + 1 < sizeof(ladder) / sizeof(ladder[0]))
			rung++;
		else if (r == -ENOMEM && entries > URING_ENTRIES_MIN)
			entries /= 2;
		else
			return r;
	}
}

/* Sets up a ring as large as the queue is deep. */
static int uring_init(struct io *io, const char **ret_hint)
{
	unsigned workers[2] = { URING_WORKERS_BOUNDED, URING_WORKERS_UNBOUNDED };
	struct uring_state *s = calloc(1, sizeof(*s));
	unsigned entries = URING_ENTRIES_MIN;
	int r;

	if (!s) {
		*ret_hint = uring_hint(-ENOMEM);
		return -ENOMEM;
	}
	while (entries < io->options.queue_depth && entries < URING_ENTRIES_MAX)
		entries *= 2;
	r = uring_setup(&s->ring, entries);
	if (r < 0)
		goto fail;
	if ((s->ring.features & URING_FEATURES) != URING_FEATURES) {
		io_uring_queue_exit(&s->ring);
		r = -EOPNOTSUPP;
		goto fail;
	}
	/* Refused before 5.15: then the kernel's own limits hold. */
	(void)io_uring_register_iowq_max_workers(&s->ring, workers);
	list_init(&s->again);
	list_init(&s->flying);
	s->flying_max = s->ring.sq.ring_entries;
	if (s->flying_max > io->options.queue_depth)
		s->flying_max = io->options.queue_depth;
	assert(s->flying_max <= s->ring.cq.ring_entries);
	s->event_fd = -1;
	io->state = s;
	return 0;
fail:
	free(s);
	*ret_hint = uring_hint(r);
	return r;
}

/* Whether an operation is better done by plain system calls. */
static bool uring_op_is_sync(const struct io_op *op)
{
	return op->kind == IO_READ && !op->file.nowait && !op->async;
}

/* Fills a submission entry for an attempt at a read. */
static void uring_prepare_read(struct io_uring_sqe *sqe, struct io_op *op)
{
	if (op->progress == 0)
		io_cache_before(op);
	io_uring_prep_read(sqe, op->file.fd, op->buffer + op->progress,
			   op->size_bytes - op->progress, op->offset + op->progress);
	sqe->rw_flags = io_cache_flags(op);
}

/* Fills a submission entry. */
static void uring_prepare(struct uring_state *s, struct io_op *op)
{
	struct io_uring_sqe *sqe = io_uring_get_sqe(&s->ring);

	assert(sqe);
	if (op->kind == IO_OPEN && op->file.fd >= 0)
		io_uring_prep_read(sqe, op->file.fd, op->buffer, op->size_bytes, 0);
	else if (op->kind == IO_OPEN)
		io_uring_prep_openat(sqe, AT_FDCWD, op->path, io_open_flags(op), 0);
	else if (op->kind == IO_POLL)
		io_uring_prep_poll_add(sqe, op->file.fd, op->events);
	else
		uring_prepare_read(sqe, op);
	if (op->async)
		sqe->flags |= IOSQE_ASYNC;
	io_uring_sqe_set_data(sqe, op);
	list_append(&s->flying, &op->link);
	s->flying_count += op->kind != IO_POLL;
}

/* Prepares what there is room for; does what is better done synchronously, within limits. */
static void uring_fill(struct io *io, bool *ret_left)
{
	struct uring_state *s = io->state;
	uint64_t sync_bytes = 0;
	struct list *node;
	struct io_op *op;

	*ret_left = false;
	while (s->flying_count < s->flying_max && (node = list_pop(&s->again)))
		uring_prepare(s, container_of(node, struct io_op, link));
	while (s->flying_count < s->flying_max && io->queued_count > 0) {
		op = container_of(io->queued.next, struct io_op, link);
		if (!uring_op_is_sync(op)) {
			uring_prepare(s, io_take_queued(io));
			continue;
		}
		if (sync_bytes >= IO_TURN_SYNC_BYTES) {
			*ret_left = true;
			break;
		}
		sync_bytes += op->size_bytes;
		io_do_sync(io, io_take_queued(io));
	}
	/* These take what room the others leave in the submission ring. */
	while (!list_is_empty(&io->polls) && io_uring_sq_space_left(&s->ring) > 0)
		uring_prepare(s, container_of(list_pop(&io->polls), struct io_op, link));
}

/* Whether a file that has been opened is read from now. */
static bool uring_reads_head(struct io *io, struct io_op *op)
{
	if (!op->buffer || op->result < 0 || io->draining ||
	    !io_probe_nowait(io, op->file.fd, op->stat.device))
		return false;
	io->statistics.reads++;
	return true;
}

/* Takes the result of one attempt: the operation is complete, or goes round again. */
static void uring_take(struct io *io, struct io_op *op, int raw)
{
	struct uring_state *s = io->state;
	bool complete;

	if (op->kind == IO_POLL) {
		op->result = raw;
		io_complete_poll(io, op);
		return;
	}
	list_remove(&op->link);
	s->flying_count--;
	if (op->kind == IO_OPEN && op->file.fd >= 0) {
		op->result = raw > 0 ? raw : 0; /* what is wrong shows when it is read anew */
		complete = true;
	} else if (op->kind == IO_OPEN) {
		complete = io_open_step(op, raw);
		if (complete && uring_reads_head(io, op)) {
			list_append(&s->again, &op->link);
			return;
		}
	} else {
		enum io_step step = io_read_step(op, raw);

		if (step == IO_STEP_SYNC) {
			io->statistics.fallbacks++;
			if (raw != -EAGAIN) {
				io_probe_refute(io, op->file.fd);
				op->file.nowait = false;
			}
			io_read_sync(op);
		}
		complete = step != IO_STEP_AGAIN;
		if (complete)
			io_cache_after(op);
	}
	if (!complete && io->draining) {
		op->result = -ECANCELED;
		complete = true;
	}
	if (complete) {
		io_complete(io, op);
	} else {
		io->statistics.retries++;
		list_append(&s->again, &op->link);
	}
}

/* Moves what has completed; runs nothing of anybody's. */
static void uring_reap(struct io *io)
{
	struct uring_state *s = io->state;
	struct io_uring_cqe *cqes[URING_REAP_BATCH];
	unsigned count;

	do {
		count = io_uring_peek_batch_cqe(&s->ring, cqes, URING_REAP_BATCH);
		for (unsigned i = 0; i < count; i++) {
			struct io_op *op = io_uring_cqe_get_data(cqes[i]);

			/* That of a cancellation has none. */
			if (op)
				uring_take(io, op, cqes[i]->res);
		}
		io_uring_cq_advance(&s->ring, count);
	} while (count == URING_REAP_BATCH);
}

/* Sleeps for a millisecond. */
static void uring_nap(void)
{
	struct timespec nap = { 0, 1000000 };

	nanosleep(&nap, NULL);
}

/* Cancels everything and waits for it: 6.0, else -EINVAL. */
static void uring_cancel_wait(struct uring_state *s)
{
	struct io_uring_sync_cancel_reg reg = {
		.fd = -1,
		.flags = IORING_ASYNC_CANCEL_ANY,
		.timeout = { .tv_sec = 0, .tv_nsec = URING_GRACE_USEC * 1000ll / 2 },
	};

	(void)io_uring_register_sync_cancel(&s->ring, &reg);
}

/* Gives the ring up; see the head of this file. */
static void uring_die(struct io *io)
{
	struct uring_state *s = io->state;
	unsigned untaken = io_uring_sq_ready(&s->ring);
	uint64_t deadline_usec;
	struct list sync, *node;

	s->dead = true;
	list_init(&sync);
	/* The last ones prepared are those that the kernel has not taken. */
	for (; untaken > 0 && !list_is_empty(&s->flying); untaken--) {
		node = s->flying.prev;
		list_remove(node);
		list_prepend(&sync, node);
		s->flying_count -= container_of(node, struct io_op, link)->kind != IO_POLL;
	}
	if (s->flying_count > 0)
		uring_cancel_wait(s);
	deadline_usec = io_deadline_usec(URING_GRACE_USEC);
	uring_reap(io);
	while (s->flying_count > 0 && io_now_usec() < deadline_usec) {
		uring_nap();
		uring_reap(io);
	}
	s->lost = s->flying_count > 0;
	s->flying_count = 0;
	list_splice(&s->again, &s->flying);
	list_splice(&s->again, &sync);
	while ((node = list_pop(&s->again))) {
		struct io_op *op = container_of(node, struct io_op, link);

		if (op->kind == IO_POLL) {
			list_append(&io->polls, node); /* by poll(2) from now on */
			continue;
		}
		io->statistics.fallbacks++;
		io_do_sync(io, op);
	}
	io_event_set(s->event_fd);
}

/* Enters the kernel: submits, and waits until the deadline if WAIT. 1 if there is nothing more to
 * wait for, because the time is over or a signal came; a hard error ends the ring. */
static int uring_enter(struct io *io, bool wait, uint64_t deadline_usec)
{
	struct uring_state *s = io->state;
	struct __kernel_timespec ts, *timeout = NULL;
	struct io_uring_cqe *cqe;
	int r;

	if (wait && deadline_usec != UINT64_MAX) {
		uint64_t now = io_now_usec(), left = deadline_usec > now ? deadline_usec - now : 0;

		ts.tv_sec = (long long)(left / 1000000u);
		ts.tv_nsec = (long long)(left % 1000000u) * 1000;
		timeout = &ts;
	}
	if (wait)
		r = io_uring_submit_and_wait_timeout(&s->ring, &cqe, 1, timeout, NULL);
	else if (io_uring_sq_ready(&s->ring) > 0)
		r = io_uring_submit(&s->ring);
	else
		r = 0;

	if (r >= 0) {
		s->submit_failures = 0;
		return 0;
	}
	if (r == -ETIME || r == -EINTR)
		return 1;
	if ((r == -EAGAIN || r == -EBUSY || r == -ENOMEM) &&
	    ++s->submit_failures < URING_SUBMIT_TRIES) {
		/* It helps to take what has completed; where there is nothing, to wait a little. */
		if (io_uring_cq_ready(&s->ring) == 0)
			uring_nap();
		return 0;
	}
	uring_die(io);
	return 1;
}

/* One turn; see struct io_method. */
static int uring_turn(struct io *io, bool wait, uint64_t timeout_usec)
{
	struct uring_state *s = io->state;
	uint64_t deadline_usec = wait ? io_deadline_usec(timeout_usec) : 0;
	bool left, sleep;
	int r;

	io_event_clear(s->event_fd);
	do {
		if (s->dead) {
			io_turn_sync(io);
			if (io->poll_count > 0)
				io_poll_wait(io, -1,
					     list_is_empty(&io->done) && !io_is_busy(io) ?
						     deadline_usec : 0);
			/* A foreign loop is not told of what is polled: it has to look. */
			left = io->queued_count > 0 || io->poll_count > 0;
			break;
		}
		uring_fill(io, &left);
		sleep = wait && list_is_empty(&io->done) &&
			(s->flying_count > 0 || io->poll_count > 0);
		r = uring_enter(io, sleep, deadline_usec);
		if (!s->dead)
			uring_reap(io);
		/* Attempts that go round again are no completions. */
	} while (r == 0 && list_is_empty(&io->done) &&
		 (wait ? io_can_wait(io) : !s->dead && !list_is_empty(&s->again)));

	/* What goes round again, or is read here, waits for a turn, not for the kernel. */
	if (left || !list_is_empty(&s->again))
		io_event_set(s->event_fd);
	return 0;
}

/* Makes the event descriptor. The ring's own does not wake pollers under DEFER_TASKRUN. */
static int uring_event_fd(struct io *io)
{
	struct uring_state *s = io->state;
	int r, fd;

	if (s->event_fd >= 0)
		return s->event_fd;
	fd = io_event_make(&s->event_fd);
	if (fd < 0 || s->dead)
		return fd;
	r = io_uring_register_eventfd(&s->ring, fd);
	if (r < 0) {
		close(fd);
		s->event_fd = -1;
		return r;
	}
	return fd;
}

/* Asks the kernel to cancel everything that it has. */
static void uring_cancel(struct io *io)
{
	struct uring_state *s = io->state;
	struct io_uring_sqe *sqe;
	struct list *node;

	while ((node = list_pop(&s->again))) {
		struct io_op *op = container_of(node, struct io_op, link);

		op->result = op->kind == IO_OPEN && op->file.fd >= 0 ? 0 : -ECANCELED;
		io_complete(io, op);
	}
	if (s->dead || list_is_empty(&s->flying))
		return;
	/* Without room there is none: what is in flight ends by itself, but for polls. */
	if (io->poll_count > 0)
		(void)io_uring_submit(&s->ring);
	sqe = io_uring_get_sqe(&s->ring);
	if (!sqe)
		return;
	io_uring_prep_cancel64(sqe, 0, IORING_ASYNC_CANCEL_ANY);
	io_uring_sqe_set_data(sqe, NULL);
}

/* Ends the ring. */
static void uring_done(struct io *io)
{
	struct uring_state *s = io->state;

	if (!s->lost)
		io_uring_queue_exit(&s->ring);
	if (s->event_fd >= 0)
		close(s->event_fd);
	free(s);
}

const struct io_method io_method_uring = {
	.name = "uring",
	.caches = true,
	.init = uring_init,
	.turn = uring_turn,
	.event_fd = uring_event_fd,
	.cancel = uring_cancel,
	.done = uring_done,
};
