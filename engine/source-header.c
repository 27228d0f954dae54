/* SPDX-License-Identifier: MIT */
/*
 * What a source learns of its file before it looks for entries, step by step: the header, the
 * newest entry, the terms of the match. A step may run many times before it answers; it changes the
 * source at its end only, or where doing so twice makes no difference. Where reading starts is
 * found in source-place.c.
 */
#include <sys/stat.h>

#include "engine/engine.h"
#include "engine/follow.h"
#include "engine/source.h"
#include "engine/unpack.h"

/* How often the header of a file that is being written is read again before it is refused. */
#define HEADER_TRIES 4u
/* Items of the newest entry that are searched for the machine's ID: more than any entry has. */
#define SOURCE_MACHINE_ITEMS_MAX 4096u

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

	if (!s->image_there)
		return source_open_image(s) == 0;
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
