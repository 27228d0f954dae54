/* SPDX-License-Identifier: MIT */
/*
 * Problems: what could not be read is told to the caller's handler and to every sink, once. Many
 * entries share a damaged object and steps run again, so each source remembers what it has
 * reported.
 */
#include "engine/engine.h"

/* Tells everybody. */
static void problem_tell(struct jscan *e, const struct jscan_problem *problem)
{
	e->stats.problems++;
	if (e->problem_handler)
		e->problem_handler(e->problem_userdata, problem);
	for (size_t i = 0; i < e->sinks.count && e->sinks_begun; i++) {
		struct sink *sink = e->sinks.sinks[i];
		int r = sink_answer(sink, sink->ops.problem(sink->userdata, problem));

		if (r > 0)
			sink->stopped = true;
		else if (r < 0 && !e->sink_error)
			e->sink_error = r; /* whoever feeds the sinks ends the scan */
	}
}

void problem_report(struct source *s, enum jscan_reason reason, int error, uint64_t offset,
		    const char *detail)
{
	uint64_t mark = (offset + 1) * UINT64_C(0x9e3779b97f4a7c15) + reason;
	size_t slots = sizeof(s->reported) / sizeof(s->reported[0]);
	size_t at = mark % slots;

	if (s->reported[at] == mark)
		return;
	s->reported[at] = mark;
	problem_tell(s->engine, &(const struct jscan_problem){
		.size = sizeof(struct jscan_problem),
		.reason = reason,
		.error = error,
		.path = s->path,
		.offset = offset,
		.detail = detail,
	});
}

void problem_report_damage(struct source *s, const struct reader_damage *damage)
{
	problem_report(s, damage->error == -ENOBUFS ? JSCAN_REASON_LIMIT : JSCAN_REASON_PAYLOAD,
		       damage->error, damage->offset, damage->detail);
}

void problem_report_path(struct jscan *e, const char *path, enum jscan_reason reason, int error,
			 const char *detail)
{
	problem_tell(e, &(const struct jscan_problem){
		.size = sizeof(struct jscan_problem),
		.reason = reason,
		.error = error,
		.path = path,
		.detail = detail,
	});
}
