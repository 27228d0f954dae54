/* SPDX-License-Identifier: MIT */
/*
 * Verification of files that are not what they say: a valid file with one lie in it fails with the
 * line that version 262 has for it, whatever of the file is in memory. One function tells each lie;
 * a table has the lines.
 */
#include <criterion/criterion.h>
#include <criterion/new/assert.h>
#include <criterion/parameterized.h>

#include "tests/support/verify-file.h"

struct lie {
	const char *text;                     /* how the first line begins */
	uint64_t (*tell)(struct fixture *fx); /* returns the line's offset */
	int error;
	struct fixture_options options;
};

/* Data object INDEX of those in the chain of VERIFY_SMALL_SHARED's bucket, counted from its end. */
static uint64_t chain_from_end(const struct fixture *fx, uint64_t bucket, unsigned index)
{
	uint64_t at[64], count = 0;

	for (uint64_t p = fixture_get64(fx, bucket); p;
	     p = fixture_get64(fx, p + DATA_NEXT_HASH_OFFSET))
		at[count++] = p;
	cr_assert(gt(u64, count, index));
	return at[count - 1 - index];
}

static uint64_t shared_bucket(const struct fixture *fx)
{
	return fixture_find_data_bucket(fx, VERIFY_SMALL_SHARED, strlen(VERIFY_SMALL_SHARED));
}

/* Sets 64 bits at OFFSET of the object at AT, and returns AT. */
static uint64_t set(struct fixture *fx, uint64_t at, unsigned offset, uint64_t value)
{
	fixture_put64(fx, at + offset, value);
	return at;
}

static uint64_t header_count(struct fixture *fx, unsigned offset)
{
	fixture_put64(fx, offset, fixture_get64(fx, offset) - 1);
	return offset;
}

#define LIE(name) static uint64_t tell_##name(struct fixture *fx)

LIE(unknown_extension)
{
	fixture_put32(fx, HEADER_COMPATIBLE_FLAGS, 1u << 7);
	return VERIFY_NO_OFFSET;
}

LIE(reserved_byte)
{
	fixture_put8(fx, 20, 1);
	return 20;
}

LIE(object_type)
{
	uint64_t at = fixture_find_text(fx, VERIFY_SMALL_SINGLE);

	fixture_put8(fx, at, 9);
	return at;
}

LIE(object_size)
{
	return set(fx, fixture_find_text(fx, VERIFY_SMALL_SINGLE), OBJECT_SIZE, 1 << 20);
}

LIE(tail_pointer)
{
	uint64_t tail = fixture_get64(fx, HEADER_TAIL_OBJECT_OFFSET);

	fixture_put64(fx, HEADER_TAIL_OBJECT_OFFSET, tail - 8);
	fixture_put64(fx, HEADER_TAIL_ENTRY_OFFSET,
		      fixture_find_entry(fx, VERIFY_SMALL_ENTRIES - 2));
	return HEADER_TAIL_OBJECT_OFFSET;
}

LIE(payload)
{
	return verify_small_change_payload(fx);
}

LIE(field_name)
{
	uint64_t at = fixture_find_field(fx, "PRIORITY");

	fixture_put8(fx, at + FIELD_PAYLOAD, 'Q');
	return at;
}

/* The long payload, which is the one that is compressed. */
static uint64_t compressed(const struct fixture *fx)
{
	for (size_t i = 0;; i++) {
		uint64_t at = fixture_find_object(fx, OBJECT_DATA, i);

		if (fixture_get8(fx, at + OBJECT_FLAGS) & OBJECT_COMPRESSED_MASK)
			return at;
	}
}

LIE(compressed_payload)
{
	uint64_t at = compressed(fx);

	fixture_put64(fx, at + DATA_PAYLOAD_REGULAR, UINT64_MAX / 3);
	return at;
}

LIE(two_compressions)
{
	uint64_t at = compressed(fx);

	fixture_put8(fx, at + OBJECT_FLAGS, OBJECT_ZSTD | OBJECT_LZ4);
	return at;
}

LIE(compressed_entry)
{
	uint64_t at = fixture_find_entry(fx, 2);

	fixture_put8(fx, at + OBJECT_FLAGS, OBJECT_ZSTD);
	return at;
}

LIE(unannounced_compression)
{
	fixture_put32(fx, HEADER_INCOMPATIBLE_FLAGS, 0);
	return compressed(fx);
}

