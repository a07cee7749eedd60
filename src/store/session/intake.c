/* SPDX-License-Identifier: Apache-2.0 */
#include "store/session/intake.h"

#include <stdlib.h>

#include "admit/negotiate.h"
#include "base/cleanup.h"
#include "base/pick.h"
#include "store/session/intake_internal.h"

/* Without a request for so long, a server was idle. */
#define IDLE_NS UINT64_C(50000)
/* Served from the queue before the connections are read again. */
#define SLICE_NS UINT64_C(1000000)
#define SPACE_NS UINT64_C(1000000000)
/* Of copies that follow others: of all clients. */
#define BEHIND_BYTES_MAX ((size_t)16 << 20)
#define HINT_BEHIND_MS 1
#define MEASURED 16

static uint64_t clock_ns(const struct wio_intake *intake)
{
    return intake->io->ops->now_ns(intake->io);
}

/* ---- what a request is to admission -------------------------------------------------------- */

/* R-ADMIT-3: what ends transactions, or gives locks back. */
static bool is_must(uint16_t op)
{
    switch (op) {
    case WIO_STORE_COMMIT:
    case WIO_STORE_ABORT:
    case WIO_STORE_PREPARE:
    case WIO_STORE_FORGET:
    case WIO_STORE_INQUIRE:
    case WIO_STORE_UNLOCK:
    case WIO_STORE_PING:
    case WIO_STORE_DEFINE_SOURCE:
    case WIO_STORE_DEFINE_CALLER:
    case WIO_STORE_TARGETS: /* without it a client cannot begin; it costs nothing */
        return true;
    default:
        return false;
    }
}

/* An operation of a transaction that has begun here. */
static bool is_later(const struct wio_store_request *request)
{
    return request->txn.number != 0 &&
           (request->flags & (WIO_STORE_FLAG_BEGIN | WIO_STORE_FLAG_SINGLE)) == 0;
}

static uint32_t flags_of(const struct wio_store_request *request)
{
    if (is_must(request->op)) {
        return WIO_ADMIT_MUST;
    }
    bool holds = is_later(request) || (request->asks.flags & WIO_STORE_ASKS_HOLDS) != 0;
    /* Protocol 1 has busy replies with a time from the beginning: all peers know them. */
    return WIO_ADMIT_REJECT | (holds ? WIO_ADMIT_HOLDS : 0u);
}

struct wio_store_reply wio_intake_busy(const struct wio_store_request *request,
                                       const struct wio_store_told *told, uint64_t retry_ns,
                                       uint64_t now_ns)
{
    struct wio_store_reply reply = {.op = request->op,
                                    .result = WIO_STORE_BUSY,
                                    .number = request->number,
                                    .txn = request->txn,
                                    .retry_ns = retry_ns,
                                    .received_ns = now_ns,
                                    .locked_ns = now_ns,
                                    .done_ns = now_ns,
                                    .sent_ns = now_ns,
                                    .has_told = told != NULL};
    if (told != NULL) {
        reply.told = *told;
    }
    return reply;
}

uint16_t wio_intake_operation(uint16_t op)
{
    static const uint16_t jobs = 16; /* behind COMMIT .. FORGET */
    if (op >= WIO_STORE_OPEN) {
        return (uint16_t)(op - WIO_STORE_OPEN + jobs + 3);
    }
    if (op >= WIO_STORE_COMMIT) {
        return (uint16_t)(op - WIO_STORE_COMMIT + jobs - 5);
    }
    if (op >= WIO_STORE_READ) {
        return (uint16_t)(op - WIO_STORE_READ);
    }
    return op == WIO_STORE_JOB_STATS ? jobs : op == WIO_STORE_JOB_CLEAR ? jobs + 1 : jobs + 2;
}

_Static_assert(WIO_STORE_FORGET - WIO_STORE_COMMIT < 5 && WIO_STORE_SHOW - WIO_STORE_READ <= 11,
               "operations have numbers of their own");
_Static_assert(WIO_STORE_TARGETS - WIO_STORE_OPEN + 19 < WIO_ADMIT_OPS,
               "operations of the catalogue have a place");

/* Of a request whose size nothing has checked yet: no more than one may move. */
static uint64_t moved_bytes(const struct wio_store_request *request)
{
    uint64_t bytes = request->op == WIO_STORE_READ ? request->size : request->data_size;
    return wio_smaller(bytes, WIO_STORE_DATA_MAX);
}

