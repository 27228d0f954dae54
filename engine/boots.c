/* SPDX-License-Identifier: MIT */
/*
 * The boots of an archive, from the index: in every file the values of _BOOT_ID, and of each the
 * two ends of its set of entries. Files are asked in a wave; no other entry is read. Which boot
 * comes before which follows from the ends (boots-order.c).
 *
 * journalctl finds boots by jumping from the end of one to the next (specification 14.1), and so
 * misses those that lie between two parts of another; here they are listed.
 */
#include "engine/boots.h"

#include <stdlib.h>

#include "engine/engine.h"

static const char boots_field[] = "_BOOT_ID";
#define BOOTS_FIELD_SIZE (sizeof(boots_field) - 1)
#define BOOTS_PAYLOAD_SIZE (BOOTS_FIELD_SIZE + 1 + 32)
/* Looking for a boot that is not the newest, so many of the last files are asked at once. */
#define BOOTS_FIND_FILES 16u

/* The number of a boot's row, made if missing. */
static int boots_row(struct boots *b, const struct id128 *id, uint32_t *ret_number,
		     bool *ret_new)
{
	uint32_t number;
	int r = order_ids_number(&b->ids, id, &number);

	if (r < 0)
		return r;
	if (number >= b->capacity) {
		size_t capacity = b->capacity ? b->capacity * 2 : 64;
		struct boots_row *rows = reallocarray(b->rows, capacity, sizeof(*rows));

		if (!rows)
			return -ENOMEM;
		b->rows = rows;
		b->capacity = capacity;
	}
	*ret_new = number == b->count;
	if (*ret_new)
		b->rows[b->count++] = (struct boots_row){ .id = *id };
	*ret_number = number;
	return 0;
}

/* The key of an entry. */
static int boots_key(struct source *s, const struct entry_object *entry, struct order_key *ret_key)
{
	*ret_key = (struct order_key){
		.seqnum = entry->seqnum,
		.realtime = entry->realtime,
		.monotonic = entry->monotonic,
		.xor_hash = entry->xor_hash,
		.seqnum_id = s->seqnum_id,
	};
	return order_boot_number(&s->engine->order, &entry->boot_id, &ret_key->boot);
}

/* The last entry of a boot as the file's own hint leads to it. 1, 0, -EAGAIN. */
static int boots_last_by_hint(struct source *s, struct chain *chain, const struct id128 *id,
			      struct entry_object *ret)
{
	uint64_t offset;
	int r = chain_peek_tail(chain, &s->journal, &s->window, true, &offset);

	if (r <= 0)
		return r;
	r = object_entry(&s->journal, &s->window, offset, ret);
	if (r == -EAGAIN)
		return r;
	return r == 0 && id128_equal(&ret->boot_id, id);
}

/* An end of a set: the first or last entry that can be read. 0, -ENOENT, -EAGAIN. */
static int boots_end(struct source *s, struct chain *chain, bool last, struct entry_object *ret)
{
	uint64_t i = last ? chain->count : 0;

	while (last ? i > 0 : i < chain->count) {
		uint64_t offset;
		int r = chain_get(chain, &s->journal, &s->window, last ? i - 1 : i, &offset);

		if (r == 1) {
			r = object_entry(&s->journal, &s->window, offset, ret);
			if (r == 0)
				return 0;
		}
		if (r == -EAGAIN)
			return r;
		if (!last)
			i++;
		else
			i = i - 1 < chain->count ? i - 1 : chain->count;
	}
	return -ENOENT;
}

/* Enters the part of a boot that one file holds. */
static int boots_enter(struct source *s, const struct id128 *id, const struct entry_object *first,
		       const struct entry_object *last)
{
	struct boots *b = &s->engine->boots;
	const struct order *order = &s->engine->order;
	struct boots_mark *marks;
	struct boots_row *row;
	uint32_t number;
	bool is_new;
	int r = boots_row(b, id, &number, &is_new);

	if (r < 0)
		return r;
	if (b->mark_count + 2 > b->mark_capacity) {
		size_t capacity = b->mark_capacity ? b->mark_capacity * 2 : 128;

		marks = reallocarray(b->marks, capacity, sizeof(*marks));
		if (!marks)
			return -ENOMEM;
		b->marks = marks;
		b->mark_capacity = capacity;
	}
	marks = b->marks + b->mark_count;
	marks[0].row = marks[1].row = number;
	r = boots_key(s, first, &marks[0].key);
	r = r < 0 ? r : boots_key(s, last, &marks[1].key);
	if (r < 0)
		return r;
	b->mark_count += 2;
	row = &b->rows[number];
	if (is_new || order_compare(order, &marks[0].key, &row->first) < 0)
		row->first = marks[0].key;
	if (is_new || order_compare(order, &marks[1].key, &row->last) > 0)
		row->last = marks[1].key;
	return 0;
}

