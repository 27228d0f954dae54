/* SPDX-License-Identifier: MIT */
/*
 * The verifier as a whole: its phases, what the header says, and how it ends. What the phases look
 * at is in the files beside this one.
 *
 * A phase commits its progress in small units and can be entered again at any point. Which error a
 * file gives is decided by the order of the checks, which is the reference's; where that order
 * would mean to jump about in the file, the check is made in file order first, and in the
 * reference's order only if something was not as expected.
 */
#include "formats/journal/verify.h"

#include <assert.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

#include "formats/journal/verify-private.h"

#define VERIFY_COMPATIBLE_KNOWN                                                                    \
	(JOURNAL_COMPATIBLE_SEALED | JOURNAL_COMPATIBLE_TAIL_ENTRY_BOOT_ID |                       \
	 JOURNAL_COMPATIBLE_SEALED_CONTINUOUS)
/* Where the reserved bytes are. */
#define VERIFY_RESERVED_SIZE (HEADER_FILE_ID - HEADER_RESERVED)

/* Beyond so many buckets their chains are not followed in the first walk, but one by one. */
#define VERIFY_CHAINS_MAX (UINT64_C(16) << 20)
/* Buckets in one piece of work. */
#define VERIFY_HEADS_AT_ONCE 1024u
/* Bisections in sets that are out of order: each can cost as much as the file is long. */
#define VERIFY_BISECTIONS_MAX 256u

int verify_new(const struct journal *j, struct payload_decoder *decoder, struct seal *seal,
	       bool snapshot, struct verify **ret)
{
	struct verify *v = calloc(1, sizeof(*v));

	if (!v)
		return -ENOMEM;
	v->journal = j;
	v->decoder = decoder;
	v->seal = seal;
	v->snapshot = snapshot;
	v->horizon = UINT64_MAX;
	v->tail = j->header.tail_object_offset;
	v->p = j->header.header_size;
	v->result.sealed = j->header.compatible_flags & JOURNAL_COMPATIBLE_SEALED;
	v->bisections_left = VERIFY_BISECTIONS_MAX;
	*ret = v;
	return 0;
}

struct verify *verify_free(struct verify *v)
{
	if (!v)
		return NULL;
	object_map_done(&v->map);
	free(v->chains);
	free(v);
	return NULL;
}

const struct verify_result *verify_result(const struct verify *v)
{
	return &v->result;
}

int verify_say(struct verify *v, uint64_t offset, int error, const char *format, ...)
{
	struct verify_detail *detail;
	va_list args;

	assert(v->result.detail_count < VERIFY_DETAILS_MAX);
	detail = &v->result.details[v->result.detail_count++];
	detail->offset = offset;
	va_start(args, format);
	vsnprintf(detail->text, sizeof(detail->text), format, args);
	va_end(args);
	return error;
}

/* ---- the header ------------------------------------------------------------------------- */

/* Checks 0 to 3 of the specification. */
static int verify_header(struct verify *v, struct window *w)
{
	const struct journal_header *h = &v->journal->header;
	const uint8_t *reserved;
	int r;

	if (v->result.sealed && !v->seal)
		return -ENOKEY;
	if (h->compatible_flags & ~VERIFY_COMPATIBLE_KNOWN)
		return verify_say(v, VERIFY_NO_OFFSET, -EOPNOTSUPP,
				  "Cannot verify file with unknown extensions.");
	r = window_get(w, HEADER_RESERVED, VERIFY_RESERVED_SIZE, &reserved);
	if (r < 0)
		return r;
	for (unsigned i = 0; i < VERIFY_RESERVED_SIZE; i++)
		if (reserved[i])
			return verify_say(v, HEADER_RESERVED + i, -EBADMSG,
					  "Reserved field is non-zero");
	if (v->result.sealed && !(h->compatible_flags & JOURNAL_COMPATIBLE_SEALED_CONTINUOUS))
		verify_say(v, 0, 0,
			   "This log file was sealed with an old journald version where the "
			   "sequence of seals might not be continuous. We cannot guarantee "
			   "completeness.");
	chain_init_global(&v->horizon_chain, v->journal);
	return 0;
}

