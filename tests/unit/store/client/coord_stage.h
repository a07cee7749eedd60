/* SPDX-License-Identifier: Apache-2.0 */
/* A coordinator whose messages are looked at one by one; the targets are played by the test. */
#ifndef WIO_TESTS_COORD_STAGE_H
#define WIO_TESTS_COORD_STAGE_H

#include "support/stingy.h"
#include "support/unit.h"

#include <string.h>

#include "store/client/coord.h"

#define SENT 256

struct sent {
    uint16_t target;
    struct wio_store_request request;
};

struct stage {
    struct wio_coord *coord;
    struct wio_coord_txn *txn; /* of the last run */
    uint64_t now_ns;
    uint32_t count;
    uint32_t checked;
    struct sent sent[SENT];
    uint32_t runs;
    uint32_t parts;
    uint32_t ends;
    enum wio_coord_end end;
    enum wio_store_result result;
    uint32_t refusals; /* what the caller was told of answers other than OK, and wounds */
    uint32_t wounds;
    uint16_t told_target;
    uint64_t told_client;
    uint32_t answers; /* of asks */
    enum wio_store_result answered;
};

static struct stage stage;

static inline void on_send(void *context, uint16_t target, const struct wio_store_request *request)
{
    (void)context;
    assert_true(stage.count < SENT);
    stage.sent[stage.count++] = (struct sent){target, *request};
}

static inline void on_run(void *context, struct wio_coord_txn *txn, void *user)
{
    (void)context;
    (void)user;
    stage.txn = txn;
    stage.runs++;
}

static inline void on_part(void *context, struct wio_coord_txn *txn, void *user, uint32_t tag,
                           const struct wio_store_reply *reply)
{
    (void)context;
    (void)txn;
    (void)user;
    (void)tag;
    stage.parts += reply->result == WIO_STORE_OK;
}

static inline void on_ended(void *context, struct wio_coord_txn *txn, void *user,
                            enum wio_coord_end end, enum wio_store_result result)
{
    (void)context;
    (void)txn;
    (void)user;
    stage.ends++;
    stage.end = end;
    stage.result = result;
}

static inline void on_refused(void *context, uint16_t target, void *user,
                              const struct wio_store_reply *reply)
{
    (void)context;
    (void)user;
    assert_int_not_equal(reply->result, WIO_STORE_OK);
    stage.refusals++;
    stage.told_target = target;
}

static inline void on_wounded(void *context, uint16_t target, void *user,
                              const struct wio_lock_blocker *because)
{
    (void)context;
    (void)user;
    stage.wounds++;
    stage.told_target = target;
    stage.told_client = because->txn.client;
}

static inline void on_answered(struct wio_coord_ask *ask, const struct wio_store_reply *reply)
{
    assert_ptr_equal(ask->owner, &stage);
    stage.answers++;
    stage.answered = (enum wio_store_result)reply->result;
}

static const struct wio_coord_ops coord_ops = {.send = on_send,
                                               .run = on_run,
                                               .part = on_part,
                                               .ended = on_ended,
                                               .refused = on_refused,
                                               .wounded = on_wounded};

static inline enum wio_status create(const struct wio_alloc *alloc)
{
    struct wio_coord_config config = {.client = 7,
                                      .targets = 3,
                                      .txns_max = 4,
                                      .pause_ns = 1000,
                                      .vote_ns = 5000,
                                      .ops = &coord_ops};
    memset(&stage, 0, sizeof(stage));
    stage.now_ns = 100;
    return wio_coord_create(alloc, &config, &stage.coord);
}

static inline int set_up(void **state)
{
    struct wio_alloc alloc = WIO_ALLOC_HEAP;
    (void)state;
    assert_int_equal(create(&alloc), WIO_OK);
    return 0;
}

static inline int tear_down(void **state)
{
    (void)state;
    wio_coord_destroy(stage.coord);
    return 0;
}

static inline void begin(unsigned flags)
{
    struct wio_coord_txn *txn = NULL;
    assert_int_equal(wio_coord_begin(stage.coord, NULL, (uint16_t)flags, stage.now_ns, &txn),
                     WIO_OK);
}

static inline enum wio_status issue(uint16_t target)
{
    struct wio_store_request request = {.op = WIO_STORE_WRITE, .file = 1};
    return wio_coord_issue(stage.txn, target, &request, 0);
}

static inline void commit(void)
{
    assert_int_equal(wio_coord_commit(stage.txn, stage.now_ns), WIO_OK);
}

/* The next message that was sent. */
static const struct wio_store_request *expect(uint16_t target, enum wio_store_op op)
{
    assert_true(stage.checked < stage.count);
    const struct sent *sent = &stage.sent[stage.checked++];
    assert_int_equal(sent->target, target);
    assert_int_equal(sent->request.op, op);
    return &sent->request;
}

static inline void expect_silence(void)
{
    assert_int_equal(stage.checked, stage.count);
}

static inline void answer(uint16_t target, const struct wio_store_request *request,
                          enum wio_store_result result, enum wio_store_outcome outcome)
{
    struct wio_store_reply reply = {.op = request->op,
                                    .result = (uint16_t)result,
                                    .outcome = (uint16_t)outcome,
                                    .number = request->number,
                                    .txn = request->txn};
    wio_coord_reply(stage.coord, target, &reply, stage.now_ns);
}

static inline void ok(uint16_t target, const struct wio_store_request *request)
{
    answer(target, request, WIO_STORE_OK, WIO_STORE_OUTCOME_UNKNOWN);
}

/* An attempt with one operation, answered, at targets 0 and 1. */
static inline void two_operations(unsigned flags)
{
    begin(flags);
    assert_int_equal(issue(0), WIO_OK);
    assert_int_equal(issue(1), WIO_OK);
    ok(0, expect(0, WIO_STORE_WRITE));
    ok(1, expect(1, WIO_STORE_WRITE));
}

static inline void wound(uint32_t attempt)
{
    struct wio_store_push push = {.op = WIO_STORE_WOUND, .txn = *wio_coord_name(stage.txn)};
    push.txn.attempt = attempt;
    wio_coord_push(stage.coord, 0, &push, stage.now_ns);
}

static inline void assert_ended(enum wio_coord_end end, enum wio_store_result result)
{
    assert_int_equal(stage.ends, 1);
    assert_int_equal(stage.end, end);
    assert_int_equal(stage.result, result);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)

#endif
