/* SPDX-License-Identifier: Apache-2.0 */
/* Recorded transactions, run again with something changed. */
#include "explain/whatif/whatif.h"

#include "explain/whatif/whatif_costs.h"

#include <stdio.h>
#include <string.h>

#include "support/unit.h"
#include "txn_script.h"

static const struct wio_txn_file *striped(void *arg, uint64_t file)
{
    static const struct wio_txn_file known = {1, "/data/f1", 2, 65536};
    (void)arg;
    return file == 1 ? &known : NULL;
}

static struct wio_whatif_result run(const struct wio_aborts *aborts,
                                    struct wio_whatif_change change)
{
    struct wio_whatif_result result;
    struct wio_whatif_result again;
    struct wio_whatif_costs costs = {0};
    assert_int_equal(wio_whatif_costs(&aborts->replays, &costs), WIO_OK);
    assert_int_equal(wio_whatif(&aborts->replays, &costs, &change, striped, NULL, &result), WIO_OK);
    assert_int_equal(wio_whatif(&aborts->replays, &costs, &change, striped, NULL, &again), WIO_OK);
    wio_whatif_costs_fini(&costs);
    assert_int_equal(result.aborts, again.aborts);
    assert_int_equal(result.waits, again.waits);
    assert_false(result.is_cut);
    return result;
}

/* Both committed one after the other; sent at the same time they take two servers' locks in
 * opposite orders. */
static const char opposite[] = "0 begin A1 app a.c:1\n"
                               "0 begin B1 app b.c:1\n"
                               "1 answer A1 s0 w f9 0-100 run=1\n"
                               "1 answer B1 s1 w f9 0-100 run=1\n"
                               "3 answer A1 s1 w f9 0-100 run=1\n"
                               "3 answer B1 s0 w f9 0-100 run=1\n"
                               "4 release A1 s0 committed\n"
                               "4 release A1 s1 committed\n"
                               "4 end A1 committed\n"
                               "4 release B1 s0 committed\n"
                               "4 release B1 s1 committed\n"
                               "4 end B1 committed\n";

static void opposite_orders_abort_and_one_order_does_not(void **state)
{
    (void)state;
    struct wio_aborts aborts;
    txn_script_run(opposite, &aborts);
    struct wio_whatif_result as_it_was = run(&aborts, (struct wio_whatif_change){0});
    struct wio_whatif_result sorted = run(&aborts, (struct wio_whatif_change){.is_sorted = true});
    assert_int_equal(as_it_was.transactions, 2);
    assert_int_equal(as_it_was.aborts, 1);
    assert_int_equal(sorted.transactions, 2);
    assert_int_equal(sorted.aborts, 0);
    wio_aborts_fini(&aborts);
}

static void policies_differ(void **state)
{
    (void)state;
    struct wio_aborts aborts;
    txn_script_run(opposite, &aborts);
    struct wio_whatif_result timeout = run(
        &aborts, (struct wio_whatif_change){.policy = WIO_LOCK_TIMEOUT, .timeout_ns = 250000000});
    struct wio_whatif_result wound = run(&aborts, (struct wio_whatif_change){0});
    struct wio_whatif_result no_wait =
        run(&aborts, (struct wio_whatif_change){.policy = WIO_LOCK_NO_WAIT});
    struct wio_whatif_result die =
        run(&aborts, (struct wio_whatif_change){.policy = WIO_LOCK_WAIT_DIE});
    assert_true(timeout.duration_s > 0.25);
    assert_true(wound.duration_s < 0.1);
    assert_int_equal(no_wait.waits, 0);
    assert_true(no_wait.aborts > 0);
    assert_int_equal(die.transactions, 2);
    wio_aborts_fini(&aborts);
}

/* Two clients begin at the same time, ten times, and write 4 KiB each of one stripe unit. The
 * server takes up the second one's request when it has answered the first one's; they take turns.
 */
