// SPDX-License-Identifier: MIT
/*
 * Sinks of the command line: --sink=NAME[,OPTION=VALUE...][:WHERE], NAME being an output mode,
 * "split", the path of a shared object, or the name of one that is installed.
 *
 * What is written to a file or a descriptor is opened here, once the journals are open, so that a
 * command line that is wrong destroys nothing; the library writes to it. A journal is never
 * overwritten.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "messages.h"
#include "sinks.h"
#include "values.h"

#define SINK_PATH_SIZE 4096

/* ---- parsing ----------------------------------------------------------------------------- */

/* Whether TEXT of SIZE bytes is WORD. */
static bool sinks_is(const char *text, size_t size, const char *word)
{
	return strlen(word) == size && memcmp(text, word, size) == 0;
}

/* A number of SIZE digits, from 1 to MOST. */
static int sinks_number(const char *text, size_t size, unsigned most, unsigned *ret_number)
{
	char digits[12];
	int number;

	if (size >= sizeof(digits))
		return -EINVAL;
	memcpy(digits, text, size);
	digits[size] = '\0';
	if (value_integer(digits, &number) < 0 || number < 1 || (unsigned)number > most)
		return -EINVAL;
	*ret_number = (unsigned)number;
	return 0;
}

/* fields=A+B. */
static int sinks_set_fields(struct sink_spec *spec, const char *value, size_t size)
{
	for (const char *end = value + size; value <= end;) {
		const char *plus = memchr(value, '+', (size_t)(end - value));
		size_t item = (size_t)((plus ? plus : end) - value);
		int r = item ? list_add(&spec->fields, &spec->field_count, value, item) : -EINVAL;

		if (r < 0)
			return r;
		value += item + 1;
	}
	return 0;
}

/* compress=. */
static int sinks_set_compression(struct sink_spec *spec, const char *value, size_t size)
{
	static const char *const names[] = { "none", "zstd", "lz4" };

	for (unsigned i = 0; i < sizeof(names) / sizeof(names[0]); i++)
		if (sinks_is(value, size, names[i])) {
			spec->compression_given = true;
			spec->compression = (enum jscan_compression)i;
			return 0;
		}
	return -EINVAL;
}

/* by=. */
static int sinks_set_key(struct sink_spec *spec, const char *value, size_t size)
{
	static const char *const names[] = { "unit", "boot", "day", "host" };

	for (unsigned i = 0; i < sizeof(names) / sizeof(names[0]); i++)
		if (sinks_is(value, size, names[i])) {
			spec->key = (enum jscan_split_key)i;
			return 0;
		}
	return -EINVAL;
}

/* mode=. */
static int sinks_set_mode(struct sink_spec *spec, const char *value, size_t size)
{
	char name[32];

	if (size >= sizeof(name))
		return -EINVAL;
	memcpy(name, value, size);
	name[size] = '\0';
	return jscan_mode_parse(name, &spec->mode);
}

/* One OPTION=VALUE of SIZE bytes. */
static int sinks_set(struct sink_spec *spec, const char *option, size_t size)
{
	const char *equals = memchr(option, '=', size);
	size_t name_size = equals ? (size_t)(equals - option) : size, value_size;
	const char *value;

	if (!equals)
		return -EINVAL;
	value = equals + 1;
	value_size = size - name_size - 1;
	if (sinks_is(option, name_size, "fields"))
		return sinks_set_fields(spec, value, value_size);
	if (spec->kind == SINK_MODULE)
		return -EINVAL;
	if (sinks_is(option, name_size, "compress"))
		return sinks_set_compression(spec, value, value_size);
	if (sinks_is(option, name_size, "level"))
		return sinks_number(value, value_size, 19, &spec->level);
	if (spec->kind != SINK_SPLIT)
		return -EINVAL;
	if (sinks_is(option, name_size, "by"))
		return sinks_set_key(spec, value, value_size);
	if (sinks_is(option, name_size, "mode"))
		return sinks_set_mode(spec, value, value_size);
	if (sinks_is(option, name_size, "files"))
		return sinks_number(value, value_size, 65536, &spec->files_open_max);
	return -EINVAL;
}

/* Whether TEXT ends in ENDING. */
static bool sinks_ends_in(const char *text, const char *ending)
{
	size_t size = strlen(text), ending_size = strlen(ending);

	return size > ending_size && strcmp(text + size - ending_size, ending) == 0;
}

