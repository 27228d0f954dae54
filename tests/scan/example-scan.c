/* SPDX-License-Identifier: MIT */
/*
 * Counts messages by priority: a blocking scan that feeds a sink.
 *
 *	example-scan DIRECTORY
 */
#include <jscan.h>
#include <stdio.h>
#include <string.h>

struct counts {
	unsigned long by_priority[8], without;
};

/* sink: entry. Entry and field are borrowed: what is to be kept is copied. */
static int counts_entry(void *userdata, const struct jscan_entry *entry,
			const struct jscan_entry_context *context)
{
	struct jscan_field field = { .size = sizeof(field) };
	struct counts *counts = userdata;
	const char *value;

	(void)context;
	if (jscan_entry_field(entry, "PRIORITY", &field) == 1 && field.value_size == 1) {
		value = field.value;
		if (*value >= '0' && *value <= '7') {
			counts->by_priority[*value - '0']++;
			return 0;
		}
	}
	counts->without++;
	return 0;
}

/* sink: problem. The scan goes on without what could not be read. */
static int counts_problem(void *userdata, const struct jscan_problem *problem)
{
	(void)userdata;
	fprintf(stderr, "%s: %s (%s)\n", problem->path, problem->detail, strerror(-problem->error));
	return 0;
}

/* sink: end. */
static int counts_end(void *userdata)
{
	const struct counts *counts = userdata;

	for (int i = 0; i < 8; i++)
		printf("%d %lu\n", i, counts->by_priority[i]);
	printf("- %lu\n", counts->without);
	return 0;
}

int main(int argc, char **argv)
{
	static const struct jscan_sink_ops ops = {
		.size = sizeof(ops),
		.name = "counts",
		.entry = counts_entry,
		.problem = counts_problem,
		.end = counts_end,
	};
	struct counts counts = { .without = 0 };
	struct jscan *engine;
	int r;

	if (argc != 2)
		return 2;
	r = jscan_new(NULL, &engine);
	if (r < 0)
		goto fail;
	r = jscan_add_directory(engine, argv[1], 0);
	if (r == 0)
		r = jscan_add_sink(engine, &ops, &counts);
	if (r == 0)
		r = jscan_run(engine);
	jscan_free(engine);
	if (r >= 0)
		return 0;
fail:
	fprintf(stderr, "%s: %s\n", argv[1], strerror(-r));
	return 1;
}
