/* SPDX-License-Identifier: MIT */
/*
 * Checkpoints: one position for each sequence of numbers, so that a view of many machines goes on
 * where it was, whatever has been added, rotated or removed in between.
 *
 * What makes one position enough: while checkpoints are kept, entries of one sequence come in the
 * order of their numbers (merge_least_of_id()). A position moves when an entry has been taken by
 * all sinks, which is later than the merge yields it. Copies of an entry that the merge passes over
 * move the positions of their own sequences; that is queued until the entry itself is taken, so
 * that neither is lost nor repeated. What is taken settles when the sinks have written it out.
 *
 * A file may turn up late, with numbers below its sequence's position: when a directory is being
 * copied, for example. So the files that have been read are remembered, by their IDs; of others
 * nothing has been read. A position is a file's own once it has moved while that file took part in
 * the merge; before that a late file has a number of its own.
 */
#include "engine/checkpoint.h"

#include <stdio.h>
#include <stdlib.h>

#include "engine/drive.h"

/* ---- positions -------------------------------------------------------------------------- */

struct checkpoint_position *checkpoint_at(struct checkpoint_table *t, uint32_t number)
{
	if (number >= t->count) {
		uint32_t count = number + number / 2 + 16;
		struct checkpoint_position *positions =
			reallocarray(t->positions, count, sizeof(*positions));

		if (!positions)
			return NULL;
		memset(positions + t->count, 0, (count - t->count) * sizeof(*positions));
		t->positions = positions;
		t->count = count;
	}
	return &t->positions[number];
}

/* Moves the position of a sequence, never back. */
static int checkpoint_move(struct checkpoint_table *t, uint32_t number,
			   const struct engine_position *at, uint64_t moved)
{
	struct checkpoint_position *p = checkpoint_at(t, number);

	if (!p)
		return -ENOMEM;
	if (p->serial && p->at.entry.seqnum > at->entry.seqnum)
		return 0;
	p->at = *at;
	p->serial = ++t->serial;
	p->moved = moved;
	return 0;
}

/* Makes one table like another. */
static int checkpoint_copy(struct checkpoint_table *to, const struct checkpoint_table *from)
{
	if (from->count == 0) {
		free(to->positions);
		*to = (struct checkpoint_table){ .serial = from->serial };
		return 0;
	}
	if (to->count != from->count) {
		struct checkpoint_position *positions =
			reallocarray(to->positions, from->count, sizeof(*positions));

		if (!positions)
			return -ENOMEM;
		to->positions = positions;
		to->count = from->count;
	}
	memcpy(to->positions, from->positions, from->count * sizeof(*to->positions));
	to->serial = from->serial;
	return 0;
}

/* The position that was reached last, or NULL. */
static const struct checkpoint_position *checkpoint_newest(const struct checkpoint_table *t)
{
	const struct checkpoint_position *newest = NULL;

	for (uint32_t i = 0; i < t->count; i++) {
		if (t->positions[i].serial && t->positions[i].serial == t->serial)
			newest = &t->positions[i];
	}
	return newest;
}

int checkpoint_add_file(struct checkpoint *c, const struct checkpoint_file *file)
{
	uint32_t number;
	int r = order_ids_number(&c->file_ids, &file->file_id, &number);

	if (r < 0)
		return r;
	if (number >= c->file_capacity) {
		uint32_t capacity = number + number / 2 + 16;
		struct checkpoint_file *files = reallocarray(c->files, capacity, sizeof(*files));

		if (!files)
			return -ENOMEM;
		c->files = files;
		c->file_capacity = capacity;
	}
	c->files[number] = *file;
	return 0;
}

/* ---- life -------------------------------------------------------------------------------- */

static void checkpoint_destroy(struct checkpoint *c)
{
	free(c->start.positions);
	free(c->taken.positions);
	free(c->settled.positions);
	order_ids_done(&c->file_ids);
	free(c->files);
	free(c->skips);
	free(c->text);
	free(c);
}

int checkpoint_new(struct jscan *e, const char *text)
{
	struct checkpoint *c = calloc(1, sizeof(*c));
	int r = 0;

	if (!c)
		return -ENOMEM;
	if (text && *text)
		r = checkpoint_parse(e, c, text);
	if (r < 0) {
		checkpoint_destroy(c);
		return r;
	}
	if (e->checkpoint) {
		c->handler = e->checkpoint->handler;
		c->userdata = e->checkpoint->userdata;
		c->interval_usec = e->checkpoint->interval_usec;
		checkpoint_free(e);
	}
	e->checkpoint = c;
	checkpoint_restart(e);
	return 0;
}

void checkpoint_free(struct jscan *e)
{
	if (e->checkpoint)
		checkpoint_destroy(e->checkpoint);
	e->checkpoint = NULL;
}

