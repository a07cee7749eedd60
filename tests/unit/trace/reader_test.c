/* SPDX-License-Identifier: Apache-2.0 */
/* What a reader selects, in which order, over several segments; and how it meets damage. */
#include <whyio/trace.h>

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/crc.h"
#include "base/io.h"
#include "ops/calls.h"
#include "trace/format/format.h"
#include "trace/read/cursor_internal.h"
#include "trace_fixture.h"

static struct wio_trace *open_trace(const char *dir)
{
    struct wio_error err = WIO_ERROR_INIT;
    struct wio_trace *trace = NULL;
    assert_ok(wio_trace_open(dir, &trace, &err), &err);
    return trace;
}

/* Read with the filter; counts, checks order by time and calls `each`. */
static uint64_t read_with(const struct wio_trace *trace, const struct wio_filter *filter,
                          void (*each)(const struct wio_event *event))
{
    struct wio_error err = WIO_ERROR_INIT;
    struct wio_cursor *cursor = NULL;
    const struct wio_event *event = NULL;
    uint64_t count = 0;
    uint64_t last = 0;
    enum wio_status status;
    assert_ok(wio_cursor_create(trace, filter, &cursor, &err), &err);
    while ((status = wio_cursor_next(cursor, &event, &err)) == WIO_OK) {
        if (filter == NULL || filter->order == WIO_ORDER_TIME) {
            assert_true(event->t_ns >= last);
            last = event->t_ns;
        }
        if (each != NULL) {
            each(event);
        }
        count++;
    }
    assert_int_equal(status, WIO_END);
    wio_cursor_destroy(cursor);
    return count;
}

static void streams_are_merged_by_time(void **state)
{
    struct fixture *fixture = *state;
    write_ordinary_segment(fixture->segment, 20, 3000, 11);
    struct wio_trace *trace = open_trace(fixture->dir);
    assert_int_equal(read_with(trace, NULL, NULL), 60000);
    wio_trace_close(trace);
}

static void is_rank_3(const struct wio_event *event)
{
    assert_int_equal(event->stream, 3);
}

static void is_stat(const struct wio_event *event)
{
    assert_int_equal(event->op, WIO_OP_stat);
}

static void is_file_2(const struct wio_event *event)
{
    assert_true(event->path == 2 || event->path2 == 2);
}

/* Counting by hand over all events gives the same as each filter. R-INDEX-2 */
static void filters_select(void **state)
{
    struct fixture *fixture = *state;
    const int32_t ranks[] = {3};
    const uint16_t ops[] = {WIO_OP_stat};
    const uint32_t paths[] = {2};
    const struct wio_filter by_rank = {
        .struct_size = sizeof(by_rank), .ranks = ranks, .rank_count = 1};
    const struct wio_filter by_op = {.struct_size = sizeof(by_op), .ops = ops, .op_count = 1};
    const struct wio_filter by_path = {
        .struct_size = sizeof(by_path), .paths = paths, .path_count = 1};
    write_ordinary_segment(fixture->segment, 5, 5000, 12);
    struct wio_trace *trace = open_trace(fixture->dir);
    struct wio_cursor *cursor = NULL;
    const struct wio_event *event = NULL;
    struct wio_error err = WIO_ERROR_INIT;
    uint64_t want[3] = {0};
    assert_ok(wio_cursor_create(trace, NULL, &cursor, &err), &err);
    while (wio_cursor_next(cursor, &event, &err) == WIO_OK) {
        want[0] += event->stream == 3;
        want[1] += event->op == WIO_OP_stat;
        want[2] += event->path == 2 || event->path2 == 2;
    }
    wio_cursor_destroy(cursor);
    assert_true(want[0] == 5000 && want[1] > 0 && want[2] > 0);
    assert_int_equal(read_with(trace, &by_rank, is_rank_3), want[0]);
    assert_int_equal(read_with(trace, &by_op, is_stat), want[1]);
    assert_int_equal(read_with(trace, &by_path, is_file_2), want[2]);
    wio_trace_close(trace);
}

