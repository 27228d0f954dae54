/* SPDX-License-Identifier: MIT */
/*
 * Bytes made into standard frames of zstd or LZ4: one call, one frame. Frames one behind the other
 * are a stream that every decoder reads. What a frame holds depends on its bytes only, not on what
 * was encoded before.
 */
#ifndef FORMATS_PACKED_PACKER_H
#define FORMATS_PACKED_PACKER_H

#include "formats/packed/packed.h"

#define PACKER_ZSTD_LEVEL_MAX 19u
#define PACKER_ZSTD_LEVEL 3u /* where nobody says otherwise */

/* What one frame may be made of. */
#define PACKER_FRAME_BYTES_MAX (4u << 20)

/* Encoding contexts and room, made when they are first needed and kept for reuse; begins as zeros.
 * For one thread at a time. */
struct packer {
	void *zstd, *lz4;
	uint8_t *bytes;          /* the frame that was made last */
	size_t capacity;
};

/* Makes one frame of SIZE bytes, which may be none. LEVEL is for zstd; 0: the default. The frame is
 * borrowed until the next call. -EPROTONOSUPPORT: a kind that cannot be written; -EFBIG;
 * -ENOMEM. */
int packer_frame(struct packer *packer, enum packed_kind kind, unsigned level, const uint8_t *bytes,
		 size_t size, const uint8_t **ret_frame, size_t *ret_size);

void packer_done(struct packer *packer);

#endif
