/* SPDX-License-Identifier: MIT */
/*
 * Journals that are compressed as a whole. Such a file is recognised by its first bytes when its
 * header is read. It is then read like any other, from its image, and written decoded to a file
 * that has no name; that becomes the source's descriptor, and all goes on as if it had been given.
 *
 * One file is unpacked at a time, in slices, so that memory for one decoder is enough and a foreign
 * loop gets its turns. Blocks of zeros become holes. The result is cut at unpack_bytes_max; there,
 * and where the compressed data is damaged or no room is left on the disk, what has been unpacked
 * is kept and the problem reported. What does not begin like a journal is given up at once.
 */
#include "engine/unpack.h"

#include <assert.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "engine/engine.h"

#define UNPACK_IN_BYTES (64u << 10)
#define UNPACK_AHEAD_BYTES (512u << 10)
#define UNPACK_OUT_BYTES (128u << 10)
/* Blocks of zeros of this size, at multiples of it, are not written. */
#define UNPACK_HOLE_BYTES 4096u
/* Decoded before others get their turn. */
#define UNPACK_SLICE_BYTES (256u << 10)
/* Of the compressed file, jscan_is_journal() looks at so much at most: more than a block of any
 * kind takes. */
#define UNPACK_PROBE_BYTES (8u << 20)

static const char unpack_signature[8] = "LPKSHHRH";

struct unpack {
	struct packed *packed;
	int fd;
	uint64_t in_offset;  /* of the compressed file: what has been decoded */
	uint64_t written;    /* of the result: what is in the file, holes included */
	size_t out_used;     /* of out: decoded, not written */
	uint8_t out[UNPACK_OUT_BYTES];
};

/* ---- the file --------------------------------------------------------------------------- */

/* Opens a file without a name in a folder. */
static int unpack_open_in(const char *folder)
{
	int fd = open(folder, O_TMPFILE | O_RDWR | O_EXCL | O_CLOEXEC, 0600), error = errno;
	char *path;

	if (fd >= 0 || error == ENOSPC || error == EMFILE || error == ENFILE)
		return fd < 0 ? -error : fd;
	/* Not every file system can do that: make one with a name and take the name away. */
	if (asprintf(&path, "%s/jscan-XXXXXX", folder) < 0)
		return -ENOMEM;
	fd = mkostemp(path, O_CLOEXEC);
	error = errno;
	if (fd >= 0)
		unlink(path);
	free(path);
	return fd < 0 ? -error : fd;
}

/* Opens a file without a name where there is room for large ones. */
static int unpack_open(void)
{
	const char *folders[] = { secure_getenv("TMPDIR"), "/var/tmp", "/tmp" };
	int fd = -ENOENT;

	for (size_t i = 0; i < sizeof(folders) / sizeof(folders[0]) && fd < 0; i++) {
		if (folders[i] && folders[i][0] == '/')
			fd = unpack_open_in(folders[i]);
		if (fd == -EMFILE || fd == -ENFILE)
			break;
	}
	return fd;
}

/* Writes all bytes. */
static int unpack_write(int fd, const uint8_t *bytes, size_t size, uint64_t offset)
{
	while (size > 0) {
		ssize_t n = pwrite(fd, bytes, size, (off_t)offset);

		if (n < 0 && errno == EINTR)
			continue;
		if (n <= 0)
			return n < 0 ? -errno : -ENOSPC;
		bytes += n;
		size -= (size_t)n;
		offset += (uint64_t)n;
	}
	return 0;
}

/* True if a block has nothing but zeros. */
static bool unpack_is_zero(const uint8_t *block)
{
	return block[0] == 0 && memcmp(block, block + 1, UNPACK_HOLE_BYTES - 1) == 0;
}

/* Writes a piece that begins at a multiple of the size of a hole, but for its blocks of zeros. */
static int unpack_write_sparse(int fd, const uint8_t *bytes, size_t size, uint64_t offset)
{
	size_t at = 0, end;
	int r = 0;

	while (at < size && r == 0) {
		for (; size - at >= UNPACK_HOLE_BYTES && unpack_is_zero(bytes + at);
		     at += UNPACK_HOLE_BYTES)
			;
		for (end = at; end < size && (size - end < UNPACK_HOLE_BYTES ||
					      !unpack_is_zero(bytes + end));)
			end += size - end < UNPACK_HOLE_BYTES ? size - end : UNPACK_HOLE_BYTES;
		r = unpack_write(fd, bytes + at, end - at, offset + at);
		at = end;
	}
	return r;
}

