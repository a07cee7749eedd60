/* SPDX-License-Identifier: Apache-2.0 */
#include "support/unit.h"

#include <string.h>

#include "causal/order/merge.h"

enum { OPEN, WRITE, STAT, CLOSE };
enum { DATA = 1, FLAG, TEMP_A, TEMP_B, OTHER };

#define NODES 2
#define WRITES(file, at, bytes)                                                                    \
    {                                                                                              \
        .op = WRITE, .name = (file), .offset = (at), .size = (bytes), .result = (bytes)            \
    }
#define LOOK(file, answer)                                                                         \
    {                                                                                              \
        .op = STAT, .name = (file), .result = (answer), .is_look = true                            \
    }
#define TEMPORARY(which)                                                                           \
    {                                                                                              \
        .op = OPEN, .name = (which), .is_temporary = true                                          \
    }

static const struct wio_run_op writer[] = {WRITES(DATA, 0, 8), WRITES(DATA, 8, 8),
                                           WRITES(FLAG, 0, 1)};
static const struct wio_run_op patient[] = {LOOK(FLAG, -2), LOOK(FLAG, -2), LOOK(FLAG, -2),
                                            LOOK(FLAG, 0), WRITES(OTHER, 0, 4)};
static const struct wio_run_op lucky[] = {LOOK(FLAG, 0), WRITES(OTHER, 0, 4)};

struct fixture {
    struct wio_edges found[2];
    struct wio_edges merged;
    struct wio_run_node nodes[2][NODES];
    struct wio_run runs[2];
    struct wio_run_difference difference;
    struct wio_error err;
};

#define NODE(ops)                                                                                  \
    (struct wio_run_node)                                                                          \
    {                                                                                              \
        ops, sizeof(ops) / sizeof((ops)[0])                                                        \
    }

static void begin(struct fixture *f)
{
    struct wio_alloc heap = WIO_ALLOC_HEAP;
    *f = (struct fixture){.err = WIO_ERROR_INIT};
    wio_edges_init(&f->merged, &heap, NODES);
    for (uint32_t r = 0; r < 2; r++) {
        wio_edges_init(&f->found[r], &heap, NODES);
        f->runs[r] = (struct wio_run){f->nodes[r], &f->found[r], r};
        f->nodes[r][0] = NODE(writer);
        f->nodes[r][1] = NODE(patient);
    }
}

static void end(struct fixture *f)
{
    wio_edges_fini(&f->found[0]);
    wio_edges_fini(&f->found[1]);
    wio_edges_fini(&f->merged);
}

static void add(struct wio_edges *edges, uint32_t a, uint64_t i, uint32_t b, uint64_t j)
{
    struct wio_edge edge = {
        .from_thread = a, .from_op = i, .to_thread = b, .to_op = j, .evidence = WIO_EVIDENCE_HELD};
    assert_int_equal(wio_edges_add(edges, &edge), WIO_OK);
}

static void merge(struct fixture *f)
{
    assert_ok(wio_runs_merge(f->runs, 2, &f->merged, &f->difference, &f->err), &f->err);
}

static void edges_are_united_however_often_a_run_polled(void **state)
{
    (void)state;
    struct fixture f;
    begin(&f);
    f.nodes[1][1] = NODE(lucky);
    add(&f.found[0], 0, 2, 1, 3); /* to the look that succeeded */
    add(&f.found[0], 0, 1, 1, 0); /* to the first of that run of looks */
    add(&f.found[1], 0, 2, 1, 0); /* the first again */
    add(&f.found[1], 0, 0, 1, 1);
    add(&f.found[0], 1, 2, 0, 2); /* from a look that failed: not from the one that succeeded */
    struct wio_member all[] = {{2, 2, 0, true, true}, {4, 4, 1, true, true}};
    assert_int_equal(wio_edges_add_collective(&f.found[0], all, 2, 1, WIO_EVIDENCE_MPI), WIO_OK);
    merge(&f);
    assert_false(f.difference.found);
    assert_int_equal(f.merged.edge_count, 3);
    const uint64_t expected[3][2] = {{2, 0}, {1, 0}, {0, 1}};
    for (size_t i = 0; i < 3; i++) {
        assert_int_equal(f.merged.edges[i].from_op, expected[i][0]);
        assert_int_equal(f.merged.edges[i].to_op, expected[i][1]);
    }
    assert_int_equal(f.merged.collective_count, 1);
    assert_int_equal(f.merged.members[1].enter_op, 1);
    end(&f);
}

static void the_first_difference_is_located(void **state)
{
    (void)state;
    struct fixture f;
    begin(&f);
    const struct wio_run_op other[] = {LOOK(FLAG, -2), LOOK(FLAG, 0), WRITES(OTHER, 0, 5)};
    f.nodes[1][1] = NODE(other);
    add(&f.found[0], 0, 2, 1, 3);
    merge(&f);
    assert_true(f.difference.found);
    assert_int_equal(f.difference.node, 1);
    assert_int_equal(f.difference.run, 1);
    assert_int_equal(f.difference.op, 1);
    assert_int_equal(f.difference.raw[0], 4);
    assert_int_equal(f.difference.raw[1], 2);
    assert_ptr_equal(f.difference.ops[0], &patient[4]);
    assert_ptr_equal(f.difference.ops[1], &other[2]);
    assert_int_equal(f.merged.edge_count, 0);
    end(&f);
}

