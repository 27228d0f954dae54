/* SPDX-License-Identifier: MIT */
/*
 * The invocations that entries are of, from the indexes. In every file the entries that match are
 * walked through by their offsets; one is read to learn its invocation, and then all that the
 * invocation's own set of entries has of them is skipped (plan-skip.c). So about as many entries
 * are read as there are invocations in a file, and none is lost that lies between the entries of
 * another. Their order is that in which the merge would come to them (runs-order.c); their ends are
 * looked for afterwards (invocations-ends.c).
 *
 * An entry that names its invocation in another field than the first is not skipped over: others of
 * that set may have the first field as well, and then are of another invocation. The manager writes
 * such entries, a few for each invocation.
 */
#include "engine/invocations.h"

#include <stdlib.h>

#include "engine/cursor.h"
#include "engine/engine.h"
#include "engine/pipeline.h"

#define NAME_SIZE(name) (sizeof(name) - 1)

const char *const invocations_names[INVOCATIONS_FIELDS] = {
	"_SYSTEMD_INVOCATION_ID=", "OBJECT_SYSTEMD_INVOCATION_ID=", "INVOCATION_ID=",
	"USER_INVOCATION_ID="
};
const size_t invocations_sizes[INVOCATIONS_FIELDS] = {
	NAME_SIZE("_SYSTEMD_INVOCATION_ID="), NAME_SIZE("OBJECT_SYSTEMD_INVOCATION_ID="),
	NAME_SIZE("INVOCATION_ID="), NAME_SIZE("USER_INVOCATION_ID=")
};

struct invocations_walk *invocations_walk_get(struct source *s)
{
	if (!s->invocations)
		s->invocations = calloc(1, sizeof(*s->invocations));
	return s->invocations;
}

void invocations_walk_free(struct source *s)
{
	struct invocations_walk *w = s->invocations;

	if (!w)
		return;
	for (unsigned i = 0; i < INVOCATIONS_RECENT; i++)
		free(w->recent[i]);
	free(w->met);
	free(w->rows);
	free(w);
	s->invocations = NULL;
}

int invocations_look_up_fields(struct source *s, struct invocations_walk *w)
{
	unsigned fields = 0;
	bool lacking = false;

	if (w->fields_known)
		return 0;
	for (unsigned i = 0; i < INVOCATIONS_FIELDS; i++) {
		const char *name = invocations_names[i];
		size_t size = invocations_sizes[i] - 1;
		struct field_object field;
		int r = lookup_field(&s->journal, &s->window, name, size,
				     journal_hash(&s->journal, name, size), &field);

		lacking |= r == -EAGAIN;
		fields |= r > 0 ? 1u << i : 0;
	}
	if (lacking)
		return -EAGAIN;
	w->fields = fields;
	w->fields_known = true;
	return 0;
}

/* ---- entries ---------------------------------------------------------------------------- */

/* Loads those of COUNT fields from FIRST on that the current entry has. 0, -EAGAIN, -ENOMEM. */
static int invocations_load(struct source *s, unsigned first, unsigned count)
{
	struct reader *reader = &s->engine->reader;
	const struct reader_filter filter = { .first_only = true,
					      .count = count,
					      .names = invocations_names + first,
					      .sizes = invocations_sizes + first };
	int r = reader_load(reader, &s->journal, &s->window, 0, &s->entry, &filter);

	for (unsigned i = 0; r == 0 && i < reader->damage_count; i++)
		problem_report_damage(s, &reader->damage[i]);
	return r;
}

/* The ID in a field that has been loaded. */
static bool invocations_loaded(const struct reader *reader, unsigned name, struct id128 *ret_id)
{
	for (size_t i = 0; i < reader->field_count; i++) {
		const struct output_field *field = &reader->fields[i];
		const struct payload_view view = { field->bytes, field->size, 0 };

		if (field->size >= invocations_sizes[name] &&
		    memcmp(field->bytes, invocations_names[name], invocations_sizes[name]) == 0)
			return runs_parse(&view, invocations_sizes[name] - 1, ret_id);
	}
	return false;
}

/* The invocation that the current entry is of, and which field says so. 1, 0, -EAGAIN, -ENOMEM. */
static int invocations_identify(struct source *s, struct id128 *ret_id, unsigned *ret_name)
{
	const struct reader *reader = &s->engine->reader;
	int r = invocations_load(s, 0, 1);

	*ret_name = 0;
	if (r < 0 || invocations_loaded(reader, 0, ret_id))
		return r < 0 ? r : 1;
	r = invocations_load(s, 1, INVOCATIONS_FIELDS - 1);
	for (unsigned i = 1; i < INVOCATIONS_FIELDS && r == 0; i++) {
		if (!invocations_loaded(reader, i, ret_id))
			continue;
		*ret_name = i;
		r = 1;
	}
	return r;
}

