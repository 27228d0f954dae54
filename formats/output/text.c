/* SPDX-License-Identifier: MIT */
/*
 * The short family: TIME HOST NAME[PID]: MESSAGE. Of a repeated field the last value counts. An
 * entry without a message prints nothing, nor does one whose time cannot be shown.
 */
#include "formats/output/encode.h"

#include <assert.h>

/* The fields of an entry that the short family looks at. */
enum text_slot {
	TEXT_OTHER, /* any other field */
	TEXT_MESSAGE,
	TEXT_IDENTIFIER,
	TEXT_COMMAND,
	TEXT_PID,
	TEXT_SYSLOG_PID,
	TEXT_HOST,
	TEXT_UNIT,
	TEXT_USER_UNIT,
	TEXT_SOURCE_REALTIME,
	/* With colours and links: */
	TEXT_PRIORITY,
	TEXT_TRANSPORT,
	TEXT_CONFIG_FILE,
	TEXT_DOCUMENTATION,
	TEXT_SLOT_COUNT
};

/* No name that is looked at is shorter than the first or longer than the second. */
#define TEXT_NAME_SIZE_MIN 4u
#define TEXT_NAME_SIZE_MAX 26u

/* A name, and where its value goes. */
struct text_name {
	uint8_t name[32];
	uint8_t slot;
};

/* Names by their sizes, all of which are different. */
static const struct text_name text_names[TEXT_NAME_SIZE_MAX + 1] = {
	[4] = { "_PID", TEXT_PID },
	[5] = { "_COMM", TEXT_COMMAND },
	[7] = { "MESSAGE", TEXT_MESSAGE },
	[9] = { "_HOSTNAME", TEXT_HOST },
	[10] = { "SYSLOG_PID", TEXT_SYSLOG_PID },
	[13] = { "_SYSTEMD_UNIT", TEXT_UNIT },
	[17] = { "SYSLOG_IDENTIFIER", TEXT_IDENTIFIER },
	[18] = { "_SYSTEMD_USER_UNIT", TEXT_USER_UNIT },
	[26] = { "_SOURCE_REALTIME_TIMESTAMP", TEXT_SOURCE_REALTIME },
};

/* Further names by their sizes, for colours and links. */
static const struct text_name text_more_names[TEXT_NAME_SIZE_MAX + 1] = {
	[8] = { "PRIORITY", TEXT_PRIORITY },
	[10] = { "_TRANSPORT", TEXT_TRANSPORT },
	[11] = { "CONFIG_FILE", TEXT_CONFIG_FILE },
	[13] = { "DOCUMENTATION", TEXT_DOCUMENTATION },
};

/* True if messages are printed with more than their text, or may end before it does. With
 * OUTPUT_ALL that depends on NULs in the message, in what a pattern matches, or in CONFIG_FILE. */
static bool text_is_decorated(const struct output_options *options)
{
	return options->colours || options->flags & (OUTPUT_SHORTEN | OUTPUT_LINKS | OUTPUT_ALL);
}

/* Where the value of a field called NAME goes that is only needed for colours and links. */
static enum text_slot text_more_slot(const uint8_t *name, size_t size)
{
	const struct text_name *t;

	if (size < TEXT_NAME_SIZE_MIN || size > TEXT_NAME_SIZE_MAX)
		return TEXT_OTHER;
	t = &text_more_names[size];
	return memcmp(name, t->name, size) == 0 ? t->slot : TEXT_OTHER;
}

/* Where the value of a field called NAME goes. */
static inline enum text_slot text_slot(const uint8_t *name, size_t size)
{
	const struct text_name *t;

	if (size < TEXT_NAME_SIZE_MIN || size > TEXT_NAME_SIZE_MAX)
		return TEXT_OTHER;
	t = &text_names[size];
	if (load_le32(name) != load_le32(t->name) || memcmp(name, t->name, size) != 0)
		return TEXT_OTHER;
	return t->slot;
}

/* The same for output_traits(). */
unsigned text_field_slot(const uint8_t *name, size_t size)
{
	return text_slot(name, size);
}

/* True if the short family looks at fields called NAME. */
bool text_needs_field(const struct output_options *options, const uint8_t *name, size_t size)
{
	if (text_slot(name, size) != TEXT_OTHER)
		return true;
	if (text_is_decorated(options) && text_more_slot(name, size) != TEXT_OTHER)
		return true;
	return options->flags & (OUTPUT_CATALOG | OUTPUT_LINKS) && explain_needs_field(name, size);
}

/* Picks the last value of every field that is looked at. */
static void text_collect(struct text_view slots[TEXT_SLOT_COUNT], const struct output_entry *entry)
{
	memset(slots, 0, sizeof(*slots) * TEXT_SLOT_COUNT);
	for (size_t i = 0; i < entry->field_count; i++) {
		const struct output_field *f = &entry->fields[i];
		enum text_slot slot = f->traits ? (f->traits >> 8 & 15) :
						  text_slot(f->bytes, f->name_size);

		if (slot != TEXT_OTHER && f->name_size < f->size)
			slots[slot] = field_value(f);
	}
}

