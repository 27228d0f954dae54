// SPDX-License-Identifier: MIT
/*
 * --gaps: what an archive lacks, as a table with a row for each finding.
 *
 * The library finds it. Here findings are chosen by boot and time, put into words, and shown as
 * --list-boots shows boots. Names of files come from whoever filled the archive, so what a terminal
 * or a JSON reader cannot bear in them is written as \xNN.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "boots.h"
#include "gaps.h"
#include "messages.h"
#include "show.h"
#include "shown.h"
#include "stamp.h"
#include "table.h"
#include "values.h"

/* The kinds by name, as they are asked for and shown. */
static const struct {
	const char *name;
	uint32_t kind;
} gaps_kinds[] = {
	{ "missing", JSCAN_GAPS_MISSING },
	{ "clock-step", JSCAN_GAPS_CLOCK_STEP },
	{ "not-closed", JSCAN_GAPS_NOT_CLOSED },
	{ "header", JSCAN_GAPS_HEADER },
};

static const struct table_column gaps_columns[] = {
	{ "KIND", "kind", false, false, false },
	{ "COUNT", "count", true, false, false },
	{ "FIRST", "first_seqnum", true, false, false },
	{ "LAST", "last_seqnum", true, false, false },
	{ "BEFORE", "before", true, true, false },
	{ "AFTER", "after", true, true, false },
	{ "STEP", "step", true, false, false },
	{ "SEQNUM ID", "seqnum_id", false, false, true },
	{ "BOOT ID", "boot_id", false, false, false },
	{ "FILE", "file", false, false, false },
	{ "OFFSET", "offset", true, false, true },
};

/* A finding that is kept. */
struct gaps_row {
	struct jscan_gap gap;
	char *path; /* as it is shown */
};

struct gaps_rows {
	const struct settings *settings;
	bool has_boot;
	jscan_id boot;
	struct gaps_row *rows;
	size_t count, capacity;
};

int gaps_parse_kinds(const char *text, uint32_t *ret_kinds)
{
	uint32_t kinds = 0;
	char **items = NULL;
	size_t count = 0, i;
	int r = text ? list_add_items(&items, &count, text) : 0;

	for (size_t at = 0; at < count && r >= 0; at++) {
		for (i = 0; i < sizeof(gaps_kinds) / sizeof(gaps_kinds[0]); i++)
			if (strcmp(items[at], gaps_kinds[i].name) == 0)
				break;
		if (i == sizeof(gaps_kinds) / sizeof(gaps_kinds[0]))
			r = -EINVAL;
		else
			kinds |= gaps_kinds[i].kind;
	}
	list_free(items);
	if (r >= 0 && text && !kinds)
		r = -EINVAL;
	if (r >= 0)
		*ret_kinds = kinds;
	return r < 0 ? r : 0;
}

/* Whether a finding is within the boot and the times that were asked for. */
static bool gaps_is_wanted(const struct gaps_rows *rows, const struct jscan_gap *gap)
{
	const struct settings *settings = rows->settings;

	if (rows->has_boot && memcmp(&gap->boot_id, &rows->boot, sizeof(jscan_id)) != 0 &&
	    memcmp(&gap->previous_boot_id, &rows->boot, sizeof(jscan_id)) != 0)
		return false;
	/* Realtime may go back between the two: the finding spans what lies between. */
	return (gap->after_usec >= settings->since_usec ||
		gap->before_usec >= settings->since_usec) &&
	       (gap->before_usec <= settings->until_usec ||
		gap->after_usec <= settings->until_usec);
}

/* A jscan_gap_fn: keeps a finding. */
static int gaps_keep(void *userdata, const struct jscan_gap *gap)
{
	struct gaps_rows *rows = userdata;
	struct gaps_row row = { .gap = *gap };

	if (!gaps_is_wanted(rows, gap))
		return 0;
	if (rows->count == rows->capacity) {
		size_t capacity = rows->capacity ? rows->capacity * 2 : 64;
		struct gaps_row *grown = reallocarray(rows->rows, capacity, sizeof(*grown));

		if (!grown)
			return -ENOMEM;
		rows->rows = grown;
		rows->capacity = capacity;
	}
	row.path = shown_text(gap->path, strlen(gap->path));
	if (!row.path)
		return -ENOMEM;
	rows->rows[rows->count++] = row;
	return 0;
}

