// SPDX-License-Identifier: MIT
/*
 * Boots: finding the one that -b means, and listing them.
 *
 * Both go by the library's list of boots, which comes from the indexes of the files. Only where the
 * machine's own journals are read, and the current boot is meant, is the running system asked.
 */
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "boots.h"
#include "messages.h"
#include "runs.h"

/* A jscan_boot_fn: keeps one boot. */
static int boots_keep(void *userdata, const struct jscan_boot *boot)
{
	const struct run run = {
		.id = boot->boot_id,
		.first_usec = boot->first_realtime_usec,
		.last_usec = boot->last_realtime_usec,
		.first_rank = boot->first_rank,
	};

	return runs_add(userdata, &run);
}

/* All boots. A negative answer has been explained. */
static int boots_read(struct archive *archive, struct runs *runs)
{
	int r = jscan_list_boots(archive->engine, boots_keep, runs);

	if (r == -ENOMEM)
		return message_memory();
	return r < 0 ? message_error("Failed to determine boots: %s", strerror(-r)) : 0;
}

int boots_running(jscan_id *ret_id)
{
	char text[JSCAN_ID_TEXT_SIZE];
	size_t size = 0;
	int c, r = -EINVAL;
	FILE *f = fopen("/proc/sys/kernel/random/boot_id", "re");

	if (!f)
		return message_error("Failed to get boot ID: %s", strerror(errno));
	while ((c = getc(f)) != EOF && size < sizeof(text) - 1)
		if (c != '-')
			text[size++] = (char)c;
	fclose(f);
	text[size] = '\0';
	if (size == sizeof(text) - 1)
		r = jscan_id_parse(text, ret_id);
	return r < 0 ? message_error("Failed to get boot ID: %s", strerror(-r)) : 0;
}

/* Which kinds of places the files are in. */
struct boots_places {
	bool volatile_ones, persistent_ones;
};

/* A jscan_file_fn: notes where one file is. */
static int boots_note_place(void *userdata, const struct jscan_file_info *file)
{
	struct boots_places *places = userdata;

	places->volatile_ones |= strncmp(file->path, "/run/", 5) == 0;
	places->persistent_ones |= strncmp(file->path, "/var/", 5) == 0;
	return 0;
}

/* Whether there are files of the running boot alone. */
static bool boots_are_volatile(struct archive *archive)
{
	struct boots_places places = { 0 };

	if (!archive_is_default(archive->settings))
		return false;
	jscan_list_files(archive->engine, boots_note_place, &places);
	return places.volatile_ones && !places.persistent_ones;
}

int boots_find(struct archive *archive, jscan_id *ret_id)
{
	const struct descriptor *descriptor = &archive->settings->boot;
	char text[DESCRIPTOR_TEXT_SIZE];
	struct runs runs = { 0 };
	const struct run *run;
	int r;

	if (archive_is_default(archive->settings) && !descriptor->has_id &&
	    descriptor->offset == 0) {
		r = boots_running(ret_id);
		return r < 0 ? r : 1;
	}
	if (boots_are_volatile(archive)) {
		message_notice("Specifying boot ID or boot offset has no effect, no persistent "
			       "journal was found.");
		return 0;
	}
	if (!descriptor->has_id && descriptor->offset <= 0) {
		r = jscan_newest_boot(archive->engine, (uint64_t)-(int64_t)descriptor->offset,
				      ret_id);
		if (r == 0)
			r = message_error("No journal boot entry found for the specified boot "
					  "(%s).", descriptor_format(descriptor, text));
		else if (r < 0)
			r = r == -ENOMEM ? message_memory()
					 : message_error("Failed to determine boots: %s",
							 strerror(-r));
		return r;
	}
	r = boots_read(archive, &runs);
	if (r < 0)
		goto out;
	run = runs_find(&runs, descriptor);
	if (!run) {
		r = message_error("No journal boot entry found for the specified boot (%s).",
				  descriptor_format(descriptor, text));
		goto out;
	}
	*ret_id = run->id;
	r = 1;
out:
	runs_done(&runs);
	return r;
}

int boots_list(struct archive *archive)
{
	struct runs runs = { 0 };
	int r = boots_read(archive, &runs);

	if (r >= 0) {
		r = runs_print(&runs, archive->settings, "BOOT ID", "boot_id");
		if (r == -ENOMEM)
			message_memory();
		if (r == 0) {
			if (!archive->settings->quiet)
				message_error("No boot found.");
			r = -ENODATA;
		}
	}
	runs_done(&runs);
	return r;
}
