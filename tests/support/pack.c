/* SPDX-License-Identifier: MIT */
/* Whole files compressed with the libraries' simplest calls, with checksums where there are any. */
#include "tests/support/pack.h"

#include <stdlib.h>
#include <string.h>

#include <lz4frame.h>
#include <zstd.h>

#include "config.h"

#if HAVE_XZ
#include <lzma.h>
#endif
#if HAVE_ZLIB
#include <zlib.h>
#endif

bool pack_can(enum packed_kind kind)
{
	return kind == PACKED_ZSTD || kind == PACKED_LZ4 || (HAVE_XZ && kind == PACKED_XZ) ||
	       (HAVE_ZLIB && kind == PACKED_GZIP);
}

/* Compresses with zstd. */
static size_t pack_zstd(const void *data, size_t size, uint8_t *out, size_t room)
{
	ZSTD_CCtx *context = ZSTD_createCCtx();
	size_t written;

	ZSTD_CCtx_setParameter(context, ZSTD_c_checksumFlag, 1);
	written = ZSTD_compress2(context, out, room, data, size);
	ZSTD_freeCCtx(context);
	return written;
}

/* Compresses to an LZ4 frame. */
static size_t pack_lz4(const void *data, size_t size, uint8_t *out, size_t room)
{
	LZ4F_preferences_t preferences = {
		.frameInfo.contentChecksumFlag = LZ4F_contentChecksumEnabled,
	};

	return LZ4F_compressFrame(out, room, data, size, &preferences);
}

#if HAVE_XZ
/* Compresses to an xz stream. */
static size_t pack_xz(const void *data, size_t size, uint8_t *out, size_t room)
{
	size_t written = 0;

	if (lzma_easy_buffer_encode(0, LZMA_CHECK_CRC64, NULL, data, size, out, &written, room) !=
	    LZMA_OK)
		abort();
	return written;
}
#endif

#if HAVE_ZLIB
/* Compresses to a gzip member. */
static size_t pack_gzip(const void *data, size_t size, uint8_t *out, size_t room)
{
	z_stream stream = { .next_in = (Bytef *)(uintptr_t)data, .avail_in = (uInt)size,
			    .next_out = out, .avail_out = (uInt)room };

	if (deflateInit2(&stream, 1, Z_DEFLATED, 15 + 16, 8, Z_DEFAULT_STRATEGY) != Z_OK ||
	    deflate(&stream, Z_FINISH) != Z_STREAM_END)
		abort();
	deflateEnd(&stream);
	return stream.total_out;
}
#endif

uint8_t *pack(enum packed_kind kind, const void *data, size_t size, size_t *ret_size)
{
	size_t room = size + size / 8 + 4096;
	uint8_t *out = malloc(room);

	if (!out)
		abort();
	switch (kind) {
	case PACKED_ZSTD:
		*ret_size = pack_zstd(data, size, out, room);
		break;
	case PACKED_LZ4:
		*ret_size = pack_lz4(data, size, out, room);
		break;
#if HAVE_XZ
	case PACKED_XZ:
		*ret_size = pack_xz(data, size, out, room);
		break;
#endif
#if HAVE_ZLIB
	case PACKED_GZIP:
		*ret_size = pack_gzip(data, size, out, room);
		break;
#endif
	default:
		abort();
	}
	if (*ret_size > room)
		abort();
	return out;
}

uint8_t *pack_join(const void *a, size_t a_size, const void *b, size_t b_size, size_t *ret_size)
{
	uint8_t *joined = malloc(a_size + b_size + 1);

	if (!joined)
		abort();
	memcpy(joined, a, a_size);
	memcpy(joined + a_size, b, b_size);
	*ret_size = a_size + b_size;
	return joined;
}
