/* SPDX-License-Identifier: MIT */
/*
 * The parts that a scan is made of, measured one by one: micro [--quick] [NAME...]. Each part works
 * on input of its own, checks that its result is right, and prints one object of JSON: nanoseconds
 * for an operation, bytes for a nanosecond where that means something, and a sum over the results
 * that depends on the input alone. With --quick each runs once: a test.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include "bench/random.h"
#include "engine/merge-heap.h"
#include "formats/output/output.h"
#include "tests/support/fixture.h"

#define ENTRIES 2000u
#define FIELDS 16u
#define SOURCES 100u
#define TEXT_BYTES 65536u
#define LOOKS 65536u
#define SPAN_NS UINT64_C(200000000)

/* What the parts work on, made once. */
struct material {
	struct fixture *fx;
	struct window window;
	struct journal journal;
	uint64_t payload_bytes; /* of all fields of all entries */
	char (*texts)[64];      /* of the fields, ENTRIES times FIELDS */
	uint8_t *clean, *dirty; /* TEXT_BYTES each */
	uint64_t *looks;        /* offsets */
};

/* What one pass of a part did. */
struct pass {
	uint64_t operations, bytes, sum;
};

/* Ends the program: a result is wrong. */
static void __attribute__((noreturn)) micro_fail(const char *what)
{
	fprintf(stderr, "micro: wrong: %s\n", what);
	exit(1);
}

/* Makes a file whose entries share some fields and not others, and the texts. */
static void material_init(struct material *m)
{
	struct fixture_options options = { .compact = true, .keyed = true, .data_buckets = 4096 };
	struct random r = { .state = 4711 };
	char error[HEADER_DETAIL_SIZE];

	*m = (struct material){ .fx = fixture_new(&options) };
	m->texts = calloc((size_t)ENTRIES * FIELDS, sizeof(*m->texts));
	m->clean = malloc(TEXT_BYTES);
	m->dirty = malloc(TEXT_BYTES);
	m->looks = calloc(LOOKS, sizeof(*m->looks));
	if (!m->texts || !m->clean || !m->dirty || !m->looks)
		abort();
	for (unsigned i = 0; i < ENTRIES; i++) {
		struct fixture_field fields[FIELDS];

		for (unsigned j = 0; j < FIELDS; j++) {
			char *text = m->texts[i * FIELDS + j];
			int size = snprintf(text, 64, "FIELD_%u=value %u of some length", j,
					    j == 0 ? i : random_below(&r, 1 + 3 * j));

			fields[j] = (struct fixture_field){ text, (size_t)size };
			m->payload_bytes += (uint64_t)size;
		}
		fixture_entry(m->fx, NULL, fields, FIELDS);
	}
	fixture_finish(m->fx);
	m->window = fixture_window(m->fx);
	if (header_parse(fixture_bytes(m->fx), HEADER_SIZE_MAX, fixture_size(m->fx), &m->journal,
			 error) < 0)
		micro_fail(error);
	for (unsigned i = 0; i < TEXT_BYTES; i++)
		m->clean[i] = (uint8_t)(i % 61 == 60 ? '\t' : 'a' + i % 26);
	memcpy(m->dirty, m->clean, TEXT_BYTES);
	for (unsigned i = 40; i < TEXT_BYTES; i += 80)
		m->dirty[i] = i % 160 == 40 ? '"' : '\\';
	for (unsigned i = 0; i < LOOKS; i++)
		m->looks[i] = random_next(&r) % (fixture_size(m->fx) - 4096);
}

/* Frees it. */
static void material_done(struct material *m)
{
	fixture_free(m->fx);
	free(m->texts);
	free(m->clean);
	free(m->dirty);
	free(m->looks);
}

/* merge: a hundred sources that overlap; one step takes the least and puts its successor in. */
static struct pass micro_merge(struct material *m)
{
	struct merge_heap heap = { 0 };
	uint32_t places[SOURCES];
	struct random r = { .state = 1 };
	struct pass p = { 0 };
	uint64_t last = 0;

	(void)m;
	for (uint32_t i = 0; i < SOURCES; i++) {
		struct merge_item item = { .first = random_below(&r, 1000), .number = i };

		places[i] = MERGE_NOWHERE;
		if (merge_heap_set(&heap, places, &item) < 0)
			abort();
	}
	for (; p.operations < 200000; p.operations++) {
		struct merge_item item = heap.items[0];

		if (item.first < last)
			micro_fail("merge: not in order");
		last = item.first;
		p.sum = p.sum * 31 + item.number;
		item.first += 1 + random_below(&r, 1000);
		merge_heap_set(&heap, places, &item);
	}
	free(heap.items);
	return p;
}

