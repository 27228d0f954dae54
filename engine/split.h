/* SPDX-License-Identifier: MIT */
/* Names of the files that entries are split to. */
#ifndef ENGINE_SPLIT_H
#define ENGINE_SPLIT_H

#include "formats/output/output.h"
#include "formats/packed/packer.h"
#include "jscan.h"

/* A value counts up to here: what is longer is one with all that begin like it. */
#define SPLIT_VALUE_BYTES_MAX 1024u
/* Room for a name, with its ending and a NUL. */
#define SPLIT_NAME_SIZE 256u

/* The name for a value of SIZE bytes, 0 for none, without an ending. NAME has SPLIT_NAME_SIZE
 * bytes. */
void split_name(const uint8_t *value, size_t size, char *name);

/* The same for the boot of an entry. */
void split_name_of_boot(const uint8_t *boot_id, char *name);
/* The day of an entry, local or in UTC; nothing for a time that no calendar has. */
void split_name_of_day(uint64_t realtime_usec, bool utc, char *name);

/* Appends what says how a file is to be read. */
void split_name_end(enum output_mode mode, enum packed_kind kind, char *name);

#endif
