/* SPDX-License-Identifier: MIT */
/*
 * How entries begin. The items of an entry stand in the order of what they name, so that what many
 * entries share comes first, and entries of one service begin alike: with the same dozen items.
 * What is known of all of these together is found at once, by the item in the middle of an entry,
 * where the items of services differ. Whether they really are the same is compared.
 *
 * A table belongs to one thread and one filter, like that of shared objects (shared.h), whose
 * payloads its fields point to: it is emptied when those move. It is direct-mapped: what is learnt
 * takes the place of what was there. It grows while too much of it is replaced.
 */
#ifndef ENGINE_PREFIX_H
#define ENGINE_PREFIX_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "engine/shared.h"
#include "formats/output/output.h"

/* Items of a beginning: with key and count two cache lines. What follows is looked at by itself. */
#define PREFIX_ITEMS_MAX 28u
#define PREFIX_ITEM_SIZE 4u /* files that are not compact have none */
#define PREFIX_WORTH_MAX 4u
/* What may be kept of the printed form of a beginning. */
#define PREFIX_LEAD_BYTES 1024u

/* What the items up to one amount to, that one included. */
struct prefix_sum {
	uint32_t look;      /* cost of looking at them */
	uint32_t keep;      /* ... and of keeping those that are wanted */
	uint16_t lead_size; /* bytes of the lead, ... */
	uint8_t lead_fields; /* ... and how many fields are in it */
	uint8_t fields;     /* how many are wanted */
};

struct prefix {
	uint64_t key;   /* shared_key() of the item by which it is found; 0: the slot is free */
	uint32_t count; /* of items */
	uint32_t worth; /* how often it may be passed over before another takes its place */
	uint8_t items[PREFIX_ITEMS_MAX * PREFIX_ITEM_SIZE];
};

/* What is known of the items of a beginning. */
struct prefix_known {
	struct prefix_sum sums[PREFIX_ITEMS_MAX];
};

/* Those that are wanted. */
struct prefix_fields {
	struct output_field list[PREFIX_ITEMS_MAX];
};

struct prefix_table {
	struct prefix *slots;
	struct prefix_known *known; /* by slot */
	struct prefix_fields *fields; /* by slot; NULL: no item that has been met is wanted */
	uint8_t (*leads)[PREFIX_LEAD_BYTES]; /* by slot: what export prints of it; or NULL */
	bool has_leads;
	size_t mask;                /* slots - 1 */
	uint64_t bytes_max;
	uint64_t found, replaced;   /* since the table has grown */
	bool empty;
};

/* A table of BYTES_MAX at most; too few for any: one that keeps nothing. It takes memory when
 * something is learnt. With LEADS what export prints of a beginning is kept too. */
void prefix_init(struct prefix_table *t, uint64_t bytes_max, bool leads);
void prefix_done(struct prefix_table *t);

/* Forgets everything. */
void prefix_clear(struct prefix_table *t);

/* How many of COUNT items at ITEMS are those of a beginning. */
static inline uint32_t prefix_match(const struct prefix *p, const uint8_t *items, uint64_t count)
{
	uint32_t n = count < p->count ? (uint32_t)count : p->count, i = 0;

	for (; i + 2 <= n; i += 2) {
		uint64_t differs = load_le64(p->items + i * PREFIX_ITEM_SIZE) ^
				   load_le64(items + i * PREFIX_ITEM_SIZE);

		if (differs)
			return i + ((uint32_t)differs == 0);
	}
	if (i < n && load_le32(p->items + i * PREFIX_ITEM_SIZE) ==
			     load_le32(items + i * PREFIX_ITEM_SIZE))
		i++;
	return i;
}

/* The slot of a key; NULL if there is no table yet. */
static inline struct prefix *prefix_slot(const struct prefix_table *t, uint64_t key)
{
	return t->slots ? &t->slots[shared_slot(key) & t->mask] : NULL;
}

/* What is known of a slot's items. */
static inline struct prefix_known *prefix_known(const struct prefix_table *t,
						const struct prefix *p)
{
	return &t->known[p - t->slots];
}

/* What export prints of the items up to one with SUM, as far as that is kept. */
static inline struct output_lead prefix_lead(const struct prefix_table *t, const struct prefix *p,
					     const struct prefix_sum *sum)
{
	if (!t->has_leads)
		return (struct output_lead){ NULL, 0, 0 };
	return (struct output_lead){ t->leads[p - t->slots], sum->lead_size, sum->lead_fields };
}

/* A beginning has been found, and MATCHED items of it. */
static inline void prefix_note_found(struct prefix *p, uint32_t matched)
{
	if (matched == p->count && p->worth < PREFIX_WORTH_MAX)
		p->worth++;
}

/* Whether an entry of which MATCHED items are a slot's beginning, and COUNT items are known, had
 * better take the place of it: if it is longer, or the slot's is of other entries; but not at once,
 * since learning costs more than a few looks. */
static inline bool prefix_is_better(struct prefix *p, uint64_t key, uint32_t matched,
				    uint64_t count)
{
	if (!p || !p->key)
		return count >= 2;
	if (p->key == key && (count <= matched ||
			      (count <= p->count && matched >= p->count / 2)))
		return false;
	if (count < 2 || p->worth == 0)
		return count >= 2;
	p->worth--;
	return false;
}

/*
 * Learns that an entry begins with COUNT items, of which MATCHED are those of the key's slot; the
 * others SHARED knows. FILE is the file's number.
 */
void prefix_learn(struct prefix_table *t, struct shared *shared, uint32_t file, uint64_t key,
		  const uint8_t *items, uint32_t matched, uint64_t count);

#endif