/* What a sink's name and place imply. */
static int sinks_complete(struct sink_spec *spec)
{
	if (spec->kind == SINK_MODULE)
		return 0;
	if (!spec->where || !*spec->where)
		return -EINVAL;
	if (spec->kind == SINK_OUTPUT && !spec->compression_given)
		spec->compression = sinks_ends_in(spec->where, ".zst") ? JSCAN_COMPRESSION_ZSTD :
				    sinks_ends_in(spec->where, ".lz4") ? JSCAN_COMPRESSION_LZ4 :
									 JSCAN_COMPRESSION_NONE;
	if (spec->kind == SINK_SPLIT && spec->mode == JSCAN_MODE_SHORT_DELTA)
		return -EINVAL;
	return spec->level && spec->compression != JSCAN_COMPRESSION_ZSTD ? -EINVAL : 0;
}

/* Takes a name for that of a shared object that comes with the program, if there is one. */
static int sinks_find_module(struct sink_spec *spec)
{
	const char *folder = getenv("JSCAN_SINKS");
	char path[SINK_PATH_SIZE];
	char *copy;
	int size;

	if (!folder || !*folder)
		folder = SINK_FOLDER;
	size = snprintf(path, sizeof(path), "%s/%s.so", folder, spec->name);
	if (!*spec->name || size >= (int)sizeof(path) || access(path, F_OK) < 0)
		return -EINVAL;
	copy = strdup(path);
	if (!copy)
		return -ENOMEM;
	free(spec->name);
	spec->name = copy;
	spec->kind = SINK_MODULE;
	return 0;
}

/* Parses NAME[,OPTION=VALUE...][:WHERE]. */
static int sinks_parse(struct sink_spec *spec, const char *text)
{
	size_t size = strcspn(text, ",:");
	int r = 0;

	spec->name = strndup(text, size);
	if (!spec->name)
		return -ENOMEM;
	if (strchr(spec->name, '/'))
		spec->kind = SINK_MODULE;
	else if (strcmp(spec->name, "split") == 0)
		spec->kind = SINK_SPLIT;
	else if (jscan_mode_parse(spec->name, &spec->mode) < 0)
		r = sinks_find_module(spec);
	for (text += size; *text == ',' && r == 0; text += size) {
		text++;
		size = strcspn(text, ",:");
		r = sinks_set(spec, text, size);
	}
	if (r < 0)
		return r;
	spec->where = *text == ':' ? text + 1 : NULL;
	return sinks_complete(spec);
}

int sinks_add(struct sink_spec **list, size_t *count, const char *text)
{
	struct sink_spec *grown = reallocarray(*list, *count + 1, sizeof(**list));
	int r;

	if (!grown)
		return message_memory();
	*list = grown;
	grown[*count] = (struct sink_spec){ .text = text, .fd = -1 };
	r = sinks_parse(&grown[(*count)++], text);
	if (r == -ENOMEM)
		return message_memory();
	return r < 0 ? message_error("Failed to parse --sink='%s'.", text) : 1;
}

void sinks_done(struct sink_spec *list, size_t count)
{
	for (size_t i = 0; i < count; i++) {
		list_free(list[i].fields);
		free(list[i].name);
	}
	free(list);
}

/* ---- opening ----------------------------------------------------------------------------- */

/* The descriptor that a place names: "-" or "fd:N". -1: it names none. */
static int sinks_descriptor(const struct sink_spec *spec)
{
	unsigned number;

	if (spec->kind != SINK_OUTPUT)
		return -1;
	if (strcmp(spec->where, "-") == 0 || strcmp(spec->where, "fd:0") == 0)
		return spec->where[0] == '-' ? STDOUT_FILENO : STDIN_FILENO;
	if (strncmp(spec->where, "fd:", 3) != 0 ||
	    sinks_number(spec->where + 3, strlen(spec->where + 3), 1u << 20, &number) < 0)
		return -1;
	return (int)number;
}

bool sinks_use_standard_output(const struct sink_spec *list, size_t count)
{
	for (size_t i = 0; i < count; i++)
		if (sinks_descriptor(&list[i]) == STDOUT_FILENO)
			return true;
	return false;
}

