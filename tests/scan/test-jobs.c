/* SPDX-License-Identifier: MIT */
/*
 * Scans whose entries are formatted by several threads: the same bytes, the same problems and the
 * same counts as by one, whatever the I/O does and wherever the scan is stopped. Looks inside the
 * library for engine_set_io() only.
 */
#include <fcntl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "engine/engine.h"
#include "tests/scan/harness.h"
#include "tests/support/fixture.h"

#define FILES 5u
#define ENTRIES 4000u

static struct io_fault fault;
static struct fixture *files[FILES];
static const char *const names[FILES] = { "/mem/a", "/mem/b", "/mem/c", "/mem/d", "/mem/e" };

/* A random number below LIMIT. */
static unsigned draw(uint64_t *seed, unsigned limit)
{
	*seed = *seed * UINT64_C(6364136223846793005) + 1442695040888963407u;
	return (unsigned)((*seed >> 33) % limit);
}

/* Adds an entry with what entries are made of: shared and unique values, large ones, compressed
 * ones, several lines, bytes that are no text. */
static void add_entry(struct fixture *fx, unsigned n, uint64_t *seed)
{
	static char large[20000];
	char message[300], pid[32], unit[64];
	struct fixture_field fields[8];
	struct fixture_stamp stamp = { .seqnum = n + 1, .realtime = ARCHIVE_TIME(n),
				       .monotonic = 1000000 + n * UINT64_C(1000),
				       .boot_id = fixture_id(50 + n / 900) };
	size_t count = 0;

	memset(message, 'a' + (int)draw(seed, 26), sizeof(message));
	message[snprintf(message, sizeof(message), "MESSAGE=%u \"quoted\"", n)] = ' ';
	if (draw(seed, 10) == 0)
		message[30] = '\n';
	if (draw(seed, 20) == 0)
		message[31] = '\x01';
	fields[count++] = (struct fixture_field){ message, 40 + draw(seed, 250) };
	snprintf(pid, sizeof(pid), "_PID=%u", draw(seed, 40));
	fields[count++] = (struct fixture_field){ pid, strlen(pid) };
	snprintf(unit, sizeof(unit), "_SYSTEMD_UNIT=unit-%u.service", draw(seed, 12));
	fields[count++] = (struct fixture_field){ unit, strlen(unit) };
	fields[count++] = (struct fixture_field){ "_HOSTNAME=host", 14 };
	fields[count++] = (struct fixture_field){ "SYSLOG_IDENTIFIER=test", 22 };
	if (draw(seed, 3) == 0)
		fields[count++] = (struct fixture_field){ "BLOB=a\tb\"\\\n\x00\xff", 14 };
	if (draw(seed, 25) == 0) {
		memset(large, 'A' + (int)draw(seed, 4), sizeof(large));
		memcpy(large, "LARGE=", 6);
		fields[count++] = (struct fixture_field){ large, 600 + draw(seed, 3) * 9000 };
	}
	fixture_entry(fx, &stamp, fields, count);
}

static void setup(void)
{
	uint64_t seed = 1;

	io_fault_init(&fault, 5);
	for (unsigned f = 0; f < FILES; f++)
		files[f] = fixture_new(&(const struct fixture_options){
			.seqnum_id = fixture_id(9), .file_id = fixture_id(10 + f),
			.machine_id = fixture_id(20), .compact = f == 1, .keyed = f == 2,
			.compression = fixture_can_compress(OBJECT_ZSTD) ? OBJECT_ZSTD : 0,
			.state = JOURNAL_STATE_ARCHIVED });
	/* The first two hundred of each thousand come file after file, the others take turns. */
	for (unsigned n = 0; n < ENTRIES; n++)
		add_entry(files[n % 1000 < 200 ? n / 1000 % FILES : draw(&seed, FILES)], n, &seed);
	for (unsigned f = 0; f < FILES; f++) {
		fixture_finish(files[f]);
		io_fault_add_file(&fault, names[f], fixture_bytes(files[f]),
				  fixture_size(files[f]));
	}
}

