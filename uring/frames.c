/* SPDX-License-Identifier: MIT */
/*
 * Address ranges and the frames in them: what is committed, and what leaves when that is too much.
 *
 * A frame is counted from the moment that a read into its block is started until it is given back to
 * the kernel. Under pressure frames leave in this order: those of ranges kept for reuse, longest
 * unused first; then, by a clock that goes round the open images, blocks that hold nothing any more
 * and blocks that have not been touched since the hand passed. Pinned blocks, blocks asked for or in
 * flight, and images with readers are passed over. Blocks that were read ahead and not used yet are
 * no victims of expected reads, which moreover may only use the clock while such blocks take less
 * than their share of the budget.
 *
 * An image that is whole is read without its blocks being touched: before the clock takes anything
 * from one it takes back `whole`, and passes on.
 *
 * Frames leave by MADV_DONTNEED, in runs. Nothing here reads.
 */
#include "uring/image-private.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

/* Ranges kept: what is beyond is unmapped even if it would fit the budget. */
#define FRAMES_CACHED_MAX 64u

/* One call of madvise is made to free this much, if the budget is not tiny. */
#define FRAMES_RUN_BYTES (1u << 20)

/* Read-ahead may hold this part of the budget unused and still evict what is older. */
#define FRAMES_AHEAD_SHARE 2u

/* What makes a block no victim. */
#define FRAMES_BUSY (IMAGE_BLOCK_PINNED | IMAGE_BLOCK_ASKED | IMAGE_BLOCK_IN_FLIGHT)

/* Gives frames back to the kernel. Their blocks must not be resident any more. */
static void frames_discard(struct image_pool *pool, struct image_range *range, uint64_t first_block,
			   uint64_t block_count)
{
	uint64_t committed = 0;

	for (uint64_t i = first_block; i < first_block + block_count; i++)
		if (image_block_clear(range, i, IMAGE_BLOCK_COMMITTED) & IMAGE_BLOCK_COMMITTED)
			committed++;
	if (range->committed_end <= first_block + block_count && range->committed_end > first_block)
		range->committed_end = first_block;
	if (committed == 0)
		return;
	/* It fails only if memory is locked; then the frames are counted as if they had gone. */
	(void)madvise(range->base + (first_block << range->block_shift),
		      block_count << range->block_shift, MADV_DONTNEED);
	range->committed_count -= committed;
	if (range->committed_count == 0)
		range->committed_end = 0;
	pool->committed_bytes -= committed << range->block_shift;
}

/* Reserves a new range. */
static struct image_range *frames_reserve(uint64_t size_bytes, unsigned block_shift)
{
	struct image_range *range = calloc(1, sizeof(*range));
	void *base;

