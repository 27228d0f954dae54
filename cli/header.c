// SPDX-License-Identifier: MIT
/*
 * The actions --header and --disk-usage: the header of each file in words, and what all files
 * together take. A line is left out where the file's header is too short for what it tells.
 */
#include <errno.h>
#include <locale.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#include "header.h"
#include "messages.h"
#include "stamp.h"

/* How long a header is that has ... */
#define HEADER_SIZE_COUNTS 224 /* numbers of data and field objects */
#define HEADER_SIZE_TAGS 232   /* ... of tags */
#define HEADER_SIZE_ARRAYS 240 /* ... of entry arrays */
#define HEADER_SIZE_FIELD_DEPTH 248
#define HEADER_SIZE_DATA_DEPTH 256
#define HEADER_SIZE_NEWEST 272 /* all that is known today */

#define HASH_ITEM_SIZE 16
#define DEPTH_MAX 100 /* of a hash chain: a writer rotates a file with longer ones */

/* The names of flags. */
struct header_flag {
	uint32_t bit;
	const char *name;
};

/* Prints a line of flags. */
static void header_print_flags(const char *title, uint32_t flags, const struct header_flag *names,
			       size_t count)
{
	fputs(title, stdout);
	for (size_t i = 0; i < count; i++) {
		if (flags & names[i].bit)
			printf(" %s", names[i].name);
		flags &= ~names[i].bit;
	}
	puts(flags ? " ???" : "");
}

/* Prints one ID. */
static void header_print_id(const char *title, const jscan_id *id)
{
	char text[JSCAN_ID_TEXT_SIZE];

	printf("%s: %s\n", title, jscan_id_format(id, text));
}

/* Prints a number. */
static void header_print_number(const char *title, uint64_t value)
{
	printf("%s: %llu\n", title, (unsigned long long)value);
}

/* Prints a realtime, or a dash. */
static void header_print_time(const char *title, uint64_t usec)
{
	char text[STAMP_SIZE];

	printf("%s: %s (%llx)\n", title, usec ? stamp_format(usec, text) : " --- ",
	       (unsigned long long)usec);
}

/* Prints how full a hash table is: the one number that journalctl writes as the locale does. */
static void header_print_fill(const char *title, uint64_t count, uint64_t table_bytes)
{
	setlocale(LC_NUMERIC, "");
	printf("%s: %.1f%%\n", title,
	       100.0 * (double)count / (double)(table_bytes / HASH_ITEM_SIZE));
	setlocale(LC_NUMERIC, "C");
}

/* Whether a table is more than three quarters full. */
static bool header_is_full(uint64_t count, uint64_t table_bytes)
{
	return count >
	       table_bytes / HASH_ITEM_SIZE / 4 * 3 + table_bytes / HASH_ITEM_SIZE % 4 * 3 / 4;
}

/* Whether a writer would begin a new file instead of appending to this one. */
static bool header_suggests_rotation(const struct jscan_file_info *f)
{
	if (f->header_bytes < HEADER_SIZE_NEWEST)
		return true;
	return header_is_full(f->n_data, f->data_hash_table_bytes) ||
	       header_is_full(f->n_fields, f->field_hash_table_bytes) ||
	       f->data_chain_depth > DEPTH_MAX || f->field_chain_depth > DEPTH_MAX ||
	       (f->n_data > 0 && f->n_fields == 0);
}

/* Prints the counters that longer headers have. */
static void header_print_counters(const struct jscan_file_info *f)
{
	if (f->header_bytes >= HEADER_SIZE_COUNTS) {
		header_print_number("Data objects", f->n_data);
		header_print_fill("Data hash table fill", f->n_data, f->data_hash_table_bytes);
		header_print_number("Field objects", f->n_fields);
		header_print_fill("Field hash table fill", f->n_fields, f->field_hash_table_bytes);
	}
	if (f->header_bytes >= HEADER_SIZE_TAGS)
		header_print_number("Tag objects", f->n_tags);
	if (f->header_bytes >= HEADER_SIZE_ARRAYS)
		header_print_number("Entry array objects", f->n_entry_arrays);
	if (f->header_bytes >= HEADER_SIZE_FIELD_DEPTH)
		header_print_number("Deepest field hash chain", f->field_chain_depth);
	if (f->header_bytes >= HEADER_SIZE_DATA_DEPTH)
		header_print_number("Deepest data hash chain", f->data_chain_depth);
}

