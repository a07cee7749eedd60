/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The inside of <whyio/store.h>, lower parts first:
 *
 *   common.c       time, memory, names in errors
 *   loop.c         the thread of the connections; calls of other threads
 *   blockers.c     what was in the way, with names
 *   plan.c         an operation as requests to segments, stage by stage
 *   take.c         their answers
 *   keep.c         the last write of a user's transaction
 *   engine.c       operations and transactions on the loop, over the coordinator
 *   caller.c       whose calls are made
 *   ask.c          requests outside transactions
 *   chore.c        small things that only the loop may do
 *   address.c      where a store is, and its key
 *   connect.c      connections
 *   file_op.c      operations on open files
 *   jobs.c         jobs and their statistics
 *   transaction.c file.c bytes.c names.c locks.c   the calls
 */
#ifndef WIO_STORE_API_INTERNAL_H
#define WIO_STORE_API_INTERNAL_H

#include <whyio/store.h>

#include "admit/counts.h"
#include "base/map.h"
#include "base/pair_map.h"
#include "store/api/loop.h"
#include "store/client/layout.h"
#include "store/link/address.h"
#include "store/link/munge_credentials.h"
#include "store/session/session.h"

struct api_op;

/* ---- blockers.c ---- */

/* What numbers of blockers mean: of jobs by target, of call sites by client. Zero-initialise. */
struct api_labels {
    struct wio_map jobs;
    struct wio_map sources;
    struct wio_strtab texts;
};
void api_labels_fini(struct api_labels *labels);
void api_labels_job(struct api_labels *labels, uint16_t target, const struct wio_wire_job *job);
void api_labels_source(struct api_labels *labels, const struct wio_store_request *define);
void api_labels_fill(const struct api_labels *labels, uint16_t target,
                     const struct wio_lock_blockers *from, struct wio_store_blockers *to);
/* "; held by job X, client 7's transaction 3 at solver.c:17"; "" where there is none. */
void api_blockers_text(const struct wio_store_blockers *blockers, char *text, size_t size);

/* ---- caller.c ---- */

/* A job, as each session knows it. */
struct api_caller {
    uint32_t names;
    uint32_t data;
};

/* Of the loop. Zero-initialise. */
struct api_callers {
    struct wio_strtab names; /* of the job of number 1, 2, 3 .. */
    struct api_caller *jobs;
    uint32_t count;
    uint32_t room;
    struct wio_pair_map sites; /* (call site, job) -> number of the data session */
};
void api_callers_init(struct api_callers *callers);
void api_callers_fini(struct api_callers *callers);
/* The job that calls of this thread are made for; 0: that of HELLO. */
uint32_t api_acting(const struct wio_store *store);
/* On the loop. The number of a job; 0: it cannot be told, or there is no memory. */
uint32_t api_caller_add(struct wio_store *store, const char *job, size_t bytes);
/* `source` of a request to the catalogue; of one to a target, from call site `site`. */
uint32_t api_caller_of_name(const struct wio_store *store, uint32_t job);
uint32_t api_caller_of_data(struct wio_store *store, uint32_t site, uint32_t job);

/* ---- the store ----------------------------------------------------------------------------- */

/* A transaction on the loop: the user's, or that of an operation by itself. */
struct api_txn {
    TAILQ_ENTRY(api_txn) starving;
    struct wio_store *store;
    struct wio_coord_txn *coord; /* NULL: not begun, or over */
    struct api_op *op;           /* under way, or waits for `kept` */
    struct api_op *kept;         /* a user's last write, which its caller has as done; NULL: none */
    bool is_kept_sent;
    struct api_call *committing;
    struct wio_store_blockers *blockers; /* of the last refusal or wound; store->mutex */
    bool is_starving;                    /* no slot was free */
    bool wants_commit;                   /* .. for the commit */
    bool is_users;
    bool must_restart; /* the attempt in which the user is has ended */
    bool is_over;
    bool is_detached; /* the user has ended it */
    bool is_committed;
    bool has_timed_out;
    enum wio_store_result result;
    enum wio_admit_reason overload; /* of the last refusal for load */
};

