/* SPDX-License-Identifier: MIT */
/*
 * The definition of the merge, as slow and as plain as it gets: every step folds over all files,
 * and every comparison of boots looks through all files. See fold-model.h.
 */
#include <assert.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tests/support/fixture-private.h"
#include "tests/support/fold-model.h"

/* -1, 0 or 1. */
static int model_sign(uint64_t a, uint64_t b)
{
	return a < b ? -1 : a > b;
}

/* 7.2: the file that speaks for a boot, or NULL. */
static const struct model_file *model_newest_of(const struct model *m, const struct id128 *boot_id)
{
	const struct model_file *best = NULL;

	for (unsigned i = 0; i < m->file_count; i++) {
		const struct model_file *f = m->files + i;

		if (f->has_newest && id128_equal(&f->newest_boot_id, boot_id) &&
		    (!best || f->newest_monotonic > best->newest_monotonic))
			best = f;
	}
	return best;
}

/* 7.2, bootcmp. */
static int model_compare_boots(const struct model *m, const struct id128 *a, const struct id128 *b)
{
	const struct model_file *x = model_newest_of(m, a), *y = model_newest_of(m, b);

	if (!x || !y || !id128_equal(&x->newest_machine_id, &y->newest_machine_id))
		return 0;
	return model_sign(x->newest_realtime, y->newest_realtime);
}

/* 7.4, cmp, of the candidates of two files. */
static int model_compare(const struct model *m, const struct model_file *f,
			 const struct model_file *g)
{
	const struct model_entry *a = f->entries + f->next, *b = g->entries + g->next;
	int r;

	if (id128_equal(&f->seqnum_id, &g->seqnum_id) && a->seqnum != b->seqnum)
		return model_sign(a->seqnum, b->seqnum);
	if (id128_equal(&a->boot_id, &b->boot_id))
		r = model_sign(a->monotonic, b->monotonic);
	else
		r = model_compare_boots(m, &a->boot_id, &b->boot_id);
	if (r == 0)
		r = model_sign(a->realtime, b->realtime);
	return r ? r : model_sign(a->xor_hash, b->xor_hash);
}

/* Whether an entry is a copy of another file's. */
static bool model_is_copy(const struct model_file *f, const struct model_entry *a,
			  const struct model_file *g, const struct model_entry *b)
{
	if (a->xor_hash != b->xor_hash || a->realtime != b->realtime ||
	    !id128_equal(&a->boot_id, &b->boot_id))
		return false;
	if (id128_equal(&f->seqnum_id, &g->seqnum_id))
		return a->seqnum == b->seqnum;
	return a->monotonic == b->monotonic;
}

/* Moves a file on, past what does not count. */
static void model_skip(struct model_file *f, bool backward, bool only_marked)
{
	while (f->left > 0 && only_marked && !f->entries[f->next].marked) {
		f->next += backward ? -1 : 1;
		f->left--;
	}
}

/* Takes a file's candidate. */
static void model_take(struct model_file *f, bool backward, bool only_marked)
{
	f->next += backward ? -1 : 1;
	f->left--;
	model_skip(f, backward, only_marked);
}

size_t model_run(struct model *m, bool backward, bool only_marked, struct model_place *places,
		 size_t *ret_duplicates)
{
	const struct model_entry *last = NULL;
	const struct model_file *last_file = NULL;
	size_t count = 0, duplicates = 0;

	for (unsigned i = 0; i < m->file_count; i++) {
		struct model_file *f = m->files + i;

		f->left = f->count;
		f->next = backward ? f->count - 1 : 0;
		model_skip(f, backward, only_marked);
	}
	for (;;) {
		struct model_file *best = NULL;

		for (unsigned i = 0; i < m->file_count; i++) {
			struct model_file *f = m->files + i;

			while (f->left > 0 && last && f != last_file &&
			       model_is_copy(f, f->entries + f->next, last_file, last)) {
				model_take(f, backward, only_marked);
				duplicates++;
			}
			if (f->left == 0)
				continue;
			if (!best || (backward ? model_compare(m, f, best) > 0 :
						 model_compare(m, f, best) < 0))
				best = f;
		}
		if (!best)
			break;
		last = best->entries + best->next;
		last_file = best;
		places[count++] = (struct model_place){ best, last };
		model_take(best, backward, only_marked);
	}
	if (ret_duplicates)
		*ret_duplicates = duplicates;
	return count;
}

