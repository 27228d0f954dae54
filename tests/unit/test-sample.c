/* SPDX-License-Identifier: MIT */
/*
 * The sample archive in tests/data/sample is what its story says. Files without compression are
 * compared byte by byte; compressed ones object by object, since another version of a compressor
 * may well find other bytes for the same text.
 */
#include <criterion/criterion.h>
#include <criterion/new/assert.h>
#include <criterion/parameterized.h>
#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>

#include "tests/support/sample.h"
#include "tests/support/walk.h"

#define SAMPLE_SIZE_MAX 65536u
#define PAYLOAD_MAX 4096u

/* Reads a file of the archive. */
static uint8_t *load(const char *name, size_t *ret_size)
{
	uint8_t *bytes = malloc(SAMPLE_SIZE_MAX);
	char path[4096];
	FILE *f;

	snprintf(path, sizeof(path), "%s/%s", SAMPLE_FOLDER, name);
	f = fopen(path, "rb");
	cr_assert(ne(ptr, f, NULL), "%s is not there", path);
	*ret_size = fread(bytes, 1, SAMPLE_SIZE_MAX, f);
	cr_assert(lt(sz, *ret_size, SAMPLE_SIZE_MAX), "%s is too large for a sample", path);
	fclose(f);
	return bytes;
}

/* Compares two entries: their own fields, and what their items hold. */
static void compare_entries(const struct walk *a, const struct walk *b, uint64_t index)
{
	uint64_t x = a->offsets[OBJECT_ENTRY][index], y = b->offsets[OBJECT_ENTRY][index];
	uint8_t p[PAYLOAD_MAX], q[PAYLOAD_MAX];

	cr_assert(eq(int,
		     memcmp(a->bytes + x + ENTRY_SEQNUM, b->bytes + y + ENTRY_SEQNUM,
			    ENTRY_ITEMS - ENTRY_SEQNUM),
		     0));
	cr_assert(eq(u64, walk_capacity(a, x), walk_capacity(b, y)));
	for (uint64_t i = 0; i < walk_capacity(a, x); i++) {
		size_t size = walk_payload(a, walk_item(a, x, i), p, sizeof(p));

		cr_assert(eq(sz, walk_payload(b, walk_item(b, y, i), q, sizeof(q)), size));
		cr_assert(eq(int, memcmp(p, q, size), 0));
	}
}

/* Compares two files whose compressors may differ. */
static void compare_objects(const struct walk *a, const struct walk *b)
{
	/* What depends on no offset: the first 96 bytes but the counters of bytes. */
	cr_assert(eq(int, memcmp(a->bytes, b->bytes, HEADER_ARENA_SIZE), 0));
	for (unsigned type = 0; type <= OBJECT_TAG; type++)
		cr_assert(eq(u64, a->counts[type], b->counts[type]));
	for (uint64_t i = 0; i < a->counts[OBJECT_ANY]; i++)
		cr_assert(eq(u8, walk_get8(a, a->offsets[OBJECT_ANY][i]),
			     walk_get8(b, b->offsets[OBJECT_ANY][i])));
	for (uint64_t i = 0; i < a->counts[OBJECT_ENTRY]; i++)
		compare_entries(a, b, i);
}

Test(sample, committed_files_are_what_the_story_says)
{
	struct sample_file files[SAMPLE_FILES];

	if (!fixture_can_compress(OBJECT_XZ))
		cr_skip_test("this build has no XZ");
	sample_make(files);
	for (unsigned i = 0; i < SAMPLE_FILES; i++) {
		size_t size;
		uint8_t *bytes = load(files[i].name, &size), *made = fixture_bytes(files[i].fx);

		if (!files[i].compression) {
			cr_assert(eq(sz, size, fixture_size(files[i].fx)));
			cr_assert(eq(int, memcmp(bytes, made, size), 0), "%s", files[i].name);
		} else {
			struct walk *a = walk_new(bytes, size);
			struct walk *b = walk_new(made, fixture_size(files[i].fx));

			compare_objects(a, b);
			walk_free(a);
			walk_free(b);
		}
		free(bytes);
	}
	sample_done(files);
}

Test(sample, holds_every_compression_and_nothing_else)
{
	struct sample_file files[SAMPLE_FILES];
	unsigned used = 0, found = 0;
	struct dirent *e;
	DIR *d = opendir(SAMPLE_FOLDER);

	cr_assert(ne(ptr, d, NULL));
	sample_make(files);
	while ((e = readdir(d))) {
		size_t size;
		uint8_t *bytes;
		struct walk *w;

		if (!strstr(e->d_name, ".journal"))
			continue;
		found++;
		bytes = load(e->d_name, &size);
		w = walk_new(bytes, size);
		for (uint64_t i = 0; i < w->counts[OBJECT_DATA]; i++)
			used |= 1u << walk_get8(w, w->offsets[OBJECT_DATA][i] + OBJECT_FLAGS);
		walk_free(w);
		free(bytes);
	}
	closedir(d);
	cr_assert(eq(uint, found, SAMPLE_FILES));
	cr_assert(eq(uint, used, 1u << 0 | 1u << OBJECT_XZ | 1u << OBJECT_LZ4 | 1u << OBJECT_ZSTD));
	sample_done(files);
}