/* Picks those that are needed for colours and links only. */
static void text_collect_more(struct text_view slots[TEXT_SLOT_COUNT],
			      const struct output_entry *entry)
{
	for (size_t i = 0; i < entry->field_count; i++) {
		const struct output_field *f = &entry->fields[i];
		enum text_slot slot = text_more_slot(f->bytes, f->name_size);

		if (slot != TEXT_OTHER && f->name_size < f->size)
			slots[slot] = field_value(f);
	}
}

/* True if a value, which may be absent, is fit to be shown. */
static bool text_is_shown(const struct output_options *options, struct text_view v)
{
	if (!v.bytes)
		return false;
	return options->flags & OUTPUT_ALL ||
	       (v.size < ENCODE_TEXT_SIZE_MAX && text_is_printable(v.bytes, v.size, true));
}

/* Appends a value that is shown, up to its first NUL. Only what is shown without a test has one:
 * with OUTPUT_ALL, and a unit along with another. */
static void text_value(const struct output_options *options, struct output_buffer *b,
		       struct text_view v)
{
	if (options->flags & OUTPUT_ALL || options->mode == OUTPUT_WITH_UNIT)
		v.size = strnlen((const char *)v.bytes, v.size);
	if (output_reserve(b, v.size + VEC16_SLACK)) {
		short_copy(b->bytes + b->size, v.bytes, v.size);
		b->size += v.size;
	}
}

/* Appends what short-delta says of the time since the entry printed before. */
static void text_delta(struct output_buffer *b, const struct output_previous *previous,
		       const struct output_entry *entry, const struct stamp_display *display)
{
	bool same_boot = id128_equal(&previous->boot_id, &entry->boot_id);
	uint64_t now = same_boot ? display->monotonic : display->realtime;
	uint64_t before = same_boot ? previous->monotonic : previous->realtime;

	if (!previous->there) {
		output_fill(b, ' ', 16);
		return;
	}
	output_text(b, " <");
	stamp_seconds(b, now > before ? now - before : 0, 5);
	output_byte(b, same_boot ? ' ' : '*');
	output_byte(b, '>');
}

/* Appends the time. False if it cannot be shown. */
static bool text_time(const struct output_options *options, struct output_cache *cache,
		      const struct output_previous *previous, const struct output_entry *entry,
		      const struct stamp_display *display, struct output_buffer *b)
{
	enum stamp_style style = STAMP_SHORT;
	bool fraction = false;

	switch (options->mode) {
	case OUTPUT_SHORT_MONOTONIC:
	case OUTPUT_SHORT_DELTA:
		if (display->monotonic >= STAMP_TIME_END)
			return false;
		output_byte(b, '[');
		stamp_seconds(b, display->monotonic, 5);
		if (options->mode == OUTPUT_SHORT_DELTA)
			text_delta(b, previous, entry, display);
		output_byte(b, ']');
		return true;
	case OUTPUT_SHORT_PRECISE:
		fraction = true;
		break;
	case OUTPUT_SHORT_ISO_PRECISE:
		fraction = true;
		style = STAMP_ISO;
		break;
	case OUTPUT_SHORT_ISO:
		style = STAMP_ISO;
		break;
	case OUTPUT_SHORT_FULL:
	case OUTPUT_WITH_UNIT:
		style = STAMP_FULL;
		break;
	default:
		break;
	}
	if (display->realtime == 0 || display->realtime >= STAMP_TIME_END)
		return false;
	if (options->mode == OUTPUT_SHORT_UNIX)
		stamp_seconds(b, display->realtime, 10);
	else
		calendar_time(options, cache, b, display->realtime, style, fraction);
	return true;
}

/* Appends a space and who speaks; returns how much that counts for the indentation, which is not
 * always what it takes. */
static size_t text_who(const struct output_options *options, const struct text_view *slots,
			struct output_buffer *b)
{
	size_t counted = 0;

	output_byte(b, ' ');
	if (options->mode == OUTPUT_WITH_UNIT && (text_is_shown(options, slots[TEXT_UNIT]) ||
						  text_is_shown(options, slots[TEXT_USER_UNIT]))) {
		if (slots[TEXT_UNIT].bytes) {
			text_value(options, b, slots[TEXT_UNIT]);
			counted += slots[TEXT_UNIT].size + 1;
		}
		if (slots[TEXT_USER_UNIT].bytes) {
			if (slots[TEXT_UNIT].bytes)
				output_byte(b, '/');
			text_value(options, b, slots[TEXT_USER_UNIT]);
			counted += slots[TEXT_UNIT].size + 1;
		}
		return counted;
	}
	if (text_is_shown(options, slots[TEXT_IDENTIFIER])) {
		text_value(options, b, slots[TEXT_IDENTIFIER]);
		return slots[TEXT_IDENTIFIER].size + 1;
	}
	if (text_is_shown(options, slots[TEXT_COMMAND])) {
		text_value(options, b, slots[TEXT_COMMAND]);
		return slots[TEXT_COMMAND].size + 1;
	}
	output_text(b, "unknown");
	return 0;
}

