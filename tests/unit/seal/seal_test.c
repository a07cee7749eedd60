/* SPDX-License-Identifier: Apache-2.0 */
/* Rings -> segment: chunks and rings, whole, damaged, live (FORMAT.md R-CHUNK, R-RING). */
#include "seal/seal.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/io.h"
#include "ops/calls.h"
#include "seal/seal_internal.h"
#include "sealed_fixture.h"

/* R-CHUNK-1, R-CHUNK-2: three chunks, the last one there twice, in the wrong order. */
static void chunks_are_put_in_order(void **state)
{
    struct fixture *fixture = *state;
    struct ring_builder ring;
    begin_process(&ring);
    for (uint32_t i = 0; i < 2500; i++) {
        ring_event(&ring, 0, "read")->size = i;
    }
    ring_copy_chunk(&ring, 0);
    /* Each copy lacks something that the other has. */
    ring.chunks[2][5].any.seq = 0;
    ring.chunks[3][6].any.seq = 0;
    union wio_slot saved[WIO_CHUNK_SLOTS + 1];
    memcpy(saved, ring.chunks[0], sizeof(saved));
    memcpy(ring.chunks[0], ring.chunks[2], sizeof(saved));
    memcpy(ring.chunks[2], saved, sizeof(saved));
    ring_save(&ring, raw_dir(fixture), "a.ring");
    struct sealed sealed = open_all(fixture->dir);
    assert_int_equal(sealed.count, 2500);
    for (size_t i = 0; i < sealed.count; i++) {
        assert_int_equal(sealed.events[i].size, i);
        assert_int_equal(sealed.events[i].seq, i);
    }
    close_all(&sealed);
}

/* R-CHUNK-2, R-RING-4: a record that was never finished is counted where the process was killed. */
static void hole_is_counted(void **state)
{
    struct fixture *fixture = *state;
    struct ring_builder ring;
    begin_process(&ring);
    for (uint32_t i = 0; i < 10; i++) {
        ring_event(&ring, 0, "read");
    }
    ring.chunks[0][5].any.seq = 0;
    ring.header.end = WIO_END_NONE;
    ring_save(&ring, raw_dir(fixture), "a.ring");
    struct sealed sealed = open_all(fixture->dir);
    struct wio_trace_info info;
    wio_trace_get_info(sealed.trace, &info);
    assert_int_equal(sealed.count, 9);
    assert_int_equal(info.dropped, 1);
    assert_false(info.complete);
    assert_int_equal(wio_trace_process(sealed.trace, 0)->end, WIO_END_NONE);
    close_all(&sealed);
}

/* R-CHUNK-3 */
static void unknown_record_is_skipped(void **state)
{
    struct fixture *fixture = *state;
    struct ring_builder ring;
    begin_process(&ring);
    ring_event(&ring, 0, "read");
    ring_slots(&ring, 0, 1)->any.kind = 200;
    ring_event(&ring, 0, "write");
    ring_save(&ring, raw_dir(fixture), "a.ring");
    struct sealed sealed = open_all(fixture->dir);
    assert_int_equal(sealed.count, 2);
    assert_int_equal(sealed.events[1].op, WIO_OP_write);
    close_all(&sealed);
}

/* R-CHUNK-4: a writer passes from thread to thread, and to a child that shares the memory. */
static void clock_changes_thread(void **state)
{
    struct fixture *fixture = *state;
    struct ring_builder ring;
    begin_process(&ring);
    ring_event(&ring, 0, "read");
    ring_clock(&ring, 0, 100, 101);
    ring_event(&ring, 0, "write");
    ring_clock(&ring, 0, 555, 555);
    ring_event(&ring, 0, "close");
    ring_clock(&ring, 0, 100, 100);
    ring_event(&ring, 0, "lseek");
    ring_save(&ring, raw_dir(fixture), "a.ring");
    struct sealed sealed = open_all(fixture->dir);
    static const int32_t tids[] = {100, 101, 555, 100};
    static const int32_t pids[] = {100, 100, 555, 100};
    for (size_t i = 0; i < 4; i++) {
        const struct wio_stream_info *stream =
            wio_trace_stream(sealed.trace, sealed.events[i].stream);
        assert_int_equal(stream->tid, tids[i]);
        assert_int_equal(wio_trace_process(sealed.trace, stream->process)->pid, pids[i]);
    }
    assert_int_equal(wio_trace_process(sealed.trace, 1)->parent, 0);
    close_all(&sealed);
}

