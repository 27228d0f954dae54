/* SPDX-License-Identifier: MIT */
/*
 * Seals: verification keys, the tags of epochs, and files that are sealed well or badly. The tags
 * below are of a kind that journalctl 262 accepts: files that carry such were shown to it.
 */
#include <criterion/criterion.h>
#include <criterion/new/assert.h>
#include <stdio.h>

#include "config.h"
#include "tests/support/verify-file.h"

#define KEY "000102-030405-060708-090a0b/1cd278-35a4e900"
#define INTERVAL UINT64_C(900000000)
#define START (UINT64_C(0x1cd278) * INTERVAL)

/* ---- keys ------------------------------------------------------------------------------- */

Test(seal, keys_are_read_as_journalctl_reads_them)
{
	static const char *const same[] = {
		KEY,
		"000102030405060708090a0b/1cd278-35a4e900",
		"-00--01-02-03-04-05-06-07-08-09-0A-0B/0x1cd278- 35a4e900",
		KEY " and more",
	};

	for (unsigned i = 0; i < sizeof(same) / sizeof(same[0]); i++) {
		struct seal_key key;

		cr_assert(eq(int, seal_key_parse(same[i], &key), 0), "%s", same[i]);
		for (unsigned k = 0; k < SEAL_SEED_SIZE; k++)
			cr_assert(eq(uint, key.seed[k], k));
		cr_assert(eq(u64, key.start_usec, START));
		cr_assert(eq(u64, key.interval_usec, INTERVAL));
	}
}

Test(seal, what_is_no_key_is_refused)
{
	static const char *const bad[] = {
		"",
		"x",
		"000102-030405-060708-090a0b",
		"000102-030405-060708-090a0b/",
		"000102-030405-060708-090a0b/1",
		"000102-030405-060708-090a0b/1-",
		"000102-030405-060708-090a0b/1-0",
		"000102-030405-060708-090a0b/1--1",
		"000102-030405-060708-090a0b/1 -1",
		"000102-030405-060708-090a0/1-1",
		"0-00102-030405-060708-090a0b/1-1",
		"000102-030405-060708-090a0b-/1-1",
		" 000102-030405-060708-090a0b/1-1",
		"000102-030405-060708-090a0b/ffffffffffffffff-2",
		"000102-030405-060708-090a0b/10000000000000000-1",
	};

	for (unsigned i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
		struct seal_key key = { .start_usec = 7 };

		cr_assert(eq(int, seal_key_parse(bad[i], &key), -EKEYREJECTED), "%s", bad[i]);
		cr_assert(eq(u64, key.start_usec, 7));
	}
}

Test(seal, epochs_end_with_time)
{
	const struct seal_key key = { .start_usec = 100, .interval_usec = 10 };

	cr_assert(eq(u64, seal_key_epoch_start(&key, 0), 100));
	cr_assert(eq(u64, seal_key_epoch_start(&key, 3), 130));
	cr_assert(eq(u64, seal_key_epoch_start(&key, UINT64_MAX / 10), UINT64_MAX));
	cr_assert(eq(u64, seal_key_epoch_start(&key, UINT64_MAX), UINT64_MAX));
}

/* ---- tags ------------------------------------------------------------------------------- */

static struct seal *seal_make(void)
{
	struct seal_key key;
	struct seal *seal;

	cr_assert(eq(int, seal_key_parse(KEY, &key), 0));
	if (!HAVE_GCRYPT) {
		cr_assert(eq(int, seal_new(&key, &seal), -EOPNOTSUPP));
		cr_skip_test("a build without libgcrypt");
	}
	cr_assert(eq(int, seal_new(&key, &seal), 0));
	return seal;
}

/* The tag of a text in an epoch, as 64 digits. */
static void seal_tag(struct seal *seal, uint64_t epoch, char ret[2 * SEAL_TAG_SIZE + 1])
{
	uint8_t tag[SEAL_TAG_SIZE];

	cr_assert(eq(int, seal_begin(seal, epoch), 0));
	seal_put(seal, "a jou", 5);
	seal_put(seal, "rnal", 4);
	seal_end(seal, tag);
	for (unsigned i = 0; i < SEAL_TAG_SIZE; i++)
		snprintf(ret + 2 * i, 3, "%02x", tag[i]);
}

