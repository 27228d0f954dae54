/* SPDX-License-Identifier: MIT */
/*
 * Times of day in writing. The zone is the C library's; its offset is asked for at both ends of a
 * quarter of an hour, and holds in between if they agree, since asking costs more than everything
 * else that is done for a line. Where they differ, every second is asked for. The written form of
 * the last second is kept too: neighbouring entries share it. Neither changes what is written.
 */
#include "formats/output/encode.h"

#include <langinfo.h>
#include <stdlib.h>
#include <time.h>

#define CALENDAR_USEC_PER_SEC UINT64_C(1000000)
#define CALENDAR_SPAN_SIZE 900u
/* Longest zone name that is written after a full time that has a fraction; without one it may have
 * OUTPUT_ZONE_SIZE_MAX. A longer one is left out. */
#define CALENDAR_ZONE_SIZE_FRACTION_MAX 13u
/* Longest month name that is written: all of them are shorter. */
#define CALENDAR_MONTH_SIZE_MAX 64u

/* A zone at some second. */
struct calendar_zone {
	int32_t offset;
	uint8_t name_size;
	const char *name;
};

/* A second, broken down. */
struct calendar_date {
	unsigned year;
	unsigned month; /* 0 to 11 */
	unsigned day;   /* 1 to 31 */
	unsigned weekday; /* 0 is Sunday */
	unsigned hour;
	unsigned minute;
	unsigned second;
};

/* Asks the C library for the zone at a second. False if it has no answer. */
static bool calendar_ask(uint64_t second, struct calendar_zone *ret_zone)
{
	time_t t = (time_t)second;
	struct tm tm;
	size_t size;

	if (!localtime_r(&t, &tm))
		return false;
	size = tm.tm_zone ? strlen(tm.tm_zone) : 0;
	*ret_zone = (struct calendar_zone){
		.offset = (int32_t)tm.tm_gmtoff,
		.name_size = (uint8_t)(size <= OUTPUT_ZONE_SIZE_MAX ? size : 0),
		.name = tm.tm_zone,
	};
	return true;
}

/* The zone at a second: the cache's, if it holds one for it. */
static bool calendar_zone(struct output_cache *cache, uint64_t second,
			  struct calendar_zone *ret_zone)
{
	uint64_t span = second / CALENDAR_SPAN_SIZE;
	struct calendar_zone first, last;

	if (cache->span != span + 1) {
		if (!calendar_ask(span * CALENDAR_SPAN_SIZE, &first) ||
		    !calendar_ask(span * CALENDAR_SPAN_SIZE + CALENDAR_SPAN_SIZE - 1, &last))
			return false;
		if (first.offset != last.offset || first.name_size != last.name_size ||
		    memcmp(first.name, last.name, first.name_size) != 0)
			return calendar_ask(second, ret_zone);
		cache->span = span + 1;
		cache->zone_offset = first.offset;
		cache->zone_size = first.name_size;
		memcpy(cache->zone, first.name, first.name_size);
	}
	*ret_zone = (struct calendar_zone){ cache->zone_offset, cache->zone_size, cache->zone };
	return true;
}

/*
 * Breaks down a second, given by its local count since 1970, which may be a little below 0. Years
 * are counted from March, so that the leap day is the last of a year, and from the year 0 on, in
 * cycles of 400 years.
 */
static struct calendar_date calendar_break(int64_t local)
{
	struct calendar_date d;
	int64_t shifted = local + INT64_C(719468) * 86400; /* since March 1st of the year 0 */
	unsigned days = (unsigned)(shifted / 86400);
	unsigned clock = (unsigned)(shifted % 86400);
	unsigned cycle = days / 146097;
	unsigned day_of_cycle = days % 146097;
	/* Without its leap days a cycle has 365 days a year. */
	unsigned year_of_cycle = (day_of_cycle - day_of_cycle / 1460 + day_of_cycle / 36524 -
				  day_of_cycle / 146096) /
				 365;
	unsigned leap_days = year_of_cycle / 4 - year_of_cycle / 100;
	unsigned day_of_year = day_of_cycle - 365 * year_of_cycle - leap_days;
	unsigned month = (5 * day_of_year + 2) / 153; /* 0 is March */

	d.day = day_of_year - (153 * month + 2) / 5 + 1;
	d.month = (month + 2) % 12;
	d.year = cycle * 400 + year_of_cycle + (month >= 10);
	d.weekday = (days + 3) % 7; /* the first day was a Wednesday */
	d.hour = clock / 3600;
	d.minute = clock / 60 % 60;
	d.second = clock % 60;
	return d;
}

