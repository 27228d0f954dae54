/* SPDX-License-Identifier: MIT */
/*
 * Whole scans over hostile files: one or two journals go through the engine, from opening to
 * output, over I/O in memory that may be short, late and out of order. A scan must end, with no
 * more entries than fit into its files; and where nothing was found to be wrong, reading backward
 * gives as many entries as reading forward.
 *
 * An input begins with FUZZ_HEAD bytes that say how, and the size of the first file; then come the
 * files.
 */
#include <fcntl.h>
#include <unistd.h>

#include "engine/engine.h"
#include "tests/fuzz/fuzz.h"
#include "tests/support/io-fault.h"

/* How: bytes of the head. */
#define HOW_FLAGS 0   /* HOW_... below */
#define HOW_MODE 1    /* of output */
#define HOW_MATCH 2   /* which expression */
#define HOW_SEEK 3    /* where reading starts */
#define HOW_FAULT 4   /* how I/O misbehaves */
#define HOW_NUMBER 5  /* an argument */
#define HOW_SPLIT 6   /* two bytes: size of the first file in units of 64, 0: all */
#define FUZZ_HEAD 8u

#define HOW_BACKWARD 1u
#define HOW_SCAN 2u     /* JSCAN_PLAN_SCAN */
#define HOW_TINY 4u     /* hardly any memory */
#define HOW_LOOP 8u     /* driven as by a foreign loop */
#define HOW_PULL 16u    /* jscan_next(), and copies are made */
#define HOW_TAIL 32u
#define HOW_BOUNDS 64u
#define HOW_ALL 128u    /* JSCAN_OUTPUT_ALL */

/* More memory than this would let small files be resident as a whole. */
#define TINY_BYTES (32u << 10)

struct input {
	const uint8_t *head;
	const uint8_t *files[2];
	size_t sizes[2];
	unsigned count;
};

/* What a scan has come to. */
struct outcome {
	uint64_t entries, duplicates, problems;
};

/* Counts problems; everything that is reported can be read. */
static void take_problem(void *userdata, const struct jscan_problem *problem)
{
	struct outcome *o = userdata;

	FUZZ_CHECK(problem->error < 0 && problem->reason >= JSCAN_REASON_OPEN &&
		   problem->reason <= JSCAN_REASON_LIMIT && strlen(problem->path) == 1);
	o->problems += 1 + !strlen(problem->detail);
}

/* Splits an input. */
static bool input_parse(const uint8_t *bytes, size_t size, struct input *in)
{
	size_t split;

	if (size < FUZZ_HEAD + HEADER_SIZE_MIN)
		return false;
	*in = (struct input){ .head = bytes, .count = 1 };
	split = (bytes[HOW_SPLIT] | (size_t)bytes[HOW_SPLIT + 1] << 8) * 64;
	bytes += FUZZ_HEAD;
	size -= FUZZ_HEAD;
	in->files[0] = bytes;
	in->sizes[0] = size;
	if (split && split < size) {
		in->sizes[0] = split;
		in->files[1] = bytes + split;
		in->sizes[1] = size - split;
		in->count = 2;
	}
	return true;
}

/* An engine over the files of an input. */
static struct jscan *open_engine(const struct input *in, struct io_fault *fault, uint32_t plan,
				 uint64_t memory_bytes)
{
	static const char *const names[] = { "a", "b" };
	struct jscan_options options = JSCAN_OPTIONS_INIT;
	struct jscan *e;

	options.plan = plan;
	options.memory_bytes = 4 << 20;
	options.slice_usec = 100000;
	FUZZ_CHECK(jscan_new(&options, &e) == 0);
	if (memory_bytes)
		e->options.memory_bytes = memory_bytes;
	engine_set_io(e, &io_method_fault, fault);
	for (unsigned i = 0; i < in->count; i++) {
		io_fault_add_file(fault, names[i], in->files[i], in->sizes[i]);
		FUZZ_CHECK(jscan_add_file(e, names[i], JSCAN_ADD_LITERAL) == 0);
	}
	return e;
}

