/* SPDX-License-Identifier: MIT */
/*
 * A valid file, then one lie: a mutation that knows the format. It walks the file's objects, takes
 * one or the header, and gives one of its fields a value that a reader may stumble over: nothing,
 * too much, itself, another object, one more or one less. Most of a file stays valid, so that the
 * lie is reached.
 */
#include "tests/fuzz/fuzz.h"

#define OBJECTS_MAX 512u

struct lie_field {
	uint16_t offset;
	uint8_t width;
};

static const struct lie_field header_fields[] = {
	{ HEADER_COMPATIBLE_FLAGS, 4 },
	{ HEADER_INCOMPATIBLE_FLAGS, 4 },
	{ HEADER_STATE, 1 },
	{ HEADER_FILE_ID, 8 },
	{ HEADER_TAIL_ENTRY_BOOT_ID, 8 },
	{ HEADER_HEADER_SIZE, 8 },
	{ HEADER_ARENA_SIZE, 8 },
	{ HEADER_DATA_HASH_TABLE_OFFSET, 8 },
	{ HEADER_DATA_HASH_TABLE_SIZE, 8 },
	{ HEADER_FIELD_HASH_TABLE_OFFSET, 8 },
	{ HEADER_FIELD_HASH_TABLE_SIZE, 8 },
	{ HEADER_TAIL_OBJECT_OFFSET, 8 },
	{ HEADER_N_OBJECTS, 8 },
	{ HEADER_N_ENTRIES, 8 },
	{ HEADER_TAIL_ENTRY_SEQNUM, 8 },
	{ HEADER_HEAD_ENTRY_SEQNUM, 8 },
	{ HEADER_ENTRY_ARRAY_OFFSET, 8 },
	{ HEADER_HEAD_ENTRY_REALTIME, 8 },
	{ HEADER_TAIL_ENTRY_REALTIME, 8 },
	{ HEADER_TAIL_ENTRY_MONOTONIC, 8 },
	{ HEADER_N_DATA, 8 },
	{ HEADER_N_FIELDS, 8 },
	{ HEADER_N_TAGS, 8 },
	{ HEADER_N_ENTRY_ARRAYS, 8 },
	{ HEADER_TAIL_ENTRY_ARRAY_OFFSET, 4 },
	{ HEADER_TAIL_ENTRY_ARRAY_N_ENTRIES, 4 },
	{ HEADER_TAIL_ENTRY_OFFSET, 8 },
};

static const struct lie_field data_fields[] = {
	{ DATA_HASH, 8 },
	{ DATA_NEXT_HASH_OFFSET, 8 },
	{ DATA_NEXT_FIELD_OFFSET, 8 },
	{ DATA_ENTRY_OFFSET, 8 },
	{ DATA_ENTRY_ARRAY_OFFSET, 8 },
	{ DATA_N_ENTRIES, 8 },
	{ DATA_PAYLOAD_REGULAR, 8 },
	{ DATA_PAYLOAD_COMPACT, 8 },
};

static const struct lie_field field_fields[] = {
	{ FIELD_HASH, 8 },
	{ FIELD_NEXT_HASH_OFFSET, 8 },
	{ FIELD_HEAD_DATA_OFFSET, 8 },
	{ FIELD_PAYLOAD, 1 },
};

static const struct lie_field entry_fields[] = {
	{ ENTRY_SEQNUM, 8 },    { ENTRY_REALTIME, 8 },   { ENTRY_MONOTONIC, 8 },
	{ ENTRY_BOOT_ID, 8 },   { ENTRY_XOR_HASH, 8 },   { ENTRY_ITEMS, 8 },
	{ ENTRY_ITEMS + 4, 4 }, { ENTRY_ITEMS + 16, 8 },
};

static const struct lie_field array_fields[] = {
	{ ENTRY_ARRAY_NEXT, 8 },      { ENTRY_ARRAY_ITEMS, 8 },      { ENTRY_ARRAY_ITEMS + 4, 4 },
	{ ENTRY_ARRAY_ITEMS + 8, 8 }, { ENTRY_ARRAY_ITEMS + 16, 8 },
};

static const struct lie_field object_fields[] = {
	{ OBJECT_TYPE, 1 },
	{ OBJECT_FLAGS, 1 },
	{ OBJECT_SIZE, 8 },
};

