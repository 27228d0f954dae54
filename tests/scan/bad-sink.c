/* SPDX-License-Identifier: MIT */
/* Shared objects that are nearly sinks: BAD_SINK says what is wrong with this one. */
#include <errno.h>
#include <jscan.h>
#include <string.h>

#define BAD_NO_SYMBOL 1
#define BAD_VERSION 2
#define BAD_SIZE 3
#define BAD_NO_OPEN 4
#define BAD_NO_SLOT 5
#define BAD_NO_TABLE 6
#define BAD_REFUSES 7
#define BAD_SAYS_NOTHING 8

#if BAD_SINK != BAD_NO_SYMBOL && BAD_SINK != BAD_NO_OPEN
static int bad_open(const char *argument, const struct jscan_sink_ops **ret_ops,
		    void **ret_userdata, char *text, size_t size)
{
	static const struct jscan_sink_ops ops = { .size = sizeof(ops), .name = "bad" };

	(void)argument;
	*ret_userdata = NULL;
	*ret_ops = BAD_SINK == BAD_NO_TABLE ? NULL : &ops;
	if (BAD_SINK == BAD_REFUSES) {
		strncpy(text, "not today", size - 1);
		return -EACCES;
	}
	return BAD_SINK == BAD_SAYS_NOTHING ? -EACCES : 0;
}
#define BAD_OPEN bad_open
#else
#define BAD_OPEN NULL
#endif

#if BAD_SINK != BAD_NO_SYMBOL
JSCAN_API const struct jscan_sink_module jscan_sink_module = {
	.size = BAD_SINK == BAD_SIZE ? 16 : sizeof(struct jscan_sink_module),
	.version = BAD_SINK == BAD_VERSION ? 2 : JSCAN_SINK_MODULE_VERSION,
	.name = "bad",
	.open = BAD_OPEN,
};
#else
JSCAN_API int bad_sink;
JSCAN_API int bad_sink = 1;
#endif
