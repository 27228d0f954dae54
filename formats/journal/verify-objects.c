/* SPDX-License-Identifier: MIT */
/*
 * The first walk: every object from the header's end to the tail object, each by itself, then by
 * what the header and the objects before it say. An object is committed when all of it has been
 * seen; long lists in one are looked at in groups, and the walk remembers how far it came.
 *
 * On the way the chains of the data hash table are followed without going anywhere: they ascend, so
 * it is enough to know for each bucket which object has to come next (v->chains).
 */
#include <assert.h>
#include <inttypes.h>
#include <stdio.h>

#include "formats/journal/verify-private.h"

/* Items looked at together. */
#define VERIFY_GROUP 1024u
/* Objects in one piece of work. */
#define VERIFY_OBJECTS_AT_ONCE 256u

static const char *const verify_type_names[] = {
	[OBJECT_DATA] = "data",
	[OBJECT_FIELD] = "field",
	[OBJECT_ENTRY] = "entry",
	[OBJECT_DATA_HASH_TABLE] = "data hash table",
	[OBJECT_FIELD_HASH_TABLE] = "field hash table",
	[OBJECT_ENTRY_ARRAY] = "entry array",
	[OBJECT_TAG] = "tag",
};

/* The object cannot be looked at. */
static int verify_bad_object(struct verify *v, int error)
{
	if (error == -EAGAIN)
		return error;
	return verify_say(v, v->p, error, "Invalid object: %s", strerror(-error));
}

/* The object can be looked at, but what it holds is wrong, as a line has said. */
static int verify_bad_contents(struct verify *v, int error)
{
	if (error == -EAGAIN)
		return error;
	return verify_say(v, v->p, error, "Invalid object contents: %s", strerror(-error));
}

/* Rule 6 of specification 2.3, for all types. */
static int verify_access(struct verify *v, struct window *w, const struct object_header *o)
{
	const struct journal *j = v->journal;
	struct field_object field;
	struct entry_object entry;
	struct array_object array;
	struct data_object data;
	const uint8_t *bytes;
	int r;

	switch ((enum object_type)o->type) {
	case OBJECT_DATA:
		return object_data(j, w, v->p, &data);
	case OBJECT_FIELD:
		return object_field(j, w, v->p, &field);
	case OBJECT_ENTRY:
		return object_entry(j, w, v->p, &entry);
	case OBJECT_ENTRY_ARRAY:
		return object_array(j, w, v->p, &array);
	case OBJECT_DATA_HASH_TABLE:
	case OBJECT_FIELD_HASH_TABLE:
		return o->size == HASH_TABLE_ITEMS || (o->size - HASH_TABLE_ITEMS) % HASH_ITEM_SIZE
			       ? -EBADMSG
			       : 0;
	case OBJECT_TAG:
		if (o->size != TAG_SIZE)
			return -EBADMSG;
		r = window_get(w, v->p, TAG_SIZE, &bytes);
		if (r < 0)
			return r;
		return load_le64(bytes + TAG_EPOCH) >= JOURNAL_TIME_END ? -EBADMSG : 0;
	case OBJECT_ANY:
		break;
	}
	return -EBADMSG;
}

/* The stored hash is not the one that was computed. */
static int verify_bad_hash(struct verify *v, uint64_t stored, uint64_t computed)
{
	verify_say(v, v->p, -EBADMSG, "Invalid hash (%08" PRIx64 " vs. %08" PRIx64 ")", stored,
		   computed);
	return verify_bad_contents(v, -EBADMSG);
}

/* The name of a compression. */
static const char *verify_compression_name(uint8_t compression)
{
	return compression & OBJECT_XZ ? "xz" : compression & OBJECT_LZ4 ? "lz4" : "zstd";
}

/* A data object's payload: it decompresses, and its hash is right. */
static int verify_payload(struct verify *v, struct window *w)
{
	struct payload_view view;
	struct data_object data;
	uint64_t size, hash;
	const uint8_t *bytes;
	int r = object_data(v->journal, w, v->p, &data);

	if (r == 0)
		r = object_payload(v->journal, w, v->p, &view);
	if (r < 0)
		return verify_bad_contents(v, r);
	if (__builtin_popcount(view.compression) > 1)
		return verify_bad_contents(v, -EBADMSG);
	payload_decoder_reset(v->decoder);
	r = payload_decode(v->decoder, view.compression, view.bytes, view.size, &bytes, &size);
	if (r == -ENOBUFS) {
		v->result.unchecked++;
		return 0;
	}
	if (r == -ENOMEM)
		return r;
	if (r < 0) {
		verify_say(v, v->p, r, "%s decompression failed: %s",
			   verify_compression_name(view.compression), strerror(-r));
		return verify_bad_contents(v, r);
	}
	hash = journal_hash(v->journal, bytes, size);
	return hash == data.hash ? 0 : verify_bad_hash(v, data.hash, hash);
}

