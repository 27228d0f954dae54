// SPDX-License-Identifier: MIT
/*
 * The values of options that select entries: descriptors of boots and invocations, levels,
 * facilities.
 *
 * Pure functions from text; what they are applied to is in filter.c and boots.c. Nothing here
 * prints.
 */
#include <ctype.h>
#include <errno.h>
#include <string.h>

#include "selectors.h"
#include "values.h"

#define ID_DIGITS 32

int descriptor_parse(const char *text, struct descriptor *ret_descriptor)
{
	static const jscan_id null_id;
	struct descriptor d = { 0 };
	char hex[JSCAN_ID_TEXT_SIZE];
	size_t digits = 0;

	if (strcmp(text, "all") == 0) {
		ret_descriptor->all = true;
		return 0;
	}
	while (digits < ID_DIGITS && isxdigit((unsigned char)text[digits]))
		digits++;
	if (digits == ID_DIGITS) {
		memcpy(hex, text, ID_DIGITS);
		hex[ID_DIGITS] = '\0';
		text += ID_DIGITS;
		if (jscan_id_parse(hex, &d.id) < 0 || (*text && *text != '+' && *text != '-'))
			return -EINVAL;
		d.has_id = memcmp(&d.id, &null_id, sizeof(null_id)) != 0;
	}
	if ((*text || digits != ID_DIGITS) && value_integer(text, &d.offset) < 0)
		return -EINVAL;
	*ret_descriptor = d;
	return 0;
}

int level_parse(const char *text, size_t size, unsigned *ret_level)
{
	static const char *const names[] = { "emerg",   "alert",  "crit", "err",
					     "warning", "notice", "info", "debug" };
	char copy[16];
	int value;

	if (size >= sizeof(copy))
		return -EINVAL;
	memcpy(copy, text, size);
	copy[size] = '\0';
	for (unsigned i = 0; i < sizeof(names) / sizeof(names[0]); i++)
		if (strcmp(copy, names[i]) == 0) {
			*ret_level = i;
			return 0;
		}
	if (value_integer(copy, &value) < 0 || value < 0 || value > 7)
		return -EINVAL;
	*ret_level = (unsigned)value;
	return 0;
}

int levels_parse(const char *text, uint32_t *ret_levels, bool *ret_is_range)
{
	const char *dots = strstr(text, "..");
	unsigned from = 0, to;

	*ret_is_range = dots != NULL;
	if (dots && (level_parse(text, (size_t)(dots - text), &from) < 0 ||
		     level_parse(dots + 2, strlen(dots + 2), &to) < 0))
		return -EINVAL;
	if (!dots && level_parse(text, strlen(text), &to) < 0)
		return -EINVAL;
	if (from > to) {
		unsigned low = to;

		to = from;
		from = low;
	}
	*ret_levels = 0;
	for (unsigned level = from; level <= to; level++)
		*ret_levels |= UINT32_C(1) << level;
	return 0;
}

const char *facility_name(unsigned facility)
{
	static const char *const names[24] = {
		"kern",   "user",   "mail",     "daemon", "auth",   "syslog", "lpr",    "news",
		"uucp",   "cron",   "authpriv", "ftp",    NULL,     NULL,     NULL,     NULL,
		"local0", "local1", "local2",   "local3", "local4", "local5", "local6", "local7",
	};

	return facility < sizeof(names) / sizeof(names[0]) ? names[facility] : NULL;
}

int facility_parse(const char *text, unsigned *ret_facility)
{
	int value;

	for (unsigned i = 0; i < 24; i++)
		if (facility_name(i) && strcmp(text, facility_name(i)) == 0) {
			*ret_facility = i;
			return 0;
		}
	if (value_integer(text, &value) < 0 || value < 0 || value >= FACILITY_COUNT)
		return -EINVAL;
	*ret_facility = (unsigned)value;
	return 0;
}
