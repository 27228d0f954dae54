/* SPDX-License-Identifier: MIT */
/*
 * Payloads compressed as the format frames them (specification 4.1): a whole .xz stream without an
 * integrity check, a raw LZ4 block behind its length, one zstd frame.
 */
#include <assert.h>
#include <lz4.h>
#include <stdlib.h>
#include <zstd.h>

#include "config.h"
#include "tests/support/fixture.h"

#if HAVE_XZ
#include <lzma.h>

/* Compresses with XZ into ROOM bytes. 0 if they do not suffice. */
static size_t fixture_compress_xz(const void *data, size_t size, uint8_t *out, size_t room)
{
	lzma_options_lzma options;
	lzma_filter filters[] = { { LZMA_FILTER_LZMA2, &options }, { LZMA_VLI_UNKNOWN, NULL } };
	size_t written = 0;

	if (lzma_lzma_preset(&options, 0))
		abort();
	if (lzma_stream_buffer_encode(filters, LZMA_CHECK_NONE, NULL, data, size, out, &written,
				      room) != LZMA_OK)
		return 0;
	return written;
}
#else
/* Stands in where the library is missing: nothing asks for it. */
static size_t fixture_compress_xz(const void *data, size_t size, uint8_t *out, size_t room)
{
	(void)data, (void)size, (void)out, (void)room;
	abort();
}
#endif

/* Compresses with LZ4 into ROOM bytes. 0 if they do not suffice. */
static size_t fixture_compress_lz4(const void *data, size_t size, uint8_t *out, size_t room)
{
	uint64_t length = htole64(size);
	int r;

	if (room <= sizeof(length) || room > INT32_MAX)
		return 0;
	memcpy(out, &length, sizeof(length));
	r = LZ4_compress_default(data, (char *)out + sizeof(length), (int)size,
				 (int)(room - sizeof(length)));
	return r > 0 ? (size_t)r + sizeof(length) : 0;
}

/* Compresses with zstd into ROOM bytes. 0 if they do not suffice. */
static size_t fixture_compress_zstd(bool without_size, const void *data, size_t size, uint8_t *out,
				    size_t room)
{
	ZSTD_CCtx *context = ZSTD_createCCtx();
	size_t r;

	if (!context)
		abort();
	ZSTD_CCtx_setParameter(context, ZSTD_c_contentSizeFlag, !without_size);
	r = ZSTD_compress2(context, out, room, data, size);
	ZSTD_freeCCtx(context);
	return ZSTD_isError(r) ? 0 : r;
}

bool fixture_can_compress(uint8_t compression)
{
	return HAVE_XZ || !(compression & OBJECT_XZ);
}

uint8_t *fixture_compress(uint8_t compression, bool zstd_without_size, const void *data,
			  size_t size, size_t *ret_size)
{
	uint8_t *out = malloc(size ? size : 1);
	/* The real writer too keeps what is not at least a byte shorter. */
	size_t room = size ? size - 1 : 0, written = 0;

	if (!out)
		abort();
	if (compression & OBJECT_XZ)
		written = fixture_compress_xz(data, size, out, room);
	else if (compression & OBJECT_LZ4)
		written = fixture_compress_lz4(data, size, out, room);
	else if (compression & OBJECT_ZSTD)
		written = fixture_compress_zstd(zstd_without_size, data, size, out, room);
	if (!written) {
		free(out);
		return NULL;
	}
	*ret_size = written;
	return out;
}