static void ten_records(char *script, size_t size, unsigned long lock_bytes)
{
    size_t used = 0;
    for (unsigned i = 0; i < 10; i++) {
        unsigned t = 10 * i;
        for (unsigned k = 0; k < 2; k++) {
            unsigned client = (k + i) % 2;
            unsigned long from = 4096ul * client / lock_bytes * lock_bytes;
            char name[16];
            (void)snprintf(name, sizeof(name), "%c%u", 'A' + (int)client, i);
            used += (size_t)snprintf(script + used, size - used,
                                     "%u begin %s app a.c:1\n"
                                     "%u answer %s s0 w f1 %lu-%lu touched=4096 run=2\n"
                                     "%u release %s s0 committed\n"
                                     "%u end %s committed\n",
                                     t, name, t + 3 + 2 * k, name, from, from + lock_bytes,
                                     t + 4 + 2 * k, name, t + 4 + 2 * k, name);
        }
    }
}

static void coarse_locks_wait_and_fine_ones_do_not(void **state)
{
    (void)state;
    char script[8192];
    struct wio_aborts aborts;
    ten_records(script, sizeof(script), 65536);
    txn_script_run(script, &aborts);
    struct wio_whatif_result coarse = run(&aborts, (struct wio_whatif_change){0});
    assert_int_equal(coarse.transactions, 20);
    assert_true(coarse.waits > 0); /* the first wait moves the two clients apart */
    wio_aborts_fini(&aborts);

    ten_records(script, sizeof(script), 4096);
    txn_script_run(script, &aborts);
    struct wio_whatif_result fine = run(&aborts, (struct wio_whatif_change){0});
    struct wio_whatif_result rounded =
        run(&aborts, (struct wio_whatif_change){.granularity = 65536});
    assert_int_equal(fine.waits, 0);
    assert_int_equal(rounded.waits, coarse.waits);
    wio_aborts_fini(&aborts);
}

/* One server works on one request after the other: with the records on two of them it is faster. */
static void another_layout_spreads_the_work(void **state)
{
    (void)state;
    char script[8192];
    struct wio_aborts aborts;
    ten_records(script, sizeof(script), 4096);
    txn_script_run(script, &aborts);
    aborts.replays.servers = 2;
    struct wio_whatif_result before = run(&aborts, (struct wio_whatif_change){0});
    struct wio_whatif_result after = run(&aborts, (struct wio_whatif_change){.stripe_unit = 4096});
    assert_int_equal(after.transactions, before.transactions);
    assert_true(after.duration_s < before.duration_s);
    wio_aborts_fini(&aborts);
}

/* Of a request that another layout cuts into too many runs a part is left out, and counted. */
static void requests_that_are_cut_are_counted(void **state)
{
    (void)state;
    struct wio_aborts aborts;
    txn_script_run("0 begin A1 app a.c:1\n"
                   "1 answer A1 s0 w f1 0-16777216\n"
                   "2 answer A1 s0 w f1 0-16781312\n"
                   "3 release A1 s0 committed\n"
                   "3 end A1 committed\n",
                   &aborts);
    assert_int_equal(run(&aborts, (struct wio_whatif_change){0}).requests_cut, 0);
    assert_int_equal(run(&aborts, (struct wio_whatif_change){.stripe_unit = 65536}).requests_cut,
                     0);
    struct wio_whatif_result fine = run(&aborts, (struct wio_whatif_change){.stripe_unit = 4096});
    assert_int_equal(fine.transactions, 1);
    assert_int_equal(fine.requests_cut, 1);
    wio_aborts_fini(&aborts);
}

/* A transaction of which only an aborted attempt is recorded is not run. */
static void aborted_transactions_are_not_run(void **state)
{
    (void)state;
    struct wio_aborts aborts;
    txn_script_run("0 begin A1 app a.c:1\n"
                   "1 answer A1 s0 w f1 0-100\n"
                   "2 release A1 s0 aborted\n"
                   "2 end A1 aborted\n"
                   "3 begin A1.2 app a.c:1\n"
                   "4 answer A1.2 s0 w f1 0-100\n"
                   "5 release A1.2 s0 committed\n"
                   "5 end A1.2 committed\n"
                   "6 begin A2 app a.c:1\n"
                   "7 answer A2 s0 w f1 0-100\n"
                   "8 release A2 s0 aborted\n"
                   "8 end A2 aborted\n",
                   &aborts);
    struct wio_whatif_result result = run(&aborts, (struct wio_whatif_change){0});
    assert_int_equal(result.transactions, 1);
    assert_int_equal(result.aborts, 0);
    wio_aborts_fini(&aborts);
}

