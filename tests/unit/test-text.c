/* SPDX-License-Identifier: MIT */
/* The short family: TIME HOST NAME[PID]: MESSAGE, and how each part is chosen. */
#include <criterion/criterion.h>
#include <criterion/new/assert.h>
#include <criterion/parameterized.h>

#include <stdio.h>
#include <sys/resource.h>

#include "tests/support/print.h"

PRINT_SUITE(text, OUTPUT_SHORT);

#define EXPECT_MESSAGE(message, text)                                                              \
	cr_expect(eq(str, print_message(&p, message), (char *)("May 01 10:00:01 unknown: " text)))
/* The indentation that belongs to those. */
#define INDENT "                 "

/* Adds the fields of an ordinary entry. */
static void text_fields(void)
{
	print_field(&p, "_HOSTNAME=web1");
	print_field(&p, "SYSLOG_IDENTIFIER=sshd");
	print_field(&p, "_COMM=sshd-session");
	print_field(&p, "_PID=812");
	print_field(&p, "SYSLOG_PID=811");
	print_field(&p, "_SYSTEMD_UNIT=ssh.service");
	print_field(&p, "MESSAGE=hello");
}

struct mode_case {
	enum output_mode mode;
	char text[100];
};

ParameterizedTestParameters(text, mode_decides_on_time_and_name)
{
	static struct mode_case cases[] = {
		{ OUTPUT_SHORT, "May 01 10:00:01 web1 sshd[812]: hello\n" },
		{ OUTPUT_SHORT_PRECISE, "May 01 10:00:01.250000 web1 sshd[812]: hello\n" },
		{ OUTPUT_SHORT_ISO, "2024-05-01T10:00:01+00:00 web1 sshd[812]: hello\n" },
		{ OUTPUT_SHORT_ISO_PRECISE,
		  "2024-05-01T10:00:01.250000+00:00 web1 sshd[812]: hello\n" },
		{ OUTPUT_SHORT_FULL, "Wed 2024-05-01 10:00:01 UTC web1 sshd[812]: hello\n" },
		{ OUTPUT_SHORT_UNIX, "1714557601.250000 web1 sshd[812]: hello\n" },
		{ OUTPUT_SHORT_MONOTONIC, "[   12.500001] web1 sshd[812]: hello\n" },
		{ OUTPUT_SHORT_DELTA,
		  "[   12.500001                ] web1 sshd[812]: hello\n" },
		{ OUTPUT_WITH_UNIT, "Wed 2024-05-01 10:00:01 UTC web1 ssh.service[812]: hello\n" },
	};

	return cr_make_param_array(struct mode_case, cases, sizeof(cases) / sizeof(*cases));
}

ParameterizedTest(struct mode_case *c, text, mode_decides_on_time_and_name)
{
	p.options.mode = c->mode;
	text_fields();
	EXPECT_PRINTED(c->text);
}

Test(text, entry_without_message_prints_nothing)
{
	print_field(&p, "_HOSTNAME=web1");
	print_field(&p, "MESSAGES=no");
	print_field(&p, "MESSAGE");
	EXPECT_PRINTED("");
}

Test(text, last_value_of_a_repeated_field_counts)
{
	print_field(&p, "MESSAGE=one");
	print_field(&p, "_PID=1");
	print_field(&p, "MESSAGE=two");
	print_field(&p, "_PID=2");
	EXPECT_PRINTED("May 01 10:00:01 unknown[2]: two\n");
}

Test(text, unix_seconds_are_padded_to_ten)
{
	p.options.mode = OUTPUT_SHORT_UNIX;
	p.entry.realtime = 1000001;
	cr_expect(eq(str, print_message(&p, "x"), (char *)"         1.000001 unknown: x\n"));
}

/* ---- which time ------------------------------------------------------------------------- */

struct source_case {
	char field[64];
	bool taken; /* as second 5 */
};

ParameterizedTestParameters(text, source_time_is_shown_if_it_is_a_number_in_range)
{
	static struct source_case cases[] = {
		{ "5000000", true },
		{ "0x4c4b40", true },
		{ "0X4C4B40", true },
		{ "023045500", true },
		{ "0o23045500", true },
		{ "0b10011000100101101000000", true },
		{ "0b 10011000100101101000000", true },
		{ " \t\n\r5000000", true },
		{ "+5000000", true },
		{ "00000000000000000000000000023045500", true },
		{ "\v-18446744073704551616", true },
		{ "-5000000", false },
		{ "5000000 ", false },
		{ "5000000.0", false },
		{ "", false },
		{ " ", false },
		{ "+", false },
		{ "0", false },
		{ "0x", false },
		{ "0b2", false },
		{ "08", false },
		{ "36028797018963968", false },
		{ "18446744073714551616", false },
		{ "99999999999999999999999999", false },
	};

	return cr_make_param_array(struct source_case, cases, sizeof(cases) / sizeof(*cases));
}

