/* SPDX-License-Identifier: MIT */
/*
 * Decompression of payloads: specification section 4. The compressed bytes are hostile. A size that
 * they announce is never allocated for: results go into an arena whose address space is reserved
 * once and whose pages come into being as they are written, and no decoder is given more room than
 * what is left of it. So earlier results never move, and a bomb costs at most the limit.
 *
 * Memory that an unusually large payload took (arena pages, windows and dictionaries inside the
 * libraries) is given back at the next reset; below PAYLOAD_KEEP_BYTES it is kept.
 *
 * tidy: allow calls: the arena is address space that is reserved once, not memory.
 */
#include <assert.h>
#include <limits.h>
#include <stdlib.h>
#include <sys/mman.h>

#include <lz4.h>
#include <zstd.h>
#include <zstd_errors.h>

#include "config.h"
#include "formats/journal/journal.h"

#if HAVE_XZ
#include <lzma.h>
#endif

/* Results begin at multiples of this. */
#define PAYLOAD_ALIGNMENT 16u

/* What is kept over a reset. */
#define PAYLOAD_KEEP_BYTES (UINT64_C(4) << 20)

/* Where address space is limited, the arena is made smaller rather than not at all, down to this.
 */
#define PAYLOAD_ARENA_MIN_BYTES (UINT64_C(64) << 10)

/* The largest window that a streamed zstd frame may ask for: the library's default, which is what
 * the reference has. Frames that are decoded in one go need none. */
#define PAYLOAD_ZSTD_WINDOW_LOG_MAX 27

/* What an xz decoder may allocate: twice what the highest preset needs. */
#define PAYLOAD_XZ_MEMORY_MAX_BYTES (UINT64_C(128) << 20)

#define PAYLOAD_LZ4_HEADER_SIZE 8u

/* What is no larger is decoded sooner than looked at. */
#define PAYLOAD_SMALL_BYTES (UINT64_C(64) << 10)

struct payload_decoder {
	uint64_t limit_bytes;
	uint8_t *arena;      /* NULL until something is decoded */
	uint64_t arena_size; /* reserved: the limit, or less where address space is limited */
	uint64_t position;   /* end of what is in use */
	uint64_t touched;    /* end of what may have been written since the last reset */
	ZSTD_DCtx *zstd;     /* made when first needed */
#if HAVE_XZ
	lzma_stream xz; /* its memory is kept from one payload to the next */
#endif
	uint8_t prefix[PAYLOAD_PREFIX_MAX];
};

/* A place for a result, and how much of it was filled. */
struct payload_output {
	uint8_t *bytes;
	uint64_t room;
	uint64_t size;
};

/* ---- zstd --------------------------------------------------------------------------------- */

/* Makes the context if there is none yet. */
static int payload_zstd_prepare(struct payload_decoder *d)
{
	if (d->zstd)
		return 0;
	d->zstd = ZSTD_createDCtx();
	if (!d->zstd)
		return -ENOMEM;
	if (ZSTD_isError(ZSTD_DCtx_setParameter(d->zstd, ZSTD_d_windowLogMax,
						PAYLOAD_ZSTD_WINDOW_LOG_MAX)))
		d->zstd = (ZSTD_freeDCtx(d->zstd), NULL);
	return d->zstd ? 0 : -ENOMEM;
}

/* Says a zstd failure as an errno. */
static int payload_zstd_error(size_t result)
{
	return ZSTD_getErrorCode(result) == ZSTD_error_memory_allocation ? -ENOMEM : -EBADMSG;
}

/* Decodes until the last frame ends (0), or the output is full before (1). */
static int payload_zstd_begin(struct payload_decoder *d, const uint8_t *bytes, uint64_t size,
			      struct payload_output *out)
{
	ZSTD_inBuffer in = { .src = bytes, .size = size };
	ZSTD_outBuffer to = { .dst = out->bytes, .size = out->room };
	size_t left = 1; /* 0 between frames */

	ZSTD_DCtx_reset(d->zstd, ZSTD_reset_session_only);
	while (to.pos < to.size && (left > 0 || in.pos < in.size)) {
		size_t in_before = in.pos, to_before = to.pos;

		left = ZSTD_decompressStream(d->zstd, &to, &in);
		if (ZSTD_isError(left))
			return payload_zstd_error(left);
		if (left > 0 && in.pos == in_before && to.pos == to_before)
			return -EBADMSG; /* the frame is cut short */
	}
	out->size = to.pos;
	if (left > 0) /* The output is full; what is left may be no more than the frame's end. */
		left = ZSTD_decompressStream(d->zstd, &to, &in);
	return ZSTD_isError(left) || left > 0 || in.pos < in.size;
}

