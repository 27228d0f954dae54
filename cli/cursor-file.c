// SPDX-License-Identifier: MIT
/*
 * The file of --cursor-file: where the last run ended, one line. It is replaced as a whole, so that
 * whoever reads it, or a run that is cut short, finds the old cursor or the new one.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "cursor-file.h"
#include "messages.h"

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

/* Writes a new file beside the old one and gives it that one's name. */
static int cursor_file_replace(const char *path, char *temporary, const char *cursor)
{
	mode_t mask = umask(0);
	int fd = mkostemp(temporary, O_CLOEXEC), r = 0;

	umask(mask);
	if (fd < 0)
		return -errno;
	if (fchmod(fd, 0644 & ~mask) < 0 || dprintf(fd, "%s\n", cursor) < 0)
		r = -errno;
	if (close(fd) < 0 && r == 0)
		r = -errno;
	if (r == 0 && rename(temporary, path) < 0)
		r = -errno;
	if (r < 0)
		unlink(temporary);
	return r;
}

/* Writes into what is there. */
static int cursor_file_overwrite(const char *path, const char *cursor)
{
	int fd = open(path, O_WRONLY | O_CLOEXEC | O_NOCTTY), r = 0;

	if (fd < 0)
		return -errno;
	if (dprintf(fd, "%s\n", cursor) < 0)
		r = -errno;
	if (close(fd) < 0 && r == 0)
		r = -errno;
	return r;
}

int cursor_file_write(const char *path, const char *cursor)
{
	char *temporary;
	struct stat st;
	int r;

	/* A device or a pipe must not be replaced by a file: think of root and /dev/null. */
	if (stat(path, &st) >= 0 && !S_ISREG(st.st_mode)) {
		r = cursor_file_overwrite(path, cursor);
		return r < 0 ? message_error("Failed to write new cursor to %s: %s", path,
					     strerror(-r))
			     : 0;
	}
	if (asprintf(&temporary, "%s.XXXXXX", path) < 0)
		return message_memory();
	r = cursor_file_replace(path, temporary, cursor);
	free(temporary);
	return r < 0 ? message_error("Failed to write new cursor to %s: %s", path, strerror(-r))
		     : 0;
}
