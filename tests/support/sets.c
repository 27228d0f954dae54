/* SPDX-License-Identifier: MIT */
/*
 * Sets come from a small simulation: machines with clocks and boots, each with one or two writers
 * that append to files. A turn lets time pass on one machine, may reboot it, step its clock or
 * rotate a file, and writes an entry. What is likely depends on the kind alone.
 *
 * Files keep what writers promise: sequence numbers rise, and within a boot the monotonic time does
 * not fall. Realtime may fall where clocks step.
 */
#include <assert.h>
#include <stdio.h>
#include <stdlib.h>

#include "tests/support/fixture-private.h"
#include "tests/support/sets.h"

#define MACHINES_MAX 3u
#define WRITERS_MAX 2u

/* Chances are in thousandths a turn. */
struct set_plan {
	const char *name;
	unsigned machines_max;
	unsigned writers; /* of each machine: system, and user */
	unsigned turns_max;
	unsigned reboot;
	unsigned step; /* the clock is set, back or forth */
	unsigned rotate;
	unsigned same_time;    /* no time passes */
	unsigned new_id;       /* of a rotation or reboot bringing a new sequence-number ID */
	unsigned copy;         /* of an entry being repeated under the same ID */
	unsigned foreign_copy; /* or under another */
	bool rotate_at_reboot;
	bool received;      /* by another machine, whose ID the headers may have */
	uint64_t time_unit; /* microseconds: how coarse the clocks are */
};

static const struct set_plan set_plans[SET_KIND_COUNT] = {
	[SET_ROTATED] = { .name = "rotated",
			  .machines_max = 1,
			  .writers = 1,
			  .turns_max = 160,
			  .reboot = 15,
			  .rotate = 50,
			  .same_time = 100,
			  .time_unit = 1 },
	[SET_SYSTEM_USER] = { .name = "system-user",
			      .machines_max = 1,
			      .writers = 2,
			      .turns_max = 160,
			      .reboot = 15,
			      .rotate = 40,
			      .same_time = 100,
			      .time_unit = 1 },
	[SET_RANKED_BOOTS] = { .name = "ranked-boots",
			       .machines_max = 1,
			       .writers = 2,
			       .turns_max = 120,
			       .reboot = 25,
			       .step = 20,
			       .rotate = 20,
			       .same_time = 100,
			       .new_id = 700,
			       .rotate_at_reboot = true,
			       .time_unit = 1000 },
	[SET_UNRANKED_BOOTS] = { .name = "unranked-boots",
				 .machines_max = 1,
				 .writers = 2,
				 .turns_max = 120,
				 .reboot = 50,
				 .step = 30,
				 .rotate = 30,
				 .same_time = 100,
				 .new_id = 700,
				 .time_unit = 1000 },
	[SET_REMOTE] = { .name = "remote",
			 .machines_max = MACHINES_MAX,
			 .writers = 1,
			 .turns_max = 150,
			 .reboot = 25,
			 .step = 60,
			 .rotate = 20,
			 .same_time = 100,
			 .new_id = 500,
			 .received = true,
			 .time_unit = 1000 },
	[SET_DUPLICATES] = { .name = "duplicates",
			     .machines_max = 1,
			     .writers = 2,
			     .turns_max = 120,
			     .reboot = 20,
			     .rotate = 25,
			     .same_time = 100,
			     .new_id = 500,
			     .copy = 250,
			     .foreign_copy = 250,
			     .time_unit = 1 },
	[SET_ADVERSARIAL] = { .name = "adversarial",
			      .machines_max = 2,
			      .writers = 2,
			      .turns_max = 80,
			      .reboot = 90,
			      .step = 150,
			      .rotate = 60,
			      .same_time = 300,
			      .new_id = 500,
			      .copy = 120,
			      .foreign_copy = 120,
			      .received = true,
			      .time_unit = 1000000 },
};

struct set_writer {
	struct set_file *file; /* NULL before the first entry and after a rotation without room */
	struct id128 seqnum_id;
};

struct set_machine {
	struct id128 id;
	struct id128 boot_id;
	uint64_t clock; /* realtime minus monotonic */
	uint64_t monotonic;
	struct set_writer writers[WRITERS_MAX];
};

struct set_maker {
	struct set *set;
	const struct set_plan *plan;
	uint64_t random;
	uint64_t next_id;
	unsigned machine_count;
	unsigned file_target;
	struct id128 receiver_id;
	struct set_machine machines[MACHINES_MAX];
	struct set_file *copies;         /* repeats entries under their own ID */
	struct set_file *foreign_copies; /* and under another */
};

/* A number that follows from the seed (splitmix64), below END. */
static uint64_t set_random(struct set_maker *m, uint64_t end)
{
	uint64_t z = (m->random += UINT64_C(0x9e3779b97f4a7c15));

	z = (z ^ (z >> 30)) * UINT64_C(0xbf58476d1ce4e5b9);
	z = (z ^ (z >> 27)) * UINT64_C(0x94d049bb133111eb);
	return (z ^ (z >> 31)) % end;
}

