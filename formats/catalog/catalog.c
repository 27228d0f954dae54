/* SPDX-License-Identifier: MIT */
/*
 * Looks up texts in a compiled message catalog. The items are searched by bisection, as the
 * reference does, so that an unordered database misleads both alike; it cannot do more harm than
 * that: every item lies inside the bytes given, and a text whose offset does not is no text.
 */
#include "formats/catalog/catalog.h"

#define CATALOG_HEADER_SIZE 40u
#define CATALOG_ITEM_SIZE 56u

/* Where things are in the header ... */
#define CATALOG_INCOMPATIBLE_AT 12u
#define CATALOG_HEADER_SIZE_AT 16u
#define CATALOG_ITEM_COUNT_AT 24u
#define CATALOG_ITEM_SIZE_AT 32u
/* ... and in an item. */
#define CATALOG_ITEM_LANGUAGE_AT 16u
#define CATALOG_ITEM_TEXT_AT 48u

/* Takes the languages to look for from a locale's name. */
static void catalog_set_languages(struct catalog *c, const char *locale)
{
	size_t size, short_size;

	memset(c->languages, 0, sizeof(c->languages));
	if (!locale || strcmp(locale, "C") == 0 || strcmp(locale, "POSIX") == 0)
		return;
	size = strcspn(locale, ".@");
	if (size >= CATALOG_LANGUAGE_SIZE)
		return;
	memcpy(c->languages[0], locale, size);
	short_size = strcspn(locale, "_");
	if (short_size < size)
		memcpy(c->languages[1], locale, short_size);
}

/* Checks a database and remembers where its parts are. */
int catalog_init(struct catalog *catalog, const uint8_t *bytes, size_t size, const char *locale)
{
	uint64_t header_size, count, item_size, items_size;

	if (size < CATALOG_HEADER_SIZE || memcmp(bytes, "RHHHKSLP", 8) != 0 ||
	    load_le32(bytes + CATALOG_INCOMPATIBLE_AT) != 0)
		return -EBADMSG;
	header_size = load_le64(bytes + CATALOG_HEADER_SIZE_AT);
	count = load_le64(bytes + CATALOG_ITEM_COUNT_AT);
	item_size = load_le64(bytes + CATALOG_ITEM_SIZE_AT);
	if (header_size < CATALOG_HEADER_SIZE || header_size > size || count == 0 ||
	    item_size < CATALOG_ITEM_SIZE ||
	    __builtin_mul_overflow(count, item_size, &items_size) ||
	    items_size > size - header_size)
		return -EBADMSG;
	*catalog = (struct catalog){
		.items = bytes + header_size,
		.item_count = count,
		.item_size_bytes = item_size,
		.texts = bytes + header_size + items_size,
		.texts_size_bytes = size - header_size - items_size,
	};
	catalog_set_languages(catalog, locale);
	return 0;
}

/* The item at INDEX. */
static const uint8_t *catalog_item(const struct catalog *c, uint64_t index)
{
	return c->items + index * c->item_size_bytes;
}

/* The item for an ID in one language; NULL. */
static const uint8_t *catalog_search(const struct catalog *c, const struct id128 *id,
				     const uint8_t language[CATALOG_LANGUAGE_SIZE])
{
	uint64_t low = 0, high = c->item_count;

	while (low < high) {
		uint64_t middle = low + (high - low) / 2;
		const uint8_t *item = catalog_item(c, middle);
		int order = memcmp(id->bytes, item, sizeof(id->bytes));

		if (order == 0)
			order = strncmp((const char *)language,
					(const char *)item + CATALOG_ITEM_LANGUAGE_AT,
					CATALOG_LANGUAGE_SIZE);
		if (order == 0)
			return item;
		if (order < 0)
			high = middle;
		else
			low = middle + 1;
	}
	return NULL;
}

/* Looks up the text for an ID, language by language. */
bool catalog_find(const struct catalog *catalog, const struct id128 *id,
		  struct catalog_text *ret_text)
{
	static const uint8_t original[CATALOG_LANGUAGE_SIZE];
	const uint8_t *item = NULL;
	uint64_t offset;

	for (unsigned i = 0; i < 2 && !item; i++)
		if (catalog->languages[i][0])
			item = catalog_search(catalog, id, catalog->languages[i]);
	if (!item)
		item = catalog_search(catalog, id, original);
	if (!item)
		return false;
	offset = load_le64(item + CATALOG_ITEM_TEXT_AT);
	if (offset >= catalog->texts_size_bytes)
		return false;
	ret_text->bytes = catalog->texts + offset;
	ret_text->size = strnlen((const char *)ret_text->bytes, catalog->texts_size_bytes - offset);
	return true;
}

/* The ID of an item. */
struct id128 catalog_id(const struct catalog *catalog, uint64_t index)
{
	struct id128 id;

	memcpy(id.bytes, catalog_item(catalog, index), sizeof(id.bytes));
	return id;
}

/* Finds a header line of a text. */
bool catalog_header(const struct catalog_text *text, const char *name,
		    struct catalog_text *ret_value)
{
	const uint8_t *at = text->bytes, *end = text->bytes + text->size;
	size_t name_size = strlen(name);

	while (at < end) {
		const uint8_t *line_end = memchr(at, '\n', (size_t)(end - at));
		const uint8_t *stop = line_end ? line_end : end;

		if ((size_t)(stop - at) >= name_size && memcmp(at, name, name_size) == 0) {
			at += name_size;
			/* The blanks that are skipped may be line feeds, as for the reference: a
			 * name without a value takes the line that follows. */
			while (at < end &&
			       (*at == ' ' || *at == '\t' || *at == '\n' || *at == '\r'))
				at++;
			ret_value->bytes = at;
			while (at < end && *at != '\n' && *at != '\r')
				at++;
			ret_value->size = (size_t)(at - ret_value->bytes);
			return true;
		}
		if (!line_end || line_end == at)
			return false;
		at = line_end + 1;
	}
	return false;
}

/* The value of a hex digit; 16 if it is none. */
static unsigned catalog_digit(uint8_t c)
{
	if (c >= '0' && c <= '9')
		return c - '0';
	if ((c | 0x20) >= 'a' && (c | 0x20) <= 'f')
		return (c | 0x20) - 'a' + 10;
	return 16;
}

/* Parses an ID with or without dashes. */
bool catalog_parse_id(const uint8_t *text, size_t size, struct id128 *ret_id)
{
	struct id128 id;
	size_t at = 0;

	if (size != 32 && size != 36)
		return false;
	for (unsigned i = 0; i < 16; i++) {
		unsigned high, low;

		if (size == 36 && (i == 4 || i == 6 || i == 8 || i == 10) && text[at++] != '-')
			return false;
		high = catalog_digit(text[at++]);
		low = catalog_digit(text[at++]);
		if (high > 15 || low > 15)
			return false;
		id.bytes[i] = (uint8_t)(high << 4 | low);
	}
	*ret_id = id;
	return true;
}
