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

/* Appends the value of CONFIG_FILE as it is shown with colours: up to a NUL, and as a link where
 * one can be made. An empty one is shown like any other. */
static void verbose_config_file(const struct output_options *options, struct output_cache *cache,
				struct output_buffer *b, struct text_view value,
				const struct line_style *style)
{
	struct text_view path = { value.bytes,
				  strnlen((const char *)value.bytes, value.size) };

	if (path.size > 0) {
		value.size = link_path_size(options, path);
		if (!cache_scratch(cache, value.size, 0)) {
			b->failed = true;
			return;
		}
		link_write_path(options, cache->scratch, path);
		value.bytes = cache->scratch;
	}
	lines_print(b, value.bytes, value.size, style);
	cache_trim(cache);
}

/* Appends a field with a valid name, in colours or shortened. The end of the colour comes after the
 * line feed, as the reference has it. */
static void verbose_field_decorated(const struct output_options *options,
				    struct output_cache *cache, const struct output_field *f,
				    struct output_buffer *b)
{
	struct text_view value = field_value(f);
	const struct line_style style = { .indent = 4 + (size_t)f->name_size + 1,
					  .stop_at_nul = true };
	enum colour colour = COLOUR_NOTHING;
	struct text_view off;
	bool printable;

	if (field_is(f, "MESSAGE"))
		colour = COLOUR_HIGHLIGHT;
	else if (f->bytes[0] == '_')
		colour = COLOUR_GREEN;
	off = colour_text(options, colour ? COLOUR_NORMAL : COLOUR_NOTHING);
	output_fill(b, ' ', 4);
	output_view(b, colour_text(options, colour));
	output_bytes(b, f->bytes, (size_t)f->name_size + 1);
	printable = options->flags & OUTPUT_ALL || text_is_printable(value.bytes, value.size, true);
	if (!(options->flags & OUTPUT_ALL) &&
	    ((options->flags & OUTPUT_SHORTEN && f->size >= ENCODE_TEXT_SIZE_MAX) ||
	     (!printable && !(options->flags & OUTPUT_LENIENT)))) {
		lines_blob_mark(b, value.size);
		output_view(b, off);
		output_byte(b, '\n');
		return;
	}
	if (!printable)
		lines_escaped(b, value.bytes, value.size, &style);
	else if (options->colours && field_is(f, "CONFIG_FILE"))
		verbose_config_file(options, cache, b, value, &style);
	else
		lines_print(b, value.bytes, value.size, &style);
	output_view(b, off);
}

/* Appends a field with a valid name. */
static void verbose_field(const struct output_options *options, const struct output_field *f,
			  struct output_buffer *b)
{
	struct text_view value = field_value(f);
	size_t indent = 4 + (size_t)f->name_size + 1;
	const struct line_style style = { .indent = indent, .stop_at_nul = true };

	if (likely(f->traits & OUTPUT_TRAIT_LINE)) {
		if (!output_reserve(b, f->size + 5 + VEC16_SLACK))
			return;
		memset(b->bytes + b->size, ' ', 4);
		field_copy(b->bytes + b->size + 4, f, f->bytes, f->size);
		b->bytes[b->size + 4 + f->size] = '\n';
		b->size += f->size + 5;
		return;
	}
	if (!output_reserve(b, indent + VEC16_SLACK))
		return;
	memset(b->bytes + b->size, ' ', 4);
	short_copy(b->bytes + b->size + 4, f->bytes, indent - 4);
	b->size += indent;
	if (options->flags & OUTPUT_ALL)
		lines_print(b, value.bytes, value.size, &style);
	else if (lines_try_tab(b, value.bytes, value.size, indent))
		return;
	else if (options->flags & OUTPUT_LENIENT)
		lines_escaped(b, value.bytes, value.size, &style);
	else
		lines_blob(b, value.size);
}

/* Appends the header line in colours. It ends in grey: the reference does not end that colour. */
static void verbose_header_coloured(const struct output_options *options,
				    struct output_cache *cache, const struct output_entry *entry,
				    uint64_t realtime, struct output_buffer *b)
{
	if (!(options->flags & OUTPUT_NO_UNDERLINE))
		output_view(b, colour_text(options, COLOUR_UNDERLINE));
	calendar_time(options, cache, b, realtime, STAMP_FULL, true);
	output_view(b, colour_text(options, COLOUR_NORMAL));
	output_byte(b, ' ');
	output_view(b, colour_text(options, COLOUR_GREY));
	output_byte(b, '[');
	output_cursor(b, entry);
	output_byte(b, ']');
	output_view(b, colour_text(options, COLOUR_GREY));
	output_byte(b, '\n');
}

/* Appends an entry. */
void verbose_entry(const struct output_options *options, struct output_cache *cache,
		   const struct output_entry *entry, struct output_buffer *b)
{
	struct stamp_display display = stamp_display(entry, verbose_source(entry));
	const bool decorated = options->colours || options->flags & OUTPUT_SHORTEN;

	if (display.realtime == 0 || display.realtime >= STAMP_TIME_END)
		return;
	if (unlikely(options->colours)) {
		verbose_header_coloured(options, cache, entry, display.realtime, b);
	} else {
		calendar_time(options, cache, b, display.realtime, STAMP_FULL, true);
		output_text(b, " [");
		output_cursor(b, entry);
		output_text(b, "]\n");
	}
	for (size_t i = 0; i < entry->field_count; i++) {
		const struct output_field *f = &entry->fields[i];

		if (!field_is_valid(f))
			break;
		if (!field_is_listed(options->fields, f->bytes, f->name_size))
			continue;
		if (unlikely(decorated))
			verbose_field_decorated(options, cache, f, b);
		else
			verbose_field(options, f, b);
	}
	if (options->flags & OUTPUT_CATALOG)
		explain_print(options, cache, entry, b);
}
