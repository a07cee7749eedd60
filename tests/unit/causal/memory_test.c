/* SPDX-License-Identifier: Apache-2.0 */
/* Whatever request for memory is refused: a status, nothing kept, nothing broken. */
#include "support/stingy.h"
#include "support/unit.h"

#include "base/memory.h"
#include "causal/core/table.h"
#include "causal/hold/hold.h"
#include "causal/match/match.h"
#include "causal/order/merge.h"
#include "causal/order/signals.h"

#include "base/cleanup.h"

static void refuse_each(enum wio_status (*work)(const struct wio_alloc *alloc))
{
    enum wio_status status = WIO_ERR_NOMEM;
    unsigned n = 0;
    for (; status == WIO_ERR_NOMEM; n++) {
        assert_true(n < 1000);
        struct wio_stingy stingy = {.left = n};
        struct wio_alloc alloc = wio_stingy_alloc(&stingy);
        status = work(&alloc);
        assert_int_equal(stingy.out, 0);
    }
    assert_int_equal(status, WIO_OK);
    assert_true(n > 5);
}

static enum wio_status feed(struct wio_match *match)
{
    struct wio_wait_until wait;
    for (uint64_t i = 1; i < 40; i++) {
        struct wio_message m = {
            .tag = (int32_t)i, .source = 0, .destination = 1, .begin_op = i, .end_op = i};
        WIO_TRY(wio_match_send(match, &m));
        m.thread = 1;
        WIO_TRY(wio_match_receive(match, &m));
        WIO_TRY(wio_match_write(match, i, WIO_EVIDENCE_PIPE, (struct wio_point){i, 0}, 5, 0));
        WIO_TRY(wio_match_read(match, i, WIO_EVIDENCE_PIPE, (struct wio_point){i, 1}, 5, 0));
        WIO_TRY(wio_match_release(match, i, WIO_EVIDENCE_LOCK, (struct wio_point){i, 0}, true));
        WIO_TRY(wio_match_acquire(match, i, WIO_EVIDENCE_LOCK, (struct wio_point){i, 1}, false));
        WIO_TRY(wio_match_made(match, i, (struct wio_point){i, 0}, 0, true));
        WIO_TRY(wio_match_look(match, i, (struct wio_point){i, 1}, 0, true, &wait));
        for (uint32_t rank = 0; rank < 2; rank++) {
            struct wio_collective_call call = {.sequence = i,
                                               .size = 2,
                                               .rank = rank,
                                               .thread = rank,
                                               .enter_op = i,
                                               .leave_op = i};
            WIO_TRY(wio_match_collective(match, &call, NULL));
        }
    }
    return WIO_OK;
}

static enum wio_status match_and_drop(const struct wio_alloc *alloc)
{
    struct wio_edges edges WIO_CLEANUP(wio_edges_fini);
    wio_edges_init(&edges, alloc, 2);
    struct wio_match *match;
    WIO_TRY(wio_match_create(&edges, &match));
    enum wio_status status = feed(match);
    wio_match_destroy(match);
    WIO_TRY(status);
    return wio_edges_drop_repeated_signals(&edges, NULL);
}

static enum wio_status merge_runs(const struct wio_alloc *alloc)
{
    struct wio_run_op ops[] = {{.name = 1, .is_temporary = true}, {.name = 1}};
    struct wio_run_op others[] = {{.name = 2, .is_temporary = true}, {.name = 2}};
    struct wio_run_node nodes[2][2] = {{{ops, 2}, {ops, 2}}, {{others, 2}, {ops, 2}}};
    nodes[1][1].ops = others;
    struct wio_alloc heap = WIO_ALLOC_HEAP;
    struct wio_edges found WIO_CLEANUP(wio_edges_fini);
    struct wio_edges merged WIO_CLEANUP(wio_edges_fini);
    wio_edges_init(&found, &heap, 2);
    wio_edges_init(&merged, alloc, 2);
    struct wio_edge edge = {.from_thread = 0, .to_thread = 1, .to_op = 1};
    struct wio_member members[] = {{1, 1, 0, true, true}, {1, 1, 1, true, true}};
    assert_int_equal(wio_edges_add(&found, &edge), WIO_OK);
    assert_int_equal(wio_edges_add_collective(&found, members, 2, 0, WIO_EVIDENCE_MPI), WIO_OK);
    struct wio_run runs[] = {{nodes[0], &found, 0}, {nodes[1], &found, 1}};
    struct wio_run_difference difference;
    return wio_runs_merge(runs, 2, &merged, &difference, NULL);
}

