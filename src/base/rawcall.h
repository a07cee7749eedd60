/* SPDX-License-Identifier: Apache-2.0 */
/*
 * System calls without libc. The capture library wraps open, read, close and even syscall: what
 * must not be recorded, and what runs before libc is ready, goes this way. Signal safe; does not
 * touch errno: the result is the kernel's own, -errno on failure.
 */
#ifndef WIO_BASE_RAWCALL_H
#define WIO_BASE_RAWCALL_H

#include <sys/syscall.h>

#if defined(__x86_64__)

/* NOLINTNEXTLINE(readability-function-size): as many as the kernel takes */
static inline long wio_rawcall6(long number, long a, long b, long c, long d, long e, long f)
{
    register long r10 __asm__("r10") = d;
    register long r8 __asm__("r8") = e;
    register long r9 __asm__("r9") = f;
    long result;
    __asm__ volatile("syscall"
                     : "=a"(result)
                     : "a"(number), "D"(a), "S"(b), "d"(c), "r"(r10), "r"(r8), "r"(r9)
                     : "rcx", "r11", "memory");
    return result;
}

#elif defined(__aarch64__)

/* NOLINTNEXTLINE(readability-function-size): as many as the kernel takes */
static inline long wio_rawcall6(long number, long a, long b, long c, long d, long e, long f)
{
    register long x8 __asm__("x8") = number;
    register long x0 __asm__("x0") = a;
    register long x1 __asm__("x1") = b;
    register long x2 __asm__("x2") = c;
    register long x3 __asm__("x3") = d;
    register long x4 __asm__("x4") = e;
    register long x5 __asm__("x5") = f;
    __asm__ volatile("svc 0"
                     : "+r"(x0)
                     : "r"(x8), "r"(x1), "r"(x2), "r"(x3), "r"(x4), "r"(x5)
                     : "memory");
    return x0;
}

#else
#error "base/rawcall.h: write the system call instruction of this machine"
#endif

static inline long wio_rawcall3(long number, long a, long b, long c)
{
    return wio_rawcall6(number, a, b, c, 0, 0, 0);
}

static inline long wio_rawcall4(long number, long a, long b, long c, long d)
{
    return wio_rawcall6(number, a, b, c, d, 0, 0);
}

#endif
