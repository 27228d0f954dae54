/* SPDX-License-Identifier: MIT */
/*
 * Invocations from the indexes, against what reading all entries says: on archives made at random,
 * in both directions, from any place, and few of them; and with few reads, and on damaged files.
 */
#include "engine/engine.h"
#include "tests/scan/harness.h"
#include "tests/support/fixture.h"
#include "tests/support/io-methods.h"

#define FILES_MAX 5u
#define ENTRIES_MAX 400u
#define INVOCATIONS_MAX 64u
#define FIELDS 4u

static const char *const fields[FIELDS] = { "_SYSTEMD_INVOCATION_ID",
					    "OBJECT_SYSTEMD_INVOCATION_ID", "INVOCATION_ID",
					    "USER_INVOCATION_ID" };
static const char *const names[FILES_MAX] = { "/mem/0", "/mem/1", "/mem/2", "/mem/3", "/mem/4" };

static struct io_fault fault;
static struct fixture *files[FILES_MAX];
static unsigned file_count;

/* An archive of one sequence, whose entries are spread over files. */
struct shape {
	unsigned files;
	unsigned entries;
	unsigned units;       /* of which "unit-0" is asked for */
	unsigned invocations; /* in use at once */
	unsigned change;      /* one in so many entries begins another */
	bool both;            /* some entries have several of the fields */
	bool compact;
	unsigned buckets;     /* 0: 127 */
};

/* The text of the invocation with a number. */
static void invocation_text(unsigned number, const char *field, char text[96])
{
	struct id128 id = fixture_id(5000 + number);
	char hex[33];

	fixture_id_text(&id, hex);
	snprintf(text, 96, "%s=%s", field, hex);
}

static unsigned random_below(uint64_t *seed, unsigned limit)
{
	return (unsigned)(io_fault_random(seed) % limit);
}

/* Begins the files. */
static void begin_files(const struct shape *shape)
{
	file_count = shape->files;
	for (unsigned f = 0; f < file_count; f++)
		files[f] = fixture_new(&(const struct fixture_options){
			.compact = shape->compact,
			.keyed = f % 2,
			.id_fields = true,
			.data_buckets = shape->buckets ? shape->buckets : 127,
			.seqnum_id = fixture_id(9),
			.file_id = fixture_id(100 + f),
			.state = JOURNAL_STATE_ARCHIVED,
		});
}

static void finish_files(void)
{
	io_fault_init(&fault, 5);
	for (unsigned f = 0; f < file_count; f++) {
		fixture_finish(files[f]);
		io_fault_add_file(&fault, names[f], fixture_bytes(files[f]),
				  fixture_size(files[f]));
	}
}

static void free_files(void)
{
	for (unsigned f = 0; f < file_count; f++)
		fixture_free(files[f]);
	file_count = 0;
}

/* Makes the archive; the second half is another boot, with other invocations. */
static void make_archive(const struct shape *shape, uint64_t seed)
{
	unsigned current[INVOCATIONS_MAX] = { 0 }, used = 0;

	begin_files(shape);
	for (unsigned n = 0; n < shape->entries; n++) {
		unsigned boot = n >= shape->entries / 2, unit = random_below(&seed, shape->units);
		unsigned slot = random_below(&seed, shape->invocations);
		struct fixture_stamp stamp = { .seqnum = n + 1,
					       .realtime = ARCHIVE_TIME(n),
					       .monotonic = 1000 + n,
					       .boot_id = fixture_id(1000 + boot) };
		char unit_text[40], first[96], second[96] = "A=1", message[32];
		unsigned kind = random_below(&seed, 8), field = kind < FIELDS ? kind : 0;

		if (n == 0 || n == shape->entries / 2)
			for (unsigned i = 0; i < shape->invocations; i++)
				current[i] = used++;
		if (random_below(&seed, shape->change) == 0)
			current[slot] = used++;
		snprintf(message, sizeof(message), "MESSAGE=%u", n);
		snprintf(unit_text, sizeof(unit_text), "_SYSTEMD_UNIT=unit-%u", unit);
		invocation_text(current[slot], fields[field], first);
		if (shape->both && random_below(&seed, 3) == 0)
			invocation_text(current[random_below(&seed, shape->invocations)],
					fields[(field + 1 + random_below(&seed, FIELDS - 1)) %
					       FIELDS], second);
		if (kind == 7)
			snprintf(first, sizeof(first), "%s=%s", fields[field],
				 random_below(&seed, 2) ? "no" :
				 "00000000000000000000000000000000");
		fixture_add(files[random_below(&seed, file_count)], &stamp, message, unit_text,
			    first, second, "_UID=0", NULL);
	}
	finish_files();
}

