/* SPDX-License-Identifier: MIT */
/* Makes the archive and drives scans over it, each way by itself; see the header. */
#include "tests/scan/harness.h"

#include <poll.h>

#include "tests/support/fixture.h"

uint32_t scan_methods[METHOD_COUNT] = { JSCAN_IO_URING, JSCAN_IO_THREADS, JSCAN_IO_SYNC };

jscan_id archive_boot_id(unsigned n)
{
	struct id128 boot = fixture_id(n < ARCHIVE_ENTRIES / 2 ? 501 : 502);
	jscan_id id;

	memcpy(id.bytes, boot.bytes, sizeof(id.bytes));
	return id;
}

jscan_id archive_seqnum_id(void)
{
	struct id128 seqnum_id = fixture_id(503);
	jscan_id id;

	memcpy(id.bytes, seqnum_id.bytes, sizeof(id.bytes));
	return id;
}

/* Adds entry N to its file. */
static void archive_add(struct fixture *fx, unsigned n)
{
	unsigned half = ARCHIVE_ENTRIES / 2;
	struct fixture_stamp stamp = {
		.seqnum = n + 1,
		.realtime = ARCHIVE_TIME(n),
		.monotonic = (n % half + 1) * ARCHIVE_SECOND,
		.boot_id = fixture_id(n < half ? 501 : 502),
	};
	struct fixture_field fields[6];
	char texts[6][60], boot[33];
	size_t count = 0;

	fixture_id_text(&stamp.boot_id, boot);
	snprintf(texts[count++], sizeof(texts[0]), "MESSAGE=%u", n);
	snprintf(texts[count++], sizeof(texts[0]), "PARITY=%s", n % 2 ? "odd" : "even");
	snprintf(texts[count++], sizeof(texts[0]), "_BOOT_ID=%s", boot);
	for (unsigned i = 0; i < 3; i++) {
		static const unsigned every[] = { 3, 7, 50 };

		if (n % every[i] == 0)
			snprintf(texts[count++], sizeof(texts[0]), "EVERY=%u", every[i]);
	}
	for (size_t i = 0; i < count; i++)
		fields[i] = (struct fixture_field){ texts[i], strlen(texts[i]) };
	fixture_entry(fx, &stamp, fields, count);
}

char *archive_path(const char *folder, unsigned file)
{
	static const char *const names[] = { "system.journal", "user-1000.journal",
					     "user-1001.journal~" };

	return test_path(folder, names[file]);
}

char *archive_make(void)
{
	char *folder = test_folder_make();

	for (unsigned f = 0; f < ARCHIVE_FILES; f++) {
		struct fixture *fx = fixture_new(&(const struct fixture_options){
			.compact = f > 0, .keyed = f == 1, .seqnum_id = fixture_id(503),
			.file_id = fixture_id(510 + f),
			.state = f == 2 ? JOURNAL_STATE_ARCHIVED : JOURNAL_STATE_ONLINE,
		});
		char *path = archive_path(folder, f);

		for (unsigned n = f; n < ARCHIVE_ENTRIES; n += ARCHIVE_FILES)
			archive_add(fx, n);
		fixture_finish(fx);
		fixture_write(fx, path);
		fixture_free(fx);
		free(path);
	}
	return folder;
}

void archive_add_damaged(const char *folder)
{
	struct fixture *fx = fixture_new(&(const struct fixture_options){
		.seqnum_id = fixture_id(503), .boot_id = fixture_id(501) });
	struct fixture_stamp stamp = { .seqnum = 1000, .realtime = ARCHIVE_TIME(1000) };
	char *path = test_path(folder, "damaged.journal");

	fixture_add(fx, &stamp, "MESSAGE=1000", NULL);
	fixture_add(fx, NULL, "MESSAGE=1001", NULL);
	fixture_add(fx, NULL, "MESSAGE=1002", NULL);
	fixture_finish(fx);
	fixture_put64(fx, fixture_find_entry(fx, 1) + ENTRY_REALTIME, 0);
	fixture_write(fx, path);
	fixture_free(fx);
	free(path);
}

