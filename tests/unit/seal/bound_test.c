/* SPDX-License-Identifier: Apache-2.0 */
/* Rings whose chunks lie in the file of a bound (FORMAT.md#bound). */
#include "seal/seal.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/io.h"
#include "ring/bound.h"
#include "sealed_fixture.h"

#define HEAD (WIO_BOUND_HEADER_BYTES + 4096u)
#define PLACES 4u

/* The file as it is put together: a header, a page of states, places. */
struct bound_builder {
    struct wio_bound_header header;
    uint64_t states[PLACES];
    union wio_slot (*places)[WIO_CHUNK_SLOTS + 1];
};

static void bound_begin(struct bound_builder *bound)
{
    *bound = (struct bound_builder){.header = {.version = WIO_BOUND_VERSION,
                                               .keep = WIO_BOUND_LAST,
                                               .max_bytes = WIO_BOUND_MIN_BYTES,
                                               .places = PLACES,
                                               .data_offset = HEAD}};
    memcpy(bound->header.magic, WIO_BOUND_MAGIC, sizeof(bound->header.magic));
    bound->places = calloc(PLACES, sizeof(*bound->places));
    assert_non_null(bound->places);
}

/* Move chunk `number` of the ring to a place: `before` is what its writer had written before. */
static void bound_take(struct bound_builder *bound, uint32_t place, enum wio_place_kind kind,
                       const struct ring_builder *ring, uint32_t number, uint64_t before)
{
    bound->states[place] = wio_place_state(0, kind, ring->header.pid);
    memcpy(bound->places[place], ring->chunks[number], WIO_CHUNK_BYTES);
    struct wio_chunk_header *header = &bound->places[place][0].header;
    header->ring_pid = ring->header.pid;
    header->ring_ns = ring->header.start_mono_ns;
    header->events_before = before;
}

