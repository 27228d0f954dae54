/* SPDX-License-Identifier: MIT */
/*
 * The journal writer for tests. It follows the order in which the real writer appends: the two hash
 * tables, then for each entry the data and field objects that are new, the entry, the arrays that
 * it makes necessary. Links, counters and tail fields are kept as a real file has them, so that a
 * reference reader's --verify passes; what the file cannot tell cheaply (where the payload of a
 * compressed object is equal) is remembered beside it.
 *
 * It does not seal: the tags of a sealed file have the right shape and made-up contents.
 */
#include <assert.h>
#include <stdio.h>
#include <stdlib.h>

#include "tests/support/fixture-private.h"

#define FIXTURE_FIELDS_MAX 256u

/* Rounds up to a multiple of 8. */
static uint64_t fixture_align(uint64_t v)
{
	return (v + 7) & ~UINT64_C(7);
}

struct id128 fixture_id(uint64_t seed)
{
	struct id128 id;
	uint64_t x = seed;

	for (unsigned i = 0; i < 16; i++) {
		/* splitmix64, one output for each byte. */
		uint64_t z = (x += UINT64_C(0x9e3779b97f4a7c15));

		z = (z ^ (z >> 30)) * UINT64_C(0xbf58476d1ce4e5b9);
		z = (z ^ (z >> 27)) * UINT64_C(0x94d049bb133111eb);
		id.bytes[i] = (uint8_t)(z ^ (z >> 31));
	}
	/* A version 4 UUID, as all real IDs are. */
	id.bytes[6] = (id.bytes[6] & 0x0f) | 0x40;
	id.bytes[8] = (id.bytes[8] & 0x3f) | 0x80;
	return id;
}

void fixture_id_text(const struct id128 *id, char text[33])
{
	for (unsigned i = 0; i < 16; i++)
		snprintf(text + (size_t)2 * i, 3, "%02x", id->bytes[i]);
}

/* The hash that the file's tables are built on. */
uint64_t fixture_hash(const struct fixture *fx, const void *data, size_t size)
{
	return fx->options.keyed ? hash_siphash(data, size, &fx->options.file_id)
				 : hash_jenkins(data, size);
}

/* ---- objects ------------------------------------------------------------------------------ */

/* Adds an offset to a list. */
static void fixture_list_add(struct fixture_list *list, uint64_t offset)
{
	list->offsets =
		fixture_grow(list->offsets, list->count, &list->allocated, sizeof(*list->offsets));
	list->offsets[list->count++] = offset;
}

/* Appends an object of SIZE bytes, zero but for its header. */
static uint64_t fixture_append(struct fixture *fx, enum object_type type, uint8_t flags,
			       uint64_t size)
{
	uint64_t offset = fx->end;

	fx->end = offset + fixture_align(size);
	assert(!fx->options.compact || fx->end <= UINT32_MAX);
	fx->bytes = fixture_grow(fx->bytes, fx->end, &fx->allocated, 1);
	/* After a cut and a finish there may be something there. */
	memset(fx->bytes + offset, 0, fx->end - offset);
	fx->size = fx->end;
	fixture_put8(fx, offset + OBJECT_TYPE, (uint8_t)type);
	fixture_put8(fx, offset + OBJECT_FLAGS, flags);
	fixture_put64(fx, offset + OBJECT_SIZE, size);
	fixture_list_add(&fx->objects[OBJECT_ANY], offset);
	fixture_list_add(&fx->objects[type], offset);
	return offset;
}

/* Appends the hash table that belongs to an index. */
static void fixture_append_table(struct fixture *fx, struct fixture_index *index,
				 enum object_type type, uint64_t buckets)
{
	index->buckets = buckets;
	index->bucket_depths = calloc(buckets, sizeof(*index->bucket_depths));
	if (!index->bucket_depths)
		abort();
	index->table_offset =
		fixture_append(fx, type, 0, HASH_TABLE_ITEMS + buckets * HASH_ITEM_SIZE) +
		HASH_TABLE_ITEMS;
}

/* Remembers how deep a lookup went, as the real writer does: links followed, not objects. */
static void fixture_note_depth(struct fixture_index *index, uint64_t depth)
{
	if (depth > index->deepest)
		index->deepest = depth;
}

