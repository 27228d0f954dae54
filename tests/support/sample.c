/* SPDX-License-Identifier: MIT */
/*
 * The sample archive's story. A weather station called "leuchtturm" boots an old system, is scanned
 * for passwords, has its log rotated, runs a backup that fails at length, and loses power; an hour
 * later, upgraded, it boots again and runs across the night in which Europe's clocks go forward.
 *
 * Everything is made up and nothing depends on the time, the machine or chance. The story is told
 * by say_*() calls; sample_wait() lets time pass.
 */
#include <assert.h>
#include <stdarg.h>
#include <stdio.h>

#include "tests/support/sample.h"

#define MACHINE 0x5a01u
#define SECOND UINT64_C(1000)             /* in sample_wait()'s milliseconds */
#define BOOT_1 UINT64_C(1711836845000000) /* 2024-03-30 22:14:05 UTC */
#define BOOT_2 UINT64_C(1711846660000000) /* 2024-03-31 00:57:40 UTC */

/* What writes: everything that the journal knows of a process, in the order it would list it. */
struct program {
	const char *identifier;
	const char *transport;
	const char *facility; /* syslog's number, or NULL */
	unsigned pid;
	unsigned uid;
	bool to_user_file;
	const char *const *fields;
};

struct sample {
	struct fixture *system;
	struct fixture *user;
	struct fixture_stamp stamp; /* of the last entry */
	uint64_t clock;             /* realtime minus monotonic */
	unsigned count;
};

static const char *const systemd_fields[] = { "_COMM=systemd",
					      "_EXE=/usr/lib/systemd/systemd",
					      "_CMDLINE=/sbin/init",
					      "_CAP_EFFECTIVE=1ffffffffff",
					      "_SYSTEMD_CGROUP=/init.scope",
					      "_SYSTEMD_UNIT=init.scope",
					      "_SYSTEMD_SLICE=-.slice",
					      NULL };
static const char *const timesyncd_fields[] = {
	"_COMM=systemd-timesyn",
	"_EXE=/usr/lib/systemd/systemd-timesyncd",
	"_CMDLINE=/lib/systemd/systemd-timesyncd",
	"_SYSTEMD_CGROUP=/system.slice/systemd-timesyncd.service",
	"_SYSTEMD_UNIT=systemd-timesyncd.service",
	"_SYSTEMD_SLICE=system.slice",
	"_SYSTEMD_INVOCATION_ID=0c5d1f6b7a3e4b0d9f1e2a3b4c5d6e70",
	NULL
};
static const char *const sshd_fields[] = {
	"_COMM=sshd",
	"_EXE=/usr/sbin/sshd",
	"_CMDLINE=sshd: [accepted]",
	"_SYSTEMD_CGROUP=/system.slice/ssh.service",
	"_SYSTEMD_UNIT=ssh.service",
	"_SYSTEMD_SLICE=system.slice",
	"_SYSTEMD_INVOCATION_ID=6b1d0e4f92c84a52b6a7c8d9e0f1a2b3",
	NULL
};
static const char *const cron_fields[] = { "_COMM=cron",
					   "_EXE=/usr/sbin/cron",
					   "_CMDLINE=/usr/sbin/CRON -f",
					   "_SYSTEMD_CGROUP=/system.slice/cron.service",
					   "_SYSTEMD_UNIT=cron.service",
					   "_SYSTEMD_SLICE=system.slice",
					   NULL };
