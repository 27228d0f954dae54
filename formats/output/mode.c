/* SPDX-License-Identifier: MIT */
/*
 * The modes: their names, what they need of an entry, and the one door to all of them.
 */
#include "formats/output/encode.h"

#include <assert.h>
#include <stdlib.h>

/* Scratch of more than this is let go after the entry that needed it. */
#define CACHE_SCRATCH_KEPT_MAX (UINT64_C(1) << 20)

struct mode_name {
	const char *text;
	enum output_mode mode;
};

/* In the order that -o help lists them. */
static const struct mode_name mode_names[OUTPUT_MODE_COUNT] = {
	{ "short", OUTPUT_SHORT },
	{ "short-full", OUTPUT_SHORT_FULL },
	{ "short-iso", OUTPUT_SHORT_ISO },
	{ "short-iso-precise", OUTPUT_SHORT_ISO_PRECISE },
	{ "short-precise", OUTPUT_SHORT_PRECISE },
	{ "short-monotonic", OUTPUT_SHORT_MONOTONIC },
	{ "short-delta", OUTPUT_SHORT_DELTA },
	{ "short-unix", OUTPUT_SHORT_UNIX },
	{ "verbose", OUTPUT_VERBOSE },
	{ "export", OUTPUT_EXPORT },
	{ "json", OUTPUT_JSON },
	{ "json-pretty", OUTPUT_JSON_PRETTY },
	{ "json-sse", OUTPUT_JSON_SSE },
	{ "json-seq", OUTPUT_JSON_SEQ },
	{ "cat", OUTPUT_CAT },
	{ "with-unit", OUTPUT_WITH_UNIT },
	{ "json-stable", OUTPUT_JSON_STABLE },
};

/* Looks up a mode by its name. */
int output_mode_parse(const char *name, enum output_mode *ret_mode)
{
	for (unsigned i = 0; i < OUTPUT_MODE_COUNT; i++) {
		if (strcmp(name, mode_names[i].text) == 0) {
			*ret_mode = mode_names[i].mode;
			return 0;
		}
	}
	return -EINVAL;
}

/* Frees what the cache holds. */
void output_cache_done(struct output_cache *cache)
{
	free(cache->scratch);
	*cache = (struct output_cache){ 0 };
}

/* Makes the scratch at least SIZE + MORE_SIZE bytes large; what it held is lost. */
bool cache_scratch(struct output_cache *cache, size_t size, size_t more_size)
{
	uint8_t *bytes;

	if (more_size > (size_t)PTRDIFF_MAX || size > (size_t)PTRDIFF_MAX - more_size)
		return false;
	size += more_size;
	if (size == 0)
		size = 1;
	if (cache->scratch_size >= size)
		return true;
	if (size < cache->scratch_size * 2)
		size = cache->scratch_size * 2;
	bytes = malloc(size);
	if (!bytes)
		return false;
	free(cache->scratch);
	cache->scratch = bytes;
	cache->scratch_size = size;
	return true;
}

/* Lets go of scratch that only an extraordinary entry needs. */
void cache_trim(struct output_cache *cache)
{
	if (cache->scratch_size <= CACHE_SCRATCH_KEPT_MAX)
		return;
	free(cache->scratch);
	cache->scratch = NULL;
	cache->scratch_size = 0;
}

/* Appends an entry in the mode of the options, or nothing if memory runs out. */
int output_entry(const struct output_options *options, struct output_cache *cache,
		 struct output_previous *previous, const struct output_entry *entry,
		 struct output_buffer *buffer)
{
	size_t start = buffer->size;

	if (buffer->failed)
		return -ENOMEM;
	cache->catalog_failures = 0;
	switch (options->mode) {
	case OUTPUT_VERBOSE:
		verbose_entry(options, cache, entry, buffer);
		break;
	case OUTPUT_EXPORT:
		export_entry(options, entry, buffer);
		break;
	case OUTPUT_JSON:
	case OUTPUT_JSON_PRETTY:
	case OUTPUT_JSON_SSE:
	case OUTPUT_JSON_SEQ:
		json_entry(options, cache, entry, buffer);
		break;
	case OUTPUT_JSON_STABLE:
		json_stable_entry(options, cache, entry, buffer);
		break;
	case OUTPUT_CAT:
		cat_entry(options, entry, buffer);
		break;
	case OUTPUT_SHORT:
	case OUTPUT_SHORT_FULL:
	case OUTPUT_SHORT_ISO:
	case OUTPUT_SHORT_ISO_PRECISE:
	case OUTPUT_SHORT_PRECISE:
	case OUTPUT_SHORT_MONOTONIC:
	case OUTPUT_SHORT_DELTA:
	case OUTPUT_SHORT_UNIX:
	case OUTPUT_WITH_UNIT:
		text_entry(options, cache, previous, entry, buffer);
		break;
	case OUTPUT_MODE_COUNT:
		assert(false);
	}
	if (buffer->failed) {
		buffer->size = start;
		buffer->failed = false;
		return -ENOMEM;
	}
	return 0;
}

/* Appends the line that announces another boot. */
void output_boot_line(const struct output_options *options, struct output_buffer *b,
		      const struct id128 *boot_id)
{
	output_view(b, colour_text(options, COLOUR_HIGHLIGHT));
	output_text(b, "-- Boot ");
	output_id(b, boot_id);
	output_text(b, " --");
	output_view(b, colour_text(options, COLOUR_NORMAL));
	output_byte(b, '\n');
}

/* True if the mode looks at fields called NAME. */
bool output_needs_field(const struct output_options *options, const uint8_t *name, size_t size)
{
	const char *const *list = options->fields && options->fields[0] ? options->fields : NULL;

	switch (options->mode) {
	case OUTPUT_VERBOSE:
	case OUTPUT_EXPORT:
		/* An invalid name ends the entry, a time is shown, whatever is listed. */
		return !list || !field_name_is_valid(name, size) ||
		       field_is_listed(list, name, size) ||
		       (options->mode == OUTPUT_VERBOSE &&
			(verbose_needs_field(name, size) ||
			 (options->flags & OUTPUT_CATALOG && explain_needs_field(name, size))));
	case OUTPUT_JSON:
	case OUTPUT_JSON_PRETTY:
	case OUTPUT_JSON_SSE:
	case OUTPUT_JSON_SEQ:
		return field_name_is_valid(name, size) && field_is_listed(list, name, size);
	case OUTPUT_JSON_STABLE:
		return !list || (field_name_is_valid(name, size) &&
				 field_is_listed(list, name, size));
	case OUTPUT_CAT:
		if (options->colours && size == 8 && memcmp(name, "PRIORITY", 8) == 0)
			return true;
		if (list)
			return field_name_is_valid(name, size) && field_is_listed(list, name, size);
		return size == 7 && memcmp(name, "MESSAGE", 7) == 0;
	default:
		return text_needs_field(options, name, size);
	}
}

/* True if a list holds a name, whatever bytes it has. */
bool output_names_field(const char *const *list, const uint8_t *name, size_t size)
{
	for (; *list; list++)
		if (strlen(*list) == size && memcmp(*list, name, size) == 0)
			return true;
	return false;
}

/* True if the mode looks at every field, or at every one that has a valid name. */
bool output_needs_all(const struct output_options *options)
{
	if (options->fields && options->fields[0])
		return false;
	return (options->mode >= OUTPUT_VERBOSE && options->mode <= OUTPUT_JSON_SEQ) ||
	       options->mode == OUTPUT_JSON_STABLE;
}
