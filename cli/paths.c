// SPDX-License-Identifier: MIT
/*
 * Paths as matches: a program stands for what it logged, a script for what its interpreter logged
 * under the script's name, a device node for what the kernel said about it and its parents.
 *
 * What is at the path now decides, on this machine, so this is refused for the journals of another
 * root.
 */
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#include "boots.h"
#include "messages.h"
#include "paths.h"

/* The kernel cuts names of processes to this. */
#define COMM_SIZE_MAX 15

/* Adds FIELD=VALUE; of VALUE only SIZE bytes. */
static int path_match(struct archive *archive, const char *field, const char *value, size_t size)
{
	char *text;
	int r, length = asprintf(&text, "%s=%.*s", field, (int)size, value);

	if (length < 0)
		return message_memory();
	r = jscan_match(archive->engine, text, (size_t)length);
	free(text);
	return r < 0 ? message_error("Failed to add match: %s", strerror(-r)) : 0;
}

/* The interpreter of a script, from its first line; empty if it is none. */
static void path_interpreter(const char *path, char interpreter[PATH_MAX])
{
	char line[PATH_MAX] = "";
	FILE *f = fopen(path, "re");
	const char *begin;
	size_t size = 0;

	if (f && fgets(line, sizeof(line), f) && line[0] == '#' && line[1] == '!') {
		begin = line + 2 + strspn(line + 2, " \t");
		size = strcspn(begin, " \t\r\n");
		memcpy(interpreter, begin, size);
	}
	interpreter[size] = '\0';
	if (f)
		fclose(f);
}

/* A program or a script. */
static int path_match_executable(struct archive *archive, const char *path)
{
	char interpreter[PATH_MAX];
	const char *name = strrchr(path, '/') + 1;
	struct stat st;
	int r;

	path_interpreter(path, interpreter);
	if (!*interpreter)
		return path_match(archive, "_EXE", path, strlen(path));
	r = path_match(archive, "_COMM", name, strnlen(name, COMM_SIZE_MAX));
	/* Behind a link there may be any program, and another one after the next update. */
	if (r >= 0 && lstat(interpreter, &st) >= 0 && !S_ISLNK(st.st_mode))
		r = path_match(archive, "_EXE", interpreter, strlen(interpreter));
	return r;
}

/* Cuts the last component off a path. False when nothing would be left. */
static bool path_cut(char *path)
{
	char *slash = strrchr(path, '/');

	if (!slash || slash == path)
		return false;
	*slash = '\0';
	return true;
}

/* Adds the matches for one device in the kernel's tree, at SYSTEM_PATH. */
static int path_match_kernel_device(struct archive *archive, const char *system_path)
{
	char link[PATH_MAX], target[PATH_MAX], text[PATH_MAX];
	const char *name = strrchr(system_path, '/') + 1, *subsystem;
	unsigned major, minor;
	ssize_t size;
	FILE *f;
	int r, length;

	if (snprintf(link, sizeof(link), "%s/subsystem", system_path) >= (int)sizeof(link))
		return 0;
	size = readlink(link, target, sizeof(target) - 1);
	if (size < 0)
		return 0; /* a directory between two devices */
	target[size] = '\0';
	subsystem = strrchr(target, '/');
	subsystem = subsystem ? subsystem + 1 : target;
	length = snprintf(text, sizeof(text), "+%s:%s", subsystem, name);
	r = path_match(archive, "_KERNEL_DEVICE", text, (size_t)length);
	if (r < 0 || snprintf(link, sizeof(link), "%s/dev", system_path) >= (int)sizeof(link))
		return r;
	f = fopen(link, "re");
	if (!f)
		return r;
	if (fscanf(f, "%u:%u", &major, &minor) == 2) {
		length = snprintf(text, sizeof(text), "%c%u:%u",
				  strcmp(subsystem, "block") == 0 ? 'b' : 'c', major, minor);
		r = path_match(archive, "_KERNEL_DEVICE", text, (size_t)length);
	}
	fclose(f);
	return r;
}

/* A device node: itself and what it hangs on, in this boot, since others number devices anew. */
static int path_match_device(struct archive *archive, const struct stat *st)
{
	char link[64], system_path[PATH_MAX];
	jscan_id boot;
	int r;

	snprintf(link, sizeof(link), "/sys/dev/%s/%u:%u", S_ISBLK(st->st_mode) ? "block" : "char",
		 major(st->st_rdev), minor(st->st_rdev));
	if (!realpath(link, system_path))
		return message_error("Failed to get udev device from devnum %u:%u: %s",
				     major(st->st_rdev), minor(st->st_rdev), strerror(errno));
	do {
		r = path_match_kernel_device(archive, system_path);
	} while (r >= 0 && path_cut(system_path) && strcmp(system_path, "/sys/devices") != 0);
	if (r >= 0)
		r = boots_running(&boot);
	return r < 0 ? r
		     : path_match(archive, "_BOOT_ID", jscan_id_format(&boot, link),
				  JSCAN_ID_TEXT_SIZE - 1);
}

int paths_match(struct archive *archive, const char *path)
{
	char *canonical;
	struct stat st;
	int r;

	if (archive->settings->root || archive->settings->seen[OPTION_IMAGE] ||
	    archive->settings->seen[OPTION_MACHINE])
		return message_error("An extra path in match filter is currently not supported "
				     "with --root, --image, or -M/--machine.");
	canonical = realpath(path, NULL);
	if (!canonical)
		return message_error("Couldn't canonicalize path '%s': %s", path, strerror(errno));
	if (stat(canonical, &st) < 0)
		r = message_error("Couldn't stat file '%s': %s", canonical, strerror(errno));
	else if (S_ISREG(st.st_mode) && (st.st_mode & 0111))
		r = path_match_executable(archive, canonical);
	else if (S_ISCHR(st.st_mode) || S_ISBLK(st.st_mode))
		r = path_match_device(archive, &st);
	else
		r = message_error("File is neither a device node nor executable: %s", canonical);
	free(canonical);
	return r;
}
