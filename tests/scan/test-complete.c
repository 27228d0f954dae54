/* SPDX-License-Identifier: MIT */
/*
 * Complete bounds: over clocks that step back and forth, every entry between the bounds is yielded
 * in the order of the merge, whichever way it is read.
 */
#include "tests/scan/harness.h"
#include "tests/support/fixture.h"

#define ENTRIES 90u
#define FILES 3u
#define STEP UINT64_C(1000000)

/* The clock's reading for entry N: it steps by SEED, and meets every second once. */
static uint64_t realtime_of(unsigned n, unsigned seed)
{
	return FIXTURE_REALTIME + (uint64_t)(n * seed % ENTRIES) * STEP;
}

/* Entries of one sequence, in runs of ten to each file in turn. */
static char *make_archive(unsigned seed)
{
	char *folder = test_folder_make();

	for (unsigned file = 0; file < FILES; file++) {
		struct fixture_options options = { .file_id = fixture_id(100 + file) };
		struct fixture *fx = fixture_new(&options);
		char name[32], *path;

		for (unsigned n = 0; n < ENTRIES; n++) {
			struct fixture_stamp stamp = { .seqnum = n + 1,
						       .realtime = realtime_of(n, seed),
						       .monotonic = (n + 1) * STEP };
			char message[32];

			if (n / 10 % FILES != file)
				continue;
			snprintf(message, sizeof(message), "MESSAGE=%u", n);
			fixture_add(fx, &stamp, message, n % 3 ? "KIND=other" : "KIND=third", NULL);
		}
		fixture_finish(fx);
		snprintf(name, sizeof(name), "file-%u.journal", file);
		path = test_path(folder, name);
		fixture_write(fx, path);
		free(path);
		fixture_free(fx);
	}
	return folder;
}

/* How to read. */
struct how {
	unsigned seed;
	uint64_t since, until;
	bool backward, thirds;
	unsigned tail, limit; /* 0: none */
};

/* What is to be yielded. */
static char *expected(const struct how *how)
{
	unsigned found[ENTRIES], count = 0, from = 0, end;
	char *text = calloc(1, ENTRIES * 4 + 1);

	for (unsigned i = 0; i < ENTRIES; i++) {
		unsigned n = how->backward ? ENTRIES - 1 - i : i;
		uint64_t realtime = realtime_of(n, how->seed);

		if (realtime >= how->since && realtime <= how->until &&
		    (!how->thirds || n % 3 == 0))
			found[count++] = n;
	}
	end = count;
	if (how->tail && how->tail < count)
		from = count - how->tail;
	if (how->limit && from + how->limit < end)
		end = from + how->limit;
	for (unsigned i = from; i < end; i++)
		sprintf(text + strlen(text), i > from ? " %u" : "%u", found[i]);
	return text;
}

/* Reads, in one of the ways of driving. */
static char *got(const char *folder, const struct how *how, enum drive drive, bool complete)
{
	struct jscan_options options = JSCAN_OPTIONS_INIT;
	struct jscan *engine;
	char *text;

	cr_assert(eq(int, jscan_new(&options, &engine), 0));
	cr_assert(eq(int, jscan_add_directory(engine, folder, 0), 0));
	if (how->thirds)
		cr_assert(eq(int, jscan_match(engine, "KIND=third", 10), 0));
	jscan_set_direction(engine, how->backward ? JSCAN_BACKWARD : JSCAN_FORWARD);
	if (how->tail)
		jscan_set_tail(engine, how->tail);
	if (how->limit)
		jscan_set_limit(engine, how->limit);
	jscan_set_bounds(engine, how->since, how->until);
	cr_assert(eq(int, jscan_set_complete(engine, complete), 0));
	text = collect(engine, drive);
	jscan_free(engine);
	return text;
}

Test(complete, nothing_in_the_bounds_is_lost)
{
	static const unsigned seeds[] = { 1, 7, 37, 89 }; /* none shares a divisor with ENTRIES */

	for (unsigned i = 0; i < sizeof(seeds) / sizeof(seeds[0]); i++) {
		char *folder = make_archive(seeds[i]);

		for (unsigned kind = 0; kind < 32; kind++) {
			struct how how = {
				.seed = seeds[i],
				.since = kind & 1 ? FIXTURE_REALTIME + 20 * STEP : 0,
				.until = kind & 2 ? FIXTURE_REALTIME + 61 * STEP : UINT64_MAX,
				.thirds = kind & 4,
				.backward = (kind & 24) == 8,
				.tail = (kind & 24) == 16 ? 11 : 0,
				.limit = (kind & 24) == 24 ? 7 : 0,
			};

			for (unsigned drive = 0; drive < DRIVE_COUNT; drive++) {
				char what[64];

				snprintf(what, sizeof(what), "steps of %u, kind %u, drive %u",
					 seeds[i], kind, drive);
				expect_texts(got(folder, &how, drive, true), expected(&how), what);
			}
		}
		test_folder_remove(folder);
	}
}

Test(complete, ordinary_bounds_end_at_the_first_entry_beyond)
{
	struct how how = { .seed = 37, .until = FIXTURE_REALTIME + 61 * STEP };
	char *folder = make_archive(how.seed);

	/* The clock reads 0, 37, 74, ... */
	expect_texts(got(folder, &how, DRIVE_NEXT, false), strdup("0 1"), "ordinary bounds");
	test_folder_remove(folder);
}

Test(complete, refuses_no_engine)
{
	cr_expect(eq(int, jscan_set_complete(NULL, 1), -EINVAL));
}
