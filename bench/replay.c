/* SPDX-License-Identifier: MIT */
/*
 * Replays an access trace (jscan --trace=FILE) against the layer that reads files, in other sizes
 * and by other methods, without decoding anything: replay [OPTION...] FILE. A row of the table it
 * prints is one set-up: how long it took, how often it had to wait, what was read and evicted.
 *
 * Ranges that were wanted together are asked for together, then waited for; blocks that were used
 * must be there and are marked as used. What was expected of a file is asked for ahead of its
 * reader, as far as the set-up's distance goes. The trace has been taken with one set-up, and what
 * it says of steps that ran again is that one's; the files must not have changed since.
 */
#include <errno.h>
#include <fcntl.h>
#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "uring/image.h"

#define UNIT 4096u        /* in which the trace's blocks are counted */
#define PIECE (64u << 10) /* of what was used is asked for at a time */
#define EVENTS_PER_TURN 16u
#define VALUES_MAX 16u
#define GROUP_MAX 4096u

struct event {
	uint32_t kind, file;
	uint64_t offset, size;
};

/* A file of the trace, and its image while a replay runs. */
struct replay_file {
	char *path;
	uint64_t size;
	uint8_t *expected;               /* for each unit: it is expected */
	size_t ranges, ranges_end, next; /* in replay.expected: its own, and the next to ask for */
	unsigned closed;      /* how often it has been: what is expected is so for one opening */
	uint64_t passed;      /* units that the reader has come past */
	uint64_t asked, used; /* bytes of what is expected */
	struct io_file handle;
	struct image image;
	bool open;
};

/* A set-up. The order is that of the columns. */
enum { SET_METHOD, SET_BLOCK, SET_BUDGET, SET_AHEAD, SET_COUNT };

struct replay {
	struct event *events, *expected;
	size_t event_count, event_room;
	struct replay_file *files;
	size_t file_count;
	uint64_t values[SET_COUNT][VALUES_MAX];
	size_t value_count[SET_COUNT];
	unsigned rounds;
	uint64_t think_ns; /* for each KiB that is used */
	bool cold, all;
	/* of the set-up that runs */
	uint64_t set[SET_COUNT];
	struct io io;
	struct image_pool pool;
	uint64_t waits;
	struct replay_file *group[GROUP_MAX]; /* with wants that have not been waited for */
	size_t group_count;
};

static const char *const method_names[] = { "auto", "uring", "threads", "sync" };

/* Prints what is wrong and ends. */
static void __attribute__((noreturn)) replay_fail(const char *what, int error)
{
	fprintf(stderr, "replay: %s: %s\n", what, strerror(error));
	exit(1);
}

/* Memory, or the end. */
static void *replay_memory(void *memory)
{
	if (!memory)
		replay_fail("memory", ENOMEM);
	return memory;
}

/* Microseconds since some point. */
static double replay_now(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return (double)ts.tv_sec * 1e6 + (double)ts.tv_nsec / 1e3;
}

/* ---- the trace ---------------------------------------------------------------------------- */

/* Remembers a file that the trace names. */
static void replay_name(struct replay *r, uint32_t number, uint64_t size, char *path)
{
	struct replay_file *f;

	if (number >= r->file_count) {
		r->files = replay_memory(realloc(r->files, (number + 1) * sizeof(*r->files)));
		memset(r->files + r->file_count, 0,
		       (number + 1 - r->file_count) * sizeof(*r->files));
		r->file_count = number + 1;
	}
	f = r->files + number;
	if (f->path)
		return;
	path[strcspn(path, "\n")] = '\0';
	f->path = replay_memory(strdup(path));
	f->size = size;
	f->expected = replay_memory(calloc(size / UNIT + 2, 1));
}

/* Puts the ranges that are expected together by file, in the order in which they were. Instead of
 * its kind each has how often the file had been closed before. */
