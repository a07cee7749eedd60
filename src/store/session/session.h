/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A client's process: the coordinator of its transactions (store/client/coord.h) on connections to
 * all targets, with time kept for it. One thread: the loop's.
 *
 *     wio_session_create(io, &config, &session, &err);
 *     wio_session_begin(session, user, flags, &txn)     -> run(), part(), ended()
 */
#ifndef WIO_STORE_SESSION_SESSION_H
#define WIO_STORE_SESSION_SESSION_H

#include "store/client/coord.h"
#include "store/session/pacing.h"
#include "store/session/targets.h"

struct wio_session;

struct wio_session_config {
    const struct wio_link_config *link; /* lives as long */
    struct wio_wire_hello hello;        /* client: random, not 0 */
    const char *const *addresses;       /* of the targets; copied */
    uint16_t targets;
    uint32_t txns_max;
    uint64_t vote_ns;                /* as of wio_coord_config; 0: its default */
    const struct wio_coord_ops *ops; /* with `context`; send is not called */
    void *context;
    /* Of the connections, with `context`; reply and push are not called. NULL: none is. */
    const struct wio_targets_events *events;
};

/* The caller owns it. */
WIO_MUST_CHECK enum wio_status wio_session_create(struct wio_io *io,
                                                  const struct wio_session_config *config,
                                                  struct wio_session **session_out,
                                                  struct wio_error *err);
/* Says nothing and calls nothing: what is under way ends with its leases. NULL is allowed. */
void wio_session_destroy(struct wio_session *session);

/* As wio_coord_begin. */
WIO_MUST_CHECK enum wio_status wio_session_begin(struct wio_session *session, void *user,
                                                 uint16_t flags, struct wio_coord_txn **txn_out);
/* As wio_coord_commit and its like, from outside of callbacks. */
WIO_MUST_CHECK enum wio_status wio_session_commit(struct wio_session *session,
                                                  struct wio_coord_txn *txn);
WIO_MUST_CHECK enum wio_status wio_session_finish(struct wio_session *session,
                                                  struct wio_coord_txn *txn, uint16_t target,
                                                  const struct wio_store_request *request,
                                                  uint32_t tag);
void wio_session_give_up(struct wio_session *session, struct wio_coord_txn *txn);

/* A grant of the catalogue, shown to each target before the first request for its file on each
 * connection (docs/STORE-PROTOCOL.md#grants). Copied; wio_session_drop_grants as often. No bytes:
 * one more user of what was granted. WIO_ERR_NOMEM. */
WIO_MUST_CHECK enum wio_status wio_session_add_grant(struct wio_session *session, uint64_t file,
                                                     const void *grant, size_t bytes);
void wio_session_drop_grants(struct wio_session *session, uint64_t file);

/* The call site's number in requests (`source`), told to each target before the first request that
 * has it. 0: there is no memory, or the text is empty. */
uint32_t wio_session_source(struct wio_session *session, const char *text, size_t bytes);

/* .. of requests that are made at call site `source` (0: none) for a job: wio_preamble_caller. */
uint32_t wio_session_caller(struct wio_session *session, uint32_t source, const char *job,
                            size_t bytes);
/* It is connected to the target, and both have WIO_STORE_FEATURE_JOBS. */
bool wio_session_knows_jobs(const struct wio_session *session, uint16_t target);

/* For wio_coord_issue and its like, from within run, part and ended; and its statistics. */
struct wio_coord *wio_session_coord(struct wio_session *session);
/* What waited for admission, and was refused. */
struct wio_pacing_counts wio_session_pacing(const struct wio_session *session);
uint64_t wio_session_now_ns(const struct wio_session *session);

#endif