#define LIE_TABLE(table) (table), sizeof(table) / sizeof((table)[0])

/* Loads or stores a number of WIDTH bytes, little endian. */
static uint64_t lie_load(const uint8_t *p, unsigned width)
{
	uint64_t v = 0;

	for (unsigned i = 0; i < width; i++)
		v |= (uint64_t)p[i] << 8 * i;
	return v;
}

static void lie_store(uint8_t *p, unsigned width, uint64_t v)
{
	for (unsigned i = 0; i < width; i++)
		p[i] = (uint8_t)(v >> 8 * i);
}

/* Picks a field of a table. */
static struct lie_field lie_pick(const struct lie_field *fields, size_t count, uint64_t *random)
{
	return fields[fuzz_random(random) % count];
}

/* Picks a field of an object of some type. */
static struct lie_field lie_pick_for(uint8_t type, uint64_t bucket_count, uint64_t *random)
{
	if (fuzz_random(random) % 4 == 0)
		return lie_pick(LIE_TABLE(object_fields), random);
	switch (type) {
	case OBJECT_DATA:
		return lie_pick(LIE_TABLE(data_fields), random);
	case OBJECT_FIELD:
		return lie_pick(LIE_TABLE(field_fields), random);
	case OBJECT_ENTRY:
		return lie_pick(LIE_TABLE(entry_fields), random);
	case OBJECT_ENTRY_ARRAY:
		return lie_pick(LIE_TABLE(array_fields), random);
	case OBJECT_DATA_HASH_TABLE:
	case OBJECT_FIELD_HASH_TABLE:
		/* Half a bucket: head or tail. */
		return (struct lie_field){
			(uint16_t)(HASH_TABLE_ITEMS +
				   fuzz_random(random) % (bucket_count ? 2 * bucket_count : 1) * 8),
			8
		};
	default:
		return lie_pick(LIE_TABLE(object_fields), random);
	}
}

/* A value that hurts, for a field that held OLD, in an object at SELF. */
static uint64_t lie_value(uint64_t old, uint64_t self, uint64_t other, size_t size,
			  uint64_t *random)
{
	static const uint64_t values[] = {
		0,
		1,
		7,
		8,
		15,
		16,
		UINT32_MAX,
		UINT64_C(1) << 32,
		UINT64_C(1) << 55,
		(UINT64_C(1) << 55) - 1,
		UINT64_MAX,
		UINT64_MAX - 7,
		UINT64_MAX - 15,
		INT64_MAX,
	};

	switch (fuzz_random(random) % 12) {
	case 0:
		return self;
	case 1:
	case 2:
	case 3:
		return other;
	case 4:
		return old + 8;
	case 5:
		return old - 8;
	case 6:
		return old + 1;
	case 7:
		return old ^ UINT64_C(1) << fuzz_random(random) % 64;
	case 8:
		return size - size % 8 - 8 * (fuzz_random(random) % 4);
	case 9:
		return old * 2;
	default:
		return values[fuzz_random(random) % (sizeof(values) / sizeof(values[0]))];
	}
}

void fuzz_lie(uint8_t *bytes, size_t size, uint64_t seed)
{
	uint64_t objects[OBJECTS_MAX], self = 0, random = seed;
	struct fuzz_input in = { .bytes = bytes, .size = size };
	struct lie_field field;
	size_t count = 0;

	if (size < HEADER_SIZE_MIN)
		return;
	in.journal.header.header_size = load_le64(bytes + HEADER_HEADER_SIZE);
	for (uint64_t o = 0; count < OBJECTS_MAX && (o = fuzz_next_object(&in, o));)
		objects[count++] = o;
	if (count == 0 || fuzz_random(&random) % 6 == 0) {
		field = lie_pick(LIE_TABLE(header_fields), &random);
	} else {
		self = objects[fuzz_random(&random) % count];
		field = lie_pick_for(bytes[self], load_le64(bytes + self + OBJECT_SIZE) / 16 - 1,
				     &random);
	}
	if (self + field.offset + field.width > size)
		return;
	lie_store(bytes + self + field.offset, field.width,
		  lie_value(lie_load(bytes + self + field.offset, field.width), self,
			    count ? objects[fuzz_random(&random) % count] : 0, size, &random));
}