/* Puts a new data or field object at the end of its hash chain. */
static void fixture_link_hash(struct fixture *fx, struct fixture_index *index,
			      struct fixture_record *r)
{
	uint64_t bucket = index->table_offset + r->hash % index->buckets * HASH_ITEM_SIZE;
	uint64_t *depth = index->bucket_depths + r->hash % index->buckets;

	/* Data and field objects have this link at the same place. */
	static_assert(DATA_NEXT_HASH_OFFSET == FIELD_NEXT_HASH_OFFSET, "shared below");
	if (*depth)
		fixture_put64(fx, fixture_get64(fx, bucket + 8) + DATA_NEXT_HASH_OFFSET, r->offset);
	else
		fixture_put64(fx, bucket, r->offset);
	fixture_put64(fx, bucket + 8, r->offset);
	r->depth = (*depth)++;
}

/* Finds something by hash and notes the depth of the search. */
static struct fixture_record *fixture_lookup(struct fixture_index *index, const void *data,
					     size_t size, uint64_t hash)
{
	struct fixture_record *r = fixture_index_find(index, data, size, hash);
	uint64_t length = index->bucket_depths[hash % index->buckets];

	fixture_note_depth(index, r ? r->depth : length ? length - 1 : 0);
	return r;
}

/* The field object of a name, appended if it is missing. */
static struct fixture_record *fixture_field_object(struct fixture *fx, const void *name,
						   size_t size)
{
	uint64_t hash = fixture_hash(fx, name, size), offset;
	struct fixture_record *r = fixture_lookup(&fx->fields, name, size, hash);

	if (r)
		return r;
	offset = fixture_append(fx, OBJECT_FIELD, 0, FIELD_PAYLOAD + size);
	fixture_put64(fx, offset + FIELD_HASH, hash);
	fixture_poke(fx, offset + FIELD_PAYLOAD, name, size);
	r = fixture_index_add(&fx->fields, name, size, hash, offset);
	fixture_link_hash(fx, &fx->fields, r);
	return r;
}

/* Where payloads begin in this file. */
static unsigned fixture_payload_offset(const struct fixture *fx)
{
	return fx->options.compact ? DATA_PAYLOAD_COMPACT : DATA_PAYLOAD_REGULAR;
}

/* Appends a data object with its payload as stored. */
static uint64_t fixture_append_payload(struct fixture *fx, const void *data, size_t size)
{
	const struct fixture_options *o = &fx->options;
	size_t stored_size = size;
	uint8_t *stored = NULL;
	uint64_t offset;

	if (o->compression && size >= o->compress_from_bytes)
		stored = fixture_compress(o->compression, o->zstd_without_size, data, size,
					  &stored_size);
	offset = fixture_append(fx, OBJECT_DATA, stored ? o->compression : 0,
				fixture_payload_offset(fx) + stored_size);
	fixture_poke(fx, offset + fixture_payload_offset(fx), stored ? stored : data, stored_size);
	free(stored);
	return offset;
}

/* The number of the record of a payload's data object, appended if it is missing. */
static size_t fixture_data_object(struct fixture *fx, const void *data, size_t size)
{
	uint64_t hash = fixture_hash(fx, data, size), offset;
	struct fixture_record *r = fixture_lookup(&fx->data, data, size, hash);
	const uint8_t *equals = memchr(data, '=', size);

	if (r)
		return (size_t)(r - fx->data.records);
	offset = fixture_append_payload(fx, data, size);
	fixture_put64(fx, offset + DATA_HASH, hash);
	r = fixture_index_add(&fx->data, data, size, hash, offset);
	fixture_link_hash(fx, &fx->data, r);

	/* A payload without a name is no journald's, but the format can hold it: it has no field.
	 */
	if (equals && equals != (const uint8_t *)data) {
		size_t name_size = (size_t)(equals - (const uint8_t *)data);
		uint64_t field = fixture_field_object(fx, data, name_size)->offset;

		fixture_put64(fx, offset + DATA_NEXT_FIELD_OFFSET,
			      fixture_get64(fx, field + FIELD_HEAD_DATA_OFFSET));
		fixture_put64(fx, field + FIELD_HEAD_DATA_OFFSET, offset);
	}
	return (size_t)(r - fx->data.records);
}

/* ---- entry arrays ------------------------------------------------------------------------- */

/* Adds an element to a chain. LINK is the offset of the field that names the first array, 0 for the
 * global chain: its link stands in the header, which a finish writes. */
