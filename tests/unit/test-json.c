/* SPDX-License-Identifier: MIT */
/* The JSON modes: one object an entry, keys in a fixed order. */
#include <criterion/criterion.h>
#include <criterion/new/assert.h>

#include <stdio.h>

#include "tests/support/print.h"

PRINT_SUITE(json, OUTPUT_JSON);

#define HEAD                                                                                       \
	"{\"__CURSOR\":\"" PRINT_CURSOR "\","                                                      \
	"\"__REALTIME_TIMESTAMP\":\"1714557601250000\","                                           \
	"\"__MONOTONIC_TIMESTAMP\":\"12500001\","                                                  \
	"\"__SEQNUM\":\"42\","                                                                     \
	"\"__SEQNUM_ID\":\"" PRINT_SEQNUM_ID "\","                                                 \
	"\"_BOOT_ID\":\"" PRINT_BOOT_ID "\""
#define EXPECT_MEMBERS(text) EXPECT_PRINTED(HEAD text "}\n")

Test(json, entry_without_fields_has_the_header_members)
{
	EXPECT_MEMBERS("");
}

Test(json, members_come_in_order_of_first_appearance)
{
	print_field(&p, "B=2");
	print_field(&p, "A=1");
	EXPECT_MEMBERS(",\"B\":\"2\",\"A\":\"1\"");
}

Test(json, repeated_field_is_an_array_where_it_appears_first)
{
	print_field(&p, "B=2");
	print_field(&p, "A=1");
	print_field(&p, "B=1");
	print_field(&p, "B=3");
	EXPECT_MEMBERS(",\"B\":[\"2\",\"1\",\"3\"],\"A\":\"1\"");
}

Test(json, quotes_backslashes_and_white_space_are_escaped)
{
	print_field(&p, "A=\"\\\n\t/");
	EXPECT_MEMBERS(",\"A\":\"\\\"\\\\\\n\\t/\"");
}

Test(json, text_beyond_ascii_is_written_raw)
{
	print_field(&p, "A=\xc3\xa9\xe2\x80\xa8\xf0\x9f\x98\x80");
	EXPECT_MEMBERS(",\"A\":\"\xc3\xa9\xe2\x80\xa8\xf0\x9f\x98\x80\"");
}

Test(json, empty_value_is_an_empty_string)
{
	print_field(&p, "A=");
	EXPECT_MEMBERS(",\"A\":\"\"");
}

Test(json, unprintable_value_is_an_array_of_bytes)
{
	print_bytes(&p, PRINT_LITERAL("A=b\x01\0c"));
	print_field(&p, "B=\xff");
	print_field(&p, "C=\r");
	EXPECT_MEMBERS(",\"A\":[98,1,0,99],\"B\":[255],\"C\":[13]");
}

Test(json, value_is_given_up_as_text_at_any_place)
{
	char value[64], expected[1024];

	for (size_t at = 0; at < 40; at++) {
		size_t size = (size_t)sprintf(expected, HEAD ",\"A\":[");

		strcpy(value, "A=aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa");
		value[2 + at] = 0x01;
		for (size_t i = 0; i < 40; i++)
			size += (size_t)sprintf(expected + size, "%s%d", i ? "," : "",
						value[2 + i]);
		strcpy(expected + size, "]}\n");
		print_clear(&p);
		print_field(&p, value);
		EXPECT_PRINTED(expected);
	}
}

Test(json, field_of_4096_bytes_is_null)
{
	print_run(&p, "FIELD", 'x', 4090);
	EXPECT_MEMBERS(",\"FIELD\":null");
}

Test(json, field_of_4095_bytes_is_a_string)
{
	print_run(&p, "FIELD", 'x', 4089);
	cr_expect(eq(sz, strlen(print_entry(&p)), strlen(HEAD ",\"FIELD\":\"\"}\n") + 4089));
}

Test(json, long_unprintable_value_is_null_too)
{
	print_run(&p, "FIELD", 0x01, 4090);
	EXPECT_MEMBERS(",\"FIELD\":null");
}

Test(json, all_lifts_the_limit)
{
	p.options.flags = OUTPUT_ALL;
	print_run(&p, "FIELD", 'x', 200000);
	cr_expect(eq(sz, strlen(print_entry(&p)), strlen(HEAD ",\"FIELD\":\"\"}\n") + 200000));
}

Test(json, all_leaves_unprintable_values_arrays)
{
	p.options.flags = OUTPUT_ALL;
	print_run(&p, "FIELD", 0x01, 100000);
	cr_expect(eq(sz, strlen(print_entry(&p)), strlen(HEAD ",\"FIELD\":[]}\n") + 199999));
}

Test(json, character_across_the_pieces_of_a_long_value_stays_whole)
{
	/* Three bytes a character: every piece of a power of two ends within one. */
	char *text;

	p.options.flags = OUTPUT_ALL;
	print_run(&p, "A", 'x', 300000);
	for (size_t i = 0; i < 100000; i++)
		memcpy((uint8_t *)p.fields[0].bytes + 2 + i * 3, "\xe2\x82\xac", 3);
	text = print_entry(&p);
	cr_assert(eq(sz, strlen(text), strlen(HEAD ",\"A\":\"\"}\n") + 300000));
	cr_expect(eq(int, memcmp(text + strlen(HEAD ",\"A\":\""), p.fields[0].bytes + 2, 300000),
		     0));
}

