/* SPDX-License-Identifier: MIT */
/*
 * The order of runs is that of the plain merge: the next marks of all sequences compared one after
 * the other, whatever clocks say. Random marks of few and of many sequences, by seed.
 */
#include <criterion/criterion.h>
#include <criterion/new/assert.h>

#include "engine/runs.h"
#include "tests/support/query.h"

#define BOOTS 12u
#define MARKS_MAX 160u
#define ROWS 20u

/* What is ranked, and where the model is in each sequence. */
struct set {
	struct order order;
	struct runs runs;
	unsigned sequences;
	struct runs_mark marks[MARKS_MAX]; /* as they are entered, by sequence and number */
	unsigned mark_count;
};

/* An ID by number. */
static struct id128 id_of(unsigned number)
{
	struct id128 id = { { (uint8_t)number, (uint8_t)(number >> 8), 1 } };

	return id;
}

/* Boots of one to three machines, some without a rank, some equally new. */
static void make_boots(struct set *s, uint64_t *random)
{
	unsigned machines = 1 + (unsigned)query_random_below(random, 3);

	for (unsigned i = 0; i < BOOTS; i++) {
		struct order_newest newest = {
			.known = query_random_below(random, 4) > 0,
			.boot_id = id_of(i),
			.machine_id = id_of(100 + (unsigned)query_random_below(random, machines)),
			.monotonic = 1 + query_random_below(random, 1000),
			.realtime = 1000 + query_random_below(random, 2 * BOOTS) * 100,
		};
		uint32_t number;

		cr_assert(eq(int, order_boot_number(&s->order, &newest.boot_id, &number), 0));
		cr_assert(eq(int, order_add_newest(&s->order, &newest), 0));
	}
}

/* Marks of a sequence: times mostly ascend with numbers, unless the set's clocks are wild. */
static void make_marks(struct set *s, uint64_t *random)
{
	bool wild = query_random_below(random, 2);

	for (unsigned i = 0; i < s->mark_count; i++) {
		struct order_key *key = &s->marks[i].key;
		uint32_t row;
		struct id128 id;

		s->marks[i].row = (uint32_t)query_random_below(random, ROWS);
		key->seqnum_id = i * s->sequences / s->mark_count;
		key->seqnum = i + 1;
		key->boot = (uint32_t)query_random_below(random, BOOTS);
		key->realtime = 1000 + (wild ? query_random_below(random, 50) * 50 : i * 40);
		key->monotonic = query_random_below(random, wild ? 10 : 1000);
		key->xor_hash = query_random_below(random, 4);
		id = id_of(200 + s->marks[i].row);
		cr_assert(eq(int, runs_row(&s->runs, &id, &row), 0));
		s->marks[i].row = row;
		cr_assert(eq(int, runs_mark(&s->runs, row, key), 0));
	}
}

/* The ranks of the rows in one direction, by the plain merge. */
static void rank_plainly(const struct set *s, bool backward, uint64_t *ranks)
{
	bool taken[MARKS_MAX] = { false };
	uint64_t rank = 0;

	for (unsigned i = 0; i < ROWS; i++)
		ranks[i] = UINT64_MAX;
	for (unsigned n = 0; n < s->mark_count; n++) {
		const struct runs_mark *best = NULL;

		for (unsigned q = 0; q < s->sequences; q++) {
			const struct runs_mark *next = NULL;
			int r;

			for (unsigned i = 0; i < s->mark_count; i++) {
				if (taken[i] || s->marks[i].key.seqnum_id != q)
					continue;
				next = &s->marks[i];
				if (!backward)
					break;
			}
			if (!next)
				continue;
			r = best ? order_compare(&s->order, &next->key, &best->key) : 0;
			if (!best || (backward ? r > 0 : r < 0))
				best = next;
		}
		taken[best - s->marks] = true;
		if (ranks[best->row] == UINT64_MAX)
			ranks[best->row] = rank++;
	}
}

static void check_seed(uint64_t seed)
{
	uint64_t random = seed, first[ROWS], last[ROWS];
	struct set *s = calloc(1, sizeof(*s));

	s->mark_count = 1 + (unsigned)query_random_below(&random, MARKS_MAX);
	s->sequences = 1 + (unsigned)query_random_below(&random, s->mark_count);
	make_boots(s, &random);
	make_marks(s, &random);
	rank_plainly(s, false, first);
	rank_plainly(s, true, last);
	cr_assert(eq(int, runs_rank(&s->runs, &s->order), 0));
	for (size_t i = 0; i < s->runs.count; i++) {
		cr_assert(eq(u64, s->runs.rows[i].first_rank, first[i]), "seed %lu", seed);
		cr_assert(eq(u64, s->runs.rows[i].last_rank, last[i]), "seed %lu", seed);
	}
	runs_done(&s->runs);
	order_done(&s->order);
	free(s);
}

Test(runs_order, runs_come_as_the_plain_merge_of_their_marks_has_them, .timeout = 60)
{
	for (uint64_t seed = 1; seed <= 400; seed++)
		check_seed(seed);
}
