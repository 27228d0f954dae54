/* SPDX-License-Identifier: MIT */
#include <criterion/criterion.h>
#include <criterion/new/assert.h>
#include <criterion/parameterized.h>

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include "tests/support/io-methods.h"

static struct io io;
static struct io_fault fault;
static char *folder;

/* Sets up the io of a test; skips it where the ring is refused. */
static void setup(enum io_method_case_id id, unsigned queue_depth)
{
	int r = io_method_case_init(id, &io, &fault, queue_depth);

	if (r < 0 && id == IO_CASE_URING)
		cr_skip_test("no ring: %s", strerror(-r));
	cr_assert(eq(int, r, 0));
	folder = test_folder_make();
}

/* Ends it. */
static void teardown(void)
{
	cr_expect(eq(uint, io.in_flight, 0));
	io_done(&io);
	folder = test_folder_remove(folder);
}

/* Takes turns until an operation is done. */
static struct io_op *wait_done(void)
{
	struct io_op *op;

	while (!(op = io_next_done(&io)))
		cr_assert(eq(int, io_turn(&io, true, UINT64_MAX), 0));
	return op;
}

/* Opens one file. */
static struct io_op open_path(const char *path)
{
	struct io_op op = { .kind = IO_OPEN, .path = path };

	list_init(&op.link);
	io_submit(&io, &op);
	cr_assert(eq(ptr, wait_done(), &op));
	return op;
}

/* Reads one range. */
static int read_range(struct io_file file, uint64_t offset, uint32_t size, uint8_t *buffer)
{
	struct io_op op = {
		.kind = IO_READ,
		.file = file,
		.offset = offset,
		.size_bytes = size,
		.buffer = buffer,
	};

	io_submit(&io, &op);
	cr_assert(eq(ptr, wait_done(), &op));
	return op.result;
}

IO_METHOD_TEST(io, open_says_what_is_wrong)
{
	char *fifo, *gone, *loop;

	setup(*id, 8);
	fifo = test_path(folder, "fifo");
	gone = test_path(folder, "gone");
	loop = test_path(folder, "loop");
	cr_assert(eq(int, mkfifo(fifo, 0600), 0));
	cr_assert(eq(int, symlink("loop", loop), 0));
	cr_expect(eq(int, open_path(gone).result, -ENOENT));
	cr_expect(eq(int, open_path(folder).result, -EISDIR));
	cr_expect(eq(int, open_path(fifo).result, -EBADFD));
	cr_expect(eq(int, open_path("/dev/null").result, -EBADFD));
	cr_expect(eq(int, open_path(loop).result, -ELOOP));
	cr_expect(eq(int, open_path(folder).file.fd, -1), "a refused file has no descriptor");
	free(fifo);
	free(gone);
	free(loop);
	teardown();
}

IO_METHOD_TEST(io, open_gives_stat_and_follows_links)
{
	char *path, *link_path;
	struct io_op op;
	struct stat st;

	setup(*id, 8);
	path = test_path(folder, "file");
	link_path = test_path(folder, "link");
	free(test_file_random(path, 12345, 1));
	cr_assert(eq(int, symlink("file", link_path), 0));
	cr_assert(eq(int, stat(path, &st), 0));
	op = open_path(link_path);
	cr_assert(eq(int, op.result, 0));
	cr_expect(eq(u64, op.stat.size_bytes, 12345));
	cr_expect(eq(u64, op.stat.inode, st.st_ino));
	cr_expect(eq(u64, op.stat.device, st.st_dev));
	cr_expect(eq(u64, op.stat.blocks, (uint64_t)st.st_blocks));
	cr_expect(eq(u32, op.stat.link_count, 1));
	cr_expect(eq(u32, op.stat.mode, st.st_mode));
	cr_expect(ne(int, fcntl(op.file.fd, F_GETFD) & FD_CLOEXEC, 0));
	close(op.file.fd);
	free(path);
	free(link_path);
	teardown();
}

IO_METHOD_TEST(io, open_refuses_a_deleted_file)
{
	char *path, proc[64];
	int fd;

	setup(*id, 8);
	path = test_path(folder, "file");
	fd = open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0600);
	cr_assert(ge(int, fd, 0));
	cr_assert(eq(int, unlink(path), 0));
	snprintf(proc, sizeof(proc), "/proc/self/fd/%d", fd);
	cr_expect(eq(int, open_path(proc).result, -EIDRM));
	close(fd);
	free(path);
	teardown();
}

