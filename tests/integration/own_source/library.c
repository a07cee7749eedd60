/* SPDX-License-Identifier: Apache-2.0 */
/* A library with the name of an I/O library, and layers of its own above the system call. */
#include <unistd.h>

#include "library.h"

__attribute__((noinline)) static long flush_chunk(int fd, const void *data, unsigned long bytes)
{
    long result = pwrite(fd, data, bytes, 0);
    __asm__ volatile("" : "+r"(result));
    return result;
}

__attribute__((noinline)) static long select_chunk(int fd, const void *data, unsigned long bytes)
{
    long result = flush_chunk(fd, data, bytes);
    __asm__ volatile("" : "+r"(result));
    return result;
}

long H5Dwrite(int fd, const void *data, unsigned long bytes)
{
    long result = select_chunk(fd, data, bytes);
    __asm__ volatile("" : "+r"(result));
    return result;
}
