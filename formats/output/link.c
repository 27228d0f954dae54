/* SPDX-License-Identifier: MIT */
/*
 * Links that a terminal can open: "ESC ]8;;URL ESC \ text ESC ]8;; ESC \". What is a URL, and how
 * the path of a file becomes one.
 */
#include "formats/output/encode.h"

#define LINK_BEGIN "\033]8;;"
#define LINK_END "\033\\"
#define LINK_FILE "file://"

/* Longer URLs are not linked to: terminals limit them. */
#define LINK_URL_SIZE_MAX 2000u

/* True if P begins with PREFIX, a string, and goes on with ASCII only, at least one character. */
static bool link_begins(const uint8_t *p, size_t size, const char *prefix)
{
	size_t prefix_size = strlen(prefix);

	if (size <= prefix_size || memcmp(p, prefix, prefix_size) != 0)
		return false;
	for (size_t at = prefix_size; at < size; at++)
		if (p[at] >= 0x80)
			return false;
	return true;
}

/* True if a text without a NUL is a URL that documentation may have. */
bool link_is_url(struct text_view text)
{
	static const char *const prefixes[] = { "http://", "https://", "file:/", "info:", "man:" };

	for (unsigned i = 0; i < sizeof(prefixes) / sizeof(*prefixes); i++)
		if (link_begins(text.bytes, text.size, prefixes[i]))
			return true;
	return false;
}

/* True if a part of a URL holds nothing that a terminal might not take. */
static bool link_is_plain(struct text_view part)
{
	for (size_t at = 0; at < part.size; at++)
		if (part.bytes[at] < 0x20 || part.bytes[at] > 0x7e)
			return false;
	return true;
}

/* Appends a small sign that is a link, if the URL is fit for one, and a space. */
void link_print_sign(const struct output_options *options, struct output_buffer *b,
		     struct text_view url)
{
	bool fit = url.size <= LINK_URL_SIZE_MAX && link_is_plain(url);

	if (fit) {
		output_text(b, LINK_BEGIN);
		output_view(b, url);
		output_text(b, LINK_END);
	}
	if (options->flags & OUTPUT_ASCII)
		output_text(b, "[LNK]");
	else
		output_text(b, "[\xf0\x9f\xa1\x95]");
	if (fit)
		output_text(b, LINK_BEGIN LINK_END);
	output_byte(b, ' ');
}

/* What stands before a path in its URL. */
struct link_parts {
	struct text_view node;
	struct text_view directory; /* before a relative path */
	bool slash;                 /* between directory and path */
	bool fit;                   /* a link can be made at all */
};

/* A string as a view. */
static struct text_view link_view(const char *text)
{
	return (struct text_view){ (const uint8_t *)text, strlen(text) };
}

/* Finds the parts of a path's URL. */
static struct link_parts link_parts(const struct output_options *options, struct text_view path)
{
	struct link_parts parts = { .node = link_view(""), .directory = link_view("") };

	if (!(options->flags & OUTPUT_LINKS) || !options->node_name)
		return parts;
	parts.node = link_view(options->node_name);
	if (path.bytes[0] != '/') {
		if (!options->directory || !options->directory[0])
			return parts;
		parts.directory = link_view(options->directory);
		parts.slash = parts.directory.bytes[parts.directory.size - 1] != '/';
	}
	parts.fit = sizeof(LINK_FILE) - 1 + parts.node.size + parts.directory.size + parts.slash +
				    path.size <= LINK_URL_SIZE_MAX &&
		    link_is_plain(parts.node) && link_is_plain(parts.directory) &&
		    link_is_plain(path);
	return parts;
}

/* How many bytes link_write_path() writes for a path, which is not empty. */
size_t link_path_size(const struct output_options *options, struct text_view path)
{
	struct link_parts parts = link_parts(options, path);

	if (!parts.fit)
		return path.size;
	return 2 * (sizeof(LINK_BEGIN) - 1 + sizeof(LINK_END) - 1) + sizeof(LINK_FILE) - 1 +
	       parts.node.size + parts.directory.size + parts.slash + 2 * path.size;
}

/* Writes a view; returns what follows. */
static uint8_t *link_write_view(uint8_t *to, struct text_view v)
{
	memcpy(to, v.bytes, v.size);
	return to + v.size;
}

/* Writes a path as a link to it; as it is where links are not wanted or it is not fit for one. */
void link_write_path(const struct output_options *options, uint8_t *to, struct text_view path)
{
	struct link_parts parts = link_parts(options, path);

	if (!parts.fit) {
		memcpy(to, path.bytes, path.size);
		return;
	}
	to = put_text(to, LINK_BEGIN LINK_FILE);
	to = link_write_view(to, parts.node);
	to = link_write_view(to, parts.directory);
	if (parts.slash)
		*to++ = '/';
	to = link_write_view(to, path);
	to = put_text(to, LINK_END);
	to = link_write_view(to, path);
	memcpy(to, LINK_BEGIN LINK_END, sizeof(LINK_BEGIN LINK_END) - 1);
}
