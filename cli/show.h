/* SPDX-License-Identifier: MIT */
/* The action of printing entries. */
#ifndef CLI_SHOW_H
#define CLI_SHOW_H

#include "archive.h"

/* What a signal handler may stop; NULL while nothing runs. */
extern struct jscan *volatile show_running;

/* Prints the entries that are asked for, from opened files. A negative answer has been explained,
 * or is -ENOENT: a pattern matched nothing. A signal may have stopped it. */
int show(struct archive *archive, bool *ret_stopped);

/* Sets up which entries would be printed, and from where: 1, or 0 if there are none to look for. */
int show_prepare(struct archive *archive);

#endif
