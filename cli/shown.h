/* SPDX-License-Identifier: MIT */
/* Text that came from journals, as it is shown in tables. */
#ifndef CLI_SHOWN_H
#define CLI_SHOWN_H

#include <stddef.h>

/* SIZE bytes as text that a terminal and a JSON reader can bear: what is not is written as \xNN.
 * To be freed. NULL without memory. */
char *shown_text(const void *bytes, size_t size);

#endif
