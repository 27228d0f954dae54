/* SPDX-License-Identifier: MIT */
/* See query.h. The model is as plain as can be: it shares nothing with what it judges. */
#include "tests/support/query.h"

#include <stdio.h>
#include <stdlib.h>

/* splitmix64 */
static uint64_t query_next(uint64_t *state)
{
	uint64_t x = *state += 0x9e3779b97f4a7c15u;

	x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9u;
	x = (x ^ (x >> 27)) * 0x94d049bb133111ebu;
	return x ^ (x >> 31);
}

uint64_t query_random_below(uint64_t *random, uint64_t limit)
{
	return query_next(random) % limit;
}

const char *query_term_text(unsigned term)
{
	static const char *const texts[] = {
		"A=0", "A=1", "A=2", "B=0", "B=1", "B=2", "C=0", "C=1",
		"C=2", "D=0", "D=1", "D=2", "E=0", "E=1", "E=2", "A=x"
	};

	return texts[term];
}

struct query query_random(uint64_t *random)
{
	struct query q = { .count = 1 + (unsigned)query_random_below(random, QUERY_TERMS_MAX) };
	unsigned group = 0, alternative = 0;

	for (unsigned i = 0; i < q.count; i++) {
		unsigned what = (unsigned)query_random_below(random, 100);

		if (what < 15)
			group++;
		else if (what < 45)
			alternative++;
		q.terms[i] = (struct query_term){
			group, alternative, (unsigned)query_random_below(random, QUERY_ABSENT)
		};
		if (query_random_below(random, 25) == 0)
			q.terms[i].term = QUERY_ABSENT;
	}
	return q;
}

/* The field of a term; the absent term is one of the first field's. */
static unsigned query_field(unsigned term)
{
	return term == QUERY_ABSENT ? 0 : term / QUERY_VALUES;
}

/* Whether the alternative that a term is in holds: each of its fields has a value that is there. */
static bool query_alternative_holds(const struct query *q, const struct query_term *of,
				    uint32_t held)
{
	bool named[QUERY_FIELDS] = { false }, there[QUERY_FIELDS] = { false };

	for (unsigned i = 0; i < q->count; i++) {
		const struct query_term *t = &q->terms[i];

		if (t->group != of->group || t->alternative != of->alternative)
			continue;
		named[query_field(t->term)] = true;
		there[query_field(t->term)] |= held >> t->term & 1;
	}
	for (unsigned i = 0; i < QUERY_FIELDS; i++) {
		if (named[i] && !there[i])
			return false;
	}
	return true;
}

bool query_matches(const struct query *q, uint32_t held)
{
	for (unsigned i = 0; i < q->count; i++) {
		bool holds = false;

		for (unsigned k = 0; k < q->count && !holds; k++)
			holds = q->terms[k].group == q->terms[i].group &&
				query_alternative_holds(q, &q->terms[k], held);
		if (!holds)
			return false;
	}
	return true;
}

void query_build(const struct query *q, const struct query_builder *builder, void *userdata)
{
	for (unsigned i = 0; i < q->count; i++) {
		int r = 0;

		if (i > 0 && q->terms[i].group != q->terms[i - 1].group)
			r = builder->and_next(userdata);
		else if (i > 0 && q->terms[i].alternative != q->terms[i - 1].alternative)
			r = builder->or_next(userdata);
		if (r < 0 || builder->add(userdata, query_term_text(q->terms[i].term)) < 0)
			abort();
	}
}

void query_file_make(struct query_file *file, const struct fixture_options *options, unsigned count,
		     unsigned number, uint64_t *random)
{
	struct fixture_stamp stamp = { .realtime = FIXTURE_REALTIME + number * 7 };
	unsigned rarity = 2 + (unsigned)query_random_below(random, 8);
	char message[32];

	file->fx = fixture_new(options);
	file->entry_count = count;
	for (unsigned i = 0; i < count; i++) {
		struct fixture_field fields[QUERY_ABSENT + 1];
		size_t field_count = 0;

		snprintf(message, sizeof(message), "MESSAGE=%u of %u", i, number);
		fields[field_count++] = (struct fixture_field){ message, strlen(message) };
		file->held[i] = 0;
		for (unsigned t = 0; t < QUERY_ABSENT; t++) {
			/* The first value of a field is frequent, the last one rare. */
			if (query_random_below(random, rarity * (t % QUERY_VALUES + 1)) > 0)
				continue;
			file->held[i] |= 1u << t;
			fields[field_count++] = (struct fixture_field){ query_term_text(t), 3 };
		}
		stamp.realtime += query_random_below(random, 3) * 1000;
		file->realtimes[i] = stamp.realtime;
		file->offsets[i] = fixture_entry(file->fx, &stamp, fields, field_count);
	}
	fixture_finish(file->fx);
}

void query_file_random(struct query_file *file, unsigned number, uint64_t *random)
{
	static const uint8_t states[] = { JOURNAL_STATE_OFFLINE, JOURNAL_STATE_ONLINE,
					  JOURNAL_STATE_ARCHIVED };
	uint64_t bits = query_next(random);
	struct fixture_options options = {
		.compact = bits & 1,
		.keyed = bits & 2,
		.sealed = bits & 4,
		.preallocate_bytes = bits & 8 ? 65536 : 0,
		.state = states[bits / 16 % 3],
		.compression = bits & 256 ? OBJECT_ZSTD : 0,
		.compress_from_bytes = 1,
		.data_buckets = 1 + bits / 512 % 9,
		.file_id = fixture_id(1000 + number),
		.seqnum_id = bits & 8192 ? fixture_id(2000 + number) : fixture_id(2000),
		.boot_id = fixture_id(3000 + number / 2),
	};

	query_file_make(file, &options, 1 + (unsigned)query_random_below(random, 60), number,
			random);
}
