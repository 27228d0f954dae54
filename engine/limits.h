/* SPDX-License-Identifier: MIT */
/* Defaults of options that depend on limits of the process. */
#ifndef ENGINE_LIMITS_H
#define ENGINE_LIMITS_H

#include <stdbool.h>

#include "jscan.h"

/* Replaces zeros by the defaults that jscan.h names. */
void limits_fill(struct jscan_options *options);

#endif
