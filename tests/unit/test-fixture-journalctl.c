/* SPDX-License-Identifier: MIT */
/*
 * The journal writer, judged by journalctl: every layout is verified and exported by the one on
 * PATH (or the one that JSCAN_JOURNALCTL names) as far as its version can do that. What it cannot
 * is skipped: 252 and 253 verify nothing with the flag that 254 brought, only 262 reads zstd frames
 * that do not announce their size, and nobody verifies a sealed file without its key.
 */
#include <criterion/criterion.h>
#include <criterion/new/assert.h>
#include <criterion/parameterized.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "tests/support/layouts.h"
#include "tests/support/walk.h"

/* The journalctl to ask: the one on PATH, or what JSCAN_JOURNALCTL names. */
static const char *reference(void)
{
	const char *name = getenv("JSCAN_JOURNALCTL");

	return name && *name ? name : "journalctl";
}

/* Its version, 0 if there is none. */
static unsigned reference_version(void)
{
	unsigned version = 0;
	char command[512];
	FILE *f;

	snprintf(command, sizeof(command), "%s --version 2>/dev/null", reference());
	f = popen(command, "r");
	if (!f)
		return 0;
	if (fscanf(f, "systemd %u", &version) != 1)
		version = 0;
	pclose(f);
	return version;
}

/* Whether an export stream's next line is NAME and a "=" and the value of SIZE bytes. */
static void check_export_line(FILE *f, const char *name, const uint8_t *value, size_t size)
{
	for (const char *p = name; *p; p++)
		cr_assert(eq(int, fgetc(f), *p), "in the name %s", name);
	if (memchr(value, '\n', size)) {
		uint8_t size_le[8];

		cr_assert(eq(int, fgetc(f), '\n'));
		cr_assert(eq(sz, fread(size_le, 1, 8, f), 8));
		cr_assert(eq(u64, load_le64(size_le), size));
	} else {
		cr_assert(eq(int, fgetc(f), '='));
	}
	for (size_t i = 0; i < size; i++)
		cr_assert(eq(int, fgetc(f), value[i]), "in the value of %s", name);
	cr_assert(eq(int, fgetc(f), '\n'));
}

/* Reads one entry of an export stream and compares its fields, in the order of its items. */
static void check_export_entry(FILE *f, const struct walk *w, unsigned index)
{
	uint64_t entry = w->offsets[OBJECT_ENTRY][index];
	uint8_t payload[STORY_TEXT_SIZE];
	char line[512], wanted[64];

	snprintf(wanted, sizeof(wanted), "__REALTIME_TIMESTAMP=%lu\n",
		 FIXTURE_REALTIME + index * FIXTURE_STEP);
	cr_assert(ne(ptr, fgets(line, sizeof(line), f), NULL));
	cr_assert(eq(int, strncmp(line, "__CURSOR=", 9), 0));
	cr_assert(ne(ptr, fgets(line, sizeof(line), f), NULL));
	cr_assert(eq(str, line, wanted));
	do /* The rest of what is made up, which ends with the boot ID. */
		cr_assert(ne(ptr, fgets(line, sizeof(line), f), NULL));
	while (strncmp(line, "_BOOT_ID=", 9) != 0);
	for (uint64_t i = 0; i < walk_capacity(w, entry); i++) {
		size_t size = walk_payload(w, walk_item(w, entry, i), payload, sizeof(payload));
		uint8_t *equals = memchr(payload, '=', size);

		*equals++ = 0;
		if (strcmp((char *)payload, "_BOOT_ID") != 0)
			check_export_line(f, (char *)payload, equals,
					  size - (size_t)(equals - payload));
	}
	cr_assert(eq(int, fgetc(f), '\n'));
}

/* Has the file verified, unless the reference cannot for reasons of its own. */
static void check_verify(const struct layout *l, const char *path, unsigned version)
{
	bool flag = l->header_size >= HEADER_SIZE_MAX;
	char command[1024];

	/* No key, no alignment, a flag that 252 and 253 do not know. */
	if (l->sealed || l->header_size % 8 != 0 || (flag && version < 254))
		return;
	snprintf(command, sizeof(command), "%s --verify --file=%s >/dev/null 2>&1", reference(),
		 path);
	cr_assert(eq(int, system(command), 0), "--verify of a header of %u bytes", l->header_size);
}

ParameterizedTestParameters(fixture_journalctl, verifies_and_shows_every_layout)
{
	return cr_make_param_array(struct layout, layouts, LAYOUT_COUNT);
}

ParameterizedTest(struct layout *l, fixture_journalctl, verifies_and_shows_every_layout)
{
	char path[] = "/tmp/jscan-fixture-XXXXXX", command[1024];
	unsigned version = reference_version();
	struct fixture *fx;
	struct walk *w;
	FILE *f;

	if (!version)
		cr_skip_test("no journalctl here");
	if (!fixture_can_compress(l->compression))
		cr_skip_test("this build has no XZ");
	if (l->compact && version < 252)
		cr_skip_test("journalctl %u knows no compact files", version);
	if (l->zstd_without_size && version < 262)
		cr_skip_test("journalctl %u does not read zstd frames without size", version);
	fx = story_new(l);
	w = walk_new(fixture_bytes(fx), fixture_size(fx));
	close(mkstemp(path));
	fixture_write(fx, path);
	check_verify(l, path, version);
	snprintf(command, sizeof(command), "%s --file=%s -o export --all", reference(), path);
	f = popen(command, "r");
	cr_assert(ne(ptr, f, NULL));
	for (unsigned i = 0; i < STORY_ENTRIES; i++)
		check_export_entry(f, w, i);
	cr_assert(eq(int, fgetc(f), EOF));
	cr_assert(eq(int, pclose(f), 0));
	unlink(path);
	fixture_free(fx);
	walk_free(w);
}
