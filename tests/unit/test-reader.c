/* SPDX-License-Identifier: MIT */
/* Loading the fields of entries. */
#include <criterion/criterion.h>
#include <criterion/new/assert.h>
#include <stdio.h>
#include <stdlib.h>

#include "engine/match.h"
#include "engine/reader.h"
#include "tests/support/fixture.h"

static struct fixture *fx;
static struct reader reader;
static struct window window;
static struct journal journal;
static struct entry_object entry;

static const struct reader_filter everything = { .all = true };

static void setup(void)
{
	fx = fixture_new(&(const struct fixture_options){ .compression = OBJECT_ZSTD,
							  .compress_from_bytes = 100 });
	cr_assert(eq(int, reader_init(&reader, 1 << 20, 1 << 20), 0));
}

static void teardown(void)
{
	reader_done(&reader);
	fixture_free(fx);
}

TestSuite(reader, .init = setup, .fini = teardown, .timeout = 30);

/* Opens the file and looks at entry INDEX. */
static void open_entry(unsigned index)
{
	char detail[HEADER_DETAIL_SIZE];

	fixture_finish(fx);
	window = fixture_window(fx);
	cr_assert(eq(int, header_parse(fixture_bytes(fx), HEADER_SIZE_MAX, fixture_size(fx),
				       &journal, detail), 0));
	cr_assert(eq(int, object_entry(&journal, &window, fixture_find_entry(fx, index), &entry),
		     0));
}

/* The fields that were loaded, in order; long ones by their size. A blank after each. */
static void expect_fields(const char *expected)
{
	char text[2000] = "";

	for (size_t i = 0; i < reader.field_count; i++) {
		const struct output_field *f = &reader.fields[i];
		size_t size = strlen(text);

		if (f->size < 40)
			snprintf(text + size, sizeof(text) - size, "%.*s ", (int)f->size, f->bytes);
		else
			snprintf(text + size, sizeof(text) - size, "%.*s:%lu ", (int)f->name_size,
				 f->bytes, f->size);
	}
	cr_expect(eq(str, text, (char *)expected));
}

static char *long_field(const char *name, size_t size)
{
	char *text = malloc(size + 1);

	memset(text, 'x', size);
	text[size] = '\0';
	memcpy(text, name, strlen(name));
	return text;
}

Test(reader, fields_come_in_stored_order_whole_and_decompressed)
{
	char *text = long_field("LONG=", 5000);

	fixture_add(fx, NULL, "B=2", "A=1", text, "EMPTY=", "A=2", NULL);
	open_entry(0);
	cr_assert(eq(int, reader_load(&reader, &journal, &window, 0, &entry, &everything), 0));
	expect_fields("B=2 A=1 LONG:5000 EMPTY= A=2 ");
	cr_expect(eq(int, memcmp(reader.fields[2].bytes, text, 5000), 0));
	cr_expect(eq(u32, reader.fields[2].name_size, 4));
	cr_expect(eq(u32, reader.damage_count, 0));
	free(text);
}

Test(reader, a_filter_takes_what_it_names)
{
	static const char *const names[] = { "A=", "LONG=" };
	static const size_t sizes[] = { 2, 5 };
	struct reader_filter filter = { .count = 2, .names = names, .sizes = sizes };
	char *text = long_field("LONG=", 5000), *other = long_field("LONGER=", 5000);

	fixture_add(fx, NULL, "B=2", "A=1", "AA=7", other, text, "A=2", NULL);
	open_entry(0);
	cr_assert(eq(int, reader_load(&reader, &journal, &window, 0, &entry, &filter), 0));
	expect_fields("A=1 LONG:5000 A=2 ");
	filter.first_only = true;
	cr_assert(eq(int, reader_load(&reader, &journal, &window, 0, &entry, &filter), 0));
	expect_fields("A=1 LONG:5000 ");
	free(text);
	free(other);
}

Test(reader, a_field_without_a_sign_has_a_name_only)
{
	uint64_t data;

	fixture_add(fx, NULL, "A=1", "BCD=", NULL);
	fixture_finish(fx);
	data = fixture_find_text(fx, "BCD=");
	fixture_put8(fx, data + DATA_PAYLOAD_REGULAR + 3, 'E');
	open_entry(0);
	cr_assert(eq(int, reader_load(&reader, &journal, &window, 0, &entry, &everything), 0));
	expect_fields("A=1 BCDE ");
	cr_expect(eq(u32, reader.fields[1].name_size, 4));
}

Test(reader, damaged_fields_are_left_out_and_listed)
{
	uint64_t wrong;

	fixture_add(fx, NULL, "A=1", "B=2", "C=3", NULL);
	fixture_finish(fx);
	wrong = fixture_find_text(fx, "B=2");
	fixture_put8(fx, wrong + OBJECT_TYPE, OBJECT_FIELD);
	open_entry(0);
	cr_assert(eq(int, reader_load(&reader, &journal, &window, 0, &entry, &everything), 0));
	expect_fields("A=1 C=3 ");
	cr_assert(eq(u32, reader.damage_count, 1));
	cr_expect(eq(u64, reader.damage[0].offset, wrong));
	cr_expect(eq(int, reader.damage[0].error, -EBADMSG));
}

