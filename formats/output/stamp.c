/* SPDX-License-Identifier: MIT */
/*
 * Times as numbers: which ones an entry is shown with, how one is read from a field, and how it is
 * written in seconds. See calendar.c for times of day.
 */
#include "formats/output/encode.h"

#define STAMP_USEC_PER_SEC UINT64_C(1000000)

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
static bool stamp_parse(const uint8_t *text, size_t size, uint64_t *ret_value)
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

/* Appends USEC as seconds and six digits, the seconds padded with spaces to WIDTH. */
void stamp_seconds(struct output_buffer *b, uint64_t usec, unsigned width)
{
	uint64_t seconds = usec / STAMP_USEC_PER_SEC;
	unsigned size = put_decimal_size(seconds);
	uint8_t *to;

	if (!output_reserve(b, width + PUT_DECIMAL_SIZE_MAX + 7 + VEC16_SLACK))
		return;
	to = b->bytes + b->size;
	for (; size < width; width--)
		*to++ = ' ';
	to = put_digits(to, seconds, size);
	*to++ = '.';
	to = put_digits(to, usec % STAMP_USEC_PER_SEC, 6);
	b->size = (size_t)(to - b->bytes);
}
