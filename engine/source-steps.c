/* SPDX-License-Identifier: MIT */
/*
 * What a source looks for in its file, step by step: the header, the newest entry, the terms of the
 * match, its place, the next entry. A step may run many times before it answers; it changes the
 * source at its end only, or where doing so twice makes no difference.
 *
 * tidy: allow sizes: the steps share statics, and are read one after the other.
 */
#include <assert.h>
#include <sys/stat.h>

#include "engine/bounds.h"
#include "engine/engine.h"
#include "engine/follow.h"
#include "engine/grep-scan.h"
#include "engine/source.h"
#include "engine/unpack.h"

/* How often the header of a file that is being written is read again before it is refused. */
#define HEADER_TRIES 4u
/* How many entries ahead of the walk the processor is told of one. */
#define SOURCE_PREFETCH 6u
/*
 * Entries do not overlap, so all of a file's together are no larger than the file. A hostile file's
 * can be: each may claim the rest of the file as its items, and reading them all would take
 * quadratic time. Damaged sizes are allowed for a few times over, then the file is given up.
 */
#define SOURCE_OVERLAP_MAX 8u
/* Items of the newest entry that are searched for the machine's ID: more than any entry has. */
#define SOURCE_MACHINE_ITEMS_MAX 4096u
/* Bytes read beyond the start of the last object, to have the object itself. */
#define SOURCE_TAIL_BYTES (64u << 10)

/* The kind of problem that a header's errno stands for. */
static enum jscan_reason source_header_reason(int error)
{
	switch (error) {
	case -ENODATA:
		return JSCAN_REASON_TRUNCATED;
	case -EPROTONOSUPPORT:
		return JSCAN_REASON_FEATURE;
	default:
		return JSCAN_REASON_HEADER;
	}
}

/* A header that does not fit together may have been caught half written: look again. */
static bool source_header_again(struct source *s, const uint8_t *bytes, uint64_t size)
{
	struct stat st;

	if (++s->header_tries >= HEADER_TRIES)
		return false;
	if (size > HEADER_STATE && bytes[HEADER_STATE] == JOURNAL_STATE_ARCHIVED)
		return false;
	if (fstat(s->image.file.fd, &st) < 0 || (uint64_t)st.st_size < s->stat.size_bytes)
		return false;
	if ((uint64_t)st.st_size > s->stat.size_bytes &&
	    image_resize(&s->image, (uint64_t)st.st_size) == 0)
		s->stat.size_bytes = (uint64_t)st.st_size;
	source_forget(s, 0, HEADER_SIZE_MAX);
	return true;
}

/* The bytes in which a header may lie; *ret_size says how many, and may be 0. */
static int source_header_bytes(struct source *s, const uint8_t **ret_bytes, uint64_t *ret_size)
{
	uint64_t size =
		s->window.size_bytes < HEADER_SIZE_MAX ? s->window.size_bytes : HEADER_SIZE_MAX;

	*ret_bytes = NULL;
	*ret_size = size;
	return size ? window_get(&s->window, 0, size, ret_bytes) : 0;
}

int source_step_header(struct source *s)
{
	const uint8_t *bytes;
	uint64_t size;
	char detail[HEADER_DETAIL_SIZE] = "";
	enum packed_kind kind;
	int r;

	if (s->header_known)
		return 0;
	if (s->unpack)
		return unpack_step(s, PACKED_NONE);
	for (;;) {
		r = source_header_bytes(s, &bytes, &size);
		if (r == -EAGAIN)
			return r;
		if (r < 0) {
			source_fail(s, JSCAN_REASON_READ, r, "its header cannot be read");
			return r;
		}
		kind = packed_recognise(bytes, size);
		if (kind != PACKED_NONE && !s->unpacked)
			return unpack_step(s, kind);
		r = header_parse(bytes, size, s->window.size_bytes, &s->journal, detail);
		if (r == 0)
			break;
		if (!source_header_again(s, bytes, size)) {
			source_fail(s, source_header_reason(r), r, detail);
			return r;
		}
	}
	if (s->journal.truncated)
		problem_report(s, JSCAN_REASON_READ, -ENODATA, 0,
			       "the file ends before its arena does");
	r = order_seqnum_id_number(&s->engine->order, &s->journal.header.seqnum_id, &s->seqnum_id);
	if (r < 0)
		return r;
	s->header_known = true;
	s->snapshot = s->journal.header.n_entries;
	chain_init_global(&s->chain, &s->journal);
	follow_keep_open(s);
	source_read_directly(s);
	return 0;
}

