/* SPDX-License-Identifier: Apache-2.0 */
/* Random traffic whose partners are known, fed in random interleavings. */
#include "support/unit.h"

#include <string.h>

#include "causal/match/match.h"
#include "causal/order/reduce.h"

#define RANKS 4
#define MESSAGES 200

struct fixture {
    struct wio_edges edges;
    struct wio_match *match;
};

static void begin(struct fixture *f)
{
    struct wio_alloc heap = WIO_ALLOC_HEAP;
    wio_edges_init(&f->edges, &heap, RANKS);
    assert_int_equal(wio_match_create(&f->edges, &f->match), WIO_OK);
}

static void end(struct fixture *f)
{
    wio_match_destroy(f->match);
    wio_edges_fini(&f->edges);
}

static bool has_edge(const struct wio_edges *edges, struct wio_edge e)
{
    for (size_t i = 0; i < edges->edge_count; i++) {
        const struct wio_edge *x = &edges->edges[i];
        if (x->from_thread == e.from_thread && x->from_op == e.from_op &&
            x->to_thread == e.to_thread && x->to_op == e.to_op && x->class == e.class &&
            x->evidence == e.evidence) {
            return true;
        }
    }
    return false;
}

/* One rank's calls: its sends and receives in order, numbered from 1. */
struct program {
    struct wio_message calls[2 * MESSAGES];
    bool is_send[2 * MESSAGES];
    size_t count;
    size_t fed;
};

static uint64_t add_call(struct program *program, struct wio_message call, bool is_send)
{
    call.thread = is_send ? call.source : call.destination;
    call.begin_op = program->count + 1;
    call.end_op = call.begin_op;
    program->is_send[program->count] = is_send;
    program->calls[program->count++] = call;
    return call.begin_op;
}

static void feed_all(struct fixture *f, struct program *programs, uint64_t *seed)
{
    size_t left = 0;
    for (size_t r = 0; r < RANKS; r++) {
        left += programs[r].count;
    }
    while (left > 0) {
        struct program *p = &programs[wio_test_random(seed) % RANKS];
        if (p->fed < p->count) {
            const struct wio_message *call = &p->calls[p->fed];
            assert_int_equal(p->is_send[p->fed] ? wio_match_send(f->match, call)
                                                : wio_match_receive(f->match, call),
                             WIO_OK);
            p->fed++;
            left--;
        }
    }
}

static void messages_meet_in_order_however_they_are_fed(void **state)
{
    (void)state;
    uint64_t seed = 77;
    for (unsigned round = 0; round < 50; round++) {
        struct fixture f;
        begin(&f);
        struct program programs[RANKS] = {0};
        struct wio_edge truth[MESSAGES];
        size_t expected = 0;
        for (size_t i = 0; i < MESSAGES; i++) {
            struct wio_message m = {.communicator = wio_test_random(&seed) % 2,
                                    .source = (uint32_t)(wio_test_random(&seed) % RANKS),
                                    .destination = (uint32_t)(wio_test_random(&seed) % RANKS),
                                    .tag = (int32_t)(wio_test_random(&seed) % 3)};
            uint64_t from = add_call(&programs[m.source], m, true);
            uint64_t to = add_call(&programs[m.destination], m, false);
            if (m.source != m.destination) {
                truth[expected++] = (struct wio_edge){.from_thread = m.source,
                                                      .from_op = from - 1,
                                                      .to_thread = m.destination,
                                                      .to_op = to,
                                                      .evidence = WIO_EVIDENCE_MPI};
            }
        }
        feed_all(&f, programs, &seed);
        assert_int_equal(f.edges.edge_count, expected);
        for (size_t i = 0; i < expected; i++) {
            assert_true(has_edge(&f.edges, truth[i]));
        }
        struct wio_match_left left = wio_match_left(f.match);
        assert_int_equal(left.sends + left.receives, 0);
        end(&f);
    }
}

