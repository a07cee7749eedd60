/* SPDX-License-Identifier: Apache-2.0 */
/* Records of rings -> events with all their fields (FORMAT.md R-EVENT). */
#include "seal/seal.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/buf.h"
#include "ops/calls.h"
#include "sealed_fixture.h"

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

static void ring_cpu(struct ring_builder *ring, uint64_t from, uint64_t to, uint64_t cpu_ns,
                     bool has_slept)
{
    struct wio_slot_cpu *slot = &ring_slots(ring, 0, 1)->cpu;
    slot->kind = WIO_SLOT_CPU;
    slot->has_slept = has_slept;
    slot->from = from;
    slot->to = to;
    slot->cpu_ns = cpu_ns;
}

#define MS 1000000u

/* A read of `dur` ticks that begins `gap` behind the end of the one before. */
static struct wio_slot_event *read_after(struct ring_builder *ring, uint64_t *end, uint64_t gap,
                                         uint64_t dur)
{
    struct wio_slot_event *event = ring_event(ring, 0, "read");
    event->begin = *end + gap;
    event->dur_error = dur;
    *end = event->begin + dur;
    return event;
}

/* R-CPU-1: the time before an event, the time of an event; what lies beside it was computing, and
 * what a thread that did not sleep lacks is missing in the long part. */
static void processor_times_find_their_events(void **state)
{
    struct fixture *fixture = *state;
    struct ring_builder ring;
    begin_process(&ring);
    uint64_t end = ring.ticks;
    ring_cpu(&ring, end - 5 * MS, end + 100, 4 * MS, false); /* of what came before: unknown */
    read_after(&ring, &end, 100, 100);
    ring_cpu(&ring, end - 150, end + 10 * MS, 3 * MS + 150, false);
    ring_cpu(&ring, end + 10 * MS, end + 14 * MS, MS, true);
    read_after(&ring, &end, 10 * MS, 4 * MS);
    ring_cpu(&ring, end - 200000, end + 2 * MS, 1900000, true); /* no more than there is */
    read_after(&ring, &end, 2 * MS, 100);
    ring_cpu(&ring, end - 3 * MS, end + 2 * MS, MS, false); /* of other times, too */
    read_after(&ring, &end, 2 * MS, 100);
    ring_cpu(&ring, end + 7, end + 9, 1, false); /* of no event */
    read_after(&ring, &end, MS, 100);
    ring_cpu(&ring, end, end + MS, 0, false); /* none at all */
    read_after(&ring, &end, MS, 100);
    ring_save(&ring, raw_dir(fixture), "a.ring");
    struct sealed sealed = open_all(fixture->dir);
    const uint64_t gaps[] = {0, 3 * MS, 1900000, 0, 0, 1};
    for (size_t i = 0; i < sizeof(gaps) / sizeof(*gaps); i++) {
        assert_int_equal(sealed.events[i].gap_cpu_ns, gaps[i]);
        assert_int_equal(sealed.events[i].gap_slept, i == 2);
        assert_int_equal(sealed.events[i].dur_cpu_ns, i == 1 ? MS : 0);
        assert_int_equal(sealed.events[i].dur_slept, i == 1);
    }
    close_all(&sealed);
}

/* A lock that was free, written behind the record. */
static void lock_at(struct ring_builder *ring, uint64_t at)
{
    struct wio_slot_event *event = ring_event(ring, 0, "pthread_mutex_lock");
    event->begin = at;
    event->dur_error = 0;
}

/* R-CPU-1, R-SYNC-2: of 10 ms, 6 of them with a processor, 2.5 were before the lock; a short time
 * beside a lock is computing. */
static void processor_times_are_divided_at_free_locks(void **state)
{
    struct fixture *fixture = *state;
    struct ring_builder ring;
    begin_process(&ring);
    uint64_t end = ring.ticks;
    read_after(&ring, &end, 100, 100);
    ring_cpu(&ring, end, end + 10 * MS, 6 * MS, false);
    lock_at(&ring, end + 5 * MS / 2);
    lock_at(&ring, end + 5 * MS);
    read_after(&ring, &end, 10 * MS, 100);
    ring_cpu(&ring, end - 100, end + 4 * MS, 3 * MS + 100, false);
    lock_at(&ring, end + 1000);
    read_after(&ring, &end, 4 * MS, 100);
    ring_cpu(&ring, end, end + 4 * MS, MS, true);
    lock_at(&ring, end + 4 * MS - 1000);
    read_after(&ring, &end, 4 * MS, 100);
    ring_save(&ring, raw_dir(fixture), "a.ring");
    struct sealed sealed = open_all(fixture->dir);
    const uint64_t gaps[] = {0, 1500000, 1500000, 3 * MS, 0, 3 * MS - 1000, MS - 1000, 1000};
    for (size_t i = 0; i < sizeof(gaps) / sizeof(*gaps); i++) {
        assert_int_equal(sealed.events[i].gap_cpu_ns, gaps[i]);
        assert_int_equal(sealed.events[i].gap_slept, i >= 6);
    }
    close_all(&sealed);
}

