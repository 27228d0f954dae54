/* SPDX-License-Identifier: MIT */
/*
 * What to read next of a file that is streamed: a pure function of where its reader is and what was
 * asked for before. The distance doubles whenever the reader had to wait, from DISTANCE_MIN to the
 * limit, and is asked for in pieces of at most READAHEAD_REQUEST_BYTES.
 */
#ifndef URING_READAHEAD_H
#define URING_READAHEAD_H

#include <stdbool.h>
#include <stdint.h>

#define READAHEAD_DISTANCE_MIN (256u << 10)
#define READAHEAD_REQUEST_BYTES (1u << 20)

struct readahead {
	bool backward;
	uint64_t begin_bytes, end_bytes; /* of what is worth reading: no hash tables, no tails */
	uint64_t asked_bytes;            /* edge of what was asked for: end (forward) or begin */
	uint64_t distance_bytes;
};

void readahead_init(struct readahead *ra, uint64_t begin_bytes, uint64_t end_bytes, bool backward);

/* The reader had to wait: widen the distance, up to LIMIT_BYTES. */
void readahead_stalled(struct readahead *ra, uint64_t limit_bytes);

/*
 * The next range to ask for, with the reader at POSITION_BYTES and ROOM_BYTES left to ask for.
 * False if there is nothing to ask for now. The range counts as asked. A reader more than
 * READAHEAD_REQUEST_BYTES past the edge of what was asked for has jumped: asking goes on from a
 * little behind it.
 */
bool readahead_next(struct readahead *ra, uint64_t position_bytes, uint64_t room_bytes,
		    uint64_t *ret_offset, uint64_t *ret_size_bytes);

/* Everything has been asked for: the next file's turn. */
bool readahead_is_complete(const struct readahead *ra);

#endif
