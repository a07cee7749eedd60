/* SPDX-License-Identifier: Apache-2.0 */
/* Holding, one situation each: patience, limits, death, locks, contradictions, periods. */
#include "support/unit.h"

#include "causal/hold/hold.h"

static struct wio_hold *pair(uint64_t patience_ns)
{
    struct wio_alloc heap = WIO_ALLOC_HEAP;
    struct wio_hold_params params = {.method = WIO_HOLD_PRIORITY,
                                     .nodes = 2,
                                     .period = 1,
                                     .patience_ns = patience_ns,
                                     .limit_ns = 1000};
    struct wio_hold *hold;
    assert_int_equal(wio_hold_create(&params, &heap, &hold), WIO_OK);
    wio_hold_begin_run(hold, 0);
    return hold;
}

static struct wio_hold_decision ask(struct wio_hold *hold, uint64_t now_ns)
{
    struct wio_hold_decision decision;
    assert_int_equal(wio_hold_decide(hold, now_ns, &decision), WIO_OK);
    return decision;
}

static void tell_node(struct wio_hold *hold, uint32_t node, enum wio_node_state state,
                      uint64_t now_ns)
{
    assert_int_equal(wio_hold_event(hold, node, state, now_ns), WIO_OK);
}

/* A flag in shared memory: node 1 says nothing until node 0's operation has gone. */
static void a_node_that_spins_is_found_by_patience(void **state)
{
    (void)state;
    struct wio_hold *hold = pair(100);
    tell_node(hold, 0, WIO_NODE_AT_IO, 1);
    assert_int_equal(ask(hold, 100).verdict, WIO_HOLD_NOTHING);
    struct wio_hold_decision decision = ask(hold, 101);
    assert_int_equal(decision.verdict, WIO_HOLD_RELEASE);
    assert_int_equal(decision.node, 0);
    tell_node(hold, 1, WIO_NODE_AT_IO, 150);
    tell_node(hold, 0, WIO_NODE_EXITED, 160);
    assert_int_equal(wio_hold_borrow_edges(hold)->edge_count, 1);
    assert_int_equal(ask(hold, 170).node, 1);
    tell_node(hold, 1, WIO_NODE_EXITED, 180);
    assert_int_equal(ask(hold, 180).verdict, WIO_HOLD_ENDED);
    bool more;
    assert_int_equal(wio_hold_end_run(hold, &more), WIO_OK);
    assert_false(more); /* the bounds meet after one run */
    assert_int_equal(wio_hold_unproven(hold), 0);
    wio_hold_destroy(hold);
}

static void no_hold_lasts_for_ever(void **state)
{
    (void)state;
    struct wio_hold *hold = pair(0);
    tell_node(hold, 0, WIO_NODE_AT_IO, 1);
    assert_int_equal(ask(hold, 1000).verdict, WIO_HOLD_NOTHING);
    assert_int_equal(ask(hold, 1001).verdict, WIO_HOLD_GIVE_UP);
    wio_hold_destroy(hold);
}

static void a_rank_that_dies_holds_no_other(void **state)
{
    (void)state;
    struct wio_hold *hold = pair(0);
    tell_node(hold, 0, WIO_NODE_AT_IO, 1);
    tell_node(hold, 1, WIO_NODE_EXITED, 2);
    assert_int_equal(ask(hold, 2).verdict, WIO_HOLD_RELEASE);
    tell_node(hold, 0, WIO_NODE_BLOCKED, 3); /* waits for the dead */
    assert_int_equal(ask(hold, 3).verdict, WIO_HOLD_STUCK);
    wio_hold_destroy(hold);
}

static void the_next_owner_of_a_lock_is_no_dependency(void **state)
{
    (void)state;
    struct wio_hold *hold = pair(0);
    tell_node(hold, 0, WIO_NODE_AT_IO, 1);
    tell_node(hold, 1, WIO_NODE_IN_LOCK, 2);
    assert_int_equal(ask(hold, 2).verdict, WIO_HOLD_RELEASE);
    tell_node(hold, 1, WIO_NODE_COMPUTING, 3);
    tell_node(hold, 1, WIO_NODE_AT_IO, 4);
    assert_int_equal(wio_hold_borrow_edges(hold)->edge_count, 0);
    wio_hold_destroy(hold);
}

/* The same lock, but reported as some wait: the other order in a second run gives it away. */
static void a_lock_without_a_report_is_a_contradiction(void **state)
{
    (void)state;
    struct wio_hold *hold = pair(0);
    bool more;
    for (uint32_t owner = 0; owner < 2; owner++) {
        wio_hold_begin_run(hold, 0);
        tell_node(hold, owner, WIO_NODE_AT_IO, 1);
        tell_node(hold, 1 - owner, WIO_NODE_BLOCKED, 2);
        assert_int_equal(ask(hold, 2).node, owner);
        tell_node(hold, 1 - owner, WIO_NODE_AT_IO, 3);
        tell_node(hold, owner, WIO_NODE_EXITED, 4);
        assert_int_equal(ask(hold, 4).node, 1 - owner);
        tell_node(hold, 1 - owner, WIO_NODE_EXITED, 5);
        assert_int_equal(wio_hold_end_run(hold, &more), WIO_OK);
        /* 0:0 -> 1:0, then 1:0 -> 0:0: neither is one */
        assert_int_equal(wio_hold_contradicted(hold), 2 * owner);
        assert_int_equal(wio_hold_borrow_edges(hold)->edge_count, 1 - owner);
    }
    wio_hold_destroy(hold);
}

