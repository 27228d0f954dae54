// SPDX-License-Identifier: MIT
/*
 * Values of options, as journalctl 262 reads them; the odd forms were tried with it.
 */
#include <errno.h>
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

Test(values, boot_is_an_id_an_offset_or_both)
{
	static const char *const good[] = { "0",
					    "-1",
					    "+2",
					    "01230123012301230123012301230123",
					    "0123012301230123012301230123ABCD-1",
					    "01230123012301230123012301230123+2" };
	static const char *const bad[] = { "",
					   "never",
					   "=1",
					   "0123012301230123012301230123012",
					   "01230123012301230123012301230123 1",
					   "01230123012301230123012301230123-" };
	bool all = false;

	for (size_t i = 0; i < sizeof(good) / sizeof(good[0]); i++)
		cr_expect(eq(int, value_boot(good[i], &all), 0), "%s", good[i]);
	cr_expect(not(all));
	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++)
		cr_expect(lt(int, value_boot(bad[i], &all), 0), "%s", bad[i]);
	cr_expect(eq(int, value_boot("all", &all), 0));
	cr_expect(all);
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