/* decode: every entry and the payloads of its fields, through the array chain. */
static struct pass micro_decode(struct material *m)
{
	struct pass p = { 0 };
	struct chain chain;

	chain_init_global(&chain, &m->journal);
	for (uint64_t i = 0; i < ENTRIES; i++) {
		struct entry_object entry;
		const uint8_t *items;
		uint64_t offset;

		if (chain_get(&chain, &m->journal, &m->window, i, &offset) != 1 ||
		    object_entry(&m->journal, &m->window, offset, &entry) < 0 ||
		    object_entry_items(&m->journal, &m->window, &entry, 0, entry.n_items, &items) <
			    0)
			micro_fail("decode: an entry");
		for (uint64_t j = 0; j < entry.n_items; j++) {
			struct payload_view v;

			offset = entry_item(&m->journal, items, j);
			if (object_payload(&m->journal, &m->window, offset, &v) < 0)
				micro_fail("decode: a payload");
			p.bytes += v.size;
			p.sum = p.sum * 31 + v.bytes[v.size - 1];
		}
		p.operations += entry.n_items;
	}
	if (p.bytes != m->payload_bytes || p.operations != ENTRIES * FIELDS)
		micro_fail("decode: bytes or fields are lacking");
	return p;
}

/* hash-jenkins, hash-siphash: of all fields. */
static struct pass micro_jenkins(struct material *m)
{
	struct pass p = { .operations = ENTRIES * FIELDS, .bytes = m->payload_bytes };

	if (hash_jenkins("", 0) != UINT64_C(0xdeadbeefdeadbeef))
		micro_fail("hash-jenkins");
	for (unsigned i = 0; i < ENTRIES * FIELDS; i++)
		p.sum += hash_jenkins(m->texts[i], strlen(m->texts[i]));
	return p;
}

static struct pass micro_siphash(struct material *m)
{
	struct pass p = { .operations = ENTRIES * FIELDS, .bytes = m->payload_bytes };
	struct id128 key;

	for (uint8_t i = 0; i < 16; i++)
		key.bytes[i] = i;
	/* The first and the last of the test vectors that came with the function. */
	if (hash_siphash("", 0, &key) != UINT64_C(0x726fdb47dd0e0e31) ||
	    hash_siphash(key.bytes, 15, &key) != UINT64_C(0xa129ca6149be45e5))
		micro_fail("hash-siphash");
	for (unsigned i = 0; i < ENTRIES * FIELDS; i++)
		p.sum += hash_siphash(m->texts[i], strlen(m->texts[i]), &key);
	return p;
}

/* lookup: the data object of each of the first fields, by hash. */
static struct pass micro_lookup(struct material *m)
{
	struct payload_decoder *decoder;
	struct pass p = { .operations = ENTRIES };

	if (payload_decoder_new(1 << 20, &decoder) < 0)
		abort();
	for (unsigned i = 0; i < ENTRIES; i++) {
		const char *text = m->texts[i * FIELDS];
		size_t size = strlen(text);
		struct data_object data;

		if (lookup_data(&m->journal, &m->window, decoder, text, size,
				journal_hash(&m->journal, text, size), &data) != 1)
			micro_fail("lookup: a field is not found");
		p.sum += data.offset;
	}
	payload_decoder_free(decoder);
	return p;
}

/* printable: lines of text; one with a control character in it is none. */
static struct pass micro_printable(struct material *m)
{
	struct pass p = { .bytes = TEXT_BYTES };

	for (size_t at = 0; at < TEXT_BYTES; at += 256, p.operations++) {
		if (!text_is_printable(m->clean + at, 256, false))
			micro_fail("printable: text");
		p.sum += at;
	}
	if (text_is_printable((const uint8_t *)"one\001two", 7, false) ||
	    text_is_printable((const uint8_t *)"\xc3(", 2, false) ||
	    !text_is_printable((const uint8_t *)"\xc3\xa9", 2, false))
		micro_fail("printable: what is no text");
	return p;
}

