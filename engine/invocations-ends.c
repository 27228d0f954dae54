/* SPDX-License-Identifier: MIT */
/*
 * The ends of invocations: the first and last of all entries that carry their IDs, in any of the
 * fields. In a file the ID is looked up by hash, which tells its set of entries, and of that the
 * ends are read.
 *
 * An invocation is of one boot, so that only files are asked that have entries of a boot in which
 * it was found; and of these only such as by their headers may reach beyond the ends that are known
 * already.
 */
#include <stdlib.h>

#include "engine/engine.h"
#include "engine/invocations.h"

/* Rows that are looked up together. */
#define ENDS_GROUP 16u
#define BOOT_NAME "_BOOT_ID"
#define BOOT_NAME_SIZE (sizeof(BOOT_NAME) - 1)

/* By boot, and then by row; for qsort(). */
static int invocations_compare_pairs(const void *a, const void *b)
{
	const struct invocations_pair *x = a, *y = b;

	if (x->boot != y->boot)
		return x->boot < y->boot ? -1 : 1;
	return (x->row > y->row) - (x->row < y->row);
}

/* Whether a row is one of those that are asked for. */
static bool invocations_is_wanted(const struct runs *b, const struct runs_row *row)
{
	return (b->oldest ? row->first_rank : row->last_rank) < b->wanted;
}

int invocations_make_pairs(struct jscan *e)
{
	const struct runs *b = &e->runs;
	struct invocations_pair *pairs;
	size_t count = 0, kept = 0;

	pairs = calloc(b->mark_count + 1, sizeof(*pairs));
	if (!pairs)
		return -ENOMEM;
	for (size_t i = 0; i < b->mark_count; i++) {
		const struct runs_mark *mark = &b->marks[i];

		if (invocations_is_wanted(b, &b->rows[mark->row]))
			pairs[count++] = (struct invocations_pair){
				e->invocations->has_boot ? 0 : mark->key.boot, mark->row
			};
	}
	qsort(pairs, count, sizeof(*pairs), invocations_compare_pairs);
	for (size_t i = 0; i < count; i++)
		if (i == 0 || invocations_compare_pairs(&pairs[i], &pairs[kept - 1]) != 0)
			pairs[kept++] = pairs[i];
	e->invocations->pairs = pairs;
	e->invocations->pair_count = kept;
	return 0;
}

/* ---- which of them a file may have ------------------------------------------------------ */

/* Adds the rows of a boot. -ENOMEM. */
static int invocations_add_rows(struct source *s, struct invocations_walk *w, uint32_t boot)
{
	const struct invocations *listing = s->engine->invocations;
	size_t low = 0, high = listing->pair_count;

	while (low < high) {
		size_t middle = (low + high) / 2;

		if (listing->pairs[middle].boot < boot)
			low = middle + 1;
		else
			high = middle;
	}
	for (; low < listing->pair_count && listing->pairs[low].boot == boot; low++) {
		if (w->row_count == w->row_capacity) {
			size_t capacity = w->row_capacity ? w->row_capacity * 2 : 16;
			uint32_t *rows = reallocarray(w->rows, capacity, sizeof(*rows));

			if (!rows)
				return -ENOMEM;
			w->rows = rows;
			w->row_capacity = capacity;
		}
		w->rows[w->row_count++] = listing->pairs[low].row;
	}
	return 0;
}

/* Adds the rows of a boot that is known by its ID. -ENOMEM. */
static int invocations_add_boot(struct source *s, struct invocations_walk *w,
				const struct id128 *id)
{
	uint32_t boot;
	int r = order_boot_number(&s->engine->order, id, &boot);

	return r < 0 ? r : invocations_add_rows(s, w, boot);
}

