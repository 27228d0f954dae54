/* SPDX-License-Identifier: MIT */
/* Cursors as journalctl 262 takes them; each case was tried there. */
#include <criterion/criterion.h>
#include <criterion/new/assert.h>
#include <stdio.h>
#include <string.h>

#include "engine/cursor.h"
#include "engine/engine.h"

#define S "s=000102030405060708090a0b0c0d0e0f"
#define B "b=f0f1f2f3f4f5f6f7f8f9fafbfcfdfeff"

enum { SEQNUM = 1, MONOTONIC = 2, REALTIME = 4, HASH = 8 };

static const uint8_t seqnum_id[16] = { 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15 };
static const uint8_t boot_id[16] = { 0xf0, 0xf1, 0xf2, 0xf3, 0xf4, 0xf5, 0xf6, 0xf7,
				     0xf8, 0xf9, 0xfa, 0xfb, 0xfc, 0xfd, 0xfe, 0xff };

/* Which of the groups a place has. */
static unsigned groups(const struct engine_seek *seek)
{
	return (seek->has_seqnum ? SEQNUM : 0u) | (seek->has_monotonic ? MONOTONIC : 0u) |
	       (seek->has_realtime ? REALTIME : 0u) | (seek->has_hash ? HASH : 0u);
}

Test(cursor, a_printed_cursor_gives_every_part)
{
	struct engine_seek seek;

	cr_assert(eq(int, cursor_parse(S ";i=1f;" B ";m=2a;t=614e81321a597;x=fedcba9876543210",
				       &seek), 0));
	cr_expect(eq(int, seek.kind, SEEK_PLACE));
	cr_expect(eq(u32, groups(&seek), SEQNUM | MONOTONIC | REALTIME | HASH));
	cr_expect(eq(int, memcmp(seek.seqnum_id.bytes, seqnum_id, 16), 0));
	cr_expect(eq(int, memcmp(seek.boot_id.bytes, boot_id, 16), 0));
	cr_expect(eq(u64, seek.seqnum, 0x1f));
	cr_expect(eq(u64, seek.monotonic, 0x2a));
	cr_expect(eq(u64, seek.realtime, UINT64_C(0x614e81321a597)));
	cr_expect(eq(u64, seek.hash, UINT64_C(0xfedcba9876543210)));
}

Test(cursor, one_complete_group_is_enough)
{
	static const struct {
		const char *text;
		unsigned groups; /* 0: refused */
	} cases[] = {
		{ "t=1", REALTIME },
		{ S ";i=1", SEQNUM },
		{ "i=1;" S, SEQNUM },
		{ B ";m=1", MONOTONIC },
		{ S ";t=1", REALTIME },
		{ S ";" B ";t=1", REALTIME },
		{ "x=1;t=1", REALTIME | HASH },
		{ "q=anything at all;t=1", REALTIME },
		{ "t=1;T=2", REALTIME },
		{ "", 0 },
		{ S, 0 },
		{ "i=1", 0 },
		{ B, 0 },
		{ "m=1", 0 },
		{ "x=1", 0 },
		{ S ";m=1", 0 },
		{ B ";i=1", 0 },
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct engine_seek seek;
		int r = cursor_parse(cases[i].text, &seek);

		cr_expect(eq(int, r, cases[i].groups ? 0 : -EINVAL), "%s", cases[i].text);
		if (r == 0)
			cr_expect(eq(u32, groups(&seek), cases[i].groups), "%s", cases[i].text);
	}
}

Test(cursor, parts_are_a_letter_a_sign_and_a_value)
{
	static const char *const wrong[] = {
		"t=1;", ";t=1", "t=1;;i=1", "t", "t1", "=1", "tt=1", "t=1;x", " t=1", "t =1",
		"nonsense", "t=1;nonsense",
	};

	for (size_t i = 0; i < sizeof(wrong) / sizeof(wrong[0]); i++) {
		struct engine_seek seek;

		cr_expect(eq(int, cursor_parse(wrong[i], &seek), -EINVAL), "%s", wrong[i]);
	}
}

Test(cursor, numbers_are_read_like_scanf_reads_them)
{
	static const struct {
		const char *text;
		bool refused;
		uint64_t value;
	} cases[] = {
		{ "t=0", false, 0 },
		{ "t=000ff", false, 0xff },
		{ "t=FF", false, 0xff },
		{ "t=0xff", false, 0xff },
		{ "t=0Xff", false, 0xff },
		{ "t= \t+ff", false, 0xff },
		{ "t=-1", false, UINT64_MAX },
		{ "t=ffg", false, 0xff },
		{ "t=ff rest", false, 0xff },
		{ "t=10x1", false, 0x10 },
		{ "t=ffffffffffffffff", false, UINT64_MAX },
		{ "t=", true, 0 },
		{ "t=g", true, 0 },
		{ "t= ", true, 0 },
		{ "t=+", true, 0 },
		{ "t=0x", true, 0 },
		{ "t=0xg", true, 0 },
		{ "t=-0X", true, 0 },
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct engine_seek seek;
		int r = cursor_parse(cases[i].text, &seek);

		cr_expect(eq(int, r, cases[i].refused ? -EINVAL : 0), "%s", cases[i].text);
		if (r == 0)
			cr_expect(eq(u64, seek.realtime, cases[i].value), "%s", cases[i].text);
	}
}

