/* SPDX-License-Identifier: Apache-2.0 */
/* The exact analysis: what servers recorded as blockers, added up. */
#include "explain/aborts/exact.h"

#include <stdio.h>
#include <string.h>

#include "support/unit.h"
#include "txn_script.h"

static const char *place_of(const struct wio_aborts *aborts, uint32_t source)
{
    return source == WIO_NO_SOURCE
               ? "-"
               : wio_abort_sources_place_text(&aborts->sources, aborts->sources.rows[source].place);
}

static const struct wio_exact_pair *pair_of(const struct wio_aborts *aborts, const char *victim,
                                            const char *blocker)
{
    for (uint32_t i = 0; i < aborts->exact.pair_count; i++) {
        const struct wio_exact_pair *pair = &aborts->exact.pairs[i];
        if (strcmp(place_of(aborts, pair->victim), victim) == 0 &&
            strcmp(place_of(aborts, pair->blocker), blocker) == 0) {
            return pair;
        }
    }
    fail_msg("no pair of %s and %s", victim, blocker);
    return NULL;
}

/* An abort is counted under what refused it, and under nothing else that was active. */
static void aborts_have_their_blocker(void **state)
{
    (void)state;
    struct wio_aborts aborts;
    txn_script_run("0 begin A1 app a.c:1\n"
                   "1 answer A1 s0 w f1 0-100\n"
                   "1 begin C1 app c.c:1\n"
                   "1 answer C1 s0 w f1 60-70\n"
                   "2 begin B1 app b.c:1\n"
                   "3 answer B1 s0 w f1 50-80 refused by A1\n"
                   "6 release B1 s0 aborted\n"
                   "6 end B1 aborted\n",
                   &aborts);
    const struct wio_exact_pair *pair = pair_of(&aborts, "b.c:1", "a.c:1");
    assert_int_equal(aborts.exact.pair_count, 1);
    assert_int_equal(pair->aborts, 1);
    assert_int_equal(pair->by_conflict[WIO_CONFLICT_DATA], 1);
    assert_true(pair->wasted_s > 0.0039 && pair->wasted_s < 0.0041);
    assert_int_equal(pair->example.to, 100);
    wio_aborts_fini(&aborts);
}

/* Locked but never touched. */
static void untouched_bytes_are_a_false_conflict(void **state)
{
    (void)state;
    struct wio_aborts aborts;
    txn_script_run("0 begin A1 app a.c:1\n"
                   "1 answer A1 s0 w f1 0-65536 touched=4096\n"
                   "2 begin B1 app b.c:1\n"
                   "3 answer B1 s0 w f1 8192-12288 refused by A1\n"
                   "4 release B1 s0 aborted\n"
                   "4 end B1 aborted\n"
                   "5 begin C1 app c.c:1\n"
                   "5 answer C1 s0 w f1 0-100 refused by A1\n"
                   "6 release C1 s0 aborted\n"
                   "6 end C1 aborted\n",
                   &aborts);
    assert_int_equal(pair_of(&aborts, "b.c:1", "a.c:1")->by_conflict[WIO_CONFLICT_FALSE], 1);
    assert_int_equal(pair_of(&aborts, "c.c:1", "a.c:1")->by_conflict[WIO_CONFLICT_DATA], 1);
    wio_aborts_fini(&aborts);
}

static void roles_are_kinds_of_conflict(void **state)
{
    (void)state;
    struct wio_aborts aborts;
    txn_script_run("0 begin A1 app a.c:1\n"
                   "1 answer A1 s0 w f1 0-100\n"
                   "2 begin B1 app b.c:1\n"
                   "3 answer B1 s0 w f1 0-10 refused by A1 queued\n"
                   "4 end B1 aborted\n"
                   "4 release B1 s0 aborted\n"
                   "5 begin B2 app b.c:1\n"
                   "5 answer B2 s0 w f1 0-10 refused by A1 prepared\n"
                   "5 end B2 aborted\n"
                   "5 release B2 s0 aborted\n",
                   &aborts);
    const struct wio_exact_pair *pair = pair_of(&aborts, "b.c:1", "a.c:1");
    assert_int_equal(pair->by_conflict[WIO_CONFLICT_QUEUED], 1);
    assert_int_equal(pair->by_conflict[WIO_CONFLICT_PREPARED], 1);
    wio_aborts_fini(&aborts);
}

