/* SPDX-License-Identifier: MIT */
/*
 * Queries that the indexes answer: in few waves of reads, with few reads, over many files, and with
 * the counts that reading all entries gives. Looks inside the library for engine_set_io() only.
 */
#include <sys/resource.h>

#include "engine/engine.h"
#include "tests/scan/harness.h"
#include "tests/support/fixture.h"

#define FILES 120u
#define BOOT_FILES 4u /* files of a boot */
#define ENTRIES 150u  /* of a file */
#define UNIT_EVERY 50u
#define SLOW_USEC 5000u /* what a read takes on a slow disk */

static struct io_fault fault;
static struct fixture *files[FILES];
static char names[FILES][24];

/* The boot of a file. */
static struct id128 boot_of(unsigned file)
{
	return fixture_id(1000 + file / BOOT_FILES);
}

/* Adds the entries of one file of an archive: one sequence, boots one after the other. */
static struct fixture *make_file(unsigned f, unsigned entries)
{
	struct fixture *fx = fixture_new(&(const struct fixture_options){
		.compact = true,
		.keyed = true,
		.id_fields = true,
		.data_buckets = 1021,
		.seqnum_id = fixture_id(9),
		.file_id = fixture_id(10 + f),
		.boot_id = boot_of(f),
		.state = JOURNAL_STATE_ARCHIVED,
	});

	for (unsigned i = 0; i < entries; i++) {
		unsigned n = f * entries + i;
		struct fixture_stamp stamp = { .seqnum = n + 1,
					       .realtime = ARCHIVE_TIME(n),
					       .monotonic = 1000 + n,
					       .boot_id = boot_of(f) };
		char message[40], other[40];

		snprintf(message, sizeof(message), "MESSAGE=%u", n);
		snprintf(other, sizeof(other), "_SYSTEMD_UNIT=unit-%u.service", n % 7);
		fixture_add(fx, &stamp, message,
			    i % UNIT_EVERY == 0 ? "_SYSTEMD_UNIT=dbus.service" : other,
			    "_UID=0", NULL);
	}
	fixture_finish(fx);
	return fx;
}

/* Files in memory. */
static void setup(void)
{
	io_fault_init(&fault, 5);
	for (unsigned f = 0; f < FILES; f++) {
		files[f] = make_file(f, ENTRIES);
		snprintf(names[f], sizeof(names[f]), "/mem/%03u", f);
		io_fault_add_file(&fault, names[f], fixture_bytes(files[f]),
				  fixture_size(files[f]));
	}
}

static void teardown(void)
{
	for (unsigned f = 0; f < FILES; f++)
		fixture_free(files[f]);
}

TestSuite(index, .init = setup, .fini = teardown, .timeout = 60);

static struct jscan *open_engine(void)
{
	struct jscan_options options = JSCAN_OPTIONS_INIT;
	struct jscan *engine;

	options.queue_depth = 4096; /* a wave is as wide as it has to be */
	cr_assert(eq(int, jscan_new(&options, &engine), 0));
	engine_set_io(engine, &io_method_fault, &fault);
	for (unsigned f = 0; f < FILES; f++)
		jscan_add_file(engine, names[f], JSCAN_ADD_LITERAL);
	return engine;
}

/* Adds "FIELD=value" as a group of its own. */
static void match(struct jscan *engine, const char *text)
{
	cr_assert(eq(int, jscan_match(engine, text, strlen(text)), 0));
	cr_assert(eq(int, jscan_match_and(engine), 0));
}

/* What -u UNIT adds. */
static void match_unit(struct jscan *engine, const char *unit)
{
	static const char *const pairs[][2] = {
		{ "_SYSTEMD_UNIT", NULL },
		{ "UNIT", "_SYSTEMD_CGROUP=/init.scope" },
		{ "OBJECT_SYSTEMD_UNIT", "_UID=0" },
		{ "COREDUMP_UNIT", "MESSAGE_ID=fc2e22bc6ee647b6b90729ab34a250b1" },
	};

	for (unsigned i = 0; i < sizeof(pairs) / sizeof(pairs[0]); i++) {
		char text[300];

		snprintf(text, sizeof(text), "%s=%s", pairs[i][0], unit);
		jscan_match(engine, text, strlen(text));
		if (pairs[i][1])
			jscan_match(engine, pairs[i][1], strlen(pairs[i][1]));
		jscan_match_or(engine);
	}
	jscan_match_and(engine);
}

/* Adds the match for a boot. */
static void match_boot(struct jscan *engine, const jscan_id *id)
{
	char text[9 + JSCAN_ID_TEXT_SIZE] = "_BOOT_ID=";

	jscan_id_format(id, text + 9);
	match(engine, text);
}

