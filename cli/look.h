/* SPDX-License-Identifier: MIT */
/* How text looks: what the environment and the terminal say of colours, links and width. */
#ifndef CLI_LOOK_H
#define CLI_LOOK_H

#include <stdbool.h>
#include <stdint.h>

#include <jscan.h>

struct look {
	enum jscan_colours colours;
	bool links;
	bool ascii;     /* the locale has no UTF-8 */
	bool underline; /* the terminal shows it */
	uint32_t width; /* in columns */
};

/* Asks the environment and standard output, as journalctl does. setlocale() has been called. */
void look_init(struct look *look);

/* From now on look_init() answers what it does now: standard output is about to become a pipe to
 * a pager, which shows what it gets on this terminal. */
void look_keep(void);

#endif
