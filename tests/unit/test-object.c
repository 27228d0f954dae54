/* SPDX-License-Identifier: MIT */
/*
 * Objects: what a good one holds, which error each kind of damage gives, and that both are the same
 * over whole windows and over blocks that come in when wanted. Damage at random is judged by a
 * model that goes through the format's rules one by one.
 */
#include <criterion/criterion.h>
#include <criterion/new/assert.h>
#include <criterion/parameterized.h>

#include "tests/support/layouts.h"
#include "tests/support/window-driver.h"

struct object_case {
	bool compact;
	enum window_driver_mode mode;
};

static struct object_case cases[] = {
	{ false, WINDOW_DRIVER_WHOLE }, { false, WINDOW_DRIVER_BLOCKS },
	{ false, WINDOW_DRIVER_RUN },   { true, WINDOW_DRIVER_WHOLE },
	{ true, WINDOW_DRIVER_BLOCKS }, { true, WINDOW_DRIVER_RUN },
};

#define CASE_COUNT (sizeof(cases) / sizeof(cases[0]))

/* Entries with a long shared field, so that objects reach over blocks. */
static struct fixture *object_file(bool compact)
{
	struct fixture *fx = fixture_new(&(struct fixture_options){ .compact = compact });
	static char text[9000];

	for (unsigned i = 0; i < 20; i++) {
		memset(text, 'a' + (int)(i / 2), sizeof(text) - 1);
		memcpy(text, "LONG=", 5);
		fixture_add(fx, NULL, text, "SHORT=x", NULL);
	}
	fixture_finish(fx);
	return fx;
}

static struct journal object_journal(const struct fixture *fx)
{
	struct window w = fixture_window(fx);
	char text[HEADER_DETAIL_SIZE];
	struct journal j;

	cr_assert(eq(int, header_parse(w.base, HEADER_SIZE_MAX, w.size_bytes, &j, text), 0));
	return j;
}

/* Looks at an object of a type, all of it, and returns what came of it. */
static int object_look_at(const struct journal *j, struct window_driver *d, enum object_type type,
			  uint64_t offset)
{
	struct object_header header;
	struct payload_view view;
	struct data_object data;
	struct field_object field;
	struct entry_object entry;
	struct array_object array;
	int r, other;

	switch (type) {
	case OBJECT_DATA:
		WINDOW_DRIVE(d, r, object_data(j, &d->window, offset, &data));
		WINDOW_DRIVE(d, other, object_payload(j, &d->window, offset, &view));
		cr_assert(eq(int, other, r));
		if (r == 0)
			cr_assert(eq(u64, view.size, data.payload_size));
		return r;
	case OBJECT_FIELD:
		WINDOW_DRIVE(d, r, object_field(j, &d->window, offset, &field));
		return r;
	case OBJECT_ENTRY:
		WINDOW_DRIVE(d, r, object_entry(j, &d->window, offset, &entry));
		return r;
	case OBJECT_ENTRY_ARRAY:
		WINDOW_DRIVE(d, r, object_array(j, &d->window, offset, &array));
		return r;
	default:
		WINDOW_DRIVE(d, r, object_header(j, &d->window, type, offset, &header));
		return r;
	}
}

ParameterizedTestParameters(object, good_ones_hold_what_was_written)
{
	return cr_make_param_array(struct object_case, cases, CASE_COUNT);
}

