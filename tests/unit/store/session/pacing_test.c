/* SPDX-License-Identifier: Apache-2.0 */
/* Requests that wait for admission, and what becomes of them when connections are lost. */
#include "support/unit.h"

#include <string.h>

#include "admit/counts.h"
#include "admit/negotiate.h"
#include "store/session/pacing.h"

#define MS UINT64_C(1000000)

static struct {
    struct wio_pacing *pacing;
    struct wio_store_request request; /* under way, number 1 */
    bool is_wanted;
    unsigned sent;
    unsigned plain; /* of these, without what admission adds */
    uint64_t now_ns;
} stage;

static const struct wio_store_request *find(void *context, uint16_t target, uint64_t number)
{
    (void)context;
    (void)target;
    return stage.is_wanted && number == stage.request.number ? &stage.request : NULL;
}

static bool send(void *context, uint16_t target, const struct wio_store_request *request)
{
    (void)context;
    (void)target;
    stage.sent++;
    stage.plain += (request->flags & WIO_STORE_FLAG_ADMIT) == 0;
    return true;
}

static void sent(void *context, uint16_t target, uint64_t number)
{
    (void)context;
    (void)target;
    (void)number;
}

static void over(void *context, uint16_t target, const struct wio_store_reply *reply)
{
    (void)context;
    (void)target;
    (void)reply;
    fail_msg("refused for good");
}

static const struct wio_pacing_ops ops = {find, send, sent, over};

/* A single write with two seconds is on its way. */
static int begin(void **state)
{
    (void)state;
    memset(&stage, 0, sizeof(stage));
    stage.now_ns = 1000 * MS;
    stage.is_wanted = true;
    stage.pacing = wio_pacing_create(1, 7, &ops, NULL);
    assert_non_null(stage.pacing);
    stage.request = (struct wio_store_request){.op = WIO_STORE_WRITE,
                                               .flags = WIO_STORE_FLAG_SINGLE,
                                               .number = 1,
                                               .is_first = true,
                                               .deadline_ns = stage.now_ns + 2000 * MS};
    wio_pacing_connected(stage.pacing, 0, WIO_ADMIT_FEATURES, false, stage.now_ns);
    struct wio_store_request request = stage.request;
    assert_true(wio_pacing_take(stage.pacing, 0, &request, stage.now_ns));
    assert_int_equal(stage.sent, 1);
    return 0;
}

static int end(void **state)
{
    (void)state;
    wio_pacing_destroy(stage.pacing);
    return 0;
}

static bool refuse(struct wio_store_reply *reply)
{
    *reply = (struct wio_store_reply){.op = WIO_STORE_WRITE,
                                      .number = 1,
                                      .result = WIO_STORE_BUSY,
                                      .has_told = true,
                                      .told = {.reason = WIO_ADMIT_REASON_QUEUE_TOTAL, .hint = 10}};
    return wio_pacing_reply(stage.pacing, 0, reply, stage.now_ns);
}

/* Time goes by in steps until something is sent. */
static void wait_for_send(void)
{
    for (unsigned before = stage.sent, i = 0; stage.sent == before && i < 5000; i++) {
        stage.now_ns += MS;
        wio_pacing_pump(stage.pacing, stage.now_ns);
    }
}

/* The connection is lost, and another one made. */
static void lose(bool is_known)
{
    wio_pacing_connected(stage.pacing, 0, WIO_ADMIT_FEATURES, is_known, stage.now_ns);
    wio_pacing_pump(stage.pacing, stage.now_ns);
}

static void a_refused_one_was_not_done(void **state)
{
    (void)state;
    struct wio_store_reply reply;
    assert_true(refuse(&reply));
    assert_true(wio_pacing_holds(stage.pacing, 0, 1));
}

/* The first copy may have been done: the refusal of the second says nothing of it. */
static void a_refused_copy_leaves_the_first_unsure(void **state)
{
    (void)state;
    struct wio_store_reply reply;
    lose(true);
    wait_for_send();
    assert_int_equal(stage.sent, 2);
    assert_true(refuse(&reply));
    assert_false(wio_pacing_holds(stage.pacing, 0, 1));
    lose(false); /* a target that remembers nothing: the coordinator says what becomes of it */
    unsigned before = stage.sent;
    wait_for_send();
    assert_int_equal(stage.sent, before);
}

/* It is never told to be refused for good, which means that nothing has happened: when its time is
 * over it is sent once more, for the answer of what was done. */
static void an_unsure_one_is_asked_for(void **state)
{
    (void)state;
    struct wio_store_reply reply;
    lose(true);
    wait_for_send();
    for (unsigned i = 0; i < 10000 && stage.plain == 0; i++) {
        assert_true(refuse(&reply));
        assert_int_equal(reply.result, WIO_STORE_BUSY);
        wait_for_send();
    }
    assert_int_equal(stage.plain, 1);
    reply = (struct wio_store_reply){.op = WIO_STORE_WRITE, .number = 1, .result = WIO_STORE_OK};
    assert_false(wio_pacing_reply(stage.pacing, 0, &reply, stage.now_ns));
    assert_int_equal(reply.result, WIO_STORE_OK);
}

/* A request as number 2, of a single transaction with this number or of none (0): what its refusal
 * says when its time was over before it came. */