int unpack_copy(int fd, uint64_t max_bytes, int *ret_fd)
{
	uint8_t *bytes = malloc(UNPACK_OUT_BYTES);
	uint64_t offset = 0;
	ssize_t n;
	int to = bytes ? unpack_open() : -ENOMEM, r = to < 0 ? to : 0;

	while (r == 0) {
		size_t used = 0;

		do {
			n = read(fd, bytes + used, UNPACK_OUT_BYTES - used);
			if (n > 0)
				used += (size_t)n;
		} while ((n > 0 && used < UNPACK_OUT_BYTES) || (n < 0 && errno == EINTR));
		if (n < 0)
			r = -errno;
		else if (used > max_bytes - offset)
			r = -EFBIG;
		else
			r = unpack_write_sparse(to, bytes, used, offset);
		offset += used;
		if (r == 0 && n == 0)
			break;
	}
	if (r == 0 && ftruncate(to, (off_t)offset) < 0)
		r = -errno;
	free(bytes);
	if (r == 0)
		*ret_fd = to;
	else if (to >= 0)
		close(to);
	return r;
}

/* ---- the step --------------------------------------------------------------------------- */

void unpack_drop(struct source *s)
{
	struct jscan *e = s->engine;
	struct unpack *u = s->unpack;
	struct list *l;

	if (!u)
		return;
	packed_free(u->packed);
	if (u->fd >= 0)
		close(u->fd);
	free(u);
	s->unpack = NULL;
	assert(e->unpacking == s);
	e->unpacking = NULL;
	l = list_pop(&e->unpack_waiting);
	if (l)
		list_append(&e->runnable, l);
}

/* Ends the source: nothing of it can be used. */
static int unpack_fail(struct source *s, enum jscan_reason reason, int error, const char *detail)
{
	unpack_drop(s);
	source_fail(s, reason, error, detail);
	return error;
}

/* Sets up. */
static int unpack_begin(struct source *s, enum packed_kind kind)
{
	struct unpack *u = calloc(1, sizeof(*u));
	int r;

	if (!u)
		return -ENOMEM;
	u->fd = -1;
	s->unpack = u;
	s->engine->unpacking = s;
	r = packed_new(kind, &u->packed);
	if (r == -ENOMEM) {
		unpack_drop(s);
		return r;
	}
	if (r < 0)
		return unpack_fail(s, JSCAN_REASON_FEATURE, r, packed_explain(r));
	u->fd = unpack_open();
	if (u->fd < 0)
		return unpack_fail(s, JSCAN_REASON_OPEN, u->fd,
				   "no file can be made to unpack it into");
	return 0;
}

/* Another one is being unpacked: this one gives up what it holds, and is woken after that. */
static int unpack_queue(struct source *s)
{
	source_commit(s);
	source_close(s);
	if (s->state == SOURCE_CLOSED) {
		list_remove(&s->run_link);
		list_append(&s->engine->unpack_waiting, &s->run_link);
	}
	return -EAGAIN;
}

/* Writes what has been decoded. */
static int unpack_flush(struct unpack *u)
{
	int r = unpack_write_sparse(u->fd, u->out, u->out_used, u->written);

	if (r < 0)
		return r;
	u->written += u->out_used;
	u->out_used = 0;
	return 0;
}

/* The file is there as far as it can be, for ERROR if that is not all: it takes the source's place.
 */
static int unpack_finish(struct source *s, int error, const char *detail)
{
	struct unpack *u = s->unpack;
	int r = unpack_flush(u);

	if (r == 0 && ftruncate(u->fd, (off_t)u->written) < 0)
		r = -errno;
	if (r < 0 && error == 0) {
		error = r;
		detail = "what it unpacks to cannot be written";
	}
	if (error < 0)
		problem_report(s, JSCAN_REASON_UNPACK, error, u->in_offset, detail);
	if (u->written < sizeof(unpack_signature))
		return unpack_fail(s, JSCAN_REASON_HEADER, error < 0 ? error : -EBADMSG,
				   "nothing of it can be unpacked");
	s->unpacked_fd = u->fd;
	s->unpacked = true;
	s->packed_blocks = s->stat.blocks;
	u->fd = -1;
	unpack_drop(s);
	source_commit(s);
	source_close(s);
	return -EAGAIN;
}

