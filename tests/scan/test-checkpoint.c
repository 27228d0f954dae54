/* SPDX-License-Identifier: MIT */
/*
 * Checkpoints: runs over a set of files that grows, rotates and is joined by new machines, each cut
 * off at a random point and resumed from what it had kept. What all runs have kept together is each
 * entry, once.
 */
#include "tests/scan/harness.h"

#include <unistd.h>

#include "tests/support/fixture.h"

FOLDER_SUITE(checkpoint, test_folder_make);

#define MACHINES 5u
#define FILES_OF_MACHINE 2u
#define ENTRIES 700u

/* How a set of files comes about. */
struct world_options {
	bool clocks_step;  /* clocks of machines go back now and then */
	bool late;         /* half of the files are there once they are archived only */
	bool copies;       /* the last machine collects copies of what others write */
	uint64_t seed;
};

/* Each test runs with each seed, on files of its own. */
static uint64_t seeds[] = { 1, 2, 3, 4, 5, 6, 7, 8 };

#define SEED_TEST(name)                                                                            \
	ParameterizedTestParameters(checkpoint, name)                                              \
	{                                                                                          \
		return cr_make_param_array(uint64_t, seeds, sizeof(seeds) / sizeof(seeds[0]));     \
	}                                                                                          \
	ParameterizedTest(uint64_t *seed, checkpoint, name)

/* Machines that write, each into several files that share its numbers. */
struct world {
	struct world_options options;
	struct fixture *files[MACHINES][FILES_OF_MACHINE];
	unsigned generation[MACHINES][FILES_OF_MACHINE];
	uint64_t seqnum[MACHINES];
	int64_t clock[MACHINES];   /* what a machine's clock is off by, microseconds */
	unsigned written;
	uint64_t random;
};

/* What all runs have kept. */
struct kept {
	unsigned seen[ENTRIES];
	char *text;
};

static unsigned draw(struct world *w, unsigned limit)
{
	w->random = w->random * UINT64_C(6364136223846793005) + 1442695040888963407u;
	return (unsigned)((w->random >> 33) % limit);
}

/* Writes a file as it is, under its name of now. */
static void world_write(struct world *w, unsigned m, unsigned f)
{
	char name[60], *path;

	snprintf(name, sizeof(name), "m%u-f%u-%03u.journal", m, f, w->generation[m][f]);
	path = test_path(folder, name);
	fixture_finish(w->files[m][f]);
	fixture_write(w->files[m][f], path);
	free(path);
}

/* The file that a machine writes to, made if there is none. */
static struct fixture *world_file(struct world *w, unsigned m, unsigned f)
{
	if (!w->files[m][f])
		w->files[m][f] = fixture_new(&(const struct fixture_options){
			.seqnum_id = fixture_id(100 + m), .machine_id = fixture_id(200 + m),
			.boot_id = fixture_id(300 + m),
			.file_id = fixture_id(1000 * (m + 1) + 100 * f + w->generation[m][f]),
			.state = JOURNAL_STATE_ONLINE });
	return w->files[m][f];
}

/* A machine writes an entry; its copy is the last machine's, with a number of its own. */
static void world_add(struct world *w, unsigned n, unsigned from, bool copy)
{
	unsigned m = copy ? MACHINES - 1 : from;
	struct fixture_stamp stamp = { .boot_id = fixture_id(300 + from),
				       .monotonic = 1000000 + n * UINT64_C(1000000) };
	char message[30], boot[60] = "_BOOT_ID=", machine[60] = "_MACHINE_ID=";
	struct id128 machine_id = fixture_id(200 + from);

	fixture_id_text(&stamp.boot_id, boot + strlen(boot));
	fixture_id_text(&machine_id, machine + strlen(machine));
	if (!copy && w->options.clocks_step && draw(w, 12) == 0)
		w->clock[m] = -(int64_t)draw(w, 40) * 1000000;
	stamp.seqnum = ++w->seqnum[m];
	stamp.realtime = ARCHIVE_TIME(n) + (uint64_t)w->clock[from];
	snprintf(message, sizeof(message), "MESSAGE=%u", n);
	fixture_add(world_file(w, m, copy ? 0 : draw(w, FILES_OF_MACHINE)), &stamp, message,
		    n % 3 ? "THIRD=no" : "THIRD=yes", boot, machine, NULL);
}