Test(index, the_status_of_a_unit_takes_few_waves_and_little_of_the_archive)
{
	struct jscan_stats stats = { .size = sizeof(stats) };
	struct jscan *engine = open_engine();
	uint64_t bytes = 0;
	jscan_id boot;

	cr_assert(eq(int, jscan_newest_boot(engine, 0, &boot), 1));
	match_boot(engine, &boot);
	match_unit(engine, "dbus.service");
	jscan_set_tail(engine, 10);
	expect_texts(collect(engine, DRIVE_NEXT),
		     strdup("17500 17550 17600 17650 17700 17750 17800 17850 17900 17950"),
		     "the last ten of the unit");
	jscan_get_stats(engine, &stats);
	for (unsigned f = 0; f < FILES; f++)
		bytes += fixture_size(files[f]);
	/* Nothing is late, and the queue is deep: what is started later has waited for bytes. */
	cr_expect(le(u64, fault.waves, 15), "%lu waves", (unsigned long)fault.waves);
	cr_expect(eq(u64, stats.files_pruned, FILES - BOOT_FILES));
	cr_expect(lt(u64, stats.reads, 4 * FILES));
	cr_expect(lt(u64, stats.bytes_read, bytes / 4));
	jscan_free(engine);
}

/* The same of an archive that is there already: JSCAN_TEST_BOOTS=FOLDER, JSCAN_TEST_UNIT=UNIT. */
Test(index, the_status_of_a_unit_in_a_named_archive_takes_few_waves)
{
	struct jscan_options options = JSCAN_OPTIONS_INIT;
	struct jscan_stats stats = { .size = sizeof(stats) };
	const char *boots = getenv("JSCAN_TEST_BOOTS"), *unit = getenv("JSCAN_TEST_UNIT");
	struct jscan *engine;
	jscan_id boot;

	if (!boots)
		cr_skip_test("JSCAN_TEST_BOOTS is not set");
	fault.latency_usec = SLOW_USEC;
	options.queue_depth = 4096;
	cr_assert(eq(int, jscan_new(&options, &engine), 0));
	engine_set_io(engine, &io_method_fault, &fault);
	cr_assert(eq(int, jscan_add_directory(engine, boots, 0), 0));
	cr_assert(eq(int, jscan_newest_boot(engine, 0, &boot), 1));
	match_boot(engine, &boot);
	match_unit(engine, unit ? unit : "dbus.service");
	jscan_set_tail(engine, 10);
	free(collect(engine, DRIVE_NEXT));
	jscan_get_stats(engine, &stats);
	printf("# %lu waves, %lu reads, %lu bytes, %lu entries\n", (unsigned long)fault.waves,
	       (unsigned long)stats.reads, (unsigned long)stats.bytes_read,
	       (unsigned long)stats.entries);
	cr_expect(gt(u64, stats.entries, 0), "the unit has said something in the last boot");
	cr_expect(le(u64, fault.waves, 15), "%lu waves", (unsigned long)fault.waves);
	jscan_free(engine);
}

Test(index, boots_are_counted_from_the_newest_file_back)
{
	struct jscan_stats stats = { .size = sizeof(stats) };

	for (unsigned back = 0; back <= FILES / BOOT_FILES; back++) {
		struct jscan *engine = open_engine();
		struct id128 want;
		jscan_id id;

		if (back == FILES / BOOT_FILES) {
			cr_expect(eq(int, jscan_newest_boot(engine, back, &id), 0));
			jscan_free(engine);
			continue;
		}
		cr_expect(eq(int, jscan_newest_boot(engine, back, &id), 1));
		want = boot_of(FILES - 1 - back * BOOT_FILES);
		cr_expect(eq(int, memcmp(&id, &want, sizeof(id)), 0), "%u back", back);
		jscan_get_stats(engine, &stats);
		if (back == 0) /* besides the headers one file */
			cr_expect(lt(u64, stats.reads, FILES + 10));
		jscan_free(engine);
	}
	cr_expect(eq(int, jscan_newest_boot(NULL, 0, NULL), -EINVAL));
}

static int sum_value(void *userdata, const struct jscan_value *value)
{
	uint64_t *sums = userdata;

	sums[0] += value->entries;
	sums[1]++;
	cr_expect(le(u64, value->entries, sums[2]));
	sums[2] = value->entries;
	return 0;
}

static int sum_step(void *userdata, const struct jscan_step *step)
{
	*(uint64_t *)userdata += step->entries;
	return 0;
}

Test(index, counts_come_from_the_indexes_without_reading_entries)
{
	const uint64_t of_unit = FILES * (ENTRIES / UNIT_EVERY);
	struct jscan_stats stats = { .size = sizeof(stats) };
	uint64_t count, sums[3] = { 0, 0, UINT64_MAX };
	struct jscan *engine = open_engine();

	cr_assert(eq(int, jscan_count(engine, &count), 0));
	cr_expect(eq(u64, count, FILES * ENTRIES));
	jscan_get_stats(engine, &stats);
	cr_expect(eq(u64, stats.reads, FILES), "headers only");
	cr_assert(eq(int, jscan_top(engine, "_SYSTEMD_UNIT", UINT64_MAX, sum_value, sums), 0));
	cr_expect(eq(u64, sums[0], FILES * ENTRIES));
	cr_expect(eq(u64, sums[1], 8));
	match(engine, "_SYSTEMD_UNIT=dbus.service");
	cr_assert(eq(int, jscan_count(engine, &count), 0));
	cr_expect(eq(u64, count, of_unit));
	match(engine, "_UID=0");
	cr_assert(eq(int, jscan_count(engine, &count), 0));
	cr_expect(eq(u64, count, of_unit));
	jscan_get_stats(engine, &stats);
	cr_expect(eq(u64, stats.heap_steps + stats.fold_steps, 0));
	count = 0;
	cr_assert(eq(int, jscan_histogram(engine, ARCHIVE_SECOND * 60, sum_step, &count), 0));
	cr_expect(eq(u64, count, of_unit));
	count = 0;
	cr_assert(eq(int, jscan_histogram(engine, 0, sum_step, &count), 0));
	cr_expect(eq(u64, count, of_unit));
	cr_expect(eq(int, jscan_histogram(engine, 1, sum_step, &count), -E2BIG));
	jscan_set_limit(engine, 5);
	cr_assert(eq(int, jscan_count(engine, &count), 0));
	cr_expect(eq(u64, count, 5));
	jscan_free(engine);
}