/* It stands between the time before a call and the call, whose own time it leaves alone. */
static void processor_times_of_calls_are_not_divided(void **state)
{
    struct fixture *fixture = *state;
    struct ring_builder ring;
    begin_process(&ring);
    uint64_t end = ring.ticks;
    read_after(&ring, &end, 100, 100);
    ring_cpu(&ring, end, end + 2 * MS, MS, false);
    ring_cpu(&ring, end + 2 * MS, end + 6 * MS, 3 * MS, false);
    lock_at(&ring, end + MS);
    read_after(&ring, &end, 2 * MS, 4 * MS);
    ring_save(&ring, raw_dir(fixture), "a.ring");
    struct sealed sealed = open_all(fixture->dir);
    assert_int_equal(sealed.events[1].gap_cpu_ns, MS / 2);
    assert_int_equal(sealed.events[2].gap_cpu_ns, MS / 2);
    assert_int_equal(sealed.events[2].dur_cpu_ns, 3 * MS);
    close_all(&sealed);
}

/* The writer goes on with another thread: its first computing began before the first sample. */
static void processor_times_are_of_one_thread(void **state)
{
    struct fixture *fixture = *state;
    struct ring_builder ring;
    begin_process(&ring);
    uint64_t end = ring.ticks;
    read_after(&ring, &end, 100, 100);
    ring_clock(&ring, 0, 100, 101);
    ring.chunks[0][3].clock.reason = 1;
    ring_cpu(&ring, end, end + MS, 5, false);
    read_after(&ring, &end, MS, 100);
    ring_save(&ring, raw_dir(fixture), "a.ring");
    struct sealed sealed = open_all(fixture->dir);
    assert_int_equal(sealed.events[1].gap_cpu_ns, 0);
    close_all(&sealed);
}

/* Move chunk 1 of the ring far behind, so that nothing lies between: false where the file system
 * has no such files. */
static bool move_far(const char *path, off_t far_at)
{
    uint8_t chunk[WIO_CHUNK_BYTES];
    const off_t at = WIO_RING_HEADER_BYTES + WIO_CHUNK_BYTES;
    int fd = open(path, O_RDWR | O_CLOEXEC);
    assert_true(fd >= 0);
    assert_int_equal(pread(fd, chunk, sizeof(chunk), at), sizeof(chunk));
    assert_int_equal(ftruncate(fd, at), 0);
    bool is_far = pwrite(fd, chunk, sizeof(chunk), far_at) == (ssize_t)sizeof(chunk);
    assert_int_equal(close(fd), 0);
    return is_far;
}

/* R-RING-3: 8 TiB of nothing are not read chunk by chunk, which would take minutes. */
static void holes_are_skipped(void **state)
{
    struct fixture *fixture = *state;
    struct ring_builder ring;
    char path[400];
    begin_process(&ring);
    ring_event(&ring, 0, "pwrite")->offset = 7;
    ring_clock(&ring, 1, 100, 101);
    ring_event(&ring, 1, "pwrite")->offset = 8;
    ring_save(&ring, raw_dir(fixture), "a.ring");
    (void)snprintf(path, sizeof(path), "%s/a.ring", raw_dir(fixture));
    if (!move_far(path, WIO_RING_HEADER_BYTES + ((off_t)1 << 27) * WIO_CHUNK_BYTES)) {
        return;
    }
    struct sealed sealed = open_all(fixture->dir);
    assert_int_equal(sealed.count, 2);
    assert_int_equal(sealed.events[0].offset, 7);
    assert_int_equal(sealed.events[1].offset, 8);
    close_all(&sealed);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
#define TEST(name) cmocka_unit_test_setup_teardown(name, fixture_setup, fixture_teardown)
        TEST(fields_are_unpacked),
        TEST(runs_are_expanded),
        TEST(completions_find_their_request),
        TEST(exec_makes_another_image),
        TEST(sources_are_resolved),
        TEST(processor_times_find_their_events),
        TEST(processor_times_are_divided_at_free_locks),
        TEST(processor_times_of_calls_are_not_divided),
        TEST(processor_times_are_of_one_thread),
        TEST(holes_are_skipped),
    };
    return WIO_RUN(tests);
}
