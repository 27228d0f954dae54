/* SPDX-License-Identifier: MIT */
/*
 * The built-in output: a sink like an outsider's, whose format slot is one of the encoders and
 * whose write slot writes to a descriptor. It formats on any thread, but for short-delta, which
 * looks at the entry before. Compressed, what is written at once becomes frames of bounded size;
 * with workers, frames come from them.
 */
#include <fcntl.h>
#include <poll.h>
#include <stdlib.h>
#include <sys/utsname.h>
#include <unistd.h>

#include "engine/catalog.h"
#include "engine/engine.h"
#include "engine/output-sink.h"

#define OUTPUT_SINK_FLAGS                                                                          \
	(JSCAN_OUTPUT_ALL | JSCAN_OUTPUT_UTC | JSCAN_OUTPUT_NO_HOSTNAME |                          \
	 JSCAN_OUTPUT_TRUNCATE_NEWLINE | JSCAN_OUTPUT_BOOT_LINES | JSCAN_OUTPUT_SHORTEN |          \
	 JSCAN_OUTPUT_LINKS | JSCAN_OUTPUT_CATALOG | JSCAN_OUTPUT_ASCII |                          \
	 JSCAN_OUTPUT_NO_UNDERLINE | JSCAN_OUTPUT_LENIENT)

/* What struct jscan_output was in the first release. */
#define OUTPUT_SINK_SIZE_MIN offsetof(struct jscan_output, colours)

/* A pipe that is written to in large pieces is made to hold so much: else writer and reader wait
 * for each other once per 64 KiB. It is what a process without privileges may ask for. */
#define OUTPUT_SINK_PIPE_BYTES (1 << 20)
/* A piece is large from here on: what prints a few lines leaves a pipe alone. */
#define OUTPUT_SINK_PIECE_BYTES (64u << 10)

/* Columns of a line where nobody says otherwise. */
#define OUTPUT_SINK_WIDTH 80u

_Static_assert((int)JSCAN_MODE_CAT == (int)OUTPUT_CAT &&
		       (int)JSCAN_MODE_JSON_STABLE == (int)OUTPUT_JSON_STABLE,
	       "the modes are the encoders'");
_Static_assert(JSCAN_OUTPUT_ALL == OUTPUT_ALL && JSCAN_OUTPUT_UTC == OUTPUT_UTC &&
		       JSCAN_OUTPUT_NO_HOSTNAME == OUTPUT_NO_HOSTNAME &&
		       JSCAN_OUTPUT_TRUNCATE_NEWLINE == OUTPUT_TRUNCATE_NEWLINE &&
		       JSCAN_OUTPUT_SHORTEN == OUTPUT_SHORTEN &&
		       JSCAN_OUTPUT_LINKS == OUTPUT_LINKS &&
		       JSCAN_OUTPUT_CATALOG == OUTPUT_CATALOG &&
		       JSCAN_OUTPUT_ASCII == OUTPUT_ASCII &&
		       JSCAN_OUTPUT_NO_UNDERLINE == OUTPUT_NO_UNDERLINE &&
		       JSCAN_OUTPUT_LENIENT == OUTPUT_LENIENT,
	       "the flags are the encoders'");
_Static_assert((int)JSCAN_COLOURS_24BIT == (int)OUTPUT_COLOURS_24BIT,
	       "the colours are the encoders'");

/* sink: begin. */
static int output_sink_begin(void *userdata, struct jscan *engine)
{
	struct output_sink *o = userdata;

	o->engine = engine;
	o->framed = false;
	return 0;
}

void output_sink_boot_line(const struct output_sink *o, const struct jscan_entry *entry,
			   const struct jscan_entry_context *context, struct jscan_buffer *buffer)
{
	struct id128 boot_id;

	if (!o->boot_lines || !context->has_previous ||
	    memcmp(&context->previous_boot_id, &entry->info.boot_id, sizeof(jscan_id)) == 0)
		return;
	memcpy(boot_id.bytes, entry->info.boot_id.bytes, sizeof(boot_id.bytes));
	output_boot_line(&o->options, &buffer->bytes, &boot_id);
}

int output_sink_print(const struct output_sink *o, const struct jscan_entry *entry,
		      struct jscan_buffer *buffer)
{
	struct output_entry view = {
		.seqnum = entry->info.seqnum,
		.realtime = entry->info.realtime_usec,
		.monotonic = entry->info.monotonic_usec,
		.xor_hash = entry->info.hash,
		.fields = entry->fields,
		.field_count = entry->field_count,
		.lead = entry->lead,
		.match_begin = entry->grep_begin,
		.match_end = entry->grep_end,
		.incomplete = entry->incomplete,
	};
	int r;