static void teardown(void)
{
	for (unsigned f = 0; f < FILES; f++)
		fixture_free(files[f]);
}

TestSuite(jobs, .init = setup, .fini = teardown, .timeout = 120);

/* What came of a scan. */
struct outcome {
	int result;
	uint64_t entries;
	char cursor[JSCAN_CURSOR_SIZE];
	char *bytes;
	size_t size;
	char *told; /* the problems, in order */
	size_t told_size;
};

static void outcome_free(struct outcome *o)
{
	free(o->bytes);
	free(o->told);
}

static int compare_lines(const void *a, const void *b)
{
	return strcmp(*(char *const *)a, *(char *const *)b);
}

/* The lines of a text, sorted, each once: what the merge meets is told before what the entries that
 * it is ahead of hold, and it is ahead by more with several threads. To be freed. */
static char *sorted_lines(const char *text)
{
	char *copy = strdup(text), *rest = NULL, *lines[1000], *sorted = NULL;
	size_t count = 0, size;
	FILE *f = open_memstream(&sorted, &size);

	for (char *line = strtok_r(copy, "\n", &rest); line; line = strtok_r(NULL, "\n", &rest)) {
		cr_assert(lt(sz, count, 1000));
		lines[count++] = line;
	}
	qsort(lines, count, sizeof(*lines), compare_lines);
	for (size_t i = 0; i < count; i++)
		if (i == 0 || strcmp(lines[i], lines[i - 1]) != 0)
			fprintf(f, "%s\n", lines[i]);
	fclose(f);
	free(copy);
	return sorted;
}

/* Expects outcomes to be the same. */
static void expect_same(const struct outcome *a, const struct outcome *b, const char *what)
{
	char *told_a, *told_b;

	cr_assert(eq(int, a->result, b->result), "%s", what);
	cr_assert(eq(sz, a->size, b->size), "%s", what);
	cr_assert(memcmp(a->bytes, b->bytes, a->size) == 0, "%s", what);
	cr_assert(eq(u64, a->entries, b->entries), "%s", what);
	cr_assert(eq(str, (char *)a->cursor, (char *)b->cursor), "%s", what);
	told_a = sorted_lines(a->told);
	told_b = sorted_lines(b->told);
	cr_assert(eq(str, told_a, told_b), "%s", what);
	free(told_a);
	free(told_b);
}

/* A way of scanning. */
struct scan {
	unsigned jobs;
	uint64_t memory_bytes;
	enum jscan_mode mode;
	uint32_t flags;
	uint64_t limit;       /* 0: none */
	bool backward;
	int stop_at_problem;  /* 0; or what the sink answers to the first problem */
	uint64_t write_calls; /* after which writing fails; 0: never */
	int write_answer;
	const char *match;
	enum jscan_compression compression; /* of the built-in output */
	unsigned level;
};

/* A sink that formats like the built-in output would, in little, and takes note. */
struct taker {
	FILE *bytes, *told;
	const struct scan *scan;
	uint64_t writes;
};

static int taker_format(const void *userdata, const struct jscan_entry *entry,
			const struct jscan_entry_context *context, struct jscan_buffer *buffer)
{
	const struct jscan_entry_info *info = jscan_entry_info(entry);
	static const char filler[2000];
	struct jscan_field field = { .size = sizeof(field) };
	char text[200];
	size_t state = 0;
	int size = snprintf(text, sizeof(text), "%lu %lu %d %02x%02x ", context->ordinal,
			    info->seqnum, context->has_previous,
			    context->previous_boot_id.bytes[0], info->boot_id.bytes[0]);

	(void)userdata;
	jscan_buffer_append(buffer, text, (size_t)size);
	while (jscan_entry_next_field(entry, &state, &field))
		jscan_buffer_append(buffer, field.name, field.name_size);
	jscan_buffer_append(buffer, filler, sizeof(filler) - 1); /* so that there are many writes */
	return jscan_buffer_append(buffer, "\n", 1);
}

