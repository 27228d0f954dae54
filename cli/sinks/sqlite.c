// SPDX-License-Identifier: MIT
/*
 * A sink that keeps entries in an SQLite database: sqlite:FILE. The schema is below, and in
 * jscan-sqlite(5).
 *
 * The format slot, on any thread, writes an entry down as it is; the write slot inserts it.
 * Entries, their fields, and the checkpoints of the sources are committed together, so that a
 * database holds whole entries only, whenever the process ends. What is there already is passed
 * over: reading the same journals again leaves each entry once.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "sqlite.h"

#define SINK_SCHEMA_VERSION 1
#define SINK_APPLICATION_ID 0x6a73636e /* "jscn" */
#define SINK_BATCH_ENTRIES 20000u      /* in one transaction at most */
#define SINK_TEXT_(x) #x
#define SINK_TEXT(x) SINK_TEXT_(x)

static const char sqlite_schema[] =
	"PRAGMA application_id = " SINK_TEXT(SINK_APPLICATION_ID) ";"
	"PRAGMA user_version = " SINK_TEXT(SINK_SCHEMA_VERSION) ";"
	"CREATE TABLE source (id INTEGER PRIMARY KEY, seqnum_id TEXT NOT NULL UNIQUE);"
	"CREATE TABLE boot (id INTEGER PRIMARY KEY, boot_id TEXT NOT NULL UNIQUE);"
	"CREATE TABLE name (id INTEGER PRIMARY KEY, name NOT NULL UNIQUE);"
	"CREATE TABLE entry (id INTEGER PRIMARY KEY,"
	" source INTEGER NOT NULL REFERENCES source, seqnum INTEGER NOT NULL,"
	" realtime INTEGER NOT NULL, monotonic INTEGER NOT NULL,"
	" boot INTEGER NOT NULL REFERENCES boot, hash INTEGER NOT NULL, unit, context INTEGER);"
	"CREATE UNIQUE INDEX entry_identity ON entry (source, seqnum, realtime, hash);"
	"CREATE INDEX entry_realtime ON entry (realtime);"
	"CREATE INDEX entry_unit ON entry (unit, realtime);"
	"CREATE TABLE field (entry INTEGER NOT NULL REFERENCES entry, position INTEGER NOT NULL,"
	" name INTEGER NOT NULL REFERENCES name, value NOT NULL,"
	" PRIMARY KEY (entry, position)) WITHOUT ROWID;"
	"CREATE TABLE context_field (context INTEGER NOT NULL, position INTEGER NOT NULL,"
	" name INTEGER NOT NULL REFERENCES name, value NOT NULL,"
	" PRIMARY KEY (context, position)) WITHOUT ROWID;"
	"CREATE TABLE checkpoint (source INTEGER PRIMARY KEY REFERENCES source,"
	" position INTEGER NOT NULL, cursor TEXT NOT NULL);"
	"CREATE VIEW entry_field AS SELECT field.entry, field.position, name.name, field.value"
	" FROM field JOIN name ON name.id = field.name UNION ALL"
	" SELECT entry.id, context_field.position, name.name, context_field.value FROM entry"
	" JOIN context_field ON context_field.context = entry.context"
	" JOIN name ON name.id = context_field.name;";

static const char *const sqlite_statements[STATEMENT_COUNT] = {
	[STATEMENT_ENTRY] = "INSERT OR IGNORE INTO entry"
			    " (source, seqnum, realtime, monotonic, boot, hash, unit, context)"
			    " VALUES (?, ?, ?, ?, ?, ?, ?, ?)",
	[STATEMENT_FIELD] = "INSERT INTO field (entry, position, name, value) VALUES (?, ?, ?, ?)",
	[STATEMENT_CONTEXT_FIELD] = "INSERT INTO context_field (context, position, name, value)"
				    " VALUES (?, ?, ?, ?)",
	[STATEMENT_LAST_CONTEXT] = "SELECT coalesce(max(context), 0) FROM context_field",
	[STATEMENT_CHECKPOINT] = "INSERT INTO checkpoint (source, position, cursor) VALUES (?,"
				 " 1 + (SELECT coalesce(max(position), 0) FROM checkpoint), ?)"
				 " ON CONFLICT (source) DO UPDATE SET position = excluded.position,"
				 " cursor = excluded.cursor",
	[STATEMENT_BEGIN] = "BEGIN IMMEDIATE",
	[STATEMENT_COMMIT] = "COMMIT",
	[STATEMENT_ADD_SOURCE] = "INSERT OR IGNORE INTO source (seqnum_id) VALUES (?)",
	[STATEMENT_FIND_SOURCE] = "SELECT id FROM source WHERE seqnum_id = ?",
	[STATEMENT_ADD_BOOT] = "INSERT OR IGNORE INTO boot (boot_id) VALUES (?)",
	[STATEMENT_FIND_BOOT] = "SELECT id FROM boot WHERE boot_id = ?",
	[STATEMENT_ADD_NAME] = "INSERT OR IGNORE INTO name (name) VALUES (?)",
	[STATEMENT_FIND_NAME] = "SELECT id FROM name WHERE name = ?",
};