/* Has the entries skipped that the first field says are of an invocation. 0, -EAGAIN, -ENOMEM. */
static int invocations_begin_skipping(struct source *s, struct invocations_walk *w,
				      const struct id128 *id)
{
	char text[64 + JSCAN_ID_TEXT_SIZE];
	struct invocations_set *set;
	struct data_object data;
	size_t size = invocations_sizes[0] + JSCAN_ID_TEXT_SIZE - 1;
	jscan_id copy;
	int r;

	memcpy(copy.bytes, id->bytes, sizeof(copy.bytes));
	memcpy(text, invocations_names[0], invocations_sizes[0]);
	jscan_id_format(&copy, text + invocations_sizes[0]);
	payload_decoder_reset(s->engine->reader.decoder);
	r = lookup_data(&s->journal, &s->window, s->engine->reader.decoder, text, size,
			journal_hash(&s->journal, text, size), &data);
	if (r <= 0)
		return r == -EAGAIN || r == -ENOMEM ? r : 0;
	set = w->recent[w->recent_next];
	if (!set)
		set = malloc(sizeof(*set));
	if (!set)
		return -ENOMEM;
	plan_set_init(&set->node, &set->term, &data);
	w->recent[w->recent_next] = w->skipping = set;
	w->recent_next = (w->recent_next + 1) % INVOCATIONS_RECENT;
	return 0;
}

/* Counts a row that the file has, if not all are asked for. -ENOMEM. */
static int invocations_meet(struct invocations_walk *w, uint32_t row)
{
	for (size_t i = w->met_count; i > 0; i--)
		if (w->met[i - 1] == row)
			return 0;
	if (w->met_count == w->met_capacity) {
		size_t capacity = w->met_capacity ? w->met_capacity * 2 : 8;
		uint32_t *met = reallocarray(w->met, capacity, sizeof(*met));

		if (!met)
			return -ENOMEM;
		w->met = met;
		w->met_capacity = capacity;
	}
	w->met[w->met_count++] = row;
	return 0;
}

/* Whether reading begins behind the current entry. */
static bool invocations_begins_at(const struct source *s)
{
	const struct engine_seek *seek = &s->engine->seek;

	return seek->after && cursor_is_at(seek, &s->journal.header.seqnum_id, &s->entry);
}

/* Takes the current entry. 0, -EAGAIN, -ENOMEM. */
static int invocations_take(struct source *s, struct invocations_walk *w)
{
	struct jscan *e = s->engine;
	struct id128 id;
	unsigned name;
	uint32_t row;
	int r;

	for (unsigned i = 0; i < INVOCATIONS_RECENT && w->recent[i]; i++) {
		r = plan_set_has(&w->recent[i]->node, &s->journal, &s->window, s->entry.offset);
		if (r > 0)
			w->skipping = w->recent[i];
		if (r != 0)
			return r < 0 ? r : 0;
	}
	r = invocations_identify(s, &id, &name);
	if (r <= 0)
		return r;
	if (name == 0 && s->plan.root)
		r = invocations_begin_skipping(s, w, &id);
	else
		r = 0;
	if (r == 0)
		r = runs_row(&e->runs, &id, &row);
	if (r == 0)
		r = runs_mark(&e->runs, row, &s->key);
	if (r < 0)
		return r;
	runs_widen(&e->runs.rows[row], &e->order, &s->key, &s->key);
	return e->invocations->limited ? invocations_meet(w, row) : 0;
}

/* The invocations of the entries that match in one file. 0, -EAGAIN, -ENOMEM, or its failure. */
static int invocations_walk_file(struct source *s)
{
	struct invocations_walk *w = invocations_walk_get(s);
	const struct runs *b = &s->engine->runs;
	int r = w ? source_step_plan(s) : -ENOMEM;

	if (r < 0 || (s->plan.root && s->plan.root->empty))
		return r;
	r = invocations_look_up_fields(s, w);
	if (r < 0 || !w->fields)
		return r;
	while (!s->engine->invocations->limited || w->met_count < b->wanted) {
		if (w->skipping)
			r = plan_skip(&s->plan, &s->journal, &s->window, &w->skipping->node,
				      s->walk.backward, s->horizon, &s->walk.from);
		if (r < 0)
			return r;
		w->skipping = NULL;
		r = source_step_next(s);
		if (r == 0)
			break;
		if (r > 0)
			r = invocations_begins_at(s) ? 0 : invocations_take(s, w);
		if (r < 0)
			return r;
		source_consume(s);
		source_commit(s);
	}
	return 0;
}

/* Step: the same, once. */
static int invocations_find_in_file(struct source *s)
{
	int r = invocations_walk_file(s);

	if (r != -EAGAIN) {
		s->listing_done = true;
		invocations_walk_free(s);
	}
	return r;
}

/* ---- the listing ------------------------------------------------------------------------ */