/* Time goes by: entries are written, files rotated, machines join. */
static void world_go_on(struct world *w, unsigned count)
{
	for (unsigned i = 0; i < count && w->written < ENTRIES; i++) {
		unsigned machines = 2 + w->written * (MACHINES - 1) / ENTRIES;
		unsigned m = draw(w, machines < MACHINES - 1 ? machines : MACHINES - 1);

		world_add(w, w->written, m, false);
		if (w->options.copies && draw(w, 3) == 0)
			world_add(w, w->written, m, true);
		w->written++;
	}
	for (unsigned m = 0; m < MACHINES; m++) {
		for (unsigned f = 0; f < FILES_OF_MACHINE; f++) {
			bool rotates = draw(w, 4) == 0;

			if (!w->files[m][f] ||
			    (w->options.late && f > 0 && !rotates && w->written < ENTRIES))
				continue;
			if (rotates)
				fixture_set_state(w->files[m][f], JOURNAL_STATE_ARCHIVED);
			world_write(w, m, f);
			if (!rotates)
				continue;
			w->files[m][f] = fixture_free(w->files[m][f]);
			w->generation[m][f]++;
		}
	}
}

static void world_done(struct world *w)
{
	for (unsigned m = 0; m < MACHINES; m++)
		for (unsigned f = 0; f < FILES_OF_MACHINE; f++)
			fixture_free(w->files[m][f]);
}

/* An engine over what there is, that goes on from what was kept. */
static struct jscan *resume(const struct kept *kept, uint32_t jobs, const char *match)
{
	struct jscan_options options = JSCAN_OPTIONS_INIT;
	struct jscan *engine;

	options.jobs = jobs;
	cr_assert(eq(int, jscan_new(&options, &engine), 0));
	cr_assert(eq(int, jscan_add_directory(engine, folder, 0), 0));
	if (match)
		cr_assert(eq(int, jscan_match(engine, match, strlen(match)), 0));
	cr_assert(eq(int, jscan_seek_checkpoint(engine, kept->text), 0));
	return engine;
}

static unsigned entry_number(const struct jscan_entry *entry)
{
	char text[30];
	unsigned n;

	field_text(entry, "MESSAGE", text, sizeof(text));
	n = (unsigned)strtoul(text, NULL, 10);
	cr_assert(lt(u32, n, ENTRIES));
	return n;
}

/* Keeps a checkpoint, as one who keeps it along with the entries would. */
static void keep_text(struct kept *kept, const char *text)
{
	free(kept->text);
	kept->text = strdup(text);
}

static void keep_checkpoint(struct kept *kept, struct jscan *engine, enum jscan_checkpoint which)
{
	const char *text;

	cr_assert(eq(int, jscan_get_checkpoint(engine, which, &text), 0));
	keep_text(kept, text);
}

/* Expects each entry, or each that matches, once. */
static void expect_once(const struct kept *kept, bool thirds, const char *what)
{
	for (unsigned n = 0; n < ENTRIES; n++)
		cr_expect(eq(u32, kept->seen[n], !thirds || n % 3 == 0), "%s: entry %u", what, n);
}

/* A run that pulls entries, and is cut off: what it had not kept by then is forgotten. */
static void run_pulling(struct world *w, struct kept *kept, const char *match, bool last)
{
	struct jscan *engine = resume(kept, 1, match);
	unsigned left = draw(w, 60), count = 0, pending[ENTRIES];
	const struct jscan_entry *entry;
	int r = 0;

	while ((last || left-- > 0) && (r = jscan_next(engine, &entry)) == 1) {
		pending[count++] = entry_number(entry);
		if (draw(w, 5))
			continue;
		for (unsigned i = 0; i < count; i++)
			kept->seen[pending[i]]++;
		count = 0;
		keep_checkpoint(kept, engine, JSCAN_CHECKPOINT_SETTLED);
	}
	cr_assert(ge(int, r, 0));
	for (unsigned i = 0; i < count && last; i++)
		kept->seen[pending[i]]++;
	jscan_free(engine);
}

