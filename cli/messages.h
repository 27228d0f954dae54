/* SPDX-License-Identifier: MIT */
/* Lines on standard error. */
#ifndef CLI_MESSAGES_H
#define CLI_MESSAGES_H

/* Prints a line that says what is wrong. Returns -EINVAL, for "return message_error(...)". */
int message_error(const char *format, ...) __attribute__((format(printf, 1, 2)));

/* Says that memory ran out. Returns -ENOMEM. */
int message_memory(void);

/* Prints a line that is not an error. */
void message_notice(const char *format, ...) __attribute__((format(printf, 1, 2)));

#endif
