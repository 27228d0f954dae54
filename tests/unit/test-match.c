/* SPDX-License-Identifier: MIT */
/* Match expressions: what a term may look like, the tree that adding builds, and what it means. */
#include <criterion/criterion.h>
#include <criterion/new/assert.h>

#include "engine/match.h"
#include "tests/support/query.h"

/* Adds a term given as text. */
static int add(void *m, const char *term)
{
	return match_add(m, term, strlen(term));
}

static int or_next(void *m)
{
	return match_or(m);
}

static int and_next(void *m)
{
	return match_and(m);
}

static const struct query_builder builder = { add, or_next, and_next };

/* Marks the terms that an entry of these texts (ended by NULL) holds. */
static void mark(const struct match_node *node, const char *const *texts, bool *has)
{
	for (size_t i = 0; i < node->child_count; i++)
		mark(node->children[i], texts, has);
	for (; node->kind == MATCH_TERM && *texts; texts++)
		has[node->ordinal] |= node->size == strlen(*texts) &&
				      memcmp(node->data, *texts, node->size) == 0;
}

/* Whether an entry of these texts matches. */
static bool matches(const struct match *m, const char *const *texts)
{
	bool has[64] = { false };

	cr_assert(le(u32, m->term_count, 64));
	mark(m->root, texts, has);
	return match_evaluate(m->root, has);
}

#define MATCHES(m, ...) matches(m, (const char *const[]){ __VA_ARGS__, NULL })

Test(match, terms_are_a_name_and_a_value)
{
	static const struct {
		const char *text;
		size_t size, name_size; /* 0: refused */
	} cases[] = {
		{ "A=1", 3, 1 },	{ "A=", 2, 1 },		 { "_A=1", 4, 2 },
		{ "A_1=x=y", 7, 3 },	{ "1A=x", 4, 2 },	 { "A=\0\n", 4, 1 },
		{ "_=x", 3, 1 },	{ "", 0, 0 },		 { "A", 1, 0 },
		{ "=", 1, 0 },		{ "=x", 2, 0 },		 { "AB", 2, 0 },
		{ "__A=1", 5, 0 },	{ "a=1", 3, 0 },	 { "A B=1", 5, 0 },
		{ "A-B=1", 5, 0 },	{ "A\0=1", 4, 0 },	 { "\xc3\x84=1", 4, 0 },
		{ "A=1", 1, 0 },
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct match m = { 0 };
		size_t name_size = 0;

		cr_expect(eq(int, match_is_valid(cases[i].text, cases[i].size, &name_size),
			     cases[i].name_size > 0), "case %zu", i);
		cr_expect(eq(sz, name_size, cases[i].name_size), "case %zu", i);
		cr_expect(eq(int, match_add(&m, cases[i].text, cases[i].size),
			     cases[i].name_size ? 0 : -EINVAL), "case %zu", i);
		cr_expect(eq(int, m.root != NULL, cases[i].name_size > 0),
			  "case %zu: a refused term leaves nothing behind", i);
		match_done(&m);
	}
}

Test(match, a_name_has_no_limit)
{
	char text[5000];
	struct match m = { 0 };

	memset(text, 'N', sizeof(text));
	text[4990] = '=';
	cr_assert(eq(int, match_add(&m, text, sizeof(text)), 0));
	cr_expect(eq(sz, m.root->children[0]->children[0]->children[0]->name_size, 4990));
	match_done(&m);
}

Test(match, values_of_one_field_are_alternatives_and_fields_must_all_hold)
{
	struct match m = { 0 };

	add(&m, "A=1");
	add(&m, "B=1");
	add(&m, "A=2");
	cr_expect(MATCHES(&m, "A=1", "B=1"));
	cr_expect(MATCHES(&m, "B=1", "A=2", "C=0"));
	cr_expect(not(MATCHES(&m, "A=1")));
	cr_expect(not(MATCHES(&m, "B=1")));
	cr_expect(not(MATCHES(&m, "A=12", "B=1")));
	match_done(&m);
	cr_expect(eq(ptr, m.root, NULL));
	match_done(&m);
}

Test(match, a_longer_name_is_another_field)
{
	struct match m = { 0 };

	add(&m, "A=1");
	add(&m, "AA=1");
	cr_expect(not(MATCHES(&m, "A=1")));
	cr_expect(not(MATCHES(&m, "AA=1")));
	cr_expect(MATCHES(&m, "AA=1", "A=1"));
	match_done(&m);
}

Test(match, equal_terms_count_once_in_a_group_but_again_in_another)
{
	struct match m = { 0 };

	add(&m, "A=1");
	add(&m, "A=1");
	cr_expect(eq(u32, m.term_count, 1));
	match_or(&m);
	add(&m, "A=1");
	cr_expect(eq(u32, m.term_count, 2));
	match_done(&m);
}

Test(match, or_and_and_without_a_term_after_them_change_nothing)
{
	struct match m = { 0 };

	match_or(&m);
	match_and(&m);
	cr_expect(eq(ptr, m.root, NULL));
	add(&m, "A=1");
	match_or(&m);
	match_or(&m);
	match_and(&m);
	match_and(&m);
	cr_expect(MATCHES(&m, "A=1"));
	cr_expect(not(MATCHES(&m, "A=2")));
	match_done(&m);
}

Test(match, the_example_of_the_specification_means_what_it_says)
{
	/* PRIORITY=1 PRIORITY=2 A=1 + B=1 A=1, and -p 0..2 */
	static const char *const terms[] = { "PRIORITY=0", "PRIORITY=1", "PRIORITY=2" };
	struct match m = { 0 };

	for (int i = 0; i < 3; i++)
		add(&m, terms[i]);
	match_and(&m);
	add(&m, "PRIORITY=1");
	add(&m, "PRIORITY=2");
	add(&m, "A=1");
	match_or(&m);
	add(&m, "B=1");
	add(&m, "A=1");
	cr_expect(MATCHES(&m, "PRIORITY=1", "A=1"));
	cr_expect(MATCHES(&m, "PRIORITY=0", "A=1", "B=1"));
	cr_expect(not(MATCHES(&m, "PRIORITY=0", "A=1")));
	cr_expect(not(MATCHES(&m, "PRIORITY=3", "A=1", "B=1")));
	cr_expect(not(MATCHES(&m, "PRIORITY=1", "B=1")));
	match_done(&m);
}

Test(match, random_expressions_mean_what_the_model_says)
{
	uint64_t random = 11;

	for (unsigned n = 0; n < 2000; n++) {
		struct query q = query_random(&random);
		struct match m = { 0 };

		query_build(&q, &builder, &m);
		for (unsigned k = 0; k < 30; k++) {
			uint32_t held = (uint32_t)query_random_below(&random, 1u << QUERY_ABSENT);
			const char *texts[QUERY_ABSENT + 1];
			size_t count = 0;

			for (unsigned t = 0; t < QUERY_ABSENT; t++) {
				if (held >> t & 1)
					texts[count++] = query_term_text(t);
			}
			texts[count] = NULL;
			cr_assert(eq(int, matches(&m, texts), query_matches(&q, held)),
				  "expression %u, entry %u", n, k);
		}
		match_done(&m);
	}
}

Test(match, a_term_carries_the_hash_of_unkeyed_files)
{
	struct match m = { 0 };

	add(&m, "MESSAGE=hello");
	cr_expect(eq(u64, m.root->children[0]->children[0]->children[0]->children[0]->hash,
		     hash_jenkins("MESSAGE=hello", 13)));
	match_done(&m);
}
