/* SPDX-License-Identifier: MIT */
/*
 * Journal files made in memory: whatever layout the format allows, byte for byte what the options
 * and entries say, with no clock and no randomness. A file made here is valid; the helpers at the
 * end find things in it and overwrite them, so that a test can say "a valid file, then one lie".
 *
 *	struct fixture *fx = fixture_new(&(struct fixture_options){ .keyed = true });
 *
 *	fixture_add(fx, NULL, "MESSAGE=hello", "PRIORITY=6", NULL);
 *	fixture_finish(fx);
 *	fixture_put64(fx, fixture_find_entry(fx, 0) + ENTRY_REALTIME, 0);
 *	... fixture_bytes(fx), fixture_size(fx) ...
 *	fixture_free(fx);
 *
 * Nothing here fails: running out of memory, a full disk or a caller's mistake abort the test.
 */
#ifndef TESTS_SUPPORT_FIXTURE_H
#define TESTS_SUPPORT_FIXTURE_H

#include <stdarg.h>

#include "formats/journal/journal.h"
#include "formats/journal/seal.h"

/* What entries carry whose stamps are left at 0: one second and one number apart. */
#define FIXTURE_REALTIME UINT64_C(1700000000000000)
#define FIXTURE_MONOTONIC UINT64_C(5000000)
#define FIXTURE_STEP UINT64_C(1000000)

/* Zero is the default everywhere: a regular, unkeyed, uncompressed file of state OFFLINE with the
 * header of 254 and later, and small tables. */
struct fixture_options {
	/* 208 or more; bytes past what is known are not zero. 0: 272. (Not a multiple of 8: readers
	 * open it, but no --verify accepts it.) */
	uint32_t header_size;
	bool compact;
	bool keyed;
	bool sealed;                  /* SEALED: a tag first and last, with made-up contents */
	bool sealed_continuous;       /* and SEALED_CONTINUOUS */
	bool without_tail_boot_flag;  /* leave TAIL_ENTRY_BOOT_ID out of a header of 272 bytes */
	uint8_t state;                /* JOURNAL_STATE_... */
	uint8_t compression;          /* OBJECT_XZ, OBJECT_LZ4, OBJECT_ZSTD or 0 */
	bool zstd_without_size;       /* frames do not announce their content's size */
	uint64_t compress_from_bytes; /* payloads shorter than this stay as they are. 0: 512 */
	uint64_t data_buckets;        /* 0: 61 */
	uint64_t field_buckets;       /* 0: 13 */
	uint64_t preallocate_bytes; /* the length is a multiple of this, the tail zeros. 0: none */
	struct id128 file_id;       /* null: fixture_id(1) */
	struct id128 machine_id;    /* null: fixture_id(2) */
	struct id128 seqnum_id;     /* null: fixture_id(3) */
	struct id128 boot_id;       /* of entries that name none. null: fixture_id(4) */
	bool id_fields;             /* every entry gets _BOOT_ID= and _MACHINE_ID= */
};

/* When and where an entry was written. Values left at 0 follow from the entry before. */
struct fixture_stamp {
	uint64_t seqnum;
	uint64_t realtime;
	uint64_t monotonic;
	struct id128 boot_id;
	bool keep_order; /* items as submitted, unsorted and with repeats: an entry that was copied
			  */
};

/* One field as it is submitted, "NAME=value"; any bytes. */
struct fixture_field {
	const void *data;
	size_t size;
};

struct fixture;

/* An ID that looks random and depends on SEED alone. */
struct id128 fixture_id(uint64_t seed);
/* An ID as 32 digits and a NUL. */
void fixture_id_text(const struct id128 *id, char text[33]);

struct fixture *fixture_new(const struct fixture_options *options);
struct fixture *fixture_free(struct fixture *fx);

/* Appends an entry of COUNT fields; STAMP may be NULL. Returns the entry's offset. */
uint64_t fixture_entry(struct fixture *fx, const struct fixture_stamp *stamp,
		       const struct fixture_field *fields, size_t count);
/* The same with fields given as strings, up to NULL. */
uint64_t fixture_add(struct fixture *fx, const struct fixture_stamp *stamp, ...)
	__attribute__((sentinel));