/* All rows, if the file has entries of the one boot. 0, -EAGAIN, -ENOMEM. */
static int invocations_look_up_boot(struct source *s, struct invocations_walk *w)
{
	const struct invocations *listing = s->engine->invocations;
	char text[BOOT_NAME_SIZE + 1 + JSCAN_ID_TEXT_SIZE] = BOOT_NAME "=";
	struct data_object data;
	jscan_id id;
	int r;

	memcpy(id.bytes, listing->boot_id.bytes, sizeof(id.bytes));
	jscan_id_format(&id, text + BOOT_NAME_SIZE + 1);
	payload_decoder_reset(s->engine->reader.decoder);
	r = lookup_data(&s->journal, &s->window, s->engine->reader.decoder, text, strlen(text),
			journal_hash(&s->journal, text, strlen(text)), &data);
	if (r == -EAGAIN || r == -ENOMEM)
		return r;
	if (r <= 0 || data.n_entries == 0)
		return 0;
	chain_init_data(&w->boot, &data);
	return invocations_add_rows(s, w, 0);
}

/* The rows of all boots that the file has. 0, -EAGAIN, -ENOMEM. */
static int invocations_walk_boots(struct source *s, struct invocations_walk *w)
{
	const struct journal_header *h = &s->journal.header;
	int r = 0;

	if (!s->listing_begun) {
		struct field_object field;

		r = lookup_field(&s->journal, &s->window, BOOT_NAME, BOOT_NAME_SIZE,
				 journal_hash(&s->journal, BOOT_NAME, BOOT_NAME_SIZE), &field);
		if (r == -EAGAIN)
			return r;
		s->listed = r > 0 ? field.head_data_offset : 0;
		s->listing_begun = true;
		/* Of entries that have no such field. */
		r = invocations_add_boot(s, w, &h->tail_entry_boot_id);
	}
	while (s->listed && r >= 0) {
		struct payload_view view;
		struct data_object data;
		struct id128 id;

		r = object_data(&s->journal, &s->window, s->listed, &data);
		if (r == 0)
			r = object_payload(&s->journal, &s->window, s->listed, &view);
		if (r == -EAGAIN)
			return r;
		if (r < 0)
			break; /* damage ends the chain */
		if (runs_parse(&view, BOOT_NAME_SIZE, &id) &&
		    !id128_equal(&id, &h->tail_entry_boot_id))
			r = invocations_add_boot(s, w, &id);
		s->listed = data.next_field_offset;
	}
	return r == -ENOMEM ? r : 0;
}

/* ---- ends ------------------------------------------------------------------------------- */

/* The element of a chain that is nearest to an offset: at it, or beyond. 1, 0, -EAGAIN. */
static int invocations_nearest(struct source *s, struct chain *chain, uint64_t offset,
			       bool backward, uint64_t *ret_offset)
{
	uint64_t index;
	int r = chain_bisect_offset(chain, &s->journal, &s->window, offset + backward, &index);

	if (r < 0)
		return r == -EAGAIN ? r : 0;
	if (backward ? index-- == 0 : index >= chain->count)
		return 0;
	r = chain_get(chain, &s->journal, &s->window, index, ret_offset);
	return r < 0 && r != -EAGAIN ? 0 : r;
}

/* The first or last entry that a set has in common with the boot. 0, -ENOENT, -EAGAIN. */
static int invocations_end_in_boot(struct source *s, struct chain *chain, struct chain *boot,
				   bool last, struct entry_object *ret)
{
	uint64_t offset = last ? UINT64_MAX - 1 : 1, in_set, in_boot;

	for (;;) {
		int r = invocations_nearest(s, chain, offset, last, &in_set);

		if (r > 0)
			r = invocations_nearest(s, boot, in_set, last, &in_boot);
		if (r <= 0)
			return r < 0 ? r : -ENOENT;
		/* Each step goes on in one direction, unless damage says otherwise. */
		if (last ? in_set > offset || in_boot > in_set
			 : in_set < offset || in_boot < in_set)
			return -ENOENT;
		if (in_set == in_boot) {
			r = object_entry(&s->journal, &s->window, in_set, ret);
			if (r == 0 || r == -EAGAIN)
				return r;
			in_boot = last ? in_set - 1 : in_set + 1;
		}
		offset = in_boot;
		if (offset == 0)
			return -ENOENT;
	}
}

