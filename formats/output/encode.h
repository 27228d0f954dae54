/* SPDX-License-Identifier: MIT */
/*
 * What the encoders share with each other and with nobody else.
 */
#ifndef FORMATS_OUTPUT_ENCODE_H
#define FORMATS_OUTPUT_ENCODE_H

#include "formats/output/output.h"
#include "formats/output/put.h"
#include "formats/output/vec16.h"

/* Values of this size and above are not shown by the short family without OUTPUT_ALL. */
#define ENCODE_TEXT_SIZE_MAX 300u
/* Fields of this size and above are null in JSON without OUTPUT_ALL. */
#define ENCODE_JSON_SIZE_MAX 4096u

/* A borrowed string; bytes is NULL if there is none. */
struct text_view {
	const uint8_t *bytes;
	size_t size;
};

/* Appends a string, if there is one. */
static inline void output_view(struct output_buffer *b, struct text_view v)
{
	if (v.size > 0)
		output_bytes(b, v.bytes, v.size);
}

/* ---- colour.c --------------------------------------------------------------------------- */

enum colour {
	COLOUR_NOTHING,
	COLOUR_NORMAL,
	COLOUR_RED,
	COLOUR_YELLOW,
	COLOUR_HIGHLIGHT,
	COLOUR_GREY,
	COLOUR_BLUE,
	COLOUR_BRIGHT_BLUE,
	COLOUR_GREEN,
	COLOUR_UNDERLINE,
	COLOUR_COUNT
};

/* What is sent before and after a text, and before what a pattern matches in it. */
struct colour_set {
	struct text_view on;
	struct text_view off;
	struct text_view match;
};

struct text_view colour_text(const struct output_options *options, enum colour colour);
struct colour_set colour_message(const struct output_options *options, struct text_view priority);
void colour_print(const struct output_options *options, struct output_buffer *b, enum colour colour,
		  const void *text, size_t size);

/* ---- shorten.c -------------------------------------------------------------------------- */

void shorten_print(struct output_buffer *b, const uint8_t *text, size_t size, size_t columns,
		   unsigned percent, bool ascii);

/* ---- link.c ----------------------------------------------------------------------------- */

bool link_is_url(struct text_view text);
void link_print_sign(const struct output_options *options, struct output_buffer *b,
		     struct text_view url);
size_t link_path_size(const struct output_options *options, struct text_view path);
void link_write_path(const struct output_options *options, uint8_t *to, struct text_view path);

/* ---- explain.c -------------------------------------------------------------------------- */

bool explain_needs_field(const uint8_t *name, size_t size);
void explain_print(const struct output_options *options, struct output_cache *cache,
		   const struct output_entry *entry, struct output_buffer *b);
void explain_print_link(const struct output_options *options, struct output_cache *cache,
			const struct output_entry *entry, struct output_buffer *b);

/* ---- printable.c ------------------------------------------------------------------------ */

unsigned printable_character(const uint8_t *p, size_t size);

/* ---- fields.c: one field ---------------------------------------------------------------- */

#define FIELD_NAME_SIZE_MAX 64u

bool field_name_is_valid(const uint8_t *name, size_t size);
bool field_list_holds(const char *const *list, const uint8_t *name, size_t size);

/* True in the lanes that hold A-Z, 0-9 or _. */
static inline vec16 field_name_class(vec16 v)
{
	return ((vec16)(v >= 'A') & (vec16)(v <= 'Z')) | ((vec16)(v >= '0') & (vec16)(v <= '9')) |
	       (vec16)(v == '_');
}

/* True if the field has a '=' and a valid name: what verbose and export can go on after. Nearly
 * every name lies within the first sixteen bytes of its field. */
static inline bool field_is_valid(const struct output_field *f)
{
	if (likely(f->traits))
		return f->traits & OUTPUT_TRAIT_NAMED;
	if (f->name_size >= f->size)
		return false;
	if (unlikely(f->name_size > 16 || f->size < 16))
		return field_name_is_valid(f->bytes, f->name_size);
	return f->name_size > 0 && (uint8_t)(f->bytes[0] - '0') > 9 &&
	       (vec16_misses(field_name_class(vec16_load(f->bytes))) &
		((1u << f->name_size) - 1)) == 0;
}

/* True if LIST, ended by NULL, holds NAME, which is a valid one. No list, or an empty one, holds
 * every name. */
static inline bool field_is_listed(const char *const *list, const uint8_t *name, size_t size)
{
	return likely(!list) || field_list_holds(list, name, size);
}

/* A hash of a field's name, eight bits: of its size, first and last bytes. */
static inline unsigned field_name_hash(const struct output_field *f)
{
	uint64_t mix = f->name_size;

	if (f->traits)
		return f->traits >> 16 & 0xff;
	if (f->name_size >= 8)
		mix ^= load_le64(f->bytes) * 3 ^ load_le64(f->bytes + f->name_size - 8);
	else
		for (unsigned i = 0; i < f->name_size; i++)
			mix = mix << 8 | f->bytes[i];
	return (unsigned)((mix * UINT64_C(0x9e3779b97f4a7c15)) >> 56);
}