	memcpy(view.boot_id.bytes, entry->info.boot_id.bytes, sizeof(view.boot_id.bytes));
	memcpy(view.seqnum_id.bytes, entry->info.seqnum_id.bytes, sizeof(view.seqnum_id.bytes));
	r = output_entry(&o->options, entry->cache, &o->state->previous, &view, &buffer->bytes);
	if (r == 0 && unlikely(entry->cache->catalog_failures))
		atomic_fetch_add_explicit(entry->cache->catalog_error == -EINVAL ?
						  &o->state->bad_ids :
						  &o->state->no_catalog,
					  entry->cache->catalog_failures, memory_order_relaxed);
	return r;
}

/* sink: format. */
static int output_sink_format(const void *userdata, const struct jscan_entry *entry,
			      const struct jscan_entry_context *context,
			      struct jscan_buffer *buffer)
{
	const struct output_sink *o = userdata;
	size_t size = buffer->bytes.size;
	int r;

	output_sink_boot_line(o, entry, context, buffer);
	r = output_sink_print(o, entry, buffer);
	if (r < 0)
		buffer->bytes.size = size; /* the boot's line too: the entry may be tried again */
	return r;
}

void output_sink_tell(struct output_sink *o)
{
	unsigned bad_ids = atomic_exchange(&o->state->bad_ids, 0);
	unsigned no_catalog = atomic_exchange(&o->state->no_catalog, 0);

	for (; bad_ids > 0; bad_ids--)
		problem_report_path(o->engine, o->catalog_path, JSCAN_REASON_CATALOG, -EINVAL,
				    "a MESSAGE_ID is no ID");
	for (; no_catalog > 0; no_catalog--)
		problem_report_path(o->engine, o->catalog_path, JSCAN_REASON_CATALOG,
				    o->options.catalog_error, "there is no catalog");
}

/* sink: flush. Formatting, on whatever thread, cannot tell of anything. */
static int output_sink_flush(void *userdata)
{
	output_sink_tell(userdata);
	return 0;
}

/* Has a pipe hold more. What is none, or may not grow, stays as it is. */
static void output_sink_widen(struct output_sink *o)
{
	int size = fcntl(o->fd, F_GETPIPE_SZ);

	o->widened = true;
	if (size >= 0 && size < OUTPUT_SINK_PIPE_BYTES)
		fcntl(o->fd, F_SETPIPE_SZ, OUTPUT_SINK_PIPE_BYTES);
}

/* Writes to the descriptor. One that does not block is waited for. */
static int output_sink_put(struct output_sink *o, const uint8_t *bytes, size_t size)
{
	if (unlikely(size >= OUTPUT_SINK_PIECE_BYTES && !o->widened))
		output_sink_widen(o);
	while (size > 0) {
		ssize_t n = write(o->fd, bytes, size);

		if (n < 0) {
			struct pollfd p = { .fd = o->fd, .events = POLLOUT };

			if (errno == EINTR)
				continue;
			if (errno == EPIPE && o->engine->follow)
				return 1; /* nobody reads on: that is how following ends */
			if (errno != EAGAIN)
				return -errno;
			poll(&p, 1, -1);
			continue;
		}
		bytes += n;
		size -= (size_t)n;
		o->engine->stats.bytes_written += (uint64_t)n;
	}
	return 0;
}

int output_sink_write_frame(struct output_sink *o, const uint8_t *frame, size_t size)
{
	o->framed = true;
	return output_sink_put(o, frame, size);
}

/* Makes a frame of bytes and writes it. */
static int output_sink_pack(struct output_sink *o, const uint8_t *bytes, size_t size)
{
	const uint8_t *frame;
	size_t frame_size;
	int r = packer_frame(&o->packer, o->kind, o->level, bytes, size, &frame, &frame_size);

	return r < 0 ? r : output_sink_write_frame(o, frame, frame_size);
}

/* sink: write. */
static int output_sink_write(void *userdata, const void *data, size_t size)
{
	struct output_sink *o = userdata;
	const uint8_t *bytes = data;
	int r = 0;

	if (o->kind == PACKED_NONE)
		return output_sink_put(o, bytes, size);
	while (size > 0 && r == 0) {
		size_t n = size < PACKER_FRAME_BYTES_MAX ? size : PACKER_FRAME_BYTES_MAX;

		r = output_sink_pack(o, bytes, n);
		bytes += n;
		size -= n;
	}
	return r;
}

/* sink: end. No bytes are an empty frame. */
static int output_sink_end(void *userdata)
{
	struct output_sink *o = userdata;
	int r = 0;

	if (o->kind != PACKED_NONE && !o->framed)
		r = output_sink_pack(o, NULL, 0);
	return r < 0 ? r : 0;
}

void output_sink_free(struct output_sink *o)
{
	packer_done(&o->packer);
	sink_free_list(o->fields);
	sink_free_list(o->excluded);
	free(o->node_name);
	free(o->directory);
	free(o->catalog_path);
	free(o->state);
	free(o);
}

/* sink: free. */
static void output_sink_end_of_life(void *userdata)
{
	output_sink_free(userdata);
}

