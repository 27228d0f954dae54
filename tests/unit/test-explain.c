/* SPDX-License-Identifier: MIT */
/* What the message catalog adds to an entry, and what happens when it cannot. */
#include <criterion/criterion.h>
#include <criterion/new/assert.h>
#include <criterion/parameterized.h>

#include <stdio.h>

#include "tests/support/print.h"

#define MARK "\xe2\x96\x91\xe2\x96\x91 "
#define HEAD "May 01 10:00:01 unknown: "
#define ID "00112233445566778899aabbccddeeff"

static struct print p;
static struct catalog catalog;
static uint8_t database[5000];

/* Makes the database one of TEXT for ID. */
static void explain_set(const char *text)
{
	static const uint8_t id[16] = { 0x00, 0x11, 0x22, 0x33, 0x44, 0x55, 0x66, 0x77,
					0x88, 0x99, 0xaa, 0xbb, 0xcc, 0xdd, 0xee, 0xff };

	cr_assert(lt(sz, 96 + strlen(text), sizeof(database)));
	memset(database, 0, sizeof(database));
	memcpy(database, "RHHHKSLP", 8);
	database[16] = 40;
	database[24] = 1;
	database[32] = 56;
	memcpy(database + 40, id, sizeof(id));
	strcpy((char *)database + 96, text);
	cr_assert(eq(int, catalog_init(&catalog, database, 96 + strlen(text) + 1, NULL), 0));
	p.options.catalog = &catalog;
}

/* A printer with explanations. */
static void explain_init(void)
{
	print_init(&p, OUTPUT_SHORT);
	p.options.flags = OUTPUT_CATALOG;
}

/* Frees it. */
static void explain_fini(void)
{
	print_done(&p);
}

TestSuite(explain, .init = explain_init, .fini = explain_fini);


struct explain_case {
	char text[80];
	char result[128];
};

ParameterizedTestParameters(explain, lines_are_marked_and_fields_inserted)
{
	static struct explain_case cases[] = {
		{ "one\n\n two\n", MARK "one\n" MARK "\n" MARK " two\n" },
		{ "\r\n\t one \n", MARK "one\n" },
		{ "", MARK "\n" },
		{ "@FIRST@", MARK "1\n" },
		{ "a@FIRST@@FIRST@b", MARK "a11b\n" },
		{ "@NONE@ @_X@", MARK "NONE 2\n" },
		{ "@@ @ @FIRST @first@ @A1@ @FIRST", MARK "@@ @ @FIRST @first@ @A1@ @FIRST\n" },
		{ "@@FIRST@@", MARK "@1@\n" },
		{ "@__X@", MARK "__X\n" },
		{ "@NUL@", MARK "a\n" },
		/* Blanks around the text go even where they were inserted. */
		{ "@BLANK@x@BLANK@", MARK "x\n" },
	};

	return cr_make_param_array(struct explain_case, cases, sizeof(cases) / sizeof(*cases));
}

ParameterizedTest(struct explain_case *c, explain, lines_are_marked_and_fields_inserted)
{
	char expected[256];

	explain_set(c->text);
	print_field(&p, "MESSAGE=x");
	print_field(&p, "MESSAGE_ID=" ID);
	print_field(&p, "FIRST=1");
	print_field(&p, "FIRST=2");
	print_field(&p, "_X=2");
	print_field(&p, "__X=3");
	print_field(&p, "A1=4");
	print_field(&p, "BLANK= \n ");
	print_bytes(&p, PRINT_LITERAL("NUL=a\0b"));
	snprintf(expected, sizeof(expected), HEAD "x\n%s", c->result);
	EXPECT_PRINTED(expected);
}

Test(explain, fields_of_more_than_4096_bytes_are_named_only)
{
	explain_set("@LONG@");
	print_field(&p, "MESSAGE=x");
	print_field(&p, "MESSAGE_ID=" ID);
	print_run(&p, "LONG", 'a', 4091);
	cr_expect(eq(sz, strlen(print_entry(&p)), strlen(HEAD "x\n" MARK "\n") + 4091));
	print_clear(&p);
	print_field(&p, "MESSAGE=x");
	print_field(&p, "MESSAGE_ID=" ID);
	print_run(&p, "LONG", 'a', 4092);
	EXPECT_PRINTED(HEAD "x\n" MARK "LONG\n");
}

Test(explain, marks_are_ascii_in_other_locales_and_grey_in_colours)
{
	explain_set("one\ntwo");
	print_field(&p, "MESSAGE=x");
	print_field(&p, "MESSAGE_ID=" ID);
	p.options.flags |= OUTPUT_ASCII;
	EXPECT_PRINTED(HEAD "x\n-- one\n-- two\n");
	p.options.colours = OUTPUT_COLOURS_16;
	EXPECT_PRINTED(HEAD "x\n\033[0;90m-- \033[0m\033[0;32mone\033[0m\n"
			    "\033[0;90m--\033[0m \033[0;32mtwo\033[0m\n");
}

