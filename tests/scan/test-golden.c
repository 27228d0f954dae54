/* SPDX-License-Identifier: MIT */
/*
 * The built-in output over the sample archive, compared with what journalctl 262 printed: see
 * golden-record.sh. Every method, blocking and from a loop.
 */
#include "tests/scan/harness.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

/* A scan and the file that holds what it must print. */
struct golden {
	const char *name;
	enum jscan_mode mode;
	enum jscan_direction direction;
	uint64_t limit, tail;      /* 0: none */
	const char *match[4];      /* "+" between alternatives */
};

static const struct golden goldens[] = {
	{ "short", JSCAN_MODE_SHORT, JSCAN_FORWARD, 0, 0, { NULL } },
	{ "short-reverse", JSCAN_MODE_SHORT, JSCAN_BACKWARD, 0, 0, { NULL } },
	{ "cat", JSCAN_MODE_CAT, JSCAN_FORWARD, 0, 0, { NULL } },
	{ "cat-match", JSCAN_MODE_CAT, JSCAN_FORWARD, 0, 0,
	  { "_COMM=sshd", "PRIORITY=6", "+", "_TRANSPORT=kernel" } },
	{ "short-monotonic-tail", JSCAN_MODE_SHORT_MONOTONIC, JSCAN_FORWARD, 0, 8, { NULL } },
	{ "verbose-reverse", JSCAN_MODE_VERBOSE, JSCAN_BACKWARD, 3, 0, { NULL } },
	{ "export-head", JSCAN_MODE_EXPORT, JSCAN_FORWARD, 6, 0, { NULL } },
	{ "export-match-reverse", JSCAN_MODE_EXPORT, JSCAN_BACKWARD, 0, 0, { "_COMM=sshd" } },
};

/* The contents of a file; to be freed. */
static char *load(int fd)
{
	struct stat st;
	char *text;

	cr_assert(eq(int, fstat(fd, &st), 0));
	text = calloc(1, (size_t)st.st_size + 1);
	cr_assert(eq(sz, (size_t)pread(fd, text, (size_t)st.st_size, 0), (size_t)st.st_size));
	return text;
}

/* What a scan prints. */
static char *print(const struct golden *g, uint32_t method, bool loop)
{
	struct jscan_output output = { .size = sizeof(output), .mode = g->mode };
	struct jscan *engine = archive_open(SAMPLE_FOLDER, method);
	FILE *f = tmpfile();
	char *text;
	int r;

	jscan_set_direction(engine, g->direction);
	if (g->limit)
		jscan_set_limit(engine, g->limit);
	if (g->tail)
		jscan_set_tail(engine, g->tail);
	for (unsigned i = 0; i < 4 && g->match[i]; i++) {
		if (g->match[i][0] == '+')
			cr_assert(eq(int, jscan_match_or(engine), 0));
		else
			cr_assert(eq(int, jscan_match(engine, g->match[i], strlen(g->match[i])),
				     0));
	}
	cr_assert(eq(int, jscan_add_output(engine, &output, fileno(f)), 0));
	if (loop) {
		cr_assert(ge(int, jscan_fd(engine), 0));
		while ((r = jscan_process(engine)) >= 0 || r == -EAGAIN) {
			if (r <= 0)
				loop_wait(engine);
		}
		cr_expect(eq(int, r, -ENODATA));
	} else {
		cr_expect(eq(int, jscan_run(engine), 0));
	}
	jscan_free(engine);
	text = load(fileno(f));
	fclose(f);
	return text;
}

TestSuite(golden, .timeout = 60);

METHOD_TEST(golden, prints_what_the_reference_prints)
{
	setenv("TZ", "UTC", 1);
	for (size_t i = 0; i < sizeof(goldens) / sizeof(goldens[0]); i++) {
		char path[500], *expected;
		int fd;

		snprintf(path, sizeof(path), "%s/%s", GOLDEN_FOLDER, goldens[i].name);
		fd = open(path, O_RDONLY | O_CLOEXEC);
		cr_assert(ge(int, fd, 0), "%s", path);
		expected = load(fd);
		cr_assert(gt(sz, strlen(expected), 100));
		for (int loop = 0; loop < 2; loop++) {
			char *text = print(&goldens[i], *method, loop);

			cr_expect(eq(str, text, expected), "%s", goldens[i].name);
			free(text);
		}
		free(expected);
		close(fd);
	}
}
