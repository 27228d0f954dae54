/* SPDX-License-Identifier: MIT */
/*
 * The front of asynchronous I/O: queueing, choice of method, and everything that methods do alike.
 *
 * An operation is on one list at a time: queued here, then somewhere in the method's hands (counted
 * by in_flight), then done. What one attempt at a read or an open means is judged in one place,
 * io_read_step() and io_open_step(), by every method: short reads go on behind what has been read,
 * and only a read of nothing is the end of the file. This file starts nothing by itself.
 */
#include "uring/io-private.h"

#include <assert.h>
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/stat.h>
#include <sys/uio.h>
#include <time.h>
#include <unistd.h>

/* EAGAIN from a regular file is a passing state of the kernel's. */
#define IO_RETRIES_MAX 4u

#define IO_QUEUE_DEPTH_DEFAULT 64u

uint64_t io_now_usec(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (uint64_t)now.tv_sec * 1000000u + (uint64_t)now.tv_nsec / 1000u;
}

uint64_t io_deadline_usec(uint64_t timeout_usec)
{
	uint64_t now = timeout_usec == UINT64_MAX ? 0 : io_now_usec();

	return timeout_usec > UINT64_MAX - now ? UINT64_MAX : now + timeout_usec;
}

/* Sets up one method. */
static int io_init_method(struct io *io, const struct io_method *method, const char **ret_hint)
{
	int r;

	io->method = method;
	r = method->init(io, ret_hint);
	if (r < 0)
		io->method = NULL;
	return r;
}

int io_init(struct io *io, const struct io_options *options, const char **ret_hint)
{
	const char *hint = NULL, *ignored = NULL;
	int r;

	memset(io, 0, sizeof(*io));
	list_init(&io->queued);
	list_init(&io->done);
	list_init(&io->polls);
	io->poll_fd = -1;
	io->options = *options;
	if (io->options.queue_depth == 0)
		io->options.queue_depth = IO_QUEUE_DEPTH_DEFAULT;

	if (options->custom) {
		io->state = options->custom_state;
		r = io_init_method(io, options->custom, &hint);
	} else if (options->method == IO_METHOD_THREADS) {
		r = io_init_method(io, &io_method_threads, &hint);
	} else if (options->method == IO_METHOD_SYNC) {
		r = io_init_method(io, &io_method_sync, &hint);
	} else {
		r = io_init_method(io, &io_method_uring, &hint);
		if (r < 0 && options->method == IO_METHOD_AUTO)
			r = io_init_method(io, &io_method_threads, &ignored);
	}
	if (ret_hint)
		*ret_hint = hint;
	return r;
}

void io_done(struct io *io)
{
	if (!io->method)
		return;
	assert(io->in_flight == 0);
	assert(io->queued_count == 0);
	assert(io->poll_count == 0);
	io->method->done(io);
	if (io->poll_fd >= 0)
		close(io->poll_fd);
	io->poll_fd = -1;
	io->method = NULL;
}

void io_submit(struct io *io, struct io_op *op)
{
	assert(op->kind != IO_READ || (op->size_bytes > 0 && op->size_bytes <= 1u << 30));

	op->result = 0;
	op->progress = 0;
	op->retries = 0;
	if (op->kind == IO_POLL) {
		io_poll_add(io, op);
		return;
	}
	if (op->kind == IO_OPEN) {
		op->file = (struct io_file){ .fd = -1 };
		io->statistics.opens++;
	} else {
		io->statistics.reads++;
	}
	list_append(&io->queued, &op->link);
	io->queued_count++;
}

int io_turn(struct io *io, bool wait, uint64_t timeout_usec)
{
	uint64_t begin_usec, usec;
	int r;

	if (!list_is_empty(&io->done) || !io_can_wait(io))
		wait = false;
	io->statistics.turns++;
	if (!wait)
		return io->method->turn(io, false, 0);

	begin_usec = io_now_usec();
	r = io->method->turn(io, true, timeout_usec);
	usec = io_now_usec() - begin_usec;
	if (usec > io->statistics.wait_usec_max)
		io->statistics.wait_usec_max = usec;
	return r;
}

