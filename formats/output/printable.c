/* SPDX-License-Identifier: MIT */
/*
 * Which bytes may go to a terminal: the test that decides, in every mode, between a text and a
 * "blob". ASCII is tested sixteen bytes at a time; only a byte that is not plain is looked at
 * alone. The locale plays no part.
 */
#include "formats/output/encode.h"

/* True for a code point that is no UTF-8 text: surrogates, noncharacters, beyond U+10FFFF. */
static bool printable_is_nonchar(uint32_t c)
{
	return c > 0x10ffff || (c & 0xfffff800) == 0xd800 || (c >= 0xfdd0 && c <= 0xfdef) ||
	       (c & 0xfffe) == 0xfffe;
}

/*
 * The size of the printable character that the SIZE bytes at P, at least 1, begin with; 0 if they
 * begin with anything else. P[0] is not ASCII.
 */
unsigned printable_character(const uint8_t *p, size_t size)
{
	uint32_t c;

	if (p[0] < 0xc2 || p[0] > 0xf4 || size < 2 || (p[1] & 0xc0) != 0x80)
		return 0;
	if (p[0] < 0xe0)
		return p[0] == 0xc2 && p[1] < 0xa0 ? 0 : 2;
	if (size < 3 || (p[2] & 0xc0) != 0x80)
		return 0;
	if (p[0] < 0xf0) {
		c = (uint32_t)(p[0] & 0x0f) << 12 | (uint32_t)(p[1] & 0x3f) << 6 | (p[2] & 0x3f);
		return c < 0x800 || printable_is_nonchar(c) ? 0 : 3;
	}
	if (size < 4 || (p[3] & 0xc0) != 0x80)
		return 0;
	c = (uint32_t)(p[0] & 0x07) << 18 | (uint32_t)(p[1] & 0x3f) << 12 |
	    (uint32_t)(p[2] & 0x3f) << 6 | (p[3] & 0x3f);
	return c < 0x10000 || printable_is_nonchar(c) ? 0 : 4;
}

/* text_is_printable() for a constant CLASS of ASCII. */
static inline __attribute__((always_inline)) bool printable_test(const uint8_t *bytes, size_t size,
								 unsigned class)
{
	for (size_t at = 0;;) {
		unsigned n;

		at += class_run(bytes + at, size - at, class);
		if (at == size)
			return true;
		if (bytes[at] < 0x80)
			return false;
		/* Text that is not ASCII rarely has one such character alone. */
		do {
			n = printable_character(bytes + at, size - at);
			if (n == 0)
				return false;
			at += n;
		} while (at < size && bytes[at] >= 0x80);
	}
}

/* PRINTABLE() of the behaviour document. */
bool text_is_printable(const uint8_t *bytes, size_t size, bool allow_newline)
{
	return allow_newline ? printable_test(bytes, size, CLASS_TAB | CLASS_LF)
			     : printable_test(bytes, size, CLASS_TAB);
}
