/* SPDX-License-Identifier: MIT */
/*
 * The message catalog as programs see it: a database that is read into memory as a whole, and asked
 * by ID. What is in it is the business of formats/catalog/.
 */
#include <fcntl.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "engine/catalog.h"

/* Databases are of some hundred KiB. */
#define CATALOG_BYTES_MAX (UINT64_C(64) << 20)

/* The version of struct jscan_catalog_text that every caller knows. */
#define CATALOG_TEXT_SIZE_MIN sizeof(struct jscan_catalog_text)

/* Reads SIZE bytes of a file, which may have become shorter: *size is what there is. */
static int catalog_read(int fd, uint8_t *bytes, size_t *size)
{
	size_t done = 0;

	while (done < *size) {
		ssize_t n = read(fd, bytes + done, *size - done);

		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0)
			return -errno;
		if (n == 0)
			break;
		done += (size_t)n;
	}
	*size = done;
	return 0;
}

/* Loads an open file. The errors are those that the reference has from mapping it. */
static int catalog_load(int fd, uint8_t **ret_bytes, size_t *ret_size)
{
	struct stat st;
	uint8_t *bytes;
	size_t size;
	int r;

	if (fstat(fd, &st) < 0)
		return -errno;
	if (!S_ISREG(st.st_mode))
		return -ENODEV;
	if (st.st_size <= 0)
		return -EINVAL;
	if ((uint64_t)st.st_size > CATALOG_BYTES_MAX)
		return -EFBIG;
	size = (size_t)st.st_size;
	bytes = malloc(size);
	if (!bytes)
		return -ENOMEM;
	r = catalog_read(fd, bytes, &size);
	if (r < 0) {
		free(bytes);
		return r;
	}
	*ret_bytes = bytes;
	*ret_size = size;
	return 0;
}

/* Public: see jscan.h. */
int jscan_catalog_open(const char *path, const char *locale, struct jscan_catalog **ret_catalog)
{
	struct jscan_catalog *c;
	size_t size = 0;
	int fd, r;

	if (!ret_catalog)
		return -EINVAL;
	path = path ? path : JSCAN_CATALOG_PATH;
	fd = open(path, O_RDONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK);
	if (fd < 0)
		return -errno;
	c = calloc(1, sizeof(*c));
	if (c)
		c->path = strdup(path);
	r = c && c->path ? catalog_load(fd, &c->bytes, &size) : -ENOMEM;
	close(fd);
	if (r == 0)
		r = catalog_init(&c->catalog, c->bytes, size, locale);
	if (r < 0) {
		jscan_catalog_free(c);
		return r;
	}
	*ret_catalog = c;
	return 0;
}

/* Public: see jscan.h. */
struct jscan_catalog *jscan_catalog_free(struct jscan_catalog *c)
{
	if (!c)
		return NULL;
	free(c->path);
	free(c->bytes);
	free(c);
	return NULL;
}

/* Makes the public view of a text. */
static struct jscan_catalog_text catalog_view(const struct id128 *id,
					      const struct catalog_text *text)
{
	struct jscan_catalog_text view = {
		.size = sizeof(view),
		.text = (const char *)text->bytes,
		.text_size = text->size,
	};
	struct catalog_text value;

	memcpy(view.id.bytes, id->bytes, sizeof(view.id.bytes));
	if (catalog_header(text, "Subject:", &value)) {
		view.subject = (const char *)value.bytes;
		view.subject_size = value.size;
	}
	if (catalog_header(text, "Defined-By:", &value)) {
		view.defined_by = (const char *)value.bytes;
		view.defined_by_size = value.size;
	}
	return view;
}

/* Public: see jscan.h. */
int jscan_catalog_list(const struct jscan_catalog *c, jscan_catalog_fn callback, void *userdata)
{
	struct id128 last = { { 0 } };
	bool any = false;

	if (!c || !callback)
		return -EINVAL;
	for (uint64_t i = 0; i < c->catalog.item_count; i++) {
		struct id128 id = catalog_id(&c->catalog, i);
		struct jscan_catalog_text view;
		struct catalog_text text;
		int r;

		if ((any && id128_equal(&id, &last)) || !catalog_find(&c->catalog, &id, &text))
			continue;
		last = id;
		any = true;
		view = catalog_view(&id, &text);
		r = callback(userdata, &view);
		if (r != 0)
			return r;
	}
	return 0;
}

/* Public: see jscan.h. */
int jscan_catalog_find(const struct jscan_catalog *c, const char *id_text,
		       struct jscan_catalog_text *ret_text)
{
	struct catalog_text text;
	struct id128 id;

	if (!id_text || !ret_text || ret_text->size < CATALOG_TEXT_SIZE_MIN ||
	    !catalog_parse_id((const uint8_t *)id_text, strlen(id_text), &id))
		return -EINVAL;
	if (!c || !catalog_find(&c->catalog, &id, &text))
		return -ENOENT;
	*ret_text = catalog_view(&id, &text);
	return 0;
}
