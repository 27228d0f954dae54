/* SPDX-License-Identifier: MIT */
/*
 * What reads leave behind in the page cache. A file whose pages are not to stay is read with
 * RWF_DONTCACHE, by which the kernel drops what a read has brought in and nothing else. Where that
 * is refused each read looks at what is there before, by mincore(2), and afterwards drops the
 * pieces of its range of which nothing was. Of a file of somebody else's mincore() says that all is
 * there: then pages stay rather than that others' are lost. Read-ahead of the kernel's is turned
 * off for such files, since it would bring in what no read asked for.
 *
 * With direct I/O no page comes in at all. What the file system refuses is read as above.
 */
#include "uring/io-private.h"

#include <assert.h>
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/uio.h>
#include <unistd.h>

#ifndef RWF_DONTCACHE
#define RWF_DONTCACHE 0x00000080
#endif

#define IO_CACHE_PIECES 64u
#define IO_CACHE_PAGES_MAX 4096u

void io_file_drop(struct io *io, struct io_file *file, bool own)
{
	if (!io->method->caches)
		return;
	file->drop = file->uncached = true;
	/* The advice belongs to the open file, which may be somebody else's, too. */
	if (own)
		(void)posix_fadvise(file->fd, 0, 0, POSIX_FADV_RANDOM);
}

bool io_file_direct(struct io *io, struct io_file *file)
{
	int flags = io->method->caches ? fcntl(file->fd, F_GETFL) : -1;

	file->direct = flags >= 0 && fcntl(file->fd, F_SETFL, flags | O_DIRECT) == 0;
	return file->direct;
}

/* Has a file be read through the page cache again. */
static void io_cache_refuse_direct(struct io_op *op)
{
	int flags = fcntl(op->file.fd, F_GETFL);

	if (flags >= 0)
		(void)fcntl(op->file.fd, F_SETFL, flags & ~O_DIRECT);
	op->file.direct = false;
}

bool io_cache_refused(struct io_op *op, int error)
{
	if (op->file.direct && error == -EINVAL) {
		io_cache_refuse_direct(op);
		return true;
	}
	if (op->file.uncached && (error == -EOPNOTSUPP || error == -EINVAL)) {
		op->file.uncached = false;
		return true;
	}
	return false;
}

bool io_cache_ends(struct io_op *op)
{
	struct stat st;

	if (!op->file.direct || op->progress % IO_DIRECT_ALIGN == 0)
		return false;
	if (fstat(op->file.fd, &st) < 0 || op->offset + op->progress >= (uint64_t)st.st_size)
		return true;
	/* It has grown: the rest cannot be read from here. */
	io_cache_refuse_direct(op);
	return false;
}

int io_cache_flags(const struct io_op *op)
{
	return op->file.uncached && !op->file.direct ? RWF_DONTCACHE : 0;
}

/* The pages of a piece of an operation's range, of which there are at most IO_CACHE_PIECES. */
static uint64_t io_cache_piece_bytes(const struct io_op *op, uint64_t page)
{
	uint64_t pages = (op->offset % page + op->size_bytes + page - 1) / page;

	return (pages + IO_CACHE_PIECES - 1) / IO_CACHE_PIECES * page;
}

void io_cache_before(struct io_op *op)
{
	uint64_t page = (uint64_t)sysconf(_SC_PAGESIZE), begin = op->offset & ~(page - 1);
	uint64_t size = op->offset + op->size_bytes - begin;
	uint64_t piece = io_cache_piece_bytes(op, page);
	unsigned char there[IO_CACHE_PAGES_MAX];
	void *map;

	op->drop_pieces = 0;
	if (op->kind != IO_READ || !op->file.drop || op->file.uncached || op->file.direct ||
	    size > page * IO_CACHE_PAGES_MAX)
		return;
	map = mmap(NULL, size, PROT_READ, MAP_SHARED, op->file.fd, (off_t)begin);
	if (map == MAP_FAILED)
		return;
	if (mincore(map, size, there) == 0) {
		op->drop_pieces = UINT64_MAX;
		for (uint64_t i = 0; i * page < size; i++)
			if (there[i] & 1)
				op->drop_pieces &= ~(UINT64_C(1) << (i * page / piece));
	}
	munmap(map, size);
}

void io_cache_after(const struct io_op *op)
{
	uint64_t page, begin, piece, count;

	if (!op->drop_pieces)
		return;
	page = (uint64_t)sysconf(_SC_PAGESIZE);
	begin = op->offset & ~(page - 1);
	piece = io_cache_piece_bytes(op, page);
	count = (op->offset + op->size_bytes - begin + piece - 1) / piece;
	for (unsigned i = 0; i < count; i++) {
		unsigned first = i;

		while (i < count && op->drop_pieces >> i & 1)
			i++;
		if (i > first)
			(void)posix_fadvise(op->file.fd, (off_t)(begin + first * piece),
					    (off_t)((i - first) * piece), POSIX_FADV_DONTNEED);
	}
}
