/* SPDX-License-Identifier: Apache-2.0 */
/* From a trace directory to stored edges: what is stored, what is refused, clocks of two hosts. */
#include "edges/edges.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <whyio/segment.h>

#include "edges/check.h"
#include "ops/calls.h"
#include "support/unit.h"
#include "trace/edges/edge_file.h"

#define RANKS 2
#define ROUNDS 200
#define MS 1000000ull

struct maker {
    struct wio_segment *segment;
    struct wio_error err;
    uint32_t streams[RANKS];
};

static void must(struct maker *maker, enum wio_status status)
{
    assert_status(status, WIO_OK, &maker->err);
}

/* DIR/a.seg with one process on each of two hosts, or two on one. */
static struct maker begin_on(const char *dir, uint64_t dropped, const char *const hosts[RANKS])
{
    struct maker maker = {.err = WIO_ERROR_INIT};
    const struct wio_segment_params params = {.struct_size = sizeof(params)};
    char name[512];
    (void)snprintf(name, sizeof(name), "%s/a.seg", dir);
    must(&maker, wio_segment_create(name, &params, &maker.segment, &maker.err));
    for (int32_t rank = 0; rank < RANKS; rank++) {
        const struct wio_process_info process = {.pid = 100 + rank,
                                                 .rank = rank,
                                                 .host = hosts[rank],
                                                 .job = "",
                                                 .exe = "",
                                                 .argv = "",
                                                 .cwd = "",
                                                 .start_ns = 20000 * MS,
                                                 .parent = UINT32_MAX,
                                                 .dropped = dropped};
        uint32_t index = 0;
        must(&maker, wio_segment_process(maker.segment, &process, &index, &maker.err));
        must(&maker, wio_segment_stream(maker.segment, index, 100 + rank, 0, &maker.streams[rank],
                                        &maker.err));
    }
    return maker;
}

static struct maker begin(const char *dir, uint64_t dropped)
{
    return begin_on(dir, dropped, (const char *const[RANKS]){"here", "there"});
}

static void add_flagged(struct maker *maker, uint32_t rank, enum wio_op op, uint64_t begin_ns,
                        uint64_t end_ns, const int64_t *args, uint8_t flags)
{
    struct wio_event event = {.op = (uint16_t)op,
                              .flags = flags,
                              .stream = maker->streams[rank],
                              .t_ns = begin_ns,
                              .dur_ns = end_ns - begin_ns,
                              .fd = WIO_NO_FD,
                              .fd2 = WIO_NO_FD,
                              .offset = WIO_NO_OFFSET,
                              .offset2 = WIO_NO_OFFSET,
                              .size = 8};
    memcpy(event.arg, args, sizeof(event.arg));
    must(maker, wio_segment_append(maker->segment, &event, &maker->err));
}

static void add(struct maker *maker, uint32_t rank, enum wio_op op, uint64_t begin_ns,
                uint64_t end_ns, const int64_t *args)
{
    add_flagged(maker, rank, op, begin_ns, end_ns, args, 0);
}

static void finish(struct maker *maker)
{
    must(maker, wio_segment_finish(maker->segment, &maker->err));
}

/* What a clock shows: `there` is 7 s behind and 100 ppm too fast. */
static uint64_t show(uint32_t rank, uint64_t true_ns)
{
    return rank == 0 ? true_ns : true_ns + true_ns / 10000 - 7000 * MS;
}

/* A ball goes there and back, each flight takes 50 us. */
static void play(struct maker *maker)
{
    for (uint32_t rank = 0; rank < RANKS; rank++) {
        uint64_t at = show(rank, 30000 * MS);
        add(maker, rank, WIO_OP_mpi_comm, at, at, (int64_t[4]){77, rank, RANKS, 0});
    }
    for (uint64_t i = 0; i < ROUNDS; i++) {
        uint32_t from = i % 2;
        uint64_t sent = 30001 * MS + i * MS;
        uint64_t received = sent + 50000;
        add(maker, from, WIO_OP_MPI_Send, show(from, sent), show(from, sent + 10000),
            (int64_t[4]){77, 1 - from, 3, 0});
        add(maker, 1 - from, WIO_OP_MPI_Recv, show(1 - from, sent - 20000),
            show(1 - from, received), (int64_t[4]){77, from, 3, 0});
    }
}

