/* SPDX-License-Identifier: Apache-2.0 */
/* Mail of many threads, taken by one: nothing is lost, and each sender's comes in order. */
#include "support/unit.h"

#include <pthread.h>
#include <stdlib.h>

#include "replay/launcher/send_queue.h"

#define SENDERS 4u
#define MAILS (RP_OUTBOX_ROOM / 2) /* of each: together more than there is room for */

static struct rp_outbox *outbox;
static struct rp_board *board;

static void *send_all(void *arg)
{
    for (uint32_t i = 0; i < MAILS; i++) {
        const struct wio_replay_mail mail = {
            .kind = RP_MAIL_EDGE, .index = (uint32_t)(uintptr_t)arg, .value = i};
        assert_true(rp_outbox_put(outbox, board, 7, &mail));
    }
    return NULL;
}

static void nothing_is_lost(void **state)
{
    (void)state;
    pthread_t threads[SENDERS];
    uint64_t next[SENDERS] = {0};
    struct wio_error err = WIO_ERROR_INIT;
    assert_ok(rp_outbox_create(&outbox, &err), &err);
    assert_ok(rp_board_create(1, 1, 1, 0, &board, &err), &err);
    for (uintptr_t i = 0; i < SENDERS; i++) {
        assert_int_equal(pthread_create(&threads[i], NULL, send_all, (void *)i), 0);
    }
    for (uint32_t got = 0; got < SENDERS * MAILS;) {
        uint32_t to;
        struct wio_replay_mail mail;
        if (!rp_outbox_take(outbox, &to, &mail)) {
            rp_outbox_nap(outbox, 10000000);
            continue;
        }
        assert_int_equal(to, 7);
        assert_true(mail.index < SENDERS);
        assert_int_equal(mail.value, next[mail.index]++);
        got++;
    }
    for (uint32_t i = 0; i < SENDERS; i++) {
        assert_int_equal(pthread_join(threads[i], NULL), 0);
    }
    uint32_t to;
    struct wio_replay_mail mail;
    assert_false(rp_outbox_take(outbox, &to, &mail));
    rp_outbox_destroy(outbox);
    rp_board_destroy(board);
}

static void an_abort_ends_a_sender_that_finds_it_full(void **state)
{
    (void)state;
    struct wio_error err = WIO_ERROR_INIT;
    const struct wio_replay_mail mail = {.kind = RP_MAIL_EDGE};
    assert_ok(rp_outbox_create(&outbox, &err), &err);
    assert_ok(rp_board_create(1, 1, 1, 0, &board, &err), &err);
    for (uint32_t i = 0; i < RP_OUTBOX_ROOM; i++) {
        assert_true(rp_outbox_put(outbox, board, 0, &mail));
    }
    rp_board_fail(board, &err);
    assert_false(rp_outbox_put(outbox, board, 0, &mail));
    rp_outbox_destroy(outbox);
    rp_board_destroy(board);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(nothing_is_lost),
        cmocka_unit_test(an_abort_ends_a_sender_that_finds_it_full),
    };
    return WIO_RUN(tests);
}