/* One value of _BOOT_ID. Damage leaves it out. 0, -EAGAIN, -ENOMEM. */
static int boots_take(struct source *s, const struct data_object *data)
{
	struct entry_object first, last;
	char text[JSCAN_ID_TEXT_SIZE];
	struct payload_view view;
	struct chain chain;
	struct id128 id;
	jscan_id parsed;
	int r = object_payload(&s->journal, &s->window, data->offset, &view), q;

	if (r < 0)
		return r;
	if (view.compression || view.size != BOOTS_PAYLOAD_SIZE || data->n_entries == 0)
		return 0;
	memcpy(text, view.bytes + BOOTS_FIELD_SIZE + 1, 32);
	text[32] = '\0';
	if (jscan_id_parse(text, &parsed) < 0)
		return 0;
	memcpy(id.bytes, parsed.bytes, sizeof(id.bytes));
	if (id128_is_null(&id))
		return 0;
	chain_init_data(&chain, data);
	q = boots_end(s, &chain, false, &first);
	r = boots_last_by_hint(s, &chain, &id, &last);
	if (r >= 0)
		r = r > 0 ? 0 : boots_end(s, &chain, true, &last);
	if (q < 0 || r < 0)
		return q == -EAGAIN || r == -EAGAIN ? -EAGAIN : 0;
	return boots_enter(s, &id, &first, &last);
}

/* Step: the boots of one file; s->listed is the next value to look at. */
static int boots_step(struct source *s)
{
	struct field_object field;
	struct data_object data;
	int r;

	if (!s->listing_begun) {
		r = lookup_field(&s->journal, &s->window, boots_field, BOOTS_FIELD_SIZE,
				 journal_hash(&s->journal, boots_field, BOOTS_FIELD_SIZE), &field);
		if (r == -EAGAIN)
			return r;
		s->listed = r > 0 ? field.head_data_offset : 0;
		s->listing_begun = true;
	}
	while (s->listed) {
		r = object_data(&s->journal, &s->window, s->listed, &data);
		if (r == 0)
			r = boots_take(s, &data);
		if (r == -EAGAIN || r == -ENOMEM)
			return r;
		if (r < 0) {
			problem_report(s, JSCAN_REASON_OBJECT, r, s->listed,
				       "a boot's ID cannot be read");
			break;
		}
		s->listed = data.next_field_offset;
	}
	s->listing_done = true;
	return 0;
}

/* engine_wait(): opens what has to be known, then asks all files. */
static int boots_list_step(struct jscan *e)
{
	int r = engine_rank_step(e);

	if (r < 0)
		return r;
	r = engine_wave(e, boots_step, NULL);
	return r < 0 ? r : boots_sort(&e->boots, &e->order);
}

/* Forgets what an earlier listing has found. */
static void boots_begin(struct jscan *e)
{
	for (size_t i = 0; i < e->source_count; i++)
		e->sources[i]->listing_begun = e->sources[i]->listing_done =
			e->sources[i]->listing_chosen = false;
}

int jscan_list_boots(struct jscan *e, jscan_boot_fn callback, void *userdata)
{
	int r = engine_check(e);

	if (r < 0)
		return r;
	if (!callback || e->wave_runs)
		return -EINVAL;
	boots_begin(e);
	r = engine_wait(e, boots_list_step);
	for (size_t i = 0; i < e->boots.count && r == 0; i++) {
		const struct boots_row *row = &e->boots.rows[i];
		struct jscan_boot boot = {
			.size = sizeof(boot),
			.first_realtime_usec = row->first.realtime,
			.last_realtime_usec = row->last.realtime,
			.first_rank = row->first_rank,
		};

		memcpy(boot.boot_id.bytes, row->id.bytes, sizeof(boot.boot_id.bytes));
		r = callback(userdata, &boot);
	}
	boots_done(&e->boots);
	return r;
}

