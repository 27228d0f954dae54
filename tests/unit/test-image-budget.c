/* SPDX-License-Identifier: MIT */
/*
 * What leaves memory, and when: the budget holds, what is pinned or in use stays, read-ahead does
 * not evict itself, frames serve the next block, and no byte is wrong.
 */
#include "tests/support/image-files.h"

/* Random ranges of several files, a budget of a few blocks; some of it unpinned late. */
static void random_access(enum io_method_case_id id, uint64_t seed, unsigned shift, bool memory)
{
	static struct file files[4];
	uint64_t budget = 24ull << shift;

	setup(id, budget);
	for (unsigned i = 0; i < 4; i++) {
		char name[2] = { (char)('a' + i), 0 };
		uint64_t size = (40ull << shift) + i * 1003;

		if (memory)
			buffer_open(&files[i], size, shift);
		else
			file_open(&files[i], name, size, shift);
	}
	for (unsigned step = 0; step < 600; step++) {
		struct file *f = &files[io_fault_random(&seed) % 4];
		uint64_t offset = io_fault_random(&seed) % f->size_bytes;
		uint64_t size = 1 + io_fault_random(&seed) % (5ull << shift);

		if (step % 3 == 0)
			image_want(&f->image, offset + (3ull << shift), 8ull << shift,
				   IMAGE_EXPECTED);
		need(f, offset, size);
		expect_bytes(f, offset, size);
		/* A reader touches what it uses. */
		if (step % 2 == 0)
			f->image.blocks[offset >> shift] |= IMAGE_BLOCK_TOUCHED;
		if (step % 17 == 0)
			image_forget(&f->image, offset, 1);
		check_sums(files, 4);
		image_unpin(&f->image);
		if (step % 50 == 49) {
			struct image *image = &f->image;

			cr_assert(le(u64, pool.committed_bytes,
				     budget + pool.statistics.over_budget_bytes_max));
			cr_assert(eq(uint, image->needed_pending, 0));
		}
	}
	cr_expect(gt(u64, pool.statistics.blocks_evicted, 500));
	/* A step needs a quarter, or one read that straddles: little more than that is over. */
	cr_expect(le(u64, pool.statistics.over_budget_bytes_max, 6ull << shift));
	for (unsigned i = 0; i < 4; i++)
		file_close(&files[i]);
	teardown();
}

IO_METHOD_TEST(image_budget, eviction_never_loses_what_is_needed)
{
	random_access(*id, 99, 12, false);
}

IO_METHOD_TEST(image_budget, eviction_never_loses_what_is_needed_in_large_blocks)
{
	random_access(*id, 7, 16, false);
}

Test(image_budget, eviction_holds_for_many_seeds)
{
	for (uint64_t seed = 1; seed <= 8; seed++)
		random_access(IO_CASE_FAULT, seed, 12, true);
}

IO_METHOD_TEST(image_budget, the_budget_bounds_resident_memory)
{
	static struct file files[12];
	uint64_t before, most = 0;

	setup(*id, 8 * MIB);
	for (unsigned i = 0; i < 12; i++) {
		char name[2] = { (char)('a' + i), 0 };

		file_open(&files[i], name, 4 * MIB, 16);
	}
	before = rss_bytes();
	/* All images stay open, and are read in turn, block by block. */
	for (uint64_t offset = 0; offset < 4 * MIB; offset += 64 * KIB) {
		uint64_t now;

		for (unsigned i = 0; i < 12; i++) {
			image_want(&files[i].image, offset + 64 * KIB, 256 * KIB, IMAGE_EXPECTED);
			need(&files[i], offset, 64 * KIB);
			expect_bytes(&files[i], offset, 64 * KIB);
			image_unpin(&files[i].image);
		}
		now = rss_bytes();
		if (most < now)
			most = now;
	}
	cr_expect(eq(u64, pool.statistics.over_budget_bytes_max, 0));
	cr_expect(le(u64, pool.statistics.committed_peak_bytes, 8 * MIB));
	cr_expect(lt(u64, most, before + 8 * MIB + 6 * MIB), "grew by %llu KiB",
		  (unsigned long long)(most - before) / 1024);
	for (unsigned i = 0; i < 12; i++)
		file_close(&files[i]);
	teardown();
}

