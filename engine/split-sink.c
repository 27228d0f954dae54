/* SPDX-License-Identifier: MIT */
/*
 * A sink that writes entries to several files, by their unit, boot, day or host.
 *
 * The format slot, on any thread, puts a head before an entry's bytes, which says how many there
 * are and what they are filed under; the write slot takes them apart. Each file gathers bytes, and
 * is open only while it is one of those that were written to last: descriptors and gathered bytes
 * are bounded by their number. What is remembered of all files is their keys, which are bounded
 * too. Without a follower nothing is written before there is enough: nobody waits for it.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <unistd.h>

#include "engine/engine.h"
#include "engine/output-sink.h"
#include "engine/split.h"
#include "uring/list.h"

#define SPLIT_FILES_OPEN 64u       /* by default */
#define SPLIT_FILES_MAX 65536u     /* keys that are told apart */
#define SPLIT_BUCKETS 4096u
#define SPLIT_GATHER_BYTES (64u << 10)
#define SPLIT_GATHER_BYTES_FRAMED (256u << 10)
#define SPLIT_SIZE_MIN sizeof(struct jscan_split)

/* Stands before an entry's bytes: first the key follows, then they. */
struct split_head {
	uint32_t size;
	uint32_t key_size;
};

/* A file that something has been filed under. */
struct split_file {
	struct list link;          /* among those that are in use, the last one first */
	struct split_file *next;   /* in its bucket */
	uint64_t hash;
	bool in_use;               /* has gathered bytes or a descriptor */
	bool begun;                /* what was in it before is gone */
	int fd;
	struct output_buffer gathered;
	char *name;
	size_t key_size;
	uint8_t key[];
};

struct split {
	struct output_sink *output;
	enum jscan_split_key key;
	struct jscan *engine;
	int directory_fd;
	unsigned in_use_max, in_use;
	struct list used;
	struct split_file *buckets[SPLIT_BUCKETS];
	size_t file_count;
	struct split_file *other;  /* of keys beyond SPLIT_FILES_MAX */
	struct split_file *last;   /* what the entry before went to */
	struct id128 hash_key;     /* random: journals choose the keys */
	uint64_t day;              /* a quarter of an hour that lies in one day, plus 1; 0: none */
	char day_name[SPLIT_NAME_SIZE];
};

/* ---- formatting, on any thread ----------------------------------------------------------- */

/* The field that entries are filed under, or NULL. */
static const char *split_field(enum jscan_split_key key)
{
	return key == JSCAN_SPLIT_UNIT ? "_SYSTEMD_UNIT" :
	       key == JSCAN_SPLIT_HOST ? "_HOSTNAME" : NULL;
}

/* What an entry is filed under: nothing if it lacks the field. */
static struct payload_view split_key_of(const struct split *s, const struct jscan_entry *entry)
{
	struct payload_view key = { 0 };
	const char *name = split_field(s->key);
	size_t size;

	if (s->key == JSCAN_SPLIT_BOOT)
		return (struct payload_view){ .bytes = entry->info.boot_id.bytes,
					      .size = sizeof(entry->info.boot_id.bytes) };
	if (s->key == JSCAN_SPLIT_DAY)
		return (struct payload_view){ .bytes = (const uint8_t *)&entry->info.realtime_usec,
					      .size = sizeof(entry->info.realtime_usec) };
	size = strlen(name);
	for (size_t i = 0; i < entry->field_count; i++) {
		const struct output_field *f = &entry->fields[i];

		if (f->name_size != size || f->size <= size || memcmp(f->bytes, name, size) != 0)
			continue;
		key.bytes = f->bytes + size + 1;
		key.size = f->size - size - 1;
		if (key.size > SPLIT_VALUE_BYTES_MAX)
			key.size = SPLIT_VALUE_BYTES_MAX;
		break;
	}
	return key;
}

/* sink: format. */
static int split_format(const void *userdata, const struct jscan_entry *entry,
			const struct jscan_entry_context *context, struct jscan_buffer *buffer)
{
	const struct split *s = userdata;
	struct output_buffer *b = &buffer->bytes;
	struct payload_view key = split_key_of(s, entry);
	struct split_head head = { .key_size = (uint32_t)key.size };
	size_t start = b->size, begin;
	int r = 0;

	(void)context;
	output_bytes(b, &head, sizeof(head));
	if (key.size)
		output_bytes(b, key.bytes, key.size);
	begin = b->size;
	if (b->failed)
		r = -ENOMEM;
	else
		r = output_sink_print(s->output, entry, buffer);
	if (r < 0 || b->size == begin) {
		b->failed = false;
		b->size = start; /* a mode may print nothing for an entry */
		return r;
	}
	head.size = (uint32_t)(b->size - begin); /* below the buffer's limit */
	memcpy(b->bytes + start, &head, sizeof(head));
	return 0;
}

/* ---- files ------------------------------------------------------------------------------- */

