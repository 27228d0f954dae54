/* SPDX-License-Identifier: MIT */
/*
 * How objects hang together: the global chain and its entries; of each entry its data objects; of
 * each data object its place in the hash table and its set of entries; the table itself.
 *
 * Data objects are shared, so what is found out about one is remembered: that it can be found in
 * the table, and which is the last entry of its set if that set is in order. Then an item of an
 * entry costs one look into memory. That the elements of a set are in the global chain need not be
 * asked: the chain has as many strictly ascending entries as the file has, so it has all of them.
 *
 * In a snapshot, what lies behind the horizon is taken for granted.
 */
#include <assert.h>
#include <inttypes.h>

#include "formats/journal/verify-private.h"

/* Entries, items, buckets and data objects in one piece of work. */
#define VERIFY_AT_ONCE 1024u
/* The writer completes sets behind the global chain: the sets of its last entries may lack them. */
#define VERIFY_SNAPSHOT_LAG 2u

/* ---- the set of a data object ----------------------------------------------------------- */

/* Says what is wrong with a set, or (while entries are looked at) only remembers it. */
#define verify_set_wrong(v, speak, ...)                                                            \
	((speak) ? verify_say((v), (v)->set.data, -EBADMSG, __VA_ARGS__) : -EBADMSG)

/* Begins with a set: its inline element. */
static int verify_set_begin(struct verify *v, struct window *w, uint64_t offset, bool speak)
{
	struct data_object data;
	uint32_t number;
	int r = object_data(v->journal, w, offset, &data);

	if (r < 0)
		return r;
	v->set = (struct verify_set){
		.data = offset,
		.array = data.entry_array_offset,
		.index = 1,
		.count = data.n_entries,
		.last = data.entry_offset,
	};
	if (data.entry_array_offset && data.n_entries < 2 && !v->snapshot)
		return verify_set_wrong(v, speak,
					"Entry array present (entry_array_offset=%06" PRIx64
					", but n_entries=%" PRIu64 ")",
					data.entry_array_offset, data.n_entries);
	if (data.n_entries == 0)
		return 0;
	if (verify_is_beyond(v, data.entry_offset)) {
		v->set.count = 0;
		return 0;
	}
	number = object_map_find(&v->map, data.entry_offset, MAP_ENTRY);
	if (number == MAP_NONE)
		return verify_set_wrong(v, speak,
					"Data object references invalid entry at %06" PRIx64,
					data.entry_offset);
	v->set.last_number = number + 1;
	return 0;
}

/* One element of a set. */
static int verify_set_element(struct verify *v, uint64_t offset, bool speak)
{
	struct verify_set *set = &v->set;
	uint32_t number;

	if (offset <= set->last)
		return verify_set_wrong(v, speak,
					"Data object's entry array not sorted (%" PRIu64
					" <= %" PRIu64 ")",
					offset, set->last);
	number = object_map_find(&v->map, offset, MAP_ENTRY);
	if (number == MAP_NONE)
		return verify_set_wrong(
			v, speak, "Data object references invalid entry at %06" PRIx64, offset);
	set->last = offset;
	set->last_number = number + 1;
	return 0;
}

/* The elements in the array that the walk over a set has come to. 0: go on with the next array. */
static int verify_set_array(struct verify *v, struct window *w, bool speak)
{
	struct verify_set *set = &v->set;
	struct array_object array;
	int r;

	if (set->array == 0) {
		if (!v->snapshot)
			return verify_set_wrong(v, speak, "Array chain too short");
		set->count = set->index;
		return 0;
	}
	if (!verify_is_beyond(v, set->array) &&
	    object_map_find(&v->map, set->array, MAP_ARRAY) == MAP_NONE)
		return verify_set_wrong(v, speak, "Invalid array offset %06" PRIx64, set->array);
	r = object_array(v->journal, w, set->array, &array);
	if (format_error_is_soft(r) && verify_is_beyond(v, set->array)) {
		/* It is being written, or lies where the file has grown to since. */
		set->count = set->index;
		return 0;
	}
	if (r < 0)
		return r;
	while (set->index < set->count && set->array_index < array.capacity) {
		uint64_t left = array.capacity - set->array_index, count;
		const uint8_t *items;

		count = set->count - set->index < left ? set->count - set->index : left;
		count = count < VERIFY_AT_ONCE ? count : VERIFY_AT_ONCE;
		if (count > v->items_left)
			return verify_say(v, set->data, -EUCLEAN,
					  "Data objects share their entry arrays");
		r = object_array_items(v->journal, w, &array, set->array_index, count, &items);
		if (r < 0)
			return r;
		v->items_left -= count;
		for (uint64_t i = 0; i < count; i++) {
			uint64_t offset = array_item(v->journal, items, i);

			if (v->snapshot && (offset == 0 || verify_is_beyond(v, offset))) {
				set->count = set->index;
				return 0;
			}
			r = verify_set_element(v, offset, speak);
			if (r < 0)
				return r;
			set->index++;
			set->array_index++;
		}
	}
	set->array = array.next;
	set->array_index = 0;
	return 0;
}

