/* SPDX-License-Identifier: MIT */
/*
 * Matching messages with PCRE2: compiled once and to machine code where the library can, matched on
 * raw bytes. A build without the library answers that it cannot.
 */
#include "engine/grep.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>

#include "config.h"
#include "engine/grep-literal.h"

bool grep_ignores_case(const char *pattern)
{
	for (; *pattern; pattern++) {
		if (*pattern >= 'A' && *pattern <= 'Z')
			return false;
	}
	return true;
}

#if HAVE_PCRE2

#define PCRE2_CODE_UNIT_WIDTH 8
#include <pcre2.h>

struct grep {
	pcre2_code *code;
	pcre2_match_data *match;
	struct grep_literal literal;
	char failure[256];
};

int grep_new(const char *pattern, bool sensitive, char *text, size_t size, struct grep **ret_grep)
{
	struct grep *grep = calloc(1, sizeof(*grep));
	PCRE2_SIZE offset;
	int error;

	if (!grep)
		return -ENOMEM;
	grep->code = pcre2_compile((PCRE2_SPTR)pattern, PCRE2_ZERO_TERMINATED,
				   sensitive ? 0 : PCRE2_CASELESS, &error, &offset, NULL);
	if (!grep->code) {
		if (pcre2_get_error_message(error, (PCRE2_UCHAR *)text, size) < 0)
			snprintf(text, size, "error %d", error);
		grep_free(grep);
		return -EINVAL;
	}
	/* Where there is no such thing the pattern is interpreted: slower, the same answers. */
	pcre2_jit_compile(grep->code, PCRE2_JIT_COMPLETE);
	grep->match = pcre2_match_data_create(1, NULL);
	if (!grep->match) {
		grep_free(grep);
		return -ENOMEM;
	}
	grep_literal_extract(&grep->literal, pattern, sensitive);
	*ret_grep = grep;
	return 0;
}

struct grep *grep_free(struct grep *grep)
{
	if (!grep)
		return NULL;
	pcre2_match_data_free(grep->match);
	pcre2_code_free(grep->code);
	free(grep);
	return NULL;
}

int grep_match(struct grep *grep, const uint8_t *bytes, size_t size, size_t *ret_begin,
	       size_t *ret_end)
{
	int r = pcre2_match(grep->code, bytes, size, 0, 0, grep->match, NULL);
	const PCRE2_SIZE *ends;

	if (r == PCRE2_ERROR_NOMATCH)
		return 0;
	if (r < 0) {
		if (pcre2_get_error_message(r, (PCRE2_UCHAR *)grep->failure,
					    sizeof(grep->failure)) < 0)
			snprintf(grep->failure, sizeof(grep->failure), "error %d", r);
		return -EINVAL;
	}
	ends = pcre2_get_ovector_pointer(grep->match);
	*ret_begin = ends[0];
	*ret_end = ends[1] > ends[0] ? ends[1] : ends[0];
	return 1;
}

const char *grep_failure(const struct grep *grep)
{
	return grep->failure;
}

const struct grep_literal *grep_literal(const struct grep *grep)
{
	return grep->literal.size ? &grep->literal : NULL;
}

#else

int grep_new(const char *pattern, bool sensitive, char *text, size_t size, struct grep **ret_grep)
{
	(void)pattern;
	(void)sensitive;
	(void)ret_grep;
	snprintf(text, size, "this build has no PCRE2");
	return -EOPNOTSUPP;
}

struct grep *grep_free(struct grep *grep)
{
	return grep;
}

int grep_match(struct grep *grep, const uint8_t *bytes, size_t size, size_t *ret_begin,
	       size_t *ret_end)
{
	(void)grep;
	(void)bytes;
	(void)size;
	(void)ret_begin;
	(void)ret_end;
	return -EOPNOTSUPP;
}

const char *grep_failure(const struct grep *grep)
{
	(void)grep;
	return "this build has no PCRE2";
}

const struct grep_literal *grep_literal(const struct grep *grep)
{
	(void)grep;
	return NULL;
}

#endif