/* Columns that were not asked for keep their defaults; those that were are the same. */
static void columns_are_chosen(void **state)
{
    struct fixture *fixture = *state;
    static const uint64_t masks[] = {WIO_COLUMN_DURATION,
                                     WIO_COLUMN_PATH,
                                     WIO_COLUMN_OFFSET,
                                     WIO_COLUMN_RESULT,
                                     WIO_COLUMN_ARGS,
                                     WIO_COLUMN_CPU,
                                     WIO_COLUMN_SIZE | WIO_COLUMN_SOURCE};
    write_ordinary_segment(fixture->segment, 1, 1000, 13);
    struct wio_trace *trace = open_trace(fixture->dir);
    for (size_t i = 0; i < sizeof(masks) / sizeof(masks[0]); i++) {
        struct wio_filter filter = {.struct_size = sizeof(filter), .order = WIO_ORDER_STREAM};
        struct wio_error err = WIO_ERROR_INIT;
        struct wio_cursor *all = NULL;
        struct wio_cursor *some = NULL;
        const struct wio_event *a = NULL;
        const struct wio_event *b = NULL;
        assert_ok(wio_cursor_create(trace, &filter, &all, &err), &err);
        filter.columns = masks[i];
        assert_ok(wio_cursor_create(trace, &filter, &some, &err), &err);
        while (wio_cursor_next(all, &a, &err) == WIO_OK) {
            assert_ok(wio_cursor_next(some, &b, &err), &err);
            assert_int_equal(a->op, b->op);
            assert_int_equal(a->seq, b->seq);
            assert_int_equal(b->dur_ns, masks[i] & WIO_COLUMN_DURATION ? a->dur_ns : 0);
            assert_int_equal(b->path, masks[i] & WIO_COLUMN_PATH ? a->path : 0);
            if (masks[i] & WIO_COLUMN_OFFSET) {
                assert_int_equal(b->offset, a->offset);
            }
            assert_int_equal(b->result, masks[i] & WIO_COLUMN_RESULT ? a->result : 0);
            assert_int_equal(b->arg[0], masks[i] & WIO_COLUMN_ARGS ? a->arg[0] : 0);
            assert_int_equal(b->source, masks[i] & WIO_COLUMN_SOURCE ? a->source : 0);
            assert_int_equal(b->gap_cpu_ns, masks[i] & WIO_COLUMN_CPU ? a->gap_cpu_ns : 0);
            assert_int_equal(b->dur_slept, masks[i] & WIO_COLUMN_CPU ? a->dur_slept : 0);
        }
        wio_cursor_destroy(all);
        wio_cursor_destroy(some);
    }
    wio_trace_close(trace);
}

/* R-INDEX-1, R-STREAM-2: totals from the index are those of the events. */
static void index_has_the_totals(void **state)
{
    struct fixture *fixture = *state;
    write_ordinary_segment(fixture->segment, 3, 9000, 14);
    struct wio_trace *trace = open_trace(fixture->dir);
    struct wio_op_total want[WIO_OP_COUNT] = {0};
    struct wio_cursor *cursor = NULL;
    const struct wio_event *events = NULL;
    size_t count = 0;
    struct wio_error err = WIO_ERROR_INIT;
    struct wio_filter filter = {.struct_size = sizeof(filter), .order = WIO_ORDER_STREAM};
    assert_ok(wio_cursor_create(trace, &filter, &cursor, &err), &err);
    while (wio_cursor_next_block(cursor, &events, &count, &err) == WIO_OK) {
        for (size_t i = 0; i < count; i++) {
            struct wio_op_total *total = &want[events[i].op];
            enum wio_class cls = wio_op_class(events[i].op);
            bool is_data = cls == WIO_CLASS_READ || cls == WIO_CLASS_WRITE;
            total->count++;
            total->bytes += is_data && events[i].result > 0 ? (uint64_t)events[i].result : 0;
            total->time_ns += events[i].dur_ns;
            total->errors += events[i].error != 0;
        }
    }
    wio_cursor_destroy(cursor);
    struct wio_trace_info info;
    uint64_t bytes = 0;
    wio_trace_get_info(trace, &info);
    for (unsigned op = 0; op < WIO_OP_COUNT; op++) {
        struct wio_op_total total;
        wio_trace_op_total(trace, op, &total);
        assert_memory_equal(&total, &want[op], sizeof(total));
        bytes += total.bytes;
    }
    assert_int_equal(info.bytes_read + info.bytes_written, bytes);
    assert_int_equal(info.events, 27000);
    assert_int_equal(info.ranks, 3);
    assert_int_equal(info.files, 4); /* of five paths one was never used */
    assert_true(info.complete);
    assert_string_equal(info.command, "app -x");
    wio_trace_close(trace);
}

