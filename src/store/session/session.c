/* SPDX-License-Identifier: Apache-2.0 */
#include "store/session/session.h"

#include <stdlib.h>

#include "base/cleanup.h"

struct wio_session {
    struct wio_io *io;
    struct wio_targets *targets;
    struct wio_coord *coord;
    struct wio_io_timer *timer;
    const struct wio_coord_ops *ops;
    void *context;
};

uint64_t wio_session_now_ns(const struct wio_session *session)
{
    return session->io->ops->now_ns(session->io);
}

/* After each event: pauses and late votes are the coordinator's. */
static void set_timer(struct wio_session *session)
{
    uint64_t due_ns = wio_coord_deadline_ns(session->coord);
    uint64_t now_ns = wio_session_now_ns(session);
    if (due_ns == UINT64_MAX) {
        session->io->ops->timer_stop(session->timer);
    } else {
        session->io->ops->timer_set(session->timer, due_ns > now_ns ? due_ns - now_ns : 0);
    }
}

static void fire(void *context)
{
    struct wio_session *session = context;
    wio_coord_tick(session->coord, wio_session_now_ns(session));
    set_timer(session);
}

/* ---- between connections and coordinator ---------------------------------------------------- */

static void back(void *context, uint16_t target, bool is_known)
{
    struct wio_session *session = context;
    wio_coord_back(session->coord, target, !is_known, wio_session_now_ns(session));
    set_timer(session);
}

static void reply(void *context, uint16_t target, const struct wio_store_reply *said)
{
    struct wio_session *session = context;
    wio_coord_reply(session->coord, target, said, wio_session_now_ns(session));
    set_timer(session);
}

static void push(void *context, uint16_t target, const struct wio_store_push *said)
{
    struct wio_session *session = context;
    wio_coord_push(session->coord, target, said, wio_session_now_ns(session));
    set_timer(session);
}

static const struct wio_targets_events targets_events = {
    .back = back, .reply = reply, .push = push};

static void send_to(void *context, uint16_t target, const struct wio_store_request *request)
{
    const struct wio_session *session = context;
    (void)wio_targets_send(session->targets, target, request);
}

static void run(void *context, struct wio_coord_txn *txn, void *user)
{
    const struct wio_session *session = context;
    session->ops->run(session->context, txn, user);
}

static void part(void *context, struct wio_coord_txn *txn, void *user, uint32_t tag,
                 const struct wio_store_reply *said)
{
    const struct wio_session *session = context;
    session->ops->part(session->context, txn, user, tag, said);
}

static void ended(void *context, struct wio_coord_txn *txn, void *user, enum wio_coord_end end,
                  enum wio_store_result result)
{
    const struct wio_session *session = context;
    session->ops->ended(session->context, txn, user, end, result);
}

static const struct wio_coord_ops coord_ops = {send_to, run, part, ended};

/* ---- life ---------------------------------------------------------------------------------- */

void wio_session_destroy(struct wio_session *session)
{
    if (session == NULL) {
        return;
    }
    wio_targets_destroy(session->targets);
    wio_coord_destroy(session->coord);
    session->io->ops->timer_destroy(session->timer);
    free(session);
}

static void destroy(struct wio_session **session)
{
    wio_session_destroy(*session);
}

enum wio_status wio_session_create(struct wio_io *io, const struct wio_session_config *config,
                                   struct wio_session **session_out, struct wio_error *err)
{
    const struct wio_alloc heap = WIO_ALLOC_HEAP;
    WIO_CLEANUP(destroy) struct wio_session *session = calloc(1, sizeof(*session));
    if (session == NULL) {
        return wio_error_set(err, WIO_ERR_NOMEM, NULL, WIO_ERROR_NO_OFFSET, "out of memory");
    }
    const struct wio_coord_config coord = {.client = config->hello.client,
                                           .targets = config->targets,
                                           .txns_max = config->txns_max,
                                           .ops = &coord_ops,
                                           .context = session};
    session->io = io;
    session->ops = config->ops;
    session->context = config->context;
    session->timer = io->ops->timer_create(io, fire, session);
    enum wio_status status =
        session->timer == NULL ? WIO_ERR_NOMEM : wio_coord_create(&heap, &coord, &session->coord);
    if (status != WIO_OK) {
        return wio_error_set(err, status, NULL, WIO_ERROR_NO_OFFSET, "cannot begin: %s",
                             wio_status_text(status));
    }
    WIO_TRY(wio_targets_create(io, config->link, &config->hello, config->addresses, config->targets,
                               &targets_events, session, &session->targets, err));
    *session_out = session;
    session = NULL;
    return WIO_OK;
}

enum wio_status wio_session_begin(struct wio_session *session, void *user, uint16_t flags,
                                  struct wio_coord_txn **txn_out)
{
    enum wio_status status =
        wio_coord_begin(session->coord, user, flags, wio_session_now_ns(session), txn_out);
    set_timer(session);
    return status;
}

struct wio_coord *wio_session_coord(struct wio_session *session)
{
    return session->coord;
}
