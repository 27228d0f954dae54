// SPDX-License-Identifier: MIT
/*
 * The command line, one option or argument at a time.
 *
 * This is a parser of our own because abbreviations, clusters and the texts of the messages must
 * be journalctl 262's, not the C library's. Options and arguments may be mixed, whatever
 * POSIXLY_CORRECT says. It knows the table's shape and nothing of what an option means.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "messages.h"
#include "words.h"

void words_init(struct words *words, const char *program, char **argv)
{
	words->program = program;
	words->argv = argv;
	words->index = argv[0] ? 1 : 0;
	words->cluster = NULL;
	words->no_options = false;
}

void words_take(struct words *words)
{
	words->index++;
}

/* Says that an abbreviation stands for several options, and for which. */
static void words_say_ambiguous(const struct words *words, const char *name, size_t size)
{
	enum option_id id = 0, end = OPTION_OWN;
	char *text = NULL;
	size_t text_size;
	FILE *f = open_memstream(&text, &text_size);

	if (!f)
		return;
	while (id < end && !option_matches(id, name, size))
		id++;
	if (id == end)
		end = OPTION_COUNT;
	for (; id < end; id++)
		if (option_matches(id, name, size)) {
			fprintf(f, "%s--%s", ftell(f) > 0 ? ", " : "", option_table[id].name);
		}
	if (fclose(f) == 0)
		message_error("%s: option '--%.*s' is ambiguous; possibilities: %s", words->program,
			      (int)size, name, text);
	free(text);
}

/* Fills in the value of an option that has none attached. TYPED is the option as typed. */
static int words_value(struct words *words, const char *typed, int typed_size,
		       struct word *ret_word)
{
	const char *next = words->argv[words->index];

	switch ((enum option_argument)option_table[ret_word->id].argument) {
	case ARGUMENT_NONE:
	case ARGUMENT_OPTIONAL:
		return 1;
	case ARGUMENT_NEXT:
		ret_word->next = next;
		return 1;
	case ARGUMENT_REQUIRED:
		if (!next) {
			message_error("%s: option '%.*s' requires an argument", words->program,
				typed_size, typed);
			return -EINVAL;
		}
		ret_word->value = next;
		words_take(words);
		return 1;
	}
	return -EINVAL;
}

/* A word that begins with two dashes. */
static int words_long(struct words *words, const char *word, struct word *ret_word)
{
	const char *name = word + 2, *equals = strchr(name, '=');
	size_t size = equals ? (size_t)(equals - name) : strlen(name);
	int r;

	r = option_find(name, size, &ret_word->id);
	if (r == -EEXIST) {
		words_say_ambiguous(words, name, size);
		return -EINVAL;
	}
	if (r < 0) {
		message_error("%s: unrecognized option '--%.*s'", words->program, (int)size,
			name);
		return -EINVAL;
	}
	if (!equals)
		return words_value(words, word, (int)size + 2, ret_word);
	if (option_table[ret_word->id].argument == ARGUMENT_NONE) {
		message_error("%s: option '--%.*s' doesn't allow an argument", words->program,
			(int)size, name);
		return -EINVAL;
	}
	ret_word->value = equals + 1;
	return 1;
}

/* The next letter of a word of short options. */
static int words_short(struct words *words, struct word *ret_word)
{
	char typed[3] = { '-', *words->cluster++, '\0' };
	const char *rest = *words->cluster ? words->cluster : NULL;

	if (option_find_letter(typed[1], &ret_word->id) < 0) {
		message_error("%s: unrecognized option '%s'", words->program, typed);
		return -EINVAL;
	}
	if (option_table[ret_word->id].argument == ARGUMENT_NONE) {
		words->cluster = rest;
		return 1;
	}
	words->cluster = NULL;
	ret_word->value = rest;
	return rest ? 1 : words_value(words, typed, 2, ret_word);
}

int words_next(struct words *words, struct word *ret_word)
{
	const char *word;

	*ret_word = (struct word){ .is_option = true };
	if (words->cluster)
		return words_short(words, ret_word);
	word = words->argv[words->index];
	if (!word)
		return 0;
	words_take(words);
	if (!words->no_options && word[0] == '-' && word[1] == '-') {
		if (word[2])
			return words_long(words, word, ret_word);
		words->no_options = true;
		return words_next(words, ret_word);
	}
	if (!words->no_options && word[0] == '-' && word[1]) {
		words->cluster = word + 1;
		return words_short(words, ret_word);
	}
	ret_word->is_option = false;
	ret_word->value = word;
	return 1;
}
