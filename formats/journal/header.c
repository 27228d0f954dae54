/* SPDX-License-Identifier: MIT */
/*
 * The file header: specification 1.3 as version 262 checks it, in its order, since the first check
 * that fails decides how the file is reported. A file shorter than its header says is taken with
 * bounds clamped to what is there. Fields that the header is too short for stay 0 and are not
 * checked; header_has() tells them apart from fields that are 0.
 *
 * The clamped bounds serve the checks only: later looks are bounded by the file's real length.
 */
#include <assert.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>

#include "config.h"
#include "formats/journal/journal.h"

/* What the checks compare with: the header's values, or clamped ones. */
struct header_bounds {
	uint64_t end; /* of the arena */
	uint64_t arena_size;
	uint64_t tail_object; /* no object begins after it */
};

/* Writes the clause that says what is wrong. Returns ERROR. */
__attribute__((format(printf, 3, 4))) static int header_fail(char text[HEADER_DETAIL_SIZE],
							     int error, const char *format, ...)
{
	va_list args;

	va_start(args, format);
	vsnprintf(text, HEADER_DETAIL_SIZE, format, args);
	va_end(args);
	return error;
}

/* Copies an ID. */
static struct id128 header_id(const uint8_t *p)
{
	struct id128 id;

	memcpy(id.bytes, p, sizeof(id.bytes));
	return id;
}

/* The fields that every header has. */
static void header_load_old(const uint8_t *b, struct journal_header *h)
{
	*h = (struct journal_header){
		.compatible_flags = load_le32(b + HEADER_COMPATIBLE_FLAGS),
		.incompatible_flags = load_le32(b + HEADER_INCOMPATIBLE_FLAGS),
		.state = b[HEADER_STATE],
		.file_id = header_id(b + HEADER_FILE_ID),
		.machine_id = header_id(b + HEADER_MACHINE_ID),
		.tail_entry_boot_id = header_id(b + HEADER_TAIL_ENTRY_BOOT_ID),
		.seqnum_id = header_id(b + HEADER_SEQNUM_ID),
		.header_size = load_le64(b + HEADER_HEADER_SIZE),
		.arena_size = load_le64(b + HEADER_ARENA_SIZE),
		.data_hash_table_offset = load_le64(b + HEADER_DATA_HASH_TABLE_OFFSET),
		.data_hash_table_size = load_le64(b + HEADER_DATA_HASH_TABLE_SIZE),
		.field_hash_table_offset = load_le64(b + HEADER_FIELD_HASH_TABLE_OFFSET),
		.field_hash_table_size = load_le64(b + HEADER_FIELD_HASH_TABLE_SIZE),
		.tail_object_offset = load_le64(b + HEADER_TAIL_OBJECT_OFFSET),
		.n_objects = load_le64(b + HEADER_N_OBJECTS),
		.n_entries = load_le64(b + HEADER_N_ENTRIES),
		.tail_entry_seqnum = load_le64(b + HEADER_TAIL_ENTRY_SEQNUM),
		.head_entry_seqnum = load_le64(b + HEADER_HEAD_ENTRY_SEQNUM),
		.entry_array_offset = load_le64(b + HEADER_ENTRY_ARRAY_OFFSET),
		.head_entry_realtime = load_le64(b + HEADER_HEAD_ENTRY_REALTIME),
		.tail_entry_realtime = load_le64(b + HEADER_TAIL_ENTRY_REALTIME),
		.tail_entry_monotonic = load_le64(b + HEADER_TAIL_ENTRY_MONOTONIC),
	};
}

/* A field of 8 bytes that came later, or 0 if it is not there. */
static uint64_t header_later64(const uint8_t *b, size_t size, const struct journal_header *h,
			       unsigned offset)
{
	return header_has(h, offset, 8) && size >= offset + 8 ? load_le64(b + offset) : 0;
}

/* The same of 4 bytes. */
static uint32_t header_later32(const uint8_t *b, size_t size, const struct journal_header *h,
			       unsigned offset)
{
	return header_has(h, offset, 4) && size >= offset + 4 ? load_le32(b + offset) : 0;
}

/* The fields that later versions added one by one. */
static void header_load_later(const uint8_t *b, size_t size, struct journal_header *h)
{
	h->n_data = header_later64(b, size, h, HEADER_N_DATA);
	h->n_fields = header_later64(b, size, h, HEADER_N_FIELDS);
	h->n_tags = header_later64(b, size, h, HEADER_N_TAGS);
	h->n_entry_arrays = header_later64(b, size, h, HEADER_N_ENTRY_ARRAYS);
	h->data_hash_chain_depth = header_later64(b, size, h, HEADER_DATA_HASH_CHAIN_DEPTH);
	h->field_hash_chain_depth = header_later64(b, size, h, HEADER_FIELD_HASH_CHAIN_DEPTH);
	h->tail_entry_array_offset = header_later32(b, size, h, HEADER_TAIL_ENTRY_ARRAY_OFFSET);
	h->tail_entry_array_n_entries =
		header_later32(b, size, h, HEADER_TAIL_ENTRY_ARRAY_N_ENTRIES);
	h->tail_entry_offset = header_later64(b, size, h, HEADER_TAIL_ENTRY_OFFSET);
}