/* Ends a scan: not more entries than the files have room for. */
static void close_engine(struct jscan *e, const struct input *in, struct outcome *o)
{
	struct jscan_stats stats = { .size = sizeof(stats) };

	FUZZ_CHECK(jscan_get_stats(e, &stats) == 0);
	o->entries = stats.entries;
	o->duplicates = stats.duplicates;
	FUZZ_CHECK(stats.entries <= (in->sizes[0] + in->sizes[1]) / 8);
	jscan_free(e);
}

/* Counts all entries in one direction. */
static struct outcome count_all(const struct input *in, enum jscan_direction direction)
{
	const struct jscan_entry *entry;
	struct outcome o = { 0 };
	struct io_fault *fault = malloc(sizeof(*fault));
	struct jscan *e;
	int r;

	io_fault_init(fault, 1);
	e = open_engine(in, fault, JSCAN_PLAN_AUTO, 0);
	jscan_set_problem_handler(e, take_problem, &o);
	jscan_set_direction(e, direction);
	while ((r = jscan_next(e, &entry)) == 1)
		;
	FUZZ_CHECK(r == 0);
	close_engine(e, in, &o);
	free(fault);
	return o;
}

/* One of some expressions over what the seeds hold. */
static void add_matches(struct jscan *e, unsigned which)
{
	static const char *const terms[] = { "M=1", "P=6", "P=3", "M=2", "PRIORITY=6", "MESSAGE=x",
					     "_BOOT_ID=00000000000000000000000000000000", "A=" };

	for (unsigned bit = 0; bit < 8; bit++) {
		if (!(which >> bit & 1))
			continue;
		FUZZ_CHECK(jscan_match(e, terms[bit], strlen(terms[bit])) == 0);
		if (which % 3 == 1)
			jscan_match_or(e);
		else if (which % 3 == 2 && bit % 2)
			jscan_match_and(e);
	}
}

/* Sets where reading starts. */
static void seek(struct jscan *e, const struct input *in)
{
	const uint8_t *file = in->files[0];
	uint64_t realtime = load_le64(file + HEADER_HEAD_ENTRY_REALTIME);
	uint64_t number = in->head[HOW_NUMBER];
	jscan_id id;

	switch (in->head[HOW_SEEK] % 7) {
	case 1:
		jscan_seek_head(e);
		break;
	case 2:
		jscan_seek_tail(e);
		break;
	case 3:
		jscan_seek_realtime(e, realtime + number * 500000);
		break;
	case 4:
		memcpy(id.bytes, file + HEADER_TAIL_ENTRY_BOOT_ID, sizeof(id.bytes));
		jscan_seek_monotonic(e, &id, number * 500000);
		break;
	case 5:
		memcpy(id.bytes, file + HEADER_SEQNUM_ID, sizeof(id.bytes));
		jscan_seek_seqnum(e, &id, number);
		break;
	case 6:
		jscan_seek_cursor(e, "s=00000000000000000000000000000000;i=1;t=60a24181e4000;m=1;"
				     "b=00000000000000000000000000000000");
		break;
	}
	if (in->head[HOW_FLAGS] & HOW_TAIL)
		jscan_set_tail(e, number);
	if (in->head[HOW_FLAGS] & HOW_BOUNDS)
		jscan_set_bounds(e, realtime + number * 100000, realtime + number * 10000000);
}

/* Takes entries one by one, with copies of some. */
static void pull(struct jscan *e, bool in_loop)
{
	const struct jscan_entry *entry;
	struct jscan_entry *copy;
	int r;

	for (;;) {
		while (in_loop && (r = jscan_process(e)) == 0)
			;
		if (in_loop && r == -ENODATA)
			return;
		r = jscan_next(e, &entry);
		if (r == -EAGAIN && in_loop)
			continue;
		if (r <= 0)
			break;
		if (jscan_entry_info(entry)->offset % 32 == 0 &&
		    jscan_entry_dup(entry, &copy) == 0) {
			struct jscan_field field = { .size = sizeof(field) };
			char cursor[JSCAN_CURSOR_SIZE], bytes[64];
			size_t state = 0;

			while (jscan_entry_next_field(copy, &state, &field) == 1)
				jscan_field_read(copy, &field, field.value_size / 2, bytes,
						 sizeof(bytes));
			FUZZ_CHECK(jscan_test_cursor(copy, jscan_entry_cursor(entry, cursor)) == 1);
			jscan_entry_free(copy);
		}
	}
	FUZZ_CHECK(r == 0);
}

