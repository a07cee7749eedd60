/* SPDX-License-Identifier: Apache-2.0 */
/* Rings -> segment, requirement by requirement of FORMAT.md section 2. */
#include "trace/seal.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/io.h"
#include "ring_fixture.h"
#include "trace/calls.h"
#include "trace/hide.h"
#include "trace_fixture.h"

struct sealed {
    struct wio_trace *trace;
    struct wio_event *events; /* all, by time */
    size_t count;
};

/* Open the directory, which seals its rings, and read everything. */
static struct sealed open_all(const char *dir)
{
    struct sealed sealed = {0};
    struct wio_error err = WIO_ERROR_INIT;
    struct wio_cursor *cursor = NULL;
    const struct wio_event *event = NULL;
    assert_ok(wio_trace_open(dir, &sealed.trace, &err), &err);
    assert_ok(wio_cursor_create(sealed.trace, NULL, &cursor, &err), &err);
    struct wio_trace_info info;
    wio_trace_get_info(sealed.trace, &info);
    sealed.events = calloc(info.events + 1, sizeof(*sealed.events));
    while (wio_cursor_next(cursor, &event, &err) == WIO_OK) {
        sealed.events[sealed.count++] = *event;
    }
    assert_int_equal(sealed.count, info.events);
    wio_cursor_destroy(cursor);
    return sealed;
}

static void close_all(struct sealed *sealed)
{
    wio_trace_close(sealed->trace);
    free(sealed->events);
}

static const char *raw_dir(const struct fixture *fixture)
{
    static char path[300];
    (void)snprintf(path, sizeof(path), "%s/raw", fixture->dir);
    return path;
}

static const char *path_of(const struct sealed *sealed, size_t i)
{
    return wio_trace_string(sealed->trace, sealed->events[i].path, NULL);
}

/* One writer of a fresh process 100, its CLOCK written. */
static void begin_process(struct ring_builder *ring)
{
    ring_begin(ring, 100, 5000000000ull);
    ring_clock(ring, 0, 100, 100);
}

/* R-STRING-1 */
static void paths_are_composed(void **state)
{
    static const struct {
        uint32_t base;
        const char *text;
        const char *want;
    } cases[] = {
        {0, "/job", "/job"},
        {1, "a", "/job/a"},
        {1, "./a//b/.", "/job/a/b"},
        {1, "../x", "/x"},
        {1, "../../..", "/"},
        {1, "/abs/./y/../z", "/abs/z"},
        {0, "pipe:[123]", "pipe:[123]"},
        {2, "deep", "/job/a/deep"},
        {1, "", "/job"},
        {99, "lost", "lost"}, /* its directory is not defined */
    };
    struct ring_builder ring;
    begin_process(&ring);
    for (uint32_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        ring_string(&ring, 0, i + 1, cases[i].base, cases[i].text);
        ring_event(&ring, 0, "stat")->path = i + 1;
    }
    ring_save(&ring, raw_dir(*state), "a.ring");
    struct sealed sealed = open_all(((struct fixture *)*state)->dir);
    assert_int_equal(sealed.count, sizeof(cases) / sizeof(cases[0]));
    for (size_t i = 0; i < sealed.count; i++) {
        assert_string_equal(path_of(&sealed, i), cases[i].want);
    }
    close_all(&sealed);
}

/* `..` behind a symbolic link does not lead back: R-STRING-1. */
static void link_keeps_its_dots(void **state)
{
    struct fixture *fixture = *state;
    struct ring_builder ring;
    char link[300];
    char path[400];
    (void)snprintf(link, sizeof(link), "%s/link", fixture->dir);
    assert_int_equal(symlink("/usr", link), 0);
    begin_process(&ring);
    (void)snprintf(path, sizeof(path), "%s/../x", link);
    ring_string(&ring, 0, 1, 0, path);
    ring_event(&ring, 0, "stat")->path = 1;
    ring_save(&ring, raw_dir(fixture), "a.ring");
    struct sealed sealed = open_all(fixture->dir);
    assert_string_equal(path_of(&sealed, 0), path);
    close_all(&sealed);
}

