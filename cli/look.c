// SPDX-License-Identifier: MIT
/*
 * The look of what is printed (behaviour document 1.7 and 1.8): variables of the environment come
 * first, then what standard output and standard error are. Only decides; the library prints.
 */
#include "look.h"

#include <langinfo.h>
#include <locale.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "values.h"

#define WIDTH_DEFAULT 80u
#define WIDTH_MAX 65535

/* What was found before a pager took the terminal's place. */
static struct look look_kept;
static bool look_is_kept;

/* Whether a descriptor is /dev/null. */
static bool look_is_null(int fd)
{
	struct stat st, null;

	return fstat(fd, &st) == 0 && stat("/dev/null", &null) == 0 && S_ISCHR(st.st_mode) &&
	       st.st_rdev == null.st_rdev;
}

/* Whether the terminal is one that shows colours. */
static bool look_is_terminal(void)
{
	const char *term = getenv("TERM");

	if (!(isatty(STDOUT_FILENO) && isatty(STDERR_FILENO)) &&
	    !(look_is_null(STDOUT_FILENO) && look_is_null(STDERR_FILENO)))
		return false;
	return term && *term && strcmp(term, "dumb") != 0;
}

/* All the colours that the terminal says it has. */
static enum jscan_colours look_full_colours(void)
{
	const char *depth = getenv("COLORTERM");

	if (depth && (strcmp(depth, "truecolor") == 0 || strcmp(depth, "24bit") == 0))
		return JSCAN_COLOURS_24BIT;
	return JSCAN_COLOURS_256;
}

/* The depth that a word asks for; JSCAN_COLOURS_NONE: it is no such word. */
static enum jscan_colours look_depth(const char *word)
{
	if (strcmp(word, "16") == 0)
		return JSCAN_COLOURS_16;
	if (strcmp(word, "256") == 0)
		return JSCAN_COLOURS_256;
	return strcmp(word, "24bit") == 0 ? JSCAN_COLOURS_24BIT : JSCAN_COLOURS_NONE;
}

/* $SYSTEMD_COLORS, then $NO_COLOR, then the terminal. */
static enum jscan_colours look_colours(void)
{
	const char *word = getenv("SYSTEMD_COLORS");
	enum jscan_colours limit = JSCAN_COLOURS_24BIT, full = look_full_colours();
	bool on;

	if (word) {
		if (look_depth(word) != JSCAN_COLOURS_NONE)
			return look_depth(word);
		if (value_boolean(word, &on) == 0)
			return on ? full : JSCAN_COLOURS_NONE;
		if (strncmp(word, "auto-", 5) == 0 && look_depth(word + 5) != JSCAN_COLOURS_NONE)
			limit = look_depth(word + 5);
	}
	if (getenv("NO_COLOR") || !look_is_terminal())
		return JSCAN_COLOURS_NONE;
	return full < limit ? full : limit;
}

/* Whether the locale is one of UTF-8; where none is named it is taken to be. */
static bool look_is_utf8(void)
{
	static const char *const names[] = { "LC_ALL", "LC_CTYPE", "LANG" };
	const char *word = getenv("SYSTEMD_UTF8");
	bool on;

	if (word && value_boolean(word, &on) == 0)
		return on;
	if (!setlocale(LC_ALL, NULL) || strcmp(nl_langinfo(CODESET), "UTF-8") == 0)
		return true;
	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++)
		if (getenv(names[i]))
			return false;
	return true;
}

/* $COLUMNS, else the terminal's. */
static uint32_t look_width(void)
{
	const char *word = getenv("COLUMNS");
	struct winsize size;
	int columns;

	if (word && value_integer(word, &columns) == 0 && columns > 0 && columns <= WIDTH_MAX)
		return (uint32_t)columns;
	if (ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_col > 0)
		return size.ws_col;
	return WIDTH_DEFAULT;
}

void look_keep(void)
{
	if (look_is_kept)
		return;
	look_init(&look_kept);
	look_is_kept = true;
}

void look_init(struct look *look)
{
	const char *links = getenv("SYSTEMD_URLIFY"), *term = getenv("TERM");

	if (look_is_kept) {
		*look = look_kept;
		return;
	}
	look->colours = look_colours();
	if (!links || value_boolean(links, &look->links) < 0)
		look->links = look->colours != JSCAN_COLOURS_NONE;
	look->ascii = !look_is_utf8();
	look->underline = !term || strcmp(term, "linux") != 0;
	look->width = look_width();
}
