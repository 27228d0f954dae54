/* SPDX-License-Identifier: MIT */
/*
 * The threads, their queue, and the epochs. Nothing here knows what the work is. The lock is held
 * for a few instructions at a time; a thread is woken only where one sleeps.
 */
#include "engine/workers.h"

#include <assert.h>
#include <errno.h>
#include <sched.h>
#include <signal.h>
#include <stdlib.h>

#include "formats/format.h"

/* How often the owner looks whether a thread has left before it gives way to others. */
#define WORKERS_SPINS 200u

/* Takes the first work of the queue, which is not empty. The lock is held. */
static struct work *workers_pop(struct workers *w)
{
	struct work *work = container_of(list_pop(&w->queue), struct work, link);

	atomic_store_explicit(&work->state, WORK_RUNNING, memory_order_relaxed);
	return work;
}

/* A thread. */
static void *workers_main(void *argument)
{
	struct worker *self = argument;
	struct workers *w = self->workers;

	pthread_mutex_lock(&w->lock);
	for (;;) {
		struct work *work;

		while (list_is_empty(&w->queue) && !w->end) {
			w->idle_count++;
			pthread_cond_wait(&w->more, &w->lock);
			w->idle_count--;
		}
		if (list_is_empty(&w->queue))
			break;
		work = workers_pop(w);
		pthread_mutex_unlock(&w->lock);
		w->fn(w->userdata, self->place, work);
		assert(atomic_load_explicit(&self->inside, memory_order_relaxed) == 0);
		pthread_mutex_lock(&w->lock);
		atomic_store_explicit(&work->state, WORK_DONE, memory_order_release);
		if (w->owner_waits)
			pthread_cond_signal(&w->done);
	}
	pthread_mutex_unlock(&w->lock);
	return NULL;
}

int workers_start(struct workers *w, unsigned count, work_fn fn, void *userdata)
{
	sigset_t all, before;
	int r = 0;

	*w = (struct workers){ .fn = fn, .userdata = userdata };
	atomic_init(&w->epoch, 1);
	list_init(&w->queue);
	w->threads = aligned_alloc(_Alignof(struct worker), count * sizeof(*w->threads));
	if (!w->threads)
		return -ENOMEM;
	pthread_mutex_init(&w->lock, NULL);
	pthread_cond_init(&w->more, NULL);
	pthread_cond_init(&w->done, NULL);
	/* Signals are for the program's own threads. */
	sigfillset(&all);
	pthread_sigmask(SIG_SETMASK, &all, &before);
	for (unsigned i = 0; i < count && r == 0; i++) {
		struct worker *worker = &w->threads[i];

		worker->workers = w;
		worker->place = i + 1;
		atomic_init(&worker->inside, 0);
		r = -pthread_create(&worker->thread, NULL, workers_main, worker);
		if (r == 0)
			w->count++;
	}
	pthread_sigmask(SIG_SETMASK, &before, NULL);
	if (w->count > 0)
		return 0;
	workers_forget(w);
	return r < 0 ? r : -EAGAIN;
}

void workers_forget(struct workers *w)
{
	free(w->threads);
	w->threads = NULL;
	w->count = 0;
}

void workers_stop(struct workers *w)
{
	assert(list_is_empty(&w->queue));
	pthread_mutex_lock(&w->lock);
	w->end = true;
	pthread_cond_broadcast(&w->more);
	pthread_mutex_unlock(&w->lock);
	for (unsigned i = 0; i < w->count; i++)
		pthread_join(w->threads[i].thread, NULL);
	pthread_cond_destroy(&w->done);
	pthread_cond_destroy(&w->more);
	pthread_mutex_destroy(&w->lock);
	workers_forget(w);
}

void workers_submit(struct workers *w, struct work *work, bool first)
{
	assert(work_state(work) == WORK_IDLE);
	pthread_mutex_lock(&w->lock);
	atomic_store_explicit(&work->state, WORK_QUEUED, memory_order_relaxed);
	if (first)
		list_prepend(&w->queue, &work->link);
	else
		list_append(&w->queue, &work->link);
	if (w->idle_count > 0)
		pthread_cond_signal(&w->more);
	pthread_mutex_unlock(&w->lock);
}

bool workers_help(struct workers *w)
{
	struct work *work = NULL;

	pthread_mutex_lock(&w->lock);
	if (!list_is_empty(&w->queue))
		work = workers_pop(w);
	pthread_mutex_unlock(&w->lock);
	if (!work)
		return false;
	w->fn(w->userdata, 0, work);
	atomic_store_explicit(&work->state, WORK_DONE, memory_order_release);
	return true;
}

void workers_recall(struct workers *w)
{
	pthread_mutex_lock(&w->lock);
	while (!list_is_empty(&w->queue))
		atomic_store_explicit(&workers_pop(w)->state, WORK_IDLE, memory_order_relaxed);
	pthread_mutex_unlock(&w->lock);
}

void workers_wait(struct workers *w, struct work *work)
{
	if (work_state(work) == WORK_DONE)
		return;
	pthread_mutex_lock(&w->lock);
	w->owner_waits = true;
	while (work_state(work) != WORK_DONE)
		pthread_cond_wait(&w->done, &w->lock);
	w->owner_waits = false;
	pthread_mutex_unlock(&w->lock);
}

void workers_quiesce(struct workers *w)
{
	uint64_t epoch = atomic_load_explicit(&w->epoch, memory_order_relaxed) + 1;

	atomic_store(&w->epoch, epoch);
	for (unsigned i = 0; i < w->count; i++) {
		unsigned spins = 0;

		for (;;) {
			uint64_t inside = atomic_load(&w->threads[i].inside);

			if (inside == 0 || inside >= epoch)
				break;
			if (++spins > WORKERS_SPINS)
				sched_yield();
		}
	}
}
