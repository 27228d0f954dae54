// SPDX-License-Identifier: MIT
/*
 * Choosing a boot or an invocation by a descriptor, also where they overlap; sizes and lengths of
 * time as text.
 */
#include <stdlib.h>
#include <string.h>
#include <criterion/criterion.h>
#include <criterion/new/assert.h>

#include "runs.h"
#include "stamp.h"

/* Three runs, A B C by their last entries, C A B by their first ones. */
static struct runs three(void)
{
	struct runs runs = { 0 };

	for (unsigned i = 0; i < 3; i++) {
		struct run run = { .first_rank = (i + 1) % 3 };

		run.id.bytes[0] = (uint8_t)('A' + i);
		cr_assert(eq(int, runs_add(&runs, &run), 0));
	}
	return runs;
}

/* The letter of the run that a descriptor means, 0 if there is none. */
static int chosen(const char *text, char relative_to)
{
	struct descriptor descriptor;
	struct runs runs = three();
	const struct run *run;
	int letter;

	cr_assert(eq(int, descriptor_parse(text, &descriptor), 0));
	if (relative_to) {
		descriptor.has_id = true;
		descriptor.id.bytes[0] = (uint8_t)relative_to;
	}
	run = runs_find(&runs, &descriptor);
	letter = run ? run->id.bytes[0] : 0;
	runs_done(&runs);
	return letter;
}

Test(runs, numbers_up_to_0_count_back_from_the_last_to_end)
{
	cr_expect(eq(int, chosen("0", 0), 'C'));
	cr_expect(eq(int, chosen("-1", 0), 'B'));
	cr_expect(eq(int, chosen("-2", 0), 'A'));
	cr_expect(eq(int, chosen("-3", 0), 0));
}

Test(runs, numbers_from_1_on_count_from_the_first_to_begin)
{
	cr_expect(eq(int, chosen("1", 0), 'C'));
	cr_expect(eq(int, chosen("2", 0), 'A'));
	cr_expect(eq(int, chosen("3", 0), 'B'));
	cr_expect(eq(int, chosen("4", 0), 0));
	cr_expect(eq(int, chosen("2147483647", 0), 0));
}

Test(runs, offsets_from_an_id_count_in_the_same_orders)
{
	cr_expect(eq(int, chosen("0", 'B'), 'B'));
	cr_expect(eq(int, chosen("-1", 'B'), 'A'));
	cr_expect(eq(int, chosen("-1", 'A'), 0));
	cr_expect(eq(int, chosen("1", 'A'), 'B'));
	cr_expect(eq(int, chosen("1", 'B'), 0));
	cr_expect(eq(int, chosen("0", 'X'), 0));
}

Test(runs, none_is_found_in_an_empty_list)
{
	struct descriptor descriptor = { 0 };
	struct runs runs = { 0 };

	cr_expect(runs_find(&runs, &descriptor) == NULL);
	descriptor.offset = 1;
	cr_expect(runs_find(&runs, &descriptor) == NULL);
}

Test(stamp, lengths_of_time_are_exact_to_the_millisecond)
{
	static const struct {
		uint64_t usec;
		const char *text;
	} cases[] = {
		{ 0, "0" },
		{ 999, "999us" },
		{ 1000, "1ms" },
		{ 1999, "1ms" },
		{ 1000000, "1s" },
		{ 1000001, "1.000s" },
		{ 2345678, "2.345s" },
		{ 25000000, "25s" },
		{ 61000000, "1min 1s" },
		{ 60000001, "1min" },
		{ UINT64_C(3723345000), "1h 2min 3.345s" },
		{ UINT64_C(31557600000000), "1y" },
		{ UINT64_C(86400000000), "1d" },
	};
	char text[STAMP_SIZE];

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++)
		cr_expect(eq(str, span_format(cases[i].usec, text), (char *)cases[i].text));
}

Test(stamp, sizes_have_one_decimal_at_most)
{
	char text[STAMP_SIZE];

	cr_expect(eq(str, size_format(0, text), (char *)"0B"));
	cr_expect(eq(str, size_format(1023, text), (char *)"1023B"));
	cr_expect(eq(str, size_format(1024, text), (char *)"1K"));
	cr_expect(eq(str, size_format(1536, text), (char *)"1.5K"));
	cr_expect(eq(str, size_format(3071, text), (char *)"2.9K"));
	cr_expect(eq(str, size_format(8 << 20, text), (char *)"8M"));
	cr_expect(eq(str, size_format(UINT64_MAX, text), (char *)"15.9E"));
}