static void check_pulling(const struct world_options *options, const char *match)
{
	struct world w = { .options = *options, .random = options->seed };
	struct kept kept = { .text = NULL };

	while (w.written < ENTRIES) {
		world_go_on(&w, draw(&w, 60));
		for (unsigned i = draw(&w, 4); i > 0; i--)
			run_pulling(&w, &kept, match, false);
	}
	for (unsigned i = 0; i < 10; i++)
		run_pulling(&w, &kept, match, false);
	run_pulling(&w, &kept, match, true);
	expect_once(&kept, match != NULL, "pulled");
	free(kept.text);
	world_done(&w);
}

SEED_TEST(runs_that_are_cut_off_have_each_entry_once)
{
	check_pulling(&(const struct world_options){ .seed = *seed }, NULL);
}

SEED_TEST(clocks_that_step_make_no_difference)
{
	check_pulling(&(const struct world_options){ .seed = *seed, .clocks_step = true }, NULL);
}

SEED_TEST(files_that_turn_up_late_are_read_from_their_beginning)
{
	check_pulling(&(const struct world_options){ .seed = *seed, .late = true,
						     .clocks_step = *seed % 2 }, NULL);
}

SEED_TEST(copies_under_other_numbers_are_not_had_again)
{
	check_pulling(&(const struct world_options){ .seed = *seed, .copies = true }, NULL);
}

SEED_TEST(runs_that_match_are_resumed_too)
{
	check_pulling(&(const struct world_options){ .seed = *seed, .clocks_step = true },
		      "THIRD=yes");
}

/* ---- sinks ------------------------------------------------------------------------------ */

/* A sink that keeps what it has with the checkpoint from time to time, and fails at a point. */
struct store {
	struct world *world;
	struct kept *kept;
	struct jscan *engine;
	unsigned pending[ENTRIES], count;
	unsigned left;    /* until it fails */
	bool flushed_only; /* the handler keeps; else the sink itself does */
	unsigned flushed;
};

static void store_commit(struct store *s, unsigned count)
{
	for (unsigned i = 0; i < count; i++)
		s->kept->seen[s->pending[i]]++;
	memmove(s->pending, s->pending + count, (s->count - count) * sizeof(*s->pending));
	s->count -= count;
	s->flushed = 0;
}

static int store_entry(void *userdata, const struct jscan_entry *entry,
		       const struct jscan_entry_context *context)
{
	struct store *s = userdata;

	(void)context;
	if (s->left-- == 0)
		return -ECANCELED;
	if (draw(s->world, 20) == 0)
		return -EAGAIN;
	if (!s->flushed_only && draw(s->world, 4) == 0) {
		keep_checkpoint(s->kept, s->engine, JSCAN_CHECKPOINT_TAKEN);
		store_commit(s, s->count);
	}
	s->pending[s->count++] = entry_number(entry);
	return 0;
}

static int store_flush(void *userdata)
{
	struct store *s = userdata;

	s->flushed = s->count;
	return 0;
}

/* jscan_checkpoint_fn: what has been flushed is safe. */
static int store_told(void *userdata, const char *text)
{
	struct store *s = userdata;

	cr_expect(eq(u32, s->flushed, s->count), "all is flushed before it is told");
	keep_text(s->kept, text);
	store_commit(s, s->flushed);
	return 0;
}

static const struct jscan_sink_ops store_ops = { .size = sizeof(store_ops), .entry = store_entry,
						 .flush = store_flush };

/* Another sink, that is not always ready. */
static int slow_entry(void *userdata, const struct jscan_entry *entry,
		      const struct jscan_entry_context *context)
{
	(void)entry;
	(void)context;
	return draw(userdata, 10) == 0 ? -EAGAIN : 0;
}

