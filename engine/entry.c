/* SPDX-License-Identifier: MIT */
/*
 * Entries as the public interface shows them: views of the fields in a reader, copies of them, IDs
 * and cursors as text.
 */
#include <stdio.h>
#include <stdlib.h>

#include "engine/cursor.h"
#include "engine/engine.h"
#include "engine/pipeline.h"

char *jscan_id_format(const jscan_id *id, char *text)
{
	static const char digits[] = "0123456789abcdef";

	for (size_t i = 0; i < sizeof(id->bytes); i++) {
		text[i * 2] = digits[id->bytes[i] >> 4];
		text[i * 2 + 1] = digits[id->bytes[i] & 15];
	}
	text[JSCAN_ID_TEXT_SIZE - 1] = '\0';
	return text;
}

/* The value of a hex digit, or -1. */
static int id_digit(char c)
{
	if (c >= '0' && c <= '9')
		return c - '0';
	if (c >= 'a' && c <= 'f')
		return c - 'a' + 10;
	if (c >= 'A' && c <= 'F')
		return c - 'A' + 10;
	return -1;
}

int jscan_id_parse(const char *text, jscan_id *ret_id)
{
	jscan_id id;

	for (size_t i = 0; i < sizeof(id.bytes); i++) {
		int high = id_digit(text[i * 2]);
		int low = high < 0 ? -1 : id_digit(text[i * 2 + 1]);

		if (low < 0)
			return -EINVAL;
		id.bytes[i] = (uint8_t)(high << 4 | low);
	}
	if (text[JSCAN_ID_TEXT_SIZE - 1] != '\0')
		return -EINVAL;
	*ret_id = id;
	return 0;
}

void entry_view(struct jscan_entry *view, struct jscan *engine, const struct source *source,
		const struct entry_object *entry, const struct reader *reader)
{
	view->info = (struct jscan_entry_info){
		.size = sizeof(view->info),
		.seqnum = entry->seqnum,
		.realtime_usec = entry->realtime,
		.monotonic_usec = entry->monotonic,
		.hash = entry->xor_hash,
		.path = source->path,
		.offset = entry->offset,
	};
	memcpy(view->info.boot_id.bytes, entry->boot_id.bytes, sizeof(view->info.boot_id.bytes));
	memcpy(view->info.seqnum_id.bytes, source->journal.header.seqnum_id.bytes,
	       sizeof(view->info.seqnum_id.bytes));
	view->fields = reader->fields;
	view->field_count = reader->field_count;
	view->lead = reader->lead;
	view->engine = engine;
	view->grep_begin = view->grep_end = 0;
	view->only = NULL;
	view->incomplete = reader->damage_count > 0;
}

const struct jscan_entry_info *jscan_entry_info(const struct jscan_entry *entry)
{
	return &entry->info;
}

/* The IDs of an entry in the engine's own form. */
static struct id128 entry_id(const jscan_id *id)
{
	struct id128 own;

	memcpy(own.bytes, id->bytes, sizeof(own.bytes));
	return own;
}

char *jscan_entry_cursor(const struct jscan_entry *entry, char *text)
{
	const struct jscan_entry_info *info = &entry->info;
	const struct id128 seqnum_id = entry_id(&info->seqnum_id);
	const struct entry_object object = {
		.seqnum = info->seqnum,
		.realtime = info->realtime_usec,
		.monotonic = info->monotonic_usec,
		.boot_id = entry_id(&info->boot_id),
		.xor_hash = info->hash,
	};

	return cursor_format(&seqnum_id, &object, text);
}

int jscan_position_cursor(const struct jscan *e, char *text)
{
	const struct batch *b = &e->batch;
	bool ended = e->beyond.known && !pipeline_has_rest(e);
	const struct engine_position *position = ended ? &e->beyond : &e->last;
	const struct batch_ref *ref = NULL;

	/* What has been handed on of the batch, if the scan has not ended behind it. */
	if (b->at > 0 && b->at <= b->count)
		ref = &b->refs[b->at - 1];
	if (b->handed && b->at < b->count)
		ref = &b->refs[b->at];
	if (ref && (b->at < b->count || !ended)) {
		cursor_format(&ref->source->journal.header.seqnum_id, &ref->entry, text);
		return 1;
	}
	if (!position->known)
		return 0;
	cursor_format(&position->seqnum_id, &position->entry, text);
	return 1;
}

int jscan_test_cursor(const struct jscan_entry *entry, const char *cursor)
{
	const struct jscan_entry_info *info = &entry->info;
	const struct id128 seqnum_id = entry_id(&info->seqnum_id);
	const struct entry_object object = {
		.seqnum = info->seqnum,
		.realtime = info->realtime_usec,
		.monotonic = info->monotonic_usec,
		.xor_hash = info->hash,
		.boot_id = entry_id(&info->boot_id),
	};
	struct engine_seek seek;
	int r = cursor_parse(cursor, &seek);

	return r < 0 ? r : cursor_is_at(&seek, &seqnum_id, &object);
}

