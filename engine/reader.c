/* SPDX-License-Identifier: MIT */
/*
 * Loading the fields of an entry. All bytes that an entry lacks are asked for together: the walk
 * over its items goes on after the first that is missing. Items are read in groups, so that an
 * entry that claims millions of them does not have to be in memory at once. What is damaged is left
 * out and remembered; it is reported when the load succeeds, since a load may run several times.
 */
#include "engine/reader.h"

#include <stdlib.h>

#include "engine/match.h"

/* Readers whose entries may be so small charge items in part. */
#define READER_SKIM_MIN (DATA_PAYLOAD_REGULAR + SHARED_PAYLOAD_MAX)
/* Items looked at together. */
#define READER_GROUP 4096u
/* What stands so close before an entry was most likely written for it: not worth a search. */
#define READER_NEW_BYTES 768u
/* How entries begin takes so large a part of what may be remembered of shared objects. */
#define READER_PREFIX_PART 4u
/* An entry may look at so many fields that are too large to be kept. */
#define READER_LARGE_MAX 16u

/*
 * What one entry may still cost. An item is charged for its place in the list of fields too, so
 * that an entry of many small ones, or of one many times over, ends; and for being looked at, so
 * that what is left out does not make an entry go on for ever. What lies beyond is left out.
 */
struct reader_room {
	uint64_t keep_bytes;  /* of fields that are kept */
	uint64_t look_bytes;  /* of objects that are looked at; a large one counts in part only */
};

int reader_init(struct reader *r, uint64_t decode_bytes_max, uint64_t entry_bytes_max)
{
	*r = (struct reader){ .bytes_max = entry_bytes_max };
	return payload_decoder_new(decode_bytes_max, &r->decoder);
}

void reader_done(struct reader *r)
{
	payload_decoder_free(r->decoder);
	shared_done(&r->shared);
	prefix_done(&r->prefixes);
	free(r->fields);
	free(r->has);
	*r = (struct reader){ 0 };
}

void reader_share(struct reader *r, uint64_t bytes_max, bool leads)
{
	shared_done(&r->shared);
	prefix_done(&r->prefixes);
	prefix_init(&r->prefixes, bytes_max / READER_PREFIX_PART, leads);
	shared_init(&r->shared, bytes_max - bytes_max / READER_PREFIX_PART);
}

/* Remembers damage, as much as there is room for. */
static void reader_damaged(struct reader *r, uint64_t offset, int error, const char *detail)
{
	if (r->damage_count < READER_DAMAGE_MAX)
		r->damage[r->damage_count++] = (struct reader_damage){ offset, error, detail };
}

/* Appends a field. */
static inline int reader_append(struct reader *r, const struct output_field *field)
{
	if (unlikely(r->field_count == r->field_capacity)) {
		size_t capacity = r->field_capacity ? r->field_capacity * 2 : 64;
		struct output_field *fields = reallocarray(r->fields, capacity, sizeof(*fields));

		if (!fields)
			return -ENOMEM;
		r->fields = fields;
		r->field_capacity = capacity;
	}
	r->fields[r->field_count++] = *field;
	return 0;
}

/* The offset of the first '=', or SIZE. Names are short, so a plain loop beats a call. */
static inline uint32_t reader_name_size(const uint8_t *bytes, uint64_t size)
{
	uint64_t end = size < UINT32_MAX ? size : UINT32_MAX, i = 0;

	for (; i + 8 <= end; i += 8) {
		uint64_t x = load_le64(bytes + i) ^ UINT64_C(0x3d3d3d3d3d3d3d3d);
		uint64_t zero = (x - UINT64_C(0x0101010101010101)) & ~x &
				UINT64_C(0x8080808080808080);

		if (zero)
			return (uint32_t)(i + (uint64_t)__builtin_ctzll(zero) / 8);
	}
	while (i < end && bytes[i] != '=')
		i++;
	return (uint32_t)i;
}

/* Whether an uncompressed payload begins with NAME=. Nearly all differ in their first 8 bytes. */
static inline bool reader_begins(const struct payload_view *view, const char *name, size_t size)
{
	if (likely(size >= 8 && view->size >= 8)) {
		if (load_le64(view->bytes) != load_le64((const uint8_t *)name))
			return false;
		if (size == 8)
			return true;
	}
	return view->size >= size && memcmp(view->bytes, name, size) == 0;
}

