// SPDX-License-Identifier: MIT
/*
 * Text that came from journals and from names of files, as it is shown in tables. Whoever wrote it
 * could have put anything there.
 */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "shown.h"

/* The length of the character at TEXT if it can be shown, else 0. */
static size_t shown_character(const unsigned char *text)
{
	static const uint32_t least[] = { 0, 0, 0xa0, 0x800, 0x10000 };
	size_t size = *text < 0x80 ? 1 : *text >> 5 == 6 ? 2 : *text >> 4 == 14 ? 3 :
		      *text >> 3 == 30 ? 4 : 0;
	uint32_t c = size > 1 ? *text & (0x7fu >> size) : *text;

	for (size_t i = 1; i < size; i++) {
		if ((text[i] & 0xc0) != 0x80)
			return 0;
		c = c << 6 | (text[i] & 0x3fu);
	}
	if (size == 1)
		return *text >= ' ' && *text < 0x7f;
	return size && c >= least[size] && c <= 0x10ffff && (c < 0xd800 || c > 0xdfff) ? size : 0;
}

char *shown_text(const void *bytes, size_t size)
{
	char *copy = malloc(size + 1), *text = malloc(4 * size + 1), *to = text;
	const unsigned char *from = (const unsigned char *)copy;

	if (!copy || !text) {
		free(copy);
		free(text);
		return NULL;
	}
	memcpy(copy, bytes, size);
	copy[size] = '\0'; /* no character goes on beyond it */
	while (from < (const unsigned char *)copy + size) {
		size_t length = shown_character(from);

		if (length) {
			memcpy(to, from, length);
			to += length;
			from += length;
		} else {
			to += snprintf(to, 5, "\\x%02x", *from++);
		}
	}
	*to = '\0';
	free(copy);
	return text;
}
