/* SPDX-License-Identifier: MIT */
/* Where --sink= sends entries. */
#ifndef CLI_SINKS_H
#define CLI_SINKS_H

#include <stdbool.h>
#include <stddef.h>

#include <jscan.h>

enum sink_kind {
	SINK_OUTPUT, /* a mode, to a file or descriptor */
	SINK_SPLIT,  /* a mode, to files in a directory */
	SINK_MODULE  /* a shared object's */
};

/* One --sink=. */
struct sink_spec {
	const char *text;      /* as it was given: borrowed */
	enum sink_kind kind;
	enum jscan_mode mode;
	bool compression_given;
	enum jscan_compression compression;
	unsigned level;
	char **fields;         /* ours; NULL: what --output-fields says */
	size_t field_count;
	enum jscan_split_key key;
	unsigned files_open_max;
	char *name;            /* ours: of a module, its path */
	const char *where;     /* what follows the colon, borrowed; or NULL */
	int fd;                /* while it is attached; -1 */
	bool owned;            /* FD was opened here */
};

/* Parses what --sink= says, and appends it to a list. 1; else -EINVAL or -ENOMEM, which has been
 * explained. */
int sinks_add(struct sink_spec **list, size_t *count, const char *text);
void sinks_done(struct sink_spec *list, size_t count);

/* Whether one of them writes to standard output. */
bool sinks_use_standard_output(const struct sink_spec *list, size_t count);

/* Opens them all and attaches them in their order. LIKE says how entries are shown, as far as the
 * sinks do not. -EINVAL, explained. */
int sinks_attach(struct sink_spec *list, size_t count, struct jscan *engine,
		 const struct jscan_output *like, bool boot_lines);

/* Closes what was opened. -EINVAL if that fails, explained. */
int sinks_close(struct sink_spec *list, size_t count);

#endif
