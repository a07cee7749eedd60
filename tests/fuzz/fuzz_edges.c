/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A file of edges beside a trace of two streams: opened, all its rows read, one stream looked up,
 * its held edges placed. All checksums are made right first, unless the first byte says otherwise.
 */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <whyio/segment.h>
#include <whyio/trace.h>

#include "fuzz_files.h"
#include "fuzz_repair.h"
#include "trace/edges/edge_file.h"
#include "trace/edges/held_file.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

#define CHECK(expr)                                                                                \
    do {                                                                                           \
        if ((expr) != WIO_OK) {                                                                    \
            abort();                                                                               \
        }                                                                                          \
    } while (0)

static struct wio_trace *make_trace(void)
{
    const struct wio_segment_params params = {.struct_size = sizeof(params)};
    const struct wio_process_info process = {.pid = 5, .host = "n", .parent = UINT32_MAX};
    struct wio_segment *segment = NULL;
    struct wio_trace *trace = NULL;
    char name[200];
    fuzz_make("trace.edges");
    (void)snprintf(name, sizeof(name), "%s/a.seg", fuzz_dir);
    CHECK(wio_segment_create(name, &params, &segment, NULL));
    for (uint32_t s = 0; s < 2; s++) {
        struct wio_event event = {.op = 1, .fd = 3, .fd2 = WIO_NO_FD};
        uint32_t index = 0;
        CHECK(wio_segment_process(segment, &process, &index, NULL));
        CHECK(wio_segment_stream(segment, index, 5, 0, &event.stream, NULL));
        for (uint64_t i = 0; i < 100; i++) {
            event.t_ns = 10 * i;
            CHECK(wio_segment_append(segment, &event, NULL));
        }
    }
    CHECK(wio_segment_finish(segment, NULL));
    CHECK(wio_trace_open(fuzz_dir, &trace, NULL));
    return trace;
}

/* Every row names streams and objects that are there. */
static void read_edges(const struct wio_edge_file *file, struct wio_edge_cursor *cursor)
{
    const struct wio_edge_row *row = NULL;
    struct wio_error err = WIO_ERROR_INIT;
    while (wio_edge_cursor_next(cursor, &row, &err) == WIO_OK) {
        if (row->from.stream > 1 || row->to.stream > 1 ||
            strcmp(wio_evidence_name(row->evidence), "?") == 0) {
            abort();
        }
        (void)strlen(wio_edge_file_object(file, row->object));
    }
}

static void read_members(const struct wio_edge_file *file, struct wio_edge_cursor *cursor)
{
    const struct wio_member_row *row = NULL;
    while (wio_edge_cursor_next_member(cursor, &row, NULL) == WIO_OK) {
        if (row->stream > 1 || row->leave_seq < row->enter_seq || row->givers > row->members) {
            abort();
        }
        (void)strlen(wio_edge_file_object(file, row->object));
    }
}

static void read_kind(const struct wio_edge_file *file, struct wio_edge_filter filter)
{
    struct wio_edge_cursor *cursor = NULL;
    const struct wio_wait_row *wait = NULL;
    filter.struct_size = sizeof(filter);
    CHECK(wio_edge_cursor_create(file, &filter, &cursor, NULL));
    if (filter.kind == WIO_EDGES_IN || filter.kind == WIO_EDGES_OUT) {
        read_edges(file, cursor);
    } else if (filter.kind == WIO_EDGES_WAITS) {
        while (wio_edge_cursor_next_wait(cursor, &wait, NULL) == WIO_OK) {
            if (wait->last_seq < wait->first_seq) {
                abort();
            }
        }
    } else {
        read_members(file, cursor);
    }
    wio_edge_cursor_destroy(cursor);
}

static void read_all(const struct wio_edge_file *file)
{
    for (unsigned kind = WIO_EDGES_IN; kind <= WIO_EDGES_WAITS; kind++) {
        read_kind(file,
                  (struct wio_edge_filter){.kind = (enum wio_edge_kind)kind, .has_implied = true});
        if (kind != WIO_EDGES_COLLECTIVES) {
            read_kind(file, (struct wio_edge_filter){.kind = (enum wio_edge_kind)kind,
                                                     .has_stream = true,
                                                     .stream = 1,
                                                     .from_seq = 50});
        }
    }
    for (size_t i = 0; i < wio_edge_file_clock_count(file); i++) {
        (void)wio_clock_row_apply(wio_edge_file_clock(file, i), 1000);
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static struct wio_trace *trace;
    struct wio_edge_file *file = NULL;
    bool is_current = false;
    if (trace == NULL) {
        trace = make_trace();
    }
    uint8_t *bytes = malloc(size + 1);
    if (bytes == NULL) {
        return 0;
    }
    if (size > 0) {
        memcpy(bytes, data, size);
    }
    if (size >= WIO_SEGMENT_HEADER_BYTES + WIO_SEGMENT_TRAILER_BYTES && bytes[0] != 'D') {
        fuzz_repair(bytes, size, WIO_EDGES_MAGIC);
    }
    fuzz_write(bytes, size);
    free(bytes);
    struct wio_held held;
    if (wio_held_file_read(trace, &held, NULL) == WIO_OK) {
        for (size_t i = 0; i < held.count; i++) {
            if (held.edges[i].from.stream > 1 || held.edges[i].to.seq > 99) {
                abort();
            }
        }
        wio_held_fini(&held);
    }
    int fd = open(fuzz_file, O_RDONLY | O_CLOEXEC);
    if (fd >= 0 && wio_edge_file_open(trace, fd, fuzz_file, &file, &is_current, NULL) == WIO_OK) {
        read_all(file);
        wio_edge_file_close(file);
    }
    return 0;
}
