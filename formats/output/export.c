/* SPDX-License-Identifier: MIT */
/*
 * export: the header's values, then every field, as text where it is printable and in one line,
 * with its size in binary where not. The boot ID is the header's; a stored one is left out. A field
 * with an invalid name ends the entry.
 */
#include "formats/output/encode.h"

/* Appends NAME=value and a line feed if that is printable without one; else appends nothing. True
 * if memory runs out: the buffer knows. */
static bool export_text(const struct output_field *f, struct output_buffer *b)
{
	size_t at = 0;
	uint8_t *to;

	if (!output_reserve(b, f->size + 1 + VEC16_SLACK))
		return true;
	to = b->bytes + b->size;
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

/* Appends an entry. */
void export_entry(const struct output_options *options, const struct output_entry *entry,
		  struct output_buffer *b)
{
	output_text(b, "__CURSOR=");
	output_cursor(b, entry);
	output_text(b, "\n__REALTIME_TIMESTAMP=");
	output_decimal(b, entry->realtime);
	output_text(b, "\n__MONOTONIC_TIMESTAMP=");
	output_decimal(b, entry->monotonic);
	output_text(b, "\n__SEQNUM=");
	output_decimal(b, entry->seqnum);
	output_text(b, "\n__SEQNUM_ID=");
	output_id(b, &entry->seqnum_id);
	output_text(b, "\n_BOOT_ID=");
	output_id(b, &entry->boot_id);
	output_byte(b, '\n');
	for (size_t i = 0; i < entry->field_count; i++) {
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
