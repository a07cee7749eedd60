/* SPDX-License-Identifier: Apache-2.0 */
/* Time of a thread: what is computing stays, what was waiting is replaced. Trace and replay begin
 * at 1,000 and 500,000. */
#include "support/unit.h"

#include "schedule/thread_clock.h"

#define V0 500000u

static struct wio_gap gap;

static int begin(void **state)
{
    (void)state;
    wio_gap_init(&gap, 1.0, 1000, V0);
    return 0;
}

static void take(uint64_t traced_ns, uint64_t v_ns, uint64_t end_ns)
{
    wio_gap_take(&gap, (struct wio_release){traced_ns, v_ns}, end_ns);
}

static void assert_due(uint64_t at_ns, uint64_t v_ns)
{
    wio_gap_reach(&gap, at_ns);
    assert_int_equal(gap.v_ns, V0 + v_ns);
}

static void computing_takes_its_time(void **state)
{
    (void)state;
    assert_due(3000, 2000);
    wio_gap_did(&gap, 4000, V0 + 9000); /* a slow disk */
    assert_due(4500, 9500);
    assert_due(2000, 9500); /* an event inside a call lies back */
}

static void a_wait_is_replaced(void **state)
{
    (void)state;
    /* computes 1,000, waits from 2,000 to 7,000 for what came at 6,000, computes 500 */
    for (int i = 0; i < 2; i++) {
        uint64_t release = i == 0 ? V0 + 20000 : V0 + 100; /* later, earlier than we come */
        (void)begin(NULL);
        wio_gap_reach(&gap, 2000);
        take(6000, release, 7000);
        wio_gap_call(&gap, 7000, false);
        assert_due(7500, (i == 0 ? 20000 : 1000) + 1000 + 500);
    }
}

static void elsewhere_time_goes_on(void **state)
{
    (void)state;
    wio_gap_reach(&gap, 2000);
    wio_gap_call(&gap, 8000, true);
    wio_gap_jump(&gap, 500);
    assert_due(700, 1200);
    take(600, V0 + 5000, 700); /* by a release since then */
    assert_due(700, 5000);
}

static void a_release_before_the_call_leaves_its_duration(void **state)
{
    (void)state;
    wio_gap_reach(&gap, 2000);
    take(1500, V0 + 10, 2200);
    wio_gap_call(&gap, 2200, false);
    assert_due(2300, 1300);
}

static void an_open_call_is_explained_later(void **state)
{
    (void)state;
    /* poll from 2,000 to 6,000, then the read whose bytes were written at 5,900 */
    wio_gap_reach(&gap, 2000);
    wio_gap_call(&gap, 6000, true);
    wio_gap_reach(&gap, 6100);
    take(5900, V0 + 1500, 6200);
    assert_int_equal(gap.v_ns, V0 + 1500 + 200);
}

static void what_comes_while_the_thread_computes_explains_no_call(void **state)
{
    (void)state;
    wio_gap_reach(&gap, 2000);
    wio_gap_call(&gap, 2100, true);
    wio_gap_reach(&gap, 9000);
    take(8000, V0 + 10, 9100);
    assert_int_equal(gap.v_ns, V0 + 8000);
}

static void an_open_call_that_nothing_explains_took_its_time(void **state)
{
    (void)state;
    wio_gap_reach(&gap, 2000);
    wio_gap_call(&gap, 6000, true);
    assert_due(6100, 5100);
}

static void several_waits_in_one_call_end_with_the_last(void **state)
{
    (void)state;
    /* MPI_Waitall from 2,000 to 9,000 and its two mpi_done, which have its begin */
    wio_gap_reach(&gap, 2000);
    wio_gap_call(&gap, 9000, true);
    take(8000, V0 + 3000, 9000);
    wio_gap_call(&gap, 9000, false);
    wio_gap_reach(&gap, 2000);
    take(5000, V0 + 4000, 9000); /* the first in the trace is the last one here */
    wio_gap_call(&gap, 9000, false);
    assert_due(9000, 4000 + 1000);
}

static void only_computing_is_scaled(void **state)
{
    (void)state;
    wio_gap_init(&gap, 0.5, 1000, V0);
    wio_gap_reach(&gap, 2000); /* 500 */
    take(3000, V0 + 5000, 4000);
    wio_gap_call(&gap, 4000, false); /* 1,000 behind the release */
    assert_due(6000, 5000 + 1000 + 1000);
    wio_gap_sleep(&gap, 7000);
    assert_due(8000, 7000 + 1000);
}

static void held_time_is_none(void **state)
{
    (void)state;
    wio_gap_reach(&gap, 2000);
    wio_gap_skip(&gap, 9000);
    assert_due(9500, 1500);
}

static void a_wait_that_no_call_shows_is_the_whole_gap(void **state)
{
    (void)state;
    wio_gap_did(&gap, 2000, V0 + 100);
    wio_gap_reach(&gap, 9000); /* spins; the flag was set at 8,000 */
    wio_gap_take_all(&gap, (struct wio_release){8000, V0 + 300}, 9000);
    assert_int_equal(gap.v_ns, V0 + 300 + 1000);
}

