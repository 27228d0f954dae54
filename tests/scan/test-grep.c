/* SPDX-License-Identifier: MIT */
/*
 * Patterns over many small archives, by seed: what is found by seeking a literal in raw bytes first
 * is, to the byte, what testing every entry finds; with boots that follow each other and that do
 * not, values several times in an entry, all compressions, damage, bounds and limits.
 */
#include "tests/scan/harness.h"

#include <unistd.h>

#include "tests/support/fixture.h"

#define FILES_MAX 4u
#define ENTRIES_MAX 300u
#define TEXT_MAX (1u << 20)

static const char *const words[] = {
	"alpha", "beta", "Gamma", "delta", "eps-1", "ze.ta", "eta|", "ALPHA", "th", "io\xc3\xbc",
};
#define WORDS (sizeof(words) / sizeof(*words))

static const char *const patterns[] = {
	"needle", "Needle", "alpha", "alpha.*beta", "gam+a", "ze\\.ta", "(eta|io)", "th", "a",
	"eps-[12]", "^needle", "beta$", "nowhere", "NEEDLE", "needle \\d+ alpha", "\\Qeta|\\E",
	"io\xc3\xbc",
};
#define PATTERNS (sizeof(patterns) / sizeof(*patterns))

/* A random number below COUNT. */
static unsigned below(unsigned *seed, unsigned count)
{
	return (unsigned)rand_r(seed) % count;
}

/* A message of random words, sometimes a long one, and sometimes with what is looked for. */
static void message(char *text, size_t size, unsigned *seed)
{
	unsigned count = below(seed, 12) == 0 ? 60 + below(seed, 200) : below(seed, 6);
	size_t used = (size_t)snprintf(text, size, "%s", below(seed, 9) ? "MESSAGE=" :
									  "MESSAGE_TEXT=");

	for (unsigned i = 0; i <= count; i++) {
		if (below(seed, 40) == 0)
			used += (size_t)snprintf(text + used, size - used, "needle %u ", i);
		used += (size_t)snprintf(text + used, size - used, "%s ",
					 words[below(seed, WORDS)]);
	}
}

/* Numbers, boots and times of an archive: entries are dealt out to its files in their order. */
struct clock {
	uint64_t seqnum;
	unsigned boot;
	bool mixed; /* boots do not follow each other */
};

/* Adds an entry to a file. */
static void add_entry(struct fixture *fx, struct clock *clock, unsigned *seed)
{
	char texts[4][4096];
	struct fixture_field fields[4];
	struct fixture_stamp stamp = { 0 };
	unsigned count = 1 + below(seed, 3);

	if (below(seed, clock->mixed ? 3 : 50) == 0)
		clock->boot = clock->mixed ? below(seed, 3) : clock->boot + 1;
	stamp.seqnum = ++clock->seqnum;
	stamp.realtime = FIXTURE_REALTIME + clock->seqnum * 1000;
	stamp.monotonic = FIXTURE_MONOTONIC + clock->seqnum * 1000;
	stamp.boot_id = fixture_id(100 + clock->boot);
	for (unsigned i = 0; i < count; i++) {
		message(texts[i], sizeof(texts[i]), seed);
		fields[i] = (struct fixture_field){ texts[i], strlen(texts[i]) };
	}
	fields[count] = (struct fixture_field){ "PRIORITY=3", 10 };
	fixture_entry(fx, &stamp, fields, count + 1);
}

/* Makes an archive of up to FILES_MAX files; DAMAGE bytes of each are overwritten. */
static char *archive_random(unsigned *seed, unsigned damage)
{
	static const uint8_t compressions[] = { 0, OBJECT_ZSTD, OBJECT_LZ4, OBJECT_XZ };
	struct clock clock = { .mixed = below(seed, 4) == 0 };
	bool several_ids = below(seed, 6) == 0;
	unsigned count = 1 + below(seed, FILES_MAX), entries = below(seed, ENTRIES_MAX);
	struct fixture *files[FILES_MAX];
	char *folder = test_folder_make();

	for (unsigned i = 0; i < count; i++) {
		uint8_t compression = compressions[below(seed, 4)];
		struct fixture_options options = {
			.compact = below(seed, 2),
			.keyed = below(seed, 2),
			.state = below(seed, 3) ? JOURNAL_STATE_ARCHIVED : JOURNAL_STATE_ONLINE,
			.compression = fixture_can_compress(compression) ? compression : 0,
			.compress_from_bytes = 100,
			.preallocate_bytes = below(seed, 2) ? 65536 : 0,
			.file_id = fixture_id(10 + i),
			.seqnum_id = fixture_id(several_ids ? 20 + i : 20),
		};

		files[i] = fixture_new(&options);
	}
	for (unsigned n = 0; n < entries; n++)
		add_entry(files[below(seed, count)], &clock, seed);
	for (unsigned i = 0; i < count; i++) {
		char name[30], *path;

		fixture_finish(files[i]);
		for (unsigned n = 0; n < damage; n++)
			fixture_put8(files[i], 272 + below(seed, (unsigned)fixture_end(files[i]) -
							      272), (uint8_t)below(seed, 256));
		snprintf(name, sizeof(name), "file-%u.journal", i);
		path = test_path(folder, name);
		fixture_write(files[i], path);
		free(path);
		fixture_free(files[i]);
	}
	return folder;
}

