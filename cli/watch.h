/* SPDX-License-Identifier: MIT */
/* A sink that looks on and shows how far the scan has come. */
#ifndef CLI_WATCH_H
#define CLI_WATCH_H

#include <stdbool.h>
#include <stdint.h>

#include <jscan.h>

struct watch {
	bool show_progress;
	struct jscan *engine;
	uint64_t entries;
	uint64_t bytes;                 /* of all files */
	uint64_t began_usec;
	uint64_t shown_usec;            /* when progress was drawn last */
	bool drawn;                     /* a progress line is on the terminal */
};

/* Whether a progress line makes sense: standard error is a terminal and nothing else writes to it.
 */
bool watch_progress_wanted(void);

/* Attaches the watch to ENGINE, if it has anything to do. It must outlive the engine. */
int watch_attach(struct watch *watch, struct jscan *engine);

/* Wipes the progress line. */
void watch_wipe(struct watch *watch);

#endif