/* A jscan_gap_fn: what is told makes sense. */
static int take_gap(void *userdata, const struct jscan_gap *gap)
{
	(void)userdata;
	FUZZ_CHECK(gap->path && gap->kind);
	FUZZ_CHECK(gap->kind != JSCAN_GAPS_MISSING ||
		   (gap->first_seqnum <= gap->last_seqnum &&
		    gap->count == gap->last_seqnum - gap->first_seqnum + 1));
	return 0;
}

/* The scan that the head describes. */
static void scan_as_told(const struct input *in)
{
	unsigned flags = in->head[HOW_FLAGS], how = in->head[HOW_FAULT];
	struct jscan_output output = {
		.size = sizeof(output),
		.mode = in->head[HOW_MODE] % (JSCAN_MODE_CAT + 1),
		.flags = flags & HOW_ALL ? JSCAN_OUTPUT_ALL : JSCAN_OUTPUT_BOOT_LINES,
	};
	struct io_fault *fault = malloc(sizeof(*fault));
	struct outcome o = { 0 };
	static int null = -1;
	struct jscan *e;
	int r = 0;

	if (null < 0)
		null = open("/dev/null", O_WRONLY | O_CLOEXEC);
	io_fault_init(fault, in->head[HOW_NUMBER]);
	fault->read_bytes_max = how & 1 ? 700 : 0;
	fault->read_bytes_random = how & 2;
	fault->delay_turns_max = how >> 2 & 3;
	fault->reorder = how & 16;
	fault->eagain_percent = how & 32 ? 20 : 0;
	if (how & 64)
		io_fault_fail(fault, -1, how * 64u, how * 64u + 4096, -EIO, 3);
	e = open_engine(in, fault, flags & HOW_SCAN ? JSCAN_PLAN_SCAN : JSCAN_PLAN_AUTO,
			flags & HOW_TINY ? TINY_BYTES : 0);
	jscan_set_problem_handler(e, take_problem, &o);
	jscan_set_direction(e, flags & HOW_BACKWARD ? JSCAN_BACKWARD : JSCAN_FORWARD);
	add_matches(e, in->head[HOW_MATCH]);
	seek(e, in);
	if (flags & HOW_LOOP)
		FUZZ_CHECK(jscan_fd(e) >= 0);
	if (flags & HOW_PULL) {
		pull(e, flags & HOW_LOOP);
	} else {
		FUZZ_CHECK(jscan_add_output(e, &output, null) == 0);
		if (flags & HOW_LOOP) {
			while ((r = jscan_process(e)) >= 0 || r == -EAGAIN)
				;
			FUZZ_CHECK(r == -ENODATA);
		} else {
			FUZZ_CHECK(jscan_run(e) == 0);
		}
	}
	FUZZ_CHECK(jscan_list_gaps(e, NULL, take_gap, NULL) == 0);
	close_engine(e, in, &o);
	free(fault);
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size)
{
	struct outcome forward, backward;
	struct input in;

	if (!input_parse(bytes, size, &in))
		return 0;
	forward = count_all(&in, JSCAN_FORWARD);
	backward = count_all(&in, JSCAN_BACKWARD);
	if (forward.problems == 0 && backward.problems == 0)
		FUZZ_CHECK(forward.entries + forward.duplicates ==
			   backward.entries + backward.duplicates);
	scan_as_told(&in);
	return 0;
}

void fuzz_mutate(uint8_t *bytes, size_t size, uint64_t seed)
{
	size_t split;

	if (size < FUZZ_HEAD + HEADER_SIZE_MIN)
		return;
	for (unsigned i = 0; i < HOW_SPLIT; i++)
		bytes[i] = (uint8_t)(bytes[i] + seed * (2 * i + 1));
	split = (bytes[HOW_SPLIT] | (size_t)bytes[HOW_SPLIT + 1] << 8) * 64;
	bytes += FUZZ_HEAD;
	size -= FUZZ_HEAD;
	if (split && split < size && seed % 2) {
		bytes += split;
		size -= split;
	}
	for (unsigned i = 0; i <= seed % 3; i++)
		fuzz_lie(bytes, size, seed * 3 + i);
}
