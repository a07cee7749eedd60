/* SPDX-License-Identifier: Apache-2.0 */
/* What check says of sound traces, of odd but sound ones, and of each kind of unsound one. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <whyio/trace.h>

#include "base/crc.h"
#include "base/io.h"
#include "trace/write/segment_internal.h"
#include "trace_fixture.h"

struct faults {
    unsigned count;
    char texts[8][1024];
};

static void note_fault(void *arg, const struct wio_error *fault)
{
    struct faults *faults = arg;
    assert_true(fault->file[0] != '\0');
    if (faults->count < 8) {
        (void)snprintf(faults->texts[faults->count], sizeof(faults->texts[0]), "%s",
                       fault->message);
    }
    faults->count++;
}

static struct faults check(const char *dir, enum wio_status want)
{
    struct faults faults = {0};
    struct wio_error err = WIO_ERROR_INIT;
    assert_status(wio_trace_check(dir, note_fault, &faults, &err), want, &err);
    return faults;
}

static void put_block(struct wio_segment *segment, enum wio_block_kind kind, size_t zeros)
{
    struct wio_error err = WIO_ERROR_INIT;
    struct wio_blob payload = {0};
    uint64_t offset = segment->file.size;
    assert_int_equal(wio_blob_reserve(&payload, zeros + 1), WIO_OK);
    memset(payload.data, 0, zeros);
    payload.size = zeros;
    assert_ok(wio_block_write(&segment->file, &segment->pack, kind, &payload, 1, &err), &err);
    assert_ok(wio_segment_index_table(segment, kind, offset, &err), &err);
    wio_blob_fini(&payload);
}

static struct wio_event ordinary(uint64_t t_ns)
{
    return (struct wio_event){.op = 1,
                              .t_ns = t_ns,
                              .fd = 3,
                              .fd2 = WIO_NO_FD,
                              .offset = 0,
                              .offset2 = WIO_NO_OFFSET,
                              .size = 5,
                              .result = 5};
}

static void append(struct wio_segment *segment, uint64_t t_ns, uint32_t path, uint32_t source)
{
    struct wio_error err = WIO_ERROR_INIT;
    struct wio_event event = ordinary(t_ns);
    event.path = path;
    event.source = source;
    assert_ok(wio_segment_append(segment, &event, &err), &err);
}

static void finish(struct wio_segment *segment)
{
    struct wio_error err = WIO_ERROR_INIT;
    assert_ok(wio_segment_finish(segment, &err), &err);
}

static void sound_trace_has_no_fault(void **state)
{
    struct fixture *fixture = *state;
    write_ordinary_segment(fixture->segment, 3, 9000, 1);
    assert_int_equal(check(fixture->dir, WIO_OK).count, 0);
}

/* R-SEG-1: blocks that a later version may add, the edges of the next one for instance. */
static void unknown_block_is_skipped(void **state)
{
    struct fixture *fixture = *state;
    struct wio_error err = WIO_ERROR_INIT;
    struct wio_trace *trace = NULL;
    struct wio_trace_info info;
    struct wio_segment *segment = begin_segment(fixture->segment, 1, 1);
    put_block(segment, (enum wio_block_kind)77, 100);
    append(segment, 10, 1, 1);
    put_block(segment, (enum wio_block_kind)78, 0);
    finish(segment);
    assert_int_equal(check(fixture->dir, WIO_OK).count, 0);
    assert_ok(wio_trace_open(fixture->dir, &trace, &err), &err);
    wio_trace_get_info(trace, &info);
    assert_int_equal(info.events, 1);
    wio_trace_close(trace);
}

/* R-DAMAGE-3: a few kilobytes that unpack to 180 MB of tables. */
static void bomb_is_refused(void **state)
{
    struct fixture *fixture = *state;
    struct wio_error err = WIO_ERROR_INIT;
    struct wio_trace *trace = NULL;
    struct wio_segment *segment = begin_segment(fixture->segment, 1, 1);
    for (unsigned i = 0; i < 3; i++) {
        put_block(segment, WIO_BLOCK_META, 60u << 20);
    }
    finish(segment);
    assert_status(wio_trace_open(fixture->dir, &trace, &err), WIO_ERR_UNSUPPORTED, &err);
    assert_non_null(strstr(err.message, "expected index and tables of at most"));
}

