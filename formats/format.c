/* SPDX-License-Identifier: MIT */
/*
 * The slow half of a window: which blocks of a range are there, and which to ask for. Block states
 * change under us (another thread completes reads and evicts), so each one is loaded once, with
 * acquire ordering: a block that is seen as resident has its bytes. What keeps it resident until
 * the step ends is the owner's business.
 */
#include <assert.h>

#include "formats/format.h"

/* Records a lacking range, in the want that it overlaps or continues if there is one. */
void window_want(struct window *w, uint64_t offset, uint64_t size_bytes)
{
	uint64_t end = offset + size_bytes;

	assert(end >= offset);
	for (unsigned i = 0; i < w->want_count; i++) {
		struct window_range *want = &w->wants[i];
		uint64_t want_end = want->offset + want->size_bytes;

		if (offset > want_end || end < want->offset)
			continue;
		if (offset < want->offset)
			want->offset = offset;
		want->size_bytes = (end > want_end ? end : want_end) - want->offset;
		return;
	}
	if (w->want_count < WINDOW_WANTS_MAX)
		w->wants[w->want_count++] = (struct window_range){ offset, size_bytes };
}

/* Records the blocks from FIRST to LAST that are neither resident nor failed, run by run. */
static int window_want_blocks(struct window *w, uint64_t first, uint64_t last)
{
	uint64_t run = first; /* start of the current run of lacking blocks */

	/* A failed block decides, whatever else is lacking: no read would help. */
	for (uint64_t i = first; i <= last; i++)
		if (__atomic_load_n(&w->blocks[i], __ATOMIC_ACQUIRE) & WINDOW_BLOCK_FAILED)
			return -EIO;

	for (uint64_t i = first; i <= last + 1; i++) {
		uint64_t start, end;

		if (i <= last &&
		    !(__atomic_load_n(&w->blocks[i], __ATOMIC_ACQUIRE) & WINDOW_BLOCK_RESIDENT))
			continue;
		if (i > run) {
			start = run << w->block_shift;
			end = i << w->block_shift;
			if (end > w->size_bytes)
				end = w->size_bytes;
			window_want(w, start, end - start);
		}
		run = i + 1;
	}
	return -EAGAIN;
}

/* Looks at the state of every block of a range that lies within the file. */
int window_get_blocks(struct window *w, uint64_t offset, uint64_t size_bytes, const uint8_t **ret)
{
	uint64_t first = offset >> w->block_shift;
	uint64_t last = (offset + size_bytes - 1) >> w->block_shift;

	assert(size_bytes > 0);
	assert(offset <= w->size_bytes && size_bytes <= w->size_bytes - offset);
	for (uint64_t i = first; i <= last; i++) {
		unsigned state = __atomic_load_n(&w->blocks[i], __ATOMIC_ACQUIRE);

		if (unlikely((state & (WINDOW_BLOCK_RESIDENT | WINDOW_BLOCK_FAILED)) !=
			     WINDOW_BLOCK_RESIDENT))
			return window_want_blocks(w, first, last);
		/* Written only if it changes something: the states share cache lines between
		 * threads. */
		if (unlikely(!(state & WINDOW_BLOCK_TOUCHED)))
			__atomic_fetch_or(&w->blocks[i], WINDOW_BLOCK_TOUCHED, __ATOMIC_RELAXED);
	}
	*ret = w->base + offset;
	return 0;
}
