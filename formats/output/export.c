/* SPDX-License-Identifier: MIT */
/*
 * export: the header's values, then every field, as text where it is printable and in one line,
 * with its size in binary where not. The boot ID is the header's; a stored one is left out. A field
 * with an invalid name ends the entry.
 */
#include "formats/output/encode.h"

/* Names and line feeds of the header's lines take 96 bytes. */
#define EXPORT_HEADER_SIZE_MAX                                                                     \
	(128 + PUT_CURSOR_SIZE_MAX + 3 * PUT_DECIMAL_SIZE_MAX + 2 * PUT_ID_SIZE)

/* Appends NAME=value and a line feed if that is printable without one; else appends nothing. True
 * if memory runs out: the buffer knows. */
static bool export_text(const struct output_field *f, struct output_buffer *b)
{
	size_t at = 0;
	uint8_t *to;

	if (!output_reserve(b, f->size + 1 + VEC16_SLACK))
		return true;
	to = b->bytes + b->size;
	if (likely(f->traits & OUTPUT_TRAIT_LINE)) {
		field_copy(to, f, f->bytes, f->size);
		to[f->size] = '\n';
		b->size += f->size + 1;
		return true;
	}
	for (;;) {
		at += class_copy(to + at, f->bytes + at, f->size - at, CLASS_TAB);
		if (at == f->size)
			break;
		do {
			unsigned n = 0;

			if (f->bytes[at] >= 0x80)
				n = printable_character(f->bytes + at, f->size - at);
			if (n == 0)
				return false;
			for (; n > 0; n--, at++)
				to[at] = f->bytes[at];
		} while (at < f->size && f->bytes[at] >= 0x80);
	}
	to[at] = '\n';
	b->size += at + 1;
	return true;
}

/* Appends a field in binary form. */
static void export_binary(const struct output_field *f, struct output_buffer *b)
{
	struct text_view value = field_value(f);
	uint64_t size = htole64(value.size);

	output_bytes(b, f->bytes, f->name_size);
	output_byte(b, '\n');
	output_bytes(b, &size, sizeof(size));
	output_bytes(b, value.bytes, value.size);
	output_byte(b, '\n');
}

/* Appends the lines that are made of the entry's header. */
static void export_header(const struct output_entry *entry, struct output_buffer *b)
{
	uint8_t *to;

	if (!output_reserve(b, EXPORT_HEADER_SIZE_MAX + VEC16_SLACK))
		return;
	to = b->bytes + b->size;
	to = put_text(to, "__CURSOR=");
	to = put_cursor(to, entry);
	to = put_text(to, "\n__REALTIME_TIMESTAMP=");
	to = put_decimal(to, entry->realtime);
	to = put_text(to, "\n__MONOTONIC_TIMESTAMP=");
	to = put_decimal(to, entry->monotonic);
	to = put_text(to, "\n__SEQNUM=");
	to = put_decimal(to, entry->seqnum);
	to = put_text(to, "\n__SEQNUM_ID=");
	to = put_id(to, &entry->seqnum_id);
	to = put_text(to, "\n_BOOT_ID=");
	to = put_id(to, &entry->boot_id);
	*to++ = '\n';
	b->size = (size_t)(to - b->bytes);
}

bool output_export_line(const struct output_field *f, uint8_t *to, size_t room, size_t *ret_size)
{
	const uint32_t traits = OUTPUT_TRAIT_NAMED | OUTPUT_TRAIT_LINE;

	*ret_size = 0;
	if (field_is(f, "_BOOT_ID"))
		return true;
	if ((f->traits & traits) != traits || f->size >= room)
		return false;
	memcpy(to, f->bytes, f->size);
	to[f->size] = '\n';
	*ret_size = f->size + 1;
	return true;
}

/* Appends an entry. */
void export_entry(const struct output_options *options, const struct output_entry *entry,
		  struct output_buffer *b)
{
	size_t first = 0;

	export_header(entry, b);
	if (entry->lead.fields && !options->fields) {
		output_bytes(b, entry->lead.bytes, entry->lead.size);
		first = entry->lead.fields;
	}
	for (size_t i = first; i < entry->field_count; i++) {
		const struct output_field *f = &entry->fields[i];

		if (field_is(f, "_BOOT_ID"))
			continue;
		if (!field_is_valid(f))
			break;
		if (field_is_listed(options->fields, f->bytes, f->name_size) && !export_text(f, b))
			export_binary(f, b);
	}
	output_byte(b, '\n');
}