static struct wio_admit_request ask_of(const struct wio_intake_client *client,
                                       const struct wio_store_request *request, uint64_t cookie)
{
    return (struct wio_admit_request){
        .cookie = cookie,
        .number = request->number,
        .pool = {client->pool, 0},
        .container = {client->container, 0},
        .client = client->number,
        .uid = client->uid,
        .gid = client->gid,
        .project = client->project,
        .job = client->job,
        .operation = wio_intake_operation(request->op),
        .demand = request->asks.demand,
        .flags = flags_of(request),
        .bytes = moved_bytes(request),
        .held_bytes = cookie != 0 ? wio_intake_copy_bytes(request) : 0,
        .remaining_ns = request->asks.remaining_ns,
        .demand_ns = request->asks.demand_ns,
        .ticket = request->asks.ticket,
    };
}

static bool knows_windows(const struct wio_intake_client *client)
{
    return client->features != 0;
}

static void told_of(const struct wio_admit_reply *reply, struct wio_store_told *told)
{
    *told = (struct wio_store_told){.reason = (uint8_t)reply->reason,
                                    .has_window = reply->has_window,
                                    .window = reply->window,
                                    .hint = reply->hint,
                                    .ticket = reply->ticket};
}

/* ---- time ---------------------------------------------------------------------------------- */

static uint64_t earlier(uint64_t a, uint64_t b)
{
    return a < b ? a : b;
}

static void set_timer(struct wio_intake *intake, uint64_t now_ns)
{
    uint64_t due_ns = intake->is_due ? now_ns : wio_admit_wake_ns(intake->shard);
    due_ns = earlier(due_ns, intake->holds_ns);
    if (due_ns < intake->timer_ns) {
        intake->timer_ns = due_ns;
        intake->io->ops->timer_set(intake->timer, due_ns > now_ns ? due_ns - now_ns : 0);
    }
}

/* Has it been busy for so long that the connections should be read before more is served? */
static bool is_behind(struct wio_intake *intake, uint64_t now_ns)
{
    if (intake->waiting > 0) {
        return true;
    }
    if (now_ns > intake->last_ns + IDLE_NS) {
        intake->busy_since_ns = now_ns;
    }
    return now_ns - intake->busy_since_ns > WIO_INTAKE_BUSY_NS;
}

/* ---- serving ------------------------------------------------------------------------------- */

static uint8_t space_of(struct wio_intake *intake, uint64_t now_ns)
{
    if (intake->ops->space != NULL && now_ns >= intake->space_ns) {
        intake->space_ns = now_ns + SPACE_NS;
        intake->space = intake->ops->space(intake->context);
    }
    return intake->space;
}

static void end_running(struct wio_intake *intake, uint64_t now_ns, bool is_cancelled,
                        struct wio_admit_reply *reply)
{
    struct wio_intake_running *running = &intake->running;
    const struct wio_admit_served served = {.now_ns = now_ns,
                                            .service_ns = now_ns - running->began_ns,
                                            .space = space_of(intake, now_ns),
                                            .is_cancelled = is_cancelled};
    (void)!wio_admit_done(intake->shard, running->handle, &served, reply);
    running->is_open = false;
    intake->last_ns = now_ns;
}

static void run(struct wio_intake *intake, struct wio_intake_client *client,
                const struct wio_store_request *request, uint64_t handle, uint64_t now_ns)
{
    struct wio_admit_reply unsaid;
    intake->running = (struct wio_intake_running){.client = client,
                                                  .number = request->number,
                                                  .handle = handle,
                                                  .began_ns = now_ns,
                                                  .is_open = true};
    intake->ops->serve(intake->context, client->user, request);
    if (intake->running.is_open) { /* it waits for a lock or the log */
        end_running(intake, clock_ns(intake), false, &unsaid);
    }
}

bool wio_intake_tell(struct wio_intake *intake, struct wio_intake_client *client, uint64_t number,
                     uint64_t now_ns, struct wio_store_told *told_out)
{
    const struct wio_intake_running *running = &intake->running;
    struct wio_admit_reply reply = {0};
    if (running->is_open && running->client == client && running->number == number) {
        end_running(intake, now_ns, false, &reply);
    } else {
        reply.has_window = wio_admit_window(intake->shard, client->number, &reply.window);
        intake->last_ns = now_ns;
    }
    told_of(&reply, told_out);
    told_out->reason = WIO_ADMIT_REASON_NONE;
    return knows_windows(client);
}