/* Whether a payload is of a field that the filter asks for; which one in *ret_name. */
static inline int reader_wants(struct reader *r, const struct reader_filter *filter,
			       const struct payload_view *view, size_t *ret_name)
{
	for (size_t i = 0; i < filter->count; i++) {
		size_t size = filter->sizes[i]; /* of NAME= */

		if (!view->compression) {
			if (reader_begins(view, filter->names[i], size)) {
				*ret_name = i;
				return 1;
			}
		} else {
			int found = payload_starts_with(r->decoder, view->compression, view->bytes,
							view->size, filter->names[i], size);

			if (found < 0)
				return found;
			if (found) {
				*ret_name = i;
				return 1;
			}
		}
	}
	return 0;
}

/* Whether a field of this filter name has been found already. */
static bool reader_has_name(const struct reader *r, const struct reader_filter *filter, size_t name)
{
	for (size_t i = 0; i < r->field_count; i++) {
		if (r->fields[i].size >= filter->sizes[name] &&
		    memcmp(r->fields[i].bytes, filter->names[name], filter->sizes[name]) == 0)
			return true;
	}
	return false;
}

/* Counts a field against what an entry may hold. False if it does not fit. */
static inline bool reader_keep(struct reader *r, uint64_t size, uint64_t offset,
			       struct reader_room *room)
{
	if (unlikely(size > room->keep_bytes ||
		     sizeof(*r->fields) > room->keep_bytes - size)) {
		reader_damaged(r, offset, -ENOBUFS, "an entry is larger than the limit");
		return false;
	}
	room->keep_bytes -= size + sizeof(*r->fields);
	return true;
}

/* Counts a look at an object. False if the entry has had enough of them. */
static inline bool reader_look(struct reader *r, uint64_t stored_size,
			       const struct entry_object *entry, struct reader_room *room)
{
	uint64_t cost = DATA_PAYLOAD_REGULAR + stored_size;

	if (unlikely(cost > r->bytes_max / READER_LARGE_MAX))
		cost = r->bytes_max / READER_LARGE_MAX;
	if (unlikely(cost > room->look_bytes)) {
		reader_damaged(r, entry->offset, -ENOBUFS, "an entry is larger than the limit");
		return false;
	}
	room->look_bytes -= cost;
	return true;
}

/* Remembers the object that an item of an entry names, if it is shared by enough entries. With
 * WANTED its decoded field is *FIELD, which then becomes the copy that is kept. */
static void reader_remember(struct reader *r, uint64_t key, const struct journal *j,
			    const struct payload_view *view, bool wanted,
			    struct output_field *field)
{
	const uint8_t *object = view->bytes - j->data_payload;
	struct shared_item item = { .key = key, .stored_size = (uint32_t)view->size };
	const struct shared_item *kept;

	if (!key || load_le64(object + DATA_N_ENTRIES) < SHARED_ENTRIES_MIN ||
	    view->size > SHARED_PAYLOAD_MAX || field->size > SHARED_PAYLOAD_MAX ||
	    shared_find(&r->shared, key))
		return;
	if (wanted) {
		item.bytes = field->bytes;
		item.size = (uint32_t)field->size;
		item.name_size = field->name_size;
		item.traits = output_traits(field) | OUTPUT_TRAIT_SLACK;
	}
	kept = shared_add(&r->shared, &item);
	if (kept && wanted)
		*field = (struct output_field){ kept->bytes, kept->size, kept->name_size,
						kept->traits };
}

/* Decodes a payload if it has to be, and appends it if it is wanted. Damage is no error here. */
static int reader_take(struct reader *r, const struct journal *j, uint64_t key,
		       const struct payload_view *view, uint64_t offset,
		       const struct reader_filter *filter, struct reader_room *room)
{
	struct output_field field = { .bytes = view->bytes, .size = view->size };
	bool wanted = true;
	int error;

	if (unlikely(view->compression)) {
		error = payload_decode(r->decoder, view->compression, view->bytes, view->size,
				       &field.bytes, &field.size);
		if (error < 0) {
			reader_damaged(r, offset, error,
				       error == -ENOBUFS ? "a field is larger than the limit" :
							   "a field cannot be decompressed");
			if (error == -ENOMEM)
				return error;
			return 0;
		}
	}
	field.name_size = reader_name_size(field.bytes, field.size);
	if (filter->wants)
		wanted = filter->wants(filter->userdata, field.bytes, field.name_size);
	if (key)
		reader_remember(r, key, j, view, wanted, &field);
	if (!wanted || !reader_keep(r, field.size, offset, room))
		return 0;
	return reader_append(r, &field);
}

