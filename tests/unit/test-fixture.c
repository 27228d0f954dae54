/* SPDX-License-Identifier: MIT */
/*
 * The journal writer, checked by reading back what it wrote: with the plain reader of
 * tests/support, which follows the format's text and shares nothing with the writer but offsets and
 * hashes.
 */
#include <criterion/criterion.h>
#include <criterion/new/assert.h>
#include <criterion/parameterized.h>
#include <stdio.h>
#include <stdlib.h>
#include <zstd.h>

#include "tests/support/layouts.h"
#include "tests/support/walk.h"

/* Checks one data object: payload, hash, field list and the set of entries that have it. */
static void check_data(const struct fixture *fx, const struct walk *w, uint64_t data)
{
	uint64_t n = walk_get64(w, data + DATA_N_ENTRIES), set[STORY_ENTRIES], used, last;
	uint64_t item = 0, field, list;
	uint8_t payload[STORY_TEXT_SIZE];
	size_t size = walk_payload(w, data, payload, sizeof(payload));
	char name[64] = "";

	cr_assert(eq(u64, walk_get64(w, data + DATA_HASH), walk_hash(w, payload, size)));
	cr_assert(eq(u64, fixture_find_data(fx, payload, size), data));
	memcpy(name, payload, (size_t)((uint8_t *)memchr(payload, '=', size) - payload));
	field = fixture_find_field(fx, name);
	cr_assert(walk_has(w, OBJECT_FIELD, field));
	for (list = walk_get64(w, field + FIELD_HEAD_DATA_OFFSET); list != data;) {
		/* The newest comes first, so the list descends. */
		cr_assert(gt(u64, list, data));
		list = walk_get64(w, list + DATA_NEXT_FIELD_OFFSET);
	}

	cr_assert(gt(u64, n, 0));
	cr_assert(le(u64, n, STORY_ENTRIES));
	set[0] = walk_get64(w, data + DATA_ENTRY_OFFSET);
	last = walk_chain(w, walk_get64(w, data + DATA_ENTRY_ARRAY_OFFSET), n - 1, set + 1, &used);
	if (w->compact) {
		cr_assert(eq(u64, walk_get32(w, data + DATA_TAIL_ENTRY_ARRAY_OFFSET), last));
		cr_assert(eq(u64, walk_get32(w, data + DATA_TAIL_ENTRY_ARRAY_N_ENTRIES), used));
	}
	for (uint64_t e = 0; e < w->counts[OBJECT_ENTRY]; e++) {
		uint64_t entry = w->offsets[OBJECT_ENTRY][e];

		for (uint64_t i = 0; i < walk_capacity(w, entry); i++) {
			if (walk_item(w, entry, i) != data)
				continue;
			cr_assert(lt(u64, item, n));
			cr_assert(eq(u64, set[item++], entry));
		}
	}
	cr_assert(eq(u64, item, n));
}

