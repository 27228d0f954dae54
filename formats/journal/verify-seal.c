/* SPDX-License-Identifier: MIT */
/*
 * Tags: their numbers, the times of the entries that they cover, and recomputing them. A tag's key
 * depends on the epoch that it names, so what it covers is read a second time once the walk has
 * come to it: all objects behind the previous tag (of a file's first tag: the header, and those
 * behind it) up to the tag itself. Of each only what never changes is covered.
 */
#include <inttypes.h>
#include <stdio.h>
#include <time.h>

#include "formats/journal/verify-private.h"

#define VERIFY_TIME_SIZE 64u

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

/* Begins to recompute the tag at v->p. */
static int verify_seal_begin(struct verify *v, uint64_t epoch)
{
	int r = seal_begin(v->seal, epoch);

	if (r < 0)
		return r;
	v->seal_p = v->last_tag ? v->last_tag + TAG_SIZE : 0;
	v->seal_bytes = 0;
	v->phase = VERIFY_SEAL;
	return 1;
}

/* The tag is in order: a stretch ends with it. */
static int verify_commit_tag(struct verify *v, uint64_t epoch)
{
	v->n_tags++;
	v->last_epoch = epoch;
	v->last_tag = v->p;
	v->min_realtime = v->max_realtime = 0;
	v->tag_is_right = false;
	return 0;
}

/* A time as the reference writes it, in the local zone. Returns TEXT. */
static const char *verify_time_text(uint64_t usec, char text[VERIFY_TIME_SIZE])
{
	static const char *const days[] = { "Sun", "Mon", "Tue", "Wed", "Thu", "Fri", "Sat" };
	time_t second = (time_t)(usec / 1000000);
	struct tm tm;

	if (!localtime_r(&second, &tm) || tm.tm_year + 1900 > 9999)
		return "--- XXXX-XX-XX XX:XX:XX";
	snprintf(text, VERIFY_TIME_SIZE, "%s %04d-%02d-%02d %02d:%02d:%02d %s", days[tm.tm_wday],
		 tm.tm_year + 1900, tm.tm_mon + 1, tm.tm_mday, tm.tm_hour, tm.tm_min, tm.tm_sec,
		 tm.tm_zone);
	return text;
}

/* An entry whose time is not one of the tag's epoch, which begins or ends at BOUND. */
static int verify_bad_time(struct verify *v, uint64_t realtime, const char *how, uint64_t bound)
{
	char texts[2][VERIFY_TIME_SIZE];

	return verify_say(v, v->p, -EBADMSG,
			  "Entry realtime (%" PRIu64 ", %s) is too %s with respect to tag "
			  "(%" PRIu64 ", %s)",
			  realtime, verify_time_text(realtime, texts[0]), how, bound,
			  verify_time_text(bound, texts[1]));
}

/* What can only be said with a key: when the tag's epoch is, and whether the tag is right. */
static int verify_take_sealed(struct verify *v, uint64_t epoch)
{
	uint64_t begin = seal_key_epoch_start(seal_key(v->seal), epoch);
	uint64_t end = seal_key_epoch_start(seal_key(v->seal), epoch + 1);

	if (end == UINT64_MAX)
		return -ERANGE;
	if (v->n_entries > 0 && v->last_realtime >= end)
		return verify_say(v, v->p, -EBADMSG,
				  "tag/entry realtime timestamp out of synchronization (%" PRIu64
				  " >= %" PRIu64 ")",
				  v->last_realtime, end);
	if (v->max_realtime >= end)
		return verify_bad_time(v, v->max_realtime, "late", end);
	if (v->min_realtime != 0 && v->min_realtime < begin)
		return verify_bad_time(v, v->min_realtime, "early", begin);
	if (!v->tag_is_right)
		return verify_seal_begin(v, epoch);
	v->last_tag_realtime = begin;
	v->result.validated = true;
	v->result.validated_until_usec = end;
	return verify_commit_tag(v, epoch);
}

int verify_take_tag(struct verify *v, struct window *w)
{
	uint64_t seqnum, epoch;
	const uint8_t *tag;
	int r = window_get(w, v->p, TAG_SIZE, &tag);

	if (r < 0)
		return r;
	seqnum = load_le64(tag + TAG_SEQNUM);
	epoch = load_le64(tag + TAG_EPOCH);
	if (!v->result.sealed)
		return verify_say(v, v->p, -EBADMSG, "Tag object in file without sealing");
	if (seqnum != v->n_tags + 1)
		return verify_say(v, v->p, -EBADMSG,
				  "Tag sequence number out of synchronization (%" PRIu64
				  " != %" PRIu64 ")",
				  seqnum, v->n_tags + 1);
	if (v->journal->header.compatible_flags & JOURNAL_COMPATIBLE_SEALED_CONTINUOUS) {
		if (!(v->n_tags == 0 || (v->n_tags == 1 && epoch == v->last_epoch) ||
		      epoch == v->last_epoch + 1))
			return verify_say(v, v->p, -EBADMSG,
					  "Epoch sequence not continuous (%" PRIu64 " vs %" PRIu64
					  ")",
					  epoch, v->last_epoch);
	} else if (epoch < v->last_epoch) {
		return verify_say(v, v->p, -EBADMSG,
				  "Epoch sequence out of synchronization (%" PRIu64 " < %" PRIu64
				  ")",
				  epoch, v->last_epoch);
	}
	return v->seal ? verify_take_sealed(v, epoch) : verify_commit_tag(v, epoch);
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