/* R-CHUNK-5 */
static void drops_are_summed(void **state)
{
    struct fixture *fixture = *state;
    struct ring_builder ring;
    begin_process(&ring);
    ring_event(&ring, 0, "read");
    ring_clock(&ring, 0, 100, 100);
    ring.chunks[0][3].clock.dropped = 40;
    ring_clock(&ring, 1, 100, 101);
    ring.chunks[1][1].clock.dropped = 2;
    ring_event(&ring, 1, "read");
    ring_save(&ring, raw_dir(fixture), "a.ring");
    struct sealed sealed = open_all(fixture->dir);
    struct wio_trace_info info;
    wio_trace_get_info(sealed.trace, &info);
    assert_int_equal(info.dropped, 42);
    close_all(&sealed);
}

/* R-RING-1: what is no ring is passed over and named; another version is refused. */
static void foreign_files_are_not_rings(void **state)
{
    struct fixture *fixture = *state;
    struct ring_builder ring;
    struct wio_trace *trace = NULL;
    struct wio_error err = WIO_ERROR_INIT;
    char path[400];
    begin_process(&ring);
    ring_event(&ring, 0, "read");
    ring_save(&ring, raw_dir(fixture), "a.ring");
    (void)snprintf(path, sizeof(path), "%s/empty.ring", raw_dir(fixture));
    wio_test_write(path, "", 0);
    struct sealed sealed = open_all(fixture->dir);
    assert_int_equal(sealed.count, 1);
    close_all(&sealed);

    begin_process(&ring);
    ring.header.version = 2;
    ring_save(&ring, raw_dir(fixture), "b.ring");
    assert_status(wio_trace_open(fixture->dir, &trace, &err), WIO_ERR_UNSUPPORTED, &err);
    assert_non_null(strstr(err.file, "b.ring"));
    assert_ptr_equal(strstr(err.message, "expected version 1, found 2; the ring is of user"),
                     err.message);
}

static void other_build_is_refused(void **state)
{
    struct fixture *fixture = *state;
    struct ring_builder ring;
    struct wio_trace *trace = NULL;
    struct wio_error err = WIO_ERROR_INIT;
    begin_process(&ring);
    ring.header.calls_hash++;
    ring_event(&ring, 0, "read");
    ring_save(&ring, raw_dir(fixture), "a.ring");
    assert_status(wio_trace_open(fixture->dir, &trace, &err), WIO_ERR_UNSUPPORTED, &err);
    assert_non_null(strstr(err.message, "expected the table of calls"));
}

/* R-RING-3: cut in the middle of a chunk. */
static void partial_chunk_is_read(void **state)
{
    struct fixture *fixture = *state;
    struct ring_builder ring;
    char path[400];
    begin_process(&ring);
    for (uint32_t i = 0; i < 100; i++) {
        ring_event(&ring, 0, "read");
    }
    ring.header.end = WIO_END_NONE;
    ring_save(&ring, raw_dir(fixture), "a.ring");
    (void)snprintf(path, sizeof(path), "%s/a.ring", raw_dir(fixture));
    assert_int_equal(truncate(path, WIO_RING_HEADER_BYTES + 52 * WIO_SLOT_BYTES + 7), 0);
    struct sealed sealed = open_all(fixture->dir);
    assert_in_range(sealed.count, 50, 51);
    close_all(&sealed);
}

/* The waiter for the process knows how it ended. */
static bool ended_by_kill(void *arg, int32_t pid, uint64_t start_mono_ns, int *wait_status_out)
{
    assert_int_equal(start_mono_ns, 5000000000ull);
    *(int32_t *)arg = pid;
    *wait_status_out = 9; /* SIGKILL */
    return true;
}

