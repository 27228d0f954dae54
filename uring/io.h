/* SPDX-License-Identifier: MIT */
/*
 * Asynchronous operations on files: one interface, several methods. Nothing above this layer knows
 * which method runs, and nothing here knows what the files hold.
 *
 * The life of an operation: the owner fills an op, io_submit() queues it, io_turn() hands
 * everything queued to the kernel at once and moves what has completed to the done list,
 * io_next_done() gives it back. Completions never run code of the owner's. Short reads, EINTR and
 * EAGAIN end in here: a read that is done is full, ends at the end of the file, or has failed.
 *
 * From io_submit() until io_next_done() returned the op, op and buffer belong to the kernel: not
 * read, not freed, not moved.
 */
#ifndef URING_IO_H
#define URING_IO_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "uring/list.h"

#define IO_PROBES_MAX 16u
#define IO_POLLS_MAX 8u
#define IO_DIRECT_ALIGN 4096u

enum io_method_id {
	IO_METHOD_AUTO,
	IO_METHOD_URING,
	IO_METHOD_THREADS,
	IO_METHOD_SYNC,
};

enum io_kind {
	IO_OPEN, /* path -> file, with its stat, and perhaps its first bytes -> buffer */
	IO_READ, /* file, offset, size -> buffer */
	IO_POLL, /* file -> which of events are there: see io_submit() */
};

/* What stat(2) says of an opened file, as far as it matters. */
struct io_stat {
	uint64_t size_bytes;
	uint64_t blocks; /* of 512 bytes */
	uint64_t device, inode;
	uint32_t mode;
	uint32_t link_count;
};

/* An open file. nowait: its file system can do buffered reads without blocking, so the ring serves
 * it; otherwise the ring would only start worker threads for it. */
struct io_file {
	int fd;
	bool nowait;
	bool drop;     /* pages that reads bring into the page cache are not to stay */
	bool uncached; /* ... by the kernel's own doing; may be cleared by a read */
	bool direct;   /* reads bypass the page cache: offset, size and buffer are multiples of
			* IO_DIRECT_ALIGN; cleared by a read where the file system refuses */
};

struct io_op {
	struct list link;        /* owner's before submit, io's after */
	enum io_kind kind;
	const char *path;        /* IO_OPEN: kept by the owner until done */
	struct io_stat stat;     /* IO_OPEN: result */
	struct io_file file;     /* IO_OPEN: result; IO_READ: argument, of which nowait, uncached
				  * and direct may be cleared */
	uint8_t *buffer;         /* IO_READ; IO_OPEN: for the first bytes, or NULL */
	uint64_t offset;
	uint32_t size_bytes;     /* IO_READ: 1 to 1 GiB; IO_OPEN: room in the buffer */
	bool async;              /* to the kernel's workers at once: submitting must not sleep */
	uint32_t events;         /* IO_POLL: those of poll(2); POLLERR and POLLHUP always count */
	int32_t result;          /* bytes read (short: end of file), of IO_OPEN too, where it may be
				  * 0 although there are some; events that are there of IO_POLL;
				  * negative errno */
	uint32_t progress;       /* private: bytes read so far */
	unsigned retries;        /* private: EAGAIN met */
	uint64_t drop_pieces;    /* private: see io-cache.c */
};

struct io;

/* A method of doing operations. Every slot is set. */
struct io_method {
	const char *name;
	bool caches; /* it heeds drop and direct of files */
	/* Sets up. *ret_hint: on failure, a clause in static storage that says what to do. */
	int (*init)(struct io *io, const char **ret_hint);
	/* Starts everything in io->queued, as far as there is room; what is done at once may go to
	 * io->done. Waits for at least one completion if WAIT, until the deadline TIMEOUT_USEC from
	 * now (UINT64_MAX: none). */
	int (*turn)(struct io *io, bool wait, uint64_t timeout_usec);
	/* A descriptor that polls readable when a completion is there, made on the first call. */
	int (*event_fd)(struct io *io);
	/* Asks that what is in flight end soon: a hint, it may end as usual. */
	void (*cancel)(struct io *io);
	void (*done)(struct io *io);
};

