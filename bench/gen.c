/* SPDX-License-Identifier: MIT */
/*
 * Makes archives of journal files for measuring: see usage() for the options. The same options give
 * the same bytes. Files are written as journald leaves them: hash tables sized by the largest size
 * of a file, the length a multiple of 8 MiB whose tail is a hole, names that tell the first entry.
 *
 * - bulk: one machine over two months, 12 boots; each rotation leaves a file of the system and one
 *   of a user, which overlap
 * - interleaved: a file of each of many machines, all over the same half hour
 * - boots: as bulk, with 60 boots in three months
 * - many, many-ids: as boots and interleaved, but thousands of files of at most 64 KiB
 * - small: a file of each variant of the format that this build can write
 */
#include <errno.h>
#include <fcntl.h>
#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "bench/machine.h"

#define DAY (UINT64_C(86400) * 1000000)
#define START UINT64_C(1717200000000000) /* 2024-06-01 */
#define HOLE_BYTES 4096u
#define LENGTH_BYTES (UINT64_C(8) << 20)

struct gen {
	const char *layout, *folder;
	uint64_t entries, files, boots, seed;
	uint64_t file_bytes; /* largest size of a file, for the hash tables */
	bool short_files;    /* as short as what they hold */
	uint64_t entries_done, files_done, bytes_done, data_done;
};

/* Prints an error and ends. */
static void __attribute__((noreturn)) gen_fail(const char *what)
{
	fprintf(stderr, "gen: %s: %s\n", what, strerror(errno));
	exit(1);
}

/* The options of a file as most are. */
static struct fixture_options gen_options(const struct gen *g, struct id128 machine,
					  struct id128 seqnum_id)
{
	uint64_t buckets = g->file_bytes * 4 / 768 / 3;

	if (buckets < 2047 && !g->short_files)
		buckets = 2047;
	return (struct fixture_options){
		.header_size = 264, /* older releases do not verify longer ones */
		.compact = true,
		.keyed = true,
		.compression = OBJECT_ZSTD,
		.data_buckets = buckets,
		.field_buckets = g->short_files ? 61 : 333,
		.preallocate_bytes = g->short_files ? 0 : LENGTH_BYTES,
		.file_id = fixture_id(g->seed * 1000003 + g->files_done * 7919 + 17),
		.machine_id = machine,
		.seqnum_id = seqnum_id,
		.id_fields = true,
	};
}

/* Writes a file's bytes; runs of zeros become holes. */
static void gen_write(const uint8_t *bytes, size_t size, const char *path)
{
	static const uint8_t zeros[HOLE_BYTES];
	int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0644);
	size_t begin = 0;

	if (fd < 0 || ftruncate(fd, (off_t)size) < 0)
		gen_fail(path);
	for (size_t at = 0; at < size; at = begin) {
		size_t n;

		while (at < size && size - at >= HOLE_BYTES &&
		       memcmp(bytes + at, zeros, HOLE_BYTES) == 0)
			at += HOLE_BYTES;
		for (begin = at; begin < size; begin += n) {
			n = size - begin < HOLE_BYTES ? size - begin : HOLE_BYTES;
			if (n == HOLE_BYTES && memcmp(bytes + begin, zeros, n) == 0)
				break;
		}
		if (begin > at &&
		    pwrite(fd, bytes + at, begin - at, (off_t)at) != (ssize_t)(begin - at))
			gen_fail(path);
	}
	if (close(fd) < 0)
		gen_fail(path);
}

/* Finishes a file and writes it as NAME, or, with an archived name, under what journald would call
 * it. Frees the fixture. */
static struct fixture *gen_close(struct gen *g, struct fixture *fx, const char *name, bool archived)
{
	char path[4096], id[33];
	struct id128 seqnum_id;
	uint64_t count = fixture_count_objects(fx, OBJECT_ENTRY);

	fixture_set_state(fx, archived ? JOURNAL_STATE_ARCHIVED : JOURNAL_STATE_OFFLINE);
	fixture_finish(fx);
	memcpy(seqnum_id.bytes, fixture_bytes(fx) + HEADER_SEQNUM_ID, 16);
	fixture_id_text(&seqnum_id, id);
	if (archived)
		snprintf(path, sizeof(path), "%s/%s@%s-%016llx-%016llx.journal", g->folder, name,
			 id, (unsigned long long)fixture_get64(fx, HEADER_HEAD_ENTRY_SEQNUM),
			 (unsigned long long)fixture_get64(fx, HEADER_HEAD_ENTRY_REALTIME));
	else
		snprintf(path, sizeof(path), "%s/%s.journal", g->folder, name);
	if (count > 0) {
		gen_write(fixture_bytes(fx), fixture_size(fx), path);
		g->entries_done += count;
		g->files_done++;
		g->bytes_done += fixture_end(fx);
		g->data_done += fixture_count_objects(fx, OBJECT_DATA);
	}
	return fixture_free(fx);
}

