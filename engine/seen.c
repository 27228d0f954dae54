/* SPDX-License-Identifier: MIT */
/*
 * The set behind listings without repeats. It holds 16 bytes for each string, whatever its length;
 * with keys of its own, two strings meet by chance only, and for billions of them that is beyond
 * what a memory error does.
 */
#include "engine/seen.h"

#include <stdlib.h>
#include <sys/random.h>

int seen_init(struct seen *s)
{
	*s = (struct seen){ 0 };
	return getrandom(s->keys, sizeof(s->keys), 0) == (ssize_t)sizeof(s->keys) ? 0 : -EIO;
}

void seen_done(struct seen *s)
{
	free(s->slots);
	*s = (struct seen){ 0 };
}

/* The slot of a hash: its own, or the free one where it belongs. */
static struct seen_hash *seen_slot(struct seen_hash *slots, size_t slot_count,
				   struct seen_hash hash)
{
	size_t at = hash.a & (slot_count - 1);

	while ((slots[at].a || slots[at].b) && (slots[at].a != hash.a || slots[at].b != hash.b))
		at = (at + 1) & (slot_count - 1);
	return &slots[at];
}

/* Doubles the slots. */
static int seen_grow(struct seen *s)
{
	size_t slot_count = s->slot_count ? s->slot_count * 2 : 1024;
	struct seen_hash *slots = calloc(slot_count, sizeof(*slots));

	if (!slots)
		return -ENOMEM;
	for (size_t i = 0; i < s->slot_count; i++) {
		if (s->slots[i].a || s->slots[i].b)
			*seen_slot(slots, slot_count, s->slots[i]) = s->slots[i];
	}
	free(s->slots);
	s->slots = slots;
	s->slot_count = slot_count;
	return 0;
}

/* The hashes of a string. */
static struct seen_hash seen_hash(const struct seen *s, const void *bytes, size_t size)
{
	return (struct seen_hash){
		.a = hash_siphash(bytes, size, &s->keys[0]),
		.b = hash_siphash(bytes, size, &s->keys[1]) | 1, /* never the mark of a free slot */
	};
}

bool seen_has(const struct seen *s, const void *bytes, size_t size)
{
	return s->count && seen_slot(s->slots, s->slot_count, seen_hash(s, bytes, size))->b;
}

int seen_add(struct seen *s, const void *bytes, size_t size)
{
	struct seen_hash hash = seen_hash(s, bytes, size);
	struct seen_hash *slot;
	int r;

	if (s->count * 2 >= s->slot_count) {
		r = seen_grow(s);
		if (r < 0)
			return r;
	}
	slot = seen_slot(s->slots, s->slot_count, hash);
	if (slot->b)
		return 0;
	*slot = hash;
	s->count++;
	return 1;
}
