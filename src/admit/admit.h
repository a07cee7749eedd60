/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Admission control of a server: which request enters, in which order requests run, and when a
 * refused one is to come back.
 *
 * A shard is the admission of one event loop; the shards of a process share one
 * struct wio_admit_total. A server calls, in this order:
 *
 *     wio_admit_arrive(shard, &request, now_ns, &reply)     a request was read from a connection
 *     wio_admit_next(shard, now_ns, &work)                  a worker is free
 *     wio_admit_done(shard, work.handle, &served, &reply)   the worker has finished
 *     wio_admit_push(shard, now_ns, &push)                  until false, after each of the others
 *     wio_admit_wake_ns(shard)                              before the loop sleeps
 *
 * Pure: no system call, no clock, no thread. Time is an argument in nanoseconds of any steady
 * clock, the same for all calls on one shard; a step backwards counts as no time. Memory comes from
 * the caller's struct wio_alloc when a shard is created, when a client joins and when a tenant is
 * seen for the first time; never in wio_admit_next and wio_admit_done. A shard belongs to one
 * thread; a total may be used by shards of several threads at once.
 *
 * Sources: "RPC rejection" of DAOS (docs/ADMISSION.md lists it sentence by sentence); Cho et al.,
 * "Overload Control for us-scale RPCs with Breakwater", OSDI 2020, section 4; Shreedhar and
 * Varghese, "Efficient Fair Queueing using Deficit Round Robin", SIGCOMM 1995; Choudhury and Hahne,
 * "Dynamic Queue Length Thresholds for Shared-Memory Packet Switches", 1998.
 */
#ifndef WIO_ADMIT_ADMIT_H
#define WIO_ADMIT_ADMIT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <whyio/status.h>

#include "admit/counts.h"
#include "admit/rules.h"
#include "admit/ticket.h"
#include "base/alloc.h"

/* Operations that a shard tells apart; larger numbers count as the last. */
#define WIO_ADMIT_OPS 32
/* Classes of free space: >= 20 %, >= 10 %, >= 5 %, less. */
#define WIO_ADMIT_SPACES 4
/* No client; also an invalid handle. */
#define WIO_ADMIT_NONE UINT32_MAX
/* The most requests of one client in flight, by any policy that grants windows. */
#define WIO_ADMIT_WINDOW_MAX 64
/* No event is due. */
#define WIO_ADMIT_NEVER UINT64_MAX

enum wio_admit_kind {
    WIO_ADMIT_FIFO,      /* in order of arrival, refused only where the queue is full */
    WIO_ADMIT_HINT,      /* the scheme of the source document, smallest id first */
    WIO_ADMIT_HINT_HEAP, /* its alternative: priorities that grow with each retry */
    WIO_ADMIT_CREDIT,    /* credits, fair queues, deadlines; the default */
    WIO_ADMIT_DRR,       /* fair queues and deadlines without credits */
    WIO_ADMIT_TBF,       /* token buckets by rules */
    WIO_ADMIT_MCLOCK,    /* reservations, limits and weights by rules */
    WIO_ADMIT_KIND_COUNT
};

/* What one share of the queue belongs to. */
enum wio_admit_tenant_by {
    WIO_ADMIT_BY_POOL,
    WIO_ADMIT_BY_JOB,
    WIO_ADMIT_BY_UID,
    WIO_ADMIT_BY_CLIENT,
    WIO_ADMIT_BY_COUNT
};

/* Whether requests that expired in the queue are run all the same. */
enum wio_admit_expired {
    WIO_ADMIT_EXPIRED_AS_POLICY, /* fifo, hint and hint-heap run them, the others do not */
    WIO_ADMIT_EXPIRED_RUN,
    WIO_ADMIT_EXPIRED_DROP
};

/* Bits of `flags` of a request. */
#define WIO_ADMIT_REJECT 1u /* the sender knows busy replies with a hint (CRT_RPC_FLAG_REJECT) */
#define WIO_ADMIT_MUST 2u   /* a commit or abort that releases locks, membership, recovery */
/* Of a transaction that holds locks already: in turn as all others, and refused only where memory
 * or the queue are full, since what waits for the locks would wait longer. */
#define WIO_ADMIT_HOLDS 4u

/*
 * How a total and its shards behave. Fill by wio_admit_settings_default, then change members.
 * Times are nanoseconds, sizes bytes.
 */