/* bulk and boots: one machine whose files are rotated in pairs. */
static void gen_rotated(struct gen *g, uint64_t span_usec)
{
	struct machine *m = machine_new(&(struct machine_options){ .seed = g->seed,
								   .hostname = "gannet",
								   .entries = g->entries,
								   .boots = (unsigned)g->boots,
								   .start_usec = START,
								   .span_usec = span_usec,
								   .uptime_usec = 2000000,
								   .user_share = 50 });
	struct id128 seqnum_id = fixture_id(g->seed + 5);
	struct event *event = calloc(1, sizeof(*event));
	uint64_t rotations = g->files > 1 ? g->files / 2 : 1, done = 0;

	if (!event)
		gen_fail("memory");
	for (uint64_t i = 0; i < rotations; i++) {
		struct fixture_options options = gen_options(g, machine_id(m), seqnum_id);
		struct fixture *files[2];

		files[0] = fixture_new(&options);
		options.file_id = fixture_id(g->seed * 1000003 + i * 7919 + 1000017);
		files[1] = fixture_new(&options);
		for (; done < g->entries * (i + 1) / rotations; done++) {
			machine_next(m, event);
			event->stamp.seqnum = 1000000 + done;
			fixture_entry(files[event->of_user && g->files > 1], &event->stamp,
				      event->fields, event->count);
		}
		gen_close(g, files[0], "system", i + 1 < rotations);
		gen_close(g, files[1], "user-1000", i + 1 < rotations);
	}
	free(event);
	machine_free(m);
}

/* interleaved: a file of each of many machines. */
static void gen_interleaved(struct gen *g)
{
	static const char *const kinds[] = { "web", "app", "db", "mail", "cache" };
	struct event *event = calloc(1, sizeof(*event));

	if (!event)
		gen_fail("memory");
	for (uint64_t i = 0; i < g->files; i++) {
		uint64_t count = g->entries * (i + 1) / g->files - g->entries * i / g->files;
		char host[64], name[80];
		struct fixture_options options;
		struct fixture *fx;
		struct machine *m;

		snprintf(host, sizeof(host), "%s-%02u.example.net", kinds[i % 5], (unsigned)i / 5);
		snprintf(name, sizeof(name), "remote-%s", host);
		m = machine_new(&(struct machine_options){ .seed = g->seed * 7001 + i,
							   .hostname = host,
							   .entries = count,
							   .boots = 1,
							   .start_usec = START,
							   .span_usec = UINT64_C(1800) * 1000000,
							   .uptime_usec = DAY + i * 3 * DAY / 7,
							   .user_share = 0 });
		options = gen_options(g, machine_id(m), fixture_id(g->seed * 6007 + i));
		fx = fixture_new(&options);
		for (uint64_t j = 0; j < count; j++) {
			machine_next(m, event);
			event->stamp.seqnum = j + 1;
			fixture_entry(fx, &event->stamp, event->fields, event->count);
		}
		gen_close(g, fx, name, true);
		machine_free(m);
	}
	free(event);
}

/* small: a file of each variant, one after the other in time. */
static void gen_small(struct gen *g)
{
	static const struct {
		const char *name;
		uint8_t flag;
	} ways[] = {
		{ "plain", 0 }, { "xz", OBJECT_XZ }, { "lz4", OBJECT_LZ4 }, { "zstd", OBJECT_ZSTD }
	};
	struct event *event = calloc(1, sizeof(*event));
	uint64_t start = START;

	if (!event)
		gen_fail("memory");
	for (unsigned i = 0; i < 16; i++) {
		bool compact = i & 1, keyed = i & 2;
		uint64_t count = g->entries / 16;
		struct fixture_options options;
		struct fixture *fx;
		struct machine *m;
		char name[64];

		if (ways[i / 4].flag && !fixture_can_compress(ways[i / 4].flag))
			continue;
		m = machine_new(&(struct machine_options){ .seed = g->seed * 7001 + i,
							   .hostname = "gannet",
							   .entries = count,
							   .boots = 2,
							   .start_usec = start,
							   .span_usec = DAY,
							   .uptime_usec = 2000000,
							   .user_share = 30 });
		start += 2 * DAY;
		options = gen_options(g, fixture_id(g->seed), fixture_id(g->seed * 6007 + i));
		options.compact = compact;
		options.keyed = keyed;
		options.compression = ways[i / 4].flag;
		fx = fixture_new(&options);
		for (uint64_t j = 0; j < count; j++) {
			machine_next(m, event);
			event->stamp.seqnum = j + 1;
			fixture_entry(fx, &event->stamp, event->fields, event->count);
		}
		snprintf(name, sizeof(name), "%s-%s-%s", compact ? "compact" : "regular",
			 keyed ? "keyed" : "unkeyed", ways[i / 4].name);
		gen_close(g, fx, name, i % 3);
		machine_free(m);
	}
	free(event);
}

