// SPDX-License-Identifier: MIT
/*
 * --count, --top, --histogram, --explain: what would be shown, summed up.
 *
 * All options that choose entries apply. The library counts; here the answers become a number, a
 * table, or bars, and JSON where that is asked for.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "look.h"
#include "messages.h"
#include "pager.h"
#include "show.h"
#include "shown.h"
#include "stamp.h"
#include "summary.h"
#include "table.h"
#include "timespec.h"
#include "values.h"

#define TOP_COUNT 10
/* Columns that a bar takes at most, and at least has room for. */
#define BAR_COLUMNS_MAX 60u
#define BAR_COLUMNS_MIN 10u

/* ---- options ------------------------------------------------------------------------------ */

/* --top=FIELD[:N]. */
static int summary_apply_top(struct settings *settings, const char *value)
{
	size_t size = strcspn(value, ":");
	int number = TOP_COUNT;

	if (size == 0 || size >= sizeof(settings->top_field) ||
	    (value[size] && (value_integer(value + size + 1, &number) < 0 || number < 1)))
		return message_error("Failed to parse --top='%s'.", value);
	memcpy(settings->top_field, value, size);
	settings->top_field[size] = '\0';
	settings->top_count = (uint64_t)number;
	settings->action = ACTION_TOP;
	return 1;
}

int summary_apply(struct settings *settings, enum option_id id, const char *value)
{
	switch (id) {
	case OPTION_TOP:
		return summary_apply_top(settings, value);
	case OPTION_HISTOGRAM:
		settings->step_usec = 0;
		if (value && (timespan_parse(value, &settings->step_usec) < 0 ||
			      settings->step_usec == 0 ||
			      settings->step_usec == TIMESPAN_INFINITE))
			return message_error("Failed to parse --histogram='%s'.", value);
		settings->action = ACTION_HISTOGRAM;
		return 1;
	case OPTION_EXPLAIN:
		settings->action = ACTION_EXPLAIN;
		return 1;
	case OPTION_COUNT_ENTRIES:
		settings->action = ACTION_COUNT;
		return 1;
	default:
		return 1;
	}
}

bool summary_takes_matches(enum action action)
{
	return action == ACTION_SHOW || action == ACTION_COUNT || action == ACTION_TOP ||
	       action == ACTION_HISTOGRAM || action == ACTION_EXPLAIN;
}

/* ---- --count, --top ----------------------------------------------------------------------- */

/* Prints how many there are. */
static int summary_count(struct archive *archive)
{
	uint64_t count = 0;
	int r = jscan_count(archive->engine, &count);

	if (r < 0)
		return r;
	pager_open(archive->settings);
	printf(table_is_json(archive->settings) ? "{\"count\":%llu}\n" : "%llu\n",
	       (unsigned long long)count);
	return 0;
}

/* A jscan_value_fn: adds one value to a table. */
static int summary_add_value(void *userdata, const struct jscan_value *value)
{
	struct table *table = userdata;
	char *text = shown_text(value->data, value->data_size);
	int r = text ? table_add(table, NULL, (int64_t)value->entries) : -ENOMEM;

	if (r >= 0)
		r = table_add(table, text, 0);
	free(text);
	return r;
}

/* Lists values. */
static int summary_top(struct archive *archive)
{
	static const struct table_column columns[] = {
		{ "COUNT", "count", true, false, false },
		{ "VALUE", "value", false, false, false },
	};
	const struct settings *settings = archive->settings;
	struct table table;
	int r;

	table_init(&table, columns, sizeof(columns) / sizeof(columns[0]));
	r = jscan_top(archive->engine, settings->top_field, settings->top_count, summary_add_value,
		      &table);
	if (r >= 0)
		table_print(&table, settings);
	table_done(&table);
	return r;
}

/* ---- --histogram -------------------------------------------------------------------------- */

/* The steps of a histogram. */
struct summary_steps {
	struct jscan_step *steps;
	size_t count, capacity;
	uint64_t most; /* entries of one step */
};

