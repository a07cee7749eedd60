/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What the processor can do. glibc asks it at the start of each program anyway: its notes are used,
 * since each cpuid instruction in a virtual machine is a trap of many microseconds. Signal safe,
 * thread safe.
 */
#ifndef WIO_BASE_CPU_H
#define WIO_BASE_CPU_H

#if defined(__x86_64__)

#include <features.h>
#include <stdbool.h>

#if defined(__GLIBC__) && __GLIBC_PREREQ(2, 33)

#include <sys/platform/x86.h>

static inline bool wio_cpu_has_crc32(void)
{
    return CPU_FEATURE_ACTIVE(SSE4_2);
}

static inline bool wio_cpu_has_invariant_tsc(void)
{
    return CPU_FEATURE_PRESENT(INVARIANT_TSC);
}

#else

#include <cpuid.h>

/* Before the constructor of libgcc has looked at the processor this says no. */
static inline bool wio_cpu_has_crc32(void)
{
    return __builtin_cpu_supports("sse4.2");
}

static inline bool wio_cpu_has_invariant_tsc(void)
{
    unsigned a = 0;
    unsigned b = 0;
    unsigned c = 0;
    unsigned d = 0;
    return __get_cpuid(0x80000007u, &a, &b, &c, &d) != 0 && (d & 1u << 8) != 0;
}

#endif
#endif
#endif
