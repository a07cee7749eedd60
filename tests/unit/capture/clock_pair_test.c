/* SPDX-License-Identifier: Apache-2.0 */
/* Two clocks of one moment, also where the CPU is lost between them. */
#include <errno.h>

#include "support/traced.h"
#include "support/unit.h"

#include "capture/core/process.h"

#define LOST_NS 50000000u

uint64_t __real_wio_clock_mono_ns(void);
uint64_t __wrap_wio_clock_mono_ns(void);

static unsigned calls;
static unsigned calls_to_lose; /* the CPU behind so many calls from now on */
static uint64_t lost_at;       /* what the last of those said */

uint64_t __wrap_wio_clock_mono_ns(void)
{
    uint64_t now = __real_wio_clock_mono_ns();
    calls++;
    if (calls_to_lose > 0) {
        calls_to_lose--;
        lost_at = now;
        while (__real_wio_clock_mono_ns() - now < LOST_NS) {
        }
        errno = EIO;
    }
    return now;
}

static void lose(unsigned times)
{
    calls = 0;
    calls_to_lose = times;
}

static void a_lost_pair_does_not_count(void **state)
{
    (void)state;
    errno = ENOENT;
    lose(2);
    struct cap_moment moment = cap_moment_now();
    assert_true(calls >= 3);
    assert_true(moment.mono_ns >= lost_at + LOST_NS);
    assert_int_equal(errno, ENOENT);
}

static void clock_records_have_close_pairs(void **state)
{
    (void)state;
    assert_non_null(cap_enter((uintptr_t)lose, WIO_CALL_pwrite));
    lose(1);
    cap_clock_record(cap_self, 1);
    assert_true(cap_process.header->end_mono_ns >= lost_at + LOST_NS);
}

static void ends_have_close_pairs(void **state)
{
    (void)state;
    lose(1);
    cap_mark_end(WIO_END_EXEC, 0);
    assert_true(cap_process.header->end_mono_ns >= lost_at + LOST_NS);
}

int main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_lost_pair_does_not_count),
        cmocka_unit_test(clock_records_have_close_pairs),
        cmocka_unit_test(ends_have_close_pairs),
    };
    (void)argc;
    return wio_is_traced() ? WIO_RUN(tests) : wio_run_traced(argv);
}