TAILQ_HEAD(api_starving, api_txn);
struct api_ask;
TAILQ_HEAD(api_asking, api_ask);

struct wio_store {
    struct api_loop *loop;
    struct wio_link_config link;
    struct wio_munge munge;
    struct wio_wire_hello hello;
    uint64_t timeout_ns;
    char address[WIO_LINK_ADDRESS_BYTES];
    /* the loop's */
    struct wio_io *io;
    struct wio_session *names; /* to the catalogue alone */
    struct wio_session *data;  /* to the targets; NULL until the catalogue has named them */
    struct wio_coord_ask targets_ask;
    struct api_call *connecting;
    unsigned closed_in_a_row; /* connections to the catalogue, by it */
    uint64_t tried_ns;        /* the last one ended, or the first one began */
    struct api_starving starving;
    struct api_asking asking; /* for a slot */
    struct api_labels labels;
    struct api_callers callers;
    uint32_t own_job;      /* where HELLO cannot have it, else 0; set before the first call */
    pthread_mutex_t mutex; /* what is below */
    struct wio_store_info info;
    uint16_t targets;
    char (*addresses)[WIO_LINK_ADDRESS_BYTES];
    enum wio_link_end *why; /* of each target and, last, the catalogue: why it is not connected */
    bool *is_lost;
    bool is_catalogue_lost;
    enum wio_link_end catalogue_why;
    const char *catalogue_failure; /* BROKEN: why it could not be connected; NULL: unknown */
};

/* Its time-out, or the store's where that is 0; at least 1 ms. */
uint64_t api_deadline_ns(const struct wio_store *store, uint64_t timeout_ns);
/* What a call that has timed out may have waited for. */
void api_explain_timeout(struct wio_store *store, struct wio_error *err);
enum wio_status api_nomem(struct wio_error *err);
/* A server has refused it for load: EBUSY. */
void api_overload_fail(struct api_call *call, enum wio_admit_reason reason);
/* ---- ask.c: requests outside transactions ---- */

struct api_answer {
    uint64_t offset;
    uint64_t size;
    struct wio_store_stat stat;
    struct wio_blob data;
};
void api_answer_fini(struct api_answer *answer);

struct api_question {
    struct wio_store_request request; /* its paths are copied */
    bool is_for_target;               /* else for the catalogue */
    uint16_t target;
    uint64_t deadline_ns;
    uint32_t job;     /* it is made for: set by api_ask */
    bool keeps_grant; /* the answer's data are a grant of the file that it names: kept */
};
/* WIO_ERR_IO with the errno of an answer other than OK; of a refusal WIO_ERR_BUSY and EAGAIN, and
 * what was in the way (NULL: not asked for). `answer_out` is the caller's to fini. */
WIO_MUST_CHECK enum wio_status api_ask(struct wio_store *store, const struct api_question *question,
                                       struct api_answer *answer_out,
                                       struct wio_store_blockers *blockers_out,
                                       struct wio_error *err);
/* On the loop: what waits for a slot. */
void api_ask_pump(struct wio_store *store);
/* ---- chore.c: small things that only the loop may do ---- */

/* The grants of a file that `keeps_grant` kept are needed no more. */
void api_drop_grants(struct wio_store *store, uint64_t file);
/* The number of a call site; NULL or "": 0. */
WIO_MUST_CHECK enum wio_status api_source(struct wio_store *store, const char *text,
                                          uint32_t *source_out, struct wio_error *err);
/* .. of a job, for wio_store_act_for. */
WIO_MUST_CHECK enum wio_status api_job(struct wio_store *store, const char *job, size_t bytes,
                                       uint32_t *number_out, struct wio_error *err);
/* Whether a server knows of jobs; the catalogue is WIO_STORE_PARTICIPANTS_MAX. */
WIO_MUST_CHECK enum wio_status api_knows_jobs(struct wio_store *store, uint32_t server,
                                              bool *knows_out, struct wio_error *err);
