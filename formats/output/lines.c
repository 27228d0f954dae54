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

/* Of a text that is shortened no more lines are shown than this. */
#define LINES_SHORT_COUNT 3u

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

/* Appends a part of a line. */
static void lines_piece(struct output_buffer *b, const uint8_t *text, size_t size,
			const struct line_style *style)
{
	if (style->stop_at_nul)
		size = strnlen((const char *)text, size);
	output_bytes(b, text, size);
}

/* Appends a line with its colours. What is matched is only found in a line that begins before it,
 * and then at the line's start, as by the reference. */
static void lines_whole(struct output_buffer *b, const uint8_t *line, size_t size, size_t at,
			const struct line_style *style)
{
	size_t begin = style->match_begin, end = style->match_end < size ? style->match_end : size;

	output_view(b, style->colours.on);
	if (at <= begin && begin < size) {
		if (end < begin)
			end = begin;
		lines_piece(b, line, begin, style);
		output_view(b, style->colours.match);
		lines_piece(b, line + begin, end - begin, style);
		if (end < size) {
			output_view(b, style->colours.on);
			lines_piece(b, line + end, size - end, style);
		}
	} else {
		lines_piece(b, line, size, style);
	}
	output_view(b, style->colours.off);
	output_byte(b, '\n');
}

/* Appends what is shown of a line that does not fit. LAST: no more lines are shown after it. */
static void lines_short(struct output_buffer *b, const uint8_t *line, size_t size, size_t at,
			bool last, const struct line_style *style)
{
	size_t columns;

	if (style->indent >= style->width || style->width - style->indent < 3) {
		output_text(b, "...\n");
		return;
	}
	columns = style->width - style->indent;
	if (at > 0)
		output_fill(b, ' ', style->indent);
	output_view(b, style->colours.on);
	if (columns > size + 3) {
		output_bytes(b, line, size);
		output_text(b, "...");
	} else {
		shorten_print(b, line, size, columns, last ? 100 : 90, style->ascii);
	}
	output_view(b, style->colours.off);
	output_byte(b, '\n');
}

/* Prints a text whatever its bytes are. No text has no colours. */
void lines_print(struct output_buffer *b, const uint8_t *text, size_t size,
		 const struct line_style *style)
{
	size_t at = 0;

	if (size == 0) {
		output_byte(b, '\n');
		return;
	}
	for (unsigned count = 1; at < size; count++) {
		const uint8_t *end = memchr(text + at, '\n', size - at);
		size_t line_size = end ? (size_t)(end - text) - at : size - at;

		if (style->width) {
			bool last = count == LINES_SHORT_COUNT ||
				    at + line_size + 1 >= ENCODE_TEXT_SIZE_MAX;

			if (last || style->indent + line_size + 1 >= style->width) {
				lines_short(b, text + at, line_size, at, last, style);
				if (last)
					break;
				at += line_size + 1;
				continue;
			}
		}
		if (at > 0)
			output_fill(b, ' ', style->indent);
		lines_whole(b, text + at, line_size, at, style);
		at += line_size + 1;
	}
}

/* Appends TEXT with "\\xNN" for each byte that is not part of a printable character. */
static void lines_escape(struct output_buffer *b, const uint8_t *text, size_t size)
{
	static const char digits[] = "0123456789abcdef";

	for (size_t at = 0, n; at < size; at += n) {
		for (n = 1; n <= 4 && n <= size - at; n++)
			if (text_is_printable(text + at, n, true))
				break;
		if (n <= 4 && n <= size - at) {
			if (text[at] == '\\')
				output_byte(b, '\\');
			output_bytes(b, text + at, n);
			continue;
		}
		n = 1;
		output_text(b, "\\x");
		output_byte(b, (uint8_t)digits[text[at] >> 4]);
		output_byte(b, (uint8_t)digits[text[at] & 15]);
	}
}

/* Prints the lines of a text that is not printable, escaped. Offsets of a match do not hold in it.
 */
void lines_escaped(struct output_buffer *b, const uint8_t *text, size_t size,
		   const struct line_style *style)
{
	struct line_style plain = *style;
	struct output_buffer escaped = { .limit = b->limit };

	lines_escape(&escaped, text, size);
	plain.match_begin = plain.match_end = 0;
	if (escaped.failed)
		b->failed = true;
	else
		lines_print(b, escaped.bytes, escaped.size, &plain);
	output_buffer_done(&escaped);
}

/* Prints what stands for a value of SIZE bytes that is not printable, without a line feed. */
void lines_blob_mark(struct output_buffer *b, uint64_t size)
{
	output_byte(b, '[');
	output_size(b, size);
	output_text(b, " blob data]");
}

/* The same as a line. */
void lines_blob(struct output_buffer *b, uint64_t size)
{
	lines_blob_mark(b, size);
	output_byte(b, '\n');
}
