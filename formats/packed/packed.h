/* SPDX-License-Identifier: MIT */
/*
 * Files that are compressed as a whole, as archives keep them: zstd, xz, gzip and LZ4 frames, each
 * decoded as a stream, in bounded memory.
 */
#ifndef FORMATS_PACKED_PACKED_H
#define FORMATS_PACKED_PACKED_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum packed_kind {
	PACKED_NONE,
	PACKED_ZSTD,
	PACKED_XZ,
	PACKED_GZIP,
	PACKED_LZ4,
	PACKED_KIND_COUNT
};

/* So many bytes of a file say what it is. */
#define PACKED_MAGIC_SIZE 6u

/* What a file is by its first SIZE bytes, whatever it is called. */
enum packed_kind packed_recognise(const uint8_t *bytes, size_t size);

/* A piece of the work: SIZE bytes to be decoded, and room for the result. Decoding moves "used". */
struct packed_io {
	const uint8_t *in;
	size_t in_size, in_used;
	bool in_last;            /* the file ends behind these bytes */
	uint8_t *out;
	size_t out_size, out_used;
};

struct packed;

/* Makes a decoder. -EPROTONOSUPPORT: this build has none of that kind; -ENOMEM. */
int packed_new(enum packed_kind kind, struct packed **ret_packed);
struct packed *packed_free(struct packed *packed);

/*
 * Decodes as far as input and room go: 0. Streams may follow one another, with zeros between and
 * behind them. 1: the last one has ended, and with it the file. Otherwise the file is damaged, and
 * what has been decoded is what there is: -EBADMSG; -ENODATA: it is cut short; -EBADE: what follows
 * a stream is none; -ENOBUFS: it asks for more memory than is allowed; -ENOMEM.
 */
int packed_decode(struct packed *packed, struct packed_io *io);

/* What an error of packed_decode() or packed_new() means for a file, as a clause. */
const char *packed_explain(int error);

#endif