static char *new_dir(const char *name)
{
    char *path = wio_test_path(name);
    assert_int_equal(mkdir(path, 0777), 0);
    return path;
}

static struct wio_trace *open_trace(const char *dir)
{
    struct wio_trace *trace = NULL;
    struct wio_error err = WIO_ERROR_INIT;
    assert_ok(wio_trace_open(dir, &trace, &err), &err);
    return trace;
}

static struct wio_trace *joined(const char *dir, bool in_memory)
{
    const struct wio_join_params params = {.struct_size = sizeof(params), .in_memory = in_memory};
    struct wio_error err = WIO_ERROR_INIT;
    struct wio_trace *trace = open_trace(dir);
    assert_null(wio_trace_edges(trace));
    assert_ok(wio_join(trace, &params, &err), &err);
    assert_non_null(wio_trace_edges(trace));
    return trace;
}

/* When each event begins and ends, by stream and number. */
struct times {
    uint64_t begin[RANKS][2 * ROUNDS];
    uint64_t end[RANKS][2 * ROUNDS];
};

static void read_times(const struct wio_trace *trace, struct times *times)
{
    struct wio_error err = WIO_ERROR_INIT;
    struct wio_cursor *cursor = NULL;
    const struct wio_event *event = NULL;
    uint64_t last = 0;
    assert_ok(wio_cursor_create(trace, NULL, &cursor, &err), &err);
    while (wio_cursor_next(cursor, &event, &err) == WIO_OK) {
        assert_true(event->t_ns >= last); /* the merge goes by the corrected times */
        last = event->t_ns;
        times->begin[event->stream][event->seq] = event->t_ns;
        times->end[event->stream][event->seq] = event->t_ns + event->dur_ns;
    }
    wio_cursor_destroy(cursor);
}

/* Each message i is event i + 1 of both ranks. */
static void assert_no_message_early(const struct times *times)
{
    for (uint64_t i = 0; i < ROUNDS; i++) {
        uint32_t from = i % 2;
        assert_true(times->end[1 - from][i + 1] >= times->begin[from][i + 1]);
        assert_true(times->end[1 - from][i + 1] < times->begin[from][i + 1] + 100000);
    }
}

static void clocks_are_corrected_for_all_readers(void **state)
{
    (void)state;
    char *dir = new_dir("hosts");
    struct maker maker = begin(dir, 0);
    static struct times now;
    static struct times later;
    play(&maker);
    finish(&maker);
    struct wio_trace *trace = joined(dir, false);
    struct wio_edge_info info;
    wio_edge_file_get_info(wio_trace_edges(trace), &info);
    assert_int_equal(info.by_evidence[WIO_EVIDENCE_MPI].all, ROUNDS);
    assert_int_equal(info.unmatched_sends + info.unmatched_receives, 0);
    assert_int_equal(wio_edge_file_clock_count(wio_trace_edges(trace)), RANKS);
    assert_true(wio_edge_file_clock(wio_trace_edges(trace), 1)->uncertainty_ns < 50000);
    read_times(trace, &now);
    assert_no_message_early(&now);
    wio_trace_close(trace);
    trace = open_trace(dir);
    assert_non_null(wio_trace_edges(trace));
    read_times(trace, &later);
    assert_memory_equal(&now, &later, sizeof(now));
    wio_trace_close(trace);
    free(dir);
}