/* Decodes one piece. 0; 1: that was all. */
static int unpack_piece(struct source *s, const uint8_t *bytes, size_t size)
{
	struct unpack *u = s->unpack;
	uint64_t max = s->engine->options.unpack_bytes_max;
	struct packed_io io = {
		.in = bytes,
		.in_size = size,
		.in_last = u->in_offset + size == s->window.size_bytes,
		.out = u->out,
		.out_size = sizeof(u->out),
		.out_used = u->out_used,
	};
	int r;

	r = packed_decode(u->packed, &io);
	u->in_offset += io.in_used;
	u->out_used = io.out_used;
	if (u->written == 0 && io.out_used >= sizeof(unpack_signature) &&
	    memcmp(u->out, unpack_signature, sizeof(unpack_signature)) != 0)
		return unpack_fail(s, JSCAN_REASON_HEADER, -EBADMSG,
				   "what it unpacks to is not a journal");
	if (u->out_used > max - u->written) {
		u->out_used = max - u->written;
		return unpack_finish(s, -EFBIG, "it unpacks to more than is allowed");
	}
	if (r != 0)
		return unpack_finish(s, r < 0 ? r : 0, packed_explain(r));
	if (u->out_used < sizeof(u->out))
		return 0;
	r = unpack_flush(u);
	return r < 0 ? unpack_finish(s, r, "what it unpacks to cannot be written") : 0;
}

int unpack_step(struct source *s, enum packed_kind kind)
{
	struct jscan *e = s->engine;
	struct unpack *u;
	uint64_t end;
	int r;

	if (e->unpacking && e->unpacking != s)
		return unpack_queue(s);
	if (!s->unpack) {
		r = unpack_begin(s, kind);
		if (r < 0)
			return r;
	}
	u = s->unpack;
	end = u->written + UNPACK_SLICE_BYTES;
	while (u->written < end) {
		uint64_t rest = s->window.size_bytes > u->in_offset ?
					s->window.size_bytes - u->in_offset : 0;
		size_t size = rest < UNPACK_IN_BYTES ? (size_t)rest : UNPACK_IN_BYTES;
		const uint8_t *bytes = NULL;

		r = size ? window_get(&s->window, u->in_offset, size, &bytes) : 0;
		if (r == -EAGAIN) {
			image_want(&s->image, u->in_offset + size, UNPACK_AHEAD_BYTES,
				   IMAGE_EXPECTED);
			return r;
		}
		if (r < 0)
			return unpack_finish(s, r, "it cannot be read");
		r = unpack_piece(s, bytes, size);
		if (r != 0) /* it has ended, and u with it */
			return r;
		image_used(&s->image, 0, u->in_offset);
		source_commit(s);
	}
	/* The others' turn; then this goes on. */
	list_remove(&s->run_link);
	list_append(&e->busy, &s->run_link);
	return -EAGAIN;
}

/* ---- looking at a file ------------------------------------------------------------------ */

/* True if a compressed file of this kind unpacks to a journal, by its beginning. What takes more
 * memory than is allowed might be one: whoever opens it is told. */
static bool unpack_is_journal(int fd, enum packed_kind kind)
{
	uint8_t head[sizeof(unpack_signature)];
	struct packed_io io = { .out = head, .out_size = sizeof(head) };
	struct packed *packed = NULL;
	uint8_t *bytes = malloc(UNPACK_IN_BYTES);
	uint64_t offset = 0;
	ssize_t n = 1;
	int r = bytes ? packed_new(kind, &packed) : -ENOMEM;

	while (r == 0 && io.out_used < sizeof(head) && offset < UNPACK_PROBE_BYTES) {
		n = pread(fd, bytes, UNPACK_IN_BYTES, (off_t)offset);
		if (n <= 0)
			break;
		offset += (uint64_t)n;
		io.in = bytes;
		io.in_size = (size_t)n;
		io.in_used = 0;
		r = packed_decode(packed, &io);
	}
	packed_free(packed);
	free(bytes);
	return r == -ENOBUFS || (io.out_used == sizeof(head) &&
				 memcmp(head, unpack_signature, sizeof(head)) == 0);
}

int jscan_is_journal(const char *path)
{
	uint8_t head[sizeof(unpack_signature)] = { 0 };
	enum packed_kind kind;
	struct stat st;
	ssize_t size;
	bool is;
	int fd;

	/* A pipe or a device is not opened: that could wait, or do something. */
	if (!path || stat(path, &st) < 0 || !S_ISREG(st.st_mode))
		return 0;
	fd = open(path, O_RDONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK);
	if (fd < 0)
		return 0;
	size = pread(fd, head, sizeof(head), 0);
	kind = size == sizeof(head) ? packed_recognise(head, sizeof(head)) : PACKED_NONE;
	is = size == sizeof(head) && memcmp(head, unpack_signature, sizeof(head)) == 0;
	if (kind != PACKED_NONE)
		is = unpack_is_journal(fd, kind);
	close(fd);
	return is;
}