/* Decodes all frames, one after the other, as version 262 does; the writer makes one. */
static int payload_zstd_decode(struct payload_decoder *d, const uint8_t *bytes, uint64_t size,
			       struct payload_output *out)
{
	unsigned long long announced;
	size_t n;
	int r;

	r = payload_zstd_prepare(d);
	if (r < 0)
		return r;
	announced = ZSTD_getFrameContentSize(bytes, size);
	if (announced == ZSTD_CONTENTSIZE_ERROR || size == 0)
		return -EBADMSG;
	if (announced == ZSTD_CONTENTSIZE_UNKNOWN) {
		/* As a stream, like the reference: what no stream may hold is damage. */
		r = payload_zstd_begin(d, bytes, size, out);
		return r > 0 ? -ENOBUFS : r;
	}
	if (announced <= out->room) {
		/* In one go, straight into the arena: no window, no second copy. */
		n = ZSTD_decompressDCtx(d->zstd, out->bytes, out->room, bytes, size);
		if (!ZSTD_isError(n)) {
			out->size = n;
			return 0;
		}
		if (ZSTD_getErrorCode(n) != ZSTD_error_dstSize_tooSmall)
			return payload_zstd_error(n);
	}
	/* Too large, or so it says: as much of it as there is room for, if it can be streamed. */
	r = payload_zstd_begin(d, bytes, size, out);
	/* A frame that cannot be streamed can be sound if it is small: an empty arena tells. */
	return r < 0 && (r != -EBADMSG || d->position == 0) ? r : -ENOBUFS;
}

/* ---- LZ4 ---------------------------------------------------------------------------------- */

/* Decodes one block, which has to have exactly the announced length. */
static int payload_lz4_decode(const uint8_t *bytes, uint64_t size, struct payload_output *out)
{
	const char *block = (const char *)bytes + PAYLOAD_LZ4_HEADER_SIZE;
	uint64_t announced;
	int block_size, n;

	if (size <= PAYLOAD_LZ4_HEADER_SIZE)
		return -EBADMSG;
	announced = load_le64(bytes);
	if (announced > INT_MAX)
		return -EFBIG;
	if (size - PAYLOAD_LZ4_HEADER_SIZE > INT_MAX)
		return -EBADMSG; /* no block of an acceptable length can be that large */
	block_size = (int)(size - PAYLOAD_LZ4_HEADER_SIZE);

	if (announced > out->room) {
		n = LZ4_decompress_safe_partial(block, (char *)out->bytes, block_size,
						(int)out->room, (int)out->room);
		if (n < 0)
			return -EBADMSG;
		out->size = (uint64_t)n;
		return -ENOBUFS;
	}
	n = LZ4_decompress_safe(block, (char *)out->bytes, block_size, (int)announced);
	if (n < 0 || (uint64_t)n != announced)
		return -EBADMSG;
	out->size = announced;
	return 0;
}

/* Decodes the block's beginning. */
static int payload_lz4_begin(const uint8_t *bytes, uint64_t size, struct payload_output *out)
{
	uint64_t announced;
	int n;

	if (size <= PAYLOAD_LZ4_HEADER_SIZE || size - PAYLOAD_LZ4_HEADER_SIZE > INT_MAX)
		return -EBADMSG;
	n = LZ4_decompress_safe_partial((const char *)bytes + PAYLOAD_LZ4_HEADER_SIZE,
					(char *)out->bytes, (int)(size - PAYLOAD_LZ4_HEADER_SIZE),
					(int)out->room, (int)out->room);
	if (n < 0)
		return -EBADMSG;
	/* A block that is cut short looks like a short one. */
	announced = load_le64(bytes);
	if ((uint64_t)n < out->room && (uint64_t)n < announced)
		return -EBADMSG;
	out->size = (uint64_t)n;
	return 0;
}

/* ---- xz ----------------------------------------------------------------------------------- */

#if HAVE_XZ

/* Decodes a stream until it ends (0) or the output is full and there is more (1). */
static int payload_xz_decode(struct payload_decoder *d, const uint8_t *bytes, uint64_t size,
			     struct payload_output *out)
{
	lzma_ret result;

