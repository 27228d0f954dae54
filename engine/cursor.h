/* SPDX-License-Identifier: MIT */
/* Cursors: the text that names an entry, to a place to seek to. */
#ifndef ENGINE_CURSOR_H
#define ENGINE_CURSOR_H

struct engine_seek;

/* Parses a cursor as specification 8.3 says. -EINVAL; *ret_seek is a SEEK_PLACE. */
int cursor_parse(const char *text, struct engine_seek *ret_seek);

#endif