/* ---- making them ------------------------------------------------------------------------ */

/* By first realtime, file ID, path. */
static int model_compare_files(const void *a, const void *b)
{
	const struct model_file *f = a, *g = b;
	int r;

	if (f->head_realtime != g->head_realtime)
		return model_sign(f->head_realtime, g->head_realtime);
	r = memcmp(f->file_id.bytes, g->file_id.bytes, 16);
	return r ? r : strcmp(f->name, g->name);
}

/* Appends an entry to a file's list. */
static void model_append(struct model_file *f, const struct model_entry *e)
{
	f->entries = fixture_grow(f->entries, f->count, &f->allocated, sizeof(*e));
	f->entries[f->count++] = *e;
}

/* Notes what the header and the last entry of a finished file say. */
static void model_finish_file(struct model_file *f, const struct id128 *machine_id)
{
	const struct model_entry *last = f->count ? f->entries + f->count - 1 : NULL;

	f->head_realtime = fixture_get64(f->fx, HEADER_HEAD_ENTRY_REALTIME);
	f->has_newest = last && last->monotonic <= last->realtime;
	if (!f->has_newest)
		return;
	f->newest_boot_id = last->boot_id;
	f->newest_machine_id = *machine_id;
	f->newest_realtime = last->realtime;
	f->newest_monotonic = last->monotonic;
}

/* A model without files yet. */
static struct model *model_new(unsigned file_count)
{
	struct model *m = calloc(1, sizeof(*m));

	assert(file_count <= MODEL_FILES_MAX);
	if (!m)
		abort();
	m->file_count = file_count;
	m->files = calloc(file_count, sizeof(*m->files));
	if (!m->files)
		abort();
	return m;
}

/* Puts the files in the order of their numbers. */
static void model_number_files(struct model *m)
{
	qsort(m->files, m->file_count, sizeof(*m->files), model_compare_files);
	for (unsigned i = 0; i < m->file_count; i++)
		m->entry_count += m->files[i].count;
}

struct model *model_from_set(const struct set *set)
{
	struct model *m = model_new(set->file_count);

	for (unsigned i = 0; i < set->file_count; i++) {
		const struct set_file *from = set->files + i;
		struct model_file *f = m->files + i;

		memcpy(f->name, from->name, sizeof(f->name));
		f->fx = from->fx;
		f->file_id = from->file_id;
		f->seqnum_id = from->seqnum_id;
		for (size_t k = 0; k < from->entry_count; k++) {
			const struct set_entry *e = from->entries + k;

			model_append(f, &(struct model_entry){ .offset = e->offset,
							       .seqnum = e->seqnum,
							       .realtime = e->realtime,
							       .monotonic = e->monotonic,
							       .xor_hash = e->xor_hash,
							       .boot_id = e->boot_id,
							       .marked = e->number % 3 == 0 });
		}
		model_finish_file(f, from->entry_count ?
					     &from->entries[from->entry_count - 1].machine_id :
					     &from->machine_id);
	}
	model_number_files(m);
	return m;
}

struct model *model_free(struct model *m)
{
	if (!m)
		return NULL;
	for (unsigned i = 0; i < m->file_count; i++) {
		if (m->owns_fixtures)
			fixture_free(m->files[i].fx);
		free(m->files[i].entries);
	}
	free(m->files);
	free(m);
	return NULL;
}

/* ---- wild ones -------------------------------------------------------------------------- */

#define WILD_BASE UINT64_C(1600000000000000)

struct wild {
	struct model *model;
	uint64_t random;
	unsigned ids, boots, machines;
	uint64_t times;      /* how many different times there are, about */
	unsigned back;       /* chances in thousandths: a clock or a number goes back */
	unsigned copy;       /* an entry is taken from another file */
	unsigned boot_change;
	bool aligned;        /* boots begin where the one before has ended */
};

/* A number that follows from the seed, below END. */
static uint64_t wild_random(struct wild *w, uint64_t end)
{
	uint64_t z = (w->random += UINT64_C(0x9e3779b97f4a7c15));

	z = (z ^ (z >> 30)) * UINT64_C(0xbf58476d1ce4e5b9);
	z = (z ^ (z >> 27)) * UINT64_C(0x94d049bb133111eb);
	return (z ^ (z >> 31)) % end;
}

/* Whether something with such a chance happens. */
static bool wild_happens(struct wild *w, unsigned thousandths)
{
	return wild_random(w, 1000) < thousandths;
}