static const char *const backup_fields[] = {
	"_COMM=backup",
	"_EXE=/usr/bin/python3.9",
	"_CMDLINE=/usr/bin/python3 /usr/local/sbin/backup --target /mnt/backup",
	"_SYSTEMD_CGROUP=/system.slice/backup.service",
	"_SYSTEMD_UNIT=backup.service",
	"_SYSTEMD_SLICE=system.slice",
	"_SYSTEMD_INVOCATION_ID=f00dfacecafe4d2e8badc0ffee15600d",
	"_STREAM_ID=1f2e3d4c5b6a4978a8b7c6d5e4f30211",
	NULL
};
static const char *const station_fields[] = {
	"_COMM=wetter",
	"_EXE=/home/enno/bin/wetter",
	"_CMDLINE=/home/enno/bin/wetter --station Kap-Süd",
	"_AUDIT_LOGINUID=1000",
	"_SYSTEMD_CGROUP=/user.slice/user-1000.slice/user@1000.service/app.slice/wetter.service",
	"_SYSTEMD_UNIT=user@1000.service",
	"_SYSTEMD_USER_UNIT=wetter.service",
	"_SYSTEMD_OWNER_UID=1000",
	"_SYSTEMD_SLICE=user-1000.slice",
	"_SYSTEMD_USER_SLICE=app.slice",
	NULL
};
static const char *const no_fields[] = { NULL };

static const struct program kernel = { "kernel", "kernel", "0", 0, 0, false, no_fields };
static const struct program systemd = { "systemd", "journal", "3", 1, 0, false, systemd_fields };
static const struct program timesyncd = { "systemd-timesyncd", "journal", "3", 402, 997, false,
					  timesyncd_fields };
static const struct program sshd = { "sshd", "syslog", "4", 871, 0, false, sshd_fields };
static const struct program cron = { "CRON", "syslog", "9", 1204, 0, false, cron_fields };
static const struct program backup = { "backup", "stdout", NULL, 1533, 0, false, backup_fields };
static const struct program station = {
	"wetter", "stdout", NULL, 1377, 1000, true, station_fields
};

/* ---- telling ------------------------------------------------------------------------------ */

/* Lets time pass; a few microseconds more or less, so that times look like times. */
static void sample_wait(struct sample *s, uint64_t milliseconds)
{
	s->stamp.monotonic += milliseconds * 1000 + s->count * 7919 % 1000;
}

/* Fields as they are collected for one entry; TEXTS is room for those that are made here. */
struct fields {
	struct fixture_field list[48];
	size_t count;
	char texts[16][3072];
	size_t text_count;
};

/* Adds a field that stays where it is. */
static void fields_add(struct fields *f, const void *data, size_t size)
{
	assert(f->count < sizeof(f->list) / sizeof(f->list[0]));
	f->list[f->count++] = (struct fixture_field){ data, size };
}

/* Adds a field that is a string. */
static void fields_text(struct fields *f, const char *text)
{
	fields_add(f, text, strlen(text));
}

/* Adds a field that is formatted here. */
static void __attribute__((format(printf, 2, 3)))
fields_format(struct fields *f, const char *format, ...)
{
	char *text = f->texts[f->text_count++];
	va_list ap;
	int n;

	assert(f->text_count <= sizeof(f->texts) / sizeof(f->texts[0]));
	va_start(ap, format);
	n = vsnprintf(text, sizeof(f->texts[0]), format, ap);
	va_end(ap);
	assert(n >= 0 && (size_t)n < sizeof(f->texts[0]));
	fields_add(f, text, (size_t)n);
}

