/* SPDX-License-Identifier: MIT */
/*
 * What leaves when the budget is reached. First the frames of ranges kept for reuse, longest unused
 * first; then, by a clock that goes round the open images, blocks that hold nothing any more and
 * blocks that have not been touched since the hand passed. Pinned blocks and blocks asked for or in
 * flight are passed over. Blocks that were read ahead and not used yet are no victims of expected
 * reads, which moreover may only use the clock while such blocks take less than their share of the
 * budget.
 *
 * An image that is whole is read without its blocks being touched: before the clock takes anything
 * from one it takes back `whole`, and passes on.
 *
 * Frames go to the blocks that room is made for, as far as they can be moved: see frames.c. Nothing
 * here reads.
 */
#include "uring/image-private.h"

/* Runs that are given back are made so long, if the budget is not tiny. */
#define CLOCK_SLACK_BYTES (256u << 10)

/* Read-ahead may hold this part of the budget unused and still evict what is older. */
#define CLOCK_AHEAD_SHARE 2u

/* So much of the budget is read, or so many times it is asked, before blocks are counted again. */
#define CLOCK_RECOUNT_SHARE 32u
#define CLOCK_RECOUNT_CALLS 16u

/* What makes a block no victim. */
#define CLOCK_BUSY (IMAGE_BLOCK_PINNED | IMAGE_BLOCK_ASKED | IMAGE_BLOCK_IN_FLIGHT)

/* Takes frames from ranges that are kept; returns the bytes released. */
static uint64_t clock_reclaim_cached(struct image_pool *pool, uint64_t goal_bytes)
{
	struct image_pool_private *p = pool->private;
	uint64_t begin = p->released_bytes;

	while (p->released_bytes - begin < goal_bytes && p->cached_bytes > 0) {
		struct image_range *range =
			container_of(p->cached.next, struct image_range, link);
		uint64_t left = goal_bytes - (p->released_bytes - begin);
		uint64_t blocks = (left + (1ull << range->block_shift) - 1) >> range->block_shift;

		frames_uncache(pool, range);
		/* From its end, so that the beginning, which all files have, stays longest. */
		if (blocks > range->committed_end)
			blocks = range->committed_end;
		frames_release(pool, range, range->committed_end - blocks, blocks);
		if (range->committed_count == 0) {
			frames_free_range(pool, range);
			continue;
		}
		list_prepend(&p->cached, &range->link);
		p->cached_count++;
		p->cached_bytes += range->committed_count << range->block_shift;
	}
	return p->released_bytes - begin;
}

