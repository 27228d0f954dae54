/* SPDX-License-Identifier: MIT */
/*
 * journalctl's order of entries: the pairwise comparison of version 262 (specification 7.4) and the
 * table of newest entries per boot that it looks at (7.2). Knows nothing of files being read.
 */
#ifndef ENGINE_ORDER_H
#define ENGINE_ORDER_H

#include "formats/journal/journal.h"

/* Where an entry stands. Boots and sequence-number IDs are numbers in the table. */
struct order_key {
	uint64_t seqnum;
	uint64_t realtime;
	uint64_t monotonic;
	uint64_t xor_hash;
	uint32_t boot;
	uint32_t seqnum_id;
};

/* The newest entry of one file, as 7.2 finds it. */
struct order_newest {
	bool known;
	struct id128 boot_id;
	struct id128 machine_id;
	uint64_t monotonic;
	uint64_t realtime;
};

struct order_boot {
	struct id128 id;
	bool ranked;        /* it is the newest boot of some file */
	uint32_t machine;   /* of the representative: the file with the largest monotonic time */
	uint64_t monotonic;
	uint64_t realtime;
};

struct order_ids {
	struct id128 *ids;
	uint32_t count, capacity;
	uint32_t *slots;     /* open addressing: index + 1 */
	uint32_t slot_count; /* a power of two */
};

struct order {
	struct order_ids boot_ids;
	struct order_ids seqnum_ids;
	struct order_ids machine_ids;
	struct order_boot *boots; /* parallel to boot_ids */
	uint32_t boots_capacity;
};

/* The number of an ID in a table of its own, new ones being added. -ENOMEM. */
int order_ids_number(struct order_ids *t, const struct id128 *id, uint32_t *ret_number);
/* The number of an ID that is there. */
bool order_ids_find(const struct order_ids *t, const struct id128 *id, uint32_t *ret_number);
void order_ids_done(struct order_ids *t);

void order_done(struct order *o);

/* The number of an ID, new ones being added. -ENOMEM. */
int order_boot_number(struct order *o, const struct id128 *id, uint32_t *ret_number);
int order_seqnum_id_number(struct order *o, const struct id128 *id, uint32_t *ret_number);

/* Enters the newest entry of one more file, in the order in which files are numbered. */
int order_add_newest(struct order *o, const struct order_newest *newest);

/* Forgets all newest entries, so that they can be entered again. Numbers stay. */
void order_forget_newest(struct order *o);

/* Compares two different boots: -1, 0 (nothing is known of their order) or 1. */
int order_compare_boots(const struct order *o, uint32_t a, uint32_t b);

/* The comparison of 7.4. */
int order_compare(const struct order *o, const struct order_key *a, const struct order_key *b);

/*
 * True if two entries of different files are copies of one: equal but for the monotonic time under
 * one sequence-number ID, or equal in everything but it and the number.
 */
static inline bool order_is_copy(const struct order_key *a, const struct order_key *b)
{
	if (a->xor_hash != b->xor_hash || a->realtime != b->realtime || a->boot != b->boot)
		return false;
	if (a->seqnum_id == b->seqnum_id)
		return a->seqnum == b->seqnum;
	return a->monotonic == b->monotonic;
}

#endif
