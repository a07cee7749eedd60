/* SPDX-License-Identifier: Apache-2.0 */
/* Expected numbers are worked out by hand from the rules of docs/MODEL.md#kernel. */
#include "support/unit.h"

#include "model/kernel/throttle.h"

#define MIB_PAGES 256

static const struct wio_throttle_limits limits = {
    .hz = 250, .background = 128 * MIB_PAGES, .hard = 512 * MIB_PAGES};

/* A device of 100 MiB/s that the kernel knows. */
static struct wio_throttle make(void)
{
    struct wio_throttle throttle;
    wio_throttle_init(&throttle, &limits, 100 * MIB_PAGES, 100 * MIB_PAGES);
    throttle.device.stamp = 1000;
    return throttle;
}

/* As the only device. */
static enum wio_throttle_verdict balance(struct wio_throttle *throttle, int64_t pages, int64_t now,
                                         int64_t *pause_out)
{
    const struct wio_throttle_dirty dirty = {pages, pages, throttle->limits.hard};
    return wio_throttle_balance(throttle, &dirty, now, pause_out);
}

static void the_ceiling_is_free(void **state)
{
    (void)state;
    struct wio_throttle throttle = make();
    int64_t pause;
    throttle.task.dirtied = 4096;
    assert_int_equal(balance(&throttle, 320 * MIB_PAGES, 1000, &pause), WIO_THROTTLE_FREE);
    assert_int_equal(throttle.task.paused_when, 1000);
    assert_int_equal(throttle.task.dirtied, 0);
    /* 192 MiB of room are 49152 pages; half of the 15 bits: 2^7 */
    assert_int_equal(throttle.task.dirtied_pause, 128);
}

/* At the setpoint of 416 MiB both ratios are 1: 2 MiB at 100 MiB/s are 5 jiffies. */
static void at_the_setpoint_the_rate_is_the_device_rate(void **state)
{
    (void)state;
    struct wio_throttle throttle = make();
    int64_t pause;
    throttle.task.dirtied = 2 * MIB_PAGES;
    assert_int_equal(balance(&throttle, 416 * MIB_PAGES, 1001, &pause), WIO_THROTTLE_PAUSE);
    assert_int_equal(pause, 5);
    assert_int_equal(throttle.task.paused_when, 1006);
    assert_int_equal(throttle.task.dirtied, 0);
}

/* Just above the ceiling: twice the rate by the domain, 1.12 times by the device: 2.2 jiffies. */
static void below_the_setpoint_it_is_higher(void **state)
{
    (void)state;
    struct wio_throttle throttle = make();
    int64_t pause;
    throttle.task.dirtied = 2 * MIB_PAGES;
    assert_int_equal(balance(&throttle, 321 * MIB_PAGES, 1001, &pause), WIO_THROTTLE_PAUSE);
    assert_int_equal(pause, 2);
}

/* At 350 MiB: 1 + (66/96)^3 = 1.325 by the domain, (1216 - 350)/800 = 1.0825 by the device; 10 MiB
 * at 143.4 MiB/s are 17.4 jiffies. */
static void both_ratios_count(void **state)
{
    (void)state;
    struct wio_throttle throttle = make();
    int64_t pause;
    throttle.task.dirtied = 10 * MIB_PAGES;
    assert_int_equal(balance(&throttle, 350 * MIB_PAGES, 1001, &pause), WIO_THROTTLE_PAUSE);
    assert_int_equal(pause, 17);
}

/* A limit that was lowered is followed by 1/32 of the gap; a higher one at once. */
static void a_lower_limit_is_followed_slowly(void **state)
{
    (void)state;
    struct wio_throttle throttle = make();
    int64_t pause;
    throttle.device.limit = 832 * MIB_PAGES; /* 320 MiB above */
    (void)balance(&throttle, 400 * MIB_PAGES, 1051, &pause);
    assert_int_equal(throttle.device.limit, 822 * MIB_PAGES);
    throttle.device.limit = 100 * MIB_PAGES;
    (void)balance(&throttle, 400 * MIB_PAGES, 1102, &pause);
    assert_int_equal(throttle.device.limit, 512 * MIB_PAGES);
}

