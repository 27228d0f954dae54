// SPDX-License-Identifier: MIT
/*
 * --verify: a line for each file, in journalctl's words, and what is wrong with it before that. All
 * of it goes to standard error; standard output gets a bar if it is a terminal, which is wiped
 * before anything else is said.
 */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "look.h"
#include "messages.h"
#include "show.h"
#include "stamp.h"
#include "stats.h"
#include "verify.h"

/* The bar is drawn this often at most, and takes this part of the terminal's width. */
#define VERIFY_PERIOD_USEC 50000
#define VERIFY_BAR_WIDTH(columns) ((columns)*3 / 4)

struct verification {
	bool quiet;
	int failed;         /* errno of the first file that is not in order */
	unsigned bar_width; /* 0: there is no bar */
	bool bar_colors;
	bool bar_drawn;
	uint64_t drawn_usec;
};

/* Finds out whether there is a terminal to draw a bar on. */
static void verify_prepare_bar(struct verification *v)
{
	struct winsize size = { 0 };
	struct look look;

	if (v->quiet || !isatty(STDOUT_FILENO))
		return;
	if (ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) < 0 || size.ws_col == 0)
		size.ws_col = 80;
	v->bar_width = VERIFY_BAR_WIDTH(size.ws_col);
	look_init(&look);
	v->bar_colors = look.colours != JSCAN_COLOURS_NONE;
}

/* Wipes the bar. */
static void verify_wipe(struct verification *v)
{
	if (!v->bar_drawn)
		return;
	printf("\r%*s\r", (int)v->bar_width + 5, "");
	fflush(stdout);
	v->bar_drawn = false;
}

/* A jscan_verify_progress_fn: draws the bar. */
static void verify_progress(void *userdata, const char *path, unsigned permille)
{
	struct verification *v = userdata;
	unsigned full = v->bar_width * permille / 1000;
	uint64_t now;

	(void)path;
	if (!v->bar_width)
		return;
	now = stats_now();
	if (v->drawn_usec && now - v->drawn_usec < VERIFY_PERIOD_USEC)
		return;
	v->drawn_usec = now;
	fputs(v->bar_colors ? "\r\033[?25l\033[0;1;32m" : "\r", stdout);
	for (unsigned i = 0; i < v->bar_width; i++) {
		if (i == full && v->bar_colors)
			fputs("\033[0m", stdout);
		fputs(i < full ? "\342\226\210" : "\342\226\221", stdout);
	}
	if (full == v->bar_width && v->bar_colors)
		fputs("\033[0m", stdout);
	printf(" %3u%%\r%s", permille / 10, v->bar_colors ? "\033[?25h" : "");
	fflush(stdout);
	v->bar_drawn = true;
}

/* A length of time to the microsecond: "15min", "7min 19.512402s", "1.946ms". Returns TEXT. */
static char *verify_span(uint64_t usec, char *text)
{
	static const struct {
		const char *name;
		uint64_t usec;
	} units[] = {
		{ "y", UINT64_C(31557600000000) }, { "month", UINT64_C(2629800000000) },
		{ "w", UINT64_C(604800000000) },   { "d", UINT64_C(86400000000) },
		{ "h", UINT64_C(3600000000) },     { "min", UINT64_C(60000000) },
	};
	size_t at = 0;

	snprintf(text, STAMP_SIZE, "0");
	for (size_t i = 0; i < sizeof(units) / sizeof(units[0]); i++) {
		if (usec < units[i].usec)
			continue;
		at += (size_t)snprintf(text + at, STAMP_SIZE - at, "%s%" PRIu64 "%s",
				       at > 0 ? " " : "", usec / units[i].usec, units[i].name);
		usec %= units[i].usec;
	}
	if (usec >= 1000000 && usec % 1000000)
		snprintf(text + at, STAMP_SIZE - at, "%s%" PRIu64 ".%06" PRIu64 "s",
			 at > 0 ? " " : "", usec / 1000000, usec % 1000000);
	else if (usec >= 1000000)
		snprintf(text + at, STAMP_SIZE - at, "%s%" PRIu64 "s", at > 0 ? " " : "",
			 usec / 1000000);
	else if (usec >= 1000 && usec % 1000)
		snprintf(text + at, STAMP_SIZE - at, "%s%" PRIu64 ".%03" PRIu64 "ms",
			 at > 0 ? " " : "", usec / 1000, usec % 1000);
	else if (usec >= 1000)
		snprintf(text + at, STAMP_SIZE - at, "%s%" PRIu64 "ms", at > 0 ? " " : "",
			 usec / 1000);
	else if (usec > 0)
		snprintf(text + at, STAMP_SIZE - at, "%s%" PRIu64 "us", at > 0 ? " " : "", usec);
	return text;
}

