/* SPDX-License-Identifier: Apache-2.0 */
/* The reduction against transitive closure by brute force, on thousands of small random graphs. */
#include "support/stingy.h"
#include "support/unit.h"

#include <stdio.h>
#include <string.h>
#include <time.h>

#include "causal/order/reduce.h"

#define THREADS 5
#define OPS 7
#define HUBS 4
#define NODES (THREADS * OPS + HUBS)
#define EDGES 40

struct closure {
    bool reach[NODES][NODES];
};

static size_t node(uint32_t thread, uint64_t op)
{
    return thread * OPS + op;
}

/* Reachability of points through program order, firm edges but `without`, and collectives. */
static void close_over(struct closure *c, const struct wio_edges *edges, size_t without)
{
    memset(c, 0, sizeof(*c));
    for (uint32_t t = 0; t < THREADS; t++) {
        for (uint64_t op = 0; op + 1 < OPS; op++) {
            c->reach[node(t, op)][node(t, op + 1)] = true;
        }
    }
    for (size_t i = 0; i < edges->edge_count; i++) {
        const struct wio_edge *e = &edges->edges[i];
        if (i != without && e->class == WIO_EDGE_HARD) {
            c->reach[node(e->from_thread, e->from_op)][node(e->to_thread, e->to_op)] = true;
        }
    }
    for (size_t h = 0; h < edges->collective_count; h++) {
        for (size_t i = 0; i < edges->collectives[h].count; i++) {
            const struct wio_member *m = &edges->members[edges->collectives[h].first + i];
            if (m->gives && m->enter_op > 0) {
                c->reach[node(m->thread, m->enter_op - 1)][THREADS * OPS + h] = true;
            }
            if (m->takes) {
                c->reach[THREADS * OPS + h][node(m->thread, m->leave_op)] = true;
            }
        }
    }
    for (size_t k = 0; k < NODES; k++) {
        for (size_t i = 0; i < NODES; i++) {
            for (size_t j = 0; c->reach[i][k] && j < NODES; j++) {
                c->reach[i][j] |= c->reach[k][j];
            }
        }
    }
}

static bool has_cycle(const struct closure *c)
{
    for (size_t i = 0; i < NODES; i++) {
        if (c->reach[i][i]) {
            return true;
        }
    }
    return false;
}

static bool same_order(const struct closure *a, const struct closure *b)
{
    for (size_t i = 0; i < (size_t)THREADS * OPS; i++) {
        if (memcmp(a->reach[i], b->reach[i], (size_t)THREADS * OPS * sizeof(bool)) != 0) {
            return false;
        }
    }
    return true;
}

static void add_random_edge(struct wio_edges *edges, uint64_t *seed, bool forward)
{
    struct wio_edge edge = {.from_thread = (uint32_t)(wio_test_random(seed) % THREADS),
                            .from_op = wio_test_random(seed) % OPS,
                            .to_thread = (uint32_t)(wio_test_random(seed) % THREADS),
                            .to_op = wio_test_random(seed) % OPS};
    if (forward && edge.from_op >= edge.to_op) {
        edge.to_op = edge.from_op + 1;
        if (edge.to_op >= OPS) {
            return;
        }
    }
    if (wio_test_random(seed) % 8 == 0) {
        edge.class = WIO_EDGE_MUTEX;
        edge.object = 7;
    }
    assert_int_equal(wio_edges_add(edges, &edge), WIO_OK);
}

static void add_random_collective(struct wio_edges *edges, uint64_t *seed)
{
    struct wio_member members[THREADS];
    size_t count = 0;
    uint64_t op = wio_test_random(seed) % OPS;
    for (uint32_t t = 0; t < THREADS; t++) {
        uint64_t bits = wio_test_random(seed);
        if ((bits & 3) != 0) {
            uint64_t leave = op + ((bits >> 8) % 3 == 0 && op + 1 < OPS ? 1 : 0);
            members[count++] =
                (struct wio_member){op, leave, t, (bits & 12) != 0, (bits & 48) != 0};
        }
    }
    assert_int_equal(wio_edges_add_collective(edges, members, count, 1, WIO_EVIDENCE_MPI), WIO_OK);
}

