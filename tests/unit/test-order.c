/* SPDX-License-Identifier: MIT */
/* The comparison of entries, rule by rule (specification 7.4), and the table of boots (7.2). */
#include <criterion/criterion.h>
#include <criterion/new/assert.h>
#include <stdlib.h>

#include "engine/order.h"
#include "tests/support/fixture.h"

/* Enters the newest entry of a file. */
static void newest(struct order *o, unsigned boot, unsigned machine, uint64_t monotonic,
		   uint64_t realtime)
{
	struct order_newest n = { .known = true,
				  .boot_id = fixture_id(boot),
				  .machine_id = fixture_id(1000 + machine),
				  .monotonic = monotonic,
				  .realtime = realtime };

	cr_assert(eq(int, order_add_newest(o, &n), 0));
}

/* The number of a boot. */
static uint32_t boot(struct order *o, unsigned id)
{
	struct id128 boot_id = fixture_id(id);
	uint32_t number;

	cr_assert(eq(int, order_boot_number(o, &boot_id, &number), 0));
	return number;
}

/* Both ways round; what it answers the first way. */
static int compare(const struct order *o, const struct order_key *a, const struct order_key *b)
{
	int r = order_compare(o, a, b);

	cr_assert(eq(int, order_compare(o, b, a), -r));
	return r;
}

Test(order, ids_keep_their_numbers)
{
	struct order o = { 0 };
	uint32_t number;

	for (unsigned i = 0; i < 3000; i++)
		cr_assert(eq(u32, boot(&o, i), i));
	for (unsigned i = 0; i < 3000; i++) {
		struct id128 id = fixture_id(i);

		cr_assert(eq(u32, boot(&o, i), i));
		cr_assert(id128_equal(&o.boots[i].id, &id));
		cr_assert(not(o.boots[i].ranked));
		cr_assert(eq(int, order_seqnum_id_number(&o, &id, &number), 0));
		cr_assert(eq(u32, number, i));
	}
	order_done(&o);
}

Test(order, number_decides_within_an_id)
{
	struct order o = { 0 };
	struct order_key a = { .seqnum = 1, .realtime = 9, .monotonic = 9, .xor_hash = 9 };
	struct order_key b = { .seqnum = 2, .realtime = 1, .monotonic = 1, .xor_hash = 1 };

	a.boot = b.boot = boot(&o, 1);
	cr_assert(eq(int, compare(&o, &a, &b), -1));
	b.seqnum_id = 1;
	cr_assert(eq(int, compare(&o, &a, &b), 1));
	order_done(&o);
}

Test(order, equal_numbers_leave_it_to_the_times)
{
	struct order o = { 0 };
	struct order_key a = { .seqnum = 1, .realtime = 9, .monotonic = 1, .xor_hash = 9 };
	struct order_key b = { .seqnum = 1, .realtime = 1, .monotonic = 2, .xor_hash = 1 };

	a.boot = b.boot = boot(&o, 1);
	cr_assert(eq(int, compare(&o, &a, &b), -1));
	order_done(&o);
}

Test(order, monotonic_then_realtime_then_hash_decide_within_a_boot)
{
	struct order o = { 0 };
	struct order_key a = { .realtime = 9, .monotonic = 1, .xor_hash = 9, .seqnum_id = 0 };
	struct order_key b = { .realtime = 1, .monotonic = 2, .xor_hash = 1, .seqnum_id = 1 };

	a.boot = b.boot = boot(&o, 1);
	cr_assert(eq(int, compare(&o, &a, &b), -1));
	b.monotonic = 1;
	cr_assert(eq(int, compare(&o, &a, &b), 1));
	b.realtime = 9;
	cr_assert(eq(int, compare(&o, &a, &b), 1));
	b.xor_hash = UINT64_MAX; /* unsigned */
	cr_assert(eq(int, compare(&o, &a, &b), -1));
	b.xor_hash = 9;
	cr_assert(eq(int, compare(&o, &a, &b), 0));
	order_done(&o);
}

