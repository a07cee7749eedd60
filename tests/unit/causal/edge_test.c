/* SPDX-License-Identifier: Apache-2.0 */
#include "support/stingy.h"
#include "support/unit.h"

#include "causal/core/edge.h"

static const struct wio_edge sound = {.from_thread = 0, .from_op = 4, .to_thread = 1, .to_op = 2};

static void grows_and_keeps_what_was_added(void **state)
{
    (void)state;
    struct wio_alloc heap = WIO_ALLOC_HEAP;
    struct wio_edges edges;
    wio_edges_init(&edges, &heap, 2);
    for (uint64_t i = 0; i < 100000; i++) {
        struct wio_edge edge = sound;
        edge.to_op = i;
        assert_int_equal(wio_edges_add(&edges, &edge), WIO_OK);
    }
    assert_int_equal(edges.edge_count, 100000);
    for (uint64_t i = 0; i < 100000; i++) {
        assert_int_equal(edges.edges[i].to_op, i);
    }
    wio_edges_fini(&edges);
}

static void refuses_what_does_not_exist(void **state)
{
    (void)state;
    struct wio_alloc heap = WIO_ALLOC_HEAP;
    struct wio_edges edges;
    wio_edges_init(&edges, &heap, 2);
    struct wio_edge bad[] = {sound, sound, sound, sound, sound};
    bad[0].from_thread = 2;
    bad[1].to_thread = 2;
    bad[2].class = WIO_EDGE_CLASS_COUNT;
    bad[3].class = WIO_EDGE_COLLECTIVE;
    bad[4].evidence = WIO_EVIDENCE_COUNT;
    for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
        assert_int_equal(wio_edges_add(&edges, &bad[i]), WIO_ERR_USAGE);
    }
    struct wio_member twice[] = {{.thread = 1, .gives = true}, {.thread = 1, .takes = true}};
    struct wio_member back = {.thread = 0, .enter_op = 3, .leave_op = 2};
    struct wio_member unknown = {.thread = 2};
    assert_int_equal(wio_edges_add_collective(&edges, twice, 2, 0, WIO_EVIDENCE_MPI),
                     WIO_ERR_USAGE);
    assert_int_equal(wio_edges_add_collective(&edges, &back, 1, 0, WIO_EVIDENCE_MPI),
                     WIO_ERR_USAGE);
    assert_int_equal(wio_edges_add_collective(&edges, &unknown, 1, 0, WIO_EVIDENCE_MPI),
                     WIO_ERR_USAGE);
    assert_int_equal(edges.edge_count + edges.collective_count + edges.member_count, 0);
    wio_edges_fini(&edges);
}

static void gives_back_all_memory_and_stays_whole_without_any(void **state)
{
    (void)state;
    struct wio_member members[] = {{.thread = 0, .gives = true, .takes = true},
                                   {.thread = 1, .gives = true, .takes = true}};
    for (int allowed = 0; allowed < 6; allowed++) {
        struct wio_stingy stingy = {.left = allowed};
        struct wio_alloc alloc = wio_stingy_alloc(&stingy);
        struct wio_edges edges;
        wio_edges_init(&edges, &alloc, 2);
        size_t added = 0;
        for (int i = 0; i < 20; i++) {
            added += wio_edges_add(&edges, &sound) == WIO_OK ? 1 : 0;
        }
        assert_int_equal(edges.edge_count, added);
        size_t collectives =
            wio_edges_add_collective(&edges, members, 2, 0, WIO_EVIDENCE_MPI) == WIO_OK ? 1 : 0;
        assert_int_equal(edges.collective_count, collectives);
        wio_edges_fini(&edges);
        assert_int_equal(stingy.out, 0);
    }
}

static void names_every_class_and_evidence(void **state)
{
    (void)state;
    assert_string_equal(wio_edge_class_name(WIO_EDGE_QUEUE), "queue");
    assert_string_equal(wio_edge_class_name(WIO_EDGE_CLASS_COUNT), "?");
    assert_string_equal(wio_evidence_name(WIO_EVIDENCE_HELD), "held");
    assert_string_equal(wio_evidence_name(WIO_EVIDENCE_COUNT), "?");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(grows_and_keeps_what_was_added),
        cmocka_unit_test(refuses_what_does_not_exist),
        cmocka_unit_test(gives_back_all_memory_and_stays_whole_without_any),
        cmocka_unit_test(names_every_class_and_evidence),
    };
    return WIO_RUN(tests);
}
