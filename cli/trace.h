/* SPDX-License-Identifier: MIT */
/*
 * --trace: a file with a line for each thing that happens to the contents of the files. The first
 * line is "jscan trace 1". The others are a letter, the number of a file, an offset and a size, the
 * last two in hexadecimal: O a file is opened (then its path follows), W a range is wanted, X
 * expected, R blocks came in, H blocks were used, E evicted, C the file is closed.
 */
#ifndef CLI_TRACE_H
#define CLI_TRACE_H

#include <stdio.h>

#include <jscan.h>

struct trace {
	FILE *file; /* NULL: there is none */
};

/* Begins a trace of ENGINE in PATH; NULL: none is wanted. A negative answer has been explained. */
int trace_open(struct trace *trace, struct jscan *engine, const char *path);

/* Ends it, after the engine. A negative answer has been explained. */
int trace_close(struct trace *trace, const char *path);

#endif
