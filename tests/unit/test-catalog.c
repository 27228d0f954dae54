/* SPDX-License-Identifier: MIT */
/* The compiled message catalog: which text is found, and that no bytes do harm. */
#include <criterion/criterion.h>
#include <criterion/new/assert.h>
#include <criterion/parameterized.h>

#include <stdlib.h>

#include "formats/catalog/catalog.h"

/* The ID whose bytes are all BYTE. */
static struct id128 catalog_test_id(uint8_t byte)
{
	struct id128 id;

	memset(id.bytes, byte, sizeof(id.bytes));
	return id;
}

struct item {
	uint8_t id;
	char language[CATALOG_LANGUAGE_SIZE + 1]; /* 32 characters have no NUL in the database */
	char text[120];
};

/* In the order of the database. */
static const struct item items[] = {
	{ 0x11, "", "Subject: one\nDefined-By: test\n\nText.\n" },
	{ 0x11, "de", "Subject: eins\n" },
	{ 0x11, "de_AT", "Subject: ans\n" },
	{ 0x22, "", "Subject: two\n" },
	{ 0x22, "a2345678901234567890123456789012", "Subject: long\n" },
	{ 0x33, "fr", "Subject: trois\n" },
};

#define ITEM_COUNT (sizeof(items) / sizeof(*items))
#define ITEM_SIZE 56u
#define HEADER_SIZE 40u

/* A database, and where its bytes end. */
struct database {
	uint8_t *bytes;
	size_t size;
};

/* Stores a number of SIZE bytes. */
static void catalog_store(uint8_t *at, uint64_t value, unsigned size)
{
	value = htole64(value);
	memcpy(at, &value, size);
}

/* Makes a database whose header and items have some bytes more than they need. */
static struct database catalog_make(size_t header_more, size_t item_more)
{
	size_t header_size = HEADER_SIZE + header_more, item_size = ITEM_SIZE + item_more;
	struct database d = { .size = header_size + ITEM_COUNT * item_size };
	size_t text_at = 0;

	for (size_t i = 0; i < ITEM_COUNT; i++)
		d.size += strlen(items[i].text) + 1;
	d.bytes = calloc(1, d.size);
	if (!d.bytes)
		abort();
	memcpy(d.bytes, "RHHHKSLP", 8);
	catalog_store(d.bytes + 16, header_size, 8);
	catalog_store(d.bytes + 24, ITEM_COUNT, 8);
	catalog_store(d.bytes + 32, item_size, 8);
	for (size_t i = 0; i < ITEM_COUNT; i++) {
		uint8_t *item = d.bytes + header_size + i * item_size;

		memset(item, items[i].id, 16);
		memcpy(item + 16, items[i].language, CATALOG_LANGUAGE_SIZE);
		catalog_store(item + 48, text_at, 8);
		strcpy((char *)d.bytes + header_size + ITEM_COUNT * item_size + text_at,
		       items[i].text);
		text_at += strlen(items[i].text) + 1;
	}
	return d;
}

/* The subject of what is found for an ID; "none". Until the next call. */
static const char *catalog_subject(const struct database *d, const char *locale, uint8_t id_byte)
{
	static char subject[64];
	struct id128 id = catalog_test_id(id_byte);
	struct catalog_text text, value;
	struct catalog c;

	cr_assert(eq(int, catalog_init(&c, d->bytes, d->size, locale), 0));
	if (!catalog_find(&c, &id, &text))
		return "none";
	cr_assert(catalog_header(&text, "Subject:", &value));
	cr_assert(lt(sz, value.size, sizeof(subject)));
	memcpy(subject, value.bytes, value.size);
	subject[value.size] = '\0';
	return subject;
}

struct find_case {
	char locale[64];
	uint8_t id;
	char subject[16];
};

