// SPDX-License-Identifier: MIT
/*
 * --stats: what a scan read and how long it took, as text for people and as one JSON object on one
 * line for programs.
 *
 * Both forms name the same counters; the JSON members are called like those of struct jscan_stats.
 * Times are the command's own: from its first step to its last, output included.
 */
#include <stdio.h>
#include <sys/resource.h>
#include <time.h>

#include "stats.h"

uint64_t stats_now(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (uint64_t)now.tv_sec * 1000000 + (uint64_t)now.tv_nsec / 1000;
}

/* The most memory that this process has had, in bytes. */
static uint64_t stats_peak_memory(void)
{
	struct rusage usage;

	if (getrusage(RUSAGE_SELF, &usage) < 0)
		return 0;
	return (uint64_t)usage.ru_maxrss * 1024;
}

/* COUNT per second. */
static uint64_t stats_rate(uint64_t count, uint64_t elapsed_usec)
{
	return (uint64_t)((double)count * 1e6 / (double)(elapsed_usec ? elapsed_usec : 1));
}

/* Writes a number of bytes in three digits and a unit: "1.23 MiB". Returns TEXT, of 32 bytes. */
static const char *stats_bytes(uint64_t bytes, char *text)
{
	static const char *const units[] = { "B", "KiB", "MiB", "GiB", "TiB", "PiB", "EiB" };
	double value = (double)bytes;
	unsigned unit = 0;

	while (value >= 1000 && unit + 1 < sizeof(units) / sizeof(units[0])) {
		value /= 1024;
		unit++;
	}
	snprintf(text, 32, "%.*f %s",
		 unit == 0 || value >= 100 ? 0
		 : value >= 10             ? 1
					   : 2,
		 value, units[unit]);
	return text;
}

#define U(value) ((unsigned long long)(value))

/* The text form. */
static void stats_print_text(const struct jscan_stats *s, uint64_t elapsed_usec)
{
	char read[32], rate[32], peak[32], written[32], process[32];

	fprintf(stderr,
		"%llu entries from %llu files, %s read in %.3f s (%llu entries/s, %s/s), "
		"%llu problems\n",
		U(s->entries), U(s->files), stats_bytes(s->bytes_read, read),
		(double)elapsed_usec / 1e6, U(stats_rate(s->entries, elapsed_usec)),
		stats_bytes(stats_rate(s->bytes_read, elapsed_usec), rate), U(s->problems));
	fprintf(stderr, "  files    %llu used, %llu ruled out by the matches, %llu unusable\n",
		U(s->files), U(s->files_pruned), U(s->files_failed));
	if (s->files_direct || s->files_not_direct)
		fprintf(stderr, "  direct   %llu files read past the page cache, %llu not\n",
			U(s->files_direct), U(s->files_not_direct));
	fprintf(stderr, "  entries  %llu shown, %llu duplicates left out, %llu tested one by one\n",
		U(s->entries), U(s->duplicates), U(s->entries_tested));
	fprintf(stderr,
		"  reads    %llu (%s), %llu blocks found in memory, %llu waited for, "
		"%llu dropped\n",
		U(s->reads), s->io_method, U(s->block_hits), U(s->block_misses),
		U(s->blocks_evicted));
	fprintf(stderr, "  merge    %llu steps on the heap, %llu by comparing all files\n",
		U(s->heap_steps), U(s->fold_steps));
	fprintf(stderr, "  memory   %s of files at most, %s in all\n",
		stats_bytes(s->memory_peak_bytes, peak), stats_bytes(stats_peak_memory(), process));
	fprintf(stderr, "  output   %s\n", stats_bytes(s->bytes_written, written));
}

/* The JSON form. No value needs an escape. */
static void stats_print_json(const struct jscan_stats *s, uint64_t elapsed_usec)
{
	const struct {
		const char *name;
		uint64_t value;
	} members[] = {
		{ "files", s->files },
		{ "files_failed", s->files_failed },
		{ "files_pruned", s->files_pruned },
		{ "entries", s->entries },
		{ "entries_tested", s->entries_tested },
		{ "duplicates", s->duplicates },
		{ "bytes_read", s->bytes_read },
		{ "reads", s->reads },
		{ "block_hits", s->block_hits },
		{ "block_misses", s->block_misses },
		{ "blocks_evicted", s->blocks_evicted },
		{ "bytes_written", s->bytes_written },
		{ "problems", s->problems },
		{ "memory_peak_bytes", s->memory_peak_bytes },
		{ "files_direct", s->files_direct },
		{ "files_not_direct", s->files_not_direct },
		{ "heap_steps", s->heap_steps },
		{ "fold_steps", s->fold_steps },
		{ "process_peak_bytes", stats_peak_memory() },
		{ "elapsed_usec", elapsed_usec },
	};

	fputc('{', stderr);
	for (size_t i = 0; i < sizeof(members) / sizeof(members[0]); i++)
		fprintf(stderr, "\"%s\":%llu,", members[i].name, U(members[i].value));
	fprintf(stderr, "\"io_method\":\"%s\"}\n", s->io_method);
}

void stats_print(const struct jscan *engine, enum stats_format format, uint64_t elapsed_usec)
{
	struct jscan_stats stats = { .size = sizeof(stats) };

	if (format == STATS_NONE || jscan_get_stats(engine, &stats) < 0)
		return;
	stats.io_method[sizeof(stats.io_method) - 1] = '\0';
	if (format == STATS_JSON)
		stats_print_json(&stats, elapsed_usec);
	else
		stats_print_text(&stats, elapsed_usec);
}
