// SPDX-License-Identifier: MIT
/*
 * The action --list-namespaces: the names behind the machine's ID in the journal directories. A
 * namespace that has journals in both places is listed for each, as journalctl does. No file is
 * opened.
 */
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

/* The machine's ID, below ROOT. */
static int namespaces_machine(const char *root, char *id)
{
	size_t size = 0;
	char *path;
	FILE *f;

	if (asprintf(&path, "%s/etc/machine-id", root) < 0)
		return message_memory();
	f = fopen(path, "re");
	free(path);
	if (!f)
		return message_error("Failed to get machine ID: %s", strerror(errno));
	size = fread(id, 1, ID_DIGITS, f);
	fclose(f);
	id[size] = '\0';
	return size == ID_DIGITS ? 0
				 : message_error("Failed to get machine ID: %s", strerror(EUCLEAN));
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
		    name[ID_DIGITS + 1])
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
