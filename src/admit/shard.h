/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The state of a shard, and the table of functions that a policy is. The conductor (admit.c) knows
 * memory, deadlines, tickets and counts; a policy knows which request may wait and which is next.
 */
#ifndef WIO_ADMIT_SHARD_H
#define WIO_ADMIT_SHARD_H

#include "admit/admit.h"
#include "admit/clients.h"
#include "admit/entries.h"
#include "admit/speed.h"
#include "admit/tenants.h"
#include "admit/ticket.h"
#include "admit/total.h"

/* A request that is looked at: what was worked out of it. */
struct wio_arrival {
    const struct wio_admit_request *request;
    struct wio_admit_client *client; /* NULL: none that joined */
    uint64_t now_ns;
    uint64_t remaining_ns;
    uint64_t wait_ns;    /* predicted, of the whole queue */
    uint64_t held_bytes; /* that it would occupy while it waits */
    uint64_t id;         /* once it is accepted or refused */
    uint32_t tenant;
    uint32_t cost_ns;
    uint16_t operation;
    uint16_t retries; /* of a ticket that holds */
    uint8_t size_class;
    bool is_must;
    bool has_ticket; /* that holds */
};

struct wio_admit_policy {
    bool drops_expired;
    bool holds_back; /* it may keep a request waiting although nothing else waits */
    /* State of the policy, in shard->state. */
    enum wio_status (*open)(struct wio_admit *shard);
    void (*close)(struct wio_admit *shard);
    /* WIO_ADMIT_REASON_NONE: it may wait. */
    enum wio_admit_reason (*judge)(const struct wio_admit *shard,
                                   const struct wio_arrival *arrival);
    /* The entry waits from now on. WIO_ERR_NOMEM: it cannot. */
    enum wio_status (*push)(struct wio_admit *shard, uint32_t entry);
    /* The entry that is next, no longer waiting; WIO_NO_INDEX: none may run at `now_ns`. Forced:
     * whatever its time. */
    uint32_t (*pop)(struct wio_admit *shard, uint64_t now_ns, bool is_forced);
    /* When a refused request is to come back. */
    uint64_t (*hint_ns)(const struct wio_admit *shard, const struct wio_arrival *arrival,
                        enum wio_admit_reason reason);
    /* The rest may be NULL. When pop may give something. */
    uint64_t (*wake_ns)(const struct wio_admit *shard);
    /* After a request was accepted or refused; after one was done: the windows in the reply. */
    void (*arrived)(struct wio_admit *shard, const struct wio_arrival *arrival,
                    enum wio_admit_reason reason, struct wio_admit_reply *reply);
    void (*done)(struct wio_admit *shard, uint32_t client, uint64_t now_ns,
                 struct wio_admit_reply *reply);
    bool (*grant)(struct wio_admit *shard, uint64_t now_ns, struct wio_admit_grant *grant_out);
    void (*gauges)(const struct wio_admit *shard, struct wio_admit_gauges *gauges);
    /* A request of the tenant was estimated to take so long, and took so long. */
    void (*charge)(struct wio_admit *shard, struct wio_tenant *tenant, int64_t estimated_ns,
                   int64_t took_ns);
    /* A client leaves. */
    void (*left)(struct wio_admit *shard, uint32_t client);
};

struct wio_admit {
    struct wio_alloc alloc;
    struct wio_admit_total *total; /* borrowed, its settings too */
    const struct wio_admit_settings *settings;
    const struct wio_admit_policy *policy;
    void *state; /* of the policy */
    enum wio_admit_kind kind;
    uint32_t queued;    /* without those that must not be refused */
    uint32_t in_flight; /* the same */
    uint32_t booked;
    uint64_t queued_cost_ns;
    uint64_t memory_bytes;      /* of requests that may be refused */
    uint64_t memory_must_bytes; /* of those that must not */
    struct wio_entry_list must; /* run first */
    uint32_t must_queued;
    struct wio_admit_counts counts;
    struct wio_entries entries;
    struct wio_speed speed;
    struct wio_tenants tenants;
    struct wio_clients clients;
    struct wio_tickets tickets;
};

const struct wio_admit_policy *wio_admit_policy_of(enum wio_admit_kind kind);

extern const struct wio_admit_policy wio_policy_fifo;
extern const struct wio_admit_policy wio_policy_hint;
extern const struct wio_admit_policy wio_policy_hint_heap;
extern const struct wio_admit_policy wio_policy_credit;
extern const struct wio_admit_policy wio_policy_drr;
extern const struct wio_admit_policy wio_policy_tbf;
extern const struct wio_admit_policy wio_policy_mclock;

/* Predicted time in the queue of a request that comes now. */
static inline uint64_t wio_shard_wait_ns(const struct wio_admit *shard)
{
    return wio_speed_wait_ns(&shard->speed, shard->queued_cost_ns);
}

#endif
