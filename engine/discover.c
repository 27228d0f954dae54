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

#include "engine/engine.h"

/* True if NAME ends like a journal's. */
static bool discover_is_journal(const char *name)
{
	size_t size = strlen(name);

	return (size >= 8 && strcmp(name + size - 8, ".journal") == 0) ||
	       (size >= 9 && strcmp(name + size - 9, ".journal~") == 0);
}

/* True if NAME is a 128-bit ID: 32 hex digits, or 36 characters with dashes. */
static bool discover_is_id(const char *name, char hex[JSCAN_ID_TEXT_SIZE])
{
	size_t size = strlen(name), digits = 0;
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

/* A directory's names, sorted by bytes. The caller frees them. */
static int discover_names(const char *path, char ***ret_names, size_t *ret_count)
{
	struct dirent **entries = NULL;
	char **names;
	int count = scandir(path, &entries, discover_may_be_read, NULL), r = 0;

	if (count < 0)
		return -errno;
	names = calloc((size_t)count + 1, sizeof(*names));
	for (int i = 0; i < count; i++) {
		if (names) {
			names[i] = strdup(entries[i]->d_name);
			r = names[i] ? r : -ENOMEM;
		}
		free(entries[i]);
	}
	free(entries);
	if (!names || r < 0) {
		for (int i = 0; names && i < count; i++)
			free(names[i]);
		free(names);
		return -ENOMEM;
	}
	*ret_names = names;
	*ret_count = (size_t)count;
	return 0;
}

/* strcmp() for qsort(). */
static int discover_compare(const void *a, const void *b)
{
	return strcmp(*(char *const *)a, *(char *const *)b);
}

/* Joins two parts of a path. */
static char *discover_join(const char *directory, const char *name)
{
	size_t size = strlen(directory);
	char *path;

	while (size > 1 && directory[size - 1] == '/')
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

/* Adds what a directory holds; MACHINE as for discover_directory(), DEEPER: enter its
 * sub-directories too. */
static int discover_list(struct jscan *e, const char *path, const char *machine, bool deeper)
{
	char hex[JSCAN_ID_TEXT_SIZE];
	struct source *s;
	size_t count = 0;
	char **names = NULL;
	int r = discover_names(path, &names, &count);

	if (r < 0)
		return r;
	qsort(names, count, sizeof(*names), discover_compare);
	for (size_t i = 0; i < count; i++) {
		bool journal = discover_is_journal(names[i]);
		bool id = !journal && deeper && discover_is_id(names[i], hex);
		char *child = NULL;

		if (r == 0 && (journal || id)) {
			child = discover_join(path, names[i]);
			r = child ? 0 : -ENOMEM;
		}
		if (r == 0 && journal && !discover_is_directory(child))
			r = engine_add_source(e, child, &s);
		else if (r == 0 && id && (!machine || strcasecmp(hex, machine) == 0) &&
			 discover_is_directory(child)) {
			int error = discover_list(e, child, NULL, false);

			if (error == -ENOMEM)
				r = error;
			else if (error < 0)
				problem_report_path(e, child, JSCAN_REASON_OPEN, error,
						    "the directory cannot be read");
		}
		free(child);
		free(names[i]);
	}
	free(names);
	return r;
}

int discover_directory(struct jscan *e, const char *path, const char *machine)
{
	return discover_list(e, path, machine, true);
}

int discover_glob(struct jscan *e, const char *pattern)
{
	struct source *s;
	glob_t found;
	int r = glob(pattern, GLOB_NOCHECK, NULL, &found);

	if (r == GLOB_NOSPACE)
		return -ENOMEM;
	if (r != 0)
		return engine_add_source(e, pattern, &s);
	for (size_t i = 0; i < found.gl_pathc && r == 0; i++)
		r = engine_add_source(e, found.gl_pathv[i], &s);
	globfree(&found);
	return r;
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

int discover_system(struct jscan *e, bool all_machines)
{
	/* Volatile journals are this machine's, whatever ID their directory is named by. */
	static const struct {
		const char *path;
		bool local;
		bool merged;
	} roots[] = {
		{ "/run/log/journal", true, true },
		{ "/var/log/journal", false, true },
		{ "/var/log/journal/remote", false, false },
	};
	char machine[JSCAN_ID_TEXT_SIZE];

	discover_machine_id(machine);
	for (size_t i = 0; i < sizeof(roots) / sizeof(roots[0]); i++) {
		int r;

		if (!roots[i].merged && !all_machines)
			continue;
		r = discover_directory(e, roots[i].path,
				       roots[i].local || all_machines ? NULL : machine);
		if (r == -ENOMEM)
			return r;
		if (r < 0 && r != -ENOENT)
			problem_report_path(e, roots[i].path, JSCAN_REASON_OPEN, r,
					    "the directory cannot be read");
	}
	return 0;
}
