// SPDX-License-Identifier: MIT
/*
 * Times and lengths of time, from text. The expectations were taken from journalctl 262, which says
 * whether --since= is before --until=.
 */
#include <errno.h>
#include <stdlib.h>
#include <time.h>
#include <criterion/criterion.h>
#include <criterion/new/assert.h>

#include "timespec.h"

/* Wed 2024-05-01 10:20:30.5 UTC. */
#define NOW UINT64_C(1714558830500000)
#define SEC UINT64_C(1000000)
#define DAY (UINT64_C(86400) * SEC)

/* One text and what it means, 0: it is refused. */
struct time_case {
	const char *text;
	uint64_t usec;
};

/* Makes a zone the process's. */
static void enter(const char *zone)
{
	setenv("TZ", zone, 1);
	tzset();
}

/* Checks texts against what they mean in a zone. */
static void expect(const char *zone, const struct time_case *cases, size_t count)
{
	enter(zone);
	for (size_t i = 0; i < count; i++) {
		uint64_t usec = 0;
		int r = timespec_parse(cases[i].text, NOW, &usec);

		cr_expect(eq(u64, usec, cases[i].usec), "'%s' in %s", cases[i].text, zone);
		cr_expect(eq(int, r == 0, cases[i].usec != 0), "'%s' in %s", cases[i].text, zone);
	}
}

#define EXPECT(zone, cases) expect(zone, cases, sizeof(cases) / sizeof(cases[0]))

Test(timespec, dates_may_lack_parts)
{
	static const struct time_case cases[] = {
		{ "2024-05-01 18:07:55", UINT64_C(1714586875) * SEC },
		{ "2024-05-01T18:07:55", UINT64_C(1714586875) * SEC },
		{ "24-05-01 18:07:55", UINT64_C(1714586875) * SEC },
		{ "May 01 18:07:55", UINT64_C(1714586875) * SEC },
		{ "may 1 18:07:55", UINT64_C(1714586875) * SEC },
		{ "MAY 1 18:07:55", UINT64_C(1714586875) * SEC },
		{ "2024-05-01 18:07", UINT64_C(1714586820) * SEC },
		{ "2024-05-01T18:07", UINT64_C(1714586820) * SEC },
		{ "24-05-01 18:07", UINT64_C(1714586820) * SEC },
		{ "2024-05-01", UINT64_C(1714521600) * SEC },
		{ "24-05-01", UINT64_C(1714521600) * SEC },
		{ "18:07:55", UINT64_C(1714586875) * SEC },
		{ "18:07", UINT64_C(1714586820) * SEC },
		{ "2024-5-1 1:2:3", UINT64_C(1714525323) * SEC },
		{ " 2024-05-01   18:07:55", UINT64_C(1714586875) * SEC },
		{ "69-01-01", 0 },
		{ "70-01-02", DAY },
		{ "68-01-01", UINT64_C(3092601600) * SEC },
		{ "9999-12-30 23:59:59", TIMESPEC_USEC_MAX },
		{ "9999-12-31", 0 },
	};
	static const struct time_case refused[] = {
		{ "", 0 },
		{ " ", 0 },
		{ "noon", 0 },
		{ "last week", 0 },
		{ "1714557600", 0 },
		{ "2012/11/23", 0 },
		{ "2024-05-01 24:00:00", 0 },
		{ "2024-05-01 10:60", 0 },
		{ "2024-05-01 10:00:62", 0 },
		{ "2024-13-01", 0 },
		{ "2024-05-32", 0 },
		{ "2024-00-01", 0 },
		{ "2024-05-01 ", 0 },
		{ "2024-05-01 10:00 x", 0 },
		{ "2024-05-01t10:00", 0 },
		{ "10000-01-01", 0 },
		{ "1969-12-31", 0 },
		{ "Today", 0 },
		{ "May 1", 0 },
	};

	EXPECT("UTC", cases);
	EXPECT("UTC", refused);
}

Test(timespec, what_a_calendar_lacks_rolls_over)
{
	static const struct time_case cases[] = {
		{ "2024-04-31", UINT64_C(1714521600) * SEC },
		{ "2023-02-29", UINT64_C(1677628800) * SEC },
		{ "2024-05-01 23:59:60", UINT64_C(1714608000) * SEC },
		{ "2024-05-01 23:59:61", UINT64_C(1714608001) * SEC },
	};

	EXPECT("UTC", cases);
}

