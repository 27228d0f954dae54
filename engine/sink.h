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
#define SINK_WRITE_BYTES (256u << 10)
/* ... and its buffer is kept for reuse if it is no larger than this. */
#define SINK_BUFFER_KEEP_BYTES (4u << 20)

/* What one entry may grow to when it is formatted. */
#define SINK_BUFFER_BYTES_MAX (48u << 20)

/* What a public entry is: a view of the reader's fields, or a copy of its own. */
struct jscan_entry {
	struct jscan_entry_info info;
	const struct output_field *fields;
	size_t field_count;
	struct output_lead lead; /* of the reader that it is a view of */
	void *owned;          /* of jscan_entry_dup(): fields, bytes and path in one allocation */
	struct jscan *engine; /* borrowed ones: for what is still to be loaded */
	size_t grep_begin, grep_end; /* of the match in MESSAGE; 0, 0 without a pattern */
	const char *const *only;    /* the sink that it is shown to has asked for these; or NULL */
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
	const struct output_options *output; /* built-in: which fields it needs, ... */
	const char *key;              /* ... and this one; or NULL */
	char **fields;                /* others: which they are shown; NULL: all */
	struct output_sink *built_in; /* one that writes to fd; else NULL */
	void *library;                /* shared object that it came from, or NULL */
	bool failed;                  /* a slot answered with an error */
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

/* Copies a list of strings that NULL ends. To be freed also if it fails. */
int sink_copy_list(const char *const *list, char ***ret_copy);
void sink_free_list(char **list);

/* What a slot of a sink has answered: errors are remembered. */
static inline int sink_answer(struct sink *sink, int r)
{
	if (unlikely(r < 0))
		sink->failed = true;
	return r;
}

/* Makes the public view of an entry. */
void entry_view(struct jscan_entry *view, struct jscan *engine, const struct source *source,
		const struct entry_object *entry, const struct reader *reader);

#endif