/* Copies the SIZE bytes at P, which belong to F, or a part of them. TO has room for SIZE +
 * VEC16_SLACK bytes. */
static inline void field_copy(uint8_t *to, const struct output_field *f, const uint8_t *p,
			      size_t size)
{
	if (likely(f->traits & OUTPUT_TRAIT_SLACK && size <= 128)) {
		for (size_t at = 0; at < size; at += 16)
			vec16_store(to + at, vec16_load(p + at));
		return;
	}
	short_copy(to, p, size);
}

/* What follows the '=' of a field that has one. */
static inline struct text_view field_value(const struct output_field *f)
{
	return (struct text_view){ f->bytes + f->name_size + 1, f->size - f->name_size - 1 };
}

/* True if the field has a '=' and is called NAME, a literal. */
#define field_is(f, name)                                                                          \
	((f)->name_size == sizeof(name) - 1 && (f)->size > sizeof(name) - 1 &&                     \
	 memcmp((f)->bytes, name, sizeof(name) - 1) == 0)

/* ---- lines.c: text of several lines ------------------------------------------------------ */

/* How the lines of a text are laid out. */
struct line_style {
	size_t indent;    /* spaces before every line but the first */
	bool stop_at_nul; /* a NUL ends what is shown of its line, or of a part of it */
	bool ascii;       /* dots instead of an ellipsis */
	size_t width;     /* lines are shortened to these columns, indentation included; 0: not */
	size_t match_begin, match_end;
	struct colour_set colours;
};

bool lines_try(struct output_buffer *b, const uint8_t *text, size_t size, size_t indent);
bool lines_try_tab(struct output_buffer *b, const uint8_t *text, size_t size, size_t indent);
void lines_print(struct output_buffer *b, const uint8_t *text, size_t size,
		 const struct line_style *style);
void lines_escaped(struct output_buffer *b, const uint8_t *text, size_t size,
		   const struct line_style *style);
void lines_blob(struct output_buffer *b, uint64_t size);
void lines_blob_mark(struct output_buffer *b, uint64_t size);

/* ---- message.c: a message as the short family shows it ----------------------------------- */

/* A message that is printed with more than its text. */
struct message {
	struct text_view text;
	size_t indent;
	size_t match_begin, match_end;
	struct text_view config_file; /* made a link of where the message begins with it */
	struct colour_set colours;
};

void message_print(const struct output_options *options, struct output_cache *cache,
		   struct output_buffer *b, const uint8_t *message, size_t size, size_t indent);
void message_print_decorated(const struct output_options *options, struct output_cache *cache,
			     struct output_buffer *b, const struct message *message);

/* ---- stamp.c: times ---------------------------------------------------------------------- */

#define STAMP_TIME_END (UINT64_C(1) << 55)

/* The times that an entry is shown with. */
struct stamp_display {
	uint64_t realtime;
	uint64_t monotonic;
};

/* How a second is written. */
enum stamp_style {
	STAMP_SHORT, /* May 01 10:00:01 */
	STAMP_ISO,   /* 2024-05-01T10:00:01+00:00 */
	STAMP_FULL   /* Wed 2024-05-01 10:00:01 UTC */
};

struct stamp_display stamp_display(const struct output_entry *entry, struct text_view source);
void stamp_seconds(struct output_buffer *b, uint64_t usec, unsigned width);

/* ---- calendar.c -------------------------------------------------------------------------- */

void calendar_time(const struct output_options *options, struct output_cache *cache,
		   struct output_buffer *b, uint64_t realtime, enum stamp_style style,
		   bool fraction);

/* ---- mode.c ------------------------------------------------------------------------------ */

bool cache_scratch(struct output_cache *cache, size_t size, size_t more_size);
void cache_trim(struct output_cache *cache);

/* ---- the modes --------------------------------------------------------------------------- */

void text_entry(const struct output_options *options, struct output_cache *cache,
		struct output_previous *previous, const struct output_entry *entry,
		struct output_buffer *b);
void verbose_entry(const struct output_options *options, struct output_cache *cache,
		   const struct output_entry *entry, struct output_buffer *b);
void export_entry(const struct output_options *options, const struct output_entry *entry,
		  struct output_buffer *b);
void json_entry(const struct output_options *options, struct output_cache *cache,
		const struct output_entry *entry, struct output_buffer *b);
void json_stable_entry(const struct output_options *options, struct output_cache *cache,
		       const struct output_entry *entry, struct output_buffer *b);
void cat_entry(const struct output_options *options, const struct output_entry *entry,
	       struct output_buffer *b);

bool text_needs_field(const struct output_options *options, const uint8_t *name, size_t size);
unsigned text_field_slot(const uint8_t *name, size_t size);
bool verbose_needs_field(const uint8_t *name, size_t size);

#endif
