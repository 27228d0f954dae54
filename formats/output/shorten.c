/* SPDX-License-Identifier: MIT */
/*
 * Lines that do not fit: cut somewhere before their end, with an ellipsis there. A text of ASCII is
 * counted in bytes, any other in columns of a terminal, wide characters being those of Unicode 6.0.
 * Texts are printable, but for links that were put into them.
 */
#include "formats/output/encode.h"

#include <assert.h>

#define SHORTEN_ELLIPSIS "\xe2\x80\xa6"
#define SHORTEN_ESCAPE 0x1b

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
		output_view(b, (struct text_view){ text, size });
		return;
	}
	if (columns <= (ascii ? 2 : 1)) {
		output_bytes(b, ascii ? ".." : SHORTEN_ELLIPSIS, ascii ? columns : 3);
		return;
	}
	head = ((columns - dots) * percent + 50) / 100;
	tail = columns - head - dots;
	output_view(b, (struct text_view){ text, head });
	output_bytes(b, ascii ? "..." : SHORTEN_ELLIPSIS, 3);
	output_bytes(b, text + size - tail, tail);
}

/* The size of the sequence at P, which takes no columns; 0 if there is none. Of all sequences only
 * the beginnings and ends of our own links can be in a text that is shortened. */
static size_t shorten_sequence(const uint8_t *p, size_t size)
{
	return size >= 2 && p[0] == SHORTEN_ESCAPE && p[1] >= 0x40 && p[1] <= 0x5f ? 2 : 0;
}

/* How much of a text stays at its beginning: as fits into COLUMNS, and sequences behind that. */
static size_t shorten_head(const uint8_t *text, size_t size, size_t columns, size_t *ret_used)
{
	size_t at = 0, used = 0, n;
	unsigned width;

	while (at < size) {
		n = shorten_sequence(text + at, size - at);
		if (n == 0) {
			n = shorten_character(text + at, size - at, &width);
			if (used + width > columns)
				break;
			used += width;
		}
		at += n;
	}
	*ret_used = used;
	return at;
}

/* Where what stays at the end of a text begins, which is not before HEAD. *USED columns are taken
 * already, COLUMNS are there. */
static size_t shorten_tail(const uint8_t *text, size_t size, size_t head, size_t columns,
			   size_t *used)
{
	size_t tail = size, at = size;
	unsigned width;

	while (at > head && *used < columns) {
		size_t before;

		if (at >= 2 && shorten_sequence(text + at - 2, 2)) {
			at -= 2;
			continue;
		}
		before = shorten_before(text, at);
		shorten_character(text + before, size - before, &width);
		if (*used + width > columns)
			break;
		*used += width;
		tail = at = before;
	}
	return tail;
}

/* Appends a text, shortened to COLUMNS, that is not ASCII alone. */
static void shorten_text(struct output_buffer *b, const uint8_t *text, size_t size, size_t columns,
			 unsigned percent)
{
	size_t used, n;
	size_t head = shorten_head(text, size, (columns - 1) * percent / 100, &used);
	size_t tail = shorten_tail(text, size, head, columns, &used);
	unsigned width;

	if (tail <= head) {
		output_view(b, (struct text_view){ text, size });
		return;
	}
	/* The ellipsis takes the place of a character where there is no column left. */
	if (used >= columns) {
		if (tail < size)
			tail += shorten_character(text + tail, size - tail, &width);
		else if (head > 0)
			head = shorten_before(text, head);
	}
	output_view(b, (struct text_view){ text, head });
	output_text(b, SHORTEN_ELLIPSIS);
	/* What is left out begins or ends links all the same. */
	for (size_t at = head; at < tail; at += n ? n : 1) {
		n = shorten_sequence(text + at, tail - at);
		output_bytes(b, text + at, n);
	}
	output_bytes(b, text + tail, size - tail);
}

/*
 * Appends a text, shortened to COLUMNS (at least 1) where it is longer, PERCENT of what is kept
 * being its head. ASCII: the locale is not one of UTF-8.
 */
void shorten_print(struct output_buffer *b, const uint8_t *text, size_t size, size_t columns,
		   unsigned percent, bool ascii)
{
	assert(columns > 0 && percent <= 100);
	if (shorten_is_ascii(text, size) && !memchr(text, SHORTEN_ESCAPE, size))
		shorten_ascii(b, text, size, columns, percent, ascii);
	else
		shorten_text(b, text, size, columns, percent);
}
