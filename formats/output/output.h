/* SPDX-License-Identifier: MIT */
/*
 * Encoders: an entry, decoded and in memory, to the bytes that journalctl 262 prints for it. Pure
 * functions: no descriptor, no clock; the time zone is the C library's.
 */
#ifndef FORMATS_OUTPUT_OUTPUT_H
#define FORMATS_OUTPUT_OUTPUT_H

#include "formats/catalog/catalog.h"
#include "formats/format.h"
#include "formats/journal/journal.h"

/* ---- buffer.c: bytes that grow ----------------------------------------------------------- */

struct output_buffer {
	uint8_t *bytes;
	size_t size;     /* used */
	size_t capacity;
	size_t limit;    /* most bytes that it may hold, set by its owner; 0: no limit. An entry of
			  * nothing but line feeds takes a thousand times its size in short. */
	bool failed;     /* memory, or the limit, ran out: what was appended since is lost */
};

void output_buffer_done(struct output_buffer *b);
/* Makes room for SIZE more bytes. False, and failed is set, when memory or the limit runs out. */
bool output_buffer_grow(struct output_buffer *b, size_t size);

static inline bool output_reserve(struct output_buffer *b, size_t size)
{
	return likely(b->capacity - b->size >= size) || output_buffer_grow(b, size);
}

static inline void output_bytes(struct output_buffer *b, const void *bytes, size_t size)
{
	if (output_reserve(b, size)) {
		memcpy(b->bytes + b->size, bytes, size);
		b->size += size;
	}
}

static inline void output_byte(struct output_buffer *b, uint8_t byte)
{
	if (output_reserve(b, 1))
		b->bytes[b->size++] = byte;
}

#define output_text(b, literal) output_bytes(b, "" literal, sizeof(literal) - 1)

void output_fill(struct output_buffer *b, uint8_t byte, size_t count);
void output_decimal(struct output_buffer *b, uint64_t value);
void output_id(struct output_buffer *b, const struct id128 *id);
/* SIZE() of the behaviour document: "39B", "1K", "1.5K". */
void output_size(struct output_buffer *b, uint64_t bytes);

/* ---- printable.c ------------------------------------------------------------------------ */

/* PRINTABLE() of the behaviour document, section 0. */
bool text_is_printable(const uint8_t *bytes, size_t size, bool allow_newline);

/* ---- entry to text ---------------------------------------------------------------------- */

/* A field: NAME=value, decoded. name_size is the offset of the '='; fields without one do not get
 * here except as name_size == size. */
struct output_field {
	const uint8_t *bytes;
	uint64_t size;
	uint32_t name_size;
	uint32_t traits; /* OUTPUT_TRAIT_*, output_traits(); 0: not known, the encoders look */
};

/* What the encoders need to know of a field, found out once for a field that many entries share. */
#define OUTPUT_TRAITS_KNOWN (1u << 0)
#define OUTPUT_TRAIT_NAMED (1u << 1) /* it has a '=' and a valid name */
#define OUTPUT_TRAIT_LINE (1u << 2)  /* it is printable and one line */
#define OUTPUT_TRAIT_PLAIN (1u << 3) /* and holds nothing that JSON escapes */
#define OUTPUT_TRAIT_SLACK (1u << 4) /* the owner's: 16 bytes behind it may be read */
/* Bits 8 to 11: what it is to the short family; 16 to 23: a hash of its name. */

/* The traits of a field, but for OUTPUT_TRAIT_SLACK. Those that are given are not looked at. */
uint32_t output_traits(const struct output_field *field);

/* What export prints of an entry's first fields: see output_export_line(). */
struct output_lead {
	const uint8_t *bytes;
	uint32_t size;
	uint32_t fields; /* 0: nothing is known */
};

/* An entry to print. Everything is borrowed. */
struct output_entry {
	uint64_t seqnum;
	uint64_t realtime;
	uint64_t monotonic;
	uint64_t xor_hash;
	struct id128 boot_id;
	struct id128 seqnum_id;
	const struct output_field *fields; /* in enumeration order */
	size_t field_count;
	struct output_lead lead;
	uint64_t match_begin;              /* what a pattern matches in the first MESSAGE; */
	uint64_t match_end;                /* 0, 0 without a pattern */
	bool incomplete;                   /* fields are missing that cannot be read */
};

enum output_mode { /* same values as enum jscan_mode */
	OUTPUT_SHORT = 0,
	OUTPUT_SHORT_FULL,
	OUTPUT_SHORT_ISO,
	OUTPUT_SHORT_ISO_PRECISE,
	OUTPUT_SHORT_PRECISE,
	OUTPUT_SHORT_MONOTONIC,
	OUTPUT_SHORT_DELTA,
	OUTPUT_SHORT_UNIX,
	OUTPUT_WITH_UNIT,
	OUTPUT_VERBOSE,
	OUTPUT_EXPORT,
	OUTPUT_JSON,
	OUTPUT_JSON_PRETTY,
	OUTPUT_JSON_SSE,
	OUTPUT_JSON_SEQ,
	OUTPUT_CAT,
	OUTPUT_JSON_STABLE, /* the one that is not journalctl's */
	OUTPUT_MODE_COUNT
};

