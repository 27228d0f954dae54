/* SPDX-License-Identifier: MIT */
/*
 * verbose: a line with time and cursor, then every field, values that are not printable replaced
 * by their size. A field with an invalid name ends the entry.
 */
#include "formats/output/encode.h"

/* The source time that the header line shows: the last one, but none that comes after both it and
 * the sender's monotonic time have been seen. */
static struct text_view verbose_source(const struct output_entry *entry)
{
	struct text_view source = { 0 };
	bool monotonic = false;

	for (size_t i = 0; i < entry->field_count && !(source.bytes && monotonic); i++) {
		const struct output_field *f = &entry->fields[i];

		if (field_is(f, "_SOURCE_REALTIME_TIMESTAMP"))
			source = field_value(f);
		else if (field_is(f, "_SOURCE_MONOTONIC_TIMESTAMP"))
			monotonic = true;
	}
	return source;
}

/* True if the header line looks at fields called NAME. */
bool verbose_needs_field(const uint8_t *name, size_t size)
{
	const struct output_field f = { name, size + 1, (uint32_t)size };

	return size <= FIELD_NAME_SIZE_MAX && (field_is(&f, "_SOURCE_REALTIME_TIMESTAMP") ||
					       field_is(&f, "_SOURCE_MONOTONIC_TIMESTAMP"));
}

/* Appends a field with a valid name. */
static void verbose_field(const struct output_options *options, const struct output_field *f,
			  struct output_buffer *b)
{
	struct text_view value = field_value(f);
	size_t indent = 4 + (size_t)f->name_size + 1;

	if (!output_reserve(b, indent + VEC16_SLACK))
		return;
	memset(b->bytes + b->size, ' ', 4);
	short_copy(b->bytes + b->size + 4, f->bytes, indent - 4);
	b->size += indent;
	if (options->flags & OUTPUT_ALL) {
		const struct line_style style = { .indent = indent, .stop_at_nul = true };

		lines_print(b, value.bytes, value.size, &style);
	} else if (!lines_try_tab(b, value.bytes, value.size, indent)) {
		lines_blob(b, value.size);
	}
}

/* Appends an entry. */
void verbose_entry(const struct output_options *options, struct output_cache *cache,
		   const struct output_entry *entry, struct output_buffer *b)
{
	struct stamp_display display = stamp_display(entry, verbose_source(entry));

	if (display.realtime == 0 || display.realtime >= STAMP_TIME_END)
		return;
	calendar_time(options, cache, b, display.realtime, STAMP_FULL, true);
	output_text(b, " [");
	output_cursor(b, entry);
	output_text(b, "]\n");
	for (size_t i = 0; i < entry->field_count; i++) {
		const struct output_field *f = &entry->fields[i];

		if (!field_is_valid(f))
			break;
		if (field_is_listed(options->fields, f->bytes, f->name_size))
			verbose_field(options, f, b);
	}
}
