/* SPDX-License-Identifier: MIT */
/* Replacing what a small file holds. */
#ifndef CLI_REPLACE_FILE_H
#define CLI_REPLACE_FILE_H

#include <stdbool.h>

/* Replaces what a file holds, or makes it. DURABLE: it is on the disk when this returns. Negative
 * errno. */
int replace_file(const char *path, const char *text, bool durable);

#endif
