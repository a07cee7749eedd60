/* SPDX-License-Identifier: Apache-2.0 */
/* A client's process: what its transactions hear of connections. */
#include "session_scene.h"

#include "store/session/session.h"

struct ending {
    unsigned count;
    enum wio_coord_end end;
    enum wio_store_result result;
};

static void on_run(void *context, struct wio_coord_txn *txn, void *user)
{
    (void)context;
    (void)user;
    const struct wio_store_request request = {
        .op = WIO_STORE_WRITE, .file = 1, .data = (const uint8_t *)"data", .data_size = 4};
    assert_int_equal(wio_coord_issue(txn, 0, &request, 0), WIO_OK);
}

static void on_part(void *context, struct wio_coord_txn *txn, void *user, uint32_t tag,
                    const struct wio_store_reply *reply)
{
    (void)context;
    (void)txn;
    (void)user;
    (void)tag;
    (void)reply;
}

static void on_ended(void *context, struct wio_coord_txn *txn, void *user, enum wio_coord_end end,
                     enum wio_store_result result)
{
    struct ending *ending = user;
    (void)context;
    (void)txn;
    *ending = (struct ending){ending->count + 1, end, result};
}

static const struct wio_coord_ops ops = {.run = on_run, .part = on_part, .ended = on_ended};

static struct wio_session *make(struct session_scene *scene)
{
    struct wio_error err = WIO_ERROR_INIT;
    struct wio_session *session = NULL;
    const struct wio_session_config config = {.link = &scene->link,
                                              .hello = {.client = 7, .uid = 1000},
                                              .addresses = addresses,
                                              .targets = 1,
                                              .txns_max = 4,
                                              .ops = &ops};
    struct wio_io *io = wio_sim_start(wio_sim_node(scene->sim, "a"));
    assert_ok(wio_session_create(io, &config, &session, &err), &err);
    return session;
}

/* The target has been there for long, and cannot be reached when the client begins. */
static void what_waits_for_the_first_connection_is_not_lost(void **state)
{
    (void)state;
    struct session_scene scene;
    struct ending ending = {0};
    struct wio_coord_txn *txn = NULL;
    begin(&scene);
    connect_client(&scene, 0, 8, 1000, "b"); /* in the first lease it would know that it is new */
    run(&scene, 10 * SECOND_NS);
    wio_sim_part(scene.sim, wio_sim_node(scene.sim, "a"), NULL);
    struct wio_session *session = make(&scene);
    assert_int_equal(wio_session_begin(session, &ending, WIO_STORE_FLAG_SINGLE, &txn), WIO_OK);
    run(&scene, 10 * SECOND_NS);
    assert_int_equal(ending.count, 0);
    wio_sim_heal(scene.sim);
    run(&scene, 10 * SECOND_NS);
    assert_int_equal(ending.count, 1);
    assert_int_equal(ending.end, WIO_COORD_COMMITTED);
    wio_session_destroy(session);
    end(&scene);
}

/* The lease ends while a second write is under way. */
static void what_was_under_way_when_the_lease_ended_is_not_known(void **state)
{
    (void)state;
    struct session_scene scene;
    struct ending first = {0};
    struct ending second = {0};
    struct wio_coord_txn *txn = NULL;
    begin(&scene);
    run(&scene, 10 * SECOND_NS);
    struct wio_session *session = make(&scene);
    assert_int_equal(wio_session_begin(session, &first, WIO_STORE_FLAG_SINGLE, &txn), WIO_OK);
    run(&scene, SECOND_NS);
    assert_int_equal(first.count, 1);
    wio_sim_part(scene.sim, wio_sim_node(scene.sim, "a"), NULL);
    assert_int_equal(wio_session_begin(session, &second, WIO_STORE_FLAG_SINGLE, &txn), WIO_OK);
    run(&scene, 10 * SECOND_NS);
    wio_sim_heal(scene.sim);
    run(&scene, 10 * SECOND_NS);
    assert_int_equal(second.count, 1);
    assert_int_equal(second.end, WIO_COORD_FAILED);
    assert_int_equal(second.result, WIO_STORE_NO_LEASE);
    wio_session_destroy(session);
    end(&scene);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_waits_for_the_first_connection_is_not_lost),
        cmocka_unit_test(what_was_under_way_when_the_lease_ended_is_not_known),
    };
    return WIO_RUN(tests);
}
