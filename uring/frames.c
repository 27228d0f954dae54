/* SPDX-License-Identifier: MIT */
/*
 * Address ranges and the frames in them: reserving, keeping for the next file, committing, giving
 * frames back or moving them.
 *
 * A frame is counted from the moment that a read into its block is started until it is given back
 * to the kernel. A frame that leaves its block is moved, if there is a hole that waits for frames
 * and the run is long enough: mremap with MREMAP_DONTUNMAP moves page table entries, whereas giving
 * a frame back and faulting it in again clears it, and costs more than reading a page from the page
 * cache does. Measured (2 cores, virtual machine, Linux 6.18; copying cached pages into a reused
 * range takes 0.2 s/GB), evicting and refilling takes
 *
 *	runs of          16 KiB   64 KiB   256 KiB   1 MiB
 *	madvise, s/GB    0.7-0.8  0.53     0.51      0.45-0.55
 *	mremap, s/GB     0.5-0.6  0.3-0.4  0.27      0.21-0.26
 *
 * against 2-3.5 s/GB for memory that the machine's host has not yet provided. Every move leaves up
 * to two more mappings: the pool counts the seams, and stops moving before vm.max_map_count. A run
 * with a seam in it is not one mapping and cannot be moved at once.
 *
 * Huge pages are refused: they would commit hundreds of blocks with the first one, and for streamed
 * images, whose frames are reused, they made no difference that could be measured.
 */
#include "uring/image-private.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

/* Ranges kept: what is beyond is unmapped even if it would fit the budget. */
#define FRAMES_CACHED_MAX 1024u

/* Ranges of usual size are cut from larger ones: one system call maps and unmaps many. */
#define FRAMES_CHUNK_BYTES (UINT64_C(1) << 30)
#define FRAMES_CUT_BYTES_MAX (UINT64_C(64) << 20)

/* Shorter runs are not worth a mapping: through the pool, interleaved reads of 16 KiB became slower
 * by moving, those of 64 KiB took two thirds, those of 256 KiB half the time. */
#define FRAMES_MOVE_BYTES_MIN (64u << 10)

/* Seams in all ranges: a quarter of the usual vm.max_map_count. */
#define FRAMES_SEAMS_MAX 16384u

/* Whether one mapping may end, and another begin, at a block. */
static bool frames_is_seam(const struct image_range *range, uint64_t block)
{
	return block < range->block_room && (range->seams[block / 8] >> block % 8 & 1);
}

/* Notes that a mapping begins at a block, or does not. */
static void frames_set_seam(struct image_pool *pool, struct image_range *range, uint64_t block,
			    bool seam)
{
	if (block == 0 || block >= range->block_room || frames_is_seam(range, block) == seam)
		return;
	range->seams[block / 8] ^= (uint8_t)(1u << block % 8);
	if (seam) {
		range->seam_count++;
		pool->private->seam_count++;
	} else {
		range->seam_count--;
		pool->private->seam_count--;
	}
}

/* Counts frames that blocks of a range have got. */
static void frames_add(struct image_range *range, uint64_t first_block, uint64_t block_count)
{
	for (uint64_t i = first_block; i < first_block + block_count; i++)
		if (!(image_block_set(range, i, IMAGE_BLOCK_COMMITTED) & IMAGE_BLOCK_COMMITTED))
			range->committed_count++;
	if (range->committed_end < first_block + block_count)
		range->committed_end = first_block + block_count;
}

/* Counts off the frames of blocks; returns how many there were. */
static uint64_t frames_subtract(struct image_range *range, uint64_t first_block,
				uint64_t block_count)
{
	uint64_t committed = 0;

	for (uint64_t i = first_block; i < first_block + block_count; i++)
		if (image_block_clear(range, i, IMAGE_BLOCK_COMMITTED) & IMAGE_BLOCK_COMMITTED)
			committed++;
	range->committed_count -= committed;
	if (range->committed_end <= first_block + block_count && range->committed_end > first_block)
		range->committed_end = first_block;
	if (range->committed_count == 0)
		range->committed_end = 0;
	return committed;
}

/* Maps fresh memory at a place within a range. */
static void *frames_map(void *base, uint64_t size_bytes)
{
	base = mmap(base, size_bytes, PROT_READ | PROT_WRITE,
		    MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | (base ? MAP_FIXED : 0), -1, 0);
	if (base != MAP_FAILED)
		(void)madvise(base, size_bytes, MADV_NOHUGEPAGE);
	return base;
}