/* R-RING-4 */
static void recorder_knows_the_end(void **state)
{
    struct fixture *fixture = *state;
    struct ring_builder ring;
    struct wio_error err = WIO_ERROR_INIT;
    struct wio_seal_totals totals;
    int32_t asked = 0;
    struct wio_seal_params params = {
        .struct_size = sizeof(params),
        .ended = ended_by_kill,
        .ended_arg = &asked,
        .totals = &totals,
    };
    begin_process(&ring);
    set_this_boot(&ring);
    ring.header.end = WIO_END_NONE;
    ring.header.unseen[WIO_UNSEEN_STATIC_EXEC] = 3;
    ring_event(&ring, 0, "read");
    ring_save(&ring, raw_dir(fixture), "a.ring");
    assert_ok(wio_seal(fixture->dir, NULL, "sealed", &params, &err), &err);
    struct sealed sealed = open_all(fixture->dir);
    const struct wio_process_info *process = wio_trace_process(sealed.trace, 0);
    assert_int_equal(asked, 100);
    assert_int_equal(process->end, WIO_END_SIGNAL);
    assert_int_equal(process->end_status, 9);
    assert_int_equal(process->unseen[WIO_UNSEEN_STATIC_EXEC], 3);
    assert_int_equal(totals.rings, 1);
    assert_int_equal(totals.events, 1);
    assert_int_equal(totals.unseen[WIO_UNSEEN_STATIC_EXEC], 3);
    assert_int_not_equal(access(raw_dir(fixture), F_OK), 0);
    close_all(&sealed);
}

/* This very process, as a ring says it. */
static void make_live(struct ring_builder *ring)
{
    struct wio_blob text = {0};
    unsigned long long start = 0;
    assert_int_equal(wio_io_read_file("/proc/self/stat", 4096, &text, NULL), WIO_OK);
    char *at = strrchr((char *)text.data, ')');
    for (unsigned field = 2; field < 22; field++) {
        at = strchr(at + 1, ' ');
    }
    start = strtoull(at + 1, NULL, 10);
    wio_blob_fini(&text);
    set_this_boot(ring);
    ring->header.pid = getpid();
    ring->header.pid_start = start;
    ring->header.end = WIO_END_NONE;
}

/* R-RING-5, R-DIR-3: a process that still runs keeps its ring, and those it has strings from. */
static void live_ring_is_left(void **state)
{
    struct fixture *fixture = *state;
    struct ring_builder ring;
    struct wio_error err = WIO_ERROR_INIT;
    struct wio_seal_params params = {.struct_size = sizeof(params)};
    char path[400];
    begin_process(&ring);
    ring_string(&ring, 0, 1, 0, "/from/parent");
    ring_event(&ring, 0, "read")->path = 1;
    ring_save(&ring, raw_dir(fixture), "a.ring");
    ring_begin(&ring, 101, 5000001000ull);
    ring_clock(&ring, 0, 101, 101);
    make_live(&ring);
    ring.header.first_string = 2;
    (void)snprintf(ring.header.parent_ring, sizeof(ring.header.parent_ring), "a.ring");
    ring_event(&ring, 0, "write")->path = 1;
    ring_save(&ring, raw_dir(fixture), "b.ring");

    /* Looking changes nothing ... */
    struct sealed sealed = open_all(fixture->dir);
    assert_int_equal(sealed.count, 2);
    close_all(&sealed);
    (void)snprintf(path, sizeof(path), "%s/a.ring", raw_dir(fixture));
    assert_int_equal(access(path, F_OK), 0);
    /* ... and sealing leaves the live one. */
    assert_ok(wio_seal(fixture->dir, NULL, "first", &params, &err), &err);
    assert_int_not_equal(access(path, F_OK), 0);
    (void)snprintf(path, sizeof(path), "%s/b.ring", raw_dir(fixture));
    assert_int_equal(access(path, F_OK), 0);
    (void)snprintf(path, sizeof(path), "%s/a.ring.sealed", raw_dir(fixture));
    assert_int_equal(access(path, F_OK), 0);
    sealed = open_all(fixture->dir);
    assert_int_equal(sealed.count, 2);
    assert_string_equal(path_of(&sealed, 1), "/from/parent");
    close_all(&sealed);
}

/* R-STRING-2: a child that has ended is sealed while its parent runs on, with the parent's names.
 */
