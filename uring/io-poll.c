/* SPDX-License-Identifier: MIT */
/*
 * Waiting for descriptors where the method cannot do it by itself: by poll(2) when a turn waits,
 * and by an epoll descriptor that stands for all of them in a foreign loop. An operation is on
 * io->polls from its submission until it has completed (a ring takes it from there: then it is the
 * ring's).
 */
#include "uring/io-private.h"

#include <assert.h>
#include <errno.h>
#include <poll.h>
#include <sys/epoll.h>
#include <time.h>
#include <unistd.h>

/* Has the epoll descriptor look at an operation's descriptor, or not any more. */
static void io_poll_control(struct io *io, int how, const struct io_op *op)
{
	/* The bits of poll(2) and epoll are the same. */
	struct epoll_event event = { .events = op->events, .data.ptr = NULL };

	/* What cannot be polled, as regular files, is always ready: poll(2) says so. */
	if (io->poll_fd >= 0)
		(void)epoll_ctl(io->poll_fd, how, op->file.fd, &event);
}

void io_poll_add(struct io *io, struct io_op *op)
{
	assert(io->poll_count < IO_POLLS_MAX);

	list_append(&io->polls, &op->link);
	io->poll_count++;
	io_poll_control(io, EPOLL_CTL_ADD, op);
}

void io_complete_poll(struct io *io, struct io_op *op)
{
	assert(io->poll_count > 0);

	list_remove(&op->link);
	io->poll_count--;
	io_poll_control(io, EPOLL_CTL_DEL, op);
	list_append(&io->done, &op->link);
}

void io_poll_wait(struct io *io, int event_fd, uint64_t deadline_usec)
{
	struct pollfd fds[IO_POLLS_MAX + 1];
	uint64_t now = deadline_usec == 0 || deadline_usec == UINT64_MAX ? 0 : io_now_usec();
	uint64_t left = deadline_usec > now ? deadline_usec - now : 0;
	struct timespec timeout = { .tv_sec = (time_t)(left / 1000000u),
				    .tv_nsec = (long)(left % 1000000u) * 1000 };
	struct list *node, *next;
	nfds_t count = 0;

	list_for_each(node, &io->polls) {
		const struct io_op *op = container_of(node, struct io_op, link);

		fds[count++] = (struct pollfd){ .fd = op->file.fd, .events = (short)op->events };
	}
	fds[count] = (struct pollfd){ .fd = event_fd, .events = POLLIN };
	if (ppoll(fds, count + (event_fd >= 0), deadline_usec == UINT64_MAX ? NULL : &timeout,
		  NULL) <= 0)
		return; /* a signal, too, ends the turn */
	count = 0;
	for (node = io->polls.next; node != &io->polls; node = next) {
		struct io_op *op = container_of(node, struct io_op, link);
		short events = fds[count++].revents;

		next = node->next;
		if (!events)
			continue;
		op->result = events & POLLNVAL ? -EBADF : events;
		io_complete_poll(io, op);
	}
}

int io_poll_event_fd(struct io *io, int event_fd)
{
	struct epoll_event event = { .events = EPOLLIN };
	struct list *node;
	int fd;

	if (io->poll_fd >= 0)
		return io->poll_fd;
	fd = epoll_create1(EPOLL_CLOEXEC);
	if (fd < 0)
		return -errno;
	if (epoll_ctl(fd, EPOLL_CTL_ADD, event_fd, &event) < 0) {
		int error = -errno;

		close(fd);
		return error;
	}
	io->poll_fd = fd;
	list_for_each(node, &io->polls)
		io_poll_control(io, EPOLL_CTL_ADD, container_of(node, struct io_op, link));
	return fd;
}
