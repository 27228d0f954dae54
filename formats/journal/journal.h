/* SPDX-License-Identifier: MIT */
/*
 * Decoding a journal file: header, objects, entry arrays, hash tables. Pure functions over a
 * window; see formats/format.h for the answers that all of them give. Every object is validated
 * each time it is looked at, as specification 2.3 says for version 262.
 */
#ifndef FORMATS_JOURNAL_JOURNAL_H
#define FORMATS_JOURNAL_JOURNAL_H

#include "formats/format.h"
#include "formats/journal/layout.h"

struct id128 {
	uint8_t bytes[16];
};

static inline bool id128_equal(const struct id128 *a, const struct id128 *b)
{
	return memcmp(a->bytes, b->bytes, sizeof(a->bytes)) == 0;
}

static inline bool id128_is_null(const struct id128 *a)
{
	return memcmp(a->bytes, (const uint8_t[16]){ 0 }, sizeof(a->bytes)) == 0;
}

/* ---- header.c --------------------------------------------------------------------------- */

/* A file header as it stands in the file. A field is there only if header_has() says so; absent
 * ones are 0. */
struct journal_header {
	uint32_t compatible_flags;
	uint32_t incompatible_flags;
	uint8_t state;
	struct id128 file_id;
	struct id128 machine_id;
	struct id128 tail_entry_boot_id;
	struct id128 seqnum_id;
	uint64_t header_size;
	uint64_t arena_size;
	uint64_t data_hash_table_offset;
	uint64_t data_hash_table_size;
	uint64_t field_hash_table_offset;
	uint64_t field_hash_table_size;
	uint64_t tail_object_offset;
	uint64_t n_objects;
	uint64_t n_entries;
	uint64_t tail_entry_seqnum;
	uint64_t head_entry_seqnum;
	uint64_t entry_array_offset;
	uint64_t head_entry_realtime;
	uint64_t tail_entry_realtime;
	uint64_t tail_entry_monotonic;
	uint64_t n_data;
	uint64_t n_fields;
	uint64_t n_tags;
	uint64_t n_entry_arrays;
	uint64_t data_hash_chain_depth;
	uint64_t field_hash_chain_depth;
	uint32_t tail_entry_array_offset;
	uint32_t tail_entry_array_n_entries;
	uint64_t tail_entry_offset;
};

/* What every decoder needs to know of a file: made once from its header, then constant. */
struct journal {
	struct journal_header header;
	bool compact;
	bool keyed;
	bool truncated;     /* shorter than its header says: opened with clamped bounds (262) */
	unsigned item_size; /* of an entry array's item: 4 or 8 */
	unsigned entry_item_size; /* of an entry's item: 4 or 16 */
	unsigned data_payload;    /* offset of a data object's payload: 64 or 72 */
};

/* True if a header of HEADER_SIZE bytes holds the field of SIZE bytes at OFFSET. */
static inline bool header_has(const struct journal_header *h, unsigned offset, unsigned size)
{
	return h->header_size >= (uint64_t)offset + size;
}

/*
 * Parses and checks a file header: specification 1.3, as version 262 does it, truncated files
 * included. BYTES are the first SIZE bytes of the file, min(FILE_SIZE, HEADER_SIZE_MAX) of them.
 * On failure: a negative errno as 1.3 lists it, and in TEXT a clause that names what is wrong (for
 * an unknown incompatible flag its bit); on success TEXT is empty. Whether the file is a regular
 * one and still linked is the caller's to check.
 */
#define HEADER_DETAIL_SIZE 128
int header_parse(const uint8_t *bytes, size_t size, uint64_t file_size, struct journal *ret_journal,
		 char text[HEADER_DETAIL_SIZE]);

/* Where the bytes end that a scan can need: the end of the tail object is not known without
 * reading it, so this is the end of the arena, at most the file's length. */
uint64_t journal_end(const struct journal *j, uint64_t file_size);

/* ---- object.c --------------------------------------------------------------------------- */

struct object_header {
	uint64_t offset;
	uint64_t size;
	uint8_t type;
	uint8_t flags;
};

/* The header of any object: rules 1 to 5 of specification 2.3. TYPE may be OBJECT_ANY. Wants 16
 * bytes, then (for the object's type) what its fixed part takes. */
