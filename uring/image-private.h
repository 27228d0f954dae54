/* SPDX-License-Identifier: MIT */
/* What the four files of the image pool share: ranges and their frames, reads, the pool's state. */
#ifndef URING_IMAGE_PRIVATE_H
#define URING_IMAGE_PRIVATE_H

#include "uring/image.h"

/* Address space that ranges are cut from, front to back. */
struct frames_chunk {
	struct frames_chunk *next;
	uint8_t *base;
	uint64_t used_bytes;
};

/* Address space with the states of its blocks. It belongs to one image, or is kept for the next:
 * then no state says more than COMMITTED. */
struct image_range {
	struct list link; /* in the pool's cached */
	struct frames_chunk *chunk; /* what it was cut from, or NULL */
	uint8_t *base;
	uint8_t *blocks;
	uint8_t *seams; /* a bit per block: a mapping may begin there; see frames.c */
	uint64_t reserved_bytes;
	uint64_t block_room; /* blocks in reserved_bytes */
	uint64_t committed_count;
	uint64_t committed_end; /* no block from here on is committed */
	uint64_t seam_count;
	unsigned block_shift;
};

/* Blocks of a range that frames are sought for; without a range: none. */
struct frames_hole {
	struct image_range *range;
	uint64_t first_block, end_block;
};

/* A read of neighbouring blocks. Pending, its blocks are ASKED; in flight, IN_FLIGHT. */
struct image_read {
	struct io_op op;
	struct list queue_link; /* pending: in the pool's needed or expected; else in free_reads */
	struct list image_link; /* in image->reads */
	struct image *image;
	uint64_t first_block, block_count;
	enum image_need need;
	bool started;
	bool asked_direct;
	bool again; /* what it brings is out of date: read once more */
};

struct image_pool_private {
	struct list needed, expected; /* pending reads */
	struct list free_reads;
	struct list cached; /* ranges of closed images, longest unused first */
	struct image_slab *slabs;
	unsigned cached_count;
	unsigned flying_count;      /* reads in flight */
	unsigned expected_pause;    /* calls of image_pool_start() to let pass */
	uint64_t cached_bytes;      /* committed in cached ranges */
	uint64_t resident_bytes;
	uint64_t flying_bytes;      /* frames that are being read into */
	uint64_t ahead_bytes;       /* of blocks that are AHEAD */
	uint64_t expected_bytes;    /* of pending expected reads */
	uint64_t read_bytes_max;    /* of one read */
	uint64_t page_bytes;
	uint64_t released_bytes;    /* frames that have left their blocks, ever */
	uint64_t moved_bytes;       /* ... and went to another */
	uint64_t seam_count;        /* in all ranges */
	uint64_t recount_bytes;     /* read since ahead_bytes was last brought up to date */
	struct frames_chunk *chunks; /* the one that ranges are cut from first */
	bool chunks_refused;        /* address space is limited */
	bool ending;                /* all memory is about to be unmapped */
	bool moves_refused;         /* the kernel does not move frames: tests may set it, too */
	bool unsettled;             /* blocks have left since the last quiesce */
	struct frames_hole hole;
};

/* Reads the state of a block. */
static inline uint8_t image_block(const struct image_range *range, uint64_t block)
{
	return __atomic_load_n(&range->blocks[block], __ATOMIC_RELAXED);
}

/* Sets bits of a block's state, after what was written to the block before. Other threads write to
 * the states of resident blocks only, so that the others need no atomic exchange. */
static inline uint8_t image_block_set(struct image_range *range, uint64_t block, uint8_t bits)
{
	uint8_t old = image_block(range, block);

	if (old & IMAGE_BLOCK_RESIDENT)
		return __atomic_fetch_or(&range->blocks[block], bits, __ATOMIC_RELEASE);
	__atomic_store_n(&range->blocks[block], (uint8_t)(old | bits), __ATOMIC_RELEASE);
	return old;
}

