// SPDX-License-Identifier: MIT
/*
 * Tables: rows of cells, as columns of text or as JSON.
 *
 * In text every column is as wide as its widest cell, the heading included, and nothing stands
 * behind the last cell of a line. JSON is one array of objects, in journalctl's framing for each of
 * its modes.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "look.h"
#include "pager.h"
#include "stamp.h"
#include "table.h"

/* Colours of JSON. */
#define TABLE_GREEN "\033[0;32m"
#define TABLE_BLUE "\033[0;1;34m"
#define TABLE_WHITE "\033[0;1;39m"
#define TABLE_NORMAL "\033[0m"

void table_init(struct table *table, const struct table_column *columns, size_t count)
{
	*table = (struct table){ .columns = columns, .column_count = count };
}

int table_add(struct table *table, const char *text, int64_t number)
{
	const struct table_column *column =
		&table->columns[table->cell_count % table->column_count];
	char formatted[STAMP_SIZE];
	struct table_cell cell = { .number = number };

	if (!text && column->is_time)
		text = stamp_format((uint64_t)number, formatted);
	if (!text) {
		snprintf(formatted, sizeof(formatted), "%lld", (long long)number);
		text = formatted;
	}
	if (table->cell_count == table->capacity) {
		size_t capacity = table->capacity ? table->capacity * 2 : 64;
		struct table_cell *grown = reallocarray(table->cells, capacity, sizeof(*grown));

		if (!grown)
			return -ENOMEM;
		table->cells = grown;
		table->capacity = capacity;
	}
	cell.text = strdup(text);
	if (!cell.text)
		return -ENOMEM;
	table->cells[table->cell_count++] = cell;
	return 0;
}

int table_add_none(struct table *table)
{
	int r = table_add(table, "-", 0);

	if (r >= 0)
		table->cells[table->cell_count - 1].none = true;
	return r;
}

bool table_is_json(const struct settings *settings)
{
	return settings->mode == JSCAN_MODE_JSON || settings->mode == JSCAN_MODE_JSON_PRETTY ||
	       settings->mode == JSCAN_MODE_JSON_SSE || settings->mode == JSCAN_MODE_JSON_SEQ ||
	       settings->mode == JSCAN_MODE_JSON_STABLE;
}

/* The last column that text shows. */
static size_t table_last_shown(const struct table *table)
{
	size_t last = table->column_count - 1;

	while (last > 0 && table->columns[last].json_only)
		last--;
	return last;
}

/* Prints one line of cells; TEXTS has one for each column. */
static void table_print_line(const struct table *table, const char *const *texts,
			     const size_t *widths)
{
	for (size_t i = 0; i < table->column_count; i++) {
		const struct table_column *column = &table->columns[i];
		bool last = i == table_last_shown(table);

		if (column->json_only)
			continue;
		if (i > 0)
			putchar(' ');
		if (column->is_number && !column->is_time)
			printf("%*s", (int)widths[i], texts[i]);
		else
			printf("%-*s", last ? 0 : (int)widths[i], texts[i]);
	}
	putchar('\n');
}

/* Prints the heading underlined: each cell in the full width of its column, and each separator. */
static void table_print_underlined(const struct table *table, const size_t *widths)
{
	for (size_t i = 0; i < table->column_count; i++) {
		const struct table_column *column = &table->columns[i];
		bool right = column->is_number && !column->is_time;

		if (column->json_only)
			continue;
		if (i > 0)
			fputs("\033[4m \033[0m", stdout);
		printf(right ? "\033[4m%*s\033[0m" : "\033[4m%-*s\033[0m", (int)widths[i],
		       column->heading);
	}
	putchar('\n');
}

/* Prints the table as text. */
static void table_print_text(const struct table *table, bool heading)
{
	const char *texts[TABLE_COLUMNS_MAX];
	size_t widths[TABLE_COLUMNS_MAX] = { 0 };
	struct look look;

	for (size_t i = 0; i < table->column_count; i++) {
		texts[i] = table->columns[i].heading;
		widths[i] = heading ? strlen(texts[i]) : 0;
	}
	for (size_t i = 0; i < table->cell_count; i++) {
		size_t width = strlen(table->cells[i].text), column = i % table->column_count;

		widths[column] = width > widths[column] ? width : widths[column];
	}
	look_init(&look);
	if (heading && look.colours != JSCAN_COLOURS_NONE && look.underline)
		table_print_underlined(table, widths);
	else if (heading)
		table_print_line(table, texts, widths);
	for (size_t i = 0; i < table->cell_count; i++) {
		size_t column = i % table->column_count;

		texts[column] = table->cells[i].text;
		if (column + 1 == table->column_count)
			table_print_line(table, texts, widths);
	}
}

/* Prints a string of JSON. What can stand here has no other characters to escape. */
static void table_print_string(const char *text, bool coloured)
{
	putchar('"');
	fputs(coloured ? TABLE_GREEN : "", stdout);
	for (; *text; text++)
		if (*text == '"' || *text == '\\')
			printf("\\%c", *text);
		else if ((unsigned char)*text < ' ')
			printf("\\u%04x", *text);
		else
			putchar(*text);
	fputs(coloured ? TABLE_NORMAL : "", stdout);
	putchar('"');
}

/* Prints the table as an array of objects; PRETTY: a member on each line. */
static void table_print_json(const struct table *table, bool pretty)
{
	struct look look;
	bool coloured;

	look_init(&look);
	coloured = look.colours != JSCAN_COLOURS_NONE;
	putchar('[');
	for (size_t i = 0; i < table->cell_count; i++) {
		size_t at = i % table->column_count;
		const struct table_column *column = &table->columns[at];

		if (at == 0)
			fputs(pretty ? (i ? ",\n\t{\n" : "\n\t{\n") : (i ? ",{" : "{"), stdout);
		else
			fputs(pretty ? ",\n" : ",", stdout);
		fputs(pretty ? "\t\t" : "", stdout);
		table_print_string(column->key, coloured);
		fputs(pretty ? " : " : ":", stdout);
		if (table->cells[i].none)
			fputs(coloured ? TABLE_WHITE "null" TABLE_NORMAL : "null", stdout);
		else if (column->is_number)
			printf("%s%lld%s", coloured ? TABLE_BLUE : "",
			       (long long)table->cells[i].number, coloured ? TABLE_NORMAL : "");
		else
			table_print_string(table->cells[i].text, coloured);
		if (at + 1 == table->column_count)
			fputs(pretty ? "\n\t}" : "}", stdout);
	}
	fputs(pretty && table->cell_count > 0 ? "\n]" : "]", stdout);
}

void table_print(const struct table *table, const struct settings *settings)
{
	pager_open(settings);
	switch (settings->mode) {
	case JSCAN_MODE_JSON:
	case JSCAN_MODE_JSON_STABLE:
		table_print_json(table, false);
		putchar('\n');
		break;
	case JSCAN_MODE_JSON_PRETTY:
		table_print_json(table, true);
		putchar('\n');
		break;
	case JSCAN_MODE_JSON_SSE:
		fputs("data: ", stdout);
		table_print_json(table, false);
		fputs("\n\n", stdout);
		break;
	case JSCAN_MODE_JSON_SEQ:
		putchar('\x1e');
		table_print_json(table, false);
		putchar('\n');
		break;
	default:
		table_print_text(table, !settings->quiet);
	}
}

void table_done(struct table *table)
{
	for (size_t i = 0; i < table->cell_count; i++)
		free(table->cells[i].text);
	free(table->cells);
	*table = (struct table){ 0 };
}