/* One of the boots, or machines: few IDs that do not depend on the seed. */
static struct id128 wild_boot(unsigned boot)
{
	return fixture_id(100 + boot);
}

/* Writes an entry, and notes it. Its text decides its hash. */
static void wild_write(struct model_file *f, struct model_entry *e, const struct id128 *machine_id)
{
	struct fixture_stamp stamp = { .seqnum = e->seqnum,
				       .realtime = e->realtime,
				       .monotonic = e->monotonic,
				       .boot_id = e->boot_id };
	char message[32], machine[64] = "OTHER=1", id[33];

	snprintf(message, sizeof(message), "MESSAGE=text %u", e->text);
	if (machine_id) {
		fixture_id_text(machine_id, id);
		snprintf(machine, sizeof(machine), "_MACHINE_ID=%s", id);
	}
	e->marked = e->text % 3 == 0;
	e->offset = fixture_add(f->fx, &stamp, message, e->marked ? "PRIORITY=3" : "PRIORITY=6",
				machine, NULL);
	/* Stamps of 0 have been chosen by the fixture. */
	e->seqnum = fixture_get64(f->fx, e->offset + ENTRY_SEQNUM);
	e->realtime = fixture_get64(f->fx, e->offset + ENTRY_REALTIME);
	e->monotonic = fixture_get64(f->fx, e->offset + ENTRY_MONOTONIC);
	e->xor_hash = fixture_get64(f->fx, e->offset + ENTRY_XOR_HASH);
	model_append(f, e);
}

/* One of the entries of the files before, or NULL. */
static const struct model_entry *wild_pick(struct wild *w, unsigned files,
					   const struct model_file **ret_file)
{
	const struct model_file *f;

	if (files == 0)
		return NULL;
	f = w->model->files + wild_random(w, files);
	*ret_file = f;
	return f->count ? f->entries + wild_random(w, f->count) : NULL;
}

/* Overwrites some of what the header says of numbers and times. */
static void wild_lie(struct wild *w, struct model_file *f)
{
	struct fixture *fx = f->fx;

	w->model->lies = true;
	if (wild_happens(w, 500))
		fixture_put64(fx, HEADER_HEAD_ENTRY_SEQNUM, wild_random(w, 30));
	if (wild_happens(w, 500))
		fixture_put64(fx, HEADER_TAIL_ENTRY_SEQNUM, wild_random(w, 30));
	if (f->count && wild_happens(w, 300)) /* without entries it would be refused */
		fixture_put64(fx, HEADER_HEAD_ENTRY_REALTIME, WILD_BASE + wild_random(w, 20));
}

/* Where a file of the simulation stands. */
struct wild_clock {
	unsigned boot;
	uint64_t realtime, monotonic, seqnum;
};

/* The next entry of a file. */
static struct model_entry wild_next(struct wild *w, struct wild_clock *c, unsigned index)
{
	const struct model_file *from, *f = w->model->files + index;
	const struct model_entry *other = NULL;
	struct model_entry e;

	if (wild_happens(w, w->boot_change)) {
		c->boot = w->aligned ? c->boot + 1 : (unsigned)wild_random(w, w->boots);
		if (c->boot >= w->boots)
			c->boot = w->boots - 1;
		c->monotonic = wild_random(w, 4);
	}
	c->realtime += wild_random(w, 3);
	c->monotonic += wild_random(w, 3);
	c->seqnum += 1 + wild_random(w, 4) / 3;
	if (wild_happens(w, w->back))
		c->realtime -= wild_random(w, w->times);
	if (wild_happens(w, w->back))
		c->monotonic = wild_random(w, w->times);
	if (wild_happens(w, w->back))
		c->seqnum = 1 + wild_random(w, w->times);
	e = (struct model_entry){ .seqnum = c->seqnum,
				  .realtime = c->realtime,
				  .monotonic = c->monotonic,
				  .boot_id = wild_boot(c->boot),
				  .text = (unsigned)wild_random(w, 6) };
	if (wild_happens(w, w->copy))
		other = wild_pick(w, index, &from);
	if (other) {
		e.realtime = other->realtime;
		e.boot_id = other->boot_id;
		e.monotonic = other->monotonic + (wild_happens(w, 200) ? 1 : 0);
		if (id128_equal(&from->seqnum_id, &f->seqnum_id) && !wild_happens(w, 200))
			e.seqnum = other->seqnum;
		e.text = other->text;
	}
	return e;
}