/* Checks one entry: items ascend and are what was submitted, the hash is the sum of theirs. */
static void check_entry(const struct fixture *fx, const struct walk *w, unsigned index)
{
	uint64_t entry = w->offsets[OBJECT_ENTRY][index], count = walk_capacity(w, entry), last = 0;
	struct fixture_field fields[STORY_FIELDS];
	char texts[STORY_FIELDS][STORY_TEXT_SIZE], id[33], boot[64];
	struct id128 boot_id;
	uint64_t xor = 0;

	story_fields(index, fields, texts);
	/* Eight fields, one of them twice, and the two IDs. */
	cr_assert(eq(u64, count, 9));
	for (uint64_t i = 0; i < count; i++) {
		uint64_t data = walk_item(w, entry, i);

		cr_assert(walk_has(w, OBJECT_DATA, data));
		cr_assert(gt(u64, data, last));
		cr_assert(lt(u64, data, entry));
		if (!w->compact)
			cr_assert(eq(u64, walk_get64(w, entry + ENTRY_ITEMS + i * 16 + 8),
				     walk_get64(w, data + DATA_HASH)));
		last = data;
	}
	for (unsigned i = 0; i < 8; i++) {
		uint64_t data = fixture_find_data(fx, fields[i].data, fields[i].size), at = 0;

		while (at < count && walk_item(w, entry, at) != data)
			at++;
		cr_assert(lt(u64, at, count), "field %u is missing", i);
		xor ^= hash_jenkins(fields[i].data, fields[i].size);
	}
	memcpy(boot_id.bytes, w->bytes + entry + ENTRY_BOOT_ID, 16);
	fixture_id_text(&boot_id, id);
	snprintf(boot, sizeof(boot), "_BOOT_ID=%s", id);
	cr_assert(ne(u64, fixture_find_text(fx, boot), 0));
	xor ^= hash_jenkins(boot, strlen(boot));
	boot_id = fixture_id(2);
	fixture_id_text(&boot_id, id);
	snprintf(boot, sizeof(boot), "_MACHINE_ID=%s", id);
	xor ^= hash_jenkins(boot, strlen(boot));
	cr_assert(eq(u64, walk_get64(w, entry + ENTRY_XOR_HASH), xor));
	cr_assert(eq(u64, walk_get64(w, entry + ENTRY_SEQNUM), index < 7 ? index + 1 : index + 93));
	cr_assert(eq(u64, walk_get64(w, entry + ENTRY_REALTIME),
		     FIXTURE_REALTIME + index * FIXTURE_STEP));
}

/* Checks what the header says against what the walk found. */
static void check_header(const struct fixture *fx, const struct walk *w, const struct layout *l)
{
	static const struct {
		unsigned field;
		enum object_type type;
	} counters[] = {
		{ HEADER_N_OBJECTS, OBJECT_ANY }, { HEADER_N_ENTRIES, OBJECT_ENTRY },
		{ HEADER_N_DATA, OBJECT_DATA },   { HEADER_N_FIELDS, OBJECT_FIELD },
		{ HEADER_N_TAGS, OBJECT_TAG },    { HEADER_N_ENTRY_ARRAYS, OBJECT_ENTRY_ARRAY },
	};
	uint64_t entry = w->offsets[OBJECT_ENTRY][STORY_ENTRIES - 1], size = fixture_size(fx);
	const uint8_t *bytes = w->bytes;

	cr_assert(eq(int, memcmp(bytes, "LPKSHHRH", 8), 0));
	cr_assert(eq(u64, walk_header(w, HEADER_HEADER_SIZE), l->header_size));
	cr_assert(eq(u64, walk_header(w, HEADER_ARENA_SIZE), size - l->header_size));
	cr_assert(eq(u8, bytes[HEADER_STATE], l->state));
	for (unsigned i = 0; i < sizeof(counters) / sizeof(counters[0]); i++) {
		if (l->header_size >= counters[i].field + 8)
			cr_assert(eq(u64, walk_header(w, counters[i].field),
				     w->counts[counters[i].type]),
				  "counter at %u", counters[i].field);
	}
	cr_assert(eq(u64, walk_header(w, HEADER_TAIL_OBJECT_OFFSET), w->tail));
	cr_assert(eq(u64, walk_header(w, HEADER_HEAD_ENTRY_SEQNUM), 1));
	cr_assert(eq(u64, walk_header(w, HEADER_TAIL_ENTRY_SEQNUM),
		     walk_get64(w, entry + ENTRY_SEQNUM)));
	cr_assert(eq(u64, walk_header(w, HEADER_HEAD_ENTRY_REALTIME), FIXTURE_REALTIME));
	cr_assert(eq(u64, walk_header(w, HEADER_TAIL_ENTRY_REALTIME),
		     walk_get64(w, entry + ENTRY_REALTIME)));
	cr_assert(eq(u64, walk_header(w, HEADER_TAIL_ENTRY_MONOTONIC),
		     walk_get64(w, entry + ENTRY_MONOTONIC)));
	cr_assert(eq(int,
		     memcmp(bytes + HEADER_TAIL_ENTRY_BOOT_ID, bytes + entry + ENTRY_BOOT_ID, 16),
		     0));
	if (l->header_size >= HEADER_SIZE_MAX)
		cr_assert(eq(u64, walk_header(w, HEADER_TAIL_ENTRY_OFFSET), entry));
	for (uint64_t at = HEADER_SIZE_MAX; at < l->header_size; at++)
		cr_assert(eq(u8, bytes[at], 0x5a));
	cr_assert(eq(u64, w->end, fixture_end(fx)));
	if (l->preallocate_bytes)
		cr_assert(eq(u64, size % l->preallocate_bytes, 0));
	for (uint64_t at = w->end; at < size; at++)
		cr_assert(eq(u8, bytes[at], 0));
}

