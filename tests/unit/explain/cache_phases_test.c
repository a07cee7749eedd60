/* SPDX-License-Identifier: Apache-2.0 */
/* Stretches of a run by the state of the page cache. */
#include "support/unit.h"

#include "explain/cache_phases.h"

static struct wio_cache_phases phases;

static int begin(void **state)
{
    (void)state;
    phases = (struct wio_cache_phases){.count = 0};
    return 0;
}

static void add(enum wio_model_state state, double end_s, double cost_s, double dirty)
{
    const struct wio_model_result result = {
        .cost_s = cost_s, .dirty_bytes = dirty, .time_s = end_s, .state = state};
    wio_cache_phases_add(&phases, &result);
}

static void writes_of_a_state_are_one_phase(void **state)
{
    (void)state;
    add(WIO_MODEL_STATE_FREE, 1, 0.5, 10);
    add(WIO_MODEL_STATE_NONE, 2, 0.5, 99); /* a read */
    add(WIO_MODEL_STATE_FREE, 3, 0.25, 20);
    add(WIO_MODEL_STATE_THROTTLE, 5, 2, 30);
    assert_int_equal(phases.count, 2);
    assert_true(phases.items[0].state == WIO_MODEL_STATE_FREE);
    assert_true(phases.items[0].begin_s == 0.5 && phases.items[0].end_s == 3);
    assert_int_equal(phases.items[0].writes, 2);
    assert_true(phases.items[0].io_s == 0.75);
    assert_true(phases.items[0].dirty_bytes == 20);
    assert_true(phases.items[1].state == WIO_MODEL_STATE_THROTTLE);
    assert_true(phases.items[1].begin_s == 3 && phases.items[1].end_s == 5);
}

static void short_phases_go_into_the_one_before(void **state)
{
    (void)state;
    add(WIO_MODEL_STATE_FREE, 10, 10, 1);
    add(WIO_MODEL_STATE_THROTTLE, 10.01, 0.01, 2);
    add(WIO_MODEL_STATE_FREE, 20, 9, 3);
    add(WIO_MODEL_STATE_ASYNC, 40, 20, 4);
    wio_cache_phases_smooth(&phases, 1);
    assert_int_equal(phases.count, 2);
    assert_true(phases.items[0].state == WIO_MODEL_STATE_FREE);
    assert_int_equal(phases.items[0].writes, 3);
    assert_true(phases.items[0].end_s == 20);
    assert_true(phases.items[1].state == WIO_MODEL_STATE_ASYNC);
}

static void a_short_first_one_goes_into_the_next(void **state)
{
    (void)state;
    add(WIO_MODEL_STATE_FREE, 0.01, 0.01, 1);
    add(WIO_MODEL_STATE_THROTTLE, 10, 9, 2);
    wio_cache_phases_smooth(&phases, 1);
    assert_int_equal(phases.count, 1);
    assert_true(phases.items[0].state == WIO_MODEL_STATE_THROTTLE);
    assert_true(phases.items[0].begin_s == 0);
    assert_int_equal(phases.items[0].writes, 2);
}

/* Nothing is lost where there are too many: all writes stay, in order. */
static void many_phases_stay_bounded(void **state)
{
    (void)state;
    uint64_t writes = 0;
    for (unsigned i = 0; i < 10000; i++) {
        add(i % 2 == 0 ? WIO_MODEL_STATE_FREE : WIO_MODEL_STATE_THROTTLE, i + 1.0 + i % 7 / 10.0,
            0.5, i);
        assert_true(phases.count <= WIO_CACHE_PHASES);
    }
    for (uint32_t i = 0; i < phases.count; i++) {
        writes += phases.items[i].writes;
        assert_true(i == 0 || phases.items[i].state != phases.items[i - 1].state);
        assert_true(i == 0 || phases.items[i].end_s >= phases.items[i - 1].end_s);
    }
    assert_int_equal(writes, 10000);
}

#define TEST(function) cmocka_unit_test_setup(function, begin)

int main(void)
{
    static const struct CMUnitTest tests[] = {
        TEST(writes_of_a_state_are_one_phase),
        TEST(short_phases_go_into_the_one_before),
        TEST(a_short_first_one_goes_into_the_next),
        TEST(many_phases_stay_bounded),
    };
    return WIO_RUN(tests);
}
