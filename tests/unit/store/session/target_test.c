/* SPDX-License-Identifier: Apache-2.0 */
/* A target's process and clients' connections to it. What faults do: tests/sim/counters.c. */
#include "session_scene.h"

static void requests_are_answered(void **state)
{
    (void)state;
    struct session_scene scene;
    begin(&scene);
    connect_client(&scene, 0, 7, 1000, "a");
    run(&scene, SECOND_NS);
    assert_int_equal(scene.clients[0].backs, 1);
    struct wio_store_request request = write_to(7, 1, WIO_STORE_FLAG_SINGLE);
    assert_true(wio_targets_send(scene.clients[0].targets, 0, &request));
    run(&scene, SECOND_NS);
    const struct wio_store_reply *last = &scene.clients[0].last;
    assert_int_equal(scene.clients[0].replies, 1);
    assert_int_equal(last->result, WIO_STORE_OK);
    assert_int_equal(last->size, 4);
    assert_true(last->received_ns > 0 && last->received_ns <= last->locked_ns);
    assert_true(last->locked_ns <= last->done_ns && last->done_ns <= last->sent_ns);
    end(&scene);
}

/* With nothing to say for many leases a client keeps what it holds. */
static void an_idle_client_keeps_its_locks(void **state)
{
    (void)state;
    struct session_scene scene;
    begin(&scene);
    connect_client(&scene, 0, 7, 1000, "a");
    run(&scene, SECOND_NS);
    struct wio_store_request request = write_to(7, 1, WIO_STORE_FLAG_BEGIN);
    assert_true(wio_targets_send(scene.clients[0].targets, 0, &request));
    run(&scene, 20 * SECOND_NS);
    assert_int_equal(wio_server_stat(wio_target_server(scene.target)).txns, 1);
    assert_int_equal(wio_server_stat(wio_target_server(scene.target)).leases_ended, 0);
    end(&scene);
}

/* A refusal names the transaction in the way, and what their numbers mean came before it. */
static void blockers_have_names(void **state)
{
    (void)state;
    struct session_scene scene;
    begin_with_two(&scene);
    const struct wio_store_request define = {.op = WIO_STORE_DEFINE_SOURCE,
                                             .number = 1,
                                             .source = 3,
                                             .path = "solver.c:17",
                                             .path_size = 11};
    struct wio_store_request first = write_to(7, 2, WIO_STORE_FLAG_BEGIN);
    assert_true(wio_targets_send(scene.clients[0].targets, 0, &define));
    refuse_second(&scene, &first);
    const struct session_client *refused = &scene.clients[1];
    assert_int_equal(refused->last.blockers.count, 1);
    assert_int_equal(refused->last.blockers.list[0].txn.client, 7);
    assert_int_equal(refused->last.blockers.list[0].source, 3);
    assert_string_equal(refused->job, "job of a");
    assert_string_equal(refused->source, "solver.c:17");
    assert_int_equal(refused->named_before_reply, 1);
    struct wio_store_request second = write_to(8, 2, WIO_STORE_FLAG_SINGLE | WIO_STORE_FLAG_REJECT);
    assert_true(wio_targets_send(scene.clients[1].targets, 0, &second));
    run(&scene, SECOND_NS);
    assert_int_equal(refused->replies, 2);
    assert_int_equal(refused->named_before_reply, 1); /* once */
    end(&scene);
}

/* The older one waits, and the younger holder is told. */
static void wounds_are_pushed(void **state)
{
    (void)state;
    struct session_scene scene;
    begin_with_two(&scene);
    struct wio_store_request young = write_to(8, 1, WIO_STORE_FLAG_BEGIN);
    struct wio_store_request old = write_to(7, 1, WIO_STORE_FLAG_BEGIN);
    assert_true(wio_targets_send(scene.clients[1].targets, 0, &young));
    run(&scene, SECOND_NS);
    assert_true(wio_targets_send(scene.clients[0].targets, 0, &old));
    run(&scene, SECOND_NS);
    assert_int_equal(scene.clients[0].replies, 0);
    assert_true(scene.clients[1].wounds > 0);
    assert_int_equal(scene.clients[1].wound.txn.number, 1);
    assert_int_equal(scene.clients[1].wound.because.txn.client, 7);
    const struct wio_store_request abort = {.op = WIO_STORE_ABORT, .number = 2, .txn = young.txn};
    assert_true(wio_targets_send(scene.clients[1].targets, 0, &abort));
    run(&scene, SECOND_NS);
    assert_int_equal(scene.clients[0].replies, 1);
    assert_int_equal(scene.clients[0].last.result, WIO_STORE_OK);
    assert_true(scene.clients[0].last.locked_ns > scene.clients[0].last.received_ns);
    end(&scene);
}

