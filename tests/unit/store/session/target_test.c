/* SPDX-License-Identifier: Apache-2.0 */
/* A target's process and clients' connections to it, in a simulation without faults. What faults
 * do: tests/sim/counters.c. */
#include "support/unit.h"

#include <stdio.h>
#include <string.h>

#include "job/stats.h"
#include "sim/sim.h"
#include "store/session/grants.h"
#include "store/session/target.h"
#include "store/session/targets.h"
#include "store/wire/job_rows.h"
#include "store/wire/message.h"
#include "support/store/memory_backing.h"

#define SECOND_NS UINT64_C(1000000000)

static const char *const addresses[] = {"unix:target"};

struct session_client {
    struct wio_targets *targets;
    struct wio_store_reply last;
    struct wio_store_push wound;
    unsigned replies;
    unsigned wounds;
    unsigned backs;
    unsigned known;
    unsigned lost;
    char job[WIO_WIRE_JOB_BYTES];
    char source[64];
    unsigned named_before_reply;
    uint8_t kept[4096]; /* data of the last reply */
    uint32_t kept_size;
};

struct session_scene {
    struct wio_sim *sim;
    struct memory_backing memory;
    struct wio_target_config config;
    struct wio_link_config link;
    struct wio_target *target;
    struct session_client clients[3];
};

/* ---- clients ------------------------------------------------------------------------------- */

static void back(void *context, uint16_t target, bool is_known)
{
    struct session_client *client = context;
    (void)target;
    client->known += is_known;
    client->backs++;
}

static void reply(void *context, uint16_t target, const struct wio_store_reply *reply)
{
    struct session_client *client = context;
    (void)target;
    client->last = *reply;
    if (reply->data_size > 0 && reply->data_size <= sizeof(client->kept)) {
        memcpy(client->kept, reply->data, reply->data_size);
        client->kept_size = reply->data_size;
    }
    client->replies++;
}

static void push(void *context, uint16_t target, const struct wio_store_push *push)
{
    struct session_client *client = context;
    (void)target;
    client->wound = *push;
    client->wounds++;
}

static void lost(void *context, uint16_t target, enum wio_link_end why)
{
    struct session_client *client = context;
    (void)target;
    (void)why;
    client->lost++;
}

static void job(void *context, uint16_t target, const struct wio_wire_job *job)
{
    struct session_client *client = context;
    (void)target;
    snprintf(client->job, sizeof(client->job), "%s", job->name);
    client->named_before_reply++;
}

static void source(void *context, uint16_t target, const struct wio_store_request *define)
{
    struct session_client *client = context;
    (void)target;
    snprintf(client->source, sizeof(client->source), "%.*s", (int)define->path_size, define->path);
}

static const struct wio_targets_events client_events = {back, reply, push, lost, job, source};

static void connect_client(struct session_scene *scene, unsigned i, uint64_t id, uint32_t uid,
                           const char *name)
{
    struct session_client *client = &scene->clients[i];
    struct wio_wire_hello hello = {.client = id, .uid = uid};
    struct wio_error err = WIO_ERROR_INIT;
    struct wio_sim_node *node = wio_sim_node(scene->sim, name);
    wio_sim_set_user(node, uid, uid);
    struct wio_io *io = wio_sim_start(node);
    snprintf(hello.job, sizeof(hello.job), "job of %s", name);
    assert_ok(wio_targets_create(io, &scene->link, &hello, addresses, 1, &client_events, client,
                                 &client->targets, &err),
              &err);
}

static void begin_with(struct session_scene *scene, const struct wio_link_key *servers_key)
{
    const struct wio_sim_options options = {.seed = 1};
    struct wio_error err = WIO_ERROR_INIT;
    memset(scene, 0, sizeof(*scene));
    scene->sim = wio_sim_create(&options);
    scene->link.limits = wio_link_limits_default;
    memory_backing_init(&scene->memory);
    scene->link.features.bits[WIO_GRANT_CLASS] = WIO_GRANT_FEATURE;
    scene->config = (struct wio_target_config){
        .link = scene->link, .addresses = addresses, .servers_key = servers_key};
    scene->config.server = (struct wio_server_config){.targets = 1,
                                                      .policy = WIO_LOCK_WOUND_WAIT,
                                                      .clients_max = 10,
                                                      .txns_max = 100,
                                                      .calls_max = 100,
                                                      .locks_max = 100,
                                                      .outcomes_max = 100,
                                                      .txn_bytes_max = 1 << 20,
                                                      .update_bytes_max = 1 << 20,
                                                      .backing = &scene->memory.base};
    struct wio_io *io = wio_sim_start(wio_sim_node(scene->sim, "target"));
    assert_ok(wio_target_create(io, &scene->config, &scene->target, &err), &err);
    assert_ok(wio_target_listen(scene->target, addresses[0], NULL, &err), &err);
}

