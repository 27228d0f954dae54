/* SPDX-License-Identifier: MIT */
/* Seeking to an entry that is there, to one that has been removed, and to one of a sequence of
 * which no file is left. */
#include "tests/scan/harness.h"

#include <unistd.h>

#include "tests/support/fixture.h"

FOLDER_SUITE(seek_result, archive_make);

/* The cursor of an entry of the archive. */
static char *cursor_of(unsigned n, char *text)
{
	struct jscan *engine = archive_open(folder, JSCAN_IO_SYNC);
	const struct jscan_entry *entry;

	for (unsigned i = 0; i <= n; i++)
		cr_assert(eq(int, jscan_next(engine, &entry), 1));
	jscan_entry_cursor(entry, text);
	jscan_free(engine);
	return text;
}

/* What a seek answers, and that the entries from FIRST on come, or before it. */
static void expect(uint32_t method, const char *cursor, bool backward, unsigned limit,
		   enum jscan_seek_answer answer, const char *entries)
{
	struct jscan *engine = archive_open(folder, method);
	enum jscan_seek_answer got = (enum jscan_seek_answer)77;

	cr_assert(eq(int, jscan_set_direction(engine, backward ? JSCAN_BACKWARD : JSCAN_FORWARD),
		     0));
	cr_assert(eq(int, jscan_seek_cursor(engine, cursor), 0));
	cr_assert(eq(int, jscan_set_limit(engine, limit), 0));
	cr_assert(eq(int, jscan_seek_result(engine, &got), 0));
	cr_expect(eq(int, (int)got, (int)answer), "%s", cursor);
	expect_texts(collect(engine, DRIVE_NEXT), strdup(entries), cursor);
	/* It can be asked at any time, and the answer is the same. */
	cr_assert(eq(int, jscan_seek_result(engine, &got), 0));
	cr_expect(eq(int, (int)got, (int)answer), "%s", cursor);
	jscan_free(engine);
}

METHOD_TEST(seek_result, an_entry_that_is_there_is_found_exactly)
{
	char cursor[JSCAN_CURSOR_SIZE];

	expect(*method, cursor_of(0, cursor), false, 2, JSCAN_SEEK_EXACT, "0 1");
	expect(*method, cursor_of(50, cursor), false, 2, JSCAN_SEEK_EXACT, "50 51");
	expect(*method, cursor_of(50, cursor), true, 2, JSCAN_SEEK_EXACT, "50 49");
	expect(*method, cursor_of(ARCHIVE_LAST, cursor), false, 2, JSCAN_SEEK_EXACT, "119");
}

/* Removes the file that has an entry; the archive's entries take turns in three. */
static void vacuum(unsigned n)
{
	char *path = archive_path(folder, n % ARCHIVE_FILES);

	cr_assert(eq(int, unlink(path), 0));
	free(path);
}

METHOD_TEST(seek_result, an_entry_that_was_removed_leads_to_the_nearest)
{
	char cursor[JSCAN_CURSOR_SIZE], first[JSCAN_CURSOR_SIZE];

	jscan_free(archive_open(folder, *method)); /* skips without a ring */
	cursor_of(51, cursor);
	cursor_of(0, first);
	vacuum(51);
	expect(*method, cursor, false, 2, JSCAN_SEEK_NEAREST, "52 53");
	expect(*method, cursor, true, 2, JSCAN_SEEK_NEAREST, "50 49");
	expect(*method, first, false, 1, JSCAN_SEEK_NEAREST, "1");
}

METHOD_TEST(seek_result, a_sequence_of_which_no_file_is_left_is_gone)
{
	char cursor[JSCAN_CURSOR_SIZE];
	struct fixture_stamp stamp = { .seqnum = 51, .realtime = ARCHIVE_TIME(500) };
	struct fixture *fx;
	char *path;

	jscan_free(archive_open(folder, *method)); /* skips without a ring */
	cursor_of(50, cursor);
	for (unsigned f = 0; f < ARCHIVE_FILES; f++)
		vacuum(f);
	/* A file of another sequence, whose numbers are no answer. */
	fx = fixture_new(&(const struct fixture_options){ .seqnum_id = fixture_id(999),
							  .file_id = fixture_id(998) });
	path = test_path(folder, "other.journal");
	fixture_add(fx, &stamp, "MESSAGE=other", NULL);
	fixture_finish(fx);
	fixture_write(fx, path);
	expect(*method, cursor, false, 2, JSCAN_SEEK_GONE, "other");
	fixture_free(fx);
	free(path);
}

Test(seek_result, another_entry_under_the_number_is_not_the_one)
{
	char cursor[JSCAN_CURSOR_SIZE], *at = strstr(cursor_of(50, cursor), ";x=");

	cr_assert(at != NULL);
	strcpy(at, ";x=1234");
	expect(JSCAN_IO_SYNC, cursor, false, 1, JSCAN_SEEK_NEAREST, "50");
}

Test(seek_result, it_is_refused_where_no_number_was_sought)
{
	struct jscan *engine = archive_open(folder, JSCAN_IO_SYNC);
	const jscan_id id = archive_seqnum_id();
	enum jscan_seek_answer answer;

	cr_expect(eq(int, jscan_seek_result(engine, &answer), -EINVAL));
	jscan_seek_realtime(engine, ARCHIVE_TIME(3));
	cr_expect(eq(int, jscan_seek_result(engine, &answer), -EINVAL));
	jscan_seek_cursor(engine, "t=1");
	cr_expect(eq(int, jscan_seek_result(engine, &answer), -EINVAL));
	jscan_seek_seqnum(engine, &id, 7);
	cr_expect(eq(int, jscan_seek_result(engine, &answer), 0));
	cr_expect(eq(int, (int)answer, (int)JSCAN_SEEK_EXACT));
	jscan_seek_seqnum(engine, &id, 1007);
	cr_expect(eq(int, jscan_seek_result(engine, &answer), 0));
	cr_expect(eq(int, (int)answer, (int)JSCAN_SEEK_NEAREST));
	cr_assert(ge(int, jscan_fd(engine), 0));
	cr_expect(eq(int, jscan_seek_result(engine, &answer), -EBUSY));
	jscan_free(engine);
}
