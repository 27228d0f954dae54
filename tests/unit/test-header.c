/* SPDX-License-Identifier: MIT */
/* File headers: all sizes are taken, and each check of the format refuses what it should. */
#include <criterion/criterion.h>
#include <criterion/new/assert.h>
#include <criterion/parameterized.h>
#include <stdio.h>

#include "tests/support/layouts.h"

/* Parses a finished fixture's header as a reader does. */
static int parse(const struct fixture *fx, struct journal *j, char text[HEADER_DETAIL_SIZE])
{
	struct window w = fixture_window(fx);
	size_t size = w.size_bytes < HEADER_SIZE_MAX ? w.size_bytes : HEADER_SIZE_MAX;

	return header_parse(w.base, size, w.size_bytes, j, text);
}

/* A file of ten entries, one second apart, with a chain of two arrays. */
static struct fixture *ten_entries(struct fixture_options options)
{
	struct fixture *fx = fixture_new(&options);
	char text[32];

	for (unsigned i = 0; i < 10; i++) {
		snprintf(text, sizeof(text), "MESSAGE=%u", i);
		fixture_add(fx, NULL, text, "A=b", NULL);
	}
	fixture_finish(fx);
	return fx;
}

ParameterizedTestParameters(header, every_layout_is_parsed)
{
	return cr_make_param_array(struct layout, layouts, LAYOUT_COUNT);
}

ParameterizedTest(struct layout *l, header, every_layout_is_parsed)
{
	struct fixture *fx = story_new(l);
	char text[HEADER_DETAIL_SIZE];
	struct journal j;

	cr_assert(eq(int, parse(fx, &j, text), 0), "%u: %s", l->header_size, text);
	cr_expect(eq(str, text, (char *)""));
	cr_expect(eq(u64, j.header.header_size, l->header_size));
	cr_expect(eq(u64, j.header.n_entries, STORY_ENTRIES));
	cr_expect(eq(u8, j.header.state, l->state));
	cr_expect(eq(int, j.compact, l->compact));
	cr_expect(eq(int, j.keyed, l->keyed));
	cr_expect(not(j.truncated));
	cr_expect(eq(u32, j.item_size, l->compact ? 4 : 8));
	cr_expect(eq(u32, j.entry_item_size, l->compact ? 4 : 16));
	cr_expect(eq(u32, j.data_payload, l->compact ? 72 : 64));
	cr_expect(eq(u64, journal_end(&j, fixture_size(fx)),
		     j.header.header_size + j.header.arena_size));

	/* Fields are there if the header is long enough, else they are 0. */
	cr_expect(eq(int, header_has(&j.header, HEADER_N_DATA, 8), l->header_size >= 216));
	cr_expect(eq(u64, j.header.n_data,
		     l->header_size >= 216 ? fixture_count_objects(fx, OBJECT_DATA) : 0));
	cr_expect(eq(u64, j.header.n_entry_arrays,
		     l->header_size >= 240 ? fixture_count_objects(fx, OBJECT_ENTRY_ARRAY) : 0));
	cr_expect(eq(int, j.header.tail_entry_array_offset != 0, l->header_size >= 260));
	cr_expect(eq(int, j.header.tail_entry_array_n_entries != 0, l->header_size >= 264));
	cr_expect(eq(u64, j.header.tail_entry_offset,
		     l->header_size >= 272 ? fixture_find_entry(fx, STORY_ENTRIES - 1) : 0));
	fixture_free(fx);
}

/* One field overwritten in a good file, and what comes of it. */
struct lie {
	unsigned offset;
	unsigned size;
	uint64_t value;
	int error;
	char detail[48]; /* part of the clause */
};

