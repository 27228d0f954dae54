/* SPDX-License-Identifier: MIT */
/*
 * The boots of an archive, from the index: in every file the values of _BOOT_ID, and of each the
 * two ends of its set of entries. Files are asked in a wave; no other entry is read. Which boot
 * comes before which follows from the ends (runs-order.c).
 *
 * journalctl finds boots by jumping from the end of one to the next (specification 14.1), and so
 * misses those that lie between two parts of another; here they are listed.
 */
#include "engine/engine.h"

static const char boots_field[] = "_BOOT_ID";
#define BOOTS_FIELD_SIZE (sizeof(boots_field) - 1)

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

/* Enters the part of a boot that one file holds. */
static int boots_enter(struct source *s, const struct id128 *id, const struct entry_object *first,
		       const struct entry_object *last)
{
	struct runs *b = &s->engine->runs;
	struct order_key keys[2];
	uint32_t row;
	int r = runs_row(b, id, &row);

	if (r == 0)
		r = runs_key(s, first, &keys[0]);
	if (r == 0)
		r = runs_key(s, last, &keys[1]);
	if (r < 0)
		return r;
	runs_widen(&b->rows[row], &s->engine->order, &keys[0], &keys[1]);
	r = runs_mark(b, row, &keys[0]);
	return r < 0 ? r : runs_mark(b, row, &keys[1]);
}

/* One value of _BOOT_ID. Damage leaves it out. 0, -EAGAIN, -ENOMEM. */
static int boots_take(struct source *s, const struct data_object *data)
{
	struct entry_object first, last;
	struct payload_view view;
	struct chain chain;
	struct id128 id;
	int r = object_payload(&s->journal, &s->window, data->offset, &view), q;

	if (r < 0)
		return r;
	if (data->n_entries == 0 || !runs_parse(&view, BOOTS_FIELD_SIZE, &id))
		return 0;
	chain_init_data(&chain, data);
	q = runs_end(s, &chain, false, &first);
	r = boots_last_by_hint(s, &chain, &id, &last);
	if (r >= 0)
		r = r > 0 ? 0 : runs_end(s, &chain, true, &last);
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

/* The boots, in the order in which they end. */
static int boots_sort(struct jscan *e)
{
	int r = runs_rank(&e->runs, &e->order);

	runs_sort(&e->runs, false);
	return r;
}

/* engine_wait(): opens what has to be known, then asks all files. */
static int boots_list_step(struct jscan *e)
{
	int r = engine_rank_step(e);

	if (r < 0)
		return r;
	r = engine_wave(e, boots_step, NULL);
	return r < 0 ? r : boots_sort(e);
}

int jscan_list_boots(struct jscan *e, jscan_boot_fn callback, void *userdata)
{
	int r = engine_check(e);

	if (r < 0)
		return r;
	if (!callback || e->wave_runs)
		return -EINVAL;
	runs_begin(e);
	r = engine_wait(e, boots_list_step);
	for (size_t i = 0; i < e->runs.count && r == 0; i++) {
		const struct runs_row *row = &e->runs.rows[i];
		struct jscan_boot boot = {
			.size = sizeof(boot),
			.first_realtime_usec = row->first.realtime,
			.last_realtime_usec = row->last.realtime,
			.first_rank = row->first_rank,
		};

		memcpy(boot.boot_id.bytes, row->id.bytes, sizeof(boot.boot_id.bytes));
		r = callback(userdata, &boot);
	}
	runs_done(&e->runs);
	return r;
}

/* ---- one of the newest ------------------------------------------------------------------ */

/* engine_wait(): asks files from the newest back until the wanted boot is certain. */
static int boots_find_step(struct jscan *e)
{
	int r = engine_rank_step(e);

	while (r == 0) {
		if (!e->wave_runs) {
			r = runs_choose(e);
			if (r <= 0)
				break;
		}
		r = engine_wave(e, boots_step, runs_wants_chosen);
	}
	return r < 0 ? r : boots_sort(e);
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
	runs_begin(e);
	e->runs.wanted = back + 1;
	r = engine_wait(e, runs_have_one_id(e) ? boots_find_step : boots_list_step);
	if (r == 0 && back < e->runs.count) {
		const struct runs_row *row = &e->runs.rows[e->runs.count - 1 - back];

		memcpy(ret_id->bytes, row->id.bytes, sizeof(ret_id->bytes));
		r = 1;
	}
	runs_done(&e->runs);
	return r;
}