/* ---- formatting, on any thread ----------------------------------------------------------- */

/* Appends a value that does not come whole. */
static int sqlite_append_large(const struct jscan_entry *entry, const struct jscan_field *field,
			       struct jscan_buffer *buffer)
{
	char piece[4096];

	for (uint64_t offset = 0; offset < field->value_size;) {
		ssize_t size = jscan_field_read(entry, field, offset, piece, sizeof(piece));
		int r = size > 0 ? jscan_buffer_append(buffer, piece, (size_t)size) : -EIO;

		if (size < 0 || r < 0)
			return size < 0 ? (int)size : r;
		offset += (uint64_t)size;
	}
	return 0;
}

/* sink: format. */
static int sqlite_format(const void *userdata, const struct jscan_entry *entry,
			 const struct jscan_entry_context *context, struct jscan_buffer *buffer)
{
	const struct jscan_entry_info *info = jscan_entry_info(entry);
	struct jscan_field field = { .size = sizeof(field) };
	struct sqlite_head head = {
		.seqnum = info->seqnum,
		.realtime = info->realtime_usec,
		.monotonic = info->monotonic_usec,
		.hash = info->hash,
		.seqnum_id = info->seqnum_id,
		.boot_id = info->boot_id,
	};
	size_t state = 0;
	int r;

	(void)userdata;
	(void)context;
	while (jscan_entry_next_field(entry, &state, &field) > 0)
		head.field_count++;
	r = jscan_buffer_append(buffer, &head, sizeof(head));
	for (state = 0; r == 0 && jscan_entry_next_field(entry, &state, &field) > 0;) {
		const struct sqlite_field_head sizes = { field.name_size, field.value_size };

		r = jscan_buffer_append(buffer, &sizes, sizeof(sizes));
		if (r == 0)
			r = jscan_buffer_append(buffer, field.name, field.name_size);
		if (r == 0)
			r = field.value ?
				    jscan_buffer_append(buffer, field.value, field.value_size) :
				    sqlite_append_large(entry, &field, buffer);
	}
	return r;
}

/* ---- transactions ------------------------------------------------------------------------ */

/* Commits what there is. sink: flush, end. */
static int sqlite_commit(void *userdata)
{
	struct sqlite_sink *s = userdata;
	int r;

	if (!s->open)
		return 0;
	r = sqlite_checkpoint(s);
	if (r == 0)
		r = sqlite_run(s->statements[STATEMENT_COMMIT]);
	if (r < 0)
		return r;
	s->open = false;
	s->pending = 0;
	return 0;
}

/* Begins a transaction, unless one is open. */
static int sqlite_begin(struct sqlite_sink *s)
{
	sqlite3_stmt *last = s->statements[STATEMENT_LAST_CONTEXT];
	int r;

	if (s->open)
		return 0;
	r = sqlite_run(s->statements[STATEMENT_BEGIN]);
	if (r < 0)
		return r;
	s->open = true;
	if (sqlite3_step(last) == SQLITE_ROW)
		s->context_last = sqlite3_column_int64(last, 0);
	return sqlite_error(sqlite3_reset(last));
}

/* sink: write. */
static int sqlite_write(void *userdata, const void *data, size_t size)
{
	struct sqlite_sink *s = userdata;
	const uint8_t *at = data, *end = at + size;

	while (at < end) {
		int r = sqlite_begin(s);

		if (r == 0)
			r = sqlite_entry(s, at, &at);
		if (r == 0 && s->pending >= SINK_BATCH_ENTRIES)
			r = sqlite_commit(s);
		if (r < 0)
			return r;
	}
	return 0;
}

/* ---- life -------------------------------------------------------------------------------- */

/* sink: free. What has not been committed is not there. */
static void sqlite_free(void *userdata)
{
	struct sqlite_sink *s = userdata;

	for (unsigned i = 0; i < STATEMENT_COUNT; i++)
		sqlite3_finalize(s->statements[i]);
	sqlite3_close(s->db);
	sqlite_forget(s);
	free(s->own.bytes);
	free(s->shared.bytes);
	free(s);
}

