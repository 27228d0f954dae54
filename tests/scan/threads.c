/* SPDX-License-Identifier: MIT */
/*
 * A long scan by 2 and by 4 threads over I/O that misbehaves, in so little memory that blocks leave
 * all the time: the bytes have to be those of one thread. A program without Criterion, so that it
 * runs under TSan, which sees every read of a block and every write to it.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "engine/engine.h"
#include "tests/support/fixture.h"
#include "tests/support/io-methods.h"

#define FILES 6u
#define ENTRIES 9000u

static struct io_fault fault;
static struct fixture *files[FILES];
static const char *const names[FILES] = { "/mem/0", "/mem/1", "/mem/2", "/mem/3", "/mem/4",
					  "/mem/5" };

/* A random number below LIMIT. */
static unsigned draw(unsigned limit)
{
	static uint64_t seed = 7;

	seed = seed * UINT64_C(6364136223846793005) + 1442695040888963407u;
	return (unsigned)((seed >> 33) % limit);
}

/* Makes files whose entries take turns and share values. */
static void make_files(void)
{
	for (unsigned f = 0; f < FILES; f++)
		files[f] = fixture_new(&(const struct fixture_options){
			.seqnum_id = fixture_id(9), .file_id = fixture_id(10 + f),
			.machine_id = fixture_id(20), .state = JOURNAL_STATE_ARCHIVED,
			.data_buckets = 2011 });
	for (unsigned n = 0; n < ENTRIES; n++) {
		struct fixture_stamp stamp = { .seqnum = n + 1, .realtime = 1700000000000000 + n };
		char message[1500], pid[32], unit[64];

		memset(message, 'm', sizeof(message));
		message[snprintf(message, 1000, "MESSAGE=%u", n)] = ' ';
		message[200 + draw(1200)] = '\0';
		snprintf(pid, sizeof(pid), "_PID=%u", draw(3000));
		snprintf(unit, sizeof(unit), "_SYSTEMD_UNIT=%u.service", draw(30));
		fixture_add(files[draw(FILES)], &stamp, message, pid, unit, "_HOSTNAME=host", NULL);
	}
	for (unsigned f = 0; f < FILES; f++) {
		fixture_finish(files[f]);
		io_fault_add_file(&fault, names[f], fixture_bytes(files[f]),
				  fixture_size(files[f]));
	}
}

/* FNV-1a of what a scan prints. */
static uint64_t scan(unsigned jobs, enum jscan_mode mode, bool backward)
{
	struct jscan_options options = JSCAN_OPTIONS_INIT;
	struct jscan_output output = { .size = sizeof(output), .mode = mode,
				       .flags = JSCAN_OUTPUT_UTC };
	uint64_t hash = UINT64_C(0xcbf29ce484222325);
	FILE *file = tmpfile();
	struct jscan *engine;
	int c, r;

	options.jobs = jobs;
	options.memory_bytes = 4 << 20;
	r = file ? jscan_new(&options, &engine) : -ENFILE;
	if (r < 0)
		abort();
	engine_set_io(engine, &io_method_fault, &fault);
	for (unsigned f = 0; f < FILES; f++)
		jscan_add_file(engine, names[f], JSCAN_ADD_LITERAL);
	jscan_set_direction(engine, backward ? JSCAN_BACKWARD : JSCAN_FORWARD);
	jscan_add_output(engine, &output, fileno(file));
	r = jscan_run(engine);
	jscan_free(engine);
	rewind(file);
	while ((c = getc_unlocked(file)) != EOF)
		hash = (hash ^ (unsigned)c) * UINT64_C(0x100000001b3);
	fclose(file);
	return r < 0 ? 0 : hash;
}

int main(void)
{
	static const enum jscan_mode modes[] = { JSCAN_MODE_CAT, JSCAN_MODE_SHORT,
						 JSCAN_MODE_JSON };
	int status = 0;

	io_fault_init(&fault, 3);
	make_files();
	for (unsigned i = 0; i < 6; i++) {
		enum jscan_mode mode = modes[i % 3];
		uint64_t one = scan(1, mode, i >= 3), two, four;

		fault.read_bytes_max = i % 2 ? 5000 : 0;
		fault.delay_turns_max = i % 4;
		fault.reorder = i % 2 == 0;
		two = scan(2, mode, i >= 3);
		four = scan(4, mode, i >= 3);
		if (one == 0 || one != two || one != four) {
			printf("mode %d differs\n", (int)mode);
			status = 1;
		}
	}
	for (unsigned f = 0; f < FILES; f++)
		fixture_free(files[f]);
	return status;
}