/* A circle of directories, which no process can make, ends. */
static void circle_of_bases_ends(void **state)
{
    struct fixture *fixture = *state;
    struct ring_builder ring;
    begin_process(&ring);
    ring_string(&ring, 0, 1, 2, "a");
    ring_string(&ring, 0, 2, 1, "b");
    ring_event(&ring, 0, "stat")->path = 1;
    ring_save(&ring, raw_dir(fixture), "a.ring");
    struct sealed sealed = open_all(fixture->dir);
    assert_int_equal(sealed.count, 1);
    close_all(&sealed);
}

/* R-STRING-2: strings, and the parent, along two forks. */
static void strings_come_along_fork(void **state)
{
    struct fixture *fixture = *state;
    struct ring_builder ring;
    begin_process(&ring);
    ring_string(&ring, 0, 1, 0, "/job");
    ring_text(&ring, 0, WIO_SLOT_META, WIO_META_EXE, 0, "/bin/app", 8);
    ring_save(&ring, raw_dir(fixture), "a.ring");
    for (int32_t i = 1; i <= 2; i++) {
        ring_begin(&ring, 100 + i, 5000000000ull + (uint64_t)i * 1000);
        ring.header.ppid = 99 + i;
        ring.header.first_string = 1 + (uint32_t)i;
        (void)snprintf(ring.header.parent_ring, sizeof(ring.header.parent_ring), "%s",
                       i == 1 ? "a.ring" : "b.ring");
        ring_clock(&ring, 0, 100 + i, 100 + i);
        ring_string(&ring, 0, 1 + (uint32_t)i, 1, i == 1 ? "child" : "grandchild");
        ring_event(&ring, 0, "stat")->path = 1 + (uint32_t)i;
        ring_save(&ring, raw_dir(fixture), i == 1 ? "b.ring" : "c.ring");
    }
    struct sealed sealed = open_all(fixture->dir);
    assert_string_equal(path_of(&sealed, 0), "/job/child");
    assert_string_equal(path_of(&sealed, 1), "/job/grandchild");
    assert_int_equal(wio_trace_process(sealed.trace, 0)->parent, UINT32_MAX);
    assert_int_equal(wio_trace_process(sealed.trace, 1)->parent, 0);
    assert_int_equal(wio_trace_process(sealed.trace, 2)->parent, 1);
    assert_string_equal(wio_trace_process(sealed.trace, 2)->exe, "/bin/app");
    close_all(&sealed);
}

/* R-STRING-3 */
static void damaged_string_is_ignored(void **state)
{
    struct fixture *fixture = *state;
    struct ring_builder ring;
    begin_process(&ring);
    ring_string(&ring, 0, 1, 0, "/torn");
    ring.chunks[0][2].text.lo ^= 1;
    ring_string(&ring, 0, 1, 0, "/whole");
    ring_string(&ring, 0, 1, 0, "/again");
    ring_event(&ring, 0, "stat")->path = 1;
    ring_save(&ring, raw_dir(fixture), "a.ring");
    struct sealed sealed = open_all(fixture->dir);
    assert_string_equal(path_of(&sealed, 0), "/whole");
    close_all(&sealed);
}

/* R-STRING-4 */
static void text_of_link_is_unchanged(void **state)
{
    struct fixture *fixture = *state;
    struct ring_builder ring;
    struct wio_slot_ext *ext = NULL;
    begin_process(&ring);
    ring_string(&ring, 0, 1, 0, "/job/./link");
    ring_string(&ring, 0, 2, 0, "/to/./it/../x");
    ring_event_ext(&ring, 0, "symlink", &ext)->path = 1;
    ext->path2 = 2;
    ring_event_ext(&ring, 0, "rename", &ext)->path = 1;
    ext->path2 = 2;
    ring_save(&ring, raw_dir(fixture), "a.ring");
    struct sealed sealed = open_all(fixture->dir);
    assert_string_equal(path_of(&sealed, 0), "/job/link");
    assert_string_equal(wio_trace_string(sealed.trace, sealed.events[0].path2, NULL),
                        "/to/./it/../x");
    assert_string_equal(wio_trace_string(sealed.trace, sealed.events[1].path2, NULL), "/to/x");
    close_all(&sealed);
}

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
    assert_string_equal(err.message, "expected version 1, found 2");
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

