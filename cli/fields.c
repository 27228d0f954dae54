// SPDX-License-Identifier: MIT
/* The actions -F and -N: values of a field, names of fields, one a line, from the files' indexes.
 */
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "fields.h"
#include "messages.h"
#include "values.h"

/* A jscan_bytes_fn: prints one value, up to a NUL. USERDATA is how many may still be printed. */
static int fields_print_value(void *userdata, const void *data, size_t size)
{
	uint64_t *left = userdata;

	if (*left == 0)
		return 1;
	if (*left != LINES_ALL)
		--*left;
	fwrite(data, 1, strnlen(data, size), stdout);
	putchar('\n');
	return 0;
}

int fields_list_values(struct archive *archive)
{
	uint64_t left = archive->settings->lines;
	int r = jscan_list_field_values(archive->engine, archive->settings->field,
					fields_print_value, &left);

	return r < 0 ? message_error("Failed to query unique data objects: %s", strerror(-r)) : 0;
}

/* Whether bytes are the name of a field. */
static bool fields_name_is_valid(const char *name, size_t size)
{
	if (size == 0 || size > 64 || (name[0] >= '0' && name[0] <= '9'))
		return false;
	for (size_t i = 0; i < size; i++)
		if (!(name[i] >= 'A' && name[i] <= 'Z') && !(name[i] >= '0' && name[i] <= '9') &&
		    name[i] != '_')
			return false;
	return true;
}

/* A jscan_bytes_fn: prints one name. */
static int fields_print_name(void *userdata, const void *data, size_t size)
{
	(void)userdata;
	if (fields_name_is_valid(data, size)) {
		fwrite(data, 1, size, stdout);
		putchar('\n');
	}
	return 0;
}

int fields_list_names(struct archive *archive)
{
	int r = jscan_list_field_names(archive->engine, fields_print_name, NULL);

	return r < 0 ? message_error("Failed to list field names: %s", strerror(-r)) : 0;
}
