/* SPDX-License-Identifier: MIT */
/*
 * The contract between decoders and whoever brings the bytes.
 *
 * A decoder never reads a file. It looks at a window: the part of one file that is in memory, at
 * its true offsets from a base address. When it lacks bytes it records the ranges that it lacks in
 * the window's wants and answers -EAGAIN; the caller brings them in and runs the same step again
 * from its start. A step changes the caller's state at its end only, so that running it twice is
 * harmless.
 *
 * Answers, everywhere in formats/: 0 done, -EAGAIN more bytes are needed, -EBADMSG the structure is
 * wrong, -EADDRNOTAVAIL it points past the end of the file, -EIO bytes could not be read. Soft
 * errors are the two in the middle, as the reference reader calls them; -EIO is treated alike.
 */
#ifndef FORMATS_FORMAT_H
#define FORMATS_FORMAT_H

#include <errno.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <endian.h>

#define likely(x) __builtin_expect(!!(x), 1)
#define unlikely(x) __builtin_expect(!!(x), 0)

/* State of a block, one byte each, shared with the image that owns the memory. */
#define WINDOW_BLOCK_RESIDENT 0x01u /* its bytes are there */
#define WINDOW_BLOCK_TOUCHED 0x02u  /* set by the window at every look: eviction clears it */
#define WINDOW_BLOCK_FAILED 0x04u   /* reading it failed */

#define WINDOW_WANTS_MAX 64u

struct window_range {
	uint64_t offset;
	uint64_t size_bytes;
};

/*
 * What of a file is in memory. A window is a small value: each thread that decodes has its own,
 * over the same base and blocks.
 */
struct window {
	const uint8_t *base;  /* where offset 0 of the file would be */
	uint64_t size_bytes;  /* length of the file as last seen */
	uint8_t *blocks;      /* state of each block; not looked at if whole */
	unsigned block_shift; /* log2 of the size of a block */
	bool whole;           /* every byte below size_bytes is resident, and stays */
	uint64_t run_begin;   /* a run of bytes known to be resident, and to stay while the */
	uint64_t run_end;     /* step runs: tested first; empty (0, 0) where there is none */
	unsigned want_count;  /* ranges that the current step lacks */
	struct window_range wants[WINDOW_WANTS_MAX];
};

/* Records that a range is lacking, merged with a want that it touches. Beyond WINDOW_WANTS_MAX
 * ranges it is dropped: the step will run again anyway and ask for the rest. */
void window_want(struct window *w, uint64_t offset, uint64_t size_bytes);

/* The slow half of window_get(): some block test is needed. */
int window_get_blocks(struct window *w, uint64_t offset, uint64_t size_bytes, const uint8_t **ret);

/*
 * SIZE_BYTES (at least 1) contiguous bytes of the file at OFFSET. 0: *ret points at them, until
 * the step ends; -EAGAIN: the range was added to the wants; -EADDRNOTAVAIL: it reaches past the
 * end of the file; -EIO.
 */
static inline int window_get(struct window *w, uint64_t offset, uint64_t size_bytes,
			     const uint8_t **ret)
{
	if (likely(offset >= w->run_begin && offset <= w->run_end &&
		   size_bytes <= w->run_end - offset)) {
		*ret = w->base + offset;
		return 0;
	}
	if (unlikely(offset > w->size_bytes || size_bytes > w->size_bytes - offset))
		return -EADDRNOTAVAIL;
	if (w->whole) {
		*ret = w->base + offset;
		return 0;
	}
	return window_get_blocks(w, offset, size_bytes, ret);
}

/* True if a block is in a certain state and reading it has not failed. */
static inline bool window_block_is(const struct window *w, uint64_t block, unsigned state)
{
	return (__atomic_load_n(&w->blocks[block], __ATOMIC_ACQUIRE) &
		(state | WINDOW_BLOCK_FAILED)) == state;
}

/*
 * The same without side effects, for fast paths: NULL unless the bytes are there, in at most two
 * blocks that are marked as touched already. The caller then takes the slow path, which says what
 * is the matter.
 */
static inline const uint8_t *window_peek(const struct window *w, uint64_t offset,
					 uint64_t size_bytes)
{
	const unsigned ready = WINDOW_BLOCK_RESIDENT | WINDOW_BLOCK_TOUCHED;
	uint64_t first, last;

	if (likely(offset >= w->run_begin && offset <= w->run_end &&
		   size_bytes <= w->run_end - offset))
		return w->base + offset;
	if (unlikely(offset > w->size_bytes || size_bytes > w->size_bytes - offset))
		return NULL;
	if (w->whole)
		return w->base + offset;
	first = offset >> w->block_shift;
	last = (offset + size_bytes - 1) >> w->block_shift;
	if (last - first > 1 || !window_block_is(w, first, ready) ||
	    !window_block_is(w, last, ready))
		return NULL;
	return w->base + offset;
}

/* Little-endian loads from any address. */
static inline uint64_t load_le64(const uint8_t *p)
{
	uint64_t v;

	memcpy(&v, p, sizeof(v));
	return le64toh(v);
}

static inline uint32_t load_le32(const uint8_t *p)
{
	uint32_t v;

	memcpy(&v, p, sizeof(v));
	return le32toh(v);
}

/* True for the errors that are about one piece of a file: the piece is stepped over. */
static inline bool format_error_is_soft(int error)
{
	return error == -EBADMSG || error == -EADDRNOTAVAIL || error == -EIO;
}

#endif