/* Adds what the journal itself knows of the writer, and writes the entry. */
static void sample_submit(struct sample *s, const struct program *p, struct fields *f)
{
	struct fixture *fx = p->to_user_file ? s->user : s->system;
	const struct id128 machine_id = fixture_id(MACHINE);
	char id[33];

	s->stamp.seqnum++;
	s->stamp.realtime = s->clock + s->stamp.monotonic;
	fields_format(f, "_TRANSPORT=%s", p->transport);
	fields_format(f, "SYSLOG_IDENTIFIER=%s", p->identifier);
	if (p->facility)
		fields_format(f, "SYSLOG_FACILITY=%s", p->facility);
	if (p == &kernel) {
		fields_format(f, "_SOURCE_MONOTONIC_TIMESTAMP=%lu",
			      (unsigned long)(s->stamp.monotonic - 311));
	} else {
		fields_format(f, "_PID=%u", p->pid);
		fields_format(f, "_UID=%u", p->uid);
		fields_format(f, "_GID=%u", p->uid);
	}
	if (strcmp(p->transport, "syslog") == 0 || strcmp(p->transport, "journal") == 0)
		fields_format(f, "_SOURCE_REALTIME_TIMESTAMP=%lu",
			      (unsigned long)(s->stamp.realtime - 73));
	for (const char *const *field = p->fields; *field; field++)
		fields_text(f, *field);
	fixture_id_text(&s->stamp.boot_id, id);
	fields_format(f, "_BOOT_ID=%s", id);
	fixture_id_text(&machine_id, id);
	fields_format(f, "_MACHINE_ID=%s", id);
	fields_text(f, "_HOSTNAME=leuchtturm");
	fixture_entry(fx, &s->stamp, f->list, f->count);
	s->count++;
	sample_wait(s, 3);
}

/* A program says something. */
static void __attribute__((format(printf, 4, 5)))
say(struct sample *s, const struct program *p, unsigned priority, const char *format, ...)
{
	struct fields f = { .count = 0 };
	char message[2048];
	va_list ap;

	va_start(ap, format);
	vsnprintf(message, sizeof(message), format, ap);
	va_end(ap);
	fields_format(&f, "PRIORITY=%u", priority);
	fields_format(&f, "MESSAGE=%s", message);
	sample_submit(s, p, &f);
}

/* A program says something and adds fields of its own, up to NULL. */
static void __attribute__((sentinel))
say_with(struct sample *s, const struct program *p, unsigned priority, const char *message, ...)
{
	struct fields f = { .count = 0 };
	const char *text;
	va_list ap;

	fields_format(&f, "PRIORITY=%u", priority);
	fields_format(&f, "MESSAGE=%s", message);
	va_start(ap, message);
	while ((text = va_arg(ap, const char *)))
		fields_text(&f, text);
	va_end(ap);
	sample_submit(s, p, &f);
}

/* The service manager reports that a unit was started. */
static void say_started(struct sample *s, const char *unit, const char *description)
{
	struct fields f = { .count = 0 };

	fields_text(&f, "PRIORITY=6");
	fields_format(&f, "MESSAGE=Started %s - %s.", unit, description);
	fields_text(&f, "MESSAGE_ID=39f53479d3a045ac8e11786248231fbf");
	fields_format(&f, "UNIT=%s", unit);
	fields_text(&f, "JOB_TYPE=start");
	fields_text(&f, "JOB_RESULT=done");
	fields_text(&f, "CODE_FILE=src/core/job.c");
	fields_text(&f, "CODE_LINE=768");
	fields_text(&f, "CODE_FUNC=job_emit_done_message");
	sample_submit(s, &systemd, &f);
}

/* A wrong password, as it is seen ten times a minute. */
static void say_wrong_password(struct sample *s, const char *name, unsigned port)
{
	say(s, &sshd, 6, "Failed password for invalid user %s from 203.0.113.77 port %u ssh2", name,
	    port);
	sample_wait(s, 4 * SECOND);
}

/* ---- the story ---------------------------------------------------------------------------- */

