/* SPDX-License-Identifier: MIT */
/* Lines of ours in output that is compressed. */
#ifndef CLI_FRAME_H
#define CLI_FRAME_H

#include "jscan.h"

/* Writes TEXT, shorter than 256 bytes, to standard output: as a frame of its own where output is
 * compressed, as it is where it is not. */
void frame_write(enum jscan_compression compression, const char *text);

#endif