static struct wio_edges random_graph(uint64_t *seed)
{
    struct wio_alloc heap = WIO_ALLOC_HEAP;
    struct wio_edges edges;
    wio_edges_init(&edges, &heap, THREADS);
    bool forward = wio_test_random(seed) % 4 != 0;
    size_t hubs = wio_test_random(seed) % (HUBS + 1);
    size_t count = wio_test_random(seed) % EDGES;
    for (size_t i = 0; i < count; i++) {
        add_random_edge(&edges, seed, forward);
    }
    for (size_t i = 0; i < hubs; i++) {
        add_random_collective(&edges, seed);
    }
    return edges;
}

static size_t count_class(const struct wio_edges *edges, unsigned class)
{
    size_t count = 0;
    for (size_t i = 0; i < edges->edge_count; i++) {
        count += edges->edges[i].class == class ? 1 : 0;
    }
    return count;
}

static void assert_minimal(const struct wio_edges *edges, const struct closure *full)
{
    for (size_t i = 0; i < edges->edge_count; i++) {
        struct closure without;
        close_over(&without, edges, i);
        if (edges->edges[i].class == WIO_EDGE_HARD && same_order(full, &without)) {
            fail_msg("edge %u:%u -> %u:%u is implied and was kept", edges->edges[i].from_thread,
                     (unsigned)edges->edges[i].from_op, edges->edges[i].to_thread,
                     (unsigned)edges->edges[i].to_op);
        }
    }
}

static void random_graphs_keep_their_order_with_the_fewest_edges(void **state)
{
    (void)state;
    uint64_t seed = 20240611;
    unsigned cyclic = 0;
    unsigned acyclic = 0;
    unsigned loose_cycles = 0;
    for (unsigned round = 0; round < 5000; round++) {
        struct wio_edges edges = random_graph(&seed);
        struct closure before;
        close_over(&before, &edges, SIZE_MAX);
        size_t total = edges.edge_count;
        size_t dropped = 0;
        struct wio_error err = WIO_ERROR_INIT;
        enum wio_status status = wio_edges_reduce(&edges, &dropped, &err);
        if (has_cycle(&before)) {
            cyclic++;
            assert_int_equal(status, WIO_ERR_FORMAT);
            assert_int_equal(edges.edge_count, total);
        } else if (status == WIO_ERR_FORMAT) {
            loose_cycles++;
            assert_true(count_class(&edges, WIO_EDGE_MUTEX) > 0);
            assert_non_null(strstr(err.message, "(mutex, "));
        } else {
            acyclic++;
            assert_int_equal(status, WIO_OK);
            assert_int_equal(edges.edge_count + dropped, total);
            struct closure after;
            close_over(&after, &edges, SIZE_MAX);
            assert_true(same_order(&before, &after));
            assert_minimal(&edges, &after);
        }
        wio_edges_fini(&edges);
    }
    printf("# %u without, %u with a cycle, %u with one that a lock closes\n", acyclic, cyclic,
           loose_cycles);
    assert_true(acyclic > 1000);
    assert_true(cyclic > 500);
}

static void add(struct wio_edges *edges, struct wio_edge edge)
{
    assert_int_equal(wio_edges_add(edges, &edge), WIO_OK);
}

static void locks_imply_nothing_and_are_not_implied(void **state)
{
    (void)state;
    struct wio_alloc heap = WIO_ALLOC_HEAP;
    struct wio_edges edges;
    struct wio_error err = WIO_ERROR_INIT;
    wio_edges_init(&edges, &heap, 3);
    struct wio_edge lock = {
        .from_op = 1, .to_thread = 1, .to_op = 1, .class = WIO_EDGE_MUTEX, .object = 9};
    add(&edges, lock);
    add(&edges, lock);
    add(&edges, (struct wio_edge){.from_op = 0, .to_thread = 1, .to_op = 2});
    add(&edges, (struct wio_edge){.from_op = 1, .to_thread = 1, .to_op = 1});
    size_t dropped;
    assert_ok(wio_edges_reduce(&edges, &dropped, &err), &err);
    assert_int_equal(dropped, 2); /* the double, and 0:0 -> 1:2, which 0:1 -> 1:1 implies */
    assert_int_equal(count_class(&edges, WIO_EDGE_MUTEX), 1);
    wio_edges_fini(&edges);

    wio_edges_init(&edges, &heap, 3);
    add(&edges, lock);
    add(&edges, (struct wio_edge){.from_op = 0, .to_thread = 1, .to_op = 2});
    assert_ok(wio_edges_reduce(&edges, &dropped, &err), &err);
    assert_int_equal(dropped, 0); /* the lock's order may be another one in replay */
    wio_edges_fini(&edges);
}