struct wio_admit_settings {
    size_t struct_size; /* sizeof(struct wio_admit_settings) of the caller */
    enum wio_admit_kind kind;
    enum wio_admit_tenant_by tenant_by;
    enum wio_admit_expired expired;
    uint32_t shards;        /* of the process, at least 1 */
    uint32_t workers;       /* requests that one shard can serve at once, at least 1 */
    uint64_t memory_bytes;  /* of one shard: the cap that is never passed */
    uint64_t reserve_bytes; /* part of it that only WIO_ADMIT_MUST requests may use */
    uint32_t context_bytes; /* a request in flight; the source document says 16 KiB */
    uint32_t waiting_bytes; /* a request in the queue, beside its own `held_bytes` */
    uint32_t queue_total;   /* requests waiting in all shards; 0: by memory */
    uint32_t queue_pool;    /* requests waiting of one pool in one shard; 0: as queue_total */
    uint32_t in_flight_max; /* of one shard; 0: by memory */
    uint32_t tenants_max;   /* told apart at the same time; others share one */
    uint32_t clients_max;   /* joined at the same time */
    uint64_t timeout_ns;    /* of a request that says none */
    uint64_t cost_first_ns; /* of an operation that was never measured */
    /* hint, hint-heap: 0, or a constant that stands for the measured speed (what was shipped) */
    uint64_t constant_cost_ns;
    uint32_t retry_weight; /* hint-heap: what one retry adds to the priority */
    /* credit */
    uint64_t target_min_ns; /* wait in the queue that is aimed at: 10 services, at least this */
    uint64_t target_max_ns; /* ... and at most this */
    double increase;        /* of the total of credits, x clients, per step; Breakwater: 0.001 */
    double decrease;        /* of it, x relative excess of the wait; Breakwater: 0.02 */
    uint32_t turn;          /* requests of one client before others that wait have their turn; fewer
                             * where they take more than 1.6 ms together */
    uint64_t quantum_ns;    /* credit, drr: least measured cost per round and tenant of weight 1 */
    uint8_t key[WIO_TICKET_KEY_BYTES]; /* of the tickets: random, other after each start */
    uint32_t incarnation;              /* of the server: other after each start */
};

/* Attributes of a request. Numbers stand for names: the caller interns job ids and paths. */
struct wio_admit_request {
    uint64_t cookie; /* the caller's own, given back by wio_admit_next */
    uint64_t number; /* the client's number of the request: the same in each retry */
    uint64_t pool[2];
    uint64_t container[2];
    uint32_t client; /* of wio_admit_join */
    uint32_t uid;
    uint32_t gid;
    uint32_t project;
    uint32_t job;
    uint16_t operation;
    uint16_t demand; /* requests that wait in the client beside this one */
    uint32_t flags;
    uint64_t bytes;        /* that it reads or writes */
    uint64_t held_bytes;   /* memory that it occupies while it waits, beside waiting_bytes */
    uint64_t remaining_ns; /* until its deadline, relative; 0: settings.timeout_ns */
    uint64_t demand_ns; /* the same of the last of those that wait in the client; 0: as its own */
    struct wio_ticket ticket; /* of its last refusal; zero: none */
};

/* A client as it is known from the handshake of its connection. */
struct wio_admit_identity {
    uint64_t address;  /* a number of its address: tells clients apart in tickets */
    uint32_t features; /* WIO_ADMIT_FEATURE_.. (negotiate.h) that both sides have */
};

enum wio_admit_answer {
    WIO_ADMIT_ACCEPTED, /* of arrive: it waits. Of done: the result is sent */
    WIO_ADMIT_BUSY,     /* refused; to come back as the hint says */
    WIO_ADMIT_TIMED_OUT /* refused, or expired; to a peer that knows no busy reply: no hint */
};

/*
 * What a reply carries for the client's own control, and the server's: refusing takes time too, so
 * of a client that goes on sending beyond its window nothing is read for a while.
 */
struct wio_admit_reply {
    enum wio_admit_answer answer;
    enum wio_admit_reason reason;
    uint16_t hint;     /* milliseconds; 0: none */
    uint16_t window;   /* requests that the client may have in flight */
    bool has_window;   /* false: the client paces itself */
    uint32_t queued;   /* requests that wait in the shard */
    uint64_t wait_ns;  /* predicted for the request when it came */
    uint64_t pause_ns; /* not to be sent: the server reads nothing of this client for so long */
    struct wio_ticket ticket; /* for the retry; zero: none */
};

struct wio_admit_work {
    uint64_t handle; /* for wio_admit_done */
    uint64_t cookie;
    bool is_expired; /* not to be run: reply WIO_ADMIT_TIMED_OUT; wio_admit_done all the same */
    uint64_t waited_ns;
};

/* What a worker did. */
struct wio_admit_served {
    uint64_t now_ns;
    uint64_t service_ns; /* time of the worker for it; ignored where it was expired */
    uint8_t space;       /* class of free space, wio_admit_space_class */
    bool is_cancelled;   /* not performed: the connection is gone; not measured */
};

