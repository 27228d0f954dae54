/* SPDX-License-Identifier: MIT */
/*
 * A machine that logs. What stays the same while a process lives (its unit, its command line, its
 * IDs) is put together when it starts; an entry adds its message and what belongs to it. Entries
 * come in bursts of one process, as they do in life. It depends on its seed alone.
 */
#include "bench/machine.h"

#include <stdio.h>
#include <stdlib.h>

#define SECOND UINT64_C(1000000)

#define PROCESS_FIELDS_MAX 24u
#define PROCESS_BYTES 1536u

/* A process of a service, with the fields that all its entries have. */
struct process {
	const struct service *service;
	unsigned instance;
	unsigned pid;
	unsigned text_weights; /* of all its texts */
	size_t count;
	struct fixture_field fields[PROCESS_FIELDS_MAX];
	size_t used;
	char bytes[PROCESS_BYTES];
};

/* The processes of the system, or of a user. */
struct crew {
	struct process *processes;
	size_t count;
	const struct service *services;
	unsigned weights; /* of all services */
};

struct machine {
	struct machine_options options;
	struct random random;
	struct id128 id, boot_id;
	uint64_t realtime, monotonic;
	uint64_t done, boot_end; /* entries */
	unsigned boot;
	uint64_t gap_usec;    /* between entries, on average */
	struct crew crews[2]; /* of the system, of the user */
	unsigned burst;       /* entries that this process goes on to log */
	struct process *current;
};

/* Adds a field that all entries of a process have. */
static void __attribute__((format(printf, 2, 3)))
process_add(struct process *p, const char *format, ...)
{
	char *at = p->bytes + p->used;
	va_list ap;
	int n;

	va_start(ap, format);
	n = vsnprintf(at, PROCESS_BYTES - p->used, format, ap);
	va_end(ap);
	if (n < 0 || (size_t)n >= PROCESS_BYTES - p->used || p->count == PROCESS_FIELDS_MAX)
		abort();
	p->fields[p->count++] = (struct fixture_field){ at, (size_t)n };
	p->used += (size_t)n + 1;
}

/* An ID that is drawn, as text. */
static const char *machine_draw_id(struct machine *m, char text[33])
{
	struct id128 id = fixture_id(random_next(&m->random));

	fixture_id_text(&id, text);
	return text;
}

/* Adds what says which unit a process belongs to. */
static void process_add_unit(struct process *p, struct machine *m)
{
	const struct service *s = p->service;
	const char *number = s->unit ? strstr(s->unit, "%u") : NULL;
	char unit[128], id[33];

	if (!s->unit)
		return;
	if (number)
		snprintf(unit, sizeof(unit), "%.*s%u%s", (int)(number - s->unit), s->unit,
			 p->instance, number + 2);
	else
		snprintf(unit, sizeof(unit), "%s", s->unit);
	if (s->uid < 1000) {
		process_add(p, "_SYSTEMD_CGROUP=/%s/%s", s->slice, unit);
		process_add(p, "_SYSTEMD_UNIT=%s", unit);
		process_add(p, "_SYSTEMD_SLICE=%s", s->slice);
	} else {
		process_add(p, "_AUDIT_SESSION=3");
		process_add(p, "_AUDIT_LOGINUID=%u", s->uid);
		process_add(p, "_SYSTEMD_CGROUP=/user.slice/user-%u.slice/user@%u.service/%s",
			    s->uid, s->uid, unit);
		process_add(p, "_SYSTEMD_OWNER_UID=%u", s->uid);
		process_add(p, "_SYSTEMD_UNIT=user@%u.service", s->uid);
		process_add(p, "_SYSTEMD_USER_UNIT=%s", unit);
		process_add(p, "_SYSTEMD_SLICE=user-%u.slice", s->uid);
		if (s->slice)
			process_add(p, "_SYSTEMD_USER_SLICE=%s", s->slice);
	}
	process_add(p, "_SYSTEMD_INVOCATION_ID=%s", machine_draw_id(m, id));
}