/*
 * Looks at the set of the data object at OFFSET, number NUMBER, and remembers the result. 0: it is
 * in order; -EAGAIN; an error, about which a line was said if SPEAK.
 */
static int verify_set(struct verify *v, struct window *w, uint64_t offset, uint32_t number,
		      bool speak)
{
	uint8_t *flags = &v->map.flags[number];
	int r = 0;

	if (*flags & MAP_CLEAN)
		return 0;
	if (*flags & MAP_DIRTY && !speak)
		return -EBADMSG;
	if (v->set.data != offset)
		r = verify_set_begin(v, w, offset, speak);
	while (r == 0 && v->set.index < v->set.count)
		r = verify_set_array(v, w, speak);
	if (r == -EAGAIN)
		return r;
	v->set.data = 0;
	if (r < 0) {
		*flags |= MAP_DIRTY;
		v->set_is_dirty = true;
		return r;
	}
	*flags |= MAP_CLEAN;
	v->map.last[number] = v->set.last_number;
	return 0;
}

/* ---- the items of an entry -------------------------------------------------------------- */

/* Looks for a data object in its chain of the hash table, as a reader would. 1 found, 0 not. */
static int verify_search(struct verify *v, struct window *w, uint64_t offset, uint32_t number)
{
	const struct journal_header *h = &v->journal->header;
	struct data_object data;
	const uint8_t *bucket;
	int r;

	if (v->map.flags[number] & MAP_HASHED)
		return 1;
	if (v->bucket_count == 0)
		return 0;
	if (!v->searching) {
		r = object_data(v->journal, w, offset, &data);
		if (r == 0)
			r = window_get(w,
				       h->data_hash_table_offset +
					       data.hash % v->bucket_count * HASH_ITEM_SIZE,
				       HASH_ITEM_SIZE, &bucket);
		if (r < 0)
			return r;
		v->search_p = load_le64(bucket);
		v->searching = true;
	}
	while (v->search_p != 0 && v->search_p != offset) {
		r = object_data(v->journal, w, v->search_p, &data);
		if (r == -EAGAIN)
			return r;
		if (r == 0 && v->steps_left-- == 0)
			r = verify_say(v, offset, -EUCLEAN, "Hash chains share their data objects");
		if (r < 0) {
			v->searching = false;
			return r;
		}
		v->search_p = data.next_hash_offset;
	}
	v->searching = false;
	if (v->search_p == 0)
		return 0;
	v->map.flags[number] |= MAP_HASHED;
	return 1;
}

/* The same for a set that is not in order. */
static int verify_refers_back_somehow(struct verify *v, struct window *w, uint64_t offset)
{
	struct data_object data;
	int r = object_data(v->journal, w, offset, &data);

	if (r == 0)
		r = verify_bisect_set(v->journal, w, &data, v->entry.offset);
	if (r >= 0 && v->bisections_left-- == 0)
		r = verify_say(v, offset, -EUCLEAN, "Too many sets of entries are out of order");
	return r;
}

/* Whether the data object's set holds an element at or behind the entry. */
static int verify_refers_back(struct verify *v, struct window *w, uint64_t offset, uint32_t number)
{
	int r = verify_set(v, w, offset, number, false);

	if (r == -EAGAIN || r == -EUCLEAN)
		return r;
	if (r < 0)
		return verify_refers_back_somehow(v, w, offset);
	return v->map.last[number] > v->entry_number;
}