/* Rows of a byte or two, which take a hundred in memory. */
static void put_rows(struct wio_segment *segment, enum wio_block_kind kind, uint64_t rows,
                     uint64_t first)
{
    struct wio_error err = WIO_ERROR_INIT;
    struct wio_blob payload = {0};
    uint64_t offset = segment->file.size;
    if (first > 0) {
        assert_int_equal(wio_blob_varint(&payload, first), WIO_OK);
    }
    assert_int_equal(wio_blob_varint(&payload, rows), WIO_OK);
    assert_int_equal(wio_blob_reserve(&payload, 8 * rows), WIO_OK);
    memset(payload.data + payload.size, 0, 8 * rows);
    payload.size += 8 * rows;
    assert_ok(wio_block_write(&segment->file, &segment->pack, kind, &payload, 1, &err), &err);
    assert_ok(wio_segment_index_table(segment, kind, offset, &err), &err);
    wio_blob_fini(&payload);
}

/* R-DAMAGE-3: small when unpacked, but not when parsed. */
static void bomb_of_rows_is_refused(void **state)
{
    struct fixture *fixture = *state;
    const struct {
        enum wio_block_kind kind;
        uint64_t first;
    } tables[] = {{WIO_BLOCK_PROCESSES, 0}, {WIO_BLOCK_FILES, 0}, {WIO_BLOCK_SOURCES, 1}};
    for (unsigned i = 0; i < 3; i++) {
        struct wio_error err = WIO_ERROR_INIT;
        struct wio_trace *trace = NULL;
        struct wio_segment *segment = begin_segment(fixture->segment, 0, 0);
        put_rows(segment, tables[i].kind, 3u << 20, tables[i].first);
        finish(segment);
        assert_status(wio_trace_open(fixture->dir, &trace, &err), WIO_ERR_UNSUPPORTED, &err);
        assert_non_null(strstr(err.message, "expected index and tables of at most"));
        struct faults faults = check(fixture->dir, WIO_END);
        assert_non_null(strstr(faults.texts[0], "expected index and tables of at most"));
        assert_int_equal(unlink(fixture->segment), 0);
    }
}

static void unknown_ids_are_found(void **state)
{
    struct fixture *fixture = *state;
    struct wio_segment *segment = begin_segment(fixture->segment, 1, 1);
    append(segment, 10, 1, 77); /* there are two sources */
    finish(segment);
    struct faults faults = check(fixture->dir, WIO_END);
    assert_int_equal(faults.count, 1);
    assert_non_null(strstr(faults.texts[0], "sources"));
}

/* A number is missing between two blocks of a stream. */
static void gap_in_numbers_is_found(void **state)
{
    struct fixture *fixture = *state;
    struct wio_error err = WIO_ERROR_INIT;
    struct wio_segment *segment = begin_segment(fixture->segment, 1, 1);
    append(segment, 10, 1, 1);
    assert_ok(wio_segment_flush(segment, 0, &err), &err);
    segment->streams[0].next_seq++;
    append(segment, 20, 1, 1);
    finish(segment);
    struct faults faults = check(fixture->dir, WIO_END);
    assert_true(faults.count >= 1);
    assert_non_null(strstr(faults.texts[0], "expected event 1 of stream 0, found event 2"));
}

/* Time runs backwards from one block to the next. */
static void wrong_order_is_found(void **state)
{
    struct fixture *fixture = *state;
    struct wio_error err = WIO_ERROR_INIT;
    struct wio_segment *segment = begin_segment(fixture->segment, 1, 1);
    append(segment, 100, 1, 1);
    assert_ok(wio_segment_flush(segment, 0, &err), &err);
    append(segment, 20, 1, 1);
    finish(segment);
    struct faults faults = check(fixture->dir, WIO_END);
    assert_int_equal(faults.count, 1);
    assert_non_null(strstr(faults.texts[0], "to begin at 100 ns or later, found 20 ns"));
}

