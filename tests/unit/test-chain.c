/* SPDX-License-Identifier: MIT */
/* Chains of entry arrays: of every shape, walked in every direction, damaged and hostile. */
#include <criterion/criterion.h>
#include <criterion/new/assert.h>
#include <criterion/parameterized.h>
#include <stdlib.h>

#include "tests/support/fixture.h"
#include "tests/support/window-driver.h"

#define HEADER 272u

/* A file of nothing but a header's room and arrays. */
struct chain_file {
	uint8_t *bytes;
	uint64_t size;
	struct journal j;
	uint64_t *elements;
	uint64_t count;
	uint64_t *arrays; /* offsets */
	uint64_t array_count;
};

static void put(struct chain_file *f, uint64_t offset, uint64_t value, unsigned size)
{
	for (unsigned i = 0; i < size; i++)
		f->bytes[offset + i] = (uint8_t)(value >> i * 8);
}

/* Element I: what it is does not matter as long as they ascend. */
static uint64_t element(uint64_t i)
{
	return 4096 + 24 * i;
}

/* A chain of ARRAY_COUNT arrays of the given capacities (repeated as needed), all items used. */
static struct chain_file chain_file_new(bool compact, uint64_t array_count,
					const uint64_t *capacities, unsigned capacity_count)
{
	struct chain_file f = { .array_count = array_count };
	uint64_t offset = HEADER;

	f.j.compact = compact;
	f.j.item_size = compact ? 4 : 8;
	f.j.entry_item_size = compact ? 4 : 16;
	f.j.data_payload = compact ? 72 : 64;
	f.j.header.header_size = HEADER;
	f.j.header.entry_array_offset = HEADER;
	f.size = HEADER;
	for (uint64_t a = 0; a < array_count; a++) {
		f.count += capacities[a % capacity_count];
		f.size += (ENTRY_ARRAY_ITEMS + capacities[a % capacity_count] * f.j.item_size + 7) &
			  ~UINT64_C(7);
	}
	f.j.header.n_entries = f.count;
	f.bytes = calloc(f.size, 1);
	f.elements = calloc(f.count + 1, sizeof(*f.elements));
	f.arrays = calloc(array_count + 1, sizeof(*f.arrays));
	for (uint64_t a = 0, n = 0; a < array_count; a++) {
		uint64_t capacity = capacities[a % capacity_count];
		uint64_t size = ENTRY_ARRAY_ITEMS + capacity * f.j.item_size;
		uint64_t next = (offset + size + 7) & ~UINT64_C(7);

		f.arrays[a] = offset;
		f.bytes[offset] = OBJECT_ENTRY_ARRAY;
		put(&f, offset + OBJECT_SIZE, size, 8);
		put(&f, offset + ENTRY_ARRAY_NEXT, a + 1 < array_count ? next : 0, 8);
		for (uint64_t i = 0; i < capacity; i++, n++) {
			f.elements[n] = element(n);
			put(&f, offset + ENTRY_ARRAY_ITEMS + i * f.j.item_size, element(n),
			    f.j.item_size);
		}
		offset = next;
	}
	return f;
}

static void chain_file_done(struct chain_file *f)
{
	free(f->bytes);
	free(f->elements);
	free(f->arrays);
}

static struct window_driver *drive(const struct chain_file *f, enum window_driver_mode mode)
{
	return window_driver_new(f->bytes, f->size, mode);
}

struct chain_shape {
	bool compact;
	enum window_driver_mode mode;
	unsigned array_count;
	unsigned capacity_count;
	uint64_t capacities[9];
};