static void begin(struct session_scene *scene)
{
    begin_with(scene, NULL);
}

static void end(struct session_scene *scene)
{
    for (unsigned i = 0; i < 3; i++) {
        wio_targets_destroy(scene->clients[i].targets);
    }
    wio_target_destroy(scene->target);
    memory_backing_fini(&scene->memory);
    wio_sim_destroy(scene->sim);
}

static void nothing(void *context)
{
    (void)context;
}

static void run(struct session_scene *scene, uint64_t ns)
{
    uint64_t until_ns = wio_sim_now_ns(scene->sim) + ns;
    wio_sim_later(scene->sim, ns, nothing, NULL);
    while (wio_sim_now_ns(scene->sim) < until_ns && wio_sim_run(scene->sim, 1)) {
    }
}

static struct wio_store_request write_to(uint64_t client, uint64_t number, uint16_t flags)
{
    return (struct wio_store_request){
        .op = WIO_STORE_WRITE,
        .flags = flags,
        .number = number,
        .source = 3,
        .txn = {.client = client, .number = number, .birth_ns = client, .attempt = 1},
        .file = 1,
        .data = (const uint8_t *)"data",
        .data_size = 4,
    };
}

/* ---- tests --------------------------------------------------------------------------------- */

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
    begin(&scene);
    connect_client(&scene, 0, 7, 1000, "a");
    connect_client(&scene, 1, 8, 1000, "b");
    run(&scene, SECOND_NS);
    const struct wio_store_request define = {.op = WIO_STORE_DEFINE_SOURCE,
                                             .number = 1,
                                             .source = 3,
                                             .path = "solver.c:17",
                                             .path_size = 11};
    struct wio_store_request first = write_to(7, 2, WIO_STORE_FLAG_BEGIN);
    struct wio_store_request second = write_to(8, 1, WIO_STORE_FLAG_SINGLE | WIO_STORE_FLAG_REJECT);
    assert_true(wio_targets_send(scene.clients[0].targets, 0, &define));
    assert_true(wio_targets_send(scene.clients[0].targets, 0, &first));
    run(&scene, SECOND_NS);
    assert_true(wio_targets_send(scene.clients[1].targets, 0, &second));
    run(&scene, SECOND_NS);
    const struct session_client *refused = &scene.clients[1];
    assert_int_equal(refused->last.result, WIO_STORE_REFUSED);
    assert_int_equal(refused->last.blockers.count, 1);
    assert_int_equal(refused->last.blockers.list[0].txn.client, 7);
    assert_int_equal(refused->last.blockers.list[0].source, 3);
    assert_string_equal(refused->job, "job of a");
    assert_string_equal(refused->source, "solver.c:17");
    assert_int_equal(refused->named_before_reply, 1);
    second = write_to(8, 2, WIO_STORE_FLAG_SINGLE | WIO_STORE_FLAG_REJECT);
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
    begin(&scene);
    connect_client(&scene, 0, 7, 1000, "a");
    connect_client(&scene, 1, 8, 1000, "b");
    run(&scene, SECOND_NS);
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

/* ---- jobs ---------------------------------------------------------------------------------- */

static void define_caller(struct session_scene *scene, unsigned i, uint64_t number, uint32_t source,
                          const char *name)
{
    const struct wio_store_request define = {.op = WIO_STORE_DEFINE_CALLER,
                                             .number = number,
                                             .source = source,
                                             .path = "a.c:1",
                                             .path_size = 5,
                                             .path2 = name,
                                             .path2_size = (uint32_t)strlen(name)};
    assert_true(wio_targets_send(scene->clients[i].targets, 0, &define));
    run(scene, SECOND_NS);
    assert_int_equal(scene->clients[i].last.result, WIO_STORE_OK);
}

/* Rows of all jobs; the samples of writes of the one named. */
static uint64_t writes_of(struct session_scene *scene, unsigned i, uint64_t number,
                          const char *name, unsigned *rows_out)
{
    const struct wio_store_request ask = {.op = WIO_STORE_JOB_STATS, .number = number};
    struct session_client *client = &scene->clients[i];
    struct wio_wire_job_row row;
    uint64_t found = 0;
    client->kept_size = 0;
    assert_true(wio_targets_send(client->targets, 0, &ask));
    run(scene, SECOND_NS);
    assert_int_equal(client->last.result, WIO_STORE_OK);
    assert_int_equal(client->last.offset, 0);
    struct wio_buf data = wio_buf_of(client->kept, client->kept_size);
    *rows_out = 0;
    while (wio_wire_get_job_row(&data, &row) == WIO_OK) {
        bool is_it = row.name_size == strlen(name) && memcmp(row.name, name, row.name_size) == 0;
        ++*rows_out;
        for (unsigned c = 0; c < row.counters; c++) {
            struct wio_wire_job_counter counter;
            assert_int_equal(wio_wire_get_job_counter(&data, &counter), WIO_OK);
            found += is_it && counter.op == WIO_JOB_OP_WRITE ? counter.samples : 0;
        }
    }
    return found;
}