/* R-DIR-1, R-DIR-2, R-DIR-5: two segments, the second a second later, names shared. */
static void segments_are_joined(void **state)
{
    struct fixture *fixture = *state;
    struct wio_error err = WIO_ERROR_INIT;
    struct wio_segment *segment = NULL;
    char name[400];
    write_ordinary_segment(fixture->segment, 2, 100, 15);
    (void)snprintf(name, sizeof(name), "%s/b.seg", fixture->dir);
    struct wio_segment_params params = {
        .struct_size = sizeof(params),
        .base_unix_ns = 1, /* the wall clock was set back: the boot id and its clock count */
        .base_mono_ns = 6000000000ull,
        .boot_id = "0f1e2d3c-0000-0000-0000-000000000001",
    };
    struct wio_process_info process = {.pid = 7, .host = "node1", .rank = 9, .parent = UINT32_MAX};
    struct wio_event event = {.op = WIO_OP_read, .fd = 3, .fd2 = WIO_NO_FD, .size = 1, .t_ns = 5};
    uint32_t other = 0;
    assert_ok(wio_segment_create(name, &params, &segment, &err), &err);
    assert_ok(wio_segment_string(segment, "/only/here", 10, &other, &err), &err);
    assert_ok(wio_segment_string(segment, "/data/file2", 11, &event.path, &err), &err);
    assert_ok(wio_segment_process(segment, &process, &other, &err), &err);
    assert_ok(wio_segment_stream(segment, other, 7, 0, &other, &err), &err);
    struct wio_frame frame = {"/lib/b.so", "", 0x77};
    assert_ok(wio_segment_source(segment, &frame, 1, &event.source, &err), &err);
    assert_ok(wio_segment_append(segment, &event, &err), &err);
    assert_ok(wio_segment_finish(segment, &err), &err);
    (void)snprintf(name, sizeof(name), "%s/c.seg.tmp", fixture->dir);
    wio_test_write(name, "half", 4);

    struct wio_trace *trace = open_trace(fixture->dir);
    const int32_t ranks[] = {9};
    const struct wio_filter filter = {
        .struct_size = sizeof(filter), .ranks = ranks, .rank_count = 1};
    struct wio_cursor *cursor = NULL;
    const struct wio_event *read = NULL;
    struct wio_frame frames[1];
    assert_int_equal(read_with(trace, NULL, NULL), 201);
    assert_ok(wio_cursor_create(trace, &filter, &cursor, &err), &err);
    assert_ok(wio_cursor_next(cursor, &read, &err), &err);
    assert_int_equal(read->t_ns, 1000000005ull);
    assert_string_equal(wio_trace_string(trace, read->path, NULL), "/data/file2");
    assert_int_equal(read->path, 2); /* one id in the trace for one text */
    assert_int_equal(wio_trace_source(trace, read->source, frames, 1), 1);
    assert_string_equal(frames[0].module, "/lib/b.so");
    assert_int_equal(wio_trace_stream(trace, read->stream)->tid, 7);
    wio_cursor_destroy(cursor);
    wio_trace_close(trace);
}

