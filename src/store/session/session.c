/* SPDX-License-Identifier: Apache-2.0 */
#include "store/session/session.h"

#include <stdlib.h>

#include "base/cleanup.h"
#include "store/session/intake.h"
#include "store/session/pacing.h"
#include "store/session/preamble.h"

struct wio_session {
    struct wio_io *io;
    struct wio_targets *targets;
    struct wio_coord *coord;
    struct wio_io_timer *timer;
    struct wio_preamble *preamble;
    struct wio_pacing *pacing;
    const struct wio_coord_ops *ops;
    const struct wio_targets_events *events; /* NULL: none */
    void *context;
    bool has_met[WIO_STORE_PARTICIPANTS_MAX]; /* by target: it was connected before */
};

uint64_t wio_session_now_ns(const struct wio_session *session)
{
    return session->io->ops->now_ns(session->io);
}

/* After each event: pauses and late votes are the coordinator's, what waits for admission is not.
 */
static void set_timer(struct wio_session *session)
{
    uint64_t due_ns = wio_coord_deadline_ns(session->coord);
    uint64_t wake_ns = wio_pacing_wake_ns(session->pacing);
    uint64_t now_ns = wio_session_now_ns(session);
    due_ns = wake_ns < due_ns ? wake_ns : due_ns;
    if (due_ns == UINT64_MAX) {
        session->io->ops->timer_stop(session->timer);
    } else {
        session->io->ops->timer_set(session->timer, due_ns > now_ns ? due_ns - now_ns : 0);
    }
}

static void fire(void *context)
{
    struct wio_session *session = context;
    wio_pacing_pump(session->pacing, wio_session_now_ns(session));
    wio_coord_tick(session->coord, wio_session_now_ns(session));
    set_timer(session);
}

/* ---- between connections and coordinator ---------------------------------------------------- */

static void back(void *context, uint16_t target, bool is_known)
{
    struct wio_session *session = context;
    wio_preamble_connected(session->preamble, target, wio_session_knows_jobs(session, target));
    wio_pacing_connected(session->pacing, target, wio_targets_features(session->targets, target),
                         is_known, wio_session_now_ns(session));
    if (session->events != NULL && session->events->back != NULL) {
        session->events->back(session->context, target, is_known);
    }
    /* what waited for the first connection has never been sent */
    wio_coord_back(session->coord, target, !is_known && session->has_met[target],
                   wio_session_now_ns(session));
    session->has_met[target] = true;
    set_timer(session);
}

static void reply(void *context, uint16_t target, const struct wio_store_reply *said)
{
    struct wio_session *session = context;
    uint64_t now_ns = wio_session_now_ns(session);
    struct wio_store_reply own = *said;
    if (!wio_pacing_reply(session->pacing, target, &own, now_ns)) {
        wio_coord_reply(session->coord, target, &own, now_ns);
    }
    set_timer(session);
}

static void push(void *context, uint16_t target, const struct wio_store_push *said)
{
    struct wio_session *session = context;
    if (said->op == WIO_STORE_WINDOW) {
        wio_pacing_window(session->pacing, target, said->window, wio_session_now_ns(session));
    } else {
        wio_coord_push(session->coord, target, said, wio_session_now_ns(session));
    }
    set_timer(session);
}

static void lost(void *context, uint16_t target, enum wio_link_end why)
{
    const struct wio_session *session = context;
    if (session->events != NULL && session->events->lost != NULL) {
        session->events->lost(session->context, target, why);
    }
}

static void job(void *context, uint16_t target, const struct wio_wire_job *said)
{
    const struct wio_session *session = context;
    if (session->events != NULL && session->events->job != NULL) {
        session->events->job(session->context, target, said);
    }
}

static void source(void *context, uint16_t target, const struct wio_store_request *define)
{
    const struct wio_session *session = context;
    if (session->events != NULL && session->events->source != NULL) {
        session->events->source(session->context, target, define);
    }
}

static const struct wio_targets_events targets_events = {
    .back = back, .reply = reply, .push = push, .lost = lost, .job = job, .source = source};

static bool send_now(void *context, uint16_t target, const struct wio_store_request *request)
{
    const struct wio_session *session = context;
    return wio_targets_send(session->targets, target, request);
}

static bool send_behind_preamble(void *context, uint16_t target,
                                 const struct wio_store_request *request)
{
    const struct wio_session *session = context;
    wio_preamble_before(session->preamble, target, request, send_now, context);
    return wio_targets_send(session->targets, target, request);
}

static void send_to(void *context, uint16_t target, const struct wio_store_request *request)
{
    struct wio_session *session = context;
    struct wio_store_request own = *request;
    if (wio_targets_is_open(session->targets, target) &&
        !wio_pacing_take(session->pacing, target, &own, wio_session_now_ns(session))) {
        (void)send_behind_preamble(session, target, &own);
    }
}

