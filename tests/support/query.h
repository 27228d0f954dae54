/* SPDX-License-Identifier: MIT */
/*
 * Random match expressions over a small vocabulary, random files that use it, and a model that says
 * what matches: an entry is a set of terms, kept as bits. Everything follows from seeds.
 */
#ifndef TESTS_SUPPORT_QUERY_H
#define TESTS_SUPPORT_QUERY_H

#include "tests/support/fixture.h"

#define QUERY_FIELDS 5u
#define QUERY_VALUES 3u
/* Terms A=0 to E=2; the last one stands in no file. */
#define QUERY_ABSENT (QUERY_FIELDS * QUERY_VALUES)
#define QUERY_TERMS_MAX 8u
#define QUERY_ENTRIES_MAX 400u

/* A term, and what was said before it: which group and which alternative in it are current. */
struct query_term {
	unsigned group, alternative, term;
};

struct query {
	unsigned count;
	struct query_term terms[QUERY_TERMS_MAX];
};

/* A file and what each of its entries holds. */
struct query_file {
	struct fixture *fx;
	unsigned entry_count;
	uint32_t held[QUERY_ENTRIES_MAX];
	uint64_t offsets[QUERY_ENTRIES_MAX];
	uint64_t realtimes[QUERY_ENTRIES_MAX];
};

/* The text of a term, of three characters. */
const char *query_term_text(unsigned term);

/* A random expression of at least one term. */
struct query query_random(uint64_t *random);

/* Whether an entry that holds these terms matches. */
bool query_matches(const struct query *q, uint32_t held);

/* Calls back in the order in which a command line would say it. */
struct query_builder {
	int (*add)(void *userdata, const char *term);
	int (*or_next)(void *userdata);
	int (*and_next)(void *userdata);
};
void query_build(const struct query *q, const struct query_builder *builder, void *userdata);

/* Fills a file whose layout OPTIONS gives with COUNT entries of random terms, finished; NUMBER
 * makes files of one archive different. */
void query_file_make(struct query_file *file, const struct fixture_options *options, unsigned count,
		     unsigned number, uint64_t *random);
/* The same with a random layout, for archives of several files. */
void query_file_random(struct query_file *file, unsigned number, uint64_t *random);

uint64_t query_random_below(uint64_t *random, uint64_t limit);

#endif
