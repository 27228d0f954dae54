/* SPDX-License-Identifier: MIT */
/*
 * What an archive lacks: sequence numbers that no file has, steps of the clock, files that were not
 * closed, headers that say otherwise than their entries.
 *
 * Files that number their entries under one ID are gone through together, in the order of the
 * numbers, on a heap: journald's files for the system and for users interleave, and one fills the
 * holes of the other. A file is looked into only when the numbers have come to the first one that
 * its header has. Where only missing numbers are asked for, a file whose header counts as many
 * entries as it has numbers is not read at all: it is one range.
 *
 * Only headers of entries are read, through walks of their own: the position of reading stays.
 * Memory goes with the number of files and boots, not of entries.
 */
#include <assert.h>
#include <stdlib.h>

#include "engine/engine.h"
#include "engine/merge-heap.h"

#define GAPS_KINDS_ALL                                                                             \
	(JSCAN_GAPS_MISSING | JSCAN_GAPS_CLOCK_STEP | JSCAN_GAPS_NOT_CLOSED | JSCAN_GAPS_HEADER)
/* A difference between two clocks that changes by less may be their tuning. */
#define GAPS_STEP_USEC_DEFAULT 1000000u
#define GAPS_OFFSETS 64u
/* Of one file, ahead of the walk. */
#define GAPS_AHEAD_BYTES (1u << 20)

/* The walk over the entries of one file. */
struct gaps_walk {
	struct chain chain;
	struct readahead ahead;
	bool begun;
	bool whole;              /* the header stands for all entries, which are not read */
	bool there;              /* entry is the next one */
	uint64_t index;          /* in the chain, of the next of offsets */
	unsigned at, count;
	uint64_t offsets[GAPS_OFFSETS];
	struct entry_object entry;
	uint64_t found, first_seqnum, last_seqnum; /* of the entries read */
};

/* The entry of a boot that was met last. */
struct gaps_boot {
	bool known;
	struct entry_object entry;
	const char *path;
};

struct gaps {
	const struct jscan_gaps_options *options;
	jscan_gap_fn callback;
	void *userdata;
	struct gaps_walk **walks; /* by number of file; NULL: not begun, or done with */
	uint32_t *places;         /* of the heap */
	struct merge_heap heap;   /* first: the number that a file goes on with, at least */
	size_t next_file;         /* the first one whose ID may not have been gone through */
	bool running;             /* an ID is being gone through: seqnum_id */
	uint32_t seqnum_id;
	uint64_t promised;        /* the largest number that a header has */
	const struct source *promised_by;
	uint64_t covered;         /* all numbers up to here have been accounted for */
	bool any;                 /* last is set */
	struct entry_object last; /* the entry before, in sequence */
	const struct source *last_source;
	struct order_ids boot_ids;
	struct gaps_boot *boots;  /* by number of ID */
	uint32_t boots_capacity;
};

/* True if findings of this kind are wanted. */
static bool gaps_wants(const struct gaps *g, uint32_t kind)
{
	return g->options->kinds & kind;
}

/* The public form of an ID. */
static jscan_id gaps_id(const struct id128 *id)
{
	jscan_id ret;

	memcpy(ret.bytes, id->bytes, sizeof(ret.bytes));
	return ret;
}

/* ---- findings --------------------------------------------------------------------------- */

/* A finding about a file, or about the entry at OFFSET in it; the rest is 0. */
static struct jscan_gap gaps_finding(uint32_t kind, const struct source *s)
{
	return (struct jscan_gap){
		.size = sizeof(struct jscan_gap),
		.kind = kind,
		.path = s->path,
		.seqnum_id = gaps_id(&s->journal.header.seqnum_id),
	};
}

/* Sets in a finding what is known of the entry before it. */
static void gaps_set_previous(const struct gaps *g, struct jscan_gap *gap)
{
	if (!g->any)
		return;
	gap->previous_path = g->last_source->path;
	gap->previous_offset = g->last.offset;
	gap->previous_boot_id = gaps_id(&g->last.boot_id);
	gap->before_usec = g->last.realtime;
}