/* The first boot, up to the rotation. */
static void tell_first_boot(struct sample *s)
{
	static const char *const names[] = { "admin", "pi", "oracle", "test", "gast", "müller" };

	say(s, &kernel, 5,
	    "Linux version 5.10.0-28-armmp (debian-kernel@lists.debian.org) "
	    "(arm-linux-gnueabihf-gcc "
	    "10.2.1) #1 SMP Debian 5.10.209-2 (2024-01-31)");
	say(s, &kernel, 6, "Booting Linux on physical CPU 0x0");
	say(s, &kernel, 6, "Memory: 991012K/1015808K available");
	say(s, &kernel, 4, "random: crng init done");
	sample_wait(s, 900);
	say(s, &kernel, 3, "mmc0: error -110 whilst initialising SD card");
	say_with(s, &kernel, 6, "eth0: Link is Up - 100Mbps/Full - flow control off",
		 "_KERNEL_SUBSYSTEM=net", "_KERNEL_DEVICE=n2", "_UDEV_SYSNAME=eth0", NULL);
	sample_wait(s, 2 * SECOND);
	say(s, &systemd, 6, "systemd 247.3-7 running in system mode.");
	say_started(s, "systemd-timesyncd.service", "Network Time Synchronization");
	say_started(s, "ssh.service", "OpenBSD Secure Shell server");
	say_started(s, "cron.service", "Regular background program processing daemon");
	say(s, &timesyncd, 6,
	    "Initial synchronization to time server 192.0.2.123:123 (ntp.example).");
	sample_wait(s, 20 * SECOND);
	say(s, &station, 6, "Station Kap-Süd: 12,5 °C, Böen aus Südwest");
	for (unsigned i = 0; i < 6; i++)
		say_wrong_password(s, names[i], 41000 + i * 37);
	say(s, &sshd, 4,
	    "error: maximum authentication attempts exceeded for invalid user "
	    "müller from 203.0.113.77 port 41185 ssh2 [preauth]");
	sample_wait(s, 30 * SECOND);
	say(s, &cron, 6, "(root) CMD (cd / && run-parts --report /etc/cron.hourly)");
	say(s, &station, 7, "tick\ttack \x1b[1mfett\x1b[0m");
	/* Long enough to be compressed, and alike enough to shrink. */
	say(s, &kernel, 4,
	    "Unable to handle kernel NULL pointer dereference at virtual address 00000004\n"
	    "pgd = 4f2b5c1e\n[00000004] *pgd=00000000\nInternal error: Oops: 5 [#1] SMP ARM\n"
	    "CPU: 0 PID: 1377 Comm: wetter Tainted: G        W         5.10.0-28-armmp #1\n"
	    "PC is at anemometer_read+0x1c/0x74 [anemometer]\n"
	    "LR is at anemometer_read+0x14/0x74 [anemometer]\n"
	    "[<bf0a401c>] (anemometer_read [anemometer]) from [<c0512a34>] (vfs_read+0xb0/0x2e8)\n"
	    "[<c0512a34>] (vfs_read) from [<c0512f58>] (ksys_read+0x6c/0xe8)\n"
	    "[<c0512f58>] (ksys_read) from [<c0300060>] (ret_fast_syscall+0x0/0x54)\n"
	    "---[ end trace 8badf00d8badf00d ]---");
	say_with(s, &systemd, 3, "wetter.service: Main process exited, code=killed, status=11/SEGV",
		 "UNIT=user@1000.service", "USER_UNIT=wetter.service", "EXIT_CODE=killed",
		 "EXIT_STATUS=11", NULL);
	sample_wait(s, 5 * SECOND);
}