/* Who waited for the process knows how it ended. */
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
    wio_blob_clear(&text);
    assert_int_equal(wio_io_read_file("/proc/sys/kernel/random/boot_id", 64, &text, NULL), WIO_OK);
    ring->header.pid = getpid();
    ring->header.pid_start = start;
    ring->header.end = WIO_END_NONE;
    (void)snprintf(ring->header.boot_id, sizeof(ring->header.boot_id), "%.36s",
                   (const char *)text.data);
    wio_blob_fini(&text);
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

/* R-EVENT-1, R-EVENT-2, R-EVENT-4: where arguments lie; the outer call is first. */
static void fields_are_unpacked(void **state)
{
    struct fixture *fixture = *state;
    struct ring_builder ring;
    struct wio_slot_ext *ext = NULL;
    begin_process(&ring);
    struct wio_slot_event *event = ring_event(&ring, 0, "open");
    event->offset = 0x42;
    event->size = 0644;
    event->result = -1;
    event->dur_error = 700 | (uint64_t)ENOENT << 48;
    event = ring_event(&ring, 0, "pwrite");
    event->offset = 4096;
    event->size = 512;
    event->result = 512;
    event->fd = 3;
    event->flags = WIO_EVENT_CAUSED;
    event = ring_event_ext(&ring, 0, "fwrite", &ext);
    event->begin -= 1500; /* around the write */
    event->dur_error = 1200;
    event->fd = 3;
    event->size = 9;
    ext->arg[2] = -7;
    ring_event(&ring, 0, "open"); /* nothing is known of its arguments */
    ring_save(&ring, raw_dir(fixture), "a.ring");
    struct sealed sealed = open_all(fixture->dir);
    const struct wio_event *events = sealed.events;
    assert_int_equal(events[0].op, WIO_OP_open);
    assert_int_equal(events[0].arg[0], 0x42);
    assert_int_equal(events[0].arg[1], 0644);
    assert_int_equal(events[0].error, ENOENT);
    assert_int_equal(events[0].dur_ns, 700);
    assert_true(events[0].offset == WIO_NO_OFFSET);
    assert_true(events[0].size == WIO_NO_SIZE);
    assert_int_equal(events[1].op, WIO_OP_fwrite);
    assert_int_equal(events[1].arg[2], -7);
    assert_int_equal(events[1].size, 9);
    assert_int_equal(events[2].op, WIO_OP_pwrite);
    assert_int_equal(events[2].offset, 4096);
    assert_int_equal(events[2].result, 512);
    assert_int_equal(events[2].flags, WIO_EVENT_CAUSED);
    assert_int_equal(events[2].t_ns, events[1].t_ns + 500);
    assert_int_equal(events[3].arg[0], 0);
    assert_int_equal(events[3].arg[1], 0);
    close_all(&sealed);
}

static struct wio_slot_event *run_of(struct ring_builder *ring, int64_t count)
{
    struct wio_slot_event *event = ring_event(ring, 0, "fgetc");
    event->kind = WIO_SLOT_EVENT_RUN;
    event->flags = WIO_EVENT_BUFFERED;
    event->dur_error = 100;
    event->fd = 3;
    event->offset = 1000;
    event->size = 2;
    event->result = count;
    return event;
}

/* R-EVENT-5: as many events as were counted, from the first to the last place and time; counts that
 * cannot be are not believed. */
