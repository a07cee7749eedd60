/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Operations and transactions on the loop. An operation by itself has a transaction of its own,
 * which is begun again until it has committed or its caller waits no more; in a user's transaction
 * the attempt's end is told, and the user's next attempt begins by wio_store_restart.
 */
#include <errno.h>
#include <stdlib.h>

#include "base/alloc.h"
#include "base/cleanup.h"
#include "store/api/api_internal.h"
#include "store/wire/results.h"

/* ---- ends of calls ------------------------------------------------------------------------- */

/* With what was in the way, where that is known. */
static void fail(struct api_txn *txn, struct api_call *call, enum wio_status status, int sys_errno,
                 const char *what)
{
    char why[512] = "";
    if (txn->blockers != NULL && status == WIO_ERR_BUSY) {
        api_blockers_text(txn->blockers, why, sizeof(why));
    }
    api_call_fail(call, status, sys_errno, "%s%s", what, why);
}

static void fail_restart(struct api_txn *txn, struct api_call *call)
{
    fail(txn, call, WIO_ERR_BUSY, EAGAIN, "the transaction has to begin again");
}

/* It has ended for good without a commit. */
static void fail_over(struct api_txn *txn, struct api_call *call)
{
    if (txn->has_timed_out) {
        fail(txn, call, WIO_ERR_BUSY, ETIMEDOUT, "the time of the transaction is over");
    } else if (txn->result == WIO_STORE_OVERLOADED) {
        api_overload_fail(call, txn->overload);
    } else {
        fail(txn, call, WIO_ERR_IO, wio_store_result_errno(txn->result),
             wio_store_result_text(txn->result));
    }
}

/* Or will: the call that timed out may still be under way. */
static bool has_ended(const struct api_txn *txn)
{
    return txn->is_over || txn->has_timed_out;
}

/* ---- slots --------------------------------------------------------------------------------- */

static void starve(struct api_txn *txn, bool wants_commit)
{
    txn->wants_commit = wants_commit;
    if (!txn->is_starving) {
        txn->is_starving = true;
        TAILQ_INSERT_TAIL(&txn->store->starving, txn, starving);
    }
}

static void feed(struct api_txn *txn)
{
    if (txn->is_starving) {
        txn->is_starving = false;
        TAILQ_REMOVE(&txn->store->starving, txn, starving);
    }
}

/* A slot may be free: not from here, which is within the coordinator. */
static void feed_later(struct wio_store *store)
{
    if (!TAILQ_EMPTY(&store->starving)) {
        api_loop_wake(store->loop);
    }
}

/* ---- operations ---------------------------------------------------------------------------- */

static void issue(struct api_op *op)
{
    struct api_txn *txn = op->txn;
    while (op->issued < op->count) {
        const struct api_request *next = &op->requests[op->issued];
        const struct wio_store_request request = api_op_request(op, next);
        enum wio_status status = wio_coord_issue(txn->coord, next->target, &request, op->issued);
        if (status == WIO_ERR_BUSY) {
            starve(txn, false);
        }
        if (status != WIO_OK) {
            return; /* or the attempt has ended: the next one is told by `run` */
        }
        op->issued++;
    }
}

static void op_failed(struct api_op *op, int sys_errno)
{
    struct api_txn *txn = op->txn;
    if (txn->is_users) {
        txn->op = NULL;
        api_call_fail(&op->call, WIO_ERR_IO, sys_errno, "%s",
                      sys_errno == ENOMEM ? "out of memory" : "the range is none of a file");
    } else {
        op->call.err.sys_errno = sys_errno;
        wio_coord_give_up(txn->coord, wio_session_now_ns(txn->store->data));
    }
}

/* Its own transaction commits; a user's goes on. */
static void op_done(struct api_op *op)
{
    struct api_txn *txn = op->txn;
    if (txn->is_users) {
        txn->op = NULL;
        api_call_finish(&op->call);
    } else if (!api_plan_is_single(op)) {
        uint64_t now_ns = wio_session_now_ns(txn->store->data);
        if (wio_coord_commit(txn->coord, now_ns) == WIO_ERR_BUSY) {
            starve(txn, true);
        }
    }
}

void api_op_go_on(struct api_op *op)
{
    while (op->stage != API_STAGE_DONE) {
        if (api_plan_stage(op) != WIO_OK) {
            op_failed(op, ENOMEM);
            return;
        }
        if (op->count > 0) {
            issue(op);
            return;
        }
        int wrong = api_take_stage(op);
        if (wrong != 0) {
            op_failed(op, wrong);
            return;
        }
        op->stage++;
    }
    op_done(op);
}

/* A user's next operation, where no write is kept: kept itself, or begun. */
static void begin_next(struct api_txn *txn)
{
    struct api_op *op = txn->op;
    if (api_kept_take(txn, op)) {
        txn->op = NULL;
        return;
    }
    api_plan_begin(op);
    api_op_go_on(op);
}

