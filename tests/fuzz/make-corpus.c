/* SPDX-License-Identifier: MIT */
/*
 * Writes the seeds that the fuzz targets begin with: make-corpus tests/fuzz/corpus. They are small,
 * valid, and differ in layout; inputs that fuzzing finds are added beside them by hand.
 */
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>

#include "tests/support/fixture.h"

/* Writes one input: a prefix, then bytes. */
static void write_input(const char *corpus, const char *target, const char *name,
			const void *prefix, size_t prefix_size, const void *bytes, size_t size)
{
	char path[4096];
	FILE *f;

	snprintf(path, sizeof(path), "%s/%s", corpus, target);
	mkdir(path, 0755);
	snprintf(path, sizeof(path), "%s/%s/seed-%s", corpus, target, name);
	f = fopen(path, "wb");
	if (!f || fwrite(prefix, 1, prefix_size, f) != prefix_size ||
	    fwrite(bytes, 1, size, f) != size || fclose(f) != 0) {
		perror(path);
		exit(1);
	}
}

/* A file with chains of several arrays, shared and single fields, and a long field. */
static struct fixture *make_small(struct fixture_options o, unsigned entries)
{
	struct fixture *fx;
	char longer[160];

	o.data_buckets = 5;
	o.field_buckets = 2;
	o.compress_from_bytes = 100;
	fx = fixture_new(&o);
	for (unsigned i = 0; i < entries; i++) {
		char message[32];

		snprintf(message, sizeof(message), "M=%u", i);
		memset(longer, 'a' + (int)(i % 3), sizeof(longer));
		memcpy(longer, "LONG=", 5);
		longer[sizeof(longer) - 1] = 0;
		if (i % 8 == 0)
			fixture_add(fx, NULL, message, "P=6", longer, NULL);
		else
			fixture_add(fx, NULL, message, i % 2 ? "P=6" : "P=3", NULL);
	}
	fixture_finish(fx);
	return fx;
}

/* Headers of every size and kind; each begins with the length that its file had. */
static void make_headers(const char *corpus)
{
	static const uint32_t sizes[] = { 208, 216, 224, 232, 240, 248, 256, 260, 264, 272, 4096 };

	for (unsigned i = 0; i < 2 * sizeof(sizes) / sizeof(sizes[0]); i++) {
		struct fixture *fx = make_small(
			(struct fixture_options){
				.header_size = sizes[i / 2],
				.compact = i % 2,
				.keyed = i % 2,
				.sealed = i % 2 && sizes[i / 2] >= 240,
				.state = (uint8_t)(i % 3),
				.compression = i % 4 ? OBJECT_ZSTD : OBJECT_LZ4,
				.preallocate_bytes = i % 2 ? 65536 : 0,
			},
			i == 5 ? 0 : 6);
		uint64_t size = htole64(fixture_size(fx));
		char name[32];

		snprintf(name, sizeof(name), "%u-%u", sizes[i / 2], i % 2);
		write_input(corpus, "header", name, &size, sizeof(size), fixture_bytes(fx),
			    HEADER_SIZE_MAX);
		fixture_free(fx);
	}
}

/* Whole small files, for the targets that look into them. */
static void make_files(const char *corpus)
{
	static const struct {
		const char *name;
		uint8_t how; /* see fuzz_open() */
		struct fixture_options options;
		unsigned entries;
	} files[] = {
		{ "regular", 3, { .header_size = 208 }, 16 },
		{ "compact", 2, { .compact = true, .keyed = true }, 16 },
		{ "xz", 4, { .header_size = 240, .compression = OBJECT_XZ }, 9 },
		{ "lz4", 0, { .keyed = true, .compression = OBJECT_LZ4 }, 9 },
		{ "zstd", 1, { .compact = true, .compression = OBJECT_ZSTD }, 9 },
		{ "sealed", 5, { .compact = true, .keyed = true, .sealed = true }, 3 },
		{ "live", 6, { .state = JOURNAL_STATE_ONLINE, .preallocate_bytes = 1024 }, 2 },
		{ "empty", 7, { .compact = true }, 0 },
	};

	for (unsigned i = 0; i < sizeof(files) / sizeof(files[0]); i++) {
		struct fixture *fx = make_small(files[i].options, files[i].entries);

		write_input(corpus, "objects", files[i].name, &files[i].how, 1, fixture_bytes(fx),
			    fixture_size(fx));
		write_input(corpus, "lookup", files[i].name, &files[i].how, 1, fixture_bytes(fx),
			    fixture_size(fx));
		write_input(corpus, "verify", files[i].name, &files[i].how, 1, fixture_bytes(fx),
			    fixture_size(fx));
		fixture_free(fx);
	}
}

