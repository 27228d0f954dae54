/* SPDX-License-Identifier: MIT */
/*
 * From directories and patterns to files (specification 11). Names are taken in the order of their
 * bytes, not of the directory, so that two runs see the same: the merge does not depend on it, but
 * listings do. Nothing is opened here but directories.
 */
#include <dirent.h>
#include <fcntl.h>
#include <glob.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "engine/discover.h"
#include "engine/engine.h"
#include "engine/follow.h"

/* Users that --user shows the system's files to as well: those of the system, of services with a
 * user made up for them, nobody, and those of containers. */
#define DISCOVER_SYSTEM_UID_MAX 999u
#define DISCOVER_DYNAMIC_UID_MIN 61184u
#define DISCOVER_DYNAMIC_UID_MAX 65519u
#define DISCOVER_NOBODY_UID 65534u
#define DISCOVER_CONTAINER_UID_MIN 524288u
#define DISCOVER_CONTAINER_UID_MAX 1879048191u

/* The length of a name without what tells of compression, which is not the writer's. */
static size_t discover_plain_size(const char *name)
{
	static const char *const endings[] = { ".zst", ".xz", ".gz", ".lz4" };
	size_t size = strlen(name);

	for (size_t i = 0; i < sizeof(endings) / sizeof(endings[0]); i++) {
		size_t length = strlen(endings[i]);

		if (size > length && strcmp(name + size - length, endings[i]) == 0)
			return size - length;
	}
	return size;
}

/* True if the first SIZE bytes of NAME end with ENDING. */
static bool discover_ends_with(const char *name, size_t size, const char *ending)
{
	size_t length = strlen(ending);

	return size >= length && memcmp(name + size - length, ending, length) == 0;
}

/* True if NAME ends like a journal's. */
static bool discover_is_journal(const char *name)
{
	size_t size = discover_plain_size(name);

	return discover_ends_with(name, size, ".journal") ||
	       discover_ends_with(name, size, ".journal~");
}

/* True if a journal's name is PREFIX alone or with "@" and what marks archived files. */
static bool discover_has_prefix(const char *name, const char *prefix)
{
	size_t size = strlen(prefix), rest;

	if (strncmp(name, prefix, size) != 0)
		return false;
	name += size;
	rest = discover_plain_size(name);
	return *name == '@' || (rest == 8 && memcmp(name, ".journal", 8) == 0) ||
	       (rest == 9 && memcmp(name, ".journal~", 9) == 0);
}

/* True if a user's messages may stand in the system's files. */
static bool discover_is_system_uid(uid_t uid)
{
	return uid <= DISCOVER_SYSTEM_UID_MAX || uid == DISCOVER_NOBODY_UID ||
	       (uid >= DISCOVER_DYNAMIC_UID_MIN && uid <= DISCOVER_DYNAMIC_UID_MAX) ||
	       (uid >= DISCOVER_CONTAINER_UID_MIN && uid <= DISCOVER_CONTAINER_UID_MAX);
}

bool discover_wants_file(const struct discover_scope *scope, const char *name)
{
	char prefix[32];

	if (!discover_is_journal(name))
		return false;
	if (scope->all_names)
		return true;
	if ((scope->system || (scope->user && discover_is_system_uid(scope->uid))) &&
	    discover_has_prefix(name, "system"))
		return true;
	snprintf(prefix, sizeof(prefix), "user-%u", (unsigned)scope->uid);
	return scope->user && discover_has_prefix(name, prefix);
}

/* True if the first SIZE bytes of NAME are a 128-bit ID: 32 hex digits, or 36 characters with
 * dashes. */
static bool discover_is_id(const char *name, size_t size, char hex[JSCAN_ID_TEXT_SIZE])
{
	size_t digits = 0;
	jscan_id id;

	if (size != 32 && size != 36)
		return false;
	for (size_t i = 0; i < size; i++) {
		bool dash_expected = size == 36 && (i == 8 || i == 13 || i == 18 || i == 23);

		if ((name[i] == '-') != dash_expected)
			return false;
		if (!dash_expected && digits < 32)
			hex[digits++] = name[i];
	}
	hex[digits] = '\0';
	return jscan_id_parse(hex, &id) == 0;
}

/* Only what can be a journal or a directory: a pipe or socket is left alone, as journalctl does. */
static int discover_may_be_read(const struct dirent *entry)
{
	return entry->d_type == DT_REG || entry->d_type == DT_LNK || entry->d_type == DT_DIR ||
	       entry->d_type == DT_UNKNOWN;
}

