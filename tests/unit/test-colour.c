/* SPDX-License-Identifier: MIT */
/* Colours, matches, links and excluded identifiers: what is added to text that is known. */
#include <criterion/criterion.h>
#include <criterion/new/assert.h>
#include <criterion/parameterized.h>

#include <stdio.h>

#include "tests/support/print.h"

#define NORMAL "\033[0m"
#define RED "\033[0;1;31m"
#define YELLOW "\033[0;1;33m"
#define HIGHLIGHT "\033[0;1;39m"
#define GREY "\033[0;90m"
#define BLUE "\033[0;34m"
#define GREEN "\033[0;32m"
#define UNDERLINE "\033[0;4m"

#define HEAD "May 01 10:00:01 unknown: "
#define INDENT "                 "

static struct print p;

/* A printer in the short mode with sixteen colours. */
static void colour_init(void)
{
	print_init(&p, OUTPUT_SHORT);
	p.options.colours = OUTPUT_COLOURS_16;
	p.options.node_name = "node";
	p.options.directory = "/here";
}

/* Frees it. */
static void colour_fini(void)
{
	print_done(&p);
}

TestSuite(colour, .init = colour_init, .fini = colour_fini);


struct priority_case {
	char priority[16];
	enum output_colours colours;
	char text[128]; /* of the message "x" */
};

ParameterizedTestParameters(colour, priority_decides_on_the_colour_of_a_message)
{
	static struct priority_case cases[] = {
		{ "0", OUTPUT_COLOURS_16, RED HIGHLIGHT RED "x" NORMAL },
		{ "3", OUTPUT_COLOURS_16, RED HIGHLIGHT RED "x" NORMAL },
		{ "4", OUTPUT_COLOURS_16, YELLOW HIGHLIGHT YELLOW "x" NORMAL },
		{ "5", OUTPUT_COLOURS_16, HIGHLIGHT RED HIGHLIGHT "x" NORMAL },
		{ "6", OUTPUT_COLOURS_16, "x" },
		{ "7", OUTPUT_COLOURS_16, GREY RED GREY "x" NORMAL },
		{ "8", OUTPUT_COLOURS_16, "x" },
		{ "", OUTPUT_COLOURS_16, "x" },
		{ "03", OUTPUT_COLOURS_16, "x" },
		{ "3", OUTPUT_COLOURS_NONE, "x" },
		{ "4", OUTPUT_COLOURS_256,
		  YELLOW "\033[0;1;38:5:185m" HIGHLIGHT YELLOW "\033[0;1;38:5:185mx" NORMAL },
		{ "7", OUTPUT_COLOURS_256,
		  GREY "\033[0;38:5:245m" RED GREY "\033[0;38:5:245mx" NORMAL },
		{ "4", OUTPUT_COLOURS_24BIT,
		  "\033[0;1;38:5:185m" HIGHLIGHT "\033[0;1;38:5:185mx" NORMAL },
		{ "7", OUTPUT_COLOURS_24BIT, "\033[0;38:5:245m" RED "\033[0;38:5:245mx" NORMAL },
	};

	return cr_make_param_array(struct priority_case, cases, sizeof(cases) / sizeof(*cases));
}

ParameterizedTest(struct priority_case *c, colour, priority_decides_on_the_colour_of_a_message)
{
	char field[32], expected[256];

	p.options.colours = c->colours;
	snprintf(field, sizeof(field), "PRIORITY=%s", c->priority);
	snprintf(expected, sizeof(expected), HEAD "%s\n", c->text);
	print_field(&p, field);
	print_field(&p, "MESSAGE=x");
	EXPECT_PRINTED(expected);
}

Test(colour, short_takes_the_last_priority_and_cat_the_first)
{
	print_field(&p, "PRIORITY=3");
	print_field(&p, "PRIORITY=7");
	print_field(&p, "MESSAGE=x");
	EXPECT_PRINTED(HEAD GREY RED GREY "x" NORMAL "\n");
	p.options.mode = OUTPUT_CAT;
	EXPECT_PRINTED(RED HIGHLIGHT RED "x" NORMAL "\n");
}

