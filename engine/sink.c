/* SPDX-License-Identifier: MIT */
/*
 * Sinks of outsiders and our own: one table of functions, completed here so that every slot can be
 * called. A sink that formats gathers its bytes until there are enough for a large write.
 */
#include "engine/sink.h"

#include <dlfcn.h>
#include <stdlib.h>

#include "engine/engine.h"

/* What is called where a sink left a slot empty. */
static int sink_begin_none(void *userdata, struct jscan *engine)
{
	(void)userdata;
	(void)engine;
	return 0;
}

static int sink_problem_none(void *userdata, const struct jscan_problem *problem)
{
	(void)userdata;
	(void)problem;
	return 0;
}

static int sink_none(void *userdata)
{
	(void)userdata;
	return 0;
}

static void sink_free_none(void *userdata)
{
	(void)userdata;
}

void sink_free_list(char **list)
{
	for (size_t i = 0; list && list[i]; i++)
		free(list[i]);
	free(list);
}

int sink_copy_list(const char *const *list, char ***ret_copy)
{
	size_t count = 0;

	while (list[count])
		count++;
	*ret_copy = calloc(count + 1, sizeof(**ret_copy));
	if (!*ret_copy)
		return -ENOMEM;
	for (size_t i = 0; i < count; i++) {
		(*ret_copy)[i] = strdup(list[i]);
		if (!(*ret_copy)[i])
			return -ENOMEM;
	}
	return 0;
}

/* Frees what is the sink's own, not what is its owner's. */
static void sink_release(struct sink *sink)
{
	sink_free_list(sink->fields);
	output_buffer_done(&sink->buffer.bytes);
	free(sink);
}

int sink_add(struct sink_list *list, const struct jscan_sink_ops *ops, void *userdata,
	     struct sink **ret_sink)
{
	struct sink *sink, **sinks;

	if (!ops || ops->size < offsetof(struct jscan_sink_ops, free))
		return -EINVAL;
	sink = calloc(1, sizeof(*sink));
	sinks = reallocarray(list->sinks, list->count + 1, sizeof(*sinks));
	if (sinks)
		list->sinks = sinks;
	if (!sink || !sinks) {
		free(sink);
		return -ENOMEM;
	}
	memcpy(&sink->ops, ops, ops->size < sizeof(sink->ops) ? ops->size : sizeof(sink->ops));
	if (!sink->ops.entry && (!sink->ops.format || !sink->ops.write)) {
		free(sink);
		return -EINVAL;
	}
	if (sink->ops.fields && sink_copy_list(sink->ops.fields, &sink->fields) < 0) {
		sink_release(sink);
		return -ENOMEM;
	}
	sink->formats = !sink->ops.entry;
	sink->userdata = userdata;
	sink->fd = -1;
	sink->buffer.bytes.limit = SINK_BUFFER_BYTES_MAX;
	sink->ops.begin = sink->ops.begin ? sink->ops.begin : sink_begin_none;
	sink->ops.problem = sink->ops.problem ? sink->ops.problem : sink_problem_none;
	sink->ops.flush = sink->ops.flush ? sink->ops.flush : sink_none;
	sink->ops.end = sink->ops.end ? sink->ops.end : sink_none;
	sink->ops.free = sink->ops.free ? sink->ops.free : sink_free_none;
	list->sinks[list->count++] = sink;
	if (ret_sink)
		*ret_sink = sink;
	return 0;
}

void sink_list_done(struct sink_list *list)
{
	for (size_t i = 0; i < list->count; i++) {
		struct sink *sink = list->sinks[i];

		sink->ops.free(sink->userdata);
		if (sink->library)
			dlclose(sink->library);
		sink_release(sink);
	}
	free(list->sinks);
	*list = (struct sink_list){ 0 };
}

int sink_write(struct sink *sink)
{
	struct output_buffer *b = &sink->buffer.bytes;
	int r;

	if (b->size == 0)
		return 0;
	r = sink_answer(sink, sink->ops.write(sink->userdata, b->bytes, b->size));
	b->size = 0;
	/* One huge entry should not cost its size for the rest of the scan. */
	if (b->capacity > SINK_BUFFER_KEEP_BYTES)
		output_buffer_done(b);
	return r;
}

int jscan_buffer_append(struct jscan_buffer *buffer, const void *data, size_t size)
{
	if (!size)
		return 0;
	output_bytes(&buffer->bytes, data, size);
	if (!buffer->bytes.failed)
		return 0;
	buffer->bytes.failed = false;
	return -ENOMEM;
}

int jscan_add_sink(struct jscan *e, const struct jscan_sink_ops *ops, void *userdata)
{
	int r = engine_check(e);

	if (r < 0)
		return r;
	return e->sinks_begun ? -EINVAL : sink_add(&e->sinks, ops, userdata, NULL);
}

int jscan_failed_sink(const struct jscan *e)
{
	for (size_t i = 0; e && i < e->sinks.count; i++) {
		if (e->sinks.sinks[i]->failed)
			return (int)i; /* there is no memory for more */
	}
	return -1;
}