static void push_windows(struct wio_intake *intake, uint64_t now_ns)
{
    struct wio_admit_grant grant;
    while (wio_admit_push(intake->shard, now_ns, &grant)) {
        struct wio_intake_client *client = intake_client_at(intake, grant.client);
        if (client != NULL) {
            intake->ops->grant(intake->context, client->user, grant.window);
        }
    }
}

/* ---- refusing ------------------------------------------------------------------------------ */

static void hold(struct wio_intake *intake, struct wio_intake_client *client, uint64_t pause_ns,
                 uint64_t now_ns)
{
    uint64_t most_ns = intake->pause_max_ns;
    if (pause_ns == 0) {
        return;
    }
    if (client->held_until_ns == 0) {
        wio_link_hold(client->link, true);
    }
    client->held_until_ns = now_ns + (pause_ns < most_ns ? pause_ns : most_ns);
    intake->holds_ns = earlier(intake->holds_ns, client->held_until_ns);
}

static void refuse(struct wio_intake *intake, struct wio_intake_client *client,
                   const struct wio_store_request *request, const struct wio_admit_reply *reply,
                   uint64_t now_ns)
{
    struct wio_store_told told;
    told_of(reply, &told);
    if ((request->flags & WIO_STORE_FLAG_BEGIN) != 0) {
        wio_intake_note_refused(client, request);
    }
    intake->ops->refuse(intake->context, client->user, request,
                        knows_windows(client) ? &told : NULL, wio_hint_ns(reply->hint));
    hold(intake, client, reply->pause_ns, now_ns);
}

/* It came behind a request that was refused, or there is no memory. */
static void refuse_plainly(struct wio_intake *intake, struct wio_intake_client *client,
                           const struct wio_store_request *request, enum wio_admit_reason reason)
{
    struct wio_admit_reply reply = {
        .answer = WIO_ADMIT_BUSY, .reason = reason, .hint = HINT_BEHIND_MS};
    reply.has_window = wio_admit_window(intake->shard, client->number, &reply.window);
    struct wio_store_told told;
    told_of(&reply, &told);
    intake->ops->refuse(intake->context, client->user, request,
                        knows_windows(client) ? &told : NULL, wio_hint_ns(reply.hint));
}

static void let_go(struct wio_intake *intake, uint64_t now_ns)
{
    if (intake->holds_ns > now_ns) {
        return;
    }
    intake->holds_ns = UINT64_MAX; /* what was read ahead may hold a client again */
    for (uint32_t i = 0; i < intake->clients_room; i++) {
        struct wio_intake_client *client = intake->clients[i];
        if (client != NULL && client->held_until_ns != 0 && client->held_until_ns <= now_ns) {
            client->held_until_ns = 0;
            wio_link_hold(client->link, false);
        } else if (client != NULL && client->held_until_ns != 0) {
            intake->holds_ns = earlier(intake->holds_ns, client->held_until_ns);
        }
    }
}

/* ---- requests that come -------------------------------------------------------------------- */

/* R-ADMIT-4: behind its head it waits in no queue of its own: it comes in when the head was served.
 */
static void wait_behind(struct wio_intake *intake, struct wio_intake_client *client,
                        struct wio_intake_waiting *ahead, const struct wio_store_request *request)
{
    size_t bytes = wio_intake_copy_bytes(request);
    struct wio_intake_waiting *item =
        intake->behind_bytes + bytes <= BEHIND_BYTES_MAX ? wio_intake_copy(request) : NULL;
    if (item == NULL) {
        refuse_plainly(intake, client, request, WIO_ADMIT_REASON_MEMORY);
        return;
    }
    item->client = client;
    intake->behind_bytes += bytes;
    while (ahead->behind != NULL) {
        ahead = ahead->behind;
    }
    ahead->behind = item;
}

