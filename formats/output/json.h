/* SPDX-License-Identifier: MIT */
/*
 * Which fields of an entry are values of one JSON member.
 */
#ifndef FORMATS_OUTPUT_JSON_H
#define FORMATS_OUTPUT_JSON_H

#include "formats/output/encode.h"

/* Up to this many fields are grouped without the cache's scratch. */
#define JSON_GROUPS_SMALL 128u

#define JSON_GROUP_END UINT32_C(0x7fffffff)
#define JSON_GROUP_HEAD UINT32_C(0x80000000)

/* The members that are made of the entry's header, in their order; _BOOT_ID follows. */
enum json_header {
	JSON_HEADER_CURSOR,
	JSON_HEADER_REALTIME,
	JSON_HEADER_MONOTONIC,
	JSON_HEADER_SEQNUM,
	JSON_HEADER_SEQNUM_ID,
	JSON_HEADER_COUNT
};

struct json_header_name {
	const char *text;
	uint8_t size;
};

extern const struct json_header_name json_header_names[JSON_HEADER_COUNT];

/*
 * For each field, the index of the next one of the same name, or JSON_GROUP_END; the first of a
 * name that is its own member has JSON_GROUP_HEAD set. Fields that are left out are in no chain.
 */
struct json_groups {
	uint32_t *links;                    /* small, or in the cache's scratch */
	uint32_t header[JSON_HEADER_COUNT]; /* stored fields that are called like the header's */
	uint32_t small[JSON_GROUPS_SMALL];
};

/* Fields that are not on LIST are left out, those without a valid name too. With HEADER, so is
 * _BOOT_ID, and what is called like the header's members becomes no member of its own. */
bool json_groups_make(struct json_groups *groups, struct output_cache *cache,
		      const char *const *list, bool header, const struct output_entry *entry);

/* True if the field at INDEX is the first value of a member. */
static inline bool json_group_is_head(const struct json_groups *groups, size_t index)
{
	return groups->links[index] & JSON_GROUP_HEAD;
}

/* The index of the next value of the same member. */
static inline uint32_t json_group_next(const struct json_groups *groups, uint32_t index)
{
	return groups->links[index] & ~JSON_GROUP_HEAD;
}

#endif
