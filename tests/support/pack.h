/* SPDX-License-Identifier: MIT */
/* Whole files compressed, as archives keep them: the other side of formats/packed/. */
#ifndef TESTS_SUPPORT_PACK_H
#define TESTS_SUPPORT_PACK_H

#include "formats/packed/packed.h"

/* Whether this build can compress that way. */
bool pack_can(enum packed_kind kind);

/* One stream that unpacks to DATA. The caller frees it. */
uint8_t *pack(enum packed_kind kind, const void *data, size_t size, size_t *ret_size);

/* Two buffers in one. The caller frees it. */
uint8_t *pack_join(const void *a, size_t a_size, const void *b, size_t b_size, size_t *ret_size);

#endif