static void keep(struct wio_intake *intake, struct wio_intake_client *client,
                 const struct wio_store_request *request, uint64_t now_ns)
{
    struct wio_admit_reply reply;
    struct wio_intake_waiting *item = wio_intake_copy(request);
    if (item == NULL) {
        refuse_plainly(intake, client, request, WIO_ADMIT_REASON_MEMORY);
        return;
    }
    const struct wio_admit_request ask = ask_of(client, request, (uint64_t)(uintptr_t)item);
    if (!wio_admit_arrive(intake->shard, &ask, now_ns, &reply)) {
        free(item);
        refuse(intake, client, request, &reply, now_ns);
        return;
    }
    item->client = client;
    TAILQ_INSERT_TAIL(&client->waiting, item, by_client);
    TAILQ_INSERT_TAIL(&intake->all, item, by_admission);
    intake->waiting++;
    intake->is_due = true;
    if (client->refused_count > 0) {
        wio_intake_note_accepted(client, request);
    }
}

/* False: it was refused. */
static bool serve_now(struct wio_intake *intake, struct wio_intake_client *client,
                      const struct wio_store_request *request, uint64_t now_ns)
{
    struct wio_admit_reply reply;
    struct wio_admit_work work;
    const struct wio_admit_request ask = ask_of(client, request, 0);
    if (!wio_admit_arrive(intake->shard, &ask, now_ns, &reply)) {
        refuse(intake, client, request, &reply, now_ns);
        return false;
    }
    if (client->refused_count > 0) {
        wio_intake_note_accepted(client, request);
    }
    bool is_there = wio_admit_next(intake->shard, now_ns, &work);
    WIO_PRE(is_there && work.cookie == 0);
    run(intake, client, request, work.handle, now_ns);
    push_windows(intake, now_ns);
    return true;
}

/* Most requests of a server that has time; each MEASURED-th one goes the whole way, so that speeds
 * are known. */
static bool passes(struct wio_intake *intake, const struct wio_intake_client *client,
                   const struct wio_store_request *request)
{
    bool wants_nothing = request->asks.demand == 0 && request->asks.ticket.mac == 0;
    return wants_nothing && client->refused_count == 0 && ++intake->passed % MEASURED != 0 &&
           wio_admit_pass(intake->shard, client->number, moved_bytes(request),
                          is_must(request->op));
}

/* What must not be refused comes out before all others; of policies with rules what comes into an
 * empty queue may have to wait. */
static bool may_serve_now(struct wio_intake *intake, const struct wio_store_request *request,
                          uint64_t now_ns)
{
    return is_must(request->op) ||
           (!is_behind(intake, now_ns) && !wio_admit_holds_back(intake->shard));
}

static bool come_in(struct wio_intake *intake, struct wio_intake_client *client,
                    const struct wio_store_request *request, uint64_t now_ns)
{
    if (is_later(request) && !is_must(request->op)) {
        struct wio_intake_waiting *ahead = wio_intake_ahead(client, request);
        if (ahead != NULL) {
            wait_behind(intake, client, ahead, request);
            return false;
        }
        if (client->refused_count > 0 && wio_intake_was_refused(client, request)) {
            refuse_plainly(intake, client, request, WIO_ADMIT_REASON_CREDIT);
            return false;
        }
    }
    if (request->op == WIO_STORE_UNLOCK && intake->waiting > 0) {
        struct wio_intake_waiting *ahead = wio_intake_lock_ahead(client);
        if (ahead != NULL) {
            wait_behind(intake, client, ahead, request);
            return false;
        }
    }
    if (may_serve_now(intake, request, now_ns)) {
        if (passes(intake, client, request)) {
            intake->last_ns = now_ns;
            intake->ops->serve(intake->context, client->user, request);
            return true;
        }
        return serve_now(intake, client, request, now_ns);
    }
    keep(intake, client, request, now_ns);
    return false;
}

bool wio_intake_request(struct wio_intake *intake, struct wio_intake_client *client,
                        const struct wio_store_request *request, uint64_t now_ns)
{
    bool was_served = come_in(intake, client, request, now_ns);
    set_timer(intake, now_ns);
    return was_served;
}

/* ---- from the queue ------------------------------------------------------------------------ */

/* Each comes in as a request of its own, in the order in which they came. */
static void free_behind(struct wio_intake *intake, struct wio_intake_waiting *first,
                        uint64_t now_ns)
{
    while (first != NULL) {
        struct wio_intake_waiting *next = first->behind;
        intake->behind_bytes -= first->bytes;
        if (first->client != NULL && is_must(first->request.op)) {
            (void)serve_now(intake, first->client, &first->request, now_ns);
        } else if (first->client != NULL) {
            (void)come_in(intake, first->client, &first->request, now_ns);
        }
        free(first);
        first = next;
    }
}