struct io_op *io_next_done(struct io *io)
{
	struct list *node = list_pop(&io->done);

	return node ? container_of(node, struct io_op, link) : NULL;
}

void io_drain(struct io *io)
{
	struct io_op *op;
	int r = 0;

	io->draining = true;
	while ((op = io_take_queued(io))) {
		op->result = -ECANCELED;
		io_complete(io, op);
	}
	while (!list_is_empty(&io->polls)) {
		op = container_of(io->polls.next, struct io_op, link);
		op->result = -ECANCELED;
		io_complete_poll(io, op);
	}
	if (io_can_wait(io))
		io->method->cancel(io);
	/* Results on the done list do not end the wait here: io_turn() would not sleep. */
	while (io_can_wait(io) && r >= 0) {
		struct list done;

		list_init(&done);
		list_splice(&done, &io->done);
		r = io->method->turn(io, true, UINT64_MAX);
		list_splice(&done, &io->done);
		list_splice(&io->done, &done);
	}
	assert(!io_can_wait(io));
	io->draining = false;
}

int io_event_fd(struct io *io)
{
	return io->method->event_fd(io);
}

struct io_op *io_take_queued(struct io *io)
{
	struct list *node = list_pop(&io->queued);

	if (!node)
		return NULL;
	io->queued_count--;
	io->in_flight++;
	return container_of(node, struct io_op, link);
}

void io_complete(struct io *io, struct io_op *op)
{
	assert(io->in_flight > 0);

	io->in_flight--;
	if (op->kind == IO_READ && op->progress > 0)
		io->statistics.bytes_read += op->progress;
	if (op->kind == IO_OPEN && op->result >= 0) {
		op->file.nowait = io_probe_nowait(io, op->file.fd, op->stat.device);
		io->statistics.bytes_read += (uint64_t)op->result;
	}
	list_append(&io->done, &op->link);
}

enum io_step io_read_step(struct io_op *op, int raw)
{
	if (raw > 0) {
		assert((uint32_t)raw <= op->size_bytes - op->progress);
		op->progress += (uint32_t)raw;
		op->retries = 0;
		if (op->progress < op->size_bytes && !io_cache_ends(op))
			return IO_STEP_AGAIN;
		op->result = (int32_t)op->progress;
		return IO_STEP_DONE;
	}
	switch (raw) {
	case 0:
		op->result = (int32_t)op->progress;
		return IO_STEP_DONE;
	case -EINTR:
		return IO_STEP_AGAIN;
	case -EAGAIN:
		return ++op->retries < IO_RETRIES_MAX ? IO_STEP_AGAIN : IO_STEP_SYNC;
	case -EOPNOTSUPP:
	case -EINVAL:
		return io_cache_refused(op, raw) ? IO_STEP_AGAIN : IO_STEP_SYNC;
	default:
		op->result = raw;
		return IO_STEP_DONE;
	}
}

void io_read_sync(struct io_op *op)
{
	enum io_step step;
	struct iovec vec;
	ssize_t n;
	off_t at;
	int raw, flags;

	op->retries = 0;
	do {
		vec = (struct iovec){ op->buffer + op->progress, op->size_bytes - op->progress };
		flags = io_cache_flags(op);
		at = (off_t)(op->offset + op->progress);
		n = flags ? preadv2(op->file.fd, &vec, 1, at, flags) :
			    pread(op->file.fd, vec.iov_base, vec.iov_len, at);
		raw = n < 0 ? -errno : (int)n;
		step = io_read_step(op, raw);
	} while (step == IO_STEP_AGAIN);
	if (step == IO_STEP_SYNC)
		op->result = raw;
}

void io_read_whole(struct io_op *op)
{
	io_cache_before(op);
	io_read_sync(op);
	io_cache_after(op);
}

int io_open_flags(const struct io_op *op)
{
	/* A FIFO must not block us before it is refused. Only a file's owner may leave its access
	 * time alone: the second attempt does without. */
	return O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY | (op->progress == 0 ? O_NOATIME : 0);
}