Test(reader, an_item_that_points_nowhere_is_damage)
{
	fixture_add(fx, NULL, "A=1", "B=2", NULL);
	fixture_finish(fx);
	fixture_put_item(fx, fixture_find_item(fx, fixture_find_entry(fx, 0), 0), 1ull << 40);
	open_entry(0);
	cr_assert(eq(int, reader_load(&reader, &journal, &window, 0, &entry, &everything), 0));
	expect_fields("B=2 ");
	cr_assert(eq(u32, reader.damage_count, 1));
	cr_expect(eq(int, reader.damage[0].error, -EADDRNOTAVAIL));
}

Test(reader, broken_compression_is_damage)
{
	char *text = long_field("LONG=", 5000);
	uint64_t data;

	fixture_add(fx, NULL, "A=1", text, NULL);
	fixture_finish(fx);
	data = fixture_find_data(fx, text, 5000);
	fixture_put32(fx, data + DATA_PAYLOAD_REGULAR, 0);
	open_entry(0);
	cr_assert(eq(int, reader_load(&reader, &journal, &window, 0, &entry, &everything), 0));
	expect_fields("A=1 ");
	cr_assert(eq(u32, reader.damage_count, 1));
	cr_expect(eq(u64, reader.damage[0].offset, data));
	free(text);
}

Test(reader, a_field_beyond_the_limit_is_left_out)
{
	char *text = long_field("LONG=", 3 << 20);

	fixture_add(fx, NULL, "A=1", text, "B=2", NULL);
	open_entry(0);
	cr_assert(eq(int, reader_load(&reader, &journal, &window, 0, &entry, &everything), 0));
	expect_fields("A=1 B=2 ");
	cr_assert(eq(u32, reader.damage_count, 1));
	cr_expect(eq(int, reader.damage[0].error, -ENOBUFS));
	free(text);
}

Test(reader, an_entry_that_repeats_a_field_without_end_is_cut)
{
	static struct fixture_field fields[100000];
	struct fixture_stamp stamp = { .keep_order = true };
	char *text = long_field("LONG=", 99);

	for (size_t i = 0; i < 100000; i++)
		fields[i] = (struct fixture_field){ text, 99 };
	fixture_entry(fx, &stamp, fields, 100000);
	open_entry(0);
	cr_assert(eq(int, reader_load(&reader, &journal, &window, 0, &entry, &everything), 0));
	cr_expect(gt(sz, reader.field_count, 5000));
	cr_expect(le(sz, reader.field_count, (1 << 20) / (99 + sizeof(struct output_field))));
	cr_assert(gt(u32, reader.damage_count, 0));
	cr_expect(eq(int, reader.damage[0].error, -ENOBUFS));
	cr_expect(le(u32, reader.damage_count, READER_DAMAGE_MAX));
	free(text);
}

Test(reader, all_that_is_lacking_is_asked_for_together)
{
	uint8_t *blocks;
	unsigned rounds = 1, lacking = 0;
	int r;

	for (unsigned n = 0; n < 2; n++) {
		struct fixture_field fields[40];
		char texts[40][200];

		for (unsigned i = 0; i < 40; i++) {
			memset(texts[i], 'a' + (int)i % 26, sizeof(texts[i]));
			snprintf(texts[i], sizeof(texts[i]), "F%u=%u", i, n);
			fields[i] = (struct fixture_field){ texts[i], 100 };
		}
		fixture_entry(fx, NULL, fields, 40);
	}
	open_entry(1);
	blocks = calloc(window.size_bytes / 64 + 1, 1);
	window.whole = false;
	window.block_shift = 6;
	window.blocks = blocks;
	while ((r = reader_load(&reader, &journal, &window, 0, &entry, &everything)) == -EAGAIN) {
		rounds++;
		cr_assert(gt(u32, window.want_count, 0));
		for (unsigned i = 0; i < window.want_count; i++) {
			uint64_t end = window.wants[i].offset + window.wants[i].size_bytes;

			for (uint64_t k = window.wants[i].offset / 64; k <= (end - 1) / 64; k++)
				blocks[k] |= WINDOW_BLOCK_RESIDENT;
		}
		lacking += window.want_count;
		window.want_count = 0;
	}
	cr_assert(eq(int, r, 0));
	cr_expect(eq(sz, reader.field_count, 40));
	/* The items; the data objects' fixed parts; their payloads. */
	cr_expect(le(u32, rounds, 5));
	cr_expect(gt(u32, lacking, 2));
	free(blocks);
}

Test(reader, whether_an_entry_matches_is_seen_from_its_fields)
{
	char *text = long_field("LONG=", 500);
	struct match m = { 0 };
	bool matches;

	fixture_add(fx, NULL, "A=1", text, NULL);
	open_entry(0);
	cr_assert(eq(int, reader_load(&reader, &journal, &window, 0, &entry, &everything), 0));
	match_add(&m, text, 500);
	cr_assert(eq(int, reader_matches(&reader, &m, &matches), 0));
	cr_expect(matches);
	match_add(&m, "A=11", 4);
	cr_assert(eq(int, reader_matches(&reader, &m, &matches), 0));
	cr_expect(not(matches));
	match_add(&m, "A=1", 3);
	cr_assert(eq(int, reader_matches(&reader, &m, &matches), 0));
	cr_expect(matches);
	match_done(&m);
	free(text);
}
