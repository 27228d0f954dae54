/* SPDX-License-Identifier: MIT */
/* Seals for files made in memory: tags that a verification key bears out. */
#include <stdlib.h>

#include "tests/support/fixture-private.h"
#include "tests/support/fixture.h"

/* Adds what a seal covers of the header. */
static void fixture_seal_header(struct fixture *fx, struct seal *seal)
{
	const uint8_t *bytes = fixture_bytes(fx);

	seal_put(seal, bytes, 16);
	seal_put(seal, bytes + 24, 32);
	seal_put(seal, bytes + 72, 24);
	seal_put(seal, bytes + 104, 32);
}

/* Adds what a seal covers of an object. */
static void fixture_seal_object(struct fixture *fx, struct seal *seal, uint64_t offset)
{
	const uint8_t *object = fixture_bytes(fx) + offset;
	uint64_t size = fixture_get64(fx, offset + OBJECT_SIZE);
	uint64_t payload = fx->options.compact ? DATA_PAYLOAD_COMPACT : DATA_PAYLOAD_REGULAR;

	seal_put(seal, object, OBJECT_HEADER_SIZE);
	switch (object[OBJECT_TYPE]) {
	case OBJECT_DATA:
		seal_put(seal, object + DATA_HASH, 8);
		seal_put(seal, object + payload, size - payload);
		break;
	case OBJECT_FIELD:
		seal_put(seal, object + FIELD_HASH, 8);
		seal_put(seal, object + FIELD_PAYLOAD, size - FIELD_PAYLOAD);
		break;
	case OBJECT_ENTRY:
		seal_put(seal, object + ENTRY_SEQNUM, size - ENTRY_SEQNUM);
		break;
	case OBJECT_TAG:
		seal_put(seal, object + TAG_SEQNUM, 16);
		break;
	default: /* tables and arrays change */
		break;
	}
}

int fixture_seal(struct fixture *fx, struct seal *seal)
{
	const struct fixture_list *objects = &fx->objects[OBJECT_ANY];
	size_t first = 0; /* object behind the last tag */
	uint8_t tag[SEAL_TAG_SIZE];
	int r = 0;

	for (size_t i = 0; i < objects->count && r == 0; i++) {
		uint64_t offset = objects->offsets[i];

		if (fixture_get8(fx, offset + OBJECT_TYPE) != OBJECT_TAG)
			continue;
		r = seal_begin(seal, fixture_get64(fx, offset + TAG_EPOCH));
		if (r < 0)
			break;
		if (first == 0)
			fixture_seal_header(fx, seal);
		for (size_t k = first; k <= i; k++)
			fixture_seal_object(fx, seal, objects->offsets[k]);
		seal_end(seal, tag);
		fixture_poke(fx, offset + TAG_TAG, tag, sizeof(tag));
		first = i + 1;
	}
	return r;
}
