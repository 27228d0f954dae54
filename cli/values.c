// SPDX-License-Identifier: MIT
/*
 * The values that options take, from text: numbers, line counts, sizes, truth values, lists.
 *
 * These are the forms that journalctl accepts, including the odd ones, because a word that does
 * not parse is left alone by -n and then becomes a match. Nothing here prints: the caller
 * knows which option it was.
 */
#include <ctype.h>
#include <errno.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>

#include "values.h"

#define WHITE_SPACE " \t\n\r"

/* The base that a prefix of *TEXT selects, the prefix skipped; 0: the C library decides. */
static int value_base(const char **text)
{
	if ((*text)[0] != '0')
		return 0;
	if ((*text)[1] == 'b' || (*text)[1] == 'B') {
		*text += 2;
		return 2;
	}
	if ((*text)[1] == 'o' || (*text)[1] == 'O') {
		*text += 2;
		return 8;
	}
	return 0;
}

int value_integer(const char *text, int *ret_value)
{
	char *end;
	long value;
	int base;

	text += strspn(text, WHITE_SPACE);
	base = value_base(&text);
	errno = 0;
	value = strtol(text, &end, base);
	if (end == text || *end)
		return -EINVAL;
	if (errno || value < INT_MIN || value > INT_MAX)
		return -ERANGE;
	*ret_value = (int)value;
	return 0;
}

int value_lines(const char *text, uint64_t *ret_count, bool *ret_first)
{
	bool first = text[0] == '+';
	int value, r;

	if (strcmp(text, "all") == 0) {
		*ret_count = LINES_ALL;
		*ret_first = false;
		return 0;
	}
	r = value_integer(text + first, &value);
	if (r < 0)
		return r;
	if (value < 0)
		return -EINVAL;
	*ret_count = (uint64_t)value;
	*ret_first = first;
	return 0;
}

int value_size(const char *text, uint64_t *ret_bytes)
{
	static const char units[] = "KMGT";
	unsigned long long value;
	unsigned shift = 0;
	const char *unit;
	char *end;

	if (!isdigit((unsigned char)text[0]))
		return -EINVAL;
	errno = 0;
	value = strtoull(text, &end, 10);
	if (errno)
		return -ERANGE;
	if (*end) {
		unit = strchr(units, toupper((unsigned char)*end));
		if (!unit || end[1])
			return -EINVAL;
		shift = 10 * (unsigned)(unit - units + 1);
	}
	if (value > UINT64_MAX >> shift)
		return -ERANGE;
	*ret_bytes = (uint64_t)value << shift;
	return 0;
}

int value_boolean(const char *text, bool *ret_value)
{
	static const char *const words[2][6] = {
		{ "0", "no", "n", "false", "f", "off" },
		{ "1", "yes", "y", "true", "t", "on" },
	};

	for (unsigned truth = 0; truth < 2; truth++)
		for (unsigned i = 0; i < 6; i++)
			if (strcasecmp(text, words[truth][i]) == 0) {
				*ret_value = truth;
				return 0;
			}
	return -EINVAL;
}

int list_add(char ***list, size_t *count, const char *text, size_t size)
{
	for (size_t i = 0; i < *count; i++)
		if (strlen((*list)[i]) == size && memcmp((*list)[i], text, size) == 0)
			return 0;
	return list_append(list, count, text, size);
}

int list_append(char ***list, size_t *count, const char *text, size_t size)
{
	char **grown, *copy = strndup(text, size);

	if (!copy)
		return -ENOMEM;
	grown = reallocarray(*list, *count + 2, sizeof(char *));
	if (!grown) {
		free(copy);
		return -ENOMEM;
	}
	grown[(*count)++] = copy;
	grown[*count] = NULL;
	*list = grown;
	return 0;
}

int list_add_file(char ***list, size_t *count, const char *path)
{
	char *pattern = malloc(2 * strlen(path) + 1), *p = pattern;
	int r;

	if (!pattern)
		return -ENOMEM;
	for (; *path; path++) {
		if (strchr("*?[]\\", *path))
			*p++ = '\\';
		*p++ = *path;
	}
	*p = '\0';
	r = list_add(list, count, pattern, (size_t)(p - pattern));
	free(pattern);
	return r;
}

int list_add_items(char ***list, size_t *count, const char *text)
{
	int r;

	for (;;) {
		size_t size = strcspn(text, ",");

		if (size) {
			r = list_add(list, count, text, size);
			if (r < 0)
				return r;
		}
		if (!text[size])
			return 0;
		text += size + 1;
	}
}

char **list_free(char **list)
{
	for (char **item = list; item && *item; item++)
		free(*item);
	free(list);
	return NULL;
}
