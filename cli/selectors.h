/* SPDX-License-Identifier: MIT */
/* The values of options that select entries: boots and invocations, levels, facilities. */
#ifndef CLI_SELECTORS_H
#define CLI_SELECTORS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <jscan.h>

/* Which boot, or which invocation of a unit. */
struct descriptor {
	bool all;    /* every one: no filter */
	bool has_id; /* relative to this one */
	jscan_id id;
	int offset; /* without an ID: 0 the latest, -1 the one before, 1 the first */
};

/* The argument of --boot and --invocation: "all", or an ID, a signed offset, or both. -EINVAL. */
int descriptor_parse(const char *text, struct descriptor *ret_descriptor);

/* One level, a name or a number, as SIZE bytes of TEXT. -EINVAL. */
int level_parse(const char *text, size_t size, unsigned *ret_level);

/* The argument of --priority, a level or a range, as a set: bit N is level N. On -EINVAL
 * *RET_IS_RANGE tells which of the two it was meant to be. */
int levels_parse(const char *text, uint32_t *ret_levels, bool *ret_is_range);

#define FACILITY_COUNT 128

/* A facility: a name or a number. -EINVAL. */
int facility_parse(const char *text, unsigned *ret_facility);
/* The name of one of the 24 facilities that syslog knows, NULL where it has none. */
const char *facility_name(unsigned facility);

#endif