/* A field object's name: its hash is right. */
static int verify_name(struct verify *v, struct window *w)
{
	struct field_object field;
	const uint8_t *name;
	uint64_t hash;
	int r = object_field(v->journal, w, v->p, &field);

	if (r == 0)
		r = object_field_name(w, &field, &name);
	if (r < 0)
		return verify_bad_contents(v, r);
	hash = journal_hash(v->journal, name, field.name_size);
	return hash == field.hash ? 0 : verify_bad_hash(v, field.hash, hash);
}

/* The next group of COUNT items of ITEM_SIZE bytes that begin FIRST_ITEM bytes into the object. */
static int verify_group(struct verify *v, struct window *w, unsigned first_item, unsigned item_size,
			uint64_t count, uint64_t *ret_count, const uint8_t **ret)
{
	uint64_t left = count - v->item;

	assert(v->item < count);
	*ret_count = left < VERIFY_GROUP ? left : VERIFY_GROUP;
	return window_get(w, v->p + first_item + v->item * item_size, *ret_count * item_size, ret);
}

/* The items of an entry (ENTRY) or of an array: aligned offsets, in an entry not 0. */
static int verify_offsets(struct verify *v, struct window *w, uint64_t count, bool is_entry)
{
	const struct journal *j = v->journal;
	uint64_t group;
	const uint8_t *items;
	int r;

	while (v->item < count) {
		r = is_entry ? verify_group(v, w, ENTRY_ITEMS, j->entry_item_size, count, &group,
					    &items)
			     : verify_group(v, w, ENTRY_ARRAY_ITEMS, j->item_size, count, &group,
					    &items);
		if (r < 0)
			return verify_bad_contents(v, r);
		for (uint64_t i = 0; i < group; i++) {
			uint64_t offset =
				is_entry ? entry_item(j, items, i) : array_item(j, items, i);

			if ((offset & 7) == 0 && (offset != 0 || !is_entry))
				continue;
			verify_say(v, v->p, -EBADMSG,
				   is_entry ? "Invalid entry item (%" PRIu64 "/%" PRIu64
					      ") offset: %06" PRIx64
					    : "Invalid object entry array item (%" PRIu64
					      "/%" PRIu64 "): %06" PRIx64,
				   v->item + i, count, offset);
			return verify_bad_contents(v, -EBADMSG);
		}
		v->item += group;
	}
	return 0;
}

/* One bucket of a hash table. */
static int verify_bucket(struct verify *v, const uint8_t *bucket, uint64_t i, uint64_t count,
			 const char *type)
{
	uint64_t head = load_le64(bucket), tail = load_le64(bucket + 8);

	if (head & 7)
		verify_say(v, v->p, -EBADMSG,
			   "Invalid %s hash table item (%" PRIu64 "/%" PRIu64
			   ") head_hash_offset: %06" PRIx64,
			   type, i, count, head);
	else if (tail & 7)
		verify_say(v, v->p, -EBADMSG,
			   "Invalid %s hash table item (%" PRIu64 "/%" PRIu64
			   ") tail_hash_offset: %06" PRIx64,
			   type, i, count, tail);
	else if ((head != 0) != (tail != 0))
		verify_say(v, v->p, -EBADMSG,
			   "Invalid %s hash table item (%" PRIu64 "/%" PRIu64
			   "): head_hash_offset=%06" PRIx64 " tail_hash_offset=%06" PRIx64,
			   type, i, count, head, tail);
	else
		return 0;
	return verify_bad_contents(v, -EBADMSG);
}

/* The buckets of a hash table. In a snapshot they are in use, head and tail written one by one. */
static int verify_table_items(struct verify *v, struct window *w, const struct object_header *o)
{
	uint64_t count = (o->size - HASH_TABLE_ITEMS) / HASH_ITEM_SIZE, group;
	const uint8_t *items;
	int r;

	while (v->item < count && !v->snapshot) {
		r = verify_group(v, w, HASH_TABLE_ITEMS, HASH_ITEM_SIZE, count, &group, &items);
		if (r < 0)
			return verify_bad_contents(v, r);
		for (uint64_t i = 0; i < group; i++) {
			r = verify_bucket(v, items + i * HASH_ITEM_SIZE, v->item + i, count,
					  verify_type_names[o->type]);
			if (r < 0)
				return r;
		}
		v->item += group;
	}
	return 0;
}