/* ---- one of the newest ------------------------------------------------------------------ */

/* Which sources a wave of boots_find_step() is for. */
static bool boots_wants_chosen(const struct source *s)
{
	return s->listing_chosen && !s->listing_done;
}

/* Largest first; for qsort(). */
static int boots_compare_seqnums(const void *a, const void *b)
{
	const uint64_t *x = a, *y = b;

	return (*x < *y) - (*x > *y);
}

/* The number of the last entry of the last of the WANTED newest boots; 0 while there are not so
 * many. */
static int boots_bound(const struct boots *b, uint64_t *ret_bound)
{
	uint64_t *seqnums;

	*ret_bound = 0;
	if (b->count < b->wanted)
		return 0;
	seqnums = calloc(b->count, sizeof(*seqnums));
	if (!seqnums)
		return -ENOMEM;
	for (size_t i = 0; i < b->count; i++)
		seqnums[i] = b->rows[i].last.seqnum;
	qsort(seqnums, b->count, sizeof(*seqnums), boots_compare_seqnums);
	*ret_bound = seqnums[b->wanted - 1];
	free(seqnums);
	return 0;
}

/*
 * Chooses the files that may still hold the last entry of a boot among the WANTED newest: those
 * that end behind what is the last of them so far. Numbers ascend within a file, so that its header
 * bounds them. While too few boots are known the newest files come first. 1; 0: there is none.
 */
static int boots_choose(struct jscan *e)
{
	const struct boots *b = &e->boots;
	size_t room = b->count >= b->wanted ? SIZE_MAX : b->count ? BOOTS_FIND_FILES : 1;
	struct source *newest = NULL;
	uint64_t bound;
	int r = boots_bound(b, &bound);

	if (r < 0)
		return r;
	for (size_t i = e->source_count; i > 0; i--) {
		struct source *s = e->sources[i - 1];
		uint64_t tail = s->journal.header.tail_entry_seqnum;

		if (s->error || s->listing_done || tail <= bound)
			continue;
		if (!newest || tail > newest->journal.header.tail_entry_seqnum)
			newest = s;
		s->listing_chosen = room > 0;
		room -= room > 0;
	}
	if (newest)
		newest->listing_chosen = true;
	return newest != NULL;
}

/* engine_wait(): asks files from the newest back until the wanted boot is certain. */
static int boots_find_step(struct jscan *e)
{
	int r = engine_rank_step(e);

	while (r == 0) {
		if (!e->wave_runs) {
			r = boots_choose(e);
			if (r <= 0)
				break;
		}
		r = engine_wave(e, boots_step, boots_wants_chosen);
	}
	return r < 0 ? r : boots_sort(&e->boots, &e->order);
}

/* True if all files number their entries alike, so that headers tell which are the newest. */
static bool boots_have_one_id(const struct jscan *e)
{
	const struct source *first = NULL;

	for (size_t i = 0; i < e->source_count; i++) {
		const struct source *s = e->sources[i];

		if (s->error)
			continue;
		if (first && s->seqnum_id != first->seqnum_id)
			return false;
		first = s;
	}
	return true;
}

int jscan_newest_boot(struct jscan *e, uint64_t back, jscan_id *ret_id)
{
	int r = engine_check(e);

	if (r < 0)
		return r;
	if (!ret_id || e->wave_runs || back == UINT64_MAX)
		return -EINVAL;
	r = jscan_open(e);
	if (r < 0)
		return r;
	boots_begin(e);
	e->boots.wanted = back + 1;
	r = engine_wait(e, boots_have_one_id(e) ? boots_find_step : boots_list_step);
	if (r == 0 && back < e->boots.count) {
		const struct boots_row *row = &e->boots.rows[e->boots.count - 1 - back];

		memcpy(ret_id->bytes, row->id.bytes, sizeof(ret_id->bytes));
		r = 1;
	}
	boots_done(&e->boots);
	return r;
}

void boots_done(struct boots *b)
{
	order_ids_done(&b->ids);
	free(b->marks);
	free(b->rows);
	*b = (struct boots){ 0 };
}
