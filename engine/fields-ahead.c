/* SPDX-License-Identifier: MIT */
/*
 * Gathering what a listing of names or values will show, from several files at once. The listing
 * itself (fields.c) goes file by file, since what one has shown decides what the next one shows; a
 * chain takes a read for each of its objects, and those of all files go on side by side here. Each
 * object is looked at once, and what it says is kept until its file's turn comes, but for what has
 * been shown already.
 *
 * Nothing is shown or reported from here. A file that is damaged, that holds absurdly much, or
 * whose values are counted, is gone through by the listing itself.
 */
#include "engine/fields-ahead.h"

#include <stdlib.h>

#include "engine/engine.h"

/* Objects of a chain that lie closer than this are worth reading what is between. */
#define AHEAD_STRIDE_BYTES (UINT64_C(48) << 10)
#define AHEAD_WINDOW_BYTES (UINT64_C(128) << 10)
/* A listing that had to sleep so often reads from a disk. */
#define AHEAD_WAITS 4u
/* Files at once. From a disk as many as keep it busy; from the page cache few, since their frames
 * then serve the next few. Names take little. */
#define AHEAD_VALUE_FILES_MAX 64u
#define AHEAD_NAME_FILES_MAX 256u
#define AHEAD_WARM_FILES_MAX 4u
/* What is kept of one file. */
#define AHEAD_FOUND_BYTES_MAX (1u << 20)
/* A field hash table of systemd's has 333 buckets. */
#define AHEAD_TABLE_BYTES_MAX (64u << 10)

void fields_want_more(struct source *s, uint64_t offset)
{
	uint64_t last = s->listed_miss;

	if (offset > s->window.size_bytes)
		return;
	/* Chains of values go back in the file. From the page cache single blocks are had for less
	 * than what is between them. */
	if (last > offset && last - offset < AHEAD_STRIDE_BYTES &&
	    s->engine->waits - s->engine->listing.waits > AHEAD_WAITS) {
		uint64_t begin = offset > AHEAD_WINDOW_BYTES ? offset - AHEAD_WINDOW_BYTES : 0;

		window_want(&s->window, begin, offset - begin);
		offset = begin;
	}
	s->listed_miss = offset;
}

/* ---- what is found ---------------------------------------------------------------------- */

/* What of a file is kept. */
static struct listing_found *fields_found(struct source *s)
{
	return &s->engine->listing.found[s->added];
}

void fields_found_done(struct listing_found *found)
{
	free(found->chains);
	free(found->bytes);
	*found = (struct listing_found){ 0 };
}

/* Keeps a name or a value, unless it has been shown. 0, -ENOMEM, -E2BIG. */
static int fields_keep(struct source *s, const void *bytes, size_t size)
{
	struct listing_found *found = fields_found(s);
	size_t needed = found->used + sizeof(size) + size;

	if (seen_has(&s->engine->listing.seen, bytes, size))
		return 0;
	if (size > AHEAD_FOUND_BYTES_MAX || needed > AHEAD_FOUND_BYTES_MAX)
		return -E2BIG;
	if (needed > found->room) {
		size_t room = needed < 4096 ? 8192 : 2 * needed;
		uint8_t *more = realloc(found->bytes, room);

		if (!more)
			return -ENOMEM;
		found->bytes = more;
		found->room = room;
	}
	memcpy(found->bytes + found->used, &size, sizeof(size));
	memcpy(found->bytes + found->used + sizeof(size), bytes, size);
	found->used = needed;
	return 0;
}

bool fields_found_next(const struct listing_found *found, size_t *at, const uint8_t **ret_bytes,
		       size_t *ret_size)
{
	size_t size;

	if (*at >= found->used)
		return false;
	memcpy(&size, found->bytes + *at, sizeof(size));
	*ret_bytes = found->bytes + *at + sizeof(size);
	*ret_size = size;
	*at += sizeof(size) + size;
	return true;
}

/* ---- values ----------------------------------------------------------------------------- */

/* Keeps the value in a data object; where it is only counted the look was what mattered. */
static int fields_keep_value(struct source *s, uint64_t offset)
{
	const struct listing *l = &s->engine->listing;
	const uint8_t *bytes;
	uint64_t size;
	int r = fields_payload(s, offset, &bytes, &size);

	return r < 0 || l->tally ? r : fields_keep(s, bytes, size);
}

/* Step: the values of one file; s->listed is the next one. */
static int fields_step_values_ahead(struct source *s)
{
	const struct listing *l = &s->engine->listing;
	struct field_object field;
	struct data_object data;
	int r;

	if (!s->listing_begun) {
		r = lookup_field(&s->journal, &s->window, l->name, l->name_size,
				 journal_hash(&s->journal, l->name, l->name_size), &field);
		if (r == -EAGAIN)
			return r;
		s->listed = r > 0 ? field.head_data_offset : 0;
		s->listed_miss = 0;
		s->listing_begun = true;
	}
	while (s->listed) {
		r = object_data(&s->journal, &s->window, s->listed, &data);
		if (r == 0)
			r = fields_keep_value(s, s->listed);
		if (r == -EAGAIN)
			fields_want_more(s, s->listed);
		if (r == -EAGAIN || r == -ENOMEM)
			return r;
		if (r < 0)
			return 0; /* the listing says why */
		s->listed = data.next_field_offset;
	}
	fields_found(s)->whole = !l->tally;
	return 0;
}