/* One item of the entry. */
static int verify_item(struct verify *v, struct window *w, uint64_t offset)
{
	uint64_t lag = v->snapshot ? VERIFY_SNAPSHOT_LAG : 1;
	uint32_t number = object_map_find(&v->map, offset, MAP_DATA);
	uint8_t flags;
	int r;

	if (number == MAP_NONE)
		return verify_say(v, v->entry.offset, -EBADMSG, "Invalid data object of entry");
	flags = v->map.flags[number];
	if (likely((flags & (MAP_CLEAN | MAP_HASHED)) == (MAP_CLEAN | MAP_HASHED) &&
		   v->map.last[number] > v->entry_number))
		return 0;
	r = verify_search(v, w, offset, number);
	if (r < 0)
		return r;
	if (r == 0)
		return verify_say(v, v->entry.offset, -EBADMSG,
				  "Data object missing from hash table");
	r = verify_refers_back(v, w, offset, number);
	if (r < 0)
		return r;
	if (r == 0 && v->index + lag < v->journal->header.n_entries)
		return verify_say(v, v->entry.offset, -EBADMSG,
				  "Entry object not referenced by linked data object at %06" PRIx64,
				  offset);
	return 0;
}

int verify_entry(struct verify *v, struct window *w)
{
	while (v->item < v->entry.n_items) {
		uint64_t left = v->entry.n_items - v->item;
		uint64_t count = left < VERIFY_AT_ONCE ? left : VERIFY_AT_ONCE;
		const uint8_t *items;
		int r = object_entry_items(v->journal, w, &v->entry, v->item, count, &items);

		if (r < 0)
			return r;
		for (uint64_t i = 0; i < count; i++) {
			r = verify_item(v, w, entry_item(v->journal, items, i));
			if (r < 0)
				return r;
			v->item++;
		}
	}
	v->index++;
	v->array_index++;
	return 0;
}

/* ---- the global chain ------------------------------------------------------------------- */

/* The next element: its entry becomes the one to be looked at. */
static int verify_chain_element(struct verify *v, struct window *w,
				const struct array_object *array)
{
	uint64_t n = v->journal->header.n_entries, offset;
	const uint8_t *item;
	int r = object_array_items(v->journal, w, array, v->array_index, 1, &item);

	if (r < 0)
		return r;
	offset = array_item(v->journal, item, 0);
	if (offset <= v->last_offset)
		return verify_say(v, v->array, -EBADMSG,
				  "Entry array not sorted at %" PRIu64 " of %" PRIu64, v->index, n);
	v->entry_number = object_map_find(&v->map, offset, MAP_ENTRY);
	if (v->entry_number == MAP_NONE)
		return verify_say(v, v->array, -EBADMSG,
				  "Invalid array entry at %" PRIu64 " of %" PRIu64, v->index, n);
	r = object_entry(v->journal, w, offset, &v->entry);
	if (r < 0)
		return r;
	v->last_offset = offset;
	v->item = 0;
	v->phase = VERIFY_ENTRY;
	return 1;
}

int verify_chain(struct verify *v, struct window *w)
{
	uint64_t n = v->journal->header.n_entries;
	struct array_object array;
	int r;

	if (v->index >= n)
		return 0;
	if (v->array == 0)
		return verify_say(v, 0, -EBADMSG,
				  "Array chain too short at %" PRIu64 " of %" PRIu64, v->index, n);
	if (!verify_is_beyond(v, v->array) &&
	    object_map_find(&v->map, v->array, MAP_ARRAY) == MAP_NONE)
		return verify_say(v, v->array, -EBADMSG, "Invalid array %" PRIu64 " of %" PRIu64,
				  v->index, n);
	r = object_array(v->journal, w, v->array, &array);
	if (r < 0)
		return r;
	if (v->array_index < array.capacity)
		return verify_chain_element(v, w, &array);
	v->array = array.next;
	v->array_index = 0;
	return 1;
}

/* ---- the data hash table ---------------------------------------------------------------- */

/* Whether the chain that was followed from a bucket is the one that the bucket speaks of. */
static bool verify_bucket_is_right(const struct verify *v, uint64_t i, const uint8_t *bucket)
{
	uint64_t tail = load_le64(bucket + 8), end = v->chains[i];

	if (end & 1) /* the last object of the chain */
		return tail == (end & ~UINT64_C(1)) || (v->snapshot && verify_is_beyond(v, tail));
	if (end == 0)
		return v->snapshot || (load_le64(bucket) == 0 && tail == 0);
	return v->snapshot && verify_is_beyond(v, end);
}

