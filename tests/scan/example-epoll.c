/* SPDX-License-Identifier: MIT */
/*
 * Reads journals in a program whose loop is epoll's, with a timer beside the scan. Entries go to a
 * sink, so that jscan_process() alone moves everything, for about a millisecond at a time.
 *
 *	example-epoll DIRECTORY
 */
#include <errno.h>
#include <jscan.h>
#include <stdio.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/timerfd.h>
#include <unistd.h>

/* sink: entry. */
static int count_entry(void *userdata, const struct jscan_entry *entry,
		       const struct jscan_entry_context *context)
{
	(void)entry;
	(void)context;
	++*(unsigned long *)userdata;
	return 0;
}

/* Until when epoll may wait, in its milliseconds; -1: for ever. */
static int milliseconds(struct jscan *engine, int more)
{
	uint64_t usec = 0;

	if (!more && jscan_timeout(engine, &usec) < 0)
		return 0;
	return usec == UINT64_MAX ? -1 : (int)((usec + 999) / 1000);
}

/* Runs the loop until the scan has ended. */
static int run_loop(struct jscan *engine, int loop, int timer)
{
	struct epoll_event events[2];
	unsigned long ticks = 0;
	uint64_t rings;
	int r = 1;

	for (;;) {
		int n = epoll_wait(loop, events, 2, milliseconds(engine, r > 0));

		if (n < 0 && errno != EINTR)
			return -errno;
		for (int i = 0; i < n; i++) {
			if (events[i].data.fd == timer &&
			    read(timer, &rings, sizeof(rings)) == sizeof(rings))
				ticks += rings;
		}
		/* Whatever woke the loop: it costs nothing to ask. */
		r = jscan_process(engine);
		if (r < 0)
			break;
	}
	fprintf(stderr, "%lu ticks of the timer\n", ticks);
	return r == -ENODATA ? 0 : r;
}

/* Has epoll watch a descriptor. */
static int watch(int loop, int fd, int events)
{
	struct epoll_event event = { .events = (uint32_t)events, .data.fd = fd };

	if (fd < 0)
		return fd;
	return epoll_ctl(loop, EPOLL_CTL_ADD, fd, &event) < 0 ? -errno : 0;
}

int main(int argc, char **argv)
{
	static const struct jscan_sink_ops ops = { .size = sizeof(ops), .entry = count_entry };
	struct itimerspec every = { { 0, 10000000 }, { 0, 10000000 } };
	int timer = timerfd_create(CLOCK_MONOTONIC, TFD_CLOEXEC | TFD_NONBLOCK);
	int loop = epoll_create1(EPOLL_CLOEXEC);
	unsigned long count = 0;
	struct jscan *engine;
	int r;

	if (argc != 2 || timer < 0 || loop < 0 || jscan_new(NULL, &engine) < 0)
		return 2;
	timerfd_settime(timer, 0, &every, NULL);
	r = jscan_add_directory(engine, argv[1], 0);
	if (r == 0)
		r = jscan_add_sink(engine, &ops, &count);
	if (r == 0)
		r = watch(loop, timer, EPOLLIN);
	if (r == 0) /* jscan_events() are those of poll(), which epoll's are equal to */
		r = watch(loop, jscan_fd(engine), jscan_events(engine));
	if (r == 0)
		r = run_loop(engine, loop, timer);
	jscan_free(engine);
	close(loop);
	close(timer);
	if (r < 0)
		fprintf(stderr, "%s: %s\n", argv[1], strerror(-r));
	else
		printf("%lu entries\n", count);
	return r < 0;
}
