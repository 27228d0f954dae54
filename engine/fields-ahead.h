/* SPDX-License-Identifier: MIT */
/* Reading ahead for listings of names and values. */
#ifndef ENGINE_FIELDS_AHEAD_H
#define ENGINE_FIELDS_AHEAD_H

#include "engine/source.h"

/* Brings in what listing the file whose turn it is will look at, and what the files behind it will.
 * 0: go on listing; -EAGAIN; -ENOMEM. */
int fields_ahead(struct jscan *engine);

/* A chain of values lacks the object at OFFSET: where its objects lie close together, what is
 * before it is wanted too. */
void fields_want_more(struct source *s, uint64_t offset);

#endif