Test(colour, audit_messages_are_blue_whatever_their_priority)
{
	print_field(&p, "_TRANSPORT=audit");
	print_field(&p, "MESSAGE=x");
	EXPECT_PRINTED(HEAD BLUE BLUE "x" NORMAL "\n");
	print_field(&p, "PRIORITY=3");
	EXPECT_PRINTED(HEAD BLUE HIGHLIGHT BLUE "x" NORMAL "\n");
}

Test(colour, lines_are_coloured_one_by_one_and_no_message_is_not)
{
	print_field(&p, "PRIORITY=3");
	print_field(&p, "MESSAGE=a\n\nb");
	EXPECT_PRINTED(HEAD RED HIGHLIGHT RED "a" NORMAL "\n" INDENT RED NORMAL "\n" INDENT RED
		       "b" NORMAL "\n");
	print_field(&p, "MESSAGE=");
	EXPECT_PRINTED(HEAD "\n");
	print_field(&p, "MESSAGE=\001");
	EXPECT_PRINTED(HEAD "[1B blob data]\n");
}

struct match_case {
	char message[64];
	uint64_t begin, end;
	char text[160];
};

ParameterizedTestParameters(colour, match_is_marked_in_lines_that_begin_before_it)
{
	static struct match_case cases[] = {
		{ "one two", 4, 7, RED "one " HIGHLIGHT "two" NORMAL },
		{ "one two", 0, 3, RED HIGHLIGHT "one" RED " two" NORMAL },
		{ "one two", 4, 99, RED "one " HIGHLIGHT "two" NORMAL },
		{ "one two", 7, 7, RED "one two" NORMAL },
		/* It moves along behind a TAB, but not behind a sequence that is removed. */
		{ "\tone two", 5, 8, RED "        one " HIGHLIGHT "two" NORMAL },
		{ "\033[1mone two", 8, 11, RED "one two" NORMAL },
		{ "\033[1mone two", 4, 7, RED "one " HIGHLIGHT "two" NORMAL },
		/* One in the second line is looked for from that line's beginning. */
		{ "a\nbcdefg", 3, 4,
		  RED "a" NORMAL "\n" INDENT RED "bcd" HIGHLIGHT "e" RED "fg" NORMAL },
		{ "ab\ncd", 4, 5, RED "ab" NORMAL "\n" INDENT RED "cd" NORMAL },
	};

	return cr_make_param_array(struct match_case, cases, sizeof(cases) / sizeof(*cases));
}

ParameterizedTest(struct match_case *c, colour, match_is_marked_in_lines_that_begin_before_it)
{
	char field[96], expected[256];

	snprintf(field, sizeof(field), "MESSAGE=%s", c->message);
	snprintf(expected, sizeof(expected), HEAD "%s\n", c->text);
	print_field(&p, "PRIORITY=3");
	print_field(&p, field);
	p.entry.match_begin = c->begin;
	p.entry.match_end = c->end;
	EXPECT_PRINTED(expected);
}

Test(colour, cat_marks_the_match_anywhere_but_only_in_messages)
{
	static const char *const fields[] = { "MESSAGE", "OTHER", NULL };

	p.options.mode = OUTPUT_CAT;
	p.options.fields = fields;
	p.entry.match_begin = 2;
	p.entry.match_end = 4;
	print_field(&p, "PRIORITY=4");
	print_field(&p, "MESSAGE=a\nbcd");
	print_field(&p, "OTHER=a\nbcd");
	EXPECT_PRINTED(YELLOW "a\n" HIGHLIGHT "bc" YELLOW "d" NORMAL "\n" YELLOW "a\nbcd" NORMAL
			      "\n");
	p.entry.match_begin = 90;
	p.entry.match_end = 91;
	p.options.fields = NULL;
	EXPECT_PRINTED(YELLOW "a\nbcd" HIGHLIGHT YELLOW NORMAL "\n");
}