int source_step_refresh(struct source *s)
{
	char detail[HEADER_DETAIL_SIZE];
	const uint8_t *bytes;
	struct journal journal;
	uint64_t size;
	int r;

	do {
		r = source_header_bytes(s, &bytes, &size);
		if (r == 0)
			r = header_parse(bytes, size, s->window.size_bytes, &journal, detail);
		if (r == 0) {
			s->journal = journal;
			s->header_tries = 0;
			chain_init_global(&s->chain, &s->journal);
			return 0;
		}
	} while (r != -EAGAIN && source_header_again(s, bytes, size));
	if (r != -EAGAIN)
		s->header_tries = 0;
	return r;
}

/* The machine that an entry says it is from; 262 prefers it to the header's. */
static int source_entry_machine(struct source *s, const struct entry_object *entry,
				struct id128 *ret_id)
{
	static const char name[] = "_MACHINE_ID=";
	const size_t name_size = sizeof(name) - 1;
	const uint8_t *items;
	uint64_t count = entry->n_items < SOURCE_MACHINE_ITEMS_MAX ? entry->n_items :
								     SOURCE_MACHINE_ITEMS_MAX;
	int r, lacking = 0;

	*ret_id = s->journal.header.machine_id;
	r = object_entry_items(&s->journal, &s->window, entry, 0, count, &items);
	if (r < 0)
		return r == -EAGAIN ? r : 0;
	for (uint64_t i = 0; i < count && lacking < (int)WINDOW_WANTS_MAX; i++) {
		struct payload_view view;
		jscan_id id;
		char text[JSCAN_ID_TEXT_SIZE];

		r = object_payload(&s->journal, &s->window, entry_item(&s->journal, items, i),
				   &view);
		if (r == -EAGAIN)
			lacking++;
		if (r < 0 || lacking || view.compression || view.size != name_size + 32 ||
		    memcmp(view.bytes, name, name_size) != 0)
			continue;
		memcpy(text, view.bytes + name_size, 32);
		text[32] = '\0';
		if (jscan_id_parse(text, &id) < 0)
			continue;
		memcpy(ret_id->bytes, id.bytes, sizeof(id.bytes));
		if (id128_is_null(ret_id))
			*ret_id = s->journal.header.machine_id;
		return 0;
	}
	return lacking ? -EAGAIN : 0;
}

/* The last entry that can be read, for files whose header does not lead to it. */
static int source_last_entry(struct source *s, struct entry_object *ret_entry)
{
	uint64_t i = s->chain.count;

	if (s->last_index && s->last_index < i)
		i = s->last_index;
	while (i > 0) {
		uint64_t offset;
		int r = chain_get(&s->chain, &s->journal, &s->window, i - 1, &offset);

		if (r == 1) {
			r = object_entry(&s->journal, &s->window, offset, ret_entry);
			if (r == 0)
				return 0;
		}
		if (r == -EAGAIN)
			return r;
		/* Not an entry, or the chain is shorter than was promised: the one before it. */
		i = i - 1 < s->chain.count ? i - 1 : s->chain.count;
		s->last_index = i;
		source_commit(s);
	}
	return -ENOENT;
}

int source_step_newest(struct source *s)
{
	const struct journal_header *h = &s->journal.header;
	struct order_newest newest = { .machine_id = h->machine_id };
	struct entry_object entry;
	uint64_t offset = header_has(h, HEADER_TAIL_ENTRY_OFFSET, 8) ? h->tail_entry_offset :
								       h->tail_object_offset;
	int r;

	s->newest.known = false;
	if (offset == 0) {
		s->newest_done = true;
		return 0;
	}
	r = object_entry(&s->journal, &s->window, offset, &entry);
	if (r == -EAGAIN)
		return r;
	if (r < 0 && (h->compatible_flags & JOURNAL_COMPATIBLE_TAIL_ENTRY_BOOT_ID) &&
	    h->state == JOURNAL_STATE_ARCHIVED) {
		newest.boot_id = h->tail_entry_boot_id;
		newest.monotonic = h->tail_entry_monotonic;
		newest.realtime = h->tail_entry_realtime;
	} else {
		if (r < 0)
			r = source_last_entry(s, &entry);
		if (r < 0) {
			s->newest_done = r != -EAGAIN;
			return r == -EAGAIN ? r : 0;
		}
		r = source_entry_machine(s, &entry, &newest.machine_id);
		if (r < 0)
			return r;
		newest.boot_id = entry.boot_id;
		newest.monotonic = entry.monotonic;
		newest.realtime = entry.realtime;
	}
	newest.known = newest.monotonic <= newest.realtime;
	s->newest = newest;
	s->newest_done = true;
	return 0;
}

