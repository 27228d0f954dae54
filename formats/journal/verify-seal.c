/* SPDX-License-Identifier: MIT */
/*
 * Recomputing a tag. Its key depends on the epoch that the tag names, so what it covers is read a
 * second time once the walk has come to it: all objects behind the previous tag (of a file's first
 * tag: the header, and those behind it) up to the tag itself. Of each only what never changes is
 * covered.
 */
#include <assert.h>

#include "formats/journal/verify-private.h"

/* Bytes and objects in one piece of work. */
#define VERIFY_SEAL_BYTES (64u << 10)
#define VERIFY_SEAL_OBJECTS 256u

/* The parts of a header that never change. */
static const struct {
	uint8_t offset, size;
} verify_seal_header[] = {
	{ 0, 16 },                             /* signature and flags */
	{ HEADER_FILE_ID, 32 },                /* and the machine's ID */
	{ HEADER_SEQNUM_ID, 24 },              /* and the header's size */
	{ HEADER_DATA_HASH_TABLE_OFFSET, 32 }, /* both tables */
};

int verify_seal_begin(struct verify *v, uint64_t epoch)
{
	int r = seal_begin(v->seal, epoch);

	if (r < 0)
		return r;
	v->seal_p = v->last_tag ? v->last_tag + TAG_SIZE : 0;
	v->seal_bytes = 0;
	v->phase = VERIFY_SEAL;
	return 1;
}

/* The header, before the first object. */
static int verify_seal_put_header(struct verify *v, struct window *w)
{
	const uint8_t *bytes;
	int r = window_get(w, 0, HEADER_SIZE_MIN, &bytes);

	if (r < 0)
		return r;
	for (unsigned i = 0; i < sizeof(verify_seal_header) / sizeof(verify_seal_header[0]); i++)
		seal_put(v->seal, bytes + verify_seal_header[i].offset, verify_seal_header[i].size);
	v->seal_p = v->journal->header.header_size;
	return 0;
}

/* What of an object is covered: up to two ranges beside its header. */
static unsigned verify_seal_ranges(const struct verify *v, const struct object_header *o,
				   struct window_range ranges[2])
{
	const struct journal *j = v->journal;

	switch ((enum object_type)o->type) {
	case OBJECT_DATA:
		ranges[0] = (struct window_range){ DATA_HASH, 8 };
		ranges[1] = (struct window_range){ j->data_payload, o->size - j->data_payload };
		return 2;
	case OBJECT_FIELD:
		ranges[0] = (struct window_range){ FIELD_HASH, 8 };
		ranges[1] = (struct window_range){ FIELD_PAYLOAD, o->size - FIELD_PAYLOAD };
		return 2;
	case OBJECT_ENTRY:
		ranges[0] =
			(struct window_range){ OBJECT_HEADER_SIZE, o->size - OBJECT_HEADER_SIZE };
		return 1;
	case OBJECT_TAG:
		ranges[0] = (struct window_range){ TAG_SEQNUM, 16 };
		return 1;
	case OBJECT_DATA_HASH_TABLE:
	case OBJECT_FIELD_HASH_TABLE:
	case OBJECT_ENTRY_ARRAY:
	case OBJECT_ANY:
		break;
	}
	return 0;
}

/* One object; v->seal_bytes of it are done: its header, then the ranges, in pieces. */
static int verify_seal_put_object(struct verify *v, struct window *w, const struct object_header *o)
{
	struct window_range ranges[3] = { { 0, OBJECT_HEADER_SIZE } };
	unsigned count = 1 + verify_seal_ranges(v, o, ranges + 1);
	uint64_t before = 0; /* bytes of the ranges before this one */

	for (unsigned i = 0; i < count; i++) {
		while (v->seal_bytes < before + ranges[i].size_bytes) {
			uint64_t at = v->seal_bytes - before, size = ranges[i].size_bytes - at;
			const uint8_t *bytes;
			int r;

			if (size > VERIFY_SEAL_BYTES)
				size = VERIFY_SEAL_BYTES;
			r = window_get(w, v->seal_p + ranges[i].offset + at, size, &bytes);
			if (r < 0)
				return r;
			seal_put(v->seal, bytes, size);
			v->seal_bytes += size;
		}
		before += ranges[i].size_bytes;
	}
	return 0;
}

/* Everything has been put: is it the tag? */
static int verify_seal_compare(struct verify *v, struct window *w)
{
	uint8_t tag[SEAL_TAG_SIZE];
	const uint8_t *stored;
	int r = window_get(w, v->p + TAG_TAG, SEAL_TAG_SIZE, &stored);

	if (r < 0)
		return r;
	seal_end(v->seal, tag);
	if (memcmp(tag, stored, SEAL_TAG_SIZE) != 0)
		return verify_say(v, v->p, -EBADMSG, "Tag failed verification");
	v->tag_is_right = true;
	return 0;
}

int verify_seal(struct verify *v, struct window *w)
{
	if (v->seal_p == 0) {
		int r = verify_seal_put_header(v, w);

		if (r < 0)
			return r;
	}
	for (unsigned i = 0; i < VERIFY_SEAL_OBJECTS; i++) {
		struct object_header o;
		int r;

		if (v->seal_p > v->p)
			return verify_seal_compare(v, w);
		r = object_header(v->journal, w, OBJECT_ANY, v->seal_p, &o);
		if (r == 0)
			r = verify_seal_put_object(v, w, &o);
		if (r < 0)
			return r;
		v->seal_p = (v->seal_p + o.size + 7) & ~UINT64_C(7);
		v->seal_bytes = 0;
	}
	return 1;
}