LIE(no_item)
{
	uint64_t at = fixture_find_entry(fx, 2);

	fixture_put_item(fx, fixture_find_item(fx, at, 1), 0);
	return at;
}

LIE(array_item)
{
	uint64_t at = fixture_find_array(fx, 0);

	fixture_put_item(fx, fixture_find_item(fx, at, 2), 1001);
	return at;
}

/* The object that holds a table. */
static uint64_t table(const struct fixture *fx, enum object_type type)
{
	return fixture_find_object(fx, type, 0);
}

LIE(bucket_head)
{
	return set(fx, table(fx, OBJECT_DATA_HASH_TABLE), HASH_TABLE_ITEMS, 1001);
}

LIE(bucket_tail)
{
	return set(fx, table(fx, OBJECT_FIELD_HASH_TABLE), HASH_TABLE_ITEMS + 8, 1001);
}

LIE(bucket_half)
{
	return set(fx, table(fx, OBJECT_DATA_HASH_TABLE), HASH_TABLE_ITEMS + 8, 0);
}

LIE(next_hash)
{
	uint64_t at = fixture_find_text(fx, VERIFY_SMALL_SINGLE);

	return set(fx, at, DATA_NEXT_HASH_OFFSET, at);
}

LIE(head_seqnum)
{
	fixture_put64(fx, HEADER_HEAD_ENTRY_SEQNUM, 2);
	return fixture_find_entry(fx, 0);
}

LIE(seqnum)
{
	return set(fx, fixture_find_entry(fx, 5), ENTRY_SEQNUM, 5);
}

LIE(monotonic)
{
	return set(fx, fixture_find_entry(fx, 5), ENTRY_MONOTONIC, 1);
}

LIE(head_realtime)
{
	fixture_put64(fx, HEADER_HEAD_ENTRY_REALTIME, FIXTURE_REALTIME + 1);
	return fixture_find_entry(fx, 0);
}

LIE(table_offset)
{
	fixture_put64(fx, HEADER_DATA_HASH_TABLE_OFFSET,
		      fixture_get64(fx, HEADER_DATA_HASH_TABLE_OFFSET) + 8);
	return table(fx, OBJECT_DATA_HASH_TABLE);
}

LIE(table_size)
{
	fixture_put64(fx, HEADER_FIELD_HASH_TABLE_SIZE, 16);
	return table(fx, OBJECT_FIELD_HASH_TABLE);
}

LIE(tag)
{
	fixture_put32(fx, HEADER_COMPATIBLE_FLAGS, JOURNAL_COMPATIBLE_TAIL_ENTRY_BOOT_ID);
	return fixture_find_object(fx, OBJECT_TAG, 0);
}

LIE(n_objects)
{
	return header_count(fx, HEADER_N_OBJECTS);
}

LIE(n_entries)
{
	return header_count(fx, HEADER_N_ENTRIES);
}

LIE(n_data)
{
	return header_count(fx, HEADER_N_DATA);
}

LIE(n_fields)
{
	return header_count(fx, HEADER_N_FIELDS);
}

LIE(n_tags)
{
	fixture_put64(fx, HEADER_N_TAGS, 1);
	return HEADER_N_TAGS;
}

LIE(n_arrays)
{
	return header_count(fx, HEADER_N_ENTRY_ARRAYS);
}

LIE(main_array)
{
	fixture_put64(fx, HEADER_ENTRY_ARRAY_OFFSET, fixture_find_object(fx, OBJECT_DATA, 0));
	return 0;
}

LIE(tail_seqnum)
{
	fixture_put64(fx, HEADER_TAIL_ENTRY_SEQNUM, 99);
	return HEADER_TAIL_ENTRY_SEQNUM;
}

LIE(tail_monotonic)
{
	fixture_put64(fx, HEADER_TAIL_ENTRY_MONOTONIC, 99);
	return 0;
}

LIE(tail_realtime)
{
	fixture_put64(fx, HEADER_TAIL_ENTRY_REALTIME, 99);
	return 0;
}

LIE(short_chain)
{
	set(fx, fixture_find_array(fx, 0), ENTRY_ARRAY_NEXT, 0);
	return 0;
}

