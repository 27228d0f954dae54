/* SPDX-License-Identifier: MIT */
/* --gaps: what an archive lacks. */
#ifndef CLI_GAPS_H
#define CLI_GAPS_H

#include "archive.h"

/* The kinds that a list such as "missing,clock" names; NULL: all. -EINVAL, -ENOMEM. */
int gaps_parse_kinds(const char *text, uint32_t *ret_kinds);

/* Prints the table. A negative answer has been explained. */
int gaps_list(struct archive *archive, bool *ret_stopped);

#endif
