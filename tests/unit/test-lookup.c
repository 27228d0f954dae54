/* SPDX-License-Identifier: MIT */
/* Hash tables: what is there is found in every layout, and broken chains end where they break. */
#include <criterion/criterion.h>
#include <criterion/new/assert.h>
#include <criterion/parameterized.h>
#include <stdio.h>

#include "tests/support/layouts.h"
#include "tests/support/window-driver.h"

struct lookup_setup {
	struct fixture *fx;
	struct journal j;
	struct window_driver *d;
	struct payload_decoder *decoder;
};

static struct lookup_setup setup_new(struct fixture *fx, enum window_driver_mode mode)
{
	struct lookup_setup s = { .fx = fx };
	struct window w = fixture_window(fx);
	char text[HEADER_DETAIL_SIZE];

	cr_assert(eq(int, header_parse(w.base, HEADER_SIZE_MAX, w.size_bytes, &s.j, text), 0));
	s.d = window_driver_new(w.base, w.size_bytes, mode);
	cr_assert(eq(int, payload_decoder_new(1 << 20, &s.decoder), 0));
	return s;
}

static void setup_done(struct lookup_setup *s)
{
	payload_decoder_free(s->decoder);
	window_driver_free(s->d);
	fixture_free(s->fx);
}

/* Looks up a payload; what is found must be the object that the fixture wrote. */
static int find(struct lookup_setup *s, const void *data, size_t size)
{
	uint64_t hash = journal_hash(&s->j, data, size);
	struct data_object object;
	int r;

	WINDOW_DRIVE(s->d, r,
		     lookup_data(&s->j, &s->d->window, s->decoder, data, size, hash, &object));
	cr_assert(eq(u64, payload_decoder_position(s->decoder), 0));
	if (r == 1)
		cr_assert(eq(u64, object.offset, fixture_find_data(s->fx, data, size)));
	return r;
}

static int find_field(struct lookup_setup *s, const char *name)
{
	struct field_object object;
	uint64_t hash = journal_hash(&s->j, name, strlen(name));
	int r;

	WINDOW_DRIVE(s->d, r,
		     lookup_field(&s->j, &s->d->window, name, strlen(name), hash, &object));
	if (r == 1)
		cr_assert(eq(u64, object.offset, fixture_find_field(s->fx, name)));
	return r;
}

ParameterizedTestParameters(lookup, everything_is_found_in_every_layout)
{
	return cr_make_param_array(struct layout, layouts, LAYOUT_COUNT);
}

ParameterizedTest(struct layout *l, lookup, everything_is_found_in_every_layout)
{
	static char texts[STORY_FIELDS][STORY_TEXT_SIZE];
	struct fixture_field fields[STORY_FIELDS];

	if (!fixture_can_compress(l->compression))
		cr_skip_test("no support for this compression");
	for (unsigned mode = WINDOW_DRIVER_WHOLE; mode <= WINDOW_DRIVER_RUN; mode++) {
		struct lookup_setup s = setup_new(story_new(l), mode);

		for (unsigned i = 0; i < STORY_ENTRIES; i++) {
			story_fields(i, fields, texts);
			for (unsigned k = 0; k < STORY_FIELDS; k++)
				cr_assert(eq(int, find(&s, fields[k].data, fields[k].size), 1));
		}
		cr_expect(eq(int, find(&s, "MESSAGE=line 120 of a story", 27), 0));
		cr_expect(eq(int, find(&s, "PRIORITY=", 9), 0));
		cr_expect(eq(int, find_field(&s, "MESSAGE"), 1));
		cr_expect(eq(int, find_field(&s, "LONG"), 1));
		cr_expect(eq(int, find_field(&s, "_BOOT_ID"), 1));
		cr_expect(eq(int, find_field(&s, "LON"), 0));
		cr_expect(eq(int, find_field(&s, "ABSENT"), 0));
		setup_done(&s);
	}
}

/* A file whose objects are all in one bucket: V=0 to V=39. */
static struct fixture *one_bucket(void)
{
	struct fixture *fx = fixture_new(
		&(struct fixture_options){ .keyed = true, .data_buckets = 1, .field_buckets = 1 });
	char text[16];