/* Whether a field is shown: a sink that has asked for some fields sees no others, though other
 * sinks may have asked for them. */
static inline bool entry_shows(const struct jscan_entry *entry, const struct output_field *f)
{
	return likely(!entry->only) || output_names_field(entry->only, f->bytes, f->name_size);
}

/* Fills the caller's structure, as much of it as it knows. */
static void entry_field(const struct jscan_entry *entry, size_t index,
			struct jscan_field *ret_field)
{
	const struct output_field *f = &entry->fields[index];
	size_t name_size = f->name_size < f->size ? f->name_size : (size_t)f->size;
	uint64_t value_size = f->name_size < f->size ? f->size - f->name_size - 1 : 0;
	struct jscan_field field = {
		.name = (const char *)f->bytes,
		.name_size = name_size,
		.value = f->bytes + f->size - value_size,
		.value_size = value_size,
		.index = (uint32_t)index,
	};
	size_t size = ret_field->size < sizeof(field) ? ret_field->size : sizeof(field);

	if (value_size > JSCAN_FIELD_WHOLE_MAX) {
		field.flags |= JSCAN_FIELD_LARGE;
		field.value = NULL;
	}
	field.size = ret_field->size;
	memcpy(ret_field, &field, size);
}

int jscan_entry_next_field(const struct jscan_entry *entry, size_t *state,
			   struct jscan_field *ret_field)
{
	while (*state < entry->field_count && !entry_shows(entry, &entry->fields[*state]))
		++*state;
	if (*state >= entry->field_count)
		return 0;
	entry_field(entry, (*state)++, ret_field);
	return 1;
}

int jscan_entry_field(const struct jscan_entry *entry, const char *name,
		      struct jscan_field *ret_field)
{
	size_t size = strlen(name);

	for (size_t i = 0; i < entry->field_count; i++) {
		const struct output_field *f = &entry->fields[i];

		if (f->name_size == size && f->size > size && memcmp(f->bytes, name, size) == 0 &&
		    entry_shows(entry, f)) {
			entry_field(entry, i, ret_field);
			return 1;
		}
	}
	return 0;
}

ssize_t jscan_field_read(const struct jscan_entry *entry, const struct jscan_field *field,
			 uint64_t offset, void *buffer, size_t size)
{
	const struct output_field *f;
	uint64_t value_size;

	if (field->index >= entry->field_count)
		return -EINVAL;
	f = &entry->fields[field->index];
	value_size = f->name_size < f->size ? f->size - f->name_size - 1 : 0;
	if (offset >= value_size)
		return 0;
	if (size > value_size - offset)
		size = value_size - offset;
	if (size > PTRDIFF_MAX)
		size = PTRDIFF_MAX;
	memcpy(buffer, f->bytes + f->size - value_size + offset, size);
	return (ssize_t)size;
}

int jscan_entry_dup(const struct jscan_entry *entry, struct jscan_entry **ret_entry)
{
	size_t path_size = strlen(entry->info.path) + 1;
	size_t size = sizeof(struct jscan_entry) + path_size +
		      entry->field_count * sizeof(struct output_field);
	struct output_field *fields;
	struct jscan_entry *copy;
	uint8_t *bytes;

	for (size_t i = 0; i < entry->field_count; i++) {
		if (!entry_shows(entry, &entry->fields[i]))
			continue;
		if (entry->fields[i].size > SIZE_MAX / 2 - size)
			return -ENOMEM;
		size += entry->fields[i].size;
	}
	copy = malloc(size);
	if (!copy)
		return -ENOMEM;
	*copy = *entry;
	fields = (struct output_field *)(copy + 1);
	bytes = (uint8_t *)(fields + entry->field_count);
	copy->field_count = 0;
	copy->only = NULL;
	for (size_t i = 0; i < entry->field_count; i++) {
		struct output_field *field = &fields[copy->field_count];

		if (!entry_shows(entry, &entry->fields[i]))
			continue;
		*field = entry->fields[i];
		field->bytes = bytes;
		memcpy(bytes, entry->fields[i].bytes, field->size);
		bytes += field->size;
		copy->field_count++;
	}
	memcpy(bytes, entry->info.path, path_size);
	copy->info.path = (const char *)bytes;
	copy->fields = fields;
	copy->lead = (struct output_lead){ NULL, 0, 0 };
	copy->engine = NULL;
	*ret_entry = copy;
	return 0;
}

struct jscan_entry *jscan_entry_free(struct jscan_entry *entry)
{
	free(entry);
	return NULL;
}
