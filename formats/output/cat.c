/* SPDX-License-Identifier: MIT */
/*
 * cat: the first value of MESSAGE, or of each listed field in the order of the list, as it is.
 */
#include "formats/output/encode.h"

/* Appends the first value of a field and a line feed, if the entry has one. */
static void cat_field(const struct output_entry *entry, const char *name, size_t name_size,
		      struct output_buffer *b)
{
	for (size_t i = 0; i < entry->field_count; i++) {
		const struct output_field *f = &entry->fields[i];

		if (f->name_size == name_size && f->size > name_size &&
		    memcmp(f->bytes, name, name_size) == 0) {
			struct text_view value = field_value(f);

			if (output_reserve(b, value.size + 1 + VEC16_SLACK)) {
				short_copy(b->bytes + b->size, value.bytes, value.size);
				b->bytes[b->size + value.size] = '\n';
				b->size += value.size + 1;
			}
			return;
		}
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

/* Appends an entry. */
void cat_entry(const struct output_options *options, const struct output_entry *entry,
	       struct output_buffer *b)
{
	const char *const *list = options->fields;

	if (!list || !list[0]) {
		cat_field(entry, "MESSAGE", sizeof("MESSAGE") - 1, b);
		return;
	}
	for (size_t i = 0; list[i]; i++)
		if (!cat_is_repeated(list, i))
			cat_field(entry, list[i], strlen(list[i]), b);
}