/* Timers count whole milliseconds, and one more. The jitter of a pause is lost below that. */
static void pauses_are_those_of_the_clients_timers(void **state)
{
    (void)state;
    assert_int_equal(wio_replay_timer_ns(0), 0);
    assert_int_equal(wio_replay_timer_ns(1), 2000000);
    assert_int_equal(wio_replay_timer_ns(1000001), 3000000);
    assert_int_equal(wio_replay_pause_ns(7, 1, 1), 2000000);
    uint64_t eighth_ns = wio_replay_pause_ns(7, 1, 8); /* 6.4 to 12.8 ms */
    assert_true(eighth_ns >= 8000000 && eighth_ns <= 14000000);
    assert_int_equal(wio_replay_pause_ns(7, 1, 9) / 15000000, 0); /* it doubles no further */
}

/* What was wounded begins again as soon as it is undone, what was refused behind a pause. */
static void wounds_are_followed_by_no_pause(void **state)
{
    (void)state;
    struct wio_aborts aborts;
    txn_script_run(opposite, &aborts);
    struct wio_whatif_result wound = run(&aborts, (struct wio_whatif_change){0});
    struct wio_whatif_result no_wait =
        run(&aborts, (struct wio_whatif_change){.policy = WIO_LOCK_NO_WAIT});
    assert_int_equal(wound.aborts, 1);
    assert_true(wound.duration_s < 0.009);
    assert_true(no_wait.duration_s >= 0.002 + 0.004); /* a pause, and a transaction */
    wio_aborts_fini(&aborts);
}

/* A server that two clients keep busy: each of their requests takes 25 ms of it, of which its rows
 * tell 1. A client alone has its next request there 25 ms after the answer, of which it needs 1. */
static void reading_a_request_takes_a_server_time(void **state)
{
    (void)state;
    struct wio_aborts aborts;
    struct wio_whatif_costs costs;
    char script[16384];
    size_t used = 0;
    unsigned t = 100;
    for (unsigned i = 0; i < 20; i++, t += 26) { /* A alone */
        used += (size_t)snprintf(script + used, sizeof(script) - used,
                                 "%u answer A1 s0 w f1 %u-%u run=1\n", t, i, i + 1);
    }
    for (unsigned i = 0; i < 40; i++, t += 25) { /* in turns */
        used += (size_t)snprintf(script + used, sizeof(script) - used,
                                 "%u answer %s s0 w f1 %u-%u run=1\n", t, i % 2 == 0 ? "B1" : "A1",
                                 100 + i, 101 + i);
    }
    txn_script_run(script, &aborts);
    assert_int_equal(wio_whatif_costs(&aborts.replays, &costs), WIO_OK);
    assert_true(costs.of[0].receive_ns > 22000000 && costs.of[0].receive_ns < 25000000);
    assert_true(costs.of[0].client_ns < 3000000);
    wio_whatif_costs_fini(&costs);
    wio_aborts_fini(&aborts);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(opposite_orders_abort_and_one_order_does_not),
        cmocka_unit_test(policies_differ),
        cmocka_unit_test(coarse_locks_wait_and_fine_ones_do_not),
        cmocka_unit_test(another_layout_spreads_the_work),
        cmocka_unit_test(requests_that_are_cut_are_counted),
        cmocka_unit_test(aborted_transactions_are_not_run),
        cmocka_unit_test(pauses_are_those_of_the_clients_timers),
        cmocka_unit_test(wounds_are_followed_by_no_pause),
        cmocka_unit_test(reading_a_request_takes_a_server_time),
    };
    return WIO_RUN(tests);
}