static void fixture_chain_add(struct fixture *fx, struct fixture_chain *c, uint64_t link,
			      uint64_t entry)
{
	uint64_t item_size = fx->options.compact ? 4 : 8;

	if (c->used == c->capacity) {
		uint64_t capacity = c->count > c->capacity ? 2 * (c->count + 1) : 2 * c->capacity;
		uint64_t array;

		if (capacity < 4)
			capacity = 4;
		array = fixture_append(fx, OBJECT_ENTRY_ARRAY, 0,
				       ENTRY_ARRAY_ITEMS + capacity * item_size);
		if (c->last)
			fixture_put64(fx, c->last + ENTRY_ARRAY_NEXT, array);
		else
			c->first = array;
		if (!c->count && link)
			fixture_put64(fx, link, array);
		c->last = array;
		c->capacity = capacity;
		c->used = 0;
	}
	fixture_put_item(fx, c->last + ENTRY_ARRAY_ITEMS + c->used * item_size, entry);
	c->used++;
	c->count++;
}

/* Adds an entry to the set of a data object. */
static void fixture_link_data(struct fixture *fx, struct fixture_record *r, uint64_t entry)
{
	if (r->n_entries == 0) {
		fixture_put64(fx, r->offset + DATA_ENTRY_OFFSET, entry);
	} else {
		fixture_chain_add(fx, &r->chain, r->offset + DATA_ENTRY_ARRAY_OFFSET, entry);
		if (fx->options.compact) {
			fixture_put32(fx, r->offset + DATA_TAIL_ENTRY_ARRAY_OFFSET,
				      (uint32_t)r->chain.last);
			fixture_put32(fx, r->offset + DATA_TAIL_ENTRY_ARRAY_N_ENTRIES,
				      (uint32_t)r->chain.used);
		}
	}
	fixture_put64(fx, r->offset + DATA_N_ENTRIES, ++r->n_entries);
}

/* ---- entries ------------------------------------------------------------------------------ */

/* Fills in what a stamp leaves open. */
static struct fixture_stamp fixture_complete_stamp(const struct fixture *fx,
						   const struct fixture_stamp *stamp)
{
	struct fixture_stamp s = stamp ? *stamp : (struct fixture_stamp){ 0 };
	bool first = fx->objects[OBJECT_ENTRY].count == 0;

	if (!s.seqnum)
		s.seqnum = fx->tail.seqnum + 1;
	if (!s.realtime)
		s.realtime = first ? FIXTURE_REALTIME : fx->tail.realtime + FIXTURE_STEP;
	if (!s.monotonic)
		s.monotonic = first ? FIXTURE_MONOTONIC : fx->tail.monotonic + FIXTURE_STEP;
	if (id128_is_null(&s.boot_id))
		s.boot_id = first ? fx->options.boot_id : fx->tail.boot_id;
	return s;
}

/* Orders numbers, for qsort(). */
static int fixture_compare(const void *a, const void *b)
{
	const size_t *x = a, *y = b;

	return *x < *y ? -1 : *x > *y;
}

/* Sorts an entry's items and drops repeats. Records are numbered in file order, so that their
 * numbers sort as their offsets do. */
static size_t fixture_sort_items(size_t *items, size_t count)
{
	size_t kept = 0;

	qsort(items, count, sizeof(*items), fixture_compare);
	for (size_t i = 0; i < count; i++) {
		if (kept == 0 || items[i] != items[kept - 1])
			items[kept++] = items[i];
	}
	return kept;
}

/* Appends the entry object itself. */
static uint64_t fixture_entry_object(struct fixture *fx, const struct fixture_stamp *s,
				     uint64_t xor, const size_t *items, size_t count)
{
	uint64_t item_size =
		fx->options.compact ? ENTRY_ITEM_SIZE_COMPACT : ENTRY_ITEM_SIZE_REGULAR;
	uint64_t entry = fixture_append(fx, OBJECT_ENTRY, 0, ENTRY_ITEMS + count * item_size);

	fixture_put64(fx, entry + ENTRY_SEQNUM, s->seqnum);
	fixture_put64(fx, entry + ENTRY_REALTIME, s->realtime);
	fixture_put64(fx, entry + ENTRY_MONOTONIC, s->monotonic);
	fixture_poke(fx, entry + ENTRY_BOOT_ID, s->boot_id.bytes, sizeof(s->boot_id.bytes));
	fixture_put64(fx, entry + ENTRY_XOR_HASH, xor);
	for (size_t i = 0; i < count; i++) {
		const struct fixture_record *r = fx->data.records + items[i];
		uint64_t at = entry + ENTRY_ITEMS + i * item_size;

		fixture_put_item(fx, at, r->offset);
		if (!fx->options.compact)
			fixture_put64(fx, at + 8, r->hash);
	}
	return entry;
}

