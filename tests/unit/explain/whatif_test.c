/* SPDX-License-Identifier: Apache-2.0 */
/* Recorded transactions, run again with something changed. */
#include "explain/aborts/whatif.h"

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
    assert_int_equal(wio_whatif(&aborts->replays, &change, striped, NULL, &result), WIO_OK);
    assert_int_equal(wio_whatif(&aborts->replays, &change, striped, NULL, &again), WIO_OK);
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

/* Two clients, at the same time, 4 KiB each of one stripe unit, ten times. */
static void ten_records(char *script, size_t size, unsigned long lock_bytes)
{
    size_t used = 0;
    for (unsigned i = 0; i < 10; i++) {
        unsigned t = 10 * i;
        for (unsigned k = 0; k < 2; k++) {
            unsigned long from = 4096ul * k / lock_bytes * lock_bytes;
            used += (size_t)snprintf(
                script + used, size - used,
                "%u begin %c%u app a.c:1\n%u answer %c%u s0 w f1 %lu-%lu touched=4096 run=2\n", t,
                'A' + (int)k, i, t + 3, 'A' + (int)k, i, from, from + lock_bytes);
        }
        for (unsigned k = 0; k < 2; k++) {
            used += (size_t)snprintf(script + used, size - used,
                                     "%u release %c%u s0 committed\n%u end %c%u committed\n", t + 5,
                                     'A' + (int)k, i, t + 5, 'A' + (int)k, i);
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

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(opposite_orders_abort_and_one_order_does_not),
        cmocka_unit_test(policies_differ),
        cmocka_unit_test(coarse_locks_wait_and_fine_ones_do_not),
        cmocka_unit_test(another_layout_spreads_the_work),
        cmocka_unit_test(requests_that_are_cut_are_counted),
        cmocka_unit_test(aborted_transactions_are_not_run),
    };
    return WIO_RUN(tests);
}