/* A file with seals that fuzz-verify.c has the key of; and a growing one, to be taken as it is. */
static void make_for_verify(const char *corpus)
{
	static const uint8_t how_sealed = 0x15, how_live = 0x0c;
	struct fixture_stamp stamp = { 0 };
	struct fixture *fx = fixture_new(&(struct fixture_options){
		.sealed = true, .keyed = true, .data_buckets = 5, .field_buckets = 2 });
	struct seal_key key;
	struct seal *seal;

	if (seal_key_parse("000102-030405-060708-090a0b/1cd278-35a4e900", &key) < 0 ||
	    seal_new(&key, &seal) < 0)
		abort();
	for (unsigned i = 0; i < 6; i++) {
		stamp.realtime = key.start_usec + i / 3 * key.interval_usec + i + 1;
		fixture_add(fx, &stamp, i % 2 ? "M=1" : "M=2", "P=6", NULL);
		if (i == 2)
			fixture_tag(fx);
	}
	fixture_finish(fx);
	if (fixture_seal(fx, seal) < 0)
		abort();
	write_input(corpus, "verify", "seals", &how_sealed, 1, fixture_bytes(fx), fixture_size(fx));
	fixture_free(fx);
	seal_free(seal);

	fx = make_small((struct fixture_options){ .state = JOURNAL_STATE_ONLINE }, 20);
	write_input(corpus, "verify", "snapshot", &how_live, 1, fixture_bytes(fx),
		    fixture_size(fx));
	fixture_free(fx);
}

/* Payloads compressed each way. */
static void make_payloads(const char *corpus)
{
	static const uint8_t ways[] = { OBJECT_XZ, OBJECT_LZ4, OBJECT_ZSTD, OBJECT_ZSTD };
	static const char *const names[] = { "xz", "lz4", "zstd", "zstd-without-size" };
	char text[6000];

	for (size_t i = 0; i < sizeof(text); i++)
		text[i] = (char)('a' + i * i / 97 % 23);
	memcpy(text, "MESSAGE=", 8);
	for (unsigned i = 0; i < 4; i++) {
		for (unsigned longer = 0; longer < 2; longer++) {
			uint8_t how = (uint8_t)(ways[i] | longer << 4), *bytes;
			char name[64];
			size_t size;

			bytes = fixture_compress(ways[i], i == 3, text, longer ? sizeof(text) : 400,
						 &size);
			if (!bytes)
				abort();
			snprintf(name, sizeof(name), "%s-%u", names[i], longer);
			write_input(corpus, "payload", name, &how, 1, bytes, size);
			free(bytes);
		}
	}
	write_input(corpus, "payload", "plain", "\x00", 1, text, 40);
}

/* Whole archives of one or two files: a head that says how to scan them, see fuzz-scan.c. */
static void make_scans(const char *corpus)
{
	static const struct {
		const char *name;
		uint8_t how[6];
		struct fixture_options options[2];
		unsigned entries[2]; /* 0: no second file */
	} scans[] = {
		{ "one", { 0, 0, 0, 0, 0, 0 }, { { .header_size = 208 } }, { 16, 0 } },
		{ "backward",
		  { 1, 9, 0, 0, 3, 0 },
		  { { .compact = true, .keyed = true } },
		  { 16, 0 } },
		{ "match", { 4, 10, 6, 0, 16, 0 }, { { .keyed = true } }, { 20, 0 } },
		{ "filter", { 2, 11, 3, 3, 1, 4 }, { { .compression = OBJECT_ZSTD } }, { 9, 0 } },
		{ "tail", { 32, 15, 2, 0, 31, 5 }, { { .compression = OBJECT_LZ4 } }, { 9, 0 } },
		{ "loop", { 8, 0, 0, 5, 4, 3 }, { { .sealed = true, .compact = true } }, { 5, 0 } },
		{ "pull",
		  { 24, 0, 0, 4, 8, 3 },
		  { { .state = JOURNAL_STATE_ONLINE, .preallocate_bytes = 1024 } },
		  { 5, 0 } },
		{ "two",
		  { 0, 10, 0, 0, 0, 0 },
		  { { .file_id = { { 1 } } }, { .file_id = { { 2 } }, .compact = true } },
		  { 6, 6 } },
		{ "two-ids",
		  { 65, 0, 0, 0, 2, 1 },
		  { { .seqnum_id = { { 7 } } }, { .seqnum_id = { { 8 } }, .boot_id = { { 9 } } } },
		  { 6, 5 } },
	};

	for (unsigned i = 0; i < sizeof(scans) / sizeof(scans[0]); i++) {
		struct fixture *a = make_small(scans[i].options[0], scans[i].entries[0]), *b = NULL;
		size_t size = 8 + (fixture_size(a) + 63) / 64 * 64;
		size_t split = scans[i].entries[1] ? (size - 8) / 64 : 0;
		uint8_t *bytes;

		if (split)
			b = make_small(scans[i].options[1], scans[i].entries[1]);
		bytes = calloc(1, size + (b ? fixture_size(b) : 0));
		if (!bytes)
			abort();
		memcpy(bytes, scans[i].how, sizeof(scans[i].how));
		bytes[6] = (uint8_t)split;
		bytes[7] = (uint8_t)(split >> 8);
		memcpy(bytes + 8, fixture_bytes(a), fixture_size(a));
		if (b)
			memcpy(bytes + size, fixture_bytes(b), fixture_size(b));
		write_input(corpus, "scan", scans[i].name, NULL, 0, bytes,
			    size + (b ? fixture_size(b) : 0));
		free(bytes);
		fixture_free(a);
		fixture_free(b);
	}
}

int main(int argc, char **argv)
{
	if (argc != 2 || !fixture_can_compress(OBJECT_XZ)) {
		fprintf(stderr, "usage: %s FOLDER (and a build with XZ)\n", argv[0]);
		return 2;
	}
	make_headers(argv[1]);
	make_files(argv[1]);
	make_for_verify(argv[1]);
	make_payloads(argv[1]);
	make_scans(argv[1]);
	return 0;
}