/* Numbers up to the one of ENTRY, exclusively, are missing. What the callback answers. */
static int gaps_tell_missing(struct gaps *g, const struct source *s,
			     const struct entry_object *entry)
{
	struct jscan_gap gap = gaps_finding(JSCAN_GAPS_MISSING, s);

	gap.offset = entry->offset;
	gap.first_seqnum = g->covered + 1;
	gap.last_seqnum = entry->seqnum - 1;
	gap.count = gap.last_seqnum - g->covered;
	gap.after_usec = entry->realtime;
	gap.boot_id = gaps_id(&entry->boot_id);
	gaps_set_previous(g, &gap);
	return g->callback(g->userdata, &gap);
}

/* Numbers behind the last entry, which a header has, are missing. What the callback answers. */
static int gaps_tell_end(struct gaps *g)
{
	struct jscan_gap gap;

	if (g->promised <= g->covered || !gaps_wants(g, JSCAN_GAPS_MISSING))
		return 0;
	gap = gaps_finding(JSCAN_GAPS_MISSING, g->promised_by);
	gap.first_seqnum = g->covered + 1;
	gap.last_seqnum = g->promised;
	gap.count = g->promised - g->covered;
	gaps_set_previous(g, &gap);
	return g->callback(g->userdata, &gap);
}

/* The clock has been set between two entries of a boot. What the callback answers. */
static int gaps_tell_step(struct gaps *g, const struct source *s, const struct entry_object *entry,
			  const struct gaps_boot *before, int64_t step)
{
	struct jscan_gap gap = gaps_finding(JSCAN_GAPS_CLOCK_STEP, s);

	gap.offset = entry->offset;
	gap.previous_path = before->path;
	gap.previous_offset = before->entry.offset;
	gap.first_seqnum = before->entry.seqnum;
	gap.last_seqnum = entry->seqnum;
	gap.before_usec = before->entry.realtime;
	gap.after_usec = entry->realtime;
	gap.boot_id = gap.previous_boot_id = gaps_id(&entry->boot_id);
	gap.step_usec = step;
	return g->callback(g->userdata, &gap);
}

/* A finding of a file as a whole: the entries that it has, the times that its header has. */
static int gaps_tell_file(struct gaps *g, uint32_t kind, const struct source *s,
			  uint64_t first_seqnum, uint64_t last_seqnum, uint64_t count)
{
	const struct journal_header *h = &s->journal.header;
	struct jscan_gap gap = gaps_finding(kind, s);

	gap.first_seqnum = first_seqnum;
	gap.last_seqnum = last_seqnum;
	gap.before_usec = h->head_entry_realtime;
	gap.after_usec = h->tail_entry_realtime;
	gap.boot_id = gaps_id(&h->tail_entry_boot_id);
	gap.count = count;
	return g->callback(g->userdata, &gap);
}

/* A file's state says that its writer did not end it, or its name that another one set it aside. */
static int gaps_look_at_state(struct gaps *g, const struct source *s)
{
	const struct journal_header *h = &s->journal.header;

	if (!gaps_wants(g, JSCAN_GAPS_NOT_CLOSED) ||
	    (h->state != JOURNAL_STATE_ONLINE && !strstr(s->path, ".journal~")))
		return 0;
	return gaps_tell_file(g, JSCAN_GAPS_NOT_CLOSED, s, h->head_entry_seqnum,
			      h->tail_entry_seqnum, h->n_entries);
}

/* All entries of a file have been read: is it what its header says? */
static int gaps_look_at_header(struct gaps *g, const struct source *s, const struct gaps_walk *w)
{
	const struct journal_header *h = &s->journal.header;

	if (!gaps_wants(g, JSCAN_GAPS_HEADER) || w->whole ||
	    (w->found == h->n_entries &&
	     (w->found == 0 || (w->first_seqnum == h->head_entry_seqnum &&
				w->last_seqnum == h->tail_entry_seqnum))))
		return 0;
	return gaps_tell_file(g, JSCAN_GAPS_HEADER, s, w->first_seqnum, w->last_seqnum, w->found);
}

/* ---- one file --------------------------------------------------------------------------- */

/* Asks for what the walk will come to. */
static void gaps_read_ahead(struct source *s, struct gaps_walk *w)
{
	uint64_t offset, size_bytes, asked = 0, room = image_pool_expected_room(&s->engine->pool);

	if (room > GAPS_AHEAD_BYTES)
		room = GAPS_AHEAD_BYTES;
	if (w->entry.offset)
		image_used(&s->image, 0, w->entry.offset);
	readahead_stalled(&w->ahead, s->engine->readahead_bytes_max);
	while (asked < room && readahead_next(&w->ahead, w->entry.offset, room - asked, &offset,
					      &size_bytes)) {
		image_want(&s->image, offset, size_bytes, IMAGE_EXPECTED);
		asked += size_bytes;
	}
}