static struct chain_shape shapes[] = {
	{ true, WINDOW_DRIVER_WHOLE, 9, 9, { 4, 8, 26, 78, 234, 702, 2106, 6318, 18954 } },
	{ false, WINDOW_DRIVER_WHOLE, 9, 9, { 4, 8, 26, 78, 234, 702, 2106, 6318, 18954 } },
	{ true, WINDOW_DRIVER_BLOCKS, 9, 9, { 4, 8, 26, 78, 234, 702, 2106, 6318, 18954 } },
	{ false, WINDOW_DRIVER_RUN, 9, 9, { 4, 8, 26, 78, 234, 702, 2106, 6318, 18954 } },
	{ true, WINDOW_DRIVER_WHOLE, 5000, 1, { 1 } },
	{ false, WINDOW_DRIVER_BLOCKS, 5000, 1, { 1 } },
	{ true, WINDOW_DRIVER_BLOCKS, 3000, 5, { 3, 1, 40, 2, 1 } },
	{ false, WINDOW_DRIVER_BLOCKS, 1, 1, { 1 } },
};

#define SHAPE_PARAMETERS(test)                                                                     \
	ParameterizedTestParameters(chain, test)                                                   \
	{                                                                                          \
		return cr_make_param_array(struct chain_shape, shapes,                             \
					   sizeof(shapes) / sizeof(shapes[0]));                    \
	}                                                                                          \
	ParameterizedTest(struct chain_shape *s, chain, test)

/* A small generator of numbers that repeat from run to run. */
static uint32_t dice(uint32_t *state)
{
	*state = *state * 1664525 + 1013904223;
	return *state >> 8;
}

/* Gets an element and checks that it is the right one. */
static void expect_element(struct chain *c, const struct chain_file *f, struct window_driver *d,
			   uint64_t index)
{
	uint64_t offset;
	int r;

	WINDOW_DRIVE(d, r, chain_get(c, &f->j, &d->window, index, &offset));
	cr_assert(eq(int, r, 1));
	cr_assert(eq(u64, offset, f->elements[index]));
}

SHAPE_PARAMETERS(every_element_is_found_in_every_order)
{
	struct chain_file f =
		chain_file_new(s->compact, s->array_count, s->capacities, s->capacity_count);
	struct window_driver *d = drive(&f, s->mode);
	uint64_t offset;
	uint32_t state = 1;
	struct chain c;
	int r;

	chain_init_global(&c, &f.j);
	for (uint64_t i = 0; i < f.count; i++)
		expect_element(&c, &f, d, i);
	for (uint64_t i = f.count; i-- > 0;)
		expect_element(&c, &f, d, i);
	for (unsigned i = 0; i < 2000; i++)
		expect_element(&c, &f, d, dice(&state) % f.count);
	chain_init_global(&c, &f.j);
	for (unsigned i = 0; i < 2000; i++) {
		expect_element(&c, &f, d, dice(&state) % f.count);
		cr_assert(le(u32, c.mark_count, CHAIN_MARKS_MAX));
	}
	WINDOW_DRIVE(d, r, chain_get(&c, &f.j, &d->window, f.count, &offset));
	cr_expect(eq(int, r, 0));
	WINDOW_DRIVE(d, r, chain_get(&c, &f.j, &d->window, UINT64_MAX, &offset));
	cr_expect(eq(int, r, 0));
	cr_expect(not(c.ended));
	window_driver_free(d);
	chain_file_done(&f);
}

SHAPE_PARAMETERS(runs_are_copied_up_to_an_arrays_end)
{
	struct chain_file f =
		chain_file_new(s->compact, s->array_count, s->capacities, s->capacity_count);
	struct window_driver *d = drive(&f, s->mode);
	uint64_t offsets[512], index = 0;
	struct chain c;
	int r;

	chain_init_global(&c, &f.j);
	for (;;) {
		WINDOW_DRIVE(d, r, chain_get_many(&c, &f.j, &d->window, index, 512, offsets));
		cr_assert(ge(int, r, 0));
		if (r == 0)
			break;
		cr_assert(eq(int, memcmp(offsets, f.elements + index, (size_t)r * 8), 0));
		index += (uint64_t)r;
	}
	cr_expect(eq(u64, index, f.count));
	if (s->array_count == 9)
		cr_expect(le(u32, d->rounds, d->block_count + 40));
	window_driver_free(d);
	chain_file_done(&f);
}

