/* SPDX-License-Identifier: MIT */
/*
 * Text of several lines, as the short family and verbose print it: the lines after the first are
 * indented, also empty ones; a line feed at the very end opens no further line; no text at all is
 * one empty line.
 *
 * There are two printers. lines_try() tests, copies and indents in one pass, and gives up where it
 * meets a byte that is not printable: nearly every value ends there. lines_print() takes a text
 * that has been tested before, or need not be; what needs a line as a whole (colours, shortening)
 * belongs there.
 */
#include "formats/output/encode.h"

/* lines_try() for a constant CLASS of ASCII. */
static inline __attribute__((always_inline)) bool lines_try_class(struct output_buffer *b,
								  const uint8_t *text, size_t size,
								  size_t indent, unsigned class)
{
	size_t start = b->size, at = 0;
	uint8_t *to;
	unsigned n;

	if (!output_reserve(b, size + 1 + VEC16_SLACK))
		return true;
	to = b->bytes + b->size;
	for (;;) {
		size_t run = class_copy(to, text + at, size - at, class);

		at += run;
		to += run;
		if (at == size)
			break;
		if (text[at] >= 0x80) {
			n = printable_character(text + at, size - at);
			if (n == 0)
				goto refused;
			for (; n > 0; n--)
				*to++ = text[at++];
			continue;
		}
		if (text[at] != '\n')
			goto refused;
		if (++at == size)
			break;
		*to++ = '\n';
		b->size = (size_t)(to - b->bytes);
		if (!output_reserve(b, indent + (size - at) + 1 + VEC16_SLACK))
			return true;
		to = b->bytes + b->size;
		memset(to, ' ', indent);
		to += indent;
	}
	*to++ = '\n';
	b->size = (size_t)(to - b->bytes);
	return true;
refused:
	b->size = start;
	return false;
}

/*
 * Prints a text whose bytes are printable and none of which is a TAB, with INDENT spaces before
 * every line but the first. False, and nothing printed, if it is not like that. True if memory runs
 * out: the buffer knows.
 */
bool lines_try(struct output_buffer *b, const uint8_t *text, size_t size, size_t indent)
{
	return lines_try_class(b, text, size, indent, 0);
}

/* The same for a text that may hold TABs. */
bool lines_try_tab(struct output_buffer *b, const uint8_t *text, size_t size, size_t indent)
{
	return lines_try_class(b, text, size, indent, CLASS_TAB);
}

/* Prints a text whatever its bytes are. */
void lines_print(struct output_buffer *b, const uint8_t *text, size_t size,
		 const struct line_style *style)
{
	size_t at = 0;

	do {
		const uint8_t *end = size > at ? memchr(text + at, '\n', size - at) : NULL;
		size_t line_size = end ? (size_t)(end - text) - at : size - at;
		size_t shown_size = line_size;

		if (style->stop_at_nul && line_size > 0) {
			const uint8_t *nul = memchr(text + at, 0, line_size);

			if (nul)
				shown_size = (size_t)(nul - text) - at;
		}
		if (at > 0)
			output_fill(b, ' ', style->indent);
		output_bytes(b, text + at, shown_size);
		output_byte(b, '\n');
		at += line_size + 1;
	} while (at < size);
}

/* Prints what stands for a value of SIZE bytes that is not printable. */
void lines_blob(struct output_buffer *b, uint64_t size)
{
	output_byte(b, '[');
	output_size(b, size);
	output_text(b, " blob data]\n");
}