/* Within the lease the target remembers what it has done; behind it, it says that it does not. */
static void a_client_learns_that_it_was_forgotten(void **state)
{
    (void)state;
    for (unsigned is_long = 0; is_long < 2; is_long++) {
        struct session_scene scene;
        begin(&scene);
        connect_client(&scene, 0, 7, 1000, "a");
        run(&scene, 10 * SECOND_NS);
        scene.clients[0].known = 0;
        wio_sim_part(scene.sim, wio_sim_node(scene.sim, "a"), NULL);
        wio_sim_options(scene.sim)->reset = 1000000;
        wio_sim_heal(scene.sim);
        run(&scene, SECOND_NS);
        wio_sim_options(scene.sim)->reset = 0;
        if (is_long == 1) {
            wio_sim_part(scene.sim, wio_sim_node(scene.sim, "a"), NULL);
            run(&scene, 10 * SECOND_NS);
            wio_sim_heal(scene.sim);
        }
        run(&scene, 10 * SECOND_NS);
        assert_true(scene.clients[0].backs > 1);
        assert_int_equal(scene.clients[0].known, is_long == 1 ? 0 : 1);
        end(&scene);
    }
}

/* R-LINK-11 */
static void the_last_connection_of_a_client_counts(void **state)
{
    (void)state;
    struct session_scene scene;
    begin(&scene);
    connect_client(&scene, 0, 7, 1000, "a");
    run(&scene, SECOND_NS);
    connect_client(&scene, 1, 7, 1001, "b"); /* another user's: refused */
    run(&scene, SECOND_NS);
    assert_int_equal(scene.clients[0].lost, 0);
    assert_int_equal(scene.clients[1].backs, 0);
    assert_true(scene.clients[1].lost > 0);
    connect_client(&scene, 2, 7, 1000, "c");
    run(&scene, SECOND_NS / 100);
    assert_true(scene.clients[2].backs > 0);
    assert_true(scene.clients[0].lost > 0);
    end(&scene);
}

/* ---- grants ---- */

static const struct wio_link_key servers_key = {.bytes = {1, 2, 3}};

static enum wio_store_result ask(struct session_scene *scene, struct wio_store_request *request)
{
    static uint64_t numbers = 100;
    struct session_client *client = &scene->clients[0];
    unsigned replies = client->replies;
    request->number = ++numbers;
    assert_true(wio_targets_send(client->targets, 0, request));
    run(scene, SECOND_NS / 10);
    assert_int_equal(client->replies, replies + 1);
    assert_int_equal(client->last.number, request->number);
    return (enum wio_store_result)client->last.result;
}

static enum wio_store_result show(struct session_scene *scene, const struct wio_link_key *key,
                                  const struct wio_grant *grant)
{
    uint8_t bytes[WIO_GRANT_BYTES];
    struct wio_store_request request = {
        .op = WIO_STORE_SHOW, .data = bytes, .data_size = sizeof(bytes)};
    wio_grant_make(key, grant, bytes);
    return ask(scene, &request);
}

static enum wio_store_result write_file(struct session_scene *scene, uint64_t file)
{
    static uint64_t numbers = 0;
    struct wio_store_request request = write_to(7, 1, WIO_STORE_FLAG_SINGLE);
    request.file = file;
    request.txn.number = ++numbers;
    return ask(scene, &request);
}

/* R-GRANT-2, R-GRANT-3: no byte without a grant of this client, this user, this file and right. */
static void a_file_is_used_by_its_grant_alone(void **state)
{
    (void)state;
    struct session_scene scene;
    struct wio_link_key other = {.bytes = {9}};
    struct wio_grant right = {
        .file = 1, .client = 7, .uid = 1000, .rights = WIO_GRANT_WRITE | WIO_GRANT_SIZE};
    begin_with(&scene, &servers_key);
    connect_client(&scene, 0, 7, 1000, "a");
    run(&scene, SECOND_NS);
    assert_int_equal(write_file(&scene, 1), WIO_STORE_DENIED);
    struct wio_grant wrong = right;
    assert_int_equal(show(&scene, &other, &wrong), WIO_STORE_DENIED);
    wrong.client = 8;
    assert_int_equal(show(&scene, &servers_key, &wrong), WIO_STORE_DENIED);
    wrong = right;
    wrong.uid = 1001;
    assert_int_equal(show(&scene, &servers_key, &wrong), WIO_STORE_DENIED);
    wrong = right;
    wrong.rights = WIO_GRANT_READ;
    assert_int_equal(show(&scene, &servers_key, &wrong), WIO_STORE_OK);
    assert_int_equal(write_file(&scene, 1), WIO_STORE_DENIED);
    assert_int_equal(wio_server_stat(wio_target_server(scene.target)).commits, 0);
    assert_int_equal(show(&scene, &servers_key, &right), WIO_STORE_OK);
    assert_int_equal(write_file(&scene, 1), WIO_STORE_OK);
    assert_int_equal(write_file(&scene, 2), WIO_STORE_DENIED);
    assert_int_equal(wio_server_stat(wio_target_server(scene.target)).commits, 1);
    const struct wio_wire_welcome *welcome = wio_targets_welcome(scene.clients[0].targets, 0);
    assert_int_equal(welcome->uid, 1000);
    end(&scene);
}