/* The backup fails, at length. */
static void tell_backup(struct sample *s)
{
	struct fields f = { .count = 0 };

	say(s, &backup, 6, "copying /var/lib/wetter → /mnt/backup");
	sample_wait(s, 12 * SECOND);
	fields_text(&f, "PRIORITY=3");
	fields_format(
		&f,
		"MESSAGE=Traceback (most recent call last):\n"
		"  File \"/usr/local/sbin/backup\", line 88, in <module>\n"
		"    main(sys.argv[1:])\n"
		"  File \"/usr/local/sbin/backup\", line 61, in main\n"
		"    copy_tree(source, target)\n"
		"  File \"/usr/local/sbin/backup\", line 34, in copy_tree\n"
		"    copy_tree(source / name, target / name)\n"
		"  File \"/usr/local/sbin/backup\", line 34, in copy_tree\n"
		"    copy_tree(source / name, target / name)\n"
		"  File \"/usr/local/sbin/backup\", line 37, in copy_tree\n"
		"    shutil.copy2(source, target)\n"
		"OSError: [Errno 28] No space left on device: '/mnt/backup/wetter/2024/märz.csv'");
	/* Fields with the same name, an empty one, and one that no terminal should see. */
	fields_text(&f, "TRIED=/mnt/backup");
	fields_text(&f, "TRIED=/mnt/backup2");
	fields_text(&f, "TRIED=");
	fields_add(&f, "CHECKSUM=\x00\x01\x02\xfe\xff\n\x80\x00===", 20);
	sample_submit(s, &backup, &f);
	say_with(s, &systemd, 4, "backup.service: Failed with result 'exit-code'.",
		 "UNIT=backup.service", "UNIT_RESULT=exit-code",
		 "MESSAGE_ID=d9b373ed55a64feb8242e02dbe79a49c", NULL);
}

/* The first boot after the rotation, up to the loss of power. */
static void tell_last_minutes(struct sample *s)
{
	sample_wait(s, 60 * SECOND);
	say_started(s, "backup.service", "Nightly backup");
	tell_backup(s);
	sample_wait(s, 60 * SECOND);
	for (unsigned i = 0; i < 4; i++) {
		say(s, &station, 6, "%u,%u °C, Wind %u kn, 気圧 %u hPa", 12 - i, i * 3 % 10,
		    21 + 7 * i, 1004 - 3 * i);
		sample_wait(s, 60 * SECOND);
	}
	say(s, &station, 4, "Sturmwarnung: Wind über 40 kn 🌀");
	say(s, &kernel, 1, "Under-voltage detected! (0x00050005)");
	sample_wait(s, 800);
	say(s, &kernel, 0, "critical voltage, power is going away");
	say(s, &systemd, 2, "Emergency shutdown, syncing file systems");
}

/* The second boot, on a newer system. */
static void tell_second_boot(struct sample *s)
{
	char text[1400];

	say(s, &kernel, 5,
	    "Linux version 6.1.0-18-armmp (debian-kernel@lists.debian.org) #1 SMP Debian 6.1.76-1");
	say(s, &kernel, 6, "Booting Linux on physical CPU 0x0");
	sample_wait(s, SECOND);
	say(s, &kernel, 6, "EXT4-fs (mmcblk0p2): recovery complete");
	say(s, &systemd, 6, "systemd 262.1-1 running in system mode.");
	say_started(s, "systemd-timesyncd.service", "Network Time Synchronization");
	say_started(s, "ssh.service", "OpenBSD Secure Shell server");
	sample_wait(s, 3 * SECOND);
	/* The clock was twelve seconds late. */
	s->clock += 12000000;
	say(s, &timesyncd, 6, "Contacted time server 192.0.2.123:123 (ntp.example).");
	say_with(s, &timesyncd, 5, "System clock time unset or jumped backwards, restored.",
		 "MESSAGE_ID=7db73c8af0d94eeb822ae04323fe6ab6", NULL);
	for (unsigned i = 0; i < 5; i++) {
		sample_wait(s, 55 * SECOND);
		say(s, &station, 6, "%u,%u °C, Wind %u kn, es klart auf", 8 + i / 2, i * 7 % 10,
		    33 - 4 * i);
	}
	memset(text, '#', sizeof(text));
	memcpy(text, "Bericht der Nacht ", 18);
	text[sizeof(text) - 1] = 0;
	say_with(s, &backup, 5, text, "DOCUMENT={\"stations\":[\"Kap-Süd\"],\"gaps\":1}", NULL);
	say(s, &cron, 6, "(enno) CMD (~/bin/wetter --report | mail -s 'Guten Morgen' enno)");
	say(s, &sshd, 6,
	    "Accepted publickey for enno from 198.51.100.4 port 50022 ssh2: ED25519 "
	    "SHA256:kWq0yXw0eT2Cw1t4v3bYh6c8rFv9m1nQxZsLJd5uPaE");
	say(s, &station, 7, "%s", "");
	say(s, &station, 6, "gute Nacht");
}