void checkpoint_restart(struct jscan *e)
{
	struct checkpoint *c = e->checkpoint;

	if (!c)
		return;
	c->failed = checkpoint_copy(&c->taken, &c->start) < 0 ||
		    checkpoint_copy(&c->settled, &c->start) < 0;
	c->taken_count = c->settled_count = c->told_count = 0;
	for (size_t i = 0; i < e->source_count; i++)
		checkpoint_join(e->sources[i]);
	c->skip_first = c->skip_count = 0;
}

/* ---- going on from one ------------------------------------------------------------------- */

/* Where the sequence of a source was, or NULL. */
static const struct checkpoint_position *checkpoint_of(const struct source *s)
{
	const struct checkpoint_table *t = &s->engine->checkpoint->start;

	return s->seqnum_id < t->count && t->positions[s->seqnum_id].serial ?
		       &t->positions[s->seqnum_id] : NULL;
}

/* Which of the files that were read before a source is, or NULL. */
static const struct checkpoint_file *checkpoint_file_of(const struct source *s)
{
	const struct checkpoint *c = s->engine->checkpoint;
	uint32_t number;

	return order_ids_find(&c->file_ids, &s->journal.header.file_id, &number) ?
		       &c->files[number] : NULL;
}

bool checkpoint_find(const struct source *s, uint64_t *ret_seqnum)
{
	const struct checkpoint_position *p = checkpoint_of(s);
	const struct checkpoint_file *file = checkpoint_file_of(s);

	if (!p || (!file && s->engine->checkpoint->knows_files))
		return false;
	*ret_seqnum = file && file->behind ? file->seqnum : p->at.entry.seqnum;
	return true;
}

bool checkpoint_covers(const struct source *s, const struct entry_object *entry)
{
	const struct checkpoint_position *p;
	uint64_t seqnum;

	if (!checkpoint_find(s, &seqnum))
		return false;
	if (entry->seqnum != seqnum)
		return entry->seqnum < seqnum;
	p = checkpoint_of(s);
	/* Machines that were copied go on with the same numbers. */
	return seqnum != p->at.entry.seqnum || entry->realtime <= p->at.entry.realtime;
}

int checkpoint_last(struct jscan *e, struct order_key *ret_key)
{
	const struct checkpoint_position *p;
	int r;

	p = e->checkpoint ? checkpoint_newest(&e->checkpoint->start) : NULL;
	if (!p)
		return 0;
	*ret_key = (struct order_key){ .seqnum = p->at.entry.seqnum,
				       .realtime = p->at.entry.realtime,
				       .monotonic = p->at.entry.monotonic,
				       .xor_hash = p->at.entry.xor_hash };
	r = order_boot_number(&e->order, &p->at.entry.boot_id, &ret_key->boot);
	if (r == 0)
		r = order_seqnum_id_number(&e->order, &p->at.seqnum_id, &ret_key->seqnum_id);
	return r < 0 ? r : 1;
}

bool checkpoint_file_state(const struct source *s, const struct checkpoint_table *t,
				  uint64_t seqnum, struct checkpoint_file *ret)
{
	const struct checkpoint_file *before = checkpoint_file_of(s);
	const struct checkpoint_position *p =
		s->seqnum_id < t->count ? &t->positions[s->seqnum_id] : NULL;

	*ret = (struct checkpoint_file){ .file_id = s->journal.header.file_id };
	if (!p || !p->serial)
		return false;
	if (p->moved > s->joined)
		return true;
	if (seqnum) {
		ret->behind = true;
		ret->seqnum = seqnum;
	} else if (before) {
		*ret = *before;
	}
	return seqnum || before;
}

/* ---- moving on --------------------------------------------------------------------------- */

/* Moves positions by copies of what has been taken. */
static void checkpoint_apply_skips(struct checkpoint *c)
{
	while (c->skip_count && c->skips[c->skip_first].after <= c->taken_count) {
		const struct checkpoint_skip *skip = &c->skips[c->skip_first++];

		c->skip_count--;
		c->failed |= checkpoint_move(&c->taken, skip->seqnum_id, &skip->at,
					     skip->after) < 0;
	}
	if (c->skip_count == 0)
		c->skip_first = 0;
}

void checkpoint_join(struct source *s)
{
	s->joined = s->engine->yielded;
	s->taken_seqnum = s->settled_seqnum = 0;
}

void checkpoint_leave(const struct source *s)
{
	struct checkpoint *c = s->engine->checkpoint;
	struct checkpoint_file file = { .file_id = s->journal.header.file_id };

	if (s->error || !s->header_known)
		return;
	if (checkpoint_file_state(s, &c->taken, s->taken_seqnum, &file))
		c->failed |= checkpoint_add_file(c, &file) < 0;
}

