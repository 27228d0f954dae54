/* SPDX-License-Identifier: MIT */
/*
 * The pool of images: the queues of reads, starting them within the limits, taking their results.
 *
 * A read is made by image_want(), stays in the queue of its kind until image_pool_start() finds
 * frames and room for it, and is in flight until image_pool_complete(). An image's needed_pending
 * counts its needed reads in either state; when it falls to 0, whatever the reason, the image is
 * ready. A read may be bigger than what is needed of it.
 *
 * A needed read that finds no frame waits while something is in flight or an image is ready, since
 * either may set frames free. Otherwise it is started over the budget, with the others of its
 * image, so that one step at least can go on.
 */
#include "uring/image-private.h"

#include <assert.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

#define IMAGE_READ_BYTES_MAX (1u << 20)
#define IMAGE_SLAB_READS 64u

/* Expected reads that find no frame are tried again after so many calls, or when one is free. */
#define IMAGE_EXPECTED_PAUSE 32u

/* Blocks that fail one by one, of one file, before a read fails as a whole. */
#define IMAGE_READ_ERRORS_MAX 16u

#define IMAGE_IN_FLIGHT_BYTES_DEFAULT (32u << 20)

struct image_slab {
	struct image_slab *next;
	struct image_read reads[IMAGE_SLAB_READS];
};

/* Adds a slab of reads to the free ones. */
static bool image_slab_add(struct image_pool_private *p)
{
	struct image_slab *slab = calloc(1, sizeof(*slab));

	if (!slab)
		return false;
	slab->next = p->slabs;
	p->slabs = slab;
	for (unsigned i = 0; i < IMAGE_SLAB_READS; i++) {
		list_init(&slab->reads[i].op.link);
		list_init(&slab->reads[i].image_link);
		list_append(&p->free_reads, &slab->reads[i].queue_link);
	}
	return true;
}

int image_pool_init(struct image_pool *pool, struct io *io, uint64_t budget_bytes)
{
	struct image_pool_private *p = calloc(1, sizeof(*p));
	struct rlimit space;
	uint64_t limit;

	memset(pool, 0, sizeof(*pool));
	if (!p)
		return -ENOMEM;
	list_init(&p->needed);
	list_init(&p->expected);
	list_init(&p->free_reads);
	list_init(&p->cached);
	if (!image_slab_add(p)) {
		free(p);
		return -ENOMEM;
	}
	p->chunks_refused = getrlimit(RLIMIT_AS, &space) < 0 || space.rlim_cur != RLIM_INFINITY;
	p->page_bytes = (uint64_t)sysconf(_SC_PAGESIZE);
	limit = budget_bytes / 8;
	p->read_bytes_max = limit < IMAGE_READ_BYTES_MAX ? limit : IMAGE_READ_BYTES_MAX;
	limit = budget_bytes / 4;
	pool->in_flight_bytes_max =
		limit < IMAGE_IN_FLIGHT_BYTES_DEFAULT ? limit : IMAGE_IN_FLIGHT_BYTES_DEFAULT;
	pool->io = io;
	pool->budget_bytes = budget_bytes;
	pool->private = p;
	list_init(&pool->images);
	list_init(&pool->ready);
	return 0;
}

void image_pool_limit(struct image_pool *pool, uint64_t bytes_per_second)
{
	struct image_pool_private *p = pool->private;

	rate_init(&pool->rate, bytes_per_second, rate_now_usec());
	if (pool->rate.bytes_per_second && p->read_bytes_max > pool->rate.burst_bytes)
		p->read_bytes_max = pool->rate.burst_bytes;
}

/* Whether the rate allows a read now. */
static bool image_pool_may_read(struct image_pool *pool)
{
	return !pool->rate.bytes_per_second || rate_allows(&pool->rate, rate_now_usec());
}

