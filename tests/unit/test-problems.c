// SPDX-License-Identifier: MIT
/*
 * What the command says of files that cannot be opened and of damage in the others.
 */
#include <errno.h>
#include <stdio.h>
#include <criterion/criterion.h>
#include <criterion/new/assert.h>
#include <criterion/redirect.h>

#include "problems.h"

/* Reports a problem as the library does. */
static void report(struct problems *problems, enum jscan_reason reason, int error, const char *path,
		   uint64_t offset)
{
	problems_add(problems, &(const struct jscan_problem){
				       .size = sizeof(struct jscan_problem),
				       .reason = reason,
				       .error = error,
				       .path = path,
				       .offset = offset,
				       .detail = "it is broken",
			       });
}

Test(problems, each_kind_of_error_names_its_first_path, .init = cr_redirect_stderr)
{
	struct problems problems = { 0 };

	report(&problems, JSCAN_REASON_HEADER, -EBADMSG, "/b", 0);
	report(&problems, JSCAN_REASON_TRUNCATED, -ENODATA, "/c", 0);
	report(&problems, JSCAN_REASON_HEADER, -EBADMSG, "/a", 0);
	report(&problems, JSCAN_REASON_OPEN, -EIO, "/d", 0);
	report(&problems, JSCAN_REASON_FEATURE, -EPROTONOSUPPORT, "/0", 0);
	cr_assert(eq(int, problems_report(&problems, 1), 0));
	fflush(stderr);
	cr_assert_stderr_eq_str(
		"Journal file /0 uses an unsupported feature, ignoring file.\n"
		"Use SYSTEMD_LOG_LEVEL=debug journalctl --file=/0 to see the details.\n"
		"Journal file /a corrupted, ignoring file.\n"
		"Journal file /c is truncated, ignoring file.\n"
		"An error was encountered while opening journal file or directory /d, ignoring "
		"file: Input/output error\n");
	cr_expect(eq(u64, problems.count, 5));
	problems_done(&problems);
}

Test(problems, missing_permission_is_an_error_only_where_nothing_is_left,
     .init = cr_redirect_stderr)
{
	struct problems problems = { 0 };

	report(&problems, JSCAN_REASON_OPEN, -EACCES, "/a", 0);
	cr_assert(eq(int, problems_report(&problems, 1), 0));
	cr_assert(eq(int, problems_report(&problems, 0), -EACCES));
	fflush(stderr);
	cr_assert_stderr_eq_str("No journal files were opened due to insufficient permissions.\n");
	problems_done(&problems);
}

Test(problems, first_error_follows_the_order_of_the_command_line)
{
	char *patterns[] = { (char *)"logs/z*.journal", (char *)"../a.journal", NULL };
	struct problems problems = { 0 };

	cr_assert(eq(int, problems_first_error(&problems, patterns, 2), 0));
	report(&problems, JSCAN_REASON_HEADER, -EBADMSG, "/x/a.journal", 0);
	cr_assert(eq(int, problems_first_error(&problems, patterns, 2), -EBADMSG));
	report(&problems, JSCAN_REASON_TRUNCATED, -ENODATA, "/x/logs/z2.journal", 0);
	report(&problems, JSCAN_REASON_OPEN, -EIO, "/x/logs/z1.journal", 0);
	cr_assert(eq(int, problems_first_error(&problems, patterns, 2), -EIO));
	problems_done(&problems);
}

Test(problems, damage_is_silent_unless_names_are_wanted, .init = cr_redirect_stderr)
{
	struct problems problems = { 0 };

	report(&problems, JSCAN_REASON_OBJECT, -EBADMSG, "/a", 8);
	fflush(stderr);
	cr_assert_stderr_eq_str("");
	cr_expect(eq(u64, problems.count, 1));
	cr_expect(eq(int, problems_first_error(&problems, NULL, 0), 0));
	problems_done(&problems);
}

Test(problems, a_damaged_file_is_named_once, .init = cr_redirect_stderr)
{
	struct problems problems = { .name_damaged = true };

	report(&problems, JSCAN_REASON_OBJECT, -EBADMSG, "/b", 8);
	report(&problems, JSCAN_REASON_CHAIN, -EBADMSG, "/a", 16);
	report(&problems, JSCAN_REASON_PAYLOAD, -EBADMSG, "/b", 24);
	report(&problems, JSCAN_REASON_READ, -ENODATA, "/c", 0);
	fflush(stderr);
	cr_assert_stderr_eq_str("Journal file /b is damaged at offset 8: it is broken\n"
				"Journal file /a is damaged at offset 16: it is broken\n"
				"Journal file /c is damaged at offset 0: it is broken\n");
	cr_expect(eq(u64, problems.count, 4));
	problems_done(&problems);
}

Test(problems, a_file_lost_after_opening_is_damage, .init = cr_redirect_stderr)
{
	struct problems problems = { .name_damaged = true };

	cr_assert(eq(int, problems_report(&problems, 1), 0));
	report(&problems, JSCAN_REASON_OPEN, -EIO, "/a", 0);
	fflush(stderr);
	cr_assert_stderr_eq_str("Journal file /a is damaged at offset 0: it is broken\n");
	cr_expect(eq(int, problems_first_error(&problems, NULL, 0), 0));
	problems_done(&problems);
}
