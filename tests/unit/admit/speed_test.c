/* SPDX-License-Identifier: Apache-2.0 */
#include "support/unit.h"

#include "admit/speed.h"

static struct wio_speed speed;

static void serve(unsigned count, uint64_t service_ns, uint8_t space, uint64_t *now_ns)
{
    for (unsigned i = 0; i < count; i++) {
        *now_ns += service_ns;
        struct wio_speed_sample sample = {
            .now_ns = *now_ns,
            .service_ns = service_ns,
            .estimate_ns = wio_speed_cost_ns(&speed, space, 2, 13),
            .operation = 2,
            .size_class = 13,
            .space = space,
            .is_backlogged = true,
        };
        wio_speed_learn(&speed, &sample);
    }
}

static void learns_by_operation_size_and_space(void **state)
{
    (void)state;
    wio_speed_init(&speed, 100000, 0, 1);
    assert_int_equal(wio_speed_cost_ns(&speed, 0, 2, 13), 100000);
    uint64_t now_ns = 0;
    serve(100, 30000, 0, &now_ns);
    assert_in_range(wio_speed_cost_ns(&speed, 0, 2, 13), 29900, 30100);
    assert_in_range(wio_speed_cost_ns(&speed, 0, 2, 20), 29900, 30100); /* another size: as all */
    serve(100, 90000, 3, &now_ns);
    assert_in_range(wio_speed_cost_ns(&speed, 0, 2, 13), 29900, 30100);
    assert_in_range(wio_speed_cost_ns(&speed, 3, 2, 13), 89000, 90100);
}

/* The wait of what was queued with old estimates is right long before the averages are. */
static void follows_a_jump(void **state)
{
    (void)state;
    wio_speed_init(&speed, 100000, 0, 1);
    uint64_t now_ns = 0;
    serve(200, 100000, 0, &now_ns);
    assert_in_range(wio_speed_wait_ns(&speed, 1000000), 950000, 1050000);
    for (unsigned i = 0; i < 20; i++) {
        now_ns += 1000000;
        struct wio_speed_sample sample = {
            .now_ns = now_ns, .service_ns = 1000000, .estimate_ns = 100000, .is_backlogged = true};
        wio_speed_learn(&speed, &sample);
    }
    assert_true(wio_speed_wait_ns(&speed, 1000000) > 4000000);
    serve(100, 1000000, 0, &now_ns);
    assert_in_range(wio_speed_cost_ns(&speed, 0, 2, 13), 990000, 1010000);
}

static void idle_time_is_no_slowness(void **state)
{
    (void)state;
    wio_speed_init(&speed, 100000, 0, 1);
    uint64_t now_ns = 0;
    serve(100, 100000, 0, &now_ns);
    for (unsigned i = 0; i < 100; i++) {
        now_ns += 50000000;
        struct wio_speed_sample sample = {
            .now_ns = now_ns, .service_ns = 100000, .estimate_ns = 100000, .is_backlogged = i == 0};
        wio_speed_learn(&speed, &sample);
        sample.is_backlogged = false;
        wio_speed_learn(&speed, &sample);
    }
    assert_true(wio_speed_wait_ns(&speed, 1000000) < 20000000);
}

static void a_constant_learns_nothing(void **state)
{
    (void)state;
    wio_speed_init(&speed, 100000, 20000, 1);
    uint64_t now_ns = 0;
    serve(100, 900000, 0, &now_ns);
    assert_int_equal(wio_speed_cost_ns(&speed, 0, 2, 13), 20000);
    assert_int_equal(wio_speed_wait_ns(&speed, 20000), 20000);
}

static void odd_times_do_no_harm(void **state)
{
    (void)state;
    wio_speed_init(&speed, 1, 0, 4);
    static const uint64_t times[] = {0, UINT64_MAX, 5, UINT64_MAX, 0};
    for (unsigned i = 0; i < 5; i++) {
        struct wio_speed_sample sample = {.now_ns = times[i],
                                          .service_ns = times[4 - i],
                                          .estimate_ns = UINT32_MAX,
                                          .is_backlogged = true};
        wio_speed_learn(&speed, &sample);
    }
    assert_true(speed.per_cost >= 0 && speed.per_cost < 1e12);
    assert_true(wio_speed_cost_ns(&speed, 0, 0, 0) >= 1);
}

static void sizes_are_classes_of_two(void **state)
{
    (void)state;
    assert_int_equal(wio_speed_size_class(0), 0);
    assert_int_equal(wio_speed_size_class(1), 1);
    assert_int_equal(wio_speed_size_class(4096), 13);
    assert_int_equal(wio_speed_size_class(UINT64_MAX), WIO_SPEED_SIZES - 1);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(learns_by_operation_size_and_space),
        cmocka_unit_test(follows_a_jump),
        cmocka_unit_test(idle_time_is_no_slowness),
        cmocka_unit_test(a_constant_learns_nothing),
        cmocka_unit_test(odd_times_do_no_harm),
        cmocka_unit_test(sizes_are_classes_of_two),
    };
    return WIO_RUN(tests);
}