static struct lie lies[] = {
	{ 0, 1, 'l', -EBADMSG, "signature" },
	{ HEADER_INCOMPATIBLE_FLAGS, 4, 0x80, -EPROTONOSUPPORT, "flag bit 7 (0x80)" },
	{ HEADER_INCOMPATIBLE_FLAGS, 4, 0x220, -EPROTONOSUPPORT, "flag bits 5, 9 (0x220)" },
	{ HEADER_INCOMPATIBLE_FLAGS, 4, 0xffffffff, -EPROTONOSUPPORT, "5, 6, 7, 8, 9" },
	{ HEADER_INCOMPATIBLE_FLAGS, 4, 0x80000000, -EPROTONOSUPPORT, "bit 31 (0x80000000)" },
	{ HEADER_COMPATIBLE_FLAGS, 4, 0xfffffff8, 0, "" },
	{ HEADER_STATE, 1, 2, 0, "" },
	{ HEADER_STATE, 1, 3, -EBADMSG, "state 3" },
	{ HEADER_RESERVED, 1, 9, 0, "" },
	{ HEADER_HEADER_SIZE, 8, 207, -EBADMSG, "header size 207" },
	{ HEADER_HEADER_SIZE, 8, UINT64_MAX - 9, -ENODATA, "overflow" },
	{ HEADER_ARENA_SIZE, 8, UINT64_MAX - 271, -ENODATA, "overflow" },
	{ HEADER_TAIL_OBJECT_OFFSET, 8, 4, -ENODATA, "tail object offset 4" },
	{ HEADER_TAIL_OBJECT_OFFSET, 8, 264, -ENODATA, "tail object offset 264" },
	{ HEADER_TAIL_OBJECT_OFFSET, 8, 1 << 30, -ENODATA, "tail object at" },
	{ HEADER_DATA_HASH_TABLE_OFFSET, 8, 0, -ENODATA, "data hash table at 0" },
	{ HEADER_DATA_HASH_TABLE_SIZE, 8, 0, -ENODATA, "data hash table" },
	{ HEADER_DATA_HASH_TABLE_SIZE, 8, 17, 0, "" },
	{ HEADER_DATA_HASH_TABLE_OFFSET, 8, 16, -ENODATA, "data hash table at 16" },
	{ HEADER_DATA_HASH_TABLE_OFFSET, 8, 292, -ENODATA, "data hash table at 292" },
	{ HEADER_FIELD_HASH_TABLE_SIZE, 8, 1 << 30, -ENODATA, "field hash table" },
	{ HEADER_FIELD_HASH_TABLE_OFFSET, 8, 280, -ENODATA, "field hash table at 280" },
	{ HEADER_ENTRY_ARRAY_OFFSET, 8, 12, -ENODATA, "entry array offset 12" },
	{ HEADER_ENTRY_ARRAY_OFFSET, 8, 1 << 30, -ENODATA, "entry array offset" },
	{ HEADER_ENTRY_ARRAY_OFFSET, 8, 0, -ENODATA, "tail entry array offset" },
	{ HEADER_TAIL_ENTRY_ARRAY_OFFSET, 4, 0, -ENODATA, "tail entry array" },
	{ HEADER_TAIL_ENTRY_ARRAY_OFFSET, 4, 280, -ENODATA, "tail entry array offset 280" },
	{ HEADER_TAIL_ENTRY_ARRAY_N_ENTRIES, 4, 0, -ENODATA, "with 0 entries" },
	{ HEADER_TAIL_ENTRY_ARRAY_N_ENTRIES, 4, 0xffffffff, -ENODATA, "ends past" },
	{ HEADER_TAIL_ENTRY_ARRAY_N_ENTRIES, 4, 11, -ENODATA, "11 entries in the tail" },
	{ HEADER_TAIL_ENTRY_OFFSET, 8, 3, -ENODATA, "tail entry offset 3" },
	{ HEADER_TAIL_ENTRY_OFFSET, 8, 0, -ENODATA, "no tail entry" },
	{ HEADER_HEAD_ENTRY_REALTIME, 8, 0, -ENODATA, "realtime of first or last entry: 0," },
	{ HEADER_TAIL_ENTRY_REALTIME, 8, JOURNAL_TIME_END, -ENODATA, "realtime" },
	{ HEADER_TAIL_ENTRY_REALTIME, 8, JOURNAL_TIME_END - 1, 0, "" },
	{ HEADER_TAIL_ENTRY_MONOTONIC, 8, JOURNAL_TIME_END, -ENODATA, "monotonic" },
	{ HEADER_N_OBJECTS, 8, 1 << 28, -ENODATA, "objects in an arena" },
	{ HEADER_N_ENTRIES, 8, 1 << 20, -ENODATA, "1048576 entries among" },
	{ HEADER_N_ENTRIES, 8, 11, 0, "" },
	{ HEADER_N_ENTRIES, 8, 0, -ENODATA, "in the tail entry array of 0" },
	{ HEADER_N_DATA, 8, 1 << 20, -ENODATA, "data objects among" },
	{ HEADER_N_FIELDS, 8, 1 << 20, -ENODATA, "field objects" },
	{ HEADER_N_TAGS, 8, 1 << 20, -ENODATA, "tag objects" },
	{ HEADER_N_ENTRY_ARRAYS, 8, 1 << 20, -ENODATA, "entry arrays" },
	{ HEADER_DATA_HASH_CHAIN_DEPTH, 8, UINT64_MAX, 0, "" },
};

