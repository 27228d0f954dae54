// SPDX-License-Identifier: MIT
/*
 * Points in time and lengths of time, from text, in the forms that systemd accepts.
 *
 * A result depends on the text, on what now is, and on the time zone alone. Dates are read with the
 * C library's strptime() and mktime(), since journalctl's odd cases are theirs: blanks that may be
 * missing, the 31st of a short month, a 61st second, hours that a clock skips. A zone that is named
 * is put into the environment for the time of one conversion, so this must not run beside other
 * threads. Nothing here prints.
 */
#include <ctype.h>
#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <time.h>
#include <unistd.h>

#include "timespec.h"

#define BLANKS " \t\n\r"
#define DIGITS "0123456789"

#define USEC_PER_SEC UINT64_C(1000000)
#define USEC_PER_DAY (UINT64_C(86400) * USEC_PER_SEC)

/* Where a date stands. */
struct zone {
	bool utc;      /* universal time, from which it differs by ... */
	long offset;   /* ... so many seconds, east positive */
	int is_dst;    /* for mktime(): -1 unless the text says summer or winter */
	char name[64]; /* of the zone database; empty: the process's own zone */
};

/* ---- lengths ---------------------------------------------------------------------------- */

/* The unit that TEXT begins with, the longest one, in microseconds. Returns its length. */
static size_t timespan_unit(const char *text, uint64_t *ret_usec)
{
	static const struct {
		const char *name;
		uint64_t usec;
	} units[] = {
		{ "seconds", USEC_PER_SEC },
		{ "second", USEC_PER_SEC },
		{ "sec", USEC_PER_SEC },
		{ "s", USEC_PER_SEC },
		{ "minutes", 60 * USEC_PER_SEC },
		{ "minute", 60 * USEC_PER_SEC },
		{ "min", 60 * USEC_PER_SEC },
		{ "months", UINT64_C(2629800) * USEC_PER_SEC },
		{ "month", UINT64_C(2629800) * USEC_PER_SEC },
		{ "M", UINT64_C(2629800) * USEC_PER_SEC },
		{ "msec", 1000 },
		{ "ms", 1000 },
		{ "m", 60 * USEC_PER_SEC },
		{ "hours", 3600 * USEC_PER_SEC },
		{ "hour", 3600 * USEC_PER_SEC },
		{ "hr", 3600 * USEC_PER_SEC },
		{ "h", 3600 * USEC_PER_SEC },
		{ "days", USEC_PER_DAY },
		{ "day", USEC_PER_DAY },
		{ "d", USEC_PER_DAY },
		{ "weeks", 7 * USEC_PER_DAY },
		{ "week", 7 * USEC_PER_DAY },
		{ "w", 7 * USEC_PER_DAY },
		{ "years", UINT64_C(31557600) * USEC_PER_SEC },
		{ "year", UINT64_C(31557600) * USEC_PER_SEC },
		{ "y", UINT64_C(31557600) * USEC_PER_SEC },
		{ "usec", 1 },
		{ "us", 1 },
		{ "\xce\xbcs", 1 }, /* Greek small letter mu */
		{ "\xc2\xb5s", 1 }, /* micro sign */
	};

	for (size_t i = 0; i < sizeof(units) / sizeof(units[0]); i++) {
		size_t size = strlen(units[i].name);

		if (strncmp(text, units[i].name, size) == 0) {
			*ret_usec = units[i].usec;
			return size;
		}
	}
	*ret_usec = USEC_PER_SEC;
	return 0;
}

/* Adds VALUE times UNIT to *USEC. */
static int timespan_add(uint64_t value, uint64_t unit, uint64_t *usec)
{
	uint64_t product;

	if (__builtin_mul_overflow(value, unit, &product) ||
	    __builtin_add_overflow(*usec, product, usec) || *usec == TIMESPAN_INFINITE)
		return -ERANGE;
	return 0;
}

