/* SPDX-License-Identifier: Apache-2.0 */
/* A trace of two segments with edges that were found by holding, and what becomes of these. */
#ifndef WIO_TESTS_STORE_EDGES_DIRS_H
#define WIO_TESTS_STORE_EDGES_DIRS_H

#include <whyio/segment.h>

#include "support/unit.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "edges/edges.h"
#include "node.h"
#include "ops/calls.h"
#include "seal/open.h"
#include "trace/edges/edge_file.h"
#include "trace/edges/held_file.h"

#define RANKS 2u
#define WRITES 4u
#define MS UINT64_C(1000000)

/* ---- traces ------------------------------------------------------------------------------- */

static inline void write_segment(const char *dir, const char *name, int32_t pid)
{
    const struct wio_segment_params params = {.struct_size = sizeof(params),
                                              .base_unix_ns = (uint64_t)pid};
    struct wio_error err = WIO_ERROR_INIT;
    struct wio_segment *segment = NULL;
    char path[512];
    (void)snprintf(path, sizeof(path), "%s/%s", dir, name);
    assert_ok(wio_segment_create(path, &params, &segment, &err), &err);
    for (uint32_t rank = 0; rank < RANKS; rank++) {
        uint32_t stream = add_node(segment, pid + (int32_t)rank, (int32_t)rank);
        for (uint64_t i = 0; i < WRITES; i++) {
            const struct wio_event event = {.op = WIO_OP_pwrite,
                                            .flags = WIO_EVENT_HOLD,
                                            .stream = stream,
                                            .t_ns = (1 + i) * MS,
                                            .dur_ns = 1000,
                                            .fd = 3,
                                            .fd2 = WIO_NO_FD,
                                            .offset2 = WIO_NO_OFFSET,
                                            .size = 8,
                                            .result = 8};
            assert_ok(wio_segment_append(segment, &event, &err), &err);
        }
    }
    assert_ok(wio_segment_finish(segment, &err), &err);
}

/* Segments m.seg and n.seg; holding has found that n's rank 1 waits for m's rank 0, twice. */
static inline char *make_dir(const char *name)
{
    char *dir = wio_test_path(name);
    assert_int_equal(mkdir(dir, 0777), 0);
    write_segment(dir, "m.seg", 100);
    write_segment(dir, "n.seg", 200);
    return dir;
}

static const struct wio_held_edge found[] = {{{2, 0}, {3, 3}}, {{1, 0}, {2, 3}}};

static inline struct wio_trace *open_trace(const char *dir)
{
    struct wio_error err = WIO_ERROR_INIT;
    struct wio_trace *trace = NULL;
    assert_ok(wio_trace_open(dir, &trace, &err), &err);
    return trace;
}

static inline enum wio_status hold(const char *dir, bool is_only, struct wio_error *err)
{
    struct wio_held_edge edges[] = {found[0], found[1]};
    const struct wio_held held = {.edges = edges, .count = 2, .is_only = is_only};
    const struct wio_join_params params = {.struct_size = sizeof(params), .held = &held};
    struct wio_trace *trace = NULL;
    enum wio_status status = wio_trace_open_events(dir, &trace, err);
    status = status == WIO_OK ? wio_join(trace, &params, err) : status;
    wio_trace_close(trace);
    return status;
}

static inline char *make_held(const char *name)
{
    struct wio_error err = WIO_ERROR_INIT;
    char *dir = make_dir(name);
    assert_ok(hold(dir, false, &err), &err);
    return dir;
}

static inline void move(const char *dir, const char *from, const char *to)
{
    char names[2][512];
    (void)snprintf(names[0], sizeof(names[0]), "%s/%s", dir, from);
    (void)snprintf(names[1], sizeof(names[1]), "%s/%s", dir, to);
    assert_int_equal(rename(names[0], names[1]), 0);
}

static inline bool has(const char *dir, const char *name)
{
    char path[512];
    (void)snprintf(path, sizeof(path), "%s/%s", dir, name);
    return access(path, F_OK) == 0;
}

/* ---- what is found ------------------------------------------------------------------------ */

static inline int32_t pid_of(const struct wio_trace *trace, uint32_t stream)
{
    return wio_trace_process(trace, wio_trace_stream(trace, stream)->process)->pid;
}

/* As any command that needs edges does; so many held ones are there, by pid and number. */
static inline void expect_held(const char *dir, uint64_t count, const char *note)
{
    const struct wio_join_params params = {.struct_size = sizeof(params)};
    const struct wio_edge_filter filter = {.struct_size = sizeof(filter),
                                           .kind = WIO_EDGES_IN,
                                           .has_implied = true,
                                           .evidences = 1u << WIO_EVIDENCE_HELD};
    struct wio_error err = WIO_ERROR_INIT;
    struct wio_trace *trace = open_trace(dir);
    assert_ok(wio_join(trace, &params, &err), &err);
    const struct wio_edge_file *file = wio_trace_edges(trace);
    struct wio_edge_cursor *cursor = NULL;
    const struct wio_edge_row *row = NULL;
    uint64_t seen = 0;
    assert_ok(wio_edge_cursor_create(file, &filter, &cursor, &err), &err);
    while (wio_edge_cursor_next(cursor, &row, &err) == WIO_OK) {
        seen++;
        assert_int_equal(pid_of(trace, row->from.stream), 100);
        assert_int_equal(pid_of(trace, row->to.stream), 201);
        assert_int_equal(row->to.seq, row->from.seq + 1);
    }
    wio_edge_cursor_destroy(cursor);
    assert_int_equal(seen, count);
    assert_true(note[0] == '\0' ? wio_edge_file_notes(file)[0] == '\0'
                                : strstr(wio_edge_file_notes(file), note) != NULL);
    wio_trace_close(trace);
}

#endif