Test(timespec, six_decimals_count_and_the_seventh_rounds)
{
	static const struct time_case cases[] = {
		{ "2024-05-01 00:00:00.5", UINT64_C(1714521600500000) },
		{ "2024-05-01 00:00:00.000001", UINT64_C(1714521600000001) },
		{ "2024-05-01 00:00:00.0000014", UINT64_C(1714521600000001) },
		{ "2024-05-01 00:00:00.0000015", UINT64_C(1714521600000002) },
		{ "2024-05-01 00:00:00.9999999", UINT64_C(1714521601000000) },
		{ "2024-05-01T00:00:00.25Z", UINT64_C(1714521600250000) },
		{ "00:00:00.25", UINT64_C(1714521600250000) },
		{ "2024-05-01 00:00:00.", 0 },
		{ "2024-05-01 00:00.5", 0 },
		{ "9999-12-30 23:59:58.9999999", TIMESPEC_USEC_MAX },
		{ "9999-12-30 23:59:59.000001", 0 },
	};

	EXPECT("UTC", cases);
}

Test(timespec, a_weekday_must_be_right)
{
	static const struct time_case cases[] = {
		{ "Wed 2024-05-01", UINT64_C(1714521600) * SEC },
		{ "wednesday 2024-05-01", UINT64_C(1714521600) * SEC },
		{ "WED 2024-05-01", UINT64_C(1714521600) * SEC },
		{ "Tue 2024-05-01", 0 },
		{ "Wednes 2024-05-01", 0 },
		{ "Wed, 2024-05-01", 0 },
		{ "Wed", 0 },
		{ "Wed 10:00", UINT64_C(1714557600) * SEC },
		{ "Thu 10:00", 0 },
		{ "Wed 2024-04-31", UINT64_C(1714521600) * SEC },
	};

	EXPECT("UTC", cases);
}

Test(timespec, days_have_names)
{
	static const struct time_case utc[] = {
		{ "today", UINT64_C(1714521600) * SEC },
		{ "yesterday", UINT64_C(1714521600) * SEC - DAY },
		{ "tomorrow", UINT64_C(1714521600) * SEC + DAY },
		{ "now", NOW },
		{ "today UTC", UINT64_C(1714521600) * SEC },
		{ "now UTC", 0 },
	};
	/* It is still the thirtieth in Pago Pago; a named zone takes that day, an offset does not.
	 */
	static const struct time_case pago_pago[] = {
		{ "today", UINT64_C(1714474800) * SEC },
		{ "today UTC", UINT64_C(1714521600) * SEC },
		{ "today +01:00", UINT64_C(1714518000) * SEC },
		{ "today Europe/Berlin", UINT64_C(1714428000) * SEC },
	};

	EXPECT("UTC", utc);
	EXPECT("Pacific/Pago_Pago", pago_pago);
}

Test(timespec, a_zone_may_stand_behind_a_date)
{
	static const struct time_case cases[] = {
		{ "2024-05-01 10:00", UINT64_C(1714550400) * SEC },
		{ "2024-05-01 10:00 UTC", UINT64_C(1714557600) * SEC },
		{ "2024-05-01 10:00Z", UINT64_C(1714557600) * SEC },
		{ "2024-05-01 10:00 Z", UINT64_C(1714557600) * SEC },
		{ "2024-05-01 10:00+02:00", UINT64_C(1714550400) * SEC },
		{ "2024-05-01 10:00 +02:00", UINT64_C(1714550400) * SEC },
		{ "2024-05-01 10:00 +0200", UINT64_C(1714550400) * SEC },
		{ "2024-05-01 10:00 +02", UINT64_C(1714550400) * SEC },
		{ "2024-05-01 10:00 -05:30", UINT64_C(1714577400) * SEC },
		{ "2024-05-01 10:00 Asia/Tokyo", UINT64_C(1714525200) * SEC },
		{ "2024-05-01-05:00", UINT64_C(1714539600) * SEC },
		{ "2024-05-01 UTC", UINT64_C(1714521600) * SEC },
		{ "10:00 UTC", UINT64_C(1714557600) * SEC },
		{ "2024-05-01 10:00 +24", UINT64_C(1714471200) * SEC },
		{ "2024-05-01 10:00 +25", 0 },
		{ "2024-05-01 10:00-24:01", 0 },
		{ "2024-05-01 10:00+0200", 0 },
		{ "2024-05-01 10:00+02", 0 },
		{ "2024-05-01 10:00 utc", 0 },
		{ "2024-05-01 10:00 Nowhere/Here", 0 },
		{ "2024-05-01 10:00 ../../etc/passwd", 0 },
		{ "2024-05-01 10:00 /Asia/Tokyo", 0 },
		{ "@1714557600 UTC", 0 },
	};

	EXPECT("Europe/Berlin", cases);
	cr_expect(eq(str, getenv("TZ"), (char *)"Europe/Berlin"));
}