Test(seal, epochs_have_the_tags_that_they_always_had)
{
	static const struct {
		uint64_t epoch;
		const char *tag;
	} known[] = {
		{ 0, "a0d7662a8a8fe880596ac0f3fea93047a12448e2f369202986221ebefa5cc1be" },
		{ 1, "bc173b423ff13bcf5e99ca9e9c426f912be3a799f99a37cda2c2295f7717ccbe" },
		{ 64, "21dc1ac1de9edc40e315b9b38c1cce9d16b5699dba1f4b1160c223491fecd859" },
		{ 1000000, "f8dcb8bfc2abf65c968a7f3d8a802d7091c50d435919bc455b8089df3c212a58" },
		{ UINT64_C(1099511627776),
		  "4af7b406d0229ec2db1c82c0ac8d0a4c1d6fc9932b770b37118407bf7af422a7" },
	};
	struct seal *seal = seal_make();
	char tag[2 * SEAL_TAG_SIZE + 1];

	for (unsigned i = 0; i < sizeof(known) / sizeof(known[0]); i++) {
		seal_tag(seal, known[i].epoch, tag);
		cr_expect(eq(str, tag, (char *)known[i].tag));
	}
	seal_free(seal);
}

Test(seal, stepping_and_seeking_lead_to_the_same_state)
{
	char stepped[2 * SEAL_TAG_SIZE + 1], sought[2 * SEAL_TAG_SIZE + 1];
	struct seal *seal = seal_make();

	for (uint64_t epoch = 0; epoch < 300; epoch += 50)
		seal_tag(seal, epoch, stepped);
	seal_tag(seal, 299, stepped);
	seal_tag(seal, 0, sought);
	seal_tag(seal, 299, sought);
	cr_assert(eq(str, stepped, sought));
	seal_free(seal);
}

/* ---- sealed files ----------------------------------------------------------------------- */

/* A file with a tag at its head and one after each of three epochs; the last entry's second tag is
 * left to the caller. */
static struct fixture *sealed_new(bool continuous, bool online)
{
	struct fixture *fx = fixture_new(&(struct fixture_options){
		.sealed = true,
		.sealed_continuous = continuous,
		.compact = continuous,
		.keyed = continuous,
		.compression = OBJECT_ZSTD,
		.compress_from_bytes = 64,
		.state = online ? JOURNAL_STATE_ONLINE : JOURNAL_STATE_OFFLINE,
	});

	for (unsigned epoch = 0; epoch < 3; epoch++) {
		for (unsigned i = 0; i < 4; i++) {
			struct fixture_stamp stamp = {
				.realtime = START + epoch * INTERVAL + 1000000 * (i + 1),
			};
			char text[200];

			snprintf(text, sizeof(text), "MESSAGE=%u-%u-%0150u", epoch, i, i);
			fixture_add(fx, &stamp, text, "PRIORITY=6", NULL);
		}
		if (epoch < 2)
			fixture_tag(fx);
	}
	fixture_finish(fx);
	return fx;
}

Test(seal, sealed_files_pass_with_their_key)
{
	struct seal *seal = seal_make();

	for (unsigned i = 0; i < 4; i++) {
		struct fixture *fx = sealed_new(i % 2, i / 2);
		struct verify_result result;

		cr_assert(eq(int, fixture_seal(fx, seal), 0));
		cr_assert(eq(int, verify_file(fx, WINDOW_DRIVER_BLOCKS, seal, false, &result), 0),
			  "%s", result.details[result.detail_count - 1].text);
		cr_assert(result.sealed && result.validated);
		cr_assert(eq(u64, result.first_entry_usec, START + 1000000));
		cr_assert(eq(u64, result.last_entry_usec, START + 2 * INTERVAL + 4000000));
		/* One that was not closed has no tag after its last entries. */
		cr_assert(eq(u64, result.validated_until_usec, START + (i / 2 ? 2 : 3) * INTERVAL));
		/* A sequence that may have gaps is worth a line. */
		cr_assert(eq(uint, result.detail_count, i % 2 ? 0 : 1));
		fixture_free(fx);
	}
	seal_free(seal);
}

Test(seal, without_a_key_sealed_files_are_not_looked_at)
{
	struct fixture *fx = sealed_new(true, false);
	struct verify_result result;

	cr_assert(eq(int, verify_file(fx, WINDOW_DRIVER_BLOCKS, NULL, false, &result), -ENOKEY));
	cr_assert(result.sealed && !result.validated);
	fixture_free(fx);
}

