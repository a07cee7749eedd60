/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The parts of the coordinator, lower ones first:
 *
 *   slots.c           requests under way, by target and number
 *   coord_attempt.c   attempts; what is sent beside operations
 *   coord_answer.c    answers, and what is decided by them
 *   coord.c           the calls of coord.h
 */
#ifndef WIO_STORE_CLIENT_COORD_INTERNAL_H
#define WIO_STORE_CLIENT_COORD_INTERNAL_H

#include <sys/queue.h>

#include "store/client/coord.h"

enum coord_state {
    COORD_RESTING, /* until resume_ns; then the next attempt */
    COORD_RUNNING,
    COORD_ABORTING,   /* ABORTs are under way; then it rests, or has failed */
    COORD_COMMITTING, /* volatile, or one target: COMMITs are under way */
    COORD_PREPARING,  /* votes are */
    COORD_DECIDED,    /* all voted, `ended` was told; COMMITs are under way */
    COORD_FORGETTING
};

/* What a request under way is to its transaction. */
enum coord_kind {
    COORD_NONE,
    COORD_OP,
    COORD_COMMIT,
    COORD_PREPARE,
    COORD_TRY,
    COORD_ABORT,
    COORD_FORGET,
    COORD_LAST, /* the last operation, with the vote */
    COORD_ASK   /* of no transaction */
};

/* A target in a transaction. */
struct coord_part {
    bool is_in; /* this attempt has begun there */
    bool has_voted;
    bool is_tried; /* a TRY is under way */
    bool is_done;  /* has answered what was sent last */
    uint8_t todo;  /* enum coord_kind, to be sent as soon as there is a slot */
};

struct wio_coord_txn {
    TAILQ_ENTRY(wio_coord_txn) by_coord;
    struct wio_coord *coord;
    void *user;
    struct wio_txn txn;
    uint16_t flags;
    enum coord_state state;
    uint32_t ops;      /* operations of this attempt that are under way .. */
    uint32_t issued;   /* .. or were */
    uint32_t commits;  /* targets that said so */
    uint32_t refusals; /* COMMITs that were not taken */
    bool is_finishing; /* the commit follows the answer to the operation that is under way */
    bool has_failed;   /* for good */
    bool was_done;     /* a single operation that had committed when its ABORT was sent */
    enum wio_store_result result;
    uint64_t resume_ns; /* RESTING */
    uint64_t vote_until_ns;
    struct coord_part *parts; /* of each target */
    uint16_t *list;           /* participants, as PREPARE names them */
    uint16_t list_count;
};

TAILQ_HEAD(coord_txns, wio_coord_txn);

struct coord_slot {
    uint64_t number;           /* 0: free */
    struct wio_coord_txn *txn; /* NULL: ASK */
    struct wio_coord_ask *ask; /* ASK */
    enum coord_kind kind;
    bool is_again; /* a copy of it was sent again behind a lost connection */
    uint32_t tag;
    struct wio_store_request request;
};

struct coord_target {
    uint64_t next; /* number */
    uint32_t used; /* slots */
    struct coord_slot slots[WIO_COORD_WINDOW];
};

struct wio_coord {
    struct wio_alloc alloc;
    struct wio_coord_config config;
    struct wio_coord_stat stat;
    uint64_t now_ns;
    uint64_t numbers; /* of transactions */
    uint32_t todo;    /* parts with something to be sent */
    struct coord_txns txns;
    struct coord_target *targets;
};

/* Numbers and remembers the request, and sends it. WIO_ERR_BUSY: no slot; operations leave some for
 * what ends transactions. */
WIO_MUST_CHECK enum wio_status coord_send(struct wio_coord_txn *txn, uint16_t target,
                                          enum coord_kind kind,
                                          const struct wio_store_request *request, uint32_t tag);
WIO_MUST_CHECK enum wio_status coord_send_ask(struct wio_coord *coord, uint16_t target,
                                              struct wio_coord_ask *ask);
/* A request outside transactions that may be done twice, whatever happened in between. */
bool coord_may_ask_again(const struct coord_slot *slot);
/* The slot that a reply is for, which is free from now on; false: there is none, or the answer is
 * that the lease has ended, and the request is to be sent again. */
bool coord_take(struct wio_coord *coord, uint16_t target, uint64_t number, bool has_lease,
                struct coord_slot *slot_out);
/* All that is under way at the target, in the order in which it was sent first. */
void coord_send_again(struct wio_coord *coord, uint16_t index);
/* The target has answered an operation of this attempt: where the one that began it is sent again,
 * it must not begin it anew, without what was answered. */
void coord_has_begun(struct wio_coord_txn *txn, uint16_t index);
/* The operation commits what was done at its target. */
bool coord_commits(const struct coord_slot *slot);
/* Such a one was sent, and its answer has not come. */
bool coord_may_commit(const struct wio_coord_txn *txn);
/* Of the caller's table: the request waits on this side. */
bool coord_is_held(const struct wio_coord *coord, uint16_t target, uint64_t number);
/* Nothing of the transaction is under way any more. */
void coord_forget_slots(struct wio_coord_txn *txn);

/* ---- coord_attempt.c ---- */

void coord_set_now(struct wio_coord *coord, uint64_t now_ns);
void coord_free(struct wio_coord_txn *txn);
bool coord_is_stable(const struct wio_coord_txn *txn);
/* Sent now, or as soon as there is a slot. */
void coord_tell(struct wio_coord_txn *txn, uint16_t target, enum coord_kind kind);
void coord_tell_all(struct wio_coord_txn *txn, enum coord_kind kind);
/* A slot of the target is free: what had to wait for one. */
void coord_pump(struct wio_coord *coord, uint16_t target);
/* All participants have answered what they were told last. */
bool coord_all_done(const struct wio_coord_txn *txn);
/* All operations were answered: COMMITs, or the question for votes. */
void coord_commit(struct wio_coord_txn *txn);
/* Votes are asked for, of all participants but this one (no target: of all). */
void coord_ask_votes(struct wio_coord_txn *txn, uint32_t but);
/* The next attempt. */
void coord_run(struct wio_coord_txn *txn);
/* The caller's transaction is over; ours may go on. */
void coord_end(struct wio_coord_txn *txn, enum wio_coord_end how, enum wio_store_result result);
void coord_end_and_free(struct wio_coord_txn *txn, enum wio_coord_end how,
                        enum wio_store_result result);
/* Undo it everywhere; then the next attempt, not before so long. */
void coord_abort(struct wio_coord_txn *txn, uint64_t pause_ns);
/* Undo it everywhere; then it has failed. */
void coord_fail(struct wio_coord_txn *txn, enum wio_store_result result);
/* It is undone. */
void coord_aborted(struct wio_coord_txn *txn);
uint64_t coord_pause_ns(const struct wio_coord_txn *txn);

#endif
