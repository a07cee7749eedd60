/* SPDX-License-Identifier: Apache-2.0 */
/*
 * mmap and its like as syscall(2) calls them: recorded like the functions of that name, but made
 * by the kernel directly, and not found by name (mmap_numbers.c says why). They give the result and
 * errno of libc's functions, as wide as syscall(2) gives it. Signal safe, thread safe.
 */
#ifndef WIO_CAPTURE_MMAP_MMAP_NUMBERS_H
#define WIO_CAPTURE_MMAP_MMAP_NUMBERS_H

#include <stddef.h>
#include <sys/types.h>

#include "capture/core/capture.h"

CAP_HIDDEN void *cap_number_mmap(void *address, size_t size, int protection, int flags, int fd,
                                 off_t offset);
CAP_HIDDEN long cap_number_munmap(void *address, size_t size);
CAP_HIDDEN void *cap_number_mremap(void *address, size_t size, size_t new_size, int flags,
                                   void *wanted);
CAP_HIDDEN long cap_number_madvise(void *address, size_t size, int advice);
CAP_HIDDEN long cap_number_msync(void *address, size_t size, int flags);

#endif