int source_step_plan(struct source *s)
{
	struct jscan *e = s->engine;
	int r;

	if (!s->plan.root && e->match.root && e->options.plan != JSCAN_PLAN_SCAN) {
		r = plan_init(&s->plan, &e->match);
		if (r < 0)
			return r;
	}
	payload_decoder_reset(e->reader.decoder);
	r = plan_resolve(&s->plan, &s->journal, &s->window, e->reader.decoder);
	if (r == -EAGAIN)
		source_commit(s); /* terms go on where they were */
	if (r < 0)
		return r;
	if (s->plan.root && s->plan.root->empty)
		return 0;
	if (s->plan.root && s->journal.header.state != JOURNAL_STATE_ARCHIVED) {
		/* Sets of data objects can be ahead of the snapshot that n_entries is. */
		struct entry_object entry;

		r = source_last_entry(s, &entry);
		if (r == -EAGAIN)
			return r;
		s->horizon = r == 0 ? entry.offset : 0;
	}
	return 0;
}

/* The place is one of an entry's numbers. */
#define SOURCE_PLACE_TEST(name, member)                                                            \
	static int name(const void *userdata, const struct journal *j, struct window *w,           \
			uint64_t entry_offset, int *ret_order)                                     \
	{                                                                                          \
		const uint64_t *value = userdata;                                                  \
		struct entry_object entry;                                                         \
		int r = object_entry(j, w, entry_offset, &entry);                                  \
                                                                                                   \
		if (r < 0)                                                                         \
			return r;                                                                  \
		*ret_order = (entry.member > *value) - (entry.member < *value);                    \
		return 0;                                                                          \
	}

/* Compare an element with a place: by sequence number, monotonic time, realtime. */
SOURCE_PLACE_TEST(source_test_seqnum, seqnum)
SOURCE_PLACE_TEST(source_test_monotonic, monotonic)
SOURCE_PLACE_TEST(source_test_realtime, realtime)

/* The index in the global chain of the place where reading starts in the given direction: of the
 * first element to be read, or one past it when reading backward. */
static int source_place_index(struct source *s, chain_test_fn test, uint64_t value, bool backward,
			      uint64_t *ret_index)
{
	return chain_bisect(&s->chain, &s->journal, &s->window, test, &value, backward, ret_index);
}

/* The entries of the boot that a place names. 1, 0: the file does not have it; -EAGAIN. */
static int source_boot_chain(struct source *s, const struct engine_seek *seek,
			     struct chain *ret_chain)
{
	char text[9 + JSCAN_ID_TEXT_SIZE] = "_BOOT_ID=";
	struct data_object data;
	jscan_id id;
	int r;

	memcpy(id.bytes, seek->boot_id.bytes, sizeof(id.bytes));
	jscan_id_format(&id, text + 9);
	r = lookup_data(&s->journal, &s->window, s->engine->reader.decoder, text, 9 + 32,
			journal_hash(&s->journal, text, 9 + 32), &data);
	if (r <= 0)
		return r == -EAGAIN || r == -ENOMEM ? r : 0;
	chain_init_data(ret_chain, &data);
	return 1;
}

/*
 * Specification 8.2, steps 3 and 5: by a boot's own set of entries. 1: *ret_index; 0: the file does
 * not have that boot, or nothing on this side of the place in it.
 */