/* Files that are read side by side in large blocks: frames go from one to the other. */
static void read_side_by_side(enum io_method_case_id id, bool moves)
{
	static struct file files[6];

	setup(id, 2 * MIB);
	pool.private->moves_refused = !moves;
	for (unsigned i = 0; i < 6; i++) {
		char name[2] = { (char)('a' + i), 0 };

		/* Blocks of different sizes, too. */
		file_open(&files[i], name, MIB + 5000 * i, i % 2 ? 16 : 14);
	}
	for (unsigned round = 0; round < 3; round++) {
		for (uint64_t offset = 0; offset < 1100 * KIB; offset += 128 * KIB) {
			for (unsigned i = 0; i < 6; i++) {
				need(&files[i], offset, 128 * KIB + i);
				expect_bytes(&files[i], offset, 128 * KIB + i);
				image_unpin(&files[i].image);
			}
			check_sums(files, 6);
		}
	}
	if (moves)
		cr_expect(gt(u64, pool.private->moved_bytes, MIB));
	else
		cr_expect(eq(u64, pool.private->moved_bytes, 0));
	cr_expect(le(u64, pool.statistics.committed_peak_bytes, 2 * MIB));
	for (unsigned i = 0; i < 6; i++)
		file_close(&files[i]);
	cr_expect(le(u64, pool.private->seam_count, 6 * 2 * 80));
	/* Ranges with seams serve again. */
	file_open(&files[0], "z", MIB, 14);
	need(&files[0], 0, UINT64_MAX);
	expect_bytes(&files[0], 0, UINT64_MAX);
	check_sums(files, 1);
	file_close(&files[0]);
	teardown();
}

IO_METHOD_TEST(image_budget, frames_move_to_where_they_are_needed)
{
	read_side_by_side(*id, true);
}

IO_METHOD_TEST(image_budget, frames_are_given_back_where_they_cannot_move)
{
	read_side_by_side(*id, false);
}

IO_METHOD_TEST(image_budget, pinned_blocks_stay)
{
	static struct file f;

	setup(*id, 16 * 4096);
	file_open(&f, "a", 400 * 4096, 12);
	need(&f, 10 * 4096, 4096);
	need(&f, 300 * 4096, 3 * 4096);
	/* Everything else goes by, as another step's. */
	for (unsigned i = 20; i < 250; i++) {
		image_want(&f.image, i * 4096ull, 4096, IMAGE_EXPECTED);
		for (unsigned t = 0; t < 70; t++)
			turn(false);
		cr_assert(eq(uint, image_want(&f.image, 10 * 4096, 4096, IMAGE_EXPECTED), 0));
		cr_assert(eq(uint, image_want(&f.image, 300 * 4096, 3 * 4096, IMAGE_EXPECTED), 0));
	}
	expect_bytes(&f, 10 * 4096, 4096);
	expect_bytes(&f, 300 * 4096, 3 * 4096);
	image_unpin(&f.image);
	for (uint64_t i = 0; i < 400; i++)
		cr_assert(eq(int, f.image.blocks[i] & IMAGE_BLOCK_PINNED, 0));
	file_close(&f);
	teardown();
}

Test(image_budget, unpin_finds_more_pins_than_are_remembered)
{
	static struct file f;

	setup(IO_CASE_SYNC, 16 * MIB);
	file_open(&f, "a", 400 * 4096, 12);
	for (uint64_t i = 0; i < 100; i++)
		need(&f, ((i * 37) % 100) * 4 * 4096, 4096);
	for (uint64_t i = 0; i < 100; i++)
		cr_assert(has(f.image.blocks[i * 4], IMAGE_BLOCK_PINNED));
	image_unpin(&f.image);
	for (uint64_t i = 0; i < 400; i++)
		cr_assert(eq(int, f.image.blocks[i] & IMAGE_BLOCK_PINNED, 0));
	image_unpin(&f.image);
	file_close(&f);
	teardown();
}