/* Compares what the first walk found with the buckets; then the sets that are left. */
int verify_table(struct verify *v, struct window *w)
{
	const struct journal_header *h = &v->journal->header;

	if (!v->chains)
		v->table_is_odd = v->bucket_count > 0;
	while (!v->table_is_odd && v->bucket < v->bucket_count) {
		uint64_t left = v->bucket_count - v->bucket;
		uint64_t count = left < VERIFY_AT_ONCE ? left : VERIFY_AT_ONCE;
		const uint8_t *buckets;
		int r = window_get(w, h->data_hash_table_offset + v->bucket * HASH_ITEM_SIZE,
				   count * HASH_ITEM_SIZE, &buckets);

		if (r < 0)
			return r;
		for (uint64_t i = 0; i < count; i++)
			v->table_is_odd |= !verify_bucket_is_right(v, v->bucket + i,
								   buckets + i * HASH_ITEM_SIZE);
		v->bucket += count;
	}
	v->bucket = 0;
	v->last_offset = 0;
	if (!v->table_is_odd && !v->set_is_dirty)
		return 0;
	v->phase = VERIFY_BUCKETS;
	return 1;
}

/* The sets of data objects that no entry led to. */
int verify_sets(struct verify *v, struct window *w)
{
	for (unsigned i = 0; i < VERIFY_AT_ONCE; i++) {
		uint64_t offset;
		uint32_t number;
		int r;

		if (!object_map_next(&v->map, v->last_offset, &offset, &number))
			return 0;
		if ((v->map.flags[number] & (MAP_HASHED | MAP_CLEAN)) == MAP_HASHED) {
			r = verify_set(v, w, offset, number, false);
			if (r == -EAGAIN)
				return r;
			if (r < 0) {
				v->phase = VERIFY_BUCKETS; /* which one is the first there? */
				return 1;
			}
		}
		v->last_offset = offset + 8;
	}
	return 1;
}

/* Goes on in a chain. 0: the chain is at its end. */
static int verify_bucket_chain(struct verify *v, struct window *w)
{
	while (v->chain_p != 0 && !verify_is_beyond(v, v->chain_p)) {
		uint32_t number = object_map_find(&v->map, v->chain_p, MAP_DATA);
		struct data_object data;
		int r;

		if (number == MAP_NONE)
			return verify_say(v, v->chain_p, -EBADMSG,
					  "Invalid data object at hash entry %" PRIu64
					  " of %" PRIu64,
					  v->bucket, v->bucket_count);
		r = object_data(v->journal, w, v->chain_p, &data);
		if (r < 0)
			return r;
		if (data.hash % v->bucket_count != v->bucket)
			return verify_say(v, v->chain_p, -EBADMSG,
					  "Hash value mismatch in hash entry %" PRIu64
					  " of %" PRIu64,
					  v->bucket, v->bucket_count);
		r = verify_set(v, w, v->chain_p, number, true);
		if (r < 0)
			return r;
		v->chain_last = v->chain_p;
		v->chain_p = data.next_hash_offset;
	}
	return 0;
}

/* Chain by chain, in the reference's order: the first thing that is wrong is what is said. */
int verify_buckets(struct verify *v, struct window *w)
{
	const struct journal_header *h = &v->journal->header;

	for (unsigned i = 0; i < VERIFY_AT_ONCE; i++) {
		const uint8_t *bucket;
		uint64_t tail;
		int r;

		if (v->bucket >= v->bucket_count)
			return 0;
		r = window_get(w, h->data_hash_table_offset + v->bucket * HASH_ITEM_SIZE,
			       HASH_ITEM_SIZE, &bucket);
		if (r < 0)
			return r;
		tail = load_le64(bucket + 8);
		if (v->chain_last == 0 && v->chain_p == 0)
			v->chain_p = load_le64(bucket);
		r = verify_bucket_chain(v, w);
		if (r < 0)
			return r;
		if (v->chain_last != tail && !(v->snapshot && verify_is_beyond(v, tail)))
			return verify_say(v, v->chain_last, -EBADMSG,
					  "Tail hash pointer mismatch in hash table (%" PRIu64
					  " != %" PRIu64 ")",
					  v->chain_last, tail);
		v->chain_p = v->chain_last = 0;
		v->bucket++;
	}
	return 1;
}
