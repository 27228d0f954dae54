/* SPDX-License-Identifier: MIT */
/*
 * Counts: of entries, of the values of a field, of entries per step of time.
 *
 * Where files cannot hold copies of each other's entries, because their ranges of one sequence
 * follow each other, the indexes count: a header its entries, a data object those that have its
 * value, a plan the offsets that it yields. Everywhere else, and where bounds, places, limits or
 * patterns have a say, the scan is run, and entries are counted as they come.
 */
#include <stdlib.h>

#include "engine/engine.h"
#include "engine/listing.h"
#include "engine/pipeline.h"
#include "engine/tally.h"

/* Steps of time that a histogram may have. */
#define COUNT_STEPS_MAX 1000000u

/* ---- what the indexes can say ------------------------------------------------------------- */

/* By first number; for qsort(). */
static int count_compare(const void *a, const void *b)
{
	const struct source *x = *(struct source *const *)a, *y = *(struct source *const *)b;
	uint64_t i = x->journal.header.head_entry_seqnum, j = y->journal.header.head_entry_seqnum;

	return (i > j) - (i < j);
}

/* True if no entry can be in two files, and no file is being written. */
static int count_files_are_apart(const struct jscan *e)
{
	struct source **sorted = calloc(e->source_count + 1, sizeof(struct source *));
	size_t count = 0;
	bool apart = true;

	if (!sorted)
		return -ENOMEM;
	for (size_t i = 0; i < e->source_count; i++) {
		struct source *s = e->sources[i];
		const struct journal_header *h = &s->journal.header;

		if (s->error || h->n_entries == 0)
			continue;
		apart = apart && h->state != JOURNAL_STATE_ONLINE && h->head_entry_seqnum > 0 &&
			h->head_entry_seqnum <= h->tail_entry_seqnum && !s->journal.truncated;
		sorted[count++] = s;
	}
	qsort(sorted, count, sizeof(struct source *), count_compare);
	for (size_t i = 1; i < count && apart; i++)
		apart = sorted[i]->seqnum_id == sorted[i - 1]->seqnum_id &&
			sorted[i - 1]->journal.header.tail_entry_seqnum <
				sorted[i]->journal.header.head_entry_seqnum;
	free(sorted);
	return apart;
}

/* True if all entries that match are meant, wherever they are. */
static bool count_is_whole(const struct jscan *e)
{
	return !e->grep && e->since == 0 && e->until == UINT64_MAX && e->limit == UINT64_MAX &&
	       e->tail == UINT64_MAX && !e->seek.set && e->options.plan != JSCAN_PLAN_SCAN;
}

/* Whether the indexes count. 1, 0, or an error. */
static int count_by_index(struct jscan *e)
{
	int r;

	if (!count_is_whole(e))
		return 0;
	r = jscan_open(e);
	return r < 0 ? r : count_files_are_apart(e);
}

/* ---- entries ------------------------------------------------------------------------------ */

/* How many entries match a node, if that is the count of one term. */
static bool count_of_term(const struct plan_node *node, uint64_t *ret_count)
{
	while (node->match->kind != MATCH_TERM) {
		if (node->child_count != 1)
			return false;
		node = &node->children[0];
	}
	*ret_count = node->empty ? 0 : node->count_max;
	return true;
}

/* Step: counts what matches in one file, by offsets. s->listed is where to go on. */
static int count_step(struct source *s)
{
	uint64_t offset, count;

	if (s->listing_done || (s->plan.root && s->plan.root->empty))
		return 0;
	if (!s->plan.root || count_of_term(s->plan.root, &count)) {
		s->counted = s->plan.root ? count : s->journal.header.n_entries;
		s->listing_done = true;
		return 0;
	}
	for (;;) {
		int r = plan_next(&s->plan, &s->journal, &s->window, s->listed, false, s->horizon,
				  &offset);

		if (r == -EAGAIN || r == -ENOMEM)
			return r;
		if (r <= 0)
			break;
		s->counted++;
		s->listed = offset + 1;
	}
	s->listing_done = true;
	return 0;
}

/* engine_wait(): the plans of all files, then their counts. */
static int count_index_step(struct jscan *e)
{
	int r = 0;

	while (e->phase <= PHASE_PLAN && r == 0)
		r = engine_prepare_step(e);
	return r < 0 ? r : engine_wave(e, count_step, NULL);
}