SHAPE_PARAMETERS(data_chain_begins_with_its_inline_element)
{
	struct chain_file f =
		chain_file_new(s->compact, s->array_count, s->capacities, s->capacity_count);
	struct window_driver *d = drive(&f, s->mode);
	struct data_object data = { .entry_offset = 1000,
				    .entry_array_offset = f.arrays[0],
				    .n_entries = f.count + 1 };
	uint64_t offset, index;
	struct chain c;
	int r;

	chain_init_data(&c, &data);
	for (uint64_t i = 0; i <= f.count; i += 1 + i / 50) {
		WINDOW_DRIVE(d, r, chain_get(&c, &f.j, &d->window, i, &offset));
		cr_assert(eq(int, r, 1));
		cr_assert(eq(u64, offset, i == 0 ? 1000 : f.elements[i - 1]));
		WINDOW_DRIVE(d, r, chain_bisect_offset(&c, &f.j, &d->window, offset, &index));
		cr_assert(eq(int, r, 0));
		cr_assert(eq(u64, index, i));
	}
	WINDOW_DRIVE(d, r, chain_get(&c, &f.j, &d->window, f.count + 1, &offset));
	cr_expect(eq(int, r, 0));
	window_driver_free(d);
	chain_file_done(&f);
}

Test(chain, data_object_of_one_entry_has_no_array)
{
	struct chain_file f = chain_file_new(true, 1, (uint64_t[]){ 4 }, 1);
	struct window_driver *d = drive(&f, WINDOW_DRIVER_WHOLE);
	struct data_object data = { .entry_offset = 1000, .n_entries = 1 };
	uint64_t offset, index;
	struct chain c;

	chain_init_data(&c, &data);
	cr_expect(eq(int, chain_get(&c, &f.j, &d->window, 0, &offset), 1));
	cr_expect(eq(u64, offset, 1000));
	cr_expect(eq(int, chain_get(&c, &f.j, &d->window, 1, &offset), 0));
	cr_assert(eq(int, chain_bisect_offset(&c, &f.j, &d->window, 1001, &index), 0));
	cr_expect(eq(u64, index, 1));
	/* One that claims more than there is. */
	data.n_entries = 5;
	chain_init_data(&c, &data);
	cr_expect(eq(int, chain_get(&c, &f.j, &d->window, 3, &offset), 0));
	cr_expect(eq(u64, c.count, 1));
	cr_expect(c.ended);
	/* And one that no entry refers to. */
	data.entry_offset = data.n_entries = 0;
	chain_init_data(&c, &data);
	cr_expect(eq(int, chain_get(&c, &f.j, &d->window, 0, &offset), 0));
	cr_assert(eq(int, chain_bisect_offset(&c, &f.j, &d->window, 0, &index), 0));
	cr_expect(eq(u64, index, 0));
	window_driver_free(d);
	chain_file_done(&f);
}

SHAPE_PARAMETERS(damaged_array_ends_the_chain_and_is_told_once)
{
	struct chain_file f =
		chain_file_new(s->compact, s->array_count, s->capacities, s->capacity_count);
	uint64_t damaged = s->array_count * 2 / 3, before = 0, offset, index;
	struct window_driver *d;
	struct chain c;
	int r;

	for (uint64_t a = 0; a < damaged; a++)
		before += s->capacities[a % s->capacity_count];
	put(&f, f.arrays[damaged] + ENTRY_ARRAY_NEXT, 4, 8);
	d = drive(&f, s->mode);
	for (unsigned from_end = 0; from_end < 2; from_end++) {
		chain_init_global(&c, &f.j);
		index = from_end ? f.count - 1 : before;
		WINDOW_DRIVE(d, r, chain_get(&c, &f.j, &d->window, index, &offset));
		cr_assert(eq(int, r, -EBADMSG));
		cr_expect(c.ended);
		cr_expect(eq(u64, c.count, before));
		cr_expect(eq(int, c.damage_error, -EBADMSG));
		cr_expect(eq(u64, c.damage_offset, f.arrays[damaged]));
		WINDOW_DRIVE(d, r, chain_get(&c, &f.j, &d->window, index, &offset));
		cr_expect(eq(int, r, 0));
		for (uint64_t i = before; i-- > 0 && before - i < 100;)
			expect_element(&c, &f, d, i);
	}
	/* A bisection takes the rest for all there is. */
	chain_init_global(&c, &f.j);
	WINDOW_DRIVE(d, r, chain_bisect_offset(&c, &f.j, &d->window, UINT64_MAX, &index));
	cr_assert(eq(int, r, 0));
	cr_expect(eq(u64, index, before));
	cr_expect(eq(int, c.damage_error, -EBADMSG));
	window_driver_free(d);
	chain_file_done(&f);
}

