/* SPDX-License-Identifier: MIT */
/*
 * The compiled message catalog: explanations of messages, by the ID that a message carries and by
 * language. Read where it lies in memory; nothing of it is trusted.
 *
 * All numbers are little-endian. The header is "RHHHKSLP", compatible and incompatible flags (32
 * bits each), its own size, the number of items and the size of one (64 bits each). The items
 * follow, ordered by ID and language: 16 bytes of ID, 32 of language (padded with NULs, empty for
 * the original), the offset of the text (64 bits), which counts from the end of the items. A text
 * ends with a NUL; it begins with lines "Name: value" up to an empty line.
 */
#ifndef FORMATS_CATALOG_CATALOG_H
#define FORMATS_CATALOG_CATALOG_H

#include "formats/format.h"
#include "formats/journal/journal.h"

#define CATALOG_LANGUAGE_SIZE 32u

struct catalog {
	const uint8_t *items;
	uint64_t item_count;
	uint64_t item_size_bytes;
	const uint8_t *texts;
	uint64_t texts_size_bytes;
	/* Of the reader: "de_DE", then "de"; NULs up to the end. Empty: none. */
	uint8_t languages[2][CATALOG_LANGUAGE_SIZE];
};

/* A text, without its NUL. */
struct catalog_text {
	const uint8_t *bytes;
	size_t size;
};

/*
 * Takes the SIZE bytes of a database, which are borrowed as long as the catalog is used. LOCALE is
 * that of messages, such as "de_DE.UTF-8"; NULL, "C" or "POSIX" for texts in the original.
 * -EBADMSG: this is no database, or one with features that are not known here.
 */
int catalog_init(struct catalog *catalog, const uint8_t *bytes, size_t size, const char *locale);

/* The text for an ID in the reader's language or, failing that, in the original. False if there is
 * none. */
bool catalog_find(const struct catalog *catalog, const struct id128 *id,
		  struct catalog_text *ret_text);

/* The ID of the item at INDEX, below item_count. */
struct id128 catalog_id(const struct catalog *catalog, uint64_t index);

/* The value of the first header line of a text called NAME, such as "Subject:". False if it has
 * none. */
bool catalog_header(const struct catalog_text *text, const char *name,
		    struct catalog_text *ret_value);

/* An ID as 32 hex digits or as a UUID with dashes; the only forms that are taken. */
bool catalog_parse_id(const uint8_t *text, size_t size, struct id128 *ret_id);

#endif
