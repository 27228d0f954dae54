/* SPDX-License-Identifier: MIT */
/*
 * A sink in a shared object: writes time, priority and message of each entry as CSV to a file.
 *
 *	cc -shared -fPIC $(pkg-config --cflags libjscan) -o csv.so example-sink.c
 *	jscan -D DIRECTORY --sink=./csv.so:out.csv
 *
 * It has format and write instead of entry, so that entries are formatted on all processors.
 */
#include <errno.h>
#include <jscan.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct csv {
	FILE *file;
};

/* Appends a field's value as a quoted cell, with the separator behind it. */
static int csv_cell(struct jscan_buffer *buffer, const struct jscan_entry *entry, const char *name,
		    const char *separator)
{
	struct jscan_field field = { .size = sizeof(field) };
	uint64_t offset = 0;
	char piece[4096];
	ssize_t size = 0;
	int found = jscan_entry_field(entry, name, &field);
	int r = jscan_buffer_append(buffer, "\"", 1);

	/* Large values come in pieces only, small ones may. */
	while (r == 0 && found > 0 &&
	       (size = jscan_field_read(entry, &field, offset, piece, sizeof(piece))) > 0) {
		for (ssize_t i = 0; i < size && r == 0; i++) {
			r = jscan_buffer_append(buffer, &piece[i], 1);
			if (r == 0 && piece[i] == '"')
				r = jscan_buffer_append(buffer, "\"", 1);
		}
		offset += (uint64_t)size;
	}
	if (size < 0)
		return (int)size;
	if (r == 0)
		r = jscan_buffer_append(buffer, "\"", 1);
	return r ? r : jscan_buffer_append(buffer, separator, strlen(separator));
}

/* sink: format. It may run on any thread, and changes nothing but the buffer. */
static int csv_format(const void *userdata, const struct jscan_entry *entry,
		      const struct jscan_entry_context *context, struct jscan_buffer *buffer)
{
	const struct jscan_entry_info *info = jscan_entry_info(entry);
	char time[32];
	int r;

	(void)userdata;
	(void)context;
	snprintf(time, sizeof(time), "%llu,", (unsigned long long)info->realtime_usec);
	r = jscan_buffer_append(buffer, time, strlen(time));
	if (r == 0)
		r = csv_cell(buffer, entry, "PRIORITY", ",");
	return r ? r : csv_cell(buffer, entry, "MESSAGE", "\r\n");
}

/* sink: write. What was formatted, in order; a negative answer ends the scan. */
static int csv_write(void *userdata, const void *data, size_t size)
{
	struct csv *csv = userdata;

	return fwrite(data, 1, size, csv->file) == size ? 0 : -errno;
}

/* sink: flush, and end: nobody should have to wait for what there is. */
static int csv_flush(void *userdata)
{
	struct csv *csv = userdata;

	return fflush(csv->file) == 0 ? 0 : -errno;
}

/* sink: free. */
static void csv_free(void *userdata)
{
	struct csv *csv = userdata;

	fclose(csv->file);
	free(csv);
}

/* Makes the sink: ARGUMENT is what stands behind the colon of --sink. */
static int csv_open(const char *argument, const struct jscan_sink_ops **ret_ops,
		    void **ret_userdata, char *text, size_t size)
{
	static const char *const fields[] = { "PRIORITY", "MESSAGE", NULL };
	static const struct jscan_sink_ops ops = {
		.size = sizeof(ops), .name = "csv", .format = csv_format, .write = csv_write,
		.flush = csv_flush, .end = csv_flush, .free = csv_free, .fields = fields,
	};
	struct csv *csv = malloc(sizeof(*csv));

	if (!csv)
		return -ENOMEM;
	csv->file = argument ? fopen(argument, "wbe") : NULL;
	if (!csv->file) {
		int error = argument ? errno : EINVAL;

		snprintf(text, size, "%s", argument ? strerror(error) : "a file is needed");
		free(csv);
		return -error;
	}
	*ret_ops = &ops;
	*ret_userdata = csv;
	return 0;
}

JSCAN_API const struct jscan_sink_module jscan_sink_module = {
	sizeof(struct jscan_sink_module), JSCAN_SINK_MODULE_VERSION, 0, "csv", csv_open
};