/* Counts by index. */
static int count_entries_by_index(struct jscan *e, uint64_t *ret_count)
{
	uint64_t count = 0;
	int r;

	for (size_t i = 0; i < e->source_count; i++) {
		e->sources[i]->listing_done = false;
		e->sources[i]->listed = 1;
		e->sources[i]->counted = 0;
	}
	r = engine_wait(e, count_index_step);
	for (size_t i = 0; i < e->source_count; i++)
		count += e->sources[i]->error ? 0 : e->sources[i]->counted;
	*ret_count = count;
	return r;
}

/* engine_wait(): counts to the end. */
static int count_scan_step(struct jscan *e)
{
	struct source *s;
	int r;

	while ((r = engine_next_candidate(e, &s)) > 0)
		source_consume(s);
	return r;
}

/* Counts those whose message matches the pattern. */
static int count_entries_by_pattern(struct jscan *e, uint64_t *ret_count)
{
	const struct jscan_entry *entry;
	int r;

	*ret_count = 0;
	while ((r = jscan_next(e, &entry)) > 0)
		++*ret_count;
	return r;
}

int jscan_count(struct jscan *e, uint64_t *ret_count)
{
	uint64_t count = 0;
	int r = engine_check(e);

	if (r < 0)
		return r;
	if (!ret_count || e->batch.count > e->batch.at || pipeline_has_rest(e))
		return -EINVAL;
	engine_reposition(e);
	r = count_by_index(e);
	if (r > 0) {
		r = count_entries_by_index(e, &count);
	} else if (r == 0 && e->grep) {
		r = count_entries_by_pattern(e, &count);
	} else if (r == 0) {
		r = engine_wait(e, count_scan_step);
		count = e->yielded;
	}
	if (r < 0)
		return r;
	*ret_count = count;
	engine_reposition(e);
	return 0;
}

/* ---- values ------------------------------------------------------------------------------- */

/* Counts the values of a field in the entries as they come. */
static int count_values_by_scan(struct jscan *e, const char *field, struct tally *tally)
{
	size_t name_size = strlen(field);
	const struct jscan_entry *entry;
	int r;

	engine_reposition(e);
	while ((r = jscan_next(e, &entry)) > 0) {
		struct jscan_field f = { .size = sizeof(f) };
		size_t state = 0;

		while ((r = jscan_entry_next_field(entry, &state, &f)) > 0) {
			if (f.name_size != name_size || memcmp(f.name, field, name_size) != 0)
				continue;
			r = f.value ? tally_add(tally, f.value, f.value_size, 1) : 0;
			if (r < 0)
				return r;
		}
		if (r < 0)
			return r;
	}
	engine_reposition(e);
	return r;
}

int jscan_top(struct jscan *e, const char *field, uint64_t most, jscan_value_fn callback,
	      void *userdata)
{
	struct tally tally;
	int r = engine_check(e);

	if (r < 0)
		return r;
	if (!callback || !field || !fields_name_is_valid(field))
		return -EINVAL;
	r = tally_init(&tally);
	if (r == 0)
		r = e->match.root ? 0 : count_by_index(e);
	if (r > 0)
		r = fields_tally(e, field, &tally);
	else if (r == 0)
		r = count_values_by_scan(e, field, &tally);
	if (r == 0)
		tally_sort(&tally);
	for (size_t i = 0; i < tally.count && i < most && r == 0; i++) {
		const struct jscan_value value = {
			.size = sizeof(value),
			.data = tally.rows[i].bytes,
			.data_size = tally.rows[i].size,
			.entries = tally.rows[i].count,
		};

		r = callback(userdata, &value);
	}
	tally_done(&tally);
	return r;
}

/* ---- times -------------------------------------------------------------------------------- */

/* Entries by step of time: from the step with number FIRST on. */
struct histogram {
	uint64_t step_usec;
	uint64_t first;
	uint64_t *counts;
	size_t count;
};

/* Steps that are chosen from when none is given. */
static const uint64_t histogram_seconds[] = { 1, 5, 15, 60, 300, 900, 3600, 4 * 3600, 86400,
					      7 * 86400 };

/* The smallest usual step by which the time between the files' ends, or the bounds, is shown in no
 * more than COUNT_BARS steps. */