/* engine_wait(): asks all files, or from the near end on those that can have what is wanted. */
static int invocations_find_step(struct jscan *e)
{
	int r = engine_rank_step(e);

	if (r < 0)
		return r;
	if (!e->invocations->rewound) {
		engine_rewind(e);
		e->streams = false;
		e->invocations->rewound = true;
	}
	if (!e->invocations->limited || !runs_have_one_id(e))
		return engine_wave(e, invocations_find_in_file, NULL);
	do {
		if (!e->wave_runs) {
			r = runs_choose(e);
			if (r <= 0)
				return r;
		}
		r = engine_wave(e, invocations_find_in_file, runs_wants_chosen);
	} while (r == 0);
	return r;
}

/* Finds them, ranks them, and finds their ends if these are asked for. */
static int invocations_run(struct jscan *e, bool ends)
{
	int r = engine_wait(e, invocations_find_step);

	if (r == 0)
		r = runs_rank(&e->runs, &e->order);
	if (r == 0 && ends)
		r = invocations_make_pairs(e);
	runs_begin(e);
	if (r == 0 && ends)
		r = engine_wait(e, invocations_ends_step);
	for (size_t i = 0; i < e->source_count; i++)
		invocations_walk_free(e->sources[i]);
	return r;
}

/* Lists them from a place on. What else the scan is set up for does not count, and stays. */
static int invocations_list(struct jscan *e, const struct jscan_invocations_options *options,
			    const struct engine_seek *seek)
{
	struct invocations listing = { .limited = options->count > 0,
				       .has_boot = options->boot_id != NULL };
	const uint64_t since = e->since, until = e->until, tail = e->tail;
	const struct engine_seek own_seek = e->seek;
	int r;

	if (options->boot_id)
		memcpy(listing.boot_id.bytes, options->boot_id->bytes,
		       sizeof(listing.boot_id.bytes));
	e->since = 0;
	e->until = e->tail = UINT64_MAX;
	e->seek = *seek;
	engine_reposition(e);
	runs_begin(e);
	e->invocations = &listing;
	e->runs.wanted = options->count ? options->count : UINT64_MAX;
	e->runs.oldest = !e->backward;
	r = invocations_run(e, !(options->flags & JSCAN_INVOCATIONS_WITHOUT_ENDS));
	e->invocations = NULL;
	free(listing.pairs);
	e->since = since;
	e->until = until;
	e->tail = tail;
	e->seek = own_seek;
	engine_reposition(e);
	return r;
}

/* Tells of one. */
static int invocations_tell(const struct runs_row *row, bool ends, jscan_invocation_fn callback,
			    void *userdata)
{
	struct jscan_invocation invocation = { .size = sizeof(invocation) };

	memcpy(invocation.invocation_id.bytes, row->id.bytes, sizeof(row->id.bytes));
	if (ends) {
		invocation.first_realtime_usec = row->first.realtime;
		invocation.last_realtime_usec = row->last.realtime;
	}
	return callback(userdata, &invocation);
}

/* Copies options of any size: shorter ones are extended, longer ones must be zero behind ours. */
static int invocations_take_options(const struct jscan_invocations_options *given,
				    struct jscan_invocations_options *ret)
{
	const uint8_t *bytes = (const uint8_t *)given;

	if (given->size < sizeof(given->size))
		return -EINVAL;
	for (size_t i = sizeof(*ret); i < given->size; i++)
		if (bytes[i])
			return -E2BIG;
	memcpy(ret, given, given->size < sizeof(*ret) ? given->size : sizeof(*ret));
	return 0;
}

int jscan_list_invocations(struct jscan *e, const struct jscan_invocations_options *given,
			   jscan_invocation_fn callback, void *userdata)
{
	struct jscan_invocations_options options = JSCAN_INVOCATIONS_OPTIONS_INIT;
	struct engine_seek seek = { 0 };
	bool ends;
	int r = engine_check(e);

	if (r < 0)
		return r;
	if (given)
		r = invocations_take_options(given, &options);
	if (r < 0)
		return r;
	if (!callback || (options.flags & ~JSCAN_INVOCATIONS_WITHOUT_ENDS) || options.reserved ||
	    e->batch.count > e->batch.at || pipeline_has_rest(e))
		return -EINVAL;
	r = options.cursor ? cursor_parse(options.cursor, &seek) : 0;
	seek.set = seek.after = options.cursor != NULL;
	if (r == 0)
		r = jscan_open(e);
	if (r < 0)
		return r;
	ends = !(options.flags & JSCAN_INVOCATIONS_WITHOUT_ENDS);
	r = invocations_list(e, &options, &seek);
	runs_sort(&e->runs, !e->backward);
	for (size_t i = 0; r == 0 && i < e->runs.count && i < e->runs.wanted; i++) {
		size_t at = e->backward ? e->runs.count - 1 - i : i;

		r = invocations_tell(&e->runs.rows[at], ends, callback, userdata);
	}
	runs_done(&e->runs);
	return r;
}