ParameterizedTest(struct source_case *c, text, source_time_is_shown_if_it_is_a_number_in_range)
{
	char field[128] = "_SOURCE_REALTIME_TIMESTAMP=";

	strcat(field, c->field);
	p.options.mode = OUTPUT_SHORT_UNIX;
	print_field(&p, "MESSAGE=x");
	print_field(&p, field);
	EXPECT_PRINTED(c->taken ? "         5.000000 unknown: x\n"
				: "1714557601.250000 unknown: x\n");
}

Test(text, source_time_ends_at_a_nul)
{
	p.options.mode = OUTPUT_SHORT_UNIX;
	print_field(&p, "MESSAGE=x");
	print_bytes(&p, PRINT_LITERAL("_SOURCE_REALTIME_TIMESTAMP=5000000\0junk"));
	EXPECT_PRINTED("         5.000000 unknown: x\n");
}

Test(text, latest_source_time_is_in_range)
{
	p.options.mode = OUTPUT_SHORT_UNIX;
	print_field(&p, "MESSAGE=x");
	print_field(&p, "_SOURCE_REALTIME_TIMESTAMP=36028797018963967");
	EXPECT_PRINTED("36028797018.963967 unknown: x\n");
}

Test(text, monotonic_time_moves_with_the_source_time)
{
	p.options.mode = OUTPUT_SHORT_MONOTONIC;
	print_field(&p, "MESSAGE=x");
	print_field(&p, "_SOURCE_REALTIME_TIMESTAMP=1714557600000000");
	EXPECT_PRINTED("[   11.250001] unknown: x\n");
}

Test(text, moved_monotonic_time_is_not_below_zero)
{
	p.options.mode = OUTPUT_SHORT_MONOTONIC;
	print_field(&p, "MESSAGE=x");
	print_field(&p, "_SOURCE_REALTIME_TIMESTAMP=5");
	EXPECT_PRINTED("[    0.000000] unknown: x\n");
}

Test(text, entry_whose_monotonic_time_is_out_of_range_prints_nothing)
{
	p.options.mode = OUTPUT_SHORT_MONOTONIC;
	print_field(&p, "MESSAGE=x");
	print_field(&p, "_SOURCE_REALTIME_TIMESTAMP=36028797018963967");
	p.entry.monotonic = (UINT64_C(1) << 55) - 1;
	EXPECT_PRINTED("");
}

/* ---- short-delta ------------------------------------------------------------------------- */

Test(text, delta_is_monotonic_within_a_boot)
{
	p.options.mode = OUTPUT_SHORT_DELTA;
	print_message(&p, "first");
	p.entry.monotonic += 1500000;
	cr_expect(eq(str, print_message(&p, "x"),
		     (char *)"[   14.000001 <    1.500000 >] unknown: x\n"));
}

Test(text, delta_is_real_time_across_boots)
{
	p.options.mode = OUTPUT_SHORT_DELTA;
	print_message(&p, "first");
	p.entry.boot_id.bytes[0] ^= 1;
	p.entry.realtime += 60000001;
	cr_expect(eq(str, print_message(&p, "x"),
		     (char *)"[   12.500001 <   60.000001*>] unknown: x\n"));
}

Test(text, negative_delta_is_zero)
{
	p.options.mode = OUTPUT_SHORT_DELTA;
	print_message(&p, "first");
	p.entry.monotonic -= 5;
	cr_expect(eq(str, print_message(&p, "x"),
		     (char *)"[   12.499996 <    0.000000 >] unknown: x\n"));
}

Test(text, delta_counts_from_the_last_entry_that_was_printed)
{
	p.options.mode = OUTPUT_SHORT_DELTA;
	print_message(&p, "first");
	print_clear(&p);
	p.entry.monotonic += 1000000;
	EXPECT_PRINTED("");
	p.entry.monotonic += 1000000;
	cr_expect(eq(str, print_message(&p, "x"),
		     (char *)"[   14.500001 <    2.000000 >] unknown: x\n"));
}

/* ---- host, name, PID ---------------------------------------------------------------------- */

Test(text, hostname_can_be_left_out)
{
	p.options.flags = OUTPUT_NO_HOSTNAME;
	text_fields();
	EXPECT_PRINTED("May 01 10:00:01 sshd[812]: hello\n");
}

