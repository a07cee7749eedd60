/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The parts of a target server, lower ones first:
 *
 *   updates.c   deferred updates: what a transaction sees, and what it will change
 *   session.c   clients: leases, requests that came before, past outcomes
 *   txn.c       transactions by name, their beginning and end; outcomes that are asked for
 *   answer.c    calls (requests under way) and answers
 *   perform.c   operations, once their locks are there; which locks these are
 *   decide.c    commit, vote, abort, forget
 *   inquire.c   what becomes of transactions whose client is gone
 *   operate.c   operations: locks, performing, what follows; events of the lock manager
 *   advise.c    advisory locks
 *   server.c    requests, the log's progress, time
 */
#ifndef WIO_STORE_SERVER_SERVER_INTERNAL_H
#define WIO_STORE_SERVER_SERVER_INTERNAL_H

#include <sys/queue.h>

#include "base/tree.h"
#include "store/server/server.h"

enum server_state {
    SERVER_ACTIVE,
    SERVER_LOGGING, /* its commit is in the log, and not durable yet */
    SERVER_VOTING,  /* so is its vote */
    SERVER_PREPARED
};

/* What a call waits for. */
enum server_wait {
    SERVER_WAIT_LOCK,
    SERVER_WAIT_COMMIT, /* the log: then the transaction is applied */
    SERVER_WAIT_VOTE,   /* the log: then it is prepared */
    SERVER_WAIT_ANSWER, /* the log: then the answer is given */
    SERVER_WAIT_AGAIN   /* the log: then the request is looked at again */
};

/* A request under way. */
struct server_call {
    TAILQ_ENTRY(server_call) by_txn; /* waits for a lock */
    TAILQ_ENTRY(server_call) by_log; /* waits for the log; free calls: in `free` */
    struct wio_store_request request;
    uint64_t client;
    struct server_txn *txn; /* NULL: it has none, or that has ended */
    enum server_wait wait;
    unsigned stage; /* locks that it has */
    uint64_t lsn;
    uint64_t received_ns;
    uint64_t locked_ns;
    uint8_t *copy; /* of the request's data, while it waits */
    /* of the answer */
    uint16_t outcome;
    uint64_t offset;
    uint64_t size;
    struct wio_lock_blockers blockers; /* of its first wait */
};

TAILQ_HEAD(server_calls, server_call);

struct server_updates {
    struct wio_update *list;
    size_t room;
    uint32_t count;
    bool is_last_lent; /* the data of the last one are the request's */
    uint64_t bytes;    /* of data */
    uint64_t reserved; /* of the backing */
};

struct server_txn {
    RB_ENTRY(server_txn) by_name;
    TAILQ_ENTRY(server_txn) by_session; /* free ones: in `free` */
    struct wio_txn txn;
    struct server_session *session; /* NULL: its client is gone */
    enum server_state state;
    struct wio_lock_owner *owner;
    struct server_calls calls; /* that wait for locks */
    struct server_updates updates;
    uint64_t lsn; /* LOGGING, VOTING: of its record */
    bool is_single;
    uint16_t *participants;
    uint32_t participant_count;
    /* inquiries */
    bool is_asking;
    uint8_t *answers; /* of each target: enum wio_store_outcome + 1, or 0 */
    uint64_t asked_ns;
    uint64_t gone_ns; /* since when its client is */
};

RB_HEAD(server_txns, server_txn);
TAILQ_HEAD(server_txn_list, server_txn);

/* The outcome of what was prepared, or a durable tombstone. */
struct server_outcome {
    RB_ENTRY(server_outcome) by_name;
    struct wio_txn txn;
    enum wio_store_outcome outcome;
};

RB_HEAD(server_outcomes, server_outcome);

struct server_pointer {
    RB_ENTRY(server_pointer) by_name;
    uint64_t file;
    uint32_t group;
    uint64_t value;
};

RB_HEAD(server_pointers, server_pointer);

/* A request that came, by its number. */
struct server_seen {
    uint64_t number; /* 0: none */
    bool is_done;
    uint16_t op;
    uint16_t result;
    uint16_t reason;
    uint16_t outcome;
    struct wio_txn txn;
    uint64_t offset;
    uint64_t size;
};

/* How a volatile transaction ended. */
struct server_past {
    uint64_t number; /* 0: none */
    uint32_t attempt;
    uint8_t outcome;
};

struct server_session {
    RB_ENTRY(server_session) by_client;
    struct wio_store_peer peer;
    TAILQ_ENTRY(server_session) by_lease;
    uint64_t lease_until_ns;
    bool is_proven; /* a connection has said what `peer` is; recovery knows its number only */
    bool is_ended;  /* kept for others that ask how its transactions ended, until lease_until_ns */
    struct server_txn_list txns;
    struct wio_lock_owner *advisory; /* NULL: it has no advisory lock */
    struct server_seen seen[WIO_SERVER_WINDOW];
    struct server_past past[WIO_SERVER_WINDOW];
    uint32_t past_next;
    uint64_t past_newest; /* the greatest number in `past` */
};

