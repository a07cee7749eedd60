/* SPDX-License-Identifier: Apache-2.0 */
#include "support/unit.h"

#include <fcntl.h>
#include <time.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/rawcall.h"

static void clocks_go_forward(void **state)
{
    (void)state;
    uint64_t mono = wio_clock_mono_ns();
    uint64_t unix_ns = wio_clock_unix_ns();
    wio_clock_sleep_ns(2000000);
    assert_true(wio_clock_mono_ns() - mono >= 2000000);
    assert_true(unix_ns / 1000000000 > 1700000000); /* after 2023 */
    assert_true((uint64_t)time(NULL) - unix_ns / 1000000000 < 60);
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
        cmocka_unit_test(clocks_go_forward),
        cmocka_unit_test(the_answer_about_the_tsc_is_steady),
        cmocka_unit_test(raw_calls_give_the_kernels_answer),
    };
    return WIO_RUN(tests);
}