/* How far a snapshot reaches: to the last of its entries. */
static int verify_horizon(struct verify *v, struct window *w)
{
	uint64_t n = v->journal->header.n_entries, offset = 0;
	int r;

	if (v->snapshot && n > 0) {
		r = chain_get(&v->horizon_chain, v->journal, w, n - 1, &offset);
		if (r <= 0)
			return r == -EAGAIN ? r
					    : verify_say(v, 0, r < 0 ? r : -EBADMSG,
							 "Array chain too short");
	}
	if (v->snapshot)
		v->horizon = v->tail = offset;
	v->items_left = w->size_bytes;
	return 0;
}

/* Where the chains of the data hash table begin. */
static int verify_heads(struct verify *v, struct window *w)
{
	const struct journal_header *h = &v->journal->header;
	uint64_t count = h->data_hash_table_size / HASH_ITEM_SIZE;

	if (!v->chains && count > 0 && count <= VERIFY_CHAINS_MAX) {
		v->chains = calloc(count, sizeof(*v->chains));
		if (!v->chains)
			return -ENOMEM;
	}
	v->bucket_count = count;
	while (v->chains && v->bucket < count) {
		uint64_t left = count - v->bucket;
		uint64_t group = left < VERIFY_HEADS_AT_ONCE ? left : VERIFY_HEADS_AT_ONCE;
		const uint8_t *buckets;
		int r = window_get(w, h->data_hash_table_offset + v->bucket * HASH_ITEM_SIZE,
				   group * HASH_ITEM_SIZE, &buckets);

		if (r == -EAGAIN)
			return r;
		if (r < 0)
			break; /* the walk will find out */
		for (uint64_t i = 0; i < group; i++) {
			uint64_t head = load_le64(buckets + i * HASH_ITEM_SIZE);

			/* An odd one is not the mark of a chain that has ended. */
			v->table_is_odd |= head & 7;
			if (head != 0)
				v->chains[v->bucket + i] = head & ~UINT64_C(7);
		}
		v->bucket += group;
	}
	v->bucket = 0;
	return 0;
}

/* A count in the header is the one that was found. */
static int verify_count(struct verify *v, const char *name, uint64_t found, unsigned offset,
			uint64_t stored)
{
	if (found == stored || !header_has(&v->journal->header, offset, 8))
		return 0;
	return verify_say(v, offset, -EBADMSG, "%s number mismatch (%" PRIu64 " != %" PRIu64 ")",
			  name, found, stored);
}

/* All of them. */
static int verify_all_counts(struct verify *v)
{
	const struct journal_header *h = &v->journal->header;
	const struct {
		const char *name;
		uint64_t found;
		unsigned offset;
		uint64_t stored;
	} counts[] = {
		{ "Object", v->n_objects, HEADER_N_OBJECTS, h->n_objects },
		{ "Entry", v->n_entries, HEADER_N_ENTRIES, h->n_entries },
		{ "Data", v->n_data, HEADER_N_DATA, h->n_data },
		{ "Field", v->n_fields, HEADER_N_FIELDS, h->n_fields },
		{ "Tag", v->n_tags, HEADER_N_TAGS, h->n_tags },
		{ "Entry array", v->n_arrays, HEADER_N_ENTRY_ARRAYS, h->n_entry_arrays },
	};
	int r = 0;

	for (unsigned i = 0; i < sizeof(counts) / sizeof(counts[0]) && r == 0; i++)
		r = verify_count(v, counts[i].name, counts[i].found, counts[i].offset,
				 counts[i].stored);
	return r;
}

/* What the header says of all objects and of the last entry. The walk ends at the tail object or
 * with an error, so that a tail pointer that leads nowhere has been found before. */
