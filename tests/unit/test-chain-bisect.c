/* SPDX-License-Identifier: MIT */
/* Bisecting chains of entry arrays, by offset and by time: what is found, damage stepped over, and
 * how little is read for it. */
#include <criterion/criterion.h>
#include <criterion/new/assert.h>
#include <criterion/parameterized.h>

#include "tests/support/chain-file.h"
#include "tests/support/fixture.h"

CHAIN_SHAPE_PARAMETERS(chain_bisect, bisection_by_offset_finds_the_first_not_before)
{
	struct chain_file f = chain_file_of(s);
	struct window_driver *d = chain_file_drive(&f, s->mode);
	uint32_t state = 5;
	uint64_t index;
	struct chain c;
	int r;

	chain_init_global(&c, &f.j);
	for (unsigned i = 0; i < 3000; i++) {
		uint64_t want = chain_dice(&state) % (f.count + 1);
		uint64_t offset = chain_element(want) - chain_dice(&state) % 24;

		WINDOW_DRIVE(d, r, chain_bisect_offset(&c, &f.j, &d->window, offset, &index));
		cr_assert(eq(int, r, 0));
		cr_assert(eq(u64, index, want));
	}
	WINDOW_DRIVE(d, r, chain_bisect_offset(&c, &f.j, &d->window, 0, &index));
	cr_expect(eq(u64, index, 0));
	WINDOW_DRIVE(d, r, chain_bisect_offset(&c, &f.j, &d->window, UINT64_MAX, &index));
	cr_expect(eq(u64, index, f.count));
	window_driver_free(d);
	chain_file_done(&f);
}

/* Compares an entry's realtime with the wanted one, and counts how often. */
struct time_test {
	uint64_t realtime;
	unsigned *calls;
};

static int test_realtime(const void *userdata, const struct journal *j, struct window *w,
			 uint64_t entry_offset, int *ret_order)
{
	const struct time_test *t = userdata;
	struct entry_object entry;
	int r;

	r = object_entry(j, w, entry_offset, &entry);
	if (r < 0)
		return r;
	if (t->calls)
		++*t->calls;
	*ret_order = entry.realtime < t->realtime ? -1 : entry.realtime > t->realtime;
	return 0;
}

#define TIMED_ENTRIES 3000u

/* Entries that are one step of time apart; each has a field of its own, so that they spread. */
static struct fixture *timed_file(bool compact)
{
	struct fixture *fx = fixture_new(&(struct fixture_options){ .compact = compact });
	char text[120] = { 0 };

	for (unsigned i = 0; i < TIMED_ENTRIES; i++) {
		memset(text, 'a' + (int)(i % 26), sizeof(text) - 1);
		memcpy(text, "V=", 2);
		text[2 + i % 100] = (char)('A' + i / 100);
		fixture_add(fx, NULL, text, "SHARED=1", NULL);
	}
	fixture_finish(fx);
	return fx;
}

static uint64_t time_of(uint64_t index)
{
	return FIXTURE_REALTIME + index * FIXTURE_STEP;
}

static struct journal timed_journal(const struct fixture *fx)
{
	struct window w = fixture_window(fx);
	char text[HEADER_DETAIL_SIZE];
	struct journal j;

	cr_assert(eq(int, header_parse(w.base, HEADER_SIZE_MAX, w.size_bytes, &j, text), 0));
	return j;
}

/* Bisects by time; expects the answer to be INDEX. */
static void expect_time(struct chain *c, const struct journal *j, struct window_driver *d,
			uint64_t realtime, uint64_t index)
{
	struct time_test t = { .realtime = realtime };
	uint64_t found;
	int r;

	WINDOW_DRIVE(d, r, chain_bisect(c, j, &d->window, test_realtime, &t, false, &found));
	cr_assert(eq(int, r, 0));
	cr_assert(eq(u64, found, index));
}

static enum window_driver_mode modes[] = { WINDOW_DRIVER_WHOLE, WINDOW_DRIVER_BLOCKS,
					   WINDOW_DRIVER_RUN };

ParameterizedTestParameters(chain_bisect, bisection_by_time_finds_every_entry)
{
	return cr_make_param_array(enum window_driver_mode, modes, 3);
}

ParameterizedTest(enum window_driver_mode *mode, chain_bisect, bisection_by_time_finds_every_entry)
{
	struct fixture *fx = timed_file(*mode == WINDOW_DRIVER_BLOCKS);
	struct journal j = timed_journal(fx);
	struct window_driver *d = window_driver_new(fixture_bytes(fx), fixture_size(fx), *mode);
	struct data_object data;
	struct chain c, shared;
	int r;

	chain_init_global(&c, &j);
	WINDOW_DRIVE(d, r, object_data(&j, &d->window, fixture_find_text(fx, "SHARED=1"), &data));
	cr_assert(eq(int, r, 0));
	chain_init_data(&shared, &data);
	for (uint64_t i = 0; i < TIMED_ENTRIES; i += 7) {
		expect_time(&c, &j, d, time_of(i), i);
		expect_time(&c, &j, d, time_of(i) + 1, i + 1);
		expect_time(&shared, &j, d, time_of(i), i);
	}
	expect_time(&c, &j, d, 0, 0);
	expect_time(&c, &j, d, UINT64_MAX, TIMED_ENTRIES);
	window_driver_free(d);
	fixture_free(fx);
}