static int taker_write(void *userdata, const void *data, size_t size)
{
	struct taker *t = userdata;

	cr_assert(eq(sz, fwrite(data, 1, size, t->bytes), size));
	if (t->scan->write_calls && ++t->writes >= t->scan->write_calls)
		return t->scan->write_answer;
	return 0;
}

static int taker_problem(void *userdata, const struct jscan_problem *problem)
{
	struct taker *t = userdata;

	fprintf(t->told, "%s %d %d %lu\n", problem->path, (int)problem->reason, problem->error,
		problem->offset);
	return t->scan->stop_at_problem;
}

/* Attaches what the scan prints to. */
static void attach(struct jscan *engine, struct taker *taker, int fd)
{
	static const struct jscan_sink_ops ops = {
		.size = sizeof(ops), .name = "taker", .format = taker_format,
		.write = taker_write, .problem = taker_problem,
	};
	const struct jscan_output output = {
		.size = sizeof(output), .mode = taker->scan->mode,
		.flags = taker->scan->flags | JSCAN_OUTPUT_UTC | JSCAN_OUTPUT_BOOT_LINES,
		.compression = taker->scan->compression, .compression_level = taker->scan->level,
	};

	cr_assert(eq(int, jscan_add_sink(engine, &ops, taker), 0));
	cr_assert(eq(int, jscan_add_output(engine, &output, fd), 0));
}

/* Reads back what was written to a file. */
static void append_file(FILE *to, FILE *from)
{
	char piece[4096];
	size_t size;

	rewind(from);
	while ((size = fread(piece, 1, sizeof(piece), from)) > 0)
		fwrite(piece, 1, size, to);
}

/* The same, decompressed; it must be a whole stream. */
static void append_frames(FILE *to, FILE *from, enum packed_kind kind)
{
	static uint8_t plain[1 << 16];
	struct packed *decoder;
	char *bytes = NULL;
	size_t size = 0, used = 0;
	FILE *all = open_memstream(&bytes, &size);
	int r = 0;

	append_file(all, from);
	fclose(all);
	cr_assert(gt(sz, size, 0), "there is a frame");
	cr_assert(eq(int, packed_new(kind, &decoder), 0));
	while (r == 0) {
		struct packed_io io = { .in = (const uint8_t *)bytes + used, .in_size = size - used,
					.in_last = true, .out = plain, .out_size = sizeof(plain) };

		r = packed_decode(decoder, &io);
		used += io.in_used;
		fwrite(plain, 1, io.out_used, to);
	}
	cr_assert(eq(int, r, 1));
	packed_free(decoder);
	free(bytes);
}

/* An engine for a scan. */
static struct jscan *open_engine(const struct scan *scan)
{
	struct jscan_options options = JSCAN_OPTIONS_INIT;
	struct jscan *engine;

	options.memory_bytes = scan->memory_bytes;
	options.jobs = scan->jobs;
	cr_assert(eq(int, jscan_new(&options, &engine), 0));
	engine_set_io(engine, &io_method_fault, &fault);
	for (unsigned f = 0; f < FILES; f++)
		cr_assert(eq(int, jscan_add_file(engine, names[f], JSCAN_ADD_LITERAL), 0));
	if (scan->limit)
		jscan_set_limit(engine, scan->limit);
	if (scan->match)
		cr_assert(eq(int, jscan_match(engine, scan->match, strlen(scan->match)), 0));
	jscan_set_direction(engine, scan->backward ? JSCAN_BACKWARD : JSCAN_FORWARD);
	return engine;
}

/* Scans, RUNS times if a sink stops it in between. */
static struct outcome run(const struct scan *scan, unsigned runs)
{
	struct jscan_stats stats = { .size = sizeof(stats) };
	struct jscan *engine = open_engine(scan);
	struct taker taker = { .scan = scan };
	struct outcome o = { 0 };
	FILE *file = tmpfile();