/* Cuts a range from a chunk that has room, or from a new one. NULL: it has to be mapped alone. */
static void *frames_cut(struct image_pool *pool, uint64_t size_bytes, struct frames_chunk **ret)
{
	struct image_pool_private *p = pool->private;
	struct frames_chunk *chunk = p->chunks;
	void *base;

	if (size_bytes > FRAMES_CUT_BYTES_MAX || p->chunks_refused)
		return NULL;
	if (!chunk || size_bytes > FRAMES_CHUNK_BYTES - chunk->used_bytes) {
		chunk = calloc(1, sizeof(*chunk));
		base = chunk ? frames_map(NULL, FRAMES_CHUNK_BYTES) : MAP_FAILED;
		if (base == MAP_FAILED) {
			free(chunk);
			p->chunks_refused = true;
			return NULL;
		}
		chunk->base = base;
		chunk->next = p->chunks;
		p->chunks = chunk;
	}
	base = chunk->base + chunk->used_bytes;
	chunk->used_bytes += size_bytes;
	*ret = chunk;
	return base;
}

void frames_free_chunks(struct image_pool *pool)
{
	struct image_pool_private *p = pool->private;
	struct frames_chunk *chunk;

	while ((chunk = p->chunks)) {
		p->chunks = chunk->next;
		munmap(chunk->base, FRAMES_CHUNK_BYTES);
		free(chunk);
	}
}

/* The bytes of the hole's first run of blocks without a frame. */
static uint64_t frames_hole_bytes(struct frames_hole *hole)
{
	uint64_t i;

	while (hole->first_block < hole->end_block &&
	       (image_block(hole->range, hole->first_block) & IMAGE_BLOCK_COMMITTED))
		hole->first_block++;
	for (i = hole->first_block; i < hole->end_block; i++)
		if (image_block(hole->range, i) & IMAGE_BLOCK_COMMITTED)
			break;
	return (i - hole->first_block) << hole->range->block_shift;
}

bool frames_can_move(const struct image_pool *pool, uint64_t size_bytes)
{
	const struct image_pool_private *p = pool->private;

	return size_bytes >= FRAMES_MOVE_BYTES_MIN && !p->moves_refused &&
	       p->seam_count < FRAMES_SEAMS_MAX;
}

/* Moves frames from the beginning of a run, all of which is committed, into the hole. Returns how
 * many blocks of the run have lost theirs. */
static uint64_t frames_move(struct image_pool *pool, struct image_range *range,
			    uint64_t first_block, uint64_t block_count)
{
	struct image_pool_private *p = pool->private;
	struct frames_hole *hole = &p->hole;
	uint64_t bytes, unit, to_count, count = 1;
	uint8_t *from, *to;

	if (!hole->range)
		return 0;
	while (count < block_count && !frames_is_seam(range, first_block + count))
		count++;
	bytes = frames_hole_bytes(hole);
	if (bytes > count << range->block_shift)
		bytes = count << range->block_shift;
	unit = 1ull << (range->block_shift > hole->range->block_shift ? range->block_shift
								      : hole->range->block_shift);
	bytes -= bytes % unit;
	if (!frames_can_move(pool, bytes))
		return 0;

	from = range->base + (first_block << range->block_shift);
	to = hole->range->base + (hole->first_block << hole->range->block_shift);
	if (mremap(from, bytes, bytes, MREMAP_MAYMOVE | MREMAP_FIXED | MREMAP_DONTUNMAP, to) ==
	    MAP_FAILED) {
		/* Linux before 5.7, or no mapping left. What was at the new place may be gone
		 * already; if it cannot be had back, the read into it will fail. */
		p->moves_refused = true;
		(void)frames_map(to, bytes);
		return 0;
	}
	count = bytes >> range->block_shift;
	to_count = bytes >> hole->range->block_shift;
	frames_subtract(range, first_block, count);
	frames_add(hole->range, hole->first_block, to_count);
	for (uint64_t i = 1; i < to_count; i++)
		frames_set_seam(pool, hole->range, hole->first_block + i, false);
	frames_set_seam(pool, hole->range, hole->first_block, true);
	frames_set_seam(pool, hole->range, hole->first_block + to_count, true);
	hole->first_block += to_count;
	p->moved_bytes += bytes;
	return count;
}

void frames_release(struct image_pool *pool, struct image_range *range, uint64_t first_block,
		    uint64_t block_count)
{
	uint64_t i = first_block, end = first_block + block_count, count;

	image_pool_settle(pool);
	while (i < end) {
		if (!(image_block(range, i) & IMAGE_BLOCK_COMMITTED)) {
			i++;
			continue;
		}
		for (count = 1; i + count < end; count++)
			if (!(image_block(range, i + count) & IMAGE_BLOCK_COMMITTED))
				break;
		pool->private->released_bytes += count << range->block_shift;
		while (count > 0) {
			uint64_t moved = frames_move(pool, range, i, count);

			if (moved == 0)
				break;
			i += moved;
			count -= moved;
		}
		if (count == 0)
			continue;
		/* It fails only if memory is locked; then it is counted as if it had gone. */
		(void)madvise(range->base + (i << range->block_shift), count << range->block_shift,
			      MADV_DONTNEED);
		pool->committed_bytes -= frames_subtract(range, i, count) << range->block_shift;
		i += count;
	}
	if (range->committed_end <= end && range->committed_end > first_block)
		range->committed_end = first_block;
}

