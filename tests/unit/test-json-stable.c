/* SPDX-License-Identifier: MIT */
/* json-stable: types that do not depend on the data. */
#include <criterion/criterion.h>
#include <criterion/new/assert.h>

#include <stdio.h>
#include <stdlib.h>

#include "tests/support/print.h"

PRINT_SUITE(json_stable, OUTPUT_JSON_STABLE);

#define HEAD                                                                                       \
	"{\"cursor\":\"" PRINT_CURSOR "\",\"realtime_usec\":1714557601250000,"                     \
	"\"monotonic_usec\":12500001,\"boot_id\":\"" PRINT_BOOT_ID "\",\"seqnum\":42,"             \
	"\"seqnum_id\":\"" PRINT_SEQNUM_ID "\",\"complete\":true,\"fields\":{"
#define EXPECT_FIELDS(text) EXPECT_PRINTED(HEAD text "}}\n")

Test(json_stable, entry_without_fields_has_an_empty_object)
{
	EXPECT_FIELDS("");
}

Test(json_stable, one_value_is_an_array_too)
{
	print_field(&p, "A=1");
	EXPECT_FIELDS("\"A\":[{\"text\":\"1\"}]");
}

Test(json_stable, fields_come_in_order_of_first_appearance)
{
	print_field(&p, "B=2");
	print_field(&p, "A=1");
	print_field(&p, "B=1");
	EXPECT_FIELDS("\"B\":[{\"text\":\"2\"},{\"text\":\"1\"}],\"A\":[{\"text\":\"1\"}]");
}

Test(json_stable, text_is_utf8_without_nul)
{
	static const char *const texts[][2] = {
		{ "", "" },
		{ "\"\\/", "\\\"\\\\/" },
		{ "\n\t\r\b\f", "\\n\\t\\r\\b\\f" },
		{ "\x01\x0b\x1f\x7f", "\\u0001\\u000b\\u001f\\u007f" },
		{ "\xc2\x80\xdf\xbf", "\xc2\x80\xdf\xbf" },
		{ "\xe0\xa0\x80\xed\x9f\xbf\xef\xbf\xbf", "\xe0\xa0\x80\xed\x9f\xbf\xef\xbf\xbf" },
		{ "\xf0\x90\x80\x80\xf4\x8f\xbf\xbf", "\xf0\x90\x80\x80\xf4\x8f\xbf\xbf" },
	};
	char field[64], expected[1024];

	for (size_t i = 0; i < sizeof(texts) / sizeof(texts[0]); i++) {
		sprintf(field, "A=%s", texts[i][0]);
		sprintf(expected, HEAD "\"A\":[{\"text\":\"%s\"}]}}\n", texts[i][1]);
		print_clear(&p);
		print_field(&p, field);
		EXPECT_PRINTED(expected);
	}
}

Test(json_stable, all_else_is_base64)
{
	print_bytes(&p, PRINT_LITERAL("A=\0"));
	print_field(&p, "B=\xff\xfe");
	print_field(&p, "C=a\xc3z");         /* cut short */
	print_field(&p, "D=\xc0\x80");       /* overlong */
	print_field(&p, "E=\xe0\x9f\xbf");
	print_field(&p, "F=\xf0\x8f\xbf\xbf");
	print_field(&p, "G=\xed\xa0\x80");   /* a surrogate */
	print_field(&p, "H=\xf4\x90\x80\x80"); /* beyond the last */
	print_field(&p, "I=abc\xe2\x80");
	EXPECT_FIELDS("\"A\":[{\"base64\":\"AA==\"}],\"B\":[{\"base64\":\"//4=\"}],"
		      "\"C\":[{\"base64\":\"YcN6\"}],\"D\":[{\"base64\":\"wIA=\"}],"
		      "\"E\":[{\"base64\":\"4J+/\"}],\"F\":[{\"base64\":\"8I+/vw==\"}],"
		      "\"G\":[{\"base64\":\"7aCA\"}],\"H\":[{\"base64\":\"9JCAgA==\"}],"
		      "\"I\":[{\"base64\":\"YWJj4oA=\"}]");
}

