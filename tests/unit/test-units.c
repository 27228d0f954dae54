// SPDX-License-Identifier: MIT
/*
 * Names of units, from what is typed. The expectations are those of journalctl 262, which shows
 * them in its debug output.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <criterion/criterion.h>
#include <criterion/new/assert.h>

#include "units.h"

/* What is typed and what it means. */
struct name_case {
	const char *text;
	const char *name;
	bool escaped;
};

/* Checks names that are no patterns. */
static void expect(const struct name_case *cases, size_t count)
{
	for (size_t i = 0; i < count; i++) {
		bool is_pattern = true;
		size_t escaped = 0;
		char *name = NULL;

		cr_assert(eq(int, unit_name(cases[i].text, &is_pattern, &escaped, &name), 0));
		cr_expect(eq(str, name, (char *)cases[i].name), "'%s'", cases[i].text);
		cr_expect(not(is_pattern), "'%s'", cases[i].text);
		cr_expect(eq(int, escaped > 0, cases[i].escaped), "'%s'", cases[i].text);
		free(name);
	}
}

#define EXPECT(cases) expect(cases, sizeof(cases) / sizeof(cases[0]))

Test(units, a_suffix_is_added_where_none_is_known)
{
	static const struct name_case cases[] = {
		{ "tea", "tea.service", false },
		{ "tea.service", "tea.service", false },
		{ "tea.timer", "tea.timer", false },
		{ "tea.slice", "tea.slice", false },
		{ "foo.bar", "foo.bar.service", false },
		{ "foo@bar", "foo@bar.service", false },
		{ "foo@.service", "foo@.service", false },
		{ "a@b.mount", "a@b.mount", false },
		{ "-x", "-x.service", false },
		{ ".service", ".service.service", false },
		{ "@x", "@x.service", false },
		{ "@x.service", "@x.service.service", false },
		{ ".x.service", ".x.service", false },
	};

	EXPECT(cases);
}

Test(units, a_path_is_a_mount_or_a_device)
{
	static const struct name_case cases[] = {
		{ "/srv/cups", "srv-cups.mount", false },
		{ "/", "-.mount", false },
		{ "//", "-.mount", false },
		{ "/a//b/", "a-b.mount", false },
		{ "/a/./b", "a-b.mount", false },
		{ "/a-b/.c", "a\\x2db-.c.mount", false },
		{ "/.a", "\\x2ea.mount", false },
		{ "/srv/c*", "srv-c\\x2a.mount", false },
		{ "/dev/sda", "dev-sda.device", false },
		{ "/sys/foo", "sys-foo.device", false },
		{ "/dev/", "dev.mount", false },
	};

	EXPECT(cases);
}

Test(units, what_cannot_stand_in_a_name_is_escaped)
{
	static const struct name_case cases[] = {
		{ "iced tea", "iced\\x20tea.service", true },
		{ "a/b", "a-b.service", true },
		{ "\xc3\xa9", "\\xc3\\xa9.service", true },
		{ "/a//b/../c", "-a--b-..-c.service", true },
		{ "a]b!", "a]b!.service", false },
	};

	EXPECT(cases);
}

Test(units, a_pattern_stays_one)
{
	static const struct name_case cases[] = {
		{ "tea*", "tea*", false },
		{ "te?", "te?", false },
		{ "[a-z]ea.service", "[a-z]ea.service", false },
		{ "a b*", "a\\x20b*", true },
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		bool is_pattern = false;
		size_t escaped = 0;
		char *name = NULL;

		cr_assert(eq(int, unit_name(cases[i].text, &is_pattern, &escaped, &name), 0));
		cr_expect(eq(str, name, (char *)cases[i].name));
		cr_expect(is_pattern, "'%s'", cases[i].text);
		cr_expect(eq(int, escaped > 0, cases[i].escaped), "'%s'", cases[i].text);
		free(name);
	}
}

Test(units, what_was_escaped_is_told_without_the_suffix)
{
	bool is_pattern;
	size_t escaped;
	char *name;

	cr_assert(eq(int, unit_name("iced tea", &is_pattern, &escaped, &name), 0));
	cr_expect(eq(sz, escaped, strlen("iced\\x20tea")));
	free(name);
}

Test(units, nothing_is_no_name)
{
	bool is_pattern;
	size_t escaped;
	char *name;

	cr_expect(eq(int, unit_name("", &is_pattern, &escaped, &name), -EINVAL));
}
