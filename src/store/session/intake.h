/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Admission at a server, a target or the catalogue: between connections and its logic. Requests
 * come in; each is served at once, later from a queue, or refused, as src/admit decides.
 *
 * The worker is the loop. A server that is not behind serves a request within the call that brings
 * it, and copies nothing. One that has been busy for longer than WIO_INTAKE_BUSY_NS goes on
 * reading, keeps copies of what it accepts, and serves them from a timer, in slices, in the order
 * of the policy. So what waits is in one queue, and not in the buffers of sockets.
 *
 * A request is done for admission when the server's logic returns. One that waits for a lock or
 * for the log then holds no place (docs/adr/0025): admission never waits for a lock, and what
 * ends transactions is not refused.
 *
 * One thread: the loop's. The caller gives the time.
 */
#ifndef WIO_STORE_SESSION_INTAKE_H
#define WIO_STORE_SESSION_INTAKE_H

#include <sys/queue.h>

#include "admit/admit.h"
#include "store/link/link.h"
#include "store/messages.h"

/* Features of messages to servers, beside WIO_GRANT_FEATURE in bit 0 .. */
#define WIO_INTAKE_CLASS 1
#define WIO_INTAKE_SHIFT 1 /* .. those of admit/negotiate.h, from this bit on */
/* .. and of unasked messages. */
#define WIO_INTAKE_PUSH_CLASS 3
#define WIO_INTAKE_PUSH_FEATURE 1u

/* Busy without a pause for so long, a server is behind. */
#define WIO_INTAKE_BUSY_NS UINT64_C(200000)

struct wio_intake;
struct wio_intake_waiting;

TAILQ_HEAD(wio_intake_queue, wio_intake_waiting);

/* A transaction that was refused at its begin here. */
struct wio_intake_refused {
    uint64_t number;
    uint32_t attempt;
};

enum { WIO_INTAKE_REFUSED = 64 };

/* A connection. The caller's storage, zeroed; it stays where it is until wio_intake_leave. */
struct wio_intake_client {
    void *user; /* of the caller, given back to the functions of struct wio_intake_ops */
    struct wio_link *link;
    struct wio_intake_queue waiting;
    uint32_t number; /* of wio_admit_join; WIO_ADMIT_NONE: it could not join, or is a target */
    uint32_t features;
    uint64_t pool;
    uint64_t container;
    uint32_t uid;
    uint32_t gid;
    uint32_t job; /* wio_intake_job */
    uint32_t project;
    bool is_there;
    uint64_t held_until_ns; /* nothing is read of it; 0: it is */
    uint32_t refused_count;
    struct wio_intake_refused refused[WIO_INTAKE_REFUSED];
};

/* No function may call the admission but for wio_intake_tell. */
struct wio_intake_ops {
    /* Serve it; the request is lent. */
    void (*serve)(void *context, void *user, const struct wio_store_request *request);
    /* It is not served: WIO_STORE_BUSY, again after retry_ns. `told` NULL: an old peer. */
    void (*refuse)(void *context, void *user, const struct wio_store_request *request,
                   const struct wio_store_told *told, uint64_t retry_ns);
    /* The window of a client that waits for it. */
    void (*grant)(void *context, void *user, uint16_t window);
    /* Class of free space now, wio_admit_space_class. NULL: always 0. */
    uint8_t (*space)(void *context);
};

/* The reply to a request that is refused (struct wio_intake_ops): with all its times now. */
struct wio_store_reply wio_intake_busy(const struct wio_store_request *request,
                                       const struct wio_store_told *told, uint64_t retry_ns,
                                       uint64_t now_ns);
/* What an operation (enum wio_store_op) is in rules and speeds: below WIO_SPEED_OPS. */
uint16_t wio_intake_operation(uint16_t op);
/* Features that a server offers. */
void wio_intake_offer(struct wio_wire_features *features);
/* What both sides have, as src/admit knows it: for either side of a link. */
uint32_t wio_intake_features(const struct wio_link *link);
/* The number of a job in requests and rules: the same in all processes of a store. 0: no name. */
uint32_t wio_intake_job(const char *name);

/* A shard of `total`, which is borrowed. The caller owns it. WIO_ERR_NOMEM. */
WIO_MUST_CHECK enum wio_status wio_intake_create(struct wio_io *io, struct wio_admit_total *total,
                                                 const struct wio_intake_ops *ops, void *context,
                                                 struct wio_intake **intake_out,
                                                 struct wio_error *err);
/* What waits is dropped; clients must have left. NULL is allowed. */
void wio_intake_destroy(struct wio_intake *intake);

/* A connection begins, and ends: what waits of it is not served. */
void wio_intake_join(struct wio_intake *intake, struct wio_intake_client *client,
                     struct wio_link *link, void *user, uint64_t now_ns);
void wio_intake_leave(struct wio_intake *intake, struct wio_intake_client *client);

/* A request has come. True: it was served within the call. False: it waits, or was refused. */
bool wio_intake_request(struct wio_intake *intake, struct wio_intake_client *client,
                        const struct wio_store_request *request, uint64_t now_ns);

/* What the reply with this number to the client carries. False: nothing, to an old peer. */
bool wio_intake_tell(struct wio_intake *intake, struct wio_intake_client *client, uint64_t number,
                     uint64_t now_ns, struct wio_store_told *told_out);

/* As wio_admit_set_kind. */
WIO_MUST_CHECK enum wio_status wio_intake_set_kind(struct wio_intake *intake,
                                                   enum wio_admit_kind kind);

/* For metrics and tests. Borrowed. */
struct wio_admit *wio_intake_shard(struct wio_intake *intake);
/* The job of this number, as it was called; NULL: unknown. Borrowed. */
const char *wio_intake_job_name(const struct wio_intake *intake, uint32_t job);

#endif
