/* SPDX-License-Identifier: MIT */
/*
 * The literal of a pattern: a run of bytes that every match must hold, read off the pattern's text.
 * The parser knows as much of PCRE2's syntax as it needs to be sure. What stands in groups is
 * skipped; what can change the meaning of the text around it (options, verbs, conditions,
 * comments, recursion, numbered escapes), and alternatives at the top, mean that there is no
 * literal. Whether a pattern is valid is not looked at: PCRE2 has compiled it before.
 *
 * It is found by two of its bytes, those that are the rarest in journals, sixteen places at a time.
 */
#include "engine/grep-literal.h"

#include <string.h>

/* ---- extraction ------------------------------------------------------------------------- */

struct literal_parser {
	const uint8_t *p;
	bool sensitive;
	bool literal_last;    /* what stands before is the last byte of the run */
	size_t run_size;
	uint8_t run[GREP_LITERAL_MAX];
	size_t best_size;
	uint8_t best[GREP_LITERAL_MAX];
};

static bool literal_is_letter(uint8_t c)
{
	return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
}

static bool literal_is_digit(uint8_t c)
{
	return c >= '0' && c <= '9';
}

/* The run ends here. */
static void literal_break(struct literal_parser *l)
{
	if (l->run_size > l->best_size) {
		memcpy(l->best, l->run, l->run_size);
		l->best_size = l->run_size;
	}
	l->run_size = 0;
	l->literal_last = false;
}

/* A byte that matches itself. */
static void literal_add(struct literal_parser *l, uint8_t c)
{
	/* Beyond ASCII the library's tables decide which bytes are letters. */
	if (c >= 0x80 && !l->sensitive) {
		literal_break(l);
		return;
	}
	if (l->run_size == GREP_LITERAL_MAX)
		literal_break(l);
	l->run[l->run_size++] = c;
	l->literal_last = true;
}

/* A quantifier: of the byte before it, it may want none. */
static void literal_quantify(struct literal_parser *l, bool at_least_one)
{
	if (l->literal_last && !at_least_one)
		l->run_size--;
	literal_break(l);
	if (*l->p == '+' || *l->p == '?')
		l->p++; /* possessive or lazy */
}

/* Behind an opening brace. False: it cannot be told what it is. */
static bool literal_brace(struct literal_parser *l)
{
	/* Versions differ in what they allow in a quantifier, not in what one begins with. */
	if (!literal_is_digit(*l->p) && *l->p != ',' && *l->p != ' ' && *l->p != '\t') {
		literal_add(l, '{');
		return true;
	}
	while (literal_is_digit(*l->p) || *l->p == ',')
		l->p++;
	if (*l->p != '}')
		return false;
	l->p++;
	literal_quantify(l, false);
	return true;
}

/* Behind \Q. QUIET: inside a group, where nothing is collected. */
static void literal_quoted(struct literal_parser *l, bool quiet)
{
	for (; *l->p && !(l->p[0] == '\\' && l->p[1] == 'E'); l->p++) {
		if (!quiet)
			literal_add(l, *l->p);
	}
	if (*l->p)
		l->p += 2;
}

/* Behind a backslash. False: it cannot be told how far the escape goes. */
static bool literal_escape(struct literal_parser *l, bool quiet)
{
	uint8_t c = *l->p;

	if (c == '\0' || c >= 0x80)
		return false;
	l->p++;
	if (c == 'Q') {
		literal_quoted(l, quiet);
		return true;
	}
	if (c == 'E')
		return true;
	if (!literal_is_letter(c) && !literal_is_digit(c)) {
		if (!quiet)
			literal_add(l, c);
		return true;
	}
	if (!strchr("dDwWsShHvVbBAzZGRXtrnfae", c))
		return false;
	if (!quiet)
		literal_break(l);
	return true;
}

/* Behind an opening bracket. False: too special a class. */
static bool literal_class(struct literal_parser *l)
{
	if (*l->p == '^')
		l->p++;
	if (*l->p == ']')
		l->p++;
	for (;; l->p++) {
		switch (*l->p) {
		case '\0':
			return false;
		case ']':
			l->p++;
			return true;
		case '\\':
			l->p++;
			if (*l->p == '\0' || *l->p == 'Q' || *l->p == 'E' || *l->p == 'c')
				return false;
			break;
		case '[':
			if (l->p[1] == '.' || l->p[1] == '=')
				return false;
			if (l->p[1] != ':')
				break;
			for (l->p += 2; *l->p == '^' || literal_is_letter(*l->p); l->p++)
				;
			if (l->p[0] != ':' || l->p[1] != ']')
				return false;
			l->p++;
			break;
		}
	}
}

/* Behind an opening parenthesis: true if it begins a group that changes nothing outside. */
static bool literal_group_begin(struct literal_parser *l)
{
	if (*l->p == '*')
		return false;
	if (*l->p != '?')
		return true;
	l->p++;
	if (*l->p == '<')
		return l->p[1] == '=' || l->p[1] == '!';
	return *l->p != '\0' && strchr(":=!>", *l->p);
}

/* Behind an opening parenthesis: passes over the whole group. */
static bool literal_group(struct literal_parser *l)
{
	unsigned depth = 1;

	if (!literal_group_begin(l))
		return false;
	while (depth > 0) {
		switch (*l->p++) {
		case '\0':
			return false;
		case '\\':
			if (!literal_escape(l, true))
				return false;
			break;
		case '[':
			if (!literal_class(l))
				return false;
			break;
		case '(':
			if (!literal_group_begin(l))
				return false;
			depth++;
			break;
		case ')':
			depth--;
			break;
		}
	}
	return true;
}

