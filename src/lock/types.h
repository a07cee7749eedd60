/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Words of locking that messages, traces and the lock manager share: transactions, modes, reasons,
 * blockers. Values of the enumerations are on the wire and in traces: they are added to, never
 * renumbered. Plain data, no functions with state.
 */
#ifndef WIO_LOCK_TYPES_H
#define WIO_LOCK_TYPES_H

#include <stdbool.h>
#include <stdint.h>

/*
 * A transaction. (client, number) names it for ever; a retry has the same name and the same birth,
 * and the next attempt. Age is the order of (birth_ns, client, number): the smaller is the older,
 * and no two transactions are equal. birth_ns is the client's clock: clocks that differ cost
 * fairness, never correctness.
 */
struct wio_txn {
    uint64_t client;
    uint64_t number;
    uint64_t birth_ns;
    uint32_t attempt; /* from 1 */
};

/* Negative: `a` is older; 0: the same transaction (of any attempt). */
static inline int wio_txn_compare(const struct wio_txn *a, const struct wio_txn *b)
{
    if (a->birth_ns != b->birth_ns) {
        return a->birth_ns < b->birth_ns ? -1 : 1;
    }
    if (a->client != b->client) {
        return a->client < b->client ? -1 : 1;
    }
    return (a->number > b->number) - (a->number < b->number);
}

/* Two locks of different transactions conflict unless both are shared or both are increments. */
enum wio_lock_mode { WIO_LOCK_SHARED, WIO_LOCK_EXCLUSIVE, WIO_LOCK_INCREMENT, WIO_LOCK_MODES };

/* The bytes [from, to) of a segment of a file; `to` behind the last one. */
struct wio_lock_range {
    uint64_t file;
    uint32_t segment;
    uint64_t from;
    uint64_t to;
};

enum wio_lock_policy {
    WIO_LOCK_WOUND_WAIT, /* the older waits and the younger holder is told to end */
    WIO_LOCK_TIMEOUT,    /* waits, but not for ever */
    WIO_LOCK_NO_WAIT,    /* a conflict is a refusal */
    WIO_LOCK_WAIT_DIE,   /* the older waits, the younger is refused */
    WIO_LOCK_POLICIES
};

/* Why a request waits or was refused. */
enum wio_lock_reason {
    WIO_LOCK_REASON_NONE,
    WIO_LOCK_REASON_CONFLICT, /* no-wait: something holds or waits for the range */
    WIO_LOCK_REASON_DIED,     /* wait-die: an older transaction holds it, or is next */
    WIO_LOCK_REASON_TIMEOUT,
    WIO_LOCK_REASON_LIMIT, /* the lock manager is full */
    WIO_LOCK_REASONS
};

/* What makes a blocker one. */
enum wio_lock_role {
    WIO_LOCK_ROLE_HOLDER,
    WIO_LOCK_ROLE_QUEUED,   /* waits as well, and is older */
    WIO_LOCK_ROLE_PREPARED, /* holds, has voted, and waits for the outcome */
    WIO_LOCK_ROLE_DEAD,     /* holds or waits; the lease of its client has ended */
    WIO_LOCK_ROLES
};

struct wio_lock_blocker {
    struct wio_txn txn;
    uint32_t job;
    uint32_t source; /* the call site of the blocking lock's request */
    struct wio_lock_range range;
    uint8_t mode; /* enum wio_lock_mode */
    uint8_t role; /* enum wio_lock_role */
};

#define WIO_LOCK_BLOCKERS 8

/* Those that hold before those that wait, each oldest first; of one transaction, in the order of
 * their requests. */
struct wio_lock_blockers {
    uint32_t count;  /* true number of blocking locks and requests */
    uint32_t listed; /* of these below: at most WIO_LOCK_BLOCKERS */
    struct wio_lock_blocker list[WIO_LOCK_BLOCKERS];
};

#endif