/* Takes one number and its unit. */
static int timespan_take(const char **text, uint64_t *usec)
{
	const char *number = *text, *fraction = NULL, *p;
	uint64_t value = 0, unit;
	size_t size;
	int r;

	if (*number == '-')
		return -ERANGE;
	number += *number == '+';
	size = strspn(number, DIGITS);
	for (size_t i = 0; i < size; i++)
		if (__builtin_mul_overflow(value, 10, &value) ||
		    __builtin_add_overflow(value, (uint64_t)(number[i] - '0'), &value) ||
		    value > INT64_MAX)
			return -ERANGE;
	p = number + size;
	if (*p == '.') {
		fraction = p + 1;
		p = fraction + strspn(fraction, DIGITS);
		if (p == fraction)
			return -EINVAL;
	} else if (size == 0) {
		return -EINVAL;
	}
	p += strspn(p, BLANKS);
	size = timespan_unit(p, &unit);
	/* Numbers without a unit need a blank between them. */
	if (size == 0 && *p && !strchr(BLANKS, p[-1]))
		return -EINVAL;
	r = value < UINT64_MAX / unit ? timespan_add(value, unit, usec) : -ERANGE;
	for (uint64_t part = unit / 10; fraction && isdigit((unsigned char)*fraction) && r == 0;
	     fraction++, part /= 10)
		r = timespan_add((uint64_t)(*fraction - '0'), part, usec);
	*text = p + size;
	return r;
}

int timespan_parse(const char *text, uint64_t *ret_usec)
{
	uint64_t usec = 0;
	int r = 0;

	text += strspn(text, BLANKS);
	if (strncmp(text, "infinity", 8) == 0) {
		text += 8;
		if (text[strspn(text, BLANKS)])
			return -EINVAL;
		*ret_usec = TIMESPAN_INFINITE;
		return 0;
	}
	if (!*text)
		return -EINVAL;
	while (*text && r == 0) {
		r = timespan_take(&text, &usec);
		text += strspn(text, BLANKS);
	}
	if (r == 0)
		*ret_usec = usec;
	return r;
}

/* ---- zones ------------------------------------------------------------------------------ */

/* The process's zone, put aside while another one is used. */
struct zone_saved {
	char *name; /* NULL: there was none */
	bool changed;
};

/* Makes a zone of the database the process's. */
static int zone_enter(const struct zone *zone, struct zone_saved *saved)
{
	const char *name = getenv("TZ");

	*saved = (struct zone_saved){ 0 };
	if (!*zone->name)
		return 0;
	if (name) {
		saved->name = strdup(name);
		if (!saved->name)
			return -ENOMEM;
	}
	if (setenv("TZ", zone->name, 1) < 0) {
		free(saved->name);
		return -ENOMEM;
	}
	saved->changed = true;
	tzset();
	return 0;
}

/* Goes back to the process's own zone. */
static void zone_leave(struct zone_saved *saved)
{
	if (!saved->changed)
		return;
	if (saved->name)
		setenv("TZ", saved->name, 1);
	else
		unsetenv("TZ");
	free(saved->name);
	tzset();
}

/* True if NAME is a zone of the database. */
static bool zone_is_known(const char *name)
{
	char path[128], head[4];
	ssize_t size;
	int fd;

	if (!*name || *name == '/' || name[strlen(name) - 1] == '/' || strstr(name, "//") ||
	    name[strspn(name, DIGITS "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ-_+/")])
		return false;
	if (snprintf(path, sizeof(path), "/usr/share/zoneinfo/%s", name) >= (int)sizeof(path))
		return false;
	fd = open(path, O_RDONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK);
	if (fd < 0)
		return false;
	size = read(fd, head, sizeof(head));
	close(fd);
	return size == sizeof(head) && memcmp(head, "TZif", sizeof(head)) == 0;
}

/* An offset such as "+02:00" or "Z", the whole of TEXT. */
static int zone_offset(const char *text, long *ret_offset)
{
	struct tm tm = { 0 };
	const char *end = strptime(text, "%z", &tm);

	if (!end || *end || labs(tm.tm_gmtoff) > 24 * 60 * 60)
		return -EINVAL;
	*ret_offset = tm.tm_gmtoff;
	return 0;
}

/* The zone that the last word of a date names, if it names one. */
static bool zone_parse(const char *word, struct zone *ret_zone)
{
	struct zone zone = { .is_dst = -1 };

	if (strcmp(word, "UTC") == 0) {
		zone.utc = true;
		*ret_zone = zone;
		return true;
	}
	if (zone_offset(word, &zone.offset) == 0) {
		zone.utc = true;
		*ret_zone = zone;
		return true;
	}
	tzset();
	for (int i = 0; i < 2; i++)
		if (*word && strcmp(tzname[i], word) == 0) {
			zone.is_dst = i;
			*ret_zone = zone;
			return true;
		}
	if (strlen(word) >= sizeof(zone.name) || !zone_is_known(word))
		return false;
	memcpy(zone.name, word, strlen(word) + 1);
	*ret_zone = zone;
	return true;
}

/* ---- dates ------------------------------------------------------------------------------ */