/* Prints who and what a file is. */
static void header_print_names(const struct jscan_file_info *f)
{
	static const char *const states[] = { "OFFLINE", "ONLINE", "ARCHIVED" };
	static const struct header_flag compatible[] = { { 1, "SEALED" },
							 { 4, "SEALED_CONTINUOUS" },
							 { 2, "TAIL_ENTRY_BOOT_ID" } };
	static const struct header_flag incompatible[] = {
		{ 1, "COMPRESSED-XZ" }, { 2, "COMPRESSED-LZ4" }, { 8, "COMPRESSED-ZSTD" },
		{ 4, "KEYED-HASH" },    { 16, "COMPACT" },
	};

	printf("File path: %s\n", f->path);
	header_print_id("File ID", &f->file_id);
	header_print_id("Machine ID", &f->machine_id);
	header_print_id("Boot ID", &f->tail_boot_id);
	header_print_id("Sequential number ID", &f->seqnum_id);
	printf("State: %s\n", f->state < 3 ? states[f->state] : "UNKNOWN");
	header_print_flags("Compatible flags:", f->compatible_flags, compatible,
			   sizeof(compatible) / sizeof(compatible[0]));
	header_print_flags("Incompatible flags:", f->incompatible_flags, incompatible,
			   sizeof(incompatible) / sizeof(incompatible[0]));
}

/* A jscan_file_fn: prints one file's header. USERDATA says whether there was one before. */
static int header_print_file(void *userdata, const struct jscan_file_info *f)
{
	char text[STAMP_SIZE];
	bool *begun = userdata;

	if (*begun)
		putchar('\n');
	*begun = true;
	header_print_names(f);
	header_print_number("Header size", f->header_bytes);
	header_print_number("Arena size", f->arena_bytes);
	header_print_number("Data hash table size", f->data_hash_table_bytes / HASH_ITEM_SIZE);
	header_print_number("Field hash table size", f->field_hash_table_bytes / HASH_ITEM_SIZE);
	printf("Rotate suggested: %s\n", header_suggests_rotation(f) ? "yes" : "no");
	printf("Head sequential number: %llu (%llx)\n", (unsigned long long)f->head_seqnum,
	       (unsigned long long)f->head_seqnum);
	printf("Tail sequential number: %llu (%llx)\n", (unsigned long long)f->tail_seqnum,
	       (unsigned long long)f->tail_seqnum);
	header_print_time("Head realtime timestamp", f->head_realtime_usec);
	header_print_time("Tail realtime timestamp", f->tail_realtime_usec);
	printf("Tail monotonic timestamp: %s (%llx)\n", span_format(f->tail_monotonic_usec, text),
	       (unsigned long long)f->tail_monotonic_usec);
	header_print_number("Objects", f->n_objects);
	header_print_number("Entry objects", f->n_entries);
	header_print_counters(f);
	printf("Disk usage: %s\n", size_format(f->disk_bytes, text));
	return 0;
}

int header_print(struct archive *archive)
{
	bool begun = false;
	int r = jscan_list_files(archive->engine, header_print_file, &begun);

	return r < 0 ? message_error("Failed to list files: %s", strerror(-r)) : 0;
}

/* A jscan_file_fn: adds up what files take. */
static int header_add_disk_usage(void *userdata, const struct jscan_file_info *f)
{
	uint64_t *bytes = userdata;

	*bytes += f->disk_bytes;
	return 0;
}

int header_print_disk_usage(struct archive *archive)
{
	char text[STAMP_SIZE];
	uint64_t bytes = 0;
	int r = jscan_list_files(archive->engine, header_add_disk_usage, &bytes);

	if (r < 0)
		return message_error("Failed to list files: %s", strerror(-r));
	printf("Archived and active journals take up %s in the file system.\n",
	       size_format(bytes, text));
	return 0;
}
