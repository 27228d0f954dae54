/* SPDX-License-Identifier: MIT */
/* The action --list-namespaces. */
#ifndef CLI_NAMESPACES_H
#define CLI_NAMESPACES_H

#include "settings.h"

/* Lists the log namespaces of this machine, or of --root. Returns the exit status. */
int namespaces_list(const struct settings *settings);

#endif