/* Above the hard limit the task looks again after 8 pages. */
static void above_the_limit_it_looks_often(void **state)
{
    (void)state;
    struct wio_throttle throttle = make();
    int64_t pause;
    throttle.device.limit = 832 * MIB_PAGES;
    throttle.task.dirtied = 2 * MIB_PAGES;
    (void)balance(&throttle, 513 * MIB_PAGES, 1001, &pause);
    throttle.task.dirtied = 7;
    assert_false(wio_throttle_is_due(&throttle));
    throttle.task.dirtied = 8;
    assert_true(wio_throttle_is_due(&throttle));
}

static void at_the_limit_it_waits_and_asks_again(void **state)
{
    (void)state;
    struct wio_throttle throttle = make();
    int64_t pause;
    throttle.task.dirtied = 2 * MIB_PAGES;
    assert_int_equal(balance(&throttle, 512 * MIB_PAGES, 1001, &pause), WIO_THROTTLE_AGAIN);
    assert_int_equal(pause, 50);
}

/* Computing for 0.1 s pays for 25 jiffies of writing, and what is left stays. */
static void thinking_is_credited(void **state)
{
    (void)state;
    struct wio_throttle throttle = make();
    int64_t pause;
    throttle.task = (struct wio_throttle_task){.has_paused = true, .paused_when = 1000};
    for (int i = 0; i < 5; i++) {
        throttle.task.dirtied = 2 * MIB_PAGES;
        assert_int_equal(balance(&throttle, 416 * MIB_PAGES, 1025, &pause), WIO_THROTTLE_GO);
    }
    throttle.task.dirtied = 2 * MIB_PAGES;
    assert_int_equal(balance(&throttle, 416 * MIB_PAGES, 1025, &pause), WIO_THROTTLE_PAUSE);
    assert_int_equal(pause, 5);
}

/* After more than a second away the credit is dropped. */
static void a_long_rest_is_not_credited(void **state)
{
    (void)state;
    struct wio_throttle throttle = make();
    int64_t pause;
    throttle.device.stamp = 2000; /* no estimate is due */
    throttle.task = (struct wio_throttle_task){.has_paused = true, .paused_when = 1000};
    throttle.task.dirtied = 2 * MIB_PAGES;
    assert_int_equal(balance(&throttle, 416 * MIB_PAGES, 1500, &pause), WIO_THROTTLE_GO);
    assert_int_equal(throttle.task.paused_when, 1500);
    throttle.task.dirtied = 2 * MIB_PAGES;
    assert_int_equal(balance(&throttle, 416 * MIB_PAGES, 1500, &pause), WIO_THROTTLE_PAUSE);
}

/* A limit that is too low rises by part of the gap, a limit that is right stays. */
static void the_rate_limit_moves_by_part_of_the_gap(void **state)
{
    (void)state;
    struct wio_throttle throttle = make();
    int64_t pause;
    throttle.device.ratelimit = 50 * MIB_PAGES;
    throttle.device.dirtied = 20 * MIB_PAGES; /* in 51 jiffies: 98 MiB/s */
    throttle.device.written = 20 * MIB_PAGES;
    (void)balance(&throttle, 350 * MIB_PAGES, 1050, &pause);
    assert_int_equal(throttle.device.ratelimit, 50 * MIB_PAGES); /* after 50 jiffies: not yet */
    (void)balance(&throttle, 350 * MIB_PAGES, 1051, &pause);
    assert_in_range(throttle.device.ratelimit, 51 * MIB_PAGES, 60 * MIB_PAGES);
    assert_int_equal(throttle.device.stamp, 1051);
}

