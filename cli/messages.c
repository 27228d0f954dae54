// SPDX-License-Identifier: MIT
/*
 * Lines on standard error. As journalctl prints them, they are bare: no program name and no level.
 * On terminals the level is told by a colour, where there are colours, and a line ends with CR LF,
 * so that it ends well also where the terminal is in raw mode.
 */
#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "look.h"
#include "messages.h"

enum message_level { MESSAGE_ERROR, MESSAGE_WARNING, MESSAGE_NOTICE, MESSAGE_INFO };

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

/* Prints the lines of a text, each whole, also where standard error is shared with other
 * writers. */
__attribute__((format(printf, 2, 0))) static void
message_print(enum message_level level, const char *format, va_list arguments)
{
	const char *colour, *line, *end;
	struct look look;
	char *text;
	int size = vasprintf(&text, format, arguments);

	if (size < 0)
		return;
	look_init(&look);
	colour = message_colour(level, look.colours);
	end = message_on_terminal() ? "\r\n" : "\n";
	fflush(stdout);
	flockfile(stderr);
	for (line = text; line; line = line[strcspn(line, "\n")] ? strchr(line, '\n') + 1 : NULL)
		fprintf(stderr, "%s%.*s%s%s", colour, (int)strcspn(line, "\n"), line,
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
