/* SPDX-License-Identifier: MIT */
/*
 * Images are checked against the bytes of their files: a range that was waited for has its bytes,
 * whatever happens to the file meanwhile. What the budget does is in test-image-budget.c.
 */
#include "tests/support/image-files.h"

IO_METHOD_TEST(image, wanted_ranges_have_their_bytes)
{
	static struct file f;

	setup(*id, 16 * MIB);
	file_open(&f, "a", 3 * MIB + 77, 12);
	cr_expect(eq(uint, image_want(&f.image, 100, 10, IMAGE_NEEDED), 1));
	cr_expect(eq(uint, f.image.needed_pending, 1));
	cr_expect(eq(uint, image_want(&f.image, 4000, 200, IMAGE_NEEDED), 2));
	cr_expect(eq(uint, f.image.needed_pending, 1), "neighbours are one read");
	wait_ready(&f.image);
	cr_expect(eq(uint, image_want(&f.image, 100, 8000, IMAGE_NEEDED), 0));
	expect_bytes(&f, 0, 8192);
	/* The last block is a part of one. */
	need(&f, 3 * MIB, 1000);
	expect_bytes(&f, 3 * MIB, 77);
	/* Beyond the end there is nothing to want. */
	cr_expect(eq(uint, image_want(&f.image, 3 * MIB + 77, 10, IMAGE_NEEDED), 0));
	cr_expect(eq(uint, image_want(&f.image, UINT64_MAX, UINT64_MAX, IMAGE_NEEDED), 0));
	cr_expect(not(f.image.whole));
	need(&f, 1, UINT64_MAX);
	cr_expect(f.image.whole);
	expect_bytes(&f, 0, UINT64_MAX);
	check_sums(&f, 1);
	file_close(&f);
	teardown();
}

Test(image, a_big_want_is_split_into_requests)
{
	static struct file f;

	setup(IO_CASE_SYNC, 64 * MIB);
	file_open(&f, "a", 5 * MIB, 16);
	cr_expect(eq(uint, image_want(&f.image, 0, 5 * MIB, IMAGE_NEEDED), 80));
	cr_expect(eq(uint, f.image.needed_pending, 5));
	wait_ready(&f.image);
	cr_expect(eq(u64, io.statistics.reads, 5));
	expect_bytes(&f, 0, 5 * MIB);
	file_close(&f);
	teardown();
}

IO_METHOD_TEST(image, an_empty_file_is_whole)
{
	static struct file f;

	setup(*id, 16 * MIB);
	file_open(&f, "a", 0, 12);
	cr_expect(f.image.whole);
	cr_expect(eq(u64, f.image.block_count, 0));
	cr_expect(eq(uint, image_want(&f.image, 0, 100, IMAGE_NEEDED), 0));
	turn(false);
	file_close(&f);
	teardown();
}

IO_METHOD_TEST(image, forgotten_ranges_are_read_again)
{
	static struct file f;

	setup(*id, 16 * MIB);
	file_open(&f, "a", 100 * 4096, 12);
	need(&f, 0, UINT64_MAX);
	cr_expect(f.image.whole);
	f.bytes[5000] ^= 0x55;
	cr_assert(eq(int, (int)pwrite(f.fd, f.bytes + 5000, 1, 5000), 1));
	need(&f, 5000, 1);
	cr_expect(ne(int, f.image.base[5000], f.bytes[5000]), "it is resident");
	image_forget(&f.image, 5000, 1);
	cr_expect(not(f.image.whole));
	cr_expect(ne(int, f.image.base[5000], f.bytes[5000]), "its bytes stay");
	need(&f, 5000, 1);
	cr_expect(eq(int, f.image.base[5000], f.bytes[5000]));
	cr_expect(f.image.whole);
	/* In flight, it is read once more. */
	image_forget(&f.image, 0, 8 * 4096);
	image_want(&f.image, 0, 8 * 4096, IMAGE_NEEDED);
	image_pool_start(&pool);
	f.bytes[5000] ^= 0x33;
	cr_assert(eq(int, (int)pwrite(f.fd, f.bytes + 5000, 1, 5000), 1));
	image_forget(&f.image, 5000, 1);
	wait_ready(&f.image);
	cr_expect(eq(int, f.image.base[5000], f.bytes[5000]));
	cr_expect(f.image.whole);
	check_sums(&f, 1);
	file_close(&f);
	teardown();
}

