/* SPDX-License-Identifier: MIT */
/* A pattern that messages are tested against. */
#ifndef ENGINE_GREP_H
#define ENGINE_GREP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct grep;
struct grep_literal;

/*
 * Compiles a PCRE2 pattern, SENSITIVE as to case or not. The caller frees the result. -EINVAL: the
 * pattern is bad, and TEXT (of SIZE bytes) holds the library's words; -EOPNOTSUPP: this build has
 * no PCRE2; -ENOMEM.
 */
int grep_new(const char *pattern, bool sensitive, char *text, size_t size, struct grep **ret_grep);
struct grep *grep_free(struct grep *grep);

/* True if a pattern has no upper-case letter: then case does not matter, as for journalctl. */
bool grep_ignores_case(const char *pattern);

/*
 * Tests SIZE bytes. 1: the match is at *ret_begin to *ret_end; 0: none; -EINVAL: matching failed,
 * and grep_failure() says why.
 */
int grep_match(struct grep *grep, const uint8_t *bytes, size_t size, size_t *ret_begin,
	       size_t *ret_end);
const char *grep_failure(const struct grep *grep);

/* What occurs in all messages that match; NULL if nothing is known to. */
const struct grep_literal *grep_literal(const struct grep *grep);

#endif
