/* SPDX-License-Identifier: MIT */
/*
 * From a reference to an entry to its fields: what one thread needs for it. Fields are gathered
 * into the reader, decompressed where they have to be, and stay until the next entry is loaded.
 */
#ifndef ENGINE_READER_H
#define ENGINE_READER_H

#include "engine/prefix.h"
#include "engine/shared.h"
#include "formats/journal/journal.h"
#include "formats/output/output.h"

struct match;

#define READER_DAMAGE_MAX 16u

/* Damage met while an entry was loaded: reported once the load has succeeded. */
struct reader_damage {
	uint64_t offset;
	int error;
	const char *detail;
};

/* Whether fields called NAME (SIZE bytes) matter. */
typedef bool (*reader_wants_fn)(const void *userdata, const uint8_t *name, size_t size);

/* Which fields of entries matter: all, those that WANTS says yes to, or those of some names. */
struct reader_filter {
	bool all;
	bool first_only;          /* of each name */
	size_t count;
	const char *const *names; /* NAME=, when neither all nor wants */
	const size_t *sizes;
	reader_wants_fn wants;
	const void *userdata;
};

struct reader {
	struct payload_decoder *decoder;
	struct shared shared;     /* what is known of data objects: for one filter */
	struct prefix_table prefixes; /* ... and of how entries begin */
	struct output_field *fields;
	size_t field_count, field_capacity;
	struct output_lead lead;  /* of the fields, where the table keeps leads */
	uint64_t bytes_max;       /* of one entry's fields; the rest is left out */
	bool *has;                /* reader_matches(): which terms the entry holds */
	size_t has_capacity;
	unsigned damage_count;
	struct reader_damage damage[READER_DAMAGE_MAX];
};

int reader_init(struct reader *r, uint64_t decode_bytes_max, uint64_t entry_bytes_max);
void reader_done(struct reader *r);

/* Remembers what is learnt about shared data objects, in BYTES_MAX at most. What was remembered
 * before is forgotten: call it again when the filter changes. With LEADS what export prints of the
 * fields that entries begin with is remembered too. */
void reader_share(struct reader *r, uint64_t bytes_max, bool leads);

/*
 * Loads the fields of an entry: 0, -EAGAIN (wants in W), -ENOMEM. Damaged fields are left out and
 * listed in damage[]. FILE is the file's number for shared_key(); with 0 nothing is looked up or
 * remembered, and the filter may be any.
 */
int reader_load(struct reader *r, const struct journal *j, struct window *w, uint32_t file,
		const struct entry_object *entry, const struct reader_filter *filter);

/* Whether the entry whose fields were loaded last matches. 0, -ENOMEM. */
int reader_matches(struct reader *r, const struct match *match, bool *ret_matches);

#endif
