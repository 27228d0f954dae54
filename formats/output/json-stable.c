/* SPDX-License-Identifier: MIT */
/*
 * json-stable: one object an entry, for programs. Its types do not depend on the data: numbers are
 * numbers, each field is an array of its values, and each value is an object with one member,
 * "text" if the value is UTF-8 without NUL, else "base64". Fields come in the order of first
 * appearance, under the names that are stored; what has no valid name is in "unnamed", as a whole.
 * Nothing is left out for its size. docs/json-stable.schema.json describes the result.
 */
#include "formats/output/json.h"

/* Bytes that are looked at before room is reserved anew: bounds what escaping may claim. */
#define STABLE_PIECE_SIZE 4096u
/* What one byte may become: \u001f. */
#define STABLE_ESCAPE_SIZE 6u

/* Names and punctuation of the header's members take 106 bytes. */
#define STABLE_HEADER_SIZE_MAX                                                                     \
	(160 + PUT_CURSOR_SIZE_MAX + 3 * PUT_DECIMAL_SIZE_MAX + 2 * PUT_ID_SIZE)

/* The size of the UTF-8 character beyond ASCII that the SIZE bytes at P begin with; 0: of none. */
static unsigned stable_character(const uint8_t *p, size_t size)
{
	if (p[0] < 0xc2 || p[0] > 0xf4 || size < 2 || (p[1] & 0xc0) != 0x80)
		return 0;
	if (p[0] < 0xe0)
		return 2;
	if (size < 3 || (p[2] & 0xc0) != 0x80)
		return 0;
	if (p[0] < 0xf0) /* neither overlong nor a surrogate */
		return (p[0] == 0xe0 && p[1] < 0xa0) || (p[0] == 0xed && p[1] > 0x9f) ? 0 : 3;
	if (size < 4 || (p[3] & 0xc0) != 0x80)
		return 0;
	return (p[0] == 0xf0 && p[1] < 0x90) || (p[0] == 0xf4 && p[1] > 0x8f) ? 0 : 4;
}

/* Writes an ASCII character that JSON does not take as it is. */
static uint8_t *stable_escape(uint8_t *to, uint8_t c)
{
	static const char letters[] = "btn?fr"; /* from U+0008 on */

	*to++ = '\\';
	if (c == '"' || c == '\\') {
		*to++ = c;
	} else if (c >= '\b' && c <= '\r' && c != '\v') {
		*to++ = (uint8_t)letters[c - '\b'];
	} else {
		to = put_text(to, "u00");
		*to++ = (uint8_t)('0' + (c >> 4));
		*to++ = (uint8_t)"0123456789abcdef"[c & 15];
	}
	return to;
}

/* Appends some of the SIZE bytes at P, escaped. Returns how many; 0: they do not begin with text.
 */
static size_t stable_piece(struct output_buffer *b, const uint8_t *p, size_t size)
{
	size_t piece = size < STABLE_PIECE_SIZE ? size : STABLE_PIECE_SIZE, at = 0;
	uint8_t *to;

	if (!output_reserve(b, piece * STABLE_ESCAPE_SIZE + VEC16_SLACK))
		return 0;
	to = b->bytes + b->size;
	while (at < piece) {
		size_t run = class_copy(to, p + at, piece - at, CLASS_NO_QUOTE);
		unsigned n;

		at += run;
		to += run;
		if (at == piece)
			break;
		if (p[at] < 0x80) {
			if (p[at] == 0)
				return 0;
			to = stable_escape(to, p[at++]);
			continue;
		}
		n = stable_character(p + at, size - at); /* it may reach beyond the piece */
		if (n == 0)
			return 0;
		for (; n > 0; n--)
			*to++ = p[at++];
	}
	b->size = (size_t)(to - b->bytes);
	return at;
}

/* Appends bytes as a text, with its member's name. False, and nothing is appended, if they are
 * none. */
static bool stable_text(struct output_buffer *b, const uint8_t *p, size_t size)
{
	size_t start = b->size;

	output_text(b, "{\"text\":\"");
	for (size_t at = 0; at < size;) {
		size_t n = stable_piece(b, p + at, size - at);

		if (n == 0) {
			b->size = start;
			return false;
		}
		at += n;
	}
	output_text(b, "\"}");
	return true;
}

/* Writes three bytes as four characters. */
static inline uint8_t *stable_sextets(uint8_t *to, uint32_t bytes)
{
	static const char digits[] =
		"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";

	for (unsigned i = 0; i < 4; i++)
		to[i] = (uint8_t)digits[bytes >> (18 - 6 * i) & 63];
	return to + 4;
}