static void what_comes_before_a_wait_that_no_call_shows_takes_its_time(void **state)
{
    (void)state;
    for (int i = 0; i < 2; i++) {
        uint64_t release = i == 0 ? V0 + 300 : V0 + 9000000;
        (void)begin(NULL);
        wio_gap_did(&gap, 2000, V0 + 100);
        wio_gap_reach(&gap,
                      5000000); /* computes; the flag was set at 8,000, it needs 70 behind it */
        wio_gap_take_held(&gap, (struct wio_release){8000, release}, 70, 5000000);
        assert_int_equal(gap.v_ns, i == 0 ? V0 + 100 + 4998000 : release + 70);
    }
}

static void a_waiter_for_a_flag_goes_on_with_it(void **state)
{
    (void)state;
    wio_gap_did(&gap, 2000, V0 + 100);
    wio_gap_reach(&gap, 5000000);
    wio_gap_take_held(&gap, (struct wio_release){4999900, V0 + 300}, 70, 5000000);
    assert_int_equal(gap.v_ns, V0 + 300 + 100);
}

static void a_wait_in_vain_passes_unless_it_was_one_for_the_lock(void **state)
{
    (void)state;
    static const struct {
        uint64_t free_ns;
        bool is_in_vain;
    } cases[] = {{0, true}, {8000, true}, {4999000, false}, {5000000, false}, {5000100, false}};
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        (void)begin(NULL);
        wio_gap_reach(&gap, 6000);
        uint64_t before = gap.v_ns;
        wio_gap_in_vain(&gap, cases[i].free_ns, 5000000);
        assert_int_equal(gap.v_ns - before, cases[i].is_in_vain ? 5000000 - 6000 : 0);
    }
}

static void the_later_release_counts(void **state)
{
    (void)state;
    struct wio_release release = {10, 40};
    wio_release_join(&release, (struct wio_release){20, 30});
    assert_int_equal(release.traced_ns, 20);
    assert_int_equal(release.v_ns, 40);
}

static void only_what_a_processor_did_is_computed(void **state)
{
    (void)state;
    assert_int_equal(wio_gap_compute(&gap, 5000, 1500), 1500); /* of 4,000 */
    assert_int_equal(gap.v_ns, V0 + 1500);
    assert_int_equal(wio_gap_compute(&gap, 6000, 0), 0); /* nothing is known */
    assert_int_equal(gap.v_ns, V0 + 2500);
    wio_gap_call(&gap, 7000, false);
    assert_int_equal(wio_gap_compute(&gap, 7500, 9000), 500); /* no more than there is */
    assert_int_equal(gap.v_ns, V0 + 4000);
    wio_gap_late(&gap, V0 + 4400);
    wio_gap_late(&gap, V0 + 4300);
    assert_due(7600, 4500);
}

/* It looked for what it waited for again and again, and had no processor when that came. */
static void a_call_that_waits_was_kept_from_a_processor(void **state)
{
    (void)state;
    for (int kept = 0; kept < 6; kept++) {
        static const uint64_t rest[] = {3000, 1000, 0, 3000, 2500, 1500};
        (void)begin(NULL);
        wio_gap_reach(&gap, 2000);
        take(6000, V0 + 20000, 9000);
        wio_gap_call(&gap, 9000, false);
        wio_gap_kept(&gap, 9000, (uint64_t)(kept % 3) * 2000, kept < 3 ? 0 : 1500);
        (void)wio_gap_compute(&gap, 9500, 0);
        assert_int_equal(gap.v_ns, V0 + 20000 + rest[kept] + 500);
    }
    /* there was no wait: it is unknown what it did there */
    (void)begin(NULL);
    wio_gap_call(&gap, 9000, false);
    wio_gap_kept(&gap, 9000, 4000, 0);
    (void)wio_gap_compute(&gap, 9000, 0);
    assert_int_equal(gap.v_ns, V0 + 8000);
}

static void what_a_lying_trace_holds_fits(void **state)
{
    (void)state;
    wio_gap_init(&gap, 1e6, 0, V0);
    wio_gap_reach(&gap, UINT64_MAX / 2);
    assert_true(gap.v_ns > V0);
}

int main(void)
{
#define GAP_TEST(name) cmocka_unit_test_setup(name, begin)
    const struct CMUnitTest tests[] = {
        GAP_TEST(computing_takes_its_time),
        GAP_TEST(a_wait_is_replaced),
        GAP_TEST(elsewhere_time_goes_on),
        GAP_TEST(a_release_before_the_call_leaves_its_duration),
        GAP_TEST(an_open_call_is_explained_later),
        GAP_TEST(what_comes_while_the_thread_computes_explains_no_call),
        GAP_TEST(an_open_call_that_nothing_explains_took_its_time),
        GAP_TEST(several_waits_in_one_call_end_with_the_last),
        GAP_TEST(only_computing_is_scaled),
        GAP_TEST(held_time_is_none),
        GAP_TEST(a_wait_that_no_call_shows_is_the_whole_gap),
        GAP_TEST(what_comes_before_a_wait_that_no_call_shows_takes_its_time),
        GAP_TEST(a_waiter_for_a_flag_goes_on_with_it),
        GAP_TEST(a_wait_in_vain_passes_unless_it_was_one_for_the_lock),
        GAP_TEST(the_later_release_counts),
        GAP_TEST(only_what_a_processor_did_is_computed),
        GAP_TEST(a_call_that_waits_was_kept_from_a_processor),
        GAP_TEST(what_a_lying_trace_holds_fits),
    };
    return WIO_RUN(tests);
}