Test(chain, count_beyond_the_arrays_ends_with_them)
{
	struct chain_file f = chain_file_new(true, 3, (uint64_t[]){ 4, 8, 26 }, 3);
	struct window_driver *d = drive(&f, WINDOW_DRIVER_WHOLE);
	uint64_t offset, index;
	struct chain c;

	f.j.header.n_entries = 1000;
	chain_init_global(&c, &f.j);
	cr_expect(eq(int, chain_get(&c, &f.j, &d->window, 999, &offset), 0));
	cr_expect(c.ended);
	cr_expect(eq(int, c.damage_error, 0));
	cr_expect(eq(u64, c.count, 38));
	expect_element(&c, &f, d, 37);
	chain_init_global(&c, &f.j);
	cr_assert(eq(int, chain_bisect_offset(&c, &f.j, &d->window, element(37) + 1, &index), 0));
	cr_expect(eq(u64, index, 38));
	/* Once the file has grown the chain may go on. */
	chain_set_count(&c, 40);
	cr_expect(not(c.ended));
	cr_expect(eq(u64, c.count, 40));
	cr_expect(eq(int, chain_get(&c, &f.j, &d->window, 38, &offset), 0));
	cr_expect(eq(u64, c.count, 38));
	window_driver_free(d);
	chain_file_done(&f);
}

Test(chain, grows_with_its_file)
{
	struct chain_file f = chain_file_new(false, 4, (uint64_t[]){ 4, 8, 26, 78 }, 4);
	struct window w = { .base = f.bytes, .size_bytes = f.size, .whole = true };
	uint64_t offset;
	struct chain c;

	/* At first the third array is not linked and the second is half full. */
	put(&f, f.arrays[1] + ENTRY_ARRAY_NEXT, 0, 8);
	f.j.header.n_entries = 8;
	chain_init_global(&c, &f.j);
	cr_assert(eq(int, chain_get(&c, &f.j, &w, 7, &offset), 1));
	cr_assert(eq(int, chain_get(&c, &f.j, &w, 8, &offset), 0));
	chain_set_count(&c, 13);
	put(&f, f.arrays[1] + ENTRY_ARRAY_NEXT, f.arrays[2], 8);
	for (uint64_t i = 0; i < 13; i++) {
		cr_assert(eq(int, chain_get(&c, &f.j, &w, i, &offset), 1));
		cr_assert(eq(u64, offset, element(i)));
	}
	cr_assert(eq(int, chain_get(&c, &f.j, &w, 13, &offset), 0));
	chain_file_done(&f);
}

Test(chain, empty_slots_are_told_as_they_are)
{
	struct chain_file f = chain_file_new(true, 2, (uint64_t[]){ 4, 500 }, 2);
	struct window_driver *d;
	uint64_t offset, index;
	struct chain c;

	/* Of 500 items 100 are used, though n_entries says all. */
	for (unsigned i = 100; i < 500; i++)
		put(&f, f.arrays[1] + ENTRY_ARRAY_ITEMS + i * 4, 0, 4);
	d = drive(&f, WINDOW_DRIVER_WHOLE);
	chain_init_global(&c, &f.j);
	cr_assert(eq(int, chain_get(&c, &f.j, &d->window, 103, &offset), 1));
	cr_expect(eq(u64, offset, element(103)));
	cr_assert(eq(int, chain_get(&c, &f.j, &d->window, 104, &offset), 1));
	cr_expect(eq(u64, offset, 0));
	for (uint64_t i = 0; i < 104; i++) {
		cr_assert(
			eq(int, chain_bisect_offset(&c, &f.j, &d->window, element(i), &index), 0));
		cr_assert(eq(u64, index, i));
	}
	/* Beyond the last used one every place is as good as the next. */
	cr_assert(eq(int, chain_bisect_offset(&c, &f.j, &d->window, element(104), &index), 0));
	cr_expect(eq(u64, index, 104));
	window_driver_free(d);
	chain_file_done(&f);
}