Test(text, empty_hostname_leaves_its_space)
{
	print_field(&p, "_HOSTNAME=");
	print_field(&p, "MESSAGE=x");
	EXPECT_PRINTED("May 01 10:00:01  unknown: x\n");
}

Test(text, empty_identifier_and_pid_are_shown)
{
	print_field(&p, "SYSLOG_IDENTIFIER=");
	print_field(&p, "_COMM=c");
	print_field(&p, "_PID=");
	print_field(&p, "MESSAGE=x");
	EXPECT_PRINTED("May 01 10:00:01 []: x\n");
}

Test(text, unprintable_identifier_falls_back_to_the_command)
{
	print_field(&p, "SYSLOG_IDENTIFIER=a\x1b");
	print_field(&p, "_COMM=c");
	print_field(&p, "_PID=\x01");
	print_field(&p, "SYSLOG_PID=7");
	print_field(&p, "MESSAGE=x");
	EXPECT_PRINTED("May 01 10:00:01 c[7]: x\n");
}

Test(text, identifier_of_300_bytes_is_not_shown)
{
	print_run(&p, "SYSLOG_IDENTIFIER", 'i', 300);
	print_field(&p, "MESSAGE=x");
	EXPECT_PRINTED("May 01 10:00:01 unknown: x\n");
}

Test(text, identifier_of_299_bytes_is_shown)
{
	print_run(&p, "SYSLOG_IDENTIFIER", 'i', 299);
	print_field(&p, "MESSAGE=x");
	cr_expect(eq(sz, strlen(print_entry(&p)), 16 + 299 + 4));
}

Test(text, identifier_with_line_feed_is_printed_raw)
{
	print_field(&p, "SYSLOG_IDENTIFIER=a\nb\tc");
	print_field(&p, "MESSAGE=x");
	EXPECT_PRINTED("May 01 10:00:01 a\nb\tc: x\n");
}

Test(text, all_shows_any_identifier_up_to_a_nul)
{
	p.options.flags = OUTPUT_ALL;
	print_bytes(&p, PRINT_LITERAL("SYSLOG_IDENTIFIER=a\x1b" "b\0c"));
	print_field(&p, "MESSAGE=x");
	EXPECT_PRINTED("May 01 10:00:01 a\x1b" "b: x\n");
}

Test(text, unit_and_user_unit_are_joined)
{
	p.options.mode = OUTPUT_WITH_UNIT;
	text_fields();
	print_field(&p, "_SYSTEMD_USER_UNIT=app.scope");
	EXPECT_PRINTED("Wed 2024-05-01 10:00:01 UTC web1 ssh.service/app.scope[812]: hello\n");
}

Test(text, unit_is_shown_along_with_a_fit_user_unit)
{
	p.options.mode = OUTPUT_WITH_UNIT;
	print_bytes(&p, PRINT_LITERAL("_SYSTEMD_UNIT=a\x01\0b"));
	print_field(&p, "_SYSTEMD_USER_UNIT=u");
	print_field(&p, "MESSAGE=x");
	EXPECT_PRINTED("Wed 2024-05-01 10:00:01 UTC a\x01/u: x\n");
}

Test(text, with_unit_falls_back_to_the_identifier)
{
	p.options.mode = OUTPUT_WITH_UNIT;
	print_field(&p, "_SYSTEMD_UNIT=\x01");
	print_field(&p, "SYSLOG_IDENTIFIER=i");
	print_field(&p, "MESSAGE=x");
	EXPECT_PRINTED("Wed 2024-05-01 10:00:01 UTC i: x\n");
}

/* ---- lines -------------------------------------------------------------------------------- */

Test(text, empty_message_is_one_line)
{
	EXPECT_MESSAGE("", "\n");
}

Test(text, line_feed_at_the_end_opens_no_line)
{
	EXPECT_MESSAGE("a\n", "a\n");
	EXPECT_MESSAGE("a\n\n", "a\n" INDENT "\n");
}

Test(text, further_lines_are_indented_also_empty_ones)
{
	EXPECT_MESSAGE("a\n\nb", "a\n" INDENT "\n" INDENT "b\n");
}

Test(text, unknown_name_does_not_count_for_the_indentation)
{
	EXPECT_MESSAGE("a\nb", "a\n" INDENT "b\n");
	cr_expect(eq(sz, strlen(INDENT), strlen("May 01 10:00:01") + 2));
}

Test(text, indentation_counts_all_that_precedes_the_message)
{
	print_field(&p, "_HOSTNAME=web1");
	print_field(&p, "SYSLOG_IDENTIFIER=\xc3\xa9t\xc3\xa9");
	print_field(&p, "_PID=812");
	print_field(&p, "MESSAGE=a\nb");
	EXPECT_PRINTED("May 01 10:00:01 web1 \xc3\xa9t\xc3\xa9[812]: a\n"
		       "                                 b\n");
}

