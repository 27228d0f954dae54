/* SPDX-License-Identifier: MIT */
/*
 * What the message catalog says about an entry: the text for its MESSAGE_ID, in which @FIELD@
 * stands for the entry's first value of that field. It is made in the cache's scratch.
 */
#include "formats/output/encode.h"

/* Longer fields are not inserted, but named. */
#define EXPLAIN_FIELD_SIZE_MAX 4096u

/* The entry's first field of a name; NULL. */
static const struct output_field *explain_find(const struct output_entry *entry,
					       const uint8_t *name, size_t size)
{
	for (size_t i = 0; i < entry->field_count; i++) {
		const struct output_field *f = &entry->fields[i];

		if (f->name_size == size && f->size > size && memcmp(f->bytes, name, size) == 0)
			return f;
	}
	return NULL;
}

/* True for what a variable's name is made of. */
static bool explain_is_name(uint8_t c)
{
	return (c >= 'A' && c <= 'Z') || c == '_';
}

/* True if a text may refer to a field of this name. */
bool explain_needs_field(const uint8_t *name, size_t size)
{
	if (size == 0 || (size >= 2 && name[0] == '_' && name[1] == '_'))
		return false;
	while (size > 0)
		if (!explain_is_name(name[--size]))
			return false;
	return true;
}

/* What stands for a variable: a value up to its first NUL, or the variable's own name. */
static struct text_view explain_value(const struct output_entry *entry, const uint8_t *name,
				      size_t size)
{
	struct text_view value = { name, size };
	const struct output_field *f = NULL;

	if (explain_needs_field(name, size))
		f = explain_find(entry, name, size);
	if (f && f->size <= EXPLAIN_FIELD_SIZE_MAX) {
		value = field_value(f);
		value.size = strnlen((const char *)value.bytes, value.size);
	}
	return value;
}

/* Writes a text with its variables replaced to TO, unless that is NULL; returns the size. */
static size_t explain_expand(const struct output_entry *entry, const struct catalog_text *text,
			     uint8_t *to)
{
	const uint8_t *p = text->bytes, *end = text->bytes + text->size;
	size_t size = 0;

	while (p < end) {
		struct text_view piece = { p, 0 };
		const uint8_t *name = p + 1;

		if (*p == '@') {
			const uint8_t *stop = name;

			while (stop < end && explain_is_name(*stop))
				stop++;
			if (stop > name && stop < end && *stop == '@') {
				piece = explain_value(entry, name, (size_t)(stop - name));
				p = stop + 1;
			} else {
				piece.size = 1;
				p++;
			}
		} else {
			const uint8_t *at = memchr(p, '@', (size_t)(end - p));

			piece.size = (size_t)((at ? at : end) - p);
			p += piece.size;
		}
		if (to)
			memcpy(to + size, piece.bytes, piece.size);
		size += piece.size;
	}
	return size;
}

/* Remembers that the text of an entry could not be looked up. */
static void explain_failed(struct output_cache *cache, int error)
{
	cache->catalog_error = error;
	cache->catalog_failures++;
}

/*
 * Makes the text about an entry, in the cache's scratch. False if there is none, or if memory runs
 * out: the buffer knows.
 */
static bool explain_make(const struct output_options *options, struct output_cache *cache,
			 const struct output_entry *entry, struct output_buffer *b,
			 struct text_view *ret_text)
{
	const struct output_field *f =
		explain_find(entry, (const uint8_t *)"MESSAGE_ID", sizeof("MESSAGE_ID") - 1);
	struct text_view value;
	struct catalog_text text;
	struct id128 id;
	size_t size;

	if (!f)
		return false;
	value = field_value(f);
	if (!catalog_parse_id(value.bytes, strnlen((const char *)value.bytes, value.size), &id)) {
		explain_failed(cache, -EINVAL);
		return false;
	}
	if (!options->catalog) {
		if (options->catalog_error < 0 && options->catalog_error != -ENOENT)
			explain_failed(cache, options->catalog_error);
		return false;
	}
	if (!catalog_find(options->catalog, &id, &text))
		return false;
	size = explain_expand(entry, &text, NULL);
	if ((b->limit && size > b->limit) || !cache_scratch(cache, size, 0)) {
		b->failed = true;
		return false;
	}
	explain_expand(entry, &text, cache->scratch);
	*ret_text = (struct text_view){ cache->scratch, size };
	return true;
}

/* True for white space. */
static bool explain_is_blank(uint8_t c)
{
	return c == ' ' || c == '\t' || c == '\n' || c == '\r';
}

/* Appends the text about an entry, if there is one, each line behind a mark. */
void explain_print(const struct output_options *options, struct output_cache *cache,
		   const struct output_entry *entry, struct output_buffer *b)
{
	const char *mark = options->flags & OUTPUT_ASCII ? "--" : "\xe2\x96\x91\xe2\x96\x91";
	struct text_view text;
	bool first = true;

	if (!explain_make(options, cache, entry, b, &text))
		return;
	while (text.size > 0 && explain_is_blank(text.bytes[0])) {
		text.bytes++;
		text.size--;
	}
	while (text.size > 0 && explain_is_blank(text.bytes[text.size - 1]))
		text.size--;
	for (;;) {
		const uint8_t *end = text.size ? memchr(text.bytes, '\n', text.size) : NULL;
		size_t size = end ? (size_t)(end - text.bytes) : text.size;

		output_view(b, colour_text(options, COLOUR_GREY));
		output_bytes(b, mark, strlen(mark));
		/* The reference puts the space before the end of the colour, once. */
		if (first)
			output_byte(b, ' ');
		output_view(b, colour_text(options, COLOUR_NORMAL));
		if (!first)
			output_byte(b, ' ');
		colour_print(options, b, COLOUR_GREEN, text.bytes, size);
		output_byte(b, '\n');
		if (!end)
			break;
		text.bytes = end + 1;
		text.size -= size + 1;
		first = false;
	}
	cache_trim(cache);
}

/* Appends a sign that links to where the text about an entry says that there is documentation. */
void explain_print_link(const struct output_options *options, struct output_cache *cache,
			const struct output_entry *entry, struct output_buffer *b)
{
	static const char name[] = "Documentation:";
	const size_t name_size = sizeof(name) - 1;
	struct text_view text, url;
	const uint8_t *at, *end;

	if (!explain_make(options, cache, entry, b, &text))
		return;
	end = text.bytes + text.size;
	at = memmem(text.bytes, text.size, name, name_size);
	while (at && at > text.bytes && at[-1] != '\n')
		at = memmem(at + 1, (size_t)(end - at - 1), name, name_size);
	if (!at)
		return;
	at += name_size;
	while (at < end && (*at == ' ' || *at == '\t'))
		at++;
	url.bytes = at;
	while (at < end && !explain_is_blank(*at))
		at++;
	url.size = (size_t)(at - url.bytes);
	if (link_is_url(url))
		link_print_sign(options, b, url);
	cache_trim(cache);
}
