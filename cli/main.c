// SPDX-License-Identifier: MIT
/*
 * jscan: the command. Reads the command line, sets the locale and the signals, and runs the action.
 *
 * Contents of this folder: options (the table), words (argv, one option at a time), values (text
 * to numbers), settings (what was asked for), show (printing entries), problems (files and damage),
 * watch (progress, last cursor), stats (--stats), messages (standard error). Only jscan.h is used
 * of the library.
 *
 * SIGINT and SIGTERM let the scan end between two entries, so that output and --stats are whole;
 * then the program dies by that signal, as a shell expects. A second one kills at once. SIGPIPE
 * always kills.
 */
#include <errno.h>
#include <locale.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>

#include "settings.h"
#include "show.h"

static volatile sig_atomic_t main_signal;

/* Stops the scan. Only jscan_stop() may be called from here. */
static void main_stop(int number)
{
	struct jscan *engine = show_running;

	main_signal = number;
	if (engine)
		jscan_stop(engine);
	else
		raise(number); /* its action is the default again: see SA_RESETHAND */
}

/* Sets what signals do. What the caller ignores, as nohup does, stays ignored. */
static void main_set_signals(void)
{
	static const int stops[] = { SIGINT, SIGTERM };
	struct sigaction action = { .sa_handler = main_stop, .sa_flags = SA_RESETHAND }, old;

	sigemptyset(&action.sa_mask);
	for (unsigned i = 0; i < sizeof(stops) / sizeof(stops[0]); i++)
		if (sigaction(stops[i], NULL, &old) == 0 && old.sa_handler != SIG_IGN)
			sigaction(stops[i], &action, NULL);
	signal(SIGPIPE, SIG_DFL);
}

int main(int argc, char **argv)
{
	struct settings settings;
	int r, status;

	(void)argc;
	setlocale(LC_ALL, "");
	setlocale(LC_NUMERIC, "C"); /* for the numbers of --stats */
	main_set_signals();
	r = settings_parse(&settings, argv);
	if (r > 0)
		status = show(&settings);
	else
		status = r < 0 ? EXIT_FAILURE : EXIT_SUCCESS;
	settings_done(&settings);
	if (main_signal)
		raise(main_signal);
	return status;
}
