/* SPDX-License-Identifier: MIT */
/*
 * Names of fields and their values, from the files' own indexes (specification 10.2, 10.3): the
 * field hash table names them, and each field object heads the chain of its data objects, newest
 * first. No entry is looked at. Files are asked in the order in which they were added; what an
 * earlier one has shown is not shown again. Damage ends the chain it is on, and nothing else.
 */
#include <stdlib.h>

#include "engine/engine.h"
#include "engine/fields-ahead.h"
#include "engine/tally.h"

/* Shows a name or a value that has not been shown. 0; 1 to end the listing; -ENOMEM. */
static int fields_show(struct listing *l, const void *bytes, size_t size)
{
	int r = l->several ? seen_add(&l->seen, bytes, size) : 1;

	if (r <= 0)
		return r;
	l->answer = l->callback(l->userdata, bytes, size);
	return l->answer != 0;
}

/* Finds where the values of the field begin in a file. */
static int fields_look_up(struct source *s, struct listing *l)
{
	struct field_object field;
	int r;

	if (l->looked_up)
		return 0;
	r = lookup_field(&s->journal, &s->window, l->name, l->name_size,
			 journal_hash(&s->journal, l->name, l->name_size), &field);
	if (r == -EAGAIN)
		return r;
	l->offset = r > 0 ? field.head_data_offset : 0;
	l->looked_up = true;
	return 0;
}

int fields_payload(struct source *s, uint64_t offset, const uint8_t **ret_bytes, uint64_t *ret_size)
{
	struct payload_decoder *decoder = s->engine->reader.decoder;
	const struct listing *l = &s->engine->listing;
	struct payload_view view;
	int r = object_payload(&s->journal, &s->window, offset, &view);

	if (r < 0)
		return r;
	if (view.compression) {
		payload_decoder_reset(decoder);
		r = payload_decode(decoder, view.compression, view.bytes, view.size, &view.bytes,
				   &view.size);
		if (r < 0)
			return r;
	}
	if (view.size <= l->name_size || view.bytes[l->name_size] != '=' ||
	    memcmp(view.bytes, l->name, l->name_size) != 0)
		return -EBADMSG;
	*ret_bytes = view.bytes + l->name_size + 1;
	*ret_size = view.size - l->name_size - 1;
	return 0;
}

/* Shows the value in a data object, or counts it. 0, 1, or an error. */
static int fields_show_value(struct source *s, struct listing *l, const struct data_object *data)
{
	const uint8_t *bytes;
	uint64_t size;
	int r = fields_payload(s, data->offset, &bytes, &size);

	if (r < 0)
		return r;
	if (l->tally)
		return data->n_entries ? tally_add(l->tally, bytes, size, data->n_entries) : 0;
	return fields_show(l, bytes, size);
}

/* Step: shows what is left of one file's values. 0 when done, 1 to end the listing. */
static int fields_step_values(struct source *s)
{
	struct listing *l = &s->engine->listing;
	struct data_object data;
	int r = fields_look_up(s, l);

	while (r == 0 && l->offset) {
		r = object_data(&s->journal, &s->window, l->offset, &data);
		if (r == 0)
			r = fields_show_value(s, l, &data);
		if (r == -EAGAIN)
			fields_want_more(s, l->offset);
		if (r == -EAGAIN || r == -ENOMEM)
			return r;
		if (r < 0)
			problem_report(s, JSCAN_REASON_PAYLOAD, r, l->offset,
				       "a value cannot be read");
		/* The chain goes back in the file, so it ends. */
		l->offset = format_error_is_soft(r) ? 0 : data.next_field_offset;
		r = r > 0 ? r : 0;
	}
	return r;
}

/* Shows the name in a field object, and goes to the next in its chain. */
static int fields_show_name(struct source *s, struct listing *l)
{
	struct field_object field;
	const uint8_t *name;
	int r = object_field(&s->journal, &s->window, l->offset, &field);

	if (r == 0)
		r = window_get(&s->window, l->offset + FIELD_PAYLOAD, field.name_size, &name);
	if (r == -EAGAIN)
		return r;
	if (r < 0) {
		problem_report(s, JSCAN_REASON_OBJECT, r, l->offset,
			       "a field object cannot be read");
		l->offset = 0;
		return 0;
	}
	r = fields_show(l, name, field.name_size);
	if (r >= 0)
		l->offset = field.next_hash_offset;
	return r;
}

