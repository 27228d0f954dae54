// SPDX-License-Identifier: MIT
/*
 * Lines on standard error. As journalctl prints them, they are bare: no program name and no level.
 * On terminals the level is told by a colour, where there are colours, and a line ends with CR LF,
 * so that it ends well also where the terminal is in raw mode. $SYSTEMD_LOG_LEVEL tells which lines
 * are wanted, $SYSTEMD_LOG_COLOR whether they have colours, $SYSTEMD_LOG_TARGET=null that none are.
 */
#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "look.h"
#include "messages.h"
#include "selectors.h"
#include "values.h"

/* The numbers are those of syslog(3). */
enum message_level {
	MESSAGE_NONE = -1,
	MESSAGE_ERROR = 3,
	MESSAGE_WARNING,
	MESSAGE_NOTICE,
	MESSAGE_INFO,
	MESSAGE_DEBUG,
};

static int message_level_max = MESSAGE_INFO;    /* wherever lines go, and ... */
static int message_console_max = MESSAGE_DEBUG; /* ... of those that go to standard error */

/* Takes up one item of $SYSTEMD_LOG_LEVEL: a level, or that of one kind of target. -EINVAL. */
static int message_take_level(const char *item)
{
	const char *colon = strchr(item, ':');
	const char *text = colon ? colon + 1 : item;
	unsigned level;
	int r = level_parse(text, strlen(text), &level);

	if (r == 0 && !colon)
		message_level_max = (int)level;
	else if (r == 0 && strncmp(item, "console:", 8) == 0)
		message_console_max = (int)level;
	return r;
}

/* Takes up $SYSTEMD_LOG_LEVEL; nothing of it, or what comes before it goes wrong. */
static void message_take_levels(const char *text)
{
	char *copy = strdup(text), *rest = copy, *item;
	int r = copy ? 0 : -ENOMEM;

	while (r == 0 && (item = strsep(&rest, ",")))
		r = message_take_level(item);
	free(copy);
	if (r < 0)
		message_warning("Failed to parse log level '%s', ignoring: %s", text, strerror(-r));
}

void message_init(void)
{
	const char *level = getenv("SYSTEMD_LOG_LEVEL"), *target = getenv("SYSTEMD_LOG_TARGET");

	if (target && strcmp(target, "null") == 0)
		message_console_max = MESSAGE_NONE;
	if (level)
		message_take_levels(level);
}

bool message_debugging(void)
{
	return message_level_max >= MESSAGE_DEBUG;
}

/* Whether lines have colours, where there are any. */
static bool message_is_coloured(void)
{
	const char *text = getenv("SYSTEMD_LOG_COLOR");
	bool on;

	return !text || value_boolean(text, &on) < 0 || on;
}

/* What goes before a line of a level, for terminals with so many colours. */
static const char *message_colour(enum message_level level, enum jscan_colours colours)
{
	if (colours == JSCAN_COLOURS_NONE)
		return "";
	switch (level) {
	case MESSAGE_ERROR:
		return "\033[0;1;31m";
	case MESSAGE_WARNING:
		return colours == JSCAN_COLOURS_16    ? "\033[0;1;33m"
		       : colours == JSCAN_COLOURS_256 ? "\033[0;1;33m\033[0;1;38:5:185m"
						      : "\033[0;1;38:5:185m";
	case MESSAGE_NOTICE:
		return "\033[0;1;39m";
	default:
		return "";
	}
}

/* Whether standard error is a terminal that can do more than print. */
static bool message_on_terminal(void)
{
	const char *term = getenv("TERM");

	return term && strcmp(term, "dumb") != 0 && isatty(STDERR_FILENO);
}

/* Prints the lines of a text but for empty ones, each whole, also where standard error is shared
 * with other writers. */
__attribute__((format(printf, 2, 0))) static void
message_print(enum message_level level, const char *format, va_list arguments)
{
	const char *colour, *line, *end;
	struct look look;
	char *text;

	if ((int)level > message_level_max || (int)level > message_console_max ||
	    vasprintf(&text, format, arguments) < 0)
		return;
	look_init(&look);
	colour = message_is_coloured() ? message_colour(level, look.colours) : "";
	end = message_on_terminal() ? "\r\n" : "\n";
	fflush(stdout);
	flockfile(stderr);
	for (line = text; line += strspn(line, "\r\n"), *line; line += strcspn(line, "\r\n"))
		fprintf(stderr, "%s%.*s%s%s", colour, (int)strcspn(line, "\r\n"), line,
			*colour ? "\033[0m" : "", end);
	funlockfile(stderr);
	free(text);
}

int message_error(const char *format, ...)
{
	va_list arguments;

	va_start(arguments, format);
	message_print(MESSAGE_ERROR, format, arguments);
	va_end(arguments);
	return -EINVAL;
}

int message_memory(void)
{
	message_error("Out of memory.");
	return -ENOMEM;
}

void message_warning(const char *format, ...)
{
	va_list arguments;

	va_start(arguments, format);
	message_print(MESSAGE_WARNING, format, arguments);
	va_end(arguments);
}

void message_notice(const char *format, ...)
{
	va_list arguments;

	va_start(arguments, format);
	message_print(MESSAGE_NOTICE, format, arguments);
	va_end(arguments);
}

void message_info(const char *format, ...)
{
	va_list arguments;

	va_start(arguments, format);
	message_print(MESSAGE_INFO, format, arguments);
	va_end(arguments);
}
