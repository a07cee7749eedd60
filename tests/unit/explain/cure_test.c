/* SPDX-License-Identifier: Apache-2.0 */
/* Transaction Analysis: "Server contention may be alleviated by an alternative file layout scheme,
 * while data access conflicts may be alleviated by changing the access granularity used by the
 * application." */
#include "support/unit.h"

#include <string.h>

#include "explain/aborts/cure.h"

static struct wio_exact_pair pair_of(enum wio_conflict most)
{
    struct wio_exact_pair pair = {.aborts = 5};
    for (unsigned kind = 0; kind < WIO_CONFLICTS; kind++) {
        pair.by_conflict[kind] = kind == (unsigned)most ? 3 : 1;
    }
    return pair;
}

static void contention_is_for_the_layout_and_conflicts_for_the_granularity(void **state)
{
    (void)state;
    static const enum wio_cure cures[WIO_CONFLICTS] = {
        [WIO_CONFLICT_DATA] = WIO_CURE_GRANULARITY, [WIO_CONFLICT_FALSE] = WIO_CURE_GRANULARITY,
        [WIO_CONFLICT_SIZE] = WIO_CURE_GRANULARITY, [WIO_CONFLICT_QUEUED] = WIO_CURE_LAYOUT,
        [WIO_CONFLICT_PREPARED] = WIO_CURE_LAYOUT,  [WIO_CONFLICT_DEAD] = WIO_CURE_GRANULARITY,
    };
    for (unsigned kind = 0; kind < WIO_CONFLICTS; kind++) {
        struct wio_exact_pair pair = pair_of((enum wio_conflict)kind);
        assert_int_equal(wio_cure_conflict(&pair), kind);
        assert_int_equal(wio_cure_of(&pair), cures[kind]);
    }
    assert_string_equal(wio_cure_name(WIO_CURE_LAYOUT), "layout");
    assert_string_equal(wio_cure_name(WIO_CURE_GRANULARITY), "granularity");
}

static void each_kind_has_advice_of_its_cure(void **state)
{
    (void)state;
    for (unsigned kind = 0; kind < WIO_CONFLICTS; kind++) {
        struct wio_exact_pair pair = pair_of((enum wio_conflict)kind);
        bool is_layout = strstr(wio_cure_text(&pair), "segments or servers") != NULL;
        assert_int_equal(is_layout, wio_cure_of(&pair) == WIO_CURE_LAYOUT);
    }
}

static void locks_held_while_thinking_are_for_an_earlier_commit(void **state)
{
    (void)state;
    struct wio_exact_pair pair = pair_of(WIO_CONFLICT_DATA);
    assert_non_null(strstr(wio_cure_text(&pair), "fewer bytes"));
    pair.wait_s = 1;
    pair.think_s = 0.6;
    assert_non_null(strstr(wio_cure_text(&pair), "commit before computing"));
    pair.deadlocks = 3; /* more than half of the aborts */
    assert_non_null(strstr(wio_cure_text(&pair), "in one order"));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(contention_is_for_the_layout_and_conflicts_for_the_granularity),
        cmocka_unit_test(each_kind_has_advice_of_its_cure),
        cmocka_unit_test(locks_held_while_thinking_are_for_an_earlier_commit),
    };
    return WIO_RUN(tests);
}
