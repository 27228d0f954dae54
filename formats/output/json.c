/* SPDX-License-Identifier: MIT */
/*
 * The JSON modes: one object an entry. The keys come in a fixed order: __CURSOR,
 * __REALTIME_TIMESTAMP, __MONOTONIC_TIMESTAMP, __SEQNUM, __SEQNUM_ID, _BOOT_ID, then the fields in
 * order of first appearance. A field that occurs more often is an array; a value is null if it is
 * long, a string if it is printable, else an array of bytes. A stored boot ID is left out, a field
 * with an invalid name too; a stored field that is called like one of the first five is another
 * value of that member.
 *
 * Which fields belong together is json-group.c's business; here, a group is a chain of indexes.
 */
#include "formats/output/json.h"

/* Bytes that are written before room is reserved anew: bounds what escaping may claim. */
#define JSON_PIECE_SIZE 65536u

/* What the colours of a key or a value take at most. */
#define JSON_COLOURS_SIZE_MAX 16u

/* Where a value is written. */
struct json_writer {
	struct output_buffer *b;
	bool pretty;
	bool all; /* long values too */
	const struct output_options *options;
	bool coloured;
};

/* Appends what is sent for a colour, if there are any. */
static inline void json_colour(const struct json_writer *w, enum colour colour)
{
	if (unlikely(w->coloured))
		output_view(w->b, colour_text(w->options, colour));
}

/* Writes the same to memory that has room for it; returns what follows. */
static inline uint8_t *json_put_colour(const struct json_writer *w, uint8_t *to, enum colour colour)
{
	if (unlikely(w->coloured)) {
		struct text_view v = colour_text(w->options, colour);

		memcpy(to, v.bytes, v.size);
		to += v.size;
	}
	return to;
}

/* Appends a line feed and DEPTH TABs, if the form is the pretty one. */
static void json_break(const struct json_writer *w, size_t depth)
{
	if (w->pretty) {
		output_byte(w->b, '\n');
		output_fill(w->b, '\t', depth);
	}
}

/*
 * Appends some of the SIZE bytes at P, escaped: all of them, or up to a byte that is not printable.
 * Returns how many. SIZE is JSON_PIECE_SIZE at most.
 */
static size_t json_escape(struct output_buffer *b, const uint8_t *p, size_t size)
{
	size_t at = 0;
	uint8_t *to;
	unsigned n;

	if (!output_reserve(b, size * 2 + VEC16_SLACK))
		return size;
	to = b->bytes + b->size;
	for (;;) {
		size_t run = class_copy(to, p + at, size - at, CLASS_NO_QUOTE);

		at += run;
		to += run;
		if (at == size)
			break;
		if (p[at] >= 0x80) {
			n = printable_character(p + at, size - at);
			if (n == 0)
				break;
			for (; n > 0; n--)
				*to++ = p[at++];
			continue;
		}
		if (p[at] == '"' || p[at] == '\\')
			to[1] = p[at];
		else if (p[at] == '\n')
			to[1] = 'n';
		else if (p[at] == '\t')
			to[1] = 't';
		else
			break;
		to[0] = '\\';
		to += 2;
		at++;
	}
	b->size = (size_t)(to - b->bytes);
	return at;
}

/* Appends a string; false, and nothing is appended, if it is not printable. True if memory runs
 * out: the buffer knows. */
static bool json_string(const struct json_writer *w, const uint8_t *p, size_t size)
{
	struct output_buffer *b = w->b;
	size_t start = b->size;

	output_byte(b, '"');
	json_colour(w, COLOUR_GREEN);
	for (size_t at = 0; at < size && !b->failed;) {
		size_t piece_size = size - at < JSON_PIECE_SIZE ? size - at : JSON_PIECE_SIZE;
		size_t done = json_escape(b, p + at, piece_size);

		/* A character may be cut by the end of a piece: the next one begins with it. */
		if (done == 0 ||
		    (done < piece_size && (piece_size == size - at || piece_size - done > 3))) {
			b->size = start;
			return false;
		}
		at += done;
	}
	json_colour(w, COLOUR_NORMAL);
	output_byte(b, '"');
	return true;
}

