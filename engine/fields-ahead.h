/* SPDX-License-Identifier: MIT */
/* Reading ahead for listings of names and values. */
#ifndef ENGINE_FIELDS_AHEAD_H
#define ENGINE_FIELDS_AHEAD_H

#include "engine/listing.h"
#include "engine/source.h"

/* Gathers what the file whose turn it is will show, and the files behind it.
 * 0: go on listing; -EAGAIN; -ENOMEM. */
int fields_ahead(struct jscan *engine);

/* What has been gathered from a file, one after the other: *AT is 0 at first. False at the end. */
bool fields_found_next(const struct listing_found *found, size_t *at, const uint8_t **ret_bytes,
		       size_t *ret_size);
void fields_found_done(struct listing_found *found);

/* A chain of values lacks the object at OFFSET: where its objects lie close together, what is
 * before it is wanted too. */
void fields_want_more(struct source *s, uint64_t offset);

/* fields.c: the value in a data object of the field that is listed. 0 or an error. */
int fields_payload(struct source *s, uint64_t offset, const uint8_t **ret_bytes,
		   uint64_t *ret_size);

#endif
