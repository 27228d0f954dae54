/* SPDX-License-Identifier: MIT */
/*
 * Clocks that step back: where reading begins at a bound, what is still found, and in which order
 * boots come. Entries are journalctl 262's for the same files; its boot lists lack some of them.
 */
#include "tests/scan/harness.h"
#include "tests/support/fixture.h"

#define SECOND UINT64_C(1000000)
#define AT(seconds) (FIXTURE_REALTIME + (uint64_t)(seconds) * SECOND)

FOLDER_SUITE(clocks, test_folder_make);

/* An entry: its clocks in seconds, its boot, what it says. */
struct line {
	unsigned realtime, monotonic, boot;
	const char *message;
};

/* Writes a file of one sequence and machine, so that boots are not ranked; LINES end with one that
 * says nothing. */
static void make_file(unsigned number, const struct line *lines)
{
	struct fixture *fx = fixture_new(&(const struct fixture_options){
		.file_id = fixture_id(100 + number), .seqnum_id = fixture_id(200 + number),
		.machine_id = fixture_id(300 + number), .id_fields = true });
	char name[32], *path;

	for (unsigned i = 0; lines[i].message; i++) {
		struct fixture_stamp stamp = { .seqnum = i + 1,
					       .realtime = AT(lines[i].realtime),
					       .monotonic = lines[i].monotonic * SECOND,
					       .boot_id = fixture_id(lines[i].boot) };
		char message[32];

		snprintf(message, sizeof(message), "MESSAGE=%s", lines[i].message);
		fixture_add(fx, &stamp, message, NULL);
	}
	fixture_finish(fx);
	snprintf(name, sizeof(name), "file-%u.journal", number);
	path = test_path(folder, name);
	fixture_write(fx, path);
	free(path);
	fixture_free(fx);
}

static struct jscan *open_engine(void)
{
	struct jscan *engine;

	cr_assert(eq(int, jscan_new(NULL, &engine), 0));
	cr_assert(eq(int, jscan_add_directory(engine, folder, 0), 0));
	return engine;
}

/* Expects these messages between two times, in one direction; UNTIL 0: no end. */
static void expect_between(unsigned since, unsigned until, bool backward, const char *expected)
{
	for (enum drive how = 0; how < DRIVE_COUNT; how++) {
		struct jscan *engine = open_engine();
		char *text;

		jscan_set_direction(engine, backward ? JSCAN_BACKWARD : JSCAN_FORWARD);
		jscan_set_bounds(engine, since ? AT(since) : 0, until ? AT(until) : UINT64_MAX);
		text = collect(engine, how);
		cr_expect(eq(str, text, (char *)expected), "driven in way %u", how);
		free(text);
		jscan_free(engine);
	}
}

Test(clocks, file_that_ends_before_a_bound_is_looked_into)
{
	make_file(1, (const struct line[]){ { 11, 1, 1, "a" }, { 12, 2, 1, "b" }, { 13, 3, 1, "c" },
					    { 99, 4, 1, "d" }, { 14, 5, 1, "e" }, { 15, 6, 1, "f" },
					    { 16, 7, 1, "g" }, { 17, 8, 1, "h" }, { 0 } });
	expect_between(50, 0, false, "d e f g h");
	expect_between(0, 50, true, "c b a");
}

Test(clocks, file_without_anything_at_a_bound_is_looked_at_from_the_first_entry)
{
	make_file(1, (const struct line[]){ { 90, 10, 1, "a" }, { 95, 20, 1, "c" }, { 0 } });
	make_file(2, (const struct line[]){ { 40, 15, 1, "b" }, { 45, 25, 1, "d" }, { 0 } });
	expect_between(80, 0, false, "a b c d");
}

/* Boots as letters, "a" being boot 1: as they are listed, and as they begin. */
struct boots {
	char text[20], begin[20];
	unsigned count;
};

static int note_boot(void *userdata, const struct jscan_boot *boot)
{
	struct boots *boots = userdata;

	for (unsigned i = 1; i < 10; i++) {
		struct id128 id = fixture_id(i);

		if (memcmp(&id, &boot->boot_id, sizeof(id)) == 0) {
			boots->text[boots->count++] = (char)('a' + i - 1);
			boots->begin[boot->first_rank] = (char)('a' + i - 1);
		}
	}
	return 0;
}

/* Expects boots to end, and to begin, in these orders, and the newest to be found one by one. */
static void expect_boots(const char *expected, const char *begin)
{
	struct jscan *engine = open_engine();
	struct boots boots = { 0 };

	cr_assert(eq(int, jscan_list_boots(engine, note_boot, &boots), 0));
	cr_expect(eq(str, boots.text, (char *)expected));
	cr_expect(eq(str, boots.begin, (char *)begin));
	for (uint64_t back = 0; back <= boots.count; back++) {
		struct jscan_boot boot = { .first_rank = 0 };
		struct boots one = { 0 };
		int r = jscan_newest_boot(engine, back, &boot.boot_id);

		cr_assert(eq(int, r, back < boots.count));
		if (r > 0)
			note_boot(&one, &boot);
		cr_expect(eq(chr, one.text[0], r > 0 ? boots.text[boots.count - 1 - back] : 0));
	}
	jscan_free(engine);
}

Test(clocks, boots_of_one_sequence_come_by_its_numbers)
{
	make_file(1, (const struct line[]){ { 50, 1, 1, "" }, { 60, 2, 1, "" }, { 10, 1, 2, "" },
					    { 20, 2, 2, "" }, { 0 } });
	expect_boots("ab", "ab");
}

Test(clocks, boot_waits_for_what_lies_before_it_in_its_file)
{
	make_file(1, (const struct line[]){ { 20, 1, 1, "" }, { 70, 51, 1, "" }, { 10, 1, 2, "" },
					    { 12, 3, 2, "" }, { 0 } });
	make_file(2, (const struct line[]){ { 30, 1, 3, "" }, { 80, 51, 3, "" }, { 0 } });
	expect_boots("abc", "acb");
}

/* Of each two boots the keys of their first entries go in a circle here. */
Test(clocks, boots_begin_as_they_are_met)
{
	make_file(1, (const struct line[]){ { 30, 1, 1, "" }, { 40, 11, 1, "" }, { 5, 1, 2, "" },
					    { 6, 2, 2, "" }, { 0 } });
	make_file(2, (const struct line[]){ { 20, 1, 3, "" }, { 21, 2, 3, "" }, { 0 } });
	expect_boots("abc", "cab");
}

Test(clocks, boot_within_another_comes_before_it)
{
	make_file(1, (const struct line[]){ { 10, 1, 1, "" }, { 90, 81, 1, "" }, { 0 } });
	make_file(2, (const struct line[]){ { 30, 1, 2, "" }, { 40, 11, 2, "" }, { 0 } });
	expect_boots("ba", "ab");
}

/* The newest boot is that of the entry from which reading backward begins. */
Test(clocks, newest_boot_is_where_reading_backward_begins)
{
	make_file(1, (const struct line[]){ { 20, 1, 1, "" }, { 30, 2, 1, "x" }, { 60, 1, 2, "" },
					    { 15, 2, 2, "y" }, { 0 } });
	make_file(2, (const struct line[]){ { 40, 1, 3, "" }, { 50, 2, 3, "z" }, { 0 } });
	expect_boots("abc", "acb");
	expect_between(0, 0, true, "z  y  x ");
}