/* Rule O: an object may begin at OFFSET, or there is none. */
static bool header_offset_is_valid(const struct journal_header *h, uint64_t tail_object,
				   uint64_t offset)
{
	return offset == 0 ||
	       ((offset & 7) == 0 && offset >= h->header_size && offset <= tail_object);
}

static bool header_realtime_is_valid(uint64_t t)
{
	return t > 0 && t < JOURNAL_TIME_END;
}

static bool header_monotonic_is_valid(uint64_t t)
{
	return t < JOURNAL_TIME_END;
}

/* Check 6: no flag whose meaning is unknown to this build. */
static int header_check_flags(const struct journal_header *h, char text[HEADER_DETAIL_SIZE])
{
	uint32_t unknown = h->incompatible_flags & ~JOURNAL_INCOMPATIBLE_KNOWN;
	char bits[HEADER_DETAIL_SIZE / 2];
	size_t used = 0;

	if (unknown != 0) {
		for (unsigned bit = 0; bit < 32 && used < sizeof(bits); bit++)
			if (unknown & UINT32_C(1) << bit)
				used += (size_t)snprintf(bits + used, sizeof(bits) - used, "%s%u",
							 used > 0 ? ", " : "", bit);
		return header_fail(text, -EPROTONOSUPPORT, "unknown incompatible flag %s %s (0x%x)",
				   (unknown & (unknown - 1)) != 0 ? "bits" : "bit", bits, unknown);
	}
	if (!HAVE_XZ && (h->incompatible_flags & JOURNAL_INCOMPATIBLE_XZ))
		return header_fail(text, -EPROTONOSUPPORT,
				   "compressed with XZ, which this build lacks");
	return 0;
}

/* Checks 7 to 9. */
static int header_check_form(const struct journal_header *h, char text[HEADER_DETAIL_SIZE])
{
	if (h->state > JOURNAL_STATE_ARCHIVED)
		return header_fail(text, -EBADMSG, "unknown state %u", h->state);
	if (h->header_size < HEADER_SIZE_MIN)
		return header_fail(text, -EBADMSG, "header size %" PRIu64 " is less than %u",
				   h->header_size, HEADER_SIZE_MIN);
	if ((h->compatible_flags & JOURNAL_COMPATIBLE_SEALED) &&
	    !header_has(h, HEADER_N_ENTRY_ARRAYS, 8))
		return header_fail(text, -EBADMSG,
				   "sealed, but the header of %" PRIu64
				   " bytes has no count of entry arrays",
				   h->header_size);
	return 0;
}

/* Check 10: how far the arena reaches, as the header says, or clamped in a truncated file. */
static int header_find_bounds(const struct journal_header *h, uint64_t file_size,
			      bool *ret_truncated, struct header_bounds *ret,
			      char text[HEADER_DETAIL_SIZE])
{
	uint64_t end = h->header_size + h->arena_size;

	if (end < h->header_size)
		return header_fail(text, -ENODATA,
				   "header size %" PRIu64 " and arena size %" PRIu64 " overflow",
				   h->header_size, h->arena_size);
	*ret_truncated = end > file_size;
	if (!*ret_truncated) {
		*ret = (struct header_bounds){
			.end = end,
			.arena_size = h->arena_size,
			.tail_object = h->tail_object_offset,
		};
		return 0;
	}

	end = file_size & ~UINT64_C(7);
	if (end < h->header_size || end - h->header_size < OBJECT_HEADER_SIZE)
		return header_fail(text, -ENODATA,
				   "file of %" PRIu64
				   " bytes ends in or right after its header of %" PRIu64,
				   file_size, h->header_size);
	*ret = (struct header_bounds){
		.end = end,
		.arena_size = end - h->header_size,
		.tail_object = h->tail_object_offset < end - OBJECT_HEADER_SIZE
				       ? h->tail_object_offset
				       : end - OBJECT_HEADER_SIZE,
	};
	return 0;
}

