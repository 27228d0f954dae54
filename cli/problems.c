// SPDX-License-Identifier: MIT
/*
 * What the library reports as damaged or unreadable, and how the command tells it.
 *
 * journalctl names files that it cannot open, one per kind of error, and is silent about damage
 * inside the others. So is this, unless --strict asks for names; --stats counts everything. Where
 * journalctl's choice of file and order of lines follow the directory and a random seed, here the
 * first path in byte order stands for its kind, and the lines come in that order too.
 */
#include <errno.h>
#include <fnmatch.h>
#include <stdlib.h>
#include <string.h>

#include "messages.h"
#include "problems.h"

/* Whether the file that a problem is about cannot be used at all. A file that ends too early can
 * be used as far as it goes. */
static bool problem_leaves_out(const struct jscan_problem *problem)
{
	switch (problem->reason) {
	case JSCAN_REASON_OPEN:
	case JSCAN_REASON_HEADER:
	case JSCAN_REASON_FEATURE:
	case JSCAN_REASON_TRUNCATED:
		return true;
	case JSCAN_REASON_READ:
		return problem->offset == 0 && problem->error != -ENODATA;
	default:
		return false;
	}
}

/* Keeps the path and error of a file that could not be opened. */
static void problems_keep_left_out(struct problems *problems, const char *path, int error)
{
	struct left_out *grown;
	char *copy = strdup(path);

	grown = reallocarray(problems->left_out, problems->left_out_count + 1, sizeof(*grown));
	if (grown)
		problems->left_out = grown;
	if (!grown || !copy) {
		free(copy);
		problems->no_memory = true;
		return;
	}
	grown[problems->left_out_count++] = (struct left_out){ copy, error };
}

/* Where PATH is, or belongs, among the damaged files. True if it is there. */
static bool problems_find_damaged(const struct problems *problems, const char *path, size_t *ret_at)
{
	size_t low = 0, high = problems->damaged_count;

	while (low < high) {
		size_t middle = low + (high - low) / 2;
		int order = strcmp(path, problems->damaged[middle]);

		if (order == 0)
			return true;
		if (order < 0)
			high = middle;
		else
			low = middle + 1;
	}
	*ret_at = low;
	return false;
}

/* Names a damaged file when its first damage is met. */
static void problems_name_damaged(struct problems *problems, const struct jscan_problem *problem)
{
	const char *path = problem->path ? problem->path : "?";
	char **grown, *copy;
	size_t at;

	if (problems_find_damaged(problems, path, &at))
		return;
	copy = strdup(path);
	grown = reallocarray(problems->damaged, problems->damaged_count + 1, sizeof(*grown));
	if (grown)
		problems->damaged = grown;
	if (!grown || !copy) {
		free(copy);
		problems->no_memory = true;
		return;
	}
	memmove(grown + at + 1, grown + at, (problems->damaged_count - at) * sizeof(*grown));
	grown[at] = copy;
	problems->damaged_count++;
	message_notice("Journal file %s is damaged at offset %llu: %s", path,
		       (unsigned long long)problem->offset,
		       problem->detail ? problem->detail : strerror(-problem->error));
}

void problems_add(void *userdata, const struct jscan_problem *problem)
{
	struct problems *problems = userdata;

	if (problem->reason == JSCAN_REASON_CATALOG) { /* nothing of the files is damaged */
		message_error("Failed to find catalog entry: %s", strerror(-problem->error));
		return;
	}
	if (problem->reason == JSCAN_REASON_WATCH) { /* nor here: it only takes longer */
		message_notice("Files cannot be watched (%s); looking at them every 100 ms.",
			       strerror(-problem->error));
		return;
	}
	problems->count++;
	/* Most of it may be lacking, so this is said also without --strict. */
	if (problem->reason == JSCAN_REASON_UNPACK && !problems->quiet)
		message_notice("Journal file %s is unpacked up to offset %llu only: %s (%s)",
			       problem->path ? problem->path : "?",
			       (unsigned long long)problem->offset, problem->detail,
			       strerror(-problem->error));
	else if (!problems->opened && problem_leaves_out(problem))
		problems_keep_left_out(problems, problem->path ? problem->path : "?",
				       problem->error);
	else if (problems->name_damaged)
		problems_name_damaged(problems, problem);
}