/* ---- the files ---------------------------------------------------------------------------- */

/* Names a file as a rotation does. */
static void sample_name_archived(struct sample_file *file, const char *base, uint64_t seqnum_seed)
{
	struct id128 seqnum_id = fixture_id(seqnum_seed);
	uint64_t entry = fixture_find_entry(file->fx, 0);
	char id[33];

	fixture_id_text(&seqnum_id, id);
	snprintf(file->name, sizeof(file->name), "%s@%s-%016lx-%016lx.journal", base, id,
		 (unsigned long)fixture_get64(file->fx, entry + ENTRY_SEQNUM),
		 (unsigned long)fixture_get64(file->fx, entry + ENTRY_REALTIME));
}

/* Begins a boot. */
static void sample_boot(struct sample *s, uint64_t id_seed, uint64_t realtime)
{
	s->stamp = (struct fixture_stamp){ .monotonic = 1204311, .boot_id = fixture_id(id_seed) };
	s->clock = realtime;
}

void sample_make(struct sample_file files[SAMPLE_FILES])
{
	const struct fixture_options options[SAMPLE_FILES] = {
		{ .header_size = 240, .state = JOURNAL_STATE_ARCHIVED, .compression = OBJECT_XZ },
		{ .header_size = 248, .state = JOURNAL_STATE_ARCHIVED, .keyed = true },
		{ .header_size = 256,
		  .state = JOURNAL_STATE_ONLINE,
		  .compression = OBJECT_LZ4,
		  .keyed = true,
		  .preallocate_bytes = 4096 },
		{ .state = JOURNAL_STATE_ONLINE,
		  .compression = OBJECT_ZSTD,
		  .keyed = true,
		  .compact = true,
		  .preallocate_bytes = 4096 },
		{ .state = JOURNAL_STATE_OFFLINE, .compact = true },
	};
	struct sample s = { .count = 0 };

	for (unsigned i = 0; i < SAMPLE_FILES; i++) {
		struct fixture_options o = options[i];

		o.file_id = fixture_id(MACHINE + 16 + i);
		o.machine_id = fixture_id(MACHINE);
		/* One writer, one ID: the old system's, then the new one's. */
		o.seqnum_id = fixture_id(MACHINE + (i < 3 ? 1 : 2));
		if (!fixture_can_compress(o.compression))
			o.compression = 0;
		files[i] =
			(struct sample_file){ .fx = fixture_new(&o), .compression = o.compression };
	}
	sample_boot(&s, MACHINE + 3, BOOT_1);
	s.system = files[0].fx;
	s.user = files[1].fx;
	tell_first_boot(&s);
	s.system = files[2].fx;
	tell_last_minutes(&s);
	sample_boot(&s, MACHINE + 4, BOOT_2);
	s.system = files[3].fx;
	s.user = files[4].fx;
	tell_second_boot(&s);
	for (unsigned i = 0; i < SAMPLE_FILES; i++)
		fixture_finish(files[i].fx);

	sample_name_archived(&files[0], "system", MACHINE + 1);
	sample_name_archived(&files[1], "user-1000", MACHINE + 1);
	snprintf(files[2].name, sizeof(files[2].name), "system@%016lx-8badf00d8badf00d.journal~",
		 (unsigned long)BOOT_2);
	snprintf(files[3].name, sizeof(files[3].name), "system.journal");
	snprintf(files[4].name, sizeof(files[4].name), "user-1000.journal");
}

void sample_done(struct sample_file files[SAMPLE_FILES])
{
	for (unsigned i = 0; i < SAMPLE_FILES; i++)
		files[i].fx = fixture_free(files[i].fx);
}