/* One item of an entry of which everything is known already. */
static inline int reader_known(struct reader *r, const struct entry_object *entry,
			       uint64_t offset, const struct shared_item *item,
			       const struct reader_filter *filter, bool lacking,
			       struct reader_room *room)
{
	const struct output_field field = { item->bytes, item->size, item->name_size,
					    item->traits };
	const struct payload_view view = { item->bytes, item->size, 0 };
	size_t name = 0;
	int error;

	if (unlikely(!reader_look(r, item->stored_size, entry, room)))
		return 1;
	if (!item->bytes || unlikely(lacking))
		return 0;
	if (filter->count) {
		reader_wants(r, filter, &view, &name);
		if (filter->first_only && filter->count > 1 && reader_has_name(r, filter, name))
			return 0;
	}
	if (!reader_keep(r, field.size, offset, room))
		return 0;
	error = reader_append(r, &field);
	if (error < 0)
		return error;
	return filter->first_only && r->field_count == filter->count;
}

/* One item of an entry. 1: nothing more is needed of this entry. */
static inline int reader_item(struct reader *r, const struct journal *j, struct window *w,
			      uint32_t file, const struct entry_object *entry, uint64_t offset,
			      const struct reader_filter *filter, bool lacking,
			      struct reader_room *room)
{
	bool new = entry->offset - offset < READER_NEW_BYTES;
	uint64_t key = shared_key(file, offset);
	const struct shared_item *item = key && !new ? shared_find(&r->shared, key) : NULL;
	struct payload_view view;
	size_t name = 0;
	int error;

	if (likely(item))
		return reader_known(r, entry, offset, item, filter, lacking, room);
	error = object_payload(j, w, offset, &view);
	if (unlikely(!reader_look(r, error < 0 ? 0 : view.size, entry, room)))
		return 1;
	if (unlikely(error < 0)) {
		if (error == -EAGAIN)
			return error;
		reader_damaged(r, offset ? offset : entry->offset, error, "a field cannot be read");
		return 0;
	}
	if (unlikely(lacking))
		return 0; /* only looking for what else is missing */
	if (filter->all || filter->wants)
		return reader_take(r, j, key, &view, offset, filter, room);
	error = reader_wants(r, filter, &view, &name);
	if (error <= 0) {
		if (error < 0)
			reader_damaged(r, offset, error, "a field cannot be decompressed");
		else if (key)
			reader_remember(r, key, j, &view, false, &(struct output_field){ 0 });
		return 0;
	}
	if (filter->first_only && filter->count > 1 && reader_has_name(r, filter, name))
		return 0;
	error = reader_take(r, j, key, &view, offset, filter, room);
	if (error < 0)
		return error;
	return filter->first_only && r->field_count == filter->count;
}

/*
 * The items of a group, from *AT on, that are all known and need no more than a look: stops at the
 * first that is anything else. This is what most of a scan consists of.
 */
static inline void reader_skim(struct reader *r, const struct journal *j, uint32_t file,
			       const struct entry_object *entry, const uint8_t *items,
			       uint64_t count, const struct reader_filter *filter,
			       struct reader_room *room, uint64_t *at)
{
	const struct shared_half *half = &r->shared.young;
	const uint64_t base = shared_key(file, 0);
	uint64_t look = room->look_bytes, keep = room->keep_bytes, i = *at;
	size_t kept = r->field_count;
	const bool named = filter->count > 0;

