/* SPDX-License-Identifier: MIT */
/*
 * Stream decoders behind one interface. What is common stands in packed_decode(): streams one after
 * the other, padding, the end of the file. A method only decodes one stream. The input is hostile:
 * sizes that it announces are not allocated for, windows and dictionaries have a limit, and every
 * call moves input or output or ends.
 *
 * A decoder's memory is bounded by the limits below, whatever the input: at most 128 MiB and what
 * the library adds.
 */
#include "formats/packed/packed.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include <lz4frame.h>
#include <zstd.h>
#include <zstd_errors.h>

#include "config.h"
#include "formats/format.h"

#if HAVE_XZ
#include <lzma.h>
#endif
#if HAVE_ZLIB
#include <zlib.h>
#endif

/* The largest window of a zstd frame: what the zstd command accepts without being told to. */
#define PACKED_ZSTD_WINDOW_LOG_MAX 27
/* What an xz decoder may allocate: twice what the highest preset needs. */
#define PACKED_XZ_MEMORY_MAX_BYTES (UINT64_C(128) << 20)
/* Frames of zstd and LZ4 that decoders pass over have 16 magic numbers, from this byte on. */
#define PACKED_SKIPPABLE_FIRST 0x50u
#define PACKED_SKIPPABLE_MASK 0xf0u
/* zlib counts in unsigned int. */
#define PACKED_PIECE_MAX (1u << 30)

/* A way of compressing. */
struct packed_method {
	uint8_t magic[PACKED_MAGIC_SIZE];
	uint8_t magic_size;
	bool skippable;       /* frames that are passed over may stand between streams */
	/* Makes the decoder. */
	int (*init)(struct packed *p);
	/* Another stream begins. */
	int (*begin)(struct packed *p);
	/* Decodes: 1 at the end of a stream, 0 when input or room is used up, negative errno. */
	int (*decode)(struct packed *p, struct packed_io *io);
	void (*done)(struct packed *p);
};

struct packed {
	const struct packed_method *method;
	bool within;          /* a stream has begun and not ended */
	bool begun;           /* the first stream has */
	union {
		ZSTD_DCtx *zstd;
		LZ4F_dctx *lz4;
#if HAVE_XZ
		lzma_stream xz;
#endif
#if HAVE_ZLIB
		z_stream gzip;
#endif
	};
};

/* ---- zstd --------------------------------------------------------------------------------- */

static int packed_zstd_init(struct packed *p)
{
	p->zstd = ZSTD_createDCtx();
	if (!p->zstd)
		return -ENOMEM;
	ZSTD_DCtx_setParameter(p->zstd, ZSTD_d_windowLogMax, PACKED_ZSTD_WINDOW_LOG_MAX);
	return 0;
}

static int packed_zstd_begin(struct packed *p)
{
	ZSTD_DCtx_reset(p->zstd, ZSTD_reset_session_only);
	return 0;
}

static int packed_zstd_decode(struct packed *p, struct packed_io *io)
{
	ZSTD_inBuffer in = { .src = io->in, .size = io->in_size, .pos = io->in_used };
	ZSTD_outBuffer out = { .dst = io->out, .size = io->out_size, .pos = io->out_used };
	size_t left = ZSTD_decompressStream(p->zstd, &out, &in);

	io->in_used = in.pos;
	io->out_used = out.pos;
	if (!ZSTD_isError(left))
		return left == 0;
	switch (ZSTD_getErrorCode(left)) {
	case ZSTD_error_memory_allocation:
		return -ENOMEM;
	case ZSTD_error_frameParameter_windowTooLarge:
		return -ENOBUFS;
	default:
		return -EBADMSG;
	}
}

static void packed_zstd_done(struct packed *p)
{
	ZSTD_freeDCtx(p->zstd);
}

/* ---- LZ4 ---------------------------------------------------------------------------------- */

static int packed_lz4_init(struct packed *p)
{
	return LZ4F_isError(LZ4F_createDecompressionContext(&p->lz4, LZ4F_VERSION)) ? -ENOMEM : 0;
}

static int packed_lz4_begin(struct packed *p)
{
	LZ4F_resetDecompressionContext(p->lz4);
	return 0;
}