Test(chain, millions_of_tiny_arrays_take_no_quadratic_time, .timeout = 60)
{
	static const uint64_t one = 1;
	struct chain_file f = chain_file_new(true, 1000000, &one, 1);
	struct window_driver *d = drive(&f, WINDOW_DRIVER_WHOLE);
	struct chain c;

	chain_init_global(&c, &f.j);
	for (uint64_t i = f.count; i-- > 0;)
		expect_element(&c, &f, d, i);
	cr_expect(le(u32, c.mark_count, CHAIN_MARKS_MAX));
	cr_expect(le(u32, c.fine_count, CHAIN_MARKS_MAX));
	window_driver_free(d);
	chain_file_done(&f);
}

Test(chain, walk_over_lacking_blocks_goes_on_where_it_was)
{
	static const uint64_t one = 1;
	struct chain_file f = chain_file_new(false, 20000, &one, 1);
	struct window_driver *d = drive(&f, WINDOW_DRIVER_BLOCKS);
	uint64_t offset;
	struct chain c;
	int r;

	/* All blocks are taken away as soon as one is wanted, but that of the current array: an
	 * array may lie in two. So each is needed three times at most. */
	chain_init_global(&c, &f.j);
	for (;;) {
		d->window.want_count = 0;
		r = chain_get(&c, &f.j, &d->window, f.count - 1, &offset);
		if (r != -EAGAIN)
			break;
		window_driver_forget(d);
		window_want(&d->window, c.at.offset, 1);
		window_driver_feed(d);
	}
	cr_assert(eq(int, r, 1));
	cr_expect(le(u32, d->blocks_fed, 3 * d->block_count));
	window_driver_free(d);
	chain_file_done(&f);
}

Test(chain, arrays_that_overlap_do_not_confuse_the_count)
{
	struct chain_file f = chain_file_new(false, 1, (uint64_t[]){ 4000 }, 1);
	struct window_driver *d;
	uint64_t offset;
	struct chain c;

	/* Every 24 bytes an array whose items go on to the end of the file. */
	for (uint64_t a = 0; a < 1000; a++) {
		uint64_t at = HEADER + a * 24;

		f.bytes[at] = OBJECT_ENTRY_ARRAY;
		put(&f, at + OBJECT_SIZE, f.size - at, 8);
		put(&f, at + ENTRY_ARRAY_NEXT, a < 999 ? at + 24 : 0, 8);
	}
	f.j.header.n_entries = UINT64_MAX;
	d = drive(&f, WINDOW_DRIVER_WHOLE);
	chain_init_global(&c, &f.j);
	cr_expect(eq(int, chain_get(&c, &f.j, &d->window, UINT64_MAX - 1, &offset), 0));
	cr_expect(c.ended);
	/* 4000 items, then three fewer from array to array. */
	cr_expect(eq(u64, c.count, 1000 * 4000 - 3 * 999 * 1000 / 2));
	cr_expect(eq(int, chain_get(&c, &f.j, &d->window, c.count - 1, &offset), 1));
	cr_expect(eq(u64, offset, element(3999)));
	window_driver_free(d);
	chain_file_done(&f);
}