/* A request that is on its way is no thinking: of B's 10 ms A's second request came for 3 and was
 * worked on for 4. */
static void what_is_on_its_way_is_no_thinking(void **state)
{
    (void)state;
    struct wio_aborts aborts;
    txn_script_run("0 begin A1 app a.c:1\n"
                   "1 answer A1 s0 w f1 0-100\n"
                   "2 begin B1 app b.c:1\n"
                   "2 arrive B1 s0 w f1 50-80 by A1\n"
                   "10 answer A1 s0 w f1 0-100 run=4 transfer=3\n"
                   "12 release A1 s0 committed\n"
                   "12 end A1 committed\n"
                   "12 answer B1 s0 w f1 50-80 lock=10 by A1\n"
                   "13 release B1 s0 committed\n"
                   "13 end B1 committed\n",
                   &aborts);
    const struct wio_exact_pair *pair = pair_of(&aborts, "b.c:1", "a.c:1");
    assert_true(pair->think_s > 0.00299 && pair->think_s < 0.00301);
    double network_s = 0;
    for (uint32_t i = 0; i < aborts.exact.contention_count; i++) {
        network_s += aborts.exact.contention[i].network_s;
    }
    assert_true(network_s > 0.00299 && network_s < 0.00301);
    wio_aborts_fini(&aborts);
}

/* B waits 10 ms for A, of which A's second request took 4: 6 ms A's client was thinking. */
static void waits_tell_the_holders_think_time(void **state)
{
    (void)state;
    struct wio_aborts aborts;
    txn_script_run("0 begin A1 app a.c:1\n"
                   "1 answer A1 s0 w f1 0-100\n"
                   "2 begin B1 app b.c:1\n"
                   "2 arrive B1 s0 w f1 50-80 by A1\n"
                   "10 answer A1 s0 w f1 0-100 run=4\n"
                   "12 release A1 s0 committed\n"
                   "12 end A1 committed\n"
                   "12 answer B1 s0 w f1 50-80 lock=10 by A1\n"
                   "13 release B1 s0 committed\n"
                   "13 end B1 committed\n",
                   &aborts);
    const struct wio_exact_pair *pair = pair_of(&aborts, "b.c:1", "a.c:1");
    assert_int_equal(pair->waits, 1);
    assert_int_equal(pair->aborts, 0);
    assert_true(pair->wait_s > 0.00999 && pair->wait_s < 0.01001);
    assert_true(pair->think_s > 0.00599 && pair->think_s < 0.00601);
    assert_true(aborts.totals.wait_s > 0.00999);
    wio_aborts_fini(&aborts);
}

/* C waits for B, which waits for A: three long, A at its root. */
static void chains_are_followed(void **state)
{
    (void)state;
    struct wio_aborts aborts;
    txn_script_run("0 begin A1 app a.c:1\n"
                   "1 answer A1 s0 w f1 0-100\n"
                   "2 begin B1 app b.c:1\n"
                   "2 answer B1 s1 w f1 0-100\n"
                   "3 arrive B1 s0 w f1 0-10 by A1\n"
                   "4 begin C1 app c.c:1\n"
                   "5 answer C1 s1 w f1 0-10 refused by B1\n"
                   "6 release C1 s1 aborted\n"
                   "6 end C1 aborted\n",
                   &aborts);
    const struct wio_exact_pair *pair = pair_of(&aborts, "c.c:1", "b.c:1");
    assert_int_equal(pair->chain_max, 2);
    assert_string_equal(place_of(&aborts, pair->chain_root), "a.c:1");
    wio_aborts_fini(&aborts);
}

