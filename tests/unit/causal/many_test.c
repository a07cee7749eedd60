/* SPDX-License-Identifier: Apache-2.0 */
/* So much of one thing that to walk over all of it each time would take minutes, or all memory: no
 * program does that, a hostile trace may say so. */
#include "support/unit.h"

#include <stdlib.h>

#include "causal/match/match.h"
#include "causal/match/ranges.h"
#include "causal/order/reduce.h"

#define MANY 200000u

struct fixture {
    struct wio_edges edges;
    struct wio_match *match;
    size_t bytes; /* ever asked for */
};

static void *count_and_get(void *context, size_t bytes)
{
    struct fixture *f = context;
    f->bytes += bytes;
    return calloc(1, bytes);
}

static void put(void *context, void *memory)
{
    (void)context;
    free(memory);
}

static void begin(struct fixture *f, uint32_t threads)
{
    *f = (struct fixture){0};
    const struct wio_alloc alloc = {.context = f, .get = count_and_get, .put = put};
    wio_edges_init(&f->edges, &alloc, threads);
    assert_int_equal(wio_match_create(&f->edges, &f->match), WIO_OK);
}

static void end(struct fixture *f)
{
    wio_match_destroy(f->match);
    wio_edges_fini(&f->edges);
}

static void acquire(struct fixture *f, uint64_t op, uint32_t thread, bool shared)
{
    const struct wio_point at = {op, thread};
    assert_int_equal(wio_match_acquire(f->match, 1, WIO_EVIDENCE_LOCK, at, shared), WIO_OK);
}

static void release(struct fixture *f, uint64_t op, uint32_t thread, bool shared)
{
    const struct wio_point at = {op, thread};
    assert_int_equal(wio_match_release(f->match, 1, WIO_EVIDENCE_LOCK, at, shared), WIO_OK);
}

static void releases_for_an_owner_walk_over_no_waiters(void **state)
{
    (void)state;
    struct fixture f;
    begin(&f, 3);
    acquire(&f, 1, 0, false);
    for (uint64_t op = 1; op <= MANY; op++) {
        acquire(&f, op, 1, false);
    }
    for (uint64_t op = 1; op <= MANY; op++) {
        release(&f, op, 2, false);
    }
    assert_int_equal(f.edges.edge_count, MANY); /* each waiter after the release before it */
    end(&f);
}

/* R readers before it are R edges, not R each time. */
static void a_lock_taken_again_follows_its_readers_once(void **state)
{
    (void)state;
    enum { READERS = 100, TIMES = 100 };
    struct fixture f;
    begin(&f, READERS + 1);
    for (uint32_t reader = 1; reader <= READERS; reader++) {
        release(&f, 7, reader, true);
    }
    for (uint64_t op = 1; op <= TIMES; op++) {
        acquire(&f, op, 0, false);
    }
    assert_int_equal(f.edges.edge_count, READERS);
    release(&f, 1, 1, true); /* one that came since, the release of the lock having been missed */
    acquire(&f, TIMES + 1, 0, false);
    assert_int_equal(f.edges.edge_count, READERS + 1);
    end(&f);
}

static void collectives_that_miss_members_take_the_memory_of_theirs(void **state)
{
    (void)state;
    enum { COLLECTIVES = 20000, THREADS = 100000 };
    struct fixture f;
    struct wio_error err = WIO_ERROR_INIT;
    begin(&f, THREADS);
    size_t before = f.bytes;
    for (uint64_t sequence = 0; sequence < COLLECTIVES; sequence++) {
        const struct wio_collective_call call = {
            .communicator = 3, .sequence = sequence, .size = 2, .kind = WIO_COLLECTIVE_LOOSE};
        assert_int_equal(wio_match_collective(f.match, &call, &err), WIO_OK);
    }
    assert_int_equal(wio_match_left(f.match).collectives, COLLECTIVES);
    assert_true(f.bytes - before < (size_t)COLLECTIVES * 2000);
    end(&f);
}

/* A thread was made by the first operation of a thread that was made by the first of another one:
 * told from the last to the first. */
static void ancestors_are_not_walked_over_each_time(void **state)
{
    (void)state;
    struct fixture f;
    begin(&f, MANY + 1);
    for (uint32_t thread = MANY; thread-- > 1;) {
        wio_match_born(f.match, thread, 5, (struct wio_point){5, thread - 1});
    }
    for (uint32_t thread = 1; thread < MANY; thread++) {
        const struct wio_edge edge = {
            .from_thread = thread, .from_op = 5, .to_thread = MANY, .to_op = thread};
        assert_int_equal(wio_match_edge_from_before(f.match, edge), WIO_OK);
    }
    assert_int_equal(f.edges.edge_count, MANY - 1);
    assert_int_equal(f.edges.edges[MANY - 2].from_thread, 0);
    assert_int_equal(f.edges.edges[MANY - 2].from_op, 4);
    end(&f);
}