IO_METHOD_TEST(io, hundreds_of_opens_are_concurrent)
{
	static struct io_op ops[300];
	static char *paths[300];
	unsigned done = 0;

	setup(*id, 64);
	for (int i = 0; i < 300; i++) {
		char name[32];

		snprintf(name, sizeof(name), "file-%d", i);
		paths[i] = test_path(folder, name);
		/* Every third is missing. */
		if (i % 3 != 0)
			free(test_file_random(paths[i], (uint64_t)i, 1));
		ops[i].kind = IO_OPEN;
		ops[i].path = paths[i];
		io_submit(&io, &ops[i]);
	}
	for (; done < 300; done++)
		wait_done();
	for (int i = 0; i < 300; i++) {
		cr_expect(eq(int, ops[i].result, i % 3 == 0 ? -ENOENT : 0));
		if (ops[i].result == 0) {
			cr_expect(eq(u64, ops[i].stat.size_bytes, (uint64_t)i));
			close(ops[i].file.fd);
		}
		free(paths[i]);
	}
	cr_expect(eq(u64, io.statistics.opens, 300));
	teardown();
}

IO_METHOD_TEST(io, hundreds_of_reads_bring_their_bytes)
{
	static struct io_op ops[500];
	uint64_t seed = 7, total = 0, size = 3000001;
	uint8_t *bytes;
	char *path;
	struct io_op file;

	setup(*id, 32);
	path = test_path(folder, "file");
	bytes = test_file_random(path, size, 1);
	file = open_path(path);
	for (int i = 0; i < 500; i++) {
		ops[i].kind = IO_READ;
		ops[i].file = file.file;
		ops[i].size_bytes = 1 + (uint32_t)(io_fault_random(&seed) % 100000);
		ops[i].offset = io_fault_random(&seed) % (size - ops[i].size_bytes + 1);
		ops[i].buffer = malloc(ops[i].size_bytes);
		io_submit(&io, &ops[i]);
	}
	for (int i = 0; i < 500; i++) {
		struct io_op *op = wait_done();

		cr_assert(eq(int, op->result, (int)op->size_bytes));
		cr_assert(eq(int, memcmp(op->buffer, bytes + op->offset, op->size_bytes), 0));
		total += op->size_bytes;
		free(op->buffer);
	}
	cr_expect(eq(u64, io.statistics.reads, 500));
	cr_expect(eq(u64, io.statistics.bytes_read, total));
	cr_expect(not(io_is_busy(&io)));
	if (*id == IO_CASE_FAULT)
		cr_expect(gt(u64, fault.attempts, 1000), "reads came in pieces");
	close(file.file.fd);
	free(bytes);
	free(path);
	teardown();
}

IO_METHOD_TEST(io, reads_end_at_the_end_of_the_file)
{
	uint8_t *bytes, buffer[20000];
	struct io_op file;
	char *path;

	setup(*id, 8);
	path = test_path(folder, "file");
	bytes = test_file_random(path, 10000, 1);
	file = open_path(path);
	cr_expect(eq(int, read_range(file.file, 0, 20000, buffer), 10000));
	cr_expect(eq(int, memcmp(buffer, bytes, 10000), 0));
	cr_expect(eq(int, read_range(file.file, 9999, 20000, buffer), 1));
	cr_expect(eq(int, read_range(file.file, 10000, 1, buffer), 0));
	cr_expect(eq(int, read_range(file.file, 1ull << 40, 1, buffer), 0));
	cr_assert(eq(int, truncate(path, 5000), 0));
	cr_expect(eq(int, read_range(file.file, 4000, 6000, buffer), 1000));
	close(file.file.fd);
	cr_expect(eq(int, read_range(file.file, 0, 1, buffer), -EBADF));
	free(bytes);
	free(path);
	teardown();
}

