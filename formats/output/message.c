/* SPDX-License-Identifier: MIT */
/*
 * The message of an entry as the short family shows it: sanitised, cut, replaced by "blob data" if
 * that leaves it unprintable, and printed line by line.
 *
 * Most messages hold nothing to sanitise; those are printed by lines_try() in one pass. The others
 * are sanitised into the cache's scratch first: a removed sequence may stand within a character, so
 * only the result as a whole can be tested.
 */
#include "formats/output/encode.h"

#define MESSAGE_ESCAPE 0x1b
#define MESSAGE_BELL 0x07
#define MESSAGE_TAB_WIDTH 8u

/* How many bytes from AT on need no sanitising. */
static size_t message_run(const uint8_t *p, size_t size)
{
	size_t at = 0;

	for (; size - at >= 16; at += 16) {
		vec16 v = vec16_load(p + at);
		unsigned misses = vec16_misses((vec16)(v != '\r') & (vec16)(v != '\t') &
					       (vec16)(v != MESSAGE_ESCAPE));

		if (misses)
			return at + (size_t)__builtin_ctz(misses);
	}
	while (at < size && p[at] != '\r' && p[at] != '\t' && p[at] != MESSAGE_ESCAPE)
		at++;
	return at;
}

/*
 * The size of the escape sequence at P[0] that is removed: colours, "ESC [ digits ; m", and
 * operating system commands, "ESC ] text", ended by BEL or "ESC \". 0 if it is none of them. A NUL
 * counts as a parameter of a colour, as it does in the reference.
 */
static size_t message_escape_size(const uint8_t *p, size_t size)
{
	size_t at = 2;

	if (size < 3)
		return 0;
	if (p[1] == '[') {
		while (at < size && ((p[at] >= '0' && p[at] <= '9') || p[at] == ';' || p[at] == 0))
			at++;
		return at < size && p[at] == 'm' ? at + 1 : 0;
	}
	if (p[1] != ']')
		return 0;
	while (at < size && p[at] >= 0x20 && p[at] <= 0x7e)
		at++;
	if (at < size && p[at] == MESSAGE_BELL)
		return at + 1;
	if (size - at >= 2 && p[at] == MESSAGE_ESCAPE && p[at + 1] == '\\')
		return at + 2;
	return 0;
}

/* Writes the SIZE bytes at P, sanitised, to TO, which has room for all TABs; returns how many. */
static size_t message_sanitise(uint8_t *to, const uint8_t *p, size_t size)
{
	uint8_t *first = to;
	size_t n;

	for (size_t at = 0;;) {
		n = message_run(p + at, size - at);
		memcpy(to, p + at, n);
		to += n;
		at += n;
		if (at == size)
			return (size_t)(to - first);
		if (p[at] == '\t') {
			memset(to, ' ', MESSAGE_TAB_WIDTH);
			to += MESSAGE_TAB_WIDTH;
			at++;
			continue;
		}
		n = 1;
		if (p[at] == '\r') {
			while (at + n < size && p[at + n] == '\r')
				n++;
			if (at + n == size || p[at + n] == '\n') {
				at += n;
				continue;
			}
		} else {
			size_t removed = message_escape_size(p + at, size - at);

			if (removed > 0) {
				at += removed;
				continue;
			}
			/* A kept escape takes the next byte along, unexamined. */
			if (at + 1 < size)
				n = 2;
		}
		memcpy(to, p + at, n);
		to += n;
		at += n;
	}
}

/* How many of the SIZE bytes precede the first line feed, carriage return or NUL. */
static size_t message_first_line(const uint8_t *p, size_t size)
{
	size_t at = 0;

	while (at < size && p[at] != '\n' && p[at] != '\r' && p[at] != 0)
		at++;
	return at;
}

/* How many TABs are among SIZE bytes. */
static size_t message_tab_count(const uint8_t *p, size_t size)
{
	size_t count = 0;

	for (size_t at = 0; at < size; at++)
		count += p[at] == '\t';
	return count;
}

/* The slow half of message_print(): makes the sanitised message as a whole. */
static void message_print_whole(const struct output_options *options, struct output_cache *cache,
				struct output_buffer *b, const uint8_t *message, size_t size,
				size_t indent)
{
	const struct line_style style = { .indent = indent };
	size_t tabs_size, sane_size;

	if (__builtin_mul_overflow(message_tab_count(message, size), MESSAGE_TAB_WIDTH - 1,
				   &tabs_size) ||
	    (b->limit && tabs_size > b->limit) || !cache_scratch(cache, size, tabs_size)) {
		b->failed = true;
		return;
	}
	sane_size = message_sanitise(cache->scratch, message, size);
	if (options->flags & OUTPUT_TRUNCATE_NEWLINE)
		sane_size = message_first_line(cache->scratch, sane_size);
	if (text_is_printable(cache->scratch, sane_size, true))
		lines_print(b, cache->scratch, sane_size, &style);
	else
		lines_blob(b, sane_size);
	cache_trim(cache);
}

/* Prints a message, with INDENT spaces before every line but the first. */
void message_print(const struct output_options *options, struct output_cache *cache,
		   struct output_buffer *b, const uint8_t *message, size_t size, size_t indent)
{
	size_t first_size = size;

	if (options->flags & OUTPUT_TRUNCATE_NEWLINE)
		first_size = message_first_line(message, size);
	if (options->flags & OUTPUT_ALL) {
		const struct line_style style = { .indent = indent, .stop_at_nul = true };

		lines_print(b, message, first_size, &style);
		return;
	}
	/* A message that is cut is still sanitised before that: where it holds nothing to sanitise
	 * up to a line feed, the rest does not matter. */
	if (first_size < size && message[first_size] != '\n')
		first_size = size;
	if (!lines_try(b, message, first_size, indent))
		message_print_whole(options, cache, b, message, size, indent);
}
