/* SPDX-License-Identifier: MIT */
/*
 * The encoders next to the decoders of packed.c. Each frame carries a checksum of its contents and
 * is independent of those before. Memory is bounded by the largest frame; room for its bytes is
 * kept for the next one.
 */
#include "formats/packed/packer.h"

#include <errno.h>
#include <lz4frame.h>
#include <stdlib.h>
#include <zstd.h>

/* Makes room for a frame of at most SIZE bytes; what was there is lost. */
static int packer_reserve(struct packer *p, size_t size)
{
	if (size <= p->capacity)
		return 0;
	free(p->bytes);
	p->capacity = 0;
	p->bytes = malloc(size);
	if (!p->bytes)
		return -ENOMEM;
	p->capacity = size;
	return 0;
}

/* A frame of zstd. */
static int packer_zstd(struct packer *p, unsigned level, const uint8_t *bytes, size_t size,
		       size_t *ret_size)
{
	size_t n;

	if (!p->zstd)
		p->zstd = ZSTD_createCCtx();
	if (!p->zstd || packer_reserve(p, ZSTD_compressBound(size)) < 0)
		return -ENOMEM;
	ZSTD_CCtx_reset(p->zstd, ZSTD_reset_session_and_parameters);
	ZSTD_CCtx_setParameter(p->zstd, ZSTD_c_compressionLevel,
			       (int)(level ? level : PACKER_ZSTD_LEVEL));
	ZSTD_CCtx_setParameter(p->zstd, ZSTD_c_checksumFlag, 1);
	n = ZSTD_compress2(p->zstd, p->bytes, p->capacity, bytes, size);
	if (ZSTD_isError(n))
		return -ENOMEM; /* room there is, so nothing else is left */
	*ret_size = n;
	return 0;
}

/* A frame of LZ4. */
static int packer_lz4(struct packer *p, const uint8_t *bytes, size_t size, size_t *ret_size)
{
	LZ4F_preferences_t preferences = {
		.frameInfo = { .blockSizeID = LZ4F_max4MB,
			       .contentChecksumFlag = LZ4F_contentChecksumEnabled },
		.autoFlush = 1,
	};
	size_t at, n;

	if (!p->lz4) {
		LZ4F_cctx *context;

		if (LZ4F_isError(LZ4F_createCompressionContext(&context, LZ4F_VERSION)))
			return -ENOMEM;
		p->lz4 = context;
	}
	n = LZ4F_compressFrameBound(size, &preferences) + LZ4F_HEADER_SIZE_MAX;
	if (packer_reserve(p, n) < 0)
		return -ENOMEM;
	at = LZ4F_compressBegin(p->lz4, p->bytes, p->capacity, &preferences);
	if (LZ4F_isError(at))
		return -ENOMEM;
	n = LZ4F_compressUpdate(p->lz4, p->bytes + at, p->capacity - at, bytes, size, NULL);
	if (LZ4F_isError(n))
		return -ENOMEM;
	at += n;
	n = LZ4F_compressEnd(p->lz4, p->bytes + at, p->capacity - at, NULL);
	if (LZ4F_isError(n))
		return -ENOMEM;
	*ret_size = at + n;
	return 0;
}

int packer_frame(struct packer *p, enum packed_kind kind, unsigned level, const uint8_t *bytes,
		 size_t size, const uint8_t **ret_frame, size_t *ret_size)
{
	int r = -EPROTONOSUPPORT;

	if (size > PACKER_FRAME_BYTES_MAX)
		return -EFBIG;
	if (kind == PACKED_ZSTD)
		r = packer_zstd(p, level, bytes, size, ret_size);
	else if (kind == PACKED_LZ4)
		r = packer_lz4(p, bytes, size, ret_size);
	if (r == 0)
		*ret_frame = p->bytes;
	return r;
}

void packer_done(struct packer *p)
{
	ZSTD_freeCCtx(p->zstd);
	LZ4F_freeCompressionContext(p->lz4);
	free(p->bytes);
	*p = (struct packer){ 0 };
}
