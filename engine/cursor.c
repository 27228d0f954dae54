/* SPDX-License-Identifier: MIT */
/*
 * Cursors as text (specification 8.3): parts of the form LETTER=VALUE between semicolons, in any
 * order, unknown letters passed over, the last of equal ones counting.
 */
#include "engine/cursor.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>

#include "engine/engine.h"

/* A number as scanf() reads hex: leading blanks, a sign and 0x are accepted, and so is what
 * follows; 0x without a digit is not. */
static int cursor_number(const char *text, uint64_t *ret)
{
	char *end;

	*ret = strtoull(text, &end, 16);
	if (end == text || (end[-1] == '0' && (*end == 'x' || *end == 'X') &&
			    (end - 1 == text || !isxdigit((unsigned char)end[-2]))))
		return -EINVAL;
	return 0;
}

/* An ID of 32 hex digits, or with dashes. */
static int cursor_id(const char *text, struct id128 *ret)
{
	char hex[JSCAN_ID_TEXT_SIZE];
	size_t size = strlen(text), digits = 0;
	jscan_id id;

	if (size != 32 && size != 36)
		return -EINVAL;
	for (size_t i = 0; i < size; i++) {
		bool dash = size == 36 && (i == 8 || i == 13 || i == 18 || i == 23);

		if (dash != (text[i] == '-'))
			return -EINVAL;
		if (!dash && digits < 32)
			hex[digits++] = text[i];
	}
	hex[digits] = '\0';
	if (jscan_id_parse(hex, &id) < 0)
		return -EINVAL;
	memcpy(ret->bytes, id.bytes, sizeof(id.bytes));
	return 0;
}

/* Which parts a cursor has named. */
enum cursor_part {
	CURSOR_SEQNUM_ID = 1 << 0,
	CURSOR_SEQNUM = 1 << 1,
	CURSOR_BOOT_ID = 1 << 2,
	CURSOR_MONOTONIC = 1 << 3,
	CURSOR_REALTIME = 1 << 4,
	CURSOR_HASH = 1 << 5,
};

/* Takes one part. Returns its bit, 0 for an unknown letter, -EINVAL. */
static int cursor_take(const char *part, struct engine_seek *seek)
{
	const char *value = part + 2;
	int r = 0, bit = 0;

	if (!part[0] || part[1] != '=')
		return -EINVAL;
	switch (part[0]) {
	case 's':
		r = cursor_id(value, &seek->seqnum_id);
		bit = CURSOR_SEQNUM_ID;
		break;
	case 'i':
		r = cursor_number(value, &seek->seqnum);
		bit = CURSOR_SEQNUM;
		break;
	case 'b':
		r = cursor_id(value, &seek->boot_id);
		bit = CURSOR_BOOT_ID;
		break;
	case 'm':
		r = cursor_number(value, &seek->monotonic);
		bit = CURSOR_MONOTONIC;
		break;
	case 't':
		r = cursor_number(value, &seek->realtime);
		bit = CURSOR_REALTIME;
		break;
	case 'x':
		r = cursor_number(value, &seek->hash);
		bit = CURSOR_HASH;
		break;
	}
	return r < 0 ? r : bit;
}

/* Cuts the next part off at *TEXT: up to a semicolon, a backslash taking the next character as it
 * is (-EINVAL if there is none). The part is written to PART; *TEXT goes behind the semicolon, or
 * becomes NULL at the end. */
static int cursor_next_part(const char **text, char *part)
{
	const char *p = *text;

	while (*p && *p != ';') {
		if (*p == '\\' && !*++p)
			return -EINVAL;
		*part++ = *p++;
	}
	*part = '\0';
	*text = *p ? p + 1 : NULL;
	return 0;
}

int cursor_parse(const char *text, struct engine_seek *ret_seek)
{
	struct engine_seek seek = { .kind = SEEK_PLACE, .set = true };
	char *part = malloc(strlen(text) + 1);
	struct engine_seek before;
	unsigned parts = 0;
	int r = 0;

	if (!part)
		return -ENOMEM;
	while (text && r >= 0) {
		r = cursor_next_part(&text, part);
		before = seek;
		r = r < 0 ? r : cursor_take(part, &seek);
		if (r <= 0)
			continue;
		/* Of a part that is there twice the last one counts, but an entry must be both. */
		if (parts & (unsigned)r && memcmp(&before, &seek, sizeof(seek)) != 0)
			seek.nowhere = true;
		parts |= (unsigned)r;
	}
	free(part);
	if (r < 0)
		return r;
	seek.parts = parts;
	seek.has_seqnum = (parts & CURSOR_SEQNUM_ID) && (parts & CURSOR_SEQNUM);
	seek.has_monotonic = (parts & CURSOR_BOOT_ID) && (parts & CURSOR_MONOTONIC);
	seek.has_realtime = parts & CURSOR_REALTIME;
	seek.has_hash = parts & CURSOR_HASH;
	if (!seek.has_seqnum && !seek.has_monotonic && !seek.has_realtime)
		return -EINVAL;
	*ret_seek = seek;
	return 0;
}

char *cursor_format(const struct id128 *seqnum_id, const struct entry_object *entry, char *text)
{
	char seqnum_text[JSCAN_ID_TEXT_SIZE], boot_text[JSCAN_ID_TEXT_SIZE];
	jscan_id seqnum, boot;

	memcpy(seqnum.bytes, seqnum_id->bytes, sizeof(seqnum.bytes));
	memcpy(boot.bytes, entry->boot_id.bytes, sizeof(boot.bytes));
	snprintf(text, JSCAN_CURSOR_SIZE, "s=%s;i=%llx;b=%s;m=%llx;t=%llx;x=%llx",
		 jscan_id_format(&seqnum, seqnum_text), (unsigned long long)entry->seqnum,
		 jscan_id_format(&boot, boot_text), (unsigned long long)entry->monotonic,
		 (unsigned long long)entry->realtime, (unsigned long long)entry->xor_hash);
	return text;
}

bool cursor_is_at(const struct engine_seek *seek, const struct id128 *seqnum_id,
		  const struct entry_object *entry)
{
	unsigned parts = seek->parts;

	return !seek->nowhere &&
	       (!(parts & CURSOR_SEQNUM_ID) || id128_equal(&seek->seqnum_id, seqnum_id)) &&
	       (!(parts & CURSOR_SEQNUM) || seek->seqnum == entry->seqnum) &&
	       (!(parts & CURSOR_BOOT_ID) || id128_equal(&seek->boot_id, &entry->boot_id)) &&
	       (!(parts & CURSOR_MONOTONIC) || seek->monotonic == entry->monotonic) &&
	       (!(parts & CURSOR_REALTIME) || seek->realtime == entry->realtime) &&
	       (!(parts & CURSOR_HASH) || seek->hash == entry->xor_hash);
}

bool cursor_is_ahead(const struct engine_seek *seek, const struct id128 *seqnum_id,
		     const struct entry_object *entry)
{
	if (seek->kind != SEEK_PLACE)
		return false;
	if (seek->has_seqnum && id128_equal(&seek->seqnum_id, seqnum_id))
		return entry->seqnum < seek->seqnum;
	if (seek->has_monotonic && id128_equal(&seek->boot_id, &entry->boot_id))
		return entry->monotonic < seek->monotonic;
	return seek->has_realtime && entry->realtime < seek->realtime;
}
