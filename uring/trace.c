/* SPDX-License-Identifier: MIT */
/*
 * What happens to blocks, told to whoever traces a pool. Most events are told where they happen, by
 * image_trace(). That a block is used is not an event: decoders just look at it. They leave a mark,
 * the same that eviction goes by, and the marks are collected here, image by image.
 */
#include "uring/image-private.h"

void trace_event(const struct image *image, enum image_event_kind kind, uint64_t offset,
		 uint64_t size_bytes)
{
	struct image_event event = {
		.kind = kind,
		.image = image,
		.offset = offset,
		.size_bytes = size_bytes,
	};

	image->pool->trace(image->pool->trace_userdata, &event);
}

/* Takes the mark off a block; true if there was one. What was read ahead has been used. */
static bool trace_take_mark(struct image *image, uint64_t block)
{
	if (!(image_block(image->range, block) & IMAGE_BLOCK_TOUCHED))
		return false;
	image_block_clear(image->range, block, IMAGE_BLOCK_TOUCHED);
	frames_clear_ahead(image, block);
	return true;
}

void image_pool_trace_hits(struct image_pool *pool)
{
	for (struct list *l = pool->images.next; l != &pool->images; l = l->next) {
		struct image *image = container_of(l, struct image, link);
		uint64_t run = 0;

		for (uint64_t i = 0; i <= image->block_count; i++) {
			if (i < image->block_count && trace_take_mark(image, i)) {
				run++;
			} else if (run) {
				trace_event(image, IMAGE_EVENT_HIT, image_bytes(image, i - run),
					    image_bytes(image, run));
				run = 0;
			}
		}
	}
}