static void write_command(const struct fixture *fixture, const char *file, uint64_t begin_ns,
                          const char *command)
{
    struct wio_error err = WIO_ERROR_INIT;
    struct wio_segment *segment = NULL;
    char name[400];
    const struct wio_segment_params params = {.struct_size = sizeof(params),
                                              .base_unix_ns = begin_ns};
    (void)snprintf(name, sizeof(name), "%s/%s", fixture->dir, file);
    assert_ok(wio_segment_create(name, &params, &segment, &err), &err);
    assert_ok(wio_segment_meta(segment, WIO_SEGMENT_META_COMMAND, command, strlen(command), &err),
              &err);
    assert_ok(wio_segment_finish(segment, &err), &err);
}

/* Names hold pids, which come again: the segment that begins first is of the first recorder. */
static void the_first_recorder_tells_the_command(void **state)
{
    struct fixture *fixture = *state;
    struct wio_trace_info info;
    write_command(fixture, "node.998.seg", 7000, "launcher ./a");
    write_command(fixture, "node.1002.seg", 8000, "./a");
    struct wio_trace *trace = open_trace(fixture->dir);
    wio_trace_get_info(trace, &info);
    assert_string_equal(info.command, "launcher ./a");
    wio_trace_close(trace);
}

/* R-DIR-6: recorders of several ranks that used the same files. */
static void a_file_of_two_segments_is_one_file(void **state)
{
    struct fixture *fixture = *state;
    char name[400];
    struct wio_trace_info one;
    struct wio_trace_info two;
    write_ordinary_segment(fixture->segment, 2, 100, 15);
    struct wio_trace *trace = open_trace(fixture->dir);
    wio_trace_get_info(trace, &one);
    uint32_t rows = wio_trace_file_count(trace);
    wio_trace_close(trace);
    (void)snprintf(name, sizeof(name), "%s/b.seg", fixture->dir);
    write_ordinary_segment(name, 2, 100, 15);
    trace = open_trace(fixture->dir);
    wio_trace_get_info(trace, &two);
    assert_true(one.files > 0);
    assert_int_equal(two.events, 2 * one.events);
    assert_int_equal(two.files, one.files);
    assert_int_equal(wio_trace_file_count(trace), rows);
    wio_trace_close(trace);
}

static void no_trace_is_an_error(void **state)
{
    struct fixture *fixture = *state;
    struct wio_trace *trace = NULL;
    struct wio_error err = WIO_ERROR_INIT;
    char name[400];
    assert_status(wio_trace_open(fixture->dir, &trace, &err), WIO_ERR_FORMAT, &err);
    (void)snprintf(name, sizeof(name), "%s/file", fixture->dir);
    wio_test_write(name, "x", 1);
    assert_status(wio_trace_open(name, &trace, &err), WIO_ERR_FORMAT, &err);
    assert_string_equal(err.message, "expected a trace directory, found a file");
    (void)snprintf(name, sizeof(name), "%s/nothing", fixture->dir);
    assert_status(wio_trace_open(name, &trace, &err), WIO_ERR_IO, &err);
    (void)snprintf(name, sizeof(name), "%s/dir.seg", fixture->dir);
    assert_int_equal(mkdir(name, 0700), 0);
    assert_status(wio_trace_open(fixture->dir, &trace, &err), WIO_ERR_IO, &err);
    assert_non_null(strstr(err.file, "dir.seg"));
}

/* The bytes of a small segment, to be damaged and written back. */
struct damaged {
    struct wio_blob whole;
    const char *name;
    uint64_t events; /* hash of them */
};

static void hash_events(const struct wio_trace *trace, uint64_t *hash_out, enum wio_status *status,
                        struct wio_error *err)
{
    struct wio_cursor *cursor = NULL;
    const struct wio_event *event = NULL;
    uint32_t hash = 0;
    assert_ok(wio_cursor_create(trace, NULL, &cursor, err), err);
    while ((*status = wio_cursor_next(cursor, &event, err)) == WIO_OK) {
        hash = wio_crc32c(hash, event, sizeof(*event));
    }
    wio_cursor_destroy(cursor);
    *hash_out = hash;
}