IO_METHOD_TEST(io, files_without_nowait_are_read_too)
{
	static struct io_op ops[40];
	uint8_t *bytes, *buffer;
	struct io_op file;
	char *path;

	setup(*id, 8);
	path = test_path(folder, "file");
	bytes = test_file_random(path, 40u << 20, 1);
	buffer = malloc(40u << 20);
	file = open_path(path);
	for (unsigned i = 0; i < 40; i++) {
		ops[i] = (struct io_op){
			.kind = IO_READ,
			.file = { file.file.fd, false },
			.async = i % 4 == 0,
			.offset = (uint64_t)i << 20,
			.size_bytes = 1u << 20,
			.buffer = buffer + ((size_t)i << 20),
		};
		io_submit(&io, &ops[i]);
	}
	for (unsigned i = 0; i < 40; i++)
		cr_expect(eq(int, wait_done()->result, 1 << 20));
	cr_expect(eq(int, memcmp(buffer, bytes, 40u << 20), 0));
	close(file.file.fd);
	free(buffer);
	free(bytes);
	free(path);
	teardown();
}

IO_METHOD_TEST(io, drain_ends_everything)
{
	static struct io_op ops[100];
	unsigned full = 0, cancelled = 0;
	struct io_op file, *op;
	uint8_t *buffer;
	char *path;

	setup(*id, 16);
	path = test_path(folder, "file");
	free(test_file_random(path, 1 << 20, 1));
	file = open_path(path);
	buffer = malloc(100u << 16);
	fault.never = true;
	for (unsigned i = 0; i < 100; i++) {
		ops[i] = (struct io_op){ .kind = IO_READ,
					 .file = file.file,
					 .async = i % 2,
					 .size_bytes = 1u << 16,
					 .buffer = buffer + (i << 16) };
		io_submit(&io, &ops[i]);
	}
	cr_assert(eq(int, io_turn(&io, false, 0), 0));
	io_drain(&io);
	cr_expect(not(io_is_busy(&io)));
	while ((op = io_next_done(&io))) {
		if (op->result == 1 << 16)
			full++;
		else if (op->result == -ECANCELED)
			cancelled++;
	}
	cr_expect(eq(uint, full + cancelled, 100));
	if (*id == IO_CASE_FAULT)
		cr_expect(eq(uint, cancelled, 100));
	/* It works afterwards. */
	fault.never = false;
	cr_expect(eq(int, read_range(file.file, 0, 1 << 16, buffer), 1 << 16));
	/* With nothing to do it does nothing. */
	io_drain(&io);
	cr_expect(eq(ptr, io_next_done(&io), NULL));
	close(file.file.fd);
	free(buffer);
	free(path);
	teardown();
}

IO_METHOD_TEST(io, event_fd_wakes_a_poller)
{
	struct io_op op = { .kind = IO_READ, .size_bytes = 4096, .async = true };
	uint8_t buffer[4096], *bytes;
	struct pollfd pfd;
	struct io_op file;
	unsigned rounds = 0;
	char *path;

	setup(*id, 8);
	path = test_path(folder, "file");
	bytes = test_file_random(path, 1 << 20, 1);
	file = open_path(path);
	pfd = (struct pollfd){ .fd = io_event_fd(&io), .events = POLLIN };
	cr_assert(ge(int, pfd.fd, 0));
	cr_expect(eq(int, io_event_fd(&io), pfd.fd));
	cr_expect(eq(int, poll(&pfd, 1, 0), 1), "it is primed");
	cr_assert(eq(int, io_turn(&io, false, 0), 0));
	cr_expect(eq(int, poll(&pfd, 1, 0), 0), "a turn resets it");

	for (unsigned i = 0; i < 20; i++) {
		op.file = file.file;
		op.offset = i * 4096u;
		op.buffer = buffer;
		io_submit(&io, &op);
		cr_assert(eq(int, io_turn(&io, false, 0), 0));
		while (!io_next_done(&io)) {
			cr_assert(eq(int, poll(&pfd, 1, 10000), 1), "nothing woke us");
			cr_assert(eq(int, io_turn(&io, false, 0), 0));
			cr_assert(lt(uint, rounds++, 10000));
		}
		cr_assert(eq(int, op.result, 4096));
		cr_assert(eq(int, memcmp(buffer, bytes + i * 4096, 4096), 0));
	}
	close(file.file.fd);
	free(bytes);
	free(path);
	teardown();
}

IO_METHOD_TEST(io, waiting_without_work_returns)
{
	setup(*id, 8);
	cr_expect(eq(int, io_turn(&io, true, UINT64_MAX), 0));
	cr_expect(eq(int, io_turn(&io, true, 0), 0));
	cr_expect(eq(ptr, io_next_done(&io), NULL));
	teardown();
}

