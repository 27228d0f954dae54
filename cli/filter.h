/* SPDX-License-Identifier: MIT */
/* What the command line asks for, as matches. */
#ifndef CLI_FILTER_H
#define CLI_FILTER_H

#include "archive.h"

/* Adds the matches of all options and arguments. 1: go on; 0: no entry can match, which has been
 * said; negative: a value is wrong, or there is no such boot or unit, which has been said too. */
int filter_add(struct archive *archive);

/* Adds the match of --boot alone, as one group. As filter_add(). */
int filter_add_boot(struct archive *archive);

/* Adds the match of a boot, as one group. 1; a negative answer has been explained. */
int filter_match_boot(struct archive *archive, const jscan_id *id);

#endif