/* A waits for B at one server and B for A at the other: the second wait closes the cycle. */
static void cycles_are_deadlocks(void **state)
{
    (void)state;
    struct wio_aborts aborts;
    txn_script_run("0 begin A1 app a.c:1\n"
                   "0 begin B1 app b.c:1\n"
                   "1 answer A1 s0 w f1 0-100\n"
                   "1 answer B1 s1 w f1 0-100\n"
                   "2 arrive A1 s1 w f1 0-100 by B1\n"
                   "3 arrive B1 s0 w f1 0-100 by A1\n"
                   "4 wound B1 s1 by A1\n"
                   "5 release B1 s0 aborted\n"
                   "5 release B1 s1 aborted\n"
                   "5 end B1 aborted\n"
                   "6 answer A1 s1 w f1 0-100 lock=3 by B1\n"
                   "7 release A1 s0 committed\n"
                   "7 release A1 s1 committed\n"
                   "7 end A1 committed\n",
                   &aborts);
    assert_int_equal(aborts.totals.deadlocks, 1);
    assert_int_equal(pair_of(&aborts, "b.c:1", "a.c:1")->deadlocks, 1);
    assert_int_equal(aborts.totals.by_refusal[WIO_REFUSAL_WOUND], 1);
    wio_aborts_fini(&aborts);
}

/* A waits for B and B for A; the one that waited first is refused when its time is out. */
static void refused_in_a_cycle_is_a_deadlock(void **state)
{
    (void)state;
    struct wio_aborts aborts;
    txn_script_run("0 begin A1 app a.c:1\n"
                   "0 begin B1 app b.c:1\n"
                   "1 answer A1 s0 w f1 0-100\n"
                   "1 answer B1 s1 w f1 0-100\n"
                   "2 arrive A1 s1 w f1 0-100 by B1\n"
                   "3 arrive B1 s0 w f1 0-100 by A1\n"
                   "9 answer A1 s1 w f1 0-100 refused by B1\n"
                   "9 release A1 s0 aborted\n"
                   "9 release A1 s1 aborted\n"
                   "9 end A1 aborted\n",
                   &aborts);
    assert_int_equal(aborts.totals.deadlocks, 1);
    assert_int_equal(pair_of(&aborts, "a.c:1", "b.c:1")->deadlocks, 1);
    wio_aborts_fini(&aborts);
}

/* C waits for B, which waits for A, and all commit: the chain is that of when C began to wait. */
static void chains_of_granted_waits_are_kept(void **state)
{
    (void)state;
    struct wio_aborts aborts;
    txn_script_run("0 begin A1 app a.c:1\n"
                   "1 answer A1 s0 w f1 0-100\n"
                   "2 begin B1 app b.c:1\n"
                   "2 answer B1 s1 w f1 0-100\n"
                   "3 arrive B1 s0 w f1 0-10 by A1\n"
                   "4 begin C1 app c.c:1\n"
                   "5 arrive C1 s1 w f1 0-10 by B1\n"
                   "6 release A1 s0 committed\n"
                   "6 end A1 committed\n"
                   "6 answer B1 s0 w f1 0-10 lock=3 by A1\n"
                   "7 release B1 s0 committed\n"
                   "7 release B1 s1 committed\n"
                   "7 end B1 committed\n"
                   "8 answer C1 s1 w f1 0-10 lock=3 by B1\n"
                   "9 release C1 s1 committed\n"
                   "9 end C1 committed\n",
                   &aborts);
    const struct wio_exact_pair *pair = pair_of(&aborts, "c.c:1", "b.c:1");
    assert_int_equal(pair->chain_max, 2);
    assert_string_equal(place_of(&aborts, pair->chain_root), "a.c:1");
    wio_aborts_fini(&aborts);
}

/* A lock of which no byte was touched by then is a false conflict wherever the bytes lie. */
static void nothing_touched_is_a_false_conflict(void **state)
{
    (void)state;
    struct wio_aborts aborts;
    txn_script_run("0 begin A1 app a.c:1\n"
                   "1 answer A1 s0 r f1 8192-12288 touched=0\n"
                   "2 begin B1 app b.c:1\n"
                   "3 answer B1 s0 w f1 4096-16384 refused by A1\n"
                   "4 release B1 s0 aborted\n"
                   "4 end B1 aborted\n",
                   &aborts);
    assert_int_equal(pair_of(&aborts, "b.c:1", "a.c:1")->by_conflict[WIO_CONFLICT_FALSE], 1);
    wio_aborts_fini(&aborts);
}