ParameterizedTest(struct object_case *c, object, good_ones_hold_what_was_written)
{
	struct fixture *fx = object_file(c->compact);
	struct journal j = object_journal(fx);
	struct window_driver *d = window_driver_new(fixture_bytes(fx), fixture_size(fx), c->mode);
	uint64_t offset = fixture_find_entry(fx, 19);
	struct payload_view view;
	struct entry_object entry;
	struct field_object field;
	struct data_object data;
	const uint8_t *p;
	int r;

	WINDOW_DRIVE(d, r, object_entry(&j, &d->window, offset, &entry));
	cr_assert(eq(int, r, 0));
	cr_expect(eq(u64, entry.offset, offset));
	cr_expect(eq(u64, entry.seqnum, 20));
	cr_expect(eq(u64, entry.realtime, FIXTURE_REALTIME + 19 * FIXTURE_STEP));
	cr_expect(eq(u64, entry.monotonic, FIXTURE_MONOTONIC + 19 * FIXTURE_STEP));
	cr_expect(not(id128_is_null(&entry.boot_id)));
	cr_expect(eq(u64, entry.xor_hash, fixture_get64(fx, offset + ENTRY_XOR_HASH)));
	cr_assert(eq(u64, entry.n_items, 2));

	WINDOW_DRIVE(d, r, object_entry_items(&j, &d->window, &entry, 1, 1, &p));
	cr_assert(eq(int, r, 0));
	cr_expect(eq(u64, entry_item(&j, p, 0), fixture_find_object(fx, OBJECT_DATA, 10)));
	WINDOW_DRIVE(d, r, object_payload(&j, &d->window, entry_item(&j, p, 0), &view));
	cr_assert(eq(int, r, 0));
	cr_assert(eq(u64, view.size, 8999));
	cr_expect(eq(u8, view.compression, 0));
	cr_expect(eq(int, memcmp(view.bytes, "LONG=jjjj", 9), 0));
	cr_expect(eq(u8, view.bytes[8998], 'j'));

	WINDOW_DRIVE(d, r, object_data(&j, &d->window, fixture_find_text(fx, "SHORT=x"), &data));
	cr_assert(eq(int, r, 0));
	cr_expect(eq(u64, data.hash, journal_hash(&j, "SHORT=x", 7)));
	cr_expect(eq(u64, data.n_entries, 20));
	cr_expect(eq(u64, data.entry_offset, fixture_find_entry(fx, 0)));
	cr_expect(eq(u64, data.entry_array_offset, fixture_find_data_array(fx, data.offset, 0)));
	cr_expect(eq(u64, data.payload_size, 7));

	WINDOW_DRIVE(d, r, object_field(&j, &d->window, fixture_find_field(fx, "LONG"), &field));
	cr_assert(eq(int, r, 0));
	cr_expect(eq(u64, field.hash, journal_hash(&j, "LONG", 4)));
	cr_expect(eq(u64, field.head_data_offset, fixture_find_object(fx, OBJECT_DATA, 10)));
	cr_assert(eq(u64, field.name_size, 4));
	WINDOW_DRIVE(d, r, object_field_name(&d->window, &field, &p));
	cr_assert(eq(int, r, 0));
	cr_expect(eq(int, memcmp(p, "LONG", 4), 0));
	window_driver_free(d);
	fixture_free(fx);
}

ParameterizedTestParameters(object, arrays_hold_what_was_written)
{
	return cr_make_param_array(struct object_case, cases, CASE_COUNT);
}

ParameterizedTest(struct object_case *c, object, arrays_hold_what_was_written)
{
	struct fixture *fx = object_file(c->compact);
	struct journal j = object_journal(fx);
	struct window_driver *d = window_driver_new(fixture_bytes(fx), fixture_size(fx), c->mode);
	struct array_object array;
	const uint8_t *p;
	int r;

	WINDOW_DRIVE(d, r, object_array(&j, &d->window, j.header.entry_array_offset, &array));
	cr_assert(eq(int, r, 0));
	cr_expect(eq(u64, array.capacity, 4));
	cr_assert(eq(u64, array.next, fixture_find_array(fx, 1)));
	WINDOW_DRIVE(d, r, object_array_items(&j, &d->window, &array, 1, 3, &p));
	cr_assert(eq(int, r, 0));
	for (unsigned i = 0; i < 3; i++)
		cr_expect(eq(u64, array_item(&j, p, i), fixture_find_entry(fx, i + 1)));
	window_driver_free(d);
	fixture_free(fx);
}

Test(object, header_of_any_type_says_which)
{
	struct layout l = { 272, true, true, OBJECT_ZSTD, true, false, JOURNAL_STATE_OFFLINE, 0 };
	struct fixture *fx = story_new(&l);
	struct journal j = object_journal(fx);
	struct window w = fixture_window(fx);
	struct object_header header;

	for (unsigned type = OBJECT_DATA; type <= OBJECT_TAG; type++)
		for (size_t i = 0; i < fixture_count_objects(fx, type); i++) {
			uint64_t offset = fixture_find_object(fx, type, i);

			cr_assert(eq(int, object_header(&j, &w, OBJECT_ANY, offset, &header), 0));
			cr_assert(eq(u8, header.type, type));
			cr_assert(eq(u64, header.size, fixture_get64(fx, offset + OBJECT_SIZE)));
			cr_assert(eq(int, object_header(&j, &w, type, offset, &header), 0));
			cr_assert(eq(int, object_header(&j, &w, type % 7 + 1, offset, &header),
				     -EBADMSG));
		}
	fixture_free(fx);
}