/* strcmp() for scandir(). */
static int discover_compare(const struct dirent **a, const struct dirent **b)
{
	return strcmp((*a)->d_name, (*b)->d_name);
}

/* True if a directory's path is as the kernel would show it: then its files' paths are, too. */
static bool discover_is_canonical(const char *path)
{
	char *real = realpath(path, NULL);
	bool same = real && strcmp(real, path) == 0;

	free(real);
	return same;
}

char *discover_join(const char *directory, const char *name)
{
	size_t size = strlen(directory);
	char *path;

	while (size > 0 && directory[size - 1] == '/')
		size--;
	if (asprintf(&path, "%.*s/%s", (int)size, directory, name) < 0)
		return NULL;
	return path;
}

/* True if PATH is a directory, links followed. */
static bool discover_is_directory(const char *path)
{
	struct stat st;

	return stat(path, &st) == 0 && S_ISDIR(st.st_mode);
}

bool discover_wants_directory(const struct discover_scope *scope, const char *name)
{
	const char *dot = strchr(name, '.'), *wanted = scope->log_namespace;
	char hex[JSCAN_ID_TEXT_SIZE];

	if (!discover_is_id(name, dot ? (size_t)(dot - name) : strlen(name), hex))
		return false;
	if (scope->machine && strcasecmp(hex, scope->machine) != 0)
		return false;
	if (wanted && strcmp(wanted, "*") == 0)
		return true;
	if (!dot)
		return !wanted || !*wanted || *wanted == '+';
	return wanted && *wanted && strcmp(wanted + (*wanted == '+'), dot + 1) == 0;
}

/* A file has been found: a new one, or while a follower looks again one that it may know. */
static int discover_offer(struct jscan *e, const char *path, bool canonical)
{
	struct source *s;
	int r;

	if (follow_is_watching(e))
		return follow_offer(e, path);
	r = engine_add_source(e, path, &s);
	if (r == 0)
		s->canonical = canonical;
	return r;
}

/* Adds what a directory holds, and its sub-directories if DEEPER. */
static int discover_list(struct jscan *e, const struct discover_origin *origin, const char *path,
			 bool deeper)
{
	const struct discover_scope *scope = &origin->scope;
	struct dirent **entries = NULL;
	bool canonical;
	int count, r = 0;

	/* Watched before it is read, so that nothing comes in between. */
	if (follow_is_watching(e))
		r = follow_watch(e, origin, path, deeper);
	if (r < 0)
		return r;
	count = scandir(path, &entries, discover_may_be_read, discover_compare);
	if (count < 0)
		return -errno;
	canonical = count > 0 && discover_is_canonical(path);
	for (int i = 0; i < count; i++) {
		const char *name = entries[i]->d_name;
		bool journal = discover_wants_file(scope, name);
		bool id = !journal && deeper && discover_wants_directory(scope, name);
		bool regular = entries[i]->d_type == DT_REG;
		char *child = NULL;

		if (r == 0 && (journal || id)) {
			child = discover_join(path, name);
			r = child ? 0 : -ENOMEM;
		}
		if (r == 0 && journal && (regular || !discover_is_directory(child))) {
			r = discover_offer(e, child, canonical && regular);
		} else if (r == 0 && id && discover_is_directory(child)) {
			int error = discover_list(e, origin, child, false);

			if (error == -ENOMEM)
				r = error;
			else if (error < 0)
				problem_report_path(e, child, JSCAN_REASON_OPEN, error,
						    "the directory cannot be read");
		}
		free(child);
		free(entries[i]);
	}
	free(entries);
	return r;
}

/* Frees an origin. */
static void discover_origin_free(struct discover_origin *o)
{
	if (!o)
		return;
	free(o->path);
	free(o->machine);
	free(o->log_namespace);
	free(o);
}

void discover_done(struct jscan *e)
{
	struct discover_origin *o;

	while ((o = e->origins)) {
		e->origins = o->next;
		discover_origin_free(o);
	}
}

/* Remembers where files were looked for. */
static int discover_remember(struct jscan *e, const char *path, const struct discover_scope *scope,
			     struct discover_origin **ret_origin)
{
	struct discover_origin *o = calloc(1, sizeof(*o));

	if (!o)
		return -ENOMEM;
	o->path = strdup(path);
	if (scope) {
		o->scope = *scope;
		o->machine = scope->machine ? strdup(scope->machine) : NULL;
		o->log_namespace = scope->log_namespace ? strdup(scope->log_namespace) : NULL;
		o->scope.machine = o->machine;
		o->scope.log_namespace = o->log_namespace;
	} else {
		o->pattern = true;
	}
	if (!o->path || (scope && ((scope->machine && !o->machine) ||
				   (scope->log_namespace && !o->log_namespace)))) {
		discover_origin_free(o);
		return -ENOMEM;
	}
	o->next = e->origins;
	e->origins = o;
	*ret_origin = o;
	return 0;
}