/* The part of PATH behind its last slash. */
static const char *path_name(const char *path)
{
	const char *slash = strrchr(path, '/');

	return slash ? slash + 1 : path;
}

/* The first of the patterns that may have named PATH. Only names are compared: the library's paths
 * are canonical, patterns are not. */
static size_t path_rank(const char *path, char **patterns, size_t count)
{
	for (size_t i = 0; i < count; i++)
		if (fnmatch(path_name(patterns[i]), path_name(path), 0) == 0)
			return i;
	return count;
}

int problems_first_error(const struct problems *problems, char **patterns, size_t count)
{
	const struct left_out *first = NULL;
	size_t first_rank = 0;

	for (size_t i = 0; i < problems->left_out_count; i++) {
		const struct left_out *file = &problems->left_out[i];
		size_t rank = path_rank(file->path, patterns, count);

		if (!first || rank < first_rank ||
		    (rank == first_rank && strcmp(file->path, first->path) < 0)) {
			first = file;
			first_rank = rank;
		}
	}
	return first ? first->error : 0;
}

/* Orders files that were left out by path. */
static int left_out_compare(const void *a, const void *b)
{
	const struct left_out *one = a, *other = b;

	return strcmp(one->path, other->path);
}

/* Says that a file was left out. */
static void left_out_report(const struct left_out *file)
{
	switch (-file->error) {
	case EACCES:
		break;
	case ENODATA:
		message_warning("Journal file %s is truncated, ignoring file.", file->path);
		break;
	case EPROTONOSUPPORT:
		message_warning(
			"Journal file %s uses an unsupported feature, ignoring file.\n"
			"Use SYSTEMD_LOG_LEVEL=debug journalctl --file=%s to see the details.",
			file->path, file->path);
		break;
	case EBADMSG:
		message_warning("Journal file %s corrupted, ignoring file.", file->path);
		break;
	case ETOOMANYREFS:
		message_warning("Too many journal files (limit is at 7168) in scope, ignoring file "
			       "'%s'.",
			       file->path);
		break;
	default:
		message_warning("An error was encountered while opening journal file or directory "
			       "%s, ignoring file: %s",
			       file->path, strerror(-file->error));
	}
}

bool problems_lack_permission(const struct problems *problems)
{
	for (size_t i = 0; i < problems->left_out_count; i++)
		if (problems->left_out[i].error == -EACCES)
			return true;
	return false;
}

int problems_report(struct problems *problems, size_t usable)
{
	bool no_permission = problems_lack_permission(problems);

	problems->opened = true;
	if (problems->left_out_count > 0)
		qsort(problems->left_out, problems->left_out_count, sizeof(*problems->left_out),
		      left_out_compare);
	if (no_permission && usable == 0)
		message_error("No journal files were opened due to insufficient permissions.");
	for (size_t i = 0; i < problems->left_out_count; i++) {
		const struct left_out *file = &problems->left_out[i];
		bool named = false;

		for (size_t j = 0; j < i && !named; j++)
			named = problems->left_out[j].error == file->error;
		if (!named)
			left_out_report(file);
	}
	return no_permission && usable == 0 ? -EACCES : 0;
}

void problems_done(struct problems *problems)
{
	for (size_t i = 0; i < problems->left_out_count; i++)
		free(problems->left_out[i].path);
	for (size_t i = 0; i < problems->damaged_count; i++)
		free(problems->damaged[i]);
	free(problems->left_out);
	free(problems->damaged);
	*problems = (struct problems){ 0 };
}