IO_METHOD_TEST(image_budget, when_all_is_pinned_needed_reads_still_come)
{
	static struct file files[3];

	setup(*id, 8 * 4096);
	for (unsigned i = 0; i < 3; i++) {
		char name[2] = { (char)('a' + i), 0 };

		file_open(&files[i], name, 100 * 4096, 12);
	}
	/* Three steps hold twice the budget. */
	for (unsigned i = 0; i < 3; i++)
		for (uint64_t b = 0; b < 6; b++)
			need(&files[i], b * 7 * 4096, 4096);
	for (unsigned i = 0; i < 3; i++)
		for (uint64_t b = 0; b < 6; b++)
			expect_bytes(&files[i], b * 7 * 4096, 4096);
	check_sums(files, 3);
	cr_expect(gt(u64, pool.statistics.over_budget_bytes_max, 0));
	/* Once they are let go, the next one pays it back. */
	for (unsigned i = 0; i < 3; i++)
		image_unpin(&files[i].image);
	need(&files[0], 90 * 4096, 4096);
	cr_expect(le(u64, pool.committed_bytes, 8 * 4096));
	for (unsigned i = 0; i < 3; i++)
		file_close(&files[i]);
	teardown();
}

/* What another thread that reads the first file might still look at. */
static struct {
	struct file *file;
	uint8_t bytes[8 * 4096];
	bool seen[8];
	unsigned calls, left;
} reader;

/* The pool's quiesce: what was resident when it was called last still has its bytes. */
static void reader_quiesce(void *userdata)
{
	struct image *image = &reader.file->image;

	cr_assert(eq(ptr, userdata, &reader));
	for (unsigned i = 0; i < 8; i++) {
		bool there = image->blocks[i] & IMAGE_BLOCK_RESIDENT;

		if (reader.seen[i])
			cr_assert(memcmp(image->base + i * 4096, reader.bytes + i * 4096, 4096) ==
				  0);
		reader.left += reader.seen[i] && !there;
		reader.seen[i] = there;
	}
	reader.calls++;
}

Test(image_budget, bytes_stay_until_nobody_reads_them)
{
	static struct file files[2];

	setup(IO_CASE_SYNC, 16 * 4096);
	file_open(&files[0], "a", 8 * 4096, 12);
	file_open(&files[1], "b", 100 * 4096, 12);
	reader.file = &files[0];
	pool.quiesce = reader_quiesce;
	pool.quiesce_userdata = &reader;
	for (unsigned round = 0; round < 3; round++) {
		need(&files[0], 0, UINT64_MAX);
		image_unpin(&files[0].image);
		memcpy(reader.bytes, files[0].image.base, sizeof(reader.bytes));
		memset(reader.seen, 1, sizeof(reader.seen));
		for (uint64_t i = 0; i < 100; i++) {
			need(&files[1], i * 4096, 4096);
			image_unpin(&files[1].image);
		}
		image_forget(&files[0].image, 0, 4096);
		need(&files[0], 0, 4096);
		image_unpin(&files[0].image);
	}
	cr_expect(gt(uint, reader.calls, 0));
	cr_expect(gt(uint, reader.left, 0));
	pool.quiesce = NULL;
	file_close(&files[0]);
	file_close(&files[1]);
	teardown();
}

Test(image_budget, touched_blocks_get_a_second_chance)
{
	static struct file f;
	unsigned kept = 0;

	setup(IO_CASE_SYNC, 16 * 4096);
	file_open(&f, "a", 1000 * 4096, 12);
	need(&f, 0, 8 * 4096);
	image_unpin(&f.image);
	for (uint64_t i = 8; i < 40; i++) {
		/* The first blocks are used all the time, the others once. */
		for (uint64_t hot = 0; hot < 4; hot++)
			if (f.image.blocks[hot] & IMAGE_BLOCK_RESIDENT)
				f.image.blocks[hot] |= IMAGE_BLOCK_TOUCHED;
		need(&f, i * 4096, 4096);
		image_unpin(&f.image);
	}
	for (uint64_t hot = 0; hot < 4; hot++)
		kept += (f.image.blocks[hot] & IMAGE_BLOCK_RESIDENT) != 0;
	cr_expect(eq(uint, kept, 4));
	file_close(&f);
	teardown();
}