RB_HEAD(server_sessions, server_session);
TAILQ_HEAD(server_leases, server_session);

struct wio_server {
    struct wio_alloc alloc;
    struct wio_server_config config;
    struct wio_server_stat stat;
    struct wio_locks *locks;
    struct wio_locks *advisory;
    struct server_sessions sessions;
    struct server_leases leases; /* the one that ends next first */
    struct server_leases ended;  /* the one that ended first first */
    uint32_t ended_count;
    struct server_txns txns;
    struct server_txn_list gone; /* those without a session */
    struct server_outcomes outcomes;
    struct server_pointers pointers;
    uint32_t pointer_count;
    struct server_calls logged; /* that wait for the log, in the order of lsn */
    struct server_calls free_calls;
    struct server_txn_list free_txns;
    uint64_t durable_lsn;
    uint64_t logged_lsn; /* of the last record */
    bool has_lazy;       /* the last records are such that nothing flushes */
    uint64_t lazy_since_ns;
    bool has_failed;
    uint64_t now_ns;
    uint64_t started_ns; /* the first client, or recovery */
    uint8_t *scratch;    /* WIO_STORE_DATA_MAX bytes, for answers */
};

/* ---- updates.c ---- */

/* A copy of the update becomes the last one; its data too, unless they are lent until the
 * transaction ends, which it does before anything is added. WIO_ERR_BUSY: more than a transaction
 * may keep; WIO_ERR_NOMEM: more than all may. */
WIO_MUST_CHECK enum wio_status server_update_add(struct wio_server *server,
                                                 struct server_updates *updates,
                                                 const struct wio_update *update, bool is_lent);
void server_updates_drop(struct wio_server *server, struct server_updates *updates);
/* `size` bytes of the segment as the transaction sees it; *got_out fewer where it ends. */
WIO_MUST_CHECK enum wio_status server_view_read(struct wio_server *server,
                                                const struct server_updates *updates,
                                                const struct wio_store_request *at, uint64_t offset,
                                                uint8_t *data, size_t size, size_t *got_out);
WIO_MUST_CHECK enum wio_status server_view_size(struct wio_server *server,
                                                const struct server_updates *updates, uint64_t file,
                                                uint32_t segment, uint64_t *bytes_out);
uint64_t server_view_pointer(const struct wio_server *server, const struct server_updates *updates,
                             uint64_t file, uint32_t group);
/* Performs them; what fails makes the server fail. */
WIO_MUST_CHECK enum wio_status server_updates_apply(struct wio_server *server,
                                                    const struct wio_update *list, uint32_t count,
                                                    bool is_logged);
/* Room for a new shared pointer. */
WIO_MUST_CHECK enum wio_status server_pointer_make(struct wio_server *server, uint64_t file,
                                                   uint32_t group);
void server_pointers_free(struct wio_server *server);

/* ---- session.c ---- */

struct server_session *server_session_find(const struct wio_server *server, uint64_t client);
WIO_MUST_CHECK enum wio_status server_session_make(struct wio_server *server,
                                                   const struct wio_store_peer *peer,
                                                   struct server_session **session_out);
/* Its transactions are gone already: what is remembered stays for a while. */
void server_session_end(struct wio_server *server, struct server_session *session);
/* It comes back. WIO_ERR_BUSY: clients_max. */
WIO_MUST_CHECK enum wio_status server_session_revive(struct wio_server *server,
                                                     struct server_session *session);
/* Those that ended long ago are forgotten. */
void server_sessions_forget(struct wio_server *server);
void server_session_free(struct wio_server *server, struct server_session *session);
/* The client was heard. */
void server_session_renew(struct wio_server *server, struct server_session *session);
void server_past_add(struct server_session *session, const struct wio_txn *txn,
                     enum wio_store_outcome outcome);
/* UNKNOWN: nothing is known of this attempt, nor of a later one, which begins when it was aborted.
 */
enum wio_store_outcome server_past_find(const struct server_session *session,
                                        const struct wio_txn *txn);

/* ---- txn.c ---- */

struct server_txn *server_txn_find(const struct wio_server *server, uint64_t client,
                                   uint64_t number);
/* WIO_ERR_BUSY: too many. `session` NULL: recovery. */
WIO_MUST_CHECK enum wio_status server_txn_begin(struct wio_server *server,
                                                struct server_session *session,
                                                const struct wio_txn *txn, uint32_t job,
                                                struct server_txn **txn_out);
/* Its locks, updates and name go. It has no waiting calls any more. */
void server_txn_end(struct wio_server *server, struct server_txn *txn);
/* The same, told to the watch: it was committed, or aborted. */
void server_txn_end_as(struct wio_server *server, struct server_txn *txn, bool is_committed);
/* Its client is gone. */
void server_txn_orphan(struct wio_server *server, struct server_txn *txn);
WIO_MUST_CHECK enum wio_status server_txn_set_participants(struct wio_server *server,
                                                           struct server_txn *txn,
                                                           const uint16_t *participants,
                                                           uint32_t count);
/* What others said so far counts no more: it votes, and they were not asked to say what binds them.
 */
