/* SPDX-License-Identifier: MIT */
/*
 * Checkpoints as text: a line with a version and the numbers of sequences and files; a cursor for
 * each sequence, the one that was reached last at the end, since copies of that entry are still to
 * be passed over; then the files by their IDs, "f=ID", and "f=ID;i=NUMBER" for one that is behind
 * its sequence. Text comes from the outside, and is checked.
 */
#include "engine/checkpoint.h"

#include <stdio.h>
#include <stdlib.h>

#include "engine/cursor.h"

#define CHECKPOINT_HEAD "jscan-checkpoint "
#define CHECKPOINT_VERSION 1u

/* Takes one line, a cursor with all its parts. */
static int checkpoint_take_line(struct jscan *e, struct checkpoint_table *t, const char *line,
				size_t size)
{
	struct checkpoint_position *p;
	char cursor[JSCAN_CURSOR_SIZE];
	struct engine_seek seek;
	uint32_t number;
	int r;

	if (size >= sizeof(cursor))
		return -EINVAL;
	memcpy(cursor, line, size);
	cursor[size] = '\0';
	r = cursor_parse(cursor, &seek);
	if (r < 0)
		return r;
	if (!seek.has_seqnum || !seek.has_monotonic || !seek.has_realtime || !seek.has_hash)
		return -EINVAL;
	r = order_seqnum_id_number(&e->order, &seek.seqnum_id, &number);
	if (r < 0)
		return r;
	p = checkpoint_at(t, number);
	if (!p)
		return -ENOMEM;
	if (p->serial)
		return -EINVAL;
	p->serial = ++t->serial;
	p->at = (struct engine_position){
		.known = true,
		.seqnum_id = seek.seqnum_id,
		.entry = { .seqnum = seek.seqnum, .realtime = seek.realtime,
			   .monotonic = seek.monotonic, .boot_id = seek.boot_id,
			   .xor_hash = seek.hash },
	};
	return 0;
}

/* Takes a line that names a file: "f=ID", or "f=ID;i=NUMBER". */
static int checkpoint_take_file(struct checkpoint *c, const char *line, size_t size)
{
	struct checkpoint_file file = { .behind = false };
	char text[JSCAN_ID_TEXT_SIZE], *end;
	jscan_id id;

	if (size < 2 + 32 || strncmp(line, "f=", 2) != 0)
		return -EINVAL;
	memcpy(text, line + 2, 32);
	text[32] = '\0';
	if (jscan_id_parse(text, &id) < 0)
		return -EINVAL;
	memcpy(file.file_id.bytes, id.bytes, sizeof(id.bytes));
	if (size > 2 + 32) {
		if (strncmp(line + 34, ";i=", 3) != 0)
			return -EINVAL;
		file.behind = true;
		file.seqnum = strtoull(line + 37, &end, 16);
		if (end == line + 37 || end != line + size)
			return -EINVAL;
	}
	return checkpoint_add_file(c, &file);
}

int checkpoint_parse(struct jscan *e, struct checkpoint *c, const char *text)
{
	struct checkpoint_table *t = &c->start;
	unsigned version, count, files;
	const char *line, *end;
	int n = 0, r = 0;

	if (sscanf(text, CHECKPOINT_HEAD "%u%n", &version, &n) != 1 || n == 0)
		return -EINVAL;
	if (version != CHECKPOINT_VERSION)
		return -EPROTONOSUPPORT;
	line = strchr(text, '\n');
	if (!line || sscanf(text + n, "%u %u", &count, &files) != 2 || files > UINT32_MAX - count)
		return -EINVAL;
	line++;
	c->knows_files = true;
	for (unsigned i = 0; i < count + files && r == 0; i++) {
		end = strchr(line, '\n');
		if (!end)
			return -EINVAL;
		r = i < count ? checkpoint_take_line(e, t, line, (size_t)(end - line)) :
				checkpoint_take_file(c, line, (size_t)(end - line));
		line = end + 1;
	}
	return r == 0 && *line ? -EINVAL : r;
}

