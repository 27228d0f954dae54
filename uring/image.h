/* SPDX-License-Identifier: MIT */
/*
 * Files in memory. An image is a contiguous range of address space as long as its file, of which
 * some blocks are resident. Blocks come in by asynchronous reads and leave by clock eviction when
 * the pool's budget is reached. The budget counts what is committed: resident blocks, blocks being
 * read into, and the frames that a finished image left for the next one.
 *
 * Ranges that a step lacks are asked for with image_want(..., IMAGE_NEEDED); ranges that will
 * probably be wanted, with IMAGE_EXPECTED. Needed reads are started first. Blocks that came in as
 * needed are pinned until image_unpin(), so that a step that runs again finds them. When the budget
 * is exhausted, expected reads wait; a needed read evicts, and if everything is pinned or in flight
 * it waits for that; if nothing is in flight and no image is ready it exceeds the budget rather
 * than hang (a step wants at most a quarter of it).
 *
 * Blocks leave in image_pool_start() and image_resize() only. One thread calls what is here. Others
 * may read from open images: they load states with acquire ordering, and set TOUCHED with an atomic
 * OR; a state is published after the bytes it speaks of. Before the bytes of a block that was
 * resident change or go, the pool has its owner make sure that nobody who saw it so still reads.
 */
#ifndef URING_IMAGE_H
#define URING_IMAGE_H

#include "uring/io.h"
#include "uring/rate.h"

/* State of a block. The first three are what a decoder's window looks at and sets. */
#define IMAGE_BLOCK_RESIDENT 0x01u
#define IMAGE_BLOCK_TOUCHED 0x02u
#define IMAGE_BLOCK_FAILED 0x04u
#define IMAGE_BLOCK_IN_FLIGHT 0x08u
#define IMAGE_BLOCK_PINNED 0x10u
#define IMAGE_BLOCK_COMMITTED 0x20u /* has a frame */
#define IMAGE_BLOCK_ASKED 0x40u     /* in a read that has not been started */
#define IMAGE_BLOCK_AHEAD 0x80u     /* came before it was needed; not seen to be used since */

enum image_need {
	IMAGE_NEEDED,
	IMAGE_EXPECTED,
};

#define IMAGE_PINS_MAX 16u

struct image_pool;

struct image {
	uint8_t *base;            /* of offset 0; constant but for image_resize() */
	uint8_t *blocks;          /* state of each block */
	uint64_t size_bytes;      /* of the file as last seen: a read that ends early lowers it */
	uint64_t block_count;     /* that size_bytes takes */
	uint64_t resident_count;  /* == block_count: the image is whole */
	unsigned block_shift;
	bool whole;               /* all blocks resident, none failed; kept up to date by the pool,
				   * which may take it back early, to see which blocks are used */
	bool closing;
	int error;                /* first error that a read met, or 0 */
	unsigned needed_pending;  /* needed reads not completed: the owner waits while > 0 */
	unsigned in_flight;       /* reads of either kind */
	struct io_file file;
	struct image_pool *pool;
	void *owner;
	struct list link;         /* in pool->images */
	struct list ready_link;   /* in pool->ready: all needed reads are complete */
	/* private to the pool */
	struct image_range *range;
	uint64_t hand;            /* of the clock */
	struct list reads;        /* pending and in flight */
	unsigned read_errors;
	uint64_t used_first, used_end; /* blocks that image_used() has passed */
	unsigned pin_count;       /* of pins; IMAGE_PINS_MAX + 1: too many, pins[0] spans all */
	struct image_pin {
		uint64_t first_block, block_count;
	} pins[IMAGE_PINS_MAX];
};

/* What happens to the blocks of an image, for who traces a pool. */
enum image_event_kind {
	IMAGE_EVENT_OPEN,     /* size_bytes: of the file */
	IMAGE_EVENT_WANTED,   /* a step lacks this range */
	IMAGE_EVENT_EXPECTED, /* it will probably be wanted */
	IMAGE_EVENT_READ,     /* these blocks came in */
	IMAGE_EVENT_HIT,      /* these blocks have been used since the last such event for them */
	IMAGE_EVENT_EVICTED,
	IMAGE_EVENT_CLOSE,
};

struct image;

struct image_event {
	enum image_event_kind kind;
	const struct image *image;
	uint64_t offset, size_bytes;
};

typedef void (*image_trace_fn)(void *userdata, const struct image_event *event);

struct image_statistics {
	uint64_t block_hits;      /* blocks asked for as needed that were there or on their way */
	uint64_t block_misses;    /* ... that were not */
	uint64_t blocks_evicted;
	uint64_t committed_peak_bytes;
	uint64_t over_budget_bytes_max;
};

