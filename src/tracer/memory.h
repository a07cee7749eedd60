/* SPDX-License-Identifier: Apache-2.0 */
/* Reading the memory of a traced thread: whatever is there, nothing is trusted. */
#ifndef WIO_TRACER_MEMORY_H
#define WIO_TRACER_MEMORY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Exactly `size` bytes; false where some of them cannot be read. */
bool tracer_memory_read(int32_t tid, uint64_t address, void *out, size_t size);
/* A text up to its NUL, which is put behind it, at most size - 1 bytes; its length, or -1 where it
 * cannot be read or is longer. */
long tracer_memory_text(int32_t tid, uint64_t address, char *out, size_t size);
/* The sum of the lengths of a vector of struct iovec; WIO_NO_SIZE where it cannot be read. */
uint64_t tracer_memory_vector(int32_t tid, uint64_t address, uint64_t count);

#endif