static int source_place_monotonic(struct source *s, const struct engine_seek *seek, bool backward,
				  uint64_t *ret_index)
{
	struct chain chain;
	uint64_t i, offset;
	bool beyond;
	int r = source_boot_chain(s, seek, &chain);

	if (r <= 0)
		return r;
	r = chain_bisect(&chain, &s->journal, &s->window, source_test_monotonic,
			 &seek->monotonic, backward, &i);
	if (r < 0)
		return r == -EAGAIN ? r : 0;
	beyond = backward ? i == 0 : i >= chain.count;
	if (chain.count == 0 || (beyond && seek->has_realtime))
		return 0;
	if (beyond) /* past the boot's last entry, before its first */
		i = backward ? 0 : chain.count - 1;
	else if (backward)
		i--;
	r = chain_get(&chain, &s->journal, &s->window, i, &offset);
	if (r <= 0)
		return r == -EAGAIN ? r : 0;
	r = chain_bisect_offset(&s->chain, &s->journal, &s->window, offset, ret_index);
	if (r < 0)
		return r;
	if (backward ? !beyond : beyond)
		++*ret_index;
	return 1;
}

/* True if a place is given by the numbers that this file counts by. */
static bool source_place_is_number(const struct source *s, const struct engine_seek *seek)
{
	return seek->has_seqnum && id128_equal(&seek->seqnum_id, &s->journal.header.seqnum_id);
}

/* Specification 8.2: where reading starts in this file. */
static int source_start_index(struct source *s, const struct engine_seek *seek, bool backward,
			      uint64_t *ret_index)
{
	int r;

	switch (seek->kind) {
	case SEEK_HEAD:
		*ret_index = 0;
		return 0;
	case SEEK_TAIL:
		*ret_index = s->chain.count;
		return 0;
	case SEEK_PLACE:
		break;
	}
	r = bounds_place(s, seek, backward, ret_index);
	if (r != 0)
		return r < 0 ? r : 0;
	if (source_place_is_number(s, seek))
		return source_place_index(s, source_test_seqnum, seek->seqnum, backward, ret_index);
	if (seek->has_monotonic) {
		r = source_place_monotonic(s, seek, backward, ret_index);
		if (r != 0)
			return r < 0 ? r : 0;
	}
	if (seek->has_realtime)
		return source_place_index(s, source_test_realtime, seek->realtime, backward,
					  ret_index);
	/* A file without the boot has nothing to show; one with other numbers everything. */
	*ret_index = backward != seek->has_monotonic ? s->chain.count : 0;
	return 0;
}

/* With a plan: where to begin to look, INDEX being that of the global chain. 0: nowhere;
 * -EAGAIN. */
static int source_place_offset(struct source *s, uint64_t index, uint64_t *ret_offset)
{
	bool backward = s->walk.backward;
	uint64_t at = backward ? index - 1 : index;

	*ret_offset = 0;
	/* Empty slots stand where a chain claims more than it has: passed over, within reason. */
	for (unsigned n = 0; n < SOURCE_OFFSETS && at < s->chain.count && *ret_offset == 0; n++) {
		int r = chain_get(&s->chain, &s->journal, &s->window, at, ret_offset);

		if (r == -EAGAIN)
			return r;
		if (r < 0)
			*ret_offset = backward ? UINT64_MAX - 1 : 1;
		at = backward ? at - 1 : at + 1;
	}
	if (backward && index > 0 && *ret_offset == 0)
		*ret_offset = UINT64_MAX - 1;
	return 0;
}

/* Specification 9.3: with a plan, a place is looked for among the entries that match. 0; -EAGAIN.
 */
static int source_place_matching(struct source *s, const struct engine_seek *seek,
				 uint64_t *ret_offset)
{
	struct plan_place place = { .test = source_test_realtime, .userdata = &seek->realtime };
	struct chain boot;
	int r;

	if (source_place_is_number(s, seek)) {
		place.test = source_test_seqnum;
		place.userdata = &seek->seqnum;
	} else if (seek->has_monotonic) {
		r = source_boot_chain(s, seek, &boot);
		if (r < 0)
			return r;
		place.boot = r > 0 ? &boot : NULL;
		place.boot_test = source_test_monotonic;
		place.boot_userdata = &seek->monotonic;
	}
	r = plan_locate(&s->plan, &s->journal, &s->window, &place, s->walk.backward, ret_offset);
	if (r <= 0)
		*ret_offset = 0;
	return r == -EAGAIN || r == -ENOMEM ? r : 0;
}

/* True if the matching entries can be bisected for a place. */
static bool source_can_place_matching(const struct source *s, const struct engine_seek *seek)
{
	return s->plan.root && seek->kind == SEEK_PLACE && !s->walk.consumed_offset &&
	       (seek->has_realtime || source_place_is_number(s, seek));
}

