/* SPDX-License-Identifier: MIT */
/*
 * Waves: one step over many sources at once, so that N files cost a few round trips to the disk. A
 * wave goes on whenever it is called; it never waits. What the step does is its caller's business.
 */
#include "engine/engine.h"

/* Sources that are waited for at once: as many as keep a disk busy; where all has come from the
 * page cache so far, few, since the frames of those that are done with serve the next. */
#define WAVE_WIDTH 256u
#define WAVE_WIDTH_WARM 4u

bool engine_reads_memory(const struct jscan *e)
{
	/* A method of a test has no page cache. */
	return e->waits == 0 && !e->custom_method;
}

/* Begins a step over all sources that WANTS says yes to, NULL: all that have not failed. */
static void engine_wave_begin(struct jscan *e, source_step_fn step,
			      bool (*wants)(const struct source *s))
{
	for (size_t i = 0; i < e->source_count; i++)
		e->sources[i]->in_wave = false;
	e->wave = (struct engine_wave){ .step = step, .wants = wants };
	e->wave_runs = true;
}

/* True if a source has said that it has nothing for this scan. */
static bool engine_is_done_with(const struct source *s)
{
	const struct source_walk *walk = &s->walk;

	if (s->candidate == CANDIDATE_THERE || s->engine->follow)
		return false;
	if (s->plan.root)
		return s->plan.root->empty;
	return walk->located && !walk->backward && !s->passes && walk->at == walk->count &&
	       walk->index >= s->chain.count;
}

/* Tries one source. Its own failure is no error of the wave. */
static int engine_wave_try(struct jscan *e, struct source *s)
{
	int r = source_try(s, e->wave.step);

	if (r == -EBUSY || r == -ENOMEM)
		return r;
	if (r == -EAGAIN && !s->error) {
		if (!s->in_wave)
			e->wave.pending++;
		s->in_wave = true;
		return 0;
	}
	if (s->in_wave)
		e->wave.pending--;
	s->in_wave = false;
	if (engine_is_done_with(s))
		source_drop_image(s);
	return 0;
}

/* How many sources may be waited for. */
static size_t engine_wave_width(const struct jscan *e)
{
	bool opens = e->wave.step == source_step_header;

	return opens || !engine_reads_memory(e) ? WAVE_WIDTH : WAVE_WIDTH_WARM;
}

/* Goes on with the wave: 0 when all have answered, -EAGAIN. */
static int engine_wave_run(struct jscan *e)
{
	struct list *l;
	int r;

	while ((l = list_pop(&e->runnable))) {
		struct source *s = container_of(l, struct source, run_link);

		if (!s->in_wave)
			continue;
		r = engine_wave_try(e, s);
		if (r == -EBUSY)
			list_append(&e->busy, &s->run_link); /* until a descriptor is free */
		else if (r < 0)
			return r;
	}
	while (e->wave.next < e->source_count) {
		struct source *s = e->sources[e->wave.next];

		if (e->wave.pending >= engine_wave_width(e))
			return -EAGAIN;
		if (!s->error && (!e->wave.wants || e->wave.wants(s))) {
			r = engine_wave_try(e, s);
			if (r == -EBUSY)
				return -EAGAIN;
			if (r < 0)
				return r;
		}
		e->wave.next++;
	}
	if (e->wave.pending)
		return -EAGAIN;
	e->wave_runs = false;
	return 0;
}

int engine_wave(struct jscan *e, source_step_fn step, bool (*wants)(const struct source *s))
{
	if (!e->wave_runs)
		engine_wave_begin(e, step, wants);
	return engine_wave_run(e);
}
