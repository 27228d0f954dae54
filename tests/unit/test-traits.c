/* SPDX-License-Identifier: MIT */
/* What is learnt about a field changes nothing of what is printed for it. */
#include <criterion/criterion.h>
#include <criterion/new/assert.h>
#include <criterion/parameterized.h>
#include <stdlib.h>

#include "formats/output/output.h"

TestSuite(traits, .timeout = 30);

/* Bytes 0 to SIZE - 1 of these make a value each. */
static const char *const texts[] = {
	("MESSAGE=plain text, long enough to be copied by several vectors at once, and by memcpy "
	 "where it is longer than a hundred and twenty-eight bytes altogether"),
	"_HOSTNAME=host\tname with a TAB",
	"SYSLOG_IDENTIFIER=a \"quote\" and a back\\slash",
	"_PID=1234",
	"_SYSTEMD_UNIT=two\nlines of text in a unit, which is odd",
	"_SOURCE_REALTIME_TIMESTAMP=1700000000123456",
	"_COMM=\xc3\xa4 \xe2\x82\xac and more \xf0\x9f\x98\x80 characters",
	"BROKEN=\xc3\x28 is no character, and \xff never is",
	"CONTROL=\x01\x02\x1b[31m",
	"lower=an invalid name",
	"0DIGIT=another",
	"=no name",
	"NO_EQUALS_SIGN",
	"A_NAME_THAT_IS_LONGER_THAN_SIXTEEN_BYTES=x",
	"_BOOT_ID=0123456789abcdef0123456789abcdef",
	"PRIORITY=6",
};

/* Prints one entry of FIELDS. */
static void print(const struct output_options *options, const struct output_field *fields,
		  size_t count, struct output_buffer *b)
{
	static const struct id128 id = { { 1, 2, 3 } };
	struct output_cache cache = { 0 };
	struct output_previous previous = { 0 };
	const struct output_entry entry = {
		.seqnum = 5, .realtime = UINT64_C(1700000000000000), .monotonic = 77,
		.boot_id = id, .seqnum_id = id, .fields = fields, .field_count = count,
	};

	cr_assert(eq(int, output_entry(options, &cache, &previous, &entry, b), 0));
	output_cache_done(&cache);
}

/* Prints each text, cut to each of its sizes, with a message, once with its traits and once
 * without, in one mode. */
static void compare(const struct output_options *options)
{
	static const char message[] = "MESSAGE=hello";
	uint8_t bytes[512];

	for (size_t i = 0; i < sizeof(texts) / sizeof(texts[0]); i++) {
		for (size_t size = strlen(texts[i]); size > 0; size--) {
			const char *equals = memchr(texts[i], '=', size);
			struct output_field fields[] = {
				{ bytes, size, equals ? (uint32_t)(equals - texts[i]) :
							(uint32_t)size, 0 },
				{ (const uint8_t *)message, sizeof(message) - 1, 7, 0 },
				{ bytes, size, 0, 0 },
			};
			struct output_buffer plain = { 0 }, known = { 0 };

			memset(bytes, 0, sizeof(bytes));
			memcpy(bytes, texts[i], size);
			fields[2].name_size = fields[0].name_size;
			print(options, fields, 3, &plain);
			fields[0].traits = output_traits(&fields[0]) | OUTPUT_TRAIT_SLACK;
			fields[1].traits = output_traits(&fields[1]);
			cr_assert(fields[0].traits & OUTPUT_TRAITS_KNOWN);
			print(options, fields, 3, &known);
			cr_assert(eq(sz, plain.size, known.size), "%.*s", (int)size, texts[i]);
			cr_assert(memcmp(plain.bytes, known.bytes, plain.size) == 0, "%.*s",
				  (int)size, texts[i]);
			output_buffer_done(&plain);
			output_buffer_done(&known);
		}
	}
}

ParameterizedTestParameters(traits, every_mode_prints_the_same)
{
	static int modes[OUTPUT_MODE_COUNT];

	for (int i = 0; i < OUTPUT_MODE_COUNT; i++)
		modes[i] = i;
	return cr_make_param_array(int, modes, OUTPUT_MODE_COUNT);
}

ParameterizedTest(int *mode, traits, every_mode_prints_the_same)
{
	static const char *const list[] = { "MESSAGE", "_PID", "PRIORITY", NULL };
	struct output_options options = { .mode = (enum output_mode)*mode, .flags = OUTPUT_UTC };

	compare(&options);
	options.flags |= OUTPUT_ALL;
	compare(&options);
	options.fields = list;
	compare(&options);
	options = (struct output_options){ .mode = (enum output_mode)*mode,
					   .colours = OUTPUT_COLOURS_256 };
	compare(&options);
}

Test(traits, only_a_single_printable_line_is_one)
{
	static const struct { const char *text; uint32_t traits; } cases[] = {
		{ "A=b", OUTPUT_TRAIT_NAMED | OUTPUT_TRAIT_LINE | OUTPUT_TRAIT_PLAIN },
		{ "A=", OUTPUT_TRAIT_NAMED | OUTPUT_TRAIT_LINE | OUTPUT_TRAIT_PLAIN },
		{ "A=b\tc", OUTPUT_TRAIT_NAMED | OUTPUT_TRAIT_LINE },
		{ "A=b\"c", OUTPUT_TRAIT_NAMED | OUTPUT_TRAIT_LINE },
		{ "A=b\\c", OUTPUT_TRAIT_NAMED | OUTPUT_TRAIT_LINE },
		{ "A=b\nc", OUTPUT_TRAIT_NAMED },
		{ "A=\x7f", OUTPUT_TRAIT_NAMED },
		{ "a=b", 0 },
		{ "AB", 0 },
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		const char *text = cases[i].text, *equals = strchr(text, '=');
		const struct output_field f = { (const uint8_t *)text, strlen(text),
						equals ? (uint32_t)(equals - text) : 2, 0 };

		cr_expect(eq(u32, output_traits(&f) & 0xff,
			     cases[i].traits | OUTPUT_TRAITS_KNOWN), "%s", text);
	}
}
