/* SPDX-License-Identifier: MIT */
/* Boots: finding the one that is meant, and listing them. */
#ifndef CLI_BOOTS_H
#define CLI_BOOTS_H

#include "archive.h"

/* The boot that --boot means. 1; 0: it means nothing here, which has been said; negative: there is
 * none, which has been said too. */
int boots_find(struct archive *archive, jscan_id *ret_id);

/* The boot that this machine runs in. A negative answer has been explained. */
int boots_running(jscan_id *ret_id);

/* --list-boots. A negative answer has been explained. */
int boots_list(struct archive *archive);

#endif
