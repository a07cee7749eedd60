/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A target server: what it does with each request, above connections and disks. Time is an
 * argument; what it says goes through a table of functions; its storage is a struct wio_backing.
 *
 * Transactions. An operation takes its locks (src/lock) and is performed on the transaction's own
 * view: what is committed, with its own updates on top. Updates are deferred: kept in memory
 * until the transaction commits, so that an abort leaves nothing to undo. Locks are held to the
 * end.
 *  - FLAG_SINGLE: the operation commits at once. FLAG_COMMIT: so does the transaction, with this
 *    operation as its last one, which waits for its locks as any other does.
 *  - volatile: COMMIT applies the updates; no vote. Atomic over several targets unless the client
 *    dies or is cut off while its COMMITs are under way; then a target asks the others (below).
 *  - stable, one target: COMMIT with FLAG_STABLE logs the updates, and applies them, releases the
 *    locks and answers when they are durable.
 *  - stable, several targets: the last operation at each has FLAG_PREPARE and names all
 *    participants. Its answer is the vote, given when the record {transaction, participants,
 *    updates} is durable. The transaction is committed when all votes are. COMMIT is only news.
 *  - ABORT where nothing is known leaves a tombstone: that attempt can do nothing here any more.
 *
 * Locks and deadlock are the lock manager's; a wound is pushed to the client that is to end
 * its transaction. The server aborts a transaction of its own accord only when its client is gone.
 *
 * Clients. Any request renews the lease. A connection that is lost may come back within the lease:
 * its transactions stand until then. When the lease ends, active transactions are aborted, but
 * where there are several targets the others are asked first: if one has committed it, so does this
 * one. Prepared ones are in doubt: all participants are asked; one that has not voted never will
 * (it is aborted there); all votes there, or one commit: committed.
 *
 * A request that comes again (same client, same number) is not performed again: it has the same
 * answer, or is still under way. A client has at most WIO_SERVER_WINDOW requests under way.
 *
 * Not thread safe. Memory is bounded by the configuration.
 */
#ifndef WIO_STORE_SERVER_SERVER_H
#define WIO_STORE_SERVER_SERVER_H

#include <whyio/status.h>

#include "base/alloc.h"
#include "lock/lock.h"
#include "store/messages.h"
#include "store/server/backing.h"

/* Requests of one client that are under way or remembered, and its transactions whose outcome is.
 */
#define WIO_SERVER_WINDOW 64
#define WIO_SERVER_LEASE_NS UINT64_C(2000000000)

/* What the server says. No function may call the server; messages are lent for the call. */
struct wio_server_ops {
    /* To a client; where its connection is gone the answer is dropped (it is remembered). */
    void (*reply)(void *context, uint64_t client, const struct wio_store_reply *reply);
    void (*push)(void *context, uint64_t client, const struct wio_store_push *push);
    /* INQUIRE another target; its answer comes by wio_server_answered. One that cannot be reached
     * is asked again by a later call. */
    void (*inquire)(void *context, uint16_t target, const struct wio_txn *txn, bool is_prepared);
};

/* What is told of requests and transactions, for a trace. No function may call the server; what
 * they are given is lent for the call. */
struct wio_server_watch {
    /* A request cannot be answered at once. `blockers`: of its wait for a lock; NULL: it waits for
     * the log. */
    void (*waits)(void *context, const struct wio_store_request *request,
                  const struct wio_lock_blockers *blockers, uint64_t now_ns);
    /* `is_logged`: it waited for the log, between locked_ns and done_ns. */
    void (*answered)(void *context, const struct wio_store_request *request,
                     const struct wio_store_reply *reply, bool is_logged);
    /* An attempt is over here, its locks are free. Within the same now_ns as the answers that
     * belong to it, before or behind them. */
    void (*ended)(void *context, const struct wio_txn *txn, bool is_committed, uint64_t now_ns);
    void (*wounded)(void *context, const struct wio_store_push *push, uint64_t now_ns);
};

