/* SPDX-License-Identifier: MIT */
/* Units: their names, and the entries that are a unit's. */
#ifndef CLI_UNITS_H
#define CLI_UNITS_H

#include "archive.h"

/*
 * The name of the unit that TEXT means: a suffix is added, a path becomes a mount or device unit,
 * what cannot stand in a name is escaped, and *RET_ESCAPED is how much of the name that is, 0 if
 * there was nothing to escape. A pattern stays one (*RET_IS_PATTERN). The caller frees *RET_NAME.
 * -EINVAL if TEXT is empty; -ENOMEM.
 */
int unit_name(const char *text, bool *ret_is_pattern, size_t *ret_escaped, char **ret_name);

/* The units that -u and --user-unit name, patterns expanded. */
struct units {
	char **system;
	size_t system_count;
	char **user;
	size_t user_count;
};

/*
 * Finds the units that are meant in the archive. -EINVAL: a name is bad; -ENODATA: there are only
 * patterns, and nothing matches them. OWN_ONLY: patterns are compared with what names the units of
 * their own entries, as when invocations are looked for. Nothing is said about errors.
 * units_done() is due in every case.
 */
int units_find(struct archive *archive, bool own_only, struct units *units);
void units_done(struct units *units);

/* Adds the matches for the entries of all UNITS, as one group. OWN_ONLY: without core dumps and
 * slices, as when invocations are looked for. */
int units_match(struct archive *archive, const struct units *units, bool own_only);

#endif
