// SPDX-License-Identifier: MIT
/*
 * Descriptors of boots and invocations, levels and facilities, from text.
 */
#include <errno.h>
#include <string.h>
#include <criterion/criterion.h>
#include <criterion/new/assert.h>

#include "selectors.h"

#define ID "0123012301230123012301230123abcd"

Test(selectors, descriptor_is_an_id_an_offset_or_both)
{
	static const struct {
		const char *text;
		bool has_id;
		int offset;
	} good[] = {
		{ "0", false, 0 },
		{ "-1", false, -1 },
		{ "+2", false, 2 },
		{ " 0x3", false, 3 },
		{ "010", false, 8 },
		{ ID, true, 0 },
		{ "0123012301230123012301230123ABCD-1", true, -1 },
		{ ID "+2", true, 2 },
		{ "00000000000000000000000000000000-1", false, -1 },
	};
	static const char *const bad[] = {
		"",     "never", "=1", "0123012301230123012301230123012", ID " 1", ID "-",
		ID "1", "1x",    "All"
	};
	jscan_id id;

	cr_assert(eq(int, jscan_id_parse(ID, &id), 0));
	for (size_t i = 0; i < sizeof(good) / sizeof(good[0]); i++) {
		struct descriptor d = { .all = true };

		cr_expect(eq(int, descriptor_parse(good[i].text, &d), 0), "%s", good[i].text);
		cr_expect(not(d.all), "%s", good[i].text);
		cr_expect(eq(int, d.has_id, good[i].has_id), "%s", good[i].text);
		cr_expect(eq(int, d.offset, good[i].offset), "%s", good[i].text);
		if (d.has_id)
			cr_expect(eq(int, memcmp(&d.id, &id, sizeof(id)), 0), "%s", good[i].text);
	}
	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
		struct descriptor d = { 0 };

		cr_expect(lt(int, descriptor_parse(bad[i], &d), 0), "%s", bad[i]);
	}
}

Test(selectors, descriptor_all_is_no_filter)
{
	struct descriptor d = { 0 };

	cr_assert(eq(int, descriptor_parse("all", &d), 0));
	cr_assert(d.all);
}

Test(selectors, levels_are_one_and_all_above_it_or_a_range)
{
	static const struct {
		const char *text;
		uint32_t levels;
	} good[] = {
		{ "0", 0x01 },    { "7", 0xff },        { "0x3", 0x0f },
		{ "err", 0x0f },  { "emerg", 0x01 },    { "warning..err", 0x18 },
		{ "3..4", 0x18 }, { "debug..7", 0x80 }, { "info..emerg", 0x7f },
	};
	static const struct {
		const char *text;
		bool is_range;
	} bad[] = {
		{ "", false },      { "8", false },      { "-1", false },
		{ "error", false }, { "Err", false },    { "warn", false },
		{ "..", true },     { "3..", true },     { "..3", true },
		{ "0..8", true },   { "1..2..3", true }, { "aaaaaaaaaaaaaaaaaaa", false },
	};
	uint32_t levels;
	bool is_range;

	for (size_t i = 0; i < sizeof(good) / sizeof(good[0]); i++) {
		cr_expect(eq(int, levels_parse(good[i].text, &levels, &is_range), 0), "%s",
			  good[i].text);
		cr_expect(eq(u32, levels, good[i].levels), "%s", good[i].text);
	}
	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
		cr_expect(eq(int, levels_parse(bad[i].text, &levels, &is_range), -EINVAL), "%s",
			  bad[i].text);
		cr_expect(eq(int, is_range, bad[i].is_range), "%s", bad[i].text);
	}
}

Test(selectors, facilities_are_names_or_numbers)
{
	static const char *const bad[] = { "", "128", "-1", "Kern", "security", "local8" };
	unsigned facility;

	for (unsigned i = 0; i < 24; i++) {
		if (!facility_name(i))
			continue;
		cr_expect(eq(int, facility_parse(facility_name(i), &facility), 0));
		cr_expect(eq(uint, facility, i), "%s", facility_name(i));
	}
	cr_expect(eq(int, facility_parse("0x7f", &facility), 0));
	cr_expect(eq(uint, facility, 127));
	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++)
		cr_expect(eq(int, facility_parse(bad[i], &facility), -EINVAL), "%s", bad[i]);
	cr_expect(facility_name(12) == NULL && facility_name(24) == NULL);
}
