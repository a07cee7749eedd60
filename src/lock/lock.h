/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The lock manager of one server: locks on exact byte ranges of segment files, held by
 * transactions to their end (strict two-phase locking). Pure: time is an argument, memory comes
 * from a struct wio_alloc, nothing is waited for. What happens to others by a call (a waiting
 * request is granted or refused, a transaction is to be wounded) is read with wio_locks_next.
 *
 *     struct wio_lock_answer answer;
 *     WIO_TRY(wio_locks_begin(locks, &txn, job, NULL, &owner));
 *     WIO_TRY(wio_locks_acquire(locks, owner, &request, now_ns, &answer));
 *     ... WIO_LOCK_WAITING: the request's tag comes with an event later
 *     wio_locks_release(locks, owner);
 *     while (wio_locks_next(locks, now_ns, &event)) { ... }
 *
 * What blocks a request: each lock of another transaction that overlaps and conflicts, and each
 * waiting request of an older one that does (so that no stream of young ones starves an old one).
 * A waiting request that waits for a lock of the requesting transaction itself does not: an
 * upgrade, for one, passes it. When locks go, the oldest waiting request is looked at first.
 *
 * Deadlock, by policy (Rosenkrantz, Stearns, Lewis: System level concurrency control for
 * distributed database systems, TODS 1978, for wound-wait and wait-die):
 *  - wound-wait: waits. Each younger holder in the way is wounded: an event, once per attempt. The
 *    lock manager aborts nothing; what was wounded ends when its coordinator releases it.
 *    One that is prepared is not wounded: it waits for no lock any more.
 *  - wait-die: waits while everything that blocks is younger, else it is refused. Since the oldest
 *    is granted first, the rule is evaluated again at every grant: a waiting request that a new,
 *    older holder blocks is refused then, as is one that only older waiting requests block.
 *  - no-wait: a request that is blocked is refused.
 *  - time-out: waits up to timeout_ns. A time-out may be set with the other policies, too.
 *
 * Not thread safe: a manager belongs to one event loop. No call allocates except create, begin,
 * acquire and unlock; those change nothing where memory runs out (WIO_ERR_NOMEM).
 */
#ifndef WIO_LOCK_LOCK_H
#define WIO_LOCK_LOCK_H

#include <whyio/status.h>

#include "base/alloc.h"
#include "lock/types.h"

struct wio_locks;
/* One attempt of a transaction, and the locks that it has. */
struct wio_lock_owner;

struct wio_locks_config {
    enum wio_lock_policy policy;
    uint64_t timeout_ns; /* a request that waits for so long is refused; 0: no time-out */
    uint32_t owners_max; /* at a time; at least 1 */
    uint32_t locks_max;  /* locks and waiting requests at a time; at least 1 */
};

struct wio_lock_request {
    struct wio_lock_range range; /* from < to */
    enum wio_lock_mode mode;
    bool is_try;     /* refused rather than waiting, whatever the policy */
    uint32_t source; /* the call site: what others are told when this lock blocks them */
    uint64_t tag;    /* given back with the event */
};

enum wio_lock_outcome { WIO_LOCK_GRANTED, WIO_LOCK_WAITING, WIO_LOCK_REFUSED };

struct wio_lock_answer {
    enum wio_lock_outcome outcome;
    enum wio_lock_reason reason; /* REFUSED: why; NONE else */
    /* WAITING, REFUSED: at this moment; without blockers where the reason is LIMIT */
    struct wio_lock_blockers blockers;
};

enum wio_lock_event_kind {
    WIO_LOCK_EVENT_GRANTED, /* a request that waited has its lock */
    WIO_LOCK_EVENT_REFUSED, /* it does not wait any more; other locks of its owner stay */
    WIO_LOCK_EVENT_WOUND    /* the owner stands in the way of an older transaction */
};

struct wio_lock_event {
    enum wio_lock_event_kind kind;
    struct wio_lock_owner *owner;
    void *user;                  /* of the owner */
    struct wio_txn txn;          /* of the owner, with its attempt */
    uint64_t tag;                /* GRANTED, REFUSED: of the request */
    enum wio_lock_reason reason; /* REFUSED: DIED or TIMEOUT */
    /* REFUSED: what blocked it. WOUND: the first is the older request that is blocked. */
    struct wio_lock_blockers blockers;
};