Test(chain, items_that_cannot_be_read_do_not_hide_those_before)
{
	struct chain_file f = chain_file_new(true, 1, (uint64_t[]){ 5000 }, 1);
	struct window_driver *d = drive(&f, WINDOW_DRIVER_BLOCKS);
	uint64_t offsets[1024], first_bad = (2 * WINDOW_DRIVER_BLOCK_SIZE - HEADER - 24) / 4;
	uint64_t index = 0;
	struct chain c;
	int r;

	d->failing_block = 2;
	chain_init_global(&c, &f.j);
	for (;;) {
		WINDOW_DRIVE(d, r, chain_get_many(&c, &f.j, &d->window, index, 1024, offsets));
		if (r <= 0)
			break;
		cr_assert(eq(u64, offsets[r - 1], element(index + (uint64_t)r - 1)));
		index += (uint64_t)r;
	}
	cr_assert(eq(int, r, -EIO));
	cr_expect(eq(u64, index, first_bad));
	cr_expect(not(c.ended));
	WINDOW_DRIVE(d, r, chain_get(&c, &f.j, &d->window, first_bad + 1024, offsets));
	cr_expect(eq(int, r, 1));
	window_driver_free(d);
	chain_file_done(&f);
}

/* ---- bisection ---------------------------------------------------------------------------- */

SHAPE_PARAMETERS(bisection_by_offset_finds_the_first_not_before)
{
	struct chain_file f =
		chain_file_new(s->compact, s->array_count, s->capacities, s->capacity_count);
	struct window_driver *d = drive(&f, s->mode);
	uint32_t state = 5;
	uint64_t index;
	struct chain c;
	int r;

	chain_init_global(&c, &f.j);
	for (unsigned i = 0; i < 3000; i++) {
		uint64_t want = dice(&state) % (f.count + 1);
		uint64_t offset = element(want) - dice(&state) % 24;

		WINDOW_DRIVE(d, r, chain_bisect_offset(&c, &f.j, &d->window, offset, &index));
		cr_assert(eq(int, r, 0));
		cr_assert(eq(u64, index, want));
	}
	WINDOW_DRIVE(d, r, chain_bisect_offset(&c, &f.j, &d->window, 0, &index));
	cr_expect(eq(u64, index, 0));
	WINDOW_DRIVE(d, r, chain_bisect_offset(&c, &f.j, &d->window, UINT64_MAX, &index));
	cr_expect(eq(u64, index, f.count));
	window_driver_free(d);
	chain_file_done(&f);
}

/* Compares an entry's realtime with the wanted one, and counts how often. */
struct time_test {
	uint64_t realtime;
	unsigned *calls;
};

static int test_realtime(const void *userdata, const struct journal *j, struct window *w,
			 uint64_t entry_offset, int *ret_order)
{
	const struct time_test *t = userdata;
	struct entry_object entry;
	int r;

	r = object_entry(j, w, entry_offset, &entry);
	if (r < 0)
		return r;
	if (t->calls)
		++*t->calls;
	*ret_order = entry.realtime < t->realtime ? -1 : entry.realtime > t->realtime;
	return 0;
}

#define TIMED_ENTRIES 3000u

/* Entries that are one step of time apart; each has a field of its own, so that they spread. */
static struct fixture *timed_file(bool compact)
{
	struct fixture *fx = fixture_new(&(struct fixture_options){ .compact = compact });
	char text[120] = { 0 };

	for (unsigned i = 0; i < TIMED_ENTRIES; i++) {
		memset(text, 'a' + (int)(i % 26), sizeof(text) - 1);
		memcpy(text, "V=", 2);
		text[2 + i % 100] = (char)('A' + i / 100);
		fixture_add(fx, NULL, text, "SHARED=1", NULL);
	}
	fixture_finish(fx);
	return fx;
}

static uint64_t time_of(uint64_t index)
{
	return FIXTURE_REALTIME + index * FIXTURE_STEP;
}

static struct journal timed_journal(const struct fixture *fx)
{
	struct window w = fixture_window(fx);
	char text[HEADER_DETAIL_SIZE];
	struct journal j;

	cr_assert(eq(int, header_parse(w.base, HEADER_SIZE_MAX, w.size_bytes, &j, text), 0));
	return j;
}

/* Bisects by time; expects the answer to be INDEX. */
static void expect_time(struct chain *c, const struct journal *j, struct window_driver *d,
			uint64_t realtime, uint64_t index)
{
	struct time_test t = { .realtime = realtime };
	uint64_t found;
	int r;

	WINDOW_DRIVE(d, r, chain_bisect(c, j, &d->window, test_realtime, &t, false, &found));
	cr_assert(eq(int, r, 0));
	cr_assert(eq(u64, found, index));
}