/* A jscan_step_fn: keeps one step. */
static int summary_add_step(void *userdata, const struct jscan_step *step)
{
	struct summary_steps *s = userdata;

	if (s->count == s->capacity) {
		size_t capacity = s->capacity ? s->capacity * 2 : 64;
		struct jscan_step *steps = reallocarray(s->steps, capacity, sizeof(*steps));

		if (!steps)
			return -ENOMEM;
		s->steps = steps;
		s->capacity = capacity;
	}
	s->steps[s->count++] = *step;
	s->most = step->entries > s->most ? step->entries : s->most;
	return 0;
}

/* Prints steps as a table, which becomes JSON. */
static int summary_print_steps(const struct summary_steps *s, const struct settings *settings)
{
	static const struct table_column columns[] = {
		{ "TIME", "time", true, true, false },
		{ "STEP", "step", true, false, false },
		{ "COUNT", "count", true, false, false },
	};
	struct settings json = *settings;
	struct table table;
	int r = 0;

	if (!table_is_json(settings))
		json.mode = JSCAN_MODE_JSON;
	table_init(&table, columns, sizeof(columns) / sizeof(columns[0]));
	for (size_t i = 0; i < s->count && r >= 0; i++) {
		r = table_add(&table, NULL, (int64_t)s->steps[i].begin_usec);
		if (r >= 0)
			r = table_add(&table, NULL, (int64_t)s->steps[i].step_usec);
		if (r >= 0)
			r = table_add(&table, NULL, (int64_t)s->steps[i].entries);
	}
	if (r >= 0)
		table_print(&table, &json);
	table_done(&table);
	return r;
}

/* Prints steps as bars: time, number, bar. */
static void summary_print_bars(const struct summary_steps *s, const struct settings *settings)
{
	unsigned digits = (unsigned)snprintf(NULL, 0, "%llu", (unsigned long long)s->most), room;
	char text[STAMP_SIZE];
	struct look look;

	look_init(&look);
	pager_open(settings);
	for (size_t i = 0; i < s->count; i++) {
		const struct jscan_step *step = &s->steps[i];
		unsigned used, bar = 0;

		stamp_format(step->begin_usec, text);
		used = (unsigned)strlen(text) + digits + 2;
		room = look.width > used + BAR_COLUMNS_MIN ? look.width - used - 1
							   : BAR_COLUMNS_MIN;
		room = room < BAR_COLUMNS_MAX ? room : BAR_COLUMNS_MAX;
		if (step->entries) /* whatever there is shows */
			bar = (unsigned)((double)step->entries * room / (double)s->most);
		if (step->entries && bar == 0)
			bar = 1;
		printf("%s %*llu%s", text, (int)digits, (unsigned long long)step->entries,
		       bar ? " " : "");
		while (bar-- > 0)
			fputs(look.ascii ? "#" : "\u2588", stdout);
		putchar('\n');
	}
}

/* Shows entries per step of time. Where nobody looks on, and no other form is asked for, JSON. */
static int summary_histogram(struct archive *archive)
{
	const struct settings *settings = archive->settings;
	struct summary_steps s = { 0 };
	int r = jscan_histogram(archive->engine, settings->step_usec, summary_add_step, &s);

	if (r == -E2BIG)
		r = message_error("The steps of --histogram= are too small for the time that the "
				  "entries span.");
	else if (r >= 0 && (table_is_json(settings) ||
			    (!isatty(STDOUT_FILENO) && !settings->seen[OPTION_OUTPUT])))
		r = summary_print_steps(&s, settings);
	else if (r >= 0)
		summary_print_bars(&s, settings);
	free(s.steps);
	return r;
}

/* ---- --explain ---------------------------------------------------------------------------- */

/* A plan that is being listed. */
struct summary_plan {
	struct table table;
	uint64_t files, kept;
};

/* Writes a term: what it is and how many entries have it. */
static void summary_put_term(FILE *f, const struct jscan_explain_term *term)
{
	char *text = shown_text(term->data, term->data_size);

	fputs(text ? text : "", f);
	free(text);
	if (term->state == JSCAN_TERM_FOUND)
		fprintf(f, ": %llu", (unsigned long long)term->entries);
	else
		fputs(term->state == JSCAN_TERM_MISSING ? ": none" : ": not looked up", f);
}