uint64_t fixture_entry(struct fixture *fx, const struct fixture_stamp *stamp,
		       const struct fixture_field *fields, size_t count)
{
	struct fixture_stamp s = fixture_complete_stamp(fx, stamp);
	size_t *items = calloc(count + 2, sizeof(*items));
	struct fixture_field ids[2];
	char texts[2][64], id[33];
	size_t total = count;
	uint64_t xor = 0, entry;

	if (!items)
		abort();
	if (fx->options.id_fields) {
		fixture_id_text(&s.boot_id, id);
		snprintf(texts[0], sizeof(texts[0]), "_BOOT_ID=%s", id);
		fixture_id_text(&fx->options.machine_id, id);
		snprintf(texts[1], sizeof(texts[1]), "_MACHINE_ID=%s", id);
		for (unsigned i = 0; i < 2; i++)
			ids[i] = (struct fixture_field){ texts[i], strlen(texts[i]) };
		total += 2;
	}
	for (size_t i = 0; i < total; i++) {
		const struct fixture_field *f = i < count ? fields + i : ids + (i - count);

		/* Jenkins in keyed files too: it makes the sum comparable across files. */
		xor ^= hash_jenkins(f->data, f->size);
		items[i] = fixture_data_object(fx, f->data, f->size);
	}
	assert(total > 0);
	if (!s.keep_order)
		total = fixture_sort_items(items, total);
	entry = fixture_entry_object(fx, &s, xor, items, total);
	fixture_chain_add(fx, &fx->chain, 0, entry);
	if (fx->objects[OBJECT_ENTRY].count == 1) {
		fx->head_seqnum = s.seqnum;
		fx->head_realtime = s.realtime;
	}
	fx->tail = s;
	fx->tail_entry_offset = entry;
	for (size_t i = 0; i < total; i++)
		fixture_link_data(fx, fx->data.records + items[i], entry);
	free(items);
	return entry;
}

uint64_t fixture_add(struct fixture *fx, const struct fixture_stamp *stamp, ...)
{
	struct fixture_field fields[FIXTURE_FIELDS_MAX];
	const char *text;
	size_t count = 0;
	va_list ap;

	va_start(ap, stamp);
	while ((text = va_arg(ap, const char *))) {
		assert(count < FIXTURE_FIELDS_MAX);
		fields[count++] = (struct fixture_field){ text, strlen(text) };
	}
	va_end(ap);
	return fixture_entry(fx, stamp, fields, count);
}

uint64_t fixture_orphan(struct fixture *fx, const void *data, size_t size)
{
	size_t record = fixture_data_object(fx, data, size);

	return fx->data.records[record].offset;
}

uint64_t fixture_tag(struct fixture *fx)
{
	uint64_t seqnum = fx->objects[OBJECT_TAG].count + 1;
	uint64_t offset = fixture_append(fx, OBJECT_TAG, 0, TAG_SIZE);

	assert(fx->options.sealed);
	fixture_put64(fx, offset + TAG_SEQNUM, seqnum);
	/* The first two share an epoch, then every tag has the next one. */
	fixture_put64(fx, offset + TAG_EPOCH, seqnum > 1 ? seqnum - 2 : 0);
	for (unsigned i = 0; i < TAG_SIZE - TAG_TAG; i++)
		fixture_put8(fx, offset + TAG_TAG + i, (uint8_t)(seqnum * 37 + i * 11));
	return offset;
}

void fixture_set_compression(struct fixture *fx, uint8_t compression, uint64_t from_bytes)
{
	assert(fixture_can_compress(compression));
	fx->options.compression = compression;
	fx->options.compress_from_bytes = from_bytes;
	if (compression & OBJECT_XZ)
		fx->incompatible_flags |= JOURNAL_INCOMPATIBLE_XZ;
	if (compression & OBJECT_LZ4)
		fx->incompatible_flags |= JOURNAL_INCOMPATIBLE_LZ4;
	if (compression & OBJECT_ZSTD)
		fx->incompatible_flags |= JOURNAL_INCOMPATIBLE_ZSTD;
}

void fixture_set_state(struct fixture *fx, uint8_t state)
{
	fx->options.state = state;
}