/* Appends a data object (with its field) that no entry refers to, unless it is there already. */
uint64_t fixture_orphan(struct fixture *fx, const void *data, size_t size);
/* Appends a tag to a sealed file. */
uint64_t fixture_tag(struct fixture *fx);
/* Gives a finished file's tags the contents that SEAL's key bears out; what is changed afterwards
 * breaks them. What seal_begin() answers. */
int fixture_seal(struct fixture *fx, struct seal *seal);
/* Changes how payloads are compressed from here on: one file may hold several ways. */
void fixture_set_compression(struct fixture *fx, uint8_t compression, uint64_t from_bytes);

/* Changes the state: what the next finish writes. */
void fixture_set_state(struct fixture *fx, uint8_t state);

/*
 * Brings header, final tag and length up to date. More entries may follow, and another finish: that
 * is how a file grows under a reader. (A finish overwrites what was changed in the header.)
 */
void fixture_finish(struct fixture *fx);
/* The file after fixture_finish(). The bytes move when something is appended. */
uint8_t *fixture_bytes(struct fixture *fx);
size_t fixture_size(const struct fixture *fx);
/* Where its last object ends, rounded up to 8: the length but for a preallocated tail. */
size_t fixture_end(const struct fixture *fx);
/* Writes the file to PATH, replacing what is there. */
void fixture_write(const struct fixture *fx, const char *path);
/* The whole file as a window that has every byte. */
struct window fixture_window(const struct fixture *fx);

/* Whether this build can compress that way. */
bool fixture_can_compress(uint8_t compression);
/* A payload compressed as the format wants it; NULL if that is not shorter. The caller frees it. */
uint8_t *fixture_compress(uint8_t compression, bool zstd_without_size, const void *data,
			  size_t size, size_t *ret_size);

/* ---- what lies where: offsets; asked for something that is not there, they abort ---------- */

/* Object INDEX of a type, in file order; OBJECT_ANY counts all. */
uint64_t fixture_find_object(const struct fixture *fx, enum object_type type, size_t index);
size_t fixture_count_objects(const struct fixture *fx, enum object_type type);
/* Entry INDEX in the order in which they were appended. */
uint64_t fixture_find_entry(const struct fixture *fx, size_t index);
/* The data object of a payload, the field object of a name. 0 if there is none. */
uint64_t fixture_find_data(const struct fixture *fx, const void *data, size_t size);
uint64_t fixture_find_text(const struct fixture *fx, const char *text);
uint64_t fixture_find_field(const struct fixture *fx, const char *name);
/* The bucket that a payload or a name belongs to, whether it is there or not. */
uint64_t fixture_find_data_bucket(const struct fixture *fx, const void *data, size_t size);
uint64_t fixture_find_field_bucket(const struct fixture *fx, const char *name);
/* Array INDEX of the global chain, or of the data object's at DATA_OFFSET. 0 past the last. */
uint64_t fixture_find_array(const struct fixture *fx, size_t index);
uint64_t fixture_find_data_array(const struct fixture *fx, uint64_t data_offset, size_t index);
/* Item INDEX of an entry array or of an entry. */
uint64_t fixture_find_item(const struct fixture *fx, uint64_t object_offset, size_t index);

/* ---- reading and overwriting -------------------------------------------------------------- */

uint64_t fixture_get64(const struct fixture *fx, uint64_t offset);
uint32_t fixture_get32(const struct fixture *fx, uint64_t offset);
uint8_t fixture_get8(const struct fixture *fx, uint64_t offset);
void fixture_put64(struct fixture *fx, uint64_t offset, uint64_t value);
void fixture_put32(struct fixture *fx, uint64_t offset, uint32_t value);
void fixture_put8(struct fixture *fx, uint64_t offset, uint8_t value);
void fixture_poke(struct fixture *fx, uint64_t offset, const void *bytes, size_t size);
/* Sets the item at ITEM_OFFSET (from fixture_find_item()) in the width that the file has. */
void fixture_put_item(struct fixture *fx, uint64_t item_offset, uint64_t value);
/* Cuts the file, or lengthens it with zeros; the header stays as it is. */
void fixture_resize(struct fixture *fx, size_t size);

#endif