static void what_meets_nothing_is_counted(void **state)
{
    (void)state;
    struct fixture f;
    begin(&f);
    struct wio_message m = {.source = 0, .destination = 1, .tag = 5, .begin_op = 3, .end_op = 3};
    assert_int_equal(wio_match_send(f.match, &m), WIO_OK);
    m.tag = 6;
    m.thread = 1;
    assert_int_equal(wio_match_receive(f.match, &m), WIO_OK);
    assert_int_equal(wio_match_left(f.match).sends, 1);
    assert_int_equal(wio_match_left(f.match).receives, 1);
    assert_int_equal(f.edges.edge_count, 0);
    end(&f);
}

/* Two ranks exchange by one call each, and two meet by MPI_Ssend: no cycle. */
static void calls_that_wait_for_each_other_are_no_cycle(void **state)
{
    (void)state;
    struct fixture f;
    begin(&f);
    for (uint32_t r = 0; r < 2; r++) {
        struct wio_message send = {
            .source = r, .destination = 1 - r, .thread = r, .begin_op = 5, .end_op = 5};
        struct wio_message receive = {
            .source = 1 - r, .destination = r, .thread = r, .begin_op = 5, .end_op = 5};
        assert_int_equal(wio_match_send(f.match, &send), WIO_OK);
        assert_int_equal(wio_match_receive(f.match, &receive), WIO_OK);
    }
    struct wio_message meet = {.source = 0,
                               .destination = 1,
                               .thread = 0,
                               .begin_op = 8,
                               .end_op = 8,
                               .is_synchronous = true};
    assert_int_equal(wio_match_send(f.match, &meet), WIO_OK);
    meet.thread = 1;
    assert_int_equal(wio_match_receive(f.match, &meet), WIO_OK);
    assert_int_equal(f.edges.edge_count, 2);
    assert_true(has_edge(&f.edges, (struct wio_edge){4, 5, 0, 1, 0, 0, WIO_EVIDENCE_MPI, 0}));
    assert_int_equal(f.edges.collective_count, 1);
    struct wio_error err = WIO_ERROR_INIT;
    assert_ok(wio_edges_reduce(&f.edges, NULL, &err), &err);
    end(&f);
}

/* Owners of each byte by brute force. */
static void readers_wait_for_the_writers_of_their_bytes(void **state)
{
    (void)state;
    uint64_t seed = 5;
    for (unsigned round = 0; round < 300; round++) {
        struct fixture f;
        begin(&f);
        struct wio_point writer_of[400];
        struct wio_point reader_of[400];
        size_t written = 0;
        size_t read = 0;
        for (uint64_t op = 1; written < 300 || read < written; op++) {
            uint64_t bytes = wio_test_random(&seed) % 20;
            struct wio_point at = {op, (uint32_t)(wio_test_random(&seed) % 2)};
            bool writes = written < 300 && wio_test_random(&seed) % 2 == 0;
            if (writes) {
                assert_int_equal(wio_match_write(f.match, 9, WIO_EVIDENCE_PIPE, at, bytes, 0),
                                 WIO_OK);
                for (uint64_t i = 0; i < bytes; i++) {
                    writer_of[written++] = at;
                }
            } else {
                /* Up to 15 bytes too early: a write may end after its read. */
                size_t most = written < 280 ? written + 15 : written;
                bytes = read + bytes > most ? most - (read < most ? read : most) : bytes;
                at.thread += 2;
                assert_int_equal(wio_match_read(f.match, 9, WIO_EVIDENCE_PIPE, at, bytes, 0),
                                 WIO_OK);
                for (uint64_t i = 0; i < bytes; i++) {
                    reader_of[read++] = at;
                }
            }
        }
        size_t expected = 0;
        for (size_t i = 0; i < read; i++) {
            bool is_new = i == 0 || writer_of[i].op != writer_of[i - 1].op ||
                          reader_of[i].op != reader_of[i - 1].op;
            expected += is_new ? 1 : 0;
            assert_true(has_edge(&f.edges, (struct wio_edge){.from_thread = writer_of[i].thread,
                                                             .from_op = writer_of[i].op - 1,
                                                             .to_thread = reader_of[i].thread,
                                                             .to_op = reader_of[i].op,
                                                             .evidence = WIO_EVIDENCE_PIPE}));
        }
        assert_int_equal(f.edges.edge_count, expected);
        assert_int_equal(wio_match_left(f.match).read_bytes, 0);
        end(&f);
    }
}