	for (unsigned i = 0; i < 40; i++) {
		snprintf(text, sizeof(text), "V=%u", i);
		fixture_add(fx, NULL, text, NULL);
	}
	fixture_finish(fx);
	return fx;
}

static int find_number(struct lookup_setup *s, unsigned i)
{
	char text[16];

	return find(s, text, (size_t)snprintf(text, sizeof(text), "V=%u", i));
}

Test(lookup, object_that_cannot_be_read_ends_the_chain)
{
	struct fixture *fx = one_bucket();
	struct lookup_setup s;

	fixture_put8(fx, fixture_find_text(fx, "V=20"), OBJECT_FIELD);
	s = setup_new(fx, WINDOW_DRIVER_BLOCKS);
	for (unsigned i = 0; i < 40; i++)
		cr_expect(eq(int, find_number(&s, i), i < 20));
	setup_done(&s);
}

Test(lookup, chain_that_does_not_ascend_ends)
{
	struct fixture *fx = one_bucket();
	struct lookup_setup s;

	/* By 2.3 it is the object with the bad link that is broken, itself not found either. */
	fixture_put64(fx, fixture_find_text(fx, "V=30") + DATA_NEXT_HASH_OFFSET,
		      fixture_find_text(fx, "V=3"));
	s = setup_new(fx, WINDOW_DRIVER_WHOLE);
	cr_expect(eq(int, find_number(&s, 29), 1));
	cr_expect(eq(int, find_number(&s, 30), 0));
	cr_expect(eq(int, find_number(&s, 31), 0));
	setup_done(&s);
}

Test(lookup, chain_that_leaves_the_file_ends)
{
	struct fixture *fx = one_bucket();
	struct lookup_setup s;

	fixture_put64(fx, fixture_find_text(fx, "V=30") + DATA_NEXT_HASH_OFFSET, 1 << 30);
	s = setup_new(fx, WINDOW_DRIVER_BLOCKS);
	cr_expect(eq(int, find_number(&s, 30), 1));
	cr_expect(eq(int, find_number(&s, 31), 0));
	setup_done(&s);
}

Test(lookup, block_that_cannot_be_read_ends_the_chain)
{
	struct lookup_setup s = setup_new(one_bucket(), WINDOW_DRIVER_BLOCKS);
	uint64_t last = fixture_find_text(s.fx, "V=39");

	s.d->failing_block = last >> WINDOW_DRIVER_BLOCK_SHIFT;
	cr_assert(gt(u64, s.d->failing_block, 1));
	cr_expect(eq(int, find_number(&s, 0), 1));
	cr_expect(eq(int, find_number(&s, 39), 0));
	setup_done(&s);
}

Test(lookup, field_chain_ends_likewise)
{
	struct fixture *fx = fixture_new(&(struct fixture_options){ .field_buckets = 1 });
	struct lookup_setup s;

	fixture_add(fx, NULL, "A=1", "B=1", "C=1", NULL);
	fixture_finish(fx);
	fixture_put64(fx, fixture_find_field(fx, "B") + FIELD_HEAD_DATA_OFFSET, 1);
	s = setup_new(fx, WINDOW_DRIVER_BLOCKS);
	cr_expect(eq(int, find_field(&s, "A"), 1));
	cr_expect(eq(int, find_field(&s, "B"), 0));
	cr_expect(eq(int, find_field(&s, "C"), 0));
	setup_done(&s);
}

Test(lookup, table_that_is_absent_holds_nothing)
{
	struct lookup_setup s = setup_new(one_bucket(), WINDOW_DRIVER_WHOLE);

	s.j.header.data_hash_table_size = s.j.header.data_hash_table_offset = 0;
	s.j.header.field_hash_table_size = s.j.header.field_hash_table_offset = 0;
	cr_expect(eq(int, find_number(&s, 0), 0));
	cr_expect(eq(int, find_field(&s, "V"), 0));
	setup_done(&s);
}

Test(lookup, table_without_a_bucket_is_bad)
{
	struct lookup_setup s = setup_new(one_bucket(), WINDOW_DRIVER_WHOLE);

	s.j.header.data_hash_table_size = 15;
	s.j.header.field_hash_table_size = 1;
	cr_expect(eq(int, find_number(&s, 0), -EBADMSG));
	cr_expect(eq(int, find_field(&s, "V"), -EBADMSG));
	s.j.header.data_hash_table_size = 31; /* one bucket and some bytes */
	cr_expect(eq(int, find_number(&s, 0), 1));
	setup_done(&s);
}