/* An operation that is refused leaves its transaction as it was. */
static void a_denial_leaves_the_transaction_alone(void **state)
{
    (void)state;
    struct session_scene scene;
    const struct wio_grant grant = {.file = 1, .client = 7, .uid = 1000, .rights = WIO_GRANT_WRITE};
    begin_with(&scene, &servers_key);
    connect_client(&scene, 0, 7, 1000, "a");
    run(&scene, SECOND_NS);
    assert_int_equal(show(&scene, &servers_key, &grant), WIO_STORE_OK);
    struct wio_store_request request = write_to(7, 1, WIO_STORE_FLAG_BEGIN);
    request.txn.number = 50;
    assert_int_equal(ask(&scene, &request), WIO_STORE_OK);
    struct wio_store_request denied = request;
    denied.flags = 0;
    denied.file = 2;
    assert_int_equal(ask(&scene, &denied), WIO_STORE_DENIED);
    struct wio_store_request commit = {.op = WIO_STORE_COMMIT, .txn = request.txn};
    assert_int_equal(ask(&scene, &commit), WIO_STORE_OK);
    assert_int_equal(wio_server_stat(wio_target_server(scene.target)).commits, 1);
    end(&scene);
}

/* ---- inquiries ---- */

struct asker {
    struct wio_link *link;
    unsigned replies;
    bool is_open;
    bool is_closed;
};

static void asker_opened(void *context, struct wio_link *link,
                         const struct wio_wire_welcome *welcome)
{
    struct asker *asker = context;
    (void)link;
    (void)welcome;
    asker->is_open = true;
}

static void asker_message(void *context, struct wio_link *link,
                          const struct wio_wire_header *header, struct wio_buf body)
{
    struct asker *asker = context;
    (void)link;
    (void)body;
    asker->replies += header->kind == WIO_STORE_INQUIRE;
}

static void asker_closed(void *context, struct wio_link *link, enum wio_link_end why)
{
    struct asker *asker = context;
    (void)why;
    asker->is_closed = true;
    asker->link = NULL;
    wio_link_close(link);
}

static const struct wio_link_events asker_events = {
    .opened = asker_opened, .message = asker_message, .closed = asker_closed};

static void send_of_asker(struct asker *asker, const struct wio_store_request *request)
{
    struct wio_blob out = {0};
    uint32_t data_bytes = 0;
    assert_int_equal(wio_wire_put_request(&out, request, &data_bytes), WIO_OK);
    assert_int_equal(wio_link_send(asker->link, &out, request->data, data_bytes), WIO_OK);
    wio_blob_fini(&out);
}

/* R-GRANT-4: a connection of role target has to have the servers' key. */
static void only_targets_inquire(void **state)
{
    (void)state;
    for (unsigned has_key = 0; has_key < 2; has_key++) {
        struct session_scene scene;
        struct asker asker = {0};
        struct wio_error err = WIO_ERROR_INIT;
        const struct wio_wire_hello hello = {.client = 99, .role = WIO_WIRE_ROLE_TARGET};
        const struct wio_grant grant = {.client = 99, .rights = WIO_GRANT_INQUIRE};
        const struct wio_link_key guess = {.bytes = {7}};
        uint8_t bytes[WIO_GRANT_BYTES];
        begin_with(&scene, &servers_key);
        struct wio_io *io = wio_sim_start(wio_sim_node(scene.sim, "other"));
        assert_ok(wio_link_connect(io, addresses[0], &scene.link, &hello, &asker_events, &asker,
                                   &asker.link, &err),
                  &err);
        run(&scene, SECOND_NS);
        assert_true(asker.is_open);
        wio_grant_make(has_key == 1 ? &servers_key : &guess, &grant, bytes);
        const struct wio_store_request show_it = {
            .op = WIO_STORE_SHOW, .number = 1, .data = bytes, .data_size = sizeof(bytes)};
        const struct wio_store_request inquire = {
            .op = WIO_STORE_INQUIRE, .number = 2, .txn = {.client = 7, .number = 1}};
        send_of_asker(&asker, &show_it);
        send_of_asker(&asker, &inquire);
        run(&scene, SECOND_NS);
        assert_int_equal(asker.replies, has_key);
        assert_int_equal(asker.is_closed, has_key == 0);
        wio_link_close(asker.link);
        end(&scene);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(requests_are_answered),
        cmocka_unit_test(an_idle_client_keeps_its_locks),
        cmocka_unit_test(blockers_have_names),
        cmocka_unit_test(wounds_are_pushed),
        cmocka_unit_test(a_client_learns_that_it_was_forgotten),
        cmocka_unit_test(the_last_connection_of_a_client_counts),
        cmocka_unit_test(a_file_is_used_by_its_grant_alone),
        cmocka_unit_test(a_denial_leaves_the_transaction_alone),
        cmocka_unit_test(only_targets_inquire),
    };
    return WIO_RUN(tests);
}
