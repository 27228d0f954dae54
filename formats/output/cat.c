/* SPDX-License-Identifier: MIT */
/*
 * cat: the first value of MESSAGE, or of each listed field in the order of the list, as it is.
 */
#include "formats/output/encode.h"

/* Appends a value in colours and a line feed. MATCHED: what the pattern matched is in it. */
static void cat_coloured(const struct output_entry *entry, struct text_view value, bool matched,
			 const struct colour_set *colours, struct output_buffer *b)
{
	size_t begin = 0, end = 0;

	output_view(b, colours->on);
	if (matched) {
		end = entry->match_end < value.size ? entry->match_end : value.size;
		begin = entry->match_begin < end ? entry->match_begin : end;
		output_view(b, (struct text_view){ value.bytes, begin });
		output_view(b, colours->match);
		output_view(b, (struct text_view){ value.bytes + begin, end - begin });
		output_view(b, colours->on);
	}
	output_view(b, (struct text_view){ value.bytes + end, value.size - end });
	output_view(b, colours->off);
	output_byte(b, '\n');
}

/* The entry's first field called NAME; NULL. */
static const struct output_field *cat_find(const struct output_entry *entry, const char *name,
					   size_t name_size)
{
	for (size_t i = 0; i < entry->field_count; i++) {
		const struct output_field *f = &entry->fields[i];

		if (f->name_size == name_size && f->size > name_size &&
		    memcmp(f->bytes, name, name_size) == 0)
			return f;
	}
	return NULL;
}

/* Appends the first value of a field and a line feed, if the entry has one. */
static void cat_field(const struct output_options *options, const struct output_entry *entry,
		      const char *name, size_t name_size, struct output_buffer *b)
{
	const struct output_field *f = cat_find(entry, name, name_size), *priority;
	struct colour_set colours;
	struct text_view value;

	if (!f)
		return;
	value = field_value(f);
	if (unlikely(options->colours)) {
		priority = cat_find(entry, "PRIORITY", sizeof("PRIORITY") - 1);
		colours = colour_message(options, priority ? field_value(priority) :
							     (struct text_view){ NULL, 0 });
		cat_coloured(entry, value, name_size == 7 && memcmp(name, "MESSAGE", 7) == 0,
			     &colours, b);
		return;
	}
	if (output_reserve(b, value.size + 1 + VEC16_SLACK)) {
		short_copy(b->bytes + b->size, value.bytes, value.size);
		b->bytes[b->size + value.size] = '\n';
		b->size += value.size + 1;
	}
}

/* True if LIST holds its element at INDEX before it too: a list is a set. */
static bool cat_is_repeated(const char *const *list, size_t index)
{
	for (size_t i = 0; i < index; i++)
		if (strcmp(list[i], list[index]) == 0)
			return true;
	return false;
}

int output_message(const struct output_field *message, struct output_buffer *b)
{
	struct text_view value = field_value(message);

	if (unlikely(!output_reserve(b, value.size + 1 + VEC16_SLACK))) {
		b->failed = false;
		return -ENOMEM;
	}
	short_copy(b->bytes + b->size, value.bytes, value.size);
	b->bytes[b->size + value.size] = '\n';
	b->size += value.size + 1;
	return 0;
}

/* Appends an entry. */
void cat_entry(const struct output_options *options, const struct output_entry *entry,
	       struct output_buffer *b)
{
	const char *const *list = options->fields;

	if (!list || !list[0]) {
		cat_field(options, entry, "MESSAGE", sizeof("MESSAGE") - 1, b);
		return;
	}
	for (size_t i = 0; list[i]; i++)
		if (!cat_is_repeated(list, i))
			cat_field(options, entry, list[i], strlen(list[i]), b);
}
