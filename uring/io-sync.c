/* SPDX-License-Identifier: MIT */
/*
 * Operations by plain system calls, on the caller's thread, inside the turn. Nothing is ever in
 * flight between turns. A turn does a bounded number of bytes and leaves the rest queued; the event
 * descriptor is readable while that is so.
 */
#include "uring/io-private.h"

#include <errno.h>
#include <stdlib.h>
#include <unistd.h>

struct sync_state {
	int event_fd;
};

/* Sets the method up. */
static int sync_init(struct io *io, const char **ret_hint)
{
	struct sync_state *s = malloc(sizeof(*s));

	(void)ret_hint;
	if (!s)
		return -ENOMEM;
	s->event_fd = -1;
	io->state = s;
	return 0;
}

/* Does what is queued, for which waiting is what pread does; else waits for what is polled. */
static int sync_turn(struct io *io, bool wait, uint64_t timeout_usec)
{
	struct sync_state *s = io->state;

	io_event_clear(s->event_fd);
	io_turn_sync(io);
	if (io->poll_count > 0)
		io_poll_wait(io, -1,
			     wait && list_is_empty(&io->done) && !io_is_busy(io) ?
				     io_deadline_usec(timeout_usec) : 0);
	if (io->queued_count > 0)
		io_event_set(s->event_fd);
	return 0;
}

/* Makes the event descriptor. */
static int sync_event_fd(struct io *io)
{
	struct sync_state *s = io->state;

	int r = io_event_make(&s->event_fd);

	return r < 0 ? r : io_poll_event_fd(io, s->event_fd);
}

/* There is nothing to cancel between turns. */
static void sync_cancel(struct io *io)
{
	(void)io;
}

/* Ends the method. */
static void sync_done(struct io *io)
{
	struct sync_state *s = io->state;

	if (s->event_fd >= 0)
		close(s->event_fd);
	free(s);
}

const struct io_method io_method_sync = {
	.name = "sync",
	.caches = true,
	.init = sync_init,
	.turn = sync_turn,
	.event_fd = sync_event_fd,
	.cancel = sync_cancel,
	.done = sync_done,
};