static const struct jscan_sink_ops slow_ops = { .size = sizeof(slow_ops), .entry = slow_entry };

static void run_storing(struct world *w, struct kept *kept, bool flushed_only, bool loop, bool last)
{
	struct store store = { .world = w, .kept = kept, .flushed_only = flushed_only,
			       .left = last ? UINT_MAX : draw(w, 80),
			       .engine = resume(kept, 1, NULL) };
	int r;

	/* A sink that has what one behind it has not taken would have it twice. */
	if (flushed_only)
		jscan_add_sink(store.engine, &slow_ops, w);
	jscan_add_sink(store.engine, &store_ops, &store);
	if (!flushed_only)
		jscan_add_sink(store.engine, &slow_ops, w);
	if (flushed_only)
		cr_assert(eq(int, jscan_set_checkpoint_handler(store.engine, 0, store_told, &store),
			     0));
	if (loop) {
		cr_assert(ge(int, jscan_fd(store.engine), 0));
		while ((r = jscan_process(store.engine)) >= 0 || r == -EAGAIN) {
			if (r <= 0)
				loop_wait(store.engine);
		}
		r = r == -ENODATA ? 0 : r;
	} else {
		r = jscan_run(store.engine);
	}
	cr_assert(r == 0 || r == -ECANCELED, "%d", r);
	if (r == 0 && !flushed_only) {
		keep_checkpoint(kept, store.engine, JSCAN_CHECKPOINT_SETTLED);
		store_commit(&store, store.count);
	}
	jscan_free(store.engine);
}

static void check_storing(uint64_t seed, bool flushed_only, bool loop)
{
	struct world w = { .options = { .clocks_step = seed % 2, .copies = seed % 2 == 0,
				       .late = seed % 6 == 3 },
			   .random = seed };
	struct kept kept = { .text = NULL };

	while (w.written < ENTRIES) {
		world_go_on(&w, draw(&w, 60));
		for (unsigned i = draw(&w, 4); i > 0; i--)
			run_storing(&w, &kept, flushed_only, loop, false);
	}
	run_storing(&w, &kept, flushed_only, loop, true);
	expect_once(&kept, false, flushed_only ? "flushed" : "taken");
	free(kept.text);
	world_done(&w);
}

SEED_TEST(a_sink_that_keeps_it_with_its_entries_has_each_once)
{
	check_storing(*seed, false, *seed > 4);
}

SEED_TEST(it_is_told_over_what_all_sinks_have_flushed)
{
	check_storing(*seed, true, *seed > 4);
}

/* A sink that formats. */
static int format_number(const void *userdata, const struct jscan_entry *entry,
			 const struct jscan_entry_context *context, struct jscan_buffer *buffer)
{
	unsigned n = entry_number(entry);

	(void)userdata;
	(void)context;
	return jscan_buffer_append(buffer, &n, sizeof(n));
}

static int write_numbers(void *userdata, const void *data, size_t size)
{
	struct store *s = userdata;

	memcpy(s->pending + s->count, data, size);
	s->count += (unsigned)(size / sizeof(unsigned));
	s->flushed = s->count;
	return 0;
}

/* jscan_checkpoint_fn: stops after some. */
static int stop_told(void *userdata, const char *text)
{
	struct store *s = userdata;

	store_told(userdata, text);
	return s->left-- == 0 ? -ECANCELED : 0;
}

Test(checkpoint, what_threads_format_counts_once_it_is_written)
{
	static const struct jscan_sink_ops ops = { .size = sizeof(ops), .format = format_number,
						   .write = write_numbers };
	struct world w = { .options = { .clocks_step = true }, .random = 77 };
	struct kept kept = { .text = NULL };
	int r;

	while (w.written < ENTRIES)
		world_go_on(&w, 100);
	do {
		struct store store = { .world = &w, .kept = &kept, .left = draw(&w, 2) };

		store.engine = resume(&kept, 2, NULL);
		jscan_add_sink(store.engine, &ops, &store);
		jscan_set_checkpoint_handler(store.engine, 0, stop_told, &store);
		r = jscan_run(store.engine);
		cr_assert(r == 0 || r == -ECANCELED, "%d", r);
		jscan_free(store.engine);
	} while (r < 0);
	expect_once(&kept, false, "formatted");
	free(kept.text);
	world_done(&w);
}

