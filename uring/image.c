/* SPDX-License-Identifier: MIT */
/*
 * One file in memory: opening and closing its range, asking for blocks, pinning, forgetting,
 * changing size.
 *
 * Invariants of a block's state: RESIDENT, ASKED and IN_FLIGHT exclude each other, except that a
 * block in flight which is forgotten keeps IN_FLIGHT and its read is marked to be done again. A
 * block that is ASKED or IN_FLIGHT belongs to exactly one read of image->reads. RESIDENT and
 * IN_FLIGHT imply COMMITTED. Blocks from block_count on are not RESIDENT, but may be COMMITTED,
 * and ASKED until their read would be started. resident_count and the pool's sums are kept by
 * frames.c and image-pool.c.
 *
 * Nothing here starts a read or takes a frame from another block.
 */
#include "uring/image-private.h"

#include <assert.h>
#include <errno.h>
#include <string.h>

/* The number of blocks that a size takes. */
static uint64_t image_count_blocks(const struct image *image, uint64_t size_bytes)
{
	return (size_bytes >> image->block_shift) +
	       ((size_bytes & ((1ull << image->block_shift) - 1)) != 0);
}

/* Brings `whole` up to date when blocks have come in or the size has changed. */
static void image_update_whole(struct image *image)
{
	image->whole = image->resident_count == image->block_count;
}

int image_open(struct image_pool *pool, struct image *image, const struct io_file *file,
	       uint64_t size_bytes, unsigned block_shift, void *owner)
{
	assert(block_shift >= 12 && block_shift <= 21);

	if (size_bytes > (uint64_t)INT64_MAX / 2)
		return -ENOMEM;
	while (1ull << block_shift < pool->private->page_bytes)
		block_shift++;

	memset(image, 0, sizeof(*image));
	image->range = frames_take_range(pool, size_bytes, block_shift);
	if (!image->range)
		return -ENOMEM;
	image->base = image->range->base;
	image->blocks = image->range->blocks;
	image->block_shift = block_shift;
	image->size_bytes = size_bytes;
	image->block_count = image_count_blocks(image, size_bytes);
	image->file = *file;
	image->pool = pool;
	image->owner = owner;
	list_init(&image->link);
	list_init(&image->ready_link);
	list_init(&image->reads);
	list_append(&pool->images, &image->link);
	image_update_whole(image);
	image_trace(image, IMAGE_EVENT_OPEN, 0, size_bytes);
	return 0;
}

int image_close(struct image *image)
{
	struct list *node, *next;

	if (!image->closing) {
		image_trace(image, IMAGE_EVENT_CLOSE, 0, image->size_bytes);
		image->closing = true;
		list_remove(&image->link);
		list_remove(&image->ready_link);
		for (node = image->reads.next; node != &image->reads; node = next) {
			struct image_read *read = container_of(node, struct image_read, image_link);

			next = node->next;
			if (!read->started)
				image_read_shrink(read, read->first_block, 0);
		}
		image->needed_pending = 0;
		image_unpin(image);
		frames_forget_all(image);
	}
	if (image->in_flight > 0)
		return -EAGAIN;
	if (image->range) {
		frames_keep_range(image->pool, image->range, image->error != 0);
		image->pool->private->expected_pause = 0;
		image->range = NULL;
		image->base = NULL;
		image->blocks = NULL;
	}
	return 0;
}

/* Makes a pin span another one. */
static void image_pin_span(struct image_pin *pin, const struct image_pin *other)
{
	uint64_t end = pin->first_block + pin->block_count;

	if (end < other->first_block + other->block_count)
		end = other->first_block + other->block_count;
	if (pin->first_block > other->first_block)
		pin->first_block = other->first_block;
	pin->block_count = end - pin->first_block;
}