static void take(struct wio_intake *intake, const struct wio_admit_work *work, uint64_t now_ns)
{
    struct wio_intake_waiting *item = (struct wio_intake_waiting *)(uintptr_t)work->cookie;
    struct wio_intake_client *client = item->client;
    struct wio_admit_reply reply;
    intake->waiting--;
    TAILQ_REMOVE(&intake->all, item, by_admission);
    if (client != NULL) {
        TAILQ_REMOVE(&client->waiting, item, by_client);
    }
    if (client != NULL && !work->is_expired) {
        run(intake, client, &item->request, work->handle, now_ns);
    } else {
        intake->running = (struct wio_intake_running){
            .handle = work->handle, .began_ns = now_ns, .is_open = true};
        end_running(intake, now_ns, client == NULL, &reply);
        if (client != NULL) {
            refuse(intake, client, &item->request, &reply, now_ns);
        }
    }
    free_behind(intake, item->behind, clock_ns(intake));
    free(item);
}

static void fire(void *context)
{
    struct wio_intake *intake = context;
    struct wio_admit_work work;
    uint64_t began_ns = clock_ns(intake);
    uint64_t now_ns = began_ns;
    intake->timer_ns = UINT64_MAX;
    let_go(intake, now_ns);
    intake->is_due = false;
    while (!intake->is_due && wio_admit_next(intake->shard, now_ns, &work)) {
        take(intake, &work, now_ns);
        now_ns = clock_ns(intake);
        intake->is_due = intake->waiting > 0 && now_ns > began_ns + SLICE_NS;
    }
    push_windows(intake, now_ns);
    intake->last_ns = now_ns;
    if (intake->waiting == 0) {
        intake->busy_since_ns = now_ns;
    }
    set_timer(intake, now_ns);
}

/* ---- life ---------------------------------------------------------------------------------- */

void wio_intake_destroy(struct wio_intake *intake)
{
    struct wio_intake_waiting *item;
    if (intake == NULL) {
        return;
    }
    while ((item = TAILQ_FIRST(&intake->all)) != NULL) {
        TAILQ_REMOVE(&intake->all, item, by_admission);
        intake_free_all(item);
    }
    wio_admit_destroy(intake->shard);
    intake->io->ops->timer_destroy(intake->timer);
    intake_names_fini(intake);
    free(intake->clients);
    free(intake);
}

static void destroy(struct wio_intake **intake)
{
    wio_intake_destroy(*intake);
}

enum wio_status wio_intake_create(struct wio_io *io, struct wio_admit_total *total,
                                  const struct wio_intake_ops *ops, void *context,
                                  struct wio_intake **intake_out, struct wio_error *err)
{
    const struct wio_alloc heap = WIO_ALLOC_HEAP;
    WIO_CLEANUP(destroy) struct wio_intake *intake = calloc(1, sizeof(*intake));
    if (intake == NULL) {
        return wio_error_set(err, WIO_ERR_NOMEM, NULL, WIO_ERROR_NO_OFFSET, "out of memory");
    }
    intake->io = io;
    intake->ops = ops;
    intake->context = context;
    TAILQ_INIT(&intake->all);
    intake->timer_ns = UINT64_MAX;
    intake->holds_ns = UINT64_MAX;
    intake->pause_max_ns = WIO_INTAKE_PAUSE_MAX_NS;
    intake->timer = io->ops->timer_create(io, fire, intake);
    if (intake->timer == NULL) {
        return wio_error_set(err, WIO_ERR_NOMEM, NULL, WIO_ERROR_NO_OFFSET, "out of memory");
    }
    WIO_TRY(wio_admit_create(total, &heap, &intake->shard, err));
    *intake_out = intake;
    intake = NULL;
    return WIO_OK;
}

enum wio_status wio_intake_set_kind(struct wio_intake *intake, enum wio_admit_kind kind)
{
    uint64_t now_ns = clock_ns(intake);
    WIO_TRY(wio_admit_set_kind(intake->shard, kind, now_ns));
    intake->is_due = intake->waiting > 0;
    set_timer(intake, now_ns);
    return WIO_OK;
}
