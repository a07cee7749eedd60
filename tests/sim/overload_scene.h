/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A target that needs a fixed time of its loop for each operation, and clients that want more of it
 * than it has: real servers, sessions and protocol, in virtual time. One operation is a write by
 * itself of the client's own bytes; each client has so many under way, and begins the next one when
 * one has ended (closed loop).
 */
#ifndef WIO_TESTS_SIM_OVERLOAD_SCENE_H
#define WIO_TESTS_SIM_OVERLOAD_SCENE_H

#include "sim/sim.h"
#include "store/session/session.h"
#include "store/session/target.h"
#include "support/store/memory_backing.h"

enum { OVERLOAD_CLIENTS = 256, OVERLOAD_ACTORS = 64, OVERLOAD_LATENCIES = 1 << 16 };

#define OVERLOAD_SERVICE_NS UINT64_C(100000)

struct overload;

struct overload_actor {
    struct overload_client *client;
    unsigned index;
    uint64_t began_ns;
    bool is_under_way;
};

struct overload_client {
    struct overload *scene;
    struct wio_io *io;
    struct wio_session *session;
    unsigned index;
    unsigned actors_count;
    uint64_t file; /* and 1 more: each has its own */
    uint64_t in_time;
    uint64_t late;
    uint64_t overloaded; /* EBUSY */
    uint64_t failed;     /* any other end */
    uint64_t longest_ns;
    struct overload_actor actors[OVERLOAD_ACTORS];
};

struct overload {
    struct wio_sim *sim;
    struct wio_io *io; /* of the target */
    struct memory_backing memory;
    struct wio_link_config old_link;
    struct wio_link_config link; /* of what knows admission */
    struct wio_admit_settings settings;
    struct wio_admit_total *total; /* NULL: a target of before */
    struct wio_target *target;
    uint64_t deadline_ns; /* of an operation */
    unsigned clients_count;
    bool is_ending;
    struct overload_client clients[OVERLOAD_CLIENTS];
};

void overload_begin(struct overload *scene, enum wio_admit_kind kind);
/* The same with a target that knows no admission. */
void overload_begin_old(struct overload *scene);
/* `job` "": none, and uid counts. */
struct overload_client *overload_add(struct overload *scene, const char *job, uint32_t uid,
                                     unsigned actors, bool is_old);
void overload_run(struct overload *scene, uint64_t ns);
/* The target's process ends (kill -9) and comes back. */
void overload_restart(struct overload *scene);
void overload_end(struct overload *scene);

/* What was done in time, as a share of what the target could do in so long. */
double overload_goodput(const struct overload *scene, uint64_t ns);
/* Jain's index of what clients [from, to) have got. */
double overload_fairness(const struct overload *scene, unsigned from, unsigned to);
/* Refusals that clients have heard for each operation that was done. */
double overload_refusals(const struct overload *scene);
void overload_print(const struct overload *scene, const char *name, uint64_t ns);
/* Sums of all clients are 0 from now on. */
void overload_forget(struct overload *scene);

#endif
