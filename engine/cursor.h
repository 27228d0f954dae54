/* SPDX-License-Identifier: MIT */
/* Cursors: the text that names an entry, to a place to seek to. */
#ifndef ENGINE_CURSOR_H
#define ENGINE_CURSOR_H

#include <stdbool.h>

struct engine_seek;
struct entry_object;
struct id128;

/* Parses a cursor as specification 8.3 says. -EINVAL; *ret_seek is a SEEK_PLACE. */
int cursor_parse(const char *text, struct engine_seek *ret_seek);

/* Writes the cursor of an entry, of a file with this sequence number ID, into TEXT, which holds
 * JSCAN_CURSOR_SIZE bytes. Returns TEXT. */
char *cursor_format(const struct id128 *seqnum_id, const struct entry_object *entry, char *text);

/* True if all parts of a cursor agree with an entry, of a file with this sequence number ID. */
bool cursor_is_at(const struct engine_seek *seek, const struct id128 *seqnum_id,
		  const struct entry_object *entry);

/* True if a place to begin at lies ahead of an entry of a file with this sequence number ID. */
bool cursor_is_ahead(const struct engine_seek *seek, const struct id128 *seqnum_id,
		     const struct entry_object *entry);

#endif