Test(cursor, ids_have_32_digits_or_dashes_in_their_places)
{
	static const struct {
		const char *id;
		bool good;
	} cases[] = {
		{ "f0f1f2f3f4f5f6f7f8f9fafbfcfdfeff", true },
		{ "F0F1F2F3F4F5F6F7F8F9FAFBFCFDFEFF", true },
		{ "f0f1f2f3-f4f5-f6f7-f8f9-fafbfcfdfeff", true },
		{ "f0f1f2f3-f4f5-f6f7-f8f9-FAFBFCFDFEFF", true },
		{ "", false },
		{ "f0f1f2f3f4f5f6f7f8f9fafbfcfdfef", false },
		{ "f0f1f2f3f4f5f6f7f8f9fafbfcfdfeff0", false },
		{ "g0f1f2f3f4f5f6f7f8f9fafbfcfdfeff", false },
		{ "f0f1f2f3f-4f5-f6f7-f8f9-fafbfcfdfeff", false },
		{ "f0f1f2f3-f4f5-f6f7-f8f9fafbfcfdfeff-", false },
		{ "f0f1f2f3-f4f5-f6f7-f8f9-fafbfcfdfe-f", false },
		{ " f0f1f2f3f4f5f6f7f8f9fafbfcfdfeff", false },
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct engine_seek seek;
		char text[100];
		int r;

		snprintf(text, sizeof(text), "b=%s;m=1", cases[i].id);
		r = cursor_parse(text, &seek);
		cr_expect(eq(int, r, cases[i].good ? 0 : -EINVAL), "%s", text);
		if (r == 0)
			cr_expect(eq(int, memcmp(seek.boot_id.bytes, boot_id, 16), 0), "%s", text);
	}
}

Test(cursor, the_last_of_equal_letters_counts)
{
	struct engine_seek seek;

	cr_assert(eq(int, cursor_parse("t=1;t=2;i=3;" S ";i=4", &seek), 0));
	cr_expect(eq(u64, seek.realtime, 2));
	cr_expect(eq(u64, seek.seqnum, 4));
	cr_expect(eq(int, cursor_parse("t=1;t=x", &seek), -EINVAL));
}

Test(cursor, a_backslash_takes_the_next_character_as_it_is)
{
	struct engine_seek seek;

	cr_assert(eq(int, cursor_parse("\\t\\=\\1", &seek), 0));
	cr_expect(eq(u64, seek.realtime, 1));
	cr_assert(eq(int, cursor_parse("t=1\\;i=x", &seek), 0), "no part of its own");
	cr_expect(eq(int, cursor_parse("t=1\\", &seek), -EINVAL));
}

Test(cursor, a_refused_cursor_leaves_the_result_alone)
{
	struct engine_seek seek = { .realtime = 77 };

	cr_assert(eq(int, cursor_parse("t=1;x=", &seek), -EINVAL));
	cr_expect(eq(u64, seek.realtime, 77));
}

Test(cursor, an_entry_is_both_of_equal_letters)
{
	const struct entry_object entry = { .realtime = 7 };
	struct id128 id = { 0 };
	struct engine_seek seek;

	cr_assert(eq(int, cursor_parse("t=7;t=7", &seek), 0));
	cr_expect(cursor_is_at(&seek, &id, &entry));
	cr_assert(eq(int, cursor_parse("t=5;t=7", &seek), 0));
	cr_expect(not(cursor_is_at(&seek, &id, &entry)));
}

Test(cursor, a_place_lies_ahead_of_what_comes_before_it)
{
	struct entry_object entry = { .seqnum = 4, .realtime = 9, .monotonic = 3 };
	struct engine_seek seek;
	struct id128 id, other = { 0 };

	memcpy(id.bytes, seqnum_id, 16);
	memcpy(entry.boot_id.bytes, boot_id, 16);
	cr_assert(eq(int, cursor_parse(S ";i=5;" B ";m=3;t=9", &seek), 0));
	cr_expect(cursor_is_ahead(&seek, &id, &entry));
	cr_expect(not(cursor_is_ahead(&seek, &other, &entry)));
	entry.monotonic = 2;
	cr_expect(cursor_is_ahead(&seek, &other, &entry));
	entry.boot_id = other;
	cr_expect(not(cursor_is_ahead(&seek, &other, &entry)));
	entry.realtime = 8;
	cr_expect(cursor_is_ahead(&seek, &other, &entry));
	cr_expect(not(cursor_is_ahead(&(struct engine_seek){ .kind = SEEK_TAIL }, &id, &entry)));
}