static void runs_are_expanded(void **state)
{
    struct fixture *fixture = *state;
    struct ring_builder ring;
    begin_process(&ring);
    run_of(&ring, 3);
    run_of(&ring, 0);
    run_of(&ring, -5);
    run_of(&ring, WIO_RUN_MAX + 1);
    run_of(&ring, 1)->offset = WIO_NO_OFFSET;
    ring_save(&ring, raw_dir(fixture), "a.ring");
    struct sealed sealed = open_all(fixture->dir);
    const struct wio_event *events = sealed.events;
    assert_int_equal(sealed.count, 4);
    for (unsigned i = 0; i < 3; i++) {
        assert_int_equal(events[i].op, WIO_OP_fgetc);
        assert_int_equal(events[i].offset, 1000 + 2 * i);
        assert_int_equal(events[i].result, 2);
        assert_int_equal(events[i].dur_ns, 0);
        assert_int_equal(events[i].t_ns, events[0].t_ns + 50 * i);
        assert_int_equal(events[i].flags, WIO_EVENT_BUFFERED);
    }
    assert_true(events[3].offset == WIO_NO_OFFSET);
    assert_int_equal(events[3].result, 2);
    close_all(&sealed);
}

static struct wio_slot_event *submit(struct ring_builder *ring, uint32_t writer, uint64_t key)
{
    struct wio_slot_ext *ext = NULL;
    struct wio_slot_event *event = ring_event_ext(ring, writer, "aio_read", &ext);
    event->result = WIO_RESULT_PENDING;
    event->size = 4096;
    ext->key = key;
    return event;
}

/* R-EVENT-3: pairs across writers, one key used again, a failure, one that is never collected. */
static void completions_find_their_request(void **state)
{
    struct fixture *fixture = *state;
    struct ring_builder ring;
    begin_process(&ring);
    ring_clock(&ring, 1, 100, 101);
    (void)submit(&ring, 0, 7);
    (void)submit(&ring, 0, 8);
    ring_complete(&ring, 1, 8, -EIO);
    ring_complete(&ring, 1, 7, 4096);
    (void)submit(&ring, 1, 7);
    ring_complete(&ring, 0, 7, 100);
    (void)submit(&ring, 0, 9);
    ring_save(&ring, raw_dir(fixture), "a.ring");
    struct sealed sealed = open_all(fixture->dir);
    const struct wio_event *events = sealed.events;
    assert_int_equal(sealed.count, 4);
    assert_int_equal(events[0].result, 4096);
    assert_int_equal(events[0].dur_ns, 3000);
    assert_int_equal(events[0].flags, WIO_EVENT_ASYNC);
    assert_int_equal(events[1].result, -1);
    assert_int_equal(events[1].error, EIO);
    assert_int_equal(events[1].dur_ns, 1000);
    assert_int_equal(events[2].result, 100);
    assert_true(events[3].result == WIO_RESULT_PENDING);
    close_all(&sealed);
}

/* exec: another image of the process, whose parent is the first; its events count on. */
static void exec_makes_another_image(void **state)
{
    struct fixture *fixture = *state;
    struct ring_builder ring;
    begin_process(&ring);
    ring.header.end = WIO_END_NONE; /* by a raw system call: unnoticed */
    ring_event(&ring, 0, "read");
    ring_save(&ring, raw_dir(fixture), "a.ring");
    ring_begin(&ring, 100, 5000100000ull);
    ring_clock(&ring, 0, 100, 100);
    ring_text(&ring, 0, WIO_SLOT_META, WIO_META_EXE, 0, "/bin/other", 10);
    ring_text(&ring, 0, WIO_SLOT_META, WIO_META_ARGV, 0, "other\0it's\0", 11);
    ring_event(&ring, 0, "read");
    ring_save(&ring, raw_dir(fixture), "b.ring");
    struct sealed sealed = open_all(fixture->dir);
    struct wio_trace_info info;
    wio_trace_get_info(sealed.trace, &info);
    assert_int_equal(info.processes, 1);
    assert_int_equal(info.images, 2);
    assert_int_equal(info.threads, 1);
    assert_int_equal(wio_trace_process(sealed.trace, 0)->end, WIO_END_EXEC);
    assert_int_equal(wio_trace_process(sealed.trace, 1)->parent, 0);
    assert_string_equal(wio_trace_process(sealed.trace, 1)->exe, "/bin/other");
    assert_string_equal(wio_trace_process(sealed.trace, 1)->argv, "other 'it'\\''s'");
    assert_int_equal(sealed.events[1].seq, 1);
    close_all(&sealed);
}