/* Says how the program is called. */
static void __attribute__((noreturn)) usage(void)
{
	fprintf(stderr, "usage: gen [OPTION...] LAYOUT FOLDER\n\n"
			"Layouts: bulk, interleaved, boots, small, many, many-ids.\n\n"
			"  --entries=N    2000000, 1000000, 800000, 16000, 20 a file, 20 a file\n"
			"  --files=N      100, 100, 200, -, 5000, 5000\n"
			"  --boots=N      12, 1, 60, -, one in 10 files, 1\n"
			"  --file-size=N  largest size of a file, by which hash tables are sized\n"
			"  --seed=N       1\n\n"
			"The folder is made; prints what was written as one object of JSON.\n");
	exit(2);
}

/* A number of the command line. */
static uint64_t gen_number(const char *text)
{
	char *end;
	unsigned long long n;

	errno = 0;
	n = strtoull(text, &end, 10);
	if (errno || end == text || *end || n == 0 || n > UINT32_MAX)
		usage();
	return n;
}

/* Takes the options; what is not given stays 0. */
static void gen_arguments(struct gen *g, int argc, char **argv)
{
	static const struct option options[] = {
		{ "entries", required_argument, NULL, 'e' },
		{ "files", required_argument, NULL, 'f' },
		{ "boots", required_argument, NULL, 'b' },
		{ "seed", required_argument, NULL, 's' },
		{ "file-size", required_argument, NULL, 'l' },
		{ 0 },
	};
	int c;

	while ((c = getopt_long(argc, argv, "", options, NULL)) != -1) {
		if (c == 'e')
			g->entries = gen_number(optarg);
		else if (c == 'f')
			g->files = gen_number(optarg);
		else if (c == 'b')
			g->boots = gen_number(optarg);
		else if (c == 's')
			g->seed = gen_number(optarg);
		else if (c == 'l')
			g->file_bytes = gen_number(optarg);
		else
			usage();
	}
	if (argc - optind != 2)
		usage();
	g->layout = argv[optind];
	g->folder = argv[optind + 1];
}

/* Fills in what was not given. */
static void gen_defaults(struct gen *g, uint64_t entries, uint64_t files, uint64_t boots,
			 uint64_t file_bytes)
{
	g->entries = g->entries ? g->entries : entries;
	g->files = g->files ? g->files : files;
	g->boots = g->boots ? g->boots : boots;
	g->seed = g->seed ? g->seed : 1;
	g->file_bytes = g->file_bytes ? g->file_bytes : file_bytes;
	if (mkdir(g->folder, 0755) < 0 && errno != EEXIST)
		gen_fail(g->folder);
}

int main(int argc, char **argv)
{
	struct gen g = { 0 };

	gen_arguments(&g, argc, argv);
	if (strcmp(g.layout, "bulk") == 0) {
		gen_defaults(&g, 2000000, 100, 12, 18u << 20);
		gen_rotated(&g, 60 * DAY);
	} else if (strcmp(g.layout, "boots") == 0) {
		gen_defaults(&g, 800000, 200, 60, 8u << 20);
		gen_rotated(&g, 90 * DAY);
	} else if (strcmp(g.layout, "interleaved") == 0) {
		gen_defaults(&g, 1000000, 100, 1, 18u << 20);
		gen_interleaved(&g);
	} else if (strcmp(g.layout, "many") == 0 || strcmp(g.layout, "many-ids") == 0) {
		g.short_files = true;
		g.files = g.files ? g.files : 5000;
		gen_defaults(&g, g.files * 20, 0, g.files / 10 + 1, 48u << 10);
		if (strcmp(g.layout, "many") == 0)
			gen_rotated(&g, 90 * DAY);
		else
			gen_interleaved(&g);
	} else if (strcmp(g.layout, "small") == 0) {
		gen_defaults(&g, 16000, 16, 2, 1u << 20);
		gen_small(&g);
	} else {
		usage();
	}
	printf("{\"layout\": \"%s\", \"seed\": %llu, \"files\": %llu, \"boots\": %llu, "
	       "\"entries\": %llu, \"data_objects\": %llu, \"bytes_used\": %llu}\n",
	       g.layout, (unsigned long long)g.seed, (unsigned long long)g.files_done,
	       (unsigned long long)g.boots, (unsigned long long)g.entries_done,
	       (unsigned long long)g.data_done, (unsigned long long)g.bytes_done);
	return 0;
}