LIE(array)
{
	uint64_t at = fixture_find_array(fx, 1) + 8;

	set(fx, fixture_find_array(fx, 0), ENTRY_ARRAY_NEXT, at);
	return at;
}

LIE(array_order)
{
	uint64_t at = fixture_find_array(fx, 0);

	fixture_put_item(fx, fixture_find_item(fx, at, 2), fixture_find_entry(fx, 0));
	return at;
}

LIE(array_entry)
{
	uint64_t at = fixture_find_array(fx, 0);

	fixture_put_item(fx, fixture_find_item(fx, at, 2), fixture_find_entry(fx, 2) + 8);
	return at;
}

LIE(item)
{
	uint64_t at = fixture_find_entry(fx, 2);

	fixture_put_item(fx, fixture_find_item(fx, at, 1), fixture_find_field(fx, "PRIORITY"));
	return at;
}

LIE(hidden_data)
{
	uint64_t bucket = shared_bucket(fx), head = fixture_get64(fx, bucket);

	fixture_put64(fx, bucket, fixture_get64(fx, head + DATA_NEXT_HASH_OFFSET));
	for (unsigned i = 0; i < VERIFY_SMALL_ENTRIES; i++)
		for (unsigned k = 0; k < 3; k++) {
			uint64_t item = fixture_find_item(fx, fixture_find_entry(fx, i), k);

			if (fixture_get64(fx, item) == head)
				return fixture_find_entry(fx, i);
		}
	cr_fatal("no entry has the data object");
}

LIE(forgotten_entries)
{
	uint64_t data = fixture_find_text(fx, VERIFY_SMALL_SHARED);

	fixture_put64(fx, data + DATA_N_ENTRIES, 1);
	fixture_put64(fx, data + DATA_ENTRY_ARRAY_OFFSET, 0);
	return fixture_find_entry(fx, 1);
}

LIE(chain_to_entry)
{
	uint64_t last = chain_from_end(fx, shared_bucket(fx), 0);
	uint64_t entry = fixture_find_entry(fx, VERIFY_SMALL_ENTRIES - 1);

	set(fx, last, DATA_NEXT_HASH_OFFSET, entry);
	return entry;
}

LIE(chain_to_other)
{
	uint64_t mine = shared_bucket(fx), first = fixture_get64(fx, HEADER_DATA_HASH_TABLE_OFFSET);
	uint64_t last = chain_from_end(fx, mine, 0),
		 end = first + VERIFY_SMALL_BUCKETS * HASH_ITEM_SIZE;

	for (uint64_t b = first; b < end; b += HASH_ITEM_SIZE) {
		uint64_t other = b == mine ? 0 : chain_from_end(fx, b, 0);

		if (other > last) {
			set(fx, last, DATA_NEXT_HASH_OFFSET, other);
			return other;
		}
	}
	cr_fatal("the shared bucket has the last data object");
}

LIE(bucket_tail_object)
{
	uint64_t bucket = shared_bucket(fx);

	fixture_put64(fx, bucket + 8, chain_from_end(fx, bucket, 1));
	return chain_from_end(fx, bucket, 0);
}

LIE(array_of_one)
{
	return set(fx, fixture_find_text(fx, VERIFY_SMALL_SINGLE), DATA_ENTRY_ARRAY_OFFSET,
		   fixture_find_array(fx, 0));
}

LIE(no_entry)
{
	return set(fx, fixture_find_text(fx, VERIFY_SMALL_SINGLE), DATA_ENTRY_OFFSET,
		   fixture_find_entry(fx, 5) + 8);
}

LIE(set_order)
{
	uint64_t data = fixture_find_text(fx, VERIFY_SMALL_SHARED);
	uint64_t array = fixture_find_data_array(fx, data, 0);

	fixture_put_item(fx, fixture_find_item(fx, array, 1), fixture_find_entry(fx, 1));
	return data;
}

LIE(set_entry)
{
	uint64_t data = fixture_find_text(fx, VERIFY_SMALL_SHARED);
	uint64_t array = fixture_find_data_array(fx, data, 0);

	fixture_put_item(fx, fixture_find_item(fx, array, 1), fixture_find_entry(fx, 2) + 8);
	return data;
}

