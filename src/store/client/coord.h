/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The coordinator: the life of a client's transactions, above connections. One for a process (or a
 * thread): it numbers requests, keeps what is under way at each target, decides commits and aborts,
 * and begins again what was refused or wounded, with the age that it had. Time is an argument, and
 * what it says goes through a table of functions.
 *
 *     wio_coord_begin(coord, user, flags, now, &txn)   -> ops->run(txn): issues its operations
 *     wio_coord_issue(txn, target, &request, tag)      .. one by one, or several at once
 *     ops->part(txn, tag, &reply)                      .. an answer; may issue more
 *     wio_coord_commit(txn)                            when all were answered, or
 *     wio_coord_finish(txn, target, &request, tag)     for the last one and the commit
 *     ops->ended(txn, ...)                             committed, or failed for good
 *
 * An attempt that is refused, wounded, or lost by a target is aborted everywhere; then, at once or
 * after a pause that grows, ops->run is called for the next attempt. Its reads may differ.
 *
 * Commit. Volatile: COMMIT to all participants, no vote. Stable, one participant: COMMIT with
 * FLAG_STABLE. Stable, several: PREPARE to all; committed when all have voted yes, which is when
 * `ended` comes; COMMITs and then FORGETs follow by themselves. A wound after COMMIT or PREPARE was
 * sent comes too late and is ignored, as is one that names another attempt.
 *
 * wio_coord_finish saves messages. One participant: the last operation carries FLAG_COMMIT, and may
 * wait for its locks and be wounded like any other. Stable, several, first attempt: it carries
 * FLAG_PREPARE while PREPARE goes to the others, and FLAG_REJECT: an operation that waited, with
 * votes given elsewhere that no wound can end, could wait for ever. Else it is issued, and the
 * commit follows its answer.
 *
 * After PREPARE nothing is aborted by the coordinator alone: a vote of no, or a tombstone, decides.
 * One that does not vote in time is asked to abort if it has not voted (FLAG_TRY).
 *
 * Lost connections: what was under way is sent again by wio_coord_back, with the same numbers, and
 * the target knows what it has done. So what requests borrow (data) must stay until `ended`, or
 * until the next `run`.
 *
 * Not thread safe. Callbacks come from within wio_coord_reply, _push, _tick, _begin and _commit;
 * they may call issue, commit and give_up for the transaction that they concern, and nothing else.
 */
#ifndef WIO_STORE_CLIENT_COORD_H
#define WIO_STORE_CLIENT_COORD_H

#include <whyio/status.h>

#include "base/alloc.h"
#include "store/messages.h"

/* Requests under way at one target: as many as a server remembers. */
#define WIO_COORD_WINDOW 64

struct wio_coord;
struct wio_coord_txn;

enum wio_coord_end {
    WIO_COORD_COMMITTED,
    /* for good: `result` says why (NO_SPACE, IO, ..); ABORTED: given up, or torn; NO_LEASE: the
     * outcome is not known */
    WIO_COORD_FAILED
};

struct wio_coord_ops {
    /* To a target; where it is not connected the request is dropped (wio_coord_back sends it
     * again).
     */
    void (*send)(void *context, uint16_t target, const struct wio_store_request *request);
    /* An attempt begins: issue its first operations. */
    void (*run)(void *context, struct wio_coord_txn *txn, void *user);
    /* An operation was performed (result OK). */
    void (*part)(void *context, struct wio_coord_txn *txn, void *user, uint32_t tag,
                 const struct wio_store_reply *reply);
    /* The transaction is over: `txn` is gone after this call. */
    void (*ended)(void *context, struct wio_coord_txn *txn, void *user, enum wio_coord_end end,
                  enum wio_store_result result);
    /* What ends an attempt, before it is aborted: an operation's answer other than OK; a wound by
     * the transaction that `because` names. Both may be NULL. */
    void (*refused)(void *context, uint16_t target, void *user,
                    const struct wio_store_reply *reply);
    void (*wounded)(void *context, uint16_t target, void *user,
                    const struct wio_lock_blocker *because);
    /* Does the request of this number, which was given to `send`, wait there, without effect at the
     * target so far? NULL: none does. */
    bool (*is_held)(void *context, uint16_t target, uint64_t number);
};

/*
 * A request outside transactions (LOCK, UNLOCK, STATFS, the catalogue's), which is sent again like
 * all others until it is answered. The owner keeps it, and what its request borrows, until
 * `answered`; that comes with WIO_STORE_NO_LEASE where it is not known whether it was done.
 */
struct wio_coord_ask {
    struct wio_store_request request;
    void (*answered)(struct wio_coord_ask *ask, const struct wio_store_reply *reply);
    void *owner;
};