/* Behind the ranges that are kept of an attempt nothing is said to be untouched. */
static void many_ranges_are_no_false_conflict(void **state)
{
    (void)state;
    struct wio_aborts aborts;
    char script[16384];
    size_t used = (size_t)snprintf(script, sizeof(script), "0 begin A1 app a.c:1\n");
    for (unsigned i = 0; i < 70; i++) {
        used +=
            (size_t)snprintf(script + used, sizeof(script) - used, "%u answer A1 s0 w f%u %u-%u\n",
                             1 + i, 1 + i % 2, 200 * i, 200 * i + 100);
    }
    (void)snprintf(script + used, sizeof(script) - used,
                   "80 begin B1 app b.c:1\n"
                   "81 answer B1 s0 w f2 13800-13900 refused by A1\n"
                   "82 release B1 s0 aborted\n"
                   "82 end B1 aborted\n");
    txn_script_run(script, &aborts);
    assert_int_equal(pair_of(&aborts, "b.c:1", "a.c:1")->by_conflict[WIO_CONFLICT_FALSE], 0);
    wio_aborts_fini(&aborts);
}

/* Many small requests beside each other are one range, and hide nothing. */
static void adjacent_ranges_are_one(void **state)
{
    (void)state;
    struct wio_aborts aborts;
    char script[16384];
    size_t used = (size_t)snprintf(script, sizeof(script),
                                   "0 begin A1 app a.c:1\n"
                                   "0 answer A1 s0 r f1 0-1000 touched=100\n");
    for (unsigned i = 0; i < 70; i++) {
        used +=
            (size_t)snprintf(script + used, sizeof(script) - used, "%u answer A1 s0 w f%u %u-%u\n",
                             1 + i, 2 + i % 2, 100 * (i / 2), 100 * (i / 2) + 100);
    }
    (void)snprintf(script + used, sizeof(script) - used,
                   "80 answer A1 s0 w f4 0-100\n"
                   "80 begin B1 app b.c:1\n"
                   "81 answer B1 s0 w f1 900-1000 refused by A1\n"
                   "82 release B1 s0 aborted\n"
                   "82 end B1 aborted\n"
                   "83 begin C1 app c.c:1\n"
                   "84 answer C1 s0 w f3 3400-3500 refused by A1\n"
                   "85 release C1 s0 aborted\n"
                   "85 end C1 aborted\n");
    txn_script_run(script, &aborts);
    assert_int_equal(pair_of(&aborts, "b.c:1", "a.c:1")->by_conflict[WIO_CONFLICT_FALSE], 1);
    assert_int_equal(pair_of(&aborts, "c.c:1", "a.c:1")->by_conflict[WIO_CONFLICT_DATA], 1);
    wio_aborts_fini(&aborts);
}

/* Behind the ranges that are kept, those of other segments are still exact. */
static void widened_ranges_hide_nothing_elsewhere(void **state)
{
    (void)state;
    struct wio_aborts aborts;
    char script[16384];
    size_t used = (size_t)snprintf(script, sizeof(script),
                                   "0 begin A1 app a.c:1\n"
                                   "0 answer A1 s0 r f1 0-1000 touched=100\n");
    for (unsigned i = 0; i < 70; i++) {
        used += (size_t)snprintf(script + used, sizeof(script) - used,
                                 "%u answer A1 s0 w f2 %u-%u\n", 1 + i, 200 * i, 200 * i + 100);
    }
    (void)snprintf(script + used, sizeof(script) - used,
                   "80 begin B1 app b.c:1\n"
                   "81 answer B1 s0 w f1 900-1000 refused by A1\n"
                   "82 release B1 s0 aborted\n"
                   "82 end B1 aborted\n");
    txn_script_run(script, &aborts);
    assert_int_equal(pair_of(&aborts, "b.c:1", "a.c:1")->by_conflict[WIO_CONFLICT_FALSE], 1);
    wio_aborts_fini(&aborts);
}

