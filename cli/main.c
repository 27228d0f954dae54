// SPDX-License-Identifier: MIT
/*
 * jscan: the command. Reads the command line, sets the locale and the signals, and runs the action.
 *
 * Contents of this folder: options (the table), words (argv, one option at a time), values,
 * selectors and timespec (text to numbers, descriptors and times), settings (what was asked for),
 * archive (the files, opened), problems and hint (files and damage), filter (matches; units,
 * boots, invocations and paths for it), show (printing entries), watch (progress), cursor-file,
 * checkpoint-file, replace-file, fields, header, summary and namespaces (the other actions), runs
 * and table, stamp and shown (what they print), look and pager (for terminals), stats (--stats),
 * messages (standard error). Only jscan.h is used of the library.
 *
 * SIGINT and SIGTERM let the scan end between two entries, so that output and --stats are whole;
 * then the program dies by that signal, as a shell expects. A second one kills at once. SIGPIPE
 * kills, unless a pager reads: see pager.c. But a follower is meant to be ended by either: it says
 * what is to be said at the end, and exits with 0.
 */
#include <errno.h>
#include <locale.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>

#include "archive.h"
#include "boots.h"
#include "catalog.h"
#include "fields.h"
#include "gaps.h"
#include "header.h"
#include "invocations.h"
#include "messages.h"
#include "namespaces.h"
#include "pager.h"
#include "settings.h"
#include "show.h"
#include "summary.h"
#include "verify.h"

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

/* Runs the action that SETTINGS ask for, on opened files. */
static int main_act(struct archive *archive, bool *ret_stopped)
{
	switch (archive->settings->action) {
	case ACTION_FIELD_NAMES:
		return fields_list_names(archive);
	case ACTION_FIELD_VALUES:
		return fields_list_values(archive);
	case ACTION_LIST_BOOTS:
		return boots_list(archive);
	case ACTION_LIST_INVOCATIONS:
		return invocations_list(archive);
	case ACTION_DISK_USAGE:
		return header_print_disk_usage(archive);
	case ACTION_HEADER:
		return header_print(archive);
	case ACTION_GAPS:
		return gaps_list(archive, ret_stopped);
	case ACTION_COUNT:
	case ACTION_TOP:
	case ACTION_HISTOGRAM:
	case ACTION_EXPLAIN:
		return summary_print(archive);
	case ACTION_VERIFY:
		return verify_files(archive, ret_stopped);
	default:
		return show(archive, ret_stopped);
	}
}

/* Opens the files and runs the action. Returns the exit status. */
static int main_run(const struct settings *settings)
{
	struct archive archive;
	bool stopped = false;
	int r;

	if (settings->action == ACTION_LIST_NAMESPACES || settings->action == ACTION_LIST_CATALOG ||
	    settings->action == ACTION_DUMP_CATALOG) {
		if (archive_check_pattern(settings) < 0)
			return EXIT_FAILURE;
		return settings->action == ACTION_LIST_NAMESPACES ? namespaces_list(settings)
								  : catalog_print(settings);
	}
	r = archive_open(&archive, settings);
	if (r >= 0)
		r = main_act(&archive, &stopped);
	return archive_close(&archive, r, stopped);
}

int main(int argc, char **argv)
{
	struct settings settings;
	bool follows;
	int r, status;

	(void)argc;
	setlocale(LC_ALL, "");
	setlocale(LC_NUMERIC, "C"); /* for the numbers of --stats */
	message_init();
	main_set_signals();
	r = settings_parse(&settings, argv);
	/* The end of a follower's reader is its own, not an accident; that of a sink is told. */
	if (r > 0 && settings.action == ACTION_SHOW &&
	    (settings.seen[OPTION_FOLLOW] || settings.sink_count > 0))
		signal(SIGPIPE, SIG_IGN);
	if (r > 0)
		status = main_run(&settings);
	else
		status = r < 0 ? EXIT_FAILURE : EXIT_SUCCESS;
	follows = settings.action == ACTION_SHOW && settings.seen[OPTION_FOLLOW];
	settings_done(&settings);
	pager_close();
	if (main_signal && !follows)
		raise(main_signal);
	return status;
}
