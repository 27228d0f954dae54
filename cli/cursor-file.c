// SPDX-License-Identifier: MIT
/* The file of --cursor-file: where the last run ended, one line. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cursor-file.h"
#include "jscan.h"
#include "messages.h"
#include "replace-file.h"

int cursor_file_read(const char *path, char **ret_cursor)
{
	FILE *f = fopen(path, "re");
	char *line = NULL;
	size_t capacity = 0;
	ssize_t size;
	int error;

	*ret_cursor = NULL;
	if (!f && errno == ENOENT)
		return 0;
	if (!f)
		return message_error("Failed to read cursor file %s: %s", path, strerror(errno));
	errno = 0;
	size = getline(&line, &capacity, f);
	error = size < 0 ? errno : 0;
	fclose(f);
	if (error) {
		free(line);
		return message_error("Failed to read cursor file %s: %s", path, strerror(error));
	}
	if (size <= 0) {
		free(line);
		line = NULL;
	} else if (line[size - 1] == '\n') {
		line[size - 1] = '\0';
	}
	*ret_cursor = line;
	return 0;
}

int cursor_file_write(const char *path, const char *cursor)
{
	char line[JSCAN_CURSOR_SIZE + 1];
	int r;

	snprintf(line, sizeof(line), "%s\n", cursor);
	/* A path without a name is read like that of a file that is not there. */
	r = *path ? replace_file(path, line, false) : -EINVAL;
	return r < 0 ? message_error("Failed to write new cursor to %s: %s", path, strerror(-r))
		     : 0;
}