Test(text, user_unit_counts_as_long_as_the_unit)
{
	p.options.mode = OUTPUT_WITH_UNIT;
	print_field(&p, "_SYSTEMD_UNIT=ab");
	print_field(&p, "_SYSTEMD_USER_UNIT=longer");
	print_field(&p, "MESSAGE=a\nb");
	/* 27 for the time, 3 for each of the units, 2. */
	EXPECT_PRINTED("Wed 2024-05-01 10:00:01 UTC ab/longer: a\n"
		       "                                   b\n");
}

Test(text, user_unit_alone_counts_one)
{
	p.options.mode = OUTPUT_WITH_UNIT;
	print_field(&p, "_SYSTEMD_USER_UNIT=longer");
	print_field(&p, "MESSAGE=a\nb");
	EXPECT_PRINTED("Wed 2024-05-01 10:00:01 UTC longer: a\n"
		       "                              b\n");
}

/* ---- sanitising --------------------------------------------------------------------------- */

Test(text, tab_becomes_eight_spaces)
{
	EXPECT_MESSAGE("a\tb", "a        b\n");
}

Test(text, carriage_returns_before_a_line_feed_are_dropped)
{
	EXPECT_MESSAGE("a\r\r\nb\r\n", "a\n" INDENT "b\n");
}

Test(text, carriage_returns_at_the_end_are_dropped)
{
	EXPECT_MESSAGE("a\r\r", "a\n");
}

Test(text, carriage_return_elsewhere_makes_a_blob)
{
	EXPECT_MESSAGE("a\rb", "[3B blob data]\n");
	EXPECT_MESSAGE("a\r\x1b[m", "[2B blob data]\n");
}

Test(text, colour_sequences_are_removed)
{
	EXPECT_MESSAGE("\x1b[0;1;31mred\x1b[m\x1b[;m", "red\n");
}

Test(text, lenient_text_has_escapes)
{
	p.options.flags = OUTPUT_LENIENT;
	EXPECT_MESSAGE("a\rb", "a\\x0db\n");
	EXPECT_MESSAGE("\x1b[1mx\x1b[2K\\\n\xff", "x\\x1b[2K\\\\\n" INDENT "\\xff\n");
	EXPECT_MESSAGE("a\\b", "a\\b\n");
}

Test(text, removed_sequence_may_stand_within_a_character)
{
	EXPECT_MESSAGE("\xc3\x1b[m\xa9", "\xc3\xa9\n");
}

Test(text, nul_is_a_parameter_of_a_colour)
{
	print_bytes(&p, PRINT_LITERAL("MESSAGE=a\x1b[1\0m."));
	EXPECT_PRINTED("May 01 10:00:01 unknown: a.\n");
}

Test(text, other_control_sequences_make_a_blob)
{
	EXPECT_MESSAGE("\x1b[2K", "[4B blob data]\n");
	EXPECT_MESSAGE("\x1b[12", "[4B blob data]\n");
	EXPECT_MESSAGE("\x1b", "[1B blob data]\n");
	EXPECT_MESSAGE("\x1bM", "[2B blob data]\n");
}

Test(text, commands_to_the_terminal_are_removed)
{
	EXPECT_MESSAGE("\x1b]0;title\x07.", ".\n");
	EXPECT_MESSAGE("\x1b]8;;http://a/\x1b\\.", ".\n");
}

Test(text, command_that_does_not_end_makes_a_blob)
{
	EXPECT_MESSAGE("\x1b]abc", "[5B blob data]\n");
	EXPECT_MESSAGE("\x1b]a\x1b", "[4B blob data]\n");
	EXPECT_MESSAGE("\x1b]\xc3\xa9\x07", "[5B blob data]\n");
}

Test(text, scanning_goes_on_behind_a_kept_introducer)
{
	/* The two bytes stay, the colour behind them goes. */
	EXPECT_MESSAGE("\x1b[\x1b[1mab", "[4B blob data]\n");
}

Test(text, byte_behind_a_kept_escape_is_not_looked_at)
{
	EXPECT_MESSAGE("\x1b\t", "[2B blob data]\n");
	EXPECT_MESSAGE("\x1b\x1b[m", "[4B blob data]\n");
}

Test(text, blob_size_is_that_of_the_sanitised_message)
{
	EXPECT_MESSAGE("\x01\t\x1b[m", "[9B blob data]\n");
	EXPECT_MESSAGE("a\nb\x01\n", "[5B blob data]\n");
}