/* Elements of the chain cannot be read: on to the next ones that perhaps can. */
static void gaps_step_over(struct gaps_walk *w, int error)
{
	uint64_t end = w->chain.at.before + w->chain.at.capacity;

	if (w->index >= w->chain.count)
		return; /* a damaged array has ended it */
	/* Past the end of the file there are no others of this array. */
	w->index = error == -EADDRNOTAVAIL && end > w->index ? end : w->index + 1;
}

/* Step: the next entry of a file. 1: walk->entry; 0: there are no more; -EAGAIN. */
static int gaps_step(struct source *s)
{
	struct gaps_walk *w = s->gaps_walk;
	int r;

	for (;;) {
		if (w->at == w->count) {
			r = chain_get_many(&w->chain, &s->journal, &s->window, w->index,
					   GAPS_OFFSETS, w->offsets);
			if (r == -EAGAIN)
				break;
			if (r < 0) {
				problem_report(s, JSCAN_REASON_CHAIN, r, w->chain.damage_offset,
					       "an entry array cannot be read");
				gaps_step_over(w, r);
				continue;
			}
			if (r == 0)
				return 0;
			w->at = 0;
			w->count = (unsigned)r;
			w->index += (unsigned)r;
		}
		r = w->offsets[w->at] ? object_entry(&s->journal, &s->window, w->offsets[w->at],
						     &w->entry) : -ENOENT;
		if (r == -EAGAIN)
			break;
		if (r < 0 && r != -ENOENT)
			problem_report(s, JSCAN_REASON_OBJECT, r, w->offsets[w->at],
				       "an entry cannot be read");
		w->at++;
		if (r == 0)
			return 1;
		source_commit(s);
	}
	gaps_read_ahead(s, w);
	return r;
}

/* Makes the walk of a file. */
static int gaps_begin_file(struct gaps *g, struct source *s)
{
	const struct journal_header *h = &s->journal.header;
	struct gaps_walk *w = calloc(1, sizeof(*w));

	if (!w)
		return -ENOMEM;
	g->walks[s->number] = s->gaps_walk = w;
	chain_init_global(&w->chain, &s->journal);
	readahead_init(&w->ahead, h->header_size, s->stat.size_bytes, false);
	w->whole = !gaps_wants(g, JSCAN_GAPS_CLOCK_STEP | JSCAN_GAPS_HEADER) &&
		   h->n_entries > 0 && h->head_entry_seqnum > 0 &&
		   h->tail_entry_seqnum >= h->head_entry_seqnum &&
		   h->tail_entry_seqnum - h->head_entry_seqnum == h->n_entries - 1;
	return 0;
}

/* Done with a file: its memory and descriptor serve the next. */
static void gaps_end_file(struct gaps *g, struct source *s)
{
	free(g->walks[s->number]);
	g->walks[s->number] = s->gaps_walk = NULL;
	merge_heap_remove(&g->heap, g->places, s->number);
	if (s->state == SOURCE_OPEN && s->refs == 0 && s->given_fd < 0)
		source_close(s);
}

/* ---- in sequence ------------------------------------------------------------------------ */

/* The row of an entry's boot, made if missing. */
static int gaps_boot(struct gaps *g, const struct id128 *id, struct gaps_boot **ret)
{
	uint32_t number;
	int r = order_ids_number(&g->boot_ids, id, &number);

	if (r < 0)
		return r;
	if (number >= g->boots_capacity) {
		uint32_t capacity = number * 2 + 16;
		struct gaps_boot *boots = reallocarray(g->boots, capacity, sizeof(*boots));

		if (!boots)
			return -ENOMEM;
		memset(boots + g->boots_capacity, 0,
		       (capacity - g->boots_capacity) * sizeof(*boots));
		g->boots = boots;
		g->boots_capacity = capacity;
	}
	*ret = &g->boots[number];
	return 0;
}