int source_step_locate(struct source *s)
{
	struct source_walk *walk = &s->walk;
	struct jscan *e = s->engine;
	uint64_t index = 0, offset = 0;
	bool seeks = s->plan.root || s->passes; /* offsets, not elements of the global chain */
	const struct engine_seek *seek = walk->from_first ? &e->first_place : &e->seek;
	bool matching = source_can_place_matching(s, seek);
	int r;

	if (walk->located)
		return 0;
	if (s->plan.root && s->plan.root->empty) {
		s->candidate = CANDIDATE_NONE;
		s->drained = true;
		walk->located = true;
		return 0;
	}
	if (walk->consumed_offset) /* turned round in tail mode: from the oldest entry taken, on */
		r = chain_bisect_offset(&s->chain, &s->journal, &s->window, walk->consumed_offset,
					&index);
	else if (matching)
		r = source_place_matching(s, seek, &offset);
	else
		r = source_start_index(s, seek, walk->backward, &index);
	if (r == -EAGAIN || r == -ENOMEM)
		return r;
	if (r < 0) {
		problem_report(s, JSCAN_REASON_CHAIN, r, s->journal.header.entry_array_offset,
			       "no position can be found in its entries");
		index = walk->backward ? s->chain.count : 0;
	}
	if (seeks && !matching && !walk->consumed_offset && e->seek.kind != SEEK_PLACE) {
		/* From an end: the terms' own entries say where that is. */
		offset = walk->backward ? UINT64_MAX - 1 : 1;
	} else if (seeks && !matching) {
		r = source_place_offset(s, index, &offset);
		if (r < 0)
			return r;
	}
	walk->index = index;
	walk->from = offset;
	walk->at = walk->count = 0;
	walk->consumed_offset = 0;
	walk->last_offset = 0;
	walk->entry_bytes = 0;
	walk->located = true;
	s->candidate = CANDIDATE_UNKNOWN;
	return 0;
}

void source_rewind(struct source *s, bool backward)
{
	s->walk.backward = backward;
	s->walk.located = s->walk.from_first = false;
	s->drained = s->error != 0;
	s->candidate = s->error ? CANDIDATE_NONE : CANDIDATE_UNKNOWN;
	s->streaming = false;
	s->window.run_begin = s->window.run_end = 0;
}

void source_resume(struct source *s, uint64_t index)
{
	struct source_walk *walk = &s->walk;

	plan_done(&s->plan);
	s->plan.ready = true;
	s->horizon = UINT64_MAX;
	walk->backward = false;
	walk->located = true;
	walk->index = index;
	walk->at = walk->count = 0;
	walk->entry_bytes = 0;
	s->drained = false;
	s->candidate = CANDIDATE_UNKNOWN;
}

int source_find_position(struct source *s, const struct engine_position *position,
			 uint64_t *ret_index)
{
	const struct engine_seek seek = {
		.kind = SEEK_PLACE,
		.has_seqnum = true,
		.has_monotonic = true,
		.has_realtime = true,
		.seqnum_id = position->seqnum_id,
		.boot_id = position->entry.boot_id,
		.seqnum = position->entry.seqnum,
		.monotonic = position->entry.monotonic,
		.realtime = position->entry.realtime,
	};

	return source_start_index(s, &seek, false, ret_index);
}

int source_find_after(struct source *s, uint64_t seqnum, uint64_t *ret_index)
{
	return source_place_index(s, source_test_seqnum, seqnum, true, ret_index);
}

/* Reports the damage that ended a chain. */
static void source_report_chain(struct source *s, int error)
{
	problem_report(s, JSCAN_REASON_CHAIN, error, s->chain.damage_offset,
		       "an entry array cannot be read");
}

/*
 * Reports that the element at FIRST, one of those being looked for, cannot be read. The chain may
 * be shorter now; if it goes on, the next look is behind that element, or, with *ret_low as the
 * lowest index to look at, between it and where the walk is.
 */
static void source_step_over(struct source *s, uint64_t first, int error, uint64_t *ret_low)
{
	struct source_walk *walk = &s->walk;

	source_report_chain(s, error);
	if (first >= s->chain.count)
		return;
	if (!walk->backward) {
		walk->index = first + 1;
	} else if (first + 1 < walk->index) {
		*ret_low = first + 1;
	} else {
		walk->index = first;
		*ret_low = 0;
	}
}

