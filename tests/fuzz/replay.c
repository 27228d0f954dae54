/* SPDX-License-Identifier: MIT */
/*
 * A fuzz target without a fuzzer: runs it on every file of the folders given, and on a number of
 * variants of each that follow from the file's place and a counter alone. So what fuzzing found
 * once, and the lies that a seed leads to, are tested with every build and by any compiler.
 *
 *	fuzz-objects [--variants=N] FOLDER...
 *
 * What fails is printed as it fails; --only=FILE:N runs one variant of one file again.
 */
#include <dirent.h>
#include <signal.h>
#include <string.h>

#include "tests/fuzz/fuzz.h"

#define INPUT_SIZE_MAX (1u << 20)

/* The variant that is being run: a target aborts, so it is named beforehand. */
static char replay_now[4352];

/* Reads a file. The memory is the caller's. */
static uint8_t *replay_load(const char *path, size_t *ret_size)
{
	uint8_t *bytes = malloc(INPUT_SIZE_MAX);
	FILE *f = fopen(path, "rb");

	if (!bytes || !f) {
		perror(path);
		exit(1);
	}
	*ret_size = fread(bytes, 1, INPUT_SIZE_MAX, f);
	fclose(f);
	return bytes;
}

/* Runs variant N of an input, 0 being the input itself. The target gets memory of its own, no
 * larger than it should be. */
static void replay_variant(const char *path, const uint8_t *bytes, size_t size, unsigned n)
{
	uint8_t *copy = malloc(size ? size : 1);

	if (!copy)
		exit(1);
	memcpy(copy, bytes, size);
	if (n > 0 && size > 0)
		fuzz_mutate(copy, size, n);
	snprintf(replay_now, sizeof(replay_now), "%s:%u", path, n);
	LLVMFuzzerTestOneInput(copy, size);
	free(copy);
}

/* Runs a file and its variants. */
static void replay_file(const char *path, unsigned variants)
{
	size_t size;
	uint8_t *bytes = replay_load(path, &size);

	for (unsigned n = 0; n <= variants; n++)
		replay_variant(path, bytes, size, n);
	free(bytes);
}

/* Runs all files of a folder. Returns how many. */
static unsigned replay_folder(const char *folder, unsigned variants)
{
	unsigned count = 0;
	struct dirent *e;
	char path[4096];
	DIR *d = opendir(folder);

	if (!d) {
		perror(folder);
		exit(1);
	}
	while ((e = readdir(d))) {
		if (e->d_name[0] == '.')
			continue;
		snprintf(path, sizeof(path), "%s/%s", folder, e->d_name);
		replay_file(path, variants);
		count++;
	}
	closedir(d);
	return count;
}

/* Says which variant it was. */
static void replay_on_abort(int signal_number)
{
	(void)signal_number;
	fprintf(stderr, "failed on %s\n", replay_now);
}

int main(int argc, char **argv)
{
	unsigned variants = 0, count = 0;

	signal(SIGABRT, replay_on_abort);
	for (int i = 1; i < argc; i++) {
		if (strncmp(argv[i], "--variants=", 11) == 0) {
			variants = (unsigned)strtoul(argv[i] + 11, NULL, 10);
		} else if (strncmp(argv[i], "--only=", 7) == 0) {
			char *colon = strrchr(argv[i], ':');
			size_t size;
			uint8_t *bytes;

			if (!colon)
				return 2;
			*colon = 0;
			bytes = replay_load(argv[i] + 7, &size);
			replay_variant(argv[i] + 7, bytes, size,
				       (unsigned)strtoul(colon + 1, NULL, 10));
			free(bytes);
			count++;
		} else {
			count += replay_folder(argv[i], variants);
		}
	}
	printf("%u inputs, %u variants of each\n", count, variants);
	/* A corpus that is not there tests nothing. */
	return count > 0 ? 0 : 1;
}