Test(colour, every_part_around_a_match_ends_at_its_own_nul)
{
	p.options.colours = OUTPUT_COLOURS_NONE;
	p.options.flags = OUTPUT_ALL;
	p.entry.match_begin = 3;
	p.entry.match_end = 6;
	print_bytes(&p, PRINT_LITERAL("MESSAGE=a\0bc\0de\0f"));
	EXPECT_PRINTED(HEAD "ace\n");
}

Test(colour, verbose_ends_a_colour_on_the_next_line)
{
	p.options.mode = OUTPUT_VERBOSE;
	print_field(&p, "_PID=1");
	print_field(&p, "MESSAGE=x");
	print_field(&p, "_BLOB=\001");
	print_field(&p, "OTHER=y");
	EXPECT_PRINTED(UNDERLINE "Wed 2024-05-01 10:00:01.250000 UTC" NORMAL " " GREY
				 "[" PRINT_CURSOR "]" GREY "\n"
				 "    " GREEN "_PID=1\n" NORMAL
				 "    " HIGHLIGHT "MESSAGE=x\n" NORMAL
				 "    " GREEN "_BLOB=[1B blob data]" NORMAL "\n"
				 "    OTHER=y\n");
	p.options.flags = OUTPUT_NO_UNDERLINE;
	cr_expect(eq(int, strncmp(print_entry(&p), "Wed 2024", 8), 0));
}

Test(colour, json_colours_keys_strings_numbers_and_null)
{
	static const char *const fields[] = { "A", "B", "C", NULL };
	const char *printed;

	p.options.mode = OUTPUT_JSON;
	p.options.fields = fields;
	print_field(&p, "A=x");
	print_field(&p, "B=\001\x02");
	print_run(&p, "C", 'c', 4096);
	printed = strstr(print_entry(&p), "\"" GREEN "A");
	cr_assert(ne(ptr, (void *)printed, NULL));
	cr_expect(eq(str, (char *)printed,
		     (char *)("\"" GREEN "A" NORMAL "\":\"" GREEN "x" NORMAL "\",\"" GREEN
			      "B" NORMAL "\":[\033[0;1;34m1" NORMAL ",\033[0;1;34m2" NORMAL
			      "],\"" GREEN "C" NORMAL "\":" HIGHLIGHT "null" NORMAL "}\n")));
}

Test(colour, boot_line_is_highlighted)
{
	output_boot_line(&p.options, &p.buffer, &p.entry.boot_id);
	output_byte(&p.buffer, 0);
	cr_expect(eq(str, (char *)p.buffer.bytes,
		     (char *)HIGHLIGHT "-- Boot " PRINT_BOOT_ID " --" NORMAL "\n"));
}

/* ---- links ------------------------------------------------------------------------------ */

#define LINK(url, text) "\033]8;;" url "\033\\" text "\033]8;;\033\\"
#define SIGN "[\xf0\x9f\xa1\x95]"

struct link_case {
	char url[64];
	char text[128]; /* before the message */
};

ParameterizedTestParameters(colour, documentation_is_linked_to_if_it_is_a_url)
{
	static struct link_case cases[] = {
		{ "http://a/b", LINK("http://a/b", SIGN) " " },
		{ "https://a b", LINK("https://a b", SIGN) " " },
		{ "file:/a", LINK("file:/a", SIGN) " " },
		{ "info:a", LINK("info:a", SIGN) " " },
		{ "man:a(8)", LINK("man:a(8)", SIGN) " " },
		{ "http://", "" },
		{ "HTTP://a", "" },
		{ "ftp://a", "" },
		{ "man:", "" },
		{ "", "" },
		{ "man:\xc3\xa9", "" },
		/* It is a URL, but nothing to send to a terminal. */
		{ "man:a\tb", SIGN " " },
	};

	return cr_make_param_array(struct link_case, cases, sizeof(cases) / sizeof(*cases));
}

