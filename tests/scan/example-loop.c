/* SPDX-License-Identifier: MIT */
/*
 * Reads journals in a program that has an event loop of its own: here poll(), with a timer beside
 * the scan. Nothing in it blocks but poll().
 *
 *	example-loop DIRECTORY
 */
#include <errno.h>
#include <jscan.h>
#include <poll.h>
#include <stdio.h>
#include <string.h>
#include <sys/timerfd.h>
#include <unistd.h>

/* Takes the entries that are ready. 1: more will come; 0: the scan has ended; negative errno. */
static int take_entries(struct jscan *engine, unsigned long *count)
{
	const struct jscan_entry *entry;
	int r = jscan_process(engine);

	if (r == -ENODATA)
		return 0;
	if (r < 0)
		return r;
	while ((r = jscan_next(engine, &entry)) == 1)
		++*count;
	return r == 0 || r == -EAGAIN ? 1 : r;
}

/* The loop: sleeps until the scan has something to do or the timer rings. */
static int run_loop(struct jscan *engine, int timer)
{
	unsigned long count = 0, ticks = 0;
	int r = 1;

	while (r > 0) {
		struct pollfd fds[2] = {
			{ .fd = jscan_fd(engine), .events = (short)jscan_events(engine) },
			{ .fd = timer, .events = POLLIN },
		};
		uint64_t usec, rings;

		if (fds[0].fd < 0)
			return fds[0].fd;
		r = jscan_timeout(engine, &usec);
		if (r < 0)
			return r;
		if (poll(fds, 2, usec == UINT64_MAX ? -1 : (int)((usec + 999) / 1000)) < 0 &&
		    errno != EINTR)
			return -errno;
		if (fds[1].revents && read(timer, &rings, sizeof(rings)) == sizeof(rings))
			ticks += rings;
		r = take_entries(engine, &count);
	}
	printf("%lu entries\n", count);
	fprintf(stderr, "%lu ticks of the timer\n", ticks);
	return r;
}

int main(int argc, char **argv)
{
	struct itimerspec every = { { 0, 10000000 }, { 0, 10000000 } };
	int timer = timerfd_create(CLOCK_MONOTONIC, TFD_CLOEXEC | TFD_NONBLOCK);
	struct jscan *engine;
	int r;

	if (argc != 2 || timer < 0)
		return 2;
	timerfd_settime(timer, 0, &every, NULL);
	r = jscan_new(NULL, &engine);
	if (r == 0) {
		r = jscan_add_directory(engine, argv[1], 0);
		if (r == 0)
			r = run_loop(engine, timer);
		jscan_free(engine);
	}
	close(timer);
	if (r < 0)
		fprintf(stderr, "%s: %s\n", argv[1], strerror(-r));
	return r < 0;
}
