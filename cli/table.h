/* SPDX-License-Identifier: MIT */
/* Tables: rows of cells, as columns of text or as JSON. */
#ifndef CLI_TABLE_H
#define CLI_TABLE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "settings.h"

#define TABLE_COLUMNS_MAX 12

struct table_column {
	const char *heading;
	const char *key; /* in JSON */
	bool is_number;  /* in JSON; in text such a column without times is aligned to the right */
	bool is_time;    /* microseconds: text shows a date */
	bool json_only;  /* text leaves it out */
};

struct table_cell {
	char *text;
	int64_t number; /* of a column that is one */
	bool none;      /* JSON has null */
};

struct table {
	const struct table_column *columns;
	size_t column_count;
	struct table_cell *cells; /* row by row */
	size_t cell_count, capacity;
};

/* Makes an empty table. COLUMNS is borrowed. */
void table_init(struct table *table, const struct table_column *columns, size_t count);
/* Adds the next cell: TEXT, or NULL in a column of numbers. -ENOMEM. */
int table_add(struct table *table, const char *text, int64_t number);
/* Adds a cell that says nothing. -ENOMEM. */
int table_add_none(struct table *table);
/* Whether tables are printed as JSON. */
bool table_is_json(const struct settings *settings);
/* Prints it in the form that SETTINGS ask for. */
void table_print(const struct table *table, const struct settings *settings);
void table_done(struct table *table);

#endif