static enum wio_store_result late_refusal_in(uint64_t txn, uint16_t op, bool is_lost)
{
    struct wio_store_reply first = {.op = WIO_STORE_WRITE,
                                    .number = 1,
                                    .has_told = true,
                                    .told = {.has_window = true, .window = 8}};
    assert_false(wio_pacing_reply(stage.pacing, 0, &first, stage.now_ns));
    const struct wio_txn name = {.number = txn, .attempt = txn != 0};
    stage.request = (struct wio_store_request){.op = op,
                                               .flags = txn != 0 ? WIO_STORE_FLAG_SINGLE : 0,
                                               .number = 2,
                                               .txn = name,
                                               .is_first = true,
                                               .deadline_ns = stage.now_ns + 100 * MS};
    struct wio_store_request request = stage.request;
    unsigned before = stage.sent;
    assert_true(wio_pacing_take(stage.pacing, 0, &request, stage.now_ns));
    assert_int_equal(stage.sent, before + 1);
    if (is_lost) {
        lose(true);
    }
    for (unsigned i = 0; i < 500; i++) {
        stage.now_ns += MS;
        wio_pacing_pump(stage.pacing, stage.now_ns);
    }
    const struct wio_store_reply refusal = {.op = op,
                                            .number = 2,
                                            .txn = name,
                                            .result = WIO_STORE_BUSY,
                                            .has_told = true,
                                            .told = {.reason = WIO_ADMIT_REASON_EXPIRED}};
    struct wio_store_reply reply = refusal;
    if (is_lost) { /* it is asked for once more */
        assert_true(wio_pacing_reply(stage.pacing, 0, &reply, stage.now_ns));
        assert_int_equal(stage.plain, 1);
        reply = refusal;
    }
    assert_false(wio_pacing_reply(stage.pacing, 0, &reply, stage.now_ns));
    return (enum wio_store_result)reply.result;
}

static enum wio_store_result late_refusal_of(uint16_t op, bool is_lost)
{
    return late_refusal_in(0, op, is_lost);
}

static void a_late_refusal_has_had_no_effect(void **state)
{
    (void)state;
    assert_int_equal(late_refusal_of(WIO_STORE_MKDIR, false), WIO_STORE_OVERLOADED);
}

/* R-ADMIT-5: the catalogue would have answered a copy that was done. */
static void a_late_refusal_of_a_copy_of_a_name_has_had_no_effect(void **state)
{
    (void)state;
    assert_int_equal(late_refusal_of(WIO_STORE_MKDIR, true), WIO_STORE_OVERLOADED);
}

/* One that was sent, and whose time is over, is sent again by the coordinator when the connection
 * is another one: the refusal of that copy says nothing of the first. */
static void a_copy_of_what_was_let_go_is_unsure(void **state)
{
    (void)state;
    struct wio_store_reply first = {.op = WIO_STORE_WRITE,
                                    .number = 1,
                                    .has_told = true,
                                    .told = {.has_window = true, .window = 8}};
    assert_false(wio_pacing_reply(stage.pacing, 0, &first, stage.now_ns));
    stage.request = (struct wio_store_request){.op = WIO_STORE_WRITE,
                                               .flags = WIO_STORE_FLAG_SINGLE,
                                               .number = 2,
                                               .txn = {.number = 7, .attempt = 1},
                                               .is_first = true,
                                               .deadline_ns = stage.now_ns + 100 * MS};
    struct wio_store_request request = stage.request;
    assert_true(wio_pacing_take(stage.pacing, 0, &request, stage.now_ns));
    stage.now_ns += 200 * MS;
    wio_pacing_pump(stage.pacing, stage.now_ns);
    lose(true);
    request = stage.request;
    assert_true(wio_pacing_take(stage.pacing, 0, &request, stage.now_ns));
    stage.now_ns += MS;
    wio_pacing_pump(stage.pacing, stage.now_ns); /* it is told nowhere that it was refused */
    struct wio_store_reply reply;
    unsigned refusals = 0;
    do {
        reply = (struct wio_store_reply){.op = WIO_STORE_WRITE,
                                         .number = 2,
                                         .txn = request.txn,
                                         .result = WIO_STORE_BUSY,
                                         .has_told = true,
                                         .told = {.reason = WIO_ADMIT_REASON_EXPIRED}};
        assert_true(refusals++ < 3);
    } while (wio_pacing_reply(stage.pacing, 0, &reply, stage.now_ns));
    assert_int_equal(reply.result, WIO_STORE_NO_LEASE);
}

static void what_only_looks_may_be_refused_late(void **state)
{
    (void)state;
    assert_int_equal(late_refusal_of(WIO_STORE_STAT, true), WIO_STORE_OVERLOADED);
}

/* Another attempt of an INCREMENT whose first copy was done would count twice. */
static void a_late_refusal_of_a_single_copy_begins_no_attempt(void **state)
{
    (void)state;
    assert_int_equal(late_refusal_in(7, WIO_STORE_WRITE, true), WIO_STORE_NO_LEASE);
}

/* .. but where there was one copy, nothing was done. */
static void a_late_refusal_of_a_single_one_has_had_no_effect(void **state)
{
    (void)state;
    assert_int_equal(late_refusal_in(7, WIO_STORE_WRITE, false), WIO_STORE_OVERLOADED);
}

#define TEST(function) cmocka_unit_test_setup_teardown(function, begin, end)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(a_refused_one_was_not_done),
        TEST(a_refused_copy_leaves_the_first_unsure),
        TEST(an_unsure_one_is_asked_for),
        TEST(a_late_refusal_has_had_no_effect),
        TEST(a_late_refusal_of_a_copy_of_a_name_has_had_no_effect),
        TEST(a_copy_of_what_was_let_go_is_unsure),
        TEST(what_only_looks_may_be_refused_late),
        TEST(a_late_refusal_of_a_single_copy_begins_no_attempt),
        TEST(a_late_refusal_of_a_single_one_has_had_no_effect),
    };
    return WIO_RUN(tests);
}
