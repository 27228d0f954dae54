/* SPDX-License-Identifier: MIT */
/* Defaults of options. */
#include <criterion/criterion.h>
#include <criterion/new/assert.h>
#include <sched.h>
#include <sys/resource.h>

#include "engine/limits.h"

#define MIB (UINT64_C(1) << 20)

Test(limits, zeros_become_the_documented_defaults)
{
	struct jscan_options o = JSCAN_OPTIONS_INIT;

	limits_fill(&o);
	cr_expect(ge(u64, o.memory_bytes, 4 * MIB));
	cr_expect(le(u64, o.memory_bytes, 128 * MIB));
	cr_expect(eq(u32, o.io, JSCAN_IO_AUTO));
	cr_expect(eq(u32, o.plan, JSCAN_PLAN_AUTO));
	cr_expect(eq(u32, o.queue_depth, 64));
	cr_expect(eq(u32, o.io_threads, 4));
	cr_expect(eq(u32, o.jobs, 1));
	cr_expect(eq(u32, o.slice_usec, 1000));
	cr_expect(eq(u32, o.slice_bytes, MIB));
	cr_expect(eq(u64, o.field_bytes_max, o.memory_bytes / 8));
}

Test(limits, what_was_asked_for_stays)
{
	struct jscan_options o = {
		.size = sizeof(o), .memory_bytes = 64 * MIB, .queue_depth = 3, .io_threads = 2,
		.jobs = 5, .files_open_max = 7, .field_bytes_max = 1000, .slice_usec = 11,
		.slice_bytes = 13,
	};
	struct jscan_options asked = o;

	limits_fill(&o);
	cr_expect(eq(u64, o.memory_bytes, asked.memory_bytes));
	cr_expect(eq(u32, o.queue_depth, asked.queue_depth));
	cr_expect(eq(u32, o.io_threads, asked.io_threads));
	cr_expect(eq(u32, o.jobs, asked.jobs));
	cr_expect(eq(u32, o.files_open_max, asked.files_open_max));
	cr_expect(eq(u64, o.field_bytes_max, asked.field_bytes_max));
	cr_expect(eq(u32, o.slice_usec, asked.slice_usec));
	cr_expect(eq(u32, o.slice_bytes, asked.slice_bytes));
}

Test(limits, jobs_are_processors_if_that_is_asked_for)
{
	struct jscan_options o = { .size = sizeof(o), .jobs = JSCAN_JOBS_AUTO };
	cpu_set_t set;

	limits_fill(&o);
	cr_expect(ge(u32, o.jobs, 1));
	cr_assert(eq(int, sched_getaffinity(0, sizeof(set), &set), 0));
	cr_expect(le(u32, o.jobs, (uint32_t)CPU_COUNT(&set)));
	for (size_t i = 0; i < sizeof(set) * 8; i++)
		if (CPU_ISSET(i, &set)) {
			CPU_ZERO(&set);
			CPU_SET(i, &set);
			break;
		}
	cr_assert(eq(int, sched_setaffinity(0, sizeof(set), &set), 0));
	o.jobs = JSCAN_JOBS_AUTO;
	limits_fill(&o);
	cr_expect(eq(u32, o.jobs, 1));
	o.jobs = 1000;
	limits_fill(&o);
	cr_expect(eq(u32, o.jobs, 64), "more are of no use");
}

Test(limits, memory_is_at_least_4_mib)
{
	struct jscan_options o = { .size = sizeof(o), .memory_bytes = 1 };

	limits_fill(&o);
	cr_expect(eq(u64, o.memory_bytes, 4 * MIB));
	cr_expect(eq(u64, o.field_bytes_max, MIB / 2));
}

Test(limits, fields_are_never_larger_than_the_reference_takes)
{
	struct jscan_options o = { .size = sizeof(o), .memory_bytes = UINT64_C(1) << 40 };

	limits_fill(&o);
	cr_expect(eq(u64, o.field_bytes_max, 768 * MIB));
	o.field_bytes_max = UINT64_MAX;
	limits_fill(&o);
	cr_expect(eq(u64, o.field_bytes_max, 768 * MIB));
}

Test(limits, half_of_the_descriptors_are_for_files)
{
	static const struct {
		rlim_t limit;
		uint32_t files;
	} cases[] = { { 1024, 512 }, { 200, 100 }, { 32, 16 }, { 20, 10 } };

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct rlimit limit;
		struct jscan_options o = JSCAN_OPTIONS_INIT;

		cr_assert(eq(int, getrlimit(RLIMIT_NOFILE, &limit), 0));
		limit.rlim_cur = cases[i].limit;
		cr_assert(eq(int, setrlimit(RLIMIT_NOFILE, &limit), 0));
		limits_fill(&o);
		cr_expect(eq(u32, o.files_open_max, cases[i].files));
	}
}