void image_pool_done(struct image_pool *pool)
{
	struct image_pool_private *p = pool->private;
	struct image_slab *slab;
	struct list *node;

	if (!p)
		return;
	assert(list_is_empty(&pool->images));
	assert(p->flying_count == 0);
	p->ending = true;
	while ((node = list_pop(&p->cached)))
		frames_free_range(pool, container_of(node, struct image_range, link));
	assert(pool->committed_bytes == 0);
	frames_free_chunks(pool);
	while ((slab = p->slabs)) {
		p->slabs = slab->next;
		free(slab);
	}
	free(p);
	pool->private = NULL;
}

void image_pool_shrink(struct image_pool *pool, uint64_t keep_bytes)
{
	struct image_pool_private *p = pool->private;

	while (p->cached_bytes > keep_bytes) {
		struct image_range *range =
			container_of(p->cached.next, struct image_range, link);

		frames_uncache(pool, range);
		frames_free_range(pool, range);
	}
}

/* Bytes that a pending read counts for, if it is an expected one. */
static uint64_t image_read_expected_bytes(const struct image_read *read)
{
	return read->need == IMAGE_EXPECTED ? image_bytes(read->image, read->block_count) : 0;
}

/* Marks blocks as asked for. */
static void image_read_mark(struct image *image, uint64_t first_block, uint64_t block_count)
{
	for (uint64_t i = first_block; i < first_block + block_count; i++)
		image_block_set(image->range, i, IMAGE_BLOCK_ASKED);
}

/* A needed read of an image has ended. */
static void image_needed_done(struct image *image)
{
	assert(image->needed_pending > 0);

	if (--image->needed_pending == 0 && list_is_empty(&image->ready_link))
		list_append(&image->pool->ready, &image->ready_link);
}

/* Frees a read that has no block. */
static void image_read_free(struct image_read *read)
{
	struct image *image = read->image;
	struct image_pool_private *p = image->pool->private;

	list_remove(&read->image_link);
	list_remove(&read->queue_link);
	list_append(&p->free_reads, &read->queue_link);
	if (read->need == IMAGE_NEEDED && !image->closing)
		image_needed_done(image);
	read->image = NULL;
}

/* Adds blocks to a pending read that they adjoin; returns how many fitted. */
static uint64_t image_read_extend(struct image *image, uint64_t first_block, uint64_t block_count,
				  enum image_need need, uint64_t blocks_max)
{
	struct list *node;

	list_for_each(node, &image->reads) {
		struct image_read *read = container_of(node, struct image_read, image_link);
		uint64_t count = block_count;

		if (read->started || read->need != need || read->block_count >= blocks_max)
			continue;
		if (count > blocks_max - read->block_count)
			count = blocks_max - read->block_count;
		if (read->first_block + read->block_count == first_block) {
			read->block_count += count;
		} else if (first_block + block_count == read->first_block && count == block_count) {
			read->first_block = first_block;
			read->block_count += count;
		} else {
			continue;
		}
		if (need == IMAGE_EXPECTED)
			image->pool->private->expected_bytes += image_bytes(image, count);
		image_read_mark(image, first_block, count);
		return count;
	}
	return 0;
}

bool image_read_queue(struct image *image, uint64_t first_block, uint64_t block_count,
		      enum image_need need)
{
	struct image_pool_private *p = image->pool->private;
	uint64_t blocks_max = p->read_bytes_max >> image->block_shift, count;

	if (blocks_max == 0)
		blocks_max = 1;
	count = image_read_extend(image, first_block, block_count, need, blocks_max);
	first_block += count;
	block_count -= count;

	for (; block_count > 0; first_block += count, block_count -= count) {
		struct image_read *read;

		if (list_is_empty(&p->free_reads) && !image_slab_add(p))
			return false;
		read = container_of(list_pop(&p->free_reads), struct image_read, queue_link);
		count = block_count < blocks_max ? block_count : blocks_max;
		read->image = image;
		read->first_block = first_block;
		read->block_count = count;
		read->need = need;
		read->started = false;
		read->again = false;
		list_append(&image->reads, &read->image_link);
		list_append(need == IMAGE_NEEDED ? &p->needed : &p->expected, &read->queue_link);
		p->expected_bytes += image_read_expected_bytes(read);
		if (need == IMAGE_NEEDED)
			image->needed_pending++;
		image_read_mark(image, first_block, count);
	}
	return true;
}