/* Fills in op->stat; what is wrong with the file as a journal's, or 0. */
static int io_open_judge(struct io_op *op, int fd)
{
	struct stat st;

	if (fstat(fd, &st) < 0)
		return -errno;
	op->stat = (struct io_stat){
		.size_bytes = (uint64_t)st.st_size,
		.blocks = (uint64_t)st.st_blocks,
		.device = st.st_dev,
		.inode = st.st_ino,
		.mode = st.st_mode,
		.link_count = (uint32_t)st.st_nlink,
	};
	if (S_ISDIR(st.st_mode))
		return -EISDIR;
	if (!S_ISREG(st.st_mode))
		return -EBADFD;
	if (st.st_nlink == 0)
		return -EIDRM;
	return 0;
}

bool io_open_step(struct io_op *op, int raw)
{
	if (raw == -EINTR)
		return false;
	if (raw == -EPERM && op->progress == 0) {
		op->progress = 1;
		return false;
	}
	/* The file is leased, and the lease is being broken. */
	if (raw == -EAGAIN && ++op->retries < IO_RETRIES_MAX)
		return false;
	if (raw < 0) {
		op->result = raw;
		return true;
	}
	op->result = io_open_judge(op, raw);
	if (op->result < 0)
		close(raw);
	else
		op->file.fd = raw;
	return true;
}

void io_open_sync(struct io_op *op)
{
	int fd;

	do {
		fd = open(op->path, io_open_flags(op));
	} while (!io_open_step(op, fd < 0 ? -errno : fd));
}

void io_do_sync(struct io *io, struct io_op *op)
{
	if (op->kind == IO_OPEN && op->file.fd < 0)
		io_open_sync(op);
	else if (op->kind == IO_READ)
		io_read_whole(op);
	io_complete(io, op);
}

void io_turn_sync(struct io *io)
{
	uint64_t bytes = 0;
	struct io_op *op;

	while (bytes < IO_TURN_SYNC_BYTES && (op = io_take_queued(io))) {
		io_do_sync(io, op);
		bytes += op->kind == IO_READ ? op->progress : 4096;
	}
}

/* What is remembered of a device, or NULL. */
static struct io_probe *io_probe_find(struct io *io, uint64_t device)
{
	unsigned count = io->probe_count < IO_PROBES_MAX ? io->probe_count : IO_PROBES_MAX;

	for (unsigned i = 0; i < count; i++)
		if (io->probes[i].device == device)
			return &io->probes[i];
	return NULL;
}

bool io_probe_nowait(struct io *io, int fd, uint64_t device)
{
	struct io_probe *probe = io_probe_find(io, device);
	char byte;
	struct iovec vec = { &byte, 1 };
	struct stat st;
	bool nowait;

	if (probe)
		return probe->nowait;
	/* The flag is refused before anything is read; all other answers mean that it is known. At
	 * the end of the file there is nothing that the kernel could begin to read ahead. */
	nowait = fstat(fd, &st) == 0 &&
		 (preadv2(fd, &vec, 1, st.st_size, RWF_NOWAIT) >= 0 || errno == EAGAIN);
	io->probes[io->probe_count++ % IO_PROBES_MAX] = (struct io_probe){ device, nowait };
	return nowait;
}

void io_probe_refute(struct io *io, int fd)
{
	struct io_probe *probe;
	struct stat st;

	if (fstat(fd, &st) < 0)
		return;
	probe = io_probe_find(io, st.st_dev);
	if (probe)
		probe->nowait = false;
}

int io_event_make(int *event_fd)
{
	if (*event_fd < 0) {
		/* Primed: something may have completed before anybody could be told. */
		int fd = eventfd(1, EFD_CLOEXEC | EFD_NONBLOCK);

		if (fd < 0)
			return -errno;
		*event_fd = fd;
	}
	return *event_fd;
}

void io_event_set(int event_fd)
{
	uint64_t one = 1;

	/* It fails only if the counter is full, and then the descriptor is readable. */
	if (event_fd >= 0 && write(event_fd, &one, sizeof(one)) < 0)
		assert(errno == EAGAIN);
}

void io_event_clear(int event_fd)
{
	uint64_t count;

	if (event_fd >= 0 && read(event_fd, &count, sizeof(count)) < 0)
		assert(errno == EAGAIN || errno == EINTR);
}