/* Node 1 waits for node 0 in one run and not in the next. */
static void a_program_that_differs_is_a_contradiction(void **state)
{
    (void)state;
    struct wio_hold *hold = pair(0);
    bool more;
    tell_node(hold, 0, WIO_NODE_AT_IO, 1);
    tell_node(hold, 1, WIO_NODE_BLOCKED, 1);
    assert_int_equal(ask(hold, 2).node, 0);
    tell_node(hold, 1, WIO_NODE_AT_IO, 3);
    tell_node(hold, 0, WIO_NODE_EXITED, 3);
    assert_int_equal(ask(hold, 4).node, 1);
    tell_node(hold, 1, WIO_NODE_EXITED, 5);
    assert_int_equal(wio_hold_end_run(hold, &more), WIO_OK);
    assert_int_equal(wio_hold_contradicted(hold), 0);
    wio_hold_begin_run(hold, 6);
    tell_node(hold, 1, WIO_NODE_AT_IO, 7);
    tell_node(hold, 0, WIO_NODE_BLOCKED, 7);
    assert_int_equal(ask(hold, 7).node, 1);
    tell_node(hold, 1, WIO_NODE_EXITED, 8);
    tell_node(hold, 0, WIO_NODE_EXITED, 8); /* this time it does nothing */
    assert_int_equal(ask(hold, 9).verdict, WIO_HOLD_ENDED);
    assert_int_equal(wio_hold_end_run(hold, &more), WIO_OK);
    assert_int_equal(wio_hold_contradicted(hold), 1);
    wio_hold_destroy(hold);
}

static void know(struct wio_hold *hold, uint32_t from, uint64_t from_op, uint32_t to,
                 uint64_t to_op)
{
    const struct wio_edge edge = {.from_thread = from,
                                  .from_op = from_op,
                                  .to_thread = to,
                                  .to_op = to_op,
                                  .class = WIO_EDGE_HARD,
                                  .evidence = WIO_EVIDENCE_MPI};
    assert_int_equal(wio_hold_know(hold, &edge), WIO_OK);
}

/* Two operations each: 0:0 -> 1:0, the others in any order for all that is known. */
static void only_what_is_open_is_held(void **state)
{
    (void)state;
    struct wio_hold *hold = pair(0);
    bool more;
    assert_int_equal(wio_hold_expect(hold, 0, 2), WIO_OK);
    assert_int_equal(wio_hold_expect(hold, 1, 2), WIO_OK);
    know(hold, 0, 0, 1, 0);
    assert_int_equal(wio_hold_plan(hold, &more), WIO_OK);
    assert_true(more);
    assert_false(wio_hold_is_open(hold, 0, 0)); /* before all of the other */
    assert_true(wio_hold_is_open(hold, 0, 1));
    assert_true(wio_hold_is_open(hold, 1, 0));
    assert_int_equal(wio_hold_unproven(hold), 3); /* 1:0 and 1:1 on 0:1; 0:1 on 1:0 and 1:1 */
    know(hold, 0, 1, 1, 0);
    assert_int_equal(wio_hold_plan(hold, &more), WIO_OK);
    assert_false(more); /* one after the other */
    assert_int_equal(wio_hold_found(hold), 0);
    wio_hold_destroy(hold);
}

static const struct wio_member barrier[2] = {
    {.thread = 0, .enter_op = 1, .leave_op = 1, .gives = true, .takes = true},
    {.thread = 1, .enter_op = 1, .leave_op = 1, .gives = true, .takes = true}};

/* A barrier between the first and the second operation of each: as an event, and as edges. */
static void a_collective_says_what_its_edges_say(void **state)
{
    (void)state;
    struct wio_hold *holds[2] = {pair(0), pair(0)};
    bool more[2];
    for (uint32_t h = 0; h < 2; h++) {
        assert_int_equal(wio_hold_expect(holds[h], 0, 2), WIO_OK);
        assert_int_equal(wio_hold_expect(holds[h], 1, 2), WIO_OK);
    }
    know(holds[0], 0, 0, 1, 1);
    know(holds[0], 1, 0, 0, 1);
    assert_int_equal(wio_hold_know_collective(holds[1], barrier, 2), WIO_OK);
    for (uint32_t h = 0; h < 2; h++) {
        assert_int_equal(wio_hold_plan(holds[h], &more[h]), WIO_OK);
    }
    assert_true(more[0] && more[1]);
    assert_int_equal(wio_hold_unproven(holds[1]), wio_hold_unproven(holds[0]));
    assert_int_equal(wio_hold_borrow_edges(holds[1])->edge_count, 0);
    wio_hold_destroy(holds[0]);
    wio_hold_destroy(holds[1]);
}

