/* SPDX-License-Identifier: Apache-2.0 */
#include "tracer/memory.h"

#include <limits.h>
#include <string.h>
#include <sys/uio.h>

#include <whyio/event.h>

#define PAGE 4096u

bool tracer_memory_read(int32_t tid, uint64_t address, void *out, size_t size)
{
    const struct iovec here = {out, size};
    const struct iovec there = {(void *)(uintptr_t)address, size};
    return address != 0 && process_vm_readv(tid, &here, 1, &there, 1, 0) == (ssize_t)size;
}

/* Page by page: the one behind the text may not be there. */
long tracer_memory_text(int32_t tid, uint64_t address, char *out, size_t size)
{
    size_t used = 0;
    while (used + 1 < size) {
        const uint64_t at = address + used;
        size_t part = PAGE - (size_t)(at % PAGE);
        part = part < size - 1 - used ? part : size - 1 - used;
        if (!tracer_memory_read(tid, at, out + used, part)) {
            return -1;
        }
        const char *end = memchr(out + used, '\0', part);
        if (end != NULL) {
            return end - out;
        }
        used += part;
    }
    return -1;
}

uint64_t tracer_memory_vector(int32_t tid, uint64_t address, uint64_t count)
{
    struct iovec items[64];
    uint64_t bytes = 0;
    if (count > IOV_MAX) {
        return WIO_NO_SIZE;
    }
    for (uint64_t done = 0; done < count;) {
        const uint64_t left = count - done;
        const size_t part = left < 64 ? (size_t)left : 64;
        if (!tracer_memory_read(tid, address + done * sizeof(*items), items,
                                part * sizeof(*items))) {
            return WIO_NO_SIZE;
        }
        for (size_t i = 0; i < part; i++) {
            bytes += items[i].iov_len;
        }
        done += part;
    }
    return bytes;
}