/* Writes to a file, which is opened if it is not. */
static int split_put(struct split *s, struct split_file *f, const uint8_t *bytes, size_t size)
{
	if (f->fd < 0) {
		f->fd = openat(s->directory_fd, f->name,
			       O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC | O_NOFOLLOW |
				       (f->begun ? 0 : O_TRUNC),
			       0666);
		if (f->fd < 0)
			return -errno;
		f->begun = true;
	}
	while (size > 0) {
		ssize_t n = write(f->fd, bytes, size);

		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0)
			return -errno;
		bytes += n;
		size -= (size_t)n;
		s->engine->stats.bytes_written += (uint64_t)n;
	}
	return 0;
}

/* Writes what a file has gathered. */
static int split_write_out(struct split *s, struct split_file *f)
{
	struct output_buffer *b = &f->gathered;
	int r = 0;

	for (size_t at = 0, n; at < b->size && r == 0; at += n) {
		const uint8_t *bytes = b->bytes + at;
		size_t size;

		n = b->size - at;
		if (s->output->kind != PACKED_NONE) {
			n = n < PACKER_FRAME_BYTES_MAX ? n : PACKER_FRAME_BYTES_MAX;
			r = packer_frame(&s->output->packer, s->output->kind, s->output->level,
					 bytes, n, &bytes, &size);
		} else {
			size = n;
		}
		if (r == 0)
			r = split_put(s, f, bytes, size);
	}
	b->size = 0;
	return r;
}

/* Takes a file out of use. */
static int split_close(struct split *s, struct split_file *f)
{
	int r = split_write_out(s, f);

	if (f->fd >= 0 && close(f->fd) < 0 && r == 0)
		r = -errno;
	f->fd = -1;
	output_buffer_done(&f->gathered);
	list_remove(&f->link);
	f->in_use = false;
	s->in_use--;
	return r;
}

/* Makes a file the one that was used last; the one that has not been for longest makes room. */
static int split_use(struct split *s, struct split_file *f)
{
	int r = 0;

	if (f->in_use) {
		list_remove(&f->link);
	} else {
		if (s->in_use == s->in_use_max)
			r = split_close(s, container_of(s->used.prev, struct split_file, link));
		f->in_use = true;
		s->in_use++;
	}
	list_prepend(&s->used, &f->link);
	return r;
}

/* Remembers another file, with NAME and an ending. NULL: there is no memory. */
static struct split_file *split_new(const struct split *s, char *name, const uint8_t *key,
				    size_t key_size)
{
	struct split_file *f = calloc(1, sizeof(*f) + key_size);

	if (!f)
		return NULL;
	split_name_end(s->output->options.mode, s->output->kind, name);
	f->fd = -1;
	f->key_size = key_size;
	if (key_size)
		memcpy(f->key, key, key_size);
	f->name = strdup(name);
	if (!f->name) {
		free(f);
		return NULL;
	}
	return f;
}

/* The file for a key. NULL: there is no memory. */
static struct split_file *split_find(struct split *s, const uint8_t *key, size_t key_size)
{
	uint64_t hash = hash_siphash(key, key_size, &s->hash_key);
	struct split_file **bucket = &s->buckets[hash % SPLIT_BUCKETS], *f;
	char name[SPLIT_NAME_SIZE] = "other";

	for (f = *bucket; f; f = f->next) {
		if (f->hash == hash && f->key_size == key_size &&
		    (key_size == 0 || memcmp(f->key, key, key_size) == 0))
			return f;
	}
	if (s->file_count >= SPLIT_FILES_MAX) {
		if (!s->other)
			s->other = split_new(s, name, NULL, 0);
		return s->other;
	}
	if (s->key == JSCAN_SPLIT_BOOT)
		split_name_of_boot(key, name);
	else
		split_name(key, key_size, name);
	f = split_new(s, name, key, key_size);
	if (!f)
		return NULL;
	f->hash = hash;
	f->next = *bucket;
	*bucket = f;
	s->file_count++;
	return f;
}

/* Writes the day of a time. No zone's day begins but on a quarter of an hour of UTC. */
static void split_set_day(struct split *s, uint64_t realtime)
{
	uint64_t quarter = realtime / (15 * 60 * UINT64_C(1000000)) + 1;

	if (s->day == quarter)
		return;
	s->day = quarter;
	split_name_of_day(realtime, s->output->options.flags & OUTPUT_UTC, s->day_name);
}

/* The file that an entry is filed under, in use. */
static int split_choose(struct split *s, const uint8_t *key, size_t key_size,
			struct split_file **ret_file)
{
	struct split_file *f = s->last;
	uint64_t realtime;

	if (s->key == JSCAN_SPLIT_DAY) {
		memcpy(&realtime, key, sizeof(realtime));
		split_set_day(s, realtime);
		key = (const uint8_t *)s->day_name;
		key_size = strlen(s->day_name);
	}
	if (!f || f == s->other || f->key_size != key_size ||
	    (key_size > 0 && memcmp(f->key, key, key_size) != 0))
		f = split_find(s, key, key_size);
	if (!f)
		return -ENOMEM;
	*ret_file = f;
	if (f == s->last && f->in_use)
		return 0;
	s->last = f;
	return split_use(s, f);
}

