// SPDX-License-Identifier: MIT
/*
 * The rows of an entry. A row costs about a microsecond, and most fields of an entry say what
 * process it came from. So these are stored once for many entries, as a context; which contexts
 * there are is remembered only in part, since one that is stored twice does no harm. The same holds
 * for the rows of names.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "sqlite.h"

/* Contexts are not remembered if they are larger, ... */
#define SINK_CONTEXT_BYTES_MAX 8192u
/* ... and have no value that is. */
#define SINK_CONTEXT_VALUE_MAX 4096u

/* ---- the database ------------------------------------------------------------------------ */

int sqlite_error(int answer)
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

int sqlite_run(sqlite3_stmt *statement)
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

int sqlite_checkpoint(struct sqlite_sink *s)
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

/* ---- entries ----------------------------------------------------------------------------- */

/* Inserts fields of an entry, or of a context, by a statement. */
static int sqlite_insert(struct sqlite_sink *s, enum sqlite_statement which, sqlite3_int64 owner,
			 const struct sqlite_fields *fields)
{
	sqlite3_stmt *insert = s->statements[which];
	const uint8_t *at = fields->bytes;
	struct sqlite_field_head sizes;
	int r = 0;

	for (uint64_t i = 0; i < fields->count && r == 0; i++) {
		sqlite3_int64 name;

		memcpy(&sizes, at, sizeof(sizes));
		at += sizeof(sizes);
		r = sqlite_name_row(s, at, sizes.name_size, &name);
		if (r < 0)
			return r;
		sqlite3_bind_int64(insert, 1, owner);
		sqlite3_bind_int64(insert, 2, (sqlite3_int64)i);
		sqlite3_bind_int64(insert, 3, name);
		sqlite_bind(insert, 4, at + sizes.name_size, sizes.value_size);
		r = sqlite_run(insert);
		at += sizes.name_size + sizes.value_size;
	}
	return r;
}

/* Whether a field is NAME. */
static bool sqlite_is(const uint8_t *name, uint64_t size, const char *other)
{
	return strlen(other) == size && memcmp(name, other, size) == 0;
}

/* Whether a field is one that many entries have in common: what the journal says of their process,
 * and a few that programs hardly ever change. */
static bool sqlite_is_shared(const uint8_t *name, const struct sqlite_field_head *sizes)
{
	uint64_t size = sizes->name_size;

	if (sizes->value_size > SINK_CONTEXT_VALUE_MAX || size == 0)
		return false;
	if (name[0] == '_')
		return size < 8 || memcmp(name, "_SOURCE_", 8) != 0;
	return sqlite_is(name, size, "PRIORITY") || sqlite_is(name, size, "SYSLOG_IDENTIFIER") ||
	       sqlite_is(name, size, "SYSLOG_FACILITY") || sqlite_is(name, size, "SYSLOG_PID");
}

/* Appends a field of SIZE bytes with its head. */
static int sqlite_gather(struct sqlite_fields *fields, const uint8_t *field, size_t size)
{
	if (fields->capacity - fields->size < size) {
		size_t capacity = (fields->size + size) * 2;
		uint8_t *bytes = realloc(fields->bytes, capacity);

		if (!bytes)
			return -ENOMEM;
		fields->bytes = bytes;
		fields->capacity = capacity;
	}
	memcpy(fields->bytes + fields->size, field, size);
	fields->size += size;
	fields->count++;
	return 0;
}

/* Parts the fields of an entry, binds the unit's, and says where they end. */
static int sqlite_part(struct sqlite_sink *s, const uint8_t *at, uint64_t count,
		       const uint8_t **ret_end)
{
	sqlite3_stmt *entry = s->statements[STATEMENT_ENTRY];
	struct sqlite_field_head sizes;
	bool found = false;

	s->own.size = s->own.count = s->shared.size = s->shared.count = 0;
	sqlite3_bind_null(entry, 7);
	for (uint64_t i = 0; i < count; i++) {
		const uint8_t *name = at + sizeof(sizes);
		size_t size;
		int r;

		memcpy(&sizes, at, sizeof(sizes));
		if (!found && sqlite_is(name, sizes.name_size, "_SYSTEMD_UNIT")) {
			found = true;
			sqlite_bind(entry, 7, name + sizes.name_size, sizes.value_size);
		}
		size = sizeof(sizes) + sizes.name_size + sizes.value_size;
		r = sqlite_gather(sqlite_is_shared(name, &sizes) ? &s->shared : &s->own, at, size);
		if (r < 0)
			return r;
		at += size;
	}
	*ret_end = at;
	return 0;
}

