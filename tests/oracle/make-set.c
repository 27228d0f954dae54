/* SPDX-License-Identifier: MIT */
/*
 * Writes one set of tests/support/sets into a folder: make-set KIND SEED FOLDER. Prints a line for
 * each file, its path, then a line for each entry of the set: how many copies of it there are.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tests/support/sets.h"

/* The kind of a name. */
static enum set_kind find_kind(const char *name)
{
	for (unsigned i = 0; i < SET_KIND_COUNT; i++) {
		if (strcmp(set_kind_name(i), name) == 0)
			return i;
	}
	fprintf(stderr, "There is no kind \"%s\". The kinds are:", name);
	for (unsigned i = 0; i < SET_KIND_COUNT; i++)
		fprintf(stderr, " %s", set_kind_name(i));
	fprintf(stderr, "\n");
	exit(2);
}

int main(int argc, char **argv)
{
	struct set *set;
	unsigned *counts;

	if (argc != 4) {
		fprintf(stderr, "usage: make-set KIND SEED FOLDER\n");
		return 2;
	}
	set = set_new(find_kind(argv[1]), strtoull(argv[2], NULL, 10));
	set_write(set, argv[3]);
	counts = calloc(set->distinct_count + 1, sizeof(*counts));
	if (!counts)
		abort();
	for (unsigned i = 0; i < set->file_count; i++) {
		printf("%s/%s\n", argv[3], set->files[i].name);
		for (size_t k = 0; k < set->files[i].entry_count; k++)
			counts[set->files[i].entries[k].number]++;
	}
	for (unsigned i = 0; i < set->distinct_count; i++)
		printf("%u\n", counts[i]);
	free(counts);
	set_free(set);
	return 0;
}