	if (!range)
		return NULL;
	range->block_shift = block_shift;
	range->reserved_bytes = size_bytes;
	range->block_room = size_bytes >> block_shift;
	range->blocks = calloc(range->block_room, 1);
	if (!range->blocks) {
		free(range);
		return NULL;
	}
	base = mmap(NULL, size_bytes, PROT_READ | PROT_WRITE,
		    MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
	if (base == MAP_FAILED) {
		free(range->blocks);
		free(range);
		return NULL;
	}
	/* A huge page would commit hundreds of blocks for the first one. */
	(void)madvise(base, size_bytes, MADV_NOHUGEPAGE);
	range->base = base;
	list_init(&range->link);
	return range;
}

void frames_free_range(struct image_pool *pool, struct image_range *range)
{
	pool->committed_bytes -= range->committed_count << range->block_shift;
	munmap(range->base, range->reserved_bytes);
	free(range->blocks);
	free(range);
}

/* Takes a range off those that are kept. */
static void frames_uncache(struct image_pool *pool, struct image_range *range)
{
	struct image_pool_private *p = pool->private;

	list_remove(&range->link);
	p->cached_count--;
	p->cached_bytes -= range->committed_count << range->block_shift;
}

void frames_keep_range(struct image_pool *pool, struct image_range *range)
{
	struct image_pool_private *p = pool->private;

	for (uint64_t i = 0; i < range->block_room; i++)
		range->blocks[i] &= IMAGE_BLOCK_COMMITTED;
	list_append(&p->cached, &range->link);
	p->cached_count++;
	p->cached_bytes += range->committed_count << range->block_shift;
	if (p->cached_count > FRAMES_CACHED_MAX) {
		range = container_of(p->cached.next, struct image_range, link);
		frames_uncache(pool, range);
		frames_free_range(pool, range);
	}
}

/* Changes the size of the blocks of a range that belongs to nobody. Frames of which a larger block
 * would have only a part are given up. */
static bool frames_reshape(struct image_pool *pool, struct image_range *range, unsigned block_shift)
{
	uint64_t room = range->reserved_bytes >> block_shift, committed = 0, end = 0;
	uint8_t *blocks = calloc(room, 1);

	if (!blocks)
		return false;
	if (block_shift > range->block_shift) {
		unsigned up = block_shift - range->block_shift;

		for (uint64_t i = 0; i < room && i << up < range->committed_end; i++) {
			uint64_t n = 0;

			for (uint64_t j = i << up; j < (i + 1) << up; j++)
				n += (range->blocks[j] & IMAGE_BLOCK_COMMITTED) != 0;
			if (n == 1ull << up) {
				blocks[i] = IMAGE_BLOCK_COMMITTED;
				committed++;
				end = i + 1;
			} else if (n > 0) {
				frames_discard(pool, range, i << up, 1ull << up);
			}
		}
	} else {
		unsigned down = range->block_shift - block_shift;

		for (uint64_t i = 0; i < range->committed_end << down; i++)
			blocks[i] = range->blocks[i >> down] & IMAGE_BLOCK_COMMITTED;
		committed = range->committed_count << down;
		end = range->committed_end << down;
	}
	free(range->blocks);
	range->blocks = blocks;
	range->block_shift = block_shift;
	range->block_room = room;
	range->committed_count = committed;
	range->committed_end = end;
	return true;
}

/* Rounds a size up so that files of about the same size can have each other's ranges. */
static uint64_t frames_round_size(uint64_t size_bytes, unsigned block_shift)
{
	uint64_t unit = 64u << 10;

	while (unit < 1ull << block_shift || unit < size_bytes / 16)
		unit *= 2;
	return size_bytes == 0 ? unit : (size_bytes + unit - 1) / unit * unit;
}

struct image_range *frames_take_range(struct image_pool *pool, uint64_t size_bytes,
				      unsigned block_shift)
{
	struct image_pool_private *p = pool->private;
	struct image_range *best = NULL, *range;

	size_bytes = frames_round_size(size_bytes, block_shift);
	/* The smallest that fits; of those the one used last, whose frames are in the caches. */
	for (struct list *node = p->cached.prev; node != &p->cached; node = node->prev) {
		range = container_of(node, struct image_range, link);
		if (range->reserved_bytes < size_bytes ||
		    range->reserved_bytes % (1ull << block_shift) != 0)
			continue;
		if (!best || range->reserved_bytes < best->reserved_bytes)
			best = range;
	}
	if (best) {
		frames_uncache(pool, best);
		if (best->block_shift == block_shift || frames_reshape(pool, best, block_shift))
			return best;
		frames_free_range(pool, best);
	}
	range = frames_reserve(size_bytes, block_shift);
	while (!range && !list_is_empty(&p->cached)) {
		best = container_of(p->cached.next, struct image_range, link);
		frames_uncache(pool, best);
		frames_free_range(pool, best);
		range = frames_reserve(size_bytes, block_shift);
	}
	return range;
}

uint64_t frames_lacking(const struct image *image, uint64_t first_block, uint64_t block_count)
{
	uint64_t lacking = 0;

	for (uint64_t i = first_block; i < first_block + block_count; i++)
		lacking += (image_block(image->range, i) & IMAGE_BLOCK_COMMITTED) == 0;
	return lacking;
}

void frames_commit(struct image *image, uint64_t first_block, uint64_t block_count)
{
	struct image_pool *pool = image->pool;
	struct image_statistics *statistics = &pool->statistics;
	struct image_range *range = image->range;
	uint64_t committed = 0;

	for (uint64_t i = first_block; i < first_block + block_count; i++)
		if (!(image_block_set(range, i, IMAGE_BLOCK_COMMITTED) & IMAGE_BLOCK_COMMITTED))
			committed++;
	range->committed_count += committed;
	if (range->committed_end < first_block + block_count)
		range->committed_end = first_block + block_count;
	pool->committed_bytes += image_bytes(image, committed);
	if (pool->committed_bytes > statistics->committed_peak_bytes)
		statistics->committed_peak_bytes = pool->committed_bytes;
	if (pool->committed_bytes > pool->budget_bytes &&
	    pool->committed_bytes - pool->budget_bytes > statistics->over_budget_bytes_max)
		statistics->over_budget_bytes_max = pool->committed_bytes - pool->budget_bytes;
}

void frames_clear_ahead(struct image *image, uint64_t block)
{
	if (image_block_clear(image->range, block, IMAGE_BLOCK_AHEAD) & IMAGE_BLOCK_AHEAD)
		image->pool->private->ahead_bytes -= image_bytes(image, 1);
}

void frames_forget_block(struct image *image, uint64_t block)
{
	struct image_pool_private *p = image->pool->private;
	uint8_t old = image_block_clear(image->range, block,
					IMAGE_BLOCK_RESIDENT | IMAGE_BLOCK_TOUCHED |
						IMAGE_BLOCK_FAILED | IMAGE_BLOCK_AHEAD);

	if (old & IMAGE_BLOCK_AHEAD)
		p->ahead_bytes -= image_bytes(image, 1);
	if (old & IMAGE_BLOCK_RESIDENT) {
		p->resident_bytes -= image_bytes(image, 1);
		image->resident_count--;
		image->whole = false;
	}
}

/* Takes frames from ranges that are kept; returns the bytes freed. */
static uint64_t frames_reclaim_cached(struct image_pool *pool, uint64_t goal_bytes)
{
	struct image_pool_private *p = pool->private;
	uint64_t before = pool->committed_bytes;

	while (before - pool->committed_bytes < goal_bytes && p->cached_bytes > 0) {
		struct image_range *range =
			container_of(p->cached.next, struct image_range, link);
		uint64_t left = goal_bytes - (before - pool->committed_bytes);
		uint64_t bytes = range->committed_count << range->block_shift;
		uint64_t blocks = (left + (1ull << range->block_shift) - 1) >> range->block_shift;
		uint64_t freed = pool->committed_bytes;

		frames_uncache(pool, range);
		if (bytes <= left) {
			frames_free_range(pool, range);
			continue;
		}
		/* From its end, so that the beginning, which all files have, stays longest. */
		if (blocks > range->committed_end)
			blocks = range->committed_end;
		frames_discard(pool, range, range->committed_end - blocks, blocks);
		freed -= pool->committed_bytes;
		list_prepend(&p->cached, &range->link);
		p->cached_count++;
		p->cached_bytes += bytes - freed;
	}
	return before - pool->committed_bytes;
}

/* Whether the hand takes this block. It gives those that have been touched another round. */
static bool frames_is_victim(struct image *image, uint64_t block, enum image_need need)
{
	uint8_t state = image_block(image->range, block);

	if (!(state & IMAGE_BLOCK_COMMITTED) || (state & FRAMES_BUSY))
		return false;
	if (!(state & IMAGE_BLOCK_RESIDENT))
		return true;
	if (state & IMAGE_BLOCK_TOUCHED) {
		image_block_clear(image->range, block, IMAGE_BLOCK_TOUCHED);
		frames_clear_ahead(image, block);
		return false;
	}
	if (state & IMAGE_BLOCK_AHEAD) {
		if (need == IMAGE_NEEDED)
			frames_clear_ahead(image, block);
		return false;
	}
	return true;
}

/* Moves the hand through one image until GOAL_BYTES are free or its end is reached. */
static void frames_sweep(struct image *image, uint64_t goal_bytes, enum image_need need)
{
	struct image_pool *pool = image->pool;
	uint64_t before = pool->committed_bytes, end = image->range->committed_end;
	uint64_t i = image->hand < end ? image->hand : end;

	while (i < end && before - pool->committed_bytes < goal_bytes) {
		uint64_t left = goal_bytes - (before - pool->committed_bytes), run = 0;

		while (i + run < end && image_bytes(image, run) < left &&
		       frames_is_victim(image, i + run, need)) {
			uint64_t resident = image->resident_count;

			frames_forget_block(image, i + run);
			pool->statistics.blocks_evicted += resident - image->resident_count;
			run++;
		}
		if (run == 0) {
			i++;
			continue;
		}
		frames_discard(pool, image->range, i, run);
		i += run;
	}
	image->hand = i;
}

/* Goes round the open images; returns the bytes freed. */
static uint64_t frames_reclaim_open(struct image_pool *pool, uint64_t goal_bytes,
				    enum image_need need)
{
	uint64_t before = pool->committed_bytes;
	uint64_t visits = 0;
	struct list *node;