/* R-EVENTS-2: a call that held more than a block of others comes behind them; that is no fault. */
static void long_call_may_come_late(void **state)
{
    struct fixture *fixture = *state;
    struct wio_error err = WIO_ERROR_INIT;
    struct wio_segment *segment = begin_segment(fixture->segment, 1, 1);
    for (uint32_t i = 0; i < 10000; i++) {
        append(segment, 100 + 10ull * i, 1, 1);
    }
    struct wio_event event = ordinary(90);
    event.path = 1;
    event.source = 1;
    event.dur_ns = 100010;
    assert_ok(wio_segment_append(segment, &event, &err), &err);
    finish(segment);
    assert_int_equal(check(fixture->dir, WIO_OK).count, 0);
}

/* R-DAMAGE-1: a head that asks for gigabytes, in a file with a hole of that size. */
static void block_of_any_size_is_refused(void **state)
{
    enum { STORED = 300 << 20 };
    struct fixture *fixture = *state;
    struct wio_error err = WIO_ERROR_INIT;
    struct wio_trace *trace = NULL;
    struct wio_segment *segment = begin_segment(fixture->segment, 1, 1);
    uint8_t bytes[WIO_BLOCK_HEAD_BYTES];
    struct wio_blob head = {bytes, 0, sizeof(bytes)};
    uint64_t offset = segment->file.size;
    assert_int_equal(wio_blob_u32(&head, WIO_BLOCK_MAGIC), WIO_OK);
    assert_int_equal(wio_blob_u16(&head, WIO_BLOCK_META), WIO_OK);
    assert_int_equal(wio_blob_u16(&head, WIO_BLOCK_ZSTD), WIO_OK);
    assert_int_equal(wio_blob_u32(&head, STORED), WIO_OK);
    assert_int_equal(wio_blob_u32(&head, 1), WIO_OK);
    assert_int_equal(wio_blob_u32(&head, 0), WIO_OK);
    assert_int_equal(wio_blob_u32(&head, wio_crc32c(0, bytes, 20)), WIO_OK);
    assert_ok(wio_io_pwrite(segment->file.fd, "a.seg", bytes, sizeof(bytes), offset, &err), &err);
    segment->file.size += sizeof(bytes) + STORED;
    assert_ok(wio_segment_index_table(segment, WIO_BLOCK_META, offset, &err), &err);
    finish(segment);
    assert_status(wio_trace_open(fixture->dir, &trace, &err), WIO_ERR_UNSUPPORTED, &err);
    assert_int_equal(err.offset, offset);
    assert_non_null(strstr(err.message, "expected a block of at most 64 MiB"));
}

/* Two damaged blocks are two faults: R-SEG-4. */
static void check_goes_on_behind_a_fault(void **state)
{
    struct fixture *fixture = *state;
    struct wio_blob bytes = {0};
    struct wio_error err = WIO_ERROR_INIT;
    unsigned found = 0;
    write_ordinary_segment(fixture->segment, 1, 20000, 2);
    assert_ok(wio_io_read_file(fixture->segment, 1 << 24, &bytes, &err), &err);
    for (size_t at = 0; at + 4 < bytes.size; at++) {
        if (memcmp(bytes.data + at, "WBLK", 4) == 0 && (++found == 2 || found == 4)) {
            bytes.data[at] ^= 0x20; /* not even the next block can be found from here */
        }
    }
    wio_test_write(fixture->segment, bytes.data, bytes.size);
    wio_blob_fini(&bytes);
    struct faults faults = check(fixture->dir, WIO_END);
    unsigned heads = 0;
    for (unsigned i = 0; i < faults.count && i < 8; i++) {
        heads += strstr(faults.texts[i], "begins with WBLK") != NULL;
    }
    assert_int_equal(heads, 2);
}

static void no_trace_is_no_fault(void **state)
{
    struct fixture *fixture = *state;
    assert_int_equal(check(fixture->dir, WIO_ERR_FORMAT).count, 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
#define TEST(name) cmocka_unit_test_setup_teardown(name, fixture_setup, fixture_teardown)
        TEST(sound_trace_has_no_fault),
        TEST(unknown_block_is_skipped),
        TEST(bomb_is_refused),
        TEST(bomb_of_rows_is_refused),
        TEST(unknown_ids_are_found),
        TEST(gap_in_numbers_is_found),
        TEST(wrong_order_is_found),
        TEST(long_call_may_come_late),
        TEST(block_of_any_size_is_refused),
        TEST(check_goes_on_behind_a_fault),
        TEST(no_trace_is_no_fault),
    };
    return WIO_RUN(tests);
}