/* FORMAT.md#files: links on the way, where they lead, what is not there any more. */
static void files_are_looked_at(void **state)
{
    struct fixture *fixture = *state;
    struct ring_builder ring;
    char path[400];
    begin_process(&ring);
    (void)snprintf(path, sizeof(path), "%s/real", fixture->dir);
    assert_int_equal(mkdir(path, 0755), 0);
    (void)snprintf(path, sizeof(path), "%s/link", fixture->dir);
    assert_int_equal(symlink("real", path), 0);
    (void)snprintf(path, sizeof(path), "%s/real/file", fixture->dir);
    wio_test_write(path, "12345", 5);
    assert_int_equal(chmod(path, 0640), 0);
    (void)snprintf(path, sizeof(path), "%s/link/file", fixture->dir);
    ring_string(&ring, 0, 1, 0, path);
    ring_string(&ring, 0, 2, 0, "/nowhere/at/all");
    struct wio_slot_event *event = ring_event(&ring, 0, "read");
    event->path = 1;
    event->fd = 3;
    event->size = 5;
    event->result = 5;
    ring_event(&ring, 0, "stat")->path = 2;
    ring_save(&ring, raw_dir(fixture), "a.ring");
    struct sealed sealed = open_all(fixture->dir);
    unsigned found = 0;
    for (uint32_t i = 0; i < wio_trace_file_count(sealed.trace); i++) {
        const struct wio_file_info *file = wio_trace_file(sealed.trace, i);
        const char *name = wio_trace_string(sealed.trace, file->path, NULL);
        if (strcmp(name, path) == 0) {
            assert_int_equal(file->type, WIO_FILE_REGULAR);
            assert_int_equal(file->size, 5);
            assert_int_equal(file->mode, 0640);
            assert_int_equal(file->uses, WIO_USE_FILE | WIO_USE_NAMED);
            found |= 1;
        } else if (strcmp(name, "/nowhere/at/all") == 0) {
            assert_int_equal(file->type, WIO_FILE_NONE);
            found |= 2;
        } else if (file->type == WIO_FILE_SYMLINK && strstr(name, "/link") != NULL) {
            assert_string_equal(wio_trace_string(sealed.trace, file->target, NULL), "real");
            found |= 4;
        } else if (file->type == WIO_FILE_DIRECTORY && strstr(name, "/real") != NULL) {
            found |= 8; /* where the link leads */
        }
    }
    assert_int_equal(found, 15);
    struct wio_trace_info info;
    wio_trace_get_info(sealed.trace, &info);
    assert_int_equal(info.files, 1);
    assert_int_equal(info.bytes_read, 5);
    close_all(&sealed);
}

