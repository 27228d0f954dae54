/* SPDX-License-Identifier: MIT */
/*
 * I/O that misbehaves on demand. Only attempts are made here; what they mean (short reads go on,
 * EAGAIN is tried again) is judged by the functions that the real methods use, so that their
 * judgement is tested too. Each operation in flight has a record on the list `flying` that says in
 * which turn its next attempt is due.
 */
#include "tests/support/io-fault.h"

#include <assert.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "uring/io-private.h"

/* An operation in flight. */
struct io_fault_flight {
	struct list link;
	struct io_op *op;
	uint64_t due_turn;
	bool never;
};

uint64_t io_fault_random(uint64_t *state)
{
	uint64_t x = *state += 0x9e3779b97f4a7c15u;

	x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9u;
	x = (x ^ (x >> 27)) * 0x94d049bb133111ebu;
	return x ^ (x >> 31);
}

/* A random number below LIMIT, which is not 0. */
static uint64_t io_fault_below(struct io_fault *f, uint64_t limit)
{
	return io_fault_random(&f->random) % limit;
}

void io_fault_init(struct io_fault *f, uint64_t seed)
{
	memset(f, 0, sizeof(*f));
	list_init(&f->flying);
	f->random = seed;
	f->event_fd = -1;
	f->nowait = 1;
}

int io_fault_init_io(struct io_fault *f, struct io *io, unsigned queue_depth)
{
	struct io_options options = {
		.queue_depth = queue_depth,
		.custom = &io_method_fault,
		.custom_state = f,
	};

	return io_init(io, &options, NULL);
}

int io_fault_add_file(struct io_fault *f, const char *name, const void *bytes, uint64_t size_bytes)
{
	assert(f->file_count < IO_FAULT_FILES_MAX);

	f->files[f->file_count] = (struct io_fault_file){ name, bytes, size_bytes };
	return IO_FAULT_FD_BASE + (int)f->file_count++;
}

/* The buffer of a descriptor, or NULL if it is a real one. */
static struct io_fault_file *io_fault_file(struct io_fault *f, int fd)
{
	if (fd < IO_FAULT_FD_BASE)
		return NULL;
	assert((unsigned)(fd - IO_FAULT_FD_BASE) < f->file_count);
	return &f->files[fd - IO_FAULT_FD_BASE];
}

void io_fault_set_file(struct io_fault *f, int fd, const void *bytes, uint64_t size_bytes)
{
	struct io_fault_file *file = io_fault_file(f, fd);

	file->bytes = bytes;
	file->size_bytes = size_bytes;
}

void io_fault_fail(struct io_fault *f, int fd, uint64_t begin_bytes, uint64_t end_bytes, int error,
		   unsigned count)
{
	assert(f->rule_count < IO_FAULT_RULES_MAX && error < 0);

	f->rules[f->rule_count++] =
		(struct io_fault_rule){ fd, begin_bytes, end_bytes, error, count };
}

/* The error that an attempt at an offset meets, or 0. */
static int io_fault_judge(struct io_fault *f, int fd, uint64_t offset, uint64_t *size_bytes)
{
	for (unsigned i = 0; i < f->rule_count; i++) {
		struct io_fault_rule *rule = &f->rules[i];

		if (rule->count == 0 || (rule->fd >= 0 && rule->fd != fd) ||
		    offset >= rule->end_bytes)
			continue;
		/* A disk reads up to the bad sector. */
		if (offset < rule->begin_bytes) {
			if (*size_bytes > rule->begin_bytes - offset)
				*size_bytes = rule->begin_bytes - offset;
			continue;
		}
		rule->count--;
		f->failures++;
		return rule->error;
	}
	if (io_fault_below(f, 100) < f->eagain_percent)
		return -EAGAIN;
	if (io_fault_below(f, 100) < f->eintr_percent)
		return -EINTR;
	return 0;
}