/* Pins a range until the step that needs it has committed. */
static void image_pin(struct image *image, uint64_t first_block, uint64_t block_count)
{
	const struct image_pin new = { first_block, block_count };
	struct image_pin *last;

	for (uint64_t i = first_block; i < first_block + block_count; i++)
		if (!(image_block(image->range, i) & IMAGE_BLOCK_PINNED))
			image_block_set(image->range, i, IMAGE_BLOCK_PINNED);

	if (image->pin_count > IMAGE_PINS_MAX) {
		image_pin_span(&image->pins[0], &new);
		return;
	}
	if (image->pin_count > 0) {
		last = &image->pins[image->pin_count - 1];
		if (first_block >= last->first_block &&
		    first_block <= last->first_block + last->block_count) {
			image_pin_span(last, &new);
			return;
		}
	}
	if (image->pin_count < IMAGE_PINS_MAX) {
		image->pins[image->pin_count++] = new;
		return;
	}
	/* Too many to remember: the first becomes what spans them all. */
	for (unsigned i = 1; i < IMAGE_PINS_MAX; i++)
		image_pin_span(&image->pins[0], &image->pins[i]);
	image_pin_span(&image->pins[0], &new);
	image->pin_count = IMAGE_PINS_MAX + 1;
}

void image_unpin(struct image *image)
{
	unsigned count = image->pin_count > IMAGE_PINS_MAX ? 1 : image->pin_count;

	if (count == 0)
		return;
	for (unsigned p = 0; p < count; p++) {
		const struct image_pin *pin = &image->pins[p];

		for (uint64_t i = 0; i < pin->block_count; i++)
			if (image_block(image->range, pin->first_block + i) & IMAGE_BLOCK_PINNED)
				image_block_clear(image->range, pin->first_block + i,
						  IMAGE_BLOCK_PINNED);
	}
	image->pin_count = 0;
}

/* Takes the blocks from FIRST to before END out of a pending expected read that covers FIRST. */
static void image_carve(struct image_read *read, uint64_t first, uint64_t end)
{
	uint64_t read_first = read->first_block, read_end = read_first + read->block_count;
	struct image *image = read->image;

	if (end > read_end)
		end = read_end;
	image_read_shrink(read, read_first, first - read_first);
	/* If there is no memory for the rest, it is only not read ahead. */
	if (end < read_end)
		(void)image_read_queue(image, end, read_end - end, IMAGE_EXPECTED);
}

/* Asks for blocks that are neither there nor on their way. */
static void image_want_run(struct image *image, uint64_t first_block, uint64_t block_count,
			   enum image_need need)
{
	if (need == IMAGE_NEEDED)
		image->pool->statistics.block_misses += block_count;
	if (block_count == 0 || image_read_queue(image, first_block, block_count, need) ||
	    need == IMAGE_EXPECTED)
		return;
	/* There is no memory to ask with, and the caller would wait for ever. */
	for (uint64_t i = first_block; i < first_block + block_count; i++)
		if (!(image_block(image->range, i) & (IMAGE_BLOCK_ASKED | IMAGE_BLOCK_IN_FLIGHT)))
			image_block_set(image->range, i, IMAGE_BLOCK_FAILED);
	if (image->error == 0)
		image->error = -ENOMEM;
}

/* A block that is on its way is needed: true if it has to be asked for again. */
static bool image_want_sooner(struct image *image, uint64_t block, uint64_t end)
{
	struct image_read *read = image_read_find(image, block);

	if (read->need == IMAGE_NEEDED)
		return false;
	if (read->started) {
		image_read_upgrade(read);
		return false;
	}
	image_carve(read, block, end);
	return true;
}

unsigned image_want(struct image *image, uint64_t offset, uint64_t size_bytes, enum image_need need)
{
	struct image_statistics *statistics = &image->pool->statistics;
	uint64_t first, end, run = 0;
	unsigned missing = 0;

	assert(!image->closing);
	if (size_bytes == 0 || offset >= image->size_bytes)
		return 0;
	if (size_bytes > image->size_bytes - offset)
		size_bytes = image->size_bytes - offset;
	image_trace(image, need == IMAGE_NEEDED ? IMAGE_EVENT_WANTED : IMAGE_EVENT_EXPECTED, offset,
		    size_bytes);
	first = offset >> image->block_shift;
	end = ((offset + size_bytes - 1) >> image->block_shift) + 1;
	if (need == IMAGE_NEEDED)
		image_pin(image, first, end - first);

	for (uint64_t i = first; i < end; i++) {
		uint8_t state = image_block(image->range, i);
		bool coming = state & (IMAGE_BLOCK_ASKED | IMAGE_BLOCK_IN_FLIGHT);
		bool answered = !coming && (state & (IMAGE_BLOCK_RESIDENT | IMAGE_BLOCK_FAILED));

		if (!answered)
			missing++;
		if (need == IMAGE_NEEDED && coming && image_want_sooner(image, i, end))
			coming = false;
		if (!answered && !coming) {
			run++;
			continue;
		}
		image_want_run(image, i - run, run, need);
		run = 0;
		if (need == IMAGE_NEEDED)
			statistics->block_hits++;
	}
	image_want_run(image, end - run, run, need);
	return missing;
}

