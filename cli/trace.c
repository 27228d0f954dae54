// SPDX-License-Identifier: MIT
/*
 * Writes an access trace. Lines are gathered by the C library; a file that cannot be written is
 * told of at the end.
 */
#include "trace.h"

#include <errno.h>
#include <stdbool.h>
#include <string.h>

#include "messages.h"

/* Writes a line. */
static void trace_write(void *userdata, const struct jscan_trace_event *event)
{
	static const char letters[] = {
		[JSCAN_TRACE_OPEN] = 'O', [JSCAN_TRACE_WANTED] = 'W', [JSCAN_TRACE_EXPECTED] = 'X',
		[JSCAN_TRACE_READ] = 'R', [JSCAN_TRACE_HIT] = 'H',    [JSCAN_TRACE_EVICTED] = 'E',
		[JSCAN_TRACE_CLOSE] = 'C',
	};
	const struct trace *trace = userdata;

	fprintf(trace->file, "%c %u %llx %llx", letters[event->kind], event->file,
		(unsigned long long)event->offset, (unsigned long long)event->size_bytes);
	if (event->kind == JSCAN_TRACE_OPEN)
		fprintf(trace->file, " %s", event->path);
	fputc('\n', trace->file);
}

int trace_open(struct trace *trace, struct jscan *engine, const char *path)
{
	if (!path)
		return 0;
	trace->file = fopen(path, "we");
	if (!trace->file)
		return message_error("Failed to open %s: %s", path, strerror(errno));
	fputs("jscan trace 1\n", trace->file);
	return jscan_set_trace(engine, trace_write, trace) < 0 ? message_memory() : 0;
}

int trace_close(struct trace *trace, const char *path)
{
	bool failed;

	if (!trace->file)
		return 0;
	failed = ferror(trace->file);
	if (fclose(trace->file) == EOF || failed)
		return message_error("Failed to write %s.", path);
	return 0;
}