	taker.bytes = open_memstream(&o.bytes, &o.size);
	taker.told = open_memstream(&o.told, &o.told_size);
	attach(engine, &taker, fileno(file));
	for (unsigned i = 0; i < runs; i++)
		o.result = jscan_run(engine);
	jscan_position_cursor(engine, o.cursor);
	jscan_get_stats(engine, &stats);
	o.entries = stats.entries;
	jscan_free(engine);
	if (scan->compression == JSCAN_COMPRESSION_NONE)
		append_file(taker.bytes, file);
	else
		append_frames(taker.bytes, file,
			      scan->compression == JSCAN_COMPRESSION_LZ4 ? PACKED_LZ4 :
									   PACKED_ZSTD);
	fclose(file);
	fclose(taker.bytes);
	fclose(taker.told);
	return o;
}

static const unsigned job_counts[] = { 2, 3, 8 };
#define JOB_COUNTS (sizeof(job_counts) / sizeof(job_counts[0]))

/* Compares a scan with itself by several threads. */
static void compare(struct scan scan, unsigned runs, const char *what)
{
	struct outcome one, several;

	scan.jobs = 1;
	one = run(&scan, runs);
	for (unsigned i = 0; i < JOB_COUNTS; i++) {
		char text[100];

		scan.jobs = job_counts[i];
		snprintf(text, sizeof(text), "%s, %u jobs, mode %d", what, scan.jobs,
			 (int)scan.mode);
		several = run(&scan, runs);
		expect_same(&one, &several, text);
		outcome_free(&several);
	}
	outcome_free(&one);
}

ParameterizedTestParameters(jobs, the_same_bytes_in_every_mode)
{
	static int modes[JSCAN_MODE_CAT + 1];

	for (int i = 0; i <= JSCAN_MODE_CAT; i++)
		modes[i] = i;
	return cr_make_param_array(int, modes, JSCAN_MODE_CAT + 1);
}

ParameterizedTest(int *mode, jobs, the_same_bytes_in_every_mode)
{
	struct scan scan = { .memory_bytes = 64 << 20, .mode = (enum jscan_mode)*mode };

	compare(scan, 1, "forward");
	scan.backward = true;
	scan.flags = JSCAN_OUTPUT_ALL;
	compare(scan, 1, "backward, all");
	scan.limit = 2000;
	compare(scan, 1, "backward, limit");
	scan.match = "SYSLOG_IDENTIFIER=test";
	scan.memory_bytes = 4 << 20;
	compare(scan, 1, "match, little memory");
}

/* Compressed scans against the same one that is not. */
static void compare_compressed(struct scan scan, const char *what)
{
	static const enum jscan_compression ways[] = { JSCAN_COMPRESSION_ZSTD,
						       JSCAN_COMPRESSION_LZ4 };
	static const unsigned jobs[] = { 1, 2, 4 };
	struct outcome plain, packed;

	scan.jobs = 1;
	plain = run(&scan, 1);
	for (unsigned n = 0; n < 6; n++) {
		char text[100];

		scan.compression = ways[n % 2];
		scan.level = n == 2 ? 9 : 0;
		scan.jobs = jobs[n / 2];
		snprintf(text, sizeof(text), "%s, way %d, %u jobs", what, (int)scan.compression,
			 scan.jobs);
		packed = run(&scan, 1);
		expect_same(&plain, &packed, text);
		outcome_free(&packed);
	}
	outcome_free(&plain);
}

Test(jobs, compressed_output_holds_the_same_bytes)
{
	struct scan scan = { .memory_bytes = 64 << 20, .mode = JSCAN_MODE_EXPORT };

	compare_compressed(scan, "export");
	scan.mode = JSCAN_MODE_CAT; /* too little for a worker's frames */
	compare_compressed(scan, "cat");
	scan.mode = JSCAN_MODE_VERBOSE;
	scan.memory_bytes = 4 << 20;
	compare_compressed(scan, "verbose, little memory");
	scan.backward = true;
	scan.limit = 2000;
	compare_compressed(scan, "backward, limit");
	scan.match = "NOTHING=here";
	compare_compressed(scan, "nothing");
}

