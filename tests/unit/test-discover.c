/* SPDX-License-Identifier: MIT */
/* Which files a directory or a pattern stands for. */
#include <criterion/criterion.h>
#include <criterion/new/assert.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include "engine/engine.h"
#include "tests/support/io-methods.h"

#define ID "0123456789abcdef0123456789abcdef"
#define DASHED "01234567-89AB-cdef-0123-456789abcdef"

static char *folder;
static struct jscan *engine;
static unsigned problem_count;

static void take_problem(void *userdata, const struct jscan_problem *problem)
{
	(void)userdata;
	cr_expect(eq(int, (int)problem->reason, JSCAN_REASON_OPEN));
	problem_count++;
}

static void setup(void)
{
	folder = test_folder_make();
	cr_assert(eq(int, jscan_new(NULL, &engine), 0));
	jscan_set_problem_handler(engine, take_problem, NULL);
}

static void teardown(void)
{
	jscan_free(engine);
	folder = test_folder_remove(folder);
}

TestSuite(discover, .init = setup, .fini = teardown);

/* Makes an empty file, or a folder where the name ends in a slash. */
static void make(const char *name)
{
	char *path = test_path(folder, name);

	if (name[strlen(name) - 1] == '/')
		cr_assert(eq(int, mkdir(path, 0700), 0));
	else
		close(open(path, O_WRONLY | O_CREAT | O_CLOEXEC, 0600));
	free(path);
}

/* The names that were found, below the folder, in order; a blank after each. */
static void expect_found(const char *expected)
{
	char found[2000] = "";

	for (size_t i = 0; i < engine->source_count; i++) {
		cr_assert(eq(int, strncmp(engine->sources[i]->path, folder, strlen(folder)), 0));
		strcat(found, engine->sources[i]->path + strlen(folder) + 1);
		strcat(found, " ");
	}
	cr_expect(eq(str, found, (char *)expected));
}

Test(discover, names_end_in_journal_and_come_in_the_order_of_their_bytes)
{
	static const char *const names[] = {
		"b.journal", "a.journal", "a@1.journal", "Z.journal~", ".journal",
		".hidden.journal",
		"a.journal.zst", "b.journal~.gz", "c.journal.bz2", ".zst", "a.journal~~",
		"journal", "a.JOURNAL", "\xc3\xa4.journal",
		"a b.journal", "x.journal-", "a.journals",
	};

	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++)
		make(names[i]);
	cr_expect(eq(int, jscan_add_directory(engine, folder, 0), 0));
	expect_found(".hidden.journal .journal Z.journal~ a b.journal a.journal a.journal.zst "
		     "a@1.journal b.journal b.journal~.gz \xc3\xa4.journal ");
	cr_expect(eq(u32, problem_count, 0));
}

Test(discover, folders_named_by_an_id_are_entered_once)
{
	static const char *const names[] = {
		ID "/", ID "/b.journal", ID "/a.journal", ID "/" ID "/", ID "/" ID "/deep.journal",
		DASHED "/", DASHED "/c.journal", "other/", "other/d.journal",
		ID "0/", ID "0/e.journal", ID ".name/", ID ".name/f.journal",
		"0123456789abcdef0123456789abcdeg/", "0123456789abcdef0123456789abcdeg/g.journal",
		"z.journal", "folder.journal/", "folder.journal/h.journal",
	};

	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++)
		make(names[i]);
	cr_expect(eq(int, jscan_add_directory(engine, folder, 0), 0));
	expect_found(DASHED "/c.journal " ID "/a.journal " ID "/b.journal z.journal ");
}

/* Makes a machine's journals below the folder as a root: in no namespace and in one. */
static void make_root(void)
{
	static const char *const names[] = {
		"var/", "var/log/", "var/log/journal/", "var/log/journal/" ID "/",
		"var/log/journal/" ID "/system.journal", "var/log/journal/" ID "/user-7.journal",
		"var/log/journal/" ID ".name/", "var/log/journal/" ID ".name/system.journal",
	};

	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++)
		make(names[i]);
}

Test(discover, a_root_has_its_machines_journals)
{
	struct jscan_places places = { .size = sizeof(places), .root = folder };

	make_root();
	cr_expect(eq(int, jscan_add_places(engine, &places), 0));
	expect_found("var/log/journal/" ID "/system.journal "
		     "var/log/journal/" ID "/user-7.journal ");
}

