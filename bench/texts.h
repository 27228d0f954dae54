/* SPDX-License-Identifier: MIT */
/* What the programs of a simulated machine write to its journal. */
#ifndef BENCH_TEXTS_H
#define BENCH_TEXTS_H

#include <stddef.h>
#include <stdint.h>

#include "bench/random.h"

/* A message: literal text with pieces such as <ip>, which are drawn anew each time. */
struct text {
	uint8_t priority;
	uint8_t weight;
	const char *form;
	const char *fields; /* more fields, separated by newlines, or NULL */
};

enum transport {
	TRANSPORT_STDOUT,
	TRANSPORT_SYSLOG,
	TRANSPORT_JOURNAL,
	TRANSPORT_KERNEL,
	TRANSPORT_AUDIT,
	TRANSPORT_COUNT
};

struct service {
	const char *identifier;
	const char *unit; /* NULL: of none; with "%u" where an instance's number stands */
	const char *slice;
	const char *exe; /* NULL: the writer of the journal did not get to know it any more */
	const char *arguments;
	enum transport transport;
	unsigned uid;
	unsigned weight;          /* how often it writes */
	unsigned instances;       /* processes like this, the first ones busier */
	const struct text *texts; /* ended by one without a form */
};

/* Services of the system, then those of a user's session; ended by one without an identifier. */
extern const struct service services_of_system[];
extern const struct service services_of_user[];

/* What a piece may show beside what is drawn. */
struct text_context {
	struct random *random;
	uint64_t realtime;
	uint64_t monotonic;
};

/* Writes FORM with its pieces into BUFFER; returns the number of bytes, at most SIZE. */
size_t text_write(const char *form, const struct text_context *context, char *buffer, size_t size);

#endif