Test(index, copies_of_entries_are_counted_once)
{
	struct jscan *engine;
	uint64_t count;

	io_fault_add_file(&fault, "/mem/copy", fixture_bytes(files[3]), fixture_size(files[3]));
	engine = open_engine();
	jscan_add_file(engine, "/mem/copy", JSCAN_ADD_LITERAL);
	cr_assert(eq(int, jscan_count(engine, &count), 0));
	cr_expect(eq(u64, count, FILES * ENTRIES));
	jscan_free(engine);
}

static int count_verdict(void *userdata, const struct jscan_explain_file *file)
{
	((unsigned *)userdata)[file->verdict]++;
	return 0;
}

Test(index, a_plan_tells_what_becomes_of_each_file)
{
	unsigned verdicts[JSCAN_VERDICT_EMPTY + 1] = { 0 };
	struct jscan *engine = open_engine();
	struct id128 boot = boot_of(0);
	jscan_id id;

	memcpy(&id, &boot, sizeof(id));
	match_boot(engine, &id);
	cr_assert(eq(int, jscan_explain(engine, count_verdict, verdicts), 0));
	cr_expect(eq(u32, verdicts[JSCAN_VERDICT_KEPT], BOOT_FILES));
	cr_expect(eq(u32, verdicts[JSCAN_VERDICT_TERM], FILES - BOOT_FILES));
	/* A minute in file 60. */
	jscan_match_flush(engine);
	memset(verdicts, 0, sizeof(verdicts));
	jscan_set_bounds(engine, ARCHIVE_TIME(60 * ENTRIES + 10), ARCHIVE_TIME(60 * ENTRIES + 70));
	cr_assert(eq(int, jscan_explain(engine, count_verdict, verdicts), 0));
	cr_expect(eq(u32, verdicts[JSCAN_VERDICT_KEPT], 1));
	cr_expect(eq(u32, verdicts[JSCAN_VERDICT_BOUNDS], 60));
	cr_expect(eq(u32, verdicts[JSCAN_VERDICT_WAITS], FILES - 61));
	expect_texts(collect(engine, DRIVE_NEXT), numbers(60 * ENTRIES + 10, 60 * ENTRIES + 70, 61),
		     "a minute");
	jscan_free(engine);
}

/* Many small files on disk, JSCAN_TEST_FILES of them, and few descriptors. */
Test(index, many_files_need_no_more_descriptors_than_there_are)
{
	const char *wanted = getenv("JSCAN_TEST_FILES");
	unsigned count = wanted ? (unsigned)strtoul(wanted, NULL, 10) : 400;
	struct rlimit limit = { 64, 64 };
	char *folder = test_folder_make();
	struct jscan *engine;
	uint64_t entries;
	jscan_id boot;

	for (unsigned f = 0; f < count; f++) {
		struct fixture *fx = make_file(f, 20);
		char name[32], *path;

		snprintf(name, sizeof(name), "file-%05u.journal", f);
		path = test_path(folder, name);
		cr_expect(le(sz, fixture_size(fx), 65536));
		fixture_write(fx, path);
		free(path);
		fixture_free(fx);
	}
	cr_assert(eq(int, setrlimit(RLIMIT_NOFILE, &limit), 0));
	cr_assert(eq(int, jscan_new(NULL, &engine), 0));
	cr_assert(eq(int, jscan_add_directory(engine, folder, 0), 0));
	cr_assert(eq(int, jscan_newest_boot(engine, 0, &boot), 1));
	cr_expect(eq(sz, jscan_files_usable(engine), count));
	cr_assert(eq(int, jscan_count(engine, &entries), 0));
	cr_expect(eq(u64, entries, (uint64_t)count * 20));
	match_boot(engine, &boot);
	cr_assert(eq(int, jscan_count(engine, &entries), 0));
	cr_expect(eq(u64, entries, (count % BOOT_FILES ? count % BOOT_FILES : BOOT_FILES) * 20u));
	jscan_set_tail(engine, 3);
	expect_texts(collect(engine, DRIVE_NEXT), numbers(count * 20 - 3, count * 20 - 1, 3),
		     "the last three");
	jscan_free(engine);
	test_folder_remove(folder);
}
