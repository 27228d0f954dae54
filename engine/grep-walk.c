/* SPDX-License-Identifier: MIT */
/*
 * Seeking a literal in a file's objects. Raw bytes are searched in one sweep, and the object that a
 * place lies in is told by walking from header to header, as a writer has appended them; compressed
 * objects are decoded. What comes of it is the list of entries that have to be looked at: those
 * that hold a MESSAGE with the literal, and those that matter to others (the first and the last of
 * a boot, what lies outside the bounds). An entry's fields precede it in the file, since writers
 * append them first; anything else, and any damage, ends the walk, and the file is read entry by
 * entry as if nobody had walked.
 */
#include "engine/grep-walk.h"

#include <stdlib.h>

/* More runs than this are none: the boots are mixed. */
#define GREP_RUNS_MAX 4096u
/* Entries to be looked at that are always allowed. */
#define GREP_KEEP_MIN 1024u

static const char grep_name[] = "MESSAGE=";
#define GREP_NAME_SIZE (sizeof(grep_name) - 1)

int grep_walk_begin(struct grep_walk *w)
{
	const struct journal_header *h = &w->journal->header;
	const uint64_t tables[2][2] = {
		{ h->field_hash_table_offset, h->field_hash_table_size },
		{ h->data_hash_table_offset, h->data_hash_table_size },
	};

	w->at = (h->header_size + 7) & ~UINT64_C(7);
	w->tail = h->tail_object_offset;
	/* The hash tables need not be read. */
	for (unsigned i = 0; i < 4; i++) {
		const uint64_t *table = tables[i & 1];

		if (table[0] == w->at + OBJECT_HEADER_SIZE && table[0] < w->file_size &&
		    table[1] < w->file_size - table[0])
			w->at = (table[0] + table[1] + 7) & ~UINT64_C(7);
		else
			continue;
		w->objects++;
	}
	w->chain_next = h->entry_array_offset;
	w->scan->count_max = (size_t)(h->n_entries / 8) + GREP_KEEP_MIN;
	w->scan->ordered = true;
	w->scan->usable = true;
	return w->journal->truncated || w->at > w->tail ? -EBADMSG : 0;
}

/* Makes room for one more element. */
static int grep_grow(void **array, size_t *capacity, size_t count, size_t size)
{
	size_t more = *capacity ? *capacity * 2 : 16;
	void *grown;

	if (count < *capacity)
		return 0;
	grown = reallocarray(*array, more, size);
	if (!grown)
		return -ENOMEM;
	*array = grown;
	*capacity = more;
	return 0;
}

/* An entry has to be looked at. When these are too many, the list is not worth having. */
static int grep_keep(struct grep_walk *w, uint64_t offset)
{
	struct grep_scan *s = w->scan;
	int r;

	if (!s->usable || w->last_kept == offset)
		return 0;
	if (s->count >= s->count_max) {
		s->usable = false;
		return 0;
	}
	r = grep_grow((void **)&s->offsets, &s->capacity, s->count, sizeof(*s->offsets));
	if (r < 0)
		return r;
	s->offsets[s->count++] = offset;
	w->last_kept = offset;
	return 0;
}

/* The bit of a data object. */
static inline uint32_t grep_filter_bit(uint64_t offset)
{
	return (uint32_t)(offset >> 3) * UINT32_C(0x9E3779B1) >> (32 - GREP_FILTER_BITS);
}

/* A data object may hold what is looked for. */
static int grep_mark(struct grep_walk *w, uint64_t offset, const uint8_t *p)
{
	uint32_t bit = grep_filter_bit(offset);

	if (load_le64(p + DATA_ENTRY_OFFSET) - 1 < offset) /* 0: no entry */
		return -EBADMSG; /* an entry before its field has been passed already */
	w->any = true;
	w->filter[bit / 64] |= UINT64_C(1) << bit % 64;
	return 0;
}

/* Whether a compressed payload may be a message with the literal. What cannot be decoded is left to
 * whoever loads the entry. */
static bool grep_test_compressed(struct grep_walk *w, uint8_t compression, const uint8_t *bytes,
				 uint64_t size)
{
	const uint8_t *plain;
	uint64_t plain_size;
	int r;

	payload_decoder_reset(w->decoder);
	/* Nearly all are messages: decoding them at once is cheaper than looking at their names. */
	r = payload_decode(w->decoder, compression, bytes, size, &plain, &plain_size);
	if (r < 0)
		return true;
	return plain_size > GREP_NAME_SIZE && memcmp(plain, grep_name, GREP_NAME_SIZE) == 0 &&
	       grep_literal_find(w->literal, plain + GREP_NAME_SIZE, plain + plain_size);
}