static void a_barrier_implies_messages_across_it(void **state)
{
    (void)state;
    struct wio_alloc heap = WIO_ALLOC_HEAP;
    struct wio_edges edges;
    struct wio_error err = WIO_ERROR_INIT;
    wio_edges_init(&edges, &heap, 3);
    struct wio_member all[3];
    for (uint32_t t = 0; t < 3; t++) {
        all[t] = (struct wio_member){5, 5, t, true, true};
    }
    assert_int_equal(wio_edges_add_collective(&edges, all, 3, 1, WIO_EVIDENCE_MPI), WIO_OK);
    add(&edges, (struct wio_edge){.from_op = 4, .to_thread = 1, .to_op = 5}); /* implied */
    add(&edges, (struct wio_edge){.from_op = 5, .to_thread = 1, .to_op = 6}); /* not: 0:5 itself */
    size_t dropped;
    assert_ok(wio_edges_reduce(&edges, &dropped, &err), &err);
    assert_int_equal(dropped, 1);
    assert_int_equal(edges.edges[0].from_op, 5);
    wio_edges_fini(&edges);
}

static void every_refused_request_is_survived(void **state)
{
    (void)state;
    enum wio_status status = WIO_ERR_NOMEM;
    unsigned n = 0;
    for (; status == WIO_ERR_NOMEM && n < 1000; n++) {
        uint64_t seed = 3;
        struct wio_edges source = random_graph(&seed);
        struct wio_stingy stingy = {.left = n};
        struct wio_alloc heap = source.alloc;
        source.alloc = wio_stingy_alloc(&stingy);
        struct wio_error err = WIO_ERROR_INIT;
        status = wio_edges_reduce(&source, NULL, &err);
        assert_int_equal(err.status, status);
        assert_int_equal(stingy.out, 0);
        source.alloc = heap;
        wio_edges_fini(&source);
    }
    assert_int_equal(status, WIO_OK);
    assert_true(n > 10);
}

/* The edges of 32 threads that each tell both neighbours after each operation: every second one of
 * them is implied nowhere. Prints its speed; `WIO_CAUSAL_OPS` sets the operations per thread. */
static void a_large_exchange_is_reduced(void **state)
{
    (void)state;
    const char *text = getenv("WIO_CAUSAL_OPS");
    uint64_t ops = text != NULL ? strtoull(text, NULL, 10) : 3000;
    struct wio_alloc heap = WIO_ALLOC_HEAP;
    struct wio_edges edges;
    wio_edges_init(&edges, &heap, 32);
    for (uint64_t op = 1; op < ops; op++) {
        for (uint32_t t = 0; t < 32; t++) {
            uint32_t next = (t + 1) % 32;
            add(&edges, (struct wio_edge){op - 1, op, t, next, 0, 0, 0, 0});
            add(&edges, (struct wio_edge){op - 1, op, next, t, 0, 0, 0, 0});
            if (op % 4 == 3) { /* two hops in two operations: implied */
                add(&edges, (struct wio_edge){op - 2, op, t, (t + 2) % 32, 0, 0, 0, 0});
            }
        }
    }
    size_t total = edges.edge_count;
    size_t implied = total - (size_t)(ops - 1) * 64;
    struct timespec begin;
    struct timespec end;
    (void)clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &begin);
    struct wio_error err = WIO_ERROR_INIT;
    size_t dropped;
    assert_ok(wio_edges_reduce(&edges, &dropped, &err), &err);
    (void)clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &end);
    assert_int_equal(dropped, implied);
    double seconds =
        (double)(end.tv_sec - begin.tv_sec) + (double)(end.tv_nsec - begin.tv_nsec) * 1e-9;
    printf("# %zu edges over 32 threads in %.3f s: %.0f ns per edge\n", total, seconds,
           seconds * 1e9 / (double)total);
    wio_edges_fini(&edges);
}