static void replay_sort(struct replay *r)
{
	size_t count = 0;

	r->expected = replay_memory(calloc(r->event_count + 1, sizeof(*r->expected)));
	for (size_t i = 0; i < r->event_count; i++) {
		if (r->events[i].kind == 'X')
			r->files[r->events[i].file].ranges_end++;
	}
	for (size_t i = 0; i < r->file_count; i++) {
		struct replay_file *f = r->files + i;

		f->ranges = f->next = count;
		count += f->ranges_end;
		f->ranges_end = count;
	}
	for (size_t i = 0; i < r->event_count; i++) {
		struct event *e = r->events + i;
		struct replay_file *f = r->files + e->file;

		f->closed += e->kind == 'C';
		if (e->kind == 'X') {
			r->expected[f->next] = *e;
			r->expected[f->next++].kind = f->closed;
		}
	}
}

/* Reads a trace. */
static void replay_load(struct replay *r, const char *path)
{
	FILE *file = fopen(path, "re");
	size_t room = 0;
	char *line = NULL;

	if (!file)
		replay_fail(path, errno);
	if (getline(&line, &room, file) < 0 || strcmp(line, "jscan trace 1\n") != 0)
		replay_fail("no trace of jscan", EINVAL);
	while (getline(&line, &room, file) > 0) {
		unsigned long long offset, size;
		unsigned number;
		int end = 0;
		char kind;

		if (sscanf(line, "%c %u %llx %llx %n", &kind, &number, &offset, &size, &end) != 4 ||
		    !strchr("OWXRHEC", kind) || number > 1000000)
			replay_fail("a line of the trace is wrong", EINVAL);
		if (kind == 'O')
			replay_name(r, number, size, line + end);
		if (number >= r->file_count || !r->files[number].path)
			replay_fail("the trace does not say which file is meant", EINVAL);
		if (r->event_count == r->event_room) {
			r->event_room = r->event_room ? r->event_room * 2 : 4096;
			r->events = replay_memory(
				realloc(r->events, r->event_room * sizeof(*r->events)));
		}
		r->events[r->event_count++] =
			(struct event){ (uint32_t)kind, number, offset, size };
	}
	free(line);
	fclose(file);
	replay_sort(r);
}

/* Frees it. */
static void replay_done(struct replay *r)
{
	for (size_t i = 0; i < r->file_count; i++) {
		free(r->files[i].path);
		free(r->files[i].expected);
	}
	free(r->files);
	free(r->events);
	free(r->expected);
}

/* ---- a replay ----------------------------------------------------------------------------- */

/* One turn: starts reads, takes what has come in. */
static void replay_turn(struct replay *r, bool wait)
{
	struct io_op *op;
	int e;

	image_pool_start(&r->pool);
	e = io_turn(&r->io, wait && io_is_busy(&r->io), UINT64_MAX);
	if (e < 0)
		replay_fail("reading", -e);
	while ((op = io_next_done(&r->io)))
		image_pool_complete(&r->pool, op);
	while (image_pool_next_ready(&r->pool))
		;
}

/* Opens the image of a file, unless it is open. */
static void replay_open(struct replay *r, struct replay_file *f)
{
	int e;

	if (f->open)
		return;
	e = image_open(&r->pool, &f->image, &f->handle, f->size,
		       (unsigned)__builtin_ctzll(r->set[SET_BLOCK]), f);
	if (e < 0)
		replay_fail(f->path, -e);
	f->open = true;
}

/* Closes it. */
static void replay_close(struct replay *r, struct replay_file *f)
{
	if (!f->open)
		return;
	while (image_close(&f->image) == -EAGAIN)
		replay_turn(r, true);
	f->open = false;
}

/* Waits for all that is wanted. */
static void replay_wait(struct replay *r)
{
	for (size_t i = 0; i < r->group_count; i++) {
		struct replay_file *f = r->group[i];

		if (f->open && f->image.needed_pending)
			r->waits++;
		while (f->open && f->image.needed_pending)
			replay_turn(r, true);
		if (f->open)
			image_unpin(&f->image);
	}
	r->group_count = 0;
}