/* sink: begin. A scan that failed before has left nothing, and what it added has no rows. */
static int sqlite_begin_scan(void *userdata, struct jscan *engine)
{
	struct sqlite_sink *s = userdata;

	(void)engine;
	if (!s->open)
		return 0;
	sqlite3_exec(s->db, "ROLLBACK", NULL, NULL, NULL); /* it may have been already */
	s->open = false;
	s->pending = 0;
	sqlite_forget(s);
	return 0;
}

/* Asks for one number. */
static int sqlite_number(struct sqlite_sink *s, const char *question, sqlite3_int64 *ret_number)
{
	sqlite3_stmt *statement = NULL;
	int answer = sqlite3_prepare_v2(s->db, question, -1, &statement, NULL);

	if (answer == SQLITE_OK && (answer = sqlite3_step(statement)) == SQLITE_ROW)
		*ret_number = sqlite3_column_int64(statement, 0);
	sqlite3_finalize(statement);
	return sqlite_error(answer);
}

/* Makes the tables, or checks that they are ours. */
static int sqlite_prepare_tables(struct sqlite_sink *s, char *text, size_t size)
{
	sqlite3_int64 tables = 0, application = 0, version = 0;
	int r = sqlite_error(sqlite3_exec(s->db, "BEGIN IMMEDIATE", NULL, NULL, NULL));

	if (r == 0)
		r = sqlite_number(s, "SELECT count(*) FROM sqlite_master", &tables);
	if (r == 0)
		r = sqlite_number(s, "PRAGMA application_id", &application);
	if (r == 0)
		r = sqlite_number(s, "PRAGMA user_version", &version);
	if (r == 0 && tables == 0) {
		r = sqlite_error(sqlite3_exec(s->db, sqlite_schema, NULL, NULL, NULL));
	} else if (r == 0 && application != SINK_APPLICATION_ID) {
		snprintf(text, size, "it is another program's database");
		r = -EEXIST;
	} else if (r == 0 && version != SINK_SCHEMA_VERSION) {
		snprintf(text, size, "its schema is of version %lld, not %d", (long long)version,
			 SINK_SCHEMA_VERSION);
		r = -EEXIST;
	}
	return r < 0 ? r : sqlite_error(sqlite3_exec(s->db,
						     "COMMIT; PRAGMA journal_mode = WAL;"
						     "PRAGMA synchronous = NORMAL",
						     NULL, NULL, NULL));
}

/* Opens the database and prepares the statements. */
static int sqlite_open_file(struct sqlite_sink *s, const char *path, char *text, size_t size)
{
	int r = sqlite_error(sqlite3_open_v2(path, &s->db,
					     SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE |
						     SQLITE_OPEN_NOMUTEX,
					     NULL));

	if (r == 0)
		sqlite3_busy_timeout(s->db, 5000);
	if (r == 0)
		r = sqlite_prepare_tables(s, text, size);
	for (unsigned i = 0; i < STATEMENT_COUNT && r == 0; i++)
		r = sqlite_error(sqlite3_prepare_v3(s->db, sqlite_statements[i], -1,
						    SQLITE_PREPARE_PERSISTENT, &s->statements[i],
						    NULL));
	if (r < 0 && size > 0 && !text[0])
		snprintf(text, size, "%s", s->db ? sqlite3_errmsg(s->db) : strerror(-r));
	return r;
}

/* The module's entry: ARGUMENT is a path. */
static int sqlite_open(const char *argument, const struct jscan_sink_ops **ret_ops,
		       void **ret_userdata, char *text, size_t size)
{
	static const struct jscan_sink_ops ops = {
		.size = sizeof(ops),
		.name = "sqlite",
		.begin = sqlite_begin_scan,
		.format = sqlite_format,
		.write = sqlite_write,
		.flush = sqlite_commit,
		.end = sqlite_commit,
		.free = sqlite_free,
	};
	struct sqlite_sink *s;
	int r;

	if (!argument || !*argument) {
		snprintf(text, size, "a file is needed");
		return -EINVAL;
	}
	s = calloc(1, sizeof(*s));
	if (!s)
		return -ENOMEM;
	r = sqlite_open_file(s, argument, text, size);
	if (r < 0) {
		sqlite_free(s);
		return r;
	}
	*ret_ops = &ops;
	*ret_userdata = s;
	return 0;
}

JSCAN_API const struct jscan_sink_module jscan_sink_module = {
	sizeof(struct jscan_sink_module), JSCAN_SINK_MODULE_VERSION, 0, "sqlite", sqlite_open
};