#define OUTPUT_ALL (1u << 0)
#define OUTPUT_UTC (1u << 1)
#define OUTPUT_NO_HOSTNAME (1u << 2)
#define OUTPUT_TRUNCATE_NEWLINE (1u << 3)
/* Bit 4 is the engine's: boot lines. */
#define OUTPUT_SHORTEN (1u << 5)      /* lines that do not fit, and long values in verbose */
#define OUTPUT_LINKS (1u << 6)        /* to documentation and configuration files */
#define OUTPUT_CATALOG (1u << 7)      /* explanations from the catalog */
#define OUTPUT_ASCII (1u << 8)        /* the locale is not one of UTF-8: signs are made of ASCII */
#define OUTPUT_NO_UNDERLINE (1u << 9) /* the terminal is one that shows it badly */

#define OUTPUT_LENIENT (1u << 10) /* what is not printable is shown, escaped, not as "blob data" */

enum output_colours {
	OUTPUT_COLOURS_NONE = 0,
	OUTPUT_COLOURS_16,
	OUTPUT_COLOURS_256,
	OUTPUT_COLOURS_24BIT,
	OUTPUT_COLOURS_COUNT
};

/* How to print: constant during a scan, shared by all threads. */
struct output_options {
	enum output_mode mode;
	unsigned flags;
	const char *const *fields; /* --output-fields, ended by NULL; or NULL */
	enum output_colours colours;
	unsigned width;                /* of a line, in columns, with OUTPUT_SHORTEN */
	const char *const *excluded;   /* identifiers that short does not show; NULL at the end;
					* or NULL */
	const struct catalog *catalog; /* or NULL: there is none, ... */
	int catalog_error;             /* ... for this reason, or simply none: 0 or -ENOENT */
	const char *node_name;         /* of this machine, for links to files; or NULL */
	const char *directory;         /* that relative paths in links start from; or NULL */
};

/* Longest name of a time zone that is shown. */
#define OUTPUT_ZONE_SIZE_MAX 39u

/* What one thread remembers between entries; zeroed before its first, ended with
 * output_cache_done(). It only saves work: the bytes do not depend on it, as long as neither the
 * time zone nor the locale changes. */
struct output_cache {
	uint64_t second;      /* whose written form is in text, plus 1; 0: none */
	uint8_t style;        /* how it is written, and in which zone */
	uint8_t text_size;
	uint8_t split;        /* where the fraction goes */
	uint8_t zone_size;
	int32_t zone_offset;  /* of local time, in seconds, during span */
	uint64_t span;        /* which quarter of an hour zone is about, plus 1; 0: none */
	char zone[OUTPUT_ZONE_SIZE_MAX];
	uint8_t text[96];
	uint8_t *scratch;     /* for entries out of the ordinary */
	size_t scratch_size;
	/* Set by output_entry(): how often the catalog failed for this entry, and why. */
	unsigned catalog_failures;
	int catalog_error;
};

/* Frees what the cache holds; it may be used again. */
void output_cache_done(struct output_cache *cache);

/* What short-delta needs to know of the entry printed before. */
struct output_previous {
	bool there;
	struct id128 boot_id;
	uint64_t realtime;  /* as displayed */
	uint64_t monotonic; /* as displayed */
};

/*
 * Appends what journalctl prints for ENTRY, possibly nothing, to BUFFER. PREVIOUS is only used,
 * and updated, by short-delta; may be NULL for other modes. 0, or -ENOMEM (for want of memory, or
 * because of the buffer's limit) with BUFFER as it was.
 */
int output_entry(const struct output_options *options, struct output_cache *cache,
		 struct output_previous *previous, const struct output_entry *entry,
		 struct output_buffer *buffer);

/* What output_entry() does for cat without colours or listed fields, where the first MESSAGE has
 * been found. 0, or -ENOMEM with BUFFER as it was. */
int output_message(const struct output_field *message, struct output_buffer *buffer);

/*
 * Writes what export prints of a field where that is known from the field alone: it is named, and
 * text of one line. FIELD has its traits. False if not, or if that takes more than ROOM bytes.
 */
bool output_export_line(const struct output_field *field, uint8_t *to, size_t room,
			size_t *ret_size);

/*
 * True if the mode needs the fields of an entry that are called NAME (SIZE bytes); the others need
 * not be decoded. verbose and export need every field without a '=' too, and every invalid name,
 * for it ends the entry.
 */
bool output_needs_field(const struct output_options *options, const uint8_t *name, size_t size);
/* True if NAME is on LIST, which NULL ends. */
bool output_names_field(const char *const *list, const uint8_t *name, size_t size);
/* True if the mode needs all fields: output_needs_field() need not be asked. */
bool output_needs_all(const struct output_options *options);

/* "-- Boot <id> --" and a line feed. */
void output_boot_line(const struct output_options *options, struct output_buffer *b,
		      const struct id128 *boot_id);

/* The cursor of an entry, without a NUL. */
void output_cursor(struct output_buffer *b, const struct output_entry *entry);

/* The mode of a name; -EINVAL. */
int output_mode_parse(const char *name, enum output_mode *ret_mode);

#endif