Test(text, all_prints_the_message_as_it_is)
{
	p.options.flags = OUTPUT_ALL;
	EXPECT_MESSAGE("\x1b[1m\t\r\xff\n\x01", "\x1b[1m\t\r\xff\n" INDENT "\x01\n");
}

Test(text, all_ends_each_line_at_a_nul)
{
	p.options.flags = OUTPUT_ALL;
	print_bytes(&p, PRINT_LITERAL("MESSAGE=a\0b\nc\0\n\0d"));
	EXPECT_PRINTED("May 01 10:00:01 unknown: a\n" INDENT "c\n" INDENT "\n");
}

Test(text, truncation_keeps_the_first_line)
{
	p.options.flags = OUTPUT_TRUNCATE_NEWLINE;
	EXPECT_MESSAGE("a\nb\x01", "a\n");
	EXPECT_MESSAGE("\nb", "\n");
	EXPECT_MESSAGE("a\rb", "a\n");
	EXPECT_MESSAGE("a\r\nb", "a\n");
	EXPECT_MESSAGE("\ta\nb", "        a\n");
}

Test(text, truncation_stops_at_a_nul)
{
	p.options.flags = OUTPUT_TRUNCATE_NEWLINE;
	print_bytes(&p, PRINT_LITERAL("MESSAGE=a\0b"));
	EXPECT_PRINTED("May 01 10:00:01 unknown: a\n");
}

Test(text, truncated_message_is_tested_as_far_as_it_goes)
{
	p.options.flags = OUTPUT_TRUNCATE_NEWLINE;
	EXPECT_MESSAGE("a\x01\nb", "[2B blob data]\n");
}

Test(text, long_message_is_printed_whole)
{
	print_run(&p, "MESSAGE", 'm', 1000000);
	cr_expect(eq(sz, strlen(print_entry(&p)), 25 + 1000000 + 1));
}

Test(text, lines_of_any_size_are_copied)
{
	char message[204], expected[300];

	for (int size = 0; size < 200; size++) {
		memset(message, 'a', (size_t)size);
		strcpy(message + size, "\n\xc3\xa9");
		snprintf(expected, sizeof(expected),
			 "May 01 10:00:01 unknown: %.*s\n" INDENT "\xc3\xa9\n", size, message);
		cr_assert(eq(str, print_message(&p, message), expected));
	}
}

/* ---- memory ------------------------------------------------------------------------------- */

#if defined(__SANITIZE_ADDRESS__)
#define TEXT_MEMORY_IS_WATCHED 1
#elif defined(__has_feature)
#if __has_feature(address_sanitizer)
#define TEXT_MEMORY_IS_WATCHED 1
#endif
#endif

Test(text, entry_beyond_the_limit_of_the_buffer_is_refused)
{
	print_run(&p, "SYSLOG_IDENTIFIER", 'i', 299);
	print_run(&p, "MESSAGE", '\n', 100000);
	p.buffer.limit = 1 << 20;
	cr_expect(eq(int, output_entry(&p.options, &p.cache, &p.previous, &p.entry, &p.buffer),
		     -ENOMEM));
	cr_expect(eq(sz, p.buffer.size, 0));
	cr_expect(le(sz, p.buffer.capacity, 1 << 20));
}

Test(text, entry_is_printed_after_one_that_was_refused)
{
	p.buffer.limit = 1 << 20;
	print_run(&p, "MESSAGE", 'm', 2 << 20);
	cr_assert(eq(int, output_entry(&p.options, &p.cache, &p.previous, &p.entry, &p.buffer),
		     -ENOMEM));
	EXPECT_MESSAGE("x", "x\n");
}

Test(text, lost_memory_leaves_buffer_and_previous_entry_as_they_were)
{
#ifdef TEXT_MEMORY_IS_WATCHED
	cr_skip_test("the sanitizer needs the address space");
#else
	struct rlimit limit = { 0, 0 };
	struct output_previous before;

	p.options.mode = OUTPUT_SHORT_DELTA;
	print_message(&p, "first");
	before = p.previous;
	print_clear(&p);
	print_run(&p, "MESSAGE", 'm', 64 << 20);
	p.buffer.size = 3;
	cr_assert(eq(int, setrlimit(RLIMIT_AS, &limit), 0));
	cr_expect(eq(int, output_entry(&p.options, &p.cache, &p.previous, &p.entry, &p.buffer),
		     -ENOMEM));
	cr_expect(eq(sz, p.buffer.size, 3));
	cr_expect(not(p.buffer.failed));
	cr_expect(eq(int, memcmp(&before, &p.previous, sizeof(before)), 0));
#endif
}
