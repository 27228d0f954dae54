/* SPDX-License-Identifier: MIT */
/* What the two halves of the sink for SQLite share: its life, and the rows that it inserts. */
#ifndef SINKS_SQLITE_H
#define SINKS_SQLITE_H

#include <jscan.h>
#include <sqlite3.h>
#include <stdbool.h>

#define SINK_NAMES 1024u               /* field names whose IDs are remembered */
#define SINK_NAME_SIZE_MAX 64u
#define SINK_CONTEXTS 2048u              /* that are remembered */

enum sqlite_statement {
	STATEMENT_ENTRY,
	STATEMENT_FIELD,
	STATEMENT_CONTEXT_FIELD,
	STATEMENT_LAST_CONTEXT,
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

/* Fields of an entry, as they stand in a buffer, one behind the other. */
struct sqlite_fields {
	uint8_t *bytes;
	size_t size, capacity;
	uint64_t count;
};

/* A context and its number. */
struct sqlite_context {
	uint8_t *bytes;
	size_t size;
	sqlite3_int64 number;
};

struct sqlite_sink {
	sqlite3 *db;
	sqlite3_stmt *statements[STATEMENT_COUNT];
	unsigned pending;              /* entries of the open transaction */
	bool open;                     /* there is one */
	struct sqlite_id source, boot; /* of the entry before */
	struct sqlite_head last;       /* of this source */
	struct sqlite_fields own, shared; /* of the entry at hand */
	sqlite3_int64 context_last;    /* number of the newest context */
	struct sqlite_context contexts[SINK_CONTEXTS];
	struct sqlite_name names[SINK_NAMES];
};

/* The errno of what SQLite answered. */
int sqlite_error(int answer);

/* Runs a statement whose values are bound, and readies it for the next time. */
int sqlite_run(sqlite3_stmt *statement);

/* Notes the last entry of the source that entries came from. */
int sqlite_checkpoint(struct sqlite_sink *sink);

/* Takes one entry as it stands in a buffer, and says what follows it. */
int sqlite_entry(struct sqlite_sink *sink, const uint8_t *at, const uint8_t **ret_end);

/* Forgets which names, IDs and contexts there are. */
void sqlite_forget(struct sqlite_sink *sink);

#endif