/* So many that to walk over all of them each time would take minutes. */
static void a_look_walks_over_no_backlog(void **state)
{
    (void)state;
    enum { MANY = 200000 };
    struct fixture f;
    begin(&f);
    for (uint64_t op = 1; op <= MANY; op++) {
        struct wio_point at = {op, 0};
        assert_int_equal(wio_match_write(f.match, 9, WIO_EVIDENCE_SOCKET, at, 8, 0), WIO_OK);
    }
    for (uint64_t op = 1; op <= MANY; op++) {
        struct wio_point at = {op, 1};
        assert_int_equal(wio_match_peek(f.match, 9, WIO_EVIDENCE_SOCKET, at, 12), WIO_OK);
    }
    assert_int_equal(f.edges.edge_count, 2); /* the first two writes, by the first look */
    end(&f);
}

static enum wio_status call_one(struct fixture *f, uint32_t rank, enum wio_collective_kind kind,
                                uint64_t sequence, struct wio_error *err)
{
    struct wio_collective_call call = {.communicator = 3,
                                       .sequence = sequence,
                                       .size = 3,
                                       .rank = rank,
                                       .root = 1,
                                       .kind = kind,
                                       .thread = rank,
                                       .enter_op = 4 + sequence,
                                       .leave_op = 4 + sequence};
    return wio_match_collective(f->match, &call, err);
}

static void members_make_one_collective(void **state)
{
    (void)state;
    struct fixture f;
    struct wio_error err = WIO_ERROR_INIT;
    begin(&f);
    for (uint32_t i = 0; i < 3; i++) {
        for (uint64_t sequence = 0; sequence < 3; sequence++) {
            assert_ok(call_one(&f, (i + (uint32_t)sequence) % 3, (enum wio_collective_kind)sequence,
                               sequence, &err),
                      &err);
        }
    }
    assert_int_equal(f.edges.collective_count, 3);
    assert_int_equal(wio_match_left(f.match).collectives, 0);
    unsigned gives[3] = {0};
    unsigned takes[3] = {0};
    for (size_t c = 0; c < 3; c++) {
        assert_int_equal(f.edges.collectives[c].count, 3);
        for (size_t i = 0; i < 3; i++) {
            const struct wio_member *m = &f.edges.members[f.edges.collectives[c].first + i];
            gives[c] |= m->gives ? 1u << m->thread : 0;
            takes[c] |= m->takes ? 1u << m->thread : 0;
        }
    }
    assert_int_equal(gives[0], 7);
    assert_int_equal(takes[0], 7);
    assert_int_equal(gives[1], 2); /* from the root */
    assert_int_equal(takes[1], 5);
    assert_int_equal(gives[2], 5);
    assert_int_equal(takes[2], 2);
    end(&f);
}

#define RANKS_MAX 40u

static enum wio_status scan(uint32_t ranks, struct wio_edges *edges)
{
    const struct wio_alloc heap = WIO_ALLOC_HEAP;
    struct wio_match *match = NULL;
    struct wio_error err = WIO_ERROR_INIT;
    wio_edges_init(edges, &heap, ranks);
    assert_int_equal(wio_match_create(edges, &match), WIO_OK);
    for (uint32_t i = 0; i < ranks; i++) {
        const struct wio_collective_call call = {.communicator = 3,
                                                 .size = ranks,
                                                 .rank = (7 * i + 3) % ranks,
                                                 .kind = WIO_COLLECTIVE_SCAN,
                                                 .thread = (7 * i + 3) % ranks,
                                                 .enter_op = 5,
                                                 .leave_op = 6};
        assert_ok(wio_match_collective(match, &call, &err), &err);
    }
    wio_match_destroy(match);
    return WIO_OK;
}

