/* SPDX-License-Identifier: MIT */
/*
 * What a program can rely on that has an event loop of its own: turns are short and measured, no
 * thread is made unasked, a refused ring is explained, and nothing of the process is touched.
 */
#include "tests/scan/harness.h"

#include <dirent.h>
#include <fcntl.h>
#include <linux/audit.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

FOLDER_SUITE(foreign, archive_make);

/* Has the kernel refuse rings to this process, as a container's filter does. */
static void refuse_rings(void)
{
	struct sock_filter code[] = {
		BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_io_uring_setup, 0, 1),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | EPERM),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
	};
	struct sock_fprog program = { .len = sizeof(code) / sizeof(code[0]), .filter = code };

	if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) < 0 ||
	    prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program) < 0)
		cr_skip_test("no seccomp: %s", strerror(errno));
}

/* How many threads the process has, Criterion's among them, but not the kernel's for its ring. */
static unsigned threads(void)
{
	DIR *dir = opendir("/proc/self/task");
	unsigned count = 0;
	struct dirent *d;

	cr_assert(dir != NULL);
	while ((d = readdir(dir))) {
		char path[300], name[32] = "";
		FILE *f;

		if (d->d_name[0] == '.')
			continue;
		snprintf(path, sizeof(path), "/proc/self/task/%s/comm", d->d_name);
		f = fopen(path, "re");
		if (f && fgets(name, sizeof(name), f))
			count += strncmp(name, "iou-", 4) != 0;
		if (f)
			fclose(f);
	}
	closedir(dir);
	return count;
}

/* An engine of options over the archive. */
static struct jscan *engine_of(const struct jscan_options *options)
{
	struct jscan *engine;

	cr_assert(eq(int, jscan_new(options, &engine), 0));
	cr_assert(eq(int, jscan_add_directory(engine, folder, 0), 0));
	return engine;
}

/* Drives an engine with a sink to its end; the most entries that one turn has handed out. */
static unsigned drive(struct jscan *engine, const unsigned *count)
{
	unsigned most = 0, before;
	int r;

	cr_assert(ge(int, jscan_fd(engine), 0));
	do {
		before = *count;
		r = jscan_process(engine);
		most = *count - before > most ? *count - before : most;
		if (r == 0)
			loop_wait(engine);
	} while (r >= 0);
	cr_expect(eq(int, r, -ENODATA));
	return most;
}

static int count_entry(void *userdata, const struct jscan_entry *entry,
		       const struct jscan_entry_context *context)
{
	(void)entry;
	(void)context;
	++*(unsigned *)userdata;
	return 0;
}

/* A sink that takes 2 ms for an entry. */
static int slow_entry(void *userdata, const struct jscan_entry *entry,
		      const struct jscan_entry_context *context)
{
	nanosleep(&(const struct timespec){ .tv_nsec = 2000000 }, NULL);
	return count_entry(userdata, entry, context);
}

static const struct jscan_sink_ops count_ops = { .size = sizeof(count_ops), .entry = count_entry };
static const struct jscan_sink_ops slow_ops = { .size = sizeof(slow_ops), .entry = slow_entry };

METHOD_TEST(foreign, a_turn_ends_when_its_time_is_over)
{
	struct jscan_options options = JSCAN_OPTIONS_INIT;
	struct jscan_stats stats = { .size = sizeof(stats) };
	struct jscan *engine;
	unsigned count = 0;

	jscan_free(archive_open(folder, *method)); /* skips without a ring */
	options.io = *method;
	options.slice_usec = 1000;
	engine = engine_of(&options);
	cr_assert(eq(int, jscan_add_sink(engine, &slow_ops, &count), 0));
	cr_expect(eq(u32, drive(engine, &count), 1));
	cr_expect(eq(u32, count, ARCHIVE_ENTRIES));
	cr_assert(eq(int, jscan_get_stats(engine, &stats), 0));
	cr_expect(ge(u64, stats.call_usec_max, 2000), "the longest turn is measured");
	jscan_free(engine);
}