/* Fills one file. */
static void wild_file(struct wild *w, unsigned index, unsigned entries)
{
	struct model_file *f = w->model->files + index;
	struct id128 header_machine = fixture_id(200 + wild_random(w, w->machines)), machine;
	struct wild_clock c = { .boot = (unsigned)wild_random(w, w->boots),
				.realtime = WILD_BASE + wild_random(w, w->times),
				.monotonic = wild_random(w, w->times),
				.seqnum = wild_random(w, w->times) };
	struct fixture_options o = { .machine_id = header_machine, .data_buckets = 31,
				     .field_buckets = 7 };
	bool has_machine = wild_happens(w, 300);

	if (w->aligned) {
		c.boot = index % w->boots;
		c.realtime += c.boot * w->times;
	}
	machine = fixture_id(200 + wild_random(w, w->machines));
	f->file_id = fixture_id(1000 + wild_random(w, 1000000));
	f->seqnum_id = fixture_id(300 + wild_random(w, w->ids));
	o.file_id = f->file_id;
	o.seqnum_id = f->seqnum_id;
	o.compact = wild_happens(w, 300);
	o.keyed = wild_happens(w, 500);
	o.state = wild_happens(w, 500) ? JOURNAL_STATE_ARCHIVED : JOURNAL_STATE_ONLINE;
	f->fx = fixture_new(&o);
	snprintf(f->name, sizeof(f->name), "wild-%u.journal", index);
	for (unsigned i = 0; i < entries; i++) {
		struct model_entry e = wild_next(w, &c, index);

		wild_write(f, &e, has_machine ? &machine : NULL);
	}
	fixture_finish(f->fx);
	if (wild_happens(w, 150))
		wild_lie(w, f);
	model_finish_file(f, has_machine ? &machine : &header_machine);
}

struct model *model_wild(uint64_t seed, bool long_files)
{
	struct wild w = { .random = seed * 977 };
	static const unsigned chances[] = { 0, 0, 10, 50, 200, 500 };

	w.model = model_new(1 + (unsigned)wild_random(&w, 7));
	w.model->owns_fixtures = true;
	w.ids = 1 + (unsigned)wild_random(&w, wild_happens(&w, 300) ? 1 : 4);
	w.boots = 1 + (unsigned)wild_random(&w, 6);
	w.machines = 1 + (unsigned)wild_random(&w, 2);
	w.times = wild_happens(&w, 500) ? 6 : 40;
	w.back = chances[wild_random(&w, 6)];
	w.copy = chances[wild_random(&w, 6)];
	w.boot_change = chances[wild_random(&w, 5)];
	w.aligned = wild_happens(&w, 300);
	for (unsigned i = 0; i < w.model->file_count; i++) {
		unsigned entries = (unsigned)wild_random(&w, long_files ? 400 : 12);

		if (wild_happens(&w, 100))
			entries = (unsigned)wild_random(&w, 2);
		wild_file(&w, i, entries);
	}
	model_number_files(w.model);
	return w.model;
}

struct model *model_machines(unsigned machines, unsigned files, unsigned entries, bool new_ids)
{
	struct model *m = model_new(machines * files);

	m->owns_fixtures = true;
	for (unsigned i = 0; i < m->file_count; i++) {
		unsigned machine = i / files, file = i % files;
		struct model_file *f = m->files + i;
		struct id128 machine_id = fixture_id(10 + machine);

		snprintf(f->name, sizeof(f->name), "%03u-%03u.journal", machine, file);
		f->file_id = fixture_id(5000 + i);
		f->seqnum_id = fixture_id(1000 + (new_ids ? 1000 + i : machine));
		f->fx = fixture_new(&(struct fixture_options){
			.file_id = f->file_id, .seqnum_id = f->seqnum_id,
			.machine_id = machine_id, .data_buckets = 31, .field_buckets = 7 });
		for (unsigned k = 0; k < entries; k++) {
			unsigned at = file * entries + k;
			struct model_entry e = {
				.seqnum = 1 + at,
				.realtime = WILD_BASE + at * 1000 + machine * 7 % 1000,
				.monotonic = 1000 + at * 1000,
				.boot_id = fixture_id(3000 + (new_ids ? 1000 + i : machine)),
				.text = k + i,
			};

			wild_write(f, &e, NULL);
		}
		fixture_finish(f->fx);
		model_finish_file(f, &machine_id);
	}
	model_number_files(m);
	return m;
}