/* How a scan is to be done. */
struct how {
	const char *pattern;
	uint32_t sensitivity, mode, flags, io;
	bool backward;
	uint64_t limit, since, until;
	const char *term;
};

static struct how how_random(unsigned *seed)
{
	struct how how = {
		.pattern = patterns[below(seed, PATTERNS)],
		.sensitivity = below(seed, 3),
		.mode = below(seed, 2) ? JSCAN_MODE_SHORT : JSCAN_MODE_CAT,
		.flags = JSCAN_OUTPUT_ALL | (below(seed, 2) ? JSCAN_OUTPUT_BOOT_LINES : 0),
		.io = below(seed, 2) ? JSCAN_IO_SYNC : JSCAN_IO_THREADS,
		.backward = below(seed, 2),
		.limit = below(seed, 3) ? UINT64_MAX : 1 + below(seed, 20),
		.until = UINT64_MAX,
	};

	if (below(seed, 4) == 0)
		how.since = FIXTURE_REALTIME + below(seed, ENTRIES_MAX) * 1000;
	if (below(seed, 4) == 0)
		how.until = FIXTURE_REALTIME + below(seed, ENTRIES_MAX) * 1000;
	if (below(seed, 8) == 0)
		how.term = "PRIORITY=3";
	return how;
}

/* What a scan prints, and the cursor of where it ended. Until the next call but one. */
static const char *scan(const char *folder, const struct how *how, uint32_t plan, bool clean)
{
	static char texts[2][TEXT_MAX];
	static unsigned turn;
	struct jscan_options options = JSCAN_OPTIONS_INIT;
	struct jscan_output output = { .size = sizeof(output), .mode = how->mode,
				       .flags = how->flags };
	char *text = texts[turn++ % 2], cursor[JSCAN_CURSOR_SIZE] = "";
	FILE *f = tmpfile();
	struct jscan *e;
	size_t size;

	options.plan = plan;
	options.io = how->io;
	cr_assert(f != NULL);
	cr_assert(eq(int, jscan_new(&options, &e), 0));
	cr_assert(eq(int, jscan_add_directory(e, folder, 0), 0));
	cr_assert(eq(int, jscan_set_grep(e, how->pattern, (enum jscan_case)how->sensitivity, NULL,
					 0), 0));
	if (how->term)
		jscan_match(e, how->term, strlen(how->term));
	jscan_set_direction(e, how->backward ? JSCAN_BACKWARD : JSCAN_FORWARD);
	jscan_set_bounds(e, how->since, how->until);
	if (how->limit != UINT64_MAX)
		jscan_set_limit(e, how->limit + 3000); /* many: files are searched first */
	cr_assert(eq(int, jscan_add_output(e, &output, fileno(f)), 0));
	cr_assert(eq(int, jscan_run(e), 0));
	if (clean)
		jscan_position_cursor(e, cursor);
	jscan_free(e);
	rewind(f);
	size = fread(text, 1, TEXT_MAX - 1, f);
	text[size] = '\0';
	fclose(f);
	strncat(text, cursor, TEXT_MAX - 1 - size);
	return text;
}

static void check_seed(unsigned seed, unsigned damage)
{
	unsigned random = seed;
	char *folder = archive_random(&random, damage);

	for (unsigned n = 0; n < 14; n++) {
		struct how how = how_random(&random);
		const char *sought, *tested;

		if (damage)
			how.term = NULL; /* whose index may be what is damaged */
		sought = scan(folder, &how, JSCAN_PLAN_AUTO, !damage);
		tested = scan(folder, &how, JSCAN_PLAN_SCAN, !damage);

		cr_assert(eq(str, (char *)sought, (char *)tested), "seed %u, pattern %s", seed,
			  how.pattern);
	}
	test_folder_remove(folder);
}

Test(grep, a_sought_literal_finds_what_testing_every_entry_finds, .timeout = 100)
{
	for (unsigned seed = 1; seed <= 120; seed++)
		check_seed(seed, 0);
}

Test(grep, damage_does_not_change_what_is_found, .timeout = 100)
{
	for (unsigned seed = 1001; seed <= 1120; seed++)
		check_seed(seed, 1 + seed % 5);
}
