/* SPDX-License-Identifier: Apache-2.0 */
/*
 * May a pointer be followed that the kernel has not judged yet? What it would refuse with EFAULT
 * must not end the program by us. Signal safe, thread safe, errno untouched.
 */
#ifndef WIO_CAPTURE_CORE_ADDRESS_H
#define WIO_CAPTURE_CORE_ADDRESS_H

#include <stdbool.h>
#include <stdint.h>
#include <string.h>

#include "capture/core/raw.h"

#define CAP_LOWEST_ADDRESS 4096u
#define CAP_PAGE_MASK (~(uint64_t)4095) /* no page is smaller */

/* Can there be memory of a program at all: not NULL, a small number, or -1? Free of cost. */
static inline bool cap_is_address(uint64_t address)
{
    return address >= CAP_LOWEST_ADDRESS && address <= INT64_MAX;
}

/*
 * Is memory there? The kernel reads a signal mask from it before it sees that nothing can be done
 * with one: a system call that looks up nothing. Where we may make none, a guess.
 */
static inline bool cap_is_mapped(uint64_t address)
{
    const long no_way = -1;
    return cap_is_address(address) &&
           (__atomic_load_n(&cap_is_confined, __ATOMIC_RELAXED) ||
            raw_call4(SYS_rt_sigprocmask, no_way, (long)(address & ~7ull), 0, 8) != -EFAULT);
}

/* The same for many addresses that lie close together: *page is 0 at first, and remembers. */
static inline bool cap_is_mapped_near(uint64_t address, uint64_t *page)
{
    if (cap_is_address(address) && (address & CAP_PAGE_MASK) == *page) {
        return true;
    }
    *page = cap_is_mapped(address) ? address & CAP_PAGE_MASK : 0;
    return *page != 0;
}

/* Bytes of a text up to its end, which is less than `room` bytes away, or UINT64_MAX: none is
 * there, or it runs into memory that is not. A system call for each page that it touches. */
static inline uint64_t cap_text_bytes(uint64_t address, uint64_t room)
{
    uint64_t bytes = 0;
    while (bytes < room && cap_is_mapped(address + bytes)) {
        uint64_t at = address + bytes;
        uint64_t in_page = (at | ~CAP_PAGE_MASK) + 1 - at;
        uint64_t part = room - bytes < in_page ? room - bytes : in_page;
        uint64_t found = strnlen((const char *)(uintptr_t)at, part);
        bytes += found;
        if (found < part) {
            return bytes;
        }
    }
    return UINT64_MAX;
}

#endif
