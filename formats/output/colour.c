/* SPDX-License-Identifier: MIT */
/*
 * Colours: the sequences that the reference sends for a depth, and which of them a message gets.
 * For yellow and grey it sends with 256 colours what it sends with 16 as well, but not with more.
 */
#include "formats/output/encode.h"

#define COLOUR(text) { (const uint8_t *)(text), sizeof(text) - 1 }

#define YELLOW_16 "\033[0;1;33m"
#define YELLOW_256 "\033[0;1;38:5:185m"
#define GREY_16 "\033[0;90m"
#define GREY_256 "\033[0;38:5:245m"

/* One row a depth: without colours there is nothing to send. */
static const struct text_view colour_texts[OUTPUT_COLOURS_COUNT][COLOUR_COUNT] = {
#define COLOUR_ROW(yellow, grey)                                                                   \
	{                                                                                          \
		[COLOUR_NORMAL] = COLOUR("\033[0m"),                                               \
		[COLOUR_RED] = COLOUR("\033[0;1;31m"),                                             \
		[COLOUR_YELLOW] = COLOUR(yellow),                                                  \
		[COLOUR_HIGHLIGHT] = COLOUR("\033[0;1;39m"),                                       \
		[COLOUR_GREY] = COLOUR(grey),                                                      \
		[COLOUR_BLUE] = COLOUR("\033[0;34m"),                                              \
		[COLOUR_BRIGHT_BLUE] = COLOUR("\033[0;1;34m"),                                     \
		[COLOUR_GREEN] = COLOUR("\033[0;32m"),                                             \
		[COLOUR_UNDERLINE] = COLOUR("\033[0;4m"),                                          \
	}
	[OUTPUT_COLOURS_16] = COLOUR_ROW(YELLOW_16, GREY_16),
	[OUTPUT_COLOURS_256] = COLOUR_ROW(YELLOW_16 YELLOW_256, GREY_16 GREY_256),
	[OUTPUT_COLOURS_24BIT] = COLOUR_ROW(YELLOW_256, GREY_256),
};

/* What is sent for a colour; of no size where there are none. */
struct text_view colour_text(const struct output_options *options, enum colour colour)
{
	return colour_texts[options->colours][colour];
}

/* The colours of a message by the value of PRIORITY, which may be absent. */
struct colour_set colour_message(const struct output_options *options, struct text_view priority)
{
	static const uint8_t on[] = { COLOUR_RED, COLOUR_RED, COLOUR_RED, COLOUR_RED,
				      COLOUR_YELLOW, COLOUR_HIGHLIGHT, COLOUR_NOTHING,
				      COLOUR_GREY };
	unsigned level = 6;

	if (priority.size == 1 && priority.bytes[0] >= '0' && priority.bytes[0] <= '7')
		level = priority.bytes[0] - '0';
	return (struct colour_set){
		.on = colour_text(options, on[level]),
		.off = colour_text(options, level == 6 ? COLOUR_NOTHING : COLOUR_NORMAL),
		.match = colour_text(options, level == 6  ? COLOUR_NOTHING :
					      level >= 5 ? COLOUR_RED :
							   COLOUR_HIGHLIGHT),
	};
}

/* Puts a text into a colour. */
void colour_print(const struct output_options *options, struct output_buffer *b, enum colour colour,
		  const void *text, size_t size)
{
	output_view(b, colour_text(options, colour));
	output_bytes(b, text, size);
	output_view(b, colour_text(options, COLOUR_NORMAL));
}