/* Compares the clocks with those of the boot's entry before. */
static int gaps_look_at_clock(struct gaps *g, const struct source *s,
			      const struct entry_object *entry)
{
	uint64_t limit = g->options->step_usec;
	struct gaps_boot *boot;
	int64_t step;
	int r = gaps_boot(g, &entry->boot_id, &boot);

	if (r < 0)
		return r;
	if (boot->known) {
		/* Modulo 2^64, as nothing from a file is known to be small. */
		step = (int64_t)(entry->realtime - boot->entry.realtime -
				 (entry->monotonic - boot->entry.monotonic));
		if (entry->realtime < boot->entry.realtime || step >= (int64_t)limit ||
		    step <= -(int64_t)limit)
			r = gaps_tell_step(g, s, entry, boot, step);
	}
	*boot = (struct gaps_boot){ .known = true, .entry = *entry, .path = s->path };
	return r;
}

/* Accounts for the numbers from ENTRY's to LAST_SEQNUM. */
static int gaps_cover(struct gaps *g, const struct source *s, const struct entry_object *entry,
		      uint64_t last_seqnum)
{
	int r = 0;

	if (entry->seqnum > g->covered && entry->seqnum - g->covered > 1 &&
	    gaps_wants(g, JSCAN_GAPS_MISSING))
		r = gaps_tell_missing(g, s, entry);
	if (last_seqnum > g->covered)
		g->covered = last_seqnum;
	return r;
}

/* A file whose header says all. */
static int gaps_take_whole(struct gaps *g, struct source *s)
{
	const struct journal_header *h = &s->journal.header;
	struct entry_object entry = {
		.seqnum = h->head_entry_seqnum,
		.realtime = h->head_entry_realtime,
		.boot_id = h->tail_entry_boot_id,
	};
	bool later = h->tail_entry_seqnum > g->covered;
	int r = gaps_cover(g, s, &entry, h->tail_entry_seqnum);

	if (later) {
		g->last = (struct entry_object){
			.seqnum = h->tail_entry_seqnum,
			.realtime = h->tail_entry_realtime,
			.boot_id = h->tail_entry_boot_id,
		};
		g->last_source = s;
		g->any = true;
	}
	gaps_end_file(g, s);
	return r;
}

/* Takes the entry that a walk has come to, whose number is the least of all. */
static int gaps_take(struct gaps *g, struct source *s, struct gaps_walk *w)
{
	struct entry_object entry = w->entry;
	struct merge_item item = { .number = s->number, .second = s->number };
	bool is_copy = g->any && entry.seqnum <= g->covered;
	int r = 0;

	w->there = false;
	if (w->found++ == 0)
		w->first_seqnum = entry.seqnum;
	w->last_seqnum = entry.seqnum;
	if (!is_copy) {
		r = gaps_cover(g, s, &entry, entry.seqnum);
		if (r == 0 && gaps_wants(g, JSCAN_GAPS_CLOCK_STEP))
			r = gaps_look_at_clock(g, s, &entry);
		g->last = entry;
		g->last_source = s;
		g->any = true;
	}
	item.first = entry.seqnum < UINT64_MAX ? entry.seqnum + 1 : entry.seqnum;
	merge_heap_set(&g->heap, g->places, &item); /* it is in: nothing is allocated */
	return r;
}

/* The file that comes first, one step on. 0; what the callback answers; -EAGAIN. */
static int gaps_advance(struct jscan *e, struct gaps *g)
{
	struct merge_item item = g->heap.items[0];
	struct source *s = e->sources[item.number];
	struct gaps_walk *w = g->walks[s->number];
	int r;

	if (s->error) { /* of reading, which has been reported */
		gaps_end_file(g, s);
		return 0;
	}
	if (!w) {
		r = gaps_begin_file(g, s);
		if (r < 0)
			return r;
		w = g->walks[s->number];
	}
	if (w->whole)
		return gaps_take_whole(g, s);
	if (!w->there) {
		r = source_try(s, gaps_step);
		if (r == -EAGAIN || r == -EBUSY || r == -ENOMEM)
			return r == -EBUSY ? -EAGAIN : r;
		if (r <= 0) {
			r = r < 0 ? 0 : gaps_look_at_header(g, s, w);
			gaps_end_file(g, s);
			return r;
		}
		w->there = true;
		item.first = w->entry.seqnum;
		merge_heap_set(&g->heap, g->places, &item);
		if (g->heap.items[0].number != s->number)
			return 0;
	}
	return gaps_take(g, s, w);
}