static void names_are_hidden(void **state)
{
    struct fixture *fixture = *state;
    struct ring_builder ring;
    struct wio_error err = WIO_ERROR_INIT;
    struct wio_seal_params params = {.struct_size = sizeof(params), .anonymize = true};
    begin_process(&ring);
    ring_text(&ring, 0, WIO_SLOT_META, WIO_META_ARGV, 0, "app\0--secret=1", 15);
    ring_string(&ring, 0, 1, 0, "/home/alice/data.h5");
    ring_string(&ring, 0, 2, 0, "/home/alice/other.h5");
    ring_string(&ring, 0, 3, 0, "/dev/null");
    for (uint32_t i = 1; i <= 3; i++) {
        ring_event(&ring, 0, "stat")->path = i;
    }
    ring_save(&ring, raw_dir(fixture), "a.ring");
    assert_ok(wio_seal(fixture->dir, NULL, "sealed", &params, &err), &err);
    struct sealed sealed = open_all(fixture->dir);
    const char *first = path_of(&sealed, 0);
    const char *second = path_of(&sealed, 1);
    assert_null(strstr(first, "alice"));
    assert_non_null(strstr(first, ".h5"));
    /* "/" 12 "/" 12 "/" 12 ".h5": the same directories, different files */
    assert_int_equal(strlen(first), 3 * 13 + 3);
    assert_memory_equal(first, second, 26);
    assert_string_not_equal(first, second);
    assert_string_equal(path_of(&sealed, 2), "/dev/null");
    assert_null(strstr(wio_trace_process(sealed.trace, 0)->argv, "secret"));
    close_all(&sealed);

    /* Nowhere in the file either. */
    struct wio_blob bytes = {0};
    (void)snprintf(fixture->segment, sizeof(fixture->segment), "%s/sealed.seg", fixture->dir);
    assert_ok(wio_io_read_file(fixture->segment, 1 << 20, &bytes, &err), &err);
    assert_null(memmem(bytes.data, bytes.size, "alice", 5));
    wio_blob_fini(&bytes);
}

static void add_stat(struct fixture *fixture, const char *path)
{
    struct ring_builder ring;
    begin_process(&ring);
    ring_string(&ring, 0, 1, 0, path);
    ring_event(&ring, 0, "stat")->path = 1;
    ring_save(&ring, raw_dir(fixture), "a.ring");
}

/* R-RING-7 */
static void a_key_hides_names_alike_in_all_segments(void **state)
{
    struct fixture *fixture = *state;
    struct wio_error err = WIO_ERROR_INIT;
    struct wio_seal_params params = {.struct_size = sizeof(params), .anonymize = true};
    add_stat(fixture, "/home/alice/data.h5");
    assert_ok(wio_hide_begin(fixture->dir, &err), &err);
    assert_ok(wio_hide_begin(fixture->dir, &err), &err); /* a sibling: it is there */
    assert_ok(wio_seal(fixture->dir, NULL, "first", &params, &err), &err);
    add_stat(fixture, "/home/alice/data.h5");
    struct sealed sealed = open_all(fixture->dir); /* a later command, which is not asked to hide */
    assert_int_equal(sealed.count, 2);
    assert_null(strstr(path_of(&sealed, 0), "alice"));
    assert_string_equal(path_of(&sealed, 0), path_of(&sealed, 1));
    close_all(&sealed);
    assert_int_equal(access(raw_dir(fixture), F_OK), -1); /* the key is forgotten */
}

/* R-RING-7: a key that cannot be used is no reason to show names. */
static void a_damaged_key_hides_names_too(void **state)
{
    struct fixture *fixture = *state;
    char path[400];
    add_stat(fixture, "/home/alice/data.h5");
    (void)snprintf(path, sizeof(path), "%s/" WIO_HIDE_KEY_NAME, raw_dir(fixture));
    wio_test_write(path, "short", 5);
    struct sealed sealed = open_all(fixture->dir);
    assert_null(strstr(path_of(&sealed, 0), "alice"));
    close_all(&sealed);
}

static void find_text(void *arg, const struct wio_error *fault)
{
    unsigned *found = arg;
    assert_null(strstr(fault->message, "/raw/"));
    *found += strstr(fault->message, "broken.ring") != NULL;
}

/* A note of a damaged ring names it, but not the directory, which is below somebody's home. */
static void faults_tell_no_directory_when_names_are_hidden(void **state)
{
    struct fixture *fixture = *state;
    struct wio_error err = WIO_ERROR_INIT;
    char path[400];
    unsigned found = 0;
    add_stat(fixture, "/home/alice/data.h5");
    (void)snprintf(path, sizeof(path), "%s/broken.ring", raw_dir(fixture));
    wio_test_write(path, "no ring at all, but long enough to say so", 41);
    assert_ok(wio_hide_begin(fixture->dir, &err), &err);
    assert_status(wio_trace_check(fixture->dir, find_text, &found, &err), WIO_END, &err);
    assert_int_equal(found, 1);
}

