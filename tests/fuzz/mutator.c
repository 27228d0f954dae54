/* SPDX-License-Identifier: MIT */
/* For libFuzzer: every other mutation is its own, the rest are lies told by those who know the
 * format. */
#include "tests/fuzz/fuzz.h"

size_t LLVMFuzzerMutate(uint8_t *bytes, size_t size, size_t size_max);
size_t LLVMFuzzerCustomMutator(uint8_t *bytes, size_t size, size_t size_max, unsigned seed);

/* libFuzzer's hook. */
size_t LLVMFuzzerCustomMutator(uint8_t *bytes, size_t size, size_t size_max, unsigned seed)
{
	if (seed % 2 || size == 0)
		return LLVMFuzzerMutate(bytes, size, size_max);
	fuzz_mutate(bytes, size, seed);
	return size;
}