static void child_of_a_live_process_has_its_names(void **state)
{
    struct fixture *fixture = *state;
    struct ring_builder ring;
    struct wio_error err = WIO_ERROR_INIT;
    struct wio_seal_params params = {.struct_size = sizeof(params)};
    char live[400];
    char gone[400];
    begin_process(&ring);
    make_live(&ring);
    ring_string(&ring, 0, 1, 0, "/from/parent");
    ring_event(&ring, 0, "read")->path = 1;
    ring_save(&ring, raw_dir(fixture), "a.ring");
    ring_begin(&ring, 101, 5000001000ull);
    ring_clock(&ring, 0, 101, 101);
    ring.header.first_string = 2;
    (void)snprintf(ring.header.parent_ring, sizeof(ring.header.parent_ring), "a.ring");
    ring_event(&ring, 0, "write")->path = 1;
    ring_save(&ring, raw_dir(fixture), "b.ring");

    assert_ok(wio_seal(fixture->dir, NULL, "first", &params, &err), &err);
    (void)snprintf(live, sizeof(live), "%s/a.ring", raw_dir(fixture));
    (void)snprintf(gone, sizeof(gone), "%s/a.gone", raw_dir(fixture));
    assert_int_equal(rename(live, gone), 0); /* it was left, and is not to be read now */
    struct sealed sealed = open_all(fixture->dir);
    assert_int_equal(sealed.count, 1);
    assert_string_equal(path_of(&sealed, 0), "/from/parent");
    close_all(&sealed);
}

struct heard {
    unsigned calls;
    uint64_t done;
    uint64_t total;
};

static void hear(void *arg, uint64_t done, uint64_t total, const char *unit)
{
    struct heard *heard = arg;
    assert_true(done >= heard->done && done <= total);
    assert_string_equal(unit, "B");
    *heard = (struct heard){heard->calls + 1, done, total};
}

/* Opening tells how far the sealing of what was left has come. */
static void sealing_tells_its_progress(void **state)
{
    struct fixture *fixture = *state;
    struct ring_builder ring;
    struct wio_error err = WIO_ERROR_INIT;
    struct wio_trace *trace = NULL;
    struct heard heard = {0};
    begin_process(&ring);
    for (uint32_t i = 0; i < 5000; i++) {
        ring_event(&ring, 0, "read");
    }
    ring_save(&ring, raw_dir(fixture), "a.ring");
    assert_ok(wio_trace_open_progress(fixture->dir, hear, &heard, &trace, &err), &err);
    wio_trace_close(trace);
    assert_true(heard.calls >= 5); /* once for each chunk at least */
    assert_true(heard.total > 5000 * WIO_SLOT_BYTES);
    assert_true(heard.done > heard.total / 2);
    heard = (struct heard){0};
    assert_ok(wio_trace_open_progress(fixture->dir, hear, &heard, &trace, &err), &err);
    wio_trace_close(trace);
    assert_int_equal(heard.calls, 0); /* there was nothing to seal */
}

static void unwritable_directory_is_sealed_in_memory(void **state)
{
    struct fixture *fixture = *state;
    struct ring_builder ring;
    char path[400];
    begin_process(&ring);
    ring_event(&ring, 0, "read");
    ring_save(&ring, raw_dir(fixture), "a.ring");
    struct wio_error err = WIO_ERROR_INIT;
    struct wio_seal_params params = {.struct_size = sizeof(params), .keep_rings = true};
    int fd = -1;
    assert_ok(wio_seal_to_fd(fixture->dir, NULL, &fd, &params, &err), &err);
    assert_true(fd >= 0);
    assert_true(lseek(fd, 0, SEEK_END) > 0);
    (void)close(fd);
    (void)snprintf(path, sizeof(path), "%s/a.ring", raw_dir(fixture));
    assert_int_equal(access(path, F_OK), 0);
    struct wio_seal_survey survey;
    assert_ok(wio_seal_survey(fixture->dir, &survey, &err), &err);
    assert_int_equal(survey.rings, 1);
    assert_int_equal(survey.live, 0);
    assert_true(survey.is_writable);
}