/* Finds out what links to files are made of. Where that fails there are no such links. */
static int output_sink_set_places(struct output_sink *o, const char *node_name)
{
	struct utsname names;

	if (!node_name && uname(&names) == 0)
		node_name = names.nodename;
	if (node_name) {
		o->node_name = strdup(node_name);
		if (!o->node_name)
			return -ENOMEM;
	}
	o->directory = getcwd(NULL, 0);
	o->options.node_name = o->node_name;
	o->options.directory = o->directory;
	return 0;
}

/* Takes over what an output is to print and how; strings are copied. */
static int output_sink_set(struct output_sink *o, const struct jscan_output *output)
{
	int r = 0;

	o->options.mode = (enum output_mode)output->mode;
	o->options.flags = output->flags & ~JSCAN_OUTPUT_BOOT_LINES;
	o->options.colours = (enum output_colours)output->colours;
	o->options.width = output->width ? output->width : OUTPUT_SINK_WIDTH;
	o->boot_lines = output->flags & JSCAN_OUTPUT_BOOT_LINES;
	if (output->catalog)
		o->options.catalog = &output->catalog->catalog;
	o->options.catalog_error = output->catalog_error;
	o->catalog_path = strdup(output->catalog ? output->catalog->path : JSCAN_CATALOG_PATH);
	if (!o->catalog_path)
		return -ENOMEM;
	if (output->fields)
		r = sink_copy_list(output->fields, &o->fields);
	if (r == 0 && output->excluded)
		r = sink_copy_list(output->excluded, &o->excluded);
	o->options.fields = (const char *const *)o->fields;
	o->options.excluded = (const char *const *)o->excluded;
	if (r == 0 && output->flags & JSCAN_OUTPUT_LINKS)
		r = output_sink_set_places(o, output->node_name);
	return r;
}

/* Copies and checks an output. */
static int output_sink_take(const struct jscan_output *given, struct jscan_output *ret)
{
	int r;

	if (!given || given->size < OUTPUT_SINK_SIZE_MIN)
		return -EINVAL;
	*ret = (struct jscan_output){ 0 };
	r = engine_take(given, given->size, ret, sizeof(*ret));
	if (r < 0)
		return r;
	if (ret->mode > JSCAN_MODE_JSON_STABLE || (ret->flags & ~OUTPUT_SINK_FLAGS) ||
	    ret->colours > JSCAN_COLOURS_24BIT || ret->catalog_error > 0 || ret->reserved ||
	    ret->compression > JSCAN_COMPRESSION_LZ4 ||
	    ret->compression_level > (ret->compression == JSCAN_COMPRESSION_ZSTD ?
					      PACKER_ZSTD_LEVEL_MAX : 0))
		return -EINVAL;
	return 0;
}

/* The frames of each way to compress. */
static const enum packed_kind output_sink_kinds[] = {
	[JSCAN_COMPRESSION_NONE] = PACKED_NONE,
	[JSCAN_COMPRESSION_ZSTD] = PACKED_ZSTD,
	[JSCAN_COMPRESSION_LZ4] = PACKED_LZ4,
};

int output_sink_make(const struct jscan_output *given, struct output_sink **ret_sink)
{
	struct jscan_output output;
	struct output_sink *o;
	int r = output_sink_take(given, &output);

	if (r < 0)
		return r;
	o = calloc(1, sizeof(*o));
	if (!o)
		return -ENOMEM;
	o->fd = -1;
	o->kind = output_sink_kinds[output.compression];
	o->level = output.compression_level;
	o->state = calloc(1, sizeof(*o->state));
	r = o->state ? output_sink_set(o, &output) : -ENOMEM;
	if (r < 0) {
		output_sink_free(o);
		return r;
	}
	*ret_sink = o;
	return 0;
}

int jscan_add_output(struct jscan *e, const struct jscan_output *given, int fd)
{
	static const struct jscan_sink_ops ops = {
		.size = sizeof(ops),
		.name = "output",
		.begin = output_sink_begin,
		.format = output_sink_format,
		.write = output_sink_write,
		.flush = output_sink_flush,
		.end = output_sink_end,
		.free = output_sink_end_of_life,
	};
	struct output_sink *o;
	struct sink *sink;
	int r = engine_check(e);

	if (r == 0)
		r = output_sink_make(given, &o);
	if (r < 0)
		return r;
	r = fd < 0 || e->sinks_begun ? -EINVAL : sink_add(&e->sinks, &ops, o, &sink);
	if (r < 0) {
		output_sink_free(o);
		return r;
	}
	o->fd = fd;
	sink->built_in = o;
	sink->output = &o->options;
	sink->fd = fd;
	sink->kind = o->kind;
	sink->level = o->level;
	return 0;
}

int jscan_mode_parse(const char *name, enum jscan_mode *ret_mode)
{
	enum output_mode mode;
	int r = output_mode_parse(name, &mode);

	if (r == 0)
		*ret_mode = (enum jscan_mode)mode;
	return r;
}
