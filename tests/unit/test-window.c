/* SPDX-License-Identifier: MIT */
/* Windows: what is there is handed out, what lacks is asked for, once and no more than that. */
#include <criterion/criterion.h>
#include <criterion/new/assert.h>

#include "formats/format.h"

#define BLOCK 4096u
#define BLOCKS 8u

static uint8_t file[BLOCK * BLOCKS];
static uint8_t states[BLOCKS];

/* A file that ends 100 bytes short of its last block's end. */
static struct window window_make(void)
{
	return (struct window){
		.base = file,
		.size_bytes = sizeof(file) - 100,
		.blocks = states,
		.block_shift = 12,
	};
}

Test(window, resident_range_is_handed_out_at_its_offset)
{
	struct window w = window_make();
	const uint8_t *p;

	states[2] = states[3] = WINDOW_BLOCK_RESIDENT;
	cr_assert(eq(int, window_get(&w, 2 * BLOCK, 2 * BLOCK, &p), 0));
	cr_expect(eq(ptr, (void *)p, file + 2 * BLOCK));
	cr_assert(eq(int, window_get(&w, 3 * BLOCK - 1, 2, &p), 0));
	cr_expect(eq(ptr, (void *)p, file + 3 * BLOCK - 1));
	cr_expect(eq(u32, w.want_count, 0));
}

Test(window, look_touches_the_blocks_it_spans)
{
	struct window w = window_make();
	const uint8_t *p;

	memset(states, WINDOW_BLOCK_RESIDENT | 0x30, sizeof(states));
	cr_assert(eq(int, window_get(&w, BLOCK + 5, BLOCK, &p), 0));
	cr_expect(eq(u8, states[0], WINDOW_BLOCK_RESIDENT | 0x30));
	cr_expect(eq(u8, states[1], WINDOW_BLOCK_RESIDENT | WINDOW_BLOCK_TOUCHED | 0x30));
	cr_expect(eq(u8, states[2], WINDOW_BLOCK_RESIDENT | WINDOW_BLOCK_TOUCHED | 0x30));
	cr_expect(eq(u8, states[3], WINDOW_BLOCK_RESIDENT | 0x30));
}

Test(window, lacking_blocks_are_wanted_in_runs)
{
	struct window w = window_make();
	const uint8_t *p = NULL;

	states[3] = WINDOW_BLOCK_RESIDENT;
	cr_assert(eq(int, window_get(&w, BLOCK + 1, 5 * BLOCK, &p), -EAGAIN));
	cr_expect(eq(ptr, (void *)p, NULL));
	cr_assert(eq(u32, w.want_count, 2));
	cr_expect(eq(u64, w.wants[0].offset, BLOCK));
	cr_expect(eq(u64, w.wants[0].size_bytes, 2 * BLOCK));
	cr_expect(eq(u64, w.wants[1].offset, 4 * BLOCK));
	cr_expect(eq(u64, w.wants[1].size_bytes, 3 * BLOCK));
}

Test(window, wants_end_with_the_file)
{
	struct window w = window_make();
	const uint8_t *p;

	cr_assert(eq(int, window_get(&w, w.size_bytes - 1, 1, &p), -EAGAIN));
	cr_assert(eq(u32, w.want_count, 1));
	cr_expect(eq(u64, w.wants[0].offset, 7 * BLOCK));
	cr_expect(eq(u64, w.wants[0].size_bytes, BLOCK - 100));
}

Test(window, wants_that_touch_are_merged)
{
	struct window w = window_make();
	const uint8_t *p;

	cr_assert(eq(int, window_get(&w, 0, 1, &p), -EAGAIN));
	cr_assert(eq(int, window_get(&w, 3 * BLOCK, 1, &p), -EAGAIN));
	cr_assert(eq(int, window_get(&w, BLOCK, 1, &p), -EAGAIN));
	cr_assert(eq(int, window_get(&w, 3 * BLOCK + 7, 9, &p), -EAGAIN));
	cr_assert(eq(u32, w.want_count, 2));
	cr_expect(eq(u64, w.wants[0].offset, 0));
	cr_expect(eq(u64, w.wants[0].size_bytes, 2 * BLOCK));
	cr_expect(eq(u64, w.wants[1].offset, 3 * BLOCK));
	cr_expect(eq(u64, w.wants[1].size_bytes, BLOCK));
}