static bool is_held(void *context, uint16_t target, uint64_t number)
{
    const struct wio_session *session = context;
    return wio_pacing_holds(session->pacing, target, number);
}

/* ---- what waits for admission --------------------------------------------------------------- */

static const struct wio_store_request *find_held(void *context, uint16_t target, uint64_t number)
{
    const struct wio_session *session = context;
    return wio_coord_request(session->coord, target, number);
}

static void send_rest(void *context, uint16_t target, uint64_t number)
{
    const struct wio_session *session = context;
    wio_coord_send_behind(session->coord, target, number);
}

static void give_up(void *context, uint16_t target, const struct wio_store_reply *said)
{
    const struct wio_session *session = context;
    wio_coord_reply(session->coord, target, said, wio_session_now_ns(session));
}

static const struct wio_pacing_ops pacing_ops = {
    .find = find_held, .send = send_behind_preamble, .sent = send_rest, .over = give_up};

/* ---- between coordinator and caller ---------------------------------------------------------- */

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

static void refused(void *context, uint16_t target, void *user, const struct wio_store_reply *said)
{
    const struct wio_session *session = context;
    if (session->ops->refused != NULL) {
        session->ops->refused(session->context, target, user, said);
    }
}

static void wounded(void *context, uint16_t target, void *user,
                    const struct wio_lock_blocker *because)
{
    const struct wio_session *session = context;
    if (session->ops->wounded != NULL) {
        session->ops->wounded(session->context, target, user, because);
    }
}

static const struct wio_coord_ops coord_ops = {.send = send_to,
                                               .run = run,
                                               .part = part,
                                               .ended = ended,
                                               .refused = refused,
                                               .wounded = wounded,
                                               .is_held = is_held};

/* ---- life ---------------------------------------------------------------------------------- */

void wio_session_destroy(struct wio_session *session)
{
    if (session == NULL) {
        return;
    }
    wio_targets_destroy(session->targets);
    wio_coord_destroy(session->coord);
    wio_preamble_destroy(session->preamble);
    wio_pacing_destroy(session->pacing);
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
                                           .vote_ns = config->vote_ns,
                                           .birth_offset_ns =
                                               io->ops->unix_ns(io) - io->ops->now_ns(io),
                                           .ops = &coord_ops,
                                           .context = session};
    session->io = io;
    session->ops = config->ops;
    session->events = config->events;
    session->context = config->context;
    session->preamble = wio_preamble_create(config->targets);
    session->pacing =
        wio_pacing_create(config->targets, config->hello.client, &pacing_ops, session);
    session->timer = io->ops->timer_create(io, fire, session);
    bool has_parts = session->timer != NULL && session->preamble != NULL && session->pacing != NULL;
    enum wio_status status =
        !has_parts ? WIO_ERR_NOMEM : wio_coord_create(&heap, &coord, &session->coord);
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

enum wio_status wio_session_commit(struct wio_session *session, struct wio_coord_txn *txn)
{
    enum wio_status status = wio_coord_commit(txn, wio_session_now_ns(session));
    set_timer(session);
    return status;
}

enum wio_status wio_session_finish(struct wio_session *session, struct wio_coord_txn *txn,
                                   uint16_t target, const struct wio_store_request *request,
                                   uint32_t tag)
{
    bool may_commit = wio_targets_knows(session->targets, target, 0, WIO_STORE_FEATURE_LAST);
    enum wio_status status =
        wio_coord_finish(txn, target, request, tag, may_commit, wio_session_now_ns(session));
    set_timer(session);
    return status;
}

void wio_session_give_up(struct wio_session *session, struct wio_coord_txn *txn)
{
    wio_coord_give_up(txn, wio_session_now_ns(session));
    set_timer(session);
}

enum wio_status wio_session_add_grant(struct wio_session *session, uint64_t file, const void *grant,
                                      size_t bytes)
{
    return wio_preamble_add_grant(session->preamble, file, grant, bytes);
}

void wio_session_drop_grants(struct wio_session *session, uint64_t file)
{
    wio_preamble_drop_grants(session->preamble, file);
}

uint32_t wio_session_source(struct wio_session *session, const char *text, size_t bytes)
{
    return wio_preamble_source(session->preamble, text, bytes);
}

uint32_t wio_session_caller(struct wio_session *session, uint32_t source, const char *job,
                            size_t bytes)
{
    return wio_preamble_caller(session->preamble, source, job, bytes);
}

bool wio_session_knows_jobs(const struct wio_session *session, uint16_t target)
{
    return wio_targets_knows(session->targets, target, 0, WIO_STORE_FEATURE_JOBS);
}

struct wio_pacing_counts wio_session_pacing(const struct wio_session *session)
{
    return wio_pacing_counts(session->pacing);
}

struct wio_coord *wio_session_coord(struct wio_session *session)
{
    return session->coord;
}
