/* SPDX-License-Identifier: MIT */
/* The story and the layouts it is told in: what each entry holds depends on its index alone. */
#include <stdio.h>

#include "tests/support/layouts.h"

struct layout layouts[LAYOUT_COUNT] = {
	{ 208, false, false, 0, false, false, JOURNAL_STATE_OFFLINE, 0 },
	{ 212, false, true, 0, false, false, JOURNAL_STATE_OFFLINE, 0 },
	{ 216, false, false, OBJECT_XZ, false, false, JOURNAL_STATE_ARCHIVED, 0 },
	{ 224, true, false, OBJECT_LZ4, false, false, JOURNAL_STATE_ONLINE, 65536 },
	{ 232, false, true, OBJECT_ZSTD, false, false, JOURNAL_STATE_OFFLINE, 0 },
	{ 240, false, false, OBJECT_XZ, true, false, JOURNAL_STATE_ARCHIVED, 0 },
	{ 248, true, true, 0, false, false, JOURNAL_STATE_OFFLINE, 4096 },
	{ 256, false, true, OBJECT_ZSTD, false, true, JOURNAL_STATE_OFFLINE, 0 },
	{ 260, true, true, OBJECT_ZSTD, false, false, JOURNAL_STATE_OFFLINE, 0 },
	{ 264, true, true, OBJECT_ZSTD, true, false, JOURNAL_STATE_ONLINE, 1 << 20 },
	{ 272, false, false, 0, false, false, JOURNAL_STATE_OFFLINE, 0 },
	{ 272, false, true, OBJECT_LZ4, false, false, JOURNAL_STATE_ARCHIVED, 0 },
	{ 272, true, false, OBJECT_XZ, false, false, JOURNAL_STATE_ONLINE, 8 << 20 },
	{ 272, true, true, OBJECT_ZSTD, true, true, JOURNAL_STATE_OFFLINE, 0 },
	{ 280, true, true, OBJECT_LZ4, false, false, JOURNAL_STATE_OFFLINE, 0 },
	{ 4096, false, true, 0, true, false, JOURNAL_STATE_OFFLINE, 0 },
};

void story_fields(unsigned index, struct fixture_field fields[STORY_FIELDS],
		  char texts[STORY_FIELDS][STORY_TEXT_SIZE])
{
	snprintf(texts[0], STORY_TEXT_SIZE, "MESSAGE=line %u of a story", index);
	snprintf(texts[1], STORY_TEXT_SIZE, "PRIORITY=%u", index % 8);
	snprintf(texts[2], STORY_TEXT_SIZE, "_TRANSPORT=journal");
	snprintf(texts[3], STORY_TEXT_SIZE, "CODE_LINE=%u", index / 50);
	snprintf(texts[4], STORY_TEXT_SIZE, "TWICE=%u", index % 2);
	snprintf(texts[5], STORY_TEXT_SIZE, "TWICE=%u", index % 2);
	/* LONG= and BINARY= are not text: they are as long as the sizes below say. */
	memset(texts[6], 'a' + (int)(index % 26), STORY_TEXT_SIZE);
	memcpy(texts[6], "LONG=", 5);
	memcpy(texts[7], "BINARY=\n\0\xff=", 12);
	for (unsigned k = 0; k < 6; k++)
		fields[k] = (struct fixture_field){ texts[k], strlen(texts[k]) };
	fields[6] = (struct fixture_field){ texts[6], index % 9 ? 30 : STORY_TEXT_SIZE };
	fields[7] = (struct fixture_field){ texts[7], 11 };
}

struct fixture *story_new(const struct layout *l)
{
	struct fixture *fx = fixture_new(&(struct fixture_options){
		.header_size = l->header_size,
		.compact = l->compact,
		.keyed = l->keyed,
		.sealed = l->sealed,
		.sealed_continuous = l->sealed && l->header_size >= HEADER_SIZE_MAX,
		.state = l->state,
		.compression = l->compression,
		.zstd_without_size = l->zstd_without_size,
		.preallocate_bytes = l->preallocate_bytes,
		.id_fields = true,
	});

	for (unsigned i = 0; i < STORY_ENTRIES; i++) {
		struct fixture_stamp s = { .seqnum = i == 7 ? 100 : 0,
					   .boot_id = fixture_id(i < 60 ? 50 : 51),
					   .monotonic = i == 60 ? 1 : 0 };
		struct fixture_field fields[STORY_FIELDS];
		char texts[STORY_FIELDS][STORY_TEXT_SIZE];

		story_fields(i, fields, texts);
		fixture_entry(fx, &s, fields, STORY_FIELDS);
		if (i == 30 && l->sealed)
			fixture_tag(fx);
	}
	fixture_finish(fx);
	return fx;
}