/* ---- a whole file ------------------------------------------------------------------------- */

/* Fills in the options that were left open. */
static void fixture_complete_options(struct fixture_options *o)
{
	struct id128 *ids[] = { &o->file_id, &o->machine_id, &o->seqnum_id, &o->boot_id };

	if (!o->header_size)
		o->header_size = HEADER_SIZE_MAX;
	if (!o->compress_from_bytes)
		o->compress_from_bytes = 512;
	if (!o->data_buckets)
		o->data_buckets = 61;
	if (!o->field_buckets)
		o->field_buckets = 13;
	for (unsigned i = 0; i < 4; i++) {
		if (id128_is_null(ids[i]))
			*ids[i] = fixture_id(i + 1);
	}
	assert(o->header_size >= HEADER_SIZE_MIN);
	/* A sealed file needs the header to count its arrays, or no reader opens it. */
	assert(!o->sealed || o->header_size >= HEADER_N_ENTRY_ARRAYS + 8);
}

struct fixture *fixture_new(const struct fixture_options *options)
{
	struct fixture *fx = calloc(1, sizeof(*fx));

	if (!fx)
		abort();
	if (options)
		fx->options = *options;
	fixture_complete_options(&fx->options);
	if (fx->options.compact)
		fx->incompatible_flags |= JOURNAL_INCOMPATIBLE_COMPACT;
	if (fx->options.keyed)
		fx->incompatible_flags |= JOURNAL_INCOMPATIBLE_KEYED_HASH;
	fixture_set_compression(fx, fx->options.compression, fx->options.compress_from_bytes);
	fx->end = fixture_align(fx->options.header_size);
	fixture_append_table(fx, &fx->fields, OBJECT_FIELD_HASH_TABLE, fx->options.field_buckets);
	fixture_append_table(fx, &fx->data, OBJECT_DATA_HASH_TABLE, fx->options.data_buckets);
	if (fx->options.sealed)
		fixture_tag(fx);
	return fx;
}

struct fixture *fixture_free(struct fixture *fx)
{
	if (!fx)
		return NULL;
	fixture_index_done(&fx->data);
	fixture_index_done(&fx->fields);
	for (unsigned i = 0; i <= OBJECT_TAG; i++)
		free(fx->objects[i].offsets);
	free(fx->bytes);
	free(fx);
	return NULL;
}

/* The last object; there always is one. */
static uint64_t fixture_tail_object(const struct fixture *fx)
{
	return fx->objects[OBJECT_ANY].offsets[fx->objects[OBJECT_ANY].count - 1];
}

/* Stores a header field if the header is long enough to have it. */
static void fixture_header64(struct fixture *fx, unsigned offset, uint64_t value)
{
	if (fx->options.header_size >= offset + 8)
		fixture_put64(fx, offset, value);
}

/* Stores where the global chain ends. A header of 260 bytes has the first of the two fields, and
 * 262 looks at both if it finds the first: the second then lies in the padding after the header. */
static void fixture_header_tail_array(struct fixture *fx)
{
	if (fx->options.header_size < HEADER_TAIL_ENTRY_ARRAY_OFFSET + 4)
		return;
	fixture_put32(fx, HEADER_TAIL_ENTRY_ARRAY_OFFSET, (uint32_t)fx->chain.last);
	fixture_put32(fx, HEADER_TAIL_ENTRY_ARRAY_N_ENTRIES, (uint32_t)fx->chain.used);
}

/* Writes the fields that say what kind of file this is. */
static void fixture_header_kind(struct fixture *fx)
{
	const struct fixture_options *o = &fx->options;
	uint32_t compatible = 0;

	if (o->sealed)
		compatible |= JOURNAL_COMPATIBLE_SEALED;
	if (o->sealed && o->sealed_continuous)
		compatible |= JOURNAL_COMPATIBLE_SEALED_CONTINUOUS;
	if (o->header_size >= HEADER_SIZE_MAX && !o->without_tail_boot_flag)
		compatible |= JOURNAL_COMPATIBLE_TAIL_ENTRY_BOOT_ID;
	fixture_poke(fx, 0, JOURNAL_SIGNATURE, JOURNAL_SIGNATURE_SIZE);
	fixture_put32(fx, HEADER_COMPATIBLE_FLAGS, compatible);
	fixture_put32(fx, HEADER_INCOMPATIBLE_FLAGS, fx->incompatible_flags);
	fixture_put8(fx, HEADER_STATE, o->state);
	fixture_poke(fx, HEADER_FILE_ID, o->file_id.bytes, 16);
	fixture_poke(fx, HEADER_MACHINE_ID, o->machine_id.bytes, 16);
	fixture_poke(fx, HEADER_TAIL_ENTRY_BOOT_ID, fx->tail.boot_id.bytes, 16);
	fixture_poke(fx, HEADER_SEQNUM_ID, o->seqnum_id.bytes, 16);
	fixture_put64(fx, HEADER_HEADER_SIZE, o->header_size);
	/* What a later version would have there is not zero. */
	for (uint64_t at = HEADER_SIZE_MAX; at < o->header_size; at++)
		fixture_put8(fx, at, 0x5a);
}

