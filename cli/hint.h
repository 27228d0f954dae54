/* SPDX-License-Identifier: MIT */
/* The hint to callers who may not read some of the files. */
#ifndef CLI_HINT_H
#define CLI_HINT_H

#include "settings.h"

/* Says who may read all messages, unless the caller already belongs to them or wants no notices. */
void hint_print(const struct settings *settings);

#endif
