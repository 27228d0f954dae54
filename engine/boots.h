/* SPDX-License-Identifier: MIT */
/* The table of boots: which there are, and their first and last entries. */
#ifndef ENGINE_BOOTS_H
#define ENGINE_BOOTS_H

#include "engine/order.h"

struct boots_row {
	struct id128 id;       /* as the field _BOOT_ID has it */
	uint64_t first_rank;   /* in the order of first entries */
	struct order_key first, last;
};

struct boots {
	struct boots_row *rows;
	size_t count, capacity;
	uint64_t wanted;       /* jscan_newest_boot(): so many of the newest have to be certain */
	struct order_ids ids;  /* number of an ID: index of its row */
};

void boots_done(struct boots *b);

#endif