struct image_pool {
	struct io *io;
	uint64_t budget_bytes;
	uint64_t committed_bytes;
	uint64_t in_flight_bytes;     /* of both kinds */
	uint64_t in_flight_bytes_max; /* owner: expected reads are not started beyond */
	bool async;               /* owner: reads are async, see struct io_op */
	void (*quiesce)(void *userdata); /* owner: waits until other threads have finished with what
				   * they found resident before; NULL: there are no others */
	void *quiesce_userdata;
	struct list images;       /* open ones, in clock order */
	struct list ready;        /* images whose last needed read has completed */
	struct rate rate;         /* what reads are paid from; owner: see image_pool_limit() */
	struct image_statistics statistics;
	image_trace_fn trace;     /* owner: called for each event; NULL: nobody looks */
	void *trace_userdata;
	/* private: queues of pending reads, free ops, ranges kept for reuse */
	struct image_pool_private *private;
};

/* BUDGET_BYTES for all images together. The io is borrowed. */
int image_pool_init(struct image_pool *pool, struct io *io, uint64_t budget_bytes);
/* Ends a pool whose images are all closed. */
void image_pool_done(struct image_pool *pool);

/* Limits what is read in a second, 0: not at all. Needed reads come first, expected ones
 * get what is left. The owner takes a turn after
 * rate_wait_usec(). */
void image_pool_limit(struct image_pool *pool, uint64_t bytes_per_second);

/* Gives back frames that closed images have left, beyond KEEP_BYTES. */
void image_pool_shrink(struct image_pool *pool, uint64_t keep_bytes);

/*
 * Opens an image of FILE, SIZE_BYTES long. BLOCK_SHIFT is 12 to 21. -ENOMEM when address space is
 * short.
 */
int image_open(struct image_pool *pool, struct image *image, const struct io_file *file,
	       uint64_t size_bytes, unsigned block_shift, void *owner);

/*
 * Closes an image. Its frames are kept for the next one, within the budget. Reads in flight are
 * waited for by the pool, not here: until they end the memory stays, and *image may be forgotten
 * at once only if image->in_flight is 0; image_close() answers -EAGAIN otherwise (call it again
 * after turns, or after io_drain()).
 */
int image_close(struct image *image);

/*
 * Asks for a range (clamped to the file). Returns the number of blocks that are not there yet: 0
 * means that all of it is resident (or has failed). Blocks already on their way count once more as
 * needed, if this call says so. Starts nothing: image_pool_start() does.
 */
unsigned image_want(struct image *image, uint64_t offset, uint64_t size_bytes,
		    enum image_need need);

/* The step that needed blocks has committed: they may be evicted again. */
void image_unpin(struct image *image);

/*
 * A reader that streams has passed this range: what was read ahead of it there has been used, and
 * may be evicted for what comes next. Cheap when called with a range that grows.
 */
void image_used(struct image *image, uint64_t offset, uint64_t size_bytes);

/* Forgets a range of a file that changes in place, so that it is read again when wanted. Blocks in
 * flight are read once more. The bytes stay readable where they are until then. */
void image_forget(struct image *image, uint64_t offset, uint64_t size_bytes);

/*
 * The file has been seen to be SIZE_BYTES long. If it takes more address space than there is behind
 * its blocks it goes elsewhere: then base and blocks are others, and nothing is resident. -ENOSPC
 * where it cannot, because reads are asked for or in flight or there is no address space.
 */
int image_resize(struct image *image, uint64_t size_bytes);

/* Submits pending reads to the io, needed ones first, as far as budget and depth allow. Call once
 * per turn, before io_turn(). */
void image_pool_start(struct image_pool *pool);

/* Takes a completed read of this pool: its blocks become resident (or failed), images whose last
 * needed read this was go to pool->ready. */
void image_pool_complete(struct image_pool *pool, struct io_op *op);

/*
 * Tells the trace which blocks of the open images have been used since the last call, and forgets
 * that: eviction then chooses a little differently. Blocks count as used if the owner's windows
 * mark them, which they do in images that they do not treat as whole or as a run.
 */
void image_pool_trace_hits(struct image_pool *pool);

/* Takes an image from pool->ready, or NULL. */
struct image *image_pool_next_ready(struct image_pool *pool);

/* True if an op taken from the io belongs to a pool of images (others: opens). */
bool image_op_is_read(const struct io_op *op);

/* Bytes that expected reads may still ask for: the least of what the budget and the limit on
 * read-ahead in flight leave. */
uint64_t image_pool_expected_room(const struct image_pool *pool);

#endif