struct wio_server_config {
    uint16_t self;    /* index of this target .. */
    uint16_t targets; /* .. of so many */
    enum wio_lock_policy policy;
    uint64_t lock_timeout_ns;
    uint64_t lease_ns;    /* 0: WIO_SERVER_LEASE_NS */
    uint32_t clients_max; /* at a time */
    uint32_t txns_max;    /* at a time */
    uint32_t calls_max;   /* requests that wait */
    uint32_t locks_max;
    uint32_t outcomes_max;     /* of prepared transactions that are not forgotten yet */
    uint64_t txn_bytes_max;    /* of deferred updates, of one transaction .. */
    uint64_t update_bytes_max; /* .. and of all */
    struct wio_backing *backing;
    const struct wio_server_ops *ops;
    void *context;
    const struct wio_server_watch *watch; /* NULL: nothing is told */
    void *watch_context;
};

struct wio_server;

struct wio_server_stat {
    uint64_t requests;
    uint64_t again; /* of these, had come before */
    uint64_t commits;
    uint64_t aborts;
    uint64_t waits;
    uint64_t refusals;
    uint64_t wounds;
    uint64_t leases_ended;
    uint32_t clients;
    uint32_t txns;
    uint32_t prepared; /* have voted, or are about to */
    uint32_t calls;    /* that wait for a lock or the log */
    uint32_t outcomes;
    uint64_t update_bytes;
};

/* WIO_ERR_USAGE: a maximum of 0, or a wrong policy. The caller owns *server_out; `backing` and
 * `ops` must live as long. */
WIO_MUST_CHECK enum wio_status wio_server_create(const struct wio_alloc *alloc,
                                                 const struct wio_server_config *config,
                                                 struct wio_server **server_out);
/* Nothing is said any more. NULL is allowed. */
void wio_server_destroy(struct wio_server *server);

/*
 * A client has proven what `peer` says: a new one, or one that comes back within its lease.
 * *is_new_out (may be NULL): what it had here before, if anything, has ended with its lease, and of
 * what was under way then nothing is known. In the first lease after a start that is never so: what
 * the log does not have did not happen. Wounds are pushed again from within. WIO_ERR_BUSY:
 * clients_max are there. WIO_ERR_USAGE: the client is there, and of another user. WIO_ERR_NOMEM.
 */
WIO_MUST_CHECK enum wio_status wio_server_connected(struct wio_server *server,
                                                    const struct wio_store_peer *peer,
                                                    uint64_t now_ns, bool *is_new_out);
/* Its connection is lost. `is_dead`: it will not come back (its process has ended, or it said
 * so): as if the lease had ended now. */
void wio_server_disconnected(struct wio_server *server, uint64_t client, bool is_dead,
                             uint64_t now_ns);

/* A request of a connected client, or an INQUIRE of another target: of that, `client` is any number
 * by which the caller knows where the answer goes. Every request has one answer, now or later; a
 * second one with the same number has none while the first is under way. */
void wio_server_request(struct wio_server *server, uint64_t client,
                        const struct wio_store_request *request, uint64_t now_ns);

/* All log records up to `lsn` are durable. is_ok false: the log has failed; the server answers
 * everything with WIO_STORE_IO from now on, and has to be recovered from the log. */
void wio_server_durable(struct wio_server *server, uint64_t lsn, bool is_ok, uint64_t now_ns);

/* The log had no room for the record of `lsn`, a COMMIT or PREPARED, and never will have it: the
 * transaction is aborted, its request answered by `result`, a vote by NO. wio_server_durable counts
 * it when all records before it are durable. */
void wio_server_unlogged(struct wio_server *server, uint64_t lsn, enum wio_store_result result,
                         uint64_t now_ns);

/* Another target's answer to an inquiry. */
void wio_server_answered(struct wio_server *server, uint16_t target, const struct wio_txn *name,
                         enum wio_store_outcome outcome, uint64_t now_ns);

/* Time-outs of locks, ends of leases, inquiries that had no answer. To be called at
 * wio_server_deadline or later. */
void wio_server_tick(struct wio_server *server, uint64_t now_ns);
/* When tick has something to do; UINT64_MAX: never. */
uint64_t wio_server_deadline_ns(const struct wio_server *server);

/*
 * Recovery, before any client: the records of the log in their order. What was prepared and has no
 * outcome is in doubt afterwards: its locks are taken, and inquiries begin with the next tick.
 * COMMIT and COMMITTED are applied to the backing: again, where they had been. Data is copied.
 */
WIO_MUST_CHECK enum wio_status wio_server_restore(struct wio_server *server,
                                                  const struct wio_backing_record *record,
                                                  uint64_t now_ns);

struct wio_server_stat wio_server_stat(const struct wio_server *server);

#endif
