/* SPDX-License-Identifier: MIT */
/* The action of printing entries. */
#ifndef CLI_SHOW_H
#define CLI_SHOW_H

#include "settings.h"

/* What a signal handler may stop; NULL while nothing runs. */
extern struct jscan *volatile show_running;

/* Prints the entries that SETTINGS ask for. Returns the exit status of the program. */
int show(const struct settings *settings);

#endif