static enum window_driver_mode modes[] = { WINDOW_DRIVER_WHOLE, WINDOW_DRIVER_BLOCKS,
					   WINDOW_DRIVER_RUN };

ParameterizedTestParameters(chain, bisection_by_time_finds_every_entry)
{
	return cr_make_param_array(enum window_driver_mode, modes, 3);
}

ParameterizedTest(enum window_driver_mode *mode, chain, bisection_by_time_finds_every_entry)
{
	struct fixture *fx = timed_file(*mode == WINDOW_DRIVER_BLOCKS);
	struct journal j = timed_journal(fx);
	struct window_driver *d = window_driver_new(fixture_bytes(fx), fixture_size(fx), *mode);
	struct data_object data;
	struct chain c, shared;
	int r;

	chain_init_global(&c, &j);
	WINDOW_DRIVE(d, r, object_data(&j, &d->window, fixture_find_text(fx, "SHARED=1"), &data));
	cr_assert(eq(int, r, 0));
	chain_init_data(&shared, &data);
	for (uint64_t i = 0; i < TIMED_ENTRIES; i += 7) {
		expect_time(&c, &j, d, time_of(i), i);
		expect_time(&c, &j, d, time_of(i) + 1, i + 1);
		expect_time(&shared, &j, d, time_of(i), i);
	}
	expect_time(&c, &j, d, 0, 0);
	expect_time(&c, &j, d, UINT64_MAX, TIMED_ENTRIES);
	window_driver_free(d);
	fixture_free(fx);
}

Test(chain, bisection_asks_for_little_and_in_few_rounds)
{
	struct fixture *fx = timed_file(true);
	struct journal j = timed_journal(fx);
	struct window_driver *d =
		window_driver_new(fixture_bytes(fx), fixture_size(fx), WINDOW_DRIVER_BLOCKS);
	unsigned calls = 0;
	struct time_test t = { time_of(1234), &calls };
	uint64_t index;
	struct chain c;
	int r;

	chain_init_global(&c, &j);
	WINDOW_DRIVE(d, r, chain_bisect(&c, &j, &d->window, test_realtime, &t, false, &index));
	cr_assert(eq(int, r, 0));
	cr_expect(eq(u64, index, 1234));
	/* 8 arrays to walk to, then 12 levels two at a time, some of them in one block. */
	cr_expect(le(u32, d->rounds, 25));
	cr_expect(le(u32, d->blocks_fed, 50));
	/* With everything there it looks at the ends of the arrays, and at a logarithm of the
	 * entries. */
	calls = 0;
	WINDOW_DRIVE(d, r, chain_bisect(&c, &j, &d->window, test_realtime, &t, false, &index));
	cr_expect(le(u32, calls, 8 + 12));
	window_driver_free(d);
	fixture_free(fx);
}

Test(chain, what_was_read_before_does_not_change_what_a_time_finds)
{
	struct fixture *fx = fixture_new(&(struct fixture_options){ .compact = true });
	struct window_driver *d;
	struct data_object data;
	struct journal j;
	uint64_t offset;
	int r;

	/* The clock steps back twice, so that what is found depends on the arrays. */
	for (uint64_t i = 0; i < 300; i++) {
		uint64_t time = i < 100 ? i : i < 200 ? i - 70 : i - 150;
		struct fixture_stamp stamp = { .seqnum = i + 1, .realtime = time_of(time),
					       .monotonic = (i + 1) * FIXTURE_STEP };

		fixture_add(fx, &stamp, "SHARED=1", NULL);
	}
	fixture_finish(fx);
	j = timed_journal(fx);
	d = window_driver_new(fixture_bytes(fx), fixture_size(fx), WINDOW_DRIVER_WHOLE);
	WINDOW_DRIVE(d, r, object_data(&j, &d->window, fixture_find_text(fx, "SHARED=1"), &data));
	cr_assert(eq(int, r, 0));
	cr_assert(gt(u64, data.tail_array_count, 0)); /* a hint leads to the last array */
	for (uint64_t time = 0; time < 160; time++) {
		struct time_test t = { .realtime = time_of(time) };
		struct chain fresh, used;
		uint64_t expected;

		chain_init_data(&fresh, &data);
		r = chain_bisect(&fresh, &j, &d->window, test_realtime, &t, false, &expected);
		cr_assert(eq(int, r, 0));
		chain_init_data(&used, &data);
		for (uint64_t back = 1; back <= 250; back += 83) {
			r = chain_get(&used, &j, &d->window, 300 - back, &offset);
			cr_assert(eq(int, r, 1));
			expect_time(&used, &j, d, t.realtime, expected);
		}
	}
	window_driver_free(d);
	fixture_free(fx);
}

