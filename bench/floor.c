/* SPDX-License-Identifier: MIT */
/*
 * The bare program that a scan is held against: floor cat|export|merge FOLDER. It reads the journal
 * files of a folder in large blocks into memory that is used again, merges them by time and copies
 * the same bytes out as "jscan -o cat" and "-o export" do. One thread, and nothing is checked: a
 * file that is not in order crashes it, and text that is no UTF-8 it takes for text. It knows
 * compact files (what journald writes today) with payloads that are plain or compressed by zstd.
 *
 * A file is opened, and its header read, at the start; its contents come as the merge gets to it,
 * and its memory serves another file when it ends. Hash tables, holes and preallocated tails are
 * not read.
 */
#include <dirent.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>
#include <zstd.h>

#include "formats/journal/layout.h"

#define BLOCK_BYTES (UINT64_C(512) << 10)
#define AHEAD_BYTES (UINT64_C(64) << 20)
#define OUT_BYTES (UINT64_C(256) << 10)
#define SLACK 64u /* copies may write so much beyond their end, and read as much */

typedef uint8_t vec32 __attribute__((vector_size(32), aligned(1)));

struct file {
	int fd;
	uint8_t header[HEADER_SIZE_MAX];
	uint64_t size, begin, end, have;  /* bytes worth reading, and how far they are there */
	uint8_t *base;                    /* of offset 0, while the file is being read */
	const uint8_t *items, *items_end; /* of the array at hand */
	uint64_t next_array, left;        /* entries */
	const uint8_t *entry;
	char cursor[80]; /* "s=SEQNUM-ID;i=" */
};

/* What the merge orders by: the sequence number where all files share one ID, else time. */
struct candidate {
	uint64_t key, second;
	struct file *file;
};

static struct file *files;
static size_t file_count, ahead_next;
static uint64_t ahead_bytes, map_bytes;
static struct candidate *heap;
static size_t heap_count;
static bool by_seqnum;
static uint8_t *spare[64];
static size_t spare_count;
static uint8_t *out, *out_at;
static ZSTD_DCtx *zstd;
static uint8_t *plain;
static size_t plain_size;

/* Loads from a file. */
static inline uint64_t load64(const uint8_t *at)
{
	uint64_t v;

	memcpy(&v, at, 8);
	return v;
}

static inline uint32_t load32(const uint8_t *at)
{
	uint32_t v;

	memcpy(&v, at, 4);
	return v;
}

/* Ends the program. */
static void __attribute__((noreturn)) fail(const char *what)
{
	perror(what);
	exit(1);
}

/* ---- reading ------------------------------------------------------------------------------ */

/* Makes the bytes up to END of a file be there. */
static inline void file_need(struct file *f, uint64_t end)
{
	while (f->have < end) {
		uint64_t size = f->end - f->have < BLOCK_BYTES ? f->end - f->have : BLOCK_BYTES;
		ssize_t n = pread(f->fd, f->base + f->have, size, (off_t)f->have);

		if (n <= 0)
			fail("read");
		f->have += (uint64_t)n;
	}
}

/* Lets the kernel read the files that come next. */
static void files_ahead(uint64_t used)
{
	ahead_bytes -= used < ahead_bytes ? used : ahead_bytes;
	while (ahead_next < file_count && ahead_bytes < AHEAD_BYTES) {
		struct file *f = files + ahead_next++;

		posix_fadvise(f->fd, (off_t)f->begin, (off_t)(f->end - f->begin),
			      POSIX_FADV_WILLNEED);
		ahead_bytes += f->end - f->begin;
	}
}

