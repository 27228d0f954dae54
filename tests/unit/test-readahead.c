/* SPDX-License-Identifier: MIT */
#include <criterion/criterion.h>
#include <criterion/new/assert.h>

#include "uring/readahead.h"

#define KIB 1024ull
#define MIB (1024ull * 1024)

/* Asks for one range and checks it. */
static void expect_range(struct readahead *ra, uint64_t position, uint64_t room, uint64_t offset,
			 uint64_t size)
{
	uint64_t got_offset = 1, got_size = 1;

	cr_assert(readahead_next(ra, position, room, &got_offset, &got_size));
	cr_expect(eq(u64, got_offset, offset));
	cr_expect(eq(u64, got_size, size));
}

/* Asks for one range and gets none; the results stay untouched. */
static void expect_none(struct readahead *ra, uint64_t position, uint64_t room)
{
	uint64_t offset = 7, size = 9;

	cr_expect(not(readahead_next(ra, position, room, &offset, &size)));
	cr_expect(eq(u64, offset, 7));
	cr_expect(eq(u64, size, 9));
}

Test(readahead, begins_with_the_smallest_distance)
{
	struct readahead ra;

	readahead_init(&ra, 4096, 100 * MIB, false);
	expect_range(&ra, 4096, UINT64_MAX, 4096, READAHEAD_DISTANCE_MIN);
	expect_none(&ra, 4096, UINT64_MAX);
	/* The reader has used all of it. */
	expect_range(&ra, 4096 + READAHEAD_DISTANCE_MIN, UINT64_MAX, 4096 + READAHEAD_DISTANCE_MIN,
		     READAHEAD_DISTANCE_MIN);
}

Test(readahead, stalls_double_the_distance_up_to_the_limit)
{
	struct readahead ra;

	readahead_init(&ra, 0, 100 * MIB, false);
	readahead_stalled(&ra, 3 * MIB);
	cr_expect(eq(u64, ra.distance_bytes, 512 * KIB));
	readahead_stalled(&ra, 3 * MIB);
	readahead_stalled(&ra, 3 * MIB);
	readahead_stalled(&ra, 3 * MIB);
	cr_expect(eq(u64, ra.distance_bytes, 3 * MIB));
	readahead_stalled(&ra, 1 * MIB);
	cr_expect(eq(u64, ra.distance_bytes, 3 * MIB), "a lower limit takes nothing back");
	expect_range(&ra, 0, UINT64_MAX, 0, MIB);
	expect_range(&ra, 0, UINT64_MAX, MIB, MIB);
	expect_range(&ra, 0, UINT64_MAX, 2 * MIB, MIB);
	expect_none(&ra, 0, UINT64_MAX);
}

Test(readahead, a_tiny_limit_does_not_stop_reading)
{
	struct readahead ra;

	readahead_init(&ra, 0, MIB, false);
	readahead_stalled(&ra, 1);
	cr_expect(eq(u64, ra.distance_bytes, READAHEAD_DISTANCE_MIN));
	expect_range(&ra, 0, UINT64_MAX, 0, READAHEAD_DISTANCE_MIN);
}

Test(readahead, distance_does_not_overflow)
{
	struct readahead ra;

	readahead_init(&ra, 0, MIB, false);
	for (int i = 0; i < 100; i++)
		readahead_stalled(&ra, UINT64_MAX);
	cr_expect(eq(u64, ra.distance_bytes, UINT64_MAX));
	expect_range(&ra, 0, UINT64_MAX, 0, MIB);
	cr_expect(readahead_is_complete(&ra));
}

/* Reads a file of odd length to its end; every byte must be asked for exactly once. */
static void read_all(bool backward, uint64_t begin, uint64_t end)
{
	uint64_t position = backward ? end : begin, edge = position, offset, size, total = 0;
	struct readahead ra;

	readahead_init(&ra, begin, end, backward);
	for (int step = 0; position != (backward ? begin : end); step++) {
		uint64_t stride;

		cr_assert(step < 100000);
		while (readahead_next(&ra, position, UINT64_MAX, &offset, &size)) {
			cr_assert(size > 0 && size <= READAHEAD_REQUEST_BYTES);
			if (backward) {
				cr_assert(eq(u64, offset + size, edge));
				edge = offset;
			} else {
				cr_assert(eq(u64, offset, edge));
				edge = offset + size;
			}
			total += size;
		}
		if (step % 7 == 0)
			readahead_stalled(&ra, 8 * MIB);
		stride = backward ? position - begin : end - position;
		if (stride > 100001)
			stride = 100001;
		position = backward ? position - stride : position + stride;
	}
	while (readahead_next(&ra, position, UINT64_MAX, &offset, &size))
		total += size;
	cr_expect(readahead_is_complete(&ra));
	cr_expect(eq(u64, total, end - begin));
}

Test(readahead, forward_asks_for_every_byte_once)
{
	read_all(false, 12345, 33 * MIB + 17);
}

Test(readahead, backward_asks_for_every_byte_once)
{
	read_all(true, 12345, 33 * MIB + 17);
}

Test(readahead, a_jump_skips_what_lies_between)
{
	struct readahead ra;

	readahead_init(&ra, 0, 100 * MIB, false);
	expect_range(&ra, 0, UINT64_MAX, 0, READAHEAD_DISTANCE_MIN);
	expect_range(&ra, 50 * MIB, UINT64_MAX, 50 * MIB - READAHEAD_DISTANCE_MIN,
		     READAHEAD_DISTANCE_MIN);
	readahead_init(&ra, 0, 100 * MIB, true);
	expect_range(&ra, 50 * MIB, UINT64_MAX, 50 * MIB, READAHEAD_DISTANCE_MIN);
}

Test(readahead, a_small_step_past_the_edge_skips_nothing)
{
	struct readahead ra;

	readahead_init(&ra, 0, 100 * MIB, false);
	expect_range(&ra, 900 * KIB, UINT64_MAX, 0, READAHEAD_DISTANCE_MIN);
}

Test(readahead, room_limits_a_request_but_not_into_crumbs)
{
	struct readahead ra;

	readahead_init(&ra, 0, 100 * MIB, false);
	readahead_stalled(&ra, MIB);
	readahead_stalled(&ra, MIB);
	expect_none(&ra, 0, 0);
	expect_none(&ra, 0, READAHEAD_DISTANCE_MIN - 1);
	expect_range(&ra, 0, 300 * KIB, 0, 300 * KIB);
	/* The last piece may be small. */
	readahead_init(&ra, 0, 1000, false);
	expect_range(&ra, 0, 4096, 0, 1000);
	cr_expect(readahead_is_complete(&ra));
}

Test(readahead, nothing_to_read_is_complete_at_once)
{
	struct readahead ra;

	readahead_init(&ra, 5000, 5000, false);
	cr_expect(readahead_is_complete(&ra));
	expect_none(&ra, 0, UINT64_MAX);
	readahead_init(&ra, 5000, 100, true);
	cr_expect(readahead_is_complete(&ra));
	expect_none(&ra, UINT64_MAX, UINT64_MAX);
}
