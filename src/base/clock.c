/* SPDX-License-Identifier: Apache-2.0 */
#include "base/clock.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <time.h>

#include "base/cpu.h"
#include "base/rawcall.h"
#include "base/vdso.h"

#define NS_PER_S 1000000000ull

typedef int clock_fn(clockid_t clock, struct timespec *now);

/* Without the kernel's function, or before it is looked for. */
static int ask_kernel(clockid_t clock, struct timespec *now)
{
    return (int)wio_rawcall3(SYS_clock_gettime, clock, (long)now, 0);
}

/* The kernel's own function: a library that is preloaded to change the time (libfaketime) has
 * another one of libc's name. */
static clock_fn *find_clock(void)
{
    static const char *const names[] = {"__vdso_clock_gettime", "__kernel_clock_gettime", NULL};
    clock_fn *function = ask_kernel;
    void *found = wio_vdso_find(names);
    if (found != NULL) {
        memcpy(&function, &found, sizeof(function)); /* POSIX promises what ISO C does not */
    }
    return function;
}

static uint64_t now_ns(clockid_t clock)
{
    static clock_fn *known; /* atomic; the same for each thread that looks */
    clock_fn *function = __atomic_load_n(&known, __ATOMIC_RELAXED);
    if (function == NULL) {
        function = find_clock();
        __atomic_store_n(&known, function, __ATOMIC_RELAXED);
    }
    struct timespec now = {0};
    (void)function(clock, &now); /* cannot fail for these clocks and a valid address */
    return (uint64_t)now.tv_sec * NS_PER_S + (uint64_t)now.tv_nsec;
}

uint64_t wio_clock_mono_ns(void)
{
    return now_ns(CLOCK_MONOTONIC);
}

uint64_t wio_clock_unix_ns(void)
{
    return now_ns(CLOCK_REALTIME);
}

#if defined(__x86_64__)

/* The kernel watches its clock source: where it gave up the TSC, so do we. */
static bool is_tsc_clock_source(void)
{
    static const char path[] = "/sys/devices/system/clocksource/clocksource0/current_clocksource";
    char name[16] = {0};
    long fd = wio_rawcall4(SYS_openat, AT_FDCWD, (long)path, O_RDONLY | O_CLOEXEC, 0);
    if (fd < 0) {
        return false;
    }
    long got = wio_rawcall3(SYS_read, fd, (long)name, (long)sizeof(name) - 1);
    (void)wio_rawcall3(SYS_close, fd, 0, 0);
    return got == 4 && memcmp(name, "tsc\n", 4) == 0;
}

bool wio_clock_has_tsc(void)
{
    return wio_cpu_has_invariant_tsc() && is_tsc_clock_source();
}

#else

bool wio_clock_has_tsc(void)
{
    return false;
}

#endif

void wio_clock_sleep_ns(uint64_t ns)
{
    struct timespec until = {0};
    uint64_t end = wio_clock_mono_ns() + ns;
    until.tv_sec = (time_t)(end / NS_PER_S);
    until.tv_nsec = (long)(end % NS_PER_S);
    while (wio_rawcall4(SYS_clock_nanosleep, CLOCK_MONOTONIC, TIMER_ABSTIME, (long)&until, 0) ==
           -EINTR) {
    }
}
