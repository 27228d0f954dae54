/* SPDX-License-Identifier: MIT */
/*
 * Operations by a pool of threads that call pread and open, for where rings are forbidden.
 *
 * Operations go from the io's queue to todo, to one worker, to finished, to the io's done list. The
 * lock covers both lists and the counts; a worker holds none while it reads. At most queue_depth
 * operations are in the pool. The first worker is made at once, so that a refusal is seen, the
 * others when there is more to do than workers that rest. All signals are blocked in workers: they
 * are the application's business.
 */
#include "uring/io-private.h"

#include <assert.h>
#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#define THREADS_DEFAULT 8u
#define THREADS_MAX 64u
#define THREADS_STACK_BYTES (128u << 10)

struct threads_state {
	pthread_mutex_t lock;
	pthread_cond_t work;     /* todo is not empty, or stopping */
	pthread_cond_t complete; /* finished is not empty; only signalled while waiting */
	struct list todo, finished;
	unsigned todo_count;
	unsigned idle_count; /* workers that wait for work */
	bool stopping, waiting;
	int event_fd;
	/* of the io's thread */
	unsigned worker_count, worker_max;
	pthread_t workers[THREADS_MAX];
};

/* A worker: takes operations until it is told to stop. */
static void *threads_worker(void *arg)
{
	struct threads_state *t = arg;

	pthread_mutex_lock(&t->lock);
	for (;;) {
		struct list *node;
		struct io_op *op;

		while (!t->stopping && list_is_empty(&t->todo)) {
			t->idle_count++;
			pthread_cond_wait(&t->work, &t->lock);
			t->idle_count--;
		}
		if (t->stopping)
			break;
		node = list_pop(&t->todo);
		t->todo_count--;
		pthread_mutex_unlock(&t->lock);

		op = container_of(node, struct io_op, link);
		if (op->kind == IO_OPEN)
			io_open_sync(op);
		else
			io_read_whole(op);

		pthread_mutex_lock(&t->lock);
		list_append(&t->finished, &op->link);
		if (t->waiting)
			pthread_cond_signal(&t->complete);
		io_event_set(t->event_fd);
	}
	pthread_mutex_unlock(&t->lock);
	return NULL;
}

/* Makes one more worker. */
static int threads_spawn(struct threads_state *t)
{
	pthread_attr_t attr;
	sigset_t all, old;
	int r;

	sigfillset(&all);
	pthread_attr_init(&attr);
	pthread_attr_setstacksize(&attr, THREADS_STACK_BYTES);
	pthread_sigmask(SIG_SETMASK, &all, &old);
	r = pthread_create(&t->workers[t->worker_count], &attr, threads_worker, t);
	pthread_sigmask(SIG_SETMASK, &old, NULL);
	pthread_attr_destroy(&attr);
	if (r == 0)
		t->worker_count++;
	return -r;
}

/* Stops the workers and frees the state. */
static void threads_free(struct threads_state *t)
{
	pthread_mutex_lock(&t->lock);
	t->stopping = true;
	pthread_cond_broadcast(&t->work);
	pthread_mutex_unlock(&t->lock);
	for (unsigned i = 0; i < t->worker_count; i++)
		pthread_join(t->workers[i], NULL);
	if (t->event_fd >= 0)
		close(t->event_fd);
	pthread_cond_destroy(&t->complete);
	pthread_cond_destroy(&t->work);
	pthread_mutex_destroy(&t->lock);
	free(t);
}

/* Sets the pool up with its first worker. */
static int threads_init(struct io *io, const char **ret_hint)
{
	struct threads_state *t = calloc(1, sizeof(*t));
	pthread_condattr_t attr;
	int r;

	if (!t)
		return -ENOMEM;
	pthread_mutex_init(&t->lock, NULL);
	pthread_condattr_init(&attr);
	pthread_condattr_setclock(&attr, CLOCK_MONOTONIC);
	pthread_cond_init(&t->work, &attr);
	pthread_cond_init(&t->complete, &attr);
	pthread_condattr_destroy(&attr);
	list_init(&t->todo);
	list_init(&t->finished);
	t->event_fd = -1;
	t->worker_max = io->options.threads > 0 ? io->options.threads : THREADS_DEFAULT;
	if (t->worker_max > THREADS_MAX)
		t->worker_max = THREADS_MAX;
	r = threads_spawn(t);
	if (r < 0) {
		*ret_hint = "no thread can be started: raise RLIMIT_NPROC or pids.max";
		threads_free(t);
		return r;
	}
	io->state = t;
	return 0;
}