/* ---- names ------------------------------------------------------------------------------ */

/* Notes where the chains of a file's field objects begin, in the order of the table. */
static int fields_begin_names(struct source *s)
{
	const struct journal_header *h = &s->journal.header;
	struct listing_found *found = fields_found(s);
	uint64_t count = h->field_hash_table_size / HASH_ITEM_SIZE;
	const uint8_t *table;
	int r;

	if (count == 0 || count * HASH_ITEM_SIZE > AHEAD_TABLE_BYTES_MAX)
		return -E2BIG;
	r = window_get(&s->window, h->field_hash_table_offset, count * HASH_ITEM_SIZE, &table);
	if (r < 0)
		return r;
	found->chains = calloc(count, sizeof(*found->chains));
	if (!found->chains)
		return -ENOMEM;
	for (uint64_t i = 0; i < count; i++) {
		uint64_t offset = load_le64(table + i * HASH_ITEM_SIZE);

		if (offset)
			found->chains[found->chain_count++] =
				(struct listing_chain){ offset, offset };
	}
	s->listing_begun = true;
	return 0;
}

/* Looks at a chain of field objects, as far as it is there. 0, -EAGAIN, or what is wrong. */
static int fields_follow_chain(struct source *s, struct listing_chain *chain)
{
	struct field_object field;
	const uint8_t *name;
	int r = 0;

	while (chain->at && r == 0) {
		r = object_field(&s->journal, &s->window, chain->at, &field);
		if (r == 0)
			r = object_field_name(&s->window, &field, &name);
		if (r == 0)
			chain->at = field.next_hash_offset;
	}
	return r;
}

/* Keeps the names of a chain that is there. */
static int fields_keep_chain(struct source *s, uint64_t offset)
{
	struct field_object field;
	const uint8_t *name;
	int r = 0;

	while (offset && r == 0) {
		r = object_field(&s->journal, &s->window, offset, &field);
		if (r == 0)
			r = object_field_name(&s->window, &field, &name);
		if (r == 0)
			r = fields_keep(s, name, field.name_size);
		offset = field.next_hash_offset;
	}
	return r;
}

/* Step: the names of one file, all chains at once. */
static int fields_step_names_ahead(struct source *s)
{
	struct listing_found *found = fields_found(s);
	bool lacking = false;
	int r = s->listing_begun ? 0 : fields_begin_names(s);

	if (r < 0)
		return r == -EAGAIN || r == -ENOMEM ? r : 0; /* the listing says why */
	for (size_t i = 0; i < found->chain_count && s->window.want_count < WINDOW_WANTS_MAX; i++) {
		r = fields_follow_chain(s, &found->chains[i]);
		if (r < 0 && r != -EAGAIN)
			return 0;
		lacking = lacking || r < 0;
	}
	if (lacking)
		return -EAGAIN;
	found->used = 0;
	for (size_t i = 0; i < found->chain_count; i++) {
		r = fields_keep_chain(s, found->chains[i].first);
		if (r < 0)
			return r == -EAGAIN || r == -ENOMEM ? r : 0;
	}
	found->whole = true;
	return 0;
}

/* ---- which files ------------------------------------------------------------------------ */

/* Which files the wave is for. */
static bool fields_wants_chosen(const struct source *s)
{
	return s->listing_chosen;
}

/* Chooses the files from that on whose turn it is, as many as there is memory for. */
static void fields_choose(struct jscan *e)
{
	struct listing *l = &e->listing;
	uint64_t bytes = 0;
	size_t end = l->file, most = l->name ? AHEAD_VALUE_FILES_MAX : AHEAD_NAME_FILES_MAX;

	if (engine_reads_memory(e))
		most = AHEAD_WARM_FILES_MAX;
	for (size_t i = 0; i < e->source_count; i++)
		e->sources[i]->listing_chosen = e->sources[i]->listing_begun = false;
	for (; end < e->source_count && end - l->file < most; end++) {
		struct source *s = l->files[end];

		bytes += s->error ? 0 : s->stat.blocks * 512;
		if (end > l->file && bytes > e->options.memory_bytes / 2)
			break;
		s->listing_chosen = !s->error;
	}
	l->ahead = end;
}

int fields_ahead(struct jscan *e)
{
	struct listing *l = &e->listing;

	if (!e->wave_runs) {
		if (l->file < l->ahead)
			return 0;
		fields_choose(e);
		if (l->ahead - l->file < 2)
			return 0;
	}
	return engine_wave(e, l->name ? fields_step_values_ahead : fields_step_names_ahead,
			   fields_wants_chosen);
}
