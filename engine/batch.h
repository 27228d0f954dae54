/* SPDX-License-Identifier: MIT */
/*
 * A batch: references to entries in the order in which the merge yielded them, on their way to be
 * turned into bytes. It holds no copies of fields, only where the entries are.
 */
#ifndef ENGINE_BATCH_H
#define ENGINE_BATCH_H

#include "formats/journal/journal.h"

#define BATCH_REFS 256u

struct source;

struct batch_ref {
	struct source *source;
	struct entry_object entry;
};

struct batch {
	unsigned count;
	unsigned at;      /* next reference to hand to the sinks */
	unsigned sink;    /* next sink to hand it to: the ones before have had it */
	bool matches;     /* the pattern, if there is one: the reference that is loaded */
	bool loaded;      /* the fields of refs[at] are in the reader */
	bool handed;      /* jscan_next() has given refs[at] to the caller */
	bool ended;       /* the merge has no more */
	struct batch_ref refs[BATCH_REFS];
};

#endif