/* Asks for what will be wanted of a file, as far ahead of its reader as the set-up says. */
static void replay_ahead(struct replay *r, struct replay_file *f)
{
	bool any = false;

	while (f->next < f->ranges_end && r->expected[f->next].kind <= f->closed &&
	       (f->asked < f->used || f->asked - f->used < r->set[SET_AHEAD])) {
		const struct event *x = r->expected + f->next++;

		f->asked += x->size;
		if (x->kind < f->closed)
			continue; /* the reader was faster */
		replay_open(r, f);
		image_want(&f->image, x->offset, x->size, IMAGE_EXPECTED);
		any = true;
	}
	if (any)
		replay_turn(r, false);
}

/* Counts what was expected of a file up to OFFSET: the reader has passed it, used or not. */
static void replay_pass(struct replay_file *f, uint64_t offset)
{
	for (; f->passed * UNIT < offset && f->passed <= f->size / UNIT; f->passed++)
		f->used += f->expected[f->passed] ? UNIT : 0;
}

/* Uses a range: it is waited for if it is not there, and marked. */
static void replay_use(struct replay *r, struct replay_file *f, uint64_t offset, uint64_t size)
{
	struct image *image = &f->image;
	uint64_t end = offset + size < f->size ? offset + size : f->size;

	for (; offset < end; offset += size) {
		double until = replay_now();

		size = end - offset < PIECE ? end - offset : PIECE;
		until += (double)(r->think_ns * size) / 1024e3;
		if (image_want(image, offset, size, IMAGE_NEEDED) > 0) {
			r->waits++;
			do
				replay_turn(r, true);
			while (image->needed_pending);
		}
		for (uint64_t i = offset >> image->block_shift;
		     i <= (offset + size - 1) >> image->block_shift; i++)
			__atomic_fetch_or(&image->blocks[i], IMAGE_BLOCK_TOUCHED, __ATOMIC_RELAXED);
		image_used(image, offset, size);
		image_unpin(image);
		replay_pass(f, offset + size);
		replay_ahead(r, f);
		while (r->think_ns && replay_now() < until)
			;
	}
}

/* Goes through the events once. */
static void replay_events(struct replay *r)
{
	for (size_t i = 0; i < r->event_count; i++) {
		const struct event *e = r->events + i;
		struct replay_file *f = r->files + e->file;

		if (e->kind == 'W') {
			replay_open(r, f);
			image_want(&f->image, e->offset, e->size, IMAGE_NEEDED);
			if (r->group_count == GROUP_MAX)
				replay_wait(r);
			r->group[r->group_count++] = f;
		} else if (e->kind == 'H') {
			replay_wait(r);
			replay_open(r, f);
			replay_use(r, f, e->offset, e->size);
			/* What has come in makes room for more to be read ahead. */
			if (i % EVENTS_PER_TURN == 0)
				replay_turn(r, false);
		} else if (e->kind == 'C') {
			replay_wait(r);
			replay_close(r, f);
			f->closed++;
			f->passed = f->asked = f->used = 0;
		} else if (e->kind == 'X') {
			replay_ahead(r, f);
		}
	}
	replay_wait(r);
	for (size_t i = 0; i < r->file_count; i++)
		replay_close(r, r->files + i);
}

/* Opens the files, marks what is expected of them, and evicts them if that is asked for. */
static void replay_files(struct replay *r)
{
	struct stat st;

	for (size_t i = 0; i < r->file_count; i++) {
		struct replay_file *f = r->files + i;

		if (!f->path)
			continue;
		f->handle.fd = open(f->path, O_RDONLY | O_CLOEXEC);
		if (f->handle.fd < 0 || fstat(f->handle.fd, &st) < 0)
			replay_fail(f->path, errno);
		f->handle.nowait = io_probe_nowait(&r->io, f->handle.fd, st.st_dev);
		if (r->cold)
			posix_fadvise(f->handle.fd, 0, 0, POSIX_FADV_DONTNEED);
		memset(f->expected, 0, f->size / UNIT + 2);
		f->closed = 0;
		f->passed = f->asked = f->used = 0;
		f->next = f->ranges;
	}
	for (size_t i = 0; i < r->event_count; i++) {
		const struct event *x = r->events + i;

		for (uint64_t u = x->offset / UNIT;
		     x->kind == 'X' && u <= (x->offset + x->size - 1) / UNIT; u++)
			r->files[x->file].expected[u] = 1;
	}
}