Test(explain, verbose_explains_too_and_cat_does_not)
{
	explain_set("one");
	print_field(&p, "MESSAGE=x");
	print_field(&p, "MESSAGE_ID=" ID);
	p.options.mode = OUTPUT_CAT;
	EXPECT_PRINTED("x\n");
	p.options.mode = OUTPUT_VERBOSE;
	cr_expect(ne(ptr, strstr(print_entry(&p), "    MESSAGE_ID=" ID "\n" MARK "one\n"), NULL));
}

Test(explain, first_id_counts_and_an_unknown_one_adds_nothing)
{
	explain_set("one");
	print_field(&p, "MESSAGE=x");
	print_field(&p, "MESSAGE_ID=ffffffffffffffffffffffffffffffff");
	print_field(&p, "MESSAGE_ID=" ID);
	EXPECT_PRINTED(HEAD "x\n");
	cr_expect(eq(u32, p.cache.catalog_failures, 0));
}

Test(explain, bad_ids_and_a_broken_catalog_are_counted_for_every_lookup)
{
	print_field(&p, "MESSAGE=x");
	EXPECT_PRINTED(HEAD "x\n");
	cr_expect(eq(u32, p.cache.catalog_failures, 0));
	print_field(&p, "MESSAGE_ID=" ID);
	EXPECT_PRINTED(HEAD "x\n");
	cr_expect(eq(u32, p.cache.catalog_failures, 0)); /* none, and no reason why */
	p.options.catalog_error = -ENOENT;
	EXPECT_PRINTED(HEAD "x\n");
	cr_expect(eq(u32, p.cache.catalog_failures, 0));
	p.options.catalog_error = -EBADMSG;
	p.options.flags |= OUTPUT_LINKS;
	EXPECT_PRINTED(HEAD "x\n");
	cr_expect(eq(u32, p.cache.catalog_failures, 2));
	cr_expect(eq(int, p.cache.catalog_error, -EBADMSG));
	print_clear(&p);
	print_field(&p, "MESSAGE=x");
	print_field(&p, "MESSAGE_ID=no");
	p.options.flags = OUTPUT_CATALOG;
	EXPECT_PRINTED(HEAD "x\n");
	cr_expect(eq(u32, p.cache.catalog_failures, 1));
	cr_expect(eq(int, p.cache.catalog_error, -EINVAL));
	p.options.flags = 0;
	EXPECT_PRINTED(HEAD "x\n");
	cr_expect(eq(u32, p.cache.catalog_failures, 0));
}

Test(explain, text_beyond_the_limit_of_the_buffer_fails_without_harm)
{
	explain_set("@LONG@@LONG@@LONG@");
	print_field(&p, "MESSAGE=x");
	print_field(&p, "MESSAGE_ID=" ID);
	print_run(&p, "LONG", 'a', 4000);
	p.buffer.limit = 10000;
	cr_expect(eq(int, output_entry(&p.options, &p.cache, &p.previous, &p.entry, &p.buffer),
		     -ENOMEM));
	cr_expect(eq(sz, p.buffer.size, 0));
}

struct link_case {
	char text[80];
	char url[32]; /* "": no link */
};

ParameterizedTestParameters(explain, documentation_line_is_linked_to)
{
	static struct link_case cases[] = {
		{ "Subject: a\nDocumentation: man:x(8) and more\n", "man:x(8)" },
		{ "Documentation:http://a", "http://a" },
		{ "a\n\nDocumentation: \t man:y\nDocumentation: man:z", "man:y" },
		{ "xDocumentation: man:x\nDocumentation: @FIRST@", "man:first" },
		{ "xDocumentation: man:x", "" },
		{ "Documentation:\nman:x", "" },
		{ "Documentation: nothing\nDocumentation: man:x", "" },
		{ "Documentation:", "" },
		{ "", "" },
	};

	return cr_make_param_array(struct link_case, cases, sizeof(cases) / sizeof(*cases));
}

ParameterizedTest(struct link_case *c, explain, documentation_line_is_linked_to)
{
	char expected[256] = HEAD "x\n";

	explain_set(c->text);
	p.options.flags = OUTPUT_LINKS | OUTPUT_ASCII;
	print_field(&p, "MESSAGE=x");
	print_field(&p, "MESSAGE_ID=" ID);
	print_field(&p, "FIRST=man:first");
	if (c->url[0])
		snprintf(expected, sizeof(expected),
			 HEAD "\033]8;;%s\033\\[LNK]\033]8;;\033\\ x\n", c->url);
	EXPECT_PRINTED(expected);
	/* The entry's own comes first. */
	print_field(&p, "DOCUMENTATION=man:own");
	EXPECT_PRINTED(HEAD "\033]8;;man:own\033\\[LNK]\033]8;;\033\\ x\n");
}