/* A window that is granted without a request to answer. */
struct wio_admit_grant {
    uint32_t client;
    uint16_t window;
};

struct wio_admit_total;
struct wio_admit;

/* "fifo", "hint", "hint-heap", "credit", "drr", "tbf", "mclock", and back: WIO_ADMIT_KIND_COUNT for
 * another name. Thread safe, as all functions without a shard. */
const char *wio_admit_kind_name(enum wio_admit_kind kind);
enum wio_admit_kind wio_admit_kind_find(const char *name);
/* "pool", "job", "uid", "client", and back: WIO_ADMIT_BY_COUNT for another name. */
const char *wio_admit_tenant_name(enum wio_admit_tenant_by by);
enum wio_admit_tenant_by wio_admit_tenant_find(const char *name);

/* One shard with 64 MiB, policy credit, tenants by job. `key` and `incarnation` are 0. */
struct wio_admit_settings wio_admit_settings_default(void);

/* WIO_ERR_USAGE with the name of the first member that is out of bounds or contradicts another. */
WIO_MUST_CHECK enum wio_status wio_admit_settings_check(const struct wio_admit_settings *settings,
                                                        struct wio_error *err);

/* Kinds of log, for the memory that recovery and checkpoints need. */
enum wio_admit_log { WIO_ADMIT_LOG_OWN, WIO_ADMIT_LOG_SQLITE, WIO_ADMIT_LOG_MEMORY };

/*
 * Bytes to reserve for what must not be refused, with a log of `log_bytes` and at most
 * `transactions` open at a time: a context for the end of each, and of the log: the own one an
 * index entry of 64 bytes per block of 4 KiB; SQLite's its cache of 2 MiB and 8 bytes per page of
 * the write-ahead log; one in memory nothing.
 */
uint64_t wio_admit_reserve_bytes(enum wio_admit_log log, uint64_t log_bytes, uint32_t transactions,
                                 uint32_t context_bytes);

/* Class of free space of a data directory and its log: the smaller share decides. 0 where
 * `*_total` are 0. */
uint8_t wio_admit_space_class(uint64_t data_free, uint64_t data_total, uint64_t log_free,
                              uint64_t log_total);

/*
 * What the shards of one process share: limits, the length of all queues, token buckets.
 * WIO_ERR_USAGE by the settings, which are copied; WIO_ERR_NOMEM. The context of `alloc` must
 * outlive it. Destroy after the shards; NULL is allowed.
 */
WIO_MUST_CHECK enum wio_status wio_admit_total_create(const struct wio_admit_settings *settings,
                                                      const struct wio_alloc *alloc,
                                                      struct wio_admit_total **total_out,
                                                      struct wio_error *err);
void wio_admit_total_destroy(struct wio_admit_total *total);

/* One shard. Borrows `total`. Destroying drops what waits; cookies are the caller's business. */
WIO_MUST_CHECK enum wio_status wio_admit_create(struct wio_admit_total *total,
                                                const struct wio_alloc *alloc,
                                                struct wio_admit **shard_out,
                                                struct wio_error *err);
void wio_admit_destroy(struct wio_admit *shard);

/* Change the policy in the running shard: what waits goes to the new one in the order of the old.
 * The old policy stays where there is no memory for the new one. */
WIO_MUST_CHECK enum wio_status wio_admit_set_kind(struct wio_admit *shard, enum wio_admit_kind kind,
                                                  uint64_t now_ns);
enum wio_admit_kind wio_admit_get_kind(const struct wio_admit *shard);
/* The policy may keep a request waiting although nothing else waits: it has rules. */
bool wio_admit_holds_back(const struct wio_admit *shard);

/* Share of a tenant beside others, 1 to 1000; 1 at first. The key as settings.tenant_by says: the
 * pool; or job, uid, client in key[0] and 0; a request without a job is its user's: 0 and uid + 1.
 */
WIO_MUST_CHECK enum wio_status wio_admit_set_weight(struct wio_admit *shard, const uint64_t key[2],
                                                    uint32_t weight);

/*
 * The rules of policy tbf, for all shards of the total: copied; a rule that keeps its id keeps the
 * state of its buckets. WIO_ERR_USAGE: too many, rates that are no numbers, an id twice. To be
 * called by one thread at a time, while no shard is inside another call.
 */
WIO_MUST_CHECK enum wio_status wio_admit_set_rules(struct wio_admit_total *total,
                                                   const struct wio_rule *rules, uint32_t count,
                                                   struct wio_error *err);

