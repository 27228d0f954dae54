/* SPDX-License-Identifier: MIT */
/*
 * Objects and chains of entry arrays. Every object of the file, and every offset that one of them
 * names, is looked at as every type, whole and lazily, and the answers compared. Chains are read
 * forwards, backwards and by bisection; forwards they are compared with a walk of a few lines.
 */
#include "tests/fuzz/fuzz.h"

#define LOOKS_MAX 300u
#define ELEMENTS_MAX 2000u

/* Two answers to one question. */
#define SAME(field) FUZZ_CHECK(a.field == b.field)

static void check_header(const struct fuzz_input *in, struct window *w, struct lazy *l,
			 uint64_t offset)
{
	struct object_header a = { 0 }, b = { 0 };
	int r = object_header(&in->journal, w, OBJECT_ANY, offset, &a);

	FUZZ_CHECK(r != -EAGAIN);
	FUZZ_CHECK(r ==
		   LAZY_RUN(l, object_header(&in->journal, &l->window, OBJECT_ANY, offset, &b)));
	SAME(offset);
	SAME(size);
	SAME(type);
	SAME(flags);
	if (r == 0)
		FUZZ_CHECK(a.size >= OBJECT_HEADER_SIZE && a.size <= in->size - offset);
}

static void check_data(const struct fuzz_input *in, struct window *w, struct lazy *l,
		       uint64_t offset)
{
	struct data_object a = { 0 }, b = { 0 };
	struct payload_view p, q;
	int r = object_data(&in->journal, w, offset, &a);

	FUZZ_CHECK(r == LAZY_RUN(l, object_data(&in->journal, &l->window, offset, &b)));
	SAME(size);
	SAME(hash);
	SAME(next_hash_offset);
	SAME(next_field_offset);
	SAME(entry_offset);
	SAME(entry_array_offset);
	SAME(n_entries);
	SAME(payload_size);
	SAME(compression);
	FUZZ_CHECK(r == object_payload(&in->journal, w, offset, &p));
	FUZZ_CHECK(r == LAZY_RUN(l, object_payload(&in->journal, &l->window, offset, &q)));
	if (r < 0)
		return;
	/* The rules that end chains and lists. */
	FUZZ_CHECK(a.next_hash_offset == 0 || a.next_hash_offset > offset);
	FUZZ_CHECK(a.next_field_offset < offset);
	FUZZ_CHECK((a.entry_offset == 0) == (a.n_entries == 0));
	FUZZ_CHECK(((a.next_hash_offset | a.next_field_offset | a.entry_offset |
		     a.entry_array_offset) &
		    7) == 0);
	FUZZ_CHECK(a.payload_size > 0 && p.size == a.payload_size && q.size == p.size);
	FUZZ_CHECK(p.compression == a.compression && q.compression == a.compression);
	FUZZ_CHECK(memcmp(p.bytes, q.bytes, p.size) == 0);
}

static void check_field(const struct fuzz_input *in, struct window *w, struct lazy *l,
			uint64_t offset)
{
	struct field_object a = { 0 }, b = { 0 };
	const uint8_t *p, *q;
	int r = object_field(&in->journal, w, offset, &a);

	FUZZ_CHECK(r == LAZY_RUN(l, object_field(&in->journal, &l->window, offset, &b)));
	SAME(size);
	SAME(hash);
	SAME(next_hash_offset);
	SAME(head_data_offset);
	SAME(name_size);
	if (r < 0)
		return;
	FUZZ_CHECK(a.next_hash_offset == 0 || a.next_hash_offset > offset);
	FUZZ_CHECK(object_field_name(w, &a, &p) == 0);
	FUZZ_CHECK(LAZY_RUN(l, object_field_name(&l->window, &b, &q)) == 0);
	FUZZ_CHECK(a.name_size > 0 && memcmp(p, q, a.name_size) == 0);
}

