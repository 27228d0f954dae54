// SPDX-License-Identifier: MIT
/*
 * Units: their names, and the entries that are a unit's.
 *
 * A unit's entries are those that its processes logged and those that others logged about it. Who
 * may speak about a unit is part of the match: the manager from its own control group, root, the
 * handler of core dumps. Patterns are expanded through the indexes of the files, since a match is
 * always for one value.
 */
#include <errno.h>
#include <fnmatch.h>
#include <pwd.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "messages.h"
#include "units.h"
#include "values.h"

#define LETTERS                                                                                    \
	"0123456789"                                                                               \
	"abcdefghijklmnopqrstuvwxyz"                                                               \
	"ABCDEFGHIJKLMNOPQRSTUVWXYZ"
#define NAME_CHARACTERS LETTERS "@:-_.\\"
#define PATTERN_CHARACTERS NAME_CHARACTERS "[]!*?"
#define NAME_SIZE_MAX 255
#define ESCAPE_SIZE 4

#define MESSAGE_ID_CORE_DUMP "fc2e22bc6ee647b6b90729ab34a250b1"

/* ---- names ------------------------------------------------------------------------------ */

/* Whether a name ends with the suffix of a kind of unit. */
static bool unit_has_suffix(const char *name)
{
	static const char *const suffixes[] = { "service", "socket",    "target", "device",
						"mount",   "automount", "swap",   "timer",
						"path",    "slice",     "scope" };
	const char *dot = strrchr(name, '.');

	for (size_t i = 0; dot && i < sizeof(suffixes) / sizeof(suffixes[0]); i++)
		if (strcmp(dot + 1, suffixes[i]) == 0)
			return true;
	return false;
}

/* Whether TEXT is the name of a unit as it stands. */
static bool unit_is_valid(const char *text)
{
	size_t size = strlen(text);

	return size <= NAME_SIZE_MAX && unit_has_suffix(text) && strrchr(text, '.') != text &&
	       text[0] != '@' && strspn(text, NAME_CHARACTERS) == size;
}

/* Whether TEXT, as it was given, would be taken for a pattern. */
static bool unit_is_pattern(const char *text)
{
	return strpbrk(text, "*?[") != NULL && text[strspn(text, PATTERN_CHARACTERS)] == '\0';
}

/* Writes one character to P, escaped, in ESCAPE_SIZE bytes, if it is none of ALLOWED. Returns the
 * end. */
static char *unit_put(char *p, unsigned char c, const char *allowed, bool *escaped)
{
	if (strchr(allowed, c)) {
		*p++ = (char)c;
		return p;
	}
	*escaped = true;
	snprintf(p, ESCAPE_SIZE + 1, "\\x%02x", c);
	return p + ESCAPE_SIZE;
}

/* Escapes a path: slashes become dashes. False if it is no path that a unit can stand for. */
static bool unit_escape_path(const char *path, char *p)
{
	char *begin = p;
	bool escaped;

	for (;;) {
		size_t size;

		path += strspn(path, "/");
		size = strcspn(path, "/");
		if (size == 0)
			break;
		if (size == 2 && path[0] == '.' && path[1] == '.')
			return false;
		if (size == 1 && *path == '.') {
			path++;
			continue;
		}
		if (p > begin)
			*p++ = '-';
		for (; size; size--, path++)
			p = unit_put(p, (unsigned char)*path,
				     p > begin ? LETTERS ":_." : LETTERS ":_", &escaped);
	}
	if (p == begin)
		*p++ = '-'; /* the root */
	*p = '\0';
	return true;
}

/* Escapes anything else. */
static void unit_escape(const char *text, char *p, bool *escaped)
{
	for (; *text; text++)
		if (*text == '/') {
			*p++ = '-';
			*escaped = true;
		} else {
			p = unit_put(p, (unsigned char)*text, PATTERN_CHARACTERS, escaped);
		}
	*p = '\0';
}