struct wio_locks_count {
    uint32_t owners;
    uint32_t held;
    uint32_t waiting;
    uint32_t files; /* segments with a lock or a waiting request */
};

/* The caller owns *locks_out. WIO_ERR_USAGE: an unknown policy, a maximum of 0, or the time-out
 * policy without a time-out. */
WIO_MUST_CHECK enum wio_status wio_locks_create(const struct wio_alloc *alloc,
                                                const struct wio_locks_config *config,
                                                struct wio_locks **locks_out);
/* All owners go with it. NULL is allowed. */
void wio_locks_destroy(struct wio_locks *locks);

/*
 * An attempt of a transaction begins; `user` comes back with its events. The owner lives until
 * wio_locks_release, wio_locks_release_client or wio_locks_destroy. A transaction that is there
 * already is not looked for: the caller keeps its owner. WIO_ERR_BUSY: owners_max are there.
 */
WIO_MUST_CHECK enum wio_status wio_locks_begin(struct wio_locks *locks, const struct wio_txn *txn,
                                               uint32_t job, void *user,
                                               struct wio_lock_owner **owner_out);

/*
 * Ask for a lock. What the owner holds already in that mode or a stronger one is granted without a
 * new lock. WIO_ERR_USAGE: an empty range or an unknown mode. WIO_ERR_NOMEM: nothing has changed.
 * `now_ns` counts for time-outs only.
 */
WIO_MUST_CHECK enum wio_status wio_locks_acquire(struct wio_locks *locks,
                                                 struct wio_lock_owner *owner,
                                                 const struct wio_lock_request *request,
                                                 uint64_t now_ns, struct wio_lock_answer *answer);

/*
 * The next event, false where there is none. Each is told once; those of an owner that was released
 * meanwhile are not told at all. Blockers of a refusal are as of this call, so events are best read
 * after every call. When no event is left, one request whose time is out by `now_ns` is refused.
 */
bool wio_locks_next(struct wio_locks *locks, uint64_t now_ns, struct wio_lock_event *event_out);

/* When the next request's time is out; UINT64_MAX: none has a time-out. */
uint64_t wio_locks_deadline_ns(const struct wio_locks *locks);

/* Whether the owner was wounded in this attempt, and by which request (may be NULL): what has to be
 * told again to a client that may not have heard. */
bool wio_locks_is_wounded(const struct wio_lock_owner *owner, struct wio_lock_blocker *because_out);

/* The transaction has voted: it takes no lock any more and is not wounded. */
void wio_locks_set_prepared(struct wio_lock_owner *owner);
/* The lease of its client has ended, and it cannot be released yet. */
void wio_locks_set_dead(struct wio_lock_owner *owner);

/* The transaction ends: its locks and waiting requests go, `owner` with them. NULL is allowed. */
void wio_locks_release(struct wio_locks *locks, struct wio_lock_owner *owner);

/* Release all owners of a client that are not prepared; those that are become dead. How many were
 * released: the caller forgets its pointers to them. */
uint32_t wio_locks_release_client(struct wio_locks *locks, uint64_t client);

/*
 * For advisory locks, not for transactions (it breaks two-phase locking): give back the bytes of
 * `range` that the owner holds, in any mode; what is left of its locks stays. Waiting requests of
 * the owner stay. A lock that is cut in two needs memory: WIO_ERR_NOMEM, and nothing has changed;
 * locks_max does not count here.
 */
WIO_MUST_CHECK enum wio_status wio_locks_unlock(struct wio_locks *locks,
                                                struct wio_lock_owner *owner,
                                                const struct wio_lock_range *range);

/* What blocks a request of this owner now, whether it waits or was never made. */
void wio_locks_explain(const struct wio_locks *locks, const struct wio_lock_owner *owner,
                       const struct wio_lock_range *range, enum wio_lock_mode mode,
                       struct wio_lock_blockers *blockers_out);

struct wio_locks_count wio_locks_count(const struct wio_locks *locks);

/* "wound-wait", "exclusive", "queued ahead" .. ; "?" for other numbers. */
const char *wio_lock_policy_name(enum wio_lock_policy policy);
const char *wio_lock_mode_name(enum wio_lock_mode mode);
const char *wio_lock_role_name(enum wio_lock_role role);
const char *wio_lock_reason_name(enum wio_lock_reason reason);

#endif