ParameterizedTestParameters(header, lie_is_refused_by_its_check)
{
	return cr_make_param_array(struct lie, lies, sizeof(lies) / sizeof(lies[0]));
}

ParameterizedTest(struct lie *lie, header, lie_is_refused_by_its_check)
{
	struct fixture *fx = ten_entries((struct fixture_options){ .keyed = true });
	char text[HEADER_DETAIL_SIZE];
	struct journal j;

	for (unsigned i = 0; i < lie->size; i++)
		fixture_put8(fx, lie->offset + i, (uint8_t)(lie->value >> i * 8));
	cr_assert(eq(int, parse(fx, &j, text), lie->error));
	cr_expect(strstr(text, lie->detail) != NULL, "%s: %s", lie->detail, text);
	cr_expect(eq(int, text[0] != 0, lie->error != 0));
	fixture_free(fx);
}

Test(header, tail_entry_needs_a_boot_id)
{
	struct fixture *fx = ten_entries((struct fixture_options){ 0 });
	char text[HEADER_DETAIL_SIZE];
	struct journal j;

	fixture_poke(fx, HEADER_TAIL_ENTRY_BOOT_ID, (uint8_t[16]){ 0 }, 16);
	cr_expect(eq(int, parse(fx, &j, text), -ENODATA));
	cr_expect(strstr(text, "boot ID") != NULL, "%s", text);
	fixture_free(fx);
}

Test(header, boot_id_without_tail_entry_counts_only_with_its_flag)
{
	struct fixture *fx = fixture_new(&(struct fixture_options){ 0 });
	char text[HEADER_DETAIL_SIZE];
	struct journal j;

	fixture_finish(fx);
	cr_assert(eq(int, parse(fx, &j, text), 0));
	cr_expect(eq(u64, j.header.n_entries, 0));
	fixture_put8(fx, HEADER_TAIL_ENTRY_BOOT_ID, 1);
	cr_expect(eq(int, parse(fx, &j, text), -ENODATA));
	fixture_put32(fx, HEADER_COMPATIBLE_FLAGS, 0);
	cr_expect(eq(int, parse(fx, &j, text), 0));
	fixture_free(fx);
}

Test(header, sealed_file_needs_a_count_of_arrays)
{
	struct fixture *fx = ten_entries((struct fixture_options){ .header_size = 232 });
	char text[HEADER_DETAIL_SIZE];
	struct journal j;

	cr_assert(eq(int, parse(fx, &j, text), 0));
	fixture_put32(fx, HEADER_COMPATIBLE_FLAGS, JOURNAL_COMPATIBLE_SEALED);
	cr_expect(eq(int, parse(fx, &j, text), -EBADMSG));
	cr_expect(strstr(text, "sealed") != NULL, "%s", text);
	fixture_free(fx);
}

