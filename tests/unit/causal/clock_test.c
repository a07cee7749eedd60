/* SPDX-License-Identifier: Apache-2.0 */
/* Clocks with offset and drift exchange messages in a true time that no host knows: corrected, none
 * arrives before it was sent, and the corrections are right within what they claim. */
#include "support/unit.h"

#include <math.h>
#include <stdlib.h>

#include "causal/clock/clock.h"

#define HOSTS 6
#define MESSAGES 3000
#define START_NS 5e9 /* of the messages: before that no clock is below 0 */

struct truth {
    double offset_ns;
    double rate;
};

struct run {
    struct truth clocks[HOSTS];
    struct wio_clock_message messages[MESSAGES];
    size_t count;
    uint64_t seed;
};

static double uniform(struct run *run)
{
    return (double)(wio_test_random(&run->seed) >> 11) * 0x1p-53;
}

static uint64_t show(const struct truth *clock, double true_ns)
{
    return (uint64_t)(true_ns * (1 + clock->rate) + clock->offset_ns);
}

static void send(struct run *run, uint32_t from, uint32_t to, double at_ns)
{
    /* at least 2 us, now and then much more */
    double delay_ns = 2000 + uniform(run) * 3000 + (uniform(run) < 0.1 ? uniform(run) * 1e7 : 0);
    run->messages[run->count++] =
        (struct wio_clock_message){.from = from,
                                   .to = to,
                                   .sent_ns = show(&run->clocks[from], at_ns),
                                   .received_ns = show(&run->clocks[to], at_ns + delay_ns)};
}

static void make_clocks(struct run *run, double offset_ns, double rate)
{
    for (uint32_t host = 0; host < HOSTS; host++) {
        run->clocks[host] =
            (struct truth){(uniform(run) - 0.5) * 2 * offset_ns, (uniform(run) - 0.5) * 2 * rate};
    }
}

/* `length_ns` of traffic between all hosts, or only between neighbours. */
static void make_traffic(struct run *run, double length_ns, bool neighbours)
{
    while (run->count < MESSAGES) {
        uint32_t from = (uint32_t)(wio_test_random(&run->seed) % HOSTS);
        uint32_t to = (uint32_t)(wio_test_random(&run->seed) % HOSTS);
        if (from == to || (neighbours && abs((int)from - (int)to) != 1)) {
            continue;
        }
        send(run, from, to, START_NS + uniform(run) * length_ns);
    }
}

static void solve(const struct run *run, struct wio_clock_correction *corrections)
{
    struct wio_alloc heap = WIO_ALLOC_HEAP;
    struct wio_clock_sync *sync = NULL;
    assert_int_equal(wio_clock_sync_create(&heap, HOSTS, &sync), WIO_OK);
    for (size_t i = 0; i < run->count; i++) {
        assert_int_equal(wio_clock_sync_add(sync, &run->messages[i]), WIO_OK);
    }
    assert_int_equal(wio_clock_sync_solve(sync, corrections), WIO_OK);
    wio_clock_sync_destroy(sync);
}

/* As FORMAT.md R-EDGE-6 has it, in whole numbers. */
static int64_t correct(const struct wio_clock_correction *correction, uint64_t t_ns)
{
    __extension__ typedef __int128 wide;
    int64_t rate = (int64_t)llround(correction->rate * 0x1p40);
    return (int64_t)t_ns + (int64_t)(((wide)t_ns * rate) >> 40) +
           (int64_t)llround(correction->offset_ns);
}

static size_t too_early(const struct run *run, const struct wio_clock_correction *corrections)
{
    size_t count = 0;
    for (size_t i = 0; i < run->count; i++) {
        const struct wio_clock_message *m = &run->messages[i];
        count += correct(&corrections[m->to], m->received_ns) <
                         correct(&corrections[m->from], m->sent_ns)
                     ? 1
                     : 0;
    }
    return count;
}

/* The largest error against host 0's clock at the begin and the end of the traffic. */
static double error_of(const struct run *run, const struct wio_clock_correction *corrections,
                       uint32_t host, double length_ns)
{
    double worst = 0;
    for (unsigned end = 0; end < 2; end++) {
        double true_ns = START_NS + end * length_ns;
        double want = (double)correct(&corrections[0], show(&run->clocks[0], true_ns));
        double got = (double)correct(&corrections[host], show(&run->clocks[host], true_ns));
        worst = fmax(worst, fabs(got - want));
    }
    return worst;
}

