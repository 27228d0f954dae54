/* SPDX-License-Identifier: MIT */
/* --count, --top, --histogram, --explain: the entries that would be shown, summed up. */
#ifndef CLI_SUMMARY_H
#define CLI_SUMMARY_H

#include "archive.h"

/* Takes one of these options; others it lets pass. 1, or -EINVAL, which has been said. */
int summary_apply(struct settings *settings, enum option_id id, const char *value);

/* Whether an action is about entries, which arguments choose: one of these, or showing them. */
bool summary_takes_matches(enum action action);

int summary_print(struct archive *archive);

#endif