/* A transaction is one line while its files still come. */
static void a_line_stays_one_while_files_come(void **state)
{
    (void)state;
    struct wio_aborts aborts;
    txn_script_run("0 begin A1 app a.c:1\n"
                   "1 answer A1 s0 w f1 0-100\n"
                   "1 answer A1 s0 w f2 0-100\n"
                   "2 begin B1 app b.c:1\n"
                   "2 arrive B1 s0 w f1 0-10 by A1\n"
                   "4 answer B1 s0 w f1 0-10 lock=2 by A1\n"
                   "5 arrive B1 s0 w f2 0-10 by A1\n"
                   "7 answer B1 s0 w f2 0-10 lock=2 by A1\n"
                   "8 release B1 s0 committed\n"
                   "8 end B1 committed\n",
                   &aborts);
    assert_int_equal(aborts.exact.pair_count, 1);
    assert_int_equal(aborts.exact.pairs[0].waits, 2);
    assert_int_equal(aborts.sources.rows[aborts.exact.pairs[0].victim].file_count, 2);
    wio_aborts_fini(&aborts);
}

/* The cost of an abort with two blockers is shared out, that with one twice is not. */
static void costs_add_up(void **state)
{
    (void)state;
    struct wio_aborts aborts;
    txn_script_run("0 begin A1 app a.c:1\n"
                   "1 answer A1 s0 r f1 0-100\n"
                   "1 begin A2 app a.c:1\n"
                   "1 answer A2 s0 r f1 0-100\n"
                   "1 begin C1 app c.c:1\n"
                   "1 answer C1 s0 r f1 0-100\n"
                   "2 begin B1 app b.c:1\n"
                   "3 answer B1 s0 w f1 50-80 refused by A1 A2 C1\n"
                   "4 release B1 s0 aborted\n"
                   "4 end B1 aborted\n",
                   &aborts);
    const struct wio_exact_pair *first = pair_of(&aborts, "b.c:1", "a.c:1");
    const struct wio_exact_pair *second = pair_of(&aborts, "b.c:1", "c.c:1");
    assert_int_equal(first->aborts, 1);
    assert_int_equal(second->aborts, 1);
    double sum = first->wasted_s + second->wasted_s;
    assert_true(sum > aborts.totals.wasted_s - 1e-9 && sum < aborts.totals.wasted_s + 1e-9);
    wio_aborts_fini(&aborts);
}

static void contention_is_split(void **state)
{
    (void)state;
    struct wio_aborts aborts;
    txn_script_run("0 begin A1 app a.c:1\n"
                   "20 answer A1 s3 w f1 0-100 queue=2 lock=3 storage=5 run=1\n"
                   "21 call A1 s3 w f1 0-100 storage=11 run=7\n"
                   "22 release A1 s3 committed\n"
                   "22 end A1 committed\n",
                   &aborts);
    assert_int_equal(aborts.exact.contention_count, 1);
    const struct wio_exact_contention *times = &aborts.exact.contention[0];
    assert_int_equal(times->requests, 1);
    assert_true(times->queue_s > 0.00199 && times->queue_s < 0.00201);
    assert_true(times->lock_s > 0.00299 && times->lock_s < 0.00301);
    assert_true(times->storage_s > 0.00499 && times->storage_s < 0.00501);
    assert_true(times->run_s > 0.00099 && times->run_s < 0.00101);
    assert_true(times->network_s > 0.00699 && times->network_s < 0.00701);
    wio_aborts_fini(&aborts);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(aborts_have_their_blocker),
        cmocka_unit_test(untouched_bytes_are_a_false_conflict),
        cmocka_unit_test(roles_are_kinds_of_conflict),
        cmocka_unit_test(waits_tell_the_holders_think_time),
        cmocka_unit_test(what_is_on_its_way_is_no_thinking),
        cmocka_unit_test(chains_are_followed),
        cmocka_unit_test(cycles_are_deadlocks),
        cmocka_unit_test(refused_in_a_cycle_is_a_deadlock),
        cmocka_unit_test(chains_of_granted_waits_are_kept),
        cmocka_unit_test(nothing_touched_is_a_false_conflict),
        cmocka_unit_test(many_ranges_are_no_false_conflict),
        cmocka_unit_test(adjacent_ranges_are_one),
        cmocka_unit_test(widened_ranges_hide_nothing_elsewhere),
        cmocka_unit_test(a_line_stays_one_while_files_come),
        cmocka_unit_test(costs_add_up),
        cmocka_unit_test(contention_is_split),
    };
    return WIO_RUN(tests);
}