/* Appends a PID in brackets if there is one; returns how much it counts. */
static size_t text_pid(const struct output_options *options, const struct text_view *slots,
		       struct output_buffer *b)
{
	struct text_view pid = slots[TEXT_PID];

	if (!text_is_shown(options, pid)) {
		pid = slots[TEXT_SYSLOG_PID];
		if (!text_is_shown(options, pid))
			return 0;
	}
	output_byte(b, '[');
	text_value(options, b, pid);
	output_byte(b, ']');
	return pid.size + 2;
}

/* True if the entry's identifier is one that is not to be shown. */
static bool text_is_excluded(const struct output_options *options, struct text_view identifier)
{
	size_t size;

	if (!identifier.bytes)
		return false;
	size = strnlen((const char *)identifier.bytes, identifier.size);
	for (const char *const *e = options->excluded; *e; e++)
		if (strlen(*e) == size && memcmp(*e, identifier.bytes, size) == 0)
			return true;
	return false;
}

/* Appends a link to documentation, if the entry or the catalog knows of any. */
static void text_documentation(const struct output_options *options, struct output_cache *cache,
			       const struct output_entry *entry, struct text_view url,
			       struct output_buffer *b)
{
	if (text_is_shown(options, url)) {
		url.size = strnlen((const char *)url.bytes, url.size);
		if (link_is_url(url)) {
			link_print_sign(options, b, url);
			return;
		}
	}
	explain_print_link(options, cache, entry, b);
}

/* Appends a message with its colours and links. */
static void text_message(const struct output_options *options, struct output_cache *cache,
			 const struct output_entry *entry, struct text_view *slots, size_t indent,
			 struct output_buffer *b)
{
	struct message m = { .text = slots[TEXT_MESSAGE], .indent = indent,
			     .match_begin = entry->match_begin, .match_end = entry->match_end };
	struct text_view transport;

	text_collect_more(slots, entry);
	transport = slots[TEXT_TRANSPORT];
	m.colours = colour_message(options, slots[TEXT_PRIORITY]);
	if (transport.bytes && transport.size >= 5 && memcmp(transport.bytes, "audit", 5) == 0 &&
	    (transport.size == 5 || transport.bytes[5] == 0)) {
		m.colours.on = colour_text(options, COLOUR_BLUE);
		m.colours.off = colour_text(options, COLOUR_NORMAL);
	}
	if (options->flags & OUTPUT_LINKS)
		text_documentation(options, cache, entry, slots[TEXT_DOCUMENTATION], b);
	if (options->flags & (OUTPUT_LINKS | OUTPUT_ALL))
		m.config_file = slots[TEXT_CONFIG_FILE];
	message_print_decorated(options, cache, b, &m);
}

/* Appends an entry in one of the short modes. */
void text_entry(const struct output_options *options, struct output_cache *cache,
		struct output_previous *previous, const struct output_entry *entry,
		struct output_buffer *b)
{
	struct stamp_display display;
	struct text_view slots[TEXT_SLOT_COUNT], host, message;
	size_t start = b->size, indent;

	assert(previous || options->mode != OUTPUT_SHORT_DELTA);
	text_collect(slots, entry);
	message = slots[TEXT_MESSAGE];
	if (!message.bytes ||
	    (options->excluded && text_is_excluded(options, slots[TEXT_IDENTIFIER])))
		return;
	display = stamp_display(entry, slots[TEXT_SOURCE_REALTIME]);
	if (!text_time(options, cache, previous, entry, &display, b))
		return;
	indent = b->size - start;
	host = slots[TEXT_HOST];
	if (!(options->flags & OUTPUT_NO_HOSTNAME) && text_is_shown(options, host)) {
		output_byte(b, ' ');
		text_value(options, b, host);
		indent += host.size + 1;
	}
	indent += text_who(options, slots, b);
	indent += text_pid(options, slots, b);
	output_text(b, ": ");
	if (text_is_decorated(options))
		text_message(options, cache, entry, slots, indent + 2, b);
	else
		message_print(options, cache, b, message.bytes, message.size, indent + 2);
	if (options->flags & OUTPUT_CATALOG)
		explain_print(options, cache, entry, b);
	if (options->mode == OUTPUT_SHORT_DELTA && !b->failed)
		*previous = (struct output_previous){ true, entry->boot_id, display.realtime,
						      display.monotonic };
}
