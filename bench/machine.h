/* SPDX-License-Identifier: MIT */
/* A simulated machine: boots, processes that come and go, and the entries that they log. */
#ifndef BENCH_MACHINE_H
#define BENCH_MACHINE_H

#include "bench/texts.h"
#include "tests/support/fixture.h"

#define EVENT_FIELDS_MAX 48u
#define EVENT_BYTES 65536u

/* An entry before it is written. Its fields are borrowed until the next one. */
struct event {
	bool of_user;               /* it belongs into the file of the user */
	struct fixture_stamp stamp; /* seqnum is the caller's */
	size_t count;
	struct fixture_field fields[EVENT_FIELDS_MAX];
	size_t used;
	char bytes[EVENT_BYTES];
};

struct machine;

struct machine_options {
	uint64_t seed;
	const char *hostname;
	uint64_t entries; /* over all boots */
	unsigned boots;
	uint64_t start_usec;  /* realtime */
	uint64_t span_usec;   /* that the entries cover */
	uint64_t uptime_usec; /* of the first boot at the start */
	unsigned user_share;  /* of entries that a user's session logs, in percent */
};

struct machine *machine_new(const struct machine_options *options);
struct machine *machine_free(struct machine *m);

/* The machine's ID. */
struct id128 machine_id(const struct machine *m);

/* The next entry; there is always one. */
void machine_next(struct machine *m, struct event *ret);

#endif