Test(chain_bisect, bisection_asks_for_little_and_in_few_rounds)
{
	struct fixture *fx = timed_file(true);
	struct journal j = timed_journal(fx);
	struct window_driver *d =
		window_driver_new(fixture_bytes(fx), fixture_size(fx), WINDOW_DRIVER_BLOCKS);
	unsigned calls = 0;
	struct time_test t = { time_of(1234), &calls };
	uint64_t index;
	struct chain c;
	int r;

	chain_init_global(&c, &j);
	WINDOW_DRIVE(d, r, chain_bisect(&c, &j, &d->window, test_realtime, &t, false, &index));
	cr_assert(eq(int, r, 0));
	cr_expect(eq(u64, index, 1234));
	/* 8 arrays to walk to, then 12 levels two at a time, some of them in one block. */
	cr_expect(le(u32, d->rounds, 25));
	cr_expect(le(u32, d->blocks_fed, 50));
	/* With everything there it looks at the ends of the arrays, and at a logarithm of the
	 * entries. */
	calls = 0;
	WINDOW_DRIVE(d, r, chain_bisect(&c, &j, &d->window, test_realtime, &t, false, &index));
	cr_expect(le(u32, calls, 8 + 12));
	window_driver_free(d);
	fixture_free(fx);
}

Test(chain_bisect, what_was_read_before_does_not_change_what_a_time_finds)
{
	struct fixture *fx = fixture_new(&(struct fixture_options){ .compact = true });
	struct window_driver *d;
	struct data_object data;
	struct journal j;
	uint64_t offset;
	int r;

	/* The clock steps back twice, so that what is found depends on the arrays. */
	for (uint64_t i = 0; i < 300; i++) {
		uint64_t time = i < 100 ? i : i < 200 ? i - 70 : i - 150;
		struct fixture_stamp stamp = { .seqnum = i + 1, .realtime = time_of(time),
					       .monotonic = (i + 1) * FIXTURE_STEP };

		fixture_add(fx, &stamp, "SHARED=1", NULL);
	}
	fixture_finish(fx);
	j = timed_journal(fx);
	d = window_driver_new(fixture_bytes(fx), fixture_size(fx), WINDOW_DRIVER_WHOLE);
	WINDOW_DRIVE(d, r, object_data(&j, &d->window, fixture_find_text(fx, "SHARED=1"), &data));
	cr_assert(eq(int, r, 0));
	cr_assert(gt(u64, data.tail_array_count, 0)); /* a hint leads to the last array */
	for (uint64_t time = 0; time < 160; time++) {
		struct time_test t = { .realtime = time_of(time) };
		struct chain fresh, used;
		uint64_t expected;

		chain_init_data(&fresh, &data);
		r = chain_bisect(&fresh, &j, &d->window, test_realtime, &t, false, &expected);
		cr_assert(eq(int, r, 0));
		chain_init_data(&used, &data);
		for (uint64_t back = 1; back <= 250; back += 83) {
			r = chain_get(&used, &j, &d->window, 300 - back, &offset);
			cr_assert(eq(int, r, 1));
			expect_time(&used, &j, d, t.realtime, expected);
		}
	}
	window_driver_free(d);
	fixture_free(fx);
}

ParameterizedTestParameters(chain_bisect, bisection_steps_over_damaged_entries)
{
	return cr_make_param_array(enum window_driver_mode, modes, 3);
}

ParameterizedTest(enum window_driver_mode *mode, chain_bisect, bisection_steps_over_damaged_entries)
{
	struct fixture *fx = timed_file(true);
	struct journal j = timed_journal(fx);
	struct window_driver *d;
	uint32_t state = 9;
	struct chain c;

	/* Half of all entries are damaged, in runs of up to 40. */
	for (uint64_t i = 0, run; i < TIMED_ENTRIES; i += run + 1 + chain_dice(&state) % 40) {
		run = chain_dice(&state) % 40;
		for (uint64_t k = i; k < i + run && k < TIMED_ENTRIES; k++)
			fixture_put64(fx, fixture_find_entry(fx, k) + ENTRY_SEQNUM, 0);
	}
	d = window_driver_new(fixture_bytes(fx), fixture_size(fx), *mode);
	chain_init_global(&c, &j);
	for (uint64_t i = 0; i < TIMED_ENTRIES; i += 11) {
		struct time_test t = { .realtime = time_of(i) };
		uint64_t found;
		int r;

		WINDOW_DRIVE(d, r,
			     chain_bisect(&c, &j, &d->window, test_realtime, &t, false, &found));
		cr_assert(eq(int, r, 0));
		/* No entry that can be read lies between what was found and what was wanted. */
		for (uint64_t k = found < i ? found : i; k < (found < i ? i : found); k++)
			cr_assert(eq(u64,
				     fixture_get64(fx, fixture_find_entry(fx, k) + ENTRY_SEQNUM),
				     0));
	}
	window_driver_free(d);
	fixture_free(fx);
}

/* Fails as if memory had run out. */
static int test_fails(const void *userdata, const struct journal *j, struct window *w,
		      uint64_t entry_offset, int *ret_order)
{
	(void)userdata, (void)j, (void)w, (void)entry_offset, (void)ret_order;
	return -ENOMEM;
}

Test(chain_bisect, bisection_ends_on_a_hard_error)
{
	struct fixture *fx = timed_file(false);
	struct journal j = timed_journal(fx);
	struct window w = fixture_window(fx);
	uint64_t index = 77;
	struct chain c;

	chain_init_global(&c, &j);
	cr_expect(eq(int, chain_bisect(&c, &j, &w, test_fails, NULL, false, &index), -ENOMEM));
	cr_expect(eq(u64, index, 77));
	fixture_free(fx);
}