ParameterizedTestParameters(catalog, text_is_in_the_language_of_the_locale_or_the_original)
{
	static struct find_case cases[] = {
		{ "C", 0x11, "one" },
		{ "POSIX", 0x11, "one" },
		{ "C.UTF-8", 0x11, "one" },
		{ "", 0x11, "one" },
		{ "de", 0x11, "eins" },
		{ "de_DE", 0x11, "eins" },
		{ "de_DE.UTF-8", 0x11, "eins" },
		{ "de_AT.UTF-8", 0x11, "ans" },
		{ "de_AT@euro", 0x11, "ans" },
		{ "de@euro_x", 0x11, "eins" },
		{ "d", 0x11, "one" },
		{ "dea", 0x11, "one" },
		{ "fr_FR", 0x11, "one" },
		{ "fr_FR", 0x33, "trois" },
		{ "de_DE", 0x33, "none" },
		{ "de_DE", 0x22, "two" },
		{ "C", 0x44, "none" },
		{ "C", 0x00, "none" },
		/* No item is found by a language of 32 characters: the reader's has 31 at most. */
		{ "a2345678901234567890123456789012", 0x22, "two" },
		{ "a234567890123456789012345678901", 0x22, "two" },
	};

	return cr_make_param_array(struct find_case, cases, sizeof(cases) / sizeof(*cases));
}

ParameterizedTest(struct find_case *c, catalog,
		  text_is_in_the_language_of_the_locale_or_the_original)
{
	for (size_t more = 0; more <= 8; more += 8) {
		struct database d = catalog_make(more, more);

		cr_expect(eq(str, (char *)catalog_subject(&d, c->locale, c->id), c->subject));
		free(d.bytes);
	}
}

Test(catalog, items_are_listed_as_they_lie)
{
	struct database d = catalog_make(0, 0);
	struct catalog c;

	cr_assert(eq(int, catalog_init(&c, d.bytes, d.size, NULL), 0));
	cr_assert(eq(u64, c.item_count, ITEM_COUNT));
	for (size_t i = 0; i < ITEM_COUNT; i++) {
		struct id128 id = catalog_id(&c, i), expected = catalog_test_id(items[i].id);

		cr_expect(id128_equal(&id, &expected));
	}
	free(d.bytes);
}

struct header_case {
	char text[80];
	char value[40]; /* of Subject; "-": none */
};

ParameterizedTestParameters(catalog, header_is_looked_for_up_to_the_empty_line)
{
	static struct header_case cases[] = {
		{ "Subject: one\n", "one" },
		{ "Subject: one", "one" },
		{ "Subject:\t  one two  \r\n", "one two  " },
		{ "Subject:one\rtwo", "one" },
		{ "Defined-By: x\nSubject: two\nSubject: three\n", "two" },
		{ "Subject:\nDefined-By: x\n", "Defined-By: x" },
		{ "Subject:", "" },
		{ "Subject", "-" },
		{ "subject: x\n", "-" },
		{ " Subject: x\n", "-" },
		{ "A: b\n\nSubject: x\n", "-" },
		{ "\nSubject: x\n", "-" },
		{ "", "-" },
	};

	return cr_make_param_array(struct header_case, cases, sizeof(cases) / sizeof(*cases));
}

ParameterizedTest(struct header_case *c, catalog, header_is_looked_for_up_to_the_empty_line)
{
	size_t size = strlen(c->text);
	uint8_t *bytes = malloc(size ? size : 1); /* no NUL at its end */
	struct catalog_text text = { bytes, size }, value;
	char found[80] = "-";

	if (!bytes)
		abort();
	memcpy(bytes, c->text, size);
	if (catalog_header(&text, "Subject:", &value)) {
		memcpy(found, value.bytes, value.size);
		found[value.size] = '\0';
	}
	cr_expect(eq(str, found, c->value));
	free(bytes);
}

struct damage_case {
	size_t at;
	uint64_t value;
};

