// SPDX-License-Identifier: MIT
/*
 * Lines on standard error. As journalctl prints them, they are bare: no program name and no level.
 * Only the option parser's own messages (words.c) begin with the program's name.
 */
#include <errno.h>
#include <stdarg.h>
#include <stdio.h>

#include "messages.h"

/* Prints one line, whole, also where standard error is shared with other writers. */
__attribute__((format(printf, 1, 0))) static void message_print(const char *format,
								va_list arguments)
{
	fflush(stdout);
	flockfile(stderr);
	vfprintf(stderr, format, arguments);
	fputc('\n', stderr);
	funlockfile(stderr);
}

int message_error(const char *format, ...)
{
	va_list arguments;

	va_start(arguments, format);
	message_print(format, arguments);
	va_end(arguments);
	return -EINVAL;
}

int message_memory(void)
{
	message_error("Out of memory.");
	return -ENOMEM;
}

void message_notice(const char *format, ...)
{
	va_list arguments;

	va_start(arguments, format);
	message_print(format, arguments);
	va_end(arguments);
}
