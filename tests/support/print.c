/* SPDX-License-Identifier: MIT */
/* See print.h. */
#include "tests/support/print.h"

#include <stdlib.h>
#include <stdio.h>
#include <time.h>

/* Gives up: a test cannot go on without memory. */
static void *print_memory(void *bytes)
{
	if (!bytes)
		abort();
	return bytes;
}

/* Parses an ID that is known to be one. */
static struct id128 print_id(const char *text)
{
	struct id128 id;

	for (unsigned i = 0; i < sizeof(id.bytes); i++)
		if (sscanf(text + 2 * i, "%2hhx", &id.bytes[i]) != 1)
			abort();
	return id;
}

void print_zone(const char *zone)
{
	setenv("TZ", zone, 1);
	tzset();
}

void print_init(struct print *p, enum output_mode mode)
{
	*p = (struct print){
		.options.mode = mode,
		.entry = {
			.seqnum = 42,
			.realtime = PRINT_REALTIME,
			.monotonic = PRINT_MONOTONIC,
			.xor_hash = UINT64_C(0x9041b23248242178),
			.boot_id = print_id(PRINT_BOOT_ID),
			.seqnum_id = print_id(PRINT_SEQNUM_ID),
		},
	};
	print_zone("UTC");
}

void print_done(struct print *p)
{
	print_clear(p);
	free(p->fields);
	output_cache_done(&p->cache);
	output_buffer_done(&p->buffer);
	*p = (struct print){ 0 };
}

void print_clear(struct print *p)
{
	for (size_t i = 0; i < p->entry.field_count; i++)
		free((void *)p->fields[i].bytes);
	p->entry.field_count = 0;
}

void print_bytes(struct print *p, const void *bytes, size_t size)
{
	uint8_t *copy = print_memory(malloc(size ? size : 1));
	const uint8_t *equals;

	memcpy(copy, bytes, size);
	equals = memchr(copy, '=', size);
	if (p->entry.field_count == p->field_capacity) {
		p->field_capacity = p->field_capacity * 2 + 16;
		p->fields =
			print_memory(realloc(p->fields, p->field_capacity * sizeof(*p->fields)));
	}
	p->fields[p->entry.field_count++] = (struct output_field){
		.bytes = copy,
		.size = size,
		.name_size = (uint32_t)(equals ? (size_t)(equals - copy) : size),
	};
	p->entry.fields = p->fields;
}

void print_field(struct print *p, const char *field)
{
	print_bytes(p, field, strlen(field));
}

void print_run(struct print *p, const char *name, uint8_t byte, size_t count)
{
	size_t name_size = strlen(name);
	char *field = print_memory(malloc(name_size + 1 + count));

	memcpy(field, name, name_size);
	field[name_size] = '=';
	memset(field + name_size + 1, byte, count);
	print_bytes(p, field, name_size + 1 + count);
	free(field);
}

char *print_entry(struct print *p)
{
	p->buffer.size = 0;
	if (output_entry(&p->options, &p->cache, &p->previous, &p->entry, &p->buffer) < 0)
		abort();
	if (!output_reserve(&p->buffer, 1))
		abort();
	p->buffer.bytes[p->buffer.size] = '\0';
	return (char *)p->buffer.bytes;
}

char *print_message(struct print *p, const char *message)
{
	char *field = print_memory(malloc(sizeof("MESSAGE=") + strlen(message)));

	strcpy(field, "MESSAGE=");
	strcat(field, message);
	print_clear(p);
	print_field(p, field);
	free(field);
	return print_entry(p);
}
