/* SPDX-License-Identifier: Apache-2.0 */
/* The state of a what-if: clients, servers, what is still to happen. Private to the folder. */
#ifndef WIO_EXPLAIN_WHATIF_WHATIF_WORLD_H
#define WIO_EXPLAIN_WHATIF_WHATIF_WORLD_H

#include "explain/whatif/whatif.h"
#include "explain/whatif/whatif_costs.h"
#include "explain/whatif/whatif_events.h"
#include "explain/whatif/whatif_plan.h"
#include "lock/lock.h"

#define WIO_WHATIF_NOTHING UINT32_MAX

/* A client, which has one transaction at a time. */
struct wio_whatif_runner {
    uint32_t txn; /* WIO_WHATIF_NOTHING: it has no further one */
    uint32_t attempt;
    uint32_t epoch;
    uint32_t next; /* piece to send */
    uint32_t outstanding;
    uint64_t birth_ns;
    bool is_ending;  /* it was refused or wounded, and its servers do not know yet .. */
    bool is_wounded; /* .. it was wounded */
    struct wio_whatif_plan plan;
    struct wio_lock_owner **owners; /* by server */
};

/* A request that has come to a server, and that it has not read yet. */
struct wio_whatif_arrival {
    uint32_t client;
    uint32_t epoch;
    uint32_t piece;
};

struct wio_whatif_server {
    struct wio_locks *locks;
    struct wio_whatif_arrival *arrivals; /* in the order of their coming, from `first` */
    uint32_t first;
    uint32_t arrival_count;
    uint32_t arrival_capacity;
    bool is_taking; /* it works on one */
    uint64_t busy_until_ns;
    uint64_t tick_ns; /* a TIME_OUT is scheduled; UINT64_MAX: none */
    bool is_stirred;  /* events of its locks are to be read */
};

struct wio_whatif_world {
    const struct wio_replays *replays;
    const struct wio_whatif_change *change;
    wio_whatif_file_fn *file_of;
    void *arg;
    struct wio_whatif_runner *runners;
    struct wio_whatif_server *servers;
    uint32_t server_count;
    const struct wio_whatif_costs *costs;
    struct wio_whatif_events events;
    uint64_t now_ns;
    uint64_t last_end_ns;
    struct wio_whatif_result result;
};

/* An event of a client, `after_ns` from now. Fails with WIO_ERR_NOMEM, as all below. */
WIO_MUST_CHECK enum wio_status wio_whatif_later(struct wio_whatif_world *world,
                                                struct wio_whatif_runner *runner,
                                                enum wio_whatif_moment moment, uint64_t after_ns,
                                                uint32_t piece);
/* An event of a server. */
WIO_MUST_CHECK enum wio_status wio_whatif_at_server(struct wio_whatif_world *world, uint32_t server,
                                                    enum wio_whatif_moment moment, uint64_t ns);
/* The locks of a client's attempt at all servers. */
void wio_whatif_release(struct wio_whatif_world *world, struct wio_whatif_runner *runner);
/* A refusal or wound is on its way: the attempt keeps its locks until the answer to it has come,
 * and commits if that is faster. */
WIO_MUST_CHECK enum wio_status wio_whatif_end_attempt(struct wio_whatif_world *world,
                                                      struct wio_whatif_runner *runner,
                                                      bool is_wounded);

/* ---- whatif_server.c ---- */

/* A request comes to its server, which reads one after the other. */
WIO_MUST_CHECK enum wio_status wio_whatif_send(struct wio_whatif_world *world,
                                               struct wio_whatif_runner *runner, uint32_t piece);
/* What the lock managers have to say: an abort at one server frees locks at others. */
WIO_MUST_CHECK enum wio_status wio_whatif_settle(struct wio_whatif_world *world);
/* TIME_OUT, FREE. */
WIO_MUST_CHECK enum wio_status wio_whatif_at_its_time(struct wio_whatif_world *world,
                                                      const struct wio_whatif_event *event);
/* TAKEN: the request was read; its attempt may be over by now. */
WIO_MUST_CHECK enum wio_status wio_whatif_taken(struct wio_whatif_world *world,
                                                const struct wio_whatif_event *event);

#endif