/* Rule H, for the table called NAME. */
static int header_check_table(const struct journal_header *h, const struct header_bounds *bounds,
			      const char *name, uint64_t offset, uint64_t size,
			      char text[HEADER_DETAIL_SIZE])
{
	if (offset == 0 && size == 0)
		return 0;
	if (offset <= OBJECT_HEADER_SIZE || size == 0 ||
	    !header_offset_is_valid(h, bounds->tail_object, offset - OBJECT_HEADER_SIZE) ||
	    size > bounds->end - (offset - OBJECT_HEADER_SIZE))
		return header_fail(text, -ENODATA,
				   "%s hash table at %" PRIu64 " of %" PRIu64
				   " bytes is not within the file",
				   name, offset, size);
	return 0;
}

/* Checks 11 to 14: where things are. */
static int header_check_places(const struct journal_header *h, const struct header_bounds *bounds,
			       char text[HEADER_DETAIL_SIZE])
{
	int r;

	if (!header_offset_is_valid(h, UINT64_MAX, bounds->tail_object))
		return header_fail(text, -ENODATA, "invalid tail object offset %" PRIu64,
				   bounds->tail_object);
	if (bounds->end < bounds->tail_object ||
	    bounds->end - bounds->tail_object < OBJECT_HEADER_SIZE)
		return header_fail(text, -ENODATA,
				   "tail object at %" PRIu64
				   " is not before the arena's end at %" PRIu64,
				   bounds->tail_object, bounds->end);
	r = header_check_table(h, bounds, "data", h->data_hash_table_offset,
			       h->data_hash_table_size, text);
	if (r < 0)
		return r;
	r = header_check_table(h, bounds, "field", h->field_hash_table_offset,
			       h->field_hash_table_size, text);
	if (r < 0)
		return r;
	if (!header_offset_is_valid(h, bounds->tail_object, h->entry_array_offset))
		return header_fail(text, -ENODATA, "invalid entry array offset %" PRIu64,
				   h->entry_array_offset);
	return 0;
}

/* Check 15: the last array of the global chain, and COUNT items of it. */
static int header_check_tail_array(const struct journal_header *h,
				   const struct header_bounds *bounds, uint64_t count,
				   char text[HEADER_DETAIL_SIZE])
{
	uint64_t tail = h->tail_entry_array_offset;
	bool compact = h->incompatible_flags & JOURNAL_INCOMPATIBLE_COMPACT;

	if (!header_has(h, HEADER_TAIL_ENTRY_ARRAY_OFFSET, 4))
		return 0;
	if (!header_offset_is_valid(h, bounds->tail_object, tail) || tail < h->entry_array_offset ||
	    (h->entry_array_offset == 0 && tail != 0))
		return header_fail(text, -ENODATA, "invalid tail entry array offset %" PRIu64,
				   tail);
	if ((tail == 0) != (count == 0))
		return header_fail(text, -ENODATA,
				   "tail entry array at %" PRIu64 " with %" PRIu64 " entries", tail,
				   count);
	if (count * (compact ? 4 : 8) > bounds->end - tail)
		return header_fail(text, -ENODATA,
				   "tail entry array at %" PRIu64 " with %" PRIu64
				   " entries ends past the arena's end",
				   tail, count);
	return 0;
}

/* Check 16: the last entry, and what the header repeats of it. */
static int header_check_tail_entry(const struct journal_header *h,
				   const struct header_bounds *bounds,
				   char text[HEADER_DETAIL_SIZE])
{
	if (!header_has(h, HEADER_TAIL_ENTRY_OFFSET, 8))
		return 0;
	if (!header_offset_is_valid(h, bounds->tail_object, h->tail_entry_offset))
		return header_fail(text, -ENODATA, "invalid tail entry offset %" PRIu64,
				   h->tail_entry_offset);
	if (h->tail_entry_offset != 0) {
		if (id128_is_null(&h->tail_entry_boot_id))
			return header_fail(text, -ENODATA, "a tail entry without a boot ID");
		if (!header_realtime_is_valid(h->head_entry_realtime) ||
		    !header_realtime_is_valid(h->tail_entry_realtime))
			return header_fail(text, -ENODATA,
					   "invalid realtime of first or last entry: %" PRIu64
					   ", %" PRIu64,
					   h->head_entry_realtime, h->tail_entry_realtime);
		if (!header_monotonic_is_valid(h->tail_entry_monotonic))
			return header_fail(text, -ENODATA,
					   "invalid monotonic time of last entry: %" PRIu64,
					   h->tail_entry_monotonic);
		return 0;
	}
	if (h->head_entry_realtime != 0 || h->tail_entry_realtime != 0 ||
	    h->tail_entry_monotonic != 0)
		return header_fail(text, -ENODATA, "times of entries, but no tail entry");
	if ((h->compatible_flags & JOURNAL_COMPATIBLE_TAIL_ENTRY_BOOT_ID) &&
	    !id128_is_null(&h->tail_entry_boot_id))
		return header_fail(text, -ENODATA, "boot ID of a tail entry, but no tail entry");
	return 0;
}

