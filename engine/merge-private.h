/* SPDX-License-Identifier: MIT */
/* What the parts of the merge share: merge.c, merge-prepare.c, merge-fold.c. */
#ifndef ENGINE_MERGE_PRIVATE_H
#define ENGINE_MERGE_PRIVATE_H

#include "engine/merge.h"

/* Makes a source's next candidate known: 1 it is, 0 there is none, -EAGAIN. */
int merge_load(struct jscan *e, struct source *s);

/* Gives the taken item its source's next candidate; in a lane the next file follows. 0, -EAGAIN,
 * or 1: the merge has gone over to the fold. */
int merge_refill(struct merge *m, struct jscan *e);

/* Goes over to the fold. 1, or -ENOMEM. */
int merge_to_fold(struct merge *m, struct jscan *e);

/* merge_pop() by the fold. */
int merge_fold_pop(struct merge *m, struct jscan *e, struct source **ret_source);

#endif
