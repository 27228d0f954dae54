// SPDX-License-Identifier: MIT
/*
 * Values of options, as journalctl 262 reads them; the odd forms were tried with it.
 */
#include <errno.h>
#include <stdlib.h>
#include <criterion/criterion.h>
#include <criterion/new/assert.h>

#include "values.h"

/* The count that a --lines argument stands for; UINT64_MAX - 1 if it is refused. */
static uint64_t lines(const char *text, bool *ret_first)
{
	uint64_t count;

	return value_lines(text, &count, ret_first) < 0 ? UINT64_MAX - 1 : count;
}

Test(values, lines_take_every_base_and_leading_space)
{
	bool first;

	cr_expect(eq(u64, lines("3", &first), 3));
	cr_expect(eq(u64, lines(" 3", &first), 3));
	cr_expect(eq(u64, lines("0x11", &first), 17));
	cr_expect(eq(u64, lines("0X3", &first), 3));
	cr_expect(eq(u64, lines("010", &first), 8));
	cr_expect(eq(u64, lines("0o11", &first), 9));
	cr_expect(eq(u64, lines("0b11", &first), 3));
	cr_expect(eq(u64, lines("-0", &first), 0));
	cr_expect(eq(u64, lines("2147483647", &first), 2147483647));
	cr_expect(not(first));
}

Test(values, lines_with_plus_count_from_the_start)
{
	bool first = false;

	cr_expect(eq(u64, lines("+3", &first), 3));
	cr_expect(first);
	first = false;
	cr_expect(eq(u64, lines("++3", &first), 3));
	cr_expect(first);
	cr_expect(eq(u64, lines("all", &first), LINES_ALL));
	cr_expect(not(first));
}

Test(values, lines_refuse_the_rest)
{
	static const char *const bad[] = { "",           "x",      "5x", "3 ",   "08",
					   "-1",         "+-3",    "=3", "+all", "ALL",
					   "2147483648", "++0b11", "0b", "0x",   "0x 1" };
	bool first;

	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++)
		cr_expect(eq(u64, lines(bad[i], &first), UINT64_MAX - 1), "%s", bad[i]);
}

Test(values, size_has_units_of_1024)
{
	uint64_t bytes;

	cr_assert(eq(int, value_size("64M", &bytes), 0));
	cr_expect(eq(u64, bytes, 64u << 20));
	cr_assert(eq(int, value_size("4096", &bytes), 0));
	cr_expect(eq(u64, bytes, 4096));
	cr_assert(eq(int, value_size("1g", &bytes), 0));
	cr_expect(eq(u64, bytes, 1u << 30));
	cr_expect(eq(int, value_size("", &bytes), -EINVAL));
	cr_expect(eq(int, value_size("-1", &bytes), -EINVAL));
	cr_expect(eq(int, value_size("1Mx", &bytes), -EINVAL));
	cr_expect(eq(int, value_size("99999999999T", &bytes), -ERANGE));
	cr_expect(eq(int, value_size("99999999999999999999", &bytes), -ERANGE));
}

Test(values, truth_has_many_words)
{
	static const char *const yes[] = { "1", "yes", "Y", "TRUE", "t", "On" };
	static const char *const no[] = { "0", "no", "N", "false", "F", "off" };
	bool value;

	for (size_t i = 0; i < 6; i++) {
		value = false;
		cr_expect(eq(int, value_boolean(yes[i], &value), 0), "%s", yes[i]);
		cr_expect(value, "%s", yes[i]);
		cr_expect(eq(int, value_boolean(no[i], &value), 0), "%s", no[i]);
		cr_expect(not(value), "%s", no[i]);
	}
	cr_expect(eq(int, value_boolean("", &value), -EINVAL));
	cr_expect(eq(int, value_boolean("2", &value), -EINVAL));
}

Test(values, a_path_becomes_a_pattern_for_itself_alone)
{
	char **list = NULL;
	size_t count = 0;

	cr_assert(eq(int, list_add_file(&list, &count, "a*b?[c]\\d"), 0));
	cr_expect(eq(str, list[0], (char *)"a\\*b\\?\\[c\\]\\\\d"));
	list_free(list);
}

Test(values, list_items_are_kept_once_and_empty_ones_not)
{
	char **list = NULL;
	size_t count = 0;

	cr_assert(eq(int, list_add_items(&list, &count, ",A,,B,A,"), 0));
	cr_assert(eq(int, list_add_items(&list, &count, "C,B"), 0));
	cr_assert(eq(sz, count, 3));
	cr_expect(eq(str, list[0], (char *)"A"));
	cr_expect(eq(str, list[1], (char *)"B"));
	cr_expect(eq(str, list[2], (char *)"C"));
	cr_expect(eq(ptr, list[3], NULL));
	list_free(list);
}