/* Reserves a new range. */
static struct image_range *frames_reserve(struct image_pool *pool, uint64_t size_bytes,
					  unsigned block_shift)
{
	struct image_range *range = calloc(1, sizeof(*range));
	void *base = NULL;

	if (!range)
		return NULL;
	range->block_shift = block_shift;
	range->reserved_bytes = size_bytes;
	range->block_room = size_bytes >> block_shift;
	range->blocks = calloc(range->block_room, 1);
	range->seams = calloc(range->block_room / 8 + 1, 1);
	if (range->blocks && range->seams)
		base = frames_cut(pool, size_bytes, &range->chunk);
	if (!base)
		base = range->blocks && range->seams ? frames_map(NULL, size_bytes) : MAP_FAILED;
	if (base == MAP_FAILED) {
		free(range->seams);
		free(range->blocks);
		free(range);
		return NULL;
	}
	range->base = base;
	list_init(&range->link);
	return range;
}

void frames_free_range(struct image_pool *pool, struct image_range *range)
{
	pool->committed_bytes -= range->committed_count << range->block_shift;
	pool->private->seam_count -= range->seam_count;
	if (!range->chunk)
		munmap(range->base, range->reserved_bytes);
	else if (range->committed_count > 0 && !pool->private->ending)
		madvise(range->base, range->reserved_bytes, MADV_DONTNEED);
	free(range->seams);
	free(range->blocks);
	free(range);
}

void frames_uncache(struct image_pool *pool, struct image_range *range)
{
	struct image_pool_private *p = pool->private;

	list_remove(&range->link);
	p->cached_count--;
	p->cached_bytes -= range->committed_count << range->block_shift;
}

void frames_keep_range(struct image_pool *pool, struct image_range *range, bool failed)
{
	struct image_pool_private *p = pool->private;
	uint64_t end = failed ? range->block_room : range->committed_end;

	image_pool_settle(pool);
	for (uint64_t i = 0; i < end; i++)
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

/* Changes the size of the blocks of a range that belongs to nobody and has no seam. Frames of which
 * a larger block would have only a part are given up. */
static bool frames_reshape(struct image_pool *pool, struct image_range *range, unsigned block_shift)
{
	uint64_t room = range->reserved_bytes >> block_shift, committed = 0, end = 0;
	uint8_t *blocks = calloc(room, 1), *seams = calloc(room / 8 + 1, 1);

	assert(range->seam_count == 0);
	if (!blocks || !seams) {
		free(blocks);
		free(seams);
		return false;
	}
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
				frames_release(pool, range, i << up, 1ull << up);
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
	free(range->seams);
	range->blocks = blocks;
	range->seams = seams;
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
		    range->reserved_bytes % (1ull << block_shift) != 0 ||
		    (range->block_shift != block_shift && range->seam_count > 0))
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
	range = frames_reserve(pool, size_bytes, block_shift);
	while (!range && !list_is_empty(&p->cached)) {
		best = container_of(p->cached.next, struct image_range, link);
		frames_uncache(pool, best);
		frames_free_range(pool, best);
		range = frames_reserve(pool, size_bytes, block_shift);
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
	uint64_t before = image->range->committed_count;

	frames_add(image->range, first_block, block_count);
	pool->committed_bytes += image_bytes(image, image->range->committed_count - before);
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
		p->unsettled = true;
		p->resident_bytes -= image_bytes(image, 1);
		image->resident_count--;
		image->whole = false;
	}
}

void frames_forget_all(struct image *image)
{
	struct image_pool_private *p = image->pool->private;
	struct image_range *range = image->range;
	uint64_t ahead = 0;

	for (uint64_t i = 0; i < range->committed_end; i++) {
		ahead += (range->blocks[i] & IMAGE_BLOCK_AHEAD) != 0;
		range->blocks[i] &= IMAGE_BLOCK_COMMITTED | IMAGE_BLOCK_IN_FLIGHT;
	}
	p->ahead_bytes -= image_bytes(image, ahead);
	p->resident_bytes -= image_bytes(image, image->resident_count);
	p->unsettled = true;
	image->resident_count = 0;
	image->whole = false;
}
