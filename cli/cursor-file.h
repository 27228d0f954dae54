/* SPDX-License-Identifier: MIT */
/* The file of --cursor-file: where the last run ended. */
#ifndef CLI_CURSOR_FILE_H
#define CLI_CURSOR_FILE_H

/* Reads the cursor in a file. The caller frees *RET_CURSOR; it is NULL if the file is missing or
 * empty. A negative answer has been explained. */
int cursor_file_read(const char *path, char **ret_cursor);

/* Replaces what the file holds. A negative answer has been explained. */
int cursor_file_write(const char *path, const char *cursor);

#endif