struct io_options {
	enum io_method_id method;
	unsigned queue_depth;  /* operations in flight at most */
	unsigned threads;      /* of the threads method */
	const struct io_method *custom; /* tests: used instead of all others */
	void *custom_state;
};

struct io_statistics {
	uint64_t reads;       /* read operations submitted by owners */
	uint64_t bytes_read;
	uint64_t opens;
	uint64_t turns;       /* times that the method was entered */
	uint64_t wait_usec_max;
	uint64_t retries;     /* attempts beyond the first: short reads, EINTR, EAGAIN */
	uint64_t fallbacks;   /* reads that the ring could not do and pread did */
};

struct io {
	const struct io_method *method;
	void *state;             /* the method's */
	struct io_options options;
	struct list queued;      /* submitted by owners, not yet started */
	struct list done;        /* completed, not yet taken */
	unsigned in_flight;      /* started, not completed */
	unsigned queued_count;
	struct list polls;       /* IO_POLL that the method has no hold of: see io-poll.c */
	unsigned poll_count;     /* all IO_POLL that have not completed */
	int poll_fd;             /* epoll of methods that cannot poll by themselves, or -1 */
	bool draining;           /* nothing is tried again: see io_drain() */
	struct io_statistics statistics;
	/* private to io.c: what io_probe_nowait() remembers */
	struct io_probe {
		uint64_t device;
		bool nowait;
	} probes[IO_PROBES_MAX];
	unsigned probe_count;
};

/*
 * Sets up an io. With IO_METHOD_AUTO a refused ring (ENOSYS, EPERM, ENOMEM, ...) leads to threads.
 * *ret_hint as in struct io_method; NULL is accepted. It is also set, with 0 returned, where the
 * ring was refused and threads serve instead; otherwise it is set to NULL.
 */
int io_init(struct io *io, const struct io_options *options, const char **ret_hint);

/* Ends an io that has nothing in flight (asserted): see io_drain(). */
void io_done(struct io *io);

/*
 * Queues an operation. Never fails: failure is the op's result. An IO_POLL completes once, when one
 * of its events is there or at the next turn if it is there already. It is neither queued nor in
 * flight as far as the counts below go, since it may wait for ever; only IO_POLLS_MAX of them may
 * wait at a time.
 */
void io_submit(struct io *io, struct io_op *op);

/*
 * Starts what is queued, reaps what has completed; see struct io_method. Does not wait if there is
 * something on the done list already, or nothing to wait for. 0 also when the time is over, or a
 * signal came, and nothing has completed; negative only if the method is beyond repair.
 */
int io_turn(struct io *io, bool wait, uint64_t timeout_usec);

/* Takes a completed operation, or NULL. */
struct io_op *io_next_done(struct io *io);

/* Drops what is queued but not started (result -ECANCELED, to the done list), asks the kernel to
 * cancel the rest, and waits until nothing is in flight. What was on its way may still succeed: an
 * open with result 0 on the done list has a descriptor to close. The io is usable afterwards. */
void io_drain(struct io *io);

/* True if anything is queued or in flight. */
static inline bool io_is_busy(const struct io *io)
{
	return io->queued_count > 0 || io->in_flight > 0;
}

/* True if there is anything that io_turn() could wait for. */
static inline bool io_can_wait(const struct io *io)
{
	return io_is_busy(io) || io->poll_count > 0;
}

/* The method's event_fd. It is reset by io_turn(), which may find nothing after a wake-up. */
int io_event_fd(struct io *io);

/* Whether the file system of FD has non-blocking buffered reads: preadv2(RWF_NOWAIT) tells; the
 * answer is remembered by device inside io. Called by io itself after IO_OPEN; owners call it for
 * descriptors that they did not open through io. */
bool io_probe_nowait(struct io *io, int fd, uint64_t device);

/* Has reads of a file leave no pages behind that were not there before. OWN: the open file is
 * nobody else's. Methods of tests ignore it. */
void io_file_drop(struct io *io, struct io_file *file, bool own);

/* Has reads of a file bypass the page cache, from the next one on. Nobody else has the open file.
 * False if that is refused. */
bool io_file_direct(struct io *io, struct io_file *file);

extern const struct io_method io_method_uring;
extern const struct io_method io_method_threads;
extern const struct io_method io_method_sync;

#endif
