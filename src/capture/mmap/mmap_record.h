/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Calls on memory maps, recorded and made by a function that is given: libc's (mmap.c) or the
 * kernel's (mmap_numbers.c). Results and errno are that function's. Signal safe, thread safe.
 */
#ifndef WIO_CAPTURE_MMAP_MMAP_RECORD_H
#define WIO_CAPTURE_MMAP_MMAP_RECORD_H

#include <stddef.h>
#include <sys/types.h>

#include "capture/core/capture.h"

typedef void *cap_mmap_fn(void *, size_t, int, int, int, off_t);
typedef void *cap_mremap_fn(void *, size_t, size_t, int, ...);
typedef int cap_munmap_fn(void *, size_t);
typedef int cap_madvise_fn(void *, size_t, int);
typedef int cap_msync_fn(void *, size_t, int);

struct cap_mapping {
    void *address;
    size_t size;
    int protection;
    int flags;
    int fd;
    off_t offset;
};

struct cap_remapping {
    void *address;
    size_t size;
    size_t new_size;
    int flags;
    void *wanted; /* NULL where MREMAP_FIXED is not given */
};

void *cap_record_mmap(uintptr_t source, unsigned call, cap_mmap_fn *real,
                      struct cap_mapping map) CAP_HIDDEN;
int cap_record_munmap(uintptr_t source, cap_munmap_fn *real, void *address, size_t size) CAP_HIDDEN;
int cap_record_msync(uintptr_t source, cap_msync_fn *real, void *address, size_t size,
                     int flags) CAP_HIDDEN;
int cap_record_madvise(uintptr_t source, cap_madvise_fn *real, void *address, size_t size,
                       int advice) CAP_HIDDEN;
void *cap_record_mremap(uintptr_t source, cap_mremap_fn *real,
                        const struct cap_remapping *re) CAP_HIDDEN;

#endif