/* Whether something with such a chance happens now. */
static bool set_happens(struct set_maker *m, unsigned thousandths)
{
	return set_random(m, 1000) < thousandths;
}

/* A new ID. */
static struct id128 set_id(struct set_maker *m)
{
	return fixture_id(m->set->seed * 1000003 + 7919 * (uint64_t)m->set->kind + m->next_id++);
}

/* The last number used under a sequence-number ID: files that share one share the counter. */
static uint64_t set_last_seqnum(const struct set *set, const struct id128 *seqnum_id)
{
	uint64_t last = 0;

	for (unsigned i = 0; i < set->file_count; i++) {
		const struct set_file *f = set->files + i;

		if (f->entry_count > 0 && id128_equal(&f->seqnum_id, seqnum_id) &&
		    f->entries[f->entry_count - 1].seqnum > last)
			last = f->entries[f->entry_count - 1].seqnum;
	}
	return last;
}

/* Opens a file of some layout. NULL if there are enough. */
static struct set_file *set_open(struct set_maker *m, const struct id128 *machine_id,
				 const struct id128 *seqnum_id)
{
	static const uint32_t header_sizes[] = { 240, 256, 264, 272, 272, 272 };
	struct fixture_options o = { .data_buckets = 31, .field_buckets = 7, .id_fields = false };
	struct set_file *f;

	if (m->set->file_count == SET_FILES_MAX)
		return NULL;
	f = m->set->files + m->set->file_count;
	snprintf(f->name, sizeof(f->name), "file-%u.journal", m->set->file_count);
	m->set->file_count++;
	f->file_id = set_id(m);
	f->seqnum_id = *seqnum_id;
	f->machine_id = m->plan->received && set_happens(m, 700) ? m->receiver_id : *machine_id;
	f->state = JOURNAL_STATE_ONLINE;
	o.header_size = header_sizes[set_random(m, 6)];
	o.compact = set_happens(m, 500);
	o.keyed = set_happens(m, 500);
	o.without_tail_boot_flag = set_happens(m, 150);
	o.file_id = f->file_id;
	o.machine_id = f->machine_id;
	o.seqnum_id = f->seqnum_id;
	f->fx = fixture_new(&o);
	return f;
}

/* Ends a writer's file, if it has one; the next entry opens another. */
static void set_rotate(struct set_maker *m, struct set_writer *w)
{
	/* Without room for another file the old one goes on. */
	if (!w->file || m->set->file_count >= m->file_target)
		return;
	w->file->state = JOURNAL_STATE_ARCHIVED;
	w->file = NULL;
	if (set_happens(m, m->plan->new_id))
		w->seqnum_id = set_id(m);
}

/* Appends an entry to a file and to its list. */
static void set_append(struct set_file *f, const struct set_entry *e)
{
	struct fixture_stamp s = { .seqnum = e->seqnum,
				   .realtime = e->realtime,
				   .monotonic = e->monotonic,
				   .boot_id = e->boot_id };
	char message[64], boot[64], machine[64], id[33];
	struct set_entry *kept;

	snprintf(message, sizeof(message), "MESSAGE=entry %u", e->number);
	fixture_id_text(&e->boot_id, id);
	snprintf(boot, sizeof(boot), "_BOOT_ID=%s", id);
	fixture_id_text(&e->machine_id, id);
	snprintf(machine, sizeof(machine), "_MACHINE_ID=%s", id);
	f->entries = fixture_grow(f->entries, f->entry_count, &f->entry_allocated, sizeof(*kept));
	kept = f->entries + f->entry_count++;
	*kept = *e;
	kept->offset = fixture_add(f->fx, &s, message, e->number % 3 ? "PRIORITY=6" : "PRIORITY=3",
				   boot, machine, NULL);
	kept->xor_hash = fixture_get64(f->fx, kept->offset + ENTRY_XOR_HASH);
}

/* Repeats an entry in another file, with the number that it has or with one of that file's. */
static void set_copy(struct set_maker *m, struct set_file **copies, struct set_entry e,
		     const struct set_file *original, bool foreign)
{
	struct id128 seqnum_id = foreign ? set_id(m) : original->seqnum_id;
	const struct set_entry *last;

	/* Copies under the same ID must come from one counter; start anew when that has changed. */
	if (*copies && !foreign && !id128_equal(&(*copies)->seqnum_id, &seqnum_id))
		*copies = NULL;
	if (!*copies)
		*copies = set_open(m, &original->machine_id, &seqnum_id);
	if (!*copies)
		return;
	last = (*copies)->entry_count ? (*copies)->entries + (*copies)->entry_count - 1 : NULL;
	/* Keep what a file promises. */
	if (last && id128_equal(&last->boot_id, &e.boot_id) && last->monotonic > e.monotonic)
		return;
	if (foreign)
		e.seqnum = (last ? last->seqnum : 0) + 1;
	set_append(*copies, &e);
}

