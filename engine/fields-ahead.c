/* SPDX-License-Identifier: MIT */
/*
 * Bringing in what a listing of names or values is about to look at, for many files at once. The
 * listing itself (fields.c) goes file by file, since what one has shown decides what the next one
 * shows; a chain takes a read for each of its objects, and those of all files go on side by side
 * here. Nothing is shown from here, and what is found is not kept: should blocks have left again by
 * the time they are listed, they are read once more.
 */
#include "engine/fields-ahead.h"

#include "engine/engine.h"

/* Objects of a chain that lie closer than this are worth reading what is between. */
#define AHEAD_STRIDE_BYTES (UINT64_C(48) << 10)
#define AHEAD_WINDOW_BYTES (UINT64_C(128) << 10)
/* A listing that had to sleep so often reads from a disk. */
#define AHEAD_WAITS 4u
/* So many neighbours are taken for a sign that much of all files is needed. */
#define AHEAD_DENSE 32u
/* Files at once. Of values few, since their frames then serve the next few; names take little. */
#define AHEAD_VALUE_FILES_MAX 8u
#define AHEAD_NAME_FILES_MAX 256u

void fields_want_more(struct source *s, uint64_t offset)
{
	uint64_t last = s->listed_miss;

	if (offset > s->window.size_bytes)
		return;
	/* Chains of values go back in the file. */
	if (last > offset && last - offset < AHEAD_STRIDE_BYTES) {
		uint64_t begin = offset > AHEAD_WINDOW_BYTES ? offset - AHEAD_WINDOW_BYTES : 0;
		struct listing *l = &s->engine->listing;

		/* From the page cache single blocks are had for less than what is between them. */
		if (s->engine->waits - l->waits > AHEAD_WAITS) {
			window_want(&s->window, begin, offset - begin);
			offset = begin;
		}
		l->dense++;
	}
	s->listed_miss = offset;
}

/* Step: the values of one file; s->listed is the next one. */
static int fields_step_values_ahead(struct source *s)
{
	const struct listing *l = &s->engine->listing;
	struct field_object field;
	struct payload_view view;
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
			r = object_payload(&s->journal, &s->window, s->listed, &view);
		if (r == -EAGAIN) {
			fields_want_more(s, s->listed);
			return r;
		}
		if (r < 0)
			break; /* the listing says why */
		s->listed = data.next_field_offset;
	}
	return 0;
}

/* Looks at a chain of field objects, as far as it is there. */
static int fields_look_ahead(struct source *s, uint64_t offset)
{
	struct field_object field;
	const uint8_t *name;

	while (offset) {
		int r = object_field(&s->journal, &s->window, offset, &field);

		if (r == 0)
			r = object_field_name(&s->window, &field, &name);
		if (r < 0)
			return r == -EAGAIN ? r : 0;
		offset = field.next_hash_offset;
	}
	return 0;
}

/* Step: the names of one file, all chains at once. */
static int fields_step_names_ahead(struct source *s)
{
	const struct journal_header *h = &s->journal.header;
	uint64_t size = h->field_hash_table_size / HASH_ITEM_SIZE * HASH_ITEM_SIZE;
	const uint8_t *table;
	int result = 0, r;

	if (size == 0 || size > s->engine->options.memory_bytes / 16)
		return 0;
	r = window_get(&s->window, h->field_hash_table_offset, size, &table);
	if (r < 0)
		return r == -EAGAIN ? r : 0;
	for (uint64_t i = 0; i < size && s->window.want_count < WINDOW_WANTS_MAX;
	     i += HASH_ITEM_SIZE)
		if (fields_look_ahead(s, load_le64(table + i)) < 0)
			result = -EAGAIN;
	return result;
}

/* Which files the wave is for. */
static bool fields_wants_chosen(const struct source *s)
{
	return s->listing_chosen;
}

/* Much of the files is going to be read: those that wait are closed, so that the frames of the ones
 * before serve them. */
static void fields_park(struct jscan *e)
{
	for (size_t i = 0; i < e->source_count; i++) {
		struct source *s = e->sources[i];

		if (s->state == SOURCE_OPEN && s->refs == 0 && s->given_fd < 0)
			source_close(s);
	}
	e->listing.parked = true;
}

/* Chooses the files from that on whose turn it is, as many as there is memory for. */
static void fields_choose(struct jscan *e)
{
	struct listing *l = &e->listing;
	uint64_t bytes = 0;
	size_t end = l->file, most = l->name ? AHEAD_VALUE_FILES_MAX : AHEAD_NAME_FILES_MAX;

	if (l->dense >= AHEAD_DENSE && !l->parked)
		fields_park(e);
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