static void check_entry(const struct fuzz_input *in, struct window *w, struct lazy *l,
			uint64_t offset)
{
	struct entry_object a = { 0 }, b = { 0 };
	const uint8_t *p, *q;
	int r = object_entry(&in->journal, w, offset, &a);

	FUZZ_CHECK(r == LAZY_RUN(l, object_entry(&in->journal, &l->window, offset, &b)));
	SAME(size);
	SAME(seqnum);
	SAME(realtime);
	SAME(monotonic);
	SAME(xor_hash);
	SAME(n_items);
	FUZZ_CHECK(id128_equal(&a.boot_id, &b.boot_id));
	if (r < 0)
		return;
	FUZZ_CHECK(a.n_items > 0 && a.seqnum > 0 && a.realtime < JOURNAL_TIME_END);
	FUZZ_CHECK(object_entry_items(&in->journal, w, &a, 0, a.n_items, &p) == 0);
	/* All of them at once, and the last one by itself. */
	FUZZ_CHECK(LAZY_RUN(l, object_entry_items(&in->journal, &l->window, &b, 0, b.n_items,
						  &q)) == 0);
	FUZZ_CHECK(memcmp(p, q, a.n_items * in->journal.entry_item_size) == 0);
	FUZZ_CHECK(LAZY_RUN(l, object_entry_items(&in->journal, &l->window, &b, b.n_items - 1, 1,
						  &q)) == 0);
	FUZZ_CHECK(entry_item(&in->journal, p, a.n_items - 1) == entry_item(&in->journal, q, 0));
}

static void check_array(const struct fuzz_input *in, struct window *w, struct lazy *l,
			uint64_t offset)
{
	struct array_object a = { 0 }, b = { 0 };
	const uint8_t *p, *q;
	int r = object_array(&in->journal, w, offset, &a);

	FUZZ_CHECK(r == LAZY_RUN(l, object_array(&in->journal, &l->window, offset, &b)));
	SAME(next);
	SAME(capacity);
	if (r < 0)
		return;
	FUZZ_CHECK(a.capacity > 0 && (a.next == 0 || a.next > offset));
	FUZZ_CHECK(object_array_items(&in->journal, w, &a, 0, a.capacity, &p) == 0);
	FUZZ_CHECK(LAZY_RUN(l, object_array_items(&in->journal, &l->window, &b, 0, b.capacity,
						  &q)) == 0);
	FUZZ_CHECK(memcmp(p, q, a.capacity * in->journal.item_size) == 0);
}

/* Looks at an offset in every way. */
static void check_offset(const struct fuzz_input *in, struct window *w, struct lazy *l,
			 uint64_t offset)
{
	lazy_evict(l);
	check_header(in, w, l, offset);
	check_data(in, w, l, offset);
	check_field(in, w, l, offset);
	check_entry(in, w, l, offset);
	check_array(in, w, l, offset);
}

/* ---- chains ------------------------------------------------------------------------------- */

/* What a chain holds up to where it ends, by the shortest way to say it. */
static uint64_t walk_chain(const struct fuzz_input *in, struct window *w, const struct chain *start,
			   uint64_t elements[ELEMENTS_MAX])
{
	uint64_t count = 0, wanted = start->count < ELEMENTS_MAX ? start->count : ELEMENTS_MAX;
	uint64_t at = start->first;
	struct array_object array;
	const uint8_t *items;

	if (start->inline_offset && count < wanted)
		elements[count++] = start->inline_offset;
	for (; at && count < wanted; at = array.next) {
		if (object_array(&in->journal, w, at, &array) < 0)
			break;
		for (uint64_t i = 0; i < array.capacity && count < wanted; i++) {
			FUZZ_CHECK(object_array_items(&in->journal, w, &array, i, 1, &items) == 0);
			elements[count++] = array_item(&in->journal, items, 0);
		}
	}
	return count;
}

/* Compares an entry's sequence number, for a bisection. */
static int compare_seqnum(const void *userdata, const struct journal *j, struct window *w,
			  uint64_t entry_offset, int *ret_order)
{
	const uint64_t *wanted = userdata;
	struct entry_object entry;
	int r = object_entry(j, w, entry_offset, &entry);

	if (r < 0)
		return r;
	*ret_order = entry.seqnum < *wanted ? -1 : entry.seqnum > *wanted;
	return 0;
}

