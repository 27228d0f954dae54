/* SPDX-License-Identifier: MIT */
/*
 * Where journal files are looked for. Every place that was named is remembered, so that a follower
 * can watch it and look there again.
 */
#ifndef ENGINE_DISCOVER_H
#define ENGINE_DISCOVER_H

#include <stdbool.h>
#include <sys/types.h>

struct jscan;

/* What of a directory is wanted. */
struct discover_scope {
	const char *machine;       /* the only ID to enter; NULL: any */
	const char *log_namespace; /* as jscan_places has it; NULL: the default */
	bool all_names;            /* whatever the file is called */
	bool system, user;         /* else: these kinds of names */
	uid_t uid;
};

/* A place that was named: a directory with the sub-directories that its scope takes, or a pattern
 * of files. */
struct discover_origin {
	struct discover_origin *next;
	bool pattern;
	bool literal;              /* a pattern that is none, but a path */
	char *path;
	struct discover_scope scope;
	char *machine, *log_namespace; /* of the scope */
};

/* Adds the files of some places, or of a pattern. */
struct jscan_places;
int discover_places(struct jscan *engine, const struct jscan_places *places);
int discover_file(struct jscan *engine, const char *pattern, bool literal);

/* Looks at all places again: see follow_offer(). */
int discover_again(struct jscan *engine);

/* The same for a sub-directory of an origin that has turned up. */
int discover_enter(struct jscan *engine, const struct discover_origin *origin, const char *path);

void discover_done(struct jscan *engine);

/* True if a file is of the kinds that are wanted. */
bool discover_wants_file(const struct discover_scope *scope, const char *name);

/* True if a directory's name, an ID and perhaps a namespace behind it, is one to enter. */
bool discover_wants_directory(const struct discover_scope *scope, const char *name);

/* Joins two parts of a path. NULL without memory. */
char *discover_join(const char *directory, const char *name);

#endif
