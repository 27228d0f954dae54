/* SPDX-License-Identifier: MIT */
/*
 * Times: which ones an entry is shown with, and how they are written. The broken-down form of a
 * second is kept in the cache, since neighbouring entries share it; local time is the C library's.
 */
#include "formats/output/encode.h"

#include <stdlib.h>
#include <time.h>

#define STAMP_USEC_PER_SEC UINT64_C(1000000)
/* Longest zone name that is written after a full time, without and with its fraction. */
#define STAMP_ZONE_SIZE_MAX 39u
#define STAMP_ZONE_SIZE_MAX_FRACTION 13u

/* The value of a digit in any base up to 16; 16 if it is none. */
static unsigned stamp_digit(uint8_t c)
{
	if (c >= '0' && c <= '9')
		return c - '0';
	if ((c | 0x20) >= 'a' && (c | 0x20) <= 'f')
		return (c | 0x20) - 'a' + 10;
	return 16;
}

/* Skips white space: four characters of it, or all six. */
static const uint8_t *stamp_skip(const uint8_t *p, const uint8_t *end, bool six)
{
	while (p < end && (*p == ' ' || *p == '\t' || *p == '\n' || *p == '\r' ||
			   (six && (*p == '\v' || *p == '\f'))))
		p++;
	return p;
}

/*
 * The general half of stamp_parse(): blanks, signs, bases. The reference looks for 0b and 0o
 * itself, then leaves the rest to strtoull(), which takes blanks and a sign once more; a minus is
 * only refused where the first of the two sees it.
 */
static bool stamp_parse_text(const uint8_t *p, const uint8_t *end, uint64_t *ret_value)
{
	unsigned base = 0;
	bool refused, minus = false;
	uint64_t value = 0;
	const uint8_t *first;

	p = stamp_skip(p, end, false);
	if (end - p >= 2 && p[0] == '0' && ((p[1] | 0x20) == 'b' || (p[1] | 0x20) == 'o')) {
		base = (p[1] | 0x20) == 'b' ? 2 : 8;
		p += 2;
	}
	refused = p < end && *p == '-';
	p = stamp_skip(p, end, true);
	if (p < end && (*p == '+' || *p == '-'))
		minus = *p++ == '-';
	if (base == 0 && end - p >= 3 && p[0] == '0' && (p[1] | 0x20) == 'x') {
		base = 16;
		p += 2;
	} else if (base == 0) {
		base = p < end && *p == '0' ? 8 : 10;
	}
	for (first = p; p < end; p++) {
		unsigned digit = stamp_digit(*p);

		if (digit >= base || __builtin_mul_overflow(value, base, &value) ||
		    __builtin_add_overflow(value, digit, &value))
			return false;
	}
	if (p == first || (refused && value != 0))
		return false;
	*ret_value = minus ? -value : value;
	return true;
}

/* INT() of the behaviour document, unsigned. What follows a NUL is not looked at. */
bool stamp_parse(const uint8_t *text, size_t size, uint64_t *ret_value)
{
	uint64_t value = 0;
	size_t at = 0;

	/* Nearly always: decimal digits that cannot overflow. */
	if (size > 0 && size < 20 && text[0] != '0') {
		while (at < size && (uint8_t)(text[at] - '0') < 10)
			value = value * 10 + (uint8_t)(text[at++] - '0');
		if (at == size) {
			*ret_value = value;
			return true;
		}
	}
	return stamp_parse_text(text, text + strnlen((const char *)text, size), ret_value);
}

/* The times that ENTRY is shown with; SOURCE is its _SOURCE_REALTIME_TIMESTAMP. */
struct stamp_display stamp_display(const struct output_entry *entry, struct text_view source)
{
	struct stamp_display d = { entry->realtime, entry->monotonic };
	uint64_t value;

	if (!source.bytes || !stamp_parse(source.bytes, source.size, &value) || value == 0 ||
	    value >= STAMP_TIME_END)
		return d;
	d.realtime = value;
	if (value >= entry->realtime)
		d.monotonic = entry->monotonic + (value - entry->realtime);
	else if (entry->monotonic > entry->realtime - value)
		d.monotonic = entry->monotonic - (entry->realtime - value);
	else
		d.monotonic = 0;
	return d;
}

/* Writes VALUE, below 100, as two digits; returns what follows them. */
static char *stamp_pair(char *to, int value)
{
	to[0] = (char)('0' + value / 10);
	to[1] = (char)('0' + value % 10);
	return to + 2;
}