static struct jscan *open_engine(uint32_t plan)
{
	struct jscan_options options = JSCAN_OPTIONS_INIT;
	struct jscan *engine;

	options.queue_depth = 4096; /* a wave is as wide as it has to be */
	options.plan = plan;
	cr_assert(eq(int, jscan_new(&options, &engine), 0));
	engine_set_io(engine, &io_method_fault, &fault);
	for (unsigned f = 0; f < file_count; f++)
		jscan_add_file(engine, names[f], JSCAN_ADD_LITERAL);
	return engine;
}

static void match(struct jscan *engine, const char *text)
{
	cr_assert(eq(int, jscan_match(engine, text, strlen(text)), 0));
}

/* ---- what is expected ------------------------------------------------------------------- */

struct row {
	jscan_id id;
	uint64_t first, last;
};

struct rows {
	struct row rows[ENTRIES_MAX];
	unsigned count;
	unsigned stop_at; /* jscan_list_invocations(): the row that ends the listing; 0: none */
};

/* The ID in a field. */
static bool read_id(const struct jscan_entry *entry, const char *name, jscan_id *ret_id)
{
	static const jscan_id null_id;
	char text[40];

	field_text(entry, name, text, sizeof(text));
	return jscan_id_parse(text, ret_id) == 0 && memcmp(ret_id, &null_id, sizeof(null_id)) != 0;
}

/* The row of an ID, or NULL. */
static struct row *find_row(struct rows *rows, const jscan_id *id)
{
	for (unsigned i = 0; i < rows->count; i++)
		if (memcmp(&rows->rows[i].id, id, sizeof(*id)) == 0)
			return &rows->rows[i];
	return NULL;
}

/* Reads the entries that match, from CURSOR on, and adds each invocation that it comes to. */
static void expect_rows(struct jscan *engine, const char *cursor, struct rows *rows)
{
	const struct jscan_entry *entry;

	if (cursor)
		jscan_seek_after_cursor(engine, cursor);
	while (jscan_next(engine, &entry) > 0) {
		jscan_id id;
		unsigned i = 0;

		while (i < FIELDS && !read_id(entry, fields[i], &id))
			i++;
		if (i < FIELDS && !find_row(rows, &id))
			rows->rows[rows->count++] = (struct row){ .id = id };
	}
}

/* Reads all entries, of one boot if there is one, for the ends. */
static void expect_ends(const char *boot, struct rows *rows)
{
	struct jscan *engine = open_engine(JSCAN_PLAN_AUTO);
	const struct jscan_entry *entry;

	if (boot)
		match(engine, boot);
	while (jscan_next(engine, &entry) > 0) {
		for (unsigned i = 0; i < FIELDS; i++) {
			struct row *row = NULL;
			jscan_id id;

			if (read_id(entry, fields[i], &id))
				row = find_row(rows, &id);
			if (!row)
				continue;
			row->last = jscan_entry_info(entry)->realtime_usec;
			row->first = row->first ? row->first : row->last;
		}
	}
	jscan_free(engine);
}

static int keep_row(void *userdata, const struct jscan_invocation *invocation)
{
	struct rows *rows = userdata;

	cr_assert(lt(u32, rows->count, ENTRIES_MAX));
	cr_expect(eq(sz, invocation->size, sizeof(*invocation)));
	rows->rows[rows->count++] = (struct row){ invocation->invocation_id,
						  invocation->first_realtime_usec,
						  invocation->last_realtime_usec };
	return rows->count == rows->stop_at ? 77 : 0;
}

/* Expects the first COUNT of the expected rows, 0: all. */
static void expect_same(const struct rows *got, const struct rows *want, uint64_t count, bool ends)
{
	count = count && count < want->count ? count : want->count;
	cr_assert(eq(u64, got->count, count));
	for (unsigned i = 0; i < count; i++) {
		cr_assert(eq(int, memcmp(&got->rows[i].id, &want->rows[i].id, sizeof(jscan_id)), 0),
			  "row %u of %u", i, got->count);
		cr_expect(eq(u64, got->rows[i].first, ends ? want->rows[i].first : 0));
		cr_expect(eq(u64, got->rows[i].last, ends ? want->rows[i].last : 0));
	}
}

