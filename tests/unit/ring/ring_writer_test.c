/* SPDX-License-Identifier: Apache-2.0 */
/* What the writer puts into a ring is what the reader finds there. */
#include "support/unit.h"

#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include <whyio/event.h>

#include "ops/calls.h"
#include "ring/ring_reader.h"
#include "ring/ring_writer.h"

#define EVENTS 5000

static const struct wio_ring_image image = {.pid = 77,
                                            .ppid = 76,
                                            .pid_start = 12345,
                                            .rank = 3,
                                            .ranks = 4,
                                            .host = "h",
                                            .job = "job 9",
                                            .boot_id = "boot",
                                            .parent_ring = "h.76.1.ring",
                                            .first_string = 40};

static int open_dir(void)
{
    int dir = open(wio_test_dir(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    assert_true(dir >= 0);
    return dir;
}

static struct wio_ring_event event_number(int64_t number)
{
    return (struct wio_ring_event){.begin = 100 + (uint64_t)number * 10,
                                   .end = 105 + (uint64_t)number * 10,
                                   .result = number,
                                   .offset = number * 2,
                                   .size = (uint64_t)number * 3,
                                   .fd = 5,
                                   .path = 41,
                                   .call = WIO_CALL_pread,
                                   .has_ext = number % 3 == 0,
                                   .error = (int)(number % 7),
                                   .ext = {.fd2 = 9, .path2 = 42, .offset2 = number}};
}

static void check_event(const union wio_slot *slot, int64_t number)
{
    const struct wio_ring_event want = event_number(number);
    assert_int_equal(slot->any.kind, want.has_ext ? WIO_SLOT_EVENT_EXT : WIO_SLOT_EVENT);
    assert_int_equal(slot->event.result, want.result);
    assert_int_equal(slot->event.begin, want.begin);
    assert_int_equal(slot->event.dur_error, 5 | (uint64_t)want.error << 48);
    assert_int_equal(slot->event.offset, want.offset);
    assert_int_equal(slot->event.size, want.size);
    assert_int_equal(slot->event.call, WIO_CALL_pread);
    if (want.has_ext) {
        assert_int_equal(slot[1].ext.offset2, number);
        assert_int_equal(slot[1].ext.fd2, 9);
    }
}

/* How many events the ring has, each in its place; texts too. */
static int64_t read_events(const char *name, unsigned *texts_out)
{
    int dir = open_dir();
    struct wio_ring ring;
    struct wio_error err = WIO_ERROR_INIT;
    struct wio_ring_chunk *chunk = malloc(sizeof(*chunk));
    int64_t number = 0;
    assert_non_null(chunk);
    assert_ok(wio_ring_open(&ring, dir, name, name, NULL, &err), &err);
    assert_int_equal(ring.header.pid, 77);
    assert_int_equal(ring.header.pid_start, 12345);
    assert_int_equal(ring.header.calls_hash, WIO_CALLS_HASH);
    assert_string_equal(ring.header.job, "job 9");
    assert_string_equal(ring.header.parent_ring, "h.76.1.ring");
    for (uint32_t place = 0; place < ring.place_count;) {
        const union wio_slot *slot;
        assert_ok(wio_ring_chunk(&ring, &place, chunk, &err), &err);
        assert_int_equal(chunk->lost, 0);
        while ((slot = wio_chunk_next(chunk)) != NULL) {
            if (slot->any.kind == WIO_SLOT_EVENT || slot->any.kind == WIO_SLOT_EVENT_EXT) {
                check_event(slot, number);
                number++;
            } else if (slot->any.kind == WIO_SLOT_CLOCK) {
                assert_int_equal(slot->clock.tid, 78);
                assert_int_equal(slot->clock.thread, 99);
            } else {
                *texts_out += 1;
            }
        }
    }
    wio_ring_close(&ring);
    free(chunk);
    (void)close(dir);
    return number;
}

static void what_is_written_is_read(void **state)
{
    (void)state;
    int dir = open_dir();
    unsigned texts = 0;
    char name[WIO_RING_NAME_BYTES];
    struct wio_ring_writer ring;
    struct wio_ring_stream stream;
    struct wio_error err = WIO_ERROR_INIT;
    assert_ok(wio_ring_writer_create(dir, &image, &ring, &err), &err);
    wio_ring_stream_init(&stream, &ring, 77, 78, 99);
    assert_int_equal(wio_ring_put_string(&stream, 0, "/a", 2), 40);
    assert_int_equal(
        wio_ring_put_string(&stream, 40, "a long name that needs more than a slot", 39), 41);
    wio_ring_put_meta(&stream, WIO_META_EXE, "/bin/x", 6);
    wio_ring_put_module(&stream, 0x1000, 0x2000, 0, "/bin/x");
    for (int64_t i = 0; i < EVENTS; i++) {
        const struct wio_ring_event event = event_number(i);
        wio_ring_put_event(&stream, &event);
    }
    wio_ring_writer_unseen(&ring, WIO_UNSEEN_SETUID_EXEC, 1);
    wio_ring_writer_end(&ring, WIO_END_EXIT, 7);
    assert_int_equal(ring.header->end_status, 7);
    assert_int_equal(ring.header->dropped, 0);
    assert_int_equal(ring.header->unseen[WIO_UNSEEN_SETUID_EXEC], 1);
    snprintf(name, sizeof(name), "%s", ring.name);
    wio_ring_stream_fini(&stream);
    wio_ring_writer_close(&ring);
    assert_int_equal(read_events(name, &texts), EVENTS);
    assert_int_equal(texts, 4);
    (void)close(dir);
}

/* Events that find no room are counted, and what is there stays whole. */
static void full_disk(void **state)
{
    (void)state;
    int dir = open_dir();
    unsigned texts = 0;
    struct wio_ring_writer ring;
    struct wio_ring_stream stream;
    struct wio_error err = WIO_ERROR_INIT;
    const struct rlimit little = {WIO_RING_HEADER_BYTES + WIO_CHUNK_BYTES, RLIM_INFINITY};
    const struct rlimit all = {RLIM_INFINITY, RLIM_INFINITY};
    (void)signal(SIGXFSZ, SIG_IGN);
    assert_int_equal(setrlimit(RLIMIT_FSIZE, &little), 0);
    assert_ok(wio_ring_writer_create(dir, &image, &ring, &err), &err);
    wio_ring_stream_init(&stream, &ring, 77, 78, 99);
    for (int64_t i = 0; i < EVENTS; i++) {
        const struct wio_ring_event event = event_number(i);
        wio_ring_put_event(&stream, &event);
    }
    assert_int_equal(setrlimit(RLIMIT_FSIZE, &all), 0);
    const int64_t dropped = (int64_t)ring.header->dropped;
    assert_true(dropped > 0 && stream.dropped == (uint64_t)dropped);
    assert_int_equal(read_events(ring.name, &texts) + dropped, EVENTS);
    wio_ring_stream_fini(&stream);
    wio_ring_writer_close(&ring);
    (void)close(dir);
}

static void no_directory(void **state)
{
    (void)state;
    struct wio_ring_writer ring;
    struct wio_ring_stream stream;
    struct wio_error err = WIO_ERROR_INIT;
    const struct wio_ring_event event = event_number(1);
    assert_status(wio_ring_writer_create(-1, &image, &ring, &err), WIO_ERR_IO, &err);
    assert_null(ring.header);
    wio_ring_stream_init(&stream, &ring, 77, 78, 99);
    wio_ring_put_event(&stream, &event);
    assert_int_equal(wio_ring_put_string(&stream, 0, "x", 1), WIO_NO_STRING);
    wio_ring_writer_end(&ring, WIO_END_EXIT, 0);
    wio_ring_writer_close(&ring);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(what_is_written_is_read),
                                       cmocka_unit_test(full_disk), cmocka_unit_test(no_directory)};
    return WIO_RUN(tests);
}
