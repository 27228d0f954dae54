/* SPDX-License-Identifier: MIT */
/* export: header values, then fields as text or in binary. */
#include <criterion/criterion.h>
#include <criterion/new/assert.h>

#include "tests/support/print.h"

PRINT_SUITE(export, OUTPUT_EXPORT);

#define HEAD                                                                                       \
	"__CURSOR=" PRINT_CURSOR "\n"                                                              \
	"__REALTIME_TIMESTAMP=1714557601250000\n"                                                  \
	"__MONOTONIC_TIMESTAMP=12500001\n"                                                         \
	"__SEQNUM=42\n"                                                                            \
	"__SEQNUM_ID=" PRINT_SEQNUM_ID "\n"                                                        \
	"_BOOT_ID=" PRINT_BOOT_ID "\n"

/* Expects what is printed to be HEAD and a literal that may hold NULs. */
#define EXPECT_ENTRY(literal)                                                                    \
	do {                                                                                       \
		struct cr_mem printed = { print_entry(&p), p.buffer.size };                        \
		struct cr_mem expected = { HEAD literal, sizeof(HEAD literal) - 1 };               \
                                                                                                   \
		cr_expect(eq(mem, printed, expected));                                             \
	} while (0)

Test(export, entry_ends_with_an_empty_line)
{
	EXPECT_ENTRY("\n");
}

Test(export, printable_fields_are_text_in_their_order)
{
	print_field(&p, "B=2");
	print_field(&p, "A=\xc3\xa9 = x");
	print_field(&p, "B=");
	EXPECT_ENTRY("B=2\nA=\xc3\xa9 = x\nB=\n\n");
}

Test(export, stored_boot_id_is_left_out)
{
	print_field(&p, "_BOOT_ID=stored");
	print_field(&p, "_BOOT_IDS=other");
	EXPECT_ENTRY("_BOOT_IDS=other\n\n");
}

Test(export, a_lead_is_what_its_fields_are_printed_as)
{
	static const char *const texts[] = { "B=2", "_BOOT_ID=stored", "A=\xc3\xa9 = x", "C=\t" };
	uint8_t lead[64];
	size_t size = 0, added;

	for (unsigned i = 0; i < 4; i++) {
		struct output_field field = { (const uint8_t *)texts[i], strlen(texts[i]), 0, 0 };

		field.name_size = (uint32_t)strcspn(texts[i], "=");
		field.traits = output_traits(&field);
		print_field(&p, texts[i]);
		cr_assert(output_export_line(&field, lead + size, sizeof(lead) - size, &added));
		size += added;
		if (i != 1)
			cr_expect(not(output_export_line(&field, lead, field.size, &added)),
				  "no room");
	}
	print_field(&p, "D=last");
	EXPECT_ENTRY("B=2\nA=\xc3\xa9 = x\nC=\t\nD=last\n\n");
	for (uint32_t fields = 0; fields <= 4; fields++) {
		static const uint32_t sizes[] = { 0, 4, 4, 13, 17 };

		p.entry.lead = (struct output_lead){ lead, sizes[fields], fields };
		EXPECT_ENTRY("B=2\nA=\xc3\xa9 = x\nC=\t\nD=last\n\n");
	}
}

Test(export, what_is_binary_or_has_no_name_is_in_no_lead)
{
	static const char *const texts[] = { "A=b\nc", "a=b", "A", "A=\xff" };
	uint8_t lead[64];
	size_t size;

	for (unsigned i = 0; i < 4; i++) {
		struct output_field field = { (const uint8_t *)texts[i], strlen(texts[i]), 0, 0 };

		field.name_size = (uint32_t)strcspn(texts[i], "=");
		field.traits = output_traits(&field);
		cr_expect(not(output_export_line(&field, lead, sizeof(lead), &size)), "%u", i);
	}
}

Test(export, tab_stays_text)
{
	print_field(&p, "A=b\tc");
	EXPECT_ENTRY("A=b\tc\n\n");
}

Test(export, line_feed_makes_a_field_binary)
{
	print_field(&p, "A=b\nc");
	EXPECT_ENTRY("A\n\x03\0\0\0\0\0\0\0b\nc\n\n");
}

Test(export, unprintable_byte_makes_a_field_binary)
{
	print_bytes(&p, PRINT_LITERAL("A=\0"));
	print_field(&p, "B=\r");
	print_field(&p, "C=\x7f");
	print_field(&p, "D=\xc2\x80");
	print_field(&p, "E=\xff");
	print_field(&p, "F=\xef\xbf\xbe");
	EXPECT_ENTRY("A\n\x01\0\0\0\0\0\0\0\0\n"
		       "B\n\x01\0\0\0\0\0\0\0\r\n"
		       "C\n\x01\0\0\0\0\0\0\0\x7f\n"
		       "D\n\x02\0\0\0\0\0\0\0\xc2\x80\n"
		       "E\n\x01\0\0\0\0\0\0\0\xff\n"
		       "F\n\x03\0\0\0\0\0\0\0\xef\xbf\xbe\n\n");
}

Test(export, size_of_a_binary_value_takes_eight_bytes)
{
	const uint8_t size[8] = { 0x70, 0x11, 0x01 };

	print_run(&p, "A", '\n', 70000);
	print_entry(&p);
	cr_assert(eq(sz, p.buffer.size, strlen(HEAD) + 2 + 8 + 70000 + 2));
	cr_expect(eq(int, memcmp(p.buffer.bytes + strlen(HEAD) + 2, size, 8), 0));
}

Test(export, value_of_any_size_is_text_or_binary_as_a_whole)
{
	char field[100] = "A=";

	for (size_t size = 1; size < 90; size++) {
		memset(field + 2, 'x', size);
		field[2 + size] = '\0';
		field[1 + size] = '\n';
		print_clear(&p);
		print_field(&p, field);
		print_entry(&p);
		cr_assert(eq(sz, p.buffer.size, strlen(HEAD) + 2 + 8 + size + 2));
		field[1 + size] = 'x';
		print_clear(&p);
		print_field(&p, field);
		print_entry(&p);
		cr_assert(eq(sz, p.buffer.size, strlen(HEAD) + 2 + size + 2));
	}
}

Test(export, all_changes_nothing)
{
	p.options.flags = OUTPUT_ALL;
	print_field(&p, "A=\x01");
	EXPECT_ENTRY("A\n\x01\0\0\0\0\0\0\0\x01\n\n");
}

Test(export, source_time_is_a_field_like_any_other)
{
	print_field(&p, "_SOURCE_REALTIME_TIMESTAMP=5");
	EXPECT_ENTRY("_SOURCE_REALTIME_TIMESTAMP=5\n\n");
}

Test(export, only_listed_fields_follow_the_header_values)
{
	static const char *const list[] = { "B", NULL };

	p.options.fields = list;
	print_field(&p, "A=1");
	print_field(&p, "B=2");
	EXPECT_ENTRY("B=2\n\n");
}

Test(export, invalid_name_ends_the_fields_but_not_the_entry)
{
	print_field(&p, "A=1");
	print_field(&p, "lower=2");
	print_field(&p, "B=3");
	EXPECT_ENTRY("A=1\n\n");
}

Test(export, field_without_value_ends_the_fields)
{
	print_field(&p, "NOVALUE");
	print_field(&p, "B=3");
	EXPECT_ENTRY("\n");
}

Test(export, stored_field_may_be_called_like_a_header_value)
{
	print_field(&p, "__CURSOR=stored");
	EXPECT_ENTRY("__CURSOR=stored\n\n");
}