void server_forget_answers(const struct wio_server *server, struct server_txn *txn);
struct server_outcome *server_outcome_find(const struct wio_server *server, uint64_t client,
                                           uint64_t number);
/* Of this attempt, by what had been prepared: as server_past_find. */
enum wio_store_outcome server_outcome_of(const struct wio_server *server,
                                         const struct wio_txn *txn);
/* Makes or changes it. WIO_ERR_BUSY: outcomes_max. */
WIO_MUST_CHECK enum wio_status server_outcome_set(struct wio_server *server,
                                                  const struct wio_txn *txn,
                                                  enum wio_store_outcome outcome);
void server_outcome_drop(struct wio_server *server, struct server_outcome *outcome);
void server_txns_free(struct wio_server *server);

/* ---- answer.c ---- */

/* A call on the heap, out of the request; data is borrowed. NULL: calls_max or memory. */
struct server_call *server_call_make(struct wio_server *server, uint64_t client,
                                     const struct wio_store_request *request);
/* Keep the data, for the call waits. */
WIO_MUST_CHECK enum wio_status server_call_keep(struct wio_server *server,
                                                struct server_call *call);
void server_call_free(struct wio_server *server, struct server_call *call);
/* The call waits until its record is durable. */
void server_call_wait_log(struct wio_server *server, struct server_call *call,
                          enum server_wait wait, uint64_t lsn);
/* Answer and free. */
void server_answer(struct wio_server *server, struct server_call *call,
                   enum wio_store_result result);
/* With bytes that are lent for the call. */
void server_answer_data(struct wio_server *server, struct server_call *call, const uint8_t *data,
                        uint32_t size);
void server_answer_refused(struct wio_server *server, struct server_call *call,
                           enum wio_lock_reason reason, const struct wio_lock_blockers *blockers);
void server_answer_space(struct wio_server *server, struct server_call *call);
/* A request for which there is no call. */
void server_answer_early(struct wio_server *server, uint64_t client,
                         const struct wio_store_request *request, enum wio_store_result result);
/* What was answered before. */
void server_answer_again(struct wio_server *server, uint64_t client,
                         const struct server_seen *seen);
enum wio_store_result server_result_of(enum wio_status status, const struct wio_error *err);

/* ---- perform.c ---- */

/* The call's next lock; false: it has all. WIO_ERR_* of the storage in *status_out. */
bool server_lock_needed(struct wio_server *server, const struct server_call *call,
                        struct wio_lock_request *lock_out, enum wio_status *status_out);
/* The operation itself; answers and decisions are the caller's. READ leaves its bytes in `scratch`.
 */
enum wio_store_result server_perform(struct wio_server *server, struct server_call *call);
bool server_request_is_sound(const struct wio_store_request *request);

/* ---- decide.c ---- */

/* FLAG_SINGLE, or COMMIT of what is active: answers now, or when it is durable. */
void server_commit(struct wio_server *server, struct server_call *call, struct server_txn *txn);
void server_vote(struct wio_server *server, struct server_call *call, struct server_txn *txn);
/* The log has the commit, or the vote, of the call. */
void server_committed(struct wio_server *server, struct server_call *call);
void server_voted(struct wio_server *server, struct server_call *call);
/* The record that the call waits for is not in the log and will not be. */
void server_not_logged(struct wio_server *server, struct server_call *call,
                       enum wio_store_result result);
/* Its calls are answered, it ends. Not of what is prepared or in the log to be committed. */
void server_abort(struct wio_server *server, struct server_txn *txn);
/* An attempt that can do nothing here any more, even after a crash; answers when that is so, with
 * outcome ABORTED. */
void server_tombstone(struct wio_server *server, struct server_call *call);
/* Of what is prepared: applied or not; the log is told. On failure the server has failed, and the
 * transaction is found in the log. */
WIO_MUST_CHECK enum wio_status server_resolve(struct wio_server *server, struct server_txn *txn,
                                              bool is_commit);
void server_do_commit(struct wio_server *server, struct server_call *call);
void server_do_abort(struct wio_server *server, struct server_call *call);
void server_do_forget(struct wio_server *server, struct server_call *call);

/* ---- inquire.c ---- */

void server_do_inquire(struct wio_server *server, struct server_call *call);
/* The lease of a client has ended. */
void server_client_gone(struct wio_server *server, struct server_session *session);
/* Inquiries that are due. */
void server_ask(struct wio_server *server);
/* When the next one is; UINT64_MAX: none. */
uint64_t server_ask_deadline_ns(const struct wio_server *server);
void server_heard(struct wio_server *server, struct server_txn *txn, uint16_t target,
                  enum wio_store_outcome outcome);

/* ---- operate.c, advise.c ---- */

/* An operation of a transaction, or one that is a transaction. */
void server_operate(struct wio_server *server, struct server_session *session,
                    struct server_call *call);
/* What the lock manager has to say, until it has no more. */
void server_listen(struct wio_server *server);
/* LOCK, UNLOCK. */
void server_advise(struct wio_server *server, struct server_session *session,
                   struct server_call *call);

#endif