	result = lzma_stream_decoder(&d->xz, PAYLOAD_XZ_MEMORY_MAX_BYTES, 0);
	if (result != LZMA_OK)
		return -ENOMEM;
	d->xz.next_in = bytes;
	d->xz.avail_in = size;
	d->xz.next_out = out->bytes;
	d->xz.avail_out = out->room;
	/* Two calls in a row without progress end this with LZMA_BUF_ERROR. */
	do
		result = lzma_code(&d->xz, LZMA_FINISH);
	while (result == LZMA_OK);

	switch (result) {
	case LZMA_STREAM_END:
		out->size = out->room - d->xz.avail_out;
		return 0;
	case LZMA_BUF_ERROR:
		if (d->xz.avail_out > 0)
			return -EBADMSG; /* the stream is cut short */
		out->size = out->room;
		return 1;
	case LZMA_MEM_ERROR:
	case LZMA_MEMLIMIT_ERROR:
		return -ENOMEM;
	default:
		return -EBADMSG;
	}
}

/* Frees what the decoder holds, if it is more than KEEP_BYTES. */
static void payload_xz_trim(struct payload_decoder *d, uint64_t keep_bytes)
{
	/* Not initialised: the usage is 0. */
	if (d->xz.internal && lzma_memusage(&d->xz) >= keep_bytes) {
		lzma_end(&d->xz);
		d->xz = (lzma_stream)LZMA_STREAM_INIT;
	}
}

#else

static int payload_xz_decode(struct payload_decoder *d, const uint8_t *bytes, uint64_t size,
			     struct payload_output *out)
{
	(void)d, (void)bytes, (void)size, (void)out;
	return -EPROTONOSUPPORT;
}

static void payload_xz_trim(struct payload_decoder *d, uint64_t keep_bytes)
{
	(void)d, (void)keep_bytes;
}

#endif

/* ---- the decoder -------------------------------------------------------------------------- */

/* Makes a decoder; its memory is taken when first needed. */
int payload_decoder_new(uint64_t limit_bytes, struct payload_decoder **ret)
{
	struct payload_decoder *d = calloc(1, sizeof(*d));

	if (!d)
		return -ENOMEM;
	d->limit_bytes = limit_bytes;
	*ret = d;
	return 0;
}

/* Frees a decoder with all that it has decoded. */
struct payload_decoder *payload_decoder_free(struct payload_decoder *d)
{
	if (!d)
		return NULL;
	payload_xz_trim(d, 0);
	ZSTD_freeDCtx(d->zstd);
	if (d->arena)
		munmap(d->arena, d->arena_size);
	free(d);
	return NULL;
}

/* Empties the arena, and gives back what an outlier took. */
void payload_decoder_reset(struct payload_decoder *d)
{
	if (unlikely(d->touched > PAYLOAD_KEEP_BYTES))
		madvise(d->arena + PAYLOAD_KEEP_BYTES, d->arena_size - PAYLOAD_KEEP_BYTES,
			MADV_DONTNEED);
	if (d->touched > 0) {
		payload_xz_trim(d, PAYLOAD_KEEP_BYTES);
		if (d->zstd && ZSTD_sizeof_DCtx(d->zstd) > PAYLOAD_KEEP_BYTES)
			d->zstd = (ZSTD_freeDCtx(d->zstd), NULL);
	}
	d->position = 0;
	d->touched = 0;
}

uint64_t payload_decoder_position(const struct payload_decoder *d)
{
	return d->position;
}

void payload_decoder_rewind(struct payload_decoder *d, uint64_t position)
{
	assert(position <= d->position);
	d->position = position;
}

/* Reserves the arena's address space. */
static int payload_arena_reserve(struct payload_decoder *d)
{
	for (uint64_t size = d->limit_bytes;; size /= 2) {
		void *p = size > SIZE_MAX
				  ? MAP_FAILED
				  : mmap(NULL, size, PROT_READ | PROT_WRITE,
					 MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);

		if (p != MAP_FAILED) {
			d->arena = p;
			d->arena_size = size;
			return 0;
		}
		if (size / 2 < PAYLOAD_ARENA_MIN_BYTES)
			return -ENOMEM;
	}
}

/* Decodes by the one compression that there is; one result for all of them: 0, or -ENOBUFS with
 * the first bytes. */