/* Checks a chain depth of the header: links that some lookup followed, and the object at the end of
 * the deepest chain may not have been looked up again. */
static void check_depth(uint64_t stored, uint64_t deepest)
{
	cr_assert(le(u64, stored, deepest));
	cr_assert(ge(u64, stored + 1, deepest));
}

ParameterizedTestParameters(fixture, structure_is_what_the_format_says)
{
	return cr_make_param_array(struct layout, layouts, LAYOUT_COUNT);
}

ParameterizedTest(struct layout *l, fixture, structure_is_what_the_format_says)
{
	struct fixture *fx;
	struct walk *w;
	uint64_t entries[STORY_ENTRIES], used, last, deepest;

	if (!fixture_can_compress(l->compression))
		cr_skip_test("this build has no XZ");
	fx = story_new(l);
	w = walk_new(fixture_bytes(fx), fixture_size(fx));
	check_header(fx, w, l);
	cr_assert(eq(u64, w->counts[OBJECT_ENTRY], STORY_ENTRIES));
	last = walk_chain(w, walk_header(w, HEADER_ENTRY_ARRAY_OFFSET), STORY_ENTRIES, entries,
			  &used);
	if (l->header_size >= HEADER_TAIL_ENTRY_ARRAY_OFFSET + 4) {
		cr_assert(eq(u64, fixture_get32(fx, HEADER_TAIL_ENTRY_ARRAY_OFFSET), last));
		cr_assert(eq(u64, fixture_get32(fx, HEADER_TAIL_ENTRY_ARRAY_N_ENTRIES), used));
	}
	for (unsigned i = 0; i < STORY_ENTRIES; i++) {
		cr_assert(eq(u64, entries[i], w->offsets[OBJECT_ENTRY][i]));
		cr_assert(eq(u64, entries[i], fixture_find_entry(fx, i)));
		check_entry(fx, w, i);
	}
	deepest = walk_table(w, OBJECT_DATA, HEADER_DATA_HASH_TABLE_OFFSET);
	if (l->header_size >= HEADER_DATA_HASH_CHAIN_DEPTH + 8)
		check_depth(walk_header(w, HEADER_DATA_HASH_CHAIN_DEPTH), deepest);
	deepest = walk_table(w, OBJECT_FIELD, HEADER_FIELD_HASH_TABLE_OFFSET);
	if (l->header_size >= HEADER_FIELD_HASH_CHAIN_DEPTH + 8)
		check_depth(walk_header(w, HEADER_FIELD_HASH_CHAIN_DEPTH), deepest);
	for (uint64_t i = 0; i < w->counts[OBJECT_DATA]; i++)
		check_data(fx, w, w->offsets[OBJECT_DATA][i]);
	fixture_free(fx);
	walk_free(w);
}

ParameterizedTestParameters(fixture, same_story_gives_same_bytes)
{
	return cr_make_param_array(struct layout, layouts, LAYOUT_COUNT);
}

ParameterizedTest(struct layout *l, fixture, same_story_gives_same_bytes)
{
	struct fixture *a, *b;

	if (!fixture_can_compress(l->compression))
		cr_skip_test("this build has no XZ");
	a = story_new(l);
	b = story_new(l);
	cr_assert(eq(sz, fixture_size(a), fixture_size(b)));
	cr_assert(eq(int, memcmp(fixture_bytes(a), fixture_bytes(b), fixture_size(a)), 0));
	fixture_free(a);
	fixture_free(b);
}

/* ---- single claims ------------------------------------------------------------------------ */

