/* SPDX-License-Identifier: MIT */
/*
 * Verifying files in tests: running it to its end however the bytes come, and a small file in which
 * all kinds of objects stand, for lies to be told in.
 */
#ifndef TESTS_SUPPORT_VERIFY_FILE_H
#define TESTS_SUPPORT_VERIFY_FILE_H

#include "formats/journal/verify.h"
#include "tests/support/fixture.h"
#include "tests/support/window-driver.h"

/* Verifies a file to the end; SEAL may be NULL. Returns what verify_run() answered last. */
int verify_file(struct fixture *fx, enum window_driver_mode mode, struct seal *seal, bool snapshot,
		struct verify_result *ret);

/* The small file: its entries, and the buckets for its data objects. */
#define VERIFY_SMALL_ENTRIES 12u
#define VERIFY_SMALL_BUCKETS 3u
/* What its entries share, and what one of them has alone. */
#define VERIFY_SMALL_SHARED "PRIORITY=6"
#define VERIFY_SMALL_SINGLE "MESSAGE=3"

struct fixture *verify_small_new(struct fixture_options o);

/* Has the payload of VERIFY_SMALL_SINGLE differ from its hash. Returns the object's offset. */
uint64_t verify_small_change_payload(struct fixture *fx);

#endif