ParameterizedTestParameters(catalog, header_that_does_not_fit_is_refused)
{
	static struct damage_case cases[] = {
		{ 0, 0 },                    /* signature */
		{ 8, UINT64_C(1) << 32 },    /* incompatible flags */
		{ 16, 39 },                  /* size of the header */
		{ 16, UINT64_MAX },
		{ 16, 100000 },
		{ 24, 0 },                   /* number of items */
		{ 24, 100000 },
		{ 24, UINT64_MAX / 56 + 2 }, /* times 56: 56 */
		{ 32, 55 },                  /* size of an item */
		{ 32, UINT64_MAX },
		{ 32, 100000 },
	};

	return cr_make_param_array(struct damage_case, cases, sizeof(cases) / sizeof(*cases));
}

ParameterizedTest(struct damage_case *c, catalog, header_that_does_not_fit_is_refused)
{
	struct database d = catalog_make(0, 0);
	struct catalog catalog;

	catalog_store(d.bytes + c->at, c->value, 8);
	cr_expect(eq(int, catalog_init(&catalog, d.bytes, d.size, NULL), -EBADMSG));
	free(d.bytes);
}

Test(catalog, every_cut_is_refused_or_harmless)
{
	struct database d = catalog_make(0, 0);

	for (size_t size = 0; size < d.size; size++) {
		struct database cut = { malloc(size ? size : 1), size };
		struct id128 id = catalog_test_id(0x11);
		struct catalog_text text;
		struct catalog c;
		int r;

		if (!cut.bytes)
			abort();
		memcpy(cut.bytes, d.bytes, size);
		r = catalog_init(&c, cut.bytes, size, "de_DE");
		if (size < HEADER_SIZE + ITEM_COUNT * ITEM_SIZE)
			cr_expect(eq(int, r, -EBADMSG));
		else
			cr_expect(eq(int, r, 0));
		if (r == 0 && catalog_find(&c, &id, &text))
			cr_expect(le(ptr, (void *)(text.bytes + text.size),
				     (void *)(cut.bytes + size)));
		free(cut.bytes);
	}
	free(d.bytes);
}

Test(catalog, text_beyond_the_end_is_no_text)
{
	struct database d = catalog_make(0, 0);
	struct id128 id = catalog_test_id(0x22);
	struct catalog_text text;
	struct catalog c;

	catalog_store(d.bytes + HEADER_SIZE + 3 * ITEM_SIZE + 48, UINT64_MAX - 4, 8);
	cr_assert(eq(int, catalog_init(&c, d.bytes, d.size, NULL), 0));
	cr_expect(not(catalog_find(&c, &id, &text)));
	free(d.bytes);
}

struct id_case {
	char text[48];
	bool taken;
};

ParameterizedTestParameters(catalog, id_has_32_digits_and_dashes_in_their_places_or_none)
{
	static struct id_case cases[] = {
		{ "00112233445566778899aabbccddeeff", true },
		{ "00112233445566778899AABBCCDDEEFF", true },
		{ "00112233-4455-6677-8899-aabbccddeeff", true },
		{ "00112233-44556677-8899-aabb-ccddeeff", false },
		{ "0011223-34455-6677-8899-aabbccddeeff", false },
		{ "00112233-4455-6677-8899aabbccddeeff", false },
		{ "00112233445566778899aabbccddeef", false },
		{ "00112233445566778899aabbccddeeff0", false },
		{ "00112233445566778899aabbccddeefg", false },
		{ " 0112233445566778899aabbccddeeff", false },
		{ "----------------00112233445566778899", false },
		{ "", false },
	};

	return cr_make_param_array(struct id_case, cases, sizeof(cases) / sizeof(*cases));
}

ParameterizedTest(struct id_case *c, catalog, id_has_32_digits_and_dashes_in_their_places_or_none)
{
	static const uint8_t expected[16] = { 0x00, 0x11, 0x22, 0x33, 0x44, 0x55, 0x66, 0x77,
					      0x88, 0x99, 0xaa, 0xbb, 0xcc, 0xdd, 0xee, 0xff };
	struct id128 id;

	cr_expect(eq(int, catalog_parse_id((const uint8_t *)c->text, strlen(c->text), &id),
		     c->taken));
	if (c->taken)
		cr_expect(eq(int, memcmp(id.bytes, expected, sizeof(expected)), 0));
}