/* Bisects both ways and compares. */
static void check_bisect(const struct fuzz_input *in, struct window *w, struct lazy *l,
			 const struct chain *start, uint64_t offset)
{
	struct chain a = *start, b = *start;
	uint64_t i = UINT64_MAX, k = UINT64_MAX, seqnum = offset % 64;
	int r = chain_bisect_offset(&a, &in->journal, w, offset, &i);

	lazy_evict(l);
	FUZZ_CHECK(r == 0);
	FUZZ_CHECK(LAZY_RUN(l, chain_bisect_offset(&b, &in->journal, &l->window, offset, &k)) == 0);
	FUZZ_CHECK(i == k && i <= start->count && a.count == b.count);

	a = *start;
	b = *start;
	r = chain_bisect(&a, &in->journal, w, compare_seqnum, &seqnum, false, &i);
	lazy_evict(l);
	FUZZ_CHECK(r == 0);
	FUZZ_CHECK(LAZY_RUN(l, chain_bisect(&b, &in->journal, &l->window, compare_seqnum, &seqnum,
					    false, &k)) == 0);
	FUZZ_CHECK(i == k && i <= start->count);
}

/* Reads a chain in every way. */
static void check_chain(const struct fuzz_input *in, struct window *w, struct lazy *l,
			const struct chain *start)
{
	static uint64_t elements[ELEMENTS_MAX];
	uint64_t count = walk_chain(in, w, start, elements), got, many[7], random = in->size;
	struct chain c = *start;

	lazy_evict(l);
	for (uint64_t i = 0; i < count; i++) {
		FUZZ_CHECK(LAZY_RUN(l, chain_get(&c, &in->journal, &l->window, i, &got)) == 1);
		FUZZ_CHECK(got == elements[i]);
	}
	if (count < ELEMENTS_MAX && count < c.count) {
		/* An array is damaged, or the chain stops early: said once, then it ends there. */
		int r = LAZY_RUN(l, chain_get(&c, &in->journal, &l->window, count, &got));

		FUZZ_CHECK(r == 0 || format_error_is_soft(r));
		FUZZ_CHECK(c.ended && c.count == count);
		FUZZ_CHECK(chain_get(&c, &in->journal, w, count, &got) == 0);
	}
	for (uint64_t i = count; i-- > 0;) {
		FUZZ_CHECK(LAZY_RUN(l, chain_get(&c, &in->journal, &l->window, i, &got)) == 1);
		FUZZ_CHECK(got == elements[i]);
	}
	c = *start;
	for (uint64_t i = 0; i < count;) {
		int n = LAZY_RUN(l, chain_get_many(&c, &in->journal, &l->window, i, 7, many));

		FUZZ_CHECK(n > 0 && n <= 7);
		for (int k = 0; k < n && i < count; k++, i++)
			FUZZ_CHECK(many[k] == elements[i]);
	}
	for (unsigned i = 0; i < 20 && count > 0; i++) {
		uint64_t index = fuzz_random(&random) % count;

		FUZZ_CHECK(LAZY_RUN(l, chain_get(&c, &in->journal, &l->window, index, &got)) == 1);
		FUZZ_CHECK(got == elements[index]);
	}
	check_bisect(in, w, l, start, count ? elements[count / 2] : 8);
	check_bisect(in, w, l, start, fuzz_random(&random) % (in->size + 8));
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size)
{
	struct fuzz_input in;
	struct window whole;
	struct chain chain;
	struct lazy lazy;
	unsigned looks = 0;

	if (!fuzz_open(bytes, size, &in))
		return 0;
	whole = (struct window){ .base = in.bytes, .size_bytes = in.size, .whole = true };
	lazy_init(&lazy, in.bytes, in.size, in.block_shift);
	chain_init_global(&chain, &in.journal);
	check_chain(&in, &whole, &lazy, &chain);
	for (uint64_t o = 0; looks < LOOKS_MAX && (o = fuzz_next_object(&in, o)); looks++) {
		struct data_object data;

		check_offset(&in, &whole, &lazy, o);
		/* What an object's second word names: a size, or another object. */
		check_offset(&in, &whole, &lazy,
			     in.size - o >= 56 ? load_le64(in.bytes + o + 48) : o + 1);
		if (looks % 8 == 0 && object_data(&in.journal, &whole, o, &data) == 0) {
			chain_init_data(&chain, &data);
			check_chain(&in, &whole, &lazy, &chain);
		}
	}
	lazy_done(&lazy);
	return 0;
}

void fuzz_mutate(uint8_t *bytes, size_t size, uint64_t seed)
{
	if (size > 1)
		fuzz_lie(bytes + 1, size - 1, seed);
}