Test(jobs, a_full_disk_ends_a_compressed_scan)
{
	static const unsigned jobs[] = { 1, 2, 4 };

	for (unsigned n = 0; n < 6; n++) {
		const struct scan scan = { .memory_bytes = 64 << 20, .jobs = jobs[n / 2] };
		const struct jscan_output output = { .size = sizeof(output),
						     .mode = JSCAN_MODE_EXPORT,
						     .compression = 1 + n % 2 };
		struct jscan *engine = open_engine(&scan);
		int fd = open("/dev/full", O_WRONLY | O_CLOEXEC);

		cr_assert(eq(int, jscan_add_output(engine, &output, fd), 0));
		cr_assert(eq(int, jscan_run(engine), -ENOSPC));
		jscan_free(engine);
		close(fd);
	}
}

/* Prints a scan into a pipe that a child reads: how much that pipe holds in the end. */
static int pipe_size_after(const struct scan *scan)
{
	const struct jscan_output output = { .size = sizeof(output), .mode = JSCAN_MODE_EXPORT };
	static char piece[1 << 16];
	struct jscan *engine = open_engine(scan);
	int fds[2], status, size;
	pid_t child;

	cr_assert(eq(int, pipe(fds), 0));
	child = fork();
	if (child == 0) {
		ssize_t n;

		close(fds[1]);
		while ((n = read(fds[0], piece, sizeof(piece))) > 0)
			;
		_exit(n < 0);
	}
	cr_assert(eq(int, jscan_add_output(engine, &output, fds[1]), 0));
	cr_assert(eq(int, jscan_run(engine), 0));
	size = fcntl(fds[1], F_GETPIPE_SZ);
	jscan_free(engine);
	close(fds[0]);
	close(fds[1]);
	cr_assert(eq(int, (int)waitpid(child, &status, 0), (int)child));
	cr_assert(eq(int, status, 0));
	return size;
}

Test(jobs, a_pipe_holds_more_for_much_output_only)
{
	int fds[2], usual, most;

	cr_assert(eq(int, pipe(fds), 0));
	usual = fcntl(fds[0], F_GETPIPE_SZ);
	fcntl(fds[0], F_SETPIPE_SZ, 1 << 20); /* this user may have too many that are large */
	most = fcntl(fds[0], F_GETPIPE_SZ);
	close(fds[0]);
	close(fds[1]);
	for (unsigned jobs = 1; jobs <= 4; jobs += 3) {
		struct scan scan = { .memory_bytes = 64 << 20, .jobs = jobs };

		cr_expect(eq(int, pipe_size_after(&scan), most));
		scan.limit = 3;
		cr_expect(eq(int, pipe_size_after(&scan), usual));
	}
}

Test(jobs, compression_that_is_unknown_is_refused)
{
	struct jscan_output output = { .size = sizeof(output), .compression = 3 };
	struct jscan *engine = open_engine(&(struct scan){ .jobs = 1 });

	cr_assert(eq(int, jscan_add_output(engine, &output, 1), -EINVAL));
	output.compression = JSCAN_COMPRESSION_ZSTD;
	output.compression_level = 20;
	cr_assert(eq(int, jscan_add_output(engine, &output, 1), -EINVAL));
	output.compression = JSCAN_COMPRESSION_LZ4;
	output.compression_level = 1;
	cr_assert(eq(int, jscan_add_output(engine, &output, 1), -EINVAL));
	jscan_free(engine);
}

Test(jobs, misbehaving_reads_change_nothing)
{
	struct scan scan = { .memory_bytes = 4 << 20, .jobs = 1, .mode = JSCAN_MODE_EXPORT };
	struct outcome right = run(&scan, 1);

	for (unsigned n = 0; n < 24; n++) {
		struct outcome o;

		fault.read_bytes_max = n % 3 == 0 ? 1000 : n % 3 == 1 ? 4097 : 0;
		fault.read_bytes_random = n % 4 == 1;
		fault.delay_turns_max = n % 5;
		fault.reorder = n % 7 < 4;
		fault.eagain_percent = n % 6 == 0 ? 30 : 0;
		scan.jobs = job_counts[n % JOB_COUNTS];
		o = run(&scan, 1);
		expect_same(&right, &o, "misbehaving I/O");
		outcome_free(&o);
	}
	outcome_free(&right);
}

