/* SPDX-License-Identifier: MIT */
/*
 * Pieces of messages. Most are short and drawn from few values, as in real logs, so that part of
 * the messages repeat; some are long enough for a journal to compress them.
 */
#include "bench/texts.h"

#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))

static const char *const words[] = {
	"basin",   "beacon", "bridge", "cargo",   "catalog", "cellar",    "courier", "delta",
	"depot",   "ferry",  "garden", "harbour", "ledger",  "lantern",   "market",  "meadow",
	"orchard", "parcel", "pier",   "quarry",  "ticket",  "timetable", "tunnel",  "voyage",
};
static const char *const users[] = {
	"root",   "admin", "anna",   "backup", "test",    "git",     "jörg",  "maria",
	"deploy", "guest", "oracle", "ftp",    "mikołaj", "support", "chloé", "scanner",
};
static const char *const agents[] = {
	"Mozilla/5.0 (X11; Linux x86_64; rv:128.0) Gecko/20100101 Firefox/128.0",
	"Mozilla/5.0 (Macintosh; Intel Mac OS X 14_5) AppleWebKit/605.1 Safari/605.1",
	"curl/8.9.1",
	"probe/2.4",
	"harvester/0.9 (+https://crawl.example/about)",
};
static const char *const notes[] = {
	"Änderungen übernommen", "réglages enregistrés",    "設定が変更されました",
	"данные сохранены",      "η σύνδεση έκλεισε",       "zażółć gęślą jaźń",
	"🚢 cargo on board",      "la travesía ha empezado",
};
static const unsigned statuses[] = { 200, 200, 200, 200, 200, 200, 200, 204,
				     301, 304, 304, 404, 404, 403, 500 };

/* A message that is being written: what does not fit is left out. */
struct text_writer {
	char *bytes;
	size_t used, size;
	const struct text_context *context;
};

/* Appends bytes. */
static void text_put(struct text_writer *w, const char *bytes, size_t size)
{
	if (size > w->size - w->used)
		size = w->size - w->used;
	memcpy(w->bytes + w->used, bytes, size);
	w->used += size;
}

/* Appends formatted text of at most 255 bytes. */
static void __attribute__((format(printf, 2, 3)))
text_print(struct text_writer *w, const char *format, ...)
{
	char text[256];
	va_list ap;
	int n;

	va_start(ap, format);
	n = vsnprintf(text, sizeof(text), format, ap);
	va_end(ap);
	text_put(w, text, n < (int)sizeof(text) ? (size_t)n : sizeof(text) - 1);
}

/* A number below BELOW. */
static unsigned text_draw(struct text_writer *w, unsigned below)
{
	return random_below(w->context->random, below);
}

/* One of some strings, the first ones more often. */
static const char *text_pick(struct text_writer *w, const char *const *strings, size_t count)
{
	return strings[random_skewed(w->context->random, (uint32_t)count)];
}

/* Appends the time. */
static void text_time(struct text_writer *w)
{
	time_t seconds = (time_t)(w->context->realtime / 1000000);
	struct tm tm;
	char text[64];

	gmtime_r(&seconds, &tm);
	text_put(w, text, strftime(text, sizeof(text), "%Y-%m-%d %H:%M:%S", &tm));
}

/* An address: of three thousand, some of which come often. */
static void text_address(struct text_writer *w)
{
	uint32_t n = random_skewed(w->context->random, 3000) * 2246822519u + 977;

	text_print(w, "%u.%u.%u.%u", 1 + (n >> 24) % 222, (n >> 16) & 255, (n >> 8) & 255, n & 255);
}

/* A path of a web site. */
static void text_path(struct text_writer *w)
{
	switch (text_draw(w, 6)) {
	case 0:
		text_put(w, "/", 1);
		break;
	case 1:
		text_print(w, "/static/%04x.js", random_skewed(w->context->random, 300));
		break;
	case 2:
		text_put(w, "/search?q=na%C3%AFve", 20);
		break;
	default:
		text_print(w, "/v2/%s/%u", text_pick(w, words, 8),
			   random_skewed(w->context->random, 400));
	}
}

