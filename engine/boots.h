/* SPDX-License-Identifier: MIT */
/* The table of boots: which there are, and their first and last entries. */
#ifndef ENGINE_BOOTS_H
#define ENGINE_BOOTS_H

#include "engine/order.h"

struct boots_row {
	struct id128 id;       /* as the field _BOOT_ID has it */
	struct order_key first, last; /* of its own entries alone */
	uint64_t first_rank;   /* in the order in which boots begin */
	uint64_t last_rank;    /* in that in which they end, the newest being 0 */
};

/* The first or last entry that a boot has in a file. */
struct boots_mark {
	uint32_t row;
	struct order_key key;
};

struct boots {
	struct boots_row *rows;
	size_t count, capacity;
	struct boots_mark *marks;
	size_t mark_count, mark_capacity;
	uint64_t wanted;       /* jscan_newest_boot(): so many of the newest have to be certain */
	struct order_ids ids;  /* number of an ID: index of its row, until they are sorted */
};

/* Ranks the boots by the marks of all files, and puts the rows in the order in which boots end, the
 * newest at the end. 0, -ENOMEM. */
int boots_sort(struct boots *b, const struct order *order);

void boots_done(struct boots *b);

#endif