static enum wio_status peek(struct fixture *f, uint64_t op, uint32_t thread, uint64_t bytes)
{
    const struct wio_point at = {op, thread};
    return wio_match_peek(f->match, 9, WIO_EVIDENCE_SOCKET, at, bytes);
}

/* What a thread has seen once, its later operations follow anyway. */
static void a_look_at_the_same_bytes_adds_nothing(void **state)
{
    (void)state;
    enum { WRITES = 2000 };
    struct fixture f;
    begin(&f, 4);
    for (uint64_t op = 1; op <= WRITES; op++) {
        const struct wio_point at = {op, 0};
        assert_int_equal(wio_match_write(f.match, 9, WIO_EVIDENCE_SOCKET, at, 8, 0), WIO_OK);
    }
    for (uint64_t op = 1; op <= WRITES; op++) {
        assert_int_equal(peek(&f, op, 1, WRITES * 8 - 12), WIO_OK);
    }
    assert_int_equal(f.edges.edge_count, WRITES - 1); /* the last but one is seen in half */
    assert_int_equal(peek(&f, 1, 2, 16), WIO_OK);
    assert_int_equal(f.edges.edge_count, WRITES + 1); /* another thread */
    const struct wio_point reader = {1, 3};
    assert_int_equal(wio_match_read(f.match, 9, WIO_EVIDENCE_SOCKET, reader, WRITES * 8, 0),
                     WIO_OK);
    assert_int_equal(f.edges.edge_count, 2 * WRITES + 1);
    assert_int_equal(
        wio_match_write(f.match, 9, WIO_EVIDENCE_SOCKET, (struct wio_point){WRITES + 1, 0}, 8, 0),
        WIO_OK);
    assert_int_equal(peek(&f, WRITES + 1, 1, 4), WIO_OK); /* the bytes seen before are gone */
    assert_int_equal(f.edges.edge_count, 2 * WRITES + 2);
    end(&f);
}

static void readers_of_two_halves_are_compared_in_one_go(void **state)
{
    (void)state;
    enum { READERS = 4000 };
    const struct wio_alloc heap = WIO_ALLOC_HEAP;
    struct wio_ranges *ranges;
    assert_int_equal(wio_ranges_create(&heap, &ranges), WIO_OK);
    for (uint32_t round = 0; round < 2; round++) {
        for (uint32_t reader = 0; reader < READERS; reader++) {
            const struct wio_range range = {0, round == 0 ? 100 : 50};
            const struct wio_point at = {round + 1, reader};
            assert_int_equal(wio_ranges_release(ranges, range, at, true), WIO_OK);
        }
    }
    wio_ranges_destroy(ranges);
}

/* Locks that many threads have had before one. */
static void loose_edges_into_one_operation_are_not_compared_with_each(void **state)
{
    (void)state;
    const struct wio_alloc heap = WIO_ALLOC_HEAP;
    struct wio_error err = WIO_ERROR_INIT;
    struct wio_edges edges;
    size_t dropped = 0;
    wio_edges_init(&edges, &heap, MANY);
    for (uint32_t i = 0; i < 2 * MANY; i++) {
        const struct wio_edge edge = {.from_thread = i % MANY,
                                      .from_op = 5,
                                      .to_thread = 0,
                                      .to_op = 9,
                                      .object = i % 7 == 0,
                                      .class = WIO_EDGE_MUTEX,
                                      .evidence = WIO_EVIDENCE_LOCK};
        if (edge.from_thread != 0) {
            assert_int_equal(wio_edges_add(&edges, &edge), WIO_OK);
        }
    }
    assert_int_equal(wio_edges_reduce(&edges, &dropped, &err), WIO_OK);
    size_t doubles = 0;
    for (uint32_t i = 1; i < MANY; i++) {
        doubles += (i % 7 == 0) == ((i + MANY) % 7 == 0);
    }
    assert_int_equal(dropped, doubles);
    wio_edges_fini(&edges);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(releases_for_an_owner_walk_over_no_waiters),
        cmocka_unit_test(a_lock_taken_again_follows_its_readers_once),
        cmocka_unit_test(collectives_that_miss_members_take_the_memory_of_theirs),
        cmocka_unit_test(ancestors_are_not_walked_over_each_time),
        cmocka_unit_test(a_look_at_the_same_bytes_adds_nothing),
        cmocka_unit_test(readers_of_two_halves_are_compared_in_one_go),
        cmocka_unit_test(loose_edges_into_one_operation_are_not_compared_with_each),
    };
    return WIO_RUN(tests);
}