/* Writes the fields that say where things are and how many. */
static void fixture_header_counts(struct fixture *fx)
{
	fixture_put64(fx, HEADER_DATA_HASH_TABLE_OFFSET, fx->data.table_offset);
	fixture_put64(fx, HEADER_DATA_HASH_TABLE_SIZE, fx->data.buckets * HASH_ITEM_SIZE);
	fixture_put64(fx, HEADER_FIELD_HASH_TABLE_OFFSET, fx->fields.table_offset);
	fixture_put64(fx, HEADER_FIELD_HASH_TABLE_SIZE, fx->fields.buckets * HASH_ITEM_SIZE);
	fixture_put64(fx, HEADER_TAIL_OBJECT_OFFSET, fixture_tail_object(fx));
	fixture_put64(fx, HEADER_N_OBJECTS, fx->objects[OBJECT_ANY].count);
	fixture_put64(fx, HEADER_N_ENTRIES, fx->objects[OBJECT_ENTRY].count);
	fixture_put64(fx, HEADER_TAIL_ENTRY_SEQNUM, fx->tail.seqnum);
	fixture_put64(fx, HEADER_HEAD_ENTRY_SEQNUM, fx->head_seqnum);
	fixture_put64(fx, HEADER_ENTRY_ARRAY_OFFSET, fx->chain.first);
	fixture_put64(fx, HEADER_HEAD_ENTRY_REALTIME, fx->head_realtime);
	fixture_put64(fx, HEADER_TAIL_ENTRY_REALTIME, fx->tail.realtime);
	fixture_put64(fx, HEADER_TAIL_ENTRY_MONOTONIC, fx->tail.monotonic);
	fixture_header64(fx, HEADER_N_DATA, fx->objects[OBJECT_DATA].count);
	fixture_header64(fx, HEADER_N_FIELDS, fx->objects[OBJECT_FIELD].count);
	fixture_header64(fx, HEADER_N_TAGS, fx->objects[OBJECT_TAG].count);
	fixture_header64(fx, HEADER_N_ENTRY_ARRAYS, fx->objects[OBJECT_ENTRY_ARRAY].count);
	fixture_header64(fx, HEADER_DATA_HASH_CHAIN_DEPTH, fx->data.deepest);
	fixture_header64(fx, HEADER_FIELD_HASH_CHAIN_DEPTH, fx->fields.deepest);
	fixture_header_tail_array(fx);
	fixture_header64(fx, HEADER_TAIL_ENTRY_OFFSET, fx->tail_entry_offset);
}

void fixture_finish(struct fixture *fx)
{
	const struct fixture_options *o = &fx->options;
	uint64_t size;

	if (o->sealed && o->state != JOURNAL_STATE_ONLINE &&
	    fixture_get8(fx, fixture_tail_object(fx) + OBJECT_TYPE) != OBJECT_TAG)
		fixture_tag(fx);
	size = fx->end;
	if (o->preallocate_bytes)
		size = (size + o->preallocate_bytes - 1) / o->preallocate_bytes *
		       o->preallocate_bytes;
	fixture_resize(fx, size);
	fixture_header_kind(fx);
	fixture_header_counts(fx);
	fixture_put64(fx, HEADER_ARENA_SIZE, size - o->header_size);
}

uint8_t *fixture_bytes(struct fixture *fx)
{
	return fx->bytes;
}

size_t fixture_size(const struct fixture *fx)
{
	return fx->size;
}

size_t fixture_end(const struct fixture *fx)
{
	return fx->end;
}

struct window fixture_window(const struct fixture *fx)
{
	return (struct window){ .base = fx->bytes, .size_bytes = fx->size, .whole = true };
}
