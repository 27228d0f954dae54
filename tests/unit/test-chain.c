/* SPDX-License-Identifier: MIT */
/* Chains of entry arrays: of every shape, walked in every direction, damaged and hostile. What a
 * bisection finds in them is tested in test-chain-bisect.c. */
#include <criterion/criterion.h>
#include <criterion/new/assert.h>
#include <criterion/parameterized.h>
#include <stdlib.h>

#include "tests/support/chain-file.h"

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

CHAIN_SHAPE_PARAMETERS(chain, every_element_is_found_in_every_order)
{
	struct chain_file f = chain_file_of(s);
	struct window_driver *d = chain_file_drive(&f, s->mode);
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
		expect_element(&c, &f, d, chain_dice(&state) % f.count);
	chain_init_global(&c, &f.j);
	for (unsigned i = 0; i < 2000; i++) {
		expect_element(&c, &f, d, chain_dice(&state) % f.count);
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

CHAIN_SHAPE_PARAMETERS(chain, runs_are_copied_up_to_an_arrays_end)
{
	struct chain_file f = chain_file_of(s);
	struct window_driver *d = chain_file_drive(&f, s->mode);
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

CHAIN_SHAPE_PARAMETERS(chain, data_chain_begins_with_its_inline_element)
{
	struct chain_file f = chain_file_of(s);
	struct window_driver *d = chain_file_drive(&f, s->mode);
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
	struct window_driver *d = chain_file_drive(&f, WINDOW_DRIVER_WHOLE);
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

CHAIN_SHAPE_PARAMETERS(chain, damaged_array_ends_the_chain_and_is_told_once)
{
	struct chain_file f = chain_file_of(s);
	uint64_t damaged = s->array_count * 2 / 3, before = 0, offset, index;
	struct window_driver *d;
	struct chain c;
	int r;

	for (uint64_t a = 0; a < damaged; a++)
		before += s->capacities[a % s->capacity_count];
	chain_file_put(&f, f.arrays[damaged] + ENTRY_ARRAY_NEXT, 4, 8);
	d = chain_file_drive(&f, s->mode);
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
	struct window_driver *d = chain_file_drive(&f, WINDOW_DRIVER_WHOLE);
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
	cr_assert(eq(int, chain_bisect_offset(&c, &f.j, &d->window, chain_element(37) + 1, &index),
		     0));
	cr_expect(eq(u64, index, 38));
	window_driver_free(d);
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
		chain_file_put(&f, f.arrays[1] + ENTRY_ARRAY_ITEMS + i * 4, 0, 4);
	d = chain_file_drive(&f, WINDOW_DRIVER_WHOLE);
	chain_init_global(&c, &f.j);
	cr_assert(eq(int, chain_get(&c, &f.j, &d->window, 103, &offset), 1));
	cr_expect(eq(u64, offset, chain_element(103)));
	cr_assert(eq(int, chain_get(&c, &f.j, &d->window, 104, &offset), 1));
	cr_expect(eq(u64, offset, 0));
	for (uint64_t i = 0; i < 104; i++) {
		cr_assert(eq(int,
			     chain_bisect_offset(&c, &f.j, &d->window, chain_element(i), &index),
			     0));
		cr_assert(eq(u64, index, i));
	}
	/* Beyond the last used one every place is as good as the next. */
	cr_assert(
		eq(int, chain_bisect_offset(&c, &f.j, &d->window, chain_element(104), &index), 0));
	cr_expect(eq(u64, index, 104));
	window_driver_free(d);
	chain_file_done(&f);
}

Test(chain, millions_of_tiny_arrays_take_no_quadratic_time, .timeout = 60)
{
	static const uint64_t one = 1;
	struct chain_file f = chain_file_new(true, 1000000, &one, 1);
	struct window_driver *d = chain_file_drive(&f, WINDOW_DRIVER_WHOLE);
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
	struct window_driver *d = chain_file_drive(&f, WINDOW_DRIVER_BLOCKS);
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
		uint64_t at = CHAIN_FILE_HEADER + a * 24;

		f.bytes[at] = OBJECT_ENTRY_ARRAY;
		chain_file_put(&f, at + OBJECT_SIZE, f.size - at, 8);
		chain_file_put(&f, at + ENTRY_ARRAY_NEXT, a < 999 ? at + 24 : 0, 8);
	}
	f.j.header.n_entries = UINT64_MAX;
	d = chain_file_drive(&f, WINDOW_DRIVER_WHOLE);
	chain_init_global(&c, &f.j);
	cr_expect(eq(int, chain_get(&c, &f.j, &d->window, UINT64_MAX - 1, &offset), 0));
	cr_expect(c.ended);
	/* 4000 items, then three fewer from array to array. */
	cr_expect(eq(u64, c.count, 1000 * 4000 - 3 * 999 * 1000 / 2));
	cr_expect(eq(int, chain_get(&c, &f.j, &d->window, c.count - 1, &offset), 1));
	cr_expect(eq(u64, offset, chain_element(3999)));
	window_driver_free(d);
	chain_file_done(&f);
}

Test(chain, items_that_cannot_be_read_do_not_hide_those_before)
{
	struct chain_file f = chain_file_new(true, 1, (uint64_t[]){ 5000 }, 1);
	struct window_driver *d = chain_file_drive(&f, WINDOW_DRIVER_BLOCKS);
	uint64_t offsets[1024],
		first_bad = (2 * WINDOW_DRIVER_BLOCK_SIZE - CHAIN_FILE_HEADER - 24) / 4;
	uint64_t index = 0;
	struct chain c;
	int r;

	d->failing_block = 2;
	chain_init_global(&c, &f.j);
	for (;;) {
		WINDOW_DRIVE(d, r, chain_get_many(&c, &f.j, &d->window, index, 1024, offsets));
		if (r <= 0)
			break;
		cr_assert(eq(u64, offsets[r - 1], chain_element(index + (uint64_t)r - 1)));
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

Test(chain, file_that_shrank_ends_the_chain)
{
	struct chain_file f = chain_file_new(true, 4, (uint64_t[]){ 4, 8, 26, 78 }, 4);
	/* All but the last array is there. */
	struct window w = { .base = f.bytes, .size_bytes = f.arrays[3], .whole = true };
	struct chain c;
	uint64_t offset;

	chain_init_global(&c, &f.j);
	cr_assert(eq(int, chain_get(&c, &f.j, &w, f.count - 1, &offset), -EADDRNOTAVAIL));
	cr_expect(eq(int, c.damage_error, -EADDRNOTAVAIL));
	cr_expect(eq(u64, c.count, 4 + 8 + 26));
	chain_file_done(&f);
}
