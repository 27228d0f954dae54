/* SPDX-License-Identifier: MIT */
/* A message catalog in memory. */
#ifndef ENGINE_CATALOG_H
#define ENGINE_CATALOG_H

#include "formats/catalog/catalog.h"
#include "jscan.h"

struct jscan_catalog {
	char *path;     /* owned, like ... */
	uint8_t *bytes; /* ... the database */
	struct catalog catalog;
};

#endif
