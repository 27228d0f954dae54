/* SPDX-License-Identifier: MIT */
/*
 * File headers. The input is what a file begins with, behind eight bytes that say how long the file
 * pretends to be. A header that is accepted keeps the promises that the rest of the code builds on.
 */
#include "tests/fuzz/fuzz.h"

/* What holds for every header that was accepted. */
static void check_accepted(const struct journal *j, uint64_t file_size)
{
	const struct journal_header *h = &j->header;

	FUZZ_CHECK(h->header_size >= HEADER_SIZE_MIN);
	FUZZ_CHECK(h->header_size + h->arena_size >= h->header_size);
	FUZZ_CHECK(h->state <= JOURNAL_STATE_ARCHIVED);
	FUZZ_CHECK((h->incompatible_flags & ~JOURNAL_INCOMPATIBLE_KNOWN) == 0);
	FUZZ_CHECK(j->truncated == (h->header_size + h->arena_size > file_size));
	FUZZ_CHECK(h->n_entries <= h->n_objects);
	FUZZ_CHECK(h->entry_array_offset % 8 == 0);
	FUZZ_CHECK(h->entry_array_offset == 0 || h->entry_array_offset >= h->header_size);
	FUZZ_CHECK(journal_end(j, file_size) <= file_size);
	FUZZ_CHECK(h->data_hash_table_offset == 0 ||
		   h->data_hash_table_size <= file_size - h->data_hash_table_offset + 16);
	FUZZ_CHECK(h->field_hash_table_offset == 0 ||
		   h->field_hash_table_size <= file_size - h->field_hash_table_offset + 16);
	FUZZ_CHECK(j->item_size == (j->compact ? 4 : 8));
	FUZZ_CHECK(j->entry_item_size == (j->compact ? 4 : 16));
	FUZZ_CHECK(j->data_payload == (j->compact ? 72 : 64));
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size)
{
	char text[HEADER_DETAIL_SIZE];
	struct journal j;
	uint64_t file_size;
	uint8_t *head;
	int r;

	if (size < 8)
		return 0;
	file_size = load_le64(bytes);
	bytes += 8;
	size -= 8;
	if (size > HEADER_SIZE_MAX)
		size = HEADER_SIZE_MAX;
	if (file_size < size || size < HEADER_SIZE_MAX)
		file_size = size;
	head = malloc(size ? size : 1);
	if (!head)
		abort();
	memcpy(head, bytes, size);
	memset(text, 'x', sizeof(text));
	r = header_parse(head, size, file_size, &j, text);
	FUZZ_CHECK(memchr(text, 0, sizeof(text)));
	FUZZ_CHECK(r == 0 || r == -ENODATA || r == -EBADMSG || r == -EPROTONOSUPPORT);
	FUZZ_CHECK((r == 0) == (text[0] == 0));
	if (r == 0)
		check_accepted(&j, file_size);
	free(head);
	return 0;
}

void fuzz_mutate(uint8_t *bytes, size_t size, uint64_t seed)
{
	if (size > 8)
		fuzz_lie(bytes + 8, size - 8, seed);
}