static void a_key_stays_while_there_are_rings(void **state)
{
    struct fixture *fixture = *state;
    struct wio_error err = WIO_ERROR_INIT;
    add_stat(fixture, "/home/alice/data.h5");
    assert_ok(wio_hide_begin(fixture->dir, &err), &err);
    wio_hide_forget(fixture->dir);
    uint8_t key[WIO_HIDE_KEY_BYTES];
    bool is_there = false;
    assert_ok(wio_hide_load(fixture->dir, key, &is_there, &err), &err);
    assert_true(is_there);
}

/* A return address becomes a place in its module's file. */
static void sources_are_resolved(void **state)
{
    struct fixture *fixture = *state;
    struct ring_builder ring;
    struct wio_blob payload = {0};
    char exe[400];
    ssize_t length = readlink("/proc/self/exe", exe, sizeof(exe) - 1);
    assert_true(length > 0);
    exe[length] = '\0';
    begin_process(&ring);
    assert_int_equal(wio_blob_u64(&payload, 0x40), WIO_OK);
    assert_int_equal(wio_blob_put(&payload, exe, strlen(exe)), WIO_OK);
    ring_text(&ring, 0, WIO_SLOT_MODULE, 0, 0, payload.data, payload.size);
    ring.chunks[0][2].text.lo = 0x7f0000000000;
    ring.chunks[0][2].text.hi = 0x7f0000010000;
    ring_event(&ring, 0, "read")->source = 0x7f0000000010;
    ring_event(&ring, 0, "read")->source = 0x1234;
    wio_blob_clear(&payload);
    assert_int_equal(wio_blob_u64(&payload, 0x7f0000000010), WIO_OK);
    assert_int_equal(wio_blob_u64(&payload, 0x7f0000000020), WIO_OK);
    ring_text(&ring, 0, WIO_SLOT_STACK, 5, 0, payload.data, payload.size);
    struct wio_slot_event *event = ring_event(&ring, 0, "read");
    event->flags = WIO_EVENT_STACK;
    event->source = 5;
    ring_save(&ring, raw_dir(fixture), "a.ring");
    wio_blob_fini(&payload);
    struct sealed sealed = open_all(fixture->dir);
    struct wio_frame frames[4];
    assert_int_equal(wio_trace_source(sealed.trace, sealed.events[0].source, frames, 4), 1);
    assert_string_equal(frames[0].module, exe);
    assert_int_equal(frames[0].address, 0x50);
    assert_int_equal(wio_trace_source(sealed.trace, sealed.events[1].source, frames, 4), 1);
    assert_string_equal(frames[0].module, "");
    assert_int_equal(frames[0].address, 0x1234);
    assert_int_equal(wio_trace_source(sealed.trace, sealed.events[2].source, frames, 4), 2);
    assert_int_equal(frames[1].address, 0x60);
    close_all(&sealed);
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

int main(void)
{
    const struct CMUnitTest tests[] = {
#define TEST(name) cmocka_unit_test_setup_teardown(name, fixture_setup, fixture_teardown)
        TEST(paths_are_composed),
        TEST(link_keeps_its_dots),
        TEST(circle_of_bases_ends),
        TEST(strings_come_along_fork),
        TEST(damaged_string_is_ignored),
        TEST(text_of_link_is_unchanged),
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
        TEST(fields_are_unpacked),
        TEST(runs_are_expanded),
        TEST(completions_find_their_request),
        TEST(exec_makes_another_image),
        TEST(files_are_looked_at),
        TEST(names_are_hidden),
        TEST(a_key_hides_names_alike_in_all_segments),
        TEST(a_damaged_key_hides_names_too),
        TEST(a_key_stays_while_there_are_rings),
        TEST(faults_tell_no_directory_when_names_are_hidden),
        TEST(sources_are_resolved),
        TEST(unwritable_directory_is_sealed_in_memory),
    };
    return WIO_RUN(tests);
}