/* Each rank waits for each lower one, once, and for no other; n log n members say so. */
static void scans_are_halves_of_halves(void **state)
{
    (void)state;
    for (uint32_t ranks = 2; ranks <= RANKS_MAX; ranks++) {
        unsigned waits[RANKS_MAX][RANKS_MAX] = {0};
        struct wio_edges edges;
        if (ranks % 7 == 0) {
            continue; /* 7 i + 3 is not each of them */
        }
        assert_int_equal(scan(ranks, &edges), WIO_OK);
        for (size_t c = 0; c < edges.collective_count; c++) {
            const struct wio_member *members = &edges.members[edges.collectives[c].first];
            for (size_t i = 0; i < edges.collectives[c].count; i++) {
                for (size_t k = 0; k < edges.collectives[c].count; k++) {
                    waits[members[i].thread][members[k].thread] +=
                        members[i].takes && members[k].gives ? 1 : 0;
                }
            }
        }
        for (uint32_t i = 0; i < ranks; i++) {
            for (uint32_t k = 0; k < ranks; k++) {
                assert_int_equal(waits[i][k], k < i ? 1 : 0);
            }
        }
        assert_true(edges.member_count <= 6 * ranks && edges.edge_count == 0);
        wio_edges_fini(&edges);
    }
}

static void ranks_that_disagree_are_named(void **state)
{
    (void)state;
    struct fixture f;
    struct wio_error err = WIO_ERROR_INIT;
    begin(&f);
    assert_ok(call_one(&f, 0, WIO_COLLECTIVE_ALL, 7, &err), &err);
    assert_int_equal(call_one(&f, 2, WIO_COLLECTIVE_TO_ROOT, 7, &err), WIO_ERR_FORMAT);
    assert_non_null(strstr(err.message, "collective 7 of communicator 3, rank 2"));
    assert_int_equal(call_one(&f, 0, WIO_COLLECTIVE_ALL, 7, &err), WIO_ERR_FORMAT);
    assert_non_null(strstr(err.message, "twice"));
    assert_int_equal(call_one(&f, 3, WIO_COLLECTIVE_ALL, 7, &err), WIO_ERR_FORMAT);
    assert_int_equal(wio_match_left(f.match).collectives, 1);
    end(&f);
}

/* One thread that calls itself two ranks: what it makes complete is none, and forgotten. */
static void a_thread_that_is_two_ranks_is_told(void **state)
{
    (void)state;
    struct fixture f;
    struct wio_error err = WIO_ERROR_INIT;
    struct wio_collective_call call = {
        .communicator = 3, .size = 2, .kind = WIO_COLLECTIVE_ALL, .thread = 1};
    begin(&f);
    assert_ok(wio_match_collective(f.match, &call, &err), &err);
    call.rank = 1;
    assert_int_equal(wio_match_collective(f.match, &call, &err), WIO_ERR_FORMAT);
    assert_non_null(strstr(err.message, "twice"));
    assert_int_equal(f.edges.collective_count, 0);
    end(&f);
}