/* By when they were reached; for qsort(). */
static int checkpoint_compare(const void *a, const void *b)
{
	const struct checkpoint_position *x = *(struct checkpoint_position *const *)a;
	const struct checkpoint_position *y = *(struct checkpoint_position *const *)b;

	return (x->serial > y->serial) - (x->serial < y->serial);
}

/* Writes the line of a file. */
static void checkpoint_write_file(FILE *f, const struct checkpoint_file *file)
{
	char text[JSCAN_ID_TEXT_SIZE];
	jscan_id id;

	memcpy(id.bytes, file->file_id.bytes, sizeof(id.bytes));
	fprintf(f, "f=%s", jscan_id_format(&id, text));
	if (file->behind)
		fprintf(f, ";i=%llx", (unsigned long long)file->seqnum);
	putc('\n', f);
}

/* Writes the lines of all files: first of those that are not there now. Returns their number. */
static size_t checkpoint_write_files(const struct jscan *e, FILE *f, bool settled, bool *there)
{
	const struct checkpoint *c = e->checkpoint;
	struct checkpoint_file file;
	size_t count = 0;
	uint32_t number;

	for (size_t i = 0; i < e->source_count; i++) {
		const struct source *s = e->sources[i];

		if (s->error || !s->header_known)
			continue;
		if (order_ids_find(&c->file_ids, &s->journal.header.file_id, &number))
			there[number] = true;
		if (!checkpoint_file_state(s, settled ? &c->settled : &c->taken,
					   settled ? s->settled_seqnum : s->taken_seqnum, &file))
			continue;
		checkpoint_write_file(f, &file);
		count++;
	}
	for (uint32_t i = 0; i < c->file_ids.count; i++) {
		if (there[i])
			continue;
		checkpoint_write_file(f, &c->files[i]);
		count++;
	}
	return count;
}

/* Writes the lines of all sequences. Returns their number, or -ENOMEM. */
static ssize_t checkpoint_write_positions(FILE *f, const struct checkpoint_table *t)
{
	const struct checkpoint_position **sorted = calloc((size_t)t->count + 1, sizeof(*sorted));
	char cursor[JSCAN_CURSOR_SIZE];
	size_t count = 0;

	if (!sorted)
		return -ENOMEM;
	for (uint32_t i = 0; i < t->count; i++) {
		if (t->positions[i].serial)
			sorted[count++] = &t->positions[i];
	}
	qsort(sorted, count, sizeof(*sorted), checkpoint_compare);
	for (size_t i = 0; i < count; i++) {
		const struct engine_position *at = &sorted[i]->at;

		fprintf(f, "%s\n", cursor_format(&at->seqnum_id, &at->entry, cursor));
	}
	free(sorted);
	return (ssize_t)count;
}

int checkpoint_format(struct jscan *e, bool settled, const char **ret_text)
{
	struct checkpoint *c = e->checkpoint;
	bool *there = calloc((size_t)c->file_ids.count + 1, sizeof(*there));
	char *body = NULL, *text = NULL;
	size_t size, files = 0;
	ssize_t count = -ENOMEM;
	FILE *f = open_memstream(&body, &size);

	if (f && there) {
		count = checkpoint_write_positions(f, settled ? &c->settled : &c->taken);
		files = checkpoint_write_files(e, f, settled, there);
	}
	if (f && (ferror(f) | fclose(f)))
		count = -ENOMEM;
	if (count >= 0 && asprintf(&text, CHECKPOINT_HEAD "%u %zd %zu\n%s", CHECKPOINT_VERSION,
				   count, files, body) < 0)
		count = -ENOMEM;
	free(there);
	free(body);
	if (count < 0)
		return (int)count;
	free(c->text);
	c->text = text;
	*ret_text = text;
	return 0;
}
