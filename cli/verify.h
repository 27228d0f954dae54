/* SPDX-License-Identifier: MIT */
/* --verify: whether files are consistent, and sealed ones as they were sealed. */
#ifndef CLI_VERIFY_H
#define CLI_VERIFY_H

#include "archive.h"

/* Verifies the files of an archive that is open. 0: all are in order, or a signal ended it, which
 * *RET_STOPPED says; a negative answer has been explained. */
int verify_files(struct archive *archive, bool *ret_stopped);

#endif