/* Puts the files of the next ID on the heap. False if there is none. */
static int gaps_next_id(struct jscan *e, struct gaps *g)
{
	const struct source *first;

	while (g->next_file < e->source_count && (e->sources[g->next_file]->error ||
						  e->sources[g->next_file]->gaps_done))
		g->next_file++;
	if (g->next_file == e->source_count)
		return 0;
	first = e->sources[g->next_file];
	g->seqnum_id = first->seqnum_id;
	g->covered = g->promised = 0;
	g->any = false;
	if (g->boots)
		memset(g->boots, 0, g->boots_capacity * sizeof(*g->boots));
	for (size_t i = g->next_file; i < e->source_count; i++) {
		struct source *s = e->sources[i];
		struct merge_item item = { .first = s->journal.header.head_entry_seqnum,
					   .second = i, .number = (uint32_t)i };
		int r;

		if (s->error || s->seqnum_id != g->seqnum_id)
			continue;
		s->gaps_done = true;
		/* While a file is written its header may be ahead of its entries. */
		if (s->journal.header.state != JOURNAL_STATE_ONLINE &&
		    s->journal.header.tail_entry_seqnum > g->promised) {
			g->promised = s->journal.header.tail_entry_seqnum;
			g->promised_by = s;
		}
		r = merge_heap_set(&g->heap, g->places, &item);
		if (r < 0)
			return r;
	}
	return 1;
}

/* engine_wait(): goes on to the end, or until bytes are lacking. */
static int gaps_run(struct jscan *e)
{
	struct gaps *g = e->gaps;
	int r = 0;

	while (r == 0) {
		if (atomic_load_explicit(&e->stop, memory_order_relaxed))
			return 1;
		if (g->heap.count > 0) {
			r = gaps_advance(e, g);
			if (r == 0 && g->heap.count == 0)
				r = gaps_tell_end(g);
			continue;
		}
		r = gaps_next_id(e, g);
		if (r <= 0)
			return r;
		r = 0;
	}
	return r;
}

/* Tells of the files' states, then goes through the entries. */
static int gaps_list(struct jscan *e, struct gaps *g)
{
	int r = jscan_open(e);

	for (size_t i = 0; i < e->source_count && r == 0; i++) {
		g->places[i] = MERGE_NOWHERE;
		e->sources[i]->gaps_done = false;
		if (!e->sources[i]->error)
			r = gaps_look_at_state(g, e->sources[i]);
	}
	if (r == 0 && gaps_wants(g, (uint32_t)~JSCAN_GAPS_NOT_CLOSED))
		r = engine_wait(e, gaps_run);
	return r;
}

/* Copies options of any size. */
static int gaps_take_options(const struct jscan_gaps_options *given, struct jscan_gaps_options *ret)
{
	int r;

	*ret = (struct jscan_gaps_options){ .size = sizeof(*ret) };
	r = given ? engine_take(given, given->size, ret, sizeof(*ret)) : 0;
	if (r < 0)
		return r;
	if (ret->kinds & ~GAPS_KINDS_ALL || ret->step_usec > INT64_MAX)
		return -EINVAL;
	if (!ret->kinds)
		ret->kinds = GAPS_KINDS_ALL;
	if (!ret->step_usec)
		ret->step_usec = GAPS_STEP_USEC_DEFAULT;
	return 0;
}

int jscan_list_gaps(struct jscan *e, const struct jscan_gaps_options *given,
		    jscan_gap_fn callback, void *userdata)
{
	struct jscan_gaps_options options;
	struct gaps g = { .options = &options, .callback = callback, .userdata = userdata };
	int r = engine_check(e);

	if (r < 0)
		return r;
	if (!callback || e->gaps || e->wave_runs)
		return -EINVAL;
	r = gaps_take_options(given, &options);
	if (r < 0)
		return r;
	g.walks = calloc(e->source_count + 1, sizeof(*g.walks));
	g.places = calloc(e->source_count + 1, sizeof(*g.places));
	atomic_store(&e->stop, false);
	e->gaps = &g;
	r = g.walks && g.places ? gaps_list(e, &g) : -ENOMEM;
	e->gaps = NULL;
	for (size_t i = 0; i < e->source_count && g.walks; i++) {
		free(g.walks[i]);
		e->sources[i]->gaps_walk = NULL;
	}
	free(g.walks);
	free(g.places);
	free(g.heap.items);
	free(g.boots);
	order_ids_done(&g.boot_ids);
	return r;
}
