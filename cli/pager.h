/* SPDX-License-Identifier: MIT */
/* The pager: the program that shows long output on a terminal. */
#ifndef CLI_PAGER_H
#define CLI_PAGER_H

#include "settings.h"

/*
 * Starts the pager if there is to be one, and sends standard output and standard error to it from
 * now on. What was printed before stays before it. Does nothing if one runs already.
 */
void pager_open(const struct settings *settings);

/* Whether a pager runs. Whoever quits it early ends the output without an error. */
bool pager_runs(void);

/* Ends what goes to the pager, and waits until whoever reads has quit it. */
void pager_close(void);

#endif