/* A message there takes -50 ms, one back at the same time 10: no clock shows that. */
static void clocks_that_cannot_be_right_are_told(void **state)
{
    (void)state;
    char *dir = new_dir("clocks-off");
    struct wio_error err = WIO_ERROR_INIT;
    struct maker maker = begin(dir, 0);
    for (uint32_t rank = 0; rank < RANKS; rank++) {
        add(&maker, rank, WIO_OP_mpi_comm, 30000 * MS, 30000 * MS, (int64_t[4]){5, rank, RANKS, 0});
    }
    add(&maker, 0, WIO_OP_MPI_Send, 30100 * MS, 30101 * MS, (int64_t[4]){5, 1, 1, 0});
    add(&maker, 0, WIO_OP_MPI_Recv, 30102 * MS, 30107 * MS, (int64_t[4]){5, 1, 1, 0});
    add(&maker, 1, WIO_OP_MPI_Recv, 30040 * MS, 30050 * MS, (int64_t[4]){5, 0, 1, 0});
    add(&maker, 1, WIO_OP_MPI_Send, 30097 * MS, 30098 * MS, (int64_t[4]){5, 0, 1, 0});
    finish(&maker);
    const struct wio_join_params params = {.struct_size = sizeof(params)};
    struct wio_trace *trace = open_trace(dir);
    assert_ok(wio_join(trace, &params, &err), &err);
    assert_non_null(strstr(wio_edge_file_notes(wio_trace_edges(trace)), "clocks of 2 hosts (here"));
    wio_trace_close(trace);
    free(dir);
}

static void edges_may_stay_in_memory(void **state)
{
    (void)state;
    char *dir = new_dir("memory");
    struct maker maker = begin(dir, 0);
    static struct times times;
    char name[512];
    play(&maker);
    finish(&maker);
    struct wio_trace *trace = joined(dir, true);
    read_times(trace, &times);
    assert_no_message_early(&times);
    wio_trace_close(trace);
    (void)snprintf(name, sizeof(name), "%s/trace.edges", dir);
    assert_int_not_equal(access(name, F_OK), 0);
    free(dir);
}

static void dropped_events_are_no_evidence(void **state)
{
    (void)state;
    const struct wio_join_params params = {.struct_size = sizeof(params)};
    char *dir = new_dir("dropped");
    struct wio_error err = WIO_ERROR_INIT;
    struct maker maker = begin(dir, 3);
    finish(&maker);
    struct wio_trace *trace = open_trace(dir);
    assert_status(wio_join(trace, &params, &err), WIO_ERR_FORMAT, &err);
    assert_non_null(strstr(err.message, "6 were dropped"));
    assert_string_equal(err.file, dir);
    assert_null(wio_trace_edges(trace));
    wio_trace_close(trace);
    free(dir);
}

static void keep_message(void *arg, const struct wio_error *fault)
{
    (void)snprintf(arg, 1024, "%s", fault->message);
}

/* The stored edges go round. */
static void a_cycle_names_its_edges(void **state)
{
    (void)state;
    char *dir = new_dir("cycle");
    struct wio_error err = WIO_ERROR_INIT;
    struct wio_edge_writer *writer = NULL;
    char message[1024] = "";
    struct maker maker = begin(dir, 0);
    play(&maker);
    finish(&maker);
    struct wio_trace *trace = open_trace(dir);
    assert_ok(wio_edge_writer_create(trace, &writer, &err), &err);
    const struct wio_edge_row rows[] = {
        {.from = {5, 1}, .to = {4, 0}, .evidence = WIO_EVIDENCE_PIPE},
        {.from = {6, 0}, .to = {3, 1}, .evidence = WIO_EVIDENCE_MPI},
    };
    for (size_t i = 0; i < 2; i++) {
        assert_ok(wio_edge_writer_edge(writer, WIO_BLOCK_EDGES_IN, &rows[i], &err), &err);
    }
    for (size_t i = 2; i > 0; i--) {
        assert_ok(wio_edge_writer_edge(writer, WIO_BLOCK_EDGES_OUT, &rows[i - 1], &err), &err);
    }
    assert_ok(wio_edge_writer_finish(writer, NULL, &err), &err);
    wio_trace_close(trace);
    assert_int_equal(wio_join_check(dir, keep_message, message, &err), WIO_END);
    assert_non_null(strstr(message, "rank 0 thread 100 operation 4 waits for "
                                    "rank 1 thread 101 operation 5 (hard, pipe)"));
    assert_non_null(strstr(message, "rank 1 thread 101 operation 3 waits for "
                                    "rank 0 thread 100 operation 6 (hard, mpi)"));
    free(dir);
}

/* Of two semaphores each has a unit from before the run, which is not known; two calls that take
 * one and give the other seem to wait for each other. The message beside them is stored. */