/* Fills walk->offsets with the elements that come next. 1, 0 at the end, -EAGAIN. */
static int source_fill(struct source *s)
{
	struct source_walk *walk = &s->walk;
	uint64_t first, low = 0;
	int r;

	walk->at = walk->count = 0;
	for (;;) {
		if (walk->backward) {
			if (walk->index > s->chain.count)
				walk->index = s->chain.count;
			if (walk->index == 0)
				return 0;
			first = walk->index > SOURCE_OFFSETS ? walk->index - SOURCE_OFFSETS : 0;
			first = first < low ? low : first;
		} else {
			first = walk->index;
		}
		r = chain_get_many(&s->chain, &s->journal, &s->window, first,
				   walk->backward ? (unsigned)(walk->index - first)
						  : SOURCE_OFFSETS,
				   walk->offsets);
		while (walk->backward && r > 0 && first + (uint64_t)r < walk->index) {
			first += (uint64_t)r; /* an array ends in between: its successor first */
			r = chain_get_many(&s->chain, &s->journal, &s->window, first,
					   (unsigned)(walk->index - first), walk->offsets);
		}
		if (r == -EAGAIN)
			return r;
		if (r < 0)
			source_step_over(s, first, r, &low);
		else if (r > 0)
			break;
		else if (!walk->backward || walk->index <= s->chain.count)
			return 0;
	}
	walk->count = (unsigned)r;
	if (walk->backward) {
		walk->index = first;
		walk->at = walk->count;
	} else {
		walk->index += (uint64_t)r;
	}
	return 1;
}

/* The offset of the next entry, not consumed. 1, 0, -EAGAIN. */
static inline int source_peek_offset(struct source *s, uint64_t *ret_offset)
{
	struct source_walk *walk = &s->walk;
	int r;

	if (unlikely(s->passes))
		return walk->from && grep_scan_next(s->grep_scan, walk->from, walk->backward,
						    ret_offset);
	if (unlikely(s->plan.root != NULL)) {
		if (walk->from == 0)
			return 0;
		r = plan_next(&s->plan, &s->journal, &s->window, walk->from, walk->backward,
			      s->horizon, ret_offset);
		return format_error_is_soft(r) ? 0 : r;
	}
	if (walk->backward ? walk->at == 0 : walk->at == walk->count) {
		r = source_fill(s);
		if (r <= 0)
			return r;
	}
	*ret_offset = walk->offsets[walk->backward ? walk->at - 1 : walk->at];
	if (!walk->backward && likely(walk->at + SOURCE_PREFETCH < walk->count))
		__builtin_prefetch((const void *)((uintptr_t)s->window.base +
						  walk->offsets[walk->at + SOURCE_PREFETCH]));
	return 1;
}

/* Goes past the offset that source_peek_offset() gave. */
static inline void source_skip_offset(struct source *s, uint64_t offset)
{
	struct source_walk *walk = &s->walk;

	if (s->plan.root || s->passes)
		walk->from = walk->backward ? offset - 1 : offset + 1;
	else if (walk->backward)
		walk->at--;
	else
		walk->at++;
}

/* Tests an entry against the match by its fields: the reference path of JSCAN_PLAN_SCAN. */
static int source_filter(struct source *s, const struct entry_object *entry, bool *ret_wanted)
{
	struct jscan *e = s->engine;
	int r = reader_load(&e->reader, &s->journal, &s->window, 0, entry,
			    &(const struct reader_filter){ .all = true });

	if (r < 0)
		return r;
	e->stats.entries_tested++;
	return reader_matches(&e->reader, &e->match, ret_wanted);
}

/* The boot's number in the table of boots; the last one is remembered. */
static inline int source_boot_number(struct source *s, const struct id128 *boot_id, uint32_t *ret)
{
	int r;

	if (unlikely(!s->last_boot_known || !id128_equal(boot_id, &s->last_boot_id))) {
		r = order_boot_number(&s->engine->order, boot_id, &s->last_boot);
		if (r < 0)
			return r;
		s->last_boot_id = *boot_id;
		s->last_boot_known = true;
	}
	*ret = s->last_boot;
	return 0;
}

