/* SPDX-License-Identifier: MIT */
/*
 * From what entries have in common to the name of a file. Values come from journals and may hold
 * anything: a name has no slash, does not begin with a dot, is never too long for a file system,
 * and differs for different values.
 */
#include "engine/split.h"

#include <stdio.h>
#include <time.h>

/* Longer names are cut, and end in a hash. With the longest ending they fit into 255 bytes. */
#define SPLIT_NAME_BYTES_MAX 200u

/* Whether a byte stands for itself. */
static bool split_is_plain(uint8_t c, bool first)
{
	return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
	       c == ':' || c == '_' || c == '@' || c == '-' || (c == '.' && !first);
}

/* Whether a value is called like one of the files that stand for no value. */
static bool split_is_reserved(const uint8_t *value, size_t size)
{
	return (size == 4 && memcmp(value, "none", 4) == 0) ||
	       (size == 5 && memcmp(value, "other", 5) == 0);
}

void split_name(const uint8_t *value, size_t size, char *name)
{
	bool reserved = split_is_reserved(value, size);
	size_t at = 0;

	if (size == 0) {
		snprintf(name, SPLIT_NAME_SIZE, "none");
		return;
	}
	for (size_t i = 0; i < size; i++) {
		if (at + 4 > SPLIT_NAME_BYTES_MAX) {
			at = SPLIT_NAME_BYTES_MAX - 20;
			snprintf(name + at, SPLIT_NAME_SIZE - at, "~%016llx",
				 (unsigned long long)hash_jenkins(value, size));
			return;
		}
		if (split_is_plain(value[i], i == 0) && !(reserved && i == 0)) {
			name[at++] = (char)value[i];
		} else {
			snprintf(name + at, SPLIT_NAME_SIZE - at, "\\x%02x", value[i]);
			at += 4;
		}
	}
	name[at] = '\0';
}

void split_name_of_boot(const uint8_t *boot_id, char *name)
{
	jscan_id id;

	memcpy(id.bytes, boot_id, sizeof(id.bytes));
	jscan_id_format(&id, name);
}

void split_name_of_day(uint64_t realtime_usec, bool utc, char *name)
{
	time_t seconds = (time_t)(realtime_usec / 1000000);
	struct tm tm;

	if (!(utc ? gmtime_r(&seconds, &tm) : localtime_r(&seconds, &tm)) ||
	    strftime(name, SPLIT_NAME_SIZE, "%Y-%m-%d", &tm) == 0)
		name[0] = '\0';
}

void split_name_end(enum output_mode mode, enum packed_kind kind, char *name)
{
	size_t at = strlen(name);
	const char *ending;

	switch (mode) {
	case OUTPUT_EXPORT:
		ending = ".export";
		break;
	case OUTPUT_JSON:
	case OUTPUT_JSON_PRETTY:
	case OUTPUT_JSON_SSE:
	case OUTPUT_JSON_SEQ:
	case OUTPUT_JSON_STABLE:
		ending = ".json";
		break;
	default:
		ending = ".log";
	}
	snprintf(name + at, SPLIT_NAME_SIZE - at, "%s%s", ending,
		 kind == PACKED_ZSTD ? ".zst" : kind == PACKED_LZ4 ? ".lz4" : "");
}
