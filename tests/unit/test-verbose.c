/* SPDX-License-Identifier: MIT */
/* verbose: a line with time and cursor, then the fields. */
#include <criterion/criterion.h>
#include <criterion/new/assert.h>
#include <criterion/parameterized.h>

#include "tests/support/print.h"

PRINT_SUITE(verbose, OUTPUT_VERBOSE);

#define HEAD "Wed 2024-05-01 10:00:01.250000 UTC [" PRINT_CURSOR "]\n"

Test(verbose, fields_follow_the_header_line_in_their_order)
{
	print_field(&p, "PRIORITY=6");
	print_field(&p, "_BOOT_ID=abc");
	print_field(&p, "MESSAGE=hello");
	EXPECT_PRINTED(HEAD "    PRIORITY=6\n    _BOOT_ID=abc\n    MESSAGE=hello\n");
}

Test(verbose, repeated_fields_are_all_shown)
{
	print_field(&p, "A=1");
	print_field(&p, "A=2");
	EXPECT_PRINTED(HEAD "    A=1\n    A=2\n");
}

Test(verbose, further_lines_are_indented_by_the_name)
{
	print_field(&p, "MESSAGE=a\n\nb\n");
	EXPECT_PRINTED(HEAD "    MESSAGE=a\n            \n            b\n");
}

Test(verbose, empty_value_is_one_line)
{
	print_field(&p, "A=");
	EXPECT_PRINTED(HEAD "    A=\n");
}

Test(verbose, lenient_text_has_escapes)
{
	p.options.flags = OUTPUT_LENIENT;
	print_field(&p, "A=\\\x01\xc3\xa9\xc3\nb\x7f\n");
	print_field(&p, "B=c:\\d");
	EXPECT_PRINTED(HEAD "    A=\\\\\\x01\xc3\xa9\\xc3\n      b\\x7f\n    B=c:\\d\n");
}

Test(verbose, nothing_is_sanitised)
{
	print_field(&p, "A=x\ty");
	print_field(&p, "B=x\r\n");
	print_field(&p, "C=\x1b[1mx");
	EXPECT_PRINTED(HEAD "    A=x\ty\n    B=[3B blob data]\n    C=[5B blob data]\n");
}

Test(verbose, long_values_are_shown_whole)
{
	print_run(&p, "A", 'x', 70000);
	cr_expect(eq(sz, strlen(print_entry(&p)), strlen(HEAD "    A=\n") + 70000));
}

Test(verbose, all_shows_what_is_not_printable)
{
	p.options.flags = OUTPUT_ALL;
	print_field(&p, "A=\x1b\r\xff\nb");
	EXPECT_PRINTED(HEAD "    A=\x1b\r\xff\n      b\n");
}

Test(verbose, all_ends_each_line_at_a_nul)
{
	p.options.flags = OUTPUT_ALL;
	print_bytes(&p, PRINT_LITERAL("A=b\0c\nd"));
	EXPECT_PRINTED(HEAD "    A=b\n      d\n");
}

Test(verbose, only_listed_fields_are_shown)
{
	static const char *const list[] = { "B", "_BOOT_ID", NULL };

	p.options.fields = list;
	print_field(&p, "A=1");
	print_field(&p, "B=2");
	print_field(&p, "BB=3");
	print_field(&p, "_BOOT_ID=x");
	EXPECT_PRINTED(HEAD "    B=2\n    _BOOT_ID=x\n");
}

struct name_case {
	char field[80];
};

ParameterizedTestParameters(verbose, invalid_name_ends_the_entry)
{
	static struct name_case cases[] = {
		{ "lower=1" },
		{ "1A=1" },
		{ "=1" },
		{ "A B=1" },
		{ "NOVALUE" },
		{ "\xc3\x89=1" },
		{ "X1234567890123456789012345678901234567890123456789012345678901234=65" },
		{ "X1234567890123456789012345678901234567890123456789012345678901a=64" },
	};

	return cr_make_param_array(struct name_case, cases, sizeof(cases) / sizeof(*cases));
}

ParameterizedTest(struct name_case *c, verbose, invalid_name_ends_the_entry)
{
	print_field(&p, "A=1");
	print_field(&p, c->field);
	print_field(&p, "B=2");
	EXPECT_PRINTED(HEAD "    A=1\n");
}

Test(verbose, invalid_name_ends_the_entry_even_if_others_are_listed)
{
	static const char *const list[] = { "B", NULL };

	p.options.fields = list;
	print_field(&p, "lower=1");
	print_field(&p, "B=2");
	EXPECT_PRINTED(HEAD);
}

Test(verbose, name_of_64_characters_is_valid)
{
	print_field(&p, "X123456789012345678901234567890123456789012345678901234567890_AZ=64");
	EXPECT_PRINTED(HEAD
		       "    X123456789012345678901234567890123456789012345678901234567890_AZ=64\n");
}

Test(verbose, name_that_begins_with_two_underscores_is_valid)
{
	print_field(&p, "__CURSOR=stored");
	EXPECT_PRINTED(HEAD "    __CURSOR=stored\n");
}

Test(verbose, last_source_time_is_shown)
{
	print_field(&p, "_SOURCE_REALTIME_TIMESTAMP=1000000");
	print_field(&p, "_SOURCE_REALTIME_TIMESTAMP=2000000");
	cr_expect(eq(int, strncmp(print_entry(&p), "Thu 1970-01-01 00:00:02.000000 UTC [", 36), 0));
}

Test(verbose, search_for_the_source_time_ends_once_both_times_are_known)
{
	print_field(&p, "_SOURCE_MONOTONIC_TIMESTAMP=1");
	print_field(&p, "_SOURCE_REALTIME_TIMESTAMP=1000000");
	print_field(&p, "_SOURCE_REALTIME_TIMESTAMP=2000000");
	cr_expect(eq(int, strncmp(print_entry(&p), "Thu 1970-01-01 00:00:01.000000 UTC [", 36), 0));
}