/* Starts a process, in the place of the one that was there. */
static void process_start(struct process *p, struct machine *m)
{
	static const char *const transports[TRANSPORT_COUNT] = { "stdout", "syslog", "journal",
								 "kernel", "audit" };
	static const unsigned facilities[TRANSPORT_COUNT] = { 3, 4, 3, 0, 3 };
	const struct service *s = p->service;
	char id[33];

	p->count = p->used = 0;
	p->pid = 300 + random_below(&m->random, 30000);
	process_add(p, "_HOSTNAME=%s", m->options.hostname);
	process_add(p, "_TRANSPORT=%s", transports[s->transport]);
	process_add(p, "SYSLOG_IDENTIFIER=%s", s->identifier);
	process_add(p, "SYSLOG_FACILITY=%u", facilities[s->transport]);
	if (s->transport == TRANSPORT_KERNEL || s->transport == TRANSPORT_AUDIT)
		return;
	process_add(p, "_PID=%u",
		    s->transport == TRANSPORT_JOURNAL && s->uid == 0 && s->weight > 50 ? 1
										       : p->pid);
	process_add(p, "_UID=%u", s->uid);
	process_add(p, "_GID=%u", s->uid);
	process_add_unit(p, m);
	if (s->exe) {
		process_add(p, "_COMM=%.15s", strrchr(s->exe, '/') + 1);
		process_add(p, "_EXE=%s", s->exe);
		process_add(p, "_CMDLINE=%s%s", s->exe, s->arguments);
		process_add(p, "_CAP_EFFECTIVE=%s", s->uid ? "0" : "1ffffffffff");
	}
	if (s->transport == TRANSPORT_STDOUT)
		process_add(p, "_STREAM_ID=%s", machine_draw_id(m, id));
	if (s->transport == TRANSPORT_SYSLOG)
		process_add(p, "SYSLOG_PID=%u", p->pid);
}

/* Makes the processes of some services. */
static void crew_init(struct crew *c, const struct service *services)
{
	size_t at = 0;

	c->services = services;
	for (const struct service *s = services; s->identifier; s++) {
		c->count += s->instances;
		c->weights += s->weight;
	}
	c->processes = calloc(c->count, sizeof(*c->processes));
	if (!c->processes)
		abort();
	for (const struct service *s = services; s->identifier; s++) {
		for (unsigned i = 0; i < s->instances; i++, at++) {
			c->processes[at].service = s;
			c->processes[at].instance = i;
			for (const struct text *t = s->texts; t->form; t++)
				c->processes[at].text_weights += t->weight;
		}
	}
}

/* The process that logs next. */
static struct process *crew_pick(const struct crew *c, struct random *r)
{
	unsigned at = random_below(r, c->weights);
	struct process *p = c->processes;

	for (const struct service *s = c->services;; s++) {
		if (at < s->weight)
			return p + random_skewed(r, s->instances);
		at -= s->weight;
		p += s->instances;
	}
}

/* Boots the machine: all processes start anew. */
static void machine_boot(struct machine *m)
{
	if (m->boot > 0)
		m->realtime += 20 * SECOND + random_below(&m->random, 300 * SECOND);
	m->boot++;
	m->monotonic = m->boot == 1 ? m->options.uptime_usec : 2 * SECOND;
	m->boot_id = fixture_id(random_next(&m->random));
	m->boot_end = m->options.entries * m->boot / m->options.boots;
	m->burst = 0;
	for (unsigned i = 0; i < 2; i++) {
		for (size_t j = 0; j < m->crews[i].count; j++)
			process_start(m->crews[i].processes + j, m);
	}
}

struct machine *machine_new(const struct machine_options *options)
{
	struct machine *m = calloc(1, sizeof(*m));

	if (!m)
		abort();
	m->options = *options;
	m->random.state = options->seed;
	m->id = fixture_id(random_next(&m->random));
	m->realtime = options->start_usec;
	m->gap_usec = options->span_usec / (options->entries ? options->entries : 1);
	crew_init(&m->crews[0], services_of_system);
	crew_init(&m->crews[1], services_of_user);
	machine_boot(m);
	return m;
}

