/* SPDX-License-Identifier: MIT */
/* Lines that do not fit, and where the ellipsis goes. */
#include <criterion/criterion.h>
#include <criterion/new/assert.h>
#include <criterion/parameterized.h>

#include "formats/output/encode.h"
#include "tests/support/print.h"

#define DOTS "\xe2\x80\xa6"
#define HEAD "May 01 10:00:01 unknown: "
#define INDENT "                 "

struct shorten_case {
	char text[80];
	unsigned columns;
	unsigned percent;
	bool ascii;
	char result[80];
};

ParameterizedTestParameters(shorten, ellipsis_stands_where_the_head_ends)
{
	static struct shorten_case cases[] = {
		{ "0123456789", 10, 90, false, "0123456789" },
		{ "0123456789", 9, 90, false, "0123456" DOTS "9" },
		{ "0123456789", 9, 100, false, "01234567" DOTS },
		{ "0123456789", 9, 90, true, "01234...9" },
		{ "0123456789", 4, 90, true, "0..." },
		{ "0123456789", 3, 90, true, "..." },
		{ "0123456789", 2, 90, true, ".." },
		{ "0123456789", 1, 90, true, "." },
		{ "0123456789", 2, 90, false, "0" DOTS },
		{ "0123456789", 1, 90, false, DOTS },
		/* Not ASCII: in columns, and the same sign in any locale. */
		{ "\xc3\xa9" "123456789", 9, 90, true, "\xc3\xa9" "123456" DOTS "9" },
		{ "\xc3\xa9" "12345678", 9, 90, false, "\xc3\xa9" "12345678" },
		/* Two columns each: seven of nine columns are for the head, three characters. */
		{ "\xe6\x97\xa5\xe6\x97\xa5\xe6\x97\xa5\xe6\x97\xa5\xe6\x97\xa5", 9, 90, false,
		  "\xe6\x97\xa5\xe6\x97\xa5\xe6\x97\xa5" DOTS "\xe6\x97\xa5" },
		{ "\xe6\x97\xa5\xe6\x97\xa5\xe6\x97\xa5\xe6\x97\xa5\xe6\x97\xa5", 10, 90, false,
		  "\xe6\x97\xa5\xe6\x97\xa5\xe6\x97\xa5\xe6\x97\xa5\xe6\x97\xa5" },
		{ "\xe6\x97\xa5\xe6\x97\xa5", 1, 90, false, DOTS },
		/* A link takes no columns where its sequences begin and end. */
		{ "\033]x\033\\123456", 6, 100, false, "\033]x\033\\1234" DOTS },
		{ "123456789\033]\033\\", 5, 100, false, "1234" DOTS "\033]\033\\" },
	};

	return cr_make_param_array(struct shorten_case, cases, sizeof(cases) / sizeof(*cases));
}

ParameterizedTest(struct shorten_case *c, shorten, ellipsis_stands_where_the_head_ends)
{
	struct output_buffer b = { 0 };

	shorten_print(&b, (const uint8_t *)c->text, strlen(c->text), c->columns, c->percent,
		      c->ascii);
	output_byte(&b, 0);
	cr_expect(eq(str, (char *)b.bytes, c->result));
	output_buffer_done(&b);
}

struct wide_case {
	uint32_t c;
	bool wide;
};

ParameterizedTestParameters(shorten, wide_characters_are_those_of_unicode_6)
{
	static struct wide_case cases[] = {
		{ 0x10ff, false }, { 0x1100, true },   { 0x115f, true },   { 0x1160, false },
		{ 0x2e9a, false }, { 0x303e, true },   { 0x303f, false },  { 0x3040, false },
		{ 0x3041, true },  { 0xd7a3, true },   { 0xd7a4, false },  { 0xffe6, true },
		{ 0x1f300, true }, { 0x1f567, true },  { 0x1f568, false }, { 0x1f600, false },
		{ 0x301, false },  { 0x20000, true },  { 0x2fffd, true },  { 0x3fffd, true },
		{ 0x40000, false },
	};

	return cr_make_param_array(struct wide_case, cases, sizeof(cases) / sizeof(*cases));
}