Test(image_budget, read_ahead_does_not_evict_what_it_brought)
{
	static struct file f;
	uint64_t ahead;

	setup(IO_CASE_SYNC, 64 * 4096);
	pool.in_flight_bytes_max = UINT64_MAX;
	file_open(&f, "a", 1000 * 4096, 12);
	image_want(&f.image, 0, 500 * 4096, IMAGE_EXPECTED);
	for (unsigned i = 0; i < 1000; i++)
		turn(false);
	/* It filled the budget and stopped: the first blocks are there. */
	cr_expect(eq(u64, pool.statistics.blocks_evicted, 0));
	ahead = f.image.resident_count;
	cr_expect(gt(u64, ahead, 48));
	cr_expect(le(u64, ahead, 64));
	cr_expect(eq(uint, image_want(&f.image, 0, ahead * 4096, IMAGE_EXPECTED), 0));
	/* When the reader has used them, it goes on. */
	for (uint64_t i = 0; i < ahead; i++)
		f.image.blocks[i] |= IMAGE_BLOCK_TOUCHED;
	for (unsigned i = 0; i < 1000; i++)
		turn(false);
	cr_expect(gt(u64, pool.statistics.blocks_evicted, 16));
	cr_expect(has(f.image.blocks[ahead], IMAGE_BLOCK_RESIDENT));
	cr_expect(le(u64, pool.committed_bytes, pool.budget_bytes));
	check_sums(&f, 1);
	file_close(&f);
	teardown();
}

Test(image_budget, what_a_reader_has_passed_makes_way)
{
	static struct file f;
	uint64_t edge = 0;

	setup(IO_CASE_SYNC, 64 * 4096);
	file_open(&f, "a", 1000 * 4096, 12);
	/* A reader that touches nothing, as over a run of blocks that is known to be there. */
	for (uint64_t i = 0; i < 900; i++) {
		image_used(&f.image, 0, i * 4096 + 5);
		while (edge < i + 16 && image_pool_expected_room(&pool) >= 8 * 4096) {
			image_want(&f.image, edge * 4096, 8 * 4096, IMAGE_EXPECTED);
			edge += 8;
		}
		turn(false);
		cr_assert(has(f.image.blocks[i], IMAGE_BLOCK_RESIDENT));
		expect_bytes(&f, i * 4096, 4096);
	}
	cr_expect(eq(u64, pool.statistics.block_misses, 0));
	cr_expect(le(u64, pool.statistics.committed_peak_bytes, 64 * 4096));
	check_sums(&f, 1);
	cr_expect(eq(u64, f.image.used_first, 0));
	cr_expect(eq(u64, f.image.used_end, 899));
	/* Backward, and from elsewhere. */
	f.image.used_end = 0;
	image_used(&f.image, 500 * 4096, 4096);
	image_used(&f.image, 499 * 4096 - 1, 4097);
	cr_expect(eq(u64, f.image.used_first, 499));
	cr_expect(eq(u64, f.image.used_end, 501));
	image_used(&f.image, 700 * 4096, 4096);
	cr_expect(eq(u64, f.image.used_first, 700));
	image_used(&f.image, 0, UINT64_MAX);
	cr_expect(eq(u64, pool.private->ahead_bytes, 0));
	check_sums(&f, 1);
	file_close(&f);
	teardown();
}

IO_METHOD_TEST(image_budget, expected_reads_become_needed)
{
	static struct file f;

	setup(*id, 16 * MIB);
	file_open(&f, "a", 8 * MIB, 12);
	/* Pending: only what is needed is taken out. */
	cr_expect(eq(uint, image_want(&f.image, 0, 256 * 4096, IMAGE_EXPECTED), 256));
	cr_expect(eq(uint, f.image.needed_pending, 0));
	cr_expect(eq(uint, image_want(&f.image, 100 * 4096, 2 * 4096, IMAGE_NEEDED), 2));
	cr_expect(eq(uint, f.image.needed_pending, 1));
	cr_expect(eq(uint, image_want(&f.image, 0, 256 * 4096, IMAGE_EXPECTED), 256));
	wait_ready(&f.image);
	expect_bytes(&f, 100 * 4096, 2 * 4096);
	cr_expect(eq(int, f.image.blocks[100] & IMAGE_BLOCK_AHEAD, 0));
	/* In flight, or there by now: waiting for it is enough. */
	image_want(&f.image, 4 * MIB, MIB, IMAGE_EXPECTED);
	image_pool_start(&pool);
	need(&f, 4 * MIB, MIB);
	expect_bytes(&f, 4 * MIB, MIB);
	while (io_is_busy(&io))
		turn(true);
	expect_bytes(&f, 0, 256 * 4096);
	cr_expect(eq(uint, image_want(&f.image, 0, 256 * 4096, IMAGE_EXPECTED), 0));
	check_sums(&f, 1);
	file_close(&f);
	teardown();
}