int unit_name(const char *text, bool *ret_is_pattern, size_t *ret_escaped, char **ret_name)
{
	const char *suffix = ".service";
	bool escaped = false, is_path = false;
	size_t capacity = ESCAPE_SIZE * strlen(text) + sizeof(".service"), size;
	char *name;

	if (!*text)
		return -EINVAL;
	name = malloc(capacity);
	if (!name)
		return -ENOMEM;
	if (unit_is_valid(text) || unit_is_pattern(text)) {
		memcpy(name, text, strlen(text) + 1);
	} else if (*text == '/' && unit_escape_path(text, name)) {
		bool device = strncmp(name, "dev-", 4) == 0 || strncmp(name, "sys-", 4) == 0;

		suffix = device ? ".device" : ".mount";
		is_path = true;
	} else {
		unit_escape(text, name, &escaped);
	}
	size = strlen(name);
	*ret_escaped = escaped ? size : 0;
	*ret_is_pattern = strpbrk(name, "*?[") != NULL;
	if (is_path || (!*ret_is_pattern && !unit_is_valid(name)))
		snprintf(name + size, capacity - size, "%s", suffix);
	*ret_name = name;
	return 0;
}

/* ---- patterns --------------------------------------------------------------------------- */

/* Patterns that values are compared with, and where those go that match. */
struct unit_search {
	char **patterns;
	char ***names;
	size_t *name_count;
};

/* A jscan_bytes_fn: one value of a field that names units. */
static int unit_search_value(void *userdata, const void *data, size_t size)
{
	struct unit_search *search = userdata;
	char *value = strndup(data, size);
	int r = 0;

	if (!value)
		return -ENOMEM;
	for (char **pattern = search->patterns; *pattern && r == 0; pattern++)
		if (fnmatch(*pattern, value, FNM_NOESCAPE) == 0)
			r = list_add(search->names, search->name_count, value, strlen(value));
	free(value);
	return r;
}

/* Adds the units that match PATTERNS, of those that FIELDS name anywhere. */
static int unit_search_fields(struct archive *archive, char **patterns, const char *const *fields,
			      size_t field_count, char ***names, size_t *count)
{
	struct unit_search search = { patterns, names, count };
	int r = 0;

	for (size_t i = 0; i < field_count && r >= 0; i++)
		r = jscan_list_field_values(archive->engine, fields[i], unit_search_value, &search);
	return r;
}

/* Turns what was given into names: one list from another. */
static int units_find_kind(struct archive *archive, char **given, size_t given_count,
			   const char *const *fields, size_t field_count, char ***names,
			   size_t *count)
{
	char **patterns = NULL;
	size_t pattern_count = 0;
	int r = 0;

	for (size_t i = 0; i < given_count && r >= 0; i++) {
		bool is_pattern;
		size_t escaped;
		char *name;

		r = unit_name(given[i], &is_pattern, &escaped, &name);
		if (r < 0)
			break;
		if (escaped && !archive->settings->quiet)
			message_notice("Invalid unit name \"%s\" escaped as \"%.*s\" (maybe you "
				       "should use systemd-escape?).",
				       given[i], (int)escaped, name);
		r = is_pattern ? list_add(&patterns, &pattern_count, name, strlen(name))
			       : list_add(names, count, name, strlen(name));
		free(name);
	}
	if (r >= 0 && pattern_count > 0)
		r = unit_search_fields(archive, patterns, fields, field_count, names, count);
	list_free(patterns);
	return r;
}

int units_find(struct archive *archive, bool own_only, struct units *units)
{
	/* First those of a unit's own entries, then those of others that are about it. */
	static const char *const system_fields[] = { "_SYSTEMD_UNIT", "UNIT",
						     "OBJECT_SYSTEMD_UNIT", "COREDUMP_UNIT",
						     "_SYSTEMD_SLICE" };
	static const char *const user_fields[] = { "_SYSTEMD_USER_UNIT", "USER_UNIT",
						   "OBJECT_SYSTEMD_USER_UNIT",
						   "COREDUMP_USER_UNIT", "_SYSTEMD_USER_SLICE" };
	size_t field_count = own_only ? 3 : 5;
	const struct settings *settings = archive->settings;
	int r;

	*units = (struct units){ 0 };
	r = units_find_kind(archive, settings->units, settings->unit_count, system_fields,
			    field_count, &units->system, &units->system_count);
	if (r >= 0)
		r = units_find_kind(archive, settings->user_units, settings->user_unit_count,
				    user_fields, field_count, &units->user, &units->user_count);
	if (r >= 0 && units->system_count + units->user_count == 0)
		r = -ENODATA;
	return r;
}

void units_done(struct units *units)
{
	units->system = list_free(units->system);
	units->user = list_free(units->user);
}

