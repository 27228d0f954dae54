/* SPDX-License-Identifier: MIT */
/* Times of day: what the C library says, in journalctl's forms, whatever was printed before. */
#include <criterion/criterion.h>
#include <criterion/new/assert.h>
#include <criterion/parameterized.h>

#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include "tests/support/print.h"

#define USEC UINT64_C(1000000)

static struct print p;

/* A printer of times with a message "x". */
static void calendar_init(void)
{
	print_init(&p, OUTPUT_SHORT_FULL);
	print_field(&p, "MESSAGE=x");
}

/* Frees it. */
static void calendar_fini(void)
{
	print_done(&p);
}

TestSuite(calendar, .init = calendar_init, .fini = calendar_fini);

/* Prints the time at a second in a mode. */
static char *calendar_text(enum output_mode mode, uint64_t second)
{
	static char text[256];
	char *end;

	p.options.mode = mode;
	p.entry.realtime = second * USEC + 7;
	snprintf(text, sizeof(text), "%s", print_entry(&p));
	end = strstr(text, mode == OUTPUT_VERBOSE ? " [" : " unknown");
	cr_assert(ne(ptr, end, NULL));
	*end = '\0';
	return text;
}

/* What the C library makes of a second in short-full or short. */
static char *calendar_expected(enum output_mode mode, uint64_t second, bool utc)
{
	static char text[256];
	time_t t = (time_t)second;
	struct tm tm;

	if (utc)
		gmtime_r(&t, &tm);
	else
		localtime_r(&t, &tm);
	if (mode == OUTPUT_SHORT)
		strftime(text, sizeof(text), "%b %d %H:%M:%S", &tm);
	else if (utc)
		strftime(text, sizeof(text), "%a %Y-%m-%d %H:%M:%S UTC", &tm);
	else
		strftime(text, sizeof(text), "%a %Y-%m-%d %H:%M:%S %Z", &tm);
	return text;
}

struct zone_case {
	char name[48];
	uint64_t around; /* a second where the offset changes, or any */
};

static struct zone_case zones[] = {
	{ "UTC", 1714557601 },
	{ "Europe/Berlin", 1711846800 },
	{ "Europe/Berlin", 1729990800 },
	{ "Asia/Kolkata", 1714557601 },
	{ "America/St_Johns", 1710045000 },
	{ "America/St_Johns", 320035860 },
	{ "Africa/Monrovia", 63593070 },
	{ "Pacific/Apia", 1325239200 },
};

ParameterizedTestParameters(calendar, local_time_is_the_c_librarys)
{
	return cr_make_param_array(struct zone_case, zones, sizeof(zones) / sizeof(*zones));
}

ParameterizedTest(struct zone_case *z, calendar, local_time_is_the_c_librarys)
{
	uint64_t random = 88172645463325252;

	print_zone(z->name);
	for (uint64_t s = z->around - 4000; s < z->around + 4000; s += 13)
		cr_assert(eq(str, calendar_text(OUTPUT_SHORT_FULL, s),
			     calendar_expected(OUTPUT_SHORT_FULL, s, false)));
	for (unsigned i = 0; i < 5000; i++) {
		uint64_t s;

		random = random * 6364136223846793005 + 1442695040888963407;
		/* Up to the year 3111, most before 2106. */
		s = 1 + (random >> 16) % (i % 4 ? UINT64_C(1) << 32 : UINT64_C(36028797017));
		cr_assert(eq(str, calendar_text(OUTPUT_SHORT_FULL, s),
			     calendar_expected(OUTPUT_SHORT_FULL, s, false)));
	}
}

ParameterizedTestParameters(calendar, utc_does_not_look_at_the_zone)
{
	return cr_make_param_array(struct zone_case, zones, sizeof(zones) / sizeof(*zones));
}

