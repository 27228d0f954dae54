/* SPDX-License-Identifier: MIT */
/* Output buffers: appended bytes stay, numbers are written as journalctl writes them. */
#include <criterion/criterion.h>
#include <criterion/new/assert.h>
#include <criterion/parameterized.h>

#include "formats/output/put.h"
#include "tests/support/print.h"

static struct output_buffer buffer;

/* What the buffer holds, as a string; the buffer is empty afterwards. */
static char *buffer_text(void)
{
	static char text[256];

	cr_assert(lt(sz, buffer.size, sizeof(text)));
	memcpy(text, buffer.bytes, buffer.size);
	text[buffer.size] = '\0';
	buffer.size = 0;
	return text;
}

/* Frees what a test has appended. */
static void buffer_fini(void)
{
	output_buffer_done(&buffer);
}

Test(output_buffer, appended_bytes_survive_growth, .fini = buffer_fini)
{
	for (unsigned i = 0; i < 100000; i++)
		output_byte(&buffer, (uint8_t)(i * 7));
	cr_assert(eq(sz, buffer.size, 100000));
	for (unsigned i = 0; i < 100000; i++)
		cr_assert(eq(u8, buffer.bytes[i], (uint8_t)(i * 7)));
}

Test(output_buffer, growth_beyond_all_memory_is_refused, .fini = buffer_fini)
{
	output_text(&buffer, "kept");
	cr_expect(not(output_reserve(&buffer, SIZE_MAX)));
	cr_expect(buffer.failed);
	cr_expect(eq(str, buffer_text(), (char *)"kept"));
}

Test(output_buffer, ended_buffer_can_be_used_again, .fini = buffer_fini)
{
	output_text(&buffer, "first");
	output_buffer_done(&buffer);
	output_text(&buffer, "second");
	cr_expect(eq(str, buffer_text(), (char *)"second"));
}

Test(output_buffer, fill_repeats_a_byte, .fini = buffer_fini)
{
	output_fill(&buffer, 'x', 5);
	output_fill(&buffer, 'y', 0);
	cr_expect(eq(str, buffer_text(), (char *)"xxxxx"));
}

struct number_case {
	uint64_t value;
	char text[24];
};

ParameterizedTestParameters(output_buffer, decimal_has_no_leading_zeros)
{
	static struct number_case cases[] = {
		{ 0, "0" },
		{ 9, "9" },
		{ 10, "10" },
		{ 99, "99" },
		{ 100, "100" },
		{ 101, "101" },
		{ 1714557601250000, "1714557601250000" },
		{ UINT64_MAX, "18446744073709551615" },
	};

	return cr_make_param_array(struct number_case, cases, sizeof(cases) / sizeof(*cases));
}

ParameterizedTest(struct number_case *c, output_buffer, decimal_has_no_leading_zeros,
		  .fini = buffer_fini)
{
	output_decimal(&buffer, c->value);
	cr_expect(eq(str, buffer_text(), c->text));
}

ParameterizedTestParameters(output_buffer, hex_is_lower_case_without_leading_zeros)
{
	static struct number_case cases[] = {
		{ 0, "0" },
		{ 1, "1" },
		{ 0xf, "f" },
		{ 0x10, "10" },
		{ 0xbebc21, "bebc21" },
		{ 0x617618cc4fad0, "617618cc4fad0" },
		{ 0x9041b23248242178, "9041b23248242178" },
		{ UINT64_MAX, "ffffffffffffffff" },
	};

	return cr_make_param_array(struct number_case, cases, sizeof(cases) / sizeof(*cases));
}

ParameterizedTest(struct number_case *c, output_buffer, hex_is_lower_case_without_leading_zeros)
{
	uint8_t text[PUT_HEX_SIZE_MAX + VEC16_SLACK];

	*put_hex(text, c->value) = '\0';
	cr_expect(eq(str, (char *)text, c->text));
}

ParameterizedTestParameters(output_buffer, size_is_in_the_largest_unit_with_one_digit_cut_off)
{
	static struct number_case cases[] = {
		{ 0, "0B" },
		{ 1023, "1023B" },
		{ 1024, "1K" },
		{ 1126, "1K" },
		{ 1127, "1.1K" },
		{ 1536, "1.5K" },
		{ 3071, "2.9K" },
		{ 8388608, "8M" },
		{ 1048575, "1023.9K" },
		{ UINT64_C(1) << 30, "1G" },
		{ UINT64_C(3) << 39, "1.5T" },
		{ UINT64_C(1) << 50, "1P" },
		{ UINT64_MAX, "15.9E" },
	};

	return cr_make_param_array(struct number_case, cases, sizeof(cases) / sizeof(*cases));
}

ParameterizedTest(struct number_case *c, output_buffer,
		  size_is_in_the_largest_unit_with_one_digit_cut_off, .fini = buffer_fini)
{
	output_size(&buffer, c->value);
	cr_expect(eq(str, buffer_text(), c->text));
}

Test(output_buffer, size_digit_counts_whole_units_of_the_next_smaller_kind, .fini = buffer_fini)
{
	/* 1126.5K: a tenth of 1024K is 102.4K, and half a K does not count. */
	output_size(&buffer, 1153536);
	output_byte(&buffer, ' ');
	output_size(&buffer, 1127 * 1024);
	cr_expect(eq(str, buffer_text(), (char *)"1M 1.1M"));
}

Test(output_buffer, boot_line_names_the_boot, .fini = buffer_fini)
{
	struct id128 id;

	memset(id.bytes, 0xa5, sizeof(id.bytes));
	output_boot_line(&(struct output_options){ 0 }, &buffer, &id);
	cr_expect(eq(str, buffer_text(),
		     (char *)"-- Boot a5a5a5a5a5a5a5a5a5a5a5a5a5a5a5a5 --\n"));
}

Test(output_buffer, cursor_has_all_six_parts, .fini = buffer_fini)
{
	struct print p;

	print_init(&p, OUTPUT_SHORT);
	output_cursor(&buffer, &p.entry);
	cr_expect(eq(str, buffer_text(), (char *)PRINT_CURSOR));
	print_done(&p);
}
