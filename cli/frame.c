// SPDX-License-Identifier: MIT
/*
 * Lines of ours behind entries that the library has compressed: each in a frame of its own, so that
 * all of standard output is one stream. Such a frame stores its bytes as they are, which both
 * formats allow; it takes no encoder.
 */
#include "frame.h"

#include <assert.h>
#include <stdio.h>
#include <string.h>

/* A frame of zstd: the size in one byte, then the last block, which is raw. */
static void frame_zstd(const char *text, size_t size)
{
	const unsigned char head[] = {
		0x28, 0xb5, 0x2f, 0xfd, 0x20, (unsigned char)size,
		(unsigned char)(1 | (size & 0x1f) << 3), (unsigned char)(size >> 5), 0,
	};

	fwrite(head, 1, sizeof(head), stdout);
	fwrite(text, 1, size, stdout);
}

/* A frame of LZ4: the first three bytes behind the magic say independent blocks of up to 64 KiB and
 * are checked by the third; a block whose size has the highest bit is stored; no size ends it. */
static void frame_lz4(const char *text, size_t size)
{
	const unsigned char head[] = { 0x04, 0x22, 0x4d, 0x18, 0x60, 0x40, 0x82 };
	const unsigned char block[] = { (unsigned char)size, 0, 0, 0x80 };
	const unsigned char end[] = { 0, 0, 0, 0 };

	fwrite(head, 1, sizeof(head), stdout);
	if (size > 0) {
		fwrite(block, 1, sizeof(block), stdout);
		fwrite(text, 1, size, stdout);
	}
	fwrite(end, 1, sizeof(end), stdout);
}

void frame_write(enum jscan_compression compression, const char *text)
{
	size_t size = strlen(text);

	assert(size < 256);
	switch (compression) {
	case JSCAN_COMPRESSION_ZSTD:
		frame_zstd(text, size);
		break;
	case JSCAN_COMPRESSION_LZ4:
		frame_lz4(text, size);
		break;
	default:
		fwrite(text, 1, size, stdout);
	}
}
