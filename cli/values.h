/* SPDX-License-Identifier: MIT */
/* The values that options take, from text. */
#ifndef CLI_VALUES_H
#define CLI_VALUES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* A whole number as journalctl reads one: leading white space, one sign, 0x, 0o and 0b prefixes, a
 * leading 0 for octal, nothing after it. -EINVAL; -ERANGE beyond an int. */
int value_integer(const char *text, int *ret_value);

/* No limit on the number of entries. */
#define LINES_ALL UINT64_MAX

/* The argument of --lines: N, +N (the first ones, not the last) or "all". -EINVAL. */
int value_lines(const char *text, uint64_t *ret_count, bool *ret_first);

/* A number of bytes, with K, M, G or T behind it (powers of 1024). -EINVAL; -ERANGE. */
int value_size(const char *text, uint64_t *ret_bytes);

/* A truth value: 1, yes, true, on and the like, in any case. -EINVAL. */
int value_boolean(const char *text, bool *ret_value);

/* Appends to the NULL-terminated list *LIST of *COUNT strings a copy of SIZE bytes of TEXT, unless
 * the list holds them. -ENOMEM. */
int list_add(char ***list, size_t *count, const char *text, size_t size);

/* The same, whatever the list holds. */
int list_append(char ***list, size_t *count, const char *text, size_t size);
/* Appends the non-empty items of the comma-separated TEXT. */
int list_add_items(char ***list, size_t *count, const char *text);
/* Appends a path as a pattern that stands for nothing else. */
int list_add_file(char ***list, size_t *count, const char *path);
/* Frees a list. Returns NULL. */
char **list_free(char **list);

#endif
