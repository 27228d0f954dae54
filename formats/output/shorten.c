/* SPDX-License-Identifier: MIT */
/*
 * Lines that do not fit: cut somewhere before their end, with an ellipsis there. A text of ASCII is
 * counted in bytes, any other in columns of a terminal, wide characters being those of Unicode 6.0.
 * Texts are valid UTF-8, or come from a caller who bears bytes that are not.
 */
#include "formats/output/encode.h"

#include <assert.h>

#define SHORTEN_ELLIPSIS "\xe2\x80\xa6"

/* First and last code points of two columns. */
static const uint32_t shorten_wide[][2] = {
	{ 0x1100, 0x115f },   { 0x2329, 0x232a },   { 0x2e80, 0x2e99 },   { 0x2e9b, 0x2ef3 },
	{ 0x2f00, 0x2fd5 },   { 0x2ff0, 0x2ffb },   { 0x3000, 0x303e },   { 0x3041, 0x3096 },
	{ 0x3099, 0x30ff },   { 0x3105, 0x312d },   { 0x3131, 0x318e },   { 0x3190, 0x31ba },
	{ 0x31c0, 0x31e3 },   { 0x31f0, 0x321e },   { 0x3220, 0x3247 },   { 0x3250, 0x32fe },
	{ 0x3300, 0x4dbf },   { 0x4e00, 0xa48c },   { 0xa490, 0xa4c6 },   { 0xa960, 0xa97c },
	{ 0xac00, 0xd7a3 },   { 0xf900, 0xfaff },   { 0xfe10, 0xfe19 },   { 0xfe30, 0xfe52 },
	{ 0xfe54, 0xfe66 },   { 0xfe68, 0xfe6b },   { 0xff01, 0xff60 },   { 0xffe0, 0xffe6 },
	{ 0x1b000, 0x1b001 }, { 0x1f200, 0x1f202 }, { 0x1f210, 0x1f23a }, { 0x1f240, 0x1f248 },
	{ 0x1f250, 0x1f251 }, { 0x1f300, 0x1f567 }, { 0x20000, 0x2fffd }, { 0x30000, 0x3fffd },
};

#define SHORTEN_WIDE_COUNT (sizeof(shorten_wide) / sizeof(*shorten_wide))

/* How many columns a code point takes. */
static unsigned shorten_columns(uint32_t c)
{
	size_t low = 0, high = SHORTEN_WIDE_COUNT;

	while (low < high) {
		size_t middle = low + (high - low) / 2;

		if (c > shorten_wide[middle][1])
			low = middle + 1;
		else
			high = middle;
	}
	return low < SHORTEN_WIDE_COUNT && c >= shorten_wide[low][0] ? 2 : 1;
}

/* The size of the character at P, of SIZE bytes at least 1, and the columns that it takes. */
static size_t shorten_character(const uint8_t *p, size_t size, unsigned *ret_columns)
{
	unsigned n = p[0] < 0x80 ? 1 : printable_character(p, size);
	uint32_t c = p[0];

	if (n == 0)
		n = 1;
	if (n > 1)
		c &= 0x7fu >> n;
	for (unsigned i = 1; i < n; i++)
		c = c << 6 | (p[i] & 0x3f);
	*ret_columns = shorten_columns(c);
	return n;
}

/* Where the character before AT begins; AT is not 0. */
static size_t shorten_before(const uint8_t *p, size_t at)
{
	do
		at--;
	while (at > 0 && (p[at] & 0xc0) == 0x80);
	return at;
}

/* True if all bytes are ASCII. */
static bool shorten_is_ascii(const uint8_t *p, size_t size)
{
	for (size_t at = 0; at < size; at++)
		if (p[at] >= 0x80)
			return false;
	return true;
}

/* shorten_print() for ASCII. */
static void shorten_ascii(struct output_buffer *b, const uint8_t *text, size_t size,
			  size_t columns, unsigned percent, bool ascii)
{
	size_t dots = ascii ? 3 : 1, head, tail;

	if (size <= columns) {
		output_bytes(b, text, size);
		return;
	}
	if (columns <= (ascii ? 2 : 1)) {
		output_bytes(b, ascii ? ".." : SHORTEN_ELLIPSIS, ascii ? columns : 3);
		return;
	}
	head = ((columns - dots) * percent + 50) / 100;
	tail = columns - head - dots;
	output_bytes(b, text, head);
	output_bytes(b, ascii ? "..." : SHORTEN_ELLIPSIS, 3);
	output_bytes(b, text + size - tail, tail);
}

/*
 * Appends a text, shortened to COLUMNS (at least 1) where it is longer, PERCENT of what is kept
 * being its head. ASCII: the locale is not one of UTF-8.
 */
void shorten_print(struct output_buffer *b, const uint8_t *text, size_t size, size_t columns,
		   unsigned percent, bool ascii)
{
	size_t head = 0, tail = size, used = 0, head_columns = (columns - 1) * percent / 100;
	unsigned width;

	assert(columns > 0 && percent <= 100);
	if (shorten_is_ascii(text, size)) {
		shorten_ascii(b, text, size, columns, percent, ascii);
		return;
	}
	while (head < size) {
		size_t n = shorten_character(text + head, size - head, &width);

		if (used + width > head_columns)
			break;
		used += width;
		head += n;
	}
	while (tail > head) {
		size_t at = shorten_before(text, tail);

		shorten_character(text + at, size - at, &width);
		if (used + width > columns)
			break;
		used += width;
		tail = at;
	}
	if (tail <= head) {
		output_bytes(b, text, size);
		return;
	}
	/* The ellipsis takes the place of a character where there is no column left. */
	if (used >= columns) {
		if (tail < size)
			tail += shorten_character(text + tail, size - tail, &width);
		else if (head > 0)
			head = shorten_before(text, head);
	}
	output_bytes(b, text, head);
	output_text(b, SHORTEN_ELLIPSIS);
	output_bytes(b, text + tail, size - tail);
}