struct jscan *archive_open(const char *folder, uint32_t method)
{
	struct jscan_options options = JSCAN_OPTIONS_INIT;
	struct jscan *engine;
	int r;

	options.io = method;
	cr_assert(eq(int, jscan_new(&options, &engine), 0));
	cr_assert(eq(int, jscan_add_directory(engine, folder, 0), 0));
	r = jscan_open(engine);
	if (r < 0 && method == JSCAN_IO_URING)
		cr_skip_test("no ring: %s", strerror(-r));
	cr_assert(eq(int, r, 0));
	return engine;
}

void field_text(const struct jscan_entry *entry, const char *name, char *text, size_t size)
{
	struct jscan_field field = { .size = sizeof(field) };

	text[0] = '\0';
	if (jscan_entry_field(entry, name, &field) == 1)
		snprintf(text, size, "%.*s", (int)field.value_size, (const char *)field.value);
}

/* Appends an entry's message. */
static void collect_entry(FILE *f, const struct jscan_entry *entry)
{
	char text[200];

	field_text(entry, "MESSAGE", text, sizeof(text));
	fprintf(f, "%s%s", ftell(f) > 0 ? " " : "", text);
}

/* sink: entry. */
static int collect_take(void *userdata, const struct jscan_entry *entry,
			const struct jscan_entry_context *context)
{
	(void)context;
	collect_entry(userdata, entry);
	return 0;
}

void loop_wait(struct jscan *engine)
{
	struct pollfd p = { .fd = jscan_fd(engine), .events = (short)jscan_events(engine) };
	uint64_t usec;

	cr_assert(ge(int, p.fd, 0));
	cr_assert(eq(int, jscan_timeout(engine, &usec), 0));
	/* What never comes must fail the test, not hang it. */
	cr_assert(ge(int, poll(&p, 1, usec == UINT64_MAX ? 10000 : (int)(usec / 1000)), 0));
}

/* Drives a scan from a loop: with a sink attached that is fed, else entries are taken. */
static void collect_in_loop(struct jscan *engine, FILE *f)
{
	const struct jscan_entry *entry;
	unsigned turns = 0;
	int r;

	cr_assert(ge(int, jscan_fd(engine), 0));
	while ((r = jscan_process(engine)) != -ENODATA) {
		cr_assert(ge(int, r, 0));
		cr_assert(lt(u32, turns++, 1000000));
		if (r == 0)
			loop_wait(engine);
		else if (f && (r = jscan_next(engine, &entry)) == 1)
			collect_entry(f, entry);
		cr_assert(r >= 0 || r == -EAGAIN);
	}
}

char *collect(struct jscan *engine, enum drive how)
{
	struct jscan_sink_ops ops = { .size = sizeof(ops), .entry = collect_take };
	const struct jscan_entry *entry;
	char *text = NULL;
	size_t size;
	FILE *f = open_memstream(&text, &size);
	int r;

	if (how == DRIVE_RUN || how == DRIVE_LOOP_SINK)
		cr_assert(eq(int, jscan_add_sink(engine, &ops, f), 0));
	switch (how) {
	case DRIVE_NEXT:
		while ((r = jscan_next(engine, &entry)) == 1)
			collect_entry(f, entry);
		cr_assert(eq(int, r, 0));
		break;
	case DRIVE_RUN:
		cr_assert(eq(int, jscan_run(engine), 0));
		break;
	case DRIVE_LOOP:
		collect_in_loop(engine, f);
		break;
	case DRIVE_LOOP_SINK:
	case DRIVE_COUNT:
		collect_in_loop(engine, NULL);
		break;
	}
	fclose(f);
	return text;
}

char *numbers(unsigned first, unsigned last, unsigned count)
{
	char *text = NULL;
	size_t size;
	FILE *f = open_memstream(&text, &size);

	for (unsigned i = 0; i < count; i++) {
		fprintf(f, "%s%u", i ? " " : "", first);
		if (first == last)
			break;
		first += first < last ? 1u : -1u;
	}
	fclose(f);
	return text;
}

void expect_texts(char *got, char *expected, const char *what)
{
	cr_expect(eq(str, got, expected), "%s", what);
	free(got);
	free(expected);
}
