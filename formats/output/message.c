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
	else if (options->flags & OUTPUT_LENIENT)
		lines_escaped(b, cache->scratch, sane_size, &style);
	else
		lines_blob(b, sane_size);
	cache_trim(cache);
}

/* How many of the first LIMIT bytes of a message are TABs, times what each is widened by: where a
 * match moves to. */
static size_t message_shift(struct text_view text, size_t limit)
{
	if (limit > text.size)
		limit = text.size;
	return message_tab_count(text.bytes, limit) * (MESSAGE_TAB_WIDTH - 1);
}

/* True if a message begins with the path of a configuration file that a link can be made of. */
static bool message_begins_with_path(const struct message *m, struct text_view text)
{
	size_t size = m->config_file.size;

	if (!m->config_file.bytes || size == 0 || size > text.size ||
	    memcmp(text.bytes, m->config_file.bytes, size) != 0 || m->config_file.bytes[0] == 0)
		return false;
	if (size < text.size && text.bytes[size] != ':' && text.bytes[size] != ' ')
		return false;
	return m->match_begin == 0 || m->match_begin > size;
}

/*
 * Prepares a message in the cache's scratch, where ROOM bytes are free before it. *RET_TEXT is the
 * message as it is now; the match moves along. False if memory runs out.
 */
static bool message_prepare(const struct output_options *options, struct output_cache *cache,
			    const struct output_buffer *b, size_t room, struct message *m)
{
	bool sanitise = !(options->flags & OUTPUT_ALL) &&
			message_run(m->text.bytes, m->text.size) < m->text.size;
	size_t more = room;

	if (!sanitise && room == 0)
		return true;
	if (sanitise &&
	    (__builtin_mul_overflow(message_tab_count(m->text.bytes, m->text.size),
				    MESSAGE_TAB_WIDTH - 1, &more) ||
	     __builtin_add_overflow(more, room, &more)))
		return false;
	if ((b->limit && more > b->limit) || !cache_scratch(cache, m->text.size, more))
		return false;
	if (sanitise) {
		m->match_begin += message_shift(m->text, m->match_begin);
		m->match_end += message_shift(m->text, m->match_end);
		m->text.size = message_sanitise(cache->scratch + room, m->text.bytes, m->text.size);
	} else {
		memcpy(cache->scratch + room, m->text.bytes, m->text.size);
	}
	m->text.bytes = cache->scratch + room;
	return true;
}

/* Prints a message with colours, a match, a link, shortened: whatever there is of these. */
void message_print_decorated(const struct output_options *options, struct output_cache *cache,
			     struct output_buffer *b, const struct message *message)
{
	bool all = options->flags & OUTPUT_ALL;
	struct message m = *message;
	struct text_view path = m.config_file;
	struct line_style style = {
		.indent = m.indent,
		.stop_at_nul = all,
		.ascii = options->flags & OUTPUT_ASCII,
		.width = options->flags & OUTPUT_SHORTEN && !all ? options->width : 0,
		.colours = m.colours,
	};
	size_t room = 0;

	if (path.size > 0) {
		path.size = strnlen((const char *)path.bytes, path.size);
		room = path.size > 0 ? link_path_size(options, path) : 0;
	}
	if (!message_prepare(options, cache, b, room, &m)) {
		b->failed = true;
		return;
	}
	if (options->flags & OUTPUT_TRUNCATE_NEWLINE)
		m.text.size = message_first_line(m.text.bytes, m.text.size);
	if (!all && !text_is_printable(m.text.bytes, m.text.size, true)) {
		if (options->flags & OUTPUT_LENIENT)
			lines_escaped(b, m.text.bytes, m.text.size, &style);
		else
			lines_blob(b, m.text.size);
		cache_trim(cache);
		return;
	}
	if (room > 0 && message_begins_with_path(&m, m.text)) {
		size_t shift = room - m.config_file.size;

		/* Unsigned, so that it may also go back: by a path that holds a NUL. */
		m.text.bytes = m.text.bytes + m.config_file.size - room;
		m.text.size += shift;
		link_write_path(options, (uint8_t *)m.text.bytes, path);
		m.match_begin += shift;
		m.match_end += shift;
	}
	style.match_begin = m.match_begin;
	style.match_end = m.match_end;
	lines_print(b, m.text.bytes, m.text.size, &style);
	cache_trim(cache);
}

/* Prints a message without any of that, with INDENT spaces before every line but the first. */
void message_print(const struct output_options *options, struct output_cache *cache,
		   struct output_buffer *b, const uint8_t *message, size_t size, size_t indent)
{
	size_t first_size = size;

	if (options->flags & OUTPUT_TRUNCATE_NEWLINE)
		first_size = message_first_line(message, size);
	/* A message that is cut is still sanitised before that: where it holds nothing to sanitise
	 * up to a line feed, the rest does not matter. */
	if (first_size < size && message[first_size] != '\n')
		first_size = size;
	if (!lines_try(b, message, first_size, indent))
		message_print_whole(options, cache, b, message, size, indent);
}