static int packed_lz4_decode(struct packed *p, struct packed_io *io)
{
	size_t in_size = io->in_size - io->in_used, out_size = io->out_size - io->out_used;
	size_t left = LZ4F_decompress(p->lz4, io->out + io->out_used, &out_size,
				      io->in + io->in_used, &in_size, NULL);

	if (LZ4F_isError(left))
		return -EBADMSG;
	io->in_used += in_size;
	io->out_used += out_size;
	return left == 0;
}

static void packed_lz4_done(struct packed *p)
{
	LZ4F_freeDecompressionContext(p->lz4);
}

/* ---- xz ----------------------------------------------------------------------------------- */

#if HAVE_XZ

static int packed_xz_init(struct packed *p)
{
	p->xz = (lzma_stream)LZMA_STREAM_INIT;
	return 0;
}

static int packed_xz_begin(struct packed *p)
{
	return lzma_stream_decoder(&p->xz, PACKED_XZ_MEMORY_MAX_BYTES, 0) == LZMA_OK ? 0 : -ENOMEM;
}

static int packed_xz_decode(struct packed *p, struct packed_io *io)
{
	lzma_ret result;

	p->xz.next_in = io->in + io->in_used;
	p->xz.avail_in = io->in_size - io->in_used;
	p->xz.next_out = io->out + io->out_used;
	p->xz.avail_out = io->out_size - io->out_used;
	result = lzma_code(&p->xz, LZMA_RUN);
	io->in_used = io->in_size - p->xz.avail_in;
	io->out_used = io->out_size - p->xz.avail_out;
	switch (result) {
	case LZMA_STREAM_END:
		return 1;
	case LZMA_OK:
	case LZMA_BUF_ERROR: /* nothing could be done: input or room is lacking */
		return 0;
	case LZMA_MEM_ERROR:
		return -ENOMEM;
	case LZMA_MEMLIMIT_ERROR:
		return -ENOBUFS;
	default:
		return -EBADMSG;
	}
}

static void packed_xz_done(struct packed *p)
{
	lzma_end(&p->xz);
}

#endif

/* ---- gzip --------------------------------------------------------------------------------- */

#if HAVE_ZLIB

static int packed_gzip_init(struct packed *p)
{
	p->gzip = (z_stream){ 0 };
	/* The largest window, and only gzip's framing. */
	return inflateInit2(&p->gzip, 15 + 16) == Z_OK ? 0 : -ENOMEM;
}

static int packed_gzip_begin(struct packed *p)
{
	return inflateReset(&p->gzip) == Z_OK ? 0 : -EBADMSG;
}

static int packed_gzip_decode(struct packed *p, struct packed_io *io)
{
	size_t in_size = io->in_size - io->in_used, out_size = io->out_size - io->out_used;
	int result;

	p->gzip.next_in = (Bytef *)(uintptr_t)(io->in + io->in_used);
	p->gzip.avail_in = (uInt)(in_size < PACKED_PIECE_MAX ? in_size : PACKED_PIECE_MAX);
	p->gzip.next_out = io->out + io->out_used;
	p->gzip.avail_out = (uInt)(out_size < PACKED_PIECE_MAX ? out_size : PACKED_PIECE_MAX);
	result = inflate(&p->gzip, Z_NO_FLUSH);
	io->in_used = (size_t)(p->gzip.next_in - io->in);
	io->out_used = (size_t)(p->gzip.next_out - io->out);
	switch (result) {
	case Z_STREAM_END:
		return 1;
	case Z_OK:
	case Z_BUF_ERROR: /* nothing could be done: input or room is lacking */
		return 0;
	case Z_MEM_ERROR:
		return -ENOMEM;
	default:
		return -EBADMSG;
	}
}

static void packed_gzip_done(struct packed *p)
{
	inflateEnd(&p->gzip);
}

#endif

/* ---- all of them -------------------------------------------------------------------------- */

