// SPDX-License-Identifier: MIT
/*
 * Times, lengths of time and sizes, as text, in journalctl's forms.
 *
 * Days have English names: the tables and headers that times are for know no locale.
 */
#include <stdbool.h>
#include <stdio.h>
#include <time.h>

#include "stamp.h"

/* Times past this one are not shown. */
#define STAMP_SECONDS_MAX INT64_C(253402300799)

/* A broken-down time in ZONE. */
static char *stamp_print(const struct tm *tm, const char *zone, char *text)
{
	static const char *const days[7] = { "Sun", "Mon", "Tue", "Wed", "Thu", "Fri", "Sat" };

	if (!tm)
		snprintf(text, STAMP_SIZE, "--- XXXX-XX-XX XX:XX:XX");
	else
		snprintf(text, STAMP_SIZE, "%s %04d-%02d-%02d %02d:%02d:%02d %s", days[tm->tm_wday],
			 tm->tm_year + 1900, tm->tm_mon + 1, tm->tm_mday, tm->tm_hour, tm->tm_min,
			 tm->tm_sec, zone);
	return text;
}

char *stamp_format(uint64_t usec, char *text)
{
	time_t seconds = (time_t)(usec / 1000000);
	struct tm tm;
	bool good = seconds <= STAMP_SECONDS_MAX && localtime_r(&seconds, &tm);

	return stamp_print(good ? &tm : NULL, good ? tm.tm_zone : NULL, text);
}

char *stamp_format_utc(uint64_t usec, char *text)
{
	time_t seconds = (time_t)(usec / 1000000);
	struct tm tm;
	bool good = seconds <= STAMP_SECONDS_MAX && gmtime_r(&seconds, &tm);

	return stamp_print(good ? &tm : NULL, "UTC", text);
}

char *span_format(uint64_t usec, char *text)
{
	static const struct {
		const char *name;
		uint64_t usec;
	} units[] = {
		{ "y", UINT64_C(31557600000000) },
		{ "month", UINT64_C(2629800000000) },
		{ "w", UINT64_C(604800000000) },
		{ "d", UINT64_C(86400000000) },
		{ "h", UINT64_C(3600000000) },
		{ "min", UINT64_C(60000000) },
		{ "s", 1000000 },
		{ "ms", 1000 },
		{ "us", 1 },
	};
	const uint64_t accuracy = 1000;
	size_t at = 0;

	if (usec == 0)
		snprintf(text, STAMP_SIZE, "0");
	for (size_t i = 0; i < sizeof(units) / sizeof(units[0]); i++) {
		uint64_t count = usec / units[i].usec, rest = usec % units[i].usec;
		const char *blank = at > 0 ? " " : "";

		if (usec == 0 || (usec < accuracy && at > 0))
			break;
		if (count == 0)
			continue;
		if (units[i].usec == 1000000 && rest > 0) {
			snprintf(text + at, STAMP_SIZE - at, "%s%llu.%03llus", blank,
				 (unsigned long long)count, (unsigned long long)(rest / accuracy));
			break;
		}
		at += (size_t)snprintf(text + at, STAMP_SIZE - at, "%s%llu%s", blank,
				       (unsigned long long)count, units[i].name);
		usec = rest;
	}
	return text;
}

char *size_format(uint64_t bytes, char *text)
{
	static const char units[] = "BKMGTPE";
	unsigned unit = 0;
	unsigned long long whole, tenth;

	while (unit < 6 && bytes >> 10 * (unit + 1) > 0)
		unit++;
	whole = bytes >> 10 * unit;
	/* The first decimal, of a remainder that is scaled down so as not to overflow. */
	tenth = unit ? ((bytes >> 10 * (unit - 1)) & 1023) * 10 / 1024 : 0;
	if (tenth)
		snprintf(text, STAMP_SIZE, "%llu.%llu%c", whole, tenth, units[unit]);
	else
		snprintf(text, STAMP_SIZE, "%llu%c", whole, units[unit]);
	return text;
}