/* Writes HH:MM:SS; returns what follows it. */
static char *stamp_clock(char *to, const struct tm *tm)
{
	to = stamp_pair(to, tm->tm_hour);
	*to++ = ':';
	to = stamp_pair(to, tm->tm_min);
	*to++ = ':';
	return stamp_pair(to, tm->tm_sec);
}

/* Writes YYYY-MM-DD; returns what follows it. Years have four digits up to STAMP_TIME_END. */
static char *stamp_date(char *to, const struct tm *tm)
{
	to = stamp_pair(to, (tm->tm_year + 1900) / 100);
	to = stamp_pair(to, (tm->tm_year + 1900) % 100);
	*to++ = '-';
	to = stamp_pair(to, tm->tm_mon + 1);
	*to++ = '-';
	return stamp_pair(to, tm->tm_mday);
}

/* Writes the form of a second in the cache. */
static void stamp_write(struct output_cache *cache, const struct tm *tm, enum stamp_style style,
			bool utc)
{
	static const char weekdays[] = "SunMonTueWedThuFriSat";
	char *to = cache->text;
	long minutes = tm->tm_gmtoff / 60;
	const char *zone = utc ? "UTC" : tm->tm_zone ? tm->tm_zone : "";
	size_t zone_size = strlen(zone);

	switch (style) {
	case STAMP_NONE:
		break;
	case STAMP_SHORT:
		/* The month's name is the locale's. */
		to += strftime(to, sizeof(cache->text) - 16, "%b %d ", tm);
		to = stamp_clock(to, tm);
		cache->split = (uint8_t)(to - cache->text);
		break;
	case STAMP_ISO:
		to = stamp_date(to, tm);
		*to++ = 'T';
		to = stamp_clock(to, tm);
		cache->split = (uint8_t)(to - cache->text);
		/* The sign is that of the whole hours: an offset of less than one gets a plus. */
		*to++ = minutes / 60 < 0 ? '-' : '+';
		to = stamp_pair(to, abs((int)(minutes / 60)));
		*to++ = ':';
		to = stamp_pair(to, abs((int)(minutes % 60)));
		break;
	case STAMP_FULL:
		memcpy(to, weekdays + tm->tm_wday * 3, 3);
		to += 3;
		*to++ = ' ';
		to = stamp_date(to, tm);
		*to++ = ' ';
		to = stamp_clock(to, tm);
		cache->split = (uint8_t)(to - cache->text);
		if (zone_size > 0 && zone_size <= STAMP_ZONE_SIZE_MAX) {
			*to++ = ' ';
			memcpy(to, zone, zone_size);
			to += zone_size;
		}
		break;
	}
	cache->text_size = (uint8_t)(to - cache->text);
}

/* Appends a time of day in the given style, with six digits of its fraction if wanted. */
void stamp_realtime(const struct output_options *options, struct output_cache *cache,
		    struct output_buffer *b, uint64_t realtime, enum stamp_style style,
		    bool fraction)
{
	bool utc = options->flags & OUTPUT_UTC;
	uint64_t second = realtime / STAMP_USEC_PER_SEC;
	uint8_t key = (uint8_t)(style << 1 | utc);
	size_t tail_size;

	if (cache->second != second + 1 || cache->style != key) {
		time_t t = (time_t)second;
		struct tm tm;

		cache->second = 0;
		cache->text_size = cache->split = 0;
		if (utc ? gmtime_r(&t, &tm) : localtime_r(&t, &tm)) {
			stamp_write(cache, &tm, style, utc);
			cache->second = second + 1;
			cache->style = key;
		}
	}
	if (!fraction) {
		output_bytes(b, cache->text, cache->text_size);
		return;
	}
	output_bytes(b, cache->text, cache->split);
	output_byte(b, '.');
	output_decimal_padded(b, realtime % STAMP_USEC_PER_SEC, 6, '0');
	tail_size = (size_t)(cache->text_size - cache->split);
	if (style != STAMP_FULL || tail_size <= STAMP_ZONE_SIZE_MAX_FRACTION + 1)
		output_bytes(b, cache->text + cache->split, tail_size);
}

/* Appends USEC as seconds and six digits, the seconds padded to WIDTH. */
void stamp_seconds(struct output_buffer *b, uint64_t usec, unsigned width)
{
	output_decimal_padded(b, usec / STAMP_USEC_PER_SEC, width, ' ');
	output_byte(b, '.');
	output_decimal_padded(b, usec % STAMP_USEC_PER_SEC, 6, '0');
}