#define COUNT_BARS 40u
static uint64_t histogram_choose_step(const struct jscan *e)
{
	uint64_t from = UINT64_MAX, to = 0;
	const size_t count = sizeof(histogram_seconds) / sizeof(histogram_seconds[0]);

	for (size_t i = 0; i < e->source_count; i++) {
		const struct journal_header *h = &e->sources[i]->journal.header;

		if (e->sources[i]->error || h->n_entries == 0)
			continue;
		from = h->head_entry_realtime < from ? h->head_entry_realtime : from;
		to = h->tail_entry_realtime > to ? h->tail_entry_realtime : to;
	}
	from = e->since > from ? e->since : from;
	to = e->until < to ? e->until : to;
	for (size_t i = 0; i < count && from < to; i++) {
		if ((to - from) / (histogram_seconds[i] * 1000000) < COUNT_BARS)
			return histogram_seconds[i] * 1000000;
	}
	return (from < to ? histogram_seconds[count - 1] : 1) * 1000000;
}

/* Counts one entry. -E2BIG: there are too many steps. */
static int histogram_add(struct histogram *h, uint64_t realtime)
{
	uint64_t at = realtime / h->step_usec, first = h->first, end = first + h->count;
	uint64_t *counts;

	if (h->count == 0)
		first = end = at;
	if (at >= first && at < end) {
		h->counts[at - first]++;
		return 0;
	}
	/* Room on the side where it lies, for as much again. */
	if (at < first)
		first = first - at < h->count && first > h->count ? first - h->count : at;
	else
		end = at - end < h->count ? end + h->count : at + 1;
	if (end - first > COUNT_STEPS_MAX)
		return -E2BIG;
	counts = calloc(end - first, sizeof(*counts));
	if (!counts)
		return -ENOMEM;
	if (h->count)
		memcpy(counts + (h->first - first), h->counts, h->count * sizeof(*counts));
	free(h->counts);
	h->counts = counts;
	h->first = first;
	h->count = end - first;
	h->counts[at - first]++;
	return 0;
}

/* engine_wait(): counts to the end. */
static int histogram_step(struct jscan *e)
{
	struct source *s;
	int r;

	while ((r = engine_next_candidate(e, &s)) > 0) {
		r = histogram_add(e->histogram, s->entry.realtime);
		source_consume(s);
		if (r < 0)
			break;
	}
	return r;
}

/* Counts those whose message matches the pattern. */
static int histogram_by_pattern(struct jscan *e, struct histogram *h)
{
	const struct jscan_entry *entry;
	int r;

	while ((r = jscan_next(e, &entry)) > 0) {
		r = histogram_add(h, jscan_entry_info(entry)->realtime_usec);
		if (r < 0)
			break;
	}
	return r;
}

/* Hands out the steps from the first to the last that has an entry. */
static int histogram_show(const struct histogram *h, jscan_step_fn callback, void *userdata)
{
	size_t begin = 0, end = h->count;
	int r = 0;

	while (begin < end && h->counts[begin] == 0)
		begin++;
	while (end > begin && h->counts[end - 1] == 0)
		end--;
	for (size_t i = begin; i < end && r == 0; i++) {
		const struct jscan_step step = {
			.size = sizeof(step),
			.begin_usec = (h->first + i) * h->step_usec,
			.step_usec = h->step_usec,
			.entries = h->counts[i],
		};

		r = callback(userdata, &step);
	}
	return r;
}

int jscan_histogram(struct jscan *e, uint64_t step_usec, jscan_step_fn callback, void *userdata)
{
	struct histogram h = { .step_usec = step_usec };
	int r = engine_check(e);

	if (r < 0)
		return r;
	if (!callback || e->batch.count > e->batch.at || pipeline_has_rest(e))
		return -EINVAL;
	r = jscan_open(e);
	if (r < 0)
		return r;
	if (!step_usec)
		h.step_usec = histogram_choose_step(e);
	engine_reposition(e);
	e->histogram = &h;
	r = e->grep ? histogram_by_pattern(e, &h) : engine_wait(e, histogram_step);
	e->histogram = NULL;
	if (r == 0)
		r = histogram_show(&h, callback, userdata);
	free(h.counts);
	engine_reposition(e);
	return r;
}
