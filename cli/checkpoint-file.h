/* SPDX-License-Identifier: MIT */
/* The file of --checkpoint: how far runs have come in each sequence of numbers. */
#ifndef CLI_CHECKPOINT_FILE_H
#define CLI_CHECKPOINT_FILE_H

struct jscan;

/* Has reading go on behind the checkpoint that a file holds, from the beginning if there is no such
 * file, and has the file be replaced as reading goes on. PATH is borrowed as long as the engine. A
 * negative answer has been explained. */
int checkpoint_file_begin(struct jscan *engine, const char *path);

#endif
