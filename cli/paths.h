/* SPDX-License-Identifier: MIT */
/* Paths as matches. */
#ifndef CLI_PATHS_H
#define CLI_PATHS_H

#include "archive.h"

/* Adds the matches for the executable, script or device at PATH. A negative answer has been
 * explained. */
int paths_match(struct archive *archive, const char *path);

#endif