/* Waits for a completion until the deadline; called and left with the lock held. */
static void threads_wait(struct threads_state *t, uint64_t deadline_usec)
{
	struct timespec deadline = {
		.tv_sec = (time_t)(deadline_usec / 1000000u),
		.tv_nsec = (long)(deadline_usec % 1000000u) * 1000,
	};
	int r = 0;

	t->waiting = true;
	while (list_is_empty(&t->finished) && r != ETIMEDOUT) {
		if (deadline_usec == UINT64_MAX)
			pthread_cond_wait(&t->complete, &t->lock);
		else
			r = pthread_cond_timedwait(&t->complete, &t->lock, &deadline);
	}
	t->waiting = false;
}

/* Waits for what is polled, and for a completion as well, of which the event descriptor tells. */
static void threads_poll(struct io *io, uint64_t deadline_usec)
{
	struct threads_state *t = io->state;
	int fd;

	pthread_mutex_lock(&t->lock);
	fd = io->in_flight > 0 ? io_event_make(&t->event_fd) : -1;
	if (!list_is_empty(&t->finished))
		deadline_usec = 0;
	pthread_mutex_unlock(&t->lock);
	io_poll_wait(io, fd, deadline_usec);
}

/* Hands over what is queued, takes back what is finished. */
static int threads_turn(struct io *io, bool wait, uint64_t timeout_usec)
{
	struct threads_state *t = io->state;
	uint64_t deadline_usec = wait ? io_deadline_usec(timeout_usec) : 0;
	struct list starting, finished, *node;
	unsigned starting_count = 0, lacking;
	struct io_op *op;

	list_init(&starting);
	list_init(&finished);
	while (io->in_flight < io->options.queue_depth && (op = io_take_queued(io))) {
		list_append(&starting, &op->link);
		starting_count++;
	}

	pthread_mutex_lock(&t->lock);
	io_event_clear(t->event_fd);
	list_splice(&t->todo, &starting);
	t->todo_count += starting_count;
	for (unsigned i = 0; i < starting_count && i < t->idle_count; i++)
		pthread_cond_signal(&t->work);
	lacking = t->todo_count > t->idle_count ? t->todo_count - t->idle_count : 0;
	pthread_mutex_unlock(&t->lock);

	/* A refusal only means fewer workers. */
	for (; lacking > 0 && t->worker_count < t->worker_max; lacking--)
		if (threads_spawn(t) < 0)
			break;

	if (io->poll_count > 0)
		threads_poll(io, wait ? deadline_usec : 0);
	pthread_mutex_lock(&t->lock);
	if (wait && io->in_flight > 0 && io->poll_count == 0 && list_is_empty(&io->done))
		threads_wait(t, deadline_usec);
	list_splice(&finished, &t->finished);
	pthread_mutex_unlock(&t->lock);

	while ((node = list_pop(&finished)))
		io_complete(io, container_of(node, struct io_op, link));
	return 0;
}

/* Makes the event descriptor. */
static int threads_event_fd(struct io *io)
{
	struct threads_state *t = io->state;
	int r;

	pthread_mutex_lock(&t->lock);
	r = io_event_make(&t->event_fd);
	pthread_mutex_unlock(&t->lock);
	return r < 0 ? r : io_poll_event_fd(io, r);
}

/* Takes back what no worker has begun. */
static void threads_cancel(struct io *io)
{
	struct threads_state *t = io->state;
	struct list todo, *node;

	list_init(&todo);
	pthread_mutex_lock(&t->lock);
	list_splice(&todo, &t->todo);
	t->todo_count = 0;
	pthread_mutex_unlock(&t->lock);
	while ((node = list_pop(&todo))) {
		struct io_op *op = container_of(node, struct io_op, link);

		op->result = -ECANCELED;
		io_complete(io, op);
	}
}

/* Ends the pool. */
static void threads_done(struct io *io)
{
	threads_free(io->state);
}

const struct io_method io_method_threads = {
	.name = "threads",
	.caches = true,
	.init = threads_init,
	.turn = threads_turn,
	.event_fd = threads_event_fd,
	.cancel = threads_cancel,
	.done = threads_done,
};