ParameterizedTest(struct link_case *c, colour, documentation_is_linked_to_if_it_is_a_url)
{
	char field[96], expected[256];

	p.options.colours = OUTPUT_COLOURS_NONE;
	p.options.flags = OUTPUT_LINKS;
	snprintf(field, sizeof(field), "DOCUMENTATION=%s", c->url);
	snprintf(expected, sizeof(expected), HEAD "%sx\n" INDENT "y\n", c->text);
	print_field(&p, field);
	print_field(&p, "MESSAGE=x\ny");
	EXPECT_PRINTED(expected);
}

Test(colour, url_of_more_than_2000_bytes_is_no_link)
{
	p.options.colours = OUTPUT_COLOURS_NONE;
	p.options.flags = OUTPUT_LINKS | OUTPUT_ALL | OUTPUT_ASCII;
	print_field(&p, "MESSAGE=x");
	print_run(&p, "DOCUMENTATION=man:", 'a', 1995);
	((uint8_t *)p.fields[1].bytes)[18] = 'a'; /* instead of the '=' of print_run() */
	cr_expect(eq(int, strncmp(print_entry(&p), HEAD "\033]8;;man:aaa", 37), 0));
	print_run(&p, "DOCUMENTATION=man:", 'a', 1996);
	((uint8_t *)p.fields[2].bytes)[18] = 'a';
	EXPECT_PRINTED(HEAD "[LNK] x\n");
}

struct path_case {
	char path[32];
	char message[64];
	char text[128];
};

ParameterizedTestParameters(colour, configuration_file_at_the_beginning_is_linked_to)
{
	static struct path_case cases[] = {
		{ "/a.conf", "/a.conf", LINK("file://node/a.conf", "/a.conf") },
		{ "/a.conf", "/a.conf: bad", LINK("file://node/a.conf", "/a.conf") ": bad" },
		{ "/a.conf", "/a.conf bad", LINK("file://node/a.conf", "/a.conf") " bad" },
		{ "/a.conf", "/a.confx", "/a.confx" },
		{ "/a.conf", "/a.con", "/a.con" },
		{ "/a.conf", "in /a.conf", "in /a.conf" },
		{ "a", "a:1", LINK("file://node/here/a", "a") ":1" },
		{ "/\xc3\xa9", "/\xc3\xa9:1", "/\xc3\xa9:1" },
		{ "", ": x", ": x" },
	};

	return cr_make_param_array(struct path_case, cases, sizeof(cases) / sizeof(*cases));
}

ParameterizedTest(struct path_case *c, colour, configuration_file_at_the_beginning_is_linked_to)
{
	char field[96], expected[256];

	p.options.colours = OUTPUT_COLOURS_NONE;
	p.options.flags = OUTPUT_LINKS;
	snprintf(field, sizeof(field), "CONFIG_FILE=%s", c->path);
	print_field(&p, field);
	snprintf(field, sizeof(field), "MESSAGE=%s", c->message);
	print_field(&p, field);
	snprintf(expected, sizeof(expected), HEAD "%s\n", c->text);
	EXPECT_PRINTED(expected);
}

Test(colour, match_moves_behind_a_link_and_one_inside_the_path_prevents_it)
{
	p.options.flags = OUTPUT_LINKS;
	print_field(&p, "PRIORITY=3");
	print_field(&p, "CONFIG_FILE=/a");
	print_field(&p, "MESSAGE=/a: bad");
	p.entry.match_begin = 4;
	p.entry.match_end = 7;
	EXPECT_PRINTED(HEAD RED LINK("file://node/a", "/a") ": " HIGHLIGHT "bad" NORMAL "\n");
	p.entry.match_begin = 1;
	EXPECT_PRINTED(HEAD RED "/" HIGHLIGHT "a: bad" NORMAL "\n");
}

