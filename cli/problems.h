/* SPDX-License-Identifier: MIT */
/* What the library reports as damaged or unreadable, and how the command tells it. */
#ifndef CLI_PROBLEMS_H
#define CLI_PROBLEMS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <jscan.h>

/* A file that could not be opened at all. */
struct left_out {
	char *path;
	int error; /* negative errno */
};

struct problems {
	bool name_damaged;         /* --strict without -q: each damaged file is named once */
	bool quiet;                /* -q: nothing about files that were unpacked in part */
	bool opened;               /* problems_report() has run: what comes now is damage */
	uint64_t count;            /* of everything reported */
	bool no_memory;            /* something reported could not be kept */
	struct left_out *left_out; /* in the order of the reports */
	size_t left_out_count;
	char **damaged; /* the files named so far, sorted */
	size_t damaged_count;
};

/* A jscan_problem_fn; USERDATA is a struct problems. */
void problems_add(void *userdata, const struct jscan_problem *problem);

/*
 * The error of the first file that could not be opened, in the order of the COUNT patterns that
 * named them, whatever the order in which the library met them; 0 if all could.
 */
int problems_first_error(const struct problems *problems, char **patterns, size_t count);

/* Whether a file could not be opened for lack of permission. */
bool problems_lack_permission(const struct problems *problems);

/*
 * Says which files of directories were left out: one line for each kind of error. Returns 0;
 * -EACCES if permission is all that was missing and no file is USABLE.
 */
int problems_report(struct problems *problems, size_t usable);

/* Frees what was kept. */
void problems_done(struct problems *problems);

#endif