/* Replays the trace in one set-up; microseconds. */
static double replay_once(struct replay *r)
{
	struct io_options options = { .method = (enum io_method_id)r->set[SET_METHOD],
				      .queue_depth = 64,
				      .threads = 4 };
	double took;
	int e = io_init(&r->io, &options, NULL);

	if (e < 0)
		replay_fail("the method", -e);
	e = image_pool_init(&r->pool, &r->io, r->set[SET_BUDGET]);
	if (e < 0)
		replay_fail("memory", -e);
	r->group_count = 0;
	r->waits = 0;
	replay_files(r);
	took = replay_now();
	replay_events(r);
	took = replay_now() - took;
	for (size_t i = 0; i < r->file_count; i++) {
		if (r->files[i].path)
			close(r->files[i].handle.fd);
	}
	return took;
}

/* Orders numbers, for qsort(). */
static int replay_compare(const void *a, const void *b)
{
	const double *x = a, *y = b;

	return *x < *y ? -1 : *x > *y;
}

/* Replays the trace as often as is asked for and prints a row. */
static void replay_row(struct replay *r)
{
	double seconds[99];

	for (unsigned i = 0; i < r->rounds; i++) {
		seconds[i] = replay_once(r) / 1e6;
		if (i + 1 < r->rounds) {
			image_pool_done(&r->pool);
			io_done(&r->io);
		}
	}
	qsort(seconds, r->rounds, sizeof(seconds[0]), replay_compare);
	printf("| %s | %llu | %llu | %llu | %.3f | %llu | %llu | %.1f | %llu | %.1f |\n",
	       method_names[r->set[SET_METHOD]], (unsigned long long)r->set[SET_BLOCK] >> 10,
	       (unsigned long long)r->set[SET_BUDGET] >> 20,
	       (unsigned long long)r->set[SET_AHEAD] >> 10, seconds[r->rounds / 2],
	       (unsigned long long)r->waits, (unsigned long long)r->io.statistics.reads,
	       (double)r->io.statistics.bytes_read / 1048576,
	       (unsigned long long)r->pool.statistics.blocks_evicted,
	       (double)r->pool.statistics.committed_peak_bytes / 1048576);
	fflush(stdout);
	image_pool_done(&r->pool);
	io_done(&r->io);
}

/* ---- which set-ups ------------------------------------------------------------------------ */

/* Every combination, from dimension AT on. */
static void replay_product(struct replay *r, unsigned at)
{
	if (at == SET_COUNT) {
		replay_row(r);
		return;
	}
	for (size_t i = 0; i < r->value_count[at]; i++) {
		r->set[at] = r->values[at][i];
		replay_product(r, at + 1);
	}
}

/* The first set-up, then those that differ from it in one thing. */
static void replay_one_by_one(struct replay *r)
{
	for (unsigned at = 0; at < SET_COUNT; at++)
		r->set[at] = r->values[at][0];
	replay_row(r);
	for (unsigned at = 0; at < SET_COUNT; at++) {
		for (size_t i = 1; i < r->value_count[at]; i++) {
			r->set[at] = r->values[at][i];
			replay_row(r);
		}
		r->set[at] = r->values[at][0];
	}
}

/* Says how the program is called. */
static void __attribute__((noreturn)) usage(void)
{
	fprintf(stderr,
		"usage: replay [OPTION...] TRACE\n\n"
		"  --methods=LIST  uring, threads, sync\n"
		"  --blocks=LIST   sizes of blocks in KiB (4,16,64)\n"
		"  --budgets=LIST  memory in MiB (128,32,8)\n"
		"  --ahead=LIST    how far to read a file ahead, in KiB "
		"(4096,256,1024,16384,65536)\n"
		"  --all           all combinations; else the first value of each list, and what\n"
		"                  differs from that in one thing\n"
		"  --cold          the files leave the page cache before each replay\n"
		"  --think=NS      work for each KiB that is used (0)\n"
		"  --rounds=N      the median of so many (3)\n");
	exit(2);
}

