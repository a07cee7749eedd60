/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The bound of a recording inside the recorded program: places are handed out in turn, those of
 * living processes are left alone, and what is overwritten counts (FORMAT.md#bound).
 */
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include "support/traced.h"
#include "support/unit.h"

#include "capture/core/process.h"
#include "capture/core/ring/bound.h"

#define PLACES (WIO_BOUND_MIN_BYTES / WIO_CHUNK_BYTES)

static uint64_t take(enum wio_place_kind kind, int32_t pid)
{
    struct cap_bound_place place;
    assert_true(cap_bound_claim(pid, &place));
    cap_bound_settle(&place, kind, pid);
    return place.index;
}

static void the_environment_is_read(void **state)
{
    (void)state;
    assert_true(cap_configure());
    assert_int_equal(cap_bound.max_bytes, WIO_BOUND_MIN_BYTES);
    assert_int_equal(cap_bound.places, PLACES);
    assert_true(cap_bound_keeps_last());
    assert_non_null(cap_bound.header);
    assert_true(cap_bound.has_pids);
}

static void places_are_handed_out_in_turn(void **state)
{
    (void)state;
    const uint64_t first = take(WIO_PLACE_STORED, getpid());
    for (uint64_t i = 1; i < 3 * PLACES; i++) {
        assert_int_equal(take(WIO_PLACE_STORED, getpid()), (first + i) % PLACES);
    }
}

/* One that was stopped when it had looked at the hand finds newer chunks there, and goes on. */
static void a_late_taker_takes_nothing_newer(void **state)
{
    (void)state;
    const uint64_t hand = cap_bound.header->hand;
    for (unsigned i = 0; i < 3; i++) {
        (void)take(WIO_PLACE_STORED, getpid());
    }
    cap_bound.header->hand = hand;
    assert_int_equal(take(WIO_PLACE_STORED, getpid()), (hand + 3) % PLACES);
}

static void places_of_the_living_are_left_alone(void **state)
{
    (void)state;
    const uint64_t live = take(WIO_PLACE_LIVE, getpid());
    for (uint64_t i = 0; i < 2 * PLACES; i++) {
        assert_int_not_equal(take(WIO_PLACE_STORED, getpid()), live);
    }
    cap_bound.states[live] = 0;
}

/* Also one that died while it filled a place. */
static void places_of_the_dead_are_not(void **state)
{
    (void)state;
    pid_t pid = fork();
    if (pid == 0) {
        _exit(0);
    }
    assert_int_equal(waitpid(pid, NULL, 0), pid);
    const uint64_t live = take(WIO_PLACE_LIVE, pid);
    struct cap_bound_place busy; /* stays as it was claimed */
    assert_true(cap_bound_claim(pid, &busy));
    unsigned found = 0;
    for (uint64_t i = 0; i < PLACES; i++) {
        const uint64_t index = take(WIO_PLACE_STORED, getpid());
        found += index == live || index == busy.index;
    }
    assert_int_equal(found, 2);
}

static void nothing_is_left_where_all_live(void **state)
{
    (void)state;
    struct cap_bound_place place;
    for (uint64_t i = 0; i < PLACES; i++) {
        (void)take(WIO_PLACE_LIVE, getpid());
    }
    assert_false(cap_bound_claim(getpid(), &place));
    memset(cap_bound.states, 0, PLACES * sizeof(*cap_bound.states));
}

union slot {
    struct {
        uint32_t seq;
        uint8_t kind;
    } any;
    struct wio_chunk_header header;
    struct wio_slot_event event;
    struct wio_slot_clock clock;
};

static void fill(union slot *slots)
{
    slots[0].header = (struct wio_chunk_header){
        .magic = WIO_CHUNK_MAGIC, .writer = 1, .chunk_no = 2, .ring_pid = 77, .ring_ns = 78};
    const uint32_t first = 2 * WIO_CHUNK_SLOTS;
    slots[1].event = (struct wio_slot_event){.seq = first + 1, .kind = WIO_SLOT_EVENT};
    slots[2].event = (struct wio_slot_event){.seq = first + 2, .kind = WIO_SLOT_EVENT_EXT};
    slots[3].any.seq = first + 3; /* of the record before: not looked at */
    slots[3].any.kind = WIO_SLOT_EVENT;
    slots[4].event =
        (struct wio_slot_event){.seq = first + 4, .kind = WIO_SLOT_EVENT_RUN, .result = 100};
    slots[5].event = (struct wio_slot_event){.seq = first, .kind = WIO_SLOT_EVENT}; /* an old one */
    slots[6].clock = (struct wio_slot_clock){.seq = first + 6, .kind = WIO_SLOT_CLOCK};
    slots[WIO_CHUNK_SLOTS].event =
        (struct wio_slot_event){.seq = first + WIO_CHUNK_SLOTS, .kind = WIO_SLOT_EVENT};
}

static void events_of_a_chunk_are_counted(void **state)
{
    static union {
        struct wio_slot_event event;
        uint8_t bytes[WIO_CHUNK_BYTES];
    } space;
    (void)state;
    fill((union slot *)(void *)space.bytes);
    assert_int_equal(cap_bound_count((const struct wio_chunk_header *)(const void *)space.bytes),
                     1 + 1 + 100 + 1);
}

static void definitions_have_a_bound(void **state)
{
    (void)state;
    const uint64_t used = cap_bound.header->text_bytes;
    assert_true(cap_bound_take_text(cap_bound.max_bytes - used));
    assert_false(cap_bound_take_text(64));
    cap_bound.header->text_bytes = used;
}

static void the_disk_may_have_room_for_fewer(void **state)
{
    (void)state;
    struct cap_bound_place place;
    cap_bound.header->hand = 0;
    memset(cap_bound.states, 0, PLACES * sizeof(*cap_bound.states));
    for (unsigned i = 0; i < 5; i++) {
        (void)take(WIO_PLACE_STORED, getpid());
    }
    assert_true(cap_bound_claim(getpid(), &place));
    cap_bound_settle(&place, WIO_PLACE_FREE, getpid()); /* could not be filled */
    assert_int_equal(cap_bound.header->places, 5);
    for (unsigned i = 0; i < 10; i++) {
        assert_true(take(WIO_PLACE_STORED, getpid()) < 5);
    }
}

static void limit_files(uint64_t bytes)
{
    struct rlimit limit;
    assert_int_equal(getrlimit(RLIMIT_FSIZE, &limit), 0);
    limit.rlim_cur = bytes;
    assert_int_equal(setrlimit(RLIMIT_FSIZE, &limit), 0);
}

/* What one process may not write is left to the others, which have as many places as before. */
static void a_limit_of_one_process_is_its_own(void **state)
{
    (void)state;
    struct cap_bound_place place;
    struct wio_bound_header *header = cap_bound.header;
    memset(cap_bound.states, 0, PLACES * sizeof(*cap_bound.states));
    header->places = PLACES;
    limit_files(header->data_offset + UINT64_C(3) * WIO_CHUNK_BYTES);
    for (unsigned i = 0; i < 2 * PLACES; i++) {
        assert_true(take(WIO_PLACE_STORED, getpid()) < 3);
    }
    for (uint64_t i = 3; i < PLACES; i++) {
        assert_int_equal(cap_bound.states[i], 0);
    }
    limit_files(header->data_offset + WIO_CHUNK_BYTES - 1);
    assert_false(cap_bound_claim(getpid(), &place));
    limit_files(RLIM_INFINITY);
    assert_int_equal(header->places, PLACES);
}

static bool keep_text(const char *text)
{
    const struct wio_slot_text head = {.kind = WIO_SLOT_STRING, .id = 1};
    return cap_text_record(NULL, &head, text, strlen(text), NULL, 0);
}

/* The header of a chunk of definitions is written as soon as it can be; what cannot be written is
 * counted. */
static void definitions_that_cannot_be_written(void **state)
{
    (void)state;
    struct wio_chunk_header chunk = {0};
    assert_true(cap_ring_create());
    const uint64_t end = WIO_RING_HEADER_BYTES + UINT64_C(2) * WIO_CHUNK_BYTES;
    limit_files(end - 1);
    for (unsigned i = 0; i < WIO_CHUNK_SLOTS; i++) {
        assert_true(keep_text("first"));
    }
    assert_false(keep_text("second"));
    assert_false(keep_text("third"));
    assert_int_equal(cap_process.header->texts_lost, 2);
    limit_files(RLIM_INFINITY);
    assert_true(keep_text("fourth"));
    assert_int_equal(pread(cap_ring_fd(), &chunk, sizeof(chunk),
                           (off_t)(WIO_RING_HEADER_BYTES + WIO_CHUNK_BYTES)),
                     sizeof(chunk));
    assert_int_equal(chunk.magic, WIO_CHUNK_MAGIC);
    assert_int_equal(chunk.writer, WIO_TEXT_WRITER);
    assert_int_equal(chunk.chunk_no, 1);
    assert_int_equal(cap_process.header->texts_lost, 2);
}

/* After an exec: what was mapped is left, what was being filled is free, others' are theirs. */
static void places_of_the_former_image(void **state)
{
    (void)state;
    const pid_t pid = getpid();
    uint64_t *states = cap_bound.states;
    memset(states, 0, PLACES * sizeof(*states));
    states[1] = wio_place_state(0, WIO_PLACE_LIVE, pid);
    states[2] = wio_place_state(0, WIO_PLACE_BUSY, pid);
    states[3] = wio_place_state(0, WIO_PLACE_BUSY, 1);
    states[4] = wio_place_state(0, WIO_PLACE_STORED, pid);
    cap_bound.header->hand = 5;
    cap_bound_configure();
    states = cap_bound.states;
    assert_int_equal(wio_place_kind(states[1]), WIO_PLACE_LEFT);
    assert_int_equal(wio_place_kind(states[2]), WIO_PLACE_FREE);
    assert_int_equal(wio_place_kind(states[3]), WIO_PLACE_BUSY);
    assert_int_equal(wio_place_kind(states[4]), WIO_PLACE_STORED);
}

int main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_environment_is_read),
        cmocka_unit_test(places_are_handed_out_in_turn),
        cmocka_unit_test(a_late_taker_takes_nothing_newer),
        cmocka_unit_test(places_of_the_living_are_left_alone),
        cmocka_unit_test(places_of_the_dead_are_not),
        cmocka_unit_test(nothing_is_left_where_all_live),
        cmocka_unit_test(events_of_a_chunk_are_counted),
        cmocka_unit_test(definitions_have_a_bound),
        cmocka_unit_test(the_disk_may_have_room_for_fewer),
        cmocka_unit_test(a_limit_of_one_process_is_its_own),
        cmocka_unit_test(definitions_that_cannot_be_written),
        cmocka_unit_test(places_of_the_former_image),
    };
    (void)argc;
    if (!wio_is_traced()) {
        (void)setenv("WHYIO_MAX_SIZE", "1M", 1);
        (void)setenv("WHYIO_KEEP", "last", 1);
        return wio_run_traced(argv);
    }
    return WIO_RUN(tests);
}