/*
 * A client connects: a number for its requests in *client_out. WIO_ERR_BUSY where clients_max have
 * joined. It leaves with its connection: its requests that wait are to be cancelled by the caller
 * (served.is_cancelled) when they come out of wio_admit_next; the number is used again after the
 * last of them is done.
 */
WIO_MUST_CHECK enum wio_status wio_admit_join(struct wio_admit *shard,
                                              const struct wio_admit_identity *identity,
                                              uint64_t now_ns, uint32_t *client_out);
void wio_admit_leave(struct wio_admit *shard, uint32_t client);

/* Would this request be accepted now? Changes nothing. */
enum wio_admit_reason wio_admit_judge(const struct wio_admit *shard,
                                      const struct wio_admit_request *request, uint64_t now_ns);

/*
 * A request has arrived. true: it waits, and comes out of wio_admit_next later. false: it was
 * refused, *reply_out is to be sent. Never fails otherwise: where memory ends it is a refusal.
 */
bool wio_admit_arrive(struct wio_admit *shard, const struct wio_admit_request *request,
                      uint64_t now_ns, struct wio_admit_reply *reply_out);

/*
 * Arrive, next and done in one, for a request of a known client that a shard has room for at once
 * and whatever the policy: nothing waits or runs there and no client waits for a window. It is
 * counted, but neither measured nor charged. false: nothing has happened, the three calls are to be
 * made. To be used for most requests of an idle server, and not for all: else it knows no speed.
 */
bool wio_admit_pass(struct wio_admit *shard, uint32_t client, uint64_t bytes, bool is_must);

/* The request to run next, or false: none may run now. Each has to be ended by wio_admit_done. */
bool wio_admit_next(struct wio_admit *shard, uint64_t now_ns, struct wio_admit_work *work_out);

/* A request of wio_admit_next has ended; *reply_out goes into its reply. WIO_ERR_USAGE for a
 * handle that is not running. */
WIO_MUST_CHECK enum wio_status wio_admit_done(struct wio_admit *shard, uint64_t handle,
                                              const struct wio_admit_served *served,
                                              struct wio_admit_reply *reply_out);

/* The window that a client was told last, for replies that come after wio_admit_done; false: it has
 * none, it paces itself. */
bool wio_admit_window(const struct wio_admit *shard, uint32_t client, uint16_t *window_out);

/* The next window to be sent to a client that waits for it; false: none is due. */
bool wio_admit_push(struct wio_admit *shard, uint64_t now_ns, struct wio_admit_grant *grant_out);

/* When wio_admit_next or wio_admit_push may give something although nothing else has happened;
 * WIO_ADMIT_NEVER: not before another call. */
uint64_t wio_admit_wake_ns(const struct wio_admit *shard);

/*
 * Book the end of a transaction: as many WIO_ADMIT_MUST requests as there are bookings find room at
 * any time. false: the reserve is spent, the transaction is not to begin. Given back by unbook
 * after the end was served.
 */
bool wio_admit_book(struct wio_admit *shard);
void wio_admit_unbook(struct wio_admit *shard);

/* State of a shard beside what it has counted. */
struct wio_admit_gauges {
    uint32_t queued;
    uint32_t in_flight;
    uint32_t in_flight_limit;
    uint32_t queue_limit; /* of all shards */
    uint32_t clients;
    uint32_t tenants;
    uint32_t booked;
    uint64_t memory_bytes; /* in use by requests */
    uint64_t memory_limit;
    uint64_t reserve_bytes;
    uint64_t wait_ns;   /* predicted for a request that comes now */
    uint64_t target_ns; /* of policy credit */
    double drain;       /* estimated cost that is served in a nanosecond */
    double credits;     /* total of policy credit */
    double committed;   /* requests in the shard and credits that are out */
};
void wio_admit_gauges(const struct wio_admit *shard, struct wio_admit_gauges *gauges_out);

/* Counts of the shard since it was created: borrowed, valid until the next call on it. */
const struct wio_admit_counts *wio_admit_counts(const struct wio_admit *shard);

/* Counts of one tenant: *i = 0 at first, false at the end. Tenant 0 is what was not told apart. A
 * tenant that was idle may have made room for another; its counts are in the shard's then. */
struct wio_admit_tenant_counts {
    uint64_t key[2];
    uint32_t weight;
    uint32_t queued;
    const struct wio_admit_counts *counts; /* borrowed until the next call on the shard */
};
bool wio_admit_each_tenant(const struct wio_admit *shard, uint32_t *i,
                           struct wio_admit_tenant_counts *tenant_out);

/* Estimated service time of an operation of this size in a class of free space. */
uint64_t wio_admit_cost_ns(const struct wio_admit *shard, uint16_t operation, uint64_t bytes,
                           uint8_t space);

#endif