/* Open and read all: WIO_END and the same events, or an error that names file and place. */
static enum wio_status read_damaged(const struct fixture *fixture, uint64_t *hash_out,
                                    struct wio_error *err)
{
    struct wio_trace *trace = NULL;
    enum wio_status status = wio_trace_open(fixture->dir, &trace, err);
    if (status == WIO_OK) {
        hash_events(trace, hash_out, &status, err);
        wio_trace_close(trace);
    }
    if (status != WIO_END) {
        assert_non_null(strstr(err->file, "a.seg"));
        assert_non_null(strstr(err->message, "expected"));
        assert_int_not_equal(err->offset, WIO_ERROR_NO_OFFSET);
    }
    return status;
}

static void ignore_fault(void *arg, const struct wio_error *fault)
{
    assert_non_null(strstr(fault->file, "a.seg"));
    (*(unsigned *)arg)++;
}

/* R-DAMAGE-1, R-DAMAGE-2, R-SEG-3: every byte changed, one after the other: always found. */
static void every_changed_byte_is_found(void **state)
{
    struct fixture *fixture = *state;
    struct wio_blob bytes = {0};
    struct wio_error err = WIO_ERROR_INIT;
    uint64_t hash = 0;
    write_ordinary_segment(fixture->segment, 2, 60, 16);
    assert_ok(wio_io_read_file(fixture->segment, 1 << 20, &bytes, &err), &err);
    int fd = open(fixture->segment, O_RDWR | O_CLOEXEC);
    for (size_t i = 0; i < bytes.size; i++) {
        unsigned faults = 0;
        uint8_t changed = bytes.data[i] ^ (uint8_t)(1u << i % 8);
        assert_int_equal(pwrite(fd, &changed, 1, (off_t)i), 1);
        assert_int_not_equal(read_damaged(fixture, &hash, &err), WIO_END);
        assert_int_equal(wio_trace_check(fixture->dir, ignore_fault, &faults, &err), WIO_END);
        assert_true(faults > 0);
        assert_int_equal(pwrite(fd, &bytes.data[i], 1, (off_t)i), 1);
    }
    assert_int_equal(read_damaged(fixture, &hash, &err), WIO_END);
    (void)close(fd);
    wio_blob_fini(&bytes);
}

/* R-SEG-4: cut anywhere, and with something behind its end. */
static void every_cut_is_found(void **state)
{
    struct fixture *fixture = *state;
    struct wio_blob bytes = {0};
    struct wio_error err = WIO_ERROR_INIT;
    uint64_t hash = 0;
    write_ordinary_segment(fixture->segment, 2, 60, 17);
    assert_ok(wio_io_read_file(fixture->segment, 1 << 20, &bytes, &err), &err);
    for (size_t size = 0; size < bytes.size; size++) {
        unsigned faults = 0;
        wio_test_write(fixture->segment, bytes.data, size);
        assert_int_not_equal(read_damaged(fixture, &hash, &err), WIO_END);
        assert_int_equal(wio_trace_check(fixture->dir, ignore_fault, &faults, &err), WIO_END);
        assert_true(faults > 0);
    }
    assert_int_equal(wio_blob_u8(&bytes, 0), WIO_OK);
    wio_test_write(fixture->segment, bytes.data, bytes.size);
    assert_int_not_equal(read_damaged(fixture, &hash, &err), WIO_END);
    wio_blob_fini(&bytes);
}

/* R-SEG-2 */
static void other_version_is_refused(void **state)
{
    struct fixture *fixture = *state;
    struct wio_blob bytes = {0};
    struct wio_error err = WIO_ERROR_INIT;
    uint64_t hash = 0;
    write_ordinary_segment(fixture->segment, 1, 10, 18);
    assert_ok(wio_io_read_file(fixture->segment, 1 << 20, &bytes, &err), &err);
    bytes.data[8] = 7;
    uint32_t crc = wio_crc32c(0, bytes.data, WIO_SEGMENT_HEADER_BYTES - 4);
    for (unsigned i = 0; i < 4; i++) {
        bytes.data[WIO_SEGMENT_HEADER_BYTES - 4 + i] = (uint8_t)(crc >> (8 * i));
    }
    wio_test_write(fixture->segment, bytes.data, bytes.size);
    assert_int_equal(read_damaged(fixture, &hash, &err), WIO_ERR_UNSUPPORTED);
    assert_string_equal(err.message, "expected version 1, found 7");
    assert_int_equal(err.offset, 8);
    wio_blob_fini(&bytes);
}