/* ---- the text ---------------------------------------------------------------------------- */

Test(checkpoint, the_text_is_checked)
{
#define LINE                                                                                       \
	"s=000102030405060708090a0b0c0d0e0f;i=1;b=000102030405060708090a0b0c0d0e0f;m=1;t=1;"       \
	"x=1\n"
#define FILE "f=000102030405060708090a0b0c0d0e0f"
#define OTHER "f=100102030405060708090a0b0c0d0e0f"
	static const struct {
		const char *text;
		int answer;
	} cases[] = {
		{ "", 0 },
		{ "jscan-checkpoint 1 0 0\n", 0 },
		{ "jscan-checkpoint 1 1 0\n" LINE, 0 },
		{ "jscan-checkpoint 1 1 2\n" LINE FILE "\n" OTHER ";i=1f\n", 0 },
		{ "jscan-checkpoint 2 1 0\n" LINE, -EPROTONOSUPPORT },
		{ "jscan-checkpoint 1 2 0\n" LINE, -EINVAL },
		{ "jscan-checkpoint 1 2 0\n" LINE LINE, -EINVAL },
		{ "jscan-checkpoint 1 0 0\n" LINE, -EINVAL },
		{ "jscan-checkpoint 1 1 0\ns=1\n", -EINVAL },
		{ "jscan-checkpoint 1 1 0\nt=1\n", -EINVAL },
		{ "jscan-checkpoint 1 1 1\n" LINE, -EINVAL },
		{ "jscan-checkpoint 1 0 1\n" FILE, -EINVAL },
		{ "jscan-checkpoint 1 0 1\n" FILE "0\n", -EINVAL },
		{ "jscan-checkpoint 1 0 1\n" FILE ";i=\n", -EINVAL },
		{ "jscan-checkpoint 1 0 1\n" FILE ";i=1g\n", -EINVAL },
		{ "jscan-checkpoint 1 0 1\nf=1\n", -EINVAL },
		{ "jscan-checkpoint 1 4294967295 4294967295\n" LINE, -EINVAL },
		{ "jscan-checkpoint 1 0\n", -EINVAL },
		{ "jscan-checkpoint 1\n", -EINVAL },
		{ LINE, -EINVAL },
		{ "nonsense", -EINVAL },
	};
	struct jscan *engine;
	const char *text;

	cr_assert(eq(int, jscan_new(NULL, &engine), 0));
	cr_expect(eq(int, jscan_get_checkpoint(engine, JSCAN_CHECKPOINT_TAKEN, &text), -EINVAL));
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++)
		cr_expect(eq(int, jscan_seek_checkpoint(engine, cases[i].text), cases[i].answer),
			  "%s", cases[i].text);
	/* What is refused leaves the one that there was; what nobody has is kept. */
	cr_assert(eq(int, jscan_get_checkpoint(engine, JSCAN_CHECKPOINT_TAKEN, &text), 0));
	cr_expect(eq(str, (char *)text, (char *)"jscan-checkpoint 1 1 2\n" LINE FILE "\n" OTHER
		      ";i=1f\n"));
	cr_expect(eq(int, jscan_set_direction(engine, JSCAN_BACKWARD), -EINVAL));
	cr_expect(eq(int, jscan_set_tail(engine, 1), -EINVAL));
	cr_expect(eq(int, jscan_seek_head(engine), 0));
	cr_expect(eq(int, jscan_get_checkpoint(engine, JSCAN_CHECKPOINT_TAKEN, &text), -EINVAL));
	cr_expect(eq(int, jscan_set_direction(engine, JSCAN_BACKWARD), 0));
	cr_expect(eq(int, jscan_seek_checkpoint(engine, NULL), -EINVAL));
	jscan_free(engine);
#undef LINE
#undef FILE
#undef OTHER
}
