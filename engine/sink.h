/* SPDX-License-Identifier: MIT */
/*
 * Sinks: checks and completes an outsider's table, so that no call site tests for NULL, and fans
 * out to several. Also what an entry looks like to them.
 */
#ifndef ENGINE_SINK_H
#define ENGINE_SINK_H

#include "engine/reader.h"
#include "formats/output/output.h"
#include "formats/packed/packer.h"
#include "jscan.h"

/* A sink's bytes are handed on when there are this many ... */
#define SINK_WRITE_BYTES (1u << 20)
/* ... and its buffer is kept for reuse if it is no larger than this. */
#define SINK_BUFFER_KEEP_BYTES (4u << 20)

/* What one entry may grow to when it is formatted. */
#define SINK_BUFFER_BYTES_MAX (48u << 20)

/* What a public entry is: a view of the reader's fields, or a copy of its own. */
struct jscan_entry {
	struct jscan_entry_info info;
	const struct output_field *fields;
	size_t field_count;
	void *owned;          /* of jscan_entry_dup(): fields, bytes and path in one allocation */
	struct jscan *engine; /* borrowed ones: for what is still to be loaded */
	size_t grep_begin, grep_end; /* of the match in MESSAGE; 0, 0 without a pattern */
	bool incomplete;            /* fields are missing that cannot be read */
	struct output_cache *cache; /* of the thread that formats */
};

struct source;

struct jscan_buffer {
	struct output_buffer bytes;
};

struct sink {
	struct jscan_sink_ops ops;
	void *userdata;
	int fd;                       /* built-in: that it writes to; else -1 */
	bool formats;                 /* format and write, instead of entry */
	const struct output_options *output; /* built-in: which fields it needs */
	enum packed_kind kind;        /* built-in: how its bytes are compressed; PACKED_NONE */
	unsigned level;               /* of compression */
	struct jscan_buffer buffer;
	bool stopped;                 /* answered 1 */
};

struct sink_list {
	struct sink **sinks;
	size_t count;
};

int sink_add(struct sink_list *list, const struct jscan_sink_ops *ops, void *userdata,
	     struct sink **ret_sink);
void sink_list_done(struct sink_list *list);

/* Hands what a sink has formatted to its write slot. */
int sink_write(struct sink *sink);

/* Built-in outputs, by their userdata: prints the line between two boots if there is one. */
void output_sink_boot_line(const void *userdata, const struct jscan_entry *entry,
			   const struct jscan_entry_context *context, struct jscan_buffer *buffer);

/* Built-in outputs: writes a frame that a worker has made of their next bytes. */
int output_sink_write_frame(void *userdata, const uint8_t *frame, size_t size);

/* Built-in outputs: whether they print such lines. */
bool output_sink_has_boot_lines(const void *userdata);

/* Makes the public view of an entry. */
void entry_view(struct jscan_entry *view, struct jscan *engine, const struct source *source,
		const struct entry_object *entry, const struct reader *reader);

#endif