int object_header(const struct journal *j, struct window *w, enum object_type type, uint64_t offset,
		  struct object_header *ret);

struct data_object {
	uint64_t offset;
	uint64_t size;
	uint64_t hash;
	uint64_t next_hash_offset;
	uint64_t next_field_offset;
	uint64_t entry_offset;
	uint64_t entry_array_offset;
	uint64_t n_entries;
	uint32_t tail_array_offset; /* compact files: the last array of the set, and how many */
	uint32_t tail_array_count;  /* of its items are in use; else 0 */
	uint8_t compression;   /* OBJECT_XZ, OBJECT_LZ4, OBJECT_ZSTD bits, 0 if none */
	uint64_t payload_size; /* as stored */
};

/* A data object without its payload. */
int object_data(const struct journal *j, struct window *w, uint64_t offset,
		struct data_object *ret);

/* A data object's stored payload, all of it. */
struct payload_view {
	const uint8_t *bytes;
	uint64_t size;
	uint8_t compression;
};

/* A data object's stored payload: the hot path of output, in object-inline.h. */
static inline int object_payload(const struct journal *j, struct window *w, uint64_t offset,
				 struct payload_view *ret);

struct field_object {
	uint64_t offset;
	uint64_t size;
	uint64_t hash;
	uint64_t next_hash_offset;
	uint64_t head_data_offset;
	uint64_t name_size;
};

/* A field object without its name. */
int object_field(const struct journal *j, struct window *w, uint64_t offset,
		 struct field_object *ret);

/* A field object's name, field->name_size bytes. */
int object_field_name(struct window *w, const struct field_object *field, const uint8_t **ret);

struct entry_object {
	uint64_t offset;
	uint64_t size;
	uint64_t seqnum;
	uint64_t realtime;
	uint64_t monotonic;
	struct id128 boot_id;
	uint64_t xor_hash;
	uint64_t n_items;
};

/* An entry without its items. In object-inline.h. */
static inline int object_entry(const struct journal *j, struct window *w, uint64_t offset,
			       struct entry_object *ret);

/* COUNT items (at least one) of an entry from FIRST on, as they are stored: read them with
 * entry_item(). In object-inline.h. */
static inline int object_entry_items(const struct journal *j, struct window *w,
				     const struct entry_object *entry, uint64_t first,
				     uint64_t count, const uint8_t **ret);

/* The data object that the item at index I of such a run names. */
static inline uint64_t entry_item(const struct journal *j, const uint8_t *items, uint64_t i)
{
	return j->compact ? load_le32(items + i * ENTRY_ITEM_SIZE_COMPACT)
			  : load_le64(items + i * ENTRY_ITEM_SIZE_REGULAR);
}

struct array_object {
	uint64_t offset;
	uint64_t next;
	uint64_t capacity; /* items that the object has room for */
};

/* An entry array without its items. */
int object_array(const struct journal *j, struct window *w, uint64_t offset,
		 struct array_object *ret);

/* COUNT items (at least one) of an array from FIRST on, both within its capacity. In
 * object-inline.h. */
static inline int object_array_items(const struct journal *j, struct window *w,
				     const struct array_object *array, uint64_t first,
				     uint64_t count, const uint8_t **ret);

static inline uint64_t array_item(const struct journal *j, const uint8_t *items, uint64_t i)
{
	return j->compact ? load_le32(items + i * 4) : load_le64(items + i * 8);
}

/* ---- hash.c ----------------------------------------------------------------------------- */

/* Bob Jenkins' lookup3, both seeds 0 (specification 3.1, J). */
uint64_t hash_jenkins(const void *data, size_t size);
/* SipHash-2-4 with a file ID as key (specification 3.1, S). */
uint64_t hash_siphash(const void *data, size_t size, const struct id128 *key);
/* The hash that a file uses for its tables. */
uint64_t journal_hash(const struct journal *j, const void *data, size_t size);

/* ---- lookup.c --------------------------------------------------------------------------- */

struct payload_decoder;