/* Lists with some options, and compares. */
static void compare(enum jscan_direction direction, uint32_t plan, const char *boot,
		    const struct jscan_invocations_options *given)
{
	struct jscan_invocations_options options = *given;
	struct jscan *engine = open_engine(plan);
	struct rows got = { .count = 0 }, want = { .count = 0 };
	jscan_id boot_id;

	if (boot) {
		match(engine, boot);
		jscan_match_and(engine);
		cr_assert(eq(int, jscan_id_parse(strchr(boot, '=') + 1, &boot_id), 0));
		options.boot_id = &boot_id;
	}
	match(engine, "_SYSTEMD_UNIT=unit-0");
	jscan_set_direction(engine, direction);
	/* Bounds and a tail do not count. */
	jscan_set_bounds(engine, ARCHIVE_TIME(5), ARCHIVE_TIME(7));
	jscan_set_tail(engine, 1);
	cr_assert(eq(int, jscan_list_invocations(engine, &options, keep_row, &got), 0));
	jscan_set_bounds(engine, 0, UINT64_MAX);
	jscan_set_tail(engine, UINT64_MAX);
	/* The same engine goes on as if nothing had been. */
	expect_rows(engine, options.cursor, &want);
	expect_ends(boot, &want);
	expect_same(&got, &want, options.count, !(options.flags & JSCAN_INVOCATIONS_WITHOUT_ENDS));
	jscan_free(engine);
}

/* The cursor of an entry. */
static void cursor_of(unsigned n, char cursor[JSCAN_CURSOR_SIZE])
{
	struct jscan *engine = open_engine(JSCAN_PLAN_AUTO);
	const struct jscan_entry *entry;

	jscan_seek_realtime(engine, ARCHIVE_TIME(n));
	cr_assert(eq(int, jscan_next(engine, &entry), 1));
	jscan_entry_cursor(entry, cursor);
	jscan_free(engine);
}

/* All ways of asking about an archive. */
static void compare_all(const struct shape *shape)
{
	char boot[64] = "_BOOT_ID=", cursor[JSCAN_CURSOR_SIZE];
	static const uint64_t counts[] = { 0, 1, 2, 5, 1000 };
	struct id128 id = fixture_id(1001);

	fixture_id_text(&id, boot + strlen(boot));
	cursor_of(shape->entries / 3, cursor);
	for (int backward = 0; backward < 2; backward++) {
		enum jscan_direction direction = backward ? JSCAN_BACKWARD : JSCAN_FORWARD;

		for (unsigned i = 0; i < sizeof(counts) / sizeof(counts[0]); i++) {
			struct jscan_invocations_options o = JSCAN_INVOCATIONS_OPTIONS_INIT;

			o.count = counts[i];
			compare(direction, JSCAN_PLAN_AUTO, NULL, &o);
			compare(direction, JSCAN_PLAN_AUTO, boot, &o);
			o.cursor = cursor;
			compare(direction, JSCAN_PLAN_AUTO, NULL, &o);
			o.flags = JSCAN_INVOCATIONS_WITHOUT_ENDS;
			compare(direction, JSCAN_PLAN_SCAN, NULL, &o);
		}
	}
}

TestSuite(invocations, .fini = free_files, .timeout = 120);

static struct shape shapes[] = {
	{ .files = 1, .entries = 300, .units = 1, .invocations = 1, .change = 40 },
	{ .files = 1, .entries = 300, .units = 2, .invocations = 3, .change = 20, .compact = true },
	{ .files = 3, .entries = 300, .units = 3, .invocations = 2, .change = 30, .both = true },
	{ .files = 5, .entries = 400, .units = 2, .invocations = 8, .change = 9, .both = true,
	  .compact = true },
	{ .files = 2, .entries = 200, .units = 1, .invocations = 6, .change = 1000, .both = true },
	{ .files = 4, .entries = 40, .units = 9, .invocations = 2, .change = 5 },
};

ParameterizedTestParameters(invocations, are_those_that_reading_all_entries_finds)
{
	return cr_make_param_array(struct shape, shapes, sizeof(shapes) / sizeof(shapes[0]));
}

ParameterizedTest(struct shape *shape, invocations, are_those_that_reading_all_entries_finds,
		  .fini = free_files, .timeout = 120)
{
	for (uint64_t seed = 1; seed <= 6; seed++) {
		make_archive(shape, seed);
		compare_all(shape);
		free_files();
	}
}

/* ---- costs ------------------------------------------------------------------------------ */

#define LONG_ENTRIES 4000u

/* One boot; in each file one invocation with many entries, and one entry in their middle that is of
 * another. */
