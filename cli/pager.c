// SPDX-License-Identifier: MIT
/*
 * The pager, chosen and told what journalctl tells it (behaviour document 1.1): programs that the
 * environment names only where $SYSTEMD_PAGERSECURE says how far to trust them, else the known
 * ones; of those only less where nothing is said or it is to be safe, since only less can be kept
 * from starting programs.
 *
 * Colours and widths are still those of the terminal: look_keep() holds them before it is covered.
 * While a pager runs SIGPIPE is ignored, so that quitting it is an error of writing, which the
 * callers take for the end they were waiting for.
 */
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "look.h"
#include "messages.h"
#include "pager.h"
#include "values.h"

#define PAGER_OPTIONS "FRSXMK"
#define PAGER_WORDS_MAX 64

static pid_t pager_pid; /* 0: none runs */

/* Whether there is a terminal to page on. */
static bool pager_has_terminal(void)
{
	const char *term = getenv("TERM");

	return term && *term && strcmp(term, "dumb") != 0 && isatty(STDOUT_FILENO) &&
	       isatty(STDERR_FILENO);
}

/* Sets or removes a variable of the environment. */
static void pager_set_variable(const char *name, const char *value)
{
	if (value)
		setenv(name, value, 1);
	else
		unsetenv(name);
}

/* Tells less what to do, by its variables. */
static void pager_set_variables(bool at_end, bool secure)
{
	const char *options = getenv("SYSTEMD_LESS"), *charset = getenv("SYSTEMD_LESSCHARSET");
	struct look look;
	char *text;

	look_init(&look);
	if (asprintf(&text, "%s%s", options ? options : PAGER_OPTIONS, at_end ? " +G" : "") >= 0) {
		pager_set_variable("LESS", text);
		free(text);
	}
	if (!charset && !look.ascii)
		charset = "utf-8";
	if (charset)
		pager_set_variable("LESSCHARSET", charset);
	pager_set_variable("LESSSECURE", secure ? "1" : NULL);
}

/* Starts the program that COMMAND, split at white space, names, with INPUT as standard input. */
static int pager_spawn(const char *command, int input)
{
	char *copy = strdup(command), *state = NULL, *words[PAGER_WORDS_MAX + 1] = { NULL };
	posix_spawn_file_actions_t actions;
	size_t count = 0;
	int r = ENOENT;

	if (!copy)
		return -ENOMEM;
	for (char *word = strtok_r(copy, " \t\n\r", &state); word && count < PAGER_WORDS_MAX;
	     word = strtok_r(NULL, " \t\n\r", &state))
		words[count++] = word;
	if (count > 0 && posix_spawn_file_actions_init(&actions) == 0) {
		r = posix_spawn_file_actions_adddup2(&actions, input, STDIN_FILENO);
		if (r == 0)
			r = posix_spawnp(&pager_pid, words[0], &actions, NULL, words, environ);
		posix_spawn_file_actions_destroy(&actions);
	}
	if (r != 0)
		pager_pid = 0;
	free(copy);
	return -r;
}

/* Starts the first program that there is. COMMAND is what the environment names, or NULL. Returns
 * its name, or NULL if there is none. */
static const char *pager_start(const char *command, bool trusted, bool secure, int input)
{
	static const char *const known[] = { "pager", "less", "more" };

	if (command && trusted && pager_spawn(command, input) == 0)
		return command;
	for (unsigned i = 0; i < sizeof(known) / sizeof(known[0]); i++) {
		if (secure && strcmp(known[i], "less") != 0)
			continue;
		if (pager_spawn(known[i], input) == 0)
			return known[i];
	}
	return NULL;
}

/* Whether COMMAND says that no pager is wanted: it has no word, or the one word cat. */
static bool pager_is_none(const char *command)
{
	static const char blanks[] = " \t\n\r";
	const char *word = command + strspn(command, blanks);
	size_t size = strcspn(word, blanks);

	return word[size + strspn(word + size, blanks)] == '\0' &&
	       (size == 0 || (size == 3 && memcmp(word, "cat", 3) == 0));
}

void pager_open(const struct settings *settings)
{
	const char *command = getenv("SYSTEMD_PAGER"), *word = getenv("SYSTEMD_PAGERSECURE");
	bool secure = true, trusted = word && value_boolean(word, &secure) == 0;
	const char *name, *options = getenv("SYSTEMD_LESS");
	int pipes[2];

	if (pager_pid || settings->seen[OPTION_NO_PAGER] || !pager_has_terminal())
		return;
	if (!command)
		command = getenv("PAGER");
	if (command && pager_is_none(command))
		return;
	if (pipe2(pipes, O_CLOEXEC) < 0)
		return;
	if (word && !trusted)
		message_warning("Unable to parse $SYSTEMD_PAGERSECURE, assuming true: %s",
				strerror(EINVAL));
	look_keep();
	pager_set_variables(settings->seen[OPTION_PAGER_END], secure);
	name = pager_start(command, trusted, secure, pipes[0]);
	close(pipes[0]);
	if (name) {
		/* Without K less takes interrupts itself. */
		if (strcmp(name, "less") == 0 && options && !strchr(options, 'K'))
			signal(SIGINT, SIG_IGN);
		signal(SIGPIPE, SIG_IGN);
		fflush(stdout);
		fflush(stderr);
		dup2(pipes[1], STDOUT_FILENO);
		dup2(pipes[1], STDERR_FILENO);
	}
	close(pipes[1]);
}

bool pager_runs(void)
{
	return pager_pid > 0;
}

void pager_close(void)
{
	if (!pager_pid)
		return;
	fflush(stdout);
	fflush(stderr);
	close(STDOUT_FILENO);
	close(STDERR_FILENO);
	kill(pager_pid, SIGCONT);
	while (waitpid(pager_pid, NULL, 0) < 0 && errno == EINTR)
		;
	pager_pid = 0;
}
