/* SPDX-License-Identifier: MIT */
/* Bytes that occur in everything that a pattern matches, and how they are found in raw bytes. */
#ifndef ENGINE_GREP_LITERAL_H
#define ENGINE_GREP_LITERAL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define GREP_LITERAL_MIN 2u
#define GREP_LITERAL_MAX 64u

struct grep_literal {
	size_t size;                     /* 0: there is none */
	uint8_t bytes[GREP_LITERAL_MAX]; /* letters in lower case if they are folded */
	uint8_t fold[GREP_LITERAL_MAX];  /* 0x20 where a byte stands for a letter in either case */
	unsigned first, second;          /* positions of the two bytes that are looked for */
};

/*
 * The longest run of bytes that every match of a PCRE2 pattern (compiled without options, or with
 * PCRE2_CASELESS if not SENSITIVE) certainly holds. False, and size 0: none of GREP_LITERAL_MIN
 * bytes is known.
 */
bool grep_literal_extract(struct grep_literal *literal, const char *pattern, bool sensitive);

/* The first occurrence in the bytes from P up to END, or NULL. */
const uint8_t *grep_literal_find(const struct grep_literal *literal, const uint8_t *p,
				 const uint8_t *end);

#endif