LIE(set_array)
{
	uint64_t data = fixture_find_text(fx, VERIFY_SMALL_SHARED), at = fixture_end(fx);

	/* Behind the tail object, where nothing is: an array that is one in all but its place. */
	fixture_put8(fx, at, OBJECT_ENTRY_ARRAY);
	fixture_put64(fx, at + OBJECT_SIZE, ENTRY_ARRAY_ITEMS + 8 * (VERIFY_SMALL_ENTRIES - 1));
	for (unsigned i = 1; i < VERIFY_SMALL_ENTRIES; i++)
		fixture_put64(fx, at + ENTRY_ARRAY_ITEMS + 8 * (i - 1), fixture_find_entry(fx, i));
	return set(fx, data, DATA_ENTRY_ARRAY_OFFSET, at);
}

LIE(set_length)
{
	return set(fx, fixture_find_text(fx, VERIFY_SMALL_SINGLE), DATA_N_ENTRIES, 3);
}

#define ZSTD                                                                                       \
	{                                                                                          \
		.compression = OBJECT_ZSTD                                                         \
	}
#define LZ4                                                                                        \
	{                                                                                          \
		.compression = OBJECT_LZ4                                                          \
	}

static const struct lie lies[] = {
	{ "Cannot verify file with unknown extensions.",
	  tell_unknown_extension,
	  -EOPNOTSUPP,
	  { 0 } },
	{ "Reserved field is non-zero", tell_reserved_byte, 0, { 0 } },
	{ "Invalid object: Bad message", tell_object_type, 0, { 0 } },
	{ "Invalid object: Cannot assign requested address",
	  tell_object_size,
	  -EADDRNOTAVAIL,
	  { 0 } },
	{ "Invalid tail object pointer (", tell_tail_pointer, 0, { 0 } },
	{ "Invalid hash (", tell_payload, 0, { 0 } },
	{ "Invalid hash (", tell_field_name, 0, { 0 } },
	{ "zstd decompression failed: Bad message", tell_compressed_payload, 0, ZSTD },
	{ "lz4 decompression failed: ", tell_compressed_payload, -EFBIG, LZ4 },
	{ "Invalid object contents: Bad message", tell_two_compressions, 0, ZSTD },
	{ "Found compressed object of type entry that isn't of type data, which is not allowed.",
	  tell_compressed_entry,
	  0,
	  { 0 } },
	{ "ZSTD compressed object in file without ZSTD compression", tell_unannounced_compression,
	  0, ZSTD },
	{ "LZ4 compressed object in file without LZ4 compression", tell_unannounced_compression, 0,
	  LZ4 },
	{ "Invalid entry item (1/3) offset: 000000", tell_no_item, 0, { 0 } },
	{ "Invalid object entry array item (2/4): 0003e9", tell_array_item, 0, { 0 } },
	{ "Invalid data hash table hash table item (0/3) head_hash_offset: 0003e9",
	  tell_bucket_head,
	  0,
	  { 0 } },
	{ "Invalid field hash table hash table item (0/2) tail_hash_offset: 0003e9",
	  tell_bucket_tail,
	  0,
	  { 0 } },
	{ "Invalid data hash table hash table item (0/3): head_hash_offset=",
	  tell_bucket_half,
	  0,
	  { 0 } },
	{ "Invalid object: Bad message", tell_next_hash, 0, { 0 } },
	{ "Head entry sequence number incorrect (1 != 2)", tell_head_seqnum, 0, { 0 } },
	{ "Entry sequence number out of synchronization (5 >= 5)", tell_seqnum, 0, { 0 } },
	{ "Entry timestamp out of synchronization (", tell_monotonic, 0, { 0 } },
	{ "Head entry realtime timestamp incorrect (", tell_head_realtime, 0, { 0 } },
	{ "Header offset for data hash table invalid (", tell_table_offset, 0, { 0 } },
	{ "Header size for field hash table invalid (16 != 32)", tell_table_size, 0, { 0 } },
	{ "Tag object in file without sealing", tell_tag, 0, { .sealed = true } },
	{ "Object number mismatch (", tell_n_objects, 0, { 0 } },
	{ "Entry number mismatch (12 != 11)", tell_n_entries, 0, { 0 } },
	{ "Data number mismatch (14 != 13)", tell_n_data, 0, { 0 } },
	{ "Field number mismatch (3 != 2)", tell_n_fields, 0, { 0 } },
	{ "Tag number mismatch (0 != 1)", tell_n_tags, 0, { 0 } },
	{ "Entry array number mismatch (", tell_n_arrays, 0, { 0 } },
	{ "Missing main entry array", tell_main_array, 0, { 0 } },
	{ "Tail entry sequence number incorrect (12 != 99)", tell_tail_seqnum, 0, { 0 } },
	{ "Invalid tail monotonic timestamp (", tell_tail_monotonic, 0, { 0 } },
	{ "Invalid tail realtime timestamp (", tell_tail_realtime, 0, { 0 } },
	{ "Array chain too short at 4 of 12", tell_short_chain, 0, { 0 } },
	{ "Invalid array 4 of 12", tell_array, 0, { 0 } },
	{ "Entry array not sorted at 2 of 12", tell_array_order, 0, { 0 } },
	{ "Invalid array entry at 2 of 12", tell_array_entry, 0, { 0 } },
	{ "Invalid data object of entry", tell_item, 0, { 0 } },
	{ "Data object missing from hash table", tell_hidden_data, 0, { 0 } },
	{ "Entry object not referenced by linked data object at ",
	  tell_forgotten_entries,
	  0,
	  { 0 } },
	{ "Invalid data object at hash entry ", tell_chain_to_entry, 0, { 0 } },
	{ "Hash value mismatch in hash entry ", tell_chain_to_other, 0, { 0 } },
	{ "Tail hash pointer mismatch in hash table (", tell_bucket_tail_object, 0, { 0 } },
	{ "Entry array present (entry_array_offset=", tell_array_of_one, 0, { 0 } },
	{ "Data object references invalid entry at ", tell_no_entry, 0, { 0 } },
	{ "Data object's entry array not sorted (", tell_set_order, 0, { 0 } },
	{ "Data object references invalid entry at ", tell_set_entry, 0, { 0 } },
	{ "Invalid array offset ", tell_set_array, 0, { .preallocate_bytes = 8192 } },
	{ "Array chain too short", tell_set_length, 0, { 0 } },
};

