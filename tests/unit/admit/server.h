/* SPDX-License-Identifier: Apache-2.0 */
/* A shard for tests: made, asked, served. */
#ifndef WIO_TESTS_UNIT_ADMIT_SERVER_H
#define WIO_TESTS_UNIT_ADMIT_SERVER_H

#include "support/unit.h"

#include "admit/admit.h"
#include "admit/negotiate.h"

struct server {
    struct wio_admit_settings settings;
    struct wio_admit_total *total;
    struct wio_admit *shard;
    struct wio_admit_reply reply; /* the last */
    uint64_t now_ns;
};

static inline void server_start(struct server *server)
{
    struct wio_error err = WIO_ERROR_INIT;
    assert_ok(wio_admit_total_create(&server->settings, &WIO_ALLOC_HEAP, &server->total, &err),
              &err);
    assert_ok(wio_admit_create(server->total, &WIO_ALLOC_HEAP, &server->shard, &err), &err);
    server->now_ns = 1000000000;
}

static inline void server_stop(struct server *server)
{
    wio_admit_destroy(server->shard);
    wio_admit_total_destroy(server->total);
}

static inline uint32_t server_join(struct server *server, uint64_t address, uint32_t features)
{
    struct wio_admit_identity identity = {.address = address, .features = features};
    uint32_t client = 0;
    assert_int_equal(wio_admit_join(server->shard, &identity, server->now_ns, &client), WIO_OK);
    return client;
}

/* A request of 4 KiB with a number that is its cookie. */
static inline struct wio_admit_request server_request(uint32_t client, uint64_t number)
{
    return (struct wio_admit_request){.cookie = number,
                                      .number = number,
                                      .client = client,
                                      .job = 1,
                                      .operation = 1,
                                      .flags = WIO_ADMIT_REJECT,
                                      .bytes = 4096};
}

static inline bool server_ask(struct server *server, const struct wio_admit_request *request)
{
    return wio_admit_arrive(server->shard, request, server->now_ns, &server->reply);
}

/* Serves the next for `service_ns`: its cookie, or UINT64_MAX. */
static inline uint64_t server_serve(struct server *server, uint64_t service_ns)
{
    struct wio_admit_work work;
    if (!wio_admit_next(server->shard, server->now_ns, &work)) {
        return UINT64_MAX;
    }
    server->now_ns += work.is_expired ? 0 : service_ns;
    struct wio_admit_served served = {.now_ns = server->now_ns, .service_ns = service_ns};
    assert_int_equal(wio_admit_done(server->shard, work.handle, &served, &server->reply), WIO_OK);
    return work.cookie;
}

#endif
