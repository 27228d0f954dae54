/* SPDX-License-Identifier: MIT */
/* What the methods of an io share: taking operations, judging attempts, completing. */
#ifndef URING_IO_PRIVATE_H
#define URING_IO_PRIVATE_H

#include "uring/io.h"

/* What one turn reads by plain system calls: copying so much from the page cache takes about a
 * millisecond. */
#define IO_TURN_SYNC_BYTES (8u << 20)

/* What the result of one attempt at a read means for the operation. */
enum io_step {
	IO_STEP_DONE,  /* op->result is set */
	IO_STEP_AGAIN, /* the rest, from offset + progress, is to be tried */
	IO_STEP_SYNC,  /* this way does not work for the file: read it with io_read_sync() */
};

/* Takes the first queued operation, which is then in flight, or NULL. */
struct io_op *io_take_queued(struct io *io);

/* Puts an operation in flight, whose result is set, on the done list. On the io's thread. */
void io_complete(struct io *io, struct io_op *op);

/* Judges RAW, what one attempt to read the rest of OP returned. On any thread. */
enum io_step io_read_step(struct io_op *op, int raw);

/* Reads the rest of an operation with pread; sets the result. On any thread. */
void io_read_sync(struct io_op *op);

/* Reads an operation from its beginning, and minds the page cache. On any thread. */
void io_read_whole(struct io_op *op);

/* Opens a file and judges it; sets the result. On any thread. */
void io_open_sync(struct io_op *op);

/* The flags for the next attempt at an open. */
int io_open_flags(const struct io_op *op);

/* Judges RAW, what one attempt to open OP returned: true if the result is set, false if it is to
 * be tried again. On any thread. */
bool io_open_step(struct io_op *op, int raw);

/* Does an operation by plain system calls and completes it. On the io's thread. */
void io_do_sync(struct io *io, struct io_op *op);

/* Does queued operations by plain system calls, up to a number of bytes, so that one turn is short.
 * The turn of methods that have nothing better. */
void io_turn_sync(struct io *io);

/* ---- io-poll.c: polling for methods that cannot, by poll(2) ---- */

/* Waits for the descriptors of io->polls, and for EVENT_FD if it is not negative, until a deadline
 * (0: not at all), and completes the operations whose events are there. */
void io_poll_wait(struct io *io, int event_fd, uint64_t deadline_usec);

/* Takes up an operation, or gives it up when it has completed; io_complete_poll() does the latter.
 */
void io_poll_add(struct io *io, struct io_op *op);
void io_complete_poll(struct io *io, struct io_op *op);

/* A descriptor that polls readable if EVENT_FD does, or an operation's events are there. */
int io_poll_event_fd(struct io *io, int event_fd);

/* ---- io-cache.c: what reads leave behind in the page cache ---- */

/* Before the first attempt at an operation, where that is made; and after the last one. */
void io_cache_before(struct io_op *op);
void io_cache_after(const struct io_op *op);

/* Whether an error may be the refusal of a way of reading, which is then given up. */
bool io_cache_refused(struct io_op *op, int error);

/* Whether what has been read of an operation ends where the file does, as its length shows. */
bool io_cache_ends(struct io_op *op);

/* The flags of preadv2() for an attempt at a read. */
int io_cache_flags(const struct io_op *op);

/* Remembers that a file's device does not have non-blocking reads after all. */
void io_probe_refute(struct io *io, int fd);

/* Event descriptors of methods: made on first use, not blocking; *event_fd is -1 before. */
int io_event_make(int *event_fd);
void io_event_set(int event_fd);
void io_event_clear(int event_fd);

/* Time of the monotonic clock; a deadline at most UINT64_MAX. */
uint64_t io_now_usec(void);
uint64_t io_deadline_usec(uint64_t timeout_usec);

#endif
