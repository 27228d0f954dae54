// SPDX-License-Identifier: MIT
/*
 * The action --list-namespaces: the names behind the machine's ID in the journal directories. A
 * namespace that has journals in both places is listed for each, as journalctl does. No file is
 * opened.
 */
#include <ctype.h>
#include <dirent.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "messages.h"
#include "namespaces.h"
#include "table.h"
#include "values.h"

#define ID_DIGITS 32

/* Reads a machine ID from the SIZE bytes of its file, which may end in a line break. 0, or a
 * negative errno as sd-id128 has them. */
static int namespaces_parse_machine(const char *text, size_t size, char *id)
{
	bool zero = true;

	if (size == 0)
		return -ENOMEDIUM;
	if (text[size - 1] == '\n')
		size--;
	if (size == strlen("uninitialized") && memcmp(text, "uninitialized", size) == 0)
		return -ENOPKG;
	if (size != ID_DIGITS)
		return -EUCLEAN;
	for (size_t i = 0; i < size; i++) {
		if (!isxdigit((unsigned char)text[i]))
			return -EUCLEAN;
		zero = zero && text[i] == '0';
		id[i] = (char)tolower((unsigned char)text[i]);
	}
	id[size] = '\0';
	return zero ? -ENOMEDIUM : 0;
}

/* The machine's ID, below ROOT. */
static int namespaces_machine(const char *root, char *id)
{
	char text[ID_DIGITS + 2]; /* with a line break, and room to see that there is more */
	size_t size;
	char *path;
	FILE *f;
	int r;

	if (asprintf(&path, "%s/etc/machine-id", root) < 0)
		return message_memory();
	f = fopen(path, "re");
	free(path);
	if (!f)
		return message_error("Failed to get machine ID: %s", strerror(errno));
	size = fread(text, 1, sizeof(text), f);
	fclose(f);
	r = namespaces_parse_machine(text, size, id);
	return r < 0 ? message_error("Failed to get machine ID: %s", strerror(-r)) : 0;
}

/* Whether NAME can be a namespace's: the name of a file, and of characters that need no escape in
 * the instance of a unit. */
static bool namespaces_is_valid(const char *name)
{
	static const char valid[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789"
				    ":-_.@";

	return *name && name[strspn(name, valid)] == '\0' && strcmp(name, ".") != 0 &&
	       strcmp(name, "..") != 0;
}

/* Adds the namespaces in one directory to a list, with duplicates of another directory's. */
static int namespaces_add(const char *root, const char *directory, const char *machine,
			  struct table *table)
{
	struct dirent **entries = NULL;
	char *path;
	int count, r = 0;

	if (asprintf(&path, "%s%s", root, directory) < 0)
		return -ENOMEM;
	count = scandir(path, &entries, NULL, alphasort);
	free(path);
	for (int i = 0; i < count; i++) {
		const char *name = entries[i]->d_name;

		if (r >= 0 && strncmp(name, machine, ID_DIGITS) == 0 && name[ID_DIGITS] == '.' &&
		    namespaces_is_valid(name + ID_DIGITS + 1))
			r = table_add(table, name + ID_DIGITS + 1, 0);
		free(entries[i]);
	}
	free(entries);
	return r;
}

/* By name. */
static int namespaces_compare(const void *a, const void *b)
{
	const struct table_cell *one = a, *other = b;

	return strcmp(one->text, other->text);
}

int namespaces_list(const struct settings *settings)
{
	static const struct table_column column = { "NAMESPACE", "namespace", false, false };
	const char *root = settings->root ? settings->root : "";
	char machine[ID_DIGITS + 1];
	struct table table;
	int r;

	if (namespaces_machine(root, machine) < 0)
		return EXIT_FAILURE;
	table_init(&table, &column, 1);
	r = namespaces_add(root, "/var/log/journal", machine, &table);
	if (r >= 0)
		r = namespaces_add(root, "/run/log/journal", machine, &table);
	if (r < 0)
		message_memory();
	if (table.cell_count > 0)
		qsort(table.cells, table.cell_count, sizeof(*table.cells), namespaces_compare);
	if (r >= 0 && table.cell_count == 0 && !settings->quiet)
		message_notice("No namespaces found.");
	if (r >= 0 && (table.cell_count > 0 || table_is_json(settings)))
		table_print(&table, settings);
	table_done(&table);
	return r < 0 ? EXIT_FAILURE : EXIT_SUCCESS;
}