/* Checks 18 and 19: absent counts are 0, and pass. */
static int header_check_counts(const struct journal_header *h, char text[HEADER_DETAIL_SIZE])
{
	const struct {
		const char *name;
		uint64_t count;
	} counts[] = {
		{ "entries", h->n_entries },           { "data objects", h->n_data },
		{ "field objects", h->n_fields },      { "tag objects", h->n_tags },
		{ "entry arrays", h->n_entry_arrays },
	};

	for (size_t i = 0; i < sizeof(counts) / sizeof(counts[0]); i++)
		if (counts[i].count > h->n_objects)
			return header_fail(text, -ENODATA,
					   "%" PRIu64 " %s among %" PRIu64 " objects",
					   counts[i].count, counts[i].name, h->n_objects);
	if (h->tail_entry_array_n_entries > h->n_entries)
		return header_fail(text, -ENODATA,
				   "%u entries in the tail entry array of %" PRIu64 " in all",
				   h->tail_entry_array_n_entries, h->n_entries);
	return 0;
}

/* Checks 6 to 19, in order. TAIL_COUNT is what stands in the place of the tail array's count: the
 * reference looks there even if the header ends before it. */
static int header_check(const struct journal_header *h, uint64_t tail_count, uint64_t file_size,
			bool *ret_truncated, char text[HEADER_DETAIL_SIZE])
{
	struct header_bounds bounds = { 0 };
	int r;

	r = header_check_flags(h, text);
	if (r < 0)
		return r;
	r = header_check_form(h, text);
	if (r < 0)
		return r;
	r = header_find_bounds(h, file_size, ret_truncated, &bounds, text);
	if (r < 0)
		return r;
	r = header_check_places(h, &bounds, text);
	if (r < 0)
		return r;
	if (!*ret_truncated) {
		r = header_check_tail_array(h, &bounds, tail_count, text);
		if (r < 0)
			return r;
		r = header_check_tail_entry(h, &bounds, text);
		if (r < 0)
			return r;
		if (h->n_objects > bounds.arena_size / OBJECT_HEADER_SIZE)
			return header_fail(text, -ENODATA,
					   "%" PRIu64 " objects in an arena of %" PRIu64 " bytes",
					   h->n_objects, bounds.arena_size);
	}
	return header_check_counts(h, text);
}

/* Parses the header and derives from it what decoders need to know. */
int header_parse(const uint8_t *bytes, size_t size, uint64_t file_size, struct journal *ret_journal,
		 char text[HEADER_DETAIL_SIZE])
{
	struct journal_header h;
	uint64_t tail_count = 0;
	bool truncated = false;
	int r;

	text[0] = '\0';
	if (file_size < HEADER_SIZE_MIN)
		return header_fail(text, -ENODATA,
				   "file of %" PRIu64 " bytes is shorter than a header", file_size);
	assert(size >= HEADER_SIZE_MIN && size <= file_size);
	if (memcmp(bytes, JOURNAL_SIGNATURE, JOURNAL_SIGNATURE_SIZE) != 0)
		return header_fail(text, -EBADMSG, "no journal signature");

	header_load_old(bytes, &h);
	header_load_later(bytes, size, &h);
	if (size >= HEADER_TAIL_ENTRY_ARRAY_N_ENTRIES + 4)
		tail_count = load_le32(bytes + HEADER_TAIL_ENTRY_ARRAY_N_ENTRIES);
	r = header_check(&h, tail_count, file_size, &truncated, text);
	if (r < 0)
		return r;

	*ret_journal = (struct journal){
		.header = h,
		.compact = h.incompatible_flags & JOURNAL_INCOMPATIBLE_COMPACT,
		.keyed = h.incompatible_flags & JOURNAL_INCOMPATIBLE_KEYED_HASH,
		.truncated = truncated,
	};
	ret_journal->item_size = ret_journal->compact ? 4 : 8;
	ret_journal->entry_item_size =
		ret_journal->compact ? ENTRY_ITEM_SIZE_COMPACT : ENTRY_ITEM_SIZE_REGULAR;
	ret_journal->data_payload =
		ret_journal->compact ? DATA_PAYLOAD_COMPACT : DATA_PAYLOAD_REGULAR;
	return 0;
}

/* The end of the arena, or of the file if that comes first. */
uint64_t journal_end(const struct journal *j, uint64_t file_size)
{
	uint64_t end = j->header.header_size + j->header.arena_size;

	return end < j->header.header_size || end > file_size ? file_size : end;
}