/* One number overwritten in a good object. */
struct object_lie {
	enum object_type type;
	unsigned offset;
	unsigned size;
	uint64_t value;
	bool relative; /* to the object's offset */
	int error;
};

static const struct object_lie lies[] = {
	{ OBJECT_DATA, OBJECT_TYPE, 1, OBJECT_FIELD, false, -EBADMSG },
	{ OBJECT_DATA, OBJECT_TYPE, 1, 0, false, -EBADMSG },
	{ OBJECT_DATA, OBJECT_TYPE, 1, 8, false, -EBADMSG },
	{ OBJECT_DATA, OBJECT_FLAGS, 1, 0x80, false, 0 },
	{ OBJECT_DATA, OBJECT_FLAGS + 1, 1, 0x80, false, 0 },
	{ OBJECT_DATA, OBJECT_SIZE, 8, 15, false, -EBADMSG },
	{ OBJECT_DATA, OBJECT_SIZE, 8, 64, false, -EBADMSG }, /* no payload, or too small */
	{ OBJECT_DATA, OBJECT_SIZE, 8, UINT64_C(1) << 40, false, -EADDRNOTAVAIL },
	{ OBJECT_DATA, OBJECT_SIZE, 8, UINT64_MAX, false, -EBADMSG }, /* overflows */
	{ OBJECT_DATA, DATA_HASH, 8, 0, false, 0 },
	{ OBJECT_DATA, DATA_NEXT_HASH_OFFSET, 8, 0, false, 0 },
	{ OBJECT_DATA, DATA_NEXT_HASH_OFFSET, 8, 0, true, -EBADMSG },
	{ OBJECT_DATA, DATA_NEXT_HASH_OFFSET, 8, 8, true, 0 },
	{ OBJECT_DATA, DATA_NEXT_HASH_OFFSET, 8, 9, true, -EBADMSG },
	{ OBJECT_DATA, DATA_NEXT_HASH_OFFSET, 8, 8, false, -EBADMSG },
	{ OBJECT_DATA, DATA_NEXT_FIELD_OFFSET, 8, 0, true, -EBADMSG },
	{ OBJECT_DATA, DATA_NEXT_FIELD_OFFSET, 8, 8, true, -EBADMSG },
	{ OBJECT_DATA, DATA_NEXT_FIELD_OFFSET, 8, 8, false, 0 },
	{ OBJECT_DATA, DATA_NEXT_FIELD_OFFSET, 8, 4, false, -EBADMSG },
	{ OBJECT_DATA, DATA_ENTRY_OFFSET, 8, 0, false, -EBADMSG },
	{ OBJECT_DATA, DATA_ENTRY_OFFSET, 8, 2, false, -EBADMSG },
	{ OBJECT_DATA, DATA_ENTRY_ARRAY_OFFSET, 8, 1, false, -EBADMSG },
	{ OBJECT_DATA, DATA_N_ENTRIES, 8, 0, false, -EBADMSG },
	{ OBJECT_DATA, DATA_N_ENTRIES, 8, UINT64_MAX, false, 0 },
	{ OBJECT_FIELD, OBJECT_SIZE, 8, 40, false, -EBADMSG },
	{ OBJECT_FIELD, OBJECT_SIZE, 8, 41, false, 0 },
	{ OBJECT_FIELD, FIELD_NEXT_HASH_OFFSET, 8, 0, true, -EBADMSG },
	{ OBJECT_FIELD, FIELD_NEXT_HASH_OFFSET, 8, 16, true, 0 },
	{ OBJECT_FIELD, FIELD_NEXT_HASH_OFFSET, 8, 17, true, -EBADMSG },
	{ OBJECT_FIELD, FIELD_HEAD_DATA_OFFSET, 8, 17, false, -EBADMSG },
	{ OBJECT_FIELD, FIELD_HEAD_DATA_OFFSET, 8, 16, false, 0 },
	{ OBJECT_ENTRY, OBJECT_SIZE, 8, 64, false, -EBADMSG },
	{ OBJECT_ENTRY, OBJECT_SIZE, 8, 66, false, -EBADMSG },
	{ OBJECT_ENTRY, OBJECT_SIZE, 8, 80, false, 0 },
	{ OBJECT_ENTRY, OBJECT_SIZE, 8, UINT64_C(1) << 32, false, -EADDRNOTAVAIL },
	{ OBJECT_ENTRY, ENTRY_SEQNUM, 8, 0, false, -EBADMSG },
	{ OBJECT_ENTRY, ENTRY_REALTIME, 8, 0, false, -EBADMSG },
	{ OBJECT_ENTRY, ENTRY_REALTIME, 8, 1, false, 0 },
	{ OBJECT_ENTRY, ENTRY_REALTIME, 8, JOURNAL_TIME_END - 1, false, 0 },
	{ OBJECT_ENTRY, ENTRY_REALTIME, 8, JOURNAL_TIME_END, false, -EBADMSG },
	{ OBJECT_ENTRY, ENTRY_MONOTONIC, 8, 0, false, 0 },
	{ OBJECT_ENTRY, ENTRY_MONOTONIC, 8, JOURNAL_TIME_END - 1, false, 0 },
	{ OBJECT_ENTRY, ENTRY_MONOTONIC, 8, JOURNAL_TIME_END, false, -EBADMSG },
	{ OBJECT_ENTRY, ENTRY_BOOT_ID, 16, 0, false, -EBADMSG },
	{ OBJECT_ENTRY, ENTRY_BOOT_ID, 16, UINT64_C(1) << 60, false, 0 },
	{ OBJECT_ENTRY_ARRAY, OBJECT_SIZE, 8, 23, false, -EBADMSG },
	{ OBJECT_ENTRY_ARRAY, OBJECT_SIZE, 8, 24, false, -EBADMSG },
	{ OBJECT_ENTRY_ARRAY, OBJECT_SIZE, 8, 26, false, -EBADMSG },
	{ OBJECT_ENTRY_ARRAY, OBJECT_SIZE, 8, 32, false, 0 },
	{ OBJECT_ENTRY_ARRAY, OBJECT_SIZE, 8, UINT64_C(1) << 32, false, -EADDRNOTAVAIL },
	{ OBJECT_ENTRY_ARRAY, ENTRY_ARRAY_NEXT, 8, 0, true, -EBADMSG },
	{ OBJECT_ENTRY_ARRAY, ENTRY_ARRAY_NEXT, 8, 8, true, 0 },
	{ OBJECT_ENTRY_ARRAY, ENTRY_ARRAY_NEXT, 8, 12, true, -EBADMSG },
	{ OBJECT_ENTRY_ARRAY, ENTRY_ARRAY_NEXT, 8, 0, false, 0 },
	{ OBJECT_DATA_HASH_TABLE, OBJECT_SIZE, 8, 15, false, -EBADMSG },
	{ OBJECT_DATA_HASH_TABLE, OBJECT_TYPE, 1, OBJECT_TAG, false, -EBADMSG },
};

