/* SPDX-License-Identifier: MIT */
/*
 * Verification: valid files pass in every layout, hostile ones end, and files that are being
 * written get the benefit of the doubt. Which line each kind of damage gets is tested in
 * test-verify-lies.c.
 */
#include <criterion/criterion.h>
#include <criterion/new/assert.h>
#include <criterion/parameterized.h>
#include <stdio.h>

#include "tests/support/layouts.h"
#include "tests/support/verify-file.h"

/* ---- valid files ------------------------------------------------------------------------ */

ParameterizedTestParameters(verify, valid_files_pass_in_every_layout)
{
	return cr_make_param_array(struct layout, layouts, LAYOUT_COUNT);
}

ParameterizedTest(struct layout *l, verify, valid_files_pass_in_every_layout)
{
	static const enum window_driver_mode modes[] = { WINDOW_DRIVER_WHOLE, WINDOW_DRIVER_BLOCKS,
							 WINDOW_DRIVER_RUN };
	struct verify_result result;
	struct fixture *fx;

	if (!fixture_can_compress(l->compression))
		cr_skip_test("this build lacks the compression");
	fx = story_new(l);
	for (unsigned i = 0; i < 3; i++) {
		int r = verify_file(fx, modes[i], NULL, false, &result);

		if (l->sealed) {
			cr_assert(eq(int, r, -ENOKEY));
			cr_assert(eq(uint, result.detail_count, 0));
		} else if (l->header_size % 8) {
			/* No object begins where the header ends. */
			cr_assert(eq(int, r, -EBADMSG));
			cr_assert(eq(str, result.details[0].text,
				     (char *)"Invalid object: Bad message"));
			cr_assert(eq(u64, result.details[0].offset, l->header_size));
		} else {
			cr_assert(eq(int, r, 0), "%s", result.details[0].text);
			cr_assert(eq(u64, result.entries, STORY_ENTRIES));
			cr_assert(eq(u64, result.unchecked, 0));
			cr_assert(eq(u64, result.first_entry_usec, FIXTURE_REALTIME));
		}
	}
	fixture_free(fx);
}

Test(verify, files_without_entries_pass)
{
	struct fixture *fx = fixture_new(NULL);
	struct verify_result result;

	fixture_finish(fx);
	cr_assert(eq(int, verify_file(fx, WINDOW_DRIVER_BLOCKS, NULL, false, &result), 0));
	cr_assert(eq(u64, result.last_entry_usec, 0));
	fixture_free(fx);
}

Test(verify, data_that_no_entry_refers_to_is_no_damage)
{
	struct fixture *fx = fixture_new(NULL);
	struct verify_result result;

	fixture_add(fx, NULL, "MESSAGE=1", NULL);
	fixture_orphan(fx, "MESSAGE=orphan", 14);
	fixture_finish(fx);
	cr_assert(eq(int, verify_file(fx, WINDOW_DRIVER_WHOLE, NULL, false, &result), 0));
	fixture_free(fx);
}

Test(verify, the_last_entry_may_lack_in_sets)
{
	struct fixture *fx = verify_small_new((struct fixture_options){ 0 });
	uint64_t data = fixture_find_text(fx, VERIFY_SMALL_SHARED);
	struct verify_result result;

	/* As a writer leaves it that ran out of space. */
	fixture_put64(fx, data + DATA_N_ENTRIES, VERIFY_SMALL_ENTRIES - 1);
	cr_assert(eq(int, verify_file(fx, WINDOW_DRIVER_WHOLE, NULL, false, &result), 0));
	fixture_put64(fx, data + DATA_N_ENTRIES, VERIFY_SMALL_ENTRIES - 2);
	cr_assert(eq(int, verify_file(fx, WINDOW_DRIVER_WHOLE, NULL, false, &result), -EBADMSG));
	fixture_free(fx);
}

Test(verify, large_payloads_are_counted_not_checked)
{
	struct fixture *fx = fixture_new(&(struct fixture_options){ .compression = OBJECT_ZSTD });
	size_t size = 3 << 20;
	char *text = malloc(size);
	struct fixture_field field = { text, size };
	struct verify_result result;

	cr_assert(text != NULL);
	memset(text, 'x', size);
	memcpy(text, "LONG=", 5);
	fixture_entry(fx, NULL, &field, 1);
	fixture_finish(fx);
	cr_assert(eq(int, verify_file(fx, WINDOW_DRIVER_WHOLE, NULL, false, &result), 0));
	cr_assert(eq(u64, result.unchecked, 1));
	free(text);
	fixture_free(fx);
}

