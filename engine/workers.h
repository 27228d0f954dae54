/* SPDX-License-Identifier: MIT */
/*
 * Threads that take work from one queue, and what keeps the memory that they read from being taken
 * away under them. The owner's thread submits work, may take some back to do it itself, and waits.
 *
 * Memory: a worker reads shared memory only between workers_enter() and workers_leave(), and keeps
 * nothing of it beyond. An owner that wants to reuse memory first makes sure that nobody finds it
 * any more, then calls workers_quiesce(): after that nobody who might have found it is still
 * inside. Work must not wait for the owner while it is inside.
 */
#ifndef ENGINE_WORKERS_H
#define ENGINE_WORKERS_H

#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include "uring/list.h"

enum work_state {
	WORK_IDLE, /* the owner's */
	WORK_QUEUED,
	WORK_RUNNING,
	WORK_DONE, /* the owner's again, and not looked at yet */
};

/* A piece of work, embedded in what it is about. */
struct work {
	struct list link;  /* in the queue */
	atomic_int state;  /* enum work_state */
};

/* Does WORK in place PLACE: 0 is the owner's thread, threads are numbered from 1. */
typedef void (*work_fn)(void *userdata, unsigned place, struct work *work);

struct worker {
	_Alignas(64) _Atomic uint64_t inside; /* the epoch in which it entered; 0: outside */
	pthread_t thread;
	struct workers *workers;
	unsigned place;
};

struct workers {
	pthread_mutex_t lock;
	pthread_cond_t more;     /* there is work, or the end */
	pthread_cond_t done;     /* some work is done, and the owner waits */
	struct list queue;
	bool end;
	bool owner_waits;
	unsigned idle_count;     /* threads that wait for work */
	unsigned count;          /* threads */
	struct worker *threads;
	_Atomic uint64_t epoch;  /* from 1 on */
	work_fn fn;
	void *userdata;
};

/* Starts COUNT threads, or as many as there can be. All signals are blocked in them. -ENOMEM,
 * -EAGAIN: there is none. */
int workers_start(struct workers *w, unsigned count, work_fn fn, void *userdata);

/* Waits for the threads to end. The queue must be empty. */
void workers_stop(struct workers *w);

/* In a child after fork(): frees what there is, the threads are the parent's. */
void workers_forget(struct workers *w);

/* Queues idle work; FIRST: before everything else. */
void workers_submit(struct workers *w, struct work *work, bool first);

/* Takes the work that was queued first, if there is any, and does it on the owner's thread. */
bool workers_help(struct workers *w);

/* Takes all work that nobody has begun off the queue: it is idle again. */
void workers_recall(struct workers *w);

/* Waits until a piece of work is done. */
void workers_wait(struct workers *w, struct work *work);

/* Where a piece of work stands. Once it is WORK_DONE, what was done is visible. */
static inline enum work_state work_state(const struct work *work)
{
	return (enum work_state)atomic_load_explicit(&work->state, memory_order_acquire);
}

/* Begins to read shared memory; returns the epoch. The owner's thread (PLACE 0) is never in its own
 * way. */
static inline uint64_t workers_enter(struct workers *w, unsigned place)
{
	uint64_t epoch = atomic_load_explicit(&w->epoch, memory_order_acquire), seen;

	while (place > 0) {
		/* Sequentially consistent, as in workers_quiesce(): one of both sees the other. */
		atomic_store(&w->threads[place - 1].inside, epoch);
		seen = atomic_load(&w->epoch);
		if (seen == epoch)
			break;
		epoch = seen;
	}
	return epoch;
}

static inline void workers_leave(struct workers *w, unsigned place)
{
	if (place > 0)
		atomic_store_explicit(&w->threads[place - 1].inside, 0, memory_order_release);
}

/* Begins a new epoch, and waits until nobody is inside since an earlier one. */
void workers_quiesce(struct workers *w);

#endif
