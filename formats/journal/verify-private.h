/* SPDX-License-Identifier: MIT */
/* What the parts of the verifier share: verify.c (the whole), verify-map.c (what is known of each
 * object), verify-objects.c (the first walk), verify-seal.c (tags),
 * verify-links.c (how they hang together), verify-bisect.c (sets that are out of order). */
#ifndef FORMATS_JOURNAL_VERIFY_PRIVATE_H
#define FORMATS_JOURNAL_VERIFY_PRIVATE_H

#include "formats/journal/verify.h"

/* ---- verify-map.c ----------------------------------------------------------------------- */

/* What an object is, as far as others may point to it; and what has been found out of it. */
#define MAP_DATA 0x01u
#define MAP_ENTRY 0x02u
#define MAP_ARRAY 0x04u
#define MAP_HASHED 0x10u /* data: it can be found in the hash table */
#define MAP_CLEAN 0x20u  /* data: its set of entries has been looked at, and is in order */
#define MAP_DIRTY 0x40u  /* data: ... and is not */

/* All objects of a file by offset, added in ascending order. */
struct object_map {
	struct map_chunk **chunks; /* NULL where no object begins */
	size_t chunk_count;
	uint8_t *flags; /* by number of the object in file order */
	uint32_t *last; /* by number: of a clean data object's set, the number of its last
			 * entry plus one */
	size_t count, capacity;
};

/* No object. */
#define MAP_NONE UINT32_MAX

void object_map_done(struct object_map *map);
/* -ENOMEM; -EFBIG beyond 2^32 objects. */
int object_map_add(struct object_map *map, uint64_t offset, uint8_t flags);
/* The number of the object at OFFSET, if one of these KINDS is there; MAP_NONE. */
uint32_t object_map_find(const struct object_map *map, uint64_t offset, uint8_t kinds);
/* The first object at or behind OFFSET: true, with where it is and its number. */
bool object_map_next(const struct object_map *map, uint64_t offset, uint64_t *ret_offset,
		     uint32_t *ret_number);

/* ---- the state -------------------------------------------------------------------------- */

enum verify_phase {
	VERIFY_HEADER,  /* flags, reserved bytes */
	VERIFY_HORIZON, /* of a snapshot: the last entry that is complete */
	VERIFY_HEADS,   /* of the data hash table's chains */
	VERIFY_OBJECTS, /* the first walk */
	VERIFY_SEAL,    /* in the first walk: what a tag covers is read again */
	VERIFY_COUNTS,  /* what the header says of what was found */
	VERIFY_CHAIN,   /* the global chain, array by array */
	VERIFY_ENTRY,   /* in it: an entry's items */
	VERIFY_TABLE,   /* the data hash table's tails */
	VERIFY_SETS,    /* of data objects that no entry led to */
	VERIFY_BUCKETS, /* something is wrong there: chain by chain, as the reference does it */
	VERIFY_PHASE_COUNT
};

struct verify {
	const struct journal *journal;
	struct payload_decoder *decoder;
	struct seal *seal;
	bool snapshot;
	uint64_t horizon; /* offset of the last object that counts; UINT64_MAX */
	struct chain horizon_chain;
	enum verify_phase phase;
	struct verify_result result;
	struct object_map map;

	/* the first walk */
	uint64_t p;    /* the object that it has come to */
	uint64_t tail; /* the object that it ends with */
	uint64_t item; /* in that object: items or bytes that are done */
	uint64_t n_objects, n_entries, n_data, n_fields, n_tags, n_arrays;
	bool found_main_array, found_tail;
	uint64_t last_seqnum, last_monotonic, last_realtime; /* of the entry before */
	struct id128 last_boot_id;
	uint64_t last_tag; /* offset of the last tag, 0: none */
	bool tag_is_right; /* that at p, as VERIFY_SEAL found */
	uint64_t last_epoch;
	uint64_t last_tag_realtime;          /* no entry may be older */
	uint64_t min_realtime, max_realtime; /* of entries since the last tag, 0: there are none */
	uint64_t seal_p;                     /* VERIFY_SEAL: the object, and */
	uint64_t seal_bytes;                 /* ... how much of what follows its header is done */

	/* where each chain of the data hash table goes on: offset of the next object; with bit 0
	 * set, of the last one. NULL: too many, or not asked for */
	uint64_t *chains;
	uint64_t bucket_count;
	bool table_is_odd; /* something was not where it was expected */

	/* the global chain */
	uint64_t array; /* offset of the array, 0 past the last */
	uint64_t next_array;
	uint64_t array_index;      /* in it */
	uint64_t index;            /* in the chain */
	uint64_t last_offset;      /* of the entry before */
	struct entry_object entry; /* VERIFY_ENTRY: at last_offset */
	uint32_t entry_number;

	/* one data object's set, while it is walked */
	struct verify_set {
		uint64_t data; /* 0: none is being walked */
		uint64_t array;
		uint64_t array_index;
		uint64_t index;
		uint64_t count;
		uint64_t last;
		uint32_t last_number; /* plus one; 0: the set is empty */
	} set;
	bool set_is_dirty; /* of some data object */

	/* the data hash table */
	uint64_t bucket;
	uint64_t chain_p, chain_last; /* within the bucket */
	bool searching;               /* VERIFY_ENTRY: for a data object, search_p comes next */
	uint64_t search_p;

	/* bounds on what only a hostile file needs */
	uint64_t items_left;      /* of arrays of sets */
	uint64_t steps_left;      /* in chains of the hash table */
	unsigned bisections_left; /* in sets that are not in order */
	unsigned progress;        /* what was said last */
};

/* ---- verify.c --------------------------------------------------------------------------- */

/* Records a line about the object at OFFSET. Returns ERROR. */
int verify_say(struct verify *v, uint64_t offset, int error, const char *format, ...)
	__attribute__((format(printf, 4, 5)));

/* True if an offset lies behind what a snapshot shows. */
static inline bool verify_is_beyond(const struct verify *v, uint64_t offset)
{
	return offset > v->horizon;
}

/* Each of these does a piece of its phase: 1 to be called again (perhaps in another phase, which it
 * has set), 0 when the phase is done, -EAGAIN, an error. */
int verify_objects(struct verify *v, struct window *w);
int verify_seal(struct verify *v, struct window *w);
int verify_chain(struct verify *v, struct window *w);
int verify_entry(struct verify *v, struct window *w);
int verify_table(struct verify *v, struct window *w);
int verify_sets(struct verify *v, struct window *w);
int verify_buckets(struct verify *v, struct window *w);

/* Whether a set that is not in order holds an element at or behind NEEDLE: 1, 0, an error. */
int verify_bisect_set(const struct journal *j, struct window *w, const struct data_object *data,
		      uint64_t needle);

/* A tag: what it says, and with a key what it seals. 1: the phase is now VERIFY_SEAL. */
int verify_take_tag(struct verify *v, struct window *w);

#endif