static void make_long_archive(void)
{
	static const struct shape shape = { .files = FILES_MAX, .compact = true,
					    .buckets = 2 * LONG_ENTRIES };

	begin_files(&shape);
	for (unsigned n = 0; n < FILES_MAX * LONG_ENTRIES; n++) {
		unsigned f = n / LONG_ENTRIES;
		struct fixture_stamp stamp = { .seqnum = n + 1,
					       .realtime = ARCHIVE_TIME(n),
					       .monotonic = 1000 + n,
					       .boot_id = fixture_id(1000) };
		bool odd = n % LONG_ENTRIES == LONG_ENTRIES / 2;
		char text[96], message[32];

		snprintf(message, sizeof(message), "MESSAGE=%u", n);
		invocation_text(odd ? 100 + f : f, fields[0], text);
		fixture_add(files[f], &stamp, message, "_SYSTEMD_UNIT=unit-0", text, NULL);
	}
	finish_files();
}

Test(invocations, are_listed_without_reading_their_entries)
{
	struct jscan_invocations_options options = JSCAN_INVOCATIONS_OPTIONS_INIT;
	struct jscan_stats stats = { .size = sizeof(stats) };
	struct rows got = { .count = 0 };
	struct jscan *engine;
	uint64_t bytes = 0;

	make_long_archive();
	for (unsigned f = 0; f < file_count; f++)
		bytes += fixture_size(files[f]);
	engine = open_engine(JSCAN_PLAN_AUTO);
	match(engine, "_SYSTEMD_UNIT=unit-0");
	cr_assert(eq(int, jscan_list_invocations(engine, NULL, keep_row, &got), 0));
	cr_assert(eq(u32, got.count, 2 * FILES_MAX));
	for (unsigned f = 0; f < FILES_MAX; f++) {
		cr_expect(eq(u64, got.rows[2 * f].first, ARCHIVE_TIME(f * LONG_ENTRIES)));
		cr_expect(eq(u64, got.rows[2 * f].last, ARCHIVE_TIME((f + 1) * LONG_ENTRIES - 1)));
		cr_expect(eq(u64, got.rows[2 * f + 1].first,
			     ARCHIVE_TIME(f * LONG_ENTRIES + LONG_ENTRIES / 2)));
	}
	jscan_get_stats(engine, &stats);
	cr_expect(lt(u64, stats.bytes_read, bytes / 5), "%lu of %lu bytes",
		  (unsigned long)stats.bytes_read, (unsigned long)bytes);
	jscan_free(engine);
	/* The newest is the last file's. */
	engine = open_engine(JSCAN_PLAN_AUTO);
	match(engine, "_SYSTEMD_UNIT=unit-0");
	jscan_set_direction(engine, JSCAN_BACKWARD);
	options.count = 1;
	options.flags = JSCAN_INVOCATIONS_WITHOUT_ENDS;
	got.count = 0;
	cr_assert(eq(int, jscan_list_invocations(engine, &options, keep_row, &got), 0));
	cr_assert(eq(u32, got.count, 1));
	jscan_get_stats(engine, &stats);
	cr_expect(lt(u64, stats.reads, FILES_MAX + 20));
	jscan_free(engine);
}

/* ---- arguments and damage --------------------------------------------------------------- */

Test(invocations, are_refused_to_who_asks_wrongly)
{
	static const struct shape shape = { .files = 1, .entries = 20, .units = 1,
					    .invocations = 1, .change = 4 };
	struct {
		struct jscan_invocations_options options;
		uint64_t more;
	} longer = { .options = JSCAN_INVOCATIONS_OPTIONS_INIT };
	struct jscan_invocations_options options = JSCAN_INVOCATIONS_OPTIONS_INIT;
	struct rows got = { .stop_at = 2 };
	struct jscan *engine;

	make_archive(&shape, 1);
	engine = open_engine(JSCAN_PLAN_AUTO);
	cr_expect(eq(int, jscan_list_invocations(NULL, NULL, keep_row, &got), -EINVAL));
	cr_expect(eq(int, jscan_list_invocations(engine, NULL, NULL, NULL), -EINVAL));
	options.flags = 2;
	cr_expect(eq(int, jscan_list_invocations(engine, &options, keep_row, &got), -EINVAL));
	options.flags = 0;
	options.reserved = 1;
	cr_expect(eq(int, jscan_list_invocations(engine, &options, keep_row, &got), -EINVAL));
	options.reserved = 0;
	options.cursor = "x";
	cr_expect(eq(int, jscan_list_invocations(engine, &options, keep_row, &got), -EINVAL));
	options.size = 4;
	cr_expect(eq(int, jscan_list_invocations(engine, &options, keep_row, &got), -EINVAL));
	longer.options.size = sizeof(longer);
	longer.more = 1;
	cr_expect(eq(int, jscan_list_invocations(engine, &longer.options, keep_row, &got), -E2BIG));
	cr_expect(eq(u32, got.count, 0));
	longer.more = 0;
	cr_expect(eq(int, jscan_list_invocations(engine, &longer.options, keep_row, &got), 77));
	cr_expect(eq(u32, got.count, 2));
	jscan_free(engine);
}