static void send_kept(struct api_txn *txn)
{
    if (api_kept_send(txn) == WIO_ERR_BUSY) {
        starve(txn, false);
    }
}

/* The write that was kept is done: what waited for it. */
static void kept_done(struct api_txn *txn)
{
    api_kept_drop(txn);
    if (txn->op != NULL) {
        begin_next(txn);
    }
}

/* ---- what the coordinator says ------------------------------------------------------------- */

static void run(void *context, struct wio_coord_txn *coord, void *user)
{
    struct api_txn *txn = user;
    (void)context;
    feed(txn);
    if (!txn->is_users) {
        api_plan_begin(txn->op);
        api_op_go_on(txn->op);
        return;
    }
    if (wio_coord_name(coord)->attempt == 1) {
        return;
    }
    struct api_call *call = txn->op != NULL ? &txn->op->call : txn->committing;
    api_kept_drop(txn);
    txn->must_restart = true;
    txn->op = NULL;
    txn->committing = NULL;
    if (call != NULL) {
        fail_restart(txn, call);
    }
}

static void part(void *context, struct wio_coord_txn *coord, void *user, uint32_t tag,
                 const struct wio_store_reply *reply)
{
    struct api_txn *txn = user;
    struct api_op *op = txn->op;
    (void)context;
    (void)coord;
    feed_later(txn->store);
    if (txn->kept != NULL) {
        kept_done(txn);
        return;
    }
    if (op == NULL) {
        return;
    }
    api_take(op, tag, reply);
    op->answered++;
    if (op->answered < op->count) {
        return;
    }
    int wrong = api_take_stage(op);
    if (wrong != 0) {
        op_failed(op, wrong);
        return;
    }
    op->stage++;
    api_op_go_on(op);
}

static void free_txn(struct api_txn *txn)
{
    api_kept_drop(txn);
    free(txn->blockers);
    free(txn);
}

static void users_ended(struct api_txn *txn)
{
    struct api_call *call = txn->op != NULL ? &txn->op->call : txn->committing;
    api_kept_drop(txn);
    txn->op = NULL;
    txn->committing = NULL;
    if (call != NULL && txn->is_committed) {
        api_call_finish(call);
    } else if (call != NULL) {
        fail_over(txn, call);
    }
    if (txn->is_detached) {
        free_txn(txn);
    }
}

static void ended(void *context, struct wio_coord_txn *coord, void *user, enum wio_coord_end end,
                  enum wio_store_result result)
{
    struct api_txn *txn = user;
    (void)context;
    (void)coord;
    feed(txn);
    feed_later(txn->store);
    txn->coord = NULL;
    txn->is_over = true;
    txn->is_committed = end == WIO_COORD_COMMITTED;
    txn->result = result;
    if (txn->is_users) {
        users_ended(txn);
        return;
    }
    struct api_op *op = txn->op;
    txn->op = NULL;
    if (txn->is_committed) {
        api_call_finish(&op->call);
    } else if (op->call.err.sys_errno != 0) {
        api_call_fail(&op->call, WIO_ERR_IO, op->call.err.sys_errno, "%s",
                      op->call.err.sys_errno == ENOMEM ? "out of memory"
                                                       : "the range is none of a file");
    } else {
        fail_over(txn, &op->call);
    }
}

/* Kept with their names, for wio_store_blockers. */
static void keep(struct api_txn *txn, uint16_t target, const struct wio_lock_blockers *blockers)
{
    struct wio_store *store = txn->store;
    (void)pthread_mutex_lock(&store->mutex);
    if (txn->blockers == NULL) {
        txn->blockers = calloc(1, sizeof(*txn->blockers));
    }
    if (txn->blockers != NULL) {
        api_labels_fill(&store->labels, target, blockers, txn->blockers);
    }
    (void)pthread_mutex_unlock(&store->mutex);
}

static void refused(void *context, uint16_t target, void *user, const struct wio_store_reply *reply)
{
    struct wio_store *store = context;
    if (reply->result == WIO_STORE_OVERLOADED) {
        ((struct api_txn *)user)->overload = (enum wio_admit_reason)reply->told.reason;
    }
    if (reply->result == WIO_STORE_REFUSED) {
        (void)pthread_mutex_lock(&store->mutex);
        store->info.refused++;
        (void)pthread_mutex_unlock(&store->mutex);
        keep(user, target, &reply->blockers);
    }
}

static void wounded(void *context, uint16_t target, void *user,
                    const struct wio_lock_blocker *because)
{
    struct wio_lock_blockers one = {.count = 1, .listed = 1};
    (void)context;
    one.list[0] = *because;
    keep(user, target, &one);
}

const struct wio_coord_ops api_engine_ops = {
    .run = run, .part = part, .ended = ended, .refused = refused, .wounded = wounded};

/* ---- calls --------------------------------------------------------------------------------- */

