/* SPDX-License-Identifier: MIT */
/*
 * One field: is its name valid, is it among those that the caller lists.
 */
#include "formats/output/encode.h"

/* True for 1 to 64 characters A-Z, 0-9 and _ that do not begin with a digit. */
bool field_name_is_valid(const uint8_t *name, size_t size)
{
	unsigned misses;

	if (size == 0 || size > FIELD_NAME_SIZE_MAX || (name[0] >= '0' && name[0] <= '9'))
		return false;
	if (size < 16) {
		misses = vec16_misses(field_name_class(vec16_load_part(name, size)));
		return (misses & ((1u << size) - 1)) == 0;
	}
	misses = vec16_misses(field_name_class(vec16_load(name + size - 16)));
	for (size_t at = 0; at < size - 16; at += 16)
		misses |= vec16_misses(field_name_class(vec16_load(name + at)));
	return misses == 0;
}

/* Looks at a field once and for all. */
uint32_t output_traits(const struct output_field *field)
{
	const struct output_field f = { field->bytes, field->size, field->name_size, 0 };
	uint32_t traits = OUTPUT_TRAITS_KNOWN;
	struct text_view value;

	if (!field_is_valid(&f))
		return traits;
	traits |= OUTPUT_TRAIT_NAMED | field_name_hash(&f) << 16 |
		  text_field_slot(f.bytes, f.name_size) << 8;
	if (!text_is_printable(f.bytes, f.size, false))
		return traits;
	traits |= OUTPUT_TRAIT_LINE;
	value = field_value(&f);
	for (size_t i = 0; i < value.size; i++)
		if (value.bytes[i] == '"' || value.bytes[i] == '\\' || value.bytes[i] == '\t')
			return traits;
	return traits | OUTPUT_TRAIT_PLAIN;
}

/* The slow half of field_is_listed(). */
bool field_list_holds(const char *const *list, const uint8_t *name, size_t size)
{
	if (!list[0])
		return true;
	for (; *list; list++)
		/* A valid name holds no NUL, so an equal prefix means that the listed one has SIZE
		 * bytes at least. */
		if (strncmp(*list, (const char *)name, size) == 0 && (*list)[size] == '\0')
			return true;
	return false;
}