/* Adds an ID to the table, if there is one. */
static int gaps_add_id(struct table *table, const jscan_id *id)
{
	static const jscan_id null;
	char text[JSCAN_ID_TEXT_SIZE];

	if (memcmp(id, &null, sizeof(null)) == 0)
		return table_add_none(table);
	return table_add(table, jscan_id_format(id, text), 0);
}

/* Adds a number to the table, if it applies. */
static int gaps_add_number(struct table *table, bool applies, uint64_t number)
{
	return applies ? table_add(table, NULL, (int64_t)number) : table_add_none(table);
}

/* Adds a row to the table. */
static int gaps_add_row(struct table *table, const struct gaps_row *row)
{
	const struct jscan_gap *gap = &row->gap;
	char step[STAMP_SIZE], text[STAMP_SIZE + 1];
	bool is_step = gap->kind == JSCAN_GAPS_CLOCK_STEP;
	uint64_t size = gap->step_usec < 0 ? -(uint64_t)gap->step_usec : (uint64_t)gap->step_usec;
	const char *name = "?";
	int r;

	for (size_t i = 0; i < sizeof(gaps_kinds) / sizeof(gaps_kinds[0]); i++)
		if (gaps_kinds[i].kind == gap->kind)
			name = gaps_kinds[i].name;
	snprintf(text, sizeof(text), "%c%s", gap->step_usec < 0 ? '-' : '+',
		 span_format(size, step));
	r = table_add(table, name, 0);
	r = r < 0 ? r : gaps_add_number(table, !is_step, gap->count);
	r = r < 0 ? r : gaps_add_number(table, gap->last_seqnum > 0, gap->first_seqnum);
	r = r < 0 ? r : gaps_add_number(table, gap->last_seqnum > 0, gap->last_seqnum);
	r = r < 0 ? r : gaps_add_number(table, gap->before_usec > 0, gap->before_usec);
	r = r < 0 ? r : gaps_add_number(table, gap->after_usec > 0, gap->after_usec);
	if (r >= 0)
		r = is_step ? table_add(table, text, gap->step_usec) : table_add_none(table);
	r = r < 0 ? r : gaps_add_id(table, &gap->seqnum_id);
	r = r < 0 ? r : gaps_add_id(table, &gap->boot_id);
	r = r < 0 ? r : table_add(table, row->path, 0);
	return r < 0 ? r : gaps_add_number(table, gap->offset > 0, gap->offset);
}

/* Prints the rows, as --lines and --reverse ask for it. */
static int gaps_print(const struct gaps_rows *rows)
{
	const struct settings *settings = rows->settings;
	size_t count = rows->count, from = 0;
	struct table table;
	int r = 0;

	if (settings->lines < count) {
		count = (size_t)settings->lines;
		from = settings->lines_first ? 0 : rows->count - count;
	}
	table_init(&table, gaps_columns, sizeof(gaps_columns) / sizeof(gaps_columns[0]));
	for (size_t i = 0; i < count && r >= 0; i++)
		r = gaps_add_row(&table, &rows->rows[from + (settings->seen[OPTION_REVERSE] ?
								     count - 1 - i : i)]);
	/* A heading alone is of no use, but an empty array is JSON. */
	if (r >= 0 && (count > 0 || table_is_json(settings)))
		table_print(&table, settings);
	table_done(&table);
	return r;
}

int gaps_list(struct archive *archive, bool *ret_stopped)
{
	struct gaps_rows rows = { .settings = archive->settings };
	struct jscan_gaps_options options = JSCAN_GAPS_OPTIONS_INIT;
	int r = 0;

	if (archive->settings->boot_filter) {
		r = boots_find(archive, &rows.boot);
		if (r < 0)
			return r;
		rows.has_boot = r > 0;
	}
	options.kinds = archive->settings->gap_kinds;
	show_running = archive->engine;
	r = jscan_list_gaps(archive->engine, &options, gaps_keep, &rows);
	show_running = NULL;
	*ret_stopped = r > 0;
	if (r >= 0)
		r = gaps_print(&rows);
	if (r == -ENOMEM)
		message_memory();
	else if (r < 0)
		message_error("Failed to look for gaps: %s", strerror(-r));
	else if (rows.count == 0 && !*ret_stopped && !archive->settings->quiet)
		message_notice("No gaps found.");
	for (size_t i = 0; i < rows.count; i++)
		free(rows.rows[i].path);
	free(rows.rows);
	return r;
}