static void commit_now(struct api_txn *txn)
{
    enum wio_status status =
        txn->kept != NULL ? api_kept_commit(txn) : wio_session_commit(txn->store->data, txn->coord);
    if (status == WIO_ERR_BUSY) {
        starve(txn, true);
    } /* else, where the attempt has ended meanwhile, the next one tells */
}

static void try_again(struct api_txn *txn)
{
    feed(txn);
    if (txn->coord == NULL) {
        return;
    }
    if (txn->wants_commit) {
        commit_now(txn);
    } else if (txn->kept != NULL) {
        send_kept(txn);
    } else if (txn->op != NULL) {
        issue(txn->op);
    }
}

void api_engine_pump(struct wio_store *store)
{
    struct api_starving hungry = TAILQ_HEAD_INITIALIZER(hungry);
    struct api_txn *txn = NULL;
    TAILQ_CONCAT(&hungry, &store->starving, starving);
    while ((txn = TAILQ_FIRST(&hungry)) != NULL) {
        TAILQ_REMOVE(&hungry, txn, starving);
        txn->is_starving = false;
        try_again(txn);
    }
}

static void start_own(struct api_op *op)
{
    struct api_txn *txn = &op->own;
    uint16_t flags = op->is_stable ? WIO_STORE_FLAG_STABLE : 0;
    flags |= api_plan_is_single(op) ? WIO_STORE_FLAG_SINGLE : 0;
    txn->op = op;
    txn->store = op->store;
    enum wio_status status = wio_session_begin(op->store->data, txn, flags, &txn->coord);
    if (status != WIO_OK) {
        api_call_fail(&op->call, status, status == WIO_ERR_BUSY ? EAGAIN : ENOMEM,
                      "too many transactions are under way");
    }
}

static void start(struct api_call *call)
{
    struct api_op *op = (struct api_op *)call;
    struct api_txn *txn = op->txn;
    if (!txn->is_users) {
        start_own(op);
    } else if (has_ended(txn)) {
        fail_over(txn, call);
    } else if (txn->must_restart) {
        fail_restart(txn, call);
    } else if (txn->op != NULL || txn->committing != NULL) {
        api_call_fail(call, WIO_ERR_USAGE, EBUSY,
                      "a transaction does one thing at a time: another thread uses it");
    } else {
        txn->op = op;
        if (txn->kept != NULL) {
            send_kept(txn);
        } else {
            begin_next(txn);
        }
    }
}

static void abandoned(struct api_call *call)
{
    struct api_op *op = (struct api_op *)call;
    struct api_txn *txn = op->txn;
    txn->has_timed_out = true;
    if (txn->coord != NULL) {
        wio_session_give_up(op->store->data, txn->coord);
    }
}

static void destroy(struct api_call *call)
{
    struct api_op *op = (struct api_op *)call;
    free(op->own.blockers);
    free(op->requests);
    free(op->data);
    free(op->packed);
    free(op);
}

static const struct api_call_ops op_ops = {start, abandoned, destroy};

struct api_op *api_op_create(struct wio_store *store, struct api_txn *txn, enum api_op_kind kind,
                             const struct api_place *place)
{
    struct api_op *op = wio_alloc_heap_get(NULL, sizeof(*op));
    if (op == NULL) {
        return NULL;
    }
    api_call_init(&op->call, &op_ops);
    op->store = store;
    op->txn = txn != NULL ? txn : &op->own;
    op->kind = kind;
    op->place = *place;
    op->job = api_acting(store);
    return op;
}

enum wio_status api_op_run(struct api_op *op, uint64_t deadline_ns, struct wio_error *err)
{
    struct wio_error own = WIO_ERROR_INIT;
    op->deadline_ns = deadline_ns;
    api_plan_begin(op);
    enum wio_status status = api_loop_run(op->store->loop, &op->call, deadline_ns, &own);
    if (status != WIO_OK && own.sys_errno == ETIMEDOUT) {
        api_explain_timeout(op->store, &own);
    }
    return status == WIO_OK ? WIO_OK : wio_error_pass(err, &own);
}

/* ---- users' transactions ------------------------------------------------------------------- */

void api_engine_commit(struct api_txn *txn, struct api_call *call)
{
    if (has_ended(txn)) {
        fail_over(txn, call);
    } else if (txn->must_restart) {
        fail_restart(txn, call);
    } else if (txn->op != NULL || txn->committing != NULL) {
        api_call_fail(call, WIO_ERR_USAGE, EBUSY,
                      "a transaction does one thing at a time: another thread uses it");
    } else {
        txn->committing = call;
        commit_now(txn);
    }
}

void api_engine_restart(struct api_txn *txn, struct api_call *call)
{
    if (has_ended(txn)) {
        fail_over(txn, call);
        return;
    }
    txn->must_restart = false;
    api_call_finish(call);
}

void api_engine_end(struct api_txn *txn)
{
    if (txn->coord == NULL) {
        free_txn(txn);
        return;
    }
    txn->is_detached = true;
    wio_session_give_up(txn->store->data, txn->coord); /* `ended` frees it, now or later */
}
