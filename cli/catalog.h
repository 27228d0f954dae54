/* SPDX-License-Identifier: MIT */
/* The actions --list-catalog and --dump-catalog. */
#ifndef CLI_CATALOG_H
#define CLI_CATALOG_H

#include "settings.h"

/* Prints the texts that the arguments name, or all of them. Returns the exit status. */
int catalog_print(const struct settings *settings);

#endif