Test(fixture, arrays_grow_as_the_real_ones_do)
{
	static const uint64_t capacities[] = { 4, 8, 26, 78, 234, 702 };
	struct fixture *fx = fixture_new(NULL);
	struct walk *w;
	char text[32];

	for (unsigned i = 0; i < 1000; i++) {
		snprintf(text, sizeof(text), "N=%u", i);
		fixture_add(fx, NULL, text, "ALL=1", NULL);
	}
	fixture_finish(fx);
	w = walk_new(fixture_bytes(fx), fixture_size(fx));
	for (unsigned i = 0; i < 6; i++) {
		uint64_t data = fixture_find_text(fx, "ALL=1");

		cr_assert(eq(u64, walk_capacity(w, fixture_find_array(fx, i)), capacities[i]));
		cr_assert(eq(u64, walk_capacity(w, fixture_find_data_array(fx, data, i)),
			     capacities[i]));
	}
	cr_assert(eq(u64, fixture_find_array(fx, 6), 0));
	walk_free(w);
	fixture_free(fx);
}

Test(fixture, growing_by_steps_gives_the_file_written_at_once)
{
	struct fixture *a = fixture_new(&(struct fixture_options){ .preallocate_bytes = 4096 });
	struct fixture *b = fixture_new(&(struct fixture_options){ .preallocate_bytes = 4096 });
	char text[32];

	for (unsigned i = 0; i < 300; i++) {
		snprintf(text, sizeof(text), "N=%u", i);
		fixture_add(a, NULL, text, "ALL=1", NULL);
		fixture_add(b, NULL, text, "ALL=1", NULL);
		fixture_finish(b);
	}
	fixture_finish(a);
	cr_assert(eq(sz, fixture_size(a), fixture_size(b)));
	cr_assert(eq(int, memcmp(fixture_bytes(a), fixture_bytes(b), fixture_size(a)), 0));
	fixture_free(a);
	fixture_free(b);
}

Test(fixture, copied_entries_keep_order_and_repeats)
{
	struct fixture *fx = fixture_new(NULL);
	struct walk *w;
	uint64_t entry;

	fixture_add(fx, NULL, "A=1", "B=1", NULL);
	entry = fixture_add(fx, &(struct fixture_stamp){ .keep_order = true }, "B=1", "C=1", "A=1",
			    "B=1", NULL);
	fixture_finish(fx);
	w = walk_new(fixture_bytes(fx), fixture_size(fx));
	cr_assert(eq(u64, walk_capacity(w, entry), 4));
	cr_assert(eq(u64, walk_item(w, entry, 0), fixture_find_text(fx, "B=1")));
	cr_assert(eq(u64, walk_item(w, entry, 1), fixture_find_text(fx, "C=1")));
	cr_assert(eq(u64, walk_item(w, entry, 2), fixture_find_text(fx, "A=1")));
	cr_assert(eq(u64, walk_item(w, entry, 3), fixture_find_text(fx, "B=1")));
	walk_free(w);
	fixture_free(fx);
}

Test(fixture, payload_without_name_has_no_field)
{
	struct fixture *fx = fixture_new(NULL);

	fixture_add(fx, NULL, "no equals sign", "=nameless", "A=1", NULL);
	fixture_finish(fx);
	cr_assert(eq(sz, fixture_count_objects(fx, OBJECT_DATA), 3));
	cr_assert(eq(sz, fixture_count_objects(fx, OBJECT_FIELD), 1));
	fixture_free(fx);
}

Test(fixture, orphan_has_a_field_and_no_entry)
{
	struct fixture *fx = fixture_new(NULL);
	uint64_t data = fixture_orphan(fx, "A=1", 3);

	fixture_finish(fx);
	cr_assert(eq(u64, fixture_find_text(fx, "A=1"), data));
	cr_assert(eq(u64, fixture_get64(fx, data + DATA_N_ENTRIES), 0));
	cr_assert(eq(u64, fixture_get64(fx, data + DATA_ENTRY_OFFSET), 0));
	cr_assert(eq(u64, fixture_get64(fx, fixture_find_field(fx, "A") + FIELD_HEAD_DATA_OFFSET),
		     data));
	cr_assert(eq(u64, fixture_get64(fx, fixture_find_data_bucket(fx, "A=1", 3)), data));
	cr_assert(eq(u64, fixture_get64(fx, fixture_find_field_bucket(fx, "A")),
		     fixture_find_field(fx, "A")));
	fixture_free(fx);
}