/* Writes HH:MM:SS; returns what follows it. */
static uint8_t *calendar_clock(uint8_t *to, const struct calendar_date *d)
{
	to = put_pair(to, d->hour);
	*to++ = ':';
	to = put_pair(to, d->minute);
	*to++ = ':';
	return put_pair(to, d->second);
}

/* Writes YYYY-MM-DD; returns what follows it. Years have four digits up to STAMP_TIME_END. */
static uint8_t *calendar_day(uint8_t *to, const struct calendar_date *d)
{
	to = put_pair(to, d->year / 100);
	to = put_pair(to, d->year % 100);
	*to++ = '-';
	to = put_pair(to, d->month + 1);
	*to++ = '-';
	return put_pair(to, d->day);
}

/* Writes the abbreviated name of a month in the locale's language; returns what follows it. */
static uint8_t *calendar_month(uint8_t *to, unsigned month)
{
	const char *name = nl_langinfo(ABMON_1 + (int)month);
	size_t size = strnlen(name, CALENDAR_MONTH_SIZE_MAX);

	memcpy(to, name, size);
	return to + size;
}

/* Writes an offset as hours and minutes; returns what follows it. The sign is that of the whole
 * hours: an offset of less than one hour gets a plus, whichever side of UTC it is on. */
static uint8_t *calendar_offset(uint8_t *to, int offset)
{
	int minutes = offset / 60;

	*to++ = minutes / 60 < 0 ? '-' : '+';
	to = put_pair(to, (unsigned)abs(minutes / 60));
	*to++ = ':';
	return put_pair(to, (unsigned)abs(minutes % 60));
}

/* Writes the form of a second in the cache, and notes where its fraction goes. */
static void calendar_write(struct output_cache *cache, uint64_t second, enum stamp_style style,
			   const struct calendar_zone *zone)
{
	static const char weekdays[] = "SunMonTueWedThuFriSat";
	struct calendar_date d = calendar_break((int64_t)second + zone->offset);
	uint8_t *to = cache->text;

	switch (style) {
	case STAMP_SHORT:
		to = calendar_month(to, d.month);
		*to++ = ' ';
		to = put_pair(to, d.day);
		*to++ = ' ';
		to = calendar_clock(to, &d);
		cache->split = (uint8_t)(to - cache->text);
		break;
	case STAMP_ISO:
		to = calendar_day(to, &d);
		*to++ = 'T';
		to = calendar_clock(to, &d);
		cache->split = (uint8_t)(to - cache->text);
		to = calendar_offset(to, zone->offset);
		break;
	case STAMP_FULL:
		memcpy(to, weekdays + d.weekday * 3, 3);
		to[3] = ' ';
		to = calendar_day(to + 4, &d);
		*to++ = ' ';
		to = calendar_clock(to, &d);
		cache->split = (uint8_t)(to - cache->text);
		if (zone->name_size > 0) {
			*to++ = ' ';
			memcpy(to, zone->name, zone->name_size);
			to += zone->name_size;
		}
		break;
	}
	cache->text_size = (uint8_t)(to - cache->text);
}

/* Appends a time of day in the given style, with six digits of its fraction if wanted. */
void calendar_time(const struct output_options *options, struct output_cache *cache,
		   struct output_buffer *b, uint64_t realtime, enum stamp_style style,
		   bool fraction)
{
	bool utc = options->flags & OUTPUT_UTC;
	uint64_t second = realtime / CALENDAR_USEC_PER_SEC;
	uint8_t key = (uint8_t)(style << 1 | utc);
	struct calendar_zone zone = { 0, 3, "UTC" };
	size_t tail_size;
	uint8_t *to;

	if (cache->second != second + 1 || cache->style != key) {
		cache->second = 0;
		if (!utc && !calendar_zone(cache, second, &zone))
			return;
		calendar_write(cache, second, style, &zone);
		cache->second = second + 1;
		cache->style = key;
	}
	if (!output_reserve(b, sizeof(cache->text) + 7 + VEC16_SLACK))
		return;
	to = b->bytes + b->size;
	if (!fraction) {
		short_copy(to, cache->text, cache->text_size);
		b->size += cache->text_size;
		return;
	}
	short_copy(to, cache->text, cache->split);
	to += cache->split;
	*to++ = '.';
	to = put_digits(to, realtime % CALENDAR_USEC_PER_SEC, 6);
	tail_size = (size_t)(cache->text_size - cache->split);
	if (style != STAMP_FULL || tail_size <= CALENDAR_ZONE_SIZE_FRACTION_MAX + 1) {
		short_copy(to, cache->text + cache->split, tail_size);
		to += tail_size;
	}
	b->size = (size_t)(to - b->bytes);
}