static void a_run_that_ends_early_differs(void **state)
{
    (void)state;
    struct fixture f;
    begin(&f);
    f.nodes[1][0].count = 2;
    merge(&f);
    assert_true(f.difference.found);
    assert_int_equal(f.difference.op, 2);
    assert_ptr_equal(f.difference.ops[0], &writer[2]);
    assert_null(f.difference.ops[1]);
    end(&f);
}

/* Node 1 makes the file that node 0, which is compared first, writes. */
static void temporary_names_mean_the_same_file(void **state)
{
    (void)state;
    struct fixture f;
    begin(&f);
    const struct wio_run_op user_a[] = {WRITES(TEMP_A, 0, 4)};
    const struct wio_run_op user_b[] = {WRITES(TEMP_B, 0, 4)};
    const struct wio_run_op maker_a[] = {TEMPORARY(TEMP_A)};
    const struct wio_run_op maker_b[] = {TEMPORARY(TEMP_B)};
    f.nodes[0][0] = NODE(user_a);
    f.nodes[0][1] = NODE(maker_a);
    f.nodes[1][0] = NODE(user_b);
    f.nodes[1][1] = NODE(maker_b);
    merge(&f);
    assert_false(f.difference.found);

    f.nodes[1][0] = NODE(user_a); /* in run 1 this is another file */
    merge(&f);
    assert_true(f.difference.found);
    assert_int_equal(f.difference.node, 0);
    end(&f);
}

static void names_that_are_not_made_up_must_be_equal(void **state)
{
    (void)state;
    struct fixture f;
    begin(&f);
    const struct wio_run_op other[] = {WRITES(DATA, 0, 8), WRITES(OTHER, 8, 8), WRITES(FLAG, 0, 1)};
    f.nodes[1][0] = NODE(other);
    merge(&f);
    assert_true(f.difference.found);
    assert_int_equal(f.difference.op, 1);
    end(&f);
}

/* Two workers at one queue: the worker of an item differs, what is done does not. */
static void work_that_is_shared_out_anew_is_the_same(void **state)
{
    (void)state;
    const struct wio_run_op first[] = {WRITES(DATA, 0, 8), WRITES(DATA, 16, 8)};
    const struct wio_run_op second[] = {LOOK(FLAG, -2), WRITES(DATA, 8, 8)};
    const struct wio_run_op all[] = {WRITES(DATA, 8, 8), WRITES(DATA, 0, 8), WRITES(DATA, 16, 8)};
    const struct wio_run_op longer[] = {WRITES(DATA, 8, 8), WRITES(DATA, 0, 8),
                                        WRITES(DATA, 16, 9)};
    for (unsigned other = 0; other < 2; other++) {
        struct fixture f;
        begin(&f);
        f.nodes[0][0] = NODE(first);
        f.nodes[0][1] = NODE(second);
        f.nodes[1][0] = other ? NODE(longer) : NODE(all);
        f.nodes[1][1] = (struct wio_run_node){NULL, 0};
        merge(&f);
        assert_true(f.difference.found);
        assert_int_equal(f.difference.is_same_work, !other);
        assert_int_equal(f.merged.edge_count, 0);
        end(&f);
    }
}

static void runs_of_different_sizes_are_refused(void **state)
{
    (void)state;
    struct fixture f;
    begin(&f);
    struct wio_alloc heap = WIO_ALLOC_HEAP;
    struct wio_edges three;
    wio_edges_init(&three, &heap, 3);
    f.runs[1].edges = &three;
    assert_status(wio_runs_merge(f.runs, 2, &f.merged, &f.difference, &f.err), WIO_ERR_FORMAT,
                  &f.err);
    assert_non_null(strstr(f.err.message, "run 1 has 3 nodes, expected 2"));
    wio_edges_fini(&three);
    f.runs[1].edges = &f.found[1];
    add(&f.found[1], 0, 3, 1, 0);
    assert_status(wio_runs_merge(f.runs, 2, &f.merged, &f.difference, &f.err), WIO_ERR_FORMAT,
                  &f.err);
    end(&f);
}

static void times_come_from_the_run_that_throttled_the_node(void **state)
{
    (void)state;
    struct fixture f;
    begin(&f);
    assert_int_equal(wio_runs_source(f.runs, 2, 1), 1);
    f.runs[1].throttled = UINT32_MAX;
    assert_int_equal(wio_runs_source(f.runs, 2, 1), 0);
    end(&f);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(edges_are_united_however_often_a_run_polled),
        cmocka_unit_test(the_first_difference_is_located),
        cmocka_unit_test(a_run_that_ends_early_differs),
        cmocka_unit_test(temporary_names_mean_the_same_file),
        cmocka_unit_test(names_that_are_not_made_up_must_be_equal),
        cmocka_unit_test(work_that_is_shared_out_anew_is_the_same),
        cmocka_unit_test(runs_of_different_sizes_are_refused),
        cmocka_unit_test(times_come_from_the_run_that_throttled_the_node),
    };
    return WIO_RUN(tests);
}
