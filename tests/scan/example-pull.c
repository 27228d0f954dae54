/* SPDX-License-Identifier: MIT */
/*
 * Prints the last messages of a program, newest first: entries are pulled one by one.
 *
 *	example-pull DIRECTORY PROGRAM
 */
#include <jscan.h>
#include <stdio.h>
#include <string.h>

/* Prints an entry's message. Values are not NUL-terminated, and a large one is read in pieces. */
static void print_message(const struct jscan_entry *entry)
{
	const struct jscan_entry_info *info = jscan_entry_info(entry);
	struct jscan_field field = { .size = sizeof(field) };
	char piece[4096];
	uint64_t at = 0;
	ssize_t n;

	printf("%llu.%06llu ", (unsigned long long)info->realtime_usec / 1000000,
	       (unsigned long long)info->realtime_usec % 1000000);
	if (jscan_entry_field(entry, "MESSAGE", &field) == 1) {
		while ((n = jscan_field_read(entry, &field, at, piece, sizeof(piece))) > 0) {
			fwrite(piece, 1, (size_t)n, stdout);
			at += (uint64_t)n;
		}
	}
	putchar('\n');
}

int main(int argc, char **argv)
{
	const struct jscan_entry *entry;
	struct jscan *engine;
	char match[200];
	int r, size;

	if (argc != 3)
		return 2;
	size = snprintf(match, sizeof(match), "_COMM=%s", argv[2]);
	if (size < 0 || (size_t)size >= sizeof(match))
		return 2;
	r = jscan_new(NULL, &engine);
	if (r < 0)
		goto fail;
	r = jscan_add_directory(engine, argv[1], 0);
	if (r == 0)
		r = jscan_match(engine, match, (size_t)size);
	if (r == 0)
		r = jscan_set_direction(engine, JSCAN_BACKWARD);
	if (r == 0)
		r = jscan_set_limit(engine, 5);
	while (r >= 0 && (r = jscan_next(engine, &entry)) == 1)
		print_message(entry);
	jscan_free(engine);
	if (r == 0)
		return 0;
fail:
	fprintf(stderr, "%s: %s\n", argv[1], strerror(-r));
	return 1;
}