/* Makes one attempt at a read. */
static int io_fault_read(struct io_fault *f, const struct io_op *op)
{
	const struct io_fault_file *file = io_fault_file(f, op->file.fd);
	uint64_t offset = op->offset + op->progress, size = op->size_bytes - op->progress;
	ssize_t n;
	int r;

	f->attempts++;
	if (f->read_bytes_max > 0 && size > f->read_bytes_max)
		size = f->read_bytes_max;
	if (f->read_bytes_random)
		size = 1 + io_fault_below(f, size);
	r = io_fault_judge(f, op->file.fd, offset, &size);
	if (r < 0)
		return r;
	if (file) {
		if (offset >= file->size_bytes)
			return 0;
		if (size > file->size_bytes - offset)
			size = file->size_bytes - offset;
		memcpy(op->buffer + op->progress, file->bytes + offset, size);
		return (int)size;
	}
	n = pread(op->file.fd, op->buffer + op->progress, size, (off_t)offset);
	return n < 0 ? -errno : (int)n;
}

/* Opens a buffer by its name; false if there is none of that name. */
static bool io_fault_open(struct io_fault *f, struct io_op *op)
{
	for (unsigned i = 0; i < f->file_count; i++) {
		if (!f->files[i].name || strcmp(f->files[i].name, op->path) != 0)
			continue;
		op->file.fd = IO_FAULT_FD_BASE + (int)i;
		op->stat = (struct io_stat){
			.size_bytes = f->files[i].size_bytes,
			.blocks = (f->files[i].size_bytes + 511) / 512,
			.device = UINT64_MAX,
			.inode = i + 1,
			.mode = S_IFREG | 0644,
			.link_count = 1,
		};
		op->result = 0;
		return true;
	}
	return false;
}

/* Reads the rest of an operation as a method's fallback does. */
static void io_fault_read_sync(struct io_fault *f, struct io_op *op)
{
	const struct io_fault_file *file = io_fault_file(f, op->file.fd);
	uint64_t offset = op->offset + op->progress, size = op->size_bytes - op->progress;

	if (!file) {
		io_read_sync(op);
		return;
	}
	if (offset >= file->size_bytes)
		size = 0;
	else if (size > file->size_bytes - offset)
		size = file->size_bytes - offset;
	if (size > 0)
		memcpy(op->buffer + op->progress, file->bytes + offset, size);
	op->progress += (uint32_t)size;
	op->result = (int32_t)op->progress;
}

/* Makes an attempt at an operation; true if it is complete. */
static bool io_fault_attempt(struct io *io, struct io_op *op)
{
	struct io_fault *f = io->state;
	int raw;

	if (op->kind == IO_OPEN) {
		if (!io_fault_open(f, op))
			io_open_sync(op);
		return true;
	}
	raw = io_fault_read(f, op);
	switch (io_read_step(op, raw)) {
	case IO_STEP_DONE:
		return true;
	case IO_STEP_SYNC:
		if (raw == -EAGAIN)
			io_fault_read_sync(f, op);
		else
			op->result = raw;
		return true;
	case IO_STEP_AGAIN:
		break;
	}
	io->statistics.retries++;
	return false;
}

/* Gives an operation the turn of its next attempt. */
static void io_fault_schedule(struct io_fault *f, struct io_fault_flight *flight)
{
	flight->due_turn = f->turn + io_fault_below(f, f->delay_turns_max + 1u);
	if (f->reorder && io_fault_below(f, 2) == 0)
		list_prepend(&f->flying, &flight->link);
	else
		list_append(&f->flying, &flight->link);
}

/* Completes an operation that is in flight. */
static void io_fault_complete(struct io *io, struct io_fault_flight *flight)
{
	struct io_fault *f = io->state;

	list_remove(&flight->link);
	if (flight->op->kind == IO_OPEN && flight->op->result == 0 &&
	    flight->op->file.fd >= IO_FAULT_FD_BASE) {
		/* Known before io_complete() asks the descriptor. */
		io->probes[0] = (struct io_probe){ UINT64_MAX, f->nowait != 0 };
		if (io->probe_count == 0)
			io->probe_count = 1;
	}
	io_complete(io, flight->op);
	free(flight);
}