Test(json, late_bad_byte_turns_a_long_value_into_an_array)
{
	static const size_t places[] = { 65535, 65536, 131071, 199999 };

	p.options.flags = OUTPUT_ALL;
	print_run(&p, "A", 'x', 200000);
	for (size_t i = 0; i < sizeof(places) / sizeof(*places); i++) {
		uint8_t *byte = (uint8_t *)p.fields[0].bytes + 2 + places[i];

		*byte = 0xe2;
		/* "120," for each but one, "226" and its comma. */
		cr_expect(eq(sz, strlen(print_entry(&p)),
			     strlen(HEAD ",\"A\":[]}\n") + 200000 * 4 - 1));
		*byte = 'x';
	}
}

Test(json, values_of_a_repeated_field_follow_the_rule_one_by_one)
{
	print_field(&p, "A=1");
	print_field(&p, "A=\x01\x02");
	print_run(&p, "A", 'x', 4094);
	EXPECT_MEMBERS(",\"A\":[\"1\",[1,2],null]");
}

Test(json, stored_boot_id_is_left_out)
{
	print_field(&p, "_BOOT_ID=stored");
	EXPECT_MEMBERS("");
}

Test(json, invalid_name_drops_that_field_only)
{
	print_field(&p, "lower=1");
	print_field(&p, "NOVALUE");
	print_field(&p, "=x");
	print_field(&p, "A=1");
	EXPECT_MEMBERS(",\"A\":\"1\"");
}

Test(json, stored_field_called_like_a_header_member_joins_it)
{
	print_field(&p, "__SEQNUM_ID=one");
	print_field(&p, "A=1");
	print_field(&p, "__SEQNUM_ID=\x01");
	EXPECT_PRINTED("{\"__CURSOR\":\"" PRINT_CURSOR "\","
		       "\"__REALTIME_TIMESTAMP\":\"1714557601250000\","
		       "\"__MONOTONIC_TIMESTAMP\":\"12500001\",\"__SEQNUM\":\"42\","
		       "\"__SEQNUM_ID\":[\"" PRINT_SEQNUM_ID "\",\"one\",[1]],"
		       "\"_BOOT_ID\":\"" PRINT_BOOT_ID "\",\"A\":\"1\"}\n");
}

Test(json, only_listed_fields_follow_the_header_members)
{
	static const char *const list[] = { "B", NULL };

	p.options.fields = list;
	print_field(&p, "A=1");
	print_field(&p, "B=2");
	print_field(&p, "__CURSOR=3");
	EXPECT_MEMBERS(",\"B\":\"2\"");
}

Test(json, sse_frames_the_object)
{
	p.options.mode = OUTPUT_JSON_SSE;
	print_field(&p, "A=1");
	EXPECT_PRINTED("data: " HEAD ",\"A\":\"1\"}\n\n");
}

Test(json, seq_marks_the_record)
{
	p.options.mode = OUTPUT_JSON_SEQ;
	print_field(&p, "A=1");
	EXPECT_PRINTED("\x1e" HEAD ",\"A\":\"1\"}\n");
}

Test(json, pretty_form_has_a_line_for_every_value)
{
	p.options.mode = OUTPUT_JSON_PRETTY;
	print_field(&p, "A=1");
	print_field(&p, "B=\x01\x02");
	print_field(&p, "A=\x03");
	print_run(&p, "A", 'x', 4094);
	EXPECT_PRINTED("{\n"
		       "\t\"__CURSOR\" : \"" PRINT_CURSOR "\",\n"
		       "\t\"__REALTIME_TIMESTAMP\" : \"1714557601250000\",\n"
		       "\t\"__MONOTONIC_TIMESTAMP\" : \"12500001\",\n"
		       "\t\"__SEQNUM\" : \"42\",\n"
		       "\t\"__SEQNUM_ID\" : \"" PRINT_SEQNUM_ID "\",\n"
		       "\t\"_BOOT_ID\" : \"" PRINT_BOOT_ID "\",\n"
		       "\t\"A\" : [\n"
		       "\t\t\"1\",\n"
		       "\t\t[\n"
		       "\t\t\t3\n"
		       "\t\t],\n"
		       "\t\tnull\n"
		       "\t],\n"
		       "\t\"B\" : [\n"
		       "\t\t1,\n"
		       "\t\t2\n"
		       "\t]\n"
		       "}\n");
}

/* Fills an entry with COUNT fields of COUNT / 2 names, each twice, and the text to expect. */
static void json_many(size_t count, char *expected)
{
	char field[64];

	for (size_t i = 0; i < count; i++) {
		sprintf(field, "F%zu=%zu", i % (count / 2), i);
		print_field(&p, field);
	}
	expected += sprintf(expected, "%s", HEAD);
	for (size_t i = 0; i < count / 2; i++)
		expected += sprintf(expected, ",\"F%zu\":[\"%zu\",\"%zu\"]", i, i, i + count / 2);
	strcpy(expected, "}\n");
}

Test(json, many_fields_are_grouped_like_few)
{
	static char expected[1 << 20];
	static const size_t counts[] = { 2, 126, 128, 130, 1000, 10000 };

	for (size_t i = 0; i < sizeof(counts) / sizeof(*counts); i++) {
		print_clear(&p);
		json_many(counts[i], expected);
		EXPECT_PRINTED(expected);
	}
}

Test(json, names_that_differ_in_the_middle_only_stay_apart)
{
	static char expected[1 << 16];
	char field[64], *to = expected + sprintf(expected, "%s", HEAD);

	for (unsigned i = 0; i < 120; i++) {
		sprintf(field, "AAAAAAAA_%03u_ZZZZZZZZ=%u", i, i);
		print_field(&p, field);
		to += sprintf(to, ",\"AAAAAAAA_%03u_ZZZZZZZZ\":\"%u\"", i, i);
	}
	strcpy(to, "}\n");
	EXPECT_PRINTED(expected);
}