static void put_u32(uint8_t *at, uint32_t value)
{
    for (unsigned i = 0; i < 4; i++) {
        at[i] = (uint8_t)(value >> (8 * i));
    }
}

static uint32_t get_u32(const uint8_t *at)
{
    return at[0] | (uint32_t)at[1] << 8 | (uint32_t)at[2] << 16 | (uint32_t)at[3] << 24;
}

/* Of the only stream of a segment, whose table is too short to be packed. */
static uint8_t *head_of_streams(struct wio_blob *bytes)
{
    uint8_t *head = bytes->data + WIO_SEGMENT_HEADER_BYTES;
    while (head[4] != WIO_BLOCK_STREAMS) {
        head += WIO_BLOCK_HEAD_BYTES + get_u32(head + 8);
        assert_true(head < bytes->data + bytes->size);
    }
    assert_int_equal(head[6] & WIO_BLOCK_ZSTD, 0);
    return head;
}

/* A user of a stream that keeps something for each event of a stream has room for as many as its
 * table says. */
static void fewer_events_than_there_are_are_refused(void **state)
{
    struct fixture *fixture = *state;
    struct wio_blob bytes = {0};
    struct wio_error err = WIO_ERROR_INIT;
    uint64_t number = 0;
    uint64_t hash = 0;
    write_ordinary_segment(fixture->segment, 1, 10, 20);
    assert_ok(wio_io_read_file(fixture->segment, 1 << 20, &bytes, &err), &err);
    uint8_t *head = head_of_streams(&bytes);
    struct wio_buf table = wio_buf_of(head + WIO_BLOCK_HEAD_BYTES, get_u32(head + 8));
    for (unsigned i = 0; i < 4; i++) { /* how many, process, tid, token */
        assert_int_equal(wio_buf_varint(&table, &number), WIO_OK);
    }
    uint8_t *events = head + WIO_BLOCK_HEAD_BYTES + table.pos;
    assert_int_equal(*events, 10);
    *events = 9;
    put_u32(head + 16, wio_crc32c(0, head + WIO_BLOCK_HEAD_BYTES, get_u32(head + 8)));
    put_u32(head + 20, wio_crc32c(0, head, 20));
    wio_test_write(fixture->segment, bytes.data, bytes.size);
    assert_int_equal(read_damaged(fixture, &hash, &err), WIO_ERR_FORMAT);
    assert_string_equal(err.message, "expected blocks of 9 events of stream 0, found 10");
    wio_blob_fini(&bytes);
}

static void unreadable_segment_is_named(void **state)
{
    struct fixture *fixture = *state;
    struct wio_error err = WIO_ERROR_INIT;
    struct wio_trace *trace = NULL;
    write_ordinary_segment(fixture->segment, 1, 10, 19);
    assert_int_equal(chmod(fixture->segment, 0), 0);
    if (access(fixture->segment, R_OK) == 0) {
        return; /* as root there is no permission to lack */
    }
    assert_status(wio_trace_open(fixture->dir, &trace, &err), WIO_ERR_IO, &err);
    assert_non_null(strstr(err.file, "a.seg"));
}

