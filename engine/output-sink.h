/* SPDX-License-Identifier: MIT */
/*
 * Built-in outputs, for those who make sinks of them: what turns entries into bytes, and where
 * these go.
 */
#ifndef ENGINE_OUTPUT_SINK_H
#define ENGINE_OUTPUT_SINK_H

#include <stdatomic.h>

#include "engine/sink.h"

/* What formatting changes: apart, since a sink that formats is constant. */
struct output_sink_state {
	struct output_previous previous; /* of short-delta */
	atomic_uint bad_ids;             /* entries with a MESSAGE_ID that is none, ... */
	atomic_uint no_catalog;          /* ... or that would need a catalog which cannot be read;
					  * both since problems were told last */
};

struct output_sink {
	struct output_options options;
	bool boot_lines;
	int fd;                    /* -1: where bytes go is another's business */
	enum packed_kind kind;     /* what it is compressed to; PACKED_NONE */
	unsigned level;
	bool widened;              /* what a pipe holds has been seen to */
	bool framed;               /* a frame has been written since the beginning */
	struct packer packer;      /* of the engine's thread */
	char **fields;             /* copies, ended by NULL */
	char **excluded;
	char *node_name;
	char *directory;
	char *catalog_path;
	struct output_sink_state *state;
	struct jscan *engine;
};

/* Makes what an outsider describes, without a descriptor. The caller frees it. */
int output_sink_make(const struct jscan_output *given, struct output_sink **ret_sink);
void output_sink_free(struct output_sink *sink);

/* Appends what is printed for an entry, without a line between boots. 0; -ENOMEM, and BUFFER is as
 * it was. */
int output_sink_print(const struct output_sink *sink, const struct jscan_entry *entry,
		      struct jscan_buffer *buffer);

/* Tells of the entries for which the catalog failed since it was called last. */
void output_sink_tell(struct output_sink *sink);

/* Prints the line between two boots if there is one. */
void output_sink_boot_line(const struct output_sink *sink, const struct jscan_entry *entry,
			   const struct jscan_entry_context *context, struct jscan_buffer *buffer);

/* Writes a frame that a worker has made of their next bytes. */
int output_sink_write_frame(struct output_sink *sink, const uint8_t *frame, size_t size);

#endif