/* Writes a byte in decimal; returns what follows it. */
static uint8_t *json_byte(uint8_t *to, unsigned byte)
{
	if (byte >= 100)
		*to++ = (uint8_t)('0' + byte / 100);
	if (byte >= 10)
		*to++ = (uint8_t)('0' + byte / 10 % 10);
	*to++ = (uint8_t)('0' + byte % 10);
	return to;
}

/* The same with colours. */
static __attribute__((cold)) void json_bytes_coloured(const struct json_writer *w,
						      const uint8_t *p, size_t size, size_t depth)
{
	uint8_t number[4];

	output_byte(w->b, '[');
	for (size_t at = 0; at < size && !w->b->failed; at++) {
		if (at > 0)
			output_byte(w->b, ',');
		json_break(w, depth + 1);
		colour_print(w->options, w->b, COLOUR_BRIGHT_BLUE, number,
			     (size_t)(json_byte(number, p[at]) - number));
	}
	json_break(w, depth);
	output_byte(w->b, ']');
}

/* Appends bytes, at least one, as an array of numbers. */
static void json_bytes(const struct json_writer *w, const uint8_t *p, size_t size, size_t depth)
{
	output_byte(w->b, '[');
	for (size_t at = 0; at < size; at++) {
		uint8_t *to;

		if (!output_reserve(w->b, 8 + depth))
			return;
		to = w->b->bytes + w->b->size;
		if (at > 0)
			*to++ = ',';
		if (w->pretty) {
			*to++ = '\n';
			memset(to, '\t', depth + 1);
			to += depth + 1;
		}
		to = json_byte(to, p[at]);
		w->b->size = (size_t)(to - w->b->bytes);
	}
	json_break(w, depth);
	output_byte(w->b, ']');
}

/* Appends one value of a field. */
static void json_value(const struct json_writer *w, const struct output_field *f, size_t depth)
{
	struct text_view value = field_value(f);
	uint8_t *to;

	if (likely(f->traits & OUTPUT_TRAIT_PLAIN && !w->coloured &&
		   f->size < ENCODE_JSON_SIZE_MAX)) {
		if (!output_reserve(w->b, value.size + 2 + VEC16_SLACK))
			return;
		to = w->b->bytes + w->b->size;
		*to++ = '"';
		field_copy(to, f, value.bytes, value.size);
		to[value.size] = '"';
		w->b->size += value.size + 2;
		return;
	}
	if (f->size >= ENCODE_JSON_SIZE_MAX && !w->all)
		colour_print(w->options, w->b, COLOUR_HIGHLIGHT, "null", 4);
	else if (json_string(w, value.bytes, value.size))
		return;
	else if (w->coloured)
		json_bytes_coloured(w, value.bytes, value.size, depth);
	else
		json_bytes(w, value.bytes, value.size, depth);
}

/* Appends what precedes a member's value, in colours. */
static __attribute__((cold)) void json_key_coloured(const struct json_writer *w, const void *name,
						    size_t size, bool first)
{
	if (!first)
		output_byte(w->b, ',');
	json_break(w, 1);
	output_byte(w->b, '"');
	colour_print(w->options, w->b, COLOUR_GREEN, name, size);
	output_byte(w->b, '"');
	if (w->pretty)
		output_text(w->b, " : ");
	else
		output_byte(w->b, ':');
}

/* The same without. */
static void json_key_plain(const struct json_writer *w, const void *name, size_t size, bool first)
{
	uint8_t *to;

	if (!output_reserve(w->b, size + 8 + VEC16_SLACK))
		return;
	to = w->b->bytes + w->b->size;
	if (!first)
		*to++ = ',';
	if (w->pretty)
		to = put_text(to, "\n\t");
	*to++ = '"';
	short_copy(to, name, size);
	to += size;
	to = w->pretty ? put_text(to, "\" : ") : put_text(to, "\":");
	w->b->size = (size_t)(to - w->b->bytes);
}

/* Appends what precedes a member's value. Only the first one needs no comma. */
static inline void json_key(const struct json_writer *w, const void *name, size_t size, bool first)
{
	if (unlikely(w->coloured))
		json_key_coloured(w, name, size, first);
	else
		json_key_plain(w, name, size, first);
}

