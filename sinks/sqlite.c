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
#include <jscan.h>
#include <sqlite3.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define SINK_SCHEMA_VERSION 1
#define SINK_APPLICATION_ID 0x6a73636e /* "jscn" */
#define SINK_BATCH_ENTRIES 20000u      /* in one transaction at most */
#define SINK_NAMES 1024u               /* field names whose IDs are remembered */
#define SINK_NAME_SIZE_MAX 64u
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
	" boot INTEGER NOT NULL REFERENCES boot, hash INTEGER NOT NULL, unit);"
	"CREATE UNIQUE INDEX entry_identity ON entry (source, seqnum, realtime, hash);"
	"CREATE INDEX entry_realtime ON entry (realtime);"
	"CREATE INDEX entry_unit ON entry (unit, realtime);"
	"CREATE TABLE field (entry INTEGER NOT NULL REFERENCES entry, position INTEGER NOT NULL,"
	" name INTEGER NOT NULL REFERENCES name, value NOT NULL,"
	" PRIMARY KEY (entry, position)) WITHOUT ROWID;"
	"CREATE TABLE checkpoint (source INTEGER PRIMARY KEY REFERENCES source,"
	" position INTEGER NOT NULL, cursor TEXT NOT NULL);"
	"CREATE VIEW entry_field AS SELECT field.entry, field.position, name.name, field.value"
	" FROM field JOIN name ON name.id = field.name;";

enum sqlite_statement {
	STATEMENT_ENTRY,
	STATEMENT_FIELD,
	STATEMENT_CHECKPOINT,
	STATEMENT_BEGIN,
	STATEMENT_COMMIT,
	STATEMENT_ADD_SOURCE, /* each of these is followed by the one that looks up what it adds */
	STATEMENT_FIND_SOURCE,
	STATEMENT_ADD_BOOT,
	STATEMENT_FIND_BOOT,
	STATEMENT_ADD_NAME,
	STATEMENT_FIND_NAME,
	STATEMENT_COUNT
};