/* Says why a file is kept or not. To be freed. */
static char *summary_reason(const struct jscan_explain_file *file)
{
	char *text = NULL, *missing;
	size_t size;
	FILE *f = open_memstream(&text, &size);

	if (!f)
		return NULL;
	switch (file->verdict) {
	case JSCAN_VERDICT_EMPTY:
		fputs("no entries", f);
		break;
	case JSCAN_VERDICT_BOUNDS:
		fputs("outside of the bounds", f);
		break;
	case JSCAN_VERDICT_WAITS:
		fputs("comes later by its header, not looked into before its turn", f);
		break;
	case JSCAN_VERDICT_TERM:
		missing = shown_text(file->missing ? file->missing : "", file->missing_size);
		fprintf(f, "lacks %s", missing ? missing : "");
		free(missing);
		break;
	default:
		for (size_t i = 0; i < file->term_count; i++) {
			fputs(i ? ", " : "", f);
			summary_put_term(f, &file->terms[i]);
		}
		break;
	}
	if (fclose(f) != 0) {
		free(text);
		return NULL;
	}
	return text;
}

/* A jscan_explain_fn: adds one file to the table. */
static int summary_add_file(void *userdata, const struct jscan_explain_file *file)
{
	static const char *const verdicts[] = { "kept", "waits", "pruned", "pruned", "pruned" };
	struct summary_plan *plan = userdata;
	char *path = shown_text(file->path, strlen(file->path)), *reason = summary_reason(file);
	bool kept = file->verdict == JSCAN_VERDICT_KEPT || file->verdict == JSCAN_VERDICT_WAITS;
	int r = path && reason ? 0 : -ENOMEM;

	plan->files++;
	plan->kept += kept;
	if (r >= 0)
		r = table_add(&plan->table, verdicts[file->verdict], 0);
	if (r >= 0)
		r = table_add(&plan->table, NULL, (int64_t)file->entries_max);
	if (r >= 0)
		r = table_add(&plan->table, NULL, (int64_t)file->entries_total);
	if (r >= 0)
		r = table_add(&plan->table, path, 0);
	if (r >= 0)
		r = table_add(&plan->table, reason, 0);
	free(path);
	free(reason);
	return r;
}

/* Lists what would be done with each file. */
static int summary_explain(struct archive *archive)
{
	static const struct table_column columns[] = {
		{ "PLAN", "plan", false, false, false },
		{ "AT MOST", "entries_max", true, false, false },
		{ "ENTRIES", "entries", true, false, false },
		{ "FILE", "file", false, false, false },
		{ "WHY", "why", false, false, false },
	};
	struct jscan_stats stats = { .size = sizeof(stats) };
	struct summary_plan plan = { 0 };
	char text[STAMP_SIZE];
	int r;

	table_init(&plan.table, columns, sizeof(columns) / sizeof(columns[0]));
	r = jscan_explain(archive->engine, summary_add_file, &plan);
	if (r >= 0)
		table_print(&plan.table, archive->settings);
	if (r >= 0 && !table_is_json(archive->settings)) {
		jscan_get_stats(archive->engine, &stats);
		printf("%llu of %llu files kept; planned with %llu reads of %s.\n",
		       (unsigned long long)plan.kept, (unsigned long long)plan.files,
		       (unsigned long long)stats.reads, size_format(stats.bytes_read, text));
	}
	table_done(&plan.table);
	return r;
}

int summary_print(struct archive *archive)
{
	int r = show_prepare(archive);

	if (r <= 0)
		return r;
	switch (archive->settings->action) {
	case ACTION_TOP:
		r = summary_top(archive);
		break;
	case ACTION_HISTOGRAM:
		r = summary_histogram(archive);
		break;
	case ACTION_EXPLAIN:
		r = summary_explain(archive);
		break;
	default:
		r = summary_count(archive);
		break;
	}
	if (r == -EINVAL && archive->settings->action == ACTION_TOP)
		return message_error("'%s' cannot be the name of a field.",
				     archive->settings->top_field);
	if (r == -ENOMEM)
		return message_memory();
	if (r < 0 && r != -EINVAL)
		return message_error("Failed to read entries: %s", strerror(-r));
	return r;
}
