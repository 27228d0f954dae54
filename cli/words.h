/* SPDX-License-Identifier: MIT */
/* The command line, one option or argument at a time. */
#ifndef CLI_WORDS_H
#define CLI_WORDS_H

#include <stdbool.h>

#include "options.h"

/* A walk over argv. Everything is borrowed from it. */
struct words {
	const char *program; /* what messages begin with */
	char **argv;         /* ended by NULL */
	int index;           /* of the word that is looked at next */
	const char
		*cluster; /* the letters of a short option word that are still to come, or NULL */
	bool no_options;  /* "--" was met */
};

struct word {
	bool is_option;
	enum option_id id; /* of an option */
	const char *value; /* an argument; an option's value, or NULL */
	const char *next;  /* where an ARGUMENT_NEXT option came without a value: the next word,
			    * or NULL; words_take() consumes it */
};

/* Starts behind argv[0]. */
void words_init(struct words *words, const char *program, char **argv);

/* The next option or argument: 1; 0 at the end; -EINVAL for what the table does not allow, which
 * has then been said on standard error in journalctl's words. */
int words_next(struct words *words, struct word *ret_word);

/* Consumes the word that was offered as next. */
void words_take(struct words *words);

#endif