/* Where the context of the entry at hand is remembered, if it is. */
static struct sqlite_context *sqlite_context_slot(struct sqlite_sink *s)
{
	uint64_t hash = s->shared.size, word;
	size_t i = 0;

	for (; i + sizeof(word) <= s->shared.size; i += sizeof(word)) {
		memcpy(&word, s->shared.bytes + i, sizeof(word));
		hash = (hash ^ word) * UINT64_C(0x9e3779b97f4a7c15);
		hash ^= hash >> 32;
	}
	for (; i < s->shared.size; i++)
		hash = (hash ^ s->shared.bytes[i]) * UINT64_C(0x9e3779b97f4a7c15);
	return &s->contexts[(hash ^ hash >> 32) % SINK_CONTEXTS];
}

/* Whether a slot holds the context of the entry at hand. */
static bool sqlite_context_is(const struct sqlite_context *c, const struct sqlite_fields *shared)
{
	return c->bytes && c->size == shared->size &&
	       memcmp(c->bytes, shared->bytes, c->size) == 0;
}

/* Stores the context of the entry at hand, which has got the next number, and remembers it. */
static int sqlite_add_context(struct sqlite_sink *s, struct sqlite_context *c)
{
	int r = sqlite_insert(s, STATEMENT_CONTEXT_FIELD, ++s->context_last, &s->shared);

	if (r < 0)
		return r;
	free(c->bytes);
	c->bytes = s->shared.size <= SINK_CONTEXT_BYTES_MAX ? malloc(s->shared.size) : NULL;
	if (!c->bytes)
		return 0;
	memcpy(c->bytes, s->shared.bytes, s->shared.size);
	c->size = s->shared.size;
	c->number = s->context_last;
	return 0;
}

/* Inserts an entry with the fields that have been parted, unless it is there. */
static int sqlite_add_entry(struct sqlite_sink *s, const struct sqlite_head *head)
{
	sqlite3_stmt *insert = s->statements[STATEMENT_ENTRY];
	struct sqlite_context *c = sqlite_context_slot(s);
	bool known = s->shared.count == 0 || sqlite_context_is(c, &s->shared);
	int r;

	sqlite3_bind_int64(insert, 1, s->source.row);
	sqlite3_bind_int64(insert, 2, (sqlite3_int64)head->seqnum);
	sqlite3_bind_int64(insert, 3, (sqlite3_int64)head->realtime);
	sqlite3_bind_int64(insert, 4, (sqlite3_int64)head->monotonic);
	sqlite3_bind_int64(insert, 5, s->boot.row);
	sqlite3_bind_int64(insert, 6, (sqlite3_int64)head->hash);
	if (s->shared.count == 0)
		sqlite3_bind_null(insert, 8);
	else
		sqlite3_bind_int64(insert, 8, known ? c->number : s->context_last + 1);
	r = sqlite_run(insert);
	if (r < 0 || !sqlite3_changes(s->db))
		return r;
	r = sqlite_insert(s, STATEMENT_FIELD, sqlite3_last_insert_rowid(s->db), &s->own);
	return r < 0 || known ? r : sqlite_add_context(s, c);
}

int sqlite_entry(struct sqlite_sink *s, const uint8_t *at, const uint8_t **ret_end)
{
	struct sqlite_head head;
	int r = 0;

	memcpy(&head, at, sizeof(head));
	if (s->source.known && memcmp(&s->source.id, &head.seqnum_id, sizeof(jscan_id)) != 0)
		r = sqlite_checkpoint(s);
	if (r == 0)
		r = sqlite_id_row(s, STATEMENT_ADD_SOURCE, &head.seqnum_id, &s->source);
	if (r == 0)
		r = sqlite_id_row(s, STATEMENT_ADD_BOOT, &head.boot_id, &s->boot);
	if (r == 0)
		r = sqlite_part(s, at + sizeof(head), head.field_count, ret_end);
	if (r == 0)
		r = sqlite_add_entry(s, &head);
	s->last = head;
	s->pending++;
	return r;
}

void sqlite_forget(struct sqlite_sink *s)
{
	for (unsigned i = 0; i < SINK_CONTEXTS; i++)
		free(s->contexts[i].bytes);
	memset(s->contexts, 0, sizeof(s->contexts));
	memset(s->names, 0, sizeof(s->names));
	s->source.known = s->boot.known = false;
}