/* R-DAMAGE-1: following parents comes to an end, whatever a trace says. */
static void parents_make_no_circle(void **state)
{
    struct fixture *fixture = *state;
    static const uint32_t parents[] = {1, 0, 2, 1, 77};
    struct wio_error err = WIO_ERROR_INIT;
    struct wio_segment *segment = begin_segment(fixture->segment, 0, 0);
    for (uint32_t i = 0; i < 5; i++) {
        const struct wio_process_info process = {
            .pid = 7, .host = "node1", .rank = -1, .parent = parents[i]};
        uint32_t index = 0;
        assert_ok(wio_segment_process(segment, &process, &index, &err), &err);
    }
    assert_ok(wio_segment_finish(segment, &err), &err);
    struct wio_trace *trace = open_trace(fixture->dir);
    for (uint32_t i = 0; i < 5; i++) {
        uint32_t want = parents[i] < i ? parents[i] : UINT32_MAX;
        assert_int_equal(wio_trace_process(trace, i)->parent, want);
    }
    wio_trace_close(trace);
}

/* R-DAMAGE-1: with hardly any room for unpacked blocks the same events come, in the same order. */
static void little_room_gives_the_same(void **state)
{
    struct fixture *fixture = *state;
    struct wio_error err = WIO_ERROR_INIT;
    struct wio_cursor *ample = NULL;
    struct wio_cursor *tight = NULL;
    const struct wio_event *a = NULL;
    const struct wio_event *b = NULL;
    uint64_t count = 0;
    write_ordinary_segment(fixture->segment, 30, 1500, 20);
    struct wio_trace *trace = open_trace(fixture->dir);
    assert_ok(wio_cursor_create(trace, NULL, &ample, &err), &err);
    assert_ok(wio_cursor_create(trace, NULL, &tight, &err), &err);
    tight->unpacked_max = 100000; /* three or four blocks of the thirty */
    while (wio_cursor_next(ample, &a, &err) == WIO_OK) {
        assert_ok(wio_cursor_next(tight, &b, &err), &err);
        assert_true(events_equal(a, b));
        count++;
    }
    assert_int_equal(count, 45000);
    assert_int_equal(wio_cursor_next(tight, &b, &err), WIO_END);
    wio_cursor_destroy(ample);
    wio_cursor_destroy(tight);
    wio_trace_close(trace);
}

static void another_order_is_refused(void **state)
{
    struct fixture *fixture = *state;
    struct wio_error err = WIO_ERROR_INIT;
    struct wio_filter filter = {.struct_size = sizeof(filter), .order = (enum wio_order)7};
    struct wio_trace *trace = NULL;
    struct wio_cursor *cursor = NULL;
    const struct wio_event *events = NULL;
    size_t count = 77;
    write_ordinary_segment(fixture->segment, 1, 10, 1);
    assert_int_equal(wio_trace_open(fixture->dir, &trace, &err), WIO_OK);
    assert_int_equal(wio_cursor_create(trace, &filter, &cursor, &err), WIO_ERR_USAGE);
    assert_null(cursor);
    assert_int_equal(wio_cursor_create(trace, NULL, &cursor, &err), WIO_OK);
    assert_int_equal(wio_cursor_next_block(cursor, &events, &count, &err), WIO_ERR_USAGE);
    assert_int_equal(count, 77);
    assert_int_equal(wio_cursor_next(cursor, &events, &err), WIO_OK);
    wio_cursor_destroy(cursor);
    wio_trace_close(trace);
}

int main(void)
{
    wio_test_in_memory();
    const struct CMUnitTest tests[] = {
#define TEST(name) cmocka_unit_test_setup_teardown(name, fixture_setup, fixture_teardown)
        TEST(streams_are_merged_by_time),
        TEST(filters_select),
        TEST(columns_are_chosen),
        TEST(index_has_the_totals),
        TEST(segments_are_joined),
        TEST(the_first_recorder_tells_the_command),
        TEST(a_file_of_two_segments_is_one_file),
        TEST(no_trace_is_an_error),
        TEST(every_changed_byte_is_found),
        TEST(every_cut_is_found),
        TEST(other_version_is_refused),
        TEST(fewer_events_than_there_are_are_refused),
        TEST(unreadable_segment_is_named),
        TEST(little_room_gives_the_same),
        TEST(parents_make_no_circle),
        TEST(another_order_is_refused),
    };
    return WIO_RUN(tests);
}