void image_used(struct image *image, uint64_t offset, uint64_t size_bytes)
{
	uint64_t first, end;

	if (offset >= image->size_bytes)
		return;
	if (size_bytes > image->size_bytes - offset)
		size_bytes = image->size_bytes - offset;
	/* Only blocks that are passed from end to end. */
	first = (offset + image_bytes(image, 1) - 1) >> image->block_shift;
	end = (offset + size_bytes) >> image->block_shift;
	if (first >= end)
		return;
	/* What was said before need not be looked at again. */
	if (first >= image->used_first && first < image->used_end)
		first = image->used_end;
	if (end > image->used_first && end <= image->used_end)
		end = image->used_first;
	for (uint64_t i = first; i < end; i++)
		frames_clear_ahead(image, i);
	if (first < end)
		image->pool->private->expected_pause = 0;
	if (first > image->used_end || end < image->used_first ||
	    image->used_first == image->used_end) {
		image->used_first = first;
		image->used_end = end;
		return;
	}
	if (image->used_first > first)
		image->used_first = first;
	if (image->used_end < end)
		image->used_end = end;
}

/* Lets the reads that cover these blocks be done again, and the blocks be asked for again. */
static void image_forget_blocks(struct image *image, uint64_t first_block, uint64_t end_block)
{
	for (uint64_t i = first_block; i < end_block; i++) {
		uint8_t state = image_block(image->range, i);

		if (state & IMAGE_BLOCK_IN_FLIGHT)
			image_read_find(image, i)->again = true;
		else if (state & (IMAGE_BLOCK_RESIDENT | IMAGE_BLOCK_FAILED))
			frames_forget_block(image, i);
	}
}

void image_forget(struct image *image, uint64_t offset, uint64_t size_bytes)
{
	assert(!image->closing);
	if (size_bytes == 0 || offset >= image->size_bytes)
		return;
	if (size_bytes > image->size_bytes - offset)
		size_bytes = image->size_bytes - offset;
	image_forget_blocks(image, offset >> image->block_shift,
			    ((offset + size_bytes - 1) >> image->block_shift) + 1);
	image_update_whole(image);
}

/* Takes another range, with more room. Nothing of the file is resident then. */
static int image_move(struct image *image, uint64_t room_bytes)
{
	struct image_range *range;

	if (!list_is_empty(&image->reads) || room_bytes > (uint64_t)INT64_MAX / 2)
		return -ENOSPC;
	range = frames_take_range(image->pool, room_bytes, image->block_shift);
	if (!range)
		return -ENOSPC;
	image_unpin(image);
	frames_forget_all(image);
	frames_keep_range(image->pool, image->range, image->error != 0);
	image->range = range;
	image->base = range->base;
	image->blocks = range->blocks;
	image->hand = image->used_first = image->used_end = 0;
	return 0;
}

int image_resize(struct image *image, uint64_t size_bytes)
{
	uint64_t old_bytes = image->size_bytes, old_count = image->block_count;

	assert(!image->closing);
	if (size_bytes > image->range->reserved_bytes && image_move(image, size_bytes) < 0)
		return -ENOSPC;
	if (size_bytes == old_bytes)
		return 0;
	image->size_bytes = size_bytes;
	image->block_count = image_count_blocks(image, size_bytes);
	if (size_bytes > old_bytes) {
		/* The last block was whole up to the old end only. */
		if (image_bytes(image, old_count) != old_bytes)
			image_forget_blocks(image, old_count - 1, old_count);
	} else {
		/* Reads of what is gone end by themselves: see image-pool.c. */
		for (uint64_t i = image->block_count; i < old_count; i++)
			frames_forget_block(image, i);
	}
	image_update_whole(image);
	return 0;
}