/* Clears bits of a block's state, before the block is changed. */
static inline uint8_t image_block_clear(struct image_range *range, uint64_t block, uint8_t bits)
{
	uint8_t old = image_block(range, block);

	if (old & IMAGE_BLOCK_RESIDENT)
		return __atomic_fetch_and(&range->blocks[block], (uint8_t)~bits, __ATOMIC_ACQ_REL);
	__atomic_store_n(&range->blocks[block], (uint8_t)(old & ~bits), __ATOMIC_RELAXED);
	return old;
}

/* Bytes in COUNT blocks of an image. */
static inline uint64_t image_bytes(const struct image *image, uint64_t count)
{
	return count << image->block_shift;
}

/* Before bytes change: nobody reads blocks any more that have left. */
static inline void image_pool_settle(struct image_pool *pool)
{
	if (!pool->private->unsettled)
		return;
	pool->private->unsettled = false;
	if (pool->quiesce)
		pool->quiesce(pool->quiesce_userdata);
}

/* trace.c */

/* Tells the trace of an event. */
void trace_event(const struct image *image, enum image_event_kind kind, uint64_t offset,
		 uint64_t size_bytes);

/* The same where usually nobody looks. */
static inline void image_trace(const struct image *image, enum image_event_kind kind,
			       uint64_t offset, uint64_t size_bytes)
{
	if (__builtin_expect(image->pool->trace != NULL, 0))
		trace_event(image, kind, offset, size_bytes);
}

/* frames.c */

/* A range with room for SIZE_BYTES in blocks of 1 << BLOCK_SHIFT: one kept, or a new one. NULL if
 * there is no address space. */
struct image_range *frames_take_range(struct image_pool *pool, uint64_t size_bytes,
				      unsigned block_shift);

/* Keeps the range of a closed image, with its frames. FAILED: some of its blocks may be, beyond
 * those that have frames. */
void frames_keep_range(struct image_pool *pool, struct image_range *range, bool failed);

/* Unmaps what ranges were cut from. No range is left. */
void frames_free_chunks(struct image_pool *pool);

/* Takes a range off those that are kept. */
void frames_uncache(struct image_pool *pool, struct image_range *range);

/* Takes the frames of these blocks, which are not resident any more: moves them into the pool's
 * hole, or gives them back. */
void frames_release(struct image_pool *pool, struct image_range *range, uint64_t first_block,
		    uint64_t block_count);

/* Whether a run of so many bytes is moved rather than given back. */
bool frames_can_move(const struct image_pool *pool, uint64_t size_bytes);

/* Unmaps a range that is on no list. */
void frames_free_range(struct image_pool *pool, struct image_range *range);

/* The number of blocks among these that have no frame. */
uint64_t frames_lacking(const struct image *image, uint64_t first_block, uint64_t block_count);

/* Counts frames for blocks that are about to be read. */
void frames_commit(struct image *image, uint64_t first_block, uint64_t block_count);

/* The block is not resident any more; its frame stays. */
void frames_forget_block(struct image *image, uint64_t block);

/* The block is not counted as read ahead any more. */
void frames_clear_ahead(struct image *image, uint64_t block);

/* No block of an image that is being closed is resident any more. */
void frames_forget_all(struct image *image);

/* clock.c */

/* Finds out how much of what was read ahead has been used meanwhile. It looks at every block, and
 * therefore only now and then. */
void clock_recount_ahead(const struct image_pool *pool);

/* Makes room within the budget for the frames that these blocks lack; false if there is none. */
bool clock_make_room(struct image *image, uint64_t first_block, uint64_t block_count,
		     enum image_need need);

/* image-pool.c */

/* Makes reads for these blocks, none of which is resident or asked for. False: no memory. */
bool image_read_queue(struct image *image, uint64_t first_block, uint64_t block_count,
		      enum image_need need);

/* The read of an image that covers a block which is ASKED or IN_FLIGHT. */
struct image_read *image_read_find(const struct image *image, uint64_t block);

/* A pending read loses all its blocks but those: none if BLOCK_COUNT is 0, which frees it. */
void image_read_shrink(struct image_read *read, uint64_t first_block, uint64_t block_count);

/* A read in flight is needed from now on. */
void image_read_upgrade(struct image_read *read);

#endif
