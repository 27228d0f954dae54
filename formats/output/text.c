/* SPDX-License-Identifier: MIT */
/*
 * The short family: TIME HOST NAME[PID]: MESSAGE. Of a repeated field the last value counts. An
 * entry without a message prints nothing, nor does one whose time cannot be shown.
 */
#include "formats/output/encode.h"

#include <assert.h>

/* The fields of an entry that the short family looks at. */
struct text_fields {
	struct text_view message;
	struct text_view identifier;
	struct text_view command;
	struct text_view pid;
	struct text_view syslog_pid;
	struct text_view host;
	struct text_view unit;
	struct text_view user_unit;
	struct text_view source_realtime;
};

/* The place of the field called NAME, or NULL. Names are told apart by their size first. */
static struct text_view *text_slot(struct text_fields *t, const uint8_t *name, size_t size)
{
#define TEXT_SLOT(slot, literal)                                                                   \
	case sizeof(literal) - 1:                                                                  \
		return memcmp(name, literal, sizeof(literal) - 1) == 0 ? &t->slot : NULL

	switch (size) {
		TEXT_SLOT(pid, "_PID");
		TEXT_SLOT(command, "_COMM");
		TEXT_SLOT(message, "MESSAGE");
		TEXT_SLOT(host, "_HOSTNAME");
		TEXT_SLOT(syslog_pid, "SYSLOG_PID");
		TEXT_SLOT(unit, "_SYSTEMD_UNIT");
		TEXT_SLOT(identifier, "SYSLOG_IDENTIFIER");
		TEXT_SLOT(user_unit, "_SYSTEMD_USER_UNIT");
		TEXT_SLOT(source_realtime, "_SOURCE_REALTIME_TIMESTAMP");
	default:
		return NULL;
	}
#undef TEXT_SLOT
}

/* True if the short family looks at fields called NAME. */
bool text_needs_field(const uint8_t *name, size_t size)
{
	struct text_fields t;

	return text_slot(&t, name, size) != NULL;
}

/* Picks the last value of every field that is looked at. */
static void text_collect(struct text_fields *t, const struct output_entry *entry)
{
	*t = (struct text_fields){ 0 };
	for (size_t i = 0; i < entry->field_count; i++) {
		const struct output_field *f = &entry->fields[i];
		struct text_view *slot = text_slot(t, f->bytes, f->name_size);

		if (slot && f->name_size < f->size)
			*slot = field_value(f);
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

/* Appends a value up to its first NUL. Printable ones have none. */
static void text_value(struct output_buffer *b, struct text_view v)
{
	if (v.size < ENCODE_TEXT_SIZE_MAX && output_reserve(b, v.size + VEC16_SLACK)) {
		uint8_t *to = b->bytes + b->size;
		const uint8_t *nul;

		short_copy(to, v.bytes, v.size);
		nul = memchr(to, 0, v.size);
		b->size += nul ? (size_t)(nul - to) : v.size;
		return;
	}
	output_bytes(b, v.bytes, strnlen((const char *)v.bytes, v.size));
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
static size_t text_name(const struct output_options *options, const struct text_fields *t,
			struct output_buffer *b)
{
	size_t counted = 0;

	output_byte(b, ' ');
	if (options->mode == OUTPUT_WITH_UNIT &&
	    (text_is_shown(options, t->unit) || text_is_shown(options, t->user_unit))) {
		if (t->unit.bytes) {
			text_value(b, t->unit);
			counted += t->unit.size + 1;
		}
		if (t->user_unit.bytes) {
			if (t->unit.bytes)
				output_byte(b, '/');
			text_value(b, t->user_unit);
			counted += t->unit.size + 1;
		}
		return counted;
	}
	if (text_is_shown(options, t->identifier)) {
		text_value(b, t->identifier);
		return t->identifier.size + 1;
	}
	if (text_is_shown(options, t->command)) {
		text_value(b, t->command);
		return t->command.size + 1;
	}
	output_text(b, "unknown");
	return 0;
}

/* Appends a PID in brackets if there is one; returns how much it counts. */
static size_t text_pid(const struct output_options *options, const struct text_fields *t,
		       struct output_buffer *b)
{
	struct text_view pid = t->pid;

	if (!text_is_shown(options, pid)) {
		pid = t->syslog_pid;
		if (!text_is_shown(options, pid))
			return 0;
	}
	output_byte(b, '[');
	text_value(b, pid);
	output_byte(b, ']');
	return pid.size + 2;
}

/* Appends an entry in one of the short modes. */
void text_entry(const struct output_options *options, struct output_cache *cache,
		struct output_previous *previous, const struct output_entry *entry,
		struct output_buffer *b)
{
	struct stamp_display display;
	struct text_fields t;
	size_t start = b->size, indent;

	assert(previous || options->mode != OUTPUT_SHORT_DELTA);
	text_collect(&t, entry);
	if (!t.message.bytes)
		return;
	display = stamp_display(entry, t.source_realtime);
	if (!text_time(options, cache, previous, entry, &display, b))
		return;
	indent = b->size - start;
	if (!(options->flags & OUTPUT_NO_HOSTNAME) && text_is_shown(options, t.host)) {
		output_byte(b, ' ');
		text_value(b, t.host);
		indent += t.host.size + 1;
	}
	indent += text_name(options, &t, b);
	indent += text_pid(options, &t, b);
	output_text(b, ": ");
	message_print(options, cache, b, t.message.bytes, t.message.size, indent + 2);
	if (options->mode == OUTPUT_SHORT_DELTA && !b->failed)
		*previous = (struct output_previous){ true, entry->boot_id, display.realtime,
						      display.monotonic };
}