Test(order, newest_entries_decide_between_boots_of_one_machine)
{
	struct order o = { 0 };
	struct order_key a = { .realtime = 9, .seqnum_id = 0 };
	struct order_key b = { .realtime = 1, .seqnum_id = 1 };

	newest(&o, 1, 1, 50, 1000);
	newest(&o, 2, 1, 50, 2000);
	a.boot = boot(&o, 1);
	b.boot = boot(&o, 2);
	cr_assert(eq(int, compare(&o, &a, &b), -1));
	cr_assert(eq(int, order_compare_boots(&o, a.boot, b.boot), -1));
	order_done(&o);
}

Test(order, realtime_decides_where_boots_cannot_be_compared)
{
	struct order o = { 0 };
	struct order_key a = { .realtime = 9, .seqnum_id = 0 };
	struct order_key b = { .realtime = 1, .seqnum_id = 1 };

	newest(&o, 1, 1, 50, 1000);
	newest(&o, 2, 2, 50, 2000); /* of another machine */
	newest(&o, 4, 1, 50, 1000); /* as new as the first */
	a.boot = boot(&o, 1);
	for (unsigned other = 2; other <= 4; other++) {
		b.boot = boot(&o, other); /* the third is no file's last */
		cr_assert(eq(int, order_compare_boots(&o, a.boot, b.boot), 0));
		cr_assert(eq(int, compare(&o, &a, &b), 1));
	}
	order_done(&o);
}

Test(order, file_with_the_largest_monotonic_time_speaks_for_a_boot)
{
	struct order o = { 0 };

	newest(&o, 1, 1, 50, 1000);
	newest(&o, 1, 2, 60, 3000);
	newest(&o, 1, 3, 55, 9000);
	newest(&o, 1, 4, 60, 7000); /* a tie goes to the first */
	cr_assert(eq(u64, o.boots[boot(&o, 1)].realtime, 3000));
	cr_assert(eq(u64, o.boots[boot(&o, 1)].monotonic, 60));
	cr_assert(eq(u32, o.boots[boot(&o, 1)].machine, 1));
	order_done(&o);
}

Test(order, files_that_know_no_newest_entry_rank_nothing)
{
	struct order o = { 0 };
	struct order_newest n = { .known = false, .boot_id = fixture_id(1), .realtime = 5 };

	cr_assert(eq(int, order_add_newest(&o, &n), 0));
	cr_assert(eq(u32, o.boot_ids.count, 0));
	order_done(&o);
}

Test(order, copies_share_number_or_monotonic_time)
{
	struct order_key a = { .seqnum = 1, .realtime = 2, .monotonic = 3, .xor_hash = 4, .boot = 5,
			       .seqnum_id = 6 };
	struct order_key b = a;

	cr_assert(order_is_copy(&a, &b));
	b.monotonic = 7; /* not looked at within an ID */
	cr_assert(order_is_copy(&a, &b));
	b.seqnum_id = 8; /* looked at between IDs */
	cr_assert(not(order_is_copy(&a, &b)));
	b.monotonic = a.monotonic;
	b.seqnum = 9; /* not looked at between IDs */
	cr_assert(order_is_copy(&a, &b));
	b.seqnum_id = a.seqnum_id;
	cr_assert(not(order_is_copy(&a, &b)));
	b = a;
	b.realtime++;
	cr_assert(not(order_is_copy(&a, &b)));
	b = a;
	b.xor_hash++;
	cr_assert(not(order_is_copy(&a, &b)));
	b = a;
	b.boot++;
	cr_assert(not(order_is_copy(&a, &b)));
}

/* The circle of specification 7.6: why a heap alone does not do. */
Test(order, comparison_can_go_in_circles)
{
	struct order o = { 0 };
	uint32_t one = boot(&o, 1), two = boot(&o, 2);
	struct order_key f0 = { .seqnum = 1, .realtime = 10, .monotonic = 1, .xor_hash = 2,
				.boot = one, .seqnum_id = 0 };
	struct order_key f2 = { .seqnum = 5, .realtime = 10, .monotonic = 2, .xor_hash = 9,
				.boot = one, .seqnum_id = 1 };
	struct order_key f1 = { .seqnum = 6, .realtime = 10, .monotonic = 9, .xor_hash = 1,
				.boot = two, .seqnum_id = 1 };

	cr_assert(eq(int, compare(&o, &f0, &f2), -1));
	cr_assert(eq(int, compare(&o, &f2, &f1), -1));
	cr_assert(eq(int, compare(&o, &f1, &f0), -1));
	order_done(&o);
}