Test(foreign, a_refused_ring_leads_to_one_thread_and_says_why)
{
	struct jscan_options options = JSCAN_OPTIONS_INIT;
	struct jscan *engine;
	unsigned count = 0, before;

	refuse_rings();
	before = threads();
	engine = engine_of(&options);
	cr_expect(jscan_io_hint(engine) == NULL, "nothing has been tried");
	cr_assert(eq(int, jscan_add_sink(engine, &count_ops, &count), 0));
	cr_assert(ge(int, jscan_fd(engine), 0));
	cr_expect(le(u32, threads(), before + 1));
	cr_assert(jscan_io_hint(engine) != NULL);
	cr_expect(strstr(jscan_io_hint(engine), "io_uring is forbidden") != NULL);
	drive(engine, &count);
	cr_expect(eq(u32, count, ARCHIVE_ENTRIES));
	cr_expect(eq(u32, threads(), before + 1));
	jscan_free(engine);
	cr_expect(eq(u32, threads(), before));
}

Test(foreign, a_ring_that_is_asked_for_and_refused_is_an_error_with_a_hint)
{
	struct jscan_options options = JSCAN_OPTIONS_INIT;
	struct jscan *engine;
	unsigned before;

	refuse_rings();
	before = threads();
	options.io = JSCAN_IO_URING;
	engine = engine_of(&options);
	cr_expect(eq(int, jscan_fd(engine), -EPERM));
	cr_assert(jscan_io_hint(engine) != NULL);
	cr_expect(strstr(jscan_io_hint(engine), "io_uring is forbidden") != NULL);
	cr_expect(eq(u32, threads(), before));
	jscan_free(engine);
}

Test(foreign, a_ring_takes_no_thread_and_no_hint)
{
	unsigned count = 0, before = threads();
	struct jscan *engine = archive_open(folder, JSCAN_IO_URING);

	cr_assert(eq(int, jscan_add_sink(engine, &count_ops, &count), 0));
	drive(engine, &count);
	cr_expect(eq(u32, count, ARCHIVE_ENTRIES));
	cr_expect(jscan_io_hint(engine) == NULL);
	cr_expect(eq(u32, threads(), before));
	jscan_free(engine);
}

METHOD_TEST(foreign, signals_and_output_are_left_alone)
{
	struct sigaction before[NSIG], after;
	sigset_t mask_before, mask_after;
	int out, err, caught[2];
	struct jscan *engine;
	unsigned count = 0;
	char c;

	jscan_free(archive_open(folder, *method)); /* skips without a ring */
	archive_add_damaged(folder);               /* what is found out is for the handler only */
	for (int i = 1; i < NSIG; i++)
		sigaction(i, NULL, &before[i]);
	sigprocmask(SIG_SETMASK, NULL, &mask_before);
	cr_assert(eq(int, pipe2(caught, O_NONBLOCK | O_CLOEXEC), 0));
	out = dup(STDOUT_FILENO);
	err = dup(STDERR_FILENO);
	dup2(caught[1], STDOUT_FILENO);
	dup2(caught[1], STDERR_FILENO);
	engine = archive_open(folder, *method);
	jscan_add_sink(engine, &count_ops, &count);
	jscan_fd(engine);
	while (jscan_process(engine) >= 0)
		;
	jscan_free(engine);
	dup2(out, STDOUT_FILENO);
	dup2(err, STDERR_FILENO);
	cr_expect(eq(int, (int)read(caught[0], &c, 1), -1), "nothing was printed");
	cr_expect(eq(u32, count, ARCHIVE_ENTRIES + 2));
	sigprocmask(SIG_SETMASK, NULL, &mask_after);
	for (int i = 1; i < NSIG; i++) {
		if (sigaction(i, NULL, &after) < 0)
			continue;
		cr_expect(after.sa_handler == before[i].sa_handler, "signal %d", i);
		cr_expect(eq(int, sigismember(&mask_after, i), sigismember(&mask_before, i)));
	}
}