/* Whether an entry names a data object that was marked, or perhaps one. */
static bool grep_has_marked(const struct grep_walk *w, const uint8_t *items, uint64_t count)
{
	for (uint64_t i = 0; i < count; i++) {
		uint32_t bit = grep_filter_bit(entry_item(w->journal, items, i));

		if (w->filter[bit / 64] >> bit % 64 & 1)
			return true;
	}
	return false;
}

/* The entry is the first of a run: so is it to be looked at, and so is the last before it. */
static int grep_begin_run(struct grep_walk *w, const struct entry_object *entry)
{
	struct grep_scan *s = w->scan;
	int r = 0;

	if (s->last_entry)
		r = grep_keep(w, s->last_entry);
	r = r < 0 ? r : grep_keep(w, entry->offset);
	if (r < 0)
		return r;
	if (s->run_count >= GREP_RUNS_MAX) {
		s->ordered = false;
		s->run_count = 0;
	}
	r = grep_grow((void **)&s->runs, &s->run_capacity, s->run_count, sizeof(*s->runs));
	if (r < 0)
		return r;
	s->runs[s->run_count++] = (struct grep_run){ .boot_id = entry->boot_id,
						     .first = entry->seqnum };
	return 0;
}

/* Adds an offset to a hash of the order of offsets. */
static inline uint64_t grep_hash(uint64_t hash, uint64_t offset)
{
	return (hash + offset) * UINT64_C(0x9E3779B97F4A7C15);
}

/* An entry, wholly in memory. */
static int grep_walk_entry(struct grep_walk *w, const uint8_t *p, uint64_t size)
{
	struct grep_scan *s = w->scan;
	struct entry_object entry;
	int r = 0;

	if (size <= ENTRY_ITEMS || !object_entry_is_valid(w->journal, size, p))
		return -EBADMSG;
	object_entry_load(w->journal, w->at, size, p, &entry);
	if (entry.seqnum <= w->last_seqnum)
		s->ordered = false;
	if (s->run_count == 0 ||
	    !id128_equal(&s->runs[s->run_count - 1].boot_id, &entry.boot_id))
		r = grep_begin_run(w, &entry);
	else if (entry.realtime < w->since || entry.realtime > w->until ||
		 (w->any && grep_has_marked(w, p + ENTRY_ITEMS, entry.n_items)))
		r = grep_keep(w, w->at);
	if (r < 0)
		return r;
	s->runs[s->run_count - 1].last = entry.seqnum;
	w->last_seqnum = entry.seqnum;
	s->last_entry = w->at;
	w->entries_hash = grep_hash(w->entries_hash, w->at);
	w->entries++;
	return 0;
}

/* Takes the items of the global chain's current array as far as they are in memory. */
static void grep_walk_items(struct grep_walk *w, const uint8_t *p, size_t size, uint64_t base)
{
	const unsigned item_size = w->journal->item_size;
	uint64_t hash = w->chain_hash, count = w->chain_count;

	for (; w->items_end - w->items_at >= item_size && w->items_at >= base &&
	       w->items_at - base <= size - item_size; w->items_at += item_size) {
		if (count == w->journal->header.n_entries) {
			w->items_at = w->items_end; /* the rest is room to grow */
			break;
		}
		hash = grep_hash(hash, array_item(w->journal, p + (w->items_at - base), 0));
		count++;
	}
	w->chain_hash = hash;
	w->chain_count = count;
}

/* Whether the chain has been walked through: it says the same as the walk over the objects. */
static bool grep_chain_agrees(const struct grep_walk *w)
{
	return w->chain_count == w->journal->header.n_entries && w->entries == w->chain_count &&
	       w->entries_hash == w->chain_hash;
}

/* The array of the global chain that comes next, LEFT bytes of it being there. 0; 1: too few. */
static int grep_walk_array(struct grep_walk *w, const uint8_t *p, size_t left, uint64_t size)
{
	if (left < ENTRY_ARRAY_ITEMS)
		return 1;
	if (size < ENTRY_ARRAY_ITEMS)
		return -EBADMSG;
	w->items_at = w->at + ENTRY_ARRAY_ITEMS;
	w->items_end = w->at + size;
	w->chain_next = load_le64(p + ENTRY_ARRAY_NEXT);
	return 0;
}