/* Replaces the descriptor of the process's ring by something else. */
static bool break_ring(void)
{
	for (int fd = 3; fd < 256; fd++) {
		char path[64], target[64] = "";
		int null;

		snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
		if (readlink(path, target, sizeof(target) - 1) < 0 || !strstr(target, "io_uring"))
			continue;
		null = open("/dev/null", O_RDONLY | O_CLOEXEC);
		if (null < 0 || dup2(null, fd) != fd)
			return false;
		close(null);
		return true;
	}
	return false;
}

Test(io, a_ring_that_dies_is_survived)
{
	static struct io_op ops[50];
	uint8_t *bytes, *buffer;
	struct io_op file;
	char *path;

	setup(IO_CASE_URING, 16);
	path = test_path(folder, "file");
	bytes = test_file_random(path, 50u << 12, 1);
	buffer = calloc(50, 1 << 12);
	file = open_path(path);
	for (unsigned i = 0; i < 50; i++) {
		ops[i] = (struct io_op){ .kind = IO_READ,
					 .file = file.file,
					 .async = i % 2,
					 .offset = i << 12,
					 .size_bytes = 1u << 12,
					 .buffer = buffer + (i << 12) };
		io_submit(&io, &ops[i]);
		/* Some are with the kernel, or with its workers, by now. */
		if (i == 10)
			cr_assert(eq(int, io_turn(&io, false, 0), 0));
	}
	cr_assert(break_ring());
	for (unsigned i = 0; i < 50; i++)
		cr_assert(eq(int, wait_done()->result, 1 << 12));
	cr_expect(eq(int, memcmp(buffer, bytes, 50u << 12), 0));
	/* Opens and events work as well. */
	close(file.file.fd);
	file = open_path(path);
	cr_expect(eq(int, file.result, 0));
	cr_expect(ge(int, io_event_fd(&io), 0));
	io_drain(&io);
	close(file.file.fd);
	free(buffer);
	free(bytes);
	free(path);
	teardown();
}

Test(io, auto_finds_a_method)
{
	struct io_options options = { .method = IO_METHOD_AUTO };
	const char *hint = "untouched";

	cr_assert(eq(int, io_init(&io, &options, &hint), 0));
	if (io.method == &io_method_uring)
		cr_expect(eq(ptr, (void *)hint, NULL));
	else
		cr_expect(ne(ptr, (void *)hint, NULL));
	io_done(&io);
}

Test(io, auto_falls_back_to_threads_with_a_hint)
{
	struct rlimit limit, none = { 0, 0 };
	struct io_options options = { .method = IO_METHOD_AUTO };
	const char *hint = NULL;
	int r;

	/* Without descriptors there is no ring, but threads need none. */
	cr_assert(eq(int, getrlimit(RLIMIT_NOFILE, &limit), 0));
	none.rlim_max = limit.rlim_max;
	cr_assert(eq(int, setrlimit(RLIMIT_NOFILE, &none), 0));
	r = io_init(&io, &options, &hint);
	setrlimit(RLIMIT_NOFILE, &limit);
	cr_assert(eq(int, r, 0));
	cr_expect(eq(ptr, (void *)io.method, (void *)&io_method_threads));
	cr_assert(ne(ptr, (void *)hint, NULL));
	io_done(&io);

	/* Who insists gets the error. */
	options.method = IO_METHOD_URING;
	setrlimit(RLIMIT_NOFILE, &none);
	r = io_init(&io, &options, &hint);
	setrlimit(RLIMIT_NOFILE, &limit);
	cr_expect(lt(int, r, 0));
	cr_assert(ne(ptr, (void *)hint, NULL));
	io_done(&io);
}

Test(io, workers_block_signals)
{
	struct io_op op = { .kind = IO_OPEN, .path = "/nonexistent" };
	struct dirent *entry;
	unsigned found = 0;
	DIR *tasks;

	setup(IO_CASE_THREADS, 8);
	io_submit(&io, &op);
	wait_done();
	tasks = opendir("/proc/self/task");
	cr_assert(tasks != NULL);
	while ((entry = readdir(tasks))) {
		char path[300], line[256];
		unsigned long long blocked;
		FILE *file;

		if (entry->d_name[0] == '.' || atoi(entry->d_name) == getpid())
			continue;
		snprintf(path, sizeof(path), "/proc/self/task/%s/status", entry->d_name);
		file = fopen(path, "r");
		cr_assert(file != NULL);
		while (fgets(line, sizeof(line), file)) {
			if (sscanf(line, "SigBlk: %llx", &blocked) != 1)
				continue;
			cr_expect(ne(u64, blocked & (1ull << (SIGINT - 1)), 0));
			cr_expect(ne(u64, blocked & (1ull << (SIGTERM - 1)), 0));
			found++;
		}
		fclose(file);
	}
	closedir(tasks);
	cr_expect(ge(uint, found, 1));
	teardown();
}