/* What a key has brought to light about a file that is in order. */
static void verify_print_seal(const struct jscan_verify_result *result)
{
	char from[STAMP_SIZE], until[STAMP_SIZE], span[STAMP_SIZE];
	uint64_t sealed = result->validated ? result->validated_until_usec : 0;
	uint64_t unsealed = result->last_entry_usec > sealed ? result->last_entry_usec - sealed : 0;

	if (result->validated && result->first_entry_usec)
		message_info("=> Validated from %s to %s, final %s entries not sealed.",
			       stamp_format(result->first_entry_usec, from),
			       stamp_format(result->validated_until_usec, until),
			       verify_span(unsealed, span));
	else if (result->last_entry_usec)
		message_info(
			"=> No sealing yet, %s of entries not sealed.",
			verify_span(result->last_entry_usec - result->first_entry_usec, span));
	else
		message_info("=> No sealing yet, no entries in file.");
}

/* A jscan_verify_fn: says what was found out about a file. */
static int verify_print(void *userdata, const struct jscan_verify_result *result)
{
	struct verification *v = userdata;
	uint64_t size = result->file_bytes ? result->file_bytes : 1;

	verify_wipe(v);
	for (size_t i = 0; i < result->detail_count; i++) {
		const struct jscan_verify_detail *detail = &result->details[i];

		if (detail->offset == UINT64_MAX)
			message_error("%s", detail->text);
		else
			message_error("%06" PRIx64 ": %s", detail->offset, detail->text);
	}
	if (result->fields_unchecked > 0 && !v->quiet)
		message_notice("%s: %" PRIu64 " fields were too large to be checked (--memory=).",
			       result->path, result->fields_unchecked);
	if (result->error == 0) {
		if (!v->quiet)
			message_info("PASS: %s", result->path);
		if (result->sealed && !v->quiet)
			verify_print_seal(result);
		return 0;
	}
	if (result->error == -ENOKEY)
		message_notice("Journal file %s has sealing enabled but verification key has not "
			       "been passed using --verify-key=.",
			       result->path);
	else
		message_error("File corruption detected at %s:%" PRIu64 " (of %" PRIu64
			       " bytes, %" PRIu64 "%%).",
			       result->path, result->error_offset, result->file_bytes,
			       100 * result->error_offset / size);
	message_warning("FAIL: %s: %s", result->path, strerror(-result->error));
	if (!v->failed)
		v->failed = result->error;
	return 0;
}

int verify_files(struct archive *archive, bool *ret_stopped)
{
	struct verification v = { .quiet = archive->settings->quiet };
	struct jscan_verify_options options = {
		.size = sizeof(options),
		.key = archive->settings->verify_key,
		.progress = verify_progress,
	};
	int r;

	verify_prepare_bar(&v);
	show_running = archive->engine;
	r = jscan_verify(archive->engine, &options, verify_print, &v);
	show_running = NULL;
	verify_wipe(&v);
	if (r == -EKEYREJECTED && jscan_files_usable(archive->engine) == 0)
		return 0; /* there was nothing to try the key on */
	if (r == -EKEYREJECTED)
		return message_error("Failed to load verification key: %s", strerror(-r));
	if (r == -ENOMEM)
		return message_memory();
	if (r < 0)
		return message_error("Failed to verify: %s", strerror(-r));
	*ret_stopped = r > 0;
	return v.failed;
}
