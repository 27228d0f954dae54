/* SPDX-License-Identifier: MIT */
/* The actions --header and --disk-usage: what the files themselves say. */
#ifndef CLI_HEADER_H
#define CLI_HEADER_H

#include "archive.h"

/* Negative answers have been explained. */
int header_print(struct archive *archive);
int header_print_disk_usage(struct archive *archive);

#endif