Test(jobs, bad_places_are_told_in_order)
{
	for (unsigned n = 0; n < 12; n++) {
		uint64_t size = fixture_size(files[n % FILES]);
		struct scan scan = { .memory_bytes = 4 << 20, .mode = JSCAN_MODE_VERBOSE };

		fault.rule_count = 0;
		for (unsigned k = 0; k < 3; k++) {
			uint64_t begin = ((n + 4) * (k + 1) * size / 64 & ~4095ull);

			io_fault_fail(&fault, IO_FAULT_FD_BASE + (int)(n % FILES), begin,
				      begin + 4096, -EIO, UINT_MAX);
		}
		compare(scan, 1, "bad places");
		scan.jobs = job_counts[n % JOB_COUNTS];
		for (scan.stop_at_problem = -1; scan.stop_at_problem <= 1;
		     scan.stop_at_problem += 2) {
			struct outcome o = run(&scan, 1);

			cr_expect(eq(int, o.result, scan.stop_at_problem));
			cr_expect(gt(sz, o.told_size, 0));
			outcome_free(&o);
		}
	}
}

Test(jobs, a_scan_that_is_stopped_goes_on_where_it_was)
{
	struct scan scan = { .memory_bytes = 8 << 20, .mode = JSCAN_MODE_SHORT_UNIX };

	for (unsigned n = 1; n < 6; n++) {
		struct outcome one, several;

		scan.write_calls = n;
		scan.write_answer = 1;
		scan.jobs = 1;
		/* Each run ends with the next write, or at the end. */
		one = run(&(struct scan){ .jobs = 1, .memory_bytes = 8 << 20,
					  .mode = JSCAN_MODE_SHORT_UNIX, .limit = ENTRIES }, 1);
		scan.jobs = job_counts[n % JOB_COUNTS];
		several = run(&scan, 400);
		cr_expect(eq(u64, one.entries, several.entries));
		cr_expect(eq(int, several.result, 0), "it has ended");
		outcome_free(&one);
		outcome_free(&several);
	}
}

Test(jobs, a_write_that_fails_ends_the_scan)
{
	for (unsigned n = 0; n < 9; n++) {
		struct scan scan = { .memory_bytes = 8 << 20, .mode = JSCAN_MODE_JSON,
				     .jobs = job_counts[n % JOB_COUNTS], .write_calls = n / 3 + 1,
				     .write_answer = -EPIPE };
		struct outcome o = run(&scan, 1);

		cr_expect(eq(int, o.result, -EPIPE), "%u", n);
		outcome_free(&o);
	}
}

Test(jobs, an_engine_may_be_freed_in_the_middle)
{
	for (unsigned n = 0; n < 9; n++) {
		struct scan scan = { .memory_bytes = 4 << 20, .mode = JSCAN_MODE_VERBOSE,
				     .jobs = job_counts[n % JOB_COUNTS], .write_calls = 1 + n / 3,
				     .write_answer = 1 };
		struct jscan *engine = open_engine(&scan);
		struct taker taker = { .scan = &scan };
		char *bytes;
		size_t size;
		FILE *file = tmpfile();

		taker.bytes = open_memstream(&bytes, &size);
		taker.told = taker.bytes;
		attach(engine, &taker, fileno(file));
		jscan_run(engine);
		if (n % 2) {
			jscan_seek_head(engine);
			jscan_run(engine);
		}
		jscan_free(engine);
		fclose(taker.bytes);
		fclose(file);
		free(bytes);
	}
}

Test(jobs, a_sink_that_takes_entries_gets_them_in_order)
{
	struct scan scan = { .memory_bytes = 8 << 20, .jobs = 4 };
	struct jscan *engine = open_engine(&scan);

	struct jscan *other = open_engine(&scan);

	expect_texts(collect(engine, DRIVE_RUN), collect(other, DRIVE_NEXT), "entries");
	jscan_free(engine);
	jscan_free(other);
}