/* A line end in a name makes no line of its own. */
static void a_fault_is_one_line(void **state)
{
    (void)state;
    struct wio_seal seal = {0};
    struct wio_error fault = WIO_ERROR_INIT;
    (void)wio_error_set(&fault, WIO_ERR_FORMAT, "d/raw/a\n'd/b.seg': all is well", 8, "damaged");
    wio_seal_fault(&seal, &fault);
    assert_int_equal(wio_blob_u8(&seal.faults.lines, 0), WIO_OK);
    assert_string_equal((const char *)seal.faults.lines.data,
                        "'d/raw/a 'd/b.seg': all is well' at byte 8: damaged\n");
    wio_blob_fini(&seal.faults.lines);
}

/* Of very many damaged rings the first are named: the list has to fit into a block. */
static void list_of_faults_has_an_end(void **state)
{
    (void)state;
    struct wio_seal seal = {0};
    struct wio_error fault = WIO_ERROR_INIT;
    (void)wio_error_set(&fault, WIO_ERR_FORMAT, "d/raw/node.1.1.ring", 8, "7 records are damaged");
    for (unsigned i = 0; i < 50000; i++) {
        wio_seal_fault(&seal, &fault);
    }
    assert_int_equal(wio_blob_u8(&seal.faults.lines, 0), WIO_OK);
    const char *text = (const char *)seal.faults.lines.data;
    assert_true(seal.faults.lines.size < 1100000);
    assert_int_equal(strncmp(text, "'d/raw/node.1.1.ring' at byte 8: 7 records", 42), 0);
    assert_non_null(strstr(text, "\nthere is more damage than is listed\n"));
    wio_blob_fini(&seal.faults.lines);
}

/* A record lies in one chunk; one that goes on behind it is damaged, and what lies there is another
 * one's. */
static void record_beyond_its_chunk_is_skipped(void **state)
{
    struct fixture *fixture = *state;
    struct ring_builder ring;
    begin_process(&ring);
    while (ring.next_slot[0] < WIO_CHUNK_SLOTS) {
        ring_event(&ring, 0, "read")->size = 7;
    }
    ring_event(&ring, 0, "pread")->kind = WIO_SLOT_EVENT_EXT;
    ring_save(&ring, raw_dir(fixture), "a.ring");
    struct sealed sealed = open_all(fixture->dir);
    assert_int_equal(sealed.count, WIO_CHUNK_SLOTS - 2); /* the first one is a CLOCK */
    for (size_t i = 0; i < sealed.count; i++) {
        assert_int_equal(sealed.events[i].size, 7);
    }
    close_all(&sealed);
}

/* R-RING-6: a sealing that died before it took the rings away: the next look does. */
static void rings_that_are_sealed_are_taken_away(void **state)
{
    struct fixture *fixture = *state;
    struct ring_builder ring;
    char path[400];
    write_ordinary_segment(fixture->segment, 1, 10, 1);
    begin_process(&ring);
    ring_event(&ring, 0, "read");
    ring_save(&ring, raw_dir(fixture), "a.ring");
    (void)snprintf(path, sizeof(path), "%s/" WIO_SEALED_AS, raw_dir(fixture));
    wio_test_write(path, "a.seg\na.ring\n", 13);
    struct sealed sealed = open_all(fixture->dir);
    assert_int_equal(sealed.count, 10);
    close_all(&sealed);
    assert_int_not_equal(access(raw_dir(fixture), F_OK), 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
#define TEST(name) cmocka_unit_test_setup_teardown(name, fixture_setup, fixture_teardown)
        TEST(chunks_are_put_in_order),
        TEST(hole_is_counted),
        TEST(unknown_record_is_skipped),
        TEST(clock_changes_thread),
        TEST(drops_are_summed),
        TEST(foreign_files_are_not_rings),
        TEST(other_build_is_refused),
        TEST(partial_chunk_is_read),
        TEST(recorder_knows_the_end),
        TEST(live_ring_is_left),
        TEST(sealing_tells_its_progress),
        TEST(unwritable_directory_is_sealed_in_memory),
        TEST(list_of_faults_has_an_end),
        TEST(a_fault_is_one_line),
        TEST(child_of_a_live_process_has_its_names),
        TEST(rings_that_are_sealed_are_taken_away),
        TEST(record_beyond_its_chunk_is_skipped),
    };
    return WIO_RUN(tests);
}