	for (; i < count; i++) {
		uint64_t offset = entry_item(j, items, i), key = base | offset >> 3;
		const struct shared_item *item;

		if (entry->offset - offset < READER_NEW_BYTES || unlikely(offset & SHARED_ODD_BITS))
			break;
		item = &half->items[shared_slot(key) & half->mask];
		if (unlikely(item->key != key)) {
			item = shared_find_slow(&r->shared, key);
			if (!item)
				break;
		}
		/* Items are too small for a single one to be charged in part. */
		if (unlikely(look < DATA_PAYLOAD_REGULAR + SHARED_PAYLOAD_MAX))
			break;
		if (item->bytes) {
			uint64_t size = item->size + sizeof(*r->fields);

			if (named || unlikely(keep < size || kept == r->field_capacity))
				break;
			keep -= size;
			r->fields[kept++] = (struct output_field){ item->bytes, item->size,
								   item->name_size, item->traits };
		}
		look -= DATA_PAYLOAD_REGULAR + item->stored_size;
	}
	r->field_count = kept;
	room->look_bytes = look;
	room->keep_bytes = keep;
	*at = i;
}

/*
 * The items that an entry begins with, as far as other entries began with the same: what is known
 * of them all is taken at once. KEY is 0 where nothing of the kind is known. Returns how many.
 */
static inline uint32_t reader_begin(struct reader *r, uint64_t key, const uint8_t *items,
				    uint64_t count, struct reader_room *room)
{
	struct prefix *p = prefix_slot(&r->prefixes, key);
	const struct prefix_known *known;
	const struct prefix_sum *sum;
	uint32_t n;

	if (unlikely(!p) || p->key != key)
		return 0;
	n = prefix_match(p, items, count);
	if (n == 0)
		return 0;
	known = prefix_known(&r->prefixes, p);
	sum = &known->sums[n - 1];
	/* Where room is short it is looked at closely. */
	if (unlikely(sum->look > room->look_bytes || sum->keep > room->keep_bytes ||
		     r->field_capacity < PREFIX_ITEMS_MAX))
		return 0;
	r->prefixes.found++;
	prefix_note_found(p, n);
	room->look_bytes -= sum->look;
	room->keep_bytes -= sum->keep;
	if (sum->fields)
		memcpy(r->fields, r->prefixes.fields[p - r->prefixes.slots].list,
		       sum->fields * sizeof(*r->fields));
	r->field_count = sum->fields;
	r->lead = prefix_lead(&r->prefixes, p, sum);
	return n;
}

/* The first COUNT items of an entry: as far as all is known of them, without a look at any. The
 * first of the others is in *AT. */
static inline void reader_skim_first(struct reader *r, const struct journal *j, uint32_t file,
				     const struct entry_object *entry, const uint8_t *items,
				     uint64_t count, const struct reader_filter *filter,
				     struct reader_room *room, uint64_t *at)
{
	uint64_t key = j->compact ? shared_key(file, entry_item(j, items, count / 2)) : 0;
	uint32_t matched = key ? reader_begin(r, key, items, count, room) : 0;

	*at = matched;
	reader_skim(r, j, file, entry, items, count, filter, room, at);
	if (unlikely(*at > matched) && key &&
	    prefix_is_better(prefix_slot(&r->prefixes, key), key, matched, *at)) {
		prefix_learn(&r->prefixes, &r->shared, file, key, items, matched, *at);
		r->lead = (struct output_lead){ NULL, 0, 0 }; /* it may be somewhere else now */
	}
}

/*
 * reader_load() for the first field of one name: what plain cat needs, of nearly every entry. True
 * if the entry has been dealt with; false, with nothing done, where anything is out of the
 * ordinary: bytes that are lacking, damage, a payload that is costly to decode, very many items.
 */
static inline bool reader_load_first(struct reader *r, const struct journal *j, struct window *w,
				     uint32_t file, const struct entry_object *entry,
				     const struct reader_filter *filter)
{
	struct reader_room room = { r->bytes_max, r->bytes_max * 2 };
	const uint8_t *items = window_peek(w, entry->offset, entry->size);
	uint64_t i;

	if (unlikely(!items || entry->n_items > READER_GROUP || !r->field_capacity))
		return false;
	items += ENTRY_ITEMS;
	reader_skim_first(r, j, file, entry, items, entry->n_items, filter, &room, &i);
	for (; i < entry->n_items; i++) {
		uint64_t offset = entry_item(j, items, i), key = shared_key(file, offset);
		struct output_field *field = &r->fields[0];
		const struct shared_item *item = NULL;
		struct payload_view view, text;

		if (entry->offset - offset >= READER_NEW_BYTES && likely(key))
			item = shared_find(&r->shared, key);
		if (item) {
			if (unlikely(!reader_look(r, item->stored_size, entry, &room)))
				return false;
			if (!item->bytes)
				continue;
			*field = (struct output_field){ item->bytes, item->size, item->name_size,
							item->traits };
		} else {
			if (unlikely(object_payload(j, w, offset, &view) < 0 ||
				     !reader_look(r, view.size, entry, &room)))
				return false;
			text = view;
			if (view.compression &&
			    payload_decode_small(r->decoder, view.compression, view.bytes,
						 view.size, &text.bytes, &text.size) < 0)
				return false;
			if (!reader_begins(&text, filter->names[0], filter->sizes[0])) {
				if (unlikely(view.compression))
					payload_decoder_reset(r->decoder);
				if (key)
					reader_remember(r, key, j, &view, false,
							&(struct output_field){ 0 });
				continue;
			}
			*field = (struct output_field){ text.bytes, text.size,
							(uint32_t)filter->sizes[0] - 1, 0 };
			if (key)
				reader_remember(r, key, j, &view, true, field);
		}
		if (unlikely(!reader_keep(r, field->size, offset, &room)))
			return false;
		r->field_count = 1;
		return true;
	}
	return true;
}