/* The first or last entry of a set. 0, -ENOENT, -EAGAIN. */
static int invocations_end(struct source *s, struct invocations_walk *w, struct chain *chain,
			   bool last, struct entry_object *ret)
{
	uint64_t offset;
	int r;

	if (s->engine->invocations->has_boot)
		return invocations_end_in_boot(s, chain, &w->boot, last, ret);
	r = last ? chain_peek_tail(chain, &s->journal, &s->window, true, &offset) : 0;
	if (r > 0)
		r = object_entry(&s->journal, &s->window, offset, ret) == 0;
	if (r != 0)
		return r < 0 ? r : 0;
	return runs_end(s, chain, last, ret);
}

/* Widens a row by its entries in a set, as far as FIRST and LAST say that they count. 0, -EAGAIN,
 * -ENOMEM. */
static int invocations_widen(struct source *s, struct invocations_walk *w, struct runs_row *row,
			     const struct data_object *data, bool first, bool last)
{
	struct entry_object ends[2];
	struct order_key keys[2] = { row->first, row->last };
	struct chain chain;
	int r[2] = { -ENOENT, -ENOENT };

	chain_init_data(&chain, data);
	/* Both ends are asked for before either is waited for. */
	if (first)
		r[0] = invocations_end(s, w, &chain, false, &ends[0]);
	if (last)
		r[1] = invocations_end(s, w, &chain, true, &ends[1]);
	if (r[0] == -EAGAIN || r[1] == -EAGAIN)
		return -EAGAIN;
	for (int i = 0; i < 2; i++) {
		int error = r[i] == 0 ? runs_key(s, &ends[i], &keys[i]) : 0;

		if (error < 0)
			return error;
	}
	runs_widen(row, &s->engine->order, &keys[0], &keys[1]);
	return 0;
}

/* Looks a row up in one file. 0, -EAGAIN, -ENOMEM. */
static int invocations_look_up(struct source *s, struct invocations_walk *w, struct runs_row *row)
{
	const struct journal_header *h = &s->journal.header;
	bool first = row->first.seqnum_id != s->seqnum_id ||
		     h->head_entry_seqnum < row->first.seqnum;
	bool last = row->last.seqnum_id != s->seqnum_id || h->tail_entry_seqnum > row->last.seqnum;
	bool lacking = false;
	jscan_id id;

	memcpy(id.bytes, row->id.bytes, sizeof(id.bytes));
	for (unsigned i = 0; i < INVOCATIONS_FIELDS && (first || last); i++) {
		char text[64 + JSCAN_ID_TEXT_SIZE];
		size_t name_size = invocations_sizes[i], size = name_size + JSCAN_ID_TEXT_SIZE - 1;
		struct data_object data;
		int r;

		if (!(w->fields & 1u << i))
			continue;
		memcpy(text, invocations_names[i], name_size);
		jscan_id_format(&id, text + name_size);
		r = lookup_data(&s->journal, &s->window, s->engine->reader.decoder, text, size,
				journal_hash(&s->journal, text, size), &data);
		if (r > 0 && data.n_entries > 0)
			r = invocations_widen(s, w, row, &data, first, last);
		if (r == -ENOMEM)
			return r;
		lacking |= r == -EAGAIN;
	}
	return lacking ? -EAGAIN : 0;
}

/* Step: the ends of invocations in one file. */
static int invocations_ends_in_file(struct source *s)
{
	struct invocations_walk *w = invocations_walk_get(s);
	struct runs *b = &s->engine->runs;
	int r = w ? 0 : -ENOMEM;

	if (r == 0 && !w->rows_known)
		r = s->engine->invocations->has_boot ? invocations_look_up_boot(s, w)
						     : invocations_walk_boots(s, w);
	if (r < 0)
		return r;
	w->rows_known = true;
	if (w->at < w->row_count)
		r = invocations_look_up_fields(s, w);
	while (r == 0 && w->at < w->row_count) {
		size_t end = w->row_count - w->at < ENDS_GROUP ? w->row_count : w->at + ENDS_GROUP;

		payload_decoder_reset(s->engine->reader.decoder);
		for (size_t i = w->at; i < end && r != -ENOMEM; i++) {
			int error = invocations_look_up(s, w, &b->rows[w->rows[i]]);

			r = error < 0 ? error : r;
		}
		if (r < 0)
			return r;
		source_commit(s);
		w->at = end;
	}
	return r;
}

int invocations_ends_step(struct jscan *e)
{
	return engine_wave(e, invocations_ends_in_file, NULL);
}
