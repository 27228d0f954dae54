/* SPDX-License-Identifier: MIT */
/*
 * Many small archives and match expressions, by seed: what the indexes yield is what testing every
 * entry yields, and both are what the model says. With JSCAN_TEST_ARCHIVE=FOLDER the same is asked
 * of the journals there, JSCAN_TEST_SEED=N giving the questions.
 */
#include "tests/scan/harness.h"
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

/* An engine set up for that, over the journals of a folder. */
static struct jscan *prepare(const char *folder, const struct how *how, uint32_t plan,
			     uint32_t method)
{
	struct jscan_options options = JSCAN_OPTIONS_INIT;
	struct jscan *engine;

	options.plan = plan;
	options.io = method;
	cr_assert(eq(int, jscan_new(&options, &engine), 0));
	cr_assert(eq(int, jscan_add_directory(engine, folder, 0), 0));
	jscan_set_direction(engine, how->backward ? JSCAN_BACKWARD : JSCAN_FORWARD);
	jscan_set_tail(engine, how->tail);
	jscan_set_limit(engine, how->limit);
	jscan_set_bounds(engine, how->since, how->until);
	return engine;
}

/* The messages that a scan yields. */
static char *scan(const struct archive *a, const struct how *how, uint32_t plan, uint32_t method)
{
	struct jscan *engine = prepare(a->folder, how, plan, method);
	uint64_t count;
	char *text;

	query_build(&how->query, &builder, engine);
	text = collect(engine, DRIVE_NEXT);
	cr_assert(eq(int, jscan_count(engine, &count), 0));
	for (const char *p = strstr(text, " of "); p; p = strstr(p + 1, " of "))
		count--;
	cr_expect(eq(u64, count, 0), "as many are counted as come");
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

/* ---- journals that are there already ------------------------------------------------------ */

/* Some values of a field. */
struct values {
	char *values[16];
	unsigned count;
};

static int keep_value(void *userdata, const void *data, size_t size)
{
	struct values *v = userdata;

	if (size < 200)
		v->values[v->count++] = strndup(data, size);
	return v->count == sizeof(v->values) / sizeof(v->values[0]);
}

/* The times that the files span. */
static int keep_times(void *userdata, const struct jscan_file_info *file)
{
	uint64_t *times = userdata;

	if (file->n_entries && file->head_realtime_usec < times[0])
		times[0] = file->head_realtime_usec;
	if (file->n_entries && file->tail_realtime_usec > times[1])
		times[1] = file->tail_realtime_usec;
	return 0;
}

/* Fields whose values are asked for. */
static const char *const fields[] = { "_BOOT_ID",  "_SYSTEMD_UNIT", "PRIORITY",
				      "_TRANSPORT", "_UID",          "SYSLOG_IDENTIFIER" };
#define FIELDS (sizeof(fields) / sizeof(fields[0]))

/* Adds a random match of what is there. */
static void match_random(struct jscan *engine, const struct values *values, uint64_t *random)
{
	for (uint64_t n = query_random_below(random, 4); n > 0; n--) {
		size_t f = query_random_below(random, FIELDS);
		uint64_t next = query_random_below(random, 4);
		char term[300];

		if (values[f].count == 0)
			continue;
		snprintf(term, sizeof(term), "%s=%s", fields[f],
			 values[f].values[query_random_below(random, values[f].count)]);
		jscan_match(engine, term, strlen(term));
		if (next == 0)
			jscan_match_or(engine);
		else if (next == 1)
			jscan_match_and(engine);
	}
}

/* Expects two engines to yield the same entries. */
static void expect_same(struct jscan *a, struct jscan *b, uint64_t number)
{
	char x[JSCAN_CURSOR_SIZE], y[JSCAN_CURSOR_SIZE];
	const struct jscan_entry *entry;
	uint64_t at = 0;
	int r, q;

	do {
		r = jscan_next(a, &entry);
		if (r > 0)
			jscan_entry_cursor(entry, x);
		q = jscan_next(b, &entry);
		if (q > 0)
			jscan_entry_cursor(entry, y);
		cr_assert(eq(int, r, q), "question %lu: one ends at entry %lu", number, at);
		if (r > 0)
			cr_assert(eq(str, x, y), "question %lu, entry %lu", number, at);
		at++;
	} while (r > 0);
}

Test(filter, journals_that_are_named_yield_the_same_by_index_and_by_testing, .timeout = 3600)
{
	const char *folder = getenv("JSCAN_TEST_ARCHIVE"), *seed = getenv("JSCAN_TEST_SEED");
	uint64_t random = seed ? strtoul(seed, NULL, 10) : 1, times[2] = { UINT64_MAX, 0 }, span;
	struct how how = { .tail = UINT64_MAX, .limit = UINT64_MAX, .until = UINT64_MAX };
	struct values values[FIELDS] = { 0 };
	struct jscan *engine;

	if (!folder)
		cr_skip_test("JSCAN_TEST_ARCHIVE is not set");
	engine = prepare(folder, &how, JSCAN_PLAN_AUTO, JSCAN_IO_SYNC);
	for (size_t f = 0; f < FIELDS; f++)
		cr_assert(ge(int, jscan_list_field_values(engine, fields[f], keep_value,
							  &values[f]), 0));
	cr_assert(eq(int, jscan_list_files(engine, keep_times, times), 0));
	jscan_free(engine);
	span = times[1] > times[0] ? times[1] - times[0] : 1;
	for (uint64_t n = 0; n < 30; n++) {
		uint64_t matches;
		struct jscan *planned, *tested;

		how = how_random(&random);
		how.since = how.until = 0;
		if (query_random_below(&random, 2))
			how.since = times[0] + query_random_below(&random, span);
		how.until = UINT64_MAX;
		if (query_random_below(&random, 2)) /* a short while, or a long one */
			how.until = (how.since ? how.since : times[0]) +
				    query_random_below(&random, query_random_below(&random, 2) ?
								span : span / 1000 + 1);
		matches = random;
		planned = prepare(folder, &how, JSCAN_PLAN_AUTO, JSCAN_IO_AUTO);
		match_random(planned, values, &matches);
		tested = prepare(folder, &how, JSCAN_PLAN_SCAN, JSCAN_IO_AUTO);
		match_random(tested, values, &random);
		expect_same(planned, tested, n);
		jscan_free(planned);
		jscan_free(tested);
	}
	for (size_t f = 0; f < FIELDS; f++) {
		for (unsigned i = 0; i < values[f].count; i++)
			free(values[f].values[i]);
	}
}