/* Adds what a pattern names. */
static int discover_match(struct jscan *e, const struct discover_origin *origin)
{
	glob_t found;
	int r = origin->literal ? GLOB_NOMATCH : glob(origin->path, GLOB_NOCHECK, NULL, &found);

	if (r == GLOB_NOSPACE)
		return -ENOMEM;
	if (r != 0) {
		r = follow_is_watching(e) ? follow_watch_file(e, origin, origin->path) : 0;
		return r < 0 ? r : discover_offer(e, origin->path, false);
	}
	for (size_t i = 0; i < found.gl_pathc && r == 0; i++) {
		if (follow_is_watching(e))
			r = follow_watch_file(e, origin, found.gl_pathv[i]);
		r = r < 0 ? r : discover_offer(e, found.gl_pathv[i], false);
	}
	globfree(&found);
	return r;
}

int discover_file(struct jscan *e, const char *pattern, bool literal)
{
	struct discover_origin *origin;
	int r = discover_remember(e, pattern, NULL, &origin);

	if (r < 0)
		return r;
	origin->literal = literal;
	return discover_match(e, origin);
}

/* Adds what a directory and its sub-directories hold. */
static int discover_directory(struct jscan *e, const char *path, const struct discover_scope *scope)
{
	struct discover_origin *origin;
	int r = discover_remember(e, path, scope, &origin);

	return r < 0 ? r : discover_list(e, origin, path, true);
}

int discover_again(struct jscan *e)
{
	for (const struct discover_origin *o = e->origins; o; o = o->next) {
		int r = o->pattern ? discover_match(e, o) : discover_list(e, o, o->path, true);

		if (r == -ENOMEM)
			return r; /* else it has gone, or is not there yet */
	}
	return 0;
}

int discover_enter(struct jscan *e, const struct discover_origin *origin, const char *path)
{
	return discover_list(e, origin, path, false);
}

/* This machine's ID as 32 hex digits; empty where it is not known. */
static void discover_machine_id(char hex[JSCAN_ID_TEXT_SIZE])
{
	FILE *f = fopen("/etc/machine-id", "re");
	size_t size = 0;

	if (f) {
		size = fread(hex, 1, JSCAN_ID_TEXT_SIZE - 1, f);
		fclose(f);
	}
	hex[size] = '\0';
}

/* Adds the usual directories below a root. Those that are missing are passed over. */
static int discover_usual(struct jscan *e, const char *root, struct discover_scope *scope)
{
	/* Volatile journals are this machine's, whatever ID their directory is named by. */
	static const struct {
		const char *path;
		bool local;
		bool merged;
	} usual[] = {
		{ "/run/log/journal", true, true },
		{ "/var/log/journal", false, true },
		{ "/var/log/journal/remote", false, false },
	};
	const char *machine = scope->machine;

	for (size_t i = 0; i < sizeof(usual) / sizeof(usual[0]); i++) {
		char *path;
		int r;

		if (!usual[i].merged && machine)
			continue;
		path = discover_join(*root ? root : "/", usual[i].path + 1);
		if (!path)
			return -ENOMEM;
		scope->machine = usual[i].local ? NULL : machine;
		r = discover_directory(e, path, scope);
		if (r < 0 && r != -ENOMEM && r != -ENOENT)
			problem_report_path(e, path, JSCAN_REASON_OPEN, r,
					    "the directory cannot be read");
		free(path);
		if (r == -ENOMEM)
			return r;
	}
	return 0;
}

int discover_places(struct jscan *e, const struct jscan_places *places)
{
	const char *root = places->root && strcmp(places->root, "/") != 0 ? places->root : "";
	char machine[JSCAN_ID_TEXT_SIZE];
	struct discover_scope scope = {
		.all_names = !(places->flags & (JSCAN_PLACES_SYSTEM | JSCAN_PLACES_USER)),
		.system = places->flags & JSCAN_PLACES_SYSTEM,
		.user = places->flags & JSCAN_PLACES_USER,
		.uid = getuid(),
	};

	if (places->directory)
		return discover_directory(e, places->directory, &scope);
	scope.log_namespace = places->log_namespace;
	if (!*root && !(places->flags & JSCAN_PLACES_ALL_MACHINES)) {
		discover_machine_id(machine);
		scope.machine = machine;
	}
	return discover_usual(e, root, &scope);
}