Test(fixture, one_file_can_hold_several_compressions)
{
	struct fixture *fx = fixture_new(NULL);
	char a[600], b[600];

	memset(a, 'a', sizeof(a));
	memcpy(a, "A=", 2);
	memset(b, 'b', sizeof(b));
	memcpy(b, "B=", 2);
	fixture_set_compression(fx, OBJECT_LZ4, 512);
	fixture_entry(fx, NULL, &(struct fixture_field){ a, sizeof(a) }, 1);
	fixture_set_compression(fx, OBJECT_ZSTD, 512);
	fixture_entry(fx, NULL, &(struct fixture_field){ b, sizeof(b) }, 1);
	fixture_finish(fx);
	cr_assert(eq(u32, fixture_get32(fx, HEADER_INCOMPATIBLE_FLAGS),
		     JOURNAL_INCOMPATIBLE_LZ4 | JOURNAL_INCOMPATIBLE_ZSTD));
	cr_assert(eq(u8, fixture_get8(fx, fixture_find_data(fx, a, sizeof(a)) + OBJECT_FLAGS),
		     OBJECT_LZ4));
	cr_assert(eq(u8, fixture_get8(fx, fixture_find_data(fx, b, sizeof(b)) + OBJECT_FLAGS),
		     OBJECT_ZSTD));
	fixture_free(fx);
}

Test(fixture, zstd_frames_announce_their_size_or_not)
{
	char text[600];
	size_t size;
	uint8_t *frame;

	memset(text, 'x', sizeof(text));
	frame = fixture_compress(OBJECT_ZSTD, false, text, sizeof(text), &size);
	cr_assert(eq(u64, ZSTD_getFrameContentSize(frame, size), sizeof(text)));
	free(frame);
	frame = fixture_compress(OBJECT_ZSTD, true, text, sizeof(text), &size);
	cr_assert(eq(u64, ZSTD_getFrameContentSize(frame, size), ZSTD_CONTENTSIZE_UNKNOWN));
	free(frame);
	cr_assert(eq(ptr, fixture_compress(OBJECT_ZSTD, false, "short", 5, &size), NULL));
}

Test(fixture, pokes_change_what_they_name_and_nothing_else)
{
	struct fixture *fx = fixture_new(&(struct fixture_options){ .compact = true });
	uint64_t entry, item, differing = 0;
	uint8_t *before;
	size_t size;

	fixture_add(fx, NULL, "A=1", NULL);
	fixture_add(fx, NULL, "A=2", NULL);
	fixture_finish(fx);
	size = fixture_size(fx);
	before = malloc(size);
	memcpy(before, fixture_bytes(fx), size);

	entry = fixture_find_entry(fx, 1);
	item = fixture_find_item(fx, fixture_find_array(fx, 0), 1);
	cr_assert(eq(u64, fixture_get32(fx, item), entry));
	fixture_put_item(fx, item, 0xffffffff);
	fixture_put64(fx, entry + ENTRY_REALTIME, UINT64_MAX);
	for (size_t i = 0; i < size; i++) {
		bool named = (i >= item && i < item + 4) ||
			     (i >= entry + ENTRY_REALTIME && i < entry + ENTRY_REALTIME + 8);

		cr_assert(eq(u8, fixture_bytes(fx)[i], named ? 0xff : before[i]));
		differing += fixture_bytes(fx)[i] != before[i];
	}
	cr_assert(eq(u64, differing, 12));
	fixture_resize(fx, size - 8);
	cr_assert(eq(sz, fixture_size(fx), size - 8));
	cr_assert(eq(u64, fixture_window(fx).size_bytes, size - 8));
	fixture_free(fx);
	free(before);
}