ParameterizedTest(struct zone_case *z, calendar, utc_does_not_look_at_the_zone)
{
	print_zone(z->name);
	calendar_text(OUTPUT_SHORT_FULL, z->around);
	p.options.flags = OUTPUT_UTC;
	cr_expect(eq(str, calendar_text(OUTPUT_SHORT_FULL, z->around),
		     calendar_expected(OUTPUT_SHORT_FULL, z->around, true)));
}

Test(calendar, modes_that_share_a_cache_do_not_disturb_each_other)
{
	for (unsigned i = 0; i < 2; i++) {
		cr_expect(eq(str, calendar_text(OUTPUT_SHORT, 1714557601),
			     (char *)"May 01 10:00:01"));
		cr_expect(eq(str, calendar_text(OUTPUT_SHORT_ISO, 1714557601),
			     (char *)"2024-05-01T10:00:01+00:00"));
		cr_expect(eq(str, calendar_text(OUTPUT_VERBOSE, 1714557601),
			     (char *)"Wed 2024-05-01 10:00:01.000007 UTC"));
	}
}

Test(calendar, every_day_has_its_date)
{
	for (uint64_t s = 1; s < 36028797018; s += 86400)
		cr_assert(eq(str, calendar_text(OUTPUT_SHORT_FULL, s),
			     calendar_expected(OUTPUT_SHORT_FULL, s, true)));
}

Test(calendar, every_month_has_its_name)
{
	for (uint64_t s = 1704067200; s < 1704067200 + 366 * 86400; s += 86400)
		cr_assert(eq(str, calendar_text(OUTPUT_SHORT, s),
			     calendar_expected(OUTPUT_SHORT, s, true)));
}

struct offset_case {
	char zone[24];
	char offset[8];
};

ParameterizedTestParameters(calendar, iso_offset_takes_its_sign_from_the_hours)
{
	static struct offset_case cases[] = {
		{ "UTC", "+00:00" },
		{ "<x+2>-2", "+02:00" },
		{ "<x+5>-5:45", "+05:45" },
		{ "<x-3>3:30", "-03:30" },
		{ "<x-12>12", "-12:00" },
		{ "<x-0>0:30", "+00:30" },
		{ "<x-0>0:59:59", "+00:59" },
		{ "<x-1>1:00:59", "-01:00" },
	};

	return cr_make_param_array(struct offset_case, cases, sizeof(cases) / sizeof(*cases));
}

ParameterizedTest(struct offset_case *c, calendar, iso_offset_takes_its_sign_from_the_hours)
{
	print_zone(c->zone);
	cr_expect(eq(str, calendar_text(OUTPUT_SHORT_ISO, 1714557601) + 19, c->offset));
}

Test(calendar, fraction_stands_before_the_iso_offset)
{
	print_zone("<x-3>3");
	cr_expect(eq(str, calendar_text(OUTPUT_SHORT_ISO_PRECISE, 1714557601),
		     (char *)"2024-05-01T07:00:01.000007-03:00"));
}

/* Prints a full time in a zone whose name has SIZE letters; returns its size. */
static size_t calendar_size(enum output_mode mode, unsigned size)
{
	char zone[128];

	snprintf(zone, sizeof(zone), "<%.*s>0", (int)size,
		 "AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA");
	print_zone(zone);
	p.cache = (struct output_cache){ 0 };
	return strlen(calendar_text(mode, 1714557601));
}

Test(calendar, zone_name_of_more_than_39_letters_is_left_out)
{
	cr_expect(eq(sz, calendar_size(OUTPUT_SHORT_FULL, 39), 23 + 1 + 39));
	cr_expect(eq(sz, calendar_size(OUTPUT_SHORT_FULL, 40), 23));
}

Test(calendar, zone_name_of_more_than_13_letters_is_left_out_after_a_fraction)
{
	cr_expect(eq(sz, calendar_size(OUTPUT_VERBOSE, 13), 30 + 1 + 13));
	cr_expect(eq(sz, calendar_size(OUTPUT_VERBOSE, 14), 30));
}
