/* SPDX-License-Identifier: Apache-2.0 */
#include <string.h>

#include "support/unit.h"

#include "admit/ticket.h"

static const uint8_t key[WIO_TICKET_KEY_BYTES] = "a key of a test";
static const struct wio_ticket_owner owner = {.address = 77, .number = 5};

static void begin(struct wio_tickets *tickets, uint32_t incarnation, uint32_t shard)
{
    assert_int_equal(wio_tickets_init(tickets, &WIO_ALLOC_HEAP, key, incarnation, shard), WIO_OK);
}

static void holds_until_it_is_used(void **state)
{
    (void)state;
    struct wio_tickets tickets;
    begin(&tickets, 3, 0);
    uint64_t id = wio_tickets_take_id(&tickets);
    struct wio_ticket first = wio_tickets_issue(&tickets, id, 0, &owner);
    struct wio_ticket second = wio_tickets_issue(&tickets, id, first.retries, &owner);
    assert_int_equal(first.sequence, id);
    assert_int_equal(first.retries, 1);
    assert_int_equal(second.retries, 2);
    assert_true(wio_tickets_check(&tickets, &first, &owner));
    assert_true(wio_tickets_check(&tickets, &second, &owner));
    wio_tickets_use(&tickets, id);
    assert_false(wio_tickets_check(&tickets, &second, &owner)); /* replayed */
    wio_tickets_fini(&tickets);
}

static void no_byte_of_it_can_be_changed(void **state)
{
    (void)state;
    struct wio_tickets tickets;
    begin(&tickets, 3, 0);
    for (unsigned i = 0; i < 100; i++) {
        (void)wio_tickets_take_id(&tickets);
    }
    struct wio_ticket ticket = wio_tickets_issue(&tickets, 50, 4, &owner);
    for (uint64_t id = 1; id < 100; id++) {
        (void)wio_tickets_issue(&tickets, id, 0,
                                &owner); /* whatever id it is changed to may come */
    }
    for (size_t i = 0; i < sizeof(ticket) * 8; i++) {
        uint8_t bytes[sizeof(ticket)];
        memcpy(bytes, &ticket, sizeof(ticket));
        bytes[i / 8] ^= (uint8_t)(1u << (i % 8));
        struct wio_ticket forged;
        memcpy(&forged, bytes, sizeof(forged));
        assert_false(wio_tickets_check(&tickets, &forged, &owner));
    }
    assert_true(wio_tickets_check(&tickets, &ticket, &owner));
    wio_tickets_fini(&tickets);
}

static void belongs_to_one_request_of_one_client_at_one_shard(void **state)
{
    (void)state;
    struct wio_tickets tickets;
    struct wio_tickets other_shard;
    struct wio_tickets restarted;
    begin(&tickets, 3, 0);
    begin(&other_shard, 3, 1);
    begin(&restarted, 4, 0);
    uint64_t id = wio_tickets_take_id(&tickets);
    struct wio_ticket ticket = wio_tickets_issue(&tickets, id, 0, &owner);
    struct wio_ticket_owner client = {.address = 78, .number = 5};
    struct wio_ticket_owner request = {.address = 77, .number = 6};
    assert_false(wio_tickets_check(&tickets, &ticket, &client));
    assert_false(wio_tickets_check(&tickets, &ticket, &request));
    (void)wio_tickets_issue(&other_shard, wio_tickets_take_id(&other_shard), 0, &owner);
    (void)wio_tickets_issue(&restarted, wio_tickets_take_id(&restarted), 0, &owner);
    assert_false(wio_tickets_check(&other_shard, &ticket, &owner));
    assert_false(wio_tickets_check(&restarted, &ticket, &owner));
    wio_tickets_fini(&restarted);
    wio_tickets_fini(&other_shard);
    wio_tickets_fini(&tickets);
}

static void leaves_the_window(void **state)
{
    (void)state;
    struct wio_tickets tickets;
    begin(&tickets, 1, 0);
    uint64_t id = wio_tickets_take_id(&tickets);
    struct wio_ticket ticket = wio_tickets_issue(&tickets, id, 0, &owner);
    uint64_t held = 0;
    while (wio_tickets_check(&tickets, &ticket, &owner)) {
        held = wio_tickets_take_id(&tickets);
        assert_true(held < 2 * WIO_TICKET_WINDOW);
    }
    assert_true(held >= WIO_TICKET_WINDOW - 64);
    for (unsigned i = 0; i < 1000; i++) { /* its bit is of another id now */
        struct wio_ticket next =
            wio_tickets_issue(&tickets, wio_tickets_take_id(&tickets), 0, &owner);
        assert_true(wio_tickets_check(&tickets, &next, &owner));
        assert_false(wio_tickets_check(&tickets, &ticket, &owner));
    }
    wio_tickets_fini(&tickets);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(holds_until_it_is_used),
        cmocka_unit_test(no_byte_of_it_can_be_changed),
        cmocka_unit_test(belongs_to_one_request_of_one_client_at_one_shard),
        cmocka_unit_test(leaves_the_window),
    };
    return WIO_RUN(tests);
}