static const struct packed_method packed_methods[PACKED_KIND_COUNT] = {
	[PACKED_ZSTD] = { { 0x28, 0xb5, 0x2f, 0xfd }, 4, true, packed_zstd_init,
			  packed_zstd_begin, packed_zstd_decode, packed_zstd_done },
	[PACKED_XZ] = { { 0xfd, '7', 'z', 'X', 'Z', 0x00 }, 6, false,
#if HAVE_XZ
			packed_xz_init, packed_xz_begin, packed_xz_decode, packed_xz_done
#endif
	},
	[PACKED_GZIP] = { { 0x1f, 0x8b, 0x08 }, 3, false,
#if HAVE_ZLIB
			  packed_gzip_init, packed_gzip_begin, packed_gzip_decode, packed_gzip_done
#endif
	},
	[PACKED_LZ4] = { { 0x04, 0x22, 0x4d, 0x18 }, 4, true, packed_lz4_init, packed_lz4_begin,
			 packed_lz4_decode, packed_lz4_done },
};

/* True if BYTE begins a frame that says nothing. */
static bool packed_is_skippable(uint8_t byte)
{
	return (byte & PACKED_SKIPPABLE_MASK) == PACKED_SKIPPABLE_FIRST;
}

enum packed_kind packed_recognise(const uint8_t *bytes, size_t size)
{
	for (unsigned kind = PACKED_NONE + 1; kind < PACKED_KIND_COUNT; kind++) {
		const struct packed_method *method = &packed_methods[kind];

		if (size >= method->magic_size &&
		    memcmp(bytes, method->magic, method->magic_size) == 0)
			return (enum packed_kind)kind;
	}
	/* pzstd begins with one of these; nobody does so with LZ4. */
	if (size >= 4 && packed_is_skippable(bytes[0]) && memcmp(bytes + 1, "\x2a\x4d\x18", 3) == 0)
		return PACKED_ZSTD;
	return PACKED_NONE;
}

int packed_new(enum packed_kind kind, struct packed **ret_packed)
{
	const struct packed_method *method = &packed_methods[kind];
	struct packed *p;
	int r;

	if (!method->init)
		return -EPROTONOSUPPORT;
	p = calloc(1, sizeof(*p));
	if (!p)
		return -ENOMEM;
	r = method->init(p);
	if (r < 0) {
		free(p);
		return r;
	}
	p->method = method;
	*ret_packed = p;
	return 0;
}

struct packed *packed_free(struct packed *p)
{
	if (p) {
		p->method->done(p);
		free(p);
	}
	return NULL;
}

/* Between streams: 1 if another one begins, 0 if there is no input, -EBADE. */
static int packed_next_stream(struct packed *p, struct packed_io *io)
{
	uint8_t byte;
	int r;

	while (p->begun && io->in_used < io->in_size && io->in[io->in_used] == 0)
		io->in_used++;
	if (io->in_used == io->in_size)
		return 0;
	byte = io->in[io->in_used];
	if (byte != p->method->magic[0] && !(p->method->skippable && packed_is_skippable(byte)))
		return -EBADE;
	r = p->method->begin(p);
	if (r < 0)
		return r;
	p->within = p->begun = true;
	return 1;
}

int packed_decode(struct packed *p, struct packed_io *io)
{
	for (;;) {
		size_t in_before = io->in_used, out_before = io->out_used;
		int r;

		if (!p->within) {
			r = packed_next_stream(p, io);
			if (r == 0 && io->in_last)
				return p->begun ? 1 : -ENODATA;
			if (r <= 0)
				return r;
		}
		r = p->method->decode(p, io);
		if (r < 0)
			return r;
		if (r > 0) {
			p->within = false;
			continue;
		}
		if (io->out_used == io->out_size)
			return 0;
		if (io->in_used == in_before && io->out_used == out_before) {
			if (io->in_used < io->in_size)
				return -EBADMSG; /* it has both, and does nothing */
			return io->in_last ? -ENODATA : 0;
		}
	}
}

const char *packed_explain(int error)
{
	switch (error) {
	case -ENODATA:
		return "its compressed data is cut short";
	case -EBADE:
		return "what follows its compressed data is not compressed";
	case -ENOBUFS:
		return "unpacking it takes more memory than is allowed";
	case -ENOMEM:
		return "there is not enough memory to unpack it";
	case -EPROTONOSUPPORT:
		return "this build cannot unpack files that are compressed like this";
	default:
		return "its compressed data is damaged";
	}
}