/* One read takes what a hundred thousand small writes gave, two of them twice. */
static void doubles_are_found_among_many(void **state)
{
    enum { WRITES = 100000 };
    (void)state;
    struct wio_alloc heap = WIO_ALLOC_HEAP;
    struct wio_edges edges;
    struct wio_error err = WIO_ERROR_INIT;
    size_t dropped = 0;
    wio_edges_init(&edges, &heap, 3);
    for (uint64_t i = 0; i < WRITES + 2; i++) {
        const struct wio_edge edge = {.from_thread = i % 2,
                                      .from_op = i % WRITES,
                                      .to_thread = 2,
                                      .to_op = 5,
                                      .object = 1,
                                      .class = WIO_EDGE_QUEUE};
        assert_int_equal(wio_edges_add(&edges, &edge), WIO_OK);
    }
    assert_ok(wio_edges_reduce(&edges, &dropped, &err), &err);
    assert_int_equal(dropped, 2);
    assert_int_equal(edges.edge_count, WRITES);
    wio_edges_fini(&edges);
}

#define SOURCES 2500u
#define SOURCE_OPS 4u

/* Does a path lead from one point to another without this edge? By what is reached of each thread.
 */
static bool leads(const struct wio_edges *edges, size_t without)
{
    uint64_t from[SOURCES + 1]; /* the first operation that is reached; SOURCE_OPS: none */
    const struct wio_edge *edge = &edges->edges[without];
    for (uint32_t t = 0; t <= SOURCES; t++) {
        from[t] = SOURCE_OPS;
    }
    from[edge->from_thread] = edge->from_op;
    for (bool goes_on = true; goes_on;) {
        goes_on = false;
        for (size_t i = 0; i < edges->edge_count; i++) {
            const struct wio_edge *e = &edges->edges[i];
            if (i != without && from[e->from_thread] <= e->from_op &&
                e->to_op < from[e->to_thread]) {
                from[e->to_thread] = e->to_op;
                goes_on = true;
            }
        }
    }
    return from[edge->to_thread] <= edge->to_op;
}

/* One operation waits for very many threads, some of which wait for each other. */
static void one_waits_for_many(void **state)
{
    (void)state;
    struct wio_alloc heap = WIO_ALLOC_HEAP;
    uint64_t seed = 3;
    for (unsigned round = 0; round < 3; round++) {
        struct wio_edges edges;
        struct wio_error err = WIO_ERROR_INIT;
        static bool implied[4 * SOURCES];
        size_t dropped = 0;
        memset(implied, 0, sizeof(implied));
        wio_edges_init(&edges, &heap, SOURCES + 1);
        for (uint32_t t = 1; t < SOURCES; t++) { /* later operations wait for earlier ones */
            uint64_t op = wio_test_random(&seed) % (SOURCE_OPS - 1);
            add(&edges, (struct wio_edge){.from_thread = (uint32_t)(wio_test_random(&seed) % t),
                                          .from_op = op,
                                          .to_thread = t,
                                          .to_op = op + 1});
        }
        for (uint32_t t = 0; t < SOURCES; t++) {
            add(&edges, (struct wio_edge){.from_thread = t,
                                          .from_op = wio_test_random(&seed) % SOURCE_OPS,
                                          .to_thread = SOURCES});
        }
        assert_ok(wio_edges_find_implied(&edges, implied, &err), &err);
        for (size_t i = 0; i < edges.edge_count; i++) {
            assert_int_equal(implied[i], leads(&edges, i));
            dropped += implied[i] ? 1 : 0;
        }
        assert_true(dropped > 20);
        size_t told = 0;
        assert_ok(wio_edges_reduce(&edges, &told, &err), &err);
        assert_int_equal(told, dropped);
        wio_edges_fini(&edges);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(random_graphs_keep_their_order_with_the_fewest_edges),
        cmocka_unit_test(locks_imply_nothing_and_are_not_implied),
        cmocka_unit_test(a_barrier_implies_messages_across_it),
        cmocka_unit_test(every_refused_request_is_survived),
        cmocka_unit_test(a_large_exchange_is_reduced),
        cmocka_unit_test(doubles_are_found_among_many),
        cmocka_unit_test(one_waits_for_many),
    };
    return WIO_RUN(tests);
}