/* A number. */
static uint64_t replay_number(const char **text)
{
	char *end;
	unsigned long long n = strtoull(*text, &end, 10);

	if (end == *text || n > UINT32_MAX)
		usage();
	*text = end + (*end == ',');
	return n;
}

/* Takes a list of values: of names of methods, or of numbers in a unit. */
static void replay_list(struct replay *r, unsigned at, const char *text, unsigned shift)
{
	r->value_count[at] = 0;
	while (*text && r->value_count[at] < VALUES_MAX) {
		uint64_t value = 0;

		if (at == SET_METHOD) {
			size_t size = strcspn(text, ",");

			for (value = 3; value > 0; value--) {
				if (strlen(method_names[value]) == size &&
				    memcmp(text, method_names[value], size) == 0)
					break;
			}
			text += size + (text[size] == ',');
		} else {
			value = replay_number(&text) << shift;
		}
		if (at != SET_AHEAD && value == 0)
			usage();
		if (at == SET_BLOCK && (value & (value - 1) || value < UNIT || value > 2u << 20))
			usage();
		r->values[at][r->value_count[at]++] = value;
	}
	if (!r->value_count[at])
		usage();
}

/* Takes the options. */
static void replay_arguments(struct replay *r, int argc, char **argv)
{
	static const struct option options[] = {
		{ "methods", required_argument, NULL, 'm' },
		{ "blocks", required_argument, NULL, 'b' },
		{ "budgets", required_argument, NULL, 'g' },
		{ "ahead", required_argument, NULL, 'a' },
		{ "rounds", required_argument, NULL, 'r' },
		{ "think", required_argument, NULL, 't' },
		{ "all", no_argument, NULL, 'A' },
		{ "cold", no_argument, NULL, 'c' },
		{ 0 },
	};
	const char *text;
	int c;

	replay_list(r, SET_METHOD, "uring,threads,sync", 0);
	replay_list(r, SET_BLOCK, "4,16,64", 10);
	replay_list(r, SET_BUDGET, "128,32,8", 20);
	replay_list(r, SET_AHEAD, "4096,256,1024,16384,65536", 10);
	r->rounds = 3;
	while ((c = getopt_long(argc, argv, "", options, NULL)) != -1) {
		text = optarg;
		if (c == 'm')
			replay_list(r, SET_METHOD, text, 0);
		else if (c == 'b')
			replay_list(r, SET_BLOCK, text, 10);
		else if (c == 'g')
			replay_list(r, SET_BUDGET, text, 20);
		else if (c == 'a')
			replay_list(r, SET_AHEAD, text, 10);
		else if (c == 'r')
			r->rounds = (unsigned)replay_number(&text);
		else if (c == 't')
			r->think_ns = replay_number(&text);
		else if (c == 'A')
			r->all = true;
		else if (c == 'c')
			r->cold = true;
		else
			usage();
	}
	if (argc - optind != 1 || r->rounds < 1 || r->rounds > 99)
		usage();
}

int main(int argc, char **argv)
{
	struct replay r = { 0 };
	struct rlimit limit;

	replay_arguments(&r, argc, argv);
	replay_load(&r, argv[optind]);
	if (getrlimit(RLIMIT_NOFILE, &limit) == 0) {
		limit.rlim_cur = limit.rlim_max;
		setrlimit(RLIMIT_NOFILE, &limit);
	}
	printf("| method | block KiB | budget MiB | ahead KiB | seconds | waits | reads | MiB read "
	       "| "
	       "evicted | peak MiB |\n|---|---|---|---|---|---|---|---|---|---|\n");
	if (r.all)
		replay_product(&r, 0);
	else
		replay_one_by_one(&r);
	replay_done(&r);
	return 0;
}