static const char *const sqlite_statements[STATEMENT_COUNT] = {
	[STATEMENT_ENTRY] = "INSERT OR IGNORE INTO entry"
			    " (source, seqnum, realtime, monotonic, boot, hash, unit)"
			    " VALUES (?, ?, ?, ?, ?, ?, ?)",
	[STATEMENT_FIELD] = "INSERT INTO field (entry, position, name, value) VALUES (?, ?, ?, ?)",
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

/* What stands before the fields of an entry in a buffer. */
struct sqlite_head {
	uint64_t seqnum, realtime, monotonic, hash;
	jscan_id seqnum_id, boot_id;
	uint64_t field_count;
};

/* A field: its name and value follow. */
struct sqlite_field_head {
	uint64_t name_size, value_size;
};

/* An ID and its row. */
struct sqlite_id {
	bool known;
	jscan_id id;
	sqlite3_int64 row;
};

/* A name and its row. */
struct sqlite_name {
	size_t size;
	char name[SINK_NAME_SIZE_MAX];
	sqlite3_int64 row;
};

struct sqlite_sink {
	sqlite3 *db;
	sqlite3_stmt *statements[STATEMENT_COUNT];
	unsigned pending;              /* entries of the open transaction */
	bool open;                     /* there is one */
	struct sqlite_id source, boot; /* of the entry before */
	struct sqlite_head last;       /* of this source */
	struct sqlite_name names[SINK_NAMES];
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

/* ---- the database ------------------------------------------------------------------------ */

/* The errno of what SQLite answered. */
static int sqlite_error(int answer)
{
	switch (answer & 0xff) {
	case SQLITE_OK:
	case SQLITE_ROW:
	case SQLITE_DONE:
		return 0;
	case SQLITE_NOMEM:
		return -ENOMEM;
	case SQLITE_FULL:
		return -ENOSPC;
	case SQLITE_BUSY:
	case SQLITE_LOCKED:
		return -EBUSY;
	case SQLITE_READONLY:
		return -EROFS;
	case SQLITE_PERM:
	case SQLITE_CANTOPEN:
		return -EACCES;
	case SQLITE_CORRUPT:
	case SQLITE_NOTADB:
		return -EBADMSG;
	case SQLITE_TOOBIG:
		return -EFBIG;
	default:
		return -EIO;
	}
}

/* Runs a statement whose values are bound, and readies it for the next time. */
static int sqlite_run(sqlite3_stmt *statement)
{
	sqlite3_step(statement);
	return sqlite_error(sqlite3_reset(statement));
}

/* Whether bytes are text: UTF-8 without NUL. */
static bool sqlite_is_text(const uint8_t *p, uint64_t size)
{
	for (uint64_t i = 0; i < size;) {
		unsigned more = p[i] < 0x80 ? 0 : p[i] < 0xe0 ? 1 : p[i] < 0xf0 ? 2 : 3;
		uint8_t low = 0x80, high = 0xbf;

		if (p[i] == 0 || (p[i] >= 0x80 && p[i] < 0xc2) || p[i] > 0xf4 || more >= size - i)
			return false;
		if (p[i] == 0xe0 || p[i] == 0xf0)
			low = p[i] == 0xe0 ? 0xa0 : 0x90; /* not overlong */
		if (p[i] == 0xed || p[i] == 0xf4)
			high = p[i] == 0xed ? 0x9f : 0x8f; /* no surrogate; the last */
		if (more > 0 && (p[i + 1] < low || p[i + 1] > high))
			return false;
		for (unsigned k = 2; k <= more; k++)
			if ((p[i + k] & 0xc0) != 0x80)
				return false;
		i += more + 1;
	}
	return true;
}

/* Binds bytes as text or, if they are none, as a blob. They stay where they are. */
static void sqlite_bind(sqlite3_stmt *statement, int number, const void *bytes, uint64_t size)
{
	if (sqlite_is_text(bytes, size))
		sqlite3_bind_text64(statement, number, bytes, size, SQLITE_STATIC, SQLITE_UTF8);
	else
		sqlite3_bind_blob64(statement, number, bytes, size, SQLITE_STATIC);
}

/* The row of a thing, which is added if it is not there. */
static int sqlite_row(struct sqlite_sink *s, enum sqlite_statement add, const void *bytes,
		      uint64_t size, sqlite3_int64 *ret_row)
{
	sqlite3_stmt *find = s->statements[add + 1];
	int r;

	sqlite_bind(s->statements[add], 1, bytes, size);
	r = sqlite_run(s->statements[add]);
	if (r < 0)
		return r;
	sqlite_bind(find, 1, bytes, size);
	if (sqlite3_step(find) == SQLITE_ROW)
		*ret_row = sqlite3_column_int64(find, 0);
	else
		r = -EIO;
	return sqlite_error(sqlite3_reset(find)) < 0 ? sqlite_error(sqlite3_errcode(s->db)) : r;
}

/* The row of an ID; that of the entry before is remembered. */
static int sqlite_id_row(struct sqlite_sink *s, enum sqlite_statement add, const jscan_id *id,
			 struct sqlite_id *kept)
{
	char text[JSCAN_ID_TEXT_SIZE];
	int r;

	if (kept->known && memcmp(&kept->id, id, sizeof(*id)) == 0)
		return 0;
	kept->known = false;
	jscan_id_format(id, text);
	r = sqlite_row(s, add, text, sizeof(text) - 1, &kept->row);
	if (r < 0)
		return r;
	kept->id = *id;
	kept->known = true;
	return 0;
}

/* The row of a field's name; some are remembered. */
static int sqlite_name_row(struct sqlite_sink *s, const uint8_t *name, uint64_t size,
			   sqlite3_int64 *ret_row)
{
	struct sqlite_name *kept;
	uint64_t hash = size;
	int r;

	if (size > SINK_NAME_SIZE_MAX)
		return sqlite_row(s, STATEMENT_ADD_NAME, name, size, ret_row);
	for (uint64_t i = 0; i < size; i++)
		hash = (hash ^ name[i]) * UINT64_C(0x100000001b3);
	kept = &s->names[(hash ^ hash >> 32) % SINK_NAMES];
	if (!kept->row || kept->size != size || memcmp(kept->name, name, size) != 0) {
		r = sqlite_row(s, STATEMENT_ADD_NAME, name, size, &kept->row);
		if (r < 0) {
			kept->row = 0;
			return r;
		}
		kept->size = size;
		memcpy(kept->name, name, size);
	}
	*ret_row = kept->row;
	return 0;
}

/* ---- transactions ------------------------------------------------------------------------ */

/* Notes the last entry of the source that entries came from. */
static int sqlite_checkpoint(struct sqlite_sink *s)
{
	char seqnum_id[JSCAN_ID_TEXT_SIZE], boot_id[JSCAN_ID_TEXT_SIZE];
	char cursor[JSCAN_CURSOR_SIZE];
	int size;

	if (!s->source.known)
		return 0;
	size = snprintf(cursor, sizeof(cursor), "s=%s;i=%llx;b=%s;m=%llx;t=%llx;x=%llx",
			jscan_id_format(&s->last.seqnum_id, seqnum_id),
			(unsigned long long)s->last.seqnum,
			jscan_id_format(&s->last.boot_id, boot_id),
			(unsigned long long)s->last.monotonic,
			(unsigned long long)s->last.realtime, (unsigned long long)s->last.hash);
	sqlite3_bind_int64(s->statements[STATEMENT_CHECKPOINT], 1, s->source.row);
	sqlite3_bind_text(s->statements[STATEMENT_CHECKPOINT], 2, cursor, size, SQLITE_STATIC);
	return sqlite_run(s->statements[STATEMENT_CHECKPOINT]);
}

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
	int r = s->open ? 0 : sqlite_run(s->statements[STATEMENT_BEGIN]);

	s->open |= r == 0;
	return r;
}

/* ---- entries ----------------------------------------------------------------------------- */

/* Inserts the fields of an entry, and returns what follows them. NULL: *RET_ERROR. */
static const uint8_t *sqlite_fields(struct sqlite_sink *s, const uint8_t *at, uint64_t count,
				    sqlite3_int64 entry, int *ret_error)
{
	sqlite3_stmt *insert = s->statements[STATEMENT_FIELD];
	struct sqlite_field_head sizes;

	for (uint64_t i = 0; i < count; i++) {
		sqlite3_int64 name;
		int r;

		memcpy(&sizes, at, sizeof(sizes));
		at += sizeof(sizes);
		r = sqlite_name_row(s, at, sizes.name_size, &name);
		if (r == 0) {
			sqlite3_bind_int64(insert, 1, entry);
			sqlite3_bind_int64(insert, 2, (sqlite3_int64)i);
			sqlite3_bind_int64(insert, 3, name);
			sqlite_bind(insert, 4, at + sizes.name_size, sizes.value_size);
			r = sqlite_run(insert);
		}
		if (r < 0) {
			*ret_error = r;
			return NULL;
		}
		at += sizes.name_size + sizes.value_size;
	}
	return at;
}

/* Goes past the fields of an entry, and binds the unit's. */
static const uint8_t *sqlite_skip(const uint8_t *at, uint64_t count, sqlite3_stmt *entry)
{
	static const char unit[] = "_SYSTEMD_UNIT";
	struct sqlite_field_head sizes;
	bool found = false;

	sqlite3_bind_null(entry, 7);
	for (uint64_t i = 0; i < count; i++) {
		memcpy(&sizes, at, sizeof(sizes));
		at += sizeof(sizes);
		if (!found && sizes.name_size == sizeof(unit) - 1 &&
		    memcmp(at, unit, sizeof(unit) - 1) == 0) {
			found = true;
			sqlite_bind(entry, 7, at + sizes.name_size, sizes.value_size);
		}
		at += sizes.name_size + sizes.value_size;
	}
	return at;
}

/* Inserts one entry, unless it is there, and returns what follows it. NULL: *RET_ERROR. */
static const uint8_t *sqlite_entry(struct sqlite_sink *s, const uint8_t *at, int *ret_error)
{
	sqlite3_stmt *insert = s->statements[STATEMENT_ENTRY];
	struct sqlite_head head;
	const uint8_t *end;
	int r = 0;

	memcpy(&head, at, sizeof(head));
	at += sizeof(head);
	if (s->source.known && memcmp(&s->source.id, &head.seqnum_id, sizeof(jscan_id)) != 0)
		r = sqlite_checkpoint(s);
	if (r == 0)
		r = sqlite_id_row(s, STATEMENT_ADD_SOURCE, &head.seqnum_id, &s->source);
	if (r == 0)
		r = sqlite_id_row(s, STATEMENT_ADD_BOOT, &head.boot_id, &s->boot);
	if (r < 0) {
		*ret_error = r;
		return NULL;
	}
	sqlite3_bind_int64(insert, 1, s->source.row);
	sqlite3_bind_int64(insert, 2, (sqlite3_int64)head.seqnum);
	sqlite3_bind_int64(insert, 3, (sqlite3_int64)head.realtime);
	sqlite3_bind_int64(insert, 4, (sqlite3_int64)head.monotonic);
	sqlite3_bind_int64(insert, 5, s->boot.row);
	sqlite3_bind_int64(insert, 6, (sqlite3_int64)head.hash);
	end = sqlite_skip(at, head.field_count, insert);
	r = sqlite_run(insert);
	if (r < 0) {
		*ret_error = r;
		return NULL;
	}
	s->last = head;
	s->pending++;
	return sqlite3_changes(s->db) ? sqlite_fields(s, at, head.field_count,
						      sqlite3_last_insert_rowid(s->db), ret_error) :
					end;
}

/* sink: write. */
static int sqlite_write(void *userdata, const void *data, size_t size)
{
	struct sqlite_sink *s = userdata;
	const uint8_t *at = data, *end = at + size;

	while (at < end) {
		int r = sqlite_begin(s);

		if (r == 0)
			at = sqlite_entry(s, at, &r);
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
	s->source.known = s->boot.known = false;
	memset(s->names, 0, sizeof(s->names));
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