struct image_read *image_read_find(const struct image *image, uint64_t block)
{
	struct list *node;

	list_for_each(node, &image->reads) {
		struct image_read *read = container_of(node, struct image_read, image_link);

		if (block >= read->first_block && block - read->first_block < read->block_count)
			return read;
	}
	assert(!"every block that is asked for has a read");
	__builtin_unreachable();
}

void image_read_shrink(struct image_read *read, uint64_t first_block, uint64_t block_count)
{
	struct image *image = read->image;
	struct image_pool_private *p = image->pool->private;

	assert(!read->started);
	p->expected_bytes -= image_read_expected_bytes(read);
	for (uint64_t i = 0; i < read->block_count; i++)
		image_block_clear(image->range, read->first_block + i, IMAGE_BLOCK_ASKED);
	read->first_block = first_block;
	read->block_count = block_count;
	if (block_count == 0) {
		image_read_free(read);
		return;
	}
	image_read_mark(image, first_block, block_count);
	p->expected_bytes += image_read_expected_bytes(read);
}

void image_read_upgrade(struct image_read *read)
{
	assert(read->started && read->need == IMAGE_EXPECTED);

	read->need = IMAGE_NEEDED;
	read->image->needed_pending++;
}

/* Whether the io takes one more read now. A quarter of its depth is kept for needed ones. */
static bool image_pool_has_depth(const struct image_pool *pool, enum image_need need)
{
	const struct io *io = pool->io;
	unsigned depth = io->options.queue_depth;

	if (need == IMAGE_EXPECTED)
		depth -= depth / 4;
	return io->in_flight + io->queued_count < depth;
}

/* Starts a pending read whose frames there is room for. */
static void image_read_start(struct image_read *read)
{
	struct image *image = read->image;
	struct image_pool *pool = image->pool;
	struct image_pool_private *p = pool->private;
	uint64_t offset = image_bytes(image, read->first_block);
	uint64_t bytes = image_bytes(image, read->block_count);

	image_pool_settle(pool);
	list_remove(&read->queue_link);
	p->expected_bytes -= image_read_expected_bytes(read);
	frames_commit(image, read->first_block, read->block_count);
	for (uint64_t i = 0; i < read->block_count; i++) {
		image_block_clear(image->range, read->first_block + i, IMAGE_BLOCK_ASKED);
		image_block_set(image->range, read->first_block + i, IMAGE_BLOCK_IN_FLIGHT);
	}
	read->started = true;
	image->in_flight++;
	p->flying_count++;
	p->flying_bytes += bytes;
	pool->in_flight_bytes += bytes;

	read->op.kind = IO_READ;
	read->op.file = image->file;
	read->asked_direct = image->file.direct;
	read->op.buffer = image->base + offset;
	read->op.offset = offset;
	read->op.async = pool->async;
	/* A direct read goes to the end of its last block, where there is nothing to be had. */
	if (!image->file.direct && bytes > image->size_bytes - offset)
		bytes = image->size_bytes - offset;
	read->op.size_bytes = (uint32_t)bytes;
	rate_pay(&pool->rate, bytes);
	io_submit(pool->io, &read->op);
}

/* Drops what a pending read has beyond the end of its file; false if nothing is left of it. */
static bool image_read_clamp(struct image_read *read)
{
	uint64_t end = read->image->block_count;

	if (read->first_block + read->block_count <= end)
		return true;
	if (read->first_block >= end) {
		image_read_shrink(read, read->first_block, 0);
		return false;
	}
	image_read_shrink(read, read->first_block, end - read->first_block);
	return true;
}