static void offset_and_drift_are_found(void **state)
{
    (void)state;
    for (uint64_t seed = 1; seed <= 20; seed++) {
        struct run run = {.seed = seed};
        struct wio_clock_correction corrections[HOSTS];
        double length_ns = seed % 2 == 0 ? 100e9 : 3600e9;
        make_clocks(&run, 1e9, 200e-6);
        make_traffic(&run, length_ns, seed % 3 == 0);
        assert_true(too_early(&run, (struct wio_clock_correction[HOSTS]){{0}}) > 0);
        solve(&run, corrections);
        assert_int_equal(too_early(&run, corrections), 0);
        for (uint32_t host = 0; host < HOSTS; host++) {
            assert_true(corrections[host].is_known);
            assert_true(corrections[host].is_consistent);
            /* a one-way delay of 5 us for each host in between: what is known better is luck */
            assert_true(error_of(&run, corrections, host, length_ns) < 25000);
        }
        assert_true(corrections[0].offset_ns == 0);
    }
}

static void no_drift_is_made_up(void **state)
{
    (void)state;
    struct run run = {.seed = 7};
    struct wio_clock_correction corrections[HOSTS];
    make_clocks(&run, 1e9, 0);
    make_traffic(&run, 2e9, false);
    solve(&run, corrections);
    assert_int_equal(too_early(&run, corrections), 0);
    for (uint32_t host = 0; host < HOSTS; host++) {
        assert_true(corrections[host].rate == 0);
    }
}

static void right_clocks_stay_right(void **state)
{
    (void)state;
    struct run run = {.seed = 8};
    struct wio_clock_correction corrections[HOSTS];
    make_traffic(&run, 2e9, false);
    solve(&run, corrections);
    assert_int_equal(too_early(&run, corrections), 0);
    for (uint32_t host = 0; host < HOSTS; host++) {
        assert_true(fabs(corrections[host].offset_ns) <= corrections[host].uncertainty_ns + 5);
        assert_true(corrections[host].uncertainty_ns < 20000);
    }
}

/* Messages one way: as far as needed, and said to be not known. */
static void one_way_is_not_known(void **state)
{
    (void)state;
    struct run run = {.seed = 9};
    struct wio_clock_correction corrections[HOSTS];
    run.clocks[1].offset_ns = -1e9;
    run.clocks[2].offset_ns = 1e9;
    for (unsigned i = 0; i < 100; i++) {
        send(&run, 0, 1, START_NS + i * 1e6);
        send(&run, 0, 2, START_NS + i * 1e6);
    }
    solve(&run, corrections);
    assert_int_equal(too_early(&run, corrections), 0);
    assert_false(corrections[1].is_known);
    assert_true(fabs(corrections[1].offset_ns - 1e9) < 10000);
    assert_true(corrections[2].offset_ns == 0); /* nothing contradicts it */
    assert_false(corrections[5].is_known);      /* no host talks to it */
    assert_true(corrections[5].offset_ns == 0);
}

/* The clock of host 3 was set in between: no line fits, and that is said. */
static void a_clock_that_was_set_is_told(void **state)
{
    (void)state;
    struct run run = {.seed = 10};
    struct wio_clock_correction corrections[HOSTS];
    make_clocks(&run, 1e6, 0);
    for (unsigned i = 0; i < 1000; i++) {
        run.clocks[3].offset_ns += i == 500 ? 20e6 : 0;
        send(&run, 0, i % 2 == 0 ? 3 : 1, START_NS + i * 1e6);
        send(&run, i % 2 == 0 ? 3 : 1, 0, START_NS + i * 1e6 + 5e5);
    }
    solve(&run, corrections);
    assert_false(corrections[3].is_consistent);
    assert_true(corrections[1].is_consistent);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(offset_and_drift_are_found),   cmocka_unit_test(no_drift_is_made_up),
        cmocka_unit_test(right_clocks_stay_right),      cmocka_unit_test(one_way_is_not_known),
        cmocka_unit_test(a_clock_that_was_set_is_told),
    };
    return WIO_RUN(tests);
}
