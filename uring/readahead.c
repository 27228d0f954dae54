/* SPDX-License-Identifier: MIT */
/*
 * Read-ahead as arithmetic: the part of the file between the reader and the edge of what was asked
 * for is kept as long as the distance. It knows neither images nor reads, and asks for every byte
 * between begin and end at most once.
 */
#include "uring/readahead.h"

#include <assert.h>

void readahead_init(struct readahead *ra, uint64_t begin_bytes, uint64_t end_bytes, bool backward)
{
	if (end_bytes < begin_bytes)
		end_bytes = begin_bytes;
	*ra = (struct readahead){
		.backward = backward,
		.begin_bytes = begin_bytes,
		.end_bytes = end_bytes,
		.asked_bytes = backward ? end_bytes : begin_bytes,
		.distance_bytes = READAHEAD_DISTANCE_MIN,
	};
}

void readahead_stalled(struct readahead *ra, uint64_t limit_bytes)
{
	uint64_t doubled = UINT64_MAX;

	if (ra->distance_bytes <= UINT64_MAX / 2)
		doubled = ra->distance_bytes * 2;
	/* A limit below the smallest distance stops the growth, not the reading. */
	if (doubled > limit_bytes)
		doubled = limit_bytes;
	if (doubled > ra->distance_bytes)
		ra->distance_bytes = doubled;
}

/* The bytes between A and B, or 0 if A is the larger. */
static uint64_t readahead_gap(uint64_t a, uint64_t b)
{
	return b > a ? b - a : 0;
}

/*
 * A reader that is far past the edge has jumped there: what lies between is not asked for, except
 * for what is close to the reader. One that is a little past it has read that by itself, or around
 * it: objects are used from behind and before the place where the reader is.
 */
static void readahead_follow(struct readahead *ra, uint64_t position_bytes)
{
	if (ra->backward) {
		if (readahead_gap(position_bytes, ra->asked_bytes) > READAHEAD_REQUEST_BYTES)
			ra->asked_bytes = position_bytes + READAHEAD_DISTANCE_MIN;
	} else {
		if (readahead_gap(ra->asked_bytes, position_bytes) > READAHEAD_REQUEST_BYTES)
			ra->asked_bytes = position_bytes - READAHEAD_DISTANCE_MIN;
	}
}

bool readahead_next(struct readahead *ra, uint64_t position_bytes, uint64_t room_bytes,
		    uint64_t *ret_offset, uint64_t *ret_size_bytes)
{
	uint64_t ahead, left, size_bytes;

	assert(ra->asked_bytes >= ra->begin_bytes && ra->asked_bytes <= ra->end_bytes);
	if (position_bytes < ra->begin_bytes)
		position_bytes = ra->begin_bytes;
	if (position_bytes > ra->end_bytes)
		position_bytes = ra->end_bytes;
	readahead_follow(ra, position_bytes);

	if (ra->backward) {
		ahead = readahead_gap(ra->asked_bytes, position_bytes);
		left = ra->asked_bytes - ra->begin_bytes;
	} else {
		ahead = readahead_gap(position_bytes, ra->asked_bytes);
		left = ra->end_bytes - ra->asked_bytes;
	}
	if (left == 0 || ahead >= ra->distance_bytes)
		return false;

	size_bytes = ra->distance_bytes - ahead;
	if (size_bytes > READAHEAD_REQUEST_BYTES)
		size_bytes = READAHEAD_REQUEST_BYTES;
	if (size_bytes > left)
		size_bytes = left;
	if (size_bytes > room_bytes)
		size_bytes = room_bytes;
	/* Small pieces are not worth a request, unless they are the last. */
	if (size_bytes < READAHEAD_DISTANCE_MIN && size_bytes < left)
		return false;

	if (ra->backward)
		ra->asked_bytes -= size_bytes;
	*ret_offset = ra->asked_bytes;
	if (!ra->backward)
		ra->asked_bytes += size_bytes;
	*ret_size_bytes = size_bytes;
	return true;
}

bool readahead_is_complete(const struct readahead *ra)
{
	return ra->asked_bytes == (ra->backward ? ra->begin_bytes : ra->end_bytes);
}