Test(window, surplus_wants_are_dropped)
{
	struct window w = window_make();

	for (uint64_t i = 0; i < 2 * WINDOW_WANTS_MAX; i++)
		window_want(&w, i * 16, 8);
	cr_assert(eq(u32, w.want_count, WINDOW_WANTS_MAX));
	cr_expect(eq(u64, w.wants[WINDOW_WANTS_MAX - 1].offset, (WINDOW_WANTS_MAX - 1) * 16));
}

Test(window, failed_block_decides_over_lacking_ones)
{
	struct window w = window_make();
	const uint8_t *p;

	states[2] = WINDOW_BLOCK_FAILED;
	cr_expect(eq(int, window_get(&w, 0, 4 * BLOCK, &p), -EIO));
	cr_expect(eq(u32, w.want_count, 0));
	states[2] = WINDOW_BLOCK_FAILED | WINDOW_BLOCK_RESIDENT;
	cr_expect(eq(int, window_get(&w, 2 * BLOCK, 1, &p), -EIO));
}

Test(window, range_past_the_end_is_not_available)
{
	struct window w = window_make();
	const uint8_t *p;

	w.whole = true;
	cr_expect(eq(int, window_get(&w, 0, w.size_bytes, &p), 0));
	cr_expect(eq(int, window_get(&w, 0, w.size_bytes + 1, &p), -EADDRNOTAVAIL));
	cr_expect(eq(int, window_get(&w, w.size_bytes, 1, &p), -EADDRNOTAVAIL));
	cr_expect(eq(int, window_get(&w, UINT64_MAX, 2, &p), -EADDRNOTAVAIL));
	cr_expect(eq(int, window_get(&w, 16, UINT64_MAX, &p), -EADDRNOTAVAIL));
	w.whole = false;
	cr_expect(eq(int, window_get(&w, 1, w.size_bytes, &p), -EADDRNOTAVAIL));
	cr_expect(eq(u32, w.want_count, 0));
}

Test(window, whole_and_run_look_at_no_block)
{
	struct window w = window_make();
	const uint8_t *p;

	w.blocks = NULL;
	w.whole = true;
	cr_expect(eq(int, window_get(&w, 5, 5 * BLOCK, &p), 0));
	w.whole = false;
	w.run_begin = BLOCK;
	w.run_end = 3 * BLOCK;
	cr_assert(eq(int, window_get(&w, BLOCK, 2 * BLOCK, &p), 0));
	cr_expect(eq(ptr, (void *)p, file + BLOCK));
	cr_expect(eq(ptr, (void *)window_peek(&w, BLOCK + 1, 2 * BLOCK - 1), file + BLOCK + 1));
	w.blocks = states;
	cr_expect(eq(int, window_get(&w, BLOCK - 1, 2, &p), -EAGAIN));
	cr_expect(eq(int, window_get(&w, 3 * BLOCK - 1, 2, &p), -EAGAIN));
}

Test(window, peek_sees_only_what_needs_no_work)
{
	const unsigned ready = WINDOW_BLOCK_RESIDENT | WINDOW_BLOCK_TOUCHED;
	struct window w = window_make();

	states[0] = states[1] = states[2] = ready;
	cr_expect(eq(ptr, (void *)window_peek(&w, 10, 2 * BLOCK - 10), file + 10));
	cr_expect(eq(ptr, (void *)window_peek(&w, 10, 2 * BLOCK), NULL)); /* three blocks */
	states[1] = WINDOW_BLOCK_RESIDENT;
	cr_expect(eq(ptr, (void *)window_peek(&w, 10, BLOCK), NULL)); /* not touched */
	states[1] = ready | WINDOW_BLOCK_FAILED;
	cr_expect(eq(ptr, (void *)window_peek(&w, 10, BLOCK), NULL));
	cr_expect(eq(ptr, (void *)window_peek(&w, w.size_bytes, 1), NULL));
	cr_expect(eq(ptr, (void *)window_peek(&w, 1, UINT64_MAX), NULL));
	cr_expect(eq(u32, w.want_count, 0));
	cr_expect(eq(u8, states[3], 0));
}