/* The job is that of the request's source, else that of HELLO; one client's sources say nothing of
 * another's. */
static void requests_count_for_their_jobs(void **state)
{
    (void)state;
    struct session_scene scene;
    unsigned rows = 0;
    begin(&scene);
    connect_client(&scene, 0, 7, 1000, "a");
    connect_client(&scene, 1, 8, 1000, "b");
    run(&scene, SECOND_NS);
    define_caller(&scene, 0, 1, 3, "tab\there");
    for (uint64_t number = 2; number < 6; number++) {
        struct wio_store_request request = write_to(7, number, WIO_STORE_FLAG_SINGLE);
        request.source = number < 5 ? 3 : 0;
        assert_true(wio_targets_send(scene.clients[0].targets, 0, &request));
    }
    struct wio_store_request other = write_to(8, 1, WIO_STORE_FLAG_SINGLE);
    assert_true(wio_targets_send(scene.clients[1].targets, 0, &other));
    run(&scene, SECOND_NS);
    assert_int_equal(writes_of(&scene, 0, 6, "tab\there", &rows), 3);
    assert_int_equal(rows, 3);
    assert_int_equal(writes_of(&scene, 0, 7, "job of a", &rows), 1);
    assert_int_equal(writes_of(&scene, 0, 8, "job of b", &rows), 1);
    end(&scene);
}

/* A blocker's job is that of the request that took the lock. */
static void blockers_have_the_job_of_their_request(void **state)
{
    (void)state;
    struct session_scene scene;
    begin(&scene);
    connect_client(&scene, 0, 7, 1000, "a");
    connect_client(&scene, 1, 8, 1000, "b");
    run(&scene, SECOND_NS);
    define_caller(&scene, 0, 1, 3, "line\nend");
    struct wio_store_request first = write_to(7, 2, WIO_STORE_FLAG_BEGIN);
    struct wio_store_request second = write_to(8, 1, WIO_STORE_FLAG_SINGLE | WIO_STORE_FLAG_REJECT);
    assert_true(wio_targets_send(scene.clients[0].targets, 0, &first));
    run(&scene, SECOND_NS);
    assert_true(wio_targets_send(scene.clients[1].targets, 0, &second));
    run(&scene, SECOND_NS);
    assert_int_equal(scene.clients[1].last.result, WIO_STORE_REFUSED);
    assert_string_equal(scene.clients[1].job, "\"line\\x0Aend\"");
    end(&scene);
}

/* By user 0 and the user of the server only. */
static void statistics_are_dropped_by_their_owner(void **state)
{
    (void)state;
    struct session_scene scene;
    unsigned rows = 0;
    begin(&scene);
    connect_client(&scene, 0, 7, 1000, "a");
    connect_client(&scene, 1, 8, 0, "b");
    run(&scene, SECOND_NS);
    struct wio_store_request request = write_to(7, 1, WIO_STORE_FLAG_SINGLE);
    assert_true(wio_targets_send(scene.clients[0].targets, 0, &request));
    run(&scene, SECOND_NS);
    struct wio_store_request clear = {.op = WIO_STORE_JOB_CLEAR,
                                      .number = 2,
                                      .mode = WIO_STORE_JOB_CLEAR_ONE,
                                      .path = "job of a",
                                      .path_size = 8};
    assert_true(wio_targets_send(scene.clients[0].targets, 0, &clear));
    run(&scene, SECOND_NS);
    assert_int_equal(scene.clients[0].last.result, WIO_STORE_DENIED);
    assert_int_equal(writes_of(&scene, 0, 3, "job of a", &rows), 1);
    assert_true(wio_targets_send(scene.clients[1].targets, 0, &clear));
    run(&scene, SECOND_NS);
    assert_int_equal(scene.clients[1].last.result, WIO_STORE_OK);
    assert_int_equal(scene.clients[1].last.size, 1);
    assert_int_equal(writes_of(&scene, 0, 4, "job of a", &rows), 0);
    assert_int_equal(rows, 0);
    end(&scene);
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
        cmocka_unit_test(requests_count_for_their_jobs),
        cmocka_unit_test(blockers_have_the_job_of_their_request),
        cmocka_unit_test(statistics_are_dropped_by_their_owner),
    };
    return WIO_RUN(tests);
}