Test(header, several_compressions_are_no_error)
{
	struct fixture *fx = ten_entries((struct fixture_options){ 0 });
	char text[HEADER_DETAIL_SIZE];
	struct journal j;

	fixture_put32(fx, HEADER_INCOMPATIBLE_FLAGS,
		      JOURNAL_INCOMPATIBLE_LZ4 | JOURNAL_INCOMPATIBLE_ZSTD);
	cr_expect(eq(int, parse(fx, &j, text), 0));
	fixture_free(fx);
}

Test(header, short_file_has_no_header)
{
	uint8_t bytes[HEADER_SIZE_MAX] = JOURNAL_SIGNATURE;
	char text[HEADER_DETAIL_SIZE];
	struct journal j;

	cr_expect(eq(int, header_parse(bytes, 0, 0, &j, text), -ENODATA));
	cr_expect(eq(int, header_parse(bytes, 207, 207, &j, text), -ENODATA));
	cr_expect(eq(int, header_parse(bytes, 208, 208, &j, text), -EBADMSG)); /* header size 0 */
}

/* A file cut to a length, and what comes of it. */
struct cut {
	unsigned size;
	int error;
};

/* Header 272, an object header each, 13 and 61 buckets of 16 bytes: the tables end at 288 + 208 =
 * 496 and 512 + 976 = 1488, in the order in which the fixture has them. */
static struct cut cuts[] = {
	{ 208, -ENODATA }, { 271, -ENODATA }, { 272, -ENODATA },  { 287, -ENODATA },
	{ 288, -ENODATA }, { 496, -ENODATA }, { 1480, -ENODATA }, { 1487, -ENODATA },
	{ 1504, 0 },       { 1601, 0 },       { 2000, 0 },
};

ParameterizedTestParameters(header, truncated_file_is_taken_if_its_tables_are_there)
{
	return cr_make_param_array(struct cut, cuts, sizeof(cuts) / sizeof(cuts[0]));
}

ParameterizedTest(struct cut *cut, header, truncated_file_is_taken_if_its_tables_are_there)
{
	struct fixture *fx = ten_entries((struct fixture_options){ 0 });
	char text[HEADER_DETAIL_SIZE];
	struct journal j;

	/* The chain's first array lies within every cut that is taken. */
	fixture_put64(fx, HEADER_ENTRY_ARRAY_OFFSET, 1488);
	fixture_resize(fx, cut->size);
	cr_assert(eq(int, parse(fx, &j, text), cut->error), "%s", text);
	if (cut->error == 0) {
		cr_expect(j.truncated);
		cr_expect(eq(u64, journal_end(&j, fixture_size(fx)), cut->size));
		/* The header is kept as it stands in the file. */
		cr_expect(gt(u64, j.header.tail_object_offset, cut->size));
		cr_expect(eq(u64, j.header.n_entries, 10));
	}
	fixture_free(fx);
}

Test(header, truncated_file_skips_the_checks_of_its_tail)
{
	struct fixture *fx = ten_entries((struct fixture_options){ 0 });
	char text[HEADER_DETAIL_SIZE];
	struct journal j;

	fixture_put64(fx, HEADER_ENTRY_ARRAY_OFFSET, 1488);
	fixture_put32(fx, HEADER_TAIL_ENTRY_ARRAY_OFFSET, 3);
	fixture_put64(fx, HEADER_TAIL_ENTRY_OFFSET, 3);
	fixture_put64(fx, HEADER_N_OBJECTS, 1 << 28);
	cr_assert(eq(int, parse(fx, &j, text), -ENODATA));
	fixture_resize(fx, 2000);
	cr_assert(eq(int, parse(fx, &j, text), 0));
	fixture_put64(fx, HEADER_N_DATA, UINT64_C(1) << 40);
	cr_assert(eq(int, parse(fx, &j, text), -ENODATA));
	fixture_free(fx);
}
