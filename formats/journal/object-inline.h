/* SPDX-License-Identifier: MIT */
/*
 * The hot object looks, which run once and more for each field of each entry. Each asks one
 * question, "is all well?", with a branch or two over all of specification 2.3's rules; if not, or
 * if bytes are lacking, the _slow twin in object.c goes through the rules in their order and says
 * which answer it is. Included by journal.h only.
 */
#ifndef FORMATS_JOURNAL_OBJECT_INLINE_H
#define FORMATS_JOURNAL_OBJECT_INLINE_H

#include <assert.h>

int object_payload_slow(const struct journal *j, struct window *w, uint64_t offset,
			struct payload_view *ret);
int object_entry_slow(const struct journal *j, struct window *w, uint64_t offset,
		      struct entry_object *ret);

/* Rule 6 for the fixed part P of a data object at OFFSET of the given size, without branches. */
static inline bool object_data_is_valid(const struct journal *j, uint64_t offset, uint64_t size,
					const uint8_t *p)
{
	uint64_t next_hash = load_le64(p + DATA_NEXT_HASH_OFFSET);
	uint64_t next_field = load_le64(p + DATA_NEXT_FIELD_OFFSET);
	uint64_t entry = load_le64(p + DATA_ENTRY_OFFSET);
	uint64_t array = load_le64(p + DATA_ENTRY_ARRAY_OFFSET);
	uint64_t n_entries = load_le64(p + DATA_N_ENTRIES);

	unsigned wrong = (entry == 0) != (n_entries == 0);

	wrong |= size <= j->data_payload;
	wrong |= (next_hash | next_field | entry | array) & 7;
	wrong |= next_hash - 1 < offset; /* 0 wraps around, and is then beyond any offset */
	wrong |= next_field >= offset;
	return wrong == 0;
}

/* Rule 6 for the fixed part P of an entry of the given size, without branches. */
static inline bool object_entry_is_valid(const struct journal *j, uint64_t size, const uint8_t *p)
{
	uint64_t boot_id = load_le64(p + ENTRY_BOOT_ID) | load_le64(p + ENTRY_BOOT_ID + 8);
	unsigned wrong = size <= ENTRY_ITEMS;

	wrong |= (size - ENTRY_ITEMS) & (j->entry_item_size - 1);
	wrong |= load_le64(p + ENTRY_SEQNUM) == 0;
	wrong |= load_le64(p + ENTRY_REALTIME) - 1 >= JOURNAL_TIME_END - 1; /* 0 wraps around */
	wrong |= load_le64(p + ENTRY_MONOTONIC) >= JOURNAL_TIME_END;
	wrong |= boot_id == 0;
	return wrong == 0;
}

/* Copies the fixed part P of a valid entry. */
static inline void object_entry_load(const struct journal *j, uint64_t offset, uint64_t size,
				     const uint8_t *p, struct entry_object *ret)
{
	ret->offset = offset;
	ret->size = size;
	ret->seqnum = load_le64(p + ENTRY_SEQNUM);
	ret->realtime = load_le64(p + ENTRY_REALTIME);
	ret->monotonic = load_le64(p + ENTRY_MONOTONIC);
	memcpy(ret->boot_id.bytes, p + ENTRY_BOOT_ID, sizeof(ret->boot_id.bytes));
	ret->xor_hash = load_le64(p + ENTRY_XOR_HASH);
	ret->n_items = (size - ENTRY_ITEMS) >> (j->compact ? 2 : 4);
}

/* Rules 1 to 5 for an object whose fixed part P is in memory, but for the fixed part's size: what
 * rule 6 says of the size is stricter for the types that come here. */
static inline bool object_is_placed(const struct journal *j, const struct window *w,
				    enum object_type type, uint64_t offset, const uint8_t *p)
{
	unsigned wrong = offset & 7;

	wrong |= offset < j->header.header_size;
	wrong |= p[OBJECT_TYPE] ^ (unsigned)type;
	wrong |= load_le64(p + OBJECT_SIZE) > w->size_bytes - offset;
	return wrong == 0;
}

static inline int object_payload(const struct journal *j, struct window *w, uint64_t offset,
				 struct payload_view *ret)
{
	const uint8_t *p = window_peek(w, offset, DATA_PAYLOAD_COMPACT);
	uint64_t size;

	/* The last object of a file may be shorter than what is peeked at: slow, but right. */
	if (unlikely(!p))
		return object_payload_slow(j, w, offset, ret);
	size = load_le64(p + OBJECT_SIZE);
	if (unlikely(!object_is_placed(j, w, OBJECT_DATA, offset, p) ||
		     !object_data_is_valid(j, offset, size, p)))
		return object_payload_slow(j, w, offset, ret);
	if (unlikely(!window_peek(w, offset, size)))
		return object_payload_slow(j, w, offset, ret);
	ret->bytes = p + j->data_payload;
	ret->size = size - j->data_payload;
	ret->compression = p[OBJECT_FLAGS] & OBJECT_COMPRESSED_MASK;
	return 0;
}

static inline int object_entry(const struct journal *j, struct window *w, uint64_t offset,
			       struct entry_object *ret)
{
	const uint8_t *p = window_peek(w, offset, ENTRY_ITEMS);
	uint64_t size;

	if (unlikely(!p))
		return object_entry_slow(j, w, offset, ret);
	size = load_le64(p + OBJECT_SIZE);
	if (unlikely(!object_is_placed(j, w, OBJECT_ENTRY, offset, p) ||
		     !object_entry_is_valid(j, size, p)))
		return object_entry_slow(j, w, offset, ret);
	object_entry_load(j, offset, size, p, ret);
	return 0;
}

static inline int object_entry_items(const struct journal *j, struct window *w,
				     const struct entry_object *entry, uint64_t first,
				     uint64_t count, const uint8_t **ret)
{
	assert(count > 0 && first < entry->n_items && count <= entry->n_items - first);
	return window_get(w, entry->offset + ENTRY_ITEMS + first * j->entry_item_size,
			  count * j->entry_item_size, ret);
}

static inline int object_array_items(const struct journal *j, struct window *w,
				     const struct array_object *array, uint64_t first,
				     uint64_t count, const uint8_t **ret)
{
	assert(count > 0 && first < array->capacity && count <= array->capacity - first);
	return window_get(w, array->offset + ENTRY_ARRAY_ITEMS + first * j->item_size,
			  count * j->item_size, ret);
}

#endif