IO_METHOD_TEST(image, a_truncated_file_gets_shorter)
{
	static struct file f;

	setup(*id, 16 * MIB);
	file_open(&f, "a", 100 * 4096, 12);
	need(&f, 90 * 4096, 4096);
	cr_assert(eq(int, ftruncate(f.fd, 50 * 4096 + 100), 0));
	need(&f, 40 * 4096, 30 * 4096);
	cr_expect(eq(u64, f.image.size_bytes, 50 * 4096 + 100));
	cr_expect(eq(u64, f.image.block_count, 51));
	cr_expect(eq(int, f.image.error, 0));
	expect_bytes(&f, 40 * 4096, UINT64_MAX);
	cr_expect(eq(uint, image_want(&f.image, 60 * 4096, 4096, IMAGE_NEEDED), 0));
	/* Wants beyond a new end that are pending end, too. */
	image_want(&f.image, 0, 4096, IMAGE_NEEDED);
	image_want(&f.image, 30 * 4096, 4096, IMAGE_NEEDED);
	cr_assert(eq(int, image_resize(&f.image, 20 * 4096), 0));
	wait_ready(&f.image);
	need(&f, 0, UINT64_MAX);
	expect_bytes(&f, 0, UINT64_MAX);
	cr_expect(f.image.whole);
	check_sums(&f, 1);
	file_close(&f);
	teardown();
}

IO_METHOD_TEST(image, a_growing_file_is_read_to_its_new_end)
{
	static struct file f;
	uint8_t more[10000];

	setup(*id, 16 * MIB);
	file_open(&f, "a", 10 * 4096 + 10, 12);
	need(&f, 0, UINT64_MAX);
	cr_expect(f.image.whole);
	memset(more, 0x77, sizeof(more));
	cr_assert(eq(int, (int)pwrite(f.fd, more, sizeof(more), 10 * 4096 + 10), 10000));
	f.bytes = realloc(f.bytes, 10 * 4096 + 10 + 10000);
	memcpy(f.bytes + 10 * 4096 + 10, more, 10000);
	f.size_bytes += 10000;
	cr_assert(eq(int, image_resize(&f.image, f.size_bytes), 0));
	cr_expect(not(f.image.whole));
	need(&f, 0, UINT64_MAX);
	expect_bytes(&f, 0, UINT64_MAX);
	cr_expect(f.image.whole);
	/* The same while the last block is being read. */
	image_forget(&f.image, f.size_bytes - 1, 1);
	image_want(&f.image, f.size_bytes - 1, 1, IMAGE_NEEDED);
	image_pool_start(&pool);
	cr_assert(eq(int, (int)pwrite(f.fd, more, 100, (off_t)f.size_bytes), 100));
	f.bytes = realloc(f.bytes, f.size_bytes + 100);
	memcpy(f.bytes + f.size_bytes, more, 100);
	f.size_bytes += 100;
	cr_assert(eq(int, image_resize(&f.image, f.size_bytes), 0));
	wait_ready(&f.image);
	expect_bytes(&f, 0, UINT64_MAX);
	cr_expect(f.image.whole);
	cr_expect(eq(int, image_resize(&f.image, 1ull << 63), -ENOSPC));
	check_sums(&f, 1);
	file_close(&f);
	teardown();
}

IO_METHOD_TEST(image, images_close_with_reads_in_flight)
{
	static struct file files[2];

	setup(*id, 16 * MIB);
	file_open(&files[0], "a", 4 * MIB, 12);
	file_open(&files[1], "b", 4 * MIB, 12);
	image_want(&files[0].image, 0, 100, IMAGE_NEEDED);
	image_want(&files[0].image, MIB, 2 * MIB, IMAGE_EXPECTED);
	image_want(&files[1].image, 0, 100, IMAGE_NEEDED);
	image_pool_start(&pool);
	image_want(&files[0].image, 3 * MIB, 4096, IMAGE_NEEDED);
	cr_expect(gt(uint, files[0].image.in_flight, 0));
	cr_expect(eq(int, image_close(&files[0].image), -EAGAIN));
	wait_ready(&files[1].image);
	expect_bytes(&files[1], 0, 100);
	file_close(&files[0]);
	check_sums(&files[1], 1);
	file_close(&files[1]);
	teardown();
}