Test(image_budget, needed_reads_are_started_before_expected_ones)
{
	static struct file f;

	setup(IO_CASE_SYNC, 64 * MIB);
	file_open(&f, "a", 8 * MIB, 12);
	image_want(&f.image, 0, 4 * MIB, IMAGE_EXPECTED);
	image_want(&f.image, 7 * MIB, 4096, IMAGE_NEEDED);
	image_pool_start(&pool);
	cr_assert(not(list_is_empty(&io.queued)));
	cr_expect(eq(u64, container_of(io.queued.next, struct io_op, link)->offset, 7 * MIB));
	while (io_is_busy(&io))
		turn(true);
	wait_ready(&f.image);
	file_close(&f);
	teardown();
}

IO_METHOD_TEST(image_budget, a_closed_range_serves_the_next_file)
{
	static struct file f;
	uint8_t *base = NULL;

	setup(*id, 16 * MIB);
	for (unsigned i = 0; i < 20; i++) {
		/* About the same size, and always at least what is committed is used again. */
		file_open(&f, "a", 2 * MIB - i * 1000, i % 2 ? 12 : 16);
		if (base)
			cr_assert(eq(ptr, f.image.base, base));
		base = f.image.base;
		cr_assert(eq(u64, f.image.resident_count, 0));
		need(&f, 0, UINT64_MAX);
		expect_bytes(&f, 0, UINT64_MAX);
		cr_assert(f.image.whole);
		check_sums(&f, 1);
		file_close(&f);
		check_sums(&f, 1);
	}
	cr_expect(le(u64, pool.statistics.committed_peak_bytes, 2 * MIB));
	cr_expect(eq(uint, pool.private->cached_count, 1));
	teardown();
}

IO_METHOD_TEST(image_budget, kept_ranges_make_way_first)
{
	static struct file files[8];

	setup(*id, 4 * MIB);
	for (unsigned i = 0; i < 4; i++) {
		char name[2] = { (char)('a' + i), 0 };

		file_open(&files[i], name, MIB, 12);
		need(&files[i], 0, UINT64_MAX);
	}
	for (unsigned i = 0; i < 4; i++)
		file_close(&files[i]);
	cr_expect(eq(u64, pool.committed_bytes, 4 * MIB));
	/* None of them is large enough. */
	file_open(&files[4], "e", 3 * MIB, 16);
	need(&files[4], 0, UINT64_MAX);
	expect_bytes(&files[4], 0, UINT64_MAX);
	cr_expect(eq(u64, pool.statistics.blocks_evicted, 0));
	cr_expect(le(u64, pool.statistics.committed_peak_bytes, 4 * MIB));
	check_sums(&files[4], 1);
	file_close(&files[4]);
	teardown();
}

/* One random step in the life of a file. */
static void live(struct file *f, uint64_t *seed, unsigned shift_min)
{
	uint64_t offset, size, action = io_fault_random(seed) % 16;

	if (!f->bytes) {
		buffer_open(f, io_fault_random(seed) % (1500 * KIB),
			    shift_min + (unsigned)(io_fault_random(seed) % 3) * 2);
		return;
	}
	offset = io_fault_random(seed) % (f->image.size_bytes + 1);
	size = io_fault_random(seed) % (action % 2 ? 300 * KIB : 5000);
	if (action < 6) {
		need(f, offset, size);
		expect_bytes(f, offset, size);
		if (f->image.size_bytes > 0 && size > 0)
			f->image.blocks[(offset < f->image.size_bytes ? offset : 0) >>
					f->image.block_shift] |= IMAGE_BLOCK_TOUCHED;
		if (action < 4)
			image_unpin(&f->image);
	} else if (action < 10) {
		image_want(&f->image, offset, size, IMAGE_EXPECTED);
	} else if (action < 11) {
		image_want(&f->image, offset, size % 20000, IMAGE_NEEDED);
	} else if (action < 12) {
		image_forget(&f->image, offset, size);
	} else if (action < 13) {
		/* The file is truncated, and that is noticed, or not yet. */
		io_fault_set_file(&fault, f->fd, f->bytes, offset);
		if (size % 2)
			cr_assert(eq(int, image_resize(&f->image, offset), 0));
	} else if (action < 14) {
		/* It is as long as at first again. */
		io_fault_set_file(&fault, f->fd, f->bytes, f->size_bytes);
		cr_assert(eq(int, image_resize(&f->image, f->size_bytes), 0));
	} else if (action < 15 || *seed % 4) {
		turn(false);
	} else {
		file_close(f);
		f->bytes = NULL;
		f->image.range = NULL;
	}
}