/* One estimate that is higher than the limit is not enough: the one before has to be, too. */
static void a_single_estimate_does_not_move_the_limit(void **state)
{
    (void)state;
    struct wio_throttle throttle = make();
    int64_t pause;
    throttle.device.ratelimit = 50 * MIB_PAGES;
    throttle.device.balanced = 40 * MIB_PAGES;
    for (int64_t now = 1051; now <= 1102; now += 51) {
        assert_int_equal(throttle.device.ratelimit, 50 * MIB_PAGES);
        throttle.device.dirtied += 20 * MIB_PAGES;
        throttle.device.written += 20 * MIB_PAGES;
        (void)balance(&throttle, 350 * MIB_PAGES, now, &pause);
    }
    assert_true(throttle.device.ratelimit > 50 * MIB_PAGES);
}

/* So few pages that they cost no jiffy: the task collects more before it looks again. */
static void few_pages_are_collected(void **state)
{
    (void)state;
    struct wio_throttle throttle = make();
    int64_t pause;
    throttle.task = (struct wio_throttle_task){.dirtied = 32, .dirtied_pause = 32};
    assert_int_equal(balance(&throttle, 350 * MIB_PAGES, 1001, &pause), WIO_THROTTLE_GO);
    assert_int_equal(throttle.task.dirtied, 32);
    assert_int_equal(throttle.task.dirtied_pause, 64);
}

/* What was written before a rest of more than a second says nothing. */
static void a_rest_is_forgotten(void **state)
{
    (void)state;
    struct wio_throttle throttle = make();
    throttle.device.written = 5;
    wio_throttle_wake(&throttle, 1250);
    assert_int_equal(throttle.device.stamp, 1000);
    wio_throttle_wake(&throttle, 1251);
    assert_int_equal(throttle.device.stamp, 1251);
    assert_int_equal(throttle.device.written_stamp, 5);
}

/* The mean bandwidth follows what is written. */
static void the_bandwidth_is_estimated(void **state)
{
    (void)state;
    struct wio_throttle throttle = make();
    int64_t now = 1000;
    for (int i = 0; i < 200; i++) {
        now += 51;
        throttle.device.written += 51 * 200 * MIB_PAGES / 250;
        wio_throttle_estimate(&throttle, now);
    }
    assert_in_range(throttle.device.bandwidth, 199 * MIB_PAGES, 200 * MIB_PAGES);
    assert_in_range(throttle.device.bandwidth_mean, 195 * MIB_PAGES, 200 * MIB_PAGES);
    for (int i = 0; i < 200; i++) { /* and down again */
        now += 51;
        throttle.device.written += 51 * 50 * MIB_PAGES / 250;
        wio_throttle_estimate(&throttle, now);
    }
    assert_in_range(throttle.device.bandwidth, 50 * MIB_PAGES - 99, 51 * MIB_PAGES);
    assert_in_range(throttle.device.bandwidth_mean, 50 * MIB_PAGES, 55 * MIB_PAGES);
    assert_false(wio_throttle_is_stale(&throttle, now + 50));
    assert_true(wio_throttle_is_stale(&throttle, now + 51));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_ceiling_is_free),
        cmocka_unit_test(at_the_setpoint_the_rate_is_the_device_rate),
        cmocka_unit_test(below_the_setpoint_it_is_higher),
        cmocka_unit_test(both_ratios_count),
        cmocka_unit_test(a_lower_limit_is_followed_slowly),
        cmocka_unit_test(above_the_limit_it_looks_often),
        cmocka_unit_test(at_the_limit_it_waits_and_asks_again),
        cmocka_unit_test(thinking_is_credited),
        cmocka_unit_test(a_long_rest_is_not_credited),
        cmocka_unit_test(the_rate_limit_moves_by_part_of_the_gap),
        cmocka_unit_test(a_single_estimate_does_not_move_the_limit),
        cmocka_unit_test(few_pages_are_collected),
        cmocka_unit_test(a_rest_is_forgotten),
        cmocka_unit_test(the_bandwidth_is_estimated),
    };
    return WIO_RUN(tests);
}