struct wio_coord_config {
    uint64_t client;  /* id of this process, never used before at these servers */
    uint16_t targets; /* at most WIO_STORE_PARTICIPANTS_MAX */
    uint32_t txns_max;
    uint64_t pause_ns; /* before the second attempt of what was refused; 0: 100 us */
    uint64_t vote_ns;  /* a vote that does not come for so long is asked for; 0: 5 s */
    /* Added to the time of a transaction's begin, for an age that other hosts' clocks compare to */
    uint64_t birth_offset_ns;
    const struct wio_coord_ops *ops;
    void *context;
};

struct wio_coord_stat {
    uint64_t begun;
    uint64_t committed;
    uint64_t failed;
    uint64_t attempts; /* beyond the first ones */
    uint64_t wounds;   /* that ended an attempt */
    uint64_t late;     /* wounds that came too late, or for another attempt */
    uint64_t torn;     /* volatile, committed at some targets and not at others */
    uint32_t active;
};

WIO_MUST_CHECK enum wio_status wio_coord_create(const struct wio_alloc *alloc,
                                                const struct wio_coord_config *config,
                                                struct wio_coord **coord_out);
/* Says nothing: the leases end. NULL is allowed. */
void wio_coord_destroy(struct wio_coord *coord);

/* `flags`: WIO_STORE_FLAG_STABLE, WIO_STORE_FLAG_SINGLE (one operation in all, which commits: no
 * wio_coord_commit). Calls `run`. WIO_ERR_BUSY: txns_max; WIO_ERR_NOMEM. */
WIO_MUST_CHECK enum wio_status wio_coord_begin(struct wio_coord *coord, void *user, uint16_t flags,
                                               uint64_t now_ns, struct wio_coord_txn **txn_out);
/*
 * One operation at a target (READ .. POINTER): envelope and transaction are filled in.
 * WIO_ERR_BUSY: WIO_COORD_WINDOW requests are under way there: again after the next `part`.
 * WIO_ERR_USAGE: the attempt is not running (it was wounded meanwhile), a second operation of a
 * single one.
 */
WIO_MUST_CHECK enum wio_status wio_coord_issue(struct wio_coord_txn *txn, uint16_t target,
                                               const struct wio_store_request *request,
                                               uint32_t tag);
/* All operations were answered. WIO_ERR_USAGE: they were not, or the attempt is not running.
 * WIO_ERR_BUSY: as for wio_coord_issue; nothing was decided. */
WIO_MUST_CHECK enum wio_status wio_coord_commit(struct wio_coord_txn *txn, uint64_t now_ns);
/* The last operation at a target, which neither reads nor asks for a size, and the commit; all
 * before it were answered. `part` comes for it, then what comes after wio_coord_commit.
 * `may_commit`: the target understands FLAG_COMMIT. Errors of wio_coord_issue, after which nothing
 * was done. */
WIO_MUST_CHECK enum wio_status wio_coord_finish(struct wio_coord_txn *txn, uint16_t target,
                                                const struct wio_store_request *request,
                                                uint32_t tag, bool may_commit, uint64_t now_ns);
/* Abort, and do not begin again: `ended` follows with FAILED and ABORTED. Nothing happens where the
 * outcome is decided. */
void wio_coord_give_up(struct wio_coord_txn *txn, uint64_t now_ns);

/* WIO_ERR_BUSY: as for wio_coord_issue. WIO_ERR_USAGE: there is no such target. */
WIO_MUST_CHECK enum wio_status wio_coord_ask(struct wio_coord *coord, uint16_t target,
                                             struct wio_coord_ask *ask);

void wio_coord_reply(struct wio_coord *coord, uint16_t target, const struct wio_store_reply *reply,
                     uint64_t now_ns);
void wio_coord_push(struct wio_coord *coord, uint16_t target, const struct wio_store_push *push,
                    uint64_t now_ns);
/* The target is connected again; `is_new` as wio_server_connected says. Of transactions whose
 * COMMIT was under way at a target that has lost them the outcome is not known: `ended` with FAILED
 * and NO_LEASE.
 */
void wio_coord_back(struct wio_coord *coord, uint16_t target, bool is_new, uint64_t now_ns);
/* The request of this number at a target, while it is under way; NULL: it is not. Borrowed. */
const struct wio_store_request *wio_coord_request(const struct wio_coord *coord, uint16_t index,
                                                  uint64_t number);
/* Give the operations of its transaction that were issued behind this one at the target to `send`
 * again, in their order. */
void wio_coord_send_behind(struct wio_coord *coord, uint16_t index, uint64_t number);
/* Pauses that are over, votes that are late. */
void wio_coord_tick(struct wio_coord *coord, uint64_t now_ns);
uint64_t wio_coord_deadline_ns(const struct wio_coord *coord);

/* (number, birth, attempt). Borrowed. */
const struct wio_txn *wio_coord_name(const struct wio_coord_txn *txn);
struct wio_coord_stat wio_coord_stat(const struct wio_coord *coord);

#endif