Test(json_stable, long_values_are_whole)
{
	static const size_t sizes[] = { 4090, 4095, 4096, 4097, 8191, 100000 };

	for (size_t i = 0; i < sizeof(sizes) / sizeof(sizes[0]); i++) {
		print_clear(&p);
		print_run(&p, "FIELD", 'x', sizes[i]);
		cr_expect(eq(sz, strlen(print_entry(&p)),
			     strlen(HEAD "\"FIELD\":[{\"text\":\"\"}]}}\n") + sizes[i]));
	}
}

Test(json_stable, characters_may_lie_anywhere_in_a_long_text)
{
	const size_t size = 20000, head = strlen(HEAD "\"A\":[{\"text\":\"");

	for (size_t shift = 0; shift < 4; shift++) {
		char *field = malloc(size + 16), *printed;
		size_t at = 2 + shift;

		memset(field, 'a', at);
		memcpy(field, "A=", 2);
		for (; at < size; at += 4)
			memcpy(field + at, "\xf0\x9f\x98\x80", 4);
		print_clear(&p);
		print_bytes(&p, field, at);
		printed = print_entry(&p);
		cr_expect(memcmp(printed + head, field + 2, at - 2) == 0);
		cr_expect(eq(str, printed + head + at - 2, (char *)"\"}]}}\n"));
		field[at - 1] = 'z'; /* the last character is cut: none of it is text */
		print_clear(&p);
		print_bytes(&p, field, at);
		cr_expect(eq(int, strncmp(print_entry(&p) + head - 9, "{\"base64\":", 10), 0));
		free(field);
	}
}

Test(json_stable, stored_fields_called_like_the_headers_of_json_are_fields)
{
	print_field(&p, "__CURSOR=x");
	print_field(&p, "_BOOT_ID=y");
	EXPECT_FIELDS("\"__CURSOR\":[{\"text\":\"x\"}],\"_BOOT_ID\":[{\"text\":\"y\"}]");
}

Test(json_stable, fields_without_a_valid_name_come_last_as_a_whole)
{
	print_field(&p, "lower=1");
	print_field(&p, "A=1");
	print_bytes(&p, PRINT_LITERAL("no name\0"));
	EXPECT_PRINTED(HEAD "\"A\":[{\"text\":\"1\"}]},\"unnamed\":[{\"text\":\"lower=1\"},"
			    "{\"base64\":\"bm8gbmFtZQA=\"}]}\n");
}

Test(json_stable, list_holds_no_unnamed_field)
{
	static const char *const list[] = { "A", "lower", NULL };

	p.options.fields = list;
	print_field(&p, "lower=1");
	print_field(&p, "B=1");
	print_field(&p, "A=1");
	EXPECT_FIELDS("\"A\":[{\"text\":\"1\"}]");
}

Test(json_stable, missing_fields_are_told)
{
	p.entry.incomplete = true;
	cr_expect(ne(ptr, strstr(print_entry(&p), "\"complete\":false"), NULL));
}

Test(json_stable, extreme_numbers_are_exact)
{
	p.entry.realtime = p.entry.monotonic = p.entry.seqnum = UINT64_MAX;
	cr_expect(ne(ptr, strstr(print_entry(&p), "\"realtime_usec\":18446744073709551615,"
						  "\"monotonic_usec\":18446744073709551615,"),
		     NULL));
	cr_expect(ne(ptr, strstr(print_entry(&p), "\"seqnum\":18446744073709551615,"), NULL));
}

Test(json_stable, many_fields_are_grouped_all_the_same)
{
	char field[32], expected[40];

	for (unsigned i = 0; i < 600; i++) {
		sprintf(field, "F%u=%u", i % 300, i);
		print_field(&p, field);
	}
	for (unsigned i = 0; i < 300; i++) {
		sprintf(expected, "\"F%u\":[{\"text\":\"%u\"},{\"text\":\"%u\"}]", i, i, i + 300);
		cr_expect(ne(ptr, strstr(print_entry(&p), expected), NULL));
	}
}

Test(json_stable, limit_of_the_buffer_leaves_nothing_behind)
{
	print_run(&p, "A", 0xff, 5000);
	p.buffer.limit = 4096;
	cr_expect(eq(int, output_entry(&p.options, &p.cache, NULL, &p.entry, &p.buffer), -ENOMEM));
	cr_expect(eq(sz, p.buffer.size, 0));
}