/* A date as far as it has been read. */
struct date {
	struct tm tm;
	int weekday;            /* that it must be; -1: any */
	uint64_t fraction_usec; /* of a second */
};

/* True if TEXT begins with WORD, in any case. */
static bool date_begins(const char *text, const char *word)
{
	return strncasecmp(text, word, strlen(word)) == 0;
}

/* Passes over a weekday and the blank behind it. */
static const char *date_weekday(const char *text, struct date *date)
{
	static const char *const names[7] = { "Sunday",   "Monday", "Tuesday", "Wednesday",
					      "Thursday", "Friday", "Saturday" };

	date->weekday = -1;
	for (int i = 0; i < 7; i++) {
		size_t size = strlen(names[i]);

		if (!date_begins(text, names[i])) {
			if (strncasecmp(text, names[i], 3) != 0)
				continue;
			size = 3;
		}
		if (text[size] != ' ')
			continue;
		date->weekday = i;
		return text + size + 1;
	}
	return text;
}

/* Digits of a second behind its point: six count, the seventh rounds. */
static const char *date_fraction(const char *text, uint64_t *ret_usec)
{
	uint64_t usec = 0;
	size_t digits = strspn(text, DIGITS);

	if (digits == 0)
		return NULL;
	for (size_t i = 0; i < 6; i++)
		usec = usec * 10 + (i < digits ? (uint64_t)(text[i] - '0') : 0);
	*ret_usec = usec + (digits > 6 && text[6] >= '5');
	return text + digits;
}

/* Reads a date and time in one of the accepted forms. */
static int date_read(const char *text, struct date *date)
{
	static const struct {
		const char *format;
		bool seconds; /* it ends with them, and with their fraction */
		bool time;
	} forms[] = {
		{ "%y-%m-%d %H:%M:%S", true, true },
		{ "%Y-%m-%d %H:%M:%S", true, true },
		{ "%Y-%m-%dT%H:%M:%S", true, true },
		{ "%b %d %H:%M:%S", true, true },
		{ "%y-%m-%d %H:%M", false, true },
		{ "%Y-%m-%d %H:%M", false, true },
		{ "%Y-%m-%dT%H:%M", false, true },
		{ "%y-%m-%d", false, false },
		{ "%Y-%m-%d", false, false },
		{ "%H:%M:%S", true, true },
		{ "%H:%M", false, true },
	};
	const struct tm today = date->tm;

	for (size_t i = 0; i < sizeof(forms) / sizeof(forms[0]); i++) {
		const char *end;

		date->tm = today;
		date->fraction_usec = 0;
		end = strptime(text, forms[i].format, &date->tm);
		if (!end)
			continue;
		if (forms[i].seconds && *end == '.')
			end = date_fraction(end + 1, &date->fraction_usec);
		if (!end || *end)
			continue;
		if (!forms[i].seconds)
			date->tm.tm_sec = 0;
		if (!forms[i].time)
			date->tm.tm_hour = date->tm.tm_min = 0;
		return 0;
	}
	return -EINVAL;
}

/* Turns a date in a zone into a time. */
static int date_time(struct date *date, const struct zone *zone, uint64_t *ret_usec)
{
	time_t t;

	date->tm.tm_isdst = zone->is_dst;
	t = zone->utc ? timegm(&date->tm) : mktime(&date->tm);
	if (date->weekday >= 0 && date->tm.tm_wday != date->weekday)
		return -EINVAL;
	t -= zone->offset;
	if (t < 0 || (uint64_t)t > TIMESPEC_USEC_MAX / USEC_PER_SEC)
		return -ERANGE;
	*ret_usec = (uint64_t)t * USEC_PER_SEC + date->fraction_usec;
	return *ret_usec > TIMESPEC_USEC_MAX ? -ERANGE : 0;
}

/* A day by its name: "today" and its neighbours. */
static bool date_is_day(const char *text, int *ret_days)
{
	if (strcmp(text, "today") == 0)
		*ret_days = 0;
	else if (strcmp(text, "yesterday") == 0)
		*ret_days = -1;
	else if (strcmp(text, "tomorrow") == 0)
		*ret_days = 1;
	else
		return false;
	return true;
}

/* A date in a zone. What it leaves out is taken from today, as it is in universal time where the
 * text has an offset from that, else here. */