Test(colour, relative_path_without_a_directory_is_no_link)
{
	p.options.flags = OUTPUT_LINKS;
	p.options.directory = NULL;
	print_field(&p, "CONFIG_FILE=a");
	print_field(&p, "MESSAGE=a: bad");
	EXPECT_PRINTED(HEAD "a: bad\n");
	p.options.directory = "/";
	EXPECT_PRINTED(HEAD LINK("file://node/a", "a") ": bad\n");
	p.options.node_name = NULL;
	EXPECT_PRINTED(HEAD "a: bad\n");
}

Test(colour, configuration_file_with_a_nul_ends_there)
{
	p.options.colours = OUTPUT_COLOURS_NONE;
	p.options.flags = OUTPUT_ALL;
	print_bytes(&p, PRINT_LITERAL("CONFIG_FILE=/a\0b"));
	print_bytes(&p, PRINT_LITERAL("MESSAGE=/a\0b: bad"));
	EXPECT_PRINTED(HEAD "/a: bad\n");
}

Test(colour, verbose_links_to_configuration_files_only_with_colours)
{
	static const char *const fields[] = { "CONFIG_FILE", NULL };
	char *at;

	p.options.mode = OUTPUT_VERBOSE;
	p.options.flags = OUTPUT_LINKS;
	p.options.fields = fields;
	print_field(&p, "CONFIG_FILE=/a");
	at = strstr(print_entry(&p), "    ");
	cr_assert(ne(ptr, at, NULL));
	cr_expect(eq(str, at, (char *)"    CONFIG_FILE=" LINK("file://node/a", "/a") "\n"));
	p.options.colours = OUTPUT_COLOURS_NONE;
	at = strstr(print_entry(&p), "    ");
	cr_assert(ne(ptr, at, NULL));
	cr_expect(eq(str, at, (char *)"    CONFIG_FILE=/a\n"));
}

/* ---- excluded identifiers --------------------------------------------------------------- */

Test(colour, excluded_identifiers_are_not_shown_by_short_alone)
{
	static const char *const excluded[] = { "noise", "", NULL };

	p.options.colours = OUTPUT_COLOURS_NONE;
	p.options.excluded = excluded;
	print_field(&p, "MESSAGE=x");
	EXPECT_PRINTED(HEAD "x\n");
	print_field(&p, "SYSLOG_IDENTIFIER=noise");
	EXPECT_PRINTED("");
	print_field(&p, "SYSLOG_IDENTIFIER=noises");
	EXPECT_PRINTED("May 01 10:00:01 noises: x\n");
	print_bytes(&p, PRINT_LITERAL("SYSLOG_IDENTIFIER=noise\0s"));
	EXPECT_PRINTED("");
	print_field(&p, "SYSLOG_IDENTIFIER=");
	EXPECT_PRINTED("");
	p.options.mode = OUTPUT_CAT;
	EXPECT_PRINTED("x\n");
}

Test(colour, fields_are_asked_for_that_colours_and_links_need)
{
	static const struct {
		const char *name;
		unsigned flags; /* any of these asks for it; 0: colours do */
	} names[] = {
		{ "PRIORITY", 0 },
		{ "_TRANSPORT", 0 },
		{ "CONFIG_FILE", OUTPUT_ALL },
		{ "DOCUMENTATION", OUTPUT_LINKS },
		{ "MESSAGE_ID", OUTPUT_CATALOG },
		{ "ANY_NAME", OUTPUT_CATALOG },
	};

	for (size_t i = 0; i < sizeof(names) / sizeof(*names); i++) {
		const uint8_t *name = (const uint8_t *)names[i].name;
		size_t size = strlen(names[i].name);

		p.options.colours = OUTPUT_COLOURS_NONE;
		p.options.flags = 0;
		cr_expect(not(output_needs_field(&p.options, name, size)));
		p.options.flags = names[i].flags;
		p.options.colours = names[i].flags ? OUTPUT_COLOURS_NONE : OUTPUT_COLOURS_16;
		cr_expect(output_needs_field(&p.options, name, size), "%s", names[i].name);
	}
}