/* Step: shows what is left of one file's names. */
static int fields_step_names(struct source *s)
{
	const struct journal_header *h = &s->journal.header;
	struct listing *l = &s->engine->listing;
	uint64_t count = h->field_hash_table_size / HASH_ITEM_SIZE;
	const uint8_t *bucket;
	int r = 0;

	while (r == 0) {
		if (l->offset) {
			r = fields_show_name(s, l);
			continue;
		}
		if (l->bucket >= count)
			return 0;
		r = window_get(&s->window, h->field_hash_table_offset + l->bucket * HASH_ITEM_SIZE,
			       HASH_ITEM_SIZE, &bucket);
		if (r == 0) {
			l->offset = load_le64(bucket);
			l->bucket++;
		} else if (r != -EAGAIN) {
			problem_report(s, JSCAN_REASON_READ, r, h->field_hash_table_offset,
				       "the field hash table cannot be read");
			return 0;
		}
	}
	return r;
}

/* Shows what has been gathered from a file. */
static int fields_show_found(struct listing *l, const struct listing_found *found)
{
	const uint8_t *bytes;
	size_t size, at = 0;
	int r = 0;

	while (r == 0 && fields_found_next(found, &at, &bytes, &size))
		r = fields_show(l, bytes, size);
	return r;
}

/* A file has been listed: its frames serve the files behind it. */
static void fields_leave(struct source *s, bool last)
{
	if (s->state == SOURCE_OPEN && s->refs == 0 && s->given_fd < 0 && !last)
		source_close(s);
}

/* engine_wait(): goes on with the listing. */
static int fields_step(struct jscan *e)
{
	struct listing *l = &e->listing;
	int r;

	for (; l->file < e->source_count; l->file++) {
		struct source *s = l->files[l->file];

		r = fields_ahead(e);
		if (r < 0)
			return r;
		if (l->found[l->file].whole) {
			r = fields_show_found(l, &l->found[l->file]);
			if (r != 0)
				return r;
		} else if (!s->error) {
			r = source_try(s, l->name ? fields_step_values : fields_step_names);
			if (r == -EAGAIN || r == -EBUSY)
				return -EAGAIN;
			if (r > 0 || r == -ENOMEM)
				return r;
		}
		l->looked_up = false;
		l->bucket = l->offset = 0;
		fields_found_done(&l->found[l->file]);
		fields_leave(s, l->file + 1 == e->source_count);
	}
	return 0;
}

/* A whole listing. */
static int fields_list(struct jscan *e, const char *name, struct tally *tally,
		       jscan_bytes_fn callback, void *userdata)
{
	struct listing *l = &e->listing;
	int r = jscan_open(e);

	if (r < 0)
		return r;
	*l = (struct listing){
		.callback = callback,
		.userdata = userdata,
		.name = name,
		.name_size = name ? strlen(name) : 0,
		.several = e->usable_count > 1,
		.tally = tally,
		.waits = e->waits,
	};
	l->files = calloc(e->source_count + 1, sizeof(*l->files));
	l->found = calloc(e->source_count + 1, sizeof(*l->found));
	r = l->files && l->found ? seen_init(&l->seen) : -ENOMEM;
	if (r == 0) {
		for (size_t i = 0; i < e->source_count; i++)
			l->files[e->sources[i]->added] = e->sources[i];
		r = engine_wait(e, fields_step);
	}
	seen_done(&l->seen);
	for (size_t i = 0; l->found && i < e->source_count; i++)
		fields_found_done(&l->found[i]);
	free(l->found);
	free(l->files);
	l->found = NULL;
	l->files = NULL;
	return r > 0 ? l->answer : r;
}

int jscan_list_field_names(struct jscan *e, jscan_bytes_fn callback, void *userdata)
{
	return callback ? fields_list(e, NULL, NULL, callback, userdata) : -EINVAL;
}

bool fields_name_is_valid(const char *name)
{
	size_t size = strlen(name);

	if (size == 0 || size > 64 || (name[0] == '_' && name[1] == '_'))
		return false;
	for (size_t i = 0; i < size; i++) {
		if (!(name[i] >= 'A' && name[i] <= 'Z') && name[i] != '_' &&
		    !(name[i] >= '0' && name[i] <= '9' && i > 0))
			return false;
	}
	return true;
}

int fields_tally(struct jscan *e, const char *field, struct tally *tally)
{
	return fields_list(e, field, tally, NULL, NULL);
}

int jscan_list_field_values(struct jscan *e, const char *field, jscan_bytes_fn callback,
			    void *userdata)
{
	if (!callback || !field || !fields_name_is_valid(field))
		return -EINVAL;
	return fields_list(e, field, NULL, callback, userdata);
}