ParameterizedTestParameters(object, lie_gives_its_error)
{
	return cr_make_param_array(struct object_case, cases, CASE_COUNT);
}

ParameterizedTest(struct object_case *c, object, lie_gives_its_error)
{
	for (size_t i = 0; i < sizeof(lies) / sizeof(lies[0]); i++) {
		const struct object_lie *lie = &lies[i];
		struct fixture *fx = object_file(c->compact);
		struct journal j = object_journal(fx);
		size_t last = fixture_count_objects(fx, lie->type) - 1;
		uint64_t offset = fixture_find_object(fx, lie->type, last);
		uint64_t value = lie->value + (lie->relative ? offset : 0);
		struct window_driver *d;

		for (unsigned k = 0; k < lie->size; k++)
			fixture_put8(fx, offset + lie->offset + k,
				     k < 8 ? (uint8_t)(value >> k * 8) : 0);
		d = window_driver_new(fixture_bytes(fx), fixture_size(fx), c->mode);
		cr_expect(eq(int, object_look_at(&j, d, lie->type, offset), lie->error), "lie %zu",
			  i);
		window_driver_free(d);
		fixture_free(fx);
	}
}

Test(object, place_is_judged_first)
{
	struct fixture *fx = object_file(false);
	struct journal j = object_journal(fx);
	struct window w = fixture_window(fx);
	struct entry_object entry;

	cr_expect(eq(int, object_entry(&j, &w, 0, &entry), -EBADMSG));
	cr_expect(eq(int, object_entry(&j, &w, 264, &entry), -EBADMSG));
	cr_expect(eq(int, object_entry(&j, &w, w.size_bytes + 1, &entry), -EBADMSG));
	cr_expect(eq(int, object_entry(&j, &w, UINT64_MAX - 7, &entry), -EADDRNOTAVAIL));
	cr_expect(eq(int, object_entry(&j, &w, (w.size_bytes | 7) + 1, &entry), -EADDRNOTAVAIL));
	cr_expect(eq(int, object_entry(&j, &w, (w.size_bytes - 8) & ~UINT64_C(7), &entry),
		     -EADDRNOTAVAIL));
	fixture_free(fx);
}