/* json: a message with two characters to escape in every 160. */
static struct pass micro_json(struct material *m)
{
	struct output_options options = { .mode = OUTPUT_JSON };
	struct output_cache cache = { 0 };
	struct output_buffer buffer = { 0 };
	struct pass p = { .bytes = TEXT_BYTES };
	uint64_t escapes = 0;

	for (size_t at = 0; at < TEXT_BYTES; at += 1024, p.operations++) {
		uint8_t text[1024 + 8];
		struct output_field field = { .bytes = text, .size = sizeof(text), .name_size = 7 };
		struct output_entry entry = { .fields = &field, .field_count = 1 };

		memcpy(text, "MESSAGE=", 8);
		memcpy(text + 8, m->dirty + at, 1024);
		buffer.size = 0;
		if (output_entry(&options, &cache, NULL, &entry, &buffer) < 0)
			abort();
		for (size_t i = 0; i < buffer.size; i++)
			escapes += buffer.bytes[i] == '\\';
		p.sum += buffer.size;
	}
	output_buffer_done(&buffer);
	output_cache_done(&cache);
	/* A quote takes one backslash, a backslash and a tab take two and one. */
	if (escapes < TEXT_BYTES / 80 * 3 / 2)
		micro_fail("json: something is not escaped");
	return p;
}

/* window: looks at places here and there, through the states of blocks. */
static struct pass micro_window(struct material *m)
{
	uint64_t count = (fixture_size(m->fx) >> 12) + 1;
	uint8_t *blocks = malloc(count);
	struct window w = { .base = fixture_bytes(m->fx),
			    .size_bytes = fixture_size(m->fx),
			    .blocks = blocks,
			    .block_shift = 12 };
	struct pass p = { .operations = LOOKS };
	const uint8_t *at;

	if (!blocks)
		abort();
	memset(blocks, WINDOW_BLOCK_RESIDENT, count);
	for (unsigned i = 0; i < LOOKS; i++) {
		if (window_get(&w, m->looks[i], 64, &at) < 0 || at != w.base + m->looks[i])
			micro_fail("window: bytes are not there");
		p.sum += m->looks[i];
	}
	blocks[1] = 0;
	if (window_get(&w, 4096, 64, &at) != -EAGAIN || w.want_count != 1)
		micro_fail("window: bytes are there that are not");
	free(blocks);
	return p;
}

static const struct micro_part {
	const char *name;
	struct pass (*run)(struct material *m);
} micro_parts[] = {
	{ "merge", micro_merge },
	{ "decode", micro_decode },
	{ "hash-jenkins", micro_jenkins },
	{ "hash-siphash", micro_siphash },
	{ "lookup", micro_lookup },
	{ "printable", micro_printable },
	{ "json", micro_json },
	{ "window", micro_window },
};

/* Nanoseconds since some point. */
static uint64_t micro_now(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return (uint64_t)ts.tv_sec * 1000000000 + (uint64_t)ts.tv_nsec;
}

/* Runs a part until enough time has passed, and prints its best pass. */
static void micro_run(const struct micro_part *part, struct material *m, bool quick)
{
	uint64_t begin = micro_now(), best = UINT64_MAX, sum = 0;
	struct pass p;

	do {
		uint64_t start = micro_now(), took;

		p = part->run(m);
		took = micro_now() - start;
		best = took < best ? took : best;
		if (sum && p.sum != sum)
			micro_fail(part->name);
		sum = p.sum;
	} while (!quick && micro_now() - begin < SPAN_NS);
	printf("{\"name\": \"%s\", \"operations\": %" PRIu64 ", \"ns\": %.3f, "
	       "\"bytes_per_ns\": %.3f, \"sum\": \"%016" PRIx64 "\"}\n",
	       part->name, p.operations, (double)best / (double)p.operations,
	       (double)p.bytes / (double)(best ? best : 1), sum);
}

int main(int argc, char **argv)
{
	bool quick = argc > 1 && strcmp(argv[1], "--quick") == 0;
	int first = quick ? 2 : 1, named = 0;
	struct material m;

	material_init(&m);
	for (size_t i = 0; i < sizeof(micro_parts) / sizeof(micro_parts[0]); i++) {
		bool wanted = first >= argc;

		for (int j = first; j < argc; j++)
			wanted = wanted || strcmp(argv[j], micro_parts[i].name) == 0;
		if (wanted) {
			micro_run(&micro_parts[i], &m, quick);
			named++;
		}
	}
	material_done(&m);
	return named ? 0 : 2;
}