/* What is done to the file. */
enum damage {
	DAMAGE_COUNT,  /* a set claims more entries than there are */
	DAMAGE_ITEM,   /* an offset in a set leads nowhere */
	DAMAGE_BACK,   /* an offset in a set leads back */
	DAMAGE_LOOP,   /* the arrays of a set go in a circle */
	DAMAGE_BOOT,   /* the values of _BOOT_ID go in a circle */
	DAMAGE_BUCKET, /* the bucket of an ID goes astray */
	DAMAGE_FIELD,  /* there is no such field */
};
static enum damage damages[] = { DAMAGE_COUNT, DAMAGE_ITEM, DAMAGE_BACK, DAMAGE_LOOP, DAMAGE_BOOT,
				 DAMAGE_BUCKET, DAMAGE_FIELD };

ParameterizedTestParameters(invocations, of_damaged_files_are_those_that_can_be_read)
{
	return cr_make_param_array(enum damage, damages, sizeof(damages) / sizeof(damages[0]));
}

/* Damages the set of the unit, of an invocation, or what leads there. */
static void damage_file(struct fixture *fx, enum damage damage, const char *text)
{
	uint64_t data = fixture_find_text(fx, text);
	uint64_t array = fixture_find_data_array(fx, data, 0);
	uint64_t boot = fixture_get64(fx, fixture_find_field(fx, "_BOOT_ID") +
					  FIELD_HEAD_DATA_OFFSET);

	switch (damage) {
	case DAMAGE_COUNT:
		fixture_put64(fx, data + DATA_N_ENTRIES, UINT64_C(1) << 60);
		break;
	case DAMAGE_ITEM:
		fixture_put_item(fx, fixture_find_item(fx, array, 2), 0x7fffff8);
		break;
	case DAMAGE_BACK:
		fixture_put_item(fx, fixture_find_item(fx, array, 2), fixture_find_entry(fx, 0));
		break;
	case DAMAGE_LOOP:
		fixture_put64(fx, array + ENTRY_ARRAY_NEXT, array);
		break;
	case DAMAGE_BOOT:
		fixture_put64(fx, boot + DATA_NEXT_FIELD_OFFSET, boot);
		break;
	case DAMAGE_BUCKET:
		fixture_put64(fx, fixture_find_data_bucket(fx, text, strlen(text)), 8);
		break;
	case DAMAGE_FIELD:
		fixture_put64(fx, fixture_find_field_bucket(fx, fields[0]), 0);
		break;
	}
}

ParameterizedTest(enum damage *damage, invocations, of_damaged_files_are_those_that_can_be_read,
		  .fini = free_files, .timeout = 120)
{
	static const struct shape shape = { .files = 2, .entries = 300, .units = 1,
					    .invocations = 2, .change = 60, .both = true };
	char id_text[96];
	const char *texts[] = { "_SYSTEMD_UNIT=unit-0", id_text };

	invocation_text(0, fields[0], id_text);
	for (unsigned i = 0; i < 4; i++) {
		struct rows got = { .count = 0 };
		struct jscan *engine;

		make_archive(&shape, 1);
		damage_file(files[0], *damage, texts[i / 2]);
		engine = open_engine(JSCAN_PLAN_AUTO);
		match(engine, "_SYSTEMD_UNIT=unit-0");
		jscan_set_direction(engine, i % 2 ? JSCAN_BACKWARD : JSCAN_FORWARD);
		cr_expect(eq(int, jscan_list_invocations(engine, NULL, keep_row, &got), 0));
		/* The other file is whole. */
		cr_expect(ge(u32, got.count, 3));
		for (unsigned k = 0; k < got.count; k++)
			cr_expect(le(u64, got.rows[k].first, got.rows[k].last));
		jscan_free(engine);
		free_files();
	}
}