/* The next piece of the pattern. False: no literal can be known. */
static bool literal_piece(struct literal_parser *l)
{
	uint8_t c = *l->p++;

	switch (c) {
	case '\\':
		return literal_escape(l, false);
	case '[':
		literal_break(l);
		return literal_class(l);
	case '(':
		literal_break(l);
		return literal_group(l);
	case '{':
		return literal_brace(l);
	case '*':
	case '?':
		literal_quantify(l, false);
		return true;
	case '+':
		literal_quantify(l, true);
		return true;
	case '|':
	case ')':
		return false;
	case '.':
	case '^':
	case '$':
		literal_break(l);
		return true;
	default:
		literal_add(l, c);
		return true;
	}
}

/* How common a byte is in journals, roughly: the less the better to look for. */
static unsigned literal_frequency(uint8_t c, bool folded)
{
	static const char common[] = "etaoinsrdlcupm0123=_456789ghf.-b/:yvw";
	const char *at = c ? strchr(common, c) : common;
	unsigned rank = at ? 64 - (unsigned)(at - common) : c < 0x20 ? 50 : 10;

	return folded ? rank + 4 : rank;
}

/* Chooses the two bytes. */
static void literal_choose(struct grep_literal *literal)
{
	unsigned best = UINT32_MAX, second_best = UINT32_MAX;

	for (unsigned i = 0; i < literal->size; i++) {
		unsigned f = literal_frequency(literal->bytes[i], literal->fold[i]);

		if (f < best) {
			second_best = best;
			literal->second = literal->first;
			best = f;
			literal->first = i;
		} else if (f < second_best) {
			second_best = f;
			literal->second = i;
		}
	}
}

bool grep_literal_extract(struct grep_literal *literal, const char *pattern, bool sensitive)
{
	struct literal_parser l = { .p = (const uint8_t *)pattern, .sensitive = sensitive };

	*literal = (struct grep_literal){ 0 };
	while (*l.p) {
		if (!literal_piece(&l))
			return false;
	}
	literal_break(&l);
	if (l.best_size < GREP_LITERAL_MIN)
		return false;
	literal->size = l.best_size;
	memcpy(literal->bytes, l.best, l.best_size);
	for (size_t i = 0; i < literal->size && !sensitive; i++) {
		if (!literal_is_letter(literal->bytes[i]))
			continue;
		literal->fold[i] = 0x20;
		literal->bytes[i] |= 0x20;
	}
	literal_choose(literal);
	return true;
}

/* ---- search ----------------------------------------------------------------------------- */

typedef uint8_t literal_vec __attribute__((vector_size(16)));

/* Sixteen times one byte. */
static inline literal_vec literal_splat(uint8_t c)
{
	return (literal_vec){ c, c, c, c, c, c, c, c, c, c, c, c, c, c, c, c };
}

/* Sixteen bytes from any address. */
static inline literal_vec literal_load(const uint8_t *p)
{
	literal_vec v;

	memcpy(&v, p, sizeof(v));
	return v;
}

/* True if some lane is set. */
static inline bool literal_any(literal_vec v)
{
	uint64_t halves[2];

	memcpy(halves, &v, sizeof(halves));
	return (halves[0] | halves[1]) != 0;
}

/* Whether the literal stands at P. */
static inline bool literal_is_at(const struct grep_literal *literal, const uint8_t *p)
{
	for (size_t i = 0; i < literal->size; i++) {
		if ((p[i] | literal->fold[i]) != literal->bytes[i])
			return false;
	}
	return true;
}

/* The first of COUNT places from P on where the literal stands, or NULL. */
static const uint8_t *literal_try(const struct grep_literal *literal, const uint8_t *p,
				  size_t count)
{
	for (size_t i = 0; i < count; i++) {
		if ((p[i + literal->first] | literal->fold[literal->first]) ==
			    literal->bytes[literal->first] &&
		    literal_is_at(literal, p + i))
			return p + i;
	}
	return NULL;
}

const uint8_t *grep_literal_find(const struct grep_literal *literal, const uint8_t *p,
				 const uint8_t *end)
{
	const literal_vec a = literal_splat(literal->bytes[literal->first]);
	const literal_vec b = literal_splat(literal->bytes[literal->second]);
	const literal_vec fold_a = literal_splat(literal->fold[literal->first]);
	const literal_vec fold_b = literal_splat(literal->fold[literal->second]);
	const uint8_t *found, *last; /* one past the last place where it fits */

	if (p >= end || (size_t)(end - p) < literal->size)
		return NULL;
	last = end - literal->size + 1;
	/* Loads reach as far as the literal, from places that are all before LAST. */
	for (; last - p >= 64; p += 64) {
		literal_vec hit[4];

		for (unsigned i = 0; i < 4; i++) {
			literal_vec x = literal_load(p + 16 * i + literal->first) | fold_a;
			literal_vec y = literal_load(p + 16 * i + literal->second) | fold_b;

			hit[i] = (literal_vec)(x == a) & (literal_vec)(y == b);
		}
		if (!literal_any((hit[0] | hit[1]) | (hit[2] | hit[3])))
			continue;
		for (unsigned i = 0; i < 4; i++) {
			if (!literal_any(hit[i]))
				continue;
			found = literal_try(literal, p + 16 * i, 16);
			if (found)
				return found;
		}
	}
	return literal_try(literal, p, (size_t)(last - p));
}
