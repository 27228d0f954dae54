/* SPDX-License-Identifier: MIT */
/*
 * Access traces: what happens to the blocks of the files, told to the caller in its terms. Windows
 * mark the blocks that are looked at only where they know of no run of resident ones, so that
 * source_refresh_window() lets them know of none while a trace is on.
 */
#include "engine/engine.h"

/* Passes an event of the pool on. */
static void engine_trace_event(void *userdata, const struct image_event *event)
{
	static const enum jscan_trace_kind kinds[] = {
		[IMAGE_EVENT_OPEN] = JSCAN_TRACE_OPEN,
		[IMAGE_EVENT_WANTED] = JSCAN_TRACE_WANTED,
		[IMAGE_EVENT_EXPECTED] = JSCAN_TRACE_EXPECTED,
		[IMAGE_EVENT_READ] = JSCAN_TRACE_READ,
		[IMAGE_EVENT_HIT] = JSCAN_TRACE_HIT,
		[IMAGE_EVENT_EVICTED] = JSCAN_TRACE_EVICTED,
		[IMAGE_EVENT_CLOSE] = JSCAN_TRACE_CLOSE,
	};
	const struct source *s = event->image->owner;
	struct jscan *e = userdata;
	struct jscan_trace_event out = {
		.size = sizeof(out),
		.kind = kinds[event->kind],
		.file = s->added,
		.path = s->path,
		.offset = event->offset,
		.size_bytes = event->size_bytes,
	};

	/* What was used of a file is told before the file is closed. */
	if (event->kind == IMAGE_EVENT_CLOSE)
		image_pool_trace_hits(&e->pool);
	e->trace_handler(e->trace_userdata, &out);
}

void engine_trace_start(struct jscan *e)
{
	e->pool.trace = e->trace_handler ? engine_trace_event : NULL;
	e->pool.trace_userdata = e;
}

int jscan_set_trace(struct jscan *e, jscan_trace_fn handler, void *userdata)
{
	int r = engine_check(e);

	if (r < 0)
		return r;
	if (e->io_there)
		return -EBUSY;
	e->trace_handler = handler;
	e->trace_userdata = userdata;
	return 0;
}
