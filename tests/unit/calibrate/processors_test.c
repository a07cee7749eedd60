/* SPDX-License-Identifier: Apache-2.0 */
#include "support/unit.h"

#include "calibrate/processors.h"

#define TURNS 8

/* All that are used get as many turns, two in a row. */
static void turns_are_fair(void **state)
{
    (void)state;
    struct wio_processors processors = wio_processors_of_thread();
    size_t turns[TURNS] = {0};
    size_t used = 0;
    for (size_t turn = 0; turn < TURNS; turn++) {
        size_t which = wio_processors_settle(&processors, turn, TURNS);
        assert_true(which < TURNS);
        assert_int_equal(which, wio_processors_settle(&processors, turn / 2 * 2, TURNS));
        used += turns[which]++ == 0;
    }
    for (size_t i = 0; i < used; i++) {
        assert_int_equal(turns[i], TURNS / used);
    }
}

/* It is as free afterwards as before. */
static void ties_nobody(void **state)
{
    (void)state;
    struct wio_processors processors = wio_processors_of_thread();
    cpu_set_t now;
    for (size_t turn = 0; turn < TURNS; turn++) {
        (void)wio_processors_settle(&processors, turn, TURNS);
        assert_int_equal(sched_getaffinity(0, sizeof(now), &now), 0);
        assert_true(CPU_EQUAL(&now, &processors.allowed));
    }
}

/* Of many processors those far from each other; of three no more than two. */
static void spreads_over_many(void **state)
{
    (void)state;
    struct wio_processors processors = {.count = 3};
    for (size_t i = 0; i < 3; i++) {
        CPU_SET(1000 + i, &processors.allowed); /* of another machine: refused */
    }
    for (size_t turn = 0; turn < TURNS; turn++) {
        assert_int_equal(wio_processors_settle(&processors, turn, TURNS), turn / 2 % 2);
    }
    processors.count = 1;
    assert_int_equal(wio_processors_settle(&processors, 7, TURNS), 0);
    processors.count = 0;
    assert_int_equal(wio_processors_settle(&processors, 7, TURNS), 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(turns_are_fair),
        cmocka_unit_test(ties_nobody),
        cmocka_unit_test(spreads_over_many),
    };
    return WIO_RUN(tests);
}