Test(object, smallest_data_object_may_end_the_file)
{
	struct fixture *fx = fixture_new(&(struct fixture_options){ 0 });
	struct payload_view view;
	struct window_driver *d;
	struct journal j;
	uint64_t offset;
	int r;

	fixture_add(fx, NULL, "A=b", NULL);
	offset = fixture_orphan(fx, "A=", 2);
	fixture_finish(fx);
	j = object_journal(fx);
	/* Its 66 bytes are fewer than the fast path looks at. */
	fixture_resize(fx, offset + DATA_PAYLOAD_REGULAR + 2);
	for (unsigned mode = WINDOW_DRIVER_WHOLE; mode <= WINDOW_DRIVER_RUN; mode++) {
		d = window_driver_new(fixture_bytes(fx), fixture_size(fx), mode);
		WINDOW_DRIVE(d, r, object_payload(&j, &d->window, offset, &view));
		cr_assert(eq(int, r, 0));
		cr_expect(eq(u64, view.size, 2));
		cr_expect(eq(int, memcmp(view.bytes, "A=", 2), 0));
		window_driver_free(d);
	}
	fixture_free(fx);
}

Test(object, hostile_size_is_not_asked_for_before_it_is_judged)
{
	struct fixture *fx = object_file(false);
	struct journal j = object_journal(fx);
	uint64_t offset = fixture_find_object(fx, OBJECT_DATA, 5);
	struct payload_view view;
	struct window_driver *d;
	int r;

	/* A size within the file, but a broken link: nothing but the fixed part is wanted. */
	fixture_put64(fx, offset + OBJECT_SIZE, fixture_size(fx) - offset);
	fixture_put64(fx, offset + DATA_NEXT_FIELD_OFFSET, 3);
	d = window_driver_new(fixture_bytes(fx), fixture_size(fx), WINDOW_DRIVER_BLOCKS);
	WINDOW_DRIVE(d, r, object_payload(&j, &d->window, offset, &view));
	cr_expect(eq(int, r, -EBADMSG));
	cr_expect(le(u32, d->blocks_fed, 2));
	window_driver_free(d);
	fixture_free(fx);
}

Test(object, unreadable_block_is_an_error_of_the_objects_in_it)
{
	struct fixture *fx = object_file(true);
	struct journal j = object_journal(fx);
	uint64_t offset = fixture_find_object(fx, OBJECT_DATA, 5);
	struct window_driver *d =
		window_driver_new(fixture_bytes(fx), fixture_size(fx), WINDOW_DRIVER_BLOCKS);
	struct payload_view view;
	struct data_object data;
	int r;

	d->failing_block = (offset >> WINDOW_DRIVER_BLOCK_SHIFT) + 1;
	WINDOW_DRIVE(d, r, object_payload(&j, &d->window, offset, &view));
	cr_expect(eq(int, r, -EIO));
	WINDOW_DRIVE(d, r,
		     object_data(&j, &d->window, fixture_find_object(fx, OBJECT_DATA, 0), &data));
	cr_expect(eq(int, r, 0));
	window_driver_free(d);
	fixture_free(fx);
}