int reader_load(struct reader *r, const struct journal *j, struct window *w, uint32_t file,
		const struct entry_object *entry, const struct reader_filter *filter)
{
	struct reader_room room = { r->bytes_max, r->bytes_max * 2 };
	bool lacking = false, skims = file && r->bytes_max / READER_LARGE_MAX > READER_SKIM_MIN;

	r->field_count = 0;
	r->lead = (struct output_lead){ NULL, 0, 0 };
	r->damage_count = 0;
	payload_decoder_reset(r->decoder);
	if (unlikely(shared_turn(&r->shared, entry->n_items)))
		prefix_clear(&r->prefixes);
	skims = skims && r->shared.young.items && !(file >> 24);
	if (likely(skims && filter->first_only && filter->count == 1)) {
		if (likely(reader_load_first(r, j, w, file, entry, filter)))
			return 0;
		r->field_count = 0;
		r->damage_count = 0;
		w->want_count = 0;
	}
	for (uint64_t first = 0; first < entry->n_items; first += READER_GROUP) {
		uint64_t count = entry->n_items - first < READER_GROUP ? entry->n_items - first :
									 READER_GROUP;
		const uint8_t *items;
		int error = object_entry_items(j, w, entry, first, count, &items);

		if (error < 0) {
			if (error != -EAGAIN)
				reader_damaged(r, entry->offset, error, "an entry cannot be read");
			return error == -EAGAIN ? error : 0;
		}
		for (uint64_t i = 0; i < count; i++) {
			if (likely(skims)) {
				if (i == 0 && first == 0)
					reader_skim_first(r, j, file, entry, items, count, filter,
							  &room, &i);
				else
					reader_skim(r, j, file, entry, items, count, filter, &room,
						    &i);
				if (i == count)
					break;
			}
			error = reader_item(r, j, w, file, entry, entry_item(j, items, i),
					    filter, lacking, &room);
			if (likely(error == 0))
				continue;
			if (error > 0)
				return lacking ? -EAGAIN : 0;
			if (error != -EAGAIN)
				return error;
			lacking = true;
			if (w->want_count == WINDOW_WANTS_MAX)
				return -EAGAIN;
		}
		if (lacking)
			return -EAGAIN;
	}
	return 0;
}

/* Marks the terms at and below NODE that a field is equal to. */
static void reader_mark(const struct match_node *node, const struct output_field *field, bool *has)
{
	if (node->kind == MATCH_TERM) {
		if (node->size == field->size && memcmp(node->data, field->bytes, node->size) == 0)
			has[node->ordinal] = true;
		return;
	}
	for (size_t i = 0; i < node->child_count; i++)
		reader_mark(node->children[i], field, has);
}

int reader_matches(struct reader *r, const struct match *match, bool *ret_matches)
{
	if (r->has_capacity < match->term_count) {
		bool *has = realloc(r->has, match->term_count);

		if (!has)
			return -ENOMEM;
		r->has = has;
		r->has_capacity = match->term_count;
	}
	memset(r->has, 0, match->term_count);
	for (size_t i = 0; i < r->field_count; i++)
		reader_mark(match->root, &r->fields[i], r->has);
	*ret_matches = match_evaluate(match->root, r->has);
	return 0;
}
