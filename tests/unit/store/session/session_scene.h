/* SPDX-License-Identifier: Apache-2.0 */
/* A target's process and clients' connections to it, in a simulation without faults. */
#ifndef WIO_TESTS_SESSION_SCENE_H
#define WIO_TESTS_SESSION_SCENE_H

#include "support/unit.h"

#include <stdio.h>
#include <string.h>

#include "sim/sim.h"
#include "store/session/grants.h"
#include "store/session/target.h"
#include "store/session/targets.h"
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

static inline void back(void *context, uint16_t target, bool is_known)
{
    struct session_client *client = context;
    (void)target;
    client->known += is_known;
    client->backs++;
}

static inline void reply(void *context, uint16_t target, const struct wio_store_reply *reply)
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

static inline void push(void *context, uint16_t target, const struct wio_store_push *push)
{
    struct session_client *client = context;
    (void)target;
    client->wound = *push;
    client->wounds++;
}

static inline void lost(void *context, uint16_t target, enum wio_link_end why)
{
    struct session_client *client = context;
    (void)target;
    (void)why;
    client->lost++;
}

static inline void job(void *context, uint16_t target, const struct wio_wire_job *job)
{
    struct session_client *client = context;
    (void)target;
    snprintf(client->job, sizeof(client->job), "%s", job->name);
    client->named_before_reply++;
}

static inline void source(void *context, uint16_t target, const struct wio_store_request *define)
{
    struct session_client *client = context;
    (void)target;
    snprintf(client->source, sizeof(client->source), "%.*s", (int)define->path_size, define->path);
}

static const struct wio_targets_events client_events = {back, reply, push, lost, job, source};

static inline void connect_client(struct session_scene *scene, unsigned i, uint64_t id,
                                  uint32_t uid, const char *name)
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

static inline void begin_with(struct session_scene *scene, const struct wio_link_key *servers_key)
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

static inline void begin(struct session_scene *scene)
{
    begin_with(scene, NULL);
}

static inline void end(struct session_scene *scene)
{
    for (unsigned i = 0; i < 3; i++) {
        wio_targets_destroy(scene->clients[i].targets);
    }
    wio_target_destroy(scene->target);
    memory_backing_fini(&scene->memory);
    wio_sim_destroy(scene->sim);
}

static inline void nothing(void *context)
{
    (void)context;
}

static inline void run(struct session_scene *scene, uint64_t ns)
{
    uint64_t until_ns = wio_sim_now_ns(scene->sim) + ns;
    wio_sim_later(scene->sim, ns, nothing, NULL);
    while (wio_sim_now_ns(scene->sim) < until_ns && wio_sim_run(scene->sim, 1)) {
    }
}

static inline struct wio_store_request write_to(uint64_t client, uint64_t number, uint16_t flags)
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

/* Clients 7 and 8 are connected, as "a" and "b". */
static inline void begin_with_two(struct session_scene *scene)
{
    begin(scene);
    connect_client(scene, 0, 7, 1000, "a");
    connect_client(scene, 1, 8, 1000, "b");
    run(scene, SECOND_NS);
}

/* The first client takes a lock by `first`, for which a write of the second one is refused. */
static inline void refuse_second(struct session_scene *scene, const struct wio_store_request *first)
{
    struct wio_store_request second = write_to(8, 1, WIO_STORE_FLAG_SINGLE | WIO_STORE_FLAG_REJECT);
    assert_true(wio_targets_send(scene->clients[0].targets, 0, first));
    run(scene, SECOND_NS);
    assert_true(wio_targets_send(scene->clients[1].targets, 0, &second));
    run(scene, SECOND_NS);
    assert_int_equal(scene->clients[1].last.result, WIO_STORE_REFUSED);
}

#endif
