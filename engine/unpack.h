/* SPDX-License-Identifier: MIT */
/* Journals that are compressed as a whole: unpacked into an unlinked file, then read from there. */
#ifndef ENGINE_UNPACK_H
#define ENGINE_UNPACK_H

#include "engine/source.h"
#include "formats/packed/packed.h"

/* A file that is being unpacked. */
struct unpack;

/*
 * Step of a source whose file is compressed: goes on unpacking it. -EAGAIN until the source is
 * closed, to be opened anew with the unpacked file as its descriptor; or the error that made the
 * source unusable.
 */
int unpack_step(struct source *s, enum packed_kind kind);

/* Gives up what has been unpacked. */
void unpack_drop(struct source *s);

/* Copies what FD has up to its end, at most MAX_BYTES, to an unlinked file. -EFBIG if it has more;
 * what reading and writing gave. */
int unpack_copy(int fd, uint64_t max_bytes, int *ret_fd);

#endif
