/* SPDX-License-Identifier: MIT */
/* Lines on standard error, as far as the environment wants them. */
#ifndef CLI_MESSAGES_H
#define CLI_MESSAGES_H

#include <stdbool.h>

/* Reads what the environment says of lines; before the first of them. */
void message_init(void);

/* Whether $SYSTEMD_LOG_LEVEL asks for all there is to say. */
bool message_debugging(void);

/* Prints a line that says what is wrong. Returns -EINVAL, for "return message_error(...)". */
int message_error(const char *format, ...) __attribute__((format(printf, 1, 2)));

/* Says that memory ran out. Returns -ENOMEM. */
int message_memory(void);

/* Print lines that are not errors, from the most urgent to the least: one that something is left
 * out, one that is news, one that was asked for. A text may have several lines. */
void message_warning(const char *format, ...) __attribute__((format(printf, 1, 2)));
void message_info(const char *format, ...) __attribute__((format(printf, 1, 2)));
void message_notice(const char *format, ...) __attribute__((format(printf, 1, 2)));

#endif