Test(discover, a_namespace_has_folders_of_its_own)
{
	struct jscan_places places = { .size = sizeof(places), .root = folder,
				       .log_namespace = "name" };

	make_root();
	cr_expect(eq(int, jscan_add_places(engine, &places), 0));
	expect_found("var/log/journal/" ID ".name/system.journal ");
}

Test(discover, the_systems_files_can_be_asked_for)
{
	struct jscan_places places = { .size = sizeof(places), .root = folder,
				       .flags = JSCAN_PLACES_SYSTEM };

	make_root();
	cr_expect(eq(int, jscan_add_places(engine, &places), 0));
	expect_found("var/log/journal/" ID "/system.journal ");
}

Test(discover, links_are_followed_and_what_cannot_be_read_is_left_alone)
{
	struct sockaddr_un address = { .sun_family = AF_UNIX };
	char *fifo = test_path(folder, "fifo.journal"), *link = test_path(folder, "link.journal");
	char *id_link = test_path(folder, ID), *target = test_path(folder, "elsewhere");
	int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);

	make("elsewhere/");
	make("elsewhere/a.journal");
	cr_assert(eq(int, mkfifo(fifo, 0600), 0));
	cr_assert(eq(int, symlink("elsewhere/a.journal", link), 0));
	cr_assert(eq(int, symlink("elsewhere", id_link), 0));
	snprintf(address.sun_path, sizeof(address.sun_path), "%s/s.journal", folder);
	cr_assert(eq(int, bind(fd, (struct sockaddr *)&address, sizeof(address)), 0));
	cr_expect(eq(int, jscan_add_directory(engine, folder, 0), 0));
	expect_found(ID "/a.journal link.journal ");
	close(fd);
	free(fifo);
	free(link);
	free(id_link);
	free(target);
}

Test(discover, errors_of_the_folder_itself_are_returned)
{
	char *gone = test_path(folder, "gone"), *file = test_path(folder, "file");

	make("file");
	cr_expect(eq(int, jscan_add_directory(engine, gone, 0), -ENOENT));
	cr_expect(eq(int, jscan_add_directory(engine, file, 0), -ENOTDIR));
	cr_expect(eq(int, jscan_add_directory(engine, "", 0), -ENOENT));
	cr_expect(eq(int, jscan_add_directory(engine, NULL, 0), -EINVAL));
	cr_expect(eq(int, jscan_add_directory(engine, folder, 1), -EINVAL));
	cr_expect(eq(sz, jscan_files_added(engine), 0));
	cr_expect(eq(u32, problem_count, 0));
	free(gone);
	free(file);
}

Test(discover, slashes_at_the_end_do_not_show)
{
	char path[200];

	make("a.journal");
	snprintf(path, sizeof(path), "%s///", folder);
	cr_expect(eq(int, jscan_add_directory(engine, path, 0), 0));
	expect_found("a.journal ");
}

Test(discover, patterns_are_expanded_and_literal_names_are_not)
{
	char *pattern = test_path(folder, "*.[ab]"), *nothing = test_path(folder, "nothing*");

	make("2.b");
	make("1.a");
	make("1.c");
	make("*.[ab]");
	cr_expect(eq(int, jscan_add_file(engine, pattern, 0), 0));
	expect_found("1.a 2.b ");
	cr_expect(eq(int, jscan_add_file(engine, pattern, JSCAN_ADD_LITERAL), 0));
	cr_expect(eq(int, jscan_add_file(engine, nothing, 0), 0));
	expect_found("1.a 2.b *.[ab] nothing* ");
	cr_expect(eq(int, jscan_add_file(engine, NULL, 0), -EINVAL));
	cr_expect(eq(int, jscan_add_file(engine, pattern, JSCAN_TAKE_FD), -EINVAL));
	free(pattern);
	free(nothing);
}

Test(discover, thousands_of_files_are_no_problem)
{
	for (int i = 0; i < 3000; i++) {
		char name[30];

		snprintf(name, sizeof(name), "%05d.journal", i);
		make(name);
	}
	cr_expect(eq(int, jscan_add_directory(engine, folder, 0), 0));
	cr_expect(eq(sz, jscan_files_added(engine), 3000));
	for (size_t i = 1; i < engine->source_count; i++)
		cr_assert(lt(int,
			     strcmp(engine->sources[i - 1]->path, engine->sources[i]->path),
			     0));
}
