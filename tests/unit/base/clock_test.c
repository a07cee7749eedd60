/* SPDX-License-Identifier: Apache-2.0 */
#include "support/unit.h"

#include <fcntl.h>
#include <sys/auxv.h>
#include <time.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/rawcall.h"
#include "base/vdso.h"

/* As a library that is preloaded to change the time has them: they stand before libc's. */
static int asked;
int clock_gettime(clockid_t clock, struct timespec *now)
{
    (void)clock;
    *now = (struct timespec){.tv_sec = 9 + asked++};
    return 0;
}

int clock_nanosleep(clockid_t clock, int flags, const struct timespec *time, struct timespec *rest)
{
    (void)clock, (void)flags, (void)time, (void)rest;
    asked++;
    return 0;
}

static void clocks_are_the_kernels_own(void **state)
{
    (void)state;
    struct timespec now = {0};
    asked = 0; /* by others than us */
    uint64_t mono_ns = wio_clock_mono_ns();
    assert_int_equal(wio_rawcall3(SYS_clock_gettime, CLOCK_MONOTONIC, (long)&now, 0), 0);
    uint64_t kernel_ns = (uint64_t)now.tv_sec * 1000000000 + (uint64_t)now.tv_nsec;
    assert_true(mono_ns <= kernel_ns && kernel_ns - mono_ns < UINT64_C(60000000000));
    wio_clock_sleep_ns(1000);
    assert_true(wio_clock_mono_ns() >= kernel_ns + 1000);
    assert_int_equal(asked, 0);
}

/* A system call for each event would cost as much as the event. */
static void the_kernel_maps_a_clock(void **state)
{
    (void)state;
    static const char *const names[] = {"no_such_function", "__vdso_clock_gettime",
                                        "__kernel_clock_gettime", NULL};
    static const char *const none[] = {"no_such_function", NULL};
    assert_null(wio_vdso_find(none));
    if (getauxval(AT_SYSINFO_EHDR) != 0) {
        assert_non_null(wio_vdso_find(names));
    }
}

static void clocks_go_forward(void **state)
{
    (void)state;
    uint64_t mono = wio_clock_mono_ns();
    uint64_t unix_ns = wio_clock_unix_ns();
    wio_clock_sleep_ns(2000000);
    assert_true(wio_clock_mono_ns() - mono >= 2000000);
    assert_true(unix_ns / 1000000000 > 1700000000); /* after 2023 */
    /* time() may be a tick behind. */
    assert_true((uint64_t)time(NULL) + 1 - unix_ns / 1000000000 < 60);
}

static void the_answer_about_the_tsc_is_steady(void **state)
{
    (void)state;
    bool first = wio_clock_has_tsc();
    for (int i = 0; i < 10; i++) {
        assert_int_equal(wio_clock_has_tsc(), first);
    }
#if defined(__x86_64__)
    uint64_t before = wio_clock_tsc();
    wio_clock_sleep_ns(1000000);
    assert_true(!first || wio_clock_tsc() > before);
#endif
}

static void raw_calls_give_the_kernels_answer(void **state)
{
    (void)state;
    assert_int_equal(wio_rawcall3(SYS_getpid, 0, 0, 0), getpid());
    assert_int_equal(wio_rawcall3(SYS_close, -1, 0, 0), -9); /* EBADF, not through errno */
    long fd = wio_rawcall4(SYS_openat, AT_FDCWD, (long)"/dev/null", O_WRONLY | O_CLOEXEC, 0);
    assert_true(fd >= 0);
    assert_int_equal(wio_rawcall6(SYS_pwrite64, fd, (long)"abc", 3, 0, 0, 0), 3);
    assert_int_equal(wio_rawcall3(SYS_close, fd, 0, 0), 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(clocks_are_the_kernels_own),
        cmocka_unit_test(the_kernel_maps_a_clock),
        cmocka_unit_test(clocks_go_forward),
        cmocka_unit_test(the_answer_about_the_tsc_is_steady),
        cmocka_unit_test(raw_calls_give_the_kernels_answer),
    };
    return WIO_RUN(tests);
}