/* The indices of the lies: parameters are copied, so they cannot be the lies themselves. */
static int lie_indices[sizeof(lies) / sizeof(lies[0])];

ParameterizedTestParameters(verify_lies, each_lie_is_told_by_its_line)
{
	size_t count = sizeof(lies) / sizeof(lies[0]);

	for (size_t i = 0; i < count; i++)
		lie_indices[i] = (int)i;
	return cr_make_param_array(int, lie_indices, count);
}

ParameterizedTest(int *index, verify_lies, each_lie_is_told_by_its_line)
{
	static const enum window_driver_mode modes[] = { WINDOW_DRIVER_WHOLE, WINDOW_DRIVER_BLOCKS,
							 WINDOW_DRIVER_RUN };
	const struct lie *lie = &lies[*index];
	struct fixture *fx = verify_small_new(lie->options);
	struct verify_result result;
	uint64_t offset;

	cr_assert(eq(int, verify_file(fx, WINDOW_DRIVER_WHOLE, NULL, false, &result),
		     lie->options.sealed ? -ENOKEY : 0),
		  "before the lie: %s", result.details[0].text);
	offset = lie->tell(fx);
	for (unsigned i = 0; i < 3; i++) {
		int r = verify_file(fx, modes[i], NULL, false, &result);

		cr_assert(ge(uint, result.detail_count, 1), "%s", lie->text);
		cr_assert(eq(int, strncmp(result.details[0].text, lie->text, strlen(lie->text)), 0),
			  "\"%s\" instead of \"%s\"", result.details[0].text, lie->text);
		cr_assert(eq(u64, result.details[0].offset, offset));
		cr_assert(eq(int, r, lie->error ? lie->error : -EBADMSG));
	}
	fixture_free(fx);
}

Test(verify_lies, contents_that_are_wrong_get_a_second_line)
{
	struct fixture *fx = verify_small_new((struct fixture_options){ 0 });
	uint64_t offset = verify_small_change_payload(fx);
	struct verify_result result;

	verify_file(fx, WINDOW_DRIVER_WHOLE, NULL, false, &result);
	cr_assert(eq(uint, result.detail_count, 2));
	cr_assert(eq(u64, result.details[1].offset, offset));
	cr_assert(eq(str, result.details[1].text, (char *)"Invalid object contents: Bad message"));
	cr_assert(eq(u64, result.error_offset, offset));
	fixture_free(fx);
}
