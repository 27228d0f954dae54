/* SPDX-License-Identifier: MIT */
/*
 * Objects: specification 2.3, version 262. Every function goes through the rules in their order,
 * since which error a broken object gives decides what its reader does. Nothing is believed beyond
 * the end of the file as the window knows it: whether the file has grown since is for the caller
 * to find out when the answer is -EADDRNOTAVAIL.
 *
 * What is asked for grows with what is known: first the fixed part, then, once it is found to be
 * in order and to lie within the file, the rest.
 */
#include <assert.h>

#include "formats/journal/journal.h"

/* Size of the fixed part of each type; of a data object in a regular file. */
static const uint8_t object_fixed_sizes[] = {
	[OBJECT_ANY] = OBJECT_HEADER_SIZE,
	[OBJECT_DATA] = DATA_PAYLOAD_REGULAR,
	[OBJECT_FIELD] = FIELD_PAYLOAD,
	[OBJECT_ENTRY] = ENTRY_ITEMS,
	[OBJECT_DATA_HASH_TABLE] = HASH_TABLE_ITEMS,
	[OBJECT_FIELD_HASH_TABLE] = HASH_TABLE_ITEMS,
	[OBJECT_ENTRY_ARRAY] = ENTRY_ARRAY_ITEMS,
	[OBJECT_TAG] = TAG_SIZE,
};

/* Size of the fixed part of an object of a type. */
static uint64_t object_fixed_size(const struct journal *j, enum object_type type)
{
	return type == OBJECT_DATA ? j->data_payload : object_fixed_sizes[type];
}

/* Rules 1 to 5. *ret points at the object's fixed part. */
static int object_look(const struct journal *j, struct window *w, enum object_type type,
		       uint64_t offset, const uint8_t **ret, uint64_t *ret_size)
{
	uint64_t fixed_size, size;
	const uint8_t *p;
	int r;

	if ((offset & 7) != 0 || offset < j->header.header_size)
		return -EBADMSG;

	r = window_get(w, offset, OBJECT_HEADER_SIZE, &p);
	if (r == -EAGAIN) {
		/* Ask for the fixed part along with it, in case it reaches into the next block. */
		fixed_size = object_fixed_size(j, type);
		if (fixed_size > w->size_bytes - offset)
			fixed_size = w->size_bytes - offset;
		(void)window_get(w, offset, fixed_size, &p);
		return -EAGAIN;
	}
	if (r < 0)
		return r;

	size = load_le64(p + OBJECT_SIZE);
	if (size < OBJECT_HEADER_SIZE || p[OBJECT_TYPE] == OBJECT_ANY ||
	    p[OBJECT_TYPE] > OBJECT_TAG || (type != OBJECT_ANY && p[OBJECT_TYPE] != type))
		return -EBADMSG;
	fixed_size = object_fixed_size(j, p[OBJECT_TYPE]);
	if (size < fixed_size)
		return -EBADMSG;
	if (offset + size < offset)
		return -EBADMSG;
	if (size > w->size_bytes - offset)
		return -EADDRNOTAVAIL;

	r = window_get(w, offset, fixed_size, ret);
	if (r < 0)
		return r;
	*ret_size = size;
	return 0;
}

/* The header of an object of any or of a certain type. */
int object_header(const struct journal *j, struct window *w, enum object_type type, uint64_t offset,
		  struct object_header *ret)
{
	const uint8_t *p;
	uint64_t size;
	int r;

	r = object_look(j, w, type, offset, &p, &size);
	if (r < 0)
		return r;
	*ret = (struct object_header){
		.offset = offset,
		.size = size,
		.type = p[OBJECT_TYPE],
		.flags = p[OBJECT_FLAGS],
	};
	return 0;
}

