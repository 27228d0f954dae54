/* SPDX-License-Identifier: MIT */
/*
 * Counts by value. Values are kept whole, so that memory grows with how many different ones there
 * are; they are found by a hash whose key nobody knows who writes journals.
 */
#include "engine/tally.h"

#include <stdlib.h>
#include <sys/random.h>

int tally_init(struct tally *t)
{
	*t = (struct tally){ 0 };
	return getrandom(&t->key, sizeof(t->key), 0) == (ssize_t)sizeof(t->key) ? 0 : -EIO;
}

void tally_done(struct tally *t)
{
	for (size_t i = 0; i < t->count; i++)
		free(t->rows[i].bytes);
	free(t->rows);
	free(t->slots);
	*t = (struct tally){ 0 };
}

/* The slot of a value: that which has it, or the free one where it belongs. */
static size_t *tally_slot(struct tally *t, const void *bytes, size_t size, uint64_t hash)
{
	size_t at = hash & (t->slot_count - 1);

	for (; t->slots[at]; at = (at + 1) & (t->slot_count - 1)) {
		const struct tally_row *row = &t->rows[t->slots[at] - 1];

		if (row->hash == hash && row->size == size && memcmp(row->bytes, bytes, size) == 0)
			break;
	}
	return &t->slots[at];
}

/* Makes room for one more row. */
static int tally_grow(struct tally *t)
{
	size_t capacity = t->capacity ? t->capacity * 2 : 512;
	struct tally_row *rows;
	size_t *slots;

	if (t->count < t->capacity)
		return 0;
	rows = reallocarray(t->rows, capacity, sizeof(*rows));
	if (!rows)
		return -ENOMEM;
	t->rows = rows;
	slots = calloc(capacity * 2, sizeof(*slots));
	if (!slots)
		return -ENOMEM;
	free(t->slots);
	t->slots = slots;
	t->slot_count = capacity * 2;
	t->capacity = capacity;
	for (size_t i = 0; i < t->count; i++) {
		size_t at = rows[i].hash & (t->slot_count - 1);

		while (slots[at])
			at = (at + 1) & (t->slot_count - 1);
		slots[at] = i + 1;
	}
	return 0;
}

int tally_add(struct tally *t, const void *bytes, size_t size, uint64_t count)
{
	uint64_t hash = hash_siphash(bytes, size, &t->key);
	struct tally_row row = { .size = size, .hash = hash, .count = count };
	size_t *slot;
	int r = tally_grow(t);

	if (r < 0)
		return r;
	slot = tally_slot(t, bytes, size, hash);
	if (*slot) {
		t->rows[*slot - 1].count += count;
		return 0;
	}
	row.bytes = malloc(size + 1);
	if (!row.bytes)
		return -ENOMEM;
	memcpy(row.bytes, bytes, size);
	t->rows[t->count++] = row;
	*slot = t->count;
	return 0;
}

/* For qsort(). */
static int tally_compare(const void *a, const void *b)
{
	const struct tally_row *x = a, *y = b;
	size_t size = x->size < y->size ? x->size : y->size;
	int r;

	if (x->count != y->count)
		return x->count > y->count ? -1 : 1;
	r = memcmp(x->bytes, y->bytes, size);
	return r ? r : (x->size > y->size) - (x->size < y->size);
}

void tally_sort(struct tally *t)
{
	if (t->count > 0)
		qsort(t->rows, t->count, sizeof(*t->rows), tally_compare);
}