ParameterizedTest(struct wide_case *c, shorten, wide_characters_are_those_of_unicode_6)
{
	struct output_buffer b = { 0 };
	char text[16];
	size_t size = 0;

	if (c->c >= 0x10000) {
		text[size++] = (char)(0xf0 | c->c >> 18);
		text[size++] = (char)(0x80 | (c->c >> 12 & 0x3f));
	} else if (c->c >= 0x800) {
		text[size++] = (char)(0xe0 | c->c >> 12);
	}
	if (size > 0)
		text[size++] = (char)(0x80 | (c->c >> 6 & 0x3f));
	else
		text[size++] = (char)(0xc0 | c->c >> 6);
	text[size++] = (char)(0x80 | (c->c & 0x3f));
	text[size++] = 'a';
	/* Two columns hold a narrow one and the letter. */
	shorten_print(&b, (const uint8_t *)text, size, 2, 100, false);
	cr_expect(eq(int, b.size == size && memcmp(b.bytes, text, size) == 0, !c->wide));
	output_buffer_done(&b);
}

/* ---- messages --------------------------------------------------------------------------- */

static struct print p;

/* A printer whose lines are 40 columns wide, 25 of which precede a message. Those count 17. */
static void shorten_init(void)
{
	print_init(&p, OUTPUT_SHORT);
	p.options.flags = OUTPUT_SHORTEN;
	p.options.width = 40;
}

/* Frees it. */
static void shorten_fini(void)
{
	print_done(&p);
}

#define EXPECT_MESSAGE(message, text)                                                              \
	cr_expect(eq(str, print_message(&p, message), (char *)(HEAD text)))

Test(shorten, line_is_shortened_when_it_does_not_fit, .init = shorten_init, .fini = shorten_fini)
{
	EXPECT_MESSAGE("0123456789012345678901", "0123456789012345678901\n"); /* 22 */
	/* Nothing is to be cut here, and nothing is. */
	EXPECT_MESSAGE("01234567890123456789012", "01234567890123456789012\n");
	EXPECT_MESSAGE("012345678901234567890123", "01234567890123456789" DOTS "23\n");
}

Test(shorten, third_line_is_the_last_and_gets_dots, .init = shorten_init, .fini = shorten_fini)
{
	EXPECT_MESSAGE("a\nb", "a\n" INDENT "b\n");
	EXPECT_MESSAGE("a\nb\nc", "a\n" INDENT "b\n" INDENT "c...\n");
	EXPECT_MESSAGE("a\nb\nc\nd", "a\n" INDENT "b\n" INDENT "c...\n");
	EXPECT_MESSAGE("a\nb\n0123456789012345678901",
		       "a\n" INDENT "b\n" INDENT "0123456789012345678901\n");
	EXPECT_MESSAGE("a\nb\n012345678901234567890123",
		       "a\n" INDENT "b\n" INDENT "0123456789012345678901" DOTS "\n");
}

Test(shorten, line_that_ends_at_byte_299_is_the_last, .init = shorten_init, .fini = shorten_fini)
{
	p.options.width = 1000;
	print_run(&p, "MESSAGE", 'a', 298);
	cr_expect(eq(sz, strlen(print_entry(&p)), strlen(HEAD) + 298 + 1));
	print_clear(&p);
	print_run(&p, "MESSAGE", 'a', 299);
	cr_expect(eq(sz, strlen(print_entry(&p)), strlen(HEAD) + 299 + 3 + 1));
}

Test(shorten, width_for_nothing_leaves_dots, .init = shorten_init, .fini = shorten_fini)
{
	p.options.width = 19;
	EXPECT_MESSAGE("a long line\nb", "...\n...\n");
	p.options.width = 17;
	EXPECT_MESSAGE("a", "...\n");
	p.options.width = 1;
	EXPECT_MESSAGE("", "\n");
}

Test(shorten, all_shortens_nothing, .init = shorten_init, .fini = shorten_fini)
{
	p.options.flags |= OUTPUT_ALL;
	EXPECT_MESSAGE("012345678901234567890123456789", "012345678901234567890123456789\n");
}

Test(shorten, verbose_leaves_out_fields_of_300_bytes, .init = shorten_init, .fini = shorten_fini)
{
	p.options.mode = OUTPUT_VERBOSE;
	print_run(&p, "A", 'a', 297); /* with name and '=': 299 */
	cr_expect(ne(ptr, strstr(print_entry(&p), "    A=aaaa"), NULL));
	print_clear(&p);
	print_run(&p, "A", 'a', 298);
	cr_expect(ne(ptr, strstr(print_entry(&p), "    A=[298B blob data]\n"), NULL));
	p.options.flags |= OUTPUT_ALL;
	cr_expect(ne(ptr, strstr(print_entry(&p), "    A=aaaa"), NULL));
}