/* Whether two sinks would write into the same file. */
static bool sinks_share_file(const struct sink_spec *list, size_t number)
{
	struct stat mine, other;

	if (fstat(list[number].fd, &mine) < 0 || !S_ISREG(mine.st_mode))
		return false;
	for (size_t i = 0; i < number; i++)
		if (list[i].fd >= 0 && fstat(list[i].fd, &other) == 0 &&
		    other.st_dev == mine.st_dev && other.st_ino == mine.st_ino)
			return true;
	return false;
}

/* Opens what a sink writes to. Nothing is cut short before it is known to be no journal. */
static int sinks_open(struct sink_spec *list, size_t number)
{
	struct sink_spec *spec = &list[number];
	int fd = sinks_descriptor(spec);

	if (fd >= 0 && fcntl(fd, F_GETFD) < 0)
		return message_error("Failed to open sink '%s': %s", spec->text, strerror(errno));
	if (fd < 0 && jscan_is_journal(spec->where) > 0)
		return message_error("Failed to open sink '%s': it is a journal", spec->text);
	spec->owned = fd < 0;
	spec->fd = fd >= 0 ? fd : open(spec->where, O_WRONLY | O_CREAT | O_CLOEXEC, 0666);
	if (spec->fd < 0)
		return message_error("Failed to open sink '%s': %s", spec->text, strerror(errno));
	if (sinks_share_file(list, number))
		return message_error("Failed to open sink '%s': another one writes there",
				     spec->text);
	if (spec->compression && isatty(spec->fd))
		return message_error("Failed to open sink '%s': it is a terminal", spec->text);
	if (spec->owned && ftruncate(spec->fd, 0) < 0 && errno != EINVAL)
		return message_error("Failed to open sink '%s': %s", spec->text, strerror(errno));
	return 0;
}

/* Whether a mode is for people, who see lines between boots. */
static bool sinks_is_text(enum jscan_mode mode)
{
	return mode <= JSCAN_MODE_VERBOSE;
}

/* Attaches the sink of a shared object. */
static int sinks_attach_module(const struct sink_spec *spec, struct jscan *engine)
{
	char text[512];
	int r = jscan_add_sink_module(engine, spec->name, spec->where,
				      (const char *const *)spec->fields, text, sizeof(text));

	return r < 0 ? message_error("Failed to open sink '%s': %s", spec->text, text) : 0;
}

/* Opens and attaches one of them. */
static int sinks_attach_one(struct sink_spec *list, size_t number, struct jscan *engine,
			    const struct jscan_output *like, bool boot_lines)
{
	struct sink_spec *spec = &list[number];
	struct jscan_output output = *like;
	const struct jscan_split split = {
		.size = sizeof(split),
		.directory = spec->where,
		.key = spec->key,
		.files_open_max = spec->files_open_max,
	};
	int r;

	if (spec->kind == SINK_MODULE)
		return sinks_attach_module(spec, engine);
	output.mode = spec->mode;
	output.compression = spec->compression;
	output.compression_level = spec->level;
	output.colours = JSCAN_COLOURS_NONE;
	output.flags &= ~(JSCAN_OUTPUT_LINKS | JSCAN_OUTPUT_SHORTEN | JSCAN_OUTPUT_BOOT_LINES);
	if (spec->fields)
		output.fields = (const char *const *)spec->fields;
	if (boot_lines && sinks_is_text(spec->mode))
		output.flags |= JSCAN_OUTPUT_BOOT_LINES;
	if (spec->kind == SINK_SPLIT) {
		r = jscan_add_split(engine, &output, &split);
	} else {
		r = sinks_open(list, number);
		if (r < 0)
			return r;
		r = jscan_add_output(engine, &output, spec->fd);
	}
	return r < 0 ? message_error("Failed to open sink '%s': %s", spec->text, strerror(-r)) : 0;
}

int sinks_attach(struct sink_spec *list, size_t count, struct jscan *engine,
		 const struct jscan_output *like, bool boot_lines)
{
	int r = 0;

	for (size_t i = 0; i < count && r >= 0; i++)
		r = sinks_attach_one(list, i, engine, like, boot_lines);
	return r;
}

int sinks_close(struct sink_spec *list, size_t count)
{
	int r = 0;

	for (size_t i = 0; i < count; i++) {
		if (list[i].fd >= 0 && list[i].owned && close(list[i].fd) < 0)
			r = message_error("Sink '%s' failed: %s", list[i].text, strerror(errno));
		list[i].fd = -1;
	}
	return r;
}
