// SPDX-License-Identifier: MIT
/*
 * The message catalog itself: its texts, or a line about each. What an argument gets wrong is said
 * and the others are still printed, as journalctl does.
 */
#include "catalog.h"

#include <errno.h>
#include <locale.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <jscan.h>

#include "messages.h"
#include "pager.h"

/* A header line of a text, or what stands for one that is not there. */
static void catalog_print_header(const char *text, size_t size)
{
	if (text)
		fwrite(text, 1, size, stdout);
	else
		fputs("n/a", stdout);
}

/* A jscan_catalog_fn: a line about a text. */
static int catalog_print_line(void *userdata, const struct jscan_catalog_text *text)
{
	char id[JSCAN_ID_TEXT_SIZE];

	(void)userdata;
	printf("%s ", jscan_id_format(&text->id, id));
	catalog_print_header(text->defined_by, text->defined_by_size);
	fputs(": ", stdout);
	catalog_print_header(text->subject, text->subject_size);
	putchar('\n');
	return 0;
}

/* A jscan_catalog_fn: a text as it is. */
static int catalog_print_text(void *userdata, const struct jscan_catalog_text *text)
{
	char id[JSCAN_ID_TEXT_SIZE];

	(void)userdata;
	printf("-- %s\n", jscan_id_format(&text->id, id));
	fwrite(text->text, 1, text->text_size, stdout);
	putchar('\n');
	return 0;
}

/* Opens the database of the root that SETTINGS name. 0, or why not. */
static int catalog_open(const struct settings *settings, struct jscan_catalog **ret_catalog)
{
	const char *given = getenv("SYSTEMD_CATALOG");
	char *path = NULL;
	int r;

	if (asprintf(&path, "%s%s", settings->root ? settings->root : "",
		     given ? given : JSCAN_CATALOG_PATH) < 0)
		return -ENOMEM;
	r = jscan_catalog_open(path, setlocale(LC_MESSAGES, NULL), ret_catalog);
	free(path);
	return r;
}

int catalog_print(const struct settings *settings)
{
	jscan_catalog_fn print = settings->action == ACTION_LIST_CATALOG ? catalog_print_line :
									   catalog_print_text;
	struct jscan_catalog *catalog = NULL;
	int opened = catalog_open(settings, &catalog), first_error = 0;

	pager_open(settings);
	if (settings->argument_count == 0)
		first_error = opened < 0 ? opened : jscan_catalog_list(catalog, print, NULL);
	for (size_t i = 0; i < settings->argument_count; i++) {
		const char *id = settings->arguments[i];
		struct jscan_catalog_text text = { .size = sizeof(text) };
		int r = jscan_catalog_find(catalog, id, &text);

		if (r >= 0) {
			print(NULL, &text);
			continue;
		}
		if (r == -EINVAL) {
			message_error("Failed to parse id128 '%s': %s", id, strerror(-r));
		} else {
			r = opened < 0 ? opened : r;
			message_error("Failed to retrieve catalog entry for '%s': %s", id,
				      strerror(-r));
		}
		first_error = first_error ? first_error : r;
	}
	jscan_catalog_free(catalog);
	if (first_error < 0)
		message_error("Failed to list catalog: %s", strerror(-first_error));
	return first_error < 0 ? EXIT_FAILURE : EXIT_SUCCESS;
}