int source_step_candidate(struct source *s)
{
	bool filter = s->engine->match.root && !s->plan.root;
	struct source_walk *walk = &s->walk;
	uint64_t offset;
	bool wanted;
	int r;

	for (;;) {
		r = source_peek_offset(s, &offset);
		if (r < 0)
			return r;
		if (r == 0) {
			s->candidate = CANDIDATE_NONE;
			return 0;
		}
		if (unlikely(walk->last_offset && (walk->backward ? offset >= walk->last_offset
								  : offset <= walk->last_offset))) {
			if (walk->index - walk->count + walk->at < s->replayed_end) {
				walk->at++; /* the plan has had it */
				continue;
			}
			problem_report(s, JSCAN_REASON_CHAIN, -EBADMSG, offset,
				       "an entry array goes back");
			source_skip_offset(s, offset);
			continue;
		}
		r = object_entry(&s->journal, &s->window, offset, &s->entry);
		if (unlikely(r < 0 && r != -EAGAIN && follow_doubts_entry(s, offset)))
			continue;
		if (r == 0 && unlikely(walk->entry_bytes + s->entry.size >
				       SOURCE_OVERLAP_MAX * s->window.size_bytes)) {
			problem_report(s, JSCAN_REASON_LIMIT, -EBADMSG, offset,
				       "its entries together are larger than the file");
			s->candidate = CANDIDATE_NONE;
			return 0;
		}
		wanted = true;
		if (r == 0 && unlikely(filter))
			r = source_filter(s, &s->entry, &wanted);
		if (r == -EAGAIN || r == -ENOMEM)
			return r;
		source_skip_offset(s, offset);
		if (r == 0)
			walk->entry_bytes += s->entry.size;
		if (r == 0 && wanted)
			break;
		if (r < 0)
			problem_report(s, JSCAN_REASON_OBJECT, r, offset,
				       "an entry cannot be read");
		source_commit(s);
	}
	walk->last_offset = offset;
	s->key.seqnum = s->entry.seqnum;
	s->key.realtime = s->entry.realtime;
	s->key.monotonic = s->entry.monotonic;
	s->key.xor_hash = s->entry.xor_hash;
	s->key.seqnum_id = s->seqnum_id;
	r = source_boot_number(s, &s->entry.boot_id, &s->key.boot);
	if (r < 0)
		return r;
	s->candidate = CANDIDATE_THERE;
	return 1;
}

void source_consume(struct source *s)
{
	assert(s->candidate == CANDIDATE_THERE);
	s->candidate = CANDIDATE_UNKNOWN;
	s->walk.consumed_offset = s->entry.offset;
}

/* Sets up read-ahead for a source that is going to be streamed. */
static void source_begin_streaming(struct source *s)
{
	const struct journal_header *h = &s->journal.header;
	uint64_t begin = h->header_size, end = journal_end(&s->journal, s->image.size_bytes);
	uint64_t distance, tables[2][2] = {
		{ h->field_hash_table_offset, h->field_hash_table_size },
		{ h->data_hash_table_offset, h->data_hash_table_size },
	};

	s->streaming = true;
	/* Hash tables stand at the beginning of a file and are not needed by a scan. */
	for (int i = 0; i < 2; i++) {
		if (tables[i][0] < begin + 4096 && tables[i][1] < end - tables[i][0])
			begin = tables[i][0] + tables[i][1];
	}
	if (h->tail_object_offset < end && h->tail_object_offset >= begin)
		end = end - h->tail_object_offset > SOURCE_TAIL_BYTES ?
			      h->tail_object_offset + SOURCE_TAIL_BYTES : end;
	readahead_init(&s->readahead, begin, end, s->walk.backward);
	/* With few files open there is memory to begin with large requests. */
	distance = s->engine->options.memory_bytes / 4 / (s->engine->open_count + 1);
	if (distance > READAHEAD_REQUEST_BYTES)
		distance = READAHEAD_REQUEST_BYTES;
	if (distance > s->readahead.distance_bytes)
		s->readahead.distance_bytes = distance;
}

int source_step_next(struct source *s)
{
	struct jscan *e = s->engine;
	int r;

	if (!s->streaming && e->streams && !s->plan.root && !s->passes &&
	    s->candidate != CANDIDATE_NONE)
		source_begin_streaming(s);
	if (s->candidate != CANDIDATE_UNKNOWN)
		return s->candidate == CANDIDATE_THERE;
	if (!s->walk.located) {
		r = source_step_locate(s);
		if (r < 0)
			return r;
		if (s->candidate == CANDIDATE_NONE)
			return 0;
	}
	return source_step_candidate(s);
}