/* Everything at once, for every seed: nothing hangs, no sum is wrong, no byte is. */
static void random_life(uint64_t seed)
{
	static struct file files[8];
	unsigned shift_min = 12 + (unsigned)(seed % 2) * 2;
	uint64_t state = seed;

	setup(IO_CASE_FAULT, (seed % 7 + 1) * 300 * KIB);
	pool.private->moves_refused = seed % 5 == 0;
	fault.read_bytes_max = (uint32_t)(seed % 3) * 20011;
	memset(files, 0, sizeof(files));
	for (unsigned step = 0; step < 900; step++) {
		live(&files[io_fault_random(&state) % 8], &state, shift_min);
		if (step % 10 == 0)
			check_sums(files, 8);
		while (image_pool_next_ready(&pool))
			;
	}
	for (unsigned i = 0; i < 8; i++)
		if (files[i].bytes)
			file_close(&files[i]);
	teardown();
}

Test(image_budget, random_lives_of_files)
{
	const char *count = getenv("JSCAN_TEST_SEEDS");
	uint64_t end = count ? strtoull(count, NULL, 10) : 20;

	for (uint64_t seed = 1; seed <= end; seed++)
		random_life(seed);
}

Test(image_budget, room_for_read_ahead_ends_with_the_budget)
{
	static struct file f;

	setup(IO_CASE_SYNC, 4 * MIB);
	pool.in_flight_bytes_max = 2 * MIB;
	file_open(&f, "a", 32 * MIB, 16);
	cr_expect(eq(u64, image_pool_expected_room(&pool), 2 * MIB));
	image_want(&f.image, 0, MIB, IMAGE_EXPECTED);
	cr_expect(eq(u64, image_pool_expected_room(&pool), MIB));
	image_want(&f.image, MIB, 2 * MIB, IMAGE_EXPECTED);
	cr_expect(eq(u64, image_pool_expected_room(&pool), 0));
	for (unsigned i = 0; i < 200; i++)
		turn(false);
	cr_expect(eq(u64, image_pool_expected_room(&pool), MIB));
	cr_expect(eq(u64, f.image.resident_count, 48));
	file_close(&f);
	teardown();
}

Test(image_budget, thousands_of_small_probes_cost_their_blocks_only)
{
	static struct file files[300];
	uint64_t before;

	setup(IO_CASE_FAULT, 64 * MIB);
	for (unsigned i = 0; i < 300; i++)
		buffer_open(&files[i], MIB / 8, 12);
	before = rss_bytes();
	for (unsigned i = 0; i < 300; i++)
		for (uint64_t b = 0; b < 5; b++)
			image_want(&files[i].image, b * 5 * 4096, 100, IMAGE_NEEDED);
	for (unsigned i = 0; i < 300; i++)
		wait_ready(&files[i].image);
	for (unsigned i = 0; i < 300; i++)
		for (uint64_t b = 0; b < 5; b++)
			expect_bytes(&files[i], b * 5 * 4096, 4096);
	cr_expect(eq(u64, pool.committed_bytes, 300 * 5 * 4096));
	cr_expect(lt(u64, rss_bytes() - before, 16 * MIB));
	check_sums(files, 300);
	for (unsigned i = 0; i < 300; i++)
		file_close(&files[i]);
	teardown();
}
