/* SPDX-License-Identifier: MIT */
/*
 * Many small archives and match expressions, by seed: what the indexes yield is what testing every
 * entry yields, and both are what the model says.
 */
#include "tests/scan/harness.h"
#include "tests/support/io-methods.h"
#include "tests/support/query.h"

#define FILES_MAX 3u

static int add(void *engine, const char *term)
{
	return jscan_match(engine, term, strlen(term));
}

static int or_next(void *engine)
{
	return jscan_match_or(engine);
}

static int and_next(void *engine)
{
	return jscan_match_and(engine);
}

static const struct query_builder builder = { add, or_next, and_next };

/* An archive on disk and what is in it. */
struct archive {
	char *folder;
	struct query_file files[FILES_MAX];
	unsigned file_count;
};

static void archive_random(struct archive *a, uint64_t *random)
{
	a->folder = test_folder_make();
	a->file_count = 1 + (unsigned)query_random_below(random, FILES_MAX);
	for (unsigned i = 0; i < a->file_count; i++) {
		char name[30], *path;

		snprintf(name, sizeof(name), "file-%u.journal", i);
		path = test_path(a->folder, name);
		query_file_random(&a->files[i], i, random);
		fixture_write(a->files[i].fx, path);
		free(path);
	}
}

static void archive_remove(struct archive *a)
{
	for (unsigned i = 0; i < a->file_count; i++)
		fixture_free(a->files[i].fx);
	a->folder = test_folder_remove(a->folder);
}

/* How a scan is to be done. */
struct how {
	struct query query;
	bool backward;
	uint64_t tail, limit;  /* UINT64_MAX: none */
	uint64_t since, until; /* 0, UINT64_MAX: none */
};

static struct how how_random(uint64_t *random)
{
	struct how how = { .query = query_random(random), .tail = UINT64_MAX, .limit = UINT64_MAX,
			   .until = UINT64_MAX };

	how.backward = query_random_below(random, 2);
	if (query_random_below(random, 3) == 0) {
		how.backward = false;
		how.tail = query_random_below(random, 12);
	}
	if (query_random_below(random, 3) == 0)
		how.limit = query_random_below(random, 20);
	if (query_random_below(random, 4) == 0)
		how.since = FIXTURE_REALTIME + query_random_below(random, 40) * 1000;
	if (query_random_below(random, 4) == 0)
		how.until = FIXTURE_REALTIME + query_random_below(random, 80) * 1000;
	return how;
}

/* The messages that a scan yields. */
static char *scan(const struct archive *a, const struct how *how, uint32_t plan, uint32_t method)
{
	struct jscan_options options = JSCAN_OPTIONS_INIT;
	struct jscan *engine;
	char *text;

	options.plan = plan;
	options.io = method;
	cr_assert(eq(int, jscan_new(&options, &engine), 0));
	cr_assert(eq(int, jscan_add_directory(engine, a->folder, 0), 0));
	query_build(&how->query, &builder, engine);
	jscan_set_direction(engine, how->backward ? JSCAN_BACKWARD : JSCAN_FORWARD);
	jscan_set_tail(engine, how->tail);
	jscan_set_limit(engine, how->limit);
	jscan_set_bounds(engine, how->since, how->until);
	text = collect(engine, DRIVE_NEXT);
	jscan_free(engine);
	return text;
}

static void check_seed(uint64_t seed)
{
	uint64_t random = seed;
	struct archive a;

	archive_random(&a, &random);
	for (unsigned n = 0; n < 12; n++) {
		struct how how = how_random(&random);
		char *planned = scan(&a, &how, JSCAN_PLAN_AUTO, JSCAN_IO_SYNC);
		char *tested = scan(&a, &how, JSCAN_PLAN_SCAN, n % 2 ? JSCAN_IO_THREADS :
								       JSCAN_IO_SYNC);

		cr_assert(eq(str, planned, tested), "seed %lu, expression %u", seed, n);
		free(planned);
		free(tested);
	}
	archive_remove(&a);
}

Test(filter, indexes_yield_what_testing_every_entry_yields, .timeout = 100)
{
	for (uint64_t seed = 1; seed <= 60; seed++)
		check_seed(seed);
}

/* Without bounds, limits and tails the model can say what is right: all that match, of each file in
 * its order. */
static void check_model(uint64_t seed)
{
	uint64_t random = seed;
	struct archive a;

	archive_random(&a, &random);
	for (unsigned n = 0; n < 8; n++) {
		struct how how = { .query = query_random(&random), .backward = n % 2,
				   .tail = UINT64_MAX, .limit = UINT64_MAX, .until = UINT64_MAX };
		char *text = scan(&a, &how, JSCAN_PLAN_AUTO, JSCAN_IO_SYNC);
		unsigned at[FILES_MAX] = { 0 }, number, file;

		/* "I of F I of F ...": each file's come in its order, and all of them come. */
		for (char *p = text; *p;) {
			int used = 0;

			cr_assert(eq(int, sscanf(p, "%u of %u %n", &number, &file, &used), 2));
			p += used ? used : (int)strlen(p);
			for (;; at[file]++) {
				unsigned i = how.backward ?
						     a.files[file].entry_count - 1 - at[file] :
						     at[file];

				cr_assert(lt(u32, at[file], a.files[file].entry_count));
				if (query_matches(&how.query, a.files[file].held[i])) {
					cr_assert(eq(u32, i, number), "seed %lu, expression %u",
						  seed, n);
					break;
				}
			}
			at[file]++;
		}
		for (file = 0; file < a.file_count; file++) {
			for (; at[file] < a.files[file].entry_count; at[file]++) {
				unsigned i = how.backward ?
						     a.files[file].entry_count - 1 - at[file] :
						     at[file];

				cr_assert(not(query_matches(&how.query, a.files[file].held[i])),
					  "seed %lu, expression %u: entry %u of file %u is missing",
					  seed, n, i, file);
			}
		}
		free(text);
	}
	archive_remove(&a);
}

Test(filter, everything_that_matches_comes_and_nothing_else, .timeout = 100)
{
	for (uint64_t seed = 101; seed <= 160; seed++)
		check_model(seed);
}