/* What the object holds. */
static int verify_contents(struct verify *v, struct window *w, const struct object_header *o)
{
	const struct journal *j = v->journal;

	if ((o->flags & OBJECT_COMPRESSED_MASK) && o->type != OBJECT_DATA) {
		verify_say(v, v->p, -EBADMSG,
			   "Found compressed object of type %s that isn't of type data, which is "
			   "not allowed.",
			   verify_type_names[o->type]);
		return verify_bad_contents(v, -EBADMSG);
	}
	switch ((enum object_type)o->type) {
	case OBJECT_DATA:
		return verify_payload(v, w);
	case OBJECT_ENTRY:
		return verify_offsets(v, w, (o->size - ENTRY_ITEMS) / j->entry_item_size, true);
	case OBJECT_ENTRY_ARRAY:
		return verify_offsets(v, w, (o->size - ENTRY_ARRAY_ITEMS) / j->item_size, false);
	case OBJECT_DATA_HASH_TABLE:
	case OBJECT_FIELD_HASH_TABLE:
		return verify_table_items(v, w, o);
	case OBJECT_FIELD:
		return verify_name(v, w);
	case OBJECT_TAG:
	case OBJECT_ANY:
		break;
	}
	return 0;
}

/* The compression that an object has is one that the header announces. */
static int verify_flags(struct verify *v, const struct object_header *o)
{
	static const struct {
		const char *name;
		uint8_t object;
		uint32_t header;
	} flags[] = {
		{ "XZ", OBJECT_XZ, JOURNAL_INCOMPATIBLE_XZ },
		{ "LZ4", OBJECT_LZ4, JOURNAL_INCOMPATIBLE_LZ4 },
		{ "ZSTD", OBJECT_ZSTD, JOURNAL_INCOMPATIBLE_ZSTD },
	};

	for (unsigned i = 0; i < sizeof(flags) / sizeof(flags[0]); i++)
		if (o->flags & flags[i].object &&
		    !(v->journal->header.incompatible_flags & flags[i].header))
			return verify_say(v, v->p, -EBADMSG,
					  "%s compressed object in file without %s compression",
					  flags[i].name, flags[i].name);
	return 0;
}

/* A data object takes its place in the map and in the chain of its bucket. */
static int verify_take_data(struct verify *v, struct window *w)
{
	uint8_t flags = MAP_DATA;
	struct data_object data;
	int r = object_data(v->journal, w, v->p, &data);

	if (r < 0)
		return verify_bad_object(v, r);
	if (v->chains) {
		uint64_t *next = &v->chains[data.hash % v->bucket_count];

		if (*next == v->p) {
			*next = data.next_hash_offset ? data.next_hash_offset : v->p | 1;
			flags |= MAP_HASHED;
		}
	}
	v->n_data++;
	return object_map_add(&v->map, v->p, flags);
}

/* An entry in its place among entries and tags. */
static int verify_take_entry(struct verify *v, struct window *w)
{
	const struct journal_header *h = &v->journal->header;
	struct entry_object entry;
	int r = object_entry(v->journal, w, v->p, &entry);

	if (r < 0)
		return verify_bad_object(v, r);
	if (v->result.sealed && v->n_tags == 0)
		return verify_say(v, v->p, -EBADMSG, "First entry before first tag");
	if (entry.realtime < v->last_tag_realtime)
		return verify_say(v, v->p, -EBADMSG,
				  "Older entry after newer tag (%" PRIu64 " < %" PRIu64 ")",
				  entry.realtime, v->last_tag_realtime);
	if (v->n_entries == 0 && entry.seqnum != h->head_entry_seqnum)
		return verify_say(v, v->p, -EBADMSG,
				  "Head entry sequence number incorrect (%" PRIu64 " != %" PRIu64
				  ")",
				  entry.seqnum, h->head_entry_seqnum);
	if (v->n_entries > 0 && v->last_seqnum >= entry.seqnum)
		return verify_say(v, v->p, -EBADMSG,
				  "Entry sequence number out of synchronization (%" PRIu64
				  " >= %" PRIu64 ")",
				  v->last_seqnum, entry.seqnum);
	if (v->n_entries > 0 && id128_equal(&v->last_boot_id, &entry.boot_id) &&
	    v->last_monotonic > entry.monotonic)
		return verify_say(v, v->p, -EBADMSG,
				  "Entry timestamp out of synchronization (%" PRIu64 " > %" PRIu64
				  ")",
				  v->last_monotonic, entry.monotonic);
	if (v->n_entries == 0 && entry.realtime != h->head_entry_realtime)
		return verify_say(v, v->p, -EBADMSG,
				  "Head entry realtime timestamp incorrect (%" PRIu64 " != %" PRIu64
				  ")",
				  entry.realtime, h->head_entry_realtime);
	if (v->n_entries == 0)
		v->result.first_entry_usec = entry.realtime;
	v->last_seqnum = entry.seqnum;
	v->last_monotonic = entry.monotonic;
	v->last_boot_id = entry.boot_id;
	v->last_realtime = entry.realtime;
	if (entry.realtime > v->max_realtime)
		v->max_realtime = entry.realtime;
	if (entry.realtime < v->min_realtime || v->min_realtime == 0)
		v->min_realtime = entry.realtime;
	if (entry.realtime > v->result.last_entry_usec)
		v->result.last_entry_usec = entry.realtime;
	v->n_entries++;
	return object_map_add(&v->map, v->p, MAP_ENTRY);
}

