/* SPDX-License-Identifier: Apache-2.0 */
/*
 * mmap and its like by number: the kernel instead of libc.
 *
 * UCX, which MPICH uses, overwrites the beginning of mmap, munmap, mremap and madvise, as it finds
 * them by name - ours of mmap.c - with jumps into itself, and makes the call by syscall(). So calls
 * by number must not come here by these names.
 */
#include "capture/mmap/mmap_numbers.h"

#include <stdarg.h>
#include <sys/mman.h>

#include "base/rawcall.h"
#include "capture/mmap/mmap_record.h"

static long libc_result(long result)
{
    if (result < 0 && result > -4096) {
        errno = (int)-result;
        return -1;
    }
    return result;
}

static void *kernel_mmap(void *address, size_t size, int protection, int flags, int fd,
                         off_t offset)
{
    return (void *)libc_result(
        wio_rawcall6(SYS_mmap, (long)address, (long)size, protection, flags, fd, offset));
}

static int kernel_munmap(void *address, size_t size)
{
    return (int)libc_result(wio_rawcall6(SYS_munmap, (long)address, (long)size, 0, 0, 0, 0));
}

static void *kernel_mremap(void *address, size_t size, size_t new_size, int flags, ...)
{
    va_list args;
    va_start(args, flags);
    long wanted = (long)va_arg(args, void *);
    va_end(args);
    return (void *)libc_result(
        wio_rawcall6(SYS_mremap, (long)address, (long)size, (long)new_size, flags, wanted, 0));
}

static int kernel_msync(void *address, size_t size, int flags)
{
    return (int)libc_result(wio_rawcall6(SYS_msync, (long)address, (long)size, flags, 0, 0, 0));
}

static int kernel_madvise(void *address, size_t size, int advice)
{
    return (int)libc_result(wio_rawcall6(SYS_madvise, (long)address, (long)size, advice, 0, 0, 0));
}

void *cap_number_mmap(void *address, size_t size, int protection, int flags, int fd, off_t offset)
{
    return cap_record_mmap(CAP_CALLER(), WIO_CALL_mmap, kernel_mmap,
                           (struct cap_mapping){address, size, protection, flags, fd, offset});
}

long cap_number_munmap(void *address, size_t size)
{
    return cap_record_munmap(CAP_CALLER(), kernel_munmap, address, size);
}

void *cap_number_mremap(void *address, size_t size, size_t new_size, int flags, void *wanted)
{
    const struct cap_remapping re = {address, size, new_size, flags, wanted};
    return cap_record_mremap(CAP_CALLER(), kernel_mremap, &re);
}

long cap_number_madvise(void *address, size_t size, int advice)
{
    return cap_record_madvise(CAP_CALLER(), kernel_madvise, address, size, advice);
}

long cap_number_msync(void *address, size_t size, int flags)
{
    return cap_record_msync(CAP_CALLER(), kernel_msync, address, size, flags);
}