static int payload_decode_to(struct payload_decoder *d, uint8_t compression, const uint8_t *bytes,
			     uint64_t size, struct payload_output *out)
{
	int r;

	switch (compression) {
	case OBJECT_ZSTD:
		return payload_zstd_decode(d, bytes, size, out);
	case OBJECT_LZ4:
		return payload_lz4_decode(bytes, size, out);
	case OBJECT_XZ:
		r = payload_xz_decode(d, bytes, size, out);
		return r > 0 ? -ENOBUFS : r;
	default:
		return -EPROTONOSUPPORT;
	}
}

/* Decodes at the arena's end, and then moves that on. */
int payload_decode(struct payload_decoder *d, uint8_t compression, const uint8_t *bytes,
		   uint64_t size, const uint8_t **ret_bytes, uint64_t *ret_size)
{
	struct payload_output out = { 0 };
	uint64_t written;
	int r;

	if (compression == 0) {
		*ret_bytes = bytes;
		*ret_size = size;
		return 0;
	}
	if (unlikely(!d->arena)) {
		r = payload_arena_reserve(d);
		if (r < 0)
			return r;
	}
	out.bytes = d->arena + d->position;
	out.room = d->arena_size - d->position;
	if (out.room == 0) {
		*ret_bytes = out.bytes;
		*ret_size = 0;
		return -ENOBUFS;
	}

	r = payload_decode_to(d, compression, bytes, size, &out);
	/* A decoder that fails may have written anywhere. */
	written = r < 0 ? out.room : out.size;
	if (d->touched < d->position + written)
		d->touched = d->position + written;
	if (r < 0 && r != -ENOBUFS)
		return r;

	*ret_bytes = out.bytes;
	*ret_size = out.size;
	out.size = (out.size + PAYLOAD_ALIGNMENT - 1) & ~(uint64_t)(PAYLOAD_ALIGNMENT - 1);
	d->position += out.size < out.room ? out.size : out.room;
	return r;
}

/* By zstd, which is what the writer uses, straight into the arena. */
int payload_decode_small(struct payload_decoder *d, uint8_t compression, const uint8_t *bytes,
			 uint64_t size, const uint8_t **ret_bytes, uint64_t *ret_size)
{
	uint64_t room = d->arena_size - d->position;
	size_t n;

	if (compression != OBJECT_ZSTD || size == 0 || !d->arena || !d->zstd ||
	    ZSTD_getFrameContentSize(bytes, size) > PAYLOAD_SMALL_BYTES)
		return -EOPNOTSUPP;
	if (room > PAYLOAD_SMALL_BYTES)
		room = PAYLOAD_SMALL_BYTES;
	n = ZSTD_decompressDCtx(d->zstd, d->arena + d->position, room, bytes, size);
	if (d->touched < d->position + room)
		d->touched = d->position + room;
	if (ZSTD_isError(n))
		return -EOPNOTSUPP;
	*ret_bytes = d->arena + d->position;
	*ret_size = n;
	n = (n + PAYLOAD_ALIGNMENT - 1) & ~(size_t)(PAYLOAD_ALIGNMENT - 1);
	d->position += n < room ? n : room;
	return 0;
}

/* Decodes as many bytes as the prefix has, into a place of their own. */
int payload_starts_with(struct payload_decoder *d, uint8_t compression, const uint8_t *bytes,
			uint64_t size, const void *prefix, size_t prefix_size)
{
	struct payload_output out = { .bytes = d->prefix, .room = prefix_size };
	int r;

	assert(prefix_size > 0 && prefix_size <= PAYLOAD_PREFIX_MAX);
	switch (compression) {
	case 0:
		return size >= prefix_size && memcmp(bytes, prefix, prefix_size) == 0;
	case OBJECT_ZSTD:
		r = payload_zstd_prepare(d);
		if (r >= 0)
			r = payload_zstd_begin(d, bytes, size, &out);
		break;
	case OBJECT_LZ4:
		r = payload_lz4_begin(bytes, size, &out);
		break;
	case OBJECT_XZ:
		r = payload_xz_decode(d, bytes, size, &out);
		break;
	default:
		r = -EPROTONOSUPPORT;
	}
	if (r < 0)
		return -EBADMSG;
	return out.size == prefix_size && memcmp(out.bytes, prefix, prefix_size) == 0;
}