ParameterizedTestParameters(chain, bisection_steps_over_damaged_entries)
{
	return cr_make_param_array(enum window_driver_mode, modes, 3);
}

ParameterizedTest(enum window_driver_mode *mode, chain, bisection_steps_over_damaged_entries)
{
	struct fixture *fx = timed_file(true);
	struct journal j = timed_journal(fx);
	struct window_driver *d;
	uint32_t state = 9;
	struct chain c;

	/* Half of all entries are damaged, in runs of up to 40. */
	for (uint64_t i = 0, run; i < TIMED_ENTRIES; i += run + 1 + dice(&state) % 40) {
		run = dice(&state) % 40;
		for (uint64_t k = i; k < i + run && k < TIMED_ENTRIES; k++)
			fixture_put64(fx, fixture_find_entry(fx, k) + ENTRY_SEQNUM, 0);
	}
	d = window_driver_new(fixture_bytes(fx), fixture_size(fx), *mode);
	chain_init_global(&c, &j);
	for (uint64_t i = 0; i < TIMED_ENTRIES; i += 11) {
		struct time_test t = { .realtime = time_of(i) };
		uint64_t found;
		int r;

		WINDOW_DRIVE(d, r,
			     chain_bisect(&c, &j, &d->window, test_realtime, &t, false, &found));
		cr_assert(eq(int, r, 0));
		/* No entry that can be read lies between what was found and what was wanted. */
		for (uint64_t k = found < i ? found : i; k < (found < i ? i : found); k++)
			cr_assert(eq(u64,
				     fixture_get64(fx, fixture_find_entry(fx, k) + ENTRY_SEQNUM),
				     0));
	}
	window_driver_free(d);
	fixture_free(fx);
}

/* Fails as if memory had run out. */
static int test_fails(const void *userdata, const struct journal *j, struct window *w,
		      uint64_t entry_offset, int *ret_order)
{
	(void)userdata, (void)j, (void)w, (void)entry_offset, (void)ret_order;
	return -ENOMEM;
}

Test(chain, bisection_ends_on_a_hard_error)
{
	struct fixture *fx = timed_file(false);
	struct journal j = timed_journal(fx);
	struct window w = fixture_window(fx);
	uint64_t index = 77;
	struct chain c;

	chain_init_global(&c, &j);
	cr_expect(eq(int, chain_bisect(&c, &j, &w, test_fails, NULL, false, &index), -ENOMEM));
	cr_expect(eq(u64, index, 77));
	fixture_free(fx);
}

Test(chain, file_that_shrank_ends_the_chain)
{
	struct fixture *fx = timed_file(true);
	struct journal j = timed_journal(fx);
	struct window w = fixture_window(fx);
	struct chain c;
	uint64_t offset;

	chain_init_global(&c, &j);
	w.size_bytes = 100000; /* the file has shrunk: its later arrays are not there */
	cr_assert(eq(int, chain_get(&c, &j, &w, TIMED_ENTRIES - 1, &offset), -EADDRNOTAVAIL));
	cr_expect(eq(int, c.damage_error, -EADDRNOTAVAIL));
	cr_expect(lt(u64, c.count, TIMED_ENTRIES));
	cr_expect(gt(u64, c.count, 0));
	fixture_free(fx);
}