static enum wio_status hold_pair(struct wio_hold *hold)
{
    wio_hold_begin_run(hold, 0);
    bool more;
    for (uint64_t i = 0; i < 40; i++) {
        struct wio_hold_decision decision;
        WIO_TRY(wio_hold_event(hold, 0, WIO_NODE_AT_IO, i));
        WIO_TRY(wio_hold_event(hold, 1, WIO_NODE_BLOCKED, i));
        WIO_TRY(wio_hold_decide(hold, i, &decision));
        WIO_TRY(wio_hold_event(hold, 1, WIO_NODE_COMPUTING, i));
    }
    return wio_hold_end_run(hold, &more);
}

static enum wio_status hold(const struct wio_alloc *alloc)
{
    struct wio_hold_params params = {.nodes = 2, .period = 1, .limit_ns = 100};
    struct wio_hold *hold;
    WIO_TRY(wio_hold_create(&params, alloc, &hold));
    enum wio_status status = hold_pair(hold);
    wio_hold_destroy(hold);
    return status;
}

static void matching_survives(void **state)
{
    (void)state;
    refuse_each(match_and_drop);
}

static void merging_survives(void **state)
{
    (void)state;
    refuse_each(merge_runs);
}

static void holding_survives(void **state)
{
    (void)state;
    refuse_each(hold);
}

static uint64_t low_byte(const void *context, uint32_t item)
{
    (void)context;
    return item & 255;
}

static void sorting_is_stable(void **state)
{
    (void)state;
    uint64_t seed = 4;
    uint32_t items[1000];
    uint32_t scratch[1000];
    for (size_t count = 0; count < 1000; count += 37) {
        for (uint32_t i = 0; i < count; i++) {
            items[i] = i << 8 | (uint32_t)(wio_test_random(&seed) & 15);
        }
        wio_stable_sort(items, scratch, count, low_byte, NULL);
        for (size_t i = 1; i < count; i++) {
            uint32_t a = items[i - 1];
            uint32_t b = items[i];
            assert_true((a & 255) < (b & 255) || ((a & 255) == (b & 255) && a < b));
        }
    }
}

static void a_table_numbers_keys_as_they_come(void **state)
{
    (void)state;
    struct wio_alloc heap = WIO_ALLOC_HEAP;
    struct wio_table table;
    wio_table_init(&table, &heap);
    assert_int_equal(wio_table_get(&table, (struct wio_table_key){{0}}), WIO_NO_INDEX);
    for (unsigned round = 0; round < 2; round++) {
        for (uint32_t i = 0; i < 5000; i++) {
            uint32_t number;
            struct wio_table_key key = {{i % 7, i / 7, 1}};
            assert_int_equal(wio_table_find(&table, key, &number), WIO_OK);
            assert_int_equal(number, i);
            assert_int_equal(wio_table_get(&table, key), i);
        }
    }
    assert_int_equal(wio_table_get(&table, (struct wio_table_key){{0, 0, 2}}), WIO_NO_INDEX);
    wio_table_fini(&table);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(matching_survives),
        cmocka_unit_test(merging_survives),
        cmocka_unit_test(holding_survives),
        cmocka_unit_test(sorting_is_stable),
        cmocka_unit_test(a_table_numbers_keys_as_they_come),
    };
    return WIO_RUN(tests);
}
