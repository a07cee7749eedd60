/* SPDX-License-Identifier: Apache-2.0 */
/* Ticks -> ns: R-RING-2. */
#include "seal/ticks.h"

#include <stdlib.h>

#include "support/unit.h"

/* A counter of 2.5 GHz that started at 1,000,000 when the clock said 7 s. */
static uint64_t ticks_at(uint64_t ns)
{
    return 1000000 + (ns - 7000000000ull) / 2 * 5;
}

static void assert_near(uint64_t got, uint64_t want, uint64_t within)
{
    uint64_t distance = got > want ? got - want : want - got;
    if (distance > within) {
        fail_msg("%llu is %llu ns from %llu", (unsigned long long)got, (unsigned long long)distance,
                 (unsigned long long)want);
    }
}

static void nanoseconds_stay(void **state)
{
    (void)state;
    struct wio_ticks ticks = {.is_ns = 1};
    wio_ticks_ready(&ticks, 0.4);
    assert_int_equal(wio_ticks_to_ns(&ticks, 12345), 12345);
    assert_int_equal(wio_ticks_length(&ticks, 77), 77);
    wio_ticks_fini(&ticks);
}

static void pairs_are_interpolated(void **state)
{
    (void)state;
    struct wio_ticks ticks = {0};
    for (uint64_t ns = 7000000000ull; ns <= 9000000000ull; ns += 100000000) {
        assert_int_equal(wio_ticks_add(&ticks, ticks_at(ns), ns), WIO_OK);
    }
    wio_ticks_ready(&ticks, 0);
    for (uint64_t ns = 6900000000ull; ns < 9500000000ull; ns += 12345678) {
        assert_near(wio_ticks_to_ns(&ticks, 1000000 + (ns - 6900000000ull) / 2 * 5), ns + 100000000,
                    10);
    }
    assert_near(wio_ticks_length(&ticks, 2500), 1000, 1);
    wio_ticks_fini(&ticks);
}

/* The thread lost the CPU for 20 ms between the two clocks of one pair. */
static void interrupted_pair_is_left_out(void **state)
{
    (void)state;
    struct wio_ticks ticks = {0};
    for (uint64_t i = 0; i <= 20; i++) {
        uint64_t ns = 7000000000ull + i * 100000000;
        assert_int_equal(wio_ticks_add(&ticks, ticks_at(ns), ns + (i == 9 ? 20000000 : 0)), WIO_OK);
    }
    wio_ticks_ready(&ticks, 0);
    assert_near(wio_ticks_to_ns(&ticks, ticks_at(7900000000ull)), 7900000000ull, 100);
    assert_near(wio_ticks_to_ns(&ticks, ticks_at(7950000000ull)), 7950000000ull, 100);
    wio_ticks_fini(&ticks);
}

/* Two pairs 20 us apart say nothing of the rate: that of the machine serves. */
static void rate_of_the_machine_serves(void **state)
{
    (void)state;
    struct wio_ticks ticks = {0};
    assert_int_equal(wio_ticks_add(&ticks, ticks_at(7000000000ull), 7000000000ull), WIO_OK);
    assert_int_equal(wio_ticks_add(&ticks, ticks_at(7000020000ull), 7000021000ull), WIO_OK);
    wio_ticks_ready(&ticks, 0.4);
    assert_near(wio_ticks_to_ns(&ticks, ticks_at(17000000000ull)), 17000000000ull, 2000);
    wio_ticks_fini(&ticks);
}

/* Whatever a damaged ring says: no crash, and nothing that runs backwards out of the pairs. */
static void nonsense_ends(void **state)
{
    (void)state;
    uint64_t seed = 5;
    for (unsigned round = 0; round < 200; round++) {
        struct wio_ticks ticks = {0};
        for (unsigned i = 0; i < round % 7; i++) {
            uint64_t at = wio_test_random(&seed) >> round % 64;
            assert_int_equal(wio_ticks_add(&ticks, at, wio_test_random(&seed)), WIO_OK);
        }
        wio_ticks_ready(&ticks, round % 2 == 0 ? 0 : 0.4);
        for (unsigned i = 0; i < 20; i++) {
            (void)wio_ticks_to_ns(&ticks, wio_test_random(&seed));
        }
        wio_ticks_fini(&ticks);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(nanoseconds_stay),
        cmocka_unit_test(pairs_are_interpolated),
        cmocka_unit_test(interrupted_pair_is_left_out),
        cmocka_unit_test(rate_of_the_machine_serves),
        cmocka_unit_test(nonsense_ends),
    };
    return WIO_RUN(tests);
}
