/* SPDX-License-Identifier: MIT */
/*
 * A story told in every layout that the format has: the same entries in files of every header size,
 * regular and compact, keyed and not, sealed and not, compressed each way.
 */
#ifndef TESTS_SUPPORT_LAYOUTS_H
#define TESTS_SUPPORT_LAYOUTS_H

#include "tests/support/fixture.h"

struct layout {
	uint32_t header_size;
	bool compact;
	bool keyed;
	uint8_t compression;
	bool sealed;
	bool zstd_without_size;
	uint8_t state;
	uint64_t preallocate_bytes;
};

#define LAYOUT_COUNT 16u
#define STORY_ENTRIES 120u
#define STORY_FIELDS 8u
#define STORY_TEXT_SIZE 2000u

/* Every header size, and the other properties spread over them. */
extern struct layout layouts[LAYOUT_COUNT];

/* The fields of entry INDEX as submitted, in memory of the caller's: one of its own; some shared by
 * all, by some and by few; one submitted twice; now and then a long one; a binary one. */
void story_fields(unsigned index, struct fixture_field fields[STORY_FIELDS],
		  char texts[STORY_FIELDS][STORY_TEXT_SIZE]);

/* The whole story as a finished file. Entry 7 skips to number 100, entry 60 begins a second boot, a
 * sealed file has a tag after entry 30. */
struct fixture *story_new(const struct layout *layout);

#endif
