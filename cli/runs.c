// SPDX-License-Identifier: MIT
/*
 * Runs: boots of a machine and invocations of a unit. Both are lists of IDs with two ends, chosen
 * by the same descriptors and shown in the same table; how they are found is in boots.c and
 * invocations.c. One list serves for choosing and for showing, so that the two agree.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "runs.h"
#include "table.h"

int runs_add(struct runs *runs, const struct run *run)
{
	if (runs->count == runs->capacity) {
		size_t capacity = runs->capacity ? runs->capacity * 2 : 64;
		struct run *grown = reallocarray(runs->rows, capacity, sizeof(*grown));

		if (!grown)
			return -ENOMEM;
		runs->rows = grown;
		runs->capacity = capacity;
	}
	runs->rows[runs->count++] = *run;
	return 0;
}

void runs_done(struct runs *runs)
{
	free(runs->rows);
	*runs = (struct runs){ 0 };
}

/* By rank; for qsort(). */
static int runs_compare_first(const void *a, const void *b)
{
	const struct run *x = a, *y = b;

	return x->first_rank < y->first_rank ? -1 : x->first_rank > y->first_rank;
}

/* Puts the runs in the order of their first entries. */
static void runs_sort_by_first(struct runs *runs)
{
	if (runs->count > 0)
		qsort(runs->rows, runs->count, sizeof(*runs->rows), runs_compare_first);
}

const struct run *runs_find(struct runs *runs, const struct descriptor *descriptor)
{
	/* Without an ID, 0 is the latest and 1 the first. */
	int64_t at = descriptor->offset > 0 ? -1 : (int64_t)runs->count - 1;

	if (descriptor->offset > 0)
		runs_sort_by_first(runs);
	if (descriptor->has_id) {
		for (at = 0; at < (int64_t)runs->count; at++)
			if (memcmp(&runs->rows[at].id, &descriptor->id, sizeof(jscan_id)) == 0)
				break;
		if (at == (int64_t)runs->count)
			return NULL;
	}
	at += descriptor->offset;
	return at < 0 || at >= (int64_t)runs->count ? NULL : &runs->rows[at];
}

char *descriptor_format(const struct descriptor *descriptor, char *text)
{
	char id[JSCAN_ID_TEXT_SIZE] = "";

	if (descriptor->has_id)
		jscan_id_format(&descriptor->id, id);
	snprintf(text, DESCRIPTOR_TEXT_SIZE, "%s%+i", id, descriptor->offset);
	return text;
}

/* Adds one row: its number, the ID, the ends. */
static int runs_add_row(struct table *table, const struct run *run, int64_t number)
{
	char id[JSCAN_ID_TEXT_SIZE];
	int r = table_add(table, NULL, number);

	if (r >= 0)
		r = table_add(table, jscan_id_format(&run->id, id), 0);
	if (r >= 0)
		r = table_add(table, NULL, (int64_t)run->first_usec);
	return r < 0 ? r : table_add(table, NULL, (int64_t)run->last_usec);
}

int runs_print(struct runs *runs, const struct settings *settings, const char *heading,
	       const char *key)
{
	const struct table_column columns[] = {
		{ "IDX", "index", true, false },
		{ heading, key, false, false },
		{ "FIRST ENTRY", "first_entry", true, true },
		{ "LAST ENTRY", "last_entry", true, true },
	};
	size_t count = runs->count, from = 0;
	struct table table;
	int r = 0;

	if (settings->lines < count) {
		count = (size_t)settings->lines;
		from = settings->lines_first ? 0 : runs->count - count;
	}
	if (count == 0)
		return 0;
	if (settings->lines_first)
		runs_sort_by_first(runs);
	table_init(&table, columns, sizeof(columns) / sizeof(columns[0]));
	for (size_t i = 0; i < count && r >= 0; i++) {
		size_t at = from + (settings->seen[OPTION_REVERSE] ? count - 1 - i : i);
		int64_t number = settings->lines_first ? (int64_t)at + 1
						       : (int64_t)at - (int64_t)runs->count + 1;

		r = runs_add_row(&table, &runs->rows[at], number);
	}
	if (r >= 0)
		table_print(&table, settings);
	table_done(&table);
	return r < 0 ? r : 1;
}
