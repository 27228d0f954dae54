/* SPDX-License-Identifier: MIT */
/*
 * Is a journal file consistent? All checks of specification section 12, in its order and in version
 * 262's words, over a window whose bytes come as they are asked for.
 *
 * The work is done in pieces: verify_run() goes on where it left off, so that a file is streamed
 * through whatever memory there is. A first walk goes over all objects in file order, a second one
 * over the entries in the order of the global chain; what else is looked at (the sets of shared
 * data objects) is looked at once.
 *
 * What is remembered of a file: where its objects begin (a bit for every 8 bytes and a count for
 * every 512), five bytes for each object, eight for each bucket of the data hash table. That is
 * about a sixteenth of the file's used length, and allocated as the walk goes on: a header that
 * lies about sizes costs nothing.
 *
 * The work is linear in the length of any valid file. A damaged or hostile one could make the same
 * array or chain be looked at for ever: that is cut short, and is a failure in words of ours.
 */
#ifndef FORMATS_JOURNAL_VERIFY_H
#define FORMATS_JOURNAL_VERIFY_H

#include "formats/journal/journal.h"
#include "formats/journal/seal.h"

/* A line about the file. */
#define VERIFY_TEXT_SIZE 192u
#define VERIFY_NO_OFFSET UINT64_MAX
struct verify_detail {
	uint64_t offset; /* of the object, or VERIFY_NO_OFFSET */
	char text[VERIFY_TEXT_SIZE];
};
#define VERIFY_DETAILS_MAX 4u

/* What is known at the end, or so far. */
struct verify_result {
	int error;             /* 0, or why the file is not consistent */
	uint64_t error_offset; /* how far the first walk had come */
	unsigned detail_count;
	struct verify_detail details[VERIFY_DETAILS_MAX];
	uint64_t entries;
	uint64_t unchecked; /* payloads larger than the decoder's limit */
	bool sealed;
	uint64_t first_entry_usec; /* realtime of the first entry, and the latest of all: 0 if */
	uint64_t last_entry_usec;  /* there is none */
	bool validated;            /* with a key: at least one tag is right, */
	uint64_t validated_until_usec; /* and the epoch of the last one ends here */
};

struct verify;

/*
 * Begins. J, DECODER and SEAL (NULL: no key) are borrowed. SNAPSHOT: the file is being written, and
 * j->header was read before anything else of it: only what the writer had completed by then is
 * checked, and what it changes in place is given the benefit of the doubt (specification 6.3).
 */
int verify_new(const struct journal *j, struct payload_decoder *decoder, struct seal *seal,
	       bool snapshot, struct verify **ret);
/* Accepts NULL. Returns NULL. */
struct verify *verify_free(struct verify *v);

/*
 * Does a piece of the work. 1: there is more to do; 0: all is well; -EAGAIN; another negative
 * errno: the file is not consistent (-ENOKEY: sealed and no key, nothing was looked at;
 * -EOPNOTSUPP: not understood), or -ENOMEM. Having answered 0 or an error it must not be called
 * again.
 */
int verify_run(struct verify *v, struct window *w);

const struct verify_result *verify_result(const struct verify *v);

/* How much is done, in thousandths: never goes back. */
unsigned verify_progress(const struct verify *v);

/* Where in the file the current walk is: what comes after it will be wanted. */
uint64_t verify_position(const struct verify *v);

#endif