/* A user's transaction. */
WIO_MUST_CHECK enum wio_status api_txn_begin(struct wio_store *store, bool is_stable,
                                             uint64_t deadline_ns, struct api_txn **txn_out,
                                             struct wio_error *err);
WIO_MUST_CHECK enum wio_status api_txn_restart(struct api_txn *txn, uint64_t deadline_ns,
                                               struct wio_error *err);
WIO_MUST_CHECK enum wio_status api_txn_commit(struct api_txn *txn, uint64_t deadline_ns,
                                              struct wio_error *err);
/* The loop's from now on. */
void api_txn_end(struct api_txn *txn);

/* ---- address.c ---- */

struct api_where {
    char address[WIO_LINK_ADDRESS_BYTES];
    bool has_key;
    struct wio_link_key key;
};
WIO_MUST_CHECK enum wio_status api_where_find(const struct wio_store_params *params,
                                              struct api_where *where_out, struct wio_error *err);

/* ---- operations: plan.c, take.c, engine.c -------------------------------------------------- */

enum api_op_kind { API_READ, API_WRITE, API_ADD, API_TRUNCATE, API_SIZE, API_SEEK, API_DROP };

/* What requests an operation has under way; each is done before the next one begins. */
enum api_stage {
    API_STAGE_POINTER, /* where the shared pointer is, or moves to */
    API_STAGE_SIZES,   /* where the file ends */
    API_STAGE_BYTES,
    API_STAGE_END,  /* the same of a read that met the end of a segment */
    API_STAGE_MOVE, /* the pointer, behind what was read */
    API_STAGE_DONE
};

struct api_request {
    uint16_t op; /* enum wio_store_op */
    uint16_t target;
    struct wio_store_piece piece; /* of READ, WRITE */
    uint64_t size;                /* TRUNCATE */
    const uint8_t *data;
};

/* A file, as operations need it. */
struct api_place {
    uint64_t file;
    uint64_t generation;
    struct wio_layout layout;
    bool is_segment; /* offsets are those of `segment` */
    uint32_t segment;
    uint32_t group;
    uint16_t hint;
    uint32_t source;
};

struct api_op {
    struct api_call call; /* first */
    struct wio_store *store;
    struct api_txn *txn; /* the user's, or `own` */
    struct api_txn own;
    enum api_op_kind kind;
    struct api_place place;
    uint32_t job;         /* it is made for */
    uint64_t deadline_ns; /* of its caller */
    bool is_stable;
    bool is_shared;     /* at the pointer of the group */
    bool is_append;     /* WRITE: at the end */
    bool is_not_single; /* it is to be a transaction of several requests */
    int whence;         /* SEEK */
    int64_t delta;      /* ADD, SEEK */
    uint64_t offset;
    uint64_t size;
    uint8_t *data;   /* WRITE: the bytes, in the order of the file .. */
    uint8_t *packed; /* .. and in that of the requests, where it is another one */
    uint8_t number[8];
    uint8_t *into; /* READ: the caller's, behind api_call_lock */
    /* of an attempt */
    enum api_stage stage;
    struct api_request *requests;
    uint32_t count;
    uint32_t room;
    uint32_t issued;
    uint32_t answered;
    uint64_t at;       /* where it reads or writes */
    bool is_short;     /* a segment ended in the range */
    uint64_t data_end; /* behind the last byte that was there, as an offset of the file */
    uint64_t file_end;
    /* results */
    bool is_unsure; /* a single read met an end: again with is_not_single */
    uint64_t got;
    uint64_t position; /* SEEK, shared pointers */
    uint64_t before;   /* ADD */
};

/* The caller owns it. NULL: no memory. */
struct api_op *api_op_create(struct wio_store *store, struct api_txn *txn, enum api_op_kind kind,
                             const struct api_place *place);
