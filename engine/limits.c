/* SPDX-License-Identifier: MIT */
/* The defaults of an engine's options, as far as they depend on the process and its container. */
#include "engine/limits.h"

#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>

#define MEMORY_BYTES_DEFAULT (UINT64_C(128) << 20)
#define MEMORY_BYTES_MIN (UINT64_C(4) << 20)
#define FIELD_BYTES_MAX (UINT64_C(768) << 20)
#define UNPACK_BYTES_MAX (UINT64_C(4) << 30)
#define FILES_OPEN_MAX 512u
#define FILES_OPEN_MIN 8u
#define JOBS_MAX 64u

/* The first line of a small file, without its line feed. False if it cannot be read. */
static bool limits_read_line(const char *path, char *line, size_t size)
{
	FILE *f = fopen(path, "re");
	bool there;

	if (!f)
		return false;
	there = fgets(line, (int)size, f) != NULL;
	fclose(f);
	if (there)
		line[strcspn(line, "\n")] = '\0';
	return there;
}

/* Bytes, as memory.max has them. */
static uint64_t limits_parse_memory(const char *value)
{
	return strtoull(value, NULL, 10);
}

/* Processors, as cpu.max has them: time in a period, and the period; a part of one is one. */
static uint64_t limits_parse_processors(const char *value)
{
	char *rest;
	uint64_t time = strtoull(value, &rest, 10), period = strtoull(rest, NULL, 10);

	return period ? time / period + (time % period != 0) : UINT64_MAX;
}

/* The least that a file of the process's cgroup (version 2), or of one above it, says, as PARSE
 * reads it; UINT64_MAX. */
static uint64_t limits_cgroup(const char *name, uint64_t (*parse)(const char *value))
{
	char line[1024], path[1200], value[64];
	uint64_t least = UINT64_MAX;

	if (!limits_read_line("/proc/self/cgroup", line, sizeof(line)) ||
	    strncmp(line, "0::/", 4) != 0)
		return least;
	for (char *end = line + strlen(line);; *end = '\0') {
		snprintf(path, sizeof(path), "/sys/fs/cgroup%s/%s", line + 3, name);
		if (limits_read_line(path, value, sizeof(value)) && value[0] >= '0' &&
		    value[0] <= '9') {
			uint64_t limit = parse(value);

			least = limit < least ? limit : least;
		}
		end = strrchr(line + 3, '/');
		if (!end || end == line + 3)
			return least;
	}
}

/* How many processors the process may use. */
static uint32_t limits_processors(void)
{
	uint64_t limit = limits_cgroup("cpu.max", limits_parse_processors);
	cpu_set_t set;
	int count;

	/* On machines with more processors than the set holds this fails: then they are plenty. */
	if (sched_getaffinity(0, sizeof(set), &set) == 0)
		count = CPU_COUNT(&set);
	else
		count = JOBS_MAX;
	return limit < (uint64_t)count ? (uint32_t)limit : (uint32_t)count;
}

/* How many files may be open at once: half of what the process may have. */
static uint32_t limits_files_open(void)
{
	struct rlimit limit;
	uint64_t half;

	if (getrlimit(RLIMIT_NOFILE, &limit) < 0)
		return FILES_OPEN_MAX;
	half = limit.rlim_cur / 2;
	if (half > FILES_OPEN_MAX)
		return FILES_OPEN_MAX;
	return half < FILES_OPEN_MIN ? FILES_OPEN_MIN : (uint32_t)half;
}

void limits_fill(struct jscan_options *o)
{
	if (!o->memory_bytes) {
		uint64_t quarter = limits_cgroup("memory.max", limits_parse_memory) / 4;

		o->memory_bytes = quarter < MEMORY_BYTES_DEFAULT ? quarter : MEMORY_BYTES_DEFAULT;
	}
	if (o->memory_bytes < MEMORY_BYTES_MIN)
		o->memory_bytes = MEMORY_BYTES_MIN;
	if (!o->queue_depth)
		o->queue_depth = 64;
	if (!o->io_threads)
		o->io_threads = 4;
	if (o->jobs == JSCAN_JOBS_AUTO)
		o->jobs = limits_processors();
	if (!o->jobs)
		o->jobs = 1;
	if (o->jobs > JOBS_MAX)
		o->jobs = JOBS_MAX;
	if (!o->files_open_max)
		o->files_open_max = limits_files_open();
	if (!o->field_bytes_max)
		o->field_bytes_max = o->memory_bytes / 8;
	if (o->field_bytes_max > FIELD_BYTES_MAX)
		o->field_bytes_max = FIELD_BYTES_MAX;
	if (!o->unpack_bytes_max)
		o->unpack_bytes_max = UNPACK_BYTES_MAX;
	if (!o->slice_usec)
		o->slice_usec = 1000;
	if (!o->slice_bytes)
		o->slice_bytes = 1u << 20;
}