/* Finds frames for a read. */
static bool image_read_make_room(struct image_read *read)
{
	return clock_make_room(read->image, read->first_block, read->block_count, read->need);
}

/* Starts needed reads. */
static void image_pool_start_needed(struct image_pool *pool)
{
	struct image_pool_private *p = pool->private;
	const struct image *forced = NULL;

	while (!list_is_empty(&p->needed) && image_pool_has_depth(pool, IMAGE_NEEDED)) {
		struct image_read *read =
			container_of(p->needed.next, struct image_read, queue_link);

		if (!image_read_clamp(read))
			continue;
		if (!image_pool_may_read(pool))
			break;
		if (read->image != forced && !image_read_make_room(read)) {
			if (p->flying_count > 0 || !list_is_empty(&pool->ready))
				break;
			forced = read->image;
		}
		image_read_start(read);
	}
}

/* Starts expected reads. */
static void image_pool_start_expected(struct image_pool *pool)
{
	struct image_pool_private *p = pool->private;

	if (p->expected_pause > 0) {
		p->expected_pause--;
		return;
	}
	while (!list_is_empty(&p->expected) && image_pool_has_depth(pool, IMAGE_EXPECTED)) {
		struct image_read *read =
			container_of(p->expected.next, struct image_read, queue_link);
		uint64_t bytes;

		if (!image_read_clamp(read))
			continue;
		bytes = image_bytes(read->image, read->block_count);
		if (pool->in_flight_bytes > 0 &&
		    pool->in_flight_bytes + bytes > pool->in_flight_bytes_max)
			break;
		if (!image_pool_may_read(pool))
			break;
		if (!image_read_make_room(read)) {
			p->expected_pause = IMAGE_EXPECTED_PAUSE;
			break;
		}
		image_read_start(read);
	}
}

void image_pool_start(struct image_pool *pool)
{
	struct image_pool_private *p = pool->private;

	if (!list_is_empty(&p->needed))
		image_pool_start_needed(pool);
	/* Where needed reads wait for frames, expected ones get none. */
	if (!list_is_empty(&p->expected) && list_is_empty(&p->needed))
		image_pool_start_expected(pool);
}

/* Puts what is left of a read that was in flight before all others of its kind. */
static void image_read_requeue(struct image_read *read, uint64_t first_block)
{
	struct image_pool_private *p = read->image->pool->private;

	read->block_count -= first_block - read->first_block;
	read->first_block = first_block;
	read->started = false;
	read->again = false;
	list_prepend(read->need == IMAGE_NEEDED ? &p->needed : &p->expected, &read->queue_link);
	p->expected_bytes += image_read_expected_bytes(read);
	image_read_mark(read->image, read->first_block, read->block_count);
}

/* A block has come in. */
static void image_block_arrived(struct image *image, uint64_t block)
{
	struct image_pool_private *p = image->pool->private;
	uint8_t bits = IMAGE_BLOCK_RESIDENT;

	if (!(image_block(image->range, block) & IMAGE_BLOCK_PINNED)) {
		bits |= IMAGE_BLOCK_AHEAD;
		p->ahead_bytes += image_bytes(image, 1);
	}
	image_block_set(image->range, block, bits);
	image->resident_count++;
	p->resident_bytes += image_bytes(image, 1);
}

/* Settles the blocks of a read that has ended, up to the first that it did not bring, which is
 * returned: the end of the read, or of the file, or what failed. */
static uint64_t image_read_settle(struct image_read *read)
{
	struct image *image = read->image;
	const struct io_op *op = &read->op;
	uint64_t good = op->offset + (op->result >= 0 ? (uint32_t)op->result : op->progress);
	uint64_t i = read->first_block, end = read->first_block + read->block_count;

	for (; i < end && i < image->block_count; i++) {
		uint64_t block_end = image_bytes(image, i + 1);

		if (block_end > image->size_bytes)
			block_end = image->size_bytes;
		if (block_end > good)
			return i;
		image_block_arrived(image, i);
	}
	return end;
}