	list_for_each(node, &pool->images)
		visits++;
	/* Once for `whole`, once for what was touched or ahead, once for the rest, and once more for
	 * where the hand began. */
	for (visits *= 4; visits > 0; visits--) {
		struct image *image = container_of(pool->images.next, struct image, link);
		bool pass = image->readers > 0 || image->range->committed_count == 0;

		if (!pass && image->whole) {
			if (need == IMAGE_NEEDED)
				image->whole = false;
			pass = true;
		}
		if (!pass) {
			frames_sweep(image, goal_bytes - (before - pool->committed_bytes), need);
			if (before - pool->committed_bytes >= goal_bytes)
				break;
		}
		image->hand = 0;
		list_remove(&image->link);
		list_append(&pool->images, &image->link);
	}
	return before - pool->committed_bytes;
}

/* Finds out how much of what was read ahead has been used meanwhile. */
static void frames_recount_ahead(struct image_pool *pool)
{
	struct list *node;

	list_for_each(node, &pool->images) {
		struct image *image = container_of(node, struct image, link);

		for (uint64_t i = 0; i < image->range->committed_end; i++)
			if ((image_block(image->range, i) &
			     (IMAGE_BLOCK_AHEAD | IMAGE_BLOCK_TOUCHED)) ==
			    (IMAGE_BLOCK_AHEAD | IMAGE_BLOCK_TOUCHED))
				frames_clear_ahead(image, i);
	}
}

bool frames_make_room(struct image_pool *pool, uint64_t size_bytes, enum image_need need)
{
	uint64_t share = pool->budget_bytes / FRAMES_AHEAD_SHARE;
	uint64_t lacking, goal, slack, freed;

	if (pool->committed_bytes + size_bytes <= pool->budget_bytes)
		return true;
	lacking = pool->committed_bytes + size_bytes - pool->budget_bytes;
	slack = pool->budget_bytes / 32 < FRAMES_RUN_BYTES ? pool->budget_bytes / 32
							   : FRAMES_RUN_BYTES;
	goal = lacking > slack ? lacking : slack;

	freed = frames_reclaim_cached(pool, goal);
	if (freed >= lacking)
		return true;
	if (need == IMAGE_EXPECTED && pool->private->ahead_bytes + size_bytes > share) {
		frames_recount_ahead(pool);
		if (pool->private->ahead_bytes + size_bytes > share)
			return false;
	}
	freed += frames_reclaim_open(pool, goal - freed, need);
	return freed >= lacking;
}