/* Gives a file memory to be read into. */
static void file_start(struct file *f)
{
	if (spare_count) {
		f->base = spare[--spare_count];
	} else {
		f->base = mmap(NULL, map_bytes, PROT_READ | PROT_WRITE,
			       MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
		if (f->base == MAP_FAILED)
			fail("memory");
		madvise(f->base, map_bytes, MADV_HUGEPAGE);
	}
	f->have = f->begin;
	f->next_array = load64(f->header + HEADER_ENTRY_ARRAY_OFFSET);
}

/* The file has ended: its memory is for the next one. */
static void file_end(struct file *f)
{
	if (spare_count < sizeof(spare) / sizeof(spare[0]))
		spare[spare_count++] = f->base;
	else
		munmap(f->base, map_bytes);
	f->base = NULL;
	close(f->fd);
	files_ahead(f->end - f->begin);
}

/* Moves to the next entry; false at the end. */
static inline bool file_next(struct file *f)
{
	uint64_t offset;

	if (f->left == 0)
		return false;
	f->left--;
	if (__builtin_expect(f->items == f->items_end, 0)) {
		const uint8_t *array;
		uint64_t size;

		file_need(f, f->next_array + ENTRY_ARRAY_ITEMS);
		array = f->base + f->next_array;
		size = load64(array + OBJECT_SIZE);
		file_need(f, f->next_array + size);
		f->next_array = load64(array + ENTRY_ARRAY_NEXT);
		f->items = array + ENTRY_ARRAY_ITEMS;
		f->items_end = array + size;
	}
	offset = load32(f->items);
	f->items += 4;
	if (__builtin_expect(f->have < offset + 4096, 0)) {
		file_need(f, offset + OBJECT_HEADER_SIZE);
		file_need(f, offset + load64(f->base + offset + OBJECT_SIZE));
	}
	f->entry = f->base + offset;
	return true;
}

/* ---- merging ------------------------------------------------------------------------------ */

/* Whether A comes before B. */
static inline bool candidate_before(const struct candidate *a, const struct candidate *b)
{
	return a->key != b->key ? a->key < b->key : a->second < b->second;
}

/* Puts the first candidate of the heap where it belongs. */
static inline void heap_settle(void)
{
	struct candidate c = heap[0];
	size_t at = 0;

	for (;;) {
		size_t child = 2 * at + 1;

		if (child >= heap_count)
			break;
		if (child + 1 < heap_count && candidate_before(heap + child + 1, heap + child))
			child++;
		if (!candidate_before(heap + child, &c))
			break;
		heap[at] = heap[child];
		at = child;
	}
	heap[at] = c;
}

/* Sets the key of a candidate to its file's entry. */
static inline void candidate_set(struct candidate *c)
{
	const uint8_t *entry = c->file->entry;

	c->key = load64(entry + (by_seqnum ? ENTRY_SEQNUM : ENTRY_REALTIME));
	c->second = load64(entry + ENTRY_XOR_HASH);
}

/* The file whose entry comes next, or NULL; its entry stands until the next call. */
static inline struct file *merge_next(void)
{
	static bool begun;

	if (begun) {
		if (file_next(heap[0].file)) {
			candidate_set(heap);
		} else {
			file_end(heap[0].file);
			heap[0] = heap[--heap_count];
		}
		heap_settle();
	}
	begun = true;
	/* A file stands in the heap by what its header says until it is looked into. */
	while (heap_count && !heap[0].file->base) {
		file_start(heap[0].file);
		file_next(heap[0].file);
		candidate_set(heap);
		heap_settle();
	}
	return heap_count ? heap[0].file : NULL;
}

/* ---- writing ------------------------------------------------------------------------------ */

/* Hands on what is in the buffer. */
static void out_flush(void)
{
	for (uint8_t *at = out; at < out_at;) {
		ssize_t n = write(STDOUT_FILENO, at, (size_t)(out_at - at));

		if (n <= 0)
			fail("write");
		at += n;
	}
	out_at = out;
}

/* Makes room for SIZE bytes. What is larger than the buffer is none of its business. */
static inline void out_room(size_t size)
{
	if (__builtin_expect((size_t)(out + OUT_BYTES - out_at) < size, 0))
		out_flush();
}

/* Copies text of SIZE bytes, in pieces that may reach beyond its end; true if some byte is a
 * control character. */
static inline bool out_copy(const uint8_t *from, size_t size)
{
	vec32 seen = { 0 };
	uint8_t *to = out_at;
	uint64_t words[4];

	out_at += size;
	for (;;) {
		vec32 v = *(const vec32 *)from;

		*(vec32 *)to = v;
		if (size <= 32) {
			/* What lies behind the end does not count. */
			for (size_t i = 0; i < 32; i++)
				seen[i] |= (uint8_t) - (v[i] < 0x20 && i < size);
			break;
		}
		seen |= (vec32)(v < 0x20);
		from += 32;
		to += 32;
		size -= 32;
	}
	memcpy(words, &seen, 32);
	return words[0] | words[1] | words[2] | words[3];
}

/* Appends a string. */
static inline void out_text(const char *text, size_t size)
{
	out_at = (uint8_t *)mempcpy(out_at, text, size);
}

/* Appends a number in hexadecimal. */
static inline void out_hex(uint64_t v)
{
	static const char digits[] = "0123456789abcdef";
	unsigned count = v ? (unsigned)(67 - __builtin_clzll(v)) / 4 : 1;

	for (unsigned i = count; i-- > 0; v >>= 4)
		out_at[i] = (uint8_t)digits[v & 15];
	out_at += count;
}

/* Appends a number in decimal. */
static inline void out_decimal(uint64_t v)
{
	uint8_t digits[20];
	unsigned at = 20;

	do
		digits[--at] = (uint8_t)('0' + v % 10);
	while ((v /= 10));
	memcpy(out_at, digits + at, 20 - at);
	out_at += 20 - at;
}

/* Appends an ID. */
static inline void out_id(const uint8_t *id)
{
	static const char digits[] = "0123456789abcdef";

	for (unsigned i = 0; i < 16; i++) {
		*out_at++ = (uint8_t)digits[id[i] >> 4];
		*out_at++ = (uint8_t)digits[id[i] & 15];
	}
}

/* The payload of a data object. */
static inline const uint8_t *payload(const uint8_t *data, size_t *ret_size)
{
	size_t size = load64(data + OBJECT_SIZE) - DATA_PAYLOAD_COMPACT;
	bool compressed = data[OBJECT_FLAGS] & OBJECT_ZSTD;

	data += DATA_PAYLOAD_COMPACT;
	if (__builtin_expect(compressed, 0)) {
		size_t whole = ZSTD_getFrameContentSize(data, size);

		if (whole + SLACK > plain_size) {
			plain_size = 2 * (whole + SLACK);
			plain = realloc(plain, plain_size);
			if (!plain)
				fail("memory");
		}
		size = ZSTD_decompressDCtx(zstd, plain, whole, data, size);
		data = plain;
	}
	*ret_size = size;
	return data;
}

/* The message alone. It is sought from the end: what only this entry has was written last. */
static inline void write_cat(const struct file *f)
{
	const uint8_t *first = f->entry + ENTRY_ITEMS;
	const uint8_t *item = f->entry + load64(f->entry + OBJECT_SIZE);

	while (item > first) {
		const uint8_t *text;
		size_t size;

		item -= 4;
		text = payload(f->base + load32(item), &size);
		if (memcmp(text, "MESSAGE=", 8) != 0)
			continue;
		out_room(size + SLACK);
		out_copy(text + 8, size - 8);
		*out_at++ = '\n';
		return;
	}
}

/* Whether a control character stands in a field that makes it no text. */
static bool is_binary(const uint8_t *text, size_t size)
{
	for (size_t i = 0; i < size; i++) {
		if (text[i] < 0x20 && text[i] != '\t')
			return true;
	}
	return false;
}

/* A field that is not text: its name, a line's end, its size in 8 bytes, its value. */
static void write_binary(const uint8_t *text, size_t size)
{
	size_t name = (size_t)((const uint8_t *)memchr(text, '=', size) - text);
	uint64_t rest = size - name - 1;

	out_at = (uint8_t *)mempcpy(out_at, text, name);
	*out_at++ = '\n';
	out_at = (uint8_t *)mempcpy(out_at, &rest, 8);
	out_at = (uint8_t *)mempcpy(out_at, text + name + 1, rest);
}

/* What stands before the fields of an entry. */
static inline void write_export_head(const struct file *f)
{
	const uint8_t *e = f->entry;

#define TEXT(literal) out_text(literal, sizeof(literal) - 1)
	TEXT("__CURSOR=s=");
	out_text(f->cursor, 32);
	TEXT(";i=");
	out_hex(load64(e + ENTRY_SEQNUM));
	TEXT(";b=");
	out_id(e + ENTRY_BOOT_ID);
	TEXT(";m=");
	out_hex(load64(e + ENTRY_MONOTONIC));
	TEXT(";t=");
	out_hex(load64(e + ENTRY_REALTIME));
	TEXT(";x=");
	out_hex(load64(e + ENTRY_XOR_HASH));
	TEXT("\n__REALTIME_TIMESTAMP=");
	out_decimal(load64(e + ENTRY_REALTIME));
	TEXT("\n__MONOTONIC_TIMESTAMP=");
	out_decimal(load64(e + ENTRY_MONOTONIC));
	TEXT("\n__SEQNUM=");
	out_decimal(load64(e + ENTRY_SEQNUM));
	TEXT("\n__SEQNUM_ID=");
	out_text(f->cursor, 32);
	TEXT("\n_BOOT_ID=");
	out_id(e + ENTRY_BOOT_ID);
	*out_at++ = '\n';
#undef TEXT
}

/* Everything. */
static inline void write_export(const struct file *f)
{
	const uint8_t *item = f->entry + ENTRY_ITEMS;
	const uint8_t *end = f->entry + load64(f->entry + OBJECT_SIZE);

	out_room(1024);
	write_export_head(f);
	for (; item < end; item += 4) {
		size_t size;
		const uint8_t *text = payload(f->base + load32(item), &size);
		uint8_t *before;

		if (memcmp(text, "_BOOT_ID", 8) == 0)
			continue;
		out_room(size + SLACK);
		before = out_at;
		if (__builtin_expect(out_copy(text, size), 0) && is_binary(text, size)) {
			out_at = before;
			write_binary(text, size);
		}
		*out_at++ = '\n';
	}
	*out_at++ = '\n';
}

/* ---- the start ---------------------------------------------------------------------------- */

/* Opens a file and reads its header. */
static void file_open(int folder, const char *name)
{
	struct file *f = files + file_count;
	uint8_t tail[OBJECT_HEADER_SIZE];
	uint64_t tail_offset, table;

	memset(f, 0, sizeof(*f));
	f->fd = openat(folder, name, O_RDONLY | O_CLOEXEC);
	if (f->fd < 0 || pread(f->fd, f->header, sizeof(f->header), 0) < (ssize_t)HEADER_SIZE_MIN)
		fail(name);
	if (!(load32(f->header + HEADER_INCOMPATIBLE_FLAGS) & JOURNAL_INCOMPATIBLE_COMPACT)) {
		fprintf(stderr, "floor: %s is not compact\n", name);
		exit(1);
	}
	f->left = load64(f->header + HEADER_N_ENTRIES);
	if (f->left == 0) {
		close(f->fd);
		return;
	}
	tail_offset = load64(f->header + HEADER_TAIL_OBJECT_OFFSET);
	if (pread(f->fd, tail, sizeof(tail), (off_t)tail_offset) != sizeof(tail))
		fail(name);
	f->end = tail_offset + load64(tail + OBJECT_SIZE);
	/* The tables come first, the larger one last. */
	table = load64(f->header + HEADER_DATA_HASH_TABLE_OFFSET) +
		load64(f->header + HEADER_DATA_HASH_TABLE_SIZE);
	f->begin = table < f->end ? table & ~UINT64_C(4095) : 0;
	for (unsigned i = 0; i < 16; i++)
		snprintf(f->cursor + (size_t)2 * i, 3, "%02x", f->header[HEADER_SEQNUM_ID + i]);
	if (f->end + BLOCK_BYTES > map_bytes)
		map_bytes = f->end + BLOCK_BYTES;
	file_count++;
}

/* Orders files by their first entries. */
static int file_compare(const void *a, const void *b)
{
	uint64_t x = load64(((const struct file *)a)->header + HEADER_HEAD_ENTRY_REALTIME);
	uint64_t y = load64(((const struct file *)b)->header + HEADER_HEAD_ENTRY_REALTIME);

	return x < y ? -1 : x > y;
}

/* Opens all journal files of a folder. */
static void files_open(const char *folder)
{
	DIR *dir = opendir(folder);
	size_t allocated = 0;
	struct dirent *d;

	if (!dir)
		fail(folder);
	while ((d = readdir(dir))) {
		const char *dot = strrchr(d->d_name, '.');

		if (!dot || strcmp(dot, ".journal") != 0)
			continue;
		if (file_count == allocated) {
			allocated = allocated ? 2 * allocated : 64;
			files = realloc(files, allocated * sizeof(*files));
			if (!files)
				fail("memory");
		}
		file_open(dirfd(dir), d->d_name);
	}
	closedir(dir);
	if (file_count)
		qsort(files, file_count, sizeof(*files), file_compare);
}

/* Puts all files into the heap, by what their headers say. */
static void merge_init(void)
{
	heap = calloc(file_count + 1, sizeof(*heap));
	if (!heap)
		fail("memory");
	by_seqnum = true;
	for (size_t i = 1; i < file_count; i++)
		by_seqnum = by_seqnum && strcmp(files[i].cursor, files[0].cursor) == 0;
	for (size_t i = 0; i < file_count; i++) {
		heap[i].file = files + i;
		heap[i].key = load64(files[i].header + (by_seqnum ? HEADER_HEAD_ENTRY_SEQNUM
								  : HEADER_HEAD_ENTRY_REALTIME));
	}
	/* In order of time they are a heap already, unless numbers say otherwise. */
	for (heap_count = 1; heap_count < file_count; heap_count++) {
		for (size_t i = heap_count; i && candidate_before(heap + i, heap + (i - 1) / 2);
		     i = (i - 1) / 2) {
			struct candidate c = heap[i];

			heap[i] = heap[(i - 1) / 2];
			heap[(i - 1) / 2] = c;
		}
	}
	heap_count = file_count;
}

/* The bare writer: so many bytes, in the pieces that the copies are written in. */
static int write_bytes(uint64_t size)
{
	uint64_t piece;

	for (; size > 0; size -= piece) {
		piece = size < OUT_BYTES ? size : OUT_BYTES;
		out_at = out + piece;
		out_flush();
	}
	return 0;
}

int main(int argc, char **argv)
{
	uint64_t entries = 0, sum = 0;
	struct file *f;

	out = out_at = calloc(1, OUT_BYTES + (UINT64_C(16) << 20));
	if (!out)
		fail("memory");
	if (argc == 3 && strcmp(argv[1], "write") == 0)
		return write_bytes(strtoull(argv[2], NULL, 10));
	if (argc != 3 || !strchr("cem", argv[1][0])) {
		fprintf(stderr, "usage: floor cat|export|merge FOLDER, or write BYTES\n");
		return 2;
	}
	zstd = ZSTD_createDCtx();
	if (!zstd)
		fail("memory");
	files_open(argv[2]);
	files_ahead(0);
	merge_init();
	if (argv[1][0] == 'c') {
		while ((f = merge_next()))
			write_cat(f);
	} else if (argv[1][0] == 'e') {
		while ((f = merge_next()))
			write_export(f);
	} else {
		for (; (f = merge_next()); entries++)
			sum += load64(f->entry + ENTRY_XOR_HASH);
		printf("%llu entries, %016llx\n", (unsigned long long)entries,
		       (unsigned long long)sum);
	}
	out_flush();
	return 0;
}