/* A structured line of 600 to 2,000 bytes. */
static void text_record(struct text_writer *w)
{
	unsigned count = 4 + text_draw(w, 18);

	text_print(w,
		   "{\"at\":%llu.%06llu,\"level\":\"info\",\"module\":\"%s\",\"trace\":\"%016llx\"",
		   (unsigned long long)w->context->realtime / 1000000,
		   (unsigned long long)w->context->realtime % 1000000,
		   text_pick(w, words, COUNT(words)),
		   (unsigned long long)random_next(w->context->random));
	for (unsigned i = 0; i < count; i++)
		text_print(w,
			   ",\"%s_%u\":{\"state\":\"ready\",\"owner\":\"%s\",\"id\":%u,\"ms\":%u}",
			   words[i], i, text_pick(w, users, COUNT(users)), text_draw(w, 100000),
			   text_draw(w, 900));
	text_put(w, "}", 1);
}

/* A stack trace: many lines, 500 to 2,500 bytes. */
static void text_trace(struct text_writer *w)
{
	unsigned count = 8 + text_draw(w, 28);

	text_print(w, "IllegalStateException: %s %u has been closed",
		   text_pick(w, words, COUNT(words)), text_draw(w, 100));
	for (unsigned i = 0; i < count; i++)
		text_print(w, "\n\tat example.%s.%sService.handle(%s.java:%u)",
			   text_pick(w, words, COUNT(words)), text_pick(w, words, COUNT(words)),
			   text_pick(w, words, COUNT(words)), text_draw(w, 900));
}

/* A table of a process's memory, 4 to 12 KiB. */
static void text_table(struct text_writer *w)
{
	uint64_t base = UINT64_C(0x7f0000000000) + ((random_next(w->context->random) >> 40) << 12);
	unsigned count = 50 + text_draw(w, 80);

	for (unsigned i = 0; i < count; i++, base += 0x21000)
		text_print(w, "%s%012llx-%012llx r-%cp %08x 103:02 %u /usr/lib/lib%s.so.%u",
			   i ? "\n" : "", (unsigned long long)base,
			   (unsigned long long)base + 0x21000, i % 2 ? 'x' : '-', i * 0x1000,
			   393216 + i / 4, words[i / 4 % COUNT(words)], i % 7);
}

/* Appends one of the pieces whose names are short for numbers. False if NAME is none of them. */
static bool text_number(struct text_writer *w, const char *name, size_t size)
{
	static const struct {
		const char *name;
		unsigned below;
	} numbers[] = { { "n", 10 }, { "nn", 100 }, { "num", 100000 }, { "pid", 30000 } };

	for (size_t i = 0; i < COUNT(numbers); i++) {
		if (strlen(numbers[i].name) == size && memcmp(name, numbers[i].name, size) == 0) {
			text_print(w, "%u", text_draw(w, numbers[i].below));
			return true;
		}
	}
	return false;
}

/* Appends the piece called NAME. */
static void text_piece(struct text_writer *w, const char *name, size_t size)
{
	if (text_number(w, name, size))
		return;
#define IS(literal) (size == sizeof(literal) - 1 && memcmp(name, literal, size) == 0)
	if (IS("ip"))
		text_address(w);
	else if (IS("path"))
		text_path(w);
	else if (IS("agent"))
		text_print(w, "%s", text_pick(w, agents, COUNT(agents)));
	else if (IS("user"))
		text_print(w, "%s", text_pick(w, users, COUNT(users)));
	else if (IS("word"))
		text_print(w, "%s", text_pick(w, words, COUNT(words)));
	else if (IS("note"))
		text_print(w, "%s", text_pick(w, notes, COUNT(notes)));
	else if (IS("status"))
		text_print(w, "%u", statuses[text_draw(w, COUNT(statuses))]);
	else if (IS("port"))
		text_print(w, "%u", 1024 + text_draw(w, 64000));
	else if (IS("hex"))
		text_print(w, "%07x", text_draw(w, 1u << 28));
	else if (IS("ms"))
		text_print(w, "%u.%02u", random_skewed(w->context->random, 400), text_draw(w, 100));
	else if (IS("clock"))
		text_time(w);
	else if (IS("record"))
		text_record(w);
	else if (IS("trace"))
		text_trace(w);
	else if (IS("table"))
		text_table(w);
	else
		__builtin_trap(); /* a form names a piece that there is not */
#undef IS
}

size_t text_write(const char *form, const struct text_context *context, char *buffer, size_t size)
{
	struct text_writer w = { .bytes = buffer, .size = size, .context = context };

	while (*form) {
		size_t plain = strcspn(form, "<");

		text_put(&w, form, plain);
		form += plain;
		if (*form) {
			plain = strcspn(form, ">");
			text_piece(&w, form + 1, plain - 1);
			form += plain + 1;
		}
	}
	return w.used;
}