struct machine *machine_free(struct machine *m)
{
	if (!m)
		return NULL;
	free(m->crews[0].processes);
	free(m->crews[1].processes);
	free(m);
	return NULL;
}

struct id128 machine_id(const struct machine *m)
{
	return m->id;
}

/* Lets time pass: most entries follow at once, some after a while. */
static void machine_pass(struct machine *m)
{
	uint64_t gap = 1 + random_below(&m->random, 400);

	if (m->burst == 0) {
		/* A burst has four entries on average; what it saves in time comes before it. */
		gap += random_next(&m->random) % (8 * m->gap_usec + 1);
	}
	m->realtime += gap;
	m->monotonic += gap;
}

/* Adds a field to an entry: NAME= and a form with pieces. */
static void event_add(struct event *e, const struct text_context *context, const char *form)
{
	char *at = e->bytes + e->used;
	size_t size = text_write(form, context, at, EVENT_BYTES - e->used);

	if (e->count == EVENT_FIELDS_MAX)
		abort();
	e->fields[e->count++] = (struct fixture_field){ at, size };
	e->used += size;
}

/* Adds the fields that come with a text, one in each line. */
static void event_add_lines(struct event *e, const struct text_context *context, const char *lines)
{
	char form[256];

	while (lines && *lines) {
		size_t size = strcspn(lines, "\n");

		snprintf(form, sizeof(form), "%.*s", (int)size, lines);
		event_add(e, context, form);
		lines += size + (lines[size] == '\n');
	}
}

/* Adds the time at which a message was sent, where the transport tells. */
static void event_add_source_time(struct event *e, const struct machine *m,
				  enum transport transport)
{
	char text[80];

	if (transport == TRANSPORT_KERNEL)
		snprintf(text, sizeof(text), "_SOURCE_MONOTONIC_TIMESTAMP=%llu",
			 (unsigned long long)m->monotonic - 1);
	else
		snprintf(text, sizeof(text), "_SOURCE_REALTIME_TIMESTAMP=%llu",
			 (unsigned long long)m->realtime - 37);
	event_add(e, &(struct text_context){ 0 }, text);
}

/* Puts the entry of a process together. */
static void machine_log(struct machine *m, struct process *p, struct event *ret)
{
	struct text_context context = { &m->random, m->realtime, m->monotonic };
	const struct text *text = p->service->texts;
	unsigned at = random_below(&m->random, p->text_weights);
	char form[512];

	while (at >= text->weight)
		at -= (text++)->weight;
	ret->count = ret->used = 0;
	snprintf(form, sizeof(form), "PRIORITY=%u", text->priority);
	event_add(ret, &context, form);
	for (size_t i = 0; i < p->count; i++)
		ret->fields[ret->count++] = p->fields[i];
	if (p->service->transport != TRANSPORT_STDOUT)
		event_add_source_time(ret, m, p->service->transport);
	event_add_lines(ret, &context, text->fields);
	snprintf(form, sizeof(form), "MESSAGE=%s", text->form);
	event_add(ret, &context, form);
	ret->of_user = p->service->uid >= 1000;
	ret->stamp = (struct fixture_stamp){ .realtime = m->realtime,
					     .monotonic = m->monotonic,
					     .boot_id = m->boot_id };
}

void machine_next(struct machine *m, struct event *ret)
{
	if (m->done == m->boot_end && m->boot < m->options.boots)
		machine_boot(m);
	machine_pass(m);
	if (m->burst == 0) {
		bool of_user = random_below(&m->random, 100) < m->options.user_share;

		m->current = crew_pick(&m->crews[of_user], &m->random);
		m->burst = 1 + random_skewed(&m->random, 13);
		if (random_below(&m->random, 2000) == 0)
			process_start(m->current, m);
	}
	m->burst--;
	m->done++;
	machine_log(m, m->current, ret);
}