Test(timespec, an_abbreviation_tells_summer_from_winter)
{
	static const struct time_case cases[] = {
		{ "2024-10-27 02:30", UINT64_C(1729992600) * SEC },
		{ "2024-10-27 02:30 CEST", UINT64_C(1729989000) * SEC },
		{ "2024-10-27 02:30 CET", UINT64_C(1729992600) * SEC },
		{ "2024-07-01 12:00 CET", UINT64_C(1719831600) * SEC },
		{ "2024-03-31 01:59:59", UINT64_C(1711846799) * SEC },
		{ "2024-03-31 03:00", UINT64_C(1711846800) * SEC },
	};

	EXPECT("Europe/Berlin", cases);
}

Test(timespec, lengths_count_from_now_or_from_1970)
{
	static const struct time_case cases[] = {
		{ "@1714557600", UINT64_C(1714557600) * SEC },
		{ "@1714557600.25", UINT64_C(1714557600250000) },
		{ "@1h", 3600 * SEC },
		{ "@ 5", 5 * SEC },
		{ "@infinity", TIMESPAN_INFINITE },
		{ "-1h", NOW - 3600 * SEC },
		{ "+5s", NOW + 5 * SEC },
		{ "- 2 days", NOW - 2 * DAY },
		{ "2 days ago", NOW - 2 * DAY },
		{ "1h 30min ago", NOW - 5400 * SEC },
		{ "3 weeks left", NOW + 21 * DAY },
		{ "@", 0 },
		{ "@-1", 0 },
		{ "ago", 0 },
		{ " ago", 0 },
		{ "2 daysago", 0 },
		{ "100 years ago", 0 },
		{ "+9000y", 0 },
		{ "-infinity", 0 },
		{ "+infinity", 0 },
		{ "@253402300800", UINT64_C(253402300800) * SEC },
		{ "@18446744073708", UINT64_C(18446744073708) * SEC },
		{ "@18446744073709", 0 },
		{ "@1 2", 3 * SEC },
		{ "@1 +2", 3 * SEC },
		{ "@1 +02", 0 },
		{ "-1h +02", 0 },
	};

	EXPECT("UTC", cases);
}

Test(timespec, lengths_have_units_and_decimals)
{
	static const struct time_case good[] = {
		{ "1", SEC },
		{ "1us", 1 },
		{ "1usec", 1 },
		{ "1\xc2\xb5s", 1 },
		{ "1\xce\xbcs", 1 },
		{ "1ms", 1000 },
		{ "1msec", 1000 },
		{ "1s", SEC },
		{ "1sec", SEC },
		{ "2 seconds", 2 * SEC },
		{ "1m", 60 * SEC },
		{ "1min", 60 * SEC },
		{ "1M", UINT64_C(2629800) * SEC },
		{ "1month", UINT64_C(2629800) * SEC },
		{ "1h", 3600 * SEC },
		{ "1hr", 3600 * SEC },
		{ "1d", DAY },
		{ "1w", 7 * DAY },
		{ "1y", UINT64_C(31557600) * SEC },
		{ "1.5h", 5400 * SEC },
		{ ".5", SEC / 2 },
		{ "2.5s 1ms", 2501000 },
		{ "1h30min5", 5405 * SEC },
		{ "1 2", 3 * SEC },
		{ " 7 s ", 7 * SEC },
		{ "+3", 3 * SEC },
		{ "infinity", TIMESPAN_INFINITE },
		{ " infinity ", TIMESPAN_INFINITE },
	};
	static const char *const bad[] = { "",    " ",     "-1",        "5.",
					   "1.s", "x",     "1x",        "1H",
					   "1,5", "0x10",  "1.2.3",     "1e3",
					   "s",   "1 - 2", "infinityx", "99999999999999999999" };
	uint64_t usec;

	for (size_t i = 0; i < sizeof(good) / sizeof(good[0]); i++) {
		cr_expect(eq(int, timespan_parse(good[i].text, &usec), 0), "'%s'", good[i].text);
		cr_expect(eq(u64, usec, good[i].usec), "'%s'", good[i].text);
	}
	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++)
		cr_expect(lt(int, timespan_parse(bad[i], &usec), 0), "'%s'", bad[i]);
}