/* It did not wait this time: no node waits for it any more. */
static void a_collective_that_is_not_obeyed_is_none(void **state)
{
    (void)state;
    struct wio_hold *hold = pair(0);
    bool more;
    assert_int_equal(wio_hold_expect(hold, 0, 2), WIO_OK);
    assert_int_equal(wio_hold_expect(hold, 1, 2), WIO_OK);
    assert_int_equal(wio_hold_know_collective(hold, barrier, 2), WIO_OK);
    assert_int_equal(wio_hold_plan(hold, &more), WIO_OK);
    assert_true(wio_hold_borrow_edges(hold)->members[0].gives);
    wio_hold_begin_run(hold, 1);
    tell_node(hold, 1, WIO_NODE_BLOCKED, 2);
    for (uint64_t op = 0; op < 2; op++) {
        tell_node(hold, 0, WIO_NODE_AT_IO, 3 + op);
        assert_int_equal(ask(hold, 3 + op).node, 0);
    }
    tell_node(hold, 0, WIO_NODE_EXITED, 6);
    for (uint64_t op = 0; op < 2; op++) {
        tell_node(hold, 1, WIO_NODE_AT_IO, 7 + op);
        assert_int_equal(ask(hold, 7 + op).node, 1);
    }
    tell_node(hold, 1, WIO_NODE_EXITED, 10);
    assert_int_equal(wio_hold_end_run(hold, &more), WIO_OK);
    for (size_t i = 0; i < 2; i++) {
        assert_false(wio_hold_borrow_edges(hold)->members[i].gives);
        assert_false(wio_hold_borrow_edges(hold)->members[i].takes);
    }
    wio_hold_destroy(hold);
}

/* A node that was freed and did an operation that is not held was freed before that operation. */
static void an_edge_ends_before_what_passed(void **state)
{
    (void)state;
    struct wio_hold *hold = pair(0);
    tell_node(hold, 0, WIO_NODE_AT_IO, 1);
    tell_node(hold, 1, WIO_NODE_BLOCKED, 1);
    assert_int_equal(ask(hold, 2).node, 0);
    tell_node(hold, 1, WIO_NODE_COMPUTING, 3);
    wio_hold_pass(hold, 1);
    tell_node(hold, 1, WIO_NODE_AT_IO, 4);
    const struct wio_edges *edges = wio_hold_borrow_edges(hold);
    assert_int_equal(edges->edge_count, 1);
    assert_int_equal(edges->edges[0].to_op, 0);
    wio_hold_destroy(hold);
}

static void a_run_that_failed_leaves_no_edges(void **state)
{
    (void)state;
    struct wio_hold *hold = pair(0);
    tell_node(hold, 0, WIO_NODE_AT_IO, 1);
    tell_node(hold, 1, WIO_NODE_BLOCKED, 1);
    assert_int_equal(ask(hold, 2).node, 0);
    tell_node(hold, 1, WIO_NODE_AT_IO, 3);
    assert_int_equal(wio_hold_found(hold), 1);
    wio_hold_drop_run(hold);
    assert_int_equal(wio_hold_found(hold), 0);
    wio_hold_destroy(hold);
}

static void the_period_falls_until_the_goal_is_met(void **state)
{
    (void)state;
    struct wio_period_goal goal = {.target_error = 0.06, .budget_s = 1000};
    uint64_t period = WIO_PERIOD_FIRST;
    assert_true(wio_period_next(&goal, 0.26, 1, 1, &period));
    assert_int_equal(period, 100);
    assert_true(wio_period_next(&goal, 0.17, 10, 11, &period));
    assert_int_equal(period, 10);
    assert_false(wio_period_next(&goal, 0.05, 80, 91, &period));   /* good enough */
    assert_false(wio_period_next(&goal, 0.08, 100, 111, &period)); /* too dear */
    assert_true(wio_period_next(&goal, 0.08, 50, 61, &period));
    assert_int_equal(period, 1);
    assert_false(wio_period_next(&goal, 0.08, 5, 6, &period)); /* there is nothing finer */
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_node_that_spins_is_found_by_patience),
        cmocka_unit_test(no_hold_lasts_for_ever),
        cmocka_unit_test(a_rank_that_dies_holds_no_other),
        cmocka_unit_test(the_next_owner_of_a_lock_is_no_dependency),
        cmocka_unit_test(a_lock_without_a_report_is_a_contradiction),
        cmocka_unit_test(a_program_that_differs_is_a_contradiction),
        cmocka_unit_test(only_what_is_open_is_held),
        cmocka_unit_test(a_collective_says_what_its_edges_say),
        cmocka_unit_test(a_collective_that_is_not_obeyed_is_none),
        cmocka_unit_test(an_edge_ends_before_what_passed),
        cmocka_unit_test(a_run_that_failed_leaves_no_edges),
        cmocka_unit_test(the_period_falls_until_the_goal_is_met),
    };
    return WIO_RUN(tests);
}