Test(io, nowait_is_asked_once_per_device)
{
	struct stat st;
	bool nowait;
	int fd;
	char *path;

	setup(IO_CASE_SYNC, 8);
	path = test_path(folder, "file");
	free(test_file_random(path, 100, 1));
	fd = open(path, O_RDONLY | O_CLOEXEC);
	cr_assert(eq(int, fstat(fd, &st), 0));
	nowait = io_probe_nowait(&io, fd, st.st_dev);
	/* The answer is remembered: a descriptor that is none does not matter. */
	cr_expect(eq(int, io_probe_nowait(&io, -1, st.st_dev), nowait));
	cr_expect(not(io_probe_nowait(&io, -1, st.st_dev + 1)));
	cr_expect(eq(uint, io.probe_count, 2));
	/* More devices than are remembered. */
	for (uint64_t i = 2; i < 100; i++)
		io_probe_nowait(&io, -1, st.st_dev + i);
	cr_expect(eq(int, io_probe_nowait(&io, fd, st.st_dev), nowait));
	close(fd);
	free(path);
	teardown();
}

Test(io, fault_buffers_are_files)
{
	static uint8_t bytes[100000], buffer[100000];
	struct io_op file;

	setup(IO_CASE_FAULT, 8);
	for (size_t i = 0; i < sizeof(bytes); i++)
		bytes[i] = (uint8_t)(i * 31);
	io_fault_add_file(&fault, "name", bytes, sizeof(bytes));
	file = open_path("name");
	cr_assert(eq(int, file.result, 0));
	cr_expect(file.file.nowait);
	cr_expect(eq(u64, file.stat.size_bytes, sizeof(bytes)));
	cr_expect(eq(int, read_range(file.file, 0, sizeof(buffer), buffer), (int)sizeof(bytes)));
	cr_expect(eq(int, memcmp(buffer, bytes, sizeof(bytes)), 0));
	io_fault_fail(&fault, file.file.fd, 5000, 6000, -EIO, 1);
	cr_expect(eq(int, read_range(file.file, 0, 10000, buffer), -EIO));
	cr_expect(eq(int, read_range(file.file, 0, 10000, buffer), 10000));
	cr_expect(eq(u64, fault.failures, 1));
	io_fault_set_file(&fault, file.file.fd, bytes, 10);
	cr_expect(eq(int, read_range(file.file, 4, 10000, buffer), 6));
	teardown();
}

Test(io, eagain_storms_end)
{
	static uint8_t bytes[5000], buffer[5000];
	struct io_file file = { .nowait = true };

	setup(IO_CASE_FAULT, 8);
	memset(bytes, 3, sizeof(bytes));
	file.fd = io_fault_add_file(&fault, NULL, bytes, sizeof(bytes));
	fault.eagain_percent = 100;
	cr_expect(eq(int, read_range(file, 0, 5000, buffer), 5000));
	cr_expect(eq(int, memcmp(buffer, bytes, 5000), 0));
	cr_expect(gt(u64, io.statistics.retries, 1));
	teardown();
}

Test(io, a_wait_for_nothing_is_a_deadlock_that_is_said)
{
	static uint8_t bytes[1], buffer[1];
	struct io_op op = { .kind = IO_READ, .size_bytes = 1, .buffer = buffer };

	setup(IO_CASE_FAULT, 8);
	op.file.fd = io_fault_add_file(&fault, NULL, bytes, 1);
	fault.never = true;
	io_submit(&io, &op);
	cr_expect(eq(int, io_turn(&io, true, 1000), 0), "the time is over");
	cr_expect(eq(int, io_turn(&io, true, UINT64_MAX), -EDEADLK));
	io_drain(&io);
	cr_expect(eq(int, io_next_done(&io)->result, -ECANCELED));
	teardown();
}
