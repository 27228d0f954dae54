/* SPDX-License-Identifier: MIT */
/*
 * Links that a terminal can open: "ESC ]8;;URL ESC \ text ESC ]8;; ESC \". What is a URL, and how
 * the path of a file becomes one.
 */
#include "formats/output/encode.h"

#define LINK_BEGIN "\033]8;;"
#define LINK_END "\033\\"
#define LINK_FILE "file://"

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

/* Appends a small sign that is a link, and a space. */
void link_print_sign(const struct output_options *options, struct output_buffer *b,
		     struct text_view url)
{
	output_text(b, LINK_BEGIN);
	output_view(b, url);
	output_text(b, LINK_END);
	if (options->flags & OUTPUT_ASCII)
		output_text(b, "[LNK]");
	else
		output_text(b, "[\xf0\x9f\xa1\x95]");
	output_text(b, LINK_BEGIN LINK_END " ");
}

/* What stands before PATH in its URL: the node's name, and the directory for a relative one. */
struct link_parts {
	struct text_view node;
	struct text_view directory;
	bool slash; /* between directory and path */
};

/* Finds them. */
static struct link_parts link_parts(const struct output_options *options, struct text_view path)
{
	struct link_parts parts = { { (const uint8_t *)"", 0 }, { (const uint8_t *)"", 0 }, false };

	if (options->node_name)
		parts.node = (struct text_view){ (const uint8_t *)options->node_name,
						 strlen(options->node_name) };
	if (path.bytes[0] == '/')
		return parts;
	if (options->directory)
		parts.directory = (struct text_view){ (const uint8_t *)options->directory,
						      strlen(options->directory) };
	parts.slash = parts.directory.size == 0 ||
		      parts.directory.bytes[parts.directory.size - 1] != '/';
	return parts;
}

/* How many bytes link_write_path() writes for a path, which is not empty. */
size_t link_path_size(const struct output_options *options, struct text_view path)
{
	struct link_parts parts = link_parts(options, path);

	return 2 * (sizeof(LINK_BEGIN) - 1 + sizeof(LINK_END) - 1) + sizeof(LINK_FILE) - 1 +
	       parts.node.size + parts.directory.size + parts.slash + 2 * path.size;
}

/* Writes a view; returns what follows. */
static uint8_t *link_write_view(uint8_t *to, struct text_view v)
{
	memcpy(to, v.bytes, v.size);
	return to + v.size;
}

/* Writes a path as a link to it. */
void link_write_path(const struct output_options *options, uint8_t *to, struct text_view path)
{
	struct link_parts parts = link_parts(options, path);

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
