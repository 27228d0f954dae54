// SPDX-License-Identifier: MIT
/*
 * The option table and the walk over the command line: what is found, abbreviated and refused.
 */
#include <errno.h>
#include <criterion/criterion.h>
#include <criterion/new/assert.h>

#include "options.h"
#include "words.h"

/* The row that NAME finds, or a negative errno. */
static int find(const char *name)
{
	enum option_id id;
	int r = option_find(name, strlen(name), &id);

	return r < 0 ? r : (int)id;
}

Test(options, exact_name_wins_over_longer_ones)
{
	cr_assert(eq(int, find("field"), OPTION_FIELD));
	cr_assert(eq(int, find("cursor"), OPTION_CURSOR));
	cr_assert(eq(int, find("output"), OPTION_OUTPUT));
}

Test(options, unique_prefix_is_enough)
{
	cr_assert(eq(int, find("rev"), OPTION_REVERSE));
	cr_assert(eq(int, find("outp"), -EEXIST));
	cr_assert(eq(int, find("output-"), OPTION_OUTPUT_FIELDS));
	cr_assert(eq(int, find("frosting"), -ENOENT));
	cr_assert(eq(int, find(""), -ENOENT));
}

Test(options, three_candidates_are_ambiguous_like_two)
{
	cr_assert(eq(int, find("no-"), -EEXIST));
	cr_assert(eq(int, find("vacuum-"), -EEXIST));
}

Test(options, own_options_leave_journalctls_abbreviations_alone)
{
	cr_assert(eq(int, find("me"), OPTION_MERGE));
	cr_assert(eq(int, find("mem"), OPTION_MEMORY));
	cr_assert(eq(int, find("p"), -EEXIST));
	cr_assert(eq(int, find("st"), -EEXIST));
	cr_assert(eq(int, find("sta"), -EEXIST));
	cr_assert(eq(int, find("stats"), OPTION_STATS));
	cr_assert(eq(int, find("statu"), OPTION_STATUS));
}

Test(options, table_has_a_name_or_letter_in_every_row_and_no_name_twice)
{
	for (enum option_id id = 0; id < OPTION_COUNT; id++) {
		const struct option_row *row = &option_table[id];
		enum option_id found;

		cr_expect(row->name || row->letter, "row %d", id);
		if (row->name)
			cr_expect(eq(int, find(row->name), (int)id));
		if (row->letter) {
			cr_assert(eq(int, option_find_letter(row->letter, &found), 0));
			cr_expect(eq(int, (int)found, (int)id));
		}
	}
}

/* Starts a walk over the words given, NULL last. */
#define WALK(...)                                                                                  \
	struct words words;                                                                        \
	struct word word;                                                                          \
	char *argv[] = { (char *)"jscan", __VA_ARGS__, NULL };                                     \
	words_init(&words, "jscan", argv)

Test(words, cluster_is_taken_apart_and_its_rest_is_the_value)
{
	WALK((char *)"-rqn5", (char *)"-ocat");

	cr_assert(eq(int, words_next(&words, &word), 1));
	cr_expect(eq(int, (int)word.id, OPTION_REVERSE));
	cr_assert(eq(int, words_next(&words, &word), 1));
	cr_expect(eq(int, (int)word.id, OPTION_QUIET));
	cr_assert(eq(int, words_next(&words, &word), 1));
	cr_expect(eq(int, (int)word.id, OPTION_LINES));
	cr_expect(eq(str, (char *)word.value, (char *)"5"));
	cr_assert(eq(int, words_next(&words, &word), 1));
	cr_expect(eq(int, (int)word.id, OPTION_OUTPUT));
	cr_expect(eq(str, (char *)word.value, (char *)"cat"));
	cr_assert(eq(int, words_next(&words, &word), 0));
}

Test(words, next_word_is_only_offered_to_lines_and_boot)
{
	WALK((char *)"-n", (char *)"5", (char *)"--stats", (char *)"json");

	cr_assert(eq(int, words_next(&words, &word), 1));
	cr_assert(ne(ptr, (void *)word.next, NULL));
	cr_expect(eq(str, (char *)word.next, (char *)"5"));
	words_take(&words);
	cr_assert(eq(int, words_next(&words, &word), 1));
	cr_expect(eq(int, (int)word.id, OPTION_STATS));
	cr_expect(eq(ptr, (void *)word.next, NULL));
	cr_assert(eq(int, words_next(&words, &word), 1));
	cr_expect(not(word.is_option));
}

Test(words, two_dashes_end_the_options)
{
	WALK((char *)"A=1", (char *)"-q", (char *)"--", (char *)"-q", (char *)"--");

	cr_assert(eq(int, words_next(&words, &word), 1));
	cr_expect(not(word.is_option));
	cr_assert(eq(int, words_next(&words, &word), 1));
	cr_expect(word.is_option);
	cr_assert(eq(int, words_next(&words, &word), 1));
	cr_expect(not(word.is_option));
	cr_expect(eq(str, (char *)word.value, (char *)"-q"));
	cr_assert(eq(int, words_next(&words, &word), 1));
	cr_expect(eq(str, (char *)word.value, (char *)"--"));
	cr_assert(eq(int, words_next(&words, &word), 0));
}

Test(words, single_dash_and_empty_word_are_arguments)
{
	WALK((char *)"-", (char *)"");

	cr_assert(eq(int, words_next(&words, &word), 1));
	cr_expect(not(word.is_option));
	cr_assert(eq(int, words_next(&words, &word), 1));
	cr_expect(not(word.is_option));
}

Test(words, what_the_table_does_not_allow_is_refused)
{
	static const char *const bad[] = { "--frosting", "-Z",  "--no", "--quiet=yes",
					   "--=x",       "-qZ", "-o",   "--output" };

	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
		WALK((char *)bad[i]);
		int r;

		while ((r = words_next(&words, &word)) > 0)
			;
		cr_expect(eq(int, r, -EINVAL), "%s", bad[i]);
	}
}
