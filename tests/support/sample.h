/* SPDX-License-Identifier: MIT */
/*
 * The sample archive: a small machine's story in five files, as an archive looks after a crash, an
 * upgrade and a second boot. tests/data/sample holds it; make-sample writes it anew.
 */
#ifndef TESTS_SUPPORT_SAMPLE_H
#define TESTS_SUPPORT_SAMPLE_H

#include "tests/support/fixture.h"

#define SAMPLE_FILES 5u

struct sample_file {
	char name[128];
	struct fixture *fx; /* finished */
	uint8_t compression;
};

/* Makes all files, with what this build can compress with. */
void sample_make(struct sample_file files[SAMPLE_FILES]);
void sample_done(struct sample_file files[SAMPLE_FILES]);

#endif