static void a_lock_follows_its_releases(void **state)
{
    (void)state;
    struct fixture f;
    begin(&f);
    struct wio_edge lock = {.class = WIO_EDGE_MUTEX, .evidence = WIO_EVIDENCE_LOCK};
    assert_int_equal(
        wio_match_acquire(f.match, 1, WIO_EVIDENCE_LOCK, (struct wio_point){1, 0}, false), WIO_OK);
    assert_int_equal(
        wio_match_release(f.match, 1, WIO_EVIDENCE_LOCK, (struct wio_point){2, 0}, false), WIO_OK);
    for (uint32_t reader = 1; reader < 3; reader++) {
        struct wio_point in = {3, reader};
        assert_int_equal(wio_match_acquire(f.match, 1, WIO_EVIDENCE_LOCK, in, true), WIO_OK);
    }
    for (uint32_t reader = 1; reader < 3; reader++) {
        struct wio_point out = {4, reader};
        assert_int_equal(wio_match_release(f.match, 1, WIO_EVIDENCE_LOCK, out, true), WIO_OK);
    }
    assert_int_equal(f.edges.edge_count, 2); /* readers do not follow each other */
    assert_int_equal(
        wio_match_acquire(f.match, 1, WIO_EVIDENCE_LOCK, (struct wio_point){9, 3}, false), WIO_OK);
    assert_int_equal(f.edges.edge_count, 5);
    lock.from_thread = 2;
    lock.from_op = 4;
    lock.to_thread = 3;
    lock.to_op = 9;
    assert_true(has_edge(&f.edges, lock));
    assert_int_equal(
        wio_match_acquire(f.match, 2, WIO_EVIDENCE_LOCK, (struct wio_point){10, 3}, false), WIO_OK);
    assert_int_equal(f.edges.edge_count, 5); /* another lock */
    end(&f);
}

/* A million reads between two writes: the writer waits for the last of each reader. */
static void of_a_reader_the_last_release_counts(void **state)
{
    (void)state;
    struct fixture f;
    begin(&f);
    for (unsigned round = 0; round < 2; round++) {
        for (uint64_t op = 10; op < 1000; op++) {
            struct wio_point at = {1000 * round + op, 1 + (uint32_t)(op % 2)};
            assert_int_equal(wio_match_acquire(f.match, 1, WIO_EVIDENCE_LOCK, at, true), WIO_OK);
            assert_int_equal(wio_match_release(f.match, 1, WIO_EVIDENCE_LOCK, at, true), WIO_OK);
        }
        struct wio_point writer = {1 + 2 * round, 0};
        f.edges.edge_count = 0;
        assert_int_equal(wio_match_acquire(f.match, 1, WIO_EVIDENCE_LOCK, writer, false), WIO_OK);
        assert_int_equal(f.edges.edge_count, 2);
        for (uint32_t reader = 1; reader <= 2; reader++) { /* 998 and 999 are their last */
            assert_true(has_edge(&f.edges, (struct wio_edge){.from_thread = reader,
                                                             .from_op = 1000 * round + 997 + reader,
                                                             .to_op = writer.op,
                                                             .class = WIO_EDGE_MUTEX,
                                                             .evidence = WIO_EVIDENCE_LOCK}));
        }
        writer.op++;
        assert_int_equal(wio_match_release(f.match, 1, WIO_EVIDENCE_LOCK, writer, false), WIO_OK);
    }
    end(&f);
}

/* No program can do that, a damaged trace may say so. */
static void threads_that_made_each_other_are_no_endless_story(void **state)
{
    (void)state;
    struct fixture f;
    begin(&f);
    wio_match_born(f.match, 1, 0, (struct wio_point){0, 0});
    wio_match_born(f.match, 2, 0, (struct wio_point){0, 1});
    wio_match_born(f.match, 0, 0, (struct wio_point){0, 2});
    struct wio_edge edge = {.from_thread = 2, .to_thread = 3, .to_op = 7};
    assert_int_equal(wio_match_edge_from_before(f.match, edge), WIO_OK);
    assert_int_equal(f.edges.edge_count, 0);
    end(&f);
}

static struct wio_wait_until look(struct fixture *f, uint64_t op, bool found)
{
    struct wio_wait_until wait;
    assert_int_equal(wio_match_look(f->match, 6, (struct wio_point){op, 1}, op, found, &wait),
                     WIO_OK);
    return wait;
}