/* A hash table is the one that the header names, exactly: so there is one of a kind. */
static int verify_take_table(struct verify *v, const struct object_header *o)
{
	const struct journal_header *h = &v->journal->header;
	bool data = o->type == OBJECT_DATA_HASH_TABLE;
	uint64_t offset = data ? h->data_hash_table_offset : h->field_hash_table_offset;
	uint64_t size = data ? h->data_hash_table_size : h->field_hash_table_size;

	if (offset != v->p + HASH_TABLE_ITEMS)
		return verify_say(v, v->p, -EBADMSG,
				  "Header offset for %s invalid (%" PRIu64 " != %" PRIu64 ")",
				  verify_type_names[o->type], offset, v->p + HASH_TABLE_ITEMS);
	if (size != o->size - HASH_TABLE_ITEMS)
		return verify_say(v, v->p, -EBADMSG,
				  "Header size for %s invalid (%" PRIu64 " != %" PRIu64 ")",
				  verify_type_names[o->type], size, o->size - HASH_TABLE_ITEMS);
	return 0;
}

/* An entry array: the global chain begins with one of them. */
static int verify_take_array(struct verify *v)
{
	if (v->p == v->journal->header.entry_array_offset) {
		if (v->found_main_array)
			return verify_say(v, v->p, -EBADMSG, "More than one main entry array");
		v->found_main_array = true;
	}
	v->n_arrays++;
	return object_map_add(&v->map, v->p, MAP_ARRAY);
}

/* The object in its place. 1: it is a tag that has to be recomputed first. */
static int verify_take(struct verify *v, struct window *w, const struct object_header *o)
{
	switch ((enum object_type)o->type) {
	case OBJECT_DATA:
		return verify_take_data(v, w);
	case OBJECT_FIELD:
		v->n_fields++;
		return 0;
	case OBJECT_ENTRY:
		return verify_take_entry(v, w);
	case OBJECT_DATA_HASH_TABLE:
	case OBJECT_FIELD_HASH_TABLE:
		return verify_take_table(v, o);
	case OBJECT_ENTRY_ARRAY:
		return verify_take_array(v);
	case OBJECT_TAG:
		return verify_take_tag(v, w);
	case OBJECT_ANY:
		break;
	}
	return 0;
}

/* Looks at the object at v->p. 0: it is in order, *ret is its header. 1: see verify_take(). */
static int verify_object(struct verify *v, struct window *w, struct object_header *ret)
{
	int r = object_header(v->journal, w, OBJECT_ANY, v->p, ret);

	if (r == 0)
		r = verify_access(v, w, ret);
	if (r < 0)
		return verify_bad_object(v, r);
	if (v->p > v->tail)
		return verify_say(v, HEADER_TAIL_OBJECT_OFFSET, -EBADMSG,
				  "Invalid tail object pointer (%" PRIu64 " > %" PRIu64 ")", v->p,
				  v->tail);
	r = verify_contents(v, w, ret);
	if (r == 0)
		r = verify_flags(v, ret);
	return r == 0 ? verify_take(v, w, ret) : r;
}

int verify_objects(struct verify *v, struct window *w)
{
	for (unsigned i = 0; i < VERIFY_OBJECTS_AT_ONCE; i++) {
		struct object_header o;
		int r;

		if (v->tail == 0)
			return 0;
		r = verify_object(v, w, &o);
		if (r != 0)
			return r;
		v->n_objects++;
		v->item = 0;
		if (v->p == v->tail) {
			v->found_tail = true;
			return 0;
		}
		/* The object lies within the file, so neither addition overflows. */
		v->p = (v->p + o.size + 7) & ~UINT64_C(7);
	}
	return 1;
}