/* Whether the hand takes this block. It gives those that have been touched another round. */
static bool clock_is_victim(struct image *image, uint64_t block, enum image_need need)
{
	uint8_t state = image_block(image->range, block);

	if (!(state & IMAGE_BLOCK_COMMITTED) || (state & CLOCK_BUSY))
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
static void clock_sweep(struct image *image, uint64_t goal_bytes, enum image_need need)
{
	struct image_pool *pool = image->pool;
	uint64_t begin = pool->private->released_bytes, end = image->range->committed_end;
	uint64_t i = image->hand < end ? image->hand : end;

	while (i < end && pool->private->released_bytes - begin < goal_bytes) {
		uint64_t left = goal_bytes - (pool->private->released_bytes - begin), run = 0;

		while (i + run < end && image_bytes(image, run) < left &&
		       clock_is_victim(image, i + run, need)) {
			uint64_t resident = image->resident_count;

			frames_forget_block(image, i + run);
			pool->statistics.blocks_evicted += resident - image->resident_count;
			run++;
		}
		if (run == 0) {
			i++;
			continue;
		}
		frames_release(pool, image->range, i, run);
		image_trace(image, IMAGE_EVENT_EVICTED, image_bytes(image, i),
			    image_bytes(image, run));
		i += run;
	}
	image->hand = i;
}

/* Goes round the open images; returns the bytes released. */
static uint64_t clock_reclaim_open(struct image_pool *pool, uint64_t goal_bytes,
				    enum image_need need)
{
	const uint64_t *released = &pool->private->released_bytes, begin = *released;
	uint64_t visits = 0;
	struct list *node;

	list_for_each(node, &pool->images)
		visits++;
	/* Once for `whole`, once for what was touched or ahead, once for the rest, and once more
	 * for where the hand began. */
	for (visits *= 4; visits > 0; visits--) {
		struct image *image = container_of(pool->images.next, struct image, link);
		bool pass = image->range->committed_count == 0;

		if (!pass && image->whole) {
			if (need == IMAGE_NEEDED)
				image->whole = false;
			pass = true;
		}
		if (!pass) {
			clock_sweep(image, goal_bytes - (*released - begin), need);
			if (*released - begin >= goal_bytes)
				break;
		}
		image->hand = 0;
		list_remove(&image->link);
		list_append(&pool->images, &image->link);
	}
	return *released - begin;
}

/* Whether none of the eight blocks from one on was read ahead. */
static bool clock_skips_word(const struct image_range *range, uint64_t block)
{
	uint64_t states;

	if (block % 8 != 0 || block + 8 > range->block_room)
		return false;
	/* The states of blocks begin where malloc put them, which is aligned. */
	states = __atomic_load_n((const uint64_t *)(const void *)(range->blocks + block),
				 __ATOMIC_RELAXED);
	return (states & 0x0101010101010101u * IMAGE_BLOCK_AHEAD) == 0;
}

void clock_recount_ahead(const struct image_pool *pool)
{
	const uint8_t both = IMAGE_BLOCK_AHEAD | IMAGE_BLOCK_TOUCHED;
	uint64_t interval = pool->budget_bytes / CLOCK_RECOUNT_SHARE;
	struct list *node;

	/* Blocks can be used without anything being read. */
	pool->private->recount_bytes += interval / CLOCK_RECOUNT_CALLS + 1;
	if (pool->private->recount_bytes < interval)
		return;
	pool->private->recount_bytes = 0;
	list_for_each(node, &pool->images) {
		struct image *image = container_of(node, struct image, link);

		for (uint64_t i = 0; i < image->range->committed_end; i++) {
			if (clock_skips_word(image->range, i))
				i += 7;
			else if ((image_block(image->range, i) & both) == both)
				frames_clear_ahead(image, i);
		}
	}
}

/* Releases LACKING_BYTES at least, or what can be had. */
static void clock_reclaim(struct image_pool *pool, uint64_t lacking_bytes, enum image_need need)
{
	struct image_pool_private *p = pool->private;
	uint64_t share = pool->budget_bytes / CLOCK_AHEAD_SHARE;
	uint64_t goal = lacking_bytes, slack, released;

	/* What is moved needs no more than that; what is given back goes in longer runs. */
	if (!frames_can_move(pool, lacking_bytes)) {
		slack = pool->budget_bytes / 32;
		if (slack > CLOCK_SLACK_BYTES)
			slack = CLOCK_SLACK_BYTES;
		if (goal < slack)
			goal = slack;
	}
	released = clock_reclaim_cached(pool, goal);
	if (released >= lacking_bytes)
		return;
	if (need == IMAGE_EXPECTED && p->ahead_bytes + lacking_bytes > share) {
		clock_recount_ahead(pool);
		if (p->ahead_bytes + lacking_bytes > share)
			return;
	}
	clock_reclaim_open(pool, goal - released, need);
}

bool clock_make_room(struct image *image, uint64_t first_block, uint64_t block_count,
		     enum image_need need)
{
	struct image_pool *pool = image->pool;
	uint64_t lacking = image_bytes(image, frames_lacking(image, first_block, block_count));

	if (lacking == 0 || pool->committed_bytes + lacking <= pool->budget_bytes)
		return true;
	pool->private->hole =
		(struct frames_hole){ image->range, first_block, first_block + block_count };
	clock_reclaim(pool, pool->committed_bytes + lacking - pool->budget_bytes, need);
	pool->private->hole.range = NULL;
	lacking = image_bytes(image, frames_lacking(image, first_block, block_count));
	return pool->committed_bytes + lacking <= pool->budget_bytes;
}