static int date_parse(const char *text, const struct zone *zone, uint64_t now_usec,
		      uint64_t *ret_usec)
{
	time_t now = (time_t)(now_usec / USEC_PER_SEC);
	struct date date = { .weekday = -1 };
	struct zone_saved saved;
	int days, r;

	if (zone->utc)
		gmtime_r(&now, &date.tm);
	else
		localtime_r(&now, &date.tm);
	r = zone_enter(zone, &saved);
	if (r < 0)
		return r;
	if (date_is_day(text, &days)) {
		date.tm.tm_mday += days;
		date.tm.tm_hour = date.tm.tm_min = date.tm.tm_sec = 0;
	} else {
		r = date_read(date_weekday(text, &date), &date);
	}
	if (r == 0)
		r = date_time(&date, zone, ret_usec);
	zone_leave(&saved);
	return r;
}

/* ---- both ------------------------------------------------------------------------------- */

/* A length of time of SIZE bytes before or after now. */
static int timespec_relative(const char *text, size_t size, bool before, uint64_t now_usec,
			     uint64_t *ret_usec)
{
	char *span_text = strndup(text, size);
	uint64_t span;
	int r;

	if (!span_text)
		return -ENOMEM;
	r = timespan_parse(span_text, &span);
	free(span_text);
	if (r < 0)
		return r;
	if (before ? span > now_usec : span > TIMESPEC_USEC_MAX - now_usec)
		return -ERANGE;
	*ret_usec = before ? now_usec - span : now_usec + span;
	return 0;
}

/* True if TEXT ends with SUFFIX; its length without it. */
static bool timespec_ends(const char *text, const char *suffix, size_t *ret_size)
{
	size_t size = strlen(text), end = strlen(suffix);

	if (size < end || strcmp(text + size - end, suffix) != 0)
		return false;
	*ret_size = size - end;
	return true;
}

/* What stands without a date and a zone: now, or so long before or after it, or after 1970. */
static int timespec_parse_simple(const char *text, uint64_t now_usec, uint64_t *ret_usec)
{
	const char *space = strrchr(text, ' ');
	long offset;
	size_t size;

	/* What looks like an offset is one, although it could be a number with a sign. */
	if (strchr("+-@", *text) && space && zone_offset(space + 1, &offset) == 0)
		return -EINVAL;
	if (strcmp(text, "now") == 0) {
		*ret_usec = now_usec;
		return 0;
	}
	if (*text == '+' || *text == '-')
		return timespec_relative(text + 1, strlen(text + 1), *text == '-', now_usec,
					 ret_usec);
	if (*text == '@')
		return timespan_parse(text + 1, ret_usec);
	if (timespec_ends(text, " ago", &size))
		return timespec_relative(text, size, true, now_usec, ret_usec);
	if (timespec_ends(text, " left", &size))
		return timespec_relative(text, size, false, now_usec, ret_usec);
	return -ENOENT;
}

/* A date whose zone is attached to it: "Z" or an offset of six characters. */
static int timespec_parse_attached(char *text, uint64_t now_usec, uint64_t *ret_usec)
{
	struct zone zone = { .utc = true, .is_dst = -1 };
	size_t size = strlen(text);
	char *end = NULL, kept;
	int r;

	if (size > 2 && text[size - 1] == 'Z' && text[size - 2] != ' ')
		end = text + size - 1;
	else if (size > 7 && (text[size - 6] == '+' || text[size - 6] == '-') &&
		 text[size - 7] != ' ' && zone_offset(text + size - 6, &zone.offset) == 0)
		end = text + size - 6;
	if (!end)
		return -EINVAL;
	kept = *end;
	*end = '\0';
	r = date_parse(text, &zone, now_usec, ret_usec);
	*end = kept;
	return r;
}

/* A date, and perhaps a zone. TEXT is changed. */
static int timespec_parse_date(char *text, uint64_t now_usec, uint64_t *ret_usec)
{
	struct zone zone = { .is_dst = -1 };
	char *space = strrchr(text, ' ');
	int r = timespec_parse_attached(text, now_usec, ret_usec);

	if (r != -EINVAL)
		return r;
	if (space && zone_parse(space + 1, &zone))
		*space = '\0';
	return date_parse(text, &zone, now_usec, ret_usec);
}

int timespec_parse(const char *text, uint64_t now_usec, uint64_t *ret_usec)
{
	uint64_t usec;
	char *copy;
	int r = timespec_parse_simple(text, now_usec, &usec);

	if (r == -ENOENT) {
		copy = strdup(text);
		if (!copy)
			return -ENOMEM;
		r = timespec_parse_date(copy, now_usec, &usec);
		free(copy);
	}
	if (r == 0)
		*ret_usec = usec;
	return r;
}
