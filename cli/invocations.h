/* SPDX-License-Identifier: MIT */
/* Invocations of a unit: finding the one that is meant, and listing them. */
#ifndef CLI_INVOCATIONS_H
#define CLI_INVOCATIONS_H

#include "archive.h"

/* The invocation that --invocation means. A negative answer has been explained. */
int invocations_find(struct archive *archive, jscan_id *ret_id);

/* Adds the match for the entries of an invocation, as one group. */
int invocations_match(struct archive *archive, const jscan_id *id);

/* --list-invocations. A negative answer has been explained. */
int invocations_list(struct archive *archive);

#endif
