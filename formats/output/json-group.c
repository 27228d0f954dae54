/* SPDX-License-Identifier: MIT */
/*
 * Finds the fields of an entry that share a name, in order of first appearance. The usual entry,
 * of some twenty fields, goes through a small hash table on the stack; a larger one is sorted by
 * name, so that no choice of names makes it slow.
 */
#include "formats/output/json.h"

const struct json_header_name json_header_names[JSON_HEADER_COUNT] = {
	[JSON_HEADER_CURSOR] = { "__CURSOR", 8 },
	[JSON_HEADER_REALTIME] = { "__REALTIME_TIMESTAMP", 20 },
	[JSON_HEADER_MONOTONIC] = { "__MONOTONIC_TIMESTAMP", 21 },
	[JSON_HEADER_SEQNUM] = { "__SEQNUM", 8 },
	[JSON_HEADER_SEQNUM_ID] = { "__SEQNUM_ID", 11 },
};

/* True if a field becomes a value of some member. */
static bool json_group_wants(const char *const *list, bool header, const struct output_field *f)
{
	return field_is_valid(f) && !(header && field_is(f, "_BOOT_ID")) &&
	       field_is_listed(list, f->bytes, f->name_size);
}

/* The order of names: by size, then by bytes. */
static int json_group_compare(const struct output_field *a, const struct output_field *b)
{
	if (a->name_size != b->name_size)
		return a->name_size < b->name_size ? -1 : 1;
	return memcmp(a->bytes, b->bytes, a->name_size);
}

/* Takes a chain out of the members if its name is one of the header's. */
static void json_group_reserve(struct json_groups *groups, const struct output_field *f,
			       uint32_t index)
{
	if (f->name_size < 8 || f->bytes[0] != '_' || f->bytes[1] != '_')
		return;
	for (unsigned i = 0; i < JSON_HEADER_COUNT; i++) {
		if (json_header_names[i].size == f->name_size &&
		    memcmp(json_header_names[i].text, f->bytes, f->name_size) == 0) {
			groups->header[i] = index;
			groups->links[index] &= ~JSON_GROUP_HEAD;
		}
	}
}

/* Links the fields of an entry that has JSON_GROUPS_SMALL of them at most. */
static void json_groups_hash(struct json_groups *groups, const char *const *list, bool header,
			     const struct output_entry *entry)
{
	uint8_t table[256] = { 0 }; /* index of a name's first field, plus 1 */
	uint8_t tails[JSON_GROUPS_SMALL];

	for (uint32_t i = 0; i < entry->field_count; i++) {
		const struct output_field *f = &entry->fields[i];
		unsigned slot;

		groups->links[i] = JSON_GROUP_END;
		if (!json_group_wants(list, header, f))
			continue;
		slot = field_name_hash(f);
		while (table[slot] != 0 &&
		       json_group_compare(&entry->fields[table[slot] - 1], f) != 0)
			slot = (slot + 1) % sizeof(table);
		if (table[slot] == 0) {
			table[slot] = (uint8_t)(i + 1);
			groups->links[i] |= JSON_GROUP_HEAD;
			if (header)
				json_group_reserve(groups, f, i);
		} else {
			uint32_t *tail = &groups->links[tails[table[slot] - 1]];

			*tail = (*tail & JSON_GROUP_HEAD) | i;
		}
		tails[table[slot] - 1] = (uint8_t)i;
	}
}

/* Sorts COUNT indexes by the names of their fields, equal ones by index. Returns where the result
 * is: in INDEXES or in SPARE, which is as large. */
static uint32_t *json_group_sort(const struct output_entry *entry, uint32_t *indexes,
				 uint32_t *spare, size_t count)
{
	for (size_t width = 1; width < count; width *= 2) {
		uint32_t *swap = indexes;

		for (size_t first = 0; first < count; first += 2 * width) {
			size_t middle = first + width < count ? first + width : count;
			size_t end = middle + width < count ? middle + width : count;
			size_t left = first, right = middle;

			for (size_t to = first; to < end; to++) {
				bool take_left = left < middle;

				if (take_left && right < end)
					take_left = json_group_compare(
							    &entry->fields[indexes[left]],
							    &entry->fields[indexes[right]]) <= 0;
				spare[to] = take_left ? indexes[left++] : indexes[right++];
			}
		}
		indexes = spare;
		spare = swap;
	}
	return indexes;
}

/* Links the fields of any entry; links has room for three indexes a field. */
static void json_groups_sort(struct json_groups *groups, const char *const *list, bool header,
			     const struct output_entry *entry)
{
	uint32_t *indexes = groups->links + entry->field_count;
	size_t count = 0;

	for (size_t i = 0; i < entry->field_count; i++) {
		groups->links[i] = JSON_GROUP_END;
		if (json_group_wants(list, header, &entry->fields[i]))
			indexes[count++] = (uint32_t)i;
	}
	indexes = json_group_sort(entry, indexes, indexes + entry->field_count, count);
	for (size_t i = 0; i < count; i++) {
		const struct output_field *f = &entry->fields[indexes[i]];

		if (i > 0 && json_group_compare(&entry->fields[indexes[i - 1]], f) == 0) {
			uint32_t *before = &groups->links[indexes[i - 1]];

			*before = (*before & JSON_GROUP_HEAD) | indexes[i];
		} else {
			groups->links[indexes[i]] |= JSON_GROUP_HEAD;
		}
	}
	for (size_t i = 0; i < count && header; i++)
		if (json_group_is_head(groups, indexes[i]))
			json_group_reserve(groups, &entry->fields[indexes[i]], indexes[i]);
}

/* Groups the fields of an entry. False if memory runs out. */
bool json_groups_make(struct json_groups *groups, struct output_cache *cache,
		      const char *const *list, bool header, const struct output_entry *entry)
{
	for (unsigned i = 0; i < JSON_HEADER_COUNT; i++)
		groups->header[i] = JSON_GROUP_END;
	if (entry->field_count <= JSON_GROUPS_SMALL) {
		groups->links = groups->small;
		json_groups_hash(groups, list, header, entry);
		return true;
	}
	if (entry->field_count >= JSON_GROUP_END ||
	    !cache_scratch(cache, entry->field_count * sizeof(uint32_t) * 3, 0))
		return false;
	groups->links = (uint32_t *)(void *)cache->scratch;
	json_groups_sort(groups, list, header, entry);
	return true;
}