/*
 * Finds the data object whose payload is the SIZE bytes DATA ("NAME=value"), HASH being
 * journal_hash() of them. 1 found, 0 not there. Chains as in 3.3: they must ascend, an unreadable
 * object ends the chain (262). Restarts from the bucket at every call; wants one object at a time.
 */
int lookup_data(const struct journal *j, struct window *w, struct payload_decoder *decoder,
		const void *data, size_t size, uint64_t hash, struct data_object *ret);

/*
 * The same, for chains that may be long: *POSITION, 0 at first, keeps the object that was being
 * looked at when bytes were lacking, and the next call goes on there. The position holds as long
 * as the file does: a link only ever changes from 0 to an offset beyond its object.
 */
int lookup_data_resume(const struct journal *j, struct window *w, struct payload_decoder *decoder,
		       const void *data, size_t size, uint64_t hash, uint64_t *position,
		       struct data_object *ret);

/* The same for the field object of NAME. */
int lookup_field(const struct journal *j, struct window *w, const void *name, size_t size,
		 uint64_t hash, struct field_object *ret);

/* ---- payload.c -------------------------------------------------------------------------- */

/*
 * Decompression. A decoder owns the libraries' contexts and an arena for what they decode, which
 * grows up to LIMIT_BYTES; it belongs to one thread. Nothing is allocated per payload once the
 * arena has grown to what the largest entry needs.
 */
int payload_decoder_new(uint64_t limit_bytes, struct payload_decoder **ret);
struct payload_decoder *payload_decoder_free(struct payload_decoder *decoder);

/* Forgets what was decoded: the arena is used from its start again. */
void payload_decoder_reset(struct payload_decoder *decoder);

/* How much of the arena is in use, and going back to an earlier such point: what was decoded since
 * is forgotten. */
uint64_t payload_decoder_position(const struct payload_decoder *decoder);
void payload_decoder_rewind(struct payload_decoder *decoder, uint64_t position);

/*
 * Decodes a compressed payload wholly into the arena. *ret_bytes is valid until the next reset.
 * -EBADMSG, -EPROTONOSUPPORT (two compressions, or one that this build lacks), -ENOMEM,
 * -EFBIG (LZ4 that announces 2 GiB or more; none of these sets the results),
 * -ENOBUFS: larger than the limit, or the arena is full; then *ret_bytes and *ret_size hold the
 * first bytes if there is room for at least some, else *ret_size is 0. (Specification 4; the arena
 * never moves, so earlier results stay valid.) A payload that is not compressed is its own result.
 */
int payload_decode(struct payload_decoder *decoder, uint8_t compression, const uint8_t *bytes,
		   uint64_t size, const uint8_t **ret_bytes, uint64_t *ret_size);

/*
 * The same for a payload that is cheap to decode, for those who would look at its first bytes and
 * then decode it. -EOPNOTSUPP, with nothing done, for all others, for any that cannot be decoded,
 * and before the first of payload_decode().
 */
int payload_decode_small(struct payload_decoder *decoder, uint8_t compression,
			 const uint8_t *bytes, uint64_t size, const uint8_t **ret_bytes,
			 uint64_t *ret_size);

/*
 * Tests whether the payload begins with PREFIX (at most PAYLOAD_PREFIX_MAX bytes), decoding no more
 * than needed. 1 yes, 0 no. Any failure to decode is -EBADMSG.
 */
#define PAYLOAD_PREFIX_MAX 4096u
int payload_starts_with(struct payload_decoder *decoder, uint8_t compression, const uint8_t *bytes,
			uint64_t size, const void *prefix, size_t prefix_size);

/* ---- chain.c, chain-bisect.c ------------------------------------------------------------ */

/*
 * A chain of entry arrays and the offsets in it: the global one of a file, or that of a data
 * object, whose first element stands in the object itself. Where its arrays lie is learnt as it is
 * walked, so that going back does not walk from the start.
 */
#define CHAIN_MARKS_MAX 32u

struct chain_mark {
	uint64_t offset;   /* of an array */
	uint64_t before;   /* elements before it, the inline one not counted */
	uint64_t capacity; /* 0 while the array itself has not been read */
	uint64_t ordinal;  /* arrays before it */
};