static void bound_save(struct bound_builder *bound, const char *dir)
{
    char name[256];
    (void)snprintf(name, sizeof(name), "%s/11111111-2222-3333-4444-555555555555.%u.bound", dir,
                   (unsigned)geteuid());
    assert_int_equal(wio_io_mkdirs(dir, NULL), WIO_OK);
    int fd = open(name, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
    assert_true(fd >= 0);
    assert_int_equal(pwrite(fd, &bound->header, sizeof(bound->header), 0), sizeof(bound->header));
    assert_int_equal(pwrite(fd, bound->states, sizeof(bound->states), WIO_BOUND_HEADER_BYTES),
                     sizeof(bound->states));
    const size_t bytes = (size_t)PLACES * WIO_CHUNK_BYTES;
    assert_int_equal(pwrite(fd, bound->places, bytes, HEAD), bytes);
    assert_int_equal(close(fd), 0);
    free(bound->places);
}

/* A ring of process 100 with definitions of its own, and chunks of writer 1 to be moved. */
static void begin_bounded(struct ring_builder *ring)
{
    ring_begin(ring, 100, 5000000000ull);
    ring->header.keep = WIO_BOUND_LAST;
    ring->header.max_bytes = WIO_BOUND_MIN_BYTES;
    ring_string(ring, 0, 1, 0, "/a/b");
    ring_text(ring, 0, WIO_SLOT_OPENED, 1, 3, "", 0);
    ring->chunks[0][2].text.lo = O_WRONLY | O_DSYNC;
}

static void add_writes(struct ring_builder *ring, uint32_t count)
{
    ring_clock(ring, 1, 100, 101);
    for (uint32_t i = 0; i < count; i++) {
        struct wio_slot_event *event = ring_event(ring, 1, "pwrite");
        event->path = 1;
        event->fd = 3;
        event->offset = i;
        event->size = 1;
        event->result = 1;
    }
}

/* Save the ring with its definitions alone. */
static void save_texts(struct ring_builder *ring, const char *dir)
{
    ring->chunk_count = 1;
    ring_save(ring, dir, "a.ring");
}

/* R-BOUND-2, R-BOUND-3, R-BOUND-4, R-META-3 */
static void chunks_of_the_bound_are_the_rings(void **state)
{
    struct fixture *fixture = *state;
    struct ring_builder ring;
    struct bound_builder bound;
    begin_bounded(&ring);
    add_writes(&ring, 3);
    ring.header.evicted = 50;
    bound_begin(&bound);
    bound_take(&bound, 2, WIO_PLACE_STORED, &ring, 1, 50);
    bound_save(&bound, raw_dir(fixture));
    save_texts(&ring, raw_dir(fixture));
    struct sealed sealed = open_all(fixture->dir);
    struct wio_trace_info info;
    wio_trace_get_info(sealed.trace, &info);
    assert_int_equal(info.events, 3);
    assert_int_equal(info.dropped, 50);
    assert_int_equal(info.evicted, 50);
    assert_int_equal(info.max_bytes, WIO_BOUND_MIN_BYTES);
    assert_true(info.keeps_last);
    assert_false(info.complete);
    assert_string_equal(path_of(&sealed, 0), "/a/b");
    assert_int_equal(wio_trace_process(sealed.trace, 0)->evicted, 50);
    close_all(&sealed);
}

/* R-BOUND-5: its open is gone; one that is there tells itself. */
static void flags_of_opens_stay_known(void **state)
{
    struct fixture *fixture = *state;
    struct ring_builder ring;
    struct bound_builder bound;
    begin_bounded(&ring);
    ring_string(&ring, 0, 2, 0, "/a/c");
    ring_text(&ring, 0, WIO_SLOT_OPENED, 2, 4, "", 0);
    add_writes(&ring, 3);
    struct wio_slot_event *event = ring_event(&ring, 1, "open");
    event->path = 2;
    event->result = 4;
    event = ring_event(&ring, 1, "fsync");
    event->path = 2;
    event->fd = 4;
    bound_begin(&bound);
    bound_take(&bound, 0, WIO_PLACE_LIVE, &ring, 1, 50);
    bound_save(&bound, raw_dir(fixture));
    save_texts(&ring, raw_dir(fixture));
    struct sealed sealed = open_all(fixture->dir);
    const struct wio_process_info *process = wio_trace_process(sealed.trace, 0);
    assert_int_equal(process->opened_count, 1);
    assert_int_equal(process->opened[0].fd, 3);
    assert_int_equal(process->opened[0].path, sealed.events[0].path);
    assert_int_equal(process->opened[0].flags, O_WRONLY | O_DSYNC);
    close_all(&sealed);
}

/* R-BOUND-2: nothing of a place that was being filled, of another ring, of a free one. */
static void other_places_are_left_out(void **state)
{
    struct fixture *fixture = *state;
    struct ring_builder ring;
    struct bound_builder bound;
    begin_bounded(&ring);
    add_writes(&ring, 3);
    bound_begin(&bound);
    bound_take(&bound, 0, WIO_PLACE_BUSY, &ring, 1, 0);
    bound_take(&bound, 1, WIO_PLACE_FREE, &ring, 1, 0);
    bound_take(&bound, 2, WIO_PLACE_LIVE, &ring, 1, 0);
    bound.places[2][0].header.ring_pid = 99;
    bound_take(&bound, 3, WIO_PLACE_LEFT, &ring, 1, 0);
    bound_save(&bound, raw_dir(fixture));
    save_texts(&ring, raw_dir(fixture));
    struct sealed sealed = open_all(fixture->dir);
    assert_int_equal(sealed.count, 3);
    close_all(&sealed);
}

static void note_fault(void *arg, const struct wio_error *fault)
{
    unsigned *faults = arg;
    char text[512];
    wio_error_format(fault, text, sizeof(text));
    assert_non_null(strstr(text, ".bound"));
    *faults += 1;
}

/* R-BOUND-1: what it says of itself is held against the file; the ring is sealed without it. */
static void a_damaged_bound_is_named(void **state)
{
    struct fixture *fixture = *state;
    unsigned faults = 0;
    for (unsigned i = 0; i < 3; i++) {
        struct ring_builder ring;
        struct bound_builder bound;
        begin_bounded(&ring);
        ring.header.pid += (int32_t)i;
        add_writes(&ring, 3);
        bound_begin(&bound);
        bound_take(&bound, 0, WIO_PLACE_STORED, &ring, 1, 0);
        bound.header.magic[0] ^= i == 0 ? 1 : 0;
        bound.header.version += i == 1 ? 1 : 0;
        bound.header.data_offset = i == 2 ? UINT64_MAX : HEAD;
        bound_save(&bound, raw_dir(fixture));
        save_texts(&ring, raw_dir(fixture));
        struct sealed sealed = open_all(fixture->dir);
        assert_int_equal(sealed.count, 0);
        close_all(&sealed);
        assert_int_equal(wio_trace_check(fixture->dir, note_fault, &faults, NULL), WIO_END);
        assert_int_equal(faults, i + 1);
        faults = 0;
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
#define TEST(name) cmocka_unit_test_setup_teardown(name, fixture_setup, fixture_teardown)
        TEST(chunks_of_the_bound_are_the_rings),
        TEST(flags_of_opens_stay_known),
        TEST(other_places_are_left_out),
        TEST(a_damaged_bound_is_named),
    };
    return WIO_RUN(tests);
}
