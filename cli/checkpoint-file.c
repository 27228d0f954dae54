// SPDX-License-Identifier: MIT
/*
 * The file of --checkpoint. It is read once and replaced as a whole, from time to time and at the
 * end, after what it covers has been written out.
 */
#include "checkpoint-file.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "jscan.h"
#include "messages.h"
#include "replace-file.h"

/* How often the file is replaced at most. */
#define CHECKPOINT_FILE_USEC 1000000u
/* More than that many sequences take. */
#define CHECKPOINT_FILE_BYTES_MAX (64u << 20)

/* Reads a file as a whole. *RET_TEXT is NULL if there is none. Negative errno. */
static int checkpoint_file_read(const char *path, char **ret_text)
{
	FILE *f = fopen(path, "re");
	size_t capacity = 0;
	char *text = NULL;
	int r = 0;

	*ret_text = NULL;
	if (!f)
		return errno == ENOENT ? 0 : -errno;
	errno = 0;
	if (getdelim(&text, &capacity, '\0', f) < 0 && !feof(f))
		r = errno ? -errno : -EIO;
	else if (text && strlen(text) > CHECKPOINT_FILE_BYTES_MAX)
		r = -EFBIG;
	fclose(f);
	if (r < 0 || !text || !*text) {
		free(text);
		return r;
	}
	*ret_text = text;
	return 0;
}

/* jscan_checkpoint_fn: keeps it. */
static int checkpoint_file_keep(void *userdata, const char *text)
{
	const char *path = userdata;
	int r = replace_file(path, text, true);

	if (r == 0)
		return 0;
	message_error("Failed to write checkpoint %s: %s", path, strerror(-r));
	return -ECANCELED;
}

int checkpoint_file_begin(struct jscan *engine, const char *path)
{
	char *text;
	int r = checkpoint_file_read(path, &text);

	if (r < 0)
		return message_error("Failed to read checkpoint %s: %s", path, strerror(-r));
	r = jscan_seek_checkpoint(engine, text);
	free(text);
	if (r == -EINVAL)
		return message_error("%s does not hold a checkpoint.", path);
	if (r == -EPROTONOSUPPORT)
		return message_error("%s holds a checkpoint of a later version.", path);
	if (r >= 0)
		r = jscan_set_checkpoint_handler(engine, CHECKPOINT_FILE_USEC, checkpoint_file_keep,
						 (void *)path);
	return r < 0 ? message_error("Failed to seek to checkpoint: %s", strerror(-r)) : 0;
}