struct chain {
	uint64_t inline_offset; /* first element of a data object's set; 0: the global chain */
	uint64_t first;         /* offset of the first array, 0 if none */
	uint64_t count;         /* valid elements, the inline one counted */
	uint64_t tail_offset;   /* where the last array should be, and how many elements it */
	uint64_t tail_count;    /* should have: the file's own hint; 0: none, or it is wrong */
	uint64_t reached;       /* elements of the arrays that have been walked to */
	bool ended;       /* an array could not be read or the chain stops: count is clamped */
	int damage_error; /* why the array at damage_offset could not be read, else 0 */
	uint64_t damage_offset;
	struct chain_mark at; /* the array that was used last */
	uint64_t mark_stride; /* every how many arrays there is a mark: doubled when full */
	unsigned mark_count;
	unsigned fine_count;
	struct chain_mark marks[CHAIN_MARKS_MAX]; /* from the first array on, ascending */
	struct chain_mark fine[CHAIN_MARKS_MAX];  /* within one stride, ascending: see chain.c */
};

void chain_init_global(struct chain *c, const struct journal *j);
void chain_init_data(struct chain *c, const struct data_object *data);

/*
 * The element at INDEX (0 is the first): an entry's offset, not validated, 0 where a slot is
 * empty. 1: *ret_offset; 0: the chain has no such element (INDEX >= count, or it stops early: see
 * ended). -EAGAIN. A damaged array ends the chain there, as going DOWN does in the reference (5.4);
 * its error is returned once, after count has been clamped to what precedes it, and kept in
 * damage_error. The error of the array's items themselves (they lie past the end of the file, or
 * could not be read) is returned whenever they are asked for; the chain goes on behind them.
 */
int chain_get(struct chain *c, const struct journal *j, struct window *w, uint64_t index,
	      uint64_t *ret_offset);

/*
 * Copies elements INDEX to INDEX + COUNT - 1 (fewer at the end, or where the next array begins)
 * to OFFSETS. Returns how many, 0 at the end, or an error like chain_get().
 */
int chain_get_many(struct chain *c, const struct journal *j, struct window *w, uint64_t index,
		   unsigned count, uint64_t *offsets);

/*
 * An element of the chain's last array, found by the file's own hint and not by walking: the first
 * there, or with LAST the last one of the chain. 1: *ret_offset; 0: there is no such hint (or the
 * file is being written, or what it says cannot be); -EAGAIN. A chain of one array needs none.
 */
int chain_peek_tail(struct chain *c, const struct journal *j, struct window *w, bool last,
		    uint64_t *ret_offset);

/* The index of the first element of the last array where a hint leads to it; else 0. What comes
 * before it may take long to walk to. */
static inline uint64_t chain_tail_index(const struct chain *c)
{
	return c->tail_count && c->inline_offset ? c->count - c->tail_count : 0;
}

/* What a bisection compares an element with: 0, and in *ret_order a negative number if the element
 * is before the wanted place, 0 if it is at it, a positive one if it is after it; or -EAGAIN, a
 * soft error if the element cannot be read, or any other error, which ends the bisection. */
typedef int (*chain_test_fn)(const void *userdata, const struct journal *j, struct window *w,
			     uint64_t entry_offset, int *ret_order);

/*
 * The first index whose element is not before the wanted place, or with BACKWARD is after it: 0 to
 * count. Elements that cannot be read are stepped over (a run of more than CHAIN_UNREADABLE_MAX of
 * them is taken for at or after the place, as the reference takes each one); a damaged array ends
 * the chain without an error here: see damage_error. Arrays are compared by their last element
 * first, from the first one on, then within the array: in the reference's order, which makes a
 * difference where elements do not ascend. The probes that may come next are asked for along with
 * the one that is lacking. -EAGAIN until it is decided; between calls only the marks are kept.
 */
#define CHAIN_UNREADABLE_MAX 64u
int chain_bisect(struct chain *c, const struct journal *j, struct window *w, chain_test_fn test,
		 const void *userdata, bool backward, uint64_t *ret_index);

/* chain_bisect() by offset: needs no entry. */
int chain_bisect_offset(struct chain *c, const struct journal *j, struct window *w,
			uint64_t entry_offset, uint64_t *ret_index);

#include "formats/journal/object-inline.h"

#endif
