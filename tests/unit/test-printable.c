/* SPDX-License-Identifier: MIT */
/* The printable test: which bytes are text. */
#include <criterion/criterion.h>
#include <criterion/new/assert.h>

#include <stdlib.h>

#include "formats/output/output.h"

/* Tests a literal, from memory of just its size. */
static bool printable(const char *bytes, size_t size, bool allow_newline)
{
	uint8_t *copy = malloc(size ? size : 1);
	bool answer;

	cr_assert(ne(ptr, copy, NULL));
	memcpy(copy, bytes, size);
	answer = text_is_printable(copy, size, allow_newline);
	free(copy);
	return answer;
}

#define PRINTABLE(literal) printable(literal, sizeof(literal) - 1, true)

/* Encodes a code point by the scheme of UTF-8, whatever it is; returns the size. */
static size_t encode(char *to, uint32_t c)
{
	if (c < 0x80) {
		to[0] = (char)c;
		return 1;
	}
	if (c < 0x800) {
		to[0] = (char)(0xc0 | c >> 6);
		to[1] = (char)(0x80 | (c & 0x3f));
		return 2;
	}
	if (c < 0x10000) {
		to[0] = (char)(0xe0 | c >> 12);
		to[1] = (char)(0x80 | (c >> 6 & 0x3f));
		to[2] = (char)(0x80 | (c & 0x3f));
		return 3;
	}
	to[0] = (char)(0xf0 | c >> 18);
	to[1] = (char)(0x80 | (c >> 12 & 0x3f));
	to[2] = (char)(0x80 | (c >> 6 & 0x3f));
	to[3] = (char)(0x80 | (c & 0x3f));
	return 4;
}

/* The rule in the words of the behaviour document, for one code point. */
static bool is_printable_character(uint32_t c)
{
	if (c < 0x20)
		return c == '\t' || c == '\n';
	if (c >= 0x7f && c <= 0x9f)
		return false;
	if (c >= 0xd800 && c <= 0xdfff)
		return false;
	if (c >= 0xfdd0 && c <= 0xfdef)
		return false;
	return (c & 0xffff) < 0xfffe && c <= 0x10ffff;
}

Test(printable, empty_text_is_printable)
{
	cr_expect(PRINTABLE(""));
}

Test(printable, every_code_point_is_judged_by_the_rule)
{
	char bytes[4];

	for (uint32_t c = 0; c < 0x200000; c++) {
		bool expected = is_printable_character(c);

		if (printable(bytes, encode(bytes, c), true) != expected)
			cr_expect(eq(u32, c, UINT32_MAX), "U+%04X should%s be printable", c,
				  expected ? "" : " not");
	}
}

Test(printable, line_feed_needs_permission)
{
	cr_expect(printable("a\nb", 3, true));
	cr_expect(not(printable("a\nb", 3, false)));
	cr_expect(printable("a\tb", 3, false));
}

Test(printable, bad_byte_is_found_at_any_place)
{
	char bytes[80];

	for (size_t size = 1; size <= sizeof(bytes); size++) {
		memset(bytes, 'a', sizeof(bytes));
		cr_assert(printable(bytes, size, true));
		for (size_t at = 0; at < size; at++) {
			bytes[at] = 0x1f;
			cr_assert(not(printable(bytes, size, true)));
			bytes[at] = 'a';
		}
	}
}

Test(printable, character_may_stand_at_any_place)
{
	char bytes[80];

	for (size_t at = 0; at + 4 <= sizeof(bytes); at++) {
		memset(bytes, 'a', sizeof(bytes));
		encode(bytes + at, 0x1f600);
		cr_assert(printable(bytes, sizeof(bytes), true));
		cr_assert(printable(bytes, at + 4, true));
		cr_assert(not(printable(bytes, at + 3, true)));
	}
}

Test(printable, overlong_forms_are_not_text)
{
	cr_expect(not(PRINTABLE("\xc0\x80")));
	cr_expect(not(PRINTABLE("\xc1\xbf")));
	cr_expect(not(PRINTABLE("\xe0\x9f\xbf")));
	cr_expect(not(PRINTABLE("\xf0\x8f\xbf\xbf")));
}

Test(printable, lone_and_missing_continuations_are_not_text)
{
	cr_expect(not(PRINTABLE("\x80")));
	cr_expect(not(PRINTABLE("\xbf text")));
	cr_expect(not(PRINTABLE("\xc3")));
	cr_expect(not(PRINTABLE("\xc3 ")));
	cr_expect(not(PRINTABLE("\xe2\x82")));
	cr_expect(not(PRINTABLE("\xe2\x82 ")));
	cr_expect(not(PRINTABLE("\xf0\x9f\x98 ")));
	cr_expect(not(PRINTABLE("\xc3\xa9\xa9")));
}

Test(printable, bytes_that_begin_no_character_are_not_text)
{
	cr_expect(not(PRINTABLE("\xf5\x80\x80\x80")));
	cr_expect(not(PRINTABLE("\xf8\x88\x80\x80\x80")));
	cr_expect(not(PRINTABLE("\xfe")));
	cr_expect(not(PRINTABLE("\xff")));
}