Test(lookup, table_past_the_end_is_an_error)
{
	struct lookup_setup s = setup_new(one_bucket(), WINDOW_DRIVER_BLOCKS);

	s.j.header.data_hash_table_size = fixture_size(s.fx);
	cr_expect(eq(int, find_number(&s, 0), -EADDRNOTAVAIL));
	s.j.header.data_hash_table_size = UINT64_MAX - 15;
	cr_expect(eq(int, find_number(&s, 0), -EADDRNOTAVAIL));
	s.j.header.field_hash_table_offset = UINT64_MAX;
	cr_expect(eq(int, find_field(&s, "V"), -EADDRNOTAVAIL));
	setup_done(&s);
}

Test(lookup, payload_of_equal_hash_is_compared)
{
	struct fixture *fx = one_bucket();
	uint64_t hash = fixture_get64(fx, fixture_find_text(fx, "V=33") + DATA_HASH);
	struct lookup_setup s;

	fixture_put64(fx, fixture_find_text(fx, "V=3") + DATA_HASH, hash);
	fixture_put64(fx, fixture_find_text(fx, "V=31") + DATA_HASH, hash);
	s = setup_new(fx, WINDOW_DRIVER_BLOCKS);
	cr_expect(eq(int, find_number(&s, 33), 1));
	cr_expect(eq(int, find_number(&s, 31), 0));
	setup_done(&s);
}

Test(lookup, failure_to_decompress_is_an_error)
{
	static char text[2000];
	struct fixture *fx = fixture_new(&(struct fixture_options){ .compression = OBJECT_ZSTD });
	struct lookup_setup s;
	uint64_t offset;

	memset(text, 'x', sizeof(text) - 1);
	memcpy(text, "LONG=", 5);
	fixture_add(fx, NULL, text, NULL);
	fixture_finish(fx);
	offset = fixture_find_text(fx, text);
	cr_assert(eq(u8, fixture_get8(fx, offset + OBJECT_FLAGS), OBJECT_ZSTD));
	fixture_put8(fx, offset + DATA_PAYLOAD_REGULAR, 0);
	s = setup_new(fx, WINDOW_DRIVER_BLOCKS);
	cr_expect(eq(int, find(&s, text, sizeof(text) - 1), -EBADMSG));
	setup_done(&s);

	fx = fixture_new(&(struct fixture_options){ .compression = OBJECT_ZSTD });
	fixture_add(fx, NULL, text, NULL);
	fixture_finish(fx);
	fixture_put8(fx, offset + OBJECT_FLAGS, OBJECT_ZSTD | OBJECT_LZ4);
	s = setup_new(fx, WINDOW_DRIVER_WHOLE);
	cr_expect(eq(int, find(&s, text, sizeof(text) - 1), -EPROTONOSUPPORT));
	setup_done(&s);
}

Test(lookup, resumed_one_looks_at_no_object_twice)
{
	struct lookup_setup s = setup_new(one_bucket(), WINDOW_DRIVER_BLOCKS);
	uint64_t hash = journal_hash(&s.j, "V=39", 4), position = 0, before = 0;
	struct data_object object;
	int r;

	/* All blocks are taken away as soon as one is wanted, but that of the current object: it
	 * may lie in two. */
	for (;;) {
		s.d->window.want_count = 0;
		r = lookup_data_resume(&s.j, &s.d->window, s.decoder, "V=39", 4, hash, &position,
				       &object);
		if (r != -EAGAIN)
			break;
		cr_assert(ge(u64, position, before));
		before = position;
		window_driver_forget(s.d);
		if (position != 0)
			window_want(&s.d->window, position, 1);
		window_driver_feed(s.d);
	}
	cr_assert(eq(int, r, 1));
	cr_expect(eq(u64, object.offset, fixture_find_text(s.fx, "V=39")));
	cr_expect(le(u32, s.d->blocks_fed, 3 * s.d->block_count));
	setup_done(&s);
}
