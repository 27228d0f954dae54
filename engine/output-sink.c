/* SPDX-License-Identifier: MIT */
/*
 * The built-in output: a sink like an outsider's, whose format slot is one of the encoders and
 * whose write slot writes to a descriptor. It formats on any thread, but for short-delta, which
 * looks at the entry before.
 */
#include <poll.h>
#include <stdlib.h>
#include <unistd.h>

#include "engine/engine.h"

#define OUTPUT_SINK_FLAGS                                                                          \
	(JSCAN_OUTPUT_ALL | JSCAN_OUTPUT_UTC | JSCAN_OUTPUT_NO_HOSTNAME |                          \
	 JSCAN_OUTPUT_TRUNCATE_NEWLINE | JSCAN_OUTPUT_BOOT_LINES)

_Static_assert((int)JSCAN_MODE_CAT == (int)OUTPUT_CAT, "the modes are the encoders'");
_Static_assert(JSCAN_OUTPUT_ALL == OUTPUT_ALL && JSCAN_OUTPUT_UTC == OUTPUT_UTC &&
		       JSCAN_OUTPUT_NO_HOSTNAME == OUTPUT_NO_HOSTNAME &&
		       JSCAN_OUTPUT_TRUNCATE_NEWLINE == OUTPUT_TRUNCATE_NEWLINE,
	       "the flags are the encoders'");

struct output_sink {
	struct output_options options;
	bool boot_lines;
	int fd;
	char **fields;                    /* copies; ended by NULL */
	struct output_previous *previous; /* of short-delta */
	struct jscan *engine;
};

/* sink: begin. */
static int output_sink_begin(void *userdata, struct jscan *engine)
{
	struct output_sink *o = userdata;

	o->engine = engine;
	return 0;
}

void output_sink_boot_line(const void *userdata, const struct jscan_entry *entry,
			   const struct jscan_entry_context *context, struct jscan_buffer *buffer)
{
	const struct output_sink *o = userdata;
	struct id128 boot_id;

	if (!o->boot_lines || !context->has_previous ||
	    memcmp(&context->previous_boot_id, &entry->info.boot_id, sizeof(jscan_id)) == 0)
		return;
	memcpy(boot_id.bytes, entry->info.boot_id.bytes, sizeof(boot_id.bytes));
	output_boot_line(&o->options, &buffer->bytes, &boot_id);
}

/* sink: format. */
static int output_sink_format(const void *userdata, const struct jscan_entry *entry,
			      const struct jscan_entry_context *context,
			      struct jscan_buffer *buffer)
{
	const struct output_sink *o = userdata;
	struct output_entry view = {
		.seqnum = entry->info.seqnum,
		.realtime = entry->info.realtime_usec,
		.monotonic = entry->info.monotonic_usec,
		.xor_hash = entry->info.hash,
		.fields = entry->fields,
		.field_count = entry->field_count,
	};
	size_t size = buffer->bytes.size;
	int r;

	memcpy(view.boot_id.bytes, entry->info.boot_id.bytes, sizeof(view.boot_id.bytes));
	memcpy(view.seqnum_id.bytes, entry->info.seqnum_id.bytes, sizeof(view.seqnum_id.bytes));
	output_sink_boot_line(o, entry, context, buffer);
	r = output_entry(&o->options, entry->cache, o->previous, &view, &buffer->bytes);
	if (r < 0)
		buffer->bytes.size = size; /* the boot's line too: the entry may be tried again */
	return r;
}

/* sink: write. A descriptor that does not block is waited for. */
static int output_sink_write(void *userdata, const void *data, size_t size)
{
	struct output_sink *o = userdata;
	const uint8_t *bytes = data;

	while (size > 0) {
		ssize_t n = write(o->fd, bytes, size);

		if (n < 0) {
			struct pollfd p = { .fd = o->fd, .events = POLLOUT };

			if (errno == EINTR)
				continue;
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

/* sink: free. */
static void output_sink_free(void *userdata)
{
	struct output_sink *o = userdata;

	for (size_t i = 0; o->fields && o->fields[i]; i++)
		free(o->fields[i]);
	free(o->fields);
	free(o->previous);
	free(o);
}

/* Copies --output-fields. */
static int output_sink_copy_fields(struct output_sink *o, const char *const *fields)
{
	size_t count = 0;

	while (fields[count])
		count++;
	o->fields = calloc(count + 1, sizeof(*o->fields));
	if (!o->fields)
		return -ENOMEM;
	for (size_t i = 0; i < count; i++) {
		o->fields[i] = strdup(fields[i]);
		if (!o->fields[i])
			return -ENOMEM;
	}
	o->options.fields = (const char *const *)o->fields;
	return 0;
}

int jscan_add_output(struct jscan *e, const struct jscan_output *output, int fd)
{
	static const struct jscan_sink_ops ops = {
		.size = sizeof(ops),
		.name = "output",
		.begin = output_sink_begin,
		.format = output_sink_format,
		.write = output_sink_write,
		.free = output_sink_free,
	};
	struct output_sink *o;
	struct sink *sink;
	int r = engine_check(e);

	if (r < 0)
		return r;
	if (!output || output->size != sizeof(*output) || output->mode > JSCAN_MODE_CAT ||
	    (output->flags & ~OUTPUT_SINK_FLAGS) || fd < 0 || e->sinks_begun)
		return -EINVAL;
	o = calloc(1, sizeof(*o));
	if (!o)
		return -ENOMEM;
	o->fd = fd;
	o->options.mode = (enum output_mode)output->mode;
	o->options.flags = output->flags & ~JSCAN_OUTPUT_BOOT_LINES;
	o->boot_lines = output->flags & JSCAN_OUTPUT_BOOT_LINES;
	o->previous = calloc(1, sizeof(*o->previous));
	r = o->previous ? 0 : -ENOMEM;
	if (r == 0 && output->fields)
		r = output_sink_copy_fields(o, output->fields);
	if (r == 0)
		r = sink_add(&e->sinks, &ops, o, &sink);
	if (r < 0) {
		output_sink_free(o);
		return r;
	}
	sink->output = &o->options;
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