static int verify_counts(struct verify *v, struct window *w)
{
	const struct journal_header *h = &v->journal->header;
	int r;

	(void)w;
	v->result.entries = v->n_entries;
	v->steps_left = 4 * (v->n_objects + 1024);
	v->array = h->entry_array_offset;
	if (v->snapshot)
		return 0;
	r = verify_all_counts(v);
	if (r < 0)
		return r;
	if (!v->found_main_array && h->entry_array_offset != 0)
		return verify_say(v, 0, -EBADMSG, "Missing main entry array");
	if (v->n_entries == 0)
		return 0;
	if (v->last_seqnum != h->tail_entry_seqnum)
		return verify_say(v, HEADER_TAIL_ENTRY_SEQNUM, -EBADMSG,
				  "Tail entry sequence number incorrect (%" PRIu64 " != %" PRIu64
				  ")",
				  v->last_seqnum, h->tail_entry_seqnum);
	if ((h->compatible_flags & JOURNAL_COMPATIBLE_TAIL_ENTRY_BOOT_ID) &&
	    id128_equal(&v->last_boot_id, &h->tail_entry_boot_id) &&
	    v->last_monotonic != h->tail_entry_monotonic)
		return verify_say(v, 0, -EBADMSG,
				  "Invalid tail monotonic timestamp (%" PRIu64 " != %" PRIu64 ")",
				  v->last_monotonic, h->tail_entry_monotonic);
	if (v->last_realtime != h->tail_entry_realtime)
		return verify_say(v, 0, -EBADMSG,
				  "Invalid tail realtime timestamp (%" PRIu64 " != %" PRIu64 ")",
				  v->last_realtime, h->tail_entry_realtime);
	return 0;
}

/* ---- phases ----------------------------------------------------------------------------- */

/* What each phase does, and which one follows. */
static const struct {
	int (*run)(struct verify *v, struct window *w);
	enum verify_phase next;
} verify_phases[VERIFY_PHASE_COUNT] = {
	[VERIFY_HEADER] = { verify_header, VERIFY_HORIZON },
	[VERIFY_HORIZON] = { verify_horizon, VERIFY_HEADS },
	[VERIFY_HEADS] = { verify_heads, VERIFY_OBJECTS },
	[VERIFY_OBJECTS] = { verify_objects, VERIFY_COUNTS },
	[VERIFY_SEAL] = { verify_seal, VERIFY_OBJECTS },
	[VERIFY_COUNTS] = { verify_counts, VERIFY_CHAIN },
	[VERIFY_CHAIN] = { verify_chain, VERIFY_TABLE },
	[VERIFY_ENTRY] = { verify_entry, VERIFY_CHAIN },
	[VERIFY_TABLE] = { verify_table, VERIFY_SETS },
	[VERIFY_SETS] = { verify_sets, VERIFY_PHASE_COUNT },
	[VERIFY_BUCKETS] = { verify_buckets, VERIFY_PHASE_COUNT },
};

int verify_run(struct verify *v, struct window *w)
{
	enum verify_phase phase = v->phase;
	int r;

	assert(phase < VERIFY_PHASE_COUNT && v->result.error == 0);
	r = verify_phases[phase].run(v, w);
	if (r == -EAGAIN || r > 0)
		return r;
	if (r < 0) {
		v->result.error = r;
		v->result.error_offset = phase < VERIFY_OBJECTS ? 0 : v->p;
		return r;
	}
	v->phase = verify_phases[phase].next;
	return v->phase < VERIFY_PHASE_COUNT;
}

unsigned verify_progress(const struct verify *v)
{
	const struct journal_header *h = &v->journal->header;
	uint64_t n = h->n_entries ? h->n_entries : 1;

	if (v->phase < VERIFY_OBJECTS)
		return 0;
	if (v->phase <= VERIFY_SEAL)
		return v->tail > h->header_size && v->p <= v->tail
			       ? (unsigned)(600.0 * (double)(v->p - h->header_size) /
					    (double)(v->tail - h->header_size))
			       : 0;
	if (v->phase <= VERIFY_ENTRY)
		return 600 + (unsigned)(350.0 * (double)v->index / (double)n);
	return v->phase < VERIFY_PHASE_COUNT ? 950 : 1000;
}

uint64_t verify_position(const struct verify *v)
{
	if (v->phase == VERIFY_OBJECTS)
		return v->p;
	if (v->phase == VERIFY_CHAIN || v->phase == VERIFY_ENTRY)
		return v->last_offset;
	return UINT64_MAX;
}