void checkpoint_take(struct jscan *e, struct source *s, const struct entry_object *entry)
{
	struct checkpoint *c = e->checkpoint;
	struct engine_position at;

	engine_keep_position(&at, s, entry);
	c->taken_count++;
	c->failed |= checkpoint_move(&c->taken, s->seqnum_id, &at, c->taken_count) < 0;
	if (s->taken_seqnum < entry->seqnum)
		s->taken_seqnum = entry->seqnum;
	checkpoint_apply_skips(c);
}

void checkpoint_skip(struct jscan *e, const struct source *s)
{
	struct checkpoint *c = e->checkpoint;
	struct checkpoint_skip *skip;

	if (c->skip_first + c->skip_count == c->skip_capacity) {
		size_t capacity = c->skip_count * 2 + 32;

		/* Those that are done with make room before more is asked for. */
		if (c->skip_first > c->skip_capacity / 2) {
			memmove(c->skips, c->skips + c->skip_first,
				c->skip_count * sizeof(*c->skips));
		} else {
			skip = calloc(capacity, sizeof(*skip));
			if (!skip) {
				c->failed = true;
				return;
			}
			if (c->skip_count)
				memcpy(skip, c->skips + c->skip_first,
				       c->skip_count * sizeof(*skip));
			free(c->skips);
			c->skips = skip;
			c->skip_capacity = capacity;
		}
		c->skip_first = 0;
	}
	skip = &c->skips[c->skip_first + c->skip_count++];
	*skip = (struct checkpoint_skip){ .after = e->yielded, .seqnum_id = s->seqnum_id };
	engine_keep_position(&skip->at, s, &s->entry);
	checkpoint_apply_skips(c);
}

void checkpoint_settle(struct jscan *e)
{
	struct checkpoint *c = e->checkpoint;

	if (!c || c->settled_count == c->taken_count)
		return;
	c->settled_count = c->taken_count;
	c->failed |= checkpoint_copy(&c->settled, &c->taken) < 0;
	for (size_t i = 0; i < e->source_count; i++)
		e->sources[i]->settled_seqnum = e->sources[i]->taken_seqnum;
}

/* ---- telling ----------------------------------------------------------------------------- */

uint64_t checkpoint_due_usec(const struct jscan *e)
{
	const struct checkpoint *c = e->checkpoint;
	uint64_t passed;

	if (!c || !c->handler || c->taken_count == c->told_count)
		return UINT64_MAX;
	passed = drive_now_usec() - c->told_usec;
	return passed < c->interval_usec ? c->interval_usec - passed : 0;
}

int checkpoint_tell(struct jscan *e)
{
	struct checkpoint *c = e->checkpoint;
	const char *text;
	int r;

	if (!c || !c->handler || c->settled_count == c->told_count)
		return 0;
	c->told_count = c->settled_count;
	c->told_usec = drive_now_usec();
	r = jscan_get_checkpoint(e, JSCAN_CHECKPOINT_SETTLED, &text);
	r = r < 0 ? r : c->handler(c->userdata, text);
	return r < 0 ? r : 0;
}

/* ---- public ------------------------------------------------------------------------------ */

int jscan_seek_checkpoint(struct jscan *e, const char *text)
{
	int r = engine_check(e);

	if (r < 0)
		return r;
	if (e->backward || e->tail != UINT64_MAX)
		return -EINVAL;
	r = checkpoint_new(e, text);
	if (r < 0)
		return r;
	e->seek = (struct engine_seek){ .kind = SEEK_CHECKPOINT, .set = true };
	engine_reposition(e);
	return 0;
}

int jscan_get_checkpoint(struct jscan *e, enum jscan_checkpoint which, const char **ret_text)
{
	struct checkpoint *c;
	int r = engine_check(e);

	if (r < 0)
		return r;
	c = e->checkpoint;
	if (!c || !ret_text)
		return -EINVAL;
	if (c->failed)
		return -ENOMEM;
	switch (which) {
	case JSCAN_CHECKPOINT_SETTLED: /* who pulls entries has them */
		return checkpoint_format(e, e->sinks.count > 0, ret_text);
	case JSCAN_CHECKPOINT_TAKEN:
		return checkpoint_format(e, false, ret_text);
	}
	return -EINVAL;
}

int jscan_set_checkpoint_handler(struct jscan *e, uint64_t interval_usec,
				 jscan_checkpoint_fn handler, void *userdata)
{
	int r = engine_check(e);

	if (r < 0)
		return r;
	if (!e->checkpoint)
		return -EINVAL;
	e->checkpoint->handler = handler;
	e->checkpoint->userdata = userdata;
	e->checkpoint->interval_usec = interval_usec;
	return 0;
}
