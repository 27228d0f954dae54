/* SPDX-License-Identifier: MIT */
/* Writes the sample archive into a folder: make-sample tests/data/sample */
#include <stdio.h>

#include "tests/support/sample.h"

int main(int argc, char **argv)
{
	struct sample_file files[SAMPLE_FILES];
	char path[4096];

	if (argc != 2) {
		fprintf(stderr, "usage: %s FOLDER\n", argv[0]);
		return 2;
	}
	if (!fixture_can_compress(OBJECT_XZ)) {
		fprintf(stderr, "%s: built without XZ, which one of the files needs\n", argv[0]);
		return 1;
	}
	sample_make(files);
	for (unsigned i = 0; i < SAMPLE_FILES; i++) {
		snprintf(path, sizeof(path), "%s/%s", argv[1], files[i].name);
		fixture_write(files[i].fx, path);
		printf("%s: %zu bytes, %zu entries\n", path, fixture_size(files[i].fx),
		       fixture_count_objects(files[i].fx, OBJECT_ENTRY));
	}
	sample_done(files);
	return 0;
}
