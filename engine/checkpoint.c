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
 * The text: a line with a version and the number of sequences, then a cursor for each, the one that
 * was reached last at the end: copies of that entry are still to be passed over.
 */
#include "engine/checkpoint.h"

#include <stdio.h>
#include <stdlib.h>

#include "engine/cursor.h"
#include "engine/drive.h"

#define CHECKPOINT_HEAD "jscan-checkpoint "
#define CHECKPOINT_VERSION 1u

/* ---- positions -------------------------------------------------------------------------- */

/* The position of a sequence, made if it is not there. NULL without memory. */
static struct checkpoint_position *checkpoint_at(struct checkpoint_table *t, uint32_t number)
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
			   const struct engine_position *at)
{
	struct checkpoint_position *p = checkpoint_at(t, number);

	if (!p)
		return -ENOMEM;
	if (p->serial && p->at.entry.seqnum > at->entry.seqnum)
		return 0;
	p->at = *at;
	p->serial = ++t->serial;
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

/* ---- text -------------------------------------------------------------------------------- */

/* Takes one line, a cursor with all its parts. */
static int checkpoint_take_line(struct jscan *e, struct checkpoint_table *t, const char *line,
				size_t size)
{
	struct checkpoint_position *p;
	char cursor[JSCAN_CURSOR_SIZE];
	struct engine_seek seek;
	uint32_t number;
	int r;

	if (size >= sizeof(cursor))
		return -EINVAL;
	memcpy(cursor, line, size);
	cursor[size] = '\0';
	r = cursor_parse(cursor, &seek);
	if (r < 0)
		return r;
	if (!seek.has_seqnum || !seek.has_monotonic || !seek.has_realtime || !seek.has_hash)
		return -EINVAL;
	r = order_seqnum_id_number(&e->order, &seek.seqnum_id, &number);
	if (r < 0)
		return r;
	p = checkpoint_at(t, number);
	if (!p)
		return -ENOMEM;
	if (p->serial)
		return -EINVAL;
	p->serial = ++t->serial;
	p->at = (struct engine_position){
		.known = true,
		.seqnum_id = seek.seqnum_id,
		.entry = { .seqnum = seek.seqnum, .realtime = seek.realtime,
			   .monotonic = seek.monotonic, .boot_id = seek.boot_id,
			   .xor_hash = seek.hash },
	};
	return 0;
}

/* Takes the text of a checkpoint. */
static int checkpoint_parse(struct jscan *e, struct checkpoint_table *t, const char *text)
{
	unsigned version, count;
	const char *line, *end;
	int n = 0, r = 0;

	if (sscanf(text, CHECKPOINT_HEAD "%u%n", &version, &n) != 1 || n == 0)
		return -EINVAL;
	if (version != CHECKPOINT_VERSION)
		return -EPROTONOSUPPORT;
	line = strchr(text, '\n');
	if (!line || sscanf(text + n, "%u", &count) != 1)
		return -EINVAL;
	line++;
	for (unsigned i = 0; i < count && r == 0; i++) {
		end = strchr(line, '\n');
		if (!end)
			return -EINVAL;
		r = checkpoint_take_line(e, t, line, (size_t)(end - line));
		line = end + 1;
	}
	return r == 0 && *line ? -EINVAL : r;
}

/* By when they were reached; for qsort(). */
static int checkpoint_compare(const void *a, const void *b)
{
	const struct checkpoint_position *x = *(struct checkpoint_position *const *)a;
	const struct checkpoint_position *y = *(struct checkpoint_position *const *)b;

	return (x->serial > y->serial) - (x->serial < y->serial);
}

/* Writes a table as text. It belongs to the checkpoint, until the next one is written. */
static int checkpoint_format(struct checkpoint *c, const struct checkpoint_table *t,
			     const char **ret_text)
{
	const struct checkpoint_position **sorted = calloc((size_t)t->count + 1, sizeof(*sorted));
	size_t count = 0, size;
	char *text, *p;

	if (!sorted)
		return -ENOMEM;
	for (uint32_t i = 0; i < t->count; i++) {
		if (t->positions[i].serial)
			sorted[count++] = &t->positions[i];
	}
	qsort(sorted, count, sizeof(*sorted), checkpoint_compare);
	size = sizeof(CHECKPOINT_HEAD) + 40 + count * JSCAN_CURSOR_SIZE;
	text = malloc(size);
	if (!text) {
		free(sorted);
		return -ENOMEM;
	}
	p = text + snprintf(text, size, CHECKPOINT_HEAD "%u %zu\n", CHECKPOINT_VERSION, count);
	for (size_t i = 0; i < count; i++) {
		p = p + strlen(cursor_format(&sorted[i]->at.seqnum_id, &sorted[i]->at.entry, p));
		*p++ = '\n';
	}
	*p = '\0';
	free(sorted);
	free(c->text);
	c->text = text;
	*ret_text = text;
	return 0;
}

/* ---- life -------------------------------------------------------------------------------- */

int checkpoint_new(struct jscan *e, const char *text)
{
	struct checkpoint *c = calloc(1, sizeof(*c));
	int r = 0;

	if (!c)
		return -ENOMEM;
	if (text && *text)
		r = checkpoint_parse(e, &c->start, text);
	if (r < 0) {
		free(c->start.positions);
		free(c);
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
	struct checkpoint *c = e->checkpoint;

	if (!c)
		return;
	free(c->start.positions);
	free(c->taken.positions);
	free(c->settled.positions);
	free(c->skips);
	free(c->text);
	free(c);
	e->checkpoint = NULL;
}

void checkpoint_restart(struct jscan *e)
{
	struct checkpoint *c = e->checkpoint;

	if (!c)
		return;
	c->failed = checkpoint_copy(&c->taken, &c->start) < 0 ||
		    checkpoint_copy(&c->settled, &c->start) < 0;
	c->told_serial = c->settled.serial;
	c->taken_count = 0;
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

bool checkpoint_find(const struct source *s, uint64_t *ret_seqnum)
{
	const struct checkpoint_position *p = checkpoint_of(s);

	if (p)
		*ret_seqnum = p->at.entry.seqnum;
	return p != NULL;
}

bool checkpoint_covers(const struct source *s, const struct entry_object *entry)
{
	const struct checkpoint_position *p = checkpoint_of(s);

	if (!p || entry->seqnum != p->at.entry.seqnum)
		return p && entry->seqnum < p->at.entry.seqnum;
	/* Machines that were copied go on with the same numbers. */
	return entry->realtime <= p->at.entry.realtime;
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

/* ---- moving on --------------------------------------------------------------------------- */

/* Moves positions by copies of what has been taken. */
static void checkpoint_apply_skips(struct checkpoint *c)
{
	while (c->skip_count && c->skips[c->skip_first].after <= c->taken_count) {
		const struct checkpoint_skip *skip = &c->skips[c->skip_first++];

		c->skip_count--;
		c->failed |= checkpoint_move(&c->taken, skip->seqnum_id, &skip->at) < 0;
	}
	if (c->skip_count == 0)
		c->skip_first = 0;
}

void checkpoint_take(struct jscan *e, const struct source *s, const struct entry_object *entry)
{
	struct checkpoint *c = e->checkpoint;
	struct engine_position at;

	engine_keep_position(&at, s, entry);
	c->failed |= checkpoint_move(&c->taken, s->seqnum_id, &at) < 0;
	c->taken_count++;
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

	if (c && c->settled.serial != c->taken.serial)
		c->failed |= checkpoint_copy(&c->settled, &c->taken) < 0;
}

/* ---- telling ----------------------------------------------------------------------------- */

uint64_t checkpoint_due_usec(const struct jscan *e)
{
	const struct checkpoint *c = e->checkpoint;
	uint64_t passed;

	if (!c || !c->handler || c->taken.serial == c->told_serial)
		return UINT64_MAX;
	passed = drive_now_usec() - c->told_usec;
	return passed < c->interval_usec ? c->interval_usec - passed : 0;
}

int checkpoint_tell(struct jscan *e)
{
	struct checkpoint *c = e->checkpoint;
	const char *text;
	int r;

	if (!c || !c->handler || c->settled.serial == c->told_serial)
		return 0;
	c->told_serial = c->settled.serial;
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
		return checkpoint_format(c, e->sinks.count ? &c->settled : &c->taken, ret_text);
	case JSCAN_CHECKPOINT_TAKEN:
		return checkpoint_format(c, &c->taken, ret_text);
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