/* Writes a new entry with one of a machine's writers. */
static void set_write_entry(struct set_maker *m, struct set_machine *machine, struct set_writer *w)
{
	struct set_entry e = {
		.number = m->set->distinct_count,
		.realtime = machine->clock + machine->monotonic,
		.monotonic = machine->monotonic,
		.boot_id = machine->boot_id,
		.machine_id = machine->id,
	};

	if (!w->file)
		w->file = set_open(m, &machine->id, &w->seqnum_id);
	if (!w->file)
		return;
	m->set->distinct_count++;
	e.seqnum = set_last_seqnum(m->set, &w->file->seqnum_id) + 1 +
		   (set_happens(m, 50) ? set_random(m, 5) : 0);
	set_append(w->file, &e);
	if (set_happens(m, m->plan->copy))
		set_copy(m, &m->copies, e, w->file, false);
	if (set_happens(m, m->plan->foreign_copy))
		set_copy(m, &m->foreign_copies, e, w->file, true);
}

/* Boots a machine. */
static void set_boot(struct set_maker *m, struct set_machine *machine)
{
	uint64_t now = machine->clock + machine->monotonic;

	machine->boot_id = set_id(m);
	machine->monotonic = (1 + set_random(m, 8)) * m->plan->time_unit;
	machine->clock = now + (1 + set_random(m, 20)) * m->plan->time_unit - machine->monotonic;
}

/* One turn of one machine. */
static void set_turn(struct set_maker *m)
{
	struct set_machine *machine = m->machines + set_random(m, m->machine_count);
	struct set_writer *w = machine->writers + set_random(m, m->plan->writers);

	if (set_happens(m, m->plan->reboot)) {
		for (unsigned i = 0; m->plan->rotate_at_reboot && i < m->plan->writers; i++) {
			/* A boot has a rank only if it is some file's last: with no room for
			 * another file, there is no other boot. */
			if (m->set->file_count + m->plan->writers > m->file_target)
				return;
			set_rotate(m, machine->writers + i);
		}
		set_boot(m, machine);
	}
	if (set_happens(m, m->plan->step)) {
		uint64_t distance = set_random(m, 40) * m->plan->time_unit;

		machine->clock += set_happens(m, 500) ? distance : -distance;
	}
	if (set_happens(m, m->plan->rotate))
		set_rotate(m, w);
	if (!set_happens(m, m->plan->same_time))
		machine->monotonic += (1 + set_random(m, 6)) * m->plan->time_unit;
	set_write_entry(m, machine, w);
}

const char *set_kind_name(enum set_kind kind)
{
	return set_plans[kind].name;
}

struct set *set_new(enum set_kind kind, uint64_t seed)
{
	struct set *set = calloc(1, sizeof(*set));
	struct set_maker m = { .set = set,
			       .plan = set_plans + kind,
			       .random = seed ^ (uint64_t)kind << 56 };
	unsigned turns;

	if (!set)
		abort();
	set->kind = kind;
	set->seed = seed;
	m.receiver_id = set_id(&m);
	m.machine_count = 1 + (unsigned)set_random(&m, m.plan->machines_max);
	m.file_target = 2 + (unsigned)set_random(&m, SET_FILES_MAX - 1);
	for (unsigned i = 0; i < m.machine_count; i++) {
		struct set_machine *machine = m.machines + i;
		struct id128 seqnum_id = set_id(&m);

		machine->id = set_id(&m);
		machine->clock = FIXTURE_REALTIME + set_random(&m, 30) * m.plan->time_unit;
		set_boot(&m, machine);
		for (unsigned k = 0; k < m.plan->writers; k++)
			machine->writers[k].seqnum_id = seqnum_id;
	}
	turns = 20 + (unsigned)set_random(&m, m.plan->turns_max);
	for (unsigned i = 0; i < turns; i++)
		set_turn(&m);
	/* One file is no set: the first machine's first writer begins another. */
	while (set->file_count < 2) {
		m.file_target = SET_FILES_MAX;
		set_rotate(&m, m.machines[0].writers);
		m.machines[0].monotonic += m.plan->time_unit;
		set_write_entry(&m, m.machines, m.machines[0].writers);
	}
	for (unsigned i = 0; i < set->file_count; i++) {
		fixture_set_state(set->files[i].fx, set->files[i].state);
		fixture_finish(set->files[i].fx);
	}
	return set;
}

struct set *set_free(struct set *set)
{
	if (!set)
		return NULL;
	for (unsigned i = 0; i < set->file_count; i++) {
		fixture_free(set->files[i].fx);
		free(set->files[i].entries);
	}
	free(set);
	return NULL;
}

void set_write(const struct set *set, const char *folder)
{
	char path[4096];

	for (unsigned i = 0; i < set->file_count; i++) {
		snprintf(path, sizeof(path), "%s/%s", folder, set->files[i].name);
		fixture_write(set->files[i].fx, path);
	}
}

void set_order(const struct set *set, uint64_t seed, unsigned order[SET_FILES_MAX])
{
	struct set_maker m = { .random = seed };

	for (unsigned i = 0; i < set->file_count; i++)
		order[i] = i;
	for (unsigned i = set->file_count; seed && i > 1; i--) {
		unsigned k = (unsigned)set_random(&m, i), last = order[i - 1];

		order[i - 1] = order[k];
		order[k] = last;
	}
}