Test(image, a_failed_read_is_an_answer)
{
	static struct file f;

	setup(IO_CASE_FAULT, 16 * MIB);
	buffer_open(&f, 100 * 4096, 12);
	io_fault_fail(&fault, f.fd, 50 * 4096 + 100, 50 * 4096 + 200, -EIO, 1000);
	cr_expect(eq(uint, image_want(&f.image, 40 * 4096, 20 * 4096, IMAGE_NEEDED), 20));
	wait_ready(&f.image);
	/* Only the block that is bad has failed. */
	cr_expect(eq(uint, image_want(&f.image, 40 * 4096, 20 * 4096, IMAGE_NEEDED), 0));
	cr_expect(eq(int, f.image.error, -EIO));
	expect_bytes(&f, 40 * 4096, 10 * 4096);
	expect_bytes(&f, 51 * 4096, 9 * 4096);
	for (uint64_t i = 40; i < 60; i++) {
		uint8_t state = f.image.blocks[i];

		cr_assert(eq(int, state &IMAGE_BLOCK_FAILED ? 1 : 0, i == 50));
		cr_assert(eq(int, state &IMAGE_BLOCK_RESIDENT ? 1 : 0, i != 50));
	}
	need(&f, 0, UINT64_MAX);
	cr_expect(not(f.image.whole));
	/* Forgetting is how to try again. */
	fault.rule_count = 0;
	image_forget(&f.image, 50 * 4096, 1);
	need(&f, 0, UINT64_MAX);
	cr_expect(f.image.whole);
	expect_bytes(&f, 0, UINT64_MAX);
	check_sums(&f, 1);
	file_close(&f);
	teardown();
}

Test(image, a_dead_disk_fails_reads_as_a_whole)
{
	static struct file f;

	setup(IO_CASE_FAULT, 64 * MIB);
	fault.eagain_percent = 0;
	fault.eintr_percent = 0;
	buffer_open(&f, 8 * MIB, 12);
	io_fault_fail(&fault, f.fd, 0, UINT64_MAX, -EIO, 1000000);
	need(&f, 0, UINT64_MAX);
	cr_expect(eq(u64, f.image.resident_count, 0));
	cr_expect(lt(u64, fault.failures, 100), "not one attempt per block");
	check_sums(&f, 1);
	file_close(&f);
	teardown();
}

Test(image, cancelled_blocks_are_missing_not_failed)
{
	static struct file f;
	struct io_op *op;

	setup(IO_CASE_FAULT, 16 * MIB);
	buffer_open(&f, 100 * 4096, 12);
	fault.never = true;
	image_want(&f.image, 0, 4096, IMAGE_NEEDED);
	turn(false);
	io_drain(&io);
	while ((op = io_next_done(&io)))
		image_pool_complete(&pool, op);
	cr_expect(eq(ptr, image_pool_next_ready(&pool), &f.image));
	cr_expect(eq(int, f.image.error, 0));
	fault.never = false;
	need(&f, 0, 4096);
	expect_bytes(&f, 0, 4096);
	file_close(&f);
	teardown();
}

/* Writes an event as a letter and the blocks that it is about. */
static void note_event(void *userdata, const struct image_event *event)
{
	char *text = userdata;
	size_t size = strlen(text);

	snprintf(text + size, 500 - size, "%c%u+%u ", "OWXRHEC"[event->kind],
		 (unsigned)(event->offset >> 12), (unsigned)((event->size_bytes + 4095) >> 12));
}

Test(image, a_trace_tells_what_happens_to_blocks)
{
	static struct file f;
	char text[500] = "";

	setup(IO_CASE_SYNC, 16 * MIB);
	pool.trace = note_event;
	pool.trace_userdata = text;
	file_open(&f, "a", 10 * 4096, 12);
	need(&f, 4096, 2 * 4096);
	image_want(&f.image, 8 * 4096, 4096, IMAGE_EXPECTED);
	turn(true);
	image_pool_trace_hits(&pool); /* nothing has been used */
	f.image.blocks[1] |= IMAGE_BLOCK_TOUCHED;
	f.image.blocks[2] |= IMAGE_BLOCK_TOUCHED;
	f.image.blocks[8] |= IMAGE_BLOCK_TOUCHED;
	image_pool_trace_hits(&pool);
	image_pool_trace_hits(&pool); /* each use is told once */
	file_close(&f);
	cr_expect(eq(str, text, (char *)"O0+10 W1+2 R1+2 W1+2 X8+1 R8+1 H1+2 H8+1 C0+10 "));
	teardown();
}
