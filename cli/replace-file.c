// SPDX-License-Identifier: MIT
/*
 * Replacing a small file as a whole, so that whoever reads it, or a run that is cut short, finds
 * what it held before or what it holds now.
 */
#include "replace-file.h"

#include <errno.h>
#include <fcntl.h>
#include <libgen.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* Has the name of a file be on the disk. Where a directory cannot be synchronised, that is as good
 * as it gets. */
static int replace_sync_directory(const char *path)
{
	char *copy = strdup(path);
	int fd = copy ? open(dirname(copy), O_RDONLY | O_DIRECTORY | O_CLOEXEC) : -1, r = 0;

	if (!copy)
		return -ENOMEM;
	free(copy);
	if (fd < 0)
		return -errno;
	if (fsync(fd) < 0 && errno == EIO)
		r = -errno;
	close(fd);
	return r;
}

/* Writes a new file beside the old one and gives it that one's name. */
static int replace_rename(const char *path, char *temporary, const char *text, bool durable)
{
	mode_t mask = umask(0);
	int fd = mkostemp(temporary, O_CLOEXEC), r = 0;

	umask(mask);
	if (fd < 0)
		return -errno;
	if (fchmod(fd, 0644 & ~mask) < 0 || dprintf(fd, "%s", text) < 0 ||
	    (durable && fsync(fd) < 0))
		r = -errno;
	if (close(fd) < 0 && r == 0)
		r = -errno;
	if (r == 0 && rename(temporary, path) < 0)
		r = -errno;
	if (r < 0)
		unlink(temporary);
	return r < 0 || !durable ? r : replace_sync_directory(path);
}

/* Writes into what is there. */
static int replace_overwrite(const char *path, const char *text)
{
	int fd = open(path, O_WRONLY | O_CLOEXEC | O_NOCTTY), r = 0;

	if (fd < 0)
		return -errno;
	if (dprintf(fd, "%s", text) < 0)
		r = -errno;
	if (close(fd) < 0 && r == 0)
		r = -errno;
	return r;
}

int replace_file(const char *path, const char *text, bool durable)
{
	char *temporary;
	struct stat st;
	int r;

	/* A device or a pipe must not be replaced by a file: think of root and /dev/null. */
	if (stat(path, &st) >= 0 && !S_ISREG(st.st_mode))
		return replace_overwrite(path, text);
	if (asprintf(&temporary, "%s.XXXXXX", path) < 0)
		return -ENOMEM;
	r = replace_rename(path, temporary, text, durable);
	free(temporary);
	return r;
}