/* Verifies a file with one lie in it: the last line must begin like this. */
static void sealed_expect(struct fixture *fx, struct seal *seal, uint64_t offset, const char *text)
{
	struct verify_result result;
	const struct verify_detail *detail;

	cr_assert(eq(int, verify_file(fx, WINDOW_DRIVER_BLOCKS, seal, false, &result), -EBADMSG),
		  "%s", text);
	detail = &result.details[result.detail_count - 1];
	cr_expect(eq(int, strncmp(detail->text, text, strlen(text)), 0), "\"%s\" instead of \"%s\"",
		  detail->text, text);
	cr_expect(eq(u64, detail->offset, offset));
	fixture_free(fx);
}

Test(seal, what_was_changed_after_sealing_is_found)
{
	struct seal *seal = seal_make();
	struct fixture *fx;
	uint64_t tag, at;

	/* In an entry of the second epoch: what its checksum over the fields says. */
	fx = sealed_new(true, false);
	cr_assert(eq(int, fixture_seal(fx, seal), 0));
	at = fixture_find_entry(fx, 5) + ENTRY_XOR_HASH;
	fixture_put64(fx, at, fixture_get64(fx, at) ^ 1);
	sealed_expect(fx, seal, fixture_find_object(fx, OBJECT_TAG, 2), "Tag failed verification");

	/* In the header. */
	fx = sealed_new(true, false);
	cr_assert(eq(int, fixture_seal(fx, seal), 0));
	fixture_put8(fx, HEADER_MACHINE_ID, 1);
	sealed_expect(fx, seal, fixture_find_object(fx, OBJECT_TAG, 0), "Tag failed verification");

	/* In the tag. */
	fx = sealed_new(false, false);
	cr_assert(eq(int, fixture_seal(fx, seal), 0));
	tag = fixture_find_object(fx, OBJECT_TAG, 3);
	fixture_put8(fx, tag + TAG_TAG + 31, (uint8_t)(fixture_get8(fx, tag + TAG_TAG + 31) ^ 1));
	sealed_expect(fx, seal, tag, "Tag failed verification");
	seal_free(seal);
}

Test(seal, tags_and_entries_keep_their_order)
{
	static const struct {
		unsigned tag;
		unsigned offset;
		uint64_t value;
		bool continuous;
		const char *text;
	} lies[] = {
		{ 2, TAG_SEQNUM, 9, true, "Tag sequence number out of synchronization (9 != 3)" },
		{ 3, TAG_EPOCH, 3, true, "Epoch sequence not continuous (3 vs 1)" },
		{ 3, TAG_EPOCH, 0, false, "Epoch sequence out of synchronization (0 < 1)" },
		{ 1, TAG_EPOCH, 1, true, "Entry realtime (" /* ... is too early ... */ },
		{ 2, TAG_EPOCH, 0, false, "tag/entry realtime timestamp out of synchronization (" },
	};
	struct seal *seal = seal_make();

	for (unsigned i = 0; i < sizeof(lies) / sizeof(lies[0]); i++) {
		struct fixture *fx = sealed_new(lies[i].continuous, false);
		uint64_t tag = fixture_find_object(fx, OBJECT_TAG, lies[i].tag);

		fixture_put64(fx, tag + lies[i].offset, lies[i].value);
		cr_assert(eq(int, fixture_seal(fx, seal), 0));
		sealed_expect(fx, seal, tag, lies[i].text);
	}
	seal_free(seal);
}

Test(seal, entries_lie_in_the_epochs_of_their_tags)
{
	struct seal *seal = seal_make();
	struct fixture *fx = sealed_new(true, false);
	uint64_t entry = fixture_find_entry(fx, 5);

	/* Too late, but not the last one before its tag. */
	fixture_put64(fx, entry + ENTRY_REALTIME, START + 5 * INTERVAL);
	cr_assert(eq(int, fixture_seal(fx, seal), 0));
	sealed_expect(fx, seal, fixture_find_object(fx, OBJECT_TAG, 2), "Entry realtime (");

	/* Older than the epoch of the tag before it. */
	fx = sealed_new(true, false);
	entry = fixture_find_entry(fx, 9);
	fixture_put64(fx, entry + ENTRY_REALTIME, START + 1);
	cr_assert(eq(int, fixture_seal(fx, seal), 0));
	sealed_expect(fx, seal, entry, "Older entry after newer tag (");

	/* A file that says it is sealed and begins without a tag. */
	fx = fixture_new(NULL);
	entry = fixture_add(fx, NULL, "MESSAGE=1", NULL);
	fixture_finish(fx);
	fixture_put32(fx, HEADER_COMPATIBLE_FLAGS,
		      JOURNAL_COMPATIBLE_SEALED | JOURNAL_COMPATIBLE_SEALED_CONTINUOUS);
	sealed_expect(fx, seal, entry, "First entry before first tag");
	seal_free(seal);
}