/* Takes a read that failed at a block. True if the rest of it is tried by itself. */
static bool image_read_failed(struct image_read *read, uint64_t block)
{
	struct image *image = read->image;
	uint64_t end = read->first_block + read->block_count;
	/* A bad sector fails one block; a bad disk, after some, all. */
	bool alone = read->op.result == -EIO && image->read_errors++ < IMAGE_READ_ERRORS_MAX;

	if (image->error == 0)
		image->error = read->op.result;
	for (uint64_t i = block; i < (alone ? block + 1 : end) && i < image->block_count; i++)
		image_block_set(image->range, i, IMAGE_BLOCK_FAILED);
	if (!alone || block + 1 >= end)
		return false;
	image_read_requeue(read, block + 1);
	return true;
}

void image_pool_complete(struct image_pool *pool, struct io_op *op)
{
	struct image_pool_private *p = pool->private;
	struct image_read *read = container_of(op, struct image_read, op);
	struct image *image = read->image;
	uint64_t bytes = image_bytes(image, read->block_count), next;

	assert(read->started && image->pool == pool);
	image->in_flight--;
	p->flying_count--;
	p->flying_bytes -= bytes;
	pool->in_flight_bytes -= bytes;
	p->recount_bytes += bytes;
	for (uint64_t i = 0; i < read->block_count; i++)
		image_block_clear(image->range, read->first_block + i, IMAGE_BLOCK_IN_FLIGHT);
	if (image->closing) {
		image_read_free(read);
		return;
	}
	image->file.nowait = image->file.nowait && op->file.nowait;
	if (read->asked_direct && !op->file.direct)
		image->file.direct = false;
	if (!op->file.direct)
		image->file.uncached = image->file.uncached && op->file.uncached;
	/* The file is shorter than was thought. */
	if (op->result >= 0 && (uint32_t)op->result < op->size_bytes &&
	    op->offset + (uint32_t)op->result < image->size_bytes)
		(void)image_resize(image, op->offset + (uint32_t)op->result);

	if (read->again && op->result != -ECANCELED) {
		image_read_requeue(read, read->first_block);
		return;
	}
	next = image_read_settle(read);
	if (next > read->first_block)
		image_trace(image, IMAGE_EVENT_READ, image_bytes(image, read->first_block),
			    image_bytes(image, next - read->first_block));
	if (op->result < 0 && op->result != -ECANCELED && image_read_failed(read, next))
		return;
	/* The file has grown while its last block was read. */
	if (op->result >= 0 && next < read->first_block + read->block_count) {
		image_read_requeue(read, next);
		return;
	}
	image->whole = image->resident_count == image->block_count;
	image_read_free(read);
}

struct image *image_pool_next_ready(struct image_pool *pool)
{
	struct list *node = list_pop(&pool->ready);

	return node ? container_of(node, struct image, ready_link) : NULL;
}

bool image_op_is_read(const struct io_op *op)
{
	return op->kind == IO_READ;
}

uint64_t image_pool_expected_room(const struct image_pool *pool)
{
	const struct image_pool_private *p = pool->private;
	uint64_t asked = pool->in_flight_bytes + p->expected_bytes, room;

	if (asked >= pool->in_flight_bytes_max)
		return 0;
	room = pool->in_flight_bytes_max - asked;
	/* What holds nothing, or has been used, makes way; what was read ahead does not. */
	if (p->ahead_bytes + asked + room > pool->budget_bytes)
		clock_recount_ahead(pool);
	if (p->ahead_bytes + asked + room > pool->budget_bytes)
		room = p->ahead_bytes + asked < pool->budget_bytes
			       ? pool->budget_bytes - p->ahead_bytes - asked
			       : 0;
	return room;
}