/* Appends bytes in base64, with their member's name. */
static void stable_binary(struct output_buffer *b, const uint8_t *p, size_t size)
{
	uint8_t *to;
	size_t at;

	if (size > SIZE_MAX / 2 || !output_reserve(b, (size + 2) / 3 * 4 + 16)) {
		b->failed = true;
		return;
	}
	to = put_text(b->bytes + b->size, "{\"base64\":\"");
	for (at = 0; at + 3 <= size; at += 3)
		to = stable_sextets(to, (uint32_t)p[at] << 16 | (uint32_t)p[at + 1] << 8 |
						p[at + 2]);
	if (at < size) {
		to = stable_sextets(to, (uint32_t)p[at] << 16 |
						(at + 1 < size ? (uint32_t)p[at + 1] << 8 : 0));
		to[-1] = '=';
		if (at + 1 == size)
			to[-2] = '=';
	}
	to = put_text(to, "\"}");
	b->size = (size_t)(to - b->bytes);
}

/* Appends a value. */
static void stable_value(struct output_buffer *b, const uint8_t *p, size_t size)
{
	if (!stable_text(b, p, size) && !b->failed)
		stable_binary(b, p, size);
}

/* Appends a field's values, the first of which is at INDEX, after its name. */
static void stable_member(struct output_buffer *b, const struct output_entry *entry,
			  const struct json_groups *groups, uint32_t index, bool first)
{
	const struct output_field *f = &entry->fields[index];
	struct text_view value = field_value(f);
	uint32_t next = json_group_next(groups, index);
	bool plain = f->traits & OUTPUT_TRAIT_PLAIN && value.size < STABLE_PIECE_SIZE;
	uint8_t *to;

	if (!output_reserve(b, f->name_size + (plain ? value.size : 0) + 24 + 2 * VEC16_SLACK))
		return;
	to = b->bytes + b->size;
	if (!first)
		*to++ = ',';
	*to++ = '"';
	short_copy(to, f->bytes, f->name_size);
	to = put_text(to + f->name_size, "\":[");
	if (likely(plain)) {
		to = put_text(to, "{\"text\":\"");
		field_copy(to, f, value.bytes, value.size);
		to = put_text(to + value.size, "\"}");
	}
	b->size = (size_t)(to - b->bytes);
	if (!plain)
		stable_value(b, value.bytes, value.size);
	for (; next != JSON_GROUP_END; next = json_group_next(groups, next)) {
		value = field_value(&entry->fields[next]);
		output_byte(b, ',');
		stable_value(b, value.bytes, value.size);
	}
	output_byte(b, ']');
}

/* Appends what is made of the entry's header, and the beginning of its fields. */
static void stable_header(struct output_buffer *b, const struct output_entry *entry)
{
	uint8_t *to;

	if (!output_reserve(b, STABLE_HEADER_SIZE_MAX + VEC16_SLACK))
		return;
	to = put_text(b->bytes + b->size, "{\"cursor\":\"");
	to = put_cursor(to, entry);
	to = put_text(to, "\",\"realtime_usec\":");
	to = put_decimal(to, entry->realtime);
	to = put_text(to, ",\"monotonic_usec\":");
	to = put_decimal(to, entry->monotonic);
	to = put_text(to, ",\"boot_id\":\"");
	to = put_id(to, &entry->boot_id);
	to = put_text(to, "\",\"seqnum\":");
	to = put_decimal(to, entry->seqnum);
	to = put_text(to, ",\"seqnum_id\":\"");
	to = put_id(to, &entry->seqnum_id);
	to = entry->incomplete ? put_text(to, "\",\"complete\":false") :
				 put_text(to, "\",\"complete\":true");
	to = put_text(to, ",\"fields\":{");
	b->size = (size_t)(to - b->bytes);
}

/* Appends fields that have no valid name. A list of names holds none of them. */
static void stable_unnamed(struct output_buffer *b, const struct output_options *options,
			   const struct output_entry *entry)
{
	bool any = false;

	if (options->fields && options->fields[0])
		return;
	for (size_t i = 0; i < entry->field_count; i++) {
		const struct output_field *f = &entry->fields[i];

		if (likely(field_is_valid(f)))
			continue;
		if (any)
			output_byte(b, ',');
		else
			output_text(b, ",\"unnamed\":[");
		stable_value(b, f->bytes, f->size);
		any = true;
	}
	if (any)
		output_byte(b, ']');
}

/* Appends an entry. */
void json_stable_entry(const struct output_options *options, struct output_cache *cache,
		       const struct output_entry *entry, struct output_buffer *b)
{
	struct json_groups groups;
	bool first = true;

	if (!json_groups_make(&groups, cache, options->fields, false, entry)) {
		b->failed = true;
		return;
	}
	stable_header(b, entry);
	for (size_t i = 0; i < entry->field_count; i++) {
		if (!json_group_is_head(&groups, i))
			continue;
		stable_member(b, entry, &groups, (uint32_t)i, first);
		first = false;
	}
	output_byte(b, '}');
	stable_unnamed(b, options, entry);
	output_text(b, "}\n");
	if (entry->field_count > JSON_GROUPS_SMALL)
		cache_trim(cache);
}