/* Appends the elements of an array from the field at INDEX on, each after a comma, and its end. */
static void json_rest(const struct json_writer *w, const struct output_entry *entry,
		      const struct json_groups *groups, uint32_t index)
{
	for (; index != JSON_GROUP_END; index = json_group_next(groups, index)) {
		output_byte(w->b, ',');
		json_break(w, 2);
		json_value(w, &entry->fields[index], 2);
	}
	json_break(w, 1);
	output_byte(w->b, ']');
}

/* Appends a member with all values of a field, the first of which is at INDEX. */
static void json_member(const struct json_writer *w, const struct output_entry *entry,
			const struct json_groups *groups, uint32_t index)
{
	const struct output_field *f = &entry->fields[index];
	uint32_t next = json_group_next(groups, index);

	json_key(w, f->bytes, f->name_size, false);
	if (next == JSON_GROUP_END) {
		json_value(w, f, 1);
		return;
	}
	output_byte(w->b, '[');
	json_break(w, 2);
	json_value(w, f, 2);
	json_rest(w, entry, groups, next);
}

/* Appends the value of a member that is made of the entry's header. */
static void json_header_value(const struct json_writer *w, const struct output_entry *entry,
			      unsigned which)
{
	struct output_buffer *b = w->b;
	uint8_t *to;

	if (!output_reserve(b, PUT_CURSOR_SIZE_MAX + 2 + JSON_COLOURS_SIZE_MAX + VEC16_SLACK))
		return;
	to = b->bytes + b->size;
	*to++ = '"';
	to = json_put_colour(w, to, COLOUR_GREEN);
	switch (which) {
	case JSON_HEADER_CURSOR:
		to = put_cursor(to, entry);
		break;
	case JSON_HEADER_REALTIME:
		to = put_decimal(to, entry->realtime);
		break;
	case JSON_HEADER_MONOTONIC:
		to = put_decimal(to, entry->monotonic);
		break;
	case JSON_HEADER_SEQNUM:
		to = put_decimal(to, entry->seqnum);
		break;
	case JSON_HEADER_SEQNUM_ID:
		to = put_id(to, &entry->seqnum_id);
		break;
	}
	to = json_put_colour(w, to, COLOUR_NORMAL);
	*to++ = '"';
	b->size = (size_t)(to - b->bytes);
}

/* Appends the members that are made of the entry's header. */
static void json_header(const struct json_writer *w, const struct output_entry *entry,
			const struct json_groups *groups)
{
	for (unsigned i = 0; i < JSON_HEADER_COUNT; i++) {
		uint32_t more = groups->header[i];

		json_key(w, json_header_names[i].text, json_header_names[i].size, i == 0);
		if (more == JSON_GROUP_END) {
			json_header_value(w, entry, i);
			continue;
		}
		output_byte(w->b, '[');
		json_break(w, 2);
		json_header_value(w, entry, i);
		json_rest(w, entry, groups, more);
	}
	json_key(w, "_BOOT_ID", sizeof("_BOOT_ID") - 1, false);
	output_byte(w->b, '"');
	json_colour(w, COLOUR_GREEN);
	output_id(w->b, &entry->boot_id);
	json_colour(w, COLOUR_NORMAL);
	output_byte(w->b, '"');
}

/* Appends an entry in one of the JSON modes. */
void json_entry(const struct output_options *options, struct output_cache *cache,
		const struct output_entry *entry, struct output_buffer *b)
{
	const struct json_writer w = {
		.b = b,
		.pretty = options->mode == OUTPUT_JSON_PRETTY,
		.all = options->flags & OUTPUT_ALL,
		.options = options,
		.coloured = options->colours != OUTPUT_COLOURS_NONE,
	};
	struct json_groups groups;

	if (!json_groups_make(&groups, cache, options->fields, true, entry)) {
		b->failed = true;
		return;
	}
	if (options->mode == OUTPUT_JSON_SSE)
		output_text(b, "data: ");
	else if (options->mode == OUTPUT_JSON_SEQ)
		output_byte(b, 0x1e);
	output_byte(b, '{');
	json_header(&w, entry, &groups);
	for (size_t i = 0; i < entry->field_count; i++)
		if (json_group_is_head(&groups, i))
			json_member(&w, entry, &groups, (uint32_t)i);
	json_break(&w, 0);
	output_text(b, "}\n");
	if (options->mode == OUTPUT_JSON_SSE)
		output_byte(b, '\n');
	if (entry->field_count > JSON_GROUPS_SMALL)
		cache_trim(cache);
}