static void looks_that_fail_and_then_find_are_one_wait(void **state)
{
    (void)state;
    struct fixture f;
    begin(&f);
    assert_int_equal(look(&f, 3, false).looks, 0);
    assert_int_equal(look(&f, 4, false).looks, 0);
    assert_int_equal(wio_match_made(f.match, 6, (struct wio_point){8, 0}, 4, true), WIO_OK);
    struct wio_wait_until wait = look(&f, 5, true);
    assert_int_equal(wait.first_op, 3);
    assert_int_equal(wait.last_op, 5);
    assert_int_equal(wait.looks, 2);
    assert_int_equal(f.edges.edge_count, 1);
    assert_true(has_edge(&f.edges, (struct wio_edge){8, 5, 0, 1, 0, 0, WIO_EVIDENCE_POLL, 0}));
    assert_int_equal(look(&f, 6, true).looks, 0); /* found at once: no wait */
    assert_int_equal(look(&f, 7, false).looks, 0);
    wio_match_other(f.match, 1); /* it went on without the file */
    assert_int_equal(look(&f, 9, true).looks, 0);
    assert_int_equal(look(&f, 10, false).looks, 0);
    assert_int_equal(wio_match_made(f.match, 6, (struct wio_point){11, 1}, 11, true), WIO_OK);
    assert_int_equal(look(&f, 12, true).looks, 0); /* it made the file itself */
    assert_int_equal(f.edges.edge_count, 1);
    end(&f);
}

static void a_replaced_file_lets_no_waiter_go(void **state)
{
    (void)state;
    struct fixture f;
    begin(&f);
    assert_int_equal(look(&f, 3, false).looks, 0);
    assert_int_equal(wio_match_made(f.match, 6, (struct wio_point){8, 0}, 4, false), WIO_OK);
    assert_int_equal(wio_match_made(f.match, 6, (struct wio_point){9, 0}, 5, false), WIO_OK);
    assert_int_equal(look(&f, 6, true).looks, 1);
    assert_int_equal(f.edges.edge_count, 1);
    assert_true(has_edge(&f.edges, (struct wio_edge){8, 6, 0, 1, 0, 0, WIO_EVIDENCE_POLL, 0}));
    assert_int_equal(look(&f, 7, false).looks, 0); /* it is gone, and no removal was seen */
    assert_int_equal(look(&f, 8, true).looks, 1);
    assert_int_equal(f.edges.edge_count, 1);
    assert_int_equal(look(&f, 9, false).looks, 0);
    assert_int_equal(wio_match_made(f.match, 6, (struct wio_point){12, 0}, 10, false), WIO_OK);
    assert_int_equal(look(&f, 11, true).looks, 1);
    assert_true(has_edge(&f.edges, (struct wio_edge){12, 11, 0, 1, 0, 0, WIO_EVIDENCE_POLL, 0}));
    end(&f);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(messages_meet_in_order_however_they_are_fed),
        cmocka_unit_test(what_meets_nothing_is_counted),
        cmocka_unit_test(calls_that_wait_for_each_other_are_no_cycle),
        cmocka_unit_test(readers_wait_for_the_writers_of_their_bytes),
        cmocka_unit_test(a_look_walks_over_no_backlog),
        cmocka_unit_test(members_make_one_collective),
        cmocka_unit_test(scans_are_halves_of_halves),
        cmocka_unit_test(ranks_that_disagree_are_named),
        cmocka_unit_test(a_thread_that_is_two_ranks_is_told),
        cmocka_unit_test(a_lock_follows_its_releases),
        cmocka_unit_test(of_a_reader_the_last_release_counts),
        cmocka_unit_test(threads_that_made_each_other_are_no_endless_story),
        cmocka_unit_test(looks_that_fail_and_then_find_are_one_wait),
        cmocka_unit_test(a_replaced_file_lets_no_waiter_go),
    };
    return WIO_RUN(tests);
}