/* ---- matches ---------------------------------------------------------------------------- */

/* Adds the match FIELD=VALUE to the current alternative. */
static int unit_match(struct jscan *engine, const char *field, const char *value)
{
	char *text;
	int r, size = asprintf(&text, "%s=%s", field, value);

	if (size < 0)
		return -ENOMEM;
	r = jscan_match(engine, text, (size_t)size);
	free(text);
	return r;
}

/* Adds the match for a user's entries, and ends the alternative. */
static int unit_match_uid(struct jscan *engine, uid_t uid, bool or_root)
{
	char text[24];
	int r;

	snprintf(text, sizeof(text), "%u", (unsigned)uid);
	r = unit_match(engine, "_UID", text);
	if (r >= 0 && or_root)
		r = unit_match(engine, "_UID", "0");
	return r < 0 ? r : jscan_match_or(engine);
}

/* Adds one alternative: two fields, the second may be missing. */
static int unit_match_pair(struct jscan *engine, const char *field, const char *value,
			   const char *other_field, const char *other_value)
{
	int r = unit_match(engine, field, value);

	if (r >= 0 && other_field)
		r = unit_match(engine, other_field, other_value);
	return r < 0 ? r : jscan_match_or(engine);
}

/* Whether a unit is a slice. */
static bool unit_is_slice(const char *name)
{
	size_t size = strlen(name);

	return size >= 6 && strcmp(name + size - 6, ".slice") == 0;
}

/* What a core dump of the unit left, from the user who may say so on this machine. */
static int unit_match_core_dumps(struct archive *archive, const char *name)
{
	const struct passwd *user = NULL;
	int r = unit_match(archive->engine, "COREDUMP_UNIT", name);

	if (r >= 0)
		r = unit_match(archive->engine, "MESSAGE_ID", MESSAGE_ID_CORE_DUMP);
	if (r < 0)
		return r;
	if (archive_is_default(archive->settings) && !archive->settings->log_namespace)
		user = getpwnam("systemd-coredump");
	if (user && user->pw_uid != 0)
		return unit_match_uid(archive->engine, user->pw_uid, true);
	return jscan_match_or(archive->engine);
}

/* The entries of a system unit. */
static int unit_match_system(struct archive *archive, const char *name, bool own_only)
{
	struct jscan *engine = archive->engine;
	int r = unit_match_pair(engine, "_SYSTEMD_UNIT", name, NULL, NULL);

	if (r >= 0)
		r = unit_match_pair(engine, "UNIT", name, "_SYSTEMD_CGROUP", "/init.scope");
	if (r >= 0)
		r = unit_match_pair(engine, "OBJECT_SYSTEMD_UNIT", name, "_UID", "0");
	if (r < 0 || own_only)
		return r;
	r = unit_match_core_dumps(archive, name);
	if (r >= 0 && unit_is_slice(name))
		r = unit_match_pair(engine, "_SYSTEMD_SLICE", name, NULL, NULL);
	return r;
}

/* The entries of a unit of the calling user. */
static int unit_match_user(struct archive *archive, const char *name, bool own_only)
{
	static const struct {
		const char *field;
		bool or_root, own;
	} terms[] = {
		{ "_SYSTEMD_USER_UNIT", false, true },      { "USER_UNIT", false, true },
		{ "OBJECT_SYSTEMD_USER_UNIT", true, true }, { "COREDUMP_USER_UNIT", true, false },
		{ "_SYSTEMD_USER_SLICE", false, false },
	};
	size_t count = sizeof(terms) / sizeof(terms[0]) - !unit_is_slice(name);
	int r = 0;

	for (size_t i = 0; i < count && r >= 0; i++) {
		if (own_only && !terms[i].own)
			continue;
		r = unit_match(archive->engine, terms[i].field, name);
		if (r >= 0)
			r = unit_match_uid(archive->engine, getuid(), terms[i].or_root);
	}
	return r;
}

int units_match(struct archive *archive, const struct units *units, bool own_only)
{
	int r = 0;

	for (size_t i = 0; i < units->system_count && r >= 0; i++)
		r = unit_match_system(archive, units->system[i], own_only);
	for (size_t i = 0; i < units->user_count && r >= 0; i++)
		r = unit_match_user(archive, units->user[i], own_only);
	return r < 0 ? r : jscan_match_and(archive->engine);
}