/* A data object too large to be looked into, of which the beginning of the payload is there. */
static int grep_walk_large(struct grep_walk *w, const uint8_t *p)
{
	if (!(p[OBJECT_FLAGS] & OBJECT_COMPRESSED_MASK) &&
	    memcmp(p + w->journal->data_payload, grep_name, GREP_NAME_SIZE) != 0)
		return 0;
	return grep_mark(w, w->at, p);
}

/* What a sweep has come to: the next place of the literal, or NULL for none up to END. */
struct grep_sweep {
	const uint8_t *hit, *end;
	bool searched;
};

/* A data object, wholly in memory. */
static int grep_walk_data(struct grep_walk *w, struct grep_sweep *sweep, const uint8_t *p,
			  uint64_t size)
{
	const uint8_t *bytes = p + w->journal->data_payload;
	uint8_t compression = p[OBJECT_FLAGS] & OBJECT_COMPRESSED_MASK;

	if (size <= w->journal->data_payload || !object_data_is_valid(w->journal, w->at, size, p))
		return -EBADMSG;
	size -= w->journal->data_payload;
	if (unlikely(compression))
		return grep_test_compressed(w, compression, bytes, size) ? grep_mark(w, w->at, p)
									 : 0;
	if (unlikely(!sweep->searched || (sweep->hit && sweep->hit < bytes))) {
		sweep->hit = grep_literal_find(w->literal, bytes, sweep->end);
		sweep->searched = true;
	}
	if (likely(!sweep->hit || sweep->hit >= bytes + size))
		return 0;
	if (size < GREP_NAME_SIZE || memcmp(bytes, grep_name, GREP_NAME_SIZE) != 0)
		return 0;
	return grep_mark(w, w->at, p);
}

/* The object at P, LEFT bytes of it being there. 0; 1: too few of them; an error. */
static inline int grep_walk_object(struct grep_walk *w, struct grep_sweep *sweep, const uint8_t *p,
				   size_t left, uint64_t *ret_size)
{
	uint64_t size;

	if (left < OBJECT_HEADER_SIZE)
		return 1;
	size = load_le64(p + OBJECT_SIZE);
	if (size < OBJECT_HEADER_SIZE || size > w->file_size - w->at ||
	    p[OBJECT_TYPE] == OBJECT_ANY || p[OBJECT_TYPE] > OBJECT_TAG)
		return -EBADMSG;
	*ret_size = size;
	switch (p[OBJECT_TYPE]) {
	case OBJECT_DATA:
		if (unlikely(size > GREP_OBJECT_MAX))
			return left < w->journal->data_payload + GREP_NAME_SIZE ?
				       1 : grep_walk_large(w, p);
		return size > left ? 1 : grep_walk_data(w, sweep, p, size);
	case OBJECT_ENTRY:
		if (unlikely(size > GREP_OBJECT_MAX))
			return -EBADMSG;
		return size > left ? 1 : grep_walk_entry(w, p, size);
	case OBJECT_ENTRY_ARRAY:
		return w->at == w->chain_next ? grep_walk_array(w, p, left, size) : 0;
	default:
		return 0;
	}
}

int grep_walk_bytes(struct grep_walk *w, const uint8_t *p, size_t size, uint64_t base)
{
	struct grep_sweep sweep = { .end = p + size };
	int r;

	if (size < sizeof(uint64_t))
		return -EBADMSG;
	grep_walk_items(w, p, size, base);
	while (w->at <= w->tail) {
		uint64_t skip = w->at - base, object_size;

		if (skip >= size)
			return 0;
		r = grep_walk_object(w, &sweep, p + skip, size - skip, &object_size);
		if (r != 0)
			return r < 0 ? r : 0;
		if (unlikely(w->items_at > w->at && w->items_at < w->items_end))
			grep_walk_items(w, p, size, base);
		w->objects++;
		w->at += (object_size + 7) & ~UINT64_C(7);
	}
	/* The last entry matters: it is where reading ends. */
	r = w->scan->last_entry ? grep_keep(w, w->scan->last_entry) : 0;
	if (r < 0)
		return r;
	/* A size that lies can hide objects from the walk, but not their number. */
	return w->objects < w->journal->header.n_objects || !grep_chain_agrees(w) ? -EBADMSG : 1;
}