/* Starts what is queued. */
static void io_fault_start(struct io *io)
{
	struct io_fault *f = io->state;
	bool reads = false;
	struct io_op *op;

	while (io->in_flight < io->options.queue_depth && (op = io_take_queued(io))) {
		struct io_fault_flight *flight = calloc(1, sizeof(*flight));

		if (!flight)
			abort();
		flight->op = op;
		reads = reads || op->kind == IO_READ;
		flight->never = f->never;
		io_fault_schedule(f, flight);
	}
	f->waves += reads;
	if (reads && f->latency_usec)
		usleep(f->latency_usec);
	if (io->in_flight > f->in_flight_peak)
		f->in_flight_peak = io->in_flight;
}

/* Makes the attempts that are due. */
static void io_fault_run(struct io *io)
{
	struct io_fault *f = io->state;
	struct list due, *node;

	list_init(&due);
	list_splice(&due, &f->flying);
	while ((node = list_pop(&due))) {
		struct io_fault_flight *flight = container_of(node, struct io_fault_flight, link);

		if (flight->never || flight->due_turn > f->turn) {
			list_append(&f->flying, node);
		} else if (io_fault_attempt(io, flight->op)) {
			io_fault_complete(io, flight);
		} else if (io->draining) {
			flight->op->result = -ECANCELED;
			io_fault_complete(io, flight);
		} else {
			f->turn++;
			io_fault_schedule(f, flight);
			f->turn--;
		}
	}
}

/* The turn in which the next attempt is due; UINT64_MAX if there is none. */
static uint64_t io_fault_next_turn(const struct io_fault *f)
{
	uint64_t next = UINT64_MAX;
	struct list *node;

	list_for_each(node, &f->flying) {
		const struct io_fault_flight *flight =
			container_of(node, struct io_fault_flight, link);

		if (!flight->never && flight->due_turn < next)
			next = flight->due_turn;
	}
	return next;
}

/* Nothing to set up: the state is the caller's. */
static int io_fault_method_init(struct io *io, const char **ret_hint)
{
	(void)ret_hint;
	return io->state ? 0 : -EINVAL;
}

/* One turn. Where it would wait for ever it says -EDEADLK. */
static int io_fault_turn(struct io *io, bool wait, uint64_t timeout_usec)
{
	struct io_fault *f = io->state;
	int r = 0;

	io_event_clear(f->event_fd);
	if (io->poll_count > 0)
		io_poll_wait(io, -1,
			     wait && !io_is_busy(io) ? io_deadline_usec(timeout_usec) : 0);
	io_fault_start(io);
	f->turn++;
	io_fault_run(io);
	while (wait && list_is_empty(&io->done) && io_is_busy(io)) {
		uint64_t next = io_fault_next_turn(f);

		if (next == UINT64_MAX) {
			r = timeout_usec == UINT64_MAX ? -EDEADLK : 0;
			break;
		}
		if (f->turn < next)
			f->turn = next;
		io_fault_run(io);
		io_fault_start(io);
	}
	if (io_fault_next_turn(f) != UINT64_MAX)
		io_event_set(f->event_fd);
	return r;
}

/* Makes the event descriptor. */
static int io_fault_event_fd(struct io *io)
{
	struct io_fault *f = io->state;

	int r = io_event_make(&f->event_fd);

	return r < 0 ? r : io_poll_event_fd(io, r);
}

/* Ends what would never end; the rest ends by itself. */
static void io_fault_cancel(struct io *io)
{
	struct io_fault *f = io->state;
	struct list *node, *next;

	for (node = f->flying.next; node != &f->flying; node = next) {
		struct io_fault_flight *flight = container_of(node, struct io_fault_flight, link);

		next = node->next;
		if (!flight->never)
			continue;
		f->cancelled++;
		flight->op->result = -ECANCELED;
		io_fault_complete(io, flight);
	}
}

/* Ends the method. */
static void io_fault_done(struct io *io)
{
	struct io_fault *f = io->state;

	assert(list_is_empty(&f->flying));
	if (f->event_fd >= 0)
		close(f->event_fd);
	f->event_fd = -1;
}

const struct io_method io_method_fault = {
	.name = "fault",
	.init = io_fault_method_init,
	.turn = io_fault_turn,
	.event_fd = io_fault_event_fd,
	.cancel = io_fault_cancel,
	.done = io_fault_done,
};
