/* SPDX-License-Identifier: MIT */
/* cat: the message, raw. */
#include <criterion/criterion.h>
#include <criterion/new/assert.h>

#include "tests/support/print.h"

PRINT_SUITE(cat, OUTPUT_CAT);

Test(cat, first_message_is_printed)
{
	print_field(&p, "A=1");
	print_field(&p, "MESSAGE=one");
	print_field(&p, "MESSAGE=two");
	EXPECT_PRINTED("one\n");
}

Test(cat, entry_without_message_prints_nothing)
{
	print_field(&p, "MESSAGE_ID=1");
	print_field(&p, "MESSAGE");
	EXPECT_PRINTED("");
}

Test(cat, message_is_printed_raw)
{
	struct cr_mem printed, expected = { "\0\x1b[1m\t\r\n\xff\n", 10 };

	p.options.flags = OUTPUT_TRUNCATE_NEWLINE;
	print_bytes(&p, PRINT_LITERAL("MESSAGE=\0\x1b[1m\t\r\n\xff"));
	printed.data = print_entry(&p);
	printed.size = p.buffer.size;
	cr_expect(eq(mem, printed, expected));
}

Test(cat, a_message_that_was_found_is_printed_as_its_entry_is)
{
	static char text[300] = "MESSAGE=";

	for (size_t size = 8; size < sizeof(text); size++) {
		struct output_field field = { (const uint8_t *)text, size, 7, 0 };
		struct output_buffer buffer = { 0 };
		struct cr_mem printed, expected;

		print_bytes(&p, text, size);
		expected.data = print_entry(&p);
		expected.size = p.buffer.size;
		cr_assert(eq(int, output_message(&field, &buffer), 0));
		printed.data = buffer.bytes;
		printed.size = buffer.size;
		cr_expect(eq(mem, printed, expected), "%zu", size);
		output_buffer_done(&buffer);
		print_clear(&p);
		text[size] = (char)('a' + size % 26);
	}
}

Test(cat, a_message_beyond_the_limit_leaves_the_buffer_as_it_was)
{
	static char text[9000] = "MESSAGE=";
	const struct output_field field = { (const uint8_t *)text, sizeof(text), 7, 0 };
	struct output_buffer buffer = { .limit = 5000 };

	cr_expect(eq(int, output_message(&field, &buffer), -ENOMEM));
	cr_expect(eq(u64, buffer.size, 0));
	cr_expect(not(buffer.failed));
	output_buffer_done(&buffer);
}

Test(cat, empty_message_is_an_empty_line)
{
	print_field(&p, "MESSAGE=");
	EXPECT_PRINTED("\n");
}

Test(cat, listed_fields_come_in_the_order_of_the_list)
{
	static const char *const list[] = { "B", "NONE", "A", "_BOOT_ID", NULL };

	p.options.fields = list;
	print_field(&p, "A=1");
	print_field(&p, "MESSAGE=x");
	print_field(&p, "B=2");
	print_field(&p, "B=3");
	print_field(&p, "_BOOT_ID=4");
	EXPECT_PRINTED("2\n1\n4\n");
}

Test(cat, field_listed_twice_is_printed_once)
{
	static const char *const list[] = { "A", "B", "A", NULL };

	p.options.fields = list;
	print_field(&p, "A=1");
	EXPECT_PRINTED("1\n");
}

Test(cat, empty_list_is_no_list)
{
	static const char *const list[] = { NULL };

	p.options.fields = list;
	print_field(&p, "MESSAGE=x");
	EXPECT_PRINTED("x\n");
}
