/* SPDX-License-Identifier: MIT */
/*
 * The literal of a pattern: what is read off it, that PCRE2 never matches where it does not occur,
 * and that the search finds what there is.
 */
#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#include <criterion/criterion.h>
#include <criterion/new/assert.h>

#include "engine/grep-literal.h"
#include "engine/grep.h"

/* The literal of a pattern as text; empty if there is none. */
static char *literal_of(const char *pattern, bool sensitive)
{
	static char text[GREP_LITERAL_MAX + 1];
	struct grep_literal literal;

	grep_literal_extract(&literal, pattern, sensitive);
	memcpy(text, literal.bytes, literal.size);
	text[literal.size] = '\0';
	return text;
}

Test(grep_literal, is_the_longest_run_that_must_be_there)
{
	cr_expect(eq(str, literal_of("connection", true), (char *)"connection"));
	cr_expect(eq(str, literal_of("Failed (to|at) start", true), (char *)"Failed "));
	cr_expect(eq(str, literal_of("^ab.*core dump$", true), (char *)"core dump"));
	cr_expect(eq(str, literal_of("abcd*efg", true), (char *)"abc"));
	cr_expect(eq(str, literal_of("abcd+ef", true), (char *)"abcd"));
	cr_expect(eq(str, literal_of("abcde{0,3}f", true), (char *)"abcd"));
	cr_expect(eq(str, literal_of("\\Qa.b*c\\E*x", true), (char *)"a.b*"));
	cr_expect(eq(str, literal_of("10\\.0\\.0\\.1", true), (char *)"10.0.0.1"));
	cr_expect(eq(str, literal_of("{\"level\"", true), (char *)"{\"level\""));
	cr_expect(eq(str, literal_of("[]x]abc", true), (char *)"abc"));
	cr_expect(eq(str, literal_of("Error", false), (char *)"error"));
	cr_expect(eq(str, literal_of("gr\xc3\xbc\xc3\x9f" "e", true),
		     (char *)"gr\xc3\xbc\xc3\x9f" "e"));
}

Test(grep_literal, is_none_when_in_doubt)
{
	static const char *const patterns[] = {
		"", "a", "abc|def", "(?i)abcdef", "(*UTF)abcdef", "(?x)a b c d", "\\x41bcdef",
		"\\101abc", "abc(?#def", "(abc)\\1def", "\\N{U+41}abc", "[[:<:]]abc", "(?R)abcd",
		"[\\Qab\\E]cdef", "abc{ 1 }def", "(?|abc)def", "\\cAabc", "\\p{L}abc", "a*b*c*",
		"(abcdef)", "(?<name>abc)def",
	};

	for (size_t i = 0; i < sizeof(patterns) / sizeof(*patterns); i++)
		cr_expect(eq(str, literal_of(patterns[i], true), (char *)""), "%s", patterns[i]);
	cr_expect(eq(str, literal_of("\xc3\xbc\xc3\x9f", false), (char *)""));
}

/* The first place of a literal, by looking at every one. */
static const uint8_t *find_slowly(const struct grep_literal *l, const uint8_t *p,
				  const uint8_t *end)
{
	for (; p + l->size <= end; p++) {
		size_t i = 0;

		while (i < l->size && (l->fold[i] ? tolower(p[i]) : p[i]) == l->bytes[i])
			i++;
		if (i == l->size)
			return p;
	}
	return NULL;
}

/* Fills SIZE bytes and a NUL from an alphabet. */
static void fill(char *bytes, size_t size, const char *alphabet, unsigned *seed)
{
	size_t count = strlen(alphabet);

	for (size_t i = 0; i < size; i++)
		bytes[i] = alphabet[(size_t)rand_r(seed) % count];
	bytes[size] = '\0';
}

Test(grep_literal, occurs_wherever_the_pattern_matches)
{
	static const char *const pieces[] = {
		"a", "b", "A", "abc", "1", ".", "*", "+", "?", "{2}", "{0,1}", "{,2}", "{", "}",
		"[ab]", "[^]a]", "[[:alpha:]]", "[a\\]b]", "(", "(?:", "(?=", "(?<!a)", ")", "|",
		"\\d", "\\.", "\\Q", "\\E", "^", "$", "\\b", "aab", "ba", "(?i)", "(?x)", "#", " ",
		"\\x41", "\\K", "\\\\", "(a)?", "(?>ab|b)", "\\h", "-", "]", "ab", "bab",
	};
	unsigned seed = 262, matched = 0, with_literal = 0;
	char text[256];

	for (unsigned n = 0; n < 200000; n++) {
		unsigned count = 1 + (unsigned)rand_r(&seed) % 8;
		bool sensitive = rand_r(&seed) & 1;
		struct grep_literal literal;
		char pattern[128] = "";
		struct grep *grep;

		for (unsigned i = 0; i < count; i++)
			strcat(pattern, pieces[(size_t)rand_r(&seed) %
					       (sizeof(pieces) / sizeof(*pieces))]);
		if (!grep_literal_extract(&literal, pattern, sensitive))
			continue;
		if (grep_new(pattern, sensitive, text, sizeof(text), &grep) < 0)
			continue;
		with_literal++;
		for (unsigned k = 0; k < 24; k++) {
			char subject[48];
			size_t size = (size_t)rand_r(&seed) % 40, begin, end;
			const uint8_t *s = (const uint8_t *)subject;

			fill(subject, size, "aabbAB1. ", &seed);
			if (grep_match(grep, s, size, &begin, &end) <= 0)
				continue;
			matched++;
			cr_assert(find_slowly(&literal, s, s + size) != NULL, "'%s' in '%s'",
				  pattern, subject);
		}
		grep_free(grep);
	}
	cr_expect(gt(uint, with_literal, 1000u));
	cr_expect(gt(uint, matched, 1000u));
}

Test(grep_literal, is_found_wherever_it_is)
{
	unsigned seed = 1;

	for (unsigned n = 0; n < 200000; n++) {
		size_t size = (size_t)rand_r(&seed) % 300, count = 2 + (size_t)rand_r(&seed) % 6;
		char pattern[16], *bytes = malloc(size + 1);
		const uint8_t *p, *end;
		struct grep_literal l;

		fill(pattern, count, n & 2 ? "abz" : "aAb@`", &seed);
		fill(bytes, size, n & 2 ? "aabbz" : "aAb@`", &seed);
		p = (const uint8_t *)bytes;
		end = p + size;
		cr_assert(grep_literal_extract(&l, pattern, n & 1));
		cr_assert(eq(ptr, (void *)grep_literal_find(&l, p, end),
			     (void *)find_slowly(&l, p, end)), "%s in %s", pattern, bytes);
		free(bytes);
	}
}