static void a_cycle_costs_one_edge(void **state)
{
    (void)state;
    static const int64_t first[4] = {INT64_MIN + 16};
    static const int64_t second[4] = {INT64_MIN + 24};
    char *dir = new_dir("broken");
    struct wio_edge_info info;
    struct maker maker = begin_on(dir, 0, (const char *const[RANKS]){"here", "here"});
    for (uint32_t rank = 0; rank < RANKS; rank++) {
        add(&maker, rank, WIO_OP_mpi_comm, 30000 * MS, 30000 * MS, (int64_t[4]){5, rank, RANKS, 0});
    }
    add(&maker, 0, WIO_OP_semop, (30000 + 10) * MS, (30000 + 40) * MS, first);
    add_flagged(&maker, 0, WIO_OP_semop_post, (30000 + 10) * MS, (30000 + 40) * MS, second,
                WIO_EVENT_CAUSED);
    add(&maker, 1, WIO_OP_semop, (30000 + 12) * MS, (30000 + 30) * MS, second);
    add_flagged(&maker, 1, WIO_OP_semop_post, (30000 + 12) * MS, (30000 + 30) * MS, first,
                WIO_EVENT_CAUSED);
    add(&maker, 0, WIO_OP_MPI_Send, (30000 + 50) * MS, (30000 + 51) * MS, (int64_t[4]){5, 1, 1, 0});
    add(&maker, 1, WIO_OP_MPI_Recv, (30000 + 49) * MS, (30000 + 52) * MS, (int64_t[4]){5, 0, 1, 0});
    finish(&maker);
    struct wio_trace *trace = joined(dir, false);
    wio_edge_file_get_info(wio_trace_edges(trace), &info);
    assert_int_equal(info.by_evidence[WIO_EVIDENCE_MPI].all, 1);
    assert_int_equal(info.by_evidence[WIO_EVIDENCE_THREAD].all, 1);
    assert_non_null(strstr(wio_edge_file_notes(wio_trace_edges(trace)),
                           "1 wait contradicts others and is left out: the order goes round in a "
                           "cycle of 2 waits; rank"));
    wio_trace_close(trace);
    assert_ok(wio_join_check(dir, keep_message, (char[1024]){""}, &maker.err), &maker.err);
    free(dir);
}

/* A damaged file: one thread is two members. */
static void a_thread_that_is_there_twice_is_named(void **state)
{
    (void)state;
    char *dir = new_dir("twice");
    struct wio_error err = WIO_ERROR_INIT;
    struct wio_edge_writer *writer = NULL;
    char message[1024] = "";
    struct maker maker = begin(dir, 0);
    play(&maker);
    finish(&maker);
    struct wio_trace *trace = open_trace(dir);
    assert_ok(wio_edge_writer_create(trace, &writer, &err), &err);
    const enum wio_block_kind kinds[] = {WIO_BLOCK_COLLECTIVES, WIO_BLOCK_MEMBERS};
    for (size_t k = 0; k < 2; k++) {
        for (size_t i = 0; i < 2; i++) {
            const struct wio_member_row row = {
                .enter_seq = 2 + i, .leave_seq = 2 + i, .members = 2, .gives = true, .takes = true};
            assert_ok(wio_edge_writer_member(writer, kinds[k], &row, &err), &err);
        }
    }
    assert_ok(wio_edge_writer_finish(writer, NULL, &err), &err);
    wio_trace_close(trace);
    assert_int_equal(wio_join_check(dir, keep_message, message, &err), WIO_END);
    assert_non_null(strstr(message, "each thread once among the members of collective 0"));
    free(dir);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(clocks_are_corrected_for_all_readers),
        cmocka_unit_test(clocks_that_cannot_be_right_are_told),
        cmocka_unit_test(edges_may_stay_in_memory),
        cmocka_unit_test(dropped_events_are_no_evidence),
        cmocka_unit_test(a_cycle_names_its_edges),
        cmocka_unit_test(a_cycle_costs_one_edge),
        cmocka_unit_test(a_thread_that_is_there_twice_is_named),
    };
    return WIO_RUN(tests);
}