/* ---- hostile files ---------------------------------------------------------------------- */

Test(verify, shared_arrays_are_not_walked_for_ever, .timeout = 60)
{
	struct fixture *fx = fixture_new(&(struct fixture_options){ .data_buckets = 4096 });
	struct verify_result result;
	uint64_t shared, array;
	char message[32];

	/* A thousand data objects claim the set of one that has a thousand entries. */
	for (unsigned i = 0; i < 3000; i++) {
		snprintf(message, sizeof(message), "MESSAGE=%u", i);
		fixture_add(fx, NULL, message, VERIFY_SMALL_SHARED, NULL);
	}
	fixture_finish(fx);
	shared = fixture_find_text(fx, VERIFY_SMALL_SHARED);
	array = fixture_get64(fx, shared + DATA_ENTRY_ARRAY_OFFSET);
	for (unsigned i = 0; i < 3000; i++) {
		uint64_t data;

		snprintf(message, sizeof(message), "MESSAGE=%u", i);
		data = fixture_find_text(fx, message);
		fixture_put64(fx, data + DATA_ENTRY_OFFSET, fixture_find_entry(fx, 0));
		fixture_put64(fx, data + DATA_ENTRY_ARRAY_OFFSET, array);
		fixture_put64(fx, data + DATA_N_ENTRIES, 3000);
	}
	cr_assert(eq(int, verify_file(fx, WINDOW_DRIVER_WHOLE, NULL, false, &result), -EUCLEAN));
	cr_assert(eq(str, result.details[0].text, (char *)"Data objects share their entry arrays"));
	fixture_free(fx);
}

/* ---- files that are being written ------------------------------------------------------- */

Test(verify, a_snapshot_ignores_what_came_after_it)
{
	struct fixture *fx =
		verify_small_new((struct fixture_options){ .state = JOURNAL_STATE_ONLINE });
	uint8_t header[HEADER_SIZE_MAX];
	struct verify_result result;

	memcpy(header, fixture_bytes(fx), sizeof(header));
	for (unsigned i = 0; i < 50; i++)
		fixture_add(fx, NULL, i % 2 ? VERIFY_SMALL_SINGLE : "MESSAGE=later",
			    VERIFY_SMALL_SHARED, "NEW=1", NULL);
	fixture_finish(fx);
	/* The header as it was, everything else as it is now. */
	fixture_poke(fx, 0, header, sizeof(header));
	fixture_put64(fx, HEADER_ARENA_SIZE, fixture_size(fx) - HEADER_SIZE_MAX);
	cr_assert(lt(int, verify_file(fx, WINDOW_DRIVER_WHOLE, NULL, false, &result), 0));
	cr_assert(eq(int, verify_file(fx, WINDOW_DRIVER_BLOCKS, NULL, true, &result), 0), "%s",
		  result.details[0].text);
	cr_assert(eq(u64, result.entries, VERIFY_SMALL_ENTRIES));
	fixture_free(fx);
}

Test(verify, a_snapshot_tolerates_sets_that_lag_behind)
{
	struct fixture *fx =
		verify_small_new((struct fixture_options){ .state = JOURNAL_STATE_ONLINE });
	uint64_t data = fixture_find_text(fx, VERIFY_SMALL_SHARED);
	struct verify_result result;

	fixture_put64(fx, data + DATA_N_ENTRIES, VERIFY_SMALL_ENTRIES - 2);
	cr_assert(lt(int, verify_file(fx, WINDOW_DRIVER_WHOLE, NULL, false, &result), 0));
	cr_assert(eq(int, verify_file(fx, WINDOW_DRIVER_WHOLE, NULL, true, &result), 0));
	fixture_put64(fx, data + DATA_N_ENTRIES, VERIFY_SMALL_ENTRIES - 3);
	cr_assert(lt(int, verify_file(fx, WINDOW_DRIVER_WHOLE, NULL, true, &result), 0));
	fixture_free(fx);
}

Test(verify, a_snapshot_finds_damage_before_its_horizon)
{
	struct fixture *fx =
		verify_small_new((struct fixture_options){ .state = JOURNAL_STATE_ONLINE });
	uint64_t offset = verify_small_change_payload(fx);
	struct verify_result result;

	cr_assert(eq(int, verify_file(fx, WINDOW_DRIVER_WHOLE, NULL, true, &result), -EBADMSG));
	cr_assert(eq(u64, result.details[0].offset, offset));
	fixture_free(fx);
}