/* ---- the sink ---------------------------------------------------------------------------- */

/* sink: begin. */
static int split_begin(void *userdata, struct jscan *engine)
{
	struct split *s = userdata;

	s->engine = s->output->engine = engine;
	return 0;
}

/* sink: write. */
static int split_write(void *userdata, const void *data, size_t size)
{
	struct split *s = userdata;
	size_t gather = s->output->kind == PACKED_NONE ? SPLIT_GATHER_BYTES :
							 SPLIT_GATHER_BYTES_FRAMED;
	const uint8_t *at = data, *end = at + size;
	struct split_head head;
	struct split_file *f;

	while (at < end) {
		int r;

		memcpy(&head, at, sizeof(head));
		at += sizeof(head);
		r = split_choose(s, at, head.key_size, &f);
		if (r < 0)
			return r;
		at += head.key_size;
		output_bytes(&f->gathered, at, head.size);
		if (unlikely(f->gathered.failed))
			return -ENOMEM;
		at += head.size;
		if (f->gathered.size >= gather)
			r = split_write_out(s, f);
		if (r < 0)
			return r;
	}
	return 0;
}

/* sink: flush. */
static int split_flush(void *userdata)
{
	struct split *s = userdata;
	struct list *node;
	int r = 0;

	output_sink_tell(s->output);
	if (!s->engine->follow)
		return 0;
	list_for_each(node, &s->used) {
		int error = split_write_out(s, container_of(node, struct split_file, link));

		r = r < 0 ? r : error;
	}
	return r;
}

/* sink: end. */
static int split_end(void *userdata)
{
	struct split *s = userdata;
	int r = 0;

	while (!list_is_empty(&s->used)) {
		int error = split_close(s, container_of(s->used.next, struct split_file, link));

		r = r < 0 ? r : error;
	}
	return r;
}

/* Forgets a file. What it has gathered is lost: its scan has failed. */
static void split_forget(struct split_file *f)
{
	if (f->fd >= 0)
		close(f->fd);
	output_buffer_done(&f->gathered);
	free(f->name);
	free(f);
}

/* sink: free. */
static void split_free(void *userdata)
{
	struct split *s = userdata;

	for (size_t i = 0; i < SPLIT_BUCKETS; i++) {
		struct split_file *next;

		for (struct split_file *f = s->buckets[i]; f; f = next) {
			next = f->next;
			split_forget(f);
		}
	}
	if (s->other)
		split_forget(s->other);
	if (s->directory_fd >= 0)
		close(s->directory_fd);
	if (s->output)
		output_sink_free(s->output);
	free(s);
}

/* Makes and opens the directory. */
static int split_open(struct split *s, const char *path)
{
	if (mkdir(path, 0777) < 0 && errno != EEXIST)
		return -errno;
	s->directory_fd = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	return s->directory_fd < 0 ? -errno : 0;
}

/* Makes a split, but for its directory. */
static int split_make(const struct jscan_output *output, const struct jscan_split *given,
		      struct split **ret_split)
{
	struct split *s;
	int r;

	if (!given || given->size < SPLIT_SIZE_MIN || !given->directory ||
	    given->key > JSCAN_SPLIT_HOST)
		return -EINVAL;
	for (size_t i = sizeof(*given); i < given->size; i++) {
		if (((const uint8_t *)given)[i])
			return -E2BIG;
	}
	s = calloc(1, sizeof(*s));
	if (!s)
		return -ENOMEM;
	s->directory_fd = -1;
	s->key = (enum jscan_split_key)given->key;
	s->in_use_max = given->files_open_max ? given->files_open_max : SPLIT_FILES_OPEN;
	list_init(&s->used);
	r = output_sink_make(output, &s->output);
	if (r == 0 && s->output->options.mode == OUTPUT_SHORT_DELTA)
		r = -EINVAL; /* the entry before may be in another file */
	if (r == 0 && getrandom(&s->hash_key, sizeof(s->hash_key), 0) < 0)
		r = -errno;
	if (r < 0) {
		split_free(s);
		return r;
	}
	*ret_split = s;
	return 0;
}

int jscan_add_split(struct jscan *e, const struct jscan_output *output,
		    const struct jscan_split *given)
{
	static const struct jscan_sink_ops ops = {
		.size = sizeof(ops),
		.name = "split",
		.begin = split_begin,
		.format = split_format,
		.write = split_write,
		.flush = split_flush,
		.end = split_end,
		.free = split_free,
	};
	struct split *s = NULL;
	struct sink *sink;
	int r = engine_check(e);

	if (r == 0 && e->sinks_begun)
		r = -EINVAL;
	if (r == 0)
		r = split_make(output, given, &s);
	if (r < 0)
		return r;
	r = split_open(s, given->directory);
	if (r == 0)
		r = sink_add(&e->sinks, &ops, s, &sink);
	if (r < 0) {
		split_free(s);
		return r;
	}
	sink->output = &s->output->options;
	sink->key = split_field(s->key);
	return 0;
}