/* A data object's fixed part, by all rules. */
int object_data(const struct journal *j, struct window *w, uint64_t offset, struct data_object *ret)
{
	const uint8_t *p;
	uint64_t size;
	int r;

	r = object_look(j, w, OBJECT_DATA, offset, &p, &size);
	if (r < 0)
		return r;
	if (!object_data_is_valid(j, offset, size, p))
		return -EBADMSG;
	*ret = (struct data_object){
		.offset = offset,
		.size = size,
		.hash = load_le64(p + DATA_HASH),
		.next_hash_offset = load_le64(p + DATA_NEXT_HASH_OFFSET),
		.next_field_offset = load_le64(p + DATA_NEXT_FIELD_OFFSET),
		.entry_offset = load_le64(p + DATA_ENTRY_OFFSET),
		.entry_array_offset = load_le64(p + DATA_ENTRY_ARRAY_OFFSET),
		.n_entries = load_le64(p + DATA_N_ENTRIES),
		.compression = p[OBJECT_FLAGS] & OBJECT_COMPRESSED_MASK,
		.payload_size = size - j->data_payload,
	};
	if (j->compact) {
		ret->tail_array_offset = load_le32(p + DATA_TAIL_ENTRY_ARRAY_OFFSET);
		ret->tail_array_count = load_le32(p + DATA_TAIL_ENTRY_ARRAY_N_ENTRIES);
	}
	return 0;
}

/* object_payload() when something is lacking or wrong. */
int object_payload_slow(const struct journal *j, struct window *w, uint64_t offset,
			struct payload_view *ret)
{
	const uint8_t *p;
	uint64_t size;
	int r;

	r = object_look(j, w, OBJECT_DATA, offset, &p, &size);
	if (r < 0)
		return r;
	if (!object_data_is_valid(j, offset, size, p))
		return -EBADMSG;
	r = window_get(w, offset, size, &p);
	if (r < 0)
		return r;
	*ret = (struct payload_view){
		.bytes = p + j->data_payload,
		.size = size - j->data_payload,
		.compression = p[OBJECT_FLAGS] & OBJECT_COMPRESSED_MASK,
	};
	return 0;
}

/* A field object's fixed part, by all rules. */
int object_field(const struct journal *j, struct window *w, uint64_t offset,
		 struct field_object *ret)
{
	uint64_t size, next_hash, head_data;
	const uint8_t *p;
	int r;

	r = object_look(j, w, OBJECT_FIELD, offset, &p, &size);
	if (r < 0)
		return r;
	next_hash = load_le64(p + FIELD_NEXT_HASH_OFFSET);
	head_data = load_le64(p + FIELD_HEAD_DATA_OFFSET);
	if (size == FIELD_PAYLOAD || ((next_hash | head_data) & 7) != 0 ||
	    (next_hash != 0 && next_hash <= offset))
		return -EBADMSG;
	*ret = (struct field_object){
		.offset = offset,
		.size = size,
		.hash = load_le64(p + FIELD_HASH),
		.next_hash_offset = next_hash,
		.head_data_offset = head_data,
		.name_size = size - FIELD_PAYLOAD,
	};
	return 0;
}

/* The name that follows a field object's fixed part. */
int object_field_name(struct window *w, const struct field_object *field, const uint8_t **ret)
{
	return window_get(w, field->offset + FIELD_PAYLOAD, field->name_size, ret);
}

/* object_entry() when something is lacking or wrong. */
int object_entry_slow(const struct journal *j, struct window *w, uint64_t offset,
		      struct entry_object *ret)
{
	const uint8_t *p;
	uint64_t size;
	int r;

	r = object_look(j, w, OBJECT_ENTRY, offset, &p, &size);
	if (r < 0)
		return r;
	if (!object_entry_is_valid(j, size, p))
		return -EBADMSG;
	object_entry_load(j, offset, size, p, ret);
	return 0;
}

/* An entry array's fixed part, by all rules. */
int object_array(const struct journal *j, struct window *w, uint64_t offset,
		 struct array_object *ret)
{
	uint64_t size, next;
	const uint8_t *p;
	int r;

	r = object_look(j, w, OBJECT_ENTRY_ARRAY, offset, &p, &size);
	if (r < 0)
		return r;
	next = load_le64(p + ENTRY_ARRAY_NEXT);
	if (size == ENTRY_ARRAY_ITEMS || ((size - ENTRY_ARRAY_ITEMS) & (j->item_size - 1)) != 0 ||
	    (next & 7) != 0 || (next != 0 && next <= offset))
		return -EBADMSG;
	*ret = (struct array_object){
		.offset = offset,
		.next = next,
		.capacity = (size - ENTRY_ARRAY_ITEMS) / j->item_size,
	};
	return 0;
}
