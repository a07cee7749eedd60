/* SPDX-License-Identifier: Apache-2.0 */
/* Events of a stream come in order, whether or not they were read ahead, and however much room
 * there was for that. */
#include "support/unit.h"

#include <stdio.h>
#include <stdlib.h>

#include "replay/run/event_reader.h"
#include "support/script_open.h"
#include "trace/format/events.h"
#include "trace/read/trace_internal.h"

#define EVENTS 12345u

static struct wio_trace *trace;

/* Writes, each at its number. */
static int make(void **state)
{
    static const char line[] = "pwrite fd=3 path=/f size=1 off=%u\n";
    size_t room = EVENTS * (sizeof(line) + 8);
    char *script = malloc(room);
    size_t at = 0;
    (void)state;
    assert_non_null(script);
    for (unsigned i = 0; i < EVENTS; i++) {
        at += (size_t)snprintf(script + at, room - at, line, i);
    }
    trace = script_open(script);
    free(script);
    return 0;
}

static int drop(void **state)
{
    (void)state;
    wio_trace_close(trace);
    return 0;
}

/* Take all events, and at event `when` read ahead as far as it goes; gives how many are at hand
 * then. */
static size_t go_through(size_t ahead, unsigned when)
{
    struct wio_error err = WIO_ERROR_INIT;
    struct rp_feed feed = {0};
    const struct wio_event *event = NULL;
    size_t at_hand = 0;
    assert_ok(rp_feed_init(&feed, trace, 0, ahead, &err), &err);
    for (unsigned i = 0; i < EVENTS; i++) {
        assert_ok(rp_feed_next(&feed, &event, &err), &err);
        while (i == when && rp_feed_read_ahead(&feed, &err) == WIO_OK) {
        }
        at_hand = i == when ? feed.count - feed.at : at_hand;
        assert_int_equal(event->offset, i); /* still valid */
        assert_int_equal(event->seq, i);
    }
    assert_int_equal(rp_feed_next(&feed, &event, &err), WIO_END);
    assert_int_equal(rp_feed_read_ahead(&feed, &err), WIO_END);
    rp_feed_fini(&feed);
    return at_hand;
}

static void without_room_nothing_is_read_ahead(void **state)
{
    (void)state;
    assert_in_range(go_through(0, 10), 1, WIO_SLICE_MAX);
}

static void a_stream_with_room_is_read_to_its_end(void **state)
{
    (void)state;
    assert_int_equal(go_through(EVENTS, 0), EVENTS - 1);
    assert_int_equal(go_through(10 * EVENTS, 1000), EVENTS - 1001);
    assert_int_equal(go_through(EVENTS, EVENTS - 1), 0);
}

static void what_has_no_room_comes_later(void **state)
{
    (void)state;
    for (size_t room = 1; room < EVENTS; room += 777) {
        assert_in_range(go_through(room, 0), 1, room < WIO_SLICE_MAX ? WIO_SLICE_MAX : room);
    }
    assert_in_range(go_through(5000, 0), 5000 - WIO_SLICE_MAX, 5000);
}

/* Also behind the last event of a block, which stays valid. */
static void when_the_next_begins_is_known(void **state)
{
    (void)state;
    for (size_t ahead = 0; ahead <= EVENTS; ahead += EVENTS / 3) {
        struct wio_error err = WIO_ERROR_INIT;
        struct rp_feed feed = {0};
        const struct wio_event *event = NULL;
        uint64_t next_ns = 0;
        assert_ok(rp_feed_init(&feed, trace, 0, ahead, &err), &err);
        for (unsigned i = 0; i < EVENTS; i++) {
            assert_ok(rp_feed_next(&feed, &event, &err), &err);
            assert_true(i == 0 || event->t_ns == next_ns);
            next_ns = rp_feed_next_ns(&feed, &err);
            assert_int_equal(event->seq, i);
        }
        assert_true(next_ns == UINT64_MAX);
        assert_int_equal(rp_feed_next(&feed, &event, &err), WIO_END);
        rp_feed_fini(&feed);
    }
}

/* The second block is not where the index says: nothing behind it is given, and it is a fault also
 * where it was met by reading ahead. */
static void a_fault_is_met_in_its_place(void **state)
{
    (void)state;
    const uint32_t before = trace->blocks[0].count;
    assert_in_range(before, WIO_SLICE_MAX, EVENTS - 1);
    trace->blocks[1].offset++;
    for (size_t ahead = 0; ahead <= EVENTS; ahead += EVENTS) {
        struct wio_error err = WIO_ERROR_INIT;
        struct rp_feed feed = {0};
        const struct wio_event *event = NULL;
        assert_ok(rp_feed_init(&feed, trace, 0, ahead, &err), &err);
        for (unsigned i = 0; i < before; i++) {
            assert_ok(rp_feed_next(&feed, &event, &err), &err);
            assert_int_equal(event->seq, i);
            while (rp_feed_read_ahead(&feed, &err) == WIO_OK) {
            }
        }
        for (unsigned i = 0; i < 3; i++) {
            assert_int_equal(rp_feed_next(&feed, &event, &err), WIO_ERR_FORMAT);
        }
        assert_string_not_equal(err.message, "");
        rp_feed_fini(&feed);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(without_room_nothing_is_read_ahead, make, drop),
        cmocka_unit_test_setup_teardown(a_stream_with_room_is_read_to_its_end, make, drop),
        cmocka_unit_test_setup_teardown(what_has_no_room_comes_later, make, drop),
        cmocka_unit_test_setup_teardown(when_the_next_begins_is_known, make, drop),
        cmocka_unit_test_setup_teardown(a_fault_is_met_in_its_place, make, drop),
    };
    return WIO_RUN(tests);
}