/* From a caller's thread: until it is done or the deadline has passed. */
WIO_MUST_CHECK enum wio_status api_op_run(struct api_op *op, uint64_t deadline_ns,
                                          struct wio_error *err);

/* plan.c */
void api_plan_begin(struct api_op *op);
/* The requests of the stage; none: it is passed over. WIO_ERR_NOMEM. */
WIO_MUST_CHECK enum wio_status api_plan_stage(struct api_op *op);
/* One request, alone: a transaction by itself. */
bool api_plan_is_single(const struct api_op *op);
/* A write of one request, of whose answer its caller needs nothing. Its request is there then. */
WIO_MUST_CHECK bool api_plan_keep(struct api_op *op);
struct wio_store_request api_plan_request(const struct api_op *op, const struct api_request *from);
/* The same with the caller's job, call site and deadline. */
struct wio_store_request api_op_request(const struct api_op *op, const struct api_request *one);

/* take.c */
void api_take(struct api_op *op, uint32_t index, const struct wio_store_reply *reply);
/* All requests of the stage were answered. 0, or an errno that ends it for good. */
int api_take_stage(struct api_op *op);

/* keep.c: of a user's transaction, on the loop */

/* Keeps the operation, and finishes its call; false: it is not one to be kept. */
WIO_MUST_CHECK bool api_kept_take(struct api_txn *txn, struct api_op *op);
void api_kept_drop(struct api_txn *txn);
/* As wio_coord_issue, and wio_coord_finish. */
WIO_MUST_CHECK enum wio_status api_kept_send(struct api_txn *txn);
WIO_MUST_CHECK enum wio_status api_kept_commit(struct api_txn *txn);

/* engine.c */
extern const struct wio_coord_ops api_engine_ops;
extern const struct wio_targets_events api_engine_events;
void api_engine_pump(struct wio_store *store);
/* On the loop: of a user's transaction. Its last write is kept until the next call, and then goes
 * before what that asks for; a commit takes it along. */
void api_engine_commit(struct api_txn *txn, struct api_call *call);
void api_engine_restart(struct api_txn *txn, struct api_call *call);
void api_engine_end(struct api_txn *txn);
/* The next stage with requests, which are issued; or the end. On the loop. */
void api_op_go_on(struct api_op *op);

/* ---- files and transactions ---------------------------------------------------------------- */

struct wio_store_file {
    struct wio_store *store;
    char *path;
    struct api_place place;
    enum wio_view view;
    int flags; /* O_* */
    bool is_stable;
    uint64_t timeout_ns;
    pthread_mutex_t pointer_mutex; /* held by a read or write at the pointer of one's own */
    uint64_t pointer;
    bool is_time_own;
    pthread_mutex_t mutex; /* what is below */
    struct wio_store_blockers *blockers;
    bool was_written;
};

struct wio_store_txn {
    struct wio_store *store;
    struct api_txn *engine;
    uint64_t deadline_ns;
};

/* Name what an error is about; WIO_OK stays. */
enum wio_status api_about(enum wio_status status, const char *path, struct wio_error *err);
struct api_place api_place_of(const struct wio_store *store, const struct wio_store_stat *stat);
/* An operation on a file: prepared by the caller, run, its result in the operation, which the
 * caller releases. */
WIO_MUST_CHECK enum wio_status api_file_op(struct wio_store_file *file, struct wio_store_txn *txn,
                                           enum api_op_kind kind, struct api_op **op_out,
                                           struct wio_error *err);
WIO_MUST_CHECK enum wio_status api_file_run(struct wio_store_file *file, struct wio_store_txn *txn,
                                            struct api_op **op, struct wio_error *err);
/* The same as one step of a call that has several. */
uint64_t api_file_deadline_ns(const struct wio_store_file *file, const struct wio_store_txn *txn);
WIO_MUST_CHECK enum wio_status api_file_run_until(struct wio_store_file *file,
                                                  struct wio_store_txn *txn, struct api_op **op,
                                                  uint64_t deadline_ns, struct wio_error *err);
void api_op_cleanup(struct api_op **op);

#endif
