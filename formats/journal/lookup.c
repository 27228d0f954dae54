/* SPDX-License-Identifier: MIT */
/*
 * Hash table lookups: specification 3.3, version 262. A table is read by the place that the header
 * gives; its object is not looked at. A chain ascends strictly (an object whose next one does not
 * lie beyond it is broken by 2.3), so that it ends; an object that cannot be read ends it, and what
 * lies behind is as good as absent. What else goes wrong, in the table or in decompressing a
 * candidate, is an error.
 */
#include "formats/journal/journal.h"

/* The first object of the bucket for HASH in a table: 0 if the bucket is empty. */
static int lookup_bucket(struct window *w, uint64_t table_offset, uint64_t table_size,
			 uint64_t hash, uint64_t *ret)
{
	uint64_t bucket_count = table_size / HASH_ITEM_SIZE;
	const uint8_t *p;
	int r;

	if (table_size == 0) {
		*ret = 0;
		return 0;
	}
	if (bucket_count == 0)
		return -EBADMSG;
	/* The reference maps all of the table, so all of it has to be within the file. */
	if (table_offset > w->size_bytes || table_size > w->size_bytes - table_offset)
		return -EADDRNOTAVAIL;
	r = window_get(w, table_offset + hash % bucket_count * HASH_ITEM_SIZE, HASH_ITEM_SIZE, &p);
	if (r < 0)
		return r;
	*ret = load_le64(p);
	return 0;
}

/* Whether a payload is the SIZE bytes DATA: 1 or 0, or why it could not be decoded. What the
 * decoder made of it is forgotten again. */
static int lookup_compare(struct payload_decoder *decoder, const struct payload_view *view,
			  const void *data, size_t size)
{
	uint64_t position = payload_decoder_position(decoder), bytes_size;
	const uint8_t *bytes;
	int r;

	r = payload_decode(decoder, view->compression, view->bytes, view->size, &bytes,
			   &bytes_size);
	if (r >= 0)
		r = bytes_size == size && memcmp(bytes, data, size) == 0;
	payload_decoder_rewind(decoder, position);
	return r;
}

/* Goes on with a chain of data objects where the last call stopped for lack of bytes. */
int lookup_data_resume(const struct journal *j, struct window *w, struct payload_decoder *decoder,
		       const void *data, size_t size, uint64_t hash, uint64_t *position,
		       struct data_object *ret)
{
	uint64_t offset = *position;
	int r;

	if (offset == 0) {
		r = lookup_bucket(w, j->header.data_hash_table_offset,
				  j->header.data_hash_table_size, hash, &offset);
		if (r < 0)
			return r;
	}
	while (offset != 0) {
		struct data_object object;

		*position = offset;
		r = object_data(j, w, offset, &object);
		if (r < 0)
			return format_error_is_soft(r) ? 0 : r;
		if (object.hash == hash) {
			struct payload_view view;

			r = object_payload(j, w, offset, &view);
			if (r < 0)
				return format_error_is_soft(r) ? 0 : r;
			r = lookup_compare(decoder, &view, data, size);
			if (r < 0)
				return r;
			if (r > 0) {
				*ret = object;
				return 1;
			}
		}
		offset = object.next_hash_offset;
	}
	return 0;
}

/* Finds a data object from its bucket on. */
int lookup_data(const struct journal *j, struct window *w, struct payload_decoder *decoder,
		const void *data, size_t size, uint64_t hash, struct data_object *ret)
{
	uint64_t position = 0;

	return lookup_data_resume(j, w, decoder, data, size, hash, &position, ret);
}

/* Finds a field object. Names are never compressed, so the size tells nearly all candidates
 * apart. */
int lookup_field(const struct journal *j, struct window *w, const void *name, size_t size,
		 uint64_t hash, struct field_object *ret)
{
	uint64_t offset;
	int r;

	r = lookup_bucket(w, j->header.field_hash_table_offset, j->header.field_hash_table_size,
			  hash, &offset);
	if (r < 0)
		return r;
	while (offset != 0) {
		struct field_object object;
		const uint8_t *bytes;

		r = object_field(j, w, offset, &object);
		if (r < 0)
			return format_error_is_soft(r) ? 0 : r;
		if (object.hash == hash && object.name_size == size) {
			r = object_field_name(w, &object, &bytes);
			if (r < 0)
				return format_error_is_soft(r) ? 0 : r;
			if (memcmp(bytes, name, size) == 0) {
				*ret = object;
				return 1;
			}
		}
		offset = object.next_hash_offset;
	}
	return 0;
}