/* The rules of 2.3 one after the other, over a whole file. */
static int model_validate(const struct journal *j, const struct fixture *fx, enum object_type type,
			  uint64_t p)
{
	static const uint64_t fixed[] = { 16, 64, 40, 64, 16, 16, 24, 64 };
	uint64_t length = fixture_size(fx), size, payload;
	uint8_t found;

	if (p % 8 || p < j->header.header_size)
		return -EBADMSG;
	if (p > length || length - p < 16)
		return -EADDRNOTAVAIL;
	size = fixture_get64(fx, p + OBJECT_SIZE);
	found = fixture_get8(fx, p);
	if (size < 16 || found < 1 || found > 7 || (type != OBJECT_ANY && found != type))
		return -EBADMSG;
	payload = found == OBJECT_DATA && j->compact ? 72 : fixed[found];
	if (size < payload)
		return -EBADMSG;
	if (p + size < p)
		return -EBADMSG;
	if (p + size > length)
		return -EADDRNOTAVAIL;
	if (type == OBJECT_DATA) {
		uint64_t hash = fixture_get64(fx, p + 24), field = fixture_get64(fx, p + 32);
		uint64_t entry = fixture_get64(fx, p + 40), array = fixture_get64(fx, p + 48);

		if (!entry != !fixture_get64(fx, p + 56) || size == payload || hash % 8 ||
		    field % 8 || entry % 8 || array % 8 || (hash && hash <= p) ||
		    (field && field >= p))
			return -EBADMSG;
	}
	if (type == OBJECT_FIELD) {
		uint64_t hash = fixture_get64(fx, p + 24);

		if (size == payload || hash % 8 || fixture_get64(fx, p + 32) % 8 ||
		    (hash && hash <= p))
			return -EBADMSG;
	}
	if (type == OBJECT_ENTRY) {
		uint64_t realtime = fixture_get64(fx, p + 24);

		if (size == payload || (size - payload) % (j->compact ? 4 : 16) ||
		    !fixture_get64(fx, p + 16) || !realtime || realtime >= UINT64_C(1) << 55 ||
		    fixture_get64(fx, p + 32) >= UINT64_C(1) << 55 ||
		    (!fixture_get64(fx, p + 40) && !fixture_get64(fx, p + 48)))
			return -EBADMSG;
	}
	if (type == OBJECT_ENTRY_ARRAY) {
		uint64_t next = fixture_get64(fx, p + 16);

		if (size == payload || (size - payload) % (j->compact ? 4 : 8) || next % 8 ||
		    (next && next <= p))
			return -EBADMSG;
	}
	return 0;
}

/* A small generator of numbers that repeat from run to run. */
static uint32_t dice(uint32_t *state)
{
	*state = *state * 1664525 + 1013904223;
	return *state >> 8;
}

ParameterizedTestParameters(object, random_damage_is_judged_as_the_rules_say)
{
	return cr_make_param_array(struct object_case, cases, CASE_COUNT);
}

ParameterizedTest(struct object_case *c, object, random_damage_is_judged_as_the_rules_say)
{
	static const enum object_type types[] = { OBJECT_ANY, OBJECT_DATA, OBJECT_FIELD,
						  OBJECT_ENTRY, OBJECT_ENTRY_ARRAY };
	struct fixture *fx = object_file(c->compact);
	struct journal j = object_journal(fx);
	unsigned good = 0, bad = 0, past = 0;
	uint32_t state = 1;

	for (unsigned i = 0; i < (c->mode == WINDOW_DRIVER_WHOLE ? 4000 : 400); i++) {
		enum object_type type = types[dice(&state) % 5];
		size_t count = fixture_count_objects(fx, type);
		uint64_t offset = fixture_find_object(fx, type, dice(&state) % count);
		uint64_t values[] = { 0,
				      1,
				      8,
				      offset,
				      offset + 8,
				      offset - 8,
				      24,
				      64,
				      72,
				      80,
				      fixture_size(fx),
				      fixture_size(fx) - offset,
				      UINT64_C(1) << 55,
				      UINT64_MAX,
				      UINT64_MAX - 7 };
		uint64_t at = offset + dice(&state) % 8 * 8;
		uint64_t head = fixture_get64(fx, offset), kept;
		struct window_driver *d;
		int want;

		if (at + 8 > fixture_size(fx))
			at = offset + OBJECT_SIZE; /* a short object at the end of the file */
		kept = fixture_get64(fx, at);
		fixture_put64(fx, at, values[dice(&state) % (sizeof(values) / 8)]);
		if (dice(&state) % 4 == 0)
			fixture_put8(fx, offset, (uint8_t)type);
		want = model_validate(&j, fx, type, offset);
		good += want == 0;
		bad += want == -EBADMSG;
		past += want == -EADDRNOTAVAIL;
		d = window_driver_new(fixture_bytes(fx), fixture_size(fx), c->mode);
		cr_assert(eq(int, object_look_at(&j, d, type, offset), want));
		window_driver_free(d);
		fixture_put64(fx, at, kept);
		fixture_put64(fx, offset, head);
	}
	cr_expect(gt(u32, good, 20));
	cr_expect(gt(u32, bad, 20));
	cr_expect(gt(u32, past, 5));
	fixture_free(fx);
}
